#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 24, FREE = 0, TAKEN = 1, FILE_SET = 2, FOLDER_SET = 3, CHILD_TENTHS = 20 };

static struct {
    atomic_int state;
    char path[PATH_MAX];
} places[PLACES];

static atomic_bool installed;
static atomic_int child_at_work;

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGXCPU};

/* ---- the handler: only what POSIX allows in one ---- */

/* The same signal, then patience, then force. */
static void end_child(int signal_number)
{
    pid_t child = atomic_load(&child_at_work);
    if (child <= 0)
        return;
    kill(child, signal_number == SIGINT || signal_number == SIGHUP ? signal_number : SIGTERM);
    for (int i = 0; i < CHILD_TENTHS; i++) {
        pid_t done = waitpid(child, NULL, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR))
            return;
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    }
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void remove_all(void)
{
    for (int i = 0; i < PLACES; i++)
        if (atomic_load(&places[i].state) == FILE_SET)
            unlink(places[i].path);
    for (int i = 0; i < PLACES; i++)
        if (atomic_load(&places[i].state) == FOLDER_SET)
            rmdir(places[i].path);
}

static void on_deadly(int signal_number)
{
    end_child(signal_number);
    remove_all();
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* arrives when the handler returns */
}

static void deadly_set(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        sigaddset(set, deadly[i]);
}

static void leave_to_parent(void)
{
    atomic_store(&child_at_work, 0);
    for (int i = 0; i < PLACES; i++)
        atomic_store(&places[i].state, FREE);
}

void cbi_cleanup_install(void)
{
    pthread_atfork(NULL, NULL, leave_to_parent);
    struct sigaction action = {.sa_handler = on_deadly};
    deadly_set(&action.sa_mask);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction before;
        if (sigaction(deadly[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(deadly[i], &action, NULL);
    }
    atomic_store(&installed, true);
}

/* ---- the records ---- */

int cbi_cleanup_add(const char *path, bool folder)
{
    size_t size = strlen(path) + 1;
    if (!atomic_load(&installed) || size > sizeof places[0].path)
        return -1;
    for (int i = 0; i < PLACES; i++) {
        int expected = FREE;
        if (!atomic_compare_exchange_strong(&places[i].state, &expected, TAKEN))
            continue;
        memcpy(places[i].path, path, size);
        atomic_store(&places[i].state, folder ? FOLDER_SET : FILE_SET);
        return i;
    }
    return -1;
}

void cbi_cleanup_forget(int place)
{
    if (place >= 0)
        atomic_store(&places[place].state, FREE);
}

void cbi_cleanup_child(pid_t child)
{
    if (atomic_load(&installed))
        atomic_store(&child_at_work, child);
}

void cbi_cleanup_hold(sigset_t *ret_before)
{
    sigset_t set;
    deadly_set(&set);
    pthread_sigmask(SIG_BLOCK, &set, ret_before);
}

void cbi_cleanup_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void cbi_cleanup_to_child(const sigset_t *before)
{
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction action;
        if (sigaction(deadly[i], NULL, &action) == 0 && action.sa_handler == on_deadly)
            signal(deadly[i], SIG_DFL);
    }
    cbi_cleanup_release(before);
}
