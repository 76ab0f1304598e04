/* What the fuzz targets share.  Each target is one file with one LLVMFuzzerTestOneInput; built for
 * libFuzzer or AFL++, or with replay.c as a program that runs stored inputs. */
#ifndef CBI_FUZZ_H
#define CBI_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An input must not need much more memory than it has bytes; beyond this a link gives up in order.
 */
#define FUZZ_MEMORY_LIMIT ((size_t)1 << 30)

/* Runs one job in a context of its own. */
static inline void fuzz_run(cbi_job_fn job, const uint8_t *data, size_t size)
{
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.memory_limit = FUZZ_MEMORY_LIMIT;
    cbi_span span = {data, size};
    cbi_run(&ctx, job, &span);
    cbi_ctx_fini(&ctx);
}

#endif
