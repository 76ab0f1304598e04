/* Looking at device ELFs: dump, check and diff over the object model. */
#ifndef CBI_INSPECT_H
#define CBI_INSPECT_H

#include "inspect/node.h"
#include "object/object.h"

/* What a dump shows. */
enum {
    CBI_DUMP_HEADER = 1 << 0,
    CBI_DUMP_SEGMENTS = 1 << 1,
    CBI_DUMP_SECTIONS = 1 << 2,
    CBI_DUMP_SYMBOLS = 1 << 3,
    CBI_DUMP_RELOCS = 1 << 4,
    CBI_DUMP_INFO = 1 << 5,
    CBI_DUMP_COMPAT = 1 << 6,
    CBI_DUMP_NOTES = 1 << 7,
    CBI_DUMP_CALLGRAPH = 1 << 8,
    CBI_DUMP_UNIFIED = 1 << 9,
    CBI_DUMP_SUMMARY = 1 << 10,
    CBI_DUMP_ALL = (1 << 11) - 1, /* all above */
    CBI_DUMP_CAPSULE = 1 << 11,
};

/* Adds the chosen parts of an object to a document.  Works on damaged objects as far as their
 * section table could be read. */
void cbi_dump(cbi_ctx *ctx, const cbi_object *object, uint32_t parts, cbi_node *document);

/* Adds one section's header and bytes; false if there is no section of that name. */
bool cbi_dump_section(cbi_ctx *ctx, const cbi_object *object, const char *name, cbi_node *document);

/* ---- the parts ---- */

cbi_node *cbi_dump_header(cbi_ctx *ctx, const cbi_object *object);
cbi_node *cbi_dump_segments(cbi_ctx *ctx, const cbi_object *object);
cbi_node *cbi_dump_sections(cbi_ctx *ctx, const cbi_object *object);
/* mercury: of .nv.merc.symtab */
cbi_node *cbi_dump_symbols(cbi_ctx *ctx, const cbi_object *object, bool mercury);
cbi_node *cbi_dump_relocs(cbi_ctx *ctx, const cbi_object *object);
cbi_node *cbi_dump_info(cbi_ctx *ctx, const cbi_object *object);
cbi_node *cbi_dump_compat(cbi_ctx *ctx, const cbi_object *object);
cbi_node *cbi_dump_notes(cbi_ctx *ctx, const cbi_object *object);
cbi_node *cbi_dump_callgraph(cbi_ctx *ctx, const cbi_object *object);
cbi_node *cbi_dump_unified(cbi_ctx *ctx, const cbi_object *object);
cbi_node *cbi_dump_capsules(cbi_ctx *ctx, const cbi_object *object);
cbi_node *cbi_dump_summary(cbi_ctx *ctx, const cbi_object *object);

/* Decodes one EIATTR record into an object node's fields; symbols are shown by name. */
void cbi_dump_attr(cbi_ctx *ctx, const cbi_object *object, bool mercury, const cbi_attr *attr,
                   cbi_node *row);

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
