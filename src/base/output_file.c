/* Preparing results. */
#include "base/output_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/write.h"

typedef cbi_output_entry entry;

void cbi_output_free(entry *e)
{
    if (e->fd >= 0)
        close(e->fd);
    free(e->path);
    free(e->place);
    free(e->temporary);
    free(e->old);
    free(e->own);
    free(e);
}

void cbi_output_drop(entry *e)
{
    if (e->way == CBI_WAY_RENAME)
        unlink(e->temporary);
    else if (e->way == CBI_WAY_IN_PLACE && e->created)
        unlink(e->place);
    else if (e->way == CBI_WAY_IN_PLACE && ftruncate(e->fd, (off_t)e->old_size) != 0)
        (void)0; /* room that was reserved behind the end stays */
    cbi_cleanup_forget(e->cleanup);
    cbi_output_free(e);
}

static entry *new_entry(const char *path)
{
    char place[PATH_MAX];
    if (!cbi_follow_links(path, place))
        return NULL;
    entry *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->fd = -1;
    e->cleanup = -1;
    e->path = strdup(path);
    e->place = strdup(place);
    if (e->path && e->place)
        return e;
    cbi_output_free(e);
    return NULL;
}

/* ---- beside ---- */

/* Creates the temporary file.  Unlike mkstemp this leaves the mode to the process's mask, which
 * threads share and nobody may change to read it. */
