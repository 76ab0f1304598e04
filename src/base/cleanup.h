/* What must not outlive the process: temporary files and folders, and children at work.  A program
 * installs the handlers once; in a library nothing is recorded and signals stay the caller's. */
#ifndef CBI_CLEANUP_H
#define CBI_CLEANUP_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* From now on deadly signals first remove what is recorded, then kill by the same signal.  Signals
 * that are ignored stay so.  A forked child begins with no records. */
void cbi_cleanup_install(void);

/* Records a file, or a folder that is empty when the files are gone.  Returns its place, -1: none
 * is free, which only means that a signal leaves it behind. */
int cbi_cleanup_add(const char *path, bool folder);
/* It is gone, or has become a result. */
void cbi_cleanup_forget(int place);

/* Removes what is recorded, for a program that ends early. */
void cbi_cleanup_now(void);

/* A child that dies with us.  Returns its place, -1: none is free. */
int cbi_cleanup_add_child(pid_t child);
void cbi_cleanup_forget_child(int place);

/* Deadly signals wait until the release: for steps that must not be torn apart. */
void cbi_cleanup_hold(sigset_t *ret_before);
void cbi_cleanup_release(const sigset_t *before);
/* In a child that becomes another program, instead of the release: it dies of signals by itself. */
void cbi_cleanup_to_child(const sigset_t *before);

#endif
