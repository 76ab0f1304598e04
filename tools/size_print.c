/* Sizes as text, as TSV and as JSON; and what grew between two files. */
#include "size.h"

#include <stdlib.h>
#include <string.h>

#include "tree.h"

enum { BAR = 24 };

static uint64_t total_of(const cbi_size_row *row)
{
    return row->code + row->other;
}

static bool is_shown(const cbi_size_show *show, const cbi_size_row *row)
{
    return !show->filter || strstr(row->name, show->filter) != NULL;
}

/* "12.3 MB" for people, the figure for all others. */
static void put_bytes(cbi_out *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 9999.5 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    cbi_out_printf(out, "%7.*f %-2s", unit && value < 99.95 ? 1 : 0, value, units[unit]);
}

static void put_bar(cbi_out *out, uint64_t part, uint64_t whole)
{
    int len = whole ? (int)((double)part / (double)whole * BAR + 0.5) : 0;
    cbi_out_put(out, "  ");
    cbi_out_style(out, CBI_STYLE_GOOD);
    for (int i = 0; i < BAR; i++)
        cbi_out_put(out, i < len ? "#" : " ");
    cbi_out_style(out, CBI_STYLE_OFF);
}

/* Rows that are left out of a table for want of room, as one. */
static void put_others(cbi_out *out, size_t count, uint64_t bytes)
{
    if (!count)
        return;
    cbi_out_put(out, "  ");
    put_bytes(out, bytes);
    cbi_out_printf(out, "  %zu more\n", count);
}

static void text_row(const cbi_size_show *show, const cbi_size_row *row, bool identical,
                     uint64_t most, cbi_out *out)
{
    uint64_t waste = row->count ? row->code - row->code / row->count : 0;
    uint64_t bytes = identical ? waste : total_of(row);
    cbi_out_put(out, "  ");
    put_bytes(out, bytes);
    cbi_out_put(out, "  ");
    put_bytes(out, row->code);
    cbi_out_printf(out, "  %7llu", (unsigned long long)row->count);
    if (show->bars)
        put_bar(out, bytes, most);
    cbi_out_put(out, "  ");
    cbi_out_string(out, identical ? row->names : row->name);
    if (identical && row->name_count > 4)
        cbi_out_printf(out, "; %u more names", row->name_count - 4);
    cbi_out_put(out, "\n");
}

static void text_table(const cbi_sizes *sizes, cbi_size_by by, const cbi_size_show *show,
                       cbi_out *out)
{
    const cbi_size_table *t = &sizes->tables[by];
    bool identical = by == CBI_SIZE_IDENTICAL;
    if (!t->len)
        return;
    cbi_out_put(out, "\n");
    cbi_out_style(out, CBI_STYLE_TITLE);
    cbi_out_printf(out, "%s:\n  %10s  %10s  %7s%*s  %s\n", cbi_size_titles[by],
                   identical ? "wasted" : "bytes", "code", identical ? "copies" : "count",
                   show->bars ? BAR + 2 : 0, "", identical ? "names" : "name");
    cbi_out_style(out, CBI_STYLE_OFF);
    size_t shown = 0, others = 0;
    uint64_t bytes = 0, most = 0;
    for (size_t i = 0; i < t->len; i++) {
        const cbi_size_row *row = t->rows[i];
        uint64_t this = identical ? row->code - row->code / row->count : total_of(row);
        if (!is_shown(show, row))
            continue;
        most = shown == 0 ? this : most;
        if (show->top && shown == show->top) {
            others++;
            bytes += this;
            continue;
        }
        shown++;
        text_row(show, row, identical, most, out);
    }
    put_others(out, others, bytes);
}

static void print_text(const cbi_sizes *sizes, const cbi_size_show *show, cbi_out *out)
{
    cbi_out_printf(out, "%llu image%s: ", (unsigned long long)sizes->images,
                   sizes->images == 1 ? "" : "s");
    cbi_out_printf(out, "%llu bytes stored, %llu decompressed, %llu of these machine code\n",
                   (unsigned long long)sizes->stored, (unsigned long long)sizes->size,
                   (unsigned long long)sizes->code);
    for (int by = 0; by < CBI_SIZE_TABLES; by++)
        if (show->tables >> by & 1)
            text_table(sizes, (cbi_size_by)by, show, out);
}

