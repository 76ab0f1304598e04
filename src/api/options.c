#include "api/options.h"

#include "api/identity.h"
#include "base/parallel.h"

#define KNOWN_FLAGS ((CB_LINK_ELF32 << 1) - 1)

void cb_link_options_init(cb_link_options *options, size_t struct_size)
{
    memset(options, 0, struct_size);
    options->struct_size = struct_size;
}

cb_status cbi_api_take_options(const cb_link_options *from, cb_link_options *ret_options)
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
        (options.ptxas_option_count && !options.ptxas_options) ||
        options.max_registers > INT32_MAX || options.threads > CBI_THREADS_MAX)
        return CB_ERR_USAGE;
    *ret_options = options;
    return CB_OK;
}

cbi_ctx cbi_api_context(const cb_link_options *o)
{
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    if (o->allocator.alloc)
        ctx.allocator = (cbi_allocator){o->allocator.alloc, o->allocator.free, o->allocator.user};
    cbi_api_set_context(&ctx, o);
    return ctx;
}

void cbi_api_set_context(cbi_ctx *ctx, const cb_link_options *o)
{
    ctx->memory_limit = o->memory_limit;
    ctx->threads = o->threads;
    ctx->on_diagnostic = o->on_diagnostic;
    ctx->on_diagnostic_user = o->on_diagnostic_user;
    ctx->diag.warnings_as_errors = (o->flags & CB_LINK_WARNINGS_AS_ERRORS) != 0;
    ctx->diag.suppress_warnings = (o->flags & CB_LINK_SUPPRESS_WARNINGS) != 0;
}

const char *cbi_api_copy_string(cbi_ctx *ctx, const char *s)
{
    return s ? cbi_strndup(ctx, s, strlen(s)) : NULL;
}

static const char *const *copy_strings(cbi_ctx *ctx, const char *const *strings, size_t count)
{
    const char **copies = CBI_NEW_ARRAY(ctx, count, const char *);
    for (size_t i = 0; i < count; i++)
        copies[i] = cbi_api_copy_string(ctx, strings[i]);
    return copies;
}

cb_status cbi_api_copy_options(cbi_ctx *ctx, void *arg)
{
    cb_link_options *o = arg;
    o->arch = cbi_api_copy_string(ctx, o->arch);
    o->kernels_used = copy_strings(ctx, o->kernels_used, o->kernels_used_count);
    o->variables_used = copy_strings(ctx, o->variables_used, o->variables_used_count);
    o->library_paths = copy_strings(ctx, o->library_paths, o->library_path_count);
    o->ptxas_path = cbi_api_copy_string(ctx, o->ptxas_path);
    o->ptxas_options = copy_strings(ctx, o->ptxas_options, o->ptxas_option_count);
    o->nvjitlink_path = cbi_api_copy_string(ctx, o->nvjitlink_path);
    o->nvvm_path = cbi_api_copy_string(ctx, o->nvvm_path);
    o->cache_path = cbi_api_copy_string(ctx, o->cache_path);
    o->tool_name = cbi_api_copy_string(ctx, o->tool_name ? o->tool_name : CBI_TOOL_NAME);
    bool emulate = (o->flags & CB_LINK_EMULATE_NVLINK) != 0;
    const char *version = emulate ? CBI_NVLINK_VERSION : CBI_OWN_VERSION;
    const char *build = emulate ? CBI_NVLINK_BUILD : CBI_OWN_BUILD;
    o->tool_version = cbi_api_copy_string(ctx, o->tool_version ? o->tool_version : version);
    o->tool_build = cbi_api_copy_string(ctx, o->tool_build ? o->tool_build : build);
    o->command_line = o->command_line ? cbi_api_copy_string(ctx, o->command_line)
                                      : cbi_printf(ctx, "-arch %s ", o->arch);
    return CB_OK;
}

/* A line of an assembler's, which may be a note, a warning or an error of its own. */
static void report_assembler(void *user, const char *text)
{
    cbi_info(user, "assembler", NULL, NULL, "%.*s", (int)strcspn(text, "\n"), text);
}

cbi_ptx_options cbi_api_ptx_options(cbi_ctx *ctx, const cb_link_options *o)
{
    return (cbi_ptx_options){
        .ptxas = o->ptxas_path,
        .debug = (o->flags & CB_LINK_DEBUG) && !(o->flags & CB_LINK_SUPPRESS_DEBUG_INFO),
        .has_maxrregcount = o->max_registers != 0,
        .maxrregcount = (int32_t)o->max_registers,
        .extra = o->ptxas_options,
        .extra_count = o->ptxas_option_count,
        .at_a_time = o->ptxas_jobs,
        .cache = o->cache_path,
        .print = report_assembler,
        .print_user = ctx,
    };
}

cbi_input_options cbi_api_input_options(cbi_ctx *ctx, const cb_link_options *o,
                                        const cbi_arch *arch)
{
    return (cbi_input_options){
        .arch = arch,
        .arch_text = o->arch,
        .no_host_patterns = (o->flags & (CB_LINK_IGNORE_HOST_INFO | CB_LINK_RELOCATABLE)) ||
                            o->kernels_used_count || o->variables_used_count,
        .host_machine = cbi_host_machine("X86_64"),
        .library_paths = o->library_paths,
        .library_path_count = o->library_path_count,
        .lto = (o->flags & CB_LINK_LTO) != 0,
        .elf32 = (o->flags & CB_LINK_ELF32) != 0,
        .names_fields = true,
        .ptx = cbi_api_ptx_options(ctx, o),
    };
}
