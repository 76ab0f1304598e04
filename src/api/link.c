/* The public link: a handle that collects inputs, then runs input stage and link in one go. */
#include "cubind/cubind.h"

#include "api/common.h"
#include "api/identity.h"
#include "base/output_file.h"
#include "base/sink.h"
#include "input/input.h"
#include "link/link.h"
#include "lto/lto.h"
#include "mercury/operations.h"

typedef enum input_kind { INPUT_FILE, INPUT_MEMORY, INPUT_LIBRARY } input_kind;

typedef struct input {
    input_kind kind;
    const char *name;
    cbi_span bytes; /* INPUT_MEMORY */
} input;

struct cb_link {
    cbi_ctx ctx;
    cb_link_options options; /* what it points to lives in the arena */
    const cbi_arch *arch;
    CBI_VEC(input) inputs;
    bool ran;
    bool done; /* image is valid */
    cbi_span image;
};

#define KNOWN_FLAGS ((CB_LINK_ALLOW_EMPTY << 1) - 1)

void cb_link_options_init(cb_link_options *options, size_t struct_size)
{
    memset(options, 0, struct_size);
    options->struct_size = struct_size;
}

/* Reads a caller's structure of any version: a shorter one lacks members, a longer one is fine as
 * long as what this library does not know is zero. */
static cb_status take_options(const cb_link_options *from, cb_link_options *ret_options)
{
    const size_t shortest = offsetof(cb_link_options, flags) + sizeof from->flags;
    if (!from || from->struct_size < shortest)
        return CB_ERR_USAGE;
    const uint8_t *bytes = (const uint8_t *)from;
    for (size_t i = sizeof *from; i < from->struct_size; i++)
        if (bytes[i])
            return CB_ERR_USAGE;
    cb_link_options options = {0};
    size_t size = from->struct_size < sizeof options ? from->struct_size : sizeof options;
    memcpy(&options, from, size);
    if (options.flags & ~KNOWN_FLAGS || !options.arch)
        return CB_ERR_USAGE;
    if (!options.allocator.alloc != !options.allocator.free)
        return CB_ERR_USAGE;
    if ((options.kernels_used_count && !options.kernels_used) ||
        (options.variables_used_count && !options.variables_used) ||
        (options.library_path_count && !options.library_paths) ||
        (options.ptxas_option_count && !options.ptxas_options) || options.max_registers > INT32_MAX)
        return CB_ERR_USAGE;
    *ret_options = options;
    return CB_OK;
}

static const char *copy_string(cbi_ctx *ctx, const char *s)
{
    return s ? cbi_strndup(ctx, s, strlen(s)) : NULL;
}

static const char *const *copy_strings(cbi_ctx *ctx, const char *const *strings, size_t count)
{
    const char **copies = CBI_NEW_ARRAY(ctx, count, const char *);
    for (size_t i = 0; i < count; i++)
        copies[i] = copy_string(ctx, strings[i]);
    return copies;
}

static cb_status copy_options(cbi_ctx *ctx, void *arg)
{
    cb_link_options *o = arg;
    o->arch = copy_string(ctx, o->arch);
    o->kernels_used = copy_strings(ctx, o->kernels_used, o->kernels_used_count);
    o->variables_used = copy_strings(ctx, o->variables_used, o->variables_used_count);
    o->library_paths = copy_strings(ctx, o->library_paths, o->library_path_count);
    o->ptxas_path = copy_string(ctx, o->ptxas_path);
    o->ptxas_options = copy_strings(ctx, o->ptxas_options, o->ptxas_option_count);
    o->nvjitlink_path = copy_string(ctx, o->nvjitlink_path);
    o->nvvm_path = copy_string(ctx, o->nvvm_path);
    o->tool_name = copy_string(ctx, o->tool_name ? o->tool_name : CBI_TOOL_NAME);
    bool emulate = (o->flags & CB_LINK_EMULATE_NVLINK) != 0;
    const char *version = emulate ? CBI_NVLINK_VERSION : CBI_OWN_VERSION;
    const char *build = emulate ? CBI_NVLINK_BUILD : CBI_OWN_BUILD;
    o->tool_version = copy_string(ctx, o->tool_version ? o->tool_version : version);
    o->tool_build = copy_string(ctx, o->tool_build ? o->tool_build : build);
    o->command_line =
        o->command_line ? copy_string(ctx, o->command_line) : cbi_printf(ctx, "-arch %s ", o->arch);
    return CB_OK;
}

