/* Diff: of two objects, or of one with itself, which must be no difference. */
#include "fuzz.h"

#include "cubind/inspect.h"

static cb_image *open_image(cbi_span bytes)
{
    const cb_inspect_options options = {.struct_size = sizeof options,
                                        .memory_limit = FUZZ_MEMORY_LIMIT};
    cb_image *image = NULL;
    cb_image_open_memory(&options, "input", bytes.data, bytes.size, &image);
    return image;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cbi_span first, second;
    fuzz_split((cbi_span){data, size}, &first, &second);
    cb_image *a = open_image(first), *b = second.size ? open_image(second) : NULL;
    cb_diff *diff = NULL;
    if (a && cb_diff_create(a, b ? b : a, size % 2, &diff) == CB_OK) {
        if (!second.size && cb_diff_count(diff))
            abort();
        volatile size_t sum = 0;
        for (size_t i = 0; i < cb_diff_count(diff); i++)
            sum += strlen(cb_diff_get(diff, i)->part);
        (void)sum;
    }
    cb_diff_free(diff);
    cb_image_close(a);
    cb_image_close(b);
    return 0;
}
