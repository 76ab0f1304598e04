/* Code that loses its schedule, or gets one that never had any: nvlink gives functions the options
 * of another one of their name.  The instructions and their order stay.  Rules and experiments:
 * docs/code-rewriting.md, "Functions of one name". */
#include "mercury/schedule.h"

#include "sass/pace_code.h"
#include "sass/scoreboard_assign.h"

/* Results that come late; the compiler does without a scoreboard where another one tells. */
static bool is_late(const cbi_sb_code *c, uint32_t i)
{
    uint32_t op = cbi_sb_op(c, i);
    if (cbi_instruction_of(op)->slow)
        return cbi_instruction_of(op)->slow == CBI_SLOW_CONVERT || cbi_sb_has_slow_doubles(c);
    return cbi_op_kind(op) == CBI_KIND_SPECIAL || cbi_op_kind(op) == CBI_KIND_CONVERT;
}

/* Accesses to memory and barriers may do without, too, where another one behind them tells. */
static bool reads_late(uint32_t op)
{
    return cbi_op_kind(op) == CBI_KIND_MEMORY || cbi_op_is_barrier(op);
}

void cbi_schedule_lose(cbi_sb_code *c)
{
    enum { RESULTS = 0, SOURCES = 1 };
    for (uint32_t i = 0; i + 1 < c->n; i++) {
        cbi_sass *w = &c->words[i];
        const bool late = cbi_sass_holds(*w) || is_late(c, i) || reads_late(cbi_sb_op(c, i));
        const bool result = cbi_sass_write(*w) != CBI_SB_NONE || is_late(c, i);
        cbi_sass_set_stall(w, CBI_SASS_STALL_MAX);
        cbi_sass_set_yield(w, 0);
        cbi_sass_set_wait(w, CBI_SASS_WAIT_BOTH);
        cbi_sass_set_write(w, result ? RESULTS : CBI_SB_NONE);
        cbi_sass_set_read(w, late && !cbi_op_has(cbi_sb_op(c, i), CBI_OPF_AT_ONCE) ? SOURCES
                                                                                   : CBI_SB_NONE);
        cbi_sass_set_reuse(w, 0);
    }
}

static uint8_t order_anew(const cbi_sb_code *c, uint32_t i)
{
    uint8_t order = cbi_instruction_of(cbi_sb_op(c, i))->slow;
    if (!order && cbi_op_kind(cbi_sb_op(c, i)) == CBI_KIND_SPECIAL)
        return CBI_ORDER_SPECIAL;
    return order ? order : CBI_ORDER_FREE;
}

/* Can what follows tell by registers and predicates what it needs of instruction i? */
static bool is_plain(const cbi_sb_code *c, uint32_t i)
{
    if (cbi_sass_write(c->words[i]) != CBI_SB_NONE && !cbi_operands_write(&c->operands[i]))
        return false;
    uint32_t op = cbi_sb_op(c, i);
    bool known = cbi_op_has(op, CBI_OPF_CALL) || !cbi_op_has(op, CBI_OPF_FENCE | CBI_OPF_OPAQUE);
    bool indexed = op == CBI_OP_BRX || op == CBI_OP_BRXU; /* by the other function's table */
    return known && !indexed;
}

/* Takes the scoreboards away that everything has in code that was not scheduled, but for the branch
 * to itself behind it, and notes which instructions need some. */
static bool clear_scoreboards(cbi_sb_code *c, cbi_sb_late *late)
{
    bool plain = true;
    for (uint32_t i = 0; i + 1 < c->n; i++) {
        cbi_sass *w = &c->words[i];
        cbi_pace_predicates(*w, &late->written[i], &late->read[i]);
        late->order[i] = cbi_sass_holds(*w) ? order_anew(c, i) : 0;
        late->is_new[i] = late->order[i];
        plain &= is_plain(c, i);
        cbi_sass_set_wait(w, 0);
        cbi_sass_set_write(w, CBI_SB_NONE);
        cbi_sass_set_read(w, CBI_SB_NONE);
        cbi_sass_set_stall(w, CBI_SASS_STALL_MAX);
    }
    return plain;
}

bool cbi_schedule_make(cbi_sb_code *code, const cbi_scoreboard_text *text, const bool *idle,
                       cbi_pace *pace)
{
    cbi_sb_late late = cbi_pace_begin_late(code);
    late.anew = true;
    if (!clear_scoreboards(code, &late))
        return false;
    cbi_sb_code c = {.ctx = code->ctx,
                     .calls_apart = true,
                     .anew = true,
                     .labels = text->labels,
                     .leads = text->leads,
                     .chip = text->target,
                     .n = code->n,
                     .words = code->words};
    if (!cbi_sb_read(&c, text->info, text->place, text->places))
        return false;
    cbi_sass *out = CBI_NEW_ARRAY(c.ctx, c.n, cbi_sass);
    cbi_pace_cycles(&c, idle, pace->cycles);
    cbi_sb_add_late(&c, &late, pace->cycles, text->target, NULL);
    cbi_sb_assign(&c, true, NULL, out);
    memcpy(code->words, out, c.n * sizeof *out);
    cbi_pace_wait_ahead(code->words, c.n, idle);
    c.words = code->words;
    c.cycles = NULL;
    cbi_pace_cycles(&c, idle, pace->cycles);
    cbi_pace_set_stalls(&c, pace);
    cbi_pace_keep_sources(&c, NULL, NULL, pace);
    *code = c;
    return cbi_pace_is_safe(&c, &late, cbi_sb_has_slow_doubles(&c) ? pace->cycles : NULL);
}

