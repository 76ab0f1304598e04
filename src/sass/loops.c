/* Loops of the code: a block that leads to one before it, or to itself, closes one. */
#include "sass/pace_code.h"
#include "sass/scoreboard_read.h"

/* The blocks of the loop that starts with `head`, from which its end is reached without that; none
 * if another loop is inside.  seen[b]: the head for which block b was met last, and one. */
static cbi_u32_list find_innermost(const cbi_sb_code *c, uint32_t head, uint32_t *seen)
{
    cbi_u32_list inside = {0};
    cbi_vec_push(c->ctx, &inside, head);
    seen[head] = head + 1;
    for (size_t n = 0; n < inside.len; n++) {
        const cbi_u32_list *pred = &c->blocks.items[inside.items[n]].pred;
        for (size_t p = 0; p < pred->len; p++) {
            uint32_t b = pred->items[p];
            bool enters = n == 0 && c->position[b] < c->position[head];
            if (enters || seen[b] == head + 1)
                continue;
            if (cbi_sb_starts_loop(c, b))
                return (cbi_u32_list){0};
            seen[b] = head + 1;
            cbi_vec_push(c->ctx, &inside, b);
        }
    }
    return inside;
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
    uint32_t *seen = CBI_NEW_ARRAY(c->ctx, c->blocks.len, uint32_t);
    for (uint32_t head = 0; head < c->blocks.len; head++) {
        if (!cbi_sb_starts_loop(c, head))
            continue;
        const cbi_u32_list loop = find_innermost(c, head, seen);
        int64_t held = 0;
        for (size_t n = 0; n < loop.len; n++)
            held += count_held(c, &c->blocks.items[loop.items[n]]);
        for (size_t n = 0; n < loop.len && held > 0; n++)
            c->held[loop.items[n]] = true;
    }
}

bool cbi_sb_is_held_loop(const cbi_sb_code *c, uint32_t block)
{
    return c->held && c->held[block] && cbi_sb_contains(&c->blocks.items[block].succ, block);
}
