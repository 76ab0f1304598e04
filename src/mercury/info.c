/* .nv.info.F of the SASS side, derived from the linked Mercury stream.
 *
 * Records that name code offsets take the values of the input's SASS stream; a few records exist on
 * one side only.
 */
#include "mercury/rewrite.h"

static bool mercury_only(uint8_t code)
{
    return code == 0x43 || code == 0x48 || code == 0x5a;
}

/* CBANK_PARAM_SIZE, PARAM_CBANK, SW_WAR: made by the finalizer, at the end. */
static bool sass_only(uint8_t code)
{
    return code == 0x19 || code == 0x0a || code == 0x36;
}

/* How many words lie between two code places in a record of the kind; 0 for none. */
static size_t place_distance(uint8_t code)
{
    switch (code) {
    case 0x1c:
    case 0x28:
    case 0x31:
    case 0x46:
    case 0x47:
    case 0x57:
        return 1;
    case 0x2e:
    case 0x44:
        return 2;
    case 0x39:
        return 4;
    default:
        return 0;
    }
}

/* The stream of another function: the same places of its Mercury form in this one's code. */
static const cbi_attr *find_places(cbi_linker *lk, const cbi_mercury_places *places,
                                   const cbi_attr *merc, const cbi_attr *sass)
{
    size_t distance = place_distance(merc->code);
    if (!distance || merc->payload.size != sass->payload.size)
        return sass;
    uint8_t *p = cbi_memdup(lk->ctx, sass->payload.data, sass->payload.size);
    for (size_t i = 0; i + 4 <= sass->payload.size; i += 4 * distance) {
        const cbi_mercury_place *place =
            cbi_mercury_place_at(places, cbi_ld32(merc->payload.data + i));
        if (place)
            cbi_st32(p + i, (uint32_t)place->sass);
    }
    cbi_attr *found = cbi_memdup(lk->ctx, sass, sizeof *sass);
    found->payload.data = p;
    return found;
}

/* Where in the SASS stream a Mercury record's counterpart is: the k-th of its code. */
static void pair_stream(cbi_linker *lk, cbi_span merc, cbi_span sass,
                        const cbi_mercury_places *places, cbi_map *partners)
{
    CBI_VEC(cbi_attr) records[256];
    uint32_t next[256] = {0};
    memset(records, 0, sizeof records);
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(sass, &pos, &attr))
        if (attr.format == 4)
            cbi_vec_push(lk->ctx, &records[attr.code], attr);
    pos = 0;
    while (cbi_attr_next(merc, &pos, &attr)) {
        uint32_t k = next[attr.code];
        if (attr.format != 4 || k >= records[attr.code].len)
            continue;
        next[attr.code]++;
        const cbi_attr *found = &records[attr.code].items[k];
        if (places)
            found = find_places(lk, places, &attr, found);
        cbi_map_put(lk->ctx, partners, CBI_KEY(attr.raw.data), (void *)(uintptr_t)found);
    }
}

static void pair_streams(cbi_linker *lk, cbi_map *partners)
{
    for (size_t o = 0; o < lk->obj_count; o++) {
        const cbi_lobj *obj = lk->objs[o];
        const cbi_mercury_view *view = obj->mercury;
        for (uint32_t i = 1; i < obj->object.section_count; i++) {
            const cbi_section *sec = &obj->object.sections[i];
            if (sec->type != SHT_CUDA_INFO || !(sec->flags & SHF_INFO_LINK) ||
                sec->info >= obj->object.section_count || !view->info[sec->info])
                continue;
            const cbi_osec *text = obj->sections[sec->info].out;
            if (text && text->func && text->func->obj == obj)
                pair_stream(lk, sec->data, view->file.sections[view->info[sec->info]].data,
                            view->like[i] ? cbi_mercury_places_of(lk, text->func) : NULL, partners);
        }
    }
}

