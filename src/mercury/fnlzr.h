/* FNLZR: takes one finished sm_100+ image and makes it fit a target.
 *
 * Code that the target can run as it is is kept (the fast path); for anything else the registered
 * back end is asked, and without one the answer is a refusal that names the kernel.
 */
#ifndef CBI_FNLZR_H
#define CBI_FNLZR_H

#include "format/arch.h"
#include "object/object.h"

/* What a run ends with; the numbers are public. */
typedef enum cbi_fnlzr_code {
    CBI_FNLZR_OK = 0,
    CBI_FNLZR_NOT_ELIGIBLE = 4, /* the target cannot be reached from this image */
    CBI_FNLZR_NOT_CAPMERC = 5,  /* no Mercury code to work on */
    CBI_FNLZR_INVALID = 6,      /* no sound device ELF, or of a type that is not finalized */
    CBI_FNLZR_UNKNOWN_ABI = 7,
    CBI_FNLZR_NO_MEMORY = 11,
    CBI_FNLZR_SELF_TEXT = 17,    /* self-check: code or debug data differ */
    CBI_FNLZR_SELF_RELOC = 18,   /* self-check: relocations, or the number of sections */
    CBI_FNLZR_SELF_SYMBOLS = 19, /* self-check: symbols */
    CBI_FNLZR_ISA_VERSION = 25,  /* Mercury version above 0x101 */
} cbi_fnlzr_code;

/* A compiler back end.  Functions may be NULL when the capability is missing. */
typedef struct cbi_fnlzr_backend {
    const char *name;
    /* Can it compile code of one chip for another? */
    bool (*supports)(void *user, uint32_t from_sm, const cbi_arch *target);
    /* Compiles one kernel or function: SASS and capsule in, SASS of the same length class out.  A
     * NULL result refuses. */
    const uint8_t *(*finalize)(void *user, const char *function, cbi_span sass, cbi_span capsule,
                               const cbi_arch *target, size_t *ret_size);
    void *user;
} cbi_fnlzr_backend;

/* The configuration record of a run. */
typedef struct cbi_fnlzr_config {
    const cbi_arch *target;
    bool post_link;  /* an executable is expected; else a relocatable one is taken too */
    bool self_check; /* run a second time and compare */
    bool fast_path_off;
    int opt_level;                               /* 4 unless set; for the back end */
    const cbi_fnlzr_backend *backend;            /* NULL: none */
    void (*trace)(void *user, const char *line); /* NULL: no trace */
    void *trace_user;
} cbi_fnlzr_config;

/* Finalizes an image in memory; name is for messages.  ret_image is untouched unless the result is
 * CBI_FNLZR_OK.  Reports a diagnostic for every other result; runs inside cbi_run(). */
cbi_fnlzr_code cbi_fnlzr(cbi_ctx *ctx, const cbi_fnlzr_config *config, const char *name,
                         cbi_span image, cbi_buf *ret_image);

/* The same as a job of its own: an arena that runs dry ends in CBI_FNLZR_NO_MEMORY. */
cbi_fnlzr_code cbi_fnlzr_run(cbi_ctx *ctx, const cbi_fnlzr_config *config, const char *name,
                             cbi_span image, cbi_buf *ret_image);

/* Three-way comparison of the self-check: code and debug sections, relocations, symbols of two
 * images.  Section names count without their Mercury prefix. */
cbi_fnlzr_code cbi_fnlzr_compare(const cbi_object *a, const cbi_object *b);

/* Checks capsules, relocations and symbols of one image against each other. */
cbi_fnlzr_code cbi_fnlzr_verify(const cbi_object *object);

/* Short text for a code. */
const char *cbi_fnlzr_code_text(cbi_fnlzr_code code);

#endif
