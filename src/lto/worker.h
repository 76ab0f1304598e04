/* The part of link-time optimization that runs in the child: loads the libraries and calls them. */
#ifndef CBI_LTO_WORKER_H
#define CBI_LTO_WORKER_H

#include "base/base.h"
#include "input/input.h"

/* How far the child came. */
typedef enum cbi_lto_stage {
    CBI_LTO_NO_LIBRARY,  /* nvJitLink could not be loaded: the text says why */
    CBI_LTO_NO_COMPILER, /* likewise for libnvvm, or it failed */
    CBI_LTO_FAILED,      /* nvJitLink returned `status`; the text is its error log */
    CBI_LTO_FINISHED,    /* the output is there */
    CBI_LTO_STAGES
} cbi_lto_stage;

typedef struct cbi_lto_job {
    cbi_strings libraries; /* names to try, in this order */
    cbi_strings compilers; /* of libnvvm; empty: not needed */
    cbi_strings options;
    const cbi_lto_input *inputs;
    size_t input_count;
    const char *empty_ptx; /* an input without LTO-IR to be added, or NULL */
    bool wants_ptx;
} cbi_lto_job;

/* What the child says: stage and status, then three byte strings with their lengths. */
typedef struct cbi_lto_reply {
    cbi_lto_stage stage;
    int status;
    cbi_span error; /* why it failed; no NUL in it */
    cbi_span info;  /* what the compilers print */
    cbi_span output;
} cbi_lto_reply;

/* Name of the function that only cbi_lto_worker's own module refers to. */
#define CBI_LTO_ANCHOR "__cubind_anchor"

/* For cbi_child_run(); user is a cbi_lto_job. */
void cbi_lto_worker(void *user, int to);

/* Reads what it said.  False if that is no reply. */
bool cbi_lto_read_reply(cbi_span said, cbi_lto_reply *ret_reply);

#endif
