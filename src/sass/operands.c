#include "sass/operands.h"

#include "sass/opcodes.h"

enum { ZERO_REGISTER = 255 };

/* Where operands stand. */
enum { AT_D = 16, AT_A = 24, AT_B = 32, AT_HANDLE = 40, AT_C = 64 };

/* Numbers of registers that modifiers decide. */
enum {
    SIZE = 100,
    MATRICES,
    TYPE,
    FLOATS,
    SUMS,
    TO,
    FROM,
    MINMAX,
    PACKED,
    FRAGMENT,
    INTEGER,
    KEY,
    COMPONENTS,
};

/* How many registers stand in each place; `b` and `c` of arithmetic are where the form says.
 * Of an address the uniform base stands at bit `base`, if bit 91 says that there is one. */
typedef struct shape {
    uint8_t d, a, b, c;     /* general: written, and read */
    uint8_t ud, ua, ub, uc; /* uniform */
    uint8_t base, base_count;
} shape;

static const shape shapes[CBI_SHAPES] = {
    [CBI_SHAPE_UNARY] = {.d = 1, .b = 1},
    [CBI_SHAPE_UNARY_TYPED] = {.d = INTEGER, .b = INTEGER},
    [CBI_SHAPE_BINARY] = {.d = 1, .a = 1, .b = 1},
    [CBI_SHAPE_TERNARY] = {.d = 1, .a = 1, .b = 1, .c = 1},
    [CBI_SHAPE_COMPARE] = {.a = 1, .b = 1},
    [CBI_SHAPE_COMPARE_3] = {.a = 1, .b = 1, .c = 1},
    [CBI_SHAPE_COMPARE_TYPED] = {.a = INTEGER, .b = INTEGER},
    [CBI_SHAPE_TERNARY_HIGH] = {.d = 1, .a = 1, .b = 1, .c = 2},
    [CBI_SHAPE_TERNARY_WIDE] = {.d = 2, .a = 1, .b = 1, .c = 2},
    [CBI_SHAPE_BINARY_64] = {.d = 2, .a = 2, .b = 2},
    [CBI_SHAPE_BINARY_TYPED] = {.d = MINMAX, .a = MINMAX, .b = MINMAX},
    [CBI_SHAPE_BINARY_PACKED] = {.d = PACKED, .a = PACKED, .b = PACKED},
    [CBI_SHAPE_SUM_64] = {.d = 2, .a = 2, .c = 2},
    [CBI_SHAPE_TERNARY_64] = {.d = 2, .a = 2, .b = 2, .c = 2},
    [CBI_SHAPE_COMPARE_64] = {.a = 2, .b = 2},
    [CBI_SHAPE_CONVERT] = {.d = TO, .b = FROM},
    [CBI_SHAPE_UNIFORM] = {.ud = 1, .ua = 1, .ub = 1, .uc = 1},
    [CBI_SHAPE_UNIFORM_UNARY] = {.ud = 1, .ub = 1},
    [CBI_SHAPE_UNIFORM_TWO] = {.ud = 1, .ua = 1, .ub = 1},
    [CBI_SHAPE_UNIFORM_SUM] = {.ud = 1, .ua = 1, .uc = 1},
    [CBI_SHAPE_UNIFORM_SUM_64] = {.ud = 2, .ua = 2, .ub = 2, .uc = 2},
    [CBI_SHAPE_UNIFORM_WIDE] = {.ud = 2, .ua = 1, .ub = 1, .uc = 2},
    [CBI_SHAPE_UNIFORM_COMPARE] = {.ua = 1, .ub = 1},
    [CBI_SHAPE_READ] = {.a = 1},
    [CBI_SHAPE_WRITE] = {.d = 1},
    [CBI_SHAPE_WRITE_TYPED] = {.d = INTEGER},
    [CBI_SHAPE_MOVE] = {.d = 1, .a = 1},
    [CBI_SHAPE_MATCH] = {.d = 1, .a = KEY},
    [CBI_SHAPE_SELECT_64] = {.d = 2, .a = 2, .b = 2},
    [CBI_SHAPE_SELECT_64_I] = {.d = 2, .a = 2},
    [CBI_SHAPE_SELECT_64_U] = {.d = 2, .a = 2, .ub = 2},
    [CBI_SHAPE_UNIFORM_WRITE] = {.ud = 1},
    [CBI_SHAPE_UNIFORM_WRITE_TYPED] = {.ud = INTEGER},
    [CBI_SHAPE_UNIFORM_WRITE_PAIR] = {.ud = 2},
    [CBI_SHAPE_UNIFORM_READ] = {.ua = 1},
    [CBI_SHAPE_UNIFORM_MOVE] = {.ud = 1, .ua = 1},
    [CBI_SHAPE_UNIFORM_BINARY] = {.ud = 1, .ua = 1, .ub = 1},
    [CBI_SHAPE_UNIFORM_SELECT_64] = {.ud = 2, .ua = 2, .ub = 2},
    [CBI_SHAPE_TO_UNIFORM] = {.ud = 1, .a = 1},
    [CBI_SHAPE_BRA] = {.base = AT_A, .base_count = 1},
    [CBI_SHAPE_BRX] = {.a = 2},
    [CBI_SHAPE_WRITE_PAIR] = {.d = 2},
    [CBI_SHAPE_BRXU] = {.ua = 2},
    [CBI_SHAPE_LDC] = {.d = SIZE, .a = 1},
    [CBI_SHAPE_LDCU] = {.ud = SIZE, .ua = 1},
    [CBI_SHAPE_LDSM] = {.d = MATRICES, .a = 1, .base = AT_B, .base_count = 1},
    [CBI_SHAPE_STSM] = {.a = 1, .b = MATRICES},
    [CBI_SHAPE_CCTL] = {.a = 2, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_LOAD] = {.d = SIZE, .a = 2, .base = AT_B, .base_count = 2},
    [CBI_SHAPE_LOAD_NARROW] = {.d = SIZE, .a = 1, .base = AT_B, .base_count = 1},
    [CBI_SHAPE_LOAD_256] = {.d = 4, .a = 2, .base = AT_B, .base_count = 2},
    [CBI_SHAPE_STORE] = {.a = 2, .b = SIZE, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_STORE_NARROW] = {.a = 1, .b = SIZE, .base = AT_C, .base_count = 1},
    [CBI_SHAPE_STORE_R] = {.a = 2, .c = SIZE},
    [CBI_SHAPE_STORE_256] = {.a = 2, .b = 4, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_ATOM] = {.d = TYPE, .a = 2, .b = TYPE, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_ATOM_FLOAT] = {.d = FLOATS, .a = 2, .b = FLOATS, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_ATOM_CAS] = {.d = TYPE, .a = 2, .b = TYPE, .c = TYPE, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_ATOM_SHARED] = {.d = TYPE, .a = 1, .b = TYPE, .base = AT_C, .base_count = 1},
    [CBI_SHAPE_ATOM_SHARED_CAS] =
        {.d = TYPE, .a = 1, .b = TYPE, .c = TYPE, .base = AT_C, .base_count = 1},
    [CBI_SHAPE_ATOM_SHARED_CAST] = {.a = 1, .b = TYPE, .c = TYPE, .base = AT_C, .base_count = 1},
    [CBI_SHAPE_COUNT_SHARED] = {.d = 1, .a = 1, .base = AT_C, .base_count = 1},
    [CBI_SHAPE_REDUCE_FLOAT] = {.a = 2, .b = FLOATS, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_REDUCE] = {.a = 2, .b = TYPE, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_SHUFFLE] = {.d = 1, .a = 1, .b = 1, .c = 1},
    [CBI_SHAPE_TENSOR_LOAD] = {.d = FRAGMENT, .ub = 1},
    [CBI_SHAPE_TENSOR_STORE] = {.b = FRAGMENT, .uc = 1},
    [CBI_SHAPE_SURFACE_LOAD] = {.d = SIZE, .base = AT_HANDLE, .base_count = 1},
    [CBI_SHAPE_SURFACE_STORE] = {.b = SIZE, .base = AT_HANDLE, .base_count = 1},
    [CBI_SHAPE_SURFACE_STORE_PLAIN] = {.b = COMPONENTS, .base = AT_HANDLE, .base_count = 1},
    [CBI_SHAPE_SURFACE_REDUCE] = {.b = TYPE, .base = AT_HANDLE, .base_count = 1},
    [CBI_SHAPE_LOAD_REDUCED] = {.d = TYPE, .a = 2, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_LOAD_REDUCED_FLOAT] = {.d = SUMS, .a = 2, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_COPY_SHARED] = {.a = 2, .base = AT_C, .base_count = 2},
    [CBI_SHAPE_BULK_COPY] = {.ua = 2, .ub = 2, .uc = 1},
    [CBI_SHAPE_BULK_FETCH] = {.ua = 2, .uc = 1},
    [CBI_SHAPE_TILE_LOAD] = {.ua = 2, .ub = 2, .uc = 1},
    [CBI_SHAPE_TILE_STORE] = {.ua = 2, .ub = 1},
    [CBI_SHAPE_TILE_FETCH] = {.ua = 2},
    [CBI_SHAPE_DESCRIPTOR] = {.ua = 2},
    [CBI_SHAPE_NEXT_WORK] = {.ua = 2},
    [CBI_SHAPE_TENSOR_PRODUCT] = {.ua = 2, .ub = 2, .uc = 1},
    [CBI_SHAPE_TENSOR_PRODUCT_HELD] = {.ua = 1, .ub = 2, .uc = 1},
    [CBI_SHAPE_TENSOR_COPY] = {.ua = 1, .ub = 2},
    [CBI_SHAPE_TENSOR_SHIFT] = {.ua = 1},
    [CBI_SHAPE_TENSOR_SLOTS] = {.ud = 1, .ub = 1},
    [CBI_SHAPE_TENSOR_COMMIT] = {.ua = 1, .uc = 1},
    [CBI_SHAPE_BARRIER_NUMBER] = {.b = 1},
    [CBI_SHAPE_MBARRIER] = {.d = 2, .a = 1, .b = 1, .base = AT_C, .base_count = 1},
    [CBI_SHAPE_MBARRIER_TEST] = {.a = 1, .b = 1, .base = AT_C, .base_count = 1},
    [CBI_SHAPE_MBARRIER_AT] = {.a = 1, .base = AT_C, .base_count = 1},
    [CBI_SHAPE_MBARRIER_SET] = {.ua = 1, .ub = 2},
    [CBI_SHAPE_ADDRESS_SPACE] = {.d = 1, .a = 2, .base = AT_B, .base_count = 2},
};

