#include "sass/scoreboard.h"

#include "sass/pace_code.h"
#include "sass/scoreboard_assign.h"

/* The words of an assignment. */
static void put_words(const cbi_sb_assignment *a, bool keep_stack_load, cbi_sass *ret_words)
{
    const cbi_sb_code *c = a->c;
    uint8_t *wait = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    cbi_sb_place_waits(a, wait);
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t number[2] = {CBI_SB_NONE, CBI_SB_NONE}; /* read, write */
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
            if (a->present[q])
                number[c->producers.items[q].write] = a->number[q];
        ret_words[i] = c->words[i];
        if (cbi_sb_is_named_wait(c, i)) { /* rule 10: the read number of the instruction before */
            uint64_t named = cbi_sass_read(ret_words[i - 1]);
            wait[i] &= (uint8_t) ~(1u << named);
            ret_words[i].lo = (ret_words[i].lo & ~(UINT64_C(7) << 44)) | named << 44;
        }
        cbi_sass_set_write(&ret_words[i], number[1]);
        cbi_sass_set_read(&ret_words[i], number[0]);
        cbi_sass_set_wait(&ret_words[i], wait[i]);
        /* Nobody can wait for a number in the cycle after it is set. */
        if (i + 1 < c->n && wait[i + 1] & cbi_sass_holds(ret_words[i]) &&
            cbi_sass_stall(c->words[i]) == 1)
            cbi_sass_set_stall(&ret_words[i], 2);
    }
    /* What holds a scoreboard at the end of a block, or for what comes next, takes two cycles at
     * least. */
    if (!keep_stack_load && cbi_sass_stall(c->words[0]) == 2 &&
        (c->blocks.items[0].end == 1 ||
         (c->n > 1 && cbi_sass_wait(c->words[1]) & cbi_sass_holds(c->words[0]))))
        cbi_sass_set_stall(&ret_words[0], 1);
    if (keep_stack_load && c->restores && cbi_sass_stall(c->words[0]) == 1 &&
        c->blocks.items[0].end == 1)
        cbi_sass_set_stall(&ret_words[0], 2);
}

static void assign_words(cbi_sb_assignment *a, bool keep_stack_load, cbi_sass *ret_words)
{
    cbi_sb_assign_numbers(a, keep_stack_load);
    put_words(a, keep_stack_load, ret_words);
}

void cbi_sb_assign(const cbi_sb_code *c, bool keep_stack_load, const cbi_sb_guide *guide,
                   cbi_sass *ret_words)
{
    assign_words(&(cbi_sb_assignment){.c = c, .guide = guide}, keep_stack_load, ret_words);
}

static bool same_words(const cbi_sb_code *c, const cbi_sass *words)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (words[i].hi != c->words[i].hi || words[i].lo != c->words[i].lo)
            return false;
    return true;
}

bool cbi_sb_is_reproduced(const cbi_sb_code *c)
{
    cbi_sass *words = CBI_NEW_ARRAY(c->ctx, c->n, cbi_sass);
    assign_words(&(cbi_sb_assignment){.c = c, .by_rules = true}, !c->restores, words);
    return same_words(c, words);
}

/* A wait of the input for a number that nobody holds there, as far as the reading goes: the
 * producer is one of that number that i depends on, else the last one in front of it.
 * CBI_SB_NOWHERE: there is none. */
static uint32_t find_ended(const cbi_sb_code *c, uint32_t i, uint32_t number)
{
    uint32_t last = CBI_SB_NOWHERE;
    for (uint32_t q = c->first[i]; q-- > 0;) {
        const cbi_sb_producer *p = &c->producers.items[q];
        if (p->old != number || q == c->stack_load)
            continue;
        if (cbi_sb_touches(c, p, i))
            return q;
        last = last == CBI_SB_NOWHERE ? q : last;
    }
    return last;
}

