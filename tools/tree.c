/* Building and printing value trees. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

cbi_node *cbi_node_object(cbi_store *store)
{
    cbi_node *node = cbi_store_new(store, sizeof(cbi_node));
    node->kind = CBI_NODE_OBJECT;
    return node;
}

cbi_node *cbi_node_array(cbi_store *store)
{
    cbi_node *node = cbi_store_new(store, sizeof(cbi_node));
    node->kind = CBI_NODE_ARRAY;
    return node;
}

void cbi_node_put(cbi_node *parent, const char *key, cbi_node *child)
{
    child->key = key;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

cbi_node *cbi_node_add(cbi_store *store, cbi_node *parent, const char *key, cbi_node_kind kind)
{
    cbi_node *node = cbi_store_new(store, sizeof(cbi_node));
    node->kind = kind;
    cbi_node_put(parent, key, node);
    return node;
}

void cbi_node_uint(cbi_store *store, cbi_node *parent, const char *key, uint64_t value)
{
    cbi_node_add(store, parent, key, CBI_NODE_UINT)->u = value;
}

void cbi_node_hex(cbi_store *store, cbi_node *parent, const char *key, uint64_t value)
{
    cbi_node_add(store, parent, key, CBI_NODE_HEX)->u = value;
}

void cbi_node_int(cbi_store *store, cbi_node *parent, const char *key, int64_t value)
{
    cbi_node_add(store, parent, key, CBI_NODE_INT)->i = value;
}

void cbi_node_bool(cbi_store *store, cbi_node *parent, const char *key, bool value)
{
    cbi_node_add(store, parent, key, CBI_NODE_BOOL)->u = value;
}

void cbi_node_null(cbi_store *store, cbi_node *parent, const char *key)
{
    cbi_node_add(store, parent, key, CBI_NODE_NULL);
}

void cbi_node_string(cbi_store *store, cbi_node *parent, const char *key, const char *value)
{
    cbi_node_add(store, parent, key, value ? CBI_NODE_STRING : CBI_NODE_NULL)->s = value;
}

void cbi_node_printf(cbi_store *store, cbi_node *parent, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cbi_node_string(store, parent, key, cbi_store_vprintf(store, format, args));
    va_end(args);
}

cbi_node *cbi_node_add_array(cbi_store *store, cbi_node *parent, const char *key)
{
    return cbi_node_add(store, parent, key, CBI_NODE_ARRAY);
}

cbi_node *cbi_node_add_object(cbi_store *store, cbi_node *parent, const char *key)
{
    return cbi_node_add(store, parent, key, CBI_NODE_OBJECT);
}

const cbi_node *cbi_node_get(const cbi_node *object, const char *key)
{
    for (const cbi_node *child = object->first; child; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

/* ---- JSON ---- */

/* printf is too slow for what a dump has millions of. */
static void put_number(cbi_out *out, uint64_t value, unsigned base)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[value % base];
    while (value /= base);
    cbi_out_bytes(out, digits + at, sizeof digits - at);
}

/* How much of the string is plain ASCII without what JSON escapes. */
static size_t plain_len(const unsigned char *s)
{
    size_t len = 0;
    while (s[len] >= 0x20 && s[len] < 0x7f && s[len] != '"' && s[len] != '\\')
        len++;
    return len;
}

static void json_string(cbi_out *out, const char *s)
{
    cbi_out_put(out, "\"");
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        size_t plain = plain_len(p);
        cbi_out_bytes(out, p, plain);
        p += plain;
        if (!*p)
            break;
        size_t len = cbi_utf8_len(p);
        if (*p == '"' || *p == '\\')
            cbi_out_printf(out, "\\%c", *p);
        else if (*p == '\n')
            cbi_out_put(out, "\\n");
        else if (*p == '\t')
            cbi_out_put(out, "\\t");
        else if (len == 0 || *p < 0x20 || *p == 0x7f)
            cbi_out_printf(out, "\\u%04x", *p);
        else
            cbi_out_bytes(out, p, len);
        p += len ? len : 1;
    }
    cbi_out_put(out, "\"");
}

