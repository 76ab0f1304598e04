/* .debug_frame of the SASS side.  Unlike the Mercury side, which only clears the range of a
 * function that is gone, it leaves out the function's description and the CIE in front of it. */
#include "mercury/debug.h"

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
    }
    if (at < bytes.size)
        cbi_mercury_copy(lk, debug, part, at, bytes.size);
}
