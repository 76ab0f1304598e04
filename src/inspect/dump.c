/* dump: header, segments, sections, symbols, relocations. */
#include "inspect/inspect.h"
#include "format/reloc.h"
#include "format/section.h"

static const char *file_type(cbi_ctx *ctx, uint16_t type)
{
    switch (type) {
    case ET_REL:
        return "relocatable";
    case ET_EXEC:
        return "executable";
    case ET_CUDA_EWP:
        return "extensible-whole-program";
    default:
        return cbi_printf(ctx, "%u", type);
    }
}

cbi_node *cbi_dump_header(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_node *n = cbi_node_object(ctx);
    bool legacy = o->ident[EI_OSABI] == ELFOSABI_CUDA_LEGACY;
    cbi_node_string(ctx, n, "type", file_type(ctx, o->type));
    cbi_node_printf(ctx, n, "target", "sm_%u", o->sm);
    cbi_node_uint(ctx, n, "osabi", o->ident[EI_OSABI]);
    cbi_node_uint(ctx, n, "abi_version", o->ident[EI_ABIVERSION]);
    cbi_node_uint(ctx, n, "version", o->version);
    cbi_node_hex(ctx, n, "flags", o->flags);
    if (!legacy) {
        uint32_t kind = o->flags & 0xff;
        cbi_node_string(ctx, n, "kind",
                        kind == EF_CUDA_KIND_SASS      ? "sass"
                        : kind == EF_CUDA_KIND_CAPMERC ? "sass+capsule"
                        : kind == EF_CUDA_KIND_MERCURY ? "mercury"
                                                       : "unknown");
        cbi_node_uint(ctx, n, "cuinfo_section", EF_CUDA_CUINFO(o->flags));
    }
    cbi_node_hex(ctx, n, "entry", o->entry);
    cbi_node_hex(ctx, n, "section_table", o->shoff);
    cbi_node_uint(ctx, n, "section_count", o->section_count);
    cbi_node_uint(ctx, n, "name_table", o->shstrndx);
    cbi_node_hex(ctx, n, "program_table", o->phoff);
    cbi_node_uint(ctx, n, "program_entry_size", o->phentsize);
    cbi_node_uint(ctx, n, "program_count", o->phnum);
    cbi_node_uint(ctx, n, "file_size", o->bytes.size);
    return n;
}

cbi_node *cbi_dump_segments(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_node *list = cbi_node_array(ctx);
    for (uint64_t i = 0; o->phentsize == sizeof(Elf64_Phdr) && i < o->phnum; i++) {
        cbi_reader r = cbi_reader_at(o->bytes, o->phoff);
        cbi_read_bytes(&r, i * sizeof(Elf64_Phdr));
        uint32_t type = cbi_read32(&r), flags = cbi_read32(&r);
        uint64_t offset = cbi_read64(&r), address = cbi_read64(&r);
        cbi_read64(&r); /* physical address */
        uint64_t file_size = cbi_read64(&r), memory_size = cbi_read64(&r), align = cbi_read64(&r);
        if (r.bad)
            break;
        cbi_node *n = cbi_node_add_object(ctx, list, NULL);
        cbi_node_string(ctx, n, "type",
                        type == PT_LOAD   ? "LOAD"
                        : type == PT_PHDR ? "PHDR"
                                          : cbi_printf(ctx, "0x%x", type));
        cbi_node_printf(ctx, n, "flags", "%c%c%c", flags & PF_R ? 'r' : '-',
                        flags & PF_W ? 'w' : '-', flags & PF_X ? 'x' : '-');
        cbi_node_hex(ctx, n, "offset", offset);
        cbi_node_hex(ctx, n, "address", address);
        cbi_node_hex(ctx, n, "file_size", file_size);
        cbi_node_hex(ctx, n, "memory_size", memory_size);
        cbi_node_hex(ctx, n, "align", align);
    }
    return list;
}

