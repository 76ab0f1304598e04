/* Changes the length of a section in a finished image. */
#include "finalize/fnlzr_engine.h"

enum { MAX_PADDING = 1 << 16 };

typedef struct layout {
    const cbi_object *object;
    uint64_t *place; /* new offset of every section */
    uint32_t *order; /* sections that hold file space of their own, by offset */
    size_t count;
    uint64_t old_end, new_end;
    uint64_t phoff, shoff;
} layout;

static uint64_t stored_size(const cbi_section *s)
{
    return cbi_section_has_data(s->type) ? s->size : 0;
}

/* The space between a section and what lies before it is alignment and, in front of some string
 * tables, more. */
static uint64_t moved(uint64_t old_end, uint64_t new_end, uint64_t offset, uint64_t align)
{
    uint64_t natural = cbi_align_up(old_end, align);
    return offset >= natural ? cbi_align_up(new_end, align) + (offset - natural)
                             : new_end + (offset - old_end);
}

typedef struct place {
    const cbi_object *object;
    uint64_t offset;
} place;

static bool starts_at_or_before(const void *number, const void *there)
{
    const place *p = there;
    return p->object->sections[*(const uint32_t *)number].offset <= p->offset;
}

/* How many sections start at an old offset or before it. */
static size_t starts_until(const layout *l, uint64_t offset)
{
    return cbi_search(l->order, l->count, sizeof *l->order, starts_at_or_before,
                      &(place){l->object, offset});
}

/* Where the bytes at an old offset are now.  Of several sections at one place the last has bytes.
 */
static bool move_start(const layout *l, uint64_t offset, uint64_t *ret_offset)
{
    size_t n = starts_until(l, offset);
    if (!n)
        return false;
    const cbi_section *s = &l->object->sections[l->order[n - 1]];
    *ret_offset = l->place[l->order[n - 1]] + (offset - s->offset);
    return offset - s->offset <= stored_size(s);
}

/* The same for the end of a segment with bytes: that of a section's, or where memory without bytes
 * starts. */
static bool move_end(const layout *l, uint64_t offset, uint64_t *ret_offset)
{
    size_t n = starts_until(l, offset - 1);
    if (!n)
        return false;
    const cbi_section *s = &l->object->sections[l->order[n - 1]];
    *ret_offset = l->place[l->order[n - 1]] + (offset - s->offset);
    if (offset - s->offset <= stored_size(s))
        return true;
    if (n == l->count || l->object->sections[l->order[n]].offset != offset)
        return false;
    *ret_offset = l->place[l->order[n]];
    return true;
}

static bool place_sections(layout *l, uint32_t grown, uint64_t size)
{
    const cbi_object *o = l->object;
    l->old_end = l->new_end = sizeof(Elf64_Ehdr);
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (s->offset > o->bytes.size)
            return false;
        if (s->offset < l->old_end) {
            /* shows the bytes of an earlier one */
            if (i == grown || !move_start(l, s->offset, &l->place[i]))
                return false;
            continue;
        }
        l->place[i] = moved(l->old_end, l->new_end, s->offset, s->align);
        l->order[l->count++] = i;
        l->old_end = s->offset + stored_size(s);
        l->new_end = l->place[i] + (i == grown ? size : stored_size(s));
    }
    /* alignment adds little to a file that a linker wrote */
    return l->new_end <= l->old_end + size + MAX_PADDING;
}

/* The tables follow the sections; the program headers stand before or after them. */
static bool place_tables(layout *l)
{
    const cbi_object *o = l->object;
    uint64_t table = (uint64_t)o->shentsize * o->section_count;
    if (o->shoff < l->old_end)
        return false;
    l->shoff = moved(l->old_end, l->new_end, o->shoff, 8);
    l->phoff = o->phoff;
    if (!o->phnum)
        return true;
    if (o->phnum == PN_XNUM || o->phoff < o->shoff + table)
        return false;
    l->phoff = l->shoff + (o->phoff - o->shoff);
    return true;
}

static bool move_segment(const layout *l, uint8_t *header)
{
    const cbi_object *o = l->object;
    uint64_t offset = cbi_ld64(header + 8), size = cbi_ld64(header + 32), start, end;
    if (offset == o->phoff) {
        start = l->phoff;
        end = start + size;
    } else {
        if (offset + size < offset || !move_start(l, offset, &start))
            return false;
        end = start;
        if (size && !move_end(l, offset + size, &end))
            return false;
    }
    cbi_st64(header + 8, start);
    cbi_st64(header + 32, end - start);
    cbi_st64(header + 40, cbi_ld64(header + 40) - size + (end - start));
    return true;
}

/* What stands between a section's bytes and the next section: as much as there is room for.  Some
 * memory has bytes that its type does not promise. */