/* Registers of an access to memory, of a vector. */
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

/* Registers of a fragment of tensor memory, 1 to 128: lanes of 128 and 256 bits take more. */
static unsigned fragment_size(cbi_sass w)
{
    static const uint8_t factors[] = {2, 4, 1, 1};
    bool halves = cbi_sass_bits(w, 87, 1);
    return (halves ? 1U : factors[cbi_sass_bits(w, 81, 2)]) << cbi_sass_bits(w, 83, 3);
}

/* Registers of what atomic operations add, vectors of halves or bfloats, and of floats or one
 * double. */
static unsigned float_count(cbi_sass w)
{
    static const uint8_t of_halves[] = {1, 2, 4, 1, 2, 4, 1, 1},
                         of_floats[] = {1, 1, 2, 4, 1, 1, 1, 2};
    uint64_t type = cbi_sass_bits(w, 73, 3);
    return cbi_sass_bits(w, 76, 1) ? of_floats[type] : of_halves[type];
}

/* Registers of sums over several memories: vectors of halves or bfloats as above, of floats, or one
 * double. */
static unsigned sum_count(cbi_sass w)
{
    static const uint8_t of_floats[] = {1, 1, 1, 1, 1, 2, 4, 2};
    return cbi_sass_bits(w, 76, 1) ? of_floats[cbi_sass_bits(w, 73, 3)] : float_count(w);
}

