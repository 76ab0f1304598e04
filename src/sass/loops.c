/* Loops of the code: a block that leads to one before it, or to itself, closes one. */
#include "sass/pace_code.h"
#include "sass/scoreboard_read.h"

/* The blocks from which the end of the loop is reached without its first one. */
static void find_loop(const cbi_sb_code *c, uint32_t head, bool *ret_inside)
{
    cbi_u32_list todo = {0};
    const cbi_u32_list *pred = &c->blocks.items[head].pred;
    ret_inside[head] = true;
    for (size_t p = 0; p < pred->len; p++)
        if (c->position[pred->items[p]] >= c->position[head])
            cbi_vec_push(c->ctx, &todo, pred->items[p]);
    while (todo.len) {
        uint32_t b = todo.items[--todo.len];
        pred = &c->blocks.items[b].pred;
        for (size_t p = 0; p < pred->len && !ret_inside[b]; p++)
            cbi_vec_push(c->ctx, &todo, pred->items[p]);
        ret_inside[b] = true;
    }
}

/* Instructions of the block that would let the warp go elsewhere: by how many more do not than do.
 */
static int64_t count_held(const cbi_sb_code *c, const cbi_sb_block *b)
{
    enum { SHORTEST = 3, LONGEST = 11 };
    int64_t held = 0;
    for (uint32_t i = b->start; i < b->end; i++) {
        uint32_t stall = cbi_sass_stall(c->words[i]);
        if (stall >= SHORTEST && stall <= LONGEST && cbi_pace_is_math(cbi_sb_op(c, i)))
            held += cbi_sass_yield(c->words[i]) ? 1 : -1;
    }
    return held;
}

/* Innermost loops hold the warp or do not, as a whole, which the input shows. */
void cbi_sb_find_held(cbi_sb_code *c)
{
    c->held = CBI_NEW_ARRAY(c->ctx, c->blocks.len, bool);
    bool *inside = CBI_NEW_ARRAY(c->ctx, c->blocks.len, bool);
    for (uint32_t head = 0; head < c->blocks.len; head++) {
        bool others = false;
        int64_t held = 0;
        if (!cbi_sb_starts_loop(c, head))
            continue;
        memset(inside, 0, c->blocks.len * sizeof *inside);
        find_loop(c, head, inside);
        for (uint32_t b = 0; b < c->blocks.len; b++) {
            others |= inside[b] && b != head && cbi_sb_starts_loop(c, b);
            held += inside[b] ? count_held(c, &c->blocks.items[b]) : 0;
        }
        for (uint32_t b = 0; b < c->blocks.len && !others && held > 0; b++)
            c->held[b] |= inside[b];
    }
}

bool cbi_sb_is_held_loop(const cbi_sb_code *c, uint32_t block)
{
    return c->held && c->held[block] && cbi_sb_contains(&c->blocks.items[block].succ, block);
}
