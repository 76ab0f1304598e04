/* diff: contents of sections, as records where they have a meaning, else as bytes. */
#include "inspect/diff.h"
#include "format/eicompat.h"
#include "format/reloc.h"
#include "inspect/image.h"

enum { INSTRUCTION = 16, GRAPH_RECORD = 8, MAX_RANGES = 16 };

static void reloc_lines(cbi_ctx *ctx, const cbi_object *o, const cbi_section *s, cbi_lines *lines)
{
    size_t count = cbi_rela_count(s);
    for (size_t i = 0; i < count; i++) {
        cbi_rela rela = cbi_rela_at(s, i);
        const cbi_reloc_type *type = cbi_reloc_find(rela.type);
        const char *symbol = cbi_show_symbol(ctx, o, cbi_section_is_mercury(s), rela.symbol);
        cbi_vec_push(ctx, lines,
                     cbi_intern_printf(ctx, "0x%llx %s %s%+lld", (unsigned long long)rela.offset,
                                       type ? type->name : cbi_printf(ctx, "type %u", rela.type),
                                       symbol, (long long)rela.addend));
    }
}

static void attr_lines(cbi_ctx *ctx, const cbi_object *o, const cbi_section *s, cbi_lines *lines)
{
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(s->data, &pos, &attr)) {
        const char *name = NULL;
        cbi_buf text = {0};
        if (s->type == SHT_CUDA_COMPAT) {
            const cbi_eicompat *known = cbi_eicompat_find(attr.code);
            name = known ? known->name : NULL;
            cbi_buf_printf(ctx, &text, "value=0x%llx", (unsigned long long)cbi_compat_value(&attr));
        } else {
            cb_attribute a;
            cbi_attribute_read(ctx, o, cbi_section_is_mercury(s), &attr, &a);
            name = a.name;
            cbi_attribute_text(ctx, &a, &text);
        }
        if (!name)
            name = cbi_printf(ctx, "attribute 0x%02x", attr.code);
        cbi_vec_push(ctx, lines,
                     cbi_intern_printf(ctx, "%s format=%u %.*s", name, attr.format, (int)text.len,
                                       (const char *)text.items));
    }
}

static void note_lines(cbi_ctx *ctx, const cbi_section *s, cbi_lines *lines)
{
    size_t pos = 0;
    cbi_note note;
    while (cbi_note_next(s->data, &pos, &note)) {
        cbi_tkinfo tk;
        cbi_buf buf = {0};
        cbi_buf_printf(ctx, &buf, "type=%u", note.type);
        if (note.type == NT_CUDA_TKINFO && cbi_tkinfo_read(note.desc, &tk))
            cbi_buf_printf(ctx, &buf, " version=%u object=%s tool=%s \"%s\" \"%s\" \"%s\"",
                           tk.version, tk.object_name, tk.tool, tk.tool_version, tk.build,
                           tk.options);
        else if (note.type == NT_CUDA_CUINFO && note.desc.size == 8)
            cbi_buf_printf(ctx, &buf, " version=%u virtual_sm=%u toolkit=%u",
                           cbi_ld16(note.desc.data), cbi_ld16(note.desc.data + 2),
                           cbi_ld32(note.desc.data + 4));
        else
            for (size_t i = 0; i < note.desc.size; i++)
                cbi_buf_printf(ctx, &buf, " %02x", note.desc.data[i]);
        cbi_vec_push(ctx, lines, cbi_intern_len(ctx, (const char *)buf.items, buf.len));
    }
}

static void graph_lines(cbi_ctx *ctx, const cbi_object *o, const cbi_section *s, cbi_lines *lines)
{
    static const char *const lists[] = {"", "call", "address taken", "indirect call",
                                        "address taker"};
    unsigned list = 0;
    for (size_t at = 0; at + GRAPH_RECORD <= s->data.size; at += GRAPH_RECORD) {
        uint32_t first = cbi_ld32(s->data.data + at), second = cbi_ld32(s->data.data + at + 4);
        bool prototype = s->type == SHT_CUDA_PROTOTYPE;
        if (!prototype && first == 0 && (int32_t)second < 0 && (int32_t)second >= -4) {
            list = 0 - second;
            continue;
        }
        const char *text = prototype || list == 2 || list == 3
                               ? cbi_show_string(o, second)
                               : cbi_show_symbol(ctx, o, false, second);
        cbi_vec_push(ctx, lines,
                     cbi_intern_printf(ctx, "%s %s %s", lists[list],
                                       cbi_show_symbol(ctx, o, false, first), text ? text : "?"));
    }
}

