/* Archives: their members, and how -l finds them. */
#include "input/collect.h"

#include <errno.h>
#include <sys/stat.h>

#include "format/cuda_elf.h"
#include "input/archive.h"
#include "input/elf.h"
#include "input/recognise.h"

CBI_NORETURN static void archive_error(cbi_ctx *ctx, const char *file, const char *text,
                                       const char *help)
{
    cbi_inputs_fatal_pair(ctx, "archive-format", file, help, text, "elfLink internal error");
}

static cbi_archive_step next_member(cbi_inputs *in, cbi_archive *archive, const char *path,
                                    cbi_member *ret_member)
{
    cbi_archive_step step = cbi_archive_next(in->ctx, archive, in->options.exact, ret_member);
    if (step == CBI_ARCHIVE_BAD_HEADER)
        archive_error(
            in->ctx, path, "unexpected archive format",
            cbi_printf(in->ctx, "'%s' has no member header at offset 0x%zx", path, archive->pos));
    if (step == CBI_ARCHIVE_NO_LONG_NAMES)
        archive_error(in->ctx, path, "longnames header not found",
                      cbi_printf(in->ctx, "a member of '%s' has no name", path));
    return step;
}

cbi_span cbi_member_bytes(cbi_inputs *in, const char *archive, bool thin, const cbi_member *member)
{
    cbi_ctx *ctx = in->ctx;
    cbi_span bytes;
    if (!thin) {
        /* nvlink reads an ELF member up to its own end, whatever size the archive gives it. */
        return in->options.exact ? member->rest : member->bytes;
    }
    const char *path = member->name;
    if (in->options.exact) {
        path = cbi_strndup(ctx, path, strcspn(path, "/"));
    } else if (path[0] != '/') {
        const char *slash = strrchr(archive, '/');
        path = cbi_printf(ctx, "%.*s%s", slash ? (int)(slash + 1 - archive) : 0, archive, path);
    }
    if (cbi_map_file(ctx, path, &bytes) == CB_OK)
        return bytes;
    struct stat st;
    bool directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    cbi_inputs_fatal_pair(ctx, "input-open", archive,
                          cbi_printf(ctx, "it is a member of the thin archive '%s'", archive),
                          directory && in->options.exact
                              ? "Memory allocation failure"
                              : cbi_printf(ctx, "Could not open input file '%s'", path),
                          "elfLink internal error");
}

static size_t members_left(cbi_inputs *in, cbi_archive archive)
{
    cbi_member member;
    size_t count = 0;
    while (cbi_archive_next(in->ctx, &archive, false, &member) == CBI_ARCHIVE_MEMBER)
        count++;
    return count;
}

/* nvlink reads an archive up to the first member that is no ELF. */
static void report_walk_end(cbi_inputs *in, const cbi_archive *archive, const char *name,
                            cbi_span bytes)
{
    size_t left = members_left(in, *archive);
    const char *rest = left == 0 ? ""
                       : left == 1
                           ? ", and with it the member after it"
                           : cbi_printf(in->ctx, ", and with it the %zu members after it", left);
    cbi_warning(in->ctx, "archive-walk-end", &(cbi_place){.file = name},
                "the device link reads an archive up to the first member that is no ELF file",
                "'%s' is ignored%s: it is %s", name, rest, cbi_content_text(cbi_recognise(bytes)));
}

static bool was_seen(cbi_inputs *in, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    for (size_t i = 0; i < in->seen_archives.len; i++)
        if (in->seen_archives.items[i].device == st.st_dev &&
            in->seen_archives.items[i].inode == st.st_ino)
            return true;
    cbi_vec_push(in->ctx, &in->seen_archives,
                 ((cbi_library){.path = path, .device = st.st_dev, .inode = st.st_ino}));
    return false;
}

bool cbi_inputs_add_archive(cbi_inputs *in, const char *path, cbi_span bytes)
{
    cbi_ctx *ctx = in->ctx;
    cbi_inputs_stop_after_errors(in, "elfLink internal error");
    if (cbi_names_device_runtime(path) && !in->any_module)
        return false;
    if (was_seen(in, path))
        return false;

    cbi_archive archive = cbi_archive_open(bytes);
    cbi_member member;
    while (next_member(in, &archive, path, &member) == CBI_ARCHIVE_MEMBER) {
        const char *name = cbi_printf(ctx, "%s:%s", path, member.name);
        const cbi_place place = {.file = name};
        cbi_span file = cbi_member_bytes(in, path, archive.thin, &member);
        if (!cbi_is_elf(file)) {
            if (!in->options.exact)
                report_walk_end(in, &archive, name, file);
            return false;
        }
        if (member.cut_off && !in->options.exact)
            cbi_error(ctx, "input-damaged", &place, NULL,
                      "'%s' is damaged: the archive ends before the member does", name);
        else if (cbi_elf_machine(file) == EM_CUDA) {
            in->forbid_patterns = true;
            if (!in->options.exact)
                cbi_warning(ctx, "archive-cubin", &place,
                            "pass it on the command line, or put it into a fatbin in a host object",
                            "'%s' is ignored: the device link takes no cubin from an archive",
                            name);
        } else {
            cbi_inputs_add_host_object(in, name, file, true);
        }
    }
    return true;
}

