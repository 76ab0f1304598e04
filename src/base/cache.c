#include "base/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/write.h"

/* An entry: this head, the key, the value. */
enum { HEAD = 40, MAGIC_SIZE = 8, NAME_SIZE = 32, STALE_SECONDS = 3600 };
static const char magic[MAGIC_SIZE] = "cbcache1";
static const char temporary[] = "new-";
static const char lock_name[] = "lock";

/* ---- the folder ---- */

/* Nobody else may put entries there: they would become code. */
static bool is_private(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static uint64_t size_limit(cbi_ctx *ctx)
{
    const char *text = getenv("CUBIND_CACHE_SIZE");
    unsigned long long mebibytes = CBI_CACHE_MEBIBYTES;
    if (text && *text) {
        char *end = NULL;
        if (*text >= '0' && *text <= '9')
            mebibytes = strtoull(text, &end, 10);
        if (!end || *end || mebibytes > UINT64_MAX >> 20) {
            mebibytes = CBI_CACHE_MEBIBYTES;
            cbi_warning(ctx, "cache-size", NULL, "a number of MiB is expected",
                        "CUBIND_CACHE_SIZE is '%s': the cache gets %llu MiB", text, mebibytes);
        }
    }
    return (uint64_t)mebibytes << 20;
}

static void report_unused(cbi_ctx *ctx, const char *folder, const char *why)
{
    cbi_warning(ctx, "cache-folder", &(cbi_place){.file = folder}, NULL,
                "The cache '%s' is not used: %s", folder, why);
}

cbi_cache cbi_cache_open(cbi_ctx *ctx, const char *folder)
{
    cbi_cache none = {NULL, 0};
    struct stat st;
    if (!folder)
        folder = getenv("CUBIND_CACHE");
    if (!folder || !*folder)
        return none;
    bool made = mkdir(folder, 0700) == 0 || errno == EEXIST;
    bool found = made && stat(folder, &st) == 0;
    if (found && !S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        found = false;
    }
    if (!found) {
        report_unused(ctx, folder, strerror(errno));
        return none;
    }
    if (!is_private(&st)) {
        cbi_warning(ctx, "cache-folder", &(cbi_place){.file = folder},
                    "it must be a folder of the user's that nobody else can write to (chmod 700)",
                    "The cache '%s' is not used: others could put code into it", folder);
        return none;
    }
    return (cbi_cache){cbi_strndup(ctx, folder, strlen(folder)), size_limit(ctx)};
}

/* ---- keys ---- */

void cbi_cache_add_bytes(cbi_ctx *ctx, cbi_buf *key, const void *data, size_t size)
{
    uint8_t length[8];
    cbi_st64(length, size);
    cbi_buf_append(ctx, key, length, sizeof length);
    if (size)
        cbi_buf_append(ctx, key, data, size);
}

void cbi_cache_add_file(cbi_ctx *ctx, cbi_buf *key, const char *path)
{
    struct stat st = {0};
    uint64_t facts[6] = {0};
    if (stat(path, &st) == 0) {
        facts[0] = (uint64_t)st.st_dev;
        facts[1] = (uint64_t)st.st_ino;
        facts[2] = (uint64_t)st.st_size;
        facts[3] = (uint64_t)st.st_mtim.tv_sec;
        facts[4] = (uint64_t)st.st_mtim.tv_nsec;
        facts[5] = (uint64_t)st.st_ctim.tv_sec;
    }
    cbi_cache_add_bytes(ctx, key, path, strlen(path));
    cbi_cache_add_bytes(ctx, key, facts, sizeof facts);
}

static const char *entry_path(cbi_ctx *ctx, const cbi_cache *cache, cbi_span key)
{
    XXH128_hash_t hash = XXH3_128bits(key.data, key.size);
    return cbi_printf(ctx, "%s/%016llx%016llx", cache->folder, (unsigned long long)hash.high64,
                      (unsigned long long)hash.low64);
}

/* ---- reading ---- */

typedef struct reading {
    int fd;
    uint64_t size; /* of the file */
    cbi_span key;
    cbi_span value;
    bool found;
} reading;

static cb_status read_entry(cbi_ctx *ctx, void *arg)
{
    reading *r = arg;
    uint8_t head[HEAD];
    if (r->size < HEAD + r->key.size || !cbi_read_at(r->fd, head, HEAD, 0) ||
        memcmp(head, magic, MAGIC_SIZE) != 0 || cbi_ld64(head + 8) != r->key.size ||
        cbi_ld64(head + 16) != r->size - HEAD - r->key.size)
        return CB_OK;
    uint64_t size = r->size - HEAD;
    uint8_t *data = cbi_alloc(ctx, size);
    if (!cbi_read_at(r->fd, data, size, HEAD) || XXH3_64bits(data, size) != cbi_ld64(head + 24) ||
        memcmp(data, r->key.data, r->key.size) != 0)
        return CB_OK;
    r->value = (cbi_span){data + r->key.size, size - r->key.size};
    r->found = true;
    return CB_OK;
}

bool cbi_cache_get(cbi_ctx *ctx, const cbi_cache *cache, cbi_span key, cbi_span *ret_value)
{
    if (!cache->folder)
        return false;
    struct stat st;
    int fd = open(entry_path(ctx, cache, key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    reading r = {.fd = fd, .key = key};
    cb_status status = CB_OK;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0) {
        r.size = (uint64_t)st.st_size;
        status = cbi_run(ctx, read_entry, &r);
    }
    if (r.found)
        futimens(fd, NULL); /* used now */
    close(fd);
    if (status != CB_OK)
        cbi_fail(ctx, status);
    if (r.found)
        *ret_value = r.value;
    return r.found;
}

/* ---- the limit ---- */

typedef struct old_entry {
    char name[NAME_SIZE + 1];
    uint64_t size;
    struct timespec used;
} old_entry;

typedef struct listing {
    old_entry *items;
    size_t len, cap;
    uint64_t total;
} listing;

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const old_entry *)a)->used, *y = &((const old_entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == NAME_SIZE && !name[NAME_SIZE];
}

static void list_entry(int folder, const char *name, listing *list)
{
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return;
    if (strncmp(name, temporary, strlen(temporary)) == 0) {
        if (st.st_mtim.tv_sec + STALE_SECONDS < time(NULL)) /* its writer has died */
            unlinkat(folder, name, 0);
        return;
    }
    if (!is_entry(name))
        return;
    if (list->len == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 64;
        old_entry *items = realloc(list->items, cap * sizeof *items);
        if (!items)
            return;
        list->items = items;
        list->cap = cap;
    }
    old_entry *e = &list->items[list->len++];
    memcpy(e->name, name, NAME_SIZE + 1);
    e->size = (uint64_t)st.st_size;
    e->used = st.st_mtim;
    list->total += e->size;
}

/* Down to three quarters, so that it is not done each time. */
static void remove_oldest(int folder, listing *list, uint64_t limit)
{
    if (list->len)
        qsort(list->items, list->len, sizeof *list->items, by_use);
    for (size_t i = 0; i < list->len && list->total > limit / 4 * 3; i++)
        if (unlinkat(folder, list->items[i].name, 0) == 0 || errno == ENOENT)
            list->total -= list->items[i].size;
}

/* One process at a time; another's work serves all. */
static void keep_limit(const cbi_cache *cache)
{
    DIR *dir = opendir(cache->folder);
    if (!dir)
        return;
    int folder = dirfd(dir);
    int lock = openat(folder, lock_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) {
        listing list = {0};
        const struct dirent *e;
        while ((e = readdir(dir)) != NULL)
            list_entry(folder, e->d_name, &list);
        if (list.total > cache->size_limit)
            remove_oldest(folder, &list, cache->size_limit);
        free(list.items);
    }
    if (lock >= 0)
        close(lock);
    closedir(dir);
}

/* ---- writing ---- */

static uint64_t checksum(cbi_span key, cbi_span value)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return 0;
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, key.data, key.size);
    XXH3_64bits_update(state, value.data, value.size);
    uint64_t sum = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return sum;
}

