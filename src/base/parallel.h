/* Loops whose rounds may run at the same time. */
#ifndef CBI_PARALLEL_H
#define CBI_PARALLEL_H

#include "base/base.h"
#include "base/workers.h"

/* A round of a loop.  It reads what nobody changes and writes what is of its item only.  `ctx` is
 * for what it allocates, which lives as long as the job, and what it reports; its interned names
 * are not the job's. */
typedef void (*cbi_item_fn)(cbi_ctx *ctx, void *arg, size_t i);

/* Calls fn for every i below count, in as many threads as the job may have (ctx->threads), as
 * there are cores, and as `bytes`, about what all rounds read, are worth (ctx->all_threads: the job
 * insists on its number); in one where the limit on memory is a number that must not be passed (no
 * ctx->memory_multiple).  Everything is as if the rounds came one after the other: what they report
 * comes in that order, and the first of them that fails ends the job. */
void cbi_parallel(cbi_ctx *ctx, size_t count, uint64_t bytes, cbi_item_fn fn, void *arg);

/* Would such a loop have more than one thread? */
bool cbi_parallel_pays(const cbi_ctx *ctx, size_t count, uint64_t bytes);

/* A loop like that, whose rounds are begun ahead while the job goes on and takes one after the
 * other; they report nothing. */
typedef struct cbi_ahead cbi_ahead;
cbi_ahead *cbi_ahead_begin(cbi_ctx *ctx, size_t count, uint64_t bytes, cbi_item_fn fn, void *arg);
/* The next round, from 0 on, is done: by a thread, or here.  The job ends where that failed.  No
 * other loop may run before the last round is taken. */
void cbi_ahead_take(cbi_ahead *ahead);

/* A hint that the job will write memory that it was just given: a thread that sleeps touches it
 * ahead. */
void cbi_parallel_touch(cbi_ctx *ctx, void *memory, size_t size);

/* As many threads as there are cores. */
unsigned cbi_all_cores(void);

/* Ends the threads, which last from the first loop that had them to the end of the job; what the
 * loops have allocated stays.  A later loop makes them anew. */
void cbi_parallel_end(cbi_ctx *ctx);

/* Ends them, and frees what the loops of a job have allocated. */
void cbi_parallel_free(cbi_ctx *ctx);

#endif
