#include "mercury/capsule_fields.h"

/* Numbers of bits in a record; operands start at byte 10, where each has two bytes: six bits say of
 * what kind it is, then comes the register.  Immediates stand at the end. */
enum { GUARD_NOT = 32, GUARD = 35, SYSTEM = 96, IMMEDIATE_64 = 192, IMMEDIATE = 224 };
enum { NO_PREDICATE = 31, NEGATED = 8 };
enum { CLASS_ELECT = 0x5f }; /* its predicate is no guard */

typedef enum extra {
    NOTHING,
    LITERAL_64, /* 32 bits, at IMMEDIATE_64 */
    LITERAL,    /* 32 bits, at IMMEDIATE */
    OFFSET,     /* 24 bits with sign */
    PARAMETER,  /* place in the parameter bank, from the first parameter on */
    SYSTEM_VALUE,
    SPECIAL_REGISTER,
} extra;

/* One row for each kind of record whose operands are known: first bit of the register that SASS has
 * in bits 16, 24, 32, 64; 0 where it has none.  Every row holds for all records of a collection of
 * 50,000 different ones (docs/mercury.md). */
typedef struct record_layout {
    uint8_t units, klass;
    uint16_t opcode;
    uint8_t d, a, b, c;
    uint8_t extra;
} record_layout;

static const record_layout layouts[] = {
    {1, 0x0b, 0x7ac, 86, 0, 0, 0, SYSTEM_VALUE},
    {1, 0x0b, 0x805, 86, 0, 0, 0, NOTHING},
    {1, 0x0b, 0x919, 86, 0, 0, 0, SPECIAL_REGISTER},
    {1, 0x0b, 0x9c3, 86, 0, 0, 0, SPECIAL_REGISTER},
    {1, 0x0b, 0xb82, 86, 0, 0, 0, SYSTEM_VALUE},
    {1, 0x29, 0x212, 86, 102, 118, 0, NOTHING},
    {1, 0x29, 0xc12, 86, 102, 118, 0, NOTHING},
    {1, 0x2b, 0x212, 102, 0, 118, 0, NOTHING},
    {1, 0x32, 0x3c4, 86, 102, 0, 0, NOTHING},
    {1, 0x47, 0x51d, 0, 0, 86, 0, NOTHING},
    {1, 0x58, 0x355, 86, 0, 0, 0, NOTHING},
    {1, 0x58, 0x356, 0, 0, 102, 0, NOTHING},
    {2, 0x0c, 0x429, 86, 102, 0, 0, LITERAL},
    {2, 0x0c, 0x835, 86, 118, 0, 0, LITERAL_64},
    {2, 0x0d, 0x42b, 86, 102, 0, 118, LITERAL},
    {2, 0x0d, 0x82b, 86, 102, 0, 142, LITERAL},
    {2, 0x0f, 0x828, 86, 102, 0, 0, LITERAL},
    {2, 0x22, 0x7ac, 86, 0, 0, 0, PARAMETER},
    {2, 0x22, 0x980, 102, 118, 0, 0, OFFSET},
    {2, 0x22, 0x983, 86, 102, 0, 0, OFFSET},
    {2, 0x22, 0xb82, 86, 0, 0, 0, PARAMETER},
    {2, 0x29, 0x812, 102, 118, 0, 0, LITERAL},
    {2, 0x38, 0x387, 0, 86, 118, 0, OFFSET},
    {2, 0x38, 0x985, 0, 102, 158, 142, OFFSET},
    {2, 0x38, 0x986, 0, 102, 158, 142, OFFSET},
    {2, 0x3f, 0xf66, 142, 158, 0, 0, NOTHING},
    {2, 0x4d, 0x9a6, 0, 102, 158, 142, OFFSET},
    {2, 0x4e, 0x38c, 102, 118, 158, 0, OFFSET},
    {2, 0x4e, 0x3a9, 118, 142, 174, 190, OFFSET},
    {2, 0x4e, 0x98c, 102, 0, 174, 142, OFFSET},
    {2, 0x4e, 0x9a8, 118, 142, 190, 174, NOTHING},
    {2, 0x5a, 0x23c, 102, 0, 142, 158, NOTHING},
};

