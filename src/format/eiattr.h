/* The attributes of .nv.info sections (EIATTR): one row per code. */
#ifndef CBI_EIATTR_H
#define CBI_EIATTR_H

#include "base/base.h"

/* Wire formats of EIATTR and EICOMPAT records. */
enum {
    CBI_ATTR_NONE = 1,  /* no value */
    CBI_ATTR_BYTE = 2,  /* value in byte 2 */
    CBI_ATTR_HALF = 3,  /* value in bytes 2 and 3 */
    CBI_ATTR_SIZED = 4, /* bytes 2 and 3 give the size of the payload that follows */
};

/* Attribute codes. */
enum {
    EIATTR_ERROR = 0x00,
    EIATTR_PAD = 0x01,
    EIATTR_IMAGE_SLOT = 0x02,
    EIATTR_JUMPTABLE_RELOCS = 0x03,
    EIATTR_CTAIDZ_USED = 0x04,
    EIATTR_MAX_THREADS = 0x05,
    EIATTR_IMAGE_OFFSET = 0x06,
    EIATTR_IMAGE_SIZE = 0x07,
    EIATTR_TEXTURE_NORMALIZED = 0x08,
    EIATTR_SAMPLER_INIT = 0x09,
    EIATTR_PARAM_CBANK = 0x0a,
    EIATTR_SMEM_PARAM_OFFSETS = 0x0b,
    EIATTR_CBANK_PARAM_OFFSETS = 0x0c,
    EIATTR_SYNC_STACK = 0x0d,
    EIATTR_TEXID_SAMPID_MAP = 0x0e,
    EIATTR_EXTERNS = 0x0f,
    EIATTR_REQNTID = 0x10,
    EIATTR_FRAME_SIZE = 0x11,
    EIATTR_MIN_STACK_SIZE = 0x12,
    EIATTR_SAMPLER_FORCE_UNNORMALIZED = 0x13,
    EIATTR_BINDLESS_IMAGE_OFFSETS = 0x14,
    EIATTR_BINDLESS_TEXTURE_BANK = 0x15,
    EIATTR_BINDLESS_SURFACE_BANK = 0x16,
    EIATTR_KPARAM_INFO = 0x17,
    EIATTR_SMEM_PARAM_SIZE = 0x18,
    EIATTR_CBANK_PARAM_SIZE = 0x19,
    EIATTR_QUERY_NUMATTRIB = 0x1a,
    EIATTR_MAXREG_COUNT = 0x1b,
    EIATTR_EXIT_INSTR_OFFSETS = 0x1c,
    EIATTR_S2RCTAID_INSTR_OFFSETS = 0x1d,
    EIATTR_CRS_STACK_SIZE = 0x1e,
    EIATTR_NEED_CNP_WRAPPER = 0x1f,
    EIATTR_NEED_CNP_PATCH = 0x20,
    EIATTR_EXPLICIT_CACHING = 0x21,
    EIATTR_ISTYPEP_USED = 0x22,
    EIATTR_MAX_STACK_SIZE = 0x23,
    EIATTR_SUQ_USED = 0x24,
    EIATTR_LD_CACHEMOD_INSTR_OFFSETS = 0x25,
    EIATTR_LOAD_CACHE_REQUEST = 0x26,
    EIATTR_ATOM_SYS_INSTR_OFFSETS = 0x27,
    EIATTR_COOP_GROUP_INSTR_OFFSETS = 0x28,
    EIATTR_COOP_GROUP_MASK_REGIDS = 0x29,
    EIATTR_SW1850030_WAR = 0x2a,
    EIATTR_WMMA_USED = 0x2b,
    EIATTR_HAS_PRE_V10_OBJECT = 0x2c,
    EIATTR_ATOMF16_EMUL_INSTR_OFFSETS = 0x2d,
    EIATTR_ATOM16_EMUL_INSTR_REG_MAP = 0x2e,
    EIATTR_REGCOUNT = 0x2f,
    EIATTR_SW2393858_WAR = 0x30,
    EIATTR_INT_WARP_WIDE_INSTR_OFFSETS = 0x31,
    EIATTR_SHARED_SCRATCH = 0x32,
    EIATTR_STATISTICS = 0x33,
    EIATTR_INDIRECT_BRANCH_TARGETS = 0x34,
    EIATTR_SW2861232_WAR = 0x35,
    EIATTR_SW_WAR = 0x36,
    EIATTR_CUDA_API_VERSION = 0x37,
    EIATTR_NUM_MBARRIERS = 0x38,
    EIATTR_MBARRIER_INSTR_OFFSETS = 0x39,
    EIATTR_COROUTINE_RESUME_OFFSETS = 0x3a,
    EIATTR_SAM_REGION_STACK_SIZE = 0x3b,
    EIATTR_PER_REG_TARGET_PERF_STATS = 0x3c,
    EIATTR_CTA_PER_CLUSTER = 0x3d,
    EIATTR_EXPLICIT_CLUSTER = 0x3e,
    EIATTR_MAX_CLUSTER_RANK = 0x3f,
    EIATTR_INSTR_REG_MAP = 0x40,
    EIATTR_RESERVED_SMEM_USED = 0x41,
    EIATTR_RESERVED_SMEM_0_SIZE = 0x42,
    EIATTR_UCODE_SECTION_DATA = 0x43,
    EIATTR_UNUSED_LOAD_BYTE_OFFSET = 0x44,
    EIATTR_KPARAM_INFO_V2 = 0x45,
    EIATTR_SYSCALL_OFFSETS = 0x46,
    EIATTR_SW_WAR_MEMBAR_SYS_INSTR_OFFSETS = 0x47,
    EIATTR_GRAPHICS_GLOBAL_CBANK = 0x48,
    EIATTR_SHADER_TYPE = 0x49,
    EIATTR_VRC_CTA_INIT_COUNT = 0x4a,
    EIATTR_TOOLS_PATCH_FUNC = 0x4b,
    EIATTR_NUM_BARRIERS = 0x4c,
    EIATTR_TEXMODE_INDEPENDENT = 0x4d,
    EIATTR_PERF_STATISTICS = 0x4e,
    EIATTR_AT_ENTRY_FRAGEMENTS = 0x4f,
    EIATTR_SPARSE_MMA_MASK = 0x50,
    EIATTR_TCGEN05_1CTA_USED = 0x51,
    EIATTR_TCGEN05_2CTA_USED = 0x52,
    EIATTR_GEN_ERRBAR_AT_EXIT = 0x53,
    EIATTR_REG_RECONFIG = 0x54,
    EIATTR_ANNOTATIONS = 0x55,
    EIATTR_UNKNOWN = 0x56,
    EIATTR_STACK_CANARY_TRAP_OFFSETS = 0x57,
    EIATTR_STUB_FUNCTION_KIND = 0x58,
    EIATTR_LOCAL_CTA_ASYNC_STORE_OFFSETS = 0x59,
    EIATTR_MERCURY_FINALIZER_OPTIONS = 0x5a,
    EIATTR_BLOCKS_ARE_CLUSTERS = 0x5b,
    EIATTR_SANITIZE = 0x5c,
    EIATTR_SYSCALLS_FALLBACK = 0x5d,
    EIATTR_CUDA_REQ = 0x5e,
    EIATTR_MERCURY_ISA_VERSION = 0x5f,
    EIATTR_ERROR_LAST = 0x60,
    CBI_EIATTR_CODES,
};

