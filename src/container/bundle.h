/* Fatbins, written: device images in, one container out.
 *
 * With the same images and options the bytes are those of fatbinary 13.0.88; compressed payloads
 * may differ in length, never in what they hold (docs/containers.md).
 */
#ifndef CBI_BUNDLE_H
#define CBI_BUNDLE_H

#include "base/base.h"
#include "format/fatbin.h"

/* How images are compressed. */
typedef enum cbi_pack {
    CBI_PACK_NONE,
    CBI_PACK_SPEED,   /* LZ4 */
    CBI_PACK_BALANCE, /* zstd */
    CBI_PACK_SIZE     /* zstd at its highest level */
} cbi_pack;

typedef struct cbi_bundle_options {
    bool host32;             /* made by a compilation for 32-bit hosts */
    bool debug;              /* made by a compilation with -g */
    uint32_t host;           /* FATBIN_FLAG_HOST_ and so on; 0: for Linux */
    cbi_pack pack;           /* of PTX and LTO-IR */
    bool pack_elf;           /* of machine code, too */
    const char *ident;       /* name of the source, NULL or "": none */
    const char *ptx_options; /* what ptxas was given; NULL: nothing */
    const char *lto_options; /* what cicc was given; NULL: nothing */
} cbi_bundle_options;

/* One image to be put in. */
typedef struct cbi_bundle_image {
    uint16_t kind; /* FATBIN_KIND_PTX, _ELF or _LTOIR */
    uint32_t sm;
    char suffix; /* 'a', 'f' or 0 */
    cbi_span bytes;
} cbi_bundle_image;

/* A fatbin that is being put together.  Zero-initialise all but the options. */
typedef struct cbi_bundle {
    cbi_bundle_options options;
    cbi_rope entries;
} cbi_bundle;

/* Appends an image, whose bytes stay the caller's and must live as long as the bundle.  Returns
 * NULL, or what is wrong with the image in fatbinary's words; nothing is appended then. */
const char *cbi_bundle_add(cbi_ctx *ctx, cbi_bundle *bundle, const cbi_bundle_image *image);

/* The fatbin: header, then the entries. */
cbi_rope cbi_bundle_finish(cbi_ctx *ctx, const cbi_bundle *bundle);

/* The number in e_flags of a device ELF; 0 if it is none.  A cut-off header has none. */
uint32_t cbi_image_sm(cbi_span elf);

/* What a file says of itself: kind and target.  False if it is no image or names no target. */
bool cbi_image_describe(cbi_span bytes, cbi_bundle_image *ret_image);

/* A suffix behind a number: "90a".  False if the text is no architecture. */
bool cbi_arch_parse_number(const char *text, uint32_t *ret_sm, char *ret_suffix);

/* ---- the parts ---- */

/* PTX as fatbins hold it: without comments, a run of blanks shortened to its first, with a NUL
 * behind it.  New memory. */
cbi_span cbi_ptx_squeeze(cbi_ctx *ctx, cbi_span text);
/* The version of PTX text, by its first .version; false if there is none. */
bool cbi_ptx_version(cbi_span text, uint16_t *ret_major, uint16_t *ret_minor);

/* Compressed bytes in new memory, as the entries of fatbins hold them: a zstd frame, or a block of
 * LZ4.  False if the bytes are too many for LZ4. */
bool cbi_compress(cbi_ctx *ctx, cbi_pack pack, cbi_span bytes, cbi_span *ret_packed);

/* How a host program holds a fatbin. */
typedef struct cbi_embedding {
    bool relocatable; /* -rdc: to be found by a device link */
    bool linked;      /* made by a device link: refers to the objects that went into it */
    bool no_asm;      /* as an array of C instead of assembler text */
    const char *file; /* the assembler takes the bytes from this file; NULL: they are in the text */
} cbi_embedding;

/* C code that defines the fatbin, for inclusion in what nvcc compiles for the host. */
cbi_span cbi_embed_fatbin(cbi_ctx *ctx, const cbi_rope *fatbin, const cbi_embedding *how);

#endif
