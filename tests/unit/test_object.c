/* The object reader: a real object reads, every damaged copy of it is refused or read safely, and
 * each structural rule fires for the field it is about. */
#include "unit.h"

#include "format/eiattr.h"
#include "object/object.h"

static cbi_span sample;

static int load(void **state)
{
    (void)state;
    sample = unit_read_file(unit_path("samples/reduce.cubin"));
    return 0;
}

static int unload(void **state)
{
    (void)state;
    free((void *)sample.data);
    return 0;
}

static void a_real_object_reads(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_object o;
    cbi_findings findings = {0};
    assert_int_equal(cbi_object_read(&ctx, "reduce.cubin", sample, &o, &findings), CBI_OBJECT_OK);
    assert_int_equal(findings.len, 0);
    assert_int_equal(o.machine, EM_CUDA);
    assert_int_equal(o.type, ET_REL);
    assert_int_equal(EF_CUDA_SM(o.flags), 90);
    assert_string_equal(o.sections[0].name, "");
    uint32_t text = cbi_object_find(&o, ".text.block_sum");
    assert_int_not_equal(text, 0);
    assert_true(o.sections[text].data.size > 0);
    assert_int_equal(cbi_object_find(&o, ".text.no_such_kernel"), 0);
    assert_int_equal(o.sections[o.symtab].type, SHT_SYMTAB);
    assert_int_equal(o.sections[o.strtab].type, SHT_STRTAB);
    bool found = false;
    for (uint32_t i = 1; i < o.symbol_count; i++)
        if (strcmp(o.symbols[i].name, "block_sum") == 0) {
            found = true;
            assert_int_equal(o.symbols[i].shndx, text);
            assert_true(o.symbols[i].other & STO_CUDA_ENTRY);
        }
    assert_true(found);
    cbi_cuinfo info = cbi_object_cuinfo(&o);
    assert_true(info.present);
    assert_int_equal(info.virtual_sm, 90);
    assert_int_equal(info.toolkit, 130);
    cbi_ctx_fini(&ctx);
}

/* Whatever the reader accepts must be safe to walk. */
static void walk(const cbi_object *o)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        sum += strlen(s->name);
        for (size_t k = 0; k < s->data.size; k++)
            sum += s->data.data[k];
        if (cbi_is_reloc_type(s->type))
            for (size_t k = 0; k < cbi_rela_count(s); k++)
                sum += strlen(o->symbols[cbi_rela_at(s, k).symbol].name);
        size_t pos = 0;
        cbi_attr attr;
        if (s->type == SHT_CUDA_INFO)
            while (cbi_attr_next(s->data, &pos, &attr))
                sum += attr.raw.size + attr.payload.size;
    }
    for (uint32_t i = 0; i < o->symbol_count; i++)
        sum += strlen(o->symbols[i].name);
    assert_true(sum > 0);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size < sample.size; size += size < 4096 ? 1 : 13) {
        /* a block of the exact size lets the sanitizer see a read past the end */
        uint8_t *cut = malloc(size ? size : 1);
        memcpy(cut, sample.data, size);
        cbi_ctx ctx;
        cbi_ctx_init(&ctx);
        cbi_object o;
        cbi_findings findings = {0};
        cbi_object_kind kind = cbi_object_read(&ctx, "cut", (cbi_span){cut, size}, &o, &findings);
        assert_int_not_equal(kind, CBI_OBJECT_OK);
        if (kind == CBI_OBJECT_DAMAGED)
            assert_true(findings.len > 0);
        cbi_ctx_fini(&ctx);
        free(cut);
    }
}

static void every_changed_byte_is_survived(void **state)
{
    (void)state;
    uint8_t *copy = malloc(sample.size);
    memcpy(copy, sample.data, sample.size);
    static const uint8_t changes[] = {0xff, 0x01, 0x80};
    for (size_t at = 0; at < sample.size; at++)
        for (size_t c = 0; c < CBI_COUNT(changes); c++) {
            copy[at] ^= changes[c];
            cbi_ctx ctx;
            cbi_ctx_init(&ctx);
            cbi_object o;
            cbi_findings findings = {0};
            cbi_span bytes = {copy, sample.size};
            if (cbi_object_read(&ctx, "changed", bytes, &o, &findings) == CBI_OBJECT_OK)
                walk(&o);
            cbi_ctx_fini(&ctx);
            copy[at] ^= changes[c];
        }
    free(copy);
}

