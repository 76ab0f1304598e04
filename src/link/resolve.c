/* Symbol resolution: what an input symbol means for a name that the link already knows.
 *
 * Functions and objects share one name space.  The pair rules are in docs/link-semantics.md.
 */
#include "format/eiattr.h"
#include "link/state.h"

static const char *MEMORY_SPACE =
    "Memory space doesn't match for '%s' in '%s', first specified in '%s'";

/* Not the object of a definition that replaced another. */
static const char *first_file(const cbi_lsym *sym)
{
    const cbi_lobj *obj = sym->named_obj ? sym->named_obj : sym->first_obj;
    return obj ? obj->file : "";
}

static void report_multiple(cbi_linker *lk, cbi_lobj *obj, const cbi_lsym *sym)
{
    const char *help = NULL;
    if (sym->def_obj && sym->def_obj != obj &&
        sym->def_obj->object.bytes.size == obj->object.bytes.size &&
        memcmp(sym->def_obj->object.bytes.data, obj->object.bytes.data, obj->object.bytes.size) ==
            0)
        help = "both inputs have the same contents: is one file given twice?";
    cbi_error(lk->ctx, "multiple-definition",
              &(cbi_place){.file = obj->file, .symbol = sym->name->s}, help,
              "Multiple definition of '%s' in '%s', first defined in '%s'", sym->name->s, obj->file,
              first_file(sym));
}

/* Register counts of an object's functions, from its .nv.info. */
static void load_regs(cbi_linker *lk, cbi_lobj *obj)
{
    const cbi_object *in = &obj->object;
    obj->regs = CBI_NEW_ARRAY(lk->ctx, in->symbol_count, uint32_t);
    for (uint32_t i = 1; i < in->section_count; i++) {
        if (in->sections[i].type != SHT_CUDA_INFO || (in->sections[i].flags & SHF_INFO_LINK))
            continue;
        size_t pos = 0;
        cbi_attr attr;
        while (cbi_attr_next(in->sections[i].data, &pos, &attr)) {
            if (attr.format != 4 || attr.code != EIATTR_REGCOUNT || attr.payload.size < 8)
                continue;
            uint32_t sym = cbi_ld32(attr.payload.data);
            if (sym < in->symbol_count)
                obj->regs[sym] = cbi_ld32(attr.payload.data + 4);
        }
    }
}

uint32_t cbi_input_regs(cbi_linker *lk, cbi_lobj *obj, uint32_t sym_index)
{
    const cbi_symbol *in = &obj->object.symbols[sym_index];
    if (in->shndx < obj->object.section_count) {
        uint32_t top = obj->object.sections[in->shndx].info >> 24;
        if (top)
            return top;
    }
    if (!obj->regs)
        load_regs(lk, obj);
    return obj->regs[sym_index];
}

/* Weak against weak: fewer registers, then the newer PTX target, then the first.  The PTX target of
 * the very first copy counts, also after that copy was replaced. */
static bool later_weak_wins(cbi_linker *lk, const cbi_func *held, cbi_lobj *obj, uint32_t index)
{
    uint32_t old_regs = cbi_input_regs(lk, held->obj, held->in_sym);
    uint32_t new_regs = cbi_input_regs(lk, obj, index);
    if (old_regs != new_regs)
        return new_regs < old_regs;
    return obj->cuinfo.virtual_sm > held->first_virtual_sm;
}

static uint64_t parameter_bank_size(const cbi_lobj *obj, uint32_t text)
{
    for (uint32_t i = 1; i < obj->object.section_count; i++) {
        const cbi_section *sec = &obj->object.sections[i];
        if (sec->type == SHT_CUDA_CONSTANT_B0 && sec->info == text)
            return sec->size;
    }
    return 0;
}

cbi_verdict cbi_resolve_function(cbi_linker *lk, cbi_lobj *obj, uint32_t index, cbi_lsym **ret_sym)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    bool defined = in->shndx != SHN_UNDEF;
    *ret_sym = NULL;
    if (CBI_ST_BIND(in->info) == STB_LOCAL)
        return CBI_NEW;
    cbi_lsym *sym = cbi_name_get(&lk->sym_by_name, cbi_intern(lk->ctx, in->name));
    *ret_sym = sym;
    if (!sym)
        return CBI_NEW;
    if ((sym->other ^ in->other) & STO_CUDA_ENTRY)
        cbi_error(lk->ctx, "not-declared-global",
                  &(cbi_place){.file = obj->file, .symbol = in->name}, NULL,
                  "Function '%s' not declared __global__ in all source files", in->name);
    if (!sym->func) {
        cbi_error(lk->ctx, "memory-space-mismatch",
                  &(cbi_place){.file = obj->file, .symbol = in->name}, NULL, MEMORY_SPACE, in->name,
                  obj->file, first_file(sym));
        if (defined && sym->state == CBI_SYM_DEFINED && CBI_ST_BIND(sym->info) != STB_WEAK &&
            CBI_ST_BIND(in->info) != STB_WEAK)
            report_multiple(lk, obj, sym);
        return CBI_LOSES;
    }
    if (!defined)
        return CBI_SAME;
    if (sym->state == CBI_SYM_UNDEF)
        return CBI_WINS;
    bool old_weak = CBI_ST_BIND(sym->info) == STB_WEAK;
    bool new_weak = CBI_ST_BIND(in->info) == STB_WEAK;
    if (!old_weak && !new_weak) {
        report_multiple(lk, obj, sym);
        return CBI_LOSES;
    }
    if (!old_weak)
        return CBI_LOSES;
    if (new_weak) {
        if ((in->other & STO_CUDA_ENTRY) && sym->func->obj &&
            parameter_bank_size(sym->func->obj, sym->func->in_sec) !=
                parameter_bank_size(obj, in->shndx))
            cbi_error(lk->ctx, "parameter-bank-mismatch",
                      &(cbi_place){.file = obj->file, .symbol = in->name}, NULL,
                      "Duplicate weak parameter bank for '%s' is not the same size", in->name);
        if (!later_weak_wins(lk, sym->func, obj, index))
            return CBI_LOSES;
    }
    return CBI_WINS;
}