static void print_tsv(const cbi_sizes *sizes, const cbi_size_show *show, cbi_out *out)
{
    cbi_out_put(out, "table\ttotal\tcode\tother\tstored\tcount\tname\n");
    cbi_out_printf(out, "total\t%llu\t%llu\t%llu\t%llu\t%llu\t\n", (unsigned long long)sizes->size,
                   (unsigned long long)sizes->code, (unsigned long long)(sizes->size - sizes->code),
                   (unsigned long long)sizes->stored, (unsigned long long)sizes->images);
    for (int by = 0; by < CBI_SIZE_TABLES; by++) {
        const cbi_size_table *t = &sizes->tables[by];
        size_t shown = 0;
        for (size_t i = 0; (show->tables >> by & 1) && i < t->len; i++) {
            const cbi_size_row *row = t->rows[i];
            if (!is_shown(show, row) || (show->top && shown == show->top))
                continue;
            shown++;
            cbi_out_printf(out, "%s\t%llu\t%llu\t%llu\t%llu\t%llu\t", cbi_size_words[by],
                           (unsigned long long)total_of(row), (unsigned long long)row->code,
                           (unsigned long long)row->other, (unsigned long long)row->stored,
                           (unsigned long long)row->count);
            cbi_out_string(out, by == CBI_SIZE_IDENTICAL ? row->names : row->name);
            cbi_out_put(out, "\n");
        }
    }
}

static void print_json(const cbi_sizes *sizes, const cbi_size_show *show, cbi_out *out)
{
    cbi_store store = {0};
    cbi_node *document = cbi_node_object(&store);
    cbi_node_string(&store, document, "schema", "cubind-size/1");
    cbi_node *total = cbi_node_add_object(&store, document, "total");
    cbi_node_uint(&store, total, "images", sizes->images);
    cbi_node_uint(&store, total, "stored", sizes->stored);
    cbi_node_uint(&store, total, "size", sizes->size);
    cbi_node_uint(&store, total, "code", sizes->code);
    cbi_node *tables = cbi_node_add_object(&store, document, "tables");
    for (int by = 0; by < CBI_SIZE_TABLES; by++) {
        const cbi_size_table *t = &sizes->tables[by];
        if (!(show->tables >> by & 1))
            continue;
        cbi_node *rows = cbi_node_add_array(&store, tables, cbi_size_words[by]);
        for (size_t i = 0; i < t->len && !(show->top && rows->count == show->top); i++) {
            const cbi_size_row *row = t->rows[i];
            if (!is_shown(show, row))
                continue;
            cbi_node *n = cbi_node_add_object(&store, rows, NULL);
            bool identical = by == CBI_SIZE_IDENTICAL;
            cbi_node_string(&store, n, "name", identical ? row->names : row->name);
            cbi_node_uint(&store, n, "code", row->code);
            cbi_node_uint(&store, n, "other", row->other);
            cbi_node_uint(&store, n, "stored", row->stored);
            cbi_node_uint(&store, n, "count", row->count);
        }
    }
    cbi_node_json(out, document, 0);
    cbi_out_put(out, "\n");
    cbi_store_free(&store);
}

void cbi_sizes_print(cbi_sizes *sizes, const cbi_size_show *show, cbi_out *out)
{
    out->colour = show->colour;
    for (int by = 0; by < CBI_SIZE_TABLES; by++)
        cbi_sizes_sort(sizes, (cbi_size_by)by);
    switch (show->format) {
    case CBI_SIZE_TEXT:
        print_text(sizes, show, out);
        break;
    case CBI_SIZE_TSV:
        print_tsv(sizes, show, out);
        break;
    case CBI_SIZE_JSON:
        print_json(sizes, show, out);
        break;
    }
}

/* ---- differences ---- */

typedef struct change {
    const char *name;
    uint64_t before, after;
} change;

static uint64_t step_of(const change *c)
{
    return c->after > c->before ? c->after - c->before : c->before - c->after;
}

static int by_step(const void *a, const void *b)
{
    const change *x = a, *y = b;
    uint64_t p = step_of(x), q = step_of(y);
    return p > q ? -1 : p < q ? 1 : strcmp(x->name, y->name);
}

/* The rows that differ, by how much.  To be freed. */
static change *list_changes(const cbi_sizes *before, const cbi_sizes *after, cbi_size_by by,
                            const cbi_size_show *show, size_t *ret_count)
{
    const cbi_size_table *old = &before->tables[by], *new = &after->tables[by];
    change *list = cbi_grow(NULL, old->len + new->len, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < old->len; i++) {
        const cbi_size_row *row = old->rows[i], *twin = cbi_sizes_find(after, by, row->name);
        change c = {row->name, total_of(row), twin ? total_of(twin) : 0};
        if (c.before != c.after && is_shown(show, row))
            list[count++] = c;
    }
    for (size_t i = 0; i < new->len; i++) {
        const cbi_size_row *row = new->rows[i];
        if (total_of(row) && !cbi_sizes_find(before, by, row->name) && is_shown(show, row))
            list[count++] = (change){row->name, 0, total_of(row)};
    }
    if (count)
        qsort(list, count, sizeof *list, by_step);
    *ret_count = count;
    return list;
}

