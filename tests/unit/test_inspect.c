/* The value tree, and the tables, check and diff of sound and of damaged objects. */
#include "unit.h"

#include "cubind/inspect.h"
#include "format/eicompat.h"
#include "format/section.h"
#include "object/object.h"
#include "tools/dump.h"

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

static const char *text_of(cbi_out *out, const cbi_node *node, bool json)
{
    out->len = 0;
    if (json)
        cbi_node_json(out, node, 0);
    else
        cbi_node_text(out, node, 0);
    return cbi_out_text(out);
}

static void nodes_print_as_json(void **state)
{
    (void)state;
    cbi_store t = {0};
    cbi_out out = {0};
    cbi_node *n = cbi_node_object(&t);
    cbi_node_uint(&t, n, "u", UINT64_MAX);
    cbi_node_hex(&t, n, "h", 16);
    cbi_node_int(&t, n, "i", -5);
    cbi_node_bool(&t, n, "b", true);
    cbi_node_string(&t, n, "s", "a\"\\\n\x01\xff\xc3\xa9");
    cbi_node_string(&t, n, "none", NULL);
    cbi_node_add_array(&t, n, "empty");
    assert_string_equal(text_of(&out, n, true),
                        "{\"u\": 18446744073709551615, \"h\": 16, \"i\": -5, \"b\": true, "
                        "\"s\": \"a\\\"\\\\\\n\\u0001\\u00ff\xc3\xa9\", \"none\": null, "
                        "\"empty\": []}");
    cbi_out_free(&out);
    cbi_store_free(&t);
}

static cbi_node *two_rows(cbi_store *t)
{
    cbi_node *list = cbi_node_array(t);
    for (unsigned i = 0; i < 2; i++) {
        cbi_node *row = cbi_node_add_object(t, list, NULL);
        cbi_node_hex(t, row, "size", i * 1000);
        cbi_node_string(t, row, "name", i ? "b\x1b[0m" : "a");
    }
    return list;
}

static void nodes_print_as_tables(void **state)
{
    (void)state;
    cbi_store t = {0};
    cbi_out out = {0};
    cbi_node *list = two_rows(&t);
    assert_string_equal(text_of(&out, list, false), " size  name\n"
                                                    "  0x0  a\n"
                                                    "0x3e8  b\\x1b[0m\n");
    out.colour = true;
    assert_non_null(strstr(text_of(&out, list, false), "\033[1m size  name\033[0m\n"));
    cbi_out_free(&out);
    cbi_store_free(&t);
}

static void tables_are_sorted_and_filtered(void **state)
{
    (void)state;
    cbi_store t = {0};
    cbi_out out = {0};
    cbi_node *document = cbi_node_object(&t), *list = two_rows(&t);
    cbi_node_put(document, "rows", list);
    assert_false(cbi_node_sort(document, "missing"));
    assert_true(cbi_node_sort(document, "size"));
    assert_string_equal(list->first->first->next->s, "b\x1b[0m");
    assert_int_equal(list->count, 2);
    cbi_node_filter(list, "a");
    assert_string_equal(text_of(&out, list, false), "size  name\n 0x0  a\n");
    assert_int_equal(list->count, 1);
    assert_ptr_equal(list->first, list->last);
    cbi_node_filter(list, "no such text");
    assert_int_equal(list->count, 0);
    assert_null(list->first);
    cbi_out_free(&out);
    cbi_store_free(&t);
}

static size_t differences(cb_image *a, cb_image *b)
{
    cb_diff *diff;
    assert_int_equal(cb_diff_create(a, b, 0, &diff), CB_OK);
    size_t count = cb_diff_count(diff);
    cb_diff_free(diff);
    return count;
}

