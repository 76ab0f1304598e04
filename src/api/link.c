/* The public link: a handle that collects inputs, then runs input stage and link in one go. */
#include "cubind/cubind.h"

#include "api/common.h"
#include "api/identity.h"
#include "api/options.h"
#include "api/private.h"
#include "base/files.h"
#include "base/output_file.h"
#include "base/parallel.h"
#include "base/sink.h"
#include "input/input.h"
#include "link/link.h"
#include "lto/lto.h"
#include "mercury/operations.h"

typedef enum input_kind { INPUT_FILE, INPUT_MEMORY, INPUT_READ, INPUT_LIBRARY } input_kind;

typedef struct input {
    input_kind kind;
    const char *name;
    cbi_span bytes;       /* INPUT_MEMORY */
    const cb_input *read; /* INPUT_READ */
} input;

struct cb_link {
    cbi_ctx ctx;
    cb_link_options options; /* what it points to lives in the arena */
    const cbi_arch *arch;
    cbi_api_extras extras;
    CBI_VEC(input) inputs;
    bool ran;
    bool done; /* image is valid */
    cbi_span image;
};

cb_status cb_link_create(const cb_link_options *options, cb_link **ret_link)
{
    cb_link_options o;
    if (cbi_api_take_options(options, &o) != CB_OK || !ret_link)
        return CB_ERR_USAGE;
    const cbi_arch *arch = cbi_api_arch(o.arch, o.on_diagnostic, o.on_diagnostic_user);
    if (!arch)
        return CB_ERR_USAGE;

    cbi_ctx ctx = cbi_api_context(&o);
    cb_link *link = ctx.allocator.alloc(ctx.allocator.user, sizeof *link);
    if (!link)
        return CB_ERR_NOMEM;
    *link = (cb_link){.ctx = ctx, .options = o, .arch = arch};
    cb_status status = cbi_run(&link->ctx, cbi_api_copy_options, &link->options);
    if (status != CB_OK) {
        cb_link_free(link);
        return status;
    }
    *ret_link = link;
    return CB_OK;
}

cb_status cb_link_reset(cb_link *link, const cb_link_options *options)
{
    cb_link_options o;
    if (!link || cbi_api_take_options(options, &o) != CB_OK)
        return CB_ERR_USAGE;
    const cbi_arch *arch = cbi_api_arch(o.arch, o.on_diagnostic, o.on_diagnostic_user);
    if (!arch)
        return CB_ERR_USAGE;
    cbi_ctx_reset(&link->ctx);
    cbi_ctx ctx = link->ctx;
    cbi_api_set_context(&ctx, &o);
    *link = (cb_link){.ctx = ctx, .options = o, .arch = arch};
    cb_status status = cbi_run(&link->ctx, cbi_api_copy_options, &link->options);
    link->ran = status != CB_OK; /* then nothing can be added */
    return status;
}

typedef struct addition {
    cb_link *link;
    input input;
} addition;

static cb_status add_input(cbi_ctx *ctx, void *arg)
{
    addition *add = arg;
    input in = add->input;
    in.name = cbi_api_copy_string(ctx, in.name);
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

cb_status cb_link_add_input(cb_link *link, const cb_input *read)
{
    if (!link || !read || cbi_api_input_arch(read) != link->arch)
        return CB_ERR_USAGE;
    return add(link, (input){.kind = INPUT_READ, .name = "", .read = read});
}

cb_status cb_link_add_library(cb_link *link, const char *name)
{
    return add(link, (input){.kind = INPUT_LIBRARY, .name = name});
}

static void read_ahead(cb_link *link)
{
    cbi_strings paths = {0};
    for (size_t i = 0; i < link->inputs.len; i++)
        if (link->inputs.items[i].kind == INPUT_FILE)
            cbi_vec_push(&link->ctx, &paths, link->inputs.items[i].name);
    cbi_read_ahead(&link->ctx, paths.items, paths.len);
}

static cbi_inputs *collect_inputs(cb_link *link, cbi_inputs_result *ret_result)
{
    cbi_input_options options = cbi_api_input_options(&link->ctx, &link->options, link->arch);
    options.plain_runtime = link->extras.plain_runtime;
    cbi_inputs *in = cbi_inputs_create(&link->ctx, &options);
    for (size_t i = 0; i < link->inputs.len; i++)
        if (link->inputs.items[i].kind == INPUT_LIBRARY)
            cbi_inputs_add_library(in, link->inputs.items[i].name);
    read_ahead(link);
    for (size_t i = 0; i < link->inputs.len; i++) {
        const input *one = &link->inputs.items[i];
        switch (one->kind) {
        case INPUT_FILE:
            cbi_inputs_add_file(in, one->name);
            break;
        case INPUT_MEMORY:
            cbi_inputs_add_memory(in, one->name, one->bytes);
            break;
        case INPUT_READ:
            cbi_inputs_join(in, cbi_api_collected(one->read));
            break;
        case INPUT_LIBRARY:
            break;
        }
    }
    cbi_inputs_finish(in, ret_result);
    return in;
}

static bool reads_nothing(const cb_link *link, const cbi_inputs_result *inputs)
{
    if (inputs->lto_count || link->options.flags & CB_LINK_ALLOW_EMPTY)
        return false;
    for (size_t i = 0; i < inputs->input_count; i++)
        if (!inputs->inputs[i].no_code)
            return false;
    return true;
}

/* True: the program is linked, to link->image. */
static bool compile_lto(cb_link *link, cbi_inputs *in, cbi_inputs_result *inputs)
{
    const cb_link_options *o = &link->options;
    const cbi_ptx_options ptx = cbi_api_ptx_options(&link->ctx, o);
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
        .elf32 = (o->flags & CB_LINK_ELF32) != 0,
        .spends_inputs = true,
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
        .object_name = link->extras.object_name ? link->extras.object_name : "",
        .forgives_merge_errors = link->extras.forgives_merge_errors,
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

void cbi_api_set_extras(cb_link *link, const cbi_api_extras *extras)
{
    link->extras = *extras;
}

static cb_status refuse_no_input(cbi_ctx *ctx, void *arg)
{
    (void)arg;
    cbi_error(ctx, "no-input", NULL,
              "add files or bytes first, or set CB_LINK_ALLOW_EMPTY in cb_link_options.flags",
              "There is nothing to link: no input was added");
    ctx->error_count = 0; /* inputs may still come */
    return CB_ERR_USAGE;
}

cb_status cb_link_run(cb_link *link)
{
    if (!link || link->ran)
        return CB_ERR_USAGE;
    if (link->inputs.len == 0 && !(link->options.flags & CB_LINK_ALLOW_EMPTY))
        return cbi_run(&link->ctx, refuse_no_input, NULL);
    link->ran = true;
    cb_status status = cbi_run(&link->ctx, run, link);
    cbi_parallel_end(&link->ctx);
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
