/* Rule 8: what the ends of blocks wait for because it is there by then. */
#include "sass/scoreboard_read.h"

/* Rule 8: what another wait ended in the input is waited for at the end of the block if it is there
 * by then. */
static void flush_hidden(cbi_sb_code *c)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        cbi_sb_producer *p = &c->producers.items[q];
        uint32_t last = cbi_sb_last_of(c, p->block);
        if (!p->hidden || p->is_long || q == c->stack_load ||
            c->issue[last] < c->issue[p->at] + cbi_sb_latency_at_end(c, p))
            continue;
        p->flush = true;
        if (!cbi_sb_contains(&p->consumers, last))
            cbi_vec_push(c->ctx, &p->consumers, last);
    }
}

/* Sources that share a number are waited for together. */
static bool holds_up(const cbi_sb_producer *p, const cbi_sb_producer *o)
{
    return o != p && o->old == p->old && (p->write || o->write);
}

/* Does another producer, which is not there yet, hold its number at the end of the block, or did so
 * where that starts? */
static bool is_held_up(const cbi_sb_code *c, uint32_t q)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    const uint32_t last = cbi_sb_last_of(c, p->block);
    for (uint32_t r = c->first[last]; r < c->first[last + 1]; r++)
        if (holds_up(p, &c->producers.items[r]))
            return true;
    CBI_SB_EACH_OF(r, c->pending[last], true)
    {
        const cbi_sb_producer *o = &c->producers.items[r];
        if (holds_up(p, o) &&
            (r == c->stack_load || (o->block == p->block && !cbi_sb_is_there(c, o))))
            return true;
    }
    CBI_SB_EACH_OF(r, c->pending[c->blocks.items[p->block].start], true)
    if (c->producers.items[r].old == p->old && cbi_sb_is_left_at_end(c, r, p->block))
        return true;
    return false;
}

/* Does the end of the block pass by an earlier result of the same kind that had a number for
 * itself? Then this one is not there either, whatever the estimate says. */
static bool is_passed_by(const cbi_sb_code *c, uint32_t q)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    uint32_t last = cbi_sb_last_of(c, p->block);
    for (uint32_t r = c->first[c->blocks.items[p->block].start]; r < q; r++) {
        const cbi_sb_producer *o = &c->producers.items[r];
        if (r != c->stack_load && o->write == p->write && !o->flush && o->local == CBI_SB_NOWHERE &&
            cbi_sb_op(c, o->at) == cbi_sb_op(c, p->at) && cbi_sb_sparse_has(c->pending[last], r) &&
            !cbi_sb_waits_for(c, last, o) && !is_held_up(c, r))
            return true;
    }
    return false;
}

/* Rule 8: the end of a block does not wait for what is there while another holder of its number is
 * not; that may hold another number in the output. */
static void flush_shared(cbi_sb_code *c)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        cbi_sb_producer *p = &c->producers.items[q];
        uint32_t last = cbi_sb_last_of(c, p->block);
        if (p->flush || p->local != CBI_SB_NOWHERE || q == c->stack_load || last == p->at ||
            !cbi_sb_sparse_has(c->pending[last], q) || cbi_sb_waits_for(c, last, p) ||
            !cbi_sb_is_there(c, p) || !is_held_up(c, q) || is_passed_by(c, q))
            continue;
        p->flush = p->timed = true;
        cbi_vec_push(c->ctx, &p->consumers, last);
    }
}

/* What needs a producer of the input behind its block, where its end need not wait for it now. */
static void find_users(cbi_sb_code *c, cbi_sb_producer *p)
{
    cbi_u32_list todo = {0};
    uint32_t visit = ++c->visit;
    cbi_sb_push_behind(c, p->at, cbi_sb_last_of(c, p->block), &p->loops, &todo);
    while (todo.len) {
        uint32_t i = todo.items[--todo.len];
        if (c->visited[i] == visit)
            continue;
        c->visited[i] = visit;
        if (!cbi_sb_needs(c, p, i))
            cbi_sb_push_behind(c, p->at, i, &p->loops, &todo);
        else if (!cbi_sb_contains(&p->consumers, i))
            cbi_vec_push(c->ctx, &p->consumers, i);
    }
}

/* The same for all for which it waits. */
static void find_flushed_users(cbi_sb_code *c)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        cbi_sb_producer *p = &c->producers.items[q];
        if (p->flush && p->local == CBI_SB_NOWHERE && q != c->stack_load)
            find_users(c, p);
    }
}

void cbi_sb_find_flushed(cbi_sb_code *c)
{
    flush_hidden(c);
    flush_shared(c);
    find_flushed_users(c);
    if (c->restores) {
        cbi_sb_producer *load = &c->producers.items[c->stack_load];
        load->flush = cbi_sb_is_there(c, load);
        cbi_sb_wait_for_stack_load(c, load->flush);
    }
}
