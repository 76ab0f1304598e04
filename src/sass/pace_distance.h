/* Distances between instructions, and what they depend on: for those who time blocks. */
#ifndef CBI_PACE_DISTANCE_H
#define CBI_PACE_DISTANCE_H

#include "sass/pace_code.h"

enum {
    CBI_PACE_FAR =
        20, /* as far apart as in the input; no result takes longer without a scoreboard */
    CBI_PACE_SLOW_EXPLAINS =
        24,               /* cycles that the slow unit's instructions take on sm_100, at most */
    CBI_PACE_CONTROL = 5, /* stall count of a branch */
    CBI_PACE_BARRIER = 6, /* ... of a barrier */
    CBI_PACE_DEPBAR = 4,  /* ... of a wait for asynchronous copies */
};

/* Predicates of an instruction, a bit each. */
typedef struct cbi_pace_flags {
    uint8_t written, guard, read;
    uint8_t uniform_written, uniform_guard, uniform_read;
} cbi_pace_flags;

/* What an instruction uses, as far as nothing between has written it. */
typedef struct cbi_pace_uses {
    cbi_operands registers;
    cbi_pace_flags predicates;
} cbi_pace_uses;

cbi_pace_uses cbi_pace_uses_of(const cbi_sb_code *c, uint32_t j);

/* Instruction i, if it is always carried out, hides what writes the same before it. */
void cbi_pace_hide(const cbi_sb_code *c, uint32_t i, cbi_pace_uses *of);

/* Cycles from instruction i to j that nothing else watches over; `of`: what j uses, but for what is
 * written between them. */
uint32_t cbi_pace_distance(const cbi_sb_code *c, uint32_t i, uint32_t j, const cbi_pace_uses *of,
                           bool adjacent);

/* ... of these the cycles for which i keeps the unit that j needs, too; 0 if there is none.  Waits
 * of others between them do not make up for these. */
uint32_t cbi_pace_unit_distance(const cbi_sb_code *c, uint32_t i, uint32_t j);

/* What j now writes late must not be overtaken by i, which writes it, too: cycles between them. */
uint32_t cbi_pace_overtaking(const cbi_sb_code *c, uint32_t i, uint32_t j);

/* Cycles from i to j in the input that the units explain in which they are computed there. */
int64_t cbi_pace_explained(const cbi_sb_code *c, uint32_t i, uint32_t j);

/* The same on the chip whose time counts. */
int64_t cbi_pace_unit_time(const cbi_sb_code *c, uint32_t i, uint32_t j);

/* Doubles on a chip that does them fast, of which j does not need i: nothing keeps them apart but
 * what their unit takes. */
bool cbi_pace_passes_doubles(const cbi_sb_code *c, uint32_t i, uint32_t j);

/* Cycles of the stall count of instruction i, before `end`, that are no time in estimates, but pass
 * for units: those that it has because the warp may change, or as a barrier that only arrives, or
 * for the second half of 64 bits, but for the first. */
uint32_t cbi_pace_own_stall(const cbi_sb_code *c, uint32_t i, uint32_t end);

/* What the stall count stands for in estimates of time: without those cycles, and nothing for the
 * parts of a fence but for a report of errors. */
uint32_t cbi_pace_reckoned(const cbi_sb_code *c, uint32_t i, uint32_t end);

/* Does a scoreboard watch over the results of the kind? */
bool cbi_pace_is_late(cbi_sass_kind kind);

/* ... over those of instruction i? */
bool cbi_pace_is_watched(const cbi_sb_code *c, uint32_t i);

/* Cycles for which an instruction occupies the slow unit, if the chip has one. */
uint32_t cbi_pace_slow_time(const cbi_sb_code *c, uint32_t i);

/* Cycles from instruction i to the end of its block, for what follows. */
uint32_t cbi_pace_leaves_after(const cbi_sb_code *c, uint32_t i);

#endif
