/* The code whose scoreboards are assigned, as the model sees it. */
#ifndef CBI_SCOREBOARD_CODE_H
#define CBI_SCOREBOARD_CODE_H

#include "sass/opcodes.h"
#include "sass/operands.h"

#define CBI_SB_NOWHERE UINT32_MAX

typedef CBI_VEC(uint32_t) cbi_u32_list;

/* Where sources are done, which a shared number hides: nobody can see it in the input. */
typedef enum cbi_sb_reading {
    CBI_SB_READ_BY_REGISTERS, /* at the next write */
    CBI_SB_READ_BY_RESULT,    /* at the next write, or when the result is there */
    CBI_SB_READ_BY_WAIT,      /* where the input waits for the number */
    CBI_SB_READINGS,
} cbi_sb_reading;

/* Waits for the warp that may start a block or not: the input does not say, but fits one better. */
typedef enum cbi_sb_unsure {
    CBI_SB_AT_GUARD = 1,     /* only their own guard is due just then */
    CBI_SB_AFTER_COPIES = 2, /* directly behind a wait for asynchronous copies */
    CBI_SB_UNSURE = 4,       /* one more than all of them together */
} cbi_sb_unsure;

/* A scoreboard that an instruction holds: for its result, or while it reads its sources. */
typedef struct cbi_sb_producer {
    uint32_t at;
    uint32_t block;
    bool write;          /* result */
    bool is_long;        /* global, generic and local loads, atomics */
    bool flush;          /* waited for only because the block ends */
    bool is_late;        /* only on the target */
    bool ends;           /* nothing behind its block needs it */
    bool timed;          /* flush was decided by time, not by the input */
    bool hidden;         /* a wait for another one of its number ended it */
    bool gone;           /* needs none any more */
    uint8_t old;         /* number in the input */
    uint32_t local;      /* consumer in the same block, or CBI_SB_NOWHERE */
    cbi_u32_list starts; /* of collective sequences that wait for it, too, but do not end it */
    cbi_u32_list consumers;
    cbi_u32_list loops; /* first instructions of loops that it comes around, if it is late or
                           nothing waits for it at the end of its block any more */
} cbi_sb_producer;

typedef CBI_VEC(cbi_sb_producer) cbi_sb_producer_list;

typedef struct cbi_sb_block {
    uint32_t start, end;
    uint32_t last; /* see cbi_sb_last_of */
    cbi_u32_list succ, pred;
} cbi_sb_block;

/* A set of which little is in it: its words that are not empty, in order. */
typedef struct cbi_sb_sparse {
    uint32_t count, room; /* parts in use, and allocated */
    struct cbi_sb_part {
        uint32_t at; /* which word: 64 producers */
        uint64_t bits;
    } * parts;
} cbi_sb_sparse;

typedef struct cbi_sb_code {
    cbi_ctx *ctx;
    cbi_sb_reading reading;
    bool calls_apart;      /* a call is a block of its own */
    uint8_t joins;         /* kinds of unsure starts of blocks (cbi_sb_unsure) that are none */
    uint8_t unsure;        /* kinds that the code has */
    bool restores;         /* the R1 load has no scoreboard, and is to get one */
    bool keeps_stack_load; /* it has one, and keeps it */
    bool anew;             /* not scheduled before: stall counts of the input say nothing */
    bool follows;          /* scheduled for the same chip, with other blocks */
    const bool *labels;    /* where blocks start, whatever the code says, or NULL */
    const uint32_t *leads; /* as in cbi_scoreboard_text */
    bool holds_loops;      /* some innermost loops never let the warp go elsewhere, ... */
    bool *held;            /* ... the blocks of these; or NULL */
    uint32_t chip;         /* whose latencies count */
    uint32_t n;
    cbi_sass *words;
    const cbi_sass *input; /* the words before scoreboards changed, or NULL: these */
    cbi_operands *operands;
    uint8_t *wait;
    bool *all;       /* waits for everything */
    uint8_t *later;  /* waits that were added for what comes around loops and end nothing else */
    uint32_t *group; /* last instruction of the collective sequence that starts here, or 0 */
    uint32_t *block_of;
    uint32_t *visited; /* the last walk over the code that was here */
    uint32_t visit;    /* the walk under way */
    CBI_VEC(cbi_sb_block) blocks;
    cbi_sb_producer_list producers;
    uint32_t *position;      /* of a block in the order of the assignment */
    uint32_t *first;         /* first producer of an instruction, n + 1 entries */
    size_t row;              /* words of a producer set */
    cbi_sb_sparse **pending; /* before each instruction, in the input */
    uint32_t stack_load;     /* its producer */
    bool has_long;           /* cbi_sb_has_long_result, in the input */
    int64_t *issue;          /* cycle of an instruction, from the start of its block */
    const uint32_t *cycles;  /* from one to the next, where they are not the stall counts */
} cbi_sb_code;

