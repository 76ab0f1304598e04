/* .debug_line and .nv_debug_line_sass of the SASS side.
 *
 * The finalizer writes each unit anew: sequences of functions that are gone disappear, the others
 * come in the order of the output's symbols.  A sequence about a weak function that another copy
 * replaced is read as one about the copy that is linked.
 */
#include "mercury/debug.h"
#include "mercury/rewrite.h"
#include "sass/opcodes.h"

#include <stdlib.h>

typedef struct sequence {
    uint64_t start, end; /* in the input */
    const cbi_lsym *sym; /* whose code it describes; NULL when unknown */
    uint32_t rank;       /* its number in the output; what is not there comes last */
    size_t order;
} sequence;

typedef struct unit {
    uint64_t start, program, end;
    uint8_t opcode_base;
    const uint8_t *lengths; /* operands of standard opcodes, from opcode 1 */
} unit;

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
static bool read_sequences(const cbi_linker *lk, cbi_span bytes, const unit *u,
                           const cbi_symbol_map *symbols, sequence_list *ret_list)
{
    cbi_reader r = cbi_reader_at((cbi_span){bytes.data, u->end}, u->program);
    sequence seq = {.start = u->program};
    while (!r.bad && r.pos < u->end) {
        uint8_t op = cbi_read8(&r);
        if (op == 0) {
            uint64_t size = cbi_read_uleb(&r);
            uint64_t body = r.pos;
            uint8_t sub = size ? cbi_read8(&r) : 0;
            if (size)
                cbi_read_bytes(&r, size - 1);
            if (sub == 2 && !seq.sym)
                seq.sym = cbi_symbol_map_get(symbols, body + 1);
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
                cbi_read_uleb(&r);
        }
    }
    return !r.bad && seq.start == u->end;
}

static uint32_t rank_of(const cbi_linker *lk, const cbi_lsym *sym)
{
    uint32_t index = sym && sym->name ? cbi_symbol_index(lk, sym) : 0;
    return index ? index : UINT32_MAX;
}

static int compare(const void *a, const void *b)
{
    const sequence *x = a, *y = b;
    if (x->rank != y->rank)
        return cbi_order(x->rank, y->rank);
    return cbi_order(x->order, y->order);
}

/* ---- sequences of code that moved ---- */

enum {
    DW_SET_FILE = 4,
    DW_COPY = 1,
    DW_ADVANCE_PC = 2,
    DW_ADVANCE_LINE = 3,
    SET_ADDRESS_SIZE = 11,
    /* what every header says */
    LINE_BASE = -5,
    LINE_RANGE = 14,
};

/* Counts are written signed too: 64 takes two bytes. */
static void put_sleb(const cbi_linker *lk, cbi_buf *out, uint8_t op, int64_t value)
{
    cbi_buf_append(lk->ctx, out, &op, 1);
    for (;;) {
        uint8_t byte = value & 0x7f;
        value >>= 7;
        bool last = (value == 0 && !(byte & 0x40)) || (value == -1 && (byte & 0x40));
        byte |= last ? 0 : 0x80;
        cbi_buf_append(lk->ctx, out, &byte, 1);
        if (last)
            return;
    }
}

typedef struct row_writer {
    const cbi_rewrite *rw;
    const unit *unit;
    uint64_t address; /* as written so far */
    int64_t line;
    cbi_span places; /* operations that wait for the next row, see held_row */
    uint64_t stop;   /* the same, a place of its own that the compiler advanced to; 0 for none */
    /* what a fused addition and minimum gets its line from */
    cbi_map seen;  /* line -> number of its last instruction, from 1 */
    uint64_t exit; /* number of the last exit with a barrier, 0 for none */
    int64_t exit_line;
    cbi_span in_file, in_context;     /* the last of these operations */
    cbi_span exit_file, exit_context; /* the same at the exit */
    uint64_t walked;                  /* how far instructions were looked at: each once */
    bool borrowed;                    /* the row written last has that line */
} row_writer;

