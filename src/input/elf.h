/* The little that the input stage needs of an ELF file: its kind and its sections by name.  Works
 * for host and device files of both classes; every section that it returns lies inside the file. */
#ifndef CBI_INPUT_ELF_H
#define CBI_INPUT_ELF_H

#include <elf.h>

#include "base/base.h"
#include "format/arch.h"
#include "format/elf_class.h"

typedef struct cbi_elf {
    cbi_span bytes;
    const cbi_elf_class *class;
    uint64_t shoff;
    uint16_t type;
    uint16_t machine;
    uint32_t flags;
    uint32_t sm, kind; /* of device files: cbi_file_sm(), cbi_file_kind() */
    uint32_t section_count;
    cbi_span names;     /* section name strings; empty if there are none */
    const char *damage; /* what is wrong with the file, NULL if it can be read */
} cbi_elf;

typedef struct cbi_elf_section {
    const char *name; /* "" if it has none */
    uint32_t type;
    cbi_span data; /* empty for sections without bytes in the file */
    bool damaged;  /* its bytes are not inside the file */
    bool code;     /* machine code of the host */
} cbi_elf_section;

bool cbi_is_elf(cbi_span bytes);
/* Any ELF with magic and at least a whole e_machine field; 0 otherwise. */
uint16_t cbi_elf_machine(cbi_span bytes);
/* e_type in the same way. */
uint16_t cbi_elf_type(cbi_span bytes);

/* Reads the header.  False, with ret_elf->damage set, if the file is no readable ELF.  What says to
 * be of no known class is read as class 32, as nvlink reads it. */
bool cbi_elf_open(cbi_span bytes, cbi_elf *ret_elf);

/* Do the bytes of all sections lie inside the file? */
bool cbi_elf_is_whole(const cbi_elf *elf);

/* The i-th section, i < section_count. */
cbi_elf_section cbi_elf_section_at(const cbi_elf *elf, uint32_t i);

/* Of a device file: where it may run, as .nv.compat and the header say. */
cbi_arch_facts cbi_elf_facts(const cbi_elf *elf);

/* The first section of that name that has bytes. */
bool cbi_elf_find(const cbi_elf *elf, const char *name, cbi_span *ret_data);

#endif
