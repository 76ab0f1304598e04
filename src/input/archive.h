/* ar archives: System V and BSD long names, symbol tables, thin archives. */
#ifndef CBI_ARCHIVE_H
#define CBI_ARCHIVE_H

#include "base/base.h"

typedef struct cbi_archive {
    cbi_span bytes;
    bool thin;
    cbi_span long_names; /* contents of the member "//" */
    bool has_long_names;
    size_t pos; /* of the next header */
} cbi_archive;

typedef struct cbi_member {
    const char *name;
    uint64_t header; /* offset of its header in the archive */
    cbi_span bytes;  /* empty in a thin archive: the member is the file `name` */
    cbi_span rest;   /* from the member's first byte to the end of the archive */
    bool cut_off;    /* the member claims more bytes than the archive has */
} cbi_member;

typedef enum cbi_archive_step {
    CBI_ARCHIVE_MEMBER,
    CBI_ARCHIVE_END,
    CBI_ARCHIVE_BAD_HEADER,   /* no member header where one should be */
    CBI_ARCHIVE_NO_LONG_NAMES /* a member refers to a long name that is not there */
} cbi_archive_step;

bool cbi_is_archive(cbi_span bytes);
cbi_archive cbi_archive_open(cbi_span bytes);

/* The next member that is neither a symbol table nor the table of long names.  lenient: a header
 * cut off by the end of the file or without its end marks is taken as nvlink takes it. */
cbi_archive_step cbi_archive_next(cbi_ctx *ctx, cbi_archive *archive, bool lenient,
                                  cbi_member *ret_member);

#endif
