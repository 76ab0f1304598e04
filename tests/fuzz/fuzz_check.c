/* Check: every ABI rule, on objects whose structure is sound. */
#include "fuzz.h"

#include "inspect/check.h"

static cb_status check(cbi_ctx *ctx, void *arg)
{
    const cbi_span *bytes = arg;
    cbi_object o;
    cbi_findings findings = {0};
    if (cbi_object_read(ctx, "input", *bytes, &o, &findings) != CBI_OBJECT_OK)
        return CB_OK;
    cbi_check(ctx, &o, &findings);
    volatile size_t sum = 0;
    for (size_t i = 0; i < findings.len; i++)
        sum += strlen(findings.items[i].message) + strlen(findings.items[i].rule);
    (void)sum;
    return CB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(check, data, size);
    return 0;
}