/* Registers of what atomic operations do with integers, by type: u32, s32, u64, s64, b128, and s64
 * as it was before sm_90. */
static const uint8_t of_integers[] = {1, 1, 2, 2, 4, 2, 1, 1};

/* Components of a texel that are named, bits 72-75. */
static unsigned components(cbi_sass w)
{
    return (unsigned)__builtin_popcountll(cbi_sass_bits(w, 72, 4));
}

static unsigned count_of(uint8_t count, cbi_sass w)
{
    uint64_t type = cbi_sass_bits(w, 73, 3);
    switch (count) {
    case SIZE:
        return access_size(w);
    case MATRICES:
        return (cbi_sass_bits(w, 80, 1) ? 2U : 1U) << cbi_sass_bits(w, 72, 2);
    case TYPE:
        return of_integers[type];
    case FLOATS:
        return float_count(w);
    case SUMS:
        return sum_count(w);
    case TO:
        return cbi_sass_bits(w, 75, 2) == 3 ? 2 : 1;
    case MINMAX: /* signed and unsigned, then the same with 64 bits */
        return type & 2 ? 2 : 1;
    case INTEGER: /* a counter, and from sm_120 on what is compared or moved: 64 bits or not */
        return cbi_sass_bits(w, 80, 1) ? 2 : 1;
    case PACKED:
        return cbi_sass_read_predicate(w) == CBI_SASS_PT ? 1 : 2;
    case FRAGMENT:
        return fragment_size(w);
    case KEY:
        return cbi_sass_bits(w, 73, 1) ? 2 : 1;
    case COMPONENTS:
        return components(w);
    case FROM:
        return cbi_sass_bits(w, 84, 2) == 3 ? 2 : 1;
    default:
        return count;
    }
}

