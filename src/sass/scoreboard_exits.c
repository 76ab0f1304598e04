/* Results that arrive while a barrier in front of an exit runs: the exit waits for them.  A short
 * producer whose result is due by the end of its block is waited for there, and three more
 * instructions move that end.  Rule and latencies: docs/code-rewriting.md. */
#include "sass/pace_code.h"
#include "sass/scoreboard_assign.h"
#include "sass/scoreboard_read.h"

enum {
    PREDICATE_LATENCY = 13,
    BARRIER_CYCLES = 2, /* the barrier as the one instruction that it is in Mercury code */
    BARRIER_STALLS = 7, /* the stall counts of its instructions, and one */
};

/* Estimated times in a block, by instruction from its start. */
typedef struct times {
    uint32_t start;
    int64_t *issue;  /* with waits, but never before the sum of stall counts */
    int64_t *stalls; /* sum of the stall counts alone */
    int64_t least;   /* issue of the last without its distance to what is in front of it */
    bool by_waits;   /* the sum of stall counts says nothing */
    /* by number, CBI_SB_NONE of what is to get one: when all that held it where the block starts is
     * there, though someone waited for it; 0 if nothing did */
    int64_t held[CBI_SB_NONE + 1];
} times;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Does it compare doubles, in a fixed time, and write the predicate? */
static bool compares_doubles(const cbi_sb_code *c, uint32_t i, uint32_t predicate)
{
    bool late = c->cycles || c->first[i] != c->first[i + 1];
    return !late && cbi_sass_compares_doubles(c->words[i], predicate);
}

/* When a predicate that instruction `end` reads is there. */
static int64_t predicate_time(const cbi_sb_code *c, const times *t, uint32_t end,
                              uint32_t predicate)
{
    for (uint32_t i = end; predicate != CBI_SASS_PT && i-- > t->start;) {
        bool doubles = compares_doubles(c, i, predicate);
        if (doubles || cbi_sass_writes_predicate(c->words[i], predicate))
            return t->issue[i - t->start] + PREDICATE_LATENCY +
                   (doubles || cbi_sass_compares_long(c->words[i]));
    }
    return 0;
}

/* Issue of instruction `end`, directly behind the one before it, whose stall count is for what the
 * end of the block needs; of that only the latency of its predicates is time, and the `arrival` of
 * what it waits for itself. */
static void tell_end(const cbi_sb_code *c, times *t, uint32_t end, int64_t cycles, int64_t arrival)
{
    cbi_sass w = c->words[end];
    uint32_t last = end - 1 - t->start;
    t->least =
        later(t->issue[last] + (cycles ? 1 : 0), predicate_time(c, t, end, cbi_sass_guard(w)));
    t->least = later(t->least, arrival);
    if (cbi_sass_op(w) == CBI_OP_EXIT)
        t->least = later(t->least, predicate_time(c, t, end, cbi_sass_read_predicate(w)));
    int64_t time = later(t->least, t->stalls[last + 1]);
    if (cbi_op_has(cbi_sb_op(c, end - 1), CBI_OPF_FENCE))
        time = later(time, t->issue[last] + cycles);
    t->issue[last + 1] = time;
}

/* Does it load from shared memory, or change it and load what was there? */
static bool loads_shared(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    switch (cbi_instruction_of(cbi_sb_op(c, p->at))->shape) {
    case CBI_SHAPE_ATOM_SHARED:
    case CBI_SHAPE_ATOM_SHARED_CAS:
    case CBI_SHAPE_ATOM_SHARED_CAST:
        return p->write;
    default:
        return cbi_sb_op(c, p->at) == CBI_OP_LDS;
    }
}

/* Is i the part of a load that acquires, of shared memory, too, which waits for the load?  To who
 * takes numbers those are ordinary users. */
static bool is_acquired(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    return cbi_sb_ends_load(c, p, i) && (p->is_long || loads_shared(c, p));
}

