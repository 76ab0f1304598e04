/* The device link of a whole program in one process: what `nvcc -dlink` does. */
#ifndef CUBIND_DLINK_H
#define CUBIND_DLINK_H

#include "options.h"

/* Options that nvcc gives to compilations alone: accepted, since builds hand the same ones to every
 * step.  X(name, long form, short form). */
#define DLINK_COMPILE_FLAGS(X)                                                                     \
    X(ALIGN_DOUBLE, "no-align-double", "no-align-double")                                          \
    X(ALLOW_UNSUPPORTED_COMPILER, "allow-unsupported-compiler", "allow-unsupported-compiler")      \
    X(AUGMENT_HOST_LINKER_SCRIPT, "augment-host-linker-script", "aug-hls")                         \
    X(DEPENDENCIES, "generate-dependencies-with-compile", "MD")                                    \
    X(DEPENDENCIES_NONSYSTEM, "generate-nonsystem-dependencies-with-compile", "MMD")               \
    X(DEPENDENCY_TARGETS, "generate-dependency-targets", "MP")                                     \
    X(DISPLAY_ERROR_NUMBER, "display-error-number", "err-no")                                      \
    X(EXPT_EXTENDED_LAMBDA, "expt-extended-lambda", "expt-extended-lambda")                        \
    X(EXPT_RELAXED_CONSTEXPR, "expt-relaxed-constexpr", "expt-relaxed-constexpr")                  \
    X(EXTENDED_LAMBDA, "extended-lambda", "extended-lambda")                                       \
    X(EXTRA_DEVICE_VECTORIZATION, "extra-device-vectorization", "extra-device-vectorization")      \
    X(FDEVICE_SYNTAX_ONLY, "fdevice-syntax-only", "fdevice-syntax-only")                           \
    X(GEN_OPT_LTO, "gen-opt-lto", "gen-opt-lto")                                                   \
    X(JOBSERVER, "jobserver", "jobserver")                                                         \
    X(KEEP, "keep", "keep")                                                                        \
    X(KEEP_DEVICE_FUNCTIONS, "keep-device-functions", "keep-device-functions")                     \
    X(NO_DISPLAY_ERROR_NUMBER, "no-display-error-number", "no-err-no")                             \
    X(NO_HOST_DEVICE_INITIALIZER_LIST, "no-host-device-initializer-list", "nohdinitlist")          \
    X(NO_HOST_DEVICE_MOVE_FORWARD, "no-host-device-move-forward", "nohdmoveforward")               \
    X(OBJDIR_AS_TEMPDIR, "objdir-as-tempdir", "objtemp")                                           \
    X(RESTRICT, "restrict", "restrict")                                                            \
    X(SAVE_TEMPS, "save-temps", "save-temps")                                                      \
    X(SOURCE_IN_PTX, "source-in-ptx", "src-in-ptx")                                                \
    X(USE_FAST_MATH, "use_fast_math", "use_fast_math")                                             \
    X(WDEFAULT_STREAM_LAUNCH, "Wdefault-stream-launch", "Wdefault-stream-launch")                  \
    X(WEXT_LAMBDA, "Wext-lambda-captures-this", "Wext-lambda-captures-this")                       \
    X(WMISSING_LAUNCH_BOUNDS, "Wmissing-launch-bounds", "Wmissing-launch-bounds")                  \
    X(WNO_DEPRECATED_DECLARATIONS, "Wno-deprecated-declarations", "Wno-deprecated-declarations")   \
    X(WREORDER, "Wreorder", "Wreorder")
