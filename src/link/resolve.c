/* Symbol resolution: what an input symbol means for a name that the link already knows.
 *
 * Functions and objects share one name space.  The pair rules are in docs/link-semantics.md.
 */
#include "demangle/demangle.h"
#include "format/eiattr.h"
#include "link/report.h"
#include "link/merge_work.h"

static const char *MEMORY_SPACE =
    "Memory space doesn't match for '%s' in '%s', first specified in '%s'";

/* Not the object of a definition that replaced another.  For textures nvlink does not know it. */
static const char *first_file(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (cbi_is_image(sym))
        return "<input>";
    const char *file = cbi_obj_file(lk, sym->named_obj ? sym->named_obj : sym->first_obj);
    return file ? file : "";
}

static void report_multiple(const cbi_linker *lk, const cbi_lobj *obj, const cbi_lsym *sym)
{
    cbi_error(lk->ctx, "multiple-definition",
              &(cbi_place){.file = obj->file, .symbol = sym->name->s},
              cbi_explain_multiple(lk, obj, sym),
              "Multiple definition of '%s' in '%s', first defined in '%s'", sym->name->s, obj->file,
              first_file(lk, sym));
}

/* Register counts of an object's functions: from sh_info of their code, or its .nv.info. */
static void load_regs(const cbi_linker *lk, cbi_lobj *obj)
{
    const cbi_object *in = &obj->object;
    obj->regs = CBI_NEW_ARRAY(lk->ctx, in->symbol_count, uint32_t);
    for (uint32_t i = 1; i < in->section_count; i++) {
        if (in->sections[i].type != SHT_CUDA_INFO || (in->sections[i].flags & SHF_INFO_LINK))
            continue;
        size_t pos = 0;
        cbi_attr attr;
        while (cbi_attr_next(in->sections[i].data, &pos, &attr)) {
            if (attr.format != CBI_ATTR_SIZED || attr.code != EIATTR_REGCOUNT ||
                attr.payload.size < 8)
                continue;
            uint32_t sym = cbi_ld32(attr.payload.data);
            if (sym < in->symbol_count)
                obj->regs[sym] = cbi_ld32(attr.payload.data + 4);
        }
    }
    for (uint32_t i = 1; i < in->symbol_count; i++) {
        uint32_t section = in->symbols[i].shndx;
        uint32_t regs =
            section < in->section_count ? CUDA_TEXT_REGISTERS(in->sections[section].info) : 0;
        if (regs)
            obj->regs[i] = regs;
    }
}

uint32_t cbi_input_regs(const cbi_linker *lk, cbi_lobj *obj, uint32_t sym_index)
{
    if (!obj->regs)
        load_regs(lk, obj);
    return obj->regs[sym_index];
}

/* Of weak functions the copy with fewer registers is taken; this one has none. */
static void report_no_registers(const cbi_linker *lk, const cbi_lobj *obj, const char *which)
{
    cbi_fatal(lk->ctx, "no-reg-count", &(cbi_place){.file = obj->file},
              "a weak function meets an alias or a variable of its name",
              "Internal error: no such %s reg count", which);
}

/* Weak against weak: fewer registers, then the newer PTX target, then the first.  The PTX target of
 * the very first copy counts, also after that copy was replaced. */
static bool later_weak_wins(const cbi_linker *lk, const cbi_func *held, cbi_lobj *obj,
                            uint32_t index)
{
    uint32_t old_regs = cbi_input_regs(lk, held->obj, held->in_sym);
    uint32_t new_regs = cbi_input_regs(lk, obj, index);
    if (!new_regs || !old_regs)
        report_no_registers(lk, obj, new_regs ? "original" : "new");
    if (old_regs != new_regs)
        return new_regs < old_regs;
    return obj->cuinfo.virtual_sm > held->first_virtual_sm;
}

