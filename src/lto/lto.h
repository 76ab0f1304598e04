/* Link-time optimization: LTO-IR is compiled by NVIDIA's nvJitLink library, which is loaded at run
 * time, in a child process.  What it needs and what nvlink does around it: docs/lto.md. */
#ifndef CBI_LTO_H
#define CBI_LTO_H

#include "input/input.h"
#include "lto/child.h"

typedef struct cbi_lto_options {
    const cbi_arch *arch;
    const char *nvjitlink; /* --nvjitlink; NULL: looked for */
    const char *nvvmpath;  /* -nvvmpath, or NULL */
    cbi_child_limits limits;

    bool debug;                 /* -g without -suppress-debug-info */
    bool names_fields;          /* help texts name fields of cubind.h, not options */
    const cbi_ptx_options *ptx; /* what goes to the assembler */
    const char *fast_compile;   /* -Ofc, NULL if 0 */
    bool has_split_extended;    /* -split-compile-extended */
    int32_t split_extended;
    const char *const *nvvm_options; /* -Xnvvm items */
    size_t nvvm_option_count;

    bool whole_only; /* -force-whole-lto: missing functions are an error */
    bool prune;      /* only what the patterns name is used from outside */
    const char *const *kernels;
    size_t kernel_count;
    const char *const *more_kernels; /* as well */
    size_t more_kernel_count;
    const char *const *variables;
    size_t variable_count;
} cbi_lto_options;

/* The same, with everything used. */
cbi_lto_options cbi_lto_without_pruning(const cbi_lto_options *options);

typedef enum cbi_lto_form {
    CBI_LTO_WHOLE,     /* the finished cubin of a program that is nothing but LTO-IR */
    CBI_LTO_WHOLE_PTX, /* its PTX */
    CBI_LTO_PART,      /* a relocatable cubin of a part: all that others can refer to stays */
    CBI_LTO_PART_PTX,  /* its PTX as an assembler keeps it: without comments and places */
    CBI_LTO_PART_TEXT  /* its PTX in full */
} cbi_lto_form;

/* Compiles.  False, with nothing reported, if the program is not whole: it refers to functions that
 * none of the inputs defines (whole programs only).  Other failures are fatal.  *ret_output lives
 * as long as the context. */
bool cbi_lto_compile(cbi_ctx *ctx, const cbi_lto_options *options, cbi_lto_form form,
                     const cbi_lto_input *inputs, size_t count, cbi_span *ret_output);

/* PTX of the inputs, and before or behind them a module of NVVM IR (NULL: none), as if they were a
 * whole program.  False if that fails. */
bool cbi_lto_compile_text(cbi_ctx *ctx, const cbi_lto_options *options, const cbi_lto_input *inputs,
                          size_t count, const char *module, bool module_first, cbi_span *ret_text);

/* The PTX of a part in full, with comments and places in the source; `kept` is what
 * CBI_LTO_PART_PTX gave.  False if it cannot be had. */
bool cbi_lto_full_text(cbi_ctx *ctx, const cbi_lto_options *options, const cbi_lto_input *inputs,
                       size_t count, cbi_span kept, cbi_span *ret_text);

/* Does a cubin define a kernel? */
bool cbi_lto_has_kernel(cbi_span cubin);

/* Writes the record of tools in a finished cubin as the assembler of the toolkit would have done;
 * nothing moves.  False if it is not the record that is expected; it is left alone then. */
bool cbi_lto_settle_record(uint8_t *cubin, size_t size, const char *build);

/* The text of the program among the PTX that an assembler kept in a cubin, without the anchor.
 * False if there is none. */
bool cbi_lto_find_ptx(cbi_ctx *ctx, cbi_span cubin, cbi_span *ret_text);

/* Does PTX refer to nothing but what it defines and what the driver supplies? */
bool cbi_lto_is_closed(cbi_ctx *ctx, cbi_span ptx);

/* Names of the libraries to try, in order. */
void cbi_lto_list_libraries(cbi_ctx *ctx, const cbi_lto_options *options, cbi_strings *ret_names);
void cbi_lto_list_compilers(cbi_ctx *ctx, const cbi_lto_options *options, cbi_strings *ret_names);

/* ---- a link that the library does by itself ---- */

/* One of its inputs. */
typedef struct cbi_lto_piece {
    int type; /* nvJitLinkInputType */
    cbi_span bytes;
    const char *name;
} cbi_lto_piece;

/* What it says.  The texts have no NUL in them. */
typedef struct cbi_lto_verdict {
    bool ran;   /* it was found, and came to its end */
    int status; /* nvJitLinkResult */
    cbi_span error;
    cbi_span info;
    cbi_span output;
} cbi_lto_verdict;

/* Hands options and inputs to the library, and returns what it makes of them; with `wants_ptx` the
 * PTX.  An input that it refuses it
 * leaves out.  Of `where` only the place of the library, the limits and the
 * cache of `ptx` count.  If it is not there
 * or does not come to its end, the error says so. */
void cbi_lto_forward(cbi_ctx *ctx, const cbi_lto_options *where, const cbi_strings *options,
                     const cbi_lto_piece *pieces, size_t count, bool wants_ptx,
                     cbi_lto_verdict *ret_verdict);

/* ---- a link ---- */

typedef struct cbi_lto_request {
    bool part;                                          /* -r or -force-partial-lto */
    bool emit_ptx;                                      /* -emit-ptx */
    const char *assembler_build;                        /* for the record of tools */
    void (*on_run)(void *user, const cbi_ptx_run *run); /* for -time; may be NULL */
    void *user;
} cbi_lto_request;

typedef enum cbi_lto_outcome {
    CBI_LTO_LINKED, /* *ret_output is the finished cubin */
    CBI_LTO_PTX,    /* *ret_output is what -emit-ptx asks for */
    CBI_LTO_ADDED   /* the inputs have one more, and are to be linked if no error was reported */
} cbi_lto_outcome;

/* Compiles the LTO-IR among the inputs as nvlink would.  Failures are fatal. */
cbi_lto_outcome cbi_lto_link(cbi_ctx *ctx, const cbi_lto_options *options,
                             const cbi_lto_request *request, cbi_inputs *collector,
                             cbi_inputs_result *inputs, cbi_span *ret_output);

/* Sets what counts as used from outside: by the names given, else by what the host code says. */
void cbi_lto_set_used(cbi_lto_options *options, const cbi_inputs_result *inputs,
                      const char *const *kernels, size_t kernel_count, const char *const *variables,
                      size_t variable_count);

enum { CBI_LTO_SECONDS = 3600, CBI_LTO_MEBIBYTES = 32768 }; /* limits if none are given */

#endif
