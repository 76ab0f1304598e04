/* The ABI tables: order, uniqueness, look-ups. */
#include "unit.h"

#include "format/arch.h"
#include "format/cuda_elf.h"

static void targets_are_ordered_and_found(void **state)
{
    (void)state;
    assert_int_equal(cbi_arch_count, 23);
    for (size_t i = 0; i < cbi_arch_count; i++) {
        const cbi_arch *a = &cbi_archs[i];
        char name[16];
        int len = snprintf(name, sizeof name, "sm_%u", (unsigned)a->sm);
        if (a->suffix)
            snprintf(name + len, sizeof name - (size_t)len, "%c", a->suffix);
        assert_string_equal(a->name, name);
        assert_ptr_equal(cbi_arch_find(name), a);
        assert_int_equal(cbi_arch_is_mercury(a), a->sm >= 100);
        if (i > 0) {
            const cbi_arch *before = &cbi_archs[i - 1];
            assert_true(before->sm < a->sm || (before->sm == a->sm && before->suffix < a->suffix));
        }
    }
    assert_null(cbi_arch_find(""));
    assert_null(cbi_arch_find("sm_9"));
    assert_null(cbi_arch_find("sm_900"));
    assert_null(cbi_arch_find("sm_90f"));
    assert_null(cbi_arch_find("compute_90"));
}

static void header_flags(void **state)
{
    (void)state;
    assert_int_equal(EF_CUDA_SM(0x08005a04), 90);
    assert_int_equal(EF_CUDA_CUINFO(0x08005a04), 8);
    assert_int_equal(EF_CUDA_SM(0x00007802), 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_ordered_and_found),
        cmocka_unit_test(header_flags),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
