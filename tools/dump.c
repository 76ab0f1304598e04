/* cubind dump: shows what is in device ELFs. */
#include "dump.h"

#include <string.h>

#include "arguments.h"
#include "images.h"
#include "say.h"

/* Options that choose parts come first, in the order of this list. */
static const uint32_t parts[] = {
    CBI_DUMP_SUMMARY,   CBI_DUMP_HEADER | CBI_DUMP_SEGMENTS,
    CBI_DUMP_SECTIONS,  CBI_DUMP_SYMBOLS,
    CBI_DUMP_RELOCS,    CBI_DUMP_INFO,
    CBI_DUMP_COMPAT,    CBI_DUMP_NOTES,
    CBI_DUMP_CALLGRAPH, CBI_DUMP_UNIFIED,
    CBI_DUMP_ALL,       CBI_DUMP_KERNELS,
    CBI_DUMP_LINES,     CBI_DUMP_CAPSULE,
};
enum { PARTS = sizeof parts / sizeof *parts };

enum { OPT_SECTION = PARTS, OPT_DEMANGLE, OPT_FILTER, OPT_SORT, OPT_JSON, OPT_THREADS };

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
    {.name = "--kernels", .help = "everything about each kernel, with its parameters and limits"},
    {.name = "--lines", .help = "source lines of the code, with what was inlined"},
    {.name = "--capsule",
     .help = "from sm_100 on: what is stored beside the code, per instruction"},
    {.name = "--section", .value = "NAME", .help = "header and bytes of one section"},
    {.name = "--demangle", .help = "show C++ names in their readable form"},
    {.name = "--filter", .value = "TEXT", .help = "only rows of tables that have TEXT in a name"},
    {.name = "--sort",
     .value = "COLUMN",
     .help = "sort tables by a column: numbers from the largest on"},
    {.name = "--json", .help = "JSON; docs/json.md describes it"},
    {.name = "--threads",
     .value = "N",
     .help = "look at N images at a time; 0, the default: one per core"},
    {0},
};

typedef struct dump {
    uint32_t parts;
    const char *section, *filter, *sort;
    bool demangle, json, colour;
    unsigned threads;
    size_t images;
    bool sorted; /* some table had the column */
} dump;

static void usage(FILE *out)
{
    fprintf(out, "Usage: cubind dump [OPTION]... FILE...\n\n"
                 "Shows device code: headers, sections, symbols, relocations, attributes, notes,\n"
                 "call graph, and what every kernel needs.  Parts may be combined.  '-' is the\n"
                 "standard input.\n\n");
    cbi_print_options(out, cbi_options_dump);
    fprintf(out, "\nExit status: 0 all shown, 1 damaged files were shown as far as possible,\n"
                 "2 a file or section could not be read.\n");
}

static bool take(void *user, size_t option, const char *value)
{
    dump *d = user;
    if (option < PARTS) {
        d->parts |= parts[option];
        return true;
    }
    switch (option) {
    case OPT_SECTION:
        d->section = value;
        return true;
    case OPT_DEMANGLE:
        d->demangle = true;
        return true;
    case OPT_FILTER:
        d->filter = value;
        return true;
    case OPT_SORT:
        d->sort = value;
        return true;
    case OPT_JSON:
        d->json = true;
        return true;
    default:
        return cbi_read_threads(value, &d->threads);
    }
}

/* ---- what is shown of a tree ---- */

typedef struct naming {
    cb_image *image;
    cbi_store *store;
} naming;

/* A mangled name, alone or behind the name of a kind of section. */
static const char *demangle(void *user, const char *text)
{
    const naming *n = user;
    const char *start = strncmp(text, "_Z", 2) == 0 ? text : NULL;
    if (!start && text[0] == '.') {
        start = strstr(text, "._Z");
        start = start ? start + 1 : NULL;
    }
    if (!start)
        return text;
    return cbi_store_printf(n->store, "%.*s%s", (int)(start - text), text,
                            cb_image_demangle(n->image, start));
}

/* Tables are parts of the document, or members of parts. */
static void filter_tables(cbi_node *parts_of, const char *text)
{
    for (cbi_node *part = parts_of; part; part = part->next) {
        if (cbi_node_is_table(part))
            cbi_node_filter(part, text);
        if (part->kind != CBI_NODE_OBJECT)
            continue;
        for (cbi_node *member = part->first; member; member = member->next)
            if (cbi_node_is_table(member))
                cbi_node_filter(member, text);
    }
}

