/* Cycles between the instructions of code whose pace changes.
 *
 * A stall count of the input that the distances of this table explain becomes what they demand now;
 * one that they do not explain stays.  No two instructions that are not computed by the slow unit
 * come closer to each other than in the input, unless the table has a distance for them.
 * docs/code-rewriting.md has the table and how it was found. */
#include "format/arch.h"
#include "sass/pace_code.h"

uint32_t cbi_pace_occupancy(uint32_t op)
{
    enum { DOUBLE = 64, MATRIX_OF_DOUBLES = 584 };
    uint8_t slow = cbi_instruction_of(op)->slow;
    return slow == CBI_SLOW_NONE ? 0 : slow == CBI_SLOW_DMMA ? MATRIX_OF_DOUBLES : DOUBLE;
}

uint32_t cbi_pace_unit_time(uint32_t op)
{
    enum { MATRIX = 8 };
    uint32_t slow = cbi_pace_occupancy(op);
    return slow || cbi_instruction_of(op)->shape != CBI_SHAPE_TENSOR ? slow : MATRIX;
}

bool cbi_pace_follows_sync(const cbi_sb_code *c, uint32_t i)
{
    return i && (cbi_sb_op(c, i - 1) == CBI_OP_WARPSYNC || cbi_sb_parts_warp(c, i - 1));
}

uint32_t cbi_pace_unit_cycles(cbi_sass w, uint32_t cycles)
{
    if (cbi_sass_is_never(w))
        return 0;
    return cbi_sass_op(w) == CBI_OP_ERRBAR && !cycles ? 1 : cycles;
}

enum {
    FAR = 20, /* as far apart as in the input; no result takes longer without a scoreboard */
    WINDOW = 2 * FAR,   /* instructions that long before one have no say in when it is issued */
    REACH = 2 * WINDOW, /* so many before it, with the parts of fences, which take no time */
    READ_TIME = 2,
    GUARD_LATENCY = 13,
    UNIFORM_GUARD = 9,
    SPECIAL_CYCLES = 8,
    SLOW_EXPLAINS = 24, /* cycles that the slow unit's instructions take on sm_100, at most */
    CONTROL_STALL = 5,
    BARRIER_STALL = 6,
};

typedef cbi_sass_kind kind;

static bool is_late(kind k)
{
    return k >= CBI_KIND_MEMORY && k <= CBI_KIND_SLOW;
}

static bool is_uniform(kind k)
{
    return k == CBI_KIND_UNIFORM || k == CBI_KIND_UNIFORM_MOVE;
}

/* ---- predicates ---- */

typedef struct flags {
    uint8_t written, guard, read;
    uint8_t uniform_written, uniform_read;
} flags;

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
        return (flags){.uniform_read = p.guard, .uniform_written = p.written, .read = p.read};
    if (cbi_instruction_of(op)->shape == CBI_SHAPE_BULK_COPY)
        return (flags){.uniform_read = p.guard};
    if (is_uniform(k)) {
        uint8_t named = op == CBI_OP_UP2UR ? (uint8_t)cbi_sass_bits(w, 32, 7) : 0;
        return (flags){.uniform_read = p.guard | p.read | named, .uniform_written = p.written};
    }
    flags f = {.guard = p.guard, .read = p.read, .written = p.written};
    if (op == CBI_OP_BRA_U)
        f.uniform_read = one(w, 24);
    if (cbi_sass_joins_uniform(w))
        f.uniform_read |= one(w, 68);
    if (op == CBI_OP_P2R) {
        f.read |= (uint8_t)cbi_sass_bits(w, 32, 7);
    } else if (k == CBI_KIND_OTHER && !has_no_predicates(op)) { /* nobody knows */
        f.read |= one(w, 87);
        f.written |= one(w, 81);
    }
    return f;
}

/* ---- distances ---- */

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
    case CBI_KIND_MULTIPLY:
    case CBI_KIND_WIDE:
        return from == CBI_KIND_MULTIPLY ? 4 : 5;
    case CBI_KIND_FLOAT:
    case CBI_KIND_HALF:
    case CBI_KIND_PAIR:
    case CBI_KIND_HALF_ALU:
        return from == to ? 4 : 5;
    default:
        return FAR;
    }
}

static bool reads(const cbi_operands *o, uint32_t r)
{
    return o->read.w[r / 64] >> r % 64 & 1;
}

