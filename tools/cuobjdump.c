/* The program under the name cuobjdump: its options of the public manual for listing, extracting
 * and showing.  What is inside of a device ELF is shown as `cubind dump` shows it. */
#include "arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "images.h"
#include "say.h"

enum {
    OPT_ALL,
    OPT_ELF,
    OPT_SYMBOLS,
    OPT_PTX,
    OPT_SASS,
    OPT_RES_USAGE,
    OPT_XELF,
    OPT_XPTX,
    OPT_XTEXT,
    OPT_LELF,
    OPT_LPTX,
    OPT_LTEXT,
    OPT_LTXT,
    OPT_FUNCTION,
    OPT_ARCH,
    OPT_SORT,
    OPT_VERSION,
};

const cbi_tool_option cbi_options_cuobjdump[] = {
    [OPT_ALL] = {"--all-fatbin", "-all", NULL, NULL,
                 "relocatable images too, where a host file has linked ones"},
    [OPT_ELF] = {"--dump-elf", "-elf", NULL, NULL, "show device ELFs, as cubind dump does"},
    [OPT_SYMBOLS] = {"--dump-elf-symbols", "-symbols", NULL, NULL, "names of the symbols"},
    [OPT_PTX] = {"--dump-ptx", "-ptx", NULL, NULL, "show PTX"},
    [OPT_SASS] = {"--dump-sass", "-sass", NULL, NULL, "not here: cubind does not disassemble"},
    [OPT_RES_USAGE] = {"--dump-resource-usage", "-res-usage", NULL, NULL,
                       "registers and memory of each kernel"},
    [OPT_XELF] = {"--extract-elf", "-xelf", "NAME,...", NULL,
                  "write the device ELFs that have NAME in the name of -lelf, or all"},
    [OPT_XPTX] = {"--extract-ptx", "-xptx", "NAME,...", NULL, "the same for PTX"},
    [OPT_XTEXT] = {"--extract-text", "-xtext", "NAME,...", NULL,
                   "not here: text encodings of code are of toolkits long gone"},
    [OPT_LELF] = {"--list-elf", "-lelf", NULL, NULL, "list the device ELFs"},
    [OPT_LPTX] = {"--list-ptx", "-lptx", NULL, NULL, "list the PTX images"},
    [OPT_LTEXT] = {"--list-text", "-ltext", NULL, NULL, "list the code of each function"},
    [OPT_LTXT] = {"-ltxt", NULL, NULL, NULL, "the same as -ltext"},
    [OPT_FUNCTION] = {"--function", "-fun", "NAME,...", NULL,
                      "only these functions in -res-usage, -symbols and -ltext"},
    [OPT_ARCH] = {"--gpu-architecture", "-arch", "ARCH", "@arch", "only images for sm_90, say"},
    [OPT_SORT] = {"--sort-functions", "-sort", NULL, NULL, "sort functions by name"},
    [OPT_VERSION] = {"--version", "-V", NULL, NULL, "print the version"},
    {0},
};

enum {
    DO_ELF = 1,
    DO_SYMBOLS = 2,
    DO_PTX = 4,
    DO_RESOURCES = 8,
    DO_LIST_ELF = 16,
    DO_LIST_PTX = 32,
    DO_LIST_TEXT = 64,
    DO_EXTRACT_ELF = 128,
    DO_EXTRACT_PTX = 256,
    DO_EXTRACT = DO_EXTRACT_ELF | DO_EXTRACT_PTX,
    DO_LIST = DO_LIST_ELF | DO_LIST_PTX,
};

typedef struct objdump {
    uint32_t todo;
    const char *xelf, *xptx, *functions, *arch;
    bool all, sort, sass, xtext, version;
    const char *path;
    bool linked;                     /* the file has linked images */
    size_t listed[CB_IMAGE_PTX + 1]; /* of each kind, so far */
    size_t written;
} objdump;

static void usage(FILE *out)
{
    fprintf(out,
            "Usage: cuobjdump [OPTION]... FILE...\n\n"
            "Lists, extracts and shows the device code in cubins, fatbins and host files, with\n"
            "the options of NVIDIA's cuobjdump.  `cubind dump`, `extract` and `size` do more.\n\n");
    cbi_print_options(out, cbi_options_cuobjdump);
}

