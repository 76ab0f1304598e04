/* Checks what the sections of a device ELF say about each other. */
#include "object/object.h"
#include "object/rules.h"
#include "format/eiattr.h"
#include "format/section.h"

enum {
    GRAPH_RECORD = 8,
    UNIFIED_RECORD = 32,
};

bool cbi_is_resolved_type(uint32_t sh_type)
{
    return sh_type == SHT_CUDA_RESOLVED_RELA || sh_type == SHT_CUDA_MERC_RESOLVED_RELA;
}

bool cbi_is_reloc_type(uint32_t sh_type)
{
    switch (sh_type) {
    case SHT_REL:
    case SHT_RELA:
    case SHT_CUDA_RESOLVED_RELA:
    case SHT_CUDA_MERC_RELA:
    case SHT_CUDA_MERC_RESOLVED_RELA:
        return true;
    default:
        return false;
    }
}

uint32_t *cbi_sections_about(cbi_ctx *ctx, const cbi_object *o, uint32_t sh_type)
{
    uint32_t *about = CBI_NEW_ARRAY(ctx, o->section_count, uint32_t);
    for (uint32_t i = 1; i < o->section_count; i++)
        if (o->sections[i].type == sh_type && o->sections[i].info < o->section_count)
            about[o->sections[i].info] = i;
    return about;
}

cbi_elf_record cbi_section_record(uint32_t sh_type)
{
    if (sh_type == SHT_SYMTAB || sh_type == SHT_CUDA_MERC_SYMTAB)
        return CBI_ELF_SYM;
    if (!cbi_is_reloc_type(sh_type))
        return CBI_ELF_RECORDS;
    return sh_type == SHT_REL ? CBI_ELF_REL : CBI_ELF_RELA;
}

/* Which view a section belongs to decides which symbol table its indices mean. */
static uint32_t symbol_count(const cbi_object *o, const cbi_section *s)
{
    return s->flags & SHF_CUDA_MERCURY ? o->merc_symbol_count : o->symbol_count;
}

static void check_relocs(cbi_object_reader *r, uint32_t index)
{
    const cbi_object *o = r->object;
    const cbi_section *s = &o->sections[index];
    size_t stride = o->class->size[cbi_section_record(s->type)];
    if (s->entsize != stride || s->size % stride != 0) {
        cbi_object_finding(r, CBI_RULE_RECORD_SIZE, cbi_object_header_place(o, index), s->name,
                           NULL,
                           "sh_entsize %llu and sh_size %llu do not suit %zu-byte relocations",
                           (unsigned long long)s->entsize, (unsigned long long)s->size, stride);
        return;
    }
    if (s->info == 0 || s->info >= o->section_count) {
        cbi_object_finding(r, CBI_RULE_RELOC_TARGET, cbi_object_header_place(o, index), s->name,
                           NULL, "sh_info %u names no section", s->info);
        return;
    }
    const cbi_section *target = &o->sections[s->info];
    bool mercury = s->type == SHT_CUDA_MERC_RELA || s->type == SHT_CUDA_MERC_RESOLVED_RELA;
    uint32_t symbols = mercury ? o->merc_symbol_count : o->symbol_count;
    /* a capsule is compressed: places in the instruction stream may lie past its end; what was
     * resolved is applied by nobody, and nvlink writes places of other functions there */
    const bool bounded = target->type != SHT_CUDA_CAPMERC && !cbi_is_resolved_type(s->type);
    size_t count = cbi_rela_count(s);
    if (s->type == SHT_REL || s->type == SHT_RELA)
        r->object->reloc_entries += count;
    for (size_t i = 0; i < count; i++) {
        cbi_rela rela = cbi_rela_at(s, i);
        const bool placed = !bounded || rela.offset < target->size;
        if ((rela.symbol < symbols || !rela.symbol) && placed)
            continue;
        if (rela.symbol >= symbols && rela.symbol)
            cbi_object_finding(r, CBI_RULE_RELOC_SYMBOL, s->offset + i * stride + 12, s->name, NULL,
                               "relocation %zu: symbol %u does not exist", i, rela.symbol);
        if (!placed)
            cbi_object_finding(r, CBI_RULE_RELOC_OFFSET, s->offset + i * stride, s->name, NULL,
                               "relocation %zu: place 0x%llx is outside of %s, 0x%llx bytes", i,
                               (unsigned long long)rela.offset, target->name,
                               (unsigned long long)target->size);
        if (cbi_object_stop(r))
            return;
    }
}

