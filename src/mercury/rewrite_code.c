/* Code that changes its length: what goes, the barrier in front of an exit, and what both mean for
 * the instructions beside them. */
#include "mercury/rewrite_code.h"
#include "mercury/fences.h"
#include "sass/opcodes.h"
#include "sass/operands.h"
#include "sass/pace_code.h"
#include "sass/scoreboard.h"

enum {
    BARRIER_GAIN = 7, /* cycles that waiting behind a guarded exit gains */
    EXIT_STALL = 5,   /* the least */
    PREDICATE_LATENCY = 13,
    ARRIVAL_STALL = 6,
    LAST_STALL = 6, /* of a barrier */
};

/* LDS RZ, [RZ] under the never predicate, control bits aside. */
static bool is_dummy_load(const uint8_t *insn)
{
    return cbi_ld64(insn) == UINT64_C(0xfffff984) &&
           (cbi_ld64(insn + 8) & ((UINT64_C(1) << 41) - 1)) == 0x800;
}

static bool is_idle_membar(const uint8_t *insn, cbi_needs keep)
{
    return cbi_sass_opcode(insn) == CBI_OP_MEMBAR &&
           ((insn[9] == 0x80 && !keep.membar) || (insn[9] == 0x50 && !keep.exit));
}

bool cbi_rewrite_mark_run(const uint8_t *text, uint32_t first, uint32_t count, cbi_needs keep,
                          bool *drop)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *insn = text + (size_t)(first + i) * CBI_SASS_INSTRUCTION;
        uint32_t loads = 0;
        while (!keep.loads && i + loads + 1 < count &&
               is_dummy_load(insn + (size_t)CBI_SASS_INSTRUCTION * loads))
            loads++;
        if (loads &&
            cbi_sass_opcode(insn + (size_t)CBI_SASS_INSTRUCTION * loads) == CBI_OP_MEMBAR) {
            memset(drop + first + i, true, loads);
            any = true;
            i += loads - 1;
            continue;
        }
        if (i + 1 < count && is_idle_membar(insn, keep)) {
            uint16_t next = cbi_sass_opcode(insn + CBI_SASS_INSTRUCTION);
            if (next == CBI_OP_MEMBAR || next == CBI_OP_ERRBAR)
                any = drop[first + i] = true;
        }
    }
    return any;
}

/* ---- branch targets ---- */

bool cbi_rewrite_distance(const uint8_t *insn, int64_t *ret_offset)
{
    const cbi_sass w = cbi_sass_load(insn);
    if (cbi_sass_op(w) == CBI_OP_BSSY)
        *ret_offset = ((int64_t)(w.lo >> 34 << 34) >> 34) * 4;
    else if (cbi_op_has(cbi_sass_op(w), CBI_OPF_RELATIVE))
        *ret_offset = cbi_sass_branch_distance(w);
    else
        return false;
    return true;
}

void cbi_rewrite_set_distance(uint8_t *insn, int64_t offset)
{
    uint64_t low = cbi_ld64(insn), high = cbi_ld64(insn + 8);
    uint64_t value = (uint64_t)(offset / 4);
    if (cbi_sass_opcode(insn) == CBI_OP_BSSY) {
        low = (low & ((UINT64_C(1) << 34) - 1)) | value << 34;
    } else {
        low = (low & ~(UINT64_C(0xff) << 16) & ((UINT64_C(1) << 34) - 1)) | (value & 0xff) << 16 |
              (value >> 8) << 34;
        high = (high & ~UINT64_C(0x3ffff)) | (value >> 38 & 0x3ffff);
    }
    cbi_st64(insn, low);
    cbi_st64(insn + 8, high);
}

/* ---- a function ---- */

/* Where a byte of the old code is, by where its instruction went. */
static uint64_t moved(const uint32_t *places, uint64_t offset)
{
    return places[offset / CBI_SASS_INSTRUCTION] + offset % CBI_SASS_INSTRUCTION;
}

uint64_t cbi_rewrite_map(const cbi_rewrite *rw, uint64_t offset)
{
    if (!rw || offset > rw->old_size)
        return offset;
    return moved(rw->place, offset);
}

uint64_t cbi_rewrite_frame(const cbi_rewrite *rw, uint64_t offset)
{
    if (!rw || !rw->frame || offset > rw->old_size)
        return cbi_rewrite_map(rw, offset);
    return moved(rw->frame, offset);
}

uint64_t cbi_rewrite_self(const cbi_rewrite *rw, uint64_t offset)
{
    if (!rw || offset > rw->old_size)
        return offset;
    return moved(rw->self, offset);
}

