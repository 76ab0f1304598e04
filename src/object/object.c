/* Reads the ELF header and the section table of a device ELF. */
#include "object/object.h"
#include "format/arch.h"
#include "object/rules.h"

enum {
    MAX_FINDINGS = 1000 /* a damaged table would yield one per record */
};

/* Sizes of memory that has no file bytes are bounded so that layout may add them up. */
#define MAX_MEMORY_SIZE (UINT64_C(1) << 48)
#define MAX_ALIGN       (UINT64_C(1) << 31)

const cbi_rule cbi_object_rules[] = {
#define CBI_RULE_ROW(name, id, text) {id, text},
    CBI_OBJECT_RULES(CBI_RULE_ROW)
#undef CBI_RULE_ROW
};
const size_t cbi_object_rule_count = CBI_COUNT(cbi_object_rules);

cbi_finding cbi_object_finding_of(cbi_ctx *ctx, cbi_object_rule rule, uint64_t place,
                                  const char *section, const char *symbol, const char *format,
                                  va_list args)
{
    return (cbi_finding){
        .rule = cbi_object_rules[rule].id,
        .message = cbi_vprintf(ctx, format, args),
        .offset = place,
        .section = section,
        .symbol = symbol,
    };
}

void cbi_object_finding(cbi_object_reader *r, cbi_object_rule rule, uint64_t place,
                        const char *section, const char *symbol, const char *format, ...)
{
    size_t n = r->count++;
    if (!r->findings || n > MAX_FINDINGS)
        return;
    cbi_finding *finding = cbi_vec_add(r->ctx, r->findings);
    if (n == MAX_FINDINGS) {
        finding->rule = cbi_object_rules[CBI_RULE_TOO_MANY_FINDINGS].id;
        finding->message = "more findings are not listed";
        return;
    }
    va_list args;
    va_start(args, format);
    *finding = cbi_object_finding_of(r->ctx, rule, place, section, symbol, format, args);
    va_end(args);
}

uint32_t cbi_object_find(const cbi_object *object, const char *name)
{
    for (uint32_t i = 1; i < object->section_count; i++)
        if (strcmp(object->sections[i].name, name) == 0)
            return i;
    return 0;
}

static cbi_object_kind damaged(cbi_object_reader *r, bool fatal)
{
    if (fatal && r->findings && r->findings->len)
        r->findings->items[r->findings->len - 1].fatal = true;
    return CBI_OBJECT_DAMAGED;
}

uint64_t cbi_object_header_place(const cbi_object *object, uint32_t section)
{
    return object->shoff + (uint64_t)section * object->class->size[CBI_ELF_SHDR];
}

/* Is this a header of a known class and byte order? */
static bool read_ident(cbi_object_reader *r)
{
    cbi_object *o = r->object;
    const uint8_t *p = o->bytes.data;
    o->class = cbi_elf_class_of(p[EI_CLASS]);
    if (!o->class) {
        cbi_object_finding(r, CBI_RULE_ELF_CLASS, EI_CLASS, NULL, NULL, "unknown ELF class %u",
                           p[EI_CLASS]);
        return false;
    }
    if (p[EI_DATA] != ELFDATA2LSB) {
        cbi_object_finding(r, CBI_RULE_ELF_DATA, EI_DATA, NULL, NULL,
                           "byte order %u is not little-endian", p[EI_DATA]);
        return false;
    }
    if (o->bytes.size < o->class->size[CBI_ELF_EHDR]) {
        cbi_object_finding(r, CBI_RULE_HEADER_RANGE, o->bytes.size, NULL, NULL,
                           "the file ends inside the ELF header, after %zu bytes", o->bytes.size);
        return false;
    }
    if (p[EI_VERSION] != EV_CURRENT)
        cbi_object_finding(r, CBI_RULE_ELF_VERSION, EI_VERSION, NULL, NULL, "ELF version %u",
                           p[EI_VERSION]);
    return true;
}