/* Of a record whose code has symbols: do they exist? */
static void check_attr_symbols(cbi_object_reader *r, const cbi_section *s, const cbi_eiattr *row,
                               const cbi_attr *attr, uint64_t place)
{
    const uint32_t symbols = symbol_count(r->object, s);
    size_t words = attr->payload.size / 4;
    if (attr->format != CBI_ATTR_SIZED ||
        (row->symbols == CBI_SYMBOLS_WORD0 ? words == 0 : attr->payload.size % 4 != 0)) {
        cbi_object_finding(r, CBI_RULE_ATTR_SYMBOL, place, s->name, NULL,
                           "%s: format %u with %zu payload bytes has no place for a symbol",
                           row->name, attr->format, attr->payload.size);
        return;
    }
    if (row->symbols == CBI_SYMBOLS_WORD0)
        words = 1;
    for (size_t i = 0; i < words; i++) {
        uint32_t symbol = cbi_ld32(attr->payload.data + 4 * i);
        if (symbol >= symbols && symbol)
            cbi_object_finding(r, CBI_RULE_ATTR_SYMBOL, place + 4 + 4 * i, s->name, NULL,
                               "%s: symbol %u does not exist", row->name, symbol);
    }
}

/* Most name one symbol, that exists. */
static inline bool names_one(const cbi_eiattr *row, const cbi_attr *attr, uint32_t symbols)
{
    return row->symbols == CBI_SYMBOLS_WORD0 && attr->payload.size >= 4 &&
           cbi_ld32(attr->payload.data) < symbols;
}

static void check_attrs(cbi_object_reader *r, const cbi_section *s)
{
    const uint32_t symbols = symbol_count(r->object, s);
    const bool info = s->type != SHT_CUDA_COMPAT;
    size_t pos = 0, records = 0;
    cbi_attr attr;
    while (cbi_attr_next(s->data, &pos, &attr)) {
        records++;
        const cbi_eiattr *row = info ? cbi_eiattr_find(attr.code) : NULL;
        if (!row)
            continue;
        const uint64_t place = s->offset + (size_t)(attr.raw.data - s->data.data);
        if (!cbi_eiattr_fits(row, attr.format, attr.payload.size))
            cbi_object_doubt(r, CBI_RULE_ATTR_SIZE, place, s->name, NULL,
                             "%s has format %u with %zu payload bytes", row->name, attr.format,
                             attr.payload.size);
        if (row->symbols == CBI_SYMBOLS_NONE || names_one(row, &attr, symbols))
            continue;
        check_attr_symbols(r, s, row, &attr, place);
        if (cbi_object_stop(r))
            return;
    }
    if (s->type == SHT_CUDA_INFO)
        r->object->info_records += records;
    if (pos < s->data.size)
        cbi_object_finding(r, CBI_RULE_ATTR_STREAM, s->offset + pos, s->name, NULL,
                           "the record at 0x%zx has an unknown format or does not end inside the "
                           "section's 0x%zx bytes",
                           pos, s->data.size);
}

static bool whole_records(cbi_object_reader *r, uint32_t index, size_t size)
{
    const cbi_section *s = &r->object->sections[index];
    if (s->size % size == 0)
        return true;
    cbi_object_finding(r, CBI_RULE_RECORD_SIZE, cbi_object_header_place(r->object, index), s->name,
                       NULL, "sh_size %llu is not a multiple of the %zu-byte records",
                       (unsigned long long)s->size, size);
    return false;
}

