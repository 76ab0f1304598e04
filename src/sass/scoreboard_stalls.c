/* Stall counts, yield bits and reuse bits of code whose scoreboards have changed. */
#include "sass/pace_code.h"
#include "sass/reuse.h"
#include "sass/scoreboard_code.h"
#include "sass/yield.h"

/* Does instruction i take its second cycle only for what follows, which waits for a number that it
 * sets, in the input, and no longer? */
static bool is_shorter(const cbi_sb_code *c, const cbi_sass *words, uint32_t i)
{
    return cbi_sass_stall(words[i]) == 2 &&
           cbi_sass_wait(c->words[i + 1]) & cbi_sass_holds(c->words[i]) &&
           !(cbi_sass_wait(words[i + 1]) & cbi_sass_holds(words[i]));
}

/* Times of one block: cycles from each instruction to the next; NOPs that say what the stall count
 * before them could not are part of it. */
typedef struct block_pace {
    const cbi_sb_code *c; /* with the input's words */
    cbi_sass *words;
    uint32_t end;
    bool *idle; /* such a NOP */
    uint32_t *cycles;
    uint32_t *change; /* the first one from there on whose cycles are not those of the input, or the
                         last of the block */
} block_pace;

/* Is instruction i a NOP that says what the stall count of the one before could not? */
static bool is_filler(const block_pace *p, uint32_t i)
{
    return cbi_sb_op(p->c, i) == CBI_OP_NOP && !cbi_sass_wait(p->c->words[i]) &&
           cbi_sass_stall(p->c->words[i - 1]) == CBI_SASS_STALL_MAX;
}

/* Cycles in the input from instruction i to the next one that is none of its NOPs. */
static uint32_t cycles_before(const block_pace *p, uint32_t i)
{
    uint32_t sum = cbi_sass_stall(p->c->words[i]);
    while (++i < p->end && p->idle[i])
        sum += cbi_sass_stall(p->c->words[i]);
    return sum;
}

/* Fills in the times of a block; `now` has the words of the output. */
static void tell_pace(block_pace *p, const cbi_sb_code *now, const cbi_sb_block *b)
{
    p->end = b->end;
    for (uint32_t i = b->start + 1; i < b->end; i++)
        p->idle[i] = is_filler(p, i);
    cbi_pace_block_cycles(now, b, p->idle, p->cycles);
    for (uint32_t i = b->end; i-- > b->start;) {
        bool changes = !p->idle[i] && p->cycles[i] != cycles_before(p, i);
        p->change[i] = changes || i + 1 == b->end ? i : p->change[i + 1];
    }
}

/* Sets the cycles of instruction i, if neither more nor fewer NOPs are needed. */
static bool set_cycles(const block_pace *p, uint32_t i)
{
    uint32_t left = p->cycles[i], last = i;
    while (last + 1 < p->end && p->idle[last + 1])
        left -= left < CBI_SASS_STALL_MAX ? left : CBI_SASS_STALL_MAX, last++;
    if (!left || left > CBI_SASS_STALL_MAX)
        return false;
    cbi_sass_set_stall(&p->words[last], left);
    return true;
}

/* Instruction i takes one cycle now: what is the first behind it that took as long as it did
 * because of that, and takes one more. */
static void shorten(const block_pace *p, uint32_t i)
{
    uint32_t next = p->change[i + 1], before = cycles_before(p, next);
    if (p->cycles[next] <= before || (p->cycles[next] == before + 1 && set_cycles(p, next)))
        cbi_sass_set_stall(&p->words[i], 1);
}

/* Instruction i takes a cycle more than in the input.  What follows it takes one less if it took
 * that long only because of something before; what needs a distance from that takes one more. */
static void lengthen(const block_pace *p, uint32_t i)
{
    uint32_t less = p->change[i + 1];
    if (p->cycles[i] != cbi_sass_stall(p->words[i]) ||
        p->cycles[less] + 1 != cycles_before(p, less) || !set_cycles(p, less))
        return;
    if (less + 1 == p->end)
        return;
    uint32_t more = p->change[less + 1];
    if (p->cycles[more] == cycles_before(p, more) + 1)
        set_cycles(p, more);
}

/* Stall counts behind instructions that take a cycle more than in the input, or less. */
static void settle_cycles(const cbi_sb_code *c, cbi_sass *words)
{
    uint32_t known = UINT32_MAX; /* the block whose cycles these are */
    block_pace p = {.c = c, .words = words};
    cbi_sb_code now = *c;
    now.words = words;
    now.input = c->words;
    for (uint32_t i = 1; i + 1 < c->n; i++) {
        const cbi_sb_block *b = &c->blocks.items[c->block_of[i]];
        bool shorter = i + 1 < b->end && is_shorter(c, words, i);
        bool longer =
            !shorter && i + 2 < b->end && cbi_sass_stall(words[i]) > cbi_sass_stall(c->words[i]);
        if (!shorter && !longer)
            continue;
        if (!p.idle) {
            p.idle = CBI_NEW_ARRAY(c->ctx, c->n, bool);
            p.cycles = CBI_NEW_ARRAY(c->ctx, c->n, uint32_t);
            p.change = CBI_NEW_ARRAY(c->ctx, c->n, uint32_t);
        }
        if (known != c->block_of[i])
            tell_pace(&p, &now, b);
        known = c->block_of[i];
        if (longer)
            lengthen(&p, i);
        else if (p.cycles[i] == 1)
            shorten(&p, i);
    }
}

/* Yield bits of a block in which stall counts have changed, where those of the input are by the
 * rule.  Returns whether any is another one now. */
static bool settle_yields(const cbi_sb_code *c, const cbi_sb_block *b, cbi_sass *words)
{
    uint32_t before = 0, now = 0; /* cycles since an instruction let the warp go */
    bool any = false;
    for (uint32_t i = b->start; i < b->end; i++) {
        if (cbi_yield_starts_anew(c, i))
            before = now = 0;
        const uint32_t old_stall = cbi_sass_stall(c->words[i]), stall = cbi_sass_stall(words[i]);
        const bool was = cbi_sass_yield(c->words[i]);
        if (cbi_yield_has_fixed_time(c, i) && was == cbi_yield_keeps(true, old_stall, before)) {
            bool keeps = cbi_yield_keeps(true, stall, now);
            any |= keeps != was;
            cbi_sass_set_yield(&words[i], keeps);
        }
        before = cbi_yield_since(c->words, i, old_stall, before);
        now = cbi_yield_since(words, i, stall, now);
    }
    return any;
}

/* ... and what their arithmetic keeps for the next. */
static void settle_reuse(const cbi_sb_code *c, const cbi_sb_block *b, cbi_sass *words)
{
    for (uint32_t i = b->start; i < b->end; i++) {
        uint32_t differs =
            cbi_sass_reuse_of(c, c->words, NULL, i) ^ cbi_sass_reuse_of(c, words, NULL, i);
        if (differs)
            cbi_sass_set_reuse(&words[i], cbi_sass_reuse(words[i]) ^ differs);
    }
}

void cbi_sb_settle_stalls(const cbi_sb_code *c, cbi_sass *words)
{
    settle_cycles(c, words);
    for (size_t k = 0; k < c->blocks.len; k++) {
        const cbi_sb_block *b = &c->blocks.items[k];
        bool changed = false;
        for (uint32_t i = b->start; i < b->end && !changed; i++)
            changed = cbi_sass_stall(words[i]) != cbi_sass_stall(c->words[i]);
        if (changed && settle_yields(c, b, words))
            settle_reuse(c, b, words);
    }
}