static bool take(void *user, size_t option, const char *value)
{
    static const uint32_t bits[] = {
        [OPT_ELF] = DO_ELF,          [OPT_SYMBOLS] = DO_SYMBOLS,
        [OPT_PTX] = DO_PTX,          [OPT_RES_USAGE] = DO_RESOURCES,
        [OPT_LELF] = DO_LIST_ELF,    [OPT_LPTX] = DO_LIST_PTX,
        [OPT_LTEXT] = DO_LIST_TEXT,  [OPT_LTXT] = DO_LIST_TEXT,
        [OPT_XELF] = DO_EXTRACT_ELF, [OPT_XPTX] = DO_EXTRACT_PTX,
        [OPT_VERSION] = 0,
    };
    objdump *d = user;
    d->todo |= bits[option];
    switch (option) {
    case OPT_ALL:
        d->all = true;
        break;
    case OPT_SASS:
        d->sass = true;
        break;
    case OPT_XELF:
        d->xelf = value;
        break;
    case OPT_XPTX:
        d->xptx = value;
        break;
    case OPT_XTEXT:
        d->xtext = true;
        break;
    case OPT_FUNCTION:
        d->functions = value;
        break;
    case OPT_ARCH:
        d->arch = value;
        break;
    case OPT_SORT:
        d->sort = true;
        break;
    case OPT_VERSION:
        d->version = true;
        break;
    default:
        break;
    }
    return true;
}

/* Is the name one of a list with commas; with `part`, does it contain one?  NULL and "all": yes. */
static bool is_listed(const char *list, const char *name, bool part)
{
    if (!list || strcmp(list, "all") == 0)
        return true;
    cbi_store store = {0};
    bool found = false;
    char *text = cbi_store_copy(&store, list), *rest = text;
    for (char *word; !found && (word = strsep(&rest, ","));)
        found = *word && (part ? strstr(name, word) != NULL : strcmp(name, word) == 0);
    cbi_store_free(&store);
    return found;
}

/* "app.1.sm_90.cubin": numbered from 1 within its kind. */
static const char *image_name(cbi_store *store, const objdump *d, const cb_image_info *info,
                              size_t number)
{
    const char *slash = strrchr(d->path, '/');
    const char *base = slash ? slash + 1 : d->path;
    const char *dot = strrchr(base, '.');
    int len = dot && dot != base ? (int)(dot - base) : (int)strlen(base);
    return cbi_store_printf(store, "%.*s.%zu.%s.%s", len, base, number,
                            *info->arch ? info->arch : "sm_0",
                            info->kind == CB_IMAGE_PTX ? "ptx" : "cubin");
}

/* The target of PTX is that of its chip here. */
static bool is_meant(const objdump *d, const cb_image_info *info)
{
    bool relocatable = info->section && strcmp(info->section, "__nv_relfatbin") == 0;
    if (info->kind > CB_IMAGE_PTX || (relocatable && d->linked && !d->all))
        return false;
    const char *figures = d->arch ? strchr(d->arch, '_') : NULL;
    return !d->arch || cbi_is_arch(info, figures ? figures + 1 : d->arch);
}

static bool wants(const cb_image_info *info, size_t number, void *user)
{
    (void)number;
    const objdump *d = user;
    return is_meant(d, info) && (d->todo & ~(uint32_t)DO_LIST);
}

/* ---- what is in an image ---- */

static void put_head(cb_image *image, cbi_out *out)
{
    const cb_image_info *info = cb_image_get_info(image);
    const char *what = info->kind == CB_IMAGE_PTX ? "ptx" : "elf";
    /* PTX is named by the chip that it is for, too */
    const char *figures = strchr(info->arch, '_');
    cbi_out_printf(out, "\nFatbin %s code:\n================\narch = sm_%s\n", what,
                   figures ? figures + 1 : "");
    if (info->fatbin != CB_NONE)
        cbi_out_printf(out, "code version = [%u,%u]\n", info->version_major, info->version_minor);
    cbi_out_put(out, "host = linux\ncompile_size = 64bit\n");
    if (info->compression != CB_COMPRESSION_NONE)
        cbi_out_put(out, "compressed\n");
    if (info->identifier) {
        cbi_out_put(out, "identifier = ");
        cbi_out_string(out, info->identifier);
        cbi_out_put(out, "\n");
    }
}

static void put_elf(cb_image *image, cbi_out *out)
{
    cbi_store store = {0};
    cbi_node *document = cbi_node_object(&store);
    cbi_dump(&store, image, CBI_DUMP_ALL, document);
    for (const cbi_node *part = document->first; part; part = part->next) {
        if (!part->count)
            continue;
        cbi_out_printf(out, "\n%s:\n", part->key);
        cbi_node_text(out, part, 2);
    }
    cbi_store_free(&store);
}