static void add(cbi_regset *set, uint64_t first, unsigned count)
{
    for (uint64_t r = first; r < first + count && r < 256; r++)
        set->w[r / 64] |= UINT64_C(1) << (r % 64);
}

/* Registers from the field at bit low, general or uniform ones. */
static void add_field(cbi_regset *set, cbi_sass w, unsigned low, unsigned count)
{
    uint64_t r = cbi_sass_bits(w, low, 8);
    if (r != ZERO_REGISTER)
        add(set, r, count);
}

/* Bits 9-11 of an opcode: which sources are registers. */
enum {
    FORM_REGISTERS = 1,
    FORM_THIRD_UNIFORM = 3, /* up to here the second register stands in the third place */
    FORM_SECOND_FIRST = 4,  /* from here on the second source is no general register ... */
    FORM_SECOND_UNIFORM = 6,
    FORM_THIRD_LAST = 7, /* ... but in this one, where it stands in the third place */
};

static unsigned form_of(cbi_sass w)
{
    return (unsigned)cbi_sass_bits(w, 9, 3);
}

static void fixed_places(cbi_sass w, const shape *s, cbi_operands *o)
{
    add_field(&o->written, w, AT_D, count_of(s->d, w));
    add_field(&o->read, w, AT_A, count_of(s->a, w));
    add_field(&o->read, w, AT_B, count_of(s->b, w));
    add_field(&o->read, w, AT_C, count_of(s->c, w));
    add_field(&o->uniform_written, w, AT_D, count_of(s->ud, w));
    add_field(&o->uniform_read, w, AT_A, s->ua);
    add_field(&o->uniform_read, w, AT_B, s->ub);
    add_field(&o->uniform_read, w, AT_C, s->uc);
    if (s->base && cbi_sass_bits(w, 91, 1))
        add_field(&o->uniform_read, w, s->base, s->base_count);
}

/* Does the second source stand in the third place, in this form? */
static bool is_second_late(unsigned form)
{
    return form != FORM_REGISTERS && (form <= FORM_THIRD_UNIFORM || form == FORM_THIRD_LAST);
}

static void arithmetic(cbi_sass w, const shape *s, cbi_operands *o)
{
    unsigned form = form_of(w), second = s->b == FROM ? 1 : count_of(s->b, w);
    bool late_b = is_second_late(form);
    add_field(&o->written, w, AT_D, count_of(s->d, w));
    add_field(&o->read, w, AT_A, count_of(s->a, w));
    if (form == FORM_REGISTERS)
        add_field(&o->read, w, AT_B, count_of(s->b, w));
    if (!late_b)
        add_field(&o->read, w, AT_C, s->c);
    else if (s->b && s->c)
        add_field(&o->read, w, AT_C, s->b);
    if (form == FORM_THIRD_UNIFORM || form == FORM_SECOND_UNIFORM)
        add_field(&o->uniform_read, w, AT_B, s->b ? second : s->c);
    else if (form == FORM_THIRD_LAST)
        add_field(&o->uniform_read, w, AT_B, s->c ? s->c : second);
}

static cbi_sass_source source_at(cbi_sass w, unsigned low, unsigned count)
{
    uint8_t r = (uint8_t)cbi_sass_bits(w, low, 8);
    return (cbi_sass_source){r, r == ZERO_REGISTER ? 0 : (uint8_t)count};
}

