/* Tables of inspect.h: attributes and .nv.compat. */
#include "inspect/image.h"

#include "format/eiattr.h"
#include "format/eicompat.h"

static uint32_t word(const cbi_attr *attr, size_t i)
{
    return i < attr->payload.size / 4 ? cbi_ld32(attr->payload.data + 4 * i) : 0;
}

static const char *space_name(uint32_t space)
{
    static const char *const names[] = {"none",    "local",   "shared",  "const",  "global",
                                        "generic", "texture", "surface", "sampler"};
    return space < CBI_COUNT(names) ? names[space] : "unknown";
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

static cb_attr_layout layout_of(uint8_t payload)
{
    static const uint8_t layouts[] = {
        [CBI_PAYLOAD_OPAQUE] = CB_ATTR_OPAQUE,
        [CBI_PAYLOAD_NONE] = CB_ATTR_OPAQUE,
        [CBI_PAYLOAD_NUMBER] = CB_ATTR_OPAQUE,
        [CBI_PAYLOAD_WORDS] = CB_ATTR_WORDS,
        [CBI_PAYLOAD_DIM3] = CB_ATTR_DIM3,
        [CBI_PAYLOAD_SYM_VALUE] = CB_ATTR_SYMBOL_VALUE,
        [CBI_PAYLOAD_SYMBOLS] = CB_ATTR_SYMBOLS,
        [CBI_PAYLOAD_OFFSETS] = CB_ATTR_OFFSETS,
        [CBI_PAYLOAD_OFFSET_PAIRS] = CB_ATTR_OFFSET_PAIRS,
        [CBI_PAYLOAD_PARAM_CBANK] = CB_ATTR_PARAM_BANK,
        [CBI_PAYLOAD_KPARAM] = CB_ATTR_PARAM,
        [CBI_PAYLOAD_KPARAM_V2] = CB_ATTR_PARAM,
        [CBI_PAYLOAD_BRANCH_TARGETS] = CB_ATTR_BRANCH_TARGETS,
        [CBI_PAYLOAD_MBARRIERS] = CB_ATTR_MBARRIERS,
        [CBI_PAYLOAD_REG_MAPS] = CB_ATTR_REGISTER_MAPS,
        [CBI_PAYLOAD_ANNOTATION] = CB_ATTR_ANNOTATION,
    };
    return payload < CBI_COUNT(layouts) ? (cb_attr_layout)layouts[payload] : CB_ATTR_OPAQUE;
}

/* Words from the first one on, as many as make whole records. */
static void read_words(cbi_ctx *ctx, const cbi_attr *attr, size_t first, size_t record,
                       cb_attribute *a)
{
    size_t count = attr->payload.size / 4;
    count = count > first ? (count - first) / record * record : 0;
    uint32_t *words = CBI_NEW_ARRAY(ctx, count, uint32_t);
    for (size_t i = 0; i < count; i++)
        words[i] = word(attr, first + i);
    a->words = words;
    a->word_count = count;
}

static void read_symbols(cbi_ctx *ctx, const cbi_object *o, bool mercury, const cbi_attr *attr,
                         size_t count, cb_attribute *a)
{
    const char **names = CBI_NEW_ARRAY(ctx, count, const char *);
    for (size_t i = 0; i < count; i++)
        names[i] = cbi_show_symbol(ctx, o, mercury, word(attr, i));
    a->symbols = names;
    a->symbol_count = count;
}

static void read_param(cbi_ctx *ctx, const cbi_object *o, bool mercury, const cbi_attr *attr,
                       bool v2, cb_param *ret_param)
{
    const uint8_t *p = attr->payload.data;
    uint32_t symbol = cbi_ld32(p), packed = cbi_ld32(p + 8);
    *ret_param = (cb_param){
        .ordinal = cbi_ld16(p + 4),
        .offset = cbi_ld16(p + 6),
        .size = v2 ? cbi_ld16(p + 8) : packed >> 18,
        .log_align = v2 ? p[10] : packed & 0xff,
        .space = space_name(v2 ? p[11] : packed >> 8 & 15),
        .symbol = symbol ? cbi_show_symbol(ctx, o, mercury, symbol) : NULL,
    };
}

static void read_annotation(cbi_ctx *ctx, const cbi_attr *attr, cb_attribute *a)
{
    uint32_t len = word(attr, 1);
    cbi_span text;
    a->number = word(attr, 0);
    if (cbi_subspan(attr->payload, 8, len, &text))
        a->text = cbi_strndup(ctx, (const char *)text.data, strnlen((const char *)text.data, len));
}

/* Contents of the sized format. */
static void read_payload(cbi_ctx *ctx, const cbi_object *o, bool mercury, const cbi_attr *attr,
                         uint8_t payload, cb_attribute *a)
{
    a->data = attr->payload.data;
    a->data_size = attr->payload.size;
    a->layout = layout_of(attr->payload.size < payload_min(payload) ? CBI_PAYLOAD_OPAQUE : payload);
    switch (a->layout) {
    case CB_ATTR_WORDS:
    case CB_ATTR_DIM3:
    case CB_ATTR_OFFSETS:
        read_words(ctx, attr, 0, 1, a);
        break;
    case CB_ATTR_OFFSET_PAIRS:
        read_words(ctx, attr, 0, 2, a);
        break;
    case CB_ATTR_REGISTER_MAPS:
        read_words(ctx, attr, 0, 3, a);
        break;
    case CB_ATTR_MBARRIERS:
        read_words(ctx, attr, 0, 4, a);
        break;
    case CB_ATTR_BRANCH_TARGETS:
        a->number = word(attr, 0);
        read_words(ctx, attr, 3, 1, a);
        break;
    case CB_ATTR_SYMBOL_VALUE:
        read_symbols(ctx, o, mercury, attr, 1, a);
        a->number = word(attr, 1);
        break;
    case CB_ATTR_SYMBOLS:
        read_symbols(ctx, o, mercury, attr, attr->payload.size / 4, a);
        break;
    case CB_ATTR_PARAM_BANK:
        read_symbols(ctx, o, mercury, attr, 1, a);
        a->param.offset = cbi_ld16(attr->payload.data + 4);
        a->param.size = cbi_ld16(attr->payload.data + 6);
        break;
    case CB_ATTR_PARAM:
        read_param(ctx, o, mercury, attr, payload == CBI_PAYLOAD_KPARAM_V2, &a->param);
        break;
    case CB_ATTR_ANNOTATION:
        read_annotation(ctx, attr, a);
        break;
    default:
        break;
    }
}

void cbi_attribute_read(cbi_ctx *ctx, const cbi_object *o, bool mercury, const cbi_attr *attr,
                        cb_attribute *a)
{
    const cbi_eiattr *known = cbi_eiattr_find(attr->code);
    *a = (cb_attribute){
        .code = attr->code,
        .name = known ? known->name : NULL,
        .format = (cb_attr_format)attr->format,
        .layout = attr->format == CBI_ATTR_NONE ? CB_ATTR_NOTHING : CB_ATTR_NUMBER,
        .view = mercury ? CB_VIEW_MERCURY : CB_VIEW_SASS,
        .number = attr->format == CBI_ATTR_NONE ? 0 : attr->value,
    };
    if (attr->format == CBI_ATTR_SIZED) {
        a->number = 0;
        read_payload(ctx, o, mercury, attr, known ? known->payload : CBI_PAYLOAD_OPAQUE, a);
    }
}

/* ---- text ---- */

/* Words in groups in brackets, or one after the other. */
static void put_words(cbi_ctx *ctx, const cb_attribute *a, size_t group, bool hex, cbi_buf *out)
{
    for (size_t i = 0; i < a->word_count; i++) {
        bool first = group > 1 && i % group == 0, last = group > 1 && (i + 1) % group == 0;
        cbi_buf_printf(ctx, out, hex ? "%s%s0x%x%s" : "%s%s%u%s", i ? " " : "", first ? "(" : "",
                       a->words[i], last ? ")" : "");
    }
}

static void put_bytes(cbi_ctx *ctx, const cb_attribute *a, cbi_buf *out)
{
    const uint8_t *data = a->data;
    cbi_buf_printf(ctx, out, "bytes=");
    for (size_t i = 0; i < a->data_size; i++)
        cbi_buf_printf(ctx, out, "%02x", data[i]);
}

static void put_param(cbi_ctx *ctx, const cb_param *p, cbi_buf *out)
{
    cbi_buf_printf(ctx, out, "ordinal=%u offset=0x%x size=%u log_align=%u space=%s", p->ordinal,
                   p->offset, p->size, p->log_align, p->space);
    if (p->symbol)
        cbi_buf_printf(ctx, out, " symbol=%s", p->symbol);
}

void cbi_attribute_text(cbi_ctx *ctx, const cb_attribute *a, cbi_buf *out)
{
    switch (a->layout) {
    case CB_ATTR_NOTHING:
        break;
    case CB_ATTR_NUMBER:
        cbi_buf_printf(ctx, out, "value=%llu", (unsigned long long)a->number);
        break;
    case CB_ATTR_WORDS:
    case CB_ATTR_OFFSETS:
        put_words(ctx, a, 1, true, out);
        break;
    case CB_ATTR_DIM3:
        put_words(ctx, a, 1, false, out);
        break;
    case CB_ATTR_OFFSET_PAIRS:
        put_words(ctx, a, 2, true, out);
        break;
    case CB_ATTR_REGISTER_MAPS:
        put_words(ctx, a, 3, true, out);
        break;
    case CB_ATTR_MBARRIERS:
        put_words(ctx, a, 4, true, out);
        break;
    case CB_ATTR_BRANCH_TARGETS:
        cbi_buf_printf(ctx, out, "branch=0x%llx ", (unsigned long long)a->number);
        put_words(ctx, a, 1, true, out);
        break;
    case CB_ATTR_SYMBOL_VALUE:
        cbi_buf_printf(ctx, out, "symbol=%s value=%llu", a->symbols[0],
                       (unsigned long long)a->number);
        break;
    case CB_ATTR_SYMBOLS:
        for (size_t i = 0; i < a->symbol_count; i++)
            cbi_buf_printf(ctx, out, "%s%s", i ? " " : "", a->symbols[i]);
        break;
    case CB_ATTR_PARAM_BANK:
        cbi_buf_printf(ctx, out, "symbol=%s offset=0x%x size=%u", a->symbols[0], a->param.offset,
                       a->param.size);
        break;
    case CB_ATTR_PARAM:
        put_param(ctx, &a->param, out);
        break;
    case CB_ATTR_ANNOTATION:
        cbi_buf_printf(ctx, out, "kind=%llu ", (unsigned long long)a->number);
        if (a->text)
            cbi_buf_printf(ctx, out, "text=%s", a->text);
        else
            put_bytes(ctx, a, out);
        break;
    case CB_ATTR_OPAQUE:
        put_bytes(ctx, a, out);
        break;
    }
}

/* ---- tables ---- */

/* The symbol of the function that an attribute section is about. */
static uint32_t owner_of(const cbi_object *o, const cbi_section *s)
{
    if (s->info == 0 || s->info >= o->section_count)
        return CB_NONE;
    const cbi_section *text = &o->sections[s->info];
    bool mercury = cbi_section_is_mercury(s);
    uint32_t symbol = text->flags & SHF_EXECINSTR ? CUDA_TEXT_SYMBOL(text->info) : text->info;
    uint32_t count = mercury ? o->merc_symbol_count : o->symbol_count;
    return symbol && symbol < count ? symbol : CB_NONE;
}

static bool is_info(const cbi_section *s)
{
    return s->type == SHT_CUDA_INFO || s->type == SHT_CUDA_MERC_INFO;
}

static void make_attributes(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    CBI_VEC(cb_attribute) rows = {0};
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        size_t pos = 0;
        cbi_attr attr;
        while (is_info(s) && cbi_attr_next(s->data, &pos, &attr)) {
            cb_attribute *a = cbi_vec_add(&image->ctx, &rows);
            cbi_attribute_read(&image->ctx, o, cbi_section_is_mercury(s), &attr, a);
            a->section = i;
            a->function = owner_of(o, s);
            a->at = (uint64_t)(attr.raw.data - s->data.data);
        }
    }
    table->rows = rows.items;
    table->count = rows.len;
}

size_t cb_image_attribute_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_ATTRIBUTES, make_attributes)->count;
}

const cb_attribute *cb_image_attribute(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_ATTRIBUTES, make_attributes),
                         cb_attribute, index);
}

static void make_compat(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    CBI_VEC(cb_compat) rows = {0};
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        size_t pos = 0;
        cbi_attr attr;
        while (s->type == SHT_CUDA_COMPAT && cbi_attr_next(s->data, &pos, &attr)) {
            const cbi_eicompat *known = cbi_eicompat_find(attr.code);
            cb_compat *row = cbi_vec_add(&image->ctx, &rows);
            *row = (cb_compat){attr.code, known ? known->name : NULL, (cb_attr_format)attr.format,
                               cbi_compat_value(&attr)};
        }
    }
    table->rows = rows.items;
    table->count = rows.len;
}

size_t cb_image_compat_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_COMPAT, make_compat)->count;
}

const cb_compat *cb_image_compat(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_COMPAT, make_compat), cb_compat, index);
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
