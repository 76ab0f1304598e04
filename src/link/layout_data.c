/* Layout of commons, optimizer constants and texture tables; limits of the constant banks. */
#include "link/graph.h"
#include "link/layout.h"
#include "link/symbols.h"
#include "link/view.h"

#include "format/reloc.h"

#include <stdlib.h>

/* ---- commons: newest first, at the end of .nv.global ---- */

void cbi_layout_commons(cbi_linker *lk)
{
    for (size_t i = lk->commons.len; i-- > 0;) {
        cbi_lsym *sym = lk->commons.items[i];
        if (!sym->common_pending)
            continue;
        if (cbi_variable_of(sym)->common_align ==
            CUDA_COMMON_LOST) /* nvlink would write without end */
            cbi_fatal(lk->ctx, "common-lost",
                      &(cbi_place){.file = sym->def_obj->file, .symbol = sym->name->s},
                      "an earlier link with -r had an initialised weak definition behind it",
                      "Common symbol '%s' has no alignment", sym->name->s);
        if (!lk->global)
            lk->global = cbi_sec_create(lk, cbi_intern(lk->ctx, ".nv.global"), SHT_CUDA_GLOBAL,
                                        SHF_ALLOC | SHF_WRITE, 0, 0);
        sym->value = cbi_sec_append(lk, lk->global, (cbi_span){0}, sym->size,
                                    cbi_variable_of(sym)->common_align);
        sym->sec = lk->global;
        sym->state = CBI_SYM_DEFINED;
    }
}

/* ---- optimizer constants: copied into the bank of every entry that reaches the function ---- */

static cbi_osec *bank_of(const cbi_func *k)
{
    return k->old_constants ? k->old_constants : k->constant2;
}

static cbi_osec *entry_bank(cbi_linker *lk, cbi_func *k, const cbi_osec *like)
{
    if (k->old_constants) {
        cbi_revive_constants(k);
    } else if (!k->constant2) {
        const cbi_name *name =
            lk->mercury ? cbi_intern_printf(lk->ctx, ".nv.constant.optimizer.%s", k->sym->name->s)
                        : cbi_intern_printf(lk->ctx, ".nv.constant2.%s", k->sym->name->s);
        k->constant2 = cbi_sec_create(lk, name, like->type, like->flags, 0, like->entsize);
        k->constant2->target = k->text;
        k->constant2->func = k;
    }
    return bank_of(k);
}

static void spread_constants(cbi_linker *lk, cbi_func *f)
{
    cbi_osec *from = f->constant2;
    cbi_constants *constants = cbi_constants_in(lk, from);
    const cbi_func_list *entries = cbi_entries_reaching(lk, f);
    uint64_t off = 0, align = from->align;
    for (size_t i = 0; i < entries->len; i++) {
        const cbi_osec *bank = bank_of(entries->items[i]);
        if (!bank)
            continue;
        off = bank->size > off ? bank->size : off;
        align = bank->align > align ? bank->align : align;
    }
    off = cbi_align_up(off, from->align);
    /* What a replaced copy left behind is empty, but still creates the banks and lines them up. */
    for (size_t i = entries->len; i-- > 0;) {
        cbi_osec *bank = entry_bank(lk, entries->items[i], from);
        bank->size = off;
        bank->align = align;
        cbi_sec_append(lk, bank, (cbi_span){0}, constants->used_size, from->align);
        bank->size = cbi_align_up(bank->size, bank->align);
        for (size_t p = 0; p < from->pieces.len; p++)
            cbi_vec_push(
                lk->ctx, &bank->pieces,
                ((cbi_piece){from->pieces.items[p].bytes, off + from->pieces.items[p].offset}));
    }
    for (size_t i = entries->len; i-- > 0 && constants->used_size > 0;) {
        if (from->rel)
            cbi_sec_rel(lk, bank_of(entries->items[i]), false);
        if (from->rela)
            cbi_sec_rel(lk, bank_of(entries->items[i]), true);
        if (cbi_resolved_of(lk, from))
            cbi_sec_resolved(lk, bank_of(entries->items[i]));
    }
    constants->spread_to = entries;
    constants->spread_offset = off;
    /* Constants of copies that lost belong to the null symbol. */
    if (constants->lost.len && entries->len)
        lk->null_symbol_value = off + constants->lost.items[constants->lost.len - 1].start;
}

/* Sections whose function was replaced by a copy without constants. */
static void drop_emptied(cbi_linker *lk, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cbi_osec *sec = lk->secs.items[i];
        if (cbi_is_optimizer_type(sec->type) && cbi_constants_of(sec)->emptied && sec->size == 0)
            cbi_sec_kill(sec);
    }
}

typedef CBI_VEC(size_t) rel_list;
static const size_t TAKEN = SIZE_MAX;

