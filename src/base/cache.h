/* Results of compilers, kept in a folder by content.
 *
 * An entry is a file that holds its whole key beside its value, so a hash that two keys share only
 * costs a miss.  It is written beside its place and renamed: other processes see all of it or
 * nothing.  What is used is marked with the time of its use, and the folder is kept below its size
 * by removing what was used longest ago. */
#ifndef CBI_CACHE_H
#define CBI_CACHE_H

#include "base/base.h"

typedef struct cbi_cache {
    const char *folder;  /* NULL: nothing is kept */
    uint64_t size_limit; /* bytes of all entries together */
} cbi_cache;

enum { CBI_CACHE_MEBIBYTES = 1024 }; /* if no limit is given */

/* The cache in that folder; NULL: in the one that CUBIND_CACHE names, if it does; "": none.  The
 * folder is made if it is not there.  One that others can write to is reported and not used.  The
 * size comes from CUBIND_CACHE_SIZE, in MiB; what is no number there is reported. */
cbi_cache cbi_cache_open(cbi_ctx *ctx, const char *folder);

/* The value that was kept for the key; false if there is none.  It may be changed. */
bool cbi_cache_get(cbi_ctx *ctx, const cbi_cache *cache, cbi_span key, cbi_span *ret_value);

/* Keeps a value.  A failure is no error: it is only not kept.  Where nothing can be written that is
 * reported once, and the cache is not used any more. */
void cbi_cache_put(cbi_ctx *ctx, cbi_cache *cache, cbi_span key, cbi_span value);

/* Appends what tells one state of a file from another: its path, place, size and time. */
void cbi_cache_add_file(cbi_ctx *ctx, cbi_buf *key, const char *path);
/* Appends a byte string with its length. */
void cbi_cache_add_bytes(cbi_ctx *ctx, cbi_buf *key, const void *data, size_t size);

#endif
