/* Writing result files: all those of a run, or none. */
#ifndef CBI_OUTPUT_FILE_H
#define CBI_OUTPUT_FILE_H

#include "base/base.h"

typedef enum cbi_output_result {
    CBI_OUTPUT_OK,
    CBI_OUTPUT_NOT_OPENED,
    CBI_OUTPUT_NOT_WRITTEN, /* e.g. the disk is full */
} cbi_output_result;

/* Results that are ready beside their places but not there yet.  Zero-initialise; ends with a
 * commit or a drop.
 *
 * Regular files are written beside their place and renamed.  Symbolic links are followed and the
 * mode of an existing file is kept.  Files that renaming would separate from other names or owners
 * are written where they are, with their room reserved before and their old contents put back when
 * it fails.  To devices and pipes nothing is written before the commit. */
typedef struct cbi_outputs {
    struct cbi_output_entry **entries;
    size_t count, room;
    bool durable; /* on the disk, not only in its cache, when the commit returns */
    char *failed; /* path of the output that a commit could not write; the caller frees it */
} cbi_outputs;

/* Prepares a result.  The bytes of the rope must stay until the commit.  errno says why not. */
cbi_output_result cbi_outputs_add(cbi_outputs *outputs, const char *path, const cbi_rope *rope);
/* Prepares to append what `text` then holds; such a record survives cbi_outputs_drop_results(). */
cbi_output_result cbi_outputs_append(cbi_outputs *outputs, const char *path, const cbi_buf *text);

/* Moves what `from` has prepared behind what `to` has.  The bytes need not stay any longer.  False
 * without memory for that; then `from` is dropped. */
bool cbi_outputs_join(cbi_outputs *to, cbi_outputs *from);

/* Puts everything in its place.  On failure what was there is there again. */
cbi_output_result cbi_outputs_commit(cbi_outputs *outputs);
/* Forgets everything, or all but the records. */
void cbi_outputs_drop(cbi_outputs *outputs);
void cbi_outputs_drop_results(cbi_outputs *outputs);

/* One result alone. */
cbi_output_result cbi_write_output(const char *path, const void *data, size_t size);
cbi_output_result cbi_write_output_rope(const char *path, const cbi_rope *rope);

#endif
