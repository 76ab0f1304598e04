/* What a link is made of: input objects, sections, symbols, functions, relocations, attribute
 * records.  Of each there can be a hundred thousand and more, so what few have lies behind
 * pointers.
 */
#ifndef CBI_LINK_RECORDS_H
#define CBI_LINK_RECORDS_H

#include "link/graph.h"
#include "link/stages.h"
#include "object/object.h"

typedef struct cbi_linker cbi_linker;               /* state.h */
typedef struct cbi_records TILL_LAYOUT cbi_records; /* the lists of them, state.h */
typedef struct cbi_osec cbi_osec; /* an output section: each member says until when it changes */
/* Of these all members change until the same stage. */
typedef struct cbi_lobj TILL_SYMBOLS cbi_lobj; /* an input object being linked */
typedef struct cbi_lsym TILL_SYMBOLS cbi_lsym; /* a symbol of the link */
typedef struct cbi_func TILL_SYMBOLS cbi_func; /* a function of the link */
typedef struct cbi_lrel cbi_lrel; /* a relocation of the link; spans of them are const */
typedef struct cbi_rec TILL_PROPAGATION cbi_rec; /* an EIATTR record of the link */

/* Bytes that an output section got from somewhere. */
typedef struct cbi_piece {
    union {
        cbi_span bytes; /* data NULL: zeros */
        struct {
            uint8_t *data;
            size_t size;
        } writable; /* own */
    };
    uint64_t offset : 63; /* in the output section */
    uint64_t own : 1;     /* the bytes are a copy for this piece, which may be written to */
} cbi_piece;

typedef struct cbi_range {
    uint64_t start, size;
} cbi_range;
typedef CBI_LIST(cbi_range) cbi_range_list;

/* A shared variable as one of its definitions has it: nvlink lays out each of them. */
typedef struct cbi_shared {
    const cbi_lsym *sym;
    uint64_t align;
    uint64_t placed_end; /* where it ends if ptxas -ewp has placed it; else 0 */
} cbi_shared;

/* Of a section of constants: the history of optimizer constants, whose function may have had
 * several copies, and where they went. */
typedef struct cbi_constants {
    uint64_t unshared_size;     /* of all inputs: the size without sharing, which places symbols */
    bool own_contents;          /* not only from copies that lost */
    bool emptied;               /* of a function that was replaced */
    bool orphan;                /* of copies that lost, before the function was replaced */
    bool kept_contents;         /* of replaced copies too, all from 0 on */
    cbi_range_list lost;        /* those of copies that lost */
    cbi_range_list covered;     /* what constants lie on, in order and apart: constants_overlap */
    uint64_t used_size;         /* up to the end of the last symbol */
    const cbi_lobj *emptied_by; /* whose copy of the function replaced them */
    const cbi_func_list *copied_to; /* the entries that got a copy */
    uint64_t copied_at;             /* ... and where in their banks */
} cbi_constants;

/* Of a section of shared memory. */
typedef struct cbi_shared_section {
    CBI_LIST(const cbi_shared *) variables; /* in order of appearance */
    const cbi_lsym *whole;                  /* of ptxas -ewp: all of it, the null symbol */
    uint64_t whole_align; /* of ptxas -ewp with dynamic memory only: its alignment */
    bool as_it_came;      /* of ptxas -ewp: of a kernel that is not wanted */
    uint64_t total;       /* what its variables take: -r plain sum, else end of the groups */
} cbi_shared_section;