/* A row that is written when its end is known. */
typedef struct held_row {
    bool any;
    uint64_t address;
    int64_t line;
    cbi_span file, context; /* the last operations of their kind in front of it */
    cbi_span places;        /* all of these: the compiler leaves some of rows that it dropped */
    uint64_t stop;          /* it leaves the advance to the end of a prologue, too; 0 for none */
} held_row;

/* Two advances in front of one row stay two. */
static void put_stop(const cbi_linker *lk, cbi_buf *out, row_writer *w)
{
    uint64_t place = cbi_rewrite_map(w->rw, w->stop);
    if (w->stop && place > w->address) {
        put_sleb(lk, out, DW_ADVANCE_PC, (int64_t)(place - w->address));
        w->address = place;
    }
    w->stop = 0;
}

static void put_row(const cbi_linker *lk, cbi_buf *out, row_writer *w, uint64_t address,
                    int64_t line)
{
    put_stop(lk, out, w);
    uint64_t place = cbi_rewrite_map(w->rw, address);
    int64_t da = (int64_t)(place - w->address), dl = line - w->line;
    cbi_buf_append(lk->ctx, out, w->places.data, w->places.size);
    w->places = (cbi_span){NULL, 0};
    w->address = place;
    w->line = line;
    /* of two instructions the one byte is too much */
    if (da == CBI_SASS_INSTRUCTION && dl != 0 && dl >= LINE_BASE && dl < LINE_BASE + LINE_RANGE) {
        uint8_t op = (uint8_t)(dl - LINE_BASE + LINE_RANGE * da + w->unit->opcode_base);
        cbi_buf_append(lk->ctx, out, &op, 1);
        return;
    }
    if (dl != 0 || da == 0)
        put_sleb(lk, out, DW_ADVANCE_LINE, dl);
    if (da != 0)
        put_sleb(lk, out, DW_ADVANCE_PC, da);
    uint8_t copy = DW_COPY;
    cbi_buf_append(lk->ctx, out, &copy, 1);
}

/* The finalizer makes fused additions and minimums anew, at the line it was at last: that of the
 * last exit that got a barrier, unless the compiler's own is of something behind that exit. */
static bool borrows_line(const row_writer *w, uint64_t address, int64_t line)
{
    const uint8_t *insn = w->rw->func->text->bytes + address;
    uint32_t op = cbi_sass_opcode(insn);
    return (op == CBI_OP_IMNMX || op == CBI_OP_IMNMX_I) && w->exit &&
           cbi_same_bytes(w->in_file, w->exit_file) &&
           cbi_same_bytes(w->in_context, w->exit_context) &&
           (uint64_t)(uintptr_t)cbi_map_get(&w->seen, (uint64_t)line) < w->exit;
}

static void write_row(const cbi_linker *lk, cbi_buf *out, row_writer *w, held_row *row,
                      uint64_t end)
{
    if (!row->any)
        return;
    row->any = false;
    bool same_place = !row->places.size;
    w->places = row->places;
    w->stop = row->stop;
    if (row->file.size)
        w->in_file = row->file;
    if (row->context.size) /* 0, length, 0x90, then the calling row, 0 for none */
        w->in_context =
            row->context.size > 3 && row->context.data[3] ? row->context : (cbi_span){NULL, 0};
    uint64_t at = row->address;
    bool again = at < w->walked;
    if (end > w->rw->old_size)
        end = w->rw->old_size;
    do {
        bool inside = !again && at < end && at % CBI_SASS_INSTRUCTION == 0 &&
                      end - at >= CBI_SASS_INSTRUCTION;
        bool borrows = inside && borrows_line(w, at, row->line);
        int64_t line = borrows ? w->exit_line : row->line;
        bool start = at == row->address && !(same_place && (borrows || w->borrowed));
        if (start || line != w->line)
            put_row(lk, out, w, at, line);
        w->borrowed = borrows;
        if (inside &&
            w->rw->place[at / CBI_SASS_INSTRUCTION] != w->rw->self[at / CBI_SASS_INSTRUCTION]) {
            w->exit = at / CBI_SASS_INSTRUCTION + 1;
            w->exit_line = row->line;
            w->exit_file = w->in_file;
            w->exit_context = w->in_context;
        } else if (inside && !borrows) {
            cbi_map_put(lk->ctx, &w->seen, (uint64_t)row->line,
                        (void *)(uintptr_t)(at / CBI_SASS_INSTRUCTION + 1));
        }
        at += CBI_SASS_INSTRUCTION;
    } while (!again && at < end);
    if (!again)
        w->walked = at;
}

