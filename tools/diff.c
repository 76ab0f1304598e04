/* cubind diff: says what differs between two device ELFs. */
#include "arguments.h"
#include "images.h"
#include "say.h"

#include <errno.h>
#include <string.h>

enum { TEXT_LIMIT = 40 }; /* differences of one part shown as text; the help names it */

typedef struct diff {
    bool json, brief, full;
    uint64_t flags;
    bool colour;
    size_t printed;
    bool differs;
    bool unreadable;
} diff;

enum { OPT_BRIEF, OPT_SEMANTIC, OPT_FULL, OPT_JSON };

const cbi_tool_option cbi_options_diff[] = {
    [OPT_BRIEF] = {.name = "--brief", .help = "only say whether they differ"},
    [OPT_SEMANTIC] = {.name = "--semantic",
                      .help = "ignore the order of records and the layout of the file"},
    [OPT_FULL] = {.name = "--full", .help = "show every difference, not the first 40 of a part"},
    [OPT_JSON] = {.name = "--json", .help = "differences as JSON; docs/json.md describes it"},
    {0},
};

static void usage(FILE *out)
{
    fprintf(out, "Usage: cubind diff [OPTION]... A B\n\n"
                 "Says what differs between two files with device code: sections, symbols,\n"
                 "attributes, relocations, call graph, code, notes.  Images of containers are\n"
                 "compared in order.  '-' is the standard input.\n\n");
    cbi_print_options(out, cbi_options_diff);
    fprintf(out, "\nExit status: 0 same, 1 different, 2 a file could not be read.\n");
}

static bool take(void *user, size_t option, const char *value)
{
    (void)value;
    diff *d = user;
    switch (option) {
    case OPT_BRIEF:
        d->brief = true;
        break;
    case OPT_SEMANTIC:
        d->flags |= CB_DIFF_SEMANTIC;
        break;
    case OPT_FULL:
        d->full = true;
        break;
    default:
        d->json = true;
        break;
    }
    return true;
}

static void print_difference(const cb_difference *n, cbi_out *out)
{
    cbi_out_put(out, n->part);
    const char *words[] = {n->section, n->name, n->field};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i]) {
            cbi_out_put(out, " ");
            cbi_out_string(out, words[i]);
        }
    }
    cbi_out_put(out, n->a && n->b ? ": " : n->a ? ": only in A: " : ": only in B: ");
    cbi_out_style(out, n->a ? CBI_STYLE_BAD : CBI_STYLE_GOOD);
    cbi_out_string(out, n->a ? n->a : n->b);
    cbi_out_style(out, CBI_STYLE_OFF);
    if (n->a && n->b && strcmp(n->a, n->b) != 0) {
        cbi_out_put(out, " -> ");
        cbi_out_style(out, CBI_STYLE_GOOD);
        cbi_out_string(out, n->b);
        cbi_out_style(out, CBI_STYLE_OFF);
    }
    cbi_out_put(out, "\n");
}

/* A few differences of every part: differences of a part stand together. */
static void print_list(const diff *d, const cb_diff *list, cbi_out *out)
{
    const char *part = "";
    size_t shown = 0, hidden = 0, count = cb_diff_count(list);
    for (size_t i = 0; i < count; i++) {
        const cb_difference *n = cb_diff_get(list, i);
        if (strcmp(part, n->part) != 0) {
            part = n->part;
            shown = 0;
        }
        if (shown++ < TEXT_LIMIT || d->full)
            print_difference(n, out);
        else
            hidden++;
    }
    if (hidden)
        cbi_out_printf(out, "%zu more differences; --full shows them\n", hidden);
}

static void add_difference(cbi_store *store, cbi_node *rows, const cb_difference *n)
{
    cbi_node *row = cbi_node_add_object(store, rows, NULL);
    cbi_node_string(store, row, "part", n->part);
    cbi_node_string(store, row, "section", n->section);
    cbi_node_string(store, row, "name", n->name);
    cbi_node_string(store, row, "field", n->field);
    cbi_node_string(store, row, "a", n->a);
    cbi_node_string(store, row, "b", n->b);
}

/* a or b is NULL for an image without a counterpart; list then, too. */
static void print_json(diff *d, const char *a, const char *b, const cb_diff *list, cbi_out *out)
{
    cbi_store store = {0};
    cbi_node *document = cbi_node_object(&store);
    size_t count = list ? cb_diff_count(list) : 1;
    cbi_node_string(&store, document, "a", a);
    cbi_node_string(&store, document, "b", b);
    cbi_node_bool(&store, document, "same", count == 0);
    cbi_node *rows = cbi_node_add_array(&store, document, "differences");
    if (!list)
        add_difference(&store, rows, &(cb_difference){.part = "image", .a = a, .b = b});
    for (size_t i = 0; list && i < count; i++)
        add_difference(&store, rows, cb_diff_get(list, i));
    cbi_out_put(out, d->printed++ ? ",\n    " : "\n    ");
    cbi_node_json(out, document, 4);
    cbi_store_free(&store);
}

