/* Waits, rules 8 and 9 of docs/scoreboards.md. */
#include "sass/scoreboard_assign.h"
#include "sass/scoreboard_read.h"

/* Does the input show that i does not wait for it? */
static bool is_exempt(const cbi_sb_assignment *a, uint32_t i, uint32_t q)
{
    return a->guide && cbi_sb_contains(&a->guide->fewer[i], q);
}

/* Where sources that only their own instruction needs, around a loop of one block, are waited for:
 * at the first one that takes their number. */
static uint32_t place_of_own(const cbi_sb_assignment *a, uint32_t q)
{
    const cbi_sb_code *c = a->c;
    const cbi_sb_producer *p = &c->producers.items[q];
    const cbi_sb_block *b = &c->blocks.items[p->block];
    if (p->write || !cbi_sb_contains(&b->succ, p->block))
        return p->at;
    for (uint32_t r = c->first[b->start]; r < q; r++)
        if (a->present[r] && a->number[r] == a->number[q])
            return c->producers.items[r].at;
    return p->at;
}

/* By instruction: what it may have to wait for. */
static cbi_u32_list *find_needs(const cbi_sb_assignment *a)
{
    const cbi_sb_code *c = a->c;
    cbi_u32_list *needs = CBI_NEW_ARRAY(c->ctx, c->n, cbi_u32_list);
    for (uint32_t q = 0; q < c->producers.len; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        if (!a->present[q])
            continue;
        if (p->local != CBI_SB_NOWHERE)
            cbi_vec_push(c->ctx, &needs[p->local], q);
        for (size_t k = 0; k < p->starts.len; k++)
            cbi_vec_push(c->ctx, &needs[p->starts.items[k]], q);
        for (size_t k = 0; k < p->consumers.len; k++) {
            uint32_t x = p->consumers.items[k];
            if (cbi_sb_is_consumer(a, q, x) &&
                (p->local == CBI_SB_NOWHERE || c->block_of[x] != p->block || x <= p->at))
                cbi_vec_push(c->ctx, &needs[x == p->at ? place_of_own(a, q) : x], q);
        }
    }
    for (uint32_t i = 0; a->guide && i < c->n; i++) {
        size_t kept = 0;
        for (size_t k = 0; k < needs[i].len; k++)
            if (!is_exempt(a, i, needs[i].items[k]))
                needs[i].items[kept++] = needs[i].items[k];
        needs[i].len = kept;
    }
    return needs;
}

/* What instruction i waits for of a set, which loses all that this and its other waits end. */
static uint8_t step_output(const cbi_sb_assignment *a, const cbi_u32_list *needs, uint32_t i,
                           uint8_t other, uint64_t *set)
{
    uint8_t mask = 0;
    for (size_t k = 0; k < needs[i].len; k++)
        if (cbi_sb_has(set, needs[i].items[k]))
            mask |= (uint8_t)(1u << a->number[needs[i].items[k]]);
    CBI_SB_EACH(q, set, mask | other ? a->c->row : 0)
    if ((mask | other) >> a->number[q] & 1 &&
        !cbi_sb_contains(&a->c->producers.items[q].starts, i) &&
        !cbi_sb_is_used_inside(a->c, &a->c->producers.items[q], i))
        cbi_sb_drop(set, q);
    return mask;
}

/* Numbers that instruction i waits for because the input does; not for what an instruction of its
 * block in front of it waited for, as in the input none did.  Inside of a collective sequence,
 * which starts at `head`, it is what that waits for, too.  met: what the block started with or has
 * set. */
static uint8_t numbers_as_input(const cbi_sb_assignment *a, uint32_t i, uint32_t head,
                                const uint8_t *wait, const uint64_t *met, const uint64_t *set)
{
    uint8_t mask = 0;
    for (size_t k = 0; a->guide && k < a->guide->more[i].len; k++) {
        uint32_t q = a->guide->more[i].items[k];
        bool over =
            cbi_sb_has(met, q) && !cbi_sb_has(set, q) && cbi_sb_sparse_has(a->c->pending[i], q);
        if (head < i)
            over = a->c->producers.items[q].at < head && !(wait[head] >> a->number[q] & 1);
        mask |= over ? 0 : (uint8_t)(1u << a->number[q]);
    }
    return mask;
}

