/* Walks and verifies capsules. */
#include "capsule/capsule.h"

bool cbi_capsule_open(cbi_span bytes, cbi_capsule *ret_capsule)
{
    cbi_capsule c = {.bytes = bytes};
    cbi_reader r = cbi_reader_at(bytes, 0);
    c.text_index = cbi_read32(&r);
    uint32_t word = cbi_read32(&r);
    c.entries = cbi_read32(&r);
    uint64_t bitmap = ((uint64_t)c.entries + 31) / 32 * 4;
    c.version = (uint8_t)word;
    c.pos = CBI_CAPSULE_HEADER + (size_t)bitmap;
    if (r.bad || !cbi_fits(CBI_CAPSULE_HEADER, bitmap, bytes.size))
        c.error = "the header does not fit";
    else if (word >> 30 != 3)
        c.error = "the second word lacks its mark";
    else if (c.version > CBI_CAPSULE_VERSION_MAX)
        c.error = "the format version is unknown";
    *ret_capsule = c;
    return !c.error;
}

/* Bytes stored of a record, 0 for a form that is not known. */
static size_t stored_size(unsigned units, uint8_t form)
{
    switch (form) {
    case 0:
    case 1:
    case CBI_CAPSULE_FORM_NOTE:
        return 16 * units;
    case 4:
        return 4;
    default:
        return 0;
    }
}

static bool read_record(cbi_capsule *c, cbi_capsule_entry *e)
{
    if (!cbi_fits(c->pos, 2, c->bytes.size)) {
        c->error = "a record does not fit";
        return false;
    }
    const uint8_t *p = c->bytes.data + c->pos;
    e->offset = c->pos;
    e->units = p[0] & 15;
    e->form = p[0] >> 4 & 7;
    e->klass = p[1];
    size_t size = stored_size(e->units, e->form);
    if (!size) {
        c->error = "a record has an unknown storage form";
        return false;
    }
    if (!cbi_subspan(c->bytes, c->pos, size, &e->record)) {
        c->error = "a record does not fit";
        return false;
    }
    c->pos += size;
    return true;
}

/* An entry with bytes of its own. */
static bool read_stored(cbi_capsule *c, cbi_capsule_entry *e)
{
    if (!cbi_fits(c->pos, 2, c->bytes.size)) {
        c->error = "an entry does not fit";
        return false;
    }
    uint16_t w = cbi_ld16(c->bytes.data + c->pos);
    e->kind = CBI_CAPSULE_RECORD;
    if ((w & CBI_CAPSULE_MARK_MASK) == CBI_CAPSULE_RUN_MARK) {
        e->count = w >> CBI_CAPSULE_RUN_SHIFT;
        e->kind = (w & 15) == 0 ? CBI_CAPSULE_RUN : CBI_CAPSULE_RUN_RECORD;
        c->pos += 2;
        if ((w & 15) > 1) {
            c->error = "a run prefix is of an unknown kind";
            return false;
        }
        if (e->count == 0) {
            c->error = "a run covers no instruction";
            return false;
        }
    }
    if (e->kind != CBI_CAPSULE_RUN && !read_record(c, e))
        return false;
    if (e->kind == CBI_CAPSULE_RECORD && e->form == CBI_CAPSULE_FORM_NOTE)
        e->count = 0; /* says something about the code; no instruction of its own */
    return true;
}

bool cbi_capsule_next(cbi_capsule *c, cbi_capsule_entry *ret_entry)
{
    if (c->error || c->next == c->entries)
        return false;
    cbi_capsule_entry e = {.index = c->next, .first = c->first, .count = 1, .offset = c->pos};
    uint32_t bits = cbi_ld32(c->bytes.data + CBI_CAPSULE_HEADER + c->next / 32 * 4);
    if (!(bits >> (c->next % 32) & 1) && !read_stored(c, &e))
        return false;
    if (e.count > UINT32_MAX - c->first) {
        c->error = "too many instructions";
        return false;
    }
    c->first += e.count;
    c->next++;
    *ret_entry = e;
    return true;
}

const char *cbi_capsule_finish(const cbi_capsule *c, const cbi_capsule_entry *last,
                               uint64_t text_size)
{
    if (c->error)
        return c->error;
    if (c->pos != c->bytes.size)
        return "bytes are left over";
    if ((uint64_t)c->first * CBI_SASS_INSTRUCTION != text_size)
        return "it does not cover the text exactly";
    if (c->entries && last->kind != CBI_CAPSULE_RUN)
        return "the last entry is not the tail";
    return NULL;
}

const char *cbi_capsule_verify(cbi_span bytes, uint64_t text_size)
{
    cbi_capsule c;
    cbi_capsule_entry e = {0};
    if (!cbi_capsule_open(bytes, &c))
        return c.error;
    while (cbi_capsule_next(&c, &e))
        ;
    return cbi_capsule_finish(&c, &e, text_size);
}
