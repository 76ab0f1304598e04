/* Preloaded into a program: lets the n-th allocation fail, or from the n-th on all, and says at the
 * end what the program did not give back.
 *
 *     FAULT_AT=N      which one, 0: none
 *     FAULT_ALL=1     those behind it, too
 *     FAULT_REPORT=F  the file that gets "allocations A live L descriptors D"
 *
 * Children that the program starts do not inherit it.  Allocations are malloc and its relatives,
 * and maps of memory without a file. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What stands behind the names that this file takes. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);

static atomic_long count, live;
static long fail_at;
static bool started, fail_all;
static char report[4096];
static pid_t process;

/* A place for a break point. */
__attribute__((noinline)) void fault_here(void);
void fault_here(void)
{
    errno = ENOMEM;
    __asm__ volatile("");
}

static bool fails(void)
{
    if (!started)
        return false;
    long number = atomic_fetch_add(&count, 1) + 1;
    if (!fail_at || number < fail_at || (number > fail_at && !fail_all))
        return false;
    fault_here();
    return true;
}

static void *keep(void *block)
{
    if (block)
        atomic_fetch_add(&live, 1);
    return block;
}

void *malloc(size_t size)
{
    return fails() ? NULL : keep(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : keep(__libc_calloc(n, size));
}

void *realloc(void *block, size_t size)
{
    if (fails())
        return NULL;
    if (!block)
        return keep(__libc_malloc(size));
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : keep(__libc_memalign(align, size));
}

int posix_memalign(void **block, size_t align, size_t size)
{
    *block = fails() ? NULL : keep(__libc_memalign(align, size));
    return *block ? 0 : ENOMEM;
}

void free(void *block)
{
    if (block)
        atomic_fetch_add(&live, -1);
    __libc_free(block);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    bool memory = flags & MAP_ANONYMOUS;
    if (memory && fails())
        return MAP_FAILED;
    long address = syscall(SYS_mmap, at, size, protection, flags, fd, offset);
    if (address != -1)
        atomic_fetch_add(&live, 1);
    return (void *)address;
}

int munmap(void *at, size_t size)
{
    int status = (int)syscall(SYS_munmap, at, size);
    if (status == 0)
        atomic_fetch_add(&live, -1);
    return status;
}

void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
    if (fails())
        return MAP_FAILED;
    return (void *)syscall(SYS_mremap, old, old_size, size, flags);
}

__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("FAULT_AT"), *file = getenv("FAULT_REPORT");
    fail_at = at ? strtol(at, NULL, 10) : 0;
    fail_all = getenv("FAULT_ALL") != NULL;
    snprintf(report, sizeof report, "%s", file ? file : "");
    process = getpid();
    unsetenv("LD_PRELOAD");
    close(-424242); /* system calls are counted from here on: calls.c */
    started = true;
}

__attribute__((destructor)) static void end(void)
{
    close(-424243); /* and up to here */
    started = false;
    if (!report[0] || getpid() != process)
        return;
    int descriptors = 0;
    for (int fd = 3; fd < 256; fd++)
        descriptors += fcntl(fd, F_GETFD) != -1;
    char text[128];
    int size = snprintf(text, sizeof text, "allocations %ld live %ld descriptors %d\n",
                        atomic_load(&count), atomic_load(&live), descriptors);
    int fd = open(report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, text, (size_t)size) == size)
        close(fd);
}