/* Fills the header fields; false after a finding that stops the read. */
static bool read_header(cbi_object_reader *r)
{
    cbi_object *o = r->object;
    if (!read_ident(r))
        return false;
    cbi_elf_wide room;
    const uint8_t *p = cbi_elf_read(o->class, CBI_ELF_EHDR, o->bytes.data, &room);
    memcpy(o->ident, p, EI_NIDENT);
    o->type = cbi_ld16(p + offsetof(Elf64_Ehdr, e_type));
    o->version = cbi_ld32(p + offsetof(Elf64_Ehdr, e_version));
    o->entry = cbi_ld64(p + offsetof(Elf64_Ehdr, e_entry));
    o->phoff = cbi_ld64(p + offsetof(Elf64_Ehdr, e_phoff));
    o->shoff = cbi_ld64(p + offsetof(Elf64_Ehdr, e_shoff));
    o->flags = cbi_ld32(p + offsetof(Elf64_Ehdr, e_flags));
    o->sm = cbi_file_sm(o->ident[EI_OSABI], o->flags);
    o->kind = cbi_file_kind(o->ident[EI_OSABI], o->flags);
    o->ehsize = cbi_ld16(p + offsetof(Elf64_Ehdr, e_ehsize));
    o->phentsize = cbi_ld16(p + offsetof(Elf64_Ehdr, e_phentsize));
    o->phnum = cbi_ld16(p + offsetof(Elf64_Ehdr, e_phnum));
    o->shentsize = cbi_ld16(p + offsetof(Elf64_Ehdr, e_shentsize));
    o->shnum = cbi_ld16(p + offsetof(Elf64_Ehdr, e_shnum));
    o->shstrndx = cbi_ld16(p + offsetof(Elf64_Ehdr, e_shstrndx));
    if (o->ehsize != o->class->size[CBI_ELF_EHDR])
        cbi_object_finding(r, CBI_RULE_HEADER_SIZE, offsetof(Elf64_Ehdr, e_ehsize), NULL, NULL,
                           "e_ehsize is %u", o->ehsize);
    if (o->shentsize != o->class->size[CBI_ELF_SHDR]) {
        cbi_object_finding(r, CBI_RULE_SECTION_ENTSIZE, offsetof(Elf64_Ehdr, e_shentsize), NULL,
                           NULL, "e_shentsize is %u", o->shentsize);
        return false;
    }
    return true;
}

static const uint8_t *section_header(const cbi_object *o, uint32_t i, cbi_elf_wide *room)
{
    return cbi_elf_read(o->class, CBI_ELF_SHDR, o->bytes.data + cbi_object_header_place(o, i),
                        room);
}

/* Bounds the section table and resolves extended numbering (counts that do not fit the header are
 * stored in section 0). */
static bool read_section_count(cbi_object_reader *r, uint64_t *ret_count)
{
    cbi_object *o = r->object;
    const size_t header = o->class->size[CBI_ELF_SHDR];
    if (o->shoff < o->class->size[CBI_ELF_EHDR] || !cbi_fits(o->shoff, header, o->bytes.size)) {
        cbi_object_finding(r, CBI_RULE_SECTION_TABLE, offsetof(Elf64_Ehdr, e_shoff), NULL, NULL,
                           "e_shoff 0x%llx leaves no room for a section table in 0x%zx bytes",
                           (unsigned long long)o->shoff, o->bytes.size);
        return false;
    }
    cbi_elf_wide room;
    const uint8_t *first = section_header(o, 0, &room);
    uint64_t count = o->shnum;
    if (count == 0)
        count = cbi_ld64(first + offsetof(Elf64_Shdr, sh_size));
    if (o->shstrndx == SHN_XINDEX)
        o->shstrndx = cbi_ld32(first + offsetof(Elf64_Shdr, sh_link));
    uint64_t size;
    if (count == 0 || count >= UINT32_MAX || !cbi_mul(count, header, &size) ||
        !cbi_fits(o->shoff, size, o->bytes.size)) {
        cbi_object_finding(r, CBI_RULE_SECTION_TABLE, offsetof(Elf64_Ehdr, e_shnum), NULL, NULL,
                           "%llu section headers at 0x%llx do not fit in 0x%zx bytes",
                           (unsigned long long)count, (unsigned long long)o->shoff, o->bytes.size);
        return false;
    }
    *ret_count = count;
    return true;
}

static void read_section(cbi_section *s, const uint8_t *h)
{
    *s = (cbi_section){.name = ""};
    s->name_offset = cbi_ld32(h + offsetof(Elf64_Shdr, sh_name));
    s->type = cbi_ld32(h + offsetof(Elf64_Shdr, sh_type));
    s->flags = cbi_ld64(h + offsetof(Elf64_Shdr, sh_flags));
    s->offset = cbi_ld64(h + offsetof(Elf64_Shdr, sh_offset));
    s->size = cbi_ld64(h + offsetof(Elf64_Shdr, sh_size));
    s->link = cbi_ld32(h + offsetof(Elf64_Shdr, sh_link));
    s->info = cbi_ld32(h + offsetof(Elf64_Shdr, sh_info));
    s->align = cbi_ld64(h + offsetof(Elf64_Shdr, sh_addralign));
    s->entsize = cbi_ld64(h + offsetof(Elf64_Shdr, sh_entsize));
}

