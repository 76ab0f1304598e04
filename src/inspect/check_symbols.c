/* check: symbol tables and the functions they describe. */
#include "inspect/check.h"

static uint64_t symbol_place(const cbi_checker *c, bool mercury, uint32_t i)
{
    uint32_t table = mercury ? c->o->merc_symtab : c->o->symtab;
    return c->o->sections[table].offset + (uint64_t)i * c->o->class->size[CBI_ELF_SYM];
}

/* Memory space of a section by its type and name, 0 = none. */
static uint8_t space_of(const cbi_section *s)
{
    switch (s->type) {
    case SHT_CUDA_GLOBAL:
    case SHT_CUDA_GLOBAL_INIT:
    case SHT_CUDA_UDT:
        return STO_CUDA_GLOBAL;
    case SHT_CUDA_SHARED:
        return STO_CUDA_SHARED;
    case SHT_CUDA_SHARED_RESERVED:
        return STO_CUDA_RESERVED_SHARED;
    case SHT_CUDA_MERC_CONSTANT_USER:
    case SHT_CUDA_MERC_CONSTANT_OPT:
    case SHT_CUDA_MERC_CONSTANT_PIC:
        return STO_CUDA_CONSTANT;
    default:
        if (s->type >= SHT_CUDA_CONSTANT_B0 &&
            s->type - SHT_CUDA_CONSTANT_B0 < SHT_CUDA_CONSTANT_BANKS)
            return STO_CUDA_CONSTANT;
        return 0;
    }
}

static void check_object(cbi_checker *c, bool mercury, uint32_t i, const cbi_symbol *s)
{
    uint32_t table = mercury ? c->o->merc_symtab : c->o->symtab;
    /* linked files describe plain objects, others the memory space too */
    bool plain = CBI_ST_TYPE(s->info) == STT_OBJECT;
    uint8_t space = s->other & STO_CUDA_SPACE;
    if (plain) {
        if (space)
            cbi_check_fail(c, CBI_CHECK_SYMBOL_SPACE, table, symbol_place(c, mercury, i), s->name,
                           "symbol %u: a plain object has memory space bits 0x%x", i, space);
        return;
    }
    if (s->shndx == SHN_UNDEF || s->shndx >= c->o->section_count)
        return;
    uint8_t want = space_of(&c->o->sections[s->shndx]);
    if (want && space != want)
        cbi_check_fail(c, CBI_CHECK_SYMBOL_SPACE, table, symbol_place(c, mercury, i), s->name,
                       "symbol %u: memory space bits 0x%x in a section of 0x%x", i, space, want);
}

/* The Mercury table calls the sections by the names of their plain counterparts. */
static bool is_name_of(const char *name, const char *section, bool mercury)
{
    static const char *const twins[] = {".nv.capmerc", ".nv.merc"};
    if (strcmp(name, section) == 0)
        return true;
    for (size_t i = 0; mercury && i < CBI_COUNT(twins); i++) {
        size_t len = strlen(twins[i]);
        if (strncmp(section, twins[i], len) == 0 && strcmp(name, section + len) == 0)
            return true;
    }
    return false;
}

static void check_symbol(cbi_checker *c, bool mercury, uint32_t i, const cbi_symbol *s)
{
    uint32_t table = mercury ? c->o->merc_symtab : c->o->symtab;
    uint64_t place = symbol_place(c, mercury, i);
    const cbi_section *section =
        s->shndx != SHN_UNDEF && s->shndx < c->o->section_count ? &c->o->sections[s->shndx] : NULL;
    uint8_t type = CBI_ST_TYPE(s->info), bind = CBI_ST_BIND(s->info);
    if (bind > STB_WEAK) {
        cbi_check_fail(c, CBI_CHECK_SYMBOL_TYPE, table, place, s->name, "symbol %u: binding %u", i,
                       bind);
        return;
    }
    switch (type) {
    case STT_NOTYPE:
    case STT_CUDA_TEXTURE:
    case STT_CUDA_SAMPLER:
    case STT_CUDA_SURFACE:
        break;
    case STT_OBJECT:
    case STT_CUDA_OBJECT:
        check_object(c, mercury, i, s);
        break;
    case STT_FUNC:
        if (section && !(section->flags & SHF_EXECINSTR) && section->type != SHT_CUDA_CAPMERC)
            cbi_check_fail(c, CBI_CHECK_SYMBOL_TYPE, table, place, s->name,
                           "symbol %u: a function in %s", i, section->name);
        break;
    case STT_SECTION:
        if (!section || bind != STB_LOCAL || s->value || s->size ||
            (*s->name && !is_name_of(s->name, section->name, mercury)))
            cbi_check_fail(c, CBI_CHECK_SYMBOL_OF_SECTION, table, place, s->name,
                           "symbol %u: not a local, empty symbol with the name of its section", i);
        break;
    default:
        cbi_check_fail(c, CBI_CHECK_SYMBOL_TYPE, table, place, s->name, "symbol %u: type %u", i,
                       type);
        break;
    }
}

