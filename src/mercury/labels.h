/* Return addresses of another function of the same name: where they point in this one, and what
 * becomes of the instructions that they stand at. */
#ifndef CBI_MERCURY_LABELS_H
#define CBI_MERCURY_LABELS_H

#include "mercury/mercury.h"

/* The addend in SASS of entry k of `list`, a return address. */
int64_t cbi_label_addend(const cbi_section *list, size_t k, const cbi_mercury_places *places,
                         const uint8_t *text);

/* By instruction. */
typedef struct cbi_labels {
    bool *starts;    /* a block starts there because of one */
    uint32_t *leads; /* one more than where a branch goes that has one now, or 0 */
} cbi_labels;

/* Does to the function's code what its return addresses, which are another one's, do, but to its
 * branches.  NULL: there are none. */
cbi_labels *cbi_labels_apply(const cbi_linker *lk, const cbi_func *func);
/* The same for code that has moved. */
cbi_labels *cbi_labels_move(const cbi_linker *lk, const cbi_func *func, const cbi_labels *labels);
/* The branches, once scoreboards are assigned. */
void cbi_labels_clear_branches(const cbi_linker *lk, const cbi_func *func,
                               const cbi_labels *labels);

#endif
