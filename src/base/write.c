#include "base/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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

/* A section of a big link is far smaller than a write should be: parts are put together first. */
typedef struct collector {
    int fd;
    uint8_t *bytes;
    size_t used, room;
} collector;

static bool flush(collector *c)
{
    size_t used = c->used;
    c->used = 0;
    return cbi_write_all(c->fd, c->bytes, used);
}

static bool collect(collector *c, cbi_span part)
{
    if (c->bytes && part.size > c->room - c->used && !flush(c))
        return false;
    if (!c->bytes || part.size > c->room)
        return cbi_write_all(c->fd, part.data, part.size);
    if (part.size)
        memcpy(c->bytes + c->used, part.data, part.size);
    c->used += part.size;
    return true;
}

bool cbi_write_rope(int fd, const cbi_rope *rope)
{
    enum { ROOM = 64 * 1024 }; /* more costs more in page faults than it saves in calls */
    collector c = {.fd = fd, .room = rope->size < ROOM ? rope->size : ROOM};
    c.bytes = c.room ? malloc(c.room) : NULL;
    /* without memory each part is written alone */
    bool ok = true;
    for (size_t i = 0; ok && i < rope->parts.len; i++)
        ok = collect(&c, rope->parts.items[i]);
    ok = ok && (!c.bytes || flush(&c));
    free(c.bytes);
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
