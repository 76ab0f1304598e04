/* Which waits of the input are there for a producer, and not for another of its number. */
#include "sass/scoreboard_read.h"

/* Did another producer share the number while this one was pending? */
static bool is_merged(const cbi_sb_code *c, uint32_t q, uint32_t seen)
{
    const cbi_sb_producer *p = &c->producers.items[q], *all = c->producers.items;
    uint32_t end = seen != CBI_SB_NOWHERE ? seen : p->at + 1;
    bool waits = c->wait[p->at] >> p->old & 1;
    for (uint32_t r = c->first[p->at]; r < c->first[end]; r++)
        if (all[r].old == p->old && r != q && r != c->stack_load)
            return true;
    CBI_SB_EACH_OF(r, c->pending[p->at], !waits)
    if (all[r].old == p->old && r != q && r != c->stack_load)
        return true;
    return false;
}

/* Is the branch taken by a predicate that the producer writes, and nothing behind it? */
static bool decides(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    uint32_t op = cbi_sb_op(c, p->at), guard = cbi_sass_guard(c->words[i]);
    bool writes = p->write ? cbi_op_has(op, CBI_OPF_TESTED) : cbi_op_tests_with_sources(op);
    if (!writes || guard == CBI_SASS_PT || cbi_sass_first_result(c->words[p->at]) != guard)
        return false;
    for (uint32_t k = p->at + 1; k < i; k++)
        if (cbi_sass_writes_predicate(c->words[k], guard) ||
            (cbi_op_has(cbi_sb_op(c, k), CBI_OPF_TESTED) &&
             cbi_sass_first_result(c->words[k]) == guard))
            return false;
    return true;
}

/* Does instruction i, which waits for the number of a producer, need another one that holds it? */
static bool ends_for_other(const cbi_sb_code *c, uint32_t q, uint32_t i)
{
    CBI_SB_EACH_OF(r, c->pending[i], true)
    if (r != q && c->producers.items[r].old == c->producers.items[q].old &&
        cbi_sb_needs(c, &c->producers.items[r], i))
        return true;
    return false;
}

static void find_local(cbi_sb_code *c, uint32_t q)
{
    cbi_sb_producer *p = &c->producers.items[q];
    uint32_t end = c->blocks.items[p->block].end, seen = CBI_SB_NOWHERE;
    for (size_t k = 0; k < p->consumers.len && seen == CBI_SB_NOWHERE; k++)
        if (p->consumers.items[k] > p->at && p->consumers.items[k] < end)
            seen = p->consumers.items[k];
    p->local = seen;
    if (seen == CBI_SB_NOWHERE)
        return;
    uint32_t found = cbi_sb_first_need(c, p), op = cbi_sb_op(c, seen);
    bool end_only = cbi_op_has(op, CBI_OPF_BRANCH) || op == CBI_OP_BSSY || op == CBI_OP_NOP;
    /* What waits for a fence needs it. */
    bool needed = cbi_sb_op(c, p->at) == CBI_OP_MEMBAR || decides(c, p, seen) ||
                  (c->calls_apart && op == CBI_OP_RET);
    bool last = seen == cbi_sb_last_of(c, p->block) || cbi_sb_is_before_sequence(c, seen);
    if (last && !needed && (end_only ? found != seen : found > seen)) {
        p->local = CBI_SB_NOWHERE;
        p->hidden = !end_only && ends_for_other(c, q, seen);
        p->flush = !p->hidden;
    } else if (c->group[seen] && found > c->group[seen] && cbi_sb_names_registers(c, p)) {
        p->local = CBI_SB_NOWHERE;
        p->flush = true;
    } else if (c->group[seen] && found > seen && found <= c->group[seen]) {
        p->local = found;
        cbi_vec_push(c->ctx, &p->starts, seen);
    } else if (op != CBI_OP_ENDCOLLECTIVE && !needed && cbi_sb_names_registers(c, p) &&
               (found == CBI_SB_NOWHERE || found > seen) && is_merged(c, q, seen)) {
        p->local = found;
        p->hidden = found == CBI_SB_NOWHERE;
    }
}

