/* cubind finalize: makes a finished sm_100+ cubin fit a target. */
#include "arguments.h"
#include "say.h"
#include "tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/identity.h"
#include "base/files.h"
#include "base/output_file.h"
#include "finalize/fnlzr.h"
#include "limits.h"
#include "messages.h"

typedef struct finalize {
    cbi_fnlzr_config config;
    const char *input;
    const char *output;
    bool help;
    cbi_fnlzr_code code;
    cbi_buf image;
} finalize;

enum { HELP_COLUMN = 40 };

const cbi_tool_option cbi_options_finalize[] = {
    {"-arch", "--gpu-name", "NAME", "@mercury", "target"},
    {"-o", "--output-file", "FILE", NULL, "result"},
    {.name = "--post-link", .help = "take executables only"},
    {.name = "--edbg", .help = "trace on stderr; also CUBIND_EDBG=1"},
    {0},
};

/* Own options and those of the engine in one column. */
static void print_option(void *user, const cbi_tool_option *o)
{
    (void)user;
    if (strcmp(o->name, "--help") == 0)
        return;
    int width = printf("  %s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
    if (o->other)
        width += printf(", %s%s%s", o->other, o->value ? " " : "", o->value ? o->value : "");
    printf("%*s%s\n", width < HELP_COLUMN ? HELP_COLUMN - width : 1, "", o->help);
}

static void usage(void)
{
    const cbi_command self = {.run = cbi_tool_finalize, .options = cbi_options_finalize};
    fputs("Usage: cubind finalize -arch sm_NN[af] [OPTION]... FILE -o OUT\n\n"
          "Makes a linked or relocatable cubin of sm_100 or later fit another chip of its\n"
          "family.  Code that the target can run unchanged is kept; anything else needs a\n"
          "compiler, which cubind is not, and is refused with the kernel's name.\n\n",
          stdout);
    cbi_each_option(&self, print_option, NULL);
    fputs(
        "\nCAN_FINALIZE_DEBUG=1 in the environment says on stderr why a target can be reached\n"
        "or not.\n"
        "\nExit status: 0, or the finalizer's code: 4 target not reachable or a compiler needed,\n"
        "5 no Mercury code, 6 not a device ELF, 7 unknown ABI, 11 out of memory, 17-19\n"
        "self-check failed (code, relocations, symbols), 25 Mercury version too new; 1 for\n"
        "usage and file errors.\n",
        stdout);
}

static bool is_one_of(const char *arg, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(arg, names[i]) == 0)
            return true;
    return false;
}

static const char *const arch_names[] = {"-arch", "--arch", "--gpu-name"};
static const char *const output_names[] = {"-o", "--output-file"};
#define IS_ARCH(arg)   is_one_of((arg), arch_names, CBI_COUNT(arch_names))
#define IS_OUTPUT(arg) is_one_of((arg), output_names, CBI_COUNT(output_names))

static void offer_option(void *user, const cbi_tool_option *o)
{
    cbi_suggestion_offer(user, o->name);
    if (o->other)
        cbi_suggestion_offer(user, o->other);
}

static void unknown_option(const char *arg)
{
    const cbi_command self = {.run = cbi_tool_finalize, .options = cbi_options_finalize};
    cbi_suggestion near = {.word = arg};
    cbi_each_option(&self, offer_option, &near);
    cbi_say("cubind finalize: unknown option %s", arg);
    if (cbi_suggestion_text(&near))
        cbi_say("  help: did you mean %s?", cbi_suggestion_text(&near));
    else
        cbi_say("  help: `cubind finalize --help` lists the options");
}

/* Takes one option; value is NULL where it has none.  False after a message. */
static bool take_option(finalize *f, const char *arg, const cbi_fnlzr_option *option,
                        const char *value)
{
    if (option) {
        const char *wrong = cbi_fnlzr_option_set(&f->config, option, value);
        if (wrong)
            cbi_say("cubind finalize: %s takes %s, not '%s'", arg, wrong, value);
        return !wrong;
    }
    if (IS_ARCH(arg)) {
        f->config.target = cbi_arch_find(value);
        if (!f->config.target || !cbi_arch_is_mercury(f->config.target)) {
            cbi_suggestion near = {.word = value};
            cbi_say("cubind finalize: '%s' is no target of sm_100 or later", value);
            if (cbi_suggest_target(&near, true, cbi_arch_is_mercury))
                cbi_say("  help: did you mean %s?", cbi_suggestion_text(&near));
            return false;
        }
    } else if (IS_OUTPUT(arg)) {
        f->output = value;
    } else if (strcmp(arg, "--post-link") == 0) {
        f->config.post_link = true;
    } else if (strcmp(arg, "--edbg") == 0) {
        f->config.trace_run = true;
    } else {
        unknown_option(arg);
        return false;
    }
    return true;
}

