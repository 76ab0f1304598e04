/* Which chips can run code as it is: the instructions that keep it to one, and the masks. */
#include "unit.h"

#include "format/eicompat.h"
#include "mercury/mercury.h"
#include "sass/opcodes.h"

enum { BIT_100 = 0x01, BIT_110 = 0x02, BIT_103 = 0x08, BIT_120 = 0x10, BIT_121 = 0x40 };

/* An instruction: its opcode, the destination predicates PT, the source predicate as given. */
static cbi_sass instruction(uint32_t op, uint64_t predicate)
{
    return (cbi_sass){op | 0x7000, 7 << 17 | 7 << 20 | predicate << 23};
}

/* A minimum of doubles has two results. */
static void comparison_for_minimum(void **state)
{
    (void)state;
    cbi_sass code = instruction(CBI_OP_DSETP_IC, 7);
    assert_int_equal(cbi_mercury_text_mask(100, (const uint8_t *)&code, sizeof code),
                     BIT_100 | BIT_103);
    code.hi &= ~(UINT64_C(7) << 20);
    assert_int_equal(cbi_mercury_text_mask(100, (const uint8_t *)&code, sizeof code), BIT_100);
}

static void instructions(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint32_t op, predicate;
        uint32_t mask; /* of code of sm_100 */
    } rows[] = {
        {"IADD3", CBI_OP_IADD3, 7, BIT_100 | BIT_103},
        {"DADD", CBI_OP_DADD, 7, BIT_100},
        {"DMUL", CBI_OP_DMUL, 7, BIT_100},
        {"DFMA", CBI_OP_DFMA, 7, BIT_100},
        {"IMMA", CBI_OP_IMMA, 7, BIT_100},
        {"DMMA", CBI_OP_DMMA, 7, BIT_100},
        {"HMMA", CBI_OP_HMMA, 7, BIT_100 | BIT_103},
        {"FSETP with a constant", CBI_OP_FSETP_I, 7, BIT_100},
        {"FSETP with a constant, and P0", CBI_OP_FSETP_I, 0, BIT_100 | BIT_103},
        {"FSETP with a constant, and P6", CBI_OP_FSETP_I, 6, BIT_100 | BIT_103},
        {"FSETP with a constant, and !PT", CBI_OP_FSETP_I, 15, BIT_100},
        {"FSETP with a constant, and P3", CBI_OP_FSETP_I, 3, BIT_100 | BIT_103},
        {"DSETP with a register", CBI_OP_DSETP, 7, BIT_100},
        {"DSETP with a register, and P0", CBI_OP_DSETP, 0, BIT_100},
        {"DSETP with a constant", CBI_OP_DSETP_IC, 7, BIT_100 | BIT_103},
        {"DSETP with a constant, and P0", CBI_OP_DSETP_IC, 0, BIT_100},
        {"DSETP with a constant, and !PT", CBI_OP_DSETP_IC, 15, BIT_100},
        {"FSETP with a register", CBI_OP_FSETP, 7, BIT_100 | BIT_103},
    };
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        cbi_sass code[] = {instruction(CBI_OP_IADD3, 7), instruction(CBI_OP_IADD3, 7),
                           instruction(rows[i].op, rows[i].predicate)};
        const uint8_t *bytes = (const uint8_t *)code;
        uint64_t mask = cbi_mercury_text_mask(100, bytes, sizeof code);
        if (mask != rows[i].mask)
            fail_msg("%s: 0x%llx", rows[i].what, (unsigned long long)mask);
        /* an instruction that is not whole does not count */
        assert_int_equal(cbi_mercury_text_mask(100, bytes, sizeof code - 1), BIT_100 | BIT_103);
        assert_int_equal(cbi_mercury_text_mask(120, bytes, sizeof code), BIT_120 | BIT_121);
        assert_int_equal(cbi_mercury_text_mask(103, bytes, sizeof code), 0);
    }
    assert_int_equal(cbi_mercury_text_mask(99, NULL, 0), 0);
}

