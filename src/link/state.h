/* State of one link: what the stages hand on.
 *
 * inputs -> symbols -> graph -> layout -> patches -> propagation -> tables -> bytes: each stage has
 * a header, link.c is the list of their passes with what holds after each, the rules and the
 * experiments behind them are in docs/link-semantics.md.
 */
#ifndef CBI_LINK_STATE_H
#define CBI_LINK_STATE_H

#include "link/failures.h"
#include "link/link.h"
#include "link/quirks.h"
#include "link/records.h"

/* Relocations that lie in one place. */
typedef struct cbi_rel_span {
    const cbi_lrel *items;
    size_t len;
} cbi_rel_span;

typedef CBI_VEC(cbi_lrel TILL_SYMBOLS) cbi_rels;

/* What the inputs have at all: few have any, and passes about what there is not are left out. */
typedef struct cbi_met {
    bool shared;      /* symbols of variables in shared memory */
    bool descriptors; /* relocations that keep a function: cbi_keeps_function() */
    bool copies;      /* definitions that took the place of earlier ones */
    bool replaced;    /* of those some that are marked CBI_REPLACED */
    bool aliases;     /* functions in another's code */
    bool takes;       /* functions that take the address of others */
    bool for_driver;  /* functions in place of those that the driver supplies */
    bool barriers;    /* code whose flags count barriers */
    bool dead;        /* sections that the merge has removed */
    bool independent; /* code of virtual targets whose threads run independently of each other */
    bool in_step;     /* ... and of such whose warps go on together */
} cbi_met;

/* Sections and symbols: stages 2 and 4 make them, and nobody does later. */
struct cbi_records {
    cbi_pool sec_pool, sym_pool;
    CBI_VEC(cbi_osec *TILL_LAYOUT) secs;      /* creation order */
    CBI_VEC(cbi_osec *TILL_LAYOUT) rel_secs;  /* of these the relocations */
    CBI_VEC(cbi_osec *TILL_LAYOUT) info_secs; /* ... the attributes */
    CBI_VEC(cbi_osec *TILL_LAYOUT) few_secs;  /* ... all but code, attributes and relocations */
    size_t TILL_SYMBOLS fixed_secs;           /* of these the first, which every link has */
    bool TILL_LAYOUT optimizer;               /* there is one of optimizer constants */
    cbi_name_table sec_by_name;
    CBI_VEC(const cbi_lsym *TILL_LAYOUT) locals;
    CBI_VEC(const cbi_lsym *TILL_LAYOUT) globals;
    cbi_map resolved; /* section -> its relocation section for --preserve-relocs */

    cbi_osec *shstrtab, *strtab, *symtab, *tkinfo, *cuinfo, *info, *compat, *host;
    cbi_osec *callgraph, *prototype, *rel_action;
    cbi_osec *global, *debug_shared;
};

typedef CBI_VEC(cbi_lobj *TILL_SYMBOLS) cbi_obj_list;

/* Stage 1: what may be linked. */
typedef struct cbi_inputs {
    cbi_obj_list objs; /* in their order; until the merge has taken the last, those so far */
    uint64_t bytes;    /* of all inputs */
    uint64_t read;     /* ... and of those so far */
    size_t count;      /* of all inputs */
} cbi_inputs;

/* Stage 2, when all objects are merged. */
typedef struct cbi_symbols {
    cbi_obj_list objs;                            /* those that take part, in their order */
    CBI_VEC(const cbi_lobj *TILL_SYMBOLS) unused; /* libcudadevrt, when nothing needs it */
    CBI_VEC(const cbi_func *TILL_SYMBOLS) funcs;
    cbi_rels rels;                                 /* reading order; applied backwards */
    CBI_VEC(const cbi_name *TILL_SYMBOLS) protos;  /* interned prototype strings, in order */
    CBI_VEC(const cbi_lsym *TILL_SYMBOLS) commons; /* pending, oldest first */
    CBI_VEC(const cbi_shared *TILL_SYMBOLS)
    shared;                  /* variables of .nv_debug.shared in order of appearance */
    cbi_lsym *constant_size; /* .nv.ptx.const0.size; NULL if no object has it */
    CBI_VEC(const cbi_lsym *TILL_SYMBOLS) images; /* textures, samplers, surfaces in symbol order */
    const cbi_piece *last_shared_constant;        /* of equal constants of objects, or NULL */
    cbi_met met;
} cbi_symbols;

