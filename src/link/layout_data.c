/* Layout of commons and optimizer constants; limits of the constant banks. */
#include "link/graph.h"
#include "link/layout_work.h"
#include "link/symbols.h"

#include <stdlib.h>

const cbi_layout *cbi_layout_begin(const cbi_linker *lk, cbi_layout_work **ret_work)
{
    cbi_layout_work *work = *ret_work = CBI_NEW(lk->ctx, cbi_layout_work);
    work->layout.rels = (cbi_rel_span){lk->symbols->rels.items, lk->symbols->rels.len};
    const cbi_removed *before = &lk->graph->dead;
    cbi_vec_reserve(lk->ctx, &work->dead, lk->records->secs.len);
    memcpy(work->dead.items, before->items, before->len);
    work->dead.len = lk->records->secs.len;
    work->layout.dead = (cbi_removed){work->dead.items, work->dead.len};
    return &work->layout;
}

cbi_placement *cbi_layout_place(const cbi_linker *lk, const cbi_lsym *sym)
{
    cbi_layout *layout = &lk->placing->layout;
    if (sym->number >= layout->placed_count) {
        size_t count = lk->records->locals.len + lk->records->globals.len;
        uint32_t *placed = CBI_NEW_ARRAY(lk->ctx, count, uint32_t);
        if (layout->placed_count)
            memcpy(placed, layout->placed, layout->placed_count * sizeof *placed);
        layout->placed = placed;
        layout->placed_count = count;
    }
    if (!layout->placed[sym->number]) {
        cbi_vec_push(lk->ctx, &layout->placements, cbi_placement_of(lk, sym));
        layout->placed[sym->number] = (uint32_t)layout->placements.len;
    }
    return &layout->placements.items[layout->placed[sym->number] - 1];
}

const cbi_func_layout cbi_no_func_layout;

cbi_func_layout *cbi_func_layout_in(const cbi_linker *lk, const cbi_func *f)
{
    cbi_layout *layout = &lk->placing->layout;
    if (!layout->funcs)
        layout->funcs = CBI_NEW_ARRAY(lk->ctx, lk->symbols->funcs.len, cbi_func_layout *);
    if (!layout->funcs[f->number])
        layout->funcs[f->number] = CBI_NEW(lk->ctx, cbi_func_layout);
    return layout->funcs[f->number];
}

static void mark_dead(const cbi_linker *lk, const cbi_osec *sec, bool dead)
{
    cbi_layout_work *work = lk->placing;
    const cbi_osec *all[] = {sec, sec->rel, sec->rela};
    for (size_t i = 0; i < CBI_COUNT(all); i++) {
        for (size_t n = work->dead.len; all[i] && n <= all[i]->number; n++)
            cbi_vec_push(lk->ctx, &work->dead, false);
        if (all[i])
            work->dead.items[all[i]->number] = dead;
    }
    work->layout.dead = (cbi_removed){work->dead.items, work->dead.len};
}

void cbi_layout_remove(const cbi_linker *lk, const cbi_osec *sec)
{
    mark_dead(lk, sec, true);
}

void cbi_layout_restore(const cbi_linker *lk, const cbi_osec *sec)
{
    mark_dead(lk, sec, false);
}

/* ---- commons: newest first, at the end of .nv.global ---- */

void cbi_layout_commons(const cbi_linker *lk)
{
    for (size_t i = lk->symbols->commons.len; i-- > 0;) {
        const cbi_lsym *sym = lk->symbols->commons.items[i];
        if (!sym->common_pending)
            continue;
        if (cbi_variable_of(sym)->common_align ==
            CUDA_COMMON_LOST) /* nvlink would write without end */
            cbi_fatal(lk->ctx, "common-lost",
                      &(cbi_place){.file = cbi_obj_file(lk, sym->def_obj), .symbol = sym->name->s},
                      "an earlier link with -r had an initialised weak definition behind it",
                      "Common symbol '%s' has no alignment", sym->name->s);
        if (!lk->records->global)
            lk->records->global = cbi_sec_create(lk, cbi_intern(lk->ctx, ".nv.global"),
                                                 SHT_CUDA_GLOBAL, SHF_ALLOC | SHF_WRITE, 0, 0);
        cbi_placement *place = cbi_layout_place(lk, sym);
        place->value = cbi_sec_append(lk, lk->records->global, (cbi_span){0}, sym->size,
                                      cbi_variable_of(sym)->common_align);
        place->sec = lk->records->global;
        place->state = CBI_SYM_DEFINED;
    }
}

