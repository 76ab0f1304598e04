/* cubind check: validates device ELFs. */
#include "arguments.h"
#include "images.h"
#include "say.h"

typedef struct check {
    bool json, pedantic, list, colour;
    unsigned threads;
    size_t images, findings, notes;
} check;

enum { OPT_PEDANTIC, OPT_JSON, OPT_LIST_RULES, OPT_THREADS };

const cbi_tool_option cbi_options_check[] = {
    [OPT_PEDANTIC] = {.name = "--pedantic",
                      .help = "notes too: what departs from rules that are not certain"},
    [OPT_JSON] = {.name = "--json", .help = "findings as JSON; docs/json.md describes it"},
    [OPT_LIST_RULES] = {.name = "--list-rules", .help = "every rule with its id"},
    [OPT_THREADS] = {.name = "--threads",
                     .value = "N",
                     .help = "look at N images at a time; 0, the default: one per core"},
    {0},
};

static void usage(FILE *out)
{
    fprintf(out, "Usage: cubind check [OPTION]... FILE...\n\n"
                 "Validates device code: structure, cross-references, then the rules of the ABI.\n"
                 "'-' is the standard input.\n\n");
    cbi_print_options(out, cbi_options_check);
    fprintf(out, "\nExit status: 0 no findings (notes do not count), 1 findings, 2 a file could "
                 "not be\nread.\n");
}

static void list_rules(void)
{
    const cb_rule *rule;
    for (size_t i = 0; (rule = cb_check_rule(i)); i++)
        printf("%-18s %s%s\n", rule->id, rule->text, rule->note ? " (a note)" : "");
}

static bool take(void *user, size_t option, const char *value)
{
    check *k = user;
    switch (option) {
    case OPT_PEDANTIC:
        k->pedantic = true;
        return true;
    case OPT_JSON:
        k->json = true;
        return true;
    case OPT_LIST_RULES:
        k->list = true;
        return true;
    default:
        return cbi_read_threads(value, &k->threads);
    }
}

static void print_finding(const char *file, const cb_finding *f, cbi_out *out)
{
    cbi_out_string(out, file);
    cbi_out_printf(out, ":0x%llx: ", (unsigned long long)f->offset);
    cbi_out_style(out, f->note ? CBI_STYLE_TITLE : CBI_STYLE_BAD);
    cbi_out_put(out, f->note ? "note: " : "");
    if (f->section && *f->section) {
        cbi_out_string(out, f->section);
        cbi_out_put(out, ": ");
    }
    cbi_out_string(out, f->message);
    cbi_out_style(out, CBI_STYLE_OFF);
    if (f->symbol && *f->symbol) {
        cbi_out_put(out, " (");
        cbi_out_string(out, f->symbol);
        cbi_out_put(out, ")");
    }
    cbi_out_printf(out, " [%s]\n", f->rule);
}

static void print_json(cb_image *image, bool pedantic, cbi_out *out)
{
    cbi_store store = {0};
    cbi_node *document = cbi_node_object(&store);
    cbi_node_string(&store, document, "file", cb_image_name(image));
    cbi_node_bool(&store, document, "readable", cb_image_section_count(image) > 0);
    cbi_node *list = cbi_node_add_array(&store, document, "findings");
    size_t count = cb_image_finding_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_finding *f = cb_image_finding(image, i);
        if (!f->note || pedantic)
            cbi_put_finding(&store, list, f);
    }
    cbi_node_json(out, document, 4);
    cbi_store_free(&store);
}

static void look(cb_image *image, cbi_seen *seen, void *user)
{
    const check *k = user;
    size_t count = cb_image_finding_count(image);
    seen->out.colour = k->colour;
    for (size_t i = 0; i < count; i++) {
        const cb_finding *f = cb_image_finding(image, i);
        seen->counts[f->note != 0]++;
        if (!k->json && (!f->note || k->pedantic))
            print_finding(cb_image_name(image), f, &seen->out);
    }
    if (seen->counts[0])
        cbi_raise_exit(&seen->exit_code, cb_image_get_state(image) == CB_STATE_UNREADABLE
                                             ? CBI_EXIT_UNREADABLE
                                             : CBI_EXIT_FINDINGS);
    if (k->json)
        print_json(image, k->pedantic, &seen->out);
    seen->data = seen; /* it was looked at */
}

static void tell(cbi_seen *seen, void *user)
{
    check *k = user;
    if (!seen->data)
        return;
    if (k->json)
        fputs(k->images ? ",\n    " : "\n    ", stdout);
    k->images++;
    k->findings += seen->counts[0];
    k->notes += seen->counts[1];
}

static void print_counts(const check *k)
{
    printf("%zu image%s, %zu finding%s", k->images, k->images == 1 ? "" : "s", k->findings,
           k->findings == 1 ? "" : "s");
    if (k->pedantic)
        printf(", %zu note%s", k->notes, k->notes == 1 ? "" : "s");
    printf("\n");
}

int cbi_tool_check(int argc, char **argv)
{
    check k = {0};
    cbi_arguments a = {.program = "cubind check",
                       .options = cbi_options_check,
                       .usage = usage,
                       .take = take,
                       .user = &k};
    int code = cbi_take_arguments(&a, argc, argv);
    if (code >= 0)
        return code;
    if (k.list) {
        list_rules();
        return cbi_check_stdout("cubind check", CBI_EXIT_CLEAN, CBI_EXIT_UNREADABLE);
    }
    if (a.files == 0) {
        usage(stderr);
        return CBI_EXIT_UNREADABLE;
    }
    code = CBI_EXIT_CLEAN;
    k.colour = !k.json && cbi_is_colourful(stdout);
    const cbi_viewer viewer = {
        .command = "check", .threads = k.threads, .look = look, .tell = tell, .user = &k};
    if (k.json)
        printf("{\n  \"schema\": \"cubind-check/1\",\n  \"images\": [");
    for (int i = 0; i < a.files; i++)
        cbi_raise_exit(&code, cbi_view_file(&viewer, argv[i]));
    if (k.json)
        printf("%s]\n}\n", k.images ? "\n  " : "");
    else if (k.images)
        print_counts(&k);
    return cbi_check_stdout("cubind check", code, CBI_EXIT_UNREADABLE);
}
