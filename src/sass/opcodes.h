/* The table of instructions: what each opcode is called, and what the linker knows of it.  Rows in
 * instructions.def. */
#ifndef CBI_SASS_OPCODES_H
#define CBI_SASS_OPCODES_H

#include "sass/instruction.h"

/* Opcodes by name: the mnemonic, and where one has several forms, which operands are no registers:
 * I immediate, U uniform, C in the third place. */
typedef enum cbi_opcode {
#define INSTRUCTION(opcode, name, ...) CBI_OP_##name = (opcode),
#include "sass/instructions.def"
#undef INSTRUCTION
} cbi_opcode;

/* Which registers it names, and where. */
typedef enum cbi_sass_shape {
    CBI_SHAPE_NONE,
    /* arithmetic, whose second and third source are registers or not, as the form says */
    CBI_SHAPE_UNARY,
    CBI_SHAPE_UNARY_TYPED, /* 32 or 64 bits */
    CBI_SHAPE_BINARY,
    CBI_SHAPE_TERNARY,
    CBI_SHAPE_COMPARE,
    CBI_SHAPE_COMPARE_3, /* three sources */
    CBI_SHAPE_COMPARE_TYPED,
    CBI_SHAPE_TERNARY_HIGH, /* the upper half of one to which 64 bits are added */
    CBI_SHAPE_TERNARY_WIDE, /* a product of 64 bits */
    CBI_SHAPE_BINARY_64,
    CBI_SHAPE_BINARY_TYPED,  /* 32 or 64 bits, as the type says */
    CBI_SHAPE_BINARY_PACKED, /* two floats; sm_120 has another instruction there */
    CBI_SHAPE_SUM_64,        /* sources in the first and the third place */
    CBI_SHAPE_TERNARY_64,
    CBI_SHAPE_COMPARE_64,
    CBI_SHAPE_CONVERT, /* either side has 32 or 64 bits */
    CBI_SHAPE_UNIFORM,
    CBI_SHAPE_UNIFORM_UNARY,
    CBI_SHAPE_UNIFORM_TWO,
    CBI_SHAPE_UNIFORM_SUM, /* sources in the first and the third place */
    CBI_SHAPE_UNIFORM_SUM_64,
    CBI_SHAPE_UNIFORM_WIDE,
    CBI_SHAPE_UNIFORM_COMPARE,
    /* registers in fixed places */
    CBI_SHAPE_READ,
    CBI_SHAPE_WRITE,
    CBI_SHAPE_WRITE_TYPED, /* 32 or 64 bits */
    CBI_SHAPE_MOVE,
    CBI_SHAPE_MATCH, /* a key of 32 or 64 bits */
    CBI_SHAPE_SELECT_64,
    CBI_SHAPE_SELECT_64_I, /* with an immediate */
    CBI_SHAPE_SELECT_64_U, /* with a uniform register */
    CBI_SHAPE_UNIFORM_WRITE,
    CBI_SHAPE_UNIFORM_WRITE_TYPED,
    CBI_SHAPE_UNIFORM_WRITE_PAIR,
    CBI_SHAPE_UNIFORM_READ,
    CBI_SHAPE_UNIFORM_MOVE,
    CBI_SHAPE_UNIFORM_BINARY,
    CBI_SHAPE_UNIFORM_SELECT_64,
    CBI_SHAPE_TO_UNIFORM,
    CBI_SHAPE_BRA, /* BRA.DIV reads a mask, if bit 91 says so */
    CBI_SHAPE_BRX, /* a pair in the first source, which returns read, too */
    CBI_SHAPE_BRXU,
    CBI_SHAPE_LDC,
    CBI_SHAPE_LDCU,
    CBI_SHAPE_LDSM,
    CBI_SHAPE_STSM,
    CBI_SHAPE_CCTL,
    CBI_SHAPE_LOAD,
    CBI_SHAPE_LOAD_NARROW, /* addresses of 32 bits */
    CBI_SHAPE_LOAD_256,
    CBI_SHAPE_STORE,
    CBI_SHAPE_STORE_NARROW,
    CBI_SHAPE_STORE_R,
    CBI_SHAPE_STORE_256,
    CBI_SHAPE_ATOM,
    CBI_SHAPE_ATOM_FLOAT, /* vectors, too */
    CBI_SHAPE_ATOM_CAS,
    CBI_SHAPE_ATOM_SHARED,
    CBI_SHAPE_ATOM_SHARED_CAS,
    CBI_SHAPE_ATOM_SHARED_CAST, /* says in a predicate whether it exchanged, and no more */
    CBI_SHAPE_COUNT_SHARED,     /* counts in shared memory, which takes no data */
    CBI_SHAPE_REDUCE_FLOAT,
    CBI_SHAPE_REDUCE, /* an atomic operation without a result */
    CBI_SHAPE_SHUFFLE,
    CBI_SHAPE_TENSOR,
    CBI_SHAPE_WRITE_PAIR,
    CBI_SHAPE_TENSOR_LOAD, /* of tensor memory */
    CBI_SHAPE_TENSOR_STORE,
    CBI_SHAPE_TEXTURE,
    CBI_SHAPE_SURFACE_LOAD,
    CBI_SHAPE_SURFACE_STORE,       /* up to the reductions: what writes surfaces */
    CBI_SHAPE_SURFACE_STORE_PLAIN, /* components of 32 bits */
    CBI_SHAPE_SURFACE_REDUCE,
    CBI_SHAPE_COPY_SHARED,  /* to shared memory, whose address stands where results do */
    CBI_SHAPE_LOAD_REDUCED, /* sums over the memories of several devices */
    CBI_SHAPE_LOAD_REDUCED_FLOAT,
    CBI_SHAPE_BULK_COPY, /* of blocks: all operands are uniform */
    CBI_SHAPE_BULK_FETCH,
    CBI_SHAPE_TILE_LOAD, /* of a tensor that a descriptor in memory describes: place in shared
                            memory and barrier, then the coordinates */
    CBI_SHAPE_TILE_STORE,
    CBI_SHAPE_TILE_FETCH,
    CBI_SHAPE_DESCRIPTOR,     /* its address alone */
    CBI_SHAPE_NEXT_WORK,      /* where the answer goes, and a barrier */
    CBI_SHAPE_TENSOR_PRODUCT, /* products in tensor memory, of matrices that descriptors describe */
    CBI_SHAPE_TENSOR_PRODUCT_HELD, /* the first matrix is in tensor memory */
    CBI_SHAPE_TENSOR_COPY,
    CBI_SHAPE_TENSOR_SHIFT,
    CBI_SHAPE_TENSOR_SLOTS, /* of tensor memory, taken or given back: a mask of them */
    CBI_SHAPE_TENSOR_COMMIT,
    CBI_SHAPE_BARRIER_NUMBER, /* the second source alone: number and count of a barrier, packed;
                                 BMOV */
    CBI_SHAPE_MBARRIER,       /* a barrier in shared memory, by a register or a uniform one */
    CBI_SHAPE_MBARRIER_TEST,  /* without a result but the predicate */
    CBI_SHAPE_MBARRIER_AT,    /* its address alone */
    CBI_SHAPE_MBARRIER_SET,
    CBI_SHAPE_ADDRESS_SPACE, /* asks which memory an address is in */
    CBI_SHAPES,
} cbi_sass_shape;

