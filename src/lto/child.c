#include "lto/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "base/sanitize.h"
#include "base/write.h"

bool cbi_child_say(int to, const void *data, size_t size)
{
    return cbi_write_all(to, data, size);
}

static void limit(int what, rlim_t most)
{
    struct rlimit l;
    if (getrlimit(what, &l) != 0)
        return;
    if (l.rlim_cur == RLIM_INFINITY || l.rlim_cur > most)
        l.rlim_cur = most;
    setrlimit(what, &l);
}

/* Address sanitizers reserve more address space than any limit allows. */
enum { LIMITS_ADDRESS_SPACE = !CBI_SANITIZES_ADDRESSES };

typedef struct task {
    void (*work)(void *user, int to);
    void *user;
    const cbi_child_limits *limits;
    int to, errors; /* files */
} task;

static void be_child(void *user, int life)
{
    const task *t = user;
    fcntl(life, F_SETFD, 0); /* stays open until its end, in a program that it becomes, too */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(t->errors, 2) < 0)
        _exit(CBI_PROCESS_NOT_RUN);
    static const int deadly[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTERM, SIGINT};
    for (size_t i = 0; i < CBI_COUNT(deadly); i++)
        signal(deadly[i], SIG_DFL);
    limit(RLIMIT_CORE, 0);
    if (t->limits->mebibytes && LIMITS_ADDRESS_SPACE)
        limit(RLIMIT_AS, (rlim_t)t->limits->mebibytes << 20);
    t->work(t->user, t->to);
    _exit(0);
}

/* Waits for the end of the child, which holds the other end of the pipe as long as it lives. */
static bool ends_in_time(int pipe_end, unsigned seconds)
{
    double end = cbi_now_ms() + seconds * 1e3;
    for (;;) {
        double left = end - cbi_now_ms();
        int ms = !seconds ? -1 : left <= 0 ? 0 : left > 3.6e6 ? 3600000 : (int)left + 1;
        struct pollfd p = {.fd = pipe_end, .events = POLLIN};
        int n = poll(&p, 1, ms);
        if (n > 0)
            return true;
        if (n == 0 && seconds && cbi_now_ms() >= end)
            return false;
        if (n < 0 && errno != EINTR)
            return true; /* waitpid will tell */
    }
}

static cbi_child_end reap(cbi_process *child, bool in_time, int *ret_signal)
{
    if (!in_time)
        kill(child->pid, SIGKILL);
    int status = cbi_process_wait(child);
    if (status == -1)
        return CBI_CHILD_DIED;
    *ret_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (!in_time)
        return CBI_CHILD_TIMEOUT;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? CBI_CHILD_DONE : CBI_CHILD_DIED;
}

/* The file is the child's no longer. */
static bool read_from(cbi_ctx *ctx, int fd, size_t most, cbi_span *ret_bytes)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size < 0)
        return false;
    size_t size = (size_t)st.st_size;
    size_t from = size > most ? size - most : 0;
    size -= from;
    uint8_t *data = cbi_alloc(ctx, size + 1);
    if (!cbi_read_at(fd, data, size, from))
        return false;
    *ret_bytes = (cbi_span){data, size};
    return true;
}

typedef struct reading {
    int said, printed; /* files */
    cbi_child_result *result;
} reading;

static cb_status read_job(cbi_ctx *ctx, void *arg)
{
    enum { LAST_WORDS = 2048 };
    reading *r = arg;
    read_from(ctx, r->printed, LAST_WORDS, &r->result->printed);
    if (r->result->end == CBI_CHILD_DONE && !read_from(ctx, r->said, SIZE_MAX, &r->result->said))
        r->result->end = CBI_CHILD_DIED;
    return CB_OK;
}

static cb_status run_in_files(cbi_ctx *ctx, task *t, cbi_child_result *result)
{
    cbi_process child;
    if (!cbi_process_start(&child, be_child, t))
        return CB_OK;
    result->end = reap(&child, ends_in_time(child.life, t->limits->seconds), &result->signal);
    reading r = {t->to, t->errors, result};
    return cbi_run(ctx, read_job, &r);
}

cbi_child_result cbi_child_run(cbi_ctx *ctx, void (*work)(void *user, int to), void *user,
                               const cbi_child_limits *limits)
{
    cbi_child_result result = {.end = CBI_CHILD_NOT_STARTED};
    task t = {work, user, limits, memfd_create("cubind-child", MFD_CLOEXEC),
              memfd_create("cubind-errors", MFD_CLOEXEC)};
    cb_status status = CB_OK;
    if (t.to >= 0 && t.errors >= 0)
        status = run_in_files(ctx, &t, &result);
    int why = errno;
    if (t.to >= 0)
        close(t.to);
    if (t.errors >= 0)
        close(t.errors);
    errno = why;
    if (status != CB_OK)
        cbi_fail(ctx, status);
    return result;
}
