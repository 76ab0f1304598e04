/* Compression of the images in a fatbin. */
#include <lz4.h>
#include <zstd.h>

#include "container/bundle.h"

/* With zstd 1.5 these levels give what fatbinary writes, or nearly so. */
enum { LEVEL_BALANCE = 5, LEVEL_SIZE = 22 };

static size_t compress_zstd(cbi_ctx *ctx, int level, cbi_span bytes, uint8_t *out, size_t room)
{
    size_t size = ZSTD_compress(out, room, bytes.data, bytes.size, level);
    if (ZSTD_isError(size)) /* there is room, so it is memory */
        cbi_fail(ctx, CB_ERR_NOMEM);
    return size;
}

bool cbi_compress(cbi_ctx *ctx, cbi_pack pack, cbi_span bytes, cbi_span *ret_packed)
{
    if (pack == CBI_PACK_SPEED) {
        if (bytes.size > LZ4_MAX_INPUT_SIZE)
            return false;
        int room = LZ4_compressBound((int)bytes.size);
        char *out = cbi_alloc(ctx, (size_t)room);
        int size = LZ4_compress_default((const char *)bytes.data, out, (int)bytes.size, room);
        *ret_packed = (cbi_span){(uint8_t *)out, (size_t)size};
        return true;
    }
    size_t room = ZSTD_compressBound(bytes.size);
    uint8_t *out = cbi_alloc(ctx, room);
    int level = pack == CBI_PACK_SIZE ? LEVEL_SIZE : LEVEL_BALANCE;
    *ret_packed = (cbi_span){out, compress_zstd(ctx, level, bytes, out, room)};
    return true;
}
