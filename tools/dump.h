/* The parts of a dump: trees made of what inspect.h gives. */
#ifndef CUBIND_DUMP_H
#define CUBIND_DUMP_H

#include "cubind/inspect.h"

#include "tree.h"

/* What a dump shows. */
enum {
    CBI_DUMP_SUMMARY = 1 << 0,
    CBI_DUMP_HEADER = 1 << 1,
    CBI_DUMP_SEGMENTS = 1 << 2,
    CBI_DUMP_SECTIONS = 1 << 3,
    CBI_DUMP_NOTES = 1 << 4,
    CBI_DUMP_COMPAT = 1 << 5,
    CBI_DUMP_INFO = 1 << 6,
    CBI_DUMP_CALLGRAPH = 1 << 7,
    CBI_DUMP_UNIFIED = 1 << 8,
    CBI_DUMP_RELOCS = 1 << 9,
    CBI_DUMP_SYMBOLS = 1 << 10,
    CBI_DUMP_ALL = (1 << 11) - 1, /* all above */
    CBI_DUMP_CAPSULE = 1 << 11,
    CBI_DUMP_KERNELS = 1 << 12,
    CBI_DUMP_LINES = 1 << 13,
};

/* Adds the chosen parts of an image to a document. */
void cbi_dump(cbi_store *store, cb_image *image, uint32_t parts, cbi_node *document);

/* Adds one section's header and bytes; false if there is no section of that name. */
bool cbi_dump_section(cbi_store *store, cb_image *image, const char *name, cbi_node *document);

/* The name of a section, of one that does not exist "section N". */
const char *cbi_section_name(cbi_store *store, cb_image *image, uint32_t index);
/* Bytes as hexadecimal digits. */
const char *cbi_hex(cbi_store *store, const void *data, size_t size);

/* ---- parts in files of their own ---- */

cbi_node *cbi_dump_info(cbi_store *store, cb_image *image);
cbi_node *cbi_dump_compat(cbi_store *store, cb_image *image);
cbi_node *cbi_dump_notes(cbi_store *store, cb_image *image);
cbi_node *cbi_dump_summary(cbi_store *store, cb_image *image);
cbi_node *cbi_dump_kernels(cbi_store *store, cb_image *image);
cbi_node *cbi_dump_lines(cbi_store *store, cb_image *image);
cbi_node *cbi_dump_capsules(cbi_store *store, cb_image *image);

#endif
