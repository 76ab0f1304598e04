/* The vocabulary of every module: spans, arena, arrays, names, maps, and the context that owns
 * them.
 *
 * One cbi_ctx serves one job (a link, a dump, ...).  All memory of the job comes from its arena and
 * is freed at once.  Allocation never returns NULL: when memory runs out, or a fatal diagnostic is
 * reported, control returns to the cbi_run() that started the job.
 */
#ifndef CBI_BASE_H
#define CBI_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cubind/cubind.h"

#define CBI_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CBI_NORETURN     __attribute__((noreturn))
#define CBI_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Borrowed bytes. */
typedef struct cbi_span {
    const uint8_t *data;
    size_t size;
} cbi_span;

static inline bool cbi_same_bytes(cbi_span a, cbi_span b)
{
    return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

/* ---- sizes: every size, offset and count from input goes through these ---- */

/* a + b, false on overflow. */
static inline bool cbi_add(uint64_t a, uint64_t b, uint64_t *ret_sum)
{
    return !__builtin_add_overflow(a, b, ret_sum);
}

/* a * b, false on overflow. */
static inline bool cbi_mul(uint64_t a, uint64_t b, uint64_t *ret_product)
{
    return !__builtin_mul_overflow(a, b, ret_product);
}

/* True if [offset, offset + size) lies inside [0, limit). */
static inline bool cbi_fits(uint64_t offset, uint64_t size, uint64_t limit)
{
    return offset <= limit && size <= limit - offset;
}

/* -1, 0 or 1 as a is less than, equal to, or more than b: for functions that sort. */
static inline int cbi_order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static inline uint32_t cbi_larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* How many elements of an array come before a place in its order: those for which the test holds,
 * which are the first. */
typedef bool cbi_comes_before(const void *element, const void *place);

static inline size_t cbi_search(const void *items, size_t count, size_t size,
                                cbi_comes_before *comes_before, const void *place)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (comes_before((const uint8_t *)items + mid * size, place))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Round up to a multiple of align; 0 and 1 mean no alignment.  Any align, not only powers of two.
 * The caller keeps value small enough not to overflow (layout checks its totals). */
static inline uint64_t cbi_align_up(uint64_t value, uint64_t align)
{
    if (align < 2)
        return value;
    if ((align & (align - 1)) == 0)
        return (value + align - 1) & ~(align - 1);
    uint64_t rest = value % align;
    return rest ? value + (align - rest) : value;
}

/* The last component of a path. */
static inline const char *cbi_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- little-endian access at places already known to be in range ---- */

/* One load or store each: put together from bytes they become a dozen instructions where compilers
 * do not see that. */
static inline uint16_t cbi_little16(uint16_t v)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap16(v);
}

static inline uint32_t cbi_little32(uint32_t v)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap32(v);
}

static inline uint64_t cbi_little64(uint64_t v)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

static inline uint16_t cbi_ld16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return cbi_little16(v);
}

static inline uint32_t cbi_ld32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return cbi_little32(v);
}

static inline uint64_t cbi_ld64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return cbi_little64(v);
}

static inline void cbi_st16(void *p, uint16_t v)
{
    v = cbi_little16(v);
    memcpy(p, &v, sizeof v);
}

static inline void cbi_st32(void *p, uint32_t v)
{
    v = cbi_little32(v);
    memcpy(p, &v, sizeof v);
}

static inline void cbi_st64(void *p, uint64_t v)
{
    v = cbi_little64(v);
    memcpy(p, &v, sizeof v);
}

/* The bounds-checked reader: a cursor over a span.  A read past the end sets `bad`, returns 0 and
 * leaves the cursor at the end; callers test `bad` once after a group of reads. */
typedef struct cbi_reader {
    cbi_span span;
    size_t pos;
    bool bad;
} cbi_reader;

cbi_reader cbi_reader_at(cbi_span span, uint64_t pos);
uint8_t cbi_read8(cbi_reader *r);
uint16_t cbi_read16(cbi_reader *r);
uint32_t cbi_read32(cbi_reader *r);
uint64_t cbi_read64(cbi_reader *r);
/* DWARF's numbers in groups of seven bits; what exceeds 64 is dropped. */
uint64_t cbi_read_uleb(cbi_reader *r);
int64_t cbi_read_sleb(cbi_reader *r);
/* The next size bytes; an empty span and `bad` when there are fewer. */
cbi_span cbi_read_bytes(cbi_reader *r, uint64_t size);
/* A part of a span; false if it is not inside. */
static inline bool cbi_subspan(cbi_span span, uint64_t offset, uint64_t size, cbi_span *ret_part)
{
    if (!cbi_fits(offset, size, span.size))
        return false;
    *ret_part = (cbi_span){span.data ? span.data + offset : NULL, (size_t)size};
    return true;
}

