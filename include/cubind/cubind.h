/* cubind.h: the public interface of libcubind.  Plain C99, usable from C++.
 *
 * A device link takes CUDA device ELFs ("cubins") or the containers that hold them (fatbins, host
 * objects, host shared libraries, archives) and makes one device ELF of them:
 *
 *     cb_link_options options;
 *     cb_link *link;
 *     cb_link_options_init(&options, sizeof options);
 *     options.arch = "sm_90";
 *     options.on_diagnostic = print;
 *     if (cb_link_create(&options, &link) == CB_OK) {
 *         cb_link_add_file(link, "a.cubin");
 *         cb_link_add_memory(link, "b.cubin", data, size);
 *         if (cb_link_run(link) == CB_OK)
 *             cb_link_write_file(link, "out.cubin");
 *         cb_link_free(link);
 *     }
 *
 * Rules that hold for every call:
 *   - Calls that can fail return a cb_status.  Out-parameters are named ret_x and are left as they
 *     were when the call fails.
 *   - Structures that the caller fills start with their own size, so that they can grow.  Set them
 *     up with their _init function, or zero them and set struct_size.  Zero means the default.
 *   - There is no global state.  Different handles may be used by different threads at the same
 *     time; one handle by one thread at a time.
 *   - Sizes are in bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CUBIND_CUBIND_H
#define CUBIND_CUBIND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CB_API __attribute__((visibility("default")))
#else
#define CB_API
#endif

/* The version of this header. */
#define CB_VERSION_MAJOR 0
#define CB_VERSION_MINOR 1
#define CB_VERSION_PATCH 0

/* The version of the library, "MAJOR.MINOR.PATCH".  Static storage. */
CB_API const char *cb_version_string(void);

/* Result of every call that can fail.  The numbers never change. */
typedef enum cb_status {
    CB_OK = 0,
    CB_ERR_USAGE = 1,       /* an argument or option makes no sense */
    CB_ERR_NOMEM = 2,       /* allocation failed or the memory limit was reached */
    CB_ERR_IO = 3,          /* a file could not be opened, read or written */
    CB_ERR_FORMAT = 4,      /* damaged or unknown input */
    CB_ERR_LINK = 5,        /* the inputs do not link: errors were reported */
    CB_ERR_UNSUPPORTED = 6, /* needs something this build does not have, e.g. a compiler back end */
    CB_ERR_FATAL = 7        /* a fatal diagnostic stopped the work at once */
} cb_status;

/* A few words for a status, in English.  Static storage, never NULL. */
CB_API const char *cb_status_string(cb_status status);

/* How grave a diagnostic is.  The numbers never change. */
typedef enum cb_severity {
    CB_SEV_INFO = 0,
    CB_SEV_WARNING = 1,
    CB_SEV_ERROR = 2,
    CB_SEV_FATAL = 3
} cb_severity;

/* One diagnostic.  Strings are NULL when they do not apply and live only during the callback. */
typedef struct cb_diagnostic {
    size_t struct_size; /* sizeof(cb_diagnostic) of the library */
    cb_severity severity;
    const char *id;      /* stable identifier, e.g. "undefined-reference" */
    const char *message; /* the text without the program prefix */
    const char *help;    /* more help, possibly several lines; NULL if none */
    const char *file;    /* input as named by the user; archive members as "archive:member" */
    const char *section;
    const char *symbol;
    uint64_t offset; /* byte offset in the section or file; UINT64_MAX when it does not apply */
} cb_diagnostic;

/* Receives diagnostics in the order in which they are found. */
typedef void (*cb_diagnostic_fn)(void *user, const cb_diagnostic *diagnostic);

/* Where memory comes from.  alloc returns memory aligned for any type, or NULL; free gets the size
 * that was asked for.  Both NULL mean malloc and free.  Never called by two threads at once for one
 * handle.  The handle itself (a few hundred bytes) comes from here too. */
typedef struct cb_allocator {
    void *(*alloc)(void *user, size_t size);
    void (*free)(void *user, void *block, size_t size);
    void *user;
} cb_allocator;

/* ---- the device link ---- */

