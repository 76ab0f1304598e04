/* Arena, growable arrays, formatted strings. */
#include "base/base.h"
#include "base/parallel.h"
#include "base/sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { CHECKED = CBI_SANITIZES_ADDRESSES };
#if CBI_SANITIZES_ADDRESSES
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, size)   ((void)(memory), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#endif

typedef struct cbi_arena_block {
    struct cbi_arena_block *next;
    size_t size; /* of the whole block, header included */
    size_t used;
    size_t known; /* where `used` goes beyond that, a large page is entered that has one behind;
                   * 0: what is not used was handed out as memory that came back */
} cbi_arena_block;

enum {
    BLOCK_HEADER = 32,
    BLOCK_MIN = 64 * 1024,
    BLOCK_MAX = 8 * 1024 * 1024,
    MAPPED_MIN = 128 * 1024, /* less comes back from malloc() without a page fault */
    HUGE_PAGE = 2 * 1024 * 1024,
    LARGE_PART = HUGE_PAGE / 8 * 5, /* that much of a large page is worth one */
    LARGE_FROM = 512 * 1024,        /* an arena of that many bytes goes on in large pages */
};

/* ---- the system's memory ---- */

/* What a map of that many bytes takes of the address space: whole large pages where there will be
 * any, since only such a map begins at a multiple of them. */
static size_t map_size(size_t size)
{
    return size < LARGE_PART ? size : (size + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
}

/* Page faults cost most: where a large page would be mostly full, the system is asked for one, and
 * for the small pages of a smaller block at once, which costs a tenth of what their faults do. */
static void ask_pages(uint8_t *block, size_t size)
{
#ifdef MADV_HUGEPAGE
    size_t large = (size + HUGE_PAGE - LARGE_PART) / HUGE_PAGE * HUGE_PAGE;
    if (large)
        madvise(block, large, MADV_HUGEPAGE);
#endif
#ifdef MADV_POPULATE_WRITE /* a system that does not know it leaves it to the faults */
    if (size < LARGE_PART)
        madvise(block, size, MADV_POPULATE_WRITE);
#endif
    (void)block;
    (void)size;
}

/* Zeroed, without touching what the system hands out zeroed: malloc() would put its own number in
 * front, or take old memory that it has to clear. */
static void *default_alloc(void *user, size_t size)
{
    (void)user;
    if (size < MAPPED_MIN)
        return calloc(1, size);
    uint8_t *block =
        mmap(NULL, map_size(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    ask_pages(block, size);
    return block;
}

static void default_free(void *user, void *block, size_t size)
{
    (void)user;
    if (size < MAPPED_MIN)
        free(block);
    else
        munmap(block, map_size(size));
}

/* Moves pages, not bytes, where both are maps.  The system does not move a map of which only a part
 * was asked to have large pages: then the bytes move.  Behind what is used a map is zeros. */
static void *default_grow(void *old, size_t old_size, size_t size)
{
    if (old_size >= MAPPED_MIN && size >= MAPPED_MIN) {
        void *moved = mremap(old, map_size(old_size), map_size(size), MREMAP_MAYMOVE);
        if (moved != MAP_FAILED)
            return moved;
    }
    void *block = default_alloc(NULL, size);
    if (!block)
        return NULL;
    memcpy(block, old, old_size);
    default_free(NULL, old, old_size);
    return block;
}

/* A block of its own, in its context's list of such; or a part of an arena, which is in none. */
typedef struct cbi_large_block {
    struct cbi_large_block *prev, *next;
    size_t size; /* of the whole block, header included */
    cbi_ctx *of; /* NULL: a part */
} cbi_large_block;

static void free_large(cbi_large_block *block);

void cbi_arena_init(cbi_ctx *ctx);
void cbi_arena_fini(cbi_ctx *ctx);
void cbi_arena_reset(cbi_ctx *ctx);

void cbi_arena_init(cbi_ctx *ctx)
{
    if (!ctx->allocator.alloc) {
        ctx->allocator.alloc = default_alloc;
        ctx->allocator.free = default_free;
    }
}

static void free_blocks(cbi_ctx *ctx, cbi_arena_block **list)
{
    while (*list) {
        cbi_arena_block *block = *list;
        *list = block->next;
        ctx->memory_used -= block->size;
        ASAN_UNPOISON_MEMORY_REGION(block, block->size);
        ctx->allocator.free(ctx->allocator.user, block, block->size);
    }
}

void cbi_arena_fini(cbi_ctx *ctx)
{
    ctx->parts[0] = ctx->parts[1] = NULL;
    free_blocks(ctx, &ctx->blocks);
    free_blocks(ctx, &ctx->spare);
    while (ctx->large)
        free_large(ctx->large);
}

size_t cbi_arena_used(const cbi_ctx *ctx)
{
    size_t used = 0;
    for (const cbi_arena_block *block = ctx->blocks; block; block = block->next)
        used += block->used;
    for (const cbi_large_block *block = ctx->large; block; block = block->next)
        used += block->size;
    return used;
}

/* Clearing what was used is cheaper than having the system map and clear it again. */
void cbi_arena_reset(cbi_ctx *ctx)
{
    ctx->parts[0] = ctx->parts[1] = NULL;
    while (ctx->large)
        free_large(ctx->large);
    while (ctx->blocks) {
        cbi_arena_block *block = ctx->blocks;
        ctx->blocks = block->next;
        ASAN_UNPOISON_MEMORY_REGION(block, block->size);
        const size_t used = block->known ? block->used : block->size;
        memset((uint8_t *)block + BLOCK_HEADER, 0, used - BLOCK_HEADER);
        block->next = ctx->spare;
        ctx->spare = block;
    }
}

/* A block of an earlier job that is large enough; NULL if there is none. */
static cbi_arena_block *take_spare(cbi_ctx *ctx, size_t least)
{
    for (cbi_arena_block **at = &ctx->spare; *at; at = &(*at)->next) {
        cbi_arena_block *block = *at;
        if (block->size < least)
            continue;
        *at = block->next;
        return block;
    }
    return NULL;
}

/* Room for that many bytes more, or the job ends. */
static void take(cbi_ctx *ctx, size_t size)
{
    if (!ctx->memory_limit)
        return;
    if (ctx->memory_used > ctx->memory_limit || size > ctx->memory_limit - ctx->memory_used)
        free_blocks(ctx, &ctx->spare);
    if (ctx->memory_used > ctx->memory_limit || size > ctx->memory_limit - ctx->memory_used) {
        ctx->over_limit = true;
        cbi_fail(ctx, CB_ERR_NOMEM);
    }
}

/* Has the next large page of the block touched, which may be needed: one more would be too much. */
static void touch_next(cbi_ctx *ctx, cbi_arena_block *block)
{
    size_t next = (block->used + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
    block->known = SIZE_MAX;
    if (next >= block->size || ctx->allocator.alloc != default_alloc || !ctx->helpers)
        return;
    size_t left = block->size - next;
    cbi_parallel_touch(ctx, (uint8_t *)block + next, left < HUGE_PAGE ? left : HUGE_PAGE);
    block->known = next;
}

/* The first large page of an array is about to be touched here, and all others will be. */
static void touch_rest(cbi_ctx *ctx, void *array, size_t size)
{
    if (size > HUGE_PAGE && ctx->allocator.alloc == default_alloc)
        cbi_parallel_touch(ctx, (uint8_t *)array + HUGE_PAGE, size - HUGE_PAGE);
}

static cbi_arena_block *make_block(cbi_ctx *ctx, size_t least)
{
    /* Blocks grow with the arena so that their number stays logarithmic in the small case.  A large
     * page costs as much as 110 small ones. */
    size_t size = ctx->memory_used;
    if (size < BLOCK_MIN)
        size = BLOCK_MIN;
    if (size > BLOCK_MAX)
        size = BLOCK_MAX;
    if (size >= LARGE_FROM)
        size = map_size(size < HUGE_PAGE ? HUGE_PAGE : size);
    if (size < least)
        size = least;
    take(ctx, least);
    if (ctx->memory_limit && size > ctx->memory_limit - ctx->memory_used)
        size = ctx->memory_limit - ctx->memory_used;
    cbi_arena_block *block = ctx->allocator.alloc(ctx->allocator.user, size);
    if (!block)
        cbi_fail(ctx, CB_ERR_NOMEM);
    if (ctx->allocator.alloc != default_alloc)
        memset(block, 0, size);
    block->size = size;
    ctx->memory_used += size;
    return block;
}

/* ---- large blocks ---- */

static void enter_large(cbi_ctx *ctx, cbi_large_block *block, size_t size)
{
    block->size = size;
    block->of = ctx;
    block->prev = NULL;
    block->next = ctx->large;
    if (ctx->large)
        ctx->large->prev = block;
    ctx->large = block;
    ctx->memory_used += size;
}

static void leave_large(const cbi_large_block *block)
{
    cbi_ctx *ctx = block->of;
    if (block->prev)
        block->prev->next = block->next;
    else
        ctx->large = block->next;
    if (block->next)
        block->next->prev = block->prev;
    ctx->memory_used -= block->size;
}

static void free_large(cbi_large_block *block)
{
    cbi_ctx *ctx = block->of;
    leave_large(block);
    ctx->allocator.free(ctx->allocator.user, block, block->size);
}

static cbi_large_block *new_large(cbi_ctx *ctx, size_t size)
{
    take(ctx, size);
    cbi_large_block *block = ctx->allocator.alloc(ctx->allocator.user, size);
    if (!block)
        cbi_fail(ctx, CB_ERR_NOMEM);
    touch_rest(ctx, block, size);
    return block;
}

static size_t large_size(size_t size)
{
    if (size > SIZE_MAX / 2)
        return SIZE_MAX / 2; /* which no system has */
    return size + sizeof(cbi_large_block);
}

/* ---- small ones ---- */

static size_t round_up(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* Memory that came back, in two lists: parts that have room for a chunk of a pool, and others.  It
 * is handed out from its end on. */
typedef struct cbi_part {
    struct cbi_part *next;
    size_t left;
} cbi_part;

enum {
    CHUNK_LEAST = 256, /* of pools: what came back */
    CHUNK_MIN = 2 * 1024,
    CHUNK_MAX = 8 * 1024,
    PART_MAX = 4 * 1024 * 1024, /* what is larger does not come from parts */
    PART_LEAST = 64,            /* what is smaller is not worth a look */
    PARTS_TRIED = 4,
};

static void enter_part(cbi_ctx *ctx, void *memory, size_t size)
{
    cbi_part *part = memory, **list = &ctx->parts[size >= CHUNK_MAX];
    *part = (cbi_part){*list, size};
    *list = part;
}

/* What is left of a block when another takes its place serves for what is small enough. */
static void give_rest(cbi_ctx *ctx, cbi_arena_block *block)
{
    const size_t left = (block->size - block->used) & ~(size_t)15;
    if (CHECKED || left < CHUNK_MAX || !block->known)
        return;
    enter_part(ctx, (uint8_t *)block + block->used, left);
    block->known = 0;
}

static void *new_block(cbi_ctx *ctx, size_t need)
{
    size_t least = need + BLOCK_HEADER;
    cbi_arena_block *block = take_spare(ctx, least);
    if (!block)
        block = make_block(ctx, least);
    block->used = least;
    touch_next(ctx, block);
    /* A block made for one big object must not hide the room left in the current one. */
    if (ctx->blocks && ctx->blocks->size - ctx->blocks->used > block->size - block->used) {
        block->next = ctx->blocks->next;
        ctx->blocks->next = block;
    } else {
        if (ctx->blocks)
            give_rest(ctx, ctx->blocks);
        block->next = ctx->blocks;
        ctx->blocks = block;
    }
    return (uint8_t *)block + BLOCK_HEADER;
}

void cbi_take_back(cbi_ctx *ctx, void *memory, size_t size)
{
    size &= ~(size_t)15;
    if (size < PART_LEAST)
        return;
    if (CHECKED) /* finds who still uses it */
        ASAN_POISON_MEMORY_REGION(memory, size);
    else
        enter_part(ctx, memory, size);
}

/* The first of the list's first parts that has room; what comes is not cleared. */
static void *take_from(cbi_ctx *ctx, cbi_part **at, size_t size)
{
    for (int i = 0; *at && i < PARTS_TRIED; i++) {
        cbi_part *part = *at;
        if (size > part->left) {
            at = &part->next;
            continue;
        }
        size_t left = part->left - size;
        *at = part->next;
        if (left >= PART_LEAST)
            enter_part(ctx, part, left);
        return (uint8_t *)part + left;
    }
    return NULL;
}

static void *take_part(cbi_ctx *ctx, size_t size)
{
    void *p = size < CHUNK_MAX ? take_from(ctx, &ctx->parts[0], size) : NULL;
    return p ? p : take_from(ctx, &ctx->parts[1], size);
}

/* Of a size that is rounded; cleared where it has not been used before. */
static void *take_new(cbi_ctx *ctx, size_t size)
{
    cbi_arena_block *block = ctx->blocks;
    if (block && size <= block->size - block->used) {
        void *p = (uint8_t *)block + block->used;
        block->used += size;
        if (block->used > block->known)
            touch_next(ctx, block);
        return p;
    }
    return new_block(ctx, size);
}

/* Of a size that is rounded, or NULL; not cleared. */
static void *take_old(cbi_ctx *ctx, size_t size)
{
    bool any = (ctx->parts[0] || ctx->parts[1]) && size <= PART_MAX;
    return any ? take_part(ctx, size) : NULL;
}

static size_t checked_size(cbi_ctx *ctx, size_t size)
{
    if (size > SIZE_MAX / 2)
        cbi_fail(ctx, CB_ERR_NOMEM);
    return round_up(size);
}

/* What the system gave is zeroed, and what comes back is cleared here. */
void *cbi_alloc(cbi_ctx *ctx, size_t size)
{
    size = checked_size(ctx, size);
    void *p = take_old(ctx, size);
    return p ? memset(p, 0, size) : take_new(ctx, size);
}

/* For those who fill all of it. */
static void *alloc_to_fill(cbi_ctx *ctx, size_t size)
{
    size = checked_size(ctx, size);
    void *p = take_old(ctx, size);
    return p ? p : take_new(ctx, size);
}

static size_t array_size(cbi_ctx *ctx, size_t count, size_t size)
{
    uint64_t total;
    if (!cbi_mul(count, size, &total))
        cbi_fail(ctx, CB_ERR_NOMEM);
    return total;
}

void *cbi_alloc_array(cbi_ctx *ctx, size_t count, size_t size)
{
    return cbi_alloc(ctx, array_size(ctx, count, size));
}

void *cbi_array_to_fill(cbi_ctx *ctx, size_t count, size_t size)
{
    return alloc_to_fill(ctx, array_size(ctx, count, size));
}

/* From here on an array has a block of its own, which moves as a whole when it grows: in the arena
 * its old places would stay behind.  1 finds who keeps a pointer into an array that grows. */
enum { LARGE_ARRAY = CHECKED ? 1 : 64 * 1024 };

/* Makes the arena's last object longer where it stands. */
static inline bool extend(cbi_ctx *ctx, const void *object, size_t size, size_t new_size)
{
    cbi_arena_block *block = ctx->blocks;
    size = round_up(size);
    new_size = round_up(new_size);
    if (!object || !block || (const uint8_t *)object + size != (uint8_t *)block + block->used ||
        new_size - size > block->size - block->used)
        return false;
    block->used += new_size - size;
    return true;
}

/* ---- large blocks, handed out ---- */

/* A map of that size would have small pages, while the arena has large ones. */
static bool is_part(const cbi_ctx *ctx, size_t size)
{
    return !CHECKED && size < LARGE_PART && ctx->memory_used >= LARGE_FROM &&
           ctx->allocator.alloc == default_alloc;
}

static void *part_of_arena(cbi_ctx *ctx, size_t size)
{
    cbi_large_block *block = cbi_alloc(ctx, size);
    *block = (cbi_large_block){.size = size};
    return block + 1;
}

void *cbi_large_alloc(cbi_ctx *ctx, size_t size)
{
    size = large_size(size);
    if (is_part(ctx, size))
        return part_of_arena(ctx, size);
    cbi_large_block *block = new_large(ctx, size);
    if (ctx->allocator.alloc != default_alloc)
        memset(block, 0, size);
    enter_large(ctx, block, size);
    return block + 1;
}

static void *grow_own(cbi_ctx *ctx, cbi_large_block *old, size_t size)
{
    cbi_large_block *block;
    size_t old_size = old->size;
    take(ctx, size - old_size);
    leave_large(old);
    if (ctx->allocator.alloc == default_alloc) {
        block = default_grow(old, old_size, size);
    } else {
        block = ctx->allocator.alloc(ctx->allocator.user, size);
        if (block) {
            memcpy(block, old, old_size);
            memset((uint8_t *)block + old_size, 0, size - old_size);
            ctx->allocator.free(ctx->allocator.user, old, old_size);
        }
    }
    enter_large(ctx, block ? block : old, block ? size : old_size);
    if (!block)
        cbi_fail(ctx, CB_ERR_NOMEM);
    return block + 1;
}

void *cbi_large_grow(cbi_ctx *ctx, void *memory, size_t size)
{
    cbi_large_block *old = (cbi_large_block *)memory - 1;
    if (large_size(size) <= old->size)
        return memory;
    if (!old->of && extend(ctx, old, old->size, large_size(size))) {
        old->size = large_size(size);
        return memory;
    }
    if (old->of == ctx && !is_part(ctx, large_size(size)))
        return grow_own(ctx, old, large_size(size));
    void *grown = cbi_large_alloc(ctx, size);
    memcpy(grown, memory, old->size - sizeof *old);
    cbi_large_free(ctx, memory);
    return grown;
}

/* Has it large pages, which the arena goes on with?  The system clears one in five times the time
 * that memset() takes where it is needed again. */
static bool is_kept(const cbi_ctx *ctx, const cbi_large_block *block)
{
    return !CHECKED && block->of == ctx && block->size >= HUGE_PAGE &&
           ctx->allocator.alloc == default_alloc;
}

void cbi_large_free(cbi_ctx *ctx, void *memory)
{
    cbi_large_block *block = (cbi_large_block *)memory - 1;
    if (!block->of)
        cbi_take_back(ctx, block, block->size);
    else if (is_kept(ctx, block))
        cbi_take_back(ctx, memory, block->size - sizeof *block);
    else
        free_large(block);
}

/* A part of about a chunk as a whole, so that no rest stays behind that is too small for others. */
static bool take_chunk_whole(cbi_ctx *ctx, cbi_pool *pool, size_t least)
{
    for (int k = 0; k < 2; k++) {
        cbi_part **at = &ctx->parts[k];
        for (int i = 0; *at && i < PARTS_TRIED; i++, at = &(*at)->next) {
            cbi_part *part = *at;
            size_t size = part->left;
            if (size < least || size > CHUNK_MAX + CHUNK_MAX / 2)
                continue;
            *at = part->next;
            pool->next = (uint8_t *)part;
            pool->left = size;
            return true;
        }
    }
    return false;
}

void cbi_pool_refill(cbi_ctx *ctx, cbi_pool *pool, size_t size)
{
    if (take_chunk_whole(ctx, pool, size > CHUNK_LEAST ? size : CHUNK_LEAST))
        return;
    pool->chunk = pool->chunk ? pool->chunk * 2 : CHUNK_MIN;
    if (pool->chunk > CHUNK_MAX)
        pool->chunk = CHUNK_MAX;
    if (pool->chunk < size)
        pool->chunk = size;
    pool->next = alloc_to_fill(ctx, pool->chunk);
    pool->left = pool->chunk;
}

void *cbi_pool_large(cbi_ctx *ctx, size_t size)
{
    return alloc_to_fill(ctx, size);
}

void *cbi_pool_first(cbi_ctx *ctx, cbi_pool *pool, size_t size)
{
    /* rounded as all that extend() may make longer */
    return (size_t)LARGE_ARRAY < size ? NULL : cbi_pool_alloc(ctx, pool, round_up(size));
}

void *cbi_memdup(cbi_ctx *ctx, const void *data, size_t size)
{
    void *p = alloc_to_fill(ctx, size);
    if (size)
        memcpy(p, data, size);
    return p;
}

char *cbi_strndup(cbi_ctx *ctx, const char *s, size_t len)
{
    char *p = alloc_to_fill(ctx, len + 1);
    memcpy(p, s, len);
    p[len] = 0;
    return p;
}

char *cbi_vprintf(cbi_ctx *ctx, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (len < 0)
        cbi_fail(ctx, CB_ERR_NOMEM);
    char *s = cbi_alloc(ctx, (size_t)len + 1);
    vsnprintf(s, (size_t)len + 1, format, args);
    return s;
}

char *cbi_printf(cbi_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *s = cbi_vprintf(ctx, format, args);
    va_end(args);
    return s;
}

void *cbi_vec_grow(cbi_ctx *ctx, void *items, size_t *cap, size_t len, size_t need,
                   size_t item_size)
{
    /* most arrays stay at a few elements */
    size_t want = *cap ? *cap * 2 : item_size < 32 ? 32 / item_size : 1;
    if (want < len + need)
        want = len + need;
    uint64_t bytes;
    if (!cbi_mul(want, item_size, &bytes) || bytes > SIZE_MAX / 2)
        cbi_fail(ctx, CB_ERR_NOMEM);
    if (items && *cap * item_size >= LARGE_ARRAY) {
        items = cbi_large_grow(ctx, items, bytes);
    } else if (bytes >= LARGE_ARRAY || !extend(ctx, items, *cap * item_size, bytes)) {
        uint8_t *grown = bytes >= LARGE_ARRAY ? cbi_large_alloc(ctx, bytes) : NULL;
        if (!grown) {
            grown = alloc_to_fill(ctx, bytes);
            memset(grown + len * item_size, 0, bytes - len * item_size);
        }
        if (items && len)
            memcpy(grown, items, len * item_size);
        cbi_take_back(ctx, items, items ? round_up(*cap * item_size) : 0);
        items = grown;
    }
    *cap = want;
    return items;
}

void cbi_array_free(cbi_ctx *ctx, void *items, size_t size)
{
    if (items && size >= LARGE_ARRAY)
        cbi_large_free(ctx, items);
    else if (items)
        cbi_take_back(ctx, items, round_up(size));
}

size_t cbi_array_trim(cbi_ctx *ctx, void *items, size_t cap, size_t len, size_t item_size)
{
    if (len * item_size < LARGE_ARRAY)
        return cap;
    cbi_large_block *block = (cbi_large_block *)items - 1;
    size_t size = round_up(large_size(len * item_size));
    if (block->of || size >= block->size) /* pages of its own that were not touched cost nothing */
        return cap;
    cbi_take_back(ctx, (uint8_t *)block + size, block->size - size);
    block->size = size;
    return len;
}

void *cbi_list_grow(cbi_ctx *ctx, void *items, uint32_t *cap, uint32_t len, size_t need,
                    size_t item_size)
{
    size_t wide = *cap;
    items = cbi_vec_grow(ctx, items, &wide, len, need, item_size);
    if (wide > UINT32_MAX)
        cbi_fail(ctx, CB_ERR_NOMEM);
    *cap = (uint32_t)wide;
    return items;
}

uint8_t *cbi_buf_append(cbi_ctx *ctx, cbi_buf *buf, const void *data, size_t size)
{
    if (size == 0)
        return buf->items ? buf->items + buf->len : NULL;
    cbi_vec_reserve(ctx, buf, size);
    uint8_t *at = buf->items + buf->len;
    if (data)
        memcpy(at, data, size);
    else
        memset(at, 0, size);
    buf->len += size;
    return at;
}

const char *cbi_buf_text(cbi_ctx *ctx, cbi_buf *buf)
{
    cbi_buf_append(ctx, buf, "", 1);
    return (const char *)buf->items;
}

void cbi_buf_u32(cbi_ctx *ctx, cbi_buf *buf, uint32_t value)
{
    uint8_t bytes[4];
    cbi_st32(bytes, value);
    cbi_buf_append(ctx, buf, bytes, sizeof bytes);
}

void cbi_buf_printf(cbi_ctx *ctx, cbi_buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    cbi_vec_reserve(ctx, buf, 32); /* enough for most */
    size_t room = buf->cap - buf->len;
    int len = vsnprintf((char *)buf->items + buf->len, room, format, args);
    if (len < 0)
        cbi_fail(ctx, CB_ERR_NOMEM);
    if ((size_t)len >= room) {
        cbi_vec_reserve(ctx, buf, (size_t)len + 1);
        vsnprintf((char *)buf->items + buf->len, (size_t)len + 1, format, again);
    }
    buf->len += (size_t)len;
    va_end(again);
    va_end(args);
}
