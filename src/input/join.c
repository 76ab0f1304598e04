/* Inputs that are read once and used by several links: one collector for each, and the link's own
 * takes over what they hold. */
#include "input/collect.h"

void cbi_inputs_read_objects(cbi_inputs *in)
{
    cbi_inputs_compile(in);
    for (size_t i = 0; i < in->modules.len; i++) {
        cbi_module *m = &in->modules.items[i];
        if (!m->has_image || m->is_lto)
            continue;
        cbi_object *object = CBI_NEW(in->ctx, cbi_object);
        if (cbi_object_read(in->ctx, m->file, m->image, object, NULL) == CBI_OBJECT_OK)
            m->object = object;
    }
}

bool cbi_inputs_found_none(const cbi_inputs *in)
{
    for (size_t i = 0; i < in->modules.len; i++)
        if (in->modules.items[i].has_image)
            return false;
    return in->fatbins != 0;
}

static void join_strings(cbi_ctx *ctx, cbi_strings *to, const cbi_strings *from)
{
    for (size_t i = 0; i < from->len; i++)
        cbi_vec_push(ctx, to, from->items[i]);
}

void cbi_inputs_join(cbi_inputs *in, const cbi_inputs *from)
{
    cbi_ctx *ctx = in->ctx;
    for (size_t i = 0; i < from->modules.len; i++) {
        const cbi_module *m = &from->modules.items[i];
        if (m->absent)
            continue;
        if (m->device_runtime && !in->any_module &&
            !in->options.plain_runtime) /* it counts only behind another module */
            continue;
        cbi_vec_push(ctx, &in->modules, *m);
        cbi_module *taken = &in->modules.items[in->modules.len - 1];
        taken->own = NULL; /* other links have it, too */
        if (in->options.plain_runtime)
            taken->device_runtime = false;
        in->any_module = true;
    }
    for (size_t i = 0; i < from->ptx_runs.len; i++)
        cbi_vec_push(ctx, &in->ptx_runs, from->ptx_runs.items[i]);
    join_strings(ctx, &in->linked_ids, &from->linked_ids);
    join_strings(ctx, &in->external_kernels, &from->external_kernels);
    join_strings(ctx, &in->internal_kernels, &from->internal_kernels);
    join_strings(ctx, &in->host_variables, &from->host_variables);
    in->has_kernel_pattern |= from->has_kernel_pattern;
    in->forbid_patterns |= from->forbid_patterns;
    in->seen_mercury |= from->seen_mercury;
    in->seen_ewp |= from->seen_ewp;
    in->lto_lines |= from->lto_lines;
    in->lto_no_lines |= from->lto_no_lines;
}
