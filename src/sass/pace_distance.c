/* Cycles between two instructions that nothing else watches over, by what they do, the registers
 * and predicates that they have in common, and the units that do them.  docs/code-rewriting.md has
 * the table and how it was found. */
#include "format/arch.h"
#include "sass/pace_distance.h"

/* The ALU of sm_120 and later reads its own results, predicates as well, a cycle later. */
static bool has_late_alu(const cbi_sb_code *c)
{
    const cbi_chip *chip = cbi_chip_find(c->chip);
    return chip && chip->late_alu;
}

uint32_t cbi_pace_occupancy(uint32_t op)
{
    enum { DOUBLE = 64 };
    uint8_t slow = cbi_instruction_of(op)->slow;
    return slow == CBI_SLOW_NONE ? 0 : slow == CBI_SLOW_DMMA ? CBI_SB_PRODUCT_OF_DOUBLES : DOUBLE;
}

/* The same with the other products of matrices, which wait for the unit, too. */
static uint32_t unit_time(cbi_sass w)
{
    enum { MATRIX = 8 };
    uint32_t op = cbi_sass_op(w), slow = cbi_pace_occupancy(op);
    bool other = !slow && cbi_instruction_of(op)->shape == CBI_SHAPE_TENSOR;
    return other ? (uint32_t)MATRIX + cbi_sass_is_sparse(w) : slow;
}

/* Code that stays on its chip, which has no slow unit for doubles. */
static bool has_own_doubles(const cbi_sb_code *c)
{
    return (c->anew || c->follows) && !cbi_sb_has_slow_doubles(c);
}

uint32_t cbi_pace_slow_time(const cbi_sb_code *c, uint32_t i)
{
    return has_own_doubles(c) ? 0 : unit_time(c->words[i]);
}

bool cbi_pace_goes_on_at(const cbi_sb_code *c, uint32_t i)
{
    return i && cbi_sb_op(c, i - 1) == CBI_OP_WARPSYNC &&
           cbi_sass_signed_guard(c->words[i - 1]) != CBI_SASS_PT;
}

uint32_t cbi_pace_unit_cycles(cbi_sass w, uint32_t cycles)
{
    if (cbi_sass_is_never(w))
        return 0;
    return cbi_sass_op(w) == CBI_OP_ERRBAR && !cycles ? 1 : cycles;
}

enum {
    FAR = CBI_PACE_FAR,
    READ_TIME = 2,
    AFTER_HMMA = 19,   /* its result is there */
    HMMA_TO_HMMA = 20, /* for another one */
    GUARD_LATENCY = 13,
    SPECIAL_CYCLES = 8,
    MOVE_TO_BRANCH = 3,
    SLOW_EXPLAINS = CBI_PACE_SLOW_EXPLAINS,
    CONTROL_STALL = CBI_PACE_CONTROL,
    BARRIER_STALL = CBI_PACE_BARRIER,
};

typedef cbi_sass_kind kind;

bool cbi_pace_is_late(kind k)
{
    return k >= CBI_KIND_MEMORY && k <= CBI_KIND_SLOW;
}

bool cbi_pace_is_watched(const cbi_sb_code *c, uint32_t i)
{
    kind k = cbi_op_kind(cbi_sb_op(c, i));
    return cbi_pace_is_late(k) ||
           (k == CBI_KIND_OTHER && cbi_sass_write(c->words[i]) != CBI_SB_NONE);
}

/* ---- predicates ---- */

typedef cbi_pace_flags flags;

static uint8_t one(cbi_sass w, unsigned low)
{
    uint64_t p = cbi_sass_bits(w, low, 3);
    return p == CBI_SASS_PT ? 0 : (uint8_t)(1u << p);
}

/* Instructions that have zeros where others name predicates, at least where those write them. */
static bool has_no_predicates(uint32_t op)
{
    return op == CBI_OP_BMOV_352 || op == CBI_OP_BMOV_353 || op == CBI_OP_BMOV_355 ||
           op == CBI_OP_BMOV_356 || op == CBI_OP_NOP || op == CBI_OP_WARPSYNC_R ||
           op == CBI_OP_ENDCOLLECTIVE || op == CBI_OP_YIELD || op == CBI_OP_DEPBAR ||
           op == CBI_OP_PMTRIG || op == CBI_OP_BPT || op == CBI_OP_BREAK ||
           cbi_op_has(op, CBI_OPF_FENCE) || cbi_instruction_of(op)->shape == CBI_SHAPE_TENSOR;
}

static flags flags_of(cbi_sass w)
{
    uint32_t op = cbi_sass_op(w);
    kind k = cbi_op_kind(op);
    cbi_predicates p = cbi_sass_predicates(w);
    if (op == CBI_OP_VOTEU)
        return (flags){.guard = p.guard, .uniform_written = p.written, .read = p.read};
    if (cbi_kind_is_uniform(k))
        return (flags){
            .uniform_guard = p.guard, .uniform_read = p.read, .uniform_written = p.written};
    if (cbi_op_is_uniform(op))
        return (flags){.uniform_guard = p.guard};
    flags f = {.guard = p.guard, .read = p.read, .written = p.written};
    if (op == CBI_OP_BRA_U)
        f.uniform_guard = one(w, 24);
    if (cbi_sass_joins_uniform(w))
        f.uniform_read |= one(w, 68);
    if (k == CBI_KIND_OTHER && !has_no_predicates(op)) { /* nobody knows */
        f.read |= one(w, 87);
        f.written |= one(w, 81);
    }
    return f;
}

