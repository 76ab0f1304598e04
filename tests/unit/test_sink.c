/* The same bytes through all five back ends, and what each does when it cannot take more. */
#include "unit.h"

#include "base/sink.h"

/* Some writes of odd sizes with padding between them. */
static bool write_pattern(cbi_sink *sink)
{
    uint8_t piece[997];
    for (size_t i = 0; i < sizeof piece; i++)
        piece[i] = (uint8_t)(i * 31 + 7);
    bool ok = true;
    for (size_t size = 0; size <= sizeof piece; size += 83) {
        ok = cbi_sink_write(sink, piece, size) && ok;
        ok = cbi_sink_pad_to(sink, cbi_align_up(sink->written, 128)) && ok;
    }
    return cbi_sink_pad_to(sink, sink->written + 10000) && ok;
}

typedef struct pieces {
    uint8_t data[1 << 16];
    size_t size;
    int calls;
    int refuse_at; /* 0 = never */
} pieces;

static int collect(void *user, const void *data, size_t size)
{
    pieces *p = user;
    if (++p->calls == p->refuse_at)
        return -1;
    assert_true(size <= sizeof p->data - p->size);
    memcpy(p->data + p->size, data, size);
    p->size += size;
    return 0;
}

static void five_back_ends_agree(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);

    cbi_sink counter = cbi_sink_counter();
    assert_true(write_pattern(&counter));
    size_t size = counter.written;
    assert_true(size > 10000);

    static pieces got;
    cbi_sink callback = cbi_sink_callback(collect, &got);
    assert_true(write_pattern(&callback));
    assert_int_equal(callback.written, size);
    assert_int_equal(got.size, size);

    cbi_buf buf = {0};
    cbi_sink buffer = cbi_sink_buffer(&ctx, &buf);
    assert_true(write_pattern(&buffer));
    assert_int_equal(buf.len, size);
    assert_memory_equal(buf.items, got.data, size);

    uint8_t *memory = malloc(size);
    cbi_sink fixed = cbi_sink_fixed(memory, size);
    assert_true(write_pattern(&fixed));
    assert_int_equal(fixed.written, size);
    assert_memory_equal(memory, got.data, size);

    FILE *file = tmpfile();
    cbi_sink stream = cbi_sink_file(file);
    assert_true(write_pattern(&stream));
    assert_int_equal(stream.written, size);
    rewind(file);
    assert_int_equal(fread(memory, 1, size, file), size);
    assert_int_equal(fgetc(file), EOF);
    assert_memory_equal(memory, got.data, size);
    fclose(file);
    free(memory);
    cbi_ctx_fini(&ctx);
}

static void a_full_fixed_buffer_is_left_alone(void **state)
{
    (void)state;
    uint8_t memory[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    cbi_sink sink = cbi_sink_fixed(memory, 6);
    assert_true(cbi_sink_write(&sink, "abcd", 4));
    assert_false(cbi_sink_write(&sink, "efg", 3));
    assert_memory_equal(memory, "abcd\x09\x09\x09\x09", 8);
    assert_int_equal(sink.written, 4);
    /* a failed sink stays failed, even for what would fit */
    assert_false(cbi_sink_write(&sink, "e", 1));
    assert_true(sink.failed);
}

static void a_refusing_callback_fails_the_sink(void **state)
{
    (void)state;
    static pieces got;
    got = (pieces){.refuse_at = 3};
    cbi_sink sink = cbi_sink_callback(collect, &got);
    assert_false(write_pattern(&sink));
    assert_true(sink.failed);
    assert_int_equal(got.calls, 3);
}

static void a_full_device_fails_the_sink(void **state)
{
    (void)state;
    FILE *file = fopen("/dev/full", "w");
    if (!file) {
        printf("skip a_full_device_fails_the_sink: there is no /dev/full\n");
        skip();
    }
    setvbuf(file, NULL, _IONBF, 0);
    cbi_sink sink = cbi_sink_file(file);
    assert_false(write_pattern(&sink));
    fclose(file);
}

static void padding_never_goes_back(void **state)
{
    (void)state;
    cbi_sink sink = cbi_sink_counter();
    assert_true(cbi_sink_write(&sink, "abcd", 4));
    assert_true(cbi_sink_pad_to(&sink, 4));
    assert_false(cbi_sink_pad_to(&sink, 3));
    assert_true(sink.failed);
}

/* Bytes that lie behind each other are one part, also when they come one by one. */
static void a_rope_joins_neighbours(void **state)
{
    (void)state;
    static const char text[] = "neighbours and strangers";
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_rope rope = {0};
    cbi_sink sink = cbi_sink_rope(&ctx, &rope);
    assert_true(cbi_sink_write(&sink, text, 5));
    assert_true(cbi_sink_write(&sink, text + 5, 5));
    assert_true(cbi_sink_write(&sink, text + 15, 9));
    assert_int_equal(rope.parts.len, 2);
    assert_int_equal(rope.size, 19);
    cbi_span flat = cbi_rope_flatten(&ctx, &rope);
    assert_int_equal(flat.size, 19);
    assert_memory_equal(flat.data, "neighboursstrangers", 19);
    cbi_ctx_fini(&ctx);
}

/* A header is written first and gets its sizes when the rest is known. */
static void a_rope_lists_what_may_still_change(void **state)
{
    (void)state;
    char header[] = "size ?";
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_rope rope = {0};
    cbi_sink sink = cbi_sink_rope(&ctx, &rope);
    assert_true(cbi_sink_write(&sink, header, 6));
    assert_true(cbi_sink_write(&sink, "rest", 4));
    header[5] = '4';
    assert_memory_equal(cbi_rope_flatten(&ctx, &rope).data, "size 4rest", 10);
    cbi_ctx_fini(&ctx);
}

static void a_rope_joins_small_strangers(void **state)
{
    (void)state;
    static char large[2000];
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_rope rope = {0};
    cbi_sink sink = cbi_sink_gather(&ctx, &rope);
    memset(large, '-', sizeof large);
    for (int i = 0; i < 1000; i++) /* no neighbours: a copy of each */
        assert_true(cbi_sink_write(&sink, i % 2 ? "two" : "one", 3));
    assert_true(cbi_sink_write(&sink, large, sizeof large));
    assert_true(cbi_sink_write(&sink, "end", 3));
    assert_in_range(rope.parts.len, 3, 5);
    cbi_span flat = cbi_rope_flatten(&ctx, &rope);
    assert_int_equal(flat.size, 3000 + sizeof large + 3);
    assert_memory_equal(flat.data, "onetwoone", 9);
    assert_memory_equal(flat.data + 2994, "onetwo---", 9);
    assert_memory_equal(flat.data + flat.size - 4, "-end", 4);
    cbi_ctx_fini(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_back_ends_agree),
        cmocka_unit_test(a_full_fixed_buffer_is_left_alone),
        cmocka_unit_test(a_refusing_callback_fails_the_sink),
        cmocka_unit_test(a_full_device_fails_the_sink),
        cmocka_unit_test(padding_never_goes_back),
        cmocka_unit_test(a_rope_joins_neighbours),
        cmocka_unit_test(a_rope_lists_what_may_still_change),
        cmocka_unit_test(a_rope_joins_small_strangers),
    };
    return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
