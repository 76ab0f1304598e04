/* Stage 1, inputs: read them, and refuse what does not fit the target. */
#ifndef CBI_LINK_INPUTS_H
#define CBI_LINK_INPUTS_H

#include "link/state.h"

/* ---- admit.c: read the inputs and refuse what does not fit the target ---- */
bool cbi_link_has_plain(const cbi_link_input *inputs, size_t count);
/* Begins the stage: the first inputs are admitted, and others are read ahead where there are
 * threads. */
const cbi_inputs *cbi_link_admit(const cbi_linker *lk, const cbi_link_input *inputs, size_t count,
                                 struct cbi_admission **ret_work);
/* The next object, in order; NULL: that was the last.  What is refused is told as if all inputs
 * were admitted before anything else: they are as soon as anybody reports something. */
cbi_lobj *cbi_link_next_object(const cbi_linker *lk);

/* ---- runtime.c ---- */
/* False for libcudadevrt when no function is missing so far; then nothing else may follow. */
bool cbi_link_takes_part(const cbi_linker *lk, const cbi_lobj *obj);

#endif
