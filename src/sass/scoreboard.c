#include "sass/scoreboard.h"

#include "sass/scoreboard_code.h"

static bool is_texture(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_TEXTURE);
}

/* Ends of asynchronous copies, which count on a number: by result or, bulk copies, by read. */
static bool is_async_copy_end(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_COPY_END);
}

/* ---- the assignment ---- */

/* The block in work. */
typedef struct work {
    uint32_t block;
    uint64_t *entering; /* producers pending at its start */
    uint8_t held;       /* numbers that a collective sequence keeps busy, one bit each */
    bool top_taken;
} work;

static bool is_here(const cbi_sb_code *c, const work *w, uint32_t q)
{
    return c->producers.items[q].block == w->block;
}

/* Next consumer of a pending producer in the block in work, after instruction i; or CBI_SB_NOWHERE.
 */
static uint32_t next_consumer(const cbi_sb_code *c, const work *w, uint32_t q, uint32_t i)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    const cbi_sb_block *b = &c->blocks.items[w->block];
    if (is_here(c, w, q) && !cbi_sb_has(w->entering, q))
        return p->local;
    uint32_t next = CBI_SB_NOWHERE;
    for (size_t k = 0; k < p->consumers.len; k++) {
        uint32_t x = p->consumers.items[k];
        if (x > i && x >= b->start && x < b->end && x < next)
            next = x;
    }
    return next;
}

static bool consumed_at(const cbi_sb_code *c, const work *w, uint32_t q, uint32_t i)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    if (is_here(c, w, q) && p->flush && i + 1 < c->blocks.items[w->block].end && i > p->at)
        return cbi_sb_contains(&p->consumers, i);
    if (is_here(c, w, q) || p->local != CBI_SB_NOWHERE)
        return p->local == i;
    return cbi_sb_contains(&p->consumers, i);
}

/* Takes the reserved number? */
static bool takes_top(const cbi_sb_code *c, uint32_t q)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    return c->reserved && c->present[q] && p->is_long && p->local == CBI_SB_NOWHERE;
}

static bool is_top_held(const cbi_sb_code *c)
{
    for (size_t n = 0; n < c->live.len; n++)
        if (takes_top(c, c->live.items[n]))
            return true;
    return false;
}

/* A local producer joins one with the same consumer; CBI_SB_NONE if there is none. */
static uint8_t join_local(const cbi_sb_code *c, const work *w, const cbi_sb_producer *p)
{
    bool top_held = is_top_held(c);
    uint8_t best = CBI_SB_NONE;
    for (uint8_t k = 0; k < CBI_SB_NUMBERS && best == CBI_SB_NONE; k++) {
        bool one = false, early = false;
        for (size_t n = 0; n < c->live.len && !(k == c->top && top_held) && !(c->apart >> k & 1);
             n++) {
            uint32_t r = c->live.items[n];
            if (r == c->stack_load || c->producers.items[r].at == p->at || c->number[r] != k)
                continue;
            uint32_t next = next_consumer(c, w, r, p->at);
            early |= next < p->local;
            one |= next == p->local;
        }
        if (one && !early)
            best = k;
    }
    return best;
}

/* A crossing read joins the latest crossing read of the block whose number only such hold. */
static uint8_t join_crossing(const cbi_sb_code *c, const work *w)
{
    uint8_t impure = 0, best = CBI_SB_NONE;
    for (size_t n = 0; n < c->live.len; n++) {
        uint32_t r = c->live.items[n];
        if (c->producers.items[r].write ||
            (is_here(c, w, r) && c->producers.items[r].local != CBI_SB_NOWHERE))
            impure |= (uint8_t)(1u << c->number[r]);
    }
    for (size_t n = 0; n < c->live.len; n++) {
        uint32_t r = c->live.items[n];
        const cbi_sb_producer *o = &c->producers.items[r];
        if (is_here(c, w, r) && !o->write && o->local == CBI_SB_NOWHERE &&
            !(impure >> c->number[r] & 1))
            best = c->number[r];
    }
    return best;
}

static uint8_t numbers_in(const cbi_sb_code *c, const uint64_t *set)
{
    uint8_t out = 0;
    for (uint32_t q = 0; q < c->producers.len; q++)
        if (cbi_sb_has(set, q))
            out |= (uint8_t)(1u << c->number[q]);
    return out;
}

