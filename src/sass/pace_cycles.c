/* Cycles between the instructions of code whose pace changes.
 *
 * A stall count of the input that the distances of this table explain becomes what they demand now;
 * one that they do not explain stays.  No two instructions that are not computed by the slow unit
 * come closer to each other than in the input, unless the table has a distance for them.
 * docs/code-rewriting.md has the table and how it was found. */
#include "sass/pace_code.h"

uint32_t cbi_pace_occupancy(uint32_t op)
{
    enum { DOUBLE = 64, MATRIX_OF_DOUBLES = 584, OP_IMMA = 0x237, OP_DMMA = 0x23f };
    switch (op & 0x1ff) {
    case 0x028: /* DMUL */
    case 0x029: /* DADD */
    case 0x02a: /* DSETP */
    case 0x02b: /* DFMA */
    case 0x110: /* conversions with a side of 64 bits */
    case 0x111:
    case 0x112:
    case 0x113:
        return DOUBLE;
    default:
        return op == OP_IMMA ? DOUBLE : op == OP_DMMA ? MATRIX_OF_DOUBLES : 0;
    }
}

enum {
    FAR = 20, /* as far apart as in the input; no result takes longer without a scoreboard */
    READ_TIME = 2,
    GUARD_LATENCY = 13,
    SPECIAL_CYCLES = 8,
    SLOW_EXPLAINS = 24, /* cycles that the slow unit's instructions take on sm_100, at most */
    CONTROL_STALL = 5,
    OP_BSSY = 0x945,
    OP_BAR = 0xb1d,
    OP_RET = 0x950,
    OP_LDCU = 0x7ac,
    OP_S2R = 0x919,
    OP_S2UR = 0x9c3,
};

/* What an instruction is, as far as distances depend on it. */
typedef enum kind {
    KIND_OTHER,
    KIND_ALU,
    KIND_MULTIPLY,
    KIND_WIDE, /* products of 64 bits */
    KIND_FLOAT,
    KIND_HALF,
    KIND_COUNTER, /* CS2R */
    KIND_TO_UNIFORM,
    KIND_UNIFORM,
    KIND_UNIFORM_MOVE,
    KIND_MEMORY,
    KIND_CONSTANT, /* LDC */
    KIND_SPECIAL,  /* transcendental functions, conversions of 32 bits, POPC */
    KIND_LATE,     /* other results with scoreboards */
    KIND_CONVERT,
    KIND_SLOW,
    KIND_CONTROL,
    KIND_CALL,
} kind;

static bool is_listed(uint32_t op, const uint16_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == op)
            return true;
    return false;
}

static kind arithmetic_kind(uint32_t base)
{
    static const uint16_t alu[] = {0x02, 0x07, 0x08, 0x09, 0x0b, 0x0c, 0x10, 0x11,
                                   0x12, 0x14, 0x16, 0x17, 0x19, 0x1a, 0x1c, 0x48};
    static const uint16_t half[] = {0x30, 0x31, 0x32, 0x34};
    if (is_listed(base, alu, CBI_COUNT(alu)))
        return KIND_ALU;
    if (is_listed(base, half, CBI_COUNT(half)))
        return KIND_HALF;
    switch (base) {
    case 0x24:
    case 0x27:
    case 0x36:
        return KIND_MULTIPLY;
    case 0x25:
        return KIND_WIDE;
    case 0x20:
    case 0x21:
    case 0x23:
        return KIND_FLOAT;
    case 0x90:
    case 0x91:
    case 0x92:
    case 0x99:
    case 0x8c:
    case 0x9c:
        return KIND_UNIFORM;
    default:
        return KIND_OTHER;
    }
}

