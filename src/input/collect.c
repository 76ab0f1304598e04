/* Dispatch of inputs, and what becomes of a module. */
#include "input/collect.h"

#include <errno.h>
#include <unistd.h>

#include "base/files.h"
#include "input/archive.h"
#include "input/elf.h"
#include "input/fatbin.h"
#include "input/recognise.h"

enum { PROBE_SIZE = 56 }; /* a file shorter than this holds nothing that can be linked */

cbi_inputs *cbi_inputs_create(cbi_ctx *ctx, const cbi_input_options *options)
{
    cbi_inputs *in = CBI_NEW(ctx, cbi_inputs);
    in->ctx = ctx;
    in->options = *options;
    in->any_module = options->by_itself;
    return in;
}

bool cbi_names_device_runtime(const char *file)
{
    return strstr(file, "cudadevrt") != NULL;
}

void cbi_inputs_stop_after_errors(cbi_inputs *in, const char *text)
{
    if (in->options.exact && in->ctx->error_count)
        cbi_fatal(in->ctx, "input-stopped", NULL, NULL, "%s", text);
}

typedef struct fatal_line {
    const char *id;
    const char *file;
    const char *help;
    const char *text;
} fatal_line;

static cb_status report_fatal(cbi_ctx *ctx, void *arg)
{
    const fatal_line *line = arg;
    cbi_fatal(ctx, line->id, &(cbi_place){.file = line->file}, line->help, "%s", line->text);
}

void cbi_inputs_fatal_pair(cbi_ctx *ctx, const char *id, const char *file, const char *help,
                           const char *first, const char *second)
{
    if (ctx->before_report)
        ctx->before_report(ctx->before_report_user);
    /* A job of its own, so that control comes back after the first line. */
    fatal_line line = {id, file, help, first};
    cbi_run(ctx, report_fatal, &line);
    cbi_fatal(ctx, "input-stopped", &(cbi_place){.file = file}, NULL, "%s", second);
}

