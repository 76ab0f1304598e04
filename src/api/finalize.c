/* The public finalizer: one image in, one image out. */
#include "cubind/cubind.h"

#include "mercury/fnlzr.h"

#define KNOWN_FLAGS (CB_FINALIZE_POST_LINK | CB_FINALIZE_SELF_CHECK)

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

cb_status cb_finalize(const cb_finalize_options *options, const char *name, const void *data,
                      size_t size, int (*write)(void *user, const void *data, size_t size),
                      void *user, int *ret_code)
{
    if (!options || options->struct_size != sizeof *options || !options->arch || !name ||
        (!data && size) || !write || options->flags & ~KNOWN_FLAGS ||
        !options->allocator.alloc != !options->allocator.free)
        return CB_ERR_USAGE;
    const cbi_arch *arch = cbi_arch_find(options->arch);
    if (!arch)
        return CB_ERR_USAGE;

    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    if (options->allocator.alloc)
        ctx.allocator = (cbi_allocator){options->allocator.alloc, options->allocator.free,
                                        options->allocator.user};
    ctx.memory_limit = options->memory_limit;
    ctx.on_diagnostic = options->on_diagnostic;
    ctx.on_diagnostic_user = options->on_diagnostic_user;
    const cbi_fnlzr_config config = {
        .target = arch,
        .post_link = (options->flags & CB_FINALIZE_POST_LINK) != 0,
        .self_check = (options->flags & CB_FINALIZE_SELF_CHECK) != 0,
        .opt_level = 4,
    };
    cbi_buf image = {0};
    cbi_fnlzr_code code = cbi_fnlzr_run(&ctx, &config, name, (cbi_span){data, size}, &image);
    cb_status status = status_of(code);
    if (status == CB_OK && write(user, image.items, image.len) != 0)
        status = CB_ERR_IO;
    cbi_ctx_fini(&ctx);
    if (ret_code)
        *ret_code = (int)code;
    return status;
}
