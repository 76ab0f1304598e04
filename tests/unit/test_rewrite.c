/* Code that changes its length by itself: the rules of barriers in front of exits, a row each, and
 * random code, of which rewrite.tsv has digests.  After a change that was meant: UNIT_WRITE=1
 * build/tests/unit/test_rewrite. */
#include "unit.h"

#include "mercury/rewrite_code.h"
#include "sass/opcodes.h"
#include "sass/operands.h"

#include <xxhash.h>

enum { MOST = 40, GROUPS = 40, GROUP = 250, FENCE_OF_EXITS = 0x50, IDLE_FENCE = 0x80 };

static uint32_t below(uint64_t *state, uint32_t n)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) % n);
}

typedef struct code {
    uint8_t text[MOST * CBI_SASS_INSTRUCTION];
    uint32_t total;
    bool drop[MOST + 1];
    uint8_t barrier[MOST + 1];
    bool idle[MOST + 1]; /* NOPs in front of exits */
} code;

static cbi_sass instruction(uint32_t op, uint32_t guard, unsigned stall)
{
    cbi_sass w = {op | (uint64_t)guard << 12,
                  UINT64_C(7) << 17 | UINT64_C(7) << 20 | UINT64_C(7) << 23};
    cbi_sass_set_control(&w, 0);
    cbi_sass_set_scoreboards(&w, CBI_SB_NONE << 3 | CBI_SB_NONE);
    cbi_sass_set_stall(&w, stall);
    return w;
}

static void put(code *c, cbi_sass w)
{
    cbi_sass_store(c->text + (size_t)c->total++ * CBI_SASS_INSTRUCTION, w);
}

static cbi_sass at(const uint8_t *text, uint64_t i)
{
    return cbi_sass_load(text + i * CBI_SASS_INSTRUCTION);
}

/* Ends as compilers end code: with a branch to itself and NOPs. */
static void end(code *c)
{
    cbi_sass loop = instruction(CBI_OP_BRA, CBI_SASS_PT, 0);
    loop.lo |= UINT64_C(0xfc) << 16 | UINT64_C(0x3fffffff) << 34;
    loop.hi |= 0x3ffff;
    put(c, loop);
    while (c->total % 8)
        put(c, instruction(CBI_OP_NOP, CBI_SASS_PT, 0));
}

static cbi_rewrite moved(cbi_ctx *ctx, const code *c)
{
    cbi_rewrite rw = {.old_size = (uint64_t)c->total * CBI_SASS_INSTRUCTION,
                      .place = CBI_NEW_ARRAY(ctx, c->total + 1, uint32_t),
                      .self = CBI_NEW_ARRAY(ctx, c->total + 1, uint32_t)};
    const bool *target = cbi_rewrite_targets(ctx, c->text, c->total);
    cbi_changes changes = cbi_changes_none(ctx, c->total);
    changes.chip = 100;
    memcpy(changes.drop, c->drop, c->total * sizeof *c->drop);
    memcpy(changes.barrier, c->barrier, c->total);
    memcpy(changes.idle, c->idle, c->total * sizeof *c->idle);
    for (uint32_t i = 0; i < c->total; i++) {
        if (cbi_sass_opcode(c->text + (size_t)i * CBI_SASS_INSTRUCTION) != CBI_OP_EXIT)
            continue;
        changes.bare[i] = i && c->drop[i - 1];
        if (changes.bare[i] || changes.barrier[i])
            cbi_rewrite_plan_exit(c->text, target, i, &changes);
    }
    cbi_rewrite_move(ctx, &rw, c->text, target, &changes);
    return rw;
}

/* ---- rules ---- */

/* The exit's own stall count behind a barrier. */
static void stall_of_exit(void **state)
{
    (void)state;
    static const struct {
        unsigned before, after;
    } rows[] = {{1, 1}, {4, 4}, {5, 5}, {6, 5}, {11, 5}, {12, 5}, {13, 6}, {14, 7}, {15, 8}};
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        cbi_ctx ctx;
        unit_heap heap = {0};
        unit_ctx_init(&ctx, &heap);
        code c = {.total = 0};
        put(&c, instruction(CBI_OP_IADD3, CBI_SASS_PT, 2));
        c.barrier[c.total] = CBI_BARRIER_LENGTH;
        put(&c, instruction(CBI_OP_EXIT, 0, rows[i].before));
        end(&c);
        cbi_rewrite rw = moved(&ctx, &c);
        assert_int_equal(rw.place[1], CBI_SASS_INSTRUCTION);
        assert_int_equal(rw.self[1], (1 + CBI_BARRIER_LENGTH) * CBI_SASS_INSTRUCTION);
        cbi_sass fence = at(rw.text, 1), error = at(rw.text, 2), last = at(rw.text, 3);
        cbi_sass leaves = at(rw.text, 4);
        assert_int_equal(cbi_sass_op(fence), CBI_OP_MEMBAR);
        assert_int_equal(fence.hi >> 8 & 0xff, FENCE_OF_EXITS);
        assert_int_equal(cbi_sass_op(error), CBI_OP_ERRBAR);
        assert_int_equal(cbi_sass_op(last), CBI_OP_CGAERRBAR);
        assert_int_equal(cbi_sass_guard(fence), 0); /* the exit's */
        assert_int_equal(cbi_sass_stall(last), 6);
        assert_int_equal(cbi_sass_op(leaves), CBI_OP_EXIT);
        assert_int_equal(cbi_sass_stall(leaves), rows[i].after);
        cbi_ctx_fini(&ctx);
    }
}

