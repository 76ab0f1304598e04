/* Texts of one part: full ones with comments and places in the source, and a kept one with the
 * words that nvlink compiles.  docs/lto.md, "Parts of programs". */
#ifndef CBI_LTO_PART_MERGE_H
#define CBI_LTO_PART_MERGE_H

#include "base/base.h"

/* The full text with the names of the kept one.  False if its words are others. */
bool cbi_lto_merge(cbi_ctx *ctx, cbi_span full, cbi_span kept, cbi_span *ret_text);

/* Where each thing is as the kept text has it, but for declarations of functions. */
typedef struct cbi_lto_sources {
    cbi_span functions; /* has the functions in the same order */
    cbi_span variables; /* has the variables in the same order */
    cbi_span copies;    /* has the copies ("f$10") in the place of the functions ("f") that they are
                           copies of; may be empty */
} cbi_lto_sources;

/* The kept text with the comments and places of the others.  False if words of theirs differ. */
bool cbi_lto_merge_items(cbi_ctx *ctx, const cbi_lto_sources *from, cbi_span kept,
                         cbi_span *ret_text);

#endif
