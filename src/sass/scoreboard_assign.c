/* Scoreboard numbers, rules 1 to 7 of docs/scoreboards.md. */
#include "sass/scoreboard_assign.h"
#include "sass/scoreboard_read.h"

static bool is_texture(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_TEXTURE);
}

/* Ends of asynchronous copies, which count on a number: by result or, bulk copies, by read. */
static bool is_async_copy_end(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_COPY_END);
}

/* The block in work. */
typedef struct work {
    uint32_t block;
    cbi_sb_left_list left;        /* ... and those of them that are not there yet */
    uint8_t held;                 /* numbers that a collective sequence keeps busy, one bit each */
    int64_t late[CBI_SB_NUMBERS]; /* by number: when what a wait for others ended is there */
    bool reserved_taken;
} work;

static bool is_here(const cbi_sb_assignment *a, const work *w, uint32_t q)
{
    return a->c->producers.items[q].block == w->block;
}

/* Next consumer of a pending producer in the block in work, after instruction i; or CBI_SB_NOWHERE.
 */
static uint32_t next_consumer(const cbi_sb_assignment *a, const work *w, uint32_t q, uint32_t i)
{
    const cbi_sb_producer *p = &a->c->producers.items[q];
    const cbi_sb_block *b = &a->c->blocks.items[w->block];
    if (is_here(a, w, q) && !cbi_sb_has(a->entering, q))
        return p->local;
    uint32_t next = CBI_SB_NOWHERE;
    for (size_t k = 0; k < p->consumers.len; k++) {
        uint32_t x = p->consumers.items[k];
        if (x > i && x >= b->start && x < b->end && x < next)
            next = x;
    }
    return next;
}

/* Rule 8: waited for because the block ends with instruction i, or because a collective sequence
 * starts behind that. */
static bool is_flushed(const cbi_sb_assignment *a, const work *w, uint32_t q, uint32_t i)
{
    const cbi_sb_producer *p = &a->c->producers.items[q];
    return (i == cbi_sb_last_of(a->c, w->block) || cbi_sb_is_before_sequence(a->c, i)) &&
           is_here(a, w, q) && p->local == CBI_SB_NOWHERE && p->flush && !a->unflushed[q] &&
           cbi_sb_is_consumer(a, q, i);
}

static bool consumed_at(const cbi_sb_assignment *a, const work *w, uint32_t q, uint32_t i)
{
    const cbi_sb_producer *p = &a->c->producers.items[q];
    if (is_here(a, w, q) && (p->flush || (p->is_late && p->local == CBI_SB_NOWHERE)) &&
        i < cbi_sb_last_of(a->c, w->block) && i > p->at)
        return cbi_sb_is_consumer(a, q, i) && !is_flushed(a, w, q, i);
    if (is_here(a, w, q) || p->local != CBI_SB_NOWHERE)
        return p->local == i;
    return cbi_sb_is_consumer(a, q, i);
}

static bool is_reserved_held(const cbi_sb_assignment *a)
{
    for (size_t n = 0; n < a->live.len; n++)
        if (cbi_sb_takes_reserved(a, a->live.items[n]))
            return true;
    return false;
}

/* Is it a predicate that decides an exit?  It does not join what all exits wait for. */
static bool decides_exit(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return cbi_sb_op(c, p->local) == CBI_OP_EXIT &&
           cbi_sb_late_predicates(c, p) & c->operands[p->local].predicates_read;
}

/* Sources that all exits wait for, of two blocks, do not join. */
static bool meet_apart(const cbi_sb_assignment *a, const work *w, const cbi_sb_producer *p,
                       uint32_t other)
{
    const cbi_sb_producer *o = &a->c->producers.items[other];
    return !p->write && !o->write && !is_here(a, w, other) &&
           cbi_sb_is_met_by_some(a->c, p, p->local) && cbi_sb_is_met_by_some(a->c, o, p->local);
}