/* Adds bytes of the input to a span of it that ends where they start. */
static void extend(cbi_span *span, cbi_span more)
{
    if (!span->size || span->data + span->size != more.data)
        *span = more;
    else
        span->size += more.size;
}

/* Decodes rows and encodes them for the new places.  False for operations that the compiler does
 * not write. */
static bool move_sequence(const cbi_linker *lk, cbi_span bytes, const unit *u, const sequence *seq,
                          const cbi_rewrite *rw, cbi_buf *out)
{
    cbi_reader r = cbi_reader_at((cbi_span){bytes.data, seq->end}, seq->start + SET_ADDRESS_SIZE);
    row_writer w = {.rw = rw, .unit = u, .line = 1};
    held_row row = {0}, next = {.any = true};
    uint64_t address = 0;
    int64_t line = 1;
    uint8_t op = 0, last;
    while (!r.bad && r.pos < seq->end) {
        uint64_t at = r.pos;
        last = op;
        op = cbi_read8(&r);
        bool special = op >= u->opcode_base;
        if (special || op == DW_COPY) {
            if (special) {
                unsigned value = op - u->opcode_base;
                address += value / LINE_RANGE;
                line += LINE_BASE + (int64_t)(value % LINE_RANGE);
            }
            write_row(lk, out, &w, &row, address);
            row = next;
            row.address = address;
            row.line = line;
            next = (held_row){.any = true};
        } else if (op == DW_ADVANCE_PC) {
            next.stop = last == DW_ADVANCE_PC ? address : 0;
            address += (uint64_t)cbi_read_sleb(&r);
        } else if (op == DW_ADVANCE_LINE) {
            line += cbi_read_sleb(&r);
        } else if (op == DW_SET_FILE) {
            cbi_read_uleb(&r);
            next.file = (cbi_span){bytes.data + at, r.pos - at};
            extend(&next.places, next.file);
        } else if (op == 0) {
            uint64_t size = cbi_read_uleb(&r);
            uint8_t sub = size ? cbi_read8(&r) : 0;
            if (size)
                cbi_read_bytes(&r, size - 1);
            if (sub == 0x90) {
                next.context = (cbi_span){bytes.data + at, r.pos - at};
                extend(&next.places, next.context);
            } else if (sub == 1) {
                static const uint8_t end[] = {0, 1, 1};
                uint64_t place = cbi_rewrite_map(rw, address);
                write_row(lk, out, &w, &row, address);
                w.stop = next.stop;
                put_stop(lk, out, &w);
                put_sleb(lk, out, DW_ADVANCE_PC, (int64_t)(place - w.address));
                cbi_buf_append(lk->ctx, out, end, sizeof end);
            } else {
                return false;
            }
        } else {
            return false;
        }
    }
    return !r.bad;
}

/* ---- sequences about another copy of the function ---- */

typedef struct row {
    uint64_t address; /* Mercury */
    size_t order;
    int64_t line;
    uint64_t file;
    cbi_span set_file;
    bool opens; /* the function's first row, by the compiler's mark */
} row;

typedef CBI_VEC(row) row_list;

static int compare_rows(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->address != y->address)
        return cbi_order(x->address, y->address);
    return cbi_order(x->order, y->order);
}

