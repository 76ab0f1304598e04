/* Parts of a dump: attributes, .nv.compat, notes. */
#include "dump.h"

#include <string.h>

static const char *format_name(cbi_store *t, cb_attr_format format)
{
    static const char *const names[] = {NULL, "none", "byte", "half", "sized"};
    return format >= CB_FORMAT_NONE && format <= CB_FORMAT_SIZED
               ? names[format]
               : cbi_store_printf(t, "%u", (unsigned)format);
}

static void add_words(cbi_store *t, cbi_node *row, const char *key, const cb_attribute *a, bool hex)
{
    cbi_node *list = cbi_node_add_array(t, row, key);
    for (size_t i = 0; i < a->word_count; i++)
        cbi_node_add(t, list, NULL, hex ? CBI_NODE_HEX : CBI_NODE_UINT)->u = a->words[i];
}

/* Records of n words. */
static void add_groups(cbi_store *t, cbi_node *row, const char *key, const cb_attribute *a,
                       size_t n)
{
    cbi_node *list = cbi_node_add_array(t, row, key);
    for (size_t i = 0; i + n <= a->word_count; i += n) {
        cbi_node *group = cbi_node_add_array(t, list, NULL);
        for (size_t k = 0; k < n; k++)
            cbi_node_hex(t, group, NULL, a->words[i + k]);
    }
}

static void add_param(cbi_store *t, const cb_param *p, cbi_node *row)
{
    cbi_node_uint(t, row, "ordinal", p->ordinal);
    cbi_node_hex(t, row, "offset", p->offset);
    cbi_node_uint(t, row, "size", p->size);
    cbi_node_uint(t, row, "log_align", p->log_align);
    cbi_node_string(t, row, "space", p->space);
    if (p->symbol)
        cbi_node_string(t, row, "symbol", p->symbol);
}

static void add_value(cbi_store *t, const cb_attribute *a, cbi_node *row)
{
    switch (a->layout) {
    case CB_ATTR_NOTHING:
        break;
    case CB_ATTR_NUMBER:
        cbi_node_uint(t, row, "value", a->number);
        break;
    case CB_ATTR_WORDS:
        add_words(t, row, "words", a, true);
        break;
    case CB_ATTR_DIM3:
        add_words(t, row, "xyz", a, false);
        break;
    case CB_ATTR_OFFSETS:
        add_words(t, row, "offsets", a, true);
        break;
    case CB_ATTR_SYMBOL_VALUE:
        cbi_node_string(t, row, "symbol", a->symbols[0]);
        cbi_node_uint(t, row, "value", a->number);
        break;
    case CB_ATTR_SYMBOLS: {
        cbi_node *list = cbi_node_add_array(t, row, "symbols");
        for (size_t i = 0; i < a->symbol_count; i++)
            cbi_node_string(t, list, NULL, a->symbols[i]);
        break;
    }
    case CB_ATTR_OFFSET_PAIRS:
        add_groups(t, row, "pairs", a, 2);
        break;
    case CB_ATTR_PARAM_BANK:
        cbi_node_string(t, row, "symbol", a->symbols[0]);
        cbi_node_hex(t, row, "offset", a->param.offset);
        cbi_node_uint(t, row, "size", a->param.size);
        break;
    case CB_ATTR_PARAM:
        add_param(t, &a->param, row);
        break;
    case CB_ATTR_BRANCH_TARGETS:
        cbi_node_hex(t, row, "branch", a->number);
        add_words(t, row, "targets", a, true);
        break;
    case CB_ATTR_REGISTER_MAPS:
        add_groups(t, row, "maps", a, 3);
        break;
    case CB_ATTR_MBARRIERS:
        add_groups(t, row, "mbarriers", a, 4);
        break;
    case CB_ATTR_ANNOTATION:
        cbi_node_uint(t, row, "kind", a->number);
        if (a->text)
            cbi_node_string(t, row, "text", a->text);
        else
            cbi_node_string(t, row, "bytes", cbi_hex(t, a->data, a->data_size));
        break;
    case CB_ATTR_OPAQUE:
        cbi_node_string(t, row, "bytes", cbi_hex(t, a->data, a->data_size));
        break;
    }
}

static bool is_info(const cb_section *s)
{
    return s->type_name &&
           (strcmp(s->type_name, "CUDA_INFO") == 0 || strcmp(s->type_name, "CUDA_MERC_INFO") == 0);
}

cbi_node *cbi_dump_info(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_attribute_count(image), at = 0;
    size_t sections = cb_image_section_count(image);
    for (size_t i = 1; i < sections; i++) {
        const cb_section *s = cb_image_section(image, i);
        if (!is_info(s))
            continue;
        cbi_node *n = cbi_node_add_object(t, list, NULL);
        cbi_node_string(t, n, "section", s->name);
        cbi_node *rows = cbi_node_add_array(t, n, "attributes");
        for (; at < count && cb_image_attribute(image, at)->section == i; at++) {
            const cb_attribute *a = cb_image_attribute(image, at);
            cbi_node *row = cbi_node_add_object(t, rows, NULL);
            cbi_node_hex(t, row, "at", a->at);
            cbi_node_hex(t, row, "code", a->code);
            cbi_node_string(t, row, "name", a->name);
            cbi_node_string(t, row, "format", format_name(t, a->format));
            add_value(t, a, cbi_node_add_object(t, row, "value"));
        }
    }
    return list;
}

cbi_node *cbi_dump_compat(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_compat_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_compat *c = cb_image_compat(image, i);
        cbi_node *n = cbi_node_add_object(t, list, NULL);
        cbi_node_hex(t, n, "id", c->id);
        cbi_node_string(t, n, "name", c->name);
        cbi_node_string(t, n, "format", format_name(t, c->format));
        cbi_node_hex(t, n, "value", c->value);
    }
    return list;
}

cbi_node *cbi_dump_notes(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_note_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_note *note = cb_image_note(image, i);
        cbi_node *n = cbi_node_add_object(t, list, NULL);
        cbi_node_string(t, n, "section", cbi_section_name(t, image, note->section));
        cbi_node_uint(t, n, "type", note->type);
        cbi_node_string(t, n, "owner", note->owner);
        cbi_node *value = cbi_node_add_object(t, n, "value");
        switch (note->kind) {
        case CB_NOTE_TOOL:
            cbi_node_uint(t, value, "version", note->version);
            cbi_node_string(t, value, "object", note->object);
            cbi_node_string(t, value, "tool", note->tool);
            cbi_node_string(t, value, "tool_version", note->tool_version);
            cbi_node_string(t, value, "build", note->build);
            cbi_node_string(t, value, "options", note->options);
            break;
        case CB_NOTE_TARGET:
            cbi_node_uint(t, value, "version", note->version);
            cbi_node_uint(t, value, "virtual_sm", note->virtual_sm);
            cbi_node_uint(t, value, "toolkit", note->toolkit);
            break;
        case CB_NOTE_OTHER:
            cbi_node_string(t, value, "bytes", cbi_hex(t, note->data, note->data_size));
            break;
        }
    }
    return list;
}
