/* Failures that nvlink notices only later than their cause: noted where the cause is known,
 * reported where nvlink stops. */
#ifndef CBI_LINK_FAILURES_H
#define CBI_LINK_FAILURES_H

#include "base/base.h"

struct cbi_linker;
struct cbi_lrel;

/* Where the link ends because of it. */
typedef enum cbi_failure_phase {
    CBI_FAILS_AT_RECORDS, /* when --preserve-relocs looks up the symbols of what it records */
    CBI_FAILS_AT_TABLES, /* when the symbol table is written, or a relocation names the symbol first
                          */
} cbi_failure_phase;

typedef struct cbi_failure {
    cbi_failure_phase phase;
    const struct cbi_lrel *rel; /* the entry that names what is gone, or NULL */
    const char *help;           /* the cause and what to do, or NULL */
} cbi_failure;

typedef CBI_VEC(cbi_failure) cbi_failure_list;

/* Notes a failure.  The help is kept, not copied. */
void cbi_defer(const struct cbi_linker *lk, cbi_failure_phase phase, const struct cbi_lrel *rel,
               const char *help);

/* The latest one of a phase, whose cause is told; NULL if there is none. */
const cbi_failure *cbi_deferred(const struct cbi_linker *lk, cbi_failure_phase phase);

#endif