static void put_symbols(const objdump *d, cb_image *image, cbi_out *out)
{
    size_t count = cb_image_symbol_count(image, CB_VIEW_SASS);
    cbi_out_put(out, "\nsymbols:\n");
    for (size_t i = 1; i < count; i++) {
        const cb_symbol *s = cb_image_symbol(image, CB_VIEW_SASS, i);
        if (!*s->name || strcmp(s->type, "section") == 0 ||
            !is_listed(d->functions, s->name, false))
            continue;
        cbi_out_printf(out, "%-10s  %-7s  %-20s  ", s->type, s->bind, s->attributes);
        cbi_out_string(out, s->name);
        cbi_out_put(out, "\n");
    }
}

static int by_name(const void *a, const void *b)
{
    const cb_function *x = *(const cb_function *const *)a, *y = *(const cb_function *const *)b;
    return strcmp(x->name, y->name);
}

/* The functions that are meant, in the order of the file or by name; to be freed. */
static const cb_function **list_functions(const objdump *d, cb_image *image, size_t *ret_count)
{
    size_t count = cb_image_function_count(image), used = 0;
    const cb_function **list = cbi_grow(NULL, count, sizeof(const cb_function *));
    for (size_t i = 0; i < count; i++) {
        const cb_function *f = cb_image_function(image, i);
        if (is_listed(d->functions, f->name, false))
            list[used++] = f;
    }
    if (d->sort && used)
        qsort(list, used, sizeof(const cb_function *), by_name);
    *ret_count = used;
    return list;
}

static void put_figure(cbi_out *out, const char *name, int64_t value)
{
    if (value < 0)
        cbi_out_printf(out, " %s:?", name);
    else
        cbi_out_printf(out, " %s:%lld", name, (long long)value);
}

static void put_resources(const objdump *d, cb_image *image, cbi_out *out)
{
    uint64_t global = 0;
    size_t count = cb_image_section_count(image), functions;
    for (size_t i = 1; i < count; i++) {
        const cb_section *s = cb_image_section(image, i);
        if (strcmp(s->name, ".nv.global") == 0 || strcmp(s->name, ".nv.global.init") == 0)
            global += s->size;
    }
    cbi_out_printf(out, "\nResource usage:\n Common:\n  GLOBAL:%llu\n", (unsigned long long)global);
    const cb_function **list = list_functions(d, image, &functions);
    for (size_t i = 0; i < functions; i++) {
        const cb_function *f = list[i];
        cbi_out_put(out, " Function ");
        cbi_out_string(out, f->name);
        cbi_out_put(out, ":\n ");
        put_figure(out, "REG", f->registers);
        put_figure(out, "STACK", f->stack);
        put_figure(out, "SHARED", (int64_t)f->shared);
        put_figure(out, "LOCAL", (int64_t)f->local);
        put_figure(out, "CONSTANT", (int64_t)f->constant);
        put_figure(out, "BARRIER", f->barriers);
        cbi_out_put(out, "\n");
    }
    free(list);
}

static void put_texts(const objdump *d, cb_image *image, cbi_out *out)
{
    size_t count;
    const cb_function **list = list_functions(d, image, &count);
    for (size_t i = 0; i < count; i++) {
        cbi_out_printf(out, "%s  %8llu bytes  ", list[i]->kernel ? "kernel  " : "function",
                       (unsigned long long)list[i]->code_size);
        cbi_out_string(out, list[i]->name);
        cbi_out_put(out, "\n");
    }
    free(list);
}

static void put_ptx(cb_image *image, cbi_out *out)
{
    const void *data;
    size_t size;
    cb_image_bytes(image, &data, &size);
    const char *text = data;
    size = strnlen(text, size); /* compilers pad it with zeros */
    put_head(image, out);
    cbi_out_put(out, "\n");
    cbi_out_bytes(out, text, size);
    if (size && text[size - 1] != '\n')
        cbi_out_put(out, "\n");
}

static void extract(objdump *d, cb_image *image, cbi_seen *seen)
{
    cbi_store store = {0};
    const cb_image_info *info = cb_image_get_info(image);
    bool ptx = info->kind == CB_IMAGE_PTX;
    const char *names = ptx ? d->xptx : d->xelf;
    const char *name = image_name(&store, d, info, ++d->listed[info->kind]);
    if (names && is_listed(names, name, true)) {
        errno = 0;
        if (cb_image_write_file(image, name) == CB_OK) {
            cbi_out_printf(&seen->out, "Extracting %s file %5zu: %s\n", ptx ? "PTX" : "ELF",
                           d->listed[info->kind], name);
            d->written++;
        } else {
            cbi_out_printf(&seen->errors, "cuobjdump: %s: %s\n", name,
                           errno ? strerror(errno) : "it could not be written");
            seen->exit_code = CBI_EXIT_UNREADABLE;
        }
    }
    cbi_store_free(&store);
}

