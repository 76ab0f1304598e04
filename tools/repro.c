/* --repro: everything that a link read, with a script that repeats it, in one tar file. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "link_run.h"

typedef struct repro_file {
    const char *path; /* in the archive */
    cbi_span bytes;
} repro_file;

typedef struct repro {
    cbi_ctx *ctx;
    cbi_link_run *run;
    const char *root; /* folder that the archive unpacks to */
    CBI_VEC(repro_file) files;
    cbi_rope archive;
} repro;

/* "inputs/data/a.o" for a path that names /data/a.o.  What leads upwards becomes a plain name. */
static const char *inner_path(cbi_ctx *ctx, const char *path)
{
    char real[PATH_MAX];
    const char *rest = realpath(path, real) ? real : path;
    cbi_buf out = {0};
    cbi_buf_printf(ctx, &out, "inputs");
    while (*rest) {
        int len = (int)strcspn(rest, "/");
        bool up = len == 2 && memcmp(rest, "..", 2) == 0;
        if (len && !(len == 1 && *rest == '.'))
            cbi_buf_printf(ctx, &out, "/%.*s", up ? 2 : len, up ? "__" : rest);
        rest += len + (rest[len] == '/');
    }
    return cbi_buf_text(ctx, &out);
}

static void add_mapping(void *user, const char *path, cbi_span bytes)
{
    repro *r = user;
    const char *inner = inner_path(r->run->ctx, path);
    for (size_t i = 0; i < r->files.len; i++)
        if (strcmp(r->files.items[i].path, inner) == 0)
            return; /* some files are opened twice */
    cbi_vec_push(r->run->ctx, &r->files, ((repro_file){inner, bytes}));
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const repro_file *)a)->path, ((const repro_file *)b)->path);
}

/* ---- the script ---- */

/* One word of the shell, whatever is in it. */
static void add_quoted(cbi_ctx *ctx, cbi_buf *out, const char *word)
{
    cbi_buf_printf(ctx, out, "'");
    for (; *word; word++)
        if (*word == '\'')
            cbi_buf_printf(ctx, out, "'\\''");
        else
            cbi_buf_append(ctx, out, word, 1);
    cbi_buf_printf(ctx, out, "'");
}

static void add_word(cbi_ctx *ctx, cbi_buf *out, const char *word)
{
    cbi_buf_printf(ctx, out, " \\\n    ");
    add_quoted(ctx, out, word);
}

static bool is_result(cbi_opt opt)
{
    return opt == OPT_OUTPUT_FILE || opt == OPT_REGISTER_LINK_BINARIES || opt == OPT_DOT_FILE ||
           opt == OPT_MAP || opt == OPT_TIME;
}

/* The name of a result beside the script, unless that or another result has it. */
static const char *result_name(const cbi_link_run *run, cbi_opt opt, const char *value)
{
    const char *name = cbi_base_name(value);
    bool taken = strcmp(name, "link.sh") == 0 || strcmp(name, "inputs") == 0 || !*name ||
                 (name[0] == '-' && opt != OPT_TIME) || strcmp(name, "..") == 0;
    for (int i = 0; i < OPT_COUNT && !taken; i++) {
        const char *other = is_result((cbi_opt)i) ? cbi_text(&run->line, (cbi_opt)i) : NULL;
        bool first = i == OPT_OUTPUT_FILE || (i < (int)opt && opt != OPT_OUTPUT_FILE);
        taken = other && i != (int)opt && first && strcmp(cbi_base_name(other), name) == 0;
    }
    return taken ? cbi_printf(run->ctx, "%s.%s", cbi_options[opt].long_name, name) : name;
}

/* The value as the script gives it: inputs come from the archive, results go beside the script. */
static const char *moved_value(const cbi_link_run *run, cbi_opt opt, const char *value)
{
    if (opt == OPT_LIBRARY_PATH || opt == OPT_NV_HOST || opt == OPT_UIDX_FILE)
        return inner_path(run->ctx, value);
    return is_result(opt) ? result_name(run, opt, value) : value;
}

static void add_option(const cbi_link_run *run, cbi_buf *out, cbi_opt opt)
{
    cbi_ctx *ctx = run->ctx;
    const cbi_opt_value *value = &run->line.values[opt];
    const char *name = cbi_options[opt].long_name;
    if (cbi_options[opt].kind == OPT_KIND_FLAG) {
        add_word(ctx, out, cbi_printf(ctx, "--%s", name));
    } else if (cbi_options[opt].kind == OPT_KIND_LIST) {
        for (size_t i = 0; i < value->list.len; i++)
            add_word(
                ctx, out,
                cbi_printf(ctx, "--%s=\"%s\"", name, moved_value(run, opt, value->list.items[i])));
    } else {
        add_word(ctx, out, cbi_printf(ctx, "--%s=%s", name, moved_value(run, opt, value->text)));
    }
}

/* The folders of LIBRARY_PATH, as an assignment for the script. */
static const char *library_path(cbi_ctx *ctx)
{
    const char *value = getenv("LIBRARY_PATH");
    cbi_strings folders = {0};
    if (value)
        cbi_split_paths(ctx, value, &folders);
    cbi_buf list = {0}, out = {0};
    for (size_t i = 0; i < folders.len; i++)
        cbi_buf_printf(ctx, &list, "%s%s", i ? ":" : "", inner_path(ctx, folders.items[i]));
    if (folders.len) {
        cbi_buf_printf(ctx, &out, "export LIBRARY_PATH=");
        add_quoted(ctx, &out, cbi_buf_text(ctx, &list));
        cbi_buf_printf(ctx, &out, "\n");
    }
    return cbi_buf_text(ctx, &out);
}

