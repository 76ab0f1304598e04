/* The bounds-checked reader. */
#include "unit.h"

static const uint8_t bytes[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 'a', 'b', 0, 'c'};
static const cbi_span span = {bytes, sizeof bytes};

static void reads_are_little_endian(void **state)
{
    (void)state;
    cbi_reader r = cbi_reader_at(span, 0);
    assert_int_equal(cbi_read64(&r), 0x0807060504030201);
    r = cbi_reader_at(span, 0);
    assert_int_equal(cbi_read8(&r), 0x01);
    assert_int_equal(cbi_read16(&r), 0x0302);
    assert_int_equal(cbi_read32(&r), 0x07060504);
    assert_false(r.bad);
    assert_int_equal(r.pos, 7);
}

static void a_read_past_the_end_is_bad_and_zero(void **state)
{
    (void)state;
    for (size_t pos = sizeof bytes - 7; pos <= sizeof bytes; pos++) {
        cbi_reader r = cbi_reader_at(span, pos);
        assert_int_equal(cbi_read64(&r), 0);
        assert_true(r.bad);
        assert_int_equal(r.pos, sizeof bytes);
        assert_int_equal(cbi_read8(&r), 0);
    }
    cbi_reader r = cbi_reader_at(span, sizeof bytes + 1);
    assert_true(r.bad);
    r = cbi_reader_at(span, UINT64_MAX);
    assert_true(r.bad);
    r = cbi_reader_at((cbi_span){NULL, 0}, 0);
    assert_false(r.bad);
    assert_int_equal(cbi_read16(&r), 0);
    assert_true(r.bad);
}

static void parts(void **state)
{
    (void)state;
    cbi_reader r = cbi_reader_at(span, 2);
    cbi_span part = cbi_read_bytes(&r, 3);
    assert_int_equal(part.size, 3);
    assert_ptr_equal(part.data, bytes + 2);
    part = cbi_read_bytes(&r, UINT64_MAX);
    assert_int_equal(part.size, 0);
    assert_true(r.bad);

    assert_true(cbi_subspan(span, 4, 8, &part));
    assert_ptr_equal(part.data, bytes + 4);
    cbi_span before = part;
    assert_false(cbi_subspan(span, 4, 9, &part));
    assert_false(cbi_subspan(span, UINT64_MAX, 2, &part));
    assert_ptr_equal(part.data, before.data);
    assert_true(cbi_subspan(span, sizeof bytes, 0, &part));
    assert_int_equal(part.size, 0);
}

static void strings_need_their_end(void **state)
{
    (void)state;
    assert_string_equal(cbi_span_string(span, 8), "ab");
    assert_string_equal(cbi_span_string(span, 10), "");
    assert_null(cbi_span_string(span, 11));
    assert_null(cbi_span_string(span, 12));
    assert_null(cbi_span_string(span, UINT64_MAX));
}

static void stores_are_little_endian(void **state)
{
    (void)state;
    uint8_t out[9] = {0};
    cbi_st64(out + 1, 0x1122334455667788);
    assert_int_equal(cbi_ld64(out + 1), 0x1122334455667788);
    assert_int_equal(out[1], 0x88);
    assert_int_equal(cbi_ld16(out + 7), 0x1122);
    cbi_st16(out, 0xabcd);
    assert_int_equal(cbi_ld32(out), 0x6677abcd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_are_little_endian),
        cmocka_unit_test(a_read_past_the_end_is_bad_and_zero),
        cmocka_unit_test(parts),
        cmocka_unit_test(strings_need_their_end),
        cmocka_unit_test(stores_are_little_endian),
    };
    return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