/* NOPs in front of an exit say what its stall count cannot: they lose the cycles of the barrier,
 * and stand behind it. */
static void pauses_of_exit(void **state)
{
    (void)state;
    static const struct {
        unsigned pause, stays, after;
    } rows[] = {{1, 0, 9}, {4, 0, 12}, {7, 0, 15}, {8, 1, 15}, {13, 6, 15}, {15, 8, 15}};
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        cbi_ctx ctx;
        unit_heap heap = {0};
        unit_ctx_init(&ctx, &heap);
        code c = {.total = 0};
        put(&c, instruction(CBI_OP_HMMA, CBI_SASS_PT, 1));
        c.idle[c.total] = true;
        put(&c, instruction(CBI_OP_NOP, CBI_SASS_PT, rows[i].pause));
        c.barrier[c.total] = CBI_BARRIER_LENGTH;
        put(&c, instruction(CBI_OP_EXIT, 0, CBI_SASS_STALL_MAX));
        end(&c);
        cbi_rewrite rw = moved(&ctx, &c);
        uint32_t exit = 1 + CBI_BARRIER_LENGTH + (rows[i].stays > 0);
        assert_int_equal(rw.place[2], CBI_SASS_INSTRUCTION);
        assert_int_equal(rw.self[2], exit * CBI_SASS_INSTRUCTION);
        assert_int_equal(cbi_sass_op(at(rw.text, CBI_BARRIER_LENGTH)), CBI_OP_CGAERRBAR);
        assert_int_equal(cbi_sass_op(at(rw.text, exit)), CBI_OP_EXIT);
        assert_int_equal(cbi_sass_stall(at(rw.text, exit)), rows[i].after);
        if (rows[i].stays) {
            assert_int_equal(cbi_sass_op(at(rw.text, exit - 1)), CBI_OP_NOP);
            assert_int_equal(cbi_sass_stall(at(rw.text, exit - 1)), rows[i].stays);
        }
        cbi_ctx_fini(&ctx);
    }
}

/* In front of an exit whose barrier goes: 2 if the exit waits for the scoreboard in the end,
 * whatever it waited for behind the barrier. */
static void stall_before_bare_exit(void **state)
{
    (void)state;
    for (unsigned waits = 0; waits < 2; waits++) {
        cbi_ctx ctx;
        unit_heap heap = {0};
        unit_ctx_init(&ctx, &heap);
        code c = {.total = 0};
        cbi_sass load = instruction(CBI_OP_LDS, CBI_SASS_PT, 1);
        cbi_sass_set_write(&load, 4);
        cbi_sass_set_read(&load, 1);
        put(&c, load);
        c.drop[c.total] = true;
        put(&c, instruction(CBI_OP_MEMBAR, 2, 0));
        cbi_sass leaves = instruction(CBI_OP_EXIT, 2, 5);
        cbi_sass_set_wait(&leaves, 1 << 1);
        put(&c, leaves);
        end(&c);
        cbi_rewrite rw = moved(&ctx, &c);
        assert_int_equal(cbi_sass_stall(at(rw.text, 0)), 2);
        cbi_sass now = at(rw.text, 1);
        assert_int_equal(cbi_sass_op(now), CBI_OP_EXIT);
        cbi_sass_set_wait(&now, waits << 1);
        cbi_sass_store(rw.text + CBI_SASS_INSTRUCTION, now);
        cbi_rewrite_settle_exits(&rw);
        assert_int_equal(cbi_sass_stall(at(rw.text, 0)), 1 + waits);
        cbi_ctx_fini(&ctx);
    }
}