static uint8_t busy_numbers(const cbi_sb_code *c, const work *w, bool crossing)
{
    uint8_t busy = w->held;
    for (size_t n = 0; n < c->live.len; n++)
        busy |= (uint8_t)(1u << c->number[c->live.items[n]]);
    const cbi_sb_block *b = &c->blocks.items[w->block];
    for (size_t s = 0; crossing && s < b->succ.len; s++) {
        const cbi_sb_block *to = &c->blocks.items[b->succ.items[s]];
        for (size_t p = 0; p < to->pred.len; p++) {
            uint32_t from = to->pred.items[p];
            if (from != w->block && c->blocks.items[from].done)
                busy |= numbers_in(c, c->blocks.items[from].leaving);
        }
        if (b->succ.items[s] == w->block)
            busy |= numbers_in(c, w->entering);
    }
    return busy;
}

/* What sharing a number would cost a producer, and what decides between equal costs. */
typedef struct price {
    int64_t stall; /* cycles that somebody waits longer */
    int64_t slack; /* cycles by which the producer is waited for earlier, or is ready later */
    int64_t ready; /* when the last holder is */
} price;

/* From the start of its own block. */
static int64_t ready_at(const cbi_sb_code *c, uint32_t q)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    return c->issue[p->at] + cbi_sb_latency_of(c, p);
}

/* From the start of the block in work.  What is left of a latency counts in the next block only. */
static int64_t ready(const cbi_sb_code *c, const work *w, uint32_t q)
{
    uint32_t home = c->producers.items[q].block;
    if (home == w->block && !cbi_sb_has(w->entering, q))
        return ready_at(c, q);
    if (!cbi_sb_contains(&c->blocks.items[w->block].pred, home))
        return 0;
    uint32_t last = c->blocks.items[home].end - 1;
    int64_t left = ready_at(c, q) - c->issue[last] - (int64_t)cbi_sass_stall(c->words[last]);
    return left > 0 ? left : 0;
}

static int64_t not_below_zero(int64_t cycles)
{
    return cycles > 0 ? cycles : 0;
}

/* Rule 7: the price of number k.  False when no pending producer lets this one in. */
static bool find_price(const cbi_sb_code *c, const work *w, uint32_t q, uint8_t k, price *ret_price)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    uint32_t next = CBI_SB_NOWHERE;
    bool any = false;
    *ret_price = (price){0};
    for (size_t n = 0; n < c->live.len; n++) {
        uint32_t r = c->live.items[n];
        if (c->number[r] != k)
            continue;
        if (p->local != CBI_SB_NOWHERE && takes_top(c, r))
            return false;
        any = true;
        uint32_t own = r == c->stack_load ? CBI_SB_NOWHERE : next_consumer(c, w, r, p->at);
        if (own < next)
            next = own;
        if (ready(c, w, r) > ret_price->ready)
            ret_price->ready = ready(c, w, r);
    }
    int64_t mine = ready_at(c, q);
    if (next < p->local) {
        ret_price->stall = not_below_zero(mine - c->issue[next]);
        if (p->local != CBI_SB_NOWHERE)
            ret_price->slack = c->issue[p->local] - c->issue[next];
    } else if (p->local != CBI_SB_NOWHERE) {
        ret_price->stall = not_below_zero(ret_price->ready - c->issue[p->local]);
        ret_price->slack = not_below_zero(ret_price->ready - mine);
    }
    return any;
}

static bool is_lower(const price *a, const price *b, bool local)
{
    if (a->stall != b->stall || !local)
        return a->stall < b->stall;
    return a->slack != b->slack ? a->slack < b->slack : a->ready < b->ready;
}

/* No number is free: the one that costs least. */
static uint8_t merge(const cbi_sb_code *c, const work *w, uint32_t q, uint8_t usable)
{
    bool local = c->producers.items[q].local != CBI_SB_NOWHERE;
    uint8_t best = CBI_SB_NONE, last = 0;
    price least = {0};
    for (unsigned i = 0; i < CBI_SB_NUMBERS; i++) {
        price own;
        if (!(usable >> i & 1))
            continue;
        last = (uint8_t)i;
        if (!find_price(c, w, q, (uint8_t)i, &own))
            continue;
        if (best == CBI_SB_NONE || is_lower(&own, &least, local)) {
            best = (uint8_t)i;
            least = own;
        }
    }
    return best == CBI_SB_NONE ? last : best;
}

