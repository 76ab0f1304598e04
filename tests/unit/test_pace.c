/* The change of pace from sm_100 to sm_103: what becomes of code, and that damage is seen. */
#include "unit.h"

#include "mercury/pace.h"
#include "sass/pace_code.h"

enum { NOBODY = 7, SOURCES = 4 };

/* An instruction without a guard: operands at their places, 255 for none, and control bits. */
static cbi_sass insn(uint32_t op, const uint8_t regs[SOURCES], uint64_t stall, uint64_t write,
                     uint64_t waits)
{
    cbi_sass w = {op | 0x7000 | (uint64_t)regs[0] << 16 | (uint64_t)regs[1] << 24 |
                      (uint64_t)regs[2] << 32,
                  regs[3] | 7 << 17 | 7 << 20 | 7 << 23};
    w.hi |= stall << 41 | write << 46 | (uint64_t)NOBODY << 49 | waits << 52;
    return w;
}

/* Loads two doubles, adds and multiplies them, stores the result. */
static size_t program(cbi_sass *out)
{
    const cbi_sass code[] = {
        insn(0x981, (uint8_t[]){4, 2, 255, 0}, 4, 1, 0), /* LDG, not of doubles */
        insn(0x229, (uint8_t[]){6, 4, 255, 4}, 8, NOBODY, 2),
        insn(0x228, (uint8_t[]){8, 6, 4, 255}, 7, NOBODY, 0),
        insn(0x986, (uint8_t[]){0, 2, 8, 0}, 1, NOBODY, 0),
        insn(0x94d, (uint8_t[]){0, 0, 0, 0}, 5, NOBODY, 0),
    };
    memcpy(out, code, sizeof code);
    out[3].hi |= 5u << 9; /* 64 bits */
    out[0].hi |= 5u << 9;
    return CBI_COUNT(code);
}

static cbi_sb_code read_code(cbi_ctx *ctx, cbi_sass *words, size_t count)
{
    cbi_sb_code c = {.ctx = ctx, .n = (uint32_t)count, .words = words};
    assert_true(cbi_sb_read(&c, (cbi_span){0}, NULL, 0));
    return c;
}

static cbi_sb_late late_ones(const cbi_sb_code *c)
{
    cbi_sb_late late = {.order = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t),
                        .is_new = CBI_NEW_ARRAY(c->ctx, c->n, bool),
                        .written = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t),
                        .read = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t)};
    for (uint32_t i = 0; i < c->n; i++) {
        late.is_new[i] = cbi_pace_occupancy(cbi_sb_op(c, i)) != 0;
        late.order[i] = late.is_new[i];
    }
    return late;
}

static cbi_pace change(cbi_ctx *ctx)
{
    cbi_sass words[8];
    size_t count = program(words);
    bool *idle = CBI_NEW_ARRAY(ctx, count, bool);
    uint8_t *bytes = cbi_memdup(ctx, (uint8_t *)words, count * sizeof *words);
    cbi_scoreboard_text text = {.bytes = bytes, .size = count * sizeof *words};
    cbi_pace pace;
    assert_true(cbi_pace_code(ctx, &text, false, idle, &pace));
    return pace;
}

static void slow_results_are_awaited(void **state)
{
    (void)state;
    unit_heap heap = {0};
    cbi_ctx ctx = {0};
    unit_ctx_init(&ctx, &heap);
    cbi_pace pace = change(&ctx);
    assert_int_equal(pace.cycles[1], 64);
    assert_int_equal(pace.cycles[2], 2);
    for (unsigned i = 1; i < 3; i++) {
        uint64_t number = cbi_sass_bits(pace.words[i], 110, 3);
        assert_true(number < CBI_SB_NUMBERS);
        assert_true(cbi_sass_bits(pace.words[i + 1], 116, 6) >> number & 1);
    }
    cbi_ctx_fini(&ctx);
}

static void the_check_sees_damage(void **state)
{
    (void)state;
    unit_heap heap = {0};
    cbi_ctx ctx = {0};
    unit_ctx_init(&ctx, &heap);
    cbi_pace pace = change(&ctx);
    cbi_sb_code c = read_code(&ctx, pace.words, pace.count);
    cbi_sb_late late = late_ones(&c);
    assert_true(cbi_pace_is_safe(&c, &late, pace.cycles));
    pace.cycles[1]--;
    assert_false(cbi_pace_is_safe(&c, &late, pace.cycles));
    pace.cycles[1]++;
    for (unsigned i = 2; i < 4; i++) {
        cbi_sass good = c.words[i];
        c.words[i].hi &= ~(UINT64_C(0x3f) << 52);
        assert_false(cbi_pace_is_safe(&c, &late, pace.cycles));
        c.words[i] = good;
    }
    /* a source of the product, overwritten while it may still be read */
    c.words[3] = insn(0x202, (uint8_t[]){4, 255, 255, 255}, 1, NOBODY, 0);
    c = read_code(&ctx, c.words, c.n);
    assert_false(cbi_pace_is_safe(&c, &late, pace.cycles));
    cbi_ctx_fini(&ctx);
}

static void only_slow_code_changes(void **state)
{
    (void)state;
    cbi_sass words[8];
    size_t size = program(words) * sizeof *words;
    assert_true(cbi_pace_differs(100, 103, (const uint8_t *)words, size));
    assert_false(cbi_pace_differs(100, 110, (const uint8_t *)words, size));
    assert_false(cbi_pace_differs(103, 103, (const uint8_t *)words, size));
    assert_false(cbi_pace_differs(100, 103, (const uint8_t *)(words + 3), sizeof *words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_results_are_awaited),
        cmocka_unit_test(the_check_sees_damage),
        cmocka_unit_test(only_slow_code_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
