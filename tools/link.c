/* cubind link: the run of a device link, in nvlink's order. */
#include "tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/identity.h"
#include "base/files.h"
#include "base/parallel.h"
#include "limits.h"
#include "link_run.h"
#include "mercury/operations.h"
#include "say.h"

static void print_text(void *user, const char *text)
{
    const cbi_link_run *run = user;
    size_t len = strlen(text);
    if (run->messages.plain)
        fputs(text, stderr);
    else
        cbi_say_lines("%.*s", (int)(len && text[len - 1] == '\n' ? len - 1 : len), text);
}

/* Looks for --emulate before parsing: it decides how parse errors are shown. */
bool cbi_wants_emulation(int argc, char *const *argv)
{
    static const char option[] = "--emulate";
    size_t len = strlen(option);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], option, len) != 0)
            continue;
        const char *tool = argv[i][len] == '=' ? argv[i] + len + 1
                           : i + 1 < argc      ? argv[i + 1]
                                               : "";
        if (cbi_keyword_known(&cbi_options[OPT_EMULATE], tool, strlen(tool)))
            return true;
    }
    return false;
}

static void find_target(cbi_link_run *run)
{
    run->target = cbi_text(&run->line, OPT_ARCH);
    if (!run->target)
        return;
    run->arch = cbi_arch_find(run->target);
    run->sm = (uint32_t)strtoul(strchr(run->target, '_') + 1, NULL, 10);
    if (cbi_given(&run->line, OPT_REPORT_ARCH) || run->several)
        run->ctx->diag.suffix = cbi_printf(run->ctx, " (target: %s)", run->target);
}

static cbi_span read_side_file(cbi_link_run *run, const char *path)
{
    cbi_span bytes = {NULL, 0};
    errno = 0;
    /* nvlink opens a device, and finds no size */
    if (!cbi_is_device(path) && cbi_map_file(run->ctx, path, &bytes) != CB_OK)
        cbi_fatal(run->ctx, "input-file", &(cbi_place){.file = path},
                  errno ? strerror(errno) : NULL, "Could not open input file '%s'", path);
    if (!bytes.size)
        cbi_fatal(run->ctx, "input-file", &(cbi_place){.file = path}, NULL,
                  "Could not read file '%s'", path);
    return bytes;
}

static void read_side_files(cbi_link_run *run, cbi_link_options *options)
{
    const char *uidx = cbi_text(&run->line, OPT_UIDX_FILE);
    if (uidx) {
        read_side_file(run, uidx);
        cbi_fatal(run->ctx, "uidx", &(cbi_place){.file = uidx},
                  "the format of index files is not public; cubind cannot read them",
                  "Internal error: not uidx input");
    }
    const char *host = cbi_text(&run->line, OPT_NV_HOST);
    if (host) {
        options->nv_host = read_side_file(run, host);
        options->has_nv_host = true;
    }
}

static void set_identity(cbi_link_run *run, cbi_link_options *options)
{
    const cbi_command_line *line = &run->line;
    bool emulate = cbi_given(line, OPT_EMULATE) || run->aside;
    bool verbose = cbi_given(line, OPT_VERBOSE_TKINFO) ? cbi_is_on(line, OPT_VERBOSE_TKINFO)
                                                       : cbi_given(line, OPT_DEBUG);
    const char *output = cbi_text(line, OPT_OUTPUT_FILE);
    options->tool_name =
        cbi_given(line, OPT_TOOL_NAME) ? cbi_text(line, OPT_TOOL_NAME) : CBI_TOOL_NAME;
    options->tool_version = emulate ? CBI_NVLINK_VERSION : CBI_OWN_VERSION;
    options->tool_build = emulate ? CBI_NVLINK_BUILD : CBI_OWN_BUILD;
    options->object_name = verbose && output ? cbi_base_name(output) : "";
    options->command_line = cbi_compose_tkinfo(run->ctx, line, verbose);
}

