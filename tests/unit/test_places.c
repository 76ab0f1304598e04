/* Runs of instructions that one record of a capsule stands for: what a run is about, where it
 * starts for code that names it, and where the next instruction starts for frame descriptions. */
#include "unit.h"

#include "mercury/mercury.h"
#include "sass/opcodes.h"

enum { MOST = 6 };

static void runs(void **state)
{
    (void)state;
    /* places are numbers of instructions in the run */
    static const struct {
        const char *what;
        uint16_t ops[MOST];
        unsigned about, own, end;
    } rows[] = {
        {"one instruction", {CBI_OP_LDG}, 0, 0, 1},
        {"fences in front of a load", {CBI_OP_MEMBAR, CBI_OP_ERRBAR, CBI_OP_LDG}, 2, 2, 3},
        {"an error barrier behind", {CBI_OP_LDG, CBI_OP_ERRBAR}, 0, 0, 1},
        {"an error barrier and more behind",
         {CBI_OP_ATOMG, CBI_OP_ERRBAR, CBI_OP_LDG, CBI_OP_LDG},
         0,
         0,
         1},
        {"fences in front and behind",
         {CBI_OP_MEMBAR, CBI_OP_ERRBAR, CBI_OP_ATOMG, CBI_OP_ERRBAR, CBI_OP_LDG},
         2,
         2,
         3},
        {"a mere fence", {CBI_OP_MEMBAR, CBI_OP_ERRBAR}, 0, 0, 1},
        {"two fences", {CBI_OP_MEMBAR, CBI_OP_MEMBAR}, 1, 1, 2},
        {"of a mere fence its second MEMBAR",
         {CBI_OP_MEMBAR, CBI_OP_MEMBAR, CBI_OP_ERRBAR},
         1,
         1,
         2},
        {"fences without a MEMBAR", {CBI_OP_ERRBAR, CBI_OP_CGAERRBAR}, 0, 0, 1},
        {"a vote for all", {CBI_OP_WARPSYNC, CBI_OP_VOTE, CBI_OP_ENDCOLLECTIVE}, 1, 0, 2},
        {"a warp's synchronization in front", {CBI_OP_WARPSYNC, CBI_OP_VOTE}, 1, 1, 2},
        {"a warp's synchronization by a register", {CBI_OP_WARPSYNC_R, CBI_OP_VOTE}, 1, 0, 2},
        {"a warp's synchronization and fences",
         {CBI_OP_WARPSYNC, CBI_OP_MEMBAR, CBI_OP_ENDCOLLECTIVE},
         0,
         0,
         1},
        {"what is made behind an address", {CBI_OP_UIADD3_I, CBI_OP_USHF_I}, 0, 0, 1},
        {"a fence of the view", {CBI_OP_FENCE_VIEW, CBI_OP_LDG}, 1, 0, 2},
        {"a fence of the view, and an error barrier",
         {CBI_OP_FENCE_VIEW, CBI_OP_LDG, CBI_OP_ERRBAR},
         1,
         0,
         2},
        {"the end of a collective in another run", {CBI_OP_VOTE, CBI_OP_ENDCOLLECTIVE}, 0, 0, 1},
    };
    size_t wrong = 0;
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        enum { FIRST = 3, AT = FIRST * CBI_SASS_INSTRUCTION };
        uint8_t text[(FIRST + MOST) * CBI_SASS_INSTRUCTION] = {0};
        cbi_capsule_entry e = {.kind = CBI_CAPSULE_RUN_RECORD, .first = FIRST};
        for (; e.count < MOST && rows[i].ops[e.count]; e.count++)
            cbi_st16(text + AT + e.count * CBI_SASS_INSTRUCTION, rows[i].ops[e.count] | 0x7000);
        const cbi_mercury_run run = cbi_mercury_run_of((cbi_span){text, sizeof text}, &e);
        const uint64_t got[] = {(run.about - AT) / CBI_SASS_INSTRUCTION,
                                (run.own - AT) / CBI_SASS_INSTRUCTION,
                                (run.end - AT) / CBI_SASS_INSTRUCTION};
        if (got[0] != rows[i].about || got[1] != rows[i].own || got[2] != rows[i].end)
            wrong++,
                print_error("%s: %d %d %d\n", rows[i].what, (int)got[0], (int)got[1], (int)got[2]);
        /* what is no run is about its first instruction, all of it */
        e.kind = CBI_CAPSULE_DERIVED;
        const cbi_mercury_run whole = cbi_mercury_run_of((cbi_span){text, sizeof text}, &e);
        assert_int_equal(whole.about, AT);
        assert_int_equal(whole.own, AT);
        assert_int_equal(whole.end, AT + e.count * CBI_SASS_INSTRUCTION);
    }
    assert_int_equal(wrong, 0);
}

