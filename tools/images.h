/* Every device ELF of the files on a command line. */
#ifndef CUBIND_IMAGES_H
#define CUBIND_IMAGES_H

#include <stdio.h>

#include "inspect/inspect.h"

/* One device image; everything in it lives until the callback returns. */
typedef struct cbi_image {
    cbi_ctx *ctx; /* of this image alone: memory stays bounded by the largest one */
    const char
        *file; /* the path, with "(member)" and ":image" behind it where it is in a container */
    cbi_object_kind kind;
    cbi_object object; /* to be shown only if object.sections != NULL */
    cbi_findings findings;
} cbi_image;

typedef void (*cbi_image_fn)(const cbi_image *image, void *user);

/* Exit codes of dump, check, diff and extract. */
enum { CBI_EXIT_CLEAN = 0, CBI_EXIT_FINDINGS = 1, CBI_EXIT_UNREADABLE = 2 };

/* The exit code is the gravest of everything found. */
static inline void cbi_raise_exit(int *exit_code, int code)
{
    if (code > *exit_code)
        *exit_code = code;
}

/* Puts the findings into the document, each as an object. */
void cbi_put_findings(cbi_ctx *ctx, cbi_node *document, const cbi_findings *findings);

/* Calls fn for every image of a file, in order.  What is no device ELF, cannot be opened or ran
 * out of memory is reported on stderr as "cubind COMMAND: ..." and makes the result
 * CBI_EXIT_UNREADABLE, else it is CBI_EXIT_CLEAN.  A file without machine code is said, too. */
int cbi_each_image(const char *command, const char *path, cbi_image_fn fn, void *user);

/* Why a job that read a file failed. */
const char *cbi_failure_text(cb_status status);

/* Writes a buffer to stdout and empties it; exits with CBI_EXIT_UNREADABLE if stdout fails. */
void cbi_flush_text(const char *command, cbi_buf *out);

#endif