/* ---- optimizer constants: copied into the bank of every entry that reaches the function ---- */

static cbi_osec *entry_bank(const cbi_linker *lk, const cbi_func *k, const cbi_osec *like)
{
    if (k->old_constants) {
        cbi_layout_restore(lk, k->old_constants);
        k->old_constants->func = k;
    } else if (!cbi_bank_of(lk, k)) {
        const cbi_name *name =
            lk->mercury ? cbi_intern_join(lk->ctx, ".nv.constant.optimizer.", k->sym->name->s)
                        : cbi_intern_join(lk->ctx, ".nv.constant2.", k->sym->name->s);
        cbi_osec *sec = cbi_sec_create(lk, name, like->type, like->flags, 0, like->entsize);
        sec->target = k->text;
        sec->func = k;
        cbi_func_layout_in(lk, k)->constants = sec;
    }
    return cbi_bank_of(lk, k);
}

static void spread_constants(const cbi_linker *lk, const cbi_func *f)
{
    cbi_osec *from = f->constant2;
    cbi_constants *constants = cbi_constants_in(lk, from);
    const cbi_func_list *entries = cbi_entries_reaching(lk, f);
    uint64_t off = 0, align = from->align;
    for (size_t i = 0; i < entries->len; i++) {
        const cbi_osec *bank = cbi_bank_of(lk, entries->items[i]);
        if (!bank)
            continue;
        off = bank->size > off ? bank->size : off;
        align = bank->align > align ? bank->align : align;
    }
    off = cbi_align_up(off, align);
    /* What a replaced copy left behind is empty, but still creates the banks and lines them up. */
    for (size_t i = entries->len; i-- > 0;) {
        cbi_osec *bank = entry_bank(lk, entries->items[i], from);
        bank->size = off;
        bank->align = align;
        cbi_sec_append(lk, bank, (cbi_span){0}, constants->used_size, from->align);
        bank->size = cbi_align_up(bank->size, bank->align);
        for (size_t p = 0; p < from->pieces.len; p++) {
            cbi_piece *piece = &from->pieces.items[p];
            piece->own = false; /* several have it */
            cbi_vec_push(lk->ctx, &bank->pieces,
                         ((cbi_piece){.bytes = piece->bytes, .offset = off + piece->offset}));
        }
    }
    for (size_t i = entries->len; i-- > 0 && constants->used_size > 0;) {
        if (from->rel)
            cbi_sec_rel(lk, cbi_bank_of(lk, entries->items[i]), false);
        if (from->rela)
            cbi_sec_rel(lk, cbi_bank_of(lk, entries->items[i]), true);
        if (cbi_resolved_of(lk, from))
            cbi_sec_resolved(lk, cbi_bank_of(lk, entries->items[i]));
    }
    constants->copied_to = entries;
    constants->copied_at = off;
    /* Constants of copies that lost belong to the null symbol. */
    if (constants->lost.len && entries->len)
        lk->placing->layout.null_symbol_value =
            off + constants->lost.items[constants->lost.len - 1].start;
}

/* Sections whose function was replaced by a copy without constants. */
static void drop_emptied(const cbi_linker *lk, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cbi_osec *sec = lk->records->few_secs.items[i];
        if (cbi_is_optimizer_type(sec->type) && cbi_constants_of(sec)->emptied && sec->size == 0)
            cbi_layout_remove(lk, sec);
    }
}

typedef CBI_VEC(size_t) rel_list;
static const size_t TAKEN = SIZE_MAX;

typedef struct constant {
    const cbi_lsym *sym; /* NULL: of a copy that lost */
    cbi_range range;
    size_t order; /* in the list */
} constant;

static int by_start(const void *a, const void *b)
{
    const constant *x = a, *y = b;
    if (x->range.start != y->range.start)
        return cbi_order(x->range.start, y->range.start);
    return cbi_order(x->order, y->order);
}

typedef CBI_VEC(constant) constant_list;

/* The constants of each spread section by value: those of the copy that is linked, and of copies
 * that lost after it came. */
