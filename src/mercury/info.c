/* .nv.info.F of the SASS side, derived from the linked Mercury stream.
 *
 * Records that name code offsets take the values of the input's SASS stream; a few records exist on
 * one side only.
 */
#include "format/eiattr.h"
#include "mercury/rewrite.h"

typedef CBI_VEC(uint32_t) offset_list;

static void list_every(const cbi_linker *lk, cbi_span payload, size_t step, offset_list *ret_list)
{
    for (uint32_t at = 0; cbi_fits(at, 4, payload.size); at += (uint32_t)step)
        cbi_vec_push(lk->ctx, ret_list, at);
}

/* branch, 0, count, targets */
static void list_branches(const cbi_linker *lk, cbi_span payload, offset_list *ret_list)
{
    enum { HEADER = 12 };
    for (uint32_t at = 0; cbi_fits(at, HEADER, payload.size);) {
        uint32_t count = cbi_ld32(payload.data + at + 8);
        cbi_vec_push(lk->ctx, ret_list, at);
        for (at += HEADER; count && cbi_fits(at, 4, payload.size); count--, at += 4)
            cbi_vec_push(lk->ctx, ret_list, at);
    }
}

/* Spills are kind 1 with a place; a text of kind 3 has none. */
static void list_annotations(const cbi_linker *lk, cbi_span payload, offset_list *ret_list)
{
    enum { SPILL = 1 };
    for (uint32_t at = 0; cbi_fits(at, 8, payload.size); at += 8) {
        if (cbi_ld32(payload.data + at) != SPILL)
            return;
        cbi_vec_push(lk->ctx, ret_list, at + 4);
    }
}

/* Where in a record the places of code are. */
static void list_places(const cbi_linker *lk, uint8_t code, cbi_span payload, offset_list *ret_list)
{
    const cbi_eiattr *attr = cbi_eiattr_find(code);
    uint8_t kind = attr ? attr->payload : CBI_PAYLOAD_OPAQUE;
    size_t step = cbi_payload_step(kind);
    if (step)
        list_every(lk, payload, step, ret_list);
    else if (kind == CBI_PAYLOAD_BRANCH_TARGETS)
        list_branches(lk, payload, ret_list);
    else if (kind == CBI_PAYLOAD_ANNOTATION)
        list_annotations(lk, payload, ret_list);
}

/* The function whose stream it is and the one that gets it, as to their places. */
typedef struct foreign {
    const cbi_mercury_places *from, *to;
} foreign;

/* The stream of another function: the same places of its Mercury form in this one's code. */
static const cbi_attr *find_places(const cbi_linker *lk, const foreign *places,
                                   const cbi_attr *merc, const cbi_attr *sass)
{
    offset_list list = {0};
    list_places(lk, merc->code, merc->payload, &list);
    if (!list.len || merc->payload.size != sass->payload.size)
        return sass;
    uint8_t *p = cbi_memdup(lk->ctx, sass->payload.data, sass->payload.size);
    for (size_t i = 0; i < list.len; i++) {
        uint32_t at = list.items[i];
        uint32_t mercury = cbi_ld32(merc->payload.data + at);
        const cbi_mercury_place *from = cbi_mercury_place_at(places->from, mercury);
        const cbi_mercury_place *to = cbi_mercury_place_at(places->to, mercury);
        /* The main instruction of a run need not be its first.  For places that the code lacks
         * nvlink writes what it finds in memory. */
        if (!from)
            continue;
        uint64_t inside = cbi_ld32(p + at) - from->sass;
        bool last = to && to == &places->to->items[places->to->len - 1];
        if (!to || last || to->sass + inside >= to[1].sass)
            inside = 0;
        cbi_st32(p + at, to ? (uint32_t)(to->sass + inside) : 0);
    }
    cbi_attr *found = cbi_memdup(lk->ctx, sass, sizeof *sass);
    found->payload.data = p;
    return found;
}

/* The SASS records of a stream, those of one code in a chain: numbers from 1, 0 ends it.  Between
 * streams the chains are empty. */
typedef struct sass_records {
    CBI_VEC(const cbi_attr *) items;
    CBI_VEC(uint32_t) next;
    uint32_t first[256], last[256]; /* by code */
    cbi_pool pool;
} sass_records;

