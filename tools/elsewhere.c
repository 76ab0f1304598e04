/* Which image for another target defines a symbol that is missing. */
#include "input/slices.h"
#include "link_run.h"
#include "object/object.h"

typedef struct search {
    cbi_link_run *run;
    cbi_ctx *ctx; /* of the images at hand */
    cbi_scratch scratch;
} search;

/* Remembers what one image defines. */
static void add_definitions(search *s, const cbi_slice *slice, cbi_span image)
{
    cbi_ctx *keep = s->run->ctx;
    cbi_object object;
    cbi_findings findings = {0};
    if (cbi_object_read(s->ctx, slice->file, image, &object, &findings) != CBI_OBJECT_OK)
        return;
    char *text = NULL;
    for (uint32_t i = 1; i < object.symbol_count; i++) {
        const cbi_symbol *symbol = &object.symbols[i];
        if (symbol->shndx == SHN_UNDEF || CBI_ST_BIND(symbol->info) == STB_LOCAL ||
            CBI_ST_TYPE(symbol->info) == STT_SECTION)
            continue;
        uint64_t key = CBI_KEY(cbi_intern(keep, symbol->name));
        if (cbi_map_get(s->run->elsewhere, key))
            continue;
        if (!text)
            text = cbi_printf(keep, "defined in %s, but only for %s", slice->file,
                              cbi_slice_arch(s->ctx, slice));
        cbi_map_put(keep, s->run->elsewhere, key, text);
    }
}

static bool on_slice(const cbi_slice *slice, void *user)
{
    search *s = user;
    cbi_span image;
    if (slice->kind == CBI_SLICE_CUBIN &&
        strcmp(cbi_slice_arch(s->ctx, slice), s->run->target) != 0 &&
        cbi_slice_load(s->ctx, slice, &s->scratch, &image) == CBI_LOAD_OK)
        add_definitions(s, slice, image);
    return true;
}

static void search_file(void *user, const char *path, cbi_span bytes)
{
    search *s = user;
    cbi_each_slice(s->ctx, path, bytes, on_slice, s);
}

static cb_status search_files(cbi_ctx *ctx, void *user)
{
    search *s = user;
    s->ctx = ctx;
    cbi_each_mapping(s->run->ctx, search_file, s);
    return CB_OK;
}

const char *cbi_find_elsewhere(void *user, const char *symbol)
{
    cbi_link_run *run = user;
    if (!run->elsewhere) {
        run->elsewhere = CBI_NEW(run->ctx, cbi_map);
        /* what is damaged was reported already, or is no input of this link */
        cbi_ctx scratch;
        cbi_ctx_init(&scratch);
        search s = {.run = run};
        cbi_run(&scratch, search_files, &s);
        cbi_ctx_fini(&scratch);
    }
    return cbi_map_get(run->elsewhere, CBI_KEY(cbi_intern(run->ctx, symbol)));
}