/* Does the collective sequence that instruction i is in wait for it at its start, too? */
static bool is_met_at_start(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    for (size_t k = 0; k < p->starts.len; k++) {
        uint32_t start = p->starts.items[k];
        if (start < i && i < c->group[start])
            return true;
    }
    return false;
}

/* Rule 3: a local producer joins one with the same consumer; CBI_SB_NONE if there is none. */
static uint8_t join_local(const cbi_sb_assignment *a, const work *w, const cbi_sb_producer *p)
{
    bool reserved_held = is_reserved_held(a);
    uint8_t best = CBI_SB_NONE;
    for (uint8_t k = 0; k < CBI_SB_NUMBERS && best == CBI_SB_NONE; k++) {
        bool one = false, early = false;
        for (size_t n = 0;
             n < a->live.len && !(k == a->reservable && reserved_held) && !(a->dedicated >> k & 1);
             n++) {
            uint32_t r = a->live.items[n];
            const cbi_sb_producer *o = &a->c->producers.items[r];
            if (cbi_sb_is_unwanted(a->c, r) || (o->at == p->at && !p->is_long) ||
                a->number[r] != k ||
                ((o->is_late || o->timed) && is_met_at_start(a->c, o, p->at)) ||
                (decides_exit(a->c, p) && cbi_sb_is_met_by_some(a->c, o, p->local)) ||
                meet_apart(a, w, p, r))
                continue;
            uint32_t next = next_consumer(a, w, r, p->at);
            early |= next < p->local;
            one |= next == p->local;
        }
        if (one && !early)
            best = k;
    }
    return best;
}

/* Sources of a reduction whose result its own block waits for. */
static bool is_reduced_here(const cbi_sb_code *c, uint32_t q)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    return cbi_sb_op(c, p->at) == CBI_OP_REDUX && q + 1 < c->first[p->at + 1] &&
           p[1].local != CBI_SB_NOWHERE;
}

/* Did it come in, and is it waited for behind instruction i and before the end of the block? */
static bool is_awaited_inside(const cbi_sb_assignment *a, const work *w, uint32_t q, uint32_t i)
{
    return !is_here(a, w, q) && next_consumer(a, w, q, i) < cbi_sb_last_of(a->c, w->block);
}

/* Rule 4: a crossing read of instruction i joins the latest crossing read of the block whose number
 * only such hold, and nothing for which the block waits. */
static uint8_t join_crossing(const cbi_sb_assignment *a, const work *w, uint32_t i)
{
    uint8_t impure = a->dedicated, best = CBI_SB_NONE;
    for (size_t n = 0; n < a->live.len; n++) {
        uint32_t r = a->live.items[n];
        if (a->c->producers.items[r].write || is_reduced_here(a->c, r) ||
            (is_here(a, w, r) && a->c->producers.items[r].local != CBI_SB_NOWHERE) ||
            is_awaited_inside(a, w, r, i))
            impure |= (uint8_t)(1u << a->number[r]);
    }
    for (size_t n = 0; n < a->live.len; n++) {
        uint32_t r = a->live.items[n];
        const cbi_sb_producer *o = &a->c->producers.items[r];
        if (is_here(a, w, r) && !o->write && o->local == CBI_SB_NOWHERE &&
            !(impure >> a->number[r] & 1))
            best = a->number[r];
    }
    return best;
}

uint8_t cbi_sb_numbers_in(const cbi_sb_assignment *a, const uint64_t *set)
{
    uint8_t out = 0;
    CBI_SB_EACH(q, set, a->c->row)
    out |= (uint8_t)(1u << a->number[q]);
    return out;
}

/* Rule 6. */
static uint8_t busy_numbers(const cbi_sb_assignment *a, const work *w, bool crossing)
{
    uint8_t busy = w->held;
    for (size_t n = 0; n < a->live.len; n++)
        busy |= (uint8_t)(1u << a->number[a->live.items[n]]);
    const cbi_sb_block *b = &a->c->blocks.items[w->block];
    for (size_t s = 0; crossing && s < b->succ.len; s++) {
        const cbi_sb_block *to = &a->c->blocks.items[b->succ.items[s]];
        for (size_t p = 0; p < to->pred.len; p++) {
            uint32_t from = to->pred.items[p];
            CBI_SB_EACH_OF(q, &a->leaving[from], from != w->block)
            busy |= (uint8_t)(1u << a->number[q]);
        }
        if (b->succ.items[s] == w->block)
            busy |= cbi_sb_numbers_in(a, a->entering);
    }
    return busy;
}