static void bits(void **state)
{
    (void)state;
    assert_int_equal(cbi_mercury_target_bit(100), BIT_100);
    assert_int_equal(cbi_mercury_target_bit(103), BIT_103);
    assert_int_equal(cbi_mercury_target_bit(110), BIT_110);
    assert_int_equal(cbi_mercury_target_bit(120), BIT_120);
    assert_int_equal(cbi_mercury_target_bit(121), BIT_121);
    assert_int_equal(cbi_mercury_target_bit(90), 0);
    assert_int_equal(cbi_mercury_target_bit(0), 0); /* no chip at all */
}

/* The mask of an image: the last record with room for it, else what the caller says. */
static void records(void **state)
{
    (void)state;
    enum { CODE = EICOMPAT_CAN_FASTPATH_FINALIZE };
    static const uint8_t two[] = {4, CODE, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0,
                                  4, CODE, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t small[] = {4, CODE, 4, 0, 9, 0, 0, 0};
    assert_int_equal(cbi_mercury_compat_mask((cbi_span){two, 12}, 5), 9);
    assert_int_equal(cbi_mercury_compat_mask((cbi_span){two, 24}, 5), 1);
    assert_int_equal(cbi_mercury_compat_mask((cbi_span){small, 8}, 5), 5);
    assert_int_equal(cbi_mercury_compat_mask((cbi_span){NULL, 0}, 5), 5);
}

/* Which chips the records of a link's .nv.compat leave. */
static void compatible(void **state)
{
    (void)state;
    enum {
        MMA = EICOMPAT_INST_TCGEN05_MMA,
        CLASS = EICOMPAT_ISA_CLASS,
        OTHERS = BIT_103 | BIT_121
    };
    static const struct {
        const char *what;
        uint8_t records[8];
        size_t size;
        uint32_t gone;
    } rows[] = {
        {"no record", {0}, 0, 0},
        {"tensor cores: nothing known", {2, MMA, 0x00, 0}, 4, 0},
        {"tensor cores: first field 1", {2, MMA, 0x01, 0}, 4, 0},
        {"tensor cores: first field 2", {2, MMA, 0x02, 0}, 4, OTHERS},
        {"tensor cores: first field 3", {2, MMA, 0x03, 0}, 4, 0},
        {"tensor cores: second field 1", {2, MMA, 0x04, 0}, 4, 0},
        {"tensor cores: second field 2", {2, MMA, 0x08, 0}, 4, OTHERS},
        {"tensor cores: second field 3", {2, MMA, 0x0c, 0}, 4, 0},
        {"tensor cores: both fields 2", {2, MMA, 0x0a, 0}, 4, OTHERS},
        {"tensor cores: first field 2, second 1", {2, MMA, 0x06, 0}, 4, OTHERS},
        {"tensor cores: third field 2", {2, MMA, 0x20, 0}, 4, 0},
        {"tensor cores: fields 1 and 3", {2, MMA, 0x0d, 0}, 4, 0},
        {"class 3", {2, CLASS, 3, 0}, 4, 0},
        {"class 4", {2, CLASS, 4, 0}, 4, OTHERS},
        {"class 5", {2, CLASS, 5, 0}, 4, 0},
        {"class 2", {2, CLASS, 2, 0}, 4, 0},
        {"tensor cores with the number of the class", {2, MMA, 4, 0}, 4, 0},
        {"another record", {2, EICOMPAT_CUDA_ACCELERATOR_TARGET, 4, 0}, 4, 0},
        {"the second of two", {2, CLASS, 1, 0, 2, MMA, 2, 0}, 8, OTHERS},
        {"the first of two", {2, CLASS, 4, 0, 2, MMA, 1, 0}, 8, OTHERS},
    };
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        uint64_t left = cbi_mercury_compat_chips((cbi_span){rows[i].records, rows[i].size});
        if (left != ~(uint64_t)rows[i].gone)
            fail_msg("%s: 0x%llx", rows[i].what, (unsigned long long)left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions), cmocka_unit_test(comparison_for_minimum),
        cmocka_unit_test(bits),         cmocka_unit_test(records),
        cmocka_unit_test(compatible),
    };
    return cmocka_run_group_tests_name("chips", tests, NULL, NULL);
}