/* What Mercury calls by a number and SASS reads from bank 0. */
static const struct {
    uint8_t number;
    uint16_t offset;
} system_values[] = {
    {0x00, 0x37c}, /* stack pointer */
    {0x01, 0x360}, {0x02, 0x364}, {0x03, 0x368}, {0x04, 0x370}, {0x05, 0x374}, {0x07, 0x36c},
    {0x33, 0x16c}, {0x39, 0x358}, {0x3a, 0x348}, {0x3d, 0x120}, {0x44, 0x2f8}, {0x45, 0x2fc},
};

/* Special registers have other numbers in Mercury. */
static const struct {
    uint8_t number, sass;
} special_registers[] = {
    {0, 0},   {1, 33},  {2, 34},  {3, 35},   {4, 37},  {6, 39},  {8, 57},
    {12, 80}, {42, 50}, {43, 67}, {44, 136}, {45, 47}, {49, 55},
};

static uint64_t bits(const uint8_t *bytes, size_t size, unsigned low, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = low + i;
        if (at / 8 < size)
            value |= (uint64_t)(bytes[at / 8] >> (at % 8) & 1) << i;
    }
    return value;
}

typedef struct collector {
    cbi_capsule_field *fields;
    size_t count;
    const uint8_t *record, *insn;
    size_t record_size;
} collector;

static void add(collector *c, const char *name, uint64_t value, uint64_t sass, bool relocatable)
{
    c->fields[c->count++] = (cbi_capsule_field){name, value, sass, relocatable};
}

static uint64_t in_record(const collector *c, unsigned low, unsigned count)
{
    return bits(c->record, c->record_size, low, count);
}

static uint64_t in_sass(const collector *c, unsigned low, unsigned count)
{
    return bits(c->insn, CBI_SASS_INSTRUCTION, low, count);
}

static void add_guard(collector *c)
{
    uint64_t predicate = in_record(c, GUARD, 5);
    if (predicate == NO_PREDICATE)
        predicate = 7;
    add(c, "guard", predicate | (in_record(c, GUARD_NOT, 1) ? NEGATED : 0), in_sass(c, 12, 4),
        false);
}

static void add_extra(collector *c, const record_layout *layout)
{
    uint64_t number = in_record(c, SYSTEM, 7);
    uint64_t offset = layout->opcode == 0x7ac ? in_sass(c, 37, 17) : in_sass(c, 38, 16);
    switch ((extra)layout->extra) {
    case NOTHING:
        break;
    case LITERAL_64:
        add(c, "immediate", in_record(c, IMMEDIATE_64, 32), in_sass(c, 32, 32), true);
        break;
    case LITERAL:
        add(c, "immediate", in_record(c, IMMEDIATE, 32), in_sass(c, 32, 32), true);
        break;
    case OFFSET:
        add(c, "offset", (uint64_t)(int64_t)(int32_t)in_record(c, IMMEDIATE, 32),
            (uint64_t)((int64_t)(in_sass(c, 40, 24) << 40) >> 40), true);
        break;
    case PARAMETER:
        /* without a register and in bank 0; else a place in a bank of constants */
        if (in_sass(c, 24, 8) == 0xff && in_sass(c, 54, 5) == 0)
            add(c, "parameter", in_record(c, IMMEDIATE, 16), offset - 0x380, true);
        break;
    case SYSTEM_VALUE:
        for (size_t i = 0; i < CBI_COUNT(system_values); i++)
            if (system_values[i].number == number)
                add(c, "system", system_values[i].offset, offset, false);
        break;
    case SPECIAL_REGISTER:
        for (size_t i = 0; i < CBI_COUNT(special_registers); i++)
            if (special_registers[i].number == number)
                add(c, "special", special_registers[i].sass, in_sass(c, 72, 8), false);
        break;
    }
}

