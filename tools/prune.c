/* cubind prune: files with the device code for chosen targets alone; nvprune's command line. */
#include "container/prune.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/identity.h"
#include "base/files.h"
#include "base/output_file.h"
#include "arguments.h"
#include "bundle.h"
#include "limits.h"
#include "messages.h"
#include "say.h"
#include "tools.h"

typedef struct prune_run {
    cbi_ctx *ctx;
    cbi_messages messages;
    int argc;
    char *const *argv;
    cbi_opt_value values[PRUNE_COUNT];
    cbi_words inputs;
    cbi_words option_files;
    CBI_VEC(cbi_prune_target) targets;
} prune_run;

#define MISTAKE(run, help, ...) cbi_fatal((run)->ctx, "command-line", NULL, (help), __VA_ARGS__)

static void add_target(prune_run *run, const char *text)
{
    cbi_prune_target target;
    if (!cbi_prune_target_parse(text, &target)) {
        cbi_suggestion near = {.word = text};
        const char *best = cbi_suggest_target(&near, false, NULL);
        MISTAKE(run,
                cbi_printf(run->ctx, "%s%s%stargets are sm_90, compute_90 and lto_90, for example",
                           best ? "did you mean " : "", best ? best : "", best ? "?\n" : ""),
                "Value '%s' is no target", text);
    }
    cbi_vec_push(run->ctx, &run->targets, target);
}

static void add_specification(prune_run *run, const char *text)
{
    cbi_gencode gencode = cbi_gencode_read(run->ctx, text);
    cbi_gencode_part part;
    const char *arch = NULL, *word;
    bool any = false;
    while ((part = cbi_gencode_next(run->ctx, &gencode, &word)) != GENCODE_END) {
        if (part == GENCODE_UNKNOWN)
            MISTAKE(run, "write arch=compute_90,code=[sm_90,compute_90]",
                    "Keyword '%.*s' is not defined for option 'generate-code'",
                    (int)strcspn(word, "="), word);
        if (part == GENCODE_ARCH) {
            arch = word;
        } else {
            add_target(run, word);
            any = true;
        }
    }
    if (!any && arch)
        add_target(run, arch);
}

static void read_targets(prune_run *run)
{
    const cbi_words *archs = &run->values[PRUNE_ARCH].list;
    const cbi_words *codes = &run->values[PRUNE_GENERATE_CODE].list;
    for (size_t i = 0; i < archs->len; i++)
        add_target(run, archs->items[i]);
    for (size_t i = 0; i < codes->len; i++)
        add_specification(run, codes->items[i]);
    if (!run->targets.len)
        MISTAKE(run, NULL, "no target given: -arch or -gencode names what is kept");
    if (run->inputs.len != 1)
        MISTAKE(run, NULL, "%s", run->inputs.len ? "one file at a time" : "no file given");
    if (!run->values[PRUNE_OUTPUT].given)
        MISTAKE(run, NULL, "no output given: -o names the file to write");
}

/* Gives the room of zeros back to the disk; where that cannot be, the file is right all the same.
 */
static void punch_holes(const cbi_prune *p, const char *path)
{
    int fd = p->holes.len ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    for (size_t i = 0; i < p->holes.len; i++)
        (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)p->holes.items[i].offset, (off_t)p->holes.items[i].size);
    close(fd);
}

/* A program stays a program. */
static void copy_mode(const char *from, const char *to)
{
    struct stat mode;
    if (stat(from, &mode) == 0 && (mode.st_mode & 0111))
        (void)chmod(to, mode.st_mode & 0777);
}

static void write_result(prune_run *run, const cbi_prune *p, const cbi_rope *result)
{
    const char *path = run->values[PRUNE_OUTPUT].text;
    cbi_refuse_changed(run->ctx);
    errno = 0;
    if (cbi_write_output_rope(path, result) != CBI_OUTPUT_OK)
        cbi_fatal(run->ctx, "output-file", &(cbi_place){.file = path},
                  errno ? strerror(errno) : NULL, "cannot write '%s'", path);
    copy_mode(run->inputs.items[0], path);
    punch_holes(p, path);
}

static void report_missing(prune_run *run, const cbi_prune *p, const char *path)
{
    static const char *const names[] = {
        [CBI_SLICE_CUBIN] = "sm", [CBI_SLICE_PTX] = "compute", [CBI_SLICE_LTOIR] = "lto"};
    for (size_t i = 0; i < p->target_count; i++)
        if (!p->targets[i].met)
            cbi_warning(run->ctx, "prune-nothing", &(cbi_place){.file = path},
                        "`cubind extract` lists what there is", "'%s' holds no code for %s_%u%s",
                        path, names[p->targets[i].kind], p->targets[i].sm,
                        (const char[2]){p->targets[i].suffix, 0});
}

static cb_status job(cbi_ctx *ctx, void *arg)
{
    prune_run *run = arg;
    run->ctx = ctx;
    const cbi_parsed parsed = {
        .values = run->values, .inputs = &run->inputs, .option_files = &run->option_files};
    cbi_parse_options(ctx, cbi_prune_options_table, PRUNE_COUNT, run->argc, run->argv, &parsed);
    if (run->values[PRUNE_VERSION].given) {
        printf("%s: %s\n", run->messages.tool_name, CBI_OWN_VERSION);
        return CB_OK;
    }
    if (run->values[PRUNE_HELP].given || run->argc < 2) {
        printf("\nUsage: %s [options] -o OUTPUT FILE\n\n"
               "Writes the file with the device code for chosen targets alone; all else stays.\n\n"
               "Options\n=======\n\n",
               run->messages.tool_name);
        cbi_print_option_table(cbi_prune_options_table, PRUNE_COUNT);
        return CB_OK;
    }
    read_targets(run);
    const char *path = run->inputs.items[0];
    cbi_prune p = {.targets = run->targets.items,
                   .target_count = run->targets.len,
                   .no_relocatable_elf = run->values[PRUNE_NO_RELOCATABLE_ELF].given};
    cbi_span bytes;
    errno = 0;
    if (cbi_map_file(ctx, path, &bytes) != CB_OK)
        cbi_fatal(ctx, "input-file", &(cbi_place){.file = path}, errno ? strerror(errno) : NULL,
                  "cannot read '%s'", path);
    cbi_rope result = cbi_prune_file(ctx, &p, path, bytes);
    report_missing(run, &p, path);
    write_result(run, &p, &result);
    return CB_OK;
}

int cbi_tool_prune(int argc, char **argv)
{
    bool as_nvprune = strcmp(argv[0], "nvprune") == 0;
    prune_run run = {
        .argc = argc,
        .argv = argv,
        .messages = {.tool_name = as_nvprune ? "nvprune" : "cubind prune"},
    };
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_limit_memory(&ctx, -1);
    cbi_messages_attach(&run.messages, &ctx);
    cb_status status = cbi_run(&ctx, job, &run);
    cbi_messages_end(&run.messages, &ctx, status);
    cbi_ctx_fini(&ctx);
    return cbi_check_stdout(run.messages.tool_name, status == CB_OK ? 0 : 1, 1);
}
