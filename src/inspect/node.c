/* Building and printing value trees. */
#include "inspect/node.h"

#include "base/text.h"

cbi_node *cbi_node_object(cbi_ctx *ctx)
{
    cbi_node *node = CBI_NEW(ctx, cbi_node);
    node->kind = CBI_NODE_OBJECT;
    return node;
}

cbi_node *cbi_node_array(cbi_ctx *ctx)
{
    cbi_node *node = CBI_NEW(ctx, cbi_node);
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

cbi_node *cbi_node_add(cbi_ctx *ctx, cbi_node *parent, const char *key, cbi_node_kind kind)
{
    cbi_node *node = CBI_NEW(ctx, cbi_node);
    node->kind = kind;
    cbi_node_put(parent, key, node);
    return node;
}

void cbi_node_uint(cbi_ctx *ctx, cbi_node *parent, const char *key, uint64_t value)
{
    cbi_node_add(ctx, parent, key, CBI_NODE_UINT)->u = value;
}

void cbi_node_hex(cbi_ctx *ctx, cbi_node *parent, const char *key, uint64_t value)
{
    cbi_node_add(ctx, parent, key, CBI_NODE_HEX)->u = value;
}

void cbi_node_int(cbi_ctx *ctx, cbi_node *parent, const char *key, int64_t value)
{
    cbi_node_add(ctx, parent, key, CBI_NODE_INT)->i = value;
}

void cbi_node_bool(cbi_ctx *ctx, cbi_node *parent, const char *key, bool value)
{
    cbi_node_add(ctx, parent, key, CBI_NODE_BOOL)->u = value;
}

void cbi_node_null(cbi_ctx *ctx, cbi_node *parent, const char *key)
{
    cbi_node_add(ctx, parent, key, CBI_NODE_NULL);
}

void cbi_node_string(cbi_ctx *ctx, cbi_node *parent, const char *key, const char *value)
{
    cbi_node_add(ctx, parent, key, value ? CBI_NODE_STRING : CBI_NODE_NULL)->s = value;
}

void cbi_node_printf(cbi_ctx *ctx, cbi_node *parent, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cbi_node_string(ctx, parent, key, cbi_vprintf(ctx, format, args));
    va_end(args);
}

cbi_node *cbi_node_add_array(cbi_ctx *ctx, cbi_node *parent, const char *key)
{
    return cbi_node_add(ctx, parent, key, CBI_NODE_ARRAY);
}

cbi_node *cbi_node_add_object(cbi_ctx *ctx, cbi_node *parent, const char *key)
{
    return cbi_node_add(ctx, parent, key, CBI_NODE_OBJECT);
}

const cbi_node *cbi_node_get(const cbi_node *object, const char *key)
{
    for (const cbi_node *child = object->first; child; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

/* ---- JSON ---- */

static void put(cbi_ctx *ctx, cbi_buf *out, const char *s)
{
    cbi_buf_append(ctx, out, s, strlen(s));
}

/* printf is too slow for what a dump has millions of. */
static void put_spaces(cbi_ctx *ctx, cbi_buf *out, size_t count)
{
    if (count)
        memset(cbi_buf_append(ctx, out, NULL, count), ' ', count);
}

static void put_number(cbi_ctx *ctx, cbi_buf *out, uint64_t value, unsigned base)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[value % base];
    while (value /= base);
    cbi_buf_append(ctx, out, digits + at, sizeof digits - at);
}

/* How much of the string is plain ASCII without what JSON escapes. */
static size_t plain_len(const unsigned char *s)
{
    size_t len = 0;
    while (s[len] >= 0x20 && s[len] < 0x7f && s[len] != '"' && s[len] != '\\')
        len++;
    return len;
}

static void json_string(cbi_ctx *ctx, cbi_buf *out, const char *s)
{
    put(ctx, out, "\"");
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        size_t plain = plain_len(p);
        cbi_buf_append(ctx, out, p, plain);
        p += plain;
        if (!*p)
            break;
        size_t len = cbi_utf8_len(p);
        if (*p == '"' || *p == '\\')
            cbi_buf_printf(ctx, out, "\\%c", *p);
        else if (*p == '\n')
            put(ctx, out, "\\n");
        else if (*p == '\t')
            put(ctx, out, "\\t");
        else if (len == 0 || *p < 0x20 || *p == 0x7f)
            cbi_buf_printf(ctx, out, "\\u%04x", *p);
        else
            cbi_buf_append(ctx, out, p, len);
        p += len ? len : 1;
    }
    put(ctx, out, "\"");
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

static void json_scalar(cbi_ctx *ctx, cbi_buf *out, const cbi_node *node)
{
    switch (node->kind) {
    case CBI_NODE_BOOL:
        put(ctx, out, node->u ? "true" : "false");
        break;
    case CBI_NODE_UINT:
    case CBI_NODE_HEX:
        put_number(ctx, out, node->u, 10);
        break;
    case CBI_NODE_INT:
        cbi_buf_printf(ctx, out, "%lld", (long long)node->i);
        break;
    case CBI_NODE_STRING:
        json_string(ctx, out, node->s);
        break;
    default:
        put(ctx, out, "null");
        break;
    }
}

static void new_line(cbi_ctx *ctx, cbi_buf *out, unsigned indent)
{
    put(ctx, out, "\n");
    put_spaces(ctx, out, indent);
}

/* Trees are built by this program and at most a few levels deep, so recursion is bounded.
 * NOLINTBEGIN(misc-no-recursion) */
void cbi_node_json(cbi_ctx *ctx, cbi_buf *out, const cbi_node *node, unsigned indent)
{
    if (!is_container(node)) {
        json_scalar(ctx, out, node);
        return;
    }
    bool object = node->kind == CBI_NODE_OBJECT;
    bool flat = is_flat(node);
    put(ctx, out, object ? "{" : "[");
    for (const cbi_node *child = node->first; child; child = child->next) {
        if (!flat)
            new_line(ctx, out, indent + 2);
        if (object) {
            json_string(ctx, out, child->key);
            put(ctx, out, ": ");
        }
        cbi_node_json(ctx, out, child, indent + 2);
        if (child->next)
            put(ctx, out, flat ? ", " : ",");
    }
    if (!flat && node->first)
        new_line(ctx, out, indent);
    put(ctx, out, object ? "}" : "]");
}

/* ---- text ---- */

static void text_inline(cbi_ctx *ctx, cbi_buf *out, const cbi_node *node)
{
    switch (node->kind) {
    case CBI_NODE_NULL:
        put(ctx, out, "-");
        break;
    case CBI_NODE_BOOL:
        put(ctx, out, node->u ? "yes" : "no");
        break;
    case CBI_NODE_HEX:
        put(ctx, out, "0x");
        put_number(ctx, out, node->u, 16);
        break;
    case CBI_NODE_STRING:
        cbi_text_string(ctx, out, node->s);
        break;
    case CBI_NODE_ARRAY:
    case CBI_NODE_OBJECT:
        for (const cbi_node *child = node->first; child; child = child->next) {
            if (child->key && child->kind != CBI_NODE_ARRAY) {
                put(ctx, out, child->key);
                put(ctx, out, "=");
            }
            bool group = !child->key && is_container(child);
            put(ctx, out, group ? "(" : "");
            text_inline(ctx, out, child);
            put(ctx, out, group ? ")" : "");
            if (child->next)
                put(ctx, out, " ");
        }
        break;
    default:
        json_scalar(ctx, out, node);
        break;
    }
}

const char *cbi_node_line(cbi_ctx *ctx, const cbi_node *node)
{
    if (!node)
        return "";
    cbi_buf buf = {0};
    text_inline(ctx, &buf, node);
    cbi_buf_append(ctx, &buf, "", 1);
    return (const char *)buf.items;
}

static bool is_rows(const cbi_node *node)
{
    return node->kind == CBI_NODE_ARRAY && node->first && node->first->kind == CBI_NODE_OBJECT;
}

/* Rows that hold tables themselves are printed one after the other, not as lines of a table. */
static bool is_nested(const cbi_node *rows)
{
    for (const cbi_node *row = rows->first; row; row = row->next)
        for (const cbi_node *cell = row->first; cell; cell = cell->next)
            if (is_rows(cell))
                return true;
    return false;
}

static bool is_number(const cbi_node *node)
{
    return node->kind == CBI_NODE_UINT || node->kind == CBI_NODE_HEX || node->kind == CBI_NODE_INT;
}

/* Columns are the keys of the first row; every row has the same keys in the same order. */
static void text_table(cbi_ctx *ctx, cbi_buf *out, const cbi_node *rows, unsigned indent)
{
    size_t columns = rows->first->count;
    if (columns == 0)
        return;
    const char **cells = CBI_NEW_ARRAY(ctx, (rows->count + (size_t)1) * columns, const char *);
    size_t *width = CBI_NEW_ARRAY(ctx, columns, size_t);
    bool *right = CBI_NEW_ARRAY(ctx, columns, bool);
    size_t n = 0;
    for (const cbi_node *cell = rows->first->first; cell; cell = cell->next) {
        right[n] = is_number(cell);
        cells[n++] = cell->key;
    }
    for (const cbi_node *row = rows->first; row; row = row->next) {
        const cbi_node *cell = row->first;
        for (size_t c = 0; c < columns; c++) {
            cells[n++] = cbi_node_line(ctx, cell);
            cell = cell ? cell->next : NULL;
        }
    }
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(cells[i]);
        if (len > width[i % columns])
            width[i % columns] = len;
    }
    for (size_t i = 0; i < n; i++) {
        size_t c = i % columns;
        size_t gap = width[c] - strlen(cells[i]);
        put_spaces(ctx, out, (c ? 2 : indent) + (right[c] ? gap : 0));
        put(ctx, out, cells[i]);
        if (c + 1 == columns) {
            while (out->len && out->items[out->len - 1] == ' ')
                out->len--;
            put(ctx, out, "\n");
        } else if (!right[c]) {
            put_spaces(ctx, out, gap);
        }
    }
}

void cbi_node_text(cbi_ctx *ctx, cbi_buf *out, const cbi_node *node, unsigned indent)
{
    if (is_rows(node) && !is_nested(node)) {
        text_table(ctx, out, node, indent);
        return;
    }
    if (is_rows(node)) {
        for (const cbi_node *row = node->first; row; row = row->next)
            cbi_node_text(ctx, out, row, indent);
        return;
    }
    if (node->kind != CBI_NODE_OBJECT) {
        cbi_buf_printf(ctx, out, "%*s%s\n", (int)indent, "", cbi_node_line(ctx, node));
        return;
    }
    size_t width = 0;
    for (const cbi_node *child = node->first; child; child = child->next)
        if (!is_rows(child) && strlen(child->key) > width)
            width = strlen(child->key);
    for (const cbi_node *child = node->first; child; child = child->next) {
        bool block = is_rows(child) || (child->kind == CBI_NODE_OBJECT && !is_flat(child));
        if (block) {
            cbi_buf_printf(ctx, out, "%*s%s:\n", (int)indent, "", child->key);
            cbi_node_text(ctx, out, child, indent + 2);
        } else {
            const char *value = cbi_node_line(ctx, child);
            cbi_buf_printf(ctx, out, *value ? "%*s%-*s  %s\n" : "%*s%-*s%s\n", (int)indent, "",
                           *value ? (int)width : 0, child->key, value);
        }
    }
}
/* NOLINTEND(misc-no-recursion) */
