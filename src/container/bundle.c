/* The entries of a fatbin, from images. */
#include "container/bundle.h"

#include <elf.h>
#include <stdio.h>

#include "base/sink.h"
#include "format/cuda_elf.h"
#include "input/elf.h"
#include "input/recognise.h"

enum {
    E_FLAGS = 48, /* offset in an ELF header */
    LTOIR_SIZE_MIN = 8,
    LTOIR_VERSION = 4, /* offset of two bytes: major, minor */
};

/* ---- what an image says of itself ---- */

uint32_t cbi_image_sm(cbi_span elf)
{
    if (elf.size < E_FLAGS + 4)
        return 0;
    return cbi_file_sm(elf.data[EI_OSABI], cbi_ld32(elf.data + E_FLAGS));
}

/* The target as ptxas or a linker was given it: e_flags say nothing of the suffix. */
static char suffix_of_cubin(cbi_span cubin, uint32_t sm)
{
    cbi_elf elf;
    cbi_span note;
    char option[24];
    if (!cbi_elf_open(cubin, &elf) || !cbi_elf_find(&elf, ".note.nv.tkinfo", &note))
        return 0;
    size_t len = (size_t)snprintf(option, sizeof option, "-arch sm_%u", sm);
    const char *s = memmem(note.data, note.size, option, len);
    const char *end = (const char *)note.data + note.size;
    return s && s + len < end && (s[len] == 'a' || s[len] == 'f') ? s[len] : 0;
}

static void describe_ltoir(cbi_span code, cbi_bundle_image *image)
{
    cbi_ltoir_facts facts;
    if (!cbi_ltoir_read(code, &facts))
        return;
    image->sm = facts.sm;
    image->suffix = facts.suffix;
}

bool cbi_image_describe(cbi_span bytes, cbi_bundle_image *ret_image)
{
    cbi_bundle_image image = {.bytes = bytes};
    switch (cbi_recognise(bytes)) {
    case CBI_CONTENT_CUBIN:
        image.kind = FATBIN_KIND_ELF;
        image.sm = cbi_image_sm(bytes);
        image.suffix = suffix_of_cubin(bytes, image.sm);
        break;
    case CBI_CONTENT_PTX:
        image.kind = FATBIN_KIND_PTX;
        if (!cbi_ptx_target(bytes, &image.sm, &image.suffix))
            return false;
        break;
    case CBI_CONTENT_LTOIR:
        image.kind = FATBIN_KIND_LTOIR;
        describe_ltoir(bytes, &image);
        break;
    default:
        return false;
    }
    *ret_image = image;
    return image.sm > 0;
}

bool cbi_arch_parse_number(const char *text, uint32_t *ret_sm, char *ret_suffix)
{
    uint64_t number = 0;
    const char *s = text;
    while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
        s++;
    s += *s == '+';
    for (; *s >= '0' && *s <= '9' && number <= UINT32_MAX; s++)
        number = number * 10 + (uint64_t)(*s - '0');
    char suffix = *s == 'a' || *s == 'f' ? *s++ : 0;
    if (*s || number > UINT32_MAX)
        return false;
    *ret_sm = (uint32_t)number;
    *ret_suffix = suffix;
    return true;
}

/* ---- entries ---- */

/* What becomes of one image. */
typedef struct entry {
    uint16_t kind;
    uint16_t major;
    uint16_t minor;
    uint32_t sm;
    uint64_t flags;
    cbi_span payload;
    uint64_t size; /* before compression; 0: as stored */
    bool has_options;
    bool copy;        /* the options are a copy of .nv.compat */
    cbi_span options; /* that follow the header */
} entry;

static cbi_span text_span(const char *text)
{
    return text ? (cbi_span){(const uint8_t *)text, strlen(text)} : (cbi_span){NULL, 0};
}