/* Is the wait of instruction `i` a part of what it waits for, the same instruction of Mercury code,
 * in which it takes no time?  So it is behind loads that acquire and behind fences. */
static bool is_joined(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    uint32_t op = cbi_sb_op(c, p->at);
    return is_acquired(c, p, i) || op == CBI_OP_MEMBAR ||
           (op == CBI_OP_FENCE_VIEW && p->at + 1 == i);
}

/* A comparison of doubles that the slow unit does? */
static bool is_slow_test(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return cbi_op_compares_doubles(cbi_sb_op(c, p->at)) && cbi_sb_is_in_unit(c, p->at);
}

/* Cycles until instruction `i`, which waits for the producer, has it: nobody waits for a number in
 * the cycle after it is taken.  What the slow unit compares is read at once (10 at most fit). */
static int64_t latency_for(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    enum { SOONEST = 2 };
    if (!p->write && is_slow_test(c, p))
        return SOONEST;
    return later(SOONEST, cbi_sb_is_for_test(c, p, i) ? cbi_sb_result_time(c->words[p->at], c->chip)
                                                      : cbi_sb_latency_at_end(c, p));
}

static void tell_held(const cbi_sb_code *c, uint32_t block, times *t)
{
    CBI_SB_EACH_OF(q, c->pending[t->start], true)
    {
        const cbi_sb_producer *p = &c->producers.items[q];
        if (p->block != block)
            t->held[p->old] = later(t->held[p->old], cbi_sb_left_over(c, q, block));
    }
}

/* The first instruction of the block that needs the producer for itself; CBI_SB_NOWHERE if none
 * does.  An earlier wait may have ended it, for others of its number or as a part of it. */
static uint32_t first_user(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t end)
{
    if (p->local == CBI_SB_NOWHERE || !is_joined(c, p, p->local))
        return p->local;
    int64_t instructions = later(latency_for(c, p, p->local), 0); /* a cycle each: it is there */
    for (uint32_t i = p->local + 1; i < end && i - p->local <= instructions; i++)
        if (cbi_sb_touches(c, p, i))
            return i;
    return CBI_SB_NOWHERE;
}

/* Does the producer write, late, the guard of instruction i? */
static bool writes_guard(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    uint32_t guard = cbi_sass_guard(c->words[i]);
    return guard != CBI_SASS_PT && cbi_sb_late_predicates(c, p) >> guard & 1;
}

/* Does instruction i compute with the predicate of a comparison of doubles that the slow unit does?
 * It takes longer than its stall count; as a guard, and for the barrier itself, it does not. */
static bool waits_for_test(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    return p->write && !writes_guard(c, p, i) && is_slow_test(c, p) &&
           cbi_kind_is_math(cbi_op_kind(cbi_sb_op(c, i)));
}

/* Fills in the times of the block up to and including `end`. */
static void tell_times(const cbi_sb_code *c, const cbi_sb_block *b, uint32_t end, times *t)
{
    uint32_t start = b->start, count = end - start + 1;
    int64_t *slot = CBI_NEW_ARRAY(c->ctx, count + 1, int64_t);
    int64_t *needed = CBI_NEW_ARRAY(c->ctx, count + 1, int64_t);
    *t = (times){.start = start,
                 .issue = CBI_NEW_ARRAY(c->ctx, count, int64_t),
                 .stalls = CBI_NEW_ARRAY(c->ctx, count + 1, int64_t)};
    tell_held(c, c->block_of[start], t);
    cbi_pace_clock clock = {
        .c = c, .start = start, .slot = slot, .stalls = t->stalls, .issue = t->issue};
    for (uint32_t i = start; i <= end; i++) {
        cbi_pace_advance(&clock, i, end, needed[i - start]);
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++) {
            const cbi_sb_producer *p = &c->producers.items[q];
            uint32_t user = first_user(c, p, end);
            if (user == CBI_SB_NOWHERE)
                continue;
            t->by_waits |= user < end && waits_for_test(c, p, user);
            int64_t *arrival = &needed[(user < end ? user : end) - start];
            *arrival = later(*arrival, t->issue[i - start] + latency_for(c, p, user));
        }
    }
    if (end > start)
        tell_end(c, t, end, slot[end - start] - slot[end - 1 - start], needed[end - start]);
}

