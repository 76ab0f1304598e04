/* cubind dump: shows what is in device ELFs. */
#include "say.h"
#include "tools.h"

#include "images.h"

/* Options that choose parts come first, in the order of this list. */
static const uint32_t parts[] = {
    CBI_DUMP_SUMMARY,   CBI_DUMP_HEADER | CBI_DUMP_SEGMENTS,
    CBI_DUMP_SECTIONS,  CBI_DUMP_SYMBOLS,
    CBI_DUMP_RELOCS,    CBI_DUMP_INFO,
    CBI_DUMP_COMPAT,    CBI_DUMP_NOTES,
    CBI_DUMP_CALLGRAPH, CBI_DUMP_UNIFIED,
    CBI_DUMP_ALL,       CBI_DUMP_CAPSULE,
};

const cbi_tool_option cbi_options_dump[] = {
    {.name = "--summary", .help = "registers, memory and barriers of every kernel and function"},
    {.name = "--headers", .help = "ELF header and program headers"},
    {.name = "--sections", .help = "section table"},
    {.name = "--symbols", .help = "symbol tables"},
    {.name = "--relocs", .help = "relocations"},
    {.name = "--info", .help = ".nv.info attributes"},
    {.name = "--compat", .help = ".nv.compat attributes"},
    {.name = "--notes", .help = "notes: who made the file, for which toolkit and target"},
    {.name = "--callgraph", .help = "calls, address-taken functions and prototypes"},
    {.name = "--unified", .help = "tables of unified functions and variables"},
    {.name = "--all", .help = "all of the above; the default"},
    {.name = "--capsule",
     .help = "from sm_100 on: what is stored beside the code, per instruction"},
    {.name = "--section", .value = "NAME", .help = "header and bytes of one section"},
    {.name = "--json", .help = "JSON; docs/json.md describes it"},
    {0},
};

typedef struct dump {
    uint32_t parts;
    const char *section;
    bool json;
    size_t images;
    int exit_code;
} dump;

static void usage(FILE *out)
{
    fprintf(out, "Usage: cubind dump [OPTION]... FILE...\n\n"
                 "Shows device code: headers, sections, symbols, relocations, attributes, notes,\n"
                 "call graph, and what every kernel needs.  Parts may be combined.\n\n");
    cbi_print_options(out, cbi_options_dump);
    fprintf(out, "\nExit status: 0 all shown, 1 damaged files were shown as far as possible,\n"
                 "2 a file or section could not be read.\n");
}

static cbi_node *image_document(dump *d, const cbi_image *image)
{
    cbi_ctx *ctx = image->ctx;
    cbi_node *document = cbi_node_object(ctx);
    cbi_node_string(ctx, document, "file", image->file);
    if (image->findings.len) {
        cbi_put_findings(ctx, document, &image->findings);
        cbi_raise_exit(&d->exit_code,
                       image->object.sections ? CBI_EXIT_FINDINGS : CBI_EXIT_UNREADABLE);
    }
    if (!image->object.sections)
        return document;
    cbi_dump(ctx, &image->object, d->parts, document);
    if (d->section && !cbi_dump_section(ctx, &image->object, d->section, document)) {
        cbi_say("cubind dump: %s: there is no section %s", image->file, d->section);
        cbi_raise_exit(&d->exit_code, CBI_EXIT_UNREADABLE);
    }
    return document;
}

static void print_text(cbi_ctx *ctx, const cbi_node *document, cbi_buf *out)
{
    bool title = true;
    for (const cbi_node *part = document->first; part; part = part->next) {
        if (title) {
            cbi_text_string(ctx, out, part->s);
            cbi_buf_printf(ctx, out, ":\n");
            title = false;
        } else if (part->count) {
            cbi_buf_printf(ctx, out, "\n%s:\n", part->key);
            cbi_node_text(ctx, out, part, 2);
        }
    }
}

static void dump_image(const cbi_image *image, void *user)
{
    dump *d = user;
    cbi_node *document = image_document(d, image);
    cbi_buf out = {0};
    if (d->json) {
        cbi_buf_printf(image->ctx, &out, d->images ? ",\n    " : "\n    ");
        cbi_node_json(image->ctx, &out, document, 4);
    } else {
        cbi_buf_printf(image->ctx, &out, d->images ? "\n" : "");
        print_text(image->ctx, document, &out);
    }
    d->images++;
    cbi_flush_text("dump", &out);
}

/* Reads the options in front of and between the files; false after a message. */
static bool read_options(dump *d, int argc, char **argv, int *ret_files)
{
    int files = 0;
    bool options = true;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (!options || arg[0] != '-' || arg[1] == 0) {
            argv[files++] = argv[i];
            continue;
        }
        size_t k = 0;
        while (k < CBI_COUNT(parts) && strcmp(cbi_options_dump[k].name, arg) != 0)
            k++;
        if (k < CBI_COUNT(parts)) {
            d->parts |= parts[k];
        } else if (strcmp(arg, "--json") == 0) {
            d->json = true;
        } else if (strcmp(arg, "--section") == 0 && i + 1 < argc) {
            d->section = argv[++i];
        } else if (strcmp(arg, "--") == 0) {
            options = false;
        } else {
            cbi_say("cubind dump: unknown option or missing value: %s", arg);
            return false;
        }
    }
    *ret_files = files;
    return true;
}

int cbi_tool_dump(int argc, char **argv)
{
    dump d = {.exit_code = CBI_EXIT_CLEAN};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            usage(stdout);
            return cbi_check_stdout("cubind dump", CBI_EXIT_CLEAN, CBI_EXIT_UNREADABLE);
        }
    }
    int files = 0;
    if (!read_options(&d, argc, argv, &files))
        return CBI_EXIT_UNREADABLE;
    if (files == 0) {
        usage(stderr);
        return CBI_EXIT_UNREADABLE;
    }
    if (d.parts == 0 && !d.section)
        d.parts = CBI_DUMP_ALL;
    if (d.json)
        printf("{\n  \"schema\": \"cubind-dump/1\",\n  \"images\": [");
    for (int i = 0; i < files; i++)
        cbi_raise_exit(&d.exit_code, cbi_each_image("dump", argv[i], dump_image, &d));
    if (d.json)
        printf("%s]\n}\n", d.images ? "\n  " : "");
    return cbi_check_stdout("cubind dump", d.exit_code, CBI_EXIT_UNREADABLE);
}
