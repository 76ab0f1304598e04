/* The file header of class 32, as old toolkits wrote it. */
#include "modules.h"

#include "link/bytes.h"

static void header(void **state)
{
    (void)state;
    enum { SM = 80, TOOLKIT = 130 };
    const char *const texts[] = {"kernel k calls=f; func f"};
    linked l;
    linked_run(&l, SM, 0, texts, 1);
    assert_int_equal(l.status, CB_OK);
    cbi_span narrow = cbi_link_write_elf32(&l.ctx, l.image);
    Elf32_Ehdr h;
    assert_true(narrow.size > sizeof h);
    memcpy(&h, narrow.data, sizeof h);
    assert_int_equal(h.e_ident[EI_CLASS], ELFCLASS32);
    assert_int_equal(h.e_ident[EI_OSABI], 0x33);
    assert_int_equal(h.e_ident[EI_ABIVERSION], 7);
    assert_int_equal(h.e_version, TOOLKIT);
    assert_int_equal(h.e_flags, SM << 16 | SM); /* the virtual and the real architecture */
    assert_int_equal(h.e_ehsize, sizeof h);
    assert_int_equal(h.e_phentsize, sizeof(Elf32_Phdr));
    assert_int_equal(h.e_shentsize, sizeof(Elf32_Shdr));
    assert_int_equal(h.e_shnum, l.object.section_count);
    assert_true(h.e_shoff + h.e_shnum * sizeof(Elf32_Shdr) <= h.e_phoff);
    assert_int_equal(h.e_phoff + h.e_phnum * sizeof(Elf32_Phdr), narrow.size);
    linked_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(header)};
    return cmocka_run_group_tests_name("elf32", tests, NULL, NULL);
}