/* A prototype lies at an offset of the string table. */
static bool is_string(const cbi_object *o, uint32_t offset)
{
    cbi_span strings = o->strtab ? o->sections[o->strtab].data : (cbi_span){NULL, 0};
    if (strings.size && strings.data[strings.size - 1] == 0)
        return offset < strings.size;
    return cbi_span_string(strings, offset) != NULL;
}

static void check_callgraph(cbi_object_reader *r, uint32_t index)
{
    const cbi_object *o = r->object;
    const cbi_section *s = &o->sections[index];
    if (!whole_records(r, index, GRAPH_RECORD))
        return;
    int32_t list = -1; /* which of the four lists: {0, -k} starts list k */
    for (size_t at = 0; at < s->data.size && !cbi_object_stop(r); at += GRAPH_RECORD) {
        uint32_t first = cbi_ld32(s->data.data + at);
        uint32_t second = cbi_ld32(s->data.data + at + 4);
        if (first == 0 && (int32_t)second < 0 && (int32_t)second >= -4) {
            list = (int32_t)second;
            continue;
        }
        bool string = list == -2 || list == -3;
        if (first >= o->symbol_count || (!string && second >= o->symbol_count))
            cbi_object_finding(r, CBI_RULE_CALLGRAPH_RECORD, s->offset + at, s->name, NULL,
                               "record {%u, %u} of list %d: the symbol does not exist", first,
                               second, list);
        else if (string && !is_string(o, second))
            cbi_object_finding(r, CBI_RULE_CALLGRAPH_RECORD, s->offset + at, s->name, NULL,
                               "record {%u, %u} of list %d: the prototype lies outside of the "
                               "string table",
                               first, second, list);
    }
}

static void check_prototypes(cbi_object_reader *r, uint32_t index)
{
    const cbi_object *o = r->object;
    const cbi_section *s = &o->sections[index];
    if (!whole_records(r, index, GRAPH_RECORD))
        return;
    for (size_t at = 0; at < s->data.size && !cbi_object_stop(r); at += GRAPH_RECORD) {
        uint32_t symbol = cbi_ld32(s->data.data + at);
        uint32_t string = cbi_ld32(s->data.data + at + 4);
        if (symbol >= o->symbol_count || !is_string(o, string))
            cbi_object_finding(r, CBI_RULE_PROTOTYPE_RECORD, s->offset + at, s->name, NULL,
                               "record {%u, %u}: the %s does not exist", symbol, string,
                               symbol >= o->symbol_count ? "symbol" : "string");
    }
}

static void check_unified(cbi_object_reader *r, uint32_t index)
{
    const cbi_object *o = r->object;
    const cbi_section *s = &o->sections[index];
    uint32_t symbols = symbol_count(o, s);
    if (!whole_records(r, index, UNIFIED_RECORD))
        return;
    for (size_t at = 0; at < s->data.size && !cbi_object_stop(r); at += UNIFIED_RECORD) {
        uint32_t symbol = cbi_ld32(s->data.data + at);
        if (symbol >= symbols)
            cbi_object_finding(r, CBI_RULE_UNIFIED_RECORD, s->offset + at, s->name, NULL,
                               "record %zu: symbol %u does not exist", at / UNIFIED_RECORD, symbol);
    }
}

/* The flag of a section says which symbol table the indices in it mean, and so does its type: they
 * must not say different things.  What is renamed when the SASS side is made also has a name that
 * can be: its length counts on it. */