static bool input_initialised(const cbi_lobj *obj, const cbi_symbol *in)
{
    return in->shndx < obj->object.section_count &&
           cbi_section_has_data(obj->object.sections[in->shndx].type);
}

/* nvlink forgets the place of a common symbol that an initialised weak definition follows, which a
 * final link notices at its end. */
static void lose_common(cbi_linker *lk, cbi_lobj *obj, const cbi_symbol *in, cbi_lsym *sym)
{
    if (!lk->opt->exact)
        cbi_fatal(lk->ctx, "weak-after-common", &(cbi_place){.file = obj->file, .symbol = in->name},
                  "give the initialised weak definition before the common one, or make it global",
                  "Weak definition of '%s' in '%s' follows a common symbol of that name", in->name,
                  obj->file);
    sym->common_pending = false;
    sym->value = CUDA_COMMON_LOST;
    sym->named_obj = obj;
}

cbi_verdict cbi_resolve_object(cbi_linker *lk, cbi_lobj *obj, uint32_t index, cbi_lsym **ret_sym)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    *ret_sym = NULL;
    if (CBI_ST_BIND(in->info) == STB_LOCAL)
        return CBI_NEW;
    cbi_lsym *sym = cbi_name_get(&lk->sym_by_name, cbi_intern(lk->ctx, in->name));
    *ret_sym = sym;
    if (!sym)
        return CBI_NEW;

    bool undefined = in->shndx == SHN_UNDEF;
    bool common = in->shndx == SHN_COMMON;
    cbi_place place = {.file = obj->file, .symbol = in->name};
    if (sym->func || ((sym->other ^ in->other) & STO_CUDA_SPACE)) {
        cbi_error(lk->ctx, "memory-space-mismatch", &place, NULL, MEMORY_SPACE, in->name, obj->file,
                  first_file(sym));
    }
    if (!sym->func && ((sym->other ^ in->other) & STO_CUDA_MANAGED))
        cbi_error(lk->ctx, "managed-mismatch", &place, NULL,
                  "Managed attribute doesn't match for '%s' in '%s', first specified in '%s'",
                  in->name, obj->file, first_file(sym));
    bool both_common = common && sym->state == CBI_SYM_COMMON;
    bool larger = in->size > sym->size;
    if (common && sym->state == CBI_SYM_DEFINED && sym->initialised &&
        (larger || CBI_ST_BIND(sym->info) != STB_WEAK)) {
        if (larger)
            cbi_error(lk->ctx, "common-too-large", &place, NULL,
                      "Common symbol '%s' in file '%s' has larger size than initialization",
                      in->name, obj->file);
        return CBI_SAME;
    }
    if (sym->state == CBI_SYM_COMMON && input_initialised(obj, in) && sym->size > in->size)
        cbi_error(lk->ctx, "common-too-large", &place, NULL,
                  "Common symbol '%s' in file '%s' has larger size than initialization", in->name,
                  first_file(sym));
    /* Dynamic shared memory is defined, of no size, in what -r makes of objects without Mercury. */
    bool dynamic = (in->other & STO_CUDA_SPACE) == STO_CUDA_SHARED && !undefined && !in->size;
    bool ignored = common && sym->state == CBI_SYM_DEFINED && sym->initialised;
    if (!both_common && !ignored && sym->size && (in->size || dynamic) && sym->size != in->size &&
        !(sym->state == CBI_SYM_COMMON && !undefined && (common || input_initialised(obj, in))))
        cbi_error(lk->ctx, "size-mismatch", &place, NULL,
                  "Size doesn't match for '%s' in '%s', first specified in '%s'", in->name,
                  obj->file, first_file(sym));

    if (undefined)
        return sym->func ? CBI_LOSES : CBI_SAME;
    bool old_weak = CBI_ST_BIND(sym->info) == STB_WEAK;
    bool new_weak = CBI_ST_BIND(in->info) == STB_WEAK;
    if (sym->func && sym->state != CBI_SYM_DEFINED)
        return CBI_LOSES;
    switch (sym->state) {
    case CBI_SYM_UNDEF:
        if (!dynamic || !sym->dynamic)
            return CBI_WINS;
        report_multiple(lk, obj, sym);
        return CBI_LOSES;
    case CBI_SYM_COMMON:
        if (common)
            return CBI_WINS; /* the caller takes the maximum */
        if (new_weak && input_initialised(obj, in) && sym->size <= in->size)
            lose_common(lk, obj, in, sym);
        return new_weak ? CBI_LOSES : CBI_WINS;
    case CBI_SYM_DEFINED:
        if (cbi_is_shared_var(sym) && !sym->size && in->size)
            return CBI_WINS;
        break;
    }
    if (old_weak && common)
        return sym->initialised ? CBI_LOSES : CBI_WINS;
    if (old_weak)
        return new_weak || sym->func ? CBI_LOSES : CBI_WINS;
    if (new_weak)
        return CBI_LOSES;
    report_multiple(lk, obj, sym);
    return CBI_LOSES;
}