/* The records of a relocation section in the layout of class 64. */
static cbi_span widen_relocations(cbi_object_reader *r, const cbi_section *s)
{
    const cbi_elf_record record = cbi_section_record(s->type);
    size_t from = r->object->class->size[record], to = cbi_elf_class_of(ELFCLASS64)->size[record];
    size_t count = s->data.size / from;
    uint8_t *records = cbi_alloc(r->ctx, count * to);
    for (size_t i = 0; i < count; i++) {
        cbi_elf_wide room;
        memcpy(records + i * to, cbi_elf_widen(record, s->data.data + i * from, &room), to);
    }
    return (cbi_span){records, count * to};
}

static void name_section(cbi_object_reader *r, const cbi_strings_table *names, cbi_section *s,
                         uint32_t i)
{
    const char *name = cbi_string_at(names, s->name_offset);
    if (name)
        s->name = name;
    else if (names->bytes.data)
        cbi_object_finding(r, CBI_RULE_SECTION_NAME, cbi_object_header_place(r->object, i), NULL,
                           NULL, "section %u: the name at 0x%x does not end inside the name table",
                           i, s->name_offset);
}

static void find_contents(cbi_object_reader *r, cbi_section *s, uint32_t i)
{
    const cbi_object *o = r->object;
    if (!cbi_section_has_data(s->type)) {
        if (s->size > MAX_MEMORY_SIZE)
            cbi_object_finding(r, CBI_RULE_SECTION_EXTENT, cbi_object_header_place(o, i), s->name,
                               NULL, "section %u: 0x%llx bytes of memory are too many", i,
                               (unsigned long long)s->size);
    } else if (!cbi_subspan(o->bytes, s->offset, s->size, &s->data)) {
        cbi_object_finding(r, CBI_RULE_SECTION_RANGE, cbi_object_header_place(o, i), s->name, NULL,
                           "section %u: 0x%llx bytes at 0x%llx do not fit in 0x%zx bytes", i,
                           (unsigned long long)s->size, (unsigned long long)s->offset,
                           o->bytes.size);
    } else if (o->class->narrow && cbi_is_reloc_type(s->type)) {
        s->data = widen_relocations(r, s);
    }
    if (s->align > MAX_ALIGN)
        cbi_object_finding(r, CBI_RULE_SECTION_EXTENT, cbi_object_header_place(o, i), s->name, NULL,
                           "section %u: alignment 0x%llx is too large", i,
                           (unsigned long long)s->align);
}

static void read_sections(cbi_object_reader *r, uint64_t count)
{
    cbi_object *o = r->object;
    o->sections = CBI_ARRAY_TO_FILL(r->ctx, count, cbi_section);
    o->section_count = (uint32_t)count;
    cbi_elf_wide room;
    for (uint32_t i = 0; i < count; i++)
        read_section(&o->sections[i], section_header(o, i, &room));

    cbi_span names = {NULL, 0};
    if (o->shstrndx == 0 || o->shstrndx >= count || o->sections[o->shstrndx].type != SHT_STRTAB ||
        !cbi_subspan(o->bytes, o->sections[o->shstrndx].offset, o->sections[o->shstrndx].size,
                     &names))
        cbi_object_finding(r, CBI_RULE_NAME_TABLE, offsetof(Elf64_Ehdr, e_shstrndx), NULL, NULL,
                           "e_shstrndx %u names no string table", o->shstrndx);
    const cbi_strings_table table = cbi_strings_in(names);
    for (uint32_t i = 1; i < count && !cbi_object_stop(r); i++) {
        name_section(r, &table, &o->sections[i], i);
        find_contents(r, &o->sections[i], i);
    }
}

