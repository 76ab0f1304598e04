/* .debug_frame of the SASS side.  Unlike the Mercury side, which only clears the range of a
 * function that is gone, it leaves out the function's description and the CIE in front of it.
 *
 * A weak function that another copy replaced may have several descriptions.  The finalizer reads
 * them all as ones of the copy that is linked: the first says what they say together, in terms of
 * that copy's code, the others keep their Mercury range and say nothing.  So do all of a function
 * that the finalizer knows by an alias, as they name the function itself.  A description of a
 * function within a kernel's code, of ptxas -ewp, starts behind the kernel's first instruction and
 * is one by itself.
 */
#include "mercury/debug.h"
#include "mercury/rewrite.h"

#include <stdlib.h>

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

void cbi_mercury_frame_twins(cbi_ctx *ctx, cbi_span from, cbi_span to, cbi_frame_twins *ret_twins)
{
    entry a = {0}, b = {0};
    while (next_entry(from, a.end, &a) && next_entry(to, b.end, &b))
        cbi_vec_push(ctx, ret_twins, ((cbi_frame_twin){a.start, a.end, b.start}));
}

static bool ends_before(const void *twin, const void *place)
{
    return ((const cbi_frame_twin *)twin)->end <= *(const uint64_t *)place;
}

uint64_t cbi_mercury_frame_twin(const cbi_frame_twins *twins, uint64_t place)
{
    size_t i = cbi_search(twins->items, twins->len, sizeof *twins->items, ends_before, &place);
    return i < twins->len ? twins->items[i].other_start + (place - twins->items[i].start) : 0;
}

/* The function, found by the place of its initial location. */
static const cbi_lsym *described(const cbi_symbol_map *symbols, const entry *e)
{
    return cbi_symbol_map_get(symbols, e->id_at + e->id_size);
}

/* Where in the function's code the described part starts. */
static uint64_t start_of(cbi_map *starts, const entry *e)
{
    const uint64_t *start = cbi_map_get(starts, e->id_at + e->id_size);
    return start ? *start : 0;
}

