/* What becomes of a relocation: decided here, carried out in relocate.c. */
#ifndef CBI_RELOC_DECISION_H
#define CBI_RELOC_DECISION_H

#include "format/reloc.h"
#include "link/state.h"

typedef enum cbi_reloc_outcome {
    CBI_OUTCOME_DROP,      /* the field stays as it is */
    CBI_OUTCOME_CLEAR,     /* the field becomes 0 */
    CBI_OUTCOME_PATCH,     /* the field gets the value */
    CBI_OUTCOME_KEEP,      /* the entry is the driver's, or a later link's */
    CBI_OUTCOME_BLANK,     /* kept as an entry of type 0 without a symbol */
    CBI_OUTCOME_INSTANCE,  /* kept, against the function's own dynamic shared memory */
    CBI_OUTCOME_DELETED,   /* an error: the symbol will be in no table */
    CBI_OUTCOME_ELSEWHERE, /* an error: a branch cannot leave its section */
    /* found before it is asked what follows from type and symbol */
    CBI_OUTCOME_UNKNOWN, /* the type is none that is known */
    CBI_OUTCOME_UNIFIED, /* against a unified table that no input defines */
} cbi_reloc_outcome;

/* Changes nothing.  The type is known, and the symbol of the entry is no alias, and its type is
 * none of unified tables in a final link. */
cbi_reloc_outcome cbi_reloc_decide(const cbi_linker *lk, const cbi_reloc_type *type,
                                   const cbi_lrel *r);

/* Does only the driver, or a later link, know the symbol's place? */
bool cbi_keeps_symbol(const cbi_linker *lk, const cbi_lsym *sym);

/* Is the entry about a definition whose place another one has taken? */
bool cbi_reloc_is_outdated(const cbi_linker *lk, const cbi_lrel *r);
/* Is it about something that is in the output? */
static inline bool cbi_reloc_counts(const cbi_linker *lk, const cbi_lrel *r)
{
    return !cbi_is_dead(lk, r->target) &&
           !(lk->symbols->met.copies && cbi_reloc_is_outdated(lk, r));
}
/* Does it patch the code of a copy that was replaced later? */
bool cbi_reloc_in_replaced_code(const cbi_lrel *r);
/* nvlink leaves pointers in constant memory empty that it read before a global definition replaced
 * the weak variable. */
bool cbi_reloc_is_forgotten(const cbi_linker *lk, const cbi_lrel *r);

#endif
