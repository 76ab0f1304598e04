/* cubind finalize: makes a finished sm_100+ cubin fit a target. */
#include "tools.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/output_file.h"
#include "mercury/fnlzr.h"
#include "messages.h"

typedef struct finalize {
    cbi_fnlzr_config config;
    const char *input;
    const char *output;
    bool trace;
    bool help;
    cbi_fnlzr_code code;
    cbi_buf image;
} finalize;

static void usage(FILE *out)
{
    fprintf(
        out,
        "Usage: cubind finalize -arch sm_NN[af] [OPTION]... FILE -o OUT\n\n"
        "Makes a linked or relocatable cubin of sm_100 or later fit another chip of its\n"
        "family.  Code that the target can run unchanged is kept; anything else needs a\n"
        "compiler and is refused with the kernel's name.\n\n"
        "  -arch NAME, --gpu-name NAME     target\n"
        "  -o FILE, --output-file FILE     result\n"
        "  --binary-kind capmerc           what to write; other kinds need a compiler\n"
        "  --cap-merc                      the same as --binary-kind capmerc\n"
        "  --self-check                    run a second time and compare the results\n"
        "  --post-link                     take executables only\n"
        "  --opt-level N                   for code that is compiled; 4 unless given\n"
        "  --opportunistic-finalization-lvl N   0 to 3: how far from the input's chip; accepted\n"
        "  --fastpath-off                  compile everything; needs a compiler\n"
        "  --out-sass                      drop the Mercury side; needs a compiler\n"
        "  --generate-line-info            needs a compiler\n"
        "  --edbg                          trace on stderr; also CUBIND_EDBG=1\n"
        "\nExit status: 0, or FNLZR's code: 4 target not reachable, 5 no Mercury code,\n"
        "6 not a device ELF, 7 unknown ABI, 11 out of memory, 17-19 self-check failed,\n"
        "25 Mercury version too new; 1 for usage and file errors.\n");
}

static void print_trace(void *user, const char *line)
{
    (void)user;
    fprintf(stderr, "%s\n", line);
}

static bool is_option(const char *arg, const char *a, const char *b)
{
    return strcmp(arg, a) == 0 || (b && strcmp(arg, b) == 0);
}

/* Options that only mean something where code is generated. */
static bool needs_compiler(const char *arg, const char *value)
{
    if (strcmp(arg, "--out-sass") == 0 || strcmp(arg, "--generate-line-info") == 0)
        return true;
    return strcmp(arg, "--binary-kind") == 0 && strcmp(value, "capmerc") != 0;
}

static bool read_number(const char *option, const char *text, long max, long *ret_value)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text && !*end && value >= 0 && value <= max) {
        *ret_value = value;
        return true;
    }
    fprintf(stderr, "cubind finalize: %s takes a number from 0 to %ld, not '%s'\n", option, max,
            text);
    return false;
}

/* False after a message. */
static bool read_options(finalize *f, int argc, char **argv)
{
    static const char *const with_value[] = {
        "-arch",         "--gpu-name",    "--arch",      "-o",
        "--output-file", "--binary-kind", "--opt-level", "--opportunistic-finalization-lvl"};
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        char name[64];
        const char *value = NULL;
        const char *equals = arg[0] == '-' ? strchr(arg, '=') : NULL;
        if (equals && (size_t)(equals - arg) < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)(equals - arg), arg);
            arg = name;
            value = equals + 1;
        }
        for (size_t k = 0; k < CBI_COUNT(with_value) && !value; k++) {
            if (strcmp(arg, with_value[k]) != 0)
                continue;
            if (i + 1 == argc) {
                fprintf(stderr, "cubind finalize: %s needs a value\n", arg);
                return false;
            }
            value = argv[++i];
        }
        long number;
        if (is_option(arg, "--help", "-h")) {
            f->help = true;
            return true;
        }
        if (value ? needs_compiler(arg, value) : needs_compiler(arg, "")) {
            fprintf(stderr, "cubind finalize: %s%s%s needs a compiler back end\n", arg,
                    value ? " " : "", value ? value : "");
            return false;
        }
        if (value && (is_option(arg, "-arch", "--gpu-name") || is_option(arg, "--arch", NULL))) {
            f->config.target = cbi_arch_find(value);
            if (!f->config.target || !cbi_arch_is_mercury(f->config.target)) {
                fprintf(stderr, "cubind finalize: '%s' is no target of sm_100 or later\n", value);
                return false;
            }
        } else if (value && is_option(arg, "-o", "--output-file")) {
            f->output = value;
        } else if (value && is_option(arg, "--binary-kind", NULL)) {
            continue;
        } else if (value && is_option(arg, "--opt-level", NULL)) {
            if (!read_number(arg, value, 4, &number))
                return false;
            f->config.opt_level = (int)number;
        } else if (value && is_option(arg, "--opportunistic-finalization-lvl", NULL)) {
            if (!read_number(arg, value, 3, &number))
                return false;
        } else if (is_option(arg, "--cap-merc", NULL)) {
            continue;
        } else if (is_option(arg, "--self-check", NULL)) {
            f->config.self_check = true;
        } else if (is_option(arg, "--post-link", NULL)) {
            f->config.post_link = true;
        } else if (is_option(arg, "--fastpath-off", NULL)) {
            f->config.fast_path_off = true;
        } else if (is_option(arg, "--edbg", NULL)) {
            f->trace = true;
        } else if (arg[0] == '-' && arg[1]) {
            fprintf(stderr, "cubind finalize: unknown option: %s\n", arg);
            return false;
        } else if (f->input) {
            fprintf(stderr, "cubind finalize: one file at a time; '%s' is the second\n", arg);
            return false;
        } else {
            f->input = arg;
        }
    }
    if (!f->config.target || !f->input || !f->output) {
        fprintf(stderr, "cubind finalize: %s is missing; --help tells more\n",
                !f->config.target ? "-arch"
                : !f->input       ? "the input file"
                                  : "-o");
        return false;
    }
    return true;
}

static cb_status job(cbi_ctx *ctx, void *arg)
{
    finalize *f = arg;
    cbi_span bytes;
    if (cbi_map_file(ctx, f->input, &bytes) != CB_OK) {
        fprintf(stderr, "cubind finalize: cannot read '%s'\n", f->input);
        return CB_ERR_IO;
    }
    f->code = cbi_fnlzr_run(ctx, &f->config, f->input, bytes, &f->image);
    if (f->code)
        return CB_ERR_LINK;
    if (cbi_write_output(f->output, f->image.items, f->image.len) == CBI_OUTPUT_OK)
        return CB_OK;
    fprintf(stderr, "cubind finalize: cannot write '%s'\n", f->output);
    return CB_ERR_IO;
}

int cbi_tool_finalize(int argc, char **argv)
{
    finalize f = {.config = {.opt_level = 4}};
    const char *debug = getenv("CUBIND_EDBG");
    f.trace = debug && *debug && strcmp(debug, "0") != 0;
    if (!read_options(&f, argc, argv))
        return 1;
    if (f.help) {
        usage(stdout);
        return 0;
    }
    if (f.trace)
        f.config.trace = print_trace;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_messages messages = {.tool_name = "cubind"};
    cbi_messages_attach(&messages, &ctx);
    cb_status status = cbi_run(&ctx, job, &f);
    cbi_messages_finish(&messages);
    cbi_ctx_fini(&ctx);
    if (status == CB_OK)
        return 0;
    return f.code ? (int)f.code : 1;
}
