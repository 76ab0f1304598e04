/* cubind diff: says what differs between two device ELFs. */
#include "say.h"
#include "tools.h"

#include "images.h"
#include "inspect/diff.h"

enum { TEXT_LIMIT = 40 }; /* differences of one part shown as text; the help names it */

typedef struct stored {
    const char *file;
    cbi_span bytes;
} stored;

typedef struct diff {
    bool json, brief, full;
    cbi_diff_options options;
    cbi_ctx *store; /* images of the first file */
    CBI_VEC(stored) first;
    size_t second; /* images of the second file so far */
    size_t printed;
    bool differs;
    bool unreadable;
} diff;

const cbi_tool_option cbi_options_diff[] = {
    {.name = "--brief", .help = "only say whether they differ"},
    {.name = "--semantic", .help = "ignore the order of records and the layout of the file"},
    {.name = "--full", .help = "show every difference, not the first 40 of a part"},
    {.name = "--json", .help = "differences as JSON; docs/json.md describes it"},
    {0},
};

static void usage(FILE *out)
{
    fprintf(out, "Usage: cubind diff [OPTION]... A B\n\n"
                 "Says what differs between two files with device code: sections, symbols,\n"
                 "attributes, relocations, call graph, code, notes.  Images of containers are\n"
                 "compared in order.\n\n");
    cbi_print_options(out, cbi_options_diff);
    fprintf(out, "\nExit status: 0 same, 1 different, 2 a file could not be read.\n");
}

static void print_difference(cbi_ctx *ctx, const cbi_node *n, cbi_buf *out)
{
    const char *part = cbi_node_get(n, "part")->s;
    const char *section = cbi_node_get(n, "section")->s, *name = cbi_node_get(n, "name")->s;
    const char *field = cbi_node_get(n, "field")->s;
    const char *a = cbi_node_get(n, "a")->s, *b = cbi_node_get(n, "b")->s;
    cbi_buf_printf(ctx, out, "%s", part);
    const char *words[] = {section, name, field};
    for (size_t i = 0; i < CBI_COUNT(words); i++) {
        if (words[i]) {
            cbi_buf_printf(ctx, out, " ");
            cbi_text_string(ctx, out, words[i]);
        }
    }
    cbi_buf_printf(ctx, out, a && b ? ": " : a ? ": only in A: " : ": only in B: ");
    cbi_text_string(ctx, out, a ? a : b);
    if (a && b && strcmp(a, b) != 0) {
        cbi_buf_printf(ctx, out, " -> ");
        cbi_text_string(ctx, out, b);
    }
    cbi_buf_printf(ctx, out, "\n");
}

/* A few differences of every part: differences of a part stand together. */
static void print_list(const diff *d, cbi_ctx *ctx, const cbi_node *list, cbi_buf *out)
{
    const char *part = "";
    size_t shown = 0, hidden = 0;
    for (const cbi_node *n = list->first; n; n = n->next) {
        const char *this_part = cbi_node_get(n, "part")->s;
        bool same = strcmp(part, this_part) == 0;
        if (!same) {
            part = this_part;
            shown = 0;
        }
        if (shown++ < TEXT_LIMIT || d->full)
            print_difference(ctx, n, out);
        else
            hidden++;
    }
    if (hidden)
        cbi_buf_printf(ctx, out, "%zu more differences; --full shows them\n", hidden);
}

static void print_pair(diff *d, cbi_ctx *ctx, const char *a, const char *b, cbi_node *list)
{
    cbi_buf out = {0};
    if (list->count)
        d->differs = true;
    if (d->json) {
        cbi_node *document = cbi_node_object(ctx);
        cbi_node_string(ctx, document, "a", a);
        cbi_node_string(ctx, document, "b", b);
        cbi_node_bool(ctx, document, "same", list->count == 0);
        cbi_node_put(document, "differences", list);
        cbi_buf_printf(ctx, &out, d->printed++ ? ",\n    " : "\n    ");
        cbi_node_json(ctx, &out, document, 4);
    } else if (list->count) {
        cbi_text_string(ctx, &out, a ? a : b);
        if (a && b) {
            cbi_buf_printf(ctx, &out, " and ");
            cbi_text_string(ctx, &out, b);
            cbi_buf_printf(ctx, &out, " differ%s\n", d->brief ? "" : ":");
        } else {
            cbi_buf_printf(ctx, &out, " has no counterpart\n");
        }
        if (!d->brief && a && b)
            print_list(d, ctx, list, &out);
    }
    cbi_flush_text("diff", &out);
}

