/* check: from sm_100 on, the Mercury view against the plain one. */
#include "inspect/check.h"
#include "format/eiattr.h"
#include "capsule/fields.h"
#include "capsule/twins.h"
#include "capsule/units.h"
#include "sass/opcodes.h"

static uint32_t opcode(const cbi_section *text, uint64_t instruction)
{
    return cbi_sass_opcode(text->data.data + instruction * CBI_SASS_INSTRUCTION);
}

/* The last entry stands for the branch to itself and the NOPs that fill up the section. */
static void check_tail(cbi_checker *c, uint32_t i, const cbi_section *text,
                       const cbi_capsule_entry *tail)
{
    bool sound = opcode(text, tail->first) == CBI_OP_BRA;
    for (uint32_t k = 1; k < tail->count && sound; k++)
        sound = opcode(text, (uint64_t)tail->first + k) == CBI_OP_NOP;
    if (!sound)
        cbi_check_fail(c, CBI_CHECK_CAPSULE_TAIL, i, c->o->sections[i].offset, NULL,
                       "instructions 0x%x and up are no branch followed by NOPs",
                       tail->first * CBI_SASS_INSTRUCTION);
}

/* Mercury units in front of each instruction and at the end, as bounds: a record says how long its
 * instruction is, a derived one takes one or two units. */
typedef struct mercury_units {
    uint64_t *least, *most; /* with room for the largest code section */
    uint64_t count;         /* instructions of the one at hand */
} mercury_units;

static mercury_units units_for(cbi_ctx *ctx, const cbi_object *o)
{
    uint64_t size = 0;
    for (uint32_t i = 1; i < o->section_count; i++)
        if (o->sections[i].data.size > size && o->sections[i].flags & SHF_EXECINSTR)
            size = o->sections[i].data.size;
    size_t room = (size_t)(size / CBI_SASS_INSTRUCTION + 1);
    return (mercury_units){CBI_NEW_ARRAY(ctx, room, uint64_t), CBI_NEW_ARRAY(ctx, room, uint64_t),
                           0};
}

/* What one walk over the entries finds. */
typedef struct entry_walk {
    const char *fields, *kinds; /* the first problem */
    cbi_capsule_entry last;
} entry_walk;

/* Looks at every entry that lies inside of the text once, and counts units if that is wanted. */
static entry_walk walk_entries(cbi_ctx *ctx, cbi_capsule *walk, const cbi_section *text,
                               mercury_units *u)
{
    entry_walk w = {0};
    cbi_capsule_entry *e = &w.last;
    uint64_t least = 0, most = 0;
    uint64_t room = text->data.size / CBI_SASS_INSTRUCTION;
    while (cbi_capsule_next(walk, e)) {
        if ((uint64_t)e->first + e->count > room || e->first == room)
            continue; /* that is said of the capsule as a whole */
        const uint8_t *insn = text->data.data + (size_t)e->first * CBI_SASS_INSTRUCTION;
        if (e->kind == CBI_CAPSULE_RECORD && !w.fields)
            w.fields = cbi_capsule_fields_problem(ctx, e, insn);
        if (e->kind == CBI_CAPSULE_RECORD && !w.kinds)
            w.kinds = cbi_capsule_kind_problem(ctx, e, insn);
        if (!u)
            continue;
        uint64_t low = e->kind == CBI_CAPSULE_RUN ? 0 : e->units, high = low;
        if (e->kind == CBI_CAPSULE_DERIVED)
            cbi_capsule_derived_units(insn, &low, &high);
        least += low;
        most += high;
        for (uint32_t k = 1; k <= e->count; k++) {
            u->least[e->first + k] = least;
            u->most[e->first + k] = most;
        }
    }
    return w;
}

/* The functions of a section start and end at the same instructions in both views: the one that the
 * section belongs to, and others inside of it.  Aliases of the first have no length, but sometimes
 * in the plain view. */
static void check_extent(cbi_checker *c, const mercury_units *u, uint32_t symbol)
{
    const cbi_symbol *plain = &c->o->symbols[symbol], *merc = &c->o->merc_symbols[symbol];
    const cbi_section *s = &c->o->sections[merc->shndx];
    uint64_t first = plain->value / CBI_SASS_INSTRUCTION;
    uint64_t count = plain->size / CBI_SASS_INSTRUCTION;
    if (!cbi_fits(first, count, u->count))
        return; /* the plain symbol is reported */
    uint64_t last = first + count;
    const struct {
        const char *what;
        uint64_t value, least, most;
    } parts[] = {
        {"start", merc->value, u->least[first], u->most[first]},
        {"length", merc->size, u->least[last] - u->least[first], u->most[last] - u->most[first]},
    };
    bool alias = symbol != s->info && first == 0 && merc->size == 0;
    for (size_t i = 0; i < CBI_COUNT(parts) - alias; i++) {
        uint64_t least = parts[i].least * CBI_MERCURY_UNIT, most = parts[i].most * CBI_MERCURY_UNIT;
        if (parts[i].value < least || parts[i].value > most)
            cbi_check_fail(c, CBI_CHECK_CAPSULE_LENGTH, merc->shndx, s->offset, merc->name,
                           "the %s in Mercury code is 0x%llx; the entries make 0x%llx to 0x%llx",
                           parts[i].what, (unsigned long long)parts[i].value,
                           (unsigned long long)least, (unsigned long long)most);
    }
}

/* Functions by section; both tables have a symbol at the same index. */
typedef struct merc_functions {
    uint32_t *first; /* per section, 0 = none */
    uint32_t *next;  /* per symbol */
} merc_functions;

