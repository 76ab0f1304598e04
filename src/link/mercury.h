/* What the link core asks of src/mercury/ on sm_100 and later.
 *
 * The core links the Mercury view of each object: one symbol table, one attribute stream and one
 * relocation list per section, in Mercury terms.  What the SASS side needs is kept beside it and
 * written by cbi_mercury_emit().
 */
#ifndef CBI_LINK_MERCURY_H
#define CBI_LINK_MERCURY_H

#include "link/state.h"

typedef struct cbi_mercury_view cbi_mercury_view;

/* Replaces obj->object by its Mercury view and sets obj->mercury.  Fatal when the object claims
 * Mercury and lacks what belongs to it. */
void cbi_mercury_view_make(cbi_linker *lk, cbi_lobj *obj);

/* Takes the Mercury side out of an object: all are linked as SASS because one of them has no other.
 * lifted: nvlink had read it as Mercury before it met that one. */
void cbi_mercury_drop(cbi_linker *lk, cbi_lobj *obj, bool lifted);

/* Fills the sass_* members of a relocation just read: entry i of view section `section`. */
const cbi_sass_reloc *cbi_mercury_pair(const cbi_mercury_view *view, uint32_t section, size_t i);

/* Is the relocated place inside its target? */
bool cbi_mercury_in_range(const cbi_lrel *rel);

/* Applies a resolved relocation: `value` is the symbol's, without addend.  Text is patched through
 * the SASS partner, everything else in place. */
void cbi_mercury_patch(cbi_linker *lk, const cbi_lrel *rel, uint64_t value, uint32_t bank);

/* The place of a variable in reserved shared memory: written into SASS, open in Mercury code. */
void cbi_mercury_patch_reserved(cbi_linker *lk, const cbi_lrel *rel);

/* Where the largest parameter bank in the link ends. */
uint64_t cbi_mercury_banks_end(const cbi_linker *lk);

/* Refuses functions of another chip that the target cannot run unchanged. */
void cbi_mercury_check_portable(cbi_linker *lk);

/* Whether an image can become one of the target, and from what that follows, as a line of text. */
const char *cbi_mercury_eligibility(cbi_ctx *ctx, const cbi_arch_facts *facts, uint32_t source,
                                    uint64_t mask, const cbi_arch *target, bool accepted);
/* The same of an input, if such a trace was asked for. */
void cbi_mercury_trace_admission(const cbi_linker *lk, const cbi_lobj *obj,
                                 const cbi_arch_facts *facts, bool accepted);

/* Writes the final file. */
void cbi_mercury_emit(cbi_linker *lk, cbi_sink *sink);

#endif
