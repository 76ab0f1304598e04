/* The tool note: looks for an earlier linker, and names the target, input and output there. */
#include "finalize/fnlzr_engine.h"

static bool is_linker(const char *tool)
{
    return strcmp(tool, "nvlink") == 0 || strcmp(tool, "nvJIT API") == 0;
}

/* The first linker's note; false if there is none.  A linker can call itself anything, but its note
 * is the first one, and the compiler's alone is named after that. */
static bool find_note(const cbi_object *o, uint32_t *ret_section, cbi_note *ret_note,
                      cbi_tkinfo *ret_info)
{
    *ret_section = cbi_object_find(o, ".note.nv.tkinfo");
    size_t pos = 0;
    while (*ret_section && cbi_note_next(o->sections[*ret_section].data, &pos, ret_note)) {
        if (ret_note->type != NT_CUDA_TKINFO || !cbi_tkinfo_read(ret_note->desc, ret_info))
            continue;
        bool alone = pos >= o->sections[*ret_section].data.size;
        if (is_linker(ret_info->tool) ||
            (ret_note->offset == 0 && !(alone && strcmp(ret_info->tool, "ptxas") == 0)))
            return true;
    }
    return false;
}

bool cbi_fnlzr_is_linked(const cbi_object *o)
{
    uint32_t section;
    cbi_note note;
    cbi_tkinfo info;
    return find_note(o, &section, &note, &info);
}

/* The option's value in a command line that starts at a word: "-o NAME", "-arch sm_NN". */
static const char *find_value(const char *options, const char *option)
{
    for (const char *at = options; (at = strstr(at, option)); at++)
        if (at == options || at[-1] == ' ')
            return at + strlen(option);
    return NULL;
}

static void append_replaced(cbi_ctx *ctx, cbi_buf *out, const char *options, const char *value,
                            const char *with)
{
    cbi_buf_append(ctx, out, options, (size_t)(value - options));
    cbi_buf_printf(ctx, out, "%s%s", with, value + strcspn(value, " "));
}

/* The command line as a link for the target would have left it. */
static const char *new_options(const cbi_fnlzr_state *f, const char *options)
{
    cbi_buf out = {0};
    const char *value = find_value(options, "-arch ");
    if (value) {
        append_replaced(f->ctx, &out, options, value, f->config.target->name);
        options = cbi_buf_text(f->ctx, &out);
    }
    if (!f->config.verbose_tkinfo || !f->config.output_name)
        return options;
    cbi_buf named = {0};
    const char *output = cbi_base_name(f->config.output_name);
    value = find_value(options, "-o ");
    if (value)
        append_replaced(f->ctx, &named, options, value, output);
    else
        cbi_buf_printf(f->ctx, &named, "%s -o %s %s", cbi_base_name(f->name), output, options);
    return cbi_buf_text(f->ctx, &named);
}

void cbi_fnlzr_tkinfo(cbi_fnlzr_state *f)
{
    cbi_object now;
    uint32_t section;
    cbi_note note;
    cbi_tkinfo info;
    if (!cbi_fnlzr_reread(f, &now))
        return;
    cbi_buf bytes = {0};
    size_t rest = 0;
    if (find_note(&now, &section, &note, &info)) {
        const cbi_section *s = &now.sections[section];
        cbi_buf_append(f->ctx, &bytes, s->data.data, note.offset);
        rest = (size_t)(note.desc.data - s->data.data) + cbi_align_up(note.desc.size, 4);
    } else if (section && f->config.verbose_tkinfo && f->config.output_name && f->config.identity) {
        info = *f->config.identity;
        info.options = cbi_printf(f->ctx, "-arch %s ", f->config.target->name);
    } else {
        return;
    }
    info.options = new_options(f, info.options);
    if (f->config.verbose_tkinfo && f->config.output_name)
        info.object_name = cbi_base_name(f->config.output_name);
    cbi_tkinfo_append(f->ctx, &bytes, &info);
    const cbi_span old = now.sections[section].data;
    if (rest < old.size)
        cbi_buf_append(f->ctx, &bytes, old.data + rest, old.size - rest);
    bool done =
        cbi_fnlzr_replace(f->ctx, &now, section, (cbi_span){bytes.items, bytes.len}, &f->out);
    cbi_fnlzr_trace(f, "FNLZR: tool note: %s", done ? info.options : "left as it is");
}