static void record_lines(cbi_ctx *ctx, const cbi_object *o, const cbi_section *s, cbi_lines *lines)
{
    switch (s->type) {
    case SHT_CUDA_INFO:
    case SHT_CUDA_MERC_INFO:
    case SHT_CUDA_COMPAT:
        attr_lines(ctx, o, s, lines);
        break;
    case SHT_NOTE:
        note_lines(ctx, s, lines);
        break;
    case SHT_CUDA_CALLGRAPH:
    case SHT_CUDA_PROTOTYPE:
        graph_lines(ctx, o, s, lines);
        break;
    default:
        reloc_lines(ctx, o, s, lines);
        break;
    }
}

/* The name of a difference in such a section; NULL if it has no records. */
static const char *record_name(uint32_t type)
{
    switch (type) {
    case SHT_CUDA_INFO:
    case SHT_CUDA_MERC_INFO:
    case SHT_CUDA_COMPAT:
        return "attribute";
    case SHT_NOTE:
        return "note";
    case SHT_CUDA_CALLGRAPH:
        return "callgraph";
    case SHT_CUDA_PROTOTYPE:
        return "prototype";
    default:
        return cbi_is_reloc_type(type) ? "relocation" : NULL;
    }
}

bool cbi_diff_records(cbi_differ *d, const cbi_section *a, const cbi_section *b)
{
    /* symbols are compared by name, strings where they are used */
    if (a->type == SHT_SYMTAB || a->type == SHT_CUDA_MERC_SYMTAB || a->type == SHT_STRTAB ||
        a->type == SHT_SYMTAB_SHNDX)
        return true;
    const char *part = record_name(a->type);
    if (!part || a->type != b->type)
        return false;
    cbi_lines in_a = {0}, in_b = {0};
    record_lines(d->ctx, d->a, a, &in_a);
    record_lines(d->ctx, d->b, b, &in_b);
    cbi_diff_lines(d, part, a->name, &in_a, &in_b);
    return true;
}

/* Bits 105 and up of an instruction only say when it may run. */
static bool only_scheduling(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, 13) == 0 && ((a[13] ^ b[13]) & 1) == 0;
}

void cbi_diff_bytes(cbi_differ *d, const cbi_section *a, const cbi_section *b)
{
    size_t step = a->flags & SHF_EXECINSTR ? INSTRUCTION : 1;
    size_t common = a->data.size < b->data.size ? a->data.size : b->data.size;
    size_t units = 0, scheduling = 0, ranges = 0;
    cbi_buf buf = {0};
    /* a capsule starts with the index of its code section */
    size_t at = d->options.semantic && a->type == SHT_CUDA_CAPMERC ? 4 : 0;
    for (size_t open = SIZE_MAX; at < common || open != SIZE_MAX; at += step) {
        bool differs = false;
        if (at < common) {
            const uint8_t *x = a->data.data + at, *y = b->data.data + at;
            size_t len = common - at < step ? common - at : step;
            differs = memcmp(x, y, len) != 0;
            units += differs;
            scheduling += differs && len == INSTRUCTION && only_scheduling(x, y);
        }
        if (differs && open == SIZE_MAX) {
            open = at;
        } else if (!differs && open != SIZE_MAX) {
            if (ranges++ < MAX_RANGES)
                cbi_buf_printf(d->ctx, &buf, "%s0x%zx-0x%zx", buf.len ? " " : "", open,
                               (at < common ? at : common) - 1);
            open = SIZE_MAX;
        }
    }
    if (!units)
        return;
    if (ranges > MAX_RANGES)
        cbi_buf_printf(d->ctx, &buf, " and %zu more", ranges - MAX_RANGES);
    cbi_buf_append(d->ctx, &buf, "", 1);
    const char *what = step == INSTRUCTION
                           ? cbi_printf(d->ctx, "%zu instructions differ, %zu only in scheduling",
                                        units, scheduling)
                           : cbi_printf(d->ctx, "%zu bytes differ", units);
    cbi_diff_add(d, step == INSTRUCTION ? "text" : "bytes", a->name, NULL, what,
                 (const char *)buf.items, (const char *)buf.items);
}