static uint8_t choose(const cbi_sb_code *c, const work *w, uint32_t q)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    bool crossing = p->local == CBI_SB_NOWHERE;
    uint8_t joined = CBI_SB_NONE;
    if (p->write && is_texture(cbi_sb_op(c, p->at)))
        return 5;
    if (p->write == (cbi_sb_op(c, p->at) == CBI_OP_LDGDEPBAR) &&
        is_async_copy_end(cbi_sb_op(c, p->at)))
        return 0;
    if (!crossing)
        joined = join_local(c, w, p);
    else if (!p->write)
        joined = join_crossing(c, w);
    else if (p->is_long && c->reserved)
        joined = c->top;
    if (joined != CBI_SB_NONE)
        return joined;
    uint8_t usable = (p->is_long ? 0x3c : 0x3f) & (uint8_t)~c->apart;
    if (w->top_taken || (crossing && !p->is_long))
        usable &= (uint8_t) ~(1u << c->top);
    uint8_t open = usable & (uint8_t)~busy_numbers(c, w, crossing);
    for (unsigned k = 0; k < CBI_SB_NUMBERS; k++)
        if (open >> k & 1)
            return (uint8_t)k;
    uint8_t other = usable & (uint8_t)~busy_numbers(c, w, false);
    for (unsigned k = 0; k < CBI_SB_NUMBERS; k++)
        if (other >> k & 1)
            return (uint8_t)k;
    if (crossing && !p->is_long && !w->top_taken && !(c->apart >> c->top & 1))
        usable |= (uint8_t)(1u << c->top);
    return merge(c, w, q, usable);
}

static void end_cleared(cbi_sb_code *c, uint8_t cleared)
{
    size_t kept = 0;
    for (size_t n = 0; n < c->live.len; n++)
        if (!(cleared >> c->number[c->live.items[n]] & 1))
            c->live.items[kept++] = c->live.items[n];
    c->live.len = kept;
}

static bool is_flushed(const cbi_sb_code *c, const work *w, uint32_t q, uint32_t last)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    return is_here(c, w, q) && p->local == CBI_SB_NOWHERE && p->flush &&
           cbi_sb_contains(&p->consumers, last);
}

/* The end of the block does not wait for what is there by its time while something else holds the
 * number that is not. */
static void keep_shared(cbi_sb_code *c, const work *w, uint32_t last)
{
    uint8_t kept = 0;
    for (size_t n = 0; n < c->live.len; n++)
        if (!is_flushed(c, w, c->live.items[n], last))
            kept |= (uint8_t)(1u << c->number[c->live.items[n]]);
    /* Nor while it would hold what came in, which was waited for here. */
    for (uint32_t q = 0; q < c->producers.len; q++)
        if (cbi_sb_has(w->entering, q) &&
            c->issue[last] < cbi_sb_latency_of(c, &c->producers.items[q]))
            kept |= (uint8_t)(1u << c->number[q]);
    for (size_t n = 0; n < c->live.len; n++) {
        uint32_t q = c->live.items[n];
        cbi_sb_producer *p = &c->producers.items[q];
        if (!p->timed || !is_flushed(c, w, q, last) || !(kept >> c->number[q] & 1))
            continue;
        p->flush = false;
        size_t left = 0;
        for (size_t k = 0; k < p->consumers.len; k++)
            if (p->consumers.items[k] != last)
                p->consumers.items[left++] = p->consumers.items[k];
        p->consumers.len = left;
    }
}

static void assign_block(cbi_sb_code *c, uint32_t number)
{
    cbi_sb_block *b = &c->blocks.items[number];
    work w = {.block = number, .entering = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t)};
    for (size_t p = 0; p < b->pred.len; p++)
        for (size_t k = 0; c->blocks.items[b->pred.items[p]].done && k < c->row; k++)
            w.entering[k] |= c->blocks.items[b->pred.items[p]].leaving[k];
    c->live.len = 0;
    for (uint32_t q = 0; q < c->producers.len; q++) {
        if (!cbi_sb_has(w.entering, q))
            continue;
        cbi_vec_push(c->ctx, &c->live, q);
        const cbi_u32_list *x = &c->producers.items[q].consumers;
        for (size_t k = 0; c->reserved && c->number[q] == c->top && k < x->len; k++)
            w.top_taken |= x->items[k] >= b->start && x->items[k] < b->end;
    }
    for (uint32_t q = c->first[b->start]; c->reserved && q < c->first[b->end]; q++)
        w.top_taken |= takes_top(c, q);
    uint32_t group_end = 0;
    for (uint32_t i = b->start; i < b->end; i++) {
        uint8_t cleared = 0;
        for (size_t n = 0; n < c->live.len; n++)
            if (consumed_at(c, &w, c->live.items[n], i))
                cleared |= (uint8_t)(1u << c->number[c->live.items[n]]);
        if (c->group[i]) {
            w.held = cleared;
            group_end = c->group[i];
        } else if (i > group_end) {
            w.held = 0;
        }
        end_cleared(c, cleared);
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++) {
            if (!c->present[q])
                continue;
            c->number[q] = choose(c, &w, q);
            cbi_vec_push(c->ctx, &c->live, q);
        }
    }
    keep_shared(c, &w, b->end - 1);
    uint8_t flushed = 0;
    for (size_t n = 0; n < c->live.len; n++) {
        uint32_t q = c->live.items[n];
        if (is_flushed(c, &w, q, b->end - 1))
            flushed |= (uint8_t)(1u << c->number[q]);
    }
    end_cleared(c, flushed);
    memset(b->leaving, 0, (c->row + 1) * sizeof *b->leaving);
    for (size_t n = 0; n < c->live.len; n++)
        if (!c->producers.items[c->live.items[n]].ends)
            cbi_sb_put(b->leaving, c->live.items[n]);
    b->done = true;
}

