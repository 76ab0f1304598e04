/* Loops in several threads: every round once, reports in order, the first failure ends the job. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/parallel.h"
#include "base/workers.h"

enum { ITEMS = 1000, TEXT = 64 };

static const unsigned counts[] = {1, 2, 3, 8};

typedef struct job {
    unsigned threads;
    size_t fails_at[2]; /* items; ITEMS: none */
    bool quiet;
    uint32_t *slots[ITEMS];
    char told[ITEMS][TEXT];
    size_t told_count;
} job;

static void keep(void *user, const cb_diagnostic *d)
{
    job *j = user;
    snprintf(j->told[j->told_count++], TEXT, "%s", d->message);
}

static void round_of(cbi_ctx *ctx, void *arg, size_t i)
{
    job *j = arg;
    if (!j->quiet)
        cbi_warning(ctx, "round", NULL, NULL, "round %zu", i);
    if (i == j->fails_at[0] || i == j->fails_at[1])
        cbi_fatal(ctx, "stop", NULL, NULL, "stopped at %zu", i);
    j->slots[i] = cbi_alloc(ctx, sizeof(uint32_t));
    *j->slots[i] += (uint32_t)i + 1;
}

static cb_status run_rounds(cbi_ctx *ctx, void *arg)
{
    cbi_parallel(ctx, ITEMS, 0, round_of, arg);
    cbi_parallel(ctx, 0, 0, round_of, arg);
    return CB_OK;
}

static cb_status run_job(cbi_ctx *ctx, job *j)
{
    cbi_ctx_init(ctx);
    ctx->threads = j->threads;
    ctx->all_threads = true;
    ctx->on_diagnostic = keep;
    ctx->on_diagnostic_user = j;
    return cbi_run(ctx, run_rounds, j);
}

static void every_round_runs_once_and_reports_in_order(void **state)
{
    (void)state;
    for (size_t c = 0; c < CBI_COUNT(counts); c++) {
        static job j;
        j = (job){.threads = counts[c], .fails_at = {ITEMS, ITEMS}};
        cbi_ctx ctx;
        assert_int_equal(run_job(&ctx, &j), CB_OK);
        assert_int_equal(j.told_count, ITEMS);
        for (size_t i = 0; i < ITEMS; i++) {
            char text[TEXT];
            snprintf(text, sizeof text, "round %zu", i);
            assert_string_equal(j.told[i], text);
            assert_int_equal(*j.slots[i], i + 1);
        }
        cbi_ctx_fini(&ctx);
    }
}

static void the_first_failure_ends_the_job(void **state)
{
    (void)state;
    for (size_t c = 0; c < CBI_COUNT(counts); c++) {
        static job j;
        j = (job){.threads = counts[c], .fails_at = {700, 37}};
        cbi_ctx ctx;
        assert_int_equal(run_job(&ctx, &j), CB_ERR_FATAL);
        assert_int_equal(j.told_count, 39);
        assert_string_equal(j.told[37], "round 37");
        assert_string_equal(j.told[38], "stopped at 37");
        assert_int_equal(ctx.error_count, 1);
        cbi_ctx_fini(&ctx);
    }
}

static void warnings_can_be_errors(void **state)
{
    (void)state;
    static job j;
    j = (job){.threads = 3, .fails_at = {ITEMS, ITEMS}};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.threads = 3;
    ctx.all_threads = ctx.diag.warnings_as_errors = true;
    assert_int_equal(cbi_run(&ctx, run_rounds, &j), CB_OK);
    assert_int_equal(ctx.error_count, ITEMS);
    cbi_ctx_fini(&ctx);
}

static void note_context(cbi_ctx *ctx, void *arg, size_t i)
{
    ((cbi_ctx **)arg)[i] = ctx;
}

static void one_thread_is_the_job_itself(void **state)
{
    (void)state;
    cbi_ctx *seen[4];
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.threads = 8;
    cbi_parallel(&ctx, 4, 1000, note_context, seen); /* too few bytes */
    for (size_t i = 0; i < 4; i++)
        assert_ptr_equal(seen[i], &ctx);
    ctx.all_threads = true;
    ctx.memory_limit = 1 << 30; /* which is of one context */
    cbi_parallel(&ctx, 4, 1 << 30, note_context, seen);
    for (size_t i = 0; i < 4; i++)
        assert_ptr_equal(seen[i], &ctx);
    ctx.memory_limit = 0;
    cbi_parallel(&ctx, 4, 1 << 30, note_context, seen);
    for (size_t i = 0; i < 4; i++)
        assert_ptr_not_equal(seen[i], &ctx);
    cbi_ctx_fini(&ctx);
}