/* Within the code of ptxas -ewp functions return relative to its start. */
static bool return_distance(const uint8_t *insn, int64_t *ret_offset)
{
    enum { ABSOLUTE = 85 };
    const cbi_sass w = cbi_sass_load(insn);
    if (cbi_sass_op(w) != CBI_OP_RET || cbi_sass_bits(w, ABSOLUTE, 1))
        return false;
    *ret_offset = cbi_sass_branch_distance(w);
    return true;
}

/* The place that LEPC names, from the next instruction. */
static void rename_place(const cbi_rewrite *rw, uint32_t old, uint8_t *insn)
{
    const uint64_t field = UINT64_C(0xffffffff) << 24;
    int64_t next = (int64_t)(old + 1) * CBI_SASS_INSTRUCTION;
    int64_t place = next + cbi_sass_named_distance(cbi_sass_load(insn));
    if (place < 0 || (uint64_t)place > rw->old_size)
        return;
    uint64_t distance = cbi_rewrite_map(rw, (uint64_t)place) - rw->self[old] - CBI_SASS_INSTRUCTION;
    cbi_st64(insn, (cbi_ld64(insn) & ~field) | (distance << 24 & field));
}

void cbi_rewrite_retarget(const cbi_rewrite *rw, uint32_t old, uint8_t *insn)
{
    int64_t offset;
    if (cbi_sass_opcode(insn) == CBI_OP_LEPC)
        rename_place(rw, old, insn);
    if (!cbi_rewrite_distance(insn, &offset) && !return_distance(insn, &offset))
        return;
    if (!offset && cbi_sass_opcode(insn) == CBI_OP_WARPSYNC)
        return; /* whatever stands behind it */
    int64_t target = (int64_t)(old + 1) * CBI_SASS_INSTRUCTION + offset;
    if (target >= 0 && (uint64_t)target <= rw->old_size)
        cbi_rewrite_set_distance(insn, (int64_t)cbi_rewrite_map(rw, (uint64_t)target) -
                                           (int64_t)rw->self[old] - CBI_SASS_INSTRUCTION);
}

bool *cbi_rewrite_targets(cbi_ctx *ctx, const uint8_t *text, uint32_t total)
{
    bool *target = CBI_NEW_ARRAY(ctx, total + 1, bool);
    for (uint32_t i = 0; i < total; i++) {
        int64_t offset;
        const uint8_t *insn = text + (size_t)i * CBI_SASS_INSTRUCTION;
        if (cbi_sass_opcode(insn) == CBI_OP_BSSY || !cbi_rewrite_distance(insn, &offset))
            continue;
        int64_t to = (int64_t)i + 1 + offset / CBI_SASS_INSTRUCTION;
        if (to >= 0 && to < total)
            target[to] = true;
    }
    return target;
}

/* The number of an instruction that writes the predicate and has a scoreboard for it; CBI_SB_NONE
 * for others. */
static uint32_t late_number(cbi_sass w, uint32_t predicate)
{
    uint32_t op = cbi_sass_op(w);
    bool with_sources = cbi_op_tests_with_sources(op);
    bool first = with_sources || cbi_op_has(op, CBI_OPF_TESTED) ||
                 (cbi_instruction_of(op)->predicates & CBI_PRED_W81);
    bool writes = (first && cbi_sass_first_result(w) == predicate) ||
                  (cbi_op_compares_doubles(op) && cbi_sass_second_result(w) == predicate);
    uint64_t number = with_sources ? cbi_sass_read(w) : cbi_sass_write(w);
    return writes ? (uint32_t)number : CBI_SB_NONE;
}

/* What an exit waits for because its guard comes late and the barrier needs it, too.  One bit, or
 * none. */
static uint32_t guard_wait(const uint8_t *text, uint32_t at)
{
    cbi_sass exit_insn = cbi_sass_load(text + (size_t)at * CBI_SASS_INSTRUCTION);
    uint32_t waits = cbi_sass_wait(exit_insn), guard = cbi_sass_guard(exit_insn), met = 0;
    for (uint32_t i = at; guard != CBI_SASS_PT && waits && i-- > 0;) {
        cbi_sass w = cbi_sass_load(text + (size_t)i * CBI_SASS_INSTRUCTION);
        uint32_t number = late_number(w, guard);
        if (number != CBI_SB_NONE)
            return waits & 1u << number & ~met;
        if (cbi_sass_op(w) == CBI_OP_BRA || cbi_sass_op(w) == CBI_OP_EXIT ||
            cbi_sass_writes_predicate(w, guard) || cbi_sass_compares_doubles(w, guard))
            break;
        met |= cbi_sass_wait(w); /* for it, not for who took its number again */
    }
    return 0;
}

/* Memory barrier, error barrier and cache invalidation under the exit's predicate.  Code that was
 * not scheduled (-O0) has the same control bits everywhere, but for the barrier itself. */