/* What the tools made is clean, equals itself, and dumps. */
static void tool_output_is_clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < CBI_COUNT(files); i++) {
        cbi_span bytes = unit_read_file(unit_path(files[i]));
        cb_image *image;
        assert_int_equal(cb_image_open_memory(NULL, files[i], bytes.data, bytes.size, &image),
                         CB_OK);
        assert_int_equal(cb_image_get_state(image), CB_STATE_SOUND);
        if (cb_image_finding_count(image))
            fail_msg("%s: %s: %s", files[i], cb_image_finding(image, 0)->rule,
                     cb_image_finding(image, 0)->message);
        assert_int_equal(differences(image, image), 0);
        cbi_store t = {0};
        cbi_out out = {0};
        cbi_node *document = cbi_node_object(&t);
        cbi_dump(&t, image, CBI_DUMP_ALL, document);
        assert_true(strlen(text_of(&out, document, false)) > 1000);
        assert_true(strlen(text_of(&out, document, true)) > 1000);
        assert_int_equal(cb_image_status(image), CB_OK);
        cbi_out_free(&out);
        cbi_store_free(&t);
        cb_image_close(image);
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
    cb_image *image;
    assert_int_equal(cb_image_open_memory(NULL, "copy", copy, sound.size, &image), CB_OK);
    const cb_finding *f = cb_image_finding(image, 0);
    snprintf(rule, sizeof rule, "%s", f ? f->rule : "none");
    cb_image_close(image);
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

/* One changed instruction is one difference, with the place on both sides. */
static void diff_names_what_changed(void **state)
{
    (void)state;
    cbi_span bytes = unit_read_file(unit_path("samples/reduce.cubin"));
    cb_image *a, *b;
    uint8_t *copy = malloc(bytes.size);
    memcpy(copy, bytes.data, bytes.size);
    assert_int_equal(cb_image_open_memory(NULL, "a", bytes.data, bytes.size, &a), CB_OK);
    uint32_t text = cb_image_find_section(a, ".text.block_sum");
    copy[cb_image_section(a, text)->offset + 16 + 15] ^= 0x40;
    assert_int_equal(cb_image_open_memory(NULL, "b", copy, bytes.size, &b), CB_OK);
    cb_diff *diff;
    assert_int_equal(cb_diff_create(a, b, CB_DIFF_SEMANTIC, &diff), CB_OK);
    cb_image_close(a); /* the diff keeps nothing of them */
    cb_image_close(b);
    free(copy);
    free((void *)bytes.data);
    assert_int_equal(cb_diff_count(diff), 1);
    const cb_difference *d = cb_diff_get(diff, 0);
    assert_null(cb_diff_get(diff, 1));
    assert_string_equal(d->part, "text");
    assert_string_equal(d->section, ".text.block_sum");
    assert_string_equal(d->field, "1 instructions differ, 1 only in scheduling");
    assert_string_equal(d->a, "0x10-0x1f");
    cb_diff_free(diff);
}

static void look(cb_image *sound, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); /* of its own, so that overruns are caught */
    memcpy(copy, bytes, size);
    cb_image *image;
    assert_int_equal(cb_image_open_memory(NULL, "damaged", copy, size, &image), CB_OK);
    cbi_store t = {0};
    cbi_out out = {0};
    cbi_node *document = cbi_node_object(&t);
    cbi_dump(&t, image, CBI_DUMP_ALL | CBI_DUMP_KERNELS | CBI_DUMP_LINES, document);
    text_of(&out, document, false);
    cb_image_finding_count(image);
    if (cb_image_get_state(image) == CB_STATE_SOUND)
        differences(sound, image);
    assert_int_equal(cb_image_status(image), CB_OK);
    cbi_out_free(&out);
    cbi_store_free(&t);
    cb_image_close(image);
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
        cb_image *image;
        assert_int_equal(cb_image_open_memory(NULL, "sound", sound.data, sound.size, &image),
                         CB_OK);
        for (size_t at = i % STEP; at < sound.size; at += STEP) {
            bytes[at] ^= 0xff;
            look(image, bytes, sound.size);
            bytes[at] ^= 0xff ^ 1;
            look(image, bytes, sound.size);
            bytes[at] ^= 1;
            look(image, bytes, at);
        }
        cb_image_close(image);
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
        cmocka_unit_test(nodes_print_as_json),
        cmocka_unit_test(nodes_print_as_tables),
        cmocka_unit_test(tables_are_sorted_and_filtered),
        cmocka_unit_test(tool_output_is_clean),
        cmocka_unit_test(rules_fire),
        cmocka_unit_test(diff_names_what_changed),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(section_rules_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