/* False after a message. */
static bool read_options(finalize *f, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            f->help = true;
            return true;
        }
        if (arg[0] != '-' || !arg[1]) {
            if (f->input) {
                cbi_say("cubind finalize: one file at a time; '%s' is the second", arg);
                return false;
            }
            f->input = arg;
            continue;
        }
        char name[64];
        const char *value = strchr(arg, '=');
        if (value && (size_t)(value - arg) < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)(value - arg), arg);
            arg = name;
            value++;
        }
        const cbi_fnlzr_option *option = cbi_fnlzr_option_find(arg);
        bool valued = option ? option->value != NULL : IS_ARCH(arg) || IS_OUTPUT(arg);
        if (valued && !value)
            value = ++i < argc ? argv[i] : NULL;
        if (valued != (value != NULL)) {
            cbi_say("cubind finalize: %s %s a value", arg, valued ? "needs" : "takes no");
            return false;
        }
        if (!take_option(f, arg, option, value))
            return false;
    }
    if (!f->config.target || !f->input || !f->output) {
        cbi_say("cubind finalize: %s is missing; --help tells more", !f->config.target ? "-arch"
                                                                     : !f->input ? "the input file"
                                                                                 : "-o");
        return false;
    }
    f->config.output_name = f->output;
    return true;
}

static cb_status job(cbi_ctx *ctx, void *arg)
{
    finalize *f = arg;
    cbi_span bytes;
    errno = 0;
    if (cbi_map_file(ctx, f->input, &bytes) != CB_OK) {
        cbi_say("cubind finalize: cannot read '%s'%s%s", f->input, errno ? ": " : "",
                errno ? strerror(errno) : "");
        return CB_ERR_IO;
    }
    cbi_refuse_replacing(ctx, &f->output, 1);
    f->code = cbi_fnlzr_run(ctx, &f->config, f->input, bytes, &f->image);
    if (cbi_changed_file() || cbi_find_changed(ctx)) {
        cbi_say("cubind finalize: '%s' was changed while it was read", f->input);
        f->code = CBI_FNLZR_OK;
        return CB_ERR_IO;
    }
    if (f->code)
        return f->code == CBI_FNLZR_NO_MEMORY ? CB_ERR_NOMEM : CB_ERR_LINK;
    errno = 0;
    if (cbi_write_output(f->output, f->image.items, f->image.len) == CBI_OUTPUT_OK)
        return CB_OK;
    cbi_say("cubind finalize: cannot write '%s'%s%s", f->output, errno ? ": " : "",
            errno ? strerror(errno) : "");
    return CB_ERR_IO;
}

int cbi_tool_finalize(int argc, char **argv)
{
    const cbi_tkinfo identity = {
        .tool = CBI_TOOL_NAME, .tool_version = CBI_OWN_VERSION, .build = CBI_OWN_BUILD};
    finalize f = {.config = {.opt_level = CBI_FNLZR_OPT_LEVEL,
                             .identity = &identity,
                             .trace = cbi_print_trace,
                             .trace_run = cbi_is_set("CUBIND_EDBG"),
                             .trace_eligibility = cbi_is_set("CAN_FINALIZE_DEBUG")}};
    if (!read_options(&f, argc, argv))
        return 1;
    if (f.help) {
        usage();
        return 0;
    }
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_limit_memory(&ctx, -1);
    cbi_messages messages = {.tool_name = "cubind"};
    cbi_messages_attach(&messages, &ctx);
    cb_status status = cbi_run(&ctx, job, &f);
    cbi_messages_finish(&messages);
    cbi_ctx_fini(&ctx);
    if (status == CB_OK)
        return 0;
    if (status == CB_ERR_NOMEM) {
        cbi_say("cubind finalize: %s", cbi_memory_reason(&ctx, "out of memory"));
        return CBI_FNLZR_NO_MEMORY;
    }
    return f.code ? (int)f.code : 1;
}
