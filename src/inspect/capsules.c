/* Capsules of an image: what stands beside the code of sm_100 and later. */
#include "inspect/image.h"

#include "capsule/fields.h"

static const char *kind_name(uint8_t kind)
{
    static const char *const names[] = {"derived", "run", "record", "run-record"};
    return kind < CBI_COUNT(names) ? names[kind] : "?";
}

static void read_fields(cbi_ctx *ctx, const cbi_section *text, const cbi_capsule_entry *e,
                        cb_capsule_entry *entry)
{
    cbi_capsule_field fields[CBI_CAPSULE_FIELDS];
    uint64_t at = (uint64_t)e->first * CBI_SASS_INSTRUCTION;
    size_t count = 0;
    if (text && cbi_fits(at, CBI_SASS_INSTRUCTION, text->data.size))
        count = cbi_capsule_fields(e, text->data.data + at, fields);
    cb_capsule_field *rows = CBI_NEW_ARRAY(ctx, count, cb_capsule_field);
    for (size_t i = 0; i < count; i++)
        rows[i] = (cb_capsule_field){fields[i].name, fields[i].value, fields[i].sass};
    entry->fields = rows;
    entry->field_count = count;
}

static void read_entry(cbi_ctx *ctx, const cbi_section *text, const cbi_capsule_entry *e,
                       cb_capsule_entry *entry)
{
    bool record = e->kind == CBI_CAPSULE_RECORD || e->kind == CBI_CAPSULE_RUN_RECORD;
    *entry = (cb_capsule_entry){
        .index = e->index,
        .offset = (uint64_t)e->first * CBI_SASS_INSTRUCTION,
        .count = e->count,
        .kind = kind_name(e->kind),
        .has_record = record,
    };
    if (!record)
        return;
    entry->record_class = e->klass;
    entry->units = e->units;
    entry->record = e->record.data;
    entry->record_size = e->record.size;
    read_fields(ctx, text, e, entry);
}

static void read_capsule(cb_image *image, uint32_t section, cb_capsule *row)
{
    cbi_ctx *ctx = &image->ctx;
    const cbi_object *o = &image->object;
    const cbi_section *s = &o->sections[section];
    cbi_capsule capsule;
    bool open = cbi_capsule_open(s->data, &capsule);
    bool real = capsule.text_index < o->section_count;
    const cbi_section *text = real ? &o->sections[capsule.text_index] : NULL;
    CBI_VEC(cb_capsule_entry) entries = {0};
    uint64_t counts[4] = {0};
    cbi_capsule_entry e;
    while (open && cbi_capsule_next(&capsule, &e)) {
        counts[e.kind & 3]++;
        read_entry(ctx, text, &e, cbi_vec_add(ctx, &entries));
    }
    *row = (cb_capsule){
        .section = section,
        .function = cbi_show_symbol(ctx, o, true, s->info),
        .text = real ? capsule.text_index : CB_NONE,
        .text_name = cbi_show_section(ctx, o, capsule.text_index),
        .version = capsule.version,
        .entry_count = capsule.entries,
        .bytes = s->data.size,
        .text_bytes = text ? text->size : 0,
        .mercury_bytes = s->info < o->merc_symbol_count ? o->merc_symbols[s->info].size : 0,
        .derived = counts[CBI_CAPSULE_DERIVED],
        .runs = counts[CBI_CAPSULE_RUN],
        .records = counts[CBI_CAPSULE_RECORD] + counts[CBI_CAPSULE_RUN_RECORD],
        .error = capsule.error ? capsule.error : cbi_capsule_verify(s->data, text ? text->size : 0),
        .entries = entries.items,
        .count = entries.len,
    };
}

static void make_capsules(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    CBI_VEC(cb_capsule) rows = {0};
    for (uint32_t i = 1; i < o->section_count; i++)
        if (o->sections[i].type == SHT_CUDA_CAPMERC)
            read_capsule(image, i, cbi_vec_add(&image->ctx, &rows));
    table->rows = rows.items;
    table->count = rows.len;
}

size_t cb_image_capsule_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_CAPSULES, make_capsules)->count;
}

const cb_capsule *cb_image_capsule(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_CAPSULES, make_capsules), cb_capsule,
                         index);
}