/* Waits for what the blocks before, in the order of the assignment, leave pending. */
static void place_forward(const cbi_sb_assignment *a, const cbi_u32_list *needs,
                          cbi_sb_sparse *leaving, uint8_t *wait, uint8_t *ret_busy)
{
    const cbi_sb_code *c = a->c;
    uint64_t *set = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    uint64_t *met = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    cbi_u32_list order = cbi_sb_order(c);
    for (size_t n = 0; n < order.len; n++) {
        const cbi_sb_block *k = &c->blocks.items[order.items[n]];
        cbi_sb_enter(k, leaving, c->row, set);
        memcpy(met, set, c->row * sizeof *set);
        uint32_t head = CBI_SB_NOWHERE, end = 0; /* of the sequence that i is in */
        for (uint32_t i = k->start; i < k->end; i++) {
            head = c->group[i] ? i : i > end ? CBI_SB_NOWHERE : head;
            end = c->group[i] ? c->group[i] : end;
            uint8_t as_input = numbers_as_input(a, i, head, wait, met, set);
            wait[i] = as_input | step_output(a, needs, i, as_input, set);
            ret_busy[i] = cbi_sb_numbers_in(a, set);
            for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
                if (a->present[q]) {
                    cbi_sb_put(set, q);
                    cbi_sb_put(met, q);
                }
        }
        cbi_sb_store(c->ctx, set, c->row, &leaving[order.items[n]]);
    }
}

/* What comes around a loop into a block. */
static void enter_around(const cbi_sb_assignment *a, uint32_t block, const cbi_sb_sparse *around,
                         const cbi_sb_sparse *leaving, uint64_t *ret_set)
{
    const cbi_sb_code *c = a->c;
    const cbi_sb_block *b = &c->blocks.items[block];
    memset(ret_set, 0, (c->row + 1) * sizeof *ret_set);
    for (size_t p = 0; p < b->pred.len; p++) {
        uint32_t from = b->pred.items[p];
        bool back = c->position[from] >= c->position[block];
        cbi_sb_unite(ret_set, &around[from]);
        if (back)
            cbi_sb_unite(ret_set, &leaving[from]);
    }
}

/* A pass over what comes around loops. */
typedef struct around {
    const cbi_sb_assignment *a;
    const cbi_u32_list *needs;
    cbi_u32_list heads;   /* blocks that loops start with */
    cbi_u32_list *starts; /* by instruction: what the end of a first block waits for besides */
    cbi_sb_sparse *sets;  /* by block: pending at its end */
    const cbi_sb_sparse *leaving;
    const uint8_t *busy, *wait;
    uint8_t *added;
} around;

/* Blocks that others behind them lead to. */
static cbi_u32_list find_heads(const cbi_sb_code *c)
{
    cbi_u32_list heads = {0};
    for (uint32_t b = 0; b < c->blocks.len; b++)
        if (cbi_sb_starts_loop(c, b))
            cbi_vec_push(c->ctx, &heads, b);
    return heads;
}

/* First instructions of the loops that hold the producer and that it comes around. */
static cbi_u32_list loops_of(const around *x, uint32_t q)
{
    const cbi_sb_code *c = x->a->c;
    cbi_u32_list loops = c->producers.items[q].loops;
    if (loops.len)
        return loops; /* known from the input */
    uint32_t home = c->position[c->producers.items[q].block];
    for (size_t k = 0; k < x->heads.len; k++) {
        uint32_t b = x->heads.items[k];
        const cbi_u32_list *pred = &c->blocks.items[b].pred;
        bool comes = false;
        for (size_t p = 0; p < pred->len && c->position[b] <= home; p++) {
            uint32_t from = pred->items[p];
            comes |=
                c->position[from] >= c->position[b] &&
                (cbi_sb_sparse_has(&x->sets[from], q) || cbi_sb_sparse_has(&x->leaving[from], q));
        }
        if (comes)
            cbi_vec_push(c->ctx, &loops, c->blocks.items[b].start);
    }
    return loops;
}

