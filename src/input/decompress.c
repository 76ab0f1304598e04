/* Payloads of fatbin entries: stored, one LZ4 block, or one zstd frame. */
#include "input/fatbin.h"

#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

/* A size from a header is only trusted as far as the payload could possibly expand: an LZ4 block
 * yields at most 255 bytes per byte, a zstd frame one block of 128 KiB per 4 bytes. */
#define LZ4_EXPANSION  255u
#define ZSTD_EXPANSION (128u * 1024 / 4)
#define EXPANSION_BASE 65536u
#define IMAGE_SIZE_MAX ((uint64_t)INT32_MAX)

static bool is_possible(const cbi_fatbin_entry *entry)
{
    uint64_t per_byte = entry->compression == CBI_LZ4 ? LZ4_EXPANSION : ZSTD_EXPANSION;
    uint64_t most = (uint64_t)entry->payload.size * per_byte + EXPANSION_BASE;
    return entry->size && entry->size <= most && entry->size <= IMAGE_SIZE_MAX;
}

static uint8_t *room(cbi_ctx *ctx, cbi_scratch *scratch, size_t size)
{
    if (!scratch)
        return cbi_alloc(ctx, size);
    if (scratch->size < size) {
        /* Doubling keeps what the arena holds for all images within a small multiple of the
         * largest. */
        size_t want = scratch->size * 2 > size ? scratch->size * 2 : size;
        scratch->data = cbi_alloc(ctx, want);
        scratch->size = want;
    }
    return scratch->data;
}

void cbi_free_decompressor(void *decompressor)
{
    ZSTD_freeDCtx(decompressor);
}

/* One for all images: a new one for each would cost more than most images. */
static ZSTD_DCtx *zstd_of(cbi_ctx *ctx)
{
    if (!ctx->decompressor) {
        ctx->decompressor = ZSTD_createDCtx();
        ctx->free_decompressor = cbi_free_decompressor;
    }
    if (!ctx->decompressor)
        cbi_fail(ctx, CB_ERR_NOMEM);
    return ctx->decompressor;
}

const char *cbi_load_text(cbi_load load)
{
    switch (load) {
    case CBI_LOAD_OK:
        break;
    case CBI_LOAD_UNKNOWN:
        return "it is compressed in an unknown way";
    case CBI_LOAD_OBFUSCATED:
        return "it is obfuscated LTO-IR";
    case CBI_LOAD_SIZE:
        return "its uncompressed size cannot be right";
    case CBI_LOAD_DATA:
        return "its compressed data is damaged";
    }
    return "";
}

cbi_load cbi_fatbin_load(cbi_ctx *ctx, const cbi_fatbin_entry *entry, cbi_scratch *scratch,
                         cbi_span *ret_image)
{
    const cbi_span payload = entry->payload;
    if (entry->compression == CBI_STORED) {
        *ret_image = payload;
        return CBI_LOAD_OK;
    }
    if (entry->compression == CBI_COMPRESSION_UNKNOWN)
        return CBI_LOAD_UNKNOWN;
    if (entry->flags & FATBIN_FLAG_OBFUSCATED)
        return CBI_LOAD_OBFUSCATED;
    if (!is_possible(entry))
        return entry->size || !payload.size ? CBI_LOAD_SIZE : CBI_LOAD_DATA;
    size_t size = (size_t)entry->size;
    if (entry->compression == CBI_ZSTD) {
        /* Before memory is taken for it, the frame itself must promise as many bytes. */
        unsigned long long promised = ZSTD_getFrameContentSize(payload.data, payload.size);
        if (promised == ZSTD_CONTENTSIZE_ERROR || (promised > size && promised < UINT64_MAX - 1))
            return CBI_LOAD_DATA;
        if (promised != size)
            return CBI_LOAD_SIZE;
    } else if (payload.size > LZ4_MAX_INPUT_SIZE) {
        return CBI_LOAD_DATA;
    }
    uint8_t *data = room(ctx, scratch, size);
    if (entry->compression == CBI_LZ4) {
        if (LZ4_decompress_safe((const char *)payload.data, (char *)data, (int)payload.size,
                                (int)size) != (int)size)
            return CBI_LOAD_DATA;
    } else {
        size_t done = ZSTD_decompressDCtx(zstd_of(ctx), data, size, payload.data, payload.size);
        if (ZSTD_isError(done) && ZSTD_getErrorCode(done) == ZSTD_error_memory_allocation)
            cbi_fail(ctx, CB_ERR_NOMEM);
        if (done != size)
            return CBI_LOAD_DATA;
    }
    *ret_image = (cbi_span){data, size};
    return CBI_LOAD_OK;
}
