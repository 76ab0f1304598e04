/* check: from sm_100 on, the Mercury view against the plain one. */
#include "inspect/check.h"
#include "format/eiattr.h"
#include "mercury/capsule_fields.h"
#include "mercury/twins.h"

enum { BRANCH = 0x947, NOP = 0x918, OPCODE_MASK = 0xfff, MERCURY_UNIT = 16 };

static uint32_t opcode(const cbi_section *text, uint64_t instruction)
{
    return cbi_ld16(text->data.data + instruction * CBI_SASS_INSTRUCTION) & OPCODE_MASK;
}

/* The last entry stands for the branch to itself and the NOPs that fill up the section. */
static void check_tail(cbi_checker *c, uint32_t i, const cbi_section *text,
                       const cbi_capsule_entry *tail)
{
    bool sound = opcode(text, tail->first) == BRANCH;
    for (uint32_t k = 1; k < tail->count && sound; k++)
        sound = opcode(text, (uint64_t)tail->first + k) == NOP;
    if (!sound)
        cbi_check_fail(c, CBI_CHECK_CAPSULE_TAIL, i, c->o->sections[i].offset, NULL,
                       "instructions 0x%x and up are no branch followed by NOPs",
                       tail->first * CBI_SASS_INSTRUCTION);
}

/* A record says how long its instruction is in Mercury; a derived one takes one or two units. */
static void check_length(cbi_checker *c, uint32_t i, uint64_t least, uint64_t most)
{
    const cbi_section *s = &c->o->sections[i];
    const cbi_symbol *f = &c->o->merc_symbols[s->info];
    least *= MERCURY_UNIT;
    most *= MERCURY_UNIT;
    if (f->size < least || f->size > most)
        cbi_check_fail(c, CBI_CHECK_CAPSULE_LENGTH, i, s->offset, f->name,
                       "0x%llx bytes of Mercury code; the entries make 0x%llx to 0x%llx",
                       (unsigned long long)f->size, (unsigned long long)least,
                       (unsigned long long)most);
}

static void check_capsule(cbi_checker *c, uint32_t i)
{
    const cbi_object *o = c->o;
    const cbi_section *s = &o->sections[i];
    static const char prefix[] = ".nv.capmerc";
    if (strncmp(s->name, ".nv.capmerc.text.", 17) != 0)
        return; /* jump slots of unified functions have no code section of their own */
    cbi_capsule capsule;
    if (!cbi_capsule_open(s->data, &capsule)) {
        cbi_check_fail(c, CBI_CHECK_CAPSULE, i, s->offset, NULL, "%s", capsule.error);
        return;
    }
    uint32_t index = capsule.text_index;
    const char *name = index < o->section_count ? o->sections[index].name : "";
    if (strcmp(name, s->name + sizeof prefix - 1) != 0) {
        cbi_check_fail(c, CBI_CHECK_CAPSULE_TEXT, i, s->offset, NULL,
                       "it names section %u (%s) as its code", index, name);
        return;
    }
    const cbi_section *text = &o->sections[index];
    const char *error = cbi_capsule_verify(s->data, text->data.size);
    if (error) {
        cbi_check_fail(c, CBI_CHECK_CAPSULE, i, s->offset, NULL, "%s", error);
        return;
    }
    error = cbi_capsule_check_fields(c->ctx, s->data, text->data);
    if (error)
        cbi_check_fail(c, CBI_CHECK_CAPSULE_FIELDS, i, s->offset, NULL, "%s", error);
    uint64_t least = 0, most = 0;
    cbi_capsule_entry e = {0};
    while (cbi_capsule_next(&capsule, &e)) {
        uint64_t low = e.kind == CBI_CAPSULE_RUN ? 0 : e.units, high = low;
        if (e.kind == CBI_CAPSULE_DERIVED)
            cbi_capsule_derived_units(text->data.data + (size_t)e.first * CBI_SASS_INSTRUCTION,
                                      &low, &high);
        least += low;
        most += high;
    }
    if (capsule.entries)
        check_tail(c, i, text, &e);
    if (s->info && s->info < o->merc_symbol_count)
        check_length(c, i, least, most);
}

/* ---- attributes ---- */

typedef struct twin_values {
    size_t exits; /* EXIT_INSTR_OFFSETS */
    int isa;      /* MERCURY_ISA_VERSION, -1 = none */
} twin_values;

