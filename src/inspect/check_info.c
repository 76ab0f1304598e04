/* check: .nv.info and .nv.compat attributes. */
#include "inspect/check.h"
#include "format/eiattr.h"
#include "format/eicompat.h"

enum { INSTRUCTION = 16, KPARAM_SIZE = 12 };

/* What one stream says about the parameters of its function. */
typedef struct params {
    bool has_size, has_bank;
    uint32_t size;        /* CBANK_PARAM_SIZE */
    uint32_t bank_offset; /* PARAM_CBANK */
    uint32_t bank_size;
    uint32_t end;            /* of the last parameter */
    uint64_t ordinals[1024]; /* seen, one bit each */
} params;

typedef struct stream {
    uint32_t section;
    const cbi_section *s;
    bool mercury;
    bool module;
    uint32_t code; /* section with the function's code, 0 = none */
} stream;

static void check_offset(cbi_checker *c, const stream *st, const char *name, uint32_t offset,
                         uint64_t place)
{
    if (st->mercury || !st->code)
        return; /* Mercury offsets count another instruction stream */
    uint64_t size = c->o->sections[st->code].size;
    if (offset >= size || offset % INSTRUCTION)
        cbi_check_fail(c, CBI_CHECK_ATTR_OFFSET, st->section, place, NULL,
                       "%s: 0x%x is no instruction of the function's 0x%llx bytes", name, offset,
                       (unsigned long long)size);
}

static void check_offsets(cbi_checker *c, const stream *st, const cbi_attr *attr,
                          const cbi_eiattr *row, uint64_t place)
{
    size_t step = cbi_payload_step(row->payload);
    for (size_t at = 0; step && at + 4 <= attr->payload.size; at += step)
        check_offset(c, st, row->name, cbi_ld32(attr->payload.data + at), place);
}

static void note_param(cbi_checker *c, const stream *st, const cbi_attr *attr, params *p,
                       uint64_t place)
{
    if (attr->payload.size != KPARAM_SIZE)
        return;
    const uint8_t *b = attr->payload.data;
    uint32_t symbol = cbi_ld32(b), ordinal = cbi_ld16(b + 4), offset = cbi_ld16(b + 6);
    uint32_t size = attr->code == EIATTR_KPARAM_INFO_V2 ? cbi_ld16(b + 8) : cbi_ld32(b + 8) >> 18;
    uint64_t *word = &p->ordinals[ordinal / 64];
    uint64_t bit = UINT64_C(1) << (ordinal % 64);
    if (*word & bit)
        cbi_check_fail(c, CBI_CHECK_ATTR_PARAMS, st->section, place, NULL,
                       "parameter %u is described twice", ordinal);
    *word |= bit;
    if (symbol == 0 && offset + size > p->end)
        p->end = offset + size;
}

static void check_params(cbi_checker *c, const stream *st, const params *p)
{
    uint64_t place = st->s->offset;
    if (p->has_size && p->end > p->size)
        cbi_check_fail(c, CBI_CHECK_ATTR_PARAMS, st->section, place, NULL,
                       "parameters take %u bytes, the parameter area has %u", p->end, p->size);
    if (p->has_size && p->has_bank && p->size != p->bank_size)
        cbi_check_fail(c, CBI_CHECK_ATTR_PARAMS, st->section, place, NULL,
                       "the parameter area has %u bytes, in bank 0 it has %u", p->size,
                       p->bank_size);
    if (!p->has_bank || st->mercury || !st->code)
        return;
    const char *function = c->o->sections[st->code].name + strlen(".text.");
    uint32_t bank = cbi_check_find_only(c, cbi_printf(c->ctx, ".nv.constant0.%s", function));
    if (bank && c->o->sections[bank].size < (uint64_t)p->bank_offset + p->bank_size)
        cbi_check_fail(c, CBI_CHECK_ENTRY_PARAMS, bank, cbi_check_header(c, bank), function,
                       "0x%llx bytes do not hold the parameters, 0x%x at 0x%x",
                       (unsigned long long)c->o->sections[bank].size, p->bank_size, p->bank_offset);
}