static void list_constants(const cbi_linker *lk, cbi_map *ret_lists)
{
    for (size_t i = 0; i < lk->records->few_secs.len; i++) {
        const cbi_osec *sec = lk->records->few_secs.items[i];
        const cbi_constants *constants = cbi_constants_of(sec);
        if (!constants->copied_to)
            continue;
        constant_list *list = CBI_NEW(lk->ctx, constant_list);
        cbi_map_put(lk->ctx, ret_lists, CBI_KEY(sec), list);
        for (size_t k = 0; k < constants->lost.len; k++)
            cbi_vec_push(lk->ctx, list, ((constant){NULL, constants->lost.items[k], list->len}));
    }
    for (size_t i = 0; i < lk->records->locals.len; i++) {
        const cbi_lsym *sym = lk->records->locals.items[i];
        const cbi_osec *sec = sym->sec;
        if (!sec || sym->is_section || !cbi_constants_of(sec)->copied_to)
            continue;
        constant_list *list = cbi_map_get(ret_lists, CBI_KEY(sec));
        if (sym->def_obj == cbi_obj_id(sec->func->obj) || cbi_constants_of(sec)->kept_contents)
            cbi_vec_push(lk->ctx, list, ((constant){sym, {sym->value, sym->size}, list->len}));
    }
}

typedef CBI_VEC(cbi_lrel) rel_copies;