/* Reads a copy with one field overwritten and looks for a finding of that rule. */
static bool fires(uint64_t at, size_t width, uint64_t value, const char *rule)
{
    uint8_t *copy = malloc(sample.size);
    memcpy(copy, sample.data, sample.size);
    for (size_t i = 0; i < width; i++)
        copy[at + i] = (uint8_t)(value >> (8 * i));
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_object o;
    cbi_findings findings = {0};
    cbi_object_kind kind =
        cbi_object_read(&ctx, "patched", (cbi_span){copy, sample.size}, &o, &findings);
    bool found = false;
    for (size_t i = 0; i < findings.len; i++)
        if (strcmp(findings.items[i].rule, rule) == 0)
            found = kind == CBI_OBJECT_DAMAGED;
    for (size_t i = 0; i < o.doubts.len; i++)
        if (strcmp(o.doubts.items[i].rule, rule) == 0)
            found = kind == CBI_OBJECT_OK;
    cbi_ctx_fini(&ctx);
    free(copy);
    return found;
}

#define EHDR(field) offsetof(Elf64_Ehdr, field)
#define SHDR(index, field)                                                                         \
    (o.shoff + (uint64_t)(index) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, field))
#define SYM(index, field)                                                                          \
    (o.sections[o.symtab].offset + (uint64_t)(index) * sizeof(Elf64_Sym) +                         \
     offsetof(Elf64_Sym, field))