static void put_barrier(uint8_t *at, const uint8_t *exit_insn, uint32_t count, uint32_t waits,
                        unsigned last_stall, bool scheduled)
{
    enum { AT_EXIT = 0x50 << 8 }; /* kind of MEMBAR */
    static const uint16_t opcodes[CBI_BARRIER_LENGTH] = {CBI_OP_MEMBAR, CBI_OP_ERRBAR,
                                                         CBI_OP_CGAERRBAR};
    const cbi_sass leaves = cbi_sass_load(exit_insn);
    for (size_t i = CBI_BARRIER_LENGTH - count; i < CBI_BARRIER_LENGTH;
         i++, at += CBI_SASS_INSTRUCTION) {
        cbi_sass w = {.lo = opcodes[i] | (leaves.lo & 0xf000), .hi = i == 0 ? AT_EXIT : 0};
        cbi_sass_set_scoreboards(&w, CBI_SB_NONE << 3 | CBI_SB_NONE);
        if (i + 1 == CBI_BARRIER_LENGTH) {
            cbi_sass_set_stall(&w, last_stall);
            cbi_sass_set_yield(&w, last_stall <= CBI_PACE_LONGEST_HELD);
        }
        if (i == 1)
            cbi_sass_set_wait(&w, scheduled ? waits : cbi_sass_wait(leaves));
        if (!scheduled && i + 1 == CBI_BARRIER_LENGTH)
            cbi_sass_set_control(&w, cbi_sass_control(leaves));
        cbi_sass_store(at, w);
    }
}

static unsigned stall_of(const uint8_t *insn)
{
    return cbi_sass_stall(cbi_sass_load(insn));
}

static void set_stall(uint8_t *insn, unsigned stall)
{
    cbi_sass w = cbi_sass_load(insn);
    cbi_sass_set_stall(&w, stall);
    cbi_sass_store(insn, w);
}

static void keep_warp(uint8_t *insn)
{
    cbi_sass w = cbi_sass_load(insn);
    cbi_sass_set_yield(&w, 1);
    cbi_sass_store(insn, w);
}

/* Is the guard of the exit ready with a stall count of one in front of it? */
static bool is_guard_ready(const uint8_t *text, uint32_t at)
{
    uint32_t guard = cbi_sass_guard(cbi_sass_load(text + (size_t)at * CBI_SASS_INSTRUCTION));
    unsigned passed = 1;
    for (uint32_t i = at - 1; guard != CBI_SASS_PT && passed < PREDICATE_LATENCY;
         passed += stall_of(text + (size_t)(--i) * CBI_SASS_INSTRUCTION)) {
        const uint8_t *insn = text + (size_t)i * CBI_SASS_INSTRUCTION;
        if (cbi_sass_writes_predicate(cbi_sass_load(insn), guard))
            return false;
        if (!i)
            break;
    }
    return true;
}

/* A scoreboard must not be waited for by the next instruction at once; the barrier, which waits for
 * nothing, now comes between. */
static void shorten_last(uint8_t *insn, const uint8_t *text, uint32_t at)
{
    uint32_t waits = cbi_sass_wait(cbi_sass_load(text + (size_t)at * CBI_SASS_INSTRUCTION)) &
                     ~guard_wait(text, at);
    if (stall_of(insn) == 2 && (waits & cbi_sass_holds(cbi_sass_load(insn))) &&
        is_guard_ready(text, at))
        set_stall(insn, 1);
}

/* The reverse: the barrier in front of an exit goes, and the exit waits right behind `insn`.  True
 * if that gets a cycle more. */
static bool lengthen_last(uint8_t *insn, const uint8_t *exit_insn)
{
    uint32_t waits = cbi_sass_wait(cbi_sass_load(exit_insn));
    bool longer = stall_of(insn) == 1 && waits & cbi_sass_holds(cbi_sass_load(insn));
    if (longer)
        set_stall(insn, 2);
    return longer;
}

/* An arrival at a barrier of the cluster takes six cycles directly before an exit, one before its
 * barrier. */
static void settle_arrival(uint8_t *insn, unsigned from, unsigned to)
{
    if (cbi_sass_opcode(insn) == CBI_OP_UCGABAR_ARV && stall_of(insn) == from)
        set_stall(insn, to);
}

void cbi_rewrite_settle_exits(const cbi_rewrite *rw)
{
    for (size_t i = 0; i < rw->lengthened.len; i++) {
        uint8_t *insn = rw->text + rw->lengthened.items[i];
        uint32_t waits = cbi_sass_wait(cbi_sass_load(insn + CBI_SASS_INSTRUCTION));
        if (stall_of(insn) == 2 && !(waits & cbi_sass_holds(cbi_sass_load(insn))))
            set_stall(insn, 1);
    }
}

