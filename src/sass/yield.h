/* Which instructions let the warp go: those without the bit that says not to
 * (docs/code-rewriting.md, "Yield"). */
#ifndef CBI_YIELD_H
#define CBI_YIELD_H

#include "sass/scoreboard_code.h"

/* Does it take a time that is known, as arithmetic does? */
bool cbi_yield_has_fixed_time(const cbi_sb_code *c, uint32_t i);

/* Does an instruction with a stall count keep the warp?  `since`: cycles since one did not. */
bool cbi_yield_keeps(bool fixed, uint32_t stall, uint32_t since);

/* Does the count of those cycles begin with instruction i? */
bool cbi_yield_starts_anew(const cbi_sb_code *c, uint32_t i);

/* The count behind instruction i of `words`, which takes `stall` cycles; `since`: in front of it.
 */
uint32_t cbi_yield_since(const cbi_sass *words, uint32_t i, uint32_t stall, uint32_t since);

#endif