/* Does it hold something in the same way as producer q?  What nobody asked for is like nothing
 * else. */
static bool holds_alike(const cbi_sb_code *c, uint32_t q, uint32_t other)
{
    const cbi_sb_producer *p = &c->producers.items[q], *o = &c->producers.items[other];
    return o->write == p->write && (!p->write || cbi_operands_write(&c->operands[p->at]) ==
                                                     cbi_operands_write(&c->operands[o->at]));
}

/* Is all that it holds pending where the loop begins, from before it, by the same number?  Then
 * what comes around is nothing new. */
static bool is_known(const around *x, uint32_t q, uint32_t head)
{
    const cbi_sb_code *c = x->a->c;
    const cbi_u32_list *pred = &c->blocks.items[head].pred;
    const cbi_sb_producer *p = &c->producers.items[q];
    cbi_operands held = c->operands[p->at];
    bool any = false;
    held.read = cbi_sass_kept_sources(&held);
    for (size_t k = 0; k < pred->len; k++) {
        uint32_t from = pred->items[k];
        bool before = c->position[from] < c->position[head];
        CBI_SB_EACH_OF(r, &x->leaving[from], before)
        {
            const cbi_operands *its = &c->operands[c->producers.items[r].at];
            if (r == q || x->a->number[r] != x->a->number[q] || !holds_alike(c, q, r))
                continue;
            any = true;
            cbi_regset_leave_out(&held.read, &its->read);
            cbi_regset_leave_out(&held.written, &its->written);
            cbi_regset_leave_out(&held.uniform_written, &its->uniform_written);
            held.predicates_written &= (uint8_t)~its->predicates_written;
        }
    }
    return any && !(p->write ? cbi_operands_write(&held) : cbi_regset_any(&held.read));
}

/* Where the first block of a loop waits for a producer that comes around: in front of the first
 * that takes its number, for which its end would wait, too; at its end if there is none. */
static uint32_t waiting_place(const around *x, uint32_t q, uint32_t head)
{
    const cbi_sb_code *c = x->a->c;
    const cbi_sb_block *b = &c->blocks.items[head];
    for (uint32_t p = c->first[b->start]; p < c->first[b->end]; p++)
        if (x->a->present[p] && x->a->number[p] == x->a->number[q])
            return c->producers.items[p].at;
    return cbi_sb_last_of(c, head);
}

/* ... at all loops that it comes around and that do not wait for it where they start, and still at
 * instruction i behind their first blocks? */
static bool is_known_there(const around *x, uint32_t q, uint32_t i)
{
    const cbi_sb_code *c = x->a->c;
    if (!(x->busy[i] >> x->a->number[q] & 1))
        return false;
    const cbi_u32_list loops = loops_of(x, q);
    for (size_t k = 0; k < loops.len; k++) {
        uint32_t head = c->block_of[loops.items[k]];
        if (head == c->block_of[i])
            return false;
        if (cbi_sb_contains(&x->starts[waiting_place(x, q, head)], q))
            continue;
        if (!is_known(x, q, head) || !(x->busy[cbi_sb_last_of(c, head)] >> x->a->number[q] & 1))
            return false;
    }
    return loops.len > 0;
}

/* Sources that the end of their block, by a time that is another one than that of the input, does
 * not wait for. */
static bool is_left_by_time(const cbi_sb_producer *p)
{
    return !p->write && p->timed && !p->flush;
}

/* Does instruction i, with its producer p, take the number of q although that comes around a loop,
 * which nobody knew then?  Reads may share one.  busy[i]: the numbers pending from before the loop.
 */
