/* Merging one object, at its end: what the link still needs of the input is copied, and the memory
 * of the rest serves for the next objects.  Of a big link that is a third. */
#include "base/files.h"
#include "link/merge_work.h"

/* Will nobody ask for the model?  Maps and explanations show it, and the tables of unified
 * functions and constants beyond the limit are made anew from it. */
static bool is_spent(const cbi_linker *lk, const cbi_lobj *obj)
{
    const cbi_link_options *opt = lk->opt;
    if (!opt->spends_inputs || !obj->own || lk->mercury || opt->map || opt->why_live_count ||
        opt->required_kernel_count)
        return false;
    for (uint32_t i = 1; i < obj->object.section_count; i++) {
        const cbi_section *sec = &obj->object.sections[i];
        if (cbi_is_unified_table(sec->type) || sec->type == SHT_CUDA_CONSTANT_USER)
            return false;
    }
    return true;
}

static bool is_inside(const cbi_lobj *obj, const uint8_t *bytes)
{
    const cbi_span *all = &obj->object.bytes;
    return (uintptr_t)bytes - (uintptr_t)all->data < all->size;
}

/* Those of the object stand at the end of the list. */
static void copy_pieces(const cbi_linker *lk, const cbi_lobj *obj, cbi_osec *sec)
{
    for (size_t i = sec->pieces.len; i-- > 0;) {
        cbi_piece *piece = &sec->pieces.items[i];
        if (!is_inside(obj, piece->bytes.data))
            return;
        piece->bytes.data = cbi_memdup(lk->ctx, piece->bytes.data, piece->bytes.size);
        piece->own = true;
    }
}

static void copy_payload(const cbi_linker *lk, const cbi_lobj *obj, cbi_rec *rec)
{
    if (!is_inside(obj, rec->payload))
        return;
    if (cbi_is_externs(rec)) {
        rec->payload = NULL; /* the symbols say it */
        return;
    }
    uint8_t *copy = cbi_pool_alloc(lk->ctx, &lk->merging->payload_pool, rec->size);
    rec->payload = memcpy(copy, rec->payload, rec->size);
}

static cbi_span copy_span(const cbi_linker *lk, cbi_span bytes)
{
    if (bytes.size)
        bytes.data = cbi_memdup(lk->ctx, bytes.data, bytes.size);
    return bytes;
}

/* Later copies of weak functions are compared with the one that is held.  Code that an alias has
 * taken over in the map of sections is known to its function. */
static void keep_functions(const cbi_linker *lk, cbi_lobj *obj)
{
    bool weak = false;
    for (uint32_t i = 1; i < obj->object.symbol_count; i++) {
        const cbi_lsym *sym = obj->symbols[i];
        if (!sym || !sym->func || sym->func->obj != obj)
            continue;
        weak |= cbi_is_weak(sym);
        if (sym->func->text)
            copy_pieces(lk, obj, sym->func->text);
    }
    if (weak)
        cbi_load_weak_facts(lk, obj);
}

void cbi_link_spend(cbi_linker *lk, cbi_lobj *obj, size_t first_record)
{
    if (!is_spent(lk, obj))
        return;
    cbi_object *object = &obj->object;
    for (uint32_t i = 1; i < object->section_count; i++)
        if (obj->sections[i].out)
            copy_pieces(lk, obj, obj->sections[i].out);
    keep_functions(lk, obj);
    for (size_t i = first_record; i < lk->merging->symbols.recs.len; i++)
        copy_payload(lk, obj, &lk->merging->symbols.recs.items[i]);
    obj->tkinfo = copy_span(lk, obj->tkinfo);
    obj->compat = copy_span(lk, obj->compat);
    cbi_take_back(lk->ctx, obj->sections, object->section_count * sizeof *obj->sections);
    cbi_take_back(lk->ctx, obj->symbols, object->symbol_count * sizeof *obj->symbols);
    cbi_take_back(lk->ctx, object->symbols, object->symbol_count * sizeof *object->symbols);
    cbi_take_back(lk->ctx, object->sections, object->section_count * sizeof *object->sections);
    cbi_spend_file(lk->ctx, obj->own);
    obj->symbols = NULL;
    obj->sections = NULL;
    *object = (cbi_object){.bytes.size = object->bytes.size};
}
