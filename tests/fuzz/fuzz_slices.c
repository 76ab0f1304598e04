/* The list of the images of any container, and the opening of each. */
#include "fuzz.h"

#include "tools/images.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MAX_IMAGES = 1000 };
    const cb_inspect_options options = {.struct_size = sizeof options,
                                        .memory_limit = FUZZ_MEMORY_LIMIT};
    cb_container *container;
    if (cb_container_open_memory(&options, "input", data, size, &container) != CB_OK)
        return 0;
    volatile size_t sum = 0;
    for (size_t i = 0; i < cb_container_count(container) && i < MAX_IMAGES; i++) {
        cbi_store store = {0};
        const cb_image_info *info = cb_container_info(container, i);
        sum += strlen(info->arch) + strlen(cbi_image_file_name(&store, info, i, "input"));
        cb_image *image;
        if (cb_image_open(container, i, &image) == CB_OK) {
            const void *bytes;
            size_t count;
            cb_image_bytes(image, &bytes, &count);
            for (size_t k = 0; k < count; k++)
                sum += ((const uint8_t *)bytes)[k];
            cb_image_close(image);
        }
        cbi_store_free(&store);
    }
    (void)sum;
    cb_container_close(container);
    return 0;
}