/* What follows the prefix in a text that begins with it, or NULL. */
static inline const char *cbi_after(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* The NUL-terminated string at offset; NULL if offset is outside or the NUL is missing. */
const char *cbi_span_string(cbi_span span, uint64_t offset);

/* ---- memory ---- */

/* Where arenas get their blocks; NULL members mean malloc and free. */
typedef struct cbi_allocator {
    void *(*alloc)(void *user, size_t size);
    void (*free)(void *user, void *block, size_t size);
    void *user;
} cbi_allocator;

typedef struct cbi_ctx cbi_ctx;

/* Zeroed, 16-byte aligned, owned by the context.  Never NULL. */
void *cbi_alloc(cbi_ctx *ctx, size_t size);
/* count * size with overflow check. */
void *cbi_alloc_array(cbi_ctx *ctx, size_t count, size_t size);
/* The same, not cleared: use CBI_ARRAY_TO_FILL. */
void *cbi_array_to_fill(cbi_ctx *ctx, size_t count, size_t size);
void *cbi_memdup(cbi_ctx *ctx, const void *data, size_t size);
char *cbi_strndup(cbi_ctx *ctx, const char *s, size_t len);
char *cbi_printf(cbi_ctx *ctx, const char *format, ...) CBI_PRINTF(2, 3);
char *cbi_vprintf(cbi_ctx *ctx, const char *format, va_list args);

/* Bytes handed out so far, without the room that is left in blocks. */
size_t cbi_arena_used(const cbi_ctx *ctx);

/* A block of its own, zeroed, which can grow and be given back before the job ends: for large
 * things of a passing kind.  What is not given back ends with the context. */
void *cbi_large_alloc(cbi_ctx *ctx, size_t size);
/* Makes it larger; what is new is zeroed. */
void *cbi_large_grow(cbi_ctx *ctx, void *memory, size_t size);
/* Also what a helper's context has given, when its loop has ended. */
void cbi_large_free(cbi_ctx *ctx, void *memory);

/* Takes back what the arena of this job has given, this context's or a helper's: from here on it
 * serves for other things.  Memory that is used again costs no page fault. */
void cbi_take_back(cbi_ctx *ctx, void *memory, size_t size);

#define CBI_NEW(ctx, type)          ((type *)cbi_alloc((ctx), sizeof(type)))
#define CBI_NEW_ARRAY(ctx, n, type) ((type *)cbi_alloc_array((ctx), (n), sizeof(type)))
/* Not cleared: for those who fill all of it. */
#define CBI_ARRAY_TO_FILL(ctx, n, type) ((type *)cbi_array_to_fill((ctx), (n), sizeof(type)))

/* Objects of one kind side by side, for the sake of walks over all of them.  Zero-initialise. */
typedef struct cbi_pool {
    uint8_t *next;
    size_t left;
    size_t chunk; /* size of the latest chunk */
} cbi_pool;
enum { CBI_POOL_MOST = 2 * 1024 }; /* what is larger does not lie in a chunk */
/* For cbi_pool_alloc(): a chunk that has room, and what has a place of its own. */
void cbi_pool_refill(cbi_ctx *ctx, cbi_pool *pool, size_t size);
void *cbi_pool_large(cbi_ctx *ctx, size_t size);

/* Like cbi_alloc(), but not cleared. */
static inline void *cbi_pool_alloc(cbi_ctx *ctx, cbi_pool *pool, size_t size)
{
    if (size > CBI_POOL_MOST)
        return cbi_pool_large(ctx, size);
    size = (size + 7) & ~(size_t)7;
    if (size > pool->left)
        cbi_pool_refill(ctx, pool, size);
    void *p = pool->next;
    pool->next += size;
    pool->left -= size;
    return p;
}
/* Cleared; of a size that compilers know. */
#define CBI_POOL_NEW(ctx, pool, type)                                                              \
    ((type *)memset(cbi_pool_alloc((ctx), (pool), sizeof(type)), 0, sizeof(type)))

/* Growable array of T in the arena.  Pointers to elements end when it grows. */
#define CBI_VEC(T)                                                                                 \
    struct {                                                                                       \
        T *items;                                                                                  \
        size_t len;                                                                                \
        size_t cap;                                                                                \
    }
/* The same in 16 bytes, for members of what there are many of: up to 2^32 - 1 elements. */
#define CBI_LIST(T)                                                                                \
    struct {                                                                                       \
        T *items;                                                                                  \
        uint32_t len;                                                                              \
        uint32_t cap;                                                                              \
    }
void *cbi_vec_grow(cbi_ctx *ctx, void *items, size_t *cap, size_t len, size_t need,
                   size_t item_size);
void *cbi_list_grow(cbi_ctx *ctx, void *items, uint32_t *cap, uint32_t len, size_t need,
                    size_t item_size);
/* Room for `need` more elements, so that adding them does not move the array. */
#define cbi_vec_reserve(ctx, v, need)                                                              \
    ((void)((need) <= (v)->cap - (v)->len ||                                                       \
            ((v)->items = _Generic(&(v)->cap, size_t *                                             \
                                   : cbi_vec_grow, uint32_t *                                      \
                                   : cbi_list_grow)((ctx), (v)->items, &(v)->cap, (v)->len,        \
                                                    (need), sizeof *(v)->items))))
/* The first room of an empty list that mostly stays so short: from a pool, of one kind with others.
 * Such a list is not freed. */
void *cbi_pool_first(cbi_ctx *ctx, cbi_pool *pool, size_t size);
#define cbi_list_first(ctx, pool, v, count)                                                        \
    ((void)((v)->items ||                                                                          \
            (((v)->items = cbi_pool_first((ctx), (pool), (count) * sizeof *(v)->items)) &&         \
             ((v)->cap = (count)))))
/* Empties the array: what is large goes back to the system, the rest to the arena. */
#define cbi_vec_free(ctx, v)                                                                       \
    (cbi_array_free((ctx), (v)->items, (v)->cap * sizeof *(v)->items), (v)->items = NULL,          \
     (v)->len = 0, (v)->cap = 0)
void cbi_array_free(cbi_ctx *ctx, void *items, size_t size);
/* Gives the room behind the last element back to the arena, of an array that grows no more. */
#define cbi_vec_trim(ctx, v)                                                                       \
    ((void)((v)->cap = cbi_array_trim((ctx), (v)->items, (v)->cap, (v)->len, sizeof *(v)->items)))
size_t cbi_array_trim(cbi_ctx *ctx, void *items, size_t cap, size_t len, size_t item_size);
/* Pointer to a new zeroed element at the end. */
#define cbi_vec_add(ctx, v)                                                                        \
    (cbi_vec_reserve((ctx), (v), 1), memset(&(v)->items[(v)->len], 0, sizeof *(v)->items),         \
     &(v)->items[(v)->len++])
/* The value may ask for the array's length: it is the old one. */
#define cbi_vec_push(ctx, v, value)                                                                \
    (cbi_vec_reserve((ctx), (v), 1), (void)((v)->items[(v)->len] = (value)), (void)(v)->len++)

typedef CBI_VEC(const char *) cbi_strings;

/* Growable byte string in the arena. */
typedef struct cbi_buf {
    uint8_t *items;
    size_t len;
    size_t cap;
} cbi_buf;

/* Append; data NULL appends zeros.  Returns where the bytes went (valid until the next append). */
uint8_t *cbi_buf_append(cbi_ctx *ctx, cbi_buf *buf, const void *data, size_t size);
void cbi_buf_u32(cbi_ctx *ctx, cbi_buf *buf, uint32_t value);
/* Ends it with a NUL, which counts, and returns it as text. */
const char *cbi_buf_text(cbi_ctx *ctx, cbi_buf *buf);
void cbi_buf_printf(cbi_ctx *ctx, cbi_buf *buf, const char *format, ...) CBI_PRINTF(3, 4);

/* A byte string in parts, which lie wherever they are: a file that is put together without being
 * copied. */
typedef struct cbi_rope {
    CBI_VEC(cbi_span) parts;
    size_t size;
} cbi_rope;

/* ---- interned names: equal text means equal pointer ---- */

typedef struct cbi_name {
    const char *s; /* NUL-terminated */
    size_t len;
    uint32_t id; /* dense, in order of first interning */
} cbi_name;

const cbi_name *cbi_intern(cbi_ctx *ctx, const char *s);
const cbi_name *cbi_intern_len(cbi_ctx *ctx, const char *s, size_t len);
/* Where many names are looked for, their hashes and lengths are made before, in loops with threads;
 * of a length from UINT16_MAX on that. */
uint32_t cbi_name_hash(const char *s, uint16_t *ret_len);
const cbi_name *cbi_intern_hashed(cbi_ctx *ctx, const char *s, uint16_t len, uint32_t hash);
/* A short prefix and a text of any length. */
const cbi_name *cbi_intern_join(cbi_ctx *ctx, const char *prefix, const char *text);
const cbi_name *cbi_intern_printf(cbi_ctx *ctx, const char *format, ...) CBI_PRINTF(2, 3);

/* Something for every name: an array by id.  For what most names have; a map is for few.
 * Zero-initialise. */
typedef struct cbi_name_table {
    void **items;
    size_t cap;
} cbi_name_table;

/* The value, or NULL. */
static inline void *cbi_name_get(const cbi_name_table *table, const cbi_name *name)
{
    return name->id < table->cap ? table->items[name->id] : NULL;
}

void cbi_name_table_grow(cbi_ctx *ctx, cbi_name_table *table, uint32_t id);
/* Room for that many names in all. */
void cbi_name_table_reserve(cbi_ctx *ctx, cbi_name_table *table, size_t count);
void cbi_names_reserve(cbi_ctx *ctx, size_t count);

static inline void cbi_name_put(cbi_ctx *ctx, cbi_name_table *table, const cbi_name *name,
                                void *value)
{
    if (name->id >= table->cap)
        cbi_name_table_grow(ctx, table, name->id);
    table->items[name->id] = value;
}

/* Hash map from a pointer (or any 64-bit key) to a pointer.  Never iterated, so no hash order can
 * reach an output.  Zero-initialise. */
typedef struct cbi_map {
    struct cbi_map_slot {
        uint64_t key;
        void *value;
    } * slots;
    size_t len;
    size_t cap;
} cbi_map;

/* The value, or NULL. */
void *cbi_map_get(const cbi_map *map, uint64_t key);
/* Insert or replace; value must not be NULL. */
void cbi_map_put(cbi_ctx *ctx, cbi_map *map, uint64_t key, void *value);
/* Gives its memory back to the arena; it is empty then. */
void cbi_map_free(cbi_ctx *ctx, cbi_map *map);
/* Of a map that is a set. */
static inline void cbi_map_add(cbi_ctx *ctx, cbi_map *map, uint64_t key)
{
    cbi_map_put(ctx, map, key, map);
}
#define CBI_KEY(pointer) ((uint64_t)(uintptr_t)(pointer))

/* ---- diagnostics ---- */

/* Where a diagnostic points; all members optional. */
typedef struct cbi_place {
    const char *file;
    const char *section;
    const char *symbol;
    uint64_t offset;
    bool has_offset;
} cbi_place;

/* Switches that change what is reported (reference: nvlink's severity options). */
typedef struct cbi_diag_options {
    bool suppress_warnings;  /* -disable-infos: drops warnings, and they are not promoted */
    bool warnings_as_errors; /* -Werror */
    const char *suffix;      /* -report-arch: text put after every message, or NULL */
} cbi_diag_options;

/* Report.  `id` is a stable identifier; `help` more lines for the user or NULL.  A fatal report
 * does not return to its caller. */
void cbi_report(cbi_ctx *ctx, cb_severity severity, const char *id, const cbi_place *place,
                const char *help, const char *format, ...) CBI_PRINTF(6, 7);
/* A fatal report; the job ends with that status, with CB_ERR_FATAL where cbi_fatal is said. */
CBI_NORETURN void cbi_fatal_as(cbi_ctx *ctx, cb_status status, const char *id,
                               const cbi_place *place, const char *help, const char *format, ...)
    CBI_PRINTF(6, 7);
/* Leave the job with a status and without a further message. */
CBI_NORETURN void cbi_fail(cbi_ctx *ctx, cb_status status);

/* Passes a report on that another context of the same job has received. */
void cbi_forward(cbi_ctx *ctx, const cb_diagnostic *diagnostic);

#define cbi_fatal(ctx, ...)   cbi_fatal_as((ctx), CB_ERR_FATAL, __VA_ARGS__)
#define cbi_error(ctx, ...)   cbi_report((ctx), CB_SEV_ERROR, __VA_ARGS__)
#define cbi_warning(ctx, ...) cbi_report((ctx), CB_SEV_WARNING, __VA_ARGS__)
#define cbi_info(ctx, ...)    cbi_report((ctx), CB_SEV_INFO, __VA_ARGS__)

/* ---- the context ---- */

struct cbi_arena_block;
struct cbi_large_block;
struct cbi_part;

struct cbi_ctx {
    cbi_allocator allocator;
    struct cbi_arena_block *blocks;
    struct cbi_arena_block *spare; /* cleared, of jobs before a cbi_ctx_reset() */
    struct cbi_large_block *large; /* see cbi_large_alloc() */
    struct cbi_part *parts[2];     /* see cbi_take_back() */
    size_t memory_used;            /* with all of them */
    size_t memory_limit;           /* bytes; 0 = none */
    size_t memory_multiple;        /* the limit grows by that many times the size of files read */
    bool over_limit;               /* that, and not the system, has stopped the job */
    size_t text_spent;             /* bytes that long C++ names have cost */

    cbi_name **names; /* by id */
    cbi_pool name_pool;
    size_t name_count;
    size_t name_bytes; /* of all names with the NULs behind them */
    struct cbi_name_slot {
        uint32_t hash;
        uint32_t number; /* id + 1; 0: empty */
    } * name_slots;      /* open addressing by hash */
    size_t name_cap;

    unsigned threads;            /* that a job may have for its loops; 0 and 1: one */
    bool all_threads;            /* also for loops that one thread does sooner */
    struct cbi_helpers *helpers; /* contexts of those loops: parallel.h */

    void *decompressor; /* kept for the next image, or NULL */
    void (*free_decompressor)(void *decompressor);

    cb_diagnostic_fn on_diagnostic;
    void *on_diagnostic_user;
    cbi_diag_options diag;
    size_t error_count;
    /* Called once before something is reported: work that was put off and may report, too. */
    void (*before_report)(void *user);
    void *before_report_user;

    struct cbi_mapping *mappings; /* input files mapped for this job */
    struct cbi_read_ahead *ahead; /* files that cbi_map_file() has not been asked for yet */
    cbi_ctx *shared_files;        /* reads files once for several jobs and outlives them, or NULL */
    cbi_name_table files_by_name; /* for such a context: a mapping for each path */

    jmp_buf *trap;
    cb_status trap_status;
};

/* A name of that hash will be interned soon, and is not the first: what a search for it looks at
 * first is fetched into the caches. */
static inline void cbi_name_fetch(const cbi_ctx *ctx, uint32_t hash)
{
    __builtin_prefetch(&ctx->name_slots[hash & (ctx->name_cap - 1)]);
}

void cbi_ctx_init(cbi_ctx *ctx);
/* The same for a zeroed context that may have an allocator. */
void cbi_ctx_start(cbi_ctx *ctx);
/* Frees all memory and unmaps all files. */
void cbi_ctx_fini(cbi_ctx *ctx);
/* Makes it ready for another job: all that it holds goes, the memory itself is kept for reuse. */
void cbi_ctx_reset(cbi_ctx *ctx);

/* Runs fn(ctx, arg) and catches out-of-memory and fatal diagnostics.  Returns what fn returned, or
 * the status of the failure.  May be nested. */
typedef cb_status (*cbi_job_fn)(cbi_ctx *ctx, void *arg);
cb_status cbi_run(cbi_ctx *ctx, cbi_job_fn fn, void *arg);
/* The same with a context of its own, all of whose memory goes when fn is done: for a step that
 * needs much and leaves little, which fn puts where arg says.  It counts against the limit of ctx,
 * and if it fails, the job of ctx does.  fn must not report anything. */
void cbi_run_aside(cbi_ctx *ctx, cbi_job_fn fn, void *arg);
/* The context of the innermost job of this thread, or NULL. */
cbi_ctx *cbi_running(void);

/* ---- files ---- */

/* The contents of a file, which live as long as the context: mapped if they are large, else a copy.
 * With shared_files that context reads, and a path that it has read before is not read again.
 * Pipes are read to their end.  CB_ERR_IO for all other kinds of files and if it cannot be opened
 * or read, with errno set; no diagnostic is reported.  An empty file gives an empty span. */
cb_status cbi_map_file(cbi_ctx *ctx, const char *path, cbi_span *ret_bytes);

/* Calls fn for every file read so far that is not empty, newest first; not for those whose bytes
 * were spent (files.h). */
typedef void (*cbi_mapping_fn)(void *user, const char *path, cbi_span bytes);
void cbi_each_mapping(const cbi_ctx *ctx, cbi_mapping_fn fn, void *user);

#endif
