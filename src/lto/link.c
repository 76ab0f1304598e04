/* What nvlink does with LTO-IR among its inputs (docs/lto.md). */
#include "base/clock.h"
#include "lto/lto.h"

typedef struct lto_link {
    cbi_ctx *ctx;
    const cbi_lto_options *options;
    const cbi_lto_request *request;
    cbi_inputs *collector;
    cbi_inputs_result *inputs;
} lto_link;

static void tell(const lto_link *l, cbi_ptx_run run, double start)
{
    run.input = "";
    run.milliseconds = cbi_now_ms() - start;
    if (l->request->on_run)
        l->request->on_run(l->request->user, &run);
}

static bool compile(const lto_link *l, cbi_lto_form form, cbi_span *ret_output)
{
    double start = cbi_now_ms();
    if (!cbi_lto_compile(l->ctx, l->options, form, l->inputs->lto, l->inputs->lto_count,
                         ret_output))
        return false;
    bool ptx = form == CBI_LTO_WHOLE_PTX || form == CBI_LTO_PART_PTX;
    tell(l,
         (cbi_ptx_run){
             .source = "lto.nvvm", .phase = "cicc", .output = ptx ? "lto.ptx" : "lto.cubin"},
         start);
    return true;
}

/* False if the program is not whole. */
static bool emit_whole(const lto_link *l, cbi_span *ret_output)
{
    return compile(l, CBI_LTO_WHOLE_PTX, ret_output) &&
           (l->options->whole_only || cbi_lto_is_closed(l->ctx, *ret_output));
}

/* A program without kernels is no whole program.  There may be none left only. */
static bool has_kernels(const lto_link *l, cbi_span cubin)
{
    if (l->options->whole_only || cbi_lto_has_kernel(cubin))
        return true;
    if (!l->options->prune)
        return false;
    const cbi_lto_options all = cbi_lto_without_pruning(l->options);
    return cbi_lto_compile(l->ctx, &all, CBI_LTO_WHOLE, l->inputs->lto, l->inputs->lto_count,
                           &cubin) &&
           cbi_lto_has_kernel(cubin);
}

/* False if the program is not whole. */
static bool link_whole(const lto_link *l, cbi_span *ret_output)
{
    cbi_span cubin;
    if (!compile(l, CBI_LTO_WHOLE, &cubin) || !has_kernels(l, cubin))
        return false;
    uint8_t *bytes = cbi_memdup(l->ctx, cubin.data, cubin.size);
    cbi_lto_settle_record(bytes, cubin.size, l->request->assembler_build);
    *ret_output = (cbi_span){bytes, cubin.size};
    return true;
}

/* False if `in_full` was asked for and cannot be had. */
static bool compile_part(const lto_link *l, bool in_full, cbi_span *ret_ptx)
{
    compile(l, CBI_LTO_PART_PTX, ret_ptx);
    return !in_full || cbi_lto_full_text(l->ctx, l->options, l->inputs->lto, l->inputs->lto_count,
                                         *ret_ptx, ret_ptx);
}

static bool assemble_part(const lto_link *l, cbi_span ptx, cbi_span *ret_cubin)
{
    double start = cbi_now_ms();
    if (!cbi_inputs_assemble_lto(l->collector, ptx, l->options->fast_compile, ret_cubin))
        return false;
    tell(l, (cbi_ptx_run){.source = "lto.ptx", .phase = "ptxas", .output = "lto.cubin"}, start);
    return true;
}

static void add_part(const lto_link *l, cbi_span cubin)
{
    cbi_inputs_result *inputs = l->inputs;
    cbi_link_input *all = CBI_NEW_ARRAY(l->ctx, inputs->input_count + 1, cbi_link_input);
    for (size_t i = 0; i <= inputs->input_count; i++)
        all[i] = i == inputs->lto_at ? (cbi_link_input){.file = "lto.cubin", .bytes = cubin}
                                     : inputs->inputs[i > inputs->lto_at ? i - 1 : i];
    inputs->inputs = all;
    inputs->input_count++;
}

static void link_part(const lto_link *l)
{
    cbi_span ptx, cubin;
    /* The text is in the cubin of a debug link, and the places in the source in the text. */
    bool lines = cbi_inputs_have_lines(l->collector);
    bool full = compile_part(l, lines || l->options->ptx->debug, &ptx);
    if (lines && !full)
        compile(l, CBI_LTO_PART, &cubin);
    else if (!assemble_part(l, ptx, &cubin))
        return;
    add_part(l, cubin);
}

void cbi_lto_set_used(cbi_lto_options *options, const cbi_inputs_result *inputs,
                      const char *const *kernels, size_t kernel_count, const char *const *variables,
                      size_t variable_count)
{
    cbi_lto_options *o = options;
    if (kernel_count || variable_count) {
        o->kernels = kernels;
        o->kernel_count = kernel_count;
        o->variables = variables;
        o->variable_count = variable_count;
        o->prune = kernel_count != 0;
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

cbi_lto_options cbi_lto_without_pruning(const cbi_lto_options *options)
{
    cbi_lto_options all = *options;
    all.prune = false;
    all.kernel_count = all.more_kernel_count = all.variable_count = 0;
    return all;
}

cbi_lto_outcome cbi_lto_link(cbi_ctx *ctx, const cbi_lto_options *options,
                             const cbi_lto_request *request, cbi_inputs *collector,
                             cbi_inputs_result *inputs, cbi_span *ret_output)
{
    const lto_link l = {ctx, options, request, collector, inputs};
    bool whole = inputs->lto_alone && !request->part;
    if (request->emit_ptx) {
        if (!whole || !emit_whole(&l, ret_output))
            compile_part(&l, true, ret_output);
        return CBI_LTO_PTX;
    }
    if (whole && link_whole(&l, ret_output))
        return CBI_LTO_LINKED;
    link_part(&l);
    return CBI_LTO_ADDED;
}