/* ---- distances ---- */

/* Products of integers and arithmetic on floats are of one unit. */
static bool multiplies(kind k)
{
    return k == CBI_KIND_MULTIPLY || k == CBI_KIND_FLOAT;
}

/* From an instruction that writes a general register, without a scoreboard, to one that reads it.
 */
static uint32_t result_latency(kind from, kind to)
{
    if (from == CBI_KIND_COUNTER)
        return to == CBI_KIND_OTHER ? FAR : 5;
    if (!cbi_kind_is_math(from))
        return FAR;
    if (from == CBI_KIND_PAIR && to != CBI_KIND_PAIR &&
        (cbi_kind_is_math(to) || to == CBI_KIND_MEMORY))
        return to == CBI_KIND_ALU ? 5 : 6;
    switch (to) {
    case CBI_KIND_SLOW:
        return 6;
    case CBI_KIND_MEMORY:
        return 5;
    case CBI_KIND_CONVERT:
    case CBI_KIND_CONSTANT:
    case CBI_KIND_SPECIAL:
    case CBI_KIND_REMOTE:
        return 4;
    case CBI_KIND_ALU:
    case CBI_KIND_TO_UNIFORM:
        return from == CBI_KIND_ALU ? 4 : 5;
    case CBI_KIND_WIDE:
        return from == CBI_KIND_MULTIPLY ? 4 : 5;
    case CBI_KIND_MULTIPLY:
    case CBI_KIND_FLOAT:
        return multiplies(from) ? 4 : 5;
    case CBI_KIND_HALF:
    case CBI_KIND_PAIR:
    case CBI_KIND_HALF_ALU:
        return from == to ? 4 : 5;
    default:
        return FAR;
    }
}

/* From a product of 64 bits, or the upper half of one, to arithmetic that reads it; `of`: what that
 * reads of it, and perhaps others. */
static uint32_t wide_latency(cbi_sass from, cbi_sass to, const cbi_operands *of)
{
    uint32_t low = (uint32_t)cbi_sass_bits(from, 16, 8), op = cbi_sass_op(to);
    bool upper = cbi_op_is_form_of(cbi_sass_op(from), CBI_OP_IMAD_HI);
    uint32_t high = upper ? low : low + 1;
    switch (cbi_op_kind(op)) {
    case CBI_KIND_ALU:
    case CBI_KIND_TO_UNIFORM:
    case CBI_KIND_PAIR:
        return cbi_regset_has(&of->read, high) ? 5 : 3;
    case CBI_KIND_MULTIPLY:
        return 4;
    case CBI_KIND_WIDE: {
        uint32_t a = (uint32_t)cbi_sass_bits(to, 24, 8), b = (uint32_t)cbi_sass_bits(to, 32, 8);
        bool factor = a == low || a == high ||
                      (op == CBI_OP_IMAD_WIDE && (b == low || b == high)) ||
                      cbi_op_is_form_of(op, CBI_OP_IMAD_HI);
        return factor ? 6 : 4;
    }
    case CBI_KIND_MEMORY:
        return 5;
    default:
        return FAR;
    }
}

static bool is_arithmetic(kind k)
{
    return cbi_kind_is_math(k) || k == CBI_KIND_COUNTER;
}

/* From one that writes a register to another that writes it. */
static uint32_t rewrite_latency(kind from, kind to)
{
    if (cbi_pace_is_late(to))
        return is_arithmetic(from) ? 6 : FAR;
    if (from == CBI_KIND_COUNTER && is_arithmetic(to))
        return 2;
    if (cbi_kind_is_math(from) && to == CBI_KIND_COUNTER)
        return 5;
    if (!cbi_kind_is_math(from) || !cbi_kind_is_math(to))
        return FAR;
    bool integers = (from == CBI_KIND_ALU || from == CBI_KIND_MULTIPLY) &&
                    (to == CBI_KIND_ALU || to == CBI_KIND_MULTIPLY);
    bool products = (from == CBI_KIND_MULTIPLY || from == CBI_KIND_WIDE) &&
                    (to == CBI_KIND_MULTIPLY || to == CBI_KIND_WIDE);
    bool multiplied = multiplies(from) && multiplies(to);
    return integers || products || multiplied || from == to ? 1 : 5;
}

static uint32_t uniform_latency(kind from, kind to)
{
    if (from == CBI_KIND_UNIFORM_MOVE)
        return to == CBI_KIND_CONTROL ? MOVE_TO_BRANCH
               : to == CBI_KIND_OTHER || to == CBI_KIND_LATE || to >= CBI_KIND_CONTROL ? FAR
                                                                                       : 2;
    if (from == CBI_KIND_TO_UNIFORM)
        return GUARD_LATENCY;
    if (from == CBI_KIND_UNIFORM)
        return cbi_kind_is_math(to)                             ? 6
               : to == CBI_KIND_UNIFORM                         ? 4
               : to == CBI_KIND_MEMORY || to == CBI_KIND_REMOTE ? 9
                                                                : FAR;
    return FAR;
}

/* The same for those that write it. */
static uint32_t uniform_rewrite(kind from, kind to)
{
    if (from == CBI_KIND_UNIFORM && to == CBI_KIND_UNIFORM)
        return 4;
    if (from == CBI_KIND_TO_UNIFORM && to == CBI_KIND_TO_UNIFORM)
        return 2;
    if (from == CBI_KIND_UNIFORM && (to == CBI_KIND_UNIFORM_MOVE || to == CBI_KIND_TO_UNIFORM))
        return 7;
    if (from == CBI_KIND_TO_UNIFORM && to == CBI_KIND_UNIFORM_MOVE)
        return 11;
    bool moved = from == CBI_KIND_UNIFORM_MOVE;
    if (cbi_pace_is_late(to))
        return moved ? 4 : from == CBI_KIND_UNIFORM ? 11 : from == CBI_KIND_TO_UNIFORM ? 14 : FAR;
    return moved && (to == CBI_KIND_TO_UNIFORM || cbi_kind_is_uniform(to)) ? 3 : FAR;
}

