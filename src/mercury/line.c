/* .debug_line and .nv_debug_line_sass of the SASS side.
 *
 * The finalizer writes each unit anew: sequences of functions that are gone disappear, the others
 * come in the order of the output's symbols.  A sequence about a weak function that another copy
 * replaced is read as one about the copy that is linked.
 */
#include "capsule/capsule.h"
#include "mercury/debug.h"
#include "mercury/rewrite.h"
#include "sass/opcodes.h"
#include "sass/operands.h"

#include <stdlib.h>
#include <xxhash.h>

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
    cbi_read_bytes(&r, u.opcode_base - 1u);
    if (r.bad)
        return false;
    *ret_unit = u;
    return true;
}

enum {
    DW_EXTENDED = 0,
    DW_COPY = 1,
    DW_ADVANCE_PC = 2,
    DW_ADVANCE_LINE = 3,
    DW_SET_FILE = 4,
    DW_FIXED_ADVANCE_PC = 9,
    /* extended */
    END_SEQUENCE = 1,
    SET_ADDRESS = 2,
    CONTEXT = 0x90, /* the row of the call that the rows behind it are inlined for, 0 for none */
    MARK = 0x92,    /* the compiler's, of the first two rows of a function: 1 and 0 */
    ADDRESS = 8,    /* bytes at the end of SET_ADDRESS */
    SET_ADDRESS_SIZE = 11,
    /* what every header says */
    LINE_BASE = -5,
    LINE_RANGE = 14,
};

/* One operation of a line program. */
typedef struct operation {
    cbi_span bytes;
    uint8_t op, sub;  /* DW_COPY for all that write a row; the kind of extended ones */
    uint64_t address; /* steps */
    int64_t line;
    uint64_t number; /* the file, or the first operand of an extended one */
    uint64_t second; /* ... and the second */
} operation;

static operation read_operation(cbi_reader *r, const unit *u)
{
    const uint64_t start = r->pos;
    operation o = {.op = cbi_read8(r)};
    if (o.op >= u->opcode_base) {
        uint64_t steps = (uint64_t)o.op - u->opcode_base;
        o.op = DW_COPY;
        o.address = steps / LINE_RANGE;
        o.line = LINE_BASE + (int64_t)(steps % LINE_RANGE);
    } else if (o.op == DW_EXTENDED) {
        cbi_reader body = cbi_reader_at(cbi_read_bytes(r, cbi_read_uleb(r)), 0);
        o.sub = cbi_read8(&body);
        o.number = cbi_read_uleb(&body);
        o.second = cbi_read_uleb(&body);
    } else if (o.op == DW_ADVANCE_PC) {
        o.address = (uint64_t)cbi_read_sleb(r);
    } else if (o.op == DW_ADVANCE_LINE) {
        o.line = cbi_read_sleb(r);
    } else if (o.op == DW_SET_FILE) {
        o.number = cbi_read_uleb(r);
    } else if (o.op == DW_FIXED_ADVANCE_PC) {
        cbi_read16(r);
    } else {
        for (unsigned n = u->lengths[o.op - 1]; n; n--)
            cbi_read_uleb(r);
    }
    o.bytes = (cbi_span){r->span.data + start, r->pos - start};
    return o;
}

static bool is_extended(const operation *o, uint8_t sub)
{
    return o->op == DW_EXTENDED && o->sub == sub;
}

typedef CBI_VEC(sequence) sequence_list;

/* Splits the program; false when it is damaged. */
static bool read_sequences(const cbi_linker *lk, cbi_span bytes, const unit *u,
                           const cbi_symbol_map *symbols, sequence_list *ret_list)
{
    cbi_reader r = cbi_reader_at((cbi_span){bytes.data, u->end}, u->program);
    sequence seq = {.start = u->program};
    while (!r.bad && r.pos < u->end) {
        operation o = read_operation(&r, u);
        if (is_extended(&o, SET_ADDRESS) && !seq.sym) {
            seq.sym = cbi_symbol_map_get(symbols, r.pos - ADDRESS);
        } else if (is_extended(&o, END_SEQUENCE)) {
            seq.end = r.pos;
            seq.order = ret_list->len;
            cbi_vec_push(lk->ctx, ret_list, seq);
            seq = (sequence){.start = r.pos};
        }
    }
    return !r.bad && seq.start == u->end;
}