/* A long stall lets the warp go. */
static void lengthen(uint8_t *insn, unsigned stall)
{
    cbi_sass w = cbi_sass_load(insn);
    cbi_sass_set_stall(&w, stall);
    if (stall > CBI_PACE_LONGEST_HELD)
        cbi_sass_set_yield(&w, 0);
    cbi_sass_store(insn, w);
}

/* Arithmetic on doubles that has no scoreboard. */
static bool is_double_result(cbi_sass w)
{
    uint32_t op = cbi_sass_op(w);
    return cbi_instruction_of(op)->slow == CBI_SLOW_DOUBLE && !cbi_op_compares_doubles(op) &&
           cbi_sass_write(w) == CBI_SB_NONE;
}

/* Products of matrices that have no scoreboard, and when they are there for another block. */
static bool is_product(cbi_sass w)
{
    return cbi_instruction_of(cbi_sass_op(w))->shape == CBI_SHAPE_TENSOR &&
           cbi_sass_write(w) == CBI_SB_NONE;
}

static unsigned product_latency(cbi_sass w, uint32_t chip)
{
    enum { NEWER = 120, OF_NEWER = 29, INTEGERS_OF_NEWER = 27, OF_OTHERS = 20 };
    if (chip < NEWER)
        return OF_OTHERS;
    return cbi_sass_op(w) == CBI_OP_IMMA ? INTEGERS_OF_NEWER : OF_NEWER;
}

/* What waits behind an exit loses the cycles of the barrier: results of the block, from `start`,
 * are there in time for the first instruction of the next one. */
static void lengthen_exit(const cbi_rewrite *rw, uint8_t *insn, uint32_t start, uint32_t at,
                          const cbi_changes *changes)
{
    enum { DOUBLES = 11, FAR = 2 * CBI_SASS_STALL_MAX, MOST = EXIT_STALL + BARRIER_GAIN };
    const cbi_chip *chip = cbi_chip_find(changes->chip);
    unsigned passed = 0, need = EXIT_STALL, of_doubles = chip && chip->slow_doubles ? 0 : DOUBLES;
    if (stall_of(insn) != EXIT_STALL)
        return;
    for (uint32_t i = at; i-- > start && passed < FAR;) {
        if (changes->drop[i])
            continue;
        cbi_sass w = cbi_sass_load(rw->text + rw->self[i]);
        passed += cbi_sass_is_never(w) ? 0 : cbi_sass_stall(w); /* a load in front of a fence */
        cbi_operands operands;
        cbi_sass_operands(w, &operands);
        unsigned latency = is_double_result(w) ? of_doubles : cbi_pace_end_latency(w, &operands);
        if (is_product(w)) /* what it needed besides would be in the stall count */
            latency = cbi_larger(product_latency(w, changes->chip), passed) - passed < MOST
                          ? product_latency(w, changes->chip)
                          : passed + MOST;
        if (is_product(w) || cbi_op_kind(cbi_sass_op(w)) != CBI_KIND_OTHER)
            need = cbi_larger(latency, need + passed) - passed;
    }
    lengthen(insn, need);
}

/* Cycles from the comparison that writes a predicate to instruction `at`; 0: not one of the last,
 * or one with a scoreboard. */
static unsigned cycles_since(const uint8_t *text, uint32_t at, uint32_t predicate,
                             unsigned *ret_latency)
{
    enum { FAR = 2 * CBI_SASS_STALL_MAX };
    unsigned passed = 0;
    *ret_latency = PREDICATE_LATENCY;
    for (uint32_t i = at; i-- > 0 && passed < FAR;) {
        const uint8_t *insn = text + (size_t)i * CBI_SASS_INSTRUCTION;
        cbi_sass w = cbi_sass_load(insn);
        bool doubles = cbi_op_compares_doubles(cbi_sass_op(w));
        passed += cbi_sass_is_never(w) ? 0 : stall_of(insn); /* a load in front of a fence */
        *ret_latency =
            doubles || cbi_sass_compares_long(w) ? PREDICATE_LATENCY + 1 : PREDICATE_LATENCY;
        if (cbi_sass_writes_predicate(w, predicate) || cbi_sass_compares_doubles(w, predicate))
            return cbi_sass_write(w) == CBI_SB_NONE ? passed : 0;
    }
    return 0;
}

/* Does an instruction, perhaps directly in front, keep what comes behind it waiting? */
typedef bool holds_up(uint32_t op, bool directly);

/* How many of `least` cycles are left behind the last such instruction in front of `at`, when
 * `passed` go by from the instruction directly in front on, without its stall count. */
