/* The relocation types of device ELFs: R_CUDA_* 0..116 and R_MERCURY_* 0x10000..0x10040. */
#ifndef CBI_RELOC_H
#define CBI_RELOC_H

#include "base/base.h"

#define R_MERCURY_FIRST 0x10000

/* Types that the link chooses itself. */
enum {
    R_CUDA_TEX_HEADER_INDEX = 6,
    R_CUDA_SAMP_HEADER_INDEX = 7,
    R_CUDA_SURF_HEADER_INDEX = 52,
    R_CUDA_ABS32_32 = 55,
    R_CUDA_YIELD_OPCODE9_0 = 68,
    R_CUDA_YIELD_CLEAR_PRED4_87 = 69,
    R_CUDA_ABS24_40 = 74,
    R_CUDA_8_32 = 80,
    R_CUDA_ABS20_44 = 100,
    R_CUDA_NONE_LAST = 116,
    R_MERCURY_ABS32 = 0x10003,
    R_MERCURY_ABS16 = 0x10004,
    R_MERCURY_TEX_HEADER_INDEX = 0x1000b, /* then samplers, surfaces */
    R_MERCURY_ABS_PROG_REL32_LO = 0x10028,
    R_MERCURY_ABS_PROG_REL32_HI,
    R_MERCURY_FUNC_DESC_64 = 0x1000f,
};

/* Who resolves it, as published.  For a link LINKER and EITHER are the same. */
typedef enum cbi_reloc_class {
    CBI_RELOC_CLASS_NONE,
    CBI_RELOC_CLASS_LINKER,
    CBI_RELOC_CLASS_EITHER,
    CBI_RELOC_CLASS_DRIVER,
    CBI_RELOC_CLASS_FINALIZER, /* Mercury: resolved when SASS is made */
} cbi_reloc_class;

/* What a final link does with it.  "Keep-symbols" are those whose place only the driver knows
 * (functions, global variables, undefined symbols); the decision about a symbol is the link's. */
typedef enum cbi_reloc_action {
    CBI_RELOC_DROP,         /* nothing is patched */
    CBI_RELOC_PATCH,        /* patched and dropped; kept for keep-symbols */
    CBI_RELOC_KEEP,         /* always kept */
    CBI_RELOC_UNIFIED,      /* rewritten to `plain` (not by -r), then as that type */
    CBI_RELOC_CLEAR_UNUSED, /* dropped; the field is zeroed if the symbol was removed */
    CBI_RELOC_PCREL,        /* kept for keep-symbols, else an error: not the same section */
    CBI_RELOC_PROG_REL,     /* Mercury view keeps it, the SASS bytes get the value */
    CBI_RELOC_INVALID,      /* an error unless the symbol is a keep-symbol */
    CBI_RELOC_YIELD,        /* patched if no input has independent threads, else dropped */
} cbi_reloc_action;

/* What a field gets, after a shift right by cbi_reloc_field.shift.  The linker computes the first
 * four, the driver the others. */
typedef enum cbi_reloc_source {
    CBI_SRC_VALUE,  /* symbol plus addend */
    CBI_SRC_BANK,   /* number of the symbol's constant bank */
    CBI_SRC_ADDEND, /* addend alone */
    CBI_SRC_ZERO,
    CBI_SRC_PCREL,             /* value minus place */
    CBI_SRC_GENERIC,           /* value as a generic address */
    CBI_SRC_UNIFIED,           /* address through the unified tables */
    CBI_SRC_FUNC_DESC,         /* function descriptor */
    CBI_SRC_FUNC_DESC_ADDRESS, /* address of the function descriptor */
    CBI_SRC_TEX_INDEX,         /* texture header index */
    CBI_SRC_SAMP_INDEX,        /* sampler header index */
    CBI_SRC_SURF_INDEX,        /* surface header index */
    CBI_SRC_SURF_DESC,         /* surface descriptor */
    CBI_SRC_INSTRUCTION,       /* replacement instruction */
} cbi_reloc_source;

/* Bits [start, start + width) of the little-endian number at r_offset, at most 64 of them, which
 * lie within eight bytes; of a wider one the low 64. */
typedef struct cbi_reloc_field {
    uint8_t start;
    uint8_t width;
    uint8_t source; /* cbi_reloc_source */
    uint8_t shift;
} cbi_reloc_field;

typedef struct cbi_reloc_type {
    uint32_t type;
    const char *name;
    uint8_t klass;  /* cbi_reloc_class */
    uint8_t action; /* cbi_reloc_action */
    uint8_t field_count;
    cbi_reloc_field fields[3];
    uint32_t plain; /* counterpart of a UNIFIED type, 0 = none */
    /* Mercury types: the R_CUDA types in the SASS view, 0 = none.  In text the instruction decides
     * between the two. */
    uint32_t sass_data;
    uint32_t sass_text;
    uint32_t sass_text_other;
    bool texture_slot; /* can refer to an image by its slot in bank 0 */
} cbi_reloc_type;

/* Rows of both families; they are dense. */
enum { CBI_RELOC_CUDA_TYPES = R_CUDA_NONE_LAST + 1, CBI_RELOC_MERCURY_TYPES = 0x41 };
extern const cbi_reloc_type cbi_reloc_cuda[CBI_RELOC_CUDA_TYPES];
extern const cbi_reloc_type cbi_reloc_mercury[CBI_RELOC_MERCURY_TYPES];

/* The row of a type of either family, or NULL. */
static inline const cbi_reloc_type *cbi_reloc_find(uint32_t type)
{
    if (type < CBI_RELOC_CUDA_TYPES)
        return &cbi_reloc_cuda[type];
    if (type >= R_MERCURY_FIRST && type - R_MERCURY_FIRST < CBI_RELOC_MERCURY_TYPES)
        return &cbi_reloc_mercury[type - R_MERCURY_FIRST];
    return NULL;
}

/* Is it about the descriptor of a function, which then lives?  The pieces of a byte keep nothing.
 */
static inline bool cbi_keeps_function(uint32_t type)
{
    const cbi_reloc_type *row = cbi_reloc_find(type);
    return row && row->fields[0].width > 8 &&
           (row->fields[0].source == CBI_SRC_FUNC_DESC ||
            row->fields[0].source == CBI_SRC_FUNC_DESC_ADDRESS);
}

/* May an image be referred to by its slot with it? */
static inline bool cbi_is_texture_slot(uint32_t type)
{
    const cbi_reloc_type *row = cbi_reloc_find(type);
    return row && row->texture_slot;
}

/* Half of the address behind a call, which the driver fills in? */
static inline bool cbi_is_return_address(uint32_t type)
{
    return type == R_MERCURY_ABS_PROG_REL32_LO || type == R_MERCURY_ABS_PROG_REL32_HI;
}

/* Is its action CBI_RELOC_PROG_REL? */
bool cbi_is_prog_rel(uint32_t type);

/* Short text for a source, e.g. "V" or "bank". */
const char *cbi_reloc_source_name(uint8_t source);

#endif
