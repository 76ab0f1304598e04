#include "sass/reuse.h"

#include "sass/pace_code.h"

/* Units have places of their own. */
typedef enum places {
    PLACES_NONE,
    PLACES_MATRIX,
    PLACES_DOUBLE,
    PLACES_HALF,
    PLACES_OTHERS,
} places;

/* The places that the instruction reads registers through.  The slow unit has none. */
static places places_of(const cbi_sb_code *c, uint32_t i)
{
    const cbi_instruction *row = cbi_instruction_of(cbi_sb_op(c, i));
    if (cbi_pace_is_fast_double(c, i))
        return PLACES_DOUBLE;
    if (row->slow != CBI_SLOW_NONE)
        return PLACES_NONE;
    if (row->shape == CBI_SHAPE_TENSOR)
        return PLACES_MATRIX;
    if (row->kind == CBI_KIND_HALF || row->kind == CBI_KIND_HALF_ALU)
        return PLACES_HALF;
    bool reads = cbi_kind_is_math(row->kind) || row->kind == CBI_KIND_TO_UNIFORM;
    return reads ? PLACES_OTHERS : PLACES_NONE;
}

/* Which of the two registers of a place a source takes: one bit each. */
static unsigned halves(cbi_sass_source s)
{
    return s.count == 0 ? 0 : s.count > 1 ? 3 : 1U << s.first % 2;
}

/* Are what the first source holds, and what the place holds after the other, the same?  One
 * register stays where it was if the other is a pair around it. */
static bool is_same(cbi_sass_source s, cbi_sass_source other)
{
    if (s.count == 1 && other.count > 1)
        return (s.first | 1) == (other.first | 1);
    return other.count == s.count && other.first == s.first;
}

static bool writes(const cbi_operands *o, cbi_sass_source s)
{
    for (unsigned r = s.first; r < (unsigned)s.first + s.count; r++)
        if (cbi_regset_has(&o->written, r))
            return true;
    return false;
}

/* Does the next one of the unit that uses the place for a register of this half find the same
 * register, not written since, before the warp may be changed? */
static bool is_kept(const cbi_sb_code *c, const cbi_sass *words, const bool *pause, uint32_t i,
                    unsigned place, cbi_sass_source s)
{
    uint32_t end = c->blocks.items[c->block_of[i]].end;
    places unit = places_of(c, i);
    for (uint32_t j = i; j < end; j++) {
        if (j > i && places_of(c, j) == unit) {
            cbi_sass_source other = cbi_sass_sources(words[j]).at[place];
            if (is_same(s, other))
                return true;
            if (halves(other) & halves(s))
                return false;
        }
        if (!cbi_sass_yield(words[j]) || (pause && pause[j]) || cbi_sb_ends_stretch(c, j) ||
            writes(&c->operands[j], s))
            return false;
    }
    return false;
}

uint32_t cbi_sass_reuse_of(const cbi_sb_code *c, const cbi_sass *words, const bool *pause,
                           uint32_t i)
{
    uint32_t bits = 0;
    if (places_of(c, i) == PLACES_NONE)
        return 0;
    cbi_sass_source_list sources = cbi_sass_sources(words[i]);
    for (unsigned place = 0; place < CBI_COUNT(sources.at); place++)
        if (sources.at[place].count && is_kept(c, words, pause, i, place, sources.at[place]))
            bits |= 1U << place;
    return bits;
}
