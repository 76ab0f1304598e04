/* The public finalizer: one image in, one image out. */
#include "cubind/cubind.h"

#include "api/common.h"
#include "api/identity.h"
#include "finalize/fnlzr.h"

#define KNOWN_FLAGS (CB_FINALIZE_POST_LINK | CB_FINALIZE_SELF_CHECK | CB_FINALIZE_TRACE)

static cb_status status_of(cbi_fnlzr_code code)
{
    switch (code) {
    case CBI_FNLZR_OK:
        return CB_OK;
    case CBI_FNLZR_NO_MEMORY:
        return CB_ERR_NOMEM;
    case CBI_FNLZR_NOT_CAPMERC:
    case CBI_FNLZR_INVALID:
    case CBI_FNLZR_UNKNOWN_ABI:
        return CB_ERR_FORMAT;
    case CBI_FNLZR_NOT_ELIGIBLE:
    case CBI_FNLZR_ISA_VERSION:
        return CB_ERR_UNSUPPORTED;
    case CBI_FNLZR_SELF_TEXT:
    case CBI_FNLZR_SELF_RELOC:
    case CBI_FNLZR_SELF_SYMBOLS:
        break;
    }
    return CB_ERR_FATAL;
}

/* Reads a caller's structure of this or the first version. */
static bool take_options(const cb_finalize_options *from, cb_finalize_options *ret_options)
{
    const size_t first = offsetof(cb_finalize_options, options);
    if (!from || (from->struct_size != first && from->struct_size != sizeof *from))
        return false;
    cb_finalize_options options = {0};
    memcpy(&options, from, from->struct_size);
    const cb_finalize_backend *b = options.backend;
    if (!options.arch || options.flags & ~KNOWN_FLAGS ||
        !options.allocator.alloc != !options.allocator.free ||
        (b && (b->struct_size != sizeof *b || !b->name || !b->supports || !b->compile)))
        return false;
    *ret_options = options;
    return true;
}

static bool supports(void *user, uint32_t from_sm, const cbi_arch *target)
{
    const cb_finalize_backend *b = user;
    return b->supports(b->user, from_sm, target->name) != 0;
}

static bool compile(void *user, const cbi_fnlzr_function *function,
                    cbi_fnlzr_compiled *ret_compiled)
{
    const cb_finalize_backend *b = user;
    const cb_finalize_function in = {.struct_size = sizeof in,
                                     .name = function->name,
                                     .sass = function->sass.data,
                                     .sass_size = function->sass.size,
                                     .capsule = function->capsule.data,
                                     .capsule_size = function->capsule.size,
                                     .from_sm = function->from_sm,
                                     .target = function->target->name,
                                     .opt_level = function->opt_level,
                                     .line_info = function->line_info};
    cb_finalize_code code = {0};
    if (b->compile(b->user, &in, &code) != 0)
        return false;
    ret_compiled->sass = (cbi_span){code.sass, code.sass_size};
    ret_compiled->capsule = (cbi_span){code.capsule, code.capsule_size};
    return true;
}

static void trace(void *user, const char *line)
{
    cbi_info(user, "finalizer-trace", NULL, NULL, "%s", line);
}

cb_status cb_finalize(const cb_finalize_options *given, const char *name, const void *data,
                      size_t size, int (*write)(void *user, const void *data, size_t size),
                      void *user, cb_finalize_result *ret_result)
{
    cb_finalize_options options;
    if (!take_options(given, &options) || (!data && size) || !write)
        return CB_ERR_USAGE;
    const cbi_arch *arch =
        cbi_api_arch(options.arch, options.on_diagnostic, options.on_diagnostic_user);
    if (!arch)
        return CB_ERR_USAGE;
    if (!name)
        name = "in-memory-ELF-image";

    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    if (options.allocator.alloc)
        ctx.allocator = (cbi_allocator){options.allocator.alloc, options.allocator.free,
                                        options.allocator.user};
    ctx.memory_limit = options.memory_limit;
    ctx.on_diagnostic = options.on_diagnostic;
    ctx.on_diagnostic_user = options.on_diagnostic_user;
    const cbi_tkinfo identity = {
        .tool = CBI_TOOL_NAME, .tool_version = CBI_OWN_VERSION, .build = CBI_OWN_BUILD};
    const cbi_fnlzr_backend backend = {
        .name = options.backend ? options.backend->name : NULL,
        .supports = supports,
        .finalize = compile,
        .user = (void *)options.backend,
    };
    const cbi_fnlzr_config config = {
        .target = arch,
        .options = options.options,
        .output_name = options.output_name,
        .identity = &identity,
        .post_link = (options.flags & CB_FINALIZE_POST_LINK) != 0,
        .jit = true,
        .self_check = (options.flags & CB_FINALIZE_SELF_CHECK) != 0,
        .opt_level = CBI_FNLZR_OPT_LEVEL,
        .backend = options.backend ? &backend : NULL,
        .trace = trace,
        .trace_user = &ctx,
        .trace_run = (options.flags & CB_FINALIZE_TRACE) != 0,
    };
    cbi_buf image = {0};
    cbi_fnlzr_code code = cbi_fnlzr_run(&ctx, &config, name, (cbi_span){data, size}, &image);
    cb_status status = status_of(code);
    if (status == CB_OK && write(user, image.items, image.len) != 0)
        status = CB_ERR_IO;
    cbi_ctx_fini(&ctx);
    if (ret_result)
        *ret_result = (cb_finalize_result)code;
    return status;
}
