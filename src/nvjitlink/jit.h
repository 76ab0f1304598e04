/* A stand-in for nvJitLink: the same calls, statuses and options, on top of the public interface.
 * Everything about it: docs/jit.md. */
#ifndef CBI_JIT_H
#define CBI_JIT_H

#include "base/base.h"
#include "cubind/nvJitLink.h"
#include "format/arch.h"
#include "input/input.h"

/* ---- options ---- */

typedef struct cbi_jit_options {
    const cbi_arch *arch;
    bool virtual_arch;
    bool lto, ptx, relocatable, debug, lineinfo, verbose, time, no_cache;
    cbi_strings ptxas; /* what the assembler gets of them */
    cbi_strings kernels;
    cbi_strings variables;
    cbi_strings all; /* as given */
} cbi_jit_options;

/* Reads the options, in order, up to the first that is wrong.  *ret_why is the line for the log
 * then, or NULL. */
nvJitLinkResult cbi_jit_read_options(cbi_ctx *ctx, uint32_t count, const char *const *options,
                                     cbi_jit_options *ret_options, const char **ret_why);

/* ---- inputs ---- */

/* May content of that kind be given as `type`?  Otherwise the status, and the line for the log. */
nvJitLinkResult cbi_jit_check_kind(cbi_ctx *ctx, nvJitLinkInputType type, cbi_span bytes,
                                   const char *name, const char **ret_why);

/* ---- logs ---- */

/* Text that grows outside of any context. */
typedef struct cbi_jit_log {
    char *text; /* with a NUL, or NULL while empty */
    size_t len;
} cbi_jit_log;

/* What does not fit into memory is left out. */
void cbi_jit_say(cbi_jit_log *log, const char *format, ...) CBI_PRINTF(2, 3);

#endif
