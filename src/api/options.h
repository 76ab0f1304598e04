/* The options of a link as the public interface takes them. */
#ifndef CBI_API_OPTIONS_H
#define CBI_API_OPTIONS_H

#include "input/input.h"

/* Reads a caller's structure of any version: a shorter one lacks members, a longer one is fine as
 * long as what this library does not know is zero.  CB_ERR_USAGE if it makes no sense. */
cb_status cbi_api_take_options(const cb_link_options *from, cb_link_options *ret_options);

/* A context with the caller's allocator, limit and callback. */
cbi_ctx cbi_api_context(const cb_link_options *options);
/* All of that but the allocator. */
void cbi_api_set_context(cbi_ctx *ctx, const cb_link_options *options);

/* A cbi_job_fn: copies what the options, `arg`, point to, and sets defaults of the tool's names. */
cb_status cbi_api_copy_options(cbi_ctx *ctx, void *arg);

/* The parts of them for the stages.  What assemblers print is reported to the context. */
cbi_ptx_options cbi_api_ptx_options(cbi_ctx *ctx, const cb_link_options *options);
cbi_input_options cbi_api_input_options(cbi_ctx *ctx, const cb_link_options *options,
                                        const cbi_arch *arch);

/* The string in the context's memory; NULL stays NULL. */
const char *cbi_api_copy_string(cbi_ctx *ctx, const char *s);

#endif
