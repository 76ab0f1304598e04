/* Runs a program and lets its n-th system call fail.
 *
 *     calls N REPORT PROGRAM ARGUMENT...
 *
 * Counted are the calls of the main thread that can fail for reasons outside of the program, from
 * where the preloaded allocations.c says that it starts.  REPORT gets the name and the first
 * argument of the call that failed, or "calls N", how many there were.  Memory has a way of its own
 * to fail, so maps without a file are not counted.  Exits as the program does; 125: cannot trace.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 125, FIRST_MARK = -424242, LAST_MARK = -424243 };

#if defined(__x86_64__)

typedef struct call {
    long number;
    int error; /* what it fails with */
    const char *name;
} call;

#define CALL(name, error)                                                                          \
    {                                                                                              \
        SYS_##name, error, #name                                                                   \
    }

static const call calls[] = {
    CALL(read, EIO),
    CALL(pread64, EIO),
    CALL(write, ENOSPC),
    CALL(pwrite64, ENOSPC),
    CALL(writev, ENOSPC),
    CALL(open, EMFILE),
    CALL(openat, EMFILE),
    CALL(close, EIO),
    CALL(stat, EACCES),
    CALL(fstat, EIO),
    CALL(lstat, EACCES),
    CALL(newfstatat, EACCES),
    CALL(statx, EACCES),
    CALL(lseek, EINVAL),
    CALL(mmap, ENODEV),
    CALL(access, EACCES),
    CALL(faccessat, EACCES),
    CALL(faccessat2, EACCES),
    CALL(pipe, EMFILE),
    CALL(pipe2, EMFILE),
    CALL(poll, EINTR),
    CALL(madvise, EINVAL),
    CALL(dup, EMFILE),
    CALL(dup2, EMFILE),
    CALL(dup3, EMFILE),
    CALL(fork, EAGAIN),
    CALL(vfork, EAGAIN),
    CALL(clone, EAGAIN),
    CALL(clone3, EAGAIN),
    CALL(fcntl, EINVAL),
    CALL(flock, EWOULDBLOCK),
    CALL(fsync, EIO),
    CALL(fdatasync, EIO),
    CALL(ftruncate, EIO),
    CALL(fallocate, ENOSPC),
    CALL(getdents64, EIO),
    CALL(mkdir, EACCES),
    CALL(mkdirat, EACCES),
    CALL(rename, EACCES),
    CALL(renameat, EACCES),
    CALL(renameat2, EACCES),
    CALL(link, EPERM),
    CALL(linkat, EPERM),
    CALL(symlink, EPERM),
    CALL(symlinkat, EPERM),
    CALL(readlink, EACCES),
    CALL(readlinkat, EACCES),
    CALL(chmod, EPERM),
    CALL(fchmod, EPERM),
    CALL(fchmodat, EPERM),
    CALL(fchown, EPERM),
    CALL(chown, EPERM),
    CALL(utimensat, EPERM),
    CALL(unlink, EACCES),
    CALL(unlinkat, EACCES),
    CALL(rmdir, EACCES),
    CALL(getcwd, ENOENT),
    CALL(prlimit64, EPERM),
    CALL(memfd_create, EMFILE),
    CALL(ioctl, ENOTTY),
    CALL(copy_file_range, EXDEV),
    CALL(sendfile, EINVAL),
    CALL(sigaltstack, ENOMEM),
    CALL(socketpair, EMFILE),
    CALL(getrandom, EAGAIN),
    CALL(prctl, EINVAL),
    CALL(execve, ENOENT),
    CALL(wait4, EINTR),
};

static const call *find(const struct user_regs_struct *r)
{
    if (r->orig_rax == SYS_mmap && (r->r10 & MAP_ANONYMOUS))
        return NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if ((unsigned long long)calls[i].number == r->orig_rax)
            return &calls[i];
    return NULL;
}

static void say(const char *path, const char *text, long number)
{
    FILE *f = fopen(path, "w");
    if (!f)
        exit(CANNOT);
    fprintf(f, "%s %ld\n", text, number);
    fclose(f);
}

/* The program's own end, whatever it is. */
static int finish(int status)
{
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

/* To the next beginning or end of a system call.  False: the program has ended. */
static bool step(pid_t child, int *status)
{
    int signal_number = 0;
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, child, NULL, signal_number) != 0 ||
            waitpid(child, status, 0) < 0)
            exit(CANNOT);
        if (!WIFSTOPPED(*status))
            return false;
        if (WSTOPSIG(*status) == (SIGTRAP | 0x80))
            return true;
        signal_number = WSTOPSIG(*status) == SIGTRAP ? 0 : WSTOPSIG(*status);
    }
}

static void set_result(pid_t child, int error)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, child, NULL, &r) != 0)
        exit(CANNOT);
    r.rax = (unsigned long long)-error;
    if (ptrace(PTRACE_SETREGS, child, NULL, &r) != 0)
        exit(CANNOT);
}

/* At the beginning of a call.  A close() is done and then said to have failed. */
static int fail_now(pid_t child, const call *c, struct user_regs_struct *r)
{
    int status;
    if (c->number != SYS_close) {
        r->orig_rax = (unsigned long long)-1;
        if (ptrace(PTRACE_SETREGS, child, NULL, r) != 0)
            exit(CANNOT);
    }
    if (!step(child, &status))
        return finish(status);
    set_result(child, c->error);
    if (ptrace(PTRACE_DETACH, child, NULL, NULL) != 0 || waitpid(child, &status, 0) < 0)
        exit(CANNOT);
    return finish(status);
}

static int watch(pid_t child, long number, const char *report)
{
    int status;
    long count = 0;
    bool started = false;
    while (step(child, &status)) {
        struct user_regs_struct r;
        if (ptrace(PTRACE_GETREGS, child, NULL, &r) != 0)
            return CANNOT;
        const call *c = started ? find(&r) : NULL;
        if (r.orig_rax == SYS_close && ((int)r.rdi == FIRST_MARK || (int)r.rdi == LAST_MARK))
            started = (int)r.rdi == FIRST_MARK;
        if (c && ++count == number) {
            say(report, c->name, (long)r.rdi);
            return fail_now(child, c, &r);
        }
        if (!step(child, &status))
            break;
    }
    say(report, "calls", count);
    return finish(status);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return CANNOT;
    const char *preload = getenv("FAULT_PRELOAD");
    pid_t child = fork();
    if (child == 0) {
        if (preload)
            setenv("LD_PRELOAD", preload, 1);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execvp(argv[3], argv + 3);
        _exit(CANNOT);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) != 0)
        return CANNOT;
    return watch(child, strtol(argv[1], NULL, 10), argv[2]);
}

#else

/* Registers are read and written: another machine needs lines of its own. */
int main(void)
{
    return CANNOT;
}

#endif