static kind kind_of(uint32_t op)
{
    static const uint16_t memory[] = {0x980, 0x981, 0x983, 0x984, 0x985, 0x986, 0x387, 0x388,
                                      0x988, 0x98a, 0x9a8, 0x3a9, 0x98c, 0x38c, 0xf66, 0x98f,
                                      0x9a3, 0x98e, 0x38a, 0x3a8, 0x3a3, 0x97e, 0x97f};
    static const uint16_t late[] = {0x7ac, 0x919, 0x9c3, 0x389, 0x589, 0x989,
                                    0xf89, 0x83b, 0x3a1, 0x31c, 0xb1d};
    static const uint16_t control[] = {0x947, 0x547, 0x94d, 0x941, 0x948, OP_BSSY};
    static const uint16_t calls[] = {0x943, 0x944, 0x343, OP_RET};
    if (cbi_pace_occupancy(op))
        return (op & 0x1f0) == 0x110 ? KIND_CONVERT : KIND_SLOW;
    if (is_listed(op, memory, CBI_COUNT(memory)))
        return KIND_MEMORY;
    if (is_listed(op, late, CBI_COUNT(late)))
        return KIND_LATE;
    if ((op >= 0x300 && op <= 0x309) || (op >= 0xd00 && op <= 0xd09))
        return KIND_SPECIAL;
    if (is_listed(op, control, CBI_COUNT(control)))
        return KIND_CONTROL;
    if (is_listed(op, calls, CBI_COUNT(calls)))
        return KIND_CALL;
    switch (op) {
    case 0xb82:
        return KIND_CONSTANT;
    case 0x805:
        return KIND_COUNTER;
    case 0x2ca:
        return KIND_TO_UNIFORM;
    case 0x882:
    case 0xc82:
        return KIND_UNIFORM_MOVE;
    default:
        return op & 0x100 ? KIND_OTHER : arithmetic_kind(op & 0x1ff);
    }
}

static bool is_late(kind k)
{
    return k >= KIND_MEMORY && k <= KIND_SLOW;
}

static bool is_math(kind k)
{
    return k >= KIND_ALU && k <= KIND_HALF;
}

static bool is_uniform(kind k)
{
    return k == KIND_UNIFORM || k == KIND_UNIFORM_MOVE;
}

/* ---- predicates ---- */

typedef struct flags {
    uint8_t written, guard, read;
    uint8_t uniform_written, uniform_read;
} flags;

static uint8_t one(cbi_sass w, unsigned low)
{
    uint64_t p = cbi_sass_bits(w, low, 3);
    return p == 7 ? 0 : (uint8_t)(1u << p);
}

/* Arithmetic that writes predicates: comparisons, and carries. */
static uint8_t written_by(cbi_sass w, uint32_t base)
{
    switch (base) {
    case 0x0b:
    case 0x0c:
    case 0x1c:
    case 0x2a:
    case 0x10:
        return one(w, 81) | one(w, 84);
    case 0x11:
    case 0x12:
    case 0x25:
        return one(w, 81);
    default:
        return 0;
    }
}

static uint8_t uniform_written_by(cbi_sass w, uint32_t base)
{
    switch (base) {
    case 0x8c:
    case 0x90:
    case 0x9c:
        return one(w, 81) | one(w, 84);
    case 0x91:
    case 0x92:
        return one(w, 81);
    default:
        return 0;
    }
}

static uint8_t read_by(cbi_sass w, uint32_t base)
{
    enum { EXTENDED = 74 };
    switch (base) {
    case 0x0c:
        return one(w, 87) | one(w, 68);
    case 0x10:
        return one(w, 87) | one(w, 77);
    case 0x1c:
        return one(w, 87) | one(w, 77) | one(w, 68);
    case 0x24:
    case 0x25:
        return cbi_sass_bits(w, EXTENDED, 1) ? one(w, 87) : 0;
    case 0x02:
    case 0x14:
    case 0x16:
    case 0x19:
        return 0;
    default:
        return one(w, 87);
    }
}

static flags flags_of(cbi_sass w)
{
    uint32_t op = cbi_sass_op(w), base = op & 0x1ff;
    kind k = kind_of(op);
    flags f = {.guard = one(w, 12)};
    if (is_uniform(k)) {
        f.uniform_read = f.guard | one(w, 87) | one(w, 77) | one(w, 68);
        f.uniform_written = uniform_written_by(w, base);
        f.guard = 0;
    } else if (op == 0x547) {
        f.read = one(w, 87);
        f.uniform_read = one(w, 24);
    } else if (k == KIND_SLOW) {
        f.written = base == 0x2a ? written_by(w, base) : 0;
        f.read = base == 0x2a ? one(w, 87) : 0;
    } else if (is_math(k)) {
        f.written = written_by(w, base);
        f.read = k == KIND_FLOAT || k == KIND_HALF ? 0 : read_by(w, base);
    } else if (k == KIND_LATE || k == KIND_SPECIAL) {
        f.read = op == OP_BAR ? one(w, 87) : 0;
        f.written = base == 0x189 || op == 0x31c ? one(w, 81) : 0;
    } else if (k != KIND_MEMORY && k != KIND_CONSTANT && k != KIND_CONVERT) {
        f.read = one(w, 87);
        f.written = k == KIND_OTHER ? one(w, 81) : 0;
    }
    return f;
}

