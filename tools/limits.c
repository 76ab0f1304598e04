#include "limits.h"

#include <stdio.h>

#define MEBIBYTE ((size_t)1 << 20)

void cbi_limit_memory(cbi_ctx *ctx, int32_t mebibytes)
{
    bool given = mebibytes >= 0;
    ctx->memory_limit = MEBIBYTE * (size_t)(given ? mebibytes : CBI_MEMORY_MEBIBYTES);
    ctx->memory_multiple = given ? 0 : CBI_MEMORY_MULTIPLE;
}

const char *cbi_memory_reason(const cbi_ctx *ctx, const char *otherwise)
{
    static char text[128];
    if (!ctx->over_limit)
        return otherwise;
    snprintf(text, sizeof text,
             "More than %zu MiB of memory are needed; --memory-limit gives another limit",
             ctx->memory_limit / MEBIBYTE);
    return text;
}