static void set_options(cbi_link_run *run, cbi_link_options *options)
{
    const cbi_command_line *line = &run->line;
    options->arch = run->arch;
    options->exact = run->messages.plain;
    options->relocatable = cbi_is_on(line, OPT_RELOCATABLE_LINK);
    options->debug = cbi_is_on(line, OPT_DEBUG);
    options->elf32 = cbi_given(line, OPT_ELF32);
    options->spends_inputs = !run->aside && !cbi_given(line, OPT_REPRO);
    options->preserve_relocs = cbi_is_on(line, OPT_PRESERVE_RELOCS);
    options->force_rela = cbi_is_on(line, OPT_FORCE_RELA);
    options->allow_undefined_globals = cbi_is_on(line, OPT_ALLOW_UNDEFINED_GLOBALS);
    options->reserve_null_pointer = cbi_is_on(line, OPT_RESERVE_NULL_POINTER) &&
                                    !cbi_is_on(line, OPT_DONT_RESERVE_NULL_POINTER);
    options->disable_smem_reservation = cbi_is_on(line, OPT_DISABLE_SMEM_RESERVATION);
    options->enable_extended_smem = cbi_is_on(line, OPT_ENABLE_EXTENDED_SMEM);
    options->keep_system_libraries = cbi_is_on(line, OPT_KEEP_SYSTEM_LIBRARIES);
    options->suppress_debug_info = cbi_is_on(line, OPT_SUPPRESS_DEBUG_INFO);
    options->verbose = cbi_is_on(line, OPT_VERBOSE);
    options->extra_warnings = cbi_is_on(line, OPT_EXTRA_WARNINGS);
    options->suppress_stack_warnings = cbi_is_on(line, OPT_SUPPRESS_STACK_SIZE_WARNING);
    options->dump_callgraph =
        cbi_is_on(line, OPT_DUMP_CALLGRAPH) || cbi_is_on(line, OPT_DUMP_CALLGRAPH_NO_DEMANGLE);
    options->kernels_used = line->values[OPT_KERNELS_USED].list.items;
    options->kernels_used_count = line->values[OPT_KERNELS_USED].list.len;
    options->variables_used = line->values[OPT_VARIABLES_USED].list.items;
    options->variables_used_count = line->values[OPT_VARIABLES_USED].list.len;
    options->output_name = cbi_text(line, OPT_OUTPUT_FILE);
    options->dot = cbi_given(line, OPT_DOT_FILE);
    options->any_size = cbi_given(line, OPT_MEMORY_LIMIT);
    options->print = print_text;
    options->print_user = run;
    options->trace = cbi_print_trace;
    options->trace_run = cbi_is_set("CUBIND_EDBG");
    options->trace_eligibility = cbi_is_set("CAN_FINALIZE_DEBUG");
    options->map = cbi_given(line, OPT_MAP);
    options->traced = line->values[OPT_TRACE_SYMBOL].list.items;
    options->traced_count = line->values[OPT_TRACE_SYMBOL].list.len;
    options->why_live = line->values[OPT_WHY_LIVE].list.items;
    options->why_live_count = line->values[OPT_WHY_LIVE].list.len;
    options->required_kernels = line->values[OPT_REQUIRE_KERNEL].list.items;
    options->required_kernel_count = line->values[OPT_REQUIRE_KERNEL].list.len;
    options->find_elsewhere = cbi_find_elsewhere;
    options->find_user = run;
    options->view = &cbi_mercury_operations;
    set_identity(run, options);
}

const cbi_arch *cbi_input_arch(const cbi_link_run *run)
{
    if (run->arch)
        return run->arch;
    char name[32];
    snprintf(name, sizeof name, "sm_%s", strchr(run->target, '_') + 1);
    return cbi_arch_find(name);
}

static void set_ptx_options(cbi_link_run *run, cbi_ptx_options *ptx)
{
    const cbi_command_line *line = &run->line;
    ptx->ptxas = cbi_text(line, OPT_PTXAS);
    ptx->find_ptxas = !ptx->ptxas;
    ptx->debug = cbi_is_on(line, OPT_DEBUG) && !cbi_is_on(line, OPT_SUPPRESS_DEBUG_INFO);
    ptx->has_maxrregcount = cbi_given(line, OPT_MAXRREGCOUNT);
    ptx->maxrregcount = line->values[OPT_MAXRREGCOUNT].number;
    ptx->device_stack_protector = cbi_text(line, OPT_DEVICE_STACK_PROTECTOR);
    ptx->has_split_compile = cbi_given(line, OPT_SPLIT_COMPILE);
    ptx->split_compile = line->values[OPT_SPLIT_COMPILE].number;
    cbi_words extra = cbi_split_blanks(run->ctx, &line->values[OPT_XPTXAS].list);
    ptx->extra = extra.items;
    ptx->extra_count = extra.len;
    ptx->print = print_text;
    ptx->print_user = run;
}