static twin_values values_of(const cbi_section *s)
{
    twin_values v = {.isa = -1};
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(s->data, &pos, &attr)) {
        if (attr.code == EIATTR_EXIT_INSTR_OFFSETS)
            v.exits += attr.payload.size / 4;
        else if (attr.code == EIATTR_MERCURY_ISA_VERSION)
            v.isa = attr.value;
    }
    return v;
}

static void check_info_twins(cbi_checker *c, uint32_t i)
{
    const cbi_section *s = &c->o->sections[i];
    uint32_t twin = cbi_check_find_only(c, s->name + strlen(".nv.merc"));
    if (!twin)
        return;
    twin_values m = values_of(s), p = values_of(&c->o->sections[twin]);
    if (m.exits != p.exits)
        cbi_check_fail(c, CBI_CHECK_INFO_TWINS, i, s->offset, NULL,
                       "%zu exits in the Mercury view, %zu in the plain one", m.exits, p.exits);
    if (m.isa != p.isa)
        cbi_check_fail(c, CBI_CHECK_INFO_TWINS, i, s->offset, NULL,
                       "Mercury version 0x%x here, 0x%x in the plain view", (unsigned)m.isa,
                       (unsigned)p.isa);
}

/* ---- relocations ---- */

/* Code: the lists of both views correspond one to one. */
static void check_text_relocs(cbi_checker *c, const uint32_t *plain, uint32_t i)
{
    const cbi_section *s = &c->o->sections[i];
    if (!cbi_is_code_twin(s))
        return;
    cbi_twins twins = cbi_twins_of(c->o, plain, i);
    const char *finding;
    while ((finding = cbi_twins_next(c->ctx, &twins)))
        cbi_check_fail(c, CBI_CHECK_RELOC_TWINS, i, s->offset + twins.entry * sizeof(Elf64_Rela),
                       NULL, "%s", finding);
}

/* Initialised data exists once: both views name the same bytes. */
static void check_shared_bytes(cbi_checker *c)
{
    static const struct {
        const char *mercury, *plain;
    } twins[] = {{".nv.merc.nv.constant.user", ".nv.constant3"},
                 {".nv.merc.nv.global.init", ".nv.global.init"}};
    for (size_t k = 0; k < CBI_COUNT(twins); k++) {
        uint32_t i = cbi_check_find(c, twins[k].mercury);
        uint32_t twin = cbi_check_find(c, twins[k].plain);
        if (!i && !twin)
            continue;
        const cbi_section *m = &c->o->sections[i], *p = &c->o->sections[twin];
        if (!i || !twin || m->offset != p->offset || m->size != p->size)
            cbi_check_fail(
                c, CBI_CHECK_SHARED_BYTES, i ? i : twin, cbi_check_header(c, i ? i : twin), NULL,
                "%s and %s do not name the same bytes", twins[k].mercury, twins[k].plain);
    }
}

/* Aliases of a function have no length. */
static void check_aliases(cbi_checker *c)
{
    const cbi_object *o = c->o;
    for (uint32_t i = 1; i < o->merc_symbol_count; i++) {
        const cbi_symbol *alias = &o->merc_symbols[i];
        if (CBI_ST_TYPE(alias->info) != STT_FUNC || alias->shndx >= o->section_count)
            continue;
        const cbi_section *s = &o->sections[alias->shndx];
        if (s->type == SHT_CUDA_CAPMERC && s->info != i && alias->size)
            cbi_check_fail(c, CBI_CHECK_CAPSULE_LENGTH, alias->shndx, s->offset, alias->name,
                           "0x%llx bytes of Mercury code, but the section is another function's",
                           (unsigned long long)alias->size);
    }
}

void cbi_check_mercury(cbi_checker *c)
{
    if (!c->mercury || !c->o->merc_symtab)
        return;
    const uint32_t *plain = cbi_twins_plain(c->ctx, c->o);
    for (uint32_t i = 1; i < c->o->section_count; i++) {
        switch (c->o->sections[i].type) {
        case SHT_CUDA_CAPMERC:
            check_capsule(c, i);
            break;
        case SHT_CUDA_MERC_INFO:
            check_info_twins(c, i);
            break;
        case SHT_CUDA_MERC_RELA:
            check_text_relocs(c, plain, i);
            break;
        default:
            break;
        }
    }
    check_aliases(c);
    check_shared_bytes(c);
}
