/* The arena: alignment, zeroing, limits, failing allocators, growable arrays and buffers. */
#include "unit.h"

typedef struct request {
    size_t count;
    size_t size;
    void *got;
} request;

static cb_status allocate(cbi_ctx *ctx, void *arg)
{
    request *r = arg;
    r->got = cbi_alloc_array(ctx, r->count, r->size);
    return CB_OK;
}

static void blocks_are_zeroed_and_aligned(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    for (size_t size = 1; size < 300; size += 7) {
        uint8_t *p = cbi_alloc(&ctx, size);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xa5, size);
    }
    cbi_ctx_fini(&ctx);
}

static void big_objects_do_not_waste_the_current_block(void **state)
{
    (void)state;
    unit_heap heap = {0};
    cbi_ctx ctx;
    unit_ctx_init(&ctx, &heap);
    cbi_alloc(&ctx, 16);
    assert_int_equal(heap.requests, 1);
    cbi_alloc(&ctx, 1 << 20);
    assert_int_equal(heap.requests, 2);
    cbi_alloc(&ctx, 16);
    assert_int_equal(heap.requests, 2);
    cbi_ctx_fini(&ctx);
    assert_int_equal(heap.live, 0);
    assert_int_equal(heap.live_bytes, 0);
}

static void failing_allocator_gives_nomem(void **state)
{
    (void)state;
    unit_heap heap = {.fail_at = 1};
    cbi_ctx ctx;
    unit_ctx_init(&ctx, &heap);
    request r = {1, 16, NULL};
    assert_int_equal(cbi_run(&ctx, allocate, &r), CB_ERR_NOMEM);
    assert_null(r.got);
    cbi_ctx_fini(&ctx);
    assert_int_equal(heap.live, 0);
}

static void memory_limit_holds(void **state)
{
    (void)state;
    unit_heap heap = {0};
    cbi_ctx ctx;
    unit_ctx_init(&ctx, &heap);
    ctx.memory_limit = 1 << 20;
    request fits = {1, 1 << 16, NULL}, too_big = {1, 1 << 20, NULL};
    assert_int_equal(cbi_run(&ctx, allocate, &fits), CB_OK);
    assert_int_equal(cbi_run(&ctx, allocate, &too_big), CB_ERR_NOMEM);
    cb_status status = CB_OK;
    while (status == CB_OK)
        status = cbi_run(&ctx, allocate, &fits);
    assert_int_equal(status, CB_ERR_NOMEM);
    /* the arena takes more than it is asked for only where that is left */
    request small = {1, 1 << 10, NULL};
    while (cbi_run(&ctx, allocate, &small) == CB_OK)
        continue;
    assert_true(heap.live_bytes <= ctx.memory_limit);
    assert_true(heap.live_bytes > ctx.memory_limit - (1 << 11));
    cbi_ctx_fini(&ctx);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    request cases[] = {
        {SIZE_MAX, 2, NULL},     {SIZE_MAX / 2, 3, NULL}, {2, SIZE_MAX / 2 + 1, NULL},
        {1, SIZE_MAX, NULL},     {SIZE_MAX, 1, NULL},     {1, SIZE_MAX - 15, NULL},
        {1, SIZE_MAX / 2, NULL},
    };
    for (size_t i = 0; i < CBI_COUNT(cases); i++)
        assert_int_equal(cbi_run(&ctx, allocate, &cases[i]), CB_ERR_NOMEM);
    request none = {0, 8, NULL};
    assert_int_equal(cbi_run(&ctx, allocate, &none), CB_OK);
    cbi_ctx_fini(&ctx);
}

static void size_helpers(void **state)
{
    (void)state;
    uint64_t r = 7;
    assert_true(cbi_add(1, 2, &r));
    assert_int_equal(r, 3);
    assert_false(cbi_add(UINT64_MAX, 1, &r));
    assert_true(cbi_mul(1u << 31, 2, &r));
    assert_int_equal(r, UINT64_C(1) << 32);
    assert_false(cbi_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &r));

    assert_true(cbi_fits(0, 0, 0));
    assert_true(cbi_fits(4, 4, 8));
    assert_true(cbi_fits(8, 0, 8));
    assert_false(cbi_fits(4, 5, 8));
    assert_false(cbi_fits(9, 0, 8));
    assert_false(cbi_fits(UINT64_MAX, 2, 8));
    assert_false(cbi_fits(2, UINT64_MAX, 8));

    assert_int_equal(cbi_align_up(0, 16), 0);
    assert_int_equal(cbi_align_up(17, 16), 32);
    assert_int_equal(cbi_align_up(17, 0), 17);
    assert_int_equal(cbi_align_up(17, 1), 17);
    assert_int_equal(cbi_align_up(17, 12), 24);
}

static void arrays_grow_and_stay_zeroed(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    CBI_VEC(struct {
        int a;
        int b;
    })
    v = {0};
    for (int i = 0; i < 1000; i++) {
        cbi_vec_add(&ctx, &v)->a = i;
        assert_int_equal(v.items[i].b, 0);
    }
    assert_int_equal(v.len, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v.items[i].a, i);
    v.len = 10;
    cbi_vec_add(&ctx, &v);
    assert_int_equal(v.items[10].a, 0);
    cbi_ctx_fini(&ctx);
}

static void buffers_append(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_buf b = {0};
    cbi_buf_append(&ctx, &b, "ab", 2);
    cbi_buf_append(&ctx, &b, NULL, 3);
    cbi_buf_u32(&ctx, &b, 0x04030201);
    cbi_buf_printf(&ctx, &b, "%s-%d", "x", 7);
    assert_int_equal(b.len, 12);
    assert_memory_equal(b.items, "ab\0\0\0\1\2\3\4x-7", 12);
    cbi_ctx_fini(&ctx);
}

static void strings(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    assert_string_equal(cbi_strndup(&ctx, "hello", 4), "hell");
    assert_string_equal(cbi_printf(&ctx, "%05d|%s", 42, "x"), "00042|x");
    char *longer = cbi_printf(&ctx, "%0*d", 5000, 1);
    assert_int_equal(strlen(longer), 5000);
    assert_memory_equal(cbi_memdup(&ctx, "\0\1\2", 3), "\0\1\2", 3);
    cbi_ctx_fini(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed_and_aligned),
        cmocka_unit_test(big_objects_do_not_waste_the_current_block),
        cmocka_unit_test(failing_allocator_gives_nomem),
        cmocka_unit_test(memory_limit_holds),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(size_helpers),
        cmocka_unit_test(arrays_grow_and_stay_zeroed),
        cmocka_unit_test(buffers_append),
        cmocka_unit_test(strings),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
