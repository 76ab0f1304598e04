/* CUBIND_COMPARE=NVLINK, under nvlink's name: NVLINK does the work, cubind repeats it beside and
 * says where its results differ.  Whatever becomes of cubind's own run, the user's build goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "link_run.h"
#include "object/object.h"
#include "say.h"
#include "tools.h"

enum { FATAL_SIGNAL = 128, NOT_STARTED = 127 };

/* The results that are compared: those that a link writes anew. */
static const cbi_opt results[] = {OPT_OUTPUT_FILE, OPT_REGISTER_LINK_BINARIES, OPT_DOT_FILE};

typedef struct comparison {
    int argc;
    char **argv;
    char *nvlink;
    char folder[PATH_MAX];               /* for cubind's results */
    cbi_link_run parsed;                 /* the command line */
    int expected, got;                   /* exit codes as a shell sees them */
    int records[CBI_COUNT(results) + 2]; /* of what is in the folder, for signals */
    size_t record_count;
    bool missing; /* there is no such nvlink */
} comparison;

static int wait_for(pid_t child)
{
    int status = 0;
    pid_t done;
    int record = cbi_cleanup_add_child(child);
    while ((done = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        continue;
    cbi_cleanup_forget_child(record);
    if (done < 0)
        return NOT_STARTED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : FATAL_SIGNAL + WTERMSIG(status);
}

static int run_nvlink(comparison *c)
{
    pid_t child;
    char *own_name = c->argv[0];
    c->argv[0] = c->nvlink;
    int failed = posix_spawnp(&child, c->nvlink, NULL, NULL, c->argv, environ);
    c->argv[0] = own_name;
    if (!failed)
        return wait_for(child);
    cbi_say("nvlink fatal   : Could not start '%s', which CUBIND_COMPARE names: %s", c->nvlink,
            strerror(failed));
    c->missing = true;
    return 1;
}

/* Links in a process of its own, silently; with an archive, only for that. */
static int run_cubind(const comparison *c, const char *archive)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return NOT_STARTED;
    if (child > 0)
        return wait_for(child);
    char log[PATH_MAX + 8];
    snprintf(log, sizeof log, "%s/log", c->folder);
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        _exit(NOT_STARTED);
    int code = cbi_link_aside(c->argc, c->argv, c->folder, archive);
    fflush(NULL);
    _exit(code);
}

static cb_status parse(cbi_ctx *ctx, void *arg)
{
    comparison *c = arg;
    cbi_parse_command_line(ctx, c->argc, c->argv, &c->parsed.line);
    return CB_OK;
}

/* ---- differences ---- */

/* The section that has the byte, as text to append; "" outside of all. */
static const char *name_section(cbi_ctx *ctx, cbi_span bytes, size_t at)
{
    cbi_object object;
    cbi_findings findings = {0};
    if (cbi_object_read(ctx, "", bytes, &object, &findings) != CBI_OBJECT_OK)
        return "";
    for (uint32_t i = 1; i < object.section_count; i++) {
        const cbi_section *s = &object.sections[i];
        if (s->data.data && at >= (size_t)(s->data.data - bytes.data) &&
            at - (size_t)(s->data.data - bytes.data) < s->data.size)
            return cbi_printf(ctx, " in %s", s->name);
    }
    return "";
}

/* How nvlink's file differs from cubind's; NULL: not at all. */
static const char *compare_files(cbi_ctx *ctx, const char *path, const char *ours)
{
    cbi_span a = {NULL, 0}, b = {NULL, 0};
    bool has_a = cbi_map_file(ctx, path, &a) == CB_OK;
    bool has_b = cbi_map_file(ctx, ours, &b) == CB_OK;
    if (!has_b) /* a list of modules that is complete is left alone */
        return NULL;
    if (!has_a)
        return cbi_printf(ctx, "'%s' is cubind's alone", path);
    size_t at = 0, common = a.size < b.size ? a.size : b.size;
    while (at < common && a.data[at] == b.data[at])
        at++;
    if (at == a.size && at == b.size)
        return NULL;
    return cbi_printf(ctx, "'%s' differs from cubind's at byte 0x%zx%s", path, at,
                      name_section(ctx, a, at));
}

/* The first line of what cubind said. */
static const char *first_words(cbi_ctx *ctx, const comparison *c)
{
    cbi_span log = {NULL, 0};
    if (cbi_map_file(ctx, cbi_printf(ctx, "%s/log", c->folder), &log) != CB_OK || !log.size)
        return "nothing";
    const uint8_t *end = memchr(log.data, '\n', log.size);
    return cbi_strndup(ctx, (const char *)log.data, end ? (size_t)(end - log.data) : log.size);
}

static const char *find_difference(cbi_ctx *ctx, const comparison *c)
{
    if ((c->expected == 0) != (c->got == 0))
        return cbi_printf(ctx, "nvlink ended with %d, cubind with %d and said: %s", c->expected,
                          c->got, first_words(ctx, c));
    const char *found = NULL;
    for (size_t i = 0; i < CBI_COUNT(results) && !found && c->expected == 0; i++) {
        const char *path = cbi_text(&c->parsed.line, results[i]);
        const char *ours = cbi_printf(ctx, "%s/%s", c->folder, cbi_options[results[i]].long_name);
        if (path)
            found = compare_files(ctx, path, ours);
    }
    return found;
}

/* Where the archive goes: into CUBIND_COMPARE_DIR, else beside the output. */
static const char *archive_path(cbi_ctx *ctx, const comparison *c)
{
    const char *folder = getenv("CUBIND_COMPARE_DIR");
    const char *output = cbi_text(&c->parsed.line, OPT_OUTPUT_FILE);
    if (!output)
        output = "a.out";
    if (folder && *folder)
        output = cbi_printf(ctx, "%s/%s", folder, cbi_base_name(output));
    return cbi_printf(ctx, "%s.cubind-compare.tar", output);
}

static cb_status report(cbi_ctx *ctx, void *arg)
{
    const comparison *c = arg;
    const char *difference = find_difference(ctx, c);
    if (!difference)
        return CB_OK;
    const char *archive = archive_path(ctx, c);
    run_cubind(c, archive);
    if (access(archive, R_OK) == 0)
        difference = cbi_printf(ctx, "%s; to repeat it: %s", difference, archive);
    cbi_say("nvlink info    : CUBIND_COMPARE: %s", difference);
    return CB_OK;
}

/* ---- the run ---- */

/* Calls fn for every file that may be in the folder. */
static void each_file(comparison *c, void (*fn)(comparison *c, const char *path))
{
    char path[PATH_MAX + 64];
    for (size_t i = 0; i <= CBI_COUNT(results); i++) {
        snprintf(path, sizeof path, "%s/%s", c->folder,
                 i < CBI_COUNT(results) ? cbi_options[results[i]].long_name : "log");
        fn(c, path);
    }
}

static void record_file(comparison *c, const char *path)
{
    c->records[c->record_count++] = cbi_cleanup_add(path, false);
}

static void remove_file(comparison *c, const char *path)
{
    (void)c;
    unlink(path);
}

static bool make_folder(comparison *c)
{
    const char *top = getenv("TMPDIR");
    int len = snprintf(c->folder, sizeof c->folder, "%s/cubind-compare-XXXXXX",
                       top && *top ? top : "/tmp");
    sigset_t before;
    cbi_cleanup_hold(&before);
    bool made = len > 0 && (size_t)len < sizeof c->folder && mkdtemp(c->folder);
    if (made) {
        c->records[c->record_count++] = cbi_cleanup_add(c->folder, true);
        each_file(c, record_file);
    }
    cbi_cleanup_release(&before);
    return made;
}

static void remove_folder(comparison *c)
{
    each_file(c, remove_file);
    rmdir(c->folder);
    while (c->record_count)
        cbi_cleanup_forget(c->records[--c->record_count]);
}

int cbi_tool_compare(int argc, char **argv, const char *nvlink)
{
    comparison c = {.argc = argc, .argv = argv};
    c.nvlink = strdup(nvlink);
    if (!c.nvlink)
        return 1;
    unsetenv("CUBIND_COMPARE"); /* in case it names cubind itself */
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    bool known = cbi_run(&ctx, parse, &c) == CB_OK;
    const cbi_command_line *line = &c.parsed.line;
    bool links = known && !cbi_given(line, OPT_HELP) && !cbi_given(line, OPT_VERSION) &&
                 !cbi_given(line, OPT_GEN_HOST_LINKER_SCRIPT) && make_folder(&c);
    /* first, since nvlink's results may replace what the link reads */
    if (links)
        c.got = run_cubind(&c, NULL);
    c.expected = run_nvlink(&c);
    if (links) {
        if (!c.missing)
            cbi_run(&ctx, report, &c);
        remove_folder(&c);
    }
    cbi_ctx_fini(&ctx);
    free(c.nvlink);
    return c.expected;
}
