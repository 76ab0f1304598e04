/* State of one link, shared by the passes.
 *
 * Each pass fills its part and later passes only read it.  The pass list is in link.c; the rules
 * and the experiments behind them are in docs/link-semantics.md.
 */
#ifndef CBI_LINK_STATE_H
#define CBI_LINK_STATE_H

#include "link/failures.h"
#include "link/graph.h"
#include "link/link.h"
#include "object/object.h"

typedef struct cbi_lobj cbi_lobj; /* an input object being linked */
typedef struct cbi_osec cbi_osec; /* an output section */
typedef struct cbi_lsym cbi_lsym; /* a symbol of the link */
typedef struct cbi_func cbi_func; /* a function of the link */
typedef struct cbi_lrel cbi_lrel; /* a relocation of the link */
typedef struct cbi_rec cbi_rec;   /* an EIATTR record of the link */

/* Bytes that an output section got from somewhere. */
typedef struct cbi_piece {
    cbi_span bytes;  /* data NULL: zeros */
    uint64_t offset; /* in the output section */
} cbi_piece;

typedef struct cbi_range {
    uint64_t start, size;
} cbi_range;

/* A shared variable as one of its definitions has it: nvlink lays out each of them. */
typedef struct cbi_shared {
    cbi_lsym *sym;
    uint64_t align;
} cbi_shared;

/* Of a section of constants: the history of optimizer constants, whose function may have had
 * several copies, and where they went. */
typedef struct cbi_constants {
    uint64_t unshared_size;     /* of all inputs: the size without sharing, which places symbols */
    bool own_contents;          /* not only from copies that lost */
    bool emptied;               /* of a function that was replaced */
    bool orphan;                /* of copies that lost, before the function was replaced */
    bool kept_contents;         /* of replaced copies too, all from 0 on */
    CBI_LIST(cbi_range) lost;   /* those of copies that lost */
    uint64_t used_size;         /* up to the end of the last symbol */
    const cbi_lobj *emptied_by; /* whose copy of the function replaced them */
    const cbi_func_list *spread_to; /* the entries that got a copy */
    uint64_t spread_offset;         /* ... and where in their banks */
} cbi_constants;

/* Of a section of shared memory. */
typedef struct cbi_shared_section {
    CBI_LIST(cbi_shared *) variables; /* in order of appearance */
    cbi_lsym *whole;                  /* of ptxas -ewp: all of it, the null symbol */
    uint64_t whole_align;             /* of ptxas -ewp with dynamic memory only: its alignment */
    uint64_t total; /* what its variables take: -r plain sum, else end of the groups */
} cbi_shared_section;

/* Of these there are many: what few have lies behind pointers. */
struct cbi_osec {
    const cbi_name *name;
    uint32_t type;        /* as in relocatables; executables change it when written */
    uint8_t info_top;     /* .text: top byte of sh_info (register count below sm_90) */
    bool dead : 1;        /* removed with its function: the name vanishes */
    bool contributed : 1; /* an input put something in, were it zero bytes */
    bool emitted : 1;
    bool rela_first : 1; /* its relocations with addends came before those without */
    bool companion : 1;  /* for the texture table of a parameter bank */
    uint32_t index;      /* in the output; valid when emitted */
    uint32_t number;     /* in order of creation, from 0 */
    uint64_t flags;
    uint64_t size;
    uint64_t offset;
    uint64_t align;
    uint64_t entsize;
    CBI_LIST(cbi_piece) pieces;
    const uint8_t *bytes; /* the contents once layout has fixed the size, where they lie in one
                             place: an input's, or the copy.  NULL: they are the pieces */
    uint8_t *copy;        /* to be written to, or NULL */
    cbi_osec *target;     /* section that sh_info names */
    cbi_func *func;       /* the function that the section belongs to, or NULL */
    cbi_lsym *symbol;     /* its STT_SECTION symbol */
    cbi_osec *rel, *rela; /* relocation sections with this target */
    CBI_LIST(cbi_lrel *) relocs; /* of a relocation section: the entries it keeps, in order */
    cbi_constants *constants;    /* use cbi_constants_of() */
    cbi_shared_section *shared;  /* use cbi_shared_of() */
};

