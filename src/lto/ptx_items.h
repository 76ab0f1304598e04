/* Declarations and definitions of PTX, in the order in which the compiler writes them: version and
 * target, functions that are declared, variables, functions with their bodies. */
#ifndef CBI_LTO_PTX_ITEMS_H
#define CBI_LTO_PTX_ITEMS_H

#include "lto/ptx_words.h"

typedef enum cbi_ptx_kind {
    CBI_PTX_HEAD,        /* version, target, size of addresses, comments: the first item */
    CBI_PTX_DECLARATION, /* of a function */
    CBI_PTX_VARIABLE,
    CBI_PTX_DEFINITION /* of a function or kernel */
} cbi_ptx_kind;

typedef struct cbi_ptx_item {
    cbi_ptx_kind kind;
    size_t start; /* in the text: the end of the item before */
    size_t end;   /* of its last word; of the head, before a newline */
    cbi_ptx_word name;
    uint32_t next; /* number + 1 of the next of the stem, or 0 */
} cbi_ptx_item;

typedef struct cbi_ptx_items {
    cbi_span text;
    CBI_VEC(cbi_ptx_item) list;
    cbi_map heads;     /* by stem: number + 1 of the first */
    size_t definition; /* number of the first, or of items */
    /* The text of the variables, with the comments about those that only a function uses. */
    size_t variables, variables_end;
} cbi_ptx_items;

/* Start of the first comment between the places about a variable that only a function uses; `end`
 * if there is none. */
size_t cbi_ptx_find_demoted(cbi_span text, size_t start, size_t end);

/* False if the text is not of that form. */
bool cbi_ptx_read_items(cbi_ctx *ctx, cbi_span text, cbi_ptx_items *ret_items);

/* The first item whose name has the stem of `name`, or NULL; `next` leads on. */
cbi_ptx_item *cbi_ptx_first_of(cbi_ctx *ctx, const cbi_ptx_items *items, cbi_ptx_word name);
cbi_ptx_item *cbi_ptx_next_of(const cbi_ptx_items *items, const cbi_ptx_item *item);

#endif