/* False for calls that were inlined, whose rows name each other by number. */
static bool read_rows(const cbi_linker *lk, cbi_span bytes, const unit *u, const sequence *seq,
                      row_list *ret_rows)
{
    cbi_reader r = cbi_reader_at((cbi_span){bytes.data, seq->end}, seq->start);
    row now = {.line = 1, .file = 1};
    while (!r.bad && r.pos < seq->end) {
        uint64_t at = r.pos;
        uint8_t op = cbi_read8(&r);
        if (op == 0) {
            uint64_t size = cbi_read_uleb(&r);
            uint8_t sub = size ? cbi_read8(&r) : 0;
            cbi_span operand = cbi_read_bytes(&r, size ? size - 1 : 0);
            if (sub == 0x90)
                return false;
            if (sub == 0x92 && operand.size)
                now.opens = operand.data[0];
            continue;
        }
        if (op == DW_ADVANCE_PC) {
            now.address += (uint64_t)cbi_read_sleb(&r);
            continue;
        }
        if (op == DW_ADVANCE_LINE) {
            now.line += cbi_read_sleb(&r);
            continue;
        }
        if (op == DW_SET_FILE) {
            now.file = cbi_read_uleb(&r);
            now.set_file = (cbi_span){bytes.data + at, r.pos - at};
            continue;
        }
        if (op >= u->opcode_base) {
            now.address += (op - u->opcode_base) / LINE_RANGE;
            now.line += LINE_BASE + (int64_t)((op - u->opcode_base) % LINE_RANGE);
        } else if (op != DW_COPY) {
            return false;
        }
        now.order = ret_rows->len;
        cbi_vec_push(lk->ctx, ret_rows, now);
    }
    return !r.bad;
}

/* The sequence about the function in unit `number` of the Mercury side. */
static bool find_mercury_sequence(const cbi_linker *lk, const cbi_mercury_part *part,
                                  unsigned number, const cbi_lsym *sym, unit *ret_unit,
                                  sequence *ret_sequence)
{
    cbi_span bytes = part->obj->object.sections[part->section].data;
    cbi_symbol_map symbols = {0};
    cbi_mercury_symbols(lk, part, &symbols, NULL);
    uint64_t at = 0;
    for (; read_unit(bytes, at, ret_unit); at = ret_unit->end)
        if (number-- == 0) {
            sequence_list list = {0};
            if (!read_sequences(lk, bytes, ret_unit, &symbols, &list))
                return false;
            for (size_t i = 0; i < list.len; i++)
                if (list.items[i].sym == sym) {
                    *ret_sequence = list.items[i];
                    return true;
                }
            return false;
        }
    return false;
}

/* Each instruction takes the last row at or before its place in Mercury and writes it if it is
 * another one than before.  The first row is written once more before all, unless the compiler
 * marked it. */
static bool place_sequence(const cbi_linker *lk, const cbi_mercury_part *part, const unit *u,
                           unsigned number, const cbi_lsym *sym, cbi_buf *out)
{
    const cbi_func *func = sym->func;
    const cbi_mercury_places *places = cbi_mercury_places_of(lk, func);
    unit mercury;
    sequence seq;
    row_list rows = {0};
    if (!places || !find_mercury_sequence(lk, part, number, sym, &mercury, &seq) ||
        !read_rows(lk, part->obj->object.sections[part->section].data, &mercury, &seq, &rows))
        return false;
    if (rows.len)
        qsort(rows.items, rows.len, sizeof *rows.items, compare_rows);
    row_writer w = {.rw = cbi_rewrite_of(lk, func), .unit = u, .line = 1};
    static const uint8_t end[] = {0, 1, 1};
    uint64_t file = 0; /* none: the first row says it */
    if (cbi_mercury_name_of(lk, func) != sym) {
        /* the finalizer knows the code by an alias and finds no function for the rows */
        w.rw = NULL;
        for (size_t i = 0; i < rows.len; i++) {
            const row *at = &rows.items[i];
            if (at->file != file)
                w.places = at->set_file;
            file = at->file;
            put_row(lk, out, &w, at->address, at->line);
        }
        cbi_buf_append(lk->ctx, out, end, sizeof end);
        return true;
    }
    size_t next = 0; /* rows passed */
    bool begun = false;
    size_t before = rows.len && rows.items[0].opens ? 0 : SIZE_MAX; /* the row reached last */
    const row *written = NULL; /* last, the one in front left aside */
    for (size_t i = 0; i + 1 < places->len; i++) {
        while (next < rows.len && rows.items[next].address <= places->items[i].mercury)
            next++;
        while (next && (!begun || before != next - 1)) {
            const row *at = &rows.items[next - 1];
            if (begun) {
                before = next - 1;
                if (written && written->line == at->line && written->file == at->file)
                    break;
                written = at;
            }
            begun = true;
            if (at->file != file)
                w.places = at->set_file;
            file = at->file;
            put_row(lk, out, &w, places->items[i].sass, at->line);
        }
    }
    uint64_t size = w.rw ? w.rw->size : func->text->size;
    put_sleb(lk, out, DW_ADVANCE_PC, (int64_t)(size - w.address));
    cbi_buf_append(lk->ctx, out, end, sizeof end);
    return true;
}

