/* Link-time optimization around the compiler: what nvlink hands it and does with its result
 * (docs/lto.md). */
#include "lto/lto.h"

#include <time.h>

#include "api/identity.h"
#include "link_run.h"

enum { DEFAULT_SECONDS = 3600, DEFAULT_MEBIBYTES = 32768 };

/* The part of a link that is made by the compiler. */
typedef struct lto_link {
    cbi_link_run *run;
    cbi_inputs *collector;
    cbi_inputs_result *inputs;
    cbi_lto_options options;
    const cbi_ptx_options *ptx;
} lto_link;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static unsigned number_or(const cbi_command_line *line, cbi_opt option, unsigned otherwise)
{
    int32_t given = line->values[option].number;
    return cbi_given(line, option) && given >= 0 ? (unsigned)given : otherwise;
}

/* What counts as used from outside: by the options, else by what the host code says. */
static void set_used(lto_link *l)
{
    cbi_lto_options *o = &l->options;
    const cbi_command_line *line = &l->run->line;
    const cbi_opt_value *kernels = &line->values[OPT_KERNELS_USED];
    const cbi_opt_value *variables = &line->values[OPT_VARIABLES_USED];
    const cbi_inputs_result *inputs = l->inputs;
    if (kernels->list.len || variables->list.len) {
        o->kernels = kernels->list.items;
        o->kernel_count = kernels->list.len;
        o->variables = variables->list.items;
        o->variable_count = variables->list.len;
        o->prune = kernels->list.len != 0;
    } else if (inputs->host.active) {
        o->kernels = inputs->host.external_kernels;
        o->kernel_count = inputs->host.external_kernel_count;
        o->more_kernels = inputs->host.internal_kernels;
        o->more_kernel_count = inputs->host.internal_kernel_count;
        o->variables = inputs->host_variables;
        o->variable_count = inputs->host_variable_count;
        o->prune = true;
    }
}

static void set_options(lto_link *l)
{
    const cbi_command_line *line = &l->run->line;
    const char *fast = cbi_text(line, OPT_OFAST_COMPILE);
    bool debug = cbi_is_on(line, OPT_DEBUG) && !cbi_is_on(line, OPT_SUPPRESS_DEBUG_INFO);
    l->options = (cbi_lto_options){
        .arch = cbi_input_arch(l->run),
        .nvjitlink = cbi_text(line, OPT_NVJITLINK),
        .nvvmpath = cbi_text(line, OPT_NVVMPATH),
        .limits = {number_or(line, OPT_LTO_TIME_LIMIT, DEFAULT_SECONDS),
                   number_or(line, OPT_LTO_MEMORY_LIMIT, DEFAULT_MEBIBYTES)},
        .debug = debug,
        .ptx = l->ptx,
        .fast_compile = fast && strcmp(fast, "0") != 0 ? fast : NULL,
        .has_split_extended = cbi_given(line, OPT_SPLIT_COMPILE_EXTENDED),
        .split_extended = line->values[OPT_SPLIT_COMPILE_EXTENDED].number,
        .whole_only = cbi_given(line, OPT_FORCE_WHOLE_LTO),
        .nvvm_options = line->values[OPT_XNVVM].list.items,
        .nvvm_option_count = line->values[OPT_XNVVM].list.len,
    };
    set_used(l);
}

/* Compiles, with a row for -time. */
static bool compile(lto_link *l, cbi_lto_form form, cbi_span *ret_output)
{
    double start = now_ms();
    bool whole = cbi_lto_compile(l->run->ctx, &l->options, form, l->inputs->lto,
                                 l->inputs->lto_count, ret_output);
    const cbi_ptx_run row = {.source = "lto.nvvm",
                             .phase = "cicc",
                             .input = "",
                             .output = form == CBI_LTO_PART_PTX ? "lto.ptx" : "lto.cubin",
                             .milliseconds = now_ms() - start};
    if (whole)
        cbi_write_time_row(l->run, &row);
    return whole;
}

static void write_result(lto_link *l, cbi_opt option, cbi_span bytes)
{
    const char *path = cbi_result_path(l->run, option);
    if (path)
        cbi_check_written(l->run, path, cbi_write_output(path, bytes.data, bytes.size));
}

static void write_output(lto_link *l, cbi_span bytes)
{
    write_result(l, OPT_OUTPUT_FILE, bytes);
}