static void chain_record(const cbi_linker *lk, sass_records *all, const cbi_attr *attr)
{
    cbi_attr *kept = cbi_pool_alloc(lk->ctx, &all->pool, sizeof *kept);
    *kept = *attr;
    cbi_vec_push(lk->ctx, &all->items, kept);
    cbi_vec_push(lk->ctx, &all->next, 0);
    const uint32_t number = (uint32_t)all->items.len, last = all->last[attr->code];
    *(last ? &all->next.items[last - 1] : &all->first[attr->code]) = number;
    all->last[attr->code] = number;
}

static void forget_records(sass_records *all)
{
    for (size_t i = 0; i < all->items.len; i++)
        all->first[all->items.items[i]->code] = all->last[all->items.items[i]->code] = 0;
    all->items.len = all->next.len = 0;
}

/* Where in the SASS stream a Mercury record's counterpart is: the k-th of its code. */
static void pair_stream(const cbi_linker *lk, sass_records *records, cbi_span merc, cbi_span sass,
                        const foreign *places, cbi_map *partners)
{
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(sass, &pos, &attr))
        if (attr.format == CBI_ATTR_SIZED)
            chain_record(lk, records, &attr);
    pos = 0;
    while (cbi_attr_next(merc, &pos, &attr)) {
        const uint32_t number = records->first[attr.code];
        if (attr.format != CBI_ATTR_SIZED || !number)
            continue;
        records->first[attr.code] = records->next.items[number - 1];
        const cbi_attr *found = records->items.items[number - 1];
        if (places->from && places->to && places->to->len)
            found = find_places(lk, places, &attr, found);
        cbi_map_put(lk->ctx, partners, CBI_KEY(attr.raw.data), (void *)(uintptr_t)found);
    }
    forget_records(records);
}

static void pair_streams(const cbi_linker *lk, cbi_map *partners)
{
    sass_records *records = CBI_NEW(lk->ctx, sass_records);
    for (size_t o = 0; o < lk->symbols->objs.len; o++) {
        const cbi_lobj *obj = lk->symbols->objs.items[o];
        const cbi_mercury_view *view = obj->mercury;
        for (uint32_t i = 1; i < obj->object.section_count; i++) {
            const cbi_section *sec = &obj->object.sections[i];
            if (sec->type != SHT_CUDA_INFO || !(sec->flags & SHF_INFO_LINK) ||
                sec->info >= obj->object.section_count || !view->info[sec->info])
                continue;
            const cbi_osec *text = obj->sections[sec->info].out;
            if (!text || !text->func || text->func->obj != obj)
                continue;
            foreign places = {0};
            if (view->like[i]) {
                uint32_t first = obj->object.sections[view->like[i]].info;
                places.from = cbi_mercury_places_in(lk, view, first);
                /* debug data, which is made at the same time, asks the functions for theirs */
                if (!text->func->alias_of)
                    places.to = cbi_mercury_places_in(lk, view, text->func->in_sec);
            }
            pair_stream(lk, records, sec->data, view->file.sections[view->info[sec->info]].data,
                        &places, partners);
        }
    }
}

/* Code places in a record, after the code moved. */
static const uint8_t *move_places(const cbi_linker *lk, const cbi_rewrite *rw, uint8_t code,
                                  cbi_span payload)
{
    uint8_t *p = cbi_memdup(lk->ctx, payload.data, payload.size);
    offset_list list = {0};
    list_places(lk, code, payload, &list);
    for (size_t i = 0; i < list.len; i++) {
        uint8_t *at = p + list.items[i];
        uint32_t old = cbi_ld32(at);
        cbi_st32(at, (uint32_t)(code == EIATTR_EXIT_INSTR_OFFSETS ? cbi_rewrite_self(rw, old)
                                                                  : cbi_rewrite_map(rw, old)));
    }
    return p;
}

static cbi_buf *sass_info(const cbi_linker *lk, const cbi_osec *sec)
{
    return &lk->merc->infos[sec->number];
}