static void write_sequence(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part,
                           const unit *u, unsigned number, const sequence *seq)
{
    cbi_span bytes = cbi_mercury_part_bytes(part);
    const cbi_func *func = seq->sym ? seq->sym->func : NULL;
    const cbi_rewrite *rw = func ? cbi_rewrite_of(lk, func) : NULL;
    bool replaced =
        func && func->obj && (func->obj != part->obj || cbi_mercury_name_of(lk, func) != seq->sym);
    cbi_buf moved = {0};
    if (seq->end - seq->start > SET_ADDRESS_SIZE &&
        (replaced ? place_sequence(lk, part, u, number, seq->sym, &moved)
                  : rw && move_sequence(lk, bytes, u, seq, rw, &moved))) {
        cbi_mercury_copy(lk, debug, part, seq->start, seq->start + SET_ADDRESS_SIZE);
        cbi_buf_append(lk->ctx, &debug->sass, moved.items, moved.len);
        return;
    }
    cbi_mercury_copy(lk, debug, part, seq->start, seq->end);
}

/* A header may end with where the unit's strings start in .debug_str, which only the Mercury side
 * has a relocation for. */
static void copy_string_base(cbi_mercury_debug *debug, const cbi_mercury_part *part,
                             unsigned number)
{
    const cbi_section *in = &part->obj->object.sections[part->section];
    uint64_t at = 0;
    unit u;
    for (unsigned i = 0; read_unit(in->data, at, &u); i++, at = u.end) {
        if (i < number)
            continue;
        uint64_t place = part->merc_base + u.program - 4;
        for (uint32_t k = 1; k < part->obj->object.section_count; k++) {
            const cbi_section *sec = &part->obj->object.sections[k];
            if (sec->type != SHT_RELA || sec->info != part->section)
                continue;
            for (size_t r = 0; r < cbi_rela_count(sec); r++)
                if (cbi_rela_at(sec, r).offset == u.program - 4 &&
                    cbi_fits(place, 4, debug->sec->size))
                    memcpy(debug->sass.items + debug->sass.len - 4, debug->sec->bytes + place, 4);
        }
        return;
    }
}

static void write_unit(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part,
                       const unit *u, unsigned number, sequence_list *list)
{
    uint64_t start = debug->sass.len;
    for (size_t i = 0; i < list->len; i++)
        list->items[i].rank = rank_of(lk, list->items[i].sym);
    if (list->len)
        qsort(list->items, list->len, sizeof *list->items, compare);
    cbi_mercury_copy(lk, debug, part, u->start, u->program);
    copy_string_base(debug, part, number);
    for (size_t i = 0; i < list->len; i++)
        if (!list->items[i].sym || list->items[i].sym->name)
            write_sequence(lk, debug, part, u, number, &list->items[i]);
    cbi_st32(debug->sass.items + start, (uint32_t)(debug->sass.len - start - 4));
}

void cbi_mercury_line(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part)
{
    cbi_span bytes = cbi_mercury_part_bytes(part);
    cbi_symbol_map symbols = {0};
    cbi_mercury_described(lk, part, &symbols, NULL);
    uint64_t at = 0;
    unsigned number = 0;
    while (at < bytes.size) {
        unit u;
        sequence_list list = {0};
        if (!read_unit(bytes, at, &u) || !read_sequences(lk, bytes, &u, &symbols, &list)) {
            cbi_mercury_copy(lk, debug, part, at, bytes.size);
            return;
        }
        write_unit(lk, debug, part, &u, number++, &list);
        at = u.end;
    }
}
