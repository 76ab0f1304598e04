/* The part of link-time optimization that runs in the child: loads the libraries and calls them. */
#ifndef CBI_LTO_WORKER_H
#define CBI_LTO_WORKER_H

#include "base/base.h"
#include "input/input.h"
#include "lto/lto.h"

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
    cbi_strings compilers; /* of libnvvm, for the module */
    const char *module;    /* NVVM IR of one more input, or NULL */
    bool module_first;     /* before the others, else behind them */
    cbi_strings options;
    const cbi_lto_piece *inputs;
    size_t input_count;
    const char *empty_ptx; /* an input without LTO-IR to be added, or NULL */
    bool wants_ptx;
    bool goes_on; /* an input that is refused is left out */
} cbi_lto_job;

/* What the child says: stage and status, then three byte strings with their lengths. */
typedef struct cbi_lto_reply {
    cbi_lto_stage stage;
    int status;
    cbi_span error; /* why it failed; no NUL in it */
    cbi_span info;  /* what the compilers print */
    cbi_span output;
} cbi_lto_reply;

/* Says it. */
void cbi_lto_say(int to, cbi_lto_stage stage, int status, const char *error, const char *info,
                 cbi_span output);

/* Name of the function that only cbi_lto_worker's own module refers to. */
#define CBI_LTO_ANCHOR "__cubind_anchor"

/* Around the declarations of NVVM IR. */
#define CBI_LTO_IR_HEAD                                                                            \
    "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-"              \
    "i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"    \
    "target triple = \"nvptx64-nvidia-cuda\"\n"
#define CBI_LTO_IR_TAIL                                                                            \
    "!nvvmir.version = !{!0}\n"                                                                    \
    "!0 = !{i32 2, i32 0}\n"

/* Exported by our own library in nvJitLink's place, and by no other. */
#define CBI_STAND_IN "__cubind_nvJitLink"

/* For cbi_child_run(); user is a cbi_lto_job.  A program that is linked statically has one of its
 * own, which starts the program CBI_LTO_WORKER (tools/static_worker.c). */
void cbi_lto_worker(void *user, int to);

/* The program that does the same for a job that it reads from its standard input. */
#define CBI_LTO_WORKER "cubind-nvjitlink"

/* Writes the job to a file.  False if that failed. */
bool cbi_lto_write_job(int to, const cbi_lto_job *job);

/* Reads it; it refers to the bytes.  False if that is no job. */
bool cbi_lto_read_job(cbi_ctx *ctx, cbi_span said, cbi_lto_job *ret_job);

/* Why a child's end is a failure; NULL if it is none.  With errno of a child that was not started.
 */
const char *cbi_lto_end_text(cbi_ctx *ctx, const cbi_child_limits *limits,
                             const cbi_child_result *result);

/* Runs the job in a child, unless the cache has what it said. */
cbi_child_result cbi_lto_run(cbi_ctx *ctx, const cbi_lto_options *options, cbi_lto_job *job);

/* Reads what it said.  False if that is no reply. */
bool cbi_lto_read_reply(cbi_span said, cbi_lto_reply *ret_reply);

#endif