/* Sets of producers. */
static inline bool cbi_sb_has(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static inline void cbi_sb_put(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void cbi_sb_drop(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* The first one from q on, or CBI_SB_NOWHERE. */
static inline uint32_t cbi_sb_next(const uint64_t *set, size_t row, uint32_t q)
{
    for (size_t w = q / 64; w < row; w++, q = (uint32_t)w * 64) {
        uint64_t left = set[w] >> (q % 64);
        if (left)
            return q + (uint32_t)__builtin_ctzll(left);
    }
    return CBI_SB_NOWHERE;
}

/* A loop over all of a set; the one at hand may be dropped. */
#define CBI_SB_EACH(q, set, row)                                                                   \
    for (uint32_t q = cbi_sb_next((set), (row), 0); q != CBI_SB_NOWHERE;                           \
         q = cbi_sb_next((set), (row), q + 1))

/* The part with word `at`, or the first one behind it; set->count: there is none. */
static inline uint32_t cbi_sb_find_part(const cbi_sb_sparse *set, uint32_t at)
{
    uint32_t low = 0, high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->parts[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* That word of the set. */
static inline uint64_t cbi_sb_word_of(const cbi_sb_sparse *set, uint32_t at)
{
    uint32_t part = cbi_sb_find_part(set, at);
    return part < set->count && set->parts[part].at == at ? set->parts[part].bits : 0;
}

static inline bool cbi_sb_sparse_has(const cbi_sb_sparse *set, uint32_t q)
{
    return cbi_sb_word_of(set, q / 64) >> (q % 64) & 1;
}

/* The first one from q on, or CBI_SB_NOWHERE. */
static inline uint32_t cbi_sb_sparse_next(const cbi_sb_sparse *set, uint32_t q)
{
    for (uint32_t part = cbi_sb_find_part(set, q / 64); part < set->count; part++) {
        uint32_t start = set->parts[part].at * 64, from = q > start ? q - start : 0;
        uint64_t left = set->parts[part].bits >> from;
        if (left)
            return start + from + (uint32_t)__builtin_ctzll(left);
    }
    return CBI_SB_NOWHERE;
}

/* A loop over all of it, if the condition holds. */
#define CBI_SB_EACH_OF(q, sparse, condition)                                                       \
    for (uint32_t q = (condition) ? cbi_sb_sparse_next((sparse), 0) : CBI_SB_NOWHERE;              \
         q != CBI_SB_NOWHERE; q = cbi_sb_sparse_next((sparse), q + 1))

/* Words of a set of so many. */
static inline size_t cbi_sb_words_of(size_t count)
{
    return count / 64 + 1;
}

/* Puts a set of `row` words into `into`.  True if that was another one. */
bool cbi_sb_store(cbi_ctx *ctx, const uint64_t *set, size_t row, cbi_sb_sparse *into);

/* Adds what is in the other one. */
static inline void cbi_sb_unite(uint64_t *set, const cbi_sb_sparse *other)
{
    for (uint32_t k = 0; k < other->count; k++)
        set[other->parts[k].at] |= other->parts[k].bits;
}

/* The set at the start of a block: all that leaves the blocks before it.  leaving: by block. */
void cbi_sb_enter(const cbi_sb_block *block, const cbi_sb_sparse *leaving, size_t row,
                  uint64_t *ret_set);

/* The last instruction of a block, in front of NOPs that are part of its stall count. */
static inline uint32_t cbi_sb_last_of(const cbi_sb_code *c, uint32_t block)
{
    return c->blocks.items[block].last;
}

static inline uint32_t cbi_sb_op(const cbi_sb_code *c, uint32_t i)
{
    return cbi_sass_op(c->words[i]);
}

static inline bool cbi_sb_contains(const cbi_u32_list *list, uint32_t value)
{
    for (size_t i = 0; i < list->len; i++)
        if (list->items[i] == value)
            return true;
    return false;
}

/* Does a block lead back to this one? */
static inline bool cbi_sb_starts_loop(const cbi_sb_code *c, uint32_t block)
{
    const cbi_u32_list *pred = &c->blocks.items[block].pred;
    for (size_t p = 0; p < pred->len; p++)
        if (c->position[pred->items[p]] >= c->position[block])
            return true;
    return false;
}

/* Is the block a loop by itself, and held? */
bool cbi_sb_is_held_loop(const cbi_sb_code *c, uint32_t block);

/* A wait for the number of the fence before it, which stands in the instruction and not in its
 * mask. */
static inline bool cbi_sb_is_named_wait(const cbi_sb_code *c, uint32_t i)
{
    return i > 0 && cbi_sb_op(c, i) == CBI_OP_DEPBAR && cbi_sb_op(c, i - 1) == CBI_OP_MEMBAR &&
           cbi_sass_read(c->words[i - 1]) == cbi_sass_bits(c->words[i], 44, 3);
}

/* Is i directly behind the producer, and what a load that acquires ends with?  That waits for it;
 * NOPs that fill the time of a slow unit do not. */
static inline bool cbi_sb_ends_load(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    return p->at + 1 == i && i < c->n && c->wait[i] >> p->old & 1 &&
           (cbi_sb_op(c, i) == CBI_OP_CCTL || cbi_sb_op(c, i) == CBI_OP_NOP);
}

/* Is i the part of a load that acquires which waits for the load?  The two are one instruction of
 * Mercury code, in which the wait takes no time. */
static inline bool cbi_sb_is_acquired(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    return p->is_long && cbi_sb_ends_load(c, p, i);
}

/* Does a long producer have a real destination? */
bool cbi_sb_has_long_result(const cbi_sb_code *c);

/* Does a collective sequence start behind instruction i? */
static inline bool cbi_sb_is_before_sequence(const cbi_sb_code *c, uint32_t i)
{
    return i + 1 < c->n && c->group[i + 1];
}

/* Does the producer reach instruction i only around a loop? */
static inline bool cbi_sb_comes_around(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    uint32_t to = c->block_of[i];
    return p->block == to ? p->at >= i : c->position[p->block] > c->position[to];
}

/* Cycles from instruction i to the next: its stall count, or what its pace changed to. */
static inline int64_t cbi_sb_cycles(const cbi_sb_code *c, uint32_t i)
{
    return c->cycles ? c->cycles[i] : cbi_sass_stall(c->words[i]);
}

/* Cycles until the result of an instruction is there, as the compiler reckons for a chip. */
int64_t cbi_sb_result_time(cbi_sass w, uint32_t chip);
/* Cycles until its sources are read: general registers, one after the other. */
int64_t cbi_sb_reading_time(cbi_sass w, uint32_t chip, const cbi_operands *operands);

/* The one or the other for a producer. */
static inline int64_t cbi_sb_latency(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t chip)
{
    cbi_sass w = c->words[p->at];
    return p->write ? cbi_sb_result_time(w, chip)
                    : cbi_sb_reading_time(w, chip, &c->operands[p->at]);
}

/* Cycles until a product of matrices of integers has read its sources. */
int64_t cbi_sb_product_reads(cbi_sass w);

/* Such a product, or one of doubles, which is late on the target only. */
static inline bool cbi_sb_is_late_product(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    uint8_t slow = cbi_instruction_of(cbi_sb_op(c, p->at))->slow;
    return p->is_late && (slow == CBI_SLOW_IMMA || slow == CBI_SLOW_DMMA);
}

/* Do doubles come from a slow unit on the chip of the code? */
bool cbi_sb_has_slow_doubles(const cbi_sb_code *c);
/* Does sharing a number with integers that become doubles there cost what they take? */
bool cbi_sb_has_slow_integers(const cbi_sb_code *c);

enum {
    CBI_SB_AT_ONCE = 1, /* cycle until what counts as there at once is */
    /* Where doubles are slow, cycles that a product of matrices of them keeps the unit, ... */
    CBI_SB_PRODUCT_OF_DOUBLES = 584,
    /* ... and until its result is there, if the input has a scoreboard for it (146 to 181 fit). */
    CBI_SB_OWN_PRODUCT = 160,
};

/* The same for the chip of the code: late ones count as there at once, but for the sources of
 * comparisons and for products of matrices, and so does what the slow unit does on its
 * own chip, a cycle later. */
static inline int64_t cbi_sb_latency_of(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    enum { COMPARE_READS = 14 };
    uint32_t op = cbi_sb_op(c, p->at);
    bool product = cbi_sb_is_late_product(c, p);
    uint8_t unit = cbi_instruction_of(op)->slow;
    if (product && unit == CBI_SLOW_DMMA)
        return p->write ? CBI_SB_PRODUCT_OF_DOUBLES : 0;
    if (product && !p->write)
        return cbi_sb_product_reads(c->words[p->at]);
    if (unit == CBI_SLOW_DMMA && cbi_sb_has_slow_doubles(c))
        return p->write ? CBI_SB_OWN_PRODUCT : CBI_SB_AT_ONCE;
    bool slow = (unit == CBI_SLOW_CONVERT || unit == CBI_SLOW_DOUBLE) && cbi_sb_has_slow_doubles(c);
    bool late = p->is_late || (unit == CBI_SLOW_CONVERT && c->cycles);
    if ((late || slow) && !product)
        return !p->write && cbi_op_compares_doubles(op) ? COMPARE_READS : late ? 0 : CBI_SB_AT_ONCE;
    return cbi_sb_latency(c, p, c->chip);
}

/* The same where it leaves its block: integers that become doubles are not there at once, and their
 * sources not read, where sharing a number with them costs what they take. */
static inline int64_t cbi_sb_latency_at_end(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    uint32_t op = cbi_sb_op(c, p->at);
    bool waits =
        !p->is_late && !c->cycles && cbi_op_makes_doubles(op) && cbi_sb_has_slow_integers(c);
    return waits ? cbi_sb_latency(c, p, c->chip) : cbi_sb_latency_of(c, p);
}

/* Does instruction `i` wait for the predicate that an atomic operation has with its sources?  It is
 * there with the result. */
bool cbi_sb_is_for_test(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i);

/* What is left, where the block starts, of the time that a producer of one before it takes, a cycle
 * more than elsewhere; less than 0 if it is there, or too far away. */
int64_t cbi_sb_left_over(const cbi_sb_code *c, uint32_t q, uint32_t block);
/* Would it not be there at the end of the block, though someone there waited for it? */
bool cbi_sb_is_left_at_end(const cbi_sb_code *c, uint32_t q, uint32_t block);

/* Finds blocks, producers and consumers in c->words; place as in cbi_scoreboard_text.  False
 * when a branch leaves the code or there is too much of it. */
bool cbi_sb_read(cbi_sb_code *c, cbi_span info, const uint32_t *place, size_t place_count);
/* Gives code that was read the blocks by another table of branches, if they start at the same
 * instructions; false otherwise. */
bool cbi_sb_follow_blocks(cbi_sb_code *c, cbi_span info, const uint32_t *place, size_t place_count);
/* Makes error barriers that follow a fence wait for it: barrier[i] instructions were put in front
 * of exit i.  If it returns true, the code is another one and has to be read again. */
bool cbi_sb_join_fences(cbi_sb_code *c, const uint8_t *barrier);
/* Makes exits with a barrier in front wait for what arrives meanwhile, and the barrier for a guard
 * of another block; ret_waits[i]: the numbers.  False if that changes nothing. */
bool cbi_sb_meet_exits(cbi_sb_code *c, const uint8_t *barrier, uint8_t *ret_waits);
/* The reverse, for exits whose barrier went: they do not wait for what is there with it only.
 * bare[i]: exit i is one.  False if none did. */
bool cbi_sb_leave_exits(cbi_sb_code *c, const bool *bare);
struct cbi_sb_guide;
/* Gives guards of exits that another one's wait ends a scoreboard of their own, since the barrier
 * needs them earlier; waits gets the numbers for which the barrier could wait instead.  A guide, or
 * NULL, follows.  False if there are none. */
bool cbi_sb_part_guards(cbi_sb_code *c, const uint8_t *barrier, uint8_t *waits,
                        struct cbi_sb_guide *guide);
/* The reverse, for exits whose barrier went. */
bool cbi_sb_join_guards(cbi_sb_code *c, const bool *bare);
/* Special functions that the target does in another order, by instruction. */
typedef struct cbi_sb_reordered {
    bool *reads_new; /* its sources need a scoreboard and have none */
    bool *covered;   /* they need none any more: that of the result stands for them */
    /* Of one that has a scoreboard for it: who needs the result, or writes a source again, in its
     * block and did not have to wait in the order of the input; or CBI_SB_NOWHERE. */
    uint32_t *used_by, *overwritten_by;
} cbi_sb_reordered;

/* Instructions whose results come late on the target, or in another order, by kinds that keep their
 * order (0: it is none), those of them that have no scoreboard in the input and need one, and the
 * predicates that every instruction writes and reads. */
typedef struct cbi_sb_late {
    uint8_t *order;
    bool *is_new;
    const cbi_sb_reordered *reordered; /* what comes in another order, or NULL */
    uint8_t *written, *read;
    bool anew; /* the code has no scoreboards yet: all are in `order` */
    /* Blocks are others than there: what is_new needs a scoreboard for its sources. */
    const struct cbi_sb_code *before;
} cbi_sb_late;

/* Is never more than one of the two carried out, because their guards are opposite? */
bool cbi_sb_excludes(const cbi_sb_code *c, uint32_t i, uint32_t j);
/* Does the slow unit for doubles do it? */
bool cbi_sb_is_in_unit(const cbi_sb_code *c, uint32_t i);
/* Are both of one block, i before j, and done by the slow unit, one after the other? */
bool cbi_sb_keep_unit(const cbi_sb_code *c, uint32_t i, uint32_t j);
/* Does nobody wait for the result?  The load of the stack pointer is a producer that a branch ends,
 * if no instruction of its block needs it. */
bool cbi_sb_is_unwanted(const cbi_sb_code *c, uint32_t q);
/* Does instruction i depend on the producer by its registers? */
bool cbi_sb_touches(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i);
/* Accesses to memory of code that was not scheduled: are the sources of i read when those of j,
 * behind it, are? */
bool cbi_sb_read_in_order(const cbi_sb_code *c, const cbi_sb_late *which, uint32_t i, uint32_t j);
/* Does j need the result of i, a late instruction, or overwrite one of its sources? */
bool cbi_sb_uses_late(const cbi_sb_code *c, const cbi_sb_late *which, uint32_t i, uint32_t j);
bool cbi_sb_overwrites_late(const cbi_sb_code *c, const cbi_sb_late *which, uint32_t i, uint32_t j);
/* Special functions of which the input waits for one and so for those before it, where the target
 * does not keep the order `now` of the input: which->is_new of those that need a scoreboard,
 * which->reordered and the orders, where there are any.  `before`: the order in the input. */
void cbi_sb_find_disordered(cbi_sb_code *c, cbi_sb_late *which, const uint8_t *before,
                            const uint8_t *now);
/* Adds producers, which are in the order of their instructions, sources in front of results, to
 * those of the code; a guide, or NULL, follows. */
void cbi_sb_insert(cbi_sb_code *c, const cbi_sb_producer_list *added, struct cbi_sb_guide *guide);
/* Gives the new ones producers; cycles: the time from each instruction to the next, now, on chip
 * `target`.  A guide, or NULL, follows the producers. */
void cbi_sb_add_late(cbi_sb_code *c, const cbi_sb_late *which, const uint32_t *cycles,
                     uint32_t target, struct cbi_sb_guide *guide);
/* Does a collective sequence that starts at i use the producer inside?  Only that ends it. */
bool cbi_sb_is_used_inside(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i);
/* Is the result there, or are the sources read, at the end of the producer's block? */
bool cbi_sb_is_there(const cbi_sb_code *c, const cbi_sb_producer *p);
/* Fills in c->issue. */
void cbi_sb_find_issue(cbi_sb_code *c);
/* New words for the producers that there are; the R1 load keeps its scoreboard, or loses it.
 * guide: what the rules get wrong of the input, or NULL. */
void cbi_sb_assign(const cbi_sb_code *c, bool keep_stack_load, const struct cbi_sb_guide *guide,
                   cbi_sass *ret_words);
/* Finds what the rules get wrong of the input.  False if with that they still do not give the words
 * that the code has. */
bool cbi_sb_learn(const cbi_sb_code *c, struct cbi_sb_guide *ret_guide);
/* Do the rules give the words that the code has? */
bool cbi_sb_is_reproduced(const cbi_sb_code *c);

/* scoreboard_stalls.c: stall counts, yield bits and reuse bits of `words`, whose scoreboards are
 * not those of the input, c->words. */
void cbi_sb_settle_stalls(const cbi_sb_code *c, cbi_sass *words);
/* May the R1 load lose its scoreboard, or get it back? */
bool cbi_sb_qualifies(const cbi_sb_code *c);
/* c->words from a text, without the NOPs behind the last branch; false when there are none. */
bool cbi_sb_read_words(cbi_sb_code *c, const uint8_t *bytes, size_t size);
/* The order in which blocks are taken. */
cbi_u32_list cbi_sb_order(const cbi_sb_code *c);

/* Does a stretch of time end with the instruction, within its block?  The start of a collective
 * sequence is one by itself, like a call, and the rest of the sequence is one. */
bool cbi_sb_ends_stretch(const cbi_sb_code *c, uint32_t i);

/* Appends the instructions that can follow i. */
void cbi_sb_push_next(const cbi_sb_code *c, uint32_t i, cbi_u32_list *todo);

/* The same for j on the way from i, and the first instructions of loops that hold i and go around
 * there. */
void cbi_sb_push_behind(const cbi_sb_code *c, uint32_t i, uint32_t j, cbi_u32_list *loops,
                        cbi_u32_list *todo);

#endif
