/* The command string of the tkinfo record: the options that were given, in a fixed order. */
#include "options.h"

static void append_value(cbi_ctx *ctx, cbi_buf *out, cbi_opt opt, const cbi_opt_value *value)
{
    switch (cbi_options[opt].kind) {
    case OPT_KIND_FLAG:
        break;
    case OPT_KIND_INT:
        cbi_buf_printf(ctx, out, "%d", value->number);
        break;
    case OPT_KIND_LIST:
        for (size_t i = 0; i < value->list.len; i++)
            cbi_buf_printf(ctx, out, "%s%s", i ? "," : "", value->list.items[i]);
        break;
    default:
        cbi_buf_printf(ctx, out, "%s", value->text);
    }
}

static void append_option(cbi_ctx *ctx, cbi_buf *out, cbi_opt opt, const cbi_opt_value *value)
{
    const cbi_option *option = &cbi_options[opt];
    cbi_buf_printf(ctx, out, "-%s ", option->short_name ? option->short_name : "");
    if (option->record == OPT_RECORD_VERBOSE_BASENAME)
        cbi_buf_printf(ctx, out, "%s", cbi_base_name(value->text));
    else if (option->record != OPT_RECORD_VERBOSE_EMPTY)
        append_value(ctx, out, opt, value);
    cbi_buf_printf(ctx, out, " ");
}

/* Those that are recorded, by rank.  Two options may share one: they exclude each other. */
static size_t list_given(const cbi_command_line *line, bool verbose, cbi_opt *ret_given)
{
    size_t count = 0;
    for (int i = 0; i < OPT_COUNT; i++) {
        const cbi_option *option = &cbi_options[i];
        if (!line->values[i].given || !option->rank ||
            (!verbose && option->record != OPT_RECORD_ALWAYS))
            continue;
        size_t at = count++;
        for (; at && cbi_options[ret_given[at - 1]].rank > option->rank; at--)
            ret_given[at] = ret_given[at - 1];
        ret_given[at] = (cbi_opt)i;
    }
    return count;
}

const char *cbi_compose_tkinfo(cbi_ctx *ctx, const cbi_command_line *line, bool verbose)
{
    cbi_buf out = {0};
    if (verbose) {
        for (size_t i = 0; i < line->inputs.len; i++)
            cbi_buf_printf(ctx, &out, "%s%s", i ? "," : "", cbi_base_name(line->inputs.items[i]));
        cbi_buf_printf(ctx, &out, " ");
    }
    cbi_opt given[OPT_COUNT];
    const size_t count = list_given(line, verbose, given);
    for (size_t i = 0; i < count; i++)
        append_option(ctx, &out, given[i], &line->values[given[i]]);
    return cbi_buf_text(ctx, &out);
}
