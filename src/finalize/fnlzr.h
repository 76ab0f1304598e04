/* FNLZR: takes one finished sm_100+ image and makes it fit a target.
 *
 * Code that the target can run as it is is kept (the fast path); for anything else the registered
 * back end is asked, and without one the answer is a refusal that names the kernel.
 *
 * fnlzr.c is the front end, fnlzr_engine.c the phases.
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

/* ---- compiler back end ---- */

/* One function that the target cannot run as it is. */
typedef struct cbi_fnlzr_function {
    const char *name;
    cbi_span sass, capsule;
    uint32_t from_sm;
    const cbi_arch *target;
    int opt_level;
    bool line_info;
} cbi_fnlzr_function;

/* What became of it.  The SASS keeps its length, so that nothing else of the image moves; the
 * capsule may have any.  The bytes must live until the run ends. */
typedef struct cbi_fnlzr_compiled {
    cbi_span sass, capsule;
} cbi_fnlzr_compiled;

typedef struct cbi_fnlzr_backend {
    const char *name;
    /* Can it compile code of one chip for another?  NULL: never. */
    bool (*supports)(void *user, uint32_t from_sm, const cbi_arch *target);
    /* False refuses. */
    bool (*finalize)(void *user, const cbi_fnlzr_function *function,
                     cbi_fnlzr_compiled *ret_compiled);
    void *user;
} cbi_fnlzr_backend;

/* ---- configuration ---- */

typedef enum cbi_fnlzr_kind {
    CBI_FNLZR_CAPMERC, /* SASS and its capsules */
    CBI_FNLZR_SASS,
    CBI_FNLZR_MERCURY,
} cbi_fnlzr_kind;

/* The configuration record of a run. */
typedef struct cbi_fnlzr_config {
    const cbi_arch *target;
    const char *options; /* engine options as one string, which override what follows; or NULL */
    const char *output_name;    /* for the tool note; NULL: none */
    const cbi_tkinfo *identity; /* who a note of the finalizer's own names; NULL: none is added */
    bool post_link;             /* an executable is expected; else a relocatable one is taken too */
    bool jit;                   /* called through the library on bytes in memory */
    cbi_fnlzr_kind kind;        /* what to write */
    bool self_check;            /* run a second time and compare */
    bool fast_path_off;
    bool verbose_tkinfo;
    bool line_info;
    const char *needs_compiler; /* an option that was given and concerns compiled code, or NULL */
    int opt_level;              /* for the back end */
    int opportunistic_level;    /* above 0: say when the fast path was taken to another chip */
    const cbi_fnlzr_backend *backend;            /* NULL: none */
    void (*trace)(void *user, const char *line); /* NULL: no trace */
    void *trace_user;
    bool trace_run;         /* trace the phases (--edbg) */
    bool trace_eligibility; /* trace the question whether the target can be reached */
} cbi_fnlzr_config;

enum { CBI_FNLZR_OPT_LEVEL = 4 };

/* An option of the engine; rows end with a NULL name. */
typedef struct cbi_fnlzr_option {
    const char *name;  /* with its dashes */
    const char *value; /* what its value is called in the help, NULL: it has none */
    const char *help;
} cbi_fnlzr_option;
extern const cbi_fnlzr_option cbi_fnlzr_options[];

/* NULL if there is none of that name. */
const cbi_fnlzr_option *cbi_fnlzr_option_find(const char *name);

/* Puts an option into the record; value is ignored where the option has none.  NULL, or why the
 * value does not do (static text). */
const char *cbi_fnlzr_option_set(cbi_fnlzr_config *config, const cbi_fnlzr_option *option,
                                 const char *value);

/* ---- running ---- */

/* Finalizes an image in memory; name is for messages, NULL if it has none.  ret_image is untouched
 * unless the result is CBI_FNLZR_OK.  Reports a diagnostic for every other result; runs inside
 * cbi_run(). */
cbi_fnlzr_code cbi_fnlzr(cbi_ctx *ctx, const cbi_fnlzr_config *config, const char *name,
                         cbi_span image, cbi_buf *ret_image);

/* The same as a job of its own: an arena that runs dry ends in CBI_FNLZR_NO_MEMORY. */
cbi_fnlzr_code cbi_fnlzr_run(cbi_ctx *ctx, const cbi_fnlzr_config *config, const char *name,
                             cbi_span image, cbi_buf *ret_image);

/* Short text for a code. */
const char *cbi_fnlzr_code_text(cbi_fnlzr_code code);

/* ---- self-check ---- */

/* Three-way comparison of the self-check: code and debug sections, relocations, symbols of two
 * images.  Section names count without their Mercury prefix. */
cbi_fnlzr_code cbi_fnlzr_compare(const cbi_object *a, const cbi_object *b);

/* Checks capsules, relocations and symbols of one image against each other.  ret_why receives what
 * is wrong. */
cbi_fnlzr_code cbi_fnlzr_verify(cbi_ctx *ctx, const cbi_object *object, const char **ret_why);

/* Whether a capsule can be read and covers its code: NULL, or what is wrong with it. */
const char *cbi_fnlzr_capsule_problem(const cbi_object *object, const cbi_section *capsule);

#endif