/* How a payload (or the value of formats 2 and 3) reads. */
typedef enum cbi_attr_payload {
    CBI_PAYLOAD_OPAQUE,
    CBI_PAYLOAD_NONE,
    CBI_PAYLOAD_NUMBER,         /* the value of format 2 or 3 */
    CBI_PAYLOAD_WORDS,          /* u32[] */
    CBI_PAYLOAD_DIM3,           /* u32 x, y, z */
    CBI_PAYLOAD_SYM_VALUE,      /* u32 symbol, u32 value */
    CBI_PAYLOAD_SYMBOLS,        /* u32 symbol[] */
    CBI_PAYLOAD_OFFSETS,        /* u32 code offset[] */
    CBI_PAYLOAD_OFFSET_PAIRS,   /* (u32 code offset, u32 value)[] */
    CBI_PAYLOAD_PARAM_CBANK,    /* u32 section symbol, u16 offset in bank 0, u16 size */
    CBI_PAYLOAD_KPARAM,         /* one parameter, 12 bytes */
    CBI_PAYLOAD_KPARAM_V2,      /* one parameter, 12 bytes, large parameter areas */
    CBI_PAYLOAD_BRANCH_TARGETS, /* u32 branch offset, u32 0, u32 n, u32 target[n] */
    CBI_PAYLOAD_MBARRIERS,      /* (u32 offset, u32, u32, u32)[] */
    CBI_PAYLOAD_REG_MAPS,       /* (u32 code offset, u32 registers, u32 mask)[] */
    CBI_PAYLOAD_ANNOTATION,     /* u32 kind, u32 length, text */
    CBI_PAYLOAD_KINDS
} cbi_attr_payload;

/* Which words of the payload are symbol indices. */
typedef enum cbi_attr_symbols {
    CBI_SYMBOLS_NONE,
    CBI_SYMBOLS_WORD0,
    CBI_SYMBOLS_EVERY_WORD,
} cbi_attr_symbols;

/* Where ptxas puts the record. */
typedef enum cbi_attr_scope {
    CBI_SCOPE_EITHER,
    CBI_SCOPE_MODULE,   /* .nv.info */
    CBI_SCOPE_FUNCTION, /* .nv.info.<function> */
} cbi_attr_scope;

/* What a final link does with the record of a function f, and what an entry gets from the
 * functions it reaches.  A record whose symbol is gone is always deleted. */