/* Crosses the end of the block, or of a collective sequence, which needs what was made inside as
 * other blocks would. */
static bool is_leaving(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return p->local == CBI_SB_NOWHERE || cbi_sb_op(c, p->local) == CBI_OP_ENDCOLLECTIVE;
}

/* What sharing a number would cost a producer, and what decides between equal costs. */
typedef struct price {
    int64_t stall; /* cycles that somebody waits longer */
    int64_t slack; /* cycles by which the producer is waited for earlier, or is ready later */
    int64_t ready; /* when the last holder is */
    bool outlasts; /* no holder is waited for before the producer is */
} price;

/* From the start of its own block. */
static int64_t ready_at(const cbi_sb_assignment *a, uint32_t q)
{
    const cbi_sb_producer *p = &a->c->producers.items[q];
    return a->c->issue[p->at] +
           (is_leaving(a->c, p) ? cbi_sb_latency_at_end(a->c, p) : cbi_sb_latency_of(a->c, p));
}

/* The entry of a producer, or NULL. */
static cbi_sb_left *find_left(const cbi_sb_left_list *list, uint32_t q)
{
    for (size_t k = 0; k < list->len; k++)
        if (list->items[k].producer == q)
            return &list->items[k];
    return NULL;
}

/* From the start of the block in work. */
static int64_t ready(const cbi_sb_assignment *a, const work *w, uint32_t q)
{
    if (is_here(a, w, q) && !cbi_sb_has(a->entering, q))
        return ready_at(a, q);
    const cbi_sb_left *left = find_left(&w->left, q);
    return left ? left->cycles : 0;
}

static int64_t not_below_zero(int64_t cycles)
{
    return cycles > 0 ? cycles : 0;
}

/* Rule 7: the price of number k.  False when no pending producer lets this one in. */
static bool find_price(const cbi_sb_assignment *a, const work *w, uint32_t q, uint8_t k,
                       price *ret_price)
{
    const cbi_sb_producer *p = &a->c->producers.items[q];
    uint32_t next = CBI_SB_NOWHERE;
    bool any = false, leads_on = a->c->blocks.items[w->block].succ.len > 0;
    *ret_price = (price){0};
    for (size_t n = 0; n < a->live.len; n++) {
        uint32_t r = a->live.items[n];
        if (a->number[r] != k)
            continue;
        if (p->local != CBI_SB_NOWHERE && cbi_sb_takes_reserved(a, r))
            return false;
        any = true;
        uint32_t own = r == a->c->stack_load ? CBI_SB_NOWHERE : next_consumer(a, w, r, p->at);
        if (own < next)
            next = own;
        /* Where the code ends, what came in and nothing there needs is over. */
        bool over = !leads_on && own == CBI_SB_NOWHERE && !is_here(a, w, r);
        int64_t time = over ? 0 : ready(a, w, r);
        if (time > ret_price->ready)
            ret_price->ready = time;
    }
    if (any && w->late[k] > ret_price->ready)
        ret_price->ready = w->late[k];
    int64_t mine = ready_at(a, q);
    if (next < p->local) {
        ret_price->stall = not_below_zero(mine - a->c->issue[next]);
        if (p->local != CBI_SB_NOWHERE)
            ret_price->slack = a->c->issue[p->local] - a->c->issue[next];
    } else if (p->local != CBI_SB_NOWHERE) {
        ret_price->outlasts = true;
        /* The holder's own consumer would wait for the number from there on anyway. */
        int64_t until = ret_price->ready;
        if (next != CBI_SB_NOWHERE && a->c->issue[next] < until)
            until = a->c->issue[next];
        ret_price->stall = not_below_zero(until - a->c->issue[p->local]);
        ret_price->slack = not_below_zero(until - mine);
    }
    return any;
}

