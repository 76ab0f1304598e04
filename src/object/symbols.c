/* Reads the symbol tables: .symtab and, for sm_100 and later, .nv.merc.symtab. */
#include "object/object.h"
#include "object/rules.h"

#define MAX_SYMBOL_SIZE (UINT64_C(1) << 48)
#define MAX_ALIGN       (UINT64_C(1) << 31)

/* The extended index table that belongs to a symbol table, or an empty span. */
static cbi_span find_xindex(const cbi_object *o, uint32_t symtab)
{
    for (uint32_t i = 1; i < o->section_count; i++)
        if (o->sections[i].type == SHT_SYMTAB_SHNDX && o->sections[i].link == symtab)
            return o->sections[i].data;
    return (cbi_span){NULL, 0};
}

/* The bytes that symbols of this section may cover.  Not limited in a capsule, where they count
 * bytes of the code it stands for; nor in shared memory: a relocatable link leaves the alignment
 * in st_value, and dynamic shared memory starts past the section's end. */
static uint64_t room_for_symbols(const cbi_section *section)
{
    switch (section->type) {
    case SHT_CUDA_CAPMERC:
    case SHT_CUDA_SHARED:
    case SHT_CUDA_SHARED_RESERVED:
        return UINT64_MAX;
    case SHT_CUDA_CONSTANT_B0 + 2: /* nvlink -r keeps the symbols of a copy that it replaced */
        return section->size > CUDA_CONSTANT_BANK_SIZE ? section->size : CUDA_CONSTANT_BANK_SIZE;
    case SHT_NOBITS:
        return strcmp(section->name, ".nv.global") == 0 ? section->size : UINT64_MAX;
    default:
        return section->size;
    }
}

static void doubt_alignment(cbi_object_reader *r, const cbi_symbol *s, uint32_t index,
                            uint64_t place)
{
    cbi_object_doubt(r, CBI_RULE_SYMBOL_ALIGNMENT, place, NULL, s->name,
                     "variable %u: alignment 0x%llx is no power of two", index,
                     (unsigned long long)s->value);
}

static void check_place(cbi_object_reader *r, const cbi_symbol *s, uint32_t index, uint64_t place)
{
    const cbi_object *o = r->object;
    if (s->shndx == SHN_COMMON) {
        bool aligned = s->value <= MAX_ALIGN || s->value == CUDA_COMMON_LOST;
        if (!aligned || s->size > MAX_SYMBOL_SIZE)
            cbi_object_finding(r, CBI_RULE_SYMBOL_EXTENT, place, NULL, s->name,
                               "common symbol %u: size 0x%llx or alignment 0x%llx is too large",
                               index, (unsigned long long)s->size, (unsigned long long)s->value);
        else if (s->value != CUDA_COMMON_LOST && s->value & (s->value - 1))
            doubt_alignment(r, s, index, place);
        return;
    }
    /* Shared variables have their alignment there, but for undefined ones that nvlink -r marks. */
    bool shared = o->type != ET_EXEC && (s->other & STO_CUDA_SPACE) == STO_CUDA_SHARED;
    if (shared && !(s->shndx == SHN_UNDEF && s->size) && s->value > MAX_ALIGN) {
        cbi_object_finding(r, CBI_RULE_SYMBOL_EXTENT, place, NULL, s->name,
                           "shared variable %u: alignment 0x%llx is too large", index,
                           (unsigned long long)s->value);
        return;
    }
    if (shared && s->shndx != SHN_UNDEF && s->value & (s->value - 1))
        doubt_alignment(r, s, index, place);
    if (s->shndx == SHN_UNDEF || s->shndx == SHN_ABS || s->shndx >= o->section_count)
        return;
    const cbi_section *section = &o->sections[s->shndx];
    if (s->value > MAX_SYMBOL_SIZE || s->size > MAX_SYMBOL_SIZE)
        cbi_object_finding(r, CBI_RULE_SYMBOL_EXTENT, place, section->name, s->name,
                           "symbol %u: value 0x%llx or size 0x%llx is too large", index,
                           (unsigned long long)s->value, (unsigned long long)s->size);
    else if (!cbi_fits(s->value, s->size, room_for_symbols(section)))
        cbi_object_finding(r, CBI_RULE_SYMBOL_RANGE, place, section->name, s->name,
                           "symbol %u: 0x%llx bytes at 0x%llx do not fit in the section's 0x%llx",
                           index, (unsigned long long)s->size, (unsigned long long)s->value,
                           (unsigned long long)section->size);
}

/* A symbol table and what belongs to it. */
typedef struct symbol_table {
    const cbi_section *section;
    cbi_strings_table strings;
    cbi_span xindex;
} symbol_table;

static void read_name(cbi_object_reader *r, const symbol_table *t, cbi_symbol *s, uint32_t index,
                      uint64_t place)
{
    const char *name = cbi_string_at(&t->strings, s->name_offset);
    s->name = name ? name : "";
    if (!name && (s->name_offset || t->strings.bytes.data))
        cbi_object_finding(r, CBI_RULE_SYMBOL_NAME, place, t->section->name, NULL,
                           "symbol %u: the name at 0x%x does not end inside the table", index,
                           s->name_offset);
}