/* The first bank counts. */
static void load_banks(const cbi_linker *lk, cbi_lobj *obj)
{
    const cbi_object *in = &obj->object;
    obj->banks = CBI_NEW_ARRAY(lk->ctx, in->section_count, uint64_t);
    for (uint32_t i = in->section_count; i-- > 1;) {
        const cbi_section *sec = &in->sections[i];
        if (sec->type == SHT_CUDA_CONSTANT_B0 && sec->info < in->section_count)
            obj->banks[sec->info] = sec->size;
    }
}

static uint64_t parameter_bank_size(const cbi_linker *lk, cbi_lobj *obj, uint32_t text)
{
    if (!obj->banks)
        load_banks(lk, obj);
    bool spent =
        !obj->object.sections; /* then it is asked of a copy that is held, which has code */
    return spent || text < obj->object.section_count ? obj->banks[text] : 0;
}

void cbi_load_weak_facts(const cbi_linker *lk, cbi_lobj *obj)
{
    if (!obj->regs)
        load_regs(lk, obj);
    if (!obj->banks)
        load_banks(lk, obj);
}

/* ---- what a later symbol does to the one that is there ---- */

/* What is known of a symbol, and what an input says of it. */
typedef enum standing {
    UNDEFINED,
    WEAK,
    WEAK_DATA, /* with bytes in the file */
    GLOBAL,
    GLOBAL_DATA,
    COMMON,
    STANDINGS,
} standing;

typedef enum effect {
    SAME,    /* nothing new is said */
    TAKES,   /* the later one takes over, whole */
    STAYS,   /* the first one stays */
    BETTER,  /* fewer registers, then the newer PTX target, then the first */
    JOINS,   /* one slot of the largest size */
    IGNORED, /* a common symbol beside bytes, which must not be smaller */
    FORGETS, /* the place of the common symbol is lost, where the bytes are no fewer */
    TWICE,   /* an error */
} effect;

typedef struct pair_rule {
    uint8_t effect;
    bool sizes; /* have to be equal, where both are known */
} pair_rule;

/* Rows: what is there.  Columns: what comes.  The same table is in docs/link-semantics.md. */
static const uint8_t function_rules[GLOBAL + 1][GLOBAL + 1] = {
    [UNDEFINED] = {[UNDEFINED] = SAME, [WEAK] = TAKES, [GLOBAL] = TAKES},
    [WEAK] = {[UNDEFINED] = SAME, [WEAK] = BETTER, [GLOBAL] = TAKES},
    [GLOBAL] = {[UNDEFINED] = SAME, [WEAK] = STAYS, [GLOBAL] = TWICE},
};

/* clang-format off */
static const pair_rule object_rules[STANDINGS][STANDINGS] = {
    /*                undefined     weak           weak data       global         global data     common */
    [UNDEFINED]   = {{SAME, true}, {TAKES, true}, {TAKES, true},  {TAKES, true}, {TAKES, true},  {TAKES, true}},
    [WEAK]        = {{SAME, true}, {STAYS, true}, {STAYS, true},  {TAKES, true}, {TAKES, true},  {TAKES, true}},
    [WEAK_DATA]   = {{SAME, true}, {STAYS, true}, {STAYS, true},  {TAKES, true}, {TAKES, true},  {IGNORED, false}},
    [GLOBAL]      = {{SAME, true}, {STAYS, true}, {STAYS, true},  {TWICE, true}, {TWICE, true},  {TWICE, true}},
    [GLOBAL_DATA] = {{SAME, true}, {STAYS, true}, {STAYS, true},  {TWICE, true}, {TWICE, true},  {IGNORED, false}},
    [COMMON]      = {{SAME, true}, {STAYS, true}, {FORGETS, false}, {TAKES, true}, {TAKES, false}, {JOINS, false}},
};
/* clang-format on */

