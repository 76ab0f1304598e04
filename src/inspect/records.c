/* Tables of inspect.h: notes, call graph, unified tables. */
#include "inspect/image.h"

enum { GRAPH_RECORD = 8, UNIFIED_RECORD = 32, TARGET_NOTE = 8 };

static void read_note(uint32_t section, const cbi_note *from, cb_note *note)
{
    cbi_tkinfo tk;
    *note = (cb_note){
        .section = section,
        .type = from->type,
        .owner = cbi_span_string(from->owner, 0),
        .data = from->desc.data,
        .data_size = from->desc.size,
    };
    if (from->type == NT_CUDA_TKINFO && cbi_tkinfo_read(from->desc, &tk)) {
        note->kind = CB_NOTE_TOOL;
        note->version = tk.version;
        note->object = tk.object_name;
        note->tool = tk.tool;
        note->tool_version = tk.tool_version;
        note->build = tk.build;
        note->options = tk.options;
    } else if (from->type == NT_CUDA_CUINFO && from->desc.size >= TARGET_NOTE) {
        note->kind = CB_NOTE_TARGET;
        note->version = cbi_ld16(from->desc.data);
        note->virtual_sm = cbi_ld16(from->desc.data + 2);
        note->toolkit = cbi_ld32(from->desc.data + 4);
    }
}

static void make_notes(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    CBI_VEC(cb_note) rows = {0};
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        size_t pos = 0;
        cbi_note note;
        while (s->type == SHT_NOTE && cbi_note_next(s->data, &pos, &note))
            read_note(i, &note, cbi_vec_add(&image->ctx, &rows));
    }
    table->rows = rows.items;
    table->count = rows.len;
}

size_t cb_image_note_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_NOTES, make_notes)->count;
}

const cb_note *cb_image_note(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_NOTES, make_notes), cb_note, index);
}

/* ---- call graph ---- */

static uint32_t symbol_or_none(const cbi_object *o, uint32_t symbol)
{
    return symbol && symbol < o->symbol_count ? symbol : CB_NONE;
}

static cb_call read_call(cb_image *image, cb_call_kind kind, uint32_t first, uint32_t second)
{
    const cbi_object *o = &image->object;
    bool prototype = kind != CB_CALL_DIRECT && kind != CB_CALL_TAKER;
    return (cb_call){
        .kind = kind,
        .from_symbol = symbol_or_none(o, first),
        .to_symbol = prototype ? CB_NONE : symbol_or_none(o, second),
        .from = cbi_show_symbol(&image->ctx, o, false, first),
        .to =
            prototype ? cbi_show_string(o, second) : cbi_show_symbol(&image->ctx, o, false, second),
    };
}

static void make_calls(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    CBI_VEC(cb_call) rows = {0};
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (s->type != SHT_CUDA_CALLGRAPH && s->type != SHT_CUDA_PROTOTYPE)
            continue;
        cb_call_kind kind = s->type == SHT_CUDA_PROTOTYPE ? CB_CALL_PROTOTYPE : CB_CALL_DIRECT;
        for (size_t at = 0; at + GRAPH_RECORD <= s->data.size; at += GRAPH_RECORD) {
            uint32_t first = cbi_ld32(s->data.data + at);
            uint32_t second = cbi_ld32(s->data.data + at + 4);
            /* list k starts at the marker {0, -k} */
            bool marker = first == 0 && (int32_t)second < 0 && (int32_t)second >= -4;
            if (marker && s->type == SHT_CUDA_CALLGRAPH)
                kind = (cb_call_kind)(-1 - (int32_t)second);
            else
                cbi_vec_push(&image->ctx, &rows, read_call(image, kind, first, second));
        }
    }
    table->rows = rows.items;
    table->count = rows.len;
}

size_t cb_image_call_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_CALLS, make_calls)->count;
}

const cb_call *cb_image_call(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_CALLS, make_calls), cb_call, index);
}

/* ---- unified tables ---- */

static void make_unified(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    CBI_VEC(cb_unified) rows = {0};
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (s->type != SHT_CUDA_UFT_ENTRY && s->type != SHT_CUDA_UDT_ENTRY)
            continue;
        for (size_t at = 0; at + UNIFIED_RECORD <= s->data.size; at += UNIFIED_RECORD) {
            const uint8_t *p = s->data.data + at;
            cb_unified *row = cbi_vec_add(&image->ctx, &rows);
            *row = (cb_unified){
                .section = i,
                .kind = cbi_ld32(p + 4),
                .offset = cbi_ld64(p + 8),
                .id_low = cbi_ld64(p + 16),
                .id_high = cbi_ld64(p + 24),
                .symbol = cbi_show_symbol(&image->ctx, o, cbi_section_is_mercury(s), cbi_ld32(p)),
            };
        }
    }
    table->rows = rows.items;
    table->count = rows.len;
}

size_t cb_image_unified_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_UNIFIED, make_unified)->count;
}

const cb_unified *cb_image_unified(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_UNIFIED, make_unified), cb_unified,
                         index);
}
