/* Diff: of two objects, or of one with itself, which must be no difference. */
#include "fuzz.h"

#include "inspect/diff.h"

static cb_status diff(cbi_ctx *ctx, void *arg)
{
    const cbi_span *bytes = arg;
    cbi_span first, second;
    fuzz_split(*bytes, &first, &second);
    cbi_object a, b;
    if (cbi_object_read(ctx, "first", first, &a, NULL) != CBI_OBJECT_OK)
        return CB_OK;
    const cbi_diff_options options = {.semantic = bytes->size % 2};
    if (!second.size) {
        if (cbi_diff(ctx, &a, &a, &options, cbi_node_array(ctx)))
            abort();
    } else if (cbi_object_read(ctx, "second", second, &b, NULL) == CBI_OBJECT_OK) {
        cbi_node *list = cbi_node_array(ctx);
        cbi_buf text = {0};
        cbi_diff(ctx, &a, &b, &options, list);
        cbi_node_json(ctx, &text, list, 0);
    }
    return CB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(diff, data, size);
    return 0;
}