static void section_row(cbi_ctx *ctx, const cbi_object *o, uint32_t index, cbi_node *n)
{
    const cbi_section *s = &o->sections[index];
    const char *type = cbi_section_type_name(s->type);
    cbi_node_uint(ctx, n, "index", index);
    cbi_node_string(ctx, n, "type", type ? type : cbi_printf(ctx, "0x%x", s->type));
    cbi_node_hex(ctx, n, "flags", s->flags);
    cbi_node_hex(ctx, n, "offset", s->offset);
    cbi_node_hex(ctx, n, "size", s->size);
    cbi_node_uint(ctx, n, "link", s->link);
    cbi_node_hex(ctx, n, "info", s->info);
    cbi_node_uint(ctx, n, "align", s->align);
    cbi_node_uint(ctx, n, "entsize", s->entsize);
    cbi_node_string(ctx, n, "name", s->name);
}

cbi_node *cbi_dump_sections(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_node *list = cbi_node_array(ctx);
    for (uint32_t i = 1; i < o->section_count; i++)
        section_row(ctx, o, i, cbi_node_add_object(ctx, list, NULL));
    return list;
}

cbi_node *cbi_dump_symbols(cbi_ctx *ctx, const cbi_object *o, bool mercury)
{
    cbi_node *list = cbi_node_array(ctx);
    const cbi_symbol *symbols = mercury ? o->merc_symbols : o->symbols;
    uint32_t count = mercury ? o->merc_symbol_count : o->symbol_count;
    for (uint32_t i = 1; i < count; i++) {
        const cbi_symbol *s = &symbols[i];
        cbi_node *n = cbi_node_add_object(ctx, list, NULL);
        cbi_node_uint(ctx, n, "index", i);
        cbi_node_hex(ctx, n, "value", s->value);
        cbi_node_hex(ctx, n, "size", s->size);
        cbi_node_string(ctx, n, "bind", cbi_show_bind(ctx, s->info));
        cbi_node_string(ctx, n, "type", cbi_show_symbol_type(ctx, s->info));
        cbi_node_hex(ctx, n, "other", s->other);
        cbi_node_string(ctx, n, "attributes", cbi_show_other(ctx, s));
        cbi_node_string(ctx, n, "section", cbi_show_section(ctx, o, s->shndx));
        cbi_node_string(ctx, n, "name", s->name);
    }
    return list;
}

/* "32-63=V>>32 ..." */
static const char *show_fields(cbi_ctx *ctx, const cbi_reloc_type *type)
{
    cbi_buf buf = {0};
    for (size_t i = 0; type && i < type->field_count; i++) {
        const cbi_reloc_field *f = &type->fields[i];
        cbi_buf_printf(ctx, &buf, "%s%u-%u=%s", i ? " " : "", f->start, f->start + f->width - 1,
                       cbi_reloc_source_name(f->source));
        if (f->shift)
            cbi_buf_printf(ctx, &buf, ">>%u", f->shift);
    }
    cbi_buf_append(ctx, &buf, "", 1);
    return (const char *)buf.items;
}

static void reloc_rows(cbi_ctx *ctx, const cbi_object *o, const cbi_section *s, cbi_node *list)
{
    bool mercury = cbi_section_is_mercury(s);
    size_t count = cbi_rela_count(s);
    for (size_t i = 0; i < count; i++) {
        cbi_rela rela = cbi_rela_at(s, i);
        const cbi_reloc_type *type = cbi_reloc_find(rela.type);
        cbi_node *n = cbi_node_add_object(ctx, list, NULL);
        cbi_node_hex(ctx, n, "offset", rela.offset);
        cbi_node_uint(ctx, n, "type", rela.type);
        cbi_node_string(ctx, n, "name", type ? type->name : NULL);
        cbi_node_string(ctx, n, "symbol", cbi_show_symbol(ctx, o, mercury, rela.symbol));
        if (s->type == SHT_REL)
            cbi_node_null(ctx, n, "addend");
        else
            cbi_node_int(ctx, n, "addend", rela.addend);
        cbi_node_string(ctx, n, "fields", show_fields(ctx, type));
    }
}