typedef enum cbi_sym_state {
    CBI_SYM_UNDEF,
    CBI_SYM_DEFINED,
    CBI_SYM_COMMON,
} cbi_sym_state;

/* Of a variable in shared memory, a common one, or a texture, sampler or surface. */
typedef struct cbi_variable {
    uint64_t shared_align;      /* of the first definition */
    uint64_t common_align;      /* of the first common symbol */
    uint64_t slot;              /* of an image: offset in bank 0; sm_100+: in the table */
    CBI_LIST(cbi_func *) users; /* functions whose text refers to it */
    uint32_t listed;            /* how often it stands in a list of variables */
    bool has_slot;
    bool unplaced; /* shared: dynamic and reached by no entry, its value is no address */
} cbi_variable;

/* Of these there are many: what few have lies behind a pointer. */
struct cbi_lsym {
    const cbi_name *name;
    cbi_osec *sec; /* when defined */
    uint64_t value;
    uint64_t size;
    cbi_func *func;            /* for functions */
    cbi_lobj *first_obj;       /* first object that mentions it */
    cbi_lobj *def_obj;         /* object whose definition counts */
    const cbi_lobj *named_obj; /* object that messages call the first one */
    cbi_variable *variable;    /* use cbi_variable_of() */
    uint32_t index;            /* in the output */
    uint32_t replaced_at;      /* number of the object that replaced a weak variable; 0: none */
    uint8_t info;
    uint8_t other;
    uint8_t state; /* cbi_sym_state */
    bool in_local_list : 1;
    bool is_section : 1;
    bool removed : 1;     /* dead function, pruned, unused shared variable */
    bool emitted : 1;     /* has an entry in the output symbol table */
    bool initialised : 1; /* defined in a section with bytes */
    bool dynamic : 1;     /* shared variable without a size of its own */
    bool common_pending : 1;
    bool internal : 1; /* st_other & 3 == STV_INTERNAL */
    bool recorded : 1; /* --preserve-relocs names it */
    bool spread : 1;   /* an optimizer constant that moved into the banks of entries */
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
static inline bool cbi_is_image(const cbi_lsym *sym)
{
    uint8_t type = CBI_ST_TYPE(sym->info);
    return type >= STT_CUDA_TEXTURE && type <= STT_CUDA_SURFACE;
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
    bool entry : 1;
    bool live : 1;
    bool reached : 1; /* live through a call path from an entry */
    bool pruned : 1;  /* a kernel that nothing wants or takes the address of, but that stays */
    bool address_taken : 1;
    bool desc_used : 1;
    bool uses_dynamic : 1; /* shared memory */
    bool has_images : 1;
    cbi_lobj *obj;   /* the object whose copy is linked; NULL while undefined */
    uint32_t in_sec; /* its text section there */
    uint32_t in_sym; /* its symbol there */
    cbi_osec *text;
    cbi_osec *info;
    cbi_osec *shared; /* entries */
    cbi_osec *constant0;
    cbi_osec *constant2;
    cbi_osec *old_constants;     /* found first by nvlink: see empty_constants */
    cbi_func *alias_of;          /* owner of the text when this is an alias */
    CBI_LIST(cbi_copy) replaced; /* copies that were linked for a while, oldest first */

    /* call graph */
    CBI_LIST(cbi_func *) calls;          /* -1, in reading order */
    CBI_LIST(const cbi_name *) taken;    /* -2: prototypes under which its address is taken */
    CBI_LIST(const cbi_name *) indirect; /* -3: prototypes that it calls */
    CBI_LIST(cbi_func *) takes;          /* -4: functions whose address it takes */
    const cbi_name *prototype;

    /* properties of its own, filled by the propagation */
    cbi_rec *regcount;
    uint32_t frame_size;
    uint32_t own_regs;
    uint32_t own_crs;
    uint32_t own_sam;     /* of what it calls, if it is an entry */
    uint32_t stack_limit; /* EIATTR_MAX_STACK_SIZE; 0: none */
    uint32_t max_regs;    /* MAXREG_COUNT, 0 = none */

    /* shared memory */
    cbi_func_list itself; /* entries: a list of that one */
    cbi_func *dyn_set;    /* entries: union-find parent */
    uint64_t dyn_offset;
    cbi_lsym *dyn_instance; /* -r: the symbol that stands for the dynamic variables */

    cbi_osec *image_table;       /* sm_100+ */
    CBI_LIST(cbi_rec *) records; /* propagated attributes: its own records and the appended ones */
};

/* The function's own code, for which sh_info names its symbol. */
static inline bool cbi_is_code_of(const cbi_osec *sec, const cbi_func *func)
{
    return func && func->text == sec;
}

/* A function that ptxas -ewp has put into a kernel's code. */
static inline bool cbi_is_inner(const cbi_func *f)
{
    return f->alias_of && f->alias_of->entry;
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
    cbi_lsym *sym;              /* NULL for symbol 0 */
    const cbi_sass_reloc *sass; /* of Mercury links; use cbi_sass_of() */
    uint32_t in_sym;
    uint32_t type : 31; /* what is larger is CBI_NO_RELOC_TYPE */
    bool is_rela : 1;
};

#define CBI_NO_RELOC_TYPE 0x7fffffffu

struct cbi_rec {
    cbi_lobj *obj;  /* NULL for records that the link adds */
    cbi_func *func; /* of .nv.info.F; NULL for .nv.info */
    const uint8_t *payload;
    union {
        cbi_lsym *symbol;   /* has_symbol: word 0; NULL if it is none of the link's */
        cbi_lsym **symbols; /* has_symbols: every word */
    };
    union {
        uint32_t size;         /* of the payload; format 4 */
        uint32_t symbol_count; /* EXTERNS */
    };
    uint16_t value; /* formats 1..3 */
    uint8_t code;
    uint8_t format : 5;
    bool has_symbol : 1;
    bool has_symbols : 1;
    bool dead : 1; /* since the propagation: does not describe what is in the output */
};

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
    bool lost; /* belongs to a function copy that lost */
} cbi_secmap;