static bool is_population(cbi_sass w)
{
    return cbi_sass_op(w) == CBI_OP_POPC || cbi_sass_op(w) == CBI_OP_POPC_U;
}

bool cbi_pace_is_power(cbi_sass w)
{
    enum { FUNCTION = 74, POWER_OF_TWO = 2 };
    uint32_t op = cbi_sass_op(w);
    return (op == CBI_OP_MUFU || op == CBI_OP_MUFU_U) &&
           cbi_sass_bits(w, FUNCTION, 6) == POWER_OF_TWO;
}

/* Between two of the unit for special functions, which POPC does not use on the target. */
static uint32_t special_distance(cbi_sass from, cbi_sass to)
{
    if (is_population(from) || is_population(to))
        return 1;
    return cbi_pace_is_power(from) ? 4 : SPECIAL_CYCLES;
}

/* HSETP2, which is slower on sm_100. */
static bool compares_halves(uint32_t op)
{
    return cbi_op_kind(op) == CBI_KIND_HALF_ALU &&
           cbi_instruction_of(op)->predicates & CBI_PRED_W81;
}

/* Between any two of the kinds that share a unit; 0: they do not. */
static uint32_t shared_unit_distance(kind from, kind to, uint32_t op, uint32_t next)
{
    from = from == CBI_KIND_HALF_ALU ? CBI_KIND_ALU : from;
    to = to == CBI_KIND_HALF_ALU ? CBI_KIND_ALU : to;
    bool alu = from == CBI_KIND_ALU || from == CBI_KIND_TO_UNIFORM || from == CBI_KIND_COUNTER;
    if (alu && (to == CBI_KIND_ALU || to == CBI_KIND_TO_UNIFORM || to == CBI_KIND_COUNTER))
        return 2;
    if (to >= CBI_KIND_MULTIPLY && to <= CBI_KIND_HALF && from >= CBI_KIND_MULTIPLY &&
        from <= CBI_KIND_HALF)
        return from == CBI_KIND_WIDE ? 4 : from == CBI_KIND_FLOAT ? 1 : 2;
    if ((from == CBI_KIND_MEMORY || op == CBI_OP_LDGDEPBAR) &&
        (to == CBI_KIND_MEMORY || next == CBI_OP_LDGDEPBAR || next == CBI_OP_B2R))
        return 4;
    if (cbi_op_is_spaced(op) && cbi_op_is_spaced(next))
        return 8;
    return op == CBI_OP_B2R && to == CBI_KIND_MEMORY ? 4 : 0;
}

/* Between any two of the kinds: they share a unit, or the first one has a stall of its own. */
static uint32_t unit_distance(kind from, kind to, uint32_t op, uint32_t next, bool adjacent)
{
    if (from == CBI_KIND_PAIR)
        return 2;
    uint32_t shared = shared_unit_distance(from, to, op, next);
    if (shared)
        return shared;
    if (cbi_kind_is_uniform(from))
        return adjacent && from == CBI_KIND_UNIFORM && to == CBI_KIND_UNIFORM ? 2 : 1;
    if (op == CBI_OP_BSSY && (to == CBI_KIND_CONTROL || next == CBI_OP_BMOV_355) &&
        (adjacent || next != CBI_OP_BSSY))
        return 4;
    bool plain = cbi_kind_is_math(to) || to == CBI_KIND_COUNTER || to == CBI_KIND_TO_UNIFORM ||
                 to == CBI_KIND_UNIFORM || to == CBI_KIND_SLOW;
    if (cbi_op_is_barrier(op))
        return plain || next == CBI_OP_HMMA || next == CBI_OP_NOP ? 1 : BARRIER_STALL;
    if (op == CBI_OP_B2R)
        return plain || !adjacent ? 1 : FAR;
    bool known = (from != CBI_KIND_OTHER || op == CBI_OP_HMMA) && from != CBI_KIND_CONTROL &&
                 from != CBI_KIND_CALL;
    return known || !adjacent || op == CBI_OP_BSSY ? 1 : FAR;
}

typedef cbi_pace_uses uses;

uses cbi_pace_uses_of(const cbi_sb_code *c, uint32_t j)
{
    return (uses){c->operands[j], flags_of(c->words[j])};
}

static void remove_registers(cbi_regset *set, const cbi_regset *gone)
{
    for (size_t k = 0; k < CBI_COUNT(set->w); k++)
        set->w[k] &= ~gone->w[k];
}

void cbi_pace_hide(const cbi_sb_code *c, uint32_t i, uses *of)
{
    const cbi_operands *a = &c->operands[i];
    flags f = flags_of(c->words[i]);
    if (cbi_sass_signed_guard(c->words[i]) != CBI_SASS_PT)
        return;
    remove_registers(&of->registers.read, &a->written);
    remove_registers(&of->registers.written, &a->written);
    remove_registers(&of->registers.uniform_read, &a->uniform_written);
    remove_registers(&of->registers.uniform_written, &a->uniform_written);
    of->predicates.guard &= (uint8_t)~f.written;
    of->predicates.read &= (uint8_t)~f.written;
}

