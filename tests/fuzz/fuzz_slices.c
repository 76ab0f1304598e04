/* The walk over all images of any container, and the loading of each. */
#include "fuzz.h"

#include "input/slices.h"
#include "inspect/extract.h"

typedef struct walk {
    cbi_ctx *ctx;
    cbi_scratch scratch;
    size_t count;
    size_t sum;
} walk;

static bool visit(const cbi_slice *slice, void *user)
{
    walk *w = user;
    cbi_span image = {NULL, 0};
    cbi_slice_load(w->ctx, slice, &w->scratch, &image);
    for (size_t i = 0; i < image.size; i++)
        w->sum += image.data[i];
    w->sum += strlen(cbi_slice_arch(w->ctx, slice));
    w->sum += strlen(cbi_extract_name(w->ctx, slice, w->count));
    cbi_extract_row(w->ctx, slice, w->count);
    return ++w->count < 1000;
}

static cb_status walk_all(cbi_ctx *ctx, void *arg)
{
    const cbi_span *bytes = arg;
    walk w = {.ctx = ctx};
    cbi_each_slice(ctx, "input", *bytes, visit, &w);
    return CB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(walk_all, data, size);
    return 0;
}