static void move_word(const cbi_rewrite *rw, uint8_t *p)
{
    cbi_st32(p, (uint32_t)cbi_rewrite_map(rw, cbi_ld32(p)));
}

/* Code places in a record, after the code moved. */
static const uint8_t *move_places(cbi_linker *lk, const cbi_rewrite *rw, uint8_t code,
                                  cbi_span payload)
{
    uint8_t *p = cbi_memdup(lk->ctx, payload.data, payload.size);
    size_t words = payload.size / 4;
    switch (code) {
    case 0x1c:
        for (size_t i = 0; i < words; i++)
            cbi_st32(p + 4 * i, (uint32_t)cbi_rewrite_self(rw, cbi_ld32(p + 4 * i)));
        break;
    case 0x34: /* branch, 0, count, targets */
        for (size_t i = 0; i + 3 <= words;) {
            size_t count = cbi_ld32(p + 4 * i + 8);
            move_word(rw, p + 4 * i);
            i += 3;
            for (; count && i < words; count--, i++)
                move_word(rw, p + 4 * i);
        }
        break;
    default:
        for (size_t i = 0; place_distance(code) && i < words; i += place_distance(code))
            move_word(rw, p + 4 * i);
        break;
    }
    return p;
}

static void append_record(cbi_linker *lk, const cbi_rec *rec, const cbi_map *partners)
{
    if (rec->stream == lk->info || mercury_only(rec->code))
        return;
    const cbi_attr *sass =
        rec->format == 4 && rec->obj && !rec->has_symbol && !rec->symbols && rec->payload
            ? cbi_map_get(partners, CBI_KEY(rec->payload - 4))
            : NULL;
    if (!sass) {
        cbi_write_record(lk, &rec->stream->sass_info, rec);
        return;
    }
    cbi_rec copy = *rec;
    copy.payload = sass->payload.data;
    copy.size = (uint32_t)sass->payload.size;
    const cbi_rewrite *rw = cbi_rewrite_of(lk, rec->func);
    if (rw)
        copy.payload = move_places(lk, rw, rec->code, sass->payload);
    cbi_write_record(lk, &rec->stream->sass_info, &copy);
}

static void append_tail(cbi_linker *lk, const cbi_func *f, uint32_t bank_symbol)
{
    const cbi_mercury_view *view = f->obj->mercury;
    uint32_t section = view->info[f->in_sec];
    if (!section)
        return;
    size_t pos = 0;
    cbi_attr attr;
    static const uint8_t image_banks[] = {2, 0x15, 0, 0, 2, 0x16, 0, 0};
    while (cbi_attr_next(view->file.sections[section].data, &pos, &attr)) {
        if (!sass_only(attr.code))
            continue;
        uint8_t *at = cbi_buf_append(lk->ctx, &f->info->sass_info, attr.raw.data, attr.raw.size);
        if (attr.code == 0x0a && attr.raw.size >= 8)
            cbi_st32(at + 4, bank_symbol);
    }
    if (f->image_table)
        cbi_buf_append(lk->ctx, &f->info->sass_info, image_banks, sizeof image_banks);
}

void cbi_mercury_infos(cbi_linker *lk, const uint32_t *bank_symbols)
{
    cbi_map partners = {0};
    pair_streams(lk, &partners);
    for (size_t i = lk->recs.len; i-- > 0;)
        if (!lk->recs.items[i]->dead)
            append_record(lk, lk->recs.items[i], &partners);
    for (size_t i = 0; i < lk->added_recs.len; i++) {
        const cbi_rec *rec = lk->added_recs.items[i];
        if (!rec->dead && !(rec->code == 0x0f && rec->symbol_count == 0))
            append_record(lk, rec, &partners);
    }
    for (size_t i = 0; i < lk->funcs.len; i++) {
        const cbi_func *f = lk->funcs.items[i];
        if (f->info && f->info->emitted && f->obj && f->obj->mercury)
            append_tail(lk, f, bank_symbols[f->number]);
    }
}
