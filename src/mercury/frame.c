/* .debug_frame of the SASS side.  Unlike the Mercury side, which only clears the range of a
 * function that is gone, it leaves out the function's description and the CIE in front of it. */
#include "mercury/debug.h"
#include "mercury/rewrite.h"

typedef struct entry {
    uint64_t start, end;
    uint64_t id_at; /* place of the CIE pointer */
    unsigned id_size;
    bool cie;
} entry;

static bool next_entry(cbi_span bytes, uint64_t at, entry *ret_entry)
{
    cbi_reader r = cbi_reader_at(bytes, at);
    uint64_t length = cbi_read32(&r);
    unsigned id_size = 4;
    if (length == UINT32_MAX) {
        length = cbi_read64(&r);
        id_size = 8;
    }
    entry e = {.start = at, .id_at = r.pos, .id_size = id_size};
    if (r.bad || !cbi_fits(r.pos, length, bytes.size) || length < id_size)
        return false;
    e.end = r.pos + length;
    uint64_t id = id_size == 8 ? cbi_read64(&r) : cbi_read32(&r);
    e.cie = id == (id_size == 8 ? UINT64_MAX : UINT32_MAX);
    *ret_entry = e;
    return true;
}

/* The function, found by the place of its initial location. */
static const cbi_lsym *described(cbi_map *symbols, const entry *e)
{
    return cbi_map_get(symbols, e->id_at + e->id_size);
}

static void skip_leb(cbi_reader *r)
{
    while (!r->bad && (cbi_read8(r) & 0x80))
        ;
}

static void put(uint8_t *p, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

enum { CODE_UNIT = 4, ADDRESS = 8 };

/* Fits range and advances to code that moved; deltas keep their width, as code only shrinks. */
static void move_frame(uint8_t *fde, uint64_t size, uint64_t at, const cbi_rewrite *rw)
{
    cbi_reader r = cbi_reader_at((cbi_span){fde, size}, at + ADDRESS);
    cbi_read64(&r);
    if (r.bad)
        return;
    cbi_st64(fde + at + ADDRESS, rw->size);
    uint64_t old = 0, now = 0;
    while (r.pos < size && !r.bad) {
        size_t op_at = r.pos;
        uint8_t op = cbi_read8(&r);
        unsigned width = op == 2 ? 1 : op == 3 ? 2 : op == 4 ? 4 : 0;
        if (width || op >> 6 == 1) {
            size_t value_at = r.pos;
            cbi_span bytes = cbi_read_bytes(&r, width);
            uint64_t delta = width ? 0 : op & 0x3f;
            for (unsigned i = 0; i < bytes.size; i++)
                delta |= (uint64_t)bytes.data[i] << (8 * i);
            old += delta * CODE_UNIT;
            uint64_t next = cbi_rewrite_map(rw, old);
            uint64_t value = (next - now) / CODE_UNIT;
            now = next;
            if (width)
                put(fde + value_at, width, value);
            else
                fde[op_at] = (uint8_t)(0x40 | (value & 0x3f));
            continue;
        }
        switch (op >> 6 ? 0x06 : op) {
        case 0x05:
        case 0x09:
        case 0x0c:
        case 0x11:
        case 0x12:
        case 0x14:
            skip_leb(&r);
            skip_leb(&r);
            break;
        case 0x06:
            if (op >> 6 != 3)
                skip_leb(&r);
            break;
        case 0x07:
        case 0x08:
        case 0x0d:
        case 0x0e:
        case 0x13:
            skip_leb(&r);
            break;
        case 0x00:
        case 0x0a:
        case 0x0b:
            break;
        default:
            return;
        }
    }
}

void cbi_mercury_frame(cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part)
{
    cbi_span bytes = cbi_mercury_part_bytes(part);
    cbi_map symbols = {0};
    cbi_mercury_described(lk, part, &symbols);
    uint64_t at = 0;
    entry e, cie = {0};
    bool have_cie = false;
    uint64_t cie_at = 0;
    while (at < bytes.size && next_entry(bytes, at, &e)) {
        at = e.end;
        if (e.cie) {
            cie = e;
            have_cie = true;
            continue;
        }
        const cbi_lsym *sym = described(&symbols, &e);
        if (sym && !sym->name) {
            have_cie = false;
            continue;
        }
        if (have_cie) {
            cie_at = debug->sass.len;
            cbi_mercury_copy(lk, debug, part, cie.start, cie.end);
            have_cie = false;
        }
        uint64_t start = debug->sass.len;
        cbi_mercury_copy(lk, debug, part, e.start, e.end);
        uint8_t *id = debug->sass.items + start + (e.id_at - e.start);
        if (e.id_size == 8)
            cbi_st64(id, cie_at);
        else
            cbi_st32(id, (uint32_t)cie_at);
        const cbi_rewrite *rw = sym ? cbi_rewrite_of(lk, sym->func) : NULL;
        if (rw)
            move_frame(debug->sass.items + start, e.end - e.start, e.id_at - e.start + e.id_size,
                       rw);
    }
    if (at < bytes.size)
        cbi_mercury_copy(lk, debug, part, at, bytes.size);
}