struct cbi_lobj {
    cbi_object object; /* what is linked: for sm_100+ the Mercury view */
    const char *file;
    uint32_t number; /* in the order of merging, from 0 */
    cbi_cuinfo cuinfo;
    cbi_span tkinfo;
    cbi_span compat;
    bool has_compat;
    cbi_lsym **symbols;    /* per input symbol */
    cbi_secmap *sections;  /* per input section */
    uint8_t *symbol_lost;  /* per input symbol: enum cbi_lost_how */
    uint32_t *regs;        /* per input symbol: 0x2f records; NULL until needed */
    struct cbi_lost *lost; /* byte ranges of weak objects that lost, by section then offset */
    size_t lost_count;
    bool ewp;
    bool device_runtime;
    const struct cbi_mercury_view *mercury; /* sm_100+ */
};

typedef struct cbi_lost {
    uint32_t section;
    uint64_t start, end;
} cbi_lost;

typedef struct cbi_linker {
    cbi_ctx *ctx;
    const cbi_link_options *opt;
    bool exec;               /* final link */
    bool shows_debug;        /* -g that is not taken back by -suppress-debug-info */
    bool mercury;            /* sm_100+: the link runs on the Mercury view */
    bool sm90plus;           /* sm_90 and later */
    bool prune;              /* kernels are removed by -kernels-used or -variables-used */
    bool merge_constants;    /* kernels are removed: equal constant banks of objects are shared */
    cbi_map constant_pieces; /* ... contents -> cbi_piece that was kept */
    const cbi_piece *last_shared_constant;
    bool eliminate;        /* dead code elimination runs */
    bool runtime_left_out; /* libcudadevrt was not needed where it stood */

    cbi_lobj **objs;
    size_t obj_count;
    CBI_VEC(cbi_lobj *) unused; /* libcudadevrt, when nothing needs it */
    size_t similar_searches;    /* for names like an undefined one */
    cbi_map cycle_texts;        /* component -> the recursion in it, for messages */

    cbi_pool sec_pool, sym_pool, func_pool, rec_pool;
    CBI_VEC(cbi_osec *) secs; /* creation order */
    size_t fixed_secs;        /* of these the first, which every link has */
    cbi_name_table sec_by_name;
    CBI_VEC(cbi_lsym *) locals;
    CBI_VEC(cbi_lsym *) globals;
    cbi_name_table sym_by_name;
    CBI_VEC(cbi_func *) funcs;
    CBI_VEC(cbi_lrel) rels;           /* reading order; processed backwards */
    CBI_VEC(cbi_rec) recs;            /* reading order; printed backwards; never moves */
    CBI_VEC(cbi_rec *) added_recs;    /* added by the link; printed forwards */
    CBI_VEC(const cbi_name *) protos; /* interned prototype strings, in order */
    cbi_map proto_seen;
    cbi_map resolved;             /* section -> its relocation section for --preserve-relocs */
    CBI_VEC(cbi_lsym *) commons;  /* pending, oldest first */
    CBI_VEC(cbi_shared *) shared; /* variables of .nv_debug.shared in order of appearance */
    CBI_VEC(cbi_lsym *) constant_sizes; /* all of the name .nv.ptx.const0.size */
    CBI_VEC(cbi_lsym *) images;         /* textures, samplers, surfaces in symbol order */

    cbi_osec *shstrtab, *strtab, *symtab, *tkinfo, *cuinfo, *info, *compat, *uidx, *host;
    cbi_osec *callgraph, *prototype, *rel_action;
    cbi_osec *global, *debug_shared;
    bool dynamic_recorded; /* --preserve-relocs: also of dynamic shared variables nobody reaches */
    cbi_failure_list failures;  /* noticed, and not reported yet */
    uint64_t null_symbol_value; /* accidental: see layout_data.c, merge_constant_bank */

    /* graph results */
    const cbi_calls *calls;
    const cbi_components *components;
    const cbi_usage *usage;                 /* by node */
    const cbi_func_list *const *entries_of; /* by component; use cbi_entries_reaching() */
    cbi_func_list entries;                  /* live entries, function order */
    cbi_func *only_entry; /* the one kernel that is wanted, or NULL when there are more or none */

    /* output */
    CBI_VEC(cbi_osec *) out; /* emitted sections by index, [0] = NULL */
    cbi_buf shstr, str;
    uint32_t *shstr_offsets, *str_offsets; /* by name id */
    uint64_t shoff;
    uint32_t first_global;
    CBI_VEC(cbi_lsym *) out_symbols; /* by index, [0] = NULL */

    uint64_t images_start;          /* sm_100+: of texture tables in bank 0 */
    struct cbi_mercury_state *merc; /* sm_100+ */
    uint32_t tcgen05_toolkit;       /* 12 or 13, once code that uses tcgen05 was read */
    bool seen_plain;                /* an input without a Mercury view was read */
    bool seen_mercury;              /* an input had a Mercury view */
    bool seen_ewp;                  /* an input came from ptxas -ewp; later ones must be new */
    const char *unmarked;           /* first input whose e_flags name no kind, or NULL */
} cbi_linker;