static unsigned cycles_left(const uint8_t *text, uint32_t at, unsigned passed, unsigned least,
                            holds_up *holds)
{
    for (uint32_t i = at; i-- > 0 && passed < least;) {
        const uint8_t *insn = text + (size_t)i * CBI_SASS_INSTRUCTION;
        uint32_t op = cbi_sass_opcode(insn);
        passed += i + 1 < at ? stall_of(insn) : 0;
        if (holds(op, i + 1 == at))
            return passed < least ? least - passed : 0;
        if (cbi_op_kind(op) == CBI_KIND_CONTROL)
            return 0;
    }
    return 0;
}

static bool holds_up_barrier(uint32_t op, bool directly)
{
    (void)directly;
    return cbi_op_is_spaced(op);
}

static bool holds_up_warp(uint32_t op, bool directly)
{
    return cbi_op_is_barrier(op) || (op == CBI_OP_MEMBAR && directly);
}

/* By how many cycles the last part of a barrier, a cycle behind the rest, comes later than the
 * instruction in front of it lets it, which takes `stall`: it is 8 behind what the unit for
 * constants and special registers does. */
static unsigned barrier_delay(const uint8_t *text, uint32_t at, unsigned stall)
{
    enum { BEHIND = 8 };
    return cycles_left(text, at, stall + 1, BEHIND, holds_up_barrier);
}

/* The least stall count of the instruction in front of an exit's barrier, for a fence there or a
 * BAR before, which may let the warp go on at once. */
static unsigned need_behind_bars(const uint8_t *text, uint32_t at)
{
    enum { BEHIND = 6 };
    return cycles_left(text, at, 0, BEHIND, holds_up_warp);
}

/* Stall counts of the instruction in front of a barrier, and of the barrier's last one. */
typedef struct barrier_stalls {
    unsigned before, last;
} barrier_stalls;

/* The second predicate of an exit is read behind the barrier, the guard in front of it.  So a stall
 * count that was for the second one becomes what the guard needs, and the barrier takes the rest.
 */
static barrier_stalls plan_stalls(const uint8_t *text, uint32_t at)
{
    enum { HALVES_STALL = 2, DEPBAR_STALL = 4, WARP_STALL = 5 };
    cbi_sass w = cbi_sass_load(text + (size_t)at * CBI_SASS_INSTRUCTION);
    uint32_t guard = cbi_sass_guard(w), second = cbi_sass_read_predicate(w);
    barrier_stalls stalls = {.last = LAST_STALL};
    if (!at)
        return stalls;
    const uint8_t *front = text + (size_t)(at - 1) * CBI_SASS_INSTRUCTION;
    unsigned latency, guard_latency, stall = stalls.before = stall_of(front);
    unsigned since = second == CBI_SASS_PT ? 0 : cycles_since(text, at, second, &latency);
    const bool warp = cbi_op_has(cbi_sass_opcode(front), CBI_OPF_WARP);
    if (!since || since != latency ||
        (cbi_op_kind(cbi_sass_opcode(front)) == CBI_KIND_CONTROL && !warp))
        return stalls;
    uint32_t late = guard_wait(text, at);
    unsigned need = late & cbi_sass_holds(cbi_sass_load(front)) ? 2 : 1, earlier = since - stall;
    need = cbi_larger(need, need_behind_bars(text, at));
    if (cbi_sass_does_halves(cbi_sass_load(front)))
        need = cbi_larger(need, HALVES_STALL);
    if (cbi_sass_opcode(front) == CBI_OP_DEPBAR)
        need = cbi_larger(need, DEPBAR_STALL);
    if (warp)
        need = cbi_larger(need, WARP_STALL);
    unsigned of_guard =
        guard == CBI_SASS_PT || late ? 0 : cycles_since(text, at, guard, &guard_latency);
    if (of_guard)
        need = cbi_larger(guard_latency + stall, need + of_guard) - of_guard;
    if (need >= stall)
        return stalls;
    stalls.before = need;
    unsigned passed = need + earlier + barrier_delay(text, at, need);
    /* the parts of the barrier before its last one count as one cycle */
    stalls.last = cbi_larger(latency - 1, passed + LAST_STALL) - passed;
    return stalls;
}

/* Does instruction `at` keep the warp with this stall count?  Arithmetic does with two cycles only
 * if the warp may go on to another one every eleven cycles. */
