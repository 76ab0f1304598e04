#include "capsule/fields.h"

/* Numbers of bits in a record; operands start at byte 10, where each has two bytes: six bits say of
 * what kind it is, then comes the register.  Immediates stand at the end. */
enum { GUARD_NOT = 32, GUARD = 35, SYSTEM = 96, IMMEDIATE_64 = 192, IMMEDIATE = 224 };
enum { NO_PREDICATE = 31, NEGATED = 8 };
enum { CLASS_ELECT = 0x5f, ELECT_GUARD = 123 }; /* the guard is an operand */

typedef enum extra {
    NOTHING,
    LITERAL_64, /* 32 bits, at IMMEDIATE_64 */
    LITERAL,    /* 32 bits, at IMMEDIATE */
    OFFSET,     /* 24 bits with sign */
    PARAMETER,  /* place in the parameter bank, from the first parameter on */
    SYSTEM_VALUE,
    SPECIAL_REGISTER,
} extra;

/* One row for each kind of record whose operands are known: where a field starts in the record, 0
 * where it has none.  Byte 2 of a record numbers the encodings of its class, which have their
 * operands in different places; a row is for those that it lists.  Every row holds for all records
 * of a collection (docs/capsule.md). */
typedef struct record_layout {
    uint8_t units, klass;
    uint16_t opcode;
    uint8_t d, a, b, c; /* registers: SASS bits 16, 24, 32, 64 */
    uint8_t p, q, r;    /* predicates: SASS bits 81, 87, 77 */
    uint8_t size;       /* of the access */
    uint8_t operation;  /* of the atomic access */
    uint8_t signs;      /* absolute value and negation of the first operand */
    uint8_t barrier, barrier_sass;
    uint8_t extra;
    uint8_t encoding_count;
    uint8_t encodings[8];
} record_layout;

#define ENCODINGS(...)                                                                             \
    .encoding_count = sizeof((const uint8_t[]){__VA_ARGS__}), .encodings = {__VA_ARGS__}