/* Waits of the input that the rules do not give, and the other way round; the R1 load aside. */
static void learn_waits(const cbi_sb_code *c, const cbi_sass *words, cbi_sb_guide *guide)
{
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t ruled = cbi_sass_wait(words[i]), old = cbi_sass_wait(c->words[i]), held = 0;
        CBI_SB_EACH_OF(q, c->pending[i], ruled != old)
        {
            uint32_t number = c->producers.items[q].old;
            held |= 1u << number;
            if (q == c->stack_load || !((ruled ^ old) >> number & 1))
                continue;
            cbi_vec_push(c->ctx, old >> number & 1 ? &guide->more[i] : &guide->fewer[i], q);
        }
        for (uint32_t hidden = old & ~ruled & ~held; hidden; hidden &= hidden - 1) {
            uint32_t q = find_ended(c, i, (uint32_t)__builtin_ctz(hidden));
            if (q != CBI_SB_NOWHERE)
                cbi_vec_push(c->ctx, &guide->more[i], q);
        }
        guide->count += guide->more[i].len || guide->fewer[i].len;
    }
}

bool cbi_sb_learn(const cbi_sb_code *c, cbi_sb_guide *ret_guide)
{
    enum { ROUNDS = 4 };
    *ret_guide =
        (cbi_sb_guide){.exception = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, uint8_t),
                       .margin = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, cbi_sb_margin),
                       .with = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, cbi_u32_list),
                       .more = CBI_NEW_ARRAY(c->ctx, c->n, cbi_u32_list),
                       .fewer = CBI_NEW_ARRAY(c->ctx, c->n, cbi_u32_list)};
    cbi_sass *words = CBI_NEW_ARRAY(c->ctx, c->n, cbi_sass);
    cbi_sb_assignment a = {.c = c, .by_rules = true, .learned = ret_guide};
    bool keep = !c->restores;
    assign_words(&a, keep, words);
    bool same = false;
    for (unsigned round = 0; round < ROUNDS && !same;
         round++) { /* one wait less can make one more */
        learn_waits(c, words, ret_guide);
        a.guide = ret_guide;
        put_words(&a, keep, words); /* with the input's numbers */
        same = same_words(c, words);
    }
    return same;
}

bool cbi_sb_qualifies(const cbi_sb_code *c)
{
    cbi_sass first = c->words[0];
    if (cbi_sass_op(first) != CBI_OP_LDC || cbi_sass_bits(first, 16, 8) != 1 ||
        (cbi_sass_write(first) == CBI_SB_NONE) != c->restores ||
        cbi_sass_read(first) != CBI_SB_NONE)
        return false;
    for (uint32_t i = 1; i < c->n; i++)
        if (cbi_sass_reads_stack_pointer(c->words[i]))
            return false;
    return true;
}

bool cbi_sb_read_words(cbi_sb_code *c, const uint8_t *bytes, size_t size)
{
    size_t total = size / CBI_SASS_INSTRUCTION;
    while (total && cbi_sass_opcode(bytes + CBI_SASS_INSTRUCTION * (total - 1)) == CBI_OP_NOP)
        total--;
    if (!total || total > UINT32_MAX / CBI_SASS_INSTRUCTION)
        return false;
    c->n = (uint32_t)total;
    c->words = CBI_NEW_ARRAY(c->ctx, c->n, cbi_sass);
    for (uint32_t i = 0; i < c->n; i++) {
        c->words[i] = cbi_sass_load(bytes + (size_t)CBI_SASS_INSTRUCTION * i);
    }
    return true;
}

static void write_code(const cbi_sb_code *c, const cbi_sass *out, uint8_t *bytes)
{
    for (uint32_t i = 0; i < c->n; i++) {
        cbi_sass_store(bytes + (size_t)CBI_SASS_INSTRUCTION * i, out[i]);
    }
}

/* Tries a reading, and keeps what fits best.  Sets *ret_exact if it fits without exceptions.  False
 * when the code is beyond the model. */