cbi_sass_source_list cbi_sass_sources(cbi_sass w)
{
    const cbi_instruction *row = cbi_instruction_of(cbi_sass_op(w));
    const shape *s = &shapes[row->shape];
    unsigned form = form_of(w), second = row->flags & CBI_OPF_SUM ? 2 : 1;
    cbi_sass_source_list list = {0};
    if (row->shape == CBI_SHAPE_TENSOR) {
        list.at[0] = source_at(w, AT_A, 2);
        list.at[1] = source_at(w, AT_B, 2);
        return list;
    }
    if (s->a)
        list.at[0] = source_at(w, AT_A, count_of(s->a, w));
    if (s->b && form == FORM_REGISTERS)
        list.at[second] = source_at(w, AT_B, count_of(s->b, w));
    if (s->c && !is_second_late(form))
        list.at[2] = source_at(w, AT_C, s->c);
    else if (s->b && s->c)
        list.at[1] = source_at(w, AT_C, count_of(s->b, w));
    return list;
}

static void uniform_arithmetic(cbi_sass w, const shape *s, cbi_operands *o)
{
    add_field(&o->uniform_written, w, AT_D, s->ud);
    add_field(&o->uniform_read, w, AT_A, s->ua);
    if (form_of(w) == FORM_REGISTERS || form_of(w) == FORM_SECOND_UNIFORM)
        add_field(&o->uniform_read, w, AT_B, s->ub);
    add_field(&o->uniform_read, w, AT_C, s->uc);
}

/* Coordinates by the kind of texture, bits 61-63: a buffer, two or three dimensions, a cube, then
 * arrays of these (of one dimension the first). */
static unsigned texture_coordinates(cbi_sass w)
{
    static const uint8_t counts[8] = {1, 2, 3, 3, 2, 3, 4, 4};
    return counts[cbi_sass_bits(w, 61, 3)];
}

/* ... and of surfaces: one dimension, a buffer, an array, two dimensions, an array, three. */
static unsigned surface_coordinates(cbi_sass w)
{
    static const uint8_t counts[8] = {1, 1, 2, 2, 3, 3, 3, 3};
    return counts[cbi_sass_bits(w, 61, 3)];
}

/* What stands in the second place: gradients by both coordinates, or a level or sample, offsets
 * (packed) and what depths are compared with, as far as there are. */
static unsigned texture_details(cbi_sass w)
{
    enum { BUFFER = 0, LINES = 4 };
    unsigned kind = (unsigned)cbi_sass_bits(w, 61, 3);
    unsigned offsets = (unsigned)cbi_sass_bits(w, 56, 1), depth = (unsigned)cbi_sass_bits(w, 78, 1);
    switch (cbi_sass_op(w)) {
    case CBI_OP_TXD:
        return (kind == BUFFER || kind == LINES ? 2 : 4) + offsets;
    case CBI_OP_TEX:
        return (cbi_sass_bits(w, 57, 4) ? 1 : 0) + offsets + depth;
    case CBI_OP_TLD:
        return (unsigned)cbi_sass_bits(w, 76, 1) + (unsigned)cbi_sass_bits(w, 77, 1) + offsets;
    case CBI_OP_TLD4:
        return (unsigned)cbi_sass_bits(w, 76, 1) + depth;
    default:
        return 0;
    }
}

/* The first two results stand together, the others elsewhere. */
static void texture(cbi_sass w, cbi_operands *o)
{
    enum { TOGETHER = 2 };
    unsigned results = components(w), coordinates = texture_coordinates(w);
    add_field(&o->written, w, AT_D, results == 0 ? 1 : results < TOGETHER ? results : TOGETHER);
    if (results > TOGETHER)
        add_field(&o->written, w, AT_C, results - TOGETHER);
    add_field(&o->read, w, AT_A, cbi_sass_op(w) == CBI_OP_TXQ ? 1 : coordinates);
    add_field(&o->read, w, AT_B, texture_details(w));
    add_field(&o->uniform_read, w, AT_HANDLE, 2);
}

/* What the caches shall do with the data, if bit 76 says so. */
static void hint(cbi_sass w, cbi_operands *o)
{
    if (cbi_sass_bits(w, 76, 1))
        add_field(&o->uniform_read, w, AT_HANDLE, 2);
}

/* Copies of blocks.  In shared memory (bit 74) the source has an address of 32 bits; the other side
 * is a place and a barrier, or an address of 64 bits. */
static void bulk_copy(cbi_sass w, const shape *s, cbi_operands *o)
{
    add_field(&o->uniform_read, w, AT_A, s->ub && cbi_sass_bits(w, 74, 1) ? 1 : s->ua);
    add_field(&o->uniform_read, w, AT_B, s->ub);
    add_field(&o->uniform_read, w, AT_C, s->uc); /* size, and a mask of targets or of bytes */
    hint(w, o);
}