/* Units of 16 bytes of its Mercury form where the capsule has no record of it.  SEEN: in all code
 * that was looked at, which is not much for rare instructions.  The others go by modifiers
 * (src/capsule/units.c). */
typedef enum cbi_mercury_length {
    CBI_LENGTH_TWO_SEEN,
    CBI_LENGTH_ONE_SEEN,
    CBI_LENGTH_ONE,
    CBI_LENGTH_TWO,
    CBI_LENGTH_ADD,
    CBI_LENGTH_LOGIC,
    CBI_LENGTH_MULTIPLY,
    CBI_LENGTH_COMPARE, /* of integers */
    CBI_LENGTH_TEST,    /* of floats */
    CBI_LENGTH_SHIFT_ADD,
    CBI_LENGTH_BSSY,
} cbi_mercury_length;

/* What an instruction is, as far as distances between instructions depend on it.  The order
 * matters: arithmetic with fixed time lies between ALU and HALF_ALU, what has a scoreboard between
 * MEMORY and SLOW. */
typedef enum cbi_sass_kind {
    CBI_KIND_OTHER,
    CBI_KIND_ALU,
    CBI_KIND_MULTIPLY,
    CBI_KIND_WIDE, /* products of 64 bits */
    CBI_KIND_FLOAT,
    CBI_KIND_HALF,
    CBI_KIND_PAIR,     /* sums of 64 bits, of sm_120 and later */
    CBI_KIND_HALF_ALU, /* of halves, by the unit of the ALU */
    CBI_KIND_COUNTER,  /* CS2R */
    CBI_KIND_TO_UNIFORM,
    CBI_KIND_UNIFORM,
    CBI_KIND_UNIFORM_MOVE,
    CBI_KIND_MEMORY,
    CBI_KIND_CONSTANT, /* LDC */
    CBI_KIND_SPECIAL,  /* transcendental functions, conversions of 32 bits, POPC */
    CBI_KIND_REMOTE,   /* textures, surfaces, bulk copies, barriers in shared memory, questions to
                          the whole warp */
    CBI_KIND_LATE,     /* other results with scoreboards */
    CBI_KIND_CONVERT,
    CBI_KIND_SLOW,
    CBI_KIND_CONTROL,
    CBI_KIND_CALL,
} cbi_sass_kind;

