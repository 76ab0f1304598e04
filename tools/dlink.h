/* The device link of a whole program in one process: what `nvcc -dlink` does. */
#ifndef CUBIND_DLINK_H
#define CUBIND_DLINK_H

#include "options.h"

enum {
    DLINK_ARCH,
    DLINK_CODE,
    DLINK_COMPRESS_MODE,
    DLINK_CCBIN,
    DLINK_COMPILER_OPTIONS,
    DLINK_CUBIN,
    DLINK_CUDA_PATH,
    DLINK_CUDADEVRT,
    DLINK_CUDART,
    DLINK_DEBUG,
    DLINK_DEFINE,
    DLINK_DEVICE_DEBUG,
    DLINK_DEVICE_LINK,
    DLINK_DLTO,
    DLINK_DRYRUN,
    DLINK_FATBIN,
    DLINK_FATBIN_OPTIONS,
    DLINK_FORWARD,
    DLINK_GENERATE_CODE,
    DLINK_HELP,
    DLINK_INCLUDE,
    DLINK_LIBRARY,
    DLINK_LIBRARY_PATH,
    DLINK_LINEINFO,
    DLINK_LINKER_OPTIONS,
    DLINK_MACHINE,
    DLINK_NVLINK_OPTIONS,
    DLINK_OPTIMIZE,
    DLINK_OPTIONS_FILE,
    DLINK_OUTPUT,
    DLINK_PTXAS_OPTIONS,
    DLINK_RDC,
    DLINK_RELOCATABLE,
    DLINK_RESOURCE_USAGE,
    DLINK_SHARED,
    DLINK_STD,
    DLINK_THREADS,
    DLINK_VERBOSE,
    DLINK_VERSION,
    DLINK_WARNINGS,
    DLINK_WERROR,
    DLINK_WNO_DEPRECATED,
    DLINK_COUNT
};

extern const cbi_option cbi_dlink_options_table[DLINK_COUNT];

/* What the host compiler is asked to do. */
typedef struct cbi_host_stub {
    const char *compiler;
    const char *toolkit; /* folder of the toolkit */
    cbi_words flags;     /* from the command line */
    const char *archs;   /* "800,900" */
    bool relocatable;    /* the code is to be linked again */
    bool pic;            /* for a shared library */
    bool debug;          /* -g */
    bool show;           /* prints the command */
    bool dry;            /* and nothing more */
    cbi_span fatbin;     /* a whole fatbin */
    cbi_span modules;    /* the list of modules that were linked */
    const char *output;
} cbi_host_stub;

/* Compiles the toolkit's stub, with fatbin and list in it, to a host object.  Fatal if that cannot
 * be done. */
void cbi_compile_host_stub(cbi_ctx *ctx, const cbi_host_stub *stub);

/* The folder of the CUDA toolkit as the nvcc in it would name it, ".../bin/..": as given, by
 * CUDA_PATH or CUDA_HOME, or that of the nvcc on PATH.  NULL if there is none. */
const char *cbi_find_toolkit(cbi_ctx *ctx, const char *given);

#endif