/* ---- admit.c: read the inputs and refuse what does not fit the target ---- */
bool cbi_link_has_plain(const cbi_link_input *inputs, size_t count);
void cbi_link_admit(cbi_linker *lk, const cbi_link_input *inputs, size_t count);

/* ---- state.c: records of the state ---- */
cbi_osec *cbi_sec_find(cbi_linker *lk, const cbi_name *name);
/* Appends a section and its section symbol. */
cbi_osec *cbi_sec_create(cbi_linker *lk, const cbi_name *name, uint32_t type, uint64_t flags,
                         uint64_t align, uint64_t entsize);
/* The same without the section symbol, for callers that must place it later. */
cbi_osec *cbi_sec_create_bare(cbi_linker *lk, const cbi_name *name, uint32_t type, uint64_t flags,
                              uint64_t align, uint64_t entsize);
void cbi_sec_add_symbol(cbi_linker *lk, cbi_osec *sec);
/* Append bytes at the section's alignment rules; returns the offset. */
uint64_t cbi_sec_append(cbi_linker *lk, cbi_osec *sec, cbi_span bytes, uint64_t size,
                        uint64_t align);
/* What a section of constants, or of shared memory, has beside; all zero where there is none. */
const cbi_constants *cbi_constants_of(const cbi_osec *sec);
const cbi_shared_section *cbi_shared_of(const cbi_osec *sec);
/* ... for changing. */
cbi_constants *cbi_constants_in(cbi_linker *lk, cbi_osec *sec);
cbi_shared_section *cbi_shared_in(cbi_linker *lk, cbi_osec *sec);
/* The relocation section for what --preserve-relocs keeps of the target, or NULL. */
cbi_osec *cbi_resolved_of(const cbi_linker *lk, const cbi_osec *target);
/* After layout: refers to the contents where they lie, copies them where that is not enough. */
void cbi_sec_settle(cbi_linker *lk, cbi_osec *sec);
/* The contents in one place. */
const uint8_t *cbi_sec_bytes(cbi_linker *lk, cbi_osec *sec);
/* ... for writing. */
uint8_t *cbi_sec_writable(cbi_linker *lk, cbi_osec *sec);
cbi_osec *cbi_sec_rel(cbi_linker *lk, cbi_osec *target, bool rela);
/* --preserve-relocs: makes cbi_resolved_of(target). */
void cbi_sec_resolved(cbi_linker *lk, cbi_osec *target);
void cbi_sec_kill(cbi_osec *sec);
cbi_lsym *cbi_sym_create(cbi_linker *lk, const cbi_name *name, uint8_t info, uint8_t other,
                         bool local_list);