/* Bits of cb_link_options.flags.  In brackets the option of the command line. */
#define CB_LINK_RELOCATABLE           (UINT64_C(1) << 0) /* make an object to be linked again [-r] */
#define CB_LINK_DEBUG                 (UINT64_C(1) << 1)  /* keep debug information [-g] */
#define CB_LINK_PRESERVE_RELOCS       (UINT64_C(1) << 2)  /* [-preserve-relocs] */
#define CB_LINK_FORCE_RELA            (UINT64_C(1) << 3)  /* [--force-rela] */
#define CB_LINK_ALLOW_UNDEFINED       (UINT64_C(1) << 4)  /* [--allow-undefined-globals] */
#define CB_LINK_SUPPRESS_DEBUG_INFO   (UINT64_C(1) << 5)  /* [-suppress-debug-info] */
#define CB_LINK_KEEP_SYSTEM_LIBRARIES (UINT64_C(1) << 6)  /* [-keep-system-libraries] */
#define CB_LINK_IGNORE_HOST_INFO      (UINT64_C(1) << 7)  /* [-ignore-host-info] */
#define CB_LINK_VERBOSE               (UINT64_C(1) << 8)  /* report resource usage [-v] */
#define CB_LINK_EXTRA_WARNINGS        (UINT64_C(1) << 9)  /* [-extrawarn] */
#define CB_LINK_WARNINGS_AS_ERRORS    (UINT64_C(1) << 10) /* [-Werror] */
#define CB_LINK_SUPPRESS_WARNINGS     (UINT64_C(1) << 11) /* [-disable-infos] */
#define CB_LINK_EMULATE_NVLINK        (UINT64_C(1) << 12) /* nvlink's version and build in the note */

#define CB_LINK_LTO         (UINT64_C(1) << 13) /* compile LTO-IR with NVIDIA's library [-dlto] */
#define CB_LINK_ALLOW_EMPTY (UINT64_C(1) << 14) /* inputs without device code are no error */
/* Device files are ELF32, and so is the image.  Targets below sm_100 only [--elf32] */
#define CB_LINK_ELF32 (UINT64_C(1) << 15)

/* What to make, and how.  Strings and arrays are copied by cb_link_create. */
typedef struct cb_link_options {
    size_t struct_size; /* sizeof(cb_link_options) of the caller */
    const char *arch;   /* target, e.g. "sm_90" or "sm_100a"; required */
    uint64_t flags;     /* CB_LINK_* */

    cb_diagnostic_fn on_diagnostic; /* NULL drops diagnostics */
    void *on_diagnostic_user;

    cb_allocator allocator;
    size_t memory_limit; /* most bytes taken from the allocator; 0 = no limit.  With a limit the
                          * image has at most 64 times the bytes of the inputs and 64 MiB */

    const char *const *kernels_used; /* keep these kernels and what they need [-kernels-used] */
    size_t kernels_used_count;
    const char *const *variables_used; /* likewise for variables [-variables-used] */
    size_t variables_used_count;
    const char *const *library_paths; /* where cb_link_add_library looks [-L] */
    size_t library_path_count;
    const char *ptxas_path; /* program that compiles PTX inputs, looked for on PATH if it has no
                             * folder; NULL makes them an error [--ptxas] */

    /* The note that the link leaves in its output.  NULL = the library's own values. */
    const char *tool_name;
    const char *tool_version;
    const char *tool_build;
    const char *command_line;

    /* Compilers of PTX and LTO-IR. */
    const char *const *ptxas_options; /* one option each [-Xptxas] */
    size_t ptxas_option_count;
    unsigned max_registers;      /* per thread; 0 = no limit [-maxrregcount] */
    const char *nvjitlink_path;  /* the nvJitLink library; NULL: looked for [--nvjitlink] */
    const char *nvvm_path;       /* folder nvvm of the toolkit, or the toolkit [-nvvmpath] */
    unsigned compiler_seconds;   /* limits of the process that compiles LTO-IR; 0 = 3600 */
    unsigned compiler_mebibytes; /* ... of its address space; 0 = 32768 */
    unsigned ptxas_jobs;         /* most that run at a time; 0 = as many as there are cores */
    const char *cache_path;      /* folder that keeps what compilers made; NULL: that which the
                                  * environment variable CUBIND_CACHE names, if it does; "": none */
    unsigned threads; /* most that cb_link_run may use, up to 64; 0 and 1: the caller's alone.
                       * Inputs below 32 MiB are read by one, which is cheaper.
                       * The result and the order of diagnostics are the same for every
                       * number, and the callback comes from the caller's thread.  The others
                       * are gone when the call returns.  The allocator, if one is given, must
                       * serve several threads.  With a memory limit there is one thread
                       * [--threads] */
} cb_link_options;

/* Sets every member to its default.  struct_size is sizeof(cb_link_options) of the caller. */
CB_API void cb_link_options_init(cb_link_options *options, size_t struct_size);

/* One device link.  Inputs are added in link order, then it runs once. */
typedef struct cb_link cb_link;

/* Creates a link.  CB_ERR_USAGE: no or unknown arch (a diagnostic says so), unknown flags,
 * struct_size of no known version. The caller frees the handle with cb_link_free. */
