#include "input/elf.h"
#include "format/cuda_elf.h"
#include "object/object.h"

bool cbi_is_elf(cbi_span bytes)
{
    return bytes.size >= SELFMAG && memcmp(bytes.data, ELFMAG, SELFMAG) == 0;
}

uint16_t cbi_elf_machine(cbi_span bytes)
{
    return cbi_is_elf(bytes) && bytes.size >= 20 ? cbi_ld16(bytes.data + 18) : 0;
}

uint16_t cbi_elf_type(cbi_span bytes)
{
    return cbi_is_elf(bytes) && bytes.size >= 20 ? cbi_ld16(bytes.data + 16) : 0;
}

/* The i-th section header in the layout of class 64. */
static const uint8_t *section_header(const cbi_elf *elf, uint64_t i, cbi_elf_wide *room)
{
    size_t size = elf->class->size[CBI_ELF_SHDR];
    return cbi_elf_read(elf->class, CBI_ELF_SHDR, elf->bytes.data + elf->shoff + i * size, room);
}

static bool table_fits(const cbi_elf *elf, uint64_t offset, uint64_t count, cbi_elf_record record)
{
    uint64_t size;
    return offset >= elf->class->size[CBI_ELF_EHDR] &&
           cbi_mul(count, elf->class->size[record], &size) &&
           cbi_fits(offset, size, elf->bytes.size);
}

static const char *check_tables(cbi_elf *elf, const uint8_t *h)
{
    const cbi_elf_class *class = elf->class;
    uint64_t phoff = cbi_ld64(h + offsetof(Elf64_Ehdr, e_phoff));
    uint16_t phnum = cbi_ld16(h + offsetof(Elf64_Ehdr, e_phnum));
    uint64_t shnum = cbi_ld16(h + offsetof(Elf64_Ehdr, e_shnum));
    uint32_t shstrndx = cbi_ld16(h + offsetof(Elf64_Ehdr, e_shstrndx));
    uint16_t phentsize = cbi_ld16(h + offsetof(Elf64_Ehdr, e_phentsize));
    uint16_t shentsize = cbi_ld16(h + offsetof(Elf64_Ehdr, e_shentsize));
    cbi_elf_wide room;
    if (phoff > elf->bytes.size || (phnum && (phentsize != class->size[CBI_ELF_PHDR] ||
                                              !table_fits(elf, phoff, phnum, CBI_ELF_PHDR))))
        return "the program header table is outside of the file";
    if (elf->shoff == 0)
        return "there is no section header table";
    if (shentsize != class->size[CBI_ELF_SHDR])
        return class->narrow ? "e_shentsize is not 40" : "e_shentsize is not 64";
    if (!table_fits(elf, elf->shoff, 1, CBI_ELF_SHDR))
        return "the section header table is outside of the file";
    /* Large section counts live in the first section header. */
    const uint8_t *first = section_header(elf, 0, &room);
    if (shnum == 0)
        shnum = cbi_ld64(first + offsetof(Elf64_Shdr, sh_size));
    if (shstrndx == SHN_XINDEX)
        shstrndx = cbi_ld32(first + offsetof(Elf64_Shdr, sh_link));
    if (!table_fits(elf, elf->shoff, shnum, CBI_ELF_SHDR))
        return "the section header table is outside of the file";
    elf->section_count = (uint32_t)shnum;
    if (shstrndx < shnum) {
        const uint8_t *s = section_header(elf, shstrndx, &room);
        if (cbi_ld32(s + offsetof(Elf64_Shdr, sh_type)) != SHT_NOBITS &&
            !cbi_subspan(elf->bytes, cbi_ld64(s + offsetof(Elf64_Shdr, sh_offset)),
                         cbi_ld64(s + offsetof(Elf64_Shdr, sh_size)), &elf->names))
            return "its section names are outside of the file";
    }
    return NULL;
}

bool cbi_elf_open(cbi_span bytes, cbi_elf *ret_elf)
{
    cbi_elf elf = {.bytes = bytes, .class = cbi_elf_class_of(ELFCLASS32)};
    cbi_elf_wide room;
    if (bytes.size > EI_CLASS && bytes.data[EI_CLASS] == ELFCLASS64)
        elf.class = cbi_elf_class_of(ELFCLASS64);
    if (!cbi_is_elf(bytes)) {
        elf.damage = "it has no ELF magic";
    } else if (bytes.size < elf.class->size[CBI_ELF_EHDR]) {
        elf.damage = "the ELF header is cut off";
    } else if (bytes.data[EI_DATA] != ELFDATA2LSB) {
        elf.damage = "it is not a little-endian ELF";
    } else {
        const uint8_t *h = cbi_elf_read(elf.class, CBI_ELF_EHDR, bytes.data, &room);
        elf.type = cbi_ld16(h + offsetof(Elf64_Ehdr, e_type));
        elf.machine = cbi_ld16(h + offsetof(Elf64_Ehdr, e_machine));
        elf.flags = cbi_ld32(h + offsetof(Elf64_Ehdr, e_flags));
        elf.shoff = cbi_ld64(h + offsetof(Elf64_Ehdr, e_shoff));
        elf.sm = cbi_file_sm(bytes.data[EI_OSABI], elf.flags);
        elf.kind = cbi_file_kind(bytes.data[EI_OSABI], elf.flags);
        elf.damage = check_tables(&elf, h);
    }
    *ret_elf = elf;
    return !elf.damage;
}

bool cbi_elf_is_whole(const cbi_elf *elf)
{
    for (uint32_t i = 1; i < elf->section_count; i++) {
        cbi_elf_section s = cbi_elf_section_at(elf, i);
        if (s.damaged && cbi_section_has_data(s.type))
            return false;
    }
    return true;
}

cbi_elf_section cbi_elf_section_at(const cbi_elf *elf, uint32_t i)
{
    cbi_elf_wide room;
    const uint8_t *s = section_header(elf, i, &room);
    uint64_t flags = cbi_ld64(s + offsetof(Elf64_Shdr, sh_flags));
    cbi_elf_section section = {
        .name = cbi_span_string(elf->names, cbi_ld32(s + offsetof(Elf64_Shdr, sh_name))),
        .type = cbi_ld32(s + offsetof(Elf64_Shdr, sh_type)),
        .code = (flags & SHF_EXECINSTR) != 0};
    if (!section.name)
        section.name = "";
    if (section.type != SHT_NULL && section.type != SHT_NOBITS)
        section.damaged = !cbi_subspan(elf->bytes, cbi_ld64(s + offsetof(Elf64_Shdr, sh_offset)),
                                       cbi_ld64(s + offsetof(Elf64_Shdr, sh_size)), &section.data);
    return section;
}

bool cbi_elf_find(const cbi_elf *elf, const char *name, cbi_span *ret_data)
{
    for (uint32_t i = 1; i < elf->section_count; i++) {
        cbi_elf_section section = cbi_elf_section_at(elf, i);
        if (strcmp(section.name, name) == 0 && section.data.size) {
            *ret_data = section.data;
            return true;
        }
    }
    return false;
}

cbi_arch_facts cbi_elf_facts(const cbi_elf *elf)
{
    uint8_t osabi = elf->bytes.data[EI_OSABI];
    for (uint32_t i = 1; i < elf->section_count; i++) {
        cbi_elf_section s = cbi_elf_section_at(elf, i);
        if (s.type == SHT_CUDA_COMPAT && strcmp(s.name, ".nv.compat") == 0 && !s.damaged)
            return cbi_arch_read_facts(osabi, elf->flags, &s.data);
    }
    return cbi_arch_read_facts(osabi, elf->flags, NULL);
}