static void print_pair(diff *d, const char *a, const char *b, const cb_diff *list)
{
    cbi_out out = {.colour = d->colour};
    bool same = list && cb_diff_count(list) == 0;
    if (!same)
        d->differs = true;
    if (d->json) {
        print_json(d, a, b, list, &out);
    } else if (!same) {
        cbi_out_string(&out, a ? a : b);
        if (list) {
            cbi_out_put(&out, " and ");
            cbi_out_string(&out, b);
            cbi_out_put(&out, d->brief ? " differ\n" : " differ:\n");
        } else {
            cbi_out_put(&out, " has no counterpart\n");
        }
        if (!d->brief && list)
            print_list(d, list, &out);
    }
    cbi_flush_text("diff", &out);
    cbi_out_free(&out);
}

/* ---- the images of both files ---- */

typedef struct side {
    const char *path;
    cb_container *container;
    size_t next;     /* image to look at */
    cb_image *image; /* the one at hand; NULL: there is none, or it cannot be opened */
    bool ended;
} side;

static void complain(diff *d, const char *name, const char *text)
{
    cbi_say("cubind diff: %s: %s", name, text);
    d->unreadable = true;
}

/* Opens the next image with machine code. */
static void next_image(diff *d, side *s)
{
    cb_image_close(s->image);
    s->image = NULL;
    size_t count = cb_container_count(s->container);
    while (s->next < count && cb_container_info(s->container, s->next)->kind != CB_IMAGE_CUBIN)
        s->next++;
    s->ended = s->next == count;
    if (s->ended)
        return;
    errno = 0;
    cb_status status = cb_image_open(s->container, s->next++, &s->image);
    if (status == CB_ERR_FORMAT)
        d->unreadable = true; /* said */
    else if (status != CB_OK)
        complain(d, s->path, cbi_status_reason(status));
}

static bool is_readable(diff *d, cb_image *image)
{
    if (!image || cb_image_get_state(image) == CB_STATE_SOUND)
        return image != NULL;
    const cb_finding *f = cb_image_damage(image, 0);
    cb_image_state state = cb_image_get_state(image);
    complain(d, cb_image_name(image),
             f                              ? f->message
             : state == CB_STATE_NOT_DEVICE ? "not a device ELF file"
             : state == CB_STATE_NOT_ELF    ? "not an ELF file"
                                            : "damaged");
    return false;
}

static void compare_images(diff *d, cb_image *a, cb_image *b)
{
    bool readable = is_readable(d, a);
    readable &= is_readable(d, b);
    if (!readable)
        return;
    cb_diff *list = NULL;
    cb_status status = cb_diff_create(a, b, d->flags, &list);
    if (status != CB_OK) {
        errno = 0;
        complain(d, cb_image_name(a), cbi_status_reason(status));
        return;
    }
    print_pair(d, cb_image_name(a), cb_image_name(b), list);
    cb_diff_free(list);
}

/* Files without machine code are said, and equal to others such. */
static bool open_side(diff *d, side *s, const char *path)
{
    bool damaged;
    s->path = path;
    s->container = cbi_open_container("diff", path, &damaged);
    d->unreadable |= damaged;
    if (s->container && !cbi_say_contents("diff", path, s->container))
        d->unreadable = true;
    return s->container != NULL;
}

static void compare_files(diff *d, const char *a, const char *b)
{
    side sides[2] = {0};
    bool open = open_side(d, &sides[0], a);
    open &= open_side(d, &sides[1], b);
    while (open) {
        next_image(d, &sides[0]);
        next_image(d, &sides[1]);
        if (sides[0].ended && sides[1].ended)
            break;
        if (!sides[0].ended && !sides[1].ended)
            compare_images(d, sides[0].image, sides[1].image);
        else if (sides[1].ended && sides[0].image && !d->unreadable)
            print_pair(d, cb_image_name(sides[0].image), NULL, NULL);
        else if (sides[0].ended && sides[1].image)
            print_pair(d, NULL, cb_image_name(sides[1].image), NULL);
    }
    for (size_t i = 0; i < 2; i++) {
        cb_image_close(sides[i].image);
        cb_container_close(sides[i].container);
    }
}

int cbi_tool_diff(int argc, char **argv)
{
    diff d = {0};
    cbi_arguments a = {.program = "cubind diff",
                       .options = cbi_options_diff,
                       .usage = usage,
                       .take = take,
                       .user = &d,
                       .least = 2,
                       .most = 2};
    int code = cbi_take_arguments(&a, argc, argv);
    if (code >= 0)
        return code;
    d.colour = !d.json && cbi_is_colourful(stdout);
    if (d.json)
        printf("{\n  \"schema\": \"cubind-diff/1\",\n  \"pairs\": [");
    compare_files(&d, argv[0], argv[1]);
    if (d.json)
        printf("%s]\n}\n", d.printed ? "\n  " : "");
    code = d.unreadable ? CBI_EXIT_UNREADABLE : d.differs ? CBI_EXIT_FINDINGS : CBI_EXIT_CLEAN;
    return cbi_check_stdout("cubind diff", code, CBI_EXIT_UNREADABLE);
}