static standing of_symbol(const cbi_lsym *sym)
{
    if (sym->state == CBI_SYM_UNDEF)
        return UNDEFINED;
    if (sym->state == CBI_SYM_COMMON)
        return COMMON;
    bool data = sym->initialised && !sym->func;
    if (CBI_ST_BIND(sym->info) == STB_WEAK)
        return data ? WEAK_DATA : WEAK;
    return data ? GLOBAL_DATA : GLOBAL;
}

static standing of_function(const cbi_symbol *in)
{
    if (in->shndx == SHN_UNDEF)
        return UNDEFINED;
    return CBI_ST_BIND(in->info) == STB_WEAK ? WEAK : GLOBAL;
}

static standing of_object(const cbi_lobj *obj, const cbi_symbol *in)
{
    if (in->shndx == SHN_UNDEF)
        return UNDEFINED;
    if (in->shndx == SHN_COMMON)
        return COMMON;
    bool data = in->shndx < obj->object.section_count &&
                cbi_section_has_data(obj->object.sections[in->shndx].type);
    if (CBI_ST_BIND(in->info) == STB_WEAK)
        return data ? WEAK_DATA : WEAK;
    return data ? GLOBAL_DATA : GLOBAL;
}

/* ---- functions ---- */

/* Dynamic shared memory, which is as good as defined for all but shared variables. */
static bool is_dynamic(const cbi_lsym *sym)
{
    return sym->state == CBI_SYM_UNDEF && sym->dynamic;
}

/* A variable's name is used for a function. */
static cbi_verdict refuse_variable(const cbi_linker *lk, const cbi_lobj *obj, const cbi_symbol *in,
                                   const cbi_lsym *sym)
{
    cbi_error(lk->ctx, "memory-space-mismatch", &(cbi_place){.file = obj->file, .symbol = in->name},
              NULL, MEMORY_SPACE, in->name, obj->file, first_file(lk, sym));
    bool weak = CBI_ST_BIND(sym->info) == STB_WEAK;
    if (of_function(in) == GLOBAL && ((sym->state == CBI_SYM_DEFINED && !weak) || is_dynamic(sym)))
        report_multiple(lk, obj, sym);
    if (of_function(in) == WEAK && sym->state == CBI_SYM_DEFINED && weak)
        report_no_registers(lk, obj, "original");
    return CBI_LOSES;
}

static bool is_better(const cbi_linker *lk, cbi_lobj *obj, uint32_t index, const cbi_lsym *sym)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    if ((in->other & sym->other & STO_CUDA_ENTRY) && sym->func->obj &&
        parameter_bank_size(lk, sym->func->obj, sym->func->in_sec) !=
            parameter_bank_size(lk, obj, in->shndx))
        cbi_error(lk->ctx, "parameter-bank-mismatch",
                  &(cbi_place){.file = obj->file, .symbol = in->name}, NULL,
                  "Duplicate weak parameter bank for '%s' is not the same size", in->name);
    return later_weak_wins(lk, sym->func, obj, index);
}

cbi_verdict cbi_resolve_function(const cbi_linker *lk, cbi_lobj *obj, uint32_t index,
                                 const cbi_name *name, cbi_lsym **ret_sym)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    *ret_sym = NULL;
    if (CBI_ST_BIND(in->info) == STB_LOCAL)
        return CBI_NEW;
    cbi_lsym *sym = cbi_name_get(&lk->merging->sym_by_name, name);
    *ret_sym = sym;
    if (!sym)
        return CBI_NEW;
    if ((sym->other ^ in->other) & STO_CUDA_ENTRY)
        cbi_error(lk->ctx, "not-declared-global",
                  &(cbi_place){.file = obj->file, .symbol = in->name}, NULL,
                  "Function '%s' not declared __global__ in all source files",
                  cbi_demangle(lk->ctx, in->name));
    if (!sym->func)
        return refuse_variable(lk, obj, in, sym);
    standing have = of_symbol(sym);
    switch (function_rules[have == COMMON ? UNDEFINED : have][of_function(in)]) {
    case SAME:
        return CBI_SAME;
    case TAKES:
        return CBI_WINS;
    case BETTER:
        return is_better(lk, obj, index, sym) ? CBI_WINS : CBI_LOSES;
    case TWICE:
        report_multiple(lk, obj, sym);
        return CBI_LOSES;
    default:
        return CBI_LOSES;
    }
}

