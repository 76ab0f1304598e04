/* dump --capsule: what stands beside the code of sm_100 and later. */
#include "dump.h"

#include <string.h>

enum { OPCODE_MASK = 0xfff, INSTRUCTION = 16 };

/* Opcodes of the instructions that an entry covers; long runs are cut. */
static void add_opcodes(cbi_store *t, cbi_node *n, const cb_section *text,
                        const cb_capsule_entry *e)
{
    enum { SHOWN = 8 };
    cbi_node *list = cbi_node_add_array(t, n, "opcodes");
    for (uint32_t i = 0; i < e->count && i < SHOWN; i++) {
        uint64_t at = e->offset + (uint64_t)i * INSTRUCTION;
        if (!text || text->data_size < INSTRUCTION || at > text->data_size - INSTRUCTION)
            continue;
        const unsigned char *code = (const unsigned char *)text->data + at;
        cbi_node_hex(t, list, NULL, (uint64_t)(code[0] | code[1] << 8) & OPCODE_MASK);
    }
}

static const char *show_value(cbi_store *t, const cb_capsule_field *f)
{
    bool predicate = f->name[1] == 0 && f->name[0] >= 'p';
    if (strcmp(f->name, "guard") == 0 && (f->value & 7) == 7)
        return f->value & 8 ? "!PT" : "PT";
    if (strcmp(f->name, "guard") == 0)
        return cbi_store_printf(t, "%sP%u", f->value & 8 ? "!" : "", (unsigned)f->value & 7);
    if (predicate && f->value == 7)
        return "PT";
    if (predicate)
        return cbi_store_printf(t, "P%u", (unsigned)f->value);
    if (f->name[1] == 0)
        return cbi_store_printf(t, "%u", (unsigned)f->value);
    if ((int64_t)f->value < 0)
        return cbi_store_printf(t, "-0x%llx", (unsigned long long)-f->value);
    return cbi_store_printf(t, "0x%llx", (unsigned long long)f->value);
}

/* What is understood of a record. */
static const char *show_fields(cbi_store *t, const cb_capsule_entry *e)
{
    char *text = NULL;
    for (size_t i = 0; i < e->field_count; i++) {
        const cb_capsule_field *f = &e->fields[i];
        text = cbi_store_printf(t, "%s%s%s=%s", text ? text : "", text ? " " : "", f->name,
                                show_value(t, f));
        if (f->value != f->sass)
            text = cbi_store_printf(t, "%s(SASS:0x%llx)", text, (unsigned long long)f->sass);
    }
    return text;
}

static void entry_row(cbi_store *t, cbi_node *list, const cb_section *text,
                      const cb_capsule_entry *e)
{
    cbi_node *n = cbi_node_add_object(t, list, NULL);
    cbi_node_uint(t, n, "entry", e->index);
    cbi_node_hex(t, n, "sass", e->offset);
    cbi_node_uint(t, n, "count", e->count);
    cbi_node_string(t, n, "kind", e->kind);
    add_opcodes(t, n, text, e);
    if (!e->has_record) {
        static const char *const keys[] = {"class", "units", "fields", "record"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            cbi_node_null(t, n, keys[i]);
        return;
    }
    cbi_node_hex(t, n, "class", e->record_class);
    cbi_node_uint(t, n, "units", e->units);
    cbi_node_string(t, n, "fields", show_fields(t, e));
    cbi_node_string(t, n, "record", cbi_hex(t, e->record, e->record_size));
}

cbi_node *cbi_dump_capsules(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_capsule_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_capsule *c = cb_image_capsule(image, i);
        const cb_section *text = c->text == CB_NONE ? NULL : cb_image_section(image, c->text);
        cbi_node *n = cbi_node_add_object(t, list, NULL);
        cbi_node_string(t, n, "section", cbi_section_name(t, image, c->section));
        cbi_node_string(t, n, "function", c->function);
        cbi_node_string(t, n, "text", c->text_name);
        cbi_node_uint(t, n, "version", c->version);
        cbi_node_uint(t, n, "entry_count", c->entry_count);
        cbi_node_uint(t, n, "bytes", c->bytes);
        cbi_node_uint(t, n, "text_bytes", c->text_bytes);
        cbi_node_uint(t, n, "mercury_bytes", c->mercury_bytes);
        cbi_node_uint(t, n, "derived", c->derived);
        cbi_node_uint(t, n, "runs", c->runs);
        cbi_node_uint(t, n, "records", c->records);
        cbi_node_string(t, n, "error", c->error);
        cbi_node *entries = cbi_node_add_array(t, n, "entries");
        for (size_t k = 0; k < c->count; k++)
            entry_row(t, entries, text, &c->entries[k]);
    }
    return list;
}