/* A record of the link's own, for .nv.info.F or (func NULL) .nv.info. */
cbi_rec *cbi_rec_append(cbi_linker *lk, cbi_func *func, uint8_t format, uint8_t code,
                        uint16_t value);
/* The section in which the record stands; NULL for a function without attributes. */
cbi_osec *cbi_rec_stream(const cbi_linker *lk, const cbi_rec *rec);
bool cbi_is_constant_type(uint32_t type);
/* The bank of __constant__ variables. */
bool cbi_is_user_constants(const cbi_osec *sec);
/* The bank of addresses of position-independent code. */
bool cbi_is_address_bank(uint32_t type);
/* The bank of compiler-generated constants. */
bool cbi_is_optimizer_type(uint32_t type);

/* What a variable has beside, all zero where there is nothing; and for changing. */
const cbi_variable *cbi_variable_of(const cbi_lsym *sym);
cbi_variable *cbi_variable_in(cbi_linker *lk, cbi_lsym *sym);

/* ---- runtime.c ---- */
/* False for libcudadevrt when no function is missing so far; then nothing else may follow. */
bool cbi_link_takes_part(cbi_linker *lk, const cbi_lobj *obj);

/* ---- merge*.c, resolve.c, metadata.c: passes A to D ---- */
void cbi_link_skeleton(cbi_linker *lk);
void cbi_link_merge(cbi_linker *lk, cbi_lobj *obj);
void cbi_merge_functions(cbi_linker *lk, cbi_lobj *obj);
void cbi_merge_objects(cbi_linker *lk, cbi_lobj *obj);
/* A definition of a shared variable joins its entry's own list or the module-wide one. */
void cbi_list_shared(cbi_linker *lk, cbi_lsym *sym, uint64_t align, cbi_osec *sec);
/* The text that the section's sh_info names, or NULL.  For a copy that lost, the winner's. */
cbi_osec *cbi_section_target(const cbi_lobj *obj, const cbi_section *sec);
typedef enum cbi_verdict { CBI_NEW, CBI_WINS, CBI_LOSES, CBI_SAME } cbi_verdict;
/* What an input symbol means for the link; reports conflicts.  ret_sym gets the symbol, created and
 * not yet listed when CBI_NEW. */
