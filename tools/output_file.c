#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t done = write(fd, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        size -= (size_t)done;
    }
    return true;
}

static cbi_output_result write_in_place(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return CBI_OUTPUT_NOT_OPENED;
    bool written = write_all(fd, data, size);
    if (close(fd) != 0)
        written = false;
    return written ? CBI_OUTPUT_OK : CBI_OUTPUT_NOT_WRITTEN;
}

/* The mode that open() would give a new file.  Reading the mask means setting it for a moment; the
 * tool writes its files from one thread. */
static mode_t new_file_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Writes beside `place` and renames.  False if that cannot be started here. */
static bool write_beside(const char *place, mode_t mode, const void *data, size_t size,
                         cbi_output_result *ret_result)
{
    char temporary[PATH_MAX];
    const char *slash = strrchr(place, '/');
    int folder = slash ? (int)(slash + 1 - place) : 0;
    int len = snprintf(temporary, sizeof temporary, "%.*s.cubind-XXXXXX", folder, place);
    if (len < 0 || (size_t)len >= sizeof temporary)
        return false;
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return false;
    bool written = write_all(fd, data, size) && fchmod(fd, mode) == 0;
    if (close(fd) != 0)
        written = false;
    if (written && rename(temporary, place) != 0)
        written = false;
    if (!written)
        unlink(temporary);
    *ret_result = written ? CBI_OUTPUT_OK : CBI_OUTPUT_NOT_WRITTEN;
    return true;
}

cbi_output_result cbi_write_output(const char *path, const void *data, size_t size)
{
    cbi_output_result result;
    struct stat st;
    if (stat(path, &st) == 0) {
        char real[PATH_MAX];
        bool replaceable = S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid == geteuid() &&
                           access(path, W_OK) == 0 && realpath(path, real);
        if (replaceable && write_beside(real, st.st_mode & 07777, data, size, &result))
            return result;
    } else if (errno == ENOENT && lstat(path, &st) != 0) {
        /* no such name at all; a dangling link is left to open() */
        if (write_beside(path, new_file_mode(), data, size, &result))
            return result;
    }
    return write_in_place(path, data, size);
}