/* ---- objects ---- */

/* nvlink forgets the place of a common symbol that an initialised weak definition follows, which a
 * final link notices at its end. */
static void lose_common(const cbi_linker *lk, cbi_lobj *obj, const cbi_symbol *in, cbi_lsym *sym)
{
    if (!lk->quirks.common_forgotten)
        cbi_fatal(lk->ctx, "weak-after-common", &(cbi_place){.file = obj->file, .symbol = in->name},
                  "give the initialised weak definition before the common one, or make it global",
                  "Weak definition of '%s' in '%s' follows a common symbol of that name", in->name,
                  obj->file);
    sym->common_pending = false;
    sym->value = CUDA_COMMON_LOST;
    sym->named_obj = cbi_obj_id(obj);
}

static void report_smaller(const cbi_linker *lk, const cbi_lobj *obj, const char *name,
                           const char *file)
{
    cbi_error(lk->ctx, "common-too-large", &(cbi_place){.file = obj->file, .symbol = name}, NULL,
              "Common symbol '%s' in file '%s' has larger size than initialization", name, file);
}

/* Kinds that do not go together. */
static void check_kinds(const cbi_linker *lk, const cbi_lobj *obj, const cbi_symbol *in,
                        const cbi_lsym *sym)
{
    cbi_place place = {.file = obj->file, .symbol = in->name};
    if (sym->func || ((sym->other ^ in->other) & STO_CUDA_SPACE))
        cbi_error(lk->ctx, "memory-space-mismatch", &place, NULL, MEMORY_SPACE, in->name, obj->file,
                  first_file(lk, sym));
    if ((sym->other ^ in->other) & STO_CUDA_MANAGED)
        cbi_error(lk->ctx, "managed-mismatch", &place, NULL,
                  "Managed attribute doesn't match for '%s' in '%s', first specified in '%s'",
                  in->name, obj->file, first_file(lk, sym));
}

/* Dynamic shared memory is defined, of no size, in what -r makes of objects without Mercury. */
static bool is_dynamic_definition(const cbi_symbol *in)
{
    return (in->other & STO_CUDA_SPACE) == STO_CUDA_SHARED && in->shndx != SHN_UNDEF && !in->size;
}

static void report_size(const cbi_linker *lk, const cbi_lobj *obj, const cbi_symbol *in,
                        const cbi_lsym *sym)
{
    cbi_error(lk->ctx, "size-mismatch", &(cbi_place){.file = obj->file, .symbol = in->name}, NULL,
              "Size doesn't match for '%s' in '%s', first specified in '%s'", in->name, obj->file,
              first_file(lk, sym));
}

static void check_sizes(const cbi_linker *lk, const cbi_lobj *obj, const cbi_symbol *in,
                        const cbi_lsym *sym)
{
    if (sym->size && (in->size || is_dynamic_definition(in)) && sym->size != in->size)
        report_size(lk, obj, in, sym);
}

/* A texture whose name something else has, or a definition of something else, in the same space,
 * for a texture's name: no compiler writes it. */
static bool takes_image(const cbi_lsym *sym, const cbi_symbol *in, standing new)
{
    bool same_space = !((sym->other ^ in->other) & STO_CUDA_SPACE);
    if (CBI_ST_TYPE(in->info) == CBI_ST_TYPE(sym->info))
        return false;
    return cbi_is_image_info(in->info) || (cbi_is_image(sym) && same_space && new != UNDEFINED);
}