static bool try_reading(cbi_sb_code *c, const cbi_scoreboard_text *text, cbi_sb_code *best,
                        cbi_sb_guide *guide, bool *ret_exact)
{
    cbi_sb_guide own = {0};
    if (!cbi_sb_read(c, text->info, text->place, text->places))
        return false;
    *ret_exact = cbi_sb_is_reproduced(c);
    if (!*ret_exact)
        cbi_sb_learn(c, &own);
    /* Without exceptions it fits, but for choices in which the R1 load took part. */
    if (!best->n || (*ret_exact ? guide->count > 0 : own.count < guide->count)) {
        *best = *c;
        *guide = own;
    }
    return true;
}

bool cbi_sb_read_best(const cbi_sb_code *code, const cbi_scoreboard_text *text,
                      cbi_sb_code *ret_best, cbi_sb_guide *ret_guide)
{
    cbi_sb_sparse **pending[CBI_SB_UNSURE] = {0}; /* the same in each reading of the same blocks */
    bool exact = false;
    *ret_best = (cbi_sb_code){0};
    for (unsigned reading = 0; reading < CBI_SB_READINGS && !exact; reading++)
        for (uint8_t joins = 0; joins < CBI_SB_UNSURE && !exact; joins++) {
            cbi_sb_code c = *code;
            if (joins & ~ret_best->unsure)
                continue;
            c.reading = reading;
            c.joins = joins;
            c.pending = pending[joins];
            if (!try_reading(&c, text, ret_best, ret_guide, &exact))
                return false;
            pending[joins] = c.pending;
        }
    return true;
}

/* Exits whose barrier went: more than one instruction of the input is now at their place.  False if
 * there are none. */
static bool find_bare_exits(const cbi_sb_code *c, const cbi_scoreboard_text *text, bool *ret_bare)
{
    bool any = false;
    for (size_t i = 1; i < text->places; i++) {
        uint32_t at = text->self[i] / CBI_SASS_INSTRUCTION;
        if (text->place[i - 1] == text->self[i] && at < c->n && cbi_sb_op(c, at) == CBI_OP_EXIT)
            any = ret_bare[at] = true;
    }
    return any;
}

/* What a job is about. */
typedef struct work {
    const cbi_scoreboard_text *text;
    bool reads_fences;
    bool restores;
    bool changed;
} work;

bool cbi_sb_has_call(const cbi_sb_code *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->n; i++)
        any |= cbi_op_has(cbi_sb_op(c, i), CBI_OPF_CALL);
    return any;
}

/* Exits have a barrier, or none any more.  False if that changes nothing. */
static bool reach_exits(cbi_sb_code *c, const uint8_t *barrier, uint8_t *waits, cbi_sb_guide *guide)
{
    bool met = cbi_sb_meet_exits(c, barrier, waits);
    return cbi_sb_part_guards(c, barrier, waits, guide) || met;
}

static bool leave_exits(cbi_sb_code *c, const bool *bare)
{
    bool left = cbi_sb_leave_exits(c, bare);
    return cbi_sb_join_guards(c, bare) || left;
}

