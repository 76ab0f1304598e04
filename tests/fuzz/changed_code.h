/* Code that no compiler wrote, and what the models of code find in it. */
#ifndef CBI_CHANGED_CODE_H
#define CBI_CHANGED_CODE_H

#include "base/base.h"

/* The code of that number, with scoreboards as the rules give them; ret_digest takes in all that
 * the model of scoreboards found on the way. */
cbi_span changed_random_code(cbi_ctx *ctx, uint64_t number, uint64_t *ret_digest);

#endif
