/* Which scoreboards of the input are pending where, and which waits end them. */
#include "sass/scoreboard_read.h"

/* Does the code begin with the load of the stack pointer?  Kernels do; what functions begin with is
 * a result like others. */
static bool begins_with_stack_load(const cbi_sb_code *c)
{
    return c->restores || (c->n && cbi_sb_op(c, 0) == CBI_OP_LDC &&
                           cbi_regset_has(&c->operands[0].written, CBI_SASS_STACK_POINTER));
}

void cbi_sb_find_producers(cbi_sb_code *c)
{
    c->first = CBI_NEW_ARRAY(c->ctx, c->n + 1, uint32_t);
    c->stack_load = CBI_SB_NOWHERE;
    const bool loads_stack = begins_with_stack_load(c);
    for (uint32_t i = 0; i < c->n; i++) {
        c->first[i] = (uint32_t)c->producers.len;
        for (unsigned write = 0; write < 2; write++) {
            uint8_t number =
                (uint8_t)(write ? cbi_sass_write(c->words[i]) : cbi_sass_read(c->words[i]));
            if (number >= CBI_SB_NUMBERS && !(c->restores && i == 0 && write))
                continue;
            if (i == 0 && write && loads_stack)
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

bool cbi_sb_store(cbi_ctx *ctx, const uint64_t *set, size_t row, cbi_sb_sparse *into)
{
    uint32_t count = 0, before = into->count;
    for (size_t w = 0; w < row; w++)
        count += set[w] != 0;
    bool changed = count != before;
    if (into->room < count) {
        into->parts = CBI_NEW_ARRAY(ctx, count, struct cbi_sb_part);
        into->room = count;
    }
    into->count = 0;
    for (uint32_t w = 0; w < row; w++) {
        if (!set[w])
            continue;
        struct cbi_sb_part *part = &into->parts[into->count];
        changed = changed || part->at != w || part->bits != set[w];
        *part = (struct cbi_sb_part){w, set[w]};
        into->count++;
    }
    return changed;
}

void cbi_sb_enter(const cbi_sb_block *block, const cbi_sb_sparse *leaving, size_t row,
                  uint64_t *ret_set)
{
    memset(ret_set, 0, row * sizeof *ret_set);
    for (size_t p = 0; p < block->pred.len; p++)
        cbi_sb_unite(ret_set, &leaving[block->pred.items[p]]);
}

/* Is the same pending before the next instruction of the block as before this one? */
static bool changes_nothing(const cbi_sb_code *c, uint32_t i)
{
    return !cbi_sb_waited(c, i) && c->first[i] == c->first[i + 1];
}

cbi_sb_sparse *cbi_sb_take_pending(const cbi_sb_code *c, const uint64_t *set, cbi_sb_sparse *old)
{
    if (!old)
        old = CBI_NEW_ARRAY(c->ctx, 1, cbi_sb_sparse);
    cbi_sb_store(c->ctx, set, c->row, old);
    return old;
}

/* The sets before the instructions of a block, which starts with `set`. */
static void take_block(cbi_sb_code *c, const cbi_sb_block *k, uint64_t *set)
{
    for (uint32_t i = k->start; i < k->end; i++) {
        cbi_sb_sparse **now = &c->pending[i];
        bool shared = i > k->start && now[0] == now[-1];
        if (i > k->start && changes_nothing(c, i - 1))
            now[0] = now[-1];
        else
            now[0] = cbi_sb_take_pending(c, set, shared ? NULL : now[0]);
        step_input(c, i, set);
    }
}

static void find_pending(cbi_sb_code *c)
{
    uint64_t *set = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    cbi_sb_sparse *leaving = CBI_NEW_ARRAY(c->ctx, c->blocks.len, cbi_sb_sparse);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < c->blocks.len; b++) {
            const cbi_sb_block *k = &c->blocks.items[b];
            cbi_sb_enter(k, leaving, c->row, set);
            for (uint32_t i = k->start; i < k->end; i++)
                step_input(c, i, set);
            changed |= cbi_sb_store(c->ctx, set, c->row, &leaving[b]);
        }
    }
    if (!c->pending) /* another reading may have made them */
        c->pending = CBI_NEW_ARRAY(c->ctx, c->n, cbi_sb_sparse *);
    for (uint32_t b = 0; b < c->blocks.len; b++) {
        cbi_sb_enter(&c->blocks.items[b], leaving, c->row, set);
        take_block(c, &c->blocks.items[b], set);
    }
}

/* The first instruction from i to the end of its block that needs the producer. */
static uint32_t first_need_from(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    uint32_t end = c->blocks.items[c->block_of[i]].end;
    while (i < end && !cbi_sb_needs(c, p, i))
        i++;
    return i < end ? i : CBI_SB_NOWHERE;
}

/* Where a producer is needed next, by block. */
typedef struct next_needs {
    bool *open;     /* nothing in the block needs it */
    bool *again;    /* from the block's start: that waits for its number */
    uint32_t *todo; /* blocks to look before */
} next_needs;

/* Before the loop goes around. */
static void find_next_needs(const cbi_sb_code *c, const cbi_sb_producer *p, const next_needs *x)
{
    size_t count = 0;
    for (uint32_t b = 0; b < c->blocks.len; b++) {
        bool ahead = c->position[b] > c->position[p->block];
        uint32_t need = ahead ? first_need_from(c, p, c->blocks.items[b].start) : CBI_SB_NOWHERE;
        x->open[b] = ahead && need == CBI_SB_NOWHERE;
        x->again[b] = need != CBI_SB_NOWHERE && c->wait[need] >> p->old & 1;
        if (x->again[b])
            x->todo[count++] = b;
    }
    while (count) {
        const cbi_u32_list *pred = &c->blocks.items[x->todo[--count]].pred;
        for (size_t k = 0; k < pred->len; k++) {
            uint32_t b = pred->items[k];
            if (!x->open[b] || x->again[b])
                continue;
            x->again[b] = true;
            x->todo[count++] = b;
        }
    }
}

/* Does an instruction after i, before the loop goes around, need the producer and wait for its
 * number (again)? */
static bool is_awaited_again(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i,
                             const next_needs *x)
{
    const cbi_sb_block *b = &c->blocks.items[c->block_of[i]];
    uint32_t need = i + 1 < b->end ? first_need_from(c, p, i + 1) : CBI_SB_NOWHERE;
    if (need != CBI_SB_NOWHERE)
        return c->wait[need] >> p->old & 1;
    for (size_t k = 0; k < b->succ.len; k++)
        if (x->again[b->succ.items[k]])
            return true;
    return false;
}

/* Nobody needs the R1 load, and behind its block nothing waits for it. */
static bool is_stack_load_beyond(const cbi_sb_code *c, uint32_t q, uint32_t i)
{
    return q == c->stack_load && c->block_of[i] != c->producers.items[q].block;
}

/* Waits for numbers of which something comes around a loop, and of what else. */
typedef struct around {
    cbi_u32_list at;         /* instructions */
    uint8_t *numbers;        /* by entry of `at` */
    uint8_t *needed, *ahead; /* the same: was there from the start; was not */
    uint64_t *pending;       /* the same: 64 producers */
    next_needs next;
} around;

static around find_around(const cbi_sb_code *c)
{
    around x = {.numbers = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t)};
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t numbers = 0;
        CBI_SB_EACH_OF(q, c->pending[i], c->wait[i])
        if (cbi_sb_comes_around(c, &c->producers.items[q], i))
            numbers |= (uint8_t)(1u << c->producers.items[q].old);
        if (!(numbers & c->wait[i]))
            continue;
        x.numbers[x.at.len] = numbers & c->wait[i];
        cbi_vec_push(c->ctx, &x.at, i);
    }
    return x;
}

