/* A forked child that dies with its parent, by a signal or otherwise, and a pipe that tells its
 * end. */
#ifndef CBI_PROCESS_H
#define CBI_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Exit status of a child that did not get to its work, as of a shell's. */
enum { CBI_PROCESS_NOT_RUN = 127 };

typedef struct cbi_process {
    pid_t pid;  /* 0: none is at work */
    int life;   /* reads as ended when the process has ended: for poll() */
    int record; /* for signals */
} cbi_process;

/* Forks and runs be(user, life) in the child, which does not return: it exits, or executes a
 * program.  `life` is the child's end of the pipe, closed when a program is executed: a program
 * that is to keep it clears FD_CLOEXEC.  Between fork and exec only what POSIX allows there.
 * False: there is no child; errno says why. */
bool cbi_process_start(cbi_process *process, void (*be)(void *user, int life), void *user);

/* Waits for its end and forgets it.  The status of waitpid(), or -1 if that failed. */
int cbi_process_wait(cbi_process *process);

#endif
