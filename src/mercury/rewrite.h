/* Code that the final link shortens: where each place of the input's text went. */
#ifndef CBI_MERCURY_REWRITE_H
#define CBI_MERCURY_REWRITE_H

#include "mercury/mercury.h"

typedef struct cbi_rewrite {
    const cbi_func *func;
    uint8_t *text;
    uint64_t size;
    cbi_buf capsule;
    uint64_t old_size;
    uint32_t *place;  /* old instruction -> new offset; one more for the end */
    uint32_t *self;   /* the same, past what was put in front of the instruction */
    uint32_t *frame;  /* place, but behind the instruction before; NULL where that is the same */
    const bool *bare; /* old instruction -> an exit whose barrier goes */
    CBI_VEC(uint32_t) lengthened; /* offsets: a cycle more for the exit behind, which waits */
} cbi_rewrite;

/* Rewrites every function that needs it, after its text was relocated. */
void cbi_mercury_rewrite(const cbi_linker *lk);

/* The function's rewrite, NULL when its code stays. */
const cbi_rewrite *cbi_rewrite_of(const cbi_linker *lk, const cbi_func *func);

/* The capsule of its code as it is now. */
cbi_buf cbi_rewrite_capsule(const cbi_linker *lk, const cbi_func *func);

/* New offset of an old one; rewrite may be NULL. */
uint64_t cbi_rewrite_map(const cbi_rewrite *rewrite, uint64_t offset);

/* The same for frame descriptions, for which NOPs in front belong to the instruction. */
uint64_t cbi_rewrite_frame(const cbi_rewrite *rewrite, uint64_t offset);

/* The same for the instruction itself: branches go to what was put in front of it. */
uint64_t cbi_rewrite_self(const cbi_rewrite *rewrite, uint64_t offset);

/* Offset of a branch's target from the next instruction, in bytes; false for instructions without
 * one. */
bool cbi_rewrite_distance(const uint8_t *insn, int64_t *ret_offset);
void cbi_rewrite_set_distance(uint8_t *insn, int64_t offset);

/* Makes a copy of the old instruction, at its new place, go to where its target went. */
void cbi_rewrite_retarget(const cbi_rewrite *rewrite, uint32_t old, uint8_t *insn);

/* May the finalizer touch the function at all?  Entries without calls only. */
bool cbi_mercury_may_rewrite(const cbi_linker *lk, const cbi_func *func);

#endif
