/* The ABI tables: order, uniqueness, look-ups. */
#include "unit.h"

#include "format/arch.h"
#include "format/cuda_elf.h"
#include "format/eiattr.h"
#include "format/reloc.h"

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

static void check_relocs(const cbi_reloc_type *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const cbi_reloc_type *t = &rows[i];
        assert_ptr_equal(cbi_reloc_find(t->type), t);
        assert_true(i == 0 || rows[i - 1].type < t->type);
        assert_int_equal(strncmp(t->name, "R_", 2), 0);
        assert_true(t->field_count <= CBI_COUNT(t->fields));
        for (size_t k = 0; k < t->field_count; k++) {
            assert_true(t->fields[k].width >= 1 && t->fields[k].width <= 128);
            assert_true(t->fields[k].start + t->fields[k].width <= 128);
            assert_true(strlen(cbi_reloc_source_name(t->fields[k].source)) > 0);
            /* within eight bytes from its first one on, or wider than a value */
            assert_true(t->fields[k].width > 64 ||
                        t->fields[k].start % 8 + t->fields[k].width <= 64);
        }
        const uint32_t others[] = {t->plain, t->sass_data, t->sass_text, t->sass_text_other};
        for (size_t k = 0; k < CBI_COUNT(others); k++)
            assert_true(others[k] == 0 || cbi_reloc_find(others[k]));
    }
}

static void relocation_types(void **state)
{
    (void)state;
    assert_int_equal(CBI_RELOC_CUDA_TYPES, 117);
    check_relocs(cbi_reloc_cuda, CBI_RELOC_CUDA_TYPES);
    check_relocs(cbi_reloc_mercury, CBI_RELOC_MERCURY_TYPES);
    assert_null(cbi_reloc_find(117));
    assert_null(cbi_reloc_find(R_MERCURY_FIRST - 1));
    assert_null(cbi_reloc_find(UINT32_MAX));
    assert_string_equal(cbi_reloc_find(0)->name, "R_CUDA_NONE");
}

static void attribute_codes(void **state)
{
    (void)state;
    for (size_t i = 0; i < CBI_EIATTR_CODES; i++) {
        const cbi_eiattr *a = &cbi_eiattrs[i];
        assert_ptr_equal(cbi_eiattr_find(a->code), a);
        assert_true(i == 0 || cbi_eiattrs[i - 1].code < a->code);
        assert_int_equal(strncmp(a->name, "EIATTR_", 7), 0);
        assert_true(a->format <= CBI_ATTR_SIZED);
    }
    assert_string_equal(cbi_eiattr_find(0x2f)->name, "EIATTR_REGCOUNT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_ordered_and_found),
        cmocka_unit_test(header_flags),
        cmocka_unit_test(relocation_types),
        cmocka_unit_test(attribute_codes),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