static void each_rule_fires(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_object o;
    assert_int_equal(cbi_object_read(&ctx, "s", sample, &o, NULL), CBI_OBJECT_OK);
    uint32_t text = cbi_object_find(&o, ".text.block_sum");
    uint32_t rela = 0, info = cbi_object_find(&o, ".nv.info.block_sum");
    for (uint32_t i = 1; i < o.section_count; i++)
        if (cbi_is_reloc_type(o.sections[i].type) && o.sections[i].info == text && !rela)
            rela = i;
    assert_int_not_equal(rela, 0);
    assert_int_not_equal(info, 0);
    uint32_t function = 0, shared = 0;
    for (uint32_t i = 1; i < o.symbol_count; i++) {
        if (CBI_ST_TYPE(o.symbols[i].info) == STT_FUNC && o.symbols[i].shndx == text)
            function = i;
        if ((o.symbols[i].other & STO_CUDA_SPACE) == STO_CUDA_SHARED)
            shared = i;
    }
    assert_int_not_equal(function, 0);
    assert_int_not_equal(shared, 0);

    uint32_t graph = cbi_object_find(&o, ".nv.callgraph");
    uint32_t note = cbi_object_find(&o, ".note.nv.cuinfo");
    assert_int_not_equal(graph, 0);
    assert_int_not_equal(note, 0);
    size_t attr_at = 0, pos = 0; /* of a record with a parameter, 12 bytes */
    for (cbi_attr attr; cbi_attr_next(o.sections[info].data, &pos, &attr); attr_at = pos)
        if (attr.code == EIATTR_KPARAM_INFO)
            break;
    assert_int_equal(o.sections[info].data.data[attr_at + 1], EIATTR_KPARAM_INFO);

    const struct {
        uint64_t at;
        size_t width;
        uint64_t value;
        const char *rule;
    } cases[] = {
        {EI_CLASS, 1, ELFCLASS32, "section-entsize"},
        {EI_CLASS, 1, 7, "elf-class"},
        {EI_DATA, 1, ELFDATA2MSB, "elf-data"},
        {EI_VERSION, 1, 2, "elf-version"},
        {EHDR(e_ehsize), 2, 63, "header-size"},
        {EHDR(e_shentsize), 2, 63, "section-entsize"},
        {EHDR(e_shoff), 8, 0, "section-table"},
        {EHDR(e_shoff), 8, UINT64_MAX - 8, "section-table"},
        {EHDR(e_shoff), 8, sample.size, "section-table"},
        {EHDR(e_shnum), 2, 0xfe00, "section-table"},
        {EHDR(e_phoff), 8, sample.size + 1, "program-table"},
        {EHDR(e_shstrndx), 2, 0, "name-table"},
        {EHDR(e_shstrndx), 2, 0xfe00, "name-table"},
        {EHDR(e_shstrndx), 2, text, "name-table"},
        {SHDR(text, sh_name), 4, UINT32_MAX, "section-name"},
        {SHDR(text, sh_offset), 8, sample.size + 1, "section-range"},
        {SHDR(text, sh_offset), 8, UINT64_MAX, "section-range"},
        {SHDR(text, sh_size), 8, UINT64_MAX, "section-range"},
        {SHDR(text, sh_addralign), 8, UINT64_MAX, "section-extent"},
        {SHDR(o.symtab, sh_link), 4, text, "section-link"},
        {SHDR(o.symtab, sh_link), 4, UINT32_MAX, "section-link"},
        {SHDR(o.symtab, sh_entsize), 8, 23, "record-size"},
        {SHDR(o.symtab, sh_info), 4, UINT32_MAX, "symbol-order"},
        {SYM(1, st_name), 4, UINT32_MAX, "symbol-name"},
        {SYM(1, st_shndx), 2, 0xfe00, "symbol-section"},
        {SYM(function, st_shndx), 2, SHN_COMMON, "symbol-section"},
        {SYM(function, st_shndx), 2, SHN_ABS, "symbol-section"},
        {SYM(function, st_value), 8, 1 << 20, "symbol-range"},
        {SYM(function, st_size), 8, UINT64_MAX, "symbol-extent"},
        {SYM(shared, st_value), 8, UINT64_C(1) << 40, "symbol-extent"},
        {SHDR(rela, sh_info), 4, UINT32_MAX, "reloc-target"},
        {o.sections[rela].offset, 8, UINT64_MAX, "reloc-offset"},
        {o.sections[rela].offset + 12, 4, UINT32_MAX, "reloc-symbol"},
        {o.sections[info].offset, 1, 9, "attr-stream"},
        {SHDR(0, sh_name), 4, 1, "section-null"},
        {SHDR(0, sh_type), 4, SHT_PROGBITS, "section-null"},
        {SHDR(0, sh_size), 8, o.section_count, "section-null"},
        {SHDR(0, sh_link), 4, 1, "section-null"},
        {SHDR(0, sh_info), 4, 1, "section-null"},
        {SHDR(0, sh_addralign) + 7, 1, 1, "section-null"},
        {SHDR(text, sh_offset), 8, 0, "section-overlap"},
        {SHDR(text, sh_offset), 8, o.shoff, "section-overlap"},
        {SHDR(text, sh_offset), 8, o.sections[info].offset, "section-overlap"},
        {SHDR(text, sh_addralign), 8, 127, "section-alignment"},
        {SHDR(text, sh_addralign), 8, 0x7fffffff, "section-alignment"},
        {SHDR(text, sh_link), 4, text, "section-self"},
        {SHDR(text, sh_entsize), 8, 4, "section-records"},
        {SHDR(graph, sh_entsize), 8, 4, "section-records"},
        {o.sections[note].offset, 4, 11, "note-record"},
        {o.sections[note].offset + 4, 4, 4, "note-record"},
        {o.sections[note].offset + 4, 4, UINT32_MAX, "note-record"},
        {o.sections[note].offset + 12, 1, 'n', "note-record"},
        {o.sections[info].offset + attr_at + 1, 1, EIATTR_PARAM_CBANK, "attr-size"},
        {SYM(shared, st_value), 8, 0x7fffffff, "symbol-alignment"},
    };
    for (size_t i = 0; i < CBI_COUNT(cases); i++)
        if (!fires(cases[i].at, cases[i].width, cases[i].value, cases[i].rule))
            fail_msg("case %zu: rule %s does not fire", i, cases[i].rule);
    cbi_ctx_fini(&ctx);
}

