/* Names and their demangled form as `nvlink -dump-callgraph` of 13.0.88 prints it (demangle.tsv:
 * name, tab, text), and hostile names.
 *
 * To make more rows: put `.visible .func NAME() { ret; }` for each name into a PTX file, assemble
 * it with `ptxas -c`, link it with `nvlink -g -dump-callgraph` and read the names of the dump. */
#include "unit.h"

#include <stdio.h>

#include "demangle/demangle.h"

static void rows_agree(void **state)
{
    (void)state;
    FILE *file = fopen(SOURCE_ROOT "/tests/unit/demangle.tsv", "r");
    assert_non_null(file);
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    char line[4096];
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        *tab = 0;
        assert_string_equal(cbi_demangle(&ctx, line), tab + 1);
        rows++;
    }
    fclose(file);
    cbi_ctx_fini(&ctx);
    assert_true(rows > 400);
}

/* Every prefix of every name: no crash, and a result. */
static void cut_names_are_safe(void **state)
{
    (void)state;
    FILE *file = fopen(SOURCE_ROOT "/tests/unit/demangle.tsv", "r");
    assert_non_null(file);
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    char line[4096];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\t")] = 0;
        for (size_t len = strlen(line); len > 0; len--) {
            line[len] = 0;
            assert_non_null(cbi_demangle(&ctx, line));
        }
    }
    fclose(file);
    cbi_ctx_fini(&ctx);
}

static void deep_and_growing_names_end(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    char deep[100001];
    memcpy(deep, "_Z1f", 4);
    memset(deep + 4, 'P', sizeof deep - 5);
    deep[sizeof deep - 1] = 0;
    assert_string_equal(cbi_demangle(&ctx, deep), deep);
    /* each parameter doubles the one before */
    cbi_buf name = {0};
    cbi_buf_printf(&ctx, &name, "_Z1f1AIiiE");
    const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (size_t i = 0; i + 1 < sizeof digits; i++)
        cbi_buf_printf(&ctx, &name, "S_IS%c_S%c_E", digits[i], digits[i]);
    cbi_buf_append(&ctx, &name, "", 1);
    assert_non_null(cbi_demangle(&ctx, (const char *)name.items));
    cbi_ctx_fini(&ctx);
}

/* Many growing names cost one job no more than one does. */
static void names_share_a_budget(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t spent = 0;
    for (int number = 0; number < 40; number++) {
        cbi_buf name = {0};
        cbi_buf_printf(&ctx, &name, "_Z2f%c1AIiiE", digits[number % 36]);
        for (size_t i = 0; i + 1 < sizeof digits; i++)
            cbi_buf_printf(&ctx, &name, "S_IS%c_S%c_E", digits[i], digits[i]);
        cbi_buf_append(&ctx, &name, "", 1);
        assert_non_null(cbi_demangle(&ctx, (const char *)name.items));
        if (number == 0)
            spent = ctx.text_spent;
    }
    assert_true(spent > 1000000);
    assert_true(ctx.text_spent < (size_t)80 << 20);
    assert_string_equal(cbi_demangle(&ctx, "_Z1fi"), "f(int)");
    cbi_ctx_fini(&ctx);
}

/* So do many that grow a little, and the same one shown many times. */
static void short_names_share_it(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    size_t kept = 0;
    for (int number = 1000; number < 6000; number++) {
        char name[128];
        snprintf(name, sizeof name,
                 "_Z5f%d1AIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_E"
                 "S_IS5_S5_ES_IS6_S6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_E",
                 number);
        const char *shown = cbi_demangle(&ctx, name);
        kept += shown == name;
        for (size_t i = 0; number == 1000 && i < 100; i++)
            assert_true(cbi_demangle_again(&ctx, name, shown));
    }
    assert_in_range(kept, 4000, 4999);
    assert_true(ctx.text_spent <= (size_t)64 << 20);
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    ctx.text_spent = (size_t)64 << 20;
    assert_false(cbi_demangle_again(&ctx, "_Z1fi", text));
    assert_string_equal(cbi_demangle(&ctx, "_Z1fi"), "f(int)");
    cbi_ctx_fini(&ctx);
}

static void *fail_at(void *user, size_t size)
{
    size_t *left = user;
    if (*left == 0)
        return NULL;
    --*left;
    return malloc(size);
}

static void just_free(void *user, void *block, size_t size)
{
    (void)user;
    (void)size;
    free(block);
}

static cb_status demangle_one(cbi_ctx *ctx, void *arg)
{
    *(const char **)arg = cbi_demangle(ctx, "_Z1fi");
    return CB_OK;
}

/* A name that memory fails is no other name. */
static void failing_memory_is_told(void **state)
{
    (void)state;
    cb_status status = CB_ERR_NOMEM;
    for (size_t allowed = 0; status != CB_OK; allowed++) {
        size_t left = allowed;
        const char *text = NULL;
        cbi_ctx ctx;
        cbi_ctx_init(&ctx);
        ctx.allocator = (cbi_allocator){fail_at, just_free, &left};
        status = cbi_run(&ctx, demangle_one, &text);
        assert_true(status == CB_ERR_NOMEM || strcmp(text, "f(int)") == 0);
        assert_true(allowed < 10);
        cbi_ctx_fini(&ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_agree),
        cmocka_unit_test(cut_names_are_safe),
        cmocka_unit_test(deep_and_growing_names_end),
        cmocka_unit_test(names_share_a_budget),
        cmocka_unit_test(short_names_share_it),
        cmocka_unit_test(failing_memory_is_told),
    };
    return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
