/* cubind extract: lists or writes the device images in any container. */
#include "say.h"
#include "tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/output_file.h"
#include "images.h"
#include "input/recognise.h"
#include "inspect/extract.h"

typedef struct extract {
    cbi_extract_filter filter;
    const char *folder; /* NULL: list */
    bool json;
    size_t number;   /* of the next image */
    size_t left_out; /* of the file at hand: not meant by the options */
    bool folder_made;
    size_t shown;
    size_t written;
    size_t as_stored; /* among these */
    int exit_code;

    cbi_ctx *ctx; /* of the file at hand */
    const char *path;
    cbi_scratch scratch;
} extract;

const cbi_tool_option cbi_options_extract[] = {
    {"-o", "--output", "FOLDER", NULL,
     "write the images there instead of listing them; it is created"},
    {"--arch", NULL, "ARCH", "@arch",
     "only images for sm_90, compute_90, lto_90, or 90 for all of these"},
    {"--kind", NULL, "KIND", "cubin ptx ltoir other",
     "only images of a kind: cubin, ptx, ltoir, other"},
    {.name = "--number", .value = "N", .help = "only image N of the list"},
    {.name = "--json", .help = "list as JSON; docs/json.md describes it"},
    {0},
};

static void usage(FILE *out)
{
    fprintf(out, "Usage: cubind extract [OPTION]... FILE...\n\n"
                 "Lists the device images in cubins, fatbins, host objects, shared libraries, "
                 "programs and\narchives, or writes them into a folder.\n\n");
    cbi_print_options(out, cbi_options_extract);
    fprintf(out, "\nExit status: 0 all done, 1 some images are damaged, 2 a file could not be "
                 "read.\n");
}

static void on_diagnostic(void *user, const cb_diagnostic *d)
{
    extract *x = user;
    cbi_say("cubind extract: %s", d->message);
    bool unreadable = d->severity == CB_SEV_FATAL || strcmp(d->id, "input-unknown") == 0 ||
                      strcmp(d->id, "output-file") == 0;
    cbi_raise_exit(&x->exit_code, unreadable ? CBI_EXIT_UNREADABLE : CBI_EXIT_FINDINGS);
}

static void list_image(extract *x, const cbi_slice *slice, size_t number)
{
    const cbi_fatbin_entry *entry = &slice->entry;
    if (x->json) {
        cbi_buf out = {0};
        cbi_node_json(x->ctx, &out, cbi_extract_row(x->ctx, slice, number), 4);
        printf("%s\n    %.*s", x->shown ? "," : "", (int)out.len, (const char *)out.items);
    } else {
        cbi_buf name = {0};
        cbi_text_string(x->ctx, &name, slice->file);
        if (x->shown == 0)
            printf("%6s  %-5s  %-12s  %-7s  %10s  %10s  %s\n", "number", "kind", "arch", "packed",
                   "stored", "size", "file");
        printf("%6zu  %-5s  %-12s  %-7s  %10zu  %10llu  %.*s\n", number,
               cbi_slice_kind_name(slice->kind), cbi_slice_arch(x->ctx, slice),
               cbi_compression_name(entry->compression), entry->payload.size,
               (unsigned long long)entry->size, (int)name.len, (const char *)name.items);
    }
    x->shown++;
}

static void make_folder(extract *x)
{
    int why = cbi_make_folder(x->folder);
    if (why)
        cbi_fatal(x->ctx, "output-file", &(cbi_place){.file = x->folder}, NULL,
                  "cannot create the folder '%s': %s", x->folder, strerror(why));
    x->folder_made = true;
}

static bool take_image(const cbi_slice *slice, void *user)
{
    extract *x = user;
    size_t number = x->number++;
    if (!cbi_extract_wants(x->ctx, &x->filter, slice, number)) {
        x->left_out++;
        return true;
    }
    if (!x->folder) {
        list_image(x, slice, number);
        return true;
    }
    if (!x->folder_made)
        make_folder(x);
    switch (cbi_extract_write(x->ctx, slice, number, x->folder, &x->scratch)) {
    case CBI_EXTRACT_AS_STORED:
        x->as_stored++;
        x->written++;
        break;
    case CBI_EXTRACT_WRITTEN:
        x->written++;
        break;
    case CBI_EXTRACT_FAILED:
        break;
    }
    return true;
}

