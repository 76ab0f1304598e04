/* cubind size: where the bytes of device code are. */
#ifndef CUBIND_SIZE_H
#define CUBIND_SIZE_H

#include "cubind/inspect.h"

#include "out.h"

/* What a table has a row for.  The order is that of the report. */
typedef enum cbi_size_by {
    CBI_SIZE_TARGET,
    CBI_SIZE_SECTION,
    CBI_SIZE_FUNCTION,
    CBI_SIZE_TEMPLATE,
    CBI_SIZE_FILE,
    CBI_SIZE_IMAGE,
    CBI_SIZE_IDENTICAL,
    CBI_SIZE_TABLES
} cbi_size_by;

/* "target", "section", ... and a word for the head of the table. */
extern const char *const cbi_size_words[CBI_SIZE_TABLES];
extern const char *const cbi_size_titles[CBI_SIZE_TABLES];

/* Bytes are those of images once decompressed. */
typedef struct cbi_size_row {
    const char *name;
    uint64_t count;  /* images (target, image), sections, or functions */
    uint64_t code;   /* machine code */
    uint64_t other;  /* what else belongs to it: constants, attributes, capsules, relocations... */
    uint64_t stored; /* as stored in the container: targets and images; else 0 */
    /* identical: the same code under several names */
    const char *names; /* the names, separated by ", ", no more than a few */
    uint32_t name_count;
    struct cbi_size_row *next; /* in its slot */
    uint64_t hash[2];          /* of the key */
} cbi_size_row;

typedef struct cbi_size_table {
    cbi_size_row **rows; /* in the order of their first mention */
    size_t len, cap;
    cbi_size_row **slots;
    size_t slot_count;
} cbi_size_table;

/* Everything about some images. */
typedef struct cbi_sizes {
    cbi_store store;
    cbi_size_table tables[CBI_SIZE_TABLES];
    uint64_t images, stored, size, code;
} cbi_sizes;

void cbi_sizes_free(cbi_sizes *sizes);

/* Adds to the row of that name, or of that hash for CBI_SIZE_IDENTICAL. */
void cbi_sizes_add(cbi_sizes *sizes, cbi_size_by by, const cbi_size_row *row);
/* Adds all of `from`. */
void cbi_sizes_merge(cbi_sizes *sizes, const cbi_sizes *from);
/* Sorts a table by size, then by name; drops what is not there several times from the identical. */
void cbi_sizes_sort(cbi_sizes *sizes, cbi_size_by by);
/* The row of that name, or NULL. */
const cbi_size_row *cbi_sizes_find(const cbi_sizes *sizes, cbi_size_by by, const char *name);

/* Adds what one image holds. */
void cbi_sizes_of_image(cbi_sizes *sizes, cb_image *image);

/* The name of a function without return type, template arguments and parameters, of its readable
 * form. */
const char *cbi_template_name(cbi_store *store, const char *demangled);

/* ---- printing ---- */

typedef enum cbi_size_format { CBI_SIZE_TEXT, CBI_SIZE_TSV, CBI_SIZE_JSON } cbi_size_format;

typedef struct cbi_size_show {
    uint32_t tables; /* bit of each */
    cbi_size_format format;
    size_t top;         /* rows of a table; 0: all */
    const char *filter; /* only rows with that in the name */
    bool bars;
    bool colour;
} cbi_size_show;

void cbi_sizes_print(cbi_sizes *sizes, const cbi_size_show *show, cbi_out *out);
/* What grew and shrank; returns whether anything did. */
bool cbi_sizes_print_diff(cbi_sizes *before, cbi_sizes *after, const cbi_size_show *show,
                          cbi_out *out);

#endif
