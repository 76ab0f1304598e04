/* How much memory a command may need. */
#ifndef CUBIND_LIMITS_H
#define CUBIND_LIMITS_H

#include "base/base.h"
#include "memory_limits.h"

/* Sets the limit of memory_limits.h, or with mebibytes >= 0 another; 0: none. */
void cbi_limit_memory(cbi_ctx *ctx, int32_t mebibytes);

/* What to say after CB_ERR_NOMEM: of the limit, or `otherwise`.  Static until the next call. */
const char *cbi_memory_reason(const cbi_ctx *ctx, const char *otherwise);

#endif