static void check_kind(cbi_object_reader *r, uint32_t index)
{
    const cbi_section *s = &r->object->sections[index];
    const cbi_section_rule *rule = NULL;
    bool mercury = s->flags & SHF_CUDA_MERCURY, fits;
    switch (s->type) {
    case SHT_SYMTAB:
    case SHT_REL:
    case SHT_RELA:
    case SHT_CUDA_RESOLVED_RELA:
    case SHT_CUDA_INFO:
    case SHT_CUDA_CALLGRAPH:
    case SHT_CUDA_PROTOTYPE:
        fits = !mercury;
        break;
    case SHT_CUDA_CAPMERC:
    case SHT_CUDA_MERC_SYMTAB:
    case SHT_CUDA_MERC_RELA:
    case SHT_CUDA_MERC_RESOLVED_RELA:
    case SHT_CUDA_MERC_INFO:
        fits = mercury;
        break;
    case SHT_CUDA_MERC_IMAGE_INDICES:
    case SHT_CUDA_MERC_CONSTANT_USER:
    case SHT_CUDA_MERC_CONSTANT_PIC:
    case SHT_CUDA_MERC_CONSTANT_OPT:
        rule = cbi_section_rule_find(s->name, NULL);
        fits = mercury && rule && rule->type == s->type;
        break;
    default:
        return;
    }
    if (!fits)
        cbi_object_finding(r, CBI_RULE_SECTION_KIND, cbi_object_header_place(r->object, index),
                           s->name, NULL, "section %u: name and flags do not suit type 0x%x", index,
                           s->type);
}

/* sh_link, and sh_info where it is an index. */
static void check_links(cbi_object_reader *r, uint32_t index)
{
    const cbi_object *o = r->object;
    const cbi_section *s = &o->sections[index];
    if (s->link >= o->section_count)
        cbi_object_finding(r, CBI_RULE_SECTION_LINK, cbi_object_header_place(o, index), s->name,
                           NULL, "sh_link %u names no section", s->link);
    if (cbi_is_reloc_type(s->type))
        return; /* has a rule of its own */
    bool text = s->type == SHT_PROGBITS && strncmp(s->name, ".text.", 6) == 0;
    if (s->flags & SHF_INFO_LINK) {
        if (s->info == 0 || s->info >= o->section_count)
            cbi_object_finding(r, CBI_RULE_SECTION_INFO, cbi_object_header_place(o, index), s->name,
                               NULL, "sh_info %u names no section", s->info);
    } else if (text || s->type == SHT_CUDA_CAPMERC || s->type == SHT_CUDA_UFT) {
        /* text keeps a register count above the symbol index */
        uint32_t symbol = text ? CUDA_TEXT_SYMBOL(s->info) : s->info;
        if (symbol >= symbol_count(o, s))
            cbi_object_finding(r, CBI_RULE_SECTION_INFO, cbi_object_header_place(o, index), s->name,
                               NULL, "sh_info %u names no symbol", symbol);
    }
}

void cbi_object_check_sections(cbi_object_reader *r)
{
    const cbi_object *o = r->object;
    for (uint32_t i = 1; i < o->section_count && !cbi_object_stop(r); i++) {
        const cbi_section *s = &o->sections[i];
        check_links(r, i);
        check_kind(r, i);
        switch (s->type) {
        case SHT_REL:
        case SHT_RELA:
        case SHT_CUDA_RESOLVED_RELA:
        case SHT_CUDA_MERC_RELA:
        case SHT_CUDA_MERC_RESOLVED_RELA:
            check_relocs(r, i);
            break;
        case SHT_CUDA_INFO:
        case SHT_CUDA_MERC_INFO:
        case SHT_CUDA_COMPAT:
            check_attrs(r, s);
            break;
        case SHT_CUDA_CALLGRAPH:
            check_callgraph(r, i);
            break;
        case SHT_CUDA_PROTOTYPE:
            check_prototypes(r, i);
            break;
        case SHT_CUDA_UFT_ENTRY:
        case SHT_CUDA_UDT_ENTRY:
            check_unified(r, i);
            break;
        default:
            break;
        }
    }
}