/* One image at a time, so that they are numbered in order. */
static void look(cb_image *image, cbi_seen *seen, void *user)
{
    objdump *d = user;
    if (d->todo & DO_EXTRACT) {
        extract(d, image, seen);
        return;
    }
    if (cb_image_get_info(image)->kind == CB_IMAGE_PTX) {
        if (d->todo & DO_PTX)
            put_ptx(image, &seen->out);
        return;
    }
    if (!(d->todo & (DO_ELF | DO_SYMBOLS | DO_RESOURCES | DO_LIST_TEXT)))
        return;
    put_head(image, &seen->out);
    if (d->todo & DO_ELF)
        put_elf(image, &seen->out);
    if (d->todo & DO_SYMBOLS)
        put_symbols(d, image, &seen->out);
    if (d->todo & DO_RESOURCES)
        put_resources(d, image, &seen->out);
    if (d->todo & DO_LIST_TEXT)
        put_texts(d, image, &seen->out);
}

/* ---- files ---- */

static void list(objdump *d, const cb_container *container)
{
    size_t count = cb_container_count(container);
    for (size_t i = 0; i < count; i++) {
        const cb_image_info *info = cb_container_info(container, i);
        if (!is_meant(d, info))
            continue;
        bool ptx = info->kind == CB_IMAGE_PTX;
        cbi_store store = {0};
        cbi_out name = {0};
        cbi_out_string(&name, image_name(&store, d, info, ++d->listed[info->kind]));
        if (d->todo & (ptx ? DO_LIST_PTX : DO_LIST_ELF))
            printf("%s file %4zu: %s\n", ptx ? "PTX" : "ELF", d->listed[info->kind],
                   cbi_out_text(&name));
        cbi_out_free(&name);
        cbi_store_free(&store);
    }
}

static int take_file(objdump *d, const char *path)
{
    bool damaged;
    cb_container *container = cbi_open_container("cuobjdump", path, &damaged);
    if (!container)
        return CBI_EXIT_UNREADABLE;
    int code = damaged ? CBI_EXIT_UNREADABLE : CBI_EXIT_CLEAN;
    d->path = path;
    d->listed[CB_IMAGE_CUBIN] = d->listed[CB_IMAGE_PTX] = 0;
    d->linked = false;
    size_t count = cb_container_count(container);
    for (size_t i = 0; i < count; i++) {
        const char *section = cb_container_info(container, i)->section;
        d->linked |= section && strcmp(section, "__nv_relfatbin") != 0;
    }
    if (!count && !damaged) {
        cbi_say("cuobjdump: %s holds no device code: it is %s", path,
                cb_content_text(cb_container_content(container)));
        code = CBI_EXIT_UNREADABLE;
    }
    if (d->todo & DO_LIST && !(d->todo & DO_EXTRACT))
        list(d, container);
    const cbi_viewer viewer = {.command = "cuobjdump",
                               .every_kind = true,
                               .threads = 1,
                               .wants = wants,
                               .look = look,
                               .user = d};
    cbi_raise_exit(&code, cbi_view_container(&viewer, path, container));
    cb_container_close(container);
    return code;
}

int cbi_tool_cuobjdump(int argc, char **argv)
{
    objdump d = {0};
    cbi_arguments a = {.program = "cuobjdump",
                       .options = cbi_options_cuobjdump,
                       .usage = usage,
                       .take = take,
                       .user = &d};
    int code = cbi_take_arguments(&a, argc, argv);
    if (code >= 0)
        return code;
    if (d.version) {
        printf("cuobjdump: cubind %s\n", cb_version_string());
        return cbi_check_stdout("cuobjdump", CBI_EXIT_CLEAN, CBI_EXIT_UNREADABLE);
    }
    if (d.sass || d.xtext) {
        cbi_say("cuobjdump: %s: cubind does not disassemble device code",
                d.sass ? "-sass" : "-xtext");
        cbi_say("  help: -xelf all writes the cubins; nvdisasm of the CUDA toolkit shows their "
                "instructions");
        return CBI_EXIT_UNREADABLE;
    }
    if (a.files == 0) {
        usage(stderr);
        return CBI_EXIT_UNREADABLE;
    }
    if (!d.todo)
        d.todo = DO_ELF | DO_PTX;
    code = CBI_EXIT_CLEAN;
    for (int i = 0; i < a.files; i++)
        cbi_raise_exit(&code, take_file(&d, argv[i]));
    if (d.todo & DO_EXTRACT && !d.written && code == CBI_EXIT_CLEAN)
        cbi_say("cuobjdump: no image has that in its name; -lelf and -lptx list the names");
    return cbi_check_stdout("cuobjdump", code, CBI_EXIT_UNREADABLE);
}
