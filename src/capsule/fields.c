#include "capsule/fields.h"

#include "sass/opcodes.h"

/* Numbers of bits in a record; operands start at byte 10, where each has two bytes: six bits say of
 * what kind it is, then comes the register.  Immediates stand at the end. */
enum { GUARD_NOT = 32, GUARD = 35, SYSTEM = 96, IMMEDIATE_64 = 192, IMMEDIATE = 224 };
enum { NEGATED = 8 };
enum { ELECT_GUARD = 123 }; /* there the guard is an operand */

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
    {1, 0x0b, CBI_OP_LDCU, .d = 86, .extra = SYSTEM_VALUE, ENCODINGS(0x06, 0x0e)},
    {1, 0x0b, CBI_OP_CS2R, .d = 86, .extra = SPECIAL_REGISTER, ENCODINGS(0x04, 0x0c)},
    {1, 0x0b, CBI_OP_CS2UR, .d = 86, ENCODINGS(0x06, 0x0e)},
    {1, 0x0b, CBI_OP_S2R, .d = 86, .extra = SPECIAL_REGISTER, ENCODINGS(0x04)},
    {1, 0x0b, CBI_OP_S2UR, .d = 86, .extra = SPECIAL_REGISTER, ENCODINGS(0x06)},
    {1, 0x0b, CBI_OP_LDC, .d = 86, .extra = SYSTEM_VALUE, ENCODINGS(0x04, 0x0c)},
    {1, 0x10, CBI_OP_PLOP3, .p = 91, .q = 107, .r = 123, ENCODINGS(0x06)},
    {1, 0x16, CBI_OP_IMNMX, .d = 86, .a = 102, .b = 118, ENCODINGS(0x1e)},
    {1, 0x17, CBI_OP_IMNMX, .d = 86, .a = 102, .b = 118, ENCODINGS(0x1e)},
    {1, 0x23, CBI_OP_UTMASTG, .b = 86, .a = 118, ENCODINGS(0x0e)},
    {1, 0x23, CBI_OP_UBLKCP, .b = 86, ENCODINGS(0x06)},
    {1, 0x29, CBI_OP_LOP3, .d = 86, .a = 102, .b = 118, ENCODINGS(0x00)},
    {1, 0x29, CBI_OP_ULOP3, .d = 86, .a = 102, .b = 118, ENCODINGS(0x10)},
    {1, 0x29, CBI_OP_LOP3_U, .d = 86, .a = 102, .b = 118, ENCODINGS(0x08)},
    {1, 0x2b, CBI_OP_LOP3, .d = 102, .b = 118, ENCODINGS(0x00)},
    {1, 0x2b, CBI_OP_ULOP3, .d = 102, .b = 118, ENCODINGS(0x08)},
    {1, 0x2b, CBI_OP_LOP3_U, .d = 102, .b = 118, ENCODINGS(0x04)},
    {1, 0x32, CBI_OP_CREDUX, .d = 86, .a = 102, ENCODINGS(0x10)},
    {1, 0x32, CBI_OP_REDUX, .d = 86, .a = 102, ENCODINGS(0x10)},
    {1, 0x47, CBI_OP_BAR_RI, .b = 86, ENCODINGS(0x56)},
    {1, 0x47, CBI_OP_BAR, .barrier = 88, .barrier_sass = 54, ENCODINGS(0x5a)},
    {1, 0x58, CBI_OP_BMOV_355, .d = 86, .barrier = 97, .barrier_sass = 24, ENCODINGS(0x02)},
    {1, 0x58, CBI_OP_BMOV_356, .b = 102, .barrier = 81, .barrier_sass = 24, ENCODINGS(0x00)},
    {1, 0x5f, CBI_OP_R2UR, .d = 86, .a = 102, ENCODINGS(0x08)},
    {1, 0x62, CBI_OP_ACQBULK, .d = 86, .a = 102, ENCODINGS(0x00)},
    {2, 0x0c, CBI_OP_DADD_IC, .d = 86, .a = 102, .signs = 57, .extra = LITERAL, ENCODINGS(0x1e)},
    {2, 0x0c, CBI_OP_IADD_I, .d = 86, .a = 118, .extra = LITERAL_64, ENCODINGS(0x52)},
    {2, 0x0d, CBI_OP_DFMA_IC, .d = 86, .a = 102, .c = 118, .signs = 57, .extra = LITERAL,
     ENCODINGS(0x1c)},
    {2, 0x0d, CBI_OP_DFMA_I, .d = 86, .a = 102, .c = 142, .extra = LITERAL, ENCODINGS(0x1a)},
    {2, 0x0f, CBI_OP_DMUL_I, .d = 86, .a = 102, .extra = LITERAL, ENCODINGS(0x12)},
    {2, 0x10, CBI_OP_DSETP_IC, .p = 91, .extra = LITERAL, ENCODINGS(0x0a, 0x16)},
    {2, 0x10, CBI_OP_ISETP_I, .p = 91, .extra = LITERAL_64, ENCODINGS(0x60, 0x74)},
    {2, 0x10, CBI_OP_PLOP3, .p = 91, ENCODINGS(0x02)},
    {2, 0x10, CBI_OP_UPLOP3, .p = 91, ENCODINGS(0x04)},
    {2, 0x17, CBI_OP_IMNMX_I, .d = 86, .a = 102, .extra = LITERAL, ENCODINGS(0x20)},
    {2, 0x19, CBI_OP_SEL_64_I, .d = 86, .a = 102, ENCODINGS(0x12)},
    {2, 0x1b, CBI_OP_SYNCS_PHASECHK, .a = 118, .c = 142, .extra = OFFSET,
     ENCODINGS(0x42, 0x44, 0x4a, 0x4c)},
    {2, 0x1b, CBI_OP_SYNCS_EXCH, .a = 86, .b = 118, .extra = OFFSET, ENCODINGS(0x5e)},
    {2, 0x1b, CBI_OP_SYNCS_ARRIVE, .extra = OFFSET,
     ENCODINGS(0x1e, 0x20, 0x24, 0x2c, 0x2e, 0x3a, 0x3c)},
    {2, 0x22, CBI_OP_LDCU, .d = 86, .size = 52, .extra = PARAMETER, ENCODINGS(0x08, 0x0a)},
    {2, 0x22, CBI_OP_LD, .d = 102, .a = 118, .size = 48, .extra = OFFSET, ENCODINGS(0x32, 0x3c)},
    {2, 0x22, CBI_OP_LDL, .d = 86, .a = 102, .size = 52, .extra = OFFSET, ENCODINGS(0x28)},
    {2, 0x22, CBI_OP_LDC, .d = 86, .size = 52, .extra = PARAMETER, ENCODINGS(0x0c, 0x0e)},
    {2, 0x23, CBI_OP_UBLKCP, .b = 102, .a = 142, .c = 158, ENCODINGS(0x28)},
    {2, 0x23, CBI_OP_UTMALDG, .b = 102, .a = 158, ENCODINGS(0x1a, 0x1c)},
    {2, 0x23, CBI_OP_LDGSTS, .d = 102, .a = 142, .c = 174, ENCODINGS(0x30)},
    {2, 0x23, CBI_OP_LDGSTS, .d = 102, .a = 142, .c = 158, ENCODINGS(0x34)},
    {2, 0x29, CBI_OP_LOP3_I, .d = 102, .a = 118, .extra = LITERAL, ENCODINGS(0x04)},
    {2, 0x38, CBI_OP_STL_R, .a = 86, .b = 118, .size = 52, .extra = OFFSET, ENCODINGS(0x20)},
    {2, 0x38, CBI_OP_ST, .a = 102, .b = 158, .c = 142, .size = 48, .extra = OFFSET,
     ENCODINGS(0x2a)},
    {2, 0x38, CBI_OP_ST, .a = 86, .b = 142, .c = 102, .size = 48, .extra = OFFSET, ENCODINGS(0x3e)},
    {2, 0x38, CBI_OP_STG, .a = 102, .b = 158, .c = 142, .size = 52, .extra = OFFSET,
     ENCODINGS(0x0e)},
    {2, 0x38, CBI_OP_STG, .a = 102, .b = 158, .c = 118, .size = 52, .extra = OFFSET,
     ENCODINGS(0x1a)},
    {2, 0x3e, CBI_OP_TEX, .d = 118, .a = 142, .b = 158, ENCODINGS(0x00)},
    {2, 0x3f, CBI_OP_TLD, .d = 142, .a = 158, ENCODINGS(0x00)},
    {2, 0x4d, CBI_OP_REDG, .a = 102, .b = 158, .c = 142, .extra = OFFSET, ENCODINGS(0x24)},
    {2, 0x4d, CBI_OP_REDG, .a = 102, .b = 142, .extra = OFFSET, ENCODINGS(0x2e)},
    {2, 0x4d, CBI_OP_REDG_F, .a = 102, .b = 158, .c = 142, .extra = OFFSET, ENCODINGS(0x0e)},
    {2, 0x4d, CBI_OP_UREDGR, .a = 102, .b = 190, ENCODINGS(0x04)},
    {2, 0x4e, CBI_OP_ATOMS_R, .d = 102, .a = 118, .b = 158, .operation = 52, .extra = OFFSET,
     ENCODINGS(0x82)},
    {2, 0x4e, CBI_OP_ATOMG_CAS, .d = 118, .a = 142, .b = 174, .c = 190, .extra = OFFSET,
     ENCODINGS(0x24)},
    {2, 0x4e, CBI_OP_ATOMS_CAST, .a = 102, ENCODINGS(0x7e)},
    {2, 0x4e, CBI_OP_ATOM, .a = 142, .b = 190, ENCODINGS(0x68)},
    {2, 0x4e, CBI_OP_ATOMS, .d = 102, .b = 174, .c = 142, .operation = 52, .extra = OFFSET,
     ENCODINGS(0x84)},
    {2, 0x4e, CBI_OP_ATOMG_F, .a = 142, .b = 190, .c = 174, ENCODINGS(0x3c)},
    {2, 0x4e, CBI_OP_ATOMG, .d = 118, .a = 142, .b = 190, .c = 174, .operation = 52,
     ENCODINGS(0x52)},
    {2, 0x4e, CBI_OP_ATOMS_POPC, .a = 118, .c = 142, ENCODINGS(0x8a)},
    {2, 0x5a, CBI_OP_IMMA, .d = 102, .a = 118, .b = 142, .c = 158, ENCODINGS(0x08)},
    {2, 0x5a, CBI_OP_HMMA, .d = 102, .a = 118, .b = 142, .c = 158, ENCODINGS(0x00, 0x0c)},
    {2, 0x5a, CBI_OP_DMMA, .d = 102, .a = 118, .b = 142, .c = 158, ENCODINGS(0x04)},
    {2, 0x5a, CBI_OP_QMMA_SF, .d = 102, .a = 118, .b = 142, .c = 158, ENCODINGS(0x16)},
    {2, 0x5e, CBI_OP_LDGMC, .d = 102, .a = 118, .c = 142, ENCODINGS(0x0c, 0x0e, 0x14)},
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

