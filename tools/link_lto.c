/* Link-time optimization on the command line. */
#include "lto/lto.h"

#include "api/identity.h"
#include "link_run.h"

static unsigned number_or(const cbi_command_line *line, cbi_opt option, unsigned otherwise)
{
    int32_t given = line->values[option].number;
    return cbi_given(line, option) && given >= 0 ? (unsigned)given : otherwise;
}

static cbi_lto_options lto_options(const cbi_link_run *run, const cbi_ptx_options *ptx)
{
    const cbi_command_line *line = &run->line;
    const char *fast = cbi_text(line, OPT_OFAST_COMPILE);
    cbi_words nvvm = cbi_split_blanks(run->ctx, &line->values[OPT_XNVVM].list);
    return (cbi_lto_options){
        .arch = cbi_input_arch(run),
        .nvjitlink = cbi_text(line, OPT_NVJITLINK),
        .nvvmpath = cbi_text(line, OPT_NVVMPATH),
        .limits = {number_or(line, OPT_LTO_TIME_LIMIT, CBI_LTO_SECONDS),
                   number_or(line, OPT_LTO_MEMORY_LIMIT, CBI_LTO_MEBIBYTES)},
        .ptx = ptx,
        .fast_compile = fast && strcmp(fast, "0") != 0 ? fast : NULL,
        .has_split_extended = cbi_given(line, OPT_SPLIT_COMPILE_EXTENDED),
        .split_extended = line->values[OPT_SPLIT_COMPILE_EXTENDED].number,
        .whole_only = cbi_given(line, OPT_FORCE_WHOLE_LTO),
        .nvvm_options = nvvm.items,
        .nvvm_option_count = nvvm.len,
    };
}

static void write_result(cbi_link_run *run, cbi_opt option, cbi_span bytes)
{
    cbi_add_result_bytes(run, option, bytes.data, bytes.size);
}

/* What only a linker knows is not known of a program that the compiler linked. */
static void report_unknown(const cbi_link_run *run)
{
    static const cbi_opt options[] = {OPT_MAP, OPT_TRACE_SYMBOL, OPT_WHY_LIVE, OPT_REQUIRE_KERNEL};
    for (size_t i = 0; i < CBI_COUNT(options); i++)
        if (cbi_given(&run->line, options[i]))
            cbi_warning(run->ctx, "lto-unknown", NULL, "-force-partial-lto lets cubind link it",
                        "option '--%s' has no effect: the compiler links the whole program",
                        cbi_options[options[i]].long_name);
}

static void write_time_row(void *user, const cbi_ptx_run *row)
{
    cbi_write_time_row(user, row);
}

bool cbi_link_lto(cbi_link_run *run, cbi_inputs *collector, const cbi_ptx_options *ptx,
                  cbi_inputs_result *inputs)
{
    static const uint8_t no_calls[] = "digraph callgraph {\n}\n";
    const cbi_command_line *line = &run->line;
    const cbi_opt_value *kernels = &line->values[OPT_KERNELS_USED];
    const cbi_opt_value *variables = &line->values[OPT_VARIABLES_USED];
    cbi_lto_options options = lto_options(run, ptx);
    const cbi_lto_request request = {
        .part = cbi_is_on(line, OPT_RELOCATABLE_LINK) || cbi_given(line, OPT_FORCE_PARTIAL_LTO),
        .emit_ptx = cbi_given(line, OPT_EMIT_PTX),
        .assembler_build = CBI_NVLINK_BUILD,
        .on_run = write_time_row,
        .user = run,
    };
    cbi_lto_set_used(&options, inputs, kernels->list.items, kernels->list.len,
                     variables->list.items, variables->list.len);
    cbi_span output;
    cbi_lto_outcome outcome =
        cbi_lto_link(run->ctx, &options, &request, collector, inputs, &output);
    if (outcome == CBI_LTO_ADDED)
        return false;
    write_result(run, OPT_OUTPUT_FILE, output);
    if (outcome == CBI_LTO_PTX)
        return true;
    write_result(run, OPT_DOT_FILE, (cbi_span){no_calls, sizeof no_calls - 1});
    /* nvlink takes the last module for libcudadevrt, which nvcc puts there, and drops it. */
    if (run->messages.plain && !inputs->ends_with_runtime)
        cbi_fatal(run->ctx, "lto-runtime", NULL, NULL, "expected libcudadevrt object");
    report_unknown(run);
    return true;
}
