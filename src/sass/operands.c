#include "sass/operands.h"

static void add(cbi_regset *set, uint64_t first, unsigned count)
{
    for (uint64_t r = first; r < first + count && r < 256; r++)
        set->w[r / 64] |= UINT64_C(1) << (r % 64);
}

/* General registers from the field at bit low; 255 is the zero register. */
static void general(cbi_regset *set, cbi_sass w, unsigned low, unsigned count)
{
    uint64_t r = cbi_sass_bits(w, low, 8);
    if (r != 255)
        add(set, r, count);
}

/* Uniform registers; 63 is the zero register. */
static void uniform(cbi_regset *set, cbi_sass w, unsigned low, unsigned count)
{
    uint64_t r = cbi_sass_bits(w, low, 8);
    if (r != 255 && (r & 63) != 63)
        add(set, r, count);
}

/* A uniform base address, where bit 91 says that there is one. */
static void base_register(cbi_operands *o, cbi_sass w, unsigned low, unsigned count)
{
    if (cbi_sass_bits(w, 91, 1))
        uniform(&o->uniform_read, w, low, count);
}

static unsigned access_size(cbi_sass w)
{
    switch (cbi_sass_bits(w, 73, 3)) {
    case 5:
        return 2;
    case 6:
        return 4;
    case 7:
        return 8;
    default:
        return 1;
    }
}

static void texture(cbi_sass w, cbi_operands *o)
{
    static const uint8_t coordinates[8] = {1, 2, 2, 3, 3, 4, 3, 4}; /* by dimension */
    unsigned results = 0;
    for (unsigned i = 72; i < 76; i++)
        results += (unsigned)cbi_sass_bits(w, i, 1);
    general(&o->written, w, 16, results ? results : 1);
    general(&o->read, w, 24, coordinates[cbi_sass_bits(w, 61, 3)]);
    general(&o->read, w, 32, 1);
    uniform(&o->uniform_read, w, 40, 2);
}

/* Products of matrix fragments; wide is the greater depth. */
static void tensor(cbi_sass w, cbi_operands *o)
{
    bool wide = cbi_sass_bits(w, 75, 1) || cbi_sass_bits(w, 83, 1);
    bool doubles = cbi_sass_op(w) == 0x23f, half = cbi_sass_op(w) == 0x23c;
    unsigned sum = half && !cbi_sass_bits(w, 76, 1) ? 2 : 4;
    general(&o->written, w, 16, sum);
    general(&o->read, w, 24, doubles || !wide ? 2 : 4);
    general(&o->read, w, 32, doubles || wide ? 2 : 1);
    general(&o->read, w, 64, sum);
}

