#include "base/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    /* A second thread makes every round dearer: two cores share what memory gives.  Below so many
     * bytes it may take more time than it saves (docs/performance.md, "Threads"). */
    PAYS_FROM = 32 << 20,
    BYTES_PER_THREAD = 16 << 20,
    SHARES = 32, /* of a thread: rounds are dealt in so many, for they differ */
};

/* What a round reported. */
typedef struct note {
    size_t item;
    cb_diagnostic diagnostic;
} note;

typedef struct loop loop;

/* A thread's own context and what happened there. */
typedef struct helper {
    cbi_ctx ctx;
    loop *of;
    size_t item; /* at hand */
    cb_status status;
    size_t failed_at; /* unless it is CB_OK */
    CBI_VEC(note) notes;
    size_t told;    /* of them */
    size_t counted; /* bytes of its memory that are counted as the job's */
    size_t room;    /* its limit on memory when the loop began; 0: none */
} helper;

struct loop {
    size_t count, share;
    cbi_item_fn fn;
    void *arg;
    atomic_size_t next;   /* item that nobody has */
    atomic_size_t failed; /* lowest item that failed; count: none */
    atomic_bool *done;    /* by item, where somebody asks before the end; or NULL */
};

struct cbi_helpers {
    cbi_workers workers;
    size_t count;
    helper all[CBI_THREADS_MAX];
};

unsigned cbi_all_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores < CBI_THREADS_MAX ? (unsigned)cores : CBI_THREADS_MAX;
}

static void keep_note(void *user, const cb_diagnostic *d)
{
    helper *h = user;
    cbi_vec_push(&h->ctx, &h->notes, ((note){h->item, *d}));
}

/* The context of a thread, which keeps its memory from one loop to the next. */
static helper *open_helper(cbi_ctx *ctx, size_t i, loop *l)
{
    struct cbi_helpers *all = ctx->helpers;
    helper *h = &all->all[i];
    if (i == all->count) {
        h->ctx.allocator = ctx->allocator;
        cbi_ctx_start(&h->ctx);
        all->count++;
    }
    h->ctx.diag = ctx->diag;
    h->ctx.on_diagnostic = keep_note;
    h->ctx.on_diagnostic_user = h;
    h->ctx.memory_multiple = ctx->memory_multiple;
    h->room = 0;
    if (ctx->memory_limit) {
        size_t left =
            ctx->memory_limit > ctx->memory_used ? ctx->memory_limit - ctx->memory_used : 0;
        h->room = h->ctx.memory_used + left + 1; /* never 0 */
    }
    h->ctx.memory_limit = h->room;
    h->of = l;
    h->status = CB_OK;
    h->told = h->notes.len;
    return h;
}

static cb_status work(cbi_ctx *ctx, void *arg)
{
    helper *h = arg;
    loop *l = h->of;
    for (;;) {
        size_t first = atomic_fetch_add(&l->next, l->share);
        for (h->item = first; h->item < l->count && h->item < first + l->share; h->item++) {
            if (h->item > atomic_load(&l->failed))
                return CB_OK;
            l->fn(ctx, l->arg, h->item);
            if (l->done)
                atomic_store(&l->done[h->item], true);
        }
        if (h->item >= l->count)
            return CB_OK;
    }
}

static void note_failure(helper *h, cb_status status)
{
    size_t before = atomic_load(&h->of->failed);
    while (status != CB_OK && h->item < before) {
        if (!atomic_compare_exchange_weak(&h->of->failed, &before, h->item))
            continue;
        h->status = status;
        h->failed_at = h->item;
        break;
    }
}

static void run_helper(void *arg, size_t number)
{
    helper *h = &((struct cbi_helpers *)arg)->all[number];
    note_failure(h, cbi_run(&h->ctx, work, h));
}

/* What a thread took is the job's, and so is what it may take for the files that it read.  While a
 * loop runs, each thread may take all that was left. */
static void count_memory(cbi_ctx *ctx, helper *const *helpers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        helper *h = helpers[i];
        ctx->memory_used += h->ctx.memory_used - h->counted;
        h->counted = h->ctx.memory_used;
        if (ctx->memory_limit)
            ctx->memory_limit += h->ctx.memory_limit - h->room;
        ctx->over_limit |= h->ctx.over_limit;
    }
}

/* In the order of the items, up to the first that failed. */
static void tell(cbi_ctx *ctx, helper *const *helpers, size_t count, size_t failed)
{
    for (;;) {
        helper *next = NULL;
        for (size_t i = 0; i < count; i++) {
            helper *h = helpers[i];
            if (h->told < h->notes.len &&
                (!next || h->notes.items[h->told].item < next->notes.items[next->told].item))
                next = h;
        }
        if (!next || next->notes.items[next->told].item > failed)
            return;
        cbi_forward(ctx, &next->notes.items[next->told++].diagnostic);
    }
}

static void open_helpers(cbi_ctx *ctx, loop *l, size_t threads, helper **ret_helpers)
{
    if (!ctx->helpers) {
        ctx->helpers = CBI_NEW(ctx, struct cbi_helpers);
        cbi_workers_init(&ctx->helpers->workers);
    }
    for (size_t i = 0; i < threads; i++)
        ret_helpers[i] = open_helper(ctx, i, l);
    atomic_init(&l->next, 0);
    atomic_init(&l->failed, l->count);
}

