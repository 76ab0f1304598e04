#include "input/fatbin.h"

bool cbi_is_fatbin(cbi_span bytes)
{
    return bytes.size >= 4 && cbi_ld32(bytes.data) == FATBIN_MAGIC;
}

bool cbi_fatbin_open(cbi_span bytes, cbi_fatbin *ret_fatbin)
{
    cbi_fatbin fatbin = {.bytes = bytes};
    cbi_reader r = cbi_reader_at(bytes, 0);
    uint32_t magic = cbi_read32(&r);
    uint16_t version = cbi_read16(&r);
    fatbin.entries = cbi_read16(&r);
    uint64_t size = cbi_read64(&r);
    if (r.bad)
        fatbin.damage = "the header is cut off";
    else if (magic != FATBIN_MAGIC)
        fatbin.damage = "it has no fatbin magic";
    else if (version != FATBIN_VERSION)
        fatbin.damage = "its version is not 1";
    else if (fatbin.entries < FATBIN_HEADER_SIZE)
        fatbin.damage = "its header size is too small";
    else if (!cbi_add(fatbin.entries, size, &fatbin.end))
        fatbin.damage = "its size is out of range";
    fatbin.pos = fatbin.entries;
    *ret_fatbin = fatbin;
    return !fatbin.damage;
}

uint64_t cbi_fatbin_size(const cbi_fatbin *fatbin)
{
    return fatbin->end < fatbin->bytes.size ? fatbin->end : fatbin->bytes.size;
}

cbi_span cbi_fatbin_single(cbi_ctx *ctx, const cbi_fatbin *fatbin, const cbi_fatbin_entry *entry)
{
    const uint8_t *e = fatbin->bytes.data + entry->offset;
    uint64_t size =
        cbi_ld32(e + FATBIN_ENTRY_HEADER_SIZE) + cbi_ld64(e + FATBIN_ENTRY_PAYLOAD_SIZE);
    cbi_buf out = {0};
    cbi_buf_u32(ctx, &out, FATBIN_MAGIC);
    cbi_buf_u32(ctx, &out, FATBIN_VERSION | FATBIN_HEADER_SIZE << 16);
    cbi_buf_u32(ctx, &out, (uint32_t)size);
    cbi_buf_u32(ctx, &out, (uint32_t)(size >> 32));
    cbi_buf_append(ctx, &out, e, (size_t)size);
    return (cbi_span){out.items, out.len};
}

static cbi_compression compression_of(uint64_t flags)
{
    if (flags & FATBIN_FLAG_LZ4)
        return CBI_LZ4;
    if (flags & FATBIN_FLAG_ZSTD)
        return CBI_ZSTD;
    /* Flags of compressions that no known tool writes. */
    return flags & 0x5000 ? CBI_COMPRESSION_UNKNOWN : CBI_STORED;
}

static const char *read_entry(const cbi_fatbin *fatbin, cbi_fatbin_entry *entry, uint64_t *ret_next)
{
    cbi_span e;
    if (!cbi_subspan(fatbin->bytes, fatbin->pos, FATBIN_ENTRY_SIZE, &e))
        return "an entry is cut off";
    entry->offset = fatbin->pos;
    entry->kind = cbi_ld16(e.data + FATBIN_ENTRY_KIND);
    entry->minor = cbi_ld16(e.data + FATBIN_ENTRY_VERSION);
    entry->major = cbi_ld16(e.data + FATBIN_ENTRY_VERSION + 2);
    entry->sm = cbi_ld32(e.data + FATBIN_ENTRY_SM);
    entry->flags = cbi_ld64(e.data + FATBIN_ENTRY_FLAGS);
    entry->key = cbi_ld64(e.data + FATBIN_ENTRY_KEY);
    entry->suffix = entry->flags & FATBIN_FLAG_SUFFIX_A   ? 'a'
                    : entry->flags & FATBIN_FLAG_SUFFIX_F ? 'f'
                                                          : 0;
    uint64_t header = cbi_ld32(e.data + FATBIN_ENTRY_HEADER_SIZE);
    uint64_t stored = cbi_ld64(e.data + FATBIN_ENTRY_PAYLOAD_SIZE);
    uint64_t compressed = cbi_ld32(e.data + FATBIN_ENTRY_COMPRESSED_SIZE);
    uint64_t payload_at = fatbin->pos + header;
    if (header < FATBIN_ENTRY_SIZE)
        return "an entry's header size is too small";
    cbi_span header_bytes;
    if (!cbi_subspan(fatbin->bytes, fatbin->pos, header, &header_bytes))
        return "an entry is cut off";
    if (!cbi_subspan(fatbin->bytes, payload_at, stored, &entry->payload)) {
        if (!fatbin->takes_cut)
            return "an entry is cut off";
        stored = fatbin->bytes.size - payload_at;
        entry->payload = (cbi_span){fatbin->bytes.data + payload_at, (size_t)stored};
        if (compressed > stored)
            compressed = stored;
        *ret_next = fatbin->end;
        entry->cut = true;
    } else {
        *ret_next = payload_at + stored;
    }

    entry->size = stored;
    entry->compression = compression_of(entry->flags);
    if (entry->compression != CBI_STORED) {
        if (compressed > stored)
            return "an entry's compressed size is larger than its payload";
        entry->payload.size = (size_t)compressed;
        entry->size = cbi_ld64(e.data + FATBIN_ENTRY_UNCOMPRESSED_SIZE);
    }

    uint32_t ident_at = cbi_ld32(e.data + FATBIN_ENTRY_IDENT);
    uint32_t ident_len = cbi_ld32(e.data + FATBIN_ENTRY_IDENT + 4);
    if (ident_at && !cbi_subspan(header_bytes, ident_at, ident_len, &entry->ident))
        return "an entry's identifier is outside of its header";
    uint32_t block_at = cbi_ld32(e.data + FATBIN_ENTRY_OPTIONS);
    if (block_at) {
        cbi_reader r = cbi_reader_at(header_bytes, block_at);
        uint32_t text_at = cbi_read32(&r);
        uint32_t text_len = cbi_read32(&r);
        if (r.bad || !cbi_subspan(header_bytes, text_at, text_len, &entry->options))
            return "an entry's option block is outside of its header";
        entry->has_options = true;
    }
    return NULL;
}

bool cbi_fatbin_next(cbi_fatbin *fatbin, cbi_fatbin_entry *ret_entry)
{
    if (fatbin->damage || fatbin->pos >= fatbin->end)
        return false;
    cbi_fatbin_entry entry = {0};
    uint64_t next = 0;
    fatbin->damage = read_entry(fatbin, &entry, &next);
    if (fatbin->damage)
        return false;
    fatbin->pos = next;
    *ret_entry = entry;
    return true;
}