cbi_program_header cbi_object_segment(const cbi_object *object, uint64_t i)
{
    const cbi_elf_class *class = object->class;
    const uint8_t *p = object->bytes.data + object->phoff + i * class->size[CBI_ELF_PHDR];
    cbi_elf_wide room;
    p = cbi_elf_read(class, CBI_ELF_PHDR, p, &room);
    return (cbi_program_header){
        .type = cbi_ld32(p + offsetof(Elf64_Phdr, p_type)),
        .flags = cbi_ld32(p + offsetof(Elf64_Phdr, p_flags)),
        .offset = cbi_ld64(p + offsetof(Elf64_Phdr, p_offset)),
        .address = cbi_ld64(p + offsetof(Elf64_Phdr, p_vaddr)),
        .file_size = cbi_ld64(p + offsetof(Elf64_Phdr, p_filesz)),
        .memory_size = cbi_ld64(p + offsetof(Elf64_Phdr, p_memsz)),
        .align = cbi_ld64(p + offsetof(Elf64_Phdr, p_align)),
    };
}

static void read_segments(cbi_object_reader *r)
{
    cbi_object *o = r->object;
    if (o->phnum == 0) {
        if (o->phoff > o->bytes.size)
            cbi_object_finding(r, CBI_RULE_PROGRAM_TABLE, offsetof(Elf64_Ehdr, e_phoff), NULL, NULL,
                               "e_phoff 0x%llx is outside of the file",
                               (unsigned long long)o->phoff);
        return;
    }
    if (o->phentsize != o->class->size[CBI_ELF_PHDR]) {
        cbi_object_finding(r, CBI_RULE_PROGRAM_ENTSIZE, offsetof(Elf64_Ehdr, e_phentsize), NULL,
                           NULL, "e_phentsize is %u", o->phentsize);
        return;
    }
    uint64_t count = o->phnum == PN_XNUM ? o->sections[0].info : o->phnum;
    if (o->phoff < o->class->size[CBI_ELF_EHDR] ||
        !cbi_fits(o->phoff, count * o->phentsize, o->bytes.size)) {
        cbi_object_finding(r, CBI_RULE_PROGRAM_TABLE, offsetof(Elf64_Ehdr, e_phoff), NULL, NULL,
                           "%llu program headers at 0x%llx do not fit in 0x%zx bytes",
                           (unsigned long long)count, (unsigned long long)o->phoff, o->bytes.size);
        return;
    }
    for (uint64_t i = 0; i < count && !cbi_object_stop(r); i++) {
        cbi_program_header h = cbi_object_segment(o, i);
        if (!cbi_fits(h.offset, h.file_size, o->bytes.size))
            cbi_object_finding(r, CBI_RULE_PROGRAM_RANGE, o->phoff + i * o->phentsize, NULL, NULL,
                               "segment %llu: 0x%llx bytes at 0x%llx do not fit in 0x%zx bytes",
                               (unsigned long long)i, (unsigned long long)h.file_size,
                               (unsigned long long)h.offset, o->bytes.size);
    }
}

cbi_object_kind cbi_object_read(cbi_ctx *ctx, const char *file, cbi_span bytes,
                                cbi_object *ret_object, cbi_findings *findings)
{
    *ret_object = (cbi_object){.file = file, .bytes = bytes};
    cbi_object_reader r = {.ctx = ctx, .object = ret_object, .findings = findings};
    if (bytes.size < SELFMAG || memcmp(bytes.data, ELFMAG, SELFMAG) != 0)
        return CBI_OBJECT_NOT_ELF;
    /* e_machine has the same place in both classes */
    if (bytes.size < offsetof(Elf64_Ehdr, e_machine) + 2) {
        cbi_object_finding(&r, CBI_RULE_HEADER_RANGE, bytes.size, NULL, NULL,
                           "the file ends inside the ELF header, after %zu bytes", bytes.size);
        return damaged(&r, true);
    }
    ret_object->machine = cbi_ld16(bytes.data + offsetof(Elf64_Ehdr, e_machine));
    if (ret_object->machine != EM_CUDA)
        return CBI_OBJECT_NOT_DEVICE;
    uint64_t count;
    if (!read_header(&r) || !read_section_count(&r, &count))
        return damaged(&r, true);
    read_sections(&r, count);
    if (!cbi_object_stop(&r))
        read_segments(&r);
    if (!cbi_object_stop(&r))
        cbi_object_read_symbols(&r);
    if (!cbi_object_stop(&r))
        cbi_object_check_sections(&r);
    if (!cbi_object_stop(&r))
        cbi_object_doubt_sections(&r);
    return r.count ? damaged(&r, false) : CBI_OBJECT_OK;
}