typedef struct ahead_job {
    job rounds;
    size_t stops_at; /* ITEMS: it takes all */
    size_t taken;
} ahead_job;

static cb_status take_rounds(cbi_ctx *ctx, void *arg)
{
    ahead_job *j = arg;
    cbi_ahead *ahead = cbi_ahead_begin(ctx, ITEMS, 0, round_of, &j->rounds);
    while (j->taken < ITEMS) {
        if (j->taken == j->stops_at)
            cbi_fatal(ctx, "own", NULL, NULL, "stopped before %zu", j->taken);
        cbi_ahead_take(ahead);
        assert_int_equal(*j->rounds.slots[j->taken], j->taken + 1);
        j->taken++;
    }
    cbi_parallel(ctx, 0, 0, round_of, &j->rounds);
    return CB_OK;
}

static cb_status run_ahead(cbi_ctx *ctx, ahead_job *j)
{
    cbi_ctx_init(ctx);
    ctx->threads = j->rounds.threads;
    ctx->all_threads = true;
    ctx->on_diagnostic = keep;
    ctx->on_diagnostic_user = &j->rounds;
    return cbi_run(ctx, take_rounds, j);
}

static void rounds_ahead_are_taken_in_order(void **state)
{
    (void)state;
    for (size_t c = 0; c < CBI_COUNT(counts); c++) {
        static ahead_job j;
        cbi_ctx ctx;
        j = (ahead_job){
            {.threads = counts[c], .fails_at = {ITEMS, ITEMS}, .quiet = true}, ITEMS, 0};
        assert_int_equal(run_ahead(&ctx, &j), CB_OK);
        assert_int_equal(j.taken, ITEMS);
        cbi_ctx_fini(&ctx);
    }
}

static void a_failure_ahead_counts_in_its_turn(void **state)
{
    (void)state;
    for (size_t c = 0; c < CBI_COUNT(counts); c++) {
        static ahead_job j;
        cbi_ctx ctx;
        j = (ahead_job){{.threads = counts[c], .fails_at = {700, 37}, .quiet = true}, ITEMS, 0};
        assert_int_equal(run_ahead(&ctx, &j), CB_ERR_FATAL);
        assert_int_equal(j.taken, 37);
        assert_int_equal(j.rounds.told_count, 1);
        assert_string_equal(j.rounds.told[0], "stopped at 37");
        cbi_ctx_fini(&ctx);
        j = (ahead_job){{.threads = counts[c], .fails_at = {700, 37}, .quiet = true}, 20, 0};
        assert_int_equal(run_ahead(&ctx, &j), CB_ERR_FATAL);
        assert_int_equal(j.taken, 20);
        assert_int_equal(j.rounds.told_count, 1);
        assert_string_equal(j.rounds.told[0], "stopped before 20");
        cbi_ctx_fini(&ctx);
    }
}

enum { LOOPS = 200, FEW = 3 };

static void note_thread(cbi_ctx *ctx, void *arg, size_t i)
{
    (void)ctx;
    ((long *)arg)[i] = syscall(SYS_gettid);
}

static void threads_last_as_long_as_the_job(void **state)
{
    (void)state;
    long seen[ITEMS], known[FEW];
    size_t count = 0;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.threads = FEW;
    ctx.all_threads = true;
    for (size_t l = 0; l < LOOPS; l++) {
        cbi_parallel(&ctx, ITEMS, 0, note_thread, seen);
        for (size_t i = 0; i < ITEMS; i++) {
            size_t k = 0;
            while (k < count && known[k] != seen[i])
                k++;
            if (k < count)
                continue;
            assert_true(count < FEW);
            known[count++] = seen[i];
        }
    }
    cbi_parallel_end(&ctx);
    cbi_parallel_end(&ctx);
    cbi_parallel(&ctx, ITEMS, 0, note_thread, seen); /* with others */
    for (size_t i = 0; i < ITEMS; i++)
        assert_true(seen[i] != 0);
    cbi_ctx_fini(&ctx);
}

