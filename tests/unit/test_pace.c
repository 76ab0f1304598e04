/* The change of pace from sm_100 to sm_103: what becomes of code, and that damage is seen. */
#include "unit.h"

#include "mercury/pace.h"
#include "sass/pace_code.h"
#include "sass/reuse.h"

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

/* The words as the target wants them. */
static cbi_pace pace_of(cbi_ctx *ctx, const cbi_sass *words, size_t count)
{
    bool *idle = CBI_NEW_ARRAY(ctx, count, bool);
    uint8_t *bytes = cbi_memdup(ctx, (const uint8_t *)words, count * sizeof *words);
    cbi_scoreboard_text text = {.bytes = bytes, .size = count * sizeof *words};
    cbi_pace pace;
    assert_true(cbi_pace_code(ctx, &text, CBI_SCHEDULE_KEPT, false, idle, &pace));
    return pace;
}

static cbi_pace change(cbi_ctx *ctx)
{
    cbi_sass words[8];
    size_t count = program(words);
    return pace_of(ctx, words, count);
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

/* Behind a comparison a convergence barrier is restored, then the predicate is used: that waits. */
static void barrier_moves_use_no_predicates(void **state)
{
    enum { WRITES_P = 17, READS_P = 23 };
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_sass words[] = {
        insn(0x22a, (uint8_t[]){0, 4, 6, 255}, 4, NOBODY, 0),
        insn(0x356, (uint8_t[]){0, 6, 49, 0}, 5, NOBODY, 0),
        insn(0x207, (uint8_t[]){8, 10, 11, 0}, 5, NOBODY, 0),
        insn(0x986, (uint8_t[]){0, 2, 8, 0}, 1, NOBODY, 0),
        insn(0x94d, (uint8_t[]){0, 0, 0, 0}, 5, NOBODY, 0),
    };
    words[0].hi &= ~(UINT64_C(7) << WRITES_P);
    words[1].hi &= ~(UINT64_C(0x1ff) << WRITES_P);
    words[2].hi &= ~(UINT64_C(7) << READS_P);
    const cbi_pace pace = pace_of(&ctx, words, CBI_COUNT(words));
    assert_int_equal(cbi_sass_wait(pace.words[1]), 0);
    assert_int_equal(cbi_sass_wait(pace.words[2]), 1u << cbi_sass_write(pace.words[0]));
    cbi_ctx_fini(&ctx);
}

/* A comparison of doubles overwrites the predicate of one of integers, then a barrier is left: it
 * waits for the doubles alone, and writes no predicate. */
static void breaks_write_no_predicates(void **state)
{
    enum { WRITES_P = 17, READS_P = 23, GUARD = 12 };
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_sass words[] = {
        insn(0x20c, (uint8_t[]){0, 4, 5, 0}, 13, NOBODY, 0),
        insn(0x22a, (uint8_t[]){0, 4, 6, 255}, 14, NOBODY, 0),
        insn(0x942, (uint8_t[]){6, 0, 0, 0}, 5, NOBODY, 0),
        insn(0x94d, (uint8_t[]){0, 0, 0, 0}, 5, NOBODY, 0),
    };
    words[0].hi &= ~(UINT64_C(7) << WRITES_P);
    words[1].hi &= ~(UINT64_C(7) << WRITES_P | UINT64_C(7) << READS_P);
    words[2].hi &= ~(UINT64_C(0x3f) << WRITES_P);
    words[2].lo &= ~(UINT64_C(7) << GUARD);
    const cbi_pace pace = pace_of(&ctx, words, CBI_COUNT(words));
    assert_int_equal(cbi_sass_stall(pace.words[1]), 2);
    assert_int_equal(cbi_sass_wait(pace.words[2]), 1u << cbi_sass_write(pace.words[1]));
    cbi_ctx_fini(&ctx);
}

/* NCCL has functions of 36,000 instructions. */
static void long_code_is_followed(void **state)
{
    enum { LOADS = 17000 };
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_sass *words = CBI_NEW_ARRAY(&ctx, LOADS + 8, cbi_sass);
    for (unsigned i = 0; i < LOADS; i++)
        words[i] = insn(0x981, (uint8_t[]){(uint8_t)(10 + i % 6), 2, 255, 0}, 2, i % 6,
                        i < 6 ? 0 : 1u << i % 6);
    size_t count = LOADS + program(words + LOADS);
    cbi_scoreboard_text text = {.bytes = (uint8_t *)words, .size = count * sizeof *words};
    size_t before = cbi_arena_used(&ctx);
    cbi_pace pace;
    assert_true(cbi_pace_code(&ctx, &text, CBI_SCHEDULE_KEPT, false,
                              CBI_NEW_ARRAY(&ctx, count, bool), &pace));
    assert_int_equal(pace.cycles[LOADS + 1], 64);
    assert_true(cbi_arena_used(&ctx) - before <= count * (sizeof *words + 8) + 64);
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

/* ---- distances between two instructions ---- */

/* How the second of a pair depends on the first. */
typedef enum relation {
    NOTHING,
    READS,        /* its result, as first source */
    READS_SECOND, /* ... as second source */
    REWRITES,     /* its result */
    OVERWRITES,   /* one of its sources */
    TESTS,        /* a predicate that it writes */
    GUARDED,      /* by that predicate */
    SETS,         /* that predicate, too */
    RELATIONS,
} relation;

enum { SLOW_STALL = 2, LONG_STALL = 15, POWER_OF_TWO = 2 };
#define FAR_APART " 15,15 15,15 15,15 15,15 15,15 15,15 15,15 15,15"

typedef struct paced {
    char name[24];
    uint32_t op, function;
} paced;

/* What an instruction does with registers, as far as distances depend on it. */
typedef enum shape {
    GENERAL,   /* reads and writes general ones */
    UNIFORM,   /* reads and writes uniform ones */
    MIXED,     /* reads uniform, writes general ones */
    LIFTS,     /* the reverse */
    PREDICATE, /* writes predicates only */
    NO_SHAPE,
    SHAPES = NO_SHAPE,
} shape;

static shape shape_of(uint32_t op)
{
    cbi_operands o;
    cbi_sass w = insn(op, (uint8_t[]){4, 30, 32, 34}, LONG_STALL, NOBODY, 0);
    w.hi &= ~(UINT64_C(7) << 17);
    cbi_sass_operands(w, &o);
    bool writes = cbi_regset_any(&o.written), lifts = cbi_regset_any(&o.uniform_written);
    if (writes)
        return cbi_regset_any(&o.uniform_read) ? MIXED
               : cbi_regset_any(&o.read)       ? GENERAL
                                               : NO_SHAPE;
    if (lifts)
        return cbi_regset_any(&o.uniform_read) ? UNIFORM : LIFTS;
    return PREDICATE;
}

/* One instruction of each kind and shape, and those that have distances of their own. */
static size_t list_paced(paced *list)
{
    static const uint32_t own[] = {CBI_OP_S2R,   CBI_OP_BAR,    CBI_OP_LDCU,   CBI_OP_POPC,
                                   CBI_OP_MUFU,  CBI_OP_BSSY,   CBI_OP_VOTEU,  CBI_OP_UPLOP3,
                                   CBI_OP_P2R,   CBI_OP_S2UR,   CBI_OP_POPC_U, CBI_OP_MUFU_U,
                                   CBI_OP_BRA_U, CBI_OP_MEMBAR, CBI_OP_CS2R};
    bool seen[SHAPES][CBI_KIND_CALL + 1] = {0};
    size_t count = 0;
    for (size_t i = 0; i < cbi_instruction_count; i++) {
        uint32_t op = cbi_instructions[i].opcode;
        shape s = shape_of(op);
        if (s == NO_SHAPE || seen[s][cbi_op_kind(op)])
            continue;
        seen[s][cbi_op_kind(op)] = true;
        list[count++].op = op;
    }
    for (size_t i = 0; i < CBI_COUNT(own); i++)
        list[count++].op = own[i];
    list[count++] = (paced){.op = CBI_OP_MUFU, .function = POWER_OF_TWO};
    for (size_t i = 0; i < count; i++)
        snprintf(list[i].name, sizeof list[i].name, "%s.%03x%s",
                 cbi_instruction_of(list[i].op)->mnemonic, list[i].op,
                 list[i].function ? ".EX2" : "");
    return count;
}

/* An instruction with predicates at all places where there are any. */
static cbi_sass with_predicates(const paced *p, const uint8_t regs[SOURCES], unsigned guard,
                                unsigned written, unsigned read)
{
    cbi_sass w = insn(p->op, regs, LONG_STALL, NOBODY, 0);
    w.lo = (w.lo & ~UINT64_C(0x7000)) | (uint64_t)guard << 12;
    w.hi &= ~(UINT64_C(0xfff) << 17);
    w.hi |= (uint64_t)written << 17 | 7u << 20 | (uint64_t)read << 23;
    if (p->function)
        w.hi = (w.hi & ~(UINT64_C(63) << 10)) | (uint64_t)p->function << 10;
    return w;
}

/* Cycles from a to b when the time between them is explained by a double computed before that b
 * waits for: what is left is the distance that the pair needs by itself. */
static void put_distance(const paced *a, const paced *b, relation r, char *text, size_t room)
{
    unit_heap heap = {0};
    cbi_ctx ctx = {0};
    unit_ctx_init(&ctx, &heap);
    cbi_sass words[] = {
        insn(0x229, (uint8_t[]){20, 22, 24, 0}, SLOW_STALL, NOBODY, 0),
        with_predicates(a, (uint8_t[]){4, 30, 32, 34}, 7, r >= TESTS ? 0 : 7, 7),
        with_predicates(b,
                        (uint8_t[]){r == REWRITES     ? 4
                                    : r == OVERWRITES ? 30
                                                      : 20,
                                    r == READS ? 4 : 40, r == READS_SECOND ? 4 : 42, 20},
                        r == GUARDED ? 0 : 7, r == SETS ? 0 : 7, r == TESTS ? 0 : 7),
        insn(CBI_OP_EXIT, (uint8_t[]){0, 0, 0, 0}, 5, NOBODY, 0),
    };
    cbi_sb_code c = {.ctx = &ctx, .n = CBI_COUNT(words), .words = words};
    bool idle[CBI_COUNT(words)] = {0};
    uint32_t cycles[CBI_COUNT(words)] = {0};
    size_t len = strlen(text);
    if (cbi_sb_read(&c, (cbi_span){0}, NULL, 0)) {
        cbi_pace_cycles(&c, idle, cycles);
        snprintf(text + len, room - len, " %u,%u", cycles[1], cycles[2]);
    } else {
        snprintf(text + len, room - len, " -");
    }
    cbi_ctx_fini(&ctx);
}

/* distances.tsv has a row per pair: cycles that results of the first are waited for at the end of a
 * block, cycles to the second instruction and behind it for each relation.  Pairs that stay as far
 * apart as they were in all of them have no row.  UNIT_WRITE in the environment writes it anew. */
static void distances(void **state)
{
    (void)state;
    paced list[128] = {0};
    size_t count = list_paced(list), failed = 0;
    bool writes = getenv("UNIT_WRITE") != NULL;
    FILE *f = fopen(unit_path("tests/unit/distances.tsv"), writes ? "w" : "r");
    assert_non_null(f);
    for (size_t i = 0; i < count * count; i++) {
        const paced *a = &list[i / count], *b = &list[i % count];
        cbi_operands of;
        char row[256], want[256] = "";
        cbi_sass w = with_predicates(a, (uint8_t[]){4, 30, 32, 34}, 7, 0, 7);
        cbi_sass_operands(w, &of);
        snprintf(row, sizeof row, "%s %s %u", a->name, b->name, cbi_pace_end_latency(w, &of));
        for (relation r = NOTHING; r < RELATIONS; r++)
            put_distance(a, b, r, row, sizeof row);
        strcat(row, "\n");
        if (strstr(row, FAR_APART))
            continue;
        if (writes) {
            fputs(row, f);
        } else if (!fgets(want, sizeof want, f) || strcmp(row, want) != 0) {
            print_error("got %swant %s", row, want);
            failed++;
        }
    }
    fclose(f);
    assert_int_equal(failed, 0);
}

/* Each place of arithmetic keeps an even and an odd register for the next reader. */
static void sources_stay_in_their_place(void **state)
{
    (void)state;
    enum { FFMA = 0x223, WIDE = 0x225, LDG = 0x981, NONE = 255, YIELD = 45, MOST = 3 };
    static const struct {
        const char *what;
        struct {
            uint16_t op;
            uint8_t regs[SOURCES];
            bool stays; /* the scheduler may not change the warp behind it */
        } code[MOST];
        uint32_t reuse; /* of the first instruction */
    } rows[] = {
        {"the same register", {{FFMA, {0, 2, 4, 6}, true}, {FFMA, {1, 2, 5, 7}, true}}, 1},
        {"in another place", {{FFMA, {0, 2, 4, 6}, true}, {FFMA, {1, 5, 2, 7}, true}}, 0},
        {"in all places", {{FFMA, {0, 2, 5, 6}, true}, {FFMA, {1, 2, 5, 6}, true}}, 7},
        {"the warp may be changed", {{FFMA, {0, 2, 4, 6}}, {FFMA, {1, 2, 5, 7}, true}}, 0},
        {"overwritten", {{FFMA, {2, 2, 4, 6}, true}, {FFMA, {1, 2, 5, 7}, true}}, 0},
        {"another of the same half between",
         {{FFMA, {0, 2, 9, 9}, true}, {FFMA, {1, 4, 8, 8}, true}, {FFMA, {1, 2, 7, 7}, true}},
         0},
        {"one of the other half between",
         {{FFMA, {0, 2, 9, 9}, true}, {FFMA, {1, 3, 8, 8}, true}, {FFMA, {1, 2, 7, 7}, true}},
         1},
        {"a pair between takes both halves",
         {{FFMA, {0, 8, 9, 5}, true}, {WIDE, {12, 3, 4, 6}, true}, {FFMA, {1, 7, 7, 5}, true}},
         0},
        {"none there between",
         {{FFMA, {0, 8, 9, 5}, true}, {FFMA, {1, 3, 4, NONE}, true}, {FFMA, {1, 7, 7, 5}, true}},
         4},
        {"loads have no places", {{LDG, {0, 2, NONE, 0}, true}, {LDG, {1, 2, NONE, 0}, true}}, 0},
        {"a load between",
         {{FFMA, {0, 2, 4, 6}, true}, {LDG, {1, 8, NONE, 0}, true}, {FFMA, {1, 2, 5, 7}, true}},
         1},
    };
    size_t wrong = 0;
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        cbi_ctx ctx;
        cbi_ctx_init(&ctx);
        cbi_sass words[MOST + 1];
        size_t count = 0;
        for (; count < MOST && rows[i].code[count].op; count++) {
            words[count] = insn(rows[i].code[count].op, rows[i].code[count].regs, 4, NOBODY, 0);
            words[count].hi |= (uint64_t)rows[i].code[count].stays << YIELD;
        }
        words[count++] = insn(0x94d, (uint8_t[]){0, 0, 0, 0}, 5, NOBODY, 0);
        cbi_sb_code c = read_code(&ctx, words, count);
        uint32_t got = cbi_sass_reuse_of(&c, words, NULL, 0);
        if (got != rows[i].reuse)
            wrong++, print_error("%s: %x\n", rows[i].what, got);
        cbi_ctx_fini(&ctx);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_stay_in_their_place),
        cmocka_unit_test(slow_results_are_awaited),
        cmocka_unit_test(the_check_sees_damage),
        cmocka_unit_test(barrier_moves_use_no_predicates),
        cmocka_unit_test(breaks_write_no_predicates),
        cmocka_unit_test(long_code_is_followed),
        cmocka_unit_test(only_slow_code_changes),
        cmocka_unit_test(distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
