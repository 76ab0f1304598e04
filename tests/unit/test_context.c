/* The trap, diagnostics with promotion and suppression, mapped files. */
#include "unit.h"

#include <unistd.h>

typedef struct heard {
    int count;
    cb_diagnostic last;
    char message[256];
    cb_severity severities[16];
} heard;

static void listen(void *user, const cb_diagnostic *d)
{
    heard *h = user;
    h->severities[h->count++ % 16] = d->severity;
    h->last = *d;
    snprintf(h->message, sizeof h->message, "%s", d->message);
}

static cb_status say_everything(cbi_ctx *ctx, void *arg)
{
    (void)arg;
    cbi_info(ctx, "note", NULL, NULL, "info %d", 1);
    cbi_warning(ctx, "careful", NULL, NULL, "warning %d", 2);
    cbi_error(ctx, "wrong", NULL, NULL, "error %d", 3);
    return CB_OK;
}

static cb_status say_fatal(cbi_ctx *ctx, void *arg)
{
    int *after = arg;
    cbi_place place = {.file = "a.cubin", .section = ".text.k", .offset = 16, .has_offset = true};
    cbi_fatal(ctx, "end", &place, "try this", "fatal %s", "word");
    *after = 1;
    return CB_OK;
}

static cb_status report_fatal(cbi_ctx *ctx, void *arg)
{
    int *after = arg;
    cbi_report(ctx, CB_SEV_FATAL, "end", NULL, NULL, "over");
    *after = 1;
    return CB_OK;
}

static void diagnostics_arrive_in_order(void **state)
{
    (void)state;
    heard h = {0};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.on_diagnostic = listen;
    ctx.on_diagnostic_user = &h;
    assert_int_equal(cbi_run(&ctx, say_everything, NULL), CB_OK);
    assert_int_equal(h.count, 3);
    assert_int_equal(h.severities[0], CB_SEV_INFO);
    assert_int_equal(h.severities[1], CB_SEV_WARNING);
    assert_int_equal(h.severities[2], CB_SEV_ERROR);
    assert_string_equal(h.message, "error 3");
    assert_string_equal(h.last.id, "wrong");
    assert_true(h.last.offset == UINT64_MAX);
    assert_int_equal(h.last.struct_size, sizeof(cb_diagnostic));
    assert_int_equal(ctx.error_count, 1);
    cbi_ctx_fini(&ctx);
}

static void warnings_can_become_errors(void **state)
{
    (void)state;
    heard h = {0};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.on_diagnostic = listen;
    ctx.on_diagnostic_user = &h;
    ctx.diag.warnings_as_errors = true;
    ctx.diag.suffix = " (sm_90)";
    cbi_run(&ctx, say_everything, NULL);
    assert_int_equal(h.severities[0], CB_SEV_INFO);
    assert_int_equal(h.severities[1], CB_SEV_ERROR);
    assert_int_equal(ctx.error_count, 2);
    assert_string_equal(h.message, "error 3 (sm_90)");
    cbi_ctx_fini(&ctx);
}

static void suppressed_warnings_are_not_promoted(void **state)
{
    (void)state;
    heard h = {0};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.on_diagnostic = listen;
    ctx.on_diagnostic_user = &h;
    ctx.diag.warnings_as_errors = true;
    ctx.diag.suppress_warnings = true;
    cbi_run(&ctx, say_everything, NULL);
    assert_int_equal(h.count, 2);
    assert_int_equal(ctx.error_count, 1);
    cbi_ctx_fini(&ctx);
}

static void fatal_leaves_the_job(void **state)
{
    (void)state;
    heard h = {0};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.on_diagnostic = listen;
    ctx.on_diagnostic_user = &h;
    int after = 0;
    assert_int_equal(cbi_run(&ctx, say_fatal, &after), CB_ERR_FATAL);
    assert_int_equal(after, 0);
    assert_string_equal(h.message, "fatal word");
    assert_string_equal(h.last.file, "a.cubin");
    assert_string_equal(h.last.section, ".text.k");
    assert_string_equal(h.last.help, "try this");
    assert_int_equal(h.last.offset, 16);
    assert_null(h.last.symbol);
    assert_int_equal(cbi_run(&ctx, report_fatal, &after), CB_ERR_FATAL);
    assert_int_equal(after, 0);
    assert_int_equal(ctx.error_count, 2);
    cbi_ctx_fini(&ctx);
}

static void no_listener_still_counts(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_run(&ctx, say_everything, NULL);
    assert_int_equal(ctx.error_count, 1);
    cbi_ctx_fini(&ctx);
}

static cb_status inner(cbi_ctx *ctx, void *arg)
{
    (void)arg;
    cbi_fail(ctx, CB_ERR_FORMAT);
}

static cb_status outer(cbi_ctx *ctx, void *arg)
{
    cb_status *inside = arg;
    *inside = cbi_run(ctx, inner, NULL);
    cbi_fail(ctx, CB_ERR_LINK);
}

static void traps_nest(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cb_status inside = CB_OK;
    assert_int_equal(cbi_run(&ctx, outer, &inside), CB_ERR_LINK);
    assert_int_equal(inside, CB_ERR_FORMAT);
    assert_null(ctx.trap);
    cbi_ctx_fini(&ctx);
}

static void files_map(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/cubind-unit-XXXXXX", folder ? folder : ".");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_span bytes = {(const uint8_t *)"?", 1};
    assert_int_equal(cbi_map_file(&ctx, path, &bytes), CB_OK);
    assert_int_equal(bytes.size, 0);
    assert_int_equal(write(fd, "abc", 3), 3);
    close(fd);
    assert_int_equal(cbi_map_file(&ctx, path, &bytes), CB_OK);
    assert_int_equal(bytes.size, 3);
    assert_memory_equal(bytes.data, "abc", 3);
    unlink(path);
    assert_memory_equal(bytes.data, "abc", 3);

    cbi_span untouched = bytes;
    assert_int_equal(cbi_map_file(&ctx, path, &bytes), CB_ERR_IO);
    assert_int_equal(cbi_map_file(&ctx, "/", &bytes), CB_ERR_IO);
    assert_int_equal(cbi_map_file(&ctx, "", &bytes), CB_ERR_IO);
    assert_ptr_equal(bytes.data, untouched.data);
    cbi_ctx_fini(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diagnostics_arrive_in_order),
        cmocka_unit_test(warnings_can_become_errors),
        cmocka_unit_test(suppressed_warnings_are_not_promoted),
        cmocka_unit_test(fatal_leaves_the_job),
        cmocka_unit_test(no_listener_still_counts),
        cmocka_unit_test(traps_nest),
        cmocka_unit_test(files_map),
    };
    return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
