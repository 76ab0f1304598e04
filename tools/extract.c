/* cubind extract: lists or writes the device images in any container. */
#include "arguments.h"
#include "images.h"
#include "say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct extract {
    const char *arch, *kind; /* NULL: all */
    bool has_number;
    size_t number;
    const char *folder; /* NULL: list */
    bool json;
    unsigned threads;
    const char *path;     /* of the file at hand */
    size_t base;          /* images of the files before */
    _Atomic bool stopped; /* nothing can be written any more */
    size_t shown;         /* of all files */
    size_t written;
    size_t as_stored; /* among these */
} extract;

enum { OPT_OUTPUT, OPT_ARCH, OPT_KIND, OPT_NUMBER, OPT_JSON, OPT_THREADS };

const cbi_tool_option cbi_options_extract[] = {
    [OPT_OUTPUT] = {"-o", "--output", "FOLDER", NULL,
                    "write the images there instead of listing them; it is created"},
    [OPT_ARCH] = {"--arch", NULL, "ARCH", "@arch",
                  "only images for sm_90, compute_90, lto_90, or 90 for all of these"},
    [OPT_KIND] = {"--kind", NULL, "KIND", "cubin ptx ltoir other",
                  "only images of a kind: cubin, ptx, ltoir, other"},
    [OPT_NUMBER] = {.name = "--number", .value = "N", .help = "only image N of the list"},
    [OPT_JSON] = {.name = "--json", .help = "list as JSON; docs/json.md describes it"},
    [OPT_THREADS] = {.name = "--threads",
                     .value = "N",
                     .help = "write N images at a time; 0, the default: one per core"},
    {0},
};

static void usage(FILE *out)
{
    fprintf(out, "Usage: cubind extract [OPTION]... FILE...\n\n"
                 "Lists the device images in cubins, fatbins, host objects, shared libraries, "
                 "programs and\narchives, or writes them into a folder.  '-' is the standard "
                 "input.\n\n");
    cbi_print_options(out, cbi_options_extract);
    fprintf(out, "\nExit status: 0 all done, 1 some images are damaged, 2 a file could not be "
                 "read.\n");
}

static bool read_kind(extract *x, const char *name)
{
    for (int k = CB_IMAGE_CUBIN; k <= CB_IMAGE_OTHER; k++)
        if (strcmp(cb_image_kind_name((cb_image_kind)k), name) == 0)
            x->kind = name;
    return x->kind == name;
}

static bool read_number(extract *x, const char *text)
{
    char *end;
    errno = 0;
    x->number = strtoul(text, &end, 10);
    x->has_number = true;
    return errno == 0 && end != text && *end == 0 && text[0] != '-';
}

static bool take(void *user, size_t option, const char *value)
{
    extract *x = user;
    switch (option) {
    case OPT_OUTPUT:
        x->folder = value;
        return true;
    case OPT_ARCH:
        x->arch = value;
        return cbi_is_arch_text(value);
    case OPT_KIND:
        return read_kind(x, value);
    case OPT_NUMBER:
        return read_number(x, value);
    case OPT_JSON:
        x->json = true;
        return true;
    default:
        return cbi_read_threads(value, &x->threads);
    }
}

bool cbi_is_arch_text(const char *text)
{
    static const char *const prefixes[] = {"sm_", "compute_", "lto_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0) {
            text += strlen(prefixes[i]);
            break;
        }
    size_t digits = strspn(text, "0123456789");
    text += digits;
    return digits && (!*text || ((*text == 'a' || *text == 'f') && !text[1]));
}

/* "sm_90", or "90" for whatever the kind. */
bool cbi_is_arch(const cb_image_info *info, const char *arch)
{
    const char *figures = strchr(info->arch, '_');
    return strcmp(info->arch, arch) == 0 || (figures && strcmp(figures + 1, arch) == 0);
}

static bool wants(const extract *x, const cb_image_info *info, size_t number)
{
    return !x->stopped && (!x->has_number || x->base + number == x->number) &&
           (!x->kind || strcmp(cb_image_kind_name(info->kind), x->kind) == 0) &&
           (!x->arch || cbi_is_arch(info, x->arch));
}

/* ---- the list ---- */

