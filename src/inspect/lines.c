/* Line tables: .debug_line and .nv_debug_line_sass, which are DWARF 2 with two additions.
 *
 * Extended opcode 0x90 has two numbers: the row of this sequence, counted from 1, at whose place a
 * function was inlined (0: none was), and where in .debug_str the function's name is.  The header
 * ends with the four bytes of the unit's base in .debug_str.  docs/debug-data.md.
 */
#include "inspect/image.h"

#include <stdlib.h>

enum {
    OP_COPY = 1,
    OP_ADVANCE_PC = 2,
    OP_ADVANCE_LINE = 3,
    OP_SET_FILE = 4,
    OP_CONST_ADD_PC = 8,
    OP_FIXED_ADVANCE_PC = 9,
    EXT_END = 1,
    EXT_SET_ADDRESS = 2,
    EXT_INLINED = 0x90,
    STRING_BASE = 4,
};

typedef struct program {
    cb_image *image;
    cbi_span bytes;
    const cbi_map *places; /* relocation + 1 by the place of an address */
    const cbi_section *relocs;
    cbi_span strings;   /* .debug_str */
    size_t name_budget; /* bytes that names of files may still take: folders repeat */
    CBI_VEC(cb_line) rows;
} program;

typedef struct unit {
    uint64_t start, end; /* of its statements */
    uint8_t min_length;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    const uint8_t *lengths; /* operands of standard opcodes, from opcode 1 */
    uint64_t string_base;
    CBI_VEC(const char *) files;
} unit;

typedef struct state {
    uint32_t section;
    uint64_t address;
    uint64_t file;
    uint64_t line;
    const char *inlined;
    uint64_t context;
    size_t first; /* row of the sequence */
} state;

static const char *read_string(cbi_reader *r)
{
    const char *s = r->pos < r->span.size ? cbi_span_string(r->span, r->pos) : NULL;
    cbi_read_bytes(r, s ? strlen(s) + 1 : UINT64_MAX);
    return s;
}

static const char *file_name(program *p, const char *folder, const char *name)
{
    size_t need = strlen(name) + (folder ? strlen(folder) : 0) + 2;
    if (!folder || name[0] == '/' || need > p->name_budget)
        return name;
    p->name_budget -= need;
    return cbi_printf(&p->image->ctx, "%s/%s", folder, name);
}

static void read_files(program *p, cbi_reader *r, unit *u)
{
    cbi_ctx *ctx = &p->image->ctx;
    CBI_VEC(const char *) folders = {0};
    const char *name;
    while ((name = read_string(r)) && *name)
        cbi_vec_push(ctx, &folders, name);
    while ((name = read_string(r)) && *name) {
        uint64_t folder = cbi_read_uleb(r);
        cbi_read_uleb(r); /* time */
        cbi_read_uleb(r); /* size */
        bool known = folder && folder <= folders.len;
        cbi_vec_push(ctx, &u->files, file_name(p, known ? folders.items[folder - 1] : NULL, name));
    }
}

/* The unit at *pos, which moves behind it; false at the end and at damage. */
static bool read_unit(program *p, uint64_t *pos, unit *u)
{
    cbi_reader r = cbi_reader_at(p->bytes, *pos);
    *u = (unit){0};
    uint64_t length = cbi_read32(&r);
    if (r.bad || !length || !cbi_fits(r.pos, length, p->bytes.size))
        return false;
    u->end = r.pos + length;
    r.span.size = (size_t)u->end;
    cbi_read16(&r); /* version */
    uint64_t header = cbi_read32(&r);
    u->start = r.pos + header;
    u->min_length = cbi_read8(&r);
    cbi_read8(&r); /* rows are statements */
    u->line_base = (int8_t)cbi_read8(&r);
    u->line_range = cbi_read8(&r);
    u->opcode_base = cbi_read8(&r);
    u->lengths = r.span.data + r.pos;
    cbi_read_bytes(&r, u->opcode_base ? u->opcode_base - 1u : 0);
    if (r.bad || u->start > u->end || !u->line_range)
        return false;
    read_files(p, &r, u);
    if (!r.bad && r.pos + STRING_BASE <= u->start)
        u->string_base = cbi_ld32(p->bytes.data + u->start - STRING_BASE);
    *pos = u->end;
    return true;
}

/* ---- statements ---- */