static bool keeps_warp(const uint8_t *text, uint32_t at, unsigned stall)
{
    enum { PAIR = 2 };
    cbi_sass now = cbi_sass_load(text + (size_t)at * CBI_SASS_INSTRUCTION);
    unsigned since = stall;
    uint32_t kind = cbi_sass_op(now);
    bool fixed = cbi_pace_is_math(kind) || kind == CBI_OP_NOP || is_double_result(now) ||
                 cbi_op_compares_doubles(kind);
    if (kind == CBI_OP_DEPBAR || kind == CBI_OP_ACQBULK)
        return stall < PAIR;
    if (!fixed || cbi_sass_holds(now) || is_product(now))
        return stall <= CBI_PACE_LONGEST_HELD;
    if (stall != PAIR)
        return stall < PAIR;
    for (uint32_t i = at; i-- > 0 && since <= CBI_PACE_LONGEST_HELD;) {
        const uint8_t *insn = text + (size_t)i * CBI_SASS_INSTRUCTION;
        cbi_sass w = cbi_sass_load(insn);
        uint32_t op = cbi_sass_op(w);
        if (!cbi_sass_yield(w) || op == CBI_OP_BPT || cbi_op_kind(op) == CBI_KIND_CONTROL)
            break;
        since += cbi_sass_is_never(w) ? 0 : stall_of(insn);
    }
    return since <= CBI_PACE_LONGEST_HELD;
}

/* text: the code as it was. */
static void shorten_for_second(uint8_t *insn, const uint8_t *text, uint32_t at, unsigned stall)
{
    if (stall >= stall_of(text + (size_t)at * CBI_SASS_INSTRUCTION))
        return;
    set_stall(insn, stall);
    if (keeps_warp(text, at, stall))
        keep_warp(insn);
}

/* Without the barrier the second predicate of an exit is read earlier.  The instruction is the last
 * one before it. */
static void lengthen_for_second(uint8_t *insn, const uint8_t *text, uint32_t at,
                                const uint8_t *exit_insn)
{
    uint32_t second = cbi_sass_read_predicate(cbi_sass_load(exit_insn));
    unsigned latency, since = 0, stall = stall_of(insn);
    if (second != CBI_SASS_PT)
        since = cycles_since(text, at + 1, second, &latency);
    if (!since || since >= latency || stall + latency - since > CBI_SASS_STALL_MAX)
        return;
    lengthen(insn, stall + latency - since);
    cbi_sass w = cbi_sass_load(insn);
    cbi_sass_set_yield(&w, cbi_sass_yield(w) && keeps_warp(text, at, cbi_sass_stall(w)));
    cbi_sass_store(insn, w);
}

/* Instructions up to and including the final branch to itself. */
static uint32_t code_count(const uint8_t *text, uint32_t total)
{
    while (total &&
           cbi_sass_opcode(text + (size_t)(total - 1) * CBI_SASS_INSTRUCTION) == CBI_OP_NOP)
        total--;
    return total;
}

/* Where each instruction goes, with its barrier and by itself, and the size of it all: what is left
 * is padded to a multiple of 8, with 8 to spare.  Returns how many instructions stay. */
static uint32_t plan_places(cbi_rewrite *rw, uint32_t used, const cbi_changes *changes)
{
    enum { PADDED_TO = 8 };
    uint32_t total = (uint32_t)(rw->old_size / CBI_SASS_INSTRUCTION), kept = 0;
    for (uint32_t i = 0; i < used; i++) {
        kept += changes->more[i];
        uint32_t at = kept, old = changes->pause[i] - changes->more[i];
        kept += changes->barrier[i];
        if (changes->barrier[i] && old) { /* which goes in front of the NOPs */
            at -= old;
            for (uint32_t k = i - old; k < i; k++)
                rw->place[k] = rw->self[k] += changes->barrier[i] * CBI_SASS_INSTRUCTION;
        }
        if (changes->bare[i] && changes->pause[i]) /* so its rows are the exit's own */
            for (uint32_t k = i - old; k-- > 0 && changes->drop[k];)
                rw->place[k] = rw->self[k] = kept * CBI_SASS_INSTRUCTION;
        rw->place[i] = at * CBI_SASS_INSTRUCTION;
        rw->self[i] = kept * CBI_SASS_INSTRUCTION;
        kept += !changes->drop[i];
    }
    uint32_t padded = (kept + 2 * PADDED_TO - 1) / PADDED_TO * PADDED_TO;
    for (uint32_t i = used; i <= total; i++) {
        uint32_t at = kept + (i - used);
        rw->place[i] = rw->self[i] = (at < padded ? at : padded) * CBI_SASS_INSTRUCTION;
    }
    rw->place[total] = rw->self[total] = padded * CBI_SASS_INSTRUCTION;
    rw->size = (uint64_t)padded * CBI_SASS_INSTRUCTION;
    return kept;
}

/* Does a dropped instruction, and nothing but such, stand between instruction i and an exit?  The
 * exit, or NULL. */
static const uint8_t *exit_behind_dropped(const uint8_t *old, uint32_t i, uint32_t used,
                                          const cbi_changes *changes)
{
    uint32_t next = i + 1;
    while (next < used && changes->drop[next])
        next++;
    bool is_bare = next < used && next > i + 1 && changes->bare[next] && !changes->pause[next];
    return is_bare ? old + (size_t)next * CBI_SASS_INSTRUCTION : NULL;
}

