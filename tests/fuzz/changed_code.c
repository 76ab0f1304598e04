/* Code of random instructions.  Each opcode of the table comes with few registers, so that
 * instructions depend on each other in all ways, and with branches, forwards and back. */
#include "changed_code.h"

#include "sass/pace_code.h"
#include "sass/scoreboard_assign.h"

#include "mutant_parts.h"

#include <xxhash.h>

enum { LEAST = 6, MOST = 40, REGISTERS = 10, ZERO = 255, SLOW = 20 };

static void take(uint64_t *digest, const void *data, size_t size)
{
    *digest = XXH3_64bits_withSeed(data, size, *digest);
}

static void take_number(uint64_t *digest, uint64_t value)
{
    take(digest, &value, sizeof value);
}

static void take_list(uint64_t *digest, const cbi_u32_list *list)
{
    take_number(digest, list->len);
    if (list->len)
        take(digest, list->items, list->len * sizeof *list->items);
}

/* ---- instructions ---- */

static uint64_t drawn_register(uint64_t *state)
{
    uint64_t r = below(state, REGISTERS);
    return below(state, 8) == 0 ? ZERO : below(state, 2) ? r & ~UINT64_C(1) : r;
}

static uint64_t drawn_guard(uint64_t *state)
{
    if (below(state, 5))
        return CBI_SASS_PT;
    const uint64_t predicate = below(state, 3);
    return predicate | below(state, 2) << 3;
}

static uint32_t drawn_opcode(uint64_t *state)
{
    static const uint16_t often[] = {
        CBI_OP_LDG,   CBI_OP_STG,      CBI_OP_LDS,      CBI_OP_STS,    CBI_OP_BRA,    CBI_OP_BRA,
        CBI_OP_BRA,   CBI_OP_EXIT,     CBI_OP_MUFU,     CBI_OP_TEX,    CBI_OP_IADD3,  CBI_OP_FFMA,
        CBI_OP_LDC,   CBI_OP_ATOMG,    CBI_OP_WARPSYNC, CBI_OP_LDGSTS, CBI_OP_DEPBAR, CBI_OP_MEMBAR,
        CBI_OP_BAR,   CBI_OP_CALL_REL, CBI_OP_VOTE,     CBI_OP_DFMA,   CBI_OP_DADD,   CBI_OP_ISETP,
        CBI_OP_S2R,   CBI_OP_I2F,      CBI_OP_IMMA,     CBI_OP_R2UR,   CBI_OP_LDCU,   CBI_OP_ERRBAR,
        CBI_OP_DSETP,
    };
    if (below(state, 2))
        return often[below(state, CBI_COUNT(often))];
    return cbi_instructions[below(state, cbi_instruction_count)].opcode;
}

/* To an instruction that is LEFT further on at most, or at most DONE back. */
static cbi_sass to_another(cbi_sass w, uint64_t done, uint64_t left, uint64_t *state)
{
    bool back = below(state, 4) == 0;
    int64_t units =
        back ? -4 * (int64_t)(1 + below(state, done + 1)) : 4 * (int64_t)below(state, left);
    uint64_t distance = (uint64_t)units;
    w.lo = (w.lo & UINT64_C(0x3ff00ffff)) | (distance & 0xff) << 16 | distance >> 8 << 34;
    w.hi = (w.hi & ~UINT64_C(0x3ffff)) | (distance >> 38 & 0x3ffff);
    return w;
}

/* A fence of one of the kinds that compilers and the finalizer write. */
static cbi_sass fence(cbi_sass w, uint64_t *state)
{
    static const uint8_t kinds[] = {0x00, 0x50, 0x50, 0x80};
    w.hi = (w.hi & ~UINT64_C(0xff00)) | (uint64_t)kinds[below(state, CBI_COUNT(kinds))] << 8;
    return w;
}