static bool takes_again(const around *x, uint32_t i, uint32_t p, uint32_t q)
{
    const cbi_sb_assignment *a = x->a;
    const cbi_sb_code *c = a->c;
    const uint8_t *busy = x->busy;
    const cbi_sb_producer *mine = &c->producers.items[p], *its = &c->producers.items[q];
    if (a->number[q] != a->number[p] || a->dedicated >> a->number[q] & 1 || is_exempt(a, i, q) ||
        (cbi_sb_takes_reserved(a, p) && cbi_sb_takes_reserved(a, q) && busy[i] >> a->number[q] & 1))
        return false;
    if (its->is_late && mine->local != CBI_SB_NOWHERE && busy[i] >> a->number[q] & 1)
        return false; /* it joined what was pending */
    return (mine->write || its->write || mine->local != CBI_SB_NOWHERE || mine->flush ||
            (p == q && is_left_by_time(its) && !its->is_late) ||
            (cbi_sb_is_late_product(c, its) && (p == q || !cbi_sb_is_late_product(c, mine)))) &&
           cbi_sb_comes_around(c, its, i) && !is_known_there(x, q, i);
}

/* The numbers of all such. */
static uint8_t taken_again(const around *x, uint32_t i, const uint64_t *set)
{
    const cbi_sb_assignment *a = x->a;
    uint8_t out = 0;
    for (uint32_t p = a->c->first[i]; p < a->c->first[i + 1]; p++)
        CBI_SB_EACH(q, set, a->present[p] ? a->c->row : 0)
    if (takes_again(x, i, p, q))
        out |= (uint8_t)(1u << a->number[q]);
    return out;
}

/* A loop's first block waits for the producer.  Returns whether that is new. */
static bool wait_at_start(const around *x, uint32_t q, uint32_t head)
{
    cbi_u32_list *start = &x->starts[waiting_place(x, q, head)];
    if (cbi_sb_contains(start, q))
        return false;
    cbi_vec_push(x->a->c->ctx, start, q);
    return true;
}

/* Loops that a producer comes around to instruction i, which takes its number: their first blocks,
 * if i is not in them, wait for it at their ends.  Returns whether there are new ones. */
static bool wait_at_starts(const around *x, uint32_t q, uint32_t i)
{
    const cbi_sb_code *c = x->a->c;
    const cbi_u32_list loops = loops_of(x, q);
    bool any = false;
    for (size_t k = 0; k < loops.len; k++) {
        uint32_t head = c->block_of[loops.items[k]];
        if (head != c->block_of[i] && !is_known(x, q, head))
            any |= wait_at_start(x, q, head);
    }
    return any;
}

/* The place, in the order of the assignment, of the last block that leads back to this one. */
static uint32_t last_of_loop(const cbi_sb_code *c, uint32_t head)
{
    const cbi_u32_list *pred = &c->blocks.items[head].pred;
    uint32_t place = c->position[head];
    for (size_t p = 0; p < pred->len; p++)
        if (c->position[pred->items[p]] > place)
            place = c->position[pred->items[p]];
    return place;
}

/* The first instruction of each block that waits for a producer, and which of them, of two blocks
 * at most, the end of a block leads to. */
typedef struct first_waits {
    uint32_t *need;        /* by block: the instruction, or CBI_SB_NOWHERE */
    uint32_t *order;       /* blocks in the order of the assignment */
    uint32_t *one, *other; /* by block: blocks that its end leads to, or CBI_SB_NOWHERE */
    uint32_t *todo;
} first_waits;

/* Does the wait of a block count wherever the loop ends?  For sources that of a collective sequence
 * does, which needs everything. */
static bool counts_always(const around *x, uint32_t q, uint32_t block, const first_waits *w)
{
    const cbi_sb_code *c = x->a->c;
    const cbi_sb_producer *p = &c->producers.items[q];
    return c->position[block] < c->position[p->block] || (!p->write && c->group[w->need[block]]) ||
           !(x->wait[w->need[block]] >> x->a->number[q] & 1);
}