/* ---- waits ---- */

static cbi_u32_list *find_needs(cbi_sb_code *c)
{
    cbi_u32_list *needs = CBI_NEW_ARRAY(c->ctx, c->n, cbi_u32_list);
    for (uint32_t q = 0; q < c->producers.len; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        if (!c->present[q])
            continue;
        if (p->local != CBI_SB_NOWHERE)
            cbi_vec_push(c->ctx, &needs[p->local], q);
        if (p->head != CBI_SB_NOWHERE)
            cbi_vec_push(c->ctx, &needs[p->head], q);
        for (size_t k = 0; k < p->consumers.len; k++) {
            uint32_t x = p->consumers.items[k];
            if (p->local == CBI_SB_NOWHERE || c->block_of[x] != p->block || x <= p->at)
                cbi_vec_push(c->ctx, &needs[x], q);
        }
    }
    return needs;
}

/* What instruction i waits for of a set, which loses all that this and its other waits end. */
static uint8_t step_output(const cbi_sb_code *c, const cbi_u32_list *needs, uint32_t i,
                           uint8_t other, uint64_t *set)
{
    uint8_t mask = 0;
    for (size_t k = 0; k < needs[i].len; k++)
        if (cbi_sb_has(set, needs[i].items[k]))
            mask |= (uint8_t)(1u << c->number[needs[i].items[k]]);
    for (uint32_t q = 0; (mask | other) && q < c->producers.len; q++)
        if (cbi_sb_has(set, q) && (mask | other) >> c->number[q] & 1 &&
            c->producers.items[q].head != i)
            cbi_sb_drop(set, q);
    return mask;
}

/* Waits for what the blocks before, in the order of the assignment, leave pending. */
static void place_forward(cbi_sb_code *c, const cbi_u32_list *needs, uint8_t *wait)
{
    uint64_t *set = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    cbi_u32_list order = cbi_sb_order(c);
    for (uint32_t b = 0; b < c->blocks.len; b++)
        memset(c->blocks.items[b].leaving, 0, (c->row + 1) * sizeof *set);
    for (size_t n = 0; n < order.len; n++) {
        cbi_sb_block *k = &c->blocks.items[order.items[n]];
        cbi_sb_enter(c, k, set);
        for (uint32_t i = k->start; i < k->end; i++) {
            wait[i] = step_output(c, needs, i, 0, set);
            for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
                if (c->present[q])
                    cbi_sb_put(set, q);
        }
        cbi_sb_leave(c, k, set);
    }
}

/* Numbers that instruction i takes although they come around a loop, which nobody knew then.  Reads
 * may share one. */
static uint8_t taken_again(const cbi_sb_code *c, uint32_t i, const uint64_t *set)
{
    uint8_t out = 0;
    for (uint32_t p = c->first[i]; p < c->first[i + 1]; p++)
        for (uint32_t q = 0; c->present[p] && q < c->producers.len; q++)
            if (cbi_sb_has(set, q) && c->number[q] == c->number[p] &&
                (c->producers.items[p].write || c->producers.items[q].write ||
                 c->producers.items[p].local != CBI_SB_NOWHERE) &&
                cbi_sb_comes_around(c, &c->producers.items[q], i))
                out |= (uint8_t)(1u << c->number[q]);
    return out & (uint8_t)~c->apart;
}

