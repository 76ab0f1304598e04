/* Results that would destroy what a command reads, or each other. */
#include <limits.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/write.h"
#include "link_run.h"

/* What a path names: a file that is there, or a name in a folder. */
typedef struct file_identity {
    dev_t device;
    ino_t inode;      /* of the file or of its folder */
    const char *name; /* in the folder; NULL: the file is there */
} file_identity;

typedef struct result {
    cbi_opt option;
    const char *path;
    file_identity file;
} result;

static const cbi_opt result_options[] = {
    OPT_OUTPUT_FILE, OPT_REGISTER_LINK_BINARIES, OPT_DOT_FILE, OPT_TIME, OPT_MAP, OPT_REPRO};

typedef struct results {
    result items[CBI_COUNT(result_options)];
    size_t count;
} results;

/* False for what cannot be destroyed: devices, pipes, and what is not there. */
static bool identify(cbi_ctx *ctx, const char *path, file_identity *ret)
{
    struct stat st;
    if (stat(path, &st) == 0) {
        *ret = (file_identity){st.st_dev, st.st_ino, NULL};
        return S_ISREG(st.st_mode);
    }
    char place[PATH_MAX];
    if (!cbi_follow_links(path, place))
        return false;
    const char *base = cbi_base_name(place);
    const char *folder = base == place ? "." : cbi_strndup(ctx, place, (size_t)(base - place));
    if (stat(folder, &st) != 0)
        return false;
    *ret = (file_identity){st.st_dev, st.st_ino, cbi_strndup(ctx, base, strlen(base))};
    return true;
}

static bool same_file(const file_identity *a, const file_identity *b)
{
    return a->device == b->device && a->inode == b->inode && !a->name == !b->name &&
           (!a->name || strcmp(a->name, b->name) == 0);
}

static void find_results(cbi_link_run *run, results *ret)
{
    ret->count = 0;
    for (size_t i = 0; i < CBI_COUNT(result_options) && !run->aside && !run->capture; i++) {
        result *r = &ret->items[ret->count];
        r->option = result_options[i];
        r->path = cbi_text(&run->line, r->option);
        bool to_stdout = r->option == OPT_TIME && r->path && strcmp(r->path, "-") == 0;
        if (r->path && !to_stdout && identify(run->ctx, r->path, &r->file))
            ret->count++;
    }
}

/* As nvlink a link may replace its own input: that gives what nvlink gives. */
static bool may_replace(const cbi_link_run *run, const result *r)
{
    return run->messages.plain && r->option == OPT_OUTPUT_FILE;
}

CBI_NORETURN static void refuse_input(cbi_link_run *run, const result *r, const char *input)
{
    run->refused = true;
    cbi_fatal(run->ctx, "output-collision", &(cbi_place){.file = r->path},
              "nothing was written; choose another name",
              "The result of '--%s' would replace '%s', which the link reads",
              cbi_options[r->option].long_name, input);
}

CBI_NORETURN static void refuse_pair(cbi_link_run *run, const result *a, const result *b)
{
    run->refused = true;
    cbi_fatal(run->ctx, "output-collision", &(cbi_place){.file = b->path},
              "nothing was written; choose another name",
              "The results of '--%s' and '--%s' would both go to '%s'",
              cbi_options[a->option].long_name, cbi_options[b->option].long_name, b->path);
}

static void compare_input(cbi_link_run *run, const results *all, const char *input)
{
    file_identity file;
    if (!input || !identify(run->ctx, input, &file) || file.name)
        return;
    for (size_t i = 0; i < all->count; i++)
        if (same_file(&all->items[i].file, &file) && !may_replace(run, &all->items[i]))
            refuse_input(run, &all->items[i], input);
}

void cbi_check_collisions(cbi_link_run *run)
{
    const cbi_command_line *line = &run->line;
    results all = {0};
    find_results(run, &all);
    for (size_t i = 0; i < all.count; i++)
        for (size_t j = i + 1; j < all.count; j++)
            if (same_file(&all.items[i].file, &all.items[j].file))
                refuse_pair(run, &all.items[i], &all.items[j]);
    bool replaces = false; /* what is not there yet is no input */
    for (size_t i = 0; i < all.count; i++)
        replaces |= !all.items[i].file.name && !may_replace(run, &all.items[i]);
    if (!replaces)
        return;
    for (size_t i = 0; i < line->option_files.len; i++)
        compare_input(run, &all, line->option_files.items[i]);
    static const cbi_opt read[] = {OPT_NV_HOST, OPT_UIDX_FILE, OPT_PTXAS, OPT_NVJITLINK};
    for (size_t i = 0; i < CBI_COUNT(read); i++)
        compare_input(run, &all, cbi_text(line, read[i]));
}

void cbi_check_read_files(cbi_link_run *run)
{
    results all;
    find_results(run, &all);
    for (size_t i = 0; i < all.count; i++) {
        const result *r = &all.items[i];
        const char *input = r->file.name || may_replace(run, r)
                                ? NULL
                                : cbi_find_read(run->ctx, r->file.device, r->file.inode);
        if (input)
            refuse_input(run, r, input);
    }
}

void cbi_refuse_replacing(cbi_ctx *ctx, const char *const *paths, size_t count)
{
    file_identity *files = CBI_NEW_ARRAY(ctx, count, file_identity);
    for (size_t i = 0; i < count; i++) {
        if (!paths[i] || !identify(ctx, paths[i], &files[i])) {
            files[i] = (file_identity){0};
            continue;
        }
        for (size_t j = 0; j < i; j++)
            if (files[j].inode && same_file(&files[i], &files[j]))
                cbi_fatal(ctx, "output-collision", &(cbi_place){.file = paths[i]},
                          "nothing was written; choose another name",
                          "Two results would both go to '%s'", paths[i]);
        const char *input =
            files[i].name ? NULL : cbi_find_read(ctx, files[i].device, files[i].inode);
        if (input)
            cbi_fatal(ctx, "output-collision", &(cbi_place){.file = paths[i]},
                      "nothing was written; choose another name",
                      "The result '%s' would replace '%s', which is read", paths[i], input);
    }
}