static const record_layout layouts[] = {
    {1, 0x0b, 0x7ac, .d = 86, .extra = SYSTEM_VALUE, ENCODINGS(0x06, 0x0e)},
    {1, 0x0b, 0x805, .d = 86, .extra = SPECIAL_REGISTER, ENCODINGS(0x04, 0x0c)},
    {1, 0x0b, 0x8cb, .d = 86, ENCODINGS(0x06, 0x0e)},
    {1, 0x0b, 0x919, .d = 86, .extra = SPECIAL_REGISTER, ENCODINGS(0x04)},
    {1, 0x0b, 0x9c3, .d = 86, .extra = SPECIAL_REGISTER, ENCODINGS(0x06)},
    {1, 0x0b, 0xb82, .d = 86, .extra = SYSTEM_VALUE, ENCODINGS(0x04, 0x0c)},
    {1, 0x10, 0x81c, .p = 91, .q = 107, .r = 123, ENCODINGS(0x06)},
    {1, 0x16, 0x217, .d = 86, .a = 102, .b = 118, ENCODINGS(0x1e)},
    {1, 0x17, 0x217, .d = 86, .a = 102, .b = 118, ENCODINGS(0x1e)},
    {1, 0x23, 0x3b5, .b = 86, .a = 118, ENCODINGS(0x0e)},
    {1, 0x23, 0x3ba, .b = 86, ENCODINGS(0x06)},
    {1, 0x29, 0x212, .d = 86, .a = 102, .b = 118, ENCODINGS(0x00)},
    {1, 0x29, 0x292, .d = 86, .a = 102, .b = 118, ENCODINGS(0x10)},
    {1, 0x29, 0xc12, .d = 86, .a = 102, .b = 118, ENCODINGS(0x08)},
    {1, 0x2b, 0x212, .d = 102, .b = 118, ENCODINGS(0x00)},
    {1, 0x2b, 0x292, .d = 102, .b = 118, ENCODINGS(0x08)},
    {1, 0x2b, 0xc12, .d = 102, .b = 118, ENCODINGS(0x04)},
    {1, 0x32, 0x2cc, .d = 86, .a = 102, ENCODINGS(0x10)},
    {1, 0x32, 0x3c4, .d = 86, .a = 102, ENCODINGS(0x10)},
    {1, 0x47, 0x51d, .b = 86, ENCODINGS(0x56)},
    {1, 0x47, 0xb1d, .barrier = 88, .barrier_sass = 54, ENCODINGS(0x5a)},
    {1, 0x58, 0x355, .d = 86, .barrier = 97, .barrier_sass = 24, ENCODINGS(0x02)},
    {1, 0x58, 0x356, .b = 102, .barrier = 81, .barrier_sass = 24, ENCODINGS(0x00)},
    {1, 0x5f, 0x2ca, .d = 86, .a = 102, ENCODINGS(0x08)},
    {1, 0x62, 0x82e, .d = 86, .a = 102, ENCODINGS(0x00)},
    {2, 0x0c, 0x429, .d = 86, .a = 102, .signs = 57, .extra = LITERAL, ENCODINGS(0x1e)},
    {2, 0x0c, 0x835, .d = 86, .a = 118, .extra = LITERAL_64, ENCODINGS(0x52)},
    {2, 0x0d, 0x42b, .d = 86, .a = 102, .c = 118, .signs = 57, .extra = LITERAL, ENCODINGS(0x1c)},
    {2, 0x0d, 0x82b, .d = 86, .a = 102, .c = 142, .extra = LITERAL, ENCODINGS(0x1a)},
    {2, 0x0f, 0x828, .d = 86, .a = 102, .extra = LITERAL, ENCODINGS(0x12)},
    {2, 0x10, 0x42a, .p = 91, .extra = LITERAL, ENCODINGS(0x0a, 0x16)},
    {2, 0x10, 0x80c, .p = 91, .extra = LITERAL_64, ENCODINGS(0x60, 0x74)},
    {2, 0x10, 0x81c, .p = 91, ENCODINGS(0x02)},
    {2, 0x10, 0x89c, .p = 91, ENCODINGS(0x04)},
    {2, 0x17, 0x817, .d = 86, .a = 102, .extra = LITERAL, ENCODINGS(0x20)},
    {2, 0x19, 0x407, .d = 86, .a = 102, ENCODINGS(0x12)},
    {2, 0x1b, 0x5a7, .a = 118, .c = 142, .extra = OFFSET, ENCODINGS(0x42, 0x44, 0x4a, 0x4c)},
    {2, 0x1b, 0x5b2, .a = 86, .b = 118, .extra = OFFSET, ENCODINGS(0x5e)},
    {2, 0x1b, 0x9a7, .extra = OFFSET, ENCODINGS(0x1e, 0x20, 0x24, 0x2c, 0x2e, 0x3a, 0x3c)},
    {2, 0x22, 0x7ac, .d = 86, .size = 52, .extra = PARAMETER, ENCODINGS(0x08, 0x0a)},
    {2, 0x22, 0x980, .d = 102, .a = 118, .size = 48, .extra = OFFSET, ENCODINGS(0x32, 0x3c)},
    {2, 0x22, 0x983, .d = 86, .a = 102, .size = 52, .extra = OFFSET, ENCODINGS(0x28)},
    {2, 0x22, 0xb82, .d = 86, .size = 52, .extra = PARAMETER, ENCODINGS(0x0c, 0x0e)},
    {2, 0x23, 0x3ba, .b = 102, .a = 142, .c = 158, ENCODINGS(0x28)},
    {2, 0x23, 0x5b4, .b = 102, .a = 158, ENCODINGS(0x1a, 0x1c)},
    {2, 0x23, 0xfae, .d = 102, .a = 142, .c = 174, ENCODINGS(0x30)},
    {2, 0x23, 0xfae, .d = 102, .a = 142, .c = 158, ENCODINGS(0x34)},
    {2, 0x29, 0x812, .d = 102, .a = 118, .extra = LITERAL, ENCODINGS(0x04)},
    {2, 0x38, 0x387, .a = 86, .b = 118, .size = 52, .extra = OFFSET, ENCODINGS(0x20)},
    {2, 0x38, 0x985, .a = 102, .b = 158, .c = 142, .size = 48, .extra = OFFSET, ENCODINGS(0x2a)},
    {2, 0x38, 0x985, .a = 86, .b = 142, .c = 102, .size = 48, .extra = OFFSET, ENCODINGS(0x3e)},
    {2, 0x38, 0x986, .a = 102, .b = 158, .c = 142, .size = 52, .extra = OFFSET, ENCODINGS(0x0e)},
    {2, 0x38, 0x986, .a = 102, .b = 158, .c = 118, .size = 52, .extra = OFFSET, ENCODINGS(0x1a)},
    {2, 0x3e, 0xf60, .d = 118, .a = 142, .b = 158, ENCODINGS(0x00)},
    {2, 0x3f, 0xf66, .d = 142, .a = 158, ENCODINGS(0x00)},
    {2, 0x4d, 0x98e, .a = 102, .b = 158, .c = 142, .extra = OFFSET, ENCODINGS(0x24)},
    {2, 0x4d, 0x98e, .a = 102, .b = 142, .extra = OFFSET, ENCODINGS(0x2e)},
    {2, 0x4d, 0x9a6, .a = 102, .b = 158, .c = 142, .extra = OFFSET, ENCODINGS(0x0e)},
    {2, 0x4d, 0xdbe, .a = 102, .b = 190, ENCODINGS(0x04)},
    {2, 0x4e, 0x38c, .d = 102, .a = 118, .b = 158, .operation = 52, .extra = OFFSET,
     ENCODINGS(0x82)},
    {2, 0x4e, 0x3a9, .d = 118, .a = 142, .b = 174, .c = 190, .extra = OFFSET, ENCODINGS(0x24)},
    {2, 0x4e, 0x58d, .a = 102, ENCODINGS(0x7e)},
    {2, 0x4e, 0x98a, .a = 142, .b = 190, ENCODINGS(0x68)},
    {2, 0x4e, 0x98c, .d = 102, .b = 174, .c = 142, .operation = 52, .extra = OFFSET,
     ENCODINGS(0x84)},
    {2, 0x4e, 0x9a3, .a = 142, .b = 190, .c = 174, ENCODINGS(0x3c)},
    {2, 0x4e, 0x9a8, .d = 118, .a = 142, .b = 190, .c = 174, .operation = 52, ENCODINGS(0x52)},
    {2, 0x4e, 0xf8c, .a = 118, .c = 142, ENCODINGS(0x8a)},
    {2, 0x5a, 0x237, .d = 102, .a = 118, .b = 142, .c = 158, ENCODINGS(0x08)},
    {2, 0x5a, 0x23c, .d = 102, .a = 118, .b = 142, .c = 158, ENCODINGS(0x00, 0x0c)},
    {2, 0x5a, 0x23f, .d = 102, .a = 118, .b = 142, .c = 158, ENCODINGS(0x04)},
    {2, 0x5a, 0x47a, .d = 102, .a = 118, .b = 142, .c = 158, ENCODINGS(0x16)},
    {2, 0x5e, 0x9a5, .d = 102, .a = 118, .c = 142, ENCODINGS(0x0c, 0x0e, 0x14)},
};

