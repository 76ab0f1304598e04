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

void cbi_schedule_lose(cbi_sb_code *c)
{
    enum { RESULTS = 0, SOURCES = 1 };
    for (uint32_t i = 0; i + 1 < c->n; i++) {
        cbi_sass *w = &c->words[i];
        const bool late = cbi_sass_holds(*w) || is_late(c, i);
        const bool result = cbi_sass_write(*w) != CBI_SB_NONE || is_late(c, i);
        cbi_sass_set_stall(w, CBI_SASS_STALL_MAX);
        cbi_sass_set_yield(w, 0);
        cbi_sass_set_wait(w, CBI_SASS_WAIT_BOTH);
        cbi_sass_set_write(w, result ? RESULTS : CBI_SB_NONE);
        cbi_sass_set_read(w, late ? SOURCES : CBI_SB_NONE);
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
    return known && !indexed && !c->group[i];
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
    c.words = code->words;
    c.cycles = NULL;
    cbi_pace_cycles(&c, idle, pace->cycles);
    cbi_pace_set_stalls(&c, pace);
    cbi_pace_keep_sources(&c, NULL, pace);
    *code = c;
    return cbi_pace_is_safe(&c, &late, cbi_sb_has_slow_doubles(&c) ? pace->cycles : NULL);
}
