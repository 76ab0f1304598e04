/* Files that a link writes besides its output. */
#include "link_run.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sink.h"

void cbi_check_written(cbi_ctx *ctx, const char *path, cbi_output_result result)
{
    const cbi_place place = {.file = path};
    const char *why = errno ? strerror(errno) : NULL;
    switch (result) {
    case CBI_OUTPUT_OK:
        return;
    case CBI_OUTPUT_NOT_OPENED:
        cbi_fatal(ctx, "output-file", &place, why, "Could not open output file '%s'", path);
    case CBI_OUTPUT_NOT_WRITTEN:
        cbi_fatal(ctx, "output-file", &place,
                  cbi_printf(ctx, "%s%s'%s' is as it was", why ? why : "", why ? "; " : "", path),
                  "Internal error: writing file");
    }
}

static void capture(cbi_link_run *run, cbi_opt option, const cbi_rope *rope)
{
    cbi_link_capture *c = run->capture;
    if (option == OPT_OUTPUT_FILE)
        c->image = cbi_rope_flatten(c->ctx, rope);
    else if (option == OPT_REGISTER_LINK_BINARIES)
        c->registration = cbi_rope_flatten(c->ctx, rope);
}

void cbi_add_result(cbi_link_run *run, cbi_opt option, const cbi_rope *rope)
{
    if (run->capture) {
        capture(run, option, rope);
        return;
    }
    const char *path = cbi_result_path(run, option);
    errno = 0;
    if (path)
        cbi_check_written(run->ctx, path, cbi_outputs_add(&run->results, path, rope));
}

void cbi_add_result_bytes(cbi_link_run *run, cbi_opt option, const void *data, size_t size)
{
    const cbi_span part = {data, size};
    cbi_rope rope = {.size = size};
    cbi_vec_push(run->ctx, &rope.parts, part);
    cbi_add_result(run, option, &rope);
}

static void print_time(cbi_link_run *run, const char *text)
{
    const char *path = cbi_text(&run->line, OPT_TIME);
    if (path && strcmp(path, "-") == 0)
        fputs(text, stdout);
    else
        cbi_buf_append(run->ctx, &run->time_rows, text, strlen(text));
}

void cbi_start_time_table(cbi_link_run *run)
{
    static const char head[] = "source file name , phase name , phase input files , "
                               "phase output file , arch , tool, metric , unit\n";
    const char *path = cbi_text(&run->line, OPT_TIME);
    if (!path || run->aside)
        return;
    bool to_stdout = strcmp(path, "-") == 0;
    struct stat st;
    bool fresh = to_stdout || stat(path, &st) != 0;
    if (!to_stdout && cbi_outputs_append(&run->results, path, &run->time_rows) != CBI_OUTPUT_OK)
        cbi_fatal(run->ctx, "time-file", NULL, strerror(errno), "Cannot open file '%s'", path);
    if (fresh)
        print_time(run, head);
}

void cbi_write_time_row(cbi_link_run *run, const cbi_ptx_run *row)
{
    if (cbi_given(&run->line, OPT_TIME) && !run->aside)
        print_time(run, cbi_printf(run->ctx, "%s , %s , %s , %s , %s , nvlink , %.4f , ms\n",
                                   row->source, row->phase, row->input, row->output, run->target,
                                   row->milliseconds));
}

void cbi_write_time_rows(cbi_link_run *run, const cbi_inputs_result *inputs)
{
    for (size_t i = 0; i < inputs->ptx_run_count; i++)
        cbi_write_time_row(run, &inputs->ptx_runs[i]);
}

static bool has_mark(cbi_span text)
{
    static const char mark[] = "_cuda_device_runtime_";
    return text.size && memmem(text.data, text.size, mark, strlen(mark)) != NULL;
}

static cb_status find_mark(cbi_ctx *ctx, void *arg)
{
    const char **path = arg;
    cbi_span text = {NULL, 0};
    bool found = cbi_map_file(ctx, *path, &text) == CB_OK && has_mark(text);
    return found ? CB_OK : CB_ERR_FORMAT;
}

/* In a job of its own: the file is no input. */
static bool names_device_runtime(const char *path)
{
    cbi_ctx scratch;
    cbi_ctx_init(&scratch);
    bool found = cbi_run(&scratch, find_mark, &path) == CB_OK;
    cbi_ctx_fini(&scratch);
    return found;
}

static bool is_complete(const cbi_link_run *run, const char *path)
{
    if (run->capture)
        return has_mark(run->capture->registration);
    const cbi_link_targets *targets = run->targets;
    return targets && targets->listed ? targets->names_runtime : names_device_runtime(path);
}

static bool is_there(const cbi_link_run *run, const char *path)
{
    if (run->capture)
        return run->capture->registration.size > 0;
    return (run->targets && run->targets->listed) || access(path, F_OK) == 0;
}

/* What another target's link has written stays, too, where this one does without libcudadevrt. */
static bool leaves_out_runtime(const cbi_inputs_result *inputs, bool device_runtime_used)
{
    size_t runtimes = 0;
    for (size_t i = 0; i < inputs->id_count; i++)
        runtimes += inputs->ids[i].device_runtime;
    return !device_runtime_used && runtimes && runtimes < inputs->id_count;
}

/* The identifier with every other character turned into '_'. */
static void append_identifier(cbi_ctx *ctx, cbi_buf *out, const char *id)
{
    for (; *id; id++)
        cbi_buf_append(ctx, out, isalnum((unsigned char)*id) ? id : "_", 1);
}

void cbi_write_register_file(cbi_link_run *run, const cbi_inputs_result *inputs, bool last_first,
                             bool device_runtime_used)
{
    cbi_ctx *ctx = run->ctx;
    const char *path = cbi_text(&run->line, OPT_REGISTER_LINK_BINARIES);
    bool stays_ptx = last_first && cbi_given(&run->line, OPT_EMIT_PTX);
    if (!path || stays_ptx || is_complete(run, path) ||
        (leaves_out_runtime(inputs, device_runtime_used) && is_there(run, path)))
        return;
    cbi_buf rows = {0};
    size_t count = 0;
    for (size_t i = 0; i < inputs->id_count; i++) {
        size_t at = last_first ? inputs->id_count - 1 - i : i;
        if (inputs->ids[at].device_runtime && !device_runtime_used)
            continue;
        cbi_buf_printf(ctx, &rows, "DEFINE_REGISTER_FUNC(");
        append_identifier(ctx, &rows, inputs->ids[at].id);
        cbi_buf_printf(ctx, &rows, ")\n");
        count++;
    }
    cbi_buf out = {0};
    cbi_buf_printf(ctx, &out, "#define NUM_PRELINKED_OBJECTS %zu\n", count);
    cbi_buf_append(ctx, &out, rows.items, rows.len);
    cbi_add_result_bytes(run, OPT_REGISTER_LINK_BINARIES, out.items, out.len);
    if (run->targets) {
        run->targets->listed = true;
        run->targets->names_runtime = has_mark((cbi_span){out.items, out.len});
    }
}