static bool is_lower(const price *a, const price *b, bool local)
{
    if (a->stall != b->stall || !local)
        return a->stall < b->stall;
    if (a->slack != b->slack)
        return a->slack < b->slack;
    return a->outlasts && b->outlasts && a->ready < b->ready;
}

/* Rule 7: no number is free, so the one that costs least. */
static uint8_t merge(const cbi_sb_assignment *a, const work *w, uint32_t q, uint8_t usable)
{
    bool local = !is_leaving(a->c, &a->c->producers.items[q]);
    uint8_t best = CBI_SB_NONE, last = 0;
    price least = {0};
    for (unsigned i = 0; i < CBI_SB_NUMBERS; i++) {
        price own;
        if (!(usable >> i & 1))
            continue;
        last = (uint8_t)i;
        if (!find_price(a, w, q, (uint8_t)i, &own) && !(w->held >> i & 1))
            continue;
        if (best == CBI_SB_NONE || is_lower(&own, &least, local)) {
            best = (uint8_t)i;
            least = own;
        }
    }
    return best == CBI_SB_NONE ? last : best;
}

static uint8_t lowest(uint8_t numbers)
{
    return numbers ? (uint8_t)__builtin_ctz(numbers) : CBI_SB_NONE;
}

/* Does it end where a collective sequence of its own block starts, which needs everything? */
static bool ends_with_stretch(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    for (size_t k = 0; p->local == CBI_SB_NOWHERE && k < p->consumers.len; k++) {
        uint32_t i = p->consumers.items[k];
        if (i > p->at && c->block_of[i] == p->block &&
            (c->group[i] || cbi_sb_is_before_sequence(c, i)))
            return true;
    }
    return false;
}

/* Rules 3 to 7. */
static uint8_t choose(cbi_sb_assignment *a, const work *w, uint32_t q)
{
    const cbi_sb_producer *p = &a->c->producers.items[q];
    bool crossing = p->local == CBI_SB_NOWHERE, leaves = is_leaving(a->c, p);
    uint8_t joined = CBI_SB_NONE;
    if (p->write && is_texture(cbi_sb_op(a->c, p->at)))
        return 5;
    if (p->write == (cbi_sb_op(a->c, p->at) == CBI_OP_LDGDEPBAR) &&
        is_async_copy_end(cbi_sb_op(a->c, p->at)))
        return 0;
    if (!crossing)
        joined = join_local(a, w, p);
    if (joined == CBI_SB_NONE && !p->write && (leaves || (p->is_late && p->starts.len)))
        joined = join_crossing(a, w, p->at);
    else if (crossing && p->is_long && a->reserved)
        joined = a->reservable;
    uint8_t usable = (p->is_long ? 0x3c : 0x3f) & (uint8_t)~a->dedicated;
    if (w->reserved_taken || (leaves && !p->is_long && a->has_long))
        usable &= (uint8_t) ~(1u << a->reservable);
    a->open = usable & (uint8_t)~busy_numbers(a, w, crossing && !ends_with_stretch(a->c, p));
    if (joined != CBI_SB_NONE)
        return joined;
    uint8_t other = usable & (uint8_t)~busy_numbers(a, w, false);
    if (a->open)
        return lowest(a->open);
    if (other)
        return lowest(other);
    if (leaves && !p->is_long && !w->reserved_taken && !(a->dedicated >> a->reservable & 1))
        usable |= (uint8_t)(1u << a->reservable);
    return merge(a, w, q, usable);
}

/* ---- where the rules are wrong ---- */

/* By how much number k costs the producer more than number `than`. */
static cbi_sb_margin margin_of(const cbi_sb_assignment *a, const work *w, uint32_t q, uint8_t k,
                               uint8_t than)
{
    price mine, other;
    if (!find_price(a, w, q, k, &mine) || !find_price(a, w, q, than, &other))
        return (cbi_sb_margin){0};
    return (cbi_sb_margin){mine.stall - other.stall, mine.slack - other.slack};
}

