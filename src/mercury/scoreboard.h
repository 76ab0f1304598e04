/* Scoreboard numbers of code whose first load, of a stack pointer that nobody reads, loses its own.
 *
 * docs/mercury.md, "Scoreboards after the unused stack pointer load", has the rules and the
 * figures.
 */
#ifndef CBI_MERCURY_SCOREBOARD_H
#define CBI_MERCURY_SCOREBOARD_H

#include "base/base.h"

/* Drops the scoreboard of the R1 load and assigns all others anew, in place, as the final link does
 * for an entry without calls.  text: its SASS after relocation; info: the contents of its .nv.info
 * (for the targets of indexed branches), place: where each of the input's instructions went in
 * bytes, NULL if none moved.  Leaves the text as it is, and returns false, when the load has no
 * scoreboard, when R1 is read, or when the model does not reproduce the numbers that the input has:
 * then it must not be trusted with the output.  Never fails. */
bool cbi_scoreboard_assign(cbi_ctx *ctx, uint8_t *text, size_t size, cbi_span info,
                           const uint32_t *place, size_t place_count);

#endif