/* Memory, system and branch instructions; false if w is none of them. */
static bool special(cbi_sass w, cbi_operands *o)
{
    uint32_t op = cbi_sass_op(w);
    unsigned size = access_size(w);
    switch (op) {
    case 0x918:
    case 0x947:
    case 0x547: /* by a uniform predicate */
    case 0x94d:
    case 0x941:
    case 0x945:
    case 0x950:
    case 0x81c: /* logic of predicates */
    case 0x89c:
    case 0xb1d:
    case 0x992:
    case 0x9ab:
    case 0x5ab:
    case 0x948:
    case 0x35d:
    case 0x82d:
    case 0x82e:
    case 0x82f:
    case 0x3c6:
    case 0x91a:
    case 0x91b:
    case 0x942:
    case 0x946:
    case 0x95c:
    case 0x95d:
    case 0x9af:
    case 0x9b7:
    case 0x9c7:
    case 0xdc7:
        return true;
    case 0x348:
        general(&o->read, w, 24, 1);
        return true;
    case 0x237:
    case 0x23c:
    case 0x23f:
        tensor(w, o);
        return true;
    case 0x83b:
        general(&o->written, w, 16, 1U << cbi_sass_bits(w, 72, 2));
        general(&o->read, w, 24, 1);
        return true;
    case 0x806:
        general(&o->written, w, 16, 1);
        return true;
    case 0x3a1:
        general(&o->written, w, 16, 1);
        general(&o->read, w, 24, 1);
        return true;
    case 0x98f:
        general(&o->read, w, 24, 2);
        uniform(&o->uniform_read, w, 64, 2);
        return true;
    case 0x385:
    case 0x386:
        general(&o->read, w, 24, 2);
        general(&o->read, w, 64, size);
        return true;
    case 0x949:
        general(&o->read, w, 24, 2);
        return true;
    case 0x958:
        uniform(&o->uniform_read, w, 24, 2);
        return true;
    case 0xb82:
        general(&o->written, w, 16, size);
        general(&o->read, w, 24, 1);
        return true;
    case 0x7ac:
        uniform(&o->uniform_written, w, 16, size);
        uniform(&o->uniform_read, w, 24, 1);
        return true;
    case 0x919:
        general(&o->written, w, 16, 1);
        return true;
    case 0x9c3:
    case 0x886:
        uniform(&o->uniform_written, w, 16, 1);
        return true;
    case 0x805:
        general(&o->written, w, 16, 2);
        return true;
    case 0x803: /* predicates to a register and back */
        general(&o->written, w, 16, 1);
        general(&o->read, w, 24, 1);
        return true;
    case 0x804:
        general(&o->read, w, 24, 1);
        return true;
    case 0x607: /* one of two pairs */
        general(&o->written, w, 16, 2);
        general(&o->read, w, 24, 2);
        general(&o->read, w, 32, 2);
        return true;
    case 0xc87:
        uniform(&o->uniform_written, w, 16, 2);
        uniform(&o->uniform_read, w, 24, 2);
        uniform(&o->uniform_read, w, 32, 2);
        return true;
    case 0x97e: /* 256 bits, in two halves */
        general(&o->written, w, 16, 4);
        general(&o->written, w, 64, 4);
        general(&o->read, w, 24, 2);
        base_register(o, w, 32, 2);
        return true;
    case 0x97f:
        general(&o->read, w, 24, 2);
        general(&o->read, w, 32, 4);
        general(&o->read, w, 16, 4);
        base_register(o, w, 64, 2);
        return true;
    default:
        break;
    }
    if (op >= 0xf60 && op <= 0xf7f) {
        texture(w, o);
        return true;
    }
    switch (op & 0x1ff) {
    case 0x189: { /* exchanges between lanes: lane and clamp are registers or not */
        unsigned form = (unsigned)cbi_sass_bits(w, 9, 3);
        general(&o->written, w, 16, 1);
        general(&o->read, w, 24, 1);
        if (form == 1 || form == 2)
            general(&o->read, w, 32, 1);
        if (form == 1 || form == 4)
            general(&o->read, w, 64, 1);
        return true;
    }
    case 0x180:
    case 0x181:
        general(&o->written, w, 16, size);
        general(&o->read, w, 24, 2);
        base_register(o, w, 32, 2);
        return true;
    case 0x183:
    case 0x184:
        general(&o->written, w, 16, size);
        general(&o->read, w, 24, 1);
        base_register(o, w, 32, 1);
        return true;
    case 0x185:
    case 0x186:
        general(&o->read, w, 24, 2);
        general(&o->read, w, 32, size);
        base_register(o, w, 64, 2);
        return true;
    case 0x187:
    case 0x188:
        general(&o->read, w, 24, 1);
        general(&o->read, w, 32, size);
        base_register(o, w, 64, 1);
        return true;
    case 0x18a:
    case 0x18b:
    case 0x18c:
    case 0x18d:
    case 0x18e:
    case 0x1a3:
    case 0x1a8:
    case 0x1a9: {
        uint32_t base = op & 0x1ff;
        uint64_t type = cbi_sass_bits(w, 73, 3);
        unsigned n = type == 2 || type == 5 ? 2 : 1;
        bool shared = base == 0x18c || base == 0x18d;
        bool compare = base == 0x1a9 || base == 0x18b || base == 0x18d;
        general(&o->written, w, 16, n);
        general(&o->read, w, 24, shared ? 1 : 2);
        general(&o->read, w, 32, n);
        base_register(o, w, 64, 2);
        if (compare) {
            general(&o->read, w, 64, 1);
            base_register(o, w, 24, 2);
        }
        return true;
    }
    default:
        return false;
    }
}

/* Instructions of the uniform datapath; false if w is none. */
static bool uniform_alu(cbi_sass w, cbi_operands *o)
{
    uint32_t op = cbi_sass_op(w), base = op & 0x1ff;
    unsigned form = (unsigned)cbi_sass_bits(w, 9, 3);
    if (op == 0x2ca || op == 0x3c4) {
        general(&o->read, w, 24, 1);
        uniform(&o->uniform_written, w, 16, 1);
        return true;
    }
    if (op == 0x482) { /* an immediate */
        uniform(&o->uniform_written, w, 16, 1);
        return true;
    }
    if (op == 0x2bd) {
        uniform(&o->uniform_written, w, 16, 1);
        uniform(&o->uniform_read, w, 24, 1);
        uniform(&o->uniform_read, w, 32, 1);
        return true;
    }
    bool floats = (base & 0x1f0) == 0x50; /* sm_120 */
    bool in_range = floats || ((op & 0xff) >= 0x80 && (op & 0xff) < 0xc0 && !(op & 0x100) &&
                               (form == 1 || form == 4));
    if ((op != 0x2cc && op != 0xc82 && op != 0x882 && !in_range) || base & 0x100)
        return false;
    bool to_predicate = base == 0x8b || base == 0x8c || base == 0x9c;
    if (!to_predicate)
        uniform(&o->uniform_written, w, 16, base == 0xa5 ? 2 : 1);
    uniform(&o->uniform_read, w, 24, 1);
    if (form == 1)
        uniform(&o->uniform_read, w, 32, 1);
    uniform(&o->uniform_read, w, 64, 1);
    return true;
}