/* Which fences and loads of a run go. */
static void runs(void **state)
{
    (void)state;
    enum { LOAD = 1, FENCE, OTHER_FENCE, EXITS, ERROR, ELSE };
    static const struct {
        const char *what;
        uint8_t run[5];
        cbi_needs keep;
        uint8_t gone; /* bit per instruction */
    } rows[] = {
        {"a load in front of a fence", {LOAD, FENCE}, {0}, 1},
        {"two loads in front of a fence", {LOAD, LOAD, FENCE}, {0}, 3},
        {"a load that asynchronous copies need", {LOAD, FENCE}, {.loads = true}, 0},
        {"a load in front of something else", {LOAD, ELSE}, {0}, 0},
        {"a load at the end", {ELSE, LOAD}, {0}, 0},
        {"loads in the middle", {ELSE, LOAD, LOAD, OTHER_FENCE}, {0}, 6},
        {"a fence in front of a fence", {FENCE, FENCE}, {0}, 1},
        {"a fence in front of an error barrier", {FENCE, ERROR}, {0}, 1},
        {"a fence in front of something else", {FENCE, ELSE}, {0}, 0},
        {"a fence that barriers need", {FENCE, ERROR}, {.membar = true}, 0},
        {"a fence of exits", {EXITS, ERROR}, {.membar = true}, 1},
        {"another fence", {OTHER_FENCE, ERROR}, {0}, 0},
        {"a fence at the end", {ELSE, FENCE}, {0}, 0},
        {"two pairs", {FENCE, ERROR, FENCE, ERROR}, {0}, 5},
        {"a load and a fence in front of an error barrier", {LOAD, FENCE, ERROR}, {0}, 3},
    };
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        code c = {.total = 0};
        put(&c, instruction(CBI_OP_IADD3, CBI_SASS_PT, 1));
        for (size_t k = 0; k < 5 && rows[i].run[k]; k++) {
            uint8_t kind = rows[i].run[k];
            cbi_sass w = instruction(kind == ERROR  ? CBI_OP_ERRBAR
                                     : kind == ELSE ? CBI_OP_IADD3
                                                    : CBI_OP_MEMBAR,
                                     CBI_SASS_PT, 1);
            w.hi |= kind == FENCE ? IDLE_FENCE << 8 : kind == EXITS ? FENCE_OF_EXITS << 8 : 0;
            if (kind == LOAD)
                w = (cbi_sass){UINT64_C(0xfffff984), UINT64_C(0x7f) << 41 | 0x800};
            put(&c, w);
        }
        uint32_t count = c.total - 1, gone = 0;
        put(&c, instruction(CBI_OP_MEMBAR, CBI_SASS_PT, 1)); /* not of the run */
        bool any = cbi_rewrite_mark_run(c.text, 1, count, rows[i].keep, c.drop);
        for (uint32_t k = 0; k < c.total; k++)
            gone |= (uint32_t)c.drop[k] << k;
        if (gone != (uint32_t)rows[i].gone << 1 || any != (rows[i].gone != 0))
            fail_msg("%s: %x", rows[i].what, gone >> 1);
    }
}

/* ---- random code ---- */

static cbi_sass drawn(uint64_t *state)
{
    static const uint16_t ops[] = {
        CBI_OP_EXIT, CBI_OP_EXIT,   CBI_OP_ISETP,  CBI_OP_ISETP,  CBI_OP_DSETP,     CBI_OP_DSETP,
        CBI_OP_BRA,  CBI_OP_MEMBAR, CBI_OP_MEMBAR, CBI_OP_ERRBAR, CBI_OP_CGAERRBAR, CBI_OP_LDG,
        CBI_OP_STG,  CBI_OP_IADD3,  CBI_OP_FFMA,   CBI_OP_DADD,   CBI_OP_BSSY,      CBI_OP_MUFU};
    static const uint8_t kinds[] = {0, FENCE_OF_EXITS, IDLE_FENCE, IDLE_FENCE};
    uint32_t op = ops[below(state, CBI_COUNT(ops))];
    /* one draw a statement: in which order the parts of an expression draw is the compiler's choice
     */
    uint32_t guard = CBI_SASS_PT;
    if (below(state, 3) == 0) {
        guard = below(state, 2);
        guard |= below(state, 2) << 3;
    }
    cbi_sass w = instruction(op, guard, 1 + below(state, below(state, 6) ? 6 : 15));
    cbi_sass_set_yield(&w, below(state, 2));
    if (op == CBI_OP_BSSY) { /* to what follows */
        w.lo |= 4 * (uint64_t)below(state, 6) << 34;
    } else if (op == CBI_OP_BRA || op == CBI_OP_RET) { /* or to what is in front */
        uint64_t units = 4 * (uint64_t)below(state, 6);
        units -= below(state, 3) ? 0 : 16;
        w.lo |= (units & 0xff) << 16 | units >> 8 << 34;
        w.hi |= units >> 38 & 0x3ffff;
        if (op == CBI_OP_RET) /* absolute or relative, which a bit says */
            w.hi = (w.hi & ~(UINT64_C(1) << 21)) | (uint64_t)below(state, 2) << 21;
    } else if (op != CBI_OP_EXIT) {
        w.lo |= (uint64_t)below(state, 6) << 16;
        w.lo |= (uint64_t)below(state, 6) << 24;
    }
    if (op == CBI_OP_MEMBAR)
        w.hi |= (uint64_t)kinds[below(state, CBI_COUNT(kinds))] << 8;
    if (op == CBI_OP_ISETP || op == CBI_OP_DSETP) { /* P0 or P1, first or second result */
        const uint64_t result = 7 ^ below(state, 2);
        w.hi ^= result << (below(state, 4) ? 17 : 20);
    }
    if (op == CBI_OP_EXIT && below(state, 3) == 0)
        w.hi ^= (uint64_t)(7 ^ below(state, 2)) << 23;
    if (below(state, 3) == 0)
        cbi_sass_set_write(&w, below(state, 2));
    if (below(state, 3) == 0)
        cbi_sass_add_wait(&w, 1 + below(state, 3));
    return w;
}

