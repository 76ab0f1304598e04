/* The text and the capsule of a function whose instructions run at another pace: NOPs fill what a
 * stall count cannot say.  In the capsule each of them is a run of one without a record. */
#include "capsule/capsule.h"
#include "mercury/entries.h"
#include "mercury/pace.h"
#include "mercury/rewrite.h"
#include "sass/opcodes.h"
#include "sass/pace_code.h"

static cbi_sass word_at(const uint8_t *text, uint32_t i)
{
    return cbi_sass_load(text + (size_t)i * CBI_SASS_INSTRUCTION);
}

/* Is instruction i a NOP that the stall count of one beside it could be enough for? */
static bool is_overflow(const uint8_t *text, uint32_t i, uint32_t total, const bool *idle)
{
    if (cbi_pace_is_held_filler(word_at(text, i)))
        return i && cbi_sass_stall(word_at(text, i - 1)) == CBI_PACE_LONGEST_HELD;
    if (cbi_sass_op(word_at(text, i)) != CBI_OP_NOP || cbi_sass_wait(word_at(text, i)))
        return false;
    if (i && cbi_sass_stall(word_at(text, i - 1)) == CBI_SASS_STALL_MAX)
        return true;
    if (i + 1 >= total || cbi_sass_stall(word_at(text, i + 1)) != CBI_SASS_STALL_MAX)
        return false;
    cbi_sass_kind kind = cbi_op_kind(cbi_sass_op(word_at(text, i + 1)));
    return idle[i + 1] || kind == CBI_KIND_CONTROL || kind == CBI_KIND_CALL;
}

/* NOPs without a Mercury form that say what a stall count could not, of the instruction before them
 * or of the branch behind: the compiler has others for reasons of its own. */
static bool *find_idle(cbi_ctx *ctx, cbi_span capsule, const uint8_t *text, uint32_t total)
{
    bool *idle = CBI_NEW_ARRAY(ctx, total + 1, bool);
    cbi_capsule walk;
    cbi_capsule_entry e;
    cbi_capsule_open(capsule, &walk);
    while (cbi_capsule_next(&walk, &e))
        for (uint32_t i = e.first; e.kind == CBI_CAPSULE_RUN && i < e.first + e.count; i++)
            idle[i] = true;
    for (uint32_t i = total; i-- > 0;)
        idle[i] &= is_overflow(text, i, total, idle);
    return idle;
}

/* NOPs between an instruction and the next, or in front of a branch. */
static uint32_t pauses(const cbi_pace *pace, uint32_t i)
{
    uint32_t cycles = pace->cycles[i];
    return cycles ? (cycles - 1) / cbi_pace_longest(pace, i) : 0;
}

/* NOPs belong to what stands before them, but for frame descriptions.  gap[i]: how many are in
 * front of instruction i. */
static void find_places(cbi_rewrite *step, const cbi_pace *pace, const bool *idle, uint32_t *gap)
{
    uint32_t at = 0, pause = 0, total = (uint32_t)(step->old_size / CBI_SASS_INSTRUCTION);
    for (uint32_t i = 0; i < pace->count; i++) {
        step->place[i] = step->self[i] = step->frame[i] = at * CBI_SASS_INSTRUCTION;
        if (idle[i])
            continue;
        uint32_t own = pauses(pace, i);
        bool ahead = cbi_pace_fills_ahead(cbi_sass_op(pace->words[i]));
        gap[i] = pause + (ahead ? own : 0);
        at += gap[i];
        step->place[i] = step->self[i] = at++ * CBI_SASS_INSTRUCTION;
        pause = ahead ? 0 : own;
    }
    uint32_t padded = (at + 8 + 7) / 8 * 8;
    for (uint32_t i = pace->count; i <= total; i++, at++)
        step->place[i] = step->self[i] = step->frame[i] =
            (i < total && at < padded ? at : padded) * CBI_SASS_INSTRUCTION;
    step->size = (uint64_t)padded * CBI_SASS_INSTRUCTION;
}

static void put_text(const cbi_linker *lk, cbi_rewrite *step, const cbi_pace *pace,
                     const bool *idle, const uint8_t *old)
{
    step->text = cbi_alloc(lk->ctx, step->size);
    uint8_t *at = step->text;
    for (uint32_t i = 0; i < pace->count; i++) {
        if (idle[i])
            continue;
        at = step->text + step->self[i];
        cbi_sass_store(at, pace->words[i]);
        cbi_rewrite_retarget(step, i, at);
        uint32_t left = pace->cycles[i], longest = cbi_pace_longest(pace, i);
        at += CBI_SASS_INSTRUCTION;
        uint8_t *nop = at;
        if (cbi_pace_fills_ahead(cbi_sass_op(pace->words[i])))
            nop -= (pauses(pace, i) + 1) * CBI_SASS_INSTRUCTION;
        for (; left > longest; nop += CBI_SASS_INSTRUCTION) {
            left -= longest;
            cbi_sass_store(nop, cbi_pace_filler(pace->held[i], left < longest ? left : longest));
        }
        at = nop > at ? nop : at;
    }
    for (; at < step->text + step->size; at += CBI_SASS_INSTRUCTION)
        memcpy(at, old + step->old_size - CBI_SASS_INSTRUCTION, CBI_SASS_INSTRUCTION);
}

