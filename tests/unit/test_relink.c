/* Inputs that are read once and linked many times, and handles that are used again: the images are
 * those of a link from nothing. */
#include "unit.h"

#include <pthread.h>

typedef struct bytes {
    void *data;
    size_t size;
} bytes;

static cbi_span reduce, mathlib, mercury[2];

static int load(void **state)
{
    (void)state;
    reduce = unit_read_file(unit_path("samples/reduce.cubin"));
    mathlib = unit_read_file(unit_path("samples/mathlib.cubin"));
    mercury[0] = unit_read_file(unit_path("tests/golden/fnptr-global-100-r/in/a.cubin"));
    mercury[1] = unit_read_file(unit_path("tests/golden/fnptr-global-100-r/in/b.cubin"));
    return 0;
}

static int unload(void **state)
{
    (void)state;
    free((void *)reduce.data);
    free((void *)mathlib.data);
    free((void *)mercury[0].data);
    free((void *)mercury[1].data);
    return 0;
}

static cb_link_options options_for(const char *arch, uint64_t flags)
{
    cb_link_options options;
    cb_link_options_init(&options, sizeof options);
    options.arch = arch;
    options.flags = flags;
    return options;
}

static bytes image_of(const cb_link *link)
{
    const void *data;
    bytes copy;
    assert_int_equal(cb_link_get_image(link, &data, &copy.size), CB_OK);
    copy.data = malloc(copy.size);
    memcpy(copy.data, data, copy.size);
    return copy;
}

static bytes link_from_nothing(const cb_link_options *options, cbi_span a, cbi_span b)
{
    cb_link *link;
    assert_int_equal(cb_link_create(options, &link), CB_OK);
    assert_int_equal(cb_link_add_memory(link, "a", a.data, a.size), CB_OK);
    assert_int_equal(cb_link_add_memory(link, "b", b.data, b.size), CB_OK);
    assert_int_equal(cb_link_run(link), CB_OK);
    bytes image = image_of(link);
    cb_link_free(link);
    return image;
}

static cb_input *read_one(const char *arch, cbi_span from)
{
    cb_link_options options = options_for(arch, 0);
    cb_input *input;
    assert_int_equal(cb_input_create(&options, "in", from.data, from.size, &input), CB_OK);
    return input;
}

static void link_again(cb_link *link, const cb_link_options *options, const cb_input *a,
                       const cb_input *b)
{
    assert_int_equal(cb_link_reset(link, options), CB_OK);
    assert_int_equal(cb_link_add_input(link, a), CB_OK);
    assert_int_equal(cb_link_add_input(link, b), CB_OK);
    assert_int_equal(cb_link_run(link), CB_OK);
}

static void expect_same(bytes want, bytes got)
{
    assert_int_equal(got.size, want.size);
    assert_memory_equal(got.data, want.data, want.size);
    free(got.data);
    free(want.data);
}

/* Each with the inputs in both orders, in memory that the link before has used. */
static void images_are_those_of_a_fresh_link(void **state)
{
    (void)state;
    static const uint64_t flags[] = {
        0, CB_LINK_RELOCATABLE, CB_LINK_DEBUG, CB_LINK_EMULATE_NVLINK, CB_LINK_PRESERVE_RELOCS, 0};
    cb_input *a = read_one("sm_90", reduce), *b = read_one("sm_90", mathlib);
    cb_link_options first = options_for("sm_90", 0);
    cb_link *link;
    assert_int_equal(cb_link_create(&first, &link), CB_OK);
    for (size_t i = 0; i < CBI_COUNT(flags); i++) {
        cb_link_options o = options_for("sm_90", flags[i]);
        link_again(link, &o, a, b);
        expect_same(link_from_nothing(&o, reduce, mathlib), image_of(link));
        link_again(link, &o, b, a);
        expect_same(link_from_nothing(&o, mathlib, reduce), image_of(link));
    }
    cb_link_free(link);
    cb_input_free(a);
    cb_input_free(b);
}

/* From sm_100 on a link changes its view of an object. */
static void mercury_inputs_stay_as_they_are(void **state)
{
    (void)state;
    cb_input *a = read_one("sm_100", mercury[0]), *b = read_one("sm_100", mercury[1]);
    cb_link_options o = options_for("sm_100", 0);
    cb_link *link;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    for (int i = 0; i < 3; i++) {
        link_again(link, &o, a, b);
        expect_same(link_from_nothing(&o, mercury[0], mercury[1]), image_of(link));
    }
    cb_link_free(link);
    cb_input_free(a);
    cb_input_free(b);
}

static void inputs_from_files(void **state)
{
    (void)state;
    cb_link_options o = options_for("sm_90", 0);
    cb_input *a, *b, *none = NULL;
    assert_int_equal(cb_input_open(&o, unit_path("samples/reduce.cubin"), &a), CB_OK);
    assert_int_equal(cb_input_open(&o, unit_path("samples/mathlib.cubin"), &b), CB_OK);
    assert_int_equal(cb_input_open(&o, "/nonexistent/file.cubin", &none), CB_ERR_IO);
    assert_null(none);
    cb_link *link;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    link_again(link, &o, a, b);
    cb_input_free(a); /* the image is the link's own */
    cb_input_free(b);
    expect_same(link_from_nothing(&o, reduce, mathlib), image_of(link));
    cb_link_free(link);
}

