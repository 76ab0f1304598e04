#include "input/elf.h"
#include "format/cuda_elf.h"

enum { EHDR_SIZE = 64, SHDR_SIZE = 64, PHDR_SIZE = 56 };

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

static const char *check_tables(cbi_elf *elf, const uint8_t *h)
{
    uint64_t phoff = cbi_ld64(h + 32);
    uint64_t shoff = cbi_ld64(h + 40);
    uint16_t phnum = cbi_ld16(h + 56);
    uint64_t shnum = cbi_ld16(h + 60);
    uint32_t shstrndx = cbi_ld16(h + 62);
    uint64_t table;
    if (phoff > elf->bytes.size || (phnum && phoff == 0))
        return "the program header table is outside of the file";
    if (phnum && (cbi_ld16(h + 54) != PHDR_SIZE || !cbi_mul(phnum, PHDR_SIZE, &table) ||
                  !cbi_fits(phoff, table, elf->bytes.size)))
        return "the program header table is outside of the file";
    if (shoff == 0)
        return "there is no section header table";
    if (cbi_ld16(h + 58) != SHDR_SIZE)
        return "e_shentsize is not 64";
    if (!cbi_fits(shoff, SHDR_SIZE, elf->bytes.size))
        return "the section header table is outside of the file";
    /* Large section counts live in the first section header. */
    if (shnum == 0)
        shnum = cbi_ld64(elf->bytes.data + shoff + 32);
    if (shstrndx == SHN_XINDEX)
        shstrndx = cbi_ld32(elf->bytes.data + shoff + 40);
    if (!cbi_mul(shnum, SHDR_SIZE, &table) || !cbi_fits(shoff, table, elf->bytes.size))
        return "the section header table is outside of the file";
    elf->section_count = (uint32_t)shnum;
    if (shstrndx < shnum) {
        const uint8_t *s = elf->bytes.data + shoff + (uint64_t)shstrndx * SHDR_SIZE;
        if (cbi_ld32(s + 4) != SHT_NOBITS)
            cbi_subspan(elf->bytes, cbi_ld64(s + 24), cbi_ld64(s + 32), &elf->names);
    }
    return NULL;
}

bool cbi_elf_open(cbi_span bytes, cbi_elf *ret_elf)
{
    cbi_elf elf = {.bytes = bytes};
    if (!cbi_is_elf(bytes)) {
        elf.damage = "it has no ELF magic";
    } else if (bytes.size < EHDR_SIZE) {
        elf.damage = "the ELF header is cut off";
    } else if (bytes.data[EI_CLASS] != ELFCLASS64) {
        elf.damage = "it is not a 64-bit ELF";
    } else if (bytes.data[EI_DATA] != ELFDATA2LSB) {
        elf.damage = "it is not a little-endian ELF";
    } else {
        elf.type = cbi_ld16(bytes.data + 16);
        elf.machine = cbi_ld16(bytes.data + 18);
        elf.flags = cbi_ld32(bytes.data + 48);
        elf.sm = cbi_file_sm(bytes.data[EI_OSABI], elf.flags);
        elf.kind = cbi_file_kind(bytes.data[EI_OSABI], elf.flags);
        elf.damage = check_tables(&elf, bytes.data);
    }
    *ret_elf = elf;
    return !elf.damage;
}

cbi_elf_section cbi_elf_section_at(const cbi_elf *elf, uint32_t i)
{
    uint64_t shoff = cbi_ld64(elf->bytes.data + 40);
    const uint8_t *s = elf->bytes.data + shoff + (uint64_t)i * SHDR_SIZE;
    cbi_elf_section section = {.name = cbi_span_string(elf->names, cbi_ld32(s)),
                               .type = cbi_ld32(s + 4),
                               .code = (cbi_ld64(s + 8) & SHF_EXECINSTR) != 0};
    if (!section.name)
        section.name = "";
    if (section.type != SHT_NULL && section.type != SHT_NOBITS)
        section.damaged =
            !cbi_subspan(elf->bytes, cbi_ld64(s + 24), cbi_ld64(s + 32), &section.data);
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