/* A program without kernels is no whole program, unless the options left none. */
static bool is_program(const lto_link *l, cbi_span cubin)
{
    return l->options.prune || cbi_given(&l->run->line, OPT_FORCE_WHOLE_LTO) ||
           cbi_lto_has_kernel(cubin);
}

/* -emit-ptx.  False if the program is not whole. */
static bool emit_whole(lto_link *l)
{
    cbi_span ptx;
    compile(l, CBI_LTO_WHOLE_PTX, &ptx);
    if (!l->options.whole_only && !cbi_lto_is_closed(l->run->ctx, ptx))
        return false;
    write_output(l, ptx);
    return true;
}

/* The compiler's result is the output.  False if it cannot be. */
static bool link_whole(lto_link *l)
{
    static const uint8_t no_calls[] = "digraph callgraph {\n}\n";
    cbi_link_run *run = l->run;
    cbi_span cubin;
    if (!compile(l, CBI_LTO_WHOLE, &cubin) || !is_program(l, cubin))
        return false;
    uint8_t *bytes = cbi_memdup(run->ctx, cubin.data, cubin.size);
    cbi_lto_settle_record(bytes, cubin.size, CBI_NVLINK_BUILD);
    write_output(l, (cbi_span){bytes, cubin.size});
    write_result(l, OPT_DOT_FILE, (cbi_span){no_calls, sizeof no_calls - 1});
    /* nvlink takes the last module for libcudadevrt, which nvcc puts there, and drops it. */
    if (run->messages.plain && !l->inputs->ends_with_runtime)
        cbi_fatal(run->ctx, "lto-runtime", NULL, NULL, "expected libcudadevrt object");
    return true;
}

static bool assemble_part(lto_link *l, cbi_span *ret_cubin)
{
    cbi_span ptx;
    compile(l, CBI_LTO_PART_PTX, &ptx);
    double start = now_ms();
    if (!cbi_inputs_assemble_lto(l->collector, ptx, l->options.fast_compile, ret_cubin))
        return false;
    const cbi_ptx_run row = {.source = "lto.ptx",
                             .phase = "ptxas",
                             .input = "",
                             .output = "lto.cubin",
                             .milliseconds = now_ms() - start};
    cbi_write_time_row(l->run, &row);
    return true;
}

/* The compiler's result is one of the inputs. */
static bool link_part(lto_link *l)
{
    cbi_link_run *run = l->run;
    cbi_ctx *ctx = run->ctx;
    cbi_inputs_result *inputs = l->inputs;
    cbi_span cubin;
    if (cbi_given(&run->line, OPT_EMIT_PTX)) {
        compile(l, CBI_LTO_PART_PTX, &cubin);
        write_output(l, cubin);
        return true;
    }
    /* nvlink assembles the PTX, which can be had, but for the places in the source. */
    if (cbi_inputs_have_lines(l->collector))
        compile(l, CBI_LTO_PART, &cubin);
    else if (!assemble_part(l, &cubin))
        return true;
    cbi_link_input *all = CBI_NEW_ARRAY(ctx, inputs->input_count + 1, cbi_link_input);
    for (size_t i = 0; i <= inputs->input_count; i++)
        all[i] = i == inputs->lto_at ? (cbi_link_input){.file = "lto.cubin", .bytes = cubin}
                                     : inputs->inputs[i > inputs->lto_at ? i - 1 : i];
    inputs->inputs = all;
    inputs->input_count++;
    return false;
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

bool cbi_link_lto(cbi_link_run *run, cbi_inputs *collector, const cbi_ptx_options *ptx,
                  cbi_inputs_result *inputs)
{
    const cbi_command_line *line = &run->line;
    lto_link l = {.run = run, .collector = collector, .inputs = inputs, .ptx = ptx};
    set_options(&l);
    bool whole = inputs->lto_alone && !cbi_is_on(line, OPT_RELOCATABLE_LINK) &&
                 !cbi_given(line, OPT_FORCE_PARTIAL_LTO);
    bool emit_ptx = cbi_given(line, OPT_EMIT_PTX);
    if (whole && (emit_ptx ? emit_whole(&l) : link_whole(&l))) {
        report_unknown(run);
        return true;
    }
    return link_part(&l);
}