static void put(uint8_t *p, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

enum { CODE_UNIT = 4, ADDRESS = 8 };

/* Instructions of call frame information, as DWARF names them.  Of the last three, the low six bits
 * are an operand. */
enum {
    DW_CFA_nop = 0x00,
    DW_CFA_advance_loc1 = 0x02,
    DW_CFA_advance_loc4 = 0x04,
    DW_CFA_offset_extended = 0x05,
    DW_CFA_restore_extended = 0x06,
    DW_CFA_undefined = 0x07,
    DW_CFA_same_value = 0x08,
    DW_CFA_register = 0x09,
    DW_CFA_remember_state = 0x0a,
    DW_CFA_restore_state = 0x0b,
    DW_CFA_def_cfa = 0x0c,
    DW_CFA_def_cfa_register = 0x0d,
    DW_CFA_def_cfa_offset = 0x0e,
    DW_CFA_expression = 0x10,
    DW_CFA_offset_extended_sf = 0x11,
    DW_CFA_def_cfa_sf = 0x12,
    DW_CFA_def_cfa_offset_sf = 0x13,
    DW_CFA_val_offset = 0x14,
    DW_CFA_val_expression = 0x16,
    DW_CFA_advance_loc = 0x40,
    DW_CFA_offset = 0x80,
    DW_CFA_restore = 0xc0,
    LOW_SIX_BITS = 0x3f,
};

/* Skips the operands of an instruction that is no advance; false for ones that are not known. */
static bool skip_operands(cbi_reader *r, uint8_t op)
{
    switch (op >= DW_CFA_advance_loc ? op & ~LOW_SIX_BITS : op) {
    case DW_CFA_nop:
    case DW_CFA_remember_state:
    case DW_CFA_restore_state:
    case DW_CFA_restore:
        return true;
    case DW_CFA_offset_extended:
    case DW_CFA_register:
    case DW_CFA_def_cfa:
    case DW_CFA_offset_extended_sf:
    case DW_CFA_def_cfa_sf:
    case DW_CFA_val_offset:
        cbi_read_uleb(r);
        cbi_read_uleb(r);
        return true;
    case DW_CFA_restore_extended:
    case DW_CFA_undefined:
    case DW_CFA_same_value:
    case DW_CFA_def_cfa_register:
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf:
    case DW_CFA_offset:
        cbi_read_uleb(r);
        return true;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
        cbi_read_uleb(r);
        cbi_read_bytes(r, cbi_read_uleb(r));
        return true;
    default:
        return false;
    }
}

static bool is_advance(uint8_t op)
{
    return (op >= DW_CFA_advance_loc1 && op <= DW_CFA_advance_loc4) ||
           (op & ~LOW_SIX_BITS) == DW_CFA_advance_loc;
}

/* Reads what follows the opcode, 1, 2 or 4 bytes or none. */
static uint64_t read_advance(cbi_reader *r, uint8_t op, unsigned *ret_width)
{
    unsigned width = op >= DW_CFA_advance_loc ? 0 : 1u << (op - DW_CFA_advance_loc1);
    uint64_t delta = width ? 0 : op & LOW_SIX_BITS;
    cbi_span bytes = cbi_read_bytes(r, width);
    for (unsigned i = 0; i < bytes.size; i++)
        delta |= (uint64_t)bytes.data[i] << (8 * i);
    *ret_width = width;
    return delta;
}

/* Fits range and advances to code that moved; deltas keep their width, as code only shrinks.  The
 * description is of what is from `begin` on; the whole function if that is 0. */
static void move_frame(uint8_t *fde, uint64_t size, uint64_t at, const cbi_rewrite *rw,
                       uint64_t begin)
{
    cbi_reader r = cbi_reader_at((cbi_span){fde, size}, at + ADDRESS);
    uint64_t range = cbi_read64(&r);
    if (r.bad)
        return;
    uint64_t old = begin, now = cbi_rewrite_map(rw, begin);
    if (begin)
        cbi_st64(fde + at, now);
    cbi_st64(fde + at + ADDRESS,
             begin || range < rw->old_size ? cbi_rewrite_map(rw, begin + range) - now : rw->size);
    while (r.pos < size && !r.bad) {
        size_t op_at = r.pos;
        uint8_t op = cbi_read8(&r);
        if (!is_advance(op)) {
            if (!skip_operands(&r, op))
                return;
            continue;
        }
        unsigned width;
        old += read_advance(&r, op, &width) * CODE_UNIT;
        if (r.bad)
            return;
        uint64_t next = cbi_rewrite_frame(rw, old);
        uint64_t value = (next - now) / CODE_UNIT;
        now = next;
        if (width)
            put(fde + op_at + 1, width, value);
        else
            fde[op_at] = (uint8_t)(DW_CFA_advance_loc | (value & LOW_SIX_BITS));
    }
}

/* ---- functions with several descriptions ---- */

typedef struct description {
    cbi_span bytes; /* of the Mercury section */
    entry cie, fde;
} description;

typedef struct description_list {
    CBI_VEC(description) items;
    size_t next; /* to be written */
} description_list;

/* Of a part that has been read. */
static void forget_symbols(const cbi_linker *lk, cbi_symbol_map *symbols, cbi_map *starts)
{
    cbi_map_free(lk->ctx, &symbols->numbers);
    cbi_vec_free(lk->ctx, &symbols->list);
    cbi_map_free(lk->ctx, starts);
}

static void collect_descriptions(const cbi_linker *lk, cbi_mercury_debug *debug)
{
    for (size_t p = 0; p < debug->parts.len; p++) {
        const cbi_mercury_part *part = &debug->parts.items[p];
        description d = {.bytes = part->obj->object.sections[part->section].data};
        cbi_symbol_map symbols = {0};
        cbi_map starts = {0};
        cbi_mercury_symbols(lk, part, &symbols, &starts);
        for (uint64_t at = 0; at < d.bytes.size && next_entry(d.bytes, at, &d.fde);
             at = d.fde.end) {
            if (d.fde.cie) {
                d.cie = d.fde;
                continue;
            }
            const cbi_lsym *sym = described(&symbols, &d.fde);
            if (!sym || !sym->func || start_of(&starts, &d.fde))
                continue;
            description_list *list = cbi_map_get(&debug->frames, CBI_KEY(sym->func));
            if (!list) {
                list = CBI_NEW(lk->ctx, description_list);
                cbi_map_put(lk->ctx, &debug->frames, CBI_KEY(sym->func), list);
            }
            cbi_vec_push(lk->ctx, &list->items, d);
        }
        forget_symbols(lk, &symbols, &starts);
    }
}

/* What a description says at one place. */
typedef struct statement {
    uint64_t place;
    size_t order;
    cbi_span ops;
} statement;

typedef CBI_VEC(statement) statement_list;

static void add_statement(const cbi_linker *lk, statement_list *list, uint64_t place, cbi_span ops)
{
    cbi_vec_push(lk->ctx, list, ((statement){place, list->len, ops}));
}

/* False when it holds an instruction that is not known. */
static bool read_statements(const cbi_linker *lk, const description *d, statement_list *ret_list)
{
    cbi_span bytes = {d->bytes.data, d->fde.end};
    cbi_reader r = cbi_reader_at(bytes, d->fde.id_at + d->fde.id_size + 2 * ADDRESS);
    uint64_t start = r.pos, end = r.pos;
    uint32_t place = 0; /* advances wrap around to go back */
    while (!r.bad && r.pos < bytes.size) {
        uint64_t at = r.pos;
        uint8_t op = cbi_read8(&r);
        if (is_advance(op)) {
            unsigned width;
            if (end > start)
                add_statement(lk, ret_list, place, (cbi_span){bytes.data + start, end - start});
            place += (uint32_t)read_advance(&r, op, &width);
            start = end = r.pos;
        } else if (!skip_operands(&r, op)) {
            return false;
        } else if (op) {
            start = end > start ? start : at;
            end = r.pos;
        }
    }
    /* the last one counts even when it says nothing */
    add_statement(lk, ret_list, place, (cbi_span){bytes.data + start, end - start});
    return !r.bad;
}

static int compare(const void *a, const void *b)
{
    const statement *x = a, *y = b;
    if (x->place != y->place)
        return cbi_order(x->place, y->place);
    return cbi_order(x->order, y->order);
}

/* Instructions for the code that is linked.  Of statements about one place the last counts; those
 * about places where none of its instructions starts go. */
static bool join_descriptions(const cbi_linker *lk, const description_list *list,
                              const cbi_func *func, cbi_buf *ret_ops)
{
    const cbi_mercury_places *places = cbi_mercury_places_of(lk, func);
    statement_list said = {0};
    for (size_t i = 0; i < list->items.len; i++)
        if (!places || !read_statements(lk, &list->items.items[i], &said))
            return false;
    if (said.len)
        qsort(said.items, said.len, sizeof *said.items, compare);
    uint64_t now = 0;
    for (size_t i = 0; i < said.len; i++) {
        const statement *s = &said.items[i];
        const cbi_mercury_place *place = cbi_mercury_place_at(places, s->place);
        if (!place || (i + 1 < said.len && s[1].place == s->place))
            continue;
        uint64_t next = cbi_rewrite_frame(cbi_rewrite_of(lk, func), place->frame);
        if (next != now) {
            uint8_t advance[5] = {4};
            cbi_st32(advance + 1, (uint32_t)((next - now) / CODE_UNIT));
            cbi_buf_append(lk->ctx, ret_ops, advance, sizeof advance);
        }
        now = next;
        cbi_buf_append(lk->ctx, ret_ops, s->ops.data, s->ops.size);
    }
    return true;
}

/* Writes the FDE at e with other instructions. */
static void write_frame(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part,
                        const entry *e, uint64_t cie_at, uint64_t range, const cbi_buf *ops)
{
    enum { FRAME_ALIGN = 8 };
    uint64_t start = debug->sass.len, body = e->id_at + e->id_size;
    cbi_mercury_copy(lk, debug, part, e->start, body + 2 * ADDRESS);
    cbi_buf_append(lk->ctx, &debug->sass, ops->items, ops->len);
    uint64_t size = debug->sass.len - start;
    cbi_buf_append(lk->ctx, &debug->sass, NULL, cbi_align_up(size, FRAME_ALIGN) - size);
    size = debug->sass.len - start - (e->id_at - e->start);
    uint8_t *fde = debug->sass.items + start;
    cbi_st64(fde + (body - e->start) + ADDRESS, range);
    uint8_t *id = fde + (e->id_at - e->start);
    put(id - e->id_size, e->id_size, size);
    put(id, e->id_size, cie_at);
}

static void copy_cie(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part,
                     const entry *cie)
{
    const size_t before = part->moves.len;
    cbi_mercury_copy(lk, debug, part, cie->start, cie->end);
    if (part->moves.len > before)
        part->moves.items[before].cie = true;
}

/* One of several descriptions of a function; false to write it as it is. */
static bool write_joined(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part,
                         const entry *cie, const entry *fde, const cbi_func *func)
{
    description_list *list = cbi_map_get(&debug->frames, CBI_KEY(func));
    bool hidden = !cbi_is_inner(lk, func) && cbi_mercury_name_of(lk, func) != func->sym;
    if (!list || (list->items.len < 2 && !hidden) || list->next == list->items.len)
        return false;
    const description *d = &list->items.items[list->next];
    cbi_buf ops = {0};
    uint64_t cie_at = debug->sass.len;
    if (list->next == 0 && !hidden) {
        if (!join_descriptions(lk, list, func, &ops))
            return false;
        const cbi_rewrite *rw = cbi_rewrite_of(lk, func);
        copy_cie(lk, debug, part, cie);
        write_frame(lk, debug, part, fde, cie_at, rw ? rw->size : func->text->size, &ops);
    } else {
        cbi_buf_append(lk->ctx, &debug->sass, d->bytes.data + d->cie.start,
                       d->cie.end - d->cie.start);
        uint64_t range = d->fde.id_at + d->fde.id_size + ADDRESS;
        write_frame(lk, debug, part, fde, cie_at,
                    cbi_fits(range, 8, d->fde.end) ? cbi_ld64(d->bytes.data + range) : 0, &ops);
    }
    list->next++;
    return true;
}

void cbi_mercury_frame(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part)
{
    cbi_span bytes = cbi_mercury_part_bytes(part);
    cbi_symbol_map symbols = {0};
    cbi_map starts = {0};
    cbi_mercury_described(lk, part, &symbols, &starts);
    if (part == debug->parts.items)
        collect_descriptions(lk, debug);
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
        uint64_t begin = start_of(&starts, &e);
        if (have_cie && sym && sym->func && !begin &&
            write_joined(lk, debug, part, &cie, &e, sym->func)) {
            have_cie = false;
            continue;
        }
        if (have_cie) {
            cie_at = debug->sass.len;
            copy_cie(lk, debug, part, &cie);
            have_cie = false;
        }
        uint64_t start = debug->sass.len;
        cbi_mercury_copy(lk, debug, part, e.start, e.end);
        put(debug->sass.items + start + (e.id_at - e.start), e.id_size, cie_at);
        const cbi_rewrite *rw = sym ? cbi_rewrite_of(lk, sym->func) : NULL;
        if (rw)
            move_frame(debug->sass.items + start, e.end - e.start, e.id_at - e.start + e.id_size,
                       rw, begin);
    }
    if (at < bytes.size)
        cbi_mercury_copy(lk, debug, part, at, bytes.size);
    forget_symbols(lk, &symbols, &starts);
}
