/* A tree of named values: what dump, check and diff produce.  One tree prints as JSON for programs
 * and as text for people, so the two never disagree. */
#ifndef CUBIND_TREE_H
#define CUBIND_TREE_H

#include "out.h"

typedef enum cbi_node_kind {
    CBI_NODE_NULL,
    CBI_NODE_BOOL,
    CBI_NODE_UINT,
    CBI_NODE_HEX, /* like UINT; text shows it in base 16 */
    CBI_NODE_INT,
    CBI_NODE_STRING,
    CBI_NODE_ARRAY,
    CBI_NODE_OBJECT,
} cbi_node_kind;

typedef struct cbi_node {
    struct cbi_node *next; /* in its array or object */
    const char *key;       /* in an object, else NULL */
    cbi_node_kind kind;
    uint32_t count; /* children */
    union {
        uint64_t u;
        int64_t i;
        const char *s;
        struct {
            struct cbi_node *first, *last;
        };
    };
} cbi_node;

/* New nodes live in the store.  Keys and strings are borrowed. */
cbi_node *cbi_node_object(cbi_store *store);
cbi_node *cbi_node_array(cbi_store *store);

/* Appends a child.  The parent must be an object where a key is given, an array where it is NULL.
 */
cbi_node *cbi_node_add(cbi_store *store, cbi_node *parent, const char *key, cbi_node_kind kind);
void cbi_node_put(cbi_node *parent, const char *key, cbi_node *child);
void cbi_node_uint(cbi_store *store, cbi_node *parent, const char *key, uint64_t value);
void cbi_node_hex(cbi_store *store, cbi_node *parent, const char *key, uint64_t value);
void cbi_node_int(cbi_store *store, cbi_node *parent, const char *key, int64_t value);
void cbi_node_bool(cbi_store *store, cbi_node *parent, const char *key, bool value);
void cbi_node_null(cbi_store *store, cbi_node *parent, const char *key);
/* NULL strings become null. */
void cbi_node_string(cbi_store *store, cbi_node *parent, const char *key, const char *value);
void cbi_node_printf(cbi_store *store, cbi_node *parent, const char *key, const char *format, ...)
    CBI_FORMAT(4, 5);
/* A new array or object under the parent. */
cbi_node *cbi_node_add_array(cbi_store *store, cbi_node *parent, const char *key);
cbi_node *cbi_node_add_object(cbi_store *store, cbi_node *parent, const char *key);

/* An array of objects? */
bool cbi_node_is_table(const cbi_node *node);

/* The child of that key, or NULL. */
const cbi_node *cbi_node_get(const cbi_node *object, const char *key);

/* JSON (RFC 8259).  Strings that are no UTF-8 have each stray byte b written as \u00bb.  Starts at
 * the given indentation; no newline at the end. */
void cbi_node_json(cbi_out *out, const cbi_node *node, unsigned indent);

/* Text: objects as lines "key value", arrays of objects as tables.  Control characters are shown as
 * \xNN. */
void cbi_node_text(cbi_out *out, const cbi_node *node, unsigned indent);

/* Puts another string in the place of every one. */
typedef const char *(*cbi_node_string_fn)(void *user, const char *text);
void cbi_node_each_string(cbi_node *node, cbi_node_string_fn fn, void *user);

/* Keeps the rows that have the text in a string; of rows with a table in them the whole if a string
 * beside the table has it, else what the table keeps. */
void cbi_node_filter(cbi_node *rows, const char *text);

/* Sorts every table that has such a column: numbers from the largest on, texts by their bytes.
 * False if none has. */
bool cbi_node_sort(cbi_node *node, const char *key);

#endif
