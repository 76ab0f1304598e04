#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parallel.h"

/* Up to this size a file is copied, which costs no more than mapping it: a system has few places
 * for maps, and a copy stays as it is when the file changes. */
#define COPIED_MAX ((size_t)128 * 1024)
#define PIPE_MAX   ((size_t)1 << 30)
#define READ_AHEAD ((size_t)64 * 1024)

enum { WRITER_MS = 10000 }; /* to wait for somebody who opens the other end of a pipe */

typedef struct cbi_mapping {
    struct cbi_mapping *next;
    const char *path;
    void *base;
    size_t size;
    dev_t device;
    ino_t inode;
    bool mapped;
    bool copied; /* to memory of the arena */
    bool shared; /* belongs to the context that reads for several jobs */
    struct timespec written;
    struct cbi_mapping *next_watched;
} cbi_mapping;

/* ---- maps whose files shrink under them ---- */

static bool watching;
static cbi_mapping *watched;
static char changed[4096]; /* path of the file that shrank */

/* The read is given up, and with it the innermost job. */
static void on_bus(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    const uint8_t *at = info->si_addr;
    for (const cbi_mapping *m = watched; m; m = m->next_watched) {
        const uint8_t *base = m->base;
        if (at < base || (size_t)(at - base) >= m->size || !cbi_running())
            continue;
        size_t len = strnlen(m->path, sizeof changed - 1);
        memcpy(changed, m->path, len);
        changed[len] = 0;
        cbi_fail(cbi_running(), CB_ERR_IO);
    }
    signal(signal_number, SIG_DFL); /* not ours: the same instruction ends the process */
}

void cbi_watch_files(void)
{
    struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    watching = sigaction(SIGBUS, &action, NULL) == 0;
}

const char *cbi_changed_file(void)
{
    return changed[0] ? changed : NULL;
}

static void watch(cbi_mapping *m)
{
    if (!watching)
        return;
    m->next_watched = watched;
    watched = m;
}

static void unwatch(const cbi_mapping *m)
{
    for (cbi_mapping **at = &watched; *at; at = &(*at)->next_watched)
        if (*at == m) {
            *at = m->next_watched;
            return;
        }
}

/* ---- reading ---- */

bool cbi_is_device(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISCHR(st.st_mode);
}

bool cbi_is_null_device(const char *path)
{
    struct stat st, null;
    return stat(path, &st) == 0 && stat("/dev/null", &null) == 0 && S_ISCHR(st.st_mode) &&
           st.st_rdev == null.st_rdev;
}

/* A pipe's contents.  One that nobody writes to is an error, not a reason to wait for ever. */
static bool read_pipe(cbi_ctx *ctx, int fd, cbi_span *ret_bytes)
{
    cbi_buf all = {0};
    uint8_t block[4096];
    for (bool ended = false; !ended;) {
        ssize_t size = read(fd, block, sizeof block);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (size > 0 && all.len < PIPE_MAX) {
            cbi_buf_append(ctx, &all, block, (size_t)size);
        } else if (size < 0 && errno == EAGAIN) {
            poll(&p, 1, -1); /* somebody has it open */
        } else if (size == 0) {
            ended = all.len || poll(&p, 1, WRITER_MS) == 0 || !(p.revents & POLLIN);
            if (ended && !all.len && !p.revents) {
                errno = ETIMEDOUT;
                return false;
            }
        } else if (size > 0 || errno != EINTR) {
            errno = size > 0 ? EFBIG : errno;
            return false;
        }
    }
    *ret_bytes = (cbi_span){all.items, all.len};
    return true;
}

static bool read_whole(int fd, uint8_t *to, size_t size)
{
    while (size) {
        ssize_t done = read(fd, to, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done ? errno : EIO; /* it became shorter */
            return false;
        }
        to += done;
        size -= (size_t)done;
    }
    return true;
}

