/* The two classes of ELF.  Everything works on records of class 64; the few places that read or
 * write records of a file go through these functions, which know where class 32 has the fields. */
#ifndef CBI_ELF_CLASS_H
#define CBI_ELF_CLASS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cbi_elf_record {
    CBI_ELF_EHDR,
    CBI_ELF_SHDR,
    CBI_ELF_PHDR,
    CBI_ELF_SYM,
    CBI_ELF_REL,
    CBI_ELF_RELA,
    CBI_ELF_RECORDS
} cbi_elf_record;

/* Bytes of each record in a class, and the alignment of its tables. */
typedef struct cbi_elf_class {
    bool narrow; /* class 32 */
    uint8_t align;
    uint8_t size[CBI_ELF_RECORDS];
} cbi_elf_class;

/* The class that EI_CLASS names; NULL if it names none. */
const cbi_elf_class *cbi_elf_class_of(uint8_t ident_class);

/* Any record of class 64. */
typedef struct cbi_elf_wide {
    uint8_t bytes[sizeof(Elf64_Ehdr)];
} cbi_elf_wide;

/* The record at `p` in the layout of class 64: `p` itself, or in `room`. */
const uint8_t *cbi_elf_widen(cbi_elf_record record, const uint8_t *p, cbi_elf_wide *room);
static inline const uint8_t *cbi_elf_read(const cbi_elf_class *class, cbi_elf_record record,
                                          const uint8_t *p, cbi_elf_wide *room)
{
    return class->narrow ? cbi_elf_widen(record, p, room) : p;
}

/* The other way; false if a number does not fit into class 32. */
bool cbi_elf_narrow(cbi_elf_record record, const uint8_t *wide, uint8_t *ret_narrow);

#endif