static void wrong_use_is_refused(void **state)
{
    (void)state;
    cb_input *a = read_one("sm_90", reduce), *b = read_one("sm_90", mathlib);
    cb_link_options o = options_for("sm_100", 0);
    cb_link *link;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    assert_int_equal(cb_link_add_input(link, a), CB_ERR_USAGE); /* another target */
    assert_int_equal(cb_link_add_input(link, NULL), CB_ERR_USAGE);
    assert_int_equal(cb_link_add_input(NULL, a), CB_ERR_USAGE);
    o.arch = "sm_1";
    assert_int_equal(cb_link_reset(link, &o), CB_ERR_USAGE);
    assert_int_equal(cb_link_reset(link, NULL), CB_ERR_USAGE);
    assert_int_equal(cb_link_reset(NULL, &o), CB_ERR_USAGE);
    cb_input *none = NULL;
    assert_int_equal(cb_input_create(&o, "in", reduce.data, reduce.size, &none), CB_ERR_USAGE);
    o.arch = "sm_90";
    assert_int_equal(cb_input_create(&o, NULL, reduce.data, reduce.size, &none), CB_ERR_USAGE);
    assert_int_equal(cb_input_create(&o, "in", NULL, 1, &none), CB_ERR_USAGE);
    assert_int_equal(cb_input_create(&o, "in", reduce.data, reduce.size, NULL), CB_ERR_USAGE);
    assert_int_equal(cb_input_create(NULL, "in", reduce.data, reduce.size, &none), CB_ERR_USAGE);
    assert_int_equal(cb_input_create(&o, "in", reduce.data, 100, &none), CB_ERR_FORMAT);
    assert_null(none);
    cb_input_free(NULL);

    /* a link that failed can be used again */
    assert_int_equal(cb_link_reset(link, &o), CB_OK);
    assert_int_equal(cb_link_add_input(link, a), CB_OK);
    assert_int_equal(cb_link_run(link), CB_ERR_LINK);
    link_again(link, &o, a, b);
    expect_same(link_from_nothing(&o, reduce, mathlib), image_of(link));
    cb_link_free(link);
    cb_input_free(a);
    cb_input_free(b);
}

/* Reads, links, resets and links on that heap; the first status that is not CB_OK. */
static cb_status relink_on(unit_heap *heap, size_t memory_limit)
{
    cb_link_options o = options_for("sm_90", 0);
    o.allocator = (cb_allocator){unit_heap_alloc, unit_heap_free, heap};
    o.memory_limit = memory_limit;
    cb_input *a = NULL, *b = NULL;
    cb_link *link = NULL;
    cb_status status = cb_input_create(&o, "a", reduce.data, reduce.size, &a);
    if (status == CB_OK)
        status = cb_input_create(&o, "b", mathlib.data, mathlib.size, &b);
    if (status == CB_OK)
        status = cb_link_create(&o, &link);
    for (int i = 0; i < 2 && status == CB_OK; i++) {
        status = i ? cb_link_reset(link, &o) : CB_OK;
        if (status == CB_OK)
            status = cb_link_add_input(link, a);
        if (status == CB_OK)
            status = cb_link_add_input(link, b);
        if (status == CB_OK)
            status = cb_link_run(link);
    }
    cb_link_free(link);
    cb_input_free(a);
    cb_input_free(b);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t n = 0;; n++) {
        unit_heap heap = {.fail_at = n + 1};
        cb_status status = relink_on(&heap, 0);
        assert_int_equal(heap.live, 0);
        if (status == CB_OK)
            break;
        assert_int_equal(status, CB_ERR_NOMEM);
        failures++;
    }
    assert_true(failures >= 4);
}

static void a_second_link_takes_no_more_memory(void **state)
{
    (void)state;
    unit_heap heap = {0};
    assert_int_equal(relink_on(&heap, 0), CB_OK);
    unit_heap limited = {0};
    assert_int_equal(relink_on(&limited, 512 * 1024), CB_OK);
    assert_int_equal(limited.live, 0);
}

typedef struct shared_inputs {
    const cb_input *a, *b;
    bool same;
    bytes want;
} shared_inputs;

static void *link_shared(void *arg)
{
    shared_inputs *s = arg;
    cb_link_options o = options_for("sm_90", 0);
    for (int i = 0; i < 20; i++) {
        cb_link *link;
        const void *data;
        size_t size;
        s->same = cb_link_create(&o, &link) == CB_OK && cb_link_add_input(link, s->a) == CB_OK &&
                  cb_link_add_input(link, s->b) == CB_OK && cb_link_run(link) == CB_OK &&
                  cb_link_get_image(link, &data, &size) == CB_OK && size == s->want.size &&
                  memcmp(data, s->want.data, size) == 0;
        cb_link_free(link);
        if (!s->same)
            break;
    }
    return NULL;
}

static void threads_share_inputs(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    cb_input *a = read_one("sm_90", reduce), *b = read_one("sm_90", mathlib);
    cb_link_options o = options_for("sm_90", 0);
    bytes want = link_from_nothing(&o, reduce, mathlib);
    pthread_t threads[THREADS];
    shared_inputs each[THREADS];
    for (int i = 0; i < THREADS; i++) {
        each[i] = (shared_inputs){a, b, false, want};
        assert_int_equal(pthread_create(&threads[i], NULL, link_shared, &each[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(each[i].same);
    }
    free(want.data);
    cb_input_free(a);
    cb_input_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_those_of_a_fresh_link),
        cmocka_unit_test(mercury_inputs_stay_as_they_are),
        cmocka_unit_test(inputs_from_files),
        cmocka_unit_test(wrong_use_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_second_link_takes_no_more_memory),
        cmocka_unit_test(threads_share_inputs),
    };
    return cmocka_run_group_tests_name("relink", tests, load, unload);
}