/* Blocks whose ends lead to this one, with nothing between that needs the producer. */
static void lead_to(const cbi_sb_code *c, uint32_t block, const first_waits *w)
{
    size_t count = 0;
    uint32_t from = block;
    do {
        const cbi_u32_list *pred = &c->blocks.items[from].pred;
        for (size_t k = 0; k < pred->len; k++) {
            uint32_t b = pred->items[k];
            if (w->one[b] == block || w->other[b] != CBI_SB_NOWHERE)
                continue;
            *(w->one[b] == CBI_SB_NOWHERE ? &w->one[b] : &w->other[b]) = block;
            if (w->need[b] == CBI_SB_NOWHERE)
                w->todo[count++] = b;
        }
        from = count ? w->todo[--count] : CBI_SB_NOWHERE;
    } while (from != CBI_SB_NOWHERE);
}

static void find_first_waits(const around *x, uint32_t q, const cbi_u32_list *needs,
                             const first_waits *w)
{
    const cbi_sb_code *c = x->a->c;
    for (uint32_t b = 0; b < c->blocks.len; b++)
        w->need[b] = w->one[b] = w->other[b] = CBI_SB_NOWHERE;
    for (size_t k = 0; k < needs->len; k++) {
        uint32_t i = needs->items[k], *first = &w->need[c->block_of[i]];
        if (*first == CBI_SB_NOWHERE || i < *first)
            *first = i;
    }
    /* Those that count always, then those furthest behind. */
    for (unsigned always = 2; always--;)
        for (size_t k = c->blocks.len; k--;) {
            uint32_t b = w->order[k];
            if (w->need[b] != CBI_SB_NOWHERE && counts_always(x, q, b, w) == (always == 1))
                lead_to(c, b, w);
        }
}

/* Does the end of a loop's first block wait for a producer that comes around?  For what needs it
 * first behind that block, if this is in front of the producer's own block or behind the loop, or
 * if it does not wait for the number anyway. */
static bool is_needed_behind(const around *x, uint32_t q, uint32_t head, const first_waits *w)
{
    const cbi_sb_code *c = x->a->c;
    uint32_t found = w->one[head] != head ? w->one[head] : w->other[head];
    return found != CBI_SB_NOWHERE &&
           (counts_always(x, q, found, w) || c->position[found] > last_of_loop(c, head));
}

static bool is_in_loop(const cbi_sb_code *c, uint32_t block, uint32_t head)
{
    return block != CBI_SB_NOWHERE && block != head && c->position[block] <= last_of_loop(c, head);
}

/* Are they the first block's own, and does something behind that in the loop need them? */
static bool keeps_own_sources(const around *x, uint32_t q, uint32_t head, const first_waits *w)
{
    const cbi_sb_producer *p = &x->a->c->producers.items[q];
    return is_left_by_time(p) && p->block == head &&
           (is_in_loop(x->a->c, w->one[head], head) || is_in_loop(x->a->c, w->other[head], head));
}

static void find_starts(const around *x)
{
    const cbi_sb_code *c = x->a->c;
    uint32_t count = (uint32_t)c->blocks.len;
    cbi_u32_list *needs = CBI_NEW_ARRAY(c->ctx, c->producers.len, cbi_u32_list);
    cbi_u32_list order = cbi_sb_order(c);
    first_waits w = {.need = CBI_NEW_ARRAY(c->ctx, count, uint32_t),
                     .order = order.items,
                     .one = CBI_NEW_ARRAY(c->ctx, count, uint32_t),
                     .other = CBI_NEW_ARRAY(c->ctx, count, uint32_t),
                     .todo = CBI_NEW_ARRAY(c->ctx, 2 * count, uint32_t)};
    for (uint32_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < x->needs[i].len; k++)
            cbi_vec_push(c->ctx, &needs[x->needs[i].items[k]], i);
    for (uint32_t q = 0; q < c->producers.len; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        const cbi_u32_list *loops = &p->loops;
        if (!loops->len || !x->a->present[q] || (p->is_late && !is_left_by_time(p)))
            continue;
        find_first_waits(x, q, &needs[q], &w);
        for (size_t k = 0; k < loops->len; k++) {
            uint32_t head = c->block_of[loops->items[k]];
            if (!is_known(x, q, head) && ((!p->is_late && is_needed_behind(x, q, head, &w)) ||
                                          keeps_own_sources(x, q, head, &w)))
                wait_at_start(x, q, head);
        }
    }
}

