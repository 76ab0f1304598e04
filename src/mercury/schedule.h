/* Code that loses its schedule, or gets one. */
#ifndef CBI_MERCURY_SCHEDULE_H
#define CBI_MERCURY_SCHEDULE_H

#include "mercury/pace.h"
#include "sass/scoreboard_code.h"

/* As -O0 has it: everything takes the longest stall count and waits for results, number 0, and
 * sources, number 1; but for the branch to itself behind the code. */
void cbi_schedule_lose(cbi_sb_code *code);

/* Stall counts, scoreboards and kept sources for code that was read and has none.  idle as in
 * cbi_pace_code.  False when not all of it is understood; it must then be left as it was. */
bool cbi_schedule_make(cbi_sb_code *code, const cbi_scoreboard_text *text, const bool *idle,
                       cbi_pace *pace);

/* Scoreboards anew, and the stall counts at the ends of its blocks, for code whose blocks are other
 * ones than it was compiled with: by text->info and text->labels.  False when what comes out is not
 * safe. */
bool cbi_schedule_follow(cbi_sb_code *code, const cbi_scoreboard_text *text, bool *idle,
                         cbi_pace *pace);

/* pace.c: what is to be said of late instructions, of which none is known yet. */
cbi_sb_late cbi_pace_begin_late(const cbi_sb_code *c);

/* What NOPs wait for that are made anew, as the last ones of their blocks may, is waited for in
 * front of them. */
void cbi_pace_wait_ahead(cbi_sass *words, uint32_t count, const bool *idle);

/* ... stall counts within the field, by the cycles, and the yield flag that goes with them. */
void cbi_pace_set_stalls(const cbi_sb_code *c, cbi_pace *pace);

/* ... and which sources stay in the operand cache: decided again where the answer is another one
 * than for the input, or everywhere when there is none. */
void cbi_pace_keep_sources(const cbi_sb_code *c, const cbi_sb_code *before, const cbi_sass *input,
                           cbi_pace *pace);

#endif