/* Nothing comes later for a NOP, nor, but for its own stall, for the ends of a collective sequence.
 */
static bool delays_nothing(uint32_t op, bool adjacent)
{
    return op == CBI_OP_NOP ||
           ((op == CBI_OP_ENDCOLLECTIVE || op == CBI_OP_WARPSYNC_R) && !adjacent);
}

/* Does the instruction read predicates as late as guards? */
static bool waits_long(uint32_t op)
{
    const kind k = cbi_op_kind(op);
    return k == CBI_KIND_CONTROL || k == CBI_KIND_MEMORY || op == CBI_OP_VOTE || op == CBI_OP_VOTEU;
}

/* The parts of a fence are one instruction of Mercury code. */
static bool is_part_of_fence(const cbi_sb_code *c, uint32_t i)
{
    return cbi_op_has(cbi_sb_op(c, i), CBI_OPF_FENCE) || cbi_sass_is_dummy_load(c->words[i]);
}

enum { BOTH_HALVES = 2 }; /* cycles of an operation that does 64 bits in two halves */

/* A BAR that only arrives, waits for one by itself or adds up: what follows comes later. */
static bool is_slow_barrier(cbi_sass w)
{
    enum { SYNC = 0x100 };
    return cbi_op_is_barrier(cbi_sass_op(w)) && cbi_sass_bits(w, 72, 9) != SYNC;
}

/* From an instruction that writes uniform predicates to one whose guard they are. */
static uint32_t uniform_guard_latency(uint32_t op, uint32_t next)
{
    enum { OF_VOTE = 5, OF_VOTE_TO_BRANCH = 2, OF_COMPARISON = 11, OF_COMPARISON_TO_BRANCH = 9 };
    if (op == CBI_OP_VOTEU)
        return next == CBI_OP_BRA_U ? OF_VOTE_TO_BRANCH : OF_VOTE;
    return next == CBI_OP_BRA_U && op != CBI_OP_UPLOP3 ? OF_COMPARISON_TO_BRANCH : OF_COMPARISON;
}

/* ... that reads them otherwise. */
static uint32_t uniform_source_latency(uint32_t op, uint32_t next)
{
    enum { OF_VOTE = 1, OF_COMPARISON = 4, OF_COMPARISON_TO_OTHERS = 6 };
    if (op == CBI_OP_VOTEU)
        return OF_VOTE;
    return next == CBI_OP_PLOP3 ? OF_COMPARISON_TO_OTHERS : OF_COMPARISON;
}

/* ... that writes them again. */
static uint32_t uniform_predicate_rewrite(uint32_t op, uint32_t next)
{
    enum { BY_VOTE = 7, AMONG_COMPARISONS = 4 };
    if (op == CBI_OP_VOTEU)
        return 1;
    return next == CBI_OP_VOTEU ? BY_VOTE : AMONG_COMPARISONS;
}

static bool compares(kind k)
{
    return k == CBI_KIND_ALU || k == CBI_KIND_HALF_ALU;
}

/* From an instruction that writes a predicate to one that reads it, but for its guard. */
static uint32_t predicate_latency(kind from, kind to, uint32_t op)
{
    enum { OF_DOUBLES = 6 };
    if (from == CBI_KIND_SLOW && to == CBI_KIND_ALU)
        return OF_DOUBLES;
    if (!compares(from))
        return FAR;
    if (waits_long(op))
        return GUARD_LATENCY;
    if (to == CBI_KIND_ALU)
        return from == CBI_KIND_ALU || op == CBI_OP_PLOP3 || op == CBI_OP_P2R ? 4 : 5;
    return to == CBI_KIND_MULTIPLY || to == CBI_KIND_HALF_ALU || to == CBI_KIND_PAIR ? 5 : FAR;
}

/* Does j wait for i, of which nothing else is known?  For products of matrices only what may use
 * them does. */
static bool waits_for_other(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    kind to = cbi_op_kind(cbi_sb_op(c, j));
    if (cbi_sb_op(c, j) == CBI_OP_NOP)
        return false;
    if (cbi_sb_op(c, i) == CBI_OP_HMMA)
        return cbi_pace_is_opaque(cbi_sb_op(c, j));
    return to == CBI_KIND_OTHER || to == CBI_KIND_SLOW || to == CBI_KIND_CONVERT;
}

/* May j, of which nothing is known for sure, use what i writes, other than by the operands that are
 * known? */
static bool may_use(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    const cbi_operands *a = &c->operands[i], *b = &c->operands[j];
    if (!cbi_pace_is_opaque(cbi_sb_op(c, j)) || cbi_regset_meet(&a->written, &b->read) ||
        cbi_regset_meet(&a->written, &b->written) ||
        cbi_regset_meet(&a->uniform_written, &b->uniform_read))
        return false;
    return cbi_regset_any(&a->uniform_written) ||
           cbi_pace_may_meet(c->words[j], &a->written, false);
}

static bool is_light(const cbi_sb_code *c, uint32_t i)
{
    return cbi_op_has(cbi_sb_op(c, i), CBI_OPF_LIGHT);
}

/* Do the distances of the chip itself count?  Those of sm_120 and later do always. */
static bool goes_by_chip(const cbi_sb_code *c)
{
    return c->anew || has_late_alu(c);
}

/* Moves and choices of 64 bits are done as sums of 64 bits are. */
static kind kind_of(const cbi_sb_code *c, uint32_t i)
{
    kind k = cbi_op_kind(cbi_sb_op(c, i));
    bool pair = k == CBI_KIND_ALU && cbi_regset_count(&c->operands[i].written) == 2;
    return pair && has_late_alu(c) ? CBI_KIND_PAIR : k;
}

