#include "sass/opcodes.h"

enum {
#define INSTRUCTION(opcode, name, ...) ROW_##name,
#include "sass/instructions.def"
#undef INSTRUCTION
    ROWS,
    FORMS = 8,
    OPERATIONS = 512,
};

/* Short names of what the rows hold. */
enum {
    NONE = CBI_SLOW_NONE,
    IMMA = CBI_SLOW_IMMA,
    DMMA = CBI_SLOW_DMMA,
    CONVERT = CBI_SLOW_CONVERT,
    DOUBLE = CBI_SLOW_DOUBLE,
    W81 = CBI_PRED_W81,
    W84 = CBI_PRED_W84,
    R87 = CBI_PRED_R87,
    R77 = CBI_PRED_R77,
    R68 = CBI_PRED_R68,
    R87X = CBI_PRED_R87X,
    R87R = CBI_PRED_R87R,
    MASK = CBI_PRED_MASK,
    LONG = CBI_OPF_LONG,
    BRANCH = CBI_OPF_BRANCH,
    CALL = CBI_OPF_CALL,
    RELATIVE = CBI_OPF_RELATIVE,
    MBARRIER = CBI_OPF_MBARRIER,
    TEXTURE = CBI_OPF_TEXTURE,
    COPY_END = CBI_OPF_COPY_END,
    COMPANION = CBI_OPF_COMPANION,
    FENCE = CBI_OPF_FENCE,
    SHARED = CBI_OPF_SHARED,
    FIELD_32 = CBI_OPF_FIELD_32,
    OPAQUE = CBI_OPF_OPAQUE,
    TESTED = CBI_OPF_TESTED,
    QUICK = CBI_OPF_QUICK,
    SUM = CBI_OPF_SUM,
    LIGHT = CBI_OPF_LIGHT,
    WARP = CBI_OPF_WARP,
    MADE = CBI_OPF_MADE,
    AT_ONCE = CBI_OPF_AT_ONCE,
    LOCAL = CBI_OPF_LOCAL,
    TESTED_READ = CBI_OPF_TESTED_READ,
};

const cbi_instruction cbi_instructions[] = {
#define INSTRUCTION(code, name, text, operands, units, what, ...)                                  \
    {.mnemonic = (text),                                                                           \
     .opcode = (code),                                                                             \
     .shape = CBI_SHAPE_##operands,                                                                \
     .length = CBI_LENGTH_##units,                                                                 \
     .kind = CBI_KIND_##what,                                                                      \
     ##__VA_ARGS__},
#include "sass/instructions.def"
#undef INSTRUCTION
};
const size_t cbi_instruction_count = ROWS;

/* Opcodes with the bit for those that have another meaning from sm_120 on. */
enum { OPCODES = 2 * FORMS * OPERATIONS };

/* By opcode: the row, and one more. */
static const uint16_t by_opcode[OPCODES] = {
#define INSTRUCTION(opcode, name, ...) [opcode] = ROW_##name + 1,
#include "sass/instructions.def"
#undef INSTRUCTION
};

/* What is not listed is taken for arithmetic on registers or, by its number, on uniform ones. */
static const cbi_instruction *unlisted(uint32_t opcode)
{
    static const cbi_instruction unknown = {
        .shape = CBI_SHAPE_TERNARY, .predicates = R87, .flags = OPAQUE};
    static const cbi_instruction unknown_uniform = {.shape = CBI_SHAPE_UNIFORM, .flags = OPAQUE};
    static const uint8_t forms[] = {1, 4, 6, 2, 7, 5, 3, 0}; /* the commonest first */
    uint32_t operation = opcode % OPERATIONS;
    for (size_t i = 0; i < CBI_COUNT(forms); i++) {
        uint16_t row = by_opcode[forms[i] * OPERATIONS + operation];
        if (row)
            return &cbi_instructions[row - 1];
    }
    return operation >= 0x50 && operation < 0xc0 && (operation < 0x60 || operation >= 0x80)
               ? &unknown_uniform
               : &unknown;
}

const cbi_instruction *cbi_instruction_of(uint32_t opcode)
{
    uint16_t row = by_opcode[opcode % OPCODES];
    return row ? &cbi_instructions[row - 1] : unlisted(opcode);
}

bool cbi_op_is_bulk(uint32_t opcode)
{
    cbi_sass_shape shape = cbi_instruction_of(opcode)->shape;
    return shape >= CBI_SHAPE_BULK_COPY && shape <= CBI_SHAPE_TENSOR_COMMIT;
}

bool cbi_op_is_uniform(uint32_t opcode)
{
    return cbi_kind_is_uniform(cbi_op_kind(opcode)) || cbi_op_is_bulk(opcode);
}

bool cbi_op_is_form_of(uint32_t opcode, uint32_t other)
{
    return opcode % OPERATIONS == other % OPERATIONS;
}