static int open_beside(entry *e)
{
    char name[PATH_MAX];
    const char *slash = strrchr(e->place, '/');
    int folder = slash ? (int)(slash + 1 - e->place) : 0;
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t number;
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            return -1;
        int len = snprintf(name, sizeof name, "%.*s.cubind-%016llx", folder, e->place,
                           (unsigned long long)number);
        if (len < 0 || len >= PATH_MAX || !(e->temporary = strdup(name)))
            return -1;
        sigset_t before;
        cbi_cleanup_hold(&before);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        int why = errno;
        if (fd >= 0)
            e->cleanup = cbi_cleanup_add(name, false);
        cbi_cleanup_release(&before);
        errno = why;
        if (fd >= 0)
            return fd;
        free(e->temporary);
        e->temporary = NULL;
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* Closes the entry on failure. */
static cbi_output_result write_beside(entry *e, int fd, const mode_t *keep_mode, bool durable)
{
    e->way = CBI_WAY_RENAME;
    bool written = cbi_write_rope(fd, &e->rope) && (!keep_mode || fchmod(fd, *keep_mode) == 0) &&
                   (!durable || fsync(fd) == 0);
    int why = errno;
    if (close(fd) != 0 && written) {
        why = errno;
        written = false;
    }
    if (written)
        return CBI_OUTPUT_OK;
    cbi_output_drop(e);
    errno = why;
    return CBI_OUTPUT_NOT_WRITTEN;
}

/* ---- in place ---- */

/* A file system that cannot reserve is no reason to refuse. */
static bool reserve(const entry *e, size_t size)
{
    if (size <= e->old_size)
        return true;
    if (fallocate(e->fd, FALLOC_FL_KEEP_SIZE, (off_t)e->old_size, (off_t)(size - e->old_size)) == 0)
        return true;
    return errno != ENOSPC && errno != EDQUOT && errno != EFBIG;
}

/* Closes the entry on failure. */
static cbi_output_result open_in_place(entry *e, bool append)
{
    struct stat st;
    bool there = stat(e->place, &st) == 0;
    /* to be read again, where that is allowed, for the way back */
    int flags = O_CLOEXEC | O_NOCTTY | (append ? O_APPEND : 0) | (there ? 0 : O_CREAT);
    bool regular = !there || S_ISREG(st.st_mode);
    sigset_t before;
    cbi_cleanup_hold(&before);
    if (!regular)
        cbi_cleanup_release(&before); /* a pipe may wait for its reader */
    e->fd = regular ? open(e->place, O_RDWR | flags, 0666) : -1;
    if (e->fd < 0)
        e->fd = open(e->place, O_WRONLY | flags, 0666);
    int why = errno;
    bool opened = e->fd >= 0 && fstat(e->fd, &st) == 0;
    e->created = opened && !there;
    if (e->created)
        e->cleanup = cbi_cleanup_add(e->place, false);
    if (regular)
        cbi_cleanup_release(&before);
    if (!opened) {
        cbi_output_free(e);
        errno = why;
        return CBI_OUTPUT_NOT_OPENED;
    }
    e->way = S_ISREG(st.st_mode) ? CBI_WAY_IN_PLACE : CBI_WAY_STREAM;
    e->old_size = e->way == CBI_WAY_IN_PLACE ? (size_t)st.st_size : 0;
    if (e->way == CBI_WAY_STREAM || append || reserve(e, e->rope.size))
        return CBI_OUTPUT_OK;
    why = errno;
    cbi_output_drop(e);
    errno = why;
    return CBI_OUTPUT_NOT_WRITTEN;
}

/* ---- preparing ---- */

/* Room for that many more. */
static bool make_room(cbi_outputs *outputs, size_t more)
{
    if (outputs->room - outputs->count >= more)
        return true;
    size_t room = outputs->count + more + 8;
    entry **entries = realloc(outputs->entries, room * sizeof(entry *));
    if (!entries)
        return false;
    outputs->entries = entries;
    outputs->room = room;
    return true;
}

static cbi_output_result keep(cbi_outputs *outputs, entry *e)
{
    outputs->entries[outputs->count++] = e;
    return CBI_OUTPUT_OK;
}

cbi_output_result cbi_outputs_add(cbi_outputs *outputs, const char *path, const cbi_rope *rope)
{
    struct stat st;
    entry *e = path[0] && make_room(outputs, 1) ? new_entry(path) : NULL;
    if (!e)
        return CBI_OUTPUT_NOT_OPENED;
    e->rope = *rope;
    bool there = stat(path, &st) == 0;
    bool replaceable = there ? S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid == geteuid() &&
                                   access(path, W_OK) == 0
                             : errno == ENOENT;
    int fd = replaceable ? open_beside(e) : -1;
    cbi_output_result result;
    if (fd < 0) {
        result = open_in_place(e, false);
    } else {
        mode_t mode = there ? st.st_mode & 07777 : 0;
        e->created = !there;
        result = write_beside(e, fd, there ? &mode : NULL, outputs->durable);
    }
    return result == CBI_OUTPUT_OK ? keep(outputs, e) : result;
}

cbi_output_result cbi_outputs_append(cbi_outputs *outputs, const char *path, const cbi_buf *text)
{
    entry *e = path[0] && make_room(outputs, 1) ? new_entry(path) : NULL;
    if (!e)
        return CBI_OUTPUT_NOT_OPENED;
    e->text = text;
    cbi_output_result result = open_in_place(e, true);
    return result == CBI_OUTPUT_OK ? keep(outputs, e) : result;
}

void cbi_outputs_drop(cbi_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        cbi_output_drop(outputs->entries[i]);
    free(outputs->entries);
    outputs->entries = NULL;
    outputs->count = outputs->room = 0;
}

void cbi_outputs_drop_results(cbi_outputs *outputs)
{
    size_t kept = 0;
    for (size_t i = 0; i < outputs->count; i++) {
        if (outputs->entries[i]->text)
            outputs->entries[kept++] = outputs->entries[i];
        else
            cbi_output_drop(outputs->entries[i]);
    }
    outputs->count = kept;
}

/* ---- joining ---- */

/* What is beside its place already needs its bytes no longer. */
static bool own_bytes(entry *e)
{
    if (e->way == CBI_WAY_RENAME || e->own)
        return true;
    e->own_size = e->text ? e->text->len : e->rope.size;
    uint8_t *own = malloc(e->own_size + 1), *at = own;
    if (!own)
        return false;
    e->own = own;
    if (e->text && e->text->len)
        memcpy(at, e->text->items, e->text->len);
    for (size_t i = 0; !e->text && i < e->rope.parts.len; i++) {
        const cbi_span *part = &e->rope.parts.items[i];
        if (part->size)
            memcpy(at, part->data, part->size);
        at += part->size;
    }
    return true;
}

bool cbi_outputs_join(cbi_outputs *to, cbi_outputs *from)
{
    bool owned = make_room(to, from->count);
    for (size_t i = 0; owned && i < from->count; i++)
        owned = own_bytes(from->entries[i]);
    for (size_t i = 0; owned && i < from->count; i++)
        to->entries[to->count++] = from->entries[i];
    if (owned)
        from->count = 0; /* they are the other's */
    to->durable |= from->durable;
    cbi_outputs_drop(from);
    return owned;
}
