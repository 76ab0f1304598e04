#include "base/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

bool cbi_write_all(int fd, const void *data, size_t size)
{
    const uint8_t *p = data;
    while (size) {
        ssize_t done = write(fd, p, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        size -= (size_t)done;
    }
    return true;
}

/* Drops what is written from the front. */
static void advance(struct iovec **parts, size_t *count, size_t done)
{
    while (*count && done >= (*parts)->iov_len) {
        done -= (*parts)->iov_len;
        ++*parts;
        --*count;
    }
    if (*count) {
        (*parts)->iov_base = (uint8_t *)(*parts)->iov_base + done;
        (*parts)->iov_len -= done;
    }
}

/* Small parts go together: a section of a big link is far smaller than a write should be. */
bool cbi_write_rope(int fd, const cbi_rope *rope)
{
    enum { TOGETHER = 128 };
    struct iovec batch[TOGETHER];
    for (size_t i = 0; i < rope->parts.len;) {
        size_t count = 0;
        for (; i < rope->parts.len && count < TOGETHER; i++)
            if (rope->parts.items[i].size)
                batch[count++] =
                    (struct iovec){(void *)rope->parts.items[i].data, rope->parts.items[i].size};
        struct iovec *left = batch;
        while (count) {
            ssize_t done = writev(fd, left, (int)count);
            if (done < 0 && errno == EINTR)
                continue;
            if (done <= 0)
                return false;
            advance(&left, &count, (size_t)done);
        }
    }
    return true;
}

bool cbi_read_at(int fd, void *data, uint64_t size, uint64_t at)
{
    uint8_t *p = data;
    while (size) {
        ssize_t done = pread(fd, p, size, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        at += (uint64_t)done;
        size -= (uint64_t)done;
    }
    return true;
}

uint8_t *cbi_read_back(int fd, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    if (bytes && cbi_read_at(fd, bytes, size, 0))
        return bytes;
    free(bytes);
    return NULL;
}

bool cbi_follow_links(const char *path, char ret_place[PATH_MAX])
{
    enum { LINKS_MAX = 40 };
    char next[PATH_MAX];
    if (snprintf(ret_place, PATH_MAX, "%s", path) >= PATH_MAX)
        return false;
    for (int links = 0; links < LINKS_MAX; links++) {
        ssize_t len = readlink(ret_place, next, sizeof next - 1);
        if (len < 0)
            return true;
        next[len] = 0;
        const char *slash = next[0] == '/' ? NULL : strrchr(ret_place, '/');
        size_t folder = slash ? (size_t)(slash + 1 - ret_place) : 0;
        if (folder + (size_t)len >= PATH_MAX)
            return false;
        memcpy(ret_place + folder, next, (size_t)len + 1);
    }
    errno = ELOOP;
    return false;
}