/* From a product of 64 bits, or the upper half of one, to arithmetic that reads it; `of`: what that
 * reads of it, and perhaps others. */
static uint32_t wide_latency(cbi_sass from, cbi_sass to, const cbi_operands *of)
{
    uint32_t low = (uint32_t)cbi_sass_bits(from, 16, 8), op = cbi_sass_op(to);
    bool upper = cbi_sass_op(from) == CBI_OP_IMAD_HI || cbi_sass_op(from) == CBI_OP_IMAD_HI_I;
    uint32_t high = upper ? low : low + 1;
    switch (cbi_op_kind(op)) {
    case CBI_KIND_ALU:
    case CBI_KIND_TO_UNIFORM:
        return reads(of, high) ? 5 : 3;
    case CBI_KIND_MULTIPLY:
        return 4;
    case CBI_KIND_WIDE: {
        uint32_t a = (uint32_t)cbi_sass_bits(to, 24, 8), b = (uint32_t)cbi_sass_bits(to, 32, 8);
        bool factor = a == low || a == high ||
                      (op == CBI_OP_IMAD_WIDE && (b == low || b == high)) || op == CBI_OP_IMAD_HI ||
                      op == CBI_OP_IMAD_HI_I;
        return factor ? 6 : 4;
    }
    case CBI_KIND_MEMORY:
        return 5;
    default:
        return FAR;
    }
}

/* From one that writes a register to another that writes it. */
static uint32_t rewrite_latency(kind from, kind to)
{
    if (is_late(to))
        return cbi_kind_is_math(from) || from == CBI_KIND_COUNTER ? 6 : FAR;
    if (from == CBI_KIND_COUNTER && to == CBI_KIND_COUNTER)
        return 2;
    if (from == CBI_KIND_COUNTER && cbi_kind_is_math(to))
        return 5;
    if (cbi_kind_is_math(from) && to == CBI_KIND_COUNTER)
        return 5;
    if (!cbi_kind_is_math(from) || !cbi_kind_is_math(to))
        return FAR;
    bool integers = (from == CBI_KIND_ALU || from == CBI_KIND_MULTIPLY) &&
                    (to == CBI_KIND_ALU || to == CBI_KIND_MULTIPLY);
    bool product = from == CBI_KIND_MULTIPLY && to == CBI_KIND_WIDE;
    return integers || product || from == to ? 1 : 5;
}

static uint32_t uniform_latency(kind from, kind to)
{
    if (from == CBI_KIND_UNIFORM_MOVE)
        return to == CBI_KIND_OTHER || to == CBI_KIND_LATE || to >= CBI_KIND_CONTROL ? FAR : 2;
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
    return from == CBI_KIND_UNIFORM_MOVE && is_uniform(to) ? 3 : FAR;
}

static bool is_population(cbi_sass w)
{
    return cbi_sass_op(w) == CBI_OP_POPC || cbi_sass_op(w) == CBI_OP_POPC_U;
}

static bool is_power(cbi_sass w)
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
    return is_power(from) ? 4 : SPECIAL_CYCLES;
}

/* They take the unit of LDC for eight cycles. */
static bool takes_eight(kind k, uint32_t op)
{
    return k == CBI_KIND_CONSTANT || op == CBI_OP_S2UR || op == CBI_OP_MATCH ||
           op == CBI_OP_REDUX || cbi_op_is_barrier(op);
}

/* HSETP2, which is slower on sm_100. */
static bool compares_halves(uint32_t op)
{
    return cbi_op_kind(op) == CBI_KIND_HALF_ALU &&
           cbi_instruction_of(op)->predicates & CBI_PRED_W81;
}