/* Is the number taken again at i, which nobody knew when i was done? */
static bool is_taken_again(const cbi_sb_code *c, uint32_t q, uint32_t i)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    if (!cbi_sb_comes_around(c, p, i) || cbi_sb_needs(c, p, i))
        return false;
    for (uint32_t r = c->first[i]; r < c->first[i + 1]; r++)
        if (r != q && c->producers.items[r].old == p->old)
            return true;
    return false;
}

/* Is the wait for another producer, or for what the block itself leaves?  Who takes the number
 * again around a loop, be it its own, waits for that. */
static bool others_touch(const cbi_sb_code *c, uint32_t q, uint32_t i)
{
    uint32_t here = c->block_of[i];
    bool ends_block = cbi_sb_last_of(c, here) == i && c->producers.items[q].block != here;
    bool named = cbi_sb_names_registers(c, &c->producers.items[q]);
    CBI_SB_EACH_OF(r, c->pending[i], true)
    {
        const cbi_sb_producer *o = &c->producers.items[r];
        if (r == q || o->old != c->producers.items[q].old)
            continue;
        if (cbi_sb_needs(c, o, i) || (ends_block && o->block == here && o->flush) ||
            (named && !cbi_sb_names_registers(c, o)) || o->at == i || is_taken_again(c, r, i))
            return true;
    }
    return false;
}

/* Sources have been read when the result is there. */
static bool is_result_awaited(const cbi_sb_code *c, uint32_t q, uint32_t i)
{
    const cbi_sb_producer *p = &c->producers.items[q], *o = p + 1;
    return !p->write && q + 1 < c->first[p->at + 1] && c->wait[i] >> o->old & 1 &&
           cbi_sb_sparse_has(c->pending[i], q + 1);
}

/* Is instruction i the end of the first block of a loop that the producer comes around, which does
 * not need it itself? */
static bool ends_first_block(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    uint32_t block = c->block_of[i];
    return cbi_sb_last_of(c, block) == i && cbi_sb_starts_loop(c, block) &&
           cbi_sb_comes_around(c, p, i) && !cbi_sb_needs(c, p, i);
}

/* ... whose wait for sources stands for what is behind it? */
static bool stands_for_others(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    return !p->write && ends_first_block(c, p, i);
}

/* ... which waits for a long result that nobody asked for because that takes its number again?
 * Where others have long results, the number may be reserved, and is not waited for. */
static bool waits_for_number(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    return p->is_long && cbi_sb_is_unseen(c, p) && !c->has_long && p->block != c->block_of[i] &&
           ends_first_block(c, p, i);
}

/* A wait for another producer of the same number may have hidden the real consumer. */
static void uncover(cbi_sb_code *c, uint32_t q)
{
    cbi_sb_producer *p = &c->producers.items[q];
    cbi_u32_list found = {0}, unknown = {0}, loops = {0}, todo = {0};
    uint32_t visit = ++c->visit;
    bool moved = false;
    cbi_sb_push_behind(c, p->at, p->at, &loops, &todo);
    while (todo.len) {
        uint32_t i = todo.items[--todo.len];
        if (c->visited[i] == visit)
            continue;
        c->visited[i] = visit;
        if (c->reading == CBI_SB_READ_BY_RESULT && is_result_awaited(c, q, i))
            continue;
        bool ends = cbi_sb_ends(c, i, p) && cbi_sb_sparse_has(c->pending[i], q);
        bool takes_own_again = ends && i == p->at;  /* around a loop of one block */
        if (cbi_sb_needs(c, p, i) || c->group[i] || /* a sequence needs everything */
            takes_own_again) {
            cbi_vec_push(c->ctx, &found, i);
        } else if (ends && stands_for_others(c, p, i)) {
            moved = true;
            cbi_sb_push_behind(c, p->at, i, &loops, &todo);
        } else if (ends && waits_for_number(c, p, i)) {
            cbi_sb_push_behind(c, p->at, i, &loops, &todo);
        } else if (ends && ((p->flush && c->block_of[i] == p->block && i > p->at) ||
                            (!others_touch(c, q, i) && !is_taken_again(c, q, i)))) {
            cbi_vec_push(c->ctx, &unknown, i);
        } else {
            cbi_sb_push_behind(c, p->at, i, &loops, &todo);
        }
    }
    for (size_t k = 0; k < unknown.len; k++)
        cbi_vec_push(c->ctx, &found, unknown.items[k]);
    moved = moved && found.len; /* else it stands for itself */
    bool hidden = moved;
    for (size_t k = 0; k < p->consumers.len; k++) {
        uint32_t x = p->consumers.items[k];
        if (cbi_sb_contains(&found, x))
            continue;
        if (others_touch(c, q, x) || is_taken_again(c, q, x) || waits_for_number(c, p, x) ||
            (moved && stands_for_others(c, p, x)))
            hidden = true;
        else
            cbi_vec_push(c->ctx, &found, x);
    }
    if (hidden && !found.len && !p->write) /* it needs itself, if it comes around */
        cbi_vec_push(c->ctx, &found, p->at);
    if (hidden) {
        p->consumers = found;
        p->loops = loops;
    }
}

