/* The program: `cubind COMMAND ...`, or the command line of a tool of the toolkit when called by
 * its name. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/identity.h"
#include "base/base.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "arguments.h"
#include "say.h"
#include "tools.h"

static int tool_help(int argc, char **argv);
static int tool_version(int argc, char **argv);

const cbi_command cbi_commands[] = {
    {"link", cbi_tool_link, "link device code into one cubin", NULL, NULL},
    {"dlink", cbi_tool_dlink, "link the device code of a program into a host object", NULL, NULL},
    {"bundle", cbi_tool_bundle, "put device code into a fatbin", NULL, NULL},
    {"prune", cbi_tool_prune, "keep the device code for chosen targets", NULL, NULL},
    {"finalize", cbi_tool_finalize, "make a cubin of sm_100 or later fit another chip",
     cbi_options_finalize, NULL},
    {"dump", cbi_tool_dump, "show what is in device code", cbi_options_dump, NULL},
    {"extract", cbi_tool_extract, "list or write the device code in any file", cbi_options_extract,
     NULL},
    {"check", cbi_tool_check, "validate device code", cbi_options_check, NULL},
    {"diff", cbi_tool_diff, "say what differs between two files", cbi_options_diff, NULL},
    {"size", cbi_tool_size, "say where the bytes of device code are", cbi_options_size, NULL},
    {"completion", cbi_tool_completion, "print the completions of a shell", NULL, "bash zsh fish"},
    {"help", tool_help, "print this text", NULL, "@commands"},
    {"version", tool_version, "print the version", NULL, ""},
    {0},
};

/* Programs of the toolkit whose command line is understood under their name. */
typedef struct alias {
    const char *name;
    int (*run)(int argc, char **argv);
} alias;

static const alias aliases[] = {
    {"nvlink", cbi_tool_link},
    {"fatbinary", cbi_tool_bundle},
    {"nvprune", cbi_tool_prune},
    {"cuobjdump", cbi_tool_cuobjdump},
    {0},
};

static const cbi_command *find_command(const char *name)
{
    for (const cbi_command *c = cbi_commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static void print_commands(FILE *out)
{
    fprintf(out, "Usage: cubind COMMAND ...\n\nCommands:\n");
    for (const cbi_command *c = cbi_commands; c->name; c++)
        fprintf(out, "  %-12s%s\n", c->name, c->help);
    fprintf(out, "\n`cubind COMMAND --help` tells more.  Called as");
    for (const alias *a = aliases; a->name; a++)
        fprintf(out, "%s `%s`", a == aliases ? "" : a[1].name ? "," : " or", a->name);
    fprintf(out, ", cubind is a drop-in\nfor it.\n");
}

static void unknown_command(const char *name)
{
    cbi_suggestion near = {.word = name};
    for (const cbi_command *c = cbi_commands; c->name; c++)
        cbi_suggestion_offer(&near, c->name);
    cbi_suggestion_offer(&near, "--help");
    cbi_suggestion_offer(&near, "--version");
    cbi_say("cubind: there is no command '%s'; `cubind help` lists them", name);
    if (cbi_suggestion_text(&near))
        cbi_say("  help: did you mean %s?", cbi_suggestion_text(&near));
}

static int tool_help(int argc, char **argv)
{
    const cbi_command *command = argc > 1 ? find_command(argv[1]) : NULL;
    if (argc > 1 && !command) {
        unknown_command(argv[1]);
        return 1;
    }
    if (!command || command->run == tool_help || command->run == tool_version) {
        print_commands(stdout);
        return 0;
    }
    char option[] = "--help";
    char *args[] = {argv[1], option, NULL};
    return command->run(2, args);
}

static int tool_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("%s\nFollows nvlink of:\n%s\n%s\n", CBI_OWN_VERSION, CBI_NVLINK_VERSION,
           CBI_NVLINK_BUILD);
    return 0;
}

bool cbi_is_set(const char *variable)
{
    const char *text = getenv(variable);
    return text && strtol(text, NULL, 10) != 0;
}

void cbi_print_trace(void *user, const char *line)
{
    (void)user;
    cbi_say("%s", line);
}

/* Where a standard stream is closed, a result file would get its number and what is printed. */
static void fill_closed_streams(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            /* opened the wrong way round, so that its use still fails */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static int run_command(int argc, char **argv)
{
    if (argc < 2) {
        print_commands(stderr);
        return 1;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_commands(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const cbi_command *command = find_command(name);
    if (!command) {
        unknown_command(name);
        return 1;
    }
    return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    cbi_touch_pages();
    fill_closed_streams();
    cbi_cleanup_install();
    cbi_watch_files();
    const char *program = argc > 0 ? cbi_base_name(argv[0]) : "";
    for (const alias *a = aliases; a->name; a++) {
        if (strcmp(program, a->name) == 0) {
            argv[0] = (char *)program;
            return a->run(argc, argv);
        }
    }
    return cbi_check_stdout("cubind", run_command(argc, argv), 1);
}