/* At most 57 bits. */
static uint64_t bits(const uint8_t *bytes, size_t size, unsigned low, unsigned count)
{
    size_t at = low / 8;
    uint64_t word = 0;
    if (cbi_fits(at, sizeof word, size))
        word = cbi_ld64(bytes + at);
    else
        for (size_t i = at; i < size && i < at + 8; i++)
            word |= (uint64_t)bytes[i] << (8 * (i - at));
    return word >> (low % 8) & ((UINT64_C(1) << count) - 1);
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
    return predicate == CBI_CAPSULE_NO_PREDICATE ? 7 : predicate;
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
 * another one does. */
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
    if (taken)
        add(c, name, OTHER | number, sass, false);
}

static void add_extra(collector *c, const record_layout *layout)
{
    uint64_t offset = layout->opcode == CBI_OP_LDCU ? in_sass(c, 37, 17) : in_sass(c, 38, 16);
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
    if (e->klass == CBI_CLASS_ELECT)
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

/* What records were seen for an opcode, sorted: class, units, form.  Opcodes that occur 400 times
 * or more in the collection; what the toolkit's libraries have besides is listed, too. */
enum { KINDS = 5 };
typedef struct record_kind {
    uint16_t opcode;
    uint16_t kinds[KINDS];
} record_kind;

static const record_kind record_kinds[] = {
    {CBI_OP_MOV, {0x0014, 0x0b14}},
    {CBI_OP_ISETP, {0x1014, 0x1024}},
    {CBI_OP_LEA, {0x0014, 0x2524}},
    {CBI_OP_LOP3, {0x2724, 0x2824, 0x2910, 0x2b10}},
    {CBI_OP_IMNMX, {0x1610, 0x1710, 0x6724}},
    {CBI_OP_HADD2, {0x0c14}},
    {CBI_OP_IADD, {0x0c14, 0x0c24}},
    {CBI_OP_HMMA, {0x5a20}},
    {CBI_OP_UISETP, {0x1014, 0x1024}},
    {CBI_OP_ULOP3, {0x2714, 0x2814, 0x2824, 0x2910, 0x2b10}},
    {CBI_OP_UIADD3_64, {0x0c14}},
    {CBI_OP_R2UR, {0x5f10, 0x6614}},
    {CBI_OP_BMOV_355, {0x5810}},
    {CBI_OP_BMOV_356, {0x5810}},
    {CBI_OP_STL_R, {0x3820}},
    {CBI_OP_ATOMS_R, {0x4e20}},
    {CBI_OP_ATOMG_CAS, {0x4e20}},
    {CBI_OP_REDUX, {0x3210}},
    {CBI_OP_MOV_IC, {0x0b24}},
    {CBI_OP_DADD_IC, {0x0c20}},
    {CBI_OP_DSETP_IC, {0x1020}},
    {CBI_OP_DFMA_IC, {0x0d20}},
    {CBI_OP_UMOV_IC, {0x0b24}},
    {CBI_OP_BAR_RI, {0x4710}},
    {CBI_OP_SYNCS_EXCH, {0x1b20}},
    {CBI_OP_LDCU, {0x0b10, 0x2220}},
    {CBI_OP_CS2R, {0x0b10}},
    {CBI_OP_VOTE, {0x5d14}},
    {CBI_OP_ISETP_I, {0x1020, 0x1024}},
    {CBI_OP_LOP3_I, {0x2724, 0x2920, 0x2a24}},
    {CBI_OP_PLOP3, {0x1010, 0x1020}},
    {CBI_OP_DMUL_I, {0x0f20}},
    {CBI_OP_ACQBULK, {0x6210}},
    {CBI_OP_ELECT, {0x6414}},
    {CBI_OP_IADD_I, {0x0c20, 0x0c24}},
    {CBI_OP_UF2F_I, {0x1214}},
    {CBI_OP_I2F_I, {0x1214}},
    {CBI_OP_NOP, {0x4710, 0x4910, 0x6310}},
    {CBI_OP_S2R, {0x0b10}},
    {CBI_OP_DEPBAR, {0x2310}},
    {CBI_OP_CALL_ABS, {0x0a24}},
    {CBI_OP_WARPSYNC, {0x4714}},
    {CBI_OP_RET, {0x3324}},
    {CBI_OP_LD, {0x2220}},
    {CBI_OP_LDL, {0x2220}},
    {CBI_OP_ST, {0x3820}},
    {CBI_OP_STG, {0x3820}},
    {CBI_OP_ATOMS, {0x4e20}},
    {CBI_OP_REDG, {0x4d20}},
    {CBI_OP_SYNCS_ARRIVE, {0x1b20}},
    {CBI_OP_ATOMG, {0x4e20}},
    {CBI_OP_S2UR, {0x0b10}},
    {CBI_OP_BAR, {0x4710, 0x4714}},
    {CBI_OP_LDC, {0x0b10, 0x2220}},
    {CBI_OP_MOV_U, {0x0b14, 0x4614}},
    {CBI_OP_ISETP_U, {0x1014, 0x1024}},
    {CBI_OP_IADD_U, {0x0c14, 0x0c24}},
    {CBI_OP_TLD, {0x3f20}},
    {CBI_OP_ATOMS_POPC, {0x4e20}},
};

static bool has_lower_opcode(const void *kinds, const void *opcode)
{
    return ((const record_kind *)kinds)->opcode < *(const uint32_t *)opcode;
}

/* Is the record's class, length and form one of those seen with its opcode?  True where none is
 * listed. */
static bool is_known_kind(const cbi_capsule_entry *e, uint32_t opcode)
{
    uint32_t kind = (uint32_t)e->klass << 8 | (uint32_t)e->units << 4 | e->form;
    size_t low = cbi_search(record_kinds, CBI_COUNT(record_kinds), sizeof *record_kinds,
                            has_lower_opcode, &opcode);
    if (low == CBI_COUNT(record_kinds) || record_kinds[low].opcode != opcode)
        return true;
    for (size_t k = 0; k < KINDS; k++)
        if (record_kinds[low].kinds[k] == kind)
            return true;
    return false;
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

const char *cbi_capsule_kind_problem(cbi_ctx *ctx, const cbi_capsule_entry *e, const uint8_t *insn)
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

const char *cbi_capsule_fields_problem(cbi_ctx *ctx, const cbi_capsule_entry *e,
                                       const uint8_t *insn)
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

const char *cbi_capsule_check_fields(cbi_ctx *ctx, cbi_span capsule, cbi_span text)
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
        found = cbi_capsule_fields_problem(ctx, &e, text.data + at);
    }
    return found;
}
