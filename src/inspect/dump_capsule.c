/* dump --capsule: what stands beside the code of sm_100 and later. */
#include "inspect/inspect.h"
#include "capsule/fields.h"

static const char *kind_name(uint8_t kind)
{
    static const char *const names[] = {"derived", "run", "record", "run-record"};
    return kind < CBI_COUNT(names) ? names[kind] : "?";
}

/* Opcodes of the instructions that an entry covers; long runs are cut. */
static void add_opcodes(cbi_ctx *ctx, cbi_node *n, const cbi_section *text,
                        const cbi_capsule_entry *e)
{
    enum { SHOWN = 8 };
    cbi_node *list = cbi_node_add_array(ctx, n, "opcodes");
    for (uint32_t i = 0; i < e->count && i < SHOWN; i++) {
        uint64_t at = ((uint64_t)e->first + i) * CBI_SASS_INSTRUCTION;
        if (text && cbi_fits(at, CBI_SASS_INSTRUCTION, text->data.size))
            cbi_node_hex(ctx, list, NULL, cbi_sass_opcode(text->data.data + at));
    }
}

static void append_value(cbi_ctx *ctx, cbi_buf *out, const cbi_capsule_field *f)
{
    bool guard = strcmp(f->name, "guard") == 0;
    cbi_buf_printf(ctx, out, "%s%s=", out->len ? " " : "", f->name);
    if (guard && (f->value & 7) == 7)
        cbi_buf_printf(ctx, out, "%sPT", f->value & 8 ? "!" : "");
    else if (guard)
        cbi_buf_printf(ctx, out, "%sP%u", f->value & 8 ? "!" : "", (unsigned)f->value & 7);
    else if (f->name[1] == 0 && f->name[0] >= 'p' && f->value == 7)
        cbi_buf_printf(ctx, out, "PT");
    else if (f->name[1] == 0 && f->name[0] >= 'p')
        cbi_buf_printf(ctx, out, "P%u", (unsigned)f->value);
    else if (f->name[1] == 0)
        cbi_buf_printf(ctx, out, "%u", (unsigned)f->value);
    else if ((int64_t)f->value < 0)
        cbi_buf_printf(ctx, out, "-0x%llx", (unsigned long long)-f->value);
    else
        cbi_buf_printf(ctx, out, "0x%llx", (unsigned long long)f->value);
    if (f->value != f->sass)
        cbi_buf_printf(ctx, out, "(SASS:0x%llx)", (unsigned long long)f->sass);
}

/* What is understood of a record. */
static void add_fields(cbi_ctx *ctx, cbi_node *n, const cbi_section *text,
                       const cbi_capsule_entry *e)
{
    cbi_capsule_field fields[CBI_CAPSULE_FIELDS];
    uint64_t at = (uint64_t)e->first * CBI_SASS_INSTRUCTION;
    size_t count = 0;
    if (text && cbi_fits(at, CBI_SASS_INSTRUCTION, text->data.size))
        count = cbi_capsule_fields(e, text->data.data + at, fields);
    if (!count) {
        cbi_node_null(ctx, n, "fields");
        return;
    }
    cbi_buf out = {0};
    for (size_t i = 0; i < count; i++)
        append_value(ctx, &out, &fields[i]);
    cbi_buf_append(ctx, &out, "", 1);
    cbi_node_string(ctx, n, "fields", (const char *)out.items);
}

static void entry_row(cbi_ctx *ctx, cbi_node *list, const cbi_section *text,
                      const cbi_capsule_entry *e)
{
    cbi_node *n = cbi_node_add_object(ctx, list, NULL);
    bool record = e->kind == CBI_CAPSULE_RECORD || e->kind == CBI_CAPSULE_RUN_RECORD;
    cbi_node_uint(ctx, n, "entry", e->index);
    cbi_node_hex(ctx, n, "sass", (uint64_t)e->first * CBI_SASS_INSTRUCTION);
    cbi_node_uint(ctx, n, "count", e->count);
    cbi_node_string(ctx, n, "kind", kind_name(e->kind));
    add_opcodes(ctx, n, text, e);
    if (!record) {
        static const char *const keys[] = {"class", "units", "fields", "record"};
        for (size_t i = 0; i < CBI_COUNT(keys); i++)
            cbi_node_null(ctx, n, keys[i]);
        return;
    }
    cbi_node_hex(ctx, n, "class", e->klass);
    cbi_node_uint(ctx, n, "units", e->units);
    add_fields(ctx, n, text, e);
    cbi_buf hex = {0};
    for (size_t i = 0; i < e->record.size; i++)
        cbi_buf_printf(ctx, &hex, "%02x", e->record.data[i]);
    cbi_buf_append(ctx, &hex, "", 1);
    cbi_node_string(ctx, n, "record", (const char *)hex.items);
}

static void capsule_rows(cbi_ctx *ctx, const cbi_object *o, const cbi_section *s, cbi_node *list)
{
    cbi_capsule capsule;
    cbi_node *n = cbi_node_add_object(ctx, list, NULL);
    cbi_node_string(ctx, n, "section", s->name);
    cbi_node_string(ctx, n, "function", cbi_show_symbol(ctx, o, true, s->info));
    bool open = cbi_capsule_open(s->data, &capsule);
    const cbi_section *text =
        capsule.text_index < o->section_count ? &o->sections[capsule.text_index] : NULL;
    cbi_node_string(ctx, n, "text", cbi_show_section(ctx, o, capsule.text_index));
    cbi_node_uint(ctx, n, "version", capsule.version);
    cbi_node_uint(ctx, n, "entry_count", capsule.entries);
    cbi_node_uint(ctx, n, "bytes", s->data.size);
    cbi_node_uint(ctx, n, "text_bytes", text ? text->size : 0);
    cbi_node_uint(ctx, n, "mercury_bytes",
                  s->info < o->merc_symbol_count ? o->merc_symbols[s->info].size : 0);
    uint64_t counts[4] = {0};
    cbi_node *entries = cbi_node_array(ctx);
    cbi_capsule_entry e;
    while (open && cbi_capsule_next(&capsule, &e)) {
        counts[e.kind & 3]++;
        entry_row(ctx, entries, text, &e);
    }
    cbi_node_uint(ctx, n, "derived", counts[CBI_CAPSULE_DERIVED]);
    cbi_node_uint(ctx, n, "runs", counts[CBI_CAPSULE_RUN]);
    cbi_node_uint(ctx, n, "records", counts[CBI_CAPSULE_RECORD] + counts[CBI_CAPSULE_RUN_RECORD]);
    cbi_node_string(ctx, n, "error",
                    capsule.error ? capsule.error
                                  : cbi_capsule_verify(s->data, text ? text->size : 0));
    cbi_node_put(n, "entries", entries);
}

cbi_node *cbi_dump_capsules(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_node *list = cbi_node_array(ctx);
    for (uint32_t i = 1; i < o->section_count; i++)
        if (o->sections[i].type == SHT_CUDA_CAPMERC)
            capsule_rows(ctx, o, &o->sections[i], list);
    return list;
}