static uint8_t numbers_at_start(const around *x, uint32_t i, const uint64_t *set)
{
    uint8_t out = 0;
    for (size_t k = 0; k < x->starts[i].len; k++)
        if (cbi_sb_has(set, x->starts[i].items[k]) && !is_exempt(x->a, i, x->starts[i].items[k]))
            out |= (uint8_t)(1u << x->a->number[x->starts[i].items[k]]);
    return out;
}

/* Is instruction i in the first block of a loop that the producer comes around? */
static bool starts_one(const around *x, uint32_t q, uint32_t i)
{
    const cbi_sb_code *c = x->a->c;
    const cbi_u32_list loops = loops_of(x, q);
    for (size_t k = 0; k < loops.len; k++)
        if (c->block_of[loops.items[k]] == c->block_of[i])
            return true;
    return false;
}

/* Results that nobody asked for, and late producers, are waited for where their loops start, even
 * if instruction i ends them because of something else.  Returns whether there are new ones. */
static bool move_ended(const around *x, uint32_t i, const uint64_t *set)
{
    const cbi_sb_assignment *a = x->a;
    bool moved = false;
    CBI_SB_EACH(q, set, x->wait[i] ? a->c->row : 0)
    {
        const cbi_sb_producer *p = &a->c->producers.items[q];
        if (x->wait[i] >> a->number[q] & 1 && cbi_sb_comes_around(a->c, p, i) &&
            (cbi_sb_is_unseen(a->c, p) || p->is_late) && !starts_one(x, q, i))
            moved |= wait_at_starts(x, q, i);
    }
    return moved;
}

/* Moves late producers that instruction i would have to wait for, and `here` does not end, to the
 * starts of loops.  Returns whether there are some. */
static bool move_late(const around *x, uint32_t i, uint8_t here, const uint64_t *set)
{
    const cbi_sb_assignment *a = x->a;
    bool moved = false;
    for (size_t k = 0; k < x->needs[i].len; k++) {
        uint32_t q = x->needs[i].items[k];
        if (a->c->producers.items[q].is_late && a->c->producers.items[q].loops.len &&
            cbi_sb_has(set, q) && !(here >> a->number[q] & 1))
            moved |= wait_at_starts(x, q, i);
    }
    for (uint32_t p = a->c->first[i]; p < a->c->first[i + 1]; p++)
        CBI_SB_EACH(q, set, a->present[p] ? a->c->row : 0)
    if (!(here >> a->number[q] & 1) && takes_again(x, i, p, q))
        moved |= wait_at_starts(x, q, i);
    return moved;
}

static bool step_around(const around *x, uint32_t i, uint64_t *set)
{
    uint8_t start = numbers_at_start(x, i, set);
    bool moved = move_late(x, i, x->wait[i] | start, set);
    moved |= move_ended(x, i, set);
    uint8_t again = taken_again(x, i, set) | start;
    x->added[i] = again | step_output(x->a, x->needs, i, x->wait[i] | again, set);
    return moved;
}

/* Passes until nothing changes. */
static void pass_around(const around *x)
{
    enum { ROUNDS = 60 };
    const cbi_sb_code *c = x->a->c;
    uint32_t count = (uint32_t)c->blocks.len;
    uint64_t *set = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    bool changed = true;
    for (unsigned round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (uint32_t b = 0; b < count; b++) {
            enter_around(x->a, b, x->sets, x->leaving, set);
            for (uint32_t i = c->blocks.items[b].start; i < c->blocks.items[b].end; i++)
                changed |= step_around(x, i, set);
            changed |= cbi_sb_store(c->ctx, set, c->row, &x->sets[b]);
        }
    }
}

/* Adds waits for what comes around loops.  The waits that are there end such producers, too, but
 * the added ones end nothing else. */