typedef enum cbi_attr_link {
    CBI_LINK_COPY,
    CBI_LINK_DELETE,           /* always removed */
    CBI_LINK_STACK_LIMIT,      /* bound of what an entry needs; removed from final links */
    CBI_LINK_REMAP,            /* symbol index translated */
    CBI_LINK_REMAP_OR_ZERO,    /* likewise, index 0 stays */
    CBI_LINK_FLAG,             /* present in a reached function: entry gets it */
    CBI_LINK_GRANULARITY,      /* likewise; an entry with records of two codes is refused */
    CBI_LINK_LAST_VALUE,       /* entry gets the value of the last holder in input order */
    CBI_LINK_MAX,              /* entry gets the maximum */
    CBI_LINK_SUM,              /* entry gets the sum over distinct functions, 0xffff absorbs */
    CBI_LINK_MASK,             /* entry gets the OR; functions without one count as 0x8000 */
    CBI_LINK_MOVE,             /* entry gets the union, functions lose theirs */
    CBI_LINK_EXTERNS,          /* undefined symbols only; entry gets the union */
    CBI_LINK_CRS_STACK,        /* entry gets the largest path sum */
    CBI_LINK_SYNC_STACK,       /* counts as CRS_STACK of a function */
    CBI_LINK_FRAME,            /* source of MIN_STACK_SIZE */
    CBI_LINK_MIN_STACK,        /* one computed record per entry */
    CBI_LINK_REGION_MAX,       /* one record with the maximum per entry */
    CBI_LINK_REGISTERS,        /* entry gets the maximum, bounded by MAXREG_COUNT */
    CBI_LINK_MAX_REGISTERS,    /* bound for CBI_LINK_REGISTERS */
    CBI_LINK_CACHE_PREFERENCE, /* turns into EXPLICIT_CACHING of the entry */
} cbi_attr_link;

/* How the finalizer of sm_100 and later makes the .nv.info record from the .nv.merc.nv.info one.
 * Which words of a payload are places of code, and move with it, follows from the payload. */
typedef enum cbi_attr_finalize {
    CBI_FINALIZE_COPY, /* with the payload of the object's SASS side, if that has the record */
    CBI_FINALIZE_DROP, /* of the Mercury side alone */
    CBI_FINALIZE_TAIL, /* of the SASS side alone: taken from there, behind all others */
} cbi_attr_finalize;

typedef struct cbi_eiattr {
    const char *name; /* "EIATTR_REGCOUNT" */
    uint8_t code;
    uint8_t format;   /* as tools of CUDA 13.0 write it; 0: none does, the name alone is public */
    uint8_t payload;  /* cbi_attr_payload */
    uint8_t symbols;  /* cbi_attr_symbols */
    uint8_t scope;    /* cbi_attr_scope */
    uint8_t link;     /* cbi_attr_link */
    uint8_t finalize; /* cbi_attr_finalize */
} cbi_eiattr;

extern const cbi_eiattr cbi_eiattrs[CBI_EIATTR_CODES];

/* The row of a code, or NULL for codes that have no name. */
static inline const cbi_eiattr *cbi_eiattr_find(uint8_t code)
{
    return code < CBI_EIATTR_CODES ? &cbi_eiattrs[code] : NULL; /* rows are dense from code 0 */
}

/* The row of a code that has no name is the first kind in every column. */
extern const cbi_eiattr cbi_eiattr_unknown;
static inline const cbi_eiattr *cbi_eiattr_row(uint8_t code)
{
    return code < CBI_EIATTR_CODES ? &cbi_eiattrs[code] : &cbi_eiattr_unknown;
}

/* How large payloads of a kind are. */
typedef struct cbi_payload_size {
    uint8_t least;
    uint8_t step; /* what is more comes in steps of that; 0: there is no more */
    bool at_code; /* a step is a record that begins with a code offset */
} cbi_payload_size;
extern const cbi_payload_size cbi_payload_sizes[CBI_PAYLOAD_KINDS];

/* Has a record the format of its code, and with CBI_ATTR_SIZED a payload size that suits? */
static inline bool cbi_eiattr_fits(const cbi_eiattr *row, uint8_t format, size_t size)
{
    if (!row->format)
        return true;
    if (format != row->format || format != CBI_ATTR_SIZED)
        return format == row->format;
    const cbi_payload_size *want = &cbi_payload_sizes[row->payload];
    return size == want->least || (want->step && size >= want->least && size % want->step == 0);
}

/* Bytes per record of a payload whose records begin with a code offset each; 0 for other kinds. */
size_t cbi_payload_step(uint8_t payload);

/* Columns of a code; those of codes without a name are the first of each kind. */
static inline cbi_attr_link cbi_eiattr_link(uint8_t code)
{
    return code < CBI_EIATTR_CODES ? cbi_eiattrs[code].link : CBI_LINK_COPY;
}

static inline cbi_attr_finalize cbi_eiattr_finalize(uint8_t code)
{
    return code < CBI_EIATTR_CODES ? cbi_eiattrs[code].finalize : CBI_FINALIZE_COPY;
}

static inline cbi_attr_symbols cbi_eiattr_symbols(uint8_t code)
{
    return code < CBI_EIATTR_CODES ? cbi_eiattrs[code].symbols : CBI_SYMBOLS_NONE;
}

#endif