static bool is_container(const cbi_node *node)
{
    return node->kind == CBI_NODE_ARRAY || node->kind == CBI_NODE_OBJECT;
}

/* A container without containers in it goes on one line. */
static bool is_flat(const cbi_node *node)
{
    for (const cbi_node *child = node->first; child; child = child->next)
        if (is_container(child) && child->count)
            return false;
    return true;
}

static void json_scalar(cbi_out *out, const cbi_node *node)
{
    switch (node->kind) {
    case CBI_NODE_BOOL:
        cbi_out_put(out, node->u ? "true" : "false");
        break;
    case CBI_NODE_UINT:
    case CBI_NODE_HEX:
        put_number(out, node->u, 10);
        break;
    case CBI_NODE_INT:
        cbi_out_printf(out, "%lld", (long long)node->i);
        break;
    case CBI_NODE_STRING:
        json_string(out, node->s);
        break;
    default:
        cbi_out_put(out, "null");
        break;
    }
}

static void new_line(cbi_out *out, unsigned indent)
{
    cbi_out_put(out, "\n");
    cbi_out_spaces(out, indent);
}

/* Trees are built by this program and at most a few levels deep, so recursion is bounded.
 * NOLINTBEGIN(misc-no-recursion) */
void cbi_node_json(cbi_out *out, const cbi_node *node, unsigned indent)
{
    if (!is_container(node)) {
        json_scalar(out, node);
        return;
    }
    bool object = node->kind == CBI_NODE_OBJECT;
    bool flat = is_flat(node);
    cbi_out_put(out, object ? "{" : "[");
    for (const cbi_node *child = node->first; child; child = child->next) {
        if (!flat)
            new_line(out, indent + 2);
        if (object) {
            json_string(out, child->key);
            cbi_out_put(out, ": ");
        }
        cbi_node_json(out, child, indent + 2);
        if (child->next)
            cbi_out_put(out, flat ? ", " : ",");
    }
    if (!flat && node->first)
        new_line(out, indent);
    cbi_out_put(out, object ? "}" : "]");
}

/* ---- text ---- */

static void text_inline(cbi_out *out, const cbi_node *node)
{
    switch (node->kind) {
    case CBI_NODE_NULL:
        cbi_out_put(out, "-");
        break;
    case CBI_NODE_BOOL:
        cbi_out_put(out, node->u ? "yes" : "no");
        break;
    case CBI_NODE_HEX:
        cbi_out_put(out, "0x");
        put_number(out, node->u, 16);
        break;
    case CBI_NODE_STRING:
        cbi_out_string(out, node->s);
        break;
    case CBI_NODE_ARRAY:
    case CBI_NODE_OBJECT:
        for (const cbi_node *child = node->first; child; child = child->next) {
            if (child->key && child->kind != CBI_NODE_ARRAY) {
                cbi_out_put(out, child->key);
                cbi_out_put(out, "=");
            }
            bool group = !child->key && is_container(child);
            cbi_out_put(out, group ? "(" : "");
            text_inline(out, child);
            cbi_out_put(out, group ? ")" : "");
            if (child->next)
                cbi_out_put(out, " ");
        }
        break;
    default:
        json_scalar(out, node);
        break;
    }
}

bool cbi_node_is_table(const cbi_node *node)
{
    return node->kind == CBI_NODE_ARRAY && node->first && node->first->kind == CBI_NODE_OBJECT;
}

/* Rows that hold tables themselves are printed one after the other, not as lines of a table. */
static bool is_nested(const cbi_node *rows)
{
    for (const cbi_node *row = rows->first; row; row = row->next)
        for (const cbi_node *cell = row->first; cell; cell = cell->next)
            if (cbi_node_is_table(cell))
                return true;
    return false;
}

