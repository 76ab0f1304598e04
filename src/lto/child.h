/* Work of somebody else's code in a child process with limits: what goes wrong there goes wrong
 * there. */
#ifndef CBI_CHILD_H
#define CBI_CHILD_H

#include "base/base.h"

typedef struct cbi_child_limits {
    unsigned seconds;   /* of wall time; 0: none */
    unsigned mebibytes; /* of address space; 0: none */
} cbi_child_limits;

typedef enum cbi_child_end {
    CBI_CHILD_DONE,
    CBI_CHILD_NOT_STARTED, /* errno says why */
    CBI_CHILD_TIMEOUT,
    CBI_CHILD_DIED /* by a signal, or it left on its own */
} cbi_child_end;

/* Appends bytes to what the child says.  False if that failed; the child should give up then. */
bool cbi_child_say(int to, const void *data, size_t size);

/* Spans are the context's. */
typedef struct cbi_child_result {
    cbi_child_end end;
    int signal;       /* that killed it, or 0 */
    cbi_span said;    /* with CBI_CHILD_DONE: all that it said */
    cbi_span printed; /* its last words on the standard error output, at most 2 KiB */
} cbi_child_result;

/* Forks and runs work(user, to) in the child, which has no standard input and output; what it
 * prints as errors is kept from the user's terminal. */
cbi_child_result cbi_child_run(cbi_ctx *ctx, void (*work)(void *user, int to), void *user,
                               const cbi_child_limits *limits);

#endif