typedef struct constant {
    cbi_lsym *sym; /* NULL: of a copy that lost */
    cbi_range range;
    size_t order; /* in the list */
} constant;

static int by_start(const void *a, const void *b)
{
    const constant *x = a, *y = b;
    if (x->range.start != y->range.start)
        return x->range.start < y->range.start ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

typedef CBI_VEC(constant) constant_list;

/* The constants of each spread section by value: those of the copy that is linked, and of copies
 * that lost after it came. */
static void list_constants(cbi_linker *lk, cbi_map *ret_lists)
{
    for (size_t i = 0; i < lk->secs.len; i++) {
        const cbi_osec *sec = lk->secs.items[i];
        const cbi_constants *constants = cbi_constants_of(sec);
        if (!constants->spread_to)
            continue;
        constant_list *list = CBI_NEW(lk->ctx, constant_list);
        cbi_map_put(lk->ctx, ret_lists, CBI_KEY(sec), list);
        for (size_t k = 0; k < constants->lost.len; k++)
            cbi_vec_push(lk->ctx, list, ((constant){NULL, constants->lost.items[k], list->len}));
    }
    for (size_t i = 0; i < lk->locals.len; i++) {
        cbi_lsym *sym = lk->locals.items[i];
        const cbi_osec *sec = sym->sec;
        if (!sec || sym->is_section || !cbi_constants_of(sec)->spread_to)
            continue;
        constant_list *list = cbi_map_get(ret_lists, CBI_KEY(sec));
        if (sym->def_obj == sec->func->obj || cbi_constants_of(sec)->kept_contents)
            cbi_vec_push(lk->ctx, list, ((constant){sym, {sym->value, sym->size}, list->len}));
    }
}

typedef CBI_VEC(cbi_lrel) rel_copies;

static void move_constant(cbi_linker *lk, const cbi_constants *from, const constant *c,
                          rel_list *list, rel_copies *copies)
{
    for (size_t k = 0; list && k < list->len; k++) {
        if (list->items[k] == TAKEN)
            continue;
        cbi_lrel r = lk->rels.items[list->items[k]];
        if (r.offset < c->range.start || r.offset - c->range.start >= c->range.size)
            continue;
        list->items[k] = TAKEN; /* constants of an earlier -r may overlap: the first takes it */
        r.offset += from->spread_offset;
        for (size_t e = 0; e < from->spread_to->len; e++) {
            r.target = bank_of(from->spread_to->items[e]);
            if (r.target)
                cbi_vec_push(lk->ctx, copies, r);
        }
    }
    if (!c->sym)
        return;
    c->sym->value += from->spread_offset;
    c->sym->spread = true;
    if (from->spread_to->len)
        c->sym->sec = bank_of(from->spread_to->items[0]);
}

/* A constant that a longer one was written over is as long as that. */
static void grow_constants(constant_list *list)
{
    for (size_t i = list->len; i-- > 1;) {
        const cbi_range *next = &list->items[i].range;
        cbi_range *range = &list->items[i - 1].range;
        if (range->start == next->start && range->size < next->size)
            range->size = next->size;
    }
}

/* Values and relocations follow their bytes, constant by constant. */
static void move_constants(cbi_linker *lk)
{
    cbi_map by_section = {0};
    for (size_t i = 0; i < lk->rels.len; i++) {
        const cbi_osec *from = lk->rels.items[i].target;
        if (!cbi_constants_of(from)->spread_to)
            continue;
        rel_list *list = cbi_map_get(&by_section, CBI_KEY(from));
        if (!list) {
            list = CBI_NEW(lk->ctx, rel_list);
            cbi_map_put(lk->ctx, &by_section, CBI_KEY(from), list);
        }
        cbi_vec_push(lk->ctx, list, i);
    }
    rel_copies copies = {0};
    cbi_map constants = {0};
    list_constants(lk, &constants);
    for (size_t i = 0; i < lk->secs.len; i++) {
        const cbi_osec *from = lk->secs.items[i];
        constant_list *list = cbi_map_get(&constants, CBI_KEY(from));
        if (!list || !list->len)
            continue;
        qsort(list->items, list->len, sizeof *list->items, by_start);
        if (cbi_constants_of(from)->kept_contents)
            grow_constants(list);
        for (size_t k = 0; k < list->len; k++)
            move_constant(lk, cbi_constants_of(from), &list->items[k],
                          cbi_map_get(&by_section, CBI_KEY(from)), &copies);
    }
    if (!copies.len)
        return;
    /* In front: they come out behind the entry's own. */
    for (size_t i = 0; i < lk->rels.len; i++)
        cbi_vec_push(lk->ctx, &copies, lk->rels.items[i]);
    lk->rels.items = copies.items;
    lk->rels.len = copies.len;
    lk->rels.cap = copies.cap;
}

void cbi_layout_constants(cbi_linker *lk)
{
    if (!lk->exec) {
        drop_emptied(lk, lk->secs.len);
        return;
    }
    size_t created = lk->secs.len;
    bool any = false;
    for (size_t i = created; i-- > 0;) {
        cbi_osec *sec = lk->secs.items[i];
        if (!cbi_is_optimizer_type(sec->type) || sec->dead || !sec->func)
            continue;
        if (sec->func->entry || !sec->func->live ||
            (!cbi_constants_of(sec)->own_contents && !cbi_constants_of(sec)->emptied) ||
            sec != sec->func->constant2)
            continue;
        spread_constants(lk, sec->func);
        any = true;
        cbi_sec_kill(sec);
    }
    drop_emptied(lk, created);
    for (size_t i = 0; any && i < lk->entries.len; i++) {
        cbi_osec *bank = bank_of(lk->entries.items[i]);
        if (bank && !bank->size)
            cbi_sec_kill(bank);
    }
    if (lk->last_shared_constant)
        lk->null_symbol_value = lk->last_shared_constant->offset;
    if (!any)
        return;
    move_constants(lk);
}

bool cbi_is_user_constants(const cbi_osec *sec)
{
    return sec->type == SHT_CUDA_CONSTANT_B0 + 3 || sec->type == SHT_CUDA_MERC_CONSTANT_USER;
}

void cbi_layout_constant_size(cbi_linker *lk)
{
    if (!lk->constant_sizes.len)
        return;
    uint64_t size = UINT64_MAX; /* without constants */
    for (size_t i = 0; i < lk->secs.len; i++)
        if (cbi_is_user_constants(lk->secs.items[i]))
            size = lk->secs.items[i]->size;
    for (size_t i = 0; i < lk->constant_sizes.len; i++)
        lk->constant_sizes.items[i]->value = size;
}

/* ---- texture, sampler and surface tables in bank 0 ---- */

bool cbi_is_slot_type(uint32_t type)
{
    switch (type) {
    case 5:
    case 12:
    case 17:
    case 18:
    case 22:
    case 23:
    case 24:
    case 25:
    case 29:
    case 30:
    case 38:
    case 39:
    case 42:
    case 46:
    case 50:
    case 51:
    case 54:
    case 55:
    case 59:
    case 64:
    case 65:
    case 66:
    case 115:
    case R_MERCURY_ABS32:
    case R_MERCURY_ABS16:
        return true;
    default:
        return false;
    }
}

static bool keep_order(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return true;
}

/* sm_100+: the table is a section of its own, which the finalizer puts behind the parameters. */
static cbi_osec *image_table(cbi_linker *lk, cbi_func *k, uint64_t size)
{
    const cbi_name *name =
        cbi_intern_printf(lk->ctx, ".nv.constant.entry_image_header_indices.%s", k->sym->name->s);
    cbi_osec *sec =
        cbi_sec_create_bare(lk, name, SHT_CUDA_MERC_IMAGE_INDICES, SHF_ALLOC | SHF_INFO_LINK, 4, 0);
    sec->target = k->text;
    sec->func = k;
    cbi_sec_append(lk, sec, (cbi_span){0}, size, 4);
    cbi_sec_rel(lk, sec, true);
    cbi_sec_add_symbol(lk, sec);
    k->image_table = sec;
    return sec;
}

/* The tables are all alike, so the newest kernel that has one stands for all. */
static void check_image_counts(cbi_linker *lk)
{
    static const struct {
        uint8_t type;
        uint32_t most;
        const char *name;
    } limits[] = {
        {STT_CUDA_TEXTURE, 256, "textures"},
        {STT_CUDA_SAMPLER, 32, "samplers"},
        {STT_CUDA_SURFACE, 32, "surfaces"},
    };
    const cbi_func *k = NULL;
    for (size_t i = 0; i < lk->funcs.len; i++)
        if (lk->funcs.items[i]->has_images)
            k = lk->funcs.items[i];
    for (size_t i = 0; k && i < CBI_COUNT(limits); i++) {
        size_t count = 0;
        for (size_t j = 0; j < lk->images.len; j++)
            count += CBI_ST_TYPE(lk->images.items[j]->info) == limits[i].type;
        if (count > limits[i].most)
            cbi_fatal(lk->ctx, "too-many-images",
                      &(cbi_place){.file = k->obj->file, .symbol = k->sym->name->s},
                      "those of the whole link count; texture and surface objects have no limit",
                      "More than %u %s used in entry function '%s'", limits[i].most, limits[i].name,
                      k->sym->name->s);
    }
}

void cbi_layout_images(cbi_linker *lk)
{
    if (lk->mercury)
        lk->images_start = lk->opt->view->banks_end(lk);
    if (!lk->exec || !lk->images.len)
        return;
    for (size_t i = 0; i < lk->rels.len; i++) {
        const cbi_lrel *r = &lk->rels.items[i];
        if (!r->sym || !cbi_is_image(r->sym) || !cbi_is_slot_type(r->type) || !r->target->func ||
            r->target != r->target->func->text || r->target->func->obj != r->obj)
            continue;
        cbi_func *user = r->target->func;
        /* Where one kernel is wanted it has the textures of all that is live. */
        if (lk->only_entry)
            lk->only_entry->has_images = true;
        if (!lk->mercury || !lk->only_entry)
            user->has_images |= user->entry;
        const cbi_func_list *reaching = cbi_entries_reaching(lk, user);
        for (size_t j = 0; j < reaching->len; j++)
            reaching->items[j]->has_images = true;
    }
    uint64_t start = 0;
    for (size_t i = 0; i < lk->secs.len; i++)
        if (lk->secs.items[i]->type == SHT_CUDA_CONSTANT_B0 && !lk->secs.items[i]->dead &&
            lk->secs.items[i]->size > start)
            start = lk->secs.items[i]->size;
    start = lk->mercury ? lk->images_start : cbi_align_up(start, 4);
    static const uint8_t kinds[] = {STT_CUDA_SURFACE, STT_CUDA_SAMPLER, STT_CUDA_TEXTURE};
    size_t n = lk->images.len, at = n;
    cbi_lsym **slots = CBI_NEW_ARRAY(lk->ctx, n, cbi_lsym *);
    for (size_t k = 0; k < CBI_COUNT(kinds); k++)
        for (size_t i = 0; i < n; i++)
            if (CBI_ST_TYPE(lk->images.items[i]->info) == kinds[k])
                slots[--at] = lk->images.items[i];
    cbi_list_sort(lk->ctx, (void **)slots, n, keep_order);
    for (size_t i = 0; i < n; i++) {
        cbi_variable *image = cbi_variable_in(lk, slots[i]);
        image->slot = lk->mercury ? 4 * i : start + 4 * i;
        image->has_slot = true;
    }
    check_image_counts(lk);
    for (size_t i = 0, secs = lk->secs.len; i < secs; i++) {
        cbi_func *k = lk->secs.items[i]->func;
        if (!k || !k->has_images || k->text != lk->secs.items[i])
            continue;
        cbi_osec *bank = lk->mercury ? image_table(lk, k, 4 * n) : k->constant0;
        if (!bank)
            continue;
        if (!lk->mercury)
            bank->size = start + 4 * n;
        cbi_osec *rel = cbi_sec_rel(lk, bank, lk->opt->force_rela || lk->mercury);
        for (size_t s = n; s-- > 0;) {
            static const uint32_t header[] = {6, 7, 52};
            if (!cbi_has_image(k, slots[s]))
                continue;
            uint32_t kind = CBI_ST_TYPE(slots[s]->info) - STT_CUDA_TEXTURE;
            cbi_lrel *r = CBI_NEW(lk->ctx, cbi_lrel);
            r->target = bank;
            r->offset = cbi_variable_of(slots[s])->slot;
            r->sym = slots[s];
            r->type = lk->mercury ? R_MERCURY_TEX_HEADER_INDEX + kind : header[kind];
            r->is_rela = lk->opt->force_rela || lk->mercury;
            cbi_vec_push(lk->ctx, &rel->relocs, r);
        }
    }
}

/* ---- limits ---- */

void cbi_check_limits(cbi_linker *lk)
{
    for (size_t i = 0; i < lk->secs.len; i++) {
        const cbi_osec *sec = lk->secs.items[i];
        if (sec->dead || sec->size <= CUDA_CONSTANT_BANK_SIZE)
            continue;
        if (cbi_is_user_constants(sec))
            cbi_error(lk->ctx, "constant-too-large", &(cbi_place){.section = sec->name->s},
                      "the target has 64 KiB of __constant__ memory for all inputs together",
                      "File uses too much global constant data (0x%llx bytes, 0x%x max)",
                      (unsigned long long)sec->size, CUDA_CONSTANT_BANK_SIZE);
        else if (sec->type == SHT_CUDA_CONSTANT_B0 && sec->func)
            cbi_error(lk->ctx, "parameters-too-large", &(cbi_place){.section = sec->name->s}, NULL,
                      "Entry function '%s' uses too much constant data (0x%llx bytes, 0x%x max)",
                      sec->func->sym->name->s, (unsigned long long)sec->size,
                      CUDA_CONSTANT_BANK_SIZE);
    }
}
