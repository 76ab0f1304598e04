/* The value tree, and dump, check and diff on sound and on damaged objects. */
#include "unit.h"

#include "format/eicompat.h"
#include "format/section.h"
#include "inspect/check.h"
#include "inspect/diff.h"

static const char *const files[] = {
    "samples/reduce.cubin",
    "samples/mathlib.cubin",
    "tests/golden/fnptr-global-90-default/expected.cubin",
    "tests/golden/lineinfo-90-default/expected.cubin",
    "tests/golden/jump-table-89-preserve/expected.cubin",
    "tests/golden/fnptr-global-100-r/expected.cubin",
    "tests/golden/diamond-120-default/expected.cubin",
    "tests/golden/init-pointers-75-default/expected.cubin",
};

static const char *text_of(cbi_ctx *ctx, const cbi_node *node, bool json)
{
    cbi_buf buf = {0};
    if (json)
        cbi_node_json(ctx, &buf, node, 0);
    else
        cbi_node_text(ctx, &buf, node, 0);
    cbi_buf_append(ctx, &buf, "", 1);
    return (const char *)buf.items;
}

static void nodes_print_as_json(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_node *n = cbi_node_object(&ctx);
    cbi_node_uint(&ctx, n, "u", UINT64_MAX);
    cbi_node_hex(&ctx, n, "h", 16);
    cbi_node_int(&ctx, n, "i", -5);
    cbi_node_bool(&ctx, n, "b", true);
    cbi_node_string(&ctx, n, "s", "a\"\\\n\x01\xff\xc3\xa9");
    cbi_node_string(&ctx, n, "none", NULL);
    cbi_node_add_array(&ctx, n, "empty");
    assert_string_equal(text_of(&ctx, n, true),
                        "{\"u\": 18446744073709551615, \"h\": 16, \"i\": -5, \"b\": true, "
                        "\"s\": \"a\\\"\\\\\\n\\u0001\\u00ff\xc3\xa9\", \"none\": null, "
                        "\"empty\": []}");
    cbi_ctx_fini(&ctx);
}

static void nodes_print_as_tables(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_node *list = cbi_node_array(&ctx);
    for (unsigned i = 0; i < 2; i++) {
        cbi_node *row = cbi_node_add_object(&ctx, list, NULL);
        cbi_node_hex(&ctx, row, "size", i * 1000);
        cbi_node_string(&ctx, row, "name", i ? "b\x1b[0m" : "a");
    }
    assert_string_equal(text_of(&ctx, list, false), " size  name\n"
                                                    "  0x0  a\n"
                                                    "0x3e8  b\\x1b[0m\n");
    cbi_ctx_fini(&ctx);
}

/* What the tools made is clean, equals itself, and dumps. */
static void tool_output_is_clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < CBI_COUNT(files); i++) {
        cbi_span bytes = unit_read_file(unit_path(files[i]));
        cbi_ctx ctx;
        cbi_ctx_init(&ctx);
        cbi_object o;
        cbi_findings findings = {0};
        assert_int_equal(cbi_object_read(&ctx, files[i], bytes, &o, &findings), CBI_OBJECT_OK);
        cbi_check(&ctx, &o, &findings);
        if (findings.len)
            fail_msg("%s: %s: %s", files[i], findings.items[0].rule, findings.items[0].message);
        cbi_diff_options options = {.semantic = false};
        assert_int_equal(cbi_diff(&ctx, &o, &o, &options, cbi_node_array(&ctx)), 0);
        cbi_node *document = cbi_node_object(&ctx);
        cbi_dump(&ctx, &o, CBI_DUMP_ALL, document);
        assert_true(strlen(text_of(&ctx, document, false)) > 1000);
        assert_true(strlen(text_of(&ctx, document, true)) > 1000);
        cbi_ctx_fini(&ctx);
        free((void *)bytes.data);
    }
}