/* What Mercury calls by a number and SASS reads from bank 0. */
static const struct number_pair {
    uint8_t number;
    uint16_t sass;
} system_values[] = {
    {0x00, 0x37c}, /* stack pointer */
    {0x01, 0x360}, {0x02, 0x364}, {0x03, 0x368}, {0x04, 0x370}, {0x05, 0x374},
    {0x06, 0x378}, {0x07, 0x36c}, {0x0f, 0x140}, {0x32, 0x2d0}, {0x33, 0x16c},
    {0x39, 0x358}, {0x3a, 0x348}, {0x3d, 0x120}, {0x44, 0x2f8}, {0x45, 0x2fc},
};

/* Special registers have other numbers in Mercury. */
static const struct number_pair special_registers[] = {
    {0, 0},   {1, 33},  {2, 34},   {3, 35},  {4, 37},  {5, 38},    {6, 39},
    {8, 57},  {9, 58},  {11, 60},  {12, 80}, {14, 82}, {32, 80},   {33, 82},
    {42, 50}, {43, 67}, {44, 136}, {45, 47}, {49, 55}, {255, 255},
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

static uint64_t predicate_in(const collector *c, unsigned low)
{
    uint64_t predicate = in_record(c, low, 5);
    return predicate == NO_PREDICATE ? 7 : predicate;
}

static void add_guard(collector *c)
{
    add(c, "guard", predicate_in(c, GUARD) | (in_record(c, GUARD_NOT, 1) ? NEGATED : 0),
        in_sass(c, 12, 4), false);
}

static void add_predicates(collector *c, const record_layout *l)
{
    const uint8_t places[] = {l->p, l->q, l->r};
    static const uint8_t sass[] = {81, 87, 77};
    static const char *const names[] = {"p", "q", "r"};
    for (size_t k = 0; k < CBI_COUNT(places); k++)
        if (places[k])
            add(c, names[k], predicate_in(c, places[k]), in_sass(c, sass[k], 3), false);
}

/* Registers and modifiers: the same bits in both forms. */
static void add_plain(collector *c, const char *name, unsigned place, unsigned sass, unsigned count)
{
    if (place)
        add(c, name, in_record(c, place, count), in_sass(c, sass, count), false);
}

/* A number and what it stands for in SASS.  A number that is not listed cannot stand for what
 * another one does, but for the counters that 0x805 reads in several widths. */
static void add_number(collector *c, const char *name, const struct number_pair *pairs, size_t n,
                       uint64_t number, uint64_t sass)
{
    enum { OTHER = 0x10000 };
    bool taken = false;
    for (size_t i = 0; i < n; i++) {
        if (pairs[i].number == number) {
            add(c, name, pairs[i].sass, sass, false);
            return;
        }
        taken |= pairs[i].sass == sass;
    }
    if (taken && cbi_sass_opcode(c->insn) != 0x805)
        add(c, name, OTHER | number, sass, false);
}

static void add_extra(collector *c, const record_layout *layout)
{
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
        add_number(c, "system", system_values, CBI_COUNT(system_values), in_record(c, SYSTEM, 7),
                   offset);
        break;
    case SPECIAL_REGISTER:
        add_number(c, "special", special_registers, CBI_COUNT(special_registers),
                   in_record(c, SYSTEM, 8), in_sass(c, 72, 8));
        break;
    }
}

