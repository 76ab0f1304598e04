/* Sources that stay in the operand cache.
 *
 * Arithmetic reads its registers through three places, and each place keeps an even and an odd
 * register for the next instruction that reads the same one there.  The reuse bits say for which
 * sources that is so. */
#ifndef CBI_REUSE_H
#define CBI_REUSE_H

#include "sass/scoreboard_code.h"

/* The reuse bits of instruction i among `words`, by stall counts and yield bits of these; pause[j]:
 * NOPs stand behind instruction j, or NULL. */
uint32_t cbi_sass_reuse_of(const cbi_sb_code *c, const cbi_sass *words, const bool *pause,
                           uint32_t i);

#endif