static void put_signed(cbi_out *out, const change *c)
{
    cbi_out_printf(out, "%c%llu", c->after < c->before ? '-' : '+', (unsigned long long)step_of(c));
}

static void diff_text(const char *title, const change *list, size_t count,
                      const cbi_size_show *show, cbi_out *out)
{
    if (!count)
        return;
    cbi_out_put(out, "\n");
    cbi_out_style(out, CBI_STYLE_TITLE);
    cbi_out_printf(out, "%s:\n  %12s  %12s  %12s  name\n", title, "change", "before", "after");
    cbi_out_style(out, CBI_STYLE_OFF);
    for (size_t i = 0; i < count && !(show->top && i == show->top); i++) {
        const change *c = &list[i];
        cbi_out figure = {0};
        put_signed(&figure, c);
        cbi_out_style(out, c->after > c->before ? CBI_STYLE_BAD : CBI_STYLE_GOOD);
        cbi_out_printf(out, "  %12s", cbi_out_text(&figure));
        cbi_out_style(out, CBI_STYLE_OFF);
        cbi_out_printf(out, "  %12llu  %12llu", (unsigned long long)c->before,
                       (unsigned long long)c->after);
        if (show->bars)
            put_bar(out, step_of(c), step_of(list));
        cbi_out_put(out, "  ");
        cbi_out_string(out, c->name);
        cbi_out_put(out, "\n");
        cbi_out_free(&figure);
    }
    if (show->top && count > show->top)
        cbi_out_printf(out, "  %zu more\n", count - show->top);
}

static void diff_rows(cbi_store *store, const char *word, const change *list, size_t count,
                      const cbi_size_show *show, cbi_node *tables, cbi_out *out)
{
    cbi_node *rows = tables ? cbi_node_add_array(store, tables, word) : NULL;
    for (size_t i = 0; i < count && !(show->top && i == show->top); i++) {
        const change *c = &list[i];
        if (!rows) {
            cbi_out_printf(out, "%s\t", word);
            put_signed(out, c);
            cbi_out_printf(out, "\t%llu\t%llu\t", (unsigned long long)c->before,
                           (unsigned long long)c->after);
            cbi_out_string(out, c->name);
            cbi_out_put(out, "\n");
            continue;
        }
        cbi_node *n = cbi_node_add_object(store, rows, NULL);
        cbi_node_string(store, n, "name", c->name);
        cbi_node_uint(store, n, "before", c->before);
        cbi_node_uint(store, n, "after", c->after);
        cbi_node_int(store, n, "change", (int64_t)(c->after - c->before));
    }
}

bool cbi_sizes_print_diff(cbi_sizes *before, cbi_sizes *after, const cbi_size_show *show,
                          cbi_out *out)
{
    cbi_store store = {0};
    cbi_node *document = cbi_node_object(&store), *tables = NULL;
    const change whole = {"", before->size, after->size};
    bool differs = before->size != after->size;
    out->colour = show->colour;
    if (show->format == CBI_SIZE_JSON) {
        cbi_node_string(&store, document, "schema", "cubind-size-diff/1");
        cbi_node *total = cbi_node_add_object(&store, document, "total");
        cbi_node_uint(&store, total, "before", before->size);
        cbi_node_uint(&store, total, "after", after->size);
        cbi_node_int(&store, total, "change", (int64_t)(after->size - before->size));
        tables = cbi_node_add_object(&store, document, "tables");
    } else if (show->format == CBI_SIZE_TSV) {
        cbi_out_put(out, "table\tchange\tbefore\tafter\tname\n");
        diff_rows(&store, "total", &whole, 1, show, NULL, out);
    } else {
        put_signed(out, &whole);
        cbi_out_printf(out, " bytes: %llu before, %llu after\n", (unsigned long long)before->size,
                       (unsigned long long)after->size);
    }
    for (int by = 0; by < CBI_SIZE_TABLES; by++) {
        if (!(show->tables >> by & 1) || by == CBI_SIZE_IDENTICAL)
            continue;
        size_t count;
        change *list = list_changes(before, after, (cbi_size_by)by, show, &count);
        differs |= count > 0;
        if (show->format == CBI_SIZE_TEXT)
            diff_text(cbi_size_titles[by], list, count, show, out);
        else
            diff_rows(&store, cbi_size_words[by], list, count, show, tables, out);
        free(list);
    }
    if (tables) {
        cbi_node_json(out, document, 0);
        cbi_out_put(out, "\n");
    }
    cbi_store_free(&store);
    return differs;
}
