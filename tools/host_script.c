/* -ghls: a linker script for the host linker that keeps the sections with device code together. */
#include "link_run.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output_file.h"

typedef CBI_VEC(char *) arg_list;

static const char fragment[] = "SECTIONS\n"
                               "{\n"
                               "\t.nvFatBinSegment : { *(.nvFatBinSegment) }\n"
                               "\t__nv_relfatbin : { *(__nv_relfatbin) } \n"
                               "\t.nv_fatbin : { *(.nv_fatbin) }\n"
                               "}\n";

static void add_arg(cbi_ctx *ctx, arg_list *args, const char *arg)
{
    cbi_vec_push(ctx, args, cbi_strndup(ctx, arg, strlen(arg)));
}

/* Runs a program and returns what it prints, NUL-terminated; "" if it cannot be started. */
static char *output_of(cbi_ctx *ctx, arg_list *args, bool with_stderr)
{
    cbi_buf text = {0};
    int ends[2];
    cbi_vec_push(ctx, args, NULL);
    if (pipe2(ends, O_CLOEXEC) == 0) {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        if (with_stderr)
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
        pid_t child;
        int failed = posix_spawnp(&child, args->items[0], &actions, NULL, args->items, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        char block[4096];
        ssize_t size;
        while (!failed &&
               ((size = read(ends[0], block, sizeof block)) > 0 || (size < 0 && errno == EINTR)))
            if (size > 0)
                cbi_buf_append(ctx, &text, block, (size_t)size);
        close(ends[0]);
        if (!failed)
            while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
                continue;
    }
    cbi_buf_text(ctx, &text);
    return (char *)text.items;
}

/* Copies those words of the compiler's link command that choose among ld's default scripts:
 * -pie, -r, -shared, -z WORD, -m WORD. */
static void add_script_choice(cbi_ctx *ctx, char *command, arg_list *ld)
{
    char *rest;
    const char *word = strtok_r(command, " \n", &rest);
    for (; word; word = strtok_r(NULL, " \n", &rest)) {
        if (strcmp(word, "-z") == 0 || strcmp(word, "-m") == 0) {
            add_arg(ctx, ld, word);
            if (!(word = strtok_r(NULL, " \n", &rest)))
                return;
            add_arg(ctx, ld, word);
        } else if (strcmp(word, "-pie") == 0 || strcmp(word, "-r") == 0 ||
                   strcmp(word, "-shared") == 0) {
            add_arg(ctx, ld, word);
        }
    }
}

static void ask_compiler(cbi_link_run *run, arg_list *ld)
{
    cbi_ctx *ctx = run->ctx;
    const char *compiler = cbi_text(&run->line, OPT_HOST_CCBIN);
    arg_list probe = {0};
    add_arg(ctx, &probe, compiler ? compiler : "gcc");
    add_arg(ctx, &probe, "-###");
    add_arg(ctx, &probe, "/dev/null");
    if (cbi_given(&run->line, OPT_SHARED))
        add_arg(ctx, &probe, "-shared");
    else if (cbi_given(&run->line, OPT_RELOCATABLE_LINK))
        add_arg(ctx, &probe, "-r");
    add_arg(ctx, &probe, "-m64");
    char *text = output_of(ctx, &probe, true);
    char *rest;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (strstr(line, "collect2"))
            add_script_choice(ctx, line, ld);
}

/* The part of `ld --verbose` between the two lines of '='. */
static cbi_span default_script(cbi_link_run *run)
{
    cbi_ctx *ctx = run->ctx;
    arg_list ld = {0};
    add_arg(ctx, &ld, "ld");
    add_arg(ctx, &ld, "--verbose");
    const cbi_opt_value *given = &run->line.values[OPT_HOST_LINKER_OPTIONS];
    if (given->list.len) {
        /* nvlink glues the items together, so `-Xlinker=-z -Xlinker=now` becomes -znow */
        cbi_buf all = {0};
        for (size_t i = 0; i < given->list.len; i++)
            cbi_buf_printf(ctx, &all, "%s", given->list.items[i]);
        char *rest;
        cbi_buf_text(ctx, &all);
        for (char *word = strtok_r((char *)all.items, " ", &rest); word;
             word = strtok_r(NULL, " ", &rest))
            add_arg(ctx, &ld, word);
    } else {
        ask_compiler(run, &ld);
    }
    char *text = output_of(ctx, &ld, false);
    char *start = strstr(text, "\n=====");
    start = start ? strchr(start + 1, '\n') : NULL;
    char *end = start ? strstr(start, "\n=====") : NULL;
    if (!end)
        return (cbi_span){NULL, 0};
    return (cbi_span){(const uint8_t *)start + 1, (size_t)(end - start)};
}

/* ld reads the script before it finds that it has no inputs. */
static bool script_is_valid(cbi_ctx *ctx, const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return true; /* ld would wait for its own output in /dev/stdout */
    arg_list ld = {0};
    add_arg(ctx, &ld, "ld");
    add_arg(ctx, &ld, "-T");
    add_arg(ctx, &ld, path);
    return strstr(output_of(ctx, &ld, true), "no input files") != NULL;
}

void cbi_write_host_script(cbi_link_run *run)
{
    cbi_ctx *ctx = run->ctx;
    if (run->line.inputs.len)
        cbi_fatal(ctx, "ghls-inputs", NULL, NULL,
                  "Input files are not allowed with -ghls option; use --help for more information");
    const char *path = cbi_text(&run->line, OPT_OUTPUT_FILE);
    const char *kind = cbi_text(&run->line, OPT_GEN_HOST_LINKER_SCRIPT);
    bool whole = kind && strcmp(kind, "lcs-abs") == 0;
    cbi_buf script = {0};
    if (whole) {
        cbi_span base = default_script(run);
        cbi_buf_append(ctx, &script, base.data, base.size);
    }
    cbi_buf_append(ctx, &script, fragment, strlen(fragment));
    if (!path) {
        fwrite(script.items, 1, script.len, stdout);
        return;
    }
    errno = 0;
    bool written = cbi_write_output(path, script.items, script.len) == CBI_OUTPUT_OK;
    if (!written && !whole)
        cbi_fatal(ctx, "output-file", NULL, errno ? strerror(errno) : NULL,
                  "Could not open output file '%s'", path);
    if (whole && !(written && script_is_valid(ctx, path)))
        cbi_fatal(ctx, "host-script", NULL, "the host's `ld` must be found through PATH",
                  "Host linker script creation failed.");
}