/* ---- distances ---- */

/* From an instruction that writes a general register, without a scoreboard, to one that reads it.
 */
static uint32_t result_latency(kind from, kind to)
{
    if (from == KIND_COUNTER)
        return to == KIND_OTHER ? FAR : 5;
    if (from == KIND_WIDE)
        return to == KIND_MEMORY ? 5 : FAR;
    if (!is_math(from))
        return FAR;
    switch (to) {
    case KIND_SLOW:
        return 6;
    case KIND_MEMORY:
        return 5;
    case KIND_CONVERT:
    case KIND_CONSTANT:
    case KIND_SPECIAL:
        return from == KIND_HALF ? FAR : 4;
    case KIND_ALU:
        return from == KIND_ALU ? 4 : 5;
    case KIND_MULTIPLY:
    case KIND_WIDE:
        return from == KIND_MULTIPLY ? 4 : 5;
    case KIND_FLOAT:
        return from == KIND_FLOAT ? 4 : 5;
    case KIND_HALF:
        return 5;
    default:
        return FAR;
    }
}

/* From one that writes a register to another that writes it. */
static uint32_t rewrite_latency(kind from, kind to)
{
    if (is_late(to))
        return is_math(from) ? 6 : FAR;
    if (from == KIND_COUNTER && to == KIND_COUNTER)
        return 2;
    if (!is_math(from) || !is_math(to))
        return FAR;
    return (from == KIND_ALU || from == KIND_MULTIPLY) && (to == KIND_ALU || to == KIND_MULTIPLY)
               ? 1
               : 5;
}

static uint32_t uniform_latency(kind from, kind to)
{
    if (from == KIND_UNIFORM_MOVE)
        return is_math(to) || to == KIND_SLOW ? 2 : is_uniform(to) ? 4 : FAR;
    if (from == KIND_TO_UNIFORM)
        return GUARD_LATENCY;
    if (from == KIND_UNIFORM)
        return is_math(to) ? 6 : to == KIND_UNIFORM ? 4 : FAR;
    return FAR;
}

static bool is_population(cbi_sass w)
{
    return cbi_sass_op(w) == 0x309 || cbi_sass_op(w) == 0xd09;
}

static bool is_power(cbi_sass w)
{
    enum { FUNCTION = 74, POWER_OF_TWO = 2 };
    return (cbi_sass_op(w) & 0xff) == 0x08 && cbi_sass_bits(w, FUNCTION, 6) == POWER_OF_TWO;
}

/* Between two of the unit for special functions, which POPC does not use on the target. */
static uint32_t special_distance(cbi_sass from, cbi_sass to)
{
    if (is_population(from) || is_population(to))
        return 1;
    return is_power(from) ? 4 : SPECIAL_CYCLES;
}

static bool takes_eight(kind k, uint32_t op)
{
    return k == KIND_CONSTANT || op == OP_S2UR || op == OP_BAR;
}

/* Between any two of the kinds: they share a unit, or the first one has a stall of its own. */
static uint32_t unit_distance(kind from, kind to, uint32_t op, uint32_t next, bool adjacent)
{
    bool alu = from == KIND_ALU || from == KIND_TO_UNIFORM || from == KIND_COUNTER;
    if (alu && (to == KIND_ALU || to == KIND_TO_UNIFORM || to == KIND_COUNTER))
        return 2;
    if (to >= KIND_MULTIPLY && to <= KIND_HALF && from >= KIND_MULTIPLY && from <= KIND_HALF)
        return from == KIND_WIDE ? 4 : from == KIND_FLOAT ? 1 : 2;
    if (from == KIND_MEMORY && to == KIND_MEMORY)
        return 4;
    if (takes_eight(from, op) && takes_eight(to, next))
        return 8;
    if (is_uniform(from))
        return adjacent && from == KIND_UNIFORM && to == KIND_UNIFORM ? 2 : 1;
    if (!adjacent || is_math(from) || (is_late(from) && from != KIND_LATE) || op == OP_LDCU)
        return 1;
    if (op == OP_S2R)
        return next == OP_S2R ? FAR : 1;
    if (op == OP_BAR)
        return to == KIND_MEMORY ? 6 : is_math(to) || to == KIND_SLOW ? 1 : FAR;
    if (op == OP_BSSY)
        return to == KIND_CONTROL ? 4 : 1;
    return FAR;
}