/* Where the layout puts a symbol. */
typedef struct cbi_placement {
    cbi_osec *sec;
    uint64_t value;
    uint8_t state; /* cbi_sym_state */
    uint64_t slot; /* of an image: offset in bank 0; sm_100+: in the table */
    bool has_slot : 1;
    bool unplaced : 1;  /* shared: dynamic and reached by no entry, its value is no address */
    bool realigned : 1; /* shared, -r: its value takes the place of its alignment */
    bool removed : 1;   /* a variable that nothing uses */
    bool in_banks : 1;  /* an optimizer constant that moved into the banks of entries */
    bool hidden : 1;    /* dropped, but kept for what --preserve-relocs records */
    bool recorded : 1;  /* --preserve-relocs names it in any case */
} cbi_placement;

/* What the layout gives few functions, beside what they have from the merge. */
typedef struct cbi_func_layout {
    cbi_osec *shared;      /* an unwanted kernel's shared memory; use cbi_shared_memory_of() */
    cbi_osec *constants;   /* the bank of an entry that had none; use cbi_bank_of() */
    cbi_osec *image_table; /* sm_100+ */
    bool has_images, has_samplers;
    bool uses_dynamic;        /* shared memory, as the rest here */
    const cbi_func *set;      /* an entry: union-find parent; all of a set have one offset */
    uint64_t offset;          /* where the dynamic variables begin */
    const cbi_lsym *instance; /* -r: the symbol that stands for them */
} cbi_func_layout;

/* Stage 4, when everything has its place. */
typedef struct cbi_layout {
    /* What lies elsewhere than the merge left it; use cbi_placement_of(). */
    CBI_VEC(cbi_placement TILL_LAYOUT) placements;
    uint32_t TILL_LAYOUT *placed; /* by symbol: its place in that list, from 1; 0: none */
    size_t placed_count;
    cbi_func_layout TILL_LAYOUT *TILL_LAYOUT
        *funcs;         /* by function, NULL: nothing; use cbi_func_layout_of() */
    cbi_rel_span moved; /* of constants that went into the banks of entries; before all others */
    cbi_rel_span rels;  /* all others: those of the symbols, or a copy where variables moved */
    uint64_t null_symbol_value; /* accidental: see layout_data.c, merge_constant_bank */
    uint64_t images_start;      /* sm_100+: of texture tables in bank 0 */
    cbi_removed dead;           /* use cbi_is_dead() */
    bool null_symbol_removed;   /* accidental, too: see layout_shared.c, assign_variables */
    bool dynamic_recorded; /* --preserve-relocs: also of dynamic shared variables nobody reaches */
} cbi_layout;

/* Stage 6: what the output says of its functions. */
typedef struct cbi_attributes {
    cbi_rec_table recs; /* of the inputs in reading order; printed backwards */
    cbi_rec_list added; /* by the link; printed forwards behind them */
    cbi_properties TILL_PROPAGATION *properties; /* by function; use cbi_properties_of() */
    const cbi_usage *usage;                      /* by node */
} cbi_attributes;

/* A section in the file. */
typedef struct cbi_out_section {
    const uint8_t *bytes; /* NULL: its pieces */
    uint64_t size, offset;
    uint32_t index; /* 0: it is not written */
    uint32_t name;  /* in .shstrtab */
} cbi_out_section;

/* The first and the last sections that are loaded; NULL: there are none. */
typedef struct cbi_loaded {
    const cbi_osec *TILL_TABLES first_ro, *TILL_TABLES last_ro;
    const cbi_osec *TILL_TABLES first_rw, *TILL_TABLES last_data, *TILL_TABLES last_nobits;
} cbi_loaded;

