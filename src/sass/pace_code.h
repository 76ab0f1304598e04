/* What the parts of the change of pace share. */
#ifndef CBI_PACE_CODE_H
#define CBI_PACE_CODE_H

#include "sass/scoreboard_code.h"

/* The longest stall count where the warp is not let go. */
enum { CBI_PACE_LONGEST_HELD = 11 };

/* Cycles for which an instruction occupies the one unit of sm_103 for doubles and products of
 * bytes; 0 for others. */
uint32_t cbi_pace_occupancy(uint32_t op);

/* In code that is scheduled anew: a double that comes after a fixed time, as the chip is none that
 * has a slow unit for it. */
bool cbi_pace_is_fast_double(const cbi_sb_code *c, uint32_t i);

/* A wait for the whole warp ends a block; does time go on, as it has a guard, behind it, at i? */
bool cbi_pace_goes_on_at(const cbi_sb_code *c, uint32_t i);

/* Cycles that pass for the unit from an instruction to the next: none with a dummy load, one more
 * than elsewhere in a fence. */
uint32_t cbi_pace_unit_cycles(cbi_sass w, uint32_t cycles);

/* Predicates of the code, not uniform ones, that an instruction writes and reads, one bit each. */
void cbi_pace_predicates(cbi_sass w, uint8_t *ret_written, uint8_t *ret_read);

/* Does a special function take the unit for another time on the target? */
bool cbi_pace_is_other(cbi_sass w);

/* Which of those that keep their order on the target a special function is of; 0 for others. */
uint8_t cbi_pace_special_order(cbi_sass w);

/* Is it MUFU.EX2? */
bool cbi_pace_is_power(cbi_sass w);

/* Is it arithmetic whose result comes after a fixed time? */
bool cbi_pace_is_math(uint32_t op);

/* Cycles from each instruction to the next, scoreboards and waits of c->words being final. idle[i]:
 * the instruction only takes time and goes. */
void cbi_pace_cycles(const cbi_sb_code *c, const bool *idle, uint32_t *ret_cycles);

/* The same for one block by itself. */
void cbi_pace_block_cycles(const cbi_sb_code *c, const cbi_sb_block *block, const bool *idle,
                           uint32_t *ret_cycles);

/* Times in a block, whose instructions are taken one after the other, as the compiler reckons. */
typedef struct cbi_pace_clock {
    const cbi_sb_code *c;
    uint32_t start; /* of the block; from there on: */
    uint32_t moved; /* the last one whose delay is not that of the one before it */
    bool waited;    /* has a wait of the block taken time? */
    int64_t *slot; /* when each would be issued without waits, by what its stall counts stand for */
    int64_t *stalls; /* ... by the stall counts themselves */
    int64_t *issue;  /* when it is issued */
} cbi_pace_clock;

/* Tells when instruction i of the block, in front of `end`, is issued: when what it waits for has
 * arrived.  Stall counts are there for distances, which waits make up for, but nothing is issued
 * before their sum. */
void cbi_pace_advance(cbi_pace_clock *clock, uint32_t i, uint32_t end, int64_t arrival);

/* Cycles from an instruction to the end of its block, for the first instruction of the next one; 0
 * where a scoreboard watches over what it writes. */
uint32_t cbi_pace_end_latency(cbi_sass w, const cbi_operands *operands);

/* Is nothing known about the registers and predicates that the instruction uses? */
bool cbi_pace_is_opaque(uint32_t op);

/* May such an instruction read a register of the set, or write it?  It uses those that its fields
 * name, each the first of four at most (accesses of 128 bits, textures; the fragments of tensor
 * memory, which are longer, are in the table of instructions), and writes those of two of them at
 * most. */
bool cbi_pace_may_meet(cbi_sass w, const cbi_regset *set, bool writes);

/* Are late results there where they are needed, sources read where they are overwritten, and, with
 * cycles, the distances kept that the slow unit needs? */
bool cbi_pace_is_safe(const cbi_sb_code *c, const cbi_sb_late *which, const uint32_t *cycles);

/* Does everything that c->words waits for still come in time with the numbers and waits of `now`?
 * Nothing may touch a register of a pending producer that does not touch it in c->words. */
bool cbi_pace_keeps_waits(const cbi_sb_code *c, const cbi_sass *now);

#endif
