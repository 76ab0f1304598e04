/* Layout of textures, samplers and surfaces: a table in bank 0 of every entry that reaches one. */
#include "format/reloc.h"
#include "link/graph.h"
#include "link/layout_work.h"
#include "link/view.h"

static bool keep_order(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return true;
}

/* sm_100+: the table is a section of its own, which the finalizer puts behind the parameters. */
static cbi_osec *image_table(const cbi_linker *lk, const cbi_func *k, uint64_t size)
{
    const cbi_name *name =
        cbi_intern_join(lk->ctx, ".nv.constant.entry_image_header_indices.", k->sym->name->s);
    cbi_osec *sec =
        cbi_sec_create_bare(lk, name, SHT_CUDA_MERC_IMAGE_INDICES, SHF_ALLOC | SHF_INFO_LINK, 4, 0);
    sec->target = k->text;
    sec->func = k;
    cbi_sec_append(lk, sec, (cbi_span){0}, size, 4);
    cbi_sec_rel(lk, sec, true);
    cbi_sec_add_symbol(lk, sec);
    cbi_func_layout_in(lk, k)->image_table = sec;
    return sec;
}

/* The tables are all alike, so the newest kernel that has one stands for all. */
static void check_image_counts(const cbi_linker *lk)
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
    for (size_t i = 0; i < lk->symbols->funcs.len; i++)
        if (cbi_func_layout_of(lk, lk->symbols->funcs.items[i])->has_images)
            k = lk->symbols->funcs.items[i];
    for (size_t i = 0; k && i < CBI_COUNT(limits); i++) {
        size_t count = 0;
        for (size_t j = 0; j < lk->symbols->images.len; j++)
            count += CBI_ST_TYPE(lk->symbols->images.items[j]->info) == limits[i].type;
        if (count > limits[i].most)
            cbi_fatal(lk->ctx, "too-many-images",
                      &(cbi_place){.file = k->obj->file, .symbol = k->sym->name->s},
                      "those of the whole link count; texture and surface objects have no limit",
                      "More than %u %s used in entry function '%s'", limits[i].most, limits[i].name,
                      k->sym->name->s);
    }
}

/* The table of samplers is for those that refer to a sampler or surface: what refers to textures
 * alone has its samplers in them. */
static void use_images(const cbi_linker *lk, const cbi_func *k, const cbi_lsym *image)
{
    cbi_func_layout *layout = cbi_func_layout_in(lk, k);
    layout->has_images = true;
    if (CBI_ST_TYPE(image->info) != STT_CUDA_TEXTURE)
        layout->has_samplers = true;
}

/* The entries that reach code with textures. */
static void find_users(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->rels.len; i++) {
        const cbi_lrel *r = &lk->symbols->rels.items[i];
        if (!r->sym || !cbi_is_image(r->sym) || !cbi_is_texture_slot(r->type) || !r->target->func ||
            r->target != r->target->func->text || r->target->func->obj != r->obj)
            continue;
        const cbi_func *user = r->target->func;
        /* Where one kernel is wanted it has the textures of all that is live. */
        if (lk->graph->only_entry)
            use_images(lk, lk->graph->only_entry, r->sym);
        if (cbi_fate_of(lk, user)->entry && (!lk->mercury || !lk->graph->only_entry))
            use_images(lk, user, r->sym);
        const cbi_func_list *reaching = cbi_entries_reaching(lk, user);
        for (size_t j = 0; j < reaching->len; j++)
            use_images(lk, reaching->items[j], r->sym);
    }
}

/* Where the tables begin: behind the largest parameter bank. */
static uint64_t tables_start(const cbi_linker *lk)
{
    uint64_t start = 0;
    if (lk->mercury)
        return lk->placing->layout.images_start;
    for (size_t i = 0; i < lk->records->few_secs.len; i++) {
        const cbi_osec *sec = lk->records->few_secs.items[i];
        if (sec->type == SHT_CUDA_CONSTANT_B0 && !cbi_is_dead(lk, sec) && sec->size > start)
            start = sec->size;
    }
    return cbi_align_up(start, 4);
}

/* Textures, samplers, surfaces, in the order of their slots. */
static const cbi_lsym **assign_slots(const cbi_linker *lk, uint64_t start)
{
    static const uint8_t kinds[] = {STT_CUDA_SURFACE, STT_CUDA_SAMPLER, STT_CUDA_TEXTURE};
    size_t n = lk->symbols->images.len, at = n;
    const cbi_lsym **slots = CBI_NEW_ARRAY(lk->ctx, n, const cbi_lsym *);
    for (size_t k = 0; k < CBI_COUNT(kinds); k++)
        for (size_t i = 0; i < n; i++)
            if (CBI_ST_TYPE(lk->symbols->images.items[i]->info) == kinds[k])
                slots[--at] = lk->symbols->images.items[i];
    cbi_list_sort(lk->ctx, (const void **)slots, n, keep_order);
    for (size_t i = 0; i < n; i++) {
        cbi_placement *image = cbi_layout_place(lk, slots[i]);
        image->slot = lk->mercury ? 4 * i : start + 4 * i;
        image->has_slot = true;
    }
    return slots;
}

/* The driver fills the table in, slot by slot. */
static void add_table(const cbi_linker *lk, const cbi_func *k, const cbi_lsym *const *slots,
                      uint64_t start)
{
    static const uint32_t header[] = {R_CUDA_TEX_HEADER_INDEX, R_CUDA_SAMP_HEADER_INDEX,
                                      R_CUDA_SURF_HEADER_INDEX};
    size_t n = lk->symbols->images.len;
    cbi_osec *bank = lk->mercury ? image_table(lk, k, 4 * n) : k->constant0;
    if (!bank)
        return;
    if (!lk->mercury)
        bank->size = start + 4 * n;
    cbi_osec *rel = cbi_sec_rel(lk, bank, lk->opt->force_rela || lk->mercury);
    for (size_t s = n; s-- > 0;) {
        if (!cbi_has_image(k, slots[s]))
            continue;
        uint32_t type = CBI_ST_TYPE(slots[s]->info), kind = type - STT_CUDA_TEXTURE;
        if (type == STT_CUDA_SAMPLER && !cbi_func_layout_of(lk, k)->has_samplers)
            continue;
        cbi_lrel *r = CBI_NEW(lk->ctx, cbi_lrel);
        r->target = bank;
        r->offset = cbi_placement_of(lk, slots[s]).slot;
        r->sym = slots[s];
        r->type = lk->mercury ? R_MERCURY_TEX_HEADER_INDEX + kind : header[kind];
        r->is_rela = lk->opt->force_rela || lk->mercury;
        cbi_vec_push(lk->ctx, &rel->relocs, r);
    }
}

void cbi_layout_images(const cbi_linker *lk)
{
    if (lk->mercury)
        lk->placing->layout.images_start = lk->opt->view->banks_end(lk);
    if (!lk->exec || !lk->symbols->images.len)
        return;
    find_users(lk);
    uint64_t start = tables_start(lk);
    const cbi_lsym **slots = assign_slots(lk, start);
    check_image_counts(lk);
    for (size_t i = 0, secs = lk->records->secs.len; i < secs; i++) {
        const cbi_func *k = lk->records->secs.items[i]->func;
        if (k && k->text == lk->records->secs.items[i] && cbi_func_layout_of(lk, k)->has_images)
            add_table(lk, k, slots, start);
    }
}