cbi_node *cbi_dump_relocs(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_node *list = cbi_node_array(ctx);
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (!cbi_is_reloc_type(s->type))
            continue;
        cbi_node *n = cbi_node_add_object(ctx, list, NULL);
        cbi_node_string(ctx, n, "section", s->name);
        cbi_node_string(ctx, n, "target", cbi_show_section(ctx, o, s->info));
        reloc_rows(ctx, o, s, cbi_node_add_array(ctx, n, "relocations"));
    }
    return list;
}

bool cbi_dump_section(cbi_ctx *ctx, const cbi_object *o, const char *name, cbi_node *document)
{
    uint32_t index = cbi_object_find(o, name);
    if (index == 0)
        return false;
    const cbi_section *s = &o->sections[index];
    cbi_node *n = cbi_node_add_object(ctx, document, "section");
    section_row(ctx, o, index, n);
    cbi_node *lines = cbi_node_add_array(ctx, n, "bytes");
    enum { LINE = 16 };
    for (size_t at = 0; at < s->data.size; at += LINE) {
        size_t len = s->data.size - at < LINE ? s->data.size - at : LINE;
        cbi_buf hex = {0}, text = {0};
        for (size_t i = 0; i < len; i++) {
            uint8_t b = s->data.data[at + i];
            cbi_buf_printf(ctx, &hex, "%s%02x", i && i % 4 == 0 ? " " : "", b);
            cbi_buf_printf(ctx, &text, "%c", b >= 0x20 && b < 0x7f ? b : '.');
        }
        cbi_buf_append(ctx, &hex, "", 1);
        cbi_buf_append(ctx, &text, "", 1);
        cbi_node *line = cbi_node_add_object(ctx, lines, NULL);
        cbi_node_hex(ctx, line, "at", at);
        cbi_node_string(ctx, line, "hex", (const char *)hex.items);
        cbi_node_string(ctx, line, "text", (const char *)text.items);
    }
    return true;
}

void cbi_dump(cbi_ctx *ctx, const cbi_object *o, uint32_t parts, cbi_node *document)
{
    static const struct {
        uint32_t part;
        const char *key;
        cbi_node *(*make)(cbi_ctx *ctx, const cbi_object *object);
    } makers[] = {
        {CBI_DUMP_SUMMARY, "summary", cbi_dump_summary},
        {CBI_DUMP_HEADER, "header", cbi_dump_header},
        {CBI_DUMP_SEGMENTS, "segments", cbi_dump_segments},
        {CBI_DUMP_SECTIONS, "sections", cbi_dump_sections},
        {CBI_DUMP_NOTES, "notes", cbi_dump_notes},
        {CBI_DUMP_COMPAT, "compat", cbi_dump_compat},
        {CBI_DUMP_INFO, "info", cbi_dump_info},
        {CBI_DUMP_CALLGRAPH, "callgraph", cbi_dump_callgraph},
        {CBI_DUMP_UNIFIED, "unified", cbi_dump_unified},
        {CBI_DUMP_RELOCS, "relocations", cbi_dump_relocs},
        {CBI_DUMP_CAPSULE, "capsules", cbi_dump_capsules},
    };
    for (size_t i = 0; i < CBI_COUNT(makers); i++)
        if (parts & makers[i].part)
            cbi_node_put(document, makers[i].key, makers[i].make(ctx, o));
    if (parts & CBI_DUMP_SYMBOLS) {
        cbi_node_put(document, "symbols", cbi_dump_symbols(ctx, o, false));
        if (o->merc_symtab)
            cbi_node_put(document, "mercury_symbols", cbi_dump_symbols(ctx, o, true));
    }
}
