/* .debug_line and .nv_debug_line_sass of the SASS side.
 *
 * The finalizer writes each unit anew: sequences of functions that are gone disappear, the others
 * come in the order of the output's symbols.
 */
#include "mercury/debug.h"

#include <stdlib.h>

typedef struct sequence {
    uint64_t start, end; /* in the input */
    const cbi_lsym *sym; /* whose code it describes; NULL when unknown */
    size_t order;
} sequence;

typedef struct unit {
    uint64_t start, program, end;
    uint8_t opcode_base;
    const uint8_t *lengths; /* operands of standard opcodes, from opcode 1 */
} unit;

static void skip_leb(cbi_reader *r)
{
    while (!r->bad && (cbi_read8(r) & 0x80))
        ;
}

static uint64_t read_uleb(cbi_reader *r)
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
    return value;
}

static bool read_unit(cbi_span bytes, uint64_t at, unit *ret_unit)
{
    cbi_reader r = cbi_reader_at(bytes, at);
    uint64_t length = cbi_read32(&r);
    unit u = {.start = at, .end = r.pos + length};
    if (r.bad || !cbi_fits(r.pos, length, bytes.size))
        return false;
    cbi_read16(&r);
    uint64_t header = cbi_read32(&r);
    u.program = r.pos + header;
    cbi_read32(&r); /* instruction length, default, line base, line range */
    u.opcode_base = cbi_read8(&r);
    u.lengths = bytes.data + r.pos;
    cbi_read_bytes(&r, u.opcode_base ? u.opcode_base - 1u : 0);
    if (r.bad || r.pos > u.end || u.program > u.end || u.program < r.pos)
        return false;
    *ret_unit = u;
    return true;
}

typedef CBI_VEC(sequence) sequence_list;

/* Splits the program; false when it is damaged. */
static bool read_sequences(cbi_linker *lk, cbi_span bytes, const unit *u, const cbi_map *symbols,
                           sequence_list *ret_list)
{
    cbi_reader r = cbi_reader_at((cbi_span){bytes.data, u->end}, u->program);
    sequence seq = {.start = u->program};
    while (!r.bad && r.pos < u->end) {
        uint8_t op = cbi_read8(&r);
        if (op == 0) {
            uint64_t size = read_uleb(&r);
            uint64_t body = r.pos;
            uint8_t sub = size ? cbi_read8(&r) : 0;
            if (size)
                cbi_read_bytes(&r, size - 1);
            if (sub == 2 && !seq.sym)
                seq.sym = cbi_map_get(symbols, body + 1);
            if (sub != 1)
                continue;
            seq.end = r.pos;
            seq.order = ret_list->len;
            cbi_vec_push(lk->ctx, ret_list, seq);
            seq = (sequence){.start = r.pos};
        } else if (op == 9) {
            cbi_read16(&r);
        } else if (op < u->opcode_base) {
            for (unsigned n = u->lengths[op - 1]; n; n--)
                skip_leb(&r);
        }
    }
    return !r.bad && seq.start == u->end;
}

static uint32_t rank(const sequence *s)
{
    return s->sym && s->sym->emitted ? s->sym->index : UINT32_MAX;
}

static int compare(const void *a, const void *b)
{
    const sequence *x = a, *y = b;
    if (rank(x) != rank(y))
        return rank(x) < rank(y) ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void write_unit(cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part,
                       const unit *u, sequence_list *list)
{
    uint64_t start = debug->sass.len;
    qsort(list->items, list->len, sizeof *list->items, compare);
    cbi_mercury_copy(lk, debug, part, u->start, u->program);
    for (size_t i = 0; i < list->len; i++)
        if (!list->items[i].sym || list->items[i].sym->name)
            cbi_mercury_copy(lk, debug, part, list->items[i].start, list->items[i].end);
    cbi_st32(debug->sass.items + start, (uint32_t)(debug->sass.len - start - 4));
}

void cbi_mercury_line(cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part)
{
    cbi_span bytes = cbi_mercury_part_bytes(part);
    cbi_map symbols = {0};
    cbi_mercury_described(lk, part, &symbols);
    uint64_t at = 0;
    while (at < bytes.size) {
        unit u;
        sequence_list list = {0};
        if (!read_unit(bytes, at, &u) || !read_sequences(lk, bytes, &u, &symbols, &list)) {
            cbi_mercury_copy(lk, debug, part, at, bytes.size);
            return;
        }
        write_unit(lk, debug, part, &u, &list);
        at = u.end;
    }
}