CB_API cb_status cb_link_create(const cb_link_options *options, cb_link **ret_link);

/* Adds a file: cubin, fatbin, host object, host shared library or archive, told apart by content.
 * It is opened by cb_link_run and must stay unchanged until the handle is freed. */
CB_API cb_status cb_link_add_file(cb_link *link, const char *path);

/* Adds bytes in memory, of the same kinds.  `name` stands for them in diagnostics and is copied;
 * the bytes are borrowed and must live until the handle is freed. */
CB_API cb_status cb_link_add_memory(cb_link *link, const char *name, const void *data, size_t size);

/* Adds an input that was read before, for the same target; it may be in several links at a time and
 * must live until the handle is freed.  CB_ERR_USAGE: another target. */
typedef struct cb_input cb_input;
CB_API cb_status cb_link_add_input(cb_link *link, const cb_input *input);

/* Adds the library libNAME.a (or .so) found in the library paths, after all files [-l NAME]. */
CB_API cb_status cb_link_add_library(cb_link *link, const char *name);

/* Links.  CB_ERR_IO (a file cannot be read), CB_ERR_FORMAT, CB_ERR_LINK, CB_ERR_FATAL: diagnostics
 * say why.  CB_ERR_UNSUPPORTED: PTX and no ptxas; LTO-IR and no library that compiles it, or
 * without CB_LINK_LTO.  Inputs without any device code for the target are CB_ERR_FORMAT unless
 * CB_LINK_ALLOW_EMPTY is given.  With CB_LINK_LTO the compiler runs in a child process, by fork().
 * CB_ERR_NOMEM: the allocator failed or the memory limit was reached.  CB_ERR_USAGE: nothing was
 * added and CB_LINK_ALLOW_EMPTY is not given, or it ran before.  After another failure only
 * cb_link_reset and cb_link_free make sense. */
CB_API cb_status cb_link_run(cb_link *link);

/* The finished device ELF, owned by the handle.  CB_ERR_USAGE before a successful cb_link_run (so
 * for the writers below). */
CB_API cb_status cb_link_get_image(const cb_link *link, const void **ret_data, size_t *ret_size);

/* Writes the image to a file: under another name in the same folder first, then renamed, so that
 * the file is either whole or what it was.  CB_ERR_IO if that fails. */
CB_API cb_status cb_link_write_file(const cb_link *link, const char *path);

/* Hands the image to a function in one or more pieces.  It returns 0 to go on; otherwise
 * CB_ERR_IO. */
CB_API cb_status cb_link_write_callback(const cb_link *link,
                                        int (*write)(void *user, const void *data, size_t size),
                                        void *user);

/* Copies the image into the caller's buffer.  CB_ERR_USAGE if it does not fit; nothing is written
 * then.  With buffer NULL and size 0 only *ret_size is set. */
CB_API cb_status cb_link_write_buffer(const cb_link *link, void *buffer, size_t size,
                                      size_t *ret_size);

/* Writers for cb_link_write_callback and cb_finalize: `user` is an open FILE *, or a uint64_t * to
 * which the number of bytes is added. */
CB_API int cb_write_to_stream(void *user, const void *data, size_t size);
CB_API int cb_write_to_count(void *user, const void *data, size_t size);

/* Makes the handle ready for another link, with other options: inputs and image go, its memory is
 * kept, which saves the next link the time to get it.  Statuses as of cb_link_create; the allocator
 * stays what it was.  After CB_ERR_USAGE the handle is unchanged, after others only cb_link_reset
 * and cb_link_free make sense. */
CB_API cb_status cb_link_reset(cb_link *link, const cb_link_options *options);

/* Frees the handle and all memory of the link.  NULL is fine. */
CB_API void cb_link_free(cb_link *link);

/* ---- inputs that are linked more than once ---- */

/* A file or bytes in memory, read for one target: containers are open, the image for the target is
 * chosen and unpacked, PTX is compiled.  Links take it with cb_link_add_input, with any options but
 * the target and CB_LINK_LTO.  It never changes: different threads may use it at the same time.
 *
 * Of the options these matter here: arch, CB_LINK_LTO, the ptxas members, max_registers,
 * CB_LINK_DEBUG (for PTX), the callback, which is used during the call only, and allocator and
 * memory limit.  What is wrong with the input is reported here; what depends on other inputs in
 * cb_link_run.  An input without code for the target is none here either, but a warning.
 *
 * cb_input_open reads a file, which must stay unchanged until the handle is freed;
 * cb_input_create borrows bytes, which must live as long.  Statuses as of cb_link_create and
 * cb_link_run.  The caller frees the handle, after the links that use it. */
CB_API cb_status cb_input_open(const cb_link_options *options, const char *path,
                               cb_input **ret_input);