/* The rule that fires first when the byte at an offset is changed. */
static const char *first_rule(cbi_span sound, size_t at, uint8_t value)
{
    static char rule[64];
    uint8_t *copy = malloc(sound.size);
    memcpy(copy, sound.data, sound.size);
    copy[at] = value;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_object o;
    cbi_findings findings = {0};
    if (cbi_object_read(&ctx, "copy", (cbi_span){copy, sound.size}, &o, &findings) == CBI_OBJECT_OK)
        cbi_check(&ctx, &o, &findings);
    snprintf(rule, sizeof rule, "%s", findings.len ? findings.items[0].rule : "none");
    cbi_ctx_fini(&ctx);
    free(copy);
    return rule;
}

static size_t section_field(const cbi_object *o, const char *name, size_t field)
{
    uint32_t i = cbi_object_find(o, name);
    assert_int_not_equal(i, 0);
    return (size_t)o->shoff + i * sizeof(Elf64_Shdr) + field;
}

static void rules_fire(void **state)
{
    (void)state;
    cbi_span bytes =
        unit_read_file(unit_path("tests/golden/fnptr-global-90-default/expected.cubin"));
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_object o;
    assert_int_equal(cbi_object_read(&ctx, "x", bytes, &o, NULL), CBI_OBJECT_OK);
    const struct {
        size_t at;
        uint8_t value;
        const char *rule;
    } changes[] = {
        {EI_ABIVERSION, 9, "abi-osabi"},
        {offsetof(Elf64_Ehdr, e_type), 3, "abi-type"},
        {offsetof(Elf64_Ehdr, e_flags), 2, "abi-kind"},
        {offsetof(Elf64_Ehdr, e_flags) + 1, 91, "abi-target"},
        {offsetof(Elf64_Ehdr, e_flags) + 3, 1, "cuinfo-index"},
        {offsetof(Elf64_Ehdr, e_phnum), 1, "segments"},
        {section_field(&o, ".nv.info", offsetof(Elf64_Shdr, sh_addralign)), 2, "section-align"},
        {section_field(&o, ".nv.info", offsetof(Elf64_Shdr, sh_link)), 2, "section-links"},
        {section_field(&o, ".nv.info", offsetof(Elf64_Shdr, sh_info)), 2, "section-owner"},
        {section_field(&o, ".nv.callgraph", offsetof(Elf64_Shdr, sh_entsize)), 4,
         "section-entries"},
        {section_field(&o, ".symtab", offsetof(Elf64_Shdr, sh_info)), 1, "symbol-locals"},
        {o.sections[cbi_object_find(&o, ".nv.info")].offset, 9, "attr-stream"},
        {o.sections[cbi_object_find(&o, ".nv.info")].offset + 1, 0xee, "attr-format"},
        {o.sections[cbi_object_find(&o, ".nv.compat")].offset + 1, 0xee, "compat-format"},
        {o.sections[cbi_object_find(&o, ".nv.callgraph")].offset + 4, 0xfe, "callgraph-lists"},
        {o.sections[cbi_object_find(&o, ".nv.rel.action")].offset, 0, "rel-action"},
        {o.sections[cbi_object_find(&o, ".note.nv.cuinfo")].offset + 24, 3, "cuinfo-note"},
    };
    for (size_t i = 0; i < CBI_COUNT(changes); i++) {
        const char *rule = first_rule(bytes, changes[i].at, changes[i].value);
        if (strcmp(rule, changes[i].rule) != 0)
            fail_msg("change %zu: rule %s instead of %s", i, rule, changes[i].rule);
    }
    cbi_ctx_fini(&ctx);
    free((void *)bytes.data);
}