static void suggest_section(cb_image *image, const char *name, cbi_out *out)
{
    cbi_suggestion near = {.word = name};
    size_t count = cb_image_section_count(image);
    for (size_t i = 1; i < count; i++)
        cbi_suggestion_offer(&near, cb_image_section(image, i)->name);
    if (!cbi_suggestion_text(&near))
        return;
    cbi_out_put(out, "  help: did you mean ");
    cbi_out_string(out, cbi_suggestion_text(&near));
    cbi_out_put(out, "?\n");
}

static cbi_node *make_document(const dump *d, cb_image *image, cbi_seen *seen, cbi_store *store)
{
    cbi_node *document = cbi_node_object(store);
    cbi_node_string(store, document, "file", cb_image_name(image));
    cb_image_state state = cb_image_get_state(image);
    if (state != CB_STATE_SOUND) {
        cbi_put_damage(store, document, image);
        cbi_raise_exit(&seen->exit_code,
                       state == CB_STATE_DAMAGED ? CBI_EXIT_FINDINGS : CBI_EXIT_UNREADABLE);
    }
    if (state == CB_STATE_UNREADABLE)
        return document;
    cbi_node *shown = document->last; /* what stands behind it is shown by the options */
    cbi_dump(store, image, d->parts, document);
    if (d->section && !cbi_dump_section(store, image, d->section, document)) {
        cbi_out_put(&seen->errors, "cubind dump: ");
        cbi_out_string(&seen->errors, cb_image_name(image));
        cbi_out_put(&seen->errors, ": there is no section ");
        cbi_out_string(&seen->errors, d->section);
        cbi_out_put(&seen->errors, "\n");
        suggest_section(image, d->section, &seen->errors);
        cbi_raise_exit(&seen->exit_code, CBI_EXIT_UNREADABLE);
    }
    naming n = {image, store};
    for (cbi_node *part = shown->next; d->demangle && part; part = part->next)
        cbi_node_each_string(part, demangle, &n);
    if (d->filter)
        filter_tables(shown->next, d->filter);
    seen->counts[0] = d->sort && cbi_node_sort(document, d->sort);
    return document;
}

static void print_text(const cbi_node *document, cbi_out *out)
{
    bool title = true;
    for (const cbi_node *part = document->first; part; part = part->next) {
        if (!title && !part->count)
            continue;
        cbi_out_put(out, title ? "" : "\n");
        cbi_out_style(out, title ? CBI_STYLE_GOOD : CBI_STYLE_TITLE);
        cbi_out_string(out, title ? part->s : part->key);
        cbi_out_style(out, CBI_STYLE_OFF);
        cbi_out_put(out, ":\n");
        if (!title)
            cbi_node_text(out, part, 2);
        title = false;
    }
}

static void look(cb_image *image, cbi_seen *seen, void *user)
{
    const dump *d = user;
    cbi_store store = {0};
    cbi_node *document = make_document(d, image, seen, &store);
    seen->out.colour = d->colour;
    if (d->json)
        cbi_node_json(&seen->out, document, 4);
    else
        print_text(document, &seen->out);
    cbi_store_free(&store);
}

static void tell(cbi_seen *seen, void *user)
{
    dump *d = user;
    if (!seen->out.len)
        return;
    if (d->json)
        fputs(d->images ? ",\n    " : "\n    ", stdout);
    else
        fputs(d->images ? "\n" : "", stdout);
    d->images++;
    d->sorted |= seen->counts[0] != 0;
}

int cbi_tool_dump(int argc, char **argv)
{
    dump d = {0};
    cbi_arguments a = {.program = "cubind dump",
                       .options = cbi_options_dump,
                       .usage = usage,
                       .take = take,
                       .user = &d,
                       .least = 1};
    int code = cbi_take_arguments(&a, argc, argv);
    if (code >= 0)
        return code;
    code = CBI_EXIT_CLEAN;
    if (d.parts == 0 && !d.section)
        d.parts = CBI_DUMP_ALL;
    d.colour = !d.json && cbi_is_colourful(stdout);
    const cbi_viewer viewer = {
        .command = "dump", .threads = d.threads, .look = look, .tell = tell, .user = &d};
    if (d.json)
        printf("{\n  \"schema\": \"cubind-dump/1\",\n  \"images\": [");
    for (int i = 0; i < a.files; i++)
        cbi_raise_exit(&code, cbi_view_file(&viewer, argv[i]));
    if (d.json)
        printf("%s]\n}\n", d.images ? "\n  " : "");
    if (d.sort && d.images && !d.sorted) {
        cbi_say("cubind dump: no table has a column %s", d.sort);
        cbi_say("  help: columns are the words above a table, registers or size for example");
        cbi_raise_exit(&code, CBI_EXIT_UNREADABLE);
    }
    return cbi_check_stdout("cubind dump", code, CBI_EXIT_UNREADABLE);
}
