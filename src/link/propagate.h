/* Stage 6, propagation: what entries need for what they reach, and what they take over from it. */
#ifndef CBI_PROPAGATE_H
#define CBI_PROPAGATE_H

#include "format/eiattr.h"
#include "link/state.h"

/* ---- propagate.c ---- */
/* Begins the stage: takes over the records of the inputs. */
struct cbi_propagate_work;
const cbi_attributes *cbi_attributes_begin(const cbi_linker *lk,
                                           struct cbi_propagate_work **ret_work);
/* Does all of it. */
void cbi_link_propagate(const cbi_linker *lk);
/* Lets go of the records, when all have been written; the numbers of the properties stay. */
void cbi_link_forget_records(const cbi_linker *lk);
/* Warn of what the graph alone shows: recursion, functions that nobody calls. */
void cbi_link_warn_graph(const cbi_linker *lk);

/* EIATTR_MIN_STACK_SIZE of an entry, when the order of symbols is known. */
void cbi_link_min_stack(const cbi_linker *lk, const cbi_func *k, cbi_rec_list *ret_recs);

/* ---- attributes.c ---- */
/* Do entries take it over? */
static inline bool cbi_is_handed_on(cbi_attr_link link)
{
    switch (link) {
    case CBI_LINK_FLAG:
    case CBI_LINK_GRANULARITY:
    case CBI_LINK_LAST_VALUE:
    case CBI_LINK_MAX:
    case CBI_LINK_SUM:
    case CBI_LINK_MOVE:
    case CBI_LINK_EXTERNS:
        return true;
    default:
        return false;
    }
}

static inline bool cbi_is_propagated(uint8_t code)
{
    return cbi_is_handed_on(cbi_eiattr_link(code));
}
/* Entry k reaches the function that `from` describes. */
void cbi_propagate_record(const cbi_linker *lk, const cbi_func *k, const cbi_rec *from);
/* A byte in place of the low one of the record's value. */
void cbi_replace_byte(cbi_rec *rec, uint16_t byte);

/* ---- fold.c ---- */
/* What cbi_propagate_record() does for all records and all entries that their functions are reached
 * by, in time linear in the graph.  False, and nothing is done, where the order of all records
 * matters or their number. */
bool cbi_fold_attributes(const cbi_linker *lk);

/* ---- attributes.c ---- */
void cbi_reduce_externs(const cbi_linker *lk, cbi_rec *rec);
/* Ends the stage: what names nothing is not written. */
void cbi_drop_empty_externs(const cbi_linker *lk);
void cbi_sparse_masks(const cbi_linker *lk);
void cbi_propagate_attributes(const cbi_linker *lk);
void cbi_check_reserved(const cbi_linker *lk);

/* ---- old_objects.c ---- */
/* EIATTR_HAS_PRE_V10_OBJECT if an input is of a toolkit before 10.0 or does not say. */
void cbi_mark_old_objects(const cbi_linker *lk, cbi_rec_list *ret_recs);
/* A function without a record of its barriers gets one in place of the flags of its code; then
 * entries take the counts over, also from functions whose flags stay because they have a record. */
void cbi_migrate_barriers(const cbi_linker *lk);
/* Removes the records LOAD_CACHE_REQUEST; entries that want the cache, by a request of their own or
 * of what they reach, get EXPLICIT_CACHING (final links). */
void cbi_apply_cache_preferences(const cbi_linker *lk);

#endif
