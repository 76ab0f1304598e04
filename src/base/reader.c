/* The bounds-checked reader over untrusted bytes. */
#include "base/base.h"

cbi_reader cbi_reader_at(cbi_span span, uint64_t pos)
{
    cbi_reader r = {.span = span, .pos = (size_t)pos};
    if (pos > span.size) {
        r.pos = span.size;
        r.bad = true;
    }
    return r;
}

static const uint8_t *take(cbi_reader *r, uint64_t size)
{
    if (!cbi_fits(r->pos, size, r->span.size)) {
        r->bad = true;
        r->pos = r->span.size;
        return NULL;
    }
    if (size == 0) /* the span may be empty and its data NULL */
        return (const uint8_t *)"";
    const uint8_t *p = r->span.data + r->pos;
    r->pos += (size_t)size;
    return p;
}

uint8_t cbi_read8(cbi_reader *r)
{
    const uint8_t *p = take(r, 1);
    return p ? *p : 0;
}

uint16_t cbi_read16(cbi_reader *r)
{
    const uint8_t *p = take(r, 2);
    return p ? cbi_ld16(p) : 0;
}

uint32_t cbi_read32(cbi_reader *r)
{
    const uint8_t *p = take(r, 4);
    return p ? cbi_ld32(p) : 0;
}

uint64_t cbi_read64(cbi_reader *r)
{
    const uint8_t *p = take(r, 8);
    return p ? cbi_ld64(p) : 0;
}

/* Sign extended when the last group asks for it and is_signed. */
static uint64_t read_leb(cbi_reader *r, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = cbi_read8(r);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (!r->bad && (byte & 0x80));
    if (is_signed && shift < 64 && (byte & 0x40))
        value |= UINT64_MAX << shift;
    return value;
}

uint64_t cbi_read_uleb(cbi_reader *r)
{
    return read_leb(r, false);
}

int64_t cbi_read_sleb(cbi_reader *r)
{
    return (int64_t)read_leb(r, true);
}

cbi_span cbi_read_bytes(cbi_reader *r, uint64_t size)
{
    const uint8_t *p = take(r, size);
    return p ? (cbi_span){p, (size_t)size} : (cbi_span){NULL, 0};
}

const char *cbi_span_string(cbi_span span, uint64_t offset)
{
    if (offset >= span.size)
        return NULL;
    const char *s = (const char *)span.data + offset;
    return memchr(s, 0, span.size - (size_t)offset) ? s : NULL;
}
