/* The finalizer's self-check: what two results may differ in, what the two views of one have in
 * common, and how a linker's note is known. */
#include "unit.h"

#include "finalize/fnlzr_engine.h"

enum {
    TEXT = 1,
    CAPSULE,
    RELOCS,
    STRINGS,
    SYMBOLS,
    MERC_SYMBOLS,
    SECTIONS,
    SYMBOL_COUNT = 3,
    BYTES = 48
};

/* An object of six sections, of 48 bytes each. */
typedef struct image {
    cbi_object object;
    cbi_section sections[SECTIONS];
    uint8_t bytes[SECTIONS][BYTES];
    cbi_symbol symbols[SYMBOL_COUNT], merc_symbols[SYMBOL_COUNT];
} image;

static void put(image *x, unsigned at, const char *name, uint32_t type)
{
    x->sections[at] =
        (cbi_section){.name = name, .type = type, .size = BYTES, .data = {x->bytes[at], BYTES}};
}

static void make(image *x)
{
    static const cbi_symbol symbols[SYMBOL_COUNT] = {
        {.name = ""},
        {.name = "section", .info = CBI_ST_INFO(STB_LOCAL, STT_SECTION)},
        {.name = "function", .info = CBI_ST_INFO(STB_GLOBAL, STT_FUNC)}};
    memset(x, 0, sizeof *x);
    put(x, TEXT, ".text.k", SHT_PROGBITS);
    put(x, CAPSULE, ".nv.capmerc.text.k", SHT_CUDA_CAPMERC);
    put(x, RELOCS, ".rela.text.k", SHT_RELA);
    put(x, STRINGS, ".nv.merc.strtab", SHT_STRTAB);
    put(x, SYMBOLS, ".symtab", SHT_SYMTAB);
    put(x, MERC_SYMBOLS, ".nv.merc.symtab", SHT_CUDA_MERC_SYMTAB);
    x->sections[0].name = "";
    x->sections[RELOCS].info = TEXT;
    memcpy(x->symbols, symbols, sizeof symbols);
    memcpy(x->merc_symbols, symbols, sizeof symbols);
    x->object = (cbi_object){.sections = x->sections,
                             .section_count = SECTIONS,
                             .symbols = x->symbols,
                             .symbol_count = SYMBOL_COUNT,
                             .symtab = SYMBOLS,
                             .merc_symbols = x->merc_symbols,
                             .merc_symbol_count = SYMBOL_COUNT,
                             .merc_symtab = MERC_SYMBOLS};
}

/* ---- two results ---- */

static void another_text(image *x)
{
    x->bytes[TEXT][BYTES - 1] = 1;
}

static void another_capsule(image *x)
{
    x->bytes[CAPSULE][0] = 1;
}

static void another_relocation(image *x)
{
    x->bytes[RELOCS][0] = 1;
}

static void other_strings(image *x)
{
    x->bytes[STRINGS][0] = 1;
}

static void another_size(image *x)
{
    x->sections[TEXT].size++;
}

static void fewer_bytes(image *x)
{
    x->sections[TEXT].data.size--;
}

static void no_bytes(image *x)
{
    x->sections[TEXT].data.size = 0;
}

static void another_name(image *x)
{
    x->sections[TEXT].name = ".text.j";
}

static void another_name_of_strings(image *x)
{
    x->sections[STRINGS].name = ".nv.merc.strtaa";
}

static void the_plain_name(image *x)
{
    x->sections[STRINGS].name = ".strtab";
}

static void nearly_the_plain_name(image *x)
{
    x->sections[STRINGS].name = "strtab";
}

static void another_type(image *x)
{
    x->sections[STRINGS].type = SHT_NOTE;
}

static void fewer_sections(image *x)
{
    x->object.section_count--;
}

static void fewer_symbols(image *x)
{
    x->object.symbol_count--;
}

static void fewer_merc_symbols(image *x)
{
    x->object.merc_symbol_count--;
}

