/* Parts of a dump: what kernels and functions need, their parameters, their source lines. */
#include "dump.h"

#include <string.h>

static void add_known(cbi_store *t, cbi_node *row, const char *key, int64_t value)
{
    if (value < 0)
        cbi_node_null(t, row, key);
    else
        cbi_node_uint(t, row, key, (uint64_t)value);
}

cbi_node *cbi_dump_summary(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_function_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_function *f = cb_image_function(image, i);
        cbi_node *row = cbi_node_add_object(t, list, NULL);
        cbi_node_string(t, row, "kind", f->kernel ? "kernel" : "function");
        add_known(t, row, "registers", f->registers);
        cbi_node_uint(t, row, "shared", f->shared);
        add_known(t, row, "stack", f->stack);
        cbi_node_uint(t, row, "barriers", f->barriers);
        cbi_node_uint(t, row, "params", f->param_size);
        cbi_node_uint(t, row, "constant", f->constant);
        cbi_node_uint(t, row, "code", f->code_size);
        cbi_node_string(t, row, "name", f->name);
    }
    return list;
}

/* Three numbers; null if none is given. */
static void add_dim3(cbi_store *t, cbi_node *row, const char *key, const uint32_t dim[3])
{
    if (!dim[0] && !dim[1] && !dim[2]) {
        cbi_node_null(t, row, key);
        return;
    }
    cbi_node *list = cbi_node_add_array(t, row, key);
    for (size_t i = 0; i < 3; i++)
        cbi_node_uint(t, list, NULL, dim[i]);
}

static void add_limit(cbi_store *t, cbi_node *row, const char *key, uint32_t value)
{
    add_known(t, row, key, value ? (int64_t)value : -1);
}

static void kernel_row(cbi_store *t, cb_image *image, const cb_function *f, cbi_node *row)
{
    cbi_node_string(t, row, "name", f->name);
    cbi_node_string(t, row, "demangled", cb_image_demangle(image, f->name));
    cbi_node_string(t, row, "section",
                    f->section == CB_NONE ? NULL : cbi_section_name(t, image, f->section));
    add_known(t, row, "registers", f->registers);
    add_limit(t, row, "max_registers", f->max_registers);
    add_known(t, row, "stack", f->stack);
    cbi_node_uint(t, row, "shared", f->shared);
    cbi_node_uint(t, row, "local", f->local);
    cbi_node_uint(t, row, "constant", f->constant);
    cbi_node_uint(t, row, "barriers", f->barriers);
    cbi_node_uint(t, row, "code", f->code_size);
    add_dim3(t, row, "max_threads", f->max_threads);
    add_dim3(t, row, "required_threads", f->required_threads);
    add_dim3(t, row, "cluster", f->cluster);
    add_limit(t, row, "max_cluster_rank", f->max_cluster_rank);
    cbi_node_hex(t, row, "param_base", f->param_base);
    cbi_node_uint(t, row, "param_size", f->param_size);
    cbi_node *params = cbi_node_add_array(t, row, "parameters");
    for (size_t i = 0; i < f->param_count; i++) {
        const cb_param *p = &f->params[i];
        cbi_node *n = cbi_node_add_object(t, params, NULL);
        cbi_node_uint(t, n, "ordinal", p->ordinal);
        cbi_node_hex(t, n, "offset", p->offset);
        cbi_node_uint(t, n, "size", p->size);
        cbi_node_string(t, n, "space", p->space);
    }
}

cbi_node *cbi_dump_kernels(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_function_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_function *f = cb_image_function(image, i);
        if (f->kernel)
            kernel_row(t, image, f, cbi_node_add_object(t, list, NULL));
    }
    return list;
}

/* ---- lines ---- */

/* "b.h:7 in inner, at a.cu:12" */
static const char *show_callers(cbi_store *t, cb_image *image, const cb_line *line)
{
    enum { SHOWN = 16 }; /* of calls inside each other */
    const char *text = NULL;
    for (unsigned depth = 0; line->caller != CB_NONE && depth < SHOWN; depth++) {
        line = cb_image_line(image, CB_LINES_SOURCE, line->caller);
        text = cbi_store_printf(t, "%s%sat %s:%u", text ? text : "", text ? ", " : "", line->file,
                                line->line);
        if (line->inlined)
            text = cbi_store_printf(t, "%s in %s", text, line->inlined);
    }
    return text;
}

cbi_node *cbi_dump_lines(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    cbi_node *rows = NULL;
    uint32_t function = CB_NONE;
    size_t count = cb_image_line_count(image, CB_LINES_SOURCE);
    for (size_t i = 0; i < count; i++) {
        const cb_line *line = cb_image_line(image, CB_LINES_SOURCE, i);
        if (line->end == line->offset || line->function == CB_NONE)
            continue;
        if (!rows || line->function != function) {
            cbi_node *n = cbi_node_add_object(t, list, NULL);
            function = line->function;
            cbi_node_string(t, n, "function", cb_image_function(image, function)->name);
            rows = cbi_node_add_array(t, n, "rows");
        }
        cbi_node *row = cbi_node_add_object(t, rows, NULL);
        cbi_node_hex(t, row, "offset", line->offset);
        cbi_node_hex(t, row, "end", line->end);
        cbi_node_string(t, row, "file", line->file);
        cbi_node_uint(t, row, "line", line->line);
        cbi_node_string(t, row, "inlined", line->inlined);
        cbi_node_string(t, row, "callers", show_callers(t, image, line));
    }
    return list;
}