static void read_symbol(cbi_object_reader *r, const symbol_table *t, cbi_symbol *s, uint32_t i)
{
    const cbi_elf_class *class = r->object->class;
    const uint64_t offset = (uint64_t)i * class->size[CBI_ELF_SYM];
    uint64_t place = t->section->offset + offset;
    cbi_elf_wide room;
    const uint8_t *p = cbi_elf_read(class, CBI_ELF_SYM, t->section->data.data + offset, &room);
    *s = (cbi_symbol){.name_offset = cbi_ld32(p + offsetof(Elf64_Sym, st_name))};
    s->info = p[offsetof(Elf64_Sym, st_info)];
    s->other = p[offsetof(Elf64_Sym, st_other)];
    s->shndx = cbi_ld16(p + offsetof(Elf64_Sym, st_shndx));
    s->value = cbi_ld64(p + offsetof(Elf64_Sym, st_value));
    s->size = cbi_ld64(p + offsetof(Elf64_Sym, st_size));
    read_name(r, t, s, i, place);
    if (i == 0) {
        /* nvlink sometimes leaves a value here */
        if (s->name_offset || s->info || s->shndx)
            cbi_object_finding(r, CBI_RULE_SYMBOL_NULL, place, t->section->name, NULL,
                               "symbol 0 is not empty");
        return;
    }
    /* Code and sections are never common or absolute; a large file can have a section 0xfff2. */
    uint8_t type = CBI_ST_TYPE(s->info);
    bool special = s->shndx >= SHN_LORESERVE && type != STT_FUNC && type != STT_SECTION;
    if (s->shndx == SHN_XINDEX && cbi_fits((uint64_t)i * 4, 4, t->xindex.size)) {
        s->shndx = cbi_ld32(t->xindex.data + (size_t)i * 4);
        special = false;
    }
    if (special ? s->shndx != SHN_ABS && s->shndx != SHN_COMMON
                : s->shndx >= r->object->section_count)
        cbi_object_finding(r, CBI_RULE_SYMBOL_SECTION, place, t->section->name, s->name,
                           "symbol %u: section %u does not exist", i, s->shndx);
    else
        check_place(r, s, i, place);
}

static void read_table(cbi_object_reader *r, uint32_t index, cbi_symbol **ret_symbols,
                       uint32_t *ret_count)
{
    const cbi_object *o = r->object;
    const cbi_section *section = &o->sections[index];
    const size_t record = o->class->size[CBI_ELF_SYM];
    uint64_t header = cbi_object_header_place(o, index);
    if (section->entsize != record || section->size % record != 0) {
        cbi_object_finding(r, CBI_RULE_RECORD_SIZE, header, section->name, NULL,
                           "sh_entsize %llu and sh_size %llu do not suit %zu-byte symbols",
                           (unsigned long long)section->entsize, (unsigned long long)section->size,
                           record);
        return;
    }
    symbol_table t = {.section = section, .xindex = find_xindex(o, index)};
    if (section->link < o->section_count && o->sections[section->link].type == SHT_STRTAB)
        t.strings = cbi_strings_in(o->sections[section->link].data);
    else
        cbi_object_finding(r, CBI_RULE_SECTION_LINK, header, section->name, NULL,
                           "sh_link %u names no string table", section->link);

    size_t count = section->data.size / record;
    if (count >= UINT32_MAX)
        return; /* cannot happen with a 32-bit section count check of the file size */
    cbi_symbol *symbols = CBI_ARRAY_TO_FILL(r->ctx, count, cbi_symbol);
    *ret_symbols = symbols;
    *ret_count = (uint32_t)count;
    if (section->info > count)
        cbi_object_finding(r, CBI_RULE_SYMBOL_ORDER, header, section->name, NULL,
                           "sh_info %u is greater than the %zu symbols", section->info, count);
    uint32_t i = 0;
    while (i < count && !cbi_object_stop(r)) {
        read_symbol(r, &t, &symbols[i], i);
        i++;
    }
    memset(&symbols[i], 0, (count - i) * sizeof *symbols);
}

void cbi_object_read_symbols(cbi_object_reader *r)
{
    cbi_object *o = r->object;
    for (uint32_t i = 1; i < o->section_count; i++) {
        uint32_t type = o->sections[i].type;
        if (type != SHT_SYMTAB && type != SHT_CUDA_MERC_SYMTAB)
            continue;
        uint32_t *table = type == SHT_SYMTAB ? &o->symtab : &o->merc_symtab;
        if (*table)
            cbi_object_finding(r, CBI_RULE_SYMBOL_TABLES, cbi_object_header_place(o, i),
                               o->sections[i].name, NULL,
                               "sections %u and %u are both of type 0x%x", *table, i, type);
        else
            *table = i;
    }
    if (o->symtab) {
        uint32_t link = o->sections[o->symtab].link;
        if (link < o->section_count && o->sections[link].type == SHT_STRTAB)
            o->strtab = link;
        read_table(r, o->symtab, &o->symbols, &o->symbol_count);
    }
    if (o->merc_symtab && !cbi_object_stop(r))
        read_table(r, o->merc_symtab, &o->merc_symbols, &o->merc_symbol_count);
}
