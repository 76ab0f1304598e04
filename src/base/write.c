#include "base/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

enum {
    CALL_PARTS = 1024,    /* which every system takes at once (IOV_MAX) */
    CALL_BYTES = 1 << 20, /* the file's cache takes large pages where a call fills them */
};

/* What is still to be written of a rope. */
typedef struct rest {
    const cbi_span *part, *end;
    size_t skip; /* of the first part */
    size_t at;   /* place of the first byte */
} rest;

static void advance(rest *r, size_t size)
{
    r->at += size;
    size += r->skip;
    while (r->part < r->end && size >= r->part->size)
        size -= r->part++->size;
    r->skip = size;
}

/* The next bytes that one call writes, up to a round place in the file. */
static int gather(const rest *r, struct iovec *parts)
{
    const size_t until = (r->at / CALL_BYTES + 1) * CALL_BYTES;
    size_t at = r->at, skip = r->skip;
    int count = 0;
    for (const cbi_span *p = r->part; p < r->end && count < CALL_PARTS && at < until; p++) {
        const size_t left = p->size - skip, size = left < until - at ? left : until - at;
        parts[count++] = (struct iovec){(uint8_t *)p->data + skip, size};
        at += size;
        skip = 0;
    }
    return count;
}

bool cbi_write_rope(int fd, const cbi_rope *rope)
{
    size_t room = rope->parts.len < CALL_PARTS ? rope->parts.len : CALL_PARTS;
    struct iovec *parts = malloc((room + 1) * sizeof *parts);
    rest r = {.part = rope->parts.items, .end = rope->parts.items + rope->parts.len};
    bool ok = parts != NULL;
    for (advance(&r, 0); ok && r.part < r.end;) {
        ssize_t done = writev(fd, parts, gather(&r, parts));
        if (done > 0)
            advance(&r, (size_t)done);
        ok = done > 0 || (done < 0 && errno == EINTR);
    }
    free(parts);
    return ok;
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

/* Is there something under the path, but not where its links say?  So it is with what the kernel
 * links to in /dev/fd, for that may have no name. */
static bool is_nameless(const char *path, const char *place)
{
    struct stat there, named;
    return stat(path, &there) == 0 && (stat(place, &named) != 0 || there.st_dev != named.st_dev ||
                                       there.st_ino != named.st_ino);
}

bool cbi_follow_links(const char *path, char ret_place[PATH_MAX])
{
    enum { LINKS_MAX = 40 };
    char next[PATH_MAX];
    if (snprintf(ret_place, PATH_MAX, "%s", path) >= PATH_MAX)
        return false;
    for (int links = 0; links < LINKS_MAX; links++) {
        ssize_t len = readlink(ret_place, next, sizeof next - 1);
        if (len < 0) {
            if (links && is_nameless(path, ret_place))
                memcpy(ret_place, path, strlen(path) + 1); /* fitted before */
            return true;
        }
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
