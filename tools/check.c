/* cubind check: validates device ELFs. */
#include "say.h"
#include "tools.h"

#include "images.h"
#include "inspect/check.h"

typedef struct check {
    bool json, pedantic;
    size_t images, findings, notes;
    int exit_code;
} check;

const cbi_tool_option cbi_options_check[] = {
    {.name = "--pedantic", .help = "notes too: what departs from rules that are not certain"},
    {.name = "--json", .help = "findings as JSON; docs/json.md describes it"},
    {.name = "--list-rules", .help = "every rule with its id"},
    {0},
};

static void usage(FILE *out)
{
    fprintf(out,
            "Usage: cubind check [OPTION]... FILE...\n\n"
            "Validates device code: structure, cross-references, then the rules of the ABI.\n\n");
    cbi_print_options(out, cbi_options_check);
    fprintf(out, "\nExit status: 0 no findings (notes do not count), 1 findings, 2 a file could "
                 "not be\nread.\n");
}

static void list_rules(void)
{
    for (size_t i = 0; i < cbi_object_rule_count; i++)
        printf("%-18s %s\n", cbi_object_rules[i].id, cbi_object_rules[i].text);
    for (size_t i = 0; i < cbi_check_rule_count; i++)
        printf("%-18s %s%s\n", cbi_check_rules[i].id, cbi_check_rules[i].text,
               cbi_check_rules[i].certain ? "" : " (a note)");
}

/* Leaves out notes unless they are asked for; returns how many findings are none. */
static size_t sift(const check *k, cbi_findings *findings)
{
    size_t kept = 0, faults = 0;
    for (size_t i = 0; i < findings->len; i++) {
        const cbi_finding *f = &findings->items[i];
        faults += !f->note;
        if (!f->note || k->pedantic)
            findings->items[kept++] = *f;
    }
    findings->len = kept;
    return faults;
}

static cbi_node *findings_node(const cbi_image *image, const cbi_findings *findings)
{
    cbi_ctx *ctx = image->ctx;
    cbi_node *document = cbi_node_object(ctx);
    cbi_node_string(ctx, document, "file", image->file);
    cbi_node_bool(ctx, document, "readable", image->object.sections != NULL);
    cbi_put_findings(ctx, document, findings);
    return document;
}

static void print_finding(const cbi_image *image, const cbi_finding *f, cbi_buf *out)
{
    cbi_ctx *ctx = image->ctx;
    cbi_text_string(ctx, out, image->file);
    cbi_buf_printf(ctx, out, ":0x%llx: %s", (unsigned long long)f->offset, f->note ? "note: " : "");
    if (f->section && *f->section) {
        cbi_text_string(ctx, out, f->section);
        cbi_buf_printf(ctx, out, ": ");
    }
    cbi_text_string(ctx, out, f->message);
    if (f->symbol && *f->symbol) {
        cbi_buf_printf(ctx, out, " (");
        cbi_text_string(ctx, out, f->symbol);
        cbi_buf_printf(ctx, out, ")");
    }
    cbi_buf_printf(ctx, out, " [%s]\n", f->rule);
}

static void check_image(const cbi_image *image, void *user)
{
    check *k = user;
    cbi_findings findings = image->findings;
    if (image->kind == CBI_OBJECT_OK)
        cbi_check(image->ctx, &image->object, &findings);
    size_t faults = sift(k, &findings);
    if (faults)
        cbi_raise_exit(&k->exit_code,
                       image->object.sections ? CBI_EXIT_FINDINGS : CBI_EXIT_UNREADABLE);
    cbi_buf out = {0};
    if (k->json) {
        cbi_buf_printf(image->ctx, &out, k->images ? ",\n    " : "\n    ");
        cbi_node_json(image->ctx, &out, findings_node(image, &findings), 4);
    } else {
        for (size_t i = 0; i < findings.len; i++)
            print_finding(image, &findings.items[i], &out);
    }
    k->images++;
    k->findings += faults;
    k->notes += findings.len - faults;
    cbi_flush_text("check", &out);
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
    check k = {.exit_code = CBI_EXIT_CLEAN};
    int files = 0;
    bool options = true;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (!options || arg[0] != '-' || arg[1] == 0) {
            argv[files++] = argv[i];
        } else if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            usage(stdout);
            return cbi_check_stdout("cubind check", CBI_EXIT_CLEAN, CBI_EXIT_UNREADABLE);
        } else if (strcmp(arg, "--list-rules") == 0) {
            list_rules();
            return cbi_check_stdout("cubind check", CBI_EXIT_CLEAN, CBI_EXIT_UNREADABLE);
        } else if (strcmp(arg, "--json") == 0) {
            k.json = true;
        } else if (strcmp(arg, "--pedantic") == 0) {
            k.pedantic = true;
        } else if (strcmp(arg, "--") == 0) {
            options = false;
        } else {
            cbi_say("cubind check: unknown option %s", arg);
            return CBI_EXIT_UNREADABLE;
        }
    }
    if (files == 0) {
        usage(stderr);
        return CBI_EXIT_UNREADABLE;
    }
    if (k.json)
        printf("{\n  \"schema\": \"cubind-check/1\",\n  \"images\": [");
    for (int i = 0; i < files; i++)
        cbi_raise_exit(&k.exit_code, cbi_each_image("check", argv[i], check_image, &k));
    if (k.json)
        printf("%s]\n}\n", k.images ? "\n  " : "");
    else if (k.images)
        print_counts(&k);
    return cbi_check_stdout("cubind check", k.exit_code, CBI_EXIT_UNREADABLE);
}