/* Is there an object for the host, in front of the first member that is no ELF?  nvlink takes any
 * file for an archive here, such as a script of the host's linker. */
static bool has_host_member(cbi_inputs *in, const char *path, cbi_span bytes)
{
    cbi_archive archive = cbi_archive_open(bytes);
    cbi_member member;
    if (!in->options.exact && !cbi_is_archive(bytes))
        return false;
    while (next_member(in, &archive, path, &member) == CBI_ARCHIVE_MEMBER) {
        cbi_span file = cbi_member_bytes(in, path, archive.thin, &member);
        if (!cbi_is_elf(file))
            return false;
        if (cbi_elf_machine(file) == in->options.host_machine)
            return true;
    }
    return false;
}

/* One candidate for -l.  True if the search ends here. */
static bool try_archive(cbi_inputs *in, const char *path, const char *name, const struct stat *st)
{
    cbi_ctx *ctx = in->ctx;
    cbi_span bytes = {NULL, 0};
    if (S_ISDIR(st->st_mode))
        cbi_fatal(ctx, "library-folder", &(cbi_place){.file = path},
                  cbi_printf(ctx, "'%s' is a directory", path), "Memory allocation failure");
    if (cbi_map_file(ctx, path, &bytes) != CB_OK) {
        if (!in->options.exact)
            cbi_warning(ctx, "library-unreadable", &(cbi_place){.file = path}, strerror(errno),
                        "'%s' is not used for -l%s: it cannot be read", path, name);
        return false;
    }
    if (!has_host_member(in, path, bytes)) {
        cbi_warning(ctx, "library-skipped", &(cbi_place){.file = path}, NULL,
                    "Skipping incompatible '%s' when searching for -l%s", path, name);
        return false;
    }
    cbi_vec_push(ctx, &in->libraries, ((cbi_library){.path = path, .bytes = bytes}));
    return true;
}

void cbi_inputs_add_library(cbi_inputs *in, const char *name)
{
    cbi_ctx *ctx = in->ctx;
    struct stat st;
    size_t next = 0;
    in->library_searches++;
    /* A shared library in any directory comes before every archive, and adds nothing. */
    if (cbi_find_in_folders(in, cbi_printf(ctx, "lib%s.so", name), &next, &st))
        return;
    const char *file = cbi_printf(ctx, "lib%s.a", name), *path;
    for (next = 0; (path = cbi_find_in_folders(in, file, &next, &st)) != NULL;)
        if (try_archive(in, path, name, &st))
            return;
    if (!in->options.exact)
        cbi_info(ctx, "library-not-found", NULL,
                 in->options.library_path_count ? NULL
                 : in->options.names_fields
                     ? "there is no folder to look in: cb_link_options.library_paths names some"
                     : "there is no folder to look in: give -L, or set LIBRARY_PATH",
                 "-l%s adds nothing: there is no lib%s.a", name, name);
}

void cbi_split_paths(cbi_ctx *ctx, const char *value, cbi_strings *paths)
{
    while (value && *value) {
        size_t len = strcspn(value, ":");
        size_t keep = len;
        while (keep > 1 && value[keep - 1] == '/')
            keep--;
        if (keep)
            cbi_vec_push(ctx, paths, cbi_strndup(ctx, value, keep));
        value += len + (value[len] == ':');
    }
}

uint16_t cbi_host_machine(const char *cpu_arch)
{
    static const struct {
        const char *name;
        uint16_t machine;
    } machines[] = {
        {"AARCH64", EM_AARCH64}, {"PPC64LE", EM_PPC64}, {"ARMv7", EM_ARM}, {"X86", EM_386}};
    for (size_t i = 0; cpu_arch && i < CBI_COUNT(machines); i++)
        if (strcmp(machines[i].name, cpu_arch) == 0)
            return machines[i].machine;
    return EM_X86_64;
}