size_t cbi_capsule_fields(const cbi_capsule_entry *e, const uint8_t *insn,
                          cbi_capsule_field *ret_fields)
{
    if (e->kind != CBI_CAPSULE_RECORD || e->form != 0 || e->count != 1 || e->klass == CLASS_ELECT)
        return 0;
    collector c = {.fields = ret_fields,
                   .record = e->record.data,
                   .insn = insn,
                   .record_size = e->record.size};
    add_guard(&c);
    uint32_t opcode = cbi_ld16(insn) & 0xfff;
    for (size_t i = 0; i < CBI_COUNT(layouts); i++) {
        const record_layout *l = &layouts[i];
        if (l->units != e->units || l->klass != e->klass || l->opcode != opcode)
            continue;
        const uint8_t places[] = {l->d, l->a, l->b, l->c};
        static const uint8_t sass[] = {16, 24, 32, 64};
        static const char *const names[] = {"d", "a", "b", "c"};
        for (size_t k = 0; k < CBI_COUNT(places); k++)
            if (places[k])
                add(&c, names[k], in_record(&c, places[k], 8), in_sass(&c, sass[k], 8), false);
        add_extra(&c, l);
        break;
    }
    return c.count;
}

const char *cbi_capsule_check_fields(cbi_ctx *ctx, cbi_span capsule, cbi_span text)
{
    cbi_capsule walk;
    cbi_capsule_entry e;
    cbi_capsule_field fields[CBI_CAPSULE_FIELDS];
    if (!cbi_capsule_open(capsule, &walk))
        return walk.error;
    while (cbi_capsule_next(&walk, &e)) {
        uint64_t at = (uint64_t)e.first * CBI_SASS_INSTRUCTION;
        if (!cbi_fits(at, CBI_SASS_INSTRUCTION, text.size))
            return "it covers more than the text";
        size_t count = cbi_capsule_fields(&e, text.data + at, fields);
        for (size_t i = 0; i < count; i++)
            if (!fields[i].relocatable && fields[i].value != fields[i].sass)
                return cbi_printf(ctx, "instruction 0x%llx has 0x%llx as %s, its record 0x%llx",
                                  (unsigned long long)at, (unsigned long long)fields[i].sass,
                                  fields[i].name, (unsigned long long)fields[i].value);
    }
    return NULL;
}

/* Opcodes whose length never differed in 18,000 functions; the others depend on modifiers, or are
 * rare. */
static const uint16_t one_unit[] = {
    0x202, 0x207, 0x208, 0x216, 0x219, 0x221, 0x228, 0x229, 0x245, 0x291, 0x2bf, 0x2ca,
    0x305, 0x306, 0x308, 0x309, 0x310, 0x3a1, 0x802, 0x806, 0x882, 0x886, 0x918, 0x946,
    0x94d, 0x95c, 0x95d, 0x9af, 0xc02, 0xc24, 0xc28, 0xc36, 0xc82, 0xd00, 0xd08, 0xd09,
};
static const uint16_t two_units[] = {
    0x211, 0x223, 0x225, 0x227, 0x22b, 0x343, 0x388, 0x424, 0x430, 0x431,
    0x547, 0x589, 0x807, 0x80c, 0x810, 0x812, 0x816, 0x819, 0x824, 0x825,
    0x836, 0x944, 0x947, 0x949, 0x981, 0x984, 0x988, 0x989, 0xc2b, 0xf89,
};

static bool is_listed(const uint16_t *list, size_t count, uint16_t opcode)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == opcode)
            return true;
    return false;
}

void cbi_capsule_derived_units(const uint8_t *instruction, uint64_t *least, uint64_t *most)
{
    uint16_t opcode = cbi_ld16(instruction) & 0xfff;
    *least = is_listed(two_units, CBI_COUNT(two_units), opcode) ? 2 : 1;
    *most = is_listed(one_unit, CBI_COUNT(one_unit), opcode) ? 1 : 2;
}
