/* Threads that last as long as a job: they sleep until there is work. */
#ifndef CBI_WORKERS_H
#define CBI_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CBI_THREADS_MAX = 64 };

/* Work of one of several threads; `number` tells them apart. */
typedef void (*cbi_worker_fn)(void *arg, size_t number);

struct cbi_workers;

typedef struct cbi_worker {
    struct cbi_workers *of;
    size_t number; /* from 1; 0 is the thread that gives the work */
    pthread_t thread;
} cbi_worker;

/* Memory that will be touched soon. */
typedef struct cbi_touch {
    uint8_t *at;
    size_t left;
} cbi_touch;

enum { CBI_TOUCHES = 16 };

/* The members are those of workers.c. */
typedef struct cbi_workers {
    size_t count; /* that were made */
    bool refused; /* the system gives no more */
    pid_t process;
    pthread_mutex_t lock;
    pthread_cond_t given, done;
    atomic_uint round;   /* changes with each piece of work, and at the end */
    atomic_uint working; /* that are at it */
    size_t asleep;       /* that wait for `given` */
    bool waits;          /* for `done` */
    bool ended;
    size_t wanted; /* threads; 0: nobody may begin any more */
    cbi_worker_fn fn;
    void *arg;
    cbi_touch touches[CBI_TOUCHES]; /* a ring */
    size_t first_touch, touch_count;
    cbi_worker all[CBI_THREADS_MAX - 1];
} cbi_workers;

/* For zeroed memory. */
void cbi_workers_init(cbi_workers *w);

/* Calls fn(arg, 0) here and fn(arg, n) for n below count in other threads, which are made when they
 * are asked for the first time.  Returns when this thread and all that have begun are done: fn
 * takes its share of the work from the others, and a thread that comes when nothing is left, or
 * that the system does not give, is not waited for.  A child of fork() has this thread only. */
void cbi_workers_run(cbi_workers *w, size_t count, cbi_worker_fn fn, void *arg);

/* The same in two steps, between which the caller does something else: it calls fn(arg, 0) itself,
 * or takes of the work what it needs first. */
void cbi_workers_begin(cbi_workers *w, size_t count, cbi_worker_fn fn, void *arg);
void cbi_workers_finish(cbi_workers *w);

/* Has a thread that sleeps touch memory of the caller for the first time, which he will write
 * soon: the system clears its pages there and then.  The contents stay what they are, and nobody
 * waits for it: the memory may be written and freed meanwhile.  A hint: nothing happens where there
 * is no thread. */
void cbi_workers_touch(cbi_workers *w, void *memory, size_t size);

/* Ends the threads. */
void cbi_workers_end(cbi_workers *w);

#endif