static uint32_t rank_of(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (!sym || !sym->name)
        return UINT32_MAX;
    uint32_t index = cbi_symbol_index(lk, sym);
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

/* Where an instruction comes from. */
typedef struct origin {
    int64_t line;
    cbi_span file, context; /* the operations that say so; empty for file 1, and for no call */
} origin;

typedef struct row_writer {
    const cbi_rewrite *rw;
    const unit *unit;
    uint64_t address; /* as written so far */
    int64_t line;
    cbi_span places; /* operations that wait for the next row, see held_row */
    uint64_t stop;   /* the same, a place of its own that the compiler advanced to; 0 for none */
    origin own;      /* of the row that is read */
    origin written;
    /* what a minimum gets its origin from */
    bool lends;        /* the function has minimums that the finalizer makes anew */
    const bool *parts; /* per instruction: part of a run that the capsule has a record of */
    cbi_map seen;      /* origin -> end of its last instruction that the finalizer makes anew */
    uint64_t exit;     /* end of the last exit with a barrier, 0 for none */
    origin exit_from;
    uint64_t walked;           /* how far instructions were looked at: each once */
    origin maker_from;         /* of the last instruction that the finalizer makes anew */
    bool made;                 /* there is one */
    bool bare;                 /* behind it an exit lost its barrier */
    origin bare_from;          /* ... which came from here */
    bool borrowed;             /* the row written last has that of another instruction */
    uint8_t *lent;             /* per instruction: whose origin it has (lender) */
    bool known;                /* ... by the other line table of the function, which is finer */
    uint64_t rows;             /* written */
    CBI_VEC(uint64_t) numbers; /* of each row that was read: the row written for it */
} row_writer;

/* Whose origin has an instruction? */
typedef enum lender { OWN, OF_EXIT, OF_MAKER } lender;

/* A row that is written when its end is known. */
typedef struct held_row {
    bool any;
    uint64_t address;
    int64_t line;
    cbi_span file, context; /* the last operations of their kind in front of it */
    bool inlined;           /* the context names a call */
    cbi_span places;        /* all of these: the compiler leaves some of rows that it dropped */
    uint64_t stop;          /* it leaves the advance to one of them, too; 0 for none */
} held_row;

/* Two advances of one row, of which the second may be that of the row's own byte, stay two. */
static void put_stop(const cbi_linker *lk, cbi_buf *out, row_writer *w)
{
    uint64_t place = cbi_rewrite_map(w->rw, w->stop);
    if (w->stop && place > w->address) {
        put_sleb(lk, out, DW_ADVANCE_PC, (int64_t)(place - w->address));
        w->address = place;
    }
    w->stop = 0;
}

static void put_uleb(const cbi_linker *lk, cbi_buf *out, uint64_t value)
{
    do {
        uint8_t byte = value & 0x7f;
        value >>= 7;
        byte |= value ? 0x80 : 0;
        cbi_buf_append(lk->ctx, out, &byte, 1);
    } while (value);
}

static void put_context(const cbi_linker *lk, cbi_buf *out, uint64_t caller, uint64_t inlined)
{
    cbi_buf body = {0};
    put_uleb(lk, &body, caller);
    put_uleb(lk, &body, inlined);
    const uint8_t head[] = {DW_EXTENDED, (uint8_t)(body.len + 1), CONTEXT};
    cbi_buf_append(lk->ctx, out, head, sizeof head);
    cbi_buf_append(lk->ctx, out, body.items, body.len);
}

/* The operations that wait.  A context names a row by its number, which may have changed. */
static void put_places(const cbi_linker *lk, cbi_buf *out, row_writer *w)
{
    cbi_reader r = cbi_reader_at(w->places, 0);
    while (!r.bad && r.pos < w->places.size) {
        const operation o = read_operation(&r, w->unit);
        const uint64_t row = is_extended(&o, CONTEXT) ? o.number : 0;
        if (row && row <= w->numbers.len && w->numbers.items[row - 1] != row)
            put_context(lk, out, w->numbers.items[row - 1], o.second);
        else
            cbi_buf_append(lk->ctx, out, o.bytes.data, o.bytes.size);
    }
    w->places = (cbi_span){NULL, 0};
}

static void put_row(const cbi_linker *lk, cbi_buf *out, row_writer *w, uint64_t address,
                    int64_t line)
{
    put_stop(lk, out, w);
    uint64_t place = cbi_rewrite_map(w->rw, address);
    int64_t da = (int64_t)(place - w->address), dl = line - w->line;
    put_places(lk, out, w);
    w->rows++;
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

static const uint8_t end_sequence[] = {DW_EXTENDED, 1, END_SEQUENCE};

static void put_end(const cbi_linker *lk, cbi_buf *out, const row_writer *w, uint64_t place)
{
    put_sleb(lk, out, DW_ADVANCE_PC, (int64_t)(place - w->address));
    cbi_buf_append(lk->ctx, out, end_sequence, sizeof end_sequence);
}

static bool same_origin(const origin *a, const origin *b)
{
    return a->line == b->line && cbi_same_bytes(a->file, b->file) &&
           cbi_same_bytes(a->context, b->context);
}

static uint64_t origin_key(const origin *o)
{
    uint64_t key = XXH3_64bits_withSeed(o->file.data, o->file.size, (uint64_t)o->line);
    return XXH3_64bits_withSeed(o->context.data, o->context.size, key);
}

static const uint8_t *instruction_at(const row_writer *w, uint64_t address)
{
    return w->rw->func->text->bytes + address;
}

static bool is_made_at(const row_writer *w, uint64_t address)
{
    return w->parts[address / CBI_SASS_INSTRUCTION] ||
           cbi_sass_is_made(cbi_sass_load(instruction_at(w, address)));
}

/* The instructions of the function that stand in the capsule with others under one record. */
static const bool *find_parts(const cbi_linker *lk, const cbi_func *func, uint64_t count)
{
    bool *parts = CBI_NEW_ARRAY(lk->ctx, count + 1, bool);
    cbi_buf bytes = cbi_mercury_capsule(lk, func);
    cbi_capsule walk;
    cbi_capsule_entry e;
    cbi_capsule_open((cbi_span){bytes.items, bytes.len}, &walk);
    while (cbi_capsule_next(&walk, &e))
        if (e.kind == CBI_CAPSULE_RUN_RECORD && e.count > 1 && cbi_fits(e.first, e.count, count))
            memset(parts + e.first, true, e.count);
    return parts;
}

/* A minimum, or maximum, of integers of 32 bits. */
static bool is_minimum(const uint8_t *insn)
{
    uint32_t op = cbi_sass_opcode(insn);
    return (op == CBI_OP_IMNMX || op == CBI_OP_IMNMX_I || op == CBI_OP_IMNMX_U) &&
           !cbi_sass_chooses_long(cbi_sass_load(insn));
}

static bool has_minimums(const cbi_rewrite *rw)
{
    for (uint64_t at = 0; cbi_fits(at, CBI_SASS_INSTRUCTION, rw->old_size);
         at += CBI_SASS_INSTRUCTION)
        if (is_minimum(rw->func->text->bytes + at))
            return true;
    return false;
}

/* The finalizer makes minimums of 32 bits anew, with the origin it was at last: that of the last
 * exit that got a barrier, unless the compiler's own is of something made behind it.  Where it
 * takes a barrier away, that of the last instruction in front that it makes anew, too. */
static lender find_lender(const row_writer *w, uint64_t address)
{
    if (w->known)
        return w->lent[address / CBI_SASS_INSTRUCTION];
    if (!is_minimum(instruction_at(w, address)))
        return OWN;
    if (w->exit && (uint64_t)(uintptr_t)cbi_map_get(&w->seen, origin_key(&w->own)) < w->exit)
        return OF_EXIT;
    return w->bare && w->made && same_origin(&w->own, &w->bare_from) ? OF_MAKER : OWN;
}

/* Looks at an instruction that comes from where its row says. */
static void walk(row_writer *w, uint64_t address)
{
    uint64_t next = address + CBI_SASS_INSTRUCTION;
    bool stays = cbi_rewrite_map(w->rw, address) != cbi_rewrite_map(w->rw, next);
    if (w->rw->bare && w->rw->bare[address / CBI_SASS_INSTRUCTION]) {
        w->bare = true;
        w->bare_from = w->own;
    } else if (stays && is_made_at(w, address)) {
        w->bare = false;
        w->made = true;
        w->maker_from = w->own;
    }
}

/* The operations that lead from the row written last to another origin. */
static cbi_span way_to(const cbi_linker *lk, const row_writer *w, const origin *to)
{
    static const uint8_t first_file[] = {DW_SET_FILE, 1};
    static const uint8_t no_call[] = {DW_EXTENDED, 3, CONTEXT, 0, 0};
    cbi_buf way = {0};
    if (!cbi_same_bytes(w->written.file, to->file))
        cbi_buf_append(lk->ctx, &way, to->file.size ? to->file.data : first_file,
                       to->file.size ? to->file.size : sizeof first_file);
    if (!cbi_same_bytes(w->written.context, to->context))
        cbi_buf_append(lk->ctx, &way, to->context.size ? to->context.data : no_call,
                       to->context.size ? to->context.size : sizeof no_call);
    return (cbi_span){way.items, way.len};
}

static void write_row(const cbi_linker *lk, cbi_buf *out, row_writer *w, held_row *row,
                      uint64_t end)
{
    if (!row->any)
        return;
    row->any = false;
    w->stop = row->stop;
    w->own.line = row->line;
    if (row->file.size)
        w->own.file = row->file;
    if (row->context.size)
        w->own.context = row->inlined ? row->context : (cbi_span){NULL, 0};
    uint64_t at = row->address;
    uint64_t number = 0;
    bool walks = w->lends && at >= w->walked;
    if (end > w->rw->old_size)
        end = w->rw->old_size;
    do {
        bool inside = walks && cbi_fits(at, CBI_SASS_INSTRUCTION, end);
        lender whose = inside ? find_lender(w, at) : OWN;
        bool borrows = whose != OWN;
        const origin *from = whose == OF_EXIT    ? &w->exit_from
                             : whose == OF_MAKER ? &w->maker_from
                                                 : &w->own;
        bool start = at == row->address && (!inside || (!borrows && !w->borrowed));
        if (start || !same_origin(from, &w->written)) {
            w->places = start && !w->borrowed ? row->places : way_to(lk, w, from);
            put_row(lk, out, w, at, from->line);
            w->written = *from;
        }
        if (!number && !borrows)
            number = w->rows;
        if (borrows)
            w->lent[at / CBI_SASS_INSTRUCTION] = (uint8_t)whose;
        else if (inside)
            walk(w, at);
        w->borrowed = borrows;
        if (inside &&
            w->rw->place[at / CBI_SASS_INSTRUCTION] != w->rw->self[at / CBI_SASS_INSTRUCTION]) {
            w->exit = at + CBI_SASS_INSTRUCTION;
            w->exit_from = w->own;
        } else if (inside && !borrows && is_made_at(w, at)) {
            cbi_map_put(lk->ctx, &w->seen, origin_key(&w->own),
                        (void *)(uintptr_t)(at + CBI_SASS_INSTRUCTION));
        }
        at += CBI_SASS_INSTRUCTION;
    } while (walks && at < end);
    if (walks)
        w->walked = at;
    cbi_vec_push(lk->ctx, &w->numbers, number ? number : w->rows);
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
                          const cbi_rewrite *rw, bool fine, cbi_buf *out)
{
    cbi_reader r = cbi_reader_at((cbi_span){bytes.data, seq->end}, seq->start + SET_ADDRESS_SIZE);
    row_writer w = {.rw = rw, .unit = u, .line = 1};
    w.lends = has_minimums(rw);
    if (w.lends) {
        const uint64_t count = rw->old_size / CBI_SASS_INSTRUCTION;
        uint8_t **lent = &lk->merc->lent[rw->func->number];
        w.known = !fine && *lent;
        w.lent = w.known ? *lent : CBI_NEW_ARRAY(lk->ctx, count + 1, uint8_t);
        if (fine)
            *lent = w.lent;
        w.parts = find_parts(lk, rw->func, count);
    }
    held_row row = {0}, next = {.any = true};
    uint64_t address = 0;
    int64_t line = 1;
    bool advanced = false; /* in front of the next row */
    while (!r.bad && r.pos < seq->end) {
        const operation o = read_operation(&r, u);
        if (o.op == DW_ADVANCE_PC) {
            next.stop = advanced ? address : 0;
            advanced = true;
        }
        address += o.address;
        line += o.line;
        if (o.op == DW_COPY) {
            if (advanced && o.address)
                next.stop = address - o.address;
            write_row(lk, out, &w, &row, address);
            row = next;
            row.address = address;
            row.line = line;
            next = (held_row){.any = true};
            advanced = false;
        } else if (o.op == DW_SET_FILE) {
            next.file = o.bytes;
            extend(&next.places, o.bytes);
        } else if (is_extended(&o, CONTEXT)) {
            next.context = o.bytes;
            next.inlined = o.number;
            extend(&next.places, o.bytes);
        } else if (is_extended(&o, END_SEQUENCE)) {
            write_row(lk, out, &w, &row, address);
            w.stop = next.stop;
            put_stop(lk, out, &w);
            put_end(lk, out, &w, cbi_rewrite_map(rw, address));
        } else if (o.op != DW_ADVANCE_PC && o.op != DW_ADVANCE_LINE) {
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
    enum { UNMARKED, IS_SECOND, IS_FIRST } mark; /* the compiler's, of the first two rows */
    /* of code that was inlined */
    size_t caller;    /* the row of the call, from 1 in the order of the program; 0 for none */
    uint64_t inlined; /* the function's name */
    size_t as_caller; /* the number that this row got as a caller, 0 before */
} row;

typedef CBI_VEC(row) row_list;

static int compare_rows(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->address != y->address)
        return cbi_order(x->address, y->address);
    return cbi_order(x->order, y->order);
}

/* False for operations that the compiler does not write. */
static bool read_rows(const cbi_linker *lk, cbi_span bytes, const unit *u, const sequence *seq,
                      row_list *ret_rows)
{
    cbi_reader r = cbi_reader_at((cbi_span){bytes.data, seq->end}, seq->start);
    row now = {.line = 1, .file = 1};
    while (!r.bad && r.pos < seq->end) {
        operation o = read_operation(&r, u);
        now.address += o.address;
        now.line += o.line;
        if (o.op == DW_COPY) {
            now.order = ret_rows->len;
            cbi_vec_push(lk->ctx, ret_rows, now);
            if (*o.bytes.data == DW_COPY) /* a row of one byte leaves it for the next one */
                now.mark = UNMARKED;
        } else if (o.op == DW_SET_FILE) {
            now.file = o.number;
            now.set_file = o.bytes;
        } else if (is_extended(&o, MARK)) {
            now.mark = o.number ? IS_FIRST : IS_SECOND;
        } else if (is_extended(&o, CONTEXT)) {
            now.caller = o.number;
            now.inlined = o.second;
            if (o.number > ret_rows->len)
                return false;
        } else if (o.op != DW_EXTENDED && o.op != DW_ADVANCE_PC && o.op != DW_ADVANCE_LINE) {
            return false;
        }
    }
    return !r.bad;
}

/* Unit `number` of the Mercury side. */
static bool find_mercury_unit(const cbi_mercury_part *part, unsigned number, unit *ret_unit)
{
    cbi_span bytes = part->obj->object.sections[part->section].data;
    uint64_t at = 0;
    for (; read_unit(bytes, at, ret_unit); at = ret_unit->end)
        if (number-- == 0)
            return true;
    return false;
}

/* The sequence about the function in unit `number` of the Mercury side. */
static bool find_mercury_sequence(const cbi_linker *lk, const cbi_mercury_part *part,
                                  unsigned number, const cbi_lsym *sym, unit *ret_unit,
                                  sequence *ret_sequence)
{
    cbi_span bytes = part->obj->object.sections[part->section].data;
    cbi_symbol_map symbols = {0};
    cbi_mercury_symbols(lk, part, &symbols, NULL);
    sequence_list list = {0};
    if (!find_mercury_unit(part, number, ret_unit) ||
        !read_sequences(lk, bytes, ret_unit, &symbols, &list))
        return false;
    for (size_t i = 0; i < list.len; i++)
        if (list.items[i].sym == sym) {
            *ret_sequence = list.items[i];
            return true;
        }
    return false;
}

/* What rows are placed with. */
typedef struct placer {
    row_writer w;
    const row_list *rows; /* by address */
    row **by_order;       /* ... and in the order of the program */
    size_t count;         /* rows written */
    uint64_t file, inlined;
    size_t caller;
} placer;

static void put_placed_row(const cbi_linker *lk, cbi_buf *out, placer *p, const row *at,
                           uint64_t address)
{
    cbi_buf operations = {0};
    if (at->file != p->file)
        cbi_buf_append(lk->ctx, &operations, at->set_file.data, at->set_file.size);
    size_t caller = at->caller ? p->by_order[at->caller - 1]->as_caller : 0;
    if (caller != p->caller || at->inlined != p->inlined) {
        put_context(lk, &operations, caller, at->inlined);
    }
    p->file = at->file;
    p->caller = caller;
    p->inlined = at->inlined;
    p->w.places = (cbi_span){operations.items, operations.len};
    put_row(lk, out, &p->w, address, at->line);
    p->count++;
}

/* Code that was inlined refers to the row of the call, which comes first, behind that of the call
 * around it.  Each is written once as such. */
static void put_callers(const cbi_linker *lk, cbi_buf *out, placer *p, const row *at,
                        uint64_t address)
{
    CBI_VEC(row *) missing = {0};
    for (size_t caller = at->caller; caller && !p->by_order[caller - 1]->as_caller;
         caller = p->by_order[caller - 1]->caller)
        cbi_vec_push(lk->ctx, &missing, p->by_order[caller - 1]);
    for (size_t i = missing.len; i-- > 0;) {
        put_placed_row(lk, out, p, missing.items[i], address);
        missing.items[i]->as_caller = p->count;
    }
}

/* The finalizer knows the code by an alias and finds no function for the rows. */
static void put_hidden_rows(const cbi_linker *lk, cbi_buf *out, placer *p)
{
    p->file = 0; /* none: the first row says it */
    p->w.rw = NULL;
    for (size_t i = 0; i < p->rows->len; i++)
        put_placed_row(lk, out, p, &p->rows->items[i], p->rows->items[i].address);
    cbi_buf_append(lk->ctx, out, end_sequence, sizeof end_sequence);
}

static bool says_same(const row *a, const row *b)
{
    return a->line == b->line && a->file == b->file && a->caller == b->caller &&
           a->inlined == b->inlined;
}

/* Each instruction takes the last row at or before its place in Mercury and writes it if it is
 * another one than before; of a marked row that says the same only the advance.  The first row is
 * written once more before all, unless the compiler marked it. */
static void put_rows_at(const cbi_linker *lk, cbi_buf *out, placer *p,
                        const cbi_mercury_places *places)
{
    const row_list *rows = p->rows;
    size_t next = 0; /* rows passed */
    const row *opening = rows->len && rows->items[0].mark == IS_FIRST ? rows->items : NULL;
    const row *reached = NULL, *written = NULL; /* the last ones, the one in front left aside */
    for (size_t i = 0; i + 1 < places->len; i++) {
        const cbi_mercury_place *place = cbi_mercury_behind_pace(places, &places->items[i]);
        i = (size_t)(place - places->items);
        while (next < rows->len && rows->items[next].address <= place->mercury)
            next++;
        const row *at = next ? &rows->items[next - 1] : NULL;
        if (at == reached)
            continue;
        if (!reached)
            put_placed_row(lk, out, p, at, place->sass);
        bool stays = reached ? written && written->mark == at->mark && says_same(written, at)
                             : at == opening;
        bool passes = reached && says_same(reached, at) && at->mark != UNMARKED;
        reached = at;
        if (passes) {
            p->w.stop = place->sass;
            put_stop(lk, out, &p->w);
        }
        if (passes || stays)
            continue;
        put_callers(lk, out, p, at, place->sass);
        put_placed_row(lk, out, p, at, place->sass);
        written = at;
    }
}

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
    placer p = {.w = {.rw = cbi_rewrite_of(lk, func), .unit = u, .line = 1},
                .rows = &rows,
                .by_order = CBI_NEW_ARRAY(lk->ctx, rows.len, row *)};
    bool inlined = false;
    for (size_t i = 0; i < rows.len; i++) {
        p.by_order[rows.items[i].order] = &rows.items[i];
        inlined |= rows.items[i].caller > 0;
    }
    bool hidden = cbi_mercury_name_of(lk, func) != sym;
    if (hidden && inlined)
        return false;
    if (hidden) {
        put_hidden_rows(lk, out, &p);
        return true;
    }
    put_rows_at(lk, out, &p, places);
    put_end(lk, out, &p.w, p.w.rw ? p.w.rw->size : func->text->size);
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
    if (cbi_fits(0, SET_ADDRESS_SIZE, seq->end - seq->start) &&
        (replaced ? place_sequence(lk, part, u, number, seq->sym, &moved)
                  : rw && move_sequence(lk, bytes, u, seq, rw,
                                        cbi_is_fine_line_section(debug->sec->name->s), &moved))) {
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
    enum { BASE = 4 };
    unit u;
    if (!find_mercury_unit(part, number, &u))
        return;
    uint64_t place = part->merc_base + u.program - BASE;
    if (cbi_fits(place, BASE, debug->sec->size))
        memcpy(debug->sass.items + debug->sass.len - BASE, debug->sec->bytes + place, BASE);
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
