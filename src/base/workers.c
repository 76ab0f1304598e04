#include "base/workers.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* To sleep and to be woken takes longer than most of what lies between two loops. */
enum { LOOKS = 100 };

static void pause_briefly(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

void cbi_workers_init(cbi_workers *w)
{
    w->process = getpid();
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->given, NULL);
    pthread_cond_init(&w->done, NULL);
    atomic_init(&w->round, 0);
    atomic_init(&w->working, 0);
}

static unsigned round_of(cbi_workers *w)
{
    return atomic_load_explicit(&w->round, memory_order_relaxed);
}

/* In a child of the process that made them: its threads, which may have the lock, are not there. */
static bool stayed_behind(const cbi_workers *w)
{
    return w->process != getpid();
}

/* Waits for something to do behind that round, and returns with the lock. */
static void wait_for_more(cbi_workers *w, unsigned round)
{
    for (int i = 0; i < LOOKS && round_of(w) == round; i++)
        pause_briefly();
    pthread_mutex_lock(&w->lock);
    w->asleep++;
    while (round_of(w) == round && !w->touch_count)
        pthread_cond_wait(&w->given, &w->lock);
    w->asleep--;
}

/* A large page, then looks whether there is work.  With the lock, which it gives away. */
static void touch_next(cbi_workers *w)
{
    enum { STEP = 2 << 20 };
    cbi_touch *next = &w->touches[w->first_touch];
    uint8_t *at = next->at;
    size_t size = next->left < STEP ? next->left : STEP;
    next->at += size;
    next->left -= size;
    if (!next->left) {
        w->first_touch = (w->first_touch + 1) % CBI_TOUCHES;
        w->touch_count--;
    }
    pthread_mutex_unlock(&w->lock);
#ifdef MADV_POPULATE_WRITE
    madvise(at, size, MADV_POPULATE_WRITE);
#endif
    (void)at;
}

static void do_share(cbi_workers *w, size_t number)
{
    bool begins = number < w->wanted;
    if (begins)
        atomic_fetch_add(&w->working, 1);
    pthread_mutex_unlock(&w->lock);
    if (!begins)
        return;
    w->fn(w->arg, number);
    pthread_mutex_lock(&w->lock);
    if (atomic_fetch_sub(&w->working, 1) == 1 && w->waits)
        pthread_cond_signal(&w->done);
    pthread_mutex_unlock(&w->lock);
}

static void *be_worker(void *arg)
{
    const cbi_worker *self = arg;
    cbi_workers *w = self->of;
    unsigned round = 0;
    for (;;) {
        wait_for_more(w, round);
        if (w->ended)
            break;
        if (round_of(w) == round) {
            touch_next(w);
            continue;
        }
        round = round_of(w);
        do_share(w, self->number);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Only the thread that called the library takes the process's signals. */
static void make(cbi_workers *w, size_t count)
{
    sigset_t others, before;
    if (w->refused || w->count >= count)
        return;
    sigfillset(&others);
    sigdelset(&others, SIGBUS);
    sigdelset(&others, SIGSEGV);
    sigdelset(&others, SIGILL);
    sigdelset(&others, SIGFPE);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    while (w->count < count && !w->refused) {
        cbi_worker *next = &w->all[w->count];
        *next = (cbi_worker){.of = w, .number = w->count + 1};
        w->refused = pthread_create(&next->thread, NULL, be_worker, next) != 0;
        w->count += !w->refused;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void give(cbi_workers *w, size_t count, cbi_worker_fn fn, void *arg)
{
    pthread_mutex_lock(&w->lock);
    w->fn = fn;
    w->arg = arg;
    w->wanted = count;
    atomic_fetch_add(&w->round, 1);
    bool wake = w->asleep > 0;
    pthread_mutex_unlock(&w->lock);
    if (wake)
        pthread_cond_broadcast(&w->given);
}

/* From here on nobody begins. */
void cbi_workers_finish(cbi_workers *w)
{
    if (stayed_behind(w))
        return;
    pthread_mutex_lock(&w->lock);
    w->wanted = 0;
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < LOOKS && atomic_load(&w->working); i++)
        pause_briefly();
    pthread_mutex_lock(&w->lock);
    w->waits = true;
    while (atomic_load(&w->working))
        pthread_cond_wait(&w->done, &w->lock);
    w->waits = false;
    pthread_mutex_unlock(&w->lock);
}

void cbi_workers_begin(cbi_workers *w, size_t count, cbi_worker_fn fn, void *arg)
{
    if (count < 2 || stayed_behind(w))
        return;
    make(w, count - 1 < CBI_THREADS_MAX - 1 ? count - 1 : CBI_THREADS_MAX - 1);
    give(w, count, fn, arg);
}

void cbi_workers_run(cbi_workers *w, size_t count, cbi_worker_fn fn, void *arg)
{
    cbi_workers_begin(w, count, fn, arg);
    fn(arg, 0);
    cbi_workers_finish(w);
}

void cbi_workers_touch(cbi_workers *w, void *memory, size_t size)
{
    if (!w->count || !size || stayed_behind(w))
        return;
    pthread_mutex_lock(&w->lock);
    if (w->touch_count < CBI_TOUCHES)
        w->touches[(w->first_touch + w->touch_count++) % CBI_TOUCHES] = (cbi_touch){memory, size};
    pthread_mutex_unlock(&w->lock);
    pthread_cond_signal(&w->given);
}

void cbi_workers_end(cbi_workers *w)
{
    if (stayed_behind(w))
        return;
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    w->touch_count = 0;
    atomic_fetch_add(&w->round, 1);
    pthread_mutex_unlock(&w->lock);
    pthread_cond_broadcast(&w->given);
    for (size_t i = 0; i < w->count; i++)
        pthread_join(w->all[i].thread, NULL);
    w->count = 0;
    w->ended = false;
    w->refused = false;
}