static void list_json(extract *x, const cb_image_info *info, size_t number)
{
    cbi_store store = {0};
    cbi_out out = {0};
    cbi_node *row = cbi_node_object(&store);
    cbi_node_uint(&store, row, "number", number);
    cbi_node_string(&store, row, "kind", cb_image_kind_name(info->kind));
    cbi_node_string(&store, row, "arch", info->arch);
    cbi_node_string(&store, row, "compression", cb_compression_text(info->compression));
    cbi_node_uint(&store, row, "stored", info->stored);
    cbi_node_uint(&store, row, "size", info->size);
    cbi_node_hex(&store, row, "offset", info->offset);
    cbi_node_string(&store, row, "file", info->file);
    cbi_node_string(&store, row, "section", info->section);
    if (info->fatbin == CB_NONE)
        cbi_node_null(&store, row, "fatbin");
    else
        cbi_node_uint(&store, row, "fatbin", info->fatbin);
    cbi_node_hex(&store, row, "flags", info->flags);
    cbi_node_string(&store, row, "identifier", info->identifier);
    cbi_node_printf(&store, row, "version", "%u.%u", info->version_major, info->version_minor);
    cbi_out_put(&out, x->shown ? ",\n    " : "\n    ");
    cbi_node_json(&out, row, 4);
    cbi_flush_text("extract", &out);
    cbi_out_free(&out);
    cbi_store_free(&store);
}

static void list_image(extract *x, const cb_image_info *info, size_t number)
{
    if (x->json) {
        list_json(x, info, number);
    } else {
        cbi_out name = {0};
        cbi_out_string(&name, info->file);
        if (x->shown == 0)
            printf("%6s  %-5s  %-12s  %-7s  %10s  %10s  %s\n", "number", "kind", "arch", "packed",
                   "stored", "size", "file");
        printf("%6zu  %-5s  %-12s  %-7s  %10llu  %10llu  %s\n", number,
               cb_image_kind_name(info->kind), info->arch, cb_compression_text(info->compression),
               (unsigned long long)info->stored, (unsigned long long)info->size,
               cbi_out_text(&name));
        cbi_out_free(&name);
    }
    x->shown++;
}

/* ---- writing ---- */

const char *cbi_image_file_name(cbi_store *store, const cb_image_info *info, size_t number,
                                const char *path)
{
    static const char *const endings[] = {"cubin", "ptx", "ltoir", "bin"};
    /* the last component of the path, and the member behind it */
    size_t path_len = strlen(path);
    const char *member = strncmp(info->file, path, path_len) == 0 ? info->file + path_len : "";
    const char *slash = strrchr(path, '/');
    const char *base = strcmp(path, "-") == 0 ? "stdin" : slash ? slash + 1 : path;
    char *name = cbi_store_printf(store, "%s%s.%zu%s%s.%s", base, member, number,
                                  *info->arch ? "." : "", info->arch, endings[info->kind]);
    /* Member names come from the input: nothing in them may lead elsewhere. */
    for (char *s = name; *s; s++)
        if (*s == '/' || *s == ':' || (unsigned char)*s < ' ' || *s == 0x7f)
            *s = '.';
    return name + strspn(name, ".");
}

/* Creates a folder, and those above it.  0, or the errno of the failure. */
static int make_folder(const char *path)
{
    cbi_store store = {0};
    char *text = cbi_store_copy(&store, path);
    int why = 0;
    for (char *s = text + (*text != 0); !why; s++) {
        if (*s != '/' && *s)
            continue;
        char end = *s;
        *s = 0;
        struct stat st;
        if (mkdir(text, 0777) != 0 && errno != EEXIST)
            why = errno;
        else if (stat(text, &st) != 0 || !S_ISDIR(st.st_mode))
            why = ENOTDIR;
        *s = end;
        if (!end)
            break;
    }
    cbi_store_free(&store);
    return why;
}