cb_status cb_link_create(const cb_link_options *options, cb_link **ret_link)
{
    cb_link_options o;
    if (take_options(options, &o) != CB_OK || !ret_link)
        return CB_ERR_USAGE;
    const cbi_arch *arch = cbi_api_arch(o.arch, o.on_diagnostic, o.on_diagnostic_user);
    if (!arch)
        return CB_ERR_USAGE;

    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    if (o.allocator.alloc)
        ctx.allocator = (cbi_allocator){o.allocator.alloc, o.allocator.free, o.allocator.user};
    ctx.memory_limit = o.memory_limit;
    ctx.on_diagnostic = o.on_diagnostic;
    ctx.on_diagnostic_user = o.on_diagnostic_user;
    ctx.diag.warnings_as_errors = (o.flags & CB_LINK_WARNINGS_AS_ERRORS) != 0;
    ctx.diag.suppress_warnings = (o.flags & CB_LINK_SUPPRESS_WARNINGS) != 0;

    cb_link *link = ctx.allocator.alloc(ctx.allocator.user, sizeof *link);
    if (!link)
        return CB_ERR_NOMEM;
    *link = (cb_link){.ctx = ctx, .options = o, .arch = arch};
    cb_status status = cbi_run(&link->ctx, copy_options, &link->options);
    if (status != CB_OK) {
        cb_link_free(link);
        return status;
    }
    *ret_link = link;
    return CB_OK;
}

typedef struct addition {
    cb_link *link;
    input input;
} addition;

static cb_status add_input(cbi_ctx *ctx, void *arg)
{
    addition *add = arg;
    input in = add->input;
    in.name = copy_string(ctx, in.name);
    cbi_vec_push(ctx, &add->link->inputs, in);
    return CB_OK;
}

static cb_status add(cb_link *link, input in)
{
    if (!link || !in.name || link->ran)
        return CB_ERR_USAGE;
    addition a = {link, in};
    return cbi_run(&link->ctx, add_input, &a);
}

cb_status cb_link_add_file(cb_link *link, const char *path)
{
    return add(link, (input){.kind = INPUT_FILE, .name = path});
}

cb_status cb_link_add_memory(cb_link *link, const char *name, const void *data, size_t size)
{
    if (!data && size)
        return CB_ERR_USAGE;
    return add(link, (input){.kind = INPUT_MEMORY, .name = name, .bytes = {data, size}});
}

cb_status cb_link_add_library(cb_link *link, const char *name)
{
    return add(link, (input){.kind = INPUT_LIBRARY, .name = name});
}

static cbi_ptx_options ptx_options(const cb_link_options *o)
{
    return (cbi_ptx_options){
        .ptxas = o->ptxas_path,
        .debug = (o->flags & CB_LINK_DEBUG) && !(o->flags & CB_LINK_SUPPRESS_DEBUG_INFO),
        .has_maxrregcount = o->max_registers != 0,
        .maxrregcount = (int32_t)o->max_registers,
        .extra = o->ptxas_options,
        .extra_count = o->ptxas_option_count,
    };
}

static cbi_inputs *collect_inputs(cb_link *link, cbi_inputs_result *ret_result)
{
    const cb_link_options *o = &link->options;
    const cbi_input_options options = {
        .arch = link->arch,
        .arch_text = o->arch,
        .no_host_patterns = (o->flags & (CB_LINK_IGNORE_HOST_INFO | CB_LINK_RELOCATABLE)) ||
                            o->kernels_used_count || o->variables_used_count,
        .host_machine = cbi_host_machine("X86_64"),
        .library_paths = o->library_paths,
        .library_path_count = o->library_path_count,
        .lto = (o->flags & CB_LINK_LTO) != 0,
        .names_fields = true,
        .ptx = ptx_options(o),
    };
    cbi_inputs *in = cbi_inputs_create(&link->ctx, &options);
    for (size_t i = 0; i < link->inputs.len; i++)
        if (link->inputs.items[i].kind == INPUT_LIBRARY)
            cbi_inputs_add_library(in, link->inputs.items[i].name);
    for (size_t i = 0; i < link->inputs.len; i++) {
        const input *one = &link->inputs.items[i];
        if (one->kind == INPUT_FILE)
            cbi_inputs_add_file(in, one->name);
        else if (one->kind == INPUT_MEMORY)
            cbi_inputs_add_memory(in, one->name, one->bytes);
    }
    cbi_inputs_finish(in, ret_result);
    return in;
}

static bool reads_nothing(const cb_link *link, const cbi_inputs_result *inputs)
{
    return !inputs->input_count && !inputs->lto_count &&
           !(link->options.flags & CB_LINK_ALLOW_EMPTY);
}

/* True: the program is linked, to link->image. */
static bool compile_lto(cb_link *link, cbi_inputs *in, cbi_inputs_result *inputs)
{
    const cb_link_options *o = &link->options;
    const cbi_ptx_options ptx = ptx_options(o);
    cbi_lto_options options = {
        .arch = link->arch,
        .nvjitlink = o->nvjitlink_path,
        .nvvmpath = o->nvvm_path,
        .limits = {o->compiler_seconds ? o->compiler_seconds : CBI_LTO_SECONDS,
                   o->compiler_mebibytes ? o->compiler_mebibytes : CBI_LTO_MEBIBYTES},
        .names_fields = true,
        .ptx = &ptx,
    };
    const cbi_lto_request request = {.part = (o->flags & CB_LINK_RELOCATABLE) != 0,
                                     .assembler_build = CBI_NVLINK_BUILD};
    cbi_lto_set_used(&options, inputs, o->kernels_used, o->kernels_used_count, o->variables_used,
                     o->variables_used_count);
    return cbi_lto_link(&link->ctx, &options, &request, in, inputs, &link->image) == CBI_LTO_LINKED;
}