static bool has_encoding(const record_layout *l, const cbi_capsule_entry *e)
{
    for (size_t i = 0; i < l->encoding_count; i++)
        if (l->encodings[i] == e->record.data[2])
            return true;
    return false;
}

size_t cbi_capsule_fields(const cbi_capsule_entry *e, const uint8_t *insn,
                          cbi_capsule_field *ret_fields)
{
    if (e->kind != CBI_CAPSULE_RECORD || e->form != 0 || e->count != 1)
        return 0;
    collector c = {.fields = ret_fields,
                   .record = e->record.data,
                   .insn = insn,
                   .record_size = e->record.size};
    if (e->klass == CLASS_ELECT)
        add(&c, "guard", predicate_in(&c, ELECT_GUARD), in_sass(&c, 12, 3), false);
    else
        add_guard(&c);
    uint32_t opcode = cbi_sass_opcode(insn);
    for (size_t i = 0; i < CBI_COUNT(layouts); i++) {
        const record_layout *l = &layouts[i];
        if (l->units != e->units || l->klass != e->klass || l->opcode != opcode ||
            !has_encoding(l, e))
            continue;
        add_plain(&c, "d", l->d, 16, 8);
        add_plain(&c, "a", l->a, 24, 8);
        add_plain(&c, "b", l->b, 32, 8);
        add_plain(&c, "c", l->c, 64, 8);
        add_predicates(&c, l);
        add_plain(&c, "size", l->size, 73, 3);
        add_plain(&c, "operation", l->operation, 87, 4);
        add_plain(&c, "signs", l->signs, 72, 2);
        add_plain(&c, "barrier", l->barrier, l->barrier_sass, 4);
        add_extra(&c, l);
        break;
    }
    return c.count;
}

