/* Relocations of code exist twice from sm_100 on, once per view; the lists correspond. */
#ifndef CBI_TWINS_H
#define CBI_TWINS_H

#include "object/object.h"

/* A walk over both lists of one function. */
typedef struct cbi_twins {
    const cbi_object *object;
    uint32_t mercury, plain; /* section indices; plain 0: there is none */
    size_t next, next_plain;
    size_t missing; /* entries without a partner so far */
    bool done;
    size_t entry; /* of the Mercury list, that the last finding is about */
} cbi_twins;

/* Is the section a Mercury list for code? */
bool cbi_is_code_twin(const cbi_section *section);

/* The walk over a list for which cbi_is_code_twin() holds; plain: cbi_sections_about() SHT_RELA. */
cbi_twins cbi_twins_of(const cbi_object *object, const uint32_t *plain, uint32_t section);

/* What is wrong next, or NULL at the end. */
const char *cbi_twins_next(cbi_ctx *ctx, cbi_twins *twins);

#endif