static void end_loop(cbi_ctx *ctx, const loop *l, helper *const *helpers, size_t threads)
{
    count_memory(ctx, helpers, threads);
    size_t failed = atomic_load(&l->failed);
    tell(ctx, helpers, threads, failed);
    for (size_t i = 0; i < threads; i++)
        if (helpers[i]->status != CB_OK && helpers[i]->failed_at == failed)
            cbi_fail(ctx, helpers[i]->status);
}

static void run_threads(cbi_ctx *ctx, loop *l, size_t threads)
{
    helper *helpers[CBI_THREADS_MAX];
    open_helpers(ctx, l, threads, helpers);
    l->share = l->count / (threads * SHARES) + 1;
    cbi_workers_run(&ctx->helpers->workers, threads, run_helper, ctx->helpers);
    end_loop(ctx, l, helpers, threads);
}

/* How many a loop may have.  The cores are counted only where that matters: it means reading a
 * file. */
static size_t threads_for(const cbi_ctx *ctx, size_t count, uint64_t bytes)
{
    bool strict = ctx->memory_limit && !ctx->memory_multiple;
    if (strict || ctx->threads < 2 || count < 2 || (!ctx->all_threads && bytes < PAYS_FROM))
        return 1;
    uint64_t threads = ctx->threads < CBI_THREADS_MAX ? ctx->threads : CBI_THREADS_MAX;
    if (!ctx->all_threads && threads > bytes / BYTES_PER_THREAD)
        threads = bytes / BYTES_PER_THREAD;
    if (!ctx->all_threads && threads > cbi_all_cores())
        threads = cbi_all_cores();
    return threads < count ? threads : count;
}

bool cbi_parallel_pays(const cbi_ctx *ctx, size_t count, uint64_t bytes)
{
    return threads_for(ctx, count, bytes) > 1;
}

void cbi_parallel(cbi_ctx *ctx, size_t count, uint64_t bytes, cbi_item_fn fn, void *arg)
{
    size_t threads = threads_for(ctx, count, bytes);
    if (threads > 1) {
        loop l = {.count = count, .fn = fn, .arg = arg};
        run_threads(ctx, &l, threads);
        return;
    }
    for (size_t i = 0; i < count; i++)
        fn(ctx, arg, i);
}

/* ---- ahead ---- */

struct cbi_ahead {
    cbi_ctx *ctx;
    loop loop;
    size_t taken; /* of its rounds */
    size_t threads;
    helper *helpers[CBI_THREADS_MAX]; /* the first is the caller's */
};

cbi_ahead *cbi_ahead_begin(cbi_ctx *ctx, size_t count, uint64_t bytes, cbi_item_fn fn, void *arg)
{
    cbi_ahead *a = CBI_NEW(ctx, cbi_ahead);
    *a = (cbi_ahead){.ctx = ctx,
                     .loop = {.count = count, .share = 1, .fn = fn, .arg = arg},
                     .threads = threads_for(ctx, count, bytes)};
    if (a->threads < 2)
        return a;
    a->loop.done = CBI_NEW_ARRAY(ctx, count, atomic_bool);
    open_helpers(ctx, &a->loop, a->threads, a->helpers);
    cbi_workers_begin(&ctx->helpers->workers, a->threads, run_helper, ctx->helpers);
    return a;
}

/* A round that nobody has. */
static cb_status work_once(cbi_ctx *ctx, void *arg)
{
    helper *h = arg;
    h->of->fn(ctx, h->of->arg, h->item);
    atomic_store(&h->of->done[h->item], true);
    return CB_OK;
}

static bool is_settled(const cbi_ahead *a, size_t item)
{
    return atomic_load(&a->loop.done[item]) || atomic_load(&a->loop.failed) <= item;
}

/* While another thread is at it, later rounds are done here. */
static void wait_for(cbi_ahead *a, size_t item)
{
    helper *own = a->helpers[0];
    while (!is_settled(a, item)) {
        own->item = atomic_fetch_add(&a->loop.next, 1);
        if (own->item < a->loop.count)
            note_failure(own, cbi_run(&own->ctx, work_once, own));
        else
            sched_yield();
    }
}

void cbi_ahead_take(cbi_ahead *a)
{
    const size_t item = a->taken++;
    if (a->threads < 2) {
        a->loop.fn(a->ctx, a->loop.arg, item);
        return;
    }
    wait_for(a, item);
    if (a->taken < a->loop.count && atomic_load(&a->loop.failed) > item)
        return;
    cbi_workers_finish(&a->ctx->helpers->workers);
    end_loop(a->ctx, &a->loop, a->helpers, a->threads);
}

void cbi_parallel_touch(cbi_ctx *ctx, void *memory, size_t size)
{
    if (ctx->helpers)
        cbi_workers_touch(&ctx->helpers->workers, memory, size);
}

void cbi_parallel_end(cbi_ctx *ctx)
{
    if (ctx->helpers)
        cbi_workers_end(&ctx->helpers->workers);
}

void cbi_parallel_free(cbi_ctx *ctx)
{
    struct cbi_helpers *all = ctx->helpers;
    cbi_parallel_end(ctx);
    for (size_t i = 0; all && i < all->count; i++) {
        ctx->memory_used -= all->all[i].counted;
        cbi_ctx_fini(&all->all[i].ctx);
    }
    ctx->helpers = NULL;
}