static uint32_t greater(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
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
    if (cbi_sass_bits(c->words[i], 12, 4) != 7)
        return;
    remove_registers(&of->registers.read, &a->written);
    remove_registers(&of->registers.written, &a->written);
    remove_registers(&of->registers.uniform_read, &a->uniform_written);
    of->predicates.guard &= (uint8_t)~f.written;
    of->predicates.read &= (uint8_t)~f.written;
}

/* Cycles from instruction i to j that nothing else watches over. */
static uint32_t distance(const cbi_sb_code *c, uint32_t i, uint32_t j, const uses *of,
                         bool adjacent)
{
    kind from = kind_of(cbi_sb_op(c, i)), to = kind_of(cbi_sb_op(c, j));
    const cbi_operands *a = &c->operands[i], *b = &of->registers;
    flags f = flags_of(c->words[i]), g = of->predicates;
    uint32_t least = unit_distance(from, to, cbi_sb_op(c, i), cbi_sb_op(c, j), adjacent);
    if (from == KIND_SPECIAL && to == KIND_SPECIAL)
        least = special_distance(c->words[i], c->words[j]);
    if (from == KIND_OTHER || (!is_late(from) && cbi_pace_is_opaque(cbi_sb_op(c, j))))
        return to == KIND_CALL && is_math(from) ? 7 : FAR;
    if (is_late(to) && !is_late(from) && cbi_regset_meet(&a->read, &c->operands[j].written))
        least = greater(least, READ_TIME);
    if (is_late(from))
        return least;
    if (cbi_regset_meet(&a->written, &b->read))
        least = greater(least, result_latency(from, to));
    if (cbi_regset_meet(&a->written, &b->written))
        least = greater(least, rewrite_latency(from, to));
    if (adjacent && is_uniform(from) && is_math(to) && cbi_regset_any(&c->operands[j].uniform_read))
        least = greater(least, 2); /* whatever it reads there */
    if (cbi_regset_meet(&a->uniform_written, &b->uniform_read))
        least = greater(least, uniform_latency(from, to));
    if (cbi_regset_meet(&a->uniform_written, &b->uniform_written) ||
        (f.uniform_written & (g.uniform_read | g.uniform_written)))
        least = FAR;
    if (f.written & g.guard)
        least = greater(least, from == KIND_ALU ? GUARD_LATENCY : FAR);
    if (f.written & g.read)
        least = greater(least, from != KIND_ALU || to == KIND_CONTROL ? FAR
                               : to == KIND_ALU                       ? 4
                               : to == KIND_MULTIPLY                  ? 5
                                                                      : FAR);
    if (f.written & g.written)
        least = greater(least, is_late(to) ? GUARD_LATENCY - 1 : from == to ? 2 : FAR);
    return least;
}

/* What j now writes late must not be overtaken by i, which writes it, too. */
static uint32_t overtaking(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    kind from = kind_of(cbi_sb_op(c, i));
    if (!cbi_pace_occupancy(cbi_sb_op(c, j)) || is_late(from))
        return 0;
    if (flags_of(c->words[i]).written & flags_of(c->words[j]).written)
        return GUARD_LATENCY - 1;
    return cbi_regset_meet(&c->operands[i].written, &c->operands[j].written) ? 6 : 0;
}