/* Who uses the slow unit of sm_103; each keeps its order among its like. */
typedef enum cbi_sass_slow {
    CBI_SLOW_NONE,
    CBI_SLOW_IMMA,
    CBI_SLOW_DMMA,
    CBI_SLOW_CONVERT, /* a side of 64 bits */
    CBI_SLOW_DOUBLE,
} cbi_sass_slow;

/* ... and the order of special functions, in which EX2 has one of its own there; FREE: of what
 * keeps none. */
enum {
    CBI_ORDER_SPECIAL = CBI_SLOW_DOUBLE + 1,
    CBI_ORDER_POWER,
    CBI_ORDER_FREE,
    CBI_ORDERS,
};

/* Predicates beside the guard, by the first bit of their field.  Those of uniform arithmetic are
 * uniform. */
enum {
    CBI_PRED_W81 = 1,
    CBI_PRED_W84 = 2,
    CBI_PRED_R87 = 4,
    CBI_PRED_R77 = 8,
    CBI_PRED_R68 = 16,
    CBI_PRED_R87X = 32, /* where bit 74 is set */
    CBI_PRED_R87R = 64, /* ... with bit 78: a barrier that reduces one */
    CBI_PRED_MASK = 128 /* reads those of a mask, bits 32 to 38 */
};

enum {
    CBI_OPF_LONG = 1,        /* loads of global, generic and local memory, atomic operations */
    CBI_OPF_BRANCH = 2,      /* ends a block */
    CBI_OPF_CALL = 4,        /* a call, or the return from one */
    CBI_OPF_RELATIVE = 8,    /* has the distance to another instruction in the field of branches */
    CBI_OPF_MBARRIER = 16,   /* on barriers in shared memory */
    CBI_OPF_TEXTURE = 32,    /* fetches of textures and surfaces */
    CBI_OPF_COPY_END = 64,   /* counts on a scoreboard for asynchronous copies */
    CBI_OPF_COMPANION = 128, /* accompanies the instruction that a run of the capsule is about */
    CBI_OPF_FENCE = 256,     /* part of a fence */
    CBI_OPF_SHARED = 512,    /* loads and stores of shared memory */
    CBI_OPF_FIELD_32 = 1024, /* a foreign relocation of it is R_CUDA_ABS32_32 */
    CBI_OPF_OPAQUE = 4096,   /* nothing is known of the registers and predicates that it uses */
    CBI_OPF_TESTED = 8192,   /* a branch may go by the predicate that it writes late */
    CBI_OPF_QUICK = 16384,   /* on sm_100 the result is there a cycle before that */
    CBI_OPF_SUM = 32768,     /* its second source takes the place of a third one */
    CBI_OPF_LIGHT = 65536,   /* of the ALU: from sm_120 on a unit of its own takes one each cycle */
    CBI_OPF_WARP = 131072,   /* may change which threads of the warp go on; takes five cycles */
    CBI_OPF_MADE = 262144,   /* the finalizer makes it anew, so that its origin is one to be at */
    CBI_OPF_AT_ONCE = 524288, /* has read its sources when it is issued */
    CBI_OPF_LOCAL = 1048576,  /* loads and stores of local memory */
    /* the scoreboard of its sources is for its predicate, too: whether an atomic operation on a
     * generic address could be done */
    CBI_OPF_TESTED_READ = 2097152,
};