/* One changed symbol size is one difference, with both values. */
static void diff_names_what_changed(void **state)
{
    (void)state;
    cbi_span bytes = unit_read_file(unit_path("samples/reduce.cubin"));
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_object a, b;
    assert_int_equal(cbi_object_read(&ctx, "a", bytes, &a, NULL), CBI_OBJECT_OK);
    uint8_t *copy = malloc(bytes.size);
    memcpy(copy, bytes.data, bytes.size);
    uint32_t text = cbi_object_find(&a, ".text.block_sum");
    copy[a.sections[text].offset + 16 + 15] ^= 0x40;
    assert_int_equal(cbi_object_read(&ctx, "b", (cbi_span){copy, bytes.size}, &b, NULL),
                     CBI_OBJECT_OK);
    cbi_diff_options options = {.semantic = true};
    cbi_node *list = cbi_node_array(&ctx);
    assert_int_equal(cbi_diff(&ctx, &a, &b, &options, list), 1);
    assert_string_equal(cbi_node_get(list->first, "part")->s, "text");
    assert_string_equal(cbi_node_get(list->first, "section")->s, ".text.block_sum");
    assert_string_equal(cbi_node_get(list->first, "field")->s,
                        "1 instructions differ, 1 only in scheduling");
    assert_string_equal(cbi_node_get(list->first, "a")->s, "0x10-0x1f");
    free(copy);
    cbi_ctx_fini(&ctx);
    free((void *)bytes.data);
}

static cb_status look_at(cbi_ctx *ctx, void *arg)
{
    const cbi_span *spans = arg; /* sound and damaged */
    cbi_object sound, o;
    cbi_findings findings = {0};
    cbi_object_kind kind = cbi_object_read(ctx, "damaged", spans[1], &o, &findings);
    if (kind == CBI_OBJECT_NOT_ELF || kind == CBI_OBJECT_NOT_DEVICE || !o.sections)
        return CB_OK;
    cbi_node *document = cbi_node_object(ctx);
    cbi_dump(ctx, &o, CBI_DUMP_ALL, document);
    text_of(ctx, document, false);
    if (kind != CBI_OBJECT_OK)
        return CB_OK;
    cbi_check(ctx, &o, &findings);
    cbi_diff_options options = {.semantic = false};
    if (cbi_object_read(ctx, "sound", spans[0], &sound, NULL) == CBI_OBJECT_OK)
        cbi_diff(ctx, &sound, &o, &options, cbi_node_array(ctx));
    return CB_OK;
}

static void look(cbi_span sound, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); /* of its own, so that overruns are caught */
    memcpy(copy, bytes, size);
    cbi_span spans[2] = {sound, {copy, size}};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_run(&ctx, look_at, spans);
    cbi_ctx_fini(&ctx);
    free(copy);
}

/* Every 149th byte changed or cut at, so that all places are met over the files; the fuzz targets
 * go on from here. */
static void damage_is_survived(void **state)
{
    (void)state;
    enum { STEP = 149 };
    for (size_t i = 0; i < CBI_COUNT(files); i++) {
        cbi_span sound = unit_read_file(unit_path(files[i]));
        uint8_t *bytes = malloc(sound.size);
        memcpy(bytes, sound.data, sound.size);
        for (size_t at = i % STEP; at < sound.size; at += STEP) {
            bytes[at] ^= 0xff;
            look(sound, bytes, sound.size);
            bytes[at] ^= 0xff ^ 1;
            look(sound, bytes, sound.size);
            bytes[at] ^= 1;
            look(sound, bytes, at);
        }
        free(bytes);
        free((void *)sound.data);
    }
}

static void section_rules_are_found(void **state)
{
    (void)state;
    const char *suffix;
    const cbi_section_rule *rule = cbi_section_rule_find(".nv.shared.reserved.0", &suffix);
    assert_non_null(rule);
    assert_false(rule->suffix);
    rule = cbi_section_rule_find(".nv.shared.f", &suffix);
    assert_non_null(rule);
    assert_true(rule->suffix);
    assert_string_equal(suffix, "f");
    assert_null(cbi_section_rule_find(".nv.sharedx", &suffix));
    assert_null(cbi_section_rule_find("", &suffix));
    for (size_t i = 0; i < cbi_section_rule_count; i++)
        assert_int_equal(cbi_section_rules[i].name_len, strlen(cbi_section_rules[i].name));
    for (size_t i = 0; i < cbi_eicompat_count; i++)
        assert_int_equal(cbi_eicompats[i].id, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_print_as_json),     cmocka_unit_test(nodes_print_as_tables),
        cmocka_unit_test(tool_output_is_clean),    cmocka_unit_test(rules_fire),
        cmocka_unit_test(diff_names_what_changed), cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(section_rules_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
