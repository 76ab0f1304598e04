/* Interned names and the pointer map. */
#include "unit.h"

static void equal_text_is_one_name(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    const cbi_name *a = cbi_intern(&ctx, "kernel");
    char copy[] = "kernel_and_more";
    const cbi_name *b = cbi_intern_len(&ctx, copy, 6);
    assert_ptr_equal(a, b);
    assert_string_equal(a->s, "kernel");
    assert_int_equal(a->len, 6);
    assert_ptr_not_equal(a, cbi_intern(&ctx, "kernel_"));
    assert_ptr_equal(a, cbi_intern_printf(&ctx, "k%s", "ernel"));
    assert_int_equal(cbi_intern(&ctx, "")->len, 0);
    cbi_ctx_fini(&ctx);
}

static void ids_follow_first_use(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(cbi_intern_printf(&ctx, "name%u", i)->id, i);
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(cbi_intern_printf(&ctx, "name%u", i)->id, i);
    cbi_ctx_fini(&ctx);
}

static void long_names(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    char big[3000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    const cbi_name *name = cbi_intern_printf(&ctx, "%s", big);
    assert_int_equal(name->len, sizeof big - 1);
    assert_ptr_equal(name, cbi_intern(&ctx, big));
    cbi_ctx_fini(&ctx);
}

static void map_holds_what_was_put(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_map map = {0};
    static int values[20000];
    assert_null(cbi_map_get(&map, 0));
    for (size_t i = 0; i < CBI_COUNT(values); i++)
        cbi_map_put(&ctx, &map, i * 4096, &values[i]);
    assert_int_equal(map.len, CBI_COUNT(values));
    for (size_t i = 0; i < CBI_COUNT(values); i++)
        assert_ptr_equal(cbi_map_get(&map, i * 4096), &values[i]);
    assert_null(cbi_map_get(&map, 1));
    cbi_map_put(&ctx, &map, 0, &values[7]);
    assert_ptr_equal(cbi_map_get(&map, 0), &values[7]);
    assert_int_equal(map.len, CBI_COUNT(values));
    cbi_ctx_fini(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_text_is_one_name),
        cmocka_unit_test(ids_follow_first_use),
        cmocka_unit_test(long_names),
        cmocka_unit_test(map_holds_what_was_put),
    };
    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