static void a_child_has_one_thread(void **state)
{
    (void)state;
    long seen[ITEMS];
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.threads = FEW;
    ctx.all_threads = true;
    cbi_parallel(&ctx, ITEMS, 0, note_thread, seen);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        int other = 0;
        cbi_parallel(&ctx, ITEMS, 0, note_thread, seen);
        for (size_t i = 0; i < ITEMS; i++)
            other |= seen[i] != getpid();
        cbi_ctx_fini(&ctx);
        _exit(other);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    cbi_parallel(&ctx, ITEMS, 0, note_thread, seen);
    cbi_ctx_fini(&ctx);
}

static void count_once(void *arg, size_t number)
{
    atomic_fetch_add((atomic_size_t *)arg, number + 1);
}

/* A thread that stays behind may have the lock of the pool when the process is copied. */
static void a_child_needs_no_lock(void **state)
{
    (void)state;
    enum { LONGEST = 60 }; /* seconds */
    cbi_workers *w = calloc(1, sizeof *w);
    atomic_size_t done = 0;
    cbi_workers_init(w);
    cbi_workers_run(w, FEW, count_once, &done);
    pthread_mutex_lock(&w->lock);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        alarm(LONGEST);
        atomic_store(&done, 0);
        cbi_workers_run(w, FEW, count_once, &done);
        _exit(atomic_load(&done) != 1);
    }
    pthread_mutex_unlock(&w->lock);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    cbi_workers_end(w);
    free(w);
}

static cb_status map_all(cbi_ctx *ctx, void *arg)
{
    const char *const *paths = arg;
    cbi_span bytes;
    cbi_read_ahead(ctx, paths, 3);
    assert_int_equal(cbi_map_file(ctx, paths[0], &bytes), CB_OK);
    assert_int_equal(bytes.size, 5);
    assert_memory_equal(bytes.data, "first", 5);
    assert_int_equal(cbi_map_file(ctx, SOURCE_ROOT "/LICENSE", &bytes), CB_OK); /* in between */
    assert_int_equal(cbi_map_file(ctx, paths[1], &bytes), CB_ERR_IO);
    assert_int_equal(cbi_map_file(ctx, paths[2], &bytes), CB_OK);
    assert_memory_equal(bytes.data, "last", 4);
    return CB_OK;
}

static void files_are_read_ahead(void **state)
{
    (void)state;
    char folder[] = P_tmpdir "/cubind-ahead-XXXXXX", names[3][64];
    const char *paths[3], *texts[] = {"first", NULL, "last"};
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 3; i++) {
        snprintf(names[i], sizeof names[i], "%s/%zu", folder, i);
        paths[i] = names[i];
        FILE *f = texts[i] ? fopen(names[i], "w") : NULL;
        if (f) {
            fputs(texts[i], f);
            fclose(f);
        }
    }
    for (size_t c = 0; c < CBI_COUNT(counts); c++) {
        cbi_ctx ctx;
        cbi_ctx_init(&ctx);
        ctx.threads = counts[c];
        ctx.all_threads = true;
        assert_int_equal(cbi_run(&ctx, map_all, paths), CB_OK);
        cbi_ctx_reset(&ctx);
        assert_int_equal(cbi_run(&ctx, map_all, paths), CB_OK);
        cbi_ctx_fini(&ctx);
    }
    for (size_t i = 0; i < 3; i++)
        unlink(names[i]);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_round_runs_once_and_reports_in_order),
        cmocka_unit_test(the_first_failure_ends_the_job),
        cmocka_unit_test(warnings_can_be_errors),
        cmocka_unit_test(one_thread_is_the_job_itself),
        cmocka_unit_test(rounds_ahead_are_taken_in_order),
        cmocka_unit_test(a_failure_ahead_counts_in_its_turn),
        cmocka_unit_test(threads_last_as_long_as_the_job),
        cmocka_unit_test(a_child_has_one_thread),
        cmocka_unit_test(a_child_needs_no_lock),
        cmocka_unit_test(files_are_read_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
