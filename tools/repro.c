/* --repro: everything that a link read, with a script that repeats it, in one tar file. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "link_run.h"

typedef struct repro_file {
    const char *path; /* in the archive */
    cbi_span bytes;
} repro_file;

typedef struct repro {
    cbi_link_run *run;
    const char *root; /* folder that the archive unpacks to */
    CBI_VEC(repro_file) files;
} repro;

/* "inputs/data/a.o" for a path that names /data/a.o. */
static const char *inner_path(cbi_ctx *ctx, const char *path)
{
    char real[PATH_MAX];
    const char *absolute = realpath(path, real) ? real : path;
    while (*absolute == '/')
        absolute++;
    return cbi_printf(ctx, "inputs/%s", absolute);
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

static void add_word(cbi_ctx *ctx, cbi_buf *out, const char *word)
{
    cbi_buf_printf(ctx, out, " \\\n    '");
    for (; *word; word++)
        if (*word == '\'')
            cbi_buf_printf(ctx, out, "'\\''");
        else
            cbi_buf_append(ctx, out, word, 1);
    cbi_buf_printf(ctx, out, "'");
}

/* The value as the script gives it: inputs come from the archive, results go beside the script. */
static const char *moved_value(cbi_ctx *ctx, cbi_opt opt, const char *value)
{
    switch (opt) {
    case OPT_LIBRARY_PATH:
    case OPT_NV_HOST:
    case OPT_UIDX_FILE:
        return inner_path(ctx, value);
    case OPT_OUTPUT_FILE:
    case OPT_REGISTER_LINK_BINARIES:
    case OPT_DOT_FILE:
    case OPT_MAP:
    case OPT_TIME:
        return cbi_base_name(value);
    default:
        return value;
    }
}

static void add_option(cbi_ctx *ctx, cbi_buf *out, cbi_opt opt, const cbi_opt_value *value)
{
    const char *name = cbi_options[opt].long_name;
    if (cbi_options[opt].kind == OPT_KIND_FLAG) {
        add_word(ctx, out, cbi_printf(ctx, "--%s", name));
    } else if (cbi_options[opt].kind == OPT_KIND_LIST) {
        for (size_t i = 0; i < value->list.len; i++)
            add_word(
                ctx, out,
                cbi_printf(ctx, "--%s=\"%s\"", name, moved_value(ctx, opt, value->list.items[i])));
    } else {
        add_word(ctx, out, cbi_printf(ctx, "--%s=%s", name, moved_value(ctx, opt, value->text)));
    }
}

/* The folders of LIBRARY_PATH, as an assignment for the script. */
static const char *library_path(cbi_ctx *ctx)
{
    const char *value = getenv("LIBRARY_PATH");
    cbi_strings folders = {0};
    if (value)
        cbi_split_paths(ctx, value, &folders);
    cbi_buf out = {0};
    for (size_t i = 0; i < folders.len; i++)
        cbi_buf_printf(ctx, &out, "%s%s", i ? ":" : "export LIBRARY_PATH='",
                       inner_path(ctx, folders.items[i]));
    if (folders.len)
        cbi_buf_printf(ctx, &out, "'\n");
    cbi_buf_append(ctx, &out, "", 1);
    return (const char *)out.items;
}

static cbi_buf compose_script(const cbi_link_run *run)
{
    cbi_ctx *ctx = run->ctx;
    cbi_buf out = {0};
    cbi_buf_printf(ctx, &out,
                   "#!/bin/sh\n"
                   "# Repeats a link.  Paths of libraries in the output's record of "
                   "tools differ.\n"
                   "cd \"$(dirname \"$0\")\" || exit 1\n"
                   "%sexec \"${CUBIND:-cubind}\" link",
                   library_path(ctx));
    if (run->messages.plain && !cbi_given(&run->line, OPT_EMULATE))
        add_word(ctx, &out, "--emulate=nvlink-13.0.88");
    for (int i = 0; i < OPT_COUNT; i++)
        if (cbi_given(&run->line, (cbi_opt)i) && i != OPT_REPRO && i != OPT_OPTIONS_FILE)
            add_option(ctx, &out, (cbi_opt)i, &run->line.values[i]);
    for (size_t i = 0; i < run->line.inputs.len; i++)
        add_word(ctx, &out, inner_path(ctx, run->line.inputs.items[i]));
    cbi_buf_printf(ctx, &out, "\n");
    return out;
}

/* ---- tar ---- */

enum { TAR_BLOCK = 512 };

/* One header of the ustar format; no owner and no time, so that equal links give equal files. */
static void tar_header(FILE *file, const char *name, size_t size, unsigned mode, char type)
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
    fwrite(&header, 1, sizeof header, file);
}

static void tar_bytes(FILE *file, const void *data, size_t size)
{
    static const char zeros[TAR_BLOCK];
    if (size)
        fwrite(data, 1, size, file);
    fwrite(zeros, 1, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK, file);
}

static void tar_entry(cbi_ctx *ctx, FILE *file, const repro *r, const char *path, cbi_span bytes,
                      unsigned mode)
{
    const char *name = cbi_printf(ctx, "%s/%s", r->root, path);
    size_t len = strlen(name);
    if (len >= 100) {
        /* GNU's way for long names: an entry whose contents are the name */
        tar_header(file, "././@LongLink", len + 1, 0644, 'L');
        tar_bytes(file, name, len + 1);
    }
    tar_header(file, name, bytes.size, mode, '0');
    tar_bytes(file, bytes.data, bytes.size);
}

void cbi_write_repro(cbi_link_run *run)
{
    cbi_ctx *ctx = run->ctx;
    const char *path = run->aside ? run->archive : cbi_text(&run->line, OPT_REPRO);
    if (!path)
        return;
    repro r = {.run = run};
    const char *base = cbi_base_name(path);
    size_t len = strlen(base);
    r.root = len > 4 && strcmp(base + len - 4, ".tar") == 0 ? cbi_strndup(ctx, base, len - 4)
                                                            : cbi_printf(ctx, "%s.d", base);
    cbi_each_mapping(ctx, add_mapping, &r);
    if (r.files.len)
        qsort(r.files.items, r.files.len, sizeof *r.files.items, by_path);
    cbi_buf script = compose_script(run);
    FILE *file = fopen(path, "wb");
    bool written = file != NULL;
    if (file) {
        static const char end[2 * TAR_BLOCK];
        tar_entry(ctx, file, &r, "link.sh", (cbi_span){script.items, script.len}, 0755);
        for (size_t i = 0; i < r.files.len; i++)
            tar_entry(ctx, file, &r, r.files.items[i].path, r.files.items[i].bytes, 0644);
        fwrite(end, 1, sizeof end, file);
        written = !ferror(file);
        written = fclose(file) == 0 && written;
    }
    if (!written)
        cbi_fatal(ctx, "output-file", &(cbi_place){.file = path}, NULL,
                  "Could not write the archive '%s'", path);
}
