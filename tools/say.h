/* Messages on stderr.  Names in them come from strangers' files: nothing in them acts on a
 * terminal. */
#ifndef CUBIND_SAY_H
#define CUBIND_SAY_H

#include "out.h"

/* One line, as printf; the line's end is added. */
void cbi_say(const char *format, ...) CBI_FORMAT(1, 2);
/* The same for messages that may have several lines: what a compiler said, for example. */
void cbi_say_lines(const char *format, ...) CBI_FORMAT(1, 2);

/* What was printed to stdout must have arrived: if not, says so and gives `failed`, else `code`. */
int cbi_check_stdout(const char *program, int code, int failed);

#endif