/* Between any two of the kinds: they share a unit, or the first one has a stall of its own. */
static uint32_t unit_distance(kind from, kind to, uint32_t op, uint32_t next, bool adjacent)
{
    from = from == CBI_KIND_HALF_ALU ? CBI_KIND_ALU : from;
    to = to == CBI_KIND_HALF_ALU ? CBI_KIND_ALU : to;
    if (from == CBI_KIND_PAIR)
        return 2;
    bool alu = from == CBI_KIND_ALU || from == CBI_KIND_TO_UNIFORM || from == CBI_KIND_COUNTER;
    if (alu && (to == CBI_KIND_ALU || to == CBI_KIND_TO_UNIFORM || to == CBI_KIND_COUNTER))
        return 2;
    if (to >= CBI_KIND_MULTIPLY && to <= CBI_KIND_HALF && from >= CBI_KIND_MULTIPLY &&
        from <= CBI_KIND_HALF)
        return from == CBI_KIND_WIDE ? 4 : from == CBI_KIND_FLOAT ? 1 : 2;
    if (from == CBI_KIND_MEMORY && to == CBI_KIND_MEMORY)
        return 4;
    if (takes_eight(from, op) && takes_eight(to, next))
        return 8;
    bool leaves = to == CBI_KIND_CONTROL || cbi_op_has(next, CBI_OPF_FENCE);
    if (cbi_op_is_barrier(op) && (to == CBI_KIND_MEMORY || (adjacent && leaves)))
        return 6;
    if (op == CBI_OP_B2R && to == CBI_KIND_MEMORY)
        return 4;
    if (is_uniform(from))
        return adjacent && from == CBI_KIND_UNIFORM && to == CBI_KIND_UNIFORM ? 2 : 1;
    if (op == CBI_OP_BSSY && (to == CBI_KIND_CONTROL || next == CBI_OP_BMOV_355) &&
        (adjacent || next != CBI_OP_BSSY))
        return 4;
    bool plain = cbi_kind_is_math(to) || to == CBI_KIND_COUNTER || to == CBI_KIND_TO_UNIFORM ||
                 to == CBI_KIND_UNIFORM || to == CBI_KIND_SLOW;
    if (cbi_op_is_barrier(op) || op == CBI_OP_B2R)
        return plain || !adjacent ? 1 : FAR;
    bool known = from != CBI_KIND_OTHER && from != CBI_KIND_CONTROL && from != CBI_KIND_CALL &&
                 op != CBI_OP_LDTM && op != CBI_OP_STTM;
    return known || !adjacent || op == CBI_OP_BSSY ? 1 : FAR;
}

/* What an instruction uses, as far as nothing between has written it. */
typedef struct uses {
    cbi_operands registers;
    flags predicates;
} uses;

static uses uses_of(const cbi_sb_code *c, uint32_t j)
{
    return (uses){c->operands[j], flags_of(c->words[j])};
}

static void remove_registers(cbi_regset *set, const cbi_regset *gone)
{
    for (size_t k = 0; k < CBI_COUNT(set->w); k++)
        set->w[k] &= ~gone->w[k];
}

/* Instruction i, if it is always carried out, hides what writes the same before it. */
static void hide(const cbi_sb_code *c, uint32_t i, uses *of)
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
    return cbi_op_kind(op) == CBI_KIND_CONTROL || op == CBI_OP_VOTE;
}

bool cbi_pace_changes_warp(uint32_t op)
{
    return op == CBI_OP_YIELD || op == CBI_OP_NANOSLEEP || op == CBI_OP_BREAK ||
           op == CBI_OP_WARPSYNC || op == CBI_OP_WARPSYNC_R || op == CBI_OP_BMOV_355 ||
           op == CBI_OP_BMOV_356;
}

uint32_t cbi_pace_reckoned(const cbi_sb_code *c, uint32_t i, uint32_t end)
{
    enum { BEFORE_ANOTHER = 8, LESS = 4 };
    uint32_t cycles = (uint32_t)cbi_sb_cycles(c, i), next = i + 1 < end ? cbi_sb_op(c, i + 1) : 0;
    bool own = cbi_op_is_barrier(cbi_sb_op(c, i))
                   ? cycles == BARRIER_STALL && cbi_op_kind(next) == CBI_KIND_MEMORY
                   : cbi_pace_changes_warp(cbi_sb_op(c, i)) &&
                         (cycles == CONTROL_STALL ||
                          (cycles == BEFORE_ANOTHER && cbi_pace_changes_warp(next)));
    return own ? cycles - LESS : cycles;
}

/* From an instruction that writes a uniform predicate to one that names it. */
static uint32_t uniform_predicate_latency(uint32_t op, uint32_t next)
{
    if (next == CBI_OP_BRA_U && op != CBI_OP_UPLOP3)
        return UNIFORM_GUARD;
    bool compares_integers = op == CBI_OP_UISETP || op == CBI_OP_UISETP_I;
    if (next == CBI_OP_PLOP3)
        return compares_integers || op == CBI_OP_UPLOP3 ? 6 : FAR;
    return compares_integers && (next == CBI_OP_UP2UR || next == CBI_OP_UPLOP3) ? 4 : FAR;
}

