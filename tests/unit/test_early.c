/* Capsules of early compilers in the form of today. */
#include "capsule/capsule.h"
#include "capsule/early.h"
#include "unit.h"

enum { INSTRUCTIONS = 9, BARRIER = 72, PREDICATE = 87, THIRD = 64 };

static void set_bits(uint8_t *text, size_t i, unsigned at, uint64_t value)
{
    uint8_t *high = text + 16 * i + 8;
    cbi_st64(high, cbi_ld64(high) | value << (at - 64));
}

/* A start of a barrier, two comparisons, two additions, a call, an instruction with a whole record,
 * the tail. */
static const uint8_t early[] = {
    7,    0,    0,    0,    8,    0,    0,    0,                            /* text, entries */
    0x41, 0x08, 0x02, 0x0c, 0x42, 0x10, 0x2e, 0x14, 0x42, 0x10, 0x2e, 0x14, /* */
    0x42, 0x1d, 0x08, 0x14, 0x42, 0x1d, 0x08, 0x14, 0x42, 0x0a, 0x02, 0x0e, /* */
    0x01, 0x0b, 0x04, 0x0a, 1,    2,    3,    4,    5,    6,    7,    8,    /* */
    9,    10,   11,   12,   0x50, 0x01,
};

static const uint8_t today[] = {
    7,    0,    0,    0,    1,    0,    0,    0xc0, 8,    0,    0,    0,    /* */
    0x0b, 0,    0,    0,    0x42, 0x10, 0x2e, 0x14, 0x42, 0x1d, 0x08, 0x14, /* */
    0x42, 0x0a, 0x02, 0x0e, 0x01, 0x0b, 0x04, 0x0a, 1,    2,    3,    4,    /* */
    5,    6,    7,    8,    9,    10,   11,   12,   0x50, 0x01,
};

static void make_text(uint8_t *text)
{
    memset(text, 0, (size_t)16 * INSTRUCTIONS);
    set_bits(text, 2, PREDICATE, 7); /* no predicate: the compiler would have a shorter form */
    set_bits(text, 4, THIRD, 255);   /* no third operand */
}

static void short_records_that_follow_go(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    uint8_t bytes[16 * INSTRUCTIONS];
    make_text(bytes);
    cbi_span capsule = {early, sizeof early}, text = {bytes, sizeof bytes};
    assert_true(cbi_capsule_renew(&ctx, &capsule, &text));
    assert_int_equal(capsule.size, sizeof today);
    assert_memory_equal(capsule.data, today, sizeof today);
    assert_null(cbi_capsule_verify(capsule, sizeof bytes));
    set_bits(bytes, 0, BARRIER, 2); /* SASS says it, too */
    assert_memory_equal(text.data, bytes, sizeof bytes);
    assert_false(cbi_capsule_renew(&ctx, &capsule, &text));
    cbi_ctx_fini(&ctx);
}

static void others_stay_as_they_are(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    uint8_t bytes[16 * (INSTRUCTIONS + 1)] = {0}, changed[sizeof early];
    for (size_t size = 0; size < sizeof early; size++) {
        cbi_span capsule = {early, size}, text = {bytes, (size_t)16 * INSTRUCTIONS};
        assert_false(cbi_capsule_renew(&ctx, &capsule, &text));
        assert_ptr_equal(capsule.data, early);
        assert_ptr_equal(text.data, bytes);
    }
    for (size_t size = 0; size <= sizeof bytes; size += 16) {
        cbi_span capsule = {early, sizeof early}, text = {bytes, size};
        assert_int_equal(cbi_capsule_renew(&ctx, &capsule, &text), size == 16 * INSTRUCTIONS);
    }
    static const uint8_t forms[] = {0x22, 0x62, 0x72}; /* not known */
    for (size_t i = 0; i < sizeof forms; i++) {
        memcpy(changed, early, sizeof early);
        changed[8] = forms[i];
        cbi_span capsule = {changed, sizeof changed}, text = {bytes, (size_t)16 * INSTRUCTIONS};
        assert_false(cbi_capsule_renew(&ctx, &capsule, &text));
    }
    cbi_ctx_fini(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_records_that_follow_go),
        cmocka_unit_test(others_stay_as_they_are),
    };
    return cmocka_run_group_tests_name("early", tests, NULL, NULL);
}
