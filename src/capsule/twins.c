#include "capsule/twins.h"

#include "format/reloc.h"
#include "capsule/capsule.h"

bool cbi_is_code_twin(const cbi_section *s)
{
    return s->type == SHT_CUDA_MERC_RELA && cbi_after(s->name, ".nv.merc.rela.text.");
}

/* By the capsule, as functions can share a name. */
cbi_twins cbi_twins_of(const cbi_object *o, const uint32_t *plain, uint32_t section)
{
    cbi_twins t = {.object = o, .mercury = section};
    cbi_capsule capsule;
    uint32_t about = o->sections[section].info;
    if (about < o->section_count && cbi_capsule_open(o->sections[about].data, &capsule) &&
        capsule.text_index < o->section_count)
        t.plain = plain[capsule.text_index];
    return t;
}

/* Places in reserved shared memory are known when SASS is made, so that only one view may have the
 * relocation. */
static bool is_reserved(const cbi_symbol *symbols, uint32_t index)
{
    const char *name = index ? symbols[index].name : "";
    return strncmp(name, ".nv.reservedSmem.", 17) == 0 ||
           strncmp(name, "__nv_reservedSMEM_", 18) == 0;
}

/* The next relocation of the plain list that needs a partner. */
static bool next_plain(cbi_twins *t, cbi_rela *ret_rela)
{
    const cbi_object *o = t->object;
    size_t count = t->plain ? cbi_rela_count(&o->sections[t->plain]) : 0;
    while (t->next_plain < count) {
        *ret_rela = cbi_rela_at(&o->sections[t->plain], t->next_plain++);
        const cbi_reloc_type *type = cbi_reloc_find(ret_rela->type);
        /* the finalizer makes it */
        bool alone = type && type->action == CBI_RELOC_YIELD && !ret_rela->symbol;
        if (!alone && !is_reserved(o->symbols, ret_rela->symbol))
            return true;
    }
    return false;
}

/* May a Mercury relocation of code appear as this type in the plain view? */
static bool is_partner(const cbi_reloc_type *m, const cbi_reloc_type *plain_of, uint32_t sass)
{
    const cbi_reloc_type *rows[] = {m, plain_of};
    for (size_t i = 0; i < CBI_COUNT(rows); i++)
        if (rows[i] && (sass == rows[i]->sass_text || sass == rows[i]->sass_text_other))
            return true;
    return false;
}

const char *cbi_twins_next(cbi_ctx *ctx, cbi_twins *t)
{
    const cbi_object *o = t->object;
    const cbi_section *s = &o->sections[t->mercury];
    size_t count = cbi_rela_count(s);
    cbi_rela plain;
    while (t->next < count) {
        size_t n = t->next++;
        cbi_rela rela = cbi_rela_at(s, n);
        const cbi_reloc_type *m = cbi_reloc_find(rela.type);
        /* some exist in this view alone: nothing of them is left to do in SASS */
        if (is_reserved(o->merc_symbols, rela.symbol) || (m && m->action == CBI_RELOC_PROG_REL))
            continue;
        if (!next_plain(t, &plain)) {
            t->missing++;
            continue;
        }
        const cbi_reloc_type *p = cbi_reloc_find(plain.type);
        t->entry = n;
        if (rela.symbol != plain.symbol ||
            (m && !is_partner(m, cbi_reloc_find(m->plain), plain.type)))
            return cbi_printf(ctx, "relocation %zu, %s, has %s of symbol %u as its counterpart", n,
                              m ? m->name : "unknown", p ? p->name : "?", plain.symbol);
    }
    if (t->done)
        return NULL;
    t->done = true;
    t->entry = 0;
    if (t->missing)
        return cbi_printf(ctx, "%zu relocations of code lack a counterpart in the plain view",
                          t->missing);
    return next_plain(t, &plain) ? "relocations of code in the plain view lack a counterpart here"
                                 : NULL;
}