/* Has the time from i to j in the input anything to do with the slow unit? */
static bool is_slow_pair(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    kind from = kind_of(cbi_sb_op(c, i)), to = kind_of(cbi_sb_op(c, j));
    const cbi_operands *a = &c->operands[i], *b = &c->operands[j];
    bool special = from == KIND_SPECIAL || from == KIND_CONVERT;
    if (special && (to == KIND_SPECIAL || to == KIND_CONVERT))
        return true;
    if (from != KIND_SLOW)
        return false;
    return to == KIND_SLOW || cbi_regset_meet(&a->written, &b->read) ||
           cbi_regset_meet(&a->written, &b->written) ||
           (a->predicates_written &
            (b->predicates_read | flags_of(c->words[j]).read | flags_of(c->words[j]).written));
}

/* ---- a block ---- */

typedef struct block_times {
    const cbi_sb_code *c;
    uint32_t count;
    uint32_t *at;    /* instructions, without those that only take time */
    int64_t *before; /* when they are issued in the input, and the end */
    int64_t *now;
} block_times;

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
static bool is_awaited(const block_times *t, uint32_t k)
{
    cbi_sass w = t->c->words[t->at[k]];
    uint64_t write = cbi_sass_bits(w, 110, 3), read = cbi_sass_bits(w, 113, 3);
    uint64_t own = (UINT64_C(1) << write | UINT64_C(1) << read) & CBI_SB_EVERYTHING;
    for (uint32_t n = k + 1; n < t->count; n++) {
        if (cbi_sass_bits(t->c->words[t->at[n]], 116, 6) & own)
            return true;
        if (own_stall(t, n))
            break;
    }
    return false;
}

static int64_t issue(const block_times *t, uint32_t k, int64_t unit_free)
{
    const cbi_sb_code *c = t->c;
    uint32_t j = t->at[k];
    uses of = uses_of(c, j);
    int64_t need = t->now[k - 1] + least_stall(t, k - 1);
    int64_t explained = t->before[k - 1] + 1;
    for (uint32_t n = k; n-- > 0 && t->before[n] + 2 * FAR > t->before[k - 1];) {
        uint32_t i = t->at[n];
        int64_t apart = t->before[k] - t->before[n];
        int64_t least = distance(c, i, j, &of, n + 1 == k);
        need = later(need, t->now[n] + (least < apart ? least : apart));
        need = later(need, t->now[n] + overtaking(c, i, j));
        explained = later(explained, t->before[n] + (least < apart ? least : apart));
        if (is_slow_pair(c, i, j))
            explained =
                later(explained, t->before[n] + (apart < SLOW_EXPLAINS ? apart : SLOW_EXPLAINS));
        hide(c, i, &of);
    }
    if (is_awaited(t, k - 1)) {
        need = later(need, t->now[k - 1] + 2);
        explained = later(explained, t->before[k - 1] + 2);
    }
    if (t->before[k] > explained)
        need = later(need, t->now[k - 1] + own_stall(t, k - 1));
    return cbi_pace_occupancy(cbi_sb_op(c, j)) ? later(need, unit_free) : need;
}

/* The end of the block: results are there in time for the first instruction of the next one. */
static int64_t leave(const block_times *t, bool goes_on)
{
    const cbi_sb_code *c = t->c;
    uint32_t k = t->count, last = t->at[k - 1];
    kind of_last = kind_of(cbi_sb_op(c, last));
    int64_t need = t->now[k - 1] + least_stall(t, k - 1);
    int64_t explained = t->before[k - 1] + 1;
    bool holds = cbi_sass_bits(c->words[last], 110, 3) < CBI_SB_NUMBERS ||
                 cbi_sass_bits(c->words[last], 113, 3) < CBI_SB_NUMBERS;
    bool branches = of_last == KIND_CONTROL && cbi_sb_op(c, last) != OP_BSSY;
    int64_t own = branches || of_last == KIND_CALL ? CONTROL_STALL
                  : of_last == KIND_OTHER          ? FAR
                  : holds                          ? 2
                                                   : 1;
    if (own > 2 && own > own_stall(t, k - 1))
        own = own_stall(t, k - 1);
    need = later(need, t->now[k - 1] + own);
    explained = later(explained, t->before[k - 1] + own);
    for (uint32_t n = 0; goes_on && n < k; n++) {
        const cbi_operands *o = &c->operands[t->at[n]];
        kind from = kind_of(cbi_sb_op(c, t->at[n]));
        flags f = flags_of(c->words[t->at[n]]);
        int64_t apart = t->before[k] - t->before[n], least = 0;
        if (from == KIND_SLOW)
            explained =
                later(explained, t->before[n] + (apart < SLOW_EXPLAINS ? apart : SLOW_EXPLAINS));
        if (is_late(from))
            continue;
        if (from == KIND_OTHER)
            least = FAR;
        else if (f.uniform_written)
            least = (cbi_sb_op(c, t->at[n]) & 0x1ff) == 0x9c ? 11 : 14;
        else if (f.written)
            least = GUARD_LATENCY;
        else if (cbi_regset_any(&o->uniform_written))
            least = from == KIND_TO_UNIFORM ? GUARD_LATENCY : from == KIND_UNIFORM_MOVE ? 8 : 12;
        else if (cbi_regset_any(&o->written))
            least = 7;
        need = later(need, t->now[n] + (least < apart ? least : apart));
        explained = later(explained, t->before[n] + (least < apart ? least : apart));
    }
    if (t->before[k] > explained && (goes_on || !branches))
        need = later(need, t->now[k - 1] + own_stall(t, k - 1));
    return need;
}