CB_API cb_status cb_input_create(const cb_link_options *options, const char *name, const void *data,
                                 size_t size, cb_input **ret_input);

/* Frees the handle.  NULL is fine. */
CB_API void cb_input_free(cb_input *input);

/* ---- finalization for another target, sm_100 and later ---- */

#define CB_FINALIZE_POST_LINK  (UINT64_C(1) << 0) /* take executables only */
#define CB_FINALIZE_SELF_CHECK (UINT64_C(1) << 1) /* run a second time and compare */
#define CB_FINALIZE_TRACE      (UINT64_C(1) << 2) /* say what is done, as CB_SEV_INFO */

/* Code that the target cannot run as it is, for a compiler. */
typedef struct cb_finalize_function {
    size_t struct_size; /* sizeof(cb_finalize_function) of the library */
    const char *name;
    const void *sass; /* its machine code */
    size_t sass_size;
    const void *capsule; /* its .nv.capmerc section, docs/capsule.md */
    size_t capsule_size;
    unsigned from_sm;   /* compiled for, e.g. 100 */
    const char *target; /* e.g. "sm_103" */
    int opt_level;
    int line_info;
} cb_finalize_function;

/* What the compiler made of it.  The bytes must live until cb_finalize returns.  All else about the
 * function stays: registers, stack, relocations, places in its attributes and debug data. */
typedef struct cb_finalize_code {
    const void *sass; /* as long as the input's */
    size_t sass_size;
    const void *capsule; /* of any length */
    size_t capsule_size;
} cb_finalize_code;

/* A compiler.  supports: can it compile code of one chip for another?  compile: 0 if it did. */
typedef struct cb_finalize_backend {
    size_t struct_size; /* sizeof(cb_finalize_backend) of the caller */
    const char *name;   /* for messages */
    int (*supports)(void *user, unsigned from_sm, const char *target);
    int (*compile)(void *user, const cb_finalize_function *function, cb_finalize_code *ret_code);
    void *user;
} cb_finalize_backend;

typedef struct cb_finalize_options {
    size_t struct_size; /* sizeof(cb_finalize_options) of the caller */
    const char *arch;   /* target, e.g. "sm_103"; required */
    uint64_t flags;     /* CB_FINALIZE_* */

    cb_diagnostic_fn on_diagnostic; /* NULL drops diagnostics */
    void *on_diagnostic_user;

    cb_allocator allocator;
    size_t memory_limit; /* most bytes taken from the allocator; 0 = no limit */

    const char *options; /* of the engine, as for `cubind finalize`, parted by blanks; or NULL */
    const char *output_name;            /* for the tool note with --verbose-tkinfo; or NULL */
    const cb_finalize_backend *backend; /* NULL: code that would need a compiler is refused */
} cb_finalize_options;

/* The finalizer's own codes.  The numbers never change. */
typedef enum cb_finalize_result {
    CB_FINALIZE_DONE = 0,
    CB_FINALIZE_UNREACHABLE = 4, /* the code cannot be taken to the target */
    CB_FINALIZE_NO_MERCURY = 5,  /* the image has no Mercury code */
    CB_FINALIZE_BAD_INPUT = 6,   /* not a device ELF, or a wrong option */
    CB_FINALIZE_UNKNOWN_ABI = 7,
    CB_FINALIZE_NO_MEMORY = 11,
    CB_FINALIZE_CHECK_CODE = 17,    /* the self-check gave other code or debug data */
    CB_FINALIZE_CHECK_RELOCS = 18,  /* ... other relocations, or another number of sections */
    CB_FINALIZE_CHECK_SYMBOLS = 19, /* ... other symbols */
    CB_FINALIZE_TOO_NEW = 25
} cb_finalize_result;

/* Makes a device ELF in memory fit another chip of its family and hands the result to `write`,
 * which returns 0 to go on.  `name` stands for it in diagnostics; NULL = "in-memory-ELF-image".
 * Code that cannot run there unchanged goes to the back end; without one it is refused by name.
 * ret_result, if not NULL, receives the finalizer's own code in any case but CB_ERR_USAGE.
 * Statuses: CB_ERR_USAGE, CB_ERR_NOMEM (11), CB_ERR_FORMAT (5, 6, 7), CB_ERR_UNSUPPORTED (4, 25),
 * CB_ERR_FATAL (17 to 19), CB_ERR_IO (write refused). */
CB_API cb_status cb_finalize(const cb_finalize_options *options, const char *name, const void *data,
                             size_t size, int (*write)(void *user, const void *data, size_t size),
                             void *user, cb_finalize_result *ret_result);

#ifdef __cplusplus
}
#endif
#endif
