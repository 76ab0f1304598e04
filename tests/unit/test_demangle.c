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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_agree),
        cmocka_unit_test(cut_names_are_safe),
        cmocka_unit_test(deep_and_growing_names_end),
    };
    return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
