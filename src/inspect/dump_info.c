/* dump: attribute streams, .nv.compat and notes. */
#include "inspect/inspect.h"
#include "format/eiattr.h"
#include "format/eicompat.h"

static const char *format_name(cbi_ctx *ctx, uint8_t format)
{
    static const char *const names[] = {NULL, "none", "byte", "half", "sized"};
    return format < CBI_COUNT(names) && names[format] ? names[format]
                                                      : cbi_printf(ctx, "%u", format);
}

static uint32_t word(const cbi_attr *attr, size_t i)
{
    return i < attr->payload.size / 4 ? cbi_ld32(attr->payload.data + 4 * i) : 0;
}

static void add_words(cbi_ctx *ctx, cbi_node *row, const char *key, const cbi_attr *attr,
                      size_t first, size_t step, bool hex)
{
    cbi_node *list = cbi_node_add_array(ctx, row, key);
    for (size_t i = first; i < attr->payload.size / 4; i += step)
        cbi_node_add(ctx, list, NULL, hex ? CBI_NODE_HEX : CBI_NODE_UINT)->u = word(attr, i);
}

static void add_bytes(cbi_ctx *ctx, cbi_node *row, cbi_span bytes)
{
    cbi_buf buf = {0};
    for (size_t i = 0; i < bytes.size; i++)
        cbi_buf_printf(ctx, &buf, "%02x", bytes.data[i]);
    cbi_buf_append(ctx, &buf, "", 1);
    cbi_node_string(ctx, row, "bytes", (const char *)buf.items);
}

/* Records of n words. */
static void add_groups(cbi_ctx *ctx, cbi_node *row, const char *key, const cbi_attr *attr, size_t n)
{
    cbi_node *list = cbi_node_add_array(ctx, row, key);
    for (size_t i = 0; i + n <= attr->payload.size / 4; i += n) {
        cbi_node *group = cbi_node_add_array(ctx, list, NULL);
        for (size_t k = 0; k < n; k++)
            cbi_node_hex(ctx, group, NULL, word(attr, i + k));
    }
}

static const char *space_name(uint32_t space)
{
    static const char *const names[] = {"none",    "local",   "shared",  "const",  "global",
                                        "generic", "texture", "surface", "sampler"};
    return space < CBI_COUNT(names) ? names[space] : "unknown";
}

static void add_param(cbi_ctx *ctx, const cbi_object *o, bool mercury, const cbi_attr *attr,
                      bool v2, cbi_node *row)
{
    const uint8_t *p = attr->payload.data;
    uint32_t symbol = cbi_ld32(p), packed = cbi_ld32(p + 8);
    cbi_node_uint(ctx, row, "ordinal", cbi_ld16(p + 4));
    cbi_node_hex(ctx, row, "offset", cbi_ld16(p + 6));
    cbi_node_uint(ctx, row, "size", v2 ? cbi_ld16(p + 8) : packed >> 18);
    cbi_node_uint(ctx, row, "log_align", v2 ? p[10] : packed & 0xff);
    cbi_node_string(ctx, row, "space", space_name(v2 ? p[11] : packed >> 8 & 15));
    if (symbol)
        cbi_node_string(ctx, row, "symbol", cbi_show_symbol(ctx, o, mercury, symbol));
}

static void add_annotation(cbi_ctx *ctx, const cbi_attr *attr, cbi_node *row)
{
    uint32_t len = word(attr, 1);
    cbi_span text;
    cbi_node_uint(ctx, row, "kind", word(attr, 0));
    if (cbi_subspan(attr->payload, 8, len, &text))
        cbi_node_string(
            ctx, row, "text",
            cbi_strndup(ctx, (const char *)text.data, strnlen((const char *)text.data, len)));
    else
        add_bytes(ctx, row, attr->payload);
}

