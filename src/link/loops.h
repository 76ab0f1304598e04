/* Loops over what a link has many of, in threads (base/parallel.h).
 *
 * An array is cut into shares; a round takes the items of one.  It has the link, but for where its
 * thread allocates and reports, reads what no round changes, and writes what is of its items alone.
 * In one thread all items are one share.
 */
#ifndef CBI_LINK_LOOPS_H
#define CBI_LINK_LOOPS_H

#include "link/state.h"

typedef struct cbi_share {
    size_t number; /* of the share, from 0 */
    size_t first, end;
} cbi_share;

/* How an array is cut. */
typedef struct cbi_shares {
    cbi_share *items;
    size_t count;
} cbi_shares;

/* Must item i be in the share of the one before? */
typedef bool (*cbi_joined_fn)(const cbi_linker *lk, size_t i);

/* That of attribute records, of which a share has all of its objects. */
bool cbi_link_joins_records(const cbi_linker *lk, size_t i);

/* Cuts an array of that many; joined may be NULL. */
cbi_shares cbi_link_cut(const cbi_linker *lk, size_t count, cbi_joined_fn joined);

typedef void (*cbi_share_fn)(const cbi_linker *lk, void *arg, const cbi_share *share);

/* Calls fn for each share; everything is as if one came after the other. */
void cbi_link_each_share(const cbi_linker *lk, const cbi_shares *shares, cbi_share_fn fn,
                         void *arg);

/* Both, for items that may be cut anywhere. */
void cbi_link_in_shares(const cbi_linker *lk, size_t count, cbi_share_fn fn, void *arg);

/* Does two things that have nothing to do with each other, at the same time where threads pay for
 * as many items; everything is as if the second came after the first. */
typedef void (*cbi_part_fn)(const cbi_linker *lk, void *arg);
void cbi_link_both(const cbi_linker *lk, size_t count, cbi_part_fn first, cbi_part_fn second,
                   void *arg);

#endif
