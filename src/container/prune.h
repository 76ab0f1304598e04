/* Files that hold device code for several targets, made smaller: chosen targets are kept, and
 * everything that is no device code stays as it is. */
#ifndef CBI_PRUNE_H
#define CBI_PRUNE_H

#include "input/slices.h"

/* An image that is kept: "sm_90a" machine code, "compute_90" PTX, "lto_90" LTO-IR. */
typedef struct cbi_prune_target {
    cbi_slice_kind kind;
    uint32_t sm;
    char suffix; /* 'a', 'f' or 0 */
    bool met;    /* an image was kept for it */
} cbi_prune_target;

/* False if the text names no target. */
bool cbi_prune_target_parse(const char *text, cbi_prune_target *ret_target);

/* Bytes of a result that are zero and need no room on a disk. */
typedef struct cbi_hole {
    uint64_t offset;
    uint64_t size;
} cbi_hole;

typedef struct cbi_prune {
    cbi_prune_target *targets;
    size_t target_count;
    bool no_relocatable_elf; /* no machine code that is to be linked */

    size_t kept; /* images, counted */
    size_t dropped;
    CBI_VEC(cbi_hole) holes; /* of a linked file, whose parts cannot be moved */
    cbi_scratch scratch;
} cbi_prune;

/* Fatbins, host objects, archives of these, and linked files.  The result refers to the bytes,
 * which stay the caller's.  What is damaged or of another kind is a fatal diagnostic. */
cbi_rope cbi_prune_file(cbi_ctx *ctx, cbi_prune *prune, const char *path, cbi_span bytes);

/* ---- the parts ---- */

/* A fatbin in a section, before and after. */
typedef struct cbi_pruned_fatbin {
    uint64_t old_offset;
    uint64_t new_offset;
} cbi_pruned_fatbin;

typedef struct cbi_pruned_section {
    cbi_rope data;
    CBI_VEC(cbi_pruned_fatbin) fatbins;
} cbi_pruned_section;

/* The fatbins of a section.  in_place: each stays where it is, with zeros behind; these are noted
 * as holes, `offset` being that of the section in the file. */
cbi_pruned_section cbi_prune_section(cbi_ctx *ctx, cbi_prune *prune, const char *path,
                                     cbi_span section, bool in_place, uint64_t offset);
/* One host file. */
cbi_rope cbi_prune_elf(cbi_ctx *ctx, cbi_prune *prune, const char *path, cbi_span bytes);
/* Members that are host objects; the symbol table of the archive follows. */
cbi_rope cbi_prune_archive(cbi_ctx *ctx, cbi_prune *prune, const char *path, cbi_span bytes);

#endif
