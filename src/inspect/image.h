/* The handles of inspect.h: what is behind a container and an image, and the makers of tables. */
#ifndef CBI_INSPECT_IMAGE_H
#define CBI_INSPECT_IMAGE_H

#include "cubind/inspect.h"

#include "input/recognise.h"
#include "input/slices.h"
#include "inspect/inspect.h"

/* What may stay in memory of a mapped file. */
#define CBI_KEPT_BYTES ((size_t)8 << 20)

/* Decompressors between two images: to make one costs more than to read most images. */
enum { CBI_KEPT_DECOMPRESSORS = 16 };

struct cb_container {
    cbi_ctx ctx;
    cb_inspect_options options;
    const char *path;
    cbi_span bytes;
    cbi_content content;
    bool from_file; /* mapped: images take copies */
    size_t listed;  /* bytes whose pages were given back while the list was made */
    size_t *taken; /* bytes of images that were opened since pages were given back, by any thread */
    void **decompressors;          /* that wait for the next image, of any thread, and NULL */
    CBI_VEC(cb_image_info) images; /* as the list shows them */
    CBI_VEC(cbi_slice) slices;     /* ... and how to load them */
};

/* A table that is made when it is first asked for: rows of one size, or the means to give them. */
typedef struct cbi_table {
    void *rows;
    size_t count;
    bool made;
} cbi_table;

typedef enum cbi_table_kind {
    CBI_TABLE_HEADER,
    CBI_TABLE_SEGMENTS,
    CBI_TABLE_SECTIONS,
    CBI_TABLE_SYMBOLS,
    CBI_TABLE_MERC_SYMBOLS,
    CBI_TABLE_RELOCATIONS,
    CBI_TABLE_ATTRIBUTES,
    CBI_TABLE_COMPAT,
    CBI_TABLE_NOTES,
    CBI_TABLE_CALLS,
    CBI_TABLE_UNIFIED,
    CBI_TABLE_FUNCTIONS,
    CBI_TABLE_PLACES, /* function numbers by section and offset */
    CBI_TABLE_LINES,
    CBI_TABLE_PTX_LINES,
    CBI_TABLE_LINE_PLACES,
    CBI_TABLE_CAPSULES,
    CBI_TABLE_DAMAGE,
    CBI_TABLE_FINDINGS,
    CBI_TABLE_COUNT
} cbi_table_kind;

struct cb_image {
    cbi_ctx ctx;
    cb_image_info info;
    const char *name;
    cbi_span bytes;
    cb_image_state state;
    cb_status status;
    cbi_object object; /* readable if sections != NULL */
    cbi_findings damage;
    cbi_table tables[CBI_TABLE_COUNT];
    cbi_name_table shown_names; /* texts of C++ names */
    cb_frame frame;             /* of the last call */
};

/* Fills a table of an image; runs inside cbi_run(). */
typedef void (*cbi_table_maker)(cb_image *image, cbi_table *table);

/* The table, made if it was not; empty when that failed, and for images without sections. */
const cbi_table *cbi_image_table(cb_image *image, cbi_table_kind kind, cbi_table_maker maker);

/* The row of a table of cb_T, or NULL. */
#define CBI_TABLE_ROW(table, type, index)                                                          \
    ((index) < (table)->count ? (const type *)(table)->rows + (index) : NULL)

/* A context for a handle. */
bool cbi_inspect_take_options(const cb_inspect_options *from, cb_inspect_options *ret_options);
void cbi_inspect_init(cbi_ctx *ctx, const cb_inspect_options *options);
/* Memory for the handle itself: a context stands at its start.  NULL: there is none. */
void *cbi_inspect_new(const cb_inspect_options *options, size_t size);
void cbi_inspect_free(void *handle, size_t size);

/* The function number whose code lies at a place, CB_NONE if none does.  The table of functions
 * must have been made. */
uint32_t cbi_image_function_number(cb_image *image, uint32_t section, uint64_t offset);

/* Contents of an attribute: the same for the table and for diff. */
void cbi_attribute_read(cbi_ctx *ctx, const cbi_object *object, bool mercury, const cbi_attr *attr,
                        cb_attribute *ret_attribute);
/* The contents on one line, as "key=value ...". */
void cbi_attribute_text(cbi_ctx *ctx, const cb_attribute *attribute, cbi_buf *out);

#endif