/* Adds waits for what comes around loops.  The waits that are there end such producers, too, but
 * the added ones end nothing else. */
static void place_backward(cbi_sb_code *c, const cbi_u32_list *needs, uint8_t *wait)
{
    enum { ROUNDS = 60 };
    uint32_t count = (uint32_t)c->blocks.len;
    uint64_t *set = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    uint64_t **around = CBI_NEW_ARRAY(c->ctx, count, uint64_t *);
    uint8_t *added = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    for (uint32_t b = 0; b < count; b++)
        around[b] = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    bool changed = true;
    for (unsigned round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (uint32_t b = 0; b < count; b++) {
            const cbi_sb_block *k = &c->blocks.items[b];
            memset(set, 0, (c->row + 1) * sizeof *set);
            for (size_t p = 0; p < k->pred.len; p++) {
                uint32_t from = k->pred.items[p];
                bool back = c->position[from] >= c->position[b];
                for (size_t w = 0; w < c->row; w++)
                    set[w] |= around[from][w] | (back ? c->blocks.items[from].leaving[w] : 0);
            }
            for (uint32_t i = k->start; i < k->end; i++) {
                uint8_t again = taken_again(c, i, set);
                added[i] = again | step_output(c, needs, i, wait[i] | again, set);
            }
            changed |= memcmp(around[b], set, c->row * sizeof *set) != 0;
            memcpy(around[b], set, c->row * sizeof *set);
        }
    }
    for (uint32_t i = 0; i < c->n; i++)
        wait[i] |= added[i];
}

static void place_waits(cbi_sb_code *c, uint8_t *wait)
{
    const cbi_u32_list *needs = find_needs(c);
    place_forward(c, needs, wait);
    place_backward(c, needs, wait);
    bool same_top = c->reserved;
    for (uint32_t q = 0; q < c->producers.len; q++)
        if (c->present[q] && (c->producers.items[q].old == c->top) != (c->number[q] == c->top))
            same_top = false;
    for (uint32_t i = 0; i < c->n; i++) {
        if (same_top)
            wait[i] = (uint8_t)((wait[i] & ~(1u << c->top)) | (c->wait[i] & 1u << c->top));
        if (c->all[i])
            wait[i] = CBI_SB_EVERYTHING;
    }
    for (uint32_t i = 0; i < c->n; i++)
        if (c->group[i])
            wait[c->group[i]] |= wait[i];
}

/* ---- the whole ---- */

static bool has_long_result(const cbi_sb_code *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (cbi_op_has(cbi_sb_op(c, i), CBI_OPF_LONG) && cbi_sass_bits(c->words[i], 16, 8) != 255 &&
            cbi_sass_write(c->words[i]) != CBI_SB_NONE)
            return true;
    return false;
}

/* New words; the R1 load keeps its scoreboard for the test of the model against the input. */
void cbi_sb_assign(cbi_sb_code *c, bool keep_stack_load, cbi_sass *ret_words)
{
    bool crossing_long = false;
    c->number = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, uint8_t);
    c->present = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, bool);
    for (uint32_t q = 0; q < c->producers.len; q++) {
        c->number[q] = CBI_SB_NONE;
        c->present[q] = q != c->stack_load || keep_stack_load;
        crossing_long |=
            c->producers.items[q].is_long && c->producers.items[q].local == CBI_SB_NOWHERE;
    }
    c->reserved = crossing_long && has_long_result(c);
    c->apart = 0;
    for (uint32_t i = 0; i < c->n; i++)
        c->apart |= is_texture(cbi_sb_op(c, i)) ? 0x20 : is_async_copy_end(cbi_sb_op(c, i)) ? 1 : 0;
    c->top = c->apart & 0x20 ? 4 : 5;
    for (uint32_t b = 0; b < c->blocks.len; b++)
        c->blocks.items[b].done = false;
    cbi_u32_list order = cbi_sb_order(c);
    for (size_t i = 0; i < order.len; i++)
        assign_block(c, order.items[i]);
    uint8_t *wait = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    place_waits(c, wait);
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t number[2] = {CBI_SB_NONE, CBI_SB_NONE}; /* read, write */
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
            if (c->present[q])
                number[c->producers.items[q].write] = c->number[q];
        ret_words[i] = c->words[i];
        if (cbi_sb_is_named_wait(c, i)) { /* the read number of the instruction before */
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
    /* What holds a scoreboard at the end of a block takes two cycles at least. */
    if (!keep_stack_load && c->blocks.items[0].end == 1 && cbi_sass_stall(c->words[0]) == 2)
        cbi_sass_set_stall(&ret_words[0], 1);
}