/* Characters, not bytes. */
static size_t columns_of(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static bool is_number(const cbi_node *node)
{
    return node->kind == CBI_NODE_UINT || node->kind == CBI_NODE_HEX || node->kind == CBI_NODE_INT;
}

/* Columns are the keys of the first row; every row has the same keys in the same order.  A cell
 * that is wider than WIDEST does not make the others so. */
static void text_table(cbi_out *out, const cbi_node *rows, unsigned indent)
{
    enum { WIDEST = 1024 };
    size_t columns = rows->first->count;
    if (columns == 0)
        return;
    /* all cells one after the other, and where each ends */
    cbi_out cells = {0};
    size_t *ends = cbi_grow(NULL, (rows->count + (size_t)1) * columns, sizeof *ends);
    size_t *width = cbi_grow(NULL, columns, sizeof *width);
    bool *right = cbi_grow(NULL, columns, sizeof *right);
    size_t n = 0;
    for (const cbi_node *cell = rows->first->first; cell; cell = cell->next) {
        right[n] = is_number(cell);
        width[n] = strlen(cell->key);
        cbi_out_put(&cells, cell->key);
        ends[n++] = cells.len;
    }
    for (const cbi_node *row = rows->first; row; row = row->next) {
        const cbi_node *cell = row->first;
        for (size_t c = 0; c < columns; c++) {
            size_t start = cells.len;
            if (cell)
                text_inline(&cells, cell);
            size_t len = columns_of(cells.text + start, cells.len - start);
            len = len < WIDEST ? len : WIDEST;
            width[c] = len > width[c] ? len : width[c];
            ends[n++] = cells.len;
            cell = cell ? cell->next : NULL;
        }
    }
    for (size_t i = 0, start = 0; i < n; start = ends[i++]) {
        size_t c = i % columns;
        const char *text = cells.text + start;
        size_t len = columns_of(text, ends[i] - start), gap = len < width[c] ? width[c] - len : 0;
        if (i == 0)
            cbi_out_style(out, CBI_STYLE_TITLE);
        cbi_out_spaces(out, (c ? 2 : indent) + (right[c] ? gap : 0));
        cbi_out_bytes(out, text, ends[i] - start);
        if (c + 1 < columns) {
            cbi_out_spaces(out, right[c] ? 0 : gap);
            continue;
        }
        while (out->len && out->text[out->len - 1] == ' ')
            out->len--;
        if (i + 1 == columns)
            cbi_out_style(out, CBI_STYLE_OFF);
        cbi_out_put(out, "\n");
    }
    cbi_out_free(&cells);
    free(ends);
    free(width);
    free(right);
}

void cbi_node_text(cbi_out *out, const cbi_node *node, unsigned indent)
{
    if (cbi_node_is_table(node) && !is_nested(node)) {
        text_table(out, node, indent);
        return;
    }
    if (cbi_node_is_table(node)) {
        for (const cbi_node *row = node->first; row; row = row->next)
            cbi_node_text(out, row, indent);
        return;
    }
    if (node->kind != CBI_NODE_OBJECT) {
        cbi_out_spaces(out, indent);
        text_inline(out, node);
        cbi_out_put(out, "\n");
        return;
    }
    size_t width = 0;
    for (const cbi_node *child = node->first; child; child = child->next)
        if (!cbi_node_is_table(child) && strlen(child->key) > width)
            width = strlen(child->key);
    for (const cbi_node *child = node->first; child; child = child->next) {
        bool block =
            cbi_node_is_table(child) || (child->kind == CBI_NODE_OBJECT && !is_flat(child));
        if (block) {
            cbi_out_printf(out, "%*s%s:\n", (int)indent, "", child->key);
            cbi_node_text(out, child, indent + 2);
        } else {
            size_t line = out->len;
            cbi_out_printf(out, "%*s%-*s  ", (int)indent, "", (int)width, child->key);
            size_t start = out->len;
            text_inline(out, child);
            if (out->len == start) /* a key alone */
                out->len = line + indent + strlen(child->key);
            cbi_out_put(out, "\n");
        }
    }
}
/* NOLINTEND(misc-no-recursion) */

/* ---- what is shown ---- */

/* NOLINTBEGIN(misc-no-recursion): as above */
void cbi_node_each_string(cbi_node *node, cbi_node_string_fn fn, void *user)
{
    if (node->kind == CBI_NODE_STRING)
        node->s = fn(user, node->s);
    if (!is_container(node))
        return;
    for (cbi_node *child = node->first; child; child = child->next)
        cbi_node_each_string(child, fn, user);
}

static bool has_text(const cbi_node *node, const char *text)
{
    if (node->kind == CBI_NODE_STRING)
        return strstr(node->s, text) != NULL;
    if (!is_container(node))
        return false;
    for (const cbi_node *child = node->first; child; child = child->next)
        if (has_text(child, text))
            return true;
    return false;
}

/* The first table among the members of a row. */
static cbi_node *inner_table(const cbi_node *row)
{
    for (cbi_node *cell = row->first; cell; cell = cell->next)
        if (cbi_node_is_table(cell))
            return cell;
    return NULL;
}

/* Does a member that is no table hold the text? */
static bool is_meant(const cbi_node *row, const char *text)
{
    for (const cbi_node *cell = row->first; cell; cell = cell->next)
        if (!cbi_node_is_table(cell) && has_text(cell, text))
            return true;
    return false;
}

void cbi_node_filter(cbi_node *rows, const char *text)
{
    cbi_node *kept = NULL, **link = &rows->first;
    rows->count = 0;
    for (cbi_node *row = rows->first, *next; row; row = next) {
        next = row->next;
        cbi_node *table = inner_table(row);
        bool wanted = is_meant(row, text);
        if (!wanted && table) {
            cbi_node_filter(table, text);
            wanted = table->count > 0;
        }
        if (!wanted)
            continue;
        *link = kept = row;
        link = &row->next;
        rows->count++;
    }
    *link = NULL;
    rows->last = kept;
}

static const cbi_node *sorted_by(const cbi_node *row, const char *key)
{
    return row->kind == CBI_NODE_OBJECT ? cbi_node_get(row, key) : NULL;
}

typedef struct ranked {
    cbi_node *row;
    const cbi_node *value;
    size_t place;
} ranked;

/* Numbers from the largest on, then texts, then what has no value. */
static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    bool nx = is_number(x->value), ny = is_number(y->value);
    if (nx != ny)
        return nx ? -1 : 1;
    if (nx && x->value->u != y->value->u) {
        bool less =
            x->value->kind == CBI_NODE_INT ? x->value->i < y->value->i : x->value->u < y->value->u;
        return less ? 1 : -1;
    }
    bool sx = x->value->kind == CBI_NODE_STRING, sy = y->value->kind == CBI_NODE_STRING;
    if (!nx && sx != sy)
        return sx ? -1 : 1;
    int order = !nx && sx ? strcmp(x->value->s, y->value->s) : 0;
    return order ? order : x->place < y->place ? -1 : 1;
}

bool cbi_node_sort(cbi_node *node, const char *key)
{
    bool found = false;
    if (!is_container(node))
        return false;
    for (cbi_node *child = node->first; child; child = child->next)
        found |= cbi_node_sort(child, key);
    if (!cbi_node_is_table(node) || !sorted_by(node->first, key))
        return found;
    ranked *rows = cbi_grow(NULL, node->count, sizeof *rows);
    size_t count = 0;
    for (cbi_node *row = node->first; row; row = row->next) {
        const cbi_node *value = sorted_by(row, key);
        if (value)
            rows[count] = (ranked){row, value, count};
        count += value != NULL;
    }
    if (count == node->count) {
        qsort(rows, count, sizeof *rows, by_rank);
        for (size_t i = 0; i < count; i++)
            rows[i].row->next = i + 1 < count ? rows[i + 1].row : NULL;
        node->first = rows[0].row;
        node->last = rows[count - 1].row;
    }
    free(rows);
    return true;
}
/* NOLINTEND(misc-no-recursion) */
