/* The account of a link's memory: cubind with counters in front of the arena.
 *
 * The linker puts these functions in the place of the arena's (ld --wrap).  Each notes how many
 * bytes its caller was given; at the end the list goes to the file that CUBIND_ACCOUNT names, a
 * line for every place in the program: address, number of calls, bytes.  bench.py adds them up.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

enum { SITES = 1 << 14 };

typedef struct site {
    uintptr_t at;
    size_t calls, bytes;
} site;

static site sites[SITES];
static size_t arena; /* its size at the end */

extern const char __executable_start[];

static void note(const cbi_ctx *ctx, const void *caller, size_t bytes)
{
    uintptr_t at = (uintptr_t)caller - (uintptr_t)__executable_start;
    size_t i = at % SITES;
    while (sites[i].at && sites[i].at != at)
        i = (i + 1) % SITES;
    sites[i].at = at;
    sites[i].calls++;
    sites[i].bytes += bytes;
    if (ctx->memory_used > arena)
        arena = ctx->memory_used;
}

#define CALLER __builtin_return_address(0)

void *__real_cbi_alloc(cbi_ctx *ctx, size_t size);
void *__wrap_cbi_alloc(cbi_ctx *ctx, size_t size);
void *__wrap_cbi_alloc(cbi_ctx *ctx, size_t size)
{
    void *p = __real_cbi_alloc(ctx, size);
    note(ctx, CALLER, size);
    return p;
}

void *__real_cbi_alloc_array(cbi_ctx *ctx, size_t count, size_t size);
void *__wrap_cbi_alloc_array(cbi_ctx *ctx, size_t count, size_t size);
void *__wrap_cbi_alloc_array(cbi_ctx *ctx, size_t count, size_t size)
{
    void *p = __real_cbi_alloc_array(ctx, count, size);
    note(ctx, CALLER, count * size);
    return p;
}

void *__real_cbi_memdup(cbi_ctx *ctx, const void *data, size_t size);
void *__wrap_cbi_memdup(cbi_ctx *ctx, const void *data, size_t size);
void *__wrap_cbi_memdup(cbi_ctx *ctx, const void *data, size_t size)
{
    void *p = __real_cbi_memdup(ctx, data, size);
    note(ctx, CALLER, size);
    return p;
}

/* Of pools that others take from themselves, by the chunk. */
void __real_cbi_pool_refill(cbi_ctx *ctx, cbi_pool *pool, size_t size);
void __wrap_cbi_pool_refill(cbi_ctx *ctx, cbi_pool *pool, size_t size);
void __wrap_cbi_pool_refill(cbi_ctx *ctx, cbi_pool *pool, size_t size)
{
    __real_cbi_pool_refill(ctx, pool, size);
    note(ctx, CALLER, pool->left);
}

void *__real_cbi_pool_large(cbi_ctx *ctx, size_t size);
void *__wrap_cbi_pool_large(cbi_ctx *ctx, size_t size);
void *__wrap_cbi_pool_large(cbi_ctx *ctx, size_t size)
{
    void *p = __real_cbi_pool_large(ctx, size);
    note(ctx, CALLER, size);
    return p;
}

void *__real_cbi_array_to_fill(cbi_ctx *ctx, size_t count, size_t size);
void *__wrap_cbi_array_to_fill(cbi_ctx *ctx, size_t count, size_t size);
void *__wrap_cbi_array_to_fill(cbi_ctx *ctx, size_t count, size_t size)
{
    void *p = __real_cbi_array_to_fill(ctx, count, size);
    note(ctx, CALLER, count * size);
    return p;
}

char *__real_cbi_strndup(cbi_ctx *ctx, const char *s, size_t len);
char *__wrap_cbi_strndup(cbi_ctx *ctx, const char *s, size_t len);
char *__wrap_cbi_strndup(cbi_ctx *ctx, const char *s, size_t len)
{
    char *p = __real_cbi_strndup(ctx, s, len);
    note(ctx, CALLER, len + 1);
    return p;
}

char *__wrap_cbi_printf(cbi_ctx *ctx, const char *format, ...) CBI_PRINTF(2, 3);
char *__wrap_cbi_printf(cbi_ctx *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *p = cbi_vprintf(ctx, format, args);
    va_end(args);
    note(ctx, CALLER, strlen(p) + 1);
    return p;
}

/* An array that moves leaves its old place behind. */
static void note_growth(const cbi_ctx *ctx, const void *caller, const void *old, size_t old_size,
                        const void *now, size_t size)
{
    note(ctx, caller, old == now ? size - old_size : size);
}

void *__real_cbi_vec_grow(cbi_ctx *ctx, void *items, size_t *cap, size_t len, size_t need,
                          size_t item_size);
void *__wrap_cbi_vec_grow(cbi_ctx *ctx, void *items, size_t *cap, size_t len, size_t need,
                          size_t item_size);
void *__wrap_cbi_vec_grow(cbi_ctx *ctx, void *items, size_t *cap, size_t len, size_t need,
                          size_t item_size)
{
    size_t old = *cap;
    void *p = __real_cbi_vec_grow(ctx, items, cap, len, need, item_size);
    note_growth(ctx, CALLER, items, old * item_size, p, *cap * item_size);
    return p;
}

void *__real_cbi_list_grow(cbi_ctx *ctx, void *items, uint32_t *cap, uint32_t len, size_t need,
                           size_t item_size);
void *__wrap_cbi_list_grow(cbi_ctx *ctx, void *items, uint32_t *cap, uint32_t len, size_t need,
                           size_t item_size);
void *__wrap_cbi_list_grow(cbi_ctx *ctx, void *items, uint32_t *cap, uint32_t len, size_t need,
                           size_t item_size)
{
    size_t old = *cap;
    void *p = __real_cbi_list_grow(ctx, items, cap, len, need, item_size);
    note_growth(ctx, CALLER, items, old * item_size, p, *cap * item_size);
    return p;
}

uint8_t *__real_cbi_buf_append(cbi_ctx *ctx, cbi_buf *buf, const void *data, size_t size);
uint8_t *__wrap_cbi_buf_append(cbi_ctx *ctx, cbi_buf *buf, const void *data, size_t size);
uint8_t *__wrap_cbi_buf_append(cbi_ctx *ctx, cbi_buf *buf, const void *data, size_t size)
{
    cbi_buf old = *buf;
    uint8_t *p = __real_cbi_buf_append(ctx, buf, data, size);
    note_growth(ctx, CALLER, old.items, old.cap, buf->items, buf->cap);
    return p;
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("CUBIND_ACCOUNT");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return;
    fprintf(out, "arena 1 %zu\n", arena);
    for (size_t i = 0; i < SITES; i++)
        if (sites[i].bytes)
            fprintf(out, "%zx %zu %zu\n", (size_t)sites[i].at, sites[i].calls, sites[i].bytes);
    fclose(out);
}
