/* The read-only model of one device ELF.
 *
 * cbi_object_read() checks structure and cross-references once; whoever holds the model may follow
 * every index in it without a further check.  The model borrows the file's bytes.
 */
#ifndef CBI_OBJECT_H
#define CBI_OBJECT_H

#include "base/base.h"
#include "format/cuda_elf.h"
#include "format/eiattr.h"
#include "format/elf_class.h"

typedef struct cbi_section {
    const char *name;
    uint32_t name_offset; /* sh_name */
    uint32_t type;
    uint64_t flags;
    uint64_t offset;
    uint64_t size;
    uint32_t link;
    uint32_t info;
    uint64_t align;
    uint64_t entsize;
    cbi_span data; /* empty for sections without file bytes; relocations as in class 64 */
} cbi_section;

typedef struct cbi_symbol {
    const char *name;
    uint32_t name_offset; /* st_name */
    uint8_t info;
    uint8_t other;
    uint16_t name_len; /* a link's, with the hash: see cbi_name_hash() */
    uint32_t
        shndx; /* extended index applied; special indices (SHN_UNDEF, SHN_COMMON, SHN_ABS) as is */
    uint32_t name_hash; /* a link's: of the name, where it will look for it */
    uint64_t value;
    uint64_t size;
} cbi_symbol;

#define CBI_ST_BIND(info)       ((info) >> 4)
#define CBI_ST_TYPE(info)       ((info)&15)
#define CBI_ST_INFO(bind, type) ((uint8_t)((bind) << 4 | (type)))

/* A failed check. */
typedef struct cbi_finding {
    const char *rule;    /* stable id, e.g. "section-range" */
    const char *message; /* what is wrong, with the figures */
    bool fatal;          /* the model cannot be built; the read stops */
    bool note;           /* departs from a rule that is not certain; no fault */
    uint64_t offset;     /* file offset of the offending field */
    const char *section; /* or NULL */
    const char *symbol;  /* or NULL */
} cbi_finding;

typedef CBI_VEC(cbi_finding) cbi_findings;

/* Const where `./dev lint` compiles what comes behind the merge; before that the Mercury view is
 * made from it. */
#ifndef CBI_MODEL
#define CBI_MODEL
#endif

typedef struct cbi_object {
    const char *file; /* as shown in messages: path, or archive:member */
    cbi_span bytes;
    uint8_t ident[EI_NIDENT];
    const cbi_elf_class *class; /* of the file's records, once its header was read */
    uint16_t type;
    uint16_t machine;
    uint32_t version;
    uint32_t flags;
    uint32_t sm, kind; /* from e_flags of either layout: cbi_file_sm(), cbi_file_kind() */
    uint64_t entry, phoff, shoff;
    uint16_t ehsize, phentsize, phnum, shentsize, shnum;
    uint32_t shstrndx;
    CBI_MODEL cbi_section *sections; /* [0] is the null section */
    uint32_t section_count;
    CBI_MODEL cbi_symbol *symbols; /* of .symtab; [0] is the null symbol */
    uint32_t symbol_count;
    uint32_t symtab; /* section index, 0 = none */
    uint32_t strtab;
    CBI_MODEL cbi_symbol *merc_symbols; /* of .nv.merc.symtab (sm_100 and later), NULL if none */
    uint32_t merc_symbol_count;
    uint32_t merc_symtab;
    size_t reloc_entries; /* of SHT_REL and SHT_RELA */
    size_t info_records;  /* of SHT_CUDA_INFO */
    cbi_findings doubts;  /* damage that nvlink does not mind; the model is safe to follow */
} cbi_object;

/* Why bytes are not a device ELF at all, in the order of the checks. */
typedef enum cbi_object_kind {
    CBI_OBJECT_OK,
    CBI_OBJECT_NOT_ELF,    /* no ELF magic */
    CBI_OBJECT_NOT_DEVICE, /* e_machine is not EM_CUDA */
    CBI_OBJECT_DAMAGED     /* device ELF with at least one finding */
} cbi_object_kind;

/* Reads the model.  Findings (may be NULL) receive every failed check.  On anything but
 * CBI_OBJECT_OK the object holds what could be read and must only be used for display when
 * sections != NULL. */
cbi_object_kind cbi_object_read(cbi_ctx *ctx, const char *file, cbi_span bytes,
                                cbi_object *ret_object, cbi_findings *findings);

/* Every rule the read checks, for lists and documents. */
typedef struct cbi_rule {
    const char *id;
    const char *text;
} cbi_rule;
extern const cbi_rule cbi_object_rules[];
extern const size_t cbi_object_rule_count;

/* One program header. */
typedef struct cbi_program_header {
    uint32_t type, flags;
    uint64_t offset, address, file_size, memory_size, align;
} cbi_program_header;

/* The i-th, i < phnum, of a file whose program header table was found sound. */
cbi_program_header cbi_object_segment(const cbi_object *object, uint64_t i);

/* File offset of a section's header. */
uint64_t cbi_object_header_place(const cbi_object *object, uint32_t section);