/* Of these there are many: what few have lies behind pointers. */
struct cbi_osec {
    const cbi_name *TILL_LAYOUT name;
    uint32_t TILL_LAYOUT type; /* as in relocatables; executables change it when written */
    uint8_t TILL_LAYOUT
        info_registers;               /* .text: top byte of sh_info (register count below sm_90) */
    bool TILL_LAYOUT dead : 1;        /* of copies that were replaced; use cbi_is_dead() */
    bool TILL_LAYOUT contributed : 1; /* an input put something in, were it zero bytes */
    bool TILL_LAYOUT needed : 1;      /* of shared memory: it is written */
    bool TILL_LAYOUT rela_first : 1;  /* its relocations with addends came before those without */
    bool TILL_LAYOUT companion : 1;   /* for the texture table of a parameter bank */
    bool TILL_LAYOUT code : 1;        /* of its function */
    bool TILL_PATCHES copied : 1;     /* the contents are a copy, which may be written to */
    uint32_t TILL_LAYOUT number;      /* in order of creation, from 0 */
    uint64_t TILL_LAYOUT flags;
    uint64_t TILL_LAYOUT size; /* of what relocations can name; in the file: cbi_out_of() */
    uint64_t TILL_LAYOUT align;
    uint64_t TILL_LAYOUT entsize;
    CBI_LIST(cbi_piece TILL_LAYOUT) TILL_LAYOUT pieces;
    /* The contents once their size is fixed, where they lie in one place: an input's, or a copy.
     * NULL: they are the pieces. */
    union {
        const uint8_t *TILL_PATCHES bytes;
        uint8_t TILL_PATCHES *TILL_PATCHES writable; /* copied; use cbi_sec_writable() */
    };
    cbi_osec *TILL_LAYOUT target;       /* section that sh_info names */
    const cbi_func *TILL_LAYOUT func;   /* the function that the section belongs to, or NULL */
    const cbi_lsym *TILL_LAYOUT symbol; /* its STT_SECTION symbol */
    cbi_osec *TILL_LAYOUT rel, *TILL_LAYOUT rela; /* relocation sections with this target */
    /* Of a relocation section: the entries it keeps, in order; no items where its bytes have them
     * (cbi_link_pack_relocs). */
    CBI_LIST(const cbi_lrel *TILL_PATCHES) TILL_PATCHES relocs;
    cbi_constants TILL_LAYOUT *TILL_LAYOUT constants;   /* use cbi_constants_of() */
    cbi_shared_section TILL_LAYOUT *TILL_LAYOUT shared; /* use cbi_shared_of() */
};

enum { CBI_OBJECT_BITS = 24, CBI_OBJECTS_MAX = (1 << CBI_OBJECT_BITS) - 2 };

typedef enum cbi_sym_state {
    CBI_SYM_UNDEF,
    CBI_SYM_DEFINED,
    CBI_SYM_COMMON,
} cbi_sym_state;

/* Of a variable in shared memory, or a common one. */
typedef struct cbi_variable {
    uint64_t shared_align; /* of the first definition */
    uint64_t common_align; /* of the first common symbol */
    uint32_t listed;       /* how often it stands in a list of variables */
    uint32_t replaced_at;  /* number of the object that replaced a weak variable; 0: none */
} cbi_variable;

/* As the inputs have it; where the layout puts it is in cbi_placement.  Of these there are many:
 * what few have lies behind a pointer, and objects are numbers (cbi_obj_id). */
struct cbi_lsym {
    const cbi_name *name;
    cbi_osec *sec; /* when defined */
    uint64_t value;
    uint64_t size;
    cbi_func *func;                       /* for functions */
    cbi_variable TILL_SYMBOLS *variable;  /* use cbi_variable_of() */
    uint32_t number;                      /* in order of creation, from 0 */
    uint32_t first_obj : CBI_OBJECT_BITS; /* first object that mentions it */
    uint32_t info : 8;
    uint32_t def_obj : CBI_OBJECT_BITS; /* object whose definition counts */
    uint32_t other : 8;
    uint32_t named_obj : CBI_OBJECT_BITS; /* object that messages call the first one */
    uint32_t state : 2;                   /* cbi_sym_state */
    bool in_local_list : 1;
    bool is_section : 1;
    bool initialised : 1; /* defined in a section with bytes */
    bool dynamic : 1;     /* shared variable without a size of its own */
    bool common_pending : 1;
    bool internal : 1; /* st_other & 3 == STV_INTERNAL */
};