static bool is_exit(const uint8_t *text, uint32_t at)
{
    return cbi_sass_opcode(text + (size_t)at * CBI_SASS_INSTRUCTION) == CBI_OP_EXIT;
}

static bool ends_block(const uint8_t *insn)
{
    uint32_t op = cbi_sass_opcode(insn);
    return cbi_op_has(op, CBI_OPF_BRANCH) || cbi_op_has(op, CBI_OPF_CALL);
}

/* Bytes for an instruction, and one behind the last. */
static size_t changes_size(uint32_t total)
{
    return ((size_t)total + 1) * (sizeof(uint32_t) + 3 * sizeof(bool) + 3 * sizeof(uint8_t));
}

cbi_changes cbi_changes_none(cbi_ctx *ctx, uint32_t total)
{
    const size_t count = (size_t)total + 1;
    uint32_t *cycles = cbi_alloc(ctx, changes_size(total));
    uint8_t *rest = (uint8_t *)(cycles + count);
    return (cbi_changes){.cycles = cycles,
                         .drop = (bool *)rest,
                         .bare = (bool *)(rest + count),
                         .idle = (bool *)(rest + 2 * count),
                         .barrier = rest + 3 * count,
                         .pause = rest + 4 * count,
                         .more = rest + 5 * count};
}

void cbi_changes_forget(cbi_ctx *ctx, cbi_changes *changes, uint32_t total)
{
    cbi_take_back(ctx, changes->cycles, changes_size(total));
    *changes = (cbi_changes){0};
}

/* Cycles that the instruction in front of a barrier gives up, and the barrier does not take. */
static unsigned given_up(const uint8_t *text, uint32_t at)
{
    barrier_stalls stalls = plan_stalls(text, at);
    unsigned had = (at ? stall_of(text + (size_t)(at - 1) * CBI_SASS_INSTRUCTION) : 0) + LAST_STALL;
    unsigned now = stalls.before + stalls.last;
    return at && had > now ? had - now : 0;
}

/* Cycles that the instruction in front of a barrier gets back when that goes. */
static unsigned given_back(const uint8_t *text, uint32_t at, const bool *drop)
{
    uint8_t insn[CBI_SASS_INSTRUCTION];
    uint32_t front = at;
    while (front > 0 && drop[front - 1])
        front--;
    if (front == at || front-- == 0)
        return 0;
    memcpy(insn, text + (size_t)front * CBI_SASS_INSTRUCTION, sizeof insn);
    unsigned had = stall_of(insn);
    lengthen_for_second(insn, text, front, text + (size_t)at * CBI_SASS_INSTRUCTION);
    return cbi_larger(stall_of(insn), had) - had;
}

void cbi_rewrite_plan_exit(const uint8_t *text, const bool *target, uint32_t at,
                           cbi_changes *changes)
{
    enum { MOST = 8 }; /* NOPs */
    unsigned cycles = stall_of(text + (size_t)at * CBI_SASS_INSTRUCTION);
    bool gains = changes->bare[at];
    uint32_t had = 0;
    if (cbi_sass_is_unscheduled(cbi_sass_load(text)) || cycles <= EXIT_STALL)
        return;
    while (had < MOST && had < at && changes->idle[at - 1 - had] && !target[at - had])
        cycles += stall_of(text + (size_t)(at - ++had) * CBI_SASS_INSTRUCTION);
    if (gains)
        cycles =
            cbi_larger(cycles + BARRIER_GAIN - given_back(text, at, changes->drop), EXIT_STALL);
    else
        cycles = cbi_larger(cycles + given_up(text, at), EXIT_STALL + BARRIER_GAIN) - BARRIER_GAIN;
    uint32_t need = (cycles - 1) / CBI_SASS_STALL_MAX;
    changes->cycles[at] = cycles;
    changes->pause[at] = (uint8_t)need;
    changes->more[at] = (uint8_t)(need > had ? need - had : 0);
    for (uint32_t k = need; k < had; k++)
        changes->drop[at - 1 - k] = true;
}

