/* Dump: every part, as text and as JSON, of sound and of damaged objects. */
#include "fuzz.h"

#include "tools/dump.h"

static const char *demangle(void *user, const char *text)
{
    return cb_image_demangle(user, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cb_inspect_options options = {.struct_size = sizeof options,
                                        .memory_limit = FUZZ_MEMORY_LIMIT};
    cb_image *image;
    if (cb_image_open_memory(&options, "input", data, size, &image) != CB_OK)
        return 0;
    cbi_store store = {0};
    cbi_out out = {0};
    cbi_node *document = cbi_node_object(&store);
    cbi_dump(&store, image, CBI_DUMP_ALL | CBI_DUMP_CAPSULE | CBI_DUMP_KERNELS | CBI_DUMP_LINES,
             document);
    for (size_t i = 1; i < cb_image_section_count(image); i++) {
        if (i < 8)
            cbi_dump_section(&store, image, cb_image_section(image, i)->name, document);
        for (unsigned depth = 0; depth < 4; depth++)
            cb_image_frame(image, (uint32_t)i, 16 * i, depth);
        cb_image_function_at(image, (uint32_t)i, 16 * i);
    }
    cbi_node_each_string(document, demangle, image);
    cbi_node_text(&out, document, 0);
    cbi_node_json(&out, document, 0);
    cbi_out_free(&out);
    cbi_store_free(&store);
    cb_image_close(image);
    return 0;
}