cbi_verdict cbi_resolve_function(cbi_linker *lk, cbi_lobj *obj, uint32_t index, cbi_lsym **ret_sym);
cbi_verdict cbi_resolve_object(cbi_linker *lk, cbi_lobj *obj, uint32_t index, cbi_lsym **ret_sym);
uint32_t cbi_input_regs(cbi_linker *lk, cbi_lobj *obj, uint32_t sym_index);
void cbi_link_read_metadata(cbi_linker *lk, cbi_lobj *obj);
/* Output section for an input data section; created when missing. */
cbi_osec *cbi_open_section(cbi_linker *lk, cbi_lobj *obj, uint32_t i);
/* Merge a whole input section once; later calls return what happened then. */
cbi_secmap *cbi_merge_section(cbi_linker *lk, cbi_lobj *obj, uint32_t i);
/* Does an item of -kernels-used or -variables-used name it? */
bool cbi_item_matches(const char *item, const char *name);
/* Constants come to old_constants again. */
void cbi_revive_constants(cbi_func *func);
/* Creates the section of an entry's shared memory if it has none. */
void cbi_open_shared(cbi_linker *lk, cbi_func *func);
/* Does section i belong to a function copy of this object that lost or was dropped? */
bool cbi_belongs_to_lost(const cbi_lobj *obj, uint32_t i);

/* ---- graph.c, propagate.c ---- */
const cbi_calls *cbi_link_calls(cbi_linker *lk);
void cbi_link_liveness(cbi_linker *lk);
void cbi_link_propagate(cbi_linker *lk);
/* Do attributes of callees propagate to the kernel? */
bool cbi_is_wanted_entry(const cbi_linker *lk, const cbi_func *f);
void cbi_link_min_stack(cbi_linker *lk, cbi_func *k);
/* EIATTR_HAS_PRE_V10_OBJECT if an input is of a toolkit before 10.0 or does not say. */
void cbi_mark_old_objects(cbi_linker *lk);
void cbi_link_callgraph_sections(cbi_linker *lk);
void cbi_link_rel_action(cbi_linker *lk);
/* .nv.callgraph and .nv.prototype: their sizes, then, with final symbol indices and string offsets,
 * what is in them. */
void cbi_link_size_callgraph(cbi_linker *lk);
void cbi_link_fill_callgraph(cbi_linker *lk);
void cbi_link_dot(cbi_linker *lk, cbi_buf *out);
void cbi_link_dump_callgraph(cbi_linker *lk);
/* The dump's line for an entry that needs more registers because of f. */
void cbi_dump_register_rise(cbi_linker *lk, const cbi_func *f, const cbi_func *entry);
/* Strongly connected components of what lives. */
const cbi_components *cbi_link_components(cbi_linker *lk);
/* Warn of what the graph alone shows: recursion, functions that nobody calls. */
void cbi_link_warn_graph(cbi_linker *lk);

/* unified.c: refuse final links of unified symbols; give their tables final symbol indices. */
void cbi_link_check_unified(cbi_linker *lk);
void cbi_link_fill_unified(cbi_linker *lk);
/* The live entries that reach f (f itself when it is one), in function order. */
const cbi_func_list *cbi_entries_reaching(cbi_linker *lk, const cbi_func *f);

/* ---- layout ---- */
void cbi_layout_commons(cbi_linker *lk);
void cbi_layout_shared(cbi_linker *lk);
void cbi_layout_constants(cbi_linker *lk);
/* layout_cull.c: tries to make too many constants fit. */
void cbi_cull_constants(cbi_linker *lk);
/* Gives .nv.ptx.const0.size, by which libcudadevrt knows the user's constants, their size. */
void cbi_layout_constant_size(cbi_linker *lk);
void cbi_layout_images(cbi_linker *lk);
void cbi_check_limits(cbi_linker *lk);
/* Where the dynamic shared variables begin for code of this function (NULL: no code); all ones when
 * no entry reaches it. */
