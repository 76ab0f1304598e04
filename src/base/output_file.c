#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
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

/* Small parts are gathered: a section of a big link is far smaller than a write should be. */
static bool write_rope(int fd, const cbi_rope *rope)
{
    char buffer[64 * 1024];
    size_t used = 0;
    for (size_t i = 0; i < rope->parts.len; i++) {
        const cbi_span *part = &rope->parts.items[i];
        if (part->size > sizeof buffer - used) {
            if (!write_all(fd, buffer, used))
                return false;
            used = 0;
        }
        if (part->size > sizeof buffer) {
            if (!write_all(fd, (const char *)part->data, part->size))
                return false;
        } else {
            memcpy(buffer + used, part->data, part->size);
            used += part->size;
        }
    }
    return write_all(fd, buffer, used);
}

static cbi_output_result write_in_place(const char *path, const cbi_rope *rope)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return CBI_OUTPUT_NOT_OPENED;
    bool written = write_rope(fd, rope);
    if (close(fd) != 0)
        written = false;
    return written ? CBI_OUTPUT_OK : CBI_OUTPUT_NOT_WRITTEN;
}

/* Opens a new file beside `place`, whose folder is the first `folder` bytes of it.  Unlike mkstemp
 * this leaves the mode to the process's mask, which threads share and nobody may change to read it.
 */
static int open_beside(const char *place, int folder, char name[PATH_MAX])
{
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t number;
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            return -1;
        int len = snprintf(name, PATH_MAX, "%.*s.cubind-%016llx", folder, place,
                           (unsigned long long)number);
        if (len < 0 || len >= PATH_MAX)
            return -1;
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Writes beside `place` and renames.  keep_mode, if not NULL, is the mode to give the file.  False
 * if that cannot be started here. */
static bool write_beside(const char *place, const mode_t *keep_mode, const cbi_rope *rope,
                         cbi_output_result *ret_result)
{
    char temporary[PATH_MAX];
    const char *slash = strrchr(place, '/');
    int fd = open_beside(place, slash ? (int)(slash + 1 - place) : 0, temporary);
    if (fd < 0)
        return false;
    bool written = write_rope(fd, rope) && (!keep_mode || fchmod(fd, *keep_mode) == 0);
    if (close(fd) != 0)
        written = false;
    if (written && rename(temporary, place) != 0)
        written = false;
    if (!written)
        unlink(temporary);
    *ret_result = written ? CBI_OUTPUT_OK : CBI_OUTPUT_NOT_WRITTEN;
    return true;
}

cbi_output_result cbi_write_output_rope(const char *path, const cbi_rope *rope)
{
    cbi_output_result result;
    struct stat st;
    if (stat(path, &st) == 0) {
        char real[PATH_MAX];
        bool replaceable = S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid == geteuid() &&
                           access(path, W_OK) == 0 && realpath(path, real);
        mode_t mode = st.st_mode & 07777;
        if (replaceable && write_beside(real, &mode, rope, &result))
            return result;
    } else if (errno == ENOENT && path[0] && lstat(path, &st) != 0) {
        /* no such name at all; a dangling link is left to open() */
        if (write_beside(path, NULL, rope, &result))
            return result;
    }
    return write_in_place(path, rope);
}

cbi_output_result cbi_write_output(const char *path, const void *data, size_t size)
{
    cbi_span part = {data, size};
    cbi_rope rope = {{&part, 1, 1}, size};
    return cbi_write_output_rope(path, &rope);
}

static int make_one_folder(const char *path)
{
    struct stat st;
    if (mkdir(path, 0777) == 0)
        return 0;
    int why = errno;
    if (stat(path, &st) != 0)
        return why;
    return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
}

int cbi_make_folder(const char *path)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    if (len >= sizeof part)
        return ENAMETOOLONG;
    for (size_t i = 1; i < len; i++) {
        if (path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        int why = make_one_folder(part);
        if (why)
            return why;
    }
    return make_one_folder(path);
}
