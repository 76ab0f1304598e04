/* Scoreboard numbers of code whose first load, of a stack pointer that nobody reads, loses its own.
 *
 * docs/scoreboards.md has the rules and the
 * figures.
 */
#ifndef CBI_SCOREBOARD_H
#define CBI_SCOREBOARD_H

#include "base/base.h"

/* SASS after relocation, whose scoreboards are assigned in place. */
typedef struct cbi_scoreboard_text {
    uint8_t *bytes;
    size_t size;
    cbi_span info;         /* contents of its .nv.info, for the targets of indexed branches */
    cbi_span own_info;     /* the same as it was compiled, where `info` is another function's */
    const bool *labels;    /* instructions that start blocks, whatever the code says, or NULL */
    const uint32_t *leads; /* by instruction: one more than where a branch goes whose label another
                              function brought, or 0; or NULL */
    const uint32_t *place; /* where each of the input's instructions went in bytes, NULL: nowhere */
    const uint32_t *self;  /* the same past what was put in front of the instruction */
    size_t places;
    uint32_t chip, target; /* for which it was compiled, and is linked */
    bool holds_loops;      /* innermost loops never let the warp go */
} cbi_scoreboard_text;

/* Drops the scoreboard of the R1 load and assigns all others anew, as the final link does for an
 * entry without calls.  Leaves the text as it is, and returns false, when the load has no
 * scoreboard, when R1 is read, or when the model does not reproduce the numbers that the input has:
 * then it must not be trusted with the output.  Never fails. */
bool cbi_scoreboard_assign(cbi_ctx *ctx, const cbi_scoreboard_text *text);

/* The reverse: gives the R1 load of such an entry its scoreboard, as all have that are linked with
 * -r or -g.  Leaves the text as it is where the model does not reproduce it. */
void cbi_scoreboard_restore(cbi_ctx *ctx, const cbi_scoreboard_text *text);

/* Makes exits wait for what arrives while the barriers in front of them run, or, where a barrier
 * went, no longer, and assigns the numbers that get free by that.  reads_fences: barriers wait for
 * the read scoreboard of a fence directly before them.  Where the model needs exceptions to
 * reproduce the input and what comes out is not safe, only the waits are added. */
void cbi_scoreboard_meet_exits(cbi_ctx *ctx, const cbi_scoreboard_text *text, bool reads_fences);

#endif
