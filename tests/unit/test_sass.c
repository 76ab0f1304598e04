/* Which registers an instruction reads and writes, and when: one row of sass.tsv per instruction.
 */
#include "unit.h"

#include "capsule/units.h"
#include "sass/scoreboard_code.h"

/* Appends " WHAT LETTERn-m,..." for what is in the set. */
static void put_set(char *text, size_t room, const char *what, const char *letter,
                    const cbi_regset *set)
{
    bool first = !strstr(text, what);
    for (unsigned r = 0, end; r < 256; r = end + 1) {
        end = r;
        if (!(set->w[r / 64] >> (r % 64) & 1))
            continue;
        while (end < 255 && set->w[(end + 1) / 64] >> ((end + 1) % 64) & 1)
            end++;
        size_t len = strlen(text);
        if (first)
            len += (size_t)snprintf(text + len, room - len, "%s%s ", len ? " " : "", what);
        snprintf(text + len, room - len, end > r ? "%s%s%u-%u" : "%s%s%u", first ? "" : ",", letter,
                 r, end);
        first = false;
    }
}

static cbi_regset predicates(uint8_t bits)
{
    return (cbi_regset){{bits}};
}

static void describe(cbi_sass w, char *text, size_t room)
{
    cbi_operands o;
    cbi_sass_operands(w, &o);
    cbi_regset written = predicates(o.predicates_written), read = predicates(o.predicates_read);
    *text = 0;
    put_set(text, room, "writes", "R", &o.written);
    put_set(text, room, "writes", "UR", &o.uniform_written);
    put_set(text, room, "writes", "P", &written);
    put_set(text, room, "reads", "R", &o.read);
    put_set(text, room, "reads", "UR", &o.uniform_read);
    put_set(text, room, "reads", "P", &read);
    if (cbi_sass_reads_stack_pointer(w))
        snprintf(text + strlen(text), room - strlen(text), " stack");
    uint32_t op = cbi_sass_op(w);
    snprintf(text + strlen(text), room - strlen(text), "%sresult %d, sources %d%s",
             *text ? "; " : "", (int)cbi_sb_result_time(w, 120),
             (int)cbi_sb_reading_time(w, 120, &o), cbi_op_has(op, CBI_OPF_LONG) ? ", long" : "");
}

static void operands(void **state)
{
    (void)state;
    FILE *f = fopen(unit_path("tests/unit/sass.tsv"), "r");
    assert_non_null(f);
    char line[512], got[256];
    size_t rows = 0, failed = 0;
    while (fgets(line, sizeof line, f)) {
        unsigned long long hi, lo;
        char want[256] = "";
        if (line[0] == '#')
            continue;
        assert_true(sscanf(line, "%llx %llx\t%255[^\t\n]", &hi, &lo, want) >= 2);
        describe((cbi_sass){lo, hi}, got, sizeof got);
        rows++;
        if (cbi_instruction_of(lo & 0xfff)->opcode != (lo & 0xfff)) {
            print_error("opcode %03x is not in the table\n", (unsigned)(lo & 0xfff));
            failed++;
        }
        if (strcmp(got, want) != 0) {
            print_error("%016llx %016llx: got \"%s\", want \"%s\"\n", hi, lo, got, want);
            failed++;
        }
    }
    fclose(f);
    assert_true(rows > 100);
    assert_int_equal(failed, 0);
}

static bool is_listed(uint32_t opcode)
{
    for (size_t i = 0; i < cbi_instruction_count; i++)
        if (cbi_instructions[i].opcode == opcode)
            return true;
    return false;
}

/* Every row is found by its opcode; another form of an operation is read like the one that is
 * listed. */
static void table(void **state)
{
    (void)state;
    for (size_t i = 0; i < cbi_instruction_count; i++) {
        const cbi_instruction *row = &cbi_instructions[i];
        assert_ptr_equal(cbi_instruction_of(row->opcode), row);
        assert_true(row->mnemonic[0]);
    }
    assert_string_equal(cbi_instruction_of(CBI_OP_LDG)->mnemonic, "LDG");
    enum { FORM = 1 << 9, UNLISTED = 0x7ff };
    assert_string_equal(cbi_instruction_of(CBI_OP_LDG + FORM)->mnemonic, "LDG");
    assert_null(cbi_instruction_of(UNLISTED)->mnemonic);
    /* of several forms that are listed, like the first of this order: the commonest */
    static const uint8_t order[] = {1, 4, 6, 2, 7, 5, 3, 0};
    for (uint32_t opcode = 0; opcode < 8 * FORM; opcode++) {
        const cbi_instruction *row = cbi_instruction_of(opcode), *first = NULL;
        for (size_t i = 0; i < CBI_COUNT(order) && !first; i++) {
            uint32_t listed = opcode % FORM + order[i] * FORM;
            first = is_listed(listed) ? cbi_instruction_of(listed) : NULL;
        }
        if (!is_listed(opcode) && first)
            assert_ptr_equal(row, first);
    }
}