static void another_symbol(image *x)
{
    x->bytes[SYMBOLS][BYTES - 1] = 1;
}

static void another_merc_symbol(image *x)
{
    x->bytes[MERC_SYMBOLS][BYTES - 1] = 1;
}

static void results(void **state)
{
    (void)state;
    static const struct {
        void (*change)(image *x);
        cbi_fnlzr_code code;
    } rows[] = {
        {another_text, CBI_FNLZR_SELF_TEXT},
        {another_capsule, CBI_FNLZR_SELF_TEXT},
        {another_relocation, CBI_FNLZR_SELF_RELOC},
        {other_strings, CBI_FNLZR_OK},
        {another_size, CBI_FNLZR_SELF_TEXT},
        {fewer_bytes, CBI_FNLZR_SELF_TEXT},
        {no_bytes, CBI_FNLZR_SELF_TEXT},
        {another_name, CBI_FNLZR_SELF_RELOC},
        {another_name_of_strings, CBI_FNLZR_SELF_RELOC},
        {the_plain_name, CBI_FNLZR_OK},
        {nearly_the_plain_name, CBI_FNLZR_SELF_RELOC},
        {another_type, CBI_FNLZR_SELF_RELOC},
        {fewer_sections, CBI_FNLZR_SELF_RELOC},
        {fewer_symbols, CBI_FNLZR_SELF_SYMBOLS},
        {fewer_merc_symbols, CBI_FNLZR_SELF_SYMBOLS},
        {another_symbol, CBI_FNLZR_SELF_SYMBOLS},
        {another_merc_symbol, CBI_FNLZR_SELF_SYMBOLS},
    };
    static image a, b;
    make(&a);
    make(&b);
    assert_int_equal(cbi_fnlzr_compare(&a.object, &b.object), CBI_FNLZR_OK);
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        make(&b);
        rows[i].change(&b);
        if (cbi_fnlzr_compare(&a.object, &b.object) != rows[i].code ||
            cbi_fnlzr_compare(&b.object, &a.object) != rows[i].code)
            fail_msg("row %zu", i);
    }
    make(&b);
    another_text(&b);
    no_bytes(&b);
    no_bytes(&a);
    assert_int_equal(cbi_fnlzr_compare(&a.object, &b.object), CBI_FNLZR_OK);
}

/* ---- the views of one image ---- */

static void no_merc_table(image *x)
{
    x->object.merc_symtab = 0;
}

static void more_merc_symbols(image *x)
{
    x->object.symbol_count--;
}

static void another_binding(image *x)
{
    x->merc_symbols[2].info = CBI_ST_INFO(STB_WEAK, STT_FUNC);
}

static void another_binding_of_the_first(image *x)
{
    x->merc_symbols[1].info = CBI_ST_INFO(STB_GLOBAL, STT_SECTION);
}

static void another_kind(image *x)
{
    x->merc_symbols[2].info = CBI_ST_INFO(STB_GLOBAL, STT_OBJECT);
}

static void another_name_of_a_function(image *x)
{
    x->merc_symbols[2].name = "functiom";
}

static void another_name_of_a_section(image *x)
{
    x->merc_symbols[1].name = "part";
}

static void a_null_symbol_with_a_name(image *x)
{
    x->merc_symbols[0].name = "x";
}

static void a_relocation_at_the_end(image *x)
{
    x->bytes[RELOCS][24] = BYTES;
}

static void a_relocation_before_the_end(image *x)
{
    x->bytes[RELOCS][24] = BYTES - 1;
}

static void a_resolved_relocation(image *x)
{
    x->bytes[RELOCS][24] = BYTES;
    x->sections[RELOCS].type = SHT_CUDA_RESOLVED_RELA;
}

static void a_relocation_of_nothing(image *x)
{
    x->bytes[RELOCS][24] = BYTES;
    x->sections[RELOCS].info = SECTIONS;
}

