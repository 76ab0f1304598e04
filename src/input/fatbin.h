/* Fatbins: a header, then entries that each hold one device image. */
#ifndef CBI_FATBIN_H
#define CBI_FATBIN_H

#include "base/base.h"
#include "format/arch.h"
#include "format/fatbin.h"

typedef enum cbi_compression {
    CBI_STORED,
    CBI_LZ4,
    CBI_ZSTD,
    CBI_COMPRESSION_UNKNOWN
} cbi_compression;

typedef struct cbi_fatbin {
    cbi_span bytes;   /* from the header to the end of the container's bytes */
    uint64_t entries; /* offset of the first entry */
    uint64_t end;     /* entries start before this offset */
    uint64_t pos;     /* of the next entry */
    const char *damage;
    bool takes_cut; /* an entry whose payload is cut off is given with what there is of it */
} cbi_fatbin;

typedef struct cbi_fatbin_entry {
    uint64_t offset; /* in the fatbin */
    uint16_t kind;   /* FATBIN_KIND_* */
    uint16_t major;  /* version of the payload's format */
    uint16_t minor;
    uint32_t sm;
    char suffix; /* 'a', 'f' or 0 */
    uint64_t flags;
    uint64_t key;     /* of obfuscated entries */
    cbi_span payload; /* as stored; without padding if compressed */
    cbi_compression compression;
    bool cut;         /* the payload is not all there */
    uint64_t size;    /* of the image once decompressed */
    cbi_span options; /* contents of the option block */
    bool has_options;
    cbi_span ident;
} cbi_fatbin_entry;

bool cbi_is_fatbin(cbi_span bytes);

/* Reads the header.  False, with damage set, if it cannot be used. */
bool cbi_fatbin_open(cbi_span bytes, cbi_fatbin *ret_fatbin);

/* The next entry.  False at the end, and with damage set at an entry that cannot be read. */
bool cbi_fatbin_next(cbi_fatbin *fatbin, cbi_fatbin_entry *ret_entry);

/* Size of the whole fatbin by its header, at most bytes.size. */
uint64_t cbi_fatbin_size(const cbi_fatbin *fatbin);

/* Is this an ELF image? */
static inline bool cbi_fatbin_is_elf(const cbi_fatbin_entry *entry)
{
    return entry->kind == FATBIN_KIND_ELF || entry->kind == FATBIN_KIND_CAPSULE;
}

/* A fatbin of its own with that entry alone, in new memory. */
cbi_span cbi_fatbin_single(cbi_ctx *ctx, const cbi_fatbin *fatbin, const cbi_fatbin_entry *entry);

/* What an entry is chosen for. */
typedef struct cbi_choice {
    const cbi_arch *target;
    bool ptx_only;   /* a virtual target: machine code does not count */
    bool prefer_lto; /* LTO-IR before everything else; otherwise after it */
} cbi_choice;

/* Chooses the entry that nvlink uses for the target.  False if none fits.  A damaged entry ends
 * the search; fatbin->damage then says so. */
bool cbi_fatbin_choose(cbi_fatbin *fatbin, const cbi_choice *choice, cbi_fatbin_entry *ret_entry);

/* Where decompressed bytes go; grows and is used again.  Zero-initialise. */
typedef struct cbi_scratch {
    uint8_t *data;
    size_t size;
} cbi_scratch;

typedef enum cbi_load {
    CBI_LOAD_OK,
    CBI_LOAD_UNKNOWN,    /* compressed in a way that is not known */
    CBI_LOAD_OBFUSCATED, /* LTO-IR that its maker hides */
    CBI_LOAD_SIZE,       /* the size in the entry is not the size of the image */
    CBI_LOAD_DATA        /* the compressed data is damaged */
} cbi_load;

/* The image of an entry: the payload itself if stored, else decompressed into new memory of the
 * context, or into the scratch (may be NULL), where it lives until the scratch is used again. */
cbi_load cbi_fatbin_load(cbi_ctx *ctx, const cbi_fatbin_entry *entry, cbi_scratch *scratch,
                         cbi_span *ret_image);
const char *cbi_load_text(cbi_load load);

/* For ctx->decompressor, which is made when it is needed for the first time. */
void cbi_free_decompressor(void *decompressor);

#endif
