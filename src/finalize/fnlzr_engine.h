/* What the parts of the finalizer share. */
#ifndef CBI_FNLZR_ENGINE_H
#define CBI_FNLZR_ENGINE_H

#include "finalize/fnlzr.h"

/* One run. */
typedef struct cbi_fnlzr_state {
    cbi_ctx *ctx;
    cbi_fnlzr_config config; /* with the option string applied */
    const char *name;
    cbi_span image;
    bool post_link;
    cbi_object object;
    uint32_t compat; /* section index, 0 = none */
    cbi_arch_facts facts;
    uint32_t source;      /* chip, old numbers replaced */
    uint64_t mask;        /* capability mask of .nv.compat */
    const char *excluded; /* first function that the target cannot run as it is, or NULL */
    uint8_t **paced;      /* by section: its code at the pace of the target, or NULL */
    uint32_t functions;
    bool linked; /* a linker has left its note */
    cbi_buf out;
} cbi_fnlzr_state;

void cbi_fnlzr_trace(const cbi_fnlzr_state *f, const char *format, ...) CBI_PRINTF(2, 3);

/* Reports the failure and returns its code. */
cbi_fnlzr_code cbi_fnlzr_fail(cbi_fnlzr_state *f, cbi_fnlzr_code code, const char *why);

/* Reads an image.  Symbols of an executable that reach past their bank do no harm: nvlink leaves
 * them when it drops constants.  False: ret_why, which may be NULL, receives what is wrong. */
bool cbi_fnlzr_read(const cbi_fnlzr_state *f, cbi_span image, cbi_object *ret_object,
                    const char **ret_why);

/* Reads what the finalizer made so far; it moves when a section grows. */
bool cbi_fnlzr_reread(const cbi_fnlzr_state *f, cbi_object *ret_object);

/* The phases in their order. */
cbi_fnlzr_code cbi_fnlzr_engine(cbi_fnlzr_state *f);

/* ---- fnlzr_options.c ---- */
/* Splits the option string at blanks and applies it. */
cbi_fnlzr_code cbi_fnlzr_apply_options(cbi_fnlzr_state *f);

/* ---- fnlzr_tkinfo.c ---- */
/* Has a linker left its note in the image? */
bool cbi_fnlzr_is_linked(const cbi_object *object);
/* Brings the linker's note up to date, or adds one when names are asked for and there is none. */
void cbi_fnlzr_tkinfo(cbi_fnlzr_state *f);

/* ---- fnlzr_layout.c ---- */
/* Gives a section of an image other bytes of any length; what follows moves as far as its alignment
 * demands.  False, and nothing done, if the file is not laid out in the order of its sections. */
bool cbi_fnlzr_replace(cbi_ctx *ctx, const cbi_object *object, uint32_t section, cbi_span bytes,
                       cbi_buf *image);
/* Takes the Mercury sections away, which are the last ones.  False, and nothing done, if the file
 * is laid out in another way. */
bool cbi_fnlzr_drop_mercury(cbi_ctx *ctx, const cbi_object *object, cbi_buf *image);

#endif