static bool compares(kind k)
{
    return k == CBI_KIND_ALU || k == CBI_KIND_HALF_ALU;
}

/* From an instruction that writes a predicate to one that reads it, but for its guard. */
static uint32_t predicate_latency(kind from, uint32_t op)
{
    kind to = cbi_op_kind(op);
    if (!compares(from))
        return FAR;
    if (waits_long(op))
        return GUARD_LATENCY;
    if (to == CBI_KIND_ALU)
        return from == CBI_KIND_ALU || op == CBI_OP_PLOP3 || op == CBI_OP_P2R ? 4 : 5;
    return to == CBI_KIND_MULTIPLY || to == CBI_KIND_HALF_ALU ? 5 : FAR;
}

/* Does the instruction wait for products of matrices, which are not understood? */
static bool uses_tensors(kind k)
{
    return k == CBI_KIND_OTHER || k == CBI_KIND_SLOW || k == CBI_KIND_CONVERT;
}

/* May j, of which nothing is known for sure, use what i writes, other than by the operands that are
 * known? */
static bool may_use(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    const cbi_operands *a = &c->operands[i], *b = &c->operands[j];
    if (!cbi_pace_is_opaque(cbi_sb_op(c, j)) || cbi_regset_meet(&a->written, &b->read) ||
        cbi_regset_meet(&a->uniform_written, &b->uniform_read))
        return false;
    return cbi_regset_any(&a->uniform_written) ||
           cbi_pace_may_meet(c->words[j], &a->written, false);
}

/* The ALU of sm_120 and later reads its own results, predicates as well, a cycle later. */
static bool reaches_late(const cbi_sb_code *c, kind from, kind to)
{
    if (from != CBI_KIND_ALU || to != CBI_KIND_ALU)
        return false;
    const cbi_chip *chip = cbi_chip_find(c->chip);
    return chip && chip->late_alu;
}

/* Cycles from instruction i to j that nothing else watches over. */
static uint32_t distance(const cbi_sb_code *c, uint32_t i, uint32_t j, const uses *of,
                         bool adjacent)
{
    kind from = cbi_op_kind(cbi_sb_op(c, i)), to = cbi_op_kind(cbi_sb_op(c, j));
    const cbi_operands *a = &c->operands[i], *b = &of->registers;
    flags f = flags_of(c->words[i]), g = of->predicates;
    uint32_t least = unit_distance(from, to, cbi_sb_op(c, i), cbi_sb_op(c, j), adjacent);
    if (from == CBI_KIND_SPECIAL && to == CBI_KIND_SPECIAL)
        least = special_distance(c->words[i], c->words[j]);
    if (delays_nothing(cbi_sb_op(c, i), adjacent))
        return 1;
    if (cbi_sb_op(c, i) == CBI_OP_BSSY && cbi_sb_op(c, j) == CBI_OP_BMOV_355)
        return least;
    if (cbi_pace_changes_warp(cbi_sb_op(c, i)))
        return adjacent ? CONTROL_STALL : 1;
    if (cbi_op_has(cbi_sb_op(c, i), CBI_OPF_FENCE))
        return adjacent ? FAR : 1;
    if (cbi_pace_changes_warp(cbi_sb_op(c, j)) && !cbi_regset_meet(&a->written, &b->read))
        return 1;
    bool watched = cbi_sass_write(c->words[i]) != CBI_SB_NONE;
    if (from == CBI_KIND_OTHER &&
        ((cbi_pace_is_opaque(cbi_sb_op(c, i)) && !watched) || uses_tensors(to)))
        return FAR;
    if (!is_late(from) && to != CBI_KIND_CALL && may_use(c, i, j))
        return FAR;
    if (is_late(to) && !is_late(from) && cbi_regset_meet(&a->read, &c->operands[j].written))
        least = cbi_larger(least, READ_TIME);
    if (is_late(from))
        return least;
    if (cbi_regset_meet(&a->written, &b->read))
        least = cbi_larger(least, from == CBI_KIND_WIDE
                                      ? wide_latency(c->words[i], c->words[j], b)
                                      : result_latency(from, to) + reaches_late(c, from, to));
    if (cbi_regset_meet(&a->written, &b->written))
        least = cbi_larger(least, rewrite_latency(from, to));
    if (adjacent && is_uniform(from) && cbi_kind_is_math(to) &&
        cbi_regset_any(&c->operands[j].uniform_read))
        least = cbi_larger(least, 2); /* whatever it reads there */
    if (cbi_regset_meet(&a->uniform_written, &b->uniform_read))
        least = cbi_larger(least, uniform_latency(from, to));
    if (cbi_regset_meet(&a->uniform_written, &b->uniform_written))
        least = cbi_larger(least, uniform_rewrite(from, to));
    if (from == CBI_KIND_UNIFORM && to == CBI_KIND_UNIFORM_MOVE &&
        cbi_regset_meet(&a->uniform_read, &c->operands[j].uniform_written))
        least = cbi_larger(least, 3);
    if (f.uniform_written & (g.uniform_read | g.uniform_written))
        least = cbi_larger(least, uniform_predicate_latency(cbi_sb_op(c, i), cbi_sb_op(c, j)));
    if (f.written & g.guard)
        least = cbi_larger(least, compares(from) ? GUARD_LATENCY : FAR);
    if (f.written & g.read)
        least =
            cbi_larger(least, predicate_latency(from, cbi_sb_op(c, j)) + reaches_late(c, from, to));
    if (f.written & g.written)
        least = cbi_larger(least, is_late(to) ? GUARD_LATENCY - 1
                                  : from == to || (compares(from) && compares(to)) ? 2
                                                                                   : FAR);
    return least;
}

