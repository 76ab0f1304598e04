#include "mercury/pace.h"

#include "capsule/capsule.h"
#include "mercury/schedule.h"
#include "sass/pace_code.h"
#include "sass/reuse.h"
#include "sass/scoreboard_assign.h"
#include "sass/yield.h"

bool cbi_pace_applies(uint32_t sm, uint32_t target)
{
    const cbi_chip *chip = cbi_chip_find(target);
    return chip && chip->other_pace && chip->finalized_from == sm;
}

bool cbi_pace_fills_ahead(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_BRANCH | CBI_OPF_CALL);
}

/* ---- what fills time ---- */

/* UIADD3 of three times nothing under !UPT, without its control bits. */
static const cbi_sass held_filler = {.lo = UINT64_C(0x000000fffffff290),
                                     .hi = UINT64_C(0x000000000fffe0ff)};

uint32_t cbi_pace_longest(const cbi_pace *pace, uint32_t i)
{
    return pace->held[i] ? CBI_PACE_LONGEST_HELD : CBI_SASS_STALL_MAX;
}

bool cbi_pace_is_held_filler(cbi_sass w)
{
    enum { CONTROL = 41 }; /* the first control bit of the upper half */
    return w.lo == held_filler.lo && (w.hi ^ held_filler.hi) << (64 - CONTROL) == 0;
}

cbi_sass cbi_pace_filler(bool held, uint32_t cycles)
{
    cbi_sass w = {.lo = CBI_OP_NOP | CBI_SASS_PT << 12};
    if (held)
        w = held_filler;
    cbi_sass_set_scoreboards(&w, CBI_SB_NONE << 3 | CBI_SB_NONE);
    cbi_sass_set_stall(&w, cycles);
    cbi_sass_set_yield(&w, held);
    return w;
}

bool cbi_pace_holds_loops(const char *function)
{
    return strstr(function, "cutlass") != NULL;
}

bool cbi_pace_differs(uint32_t sm, uint32_t target, const uint8_t *text, size_t size)
{
    for (size_t at = 0; cbi_pace_applies(sm, target) && at + CBI_SASS_INSTRUCTION <= size;
         at += CBI_SASS_INSTRUCTION)
        if (cbi_pace_occupancy(cbi_sass_opcode(text + at)) ||
            cbi_pace_is_other(cbi_sass_load(text + at)))
            return true;
    return false;
}

/* ---- code that was not scheduled: everything waits for 0 and 1 ---- */

static void mark_unscheduled(cbi_sb_code *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (!cbi_pace_occupancy(cbi_sb_op(c, i)))
            continue;
        cbi_sass_set_stall(&c->words[i], CBI_SASS_STALL_MAX); /* sparse products of IMMA have 0 */
        cbi_sass_set_write(&c->words[i], 0);
        if (cbi_regset_any(&c->operands[i].read))
            cbi_sass_set_read(&c->words[i], 1);
    }
}

/* ---- scheduled code ---- */

/* The lowest number that nothing pending at i holds. */
static unsigned free_number(const cbi_sb_code *c, uint32_t i)
{
    uint8_t busy = 0;
    CBI_SB_EACH_OF(q, c->pending[i], true)
    busy |= (uint8_t)(1u << c->producers.items[q].old);
    for (unsigned k = 0; k < CBI_SB_NUMBERS; k++)
        if (!(busy >> k & 1))
            return k;
    return CBI_SB_NUMBERS - 1;
}

/* The plain way: the next instruction waits for the result, so nothing else has to. */
static void wait_at_once(cbi_sb_code *c, const cbi_sb_late *late)
{
    const cbi_sb_reordered *o = late->reordered;
    for (uint32_t i = 0; i + 1 < c->n; i++) {
        cbi_sass *w = &c->words[i];
        const bool reads_new = o && o->reads_new[i];
        if (o && o->used_by[i] != CBI_SB_NOWHERE)
            cbi_sass_add_wait(&c->words[o->used_by[i]], 1u << cbi_sass_write(*w));
        if (o && o->overwritten_by[i] != CBI_SB_NOWHERE)
            cbi_sass_add_wait(&c->words[o->overwritten_by[i]], 1u << cbi_sass_read(*w));
        if (!late->is_new[i] && !reads_new)
            continue;
        unsigned number = free_number(c, i);
        if (late->is_new[i])
            cbi_sass_set_write(w, number);
        else
            cbi_sass_set_read(w, number);
        cbi_sass_add_wait(&c->words[i + 1], 1u << number);
    }
}

/* Does instruction i keep the warp, `since` cycles after that was last let go?  With the stall
 * count of the input, `was_since` after it there, an exception from the rule stays one. */
static bool keeps_warp(const cbi_sb_code *c, uint32_t i, bool fixed, uint32_t stall, uint32_t since,
                       uint32_t was_since)
{
    bool keeps = cbi_yield_keeps(fixed, stall, since);
    if (!c->input || c->anew || cbi_sass_stall(c->input[i]) != stall ||
        cbi_pace_occupancy(cbi_sb_op(c, i)))
        return keeps;
    return keeps == cbi_yield_keeps(fixed, stall, was_since) ? cbi_sass_yield(c->input[i]) : keeps;
}