static bool get_bytes(cbi_ctx *ctx, int fd, size_t size, cbi_mapping *m)
{
    if (size > COPIED_MAX) {
        /* MAP_PRIVATE: the inputs are read once; a writer of the same file is not our case. */
        m->base = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        m->mapped = m->base != MAP_FAILED;
    }
    m->size = size;
    if (m->mapped)
        return true;
    m->base = cbi_alloc(ctx, size);
    m->copied = true;
    return read_whole(fd, m->base, size);
}

typedef struct reading {
    int fd;
    cbi_mapping *file;
    bool ahead; /* only a plain file is read: what is read from a pipe is gone */
    bool small; /* ... and only one that is copied */
    bool kept;  /* it is none, and stays open */
} reading;

static cb_status read_file(cbi_ctx *ctx, void *arg)
{
    reading *r = arg;
    struct stat st;
    cbi_span bytes = {NULL, 0};
    if (fstat(r->fd, &st) != 0)
        return CB_ERR_IO;
    r->kept = r->ahead && !S_ISREG(st.st_mode);
    if (r->kept)
        return CB_OK;
    if (r->small && (uint64_t)st.st_size > COPIED_MAX)
        return CB_ERR_IO;
    r->file->device = st.st_dev;
    r->file->inode = st.st_ino;
    r->file->written = st.st_mtim;
    if (S_ISFIFO(st.st_mode)) {
        bool done = read_pipe(ctx, r->fd, &bytes);
        r->file->base = (void *)bytes.data;
        r->file->size = bytes.size;
        return done ? CB_OK : CB_ERR_IO;
    }
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return CB_ERR_IO;
    }
    return st.st_size == 0 || get_bytes(ctx, r->fd, (size_t)st.st_size, r->file) ? CB_OK
                                                                                 : CB_ERR_IO;
}

static void enter(cbi_ctx *ctx, cbi_mapping *m)
{
    m->next = ctx->mappings;
    ctx->mappings = m;
}

