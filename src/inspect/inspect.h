/* Looking at device ELFs: names and facts for the tables of inspect.h, check and diff. */
#ifndef CBI_INSPECT_H
#define CBI_INSPECT_H

#include "object/object.h"

/* The value of an EICOMPAT record; of a sized one the first eight bytes. */
uint64_t cbi_compat_value(const cbi_attr *attr);

/* ---- names for display, safe with indices that do not exist ---- */

const char *cbi_show_symbol(cbi_ctx *ctx, const cbi_object *object, bool mercury, uint32_t index);
const char *cbi_show_section(cbi_ctx *ctx, const cbi_object *object, uint32_t index);
/* A string of .strtab. */
const char *cbi_show_string(const cbi_object *object, uint32_t offset);
const char *cbi_show_symbol_type(cbi_ctx *ctx, uint8_t info);
const char *cbi_show_bind(cbi_ctx *ctx, uint8_t info);
/* Memory space and flags of st_other, e.g. "global managed". */
const char *cbi_show_other(cbi_ctx *ctx, const cbi_symbol *symbol);

/* ---- facts ---- */

/* SM number of the header, either ABI. */
static inline bool cbi_section_is_mercury(const cbi_section *section)
{
    return (section->flags & SHF_CUDA_MERCURY) != 0;
}

#endif
