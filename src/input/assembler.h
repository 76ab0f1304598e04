/* Runs of ptxas, several at a time. */
#ifndef CBI_ASSEMBLER_H
#define CBI_ASSEMBLER_H

#include "input/input.h"

/* The names under which nvlink's built-in assembler reports: the source in its messages, the object
 * in its notes. */
#define CBI_PTX_NAME    "application ptx input"
#define CBI_OBJECT_NAME "elf.o"

/* At most as many programs at a time, however many cores there are. */
enum { CBI_ASSEMBLERS_MAX = 32 };

typedef struct cbi_assembly {
    const char *program; /* absolute path */
    cbi_strings args;    /* with the program's name; files by the names above */
    cbi_span text;
    /* what comes back, in the context's memory */
    int exit_status; /* -1: the program could not be run; -2: no folder for it, `why` is the errno
                      */
    int why;
    cbi_span cubin; /* if exit_status is 0; may be changed */
    cbi_span log;
    double milliseconds;
} cbi_assembly;

/* Runs them all, `at_a_time` of them at once; 0: as many as there are cores. */
void cbi_assemble(cbi_ctx *ctx, cbi_assembly *const *jobs, size_t count, unsigned at_a_time);

#endif
