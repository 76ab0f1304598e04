#include "sass/yield.h"

#include "sass/pace_code.h"

/* Arithmetic, waits for asynchronous copies, and NOPs that the compiler had a use for. */
bool cbi_yield_has_fixed_time(const cbi_sb_code *c, uint32_t i)
{
    uint32_t op = cbi_sb_op(c, i);
    return cbi_pace_is_math(op) || op == CBI_OP_DEPBAR || op == CBI_OP_NOP ||
           cbi_pace_is_fast_double(c, i);
}

bool cbi_yield_keeps(bool fixed, uint32_t stall, uint32_t since)
{
    enum { PAIR = 2 };
    if (!fixed)
        return stall <= CBI_PACE_LONGEST_HELD;
    return stall < PAIR || (stall == PAIR && since + stall <= CBI_PACE_LONGEST_HELD);
}

bool cbi_yield_starts_anew(const cbi_sb_code *c, uint32_t i)
{
    return (c->blocks.items[c->block_of[i]].start == i && !cbi_pace_goes_on_at(c, i)) ||
           (i && cbi_sb_ends_stretch(c, i - 1));
}

/* Does instruction i take no time where the warp is to be kept?  Dummy loads do not, nor does the
 * pause between two looks at a barrier. */
static bool takes_none(const cbi_sass *words, uint32_t i)
{
    return cbi_sass_is_never(words[i]) || (i && cbi_sass_op(words[i]) == CBI_OP_NANOSLEEP_R &&
                                           cbi_sass_op(words[i - 1]) == CBI_OP_SYNCS_PHASECHK);
}

uint32_t cbi_yield_since(const cbi_sass *words, uint32_t i, uint32_t stall, uint32_t since)
{
    uint32_t op = cbi_sass_op(words[i]);
    bool first_of_fence = op == CBI_OP_MEMBAR && stall == 0;
    if ((!cbi_sass_yield(words[i]) && !first_of_fence) || op == CBI_OP_BPT)
        return 0;
    return takes_none(words, i) ? since : since + stall;
}
