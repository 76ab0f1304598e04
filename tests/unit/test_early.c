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

/* A capsule of short records with a tail, for as many instructions. */
typedef struct made {
    uint8_t capsule[1024], text[16 * 100];
    cbi_span records, code;
} made;

static void make(made *m, const uint8_t (*heads)[2], size_t count)
{
    memset(m, 0, sizeof *m);
    m->capsule[4] = (uint8_t)(count + 1);
    for (size_t i = 0; i < count; i++) {
        uint8_t *record = m->capsule + 8 + 4 * i;
        record[0] = 0x41;
        memcpy(record + 1, heads[i], 2);
    }
    m->capsule[8 + 4 * count] = 0x50 | 0x80; /* one more instruction */
    m->records = (cbi_span){m->capsule, 10 + 4 * count};
    m->code = (cbi_span){m->text, 16 * (count + 1)};
}

/* Does the record of this entry follow from SASS? */
static bool leaves(cbi_span capsule, size_t entry)
{
    return capsule.data[12 + entry / 8] >> entry % 8 & 1;
}

/* The encoding says of which kind a barrier of convergence is, and SASS says it today. */
static void kinds_of_barriers(void **state)
{
    (void)state;
    static const struct {
        uint8_t head[2];
        uint64_t kind;
        bool leaves;
    } rows[] = {
        {{0x05, 0x00}, 0, false}, {{0x05, 0x02}, 1, true},  {{0x05, 0x03}, 0, false},
        {{0x08, 0x00}, 0, true},  {{0x08, 0x02}, 2, true},  {{0x08, 0x03}, 0, false},
        {{0x08, 0x04}, 1, true},  {{0x08, 0x05}, 0, false}, {{0x09, 0x00}, 0, true},
        {{0x09, 0x02}, 2, true},  {{0x09, 0x04}, 1, true},  {{0x04, 0x02}, 0, false},
    };
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        cbi_ctx ctx;
        cbi_ctx_init(&ctx);
        made m;
        make(&m, &rows[i].head, 1);
        assert_true(cbi_capsule_renew(&ctx, &m.records, &m.code));
        assert_int_equal(cbi_ld64(m.code.data + 8), rows[i].kind << (BARRIER - 64));
        assert_int_equal(leaves(m.records, 0), rows[i].leaves);
        cbi_ctx_fini(&ctx);
    }
}

/* Whether a record follows depends on one predicate or register, not on the bits beside them. */
static void what_decides_in_sass(void **state)
{
    (void)state;
    static const struct {
        uint8_t head[2];
        unsigned at;
        uint64_t value;
        bool leaves;
    } rows[] = {
        {{0x10, 0x2e}, PREDICATE, 7, false}, {{0x10, 0x2e}, PREDICATE, 15, false},
        {{0x10, 0x2e}, PREDICATE, 6, true},  {{0x10, 0x30}, PREDICATE, 8, true},
        {{0x1d, 0x08}, THIRD, 255, false},   {{0x1d, 0x08}, THIRD, 0x1ff, false},
        {{0x1d, 0x0c}, THIRD, 0x1fe, true},  {{0x1d, 0x12}, THIRD, 255, true},
    };
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        cbi_ctx ctx;
        cbi_ctx_init(&ctx);
        made m;
        make(&m, &rows[i].head, 1);
        set_bits(m.text, 0, rows[i].at, rows[i].value);
        assert_true(cbi_capsule_renew(&ctx, &m.records, &m.code));
        assert_int_equal(leaves(m.records, 0), rows[i].leaves);
        cbi_ctx_fini(&ctx);
    }
}

/* A bit for each entry, in words of 32. */
static void many_entries(void **state)
{
    (void)state;
    enum { MOST = 70 };
    static const uint8_t kinds[2][2] = {{0x08, 0x00}, {0x0a, 0x02}};
    for (size_t count = 1; count < MOST; count++) {
        cbi_ctx ctx;
        cbi_ctx_init(&ctx);
        uint8_t heads[MOST][2];
        for (size_t i = 0; i < count; i++)
            memcpy(heads[i], kinds[i * i % 7 % 2], 2);
        made m;
        make(&m, heads, count);
        size_t size = 12 + (count + 1 + 31) / 32 * 4 + 2;
        for (size_t i = 0; i < count; i++)
            size += i * i % 7 % 2 ? 4 : 0;
        assert_true(cbi_capsule_renew(&ctx, &m.records, &m.code));
        assert_int_equal(m.records.size, size);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(leaves(m.records, i), i * i % 7 % 2 == 0);
        assert_null(cbi_capsule_verify(m.records, m.code.size));
        cbi_ctx_fini(&ctx);
    }
}

/* Without entries there is no code; a note covers none. */
static void least_capsules(void **state)
{
    (void)state;
    static const uint8_t empty[8] = {7}, marked[8] = {7, 0, 0, 0, 0, 0, 0, 0xc0},
                         noted[] = {7, 0, 0, 0, 2, 0, 0, 0, 0x31, 0, 0, 0,    0,
                                    0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0xd0, 0};
    static const struct {
        cbi_span capsule;
        size_t instructions;
        bool renewed;
    } rows[] = {
        {{empty, 8}, 0, true},   {{empty, 7}, 0, false}, {{empty, 8}, 1, false},
        {{marked, 8}, 0, false}, {{noted, 26}, 1, true}, {{noted, 26}, 2, false},
    };
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        cbi_ctx ctx;
        cbi_ctx_init(&ctx);
        static const uint8_t code[32];
        cbi_span capsule = rows[i].capsule, text = {code, 16 * rows[i].instructions};
        assert_int_equal(cbi_capsule_renew(&ctx, &capsule, &text), rows[i].renewed);
        cbi_ctx_fini(&ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_records_that_follow_go),
        cmocka_unit_test(others_stay_as_they_are),
        cmocka_unit_test(kinds_of_barriers),
        cmocka_unit_test(what_decides_in_sass),
        cmocka_unit_test(many_entries),
        cmocka_unit_test(least_capsules),
    };
    return cmocka_run_group_tests_name("early", tests, NULL, NULL);
}
