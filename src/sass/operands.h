/* The registers an instruction names, as far as the order of asynchronous results depends on it. */
#ifndef CBI_SASS_OPERANDS_H
#define CBI_SASS_OPERANDS_H

#include "sass/instruction.h"

/* A set of register numbers. */
typedef struct cbi_regset {
    uint64_t w[4];
} cbi_regset;

typedef struct cbi_operands {
    cbi_regset written, read;                    /* general */
    cbi_regset uniform_written, uniform_read;    /* uniform */
    uint8_t predicates_written, predicates_read; /* one bit each */
} cbi_operands;

static inline bool cbi_regset_meet(const cbi_regset *a, const cbi_regset *b)
{
    return (a->w[0] & b->w[0]) | (a->w[1] & b->w[1]) | (a->w[2] & b->w[2]) | (a->w[3] & b->w[3]);
}

/* Are all of a in b, too? */
static inline bool cbi_regset_within(const cbi_regset *a, const cbi_regset *b)
{
    for (unsigned k = 0; k < CBI_COUNT(a->w); k++)
        if (a->w[k] & ~b->w[k])
            return false;
    return true;
}

/* Takes those of the others out of a set. */
static inline void cbi_regset_leave_out(cbi_regset *set, const cbi_regset *others)
{
    for (unsigned k = 0; k < CBI_COUNT(set->w); k++)
        set->w[k] &= ~others->w[k];
}

static inline bool cbi_regset_has(const cbi_regset *a, unsigned number)
{
    return a->w[number / 64] >> number % 64 & 1;
}

static inline bool cbi_regset_any(const cbi_regset *a)
{
    return a->w[0] | a->w[1] | a->w[2] | a->w[3];
}

static inline unsigned cbi_regset_count(const cbi_regset *a)
{
    unsigned count = 0;
    for (unsigned k = 0; k < CBI_COUNT(a->w); k++)
        count += (unsigned)__builtin_popcountll(a->w[k]);
    return count;
}

/* The sources that the instruction does not overwrite itself. */
static inline cbi_regset cbi_sass_kept_sources(const cbi_operands *o)
{
    cbi_regset kept = o->read;
    for (unsigned k = 0; k < CBI_COUNT(kept.w); k++)
        kept.w[k] &= ~o->written.w[k];
    return kept;
}

/* The predicates that an instruction is guarded by, writes and reads besides, one bit each. */
typedef struct cbi_predicates {
    uint8_t guard, written, read;
} cbi_predicates;

/* Is the predicate at bit 68 a uniform one, unlike the rest? */
bool cbi_sass_joins_uniform(cbi_sass w);

/* Uniform ones where the instruction computes in the uniform datapath. */
cbi_predicates cbi_sass_predicates(cbi_sass w);

/* What w reads and writes. */
void cbi_sass_operands(cbi_sass w, cbi_operands *ret_operands);

/* General registers that an instruction of arithmetic reads through one place; count 0: none. */
typedef struct cbi_sass_source {
    uint8_t first, count;
} cbi_sass_source;

/* Its sources by place, which is where the operation takes them, not where they stand in w. */
typedef struct cbi_sass_source_list {
    cbi_sass_source at[3];
} cbi_sass_source_list;

/* Of arithmetic, moves to uniform registers and products of matrices. */
cbi_sass_source_list cbi_sass_sources(cbi_sass w);

/* Does w read register 1, the stack pointer, alone or as part of a wider operand? */
bool cbi_sass_reads_stack_pointer(cbi_sass w);

/* Does it write a register or, as far as the operands say, a predicate? */
static inline bool cbi_operands_write(const cbi_operands *o)
{
    return cbi_regset_any(&o->written) || cbi_regset_any(&o->uniform_written) ||
           o->predicates_written;
}

/* Does w compare integers of 64 bits?  From sm_120 on. */
bool cbi_sass_compares_long(cbi_sass w);

/* Does w do two halves, one cycle after another?  Sums, comparisons, moves and choices of 64 bits,
 * from sm_120 on. */
bool cbi_sass_does_halves(cbi_sass w);

/* Does w take the smaller or greater of two integers of 64 bits?  From sm_120 on. */
bool cbi_sass_chooses_long(cbi_sass w);

/* Is w one that the finalizer makes anew?  Of REDUX sums, the smallest and the greatest are, of
 * DEPBAR waits for asynchronous copies, of BAR all but arrivals, of CCTL what has no
 * address. */
bool cbi_sass_is_made(cbi_sass w);

/* Of a product of matrices of integers or short floats: is half of its first factor left out, has
 * it the greater of two depths? */
bool cbi_sass_is_sparse(cbi_sass w);
bool cbi_sass_is_deep(cbi_sass w);

/* Does w compare doubles and write the predicate? */
bool cbi_sass_compares_doubles(cbi_sass w, uint32_t predicate);

/* Does w write the predicate, after a fixed time? */
bool cbi_sass_writes_predicate(cbi_sass w, uint32_t predicate);

/* Distance in bytes from the next instruction to the target of a branch. */
int64_t cbi_sass_branch_distance(cbi_sass w);

/* The same of LEPC, whose result is the address of an instruction. */
int64_t cbi_sass_named_distance(cbi_sass w);

#endif