static void place_backward(const cbi_sb_assignment *a, const cbi_u32_list *needs,
                           const cbi_sb_sparse *leaving, const uint8_t *busy, uint8_t *wait)
{
    const cbi_sb_code *c = a->c;
    const cbi_u32_list heads = find_heads(c);
    if (!heads.len)
        return;
    around x = {.a = a,
                .busy = busy,
                .needs = needs,
                .heads = heads,
                .starts = CBI_NEW_ARRAY(c->ctx, c->n, cbi_u32_list),
                .sets = CBI_NEW_ARRAY(c->ctx, c->blocks.len, cbi_sb_sparse),
                .leaving = leaving,
                .wait = wait,
                .added = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t)};
    find_starts(&x);
    pass_around(&x);
    for (uint32_t i = 0; i < c->n; i++)
        wait[i] |= x.added[i];
}

/* Numbers of which all waits stay as the input has them: the reserved one, and that of texture
 * fetches, for which DEPBAR may wait by count; where the same producers hold them. */
static uint8_t kept_numbers(const cbi_sb_assignment *a)
{
    enum { TEXTURES = 1u << 5 };
    uint8_t kept = (uint8_t)((a->reserved ? 1u << a->reservable : 0) | (a->dedicated & TEXTURES));
    for (uint32_t q = 0; q < a->c->producers.len; q++)
        if (a->present[q] && a->c->producers.items[q].old != a->number[q])
            kept &= (uint8_t) ~(1u << a->c->producers.items[q].old | 1u << a->number[q]);
    return kept;
}

static uint8_t numbers_in(const cbi_sb_assignment *a, uint32_t from, uint32_t to)
{
    uint8_t numbers = 0;
    for (uint32_t q = a->c->first[from]; q < a->c->first[to]; q++)
        if (a->present[q])
            numbers |= (uint8_t)(1u << a->number[q]);
    return numbers;
}

/* By block: the numbers of all that is in front of it on some way. */
static const uint8_t *find_ways(const cbi_sb_assignment *a)
{
    const cbi_sb_code *c = a->c;
    uint8_t *comes = CBI_NEW_ARRAY(c->ctx, c->blocks.len, uint8_t);
    cbi_u32_list todo = {0};
    for (uint32_t b = 0; b < c->blocks.len; b++)
        cbi_vec_push(c->ctx, &todo, b);
    while (todo.len) { /* a block comes again when it has a number more */
        uint32_t number = todo.items[--todo.len];
        const cbi_sb_block *from = &c->blocks.items[number];
        uint8_t leaves = comes[number] | numbers_in(a, from->start, from->end);
        for (size_t k = 0; k < from->succ.len; k++) {
            uint32_t to = from->succ.items[k];
            if (leaves & ~comes[to])
                cbi_vec_push(c->ctx, &todo, to);
            comes[to] |= leaves;
        }
    }
    return comes;
}

void cbi_sb_place_waits(const cbi_sb_assignment *a, uint8_t *ret_wait)
{
    const cbi_sb_code *c = a->c;
    const cbi_u32_list *needs = find_needs(a);
    cbi_sb_sparse *leaving = CBI_NEW_ARRAY(c->ctx, c->blocks.len, cbi_sb_sparse);
    uint8_t *busy = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    place_forward(a, needs, leaving, ret_wait, busy);
    place_backward(a, needs, leaving, busy, ret_wait);
    const uint8_t kept = a->by_rules ? 0 : kept_numbers(a),
                  *comes = c->follows ? find_ways(a) : NULL;
    uint8_t met = UINT8_MAX; /* numbers that something in front may hold, where blocks are others */
    for (uint32_t i = 0; i < c->n; i++) {
        if (comes && c->blocks.items[c->block_of[i]].start == i)
            met = comes[c->block_of[i]];
        ret_wait[i] = (uint8_t)((ret_wait[i] & ~kept) | (c->wait[i] & kept & met));
        met |= comes ? numbers_in(a, i, i + 1) : 0;
        if (c->all[i]) /* rule 10 */
            ret_wait[i] = CBI_SB_EVERYTHING;
    }
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t inside = 0; /* rule 9: what is waited for again there is over */
        for (uint32_t k = i + 1; k < c->group[i]; k++)
            inside |= ret_wait[k];
        if (c->group[i])
            ret_wait[c->group[i]] |= ret_wait[i] & (uint8_t)~inside;
    }
}