/* What records were seen for an opcode: class, units, form.  Opcodes that occur 400 times or more
 * in the collection; what the toolkit's libraries have besides is listed, too. */
enum { KINDS = 5 };
static const struct {
    uint16_t opcode;
    uint16_t kinds[KINDS];
} record_kinds[] = {
    {0x202, {0x0014, 0x0b14}},
    {0x20c, {0x1014, 0x1024}},
    {0x211, {0x0014, 0x2524}},
    {0x212, {0x2724, 0x2824, 0x2910, 0x2b10}},
    {0x217, {0x1610, 0x1710, 0x6724}},
    {0x230, {0x0c14}},
    {0x235, {0x0c14, 0x0c24}},
    {0x23c, {0x5a20}},
    {0x28c, {0x1014, 0x1024}},
    {0x292, {0x2714, 0x2814, 0x2824, 0x2910, 0x2b10}},
    {0x297, {0x0c14}},
    {0x2ca, {0x5f10, 0x6614}},
    {0x355, {0x5810}},
    {0x356, {0x5810}},
    {0x387, {0x3820}},
    {0x38c, {0x4e20}},
    {0x3a9, {0x4e20}},
    {0x3c4, {0x3210}},
    {0x402, {0x0b24}},
    {0x429, {0x0c20}},
    {0x42a, {0x1020}},
    {0x42b, {0x0d20}},
    {0x482, {0x0b24}},
    {0x51d, {0x4710}},
    {0x5b2, {0x1b20}},
    {0x7ac, {0x0b10, 0x2220}},
    {0x805, {0x0b10}},
    {0x806, {0x5d14}},
    {0x80c, {0x1020, 0x1024}},
    {0x812, {0x2724, 0x2920, 0x2a24}},
    {0x81c, {0x1010, 0x1020}},
    {0x828, {0x0f20}},
    {0x82e, {0x6210}},
    {0x82f, {0x6414}},
    {0x835, {0x0c20, 0x0c24}},
    {0x85a, {0x1214}},
    {0x906, {0x1214}},
    {0x918, {0x4710, 0x4910, 0x6310}},
    {0x919, {0x0b10}},
    {0x91a, {0x2310}},
    {0x943, {0x0a24}},
    {0x948, {0x4714}},
    {0x950, {0x3324}},
    {0x980, {0x2220}},
    {0x983, {0x2220}},
    {0x985, {0x3820}},
    {0x986, {0x3820}},
    {0x98c, {0x4e20}},
    {0x98e, {0x4d20}},
    {0x9a7, {0x1b20}},
    {0x9a8, {0x4e20}},
    {0x9c3, {0x0b10}},
    {0xb1d, {0x4710, 0x4714}},
    {0xb82, {0x0b10, 0x2220}},
    {0xc02, {0x0b14, 0x4614}},
    {0xc0c, {0x1014, 0x1024}},
    {0xc35, {0x0c14, 0x0c24}},
    {0xf66, {0x3f20}},
    {0xf8c, {0x4e20}},
};

/* Is the record's class, length and form one of those seen with its opcode?  True where none is
 * listed. */
static bool is_known_kind(const cbi_capsule_entry *e, uint32_t opcode)
{
    uint32_t kind = (uint32_t)e->klass << 8 | (uint32_t)e->units << 4 | e->form;
    for (size_t i = 0; i < CBI_COUNT(record_kinds); i++) {
        if (record_kinds[i].opcode != opcode)
            continue;
        for (size_t k = 0; k < KINDS; k++)
            if (record_kinds[i].kinds[k] == kind)
                return true;
        return false;
    }
    return true;
}