/* Does this section type occupy file bytes? */
static inline bool cbi_section_has_data(uint32_t type)
{
    switch (type) {
    case SHT_NULL:
    case SHT_NOBITS:
    case SHT_CUDA_GLOBAL:
    case SHT_CUDA_LOCAL:
    case SHT_CUDA_SHARED:
    case SHT_CUDA_SHARED_RESERVED:
        return false;
    default:
        return true;
    }
}

/* First section of that name, or 0. */
uint32_t cbi_object_find(const cbi_object *object, const char *name);

/* One relocation, REL or RELA. */
typedef struct cbi_rela {
    uint64_t offset;
    uint32_t type;
    uint32_t symbol;
    int64_t addend; /* 0 for REL */
} cbi_rela;

/* The ELF record that sections of this type hold: symbols or relocations; CBI_ELF_RECORDS: none. */
cbi_elf_record cbi_section_record(uint32_t sh_type);

/* Records of a relocation section (SHT_REL, SHT_RELA and their CUDA forms) and the i-th of them. */
bool cbi_is_reloc_type(uint32_t sh_type);
/* ... of these the ones that only say what was applied. */
bool cbi_is_resolved_type(uint32_t sh_type);
/* Per section the last of a type whose sh_info names it, 0 = none. */
uint32_t *cbi_sections_about(cbi_ctx *ctx, const cbi_object *object, uint32_t sh_type);
static inline size_t cbi_rela_size(uint32_t sh_type)
{
    return sh_type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
}

static inline size_t cbi_rela_count(const cbi_section *section)
{
    return section->data.size / cbi_rela_size(section->type);
}

static inline cbi_rela cbi_rela_at(const cbi_section *section, size_t i)
{
    const uint8_t *p = section->data.data + i * cbi_rela_size(section->type);
    return (cbi_rela){
        .offset = cbi_ld64(p),
        .type = cbi_ld32(p + 8),
        .symbol = cbi_ld32(p + 12),
        .addend = section->type == SHT_REL ? 0 : (int64_t)cbi_ld64(p + 16),
    };
}

/* One record of an EIATTR or EICOMPAT stream. */
typedef struct cbi_attr {
    uint8_t format; /* 1 none, 2 byte, 3 half, 4 sized */
    uint8_t code;
    uint16_t value; /* formats 2 and 3; for 4 the payload size */
    cbi_span payload;
    cbi_span raw; /* the whole record */
} cbi_attr;

/* Steps through a stream; *pos starts at 0.  False at the end or at a damaged record (then *pos <
 * size). */
static inline bool cbi_attr_next(cbi_span stream, size_t *pos, cbi_attr *ret_attr)
{
    size_t at = *pos;
    if (!cbi_fits(at, 4, stream.size))
        return false;
    const uint8_t *p = stream.data + at;
    cbi_attr attr = {.format = p[0], .code = p[1]};
    size_t size = 4;
    switch (attr.format) {
    case CBI_ATTR_NONE:
        break;
    case CBI_ATTR_BYTE:
        attr.value = p[2];
        break;
    case CBI_ATTR_HALF:
        attr.value = cbi_ld16(p + 2);
        break;
    case CBI_ATTR_SIZED:
        attr.value = cbi_ld16(p + 2);
        size += attr.value;
        if (!cbi_fits(at, size, stream.size))
            return false;
        attr.payload = (cbi_span){p + 4, attr.value};
        break;
    default:
        return false;
    }
    attr.raw = (cbi_span){p, size};
    *pos = at + size;
    *ret_attr = attr;
    return true;
}

/* One note of a SHT_NOTE section. */
typedef struct cbi_note {
    uint32_t type;
    cbi_span owner; /* namesz bytes, normally "NVIDIA Corp" and its NUL */
    cbi_span desc;
    size_t offset; /* of the note in the section */
} cbi_note;

/* Steps through a note section; *pos starts at 0.  False at the end or at a damaged note (then *pos
 * < size). */
bool cbi_note_next(cbi_span section, size_t *pos, cbi_note *ret_note);

/* What a toolkit note (NT_CUDA_TKINFO) says; the strings borrow the file's bytes. */
typedef struct cbi_tkinfo {
    uint32_t version;
    const char *object_name;
    const char *tool;
    const char *tool_version;
    const char *build;
    const char *options;
} cbi_tkinfo;

/* Reads a toolkit note's descriptor; false if it is damaged. */
bool cbi_tkinfo_read(cbi_span desc, cbi_tkinfo *ret_tkinfo);

/* Appends a whole note of version 2; strings that are NULL are empty. */
void cbi_tkinfo_append(cbi_ctx *ctx, cbi_buf *out, const cbi_tkinfo *tkinfo);

/* Appends the header of a note of ours; its descriptor follows. */
void cbi_note_append_header(cbi_ctx *ctx, cbi_buf *out, size_t desc_size, uint32_t type);

/* What .note.nv.cuinfo says.  In an object of the older ABI (OSABI 0x33) the same facts come from
 * the ELF header and `section` is 0. */
typedef struct cbi_cuinfo {
    bool present;
    uint16_t version;
    uint16_t virtual_sm;
    uint16_t toolkit; /* times ten: 130 = 13.0 */
    uint32_t section;
} cbi_cuinfo;

/* Finds the note the way nvlink does: e_flags bits 24..31 give the section, 0xff means by name. */
cbi_cuinfo cbi_object_cuinfo(const cbi_object *object);

#endif