static void check_table(cbi_checker *c, bool mercury)
{
    const cbi_object *o = c->o;
    uint32_t table = mercury ? o->merc_symtab : o->symtab;
    const cbi_symbol *symbols = mercury ? o->merc_symbols : o->symbols;
    uint32_t count = mercury ? o->merc_symbol_count : o->symbol_count;
    /* a weak symbol stands among the globals if it was global first: an undefined one */
    uint32_t locals = 1, not_global = 1;
    for (uint32_t i = 1; i < count; i++) {
        check_symbol(c, mercury, i, &symbols[i]);
        if (CBI_ST_BIND(symbols[i].info) != STB_GLOBAL)
            not_global = i + 1;
        if (CBI_ST_BIND(symbols[i].info) == STB_LOCAL)
            locals = i + 1;
    }
    uint32_t info = table ? o->sections[table].info : 0;
    if (table && (info < locals || info > not_global) && !c->legacy)
        cbi_check_fail(c, CBI_CHECK_SYMBOL_LOCALS, table, cbi_check_header(c, table), NULL,
                       "sh_info is %u, the last local symbol %u, the last that is not global %u",
                       info, locals - 1, not_global - 1);
}

/* The Mercury table holds the same symbols at the same indices; the plain one may go on. */
static void check_twins(cbi_checker *c)
{
    const cbi_object *o = c->o;
    if (o->merc_symbol_count > o->symbol_count)
        cbi_check_fail(c, CBI_CHECK_MERC_SYMBOLS, o->merc_symtab,
                       cbi_check_header(c, o->merc_symtab), NULL,
                       "%u Mercury symbols, %u plain ones", o->merc_symbol_count, o->symbol_count);
    for (uint32_t i = 1; i < o->merc_symbol_count && i < o->symbol_count; i++) {
        const cbi_symbol *m = &o->merc_symbols[i], *s = &o->symbols[i];
        bool section = CBI_ST_TYPE(s->info) == STT_SECTION; /* names of twin sections may differ */
        if ((!section && strcmp(m->name, s->name) != 0) ||
            CBI_ST_BIND(m->info) != CBI_ST_BIND(s->info))
            cbi_check_fail(c, CBI_CHECK_MERC_SYMBOLS, o->merc_symtab, symbol_place(c, true, i),
                           m->name, "symbol %u is %s in .symtab or has another binding there", i,
                           s->name);
    }
}

void cbi_check_symbols(cbi_checker *c)
{
    check_table(c, false);
    if (c->o->merc_symtab) {
        check_table(c, true);
        check_twins(c);
    }
}

/* ---- functions ---- */

static void check_entry(cbi_checker *c, uint32_t text, const cbi_symbol *s)
{
    if (s->other & STO_CUDA_ENTRY &&
        !cbi_check_find(c, cbi_printf(c->ctx, ".nv.constant0.%s", s->name)))
        cbi_check_fail(c, CBI_CHECK_ENTRY_PARAMS, text, cbi_check_header(c, text), s->name,
                       "there is no .nv.constant0.%s", s->name);
}

static void check_text(cbi_checker *c, uint32_t i)
{
    const cbi_object *o = c->o;
    const cbi_section *s = &o->sections[i];
    uint64_t place = cbi_check_header(c, i);
    const char *name = s->name + strlen(".text.");
    uint32_t symbol = CUDA_TEXT_SYMBOL(s->info);
    const cbi_symbol *f = &o->symbols[symbol];
    if (symbol == 0 || symbol >= o->symbol_count || CBI_ST_TYPE(f->info) != STT_FUNC ||
        f->shndx != i || strcmp(f->name, name) != 0 || f->value != 0 || f->size != s->size) {
        cbi_check_fail(c, CBI_CHECK_FUNCTION, i, place, NULL,
                       "sh_info names symbol %u, which is not function %s with all of the section",
                       symbol, name);
        return;
    }
    if (!cbi_check_find(c, cbi_printf(c->ctx, ".nv.info.%s", name)))
        cbi_check_fail(c, CBI_CHECK_FUNCTION_INFO, i, place, f->name, "there is no .nv.info.%s",
                       name);
    if (c->mercury) {
        if (!cbi_check_find(c, cbi_printf(c->ctx, ".nv.capmerc.text.%s", name)))
            cbi_check_fail(c, CBI_CHECK_FUNCTION_CAPSULE, i, place, f->name,
                           "there is no .nv.capmerc.text.%s", name);
        if (!cbi_check_find(c, cbi_printf(c->ctx, ".nv.merc.nv.info.%s", name)))
            cbi_check_fail(c, CBI_CHECK_FUNCTION_INFO, i, place, f->name,
                           "there is no .nv.merc.nv.info.%s", name);
    }
    check_entry(c, i, f);
}

static void check_capsule(cbi_checker *c, uint32_t i)
{
    const cbi_object *o = c->o;
    const cbi_section *s = &o->sections[i];
    const cbi_symbol *f = s->info < o->merc_symbol_count ? &o->merc_symbols[s->info] : NULL;
    if (s->info == 0 || !f || CBI_ST_TYPE(f->info) != STT_FUNC || f->shndx != i)
        cbi_check_fail(c, CBI_CHECK_FUNCTION, i, cbi_check_header(c, i), NULL,
                       "sh_info names Mercury symbol %u, which is no function of this section",
                       s->info);
}

void cbi_check_functions(cbi_checker *c)
{
    for (uint32_t i = 1; i < c->o->section_count; i++) {
        const cbi_section *s = &c->o->sections[i];
        if (s->type == SHT_PROGBITS && strncmp(s->name, ".text.", 6) == 0)
            check_text(c, i);
        else if (s->type == SHT_CUDA_CAPMERC)
            check_capsule(c, i);
    }
}
