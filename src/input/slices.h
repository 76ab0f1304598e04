/* Every device image in a file, whatever contains it: for looking at files and taking them apart.
 * Unlike the link, nothing is chosen or left out: all fatbins of a host library, all members of an
 * archive and archives inside archives are walked. */
#ifndef CBI_SLICES_H
#define CBI_SLICES_H

#include "input/fatbin.h"

typedef enum cbi_slice_kind {
    CBI_SLICE_CUBIN,
    CBI_SLICE_PTX,
    CBI_SLICE_LTOIR,
    CBI_SLICE_OTHER /* an entry of a kind that is not known */
} cbi_slice_kind;

typedef struct cbi_slice {
    const char *file;    /* the path, or "path:member" */
    const char *section; /* of the host file, or NULL */
    bool bare;           /* a file of its own, in no fatbin */
    size_t fatbin;       /* position of its fatbin in the walk */
    size_t index;        /* position in the walk */
    uint64_t offset;     /* of the entry, or of a bare image, in the file that was opened */
    cbi_slice_kind kind;
    cbi_fatbin_entry entry; /* made up for a bare image */
} cbi_slice;

/* Return false to stop the walk. */
typedef bool (*cbi_slice_fn)(const cbi_slice *slice, void *user);

/* Calls fn for every image in the bytes of a file, in order.  Damage is reported as an error and
 * the walk goes on after it as far as possible; so is a file of no known kind.  Returns the number
 * of images.  Runs inside cbi_run(). */
size_t cbi_each_slice(cbi_ctx *ctx, const char *path, cbi_span bytes, cbi_slice_fn fn, void *user);

/* The bytes of an image; see cbi_fatbin_load. */
static inline cbi_load cbi_slice_load(cbi_ctx *ctx, const cbi_slice *slice, cbi_scratch *scratch,
                                      cbi_span *ret_image)
{
    return cbi_fatbin_load(ctx, &slice->entry, scratch, ret_image);
}

/* Of an entry of a fatbin. */
cbi_slice_kind cbi_slice_kind_of(const cbi_fatbin_entry *entry);
/* "cubin", "ptx", "ltoir", "other" */
const char *cbi_slice_kind_name(cbi_slice_kind kind);
/* "sm_90a" for machine code, "compute_90" for PTX, "lto_90" for LTO-IR; "" if unknown. */
const char *cbi_slice_arch(cbi_ctx *ctx, const cbi_slice *slice);
/* "none", "lz4", "zstd", "unknown" */
const char *cbi_compression_name(cbi_compression compression);

#endif