uint32_t cbi_pace_own_stall(const cbi_sb_code *c, uint32_t i, uint32_t end)
{
    enum { BARRIER = BARRIER_STALL - 1, WARP = CONTROL_STALL - 1 };
    uint32_t cycles = (uint32_t)cbi_sb_cycles(c, i), next = i + 1 < end ? cbi_sb_op(c, i + 1) : 0;
    if (cbi_op_is_barrier(cbi_sb_op(c, i)))
        return is_slow_barrier(c->words[i]) && next != CBI_OP_B2R && cycles >= BARRIER_STALL
                   ? BARRIER
                   : 0;
    if (cbi_op_has(cbi_sb_op(c, i), CBI_OPF_WARP))
        return cycles >= CONTROL_STALL ? WARP : 0;
    bool halves = kind_of(c, i) == CBI_KIND_PAIR || cbi_sass_compares_long(c->words[i]);
    return halves && cycles >= BOTH_HALVES ? BOTH_HALVES - 1 : 0;
}

uint32_t cbi_pace_reckoned(const cbi_sb_code *c, uint32_t i, uint32_t end)
{
    enum { REPORT = 3 }; /* of the stall count of a report of errors, which is no time */
    uint32_t cycles = (uint32_t)cbi_sb_cycles(c, i);
    if (cbi_sb_op(c, i) == CBI_OP_CGAERRBAR)
        return cycles > REPORT ? cycles - REPORT : 0;
    if (is_part_of_fence(c, i))
        return 0;
    return cycles - cbi_pace_own_stall(c, i, end);
}

/* Does the result of instruction i reach j a cycle later than elsewhere?  There are two units then:
 * one for moves, choices and comparisons, and one for integers, which has its own results in time.
 */
static bool reaches_late(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    kind from = kind_of(c, i), to = kind_of(c, j);
    if (from == CBI_KIND_COUNTER && goes_by_chip(c))
        return cbi_regset_count(&c->operands[i].written) == 2;
    if (from == CBI_KIND_PAIR)
        return (to == CBI_KIND_ALU && is_light(c, j)) ||
               (cbi_pace_is_late(to) && to != CBI_KIND_MEMORY);
    if (from != CBI_KIND_ALU || to != CBI_KIND_ALU || !has_late_alu(c))
        return false;
    return is_light(c, i) || is_light(c, j);
}

bool cbi_pace_is_fast_double(const cbi_sb_code *c, uint32_t i)
{
    return has_own_doubles(c) && cbi_instruction_of(cbi_sb_op(c, i))->slow == CBI_SLOW_DOUBLE;
}

static uint32_t double_latency(kind to)
{
    enum { AMONG_THEMSELVES = 8, OTHERS = 10 };
    return to == CBI_KIND_SLOW ? AMONG_THEMSELVES : OTHERS;
}

/* From one that writes a register to another that writes it, by the units of the chip. */
static uint32_t own_rewrite_latency(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    enum { FROM_DOUBLE = 9, TO_DOUBLE = 5, OF_PAIR = 2 };
    kind from = kind_of(c, i), to = kind_of(c, j);
    if (cbi_pace_is_fast_double(c, i) && to != CBI_KIND_SLOW)
        return FROM_DOUBLE;
    if (cbi_pace_is_fast_double(c, j) && from != CBI_KIND_SLOW)
        return TO_DOUBLE;
    if (from == CBI_KIND_ALU && to == CBI_KIND_PAIR)
        return OF_PAIR;
    return cbi_pace_is_fast_double(c, i) ? double_latency(to) : rewrite_latency(from, to);
}

/* Is it done by the unit of special functions, which does conversions of 64 bits, too, where there
 * is none for doubles? */
static bool is_special(const cbi_sb_code *c, uint32_t i)
{
    return cbi_op_kind(cbi_sb_op(c, i)) == CBI_KIND_SPECIAL ||
           (cbi_instruction_of(cbi_sb_op(c, i))->slow == CBI_SLOW_CONVERT &&
            !cbi_sb_has_slow_doubles(c));
}

/* Cycles between two of them. */
static uint32_t special_cycles(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    const cbi_chip *chip = cbi_chip_find(c->chip);
    if (chip && chip->other_pace && cbi_op_kind(cbi_sb_op(c, i)) == CBI_KIND_SPECIAL)
        return special_distance(c->words[i], c->words[j]);
    return chip ? chip->special_cycles : SPECIAL_CYCLES;
}

/* Between any two, where the chip's own units count: `least`, or what they need. */
static uint32_t own_unit_distance(const cbi_sb_code *c, uint32_t i, uint32_t j, uint32_t least)
{
    enum { TO_INTEGERS = 3 };
    kind from = kind_of(c, i), to = kind_of(c, j);
    if (is_special(c, i) && is_special(c, j))
        return special_cycles(c, i, j);
    if (cbi_pace_is_fast_double(c, i) && cbi_pace_is_fast_double(c, j))
        return BOTH_HALVES;
    if (from == CBI_KIND_PAIR) {
        uint8_t shape = cbi_instruction_of(cbi_sb_op(c, i))->shape;
        bool chooses = shape >= CBI_SHAPE_SELECT_64 && shape <= CBI_SHAPE_SELECT_64_U;
        bool integers = to == CBI_KIND_TO_UNIFORM || (to == CBI_KIND_ALU && !is_light(c, j));
        return integers && !chooses ? TO_INTEGERS : least;
    }
    if (has_late_alu(c) && (is_light(c, i) || is_light(c, j)))
        return cbi_sass_compares_long(c->words[i]) ? BOTH_HALVES : 1;
    return least;
}