static cb_status run(cbi_ctx *ctx, void *arg)
{
    cb_link *link = arg;
    const cb_link_options *o = &link->options;
    cbi_inputs_result inputs = {0};
    cbi_inputs *in = collect_inputs(link, &inputs);
    if (reads_nothing(link, &inputs) && !ctx->error_count)
        cbi_error(ctx, "no-device-code", NULL,
                  "CB_LINK_ALLOW_EMPTY in cb_link_options.flags makes an empty image of them",
                  "The inputs hold no device code for '%s'", o->arch);
    if (!ctx->error_count && inputs.lto_count && compile_lto(link, in, &inputs))
        return CB_OK;
    if (ctx->error_count)
        return inputs.lacks_compiler ? CB_ERR_UNSUPPORTED : CB_ERR_FORMAT;
    const cbi_link_options options = {
        .arch = link->arch,
        .relocatable = (o->flags & CB_LINK_RELOCATABLE) != 0,
        .debug = (o->flags & CB_LINK_DEBUG) != 0,
        .preserve_relocs = (o->flags & CB_LINK_PRESERVE_RELOCS) != 0,
        .force_rela = (o->flags & CB_LINK_FORCE_RELA) != 0,
        .allow_undefined_globals = (o->flags & CB_LINK_ALLOW_UNDEFINED) != 0,
        .suppress_debug_info = (o->flags & CB_LINK_SUPPRESS_DEBUG_INFO) != 0,
        .keep_system_libraries = (o->flags & CB_LINK_KEEP_SYSTEM_LIBRARIES) != 0,
        .verbose = (o->flags & CB_LINK_VERBOSE) != 0,
        .extra_warnings = (o->flags & CB_LINK_EXTRA_WARNINGS) != 0,
        .kernels_used = o->kernels_used,
        .kernels_used_count = o->kernels_used_count,
        .variables_used = o->variables_used,
        .variables_used_count = o->variables_used_count,
        .host = inputs.host,
        .tool_name = o->tool_name,
        .tool_version = o->tool_version,
        .tool_build = o->tool_build,
        .object_name = "",
        .command_line = o->command_line,
        .output_name = "",
        .view = &cbi_mercury_operations,
    };
    cbi_link_result result = {0};
    cb_status status = cbi_link(ctx, &options, inputs.inputs, inputs.input_count, &result);
    if (status == CB_OK)
        link->image = cbi_rope_flatten(ctx, &result.image);
    return status;
}

cb_status cb_link_run(cb_link *link)
{
    if (!link || link->ran || link->inputs.len == 0)
        return CB_ERR_USAGE;
    link->ran = true;
    cb_status status = cbi_run(&link->ctx, run, link);
    link->done = status == CB_OK;
    return status;
}

cb_status cb_link_get_image(const cb_link *link, const void **ret_data, size_t *ret_size)
{
    if (!link || !link->done || !ret_data || !ret_size)
        return CB_ERR_USAGE;
    *ret_data = link->image.data;
    *ret_size = link->image.size;
    return CB_OK;
}

cb_status cb_link_write_file(const cb_link *link, const char *path)
{
    if (!link || !link->done || !path)
        return CB_ERR_USAGE;
    cbi_output_result written = cbi_write_output(path, link->image.data, link->image.size);
    return written == CBI_OUTPUT_OK ? CB_OK : CB_ERR_IO;
}

cb_status cb_link_write_callback(const cb_link *link,
                                 int (*write)(void *user, const void *data, size_t size),
                                 void *user)
{
    if (!link || !link->done || !write)
        return CB_ERR_USAGE;
    cbi_sink sink = cbi_sink_callback(write, user);
    return cbi_sink_write(&sink, link->image.data, link->image.size) ? CB_OK : CB_ERR_IO;
}

cb_status cb_link_write_buffer(const cb_link *link, void *buffer, size_t size, size_t *ret_size)
{
    if (!link || !link->done || (!buffer && size) || !ret_size)
        return CB_ERR_USAGE;
    if (!buffer) {
        *ret_size = link->image.size;
        return CB_OK;
    }
    if (size < link->image.size)
        return CB_ERR_USAGE;
    cbi_sink sink = cbi_sink_fixed(buffer, size);
    if (!cbi_sink_write(&sink, link->image.data, link->image.size))
        return CB_ERR_USAGE;
    *ret_size = link->image.size;
    return CB_OK;
}

void cb_link_free(cb_link *link)
{
    if (!link)
        return;
    cbi_allocator allocator = link->ctx.allocator;
    cbi_ctx_fini(&link->ctx);
    allocator.free(allocator.user, link, sizeof *link);
}
