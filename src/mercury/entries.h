/* Entries of a capsule in the making. */
#ifndef CBI_MERCURY_ENTRIES_H
#define CBI_MERCURY_ENTRIES_H

#include "capsule/capsule.h"

typedef struct cbi_entries {
    cbi_ctx *ctx;
    cbi_buf bitmap, bytes;
    uint32_t count;
} cbi_entries;

/* One entry; a derived one has no bytes. */
void cbi_entries_put(cbi_entries *entries, bool derived, cbi_span bytes);

/* A run of so many instructions without a record. */
void cbi_entries_put_run(cbi_entries *entries, uint32_t count);

/* All of them, with the header of another capsule. */
cbi_buf cbi_entries_capsule(const cbi_entries *entries, cbi_span old);

#endif