/* Opens the input stage and searches the libraries. */
static cbi_inputs *open_inputs(cbi_link_run *run, const cbi_ptx_options *ptx)
{
    cbi_ctx *ctx = run->ctx;
    const cbi_command_line *line = &run->line;
    const cbi_opt_value *folders = &line->values[OPT_LIBRARY_PATH];
    cbi_strings paths = {0};
    for (size_t i = 0; i < folders->list.len; i++)
        cbi_vec_push(ctx, &paths, folders->list.items[i]);
    const char *environment = getenv("LIBRARY_PATH");
    if (environment)
        cbi_split_paths(ctx, environment, &paths);
    const char *cpu = cbi_text(line, OPT_CPU_ARCH);
    cbi_input_options options = {
        .arch = cbi_input_arch(run),
        .arch_text = run->target,
        .virtual_target = !run->arch,
        .exact = run->messages.plain,
        .elf32 = cbi_given(line, OPT_ELF32),
        .suppress_arch_warning = cbi_given(line, OPT_SUPPRESS_ARCH_WARNING),
        .lto = run->lto,
        .register_names = cbi_given(line, OPT_REGISTER_LINK_BINARIES),
        .no_host_patterns =
            cbi_given(line, OPT_IGNORE_HOST_INFO) || cbi_given(line, OPT_RELOCATABLE_LINK) ||
            line->values[OPT_KERNELS_USED].list.len || line->values[OPT_VARIABLES_USED].list.len,
        .host_machine = cbi_host_machine(cpu ? cpu : "unknown"),
        .library_paths = paths.items,
        .library_path_count = paths.len,
        .ptx = *ptx,
    };
    cbi_inputs *inputs = cbi_inputs_create(ctx, &options);
    const cbi_opt_value *libraries = &line->values[OPT_LIBRARY];
    for (size_t i = 0; i < libraries->list.len; i++)
        cbi_inputs_add_library(inputs, libraries->list.items[i]);
    return inputs;
}

const char *cbi_result_path(const cbi_link_run *run, cbi_opt option)
{
    const char *path = cbi_text(&run->line, option);
    return path && run->aside
               ? cbi_printf(run->ctx, "%s/%s", run->aside, cbi_options[option].long_name)
               : path;
}

/* When the last file has been read, while others are linked: the link goes on if nothing was wrong.
 */
static void check_inputs(void *user)
{
    cbi_link_run *run = user;
    cbi_check_read_files(run);
    if (run->ctx->error_count)
        cbi_fail(run->ctx, CB_ERR_LINK);
}

/* NULL: they are read before, since times of phases are listed, an archive has all that a failed
 * link would have read, or warnings are errors as long as inputs are read; or see there. */
static const cbi_input_stream *stream_inputs(cbi_link_run *run, cbi_inputs *collector)
{
    const cbi_command_line *line = &run->line;
    if (!run->arch || run->aside || cbi_given(line, OPT_REPRO) || cbi_given(line, OPT_TIME) ||
        cbi_given(line, OPT_STRICT))
        return NULL;
    cbi_input_stream *stream = cbi_inputs_stream(collector, line->inputs.items, line->inputs.len);
    if (stream) {
        stream->end = check_inputs;
        stream->end_user = run;
    }
    return stream;
}

static void read_inputs(cbi_link_run *run, cbi_inputs *collector)
{
    const cbi_words *paths = &run->line.inputs;
    cbi_read_ahead(run->ctx, paths->items, paths->len);
    for (size_t i = 0; i < paths->len; i++)
        cbi_inputs_add_file(collector, paths->items[i]);
    cbi_check_read_files(run); /* before anything is compiled */
}