static inline bool cbi_is_weak(const cbi_lsym *sym)
{
    return CBI_ST_BIND(sym->info) == STB_WEAK;
}

/* The alignment of a variable whose own is not known. */
static inline uint64_t cbi_align_by_size(const cbi_lsym *sym)
{
    return sym->size < 8 ? sym->size : 8;
}

/* A texture, sampler or surface. */
static inline bool cbi_is_image_info(uint8_t info)
{
    return CBI_ST_TYPE(info) >= STT_CUDA_TEXTURE && CBI_ST_TYPE(info) <= STT_CUDA_SURFACE;
}

static inline bool cbi_is_image(const cbi_lsym *sym)
{
    return cbi_is_image_info(sym->info);
}

/* A texture that is a parameter of a kernel is in the table of no other. */
static inline bool cbi_has_image(const cbi_func *kernel, const cbi_lsym *image)
{
    return !image->sec || image->sec->func == kernel;
}

static inline bool cbi_is_shared_var(const cbi_lsym *sym)
{
    return !sym->is_section && !sym->func && (sym->other & STO_CUDA_SPACE) == STO_CUDA_SHARED;
}

/* The compiler's and the system's own variables in shared memory. */
static inline bool cbi_is_reserved_var(const cbi_lsym *sym)
{
    return !sym->is_section && !sym->func &&
           (sym->other & STO_CUDA_SPACE) == STO_CUDA_RESERVED_SHARED;
}

/* An object's copy of a function. */
typedef struct cbi_copy {
    cbi_lobj *obj;
    uint32_t sym; /* its symbol there */
} cbi_copy;

struct cbi_func {
    cbi_lsym *sym;
    uint32_t number;           /* position in function order, from 0 */
    uint16_t first_virtual_sm; /* PTX target of the first definition */
    bool entry;                /* a kernel that is wanted */
    bool for_driver;           /* has the name of one that the driver supplies */
    cbi_lobj *obj;             /* the object whose copy is linked; NULL while undefined */
    uint32_t in_sec;           /* its text section there */
    uint32_t in_sym;           /* its symbol there */
    cbi_osec *text;
    cbi_osec *info;
    cbi_osec *shared; /* entries */
    cbi_osec *constant0;
    cbi_osec *constant2;
    cbi_osec *old_constants; /* found first by nvlink: see empty_constants */
    cbi_func *alias_of;      /* owner of the text when this is an alias */
    CBI_LIST(cbi_copy TILL_SYMBOLS)
    replaced; /* copies that were linked for a while, oldest first */

    /* call graph */
    CBI_LIST(cbi_func *TILL_SYMBOLS) calls; /* -1, in reading order */
    CBI_LIST(const cbi_name *TILL_SYMBOLS)
    taken; /* -2: prototypes under which its address is taken */
    CBI_LIST(const cbi_name *TILL_SYMBOLS) indirect; /* -3: prototypes that it calls */
    CBI_LIST(cbi_func *TILL_SYMBOLS) takes;          /* -4: functions whose address it takes */
    const cbi_name *prototype;
};

/* A list of relocations; those of the Mercury view have the types of the others here. */
static inline bool cbi_is_reloc_list(const cbi_osec *sec)
{
    return sec->type == SHT_REL || sec->type == SHT_RELA || sec->type == SHT_CUDA_RESOLVED_RELA;
}

/* A kernel of the inputs, whether it is wanted or not. */
static inline bool cbi_is_kernel(const cbi_func *func)
{
    return func->sym->other & STO_CUDA_ENTRY;
}

/* Is the section its function's own code, for which sh_info names its symbol? */
static inline bool cbi_is_code(const cbi_osec *sec)
{
    return sec->code;
}

/* sm_100+: what a relocation of the Mercury view is on the SASS side. */
typedef struct cbi_sass_reloc {
    bool present;
    uint32_t type;
    uint64_t offset;
    int64_t addend;
} cbi_sass_reloc;

