/* What both halves of the mutator look at: the sections of an ELF by type, and bytes that grow. */
#ifndef CBI_MUTANT_PARTS_H
#define CBI_MUTANT_PARTS_H

#include "fields.h"
#include "mutants.h"

#include "format/cuda_elf.h"

/* ---- an ELF ---- */

/* One whose section table is inside, however its sections lie. */
typedef struct elf {
    uint8_t *data;
    size_t size;
    uint64_t shoff;
    size_t count;
} elf;

typedef struct shdr {
    uint64_t place, offset, size, entsize;
    uint32_t type, link;
} shdr;

static inline bool open_elf(uint8_t *data, size_t size, elf *ret)
{
    if (size < sizeof(Elf64_Ehdr) || memcmp(data, ELFMAG, SELFMAG) != 0)
        return false;
    *ret = (elf){data, size, cbi_ld64(data + 40), cbi_ld16(data + 60)};
    return ret->count && cbi_fits(ret->shoff, ret->count * sizeof(Elf64_Shdr), size);
}

/* Its bytes are inside, or its size counts as 0. */
static inline shdr section(const elf *e, size_t i)
{
    const uint8_t *h = e->data + e->shoff + i * sizeof(Elf64_Shdr);
    shdr s = {.place = e->shoff + i * sizeof(Elf64_Shdr),
              .type = cbi_ld32(h + 4),
              .offset = cbi_ld64(h + 24),
              .size = cbi_ld64(h + 32),
              .link = cbi_ld32(h + 40),
              .entsize = cbi_ld64(h + 56)};
    if (!cbi_fits(s.offset, s.size, e->size))
        s.size = 0;
    return s;
}

/* One of a type that fits, from a place on that is drawn; false: there is none. */
static inline bool draw_section(const elf *e, bool (*fits)(uint32_t type), uint64_t *state,
                                shdr *ret)
{
    size_t start = below(state, e->count);
    for (size_t i = 0; i < e->count; i++) {
        *ret = section(e, (start + i) % e->count);
        if (ret->size && fits(ret->type))
            return true;
    }
    return false;
}

static inline bool is_symbols(uint32_t type)
{
    return type == SHT_SYMTAB || type == SHT_CUDA_MERC_SYMTAB;
}

static inline bool is_relocs(uint32_t type)
{
    return type == SHT_REL || type == SHT_RELA || type == SHT_CUDA_MERC_RELA ||
           type == SHT_CUDA_RESOLVED_RELA || type == SHT_CUDA_MERC_RESOLVED_RELA;
}

static inline bool is_attributes(uint32_t type)
{
    return type == SHT_CUDA_INFO || type == SHT_CUDA_MERC_INFO || type == SHT_CUDA_COMPAT;
}

static inline bool is_note(uint32_t type)
{
    return type == SHT_NOTE;
}

static inline bool is_graph(uint32_t type)
{
    return type == SHT_CUDA_CALLGRAPH || type == SHT_CUDA_PROTOTYPE || type == SHT_CUDA_UFT_ENTRY ||
           type == SHT_CUDA_UDT_ENTRY;
}

static inline bool is_capsule(uint32_t type)
{
    return type == SHT_CUDA_CAPMERC;
}

static inline bool is_strings(uint32_t type)
{
    return type == SHT_STRTAB;
}

static inline bool is_bytes(uint32_t type)
{
    return type == SHT_PROGBITS;
}

/* ---- bytes ---- */

typedef struct bytes {
    uint8_t *data;
    size_t size, cap;
} bytes;

static inline void append(bytes *to, const void *data, size_t size)
{
    if (size > to->cap - to->size) {
        to->cap = 2 * (to->cap + size);
        to->data = realloc(to->data, to->cap);
        if (!to->data)
            abort();
    }
    if (size)
        memcpy(to->data + to->size, data, size);
    to->size += size;
}

static inline void pad(bytes *to, size_t align, char with)
{
    while (to->size % align)
        append(to, &with, 1);
}

static inline bytes copy_of(cbi_span file)
{
    bytes out = {0};
    append(&out, file.data, file.size);
    return out;
}

/* Gives an ELF other sections: of another object, in another order, twice, repeated; see
 * mutant_splice.c.  What is no ELF of class 64 stays as it is. */
void mutant_splice(bytes *file, const mutant_seeds *seeds, uint64_t *state);

#endif