static void move_constant(const cbi_linker *lk, const cbi_constants *from, const constant *c,
                          rel_list *list, rel_copies *copies)
{
    for (size_t k = 0; list && k < list->len; k++) {
        if (list->items[k] == TAKEN)
            continue;
        cbi_lrel r = lk->placing->layout.rels.items[list->items[k]];
        if (r.offset < c->range.start || r.offset - c->range.start >= c->range.size)
            continue;
        list->items[k] = TAKEN; /* constants of an earlier -r may overlap: the first takes it */
        r.offset += from->copied_at;
        for (size_t e = 0; e < from->copied_to->len; e++) {
            r.target = cbi_bank_of(lk, from->copied_to->items[e]);
            if (r.target)
                cbi_vec_push(lk->ctx, copies, r);
        }
    }
    if (!c->sym)
        return;
    cbi_placement *place = cbi_layout_place(lk, c->sym);
    place->value += from->copied_at;
    place->in_banks = true;
    if (from->copied_to->len)
        place->sec = cbi_bank_of(lk, from->copied_to->items[0]);
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
static void move_constants(const cbi_linker *lk)
{
    cbi_map by_section = {0};
    for (size_t i = 0; i < lk->placing->layout.rels.len; i++) {
        const cbi_osec *from = lk->placing->layout.rels.items[i].target;
        if (!cbi_constants_of(from)->copied_to)
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
    for (size_t i = 0; i < lk->records->few_secs.len; i++) {
        const cbi_osec *from = lk->records->few_secs.items[i];
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
    /* In front: they come out behind the entry's own. */
    lk->placing->layout.moved = (cbi_rel_span){copies.items, copies.len};
}

/* How constant banks merge.  Final links: each function's bank of optimizer constants, newest
 * first, is appended to the bank of every entry that reaches it, at one offset in all, the largest
 * that any of them needs; symbols and relocations follow their bytes, and the function's own
 * section goes. What is emptied goes, too.  -r leaves them.  (The user's bank, .nv.constant3, is
 * what the inputs have, one after the other: cbi_sec_append(); layout_cull.c makes it smaller.) */
void cbi_layout_constants(const cbi_linker *lk)
{
    if (!lk->exec) {
        drop_emptied(lk, lk->records->few_secs.len);
        return;
    }
    size_t created = lk->records->few_secs.len;
    bool any = false;
    for (size_t i = created; i-- > 0;) {
        cbi_osec *sec = lk->records->few_secs.items[i];
        if (!cbi_is_optimizer_type(sec->type) || cbi_is_dead(lk, sec) || !sec->func)
            continue;
        if (cbi_fate_of(lk, sec->func)->entry || !cbi_fate_of(lk, sec->func)->live ||
            (!cbi_constants_of(sec)->own_contents && !cbi_constants_of(sec)->emptied) ||
            sec != sec->func->constant2)
            continue;
        spread_constants(lk, sec->func);
        any = true;
        cbi_layout_remove(lk, sec);
    }
    drop_emptied(lk, created);
    for (size_t i = 0; any && i < lk->graph->entries.len; i++) {
        cbi_osec *bank = cbi_bank_of(lk, lk->graph->entries.items[i]);
        if (bank && !bank->size)
            cbi_layout_remove(lk, bank);
    }
    const cbi_piece *shared = lk->placing->culled ? NULL : lk->symbols->last_shared_constant;
    if (shared)
        lk->placing->layout.null_symbol_value = shared->offset;
    if (!any)
        return;
    move_constants(lk);
}

void cbi_layout_constant_size(const cbi_linker *lk)
{
    if (!lk->symbols->constant_size)
        return;
    uint64_t size = UINT64_MAX; /* without constants */
    for (size_t i = 0; i < lk->records->few_secs.len; i++)
        if (cbi_is_user_constants(lk->records->few_secs.items[i]))
            size = lk->records->few_secs.items[i]->size;
    cbi_layout_place(lk, lk->symbols->constant_size)->value = size;
}

/* ---- sections of the link itself ---- */

void cbi_layout_callgraph(const cbi_linker *lk)
{
    lk->records->callgraph =
        cbi_sec_create(lk, cbi_intern(lk->ctx, ".nv.callgraph"), SHT_CUDA_CALLGRAPH, 0, 4, 8);
    lk->records->prototype =
        cbi_sec_create(lk, cbi_intern(lk->ctx, ".nv.prototype"), SHT_CUDA_PROTOTYPE, 0, 4, 8);
}

void cbi_layout_rel_action(const cbi_linker *lk)
{
    if (lk->exec && !lk->mercury)
        lk->records->rel_action =
            cbi_sec_create(lk, cbi_intern(lk->ctx, ".nv.rel.action"), SHT_CUDA_RELOCINFO, 0, 8, 8);
}

/* ---- limits ---- */

static void check_shared_limit(const cbi_linker *lk, const cbi_osec *sec)
{
    static const char prefix[] = ".nv.shared.";
    const cbi_arch *arch = lk->opt->arch;
    bool extended = lk->opt->enable_extended_smem || arch->suffix == 'a';
    uint64_t max = extended ? lk->chip->shared_max : CBI_SHARED_MAX;
    uint64_t reserved = lk->mercury ? 0 : lk->chip->reserved_shared;
    uint64_t size = sec->size - (sec->size < reserved ? sec->size : reserved);
    if (size <= max)
        return;
    /* nvlink passes over as many bytes of another name, and says "hared" of .nv_debug.shared */
    const char *name = sec->func   ? sec->func->sym->name->s
                       : lk->terse ? sec->name->s + strlen(prefix)
                                   : sec->name->s;
    cbi_error(lk->ctx, "shared-too-large",
              &(cbi_place){.file = sec->func ? sec->func->obj->file : NULL, .symbol = name},
              "use dynamic shared memory, or --enable-extended-smem=true where the target has more",
              "Entry function '%s' uses too much shared data (0x%llx bytes, 0x%llx max)", name,
              (unsigned long long)size, (unsigned long long)max);
}

static void check_constant_limit(const cbi_linker *lk, const cbi_osec *sec)
{
    if (sec->size <= CUDA_CONSTANT_BANK_SIZE)
        return;
    if (cbi_is_user_constants(sec))
        cbi_error(lk->ctx, "constant-too-large", &(cbi_place){.section = sec->name->s},
                  "the target has 64 KiB of __constant__ memory for all inputs together",
                  "File uses too much global constant data (0x%llx bytes, 0x%x max)",
                  (unsigned long long)sec->size, CUDA_CONSTANT_BANK_SIZE);
    else if (cbi_is_optimizer_type(sec->type) && sec->func)
        cbi_error(lk->ctx, "optimizer-constants-too-large",
                  &(cbi_place){.file = sec->func->obj->file, .section = sec->name->s}, NULL,
                  "Entry function '%s' uses too much data for compiler-generated constants; "
                  "please recompile with -Xptxas --disable-optimizer-constants",
                  sec->func->sym->name->s);
    else if (sec->type == SHT_CUDA_CONSTANT_B0 && sec->func)
        cbi_error(lk->ctx, "parameters-too-large", &(cbi_place){.section = sec->name->s}, NULL,
                  "Entry function '%s' uses too much constant data (0x%llx bytes, 0x%x max)",
                  sec->func->sym->name->s, (unsigned long long)sec->size, CUDA_CONSTANT_BANK_SIZE);
}

void cbi_check_limits(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->records->few_secs.len; i++) {
        const cbi_osec *sec = lk->records->few_secs.items[i];
        if (cbi_is_dead(lk, sec))
            continue;
        if (sec->type == SHT_CUDA_SHARED && lk->exec)
            check_shared_limit(lk, sec);
        else
            check_constant_limit(lk, sec);
    }
}