/* Does the first block of a loop end with instruction i, a branch?  That waits for what comes
 * around, and needs nothing that is pending from before.  Counter events and NOPs do. */
static bool ends_head(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    uint32_t block = c->block_of[i], op = cbi_sb_op(c, i);
    return cbi_op_has(op, CBI_OPF_BRANCH) && op != CBI_OP_PMTRIG && p->block != block &&
           cbi_sb_last_of(c, block) == i && cbi_sb_starts_loop(c, block);
}

/* Sorts the waits for the number of a producer that may have been there from the start. */
static void sort_waits(const cbi_sb_code *c, uint32_t q, const around *x)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    bool found = false;
    for (size_t k = 0; k < x->at.len; k++) {
        uint32_t i = x->at.items[k];
        uint8_t number = (uint8_t)(1u << p->old);
        if (!(x->pending[k] >> (q % 64) & 1) || !(x->numbers[k] & number) ||
            cbi_sb_comes_around(c, p, i))
            continue;
        if (cbi_sb_needs(c, p, i) || c->group[i]) { /* a sequence needs everything */
            x->needed[k] |= number;
            continue;
        }
        if (!found && !is_stack_load_beyond(c, q, i)) {
            find_next_needs(c, p, &x->next);
            found = true;
        }
        if (is_stack_load_beyond(c, q, i) || is_awaited_again(c, p, i, &x->next) ||
            ends_head(c, p, i))
            x->ahead[k] |= number;
    }
}

/* Waits at the end of a block for what comes around a loop: they were added when all else was
 * placed.  True if there are more than before. */
static bool find_later_waits(const cbi_sb_code *c)
{
    around x = find_around(c);
    bool any = false;
    x.needed = CBI_NEW_ARRAY(c->ctx, x.at.len, uint8_t);
    x.ahead = CBI_NEW_ARRAY(c->ctx, x.at.len, uint8_t);
    x.pending = CBI_NEW_ARRAY(c->ctx, x.at.len, uint64_t);
    x.next = (next_needs){CBI_NEW_ARRAY(c->ctx, c->blocks.len, bool),
                          CBI_NEW_ARRAY(c->ctx, c->blocks.len, bool),
                          CBI_NEW_ARRAY(c->ctx, c->blocks.len, uint32_t)};
    for (size_t w = 0; x.at.len && w < c->row; w++) {
        uint64_t all = 0;
        for (size_t k = 0; k < x.at.len; k++)
            all |= x.pending[k] = cbi_sb_word_of(c->pending[x.at.items[k]], (uint32_t)w);
        CBI_SB_EACH(q, &all, 1)
        sort_waits(c, (uint32_t)(w * 64) + q, &x);
    }
    for (size_t k = 0; k < x.at.len; k++) {
        uint8_t ahead = x.ahead[k] & (uint8_t)~x.needed[k];
        any = any || ahead & ~c->later[x.at.items[k]];
        c->later[x.at.items[k]] |= ahead;
    }
    return any;
}

static void find_consumers(cbi_sb_code *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t mask = cbi_sb_waited(c, i);
        CBI_SB_EACH_OF(q, c->pending[i], mask)
        if (cbi_sb_ends(c, i, &c->producers.items[q]))
            cbi_vec_push(c->ctx, &c->producers.items[q].consumers, i);
    }
}

void cbi_sb_find_pending(cbi_sb_code *c)
{
    find_pending(c);
    while (find_later_waits(c)) /* what one does not end may reach another */
        find_pending(c);
    find_consumers(c);
}