/* Where spaces differ, dynamic shared memory is defined, and common symbols define, too. */
static bool defines_in_other_space(const cbi_lsym *sym, const cbi_symbol *in, standing have,
                                   standing new)
{
    if (!((sym->other ^ in->other) & STO_CUDA_SPACE))
        return false;
    return is_dynamic(sym) ? new >= GLOBAL : have == GLOBAL_DATA &&new == COMMON;
}

/* In another space a common symbol has to have the size of a definition. */
static bool is_common_elsewhere(const cbi_lsym *sym, const cbi_symbol *in, standing have,
                                standing new)
{
    return ((sym->other ^ in->other) & STO_CUDA_SPACE) && have != UNDEFINED && new != UNDEFINED &&
           (have == COMMON) != (new == COMMON) && sym->size != in->size;
}

/* The verdict where the table is not the whole story; CBI_NEW: it is. */
static cbi_verdict resolve_special(const cbi_linker *lk, const cbi_lobj *obj, const cbi_symbol *in,
                                   const cbi_lsym *sym, standing new)
{
    if (sym->func && (new == UNDEFINED || sym->state != CBI_SYM_DEFINED))
        return CBI_LOSES;
    if (sym->func && CBI_ST_BIND(sym->info) == STB_WEAK && new != COMMON)
        return CBI_LOSES;
    if (new == UNDEFINED)
        return CBI_NEW;
    if (sym->state == CBI_SYM_UNDEF && sym->dynamic && is_dynamic_definition(in)) {
        report_multiple(lk, obj, sym);
        return CBI_LOSES;
    }
    if (sym->state == CBI_SYM_DEFINED && cbi_is_shared_var(sym) && !sym->size && in->size)
        return CBI_WINS;
    return CBI_NEW;
}

cbi_verdict cbi_resolve_object(const cbi_linker *lk, cbi_lobj *obj, uint32_t index,
                               const cbi_name *name, cbi_lsym **ret_sym)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    *ret_sym = NULL;
    if (CBI_ST_BIND(in->info) == STB_LOCAL)
        return CBI_NEW;
    cbi_lsym *sym = cbi_name_get(&lk->merging->sym_by_name, name);
    *ret_sym = sym;
    if (!sym)
        return CBI_NEW;

    standing have = of_symbol(sym), new = of_object(obj, in);
    const pair_rule *rule = &object_rules[have][new];
    bool larger = in->size > sym->size;
    if (takes_image(sym, in, new)) {
        report_multiple(lk, obj, sym);
        return CBI_LOSES;
    }
    check_kinds(lk, obj, in, sym);
    bool twice = defines_in_other_space(sym, in, have, new);
    bool elsewhere = is_common_elsewhere(sym, in, have, new);
    if (elsewhere || (twice && new == COMMON &&is_dynamic(sym)))
        report_size(lk, obj, in, sym);
    if (twice || (elsewhere && rule->effect == TWICE))
        report_multiple(lk, obj, sym);
    if (twice || elsewhere)
        return CBI_LOSES;
    if (rule->effect == IGNORED && (larger || have == GLOBAL_DATA)) {
        if (larger)
            report_smaller(lk, obj, in->name, obj->file);
        return CBI_SAME;
    }
    if (have == COMMON && (new == WEAK_DATA || new == GLOBAL_DATA) && sym->size > in->size)
        report_smaller(lk, obj, in->name, first_file(lk, sym));
    if (rule->sizes)
        check_sizes(lk, obj, in, sym);
    cbi_verdict special = resolve_special(lk, obj, in, sym, new);
    if (special != CBI_NEW)
        return special;
    switch (rule->effect) {
    case SAME:
        return CBI_SAME;
    case TAKES:
    case JOINS: /* the caller takes the maximum */
        return CBI_WINS;
    case FORGETS:
        if (sym->size <= in->size)
            lose_common(lk, obj, in, sym);
        return CBI_LOSES;
    case TWICE:
        report_multiple(lk, obj, sym);
        return CBI_LOSES;
    default:
        return CBI_LOSES;
    }
}