/* By how many cycles the last part of a barrier in front of an exit comes later than `end` lets it:
 * it is 8 behind what the unit for constants and special registers does. */
static int64_t barrier_delay(const cbi_sb_code *c, uint32_t start, uint32_t end)
{
    enum { BEHIND = 8 };
    int64_t passed = 1;
    for (uint32_t i = end; i-- > start && passed < BEHIND;) {
        uint32_t op = cbi_sb_op(c, i);
        passed += cbi_sass_stall(c->words[i]);
        if (cbi_op_is_spaced(op))
            return passed < BEHIND ? BEHIND - passed : 0;
    }
    return 0;
}

static bool is_never_due(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return p->is_long || cbi_op_has(cbi_sb_op(c, p->at), CBI_OPF_COPY_END);
}

/* When the producer, and what held its number before, is there. */
static int64_t arrival_of(const cbi_sb_code *c, const times *t, const cbi_sb_producer *p)
{
    return later(t->issue[p->at - t->start] + cbi_sb_latency_at_end(c, p), t->held[p->old]);
}

/* By when is the producer due: without the barrier, with it, or later? */
typedef enum due_time { DUE_BEFORE, DUE_WITH_BARRIER, DUE_LATER } due_time;

static due_time is_due(const cbi_sb_code *c, const times *t, const cbi_sb_producer *p, uint32_t end)
{
    uint32_t last = end - t->start;
    int64_t arrival = arrival_of(c, t, p);
    if (is_never_due(c, p))
        return DUE_LATER;
    if (t->least >= arrival)
        return DUE_BEFORE;
    int64_t delay = barrier_delay(c, t->start, end);
    bool met = t->issue[last] + BARRIER_CYCLES + delay >= arrival;
    bool met_by_stalls = !t->by_waits && t->stalls[last] + BARRIER_STALLS + delay >= arrival;
    return met || met_by_stalls ? DUE_WITH_BARRIER : DUE_LATER;
}

/* Behind the last collective sequence in front of `end`, which ends with a wait for everything; a
 * CCTL or a NOP of a fence that waits so ends nothing. */
static uint32_t last_end(const cbi_sb_code *c, uint32_t start, uint32_t end)
{
    while (end > start && (!c->all[end - 1] || cbi_sb_op(c, end - 1) != CBI_OP_ENDCOLLECTIVE))
        end--;
    return end;
}

/* A fence whose last part waits for everything, which names no number. */
static bool is_awaited_by_all(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return p->at + 1 < c->n && cbi_sb_op(c, p->at) == CBI_OP_MEMBAR && c->all[p->at + 1];
}

/* The numbers all of whose pending holders are due, one bit each, and not all of them without the
 * barrier: the input would have waited for those.  Of those of blocks before the times know.  What
 * a part of a load that acquires has waited for is pending until it is used. */
static uint8_t due_numbers(const cbi_sb_code *c, const cbi_sb_block *b, const times *t,
                           uint32_t end)
{
    const uint32_t exit = b->end - 1, begin = last_end(c, b->start, exit);
    uint8_t due[DUE_LATER + 1] = {[DUE_LATER] = c->wait[exit]};
    CBI_SB_EACH_OF(q, c->pending[exit], true)
    {
        const cbi_sb_producer *p = &c->producers.items[q];
        bool here = p->at >= b->start && p->at < end && p->local == CBI_SB_NOWHERE;
        if ((here && p->at + 1 < begin) || is_awaited_by_all(c, p) ||
            (p->block != c->block_of[exit] && !is_never_due(c, p)))
            continue;
        due[here ? is_due(c, t, p, end) : DUE_LATER] |= (uint8_t)(1u << p->old);
    }
    uint8_t met = due[DUE_WITH_BARRIER];
    for (uint32_t q = c->first[b->start]; met && q < c->first[end]; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        if (p->local != CBI_SB_NOWHERE && is_acquired(c, p, p->local) &&
            first_user(c, p, end) == CBI_SB_NOWHERE)
            due[DUE_LATER] |= (uint8_t)(1u << p->old);
    }
    return met & (uint8_t)~due[DUE_LATER];
}