uint32_t cbi_pace_unit_distance(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    bool fence = cbi_op_has(cbi_sb_op(c, i), CBI_OPF_FENCE);
    if (fence || cbi_sass_is_never(c->words[i]) || cbi_sass_is_never(c->words[j]))
        return 0;
    if (is_special(c, i) && is_special(c, j))
        return special_cycles(c, i, j);
    uint32_t least =
        shared_unit_distance(kind_of(c, i), kind_of(c, j), cbi_sb_op(c, i), cbi_sb_op(c, j));
    return goes_by_chip(c) ? own_unit_distance(c, i, j, least) : least;
}

/* The same for what they do with predicates; g: those that j uses. */
static uint32_t predicate_distance(const cbi_sb_code *c, uint32_t i, uint32_t j, const flags *g)
{
    kind from = kind_of(c, i), to = kind_of(c, j);
    flags f = flags_of(c->words[i]);
    bool fast = cbi_pace_is_fast_double(c, i);
    bool longer = goes_by_chip(c) && cbi_sass_compares_long(c->words[i]);
    uint32_t least = 0;
    if (f.uniform_written & g->uniform_guard)
        least = cbi_larger(least, uniform_guard_latency(cbi_sb_op(c, i), cbi_sb_op(c, j)));
    if (f.uniform_written & g->uniform_read)
        least = cbi_larger(least, uniform_source_latency(cbi_sb_op(c, i), cbi_sb_op(c, j)));
    if (f.uniform_written & g->uniform_written)
        least = cbi_larger(least, uniform_predicate_rewrite(cbi_sb_op(c, i), cbi_sb_op(c, j)));
    if (f.written & g->guard)
        least = cbi_larger(least, compares(from) || fast ? GUARD_LATENCY + (longer || fast) : FAR);
    if (f.written & g->read)
        least =
            cbi_larger(least, predicate_latency(from, to, cbi_sb_op(c, j)) + reaches_late(c, i, j) +
                                  (longer && cbi_sb_op(c, j) != CBI_OP_PLOP3));
    if (f.written & g->written)
        least = cbi_larger(least, fast                   ? predicate_latency(from, CBI_KIND_ALU, 0)
                                  : cbi_pace_is_late(to) ? GUARD_LATENCY - 1
                                  : from == to || (compares(from) && compares(to)) ? 2
                                                                                   : FAR);
    return least;
}

/* Is the upper half of the third source all that the wide product `to` reads of these registers? */
static bool reads_only_upper(cbi_sass to, const cbi_regset *written)
{
    cbi_sass_source_list sources = cbi_sass_sources(to);
    const cbi_sass_source *third = &sources.at[2];
    uint32_t upper = third->first + 1U;
    if (cbi_op_kind(cbi_sass_op(to)) != CBI_KIND_WIDE || third->count != 2 ||
        !cbi_regset_has(written, upper) || cbi_regset_has(written, third->first))
        return false;
    for (unsigned place = 0; place < 2; place++)
        if (sources.at[place].count && cbi_regset_has(written, sources.at[place].first))
            return false;
    return true;
}

/* From any instruction to one that reads its result; `of`: what of it nothing between has written
 * again. */
static uint32_t any_result_latency(const cbi_sb_code *c, uint32_t i, uint32_t j,
                                   const cbi_operands *of)
{
    enum { UPPER_LATER = 2, TO_TARGET = 4, TO_PRODUCT = 7 };
    kind from = kind_of(c, i), to = kind_of(c, j);
    uint32_t op = cbi_sb_op(c, j);
    if (cbi_pace_is_fast_double(c, i))
        return double_latency(to);
    if (from == CBI_KIND_WIDE)
        return wide_latency(c->words[i], c->words[j], of);
    if (cbi_sb_op(c, i) == CBI_OP_HMMA)
        return op == CBI_OP_HMMA ? HMMA_TO_HMMA : AFTER_HMMA;
    if ((op == CBI_OP_RET || op == CBI_OP_BRX) && cbi_kind_is_math(from))
        return TO_TARGET;
    bool product = cbi_instruction_of(op)->shape == CBI_SHAPE_TENSOR &&
                   (op == CBI_OP_HMMA || to == CBI_KIND_SLOW);
    if (product && is_arithmetic(from))
        return TO_PRODUCT;
    uint32_t least = result_latency(from, to) + reaches_late(c, i, j);
    bool upper = cbi_kind_is_math(from) && reads_only_upper(c->words[j], &c->operands[i].written);
    return least - (upper ? UPPER_LATER : 0);
}

/* Does ALU j write the lower half of the wide product of i again and leave the upper one? */
static bool rewrites_only_lower(const cbi_sb_code *c, uint32_t i, uint32_t j,
                                const cbi_operands *of)
{
    uint32_t upper = (uint32_t)cbi_sass_bits(c->words[i], 16, 8) + 1;
    return kind_of(c, i) == CBI_KIND_WIDE && kind_of(c, j) == CBI_KIND_ALU &&
           cbi_regset_has(&c->operands[i].written, upper) && !cbi_regset_has(&of->written, upper);
}