struct cbi_lrel {
    cbi_lobj *obj; /* NULL: the link's own */
    cbi_osec *target;
    uint64_t offset; /* in the output section */
    int64_t addend;
    const cbi_lsym *sym; /* NULL for symbol 0 */
    union {
        const cbi_sass_reloc *sass; /* of Mercury links; use cbi_sass_of() */
        uint64_t
            base; /* of others: of a section's symbol, where that lies; use cbi_section_base() */
    };
    uint32_t in_sym;    /* its symbol there; of a section's symbol the section */
    uint32_t type : 31; /* what is larger is CBI_NO_RELOC_TYPE */
    bool is_rela : 1;
};

#define CBI_NO_RELOC_TYPE 0x7fffffffu

/* An entry of the file; its symbol has that number. */
static inline void cbi_put_reloc(uint8_t *at, uint64_t size, const cbi_lrel *r, uint32_t symbol)
{
    cbi_st64(at, r->offset);
    cbi_st64(at + 8, (uint64_t)symbol << 32 | r->type);
    if (size == 24)
        cbi_st64(at + 16, (uint64_t)r->addend);
}

struct cbi_rec {
    uint32_t obj;  /* cbi_obj_id; 0: the link adds it */
    uint32_t func; /* of .nv.info.F: its number, from 1; 0: .nv.info; use cbi_rec_func() */
    union {        /* of format 4; use cbi_payload_of() */
        const uint8_t *payload;
        uint8_t bytes[8]; /* `here`: that fits, as most do */
    };
    union {
        const cbi_lsym *symbol;   /* has_symbol: word 0; NULL if it is none of the link's */
        const cbi_lsym **symbols; /* has_symbols: every word */
    };
    union {
        uint32_t size;         /* of the payload; format 4 */
        uint32_t symbol_count; /* EXTERNS */
    };
    uint16_t value; /* formats 1..3 */
    uint8_t code;
    uint8_t format : 4;
    bool here : 1;
    bool has_symbol : 1;
    bool has_symbols : 1;
    bool dead : 1; /* since the propagation: does not describe what is in the output */
};

/* What the record says, but for lists of symbols. */
static inline const uint8_t *cbi_payload_of(const cbi_rec *rec)
{
    return rec->here ? rec->bytes : rec->payload;
}

#if CBI_STAGE <= CBI_STAGE_PROPAGATION
static inline void cbi_set_payload(cbi_rec *rec, const uint8_t *payload, uint32_t size)
{
    rec->size = size;
    rec->here = size <= sizeof rec->bytes;
    if (size == 4)
        memcpy(rec->bytes, payload, 4);
    else if (size == 8)
        memcpy(rec->bytes, payload, 8);
    else if (!rec->here)
        rec->payload = payload;
    else if (size)
        memcpy(rec->bytes, payload, size);
}
#endif

/* Is it a list of symbols that code of the function refers to? */
static inline bool cbi_is_externs(const cbi_rec *rec)
{
    return rec->has_symbols;
}

typedef CBI_VEC(cbi_rec) cbi_rec_table; /* does not move behind the merge: others point into it */
typedef CBI_VEC(cbi_rec *TILL_PROPAGATION) cbi_rec_list;

/* What a function's own records say of it, and which of them entries take over. */
typedef struct cbi_properties {
    cbi_rec *regcount;
    CBI_LIST(cbi_rec *TILL_PROPAGATION)
    records; /* of codes that are handed on: its own and the added ones */
    uint32_t frame_size;
    uint32_t regs;
    uint32_t crs;
    uint32_t sam;         /* of what it calls, if it is an entry */
    uint32_t stack_limit; /* EIATTR_MAX_STACK_SIZE; 0: none */
    uint32_t max_regs;    /* MAXREG_COUNT, 0 = none */
    uint32_t obj;         /* cbi_obj_id of the copy that is linked; 0: undefined */
    bool crs_told;        /* a record has its CRS stack */
    bool barriers_told;   /* a record has its barriers, so the flags of its code do not */
    uint16_t mask;        /* EIATTR_SPARSE_MMA_MASK of its records */
    bool masked;          /* the inputs have such a record */
    bool inner;           /* cbi_is_inner() */
    bool stack_unknown;   /* EIATTR_MIN_STACK_SIZE of ptxas -ewp: recursion within the function */
} cbi_properties;