static void add_row(program *p, const unit *u, const state *s)
{
    bool known = s->file && s->file <= u->files.len;
    bool inside = s->context && s->context <= p->rows.len - s->first;
    cb_line row = {
        .section = s->section,
        .function = s->section == CB_NONE
                        ? CB_NONE
                        : cbi_image_function_number(p->image, s->section, s->address),
        .offset = s->address,
        .end = s->address,
        .file = known ? u->files.items[s->file - 1] : "",
        .line = (uint32_t)s->line,
        .inlined = inside ? s->inlined : NULL,
        .caller = inside ? (uint32_t)(s->first + s->context - 1) : CB_NONE,
    };
    if (p->rows.len > s->first) {
        cb_line *last = &p->rows.items[p->rows.len - 1];
        last->end = s->address > last->offset ? s->address : last->offset;
    }
    cbi_vec_push(&p->image->ctx, &p->rows, row);
}

static void set_address(const program *p, uint64_t at, uint64_t value, state *s)
{
    const cbi_object *o = &p->image->object;
    uintptr_t number = (uintptr_t)cbi_map_get(p->places, at + 1);
    s->section = CB_NONE;
    s->address = value;
    if (!number)
        return;
    cbi_rela rela = cbi_rela_at(p->relocs, number - 1);
    if (rela.symbol >= o->symbol_count)
        return;
    const cbi_symbol *symbol = &o->symbols[rela.symbol];
    if (symbol->shndx == SHN_UNDEF || symbol->shndx >= o->section_count)
        return;
    s->section = symbol->shndx;
    s->address = symbol->value + (uint64_t)rela.addend;
}

static const state START = {.section = CB_NONE, .file = 1, .line = 1};

static void run_extended(program *p, const unit *u, cbi_reader *r, state *s)
{
    uint64_t size = cbi_read_uleb(r);
    uint64_t at = r->pos;
    cbi_span body = cbi_read_bytes(r, size);
    if (r->bad || !body.size)
        return;
    cbi_reader in = cbi_reader_at(body, 1);
    switch (body.data[0]) {
    case EXT_END:
        if (p->rows.len > s->first) {
            cb_line *last = &p->rows.items[p->rows.len - 1];
            last->end = s->address > last->offset ? s->address : last->offset;
        }
        *s = START;
        s->first = p->rows.len;
        break;
    case EXT_SET_ADDRESS:
        if (body.size == 9)
            set_address(p, at + 1, cbi_read64(&in), s);
        break;
    case EXT_INLINED:
        s->context = cbi_read_uleb(&in);
        s->inlined = cbi_span_string(p->strings, u->string_base + cbi_read_uleb(&in));
        break;
    default:
        break;
    }
}

static void run_standard(program *p, const unit *u, uint8_t op, cbi_reader *r, state *s)
{
    switch (op) {
    case OP_COPY:
        add_row(p, u, s);
        break;
    case OP_ADVANCE_PC:
        s->address += cbi_read_uleb(r) * u->min_length;
        break;
    case OP_ADVANCE_LINE:
        s->line += (uint64_t)cbi_read_sleb(r);
        break;
    case OP_SET_FILE:
        s->file = cbi_read_uleb(r);
        break;
    case OP_CONST_ADD_PC:
        s->address += (uint64_t)((255 - u->opcode_base) / u->line_range) * u->min_length;
        break;
    case OP_FIXED_ADVANCE_PC:
        s->address += cbi_read16(r);
        break;
    default:
        for (unsigned n = u->lengths[op - 1]; n; n--)
            cbi_read_uleb(r);
        break;
    }
}

static void run_unit(program *p, const unit *u)
{
    cbi_reader r = cbi_reader_at((cbi_span){p->bytes.data, (size_t)u->end}, u->start);
    state s = START;
    s.first = p->rows.len;
    while (!r.bad && r.pos < u->end && p->rows.len < CB_NONE) {
        uint8_t op = cbi_read8(&r);
        if (op == 0) {
            run_extended(p, u, &r, &s);
        } else if (op < u->opcode_base) {
            run_standard(p, u, op, &r, &s);
        } else {
            unsigned step = op - u->opcode_base;
            s.address += (uint64_t)(step / u->line_range) * u->min_length;
            s.line += (uint64_t)(int64_t)(u->line_base + (int)(step % u->line_range));
            add_row(p, u, &s);
        }
    }
}

/* ---- tables ---- */