/* Is it more than where the input took it all the same? */
static bool is_dearer(cbi_sb_margin now, cbi_sb_margin before)
{
    return now.stall != before.stall ? now.stall > before.stall : now.slack > before.slack;
}

/* The rules say `ruled`, the input has something else: why may that be? */
static void learn(cbi_sb_assignment *a, const work *w, uint32_t q, uint8_t ruled)
{
    const cbi_sb_code *c = a->c;
    uint8_t old = c->producers.items[q].old;
    cbi_u32_list *with = &a->learned->with[q];
    if (ruled == old || q == c->stack_load)
        return;
    const uint32_t leaves = c->keeps_stack_load ? CBI_SB_NOWHERE : c->stack_load;
    bool stack = false, ruled_stack = false;
    for (size_t n = 0; n < a->live.len; n++) {
        uint32_t r = a->live.items[n];
        stack |= a->number[r] == old && r == leaves;
        ruled_stack |= a->number[r] == ruled && r == leaves;
        if (a->number[r] == old && r != leaves)
            cbi_vec_push(c->ctx, with, r);
    }
    /* Nothing follows from a choice in which the R1 load took part, if that goes. */
    if (stack ? !with->len || !a->open : ruled_stack && with->len && !a->open)
        return;
    bool free = a->open >> old & 1;
    cbi_sb_exception exception = with->len ? a->open ? CBI_SB_JOINS : CBI_SB_MERGES
                                 : free    ? CBI_SB_AVOIDS
                                           : CBI_SB_KEEPS;
    /* Only what leaves its block takes the reserved number while others are free. */
    if (exception == CBI_SB_AVOIDS && c->producers.items[q].is_long && old == a->reservable)
        exception = CBI_SB_KEEPS;
    for (uint8_t k = 0; exception == CBI_SB_AVOIDS && k < old; k++) {
        if (!(a->open >> k & 1))
            continue;
        if (a->holder[k] == CBI_SB_NOWHERE) /* nobody ever held it */
            exception = CBI_SB_KEEPS;
        else
            cbi_vec_push(c->ctx, with, a->holder[k]);
    }
    a->learned->exception[q] = (uint8_t)exception;
    if (exception == CBI_SB_MERGES)
        a->learned->margin[q] = margin_of(a, w, q, old, ruled);
    a->learned->count++;
}

/* Does what the input does. */
static uint8_t follow(const cbi_sb_assignment *a, const work *w, uint32_t q, uint8_t ruled)
{
    const cbi_u32_list *with = &a->guide->with[q];
    cbi_sb_exception exception = a->guide->exception[q];
    if (exception == CBI_SB_AS_RULES || (exception == CBI_SB_MERGES && a->open))
        return ruled;
    if (exception == CBI_SB_KEEPS)
        return a->c->producers.items[q].old;
    uint8_t avoided = 0;
    for (size_t k = 0; k < with->len; k++) {
        uint32_t r = with->items[k];
        if (exception != CBI_SB_AVOIDS && cbi_sb_contains(&a->live, r)) {
            bool dearer = exception == CBI_SB_MERGES &&
                          is_dearer(margin_of(a, w, q, a->number[r], ruled), a->guide->margin[q]);
            return dearer ? ruled : a->number[r];
        }
        if (a->number[r] != CBI_SB_NONE)
            avoided |= (uint8_t)(1u << a->number[r]);
    }
    if (exception != CBI_SB_AVOIDS || !a->open)
        return ruled;
    return lowest(a->open & (uint8_t)~avoided ? a->open & (uint8_t)~avoided : a->open);
}

static uint8_t take(cbi_sb_assignment *a, const work *w, uint32_t q)
{
    a->open = 0;
    uint8_t ruled = choose(a, w, q);
    if (a->learned) {
        learn(a, w, q, ruled);
        return a->c->producers.items[q].old;
    }
    return a->guide ? follow(a, w, q, ruled) : ruled;
}

