/* The containers: archives, host objects, fatbins, compressed payloads. */
#include "fuzz.h"

#include "input/input.h"

static cb_status collect(cbi_ctx *ctx, void *arg)
{
    const cbi_span *bytes = arg;
    const cbi_input_options options = {
        .arch = cbi_arch_find("sm_90"),
        .arch_text = "sm_90",
        .register_names = true,
        .exact = bytes->size % 2,
        .host_machine = cbi_host_machine("X86_64"),
    };
    cbi_inputs *in = cbi_inputs_create(ctx, &options);
    cbi_inputs_add_memory(in, "input", *bytes);
    cbi_inputs_result result;
    cbi_inputs_finish(in, &result);
    volatile size_t sum = 0;
    for (size_t i = 0; i < result.input_count; i++)
        for (size_t k = 0; k < result.inputs[i].bytes.size; k++)
            sum += result.inputs[i].bytes.data[k];
    (void)sum;
    return CB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(collect, data, size);
    return 0;
}