bool cbi_sb_find_barriers(const cbi_sb_code *c, const cbi_scoreboard_text *text,
                          uint8_t *ret_barrier)
{
    bool any = false;
    for (size_t i = 0; i < text->places; i++) {
        uint32_t at = text->self[i] / CBI_SASS_INSTRUCTION;
        if (text->self[i] <= text->place[i] || at >= c->n || cbi_sb_op(c, at) != CBI_OP_EXIT)
            continue;
        ret_barrier[at] = (uint8_t)((text->self[i] - text->place[i]) / CBI_SASS_INSTRUCTION);
        any = true;
    }
    return any;
}

/* Which part of the barrier in front of an exit waits.  Behind a fence it is the first one, and
 * NOPs may stand between the barrier and the exit. */
static uint32_t error_barrier(const cbi_sb_code *c, const uint8_t *barrier, uint32_t exit)
{
    uint32_t first = exit - barrier[exit];
    return first + (cbi_sb_op(c, first) == CBI_OP_MEMBAR ? 1 : 0);
}

/* The barrier in front of an exit, and not the exit, waits for a guard that another block writes
 * late.  False if there is no such. */
static bool lead_guards(cbi_sb_code *c, const uint8_t *barrier, uint32_t exit, uint8_t *waits)
{
    const uint32_t error = error_barrier(c, barrier, exit);
    bool any = false;
    CBI_SB_EACH_OF(q, c->pending[exit], true)
    {
        cbi_sb_producer *p = &c->producers.items[q];
        if (p->local != CBI_SB_NOWHERE || !writes_guard(c, p, exit))
            continue;
        for (size_t k = 0; k < p->consumers.len; k++) {
            if (p->consumers.items[k] != exit)
                continue;
            p->consumers.items[k] = error;
            waits[error] |= (uint8_t)(1u << p->old);
            any = true;
        }
    }
    return any;
}

bool cbi_sb_meet_exits(cbi_sb_code *c, const uint8_t *barrier, uint8_t *ret_waits)
{
    bool any = false;
    for (uint32_t n = 0; n < c->blocks.len; n++) {
        const cbi_sb_block *b = &c->blocks.items[n];
        uint32_t exit = b->end - 1;
        if (!barrier[exit] || exit < b->start + barrier[exit] || c->all[exit] ||
            cbi_sass_stall(c->words[exit]) == CBI_SASS_STALL_MAX)
            continue;
        uint32_t end = exit - barrier[exit];
        times t;
        tell_times(c, b, end, &t);
        uint8_t due = due_numbers(c, b, &t, end);
        ret_waits[exit] = due;
        any |= due != 0;
        any |= lead_guards(c, barrier, exit, ret_waits);
        CBI_SB_EACH_OF(q, c->pending[exit], due)
        {
            cbi_sb_producer *p = &c->producers.items[q];
            bool needed_later = p->block != n && p->consumers.len;
            if (!(due >> p->old & 1) || needed_later)
                continue;
            p->flush = true;
            cbi_vec_push(c->ctx, &p->consumers, exit);
        }
    }
    return any;
}

/* Does the exit wait for a producer of its block because the block ends, and not because every exit
 * waits for what has to do with uniform registers (rule 8)? */
static bool is_met_by_time(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t exit)
{
    return p->flush && p->local == CBI_SB_NOWHERE && cbi_sb_contains(&p->consumers, exit) &&
           !cbi_regset_any(&c->operands[p->at].uniform_written) &&
           !cbi_sb_reads_uniform_late(cbi_sb_op(c, p->at));
}

