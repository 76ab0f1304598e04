/* Is code safe whose pace was changed?  Every late result has arrived where it is needed, every
 * source was read before it is overwritten, and the slow unit is free when it is used.  This reads
 * the new code alone and knows nothing of how it was made. */
#include "sass/pace_code.h"

typedef CBI_VEC(uint32_t) indices;

/* Late instructions under way: bits of `state`, results first, sources behind them. */
typedef struct flow {
    const cbi_sb_code *c;
    const cbi_sb_late *which;
    indices late;
    size_t row;
    uint64_t *state;
    cbi_sb_sparse *leaving; /* by block */
} flow;

/* One bit, or none. */
static uint8_t bit_of(uint32_t number)
{
    return number < CBI_SB_NUMBERS ? (uint8_t)(1u << number) : 0;
}

/* The latest run of q, and so that of all before it in its block, is over when i is issued: also
 * that of r, which stands in front of q and keeps its order to it? */
static bool is_before(const cbi_sb_code *c, uint32_t r, uint32_t q, uint32_t i)
{
    return c->block_of[r] == c->block_of[q] &&
           (c->block_of[i] != c->block_of[q] || i > q || r >= i);
}

static bool keep_order(const flow *f, uint32_t r, uint32_t q)
{
    return f->which->order[r] == f->which->order[q] && f->which->order[r] != CBI_ORDER_FREE;
}

/* Are the sources of r read when those of q, behind it, are? */
static bool read_in_order(const flow *f, uint32_t r, uint32_t q)
{
    return keep_order(f, r, q) || cbi_sb_read_in_order(f->c, f->which, r, q);
}

/* Ends what instruction i waits for. */
static void wait_for(const flow *f, uint32_t i, uint64_t *state)
{
    const cbi_sb_code *c = f->c;
    uint32_t count = (uint32_t)f->late.len;
    uint8_t mask = (uint8_t)cbi_sass_wait(c->words[i]);
    for (uint32_t n = 0; mask && n < count; n++) {
        uint32_t q = f->late.items[n];
        bool done = cbi_sb_has(state, n) && mask & bit_of(cbi_sass_write(c->words[q]));
        bool read =
            done || (cbi_sb_has(state, count + n) && mask & bit_of(cbi_sass_read(c->words[q])));
        if (read)
            cbi_sb_drop(state, count + n);
        if (done)
            cbi_sb_drop(state, n);
        for (uint32_t k = 0; read && k < n; k++) {
            if (!is_before(c, f->late.items[k], q, i))
                continue;
            if (read_in_order(f, f->late.items[k], q))
                cbi_sb_drop(state, count + k);
            if (done && keep_order(f, f->late.items[k], q))
                cbi_sb_drop(state, k);
        }
    }
}

bool cbi_pace_may_meet(cbi_sass w, const cbi_regset *set, bool writes)
{
    enum { WIDEST = 4, ZERO = 255, WRITING = 2 };
    static const uint8_t fields[] = {16, 64, 24, 32};
    for (size_t f = 0; f < (writes ? WRITING : CBI_COUNT(fields)); f++) {
        uint32_t first = (uint32_t)cbi_sass_bits(w, fields[f], 8);
        for (uint32_t r = first; r < first + WIDEST && r < ZERO; r++)
            if (cbi_regset_has(set, r))
                return true;
    }
    return false;
}

/* Does instruction i come too early for anything under way? */
static bool is_early(const flow *f, uint32_t i, const uint64_t *state)
{
    const cbi_sb_code *c = f->c;
    uint32_t count = (uint32_t)f->late.len;
    bool opaque = cbi_pace_is_opaque(cbi_sb_op(c, i));
    for (uint32_t n = 0; n < count; n++) {
        uint32_t q = f->late.items[n];
        const cbi_sb_late *w = f->which;
        const cbi_sb_reordered *o = w->reordered;
        const bool result = w->is_new[q] || (o && o->used_by[q] != CBI_SB_NOWHERE);
        const bool sources =
            w->is_new[q] || (o && (o->reads_new[q] || o->overwritten_by[q] != CBI_SB_NOWHERE));
        if (result && cbi_sb_has(state, n) &&
            (cbi_sb_uses_late(c, f->which, q, i) ||
             (opaque && cbi_pace_may_meet(c->words[i], &c->operands[q].written, false))))
            return true;
        if (sources && cbi_sb_has(state, count + n) &&
            (cbi_sb_overwrites_late(c, f->which, q, i) ||
             (opaque && cbi_pace_may_meet(c->words[i], &c->operands[q].read, true))))
            return true;
    }
    return false;
}

