/* A link of one object or two that tells all that a link can. */
#ifndef CBI_FUZZ_TOLD_H
#define CBI_FUZZ_TOLD_H

#include "input/input.h"
#include "link/link.h"
#include "mercury/mercury.h"

#include "fuzz.h"

/* Asked for by name. */
static const char *const fuzz_names[] = {"k", "f", "main_kernel", "g", "printf", "a::b", "_Z1kv"};

/* What fuzz_split() gave, as inputs. */
static inline void fuzz_add_both(cbi_ctx *ctx, const cbi_input_options *how, cbi_span first,
                                 cbi_span second, cbi_inputs_result *ret_inputs)
{
    cbi_inputs *in = cbi_inputs_create(ctx, how);
    cbi_inputs_add_memory(in, "first", first);
    if (second.size)
        cbi_inputs_add_memory(in, "second", second);
    cbi_inputs_finish(in, ret_inputs);
}

/* Which of them are linked how is the caller's; every line goes to `line`. */
static inline cbi_link_options fuzz_telling(const cbi_input_options *how,
                                            const cbi_inputs_result *inputs, uint64_t choice,
                                            void (*line)(void *user, const char *text), void *user)
{
    return (cbi_link_options){
        .arch = how->arch,
        .exact = how->exact,
        .allow_undefined_globals = choice & 8,
        .force_rela = choice & 16,
        .verbose = true,
        .dump_callgraph = true,
        .host = inputs->host,
        .tool_name = "nvlink",
        .tool_version = "",
        .tool_build = "",
        .object_name = "",
        .command_line = "",
        .output_name = "out",
        .print = line,
        .print_user = user,
        .trace = line,
        .trace_user = user,
        .trace_run = true,
        .dot = true,
        .map = true,
        .traced = fuzz_names,
        .why_live = fuzz_names,
        .view = &cbi_mercury_operations,
    };
}

#endif
