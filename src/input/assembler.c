#include "input/assembler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/process.h"

#define LOG_NAME "log"

enum { FILES = 3 };

/* One run: a folder with three files, and a process. */
typedef struct run {
    cbi_assembly *job;
    char *dir;          /* NULL: not made */
    char *paths[FILES]; /* for writing, reading and removal */
    char **argv;
    int records[FILES + 1]; /* for signals */
    cbi_process process;
    double start;
} run;

typedef struct batch {
    run *runs;
    size_t count;
    unsigned at_a_time;
    size_t started, running;
} batch;

/* ---- files ---- */

static bool write_file(const char *path, cbi_span bytes)
{
    FILE *f = fopen(path, "we");
    if (!f)
        return false;
    /* The built-in assembler reads up to a NUL. */
    size_t size = bytes.size ? strnlen((const char *)bytes.data, bytes.size) : 0;
    bool ok = fwrite(bytes.size ? (const char *)bytes.data : "", 1, size, f) == size;
    return fclose(f) == 0 && ok;
}

/* Not mapped: the file is removed, and the notes in it are changed. */
static bool read_file(cbi_ctx *ctx, const char *path, cbi_span *ret_bytes)
{
    struct stat st;
    if (stat(path, &st) != 0 || st.st_size < 0)
        return false;
    size_t size = (size_t)st.st_size, done = 0;
    uint8_t *data = cbi_alloc(ctx, size + 1); /* may not return: no file is open yet */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (done < size) {
        ssize_t n = read(fd, data + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    close(fd);
    *ret_bytes = (cbi_span){data, done};
    return done == size;
}

/* The folder, and what signals must know about it. */
static bool make_folder(cbi_ctx *ctx, run *r)
{
    static const char *const names[FILES] = {CBI_PTX_NAME, CBI_OBJECT_NAME, LOG_NAME};
    const char *tmp = getenv("TMPDIR");
    char *dir = cbi_printf(ctx, "%s/cubind-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    size_t len = strlen(dir);
    for (size_t i = 0; i < FILES; i++)
        r->paths[i] = cbi_printf(ctx, "%s/%s", dir, names[i]);
    sigset_t before;
    cbi_cleanup_hold(&before);
    bool made = mkdtemp(dir) != NULL;
    int why = errno;
    for (size_t i = 0; made && i < FILES; i++) {
        memcpy(r->paths[i], dir, len);
        r->records[i] = cbi_cleanup_add(r->paths[i], false);
    }
    if (made) {
        r->records[FILES] = cbi_cleanup_add(dir, true);
        r->dir = dir;
    }
    cbi_cleanup_release(&before);
    r->job->why = why;
    return made;
}

static void remove_folder(run *r)
{
    if (!r->dir)
        return;
    for (size_t i = 0; i < FILES; i++)
        unlink(r->paths[i]);
    rmdir(r->dir);
    for (size_t i = 0; i <= FILES; i++)
        cbi_cleanup_forget(r->records[i]);
    r->dir = NULL;
}

/* ---- processes ---- */

/* Between fork and exec: only what POSIX allows there. */
static void be_assembler(void *user, int life)
{
    const run *r = user;
    fcntl(life, F_SETFD, 0); /* the program keeps it open until its end */
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out = open(r->paths[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    /* last the folder: the path above may be relative to the caller's */
    if (in >= 0 && out >= 0 && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(out, 2) >= 0 &&
        chdir(r->dir) == 0)
        execv(r->job->program, r->argv);
    _exit(CBI_PROCESS_NOT_RUN);
}

static void start_run(cbi_ctx *ctx, run *r)
{
    const cbi_strings *args = &r->job->args;
    r->argv = CBI_NEW_ARRAY(ctx, args->len + 1, char *);
    for (size_t i = 0; i < args->len; i++)
        r->argv[i] = cbi_strndup(ctx, args->items[i], strlen(args->items[i]));
    r->job->exit_status = -2;
    if (!make_folder(ctx, r))
        return;
    r->job->exit_status = -1;
    r->start = cbi_now_ms();
    if (write_file(r->paths[0], r->job->text) && cbi_process_start(&r->process, be_assembler, r)) {
        r->job->why = 0;
        return;
    }
    r->job->why = errno;
    remove_folder(r);
}

static int wait_for(run *r)
{
    int status = cbi_process_wait(&r->process);
    if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == CBI_PROCESS_NOT_RUN))
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void finish_run(cbi_ctx *ctx, run *r)
{
    cbi_assembly *job = r->job;
    job->milliseconds = cbi_now_ms() - r->start;
    job->exit_status = wait_for(r);
    if (job->exit_status >= 0)
        read_file(ctx, r->paths[2], &job->log);
    errno = 0;
    if (job->exit_status == 0 && !read_file(ctx, r->paths[1], &job->cubin)) {
        job->exit_status = -1;
        job->why = errno == ENOENT ? 0 : errno; /* it made none */
    }
    remove_folder(r);
}

static bool has_ended(const run *r)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)r->process.pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid;
}

/* Waits a while for one of those at work to end, and finishes all that have.  A process that
 * another thread has forked may hold a pipe open, so the pipes alone do not tell. */
static void finish_some(cbi_ctx *ctx, batch *b)
{
    enum { PATIENCE = 50 }; /* ms */
    struct pollfd ends[CBI_ASSEMBLERS_MAX];
    run *at[CBI_ASSEMBLERS_MAX];
    nfds_t n = 0;
    for (size_t i = 0; i < b->started; i++)
        if (b->runs[i].process.pid) {
            at[n] = &b->runs[i];
            ends[n++] = (struct pollfd){.fd = b->runs[i].process.life, .events = POLLIN};
        }
    poll(ends, n, PATIENCE);
    for (nfds_t i = 0; i < n; i++)
        if (has_ended(at[i])) {
            b->running--;
            finish_run(ctx, at[i]);
        }
}

static cb_status run_batch(cbi_ctx *ctx, void *arg)
{
    batch *b = arg;
    while (b->started < b->count || b->running) {
        while (b->started < b->count && b->running < b->at_a_time) {
            run *r = &b->runs[b->started++];
            start_run(ctx, r);
            b->running += r->process.pid != 0;
        }
        if (b->running)
            finish_some(ctx, b);
    }
    return CB_OK;
}

static unsigned core_count(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : count > CBI_ASSEMBLERS_MAX ? CBI_ASSEMBLERS_MAX : (unsigned)count;
}

void cbi_assemble(cbi_ctx *ctx, cbi_assembly *const *jobs, size_t count, unsigned at_a_time)
{
    batch b = {.runs = CBI_NEW_ARRAY(ctx, count, run), .count = count};
    b.at_a_time = !at_a_time || at_a_time > CBI_ASSEMBLERS_MAX ? core_count() : at_a_time;
    for (size_t i = 0; i < count; i++)
        b.runs[i].job = jobs[i];
    cb_status status = cbi_run(ctx, run_batch, &b);
    if (status == CB_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        run *r = &b.runs[i];
        if (r->process.pid) {
            kill(r->process.pid, SIGKILL);
            wait_for(r);
        }
        remove_folder(r);
    }
    cbi_fail(ctx, status);
}