/* What became of a definition that is not linked. */
enum cbi_lost_how {
    CBI_NOT_LOST,
    CBI_LOST,     /* it never entered the link */
    CBI_REPLACED, /* it was replaced by a later copy, and its text had relocations */
};

/* Where an input section went. */
typedef struct cbi_secmap {
    cbi_osec *out; /* NULL: not mapped */
    uint64_t base;
    bool lost;          /* belongs to a function copy that lost */
    uint16_t name_len;  /* of the input section's name: see cbi_name_hash() */
    uint32_t name_hash; /* ... and its hash */
} cbi_secmap;

struct cbi_lobj {
    cbi_object object; /* what is linked: for sm_100+ the Mercury view */
    const char *file;
    uint32_t number; /* in the order of merging, from 0 */
    cbi_cuinfo cuinfo;
    cbi_span tkinfo;
    cbi_span compat;
    bool has_compat;
    const cbi_lsym *TILL_SYMBOLS *symbols; /* per input symbol */
    cbi_secmap TILL_SYMBOLS *sections;     /* per input section */
    uint8_t TILL_SYMBOLS *symbol_lost;     /* per input symbol: enum cbi_lost_how */
    uint32_t TILL_SYMBOLS *regs; /* per input symbol: register counts; NULL until needed */
    uint64_t TILL_SYMBOLS
        *banks; /* per input section: of code, its parameter bank's size; likewise */
    struct cbi_lost TILL_SYMBOLS
        *lost; /* byte ranges of weak objects that lost, by section then offset */
    size_t lost_count;
    bool ewp;
    bool device_runtime;
    bool no_code;                           /* see cbi_link_input */
    const struct cbi_mercury_view *mercury; /* sm_100+ */
    struct cbi_mapping *own;                /* see cbi_link_input */
};

/* By which number records know the object; NULL: 0. */
static inline uint32_t cbi_obj_id(const cbi_lobj *obj)
{
    return obj ? obj->number + 1 : 0;
}

typedef struct cbi_lost {
    uint32_t section;
    uint64_t start, end;
} cbi_lost;

/* ---- records.c ---- */
cbi_osec *cbi_sec_find(const cbi_linker *lk, const cbi_name *name);
/* Appends a section and its section symbol. */
cbi_osec *cbi_sec_create(const cbi_linker *lk, const cbi_name *name, uint32_t type, uint64_t flags,
                         uint64_t align, uint64_t entsize) NOT_AFTER_LAYOUT;
/* The same without the section symbol, for callers that must place it later. */
cbi_osec *cbi_sec_create_bare(const cbi_linker *lk, const cbi_name *name, uint32_t type,
                              uint64_t flags, uint64_t align, uint64_t entsize) NOT_AFTER_LAYOUT;
void cbi_sec_add_symbol(const cbi_linker *lk, cbi_osec *sec) NOT_AFTER_LAYOUT;
/* Append bytes at the section's alignment rules; returns the offset. */
uint64_t cbi_sec_append(const cbi_linker *lk, cbi_osec *sec, cbi_span bytes, uint64_t size,
                        uint64_t align) NOT_AFTER_LAYOUT;
/* What a section of constants, or of shared memory, has beside; all zero where there is none. */
extern const cbi_constants cbi_no_constants;
extern const cbi_shared_section cbi_no_shared;
static inline const cbi_constants *cbi_constants_of(const cbi_osec *sec)
{
    return sec->constants ? sec->constants : &cbi_no_constants;
}

