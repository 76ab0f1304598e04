/* Capsules of early compilers in the form of today. */
#include "capsule/early.h"

#include "capsule/capsule.h"
#include "sass/opcodes.h"

enum {
    EARLY_HEADER = 8,
    VERSION_WORD = (int)0xc0000001,
    SHORT_FORM = 4,
    NO_REGISTER = 255,
};

/* When the short record of an instruction goes: the Mercury form follows from SASS. */
typedef enum follows {
    ALWAYS,
    WITH_PREDICATE, /* a comparison whose input predicate is none has a shorter form */
    WITH_THIRD,     /* an addition without a third operand, too */
} follows;

/* Class and encodings of the short records that go; the others stay. */
static const struct {
    uint8_t klass, follows;
    uint8_t encodings[12]; /* up to the first 0 that is not the first */
} leaving[] = {
    {0x04, ALWAYS, {0x08, 0x0a}},
    {0x05, ALWAYS, {0x02}},
    {0x08, ALWAYS, {0x00, 0x02, 0x04}},
    {0x09, ALWAYS, {0x00, 0x02, 0x04}},
    {0x0b, ALWAYS, {0x08, 0x16, 0x18, 0x1a, 0x1c, 0x1e}},
    {0x0c, ALWAYS, {0x30, 0x32, 0x34, 0x38, 0x3c, 0x3e, 0x40, 0x42, 0x44, 0x46, 0x48}},
    {0x0d, ALWAYS, {0x26}},
    {0x10, ALWAYS, {0x38, 0x3c, 0x42, 0x44, 0x46}},
    {0x10, WITH_PREDICATE, {0x2e, 0x30, 0x32}},
    {0x11, ALWAYS, {0x00}},
    {0x12, ALWAYS, {0x48, 0x82, 0xd2}},
    {0x15, ALWAYS, {0x00}},
    {0x17, ALWAYS, {0x22}},
    {0x19, ALWAYS, {0x08, 0x0a}},
    {0x1d, ALWAYS, {0x12, 0x16}},
    {0x1d, WITH_THIRD, {0x08, 0x0c}},
    {0x20, ALWAYS, {0x0c, 0x10, 0x14, 0x16, 0x20, 0x22, 0x24, 0x26, 0x28, 0x2a}},
    {0x20, ALWAYS, {0x3c, 0x40, 0x42, 0x44}},
    {0x22, ALWAYS, {0x1e}},
    {0x25, ALWAYS, {0x00, 0x06, 0x0e, 0x18, 0x3a, 0x3e}},
    {0x27, ALWAYS, {0x04}},
    {0x28, ALWAYS, {0x00, 0x08}},
    {0x2f, ALWAYS, {0x00}},
    {0x30, ALWAYS, {0x06}},
    {0x35, ALWAYS, {0x02, 0x0c}},
    {0x36, ALWAYS, {0x02, 0x08}},
    {0x37, ALWAYS, {0x02, 0x06}},
    {0x43, ALWAYS, {0x04, 0x06}},
    {0x4b, ALWAYS, {0x02, 0x04, 0x06}},
    {0x4c, ALWAYS, {0x00}},
};

static bool has_encoding(const uint8_t *encodings, uint8_t encoding)
{
    for (size_t i = 0; i < sizeof leaving->encodings && (i == 0 || encodings[i]); i++)
        if (encodings[i] == encoding)
            return true;
    return false;
}

static bool leaves(const uint8_t *record, cbi_sass w)
{
    for (size_t i = 0; i < CBI_COUNT(leaving); i++) {
        if (leaving[i].klass != record[1] || !has_encoding(leaving[i].encodings, record[2]))
            continue;
        switch ((follows)leaving[i].follows) {
        case ALWAYS:
            return true;
        case WITH_PREDICATE:
            return cbi_sass_bits(w, 87, 3) != CBI_SASS_PT;
        case WITH_THIRD:
            return cbi_sass_bits(w, 64, 8) != NO_REGISTER;
        }
    }
    return false;
}

/* The kind of convergence barrier that an instruction is about: the encoding says it, today's SASS
 * in bits 72 and 73. */