/* A byte belongs to the instruction in which it lies, from its first to its last; what lies behind
 * the last place belongs to none. */
static void bytes_of_instructions(void **state)
{
    (void)state;
    enum { UNIT = 16 };
    cbi_mercury_place items[] = {{.mercury = 0}, {.mercury = UNIT}, {.mercury = 3 * UNIT}};
    const cbi_mercury_places places = {.items = items, .len = CBI_COUNT(items)};
    static const struct {
        uint64_t mercury;
        int number; /* of the place, or -1 */
    } rows[] = {{0, 0},         {UNIT - 1, 0}, {UNIT, 1}, {2 * UNIT, 1}, {3 * UNIT - 1, 1},
                {3 * UNIT, -1}, {9 * UNIT, -1}};
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        const cbi_mercury_place *got = cbi_mercury_place_of(&places, rows[i].mercury);
        assert_ptr_equal(got, rows[i].number < 0 ? NULL : &items[rows[i].number]);
    }
}

/* A place in a frame section has its twin in the entry of the same number on the other side. */
static void twins_of_frames(void **state)
{
    (void)state;
    static const uint8_t from[] = {4, 0, 0, 0, 1, 1, 1, 1, 6, 0, 0, 0, 2, 2, 2, 2, 2, 2};
    static const uint8_t to[] = {8, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 6, 0, 0, 0, 2, 2, 2, 2, 2, 2};
    static const struct {
        uint64_t place, twin;
    } rows[] = {{0, 0}, {7, 7}, {8, 12}, {17, 21}, {18, 0}};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_frame_twins twins = {0};
    cbi_mercury_frame_twins(&ctx, (cbi_span){from, sizeof from}, (cbi_span){to, sizeof to}, &twins);
    for (size_t i = 0; i < CBI_COUNT(rows); i++)
        assert_int_equal(cbi_mercury_frame_twin(&twins, rows[i].place), rows[i].twin);
    cbi_ctx_fini(&ctx);
}

/* NOPs that pace what comes before have the place of the instruction behind them; the tail, which
 * has no Mercury form either, is the last that counts. */
static void nops_of_pace(void **state)
{
    (void)state;
    enum { UNIT = 16 };
    cbi_mercury_place items[] = {
        {.mercury = 0},        {.mercury = UNIT},     {.mercury = UNIT},     {.mercury = UNIT},
        {.mercury = 2 * UNIT}, {.mercury = 3 * UNIT}, {.mercury = 3 * UNIT}, {.mercury = 3 * UNIT}};
    /* the last lies behind the list */
    const cbi_mercury_places places = {.items = items, .len = CBI_COUNT(items) - 1};
    static const size_t behind[] = {0, 3, 3, 3, 4, 6, 6};
    for (size_t i = 0; i < CBI_COUNT(behind); i++)
        assert_ptr_equal(cbi_mercury_behind_pace(&places, &items[i]), &items[behind[i]]);
    static const struct {
        uint64_t mercury;
        int number;
    } from[] = {{0, 0}, {1, 3}, {UNIT, 3}, {UNIT + 1, 4}, {2 * UNIT, 4}, {4 * UNIT, -1}};
    for (size_t i = 0; i < CBI_COUNT(from); i++)
        assert_ptr_equal(cbi_mercury_place_from(&places, from[i].mercury),
                         from[i].number < 0 ? NULL : &items[from[i].number]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs), cmocka_unit_test(bytes_of_instructions),
        cmocka_unit_test(nops_of_pace), cmocka_unit_test(twins_of_frames)};
    return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
