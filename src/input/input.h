/* The input stage: files, libraries and memory in, device ELFs in link order out.
 *
 * The order of calls is the order of the messages: add the libraries first (they are searched at
 * once and linked last), then the files, then finish.  Whatever the container, the image that
 * nvlink 13.0.88 would link is chosen.  With `exact` also nvlink's habit of going by file endings
 * and of dropping files in silence is reproduced; without it files are recognised by content and
 * what is dropped is reported (docs/differences.md).
 */
#ifndef CBI_INPUT_H
#define CBI_INPUT_H

#include "base/base.h"
#include "format/arch.h"
#include "input/slice.h"

/* How PTX is compiled: by ptxas, as a program of its own. */
typedef struct cbi_ptx_options {
    const char *ptxas; /* path of the program; NULL: PTX inputs are an error ... */
    bool find_ptxas;   /* ... unless cbi_find_ptxas() finds one, which the first PTX asks for */
    bool debug;        /* -g */
    bool has_maxrregcount;
    int32_t maxrregcount;
    const char *device_stack_protector; /* "true", "false", NULL if not given */
    bool has_split_compile;
    int32_t split_compile;
    const char *const *extra; /* -Xptxas items */
    size_t extra_count;
    bool takes_over;    /* as in nvlink: from PTX on, its options say what warnings become */
    unsigned at_a_time; /* runs; 0: as many as there are cores */
    const char *cache;  /* folder for results; NULL: that of CUBIND_CACHE, if any */
    /* Receives the assembler's own output, one call per line with its newline; NULL drops it. */
    void (*print)(void *user, const char *text);
    void *print_user;
} cbi_ptx_options;

typedef struct cbi_input_options {
    const cbi_arch *arch;  /* for a virtual target the real one of the same number and suffix */
    const char *arch_text; /* the target as typed, for messages */
    bool virtual_target;   /* compute_XX: inputs are chosen but need not fit together */
    bool exact;
    bool elf32; /* device files are of ELF class 32 */
    bool suppress_arch_warning;
    bool lto;                         /* -lto or -dlto */
    bool register_names;              /* --register-link-binaries: collect module identifiers */
    bool names_fields;                /* help texts name fields of cubind.h, not options */
    bool no_host_patterns;            /* an option that makes host references not count is given */
    bool plain_runtime;               /* libcudadevrt is linked like any library, used or not */
    bool by_itself;                   /* other inputs may come before: cbi_inputs_join() */
    uint16_t host_machine;            /* e_machine that -l archives must have */
    const char *const *library_paths; /* -L, then LIBRARY_PATH; borrowed until finish */
    size_t library_path_count;
    cbi_ptx_options ptx;
} cbi_input_options;

/* A module for the register file. */
typedef struct cbi_module_id {
    const char *id;
    bool device_runtime; /* listed only if the link used libcudadevrt */
} cbi_module_id;

/* LTO-IR for the compiler. */
typedef struct cbi_lto_input {
    const char *file; /* as named in messages */
    cbi_span bytes;
    bool fatbin; /* a fatbin of one entry; otherwise LTO-IR as it is */
} cbi_lto_input;

/* One run of a compiler, for -time. */
typedef struct cbi_ptx_run {
    const char *source; /* "ptx" for an entry of a fatbin */
    const char *phase;  /* "ptxas" */
    const char *input;
    const char *output; /* "" or "cubin" */
    double milliseconds;
} cbi_ptx_run;

typedef struct cbi_inputs_result {
    const cbi_link_input *inputs;
    size_t input_count;
    cbi_host_patterns host;
    const cbi_module_id *ids;
    size_t id_count;
    const cbi_ptx_run *ptx_runs;
    size_t ptx_run_count;

    bool lacks_compiler; /* an error was that there is no ptxas */

    const cbi_lto_input *lto; /* with link-time optimization: what has to be compiled */
    size_t lto_count;
    size_t lto_at;                     /* where among the inputs the result belongs */
    bool lto_alone;                    /* nothing but libcudadevrt is machine code */
    bool ends_with_runtime;            /* the last module is libcudadevrt */
    const char *const *host_variables; /* name patterns of what host code refers to */
    size_t host_variable_count;
} cbi_inputs_result;

typedef struct cbi_inputs cbi_inputs;

/* The name of a module that has none: its absolute path, what is no letter or digit as '_'. */
const char *cbi_module_of_path(cbi_ctx *ctx, const char *path);

/* Options are copied, what they point to is borrowed.  Runs inside cbi_run(), like all below. */
cbi_inputs *cbi_inputs_create(cbi_ctx *ctx, const cbi_input_options *options);

/* -l NAME: searches now, links at finish.  A library that is not found is no error. */
void cbi_inputs_add_library(cbi_inputs *in, const char *name);

/* A file on the command line. */
void cbi_inputs_add_file(cbi_inputs *in, const char *path);

/* All files of the command line, to be added while they are linked, or NULL: they have to be added
 * before, since what some of them may bring decides about others, or nothing is won. */
cbi_input_stream *cbi_inputs_stream(cbi_inputs *in, const char *const *paths, size_t count);

/* Bytes that the caller keeps until the link is done; recognised by content. */
void cbi_inputs_add_memory(cbi_inputs *in, const char *name, cbi_span bytes);

/* Reads the models of what was collected, for cbi_inputs_join().  What is damaged is left to the
 * link, which says so. */
void cbi_inputs_read_objects(cbi_inputs *in);

/* Were there fatbins, and in none of them an image for the target? */
bool cbi_inputs_found_none(const cbi_inputs *in);

/* Adds what another collector for the same target has collected, possibly in another context, which
 * must outlive this one.  `from` is not changed. */
void cbi_inputs_join(cbi_inputs *in, const cbi_inputs *from);

/* Links the libraries and returns everything collected.  The result lives as long as the
 * context. */
void cbi_inputs_finish(cbi_inputs *in, cbi_inputs_result *ret_result);

/* Assembles what the compiler made of the LTO-IR, as a module named "lto.cubin".  fast: -Ofc, or
 * NULL.  False after an error was reported. */
bool cbi_inputs_assemble_lto(cbi_inputs *in, cbi_span ptx, const char *fast, cbi_span *ret_cubin);

/* Was there PTX to be compiled, and no ptxas? */
bool cbi_inputs_lack_compiler(const cbi_inputs *in);

/* Was some of the LTO-IR compiled with line information? */
bool cbi_inputs_have_lines(const cbi_inputs *in);

/* e_machine for a -cpu-arch keyword ("unknown", "X86_64", "AARCH64", "PPC64LE", "ARMv7", "X86"). */
uint16_t cbi_host_machine(const char *cpu_arch);

/* The directories of an environment variable like LIBRARY_PATH, appended to `paths`. */
void cbi_split_paths(cbi_ctx *ctx, const char *value, cbi_strings *paths);

/* A ptxas beside nvcc or on PATH, or NULL. */
const char *cbi_find_ptxas(cbi_ctx *ctx);

#endif
