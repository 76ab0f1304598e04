/* How much memory a command may need. */
#ifndef CUBIND_LIMITS_H
#define CUBIND_LIMITS_H

#include "base/base.h"

/* Without --memory-limit: this much, and that many times the bytes of what is read.  Links need
 * three to ten times their inputs, decompressed fatbins up to thirty. */
enum { CBI_MEMORY_MEBIBYTES = 1024, CBI_MEMORY_MULTIPLE = 64 };

/* Sets that limit, or with mebibytes >= 0 another; 0: none. */
void cbi_limit_memory(cbi_ctx *ctx, int32_t mebibytes);

/* What to say after CB_ERR_NOMEM: of the limit, or `otherwise`.  Static until the next call. */
const char *cbi_memory_reason(const cbi_ctx *ctx, const char *otherwise);

#endif