typedef struct cbi_instruction {
    const char *mnemonic; /* as in the toolkit's documents */
    uint16_t opcode;
    uint8_t shape, length, kind, slow;
    uint16_t
        result; /* cycles until the result is there, as the compiler reckons; 0: most results' */
    uint8_t sources; /* ... until the sources are read, but for two for each register; 0: most */
    uint8_t predicates;
    uint32_t flags;
} cbi_instruction;

extern const cbi_instruction cbi_instructions[];
extern const size_t cbi_instruction_count;

/* The row of an opcode; of one that is not listed that of another form of the operation
 * (row->opcode tells), else a row without a mnemonic.  Never NULL. */
const cbi_instruction *cbi_instruction_of(uint32_t opcode);

/* Put to the opcode of what sm_120 and later have where earlier chips have something else. */
enum { CBI_SASS_REUSED = 0x1000 };

/* The opcode, of 13 bits: the least and the greatest of uniform registers (UVIMNMX, bit 91) has the
 * number that products of two floats had. */
static inline uint32_t cbi_sass_op(cbi_sass w)
{
    uint32_t op = (uint32_t)(w.lo & 0xfff);
    bool reused = (op == CBI_OP_FMUL2 || op == CBI_OP_FMUL2_I) && cbi_sass_bits(w, 91, 1);
    return reused ? op | CBI_SASS_REUSED : op;
}

static inline bool cbi_op_has(uint32_t opcode, uint32_t flags)
{
    return cbi_instruction_of(opcode)->flags & flags;
}

/* Does it write, or reduce into, a surface? */
static inline bool cbi_op_writes_surface(uint32_t opcode)
{
    cbi_sass_shape shape = (cbi_sass_shape)cbi_instruction_of(opcode)->shape;
    return shape >= CBI_SHAPE_SURFACE_STORE && shape <= CBI_SHAPE_SURFACE_REDUCE;
}

/* The same operation, in any of its forms? */
bool cbi_op_is_form_of(uint32_t opcode, uint32_t other);

/* Does it wait for other threads of the block? */
static inline bool cbi_op_is_barrier(uint32_t opcode)
{
    return opcode == CBI_OP_BAR || opcode == CBI_OP_BAR_R || opcode == CBI_OP_BAR_RI ||
           opcode == CBI_OP_BAR_IR;
}

/* Does it take the unit for constants and special registers for eight cycles?  The next one comes
 * behind them, and the last part of an exit's barrier does, whatever stall counts say. */
static inline bool cbi_op_is_spaced(uint32_t op)
{
    return op == CBI_OP_LDC || op == CBI_OP_S2UR || op == CBI_OP_MATCH || op == CBI_OP_REDUX ||
           cbi_op_is_barrier(op);
}

static inline cbi_sass_kind cbi_op_kind(uint32_t opcode)
{
    return cbi_instruction_of(opcode)->kind;
}

/* Arithmetic whose result comes after a fixed time. */
static inline bool cbi_kind_is_math(cbi_sass_kind kind)
{
    return kind >= CBI_KIND_ALU && kind <= CBI_KIND_HALF_ALU;
}

/* Done in the uniform datapath. */
static inline bool cbi_kind_is_uniform(cbi_sass_kind kind)
{
    return kind == CBI_KIND_UNIFORM || kind == CBI_KIND_UNIFORM_MOVE;
}

/* Copies and prefetches of blocks and tensors, and what works in tensor memory: all operands are
 * uniform. */
bool cbi_op_is_bulk(uint32_t opcode);

/* Is it done there, or are its guard and its operands uniform as if it were? */
bool cbi_op_is_uniform(uint32_t opcode);

static inline bool cbi_op_compares_doubles(uint32_t opcode)
{
    return cbi_instruction_of(opcode)->shape == CBI_SHAPE_COMPARE_64;
}

/* Does the scoreboard of its sources say that its predicate is there, too? */
static inline bool cbi_op_tests_with_sources(uint32_t opcode)
{
    return cbi_op_has(opcode, CBI_OPF_TESTED_READ);
}

/* Does it make doubles of integers? */
static inline bool cbi_op_makes_doubles(uint32_t opcode)
{
    return opcode == CBI_OP_I2F_64 || opcode == CBI_OP_I2F_64_U;
}

/* A load in front of a fence or of a copy to shared memory, which never happens and belongs to
 * that. */
static inline bool cbi_sass_is_dummy_load(cbi_sass w)
{
    return cbi_sass_op(w) == CBI_OP_LDS && cbi_sass_is_never(w);
}

#endif
