/* The arena: alignment, zeroing, limits, failing allocators, growable arrays and buffers. */
#include "unit.h"

#include "base/sanitize.h"

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

/* What came back is handed out again, zeroed; requests that do not fit come from elsewhere. */
static void memory_that_comes_back_is_used_again(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    enum { SIZE = 4096 };
    uint8_t *first = cbi_alloc(&ctx, SIZE), *second = cbi_alloc(&ctx, SIZE);
    memset(first, 0xa5, SIZE);
    memset(second, 0xa5, SIZE);
    cbi_take_back(&ctx, first, SIZE);
    uint8_t *large = cbi_alloc(&ctx, SIZE + 16);
    assert_true(large < first || large >= first + SIZE);
    size_t inside = 0;
    for (size_t i = 0; i < SIZE / 16; i++) {
        uint8_t *p = cbi_alloc(&ctx, 16);
        for (size_t k = 0; k < 16; k++)
            assert_int_equal(p[k], 0);
        memset(p, 0x5a, 16);
        inside += p >= first && p < first + SIZE;
    }
    if (CBI_SANITIZES_ADDRESSES)
        assert_int_equal(inside, 0); /* nobody may touch it any more */
    else                             /* the last few bytes are not worth a look */
        assert_in_range(inside, SIZE / 16 - 3, SIZE / 16);
    for (size_t i = 0; i < SIZE; i++)
        assert_int_equal(second[i], 0xa5);
    cbi_take_back(&ctx, second, SIZE);
    cbi_ctx_reset(&ctx);
    cbi_take_back(&ctx, cbi_alloc(&ctx, SIZE), SIZE);
    cbi_ctx_fini(&ctx);
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

static void lists_grow(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    CBI_LIST(uint64_t) list = {0};
    for (uint64_t i = 0; i < 100000; i++)
        cbi_vec_push(&ctx, &list, i);
    assert_int_equal(sizeof list, 16);
    assert_int_equal(list.len, 100000);
    for (uint64_t i = 0; i < 100000; i++)
        assert_int_equal(list.items[i], i);
    cbi_ctx_fini(&ctx);
}

/* An array that grows leaves no old places behind, and goes back when it is freed. */
static void large_arrays_move_as_a_whole(void **state)
{
    (void)state;
    unit_heap heap = {0};
    cbi_ctx ctx;
    unit_ctx_init(&ctx, &heap);
    CBI_VEC(uint64_t) v = {0};
    for (uint64_t i = 0; i < 1000000; i++)
        cbi_vec_push(&ctx, &v, i);
    for (uint64_t i = 0; i < 1000000; i++)
        assert_int_equal(v.items[i], i);
    assert_true(heap.live_bytes >= 8000000);
    assert_true(heap.live_bytes < 17000000 + (1 << 18));
    assert_int_equal(ctx.memory_used, heap.live_bytes);
    cbi_vec_free(&ctx, &v);
    assert_null(v.items);
    assert_int_equal(v.len, 0);
    assert_true(heap.live_bytes < 1 << 18);
    assert_int_equal(ctx.memory_used, heap.live_bytes);
    cbi_ctx_fini(&ctx);
    assert_int_equal(heap.live, 0);
}

static void large_blocks(void **state)
{
    (void)state;
    unit_heap heap = {0};
    cbi_ctx ctx;
    unit_ctx_init(&ctx, &heap);
    uint8_t *first = cbi_large_alloc(&ctx, 1000), *second = cbi_large_alloc(&ctx, 1000);
    assert_int_equal((uintptr_t)first % 16, 0);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(first[i], 0);
    memset(first, 1, 1000);
    memset(second, 2, 1000);
    first = cbi_large_grow(&ctx, first, 100000);
    for (size_t i = 0; i < 1000; i++)
        assert_true(first[i] == 1 && second[i] == 2);
    for (size_t i = 1000; i < 100000; i++)
        assert_int_equal(first[i], 0);
    cbi_large_free(&ctx, second);
    assert_int_equal(heap.live, 1);
    cbi_large_alloc(&ctx, 10); /* the context ends it */
    cbi_ctx_fini(&ctx);
    assert_int_equal(heap.live, 0);
}

typedef struct growth {
    void *block;
    size_t size;
} growth;

static cb_status grow_block(cbi_ctx *ctx, void *arg)
{
    growth *g = arg;
    g->block = g->block ? cbi_large_grow(ctx, g->block, g->size) : cbi_large_alloc(ctx, g->size);
    return CB_OK;
}

/* A block that cannot grow stays as it is. */
static void large_blocks_keep_the_limit(void **state)
{
    (void)state;
    unit_heap heap = {0};
    cbi_ctx ctx;
    unit_ctx_init(&ctx, &heap);
    ctx.memory_limit = 1 << 20;
    growth g = {NULL, 1000};
    assert_int_equal(cbi_run(&ctx, grow_block, &g), CB_OK);
    memset(g.block, 7, 1000);
    const size_t sizes[] = {1 << 20, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX - 8};
    for (size_t i = 0; i < CBI_COUNT(sizes); i++) {
        growth more = {g.block, sizes[i]}, other = {NULL, sizes[i]};
        assert_int_equal(cbi_run(&ctx, grow_block, &more), CB_ERR_NOMEM);
        assert_int_equal(cbi_run(&ctx, grow_block, &other), CB_ERR_NOMEM);
    }
    ctx.memory_limit = 0;
    heap.fail_at = heap.requests + 1;
    growth more = {g.block, 5000};
    assert_int_equal(cbi_run(&ctx, grow_block, &more), CB_ERR_NOMEM);
    assert_int_equal(((uint8_t *)g.block)[999], 7);
    assert_int_equal(ctx.memory_used, heap.live_bytes);
    cbi_ctx_fini(&ctx);
    assert_int_equal(heap.live, 0);
}

/* From the system's memory, of which parts may have large pages. */
static void large_blocks_of_any_size_grow(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    for (size_t size = 100000; size < 9000000; size += 300000) {
        growth g = {NULL, size};
        assert_int_equal(cbi_run(&ctx, grow_block, &g), CB_OK);
        memset(g.block, 7, size);
        for (size_t wider = size + size / 3; wider < 3 * size; wider += size / 2) {
            g.size = wider;
            assert_int_equal(cbi_run(&ctx, grow_block, &g), CB_OK);
        }
        for (size_t i = 0; i < size; i += 4001)
            assert_int_equal(((uint8_t *)g.block)[i], 7);
        cbi_large_free(&ctx, g.block);
    }
    cbi_ctx_fini(&ctx);
}

/* In an arena of large pages an array is a part of it, which grows where it stands and hands back
 * what it does not need. */
static void arrays_of_the_arena_are_trimmed(void **state)
{
    (void)state;
    enum { FIRST = 100000, WIDER = 400000, NEEDED = 200000 };
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_alloc(&ctx, 1 << 20); /* it has large pages from here on */
    CBI_VEC(uint8_t) v = {0};
    cbi_vec_reserve(&ctx, &v, FIRST);
    memset(v.items, 7, FIRST);
    v.len = FIRST;
    cbi_vec_reserve(&ctx, &v, WIDER - FIRST);
    for (size_t i = 0; i < WIDER; i++)
        assert_int_equal(v.items[i], i < FIRST ? 7 : 0);
    v.len = NEEDED;
    const size_t used = cbi_arena_used(&ctx);
    cbi_vec_trim(&ctx, &v);
    assert_true(v.cap >= NEEDED && v.items[FIRST - 1] == 7);
    const uint8_t *next = cbi_alloc(&ctx, WIDER / 4);
    for (size_t i = 0; i < WIDER / 4; i++)
        assert_int_equal(next[i], 0);
    if (v.cap == NEEDED) /* else each array has a block of its own */
        assert_int_equal(cbi_arena_used(&ctx), used);
    cbi_vec_free(&ctx, &v);
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
        cmocka_unit_test(memory_that_comes_back_is_used_again),
        cmocka_unit_test(failing_allocator_gives_nomem),
        cmocka_unit_test(memory_limit_holds),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(size_helpers),
        cmocka_unit_test(arrays_grow_and_stay_zeroed),
        cmocka_unit_test(lists_grow),
        cmocka_unit_test(large_arrays_move_as_a_whole),
        cmocka_unit_test(large_blocks),
        cmocka_unit_test(large_blocks_keep_the_limit),
        cmocka_unit_test(large_blocks_of_any_size_grow),
        cmocka_unit_test(arrays_of_the_arena_are_trimmed),
        cmocka_unit_test(buffers_append),
        cmocka_unit_test(strings),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