static const char *read_elf(const cbi_bundle *b, const cbi_bundle_image *image, entry *e)
{
    cbi_span bytes = image->bytes;
    cbi_elf elf;
    bool wide = bytes.size > EI_CLASS && bytes.data[EI_CLASS] == ELFCLASS64;
    if (bytes.size <= EI_CLASS || wide == b->options.host32) /* what is no ELF is narrow */
        return "fatbinary elf mismatch: elf size doesn't match user-specified size";
    if (bytes.size < E_FLAGS + 4 || cbi_image_sm(bytes) != image->sm)
        return "fatbinary elf mismatch: elf arch does not match user-specified arch";
    e->major = bytes.data[EI_VERSION];
    e->minor = bytes.data[EI_ABIVERSION];
    if (bytes.data[EI_OSABI] == ELFOSABI_CUDA &&
        (cbi_ld32(bytes.data + E_FLAGS) & EF_CUDA_KIND_CAPMERC)) {
        e->flags |= FATBIN_FLAG_CAPSULE;
        e->copy = e->has_options =
            cbi_elf_open(bytes, &elf) && cbi_elf_find(&elf, ".nv.compat", &e->options);
    }
    e->payload = bytes;
    return NULL;
}

static const char *read_ptx(cbi_ctx *ctx, const cbi_bundle *b, const cbi_bundle_image *image,
                            entry *e)
{
    if (!cbi_ptx_version(image->bytes, &e->major, &e->minor))
        return "could not find ptx version";
    e->has_options = true;
    e->options = text_span(b->options.ptx_options);
    e->payload = cbi_ptx_squeeze(ctx, image->bytes);
    return NULL;
}

static const char *read_ltoir(const cbi_bundle *b, const cbi_bundle_image *image, entry *e)
{
    if (image->bytes.size < LTOIR_SIZE_MIN)
        return "invalid NVVM input";
    e->major = image->bytes.data[LTOIR_VERSION];
    e->minor = image->bytes.data[LTOIR_VERSION + 1];
    e->has_options = true;
    e->options = text_span(b->options.lto_options);
    e->payload = image->bytes;
    return NULL;
}

/* LTO-IR is scrambled by the compiler already and hardly gets smaller; fatbinary unscrambles it
 * first and scrambles the result.  Here it stays as it is, which readers tell by a flag. */
static void pack_payload(cbi_ctx *ctx, const cbi_bundle *b, entry *e)
{
    cbi_span packed;
    if (b->options.pack == CBI_PACK_NONE || (e->kind == FATBIN_KIND_ELF && !b->options.pack_elf) ||
        !cbi_compress(ctx, b->options.pack, e->payload, &packed) || packed.size > UINT32_MAX ||
        (e->kind == FATBIN_KIND_LTOIR && packed.size >= e->payload.size))
        return;
    e->flags |= b->options.pack == CBI_PACK_SPEED ? FATBIN_FLAG_LZ4 : FATBIN_FLAG_ZSTD;
    e->size = e->payload.size;
    e->payload = packed;
}

/* Appends bytes and zeros up to a multiple of 8 in the output; with `end` at least one zero. */
static void append_padded(cbi_ctx *ctx, cbi_buf *out, cbi_span bytes, bool end)
{
    cbi_buf_append(ctx, out, bytes.data ? bytes.data : (const uint8_t *)"", bytes.size);
    size_t padded = (size_t)cbi_align_up(out->len + end, 8);
    cbi_buf_append(ctx, out, NULL, padded - out->len);
}

/* The identifier and the options, which stand between header and payload. */
static cbi_span make_extension(cbi_ctx *ctx, const cbi_bundle *b, const entry *e, uint8_t *header)
{
    cbi_buf ext = {0};
    cbi_span ident = text_span(b->options.ident);
    if (ident.size) {
        cbi_st32(header + FATBIN_ENTRY_IDENT, FATBIN_ENTRY_SIZE);
        cbi_st32(header + FATBIN_ENTRY_IDENT + 4, (uint32_t)ident.size);
        append_padded(ctx, &ext, ident, true);
    }
    if (e->has_options) {
        uint32_t at = FATBIN_ENTRY_SIZE + (uint32_t)ext.len;
        cbi_st32(header + FATBIN_ENTRY_OPTIONS, at);
        cbi_buf_u32(ctx, &ext, at + 8);
        cbi_buf_u32(ctx, &ext, (uint32_t)e->options.size);
        /* the NUL of a text is behind it, that of a copy before it */
        if (e->copy)
            cbi_buf_append(ctx, &ext, NULL, 1);
        append_padded(ctx, &ext, e->options, !e->copy);
    }
    return (cbi_span){ext.items, ext.len};
}