static void copy_gap(const layout *l, size_t k, const uint8_t *old, uint8_t *out, uint32_t grown,
                     uint64_t grown_size)
{
    const cbi_object *o = l->object;
    bool last = k + 1 == l->count;
    const cbi_section *s = &o->sections[l->order[k]];
    uint64_t from = s->offset + stored_size(s);
    uint64_t to = l->place[l->order[k]] + (l->order[k] == grown ? grown_size : stored_size(s));
    uint64_t from_end = last ? o->shoff : o->sections[l->order[k + 1]].offset;
    uint64_t to_end = last ? l->shoff : l->place[l->order[k + 1]];
    uint64_t there = from_end - from, room = to_end - to;
    memcpy(out + to, old + from, there < room ? there : room);
}

bool cbi_fnlzr_replace(cbi_ctx *ctx, const cbi_object *o, uint32_t section, cbi_span bytes,
                       cbi_buf *image)
{
    layout l = {.object = o,
                .place = CBI_NEW_ARRAY(ctx, o->section_count, uint64_t),
                .order = CBI_NEW_ARRAY(ctx, o->section_count, uint32_t)};
    if (!place_sections(&l, section, bytes.size) || !place_tables(&l))
        return false;
    const uint8_t *old = image->items;
    uint64_t tail = image->len - o->shoff; /* section table and what follows */
    cbi_buf out = {0};
    cbi_buf_append(ctx, &out, NULL, l.shoff + tail);
    memcpy(out.items, old, sizeof(Elf64_Ehdr));
    cbi_st64(out.items + offsetof(Elf64_Ehdr, e_phoff), l.phoff);
    cbi_st64(out.items + offsetof(Elf64_Ehdr, e_shoff), l.shoff);
    for (size_t k = 0; k < l.count; k++) {
        const cbi_section *s = &o->sections[l.order[k]];
        if (l.order[k] == section)
            memcpy(out.items + l.place[section], bytes.data, bytes.size);
        else if (stored_size(s))
            memcpy(out.items + l.place[l.order[k]], old + s->offset, s->size);
        copy_gap(&l, k, old, out.items, section, bytes.size);
    }
    memcpy(out.items + l.shoff, old + o->shoff, tail);
    for (uint32_t i = 1; i < o->section_count; i++) {
        uint8_t *header = out.items + l.shoff + (uint64_t)i * o->shentsize;
        cbi_st64(header + 24, l.place[i]);
        if (i == section)
            cbi_st64(header + 32, bytes.size);
    }
    for (uint16_t i = 0; i < o->phnum; i++)
        if (!move_segment(&l, out.items + l.phoff + (uint64_t)i * o->phentsize))
            return false;
    *image = out;
    return true;
}

/* Where the Mercury sections start: they stand together behind all others.  0 if they do not. */
static uint32_t first_mercury(const cbi_object *o)
{
    const uint32_t none = o->section_count;
    uint32_t first = none;
    for (uint32_t i = 1; i < o->section_count; i++) {
        bool mercury = o->sections[i].flags & SHF_CUDA_MERCURY;
        if (!mercury && first != none)
            return 0;
        if (mercury && first == none)
            first = i;
    }
    return first;
}

bool cbi_fnlzr_drop_mercury(cbi_ctx *ctx, const cbi_object *o, cbi_buf *image)
{
    layout l = {.object = o,
                .place = CBI_NEW_ARRAY(ctx, o->section_count, uint64_t),
                .order = CBI_NEW_ARRAY(ctx, o->section_count, uint32_t)};
    uint32_t count = first_mercury(o);
    if (!count || !place_sections(&l, 0, 0) || !place_tables(&l))
        return false;
    uint64_t end = o->shoff;
    for (size_t k = 0; k < l.count && end == o->shoff; k++)
        if (l.order[k] >= count)
            end = o->sections[l.order[k]].offset;
    uint64_t table = (uint64_t)count * o->shentsize;
    uint64_t programs = (uint64_t)o->phnum * o->phentsize;
    l.shoff = cbi_align_up(end, 8);
    cbi_buf out = {0};
    cbi_buf_append(ctx, &out, image->items, end);
    cbi_buf_append(ctx, &out, NULL, l.shoff - end);
    cbi_buf_append(ctx, &out, image->items + o->shoff, table);
    cbi_st64(out.items + offsetof(Elf64_Ehdr, e_shoff), l.shoff);
    bool extended = count >= SHN_LORESERVE;
    cbi_st16(out.items + offsetof(Elf64_Ehdr, e_shnum), extended ? 0 : (uint16_t)count);
    cbi_st64(out.items + l.shoff + offsetof(Elf64_Shdr, sh_size), extended ? count : 0);
    if (programs) {
        l.phoff = out.len;
        cbi_buf_append(ctx, &out, image->items + o->phoff, programs);
        cbi_st64(out.items + offsetof(Elf64_Ehdr, e_phoff), l.phoff);
        for (uint16_t i = 0; i < o->phnum; i++)
            if (!move_segment(&l, out.items + l.phoff + (uint64_t)i * o->phentsize))
                return false;
    }
    *image = out;
    return true;
}