/* Without waiting for the other end of a pipe. */
enum { FILE_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

static int open_path(const char *path)
{
    return open(path, FILE_FLAGS);
}

static cb_status read_opened(cbi_ctx *ctx, reading *r)
{
    if (r->fd < 0)
        return CB_ERR_IO;
    cb_status status = cbi_run(ctx, read_file, r);
    int why = errno;
    if (!r->kept)
        close(r->fd);
    errno = why;
    if (status == CB_ERR_NOMEM)
        cbi_fail(ctx, status);
    return status;
}

/* A limit on memory that goes by what is read (ctx->memory_multiple). */
static void raise_limit(cbi_ctx *ctx, uint64_t read)
{
    uint64_t more;
    if (ctx->memory_limit && cbi_mul(read, ctx->memory_multiple, &more) && more < SIZE_MAX / 4)
        ctx->memory_limit += more;
}

/* ---- reading ahead ---- */

typedef struct ahead_file {
    const char *path;
    cbi_mapping *file; /* NULL: not read */
    int fd;            /* of what is no plain file; else -1 */
    bool elsewhere;    /* a thread has read it whose memory is not counted yet */
} ahead_file;

struct cbi_read_ahead {
    ahead_file *files;
    size_t count;
    size_t ready;  /* of the first ones it is known whether they have been read */
    size_t next;   /* that nobody has asked for */
    int folder;    /* where all of them are, opened; or -1 */
    size_t prefix; /* length of its name in their paths */
};

enum { WORTH = 32 * 1024 }; /* to open a file is like reading so many bytes */

/* The length of the folder's name with which all paths begin, to be followed by names of files. */
static size_t common_folder(const char *const *paths, size_t count)
{
    const char *slash = strrchr(paths[0], '/');
    const size_t length = slash ? (size_t)(slash - paths[0]) + 1 : 0;
    for (size_t i = 1; length && i < count; i++)
        if (strncmp(paths[i], paths[0], length) != 0 || strchr(paths[i] + length, '/'))
            return 0;
    return length;
}

/* Many files of one folder are opened from there: the system does not walk their common path again
 * and again. */
static void open_folder(cbi_ctx *ctx, struct cbi_read_ahead *ahead)
{
    enum { MANY = 16 };
    const char *first = ahead->files[0].path;
    if (ahead->count >= MANY && ahead->prefix)
        ahead->folder =
            open(cbi_strndup(ctx, first, ahead->prefix), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_ahead(const struct cbi_read_ahead *ahead, const char *path)
{
    return ahead->folder < 0 ? open_path(path)
                             : openat(ahead->folder, path + ahead->prefix, FILE_FLAGS);
}

/* What fails is tried again in its turn, and what is no plain file waits for it. */
static void read_ahead(cbi_ctx *ctx, const struct cbi_read_ahead *ahead, size_t i, bool small)
{
    ahead_file *f = &ahead->files[i];
    cbi_mapping *m = CBI_NEW(ctx, cbi_mapping);
    m->path = f->path;
    reading r = {.fd = open_ahead(ahead, f->path), .file = m, .ahead = true, .small = small};
    if (read_opened(ctx, &r) != CB_OK)
        return;
    if (r.kept) {
        f->fd = r.fd;
        return;
    }
    f->file = m;
    raise_limit(ctx, m->size);
}

static void read_one_planned(cbi_ctx *ctx, void *arg, size_t i)
{
    const struct cbi_read_ahead *ahead = arg;
    if (i >= ahead->ready)
        read_ahead(ctx, ahead, i, false);
}

static struct cbi_read_ahead *plan(cbi_ctx *ctx, const char *const *paths, size_t count)
{
    struct cbi_read_ahead *ahead = CBI_NEW(ctx, struct cbi_read_ahead);
    ahead->files = CBI_NEW_ARRAY(ctx, count, ahead_file);
    ahead->count = count;
    for (size_t i = 0; i < count; i++)
        ahead->files[i] = (ahead_file){.path = paths[i], .fd = -1};
    ahead->prefix = common_folder(paths, count);
    ahead->folder = -1;
    ctx->ahead = ahead;
    open_folder(ctx, ahead);
    return ahead;
}

void cbi_read_ahead(cbi_ctx *ctx, const char *const *paths, size_t count)
{
    uint64_t bytes = (uint64_t)count * WORTH;
    struct cbi_read_ahead *ahead = ctx->ahead;
    if (ctx->shared_files || (ahead && ahead->next) || !cbi_parallel_pays(ctx, count, bytes))
        return;
    if (!ahead)
        ahead = plan(ctx, paths, count);
    cbi_parallel(ctx, count, bytes, read_one_planned, ahead);
    ahead->ready = count;
}

cbi_span cbi_plan_reading(cbi_ctx *ctx, const char *const *paths, size_t count, uint64_t *ret_worth)
{
    if (ctx->shared_files || ctx->ahead || !count)
        return (cbi_span){NULL, 0};
    struct cbi_read_ahead *ahead = plan(ctx, paths, count);
    const cbi_span first = cbi_read_planned(ctx, ctx, 0);
    ahead->ready = 1;
    *ret_worth = (uint64_t)count * (first.size > WORTH ? first.size : WORTH);
    return first;
}

cbi_span cbi_read_planned(cbi_ctx *ctx, const cbi_ctx *job, size_t i)
{
    ahead_file *f = &job->ahead->files[i];
    if (!f->file) {
        read_ahead(ctx, job->ahead, i, true);
        f->elsewhere = ctx != job;
    }
    return f->file ? (cbi_span){f->file->base, f->file->size} : (cbi_span){NULL, 0};
}

void cbi_reach_planned(const cbi_ctx *job, size_t i)
{
    job->ahead->ready = i + 1;
}

static ahead_file *take_ahead(cbi_ctx *ctx, const char *path)
{
    struct cbi_read_ahead *ahead = ctx->ahead;
    if (!ahead || ahead->next >= ahead->ready || strcmp(ahead->files[ahead->next].path, path) != 0)
        return NULL;
    return &ahead->files[ahead->next++];
}

static void drop_ahead(cbi_ctx *ctx)
{
    struct cbi_read_ahead *ahead = ctx->ahead;
    for (; ahead && ahead->next < ahead->count; ahead->next++) {
        const ahead_file *f = &ahead->files[ahead->next];
        if (f->file && f->file->mapped)
            munmap(f->file->base, f->file->size);
        if (f->fd >= 0)
            close(f->fd);
    }
    if (ahead && ahead->folder >= 0)
        close(ahead->folder);
    ctx->ahead = NULL;
}

/* ---- files of a job ---- */

/* Reads by the context itself. */
static cb_status map_own(cbi_ctx *ctx, const char *path, cbi_span *ret_bytes)
{
    const ahead_file *ahead = take_ahead(ctx, path);
    cbi_mapping *m = ahead ? ahead->file : NULL;
    if (!m) {
        m = CBI_NEW(ctx, cbi_mapping);
        m->path = cbi_strndup(ctx, path, strlen(path));
        reading r = {.fd = ahead && ahead->fd >= 0 ? ahead->fd : open_path(path), .file = m};
        cb_status status = read_opened(ctx, &r);
        if (status != CB_OK)
            return status;
        raise_limit(ctx, m->size);
    } else if (ahead->elsewhere) {
        raise_limit(ctx, m->size); /* for what the job makes of it meanwhile */
    }
    if (m->size) {
        enter(ctx, m);
        if (m->mapped)
            watch(m);
    }
    *ret_bytes = (cbi_span){m->base, m->size};
    return CB_OK;
}

/* Lets another context read, unless it has. */
static cb_status map_shared(cbi_ctx *ctx, const char *path, cbi_span *ret_bytes)
{
    cbi_ctx *reader = ctx->shared_files;
    const cbi_name *name = cbi_intern(reader, path);
    cbi_mapping *m = cbi_name_get(&reader->files_by_name, name);
    if (!m) {
        const cbi_mapping *before = reader->mappings;
        cb_status status = map_own(reader, path, ret_bytes);
        if (status != CB_OK || reader->mappings == before)
            return status; /* an empty file leaves no trace */
        m = reader->mappings;
        cbi_name_put(reader, &reader->files_by_name, name, m);
    }
    cbi_mapping *own = CBI_NEW(ctx, cbi_mapping);
    *own = *m;
    own->shared = true;
    enter(ctx, own);
    raise_limit(ctx, m->size);
    *ret_bytes = (cbi_span){m->base, m->size};
    return CB_OK;
}

cb_status cbi_map_file(cbi_ctx *ctx, const char *path, cbi_span *ret_bytes)
{
    return ctx->shared_files ? map_shared(ctx, path, ret_bytes) : map_own(ctx, path, ret_bytes);
}

void cbi_close_files(cbi_ctx *ctx)
{
    drop_ahead(ctx);
    for (cbi_mapping *m = ctx->mappings; m; m = m->next) {
        if (!m->mapped || m->shared)
            continue;
        unwatch(m);
        munmap(m->base, m->size);
    }
    ctx->mappings = NULL;
}

void cbi_give_back_pages(const cbi_ctx *ctx, cbi_span part)
{
    for (const cbi_mapping *m = ctx->mappings; m; m = m->next) {
        const uint8_t *base = m->base;
        if (!m->mapped || part.data < base ||
            !cbi_fits((uint64_t)(part.data - base), part.size, m->size))
            continue;
        /* the system reads ahead in groups of pages, so the neighbours are there, too */
        size_t start = (size_t)(part.data - base) / READ_AHEAD * READ_AHEAD;
        size_t end = cbi_align_up((size_t)(part.data - base) + part.size, READ_AHEAD);
        madvise((uint8_t *)m->base + start, (end < m->size ? end : m->size) - start, MADV_DONTNEED);
        return;
    }
}

cbi_mapping *cbi_own_file(const cbi_ctx *ctx, cbi_span bytes)
{
    cbi_mapping *m = ctx->mappings;
    bool own = m && (m->copied || m->mapped) && !m->shared && m->base == bytes.data &&
               m->size == bytes.size;
    return own ? m : NULL;
}

cbi_mapping *cbi_own_memory(cbi_ctx *ctx, cbi_span bytes)
{
    cbi_mapping *m = CBI_NEW(ctx, cbi_mapping);
    m->base = (void *)bytes.data;
    m->size = bytes.size;
    m->copied = true;
    return m;
}

bool cbi_is_mapped(const cbi_mapping *file)
{
    return file->mapped;
}

void cbi_drop_pages(const cbi_mapping *file, cbi_span part)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t start = (size_t)(part.data - (const uint8_t *)file->base);
    size_t end = (start + part.size) / page * page;
    start = (size_t)cbi_align_up(start, page);
    if (start < end)
        madvise((uint8_t *)file->base + start, end - start, MADV_DONTNEED);
}

void cbi_reuse_bytes(cbi_ctx *ctx, const cbi_mapping *file, cbi_span part)
{
    uint8_t *base = file->base;
    cbi_take_back(ctx, base + (part.data - base), part.size);
}

void cbi_forget_file(cbi_mapping *file)
{
    file->base = NULL;
    file->size = 0;
}

void cbi_each_mapping(const cbi_ctx *ctx, cbi_mapping_fn fn, void *user)
{
    for (const cbi_mapping *m = ctx->mappings; m; m = m->next)
        if (m->size)
            fn(user, m->path, (cbi_span){m->base, m->size});
}

const char *cbi_find_read(const cbi_ctx *ctx, dev_t device, ino_t inode)
{
    for (const cbi_mapping *m = ctx->mappings; m; m = m->next)
        if (m->device == device && m->inode == inode)
            return m->path;
    return NULL;
}

const char *cbi_find_changed(const cbi_ctx *ctx)
{
    struct stat st;
    for (const cbi_mapping *m = ctx->mappings; m; m = m->next)
        if (m->mapped && stat(m->path, &st) == 0 && st.st_dev == m->device &&
            st.st_ino == m->inode &&
            ((size_t)st.st_size != m->size || st.st_mtim.tv_sec != m->written.tv_sec ||
             st.st_mtim.tv_nsec != m->written.tv_nsec))
            return m->path;
    return NULL;
}

/* ---- folders ---- */

/* Copies the names one after another as far as they fit; returns the bytes that all need. */
static size_t read_names(DIR *dir, bool (*filter)(const char *name), char *names, size_t room)
{
    size_t need = 0;
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        size_t size = strlen(e->d_name) + 1;
        if (!filter(e->d_name))
            continue;
        if (names && need + size <= room)
            memcpy(names + need, e->d_name, size);
        else
            room = need;
        need += size;
    }
    return need;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool cbi_list_folder(cbi_ctx *ctx, const char *path, bool (*filter)(const char *name),
                     cbi_strings *names)
{
    /* Read twice: while the folder is open nothing may be allocated, which can end the job. */
    size_t room = 0;
    char *text = NULL;
    for (int pass = 0; pass < 2; pass++) {
        DIR *dir = opendir(path);
        if (!dir)
            return false;
        size_t need = read_names(dir, filter, text, room);
        closedir(dir);
        if (!pass) {
            room = need;
            text = cbi_alloc(ctx, need + 1);
        }
    }
    size_t first = names->len;
    for (size_t at = 0; at < room && text[at]; at += strlen(text + at) + 1)
        cbi_vec_push(ctx, names, text + at);
    if (names->len > first)
        qsort(names->items + first, names->len - first, sizeof *names->items, compare_names);
    return true;
}
