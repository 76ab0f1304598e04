/* What the compiler has answered before, kept in the cache. */
#include "base/cache.h"
#include "lto/lto.h"
#include "lto/worker.h"

/* A library that the loader finds by its name alone is not known before it is loaded. */
static bool is_known(const cbi_strings *names)
{
    return names->len == 0 || strchr(names->items[0], '/');
}

static void add_strings(cbi_ctx *ctx, cbi_buf *key, const cbi_strings *strings)
{
    uint8_t count[8];
    cbi_st64(count, strings->len);
    cbi_cache_add_bytes(ctx, key, count, sizeof count);
    for (size_t i = 0; i < strings->len; i++)
        cbi_cache_add_bytes(ctx, key, strings->items[i], strlen(strings->items[i]));
}

static cbi_span key_of(cbi_ctx *ctx, const cbi_lto_job *job)
{
    static const char kind[] = "nvJitLink";
    const uint8_t switches[3] = {job->wants_ptx, job->goes_on, job->module_first};
    cbi_buf key = {0};
    cbi_cache_add_bytes(ctx, &key, kind, sizeof kind);
    if (job->libraries.len)
        cbi_cache_add_file(ctx, &key, job->libraries.items[0]);
    if (job->module && job->compilers.len)
        cbi_cache_add_file(ctx, &key, job->compilers.items[0]);
    add_strings(ctx, &key, &job->options);
    cbi_cache_add_bytes(ctx, &key, switches, sizeof switches);
    cbi_cache_add_bytes(ctx, &key, job->module, job->module ? strlen(job->module) : 0);
    cbi_cache_add_bytes(ctx, &key, job->empty_ptx, job->empty_ptx ? strlen(job->empty_ptx) : 0);
    for (size_t i = 0; i < job->input_count; i++) {
        const cbi_lto_piece *in = &job->inputs[i];
        uint8_t type[4];
        cbi_st32(type, (uint32_t)in->type);
        cbi_cache_add_bytes(ctx, &key, type, sizeof type);
        cbi_cache_add_bytes(ctx, &key, in->name, strlen(in->name));
        cbi_cache_add_bytes(ctx, &key, in->bytes.data, in->bytes.size);
    }
    return (cbi_span){key.items, key.len};
}

cbi_child_result cbi_lto_run(cbi_ctx *ctx, const cbi_lto_options *options, cbi_lto_job *job)
{
    cbi_cache cache = cbi_cache_open(ctx, options->ptx ? options->ptx->cache : NULL);
    if (!is_known(&job->libraries) || !is_known(&job->compilers))
        cache.folder = NULL;
    const cbi_span key = cache.folder ? key_of(ctx, job) : (cbi_span){NULL, 0};
    cbi_child_result result = {.end = CBI_CHILD_DONE};
    if (cbi_cache_get(ctx, &cache, key, &result.said))
        return result;
    result = cbi_child_run(ctx, cbi_lto_worker, job, &options->limits);
    cbi_lto_reply reply;
    if (result.end == CBI_CHILD_DONE && cbi_lto_read_reply(result.said, &reply) &&
        reply.stage == CBI_LTO_FINISHED && reply.status == 0)
        cbi_cache_put(ctx, &cache, key, result.said);
    return result;
}
