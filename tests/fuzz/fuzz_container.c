/* Containers, written: any bytes as a file to prune, and as an image to put into a fatbin. */
#include "fuzz.h"

#include "container/bundle.h"
#include "container/prune.h"

static cb_status prune(cbi_ctx *ctx, void *arg)
{
    const cbi_span *bytes = arg;
    cbi_prune_target targets[] = {{.kind = CBI_SLICE_CUBIN, .sm = 90},
                                  {.kind = CBI_SLICE_PTX, .sm = 90}};
    cbi_prune p = {.targets = targets,
                   .target_count = CBI_COUNT(targets),
                   .no_relocatable_elf = bytes->size & 1};
    cbi_rope result = cbi_prune_file(ctx, &p, "input", *bytes);
    for (size_t i = 0; i < p.holes.len; i++)
        if (!cbi_fits(p.holes.items[i].offset, p.holes.items[i].size, result.size))
            abort();
    return CB_OK;
}

static cb_status bundle(cbi_ctx *ctx, void *arg)
{
    const cbi_span *bytes = arg;
    const cbi_embedding how = {.no_asm = bytes->size & 1};
    cbi_bundle_image image = {.bytes = *bytes};
    cbi_bundle b = {.options = {.pack = (cbi_pack)(bytes->size % 4), .pack_elf = true}};
    if (!cbi_image_describe(*bytes, &image))
        image.kind = bytes->size & 2 ? FATBIN_KIND_PTX : FATBIN_KIND_LTOIR;
    cbi_bundle_add(ctx, &b, &image);
    cbi_rope fatbin = cbi_bundle_finish(ctx, &b);
    cbi_embed_fatbin(ctx, &fatbin, &how);
    return CB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(prune, data, size);
    fuzz_run(bundle, data, size);
    return 0;
}
