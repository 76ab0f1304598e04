#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 160, CHILDREN = 32, FREE = 0, TAKEN = 1, FILE_SET = 2, FOLDER_SET = 3 };
enum { CHILD_TENTHS = 20 };

static struct {
    atomic_int state;
    char path[PATH_MAX];
} places[PLACES];

static atomic_bool installed;
static atomic_int children[CHILDREN]; /* process ids, 0: free */

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGXCPU};

/* ---- the handler: only what POSIX allows in one ---- */

/* Is that child gone? */
static bool reap(pid_t child, int flags)
{
    pid_t done;
    while ((done = waitpid(child, NULL, flags)) < 0 && errno == EINTR)
        continue;
    return done != 0;
}

/* How many are left.  Children are waited for by number: others may be the library's user's. */
static int reap_children(void)
{
    int left = 0;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = atomic_load(&children[i]);
        if (child <= 0)
            continue;
        if (reap(child, WNOHANG))
            atomic_store(&children[i], 0);
        else
            left++;
    }
    return left;
}

static void signal_children(int signal_number)
{
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = atomic_load(&children[i]);
        if (child > 0)
            kill(child, signal_number);
    }
}

/* The same signal, then patience, then force. */
static void end_children(int signal_number)
{
    signal_children(signal_number == SIGINT || signal_number == SIGHUP ? signal_number : SIGTERM);
    for (int i = 0; i < CHILD_TENTHS && reap_children(); i++)
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    signal_children(SIGKILL);
    for (int i = 0; i < CHILDREN; i++)
        if (atomic_load(&children[i]) > 0)
            reap(atomic_load(&children[i]), 0);
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

void cbi_cleanup_now(void)
{
    remove_all();
}

static void on_deadly(int signal_number)
{
    end_children(signal_number);
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
    for (int i = 0; i < CHILDREN; i++)
        atomic_store(&children[i], 0);
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

int cbi_cleanup_add_child(pid_t child)
{
    for (int i = 0; i < CHILDREN && atomic_load(&installed); i++) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&children[i], &expected, child))
            return i;
    }
    return -1;
}

void cbi_cleanup_forget_child(int place)
{
    if (place >= 0)
        atomic_store(&children[place], 0);
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
