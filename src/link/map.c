/* --map: a table of output sections with what went into each, and what was left out. */
#include <stdlib.h>

#include "base/text.h"
#include "demangle/demangle.h"
#include "link/report.h"

static const char *shown(const cbi_linker *lk, const char *name)
{
    return cbi_text_shown(lk->ctx, name);
}

static void section_line(const cbi_linker *lk, cbi_buf *out, const cbi_osec *sec)
{
    const cbi_out_section *place = cbi_out_of(lk, sec);
    cbi_buf_printf(lk->ctx, out, "%5u  %#10llx  %#10llx  %5llu  %s\n", place->index,
                   (unsigned long long)place->offset, (unsigned long long)place->size,
                   (unsigned long long)sec->align, shown(lk, sec->name->s));
}

/* One row for what an input section gave. */
typedef struct map_row {
    const cbi_osec *sec;
    uint32_t index; /* of the section */
    uint64_t at;
    uint64_t size;
    const char *file;
    const char *name;
    size_t order;
} map_row;
typedef CBI_VEC(map_row) row_list;

static int by_place(const void *a, const void *b)
{
    const map_row *x = a, *y = b;
    if (x->index != y->index)
        return cbi_order(x->index, y->index);
    if (x->at != y->at)
        return cbi_order(x->at, y->at);
    return cbi_order(x->order, y->order);
}

static void add_row(const cbi_linker *lk, row_list *rows, const cbi_osec *sec, uint64_t at,
                    uint64_t size, const cbi_lobj *obj, const char *name)
{
    map_row row = {sec,      cbi_section_index(lk, sec), at, size, obj ? obj->file : "(link)", name,
                   rows->len};
    cbi_vec_push(lk->ctx, rows, row);
}

static void collect_sections(const cbi_linker *lk, row_list *rows)
{
    for (size_t i = 0; i < lk->symbols->objs.len; i++) {
        const cbi_lobj *obj = lk->symbols->objs.items[i];
        for (uint32_t s = 1; s < obj->object.section_count; s++) {
            const cbi_osec *sec = obj->sections[s].out;
            if (sec && cbi_section_index(lk, sec) && !obj->sections[s].lost &&
                obj->object.sections[s].size)
                add_row(lk, rows, sec, obj->sections[s].base, obj->object.sections[s].size, obj,
                        obj->object.sections[s].name);
        }
    }
}

static void collect_symbols(const cbi_linker *lk, const cbi_lsym *const *symbols, size_t count,
                            row_list *rows)
{
    for (size_t i = 0; i < count; i++) {
        const cbi_lsym *sym = symbols[i];
        if (!sym->is_section && cbi_symbol_index(lk, sym) &&
            cbi_placement_of(lk, sym).state == CBI_SYM_DEFINED && cbi_placement_of(lk, sym).sec &&
            cbi_section_index(lk, cbi_placement_of(lk, sym).sec) && sym->size)
            add_row(lk, rows, cbi_placement_of(lk, sym).sec, cbi_placement_of(lk, sym).value,
                    sym->size, cbi_obj_at(lk, sym->def_obj), cbi_demangle(lk->ctx, sym->name->s));
    }
}

static void dropped_functions(const cbi_linker *lk, cbi_buf *out)
{
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        const char *reason = f->obj ? cbi_removal_reason(lk, f) : NULL;
        if (reason)
            cbi_buf_printf(lk->ctx, out, "  %s: %s: %s\n", shown(lk, f->obj->file),
                           shown(lk, cbi_demangle(lk->ctx, f->sym->name->s)), reason);
    }
}

static void dropped_copies(const cbi_linker *lk, cbi_buf *out)
{
    for (size_t i = 0; i < lk->symbols->objs.len; i++) {
        const cbi_lobj *obj = lk->symbols->objs.items[i];
        for (uint32_t s = 1; s < obj->object.symbol_count; s++) {
            const cbi_lsym *winner = obj->symbols[s];
            if (obj->symbol_lost[s] == CBI_NOT_LOST || !winner || !winner->def_obj ||
                winner->def_obj == cbi_obj_id(obj))
                continue;
            cbi_buf_printf(lk->ctx, out, "  %s: %s: the definition in %s is used\n",
                           shown(lk, obj->file),
                           shown(lk, cbi_demangle(lk->ctx, obj->object.symbols[s].name)),
                           shown(lk, cbi_obj_file(lk, winner->def_obj)));
        }
    }
}

void cbi_link_map(const cbi_linker *lk, cbi_buf *out)
{
    cbi_ctx *ctx = lk->ctx;
    cbi_buf_printf(ctx, out,
                   "Sections of the output for %s\n\n"
                   "index      offset        size  align  name\n",
                   lk->opt->arch->name);
    for (size_t i = 1; i < lk->tables->out.len; i++)
        section_line(lk, out, lk->tables->out.items[i]);

    row_list rows = {0};
    collect_sections(lk, &rows);
    collect_symbols(lk, lk->records->locals.items, lk->records->locals.len, &rows);
    collect_symbols(lk, lk->records->globals.items, lk->records->globals.len, &rows);
    if (rows.len)
        qsort(rows.items, rows.len, sizeof *rows.items, by_place);
    cbi_buf_printf(ctx, out, "\nWhat is in them\n");
    const cbi_osec *last = NULL;
    for (size_t i = 0; i < rows.len; i++) {
        const map_row *row = &rows.items[i];
        if (row->sec != last)
            cbi_buf_printf(ctx, out, "\n%s\n", shown(lk, row->sec->name->s));
        last = row->sec;
        cbi_buf_printf(ctx, out, "  %#10llx  %#10llx  %s: %s\n", (unsigned long long)row->at,
                       (unsigned long long)row->size, shown(lk, row->file), shown(lk, row->name));
    }

    cbi_buf_printf(ctx, out, "\nLeft out\n\n");
    size_t before = out->len;
    for (size_t i = 0; i < lk->symbols->unused.len; i++)
        cbi_buf_printf(ctx, out, "  %s: nothing needs it\n",
                       shown(lk, lk->symbols->unused.items[i]->file));
    dropped_functions(lk, out);
    dropped_copies(lk, out);
    if (out->len == before)
        cbi_buf_printf(ctx, out, "  nothing\n");
}