#define DLINK_COMPILE_VALUES(X)                                                                    \
    X(ARCHIVE_OPTIONS, "archive-options", "Xarchive")                                              \
    X(ARCHIVER_BINARY, "archiver-binary", "arbin")                                                 \
    X(BRIEF_DIAGNOSTICS, "brief-diagnostics", "brief-diag")                                        \
    X(DEFAULT_STREAM, "default-stream", "default-stream")                                          \
    X(DEPENDENCY_TARGET_NAME, "dependency-target-name", "MT")                                      \
    X(DEVICE_ENTITY_VISIBILITY, "device-entity-has-hidden-visibility",                             \
      "device-entity-has-hidden-visibility")                                                       \
    X(DEVICE_STACK_PROTECTOR, "device-stack-protector", "device-stack-protector")                  \
    X(DIAG_ERROR, "diag-error", "diag-error")                                                      \
    X(DIAG_SUPPRESS, "diag-suppress", "diag-suppress")                                             \
    X(DIAG_WARN, "diag-warn", "diag-warn")                                                         \
    X(ENTRIES, "entries", "e")                                                                     \
    X(FDEVICE_TIME_TRACE, "fdevice-time-trace", "fdevice-time-trace")                              \
    X(FMAD, "fmad", "fmad")                                                                        \
    X(FTZ, "ftz", "ftz")                                                                           \
    X(HOST_LINKER_SCRIPT, "host-linker-script", "hls")                                             \
    X(JUMP_TABLE_DENSITY, "jump-table-density", "jtd")                                             \
    X(KEEP_DIR, "keep-dir", "keep-dir")                                                            \
    X(LIBDEVICE_DIRECTORY, "libdevice-directory", "ldir")                                          \
    X(OFAST_COMPILE, "Ofast-compile", "Ofc")                                                       \
    X(OPTIMIZATION_INFO, "optimization-info", "opt-info")                                          \
    X(PREC_DIV, "prec-div", "prec-div")                                                            \
    X(PREC_SQRT, "prec-sqrt", "prec-sqrt")                                                         \
    X(PRE_INCLUDE, "pre-include", "include")                                                       \
    X(SANITIZE, "sanitize", "sanitize")                                                            \
    X(STATIC_GLOBAL_TEMPLATE_STUB, "static-global-template-stub", "static-global-template-stub")   \
    X(SYSTEM_INCLUDE, "system-include", "isystem")                                                 \
    X(XCUDAFE, "Xcudafe", "Xcudafe")
#define DLINK_ENUMERATOR(name, long_name, short_name) DLINK_##name,

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
    DLINK_FORWARD_ALL,
    DLINK_FORWARD_LINKER,
    DLINK_FRANDOM_SEED,
    DLINK_FTEMPLATE_BACKTRACE_LIMIT,
    DLINK_FTEMPLATE_DEPTH,
    DLINK_GENERATE_CODE,
    DLINK_HELP,
    DLINK_INCLUDE,
    DLINK_LIBRARY,
    DLINK_LIBRARY_PATH,
    DLINK_LINEINFO,
    DLINK_LINKER_OPTIONS,
    DLINK_LTO,
    DLINK_MACHINE,
    DLINK_MAXRREGCOUNT,
    DLINK_NO_COMPRESS,
    DLINK_NO_EXCEPTIONS,
    DLINK_NVLINK_OPTIONS,
    DLINK_OPTIMIZE,
    DLINK_OPTIONS_FILE,
    DLINK_OUTPUT,
    DLINK_PROFILE,
    DLINK_PTXAS_OPTIONS,
    DLINK_RDC,
    DLINK_RELOCATABLE,
    DLINK_RESOURCE_USAGE,
    DLINK_SHARED,
    DLINK_SPLIT_COMPILE,
    DLINK_SPLIT_COMPILE_EXTENDED,
    DLINK_STD,
    DLINK_THREADS,
    DLINK_UNDEFINE,
    DLINK_VERBOSE,
    DLINK_VERSION,
    DLINK_WARNINGS,
    DLINK_WERROR,
    DLINK_WNO_DEPRECATED,
    DLINK_COMPILE_FLAGS(DLINK_ENUMERATOR) DLINK_COMPILE_VALUES(DLINK_ENUMERATOR) DLINK_COUNT
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

/* Says which command is run; `program` comes in front of its words. */
void cbi_dlink_show(cbi_ctx *ctx, const char *program, const cbi_words *args);

/* The folder of the CUDA toolkit as the nvcc in it would name it, ".../bin/..": as given, by
 * CUDA_PATH or CUDA_HOME, or that of the nvcc on PATH.  NULL if there is none. */
const char *cbi_find_toolkit(cbi_ctx *ctx, const char *given);

#endif