uint64_t cbi_dynamic_offset(cbi_linker *lk, cbi_func *f);
/* Relocation types that refer to a texture by its slot in bank 0. */
bool cbi_is_slot_type(uint32_t type);
/* nvlink's list sort: keep(a, b) = "a may stay in front of b".  Not stable; see docs. */
void cbi_list_sort(cbi_ctx *ctx, void **items, size_t count,
                   bool (*keep)(const void *, const void *));

/* view.c: the SASS side of a relocation, `present` or not */
const cbi_sass_reloc *cbi_sass_of(const cbi_lrel *rel);
/* ---- relocate.c ---- */
/* For section symbols: where the object's contribution starts; else 0. */
uint64_t cbi_section_base(const cbi_lrel *r);
void cbi_link_relocate(cbi_linker *lk);
void cbi_link_check_records(cbi_linker *lk);
/* Is the entry about something that is in the output? */
bool cbi_reloc_counts(const cbi_linker *lk, const cbi_lrel *r);
/* sm_100+: nvlink fails while kernels are removed if a copy that was replaced had relocations. */
void cbi_link_check_replaced(cbi_linker *lk);
/* A relocation that is written must be inside of its section. */
void cbi_link_check_kept(cbi_linker *lk, const cbi_lrel *r);
/* Report what nobody defines. */
void cbi_link_undefined(cbi_linker *lk);
/* The eight symbols of the unified tables. */
bool cbi_is_unified_name(const char *name);

/* ---- notes.c ---- */
void cbi_link_notes(cbi_linker *lk);

/* ---- finalize.c: tables, order, offsets; write.c: bytes ---- */
void cbi_link_finalize(cbi_linker *lk);
/* Offsets of names in the finished string tables; 0 before. */
uint32_t cbi_strtab_offset(const cbi_linker *lk, const cbi_name *name);
uint32_t cbi_shstrtab_offset(const cbi_linker *lk, const cbi_name *name);
void cbi_link_write(cbi_linker *lk, cbi_sink *sink);
/* One attribute record with final symbol numbers. */
/* Is it in the output?  EXTERNS of nothing is not. */
bool cbi_is_written(const cbi_rec *rec);
void cbi_write_record(cbi_linker *lk, cbi_buf *out, const cbi_rec *rec);
/* The tables of an output file: section headers at shoff, program headers behind them. */
typedef struct cbi_segment {
    uint32_t type, flags;
    uint64_t offset, filesz, memsz;
} cbi_segment;
typedef struct cbi_file_tables {
    uint32_t kind;        /* EF_CUDA_KIND_SASS or EF_CUDA_KIND_CAPMERC */
    size_t section_count; /* the null section included */
    uint64_t shoff;
    const cbi_segment *segments;
    size_t segment_count;
} cbi_file_tables;
void cbi_link_write_header(const cbi_linker *lk, const cbi_file_tables *tables, cbi_sink *sink);
/* Fills in section i's header, which is zero so far. */
typedef void (*cbi_section_header_fn)(const void *user, size_t i, uint8_t *ret_header);
void cbi_link_write_tables(const cbi_linker *lk, const cbi_file_tables *tables,
                           cbi_section_header_fn section_header, const void *user, cbi_sink *sink);
/* A section's header; the string offset, types and links are those of the link's own tables. */
void cbi_link_section_header(const cbi_linker *lk, const cbi_osec *sec, uint8_t *ret_header);
/* Puts symbol value, bank and addend where the relocation's type says, in the contents (size bytes)
 * of what it applies to. */
struct cbi_reloc_type;
void cbi_link_patch(const struct cbi_reloc_type *type, const cbi_lrel *r, uint8_t *contents,
                    uint64_t size, uint64_t value, uint32_t bank);
void cbi_link_verbose(cbi_linker *lk);

#endif
