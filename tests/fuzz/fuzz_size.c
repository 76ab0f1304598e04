/* Where the bytes of an image are, in all tables and formats, beside those of the same image. */
#include "fuzz.h"

#include "tools/size.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cb_inspect_options options = {.struct_size = sizeof options,
                                        .memory_limit = FUZZ_MEMORY_LIMIT};
    cb_image *image;
    if (cb_image_open_memory(&options, "input", data, size, &image) != CB_OK)
        return 0;
    cbi_sizes sizes = {0}, before = {0};
    cbi_sizes_of_image(&before, image);
    cbi_sizes_of_image(&sizes, image);
    cbi_sizes_merge(&sizes, &before);
    cbi_size_show show = {.tables = (1u << CBI_SIZE_TABLES) - 1,
                          .format = (cbi_size_format)(size % 3),
                          .top = size / 3 % 3,
                          .bars = size & 1};
    cbi_out out = {0};
    cbi_sizes_print(&sizes, &show, &out);
    cbi_sizes_print_diff(&before, &sizes, &show, &out);
    cbi_out_free(&out);
    cbi_sizes_free(&sizes);
    cbi_sizes_free(&before);
    cb_image_close(image);
    return 0;
}
