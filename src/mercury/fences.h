/* Fences of code that ptxas -ewp finished. */
#ifndef CBI_MERCURY_FENCES_H
#define CBI_MERCURY_FENCES_H

#include "capsule/capsule.h"

/* How many instructions come back in front of each: dummy loads, and a fence that another one
 * follows.  False if none do.  target: where branches go; loads_stayed: a final link leaves the
 * loads of this function. */
bool cbi_fences_find(cbi_span capsule, const uint8_t *text, uint32_t total, const bool *target,
                     bool loads_stayed, uint8_t *ret_ahead);

/* Writes so many of them, for the fence behind. */
void cbi_fences_put(uint8_t *out, const uint8_t *fence, uint8_t parts);

#endif
