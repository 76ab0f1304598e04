/* diff: what differs between two device ELFs, in the terms of the format. */
#ifndef CBI_DIFF_H
#define CBI_DIFF_H

#include "cubind/inspect.h"
#include "inspect/inspect.h"

typedef struct cbi_diff_options {
    bool semantic; /* ignore the order of records, string tables and where things lie in the file */
} cbi_diff_options;

typedef CBI_VEC(cb_difference) cbi_differences;

/* Compares two objects and appends what differs to the list; texts live as long as the context and
 * both objects. */
void cbi_diff(cbi_ctx *ctx, const cbi_object *a, const cbi_object *b,
              const cbi_diff_options *options, cbi_differences *list);

/* ---- for the parts ---- */

typedef struct cbi_differ {
    cbi_ctx *ctx;
    const cbi_object *a, *b;
    cbi_diff_options options;
    cbi_differences *list;
} cbi_differ;

void cbi_diff_add(cbi_differ *d, const char *part, const char *section, const char *name,
                  const char *field, const char *a, const char *b);

/* Adds a difference if the numbers are not equal. */
void cbi_diff_number(cbi_differ *d, const char *part, const char *section, const char *name,
                     const char *field, uint64_t a, uint64_t b);
void cbi_diff_text(cbi_differ *d, const char *part, const char *section, const char *name,
                   const char *field, const char *a, const char *b);

/* Lines of one side, to be compared as a multiset and then as a sequence. */
typedef CBI_VEC(const cbi_name *) cbi_lines;
void cbi_diff_lines(cbi_differ *d, const char *part, const char *section, const cbi_lines *a,
                    const cbi_lines *b);

/* Compares the contents of a section that both sides have; false if its records have no meaning of
 * their own, and bytes must be compared. */
bool cbi_diff_records(cbi_differ *d, const cbi_section *a, const cbi_section *b);
void cbi_diff_bytes(cbi_differ *d, const cbi_section *a, const cbi_section *b);

#endif
