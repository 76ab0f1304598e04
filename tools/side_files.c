/* Files that a link writes besides its output. */
#include "link_run.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/output_file.h"

void cbi_check_written(cbi_link_run *run, const char *path, cbi_output_result result)
{
    switch (result) {
    case CBI_OUTPUT_OK:
        return;
    case CBI_OUTPUT_NOT_OPENED:
        cbi_fatal(run->ctx, "output-file", &(cbi_place){.file = path}, NULL,
                  "Could not open output file '%s'", path);
    case CBI_OUTPUT_NOT_WRITTEN:
        cbi_fatal(run->ctx, "output-file", &(cbi_place){.file = path}, NULL,
                  "Internal error: writing file");
    }
}

void cbi_start_time_table(cbi_link_run *run)
{
    static const char head[] = "source file name , phase name , phase input files , "
                               "phase output file , arch , tool, metric , unit\n";
    const char *path = cbi_text(&run->line, OPT_TIME);
    if (!path || run->aside)
        return;
    if (strcmp(path, "-") == 0) {
        fputs(head, stdout);
        return;
    }
    struct stat st;
    bool fresh = stat(path, &st) != 0;
    FILE *file = fopen(path, "a");
    if (!file)
        cbi_fatal(run->ctx, "time-file", NULL, NULL, "Cannot open file '%s'", path);
    if (fresh)
        fputs(head, file);
    fclose(file);
}

void cbi_write_time_row(cbi_link_run *run, const cbi_ptx_run *row)
{
    const char *path = cbi_text(&run->line, OPT_TIME);
    if (!path || run->aside)
        return;
    bool to_stdout = strcmp(path, "-") == 0;
    FILE *file = to_stdout ? stdout : fopen(path, "a");
    if (!file)
        cbi_fatal(run->ctx, "time-file", NULL, NULL, "Cannot open file '%s'", path);
    fprintf(file, "%s , %s , %s , %s , %s , nvlink , %.4f , ms\n", row->source, row->phase,
            row->input, row->output, run->target, row->milliseconds);
    if (!to_stdout)
        fclose(file);
}

void cbi_write_time_rows(cbi_link_run *run, const cbi_inputs_result *inputs)
{
    for (size_t i = 0; i < inputs->ptx_run_count; i++)
        cbi_write_time_row(run, &inputs->ptx_runs[i]);
}

static bool names_device_runtime(cbi_ctx *ctx, const char *path)
{
    static const char mark[] = "_cuda_device_runtime_";
    cbi_span text = {NULL, 0};
    return cbi_map_file(ctx, path, &text) == CB_OK &&
           memmem(text.data, text.size, mark, strlen(mark)) != NULL;
}

/* The identifier with every other character turned into '_'. */
static void append_identifier(cbi_ctx *ctx, cbi_buf *out, const char *id)
{
    for (; *id; id++)
        cbi_buf_append(ctx, out, isalnum((unsigned char)*id) ? id : "_", 1);
}

void cbi_write_register_file(cbi_link_run *run, const cbi_inputs_result *inputs,
                             bool device_runtime_used)
{
    cbi_ctx *ctx = run->ctx;
    const char *path = cbi_text(&run->line, OPT_REGISTER_LINK_BINARIES);
    if (!path || names_device_runtime(ctx, path))
        return;
    cbi_buf rows = {0};
    size_t count = 0;
    for (size_t i = 0; i < inputs->id_count; i++) {
        if (inputs->ids[i].device_runtime && !device_runtime_used)
            continue;
        cbi_buf_printf(ctx, &rows, "DEFINE_REGISTER_FUNC(");
        append_identifier(ctx, &rows, inputs->ids[i].id);
        cbi_buf_printf(ctx, &rows, ")\n");
        count++;
    }
    cbi_buf out = {0};
    cbi_buf_printf(ctx, &out, "#define NUM_PRELINKED_OBJECTS %zu\n", count);
    cbi_buf_append(ctx, &out, rows.items, rows.len);
    path = cbi_result_path(run, OPT_REGISTER_LINK_BINARIES);
    cbi_check_written(run, path, cbi_write_output(path, out.items, out.len));
}