const char *cbi_module_of_path(cbi_ctx *ctx, const char *file)
{
    char cwd[4096];
    char *id = cbi_printf(ctx, "%s%s%s", file[0] == '/' || !getcwd(cwd, sizeof cwd) ? "" : cwd,
                          file[0] == '/' ? "" : "/", file);
    for (char *s = id; *s; s++)
        if (!((*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9')))
            *s = '_';
    return id;
}

static cbi_module *add_module(cbi_inputs *in, const cbi_origin *origin)
{
    cbi_ctx *ctx = in->ctx;
    cbi_module module = {.file = origin->file,
                         .device_runtime = cbi_names_device_runtime(origin->file)};
    if (in->options.register_names) {
        cbi_strings ids = {0};
        if (origin->host && origin->host->has_module_id) {
            size_t pos = 0;
            const char *id;
            while ((id = cbi_next_module_id(ctx, origin->host->module_id, &pos)) != NULL)
                cbi_vec_push(ctx, &ids, id);
        } else {
            cbi_vec_push(ctx, &ids, cbi_module_of_path(ctx, origin->file));
        }
        module.ids = ids.items;
        module.id_count = ids.len;
    }
    in->any_module = true;
    cbi_vec_push(ctx, &in->modules, module);
    return &in->modules.items[in->modules.len - 1];
}

void cbi_inputs_add_module(cbi_inputs *in, const cbi_origin *origin, const cbi_span *image)
{
    cbi_module *module = add_module(in, origin);
    if (!image)
        return;
    module->has_image = true;
    module->image = *image;
    module->own = cbi_own_file(in->ctx, *image);
    if (in->options.lto && !module->device_runtime)
        cbi_info(in->ctx, "lto-partial", &(cbi_place){.file = origin->file}, NULL,
                 "requested LTO but '%s' not built for LTO so doing partial LTO", origin->file);
}

void cbi_inputs_add_lto_module(cbi_inputs *in, const cbi_origin *origin, cbi_span image,
                               bool is_fatbin)
{
    cbi_module *module = add_module(in, origin);
    module->has_image = true;
    module->is_lto = true;
    module->is_fatbin = is_fatbin;
    module->image = image;
}

void cbi_inputs_report_nothing(cbi_inputs *in, const char *file, const char *why)
{
    if (!in->options.exact)
        cbi_info(in->ctx, "input-no-code", &(cbi_place){.file = file}, NULL,
                 "'%s' adds nothing: %s", file, why);
}

/* The text after the last dot of the last path component; NULL if there is no dot. */
static const char *ending_of(const char *path)
{
    const char *dot = strrchr(cbi_base_name(path), '.');
    return dot ? dot + 1 : NULL;
}

static void add_by_ending(cbi_inputs *in, const char *path, cbi_span bytes)
{
    cbi_ctx *ctx = in->ctx;
    const cbi_place place = {.file = path};
    const cbi_origin origin = {.file = path};
    const char *ending = ending_of(path);
    if (!ending)
        return;
    if (strcmp(ending, "cubin") == 0) {
        if (!cbi_is_elf(bytes))
            cbi_fatal(ctx, "cubin-no-elf", &place, NULL, "cubin not an elf?");
        if (cbi_elf_machine(bytes) != EM_CUDA)
            cbi_fatal(ctx, "cubin-no-device-elf", &place, NULL, "cubin not a device elf?");
        cbi_inputs_add_cubin(in, &origin, bytes);
    } else if (strcmp(ending, "ptx") == 0) {
        cbi_inputs_add_ptx_file(in, &origin, bytes);
    } else if (strcmp(ending, "fatbin") == 0) {
        if (!cbi_is_fatbin(bytes))
            cbi_fatal(ctx, "fatbin-format", &place, NULL, "fatbin wrong format?");
        cbi_inputs_add_fatbin(in, &origin, bytes);
    } else if (strcmp(ending, "nvvm") == 0 || strcmp(ending, "ltoir") == 0) {
        cbi_inputs_add_ltoir(in, path, bytes);
    } else if (strcmp(ending, "bc") == 0) {
        cbi_fatal(ctx, "input-bitcode", &place, NULL, "should never see bc files");
    } else if (cbi_is_archive(bytes)) {
        cbi_inputs_add_archive(in, path, bytes);
    } else if (strcmp(ending, "so") != 0 && cbi_is_elf(bytes) && cbi_elf_type(bytes) == ET_REL) {
        if (strcmp(ending, "o") == 0 && cbi_elf_machine(bytes) == EM_CUDA)
            cbi_inputs_add_cubin(in, &origin, bytes);
        else
            cbi_inputs_add_host_object(in, path, bytes, false);
    }
}

/* Would nvlink have looked into a file with this ending and this content? */
static bool ending_fits(const char *path, cbi_content content)
{
    const char *ending = ending_of(path);
    if (content == CBI_CONTENT_EMPTY || content == CBI_CONTENT_UNKNOWN ||
        content == CBI_CONTENT_HOST_LINKED)
        return true; /* nothing to be linked either way */
    if (!ending)
        return false;
    switch (content) {
    case CBI_CONTENT_CUBIN:
        return strcmp(ending, "cubin") == 0 || strcmp(ending, "o") == 0 ||
               strcmp(ending, "ptx") == 0;
    case CBI_CONTENT_FATBIN:
        return strcmp(ending, "fatbin") == 0 || strcmp(ending, "ptx") == 0;
    case CBI_CONTENT_PTX:
        return strcmp(ending, "ptx") == 0;
    case CBI_CONTENT_HOST_OBJECT:
    case CBI_CONTENT_ARCHIVE:
        return strcmp(ending, "cubin") != 0 && strcmp(ending, "ptx") != 0 &&
               strcmp(ending, "fatbin") != 0 && strcmp(ending, "so") != 0;
    default:
        return true;
    }
}

static void report_host_linked(cbi_inputs *in, const char *path, cbi_span bytes)
{
    cbi_host_object host;
    const char *damage;
    if (cbi_host_read(bytes, &host, &damage) && !host.has_device_code) {
        cbi_inputs_report_nothing(in, path, "it is a host library or program without device code");
        return;
    }
    cbi_warning(in->ctx, "input-host-linked", &(cbi_place){.file = path}, NULL,
                "'%s' is ignored: the device code in a host library or program is already linked",
                path);
}

/* Libraries of -l often hold none, others should. */
static void add_named_archive(cbi_inputs *in, const char *path, cbi_span bytes)
{
    size_t before = in->fatbins;
    if (cbi_inputs_add_archive(in, path, bytes) && in->fatbins == before)
        cbi_inputs_report_nothing(in, path, "it is an archive without device code");
}

/* By its ending: of a file that is of no known kind. */
static bool is_source(const char *path)
{
    static const char *const endings[] = {".cu", ".c", ".cc", ".cpp", ".cxx"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < CBI_COUNT(endings); i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static void add_by_content(cbi_inputs *in, const char *path, cbi_span bytes, bool named)
{
    cbi_ctx *ctx = in->ctx;
    const cbi_place place = {.file = path};
    const cbi_origin origin = {.file = path};
    cbi_content content = cbi_recognise(bytes);
    if (named && !ending_fits(path, content))
        cbi_info(ctx, "input-ending", &place, NULL,
                 "'%s' is %s and is read as such; nvlink goes by the ending of the name and would "
                 "not",
                 path, cbi_content_text(content));
    switch (content) {
    case CBI_CONTENT_CUBIN:
        cbi_inputs_add_cubin(in, &origin, bytes);
        return;
    case CBI_CONTENT_FATBIN:
        cbi_inputs_add_fatbin(in, &origin, bytes);
        return;
    case CBI_CONTENT_PTX:
        cbi_inputs_add_ptx_file(in, &origin, bytes);
        return;
    case CBI_CONTENT_LTOIR:
        cbi_inputs_add_ltoir(in, path, bytes);
        return;
    case CBI_CONTENT_BITCODE:
        cbi_fatal(ctx, "input-bitcode", &place, NULL, "should never see bc files");
    case CBI_CONTENT_ARCHIVE:
        add_named_archive(in, path, bytes);
        return;
    case CBI_CONTENT_HOST_OBJECT:
        cbi_inputs_add_host_object(in, path, bytes, false);
        return;
    case CBI_CONTENT_HOST_LINKED:
        report_host_linked(in, path, bytes);
        return;
    case CBI_CONTENT_EMPTY:
    case CBI_CONTENT_UNKNOWN:
        cbi_warning(ctx, "input-ignored", &place,
                    is_source(path)
                        ? "it looks like source code: compile it first, nvcc -rdc=true -c"
                        : NULL,
                    "'%s' is ignored: it is %s", path, cbi_content_text(content));
        return;
    }
}

void cbi_inputs_add_file(cbi_inputs *in, const char *path)
{
    cbi_ctx *ctx = in->ctx;
    cbi_span bytes = {NULL, 0};
    errno = 0;
    bool mapped = cbi_map_file(ctx, path, &bytes) == CB_OK;
    int why = errno;
    /* For nvlink all devices are empty files. */
    bool opened = mapped || (in->options.exact ? cbi_is_device(path) : cbi_is_null_device(path));
    if (!opened || (bytes.size && bytes.size < PROBE_SIZE && !cbi_is_archive(bytes)))
        cbi_fatal_as(ctx, bytes.size ? CB_ERR_FATAL : CB_ERR_IO, "input-open",
                     &(cbi_place){.file = path},
                     bytes.size ? "it is too short to be an input"
                     : why      ? cbi_printf(ctx, "%s", strerror(why))
                                : NULL,
                     "Could not open input file '%s'", path);
    if (!in->options.exact)
        add_by_content(in, path, bytes, true);
    else if (bytes.size)
        add_by_ending(in, path, bytes);
}

void cbi_inputs_add_memory(cbi_inputs *in, const char *name, cbi_span bytes)
{
    add_by_content(in, name, bytes, false);
}

/* ---- files that are added while they are linked ---- */

static cbi_link_input input_of(const cbi_module *m)
{
    return (cbi_link_input){.file = m->file,
                            .bytes = m->image,
                            .device_runtime = m->device_runtime,
                            .object = m->object,
                            .own = m->own,
                            .no_code = !m->has_image};
}

static bool is_linked(const cbi_module *m)
{
    return !m->absent && (m->has_image || m->device_runtime);
}

static cbi_span read_streamed(cbi_ctx *ctx, void *user, size_t i)
{
    const cbi_inputs *in = user;
    return cbi_read_planned(ctx, in->ctx, i);
}

static const cbi_link_input *add_streamed(void *user, size_t i, size_t *ret_count)
{
    cbi_inputs *in = user;
    const size_t first = in->modules.len;
    cbi_reach_planned(in->ctx, i);
    cbi_inputs_add_file(in, in->streamed[i]);
    cbi_inputs_compile(in);
    CBI_VEC(cbi_link_input) brought = {0};
    cbi_vec_reserve(in->ctx, &brought, in->modules.len - first);
    for (size_t k = first; k < in->modules.len; k++)
        if (is_linked(&in->modules.items[k]))
            cbi_vec_push(in->ctx, &brought, input_of(&in->modules.items[k]));
    *ret_count = brought.len;
    return brought.items;
}

/* An image that is linked, or refused.  Being no host object, it may be used from anywhere, so the
 * references of host code in other files say nothing (forbid_patterns() in containers.c). */
static bool is_linkable_cubin(cbi_span bytes)
{
    return cbi_recognise(bytes) == CBI_CONTENT_CUBIN && cbi_elf_type(bytes) != ET_EXEC;
}

/* No later file may change what becomes of earlier ones.  None does by references of host code,
 * since the first is a cubin; the names say that none of the others is likely to be anything else,
 * though all are recognised by content.  What they can be otherwise changes nothing before it:
 * LTO-IR is refused without -lto, PTX is compiled when it is added. */
cbi_input_stream *cbi_inputs_stream(cbi_inputs *in, const char *const *paths, size_t count)
{
    const cbi_input_options *o = &in->options;
    if (o->lto || o->register_names || o->virtual_target || cbi_arch_is_mercury(o->arch) ||
        in->library_searches || in->modules.len)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *ending = ending_of(paths[i]);
        if (!ending || strcmp(ending, "cubin") != 0)
            return NULL;
    }
    uint64_t worth;
    if (!is_linkable_cubin(cbi_plan_reading(in->ctx, paths, count, &worth)))
        return NULL;
    in->streamed = paths;
    cbi_input_stream *stream = CBI_NEW(in->ctx, cbi_input_stream);
    *stream = (cbi_input_stream){.paths = paths,
                                 .count = count,
                                 .worth = worth,
                                 .user = in,
                                 .read = read_streamed,
                                 .add = add_streamed};
    return stream;
}

/* ---- the end ---- */

/* --register-link-binaries: what an earlier device link holds is not linked again.  Of several
 * modules in a file only the first one's identifier is looked for. */
static bool is_linked_already(const cbi_inputs *in, const cbi_module *module, const cbi_map *linked,
                              cbi_ctx *ctx)
{
    if (!in->linked_ids.len)
        return false;
    return module->id_count && cbi_map_get(linked, CBI_KEY(cbi_intern(ctx, module->ids[0])));
}

typedef CBI_VEC(cbi_module_id) module_ids;

/* The first identifiers of all modules, then the further ones from the last module to the first. */
static void list_further_ids(const cbi_inputs *in, module_ids *ids)
{
    for (size_t i = in->modules.len; i-- > 0;) {
        const cbi_module *m = &in->modules.items[i];
        for (size_t k = m->id_count; k-- > 1 && !m->absent;)
            cbi_vec_push(in->ctx, ids, ((cbi_module_id){m->ids[k], m->device_runtime}));
    }
}

bool cbi_inputs_lack_compiler(const cbi_inputs *in)
{
    return in->lacks_compiler;
}

bool cbi_inputs_have_lines(const cbi_inputs *in)
{
    return in->lto_lines;
}

/* The images of the modules that are linked, in order, and the first identifier of each. */
static void list_modules(const cbi_inputs *in, cbi_map *linked, module_ids *ids,
                         cbi_inputs_result *ret_result)
{
    cbi_ctx *ctx = in->ctx;
    CBI_VEC(cbi_link_input) inputs = {0};
    CBI_VEC(cbi_lto_input) lto = {0};
    ret_result->lto_alone = true;
    for (size_t i = 0; i < in->modules.len; i++) {
        const cbi_module *m = &in->modules.items[i];
        if (m->absent || is_linked_already(in, m, linked, ctx))
            continue;
        if (m->id_count)
            cbi_vec_push(ctx, ids, ((cbi_module_id){m->ids[0], m->device_runtime}));
        ret_result->ends_with_runtime = m->device_runtime;
        if (!m->has_image && !m->device_runtime)
            continue;
        if (m->is_lto) {
            cbi_vec_push(ctx, &lto, ((cbi_lto_input){m->file, m->image, m->is_fatbin}));
            ret_result->lto_at = inputs.len; /* nvlink puts the result where the last was */
        } else {
            cbi_vec_push(ctx, &inputs, input_of(m));
            ret_result->lto_alone &= m->device_runtime;
        }
    }
    ret_result->inputs = inputs.items;
    ret_result->input_count = inputs.len;
    ret_result->lto = lto.items;
    ret_result->lto_count = lto.len;
}

void cbi_inputs_finish(cbi_inputs *in, cbi_inputs_result *ret_result)
{
    cbi_ctx *ctx = in->ctx;
    for (size_t i = 0; i < in->libraries.len; i++)
        cbi_inputs_add_archive(in, in->libraries.items[i].path, in->libraries.items[i].bytes);
    if (in->lto_lines && in->lto_no_lines)
        cbi_info(ctx, "lto-lines", NULL, NULL,
                 "Some objects do not have '-lineinfo' specified but others do; will build "
                 "everything with '-lineinfo'");

    cbi_inputs_compile(in);
    cbi_map linked = {0};
    for (size_t i = 0; i < in->linked_ids.len; i++)
        cbi_map_put(ctx, &linked, CBI_KEY(cbi_intern(ctx, in->linked_ids.items[i])), in);

    *ret_result = (cbi_inputs_result){
        .ptx_runs = in->ptx_runs.items,
        .ptx_run_count = in->ptx_runs.len,
        .lacks_compiler = in->lacks_compiler,
        .host_variables = in->host_variables.items,
        .host_variable_count = in->host_variables.len,
        .host = {.active = in->has_kernel_pattern && !in->forbid_patterns &&
                           !in->options.no_host_patterns,
                 .external_kernels = in->external_kernels.items,
                 .external_kernel_count = in->external_kernels.len,
                 .internal_kernels = in->internal_kernels.items,
                 .internal_kernel_count = in->internal_kernels.len},
    };
    module_ids ids = {0};
    list_modules(in, &linked, &ids, ret_result);
    list_further_ids(in, &ids);
    ret_result->ids = ids.items;
    ret_result->id_count = ids.len;
}