static merc_functions list_functions(cbi_ctx *ctx, const cbi_object *o)
{
    merc_functions list = {CBI_NEW_ARRAY(ctx, o->section_count, uint32_t),
                           CBI_NEW_ARRAY(ctx, o->merc_symbol_count, uint32_t)};
    uint32_t i = o->merc_symbol_count < o->symbol_count ? o->merc_symbol_count : o->symbol_count;
    while (i-- > 1) {
        const cbi_symbol *f = &o->merc_symbols[i];
        if (CBI_ST_TYPE(f->info) != STT_FUNC || f->shndx >= o->section_count)
            continue;
        list.next[i] = list.first[f->shndx];
        list.first[f->shndx] = i;
    }
    return list;
}

static void check_capsule(cbi_checker *c, uint32_t i, const merc_functions *functions,
                          mercury_units *units)
{
    const cbi_object *o = c->o;
    const cbi_section *s = &o->sections[i];
    static const char prefix[] = ".nv.capmerc";
    if (strncmp(s->name, prefix, sizeof prefix - 1) != 0)
        return;
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
    bool code = (text->flags & SHF_EXECINSTR) != 0;
    units->count = text->data.size / CBI_SASS_INSTRUCTION;
    units->least[0] = units->most[0] = 0;
    entry_walk walk = walk_entries(c->ctx, &capsule, text, code ? units : NULL);
    const char *error = cbi_capsule_finish(&capsule, &walk.last, text->data.size);
    if (error) {
        cbi_check_fail(c, CBI_CHECK_CAPSULE, i, s->offset, NULL, "%s", error);
        return;
    }
    if (walk.fields)
        cbi_check_fail(c, CBI_CHECK_CAPSULE_FIELDS, i, s->offset, NULL, "%s", walk.fields);
    if (walk.kinds)
        cbi_check_fail(c, CBI_CHECK_CAPSULE_KINDS, i, s->offset, NULL, "%s", walk.kinds);
    if (capsule.entries)
        check_tail(c, i, text, &walk.last);
    if (!code)
        return;
    for (uint32_t f = functions->first[i]; f; f = functions->next[f])
        if (o->symbols[f].shndx == index)
            check_extent(c, units, f);
}

/* ---- attributes ---- */

typedef struct twin_values {
    size_t exits; /* EXIT_INSTR_OFFSETS */
    /* MERCURY_ISA_VERSION, of which a link has one for each object; -1: none */
    int lowest, highest;
} twin_values;

static twin_values values_of(const cbi_section *s)
{
    twin_values v = {.lowest = -1, .highest = -1};
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(s->data, &pos, &attr)) {
        if (attr.code == EIATTR_EXIT_INSTR_OFFSETS)
            v.exits += attr.payload.size / 4;
        if (attr.code != EIATTR_MERCURY_ISA_VERSION)
            continue;
        v.lowest = v.lowest < 0 || attr.value < v.lowest ? attr.value : v.lowest;
        v.highest = attr.value > v.highest ? attr.value : v.highest;
    }
    return v;
}

/* The plain counterpart of attributes.  Those of a function name its capsule, which names the code:
 * static functions may share a name. */
static uint32_t info_twin(const cbi_checker *c, const uint32_t *attributes, const cbi_section *s)
{
    const cbi_object *o = c->o;
    if (s->info && s->info < o->section_count) {
        const cbi_section *capsule = &o->sections[s->info];
        if (capsule->type == SHT_CUDA_CAPMERC && capsule->data.size >= 4) {
            uint32_t code = cbi_ld32(capsule->data.data);
            return code < o->section_count ? attributes[code] : 0;
        }
    }
    const char *plain = cbi_after(s->name, ".nv.merc");
    return plain ? cbi_check_find_only(c, plain) : 0;
}

static void check_info_twins(cbi_checker *c, const uint32_t *attributes, uint32_t i)
{
    const cbi_section *s = &c->o->sections[i];
    uint32_t twin = info_twin(c, attributes, s);
    if (!twin)
        return;
    twin_values m = values_of(s), p = values_of(&c->o->sections[twin]);
    if (m.exits != p.exits)
        cbi_check_fail(c, CBI_CHECK_INFO_TWINS, i, s->offset, NULL,
                       "%zu exits in the Mercury view, %zu in the plain one", m.exits, p.exits);
    bool highest = m.highest != p.highest;
    if (highest || m.lowest != p.lowest)
        cbi_check_fail(c, CBI_CHECK_INFO_TWINS, i, s->offset, NULL,
                       "Mercury version 0x%x here, 0x%x in the plain view",
                       (unsigned)(highest ? m.highest : m.lowest),
                       (unsigned)(highest ? p.highest : p.lowest));
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
        cbi_check_fail(c, CBI_CHECK_RELOC_TWINS, i,
                       s->offset + twins.entry * c->o->class->size[CBI_ELF_RELA], NULL, "%s",
                       finding);
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

void cbi_check_mercury(cbi_checker *c)
{
    if (!c->mercury || !c->o->merc_symtab)
        return;
    const uint32_t *plain = cbi_sections_about(c->ctx, c->o, SHT_RELA);
    const uint32_t *attributes = cbi_sections_about(c->ctx, c->o, SHT_CUDA_INFO);
    merc_functions functions = list_functions(c->ctx, c->o);
    mercury_units units = units_for(c->ctx, c->o);
    for (uint32_t i = 1; i < c->o->section_count; i++) {
        switch (c->o->sections[i].type) {
        case SHT_CUDA_CAPMERC:
            check_capsule(c, i, &functions, &units);
            break;
        case SHT_CUDA_MERC_INFO:
            check_info_twins(c, attributes, i);
            break;
        case SHT_CUDA_MERC_RELA:
            check_text_relocs(c, plain, i);
            break;
        default:
            break;
        }
    }
    check_shared_bytes(c);
}