static cbi_sass drawn(uint64_t done, uint64_t left, uint64_t *state)
{
    const cbi_sass no_predicates = {0,
                                    UINT64_C(7) << 4 | UINT64_C(7) << 13 | UINT64_C(0x3ff) << 17};
    uint32_t op = drawn_opcode(state);
    cbi_sass w = no_predicates;
    /* one draw a statement: in which order the parts of an expression draw is the compiler's choice
     */
    w.lo = op | drawn_guard(state) << 12;
    for (unsigned at = 16; at < 40; at += 8)
        w.lo |= drawn_register(state) << at;
    w.lo |= (next(state) & 0x3f) << 40;
    w.hi = (w.hi & ~UINT64_C(0xff)) | drawn_register(state);
    if (below(state, 2)) /* modifiers */
        w.hi ^= (next(state) & next(state) & 0xffffff) << 8;
    if (below(state, 3) == 0) { /* a predicate */
        const unsigned at = below(state, 2) ? 17 : 23;
        w.hi ^= below(state, 7) << at;
    }
    if (op == CBI_OP_MEMBAR)
        w = fence(w, state);
    if (cbi_op_has(op, CBI_OPF_BRANCH | CBI_OPF_RELATIVE) && op != CBI_OP_EXIT)
        w = to_another(w, done, left, state);
    cbi_sass_set_control(&w, 0);
    cbi_sass_set_scoreboards(&w, CBI_SB_EVERYTHING);
    cbi_sass_set_stall(&w, 1 + below(state, below(state, 3) ? 5 : CBI_SASS_STALL_MAX));
    cbi_sass_set_yield(&w, below(state, 2));
    if (cbi_sb_result_time(w, 100) > SLOW && below(state, 5))
        cbi_sass_set_write(&w, below(state, CBI_SB_NUMBERS));
    if (below(state, 4) == 0)
        cbi_sass_set_read(&w, below(state, CBI_SB_NUMBERS));
    for (unsigned k = 0; k < CBI_SB_NUMBERS; k++)
        if (below(state, 6) == 0)
            cbi_sass_add_wait(&w, 1u << k);
    return w;
}

/* Starts with the load of the stack pointer, ends with an exit. */
static cbi_span make_code(cbi_ctx *ctx, uint64_t *state)
{
    size_t count = LEAST + below(state, MOST - LEAST);
    uint8_t *text = cbi_alloc(ctx, count * CBI_SASS_INSTRUCTION);
    for (size_t i = 0; i < count; i++) {
        cbi_sass w = drawn(i, count - i - 1, state);
        if (i && cbi_sass_opcode(text + (i - 1) * CBI_SASS_INSTRUCTION) == CBI_OP_MEMBAR &&
            below(state, 2)) /* mostly more fences follow */
            w.lo = (w.lo & ~UINT64_C(0xfff)) | CBI_OP_ERRBAR;
        if (i == 0) {
            w.lo = CBI_OP_LDC | UINT64_C(7) << 12 | 1 << 16 | (uint64_t)ZERO << 24;
            cbi_sass_set_write(&w, 0);
            cbi_sass_set_read(&w, CBI_SB_NONE);
        }
        if (i == count - 1)
            w.lo = CBI_OP_EXIT | UINT64_C(7) << 12;
        cbi_sass_store(text + i * CBI_SASS_INSTRUCTION, w);
    }
    return (cbi_span){text, count * CBI_SASS_INSTRUCTION};
}

/* ---- what the models find ---- */

static void take_producers(const cbi_sb_code *c, uint64_t *digest)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        const uint32_t facts[] = {p->at,   p->block, p->write,  p->is_long, p->flush, p->is_late,
                                  p->ends, p->timed, p->hidden, p->old,     p->local};
        take(digest, facts, sizeof facts);
        take_list(digest, &p->starts);
        take_list(digest, &p->consumers);
    }
}