static void append_record(const cbi_linker *lk, const cbi_rec *rec, void *partners)
{
    if (!rec->func || cbi_eiattr_finalize(rec->code) == CBI_FINALIZE_DROP)
        return;
    const cbi_attr *sass = rec->format == CBI_ATTR_SIZED && rec->obj && !rec->has_symbol &&
                                   !rec->has_symbols && !rec->here
                               ? cbi_map_get(partners, CBI_KEY(rec->payload - 4))
                               : NULL;
    if (!sass) {
        cbi_write_record(lk, sass_info(lk, cbi_rec_stream(lk, rec)), rec);
        return;
    }
    struct cbi_rec copy = *rec;
    copy.payload = sass->payload.data;
    copy.size = (uint32_t)sass->payload.size;
    const cbi_rewrite *rw = cbi_rewrite_of(lk, cbi_rec_func(lk, rec));
    if (rw)
        copy.payload = move_places(lk, rw, rec->code, sass->payload);
    cbi_write_record(lk, sass_info(lk, cbi_rec_stream(lk, rec)), &copy);
}

/* The function that has the symbol, or the kernel that it was put into; NULL: it has none. */
static const cbi_func *frame_holder(const cbi_linker *lk, uint32_t symbol)
{
    if (!symbol || symbol >= lk->tables->symbols.len)
        return NULL;
    const cbi_lsym *sym = lk->tables->symbols.items[symbol];
    const cbi_func *f = sym->func && sym->func->sym == sym ? sym->func : NULL;
    return f && cbi_is_inner(lk, f) ? f->alias_of : f;
}

/* Functions that ptxas -ewp put into a kernel's code share one frame size on the SASS side, that of
 * the record that comes last. */
static void share_frames(const cbi_linker *lk)
{
    uint32_t *last = CBI_NEW_ARRAY(lk->ctx, lk->symbols->funcs.len, uint32_t);
    cbi_buf *info = sass_info(lk, lk->records->info);
    cbi_buf_append(lk->ctx, info, cbi_out_of(lk, lk->records->info)->bytes,
                   cbi_out_of(lk, lk->records->info)->size);
    for (unsigned set = 0; set < 2; set++) {
        size_t pos = 0;
        cbi_attr attr;
        while (cbi_attr_next((cbi_span){info->items, info->len}, &pos, &attr)) {
            if (cbi_eiattr_link(attr.code) != CBI_LINK_FRAME || attr.payload.size < 8)
                continue;
            const cbi_func *f = frame_holder(lk, cbi_ld32(attr.payload.data));
            if (!f)
                continue;
            if (!set)
                last[f->number] = cbi_ld32(attr.payload.data + 4);
            else
                cbi_st32(info->items + (attr.payload.data - info->items) + 4, last[f->number]);
        }
    }
}

static void append_tail(const cbi_linker *lk, const cbi_func *f, uint32_t bank_symbol)
{
    const cbi_mercury_view *view = f->obj->mercury;
    uint32_t section = view->info[f->in_sec];
    if (!section)
        return;
    size_t pos = 0;
    cbi_attr attr;
    static const uint8_t image_banks[] = {CBI_ATTR_BYTE, EIATTR_BINDLESS_TEXTURE_BANK, 0, 0,
                                          CBI_ATTR_BYTE, EIATTR_BINDLESS_SURFACE_BANK, 0, 0};
    while (cbi_attr_next(view->file.sections[section].data, &pos, &attr)) {
        if (cbi_eiattr_finalize(attr.code) != CBI_FINALIZE_TAIL)
            continue;
        uint8_t *at = cbi_buf_append(lk->ctx, sass_info(lk, f->info), attr.raw.data, attr.raw.size);
        if (attr.code == EIATTR_PARAM_CBANK && cbi_fits(4, 4, attr.raw.size))
            cbi_st32(at + 4, bank_symbol);
    }
    const cbi_osec *images = cbi_func_layout_of(lk, f)->image_table;
    if (images && images->rela->relocs.len)
        cbi_buf_append(lk->ctx, sass_info(lk, f->info), image_banks, sizeof image_banks);
}

void cbi_mercury_infos(const cbi_linker *lk, const uint32_t *bank_symbols)
{
    cbi_map partners = {0};
    lk->merc->infos = CBI_NEW_ARRAY(lk->ctx, lk->records->secs.len, cbi_buf);
    pair_streams(lk, &partners);
    cbi_for_each_record(lk, append_record, &partners);
    cbi_map_free(lk->ctx, &partners);
    bool inner = false;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        inner = inner || cbi_is_inner(lk, f);
        if (f->info && cbi_section_index(lk, f->info) && f->obj && f->obj->mercury)
            append_tail(lk, f, bank_symbols[f->number]);
    }
    if (inner && lk->records->info)
        share_frames(lk);
}