/* Waits at instruction i, for some numbers. */
static void end_cleared(cbi_sb_assignment *a, uint8_t cleared, uint32_t i)
{
    size_t kept = 0;
    for (size_t n = 0; n < a->live.len; n++) {
        uint32_t q = a->live.items[n];
        if (!(cleared >> a->number[q] & 1) ||
            cbi_sb_is_used_inside(a->c, &a->c->producers.items[q], i))
            a->live.items[kept++] = q;
    }
    a->live.len = kept;
}

/* Instruction i waits for some numbers: what is not there by then, for it waits for another holder,
 * goes on counting for the price of the number. */
static void note_late(const cbi_sb_assignment *a, work *w, uint8_t cleared, uint32_t i)
{
    for (size_t n = 0; n < a->live.len; n++) {
        uint32_t q = a->live.items[n];
        if (!(cleared >> a->number[q] & 1) || q == a->c->stack_load || consumed_at(a, w, q, i))
            continue;
        int64_t time = ready(a, w, q);
        if (time > a->c->issue[i] && time > w->late[a->number[q]])
            w->late[a->number[q]] = time;
    }
}

/* By number: what would hold it still at the end of the block of what came in, though it was waited
 * for here; a bit for the number that each had in the input. */
static void find_held_before(const cbi_sb_assignment *a, const work *w,
                             uint8_t ret_held[CBI_SB_NONE + 1])
{
    memset(ret_held, 0, CBI_SB_NONE + 1);
    CBI_SB_EACH(q, a->entering, a->c->row)
    if (cbi_sb_is_left_at_end(a->c, q, w->block))
        ret_held[a->number[q]] |= (uint8_t)(1u << a->c->producers.items[q].old);
}

/* The numbers, in the input, of sources that are not read by the end of their block. */
static uint8_t unread_at_end(const cbi_sb_code *c, uint32_t block)
{
    const uint32_t start = c->blocks.items[block].start, last = cbi_sb_last_of(c, block);
    uint8_t numbers = 0;
    for (uint32_t q = c->first[start]; q < c->first[last]; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        if (!p->write && cbi_sb_sparse_has(c->pending[last], q) && !cbi_sb_is_there(c, p))
            numbers |= (uint8_t)(1u << p->old);
    }
    return numbers;
}

/* The end of the block does not wait for what is there by its time while something else holds the
 * number that is not.  Where that came in and held the number in the input, too, and that waits,
 * the input is right.  Sources that are read, for which the input does not wait since others of
 * their number are not, hold nothing up. */
static void keep_shared(cbi_sb_assignment *a, const work *w, uint32_t last)
{
    const cbi_sb_code *c = a->c;
    const uint8_t unread = unread_at_end(c, w->block);
    uint8_t kept = 0, late = 0, held[CBI_SB_NONE + 1];
    find_held_before(a, w, held);
    for (size_t n = 0; n < a->live.len; n++) {
        uint32_t q = a->live.items[n];
        if (is_flushed(a, w, q, last))
            continue;
        const cbi_sb_producer *p = &c->producers.items[q];
        const bool here = is_here(a, w, q), there = here && cbi_sb_is_there(c, p);
        const bool read = !here && q != c->stack_load && !cbi_sb_is_left_at_end(c, q, w->block);
        if (!read && (!there || p->write || !(unread >> p->old & 1)))
            kept |= (uint8_t)(1u << a->number[q]);
        if (here && !there)
            late |= (uint8_t)(1u << a->number[q]);
    }
    for (size_t n = 0; n < a->live.len; n++) {
        uint32_t q = a->live.items[n];
        const cbi_sb_producer *p = &c->producers.items[q];
        uint8_t numbers = p->timed ? kept : late;
        uint8_t before = held[a->number[q]] & (uint8_t) ~(p->timed ? 0 : 1u << p->old);
        if (is_flushed(a, w, q, last) && (numbers >> a->number[q] & 1 || before) &&
            !cbi_sb_is_met_by_some(c, p, last))
            a->unflushed[q] = true;
    }
}

/* Results that somebody needs are 48 at most, one in each cycle of the longest of these latencies;
 * of more, as sums in memory may be, the first ones count as there. */