/* One pass over a block; false when something comes too early. */
static bool walk(const flow *f, uint32_t block, bool *changed)
{
    const cbi_sb_block *b = &f->c->blocks.items[block];
    uint64_t *state = f->state;
    uint32_t count = (uint32_t)f->late.len, next = 0;
    cbi_sb_enter(b, f->leaving, f->row, state);
    while (next < count && f->late.items[next] < b->start)
        next++;
    for (uint32_t i = b->start; i < b->end; i++) {
        wait_for(f, i, state);
        if (is_early(f, i, state))
            return false;
        if (next < count && f->late.items[next] == i) {
            cbi_sb_put(state, next);
            cbi_sb_put(state, count + next++);
        }
    }
    *changed |= cbi_sb_store(f->c->ctx, state, f->row, &f->leaving[block]);
    return true;
}

/* Has the unit time for all instructions of each stretch? */
static bool keeps_distances(const cbi_sb_code *c, const cbi_sb_block *b, const uint32_t *cycles)
{
    uint32_t busy = 0;
    for (uint32_t i = b->start; i < b->end; i++) {
        uint32_t own = cbi_pace_occupancy(cbi_sb_op(c, i));
        if (own && busy)
            return false;
        busy = own ? own : busy;
        uint32_t passed = cbi_pace_unit_cycles(c->words[i], cycles[i]);
        busy = cbi_sb_ends_stretch(c, i) ? 0 : busy - (passed < busy ? passed : busy);
    }
    return true;
}

bool cbi_pace_is_safe(const cbi_sb_code *c, const cbi_sb_late *which, const uint32_t *cycles)
{
    flow f = {.c = c, .which = which};
    for (uint32_t i = 0; i < c->n; i++)
        if (which->order[i])
            cbi_vec_push(c->ctx, &f.late, i);
    f.row = cbi_sb_words_of(f.late.len + f.late.len);
    f.state = CBI_NEW_ARRAY(c->ctx, f.row, uint64_t);
    f.leaving = CBI_NEW_ARRAY(c->ctx, c->blocks.len, cbi_sb_sparse);
    for (uint32_t b = 0; cycles && b < c->blocks.len; b++)
        if (!keeps_distances(c, &c->blocks.items[b], cycles))
            return false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < c->blocks.len; b++)
            if (!walk(&f, b, &changed))
                return false;
    }
    return true;
}

/* ---- what had scoreboards in the input ---- */

/* Instruction i touches a producer, by its bit, too early. */
typedef struct early {
    uint32_t i, bit;
} early;

/* Producers of the input under way, results and sources, by the numbers of `words`. */
typedef struct pending {
    const cbi_sb_code *c;
    const cbi_sass *words;
    indices at; /* instructions with a number in the input */
    size_t row;
    cbi_sb_sparse *leaving; /* by block */
    CBI_VEC(early) early;   /* in the order of the code */
} pending;

static uint8_t waited_for(const pending *p, uint32_t i)
{
    cbi_sass w = p->words[i];
    uint8_t mask = (uint8_t)cbi_sass_wait(w);
    if (i && cbi_sass_op(w) == CBI_OP_DEPBAR && cbi_sb_op(p->c, i - 1) == CBI_OP_MEMBAR)
        mask |= (uint8_t)(1u << cbi_sass_named_scoreboard(w));
    return mask;
}