/* Copies of tiles: in the second place what `ub` says, then the coordinates, of one place or of
 * four. */
static void tile_copy(cbi_sass w, const shape *s, cbi_operands *o)
{
    enum { OF_FOUR = 5 };
    bool loads = s->uc, of_four = cbi_sass_bits(w, loads ? 84 : 83, 1);
    unsigned coordinates = of_four ? OF_FOUR : (unsigned)cbi_sass_bits(w, 79, 3) + 1;
    add_field(&o->uniform_read, w, AT_A, s->ua);
    add_field(&o->uniform_read, w, AT_B, s->ub + coordinates);
    if (loads && form_of(w) == FORM_REGISTERS) /* offsets, mask of targets */
        add_field(&o->uniform_read, w, AT_C, s->uc);
    hint(w, o);
}

/* Products in tensor memory: what the matrices are, and where the scales are or which columns or
 * lanes are left out. */
static void tensor_product(cbi_sass w, const shape *s, cbi_operands *o)
{
    enum { AT_KIND = 40, AT_DETAILS = 48 };
    uint32_t op = cbi_sass_op(w);
    bool scales = op == CBI_OP_UTCMMA_SF || op == CBI_OP_UTCMMA_SF_I || cbi_sass_bits(w, 63, 1);
    bool columns = cbi_sass_bits(w, 83, 1);
    unsigned lanes = cbi_sass_bits(w, 85, 1) ? 8 : 4;
    fixed_places(w, s, o);
    add_field(&o->uniform_read, w, AT_KIND, 2);
    add_field(&o->uniform_read, w, AT_DETAILS, scales || columns ? 2 : lanes);
}

bool cbi_sass_is_sparse(cbi_sass w)
{
    switch (cbi_sass_op(w)) {
    case CBI_OP_IMMA:
        return cbi_sass_bits(w, 72, 1);
    case CBI_OP_HMMA:
        return cbi_sass_bits(w, 73, 1);
    case CBI_OP_QMMA:
    case CBI_OP_QMMA_SF:
    case CBI_OP_OMMA_SF:
        return cbi_sass_bits(w, 80, 1);
    default:
        return false;
    }
}

bool cbi_sass_is_deep(cbi_sass w)
{
    bool sparse = cbi_sass_is_sparse(w), tf32 = cbi_sass_bits(w, 83, 1);
    switch (cbi_sass_op(w)) {
    case CBI_OP_IMMA:
        return cbi_sass_bits(w, 75, 1) != sparse;
    case CBI_OP_HMMA:
        return sparse == tf32 ? cbi_sass_bits(w, 75, 1) : cbi_sass_bits(w, 78, 1) != tf32;
    case CBI_OP_QMMA:
        return cbi_sass_bits(w, sparse ? 76 : 75, 1);
    default:
        return cbi_sass_op(w) != CBI_OP_DMMA;
    }
}

/* Registers of the sum. */
static unsigned sum_of(cbi_sass w)
{
    switch (cbi_sass_op(w)) {
    case CBI_OP_HMMA:
        return cbi_sass_bits(w, 76, 1) ? 4 : 2;
    case CBI_OP_QMMA:
        return cbi_sass_bits(w, 77, 1) ? 4 : 2;
    default:
        return 4;
    }
}

/* Products of matrix fragments; sparse ones have a register that says what is left out, those of
 * blocks with scales of their own one for each side: the first one stands behind the other. */
static void tensor(cbi_sass w, cbi_operands *o)
{
    enum { AT_DETAILS = 40, AT_SECOND_SCALE = 52, AT_BYTES = 60, NO_BYTES = 7 };
    uint32_t op = cbi_sass_op(w);
    bool sparse = cbi_sass_is_sparse(w), deep = cbi_sass_is_deep(w), doubles = op == CBI_OP_DMMA;
    bool scales = op == CBI_OP_QMMA_SF || op == CBI_OP_OMMA_SF;
    add_field(&o->written, w, AT_D, sum_of(w));
    add_field(&o->read, w, AT_A, deep ? 4 : 2);
    add_field(&o->read, w, AT_B, sparse && deep ? 4 : sparse || deep || doubles ? 2 : 1);
    add_field(&o->read, w, AT_C, sum_of(w));
    add_field(&o->read, w, AT_DETAILS, (sparse ? 1U : 0U) + (scales ? 1U : 0U));
    if (scales) {
        add_field(&o->read, w, AT_SECOND_SCALE, 1);
        uint64_t bytes = cbi_sass_bits(w, AT_BYTES, 3); /* which ones of the scales */
        if (bytes != NO_BYTES)
            add(&o->uniform_read, bytes, 1);
    }
}