/* The numbers with a holder that is not there when the exit is issued without its barrier. */
static uint8_t for_barrier(const cbi_sb_code *c, const times *t, const cbi_sb_block *b)
{
    const uint32_t exit = b->end - 1;
    uint8_t numbers = 0;
    for (uint32_t q = c->first[b->start]; q < c->first[exit]; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        if (is_met_by_time(c, p, exit) && !is_never_due(c, p) &&
            t->issue[exit - t->start] < arrival_of(c, t, p))
            numbers |= (uint8_t)(1u << p->old);
    }
    return numbers;
}

/* The end of the block does not wait for the producer. */
static void pass_by(cbi_sb_producer *p, uint32_t end)
{
    size_t left = 0;
    for (size_t k = 0; k < p->consumers.len; k++)
        if (p->consumers.items[k] != end)
            p->consumers.items[left++] = p->consumers.items[k];
    p->consumers.len = left;
    p->flush = false;
}

/* What an exit does not wait for any more is pending where something behind it needs it, or takes
 * its number again, and calls and collective sequences need everything. */
static void reach_users(cbi_sb_code *c, cbi_sb_producer *p, uint32_t exit)
{
    cbi_u32_list todo = {0};
    uint32_t visit = ++c->visit;
    cbi_sb_push_next(c, exit, &todo);
    while (todo.len) {
        uint32_t i = todo.items[--todo.len];
        if (c->visited[i] == visit || cbi_sb_contains(&p->consumers, i))
            continue;
        c->visited[i] = visit;
        if (i == p->at || cbi_op_has(cbi_sb_op(c, i), CBI_OPF_CALL) || c->group[i] ||
            cbi_sb_needs(c, p, i))
            cbi_vec_push(c->ctx, &p->consumers, i);
        else
            cbi_sb_push_next(c, i, &todo);
    }
}

bool cbi_sb_leave_exits(cbi_sb_code *c, const bool *bare)
{
    bool any = false;
    for (uint32_t n = 0; n < c->blocks.len; n++) {
        const cbi_sb_block *b = &c->blocks.items[n];
        uint32_t exit = b->end - 1;
        times t;
        if (!bare[exit] || exit == b->start || c->all[exit] ||
            cbi_sass_stall(c->words[exit]) == CBI_SASS_STALL_MAX)
            continue;
        tell_times(c, b, exit, &t);
        uint8_t late = for_barrier(c, &t, b);
        for (uint32_t q = c->first[b->start]; q < c->first[exit]; q++) {
            cbi_sb_producer *p = &c->producers.items[q];
            if (!(late >> p->old & 1) || !is_met_by_time(c, p, exit))
                continue;
            pass_by(p, exit);
            reach_users(c, p, exit);
            any = true;
        }
    }
    return any;
}

/* ---- guards that the slow unit makes ---- */

/* The first instruction that needs what the slow unit does behind instruction i in its block, and
 * so has what i does; ret_number: the scoreboard.  CBI_SB_NOWHERE if none does. */
static uint32_t first_met(const cbi_sb_code *c, uint32_t i, uint8_t *ret_number)
{
    const uint32_t end = c->blocks.items[c->block_of[i]].end;
    uint32_t first = CBI_SB_NOWHERE;
    for (uint32_t q = c->first[i + 1]; q < c->first[end]; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        if (!p->write || !cbi_sb_keep_unit(c, i, p->at) || p->local >= first)
            continue;
        first = p->local;
        *ret_number = p->old;
    }
    return first;
}

/* The instruction of the block in front of `end` that writes the guard, if the slow unit does it
 * and it has no scoreboard. */