/* NOPs in front of an exit, and its own stall count. */
static void put_pauses(const cbi_rewrite *rw, uint8_t *insn, uint32_t cycles, uint32_t pauses)
{
    uint8_t *nop = insn - (size_t)pauses * CBI_SASS_INSTRUCTION;
    cbi_sass w = cbi_sass_load(insn);
    cbi_sass_set_stall(&w, cycles < CBI_SASS_STALL_MAX ? cycles : CBI_SASS_STALL_MAX);
    cbi_sass_set_yield(&w, cycles <= CBI_PACE_LONGEST_HELD);
    cbi_sass_store(insn, w);
    for (uint32_t left = cycles; left > CBI_SASS_STALL_MAX && nop >= rw->text;
         nop += CBI_SASS_INSTRUCTION) {
        left -= CBI_SASS_STALL_MAX;
        cbi_sass filler = {.lo = CBI_OP_NOP | CBI_SASS_PT << 12};
        cbi_sass_set_scoreboards(&filler, CBI_SB_NONE << 3 | CBI_SB_NONE);
        cbi_sass_set_stall(&filler, left < CBI_SASS_STALL_MAX ? left : CBI_SASS_STALL_MAX);
        cbi_sass_store(nop, filler);
    }
}

/* Each instruction goes with what its changed neighbours ask of it. */
void cbi_rewrite_move(cbi_ctx *ctx, cbi_rewrite *rw, const uint8_t *old, const bool *target,
                      const cbi_changes *changes)
{
    const bool *drop = changes->drop;
    const uint8_t *barrier = changes->barrier;
    uint32_t total = (uint32_t)(rw->old_size / CBI_SASS_INSTRUCTION);
    uint32_t used = code_count(old, total);
    uint32_t kept = plan_places(rw, used, changes);
    bool scheduled = !used || !cbi_sass_is_unscheduled(cbi_sass_load(old));
    rw->text = cbi_alloc(ctx, rw->size);
    uint32_t left = 0; /* for what the guard of a barrier that goes waited, and its exit does now */
    barrier_stalls stalls, next = used ? plan_stalls(old, 0) : (barrier_stalls){0};
    for (uint32_t i = 0, start = 0; i < used; i++) {
        const uint8_t *from = old + (size_t)i * CBI_SASS_INSTRUCTION;
        if (target[i] || (i && ends_block(from - CBI_SASS_INSTRUCTION)))
            start = i;
        bool at_exit = barrier[i] && is_exit(old, i);
        bool meets_exit = i + 1 < used && barrier[i + 1] && is_exit(old, i + 1);
        uint32_t waits = at_exit ? guard_wait(old, i) : 0;
        stalls = next;
        if (meets_exit)
            next = plan_stalls(old, i + 1);
        if (at_exit)
            put_barrier(rw->text + rw->place[i], from, barrier[i], waits, stalls.last, scheduled);
        else if (barrier[i])
            cbi_fences_put(rw->text + rw->place[i], from, barrier[i]);
        if (drop[i]) {
            left |= cbi_sass_opcode(from) == CBI_OP_ERRBAR ? cbi_sass_wait(cbi_sass_load(from)) : 0;
            continue;
        }
        uint8_t *insn = rw->text + rw->self[i];
        cbi_sass w = cbi_sass_load(from);
        cbi_sass_add_wait(&w, left);
        if (scheduled)
            cbi_sass_set_wait(&w, cbi_sass_wait(w) & ~waits);
        cbi_sass_store(insn, w);
        left = 0;
        if (changes->cycles[i])
            put_pauses(rw, insn, changes->cycles[i], changes->pause[i]);
        if (meets_exit) {
            shorten_last(insn, old, i + 1);
            shorten_for_second(insn, old, i, next.before);
            settle_arrival(insn, ARRIVAL_STALL, 1);
        }
        const uint8_t *exit = exit_behind_dropped(old, i, used, changes);
        if (exit) {
            settle_arrival(insn, 1, ARRIVAL_STALL);
            lengthen_for_second(insn, old, i, exit);
            if (lengthen_last(insn, exit))
                cbi_vec_push(ctx, &rw->lengthened, rw->self[i]);
        }
        if (changes->bare[i] && !changes->cycles[i])
            lengthen_exit(rw, insn, start, i, changes);
        cbi_rewrite_retarget(rw, i, insn);
    }
    const uint8_t *filler = old + (size_t)(total - 1) * CBI_SASS_INSTRUCTION;
    for (uint64_t at = (uint64_t)kept * CBI_SASS_INSTRUCTION; at < rw->size;
         at += CBI_SASS_INSTRUCTION)
        memcpy(rw->text + at, filler, CBI_SASS_INSTRUCTION);
}

uint8_t cbi_rewrite_barrier_length(const uint8_t *text, const bool *target, uint32_t at,
                                   bool may_drop)
{
    const uint8_t *before = text + (size_t)at * CBI_SASS_INSTRUCTION - CBI_SASS_INSTRUCTION;
    bool fenced = at && cbi_sass_opcode(before) == CBI_OP_MEMBAR && before[9] == 0 && !target[at];
    return may_drop || fenced ? CBI_BARRIER_LENGTH - 1 : CBI_BARRIER_LENGTH;
}
