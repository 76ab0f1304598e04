/* Pages that every command touches when it starts, asked for in two calls: each would be a page
 * fault else, which costs as much as twenty pages of a call.  Those of the code are not worth one:
 * the system maps sixteen of them for a fault. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools.h"

#ifdef MADV_POPULATE_WRITE

enum {
    STACK = 40 * 1024, /* how deep a small link goes */
    HEAP = 112 * 1024, /* what it allocates; the C library gets 132 KiB from the system at first */
};

/* A system that cannot do that leaves it to the page faults. */
static void populate(uintptr_t from, uintptr_t to)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    from &= ~(page - 1);
    to &= ~(page - 1);
    if (from < to)
        madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}

void cbi_touch_pages(void)
{
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    populate(stack - STACK, stack);
    char *heap = malloc(HEAP);
    if (heap)
        populate((uintptr_t)heap, (uintptr_t)heap + HEAP);
    free(heap);
}

#else

void cbi_touch_pages(void)
{
}

#endif
