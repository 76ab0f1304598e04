/* Checks that come between parsing and reading the inputs. */
#include "link_run.h"

#include <stdlib.h>

#include "api/identity.h"

#define CONFLICT(run, a, b)                                                                        \
    cbi_fatal((run)->ctx, "conflicting-options", NULL, NULL, "Conflicting options '%s' and '%s'",  \
              (a), (b))

static void check_pairs(cbi_link_run *run)
{
    const cbi_command_line *line = &run->line;
    if (cbi_given(line, OPT_SUPPRESS_DEBUG_INFO) && !cbi_given(line, OPT_DEBUG))
        CONFLICT(run, "-suppress-debug-info", "no -g");
    if (cbi_given(line, OPT_DUMP_CALLGRAPH) && cbi_given(line, OPT_DUMP_CALLGRAPH_NO_DEMANGLE))
        CONFLICT(run, "-dump-callgraph", "-dump-callgraph-no-demangle");
    if (cbi_given(line, OPT_USE_HOST_INFO) && cbi_given(line, OPT_IGNORE_HOST_INFO))
        CONFLICT(run, "-use-host-info", "-ignore-host-info");
    if (cbi_given(line, OPT_USE_HOST_INFO) &&
        (line->values[OPT_KERNELS_USED].list.len || line->values[OPT_VARIABLES_USED].list.len))
        cbi_info(run->ctx, "host-info-ignored", NULL, NULL,
                 "ignore -use-host-info because -kernels-used or -variables-used is specified");
}

static bool is_fast_compile_level(const char *level)
{
    return strcmp(level, "0") == 0 || strcmp(level, "min") == 0 || strcmp(level, "mid") == 0 ||
           strcmp(level, "max") == 0;
}

static void check_lto(cbi_link_run *run)
{
    const cbi_command_line *line = &run->line;
    if (!run->lto) {
        if (cbi_given(line, OPT_FORCE_PARTIAL_LTO))
            CONFLICT(run, "-force-partial-lto", "no -dlto");
        if (cbi_given(line, OPT_FORCE_WHOLE_LTO))
            CONFLICT(run, "-force-whole-lto", "no -dlto");
        if (cbi_given(line, OPT_EMIT_PTX))
            CONFLICT(run, "-emit-ptx", "no -dlto");
        if (cbi_given(line, OPT_OFAST_COMPILE))
            CONFLICT(run, "--Ofast-compile", "no -dlto");
        return;
    }
    if (run->messages.plain && !cbi_given(line, OPT_NVVMPATH))
        cbi_fatal(run->ctx, "nvvmpath-missing", NULL, NULL,
                  "-nvvmpath should be specified with -lto");
    if (cbi_given(line, OPT_FORCE_WHOLE_LTO) && cbi_given(line, OPT_FORCE_PARTIAL_LTO))
        CONFLICT(run, "-force-partial-lto", "-force-whole-lto");
    if (cbi_given(line, OPT_FORCE_WHOLE_LTO) && cbi_given(line, OPT_RELOCATABLE_LINK))
        CONFLICT(run, "-force-partial-lto", "-force-whole-lto");
    if (cbi_given(line, OPT_EMIT_PTX) && cbi_given(line, OPT_SPLIT_COMPILE_EXTENDED))
        cbi_info(run->ctx, "emit-ptx-split", NULL, NULL,
                 "Incompatible options '-emit-ptx' and '-split-compile-extended', using "
                 "'-split-compile'");
    if (cbi_given(line, OPT_OFAST_COMPILE) &&
        !is_fast_compile_level(cbi_text(line, OPT_OFAST_COMPILE)))
        cbi_fatal(run->ctx, "bad-option-value", NULL, NULL,
                  "Invalid argument for option '--Ofast-compile'");
}

/* Two numbers with a point between and nothing behind; blanks before either. */
static bool parse_api_version(const char *text, long *ret_major)
{
    char *end;
    long major = strtol(text, &end, 10);
    if (end == text || *end != '.')
        return false;
    const char *minor = end + 1;
    long number = strtol(minor, &end, 10);
    if (end == minor || *end || number < 0)
        return false;
    *ret_major = major;
    return true;
}

static void check_rest(cbi_link_run *run)
{
    const cbi_command_line *line = &run->line;
    if (cbi_given(line, OPT_PRESERVE_RELOCS) && cbi_sm_preserves_in_part(run->sm))
        cbi_warning(run->ctx, "preserve-relocs-incomplete", NULL, NULL,
                    "Option '--preserve-relocs' is not fully implemented for gpu archtecture '%s' "
                    "and may not work as expected",
                    run->target);
    if (cbi_given(line, OPT_FDCMPT) && !cbi_given(line, OPT_UUMN))
        cbi_fatal(run->ctx, "command-line", NULL, NULL, "Unknown option '-fdcmpt'");
    const char *api = cbi_text(line, OPT_CUDA_API_VERSION);
    long major;
    if (api && !parse_api_version(api, &major))
        cbi_fatal(run->ctx, "bad-option-value", NULL, NULL,
                  "--cuda-api-version value cannot be parsed");
    if (api && major != CBI_TOOLKIT_MAJOR)
        cbi_fatal(run->ctx, "bad-option-value", NULL, NULL,
                  "--cuda-api-version major number must be == toolkit version");
}

void cbi_check_options(cbi_link_run *run)
{
    const cbi_command_line *line = &run->line;
    if (!run->target)
        cbi_fatal(run->ctx, "no-arch", NULL, "name the GPU, for example -arch=sm_90",
                  "Unknown arch name '(null)'");
    if (run->arch && !cbi_given(line, OPT_OUTPUT_FILE))
        cbi_fatal(run->ctx, "no-output", NULL, NULL, "Must specify output file with -o option");
    if (!line->inputs.len)
        cbi_fatal(run->ctx, "no-inputs", NULL,
                  line->values[OPT_LIBRARY].list.len
                      ? "libraries given with -l do not count: at least one file is needed"
                      : NULL,
                  "No input files specified; use option --help for more information");
    check_pairs(run);
    if (strncmp(run->target, "lto_", strlen("lto_")) == 0)
        cbi_fatal(run->ctx, "virtual-target", NULL, NULL,
                  "Link target of '%s' is virtual target that is not JIT-able; use 'sm_' target "
                  "instead",
                  run->target);
    check_lto(run);
    check_rest(run);
}

void cbi_report_idle_options(cbi_link_run *run)
{
    for (int i = 0; i < OPT_COUNT; i++) {
        const cbi_option *option = &cbi_options[i];
        bool lto = (option->flags & OPT_LTO) && !run->lto;
        if (!cbi_given(&run->line, (cbi_opt)i) || (!lto && !(option->flags & OPT_NO_EFFECT)))
            continue;
        cbi_info(run->ctx, "option-without-effect", NULL, NULL, "option '--%s' has no effect %s",
                 option->long_name, lto ? "without -dlto" : "in cubind");
    }
}