enum { MOST_LEFT = 64 };

/* What is left of latencies where the block starts, on the way on which it is most. */
static void enter_left(const cbi_sb_assignment *a, const cbi_sb_left_list *before,
                       cbi_sb_left_list *ret_left)
{
    for (size_t k = 0; k < before->len; k++) {
        cbi_sb_left *known = find_left(ret_left, before->items[k].producer);
        if (!known && ret_left->len < MOST_LEFT)
            cbi_vec_push(a->c->ctx, ret_left, before->items[k]);
        else if (known && before->items[k].cycles > known->cycles)
            known->cycles = before->items[k].cycles;
    }
}

/* ... and where it ends.  Long ones that somebody asked for count as there at once in other blocks.
 */
static void leave_left(const cbi_sb_assignment *a, const work *w, uint32_t last)
{
    const cbi_sb_code *c = a->c;
    int64_t end = c->issue[last] + cbi_sb_cycles(c, last);
    for (size_t n = a->live.len; n-- && a->left[w->block].len < MOST_LEFT;) {
        uint32_t q = a->live.items[n];
        int64_t cycles = ready(a, w, q) - end;
        if (cycles > 0 &&
            (!c->producers.items[q].is_long || cbi_sb_is_unseen(c, &c->producers.items[q])))
            cbi_vec_push(c->ctx, &a->left[w->block], ((cbi_sb_left){q, cycles}));
    }
}

/* What is pending where the block starts. */
static work enter(cbi_sb_assignment *a, uint32_t number)
{
    const cbi_sb_code *c = a->c;
    const cbi_sb_block *b = &c->blocks.items[number];
    work w = {.block = number};
    cbi_sb_enter(b, a->leaving, c->row, a->entering);
    for (size_t p = 0; p < b->pred.len; p++)
        enter_left(a, &a->left[b->pred.items[p]], &w.left);
    a->live.len = 0;
    CBI_SB_EACH(q, a->entering, c->row)
    {
        cbi_vec_push(c->ctx, &a->live, q);
        const cbi_u32_list *x = &c->producers.items[q].consumers;
        for (size_t k = 0; a->reserved && a->number[q] == a->reservable && k < x->len; k++)
            w.reserved_taken |= x->items[k] >= b->start && x->items[k] < b->end;
    }
    for (uint32_t q = c->first[b->start]; a->reserved && q < c->first[b->end]; q++)
        w.reserved_taken |= cbi_sb_takes_reserved(a, q);
    return w;
}

/* Ends what instruction i waits for only because others start behind it, after its own numbers. */
static void flush(cbi_sb_assignment *a, const work *w, uint32_t i)
{
    uint8_t flushed = 0;
    for (size_t n = 0; n < a->live.len; n++)
        if (is_flushed(a, w, a->live.items[n], i))
            flushed |= (uint8_t)(1u << a->number[a->live.items[n]]);
    end_cleared(a, flushed, i);
}

/* What starts behind instruction i waits for the numbers that i does not: those that it has taken
 * itself and, by another time than that of the input, those that something holds that is not there.
 */
static void pass_on(cbi_sb_assignment *a, const work *w, uint32_t i)
{
    const cbi_sb_code *c = a->c;
    uint8_t kept = 0;
    for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
        kept |= a->present[q] ? (uint8_t)(1u << a->number[q]) : 0;
    for (size_t n = 0; n < a->live.len && c->cycles; n++) {
        uint32_t q = a->live.items[n];
        const cbi_sb_producer *p = &c->producers.items[q];
        bool there = is_here(a, w, q) && c->issue[i] - c->issue[p->at] >= cbi_sb_latency_of(c, p);
        if (!there && !is_flushed(a, w, q, i))
            kept |= (uint8_t)(1u << a->number[q]);
    }
    for (size_t n = 0; n < a->live.len; n++) {
        uint32_t q = a->live.items[n];
        if (is_flushed(a, w, q, i) && kept >> a->number[q] & 1)
            a->unflushed[q] = true;
    }
}