static bool assign(cbi_ctx *ctx, const cbi_scoreboard_text *text, bool restores)
{
    cbi_sb_code code = {.ctx = ctx, .chip = text->chip, .restores = restores}, best;
    cbi_sb_guide guide;
    if (!cbi_sb_read_words(&code, text->bytes, text->size) || !cbi_sb_qualifies(&code))
        return false;
    code.calls_apart = cbi_sb_has_call(&code);
    if (!cbi_sb_read_best(&code, text, &best, &guide))
        return false;
    if (restores && !best.blocks.items[0].succ.len)
        return false; /* nothing would wait for it */
    bool *bare = CBI_NEW_ARRAY(ctx, code.n, bool);
    uint8_t *barrier = CBI_NEW_ARRAY(ctx, code.n, uint8_t);
    uint8_t *waits = CBI_NEW_ARRAY(ctx, code.n, uint8_t);
    cbi_sb_guide *follows = guide.exception ? &guide : NULL;
    if (find_bare_exits(&code, text, bare))
        leave_exits(&best, bare);
    /* Barriers, because an object of the link asks for them. */
    if (!restores && cbi_sb_find_barriers(&code, text, barrier))
        reach_exits(&best, barrier, waits, follows);
    cbi_sass *out = CBI_NEW_ARRAY(ctx, code.n, cbi_sass);
    cbi_sb_assign(&best, restores, follows, out);
    if (guide.exception && !cbi_pace_keeps_waits(&best, out))
        return false;
    cbi_sb_settle_stalls(&best, out);
    write_code(&best, out, text->bytes);
    return true;
}

static cb_status run_assign(cbi_ctx *ctx, void *arg)
{
    work *w = arg;
    w->changed = assign(ctx, w->text, w->restores);
    return CB_OK;
}

bool cbi_scoreboard_assign(cbi_ctx *ctx, const cbi_scoreboard_text *text)
{
    work w = {.text = text};
    cbi_run_aside(ctx, run_assign, &w);
    return w.changed;
}

void cbi_scoreboard_restore(cbi_ctx *ctx, const cbi_scoreboard_text *text)
{
    work w = {.text = text, .restores = true};
    cbi_run_aside(ctx, run_assign, &w);
}

static void meet_exits(cbi_ctx *ctx, const cbi_scoreboard_text *text, bool reads_fences)
{
    cbi_sb_code code = {.ctx = ctx, .calls_apart = true, .chip = text->chip}, c;
    cbi_sb_guide guide;
    if (!cbi_sb_read_words(&code, text->bytes, text->size) ||
        cbi_sass_is_unscheduled(code.words[0])) /* everything is there long before an exit */
        return;
    uint8_t *barrier = CBI_NEW_ARRAY(ctx, code.n, uint8_t);
    bool *bare = CBI_NEW_ARRAY(ctx, code.n, bool);
    bool any_bare = find_bare_exits(&code, text, bare);
    bool any_barrier = cbi_sb_find_barriers(&code, text, barrier);
    if (!any_bare && !any_barrier)
        return;
    if (reads_fences && any_barrier) {
        c = code;
        if (!cbi_sb_read(&c, text->info, text->place, text->places))
            return;
        if (cbi_sb_join_fences(&c, barrier))
            write_code(&c, c.words, text->bytes);
    }
    if (!cbi_sb_read_best(&code, text, &c, &guide))
        return;
    cbi_sass *out = CBI_NEW_ARRAY(ctx, c.n, cbi_sass);
    uint8_t *waits = CBI_NEW_ARRAY(ctx, c.n, uint8_t);
    cbi_sb_guide *follows = guide.exception ? &guide : NULL;
    bool less = any_bare && leave_exits(&c, bare);
    if (!reach_exits(&c, barrier, waits, follows) && !less)
        return;
    cbi_sb_assign(&c, true, follows, out);
    bool trusted = !guide.exception || cbi_pace_keeps_waits(&c, out);
    for (uint32_t i = 0; i < c.n && !trusted; i++) {
        out[i] = c.words[i];
        cbi_sass_add_wait(&out[i], waits[i]);
    }
    cbi_sb_settle_stalls(&c, out);
    write_code(&c, out, text->bytes);
}

static cb_status run_meet_exits(cbi_ctx *ctx, void *arg)
{
    const work *w = arg;
    meet_exits(ctx, w->text, w->reads_fences);
    return CB_OK;
}

void cbi_scoreboard_meet_exits(cbi_ctx *ctx, const cbi_scoreboard_text *text, bool reads_fences)
{
    work w = {.text = text, .reads_fences = reads_fences};
    cbi_run_aside(ctx, run_meet_exits, &w);
}
