/* Putting prepared results in their places. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/output_entry.h"
#include "base/write.h"

typedef cbi_output_entry entry;

static bool write_contents(const entry *e)
{
    if (e->own)
        return cbi_write_all(e->fd, e->own, e->own_size);
    return e->text ? cbi_write_all(e->fd, e->text->items, e->text->len)
                   : cbi_write_rope(e->fd, &e->rope);
}

/* Overwrites without cutting first: the old blocks stay ours until the new contents are there. */
static bool replace_contents(entry *e)
{
    e->done = true;
    if (!e->text && !e->created && !(e->old = cbi_read_back(e->fd, e->old_size)))
        return false;
    return write_contents(e) && (e->text || ftruncate(e->fd, (off_t)e->rope.size) == 0);
}

static void put_back(const entry *e)
{
    if (e->old && (lseek(e->fd, 0, SEEK_SET) != 0 || !cbi_write_all(e->fd, e->old, e->old_size)))
        return;
    if (ftruncate(e->fd, (off_t)e->old_size) != 0)
        return;
}

/* With a way back if there are others that may fail: the old file takes the temporary name. */
static bool rename_entry(entry *e, bool alone)
{
    if (!alone && !e->created &&
        renameat2(AT_FDCWD, e->temporary, AT_FDCWD, e->place, RENAME_EXCHANGE) == 0)
        e->exchanged = true;
    else if (rename(e->temporary, e->place) != 0)
        return false;
    e->done = true;
    return true;
}

static void undo(entry *e)
{
    if (!e->done)
        return;
    if (e->way == CBI_WAY_IN_PLACE)
        put_back(e);
    else if (e->exchanged)
        (void)rename(e->temporary, e->place);
    else if (e->way == CBI_WAY_RENAME && e->created)
        unlink(e->place);
}

static bool sync_folder(const entry *e)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(e->place, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - e->place) : 1,
             slash ? e->place : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL); /* some cannot */
    if (fd >= 0)
        close(fd);
    return synced;
}

static bool perform(cbi_outputs *outputs, entry *e, cbi_output_way way)
{
    if (e->way != way)
        return true;
    bool done = way == CBI_WAY_RENAME     ? rename_entry(e, outputs->count == 1)
                : way == CBI_WAY_IN_PLACE ? replace_contents(e)
                                          : write_contents(e);
    if (done && outputs->durable)
        done =
            way == CBI_WAY_RENAME ? sync_folder(e) : way != CBI_WAY_IN_PLACE || fsync(e->fd) == 0;
    if (!done)
        outputs->failed = strdup(e->path);
    return done;
}

static bool perform_all(cbi_outputs *outputs, cbi_output_way way)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (!perform(outputs, outputs->entries[i], way))
            return false;
    return true;
}

cbi_output_result cbi_outputs_commit(cbi_outputs *outputs)
{
    /* what is likely to fail and cannot be undone goes first */
    bool done = perform_all(outputs, CBI_WAY_STREAM);
    sigset_t before;
    cbi_cleanup_hold(&before);
    done = done && perform_all(outputs, CBI_WAY_IN_PLACE) && perform_all(outputs, CBI_WAY_RENAME);
    int why = errno;
    /* backwards: of two results in one place the first has what was there */
    for (size_t i = outputs->count; i-- > 0;) {
        entry *e = outputs->entries[i];
        if (!done) {
            undo(e);
        } else {
            if (e->exchanged)
                unlink(e->temporary);
            cbi_cleanup_forget(e->cleanup);
            cbi_output_free(e);
        }
    }
    if (done)
        outputs->count = 0; /* they are freed */
    cbi_outputs_drop(outputs);
    cbi_cleanup_release(&before);
    errno = why;
    return done ? CBI_OUTPUT_OK : CBI_OUTPUT_NOT_WRITTEN;
}

cbi_output_result cbi_write_output_rope(const char *path, const cbi_rope *rope)
{
    cbi_outputs outputs = {0};
    cbi_output_result result = cbi_outputs_add(&outputs, path, rope);
    if (result == CBI_OUTPUT_OK)
        result = cbi_outputs_commit(&outputs);
    int why = errno;
    cbi_outputs_drop(&outputs);
    free(outputs.failed);
    errno = why;
    return result;
}

cbi_output_result cbi_write_output(const char *path, const void *data, size_t size)
{
    cbi_span part = {data, size};
    cbi_rope rope = {{&part, 1, 1}, size};
    return cbi_write_output_rope(path, &rope);
}