static void time_block(const cbi_sb_code *c, const cbi_sb_block *b, const bool *idle,
                       uint32_t *cycles)
{
    uint32_t size = b->end - b->start;
    block_times t = {.c = c,
                     .at = CBI_NEW_ARRAY(c->ctx, size, uint32_t),
                     .before = CBI_NEW_ARRAY(c->ctx, size + 1, int64_t),
                     .now = CBI_NEW_ARRAY(c->ctx, size + 1, int64_t)};
    int64_t time = 0, unit_free = 0;
    for (uint32_t i = b->start; i < b->end; i++) {
        if (!idle[i]) {
            t.before[t.count] = time;
            t.at[t.count++] = i;
        }
        time += (int64_t)cbi_sass_bits(c->words[i], 105, 4);
    }
    t.before[t.count] = time;
    for (uint32_t k = 0; k < t.count; k++) {
        t.now[k] = k ? issue(&t, k, unit_free) : 0;
        uint32_t occupied = cbi_pace_occupancy(cbi_sb_op(c, t.at[k]));
        if (occupied)
            unit_free = t.now[k] + occupied;
    }
    t.now[t.count] = leave(&t, b->succ.len > 0 || cbi_sb_op(c, b->end - 1) == OP_RET);
    for (uint32_t k = 0; k < t.count; k++)
        cycles[t.at[k]] = (uint32_t)(t.now[k + 1] - t.now[k]);
}

void cbi_pace_cycles(const cbi_sb_code *c, const bool *idle, uint32_t *ret_cycles)
{
    for (uint32_t b = 0; b < c->blocks.len; b++) {
        const cbi_sb_block *block = &c->blocks.items[b];
        if (block->end < c->n || block->end - block->start > 1)
            time_block(c, block, idle, ret_cycles);
    }
}

void cbi_pace_predicates(cbi_sass w, uint8_t *ret_written, uint8_t *ret_read)
{
    enum { OP_P2R = 0x803, EVERYTHING = 0x7f };
    flags f = flags_of(w);
    *ret_written = f.written;
    *ret_read = f.guard | f.read | (cbi_sass_op(w) == OP_P2R ? EVERYTHING : 0);
}

bool cbi_pace_is_opaque(uint32_t op)
{
    static const uint16_t known[] = {0x803, 0x804, 0x806, 0x886, 0x91a, 0x992, 0x9ab,
                                     0x5ab, 0x348, 0x948, 0x91b, 0x95c, 0x95d, 0x946,
                                     0x942, 0x35d, 0x2cc, 0x3c4, 0xc82, 0x918};
    kind k = kind_of(op);
    return k == KIND_CALL || (k == KIND_OTHER && !is_listed(op, known, CBI_COUNT(known)) &&
                              (op & 0x100 || (op & 0xff) >= 0x80));
}

bool cbi_pace_is_other(cbi_sass w)
{
    return is_population(w) || (kind_of(cbi_sass_op(w)) == KIND_SPECIAL && is_power(w));
}

bool cbi_pace_is_math(uint32_t op)
{
    kind k = kind_of(op);
    return is_math(k) || k == KIND_COUNTER || k == KIND_TO_UNIFORM || is_uniform(k);
}
