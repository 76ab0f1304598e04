/* When the instructions of code are issued whose pace changes.
 *
 * A stall count of the input that the distances between instructions explain becomes what they
 * demand now; one that they do not explain stays.  No two instructions that are not computed by the
 * slow unit come closer to each other than in the input, unless there is a distance for them.  Of
 * code that was not scheduled the input says nothing. */
#include "sass/pace_distance.h"

enum {
    HELD_LOOP = 3, /* cycles that a loop of one block takes longer where it holds the warp */
    WINDOW =
        2 * CBI_PACE_FAR, /* instructions that long before one have no say in when it is issued */
    REACH = 2 * WINDOW,   /* so many before it, with the parts of fences, which take no time */
};

typedef struct block_times {
    const cbi_sb_code *c;
    uint32_t start, count;
    uint32_t *at;    /* instructions, without those that only take time; NULL: all from start on */
    int64_t *before; /* when they are issued in the input, and the end */
    int64_t *now;
    const int64_t *stalls; /* sums of stall counts; NULL: the units are not those of the input */
    bool anew;             /* the input says nothing */
    bool parted;           /* in the input the block started earlier */
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

/* The distance from n to k, `least` as far as is known, but not more than in the input.  What only
 * takes time by itself does so for the next one. */
static int64_t bounded(const block_times *t, uint32_t n, uint32_t k, int64_t least)
{
    uint32_t op = cbi_sb_op(t->c, instruction(t, n));
    bool is_use = least < CBI_PACE_FAR && n + 1 < k && !cbi_op_is_barrier(op) &&
                  !cbi_sass_is_never(t->c->words[instruction(t, n)]) &&
                  !cbi_op_has(op, CBI_OPF_WARP | CBI_OPF_FENCE);
    if (t->stalls && t->before[n + 1] == t->before[k] && /* parts of fences take no time */
        cbi_pace_own_stall(t->c, instruction(t, n), instruction(t, k) + 1))
        return 1;
    const int64_t *before = t->stalls && is_use ? t->stalls : t->before;
    int64_t gap = t->anew ? INT64_MAX : before[k] - before[n];
    return least < gap ? least : gap;
}

/* Waits between two instructions do not make up for the time that their unit takes. */
static int64_t when_unit_is_free(const block_times *t, uint32_t n, uint32_t k)
{
    const int64_t *stalls = t->stalls;
    int64_t cycles = cbi_pace_unit_distance(t->c, instruction(t, n), instruction(t, k));
    int64_t gap = stalls[k] - stalls[n], passed = stalls[k - 1] - stalls[n];
    uint32_t last = instruction(t, k - 1);
    return t->now[k - 1] + (cycles < gap ? cycles : gap) - passed -
           cbi_pace_own_stall(t->c, last, last + 2);
}

/* A point of time, now and in the input. */
typedef struct unit_times {
    int64_t now, before;
} unit_times;

/* unit_free: when the slow unit is. */
static int64_t issue(const block_times *t, uint32_t k, unit_times unit_free)
{
    const cbi_sb_code *c = t->c;
    uint32_t j = instruction(t, k);
    cbi_pace_uses of = cbi_pace_uses_of(c, j);
    int64_t need = t->now[k - 1] + least_stall(t, k - 1);
    int64_t explained = t->before[k - 1] + 1;
    uint32_t first = k > REACH ? k - REACH : 0;
    int64_t never = 0; /* loads that never happen, which take no time */
    const int64_t *time = t->anew ? t->now : t->before;
    for (uint32_t n = k; n-- > first && time[n] + WINDOW > time[k - 1];) {
        uint32_t i = instruction(t, n);
        uint32_t distance = cbi_pace_distance(c, i, j, &of, n + 1 == k);
        int64_t least = bounded(t, n, k, never + distance);
        /* What a barrier keeps free behind it, and a unit, is no time for a clock of waits. */
        if (!t->stalls ||
            (!cbi_op_is_barrier(cbi_sb_op(c, i)) && cbi_pace_unit_distance(c, i, j) < distance))
            need = later(need, t->now[n] + least);
        need = later(need, t->now[n] + cbi_pace_overtaking(c, i, j));
        explained = later(explained, t->before[n] + least);
        int64_t known = t->stalls ? cbi_pace_unit_time(c, i, j) : cbi_pace_explained(c, i, j);
        int64_t of_unit = bounded(t, n, k, known ? known + never : 0);
        explained = later(explained, t->before[n] + of_unit);
        if (t->stalls)
            need = later(need, when_unit_is_free(t, n, k));
        if (t->stalls && !cbi_pace_passes_doubles(c, i, j))
            need = later(need, t->now[n] + of_unit);
        cbi_pace_hide(c, i, &of);
        never += !t->stalls && cbi_sass_is_never(c->words[i]);
    }
    if (cbi_pace_slow_time(c, j)) {
        need = later(need, unit_free.now);
        explained = later(explained, unit_free.before);
    }
    if (is_awaited(t, k - 1, c->words))
        need = later(need, t->now[k - 1] + 2);
    if (is_awaited(t, k - 1, c->input ? c->input : c->words))
        explained = later(explained, t->before[k - 1] + 2);
    bool unknown = t->anew || (t->parted && t->before[k] - t->before[0] < WINDOW);
    if (t->before[k] > explained && !unknown)
        need = later(need, t->now[k - 1] + own_stall(t, k - 1));
    return need;
}

/* When instruction i of the block, not the first one, may be issued at the soonest, but for waits
 * of its own.  Stall counts are there for distances, which waits make up for. */
static int64_t tick(cbi_pace_clock *clock, uint32_t i)
{
    const int64_t *slot = clock->slot, *issued = clock->issue;
    uint32_t k = i - clock->start, last = k - 1;
    bool behind_barrier = clock->waited && cbi_op_is_barrier(cbi_sb_op(clock->c, i - 1));
    if (last > 0 &&
        (behind_barrier || issued[last] - slot[last] != issued[last - 1] - slot[last - 1]))
        clock->moved = last;
    if (!clock->moved || slot[clock->moved - 1] + WINDOW <= slot[last])
        return issued[last] + slot[k] - slot[last];
    block_times t = {.c = clock->c,
                     .start = clock->start,
                     .count = k + 1,
                     .before = clock->slot,
                     .now = clock->issue,
                     .stalls = clock->stalls};
    return issue(&t, k, (unit_times){0});
}

enum {
    BAR_CYCLES = 1,
    DEPBAR_CYCLES = 1,
    FENCE_CYCLES = 1, /* one that reports no errors */
};

static bool is_short_wait(const cbi_sb_code *c, uint32_t i)
{
    return cbi_sb_op(c, i) == CBI_OP_DEPBAR && cbi_sass_stall(c->words[i]) == CBI_PACE_DEPBAR;
}

/* The stall count of instruction `i` as far as sums of them are time: loads in front of a fence
 * never happen. */
static int64_t full_stall(const cbi_sb_code *c, uint32_t i)
{
    if (is_short_wait(c, i))
        return DEPBAR_CYCLES;
    return cbi_pace_unit_cycles(c->words[i], (uint32_t)cbi_sb_cycles(c, i));
}

/* The last instruction of a fence that no report of errors follows. */
static bool ends_quiet_fence(const cbi_sb_code *c, uint32_t i)
{
    uint32_t next = i + 1 < c->n ? cbi_sb_op(c, i + 1) : 0;
    return cbi_sb_op(c, i) == CBI_OP_MEMBAR && next != CBI_OP_MEMBAR && next != CBI_OP_ERRBAR;
}

/* The stall count of instruction `i` of the block in front of `end`, as far as it is time where the
 * block has waited. */
static int64_t time_of(const cbi_sb_code *c, uint32_t i, uint32_t end)
{
    if (cbi_op_is_barrier(cbi_sb_op(c, i)))
        return BAR_CYCLES;
    if (is_short_wait(c, i))
        return DEPBAR_CYCLES;
    return ends_quiet_fence(c, i) ? FENCE_CYCLES : cbi_pace_reckoned(c, i, end);
}

void cbi_pace_advance(cbi_pace_clock *clock, uint32_t i, uint32_t end, int64_t arrival)
{
    const cbi_sb_code *c = clock->c;
    const uint32_t k = i - clock->start;
    int64_t *slot = clock->slot, *stalls = clock->stalls, *issued = clock->issue;
    int64_t time = k ? tick(clock, i) : 0;
    issued[k] = time = later(later(time, arrival), stalls[k]);
    clock->waited |= k > 0 && time - issued[k - 1] != slot[k] - slot[k - 1];
    stalls[k + 1] = stalls[k] + full_stall(c, i);
    slot[k + 1] = slot[k] + (clock->waited ? time_of(c, i, end) : full_stall(c, i));
}

/* Cycles that the last instruction of the block takes itself. */
static int64_t last_stall(const block_times *t)
{
    const cbi_sb_code *c = t->c;
    uint32_t last = t->at[t->count - 1], now = own_stall(t, t->count - 1);
    cbi_sass_kind k = cbi_op_kind(cbi_sb_op(c, last));
    bool branches = k == CBI_KIND_CONTROL && cbi_sb_op(c, last) != CBI_OP_BSSY;
    bool five = branches || k == CBI_KIND_CALL || cbi_op_has(cbi_sb_op(c, last), CBI_OPF_WARP) ||
                (c->anew && cbi_sb_op(c, last) == CBI_OP_BPT);
    bool six = cbi_sb_op(c, last) == CBI_OP_ENDCOLLECTIVE || cbi_op_is_barrier(cbi_sb_op(c, last));
    bool again = branches && cbi_sb_is_held_loop(c, c->block_of[last]);
    uint32_t own = again                              ? CBI_PACE_CONTROL + HELD_LOOP
                   : five                             ? CBI_PACE_CONTROL
                   : six                              ? CBI_PACE_BARRIER
                   : cbi_sb_op(c, last) == CBI_OP_NOP ? 1
                   : k == CBI_KIND_OTHER              ? CBI_PACE_FAR
                   : k == CBI_KIND_PAIR               ? 2
                   : cbi_sass_holds(c->words[last])   ? 2
                                                      : 1;
    return own > 2 && own > now ? now : own;
}

/* The end of the block: results are there in time for the first instruction of the next one. */
static int64_t leave(const block_times *t, bool goes_on)
{
    const cbi_sb_code *c = t->c;
    const uint32_t next = t->at[t->count - 1] + 1;
    const bool anew = t->anew || (c->labels && next < c->n && c->labels[next]);
    uint32_t k = t->count, last = cbi_sb_op(c, t->at[k - 1]);
    int64_t own = last_stall(t);
    int64_t need = later(t->now[k - 1] + least_stall(t, k - 1), t->now[k - 1] + own);
    int64_t explained = later(t->before[k - 1] + 1, t->before[k - 1] + own);
    bool branches = cbi_op_kind(last) == CBI_KIND_CONTROL && last != CBI_OP_BSSY;
    for (uint32_t n = 0; goes_on && n < k; n++) {
        cbi_sass_kind from = cbi_op_kind(cbi_sb_op(c, t->at[n]));
        int64_t gap = anew ? INT64_MAX : t->before[k] - t->before[n];
        if (from == CBI_KIND_SLOW)
            explained =
                later(explained,
                      t->before[n] + (gap < CBI_PACE_SLOW_EXPLAINS ? gap : CBI_PACE_SLOW_EXPLAINS));
        if ((cbi_pace_is_watched(c, t->at[n]) && !cbi_pace_is_fast_double(c, t->at[n])) ||
            from == CBI_KIND_CALL)
            continue;
        int64_t least = cbi_pace_leaves_after(c, t->at[n]);
        need = later(need, t->now[n] + (least < gap ? least : gap));
        explained = later(explained, t->before[n] + (least < gap ? least : gap));
    }
    if (t->before[k] > explained && !anew && (goes_on || !branches))
        need = later(need, t->now[k - 1] + own_stall(t, k - 1));
    return need;
}

/* What comes later than the dummy loads in front of it, which belong to it, does so with them. */
static void wait_ahead_of_dummies(const block_times *t, uint32_t k)
{
    if (k < 2 || cbi_sass_is_dummy_load(t->c->words[t->at[k]]))
        return;
    int64_t later_by = t->now[k] - t->now[k - 1] - 1;
    for (uint32_t n = k; n-- > 1 && cbi_sass_is_dummy_load(t->c->words[t->at[n]]);)
        t->now[n] += later_by;
}

/* A stretch of code in which time counts; `goes_on`: something follows it; `unit_free`: when the
 * slow unit is. */
typedef struct stretch {
    uint32_t start, end;
    bool goes_on;
    int64_t unit_free;
} stretch;

/* Does something in front of `end` wait for the result of instruction i, of its block, without
 * using it, as the ends of blocks do? */
static bool is_met_at_end(const cbi_sb_code *c, uint32_t i, uint32_t end)
{
    uint32_t number = cbi_sass_write(c->words[i]);
    uint8_t written, read, other;
    bool met =
        number == CBI_SB_NONE && cbi_instruction_of(cbi_sb_op(c, i))->slow == CBI_SLOW_DOUBLE;
    cbi_pace_predicates(c->words[i], &written, &other);
    for (uint32_t j = i + 1; j < end; j++) {
        cbi_pace_predicates(c->words[j], &other, &read);
        if (written & read || cbi_regset_meet(&c->operands[i].written, &c->operands[j].read))
            return false;
        met |= number != CBI_SB_NONE && cbi_sass_wait(c->words[j]) >> number & 1;
    }
    return met;
}

/* Returns for how long the slow unit is busy when the stretch is over. */
static int64_t time_stretch(const cbi_sb_code *c, const stretch *b, const bool *idle,
                            uint32_t *cycles)
{
    uint32_t size = b->end - b->start;
    block_times t = {.c = c,
                     .anew = c->anew,
                     .parted = c->labels && c->labels[b->start],
                     .at = CBI_NEW_ARRAY(c->ctx, size, uint32_t),
                     .before = CBI_NEW_ARRAY(c->ctx, size + 1, int64_t),
                     .now = CBI_NEW_ARRAY(c->ctx, size + 1, int64_t)};
    const cbi_sass *input = c->input ? c->input : c->words;
    int64_t time = 0;
    unit_times unit_free = {.now = b->unit_free, .before = b->unit_free};
    bool ahead = false; /* in NOPs that say what the stall count of the branch behind could not */
    uint32_t borrowed = 0, longest = c->held && c->held[c->block_of[b->start]]
                                         ? CBI_PACE_LONGEST_HELD
                                         : CBI_SASS_STALL_MAX;
    for (uint32_t i = b->start; i < b->end; i++) {
        uint32_t stall = cbi_sass_stall(input[i]);
        ahead = idle[i] && i > b->start &&
                (ahead || (!idle[i - 1] && cbi_sass_stall(input[i - 1]) < longest));
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
    uint32_t slow = CBI_SB_NOWHERE; /* the last one of the unit */
    for (uint32_t k = 0; k < t.count; k++) {
        t.now[k] = k ? issue(&t, k, unit_free) : 0;
        wait_ahead_of_dummies(&t, k);
        uint32_t occupied = cbi_pace_slow_time(c, t.at[k]);
        if (occupied) {
            slow = t.at[k];
            unit_free = (unit_times){t.now[k] + occupied, t.before[k] + occupied};
        }
        int64_t own = least_stall(&t, k);
        int64_t beside = own - cbi_pace_unit_cycles(c->words[t.at[k]], (uint32_t)own);
        unit_free.now += beside;
        unit_free.before += beside;
    }
    t.now[t.count] = leave(&t, b->goes_on);
    for (uint32_t k = 0; k < t.count; k++)
        cycles[t.at[k]] = (uint32_t)(t.now[k + 1] - t.now[k]);
    int64_t busy = unit_free.now - t.now[t.count];
    return busy > 0 && slow != CBI_SB_NOWHERE && is_met_at_end(c, slow, b->end) ? 0 : busy;
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
        uint32_t start = c->blocks.items[b].start;
        if (!cbi_pace_goes_on_at(c, start) && !cbi_pace_goes_on_at(c, start + 1))
            busy = 0;
        busy = time_block(c, &c->blocks.items[b], idle, busy, ret_cycles);
    }
}
