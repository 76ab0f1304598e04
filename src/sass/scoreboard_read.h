/* The steps in which the scoreboard model reads code.  Each fills in members of the code for those
 * behind it. */
#ifndef CBI_SCOREBOARD_READ_H
#define CBI_SCOREBOARD_READ_H

#include "sass/scoreboard_code.h"

/* scoreboard_flow.c: blocks, block_of, position, group.  False when a branch leaves the code. */
bool cbi_sb_find_blocks(cbi_sb_code *c, cbi_span info, const uint32_t *place, size_t place_count);

/* scoreboard_pending.c: first, row, stack_load, and a producer for each scoreboard that is held. */
void cbi_sb_find_producers(cbi_sb_code *c);
/* pending, later, and as consumers of each producer the waits that end it. */
void cbi_sb_find_pending(cbi_sb_code *c);

/* The set, into `old` if that is not NULL. */
cbi_sb_sparse *cbi_sb_take_pending(const cbi_sb_code *c, const uint64_t *set, cbi_sb_sparse *old);
/* Numbers that instruction i waits for: by its mask, or the one that it names. */
uint8_t cbi_sb_waited(const cbi_sb_code *c, uint32_t i);
/* Does it wait for the number that the producer holds? */
static inline bool cbi_sb_waits_for(const cbi_sb_code *c, uint32_t i, const cbi_sb_producer *p)
{
    return cbi_sb_waited(c, i) >> p->old & 1;
}
/* Does a wait of instruction i end the producer? */
bool cbi_sb_ends(const cbi_sb_code *c, uint32_t i, const cbi_sb_producer *p);

/* Does the operation read uniform registers late, so that every exit waits for it?  Textures,
 * surfaces, barriers in shared memory that are set up and bulk operations do; all others read them
 * at once. */
bool cbi_sb_reads_uniform_late(uint32_t op);

/* The predicates that a producer writes with its result, one bit each. */
uint8_t cbi_sb_late_predicates(const cbi_sb_code *c, const cbi_sb_producer *p);

/* scoreboard_needs.c: does instruction i depend on the producer?  Sources that the producer
 * overwrites itself do not count: who writes those next needs the result. */
bool cbi_sb_needs(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i);
/* The first instruction of its block that does, or CBI_SB_NOWHERE. */
uint32_t cbi_sb_first_need(const cbi_sb_code *c, const cbi_sb_producer *p);
/* Is instruction i an exit that waits for the producer whatever time has passed, since what it
 * holds is uniform (rule 8)? */
bool cbi_sb_is_met_by_some(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i);
/* Is it a result without a destination, as that of an atomic operation of which only the effect
 * counts? */
bool cbi_sb_is_unseen(const cbi_sb_code *c, const cbi_sb_producer *p);
/* Can instructions be told that depend on it, by its registers or, of a fence, by what they are? */
bool cbi_sb_names_registers(const cbi_sb_code *c, const cbi_sb_producer *p);

/* scoreboard_consumers.c: local, starts, flush, hidden, and the real consumers. */
void cbi_sb_find_consumers(cbi_sb_code *c);
/* What waits for the R1 load, which nobody needs: the end of its block, or else the first call or
 * collective sequence on every path. */
void cbi_sb_wait_for_stack_load(cbi_sb_code *c, bool at_end);

/* scoreboard_flushed.c: flush and timed of what ends of blocks wait for by its time. */
void cbi_sb_find_flushed(cbi_sb_code *c);

/* Which loops hold the warp. */
void cbi_sb_find_held(cbi_sb_code *c);

#endif