/* Do its real consumers have to be read off the registers?  Long results show theirs, for nothing
 * joins their numbers, but not those that have no destination. */
static bool may_be_hidden(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return !p->is_long || cbi_sb_is_unseen(c, p);
}

/* Real consumers of what crosses blocks. */
static void find_hidden(cbi_sb_code *c)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        bool again = false;
        for (size_t k = 0; k < p->consumers.len; k++)
            again |= is_taken_again(c, q, p->consumers.items[k]);
        if (p->local == CBI_SB_NOWHERE && q != c->stack_load && (again || may_be_hidden(c, p)) &&
            (cbi_sb_names_registers(c, p) || cbi_sb_op(c, p->at) == CBI_OP_SYNCS_EXCH ||
             cbi_sb_late_predicates(c, p)) &&
            (p->write || again || c->reading != CBI_SB_READ_BY_WAIT))
            uncover(c, q);
    }
}

/* Does instruction i inside of a collective sequence use the producer?  What writes no register
 * shows it by the wait. */
static bool is_used_there(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    return cbi_sb_needs(c, p, i) || (cbi_sb_is_unseen(c, p) && c->wait[i] >> p->old & 1);
}

/* Rule 9: a producer of another block that a collective sequence uses inside is waited for there,
 * too, and only that ends it. */
static void find_starts(cbi_sb_code *c, cbi_sb_producer *p)
{
    for (size_t k = 0; k < p->consumers.len; k++) {
        uint32_t start = p->consumers.items[k], user = start;
        if (!c->group[start] || p->local != CBI_SB_NOWHERE)
            continue;
        do
            user++;
        while (user < c->group[start] && !is_used_there(c, p, user));
        if (user == c->group[start] || !(c->wait[user] >> p->old & 1))
            continue;
        cbi_vec_push(c->ctx, &p->starts, start);
        p->consumers.items[k] = user;
    }
}

void cbi_sb_wait_for_stack_load(cbi_sb_code *c, bool at_end)
{
    cbi_sb_producer *p = &c->producers.items[c->stack_load];
    cbi_u32_list todo = {0};
    uint32_t visit = ++c->visit;
    p->consumers = (cbi_u32_list){0};
    if (at_end)
        cbi_vec_push(c->ctx, &p->consumers, cbi_sb_last_of(c, p->block));
    else
        cbi_sb_push_next(c, p->at, &todo);
    while (todo.len) {
        uint32_t i = todo.items[--todo.len];
        if (c->visited[i] == visit)
            continue;
        c->visited[i] = visit;
        if (cbi_op_has(cbi_sb_op(c, i), CBI_OPF_CALL) || c->group[i])
            cbi_vec_push(c->ctx, &p->consumers, i);
        else
            cbi_sb_push_next(c, i, &todo);
    }
}

void cbi_sb_find_consumers(cbi_sb_code *c)
{
    c->has_long = cbi_sb_has_long_result(c);
    for (uint32_t q = 0; q < c->producers.len; q++)
        find_local(c, q);
    if (c->stack_load != CBI_SB_NOWHERE && !c->restores) {
        const cbi_sb_producer *load = &c->producers.items[c->stack_load];
        cbi_sb_wait_for_stack_load(
            c, cbi_sb_contains(&load->consumers, cbi_sb_last_of(c, load->block)));
    }
    find_hidden(c);
    for (uint32_t q = 0; q < c->producers.len; q++)
        if (q != c->stack_load)
            find_starts(c, &c->producers.items[q]);
}