void cbi_pace_wait_ahead(cbi_sass *words, uint32_t count, const bool *idle)
{
    for (uint32_t i = count; i-- > 1;)
        if (idle[i] && cbi_sass_wait(words[i])) {
            cbi_sass_add_wait(&words[i - 1], cbi_sass_wait(words[i]));
            cbi_sass_set_wait(&words[i], 0);
        }
}

void cbi_pace_set_stalls(const cbi_sb_code *c, cbi_pace *pace)
{
    enum { PAIR = 2 };
    uint32_t since = 0, was_since = 0;
    for (uint32_t i = 0; i < pace->count; i++) {
        cbi_sass *w = &pace->words[i];
        uint32_t longest = cbi_pace_longest(pace, i);
        uint32_t now = pace->cycles[i] < longest ? pace->cycles[i] : longest;
        bool fixed = cbi_yield_has_fixed_time(c, i);
        if (cbi_yield_starts_anew(c, i))
            since = was_since = 0;
        if (now != cbi_sass_stall(*w) || cbi_pace_occupancy(cbi_sass_op(*w)) ||
            (fixed && now == PAIR) || (c->anew && i + 1 < pace->count)) {
            cbi_sass_set_stall(w, now);
            cbi_sass_set_yield(w, pace->held[i] || keeps_warp(c, i, fixed, now, since, was_since));
        }
        since =
            pace->cycles[i] > CBI_SASS_STALL_MAX ? 0 : cbi_yield_since(pace->words, i, now, since);
        if (c->input)
            was_since = cbi_yield_since(c->input, i, cbi_sass_stall(c->input[i]), was_since);
    }
}

void cbi_pace_keep_sources(const cbi_sb_code *c, const cbi_sb_code *before, const cbi_sass *input,
                           cbi_pace *pace)
{
    bool *pause = CBI_NEW_ARRAY(c->ctx, pace->count, bool);
    for (uint32_t i = 0; i < pace->count; i++)
        if (pace->cycles[i] > CBI_SASS_STALL_MAX && !pace->held[i])
            pause[i && cbi_pace_fills_ahead(cbi_sb_op(c, i)) ? i - 1 : i] = true;
    for (uint32_t i = 0; i < pace->count; i++) {
        uint32_t now = cbi_sass_reuse_of(c, pace->words, pause, i);
        uint32_t was = c->anew ? ~now : cbi_sass_reuse_of(before, input, NULL, i);
        uint32_t had = cbi_sass_reuse(pace->words[i]), differs = was ^ now;
        if (cbi_pace_occupancy(cbi_sb_op(c, i)) && !cbi_pace_is_fast_double(c, i))
            cbi_sass_set_reuse(&pace->words[i], 0);
        else if (differs)
            cbi_sass_set_reuse(&pace->words[i], (had & ~differs) | (now & differs));
    }
}

/* Kinds that keep their order among each other. */
static uint8_t order_of(uint32_t op)
{
    return cbi_instruction_of(op)->slow;
}

cbi_sb_late cbi_pace_begin_late(const cbi_sb_code *c)
{
    return (cbi_sb_late){.order = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t),
                         .is_new = CBI_NEW_ARRAY(c->ctx, c->n, bool),
                         .written = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t),
                         .read = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t)};
}

static cbi_sb_late find_late(cbi_sb_code *c)
{
    uint8_t *before = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    uint8_t *now = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    cbi_sb_late late = cbi_pace_begin_late(c);
    for (uint32_t i = 0; i < c->n; i++) {
        late.order[i] = order_of(cbi_sb_op(c, i));
        late.is_new[i] = late.order[i] && cbi_sass_write(c->words[i]) == CBI_SB_NONE;
        cbi_pace_predicates(c->words[i], &late.written[i], &late.read[i]);
        now[i] = cbi_pace_special_order(c->words[i]);
        before[i] = now[i] || late.order[i] == CBI_SLOW_CONVERT; /* one unit does them there */
    }
    cbi_sb_find_disordered(c, &late, before, now);
    return late;
}

/* Exits wait for what arrives by the new pace while their barriers run. */
static void meet_exits(cbi_sb_code *c, const cbi_scoreboard_text *text, const uint32_t *cycles)
{
    uint8_t *barrier = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    if (!cbi_sb_find_barriers(c, text, barrier))
        return;
    c->cycles = cycles;
    cbi_sb_meet_exits(c, barrier, CBI_NEW_ARRAY(c->ctx, c->n, uint8_t));
    c->cycles = NULL;
}