/* A file with the entry, which name becomes; false with errno and without a file. */
static bool write_entry(char *name, const uint8_t *head, cbi_span key, cbi_span value)
{
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = cbi_write_all(fd, head, HEAD) && cbi_write_all(fd, key.data, key.size) &&
              cbi_write_all(fd, value.data, value.size);
    int why = errno;
    if (close(fd) != 0 && ok) {
        why = errno;
        ok = false;
    }
    if (!ok)
        unlink(name);
    errno = why;
    return ok;
}

void cbi_cache_put(cbi_ctx *ctx, cbi_cache *cache, cbi_span key, cbi_span value)
{
    if (!cache->folder || (uint64_t)key.size + value.size > cache->size_limit / 2)
        return;
    const char *path = entry_path(ctx, cache, key);
    char *name = cbi_printf(ctx, "%s/%sXXXXXX", cache->folder, temporary);
    uint8_t head[HEAD] = {0};
    memcpy(head, magic, MAGIC_SIZE);
    cbi_st64(head + 8, key.size);
    cbi_st64(head + 16, value.size);
    cbi_st64(head + 24, checksum(key, value));
    if (!write_entry(name, head, key, value)) {
        report_unused(ctx, cache->folder, strerror(errno));
        cache->folder = NULL;
    } else if (rename(name, path) != 0) {
        unlink(name);
    } else {
        keep_limit(cache);
    }
}