static bool is_conversion(uint32_t base)
{
    return base >= 0x110 && base <= 0x113;
}

static bool is_unary(uint32_t base)
{
    switch (base) {
    case 0x02:
    case 0x13:
    case 0x45:
    case 0x100:
    case 0x101:
    case 0x104:
    case 0x105:
    case 0x106:
    case 0x107:
    case 0x108:
    case 0x109:
        return true;
    default:
        return is_conversion(base);
    }
}

/* Two sources, in a and b; what stands in c is no register. */
static bool is_binary(uint32_t base)
{
    static const uint8_t bases[] = {0x07, 0x08, 0x09, 0x0b, 0x0c, 0x14, 0x17, 0x1a,
                                    0x1b, 0x1c, 0x20, 0x21, 0x28, 0x2a, 0x30, 0x32,
                                    0x33, 0x34, 0x36, 0x40, 0x48, 0x4a};
    for (size_t i = 0; i < CBI_COUNT(bases); i++)
        if (bases[i] == base)
            return true;
    return false;
}

static void alu(cbi_sass w, cbi_operands *o)
{
    uint32_t base = cbi_sass_op(w) & 0x1ff;
    unsigned form = (unsigned)cbi_sass_bits(w, 9, 3);
    bool wide = base == 0x28 || base == 0x29 || base == 0x2a || base == 0x2b || base == 0x35;
    bool conversion = is_conversion(base), unary = is_unary(base);
    bool sum = base == 0x29; /* sources in a and c */
    bool third_read = !unary && base != 0x35 && !is_binary(base);
    unsigned n = wide ? 2 : 1, third = base == 0x25 ? 2 : n;
    unsigned to = cbi_sass_bits(w, 75, 2) == 3 ? 2 : 1, from = cbi_sass_bits(w, 84, 2) == 3 ? 2 : 1;
    bool to_predicate =
        base == 0x0b || base == 0x0c || base == 0x2a || base == 0x1c || base == 0x1b;
    if (!to_predicate)
        general(&o->written, w, 16, conversion ? to : base == 0x25 || wide ? 2 : 1);
    if (!unary)
        general(&o->read, w, 24, n);
    if (form == 1 && !sum)
        general(&o->read, w, 32, unary ? (conversion ? from : 1) : n);
    if (form == 1 || (form >= 4 && form <= 6)) {
        if (third_read)
            general(&o->read, w, 64, third);
    } else if (third_read && !sum) {
        general(&o->read, w, 64, n);
    }
    if (form == 3 || form == 6)
        uniform(&o->uniform_read, w, 32, n);
    else if (form == 7)
        uniform(&o->uniform_read, w, 32, third_read || sum ? third : n);
}

static void predicate(uint8_t *set, cbi_sass w, unsigned low)
{
    uint64_t p = cbi_sass_bits(w, low, 3);
    if (p != 7)
        *set |= (uint8_t)(1u << p);
}

/* Results that arrive late, and everybody's sources. */
static void predicates(cbi_sass w, cbi_operands *o)
{
    uint32_t op = cbi_sass_op(w), base = op & 0x1ff;
    predicate(&o->predicates_read, w, 12);
    if (base == 0x2a) {
        predicate(&o->predicates_written, w, 81);
        predicate(&o->predicates_written, w, 84);
    }
    bool branch = op == 0x947 || op == 0x94d || op == 0x942 || op == 0x950 || op == 0x941;
    if (base < 0x80 || branch)
        predicate(&o->predicates_read, w, 87);
    if (base == 0x10 || base == 0x1c)
        predicate(&o->predicates_read, w, 77);
    if (base == 0x0c || base == 0x1c)
        predicate(&o->predicates_read, w, 68);
}

void cbi_sass_operands(cbi_sass w, cbi_operands *ret_operands)
{
    memset(ret_operands, 0, sizeof *ret_operands);
    predicates(w, ret_operands);
    if (!special(w, ret_operands) && !uniform_alu(w, ret_operands))
        alu(w, ret_operands);
}

bool cbi_sass_reads_stack_pointer(cbi_sass w)
{
    cbi_operands o;
    cbi_sass_operands(w, &o);
    return o.read.w[0] & 2;
}

int64_t cbi_sass_branch_distance(cbi_sass w)
{
    uint64_t v = cbi_sass_bits(w, 16, 8) | cbi_sass_bits(w, 34, 48) << 8;
    return (int64_t)(v << 8) / 64; /* 56 bits, in units of 4 bytes */
}

bool cbi_sass_writes_predicate(cbi_sass w, uint32_t predicate)
{
    uint32_t kind = cbi_sass_op(w) & 0xff;
    return (kind == 0x0c || kind == 0x0b || kind == 0x1c || kind == 0x8c) &&
           (cbi_sass_bits(w, 81, 3) == predicate || cbi_sass_bits(w, 84, 3) == predicate);
}