static void take_code(const cbi_sb_code *c, uint64_t *digest)
{
    for (uint32_t b = 0; b < c->blocks.len; b++) {
        take_number(digest, (uint64_t)c->blocks.items[b].end << 32 | c->position[b]);
        take_list(digest, &c->blocks.items[b].succ);
        take_list(digest, &c->blocks.items[b].pred);
    }
    take_producers(c, digest);
    take(digest, c->group, c->n * sizeof *c->group);
    take(digest, c->wait, c->n);
    take(digest, c->later, c->n);
    uint64_t *pending = CBI_NEW_ARRAY(c->ctx, c->row, uint64_t);
    for (uint32_t i = 0; i < c->n; i++) {
        take(digest, &c->operands[i], offsetof(cbi_operands, predicates_read) + 1);
        memset(pending, 0, c->row * sizeof *pending);
        cbi_sb_unite(pending, c->pending[i]);
        take(digest, pending, c->row * sizeof *pending);
    }
}

static void take_guide(const cbi_sb_code *c, uint64_t *digest)
{
    cbi_sb_guide guide;
    take_number(digest, cbi_sb_learn(c, &guide));
    take_number(digest, guide.count);
    take(digest, guide.exception, c->producers.len);
    for (uint32_t q = 0; q < c->producers.len; q++)
        take_list(digest, &guide.with[q]);
    for (uint32_t i = 0; i < c->n; i++) {
        take_list(digest, &guide.more[i]);
        take_list(digest, &guide.fewer[i]);
    }
}

/* Reads and assigns; true with the new words. */
static bool assigned(cbi_ctx *ctx, cbi_sb_code c, cbi_span text, uint64_t *digest,
                     cbi_sass **ret_words)
{
    if (!cbi_sb_read_words(&c, text.data, text.size) || !cbi_sb_read(&c, (cbi_span){0}, NULL, 0))
        return false;
    take_code(&c, digest);
    take_guide(&c, digest);
    cbi_sass *words = CBI_NEW_ARRAY(ctx, c.n, cbi_sass);
    cbi_sb_assign(&c, true, NULL, words);
    take(digest, words, c.n * sizeof *words);
    take_number(digest, cbi_pace_keeps_waits(&c, words));
    *ret_words = words;
    return true;
}

static void take_instructions(cbi_span code, uint64_t *digest)
{
    for (size_t at = 0; at < code.size; at += CBI_SASS_INSTRUCTION) {
        cbi_sass w = cbi_sass_load(code.data + at);
        cbi_predicates predicates = cbi_sass_predicates(w);
        take(digest, &predicates, sizeof predicates);
        uint8_t two[2];
        cbi_pace_predicates(w, &two[0], &two[1]);
        take(digest, two, sizeof two);
        take_number(digest, cbi_sass_reads_stack_pointer(w) | cbi_pace_is_other(w) << 1 |
                                cbi_pace_is_math(cbi_sass_op(w)) << 2 |
                                cbi_pace_is_opaque(cbi_sass_op(w)) << 3);
        cbi_operands operands;
        cbi_sass_operands(w, &operands);
        take_number(digest, cbi_pace_end_latency(w, &operands));
        for (uint32_t chip = 100; chip <= 120; chip += 20)
            take_number(digest, (uint64_t)cbi_sb_result_time(w, chip) << 32 |
                                    (uint64_t)cbi_sb_reading_time(w, chip, &operands));
    }
}

cbi_span changed_random_code(cbi_ctx *ctx, uint64_t number, uint64_t *ret_digest)
{
    enum { ROUNDS = 3 };
    static const uint32_t chips[] = {100, 103, 110, 120};
    uint64_t state = number;
    cbi_span code = make_code(ctx, &state);
    cbi_sb_code how = {.ctx = ctx,
                       .chip = chips[below(&state, CBI_COUNT(chips))],
                       .calls_apart = below(&state, 2)};
    take_instructions(code, ret_digest);
    for (unsigned round = 0; round < ROUNDS; round++) {
        how.reading = (cbi_sb_reading)((round + number) % CBI_SB_READINGS);
        cbi_sass *words;
        if (!assigned(ctx, how, code, ret_digest, &words))
            break;
        uint8_t *text = cbi_memdup(ctx, code.data, code.size);
        for (size_t i = 0; i < code.size / CBI_SASS_INSTRUCTION; i++)
            cbi_sass_store(text + i * CBI_SASS_INSTRUCTION, words[i]);
        code.data = text;
    }
    return code;
}