/* Exchanges between lanes: lane and clamp are registers or not. */
static void shuffle(cbi_sass w, const shape *s, cbi_operands *o)
{
    add_field(&o->written, w, AT_D, s->d);
    add_field(&o->read, w, AT_A, s->a);
    uint32_t op = cbi_sass_op(w);
    if (op == CBI_OP_SHFL_RR || op == CBI_OP_SHFL_RI)
        add_field(&o->read, w, AT_B, s->b);
    if (op == CBI_OP_SHFL_RR || op == CBI_OP_SHFL_IR)
        add_field(&o->read, w, AT_C, s->c);
}

static void registers(cbi_sass w, const cbi_instruction *row, cbi_operands *o)
{
    const shape *s = &shapes[row->shape];
    switch ((cbi_sass_shape)row->shape) {
    case CBI_SHAPE_UNARY ... CBI_SHAPE_CONVERT:
        arithmetic(w, s, o);
        break;
    case CBI_SHAPE_UNIFORM ... CBI_SHAPE_UNIFORM_COMPARE:
        uniform_arithmetic(w, s, o);
        break;
    case CBI_SHAPE_TEXTURE:
        texture(w, o);
        break;
    case CBI_SHAPE_SURFACE_LOAD:
    case CBI_SHAPE_SURFACE_STORE:
    case CBI_SHAPE_SURFACE_STORE_PLAIN:
    case CBI_SHAPE_SURFACE_REDUCE:
        fixed_places(w, s, o);
        add_field(&o->read, w, AT_A, surface_coordinates(w));
        break;
    case CBI_SHAPE_TENSOR:
        tensor(w, o);
        break;
    case CBI_SHAPE_BULK_COPY:
    case CBI_SHAPE_BULK_FETCH:
        bulk_copy(w, s, o);
        break;
    case CBI_SHAPE_TILE_LOAD:
    case CBI_SHAPE_TILE_STORE:
    case CBI_SHAPE_TILE_FETCH:
        tile_copy(w, s, o);
        break;
    case CBI_SHAPE_TENSOR_PRODUCT:
    case CBI_SHAPE_TENSOR_PRODUCT_HELD:
        tensor_product(w, s, o);
        break;
    case CBI_SHAPE_SHUFFLE:
        shuffle(w, s, o);
        break;
    case CBI_SHAPE_LOAD_256: /* in two halves */
        fixed_places(w, s, o);
        add_field(&o->written, w, AT_C, s->d);
        break;
    case CBI_SHAPE_STORE_256:
        fixed_places(w, s, o);
        add_field(&o->read, w, AT_D, s->b);
        break;
    case CBI_SHAPE_COPY_SHARED:
        fixed_places(w, s, o);
        add_field(&o->read, w, AT_D, 1);
        break;
    case CBI_SHAPE_ATOM_CAS:
    case CBI_SHAPE_ATOM_SHARED_CAS:
    case CBI_SHAPE_ATOM_SHARED_CAST:
        fixed_places(w, s, o);
        if (cbi_sass_bits(w, 91, 1))
            add_field(&o->uniform_read, w, AT_A, s->base_count);
        break;
    default:
        fixed_places(w, s, o);
        break;
    }
}

static void predicate(uint8_t *set, cbi_sass w, unsigned low)
{
    uint64_t p = cbi_sass_bits(w, low, 3);
    if (p != CBI_SASS_PT)
        *set |= (uint8_t)(1u << p);
}

bool cbi_sass_joins_uniform(cbi_sass w)
{
    return cbi_sass_op(w) == CBI_OP_PLOP3 && cbi_sass_bits(w, 67, 1);
}

cbi_predicates cbi_sass_predicates(cbi_sass w)
{
    uint8_t fields = cbi_instruction_of(cbi_sass_op(w))->predicates;
    cbi_predicates p = {0};
    predicate(&p.guard, w, 12);
    if (fields & CBI_PRED_W81)
        predicate(&p.written, w, 81);
    if (fields & CBI_PRED_W84)
        predicate(&p.written, w, 84);
    if (fields & CBI_PRED_R87 || (fields & CBI_PRED_R87X && cbi_sass_bits(w, 74, 1)) ||
        (fields & CBI_PRED_R87R && cbi_sass_bits(w, 78, 1)))
        predicate(&p.read, w, 87);
    if (fields & CBI_PRED_R77)
        predicate(&p.read, w, 77);
    if (fields & CBI_PRED_R68 && !cbi_sass_joins_uniform(w))
        predicate(&p.read, w, 68);
    if (fields & CBI_PRED_MASK)
        p.read |= (uint8_t)cbi_sass_bits(w, 32, 7);
    return p;
}