/* What is pending where it ends. */
static void leave(cbi_sb_assignment *a, const work *w)
{
    const cbi_sb_code *c = a->c;
    uint32_t last = cbi_sb_last_of(c, w->block);
    keep_shared(a, w, last);
    flush(a, w, last);
    leave_left(a, w, last);
    memset(a->entering, 0, c->row * sizeof *a->entering); /* not needed any more */
    for (size_t n = 0; n < a->live.len; n++)
        if (!c->producers.items[a->live.items[n]].ends)
            cbi_sb_put(a->entering, a->live.items[n]);
    cbi_sb_store(c->ctx, a->entering, c->row, &a->leaving[w->block]);
    a->done[w->block] = true;
}

static void assign_block(cbi_sb_assignment *a, uint32_t number)
{
    const cbi_sb_code *c = a->c;
    const cbi_sb_block *b = &c->blocks.items[number];
    work w = enter(a, number);
    uint32_t group_end = 0;
    for (uint32_t i = b->start; i < b->end; i++) {
        uint8_t cleared = 0, held = 0;
        for (size_t n = 0; n < a->live.len; n++) {
            uint32_t q = a->live.items[n];
            uint8_t own = (uint8_t)(1u << a->number[q]);
            cleared |= consumed_at(a, &w, q, i) ? own : 0;
            held |= cleared & own;
        }
        if (c->group[i]) { /* rule 9 */
            w.held = held;
            group_end = c->group[i];
        } else if (i > group_end) {
            w.held = 0;
        } else {
            w.held &= (uint8_t)~cleared; /* inside, what nobody waits for any more is free */
        }
        note_late(a, &w, cleared, i);
        end_cleared(a, cleared, i);
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++) {
            if (!a->present[q])
                continue;
            a->number[q] = take(a, &w, q);
            a->holder[a->number[q]] = q;
            cbi_vec_push(c->ctx, &a->live, q);
        }
        if (i + 1 < b->end && cbi_sb_is_before_sequence(c, i)) {
            pass_on(a, &w, i);
            flush(a, &w, i);
        }
    }
    leave(a, &w);
}

void cbi_sb_assign_numbers(cbi_sb_assignment *a, bool keep_stack_load)
{
    const cbi_sb_code *c = a->c;
    bool crossing_long = false;
    a->number = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, uint8_t);
    a->present = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, bool);
    a->unflushed = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, bool);
    a->done = CBI_NEW_ARRAY(c->ctx, c->blocks.len, bool);
    a->left = CBI_NEW_ARRAY(c->ctx, c->blocks.len, cbi_sb_left_list);
    a->leaving = CBI_NEW_ARRAY(c->ctx, c->blocks.len, cbi_sb_sparse);
    a->entering = CBI_NEW_ARRAY(c->ctx, c->row, uint64_t);
    for (unsigned k = 0; k < CBI_SB_NUMBERS; k++)
        a->holder[k] = CBI_SB_NOWHERE;
    for (uint32_t q = 0; q < c->producers.len; q++) {
        a->number[q] = CBI_SB_NONE;
        const cbi_sb_producer *p = &c->producers.items[q];
        a->present[q] = !p->gone && (q != c->stack_load || keep_stack_load);
        /* What nobody uses, and what another one's wait ends, leaves no block. */
        crossing_long |= p->is_long && p->local == CBI_SB_NOWHERE && !p->hidden;
    }
    a->has_long = cbi_sb_has_long_result(c);
    a->reserved = crossing_long && a->has_long;
    for (uint32_t i = 0; i < c->n; i++)
        if (is_texture(cbi_sb_op(c, i)))
            a->dedicated |= 0x20;
        else if (is_async_copy_end(cbi_sb_op(c, i)))
            a->dedicated |= 1;
    a->reservable = a->dedicated & 0x20 ? 4 : 5;
    cbi_u32_list order = cbi_sb_order(c); /* rule 1 */
    for (size_t i = 0; i < order.len; i++)
        assign_block(a, order.items[i]);
}
