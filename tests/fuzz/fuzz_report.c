/* A link with all that it can tell: map, graph, call graph, who defines and uses a symbol, what
 * keeps it, resource usage, the finalizer's trace.  One or two inputs of any kind; the size chooses
 * how nvlink-like, and what is asked for. */
#include "fuzz_told.h"

static void take(void *user, const char *text)
{
    *(size_t *)user += strlen(text);
}

static const char *elsewhere(void *user, const char *symbol)
{
    (void)user;
    return symbol[0] ? "elsewhere" : NULL;
}

/* The target of the first object that has one. */
static const cbi_arch *target_of(const cbi_span *input)
{
    uint32_t sm = 90;
    if (input->size >= sizeof(Elf64_Ehdr))
        sm = EF_CUDA_SM(cbi_ld32(input->data + offsetof(Elf64_Ehdr, e_flags)));
    for (size_t i = 0; i < cbi_arch_count; i++)
        if (cbi_archs[i].sm == sm)
            return &cbi_archs[i];
    return cbi_arch_find("sm_90");
}

static cb_status report(cbi_ctx *ctx, void *arg)
{
    const cbi_span *bytes = arg;
    cbi_span first, second;
    fuzz_split(*bytes, &first, &second);
    size_t choice = bytes->size, sum = 0;
    const cbi_input_options how = {
        .arch = target_of(&first),
        .arch_text = target_of(&first)->name,
        .exact = choice & 1,
        .register_names = true,
        .host_machine = cbi_host_machine("X86_64"),
    };
    cbi_inputs_result inputs;
    fuzz_add_both(ctx, &how, first, second, &inputs);
    cbi_link_options options = fuzz_telling(&how, &inputs, choice, take, &sum);
    options.relocatable = choice & 2;
    options.debug = choice & 4;
    options.extra_warnings = true;
    options.trace_eligibility = true;
    options.traced_count = options.why_live_count = CBI_COUNT(fuzz_names);
    options.required_kernels = fuzz_names;
    options.required_kernel_count = choice / 32 % 2;
    options.find_elsewhere = elsewhere;
    cbi_link_result result = {0};
    return cbi_link(ctx, &options, inputs.inputs, inputs.input_count, &result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(report, data, size);
    return 0;
}
