/* Whole reads and writes of open files. */
#ifndef CBI_WRITE_H
#define CBI_WRITE_H

#include <limits.h>

#include "base/base.h"

/* All bytes, however many calls that takes.  errno says why not. */
bool cbi_write_all(int fd, const void *data, size_t size);
bool cbi_write_rope(int fd, const cbi_rope *rope);

/* All bytes from a place of a file on; false if it ends before, or cannot be read. */
bool cbi_read_at(int fd, void *data, uint64_t size, uint64_t at);

/* The first size bytes of a file; NULL if they cannot be had.  To be freed. */
uint8_t *cbi_read_back(int fd, size_t size);

/* Where a path leads, over symbolic links, whether anything is there or not; the path itself where
 * it leads to what has no name (/dev/stdout of a pipe).  False: too deep or too long. */
bool cbi_follow_links(const char *path, char ret_place[PATH_MAX]);

#endif