static void index_places(program *p, uint32_t section, cbi_map *places)
{
    const cbi_object *o = &p->image->object;
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (s->info != section || !cbi_is_reloc_type(s->type) || cbi_is_resolved_type(s->type))
            continue;
        p->relocs = s;
        for (size_t k = cbi_rela_count(s); k > 0; k--) /* the first of several at a place counts */
            cbi_map_put(&p->image->ctx, places, cbi_rela_at(s, k - 1).offset + 1,
                        (void *)(uintptr_t)k);
        return;
    }
}

static void make_lines(cb_image *image, const char *name, cbi_table *table)
{
    const cbi_object *o = &image->object;
    uint32_t section = cbi_object_find(o, name);
    if (!section)
        return;
    cb_image_function_count(image); /* rows name functions */
    cbi_map places = {0};
    uint32_t strings = cbi_object_find(o, ".debug_str");
    program p = {.image = image, .bytes = o->sections[section].data, .places = &places};
    p.name_budget = 16 * p.bytes.size + ((size_t)1 << 20);
    if (strings)
        p.strings = o->sections[strings].data;
    index_places(&p, section, &places);
    uint64_t pos = 0;
    unit u;
    while (read_unit(&p, &pos, &u))
        run_unit(&p, &u);
    table->rows = p.rows.items;
    table->count = p.rows.len;
}

static void make_source(cb_image *image, cbi_table *table)
{
    make_lines(image, ".debug_line", table);
}

static void make_ptx(cb_image *image, cbi_table *table)
{
    make_lines(image, ".nv_debug_line_sass", table);
}

static const cbi_table *line_table(cb_image *image, cb_line_table table)
{
    return table == CB_LINES_PTX ? cbi_image_table(image, CBI_TABLE_PTX_LINES, make_ptx)
                                 : cbi_image_table(image, CBI_TABLE_LINES, make_source);
}

size_t cb_image_line_count(cb_image *image, cb_line_table table)
{
    return line_table(image, table)->count;
}

const cb_line *cb_image_line(cb_image *image, cb_line_table table, size_t index)
{
    return CBI_TABLE_ROW(line_table(image, table), cb_line, index);
}

/* ---- from an instruction to the source ---- */

static int by_place(const void *a, const void *b)
{
    const cb_line *x = *(const cb_line *const *)a, *y = *(const cb_line *const *)b;
    if (x->section != y->section)
        return cbi_order(x->section, y->section);
    if (x->offset != y->offset)
        return cbi_order(x->offset, y->offset);
    return x < y ? -1 : x > y;
}

static void make_line_places(cb_image *image, cbi_table *table)
{
    const cbi_table *lines = line_table(image, CB_LINES_SOURCE);
    const cb_line *rows = lines->rows;
    const cb_line **places = CBI_NEW_ARRAY(&image->ctx, lines->count, const cb_line *);
    size_t used = 0;
    for (size_t i = 0; i < lines->count; i++)
        if (rows[i].section != CB_NONE && rows[i].end > rows[i].offset)
            places[used++] = &rows[i];
    if (used)
        qsort(places, used, sizeof(const cb_line *), by_place);
    table->rows = places;
    table->count = used;
}

static const cb_line *line_at(cb_image *image, uint32_t section, uint64_t offset)
{
    const cbi_table *table = cbi_image_table(image, CBI_TABLE_LINE_PLACES, make_line_places);
    const cb_line *const *places = table->rows;
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const cb_line *line = places[mid];
        if (line->section < section || (line->section == section && line->offset <= offset))
            low = mid + 1;
        else
            high = mid;
    }
    if (!low || places[low - 1]->section != section || offset >= places[low - 1]->end)
        return NULL;
    return places[low - 1];
}

const cb_frame *cb_image_frame(cb_image *image, uint32_t section, uint64_t offset, unsigned depth)
{
    const cb_line *line = line_at(image, section, offset);
    /* callers come before what was inlined at them, so this ends */
    for (; line && depth; depth--)
        line = line->caller == CB_NONE ? NULL : cb_image_line(image, CB_LINES_SOURCE, line->caller);
    if (!line)
        return NULL;
    const cb_function *f =
        line->function == CB_NONE ? NULL : cb_image_function(image, line->function);
    image->frame = (cb_frame){
        .function = line->inlined ? line->inlined
                    : f           ? f->name
                                  : NULL,
        .file = line->file,
        .line = line->line,
    };
    return &image->frame;
}
