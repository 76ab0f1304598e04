/* Self-check of the finalizer: an image against itself, and the results of two runs. */
#include "capsule/fields.h"
#include "finalize/fnlzr.h"
#include "capsule/twins.h"

static const char *plain_name(const char *name)
{
    return strncmp(name, ".nv.merc.", 9) == 0 ? name + 8 : name;
}

static bool is_code_or_debug(const cbi_section *s)
{
    return s->type == SHT_PROGBITS || s->type == SHT_CUDA_CAPMERC;
}

static bool same_bytes(const cbi_section *a, const cbi_section *b)
{
    return a->size == b->size && cbi_same_bytes(a->data, b->data);
}

cbi_fnlzr_code cbi_fnlzr_compare(const cbi_object *a, const cbi_object *b)
{
    if (a->section_count != b->section_count)
        return CBI_FNLZR_SELF_RELOC;
    for (uint32_t i = 1; i < a->section_count; i++) {
        const cbi_section *x = &a->sections[i], *y = &b->sections[i];
        bool reloc = cbi_is_reloc_type(x->type);
        if (strcmp(plain_name(x->name), plain_name(y->name)) != 0 || x->type != y->type)
            return CBI_FNLZR_SELF_RELOC;
        if ((reloc || is_code_or_debug(x)) && !same_bytes(x, y))
            return reloc ? CBI_FNLZR_SELF_RELOC : CBI_FNLZR_SELF_TEXT;
    }
    if (a->symbol_count != b->symbol_count || a->merc_symbol_count != b->merc_symbol_count)
        return CBI_FNLZR_SELF_SYMBOLS;
    if (!same_bytes(&a->sections[a->symtab], &b->sections[b->symtab]) ||
        !same_bytes(&a->sections[a->merc_symtab], &b->sections[b->merc_symtab]))
        return CBI_FNLZR_SELF_SYMBOLS;
    return CBI_FNLZR_OK;
}

/* Both tables list the same symbols; only what the two sides see differently may differ. */
static bool symbols_agree(const cbi_object *o)
{
    if (!o->merc_symtab || o->merc_symbol_count > o->symbol_count)
        return false;
    for (uint32_t i = 1; i < o->merc_symbol_count; i++) {
        const cbi_symbol *s = &o->symbols[i], *m = &o->merc_symbols[i];
        bool section = CBI_ST_TYPE(s->info) == STT_SECTION;
        if (CBI_ST_BIND(s->info) != CBI_ST_BIND(m->info) ||
            (!section && strcmp(s->name, m->name) != 0))
            return false;
    }
    return true;
}

/* Every relocation is inside its section, and those of code are the same in both views. */
static const char *relocs_disagree(cbi_ctx *ctx, const cbi_object *o)
{
    const uint32_t *plain = cbi_sections_about(ctx, o, SHT_RELA);
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (!cbi_is_reloc_type(s->type) || cbi_is_resolved_type(s->type) ||
            s->info >= o->section_count)
            continue;
        const cbi_section *target = &o->sections[s->info];
        for (size_t k = 0; k < cbi_rela_count(s); k++) {
            cbi_rela entry = cbi_rela_at(s, k);
            if (entry.offset >= target->size && target->type != SHT_CUDA_CAPMERC)
                return cbi_printf(ctx, "%s: relocation %zu is outside of its section", s->name, k);
        }
        if (!cbi_is_code_twin(s))
            continue;
        cbi_twins twins = cbi_twins_of(o, plain, i);
        const char *finding = cbi_twins_next(ctx, &twins);
        if (finding)
            return cbi_printf(ctx, "%s: %s", s->name, finding);
    }
    return NULL;
}

const char *cbi_fnlzr_capsule_problem(const cbi_object *o, const cbi_section *s)
{
    cbi_capsule capsule;
    if (!cbi_capsule_open(s->data, &capsule))
        return capsule.error;
    if (capsule.text_index >= o->section_count)
        return "it names no section";
    return cbi_capsule_verify(s->data, o->sections[capsule.text_index].size);
}

static const char *code_disagrees(cbi_ctx *ctx, const cbi_object *o)
{
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (s->type != SHT_CUDA_CAPMERC)
            continue;
        const char *error = cbi_fnlzr_capsule_problem(o, s);
        if (!error)
            error =
                cbi_capsule_check_fields(ctx, s->data, o->sections[cbi_ld32(s->data.data)].data);
        if (error)
            return cbi_printf(ctx, "%s: %s", s->name, error);
    }
    return NULL;
}

cbi_fnlzr_code cbi_fnlzr_verify(cbi_ctx *ctx, const cbi_object *o, const char **ret_why)
{
    *ret_why = code_disagrees(ctx, o);
    if (*ret_why)
        return CBI_FNLZR_SELF_TEXT;
    *ret_why = relocs_disagree(ctx, o);
    if (*ret_why)
        return CBI_FNLZR_SELF_RELOC;
    if (symbols_agree(o))
        return CBI_FNLZR_OK;
    *ret_why = "the symbol tables of the two views differ";
    return CBI_FNLZR_SELF_SYMBOLS;
}