/* The same to one that writes it again. */
static uint32_t any_rewrite_latency(const cbi_sb_code *c, uint32_t i, uint32_t j,
                                    const cbi_operands *of)
{
    enum { OF_HMMA_BY_ALU = 16, OF_HMMA = 17, AT_ONCE = 1 };
    const kind from = kind_of(c, i), to = kind_of(c, j);
    const bool of_product = cbi_sb_op(c, i) == CBI_OP_HMMA;
    if (rewrites_only_lower(c, i, j, of))
        return AT_ONCE;
    if (cbi_sb_op(c, j) == CBI_OP_HMMA)
        return of_product ? HMMA_TO_HMMA : is_arithmetic(from) ? AT_ONCE : FAR;
    if (of_product && cbi_pace_is_late(to))
        return AFTER_HMMA;
    if (of_product && cbi_kind_is_math(to))
        return to == CBI_KIND_ALU ? OF_HMMA_BY_ALU : OF_HMMA;
    return goes_by_chip(c) ? own_rewrite_latency(c, i, j) : rewrite_latency(from, to);
}

enum { SAME_SOURCE = 2 }; /* from uniform arithmetic to who reads the same uniform register next */

uint32_t cbi_pace_distance(const cbi_sb_code *c, uint32_t i, uint32_t j, const uses *of,
                           bool adjacent)
{
    kind from = kind_of(c, i), to = kind_of(c, j);
    const cbi_operands *a = &c->operands[i], *b = &of->registers;
    uint32_t least = unit_distance(from, to, cbi_sb_op(c, i), cbi_sb_op(c, j), adjacent);
    if (goes_by_chip(c))
        least = own_unit_distance(c, i, j, least);
    else if (from == CBI_KIND_SPECIAL && to == CBI_KIND_SPECIAL)
        least = special_distance(c->words[i], c->words[j]);
    if (delays_nothing(cbi_sb_op(c, i), adjacent))
        return 1;
    if (adjacent && is_slow_barrier(c->words[i]))
        return BARRIER_STALL;
    if (cbi_sb_op(c, i) == CBI_OP_DEPBAR)
        return adjacent ? CBI_PACE_DEPBAR : 1;
    if (cbi_sb_op(c, i) == CBI_OP_BSSY && cbi_sb_op(c, j) == CBI_OP_BMOV_355)
        return least;
    if (cbi_op_has(cbi_sb_op(c, i), CBI_OPF_WARP) ||
        (goes_by_chip(c) && cbi_sb_op(c, i) == CBI_OP_BPT))
        return adjacent ? CONTROL_STALL : 1;
    if (cbi_op_has(cbi_sb_op(c, i), CBI_OPF_FENCE))
        return adjacent ? FAR : 1;
    if (cbi_op_has(cbi_sb_op(c, j), CBI_OPF_WARP) && !cbi_regset_meet(&a->written, &b->read))
        return compares(from) && flags_of(c->words[i]).written & of->predicates.guard
                   ? GUARD_LATENCY
                   : 1;
    bool watched = cbi_pace_is_watched(c, i);
    if (from == CBI_KIND_OTHER &&
        (watched ? to == CBI_KIND_OTHER
                 : cbi_pace_is_opaque(cbi_sb_op(c, i)) || waits_for_other(c, i, j)))
        return FAR;
    if (!watched && to != CBI_KIND_CALL && may_use(c, i, j))
        return FAR;
    bool keeps =
        cbi_pace_is_late(to) && !(goes_by_chip(c) && to == CBI_KIND_SLOW); /* sources for a cycle */
    if (keeps && !cbi_pace_is_late(from) && cbi_sb_op(c, i) != CBI_OP_HMMA &&
        cbi_regset_meet(&a->read, &c->operands[j].written))
        least = cbi_larger(least, READ_TIME);
    bool fast = cbi_pace_is_fast_double(c, i);
    if (watched && !fast)
        return least;
    if (cbi_regset_meet(&a->written, &b->read))
        least = cbi_larger(least, any_result_latency(c, i, j, b));
    if (cbi_regset_meet(&a->written, &b->written))
        least = cbi_larger(least, any_rewrite_latency(c, i, j, b));
    if (cbi_regset_meet(&a->uniform_written, &b->uniform_read))
        least = cbi_larger(least, uniform_latency(from, to));
    else if (cbi_regset_meet(&a->uniform_written, &b->uniform_written))
        least = cbi_larger(least, uniform_rewrite(from, to));
    if (from == CBI_KIND_UNIFORM && to == CBI_KIND_UNIFORM_MOVE &&
        cbi_regset_meet(&a->uniform_read, &c->operands[j].uniform_written))
        least = cbi_larger(least, 3);
    if (adjacent && from == CBI_KIND_UNIFORM && !cbi_kind_is_uniform(to) &&
        cbi_regset_meet(&a->uniform_read, &c->operands[j].uniform_read))
        least = cbi_larger(least, SAME_SOURCE);
    return cbi_larger(least, predicate_distance(c, i, j, &of->predicates));
}

uint32_t cbi_pace_overtaking(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    kind from = cbi_op_kind(cbi_sb_op(c, i));
    if (!cbi_pace_occupancy(cbi_sb_op(c, j)) || cbi_pace_is_late(from) ||
        cbi_pace_is_fast_double(c, j))
        return 0;
    if (flags_of(c->words[i]).written & flags_of(c->words[j]).written)
        return GUARD_LATENCY - 1;
    if (!cbi_regset_meet(&c->operands[i].written, &c->operands[j].written))
        return 0;
    return cbi_sb_op(c, i) == CBI_OP_HMMA ? AFTER_HMMA : 6;
}

