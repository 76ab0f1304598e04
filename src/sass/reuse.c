#include "sass/reuse.h"

#include "sass/pace_code.h"

/* Matrix instructions have places of their own. */
static bool is_matrix(uint32_t op)
{
    return cbi_instruction_of(op)->shape == CBI_SHAPE_TENSOR;
}

/* Does the instruction read registers through the places?  The slow unit has none. */
static bool has_places(const cbi_sb_code *c, uint32_t i)
{
    uint32_t op = cbi_sb_op(c, i);
    const cbi_instruction *row = cbi_instruction_of(op);
    if (cbi_pace_is_fast_double(c, i))
        return true;
    if (row->slow != CBI_SLOW_NONE)
        return false;
    return is_matrix(op) || cbi_kind_is_math(row->kind) || row->kind == CBI_KIND_TO_UNIFORM;
}

/* Which of the two registers of a place a source takes: one bit each. */
static unsigned halves(cbi_sass_source s)
{
    return s.count == 0 ? 0 : s.count > 1 ? 3 : 1U << s.first % 2;
}

static bool writes(const cbi_operands *o, cbi_sass_source s)
{
    for (unsigned r = s.first; r < (unsigned)s.first + s.count; r++)
        if (cbi_regset_has(&o->written, r))
            return true;
    return false;
}

/* Does the next one that uses the place for a register of this half find the same register, not
 * written since, before the warp may be changed? */
static bool is_kept(const cbi_sb_code *c, const cbi_sass *words, const bool *pause, uint32_t i,
                    unsigned place, cbi_sass_source s)
{
    uint32_t end = c->blocks.items[c->block_of[i]].end;
    bool matrix = is_matrix(cbi_sass_op(words[i]));
    for (uint32_t j = i; j < end; j++) {
        uint32_t op = cbi_sass_op(words[j]);
        if (j > i && has_places(c, j) && is_matrix(op) == matrix) {
            cbi_sass_source other = cbi_sass_sources(words[j]).at[place];
            bool same = other.count == s.count || (c->anew && s.count == 1 && other.count);
            if (same && other.first == s.first)
                return true;
            if (halves(other) & halves(s))
                return false;
        }
        if (!cbi_sass_yield(words[j]) || (pause && pause[j]) || writes(&c->operands[j], s))
            return false;
    }
    return false;
}

uint32_t cbi_sass_reuse_of(const cbi_sb_code *c, const cbi_sass *words, const bool *pause,
                           uint32_t i)
{
    uint32_t bits = 0;
    if (!has_places(c, i))
        return 0;
    cbi_sass_source_list sources = cbi_sass_sources(words[i]);
    for (unsigned place = 0; place < CBI_COUNT(sources.at); place++)
        if (sources.at[place].count && is_kept(c, words, pause, i, place, sources.at[place]))
            bits |= 1U << place;
    return bits;
}
