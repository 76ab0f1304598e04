/* Code whose schedule changes, while its instructions and their order stay.
 *
 * Code of sm_100 for sm_103, which computes doubles and byte products at another pace: results come
 * late, behind a scoreboard, and the unit takes a new instruction after many cycles only.  Rules
 * and experiments: docs/code-rewriting.md, "sm_100 objects linked for sm_103".
 *
 * Functions that nvlink gives the options of another one of their name: they lose their schedule,
 * or get one ("Functions of one name" there). */
#ifndef CBI_MERCURY_PACE_H
#define CBI_MERCURY_PACE_H

#include "mercury/mercury.h"
#include "sass/operands.h"
#include "sass/scoreboard.h"

/* New control bits of a text, instruction by instruction. */
typedef struct cbi_pace {
    cbi_sass *words;
    uint32_t *cycles; /* to the next instruction; what exceeds a stall count is filled with NOPs */
    bool *held; /* ... or, as the warp is not let go, with sums of nothing, which never happen */
    uint32_t count;
} cbi_pace;

/* The longest stall count of instruction i. */
uint32_t cbi_pace_longest(const cbi_pace *pace, uint32_t i);

/* Is it what fills time where the warp is not let go? */
bool cbi_pace_is_held_filler(cbi_sass w);

/* Takes no operands, and lasts `cycles`. */
cbi_sass cbi_pace_filler(bool held, uint32_t cycles);

/* Is code of chip `sm` for chip `target` changed at all? */
bool cbi_pace_applies(uint32_t sm, uint32_t target);

/* Does the name of a function say that innermost loops may hold the warp? */
bool cbi_pace_holds_loops(const char *function);

/* Does code of chip `sm` have instructions that chip `target` computes at another pace? */
bool cbi_pace_differs(uint32_t sm, uint32_t target, const uint8_t *text, size_t size);

/* Branches, calls and returns: what their stall counts cannot say is in NOPs in front of them. */
bool cbi_pace_fills_ahead(uint32_t op);

/* schedule: what becomes of the schedule.  drop_stack_load: an R1 load that nobody needs may lose
 * its scoreboard.  idle[i]: instruction i is a NOP that only takes time; those that start a block,
 * which stay, are cleared.  False, with nothing written, when the code cannot be followed. */
bool cbi_pace_code(cbi_ctx *ctx, const cbi_scoreboard_text *text, cbi_schedule schedule,
                   bool drop_stack_load, bool *idle, cbi_pace *ret_pace);

/* The same for a function of the link whose code is `text`: its rewrite, behind the one it has.
 * False as above. */
bool cbi_pace_rewrite(const cbi_linker *lk, const cbi_func *func, const cbi_scoreboard_text *text,
                      cbi_schedule schedule, bool drop_stack_load);

/* The same for linked code, in place: its scheduling bits.  False, with nothing written, where it
 * cannot be followed, or where instructions come or go. */
bool cbi_pace_in_place(cbi_ctx *ctx, const cbi_scoreboard_text *text, cbi_span capsule);

#endif