/* Ends what instruction i waits for. */
static void end_waits(const pending *p, uint32_t i, uint64_t *state)
{
    const cbi_sb_code *c = p->c;
    const uint32_t count = (uint32_t)p->at.len, *at = p->at.items;
    const uint8_t mask = waited_for(p, i);
    CBI_SB_EACH(bit, state, mask ? p->row : 0)
    {
        const bool write = bit < count;
        uint32_t n = write ? bit : bit - count;
        cbi_sass w = p->words[at[n]];
        if (!(mask & bit_of(write ? cbi_sass_write(w) : cbi_sass_read(w))))
            continue;
        cbi_sb_drop(state, bit);
        cbi_sb_drop(state, count + n);
        const bool unit = write && cbi_sb_is_in_unit(c, at[n]);
        /* the slow unit did what stands in front of it before */
        for (uint32_t k = n; unit && k-- > 0 && c->block_of[at[k]] == c->block_of[at[n]];) {
            if (!cbi_sb_is_in_unit(c, at[k]) || !is_before(c, at[k], at[n], i))
                continue;
            cbi_sb_drop(state, k);
            cbi_sb_drop(state, count + k);
        }
    }
}

/* What is under way behind instruction i; next: the first entry of `at` that is not in front of it.
 */
static void step(const pending *p, uint32_t i, uint32_t *next, uint64_t *state)
{
    const uint32_t count = (uint32_t)p->at.len;
    const cbi_sass w = p->c->words[i];
    while (*next < count && p->at.items[*next] < i)
        ++*next;
    if (*next == count || p->at.items[*next] != i)
        return;
    if (bit_of(cbi_sass_write(w)))
        cbi_sb_put(state, *next);
    if (bit_of(cbi_sass_read(w)))
        cbi_sb_put(state, count + *next);
}

static void find_leaving(const pending *p, uint64_t *state)
{
    const cbi_sb_code *c = p->c;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0, next = 0; b < c->blocks.len; b++) {
            const cbi_sb_block *k = &c->blocks.items[b];
            cbi_sb_enter(k, p->leaving, p->row, state);
            for (uint32_t i = k->start; i < k->end; i++) {
                end_waits(p, i, state);
                step(p, i, &next, state);
            }
            changed |= cbi_sb_store(c->ctx, state, p->row, &p->leaving[b]);
        }
    }
}

static void find_early(pending *p, uint64_t *state)
{
    const cbi_sb_code *c = p->c;
    const uint32_t count = (uint32_t)p->at.len;
    for (uint32_t b = 0, next = 0; b < c->blocks.len; b++) {
        const cbi_sb_block *k = &c->blocks.items[b];
        cbi_sb_enter(k, p->leaving, p->row, state);
        for (uint32_t i = k->start; i < k->end; i++) {
            end_waits(p, i, state);
            CBI_SB_EACH(bit, state, p->row)
            {
                cbi_sb_producer q = {.at = p->at.items[bit < count ? bit : bit - count],
                                     .write = bit < count};
                if (cbi_sb_touches(c, &q, i))
                    cbi_vec_push(c->ctx, &p->early, ((early){i, bit}));
            }
            step(p, i, &next, state);
        }
    }
}

static pending pending_in(const cbi_sb_code *c, const cbi_sass *words, bool first)
{
    pending p = {.c = c, .words = words};
    for (uint32_t i = first ? 0 : 1; i < c->n; i++)
        if (bit_of(cbi_sass_write(c->words[i])) || bit_of(cbi_sass_read(c->words[i])))
            cbi_vec_push(c->ctx, &p.at, i);
    p.row = cbi_sb_words_of(p.at.len + p.at.len);
    p.leaving = CBI_NEW_ARRAY(c->ctx, c->blocks.len, cbi_sb_sparse);
    uint64_t *state = CBI_NEW_ARRAY(c->ctx, p.row, uint64_t);
    find_leaving(&p, state);
    find_early(&p, state);
    return p;
}

static bool is_in_front(const early *a, const early *b)
{
    return a->i < b->i || (a->i == b->i && a->bit < b->bit);
}

bool cbi_pace_keeps_waits(const cbi_sb_code *c, const cbi_sass *now)
{
    /* The R1 load is not needed where it loses its number. */
    bool first = cbi_sass_write(now[0]) < CBI_SB_NUMBERS;
    pending before = pending_in(c, c->words, first), after = pending_in(c, now, first);
    for (size_t k = 0, seen = 0; k < after.early.len; k++) {
        const early *now_early = &after.early.items[k];
        while (seen < before.early.len && is_in_front(&before.early.items[seen], now_early))
            seen++;
        if (seen == before.early.len || is_in_front(now_early, &before.early.items[seen]))
            return false;
    }
    return true;
}