static cbi_buf compose_script(const cbi_link_run *run)
{
    cbi_ctx *ctx = run->ctx;
    cbi_buf out = {0};
    cbi_buf_printf(ctx, &out,
                   "#!/bin/sh\n"
                   "# shellcheck disable=SC2016 # names are quoted, whatever is in them\n"
                   "# Repeats a link.  Paths of libraries in the output's record of "
                   "tools differ.\n"
                   "cd \"$(dirname -- \"$0\")\" || exit 1\n"
                   "%sexec \"${CUBIND:-cubind}\" link",
                   library_path(ctx));
    if (run->messages.plain && !cbi_given(&run->line, OPT_EMULATE))
        add_word(ctx, &out, "--emulate=nvlink-13.0.88");
    for (int i = 0; i < OPT_COUNT; i++)
        if (cbi_given(&run->line, (cbi_opt)i) && i != OPT_REPRO && i != OPT_OPTIONS_FILE)
            add_option(run, &out, (cbi_opt)i);
    for (size_t i = 0; i < run->line.inputs.len; i++)
        add_word(ctx, &out, inner_path(ctx, run->line.inputs.items[i]));
    cbi_buf_printf(ctx, &out, "\n");
    return out;
}

/* ---- tar ---- */

enum { TAR_BLOCK = 512 };

static void tar_add(repro *r, const void *data, size_t size)
{
    if (size)
        cbi_vec_push(r->ctx, &r->archive.parts, ((cbi_span){data, size}));
    r->archive.size += size;
}

/* One header of the ustar format; no owner and no time, so that equal links give equal files. */
static void tar_header(repro *r, const char *name, size_t size, unsigned mode, char type)
{
    struct {
        char name[100], mode[8], uid[8], gid[8], size[12], time[12], checksum[8], type;
        char link[100], magic[8], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
    } header;
    _Static_assert(sizeof header == TAR_BLOCK, "a tar header is one block");
    memset(&header, 0, sizeof header);
    memcpy(header.name, name, strnlen(name, sizeof header.name));
    snprintf(header.mode, sizeof header.mode, "%07o", mode);
    snprintf(header.uid, sizeof header.uid, "%07o", 0);
    snprintf(header.gid, sizeof header.gid, "%07o", 0);
    snprintf(header.size, sizeof header.size, "%011zo", size);
    snprintf(header.time, sizeof header.time, "%011o", 0);
    header.type = type;
    memcpy(header.magic, "ustar  ", sizeof header.magic);
    memset(header.checksum, ' ', sizeof header.checksum);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof header; i++)
        sum += ((const unsigned char *)&header)[i];
    snprintf(header.checksum, sizeof header.checksum, "%06o", sum);
    tar_add(r, cbi_memdup(r->ctx, &header, sizeof header), sizeof header);
}

static void tar_bytes(repro *r, const void *data, size_t size)
{
    static const char zeros[TAR_BLOCK];
    tar_add(r, data, size);
    tar_add(r, zeros, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

static void tar_entry(repro *r, const char *path, cbi_span bytes, unsigned mode)
{
    const char *name = cbi_printf(r->ctx, "%s/%s", r->root, path);
    size_t len = strlen(name);
    if (len >= 100) {
        /* GNU's way for long names: an entry whose contents are the name */
        tar_header(r, "././@LongLink", len + 1, 0644, 'L');
        tar_bytes(r, name, len + 1);
    }
    tar_header(r, name, bytes.size, mode, '0');
    tar_bytes(r, bytes.data, bytes.size);
}

/* The folder that the archive unpacks to: its own name, if that is one. */
static const char *root_of(cbi_ctx *ctx, const char *path)
{
    const char *base = cbi_base_name(path);
    size_t len = strlen(base);
    if (len <= 4 || strcmp(base + len - 4, ".tar") != 0)
        return cbi_printf(ctx, "%s.d", base);
    const char *root = cbi_strndup(ctx, base, len - 4);
    return strspn(root, ".") == strlen(root) ? "repro" : root;
}

void cbi_write_repro(cbi_link_run *run)
{
    static const char end[2 * TAR_BLOCK];
    cbi_ctx *ctx = run->ctx;
    const char *path = run->aside ? run->archive : cbi_text(&run->line, OPT_REPRO);
    if (!path)
        return;
    cbi_check_read_files(run);
    repro r = {.run = run, .ctx = ctx, .root = root_of(ctx, path)};
    cbi_each_mapping(ctx, add_mapping, &r);
    if (r.files.len)
        qsort(r.files.items, r.files.len, sizeof *r.files.items, by_path);
    cbi_buf script = compose_script(run);
    tar_entry(&r, "link.sh", (cbi_span){script.items, script.len}, 0755);
    for (size_t i = 0; i < r.files.len; i++)
        tar_entry(&r, r.files.items[i].path, r.files.items[i].bytes, 0644);
    tar_add(&r, end, sizeof end);
    if (cbi_outputs_add(&run->results, path, &r.archive) != CBI_OUTPUT_OK)
        cbi_fatal(ctx, "output-file", &(cbi_place){.file = path}, strerror(errno),
                  "Could not write the archive '%s'", path);
}