static cb_status link_inputs(cbi_link_run *run)
{
    cbi_ctx *ctx = run->ctx;
    bool strict = cbi_given(&run->line, OPT_STRICT);
    bool warnings_as_errors = ctx->diag.warnings_as_errors;
    ctx->diag.warnings_as_errors = warnings_as_errors || strict;
    cbi_ptx_options ptx = {0};
    set_ptx_options(run, &ptx);
    ptx.takes_over = run->messages.plain && !strict;
    cbi_inputs *collector = open_inputs(run, &ptx);
    cbi_start_time_table(run);
    cbi_link_options options = {0};
    read_side_files(run, &options);
    options.stream = stream_inputs(run, collector);
    if (!options.stream)
        read_inputs(run, collector);
    cbi_inputs_result inputs = {0};
    cbi_inputs_finish(collector, &inputs);
    cbi_check_read_files(run);
    if (strict)
        ctx->diag.warnings_as_errors = warnings_as_errors;
    if (run->lto && !inputs.lto_count && !ctx->error_count) {
        cbi_warning(ctx, "lto-unused", NULL, NULL,
                    "Ignoring -dlto option because no LTO objects found");
        if (ctx->error_count)
            cbi_fatal(ctx, "merge-failed", NULL, NULL, "merge_elf failed");
    }
    cbi_write_time_rows(run, &inputs);
    if (ctx->error_count)
        return CB_ERR_LINK;

    cb_status status = CB_OK;
    cbi_link_result result = {0};
    bool done = inputs.lto_count && cbi_link_lto(run, collector, &ptx, &inputs);
    if (ctx->error_count)
        return CB_ERR_LINK;
    if (run->arch && !done) {
        set_options(run, &options);
        options.host = inputs.host;
        status = cbi_link(ctx, &options, inputs.inputs, inputs.input_count, &result);
        if (status != CB_OK && status != CB_ERR_LINK)
            return status;
        if (status == CB_OK)
            cbi_add_result(run, OPT_OUTPUT_FILE, &result.image);
    }
    /* For a virtual target nothing is linked, and nobody asks whether libcudadevrt is needed. */
    cbi_write_register_file(run, &inputs, done,
                            !run->arch || result.device_runtime_used ||
                                cbi_given(&run->line, OPT_KEEP_SYSTEM_LIBRARIES));
    if (options.map && status == CB_OK && !done)
        cbi_add_result_bytes(run, OPT_MAP, result.map.items, result.map.len);
    if (options.dot && !done)
        cbi_add_result_bytes(run, OPT_DOT_FILE, result.dot.items, result.dot.len);
    return status;
}

static void print_version(const char *program)
{
    printf("%s: %s, an open-source CUDA device linker\n"
           "Compatible with the linker of:\n%s\n%s\n",
           program, CBI_OWN_VERSION, CBI_NVLINK_VERSION, CBI_NVLINK_BUILD);
}

/* By default all cores, but one for inputs with which more do not pay. */
static void set_threads(cbi_link_run *run)
{
    int32_t number = run->line.values[OPT_THREADS].number;
    bool given = cbi_given(&run->line, OPT_THREADS) && number != 0;
    if (given && (number < 0 || number > CBI_THREADS_MAX))
        cbi_fatal(run->ctx, "thread-count", NULL,
                  cbi_printf(run->ctx, "from 0 to %d are possible", CBI_THREADS_MAX),
                  "Invalid number '%d' of --threads", number);
    run->ctx->all_threads = given;
    run->ctx->threads = given ? (unsigned)number : CBI_THREADS_MAX;
}

static cb_status run_link(cbi_ctx *ctx, void *arg)
{
    cbi_link_run *run = arg;
    run->ctx = ctx;
    cbi_parse_command_line(ctx, run->argc, run->argv, &run->line);
    const cbi_command_line *line = &run->line;
    run->parsed = true;
    if (cbi_given(&run->line, OPT_MEMORY_LIMIT))
        cbi_limit_memory(ctx, run->line.values[OPT_MEMORY_LIMIT].number);
    cbi_name_results(run);
    if (cbi_given(line, OPT_TOOL_NAME))
        run->messages.tool_name = cbi_text(line, OPT_TOOL_NAME);
    run->messages.summarize = cbi_given(line, OPT_SUMMARIZE_WARNINGS);
    if (cbi_given(line, OPT_HELP)) {
        cbi_print_link_help(run->as_nvlink ? "nvlink" : "cubind link", true);
        return CB_OK;
    }
    if (cbi_given(line, OPT_VERSION)) {
        print_version(run->as_nvlink ? "nvlink" : "cubind link");
        return CB_OK;
    }
    set_threads(run);
    ctx->diag.suppress_warnings = cbi_given(line, OPT_DISABLE_INFOS);
    ctx->diag.warnings_as_errors = cbi_given(line, OPT_WARNING_AS_ERROR);
    find_target(run);
    run->lto = cbi_given(line, OPT_LINK_TIME_OPT) || cbi_given(line, OPT_DLTO);
    cbi_check_collisions(run);
    run->results.durable = cbi_given(line, OPT_DURABLE);
    if (cbi_given(line, OPT_GEN_HOST_LINKER_SCRIPT)) {
        cbi_write_host_script(run);
        return CB_OK;
    }
    cbi_check_options(run);
    if (!run->messages.plain)
        cbi_report_idle_options(run);
    return link_inputs(run);
}

static cb_status save_repro(cbi_ctx *ctx, void *arg)
{
    (void)ctx;
    cbi_write_repro(arg);
    return CB_OK;
}