/* Bytes a payload of this kind must at least have. */
static size_t payload_min(uint8_t payload)
{
    switch (payload) {
    case CBI_PAYLOAD_DIM3:
    case CBI_PAYLOAD_KPARAM:
    case CBI_PAYLOAD_KPARAM_V2:
    case CBI_PAYLOAD_BRANCH_TARGETS:
        return 12;
    case CBI_PAYLOAD_SYM_VALUE:
    case CBI_PAYLOAD_PARAM_CBANK:
    case CBI_PAYLOAD_ANNOTATION:
        return 8;
    default:
        return 0;
    }
}

static void add_payload(cbi_ctx *ctx, const cbi_object *o, bool mercury, const cbi_attr *attr,
                        uint8_t payload, cbi_node *row)
{
    const uint8_t *p = attr->payload.data;
    if (attr->payload.size < payload_min(payload))
        payload = CBI_PAYLOAD_OPAQUE;
    switch (payload) {
    case CBI_PAYLOAD_WORDS:
        add_words(ctx, row, "words", attr, 0, 1, true);
        break;
    case CBI_PAYLOAD_DIM3:
        add_words(ctx, row, "xyz", attr, 0, 1, false);
        break;
    case CBI_PAYLOAD_SYM_VALUE:
        cbi_node_string(ctx, row, "symbol", cbi_show_symbol(ctx, o, mercury, word(attr, 0)));
        cbi_node_uint(ctx, row, "value", word(attr, 1));
        break;
    case CBI_PAYLOAD_SYMBOLS: {
        cbi_node *list = cbi_node_add_array(ctx, row, "symbols");
        for (size_t i = 0; i < attr->payload.size / 4; i++)
            cbi_node_string(ctx, list, NULL, cbi_show_symbol(ctx, o, mercury, word(attr, i)));
        break;
    }
    case CBI_PAYLOAD_OFFSETS:
        add_words(ctx, row, "offsets", attr, 0, 1, true);
        break;
    case CBI_PAYLOAD_OFFSET_PAIRS:
        add_groups(ctx, row, "pairs", attr, 2);
        break;
    case CBI_PAYLOAD_PARAM_CBANK:
        cbi_node_string(ctx, row, "symbol", cbi_show_symbol(ctx, o, mercury, cbi_ld32(p)));
        cbi_node_hex(ctx, row, "offset", cbi_ld16(p + 4));
        cbi_node_uint(ctx, row, "size", cbi_ld16(p + 6));
        break;
    case CBI_PAYLOAD_KPARAM:
    case CBI_PAYLOAD_KPARAM_V2:
        add_param(ctx, o, mercury, attr, payload == CBI_PAYLOAD_KPARAM_V2, row);
        break;
    case CBI_PAYLOAD_BRANCH_TARGETS:
        cbi_node_hex(ctx, row, "branch", word(attr, 0));
        add_words(ctx, row, "targets", attr, 3, 1, true);
        break;
    case CBI_PAYLOAD_REG_MAPS:
        add_groups(ctx, row, "maps", attr, 3);
        break;
    case CBI_PAYLOAD_MBARRIERS:
        add_groups(ctx, row, "mbarriers", attr, 4);
        break;
    case CBI_PAYLOAD_ANNOTATION:
        add_annotation(ctx, attr, row);
        break;
    default:
        add_bytes(ctx, row, attr->payload);
        break;
    }
}

void cbi_dump_attr(cbi_ctx *ctx, const cbi_object *o, bool mercury, const cbi_attr *attr,
                   cbi_node *row)
{
    const cbi_eiattr *known = cbi_eiattr_find(attr->code);
    if (attr->format == CBI_ATTR_SIZED)
        add_payload(ctx, o, mercury, attr, known ? known->payload : CBI_PAYLOAD_OPAQUE, row);
    else if (attr->format != CBI_ATTR_NONE)
        cbi_node_uint(ctx, row, "value", attr->value);
}