bool cbi_sb_qualifies(const cbi_sb_code *c)
{
    cbi_sass first = c->words[0];
    if (cbi_sass_op(first) != CBI_OP_LDC || cbi_sass_bits(first, 16, 8) != 1 ||
        cbi_sass_write(first) == CBI_SB_NONE || cbi_sass_read(first) != CBI_SB_NONE)
        return false;
    for (uint32_t i = 1; i < c->n; i++)
        if (cbi_sass_reads_stack_pointer(c->words[i]))
            return false;
    return true;
}

bool cbi_sb_read_words(cbi_sb_code *c, const uint8_t *bytes, size_t size)
{
    size_t total = size / 16;
    while (total && cbi_sass_opcode(bytes + 16 * (total - 1)) == CBI_OP_NOP)
        total--;
    if (!total || total > UINT32_MAX / 16)
        return false;
    c->n = (uint32_t)total;
    c->words = CBI_NEW_ARRAY(c->ctx, c->n, cbi_sass);
    for (uint32_t i = 0; i < c->n; i++) {
        c->words[i] = cbi_sass_load(bytes + (size_t)CBI_SASS_INSTRUCTION * i);
    }
    return true;
}

/* Does the model give the numbers that the code has? */
bool cbi_sb_is_reproduced(cbi_sb_code *c, cbi_sass *out)
{
    cbi_sb_assign(c, true, out);
    for (uint32_t i = 0; i < c->n; i++)
        if (out[i].hi != c->words[i].hi || out[i].lo != c->words[i].lo)
            return false;
    return true;
}

static void write_code(const cbi_sb_code *c, const cbi_sass *out, uint8_t *bytes)
{
    for (uint32_t i = 0; i < c->n; i++) {
        cbi_sass_store(bytes + (size_t)CBI_SASS_INSTRUCTION * i, out[i]);
    }
}

/* A shared number hides where sources are done: of these readings the one that reproduces the
 * input.
 */
bool cbi_scoreboard_assign(cbi_ctx *ctx, const cbi_scoreboard_text *text)
{
    cbi_sb_code code = {.ctx = ctx};
    if (!cbi_sb_read_words(&code, text->bytes, text->size) || !cbi_sb_qualifies(&code))
        return false;
    for (unsigned reading = 0; reading < CBI_SB_READINGS; reading++) {
        cbi_sb_code c = code;
        c.reading = reading;
        if (!cbi_sb_read(&c, text->info, text->place, text->places))
            return false;
        cbi_sass *out = CBI_NEW_ARRAY(ctx, c.n, cbi_sass);
        if (!cbi_sb_is_reproduced(&c, out))
            continue;
        cbi_sb_assign(&c, false, out);
        write_code(&c, out, text->bytes);
        return true;
    }
    return false;
}

void cbi_scoreboard_meet_exits(cbi_ctx *ctx, const cbi_scoreboard_text *text, bool reads_fences)
{
    cbi_sb_code c = {.ctx = ctx};
    if (!cbi_sb_read_words(&c, text->bytes, text->size) ||
        !cbi_sb_read(&c, text->info, text->place, text->places))
        return;
    uint8_t *barrier = CBI_NEW_ARRAY(ctx, c.n, uint8_t);
    for (size_t i = 0; i < text->places; i++)
        if (text->self[i] > text->place[i] && text->self[i] / 16 < c.n)
            barrier[text->self[i] / 16] = (uint8_t)((text->self[i] - text->place[i]) / 16);
    if (reads_fences && cbi_sb_join_fences(&c, barrier)) {
        write_code(&c, c.words, text->bytes);
        c = (cbi_sb_code){.ctx = ctx, .n = c.n, .words = c.words};
        cbi_sb_read(&c, text->info, text->place, text->places);
    }
    cbi_sass *out = CBI_NEW_ARRAY(ctx, c.n, cbi_sass);
    bool trusted = cbi_sb_is_reproduced(&c, out);
    uint8_t *waits = CBI_NEW_ARRAY(ctx, c.n, uint8_t);
    if (!cbi_sb_meet_exits(&c, barrier, waits))
        return;
    if (trusted)
        cbi_sb_assign(&c, true, out);
    for (uint32_t i = 0; i < c.n && !trusted; i++) {
        out[i] = c.words[i];
        cbi_sass_add_wait(&out[i], waits[i]);
    }
    write_code(&c, out, text->bytes);
}
