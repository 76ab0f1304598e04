/* What every unit test needs: cmocka in its required order, and a context that reports leaks of
 * its blocks. */
#ifndef CBI_UNIT_H
#define CBI_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"

/* An allocator that counts, and fails from the fail_at-th request on (1 = the first; 0 = never). */
typedef struct unit_heap {
    size_t requests;
    size_t live;
    size_t live_bytes;
    size_t fail_at;
} unit_heap;

static inline void *unit_heap_alloc(void *user, size_t size)
{
    unit_heap *heap = user;
    heap->requests++;
    if (heap->fail_at && heap->requests >= heap->fail_at)
        return NULL;
    heap->live++;
    heap->live_bytes += size;
    return malloc(size);
}

static inline void unit_heap_free(void *user, void *block, size_t size)
{
    unit_heap *heap = user;
    heap->live--;
    heap->live_bytes -= size;
    free(block);
}

static inline void unit_ctx_init(cbi_ctx *ctx, unit_heap *heap)
{
    cbi_ctx_init(ctx);
    ctx->allocator = (cbi_allocator){unit_heap_alloc, unit_heap_free, heap};
}

/* A whole file; fails the test if it cannot be read.  The caller frees data. */
static inline cbi_span unit_read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    size_t size = 0, cap = 1 << 16;
    uint8_t *data = malloc(cap);
    size_t got;
    while ((got = fread(data + size, 1, cap - size, f)) > 0) {
        size += got;
        if (size == cap)
            data = realloc(data, cap *= 2);
    }
    fclose(f);
    return (cbi_span){data, size};
}

/* A path below the source tree; static storage, valid until the fourth next call. */
static inline const char *unit_path(const char *relative)
{
    static char paths[4][4096];
    static int at;
    const char *root = getenv("CUBIND_ROOT");
    at = (at + 1) % 4;
    snprintf(paths[at], sizeof paths[at], "%s/%s", root ? root : SOURCE_ROOT, relative);
    return paths[at];
}

#endif