static cb_status read_file(cbi_ctx *ctx, void *arg)
{
    extract *x = arg;
    cbi_span bytes;
    errno = 0;
    if (cbi_map_file(ctx, x->path, &bytes) != CB_OK) {
        cbi_say("cubind extract: %s: %s", x->path, errno ? strerror(errno) : "cannot be read");
        cbi_raise_exit(&x->exit_code, CBI_EXIT_UNREADABLE);
        return CB_OK;
    }
    x->left_out = 0;
    size_t images = cbi_each_slice(ctx, x->path, bytes, take_image, x);
    cbi_content content = cbi_recognise(bytes);
    if (images && x->left_out == images)
        cbi_say("cubind extract: %s: %zu image%s, none that the options mean", x->path, images,
                images == 1 ? "" : "s");
    else if (!images && !ctx->error_count)
        cbi_say("cubind extract: %s: no device code: it is %s", x->path, cbi_content_text(content));
    return CB_OK;
}

static void take_file(extract *x, const char *path)
{
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.on_diagnostic = on_diagnostic;
    ctx.on_diagnostic_user = x;
    x->ctx = &ctx;
    x->path = path;
    x->scratch = (cbi_scratch){NULL, 0};
    cb_status status = cbi_run(&ctx, read_file, x);
    if (status != CB_OK)
        cbi_raise_exit(&x->exit_code, CBI_EXIT_UNREADABLE);
    if (status == CB_ERR_NOMEM || status == CB_ERR_IO)
        cbi_say("cubind extract: %s: %s", path, cbi_failure_text(status));
    cbi_ctx_fini(&ctx);
}

static bool read_kind(extract *x, const char *name)
{
    for (cbi_slice_kind k = CBI_SLICE_CUBIN; k <= CBI_SLICE_OTHER; k++) {
        if (strcmp(cbi_slice_kind_name(k), name) == 0) {
            x->filter.has_kind = true;
            x->filter.kind = k;
            return true;
        }
    }
    return false;
}

static bool read_number(extract *x, const char *text)
{
    char *end;
    errno = 0;
    x->filter.number = strtoul(text, &end, 10);
    x->filter.has_number = true;
    return errno == 0 && end != text && *end == 0 && text[0] != '-';
}

/* The option's value, from "--x=v" or the next argument; NULL if arg, the i-th argument, is not
 * that option. */
static const char *value_of(const char *name, const char *arg, int argc, char **argv, int *i)
{
    size_t len = strlen(name);
    if (strncmp(arg, name, len) != 0)
        return NULL;
    if (arg[len] == '=')
        return arg + len + 1;
    return arg[len] == 0 && *i + 1 < argc ? argv[++*i] : NULL;
}

static bool read_option(extract *x, int argc, char **argv, int *i)
{
    const char *arg = argv[*i];
    const char *v;
    if (strcmp(arg, "--json") == 0) {
        x->json = true;
        return true;
    }
    if ((v = value_of("-o", arg, argc, argv, i)) ||
        (v = value_of("--output", arg, argc, argv, i))) {
        x->folder = v;
        return true;
    }
    if ((v = value_of("--arch", arg, argc, argv, i))) {
        x->filter.arch = v;
        return true;
    }
    if ((v = value_of("--kind", arg, argc, argv, i)))
        return read_kind(x, v);
    if ((v = value_of("--number", arg, argc, argv, i)))
        return read_number(x, v);
    return false;
}

int cbi_tool_extract(int argc, char **argv)
{
    extract x = {.exit_code = CBI_EXIT_CLEAN};
    int files = 0;
    bool options = true;
    for (int i = 1; i < argc; i++) {
        if (!options || argv[i][0] != '-' || argv[i][1] == 0) {
            argv[files++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            usage(stdout);
            return cbi_check_stdout("cubind extract", CBI_EXIT_CLEAN, CBI_EXIT_UNREADABLE);
        } else if (!read_option(&x, argc, argv, &i)) {
            cbi_say("cubind extract: unknown option or bad value: %s", argv[i]);
            return CBI_EXIT_UNREADABLE;
        }
    }
    if (files == 0) {
        usage(stderr);
        return CBI_EXIT_UNREADABLE;
    }
    bool json = x.json && !x.folder;
    if (json)
        printf("{\n  \"schema\": \"cubind-extract/1\",\n  \"images\": [");
    for (int i = 0; i < files; i++)
        take_file(&x, argv[i]);
    if (json)
        printf("%s]\n}\n", x.shown ? "\n  " : "");
    if (x.folder)
        printf("%zu image%s written\n", x.written, x.written == 1 ? "" : "s");
    if (x.as_stored)
        cbi_say("cubind extract: %zu of these are obfuscated LTO-IR, written as stored",
                x.as_stored);
    return cbi_check_stdout("cubind extract", x.exit_code, CBI_EXIT_UNREADABLE);
}