/* Stage 7: what the file is made of. */
typedef struct cbi_tables {
    const cbi_out_section *places;                /* by section; use cbi_out_of() */
    CBI_VEC(const cbi_osec *TILL_TABLES) out;     /* by index, [0] = NULL */
    CBI_VEC(const cbi_lsym *TILL_TABLES) symbols; /* by index, [0] = NULL */
    const uint32_t *symbol_indices;               /* by symbol; use cbi_symbol_index() */
    uint32_t first_global;
    cbi_rec_list late_recs; /* in the order of the symbols; behind all others */
    cbi_span shstr, str;
    const uint32_t *str_offsets; /* by name id */
    uint64_t shoff;
    cbi_loaded loaded;
} cbi_tables;

/* Stage 5: what became of the relocations, beside the bytes that they patch. */
typedef struct cbi_patches {
    cbi_map recorded; /* symbols that --preserve-relocs names */
    bool kept_astray; /* an entry that stays is outside of its section */
} cbi_patches;

struct cbi_linker {
    cbi_ctx *ctx;
    const cbi_link_options *opt;
    cbi_quirks quirks;
    bool terse;           /* says no more than nvlink would */
    bool exec;            /* final link */
    bool shows_debug;     /* -g that is not taken back by -suppress-debug-info */
    bool mercury;         /* sm_100+: the link runs on the Mercury view */
    const cbi_chip *chip; /* of the target */
    bool from_hopper;     /* the target is sm_90 or later */
    bool prune;           /* kernels are removed by -kernels-used or -variables-used */
    bool merge_constants; /* kernels are removed: equal constant banks of objects are shared */
    bool eliminate;       /* dead code elimination runs */

    cbi_records *records;

    /* The results of stages, which link.c enters as each begins; only the files of a stage see what
     * it works on. */
    const cbi_inputs *inputs;
    struct cbi_admission *admitting;
    const cbi_symbols *symbols;
    struct cbi_merge_work *merging;
    const cbi_graph *graph;
    struct cbi_graph_work *reaching;
    const cbi_layout *layout;
    struct cbi_layout_work *placing;
    const cbi_patches *patches;
    struct cbi_patches_work *patching;
    const cbi_attributes *attributes;
    struct cbi_propagate_work *propagating;
    const cbi_tables *tables;
    struct cbi_tables_work *filling;
    const cbi_removed *dead; /* of the stage that looked at it last */

    struct cbi_told *told;      /* what messages need to know of earlier ones */
    cbi_pool *lists;            /* first places of what most have one of */
    cbi_failure_list *failures; /* noticed, and not reported yet */

    struct cbi_mercury_state *merc; /* sm_100+ */
};

/* What the SASS that is linked leaves the system of the shared memory of kernels. */
static inline uint64_t cbi_reserved_shared(const cbi_linker *lk)
{
    return lk->mercury || lk->opt->disable_smem_reservation ? 0 : lk->chip->reserved_shared;
}

/* The object that has the number (cbi_obj_id); NULL for 0. */
static inline const cbi_lobj *cbi_obj_at(const cbi_linker *lk, uint32_t id)
{
    return id ? lk->symbols->objs.items[id - 1] : NULL;
}

/* ... as messages call it. */
static inline const char *cbi_obj_file(const cbi_linker *lk, uint32_t id)
{
    return id ? lk->symbols->objs.items[id - 1]->file : NULL;
}

/* The function in whose section the record stands, or NULL. */
static inline const cbi_func *cbi_rec_func(const cbi_linker *lk, const cbi_rec *rec)
{
    return rec->func ? lk->symbols->funcs.items[rec->func - 1] : NULL;
}

/* What became of a function, from stage 3 on. */
static inline const cbi_fate *cbi_fate_of(const cbi_linker *lk, const cbi_func *f)
{
    return &lk->graph->fates[f->number];
}

/* Is the function kept? */
static inline bool cbi_is_in_output(const cbi_linker *lk, const cbi_func *f)
{
    return cbi_fate_of(lk, f)->live;
}

/* A function that ptxas -ewp has put into a kernel's code. */
static inline bool cbi_is_inner(const cbi_linker *lk, const cbi_func *f)
{
    return f->alias_of && cbi_fate_of(lk, f->alias_of)->entry;
}

