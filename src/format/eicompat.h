/* The attributes of .nv.compat sections (EICOMPAT): one row per id. */
#ifndef CBI_EICOMPAT_H
#define CBI_EICOMPAT_H

#include "base/base.h"

/* Ids that code asks for by name. */
enum {
    EICOMPAT_ISA_CLASS = 0x02,
    EICOMPAT_INST_TCGEN05_MMA = 0x05,
    EICOMPAT_ENABLE_OPPORTUNISTIC_FINALIZATION = 0x06,
    EICOMPAT_MERCURY_ISA_VERSION = 0x07,
    EICOMPAT_CUDA_ACCELERATOR_TARGET = 0x09,
    EICOMPAT_CAN_FASTPATH_FINALIZE = 0x0b,
};

/* How a link joins the values of its inputs. */
typedef enum cbi_compat_merge {
    CBI_COMPAT_IGNORE,       /* input records are dropped */
    CBI_COMPAT_CLASS,        /* 0 if either is 0, else the maximum */
    CBI_COMPAT_OR,           /* bitwise or */
    CBI_COMPAT_FIELDS,       /* low nibble: CLASS per 2-bit field; high nibble of the first input */
    CBI_COMPAT_EQUAL_OR_ONE, /* kept if equal, else 1 */
    CBI_COMPAT_MAX,          /* unsigned maximum */
    CBI_COMPAT_TARGET,       /* from the target: 1 if its name ends in 'a' */
    CBI_COMPAT_CAPABILITIES, /* computed by the finalizer */
} cbi_compat_merge;

typedef struct cbi_eicompat {
    const char *name;
    uint8_t id;
    uint8_t format; /* wire format, 0 = never seen */
    uint8_t merge;  /* cbi_compat_merge */
    bool has_default;
    uint16_t default_value; /* joined in for an input that has .nv.compat but lacks the id */
} cbi_eicompat;

extern const cbi_eicompat cbi_eicompats[];
extern const size_t cbi_eicompat_count;

/* The row of an id, or NULL for ids without a name. */
const cbi_eicompat *cbi_eicompat_find(uint8_t id);

#endif
