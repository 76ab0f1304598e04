/* The finalizer: every result code, the fast path, the self-check and the back-end interface. */
#include "unit.h"

#include "format/cuda_elf.h"
#include "mercury/capsule.h"
#include "mercury/fnlzr.h"

typedef struct fixture {
    unit_heap heap;
    cbi_ctx ctx;
    uint8_t *bytes;
    size_t size;
} fixture;

static void open_fixture(fixture *f, const char *path)
{
    memset(f, 0, sizeof *f);
    unit_ctx_init(&f->ctx, &f->heap);
    cbi_span file = unit_read_file(unit_path(path));
    f->bytes = (uint8_t *)file.data;
    f->size = file.size;
}

static void close_fixture(fixture *f)
{
    cbi_ctx_fini(&f->ctx);
    free(f->bytes);
}

#define LINKED "tests/golden/statics-100-default/expected.cubin"

static cbi_fnlzr_code finalize(fixture *f, const char *arch, cbi_fnlzr_config config,
                               cbi_buf *ret_image)
{
    cbi_buf ignored = {0};
    config.target = cbi_arch_find(arch);
    return cbi_fnlzr_run(&f->ctx, &config, NULL, (cbi_span){f->bytes, f->size},
                         ret_image ? ret_image : &ignored);
}

static cbi_object read_object(fixture *f)
{
    cbi_object o;
    cbi_object_kind kind = cbi_object_read(&f->ctx, "x", (cbi_span){f->bytes, f->size}, &o, NULL);
    assert_int_equal(kind, CBI_OBJECT_OK);
    return o;
}

static uint64_t place_of(fixture *f, const char *section)
{
    cbi_object o = read_object(f);
    uint32_t index = cbi_object_find(&o, section);
    assert_true(index != 0);
    return o.sections[index].offset;
}

/* Value bytes of a .nv.compat record. */
static uint8_t *compat_value(fixture *f, uint8_t tag)
{
    cbi_object o = read_object(f);
    const cbi_section *s = &o.sections[cbi_object_find(&o, ".nv.compat")];
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(s->data, &pos, &attr))
        if (attr.code == tag)
            return f->bytes + (attr.raw.data - f->bytes) + (attr.payload.size ? 4 : 2);
    fail_msg("tag %u is missing", tag);
    return NULL;
}

static void test_retargets(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    cbi_buf image = {0};
    assert_int_equal(finalize(&f, "sm_103", (cbi_fnlzr_config){.self_check = true}, &image), 0);
    assert_int_equal(image.len, f.size);
    assert_int_equal(EF_CUDA_SM(cbi_ld32(image.items + 48)), 103);
    size_t differing = 0;
    for (size_t i = 0; i < f.size; i++)
        differing += image.items[i] != f.bytes[i];
    assert_int_equal(differing, 3); /* e_flags, the note's option, the mask */
    close_fixture(&f);
}

static void test_not_eligible(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    assert_int_equal(finalize(&f, "sm_120", (cbi_fnlzr_config){0}, NULL), 4);
    assert_int_equal(finalize(&f, "sm_103", (cbi_fnlzr_config){.fast_path_off = true}, NULL), 4);
    close_fixture(&f);
}

static void test_not_capmerc(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    f.bytes[48] = 4;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 5);
    close_fixture(&f);
}

static void test_invalid(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    f.bytes[16] = 3;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 6);
    f.bytes[16] = 1;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){.post_link = true}, NULL), 6);
    f.bytes[0] = 0;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 6);
    close_fixture(&f);
}

static void test_unknown_abi(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    f.bytes[8] = 9;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 7);
    close_fixture(&f);
}

static void test_no_memory(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    f.heap.fail_at = 1;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 11);
    f.heap.fail_at = 0;
    close_fixture(&f);
}

static void test_isa_version(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    cbi_st16(compat_value(&f, 0x07), 0x102);
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 25);
    close_fixture(&f);
}

/* Damage in code: the capsule no longer covers it. */
static void test_self_check_text(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    cbi_object o = read_object(&f);
    for (uint32_t i = 1; i < o.section_count; i++)
        if (o.sections[i].type == SHT_CUDA_CAPMERC) {
            f.bytes[o.sections[i].offset + 4] = 9;
            break;
        }
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){.self_check = true}, NULL), 17);
    close_fixture(&f);
}

static void test_self_check_symbols(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    f.bytes[place_of(&f, ".nv.merc.symtab") + 24 + 4] ^= 0x10;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){.self_check = true}, NULL), 19);
    close_fixture(&f);
}

/* The comparison of two runs: code, relocations, symbols. */
static void test_compare(void **state)
{
    (void)state;
    static const struct {
        const char *section;
        size_t offset;
        cbi_fnlzr_code code;
    } damage[] = {
        {".debug_frame", 8, CBI_FNLZR_SELF_TEXT},
        {".rela.debug_frame", 16, CBI_FNLZR_SELF_RELOC},
        {".nv.merc.rela.debug_frame", 16, CBI_FNLZR_SELF_RELOC},
        {".symtab", 24 + 16, CBI_FNLZR_SELF_SYMBOLS},
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        fixture a, b;
        open_fixture(&a, LINKED);
        open_fixture(&b, LINKED);
        b.bytes[place_of(&b, damage[i].section) + damage[i].offset] ^= 1;
        cbi_object x = read_object(&a), y = read_object(&b);
        assert_int_equal(cbi_fnlzr_compare(&x, &x), CBI_FNLZR_OK);
        assert_int_equal(cbi_fnlzr_compare(&x, &y), damage[i].code);
        close_fixture(&a);
        close_fixture(&b);
    }
}

static size_t compiled;

static bool supports_all(void *user, uint32_t from, const cbi_arch *target)
{
    (void)user;
    (void)from;
    return target->sm == 103;
}

static const uint8_t *keep_code(void *user, const char *function, cbi_span sass, cbi_span capsule,
                                const cbi_arch *target, size_t *ret_size)
{
    (void)user;
    (void)function;
    (void)target;
    assert_null(cbi_capsule_verify(capsule, sass.size));
    compiled++;
    *ret_size = sass.size;
    return sass.data;
}

static void test_back_end(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    cbi_fnlzr_backend backend = {"test", supports_all, keep_code, NULL};
    cbi_fnlzr_config config = {.fast_path_off = true, .backend = &backend};
    cbi_buf image = {0};
    assert_int_equal(finalize(&f, "sm_103", config, &image), 0);
    assert_true(compiled > 0);
    assert_int_equal(EF_CUDA_SM(cbi_ld32(image.items + 48)), 103);
    assert_int_equal(finalize(&f, "sm_100f", config, NULL), 4);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retargets),          cmocka_unit_test(test_not_eligible),
        cmocka_unit_test(test_not_capmerc),        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_unknown_abi),        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_isa_version),        cmocka_unit_test(test_self_check_text),
        cmocka_unit_test(test_self_check_symbols), cmocka_unit_test(test_compare),
        cmocka_unit_test(test_back_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
