/* The device link: checked slices in, one device ELF out.
 *
 * This is the interface for the front ends (command line, library).  Containers are already opened
 * and images chosen (src/input); the link sees cubins only.
 */
#ifndef CBI_LINK_H
#define CBI_LINK_H

#include "base/base.h"
#include "base/sink.h"
#include "format/arch.h"
#include "input/slice.h"

typedef struct cbi_view_ops cbi_view_ops; /* src/link/view.h */

typedef struct cbi_link_options {
    const cbi_arch *arch;

    bool relocatable;     /* -r */
    bool debug;           /* -g */
    bool preserve_relocs; /* -preserve-relocs */
    bool force_rela;      /* --force-rela */
    bool allow_undefined_globals;
    bool reserve_null_pointer;
    bool disable_smem_reservation;
    bool enable_extended_smem;
    bool keep_system_libraries;
    bool suppress_debug_info;
    bool forgives_merge_errors; /* as nvJitLink: what a second definition says does not count */
    bool elf32;                 /* inputs and output are of ELF class 32 */
    bool spends_inputs;         /* the bytes of those that are the job's own end with the merge */
    bool any_size;              /* outputs much larger than the inputs are written, too */
    bool exact;                 /* behave as nvlink even where it is silent about what it drops */

    bool verbose;                 /* -v */
    bool extra_warnings;          /* -extrawarn */
    bool suppress_stack_warnings; /* -suppress-stack-size-warning */
    bool dump_callgraph;          /* -dump-callgraph */

    const char *const *kernels_used; /* -kernels-used items */
    size_t kernels_used_count;
    const char *const *variables_used;
    size_t variables_used_count;
    cbi_host_patterns host;

    /* the tkinfo record that the link adds */
    const char *tool_name;    /* "nvlink" */
    const char *tool_version; /* "Cuda compilation tools, release 13.0, V13.0.88" when emulating */
    const char *tool_build;
    const char *object_name;  /* "" unless verbose tkinfo */
    const char *command_line; /* options as recorded, e.g. "-arch sm_90 " */

    const char *output_name; /* file name for messages of the finalizer */

    bool has_nv_host; /* -nv-host */
    cbi_span nv_host;

    /* Raw text for stderr that is no diagnostic (call graph dump); one call per line, with its
     * newline.  NULL drops it. */
    void (*print)(void *user, const char *text);
    void *print_user;

    const cbi_input_stream *stream; /* instead of inputs: files that are read meanwhile; or NULL */

    const cbi_view_ops *view; /* the second view of objects for sm_100 and later */

    /* A line of a trace of the finalizer's work on sm_100 and later.  NULL: no trace. */
    void (*trace)(void *user, const char *line);
    void *trace_user;
    bool trace_run;         /* the run itself */
    bool trace_eligibility; /* from what it follows that an input is accepted or not */

    bool dot; /* build cbi_link_result.dot */
    bool map; /* build cbi_link_result.map */

    /* Symbols by mangled name, demangled name, or demangled name without parameters. */
    const char *const *traced; /* print who defines and uses them */
    size_t traced_count;
    const char *const *why_live; /* print what keeps these functions */
    size_t why_live_count;
    const char *const *required_kernels; /* an error if one is not in the output */
    size_t required_kernel_count;

    /* Where an undefined symbol is defined outside of this link ("defined in x.a(y.o), but only for
     * sm_80"), or NULL.  May be NULL. */
    const char *(*find_elsewhere)(void *user, const char *symbol);
    void *find_user;
} cbi_link_options;

typedef struct cbi_link_result {
    bool device_runtime_used; /* an input marked device_runtime was merged */
    cbi_rope image;           /* the output file's bytes */
    cbi_buf dot;              /* --dot-file text */
    cbi_buf map;              /* --map text; empty if the link ended with errors */
} cbi_link_result;

/* Links.  CB_OK, or the reason after diagnostics were reported: CB_ERR_FATAL stops at once,
 * CB_ERR_LINK when the run came to its end with errors (then ret_result->dot is valid, image is
 * empty).  Runs inside cbi_run(). */
cb_status cbi_link(cbi_ctx *ctx, const cbi_link_options *options, const cbi_link_input *inputs,
                   size_t input_count, cbi_link_result *ret_result);

#endif
