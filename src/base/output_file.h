/* Writing result files. */
#ifndef CBI_OUTPUT_FILE_H
#define CBI_OUTPUT_FILE_H

#include "base/base.h"

typedef enum cbi_output_result {
    CBI_OUTPUT_OK,
    CBI_OUTPUT_NOT_OPENED,
    CBI_OUTPUT_NOT_WRITTEN, /* e.g. the disk is full */
} cbi_output_result;

/* Gives the file `path` these contents, all or nothing: a regular file is written beside its place
 * and renamed, so that a failure leaves the old file.  Symbolic links are followed and the mode of
 * an existing file is kept.  Devices and pipes, and files that renaming would separate from other
 * names or owners, are written in place. */
cbi_output_result cbi_write_output(const char *path, const void *data, size_t size);
cbi_output_result cbi_write_output_rope(const char *path, const cbi_rope *rope);

/* Creates a folder, and those above it, unless it is there.  0, or the errno of the failure. */
int cbi_make_folder(const char *path);

#endif
