/* A tree of named values: what dump, check and diff produce.  One tree prints as JSON for programs
 * and as text for people, so the two never disagree. */
#ifndef CBI_NODE_H
#define CBI_NODE_H

#include "base/base.h"
#include "base/text.h"

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

/* New nodes live in the context's arena.  Keys and strings are borrowed. */
cbi_node *cbi_node_object(cbi_ctx *ctx);
cbi_node *cbi_node_array(cbi_ctx *ctx);

/* Appends a child.  The parent must be an object where a key is given, an array where it is NULL.
 */
cbi_node *cbi_node_add(cbi_ctx *ctx, cbi_node *parent, const char *key, cbi_node_kind kind);
void cbi_node_put(cbi_node *parent, const char *key, cbi_node *child);
void cbi_node_uint(cbi_ctx *ctx, cbi_node *parent, const char *key, uint64_t value);
void cbi_node_hex(cbi_ctx *ctx, cbi_node *parent, const char *key, uint64_t value);
void cbi_node_int(cbi_ctx *ctx, cbi_node *parent, const char *key, int64_t value);
void cbi_node_bool(cbi_ctx *ctx, cbi_node *parent, const char *key, bool value);
void cbi_node_null(cbi_ctx *ctx, cbi_node *parent, const char *key);
/* NULL strings become null. */
void cbi_node_string(cbi_ctx *ctx, cbi_node *parent, const char *key, const char *value);
void cbi_node_printf(cbi_ctx *ctx, cbi_node *parent, const char *key, const char *format, ...)
    CBI_PRINTF(4, 5);
/* A new array or object under the parent. */
cbi_node *cbi_node_add_array(cbi_ctx *ctx, cbi_node *parent, const char *key);
cbi_node *cbi_node_add_object(cbi_ctx *ctx, cbi_node *parent, const char *key);

/* The child of that key, or NULL. */
const cbi_node *cbi_node_get(const cbi_node *object, const char *key);

/* JSON (RFC 8259).  Strings that are no UTF-8 have each stray byte b written as \u00bb.  Starts at
 * the given indentation; no newline at the end. */
void cbi_node_json(cbi_ctx *ctx, cbi_buf *out, const cbi_node *node, unsigned indent);

/* Text: objects as lines "key value", arrays of objects as tables.  Control characters are shown as
 * \xNN. */
void cbi_node_text(cbi_ctx *ctx, cbi_buf *out, const cbi_node *node, unsigned indent);

/* One value on one line; objects as "key=value ...", arrays as "a b c".  Lives in the arena. */
const char *cbi_node_line(cbi_ctx *ctx, const cbi_node *node);

#endif
