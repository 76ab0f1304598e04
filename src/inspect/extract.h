/* Taking device images out of what contains them. */
#ifndef CBI_EXTRACT_H
#define CBI_EXTRACT_H

#include "input/slices.h"
#include "inspect/node.h"

/* Which images are meant; zero-initialised: all. */
typedef struct cbi_extract_filter {
    const char *arch; /* "sm_90", "compute_90", "lto_90", or "90" for any of them; NULL: all */
    bool has_kind;
    cbi_slice_kind kind;
    bool has_number;
    size_t number;
} cbi_extract_filter;

/* number: of the image in the whole run, from 0. */
bool cbi_extract_wants(cbi_ctx *ctx, const cbi_extract_filter *filter, const cbi_slice *slice,
                       size_t number);

/* One line of the list. */
cbi_node *cbi_extract_row(cbi_ctx *ctx, const cbi_slice *slice, size_t number);

/* A file name for the image, without folder: "libx.a.m.o.3.sm_90.cubin". */
const char *cbi_extract_name(cbi_ctx *ctx, const cbi_slice *slice, size_t number);

typedef enum cbi_extract_result {
    CBI_EXTRACT_WRITTEN,
    CBI_EXTRACT_AS_STORED, /* obfuscated LTO-IR: written as it lies in the fatbin */
    CBI_EXTRACT_FAILED     /* an error was reported */
} cbi_extract_result;

/* Writes the image into a folder. */
cbi_extract_result cbi_extract_write(cbi_ctx *ctx, const cbi_slice *slice, size_t number,
                                     const char *folder, cbi_scratch *scratch);

#endif
