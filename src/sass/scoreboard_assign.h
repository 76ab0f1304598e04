/* The assignment of scoreboards, which reads the code and never changes what was read. */
#ifndef CBI_SCOREBOARD_ASSIGN_H
#define CBI_SCOREBOARD_ASSIGN_H

#include "sass/scoreboard.h"
#include "sass/scoreboard_code.h"

/* Where the rules do not give what the input has, found by comparing one decision at a time; what
 * the compiler decided otherwise there, said without numbers, so that it holds when others have
 * changed. */
typedef enum cbi_sb_exception {
    CBI_SB_AS_RULES,
    CBI_SB_JOINS,  /* takes the number of one of `with` */
    CBI_SB_MERGES, /* the same, if no number is free */
    CBI_SB_AVOIDS, /* takes a free number, but none of `with` */
    CBI_SB_KEEPS,  /* keeps its own, whatever the reason */
} cbi_sb_exception;

/* By how much a number costs more than another one. */
typedef struct cbi_sb_margin {
    int64_t stall, slack; /* cycles, as in rule 7 */
} cbi_sb_margin;

typedef struct cbi_sb_guide {
    uint8_t *exception;    /* cbi_sb_exception, by producer */
    cbi_sb_margin *margin; /* by producer that merges: what the input's number costs more */
    cbi_u32_list *with;    /* producers, by producer */
    cbi_u32_list *more;    /* by instruction: producers that it waits for, too */
    cbi_u32_list *fewer;   /* ... or does not wait for */
    uint32_t count;        /* exceptions and waits */
} cbi_sb_guide;

/* Does it call functions, so that calls are blocks of their own? */
bool cbi_sb_has_call(const cbi_sb_code *c);

/* A shared number hides where sources are done: of the readings of a text the one that fits it
 * best.  The guide has no exceptions where the rules give the input's own numbers.  False when the
 * text cannot be read. */
bool cbi_sb_read_best(const cbi_sb_code *code, const cbi_scoreboard_text *text,
                      cbi_sb_code *ret_best, cbi_sb_guide *ret_guide);

/* Instructions put in front of exits, by exit.  False if there are none. */
bool cbi_sb_find_barriers(const cbi_sb_code *c, const cbi_scoreboard_text *text,
                          uint8_t *ret_barrier);

/* What is left, at the end of a block, of the time that a pending producer takes. */
typedef struct cbi_sb_left {
    uint32_t producer;
    int64_t cycles; /* more than 0 */
} cbi_sb_left;
typedef CBI_VEC(cbi_sb_left) cbi_sb_left_list;

typedef struct cbi_sb_assignment {
    const cbi_sb_code *c;
    uint8_t *number;        /* by producer */
    bool *present;          /* by producer */
    bool *unflushed;        /* by producer: where its block or stretch ends nobody waits for it */
    bool *done;             /* by block */
    cbi_sb_sparse *leaving; /* by block: producers pending at its end */
    uint64_t *entering;     /* those of the block in work */
    cbi_sb_left_list *left; /* by block: those of them that are not there yet, but for long ones */
    cbi_u32_list live;      /* pending at the current place */
    uint8_t dedicated;  /* numbers that only textures (5) and async copies (0) take, a bit each */
    uint8_t reservable; /* the number that may be reserved for long producers */
    bool has_long;      /* the function has a long producer with a real destination */
    bool reserved;      /* it is */
    uint8_t open;       /* numbers that were free for the producer in work */
    uint32_t holder[CBI_SB_NUMBERS]; /* who took the number last */
    const cbi_sb_guide *guide;
    bool by_rules;         /* no wait stays as it is in the input */
    cbi_sb_guide *learned; /* numbers stay as they are, and exceptions are written down */
} cbi_sb_assignment;

/* Rules 1 to 7: numbers of all producers that there are.  With keep_stack_load the R1 load is one.
 */
void cbi_sb_assign_numbers(cbi_sb_assignment *a, bool keep_stack_load);

/* Rules 8 and 9: what each instruction waits for, one bit for each number. */
void cbi_sb_place_waits(const cbi_sb_assignment *a, uint8_t *ret_wait);

/* May instruction x wait for it, as somebody who needs it, or where its block or stretch ends? */
static inline bool cbi_sb_is_consumer(const cbi_sb_assignment *a, uint32_t q, uint32_t x)
{
    const cbi_sb_producer *p = &a->c->producers.items[q];
    if (!cbi_sb_contains(&p->consumers, x))
        return false;
    return !a->unflushed[q] ||
           (cbi_sb_last_of(a->c, p->block) != x &&
            (a->c->block_of[x] != p->block || !cbi_sb_is_before_sequence(a->c, x)));
}

/* Rule 5: does the producer take the reserved number? */
static inline bool cbi_sb_takes_reserved(const cbi_sb_assignment *a, uint32_t q)
{
    const cbi_sb_producer *p = &a->c->producers.items[q];
    return a->reserved && a->present[q] && p->is_long && p->local == CBI_SB_NOWHERE;
}

/* Numbers of a set of producers, one bit each. */
uint8_t cbi_sb_numbers_in(const cbi_sb_assignment *a, const uint64_t *set);

#endif