static uint32_t find_guard(const cbi_sb_code *c, uint32_t start, uint32_t end, uint32_t guard)
{
    for (uint32_t i = end; guard != CBI_SASS_PT && i-- > start;) {
        cbi_sass w = c->words[i];
        bool doubles = cbi_sass_compares_doubles(w, guard);
        if (doubles && cbi_sb_has_slow_doubles(c))
            return cbi_sass_write(w) == CBI_SB_NONE ? i : CBI_SB_NOWHERE;
        if (doubles || cbi_sass_writes_predicate(w, guard))
            break;
    }
    return CBI_SB_NOWHERE;
}

bool cbi_sb_part_guards(cbi_sb_code *c, const uint8_t *barrier, uint8_t *waits, cbi_sb_guide *guide)
{
    cbi_sb_producer_list added = {0};
    for (uint32_t n = 0; n < c->blocks.len; n++) {
        const cbi_sb_block *b = &c->blocks.items[n];
        uint32_t exit = b->end - 1;
        if (!barrier[exit] || exit < b->start + barrier[exit])
            continue;
        uint32_t i = find_guard(c, b->start, exit - barrier[exit], cbi_sass_guard(c->words[exit]));
        uint8_t number = CBI_SB_NONE;
        if (i == CBI_SB_NOWHERE || first_met(c, i, &number) != exit)
            continue;
        cbi_sb_producer guards = {.at = i,
                                  .block = n,
                                  .write = true,
                                  .old = CBI_SB_NONE,
                                  .local = error_barrier(c, barrier, exit)};
        cbi_vec_push(c->ctx, &guards.consumers, guards.local);
        cbi_vec_push(c->ctx, &added, guards);
        waits[guards.local] |= (uint8_t)(1u << number);
    }
    if (added.len)
        cbi_sb_insert(c, &added, guide);
    return added.len > 0;
}

bool cbi_sb_join_guards(cbi_sb_code *c, const bool *bare)
{
    bool any = false;
    for (uint32_t n = 0; n < c->blocks.len; n++) {
        const cbi_sb_block *b = &c->blocks.items[n];
        const uint32_t exit = b->end - 1;
        uint32_t first = CBI_SB_NOWHERE; /* who needs what the slow unit does behind */
        for (uint32_t q = c->first[b->end]; bare[exit] && q-- > c->first[b->start];) {
            cbi_sb_producer *p = &c->producers.items[q];
            if (!p->write || !cbi_sb_is_in_unit(c, p->at))
                continue;
            p->gone = p->local == exit && first == exit;
            any |= p->gone;
            first = p->local < first ? p->local : first;
        }
    }
    return any;
}

bool cbi_sb_join_fences(cbi_sb_code *c, const uint8_t *barrier)
{
    bool any = false;
    for (uint32_t i = 2; i < c->n; i++) {
        if (!barrier[i] || i <= barrier[i])
            continue;
        uint32_t error = i - barrier[i], fence = error - 1;
        uint32_t read = cbi_sass_read(c->words[fence]);
        /* of another block: only its own number */
        if (cbi_sb_op(c, error) == CBI_OP_MEMBAR && read < CBI_SB_NUMBERS &&
            c->wait[i] >> read & 1 && cbi_sass_bits(c->words[fence], 72, 8) == 0)
            error++;
        if (cbi_sb_op(c, fence) != CBI_OP_MEMBAR || cbi_sb_op(c, error) != CBI_OP_ERRBAR ||
            cbi_sass_stall(c->words[fence]) == CBI_SASS_STALL_MAX)
            continue;
        uint8_t busy = 0;
        CBI_SB_EACH_OF(q, c->pending[error], read == CBI_SB_NONE)
        busy |= (uint8_t)(1u << c->producers.items[q].old);
        if (read == CBI_SB_NONE) {
            for (read = 0; read + 1 < CBI_SB_NUMBERS && busy >> read & 1;)
                read++;
            cbi_sass_set_read(&c->words[fence], read);
        }
        cbi_sass_set_wait(&c->words[i], cbi_sass_wait(c->words[i]) & ~(1u << read));
        cbi_sass_add_wait(&c->words[error], 1u << read);
        any = true;
    }
    return any;
}
