/* cubind size: where the bytes of device code are. */
#include "size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "images.h"
#include "say.h"

enum { REPORT_TOP = 10, TABLE_TOP = 0 };

enum {
    OPT_BY,
    OPT_DIFF,
    OPT_ARCH,
    OPT_FILTER,
    OPT_TOP,
    OPT_TSV,
    OPT_JSON,
    OPT_THREADS,
};

const cbi_tool_option cbi_options_size[] = {
    [OPT_BY] = {"--by", NULL, "WHAT", "target section function template file image identical all",
                "one table in full: target, section, function, template, file, image, identical; "
                "or all"},
    [OPT_DIFF] = {.name = "--diff",
                  .help = "what grew and shrank from the first file to the second"},
    [OPT_ARCH] = {"--arch", NULL, "ARCH", "@arch", "only images for sm_90, or for 90 of any kind"},
    [OPT_FILTER] = {.name = "--filter", .value = "TEXT", .help = "only rows with TEXT in the name"},
    [OPT_TOP] = {.name = "--top", .value = "N", .help = "the first N rows of each table; 0: all"},
    [OPT_TSV] = {.name = "--tsv", .help = "lines with tabs, for scripts"},
    [OPT_JSON] = {.name = "--json", .help = "JSON; docs/json.md describes it"},
    [OPT_THREADS] = {.name = "--threads",
                     .value = "N",
                     .help = "look at N images at a time; 0, the default: one per core"},
    {0},
};

typedef struct size {
    cbi_size_show show;
    bool diff, top_given;
    const char *arch;
    unsigned threads;
    cbi_sizes sizes[2]; /* with --diff of either file, else in [0] of all */
    cbi_sizes *now;
} size;

static void usage(FILE *out)
{
    fprintf(out, "Usage: cubind size [OPTION]... FILE...\n"
                 "       cubind size --diff [OPTION]... OLD NEW\n\n"
                 "Says where the bytes of device code are: per target, kind of section, kernel,\n"
                 "template, source file (with -lineinfo) and image, and what code is there more\n"
                 "than once.  Bytes are counted decompressed.  '-' is the standard input.\n\n");
    cbi_print_options(out, cbi_options_size);
    fprintf(out, "\nExit status: 0 done (with --diff: no difference), 1 damaged images (with\n"
                 "--diff: a difference), 2 a file could not be read.\n");
}

static bool take_by(size *z, const char *value)
{
    unsigned tables = 0;
    if (strcmp(value, "all") == 0)
        tables = (1u << CBI_SIZE_TABLES) - 1;
    for (int by = 0; by < CBI_SIZE_TABLES; by++)
        if (strcmp(value, cbi_size_words[by]) == 0)
            tables = 1u << by;
    z->show.tables |= tables;
    return tables != 0;
}

static bool take(void *user, size_t option, const char *value)
{
    size *z = user;
    char *end;
    switch (option) {
    case OPT_BY:
        return take_by(z, value);
    case OPT_DIFF:
        z->diff = true;
        return true;
    case OPT_ARCH:
        z->arch = value;
        return cbi_is_arch_text(value);
    case OPT_FILTER:
        z->show.filter = value;
        return true;
    case OPT_TOP:
        errno = 0;
        z->show.top = strtoul(value, &end, 10);
        z->top_given = true;
        return errno == 0 && end != value && *end == 0 && value[0] != '-';
    case OPT_TSV:
        z->show.format = CBI_SIZE_TSV;
        return true;
    case OPT_JSON:
        z->show.format = CBI_SIZE_JSON;
        return true;
    default:
        return cbi_read_threads(value, &z->threads);
    }
}

static bool wants(const cb_image_info *info, size_t number, void *user)
{
    (void)number;
    const size *z = user;
    return !z->arch || cbi_is_arch(info, z->arch);
}

static void look(cb_image *image, cbi_seen *seen, void *user)
{
    (void)user;
    cb_image_state state = cb_image_get_state(image);
    if (state == CB_STATE_DAMAGED || state == CB_STATE_UNREADABLE) {
        const cb_finding *f = cb_image_damage(image, 0);
        cbi_out_put(&seen->errors, "cubind size: ");
        cbi_out_string(&seen->errors, cb_image_name(image));
        cbi_out_put(&seen->errors, ": ");
        cbi_out_string(&seen->errors, f ? f->message : "damaged");
        cbi_out_put(&seen->errors, "\n");
        seen->exit_code = CBI_EXIT_FINDINGS;
    }
    cbi_sizes *sizes = cbi_grow(NULL, 1, sizeof *sizes);
    memset(sizes, 0, sizeof *sizes);
    cbi_sizes_of_image(sizes, image);
    seen->data = sizes;
}

static void tell(cbi_seen *seen, void *user)
{
    size *z = user;
    if (!seen->data)
        return;
    cbi_sizes_merge(z->now, seen->data);
    cbi_sizes_free(seen->data);
    free(seen->data);
}

/* The tables and the length of a report that nobody asked for in detail. */
static void choose_tables(size *z)
{
    bool text = z->show.format == CBI_SIZE_TEXT;
    bool report = z->show.tables == 0;
    if (report)
        z->show.tables = text ? 1u << CBI_SIZE_TARGET | 1u << CBI_SIZE_SECTION |
                                    1u << CBI_SIZE_FUNCTION | 1u << CBI_SIZE_TEMPLATE |
                                    1u << CBI_SIZE_FILE | 1u << CBI_SIZE_IDENTICAL
                              : (1u << CBI_SIZE_TABLES) - 1;
    if (!z->top_given)
        z->show.top = report && text ? REPORT_TOP : TABLE_TOP;
    z->show.colour = text && cbi_is_colourful(stdout);
    z->show.bars = z->show.colour;
}

int cbi_tool_size(int argc, char **argv)
{
    size z = {0};
    cbi_arguments a = {.program = "cubind size",
                       .options = cbi_options_size,
                       .usage = usage,
                       .take = take,
                       .user = &z,
                       .least = 1};
    int code = cbi_take_arguments(&a, argc, argv);
    if (code >= 0)
        return code;
    if (z.diff && a.files != 2) {
        cbi_say("cubind size: --diff wants two files, OLD and NEW");
        return CBI_EXIT_UNREADABLE;
    }
    code = CBI_EXIT_CLEAN;
    choose_tables(&z);
    const cbi_viewer viewer = {.command = "size",
                               .every_kind = true,
                               .threads = z.threads,
                               .wants = wants,
                               .look = look,
                               .tell = tell,
                               .user = &z};
    for (int i = 0; i < a.files; i++) {
        z.now = &z.sizes[z.diff ? i : 0];
        uint64_t before = z.now->images;
        int seen = cbi_view_file(&viewer, argv[i]);
        if (z.arch && seen == CBI_EXIT_CLEAN && z.now->images == before)
            cbi_say("cubind size: %s: no image for %s", argv[i], z.arch);
        cbi_raise_exit(&code, seen);
    }
    cbi_out out = {0};
    if (!z.diff)
        cbi_sizes_print(&z.sizes[0], &z.show, &out);
    else if (cbi_sizes_print_diff(&z.sizes[0], &z.sizes[1], &z.show, &out))
        cbi_raise_exit(&code, CBI_EXIT_FINDINGS);
    cbi_flush_text("size", &out);
    cbi_out_free(&out);
    cbi_sizes_free(&z.sizes[0]);
    cbi_sizes_free(&z.sizes[1]);
    return cbi_check_stdout("cubind size", code, CBI_EXIT_UNREADABLE);
}