static inline const cbi_shared_section *cbi_shared_of(const cbi_osec *sec)
{
    return sec->shared ? sec->shared : &cbi_no_shared;
}

/* ... for changing. */
cbi_constants *cbi_constants_in(const cbi_linker *lk, cbi_osec *sec) NOT_AFTER_LAYOUT;
cbi_shared_section *cbi_shared_in(const cbi_linker *lk, cbi_osec *sec) NOT_AFTER_LAYOUT;
/* The relocation section for what --preserve-relocs keeps of the target, or NULL. */
cbi_osec *cbi_resolved_of(const cbi_linker *lk, const cbi_osec *target);
/* After layout: refers to the contents where they lie, copies them where that is not enough. */
void cbi_sec_settle(const cbi_linker *lk, cbi_osec *sec) NOT_AFTER_PATCHES;
/* The contents in one place. */
const uint8_t *cbi_sec_bytes(const cbi_linker *lk, cbi_osec *sec) NOT_AFTER_PATCHES;
/* A copy of them. */
uint8_t *cbi_sec_copy(const cbi_linker *lk, const cbi_osec *sec);
/* ... for writing. */
uint8_t *cbi_sec_writable(const cbi_linker *lk, cbi_osec *sec) NOT_AFTER_PATCHES;
/* The section for its relocations without addends, or for those with; creates it when missing. */
cbi_osec *cbi_sec_rel(const cbi_linker *lk, cbi_osec *target, bool rela) NOT_AFTER_LAYOUT;
/* The same; a new one is called after another target. */
cbi_osec *cbi_sec_rel_named(const cbi_linker *lk, cbi_osec *target, bool rela,
                            const char *target_name) NOT_AFTER_LAYOUT;
/* For section symbols: where the object's contribution starts; else 0. */
static inline uint64_t cbi_section_base(const cbi_lrel *r)
{
    if (!r->sym || !r->sym->is_section)
        return 0;
    return r->obj->sections ? r->obj->sections[r->in_sym].base : r->base; /* NULL: spent */
}

/* --preserve-relocs: makes cbi_resolved_of(target). */
void cbi_sec_resolved(const cbi_linker *lk, cbi_osec *target) NOT_AFTER_LAYOUT;
cbi_lsym *cbi_sym_create(const cbi_linker *lk, const cbi_name *name, uint8_t info, uint8_t other,
                         bool local_list) NOT_AFTER_LAYOUT;
/* -r: a local symbol that stands for the dynamic shared variables of a function from `value` on. */
cbi_lsym *cbi_sym_create_dynamic(const cbi_linker *lk, const char *name,
                                 uint64_t value) NOT_AFTER_LAYOUT;
/* A record of the link's own, for .nv.info.F or (func NULL) .nv.info, behind those of the list. */
cbi_rec *cbi_rec_append(cbi_ctx *ctx, cbi_rec_list *list, const cbi_func *func, uint8_t format,
                        uint8_t code, uint16_t value);
/* The section in which the record stands; NULL for a function without attributes. */
cbi_osec *cbi_rec_stream(const cbi_linker *lk, const cbi_rec *rec);
/* Tables of unified functions and variables. */
static inline bool cbi_is_unified_table(uint32_t type)
{
    return type == SHT_CUDA_UFT_ENTRY || type == SHT_CUDA_UDT_ENTRY;
}
bool cbi_is_constant_type(uint32_t type);
/* The bank of __constant__ variables. */
bool cbi_is_user_constants(const cbi_osec *sec);
/* The bank of addresses of position-independent code. */
bool cbi_is_address_bank(uint32_t type);
/* The bank of compiler-generated constants. */
bool cbi_is_optimizer_type(uint32_t type);

/* What a variable has beside, all zero where there is nothing; and for changing. */
const cbi_variable *cbi_variable_of(const cbi_lsym *sym);
cbi_variable *cbi_variable_in(const cbi_linker *lk, cbi_lsym *sym) NOT_AFTER_SYMBOLS;

#endif
