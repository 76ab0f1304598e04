/* Merging one object, at its end: contents that the output refers to stay, what else the link needs
 * of the input is copied, and the memory of the rest serves for the next objects.  Of a big link
 * that is a third. */
#include "base/files.h"
#include "link/merge_work.h"

#include <stdlib.h>

/* Will nobody ask for the model?  Maps and explanations show it, and the tables of unified
 * functions and constants beyond the limit are made anew from it. */
static bool is_spent(const cbi_linker *lk, const cbi_lobj *obj)
{
    const cbi_link_options *opt = lk->opt;
    if (!opt->spends_inputs || lk->mercury || opt->map || opt->why_live_count ||
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

typedef CBI_VEC(cbi_piece *) piece_list;

/* What the output has of the object so far; its pieces stand at the end of the section's list. */
static void list_pieces(const cbi_linker *lk, const cbi_lobj *obj, const cbi_osec *sec,
                        piece_list *ret_kept)
{
    for (size_t i = sec->pieces.len; i-- > 0;) {
        cbi_piece *piece = &sec->pieces.items[i];
        if (piece->own || !is_inside(obj, piece->bytes.data))
            return;
        piece->own = true;
        cbi_vec_push(lk->ctx, ret_kept, piece);
    }
}

static void copy_payload(const cbi_linker *lk, const cbi_lobj *obj, cbi_rec *rec)
{
    /* the symbols say it, or the record has it */
    if (cbi_is_externs(rec) || rec->here || !is_inside(obj, rec->payload))
        return;
    uint8_t *copy = cbi_pool_alloc(lk->ctx, &lk->merging->payload_pool, rec->size);
    memcpy(copy, rec->payload, rec->size);
    rec->payload = copy;
}

static cbi_span copy_span(const cbi_linker *lk, cbi_span bytes)
{
    if (bytes.size)
        bytes.data = cbi_memdup(lk->ctx, bytes.data, bytes.size);
    return bytes;
}

/* What the object's sections have put into the output. */
static void list_sections(const cbi_linker *lk, const cbi_lobj *obj, piece_list *ret_kept)
{
    cbi_vec_reserve(lk->ctx, ret_kept, obj->object.section_count);
    for (uint32_t i = 1; i < obj->object.section_count; i++)
        if (obj->sections[i].out)
            list_pieces(lk, obj, obj->sections[i].out, ret_kept);
}

/* Code that an alias has taken over in the map of sections is known to its function.  Is one of
 * them weak? */
static bool list_functions(const cbi_linker *lk, const cbi_lobj *obj, piece_list *ret_kept)
{
    bool weak = false;
    for (uint32_t i = 1; i < obj->object.symbol_count; i++) {
        const cbi_lsym *sym = obj->symbols[i];
        if (!sym || !sym->func || sym->func->obj != obj)
            continue;
        weak |= cbi_is_weak(sym);
        if (obj->own && sym->func->text)
            list_pieces(lk, obj, sym->func->text, ret_kept);
    }
    return weak;
}

static int by_place(const void *a, const void *b)
{
    const cbi_piece *const *x = a, *const *y = b;
    return cbi_order((uintptr_t)(*x)->bytes.data, (uintptr_t)(*y)->bytes.data);
}

static void sort_by_place(const piece_list *kept)
{
    for (size_t i = 1; i < kept->len; i++) {
        if (by_place(&kept->items[i - 1], &kept->items[i]) > 0) {
            qsort(kept->items, kept->len, sizeof *kept->items, by_place);
            return;
        }
    }
}

/* Bytes from one place to another that nobody needs any more. */
static void give_up(const cbi_linker *lk, const cbi_lobj *obj, const uint8_t *from,
                    const uint8_t *to)
{
    enum { LEAST = 256, LEAST_MAPPED = 64 * 1024 }; /* less is not worth it */
    size_t size = (size_t)(to - from), unaligned = -(uintptr_t)from % _Alignof(max_align_t);
    if (!cbi_is_mapped(obj->own)) {
        if (size >= LEAST)
            cbi_reuse_bytes(lk->ctx, obj->own, (cbi_span){from + unaligned, size - unaligned});
    } else if (size >= LEAST_MAPPED) {
        cbi_drop_pages(obj->own, (cbi_span){from, size});
    }
}

/* The contents that the output refers to stay where they are, in memory as the output's own.  Of
 * those that overlap, in a damaged file, one gets a copy: they may be patched. */
static void spend_file(const cbi_linker *lk, const cbi_lobj *obj, const piece_list *kept)
{
    cbi_span file = obj->object.bytes;
    const uint8_t *end = file.data;
    sort_by_place(kept);
    for (size_t i = 0; i < kept->len; i++) {
        cbi_piece *piece = kept->items[i];
        cbi_span *bytes = &piece->bytes;
        piece->own = !cbi_is_mapped(obj->own);
        if (bytes->data < end) {
            bytes->data = cbi_memdup(lk->ctx, bytes->data, bytes->size);
            piece->own = true;
            continue;
        }
        give_up(lk, obj, end, bytes->data);
        end = bytes->data + bytes->size;
    }
    give_up(lk, obj, end, file.data + file.size);
    if (!cbi_is_mapped(obj->own))
        cbi_forget_file(obj->own);
}

/* The object's own file, but for what the output has of it. */
static void spend_bytes(const cbi_linker *lk, cbi_lobj *obj, size_t first_record,
                        const piece_list *kept)
{
    for (size_t i = first_record; i < lk->merging->recs.len; i++)
        copy_payload(lk, obj, &lk->merging->recs.items[i]);
    obj->tkinfo = copy_span(lk, obj->tkinfo);
    obj->compat = copy_span(lk, obj->compat);
    spend_file(lk, obj, kept);
}

void cbi_link_spend(const cbi_linker *lk, cbi_lobj *obj, size_t first_record)
{
    if (!is_spent(lk, obj))
        return;
    cbi_object *object = &obj->object;
    piece_list kept = {0};
    if (obj->own)
        list_sections(lk, obj, &kept);
    if (list_functions(lk, obj, &kept)) /* later copies are compared with the one that is held */
        cbi_load_weak_facts(lk, obj);
    if (obj->own)
        spend_bytes(lk, obj, first_record, &kept);
    cbi_vec_free(lk->ctx, &kept);
    cbi_take_back(lk->ctx, obj->sections, object->section_count * sizeof *obj->sections);
    cbi_take_back(lk->ctx, obj->symbols, object->symbol_count * sizeof *obj->symbols);
    cbi_take_back(lk->ctx, object->symbols, object->symbol_count * sizeof *object->symbols);
    cbi_take_back(lk->ctx, object->sections, object->section_count * sizeof *object->sections);
    obj->symbols = NULL;
    obj->sections = NULL;
    const uint8_t *bytes = obj->own ? NULL : object->bytes.data;
    *object = (cbi_object){.bytes = {bytes, object->bytes.size}};
}