/* Scoreboards by the model, where what comes out is safe. */
static bool assign(cbi_sb_code *code, const cbi_scoreboard_text *text, const cbi_sb_late *late,
                   bool drop_stack_load, const bool *idle)
{
    cbi_sb_code c = {.ctx = code->ctx,
                     .calls_apart = true,
                     .chip = text->chip,
                     .holds_loops = text->holds_loops,
                     .n = code->n,
                     .words = code->words};
    cbi_sb_code best;
    cbi_sb_guide guide;
    cbi_sass *out = CBI_NEW_ARRAY(c.ctx, c.n, cbi_sass);
    uint32_t *cycles = CBI_NEW_ARRAY(c.ctx, c.n, uint32_t);
    c.keeps_stack_load = !drop_stack_load || !cbi_sb_qualifies(&c);
    if (!cbi_sb_read_best(&c, text, &best, &guide))
        return false;
    cbi_sb_guide *follows = guide.exception ? &guide : NULL;
    cbi_pace_cycles(&best, idle, cycles);
    meet_exits(&best, text, cycles);
    cbi_sb_add_late(&best, late, cycles, text->target, follows);
    cbi_sb_assign(&best, best.keeps_stack_load, follows, out);
    bool kept = cbi_pace_keeps_waits(&best, out);
    best.words = out;
    if (!kept || !cbi_pace_is_safe(&best, late, NULL))
        return false;
    memcpy(code->words, out, c.n * sizeof *out);
    return true;
}

static void pace_scheduled(cbi_sb_code *c, const cbi_scoreboard_text *text, const cbi_sb_late *late,
                           bool drop_stack_load, bool *idle, cbi_pace *pace)
{
    for (uint32_t i = 0; i < c->n; i++)
        idle[i] &= c->blocks.items[c->block_of[i]].start != i;
    cbi_sass *input = CBI_NEW_ARRAY(c->ctx, c->n, cbi_sass);
    memcpy(input, c->words, c->n * sizeof *input);
    if (!assign(c, text, late, drop_stack_load, idle))
        wait_at_once(c, late);
    cbi_pace_wait_ahead(c->words, c->n, idle);
    c->input = input;
    cbi_pace_cycles(c, idle, pace->cycles);
    cbi_pace_set_stalls(c, pace);
    cbi_pace_keep_sources(c, c, input, pace);
}

typedef struct work {
    const cbi_scoreboard_text *text;
    cbi_schedule schedule;
    bool drop_stack_load;
    bool *idle;
    cbi_pace *pace; /* with room for the text */
    bool done;
} work;

/* False when what comes out is not safe. */
static bool change_pace(cbi_sb_code *c, const work *w, cbi_pace *pace)
{
    const bool lost = w->schedule == CBI_SCHEDULE_LOST;
    const bool scheduled = !lost && !cbi_sass_is_unscheduled(c->words[0]);
    const cbi_sb_late late = find_late(c);
    if (lost)
        cbi_schedule_lose(c);
    if (scheduled) {
        pace_scheduled(c, w->text, &late, w->drop_stack_load, w->idle, pace);
    } else {
        if (cbi_pace_applies(w->text->chip, w->text->target))
            mark_unscheduled(c);
        for (uint32_t i = 0; i < c->n; i++)
            pace->cycles[i] = cbi_sass_stall(c->words[i]);
    }
    return lost || cbi_pace_is_safe(c, &late, scheduled ? pace->cycles : NULL);
}

static cb_status run_pace(cbi_ctx *ctx, void *arg)
{
    work *w = arg;
    const cbi_scoreboard_text *text = w->text;
    cbi_sb_code c = {
        .ctx = ctx, .calls_apart = true, .chip = text->chip, .holds_loops = text->holds_loops};
    const bool follows = w->schedule == CBI_SCHEDULE_FOLLOWS;
    if (!cbi_sb_read_words(&c, text->bytes, text->size) ||
        (!follows && !cbi_sb_read(&c, text->info, text->place, text->places)))
        return CB_OK;
    cbi_pace pace = {
        .words = c.words, .cycles = w->pace->cycles, .held = w->pace->held, .count = c.n};
    for (uint32_t i = 0; c.held && i < c.n; i++)
        pace.held[i] = c.held[c.block_of[i]];
    w->done = follows                            ? cbi_schedule_follow(&c, text, w->idle, &pace)
              : w->schedule == CBI_SCHEDULE_MADE ? cbi_schedule_make(&c, text, w->idle, &pace)
                                                 : change_pace(&c, w, &pace);
    memcpy(w->pace->words, c.words, c.n * sizeof *c.words);
    w->pace->count = c.n;
    return CB_OK;
}

bool cbi_pace_code(cbi_ctx *ctx, const cbi_scoreboard_text *text, cbi_schedule schedule,
                   bool drop_stack_load, bool *idle, cbi_pace *ret_pace)
{
    size_t room = text->size / CBI_SASS_INSTRUCTION;
    cbi_pace pace = {.words = CBI_NEW_ARRAY(ctx, room, cbi_sass),
                     .cycles = CBI_NEW_ARRAY(ctx, room, uint32_t),
                     .held = CBI_NEW_ARRAY(ctx, room, bool)};
    work w = {.text = text,
              .schedule = schedule,
              .drop_stack_load = drop_stack_load,
              .idle = idle,
              .pace = &pace};
    cbi_run_aside(ctx, run_pace, &w);
    if (w.done)
        *ret_pace = pace;
    return w.done;
}
