/* Code that changes its length, by itself: nothing here knows of a link. */
#ifndef CBI_MERCURY_REWRITE_CODE_H
#define CBI_MERCURY_REWRITE_CODE_H

#include "mercury/rewrite.h"

enum { CBI_BARRIER_LENGTH = 3 }; /* of the barrier in front of an exit, at most */

/* What other instructions of the function need. */
typedef struct cbi_needs {
    bool loads;  /* asynchronous copies: the dummy loads */
    bool membar; /* barriers in shared memory: fences of this kind */
    bool exit;   /* stores to surfaces: the MEMBARs at exits */
} cbi_needs;

/* What changes, by instruction of the old code. */
typedef struct cbi_changes {
    bool *drop;
    uint8_t *barrier; /* instructions in front: of an exit its barrier, or parts of a fence */
    bool *bare;       /* an exit whose barrier goes */
    bool *idle;       /* a NOP in front of an exit, which only fills */
    uint8_t *pause;   /* an exit: so many NOPs stay in front of it, behind its barrier */
    uint8_t *more;    /* an exit: so many of these are new */
    uint32_t *cycles; /* an exit: with all of them; 0 where its stall count says it */
    uint32_t chip;
} cbi_changes;

/* Of so many instructions.  In one piece: forgetting gives it back. */
cbi_changes cbi_changes_none(cbi_ctx *ctx, uint32_t total);
void cbi_changes_forget(cbi_ctx *ctx, cbi_changes *changes, uint32_t total);

/* An exit that gets a barrier, or loses it: its cycles, and the NOPs that they need. */
void cbi_rewrite_plan_exit(const uint8_t *text, const bool *target, uint32_t at,
                           cbi_changes *changes);

/* Marks what goes within one run of instructions; false: nothing. */
bool cbi_rewrite_mark_run(const uint8_t *text, uint32_t first, uint32_t count, cbi_needs keep,
                          bool *drop);

/* Where branches go, of so many instructions. */
bool *cbi_rewrite_targets(cbi_ctx *ctx, const uint8_t *text, uint32_t total);

/* Length of the barrier in front of the exit: without a memory barrier of its own where that would
 * go again at once, or behind a fence of the block that did not get an error barrier. */
uint8_t cbi_rewrite_barrier_length(const uint8_t *text, const bool *target, uint32_t at,
                                   bool may_drop);

/* The code at its new places: without what is dropped, and with barriers, or parts of fences. Needs
 * rw->old_size and room for places; sets text, size and places. */
void cbi_rewrite_move(cbi_ctx *ctx, cbi_rewrite *rw, const uint8_t *old, const bool *target,
                      const cbi_changes *changes);

/* Once scoreboards are assigned: an exit that does not wait any more takes no cycle in front. */
void cbi_rewrite_settle_exits(const cbi_rewrite *rw);

#endif
