#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

bool cbi_process_start(cbi_process *process, void (*be)(void *user, int life), void *user)
{
    int life[2];
    *process = (cbi_process){0};
    if (pipe2(life, O_CLOEXEC) != 0)
        return false;
    pid_t parent = getpid();
    sigset_t before;
    cbi_cleanup_hold(&before);
    pid_t pid = fork();
    int why = errno;
    if (pid == 0) {
        cbi_cleanup_to_child(&before);
        close(life[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) /* else it died before that */
            be(user, life[1]);
        _exit(CBI_PROCESS_NOT_RUN);
    }
    int record = pid > 0 ? cbi_cleanup_add_child(pid) : -1;
    cbi_cleanup_release(&before);
    close(life[1]);
    if (pid < 0) {
        close(life[0]);
        errno = why;
        return false;
    }
    *process = (cbi_process){.pid = pid, .life = life[0], .record = record};
    return true;
}

int cbi_process_wait(cbi_process *process)
{
    int status;
    pid_t done;
    while ((done = waitpid(process->pid, &status, 0)) < 0 && errno == EINTR)
        continue;
    cbi_cleanup_forget_child(process->record);
    close(process->life);
    process->pid = 0;
    return done < 0 ? -1 : status;
}