/* Register counts and stack sizes: one per function. */
static void check_per_function(cbi_checker *c, const stream *st, const cbi_attr *attr,
                               const cbi_eiattr *row, uint8_t *seen, uint64_t place)
{
    enum { REGISTERS = 1, FRAME = 2, MIN_STACK = 4, MAX_STACK = 8 };
    uint8_t bit;
    switch (attr->code) {
    case EIATTR_REGCOUNT:
        bit = REGISTERS;
        break;
    case EIATTR_FRAME_SIZE:
        bit = FRAME;
        break;
    case EIATTR_MIN_STACK_SIZE:
        bit = MIN_STACK;
        break;
    case EIATTR_MAX_STACK_SIZE:
        bit = MAX_STACK;
        break;
    default:
        return;
    }
    uint32_t symbol = cbi_ld32(attr->payload.data);
    const cbi_symbol *s = &(st->mercury ? c->o->merc_symbols : c->o->symbols)[symbol];
    if (!symbol || CBI_ST_TYPE(s->info) != STT_FUNC) { /* there may be no table at all */
        cbi_check_fail(c, CBI_CHECK_ATTR_FUNCTION, st->section, place, NULL,
                       "%s: symbol %u is no function", row->name, symbol);
        return;
    }
    if (seen[symbol] & bit)
        cbi_check_fail(c, CBI_CHECK_ATTR_TWICE, st->section, place, s->name,
                       "%s is given twice for %s", row->name, s->name);
    seen[symbol] |= bit;
    /* what ptxas -ewp says of recursion within a kernel's code; nvlink -r keeps it */
    bool unbounded = bit == MIN_STACK && cbi_ld32(attr->payload.data + 4) == UINT32_MAX;
    if (bit == (c->executable ? MAX_STACK : MIN_STACK) && !c->legacy && !unbounded &&
        c->o->type != ET_CUDA_EWP)
        cbi_check_fail(c, CBI_CHECK_ATTR_STACK, st->section, place, s->name,
                       "%s in a file of this kind", row->name);
}

static void check_attr(cbi_checker *c, const stream *st, const cbi_attr *attr, params *p,
                       uint8_t *seen)
{
    uint64_t place = st->s->offset + (uint64_t)(attr->raw.data - st->s->data.data);
    const cbi_eiattr *row = cbi_eiattr_find(attr->code);
    if (!row) {
        cbi_check_fail(c, CBI_CHECK_ATTR_FORMAT, st->section, place, NULL,
                       "attribute 0x%02x is unknown", attr->code);
        return;
    }
    if (!cbi_eiattr_fits(row, attr->format, attr->payload.size)) {
        cbi_check_fail(c, CBI_CHECK_ATTR_FORMAT, st->section, place, NULL,
                       "%s has format %u with %zu payload bytes", row->name, attr->format,
                       attr->payload.size);
        return;
    }
    if (row->scope == (st->module ? CBI_SCOPE_FUNCTION : CBI_SCOPE_MODULE))
        cbi_check_fail(c, CBI_CHECK_ATTR_SCOPE, st->section, place, NULL, "%s in %s", row->name,
                       st->s->name);
    check_offsets(c, st, attr, row, place);
    check_per_function(c, st, attr, row, seen, place);
    switch (attr->code) {
    case EIATTR_KPARAM_INFO:
    case EIATTR_KPARAM_INFO_V2:
        note_param(c, st, attr, p, place);
        break;
    case EIATTR_CBANK_PARAM_SIZE:
        p->has_size = true;
        p->size = attr->value;
        break;
    case EIATTR_PARAM_CBANK:
        p->has_bank = true;
        p->bank_offset = cbi_ld16(attr->payload.data + 4);
        p->bank_size = cbi_ld16(attr->payload.data + 6);
        break;
    default:
        break;
    }
}

static void check_stream(cbi_checker *c, uint32_t i, params *p, uint8_t *seen)
{
    const cbi_section *s = &c->o->sections[i];
    stream st = {.section = i, .s = s, .mercury = s->type == SHT_CUDA_MERC_INFO};
    st.module = strcmp(s->name, ".nv.info") == 0 || strcmp(s->name, ".nv.merc.nv.info") == 0;
    /* only code sections: the slots of unified functions have no offsets */
    if (!st.module && !st.mercury && s->info < c->o->section_count &&
        strncmp(c->o->sections[s->info].name, ".text.", 6) == 0)
        st.code = s->info;
    memset(p, 0, sizeof *p);
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(s->data, &pos, &attr))
        check_attr(c, &st, &attr, p, seen);
    check_params(c, &st, p);
}

static void check_compat(cbi_checker *c, uint32_t i)
{
    const cbi_section *s = &c->o->sections[i];
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(s->data, &pos, &attr)) {
        const cbi_eicompat *row = cbi_eicompat_find(attr.code);
        if (!row || (row->format && row->format != attr.format))
            cbi_check_fail(c, CBI_CHECK_COMPAT, i,
                           s->offset + (uint64_t)(attr.raw.data - s->data.data), NULL,
                           "attribute 0x%02x with format %u", attr.code, attr.format);
    }
}

void cbi_check_attributes(cbi_checker *c)
{
    params *p = CBI_NEW(c->ctx, params);
    /* a symbol index means another thing in each view, and the streams are separate */
    uint8_t *seen = CBI_NEW_ARRAY(c->ctx, c->o->symbol_count + (size_t)1, uint8_t);
    uint8_t *merc_seen = CBI_NEW_ARRAY(c->ctx, c->o->merc_symbol_count + (size_t)1, uint8_t);
    for (uint32_t i = 1; i < c->o->section_count; i++) {
        uint32_t type = c->o->sections[i].type;
        if (type == SHT_CUDA_INFO)
            check_stream(c, i, p, seen);
        else if (type == SHT_CUDA_MERC_INFO)
            check_stream(c, i, p, merc_seen);
        else if (type == SHT_CUDA_COMPAT)
            check_compat(c, i);
    }
}
