/* One prepared result, between the two halves of the output stage. */
#ifndef CBI_OUTPUT_ENTRY_H
#define CBI_OUTPUT_ENTRY_H

#include "base/output_file.h"

typedef enum cbi_output_way {
    CBI_WAY_RENAME,   /* written beside, to be renamed */
    CBI_WAY_IN_PLACE, /* a regular file that stays what it is */
    CBI_WAY_STREAM,   /* a device or pipe */
} cbi_output_way;

typedef struct cbi_output_entry {
    char *path;      /* as given */
    char *place;     /* where it leads */
    char *temporary; /* CBI_WAY_RENAME */
    int cleanup;     /* its place there */
    int fd;          /* the other ways */
    cbi_rope rope;
    const cbi_buf *text; /* to be appended; NULL: the rope replaces the contents */
    void *own;           /* the bytes, if they are the entry's; then text is not read */
    size_t own_size;
    cbi_output_way way;
    bool created;         /* it was not there before */
    bool done, exchanged; /* by the commit */
    size_t old_size;
    uint8_t *old; /* contents before the commit */
} cbi_output_entry;

void cbi_output_free(cbi_output_entry *entry);
/* Removes what was prepared, too. */
void cbi_output_drop(cbi_output_entry *entry);

#endif
