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
    CBI_PAYLOAD_ANNOTATION,     /* u32 kind, u32 length, text */
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
    CBI_LINK_DROP,             /* removed from final links, kept by -r */
    CBI_LINK_REMAP,            /* symbol index translated */
    CBI_LINK_REMAP_OR_ZERO,    /* likewise, index 0 stays */
    CBI_LINK_FLAG,             /* present in a reached function: entry gets it */
    CBI_LINK_FLAG_TOOLKIT_130, /* likewise, if every input's toolkit is 13.0 or later */
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

/* How the finalizer of sm_100 and later makes the .nv.info record from the .nv.merc.nv.info one. */
typedef enum cbi_attr_finalize {
    CBI_FINALIZE_COPY,
    CBI_FINALIZE_DROP,
    CBI_FINALIZE_OFFSETS,      /* every word is a code offset to translate */
    CBI_FINALIZE_EVEN_OFFSETS, /* words 0, 2, 4, ... are */
    CBI_FINALIZE_RECOMPUTE,    /* value made anew, place kept */
    CBI_FINALIZE_REGENERATE,   /* appended anew */
} cbi_attr_finalize;

typedef struct cbi_eiattr {
    const char *name; /* "EIATTR_REGCOUNT" */
    uint8_t code;
    uint8_t format;   /* as ptxas writes it; 0 = never seen */
    uint8_t payload;  /* cbi_attr_payload */
    uint8_t symbols;  /* cbi_attr_symbols */
    uint8_t scope;    /* cbi_attr_scope */
    uint8_t link;     /* cbi_attr_link */
    uint8_t finalize; /* cbi_attr_finalize */
    bool seen;        /* a tool of CUDA 13.0 writes it; else the name alone is public */
} cbi_eiattr;

extern const cbi_eiattr cbi_eiattrs[];
extern const size_t cbi_eiattr_count;

/* The row of a code, or NULL for codes that have no name. */
const cbi_eiattr *cbi_eiattr_find(uint8_t code);

#endif
