/* Which input is accepted for which target, against the table measured with nvlink. */
#include "unit.h"

#include "format/arch.h"
#include "format/cuda_elf.h"

/* The facts of what the toolkit's assembler writes for a target. */
static cbi_arch_facts facts_of(const cbi_arch *arch)
{
    return (cbi_arch_facts){
        .sm = arch->sm,
        .mercury = arch->sm >= 100,
        .has_compat = arch->sm >= 90,
        .specific = arch->suffix == 'a',
        .portability = 1,
        .level = 1,
        .isa = 0x101,
    };
}

static char *next_field(char **line)
{
    char *field = *line;
    char *end = field + strcspn(field, "\t\n");
    *line = *end ? end + 1 : end;
    *end = 0;
    return field;
}

static void test_matrix(void **state)
{
    (void)state;
    const char *targets[32];
    size_t target_count = 0, pairs = 0;
    char text[4096];
    FILE *f = fopen(unit_path("tests/data/arch-matrix.tsv"), "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    static char head[4096];
    strcpy(head, text);
    char *line = head;
    next_field(&line);
    while (*line && target_count < CBI_COUNT(targets))
        targets[target_count++] = next_field(&line);
    assert_int_equal(target_count, cbi_arch_count);
    while (fgets(text, sizeof text, f)) {
        line = text;
        const cbi_arch *in = cbi_arch_find(next_field(&line));
        assert_non_null(in);
        cbi_arch_facts facts = facts_of(in);
        for (size_t t = 0; t < target_count; t++, pairs++) {
            const char *verdict = next_field(&line);
            const cbi_arch *target = cbi_arch_find(targets[t]);
            bool ok = strcmp(verdict, "ok") == 0;
            if (cbi_arch_accepts_cubin(&facts, false, target) != ok)
                fail_msg("cubin %s for %s: expected %s", in->name, target->name, verdict);
            /* A fatbin's entry follows the same table. */
            bool portable = in->sm >= 100 && in->suffix != 'a';
            if (cbi_arch_accepts_elf_entry(in->sm, in->suffix, portable, target) != ok)
                fail_msg("entry %s for %s: expected %s", in->name, target->name, verdict);
        }
    }
    fclose(f);
    assert_int_equal(pairs, cbi_arch_count * cbi_arch_count);
}

static void test_ptx(void **state)
{
    (void)state;
    static const struct {
        uint32_t sm;
        char suffix;
        const char *target;
        bool ok;
    } cases[] = {
        {75, 0, "sm_75", true},      {75, 0, "sm_121a", true},     {90, 0, "sm_89", false},
        {90, 'a', "sm_90a", true},   {90, 'a', "sm_90", false},    {90, 'a', "sm_100a", false},
        {100, 'f', "sm_103", true},  {100, 'f', "sm_110", false},  {103, 'f', "sm_100", false},
        {120, 'f', "sm_121a", true}, {100, 'a', "sm_100f", false}, {110, 0, "sm_120", true},
    };
    for (size_t i = 0; i < CBI_COUNT(cases); i++)
        assert_int_equal(cbi_arch_accepts_ptx_entry(cases[i].sm, cases[i].suffix,
                                                    cbi_arch_find(cases[i].target)),
                         cases[i].ok);
}

/* Records as they are in .nv.compat. */
static void test_compat(void **state)
{
    (void)state;
    static const uint8_t records[] = {2, 9, 1, 0, 2, 2, 2, 0, 2, 5, 5,  0, 3, 7, 1,
                                      1, 2, 3, 0, 0, 2, 6, 3, 0, 4, 11, 2, 0, 9, 9};
    cbi_span compat = {records, sizeof records};
    cbi_arch_facts facts = cbi_arch_read_facts(ELFOSABI_CUDA, 0x6006402, &compat);
    assert_int_equal(facts.sm, 100);
    assert_true(facts.mercury);
    assert_true(facts.has_compat);
    assert_true(facts.specific);
    assert_int_equal(facts.portability, 2);
    assert_int_equal(facts.level, 3);
    assert_int_equal(facts.isa, 0x101);
    /* Cut off at any byte inside a record: as if the section were not there. */
    for (size_t size = 1; size < sizeof records; size++) {
        if (size % 4 == 0 && size <= 24)
            continue;
        compat.size = size;
        facts = cbi_arch_read_facts(ELFOSABI_CUDA, 0x6006402, &compat);
        assert_false(facts.has_compat);
        assert_true(facts.specific);
    }
    facts = cbi_arch_read_facts(ELFOSABI_CUDA, 0x6005004, NULL);
    assert_false(facts.specific);
    assert_false(facts.mercury);
}

/* The rules that no object of the toolkit exercises, as measured with changed headers. */
static void test_forged(void **state)
{
    (void)state;
    const cbi_arch *sm103 = cbi_arch_find("sm_103");
    const cbi_arch *sm120 = cbi_arch_find("sm_120");
    cbi_arch_facts facts = facts_of(cbi_arch_find("sm_100"));
    facts.mercury = false;
    assert_false(cbi_arch_accepts_cubin(&facts, false, sm103));
    assert_true(cbi_arch_accepts_cubin(&facts, true, sm103)); /* an earlier input had the view */
    facts.mercury = true;
    facts.portability = 3;
    assert_false(cbi_arch_accepts_cubin(&facts, false, sm103));
    facts.portability = 1;
    facts.isa = 0x102;
    assert_false(cbi_arch_accepts_cubin(&facts, false, sm103));
    facts.isa = 0x101;
    assert_false(cbi_arch_accepts_cubin(&facts, false, sm120));
    facts.level = 3;
    assert_true(cbi_arch_accepts_cubin(&facts, false, sm120));
    facts.level = 4;
    assert_false(cbi_arch_accepts_cubin(&facts, false, sm120));
    assert_true(cbi_arch_accepts_cubin(&facts, false, cbi_arch_find("sm_121")));
    facts.level = 1;
    facts.sm = 104; /* the old number of sm_120 */
    assert_true(cbi_arch_accepts_cubin(&facts, false, sm120));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_ptx),
        cmocka_unit_test(test_compat),
        cmocka_unit_test(test_forged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