/* An operation of which no form is listed is taken for one on uniform registers by its number. */
static void unlisted_operations(void **state)
{
    (void)state;
    enum { FORM = 1 << 9, FORMS = 8 };
    for (uint32_t operation = 0; operation < FORM; operation++) {
        bool listed = false;
        for (uint32_t form = 0; form < FORMS; form++)
            listed |= is_listed(operation + form * FORM);
        bool uniform =
            (operation >= 0x50 && operation <= 0x5f) || (operation >= 0x80 && operation <= 0xbf);
        if (!listed)
            assert_int_equal(cbi_instruction_of(operation)->shape,
                             uniform ? CBI_SHAPE_UNIFORM : CBI_SHAPE_TERNARY);
    }
}

/* A field is written without touching its neighbours. */
static void control_fields(void **state)
{
    (void)state;
    cbi_sass w = {0, UINT64_MAX};
    cbi_sass_set_stall(&w, 5);
    cbi_sass_set_yield(&w, 0);
    cbi_sass_set_write(&w, 2);
    cbi_sass_set_read(&w, 4);
    cbi_sass_set_wait(&w, 9);
    cbi_sass_set_reuse(&w, 3);
    assert_int_equal(cbi_sass_bits(w, 105, 4), 5);
    assert_int_equal(cbi_sass_bits(w, 109, 1), 0);
    assert_int_equal(cbi_sass_bits(w, 110, 3), 2);
    assert_int_equal(cbi_sass_bits(w, 113, 3), 4);
    assert_int_equal(cbi_sass_bits(w, 116, 6), 9);
    assert_int_equal(cbi_sass_bits(w, 122, 4), 3);
    assert_int_equal(cbi_sass_bits(w, 64, 41), (UINT64_C(1) << 41) - 1);
    assert_int_equal(cbi_sass_bits(w, 126, 2), 3);
    assert_int_equal(cbi_sass_holds(w), 1 << 2 | 1 << 4);
}

/* A branch mark takes one unit where it is for BREAK or for reconvergence, else two. */
static void units_of_branch_marks(void **state)
{
    (void)state;
    static const struct {
        uint64_t high; /* bits 72 and 73 */
        unsigned units;
    } rows[] = {{0, 2}, {1u << 8, 1}, {1u << 9, 1}, {3u << 8, 1}};
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        uint8_t instruction[16];
        cbi_st64(instruction, 0x7945);
        cbi_st64(instruction + 8, rows[i].high);
        assert_int_equal(cbi_capsule_units(instruction), rows[i].units);
    }
}

/* Bit 72 makes a comparison of integers longer, and negates a source of one of floats. */
static void units_of_comparisons(void **state)
{
    (void)state;
    enum { PT = 7 };
    static const struct {
        uint64_t low;
        unsigned read, second, bit72, units;
    } rows[] = {{0x720b, PT, PT, 0, 1}, {0x720b, PT, PT, 1, 1}, {0x720b, 0, PT, 0, 2},
                {0x720b, PT, 1, 0, 2},  {0x7c0b, PT, PT, 1, 1}, {0x722a, PT, PT, 1, 1},
                {0x722a, PT, 1, 1, 2},  {0x7e2a, PT, PT, 1, 1}, {0x7e2a, 2, PT, 0, 2},
                {0x720c, PT, PT, 0, 1}, {0x720c, PT, PT, 1, 2}, {0x7c0c, 0, PT, 0, 2}};
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        uint8_t instruction[16];
        cbi_st64(instruction, rows[i].low);
        cbi_st64(instruction + 8, (uint64_t)rows[i].bit72 << 8 | (uint64_t)rows[i].second << 20 |
                                      (uint64_t)rows[i].read << 23);
        assert_int_equal(cbi_capsule_units(instruction), rows[i].units);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operands),
                                       cmocka_unit_test(table),
                                       cmocka_unit_test(unlisted_operations),
                                       cmocka_unit_test(control_fields),
                                       cmocka_unit_test(units_of_branch_marks),
                                       cmocka_unit_test(units_of_comparisons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