/* FCHK, which decides late whether a division is simple. */
static bool is_check(const cbi_instruction *row)
{
    return row->opcode == CBI_OP_FCHK || row->opcode == CBI_OP_FCHK_I;
}

void cbi_sass_operands(cbi_sass w, cbi_operands *ret_operands)
{
    const cbi_instruction *row = cbi_instruction_of(cbi_sass_op(w));
    cbi_predicates p = cbi_sass_predicates(w);
    memset(ret_operands, 0, sizeof *ret_operands);
    bool uniform = cbi_op_is_uniform(row->opcode);
    if (!uniform || row->opcode == CBI_OP_VOTEU) /* a vote reads a predicate of the threads */
        ret_operands->predicates_read = p.read | (uniform ? 0 : p.guard);
    if (row->shape == CBI_SHAPE_COMPARE_64 || is_check(row) || row->opcode == CBI_OP_B2R)
        ret_operands->predicates_written = p.written;
    registers(w, row, ret_operands);
}

bool cbi_sass_reads_stack_pointer(cbi_sass w)
{
    cbi_operands o;
    cbi_sass_operands(w, &o);
    return cbi_regset_has(&o.read, CBI_SASS_STACK_POINTER);
}

int64_t cbi_sass_branch_distance(cbi_sass w)
{
    uint64_t v = cbi_sass_bits(w, 16, 8) | cbi_sass_bits(w, 34, 48) << 8;
    return (int64_t)(v << 8) / 64; /* 56 bits, in units of 4 bytes */
}

int64_t cbi_sass_named_distance(cbi_sass w)
{
    return (int32_t)cbi_sass_bits(w, 24, 32);
}

bool cbi_sass_compares_long(cbi_sass w)
{
    return cbi_instruction_of(cbi_sass_op(w))->shape == CBI_SHAPE_COMPARE_TYPED &&
           cbi_sass_bits(w, 80, 1);
}

bool cbi_sass_does_halves(cbi_sass w)
{
    cbi_operands o;
    cbi_sass_operands(w, &o);
    return cbi_op_kind(cbi_sass_op(w)) == CBI_KIND_PAIR || cbi_sass_compares_long(w) ||
           (cbi_op_kind(cbi_sass_op(w)) == CBI_KIND_ALU && cbi_regset_count(&o.written) == 2);
}

bool cbi_sass_chooses_long(cbi_sass w)
{
    return cbi_instruction_of(cbi_sass_op(w))->shape == CBI_SHAPE_BINARY_TYPED &&
           count_of(MINMAX, w) == 2;
}

bool cbi_sass_is_made(cbi_sass w)
{
    enum { BAR_MODE = 77, ARRIVE = 1, REDUX_OPERATION = 78, SUM = 3, COPIES = 0 };
    uint32_t op = cbi_sass_op(w);
    if (op == CBI_OP_CCTL)
        return cbi_sass_bits(w, AT_A, 8) == ZERO_REGISTER;
    if (!cbi_op_has(op, CBI_OPF_MADE))
        return false;
    if (op == CBI_OP_REDUX)
        return cbi_sass_bits(w, REDUX_OPERATION, 3) >= SUM;
    if (op == CBI_OP_DEPBAR)
        return cbi_sass_named_scoreboard(w) == COPIES;
    return !cbi_op_is_barrier(op) || cbi_sass_bits(w, BAR_MODE, 3) != ARRIVE;
}

bool cbi_sass_compares_doubles(cbi_sass w, uint32_t predicate)
{
    return cbi_op_compares_doubles(cbi_sass_op(w)) &&
           (cbi_sass_first_result(w) == predicate || cbi_sass_second_result(w) == predicate);
}

bool cbi_sass_writes_predicate(cbi_sass w, uint32_t predicate)
{
    return cbi_kind_is_math(cbi_op_kind(cbi_sass_op(w))) && predicate != CBI_SASS_PT &&
           cbi_sass_predicates(w).written >> predicate & 1;
}
