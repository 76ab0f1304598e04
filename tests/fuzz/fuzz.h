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

/* Nor must an output be larger than this and 64 times its inputs. */
#define FUZZ_OUTPUT_FLOOR ((size_t)64 << 20)

/* Two inputs in one: "2LNK", the size of the first as a word, the first, the second.  Anything else
 * is the first alone. */
static inline void fuzz_split(cbi_span both, cbi_span *ret_first, cbi_span *ret_second)
{
    *ret_first = both;
    *ret_second = (cbi_span){NULL, 0};
    if (both.size < 8 || memcmp(both.data, "2LNK", 4) != 0)
        return;
    size_t rest = both.size - 8, part = cbi_ld32(both.data + 4);
    if (part > rest)
        part = rest;
    *ret_first = (cbi_span){both.data + 8, part};
    *ret_second = (cbi_span){both.data + 8 + part, rest - part};
}

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