/* Does the block of a producer, or the call behind it, wait for it? */
static bool is_awaited(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    uint32_t end = c->blocks.items[p->block].end;
    return p->local != CBI_SB_NOWHERE ||
           (end < c->n && cbi_op_has(cbi_sb_op(c, end), CBI_OPF_CALL) &&
            cbi_sb_contains(&p->consumers, end));
}

/* By instruction: are its sources read when its block ends, because that waits for what it holds,
 * or for another access to memory behind it? */
static const bool *find_read(const cbi_sb_code *c)
{
    bool *read = CBI_NEW_ARRAY(c->ctx, c->n, bool);
    bool memory_read = false;
    for (uint32_t i = c->n; i-- > 0;) {
        const bool memory = cbi_op_kind(cbi_sb_op(c, i)) == CBI_KIND_MEMORY;
        memory_read &= i + 1 != c->blocks.items[c->block_of[i]].end;
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
            read[i] |= is_awaited(c, &c->producers.items[q]);
        memory_read |= memory && read[i];
        read[i] |= memory && memory_read;
    }
    return read;
}

/* What has no scoreboard for its sources because they were read in its block, which ends before
 * that now. */
static cbi_sb_late find_parted(const cbi_sb_code *before, const cbi_sb_code *now)
{
    cbi_sb_late parted = cbi_pace_begin_late(now);
    parted.before = before;
    const bool *was_read = find_read(before), *is_read = find_read(now);
    for (uint32_t i = 0; i < now->n; i++) {
        bool late = cbi_sass_write(now->words[i]) != CBI_SB_NONE ||
                    cbi_op_kind(cbi_sb_op(now, i)) == CBI_KIND_MEMORY;
        cbi_pace_predicates(now->words[i], &parted.written[i], &parted.read[i]);
        parted.is_new[i] =
            late && cbi_sass_read(now->words[i]) == CBI_SB_NONE && was_read[i] && !is_read[i];
        parted.order[i] = parted.is_new[i] ? CBI_ORDER_FREE : 0;
    }
    return parted;
}

/* Was the block of instruction i the same? */
static bool is_in_same_block(const cbi_sb_code *before, const cbi_sb_code *now, uint32_t i)
{
    const cbi_sb_block *a = &before->blocks.items[before->block_of[i]];
    const cbi_sb_block *b = &now->blocks.items[now->block_of[i]];
    return a->start == b->start && a->end == b->end;
}

bool cbi_schedule_follow(cbi_sb_code *code, const cbi_scoreboard_text *text, bool *idle,
                         cbi_pace *pace)
{
    cbi_scoreboard_text own = *text;
    own.info = text->own_info;
    cbi_sb_code before, c = {.ctx = code->ctx,
                             .calls_apart = true,
                             .chip = text->chip,
                             .n = code->n,
                             .words = code->words,
                             .follows = true,
                             .labels = text->labels,
                             .leads = text->leads};
    cbi_sb_guide guide;
    if (!cbi_sb_read_best(code, &own, &before, &guide))
        return false;
    cbi_sb_guide *follows = guide.exception ? &guide : NULL;
    c.reading = before.reading;
    c.joins = before.joins;
    if (!cbi_sb_read(&c, own.info, text->place, text->places))
        return false;
    for (uint32_t i = 0; i < c.n; i++) {
        idle[i] &= c.blocks.items[c.block_of[i]].start != i;
        pace->cycles[i] = cbi_sass_stall(c.words[i]);
    }
    const cbi_sb_late parted = find_parted(&before, &c);
    cbi_sb_add_late(&c, &parted, pace->cycles, text->chip, follows);
    c.cycles = NULL;
    if (!cbi_sb_follow_blocks(&c, text->info, text->place, text->places))
        return false;
    cbi_sass *out = CBI_NEW_ARRAY(c.ctx, c.n, cbi_sass);
    cbi_sass *input = cbi_memdup(c.ctx, c.words, c.n * sizeof *input);
    cbi_sb_assign(&c, true, follows, out);
    if (!cbi_pace_keeps_waits(&c, out))
        return false;
    memcpy(code->words, out, c.n * sizeof *out);
    cbi_pace_wait_ahead(code->words, c.n, idle);
    c.input = input;
    cbi_pace_cycles(&c, idle, pace->cycles);
    cbi_pace_set_stalls(&c, pace);
    for (uint32_t i = 0; i < c.n; i++)
        if (is_in_same_block(&before, &c, i)) {
            cbi_sass_set_stall(&code->words[i], cbi_sass_stall(out[i]));
            cbi_sass_set_yield(&code->words[i], cbi_sass_yield(out[i]));
        }
    cbi_pace_keep_sources(&c, &before, input, pace);
    return true;
}