void cbi_put_in_place(cbi_ctx *ctx, cbi_outputs *results)
{
    cbi_refuse_changed(ctx);
    cbi_output_result result = cbi_outputs_commit(results);
    const char *failed = results->failed ? results->failed : "";
    failed = cbi_strndup(ctx, failed, strlen(failed));
    free(results->failed);
    results->failed = NULL;
    cbi_check_written(ctx, failed, result);
}

static cb_status put_in_place(cbi_ctx *ctx, void *arg)
{
    cbi_link_run *run = arg;
    cbi_link_targets *targets = run->targets;
    if (!targets) {
        cbi_put_in_place(ctx, &run->results);
        return CB_OK;
    }
    cbi_refuse_changed(ctx);
    return cbi_outputs_join(&targets->results, &run->results) ? CB_OK : CB_ERR_NOMEM;
}

/* The results of other targets go with those of this one. */
static void give_up_targets(cbi_link_run *run)
{
    if (run->targets && !run->targets->failed)
        cbi_outputs_drop_results(&run->targets->results);
    if (run->targets)
        run->targets->failed = true;
}

static int exit_code(cb_status status)
{
    return status == CB_OK ? 0 : status == CB_ERR_LINK ? 255 : 1;
}

/* All results or none.  A failed link leaves its records, and as nvlink what nvlink leaves: the
 * results before the one that could not be written. */
static cb_status finish(cbi_link_run *run, cb_status status)
{
    bool as_nvlink = run->messages.plain && (status == CB_ERR_LINK || status == CB_ERR_FATAL);
    if (status != CB_OK && !as_nvlink)
        cbi_outputs_drop_results(&run->results);
    bool repeatable = run->parsed && !run->refused && !cbi_changed_file();
    cb_status saved = repeatable ? cbi_run(run->ctx, save_repro, run) : CB_OK;
    if (saved != CB_OK) {
        /* memory that ran out has not been told */
        status = saved == CB_ERR_NOMEM ? saved : CB_ERR_IO;
        cbi_outputs_drop(&run->results);
    }
    if (status != CB_OK)
        give_up_targets(run);
    cb_status put = cbi_run(run->ctx, put_in_place, run);
    if (put != CB_OK)
        give_up_targets(run);
    cbi_outputs_drop(&run->results);
    return status == CB_OK ? put : status;
}

int cbi_link_perform(cbi_link_run *run)
{
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.shared_files = run->files;
    cbi_limit_memory(&ctx, -1);
    cbi_messages_attach(&run->messages, &ctx);
    cb_status status = cbi_run(&ctx, run_link, run);
    bool over_limit = ctx.over_limit;
    status = finish(run, status);
    ctx.over_limit |= over_limit;
    if (status == CB_ERR_NOMEM) /* files have been checked */
        cbi_messages_end(&run->messages, &ctx, status);
    cbi_messages_finish(&run->messages);
    int code = exit_code(status);
    if (run->messages.plain && fflush(stdout) != 0 && code == 0) {
        fprintf(stderr, "%s fatal   : Internal error: writing file\n", run->messages.tool_name);
        code = 1;
    }
    if (!run->messages.plain)
        code = cbi_check_stdout("cubind link", code, code ? code : 1);
    if (code)
        give_up_targets(run);
    clearerr(stdout);
    cbi_ctx_fini(&ctx);
    return code;
}

int cbi_link_aside(int argc, char *const *argv, const char *folder, const char *archive)
{
    cbi_link_run run = {
        .as_nvlink = true,
        .argc = argc,
        .argv = argv,
        .messages = {.tool_name = "nvlink", .plain = true},
        .aside = folder,
        .archive = archive,
    };
    return cbi_link_perform(&run);
}

int cbi_tool_link(int argc, char **argv)
{
    bool as_nvlink = strcmp(argv[0], "nvlink") == 0;
    const char *compare = as_nvlink ? getenv("CUBIND_COMPARE") : NULL;
    if (compare && *compare)
        return cbi_tool_compare(argc, argv, compare);
    int code;
    if (!as_nvlink && cbi_link_several(argc, argv, &code))
        return code;
    bool plain = as_nvlink || cbi_wants_emulation(argc, argv);
    cbi_link_run run = {
        .as_nvlink = as_nvlink,
        .argc = argc,
        .argv = argv,
        .messages = {.tool_name = plain ? "nvlink" : "cubind", .plain = plain},
    };
    return cbi_link_perform(&run);
}