static void attr_rows(cbi_ctx *ctx, const cbi_object *o, const cbi_section *s, cbi_node *list)
{
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(s->data, &pos, &attr)) {
        const cbi_eiattr *known = cbi_eiattr_find(attr.code);
        cbi_node *n = cbi_node_add_object(ctx, list, NULL);
        cbi_node_hex(ctx, n, "at", (uint64_t)(attr.raw.data - s->data.data));
        cbi_node_hex(ctx, n, "code", attr.code);
        cbi_node_string(ctx, n, "name", known ? known->name : NULL);
        cbi_node_string(ctx, n, "format", format_name(ctx, attr.format));
        cbi_dump_attr(ctx, o, cbi_section_is_mercury(s), &attr,
                      cbi_node_add_object(ctx, n, "value"));
    }
}

cbi_node *cbi_dump_info(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_node *list = cbi_node_array(ctx);
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (s->type != SHT_CUDA_INFO && s->type != SHT_CUDA_MERC_INFO)
            continue;
        cbi_node *n = cbi_node_add_object(ctx, list, NULL);
        cbi_node_string(ctx, n, "section", s->name);
        attr_rows(ctx, o, s, cbi_node_add_array(ctx, n, "attributes"));
    }
    return list;
}

uint64_t cbi_compat_value(const cbi_attr *attr)
{
    if (attr->format != CBI_ATTR_SIZED)
        return attr->value;
    uint64_t value = 0;
    for (size_t k = attr->payload.size < 8 ? attr->payload.size : 8; k > 0; k--)
        value = value << 8 | attr->payload.data[k - 1];
    return value;
}

cbi_node *cbi_dump_compat(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_node *list = cbi_node_array(ctx);
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        size_t pos = 0;
        cbi_attr attr;
        while (s->type == SHT_CUDA_COMPAT && cbi_attr_next(s->data, &pos, &attr)) {
            const cbi_eicompat *known = cbi_eicompat_find(attr.code);
            cbi_node *n = cbi_node_add_object(ctx, list, NULL);
            cbi_node_hex(ctx, n, "id", attr.code);
            cbi_node_string(ctx, n, "name", known ? known->name : NULL);
            cbi_node_string(ctx, n, "format", format_name(ctx, attr.format));
            cbi_node_hex(ctx, n, "value", cbi_compat_value(&attr));
        }
    }
    return list;
}

static void note_row(cbi_ctx *ctx, const cbi_section *s, const cbi_note *note, cbi_node *list)
{
    cbi_node *n = cbi_node_add_object(ctx, list, NULL);
    cbi_node_string(ctx, n, "section", s->name);
    cbi_node_uint(ctx, n, "type", note->type);
    const char *owner = cbi_span_string(note->owner, 0);
    cbi_node_string(ctx, n, "owner", owner);
    cbi_node *value = cbi_node_add_object(ctx, n, "value");
    cbi_tkinfo tk;
    if (note->type == NT_CUDA_TKINFO && cbi_tkinfo_read(note->desc, &tk)) {
        cbi_node_uint(ctx, value, "version", tk.version);
        cbi_node_string(ctx, value, "object", tk.object_name);
        cbi_node_string(ctx, value, "tool", tk.tool);
        cbi_node_string(ctx, value, "tool_version", tk.tool_version);
        cbi_node_string(ctx, value, "build", tk.build);
        cbi_node_string(ctx, value, "options", tk.options);
    } else if (note->type == NT_CUDA_CUINFO && note->desc.size >= 8) {
        cbi_node_uint(ctx, value, "version", cbi_ld16(note->desc.data));
        cbi_node_uint(ctx, value, "virtual_sm", cbi_ld16(note->desc.data + 2));
        cbi_node_uint(ctx, value, "toolkit", cbi_ld32(note->desc.data + 4));
    } else {
        add_bytes(ctx, value, note->desc);
    }
}

cbi_node *cbi_dump_notes(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_node *list = cbi_node_array(ctx);
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        size_t pos = 0;
        cbi_note note;
        while (s->type == SHT_NOTE && cbi_note_next(s->data, &pos, &note))
            note_row(ctx, s, &note, list);
    }
    return list;
}