static unsigned kind_of_barrier(const uint8_t *record)
{
    switch (record[1]) {
    case CBI_CLASS_BREAK:
        return record[2] == 2;
    case CBI_CLASS_BSSY:
    case CBI_CLASS_BSYNC:
        return record[2] == 2 ? 2 : record[2] == 4;
    default:
        return 0;
    }
}

static void set_barrier(uint8_t *at, unsigned kind)
{
    cbi_sass w = cbi_sass_load(at);
    w.hi |= (uint64_t)kind << 8;
    cbi_sass_store(at, w);
}

/* One entry: how many bytes it has, how many instructions it covers.  False if it does not fit. */
static bool measure(cbi_span capsule, size_t pos, size_t *ret_size, uint32_t *ret_count,
                    bool *ret_short)
{
    if (!cbi_fits(pos, 2, capsule.size))
        return false;
    uint16_t w = cbi_ld16(capsule.data + pos);
    bool run = (w & CBI_CAPSULE_MARK_MASK) == CBI_CAPSULE_RUN_MARK;
    *ret_size = run ? 2 : 0;
    *ret_count = run ? w >> CBI_CAPSULE_RUN_SHIFT : 1;
    *ret_short = false;
    if (!run || (w & 15)) {
        if (!cbi_fits(pos + *ret_size, 4, capsule.size))
            return false;
        uint8_t first = capsule.data[pos + *ret_size], form = first >> 4 & 7;
        if (form == 2 || form > SHORT_FORM)
            return false;
        *ret_short = !run && form == SHORT_FORM;
        *ret_size += form == SHORT_FORM ? 4 : (size_t)16 * (first & 15);
        if (form == CBI_CAPSULE_FORM_NOTE)
            *ret_count = 0;
    }
    return cbi_fits(pos, *ret_size, capsule.size);
}

/* Writes header, bits and records; 0: it does not fit. */
static size_t write_today(cbi_span capsule, uint32_t entries, uint8_t *text, size_t text_size,
                          uint8_t *out)
{
    size_t size = CBI_CAPSULE_HEADER + ((size_t)entries + 31) / 32 * 4, pos = EARLY_HEADER, bytes;
    uint64_t first = 0, total = text_size / CBI_SASS_INSTRUCTION;
    uint32_t count;
    bool is_short;
    memset(out, 0, size);
    cbi_st32(out, cbi_ld32(capsule.data));
    cbi_st32(out + 4, (uint32_t)VERSION_WORD);
    cbi_st32(out + 8, entries);
    for (uint32_t i = 0; i < entries; i++, pos += bytes, first += count) {
        if (!measure(capsule, pos, &bytes, &count, &is_short) || first + count > total)
            return 0;
        const uint8_t *entry = capsule.data + pos;
        uint8_t *insn = text + first * CBI_SASS_INSTRUCTION;
        if (is_short)
            set_barrier(insn, kind_of_barrier(entry));
        if (is_short && leaves(entry, cbi_sass_load(insn))) {
            out[CBI_CAPSULE_HEADER + i / 8] |= (uint8_t)(1u << i % 8);
            continue;
        }
        memcpy(out + size, entry, bytes);
        size += bytes;
    }
    return pos == capsule.size && first * CBI_SASS_INSTRUCTION == text_size ? size : 0;
}

bool cbi_capsule_renew(cbi_ctx *ctx, cbi_span *capsule, cbi_span *text)
{
    if (capsule->size < EARLY_HEADER)
        return false;
    uint32_t entries = cbi_ld32(capsule->data + 4);
    /* no entry has less than two bytes */
    if (entries >> 30 == 3 || entries > (capsule->size - EARLY_HEADER) / 2)
        return false;
    uint8_t *out =
        cbi_alloc(ctx, CBI_CAPSULE_HEADER + ((size_t)entries + 31) / 32 * 4 + capsule->size);
    uint8_t *code = text->size ? cbi_memdup(ctx, text->data, text->size) : NULL;
    size_t size = write_today(*capsule, entries, code, text->size, out);
    if (!size)
        return false;
    *capsule = (cbi_span){out, size};
    text->data = code;
    return true;
}
