/* Where both classes of ELF have the fields of a record, from <elf.h>. */
#include "format/elf_class.h"

#include <string.h>

/* A number in little-endian bytes; r_info is two of them, in both classes. */
typedef struct field {
    uint8_t wide_at, wide_size;
    uint8_t narrow_at, narrow_size;
    bool is_signed;
} field;

enum { MAX_FIELDS = 14, TYPE_BYTES = 1, SYMBOL_BYTES = 3 };

/* clang-format off */
#define FIELD(record, member)                                                                \
    {offsetof(Elf64_##record, member), sizeof(((Elf64_##record *)0)->member),               \
     offsetof(Elf32_##record, member), sizeof(((Elf32_##record *)0)->member), false}
#define INFO(record)                                                                         \
    {offsetof(Elf64_##record, r_info), 4, offsetof(Elf32_##record, r_info), TYPE_BYTES, false}, \
    {offsetof(Elf64_##record, r_info) + 4, 4,                                                \
     offsetof(Elf32_##record, r_info) + TYPE_BYTES, SYMBOL_BYTES, false}

static const field fields[CBI_ELF_RECORDS][MAX_FIELDS] = {
    [CBI_ELF_EHDR] = {
        FIELD(Ehdr, e_ident), FIELD(Ehdr, e_type), FIELD(Ehdr, e_machine), FIELD(Ehdr, e_version),
        FIELD(Ehdr, e_entry), FIELD(Ehdr, e_phoff), FIELD(Ehdr, e_shoff), FIELD(Ehdr, e_flags),
        FIELD(Ehdr, e_ehsize), FIELD(Ehdr, e_phentsize), FIELD(Ehdr, e_phnum),
        FIELD(Ehdr, e_shentsize), FIELD(Ehdr, e_shnum), FIELD(Ehdr, e_shstrndx)},
    [CBI_ELF_SHDR] = {
        FIELD(Shdr, sh_name), FIELD(Shdr, sh_type), FIELD(Shdr, sh_flags), FIELD(Shdr, sh_addr),
        FIELD(Shdr, sh_offset), FIELD(Shdr, sh_size), FIELD(Shdr, sh_link), FIELD(Shdr, sh_info),
        FIELD(Shdr, sh_addralign), FIELD(Shdr, sh_entsize)},
    [CBI_ELF_PHDR] = {
        FIELD(Phdr, p_type), FIELD(Phdr, p_flags), FIELD(Phdr, p_offset), FIELD(Phdr, p_vaddr),
        FIELD(Phdr, p_paddr), FIELD(Phdr, p_filesz), FIELD(Phdr, p_memsz), FIELD(Phdr, p_align)},
    [CBI_ELF_SYM] = {
        FIELD(Sym, st_name), FIELD(Sym, st_info), FIELD(Sym, st_other), FIELD(Sym, st_shndx),
        FIELD(Sym, st_value), FIELD(Sym, st_size)},
    [CBI_ELF_REL] = {FIELD(Rel, r_offset), INFO(Rel)},
    [CBI_ELF_RELA] = {
        FIELD(Rela, r_offset), INFO(Rela),
        {offsetof(Elf64_Rela, r_addend), 8, offsetof(Elf32_Rela, r_addend), 4, true}},
};

#define SIZES(bits)                                                                          \
    {sizeof(Elf##bits##_Ehdr), sizeof(Elf##bits##_Shdr), sizeof(Elf##bits##_Phdr),          \
     sizeof(Elf##bits##_Sym), sizeof(Elf##bits##_Rel), sizeof(Elf##bits##_Rela)}
/* clang-format on */

const cbi_elf_class *cbi_elf_class_of(uint8_t ident_class)
{
    static const cbi_elf_class narrow = {true, 4, SIZES(32)}, wide = {false, 8, SIZES(64)};
    if (ident_class == ELFCLASS64)
        return &wide;
    return ident_class == ELFCLASS32 ? &narrow : NULL;
}

const uint8_t *cbi_elf_widen(cbi_elf_record record, const uint8_t *p, cbi_elf_wide *room)
{
    memset(room, 0, sizeof *room);
    for (const field *f = fields[record]; f < fields[record] + MAX_FIELDS && f->wide_size; f++) {
        uint8_t *to = room->bytes + f->wide_at;
        memcpy(to, p + f->narrow_at, f->narrow_size);
        if (f->is_signed && to[f->narrow_size - 1] & 0x80)
            memset(to + f->narrow_size, 0xff, f->wide_size - f->narrow_size);
    }
    return room->bytes;
}

bool cbi_elf_narrow(cbi_elf_record record, const uint8_t *wide, uint8_t *ret_narrow)
{
    for (const field *f = fields[record]; f < fields[record] + MAX_FIELDS && f->wide_size; f++) {
        const uint8_t *from = wide + f->wide_at;
        memcpy(ret_narrow + f->narrow_at, from, f->narrow_size);
        uint8_t fill = f->is_signed && from[f->narrow_size - 1] & 0x80 ? 0xff : 0;
        for (size_t i = f->narrow_size; i < f->wide_size; i++)
            if (from[i] != fill)
                return false;
    }
    return true;
}