static void a_capsule_of_nothing(image *x)
{
    x->sections[CAPSULE].type = SHT_CUDA_CAPMERC;
}

static void views(void **state)
{
    (void)state;
    static const struct {
        void (*change)(image *x);
        cbi_fnlzr_code code;
    } rows[] = {
        {no_merc_table, CBI_FNLZR_SELF_SYMBOLS},
        {more_merc_symbols, CBI_FNLZR_SELF_SYMBOLS},
        {fewer_merc_symbols, CBI_FNLZR_OK},
        {another_binding, CBI_FNLZR_SELF_SYMBOLS},
        {another_binding_of_the_first, CBI_FNLZR_SELF_SYMBOLS},
        {another_kind, CBI_FNLZR_OK},
        {another_name_of_a_function, CBI_FNLZR_SELF_SYMBOLS},
        {another_name_of_a_section, CBI_FNLZR_OK},
        {a_null_symbol_with_a_name, CBI_FNLZR_OK},
        {a_relocation_at_the_end, CBI_FNLZR_SELF_RELOC},
        {a_relocation_before_the_end, CBI_FNLZR_OK},
        {a_resolved_relocation, CBI_FNLZR_OK},
        {a_relocation_of_nothing, CBI_FNLZR_OK},
        {a_capsule_of_nothing, CBI_FNLZR_SELF_TEXT},
    };
    unit_heap heap = {0};
    cbi_ctx ctx = {0};
    unit_ctx_init(&ctx, &heap);
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        static image x;
        const char *why;
        make(&x);
        x.sections[CAPSULE].type = SHT_NOTE;
        rows[i].change(&x);
        if (cbi_fnlzr_verify(&ctx, &x.object, &why) != rows[i].code)
            fail_msg("row %zu: %s", i, why ? why : "no reason");
        assert_int_equal(rows[i].code == CBI_FNLZR_OK, why == NULL);
    }
    cbi_ctx_fini(&ctx);
}

/* ---- notes of linkers ---- */

static void append_note(cbi_ctx *ctx, cbi_buf *out, const char *tool)
{
    static const uint8_t foreign[] = {4, 0, 0,   0,   4,   0, 0, 0, 99, 0,
                                      0, 0, 'x', 'x', 'x', 0, 1, 2, 3,  4};
    if (*tool)
        cbi_tkinfo_append(ctx, out, &(cbi_tkinfo){.tool = tool});
    else
        cbi_buf_append(ctx, out, foreign, sizeof foreign);
}

static void notes(void **state)
{
    (void)state;
    static const struct {
        const char *tools[3];
        bool linked;
    } rows[] = {
        {{NULL}, false},
        {{"ptxas"}, false},
        {{"nvlink"}, true},
        {{"own linker"}, true},
        {{"ptxas", "nvlink"}, true},
        {{"", "ptxas"}, false},
        {{"", "own linker"}, false},
        {{"", "nvlink"}, true},
        {{"", "nvJIT API"}, true},
        {{"", "ptxas", "nvlink"}, true},
        {{"", "ptxas", "nvJIT API"}, true},
        {{"ptxas", ""}, true},
    };
    unit_heap heap = {0};
    cbi_ctx ctx = {0};
    unit_ctx_init(&ctx, &heap);
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        static image x;
        cbi_buf bytes = {0};
        make(&x);
        for (size_t k = 0; k < CBI_COUNT(rows[i].tools) && rows[i].tools[k]; k++)
            append_note(&ctx, &bytes, rows[i].tools[k]);
        x.sections[STRINGS].name = ".note.nv.tkinfo";
        x.sections[STRINGS].data = (cbi_span){bytes.items, bytes.len};
        if (cbi_fnlzr_is_linked(&x.object) != rows[i].linked)
            fail_msg("row %zu", i);
    }
    cbi_ctx_fini(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results),
        cmocka_unit_test(views),
        cmocka_unit_test(notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