static void append_entry(cbi_ctx *ctx, cbi_bundle *b, const entry *e)
{
    static const uint8_t zeros[8];
    uint8_t *header = cbi_alloc(ctx, FATBIN_ENTRY_SIZE);
    cbi_span ext = make_extension(ctx, b, e, header);
    uint64_t stored = cbi_align_up(e->payload.size, 8);
    cbi_st16(header + FATBIN_ENTRY_KIND, e->kind);
    cbi_st16(header + FATBIN_ENTRY_MARK, FATBIN_MARK);
    cbi_st32(header + FATBIN_ENTRY_HEADER_SIZE, FATBIN_ENTRY_SIZE + (uint32_t)ext.size);
    cbi_st64(header + FATBIN_ENTRY_PAYLOAD_SIZE, stored);
    if (e->size)
        cbi_st32(header + FATBIN_ENTRY_COMPRESSED_SIZE, (uint32_t)e->payload.size);
    cbi_st16(header + FATBIN_ENTRY_VERSION, e->minor);
    cbi_st16(header + FATBIN_ENTRY_VERSION + 2, e->major);
    cbi_st32(header + FATBIN_ENTRY_SM, e->sm);
    cbi_st64(header + FATBIN_ENTRY_FLAGS, e->flags);
    cbi_st64(header + FATBIN_ENTRY_UNCOMPRESSED_SIZE, e->size);
    cbi_sink sink = cbi_sink_rope(ctx, &b->entries);
    cbi_sink_write(&sink, header, FATBIN_ENTRY_SIZE);
    cbi_sink_write(&sink, ext.data, ext.size);
    cbi_sink_write(&sink, e->payload.data, e->payload.size);
    cbi_sink_write(&sink, zeros, (size_t)stored - e->payload.size);
}

const char *cbi_bundle_add(cbi_ctx *ctx, cbi_bundle *b, const cbi_bundle_image *image)
{
    entry e = {.kind = image->kind, .sm = image->sm};
    e.flags = b->options.host ? b->options.host : FATBIN_FLAG_HOST_LINUX;
    e.flags |= b->options.host32 ? 0 : FATBIN_FLAG_64BIT;
    e.flags |= b->options.debug ? FATBIN_FLAG_DEBUG : 0;
    if (image->suffix)
        e.flags |= image->suffix == 'a' ? FATBIN_FLAG_SUFFIX_A : FATBIN_FLAG_SUFFIX_F;
    if (image->bytes.size == 0)
        return "empty input";
    const char *wrong = image->kind == FATBIN_KIND_ELF   ? read_elf(b, image, &e)
                        : image->kind == FATBIN_KIND_PTX ? read_ptx(ctx, b, image, &e)
                                                         : read_ltoir(b, image, &e);
    if (wrong)
        return wrong;
    pack_payload(ctx, b, &e);
    append_entry(ctx, b, &e);
    return NULL;
}

cbi_rope cbi_bundle_finish(cbi_ctx *ctx, const cbi_bundle *b)
{
    uint8_t *header = cbi_alloc(ctx, FATBIN_HEADER_SIZE);
    cbi_st32(header, FATBIN_MAGIC);
    cbi_st16(header + 4, FATBIN_VERSION);
    cbi_st16(header + 6, FATBIN_HEADER_SIZE);
    cbi_st64(header + 8, b->entries.size);
    cbi_rope whole = {0};
    cbi_sink sink = cbi_sink_rope(ctx, &whole);
    cbi_sink_write(&sink, header, FATBIN_HEADER_SIZE);
    for (size_t i = 0; i < b->entries.parts.len; i++)
        cbi_sink_write(&sink, b->entries.parts.items[i].data, b->entries.parts.items[i].size);
    return whole;
}