/* Is the section removed, by what is known so far?  From stage 3 on. */
static inline bool cbi_is_dead(const cbi_linker *lk, const cbi_osec *sec)
{
    return sec->number < lk->dead->len && lk->dead->items[sec->number];
}

/* Where a symbol is, by what is known so far. */
static inline cbi_placement cbi_placement_of(const cbi_linker *lk, const cbi_lsym *sym)
{
    const cbi_layout *layout = lk->layout;
    if (layout && sym->number < layout->placed_count && layout->placed[sym->number])
        return layout->placements.items[layout->placed[sym->number] - 1];
    return (cbi_placement){.sec = sym->sec, .value = sym->value, .state = sym->state};
}

/* Its state there, which is all that many ask for. */
static inline uint8_t cbi_state_of(const cbi_linker *lk, const cbi_lsym *sym)
{
    const cbi_layout *layout = lk->layout;
    if (layout && sym->number < layout->placed_count && layout->placed[sym->number])
        return layout->placements.items[layout->placed[sym->number] - 1].state;
    return sym->state;
}

/* What the layout gave the function; all zero where that is nothing. */
extern const cbi_func_layout cbi_no_func_layout;
static inline const cbi_func_layout *cbi_func_layout_of(const cbi_linker *lk, const cbi_func *f)
{
    const cbi_layout *layout = lk->layout;
    return layout->funcs && layout->funcs[f->number] ? layout->funcs[f->number]
                                                     : &cbi_no_func_layout;
}

/* The section of a kernel's shared memory, or NULL. */
static inline cbi_osec *cbi_shared_memory_of(const cbi_linker *lk, const cbi_func *k)
{
    return k->shared ? k->shared : cbi_func_layout_of(lk, k)->shared;
}

/* A kernel's bank of optimizer constants, as nvlink finds it, or NULL. */
static inline cbi_osec *cbi_bank_of(const cbi_linker *lk, const cbi_func *k)
{
    return k->old_constants ? k->old_constants
           : k->constant2   ? k->constant2
                            : cbi_func_layout_of(lk, k)->constants;
}

static inline bool cbi_is_undefined(const cbi_linker *lk, const cbi_lsym *sym)
{
    return cbi_state_of(lk, sym) == CBI_SYM_UNDEF;
}

/* The alignment of a variable in shared memory, which -r writes as its value. */
static inline uint64_t cbi_shared_align(const cbi_linker *lk, const cbi_lsym *sym)
{
    const cbi_placement place = cbi_placement_of(lk, sym);
    return place.realigned ? place.value : cbi_variable_of(sym)->shared_align;
}

/* What the function's own records say.  From stage 6 on. */
static inline const cbi_properties *cbi_properties_of(const cbi_linker *lk, const cbi_func *f)
{
    return &lk->attributes->properties[f->number];
}

/* The section in the file.  From stage 7 on. */
static inline const cbi_out_section *cbi_out_of(const cbi_linker *lk, const cbi_osec *sec)
{
    return &lk->tables->places[sec->number];
}

/* Its number in the output; 0 where it is not there, or not numbered yet. */
static inline uint32_t cbi_section_index(const cbi_linker *lk, const cbi_osec *sec)
{
    return cbi_out_of(lk, sec)->index;
}

/* The number of a function's symbol in the output, likewise. */
static inline uint32_t cbi_func_symbol_index(const cbi_linker *lk, cbi_graph_node number)
{
    const uint32_t *indices = lk->tables->symbol_indices;
    return indices ? indices[lk->graph->numbers[number].symbol] : 0;
}

/* Its number in the output; 0 where it is not there, or not numbered yet. */
static inline uint32_t cbi_symbol_index(const cbi_linker *lk, const cbi_lsym *sym)
{
    const uint32_t *indices = lk->tables->symbol_indices;
    return indices ? indices[sym->number] : 0;
}

/* Is the symbol removed: that of a dead function or section, or an unused variable? */
static inline bool cbi_is_removed(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (sym->func)
        return !cbi_fate_of(lk, sym->func)->live;
    return sym->is_section ? cbi_is_dead(lk, sym->sec) : cbi_placement_of(lk, sym).removed;
}

#endif