/* Barriers in front of exits, or without those that there are. */
static uint64_t digest_of(uint64_t number)
{
    cbi_ctx ctx;
    unit_heap heap = {0};
    unit_ctx_init(&ctx, &heap);
    uint64_t state = number;
    code c = {.total = 0};
    for (uint32_t left = 4 + below(&state, 24); left; left--)
        put(&c, drawn(&state));
    put(&c, instruction(CBI_OP_EXIT, CBI_SASS_PT, 5));
    end(&c);
    bool barriers = below(&state, 2), may_drop = below(&state, 2);
    const bool *target = cbi_rewrite_targets(&ctx, c.text, c.total);
    for (uint32_t i = 0; i + 8 < c.total; i++) {
        bool leaves = cbi_sass_opcode(c.text + i * CBI_SASS_INSTRUCTION) == CBI_OP_EXIT;
        if (barriers && leaves && below(&state, 4))
            c.barrier[i] = cbi_rewrite_barrier_length(c.text, target, i, may_drop);
        if (!barriers && leaves && i > 3 && below(&state, 4))
            memset(c.drop + i - 1 - below(&state, 3), true, 1);
        if (below(&state, 4) == 0) {
            const cbi_needs keep = {below(&state, 4) == 0, below(&state, 4) == 0};
            cbi_rewrite_mark_run(c.text, i, 2 + below(&state, 4), keep, c.drop);
        }
    }
    for (uint32_t i = 0; i < c.total; i++)
        c.drop[i] &= !c.barrier[i];
    cbi_rewrite rw = moved(&ctx, &c);
    uint64_t digest = XXH3_64bits(rw.text, rw.size);
    digest = XXH3_64bits_withSeed(rw.place, (c.total + 1) * sizeof *rw.place, digest);
    digest = XXH3_64bits_withSeed(rw.self, (c.total + 1) * sizeof *rw.self, digest);
    cbi_ctx_fini(&ctx);
    return digest;
}

static void random_code(void **state)
{
    (void)state;
    FILE *f = fopen(unit_path("tests/unit/rewrite.tsv"), getenv("UNIT_WRITE") ? "w" : "r");
    assert_non_null(f);
    size_t wrong = 0;
    for (unsigned group = 0; group < GROUPS; group++) {
        uint64_t digest = 0;
        for (unsigned i = 0; i < GROUP; i++)
            digest = digest * 31 + digest_of(group * GROUP + i);
        unsigned long long want = 0;
        if (getenv("UNIT_WRITE"))
            fprintf(f, "%u\t%016llx\n", group, (unsigned long long)digest);
        else if (fscanf(f, "%*u\t%16llx\n", &want) != 1 || want != digest)
            wrong++,
                print_error("code %u to %u is another\n", group * GROUP, group * GROUP + GROUP - 1);
    }
    fclose(f);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stall_of_exit),
        cmocka_unit_test(pauses_of_exit),
        cmocka_unit_test(stall_before_bare_exit),
        cmocka_unit_test(runs),
        cmocka_unit_test(random_code),
    };
    return cmocka_run_group_tests_name("rewrite", tests, NULL, NULL);
}