/* What j now writes late must not be overtaken by i, which writes it, too. */
static uint32_t overtaking(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    kind from = cbi_op_kind(cbi_sb_op(c, i));
    if (!cbi_pace_occupancy(cbi_sb_op(c, j)) || is_late(from))
        return 0;
    if (flags_of(c->words[i]).written & flags_of(c->words[j]).written)
        return GUARD_LATENCY - 1;
    return cbi_regset_meet(&c->operands[i].written, &c->operands[j].written) ? 6 : 0;
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

/* Cycles from i to j in the input that the units explain in which they are computed there. */
static int64_t explained_by_unit(const cbi_sb_code *c, uint32_t i, uint32_t j)
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

/* ---- a block ---- */

typedef struct block_times {
    const cbi_sb_code *c;
    uint32_t start, count;
    uint32_t *at;    /* instructions, without those that only take time; NULL: all from start on */
    int64_t *before; /* when they are issued in the input, and the end */
    int64_t *now;
    bool same_units; /* as in the input */
} block_times;

static uint32_t instruction(const block_times *t, uint32_t k)
{
    return t->at ? t->at[k] : t->start + k;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint32_t own_stall(const block_times *t, uint32_t k)
{
    return (uint32_t)(t->before[k + 1] - t->before[k]);
}

/* The parts of a fence take no time. */
static uint32_t least_stall(const block_times *t, uint32_t k)
{
    return own_stall(t, k) ? 1 : 0;
}

/* Does what follows instruction k at once wait for a number that it sets?  Nobody can in the cycle
 * after. */
static bool is_awaited(const block_times *t, uint32_t k, const cbi_sass *words)
{
    uint32_t own = cbi_sass_holds(words[instruction(t, k)]);
    for (uint32_t n = k + 1; n < t->count; n++) {
        if (cbi_sass_wait(words[instruction(t, n)]) & own)
            return true;
        if (own_stall(t, n))
            break;
    }
    return false;
}

static int64_t issue(const block_times *t, uint32_t k, int64_t unit_free)
{
    const cbi_sb_code *c = t->c;
    uint32_t j = instruction(t, k);
    uses of = uses_of(c, j);
    int64_t need = t->now[k - 1] + least_stall(t, k - 1);
    int64_t explained = t->before[k - 1] + 1;
    uint32_t first = k > REACH ? k - REACH : 0;
    for (uint32_t n = k; n-- > first && t->before[n] + WINDOW > t->before[k - 1];) {
        uint32_t i = instruction(t, n);
        int64_t gap = t->before[k] - t->before[n];
        int64_t least = distance(c, i, j, &of, n + 1 == k);
        need = later(need, t->now[n] + (least < gap ? least : gap));
        need = later(need, t->now[n] + overtaking(c, i, j));
        explained = later(explained, t->before[n] + (least < gap ? least : gap));
        int64_t of_unit = explained_by_unit(c, i, j);
        of_unit = gap < of_unit ? gap : of_unit;
        explained = later(explained, t->before[n] + of_unit);
        if (t->same_units)
            need = later(need, t->now[n] + of_unit);
        hide(c, i, &of);
    }
    if (is_awaited(t, k - 1, c->words))
        need = later(need, t->now[k - 1] + 2);
    if (is_awaited(t, k - 1, c->input ? c->input : c->words))
        explained = later(explained, t->before[k - 1] + 2);
    if (t->before[k] > explained)
        need = later(need, t->now[k - 1] + own_stall(t, k - 1));
    return cbi_pace_unit_time(cbi_sb_op(c, j)) ? later(need, unit_free) : need;
}

int64_t cbi_pace_tick(cbi_pace_clock *clock, uint32_t i)
{
    const int64_t *slot = clock->slot, *issued = clock->issue;
    uint32_t k = i - clock->start, last = k - 1;
    if (last > 0 && issued[last] - slot[last] != issued[last - 1] - slot[last - 1])
        clock->moved = last;
    if (!clock->moved || slot[clock->moved - 1] + WINDOW <= slot[last])
        return issued[last] + slot[k] - slot[last];
    block_times t = {.c = clock->c,
                     .start = clock->start,
                     .count = k + 1,
                     .before = clock->slot,
                     .now = clock->issue,
                     .same_units = true};
    return issue(&t, k, 0);
}

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
    if (is_late(from) || cbi_pace_changes_warp(op) || op == CBI_OP_NOP)
        return 0;
    if (from == CBI_KIND_OTHER)
        return op == CBI_OP_DEPBAR || cbi_op_has(op, CBI_OPF_FENCE) ? 0 : FAR;
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

/* Cycles that the last instruction of the block takes itself. */
static int64_t last_stall(const block_times *t)
{
    const cbi_sb_code *c = t->c;
    uint32_t last = t->at[t->count - 1], now = own_stall(t, t->count - 1);
    kind k = cbi_op_kind(cbi_sb_op(c, last));
    bool branches = k == CBI_KIND_CONTROL && cbi_sb_op(c, last) != CBI_OP_BSSY;
    bool five = branches || k == CBI_KIND_CALL || cbi_pace_changes_warp(cbi_sb_op(c, last));
    uint32_t own = five                                    ? CONTROL_STALL
                   : cbi_op_is_barrier(cbi_sb_op(c, last)) ? BARRIER_STALL
                   : cbi_sb_op(c, last) == CBI_OP_NOP      ? 1
                   : k == CBI_KIND_OTHER                   ? FAR
                   : k == CBI_KIND_PAIR                    ? 2
                   : cbi_sass_holds(c->words[last])        ? 2
                                                           : 1;
    return own > 2 && own > now ? now : own;
}

/* The end of the block: results are there in time for the first instruction of the next one. */
static int64_t leave(const block_times *t, bool goes_on)
{
    const cbi_sb_code *c = t->c;
    uint32_t k = t->count, last = cbi_sb_op(c, t->at[k - 1]);
    int64_t own = last_stall(t);
    int64_t need = later(t->now[k - 1] + least_stall(t, k - 1), t->now[k - 1] + own);
    int64_t explained = later(t->before[k - 1] + 1, t->before[k - 1] + own);
    bool branches = cbi_op_kind(last) == CBI_KIND_CONTROL && last != CBI_OP_BSSY;
    for (uint32_t n = 0; goes_on && n < k; n++) {
        kind from = cbi_op_kind(cbi_sb_op(c, t->at[n]));
        int64_t gap = t->before[k] - t->before[n];
        if (from == CBI_KIND_SLOW)
            explained =
                later(explained, t->before[n] + (gap < SLOW_EXPLAINS ? gap : SLOW_EXPLAINS));
        if (is_late(from))
            continue;
        int64_t least = cbi_pace_end_latency(c->words[t->at[n]], &c->operands[t->at[n]]);
        need = later(need, t->now[n] + (least < gap ? least : gap));
        explained = later(explained, t->before[n] + (least < gap ? least : gap));
    }
    if (t->before[k] > explained && (goes_on || !branches))
        need = later(need, t->now[k - 1] + own_stall(t, k - 1));
    return need;
}

/* A stretch of code in which time counts; `goes_on`: something follows it; `unit_free`: when the
 * slow unit is. */
typedef struct stretch {
    uint32_t start, end;
    bool goes_on;
    int64_t unit_free;
} stretch;

/* Returns for how long the slow unit is busy when the stretch is over. */
static int64_t time_stretch(const cbi_sb_code *c, const stretch *b, const bool *idle,
                            uint32_t *cycles)
{
    uint32_t size = b->end - b->start;
    block_times t = {.c = c,
                     .at = CBI_NEW_ARRAY(c->ctx, size, uint32_t),
                     .before = CBI_NEW_ARRAY(c->ctx, size + 1, int64_t),
                     .now = CBI_NEW_ARRAY(c->ctx, size + 1, int64_t)};
    const cbi_sass *input = c->input ? c->input : c->words;
    int64_t time = 0, unit_free = b->unit_free;
    bool ahead = false; /* in NOPs that say what the stall count of the branch behind could not */
    uint32_t borrowed = 0;
    for (uint32_t i = b->start; i < b->end; i++) {
        uint32_t stall = cbi_sass_stall(input[i]);
        ahead = idle[i] && i > b->start &&
                (ahead || (!idle[i - 1] && cbi_sass_stall(input[i - 1]) < CBI_SASS_STALL_MAX));
        if (ahead) {
            borrowed += stall;
            continue;
        }
        if (!idle[i]) {
            t.before[t.count] = time;
            t.at[t.count++] = i;
        }
        time += stall + borrowed;
        borrowed = 0;
    }
    t.before[t.count] = time;
    for (uint32_t k = 0; k < t.count; k++) {
        t.now[k] = k ? issue(&t, k, unit_free) : 0;
        uint32_t occupied = cbi_pace_unit_time(cbi_sb_op(c, t.at[k]));
        if (occupied)
            unit_free = t.now[k] + occupied;
        uint32_t own = least_stall(&t, k);
        unit_free += own;
        unit_free -= cbi_pace_unit_cycles(c->words[t.at[k]], own);
    }
    t.now[t.count] = leave(&t, b->goes_on);
    for (uint32_t k = 0; k < t.count; k++)
        cycles[t.at[k]] = (uint32_t)(t.now[k + 1] - t.now[k]);
    return unit_free - t.now[t.count];
}

/* busy: for how long the slow unit is, of what is before the block; returns the same behind it.
 * The branch to itself behind the code takes no time. */
static int64_t time_block(const cbi_sb_code *c, const cbi_sb_block *b, const bool *idle,
                          int64_t busy, uint32_t *cycles)
{
    if (b->end == c->n && b->end - b->start <= 1)
        return busy;
    bool goes_on = b->succ.len > 0 || cbi_sb_op(c, b->end - 1) == CBI_OP_RET;
    stretch s = {.start = b->start, .goes_on = true, .unit_free = busy};
    for (s.end = b->start + 1; s.end < b->end; s.end++) {
        if (!cbi_sb_ends_stretch(c, s.end - 1))
            continue;
        time_stretch(c, &s, idle, cycles);
        s.start = s.end;
        s.unit_free = 0;
    }
    s.goes_on = goes_on;
    return time_stretch(c, &s, idle, cycles);
}

void cbi_pace_block_cycles(const cbi_sb_code *c, const cbi_sb_block *block, const bool *idle,
                           uint32_t *ret_cycles)
{
    time_block(c, block, idle, 0, ret_cycles);
}

void cbi_pace_cycles(const cbi_sb_code *c, const bool *idle, uint32_t *ret_cycles)
{
    int64_t busy = 0;
    for (uint32_t b = 0; b < c->blocks.len; b++) {
        const cbi_sb_block *block = &c->blocks.items[b];
        if (!cbi_pace_follows_sync(c, block->start))
            busy = 0;
        busy = time_block(c, block, idle, busy, ret_cycles);
    }
}

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
    return is_power(w) ? CBI_ORDER_POWER : CBI_ORDER_SPECIAL;
}

bool cbi_pace_is_math(uint32_t op)
{
    kind k = cbi_op_kind(op);
    return cbi_kind_is_math(k) || k == CBI_KIND_COUNTER || k == CBI_KIND_TO_UNIFORM ||
           is_uniform(k);
}