/* Do j and its registers have to do with the result of i? */
static bool touches_result(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    const cbi_operands *a = &c->operands[i], *b = &c->operands[j];
    uint8_t written, read;
    cbi_pace_predicates(c->words[j], &written, &read);
    return cbi_regset_meet(&a->written, &b->read) || cbi_regset_meet(&a->written, &b->written) ||
           (a->predicates_written & (b->predicates_read | read | written));
}

/* The same of predicates of i where one of the two is HSETP2, which is slower there. */
static int64_t explained_by_halves(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    enum { READ_BACK = 5, REWRITE = 8 };
    bool writes = compares_halves(cbi_sb_op(c, i)), reads = compares_halves(cbi_sb_op(c, j));
    if (!writes && !reads)
        return 0;
    flags f = flags_of(c->words[i]), g = flags_of(c->words[j]);
    if (f.written & g.read)
        return reads ? GUARD_LATENCY : READ_BACK;
    return reads && f.written & g.written ? REWRITE : 0;
}

int64_t cbi_pace_explained(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    kind from = cbi_op_kind(cbi_sb_op(c, i)), to = cbi_op_kind(cbi_sb_op(c, j));
    if (from == CBI_KIND_SPECIAL && to == CBI_KIND_SPECIAL)
        return SPECIAL_CYCLES;
    bool special = from == CBI_KIND_SPECIAL || from == CBI_KIND_CONVERT;
    if (special && (to == CBI_KIND_SPECIAL || to == CBI_KIND_CONVERT))
        return SLOW_EXPLAINS;
    bool slow = from == CBI_KIND_SLOW && (to == CBI_KIND_SLOW || touches_result(c, i, j));
    return slow ? SLOW_EXPLAINS : explained_by_halves(c, i, j);
}

int64_t cbi_pace_unit_time(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    bool special = cbi_op_kind(cbi_sb_op(c, i)) == CBI_KIND_SPECIAL &&
                   cbi_op_kind(cbi_sb_op(c, j)) == CBI_KIND_SPECIAL;
    return special ? special_cycles(c, i, j) : cbi_pace_explained(c, i, j);
}

bool cbi_pace_passes_doubles(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    return kind_of(c, i) == CBI_KIND_SLOW && kind_of(c, j) == CBI_KIND_SLOW &&
           !cbi_sb_has_slow_doubles(c) && !touches_result(c, i, j);
}

/* ---- ends of blocks ---- */

uint32_t cbi_pace_end_latency(cbi_sass w, const cbi_operands *operands)
{
    enum {
        UNIFORM_PREDICATE = 11,
        LIFTED = 15,
        UNIFORM_MOVE = 5,
        UNIFORM = 12,
        REGISTER = 7,
        PAIR = 8
    };
    uint32_t op = cbi_sass_op(w);
    kind from = cbi_op_kind(op);
    flags f = flags_of(w);
    if (cbi_pace_is_late(from) || cbi_op_has(op, CBI_OPF_WARP) || op == CBI_OP_NOP)
        return 0;
    if (op == CBI_OP_ENDCOLLECTIVE)
        return BARRIER_STALL;
    if (from == CBI_KIND_OTHER)
        return op == CBI_OP_DEPBAR || cbi_op_is_barrier(op) || op == CBI_OP_BPT ||
                       cbi_op_has(op, CBI_OPF_FENCE)
                   ? 0
                   : FAR;
    if (f.uniform_written)
        return UNIFORM_PREDICATE;
    if (f.written)
        return GUARD_LATENCY + cbi_sass_compares_long(w);
    if (cbi_regset_any(&operands->uniform_written))
        return from == CBI_KIND_TO_UNIFORM     ? LIFTED
               : from == CBI_KIND_UNIFORM_MOVE ? UNIFORM_MOVE
                                               : UNIFORM;
    if (from == CBI_KIND_PAIR ||
        (from == CBI_KIND_ALU && cbi_regset_count(&operands->written) == 2))
        return PAIR;
    return cbi_regset_any(&operands->written) ? REGISTER : 0;
}

uint32_t cbi_pace_leaves_after(const cbi_sb_code *c, uint32_t i)
{
    enum { DOUBLE = 11 };
    if (cbi_pace_is_fast_double(c, i))
        return cbi_op_compares_doubles(cbi_sb_op(c, i)) ? GUARD_LATENCY + 1 : DOUBLE;
    return cbi_pace_end_latency(c->words[i], &c->operands[i]);
}

/* ---- what instructions are ---- */

void cbi_pace_predicates(cbi_sass w, uint8_t *ret_written, uint8_t *ret_read)
{
    flags f = flags_of(w);
    *ret_written = f.written;
    *ret_read = f.guard | f.read;
}

bool cbi_pace_is_opaque(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_OPAQUE);
}

bool cbi_pace_is_other(cbi_sass w)
{
    uint32_t op = cbi_sass_op(w);
    return compares_halves(op) || is_population(w) || cbi_op_has(op, CBI_OPF_QUICK);
}

uint8_t cbi_pace_special_order(cbi_sass w)
{
    if (cbi_op_kind(cbi_sass_op(w)) != CBI_KIND_SPECIAL)
        return 0;
    return cbi_pace_is_power(w) ? CBI_ORDER_POWER : CBI_ORDER_SPECIAL;
}

bool cbi_pace_is_math(uint32_t op)
{
    kind k = cbi_op_kind(op);
    return cbi_kind_is_math(k) || k == CBI_KIND_COUNTER || k == CBI_KIND_TO_UNIFORM ||
           cbi_kind_is_uniform(k);
}
