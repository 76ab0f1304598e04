/* Inputs that are read once and linked many times. */
#include "api/common.h"
#include "api/options.h"
#include "api/private.h"

struct cb_input {
    cbi_ctx ctx;
    const cbi_arch *arch;
    cbi_inputs *collected;
};

typedef struct reading {
    cb_input *input;
    cb_link_options options;
    const char *name;
    bool is_file;
    cbi_span bytes;
} reading;

static cb_status read_input(cbi_ctx *ctx, void *arg)
{
    reading *r = arg;
    cb_status status = cbi_api_copy_options(ctx, &r->options);
    if (status != CB_OK)
        return status;
    cbi_input_options options = cbi_api_input_options(ctx, &r->options, r->input->arch);
    options.by_itself = true;
    cbi_inputs *in = cbi_inputs_create(ctx, &options);
    r->input->collected = in;
    if (r->is_file)
        cbi_inputs_add_file(in, cbi_api_copy_string(ctx, r->name));
    else
        cbi_inputs_add_memory(in, cbi_api_copy_string(ctx, r->name), r->bytes);
    cbi_inputs_read_objects(in);
    if (!ctx->error_count)
        return CB_OK;
    return cbi_inputs_lack_compiler(in) ? CB_ERR_UNSUPPORTED : CB_ERR_FORMAT;
}

static cb_status create(reading *r, const cb_link_options *options, cb_input **ret_input)
{
    if (!r->name || !ret_input || cbi_api_take_options(options, &r->options) != CB_OK)
        return CB_ERR_USAGE;
    const cb_link_options *o = &r->options;
    const cbi_arch *arch = cbi_api_arch(o->arch, o->on_diagnostic, o->on_diagnostic_user);
    if (!arch)
        return CB_ERR_USAGE;
    cbi_ctx ctx = cbi_api_context(o);
    cb_input *input = ctx.allocator.alloc(ctx.allocator.user, sizeof *input);
    if (!input)
        return CB_ERR_NOMEM;
    *input = (cb_input){.ctx = ctx, .arch = arch};
    r->input = input;
    cb_status status = cbi_run(&input->ctx, read_input, r);
    if (status != CB_OK) {
        cb_input_free(input);
        return status;
    }
    input->ctx.on_diagnostic = NULL;
    *ret_input = input;
    return CB_OK;
}

cb_status cb_input_open(const cb_link_options *options, const char *path, cb_input **ret_input)
{
    reading r = {.name = path, .is_file = true};
    return create(&r, options, ret_input);
}

cb_status cb_input_create(const cb_link_options *options, const char *name, const void *data,
                          size_t size, cb_input **ret_input)
{
    if (!data && size)
        return CB_ERR_USAGE;
    reading r = {.name = name, .bytes = {data, size}};
    return create(&r, options, ret_input);
}

const cbi_inputs *cbi_api_collected(const cb_input *input)
{
    return input->collected;
}

const cbi_arch *cbi_api_input_arch(const cb_input *input)
{
    return input->arch;
}

void cb_input_free(cb_input *input)
{
    if (!input)
        return;
    cbi_allocator allocator = input->ctx.allocator;
    cbi_ctx_fini(&input->ctx);
    allocator.free(allocator.user, input, sizeof *input);
}