static void missing(diff *d, cbi_ctx *ctx, const char *a, const char *b)
{
    cbi_node *list = cbi_node_array(ctx);
    cbi_node *n = cbi_node_add_object(ctx, list, NULL);
    cbi_node_string(ctx, n, "part", "image");
    cbi_node_null(ctx, n, "section");
    cbi_node_null(ctx, n, "name");
    cbi_node_null(ctx, n, "field");
    cbi_node_string(ctx, n, "a", a);
    cbi_node_string(ctx, n, "b", b);
    print_pair(d, ctx, a, b, list);
}

static bool readable(diff *d, const char *file, cbi_object_kind kind, const cbi_findings *findings)
{
    if (kind == CBI_OBJECT_OK)
        return true;
    cbi_say("cubind diff: %s: %s", file, findings->len ? findings->items[0].message : "damaged");
    d->unreadable = true;
    return false;
}

static void keep_image(const cbi_image *image, void *user)
{
    diff *d = user;
    cbi_span bytes = image->object.bytes;
    stored *s = cbi_vec_add(d->store, &d->first);
    s->file = cbi_strndup(d->store, image->file, strlen(image->file));
    s->bytes = (cbi_span){cbi_memdup(d->store, bytes.data, bytes.size), bytes.size};
}

static void compare_image(const cbi_image *image, void *user)
{
    diff *d = user;
    cbi_ctx *ctx = image->ctx;
    size_t k = d->second++;
    if (k >= d->first.len) {
        missing(d, ctx, NULL, image->file);
        return;
    }
    const stored *s = &d->first.items[k];
    cbi_object a;
    cbi_findings findings = {0};
    cbi_object_kind kind = cbi_object_read(ctx, s->file, s->bytes, &a, &findings);
    bool ok = readable(d, s->file, kind, &findings);
    ok &= readable(d, image->file, image->kind, &image->findings);
    if (!ok)
        return;
    cbi_node *list = cbi_node_array(ctx);
    cbi_diff(ctx, &a, &image->object, &d->options, list);
    print_pair(d, ctx, s->file, image->file, list);
}

typedef struct job {
    diff *d;
    const char *a, *b;
} job;

static cb_status compare_files(cbi_ctx *ctx, void *arg)
{
    job *j = arg;
    diff *d = j->d;
    d->store = ctx;
    if (cbi_each_image("diff", j->a, keep_image, d) != CBI_EXIT_CLEAN)
        d->unreadable = true;
    if (cbi_each_image("diff", j->b, compare_image, d) != CBI_EXIT_CLEAN)
        d->unreadable = true;
    for (size_t k = d->second; k < d->first.len && !d->unreadable; k++)
        missing(d, ctx, d->first.items[k].file, NULL);
    return CB_OK;
}

int cbi_tool_diff(int argc, char **argv)
{
    diff d = {0};
    const char *files[2];
    size_t count = 0;
    bool options = true, wrong = false;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (!options || arg[0] != '-' || arg[1] == 0) {
            if (count < 2)
                files[count] = arg;
            count++;
        } else if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            usage(stdout);
            return cbi_check_stdout("cubind diff", CBI_EXIT_CLEAN, CBI_EXIT_UNREADABLE);
        } else if (strcmp(arg, "--json") == 0) {
            d.json = true;
        } else if (strcmp(arg, "--brief") == 0) {
            d.brief = true;
        } else if (strcmp(arg, "--full") == 0) {
            d.full = true;
        } else if (strcmp(arg, "--semantic") == 0) {
            d.options.semantic = true;
        } else if (strcmp(arg, "--") == 0) {
            options = false;
        } else {
            cbi_say("cubind diff: unknown option %s", arg);
            wrong = true;
        }
    }
    if (wrong || count != 2) {
        usage(stderr);
        return CBI_EXIT_UNREADABLE;
    }
    if (d.json)
        printf("{\n  \"schema\": \"cubind-diff/1\",\n  \"pairs\": [");
    job j = {.d = &d, .a = files[0], .b = files[1]};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cb_status status = cbi_run(&ctx, compare_files, &j);
    if (status != CB_OK) {
        cbi_say("cubind diff: %s", cbi_failure_text(status));
        d.unreadable = true;
    }
    cbi_ctx_fini(&ctx);
    if (d.json)
        printf("%s]\n}\n", d.printed ? "\n  " : "");
    int code = d.unreadable ? CBI_EXIT_UNREADABLE : d.differs ? CBI_EXIT_FINDINGS : CBI_EXIT_CLEAN;
    return cbi_check_stdout("cubind diff", code, CBI_EXIT_UNREADABLE);
}
