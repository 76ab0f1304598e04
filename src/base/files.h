/* The files that a job has read. */
#ifndef CBI_FILES_H
#define CBI_FILES_H

#include <sys/types.h>

#include "base/base.h"

/* Reads files in several threads, if the job may have them, that cbi_map_file() will be asked for
 * in this order.  Nothing is reported; `paths` must live as long as the context. */
void cbi_read_ahead(cbi_ctx *ctx, const char *const *paths, size_t count);

/* Plans to read small files, that cbi_map_file() will be asked for in this order, while the job
 * does something else, and reads the first.  Returns that, and about what reading all is worth to
 * cbi_parallel(); empty where the first cannot be read so: then cbi_read_ahead() may still be
 * called.  `paths` must live as long as the context. */
cbi_span cbi_plan_reading(cbi_ctx *ctx, const char *const *paths, size_t count,
                          uint64_t *ret_worth);
/* Reads the i-th, in any thread, with its memory.  Nothing is reported: of what is not read here
 * cbi_map_file() says why.  Empty then. */
cbi_span cbi_read_planned(cbi_ctx *ctx, const cbi_ctx *job, size_t i);
/* It is read, as are those before it: cbi_map_file() may give it. */
void cbi_reach_planned(const cbi_ctx *job, size_t i);

/* Is it a character device; is it the one that is empty, /dev/null? */
bool cbi_is_device(const char *path);
bool cbi_is_null_device(const char *path);

/* Ends the life of what cbi_map_file() gave. */
void cbi_close_files(cbi_ctx *ctx);

/* The path under which a job has read a file; NULL: it has not. */
const char *cbi_find_read(const cbi_ctx *ctx, dev_t device, ino_t inode);

/* The file read last, if these are its bytes, copied or mapped for this job alone; else NULL. */
struct cbi_mapping *cbi_own_file(const cbi_ctx *ctx, cbi_span bytes);
/* The same for bytes in memory that were made for this use alone, from the context's arena. */
struct cbi_mapping *cbi_own_memory(cbi_ctx *ctx, cbi_span bytes);
bool cbi_is_mapped(const struct cbi_mapping *file);
/* Of a mapped one: nobody looks at these bytes soon. */
void cbi_drop_pages(const struct cbi_mapping *file, cbi_span part);
/* Of a copied one: nobody looks at these bytes again, and the arena takes them back. */
void cbi_reuse_bytes(cbi_ctx *ctx, const struct cbi_mapping *file, cbi_span part);
/* Of a copied one: its bytes are the caller's, for changing and for cbi_take_back(). */
void cbi_forget_file(struct cbi_mapping *file);

/* A file that is mapped and was written to since; NULL if all are as they were. */
const char *cbi_find_changed(const cbi_ctx *ctx);

/* Gives the pages of a part of a mapped file, and some around it, back to the system: they are read
 * again when they are needed.  Nothing happens to files that were copied. */
void cbi_give_back_pages(const cbi_ctx *ctx, cbi_span part);

/* For programs of one thread: when a mapped file shrinks while it is read, the innermost
 * job ends with CB_ERR_IO, instead of the process by SIGBUS. */
void cbi_watch_files(void);
/* The file that did so; NULL: none. */
const char *cbi_changed_file(void);

/* Adds the names in a folder that the filter takes, sorted; false: it cannot be listed. */
bool cbi_list_folder(cbi_ctx *ctx, const char *path, bool (*filter)(const char *name),
                     cbi_strings *names);

#endif