/* Likewise its encoding. */
static bool is_known_encoding(const cbi_capsule_entry *e, uint32_t opcode)
{
    bool listed = false;
    for (size_t i = 0; i < CBI_COUNT(layouts) && e->form == 0; i++) {
        const record_layout *l = &layouts[i];
        if (l->units != e->units || l->klass != e->klass || l->opcode != opcode)
            continue;
        if (has_encoding(l, e))
            return true;
        listed = true;
    }
    return !listed;
}

static const char *kind_problem(cbi_ctx *ctx, const cbi_capsule_entry *e, const uint8_t *insn)
{
    uint32_t opcode = cbi_sass_opcode(insn);
    if (e->kind != CBI_CAPSULE_RECORD || e->count != 1 ||
        (is_known_kind(e, opcode) && is_known_encoding(e, opcode)))
        return NULL;
    return cbi_printf(ctx,
                      "instruction 0x%llx, opcode 0x%x, has a record of class 0x%x, %u units, "
                      "form %u, encoding 0x%x",
                      (unsigned long long)e->first * CBI_SASS_INSTRUCTION, opcode, e->klass,
                      e->units, e->form, e->record.data[2]);
}

static const char *fields_problem(cbi_ctx *ctx, const cbi_capsule_entry *e, const uint8_t *insn)
{
    cbi_capsule_field fields[CBI_CAPSULE_FIELDS];
    size_t count = cbi_capsule_fields(e, insn, fields);
    for (size_t i = 0; i < count; i++)
        if (!fields[i].relocatable && fields[i].value != fields[i].sass)
            return cbi_printf(ctx, "instruction 0x%llx has 0x%llx as %s, its record 0x%llx",
                              (unsigned long long)e->first * CBI_SASS_INSTRUCTION,
                              (unsigned long long)fields[i].sass, fields[i].name,
                              (unsigned long long)fields[i].value);
    return NULL;
}

/* The first problem of the entries. */
static const char *first_problem(cbi_ctx *ctx, cbi_span capsule, cbi_span text,
                                 const char *(*problem)(cbi_ctx *, const cbi_capsule_entry *,
                                                        const uint8_t *))
{
    cbi_capsule walk;
    cbi_capsule_entry e;
    const char *found = NULL;
    if (!cbi_capsule_open(capsule, &walk))
        return walk.error;
    while (!found && cbi_capsule_next(&walk, &e)) {
        uint64_t at = (uint64_t)e.first * CBI_SASS_INSTRUCTION;
        if (!cbi_fits(at, CBI_SASS_INSTRUCTION, text.size))
            return "it covers more than the text";
        found = problem(ctx, &e, text.data + at);
    }
    return found;
}

const char *cbi_capsule_check_fields(cbi_ctx *ctx, cbi_span capsule, cbi_span text)
{
    return first_problem(ctx, capsule, text, fields_problem);
}

const char *cbi_capsule_check_kinds(cbi_ctx *ctx, cbi_span capsule, cbi_span text)
{
    return first_problem(ctx, capsule, text, kind_problem);
}

/* Opcodes whose length never differed in 18,000 functions; the others depend on modifiers, or are
 * rare. */
static const uint16_t one_unit[] = {
    0x202, 0x207, 0x208, 0x216, 0x219, 0x221, 0x228, 0x229, 0x245, 0x2bf, 0x2ca, 0x305,
    0x306, 0x308, 0x309, 0x310, 0x3a1, 0x802, 0x806, 0x882, 0x886, 0x918, 0x946, 0x94d,
    0x95c, 0x95d, 0x9af, 0xc02, 0xc24, 0xc28, 0xc36, 0xc82, 0xd00, 0xd08, 0xd09,
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
    uint16_t opcode = cbi_sass_opcode(instruction);
    *least = is_listed(two_units, CBI_COUNT(two_units), opcode) ? 2 : 1;
    *most = is_listed(one_unit, CBI_COUNT(one_unit), opcode) ? 1 : 2;
}