static void write_image(cb_image *image, cbi_seen *seen, void *user)
{
    extract *x = user;
    cbi_store store = {0};
    const cb_image_info *info = seen->info;
    const char *name = cbi_image_file_name(&store, info, x->base + seen->number, x->path);
    const char *path = cbi_store_printf(&store, "%s/%s", x->folder, name);
    errno = 0;
    if (cb_image_write_file(image, path) == CB_OK) {
        seen->counts[0] = 1;
        seen->counts[1] = info->obfuscated != 0;
    } else {
        const char *why = errno ? strerror(errno) : "it could not be completed";
        cbi_out_put(&seen->errors, "cubind extract: Could not write output file '");
        cbi_out_string(&seen->errors, path);
        cbi_out_printf(&seen->errors, "': %s\n", why);
        seen->exit_code = CBI_EXIT_UNREADABLE;
        /* a name may be at fault, and other images have others */
        x->stopped |= errno != ENAMETOOLONG && errno != EINVAL && errno != EILSEQ &&
                      errno != EISDIR && errno != ELOOP;
    }
    cbi_store_free(&store);
}

static void count_image(cbi_seen *seen, void *user)
{
    extract *x = user;
    x->written += seen->counts[0];
    x->as_stored += seen->counts[1];
}

static bool wants_image(const cb_image_info *info, size_t number, void *user)
{
    return wants(user, info, number);
}

/* ---- files ---- */

/* How many images the options mean, which are listed unless they are to be written. */
static size_t list_images(extract *x, const cb_container *container)
{
    size_t meant = 0, count = cb_container_count(container);
    for (size_t i = 0; i < count; i++) {
        const cb_image_info *info = cb_container_info(container, i);
        if (!wants(x, info, i))
            continue;
        meant++;
        if (!x->folder)
            list_image(x, info, x->base + i);
    }
    return meant;
}

static int write_images(extract *x, cb_container *container)
{
    const cbi_viewer viewer = {.command = "extract",
                               .every_kind = true,
                               .damage_exit = CBI_EXIT_FINDINGS,
                               .threads = x->threads,
                               .wants = wants_image,
                               .look = write_image,
                               .tell = count_image,
                               .user = x};
    int why = make_folder(x->folder);
    if (why) {
        cbi_say("cubind extract: cannot create the folder '%s': %s", x->folder, strerror(why));
        x->stopped = true;
        return CBI_EXIT_UNREADABLE;
    }
    return cbi_view_container(&viewer, x->path, container);
}

static int take_file(extract *x, const char *path)
{
    bool damaged;
    cb_container *container = cbi_open_container("extract", path, &damaged);
    if (!container)
        return CBI_EXIT_UNREADABLE;
    x->path = path;
    int code = damaged ? CBI_EXIT_FINDINGS : CBI_EXIT_CLEAN;
    size_t count = cb_container_count(container), meant = list_images(x, container);
    cb_content content = cb_container_content(container);
    if (content == CB_CONTENT_EMPTY || content == CB_CONTENT_UNKNOWN ||
        content == CB_CONTENT_BITCODE) {
        cbi_say("cubind extract: '%s' holds no device code: it is %s", path,
                cb_content_text(content));
        code = CBI_EXIT_UNREADABLE;
    } else if (count && !meant) {
        cbi_say("cubind extract: %s: %zu image%s, none that the options mean", path, count,
                count == 1 ? "" : "s");
    } else if (!count && !damaged) {
        cbi_say("cubind extract: %s: no device code: it is %s", path, cb_content_text(content));
    }
    if (meant && x->folder)
        cbi_raise_exit(&code, write_images(x, container));
    x->base += count;
    cb_container_close(container);
    return code;
}

int cbi_tool_extract(int argc, char **argv)
{
    extract x = {0};
    cbi_arguments a = {.program = "cubind extract",
                       .options = cbi_options_extract,
                       .usage = usage,
                       .take = take,
                       .user = &x,
                       .least = 1};
    int code = cbi_take_arguments(&a, argc, argv);
    if (code >= 0)
        return code;
    code = CBI_EXIT_CLEAN;
    bool json = x.json && !x.folder;
    if (json)
        printf("{\n  \"schema\": \"cubind-extract/1\",\n  \"images\": [");
    for (int i = 0; i < a.files && !x.stopped; i++)
        cbi_raise_exit(&code, take_file(&x, argv[i]));
    if (json)
        printf("%s]\n}\n", x.shown ? "\n  " : "");
    if (x.folder)
        printf("%zu image%s written\n", x.written, x.written == 1 ? "" : "s");
    if (x.as_stored)
        cbi_say("cubind extract: %zu of these are obfuscated LTO-IR, written as stored",
                x.as_stored);
    return cbi_check_stdout("cubind extract", code, CBI_EXIT_UNREADABLE);
}
