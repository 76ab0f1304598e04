/* Which scoreboards of the input are pending where, and which waits end them. */
#include "sass/scoreboard_read.h"

void cbi_sb_find_producers(cbi_sb_code *c)
{
    c->first = CBI_NEW_ARRAY(c->ctx, c->n + 1, uint32_t);
    c->stack_load = CBI_SB_NOWHERE;
    for (uint32_t i = 0; i < c->n; i++) {
        c->first[i] = (uint32_t)c->producers.len;
        for (unsigned write = 0; write < 2; write++) {
            uint8_t number =
                (uint8_t)(write ? cbi_sass_write(c->words[i]) : cbi_sass_read(c->words[i]));
            if (number >= CBI_SB_NUMBERS && !(c->restores && i == 0 && write))
                continue;
            if (i == 0 && write)
                c->stack_load = (uint32_t)c->producers.len;
            cbi_sb_producer *p = cbi_vec_add(c->ctx, &c->producers);
            *p = (cbi_sb_producer){.at = i,
                                   .block = c->block_of[i],
                                   .write = write,
                                   .is_long = write && cbi_op_has(cbi_sb_op(c, i), CBI_OPF_LONG),
                                   .old = number,
                                   .local = CBI_SB_NOWHERE};
        }
    }
    c->first[c->n] = (uint32_t)c->producers.len;
    c->row = cbi_sb_words_of(c->producers.len);
}

uint8_t cbi_sb_waited(const cbi_sb_code *c, uint32_t i)
{
    return c->wait[i] |
           (uint8_t)(cbi_sb_is_named_wait(c, i) ? 1u << cbi_sass_named_scoreboard(c->words[i]) : 0);
}

bool cbi_sb_ends(const cbi_sb_code *c, uint32_t i, const cbi_sb_producer *p)
{
    return cbi_sb_waits_for(c, i, p) &&
           !(c->later[i] >> p->old & 1 && !cbi_sb_comes_around(c, p, i));
}

/* Ends the producers that instruction i waits for, and starts its own. */
static void step_input(const cbi_sb_code *c, uint32_t i, uint64_t *set)
{
    uint8_t mask = cbi_sb_waited(c, i);
    CBI_SB_EACH(q, set, mask ? c->row : 0)
    if (cbi_sb_ends(c, i, &c->producers.items[q]))
        cbi_sb_drop(set, q);
    for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
        cbi_sb_put(set, q);
}

uint64_t **cbi_sb_sets(const cbi_sb_code *c)
{
    uint64_t **sets = CBI_NEW_ARRAY(c->ctx, c->blocks.len, uint64_t *);
    for (uint32_t b = 0; b < c->blocks.len; b++)
        sets[b] = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    return sets;
}

void cbi_sb_enter(const cbi_sb_code *c, const cbi_sb_block *block, uint64_t *const *leaving,
                  uint64_t *ret_set)
{
    memset(ret_set, 0, (c->row + 1) * sizeof *ret_set);
    for (size_t p = 0; p < block->pred.len; p++)
        for (size_t w = 0; w < c->row; w++)
            ret_set[w] |= leaving[block->pred.items[p]][w];
}

/* Is the same pending before the next instruction of the block as before this one? */
static bool changes_nothing(const cbi_sb_code *c, uint32_t i)
{
    return !cbi_sb_waited(c, i) && c->first[i] == c->first[i + 1];
}

/* Room for what is pending before each instruction, unless another reading has made it. */
static void make_sets(cbi_sb_code *c)
{
    if (c->pending)
        return;
    c->pending = CBI_NEW_ARRAY(c->ctx, c->n, uint64_t *);
    for (uint32_t i = 0; i < c->n; i++) {
        bool starts = c->blocks.items[c->block_of[i]].start == i;
        c->pending[i] = !starts && changes_nothing(c, i - 1)
                            ? c->pending[i - 1]
                            : CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    }
}

static void find_pending(cbi_sb_code *c)
{
    uint64_t *set = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    uint64_t **leaving = cbi_sb_sets(c);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < c->blocks.len; b++) {
            const cbi_sb_block *k = &c->blocks.items[b];
            cbi_sb_enter(c, k, leaving, set);
            for (uint32_t i = k->start; i < k->end; i++) {
                if (i == k->start || c->pending[i] != c->pending[i - 1])
                    memcpy(c->pending[i], set, (c->row + 1) * sizeof *set);
                step_input(c, i, set);
            }
            changed |= memcmp(set, leaving[b], c->row * sizeof *set) != 0;
            memcpy(leaving[b], set, c->row * sizeof *set);
        }
    }
}

/* Does an instruction after i, before the loop goes around, need the producer and wait for its
 * number (again)? */
static bool is_awaited_again(cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    cbi_u32_list todo = {0};
    uint32_t visit = ++c->visit;
    bool again = false;
    cbi_sb_push_next(c, i, &todo);
    while (todo.len && !again) {
        uint32_t j = todo.items[--todo.len];
        if (c->visited[j] == visit || cbi_sb_comes_around(c, p, j))
            continue;
        c->visited[j] = visit;
        again = cbi_sb_needs(c, p, j) && c->wait[j] >> p->old & 1;
        if (!cbi_sb_needs(c, p, j))
            cbi_sb_push_next(c, j, &todo);
    }
    return again;
}

/* Nobody needs the R1 load, and behind its block nothing waits for it. */
static bool is_stack_load_beyond(const cbi_sb_code *c, uint32_t q, uint32_t i)
{
    return q == c->stack_load && c->block_of[i] != c->producers.items[q].block;
}

/* Waits at the end of a block for what comes around a loop: they were added when all else was
 * placed.  True if there are more than before. */
static bool find_later_waits(cbi_sb_code *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t around = 0, ahead = 0, needed = 0;
        CBI_SB_EACH(q, c->pending[i], c->wait[i] ? c->row : 0)
        if (cbi_sb_comes_around(c, &c->producers.items[q], i))
            around |= (uint8_t)(1u << c->producers.items[q].old);
        around &= c->wait[i];
        CBI_SB_EACH(q, c->pending[i], around ? c->row : 0)
        {
            const cbi_sb_producer *p = &c->producers.items[q];
            if (!(around >> p->old & 1) || cbi_sb_comes_around(c, p, i))
                continue;
            if (cbi_sb_needs(c, p, i))
                needed |= (uint8_t)(1u << p->old); /* it was there from the start */
            else if (is_stack_load_beyond(c, q, i) || is_awaited_again(c, p, i))
                ahead |= (uint8_t)(1u << p->old);
        }
        ahead &= (uint8_t)~needed;
        any = any || ahead & ~c->later[i];
        c->later[i] |= ahead;
    }
    return any;
}

static void find_consumers(cbi_sb_code *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t mask = cbi_sb_waited(c, i);
        CBI_SB_EACH(q, c->pending[i], mask ? c->row : 0)
        if (cbi_sb_ends(c, i, &c->producers.items[q]))
            cbi_vec_push(c->ctx, &c->producers.items[q].consumers, i);
    }
}

void cbi_sb_find_pending(cbi_sb_code *c)
{
    make_sets(c);
    find_pending(c);
    while (find_later_waits(c)) /* what one does not end may reach another */
        find_pending(c);
    find_consumers(c);
}