static void put_capsule(const cbi_linker *lk, cbi_rewrite *step, cbi_span old, const bool *idle,
                        const uint32_t *gap)
{
    cbi_entries w = {.ctx = lk->ctx};
    uint32_t total = (uint32_t)(step->old_size / CBI_SASS_INSTRUCTION);
    cbi_capsule walk;
    cbi_capsule_entry e;
    cbi_capsule_open(old, &walk);
    for (size_t from = walk.pos; cbi_capsule_next(&walk, &e); from = walk.pos) {
        if (e.count && idle[e.first])
            continue;
        for (uint32_t k = 0; e.count && k < gap[e.first]; k++)
            cbi_entries_put_run(&w, 1);
        if (e.kind == CBI_CAPSULE_RUN && e.first + e.count == total)
            cbi_entries_put_run(
                &w, (uint32_t)((step->size - step->self[e.first]) / CBI_SASS_INSTRUCTION));
        else
            cbi_entries_put(&w, e.kind == CBI_CAPSULE_DERIVED,
                            (cbi_span){old.data + from, walk.pos - from});
    }
    step->capsule = cbi_entries_capsule(&w, old);
}

/* One rewriting after another. */
static void follow(const cbi_linker *lk, const cbi_rewrite *before, cbi_rewrite *step)
{
    size_t count = before ? before->old_size / CBI_SASS_INSTRUCTION + 1 : 0;
    uint32_t *place = CBI_NEW_ARRAY(lk->ctx, count, uint32_t);
    uint32_t *self = CBI_NEW_ARRAY(lk->ctx, count, uint32_t);
    uint32_t *frame = CBI_NEW_ARRAY(lk->ctx, count, uint32_t);
    if (!before)
        return;
    for (size_t i = 0; i < count; i++) {
        place[i] = (uint32_t)cbi_rewrite_map(step, before->place[i]);
        frame[i] = (uint32_t)cbi_rewrite_frame(step, before->place[i]);
        self[i] = (uint32_t)cbi_rewrite_self(step, before->self[i]);
    }
    step->old_size = before->old_size;
    step->place = place;
    step->self = self;
    step->frame = frame;
}

bool cbi_pace_rewrite(const cbi_linker *lk, const cbi_func *func, const cbi_scoreboard_text *text,
                      cbi_schedule schedule, bool drop_stack_load)
{
    const cbi_rewrite *before = cbi_rewrite_of(lk, func);
    cbi_buf capsule = cbi_rewrite_capsule(lk, func);
    cbi_span old = {capsule.items, capsule.len};
    uint32_t total = (uint32_t)(text->size / CBI_SASS_INSTRUCTION);
    bool *idle = find_idle(lk->ctx, old, text->bytes, total);
    cbi_pace pace;
    if (!cbi_pace_code(lk->ctx, text, schedule, drop_stack_load, idle, &pace))
        return false;
    cbi_rewrite *step = CBI_NEW(lk->ctx, cbi_rewrite);
    step->func = func;
    step->old_size = text->size;
    step->place = CBI_NEW_ARRAY(lk->ctx, total + 1, uint32_t);
    step->self = CBI_NEW_ARRAY(lk->ctx, total + 1, uint32_t);
    step->frame = CBI_NEW_ARRAY(lk->ctx, total + 1, uint32_t);
    uint32_t *gap = CBI_NEW_ARRAY(lk->ctx, total + 1, uint32_t);
    find_places(step, &pace, idle, gap);
    put_text(lk, step, &pace, idle, text->bytes);
    put_capsule(lk, step, old, idle, gap);
    follow(lk, before, step);
    lk->merc->rewrites[func->number] = step;
    return true;
}

bool cbi_pace_in_place(cbi_ctx *ctx, const cbi_scoreboard_text *text, cbi_span capsule)
{
    uint32_t total = (uint32_t)(text->size / CBI_SASS_INSTRUCTION);
    bool *idle = find_idle(ctx, capsule, text->bytes, total);
    cbi_pace pace;
    bool fits = cbi_pace_code(ctx, text, CBI_SCHEDULE_KEPT, false, idle, &pace);
    for (uint32_t i = 0; fits && i < pace.count; i++)
        fits = !idle[i] && !pauses(&pace, i);
    for (uint32_t i = 0; fits && i < pace.count; i++)
        cbi_sass_store(text->bytes + (size_t)i * CBI_SASS_INSTRUCTION, pace.words[i]);
    return fits;
}
