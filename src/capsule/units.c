#include "capsule/units.h"

#include "sass/opcodes.h"

/* Lengths hold for an opcode, not for other forms of its operation. */
static cbi_mercury_length length_of(uint32_t opcode)
{
    const cbi_instruction *row = cbi_instruction_of(opcode);
    return row->opcode == opcode ? row->length : CBI_LENGTH_TWO_SEEN;
}

unsigned cbi_capsule_units(const uint8_t *instruction)
{
    enum { NO_REGISTER = 255 };
    cbi_sass w = cbi_sass_load(instruction);
    bool third = cbi_sass_bits(w, 64, 8) != NO_REGISTER, extended = cbi_sass_bits(w, 74, 1);
    bool longer = false;
    const cbi_mercury_length length = length_of(cbi_sass_op(w));
    switch (length) {
    case CBI_LENGTH_ONE:
    case CBI_LENGTH_ONE_SEEN:
        break;
    case CBI_LENGTH_TWO:
    case CBI_LENGTH_TWO_SEEN:
        longer = true;
        break;
    case CBI_LENGTH_ADD:
        longer = third || extended;
        break;
    case CBI_LENGTH_LOGIC:
        longer = third;
        break;
    case CBI_LENGTH_MULTIPLY:
        longer = extended;
        break;
    case CBI_LENGTH_COMPARE:
    case CBI_LENGTH_TEST: /* where bit 72 says that a source is negated */
        longer = cbi_sass_signed_read_predicate(w) != CBI_SASS_PT || /* !PT is longer, too */
                 cbi_sass_second_result(w) != CBI_SASS_PT ||
                 (length == CBI_LENGTH_COMPARE && cbi_sass_bits(w, 72, 1));
        break;
    case CBI_LENGTH_SHIFT_ADD: /* of the high part */
        longer = cbi_sass_bits(w, 80, 1);
        break;
    case CBI_LENGTH_BSSY:
        longer = !cbi_sass_bits(w, 72, 2);
        break;
    }
    return longer ? 2 : 1;
}

void cbi_capsule_derived_units(const uint8_t *instruction, uint64_t *least, uint64_t *most)
{
    cbi_mercury_length length = length_of(cbi_sass_opcode(instruction));
    *least = length == CBI_LENGTH_TWO ? 2 : 1;
    *most = length == CBI_LENGTH_ONE ? 1 : 2;
}