static void other_files_are_told_apart(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_object o;
    cbi_findings findings = {0};
    cbi_span text = {(const uint8_t *)"just some words", 15};
    assert_int_equal(cbi_object_read(&ctx, "t", text, &o, &findings), CBI_OBJECT_NOT_ELF);
    assert_int_equal(cbi_object_read(&ctx, "t", (cbi_span){NULL, 0}, &o, NULL), CBI_OBJECT_NOT_ELF);
    uint8_t *copy = cbi_memdup(&ctx, sample.data, sample.size);
    cbi_st16(copy + EHDR(e_machine), EM_X86_64);
    cbi_span host = {copy, sample.size};
    assert_int_equal(cbi_object_read(&ctx, "h", host, &o, &findings), CBI_OBJECT_NOT_DEVICE);
    assert_int_equal(findings.len, 0);
    cbi_ctx_fini(&ctx);
}

static void rule_ids_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < cbi_object_rule_count; i++) {
        assert_true(strlen(cbi_object_rules[i].text) > 0);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(cbi_object_rules[i].id, cbi_object_rules[k].id);
    }
}

static void attribute_streams(void **state)
{
    (void)state;
    static const uint8_t good[] = {1, 0x10, 0, 0,    2, 0x11, 7, 0, 3, 0x12,
                                   8, 1,    4, 0x13, 4, 0,    9, 9, 9, 9};
    cbi_span stream = {good, sizeof good};
    size_t pos = 0;
    cbi_attr a;
    assert_true(cbi_attr_next(stream, &pos, &a));
    assert_int_equal(a.code, 0x10);
    assert_true(cbi_attr_next(stream, &pos, &a));
    assert_int_equal(a.value, 7);
    assert_true(cbi_attr_next(stream, &pos, &a));
    assert_int_equal(a.value, 0x108);
    assert_true(cbi_attr_next(stream, &pos, &a));
    assert_int_equal(a.payload.size, 4);
    assert_int_equal(a.raw.size, 8);
    assert_false(cbi_attr_next(stream, &pos, &a));
    assert_int_equal(pos, sizeof good);

    for (size_t cut = 1; cut < 8; cut++) {
        cbi_span part = {good + 12, 8 - cut};
        pos = 0;
        assert_false(cbi_attr_next(part, &pos, &a));
        assert_int_equal(pos, 0);
    }
}

static void notes(void **state)
{
    (void)state;
    uint8_t bytes[40] = {0};
    cbi_st32(bytes, 12);
    cbi_st32(bytes + 4, 8);
    cbi_st32(bytes + 8, NT_CUDA_CUINFO);
    memcpy(bytes + 12, "NVIDIA Corp", 12);
    cbi_span section = {bytes, 32};
    size_t pos = 0;
    cbi_note note;
    assert_true(cbi_note_next(section, &pos, &note));
    assert_int_equal(note.type, NT_CUDA_CUINFO);
    assert_int_equal(note.desc.size, 8);
    assert_false(cbi_note_next(section, &pos, &note));
    assert_int_equal(pos, 32);
    for (size_t size = 0; size < 32; size++) {
        pos = 0;
        assert_false(cbi_note_next((cbi_span){bytes, size}, &pos, &note));
    }
    cbi_st32(bytes + 4, UINT32_MAX);
    pos = 0;
    assert_false(cbi_note_next(section, &pos, &note));
    cbi_st32(bytes, UINT32_MAX);
    assert_false(cbi_note_next(section, &pos, &note));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_object_reads),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_changed_byte_is_survived),
        cmocka_unit_test(each_rule_fires),
        cmocka_unit_test(other_files_are_told_apart),
        cmocka_unit_test(rule_ids_are_unique),
        cmocka_unit_test(attribute_streams),
        cmocka_unit_test(notes),
    };
    return cmocka_run_group_tests_name("object", tests, load, unload);
}
