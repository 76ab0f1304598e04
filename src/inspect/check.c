/* check: driver, and what concerns the file as a whole. */
#include "inspect/check.h"
#include "format/arch.h"
#include "format/section.h"

enum { MAX_FINDINGS = 1000 };

const cbi_check_row cbi_check_rules[] = {
#define CBI_CHECK_ROW(name, id, certain, text) {id, CBI_MADE_##certain, text},
    CBI_CHECK_RULES(CBI_CHECK_ROW)
#undef CBI_CHECK_ROW
};
const size_t cbi_check_rule_count = CBI_COUNT(cbi_check_rules);

void cbi_check_fail(cbi_checker *c, cbi_check_rule rule, uint32_t section, uint64_t place,
                    const char *symbol, const char *format, ...)
{
    bool note = !(cbi_check_rules[rule].certain & c->made);
    size_t *count = note ? &c->notes : &c->count;
    if ((*count)++ >= MAX_FINDINGS)
        return;
    va_list args;
    va_start(args, format);
    cbi_finding *f = cbi_vec_add(c->ctx, c->findings);
    f->rule = cbi_check_rules[rule].id;
    f->note = note;
    f->message = cbi_vprintf(c->ctx, format, args);
    f->offset = place;
    f->section = section ? c->o->sections[section].name : NULL;
    f->symbol = symbol;
    va_end(args);
}

uint32_t cbi_check_find(const cbi_checker *c, const char *name)
{
    return (uint32_t)(uintptr_t)cbi_map_get(&c->by_name, CBI_KEY(cbi_intern(c->ctx, name)));
}

/* Names of sections.  Those of functions and variables may come again: local functions of different
 * files may have the same name. */
static void index_sections(cbi_checker *c)
{
    const cbi_object *o = c->o;
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_name *name = cbi_intern(c->ctx, o->sections[i].name);
        if (!cbi_map_get(&c->by_name, CBI_KEY(name))) {
            cbi_map_put(c->ctx, &c->by_name, CBI_KEY(name), (void *)(uintptr_t)i);
            continue;
        }
        cbi_map_put(c->ctx, &c->repeated, CBI_KEY(name), (void *)(uintptr_t)i);
        const cbi_section_rule *rule = cbi_section_rule_find(name->s, NULL);
        if (rule && !rule->suffix)
            cbi_check_fail(c, CBI_CHECK_SECTION_TWICE, i, cbi_check_header(c, i), NULL,
                           "section %u has the name of an earlier one", i);
    }
}

uint32_t cbi_check_find_only(const cbi_checker *c, const char *name)
{
    if (cbi_map_get(&c->repeated, CBI_KEY(cbi_intern(c->ctx, name))))
        return 0;
    return cbi_check_find(c, name);
}

static bool is_known_sm(uint32_t sm)
{
    /* no longer supported, and 101, the first name of 110 */
    static const uint8_t retired[] = {30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 101};
    for (size_t i = 0; i < cbi_arch_count; i++)
        if (cbi_archs[i].sm == sm)
            return true;
    for (size_t i = 0; i < CBI_COUNT(retired); i++)
        if (retired[i] == sm)
            return true;
    return false;
}

static void check_header(cbi_checker *c)
{
    const cbi_object *o = c->o;
    uint8_t osabi = o->ident[EI_OSABI], version = o->ident[EI_ABIVERSION];
    bool legacy = c->legacy;
    if (legacy ? version != CUDA_ABI_VERSION_LEGACY
               : osabi != ELFOSABI_CUDA || version != CUDA_ABI_VERSION)
        cbi_check_fail(c, CBI_CHECK_OSABI, 0, EI_OSABI, NULL, "OSABI 0x%x with ABI version %u",
                       osabi, version);
    if (o->type != ET_REL && o->type != ET_EXEC && o->type != ET_CUDA_EWP)
        cbi_check_fail(c, CBI_CHECK_FILE_TYPE, 0, offsetof(Elf64_Ehdr, e_type), NULL,
                       "e_type is 0x%x", o->type);
    if (!is_known_sm(c->sm))
        cbi_check_fail(c, CBI_CHECK_TARGET, 0, offsetof(Elf64_Ehdr, e_flags), NULL,
                       "there is no target sm_%u", c->sm);
    uint32_t kind = o->flags & 0xff;
    if (!legacy && kind != EF_CUDA_KIND_SASS &&
        (!cbi_sm_is_mercury(c->sm) || kind != EF_CUDA_KIND_CAPMERC))
        cbi_check_fail(c, CBI_CHECK_KIND, 0, offsetof(Elf64_Ehdr, e_flags), NULL,
                       "kind 0x%x does not suit sm_%u", kind, c->sm);
    uint32_t cuinfo = cbi_check_find(c, ".note.nv.cuinfo");
    uint32_t given = EF_CUDA_CUINFO(o->flags);
    if (!legacy && given != EF_CUDA_CUINFO_OF(cuinfo, kind))
        cbi_check_fail(c, CBI_CHECK_CUINFO_INDEX, 0, offsetof(Elf64_Ehdr, e_flags), NULL,
                       "e_flags gives section %u, .note.nv.cuinfo is section %u", given, cuinfo);
}

static void check_cuinfo(cbi_checker *c)
{
    uint32_t index = cbi_check_find(c, ".note.nv.cuinfo");
    if (!index)
        return;
    const cbi_section *s = &c->o->sections[index];
    size_t pos = 0;
    cbi_note note;
    if (!cbi_note_next(s->data, &pos, &note) || pos != s->data.size ||
        note.type != NT_CUDA_CUINFO || note.desc.size != 8 || note.owner.size != 12 ||
        memcmp(note.owner.data, "NVIDIA Corp", 12) != 0) {
        cbi_check_fail(c, CBI_CHECK_CUINFO, index, s->offset, NULL,
                       "not one note of owner NVIDIA Corp, type 1000, 8 bytes");
        return;
    }
    uint32_t version = cbi_ld16(note.desc.data), sm = cbi_ld16(note.desc.data + 2);
    uint32_t toolkit = cbi_ld32(note.desc.data + 4);
    if (version != 2 || sm > c->sm || toolkit < CUDA_TOOLKIT_MIN || toolkit > 0xffff)
        cbi_check_fail(c, CBI_CHECK_CUINFO, index, s->offset + CUDA_NOTE_HEADER, NULL,
                       "version %u, virtual target %u on sm_%u, toolkit %u", version, sm, c->sm,
                       toolkit);
}

/* A link puts the notes of its inputs behind its own; the first compilers for sm_100 wrote their
 * toolkit for the version. */
static bool is_tool_note(const cbi_note *note, bool first)
{
    enum { VERSION = 2, EARLY = 128 };
    cbi_tkinfo tkinfo;
    return note->type == NT_CUDA_TKINFO && cbi_tkinfo_read(note->desc, &tkinfo) &&
           (tkinfo.version == VERSION || (!first && tkinfo.version == EARLY));
}

static void check_tkinfo(cbi_checker *c)
{
    uint32_t index = cbi_check_find(c, ".note.nv.tkinfo");
    if (!index)
        return;
    const cbi_section *s = &c->o->sections[index];
    size_t pos = 0;
    cbi_note note;
    for (bool first = true; cbi_note_next(s->data, &pos, &note); first = false)
        if (!is_tool_note(&note, first))
            cbi_check_fail(c, CBI_CHECK_TKINFO, index, s->offset + note.offset, NULL,
                           "the note at 0x%zx is no tool note of version 2", note.offset);
    if (pos != s->data.size)
        cbi_check_fail(c, CBI_CHECK_TKINFO, index, s->offset + pos, NULL,
                       "the note at 0x%zx does not end inside the section", pos);
}

/* Executables: the program headers are the last bytes of the file, and one loads every allocated
 * section. */
static void check_segments(cbi_checker *c)
{
    const cbi_object *o = c->o;
    uint64_t place = offsetof(Elf64_Ehdr, e_phnum);
    if (c->legacy && o->phnum == 0)
        return;
    if (!c->executable) {
        if (o->phnum || o->phoff)
            cbi_check_fail(c, CBI_CHECK_SEGMENTS, 0, place, NULL,
                           "a relocatable file has %u program headers", o->phnum);
        return;
    }
    if (o->phnum < 2 || o->phnum == PN_XNUM || o->phoff != cbi_check_header(c, o->section_count)) {
        cbi_check_fail(c, CBI_CHECK_SEGMENTS, 0, place, NULL,
                       "%u program headers at 0x%llx, section headers end at 0x%llx", o->phnum,
                       (unsigned long long)o->phoff,
                       (unsigned long long)cbi_check_header(c, o->section_count));
        return;
    }
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (!(s->flags & SHF_ALLOC) || s->size == 0 || !cbi_section_has_data(s->type) ||
            cbi_section_is_mercury(s))
            continue;
        bool covered = false;
        for (uint64_t k = 0; k < o->phnum && !covered; k++) {
            cbi_program_header h = cbi_object_segment(o, k);
            covered = h.type == PT_LOAD && s->offset >= h.offset &&
                      cbi_fits(s->offset - h.offset, s->size, h.file_size);
        }
        if (!covered)
            cbi_check_fail(c, CBI_CHECK_SEGMENT_COVER, i, cbi_check_header(c, i), NULL,
                           "section %u is in no segment", i);
    }
}

static bool has_code(const cbi_object *o)
{
    for (uint32_t i = 1; i < o->section_count; i++)
        if (o->sections[i].flags & SHF_EXECINSTR)
            return true;
    return false;
}

void cbi_check_file(cbi_checker *c)
{
    static const char *const needed[] = {".note.nv.tkinfo", ".note.nv.cuinfo", ".nv.callgraph"};
    static const char *const fixed[] = {".shstrtab", ".strtab", ".symtab"};
    const cbi_object *o = c->o;
    check_header(c);
    for (uint32_t i = 0; i < CBI_COUNT(fixed); i++)
        if (cbi_check_find(c, fixed[i]) != i + 1)
            cbi_check_fail(c, CBI_CHECK_FIXED_SECTIONS, 0, o->shoff, NULL, "section %u is not %s",
                           i + 1, fixed[i]);
    for (size_t i = 0; i < CBI_COUNT(needed); i++)
        if (!c->legacy && !cbi_check_find(c, needed[i]))
            cbi_check_fail(c, CBI_CHECK_NEEDED_SECTION, 0, o->shoff, NULL, "there is no %s",
                           needed[i]);
    if (has_code(o) && !cbi_check_find(c, ".nv.info"))
        cbi_check_fail(c, CBI_CHECK_NEEDED_SECTION, 0, o->shoff, NULL, "there is no .nv.info");
    if (!c->legacy && cbi_sm_has_compat(c->sm) && !cbi_check_find(c, ".nv.compat"))
        cbi_check_fail(c, CBI_CHECK_NEEDED_SECTION, 0, o->shoff, NULL, "there is no .nv.compat");
    if (!c->legacy && c->mercury && !o->merc_symtab)
        cbi_check_fail(c, CBI_CHECK_NEEDED_SECTION, 0, o->shoff, NULL,
                       "there is no .nv.merc.symtab");
    check_cuinfo(c);
    check_tkinfo(c);
    check_segments(c);
}

/* The assembler of hand-written kernels puts the section table in front and the symbol table first;
 * early compilers have their note under another name. */
static uint8_t made_by(const cbi_checker *c)
{
    const cbi_object *o = c->o;
    if (o->shoff == o->class->size[CBI_ELF_EHDR] && o->symtab == 1)
        return CBI_MADE_ASSEMBLED;
    if (cbi_object_find(o, ".note.nv.cuver") && !cbi_object_find(o, ".note.nv.cuinfo"))
        return CBI_MADE_EARLY;
    return CBI_MADE_CURRENT;
}

void cbi_check(cbi_ctx *ctx, const cbi_object *object, cbi_findings *findings)
{
    cbi_checker c = {.ctx = ctx,
                     .o = object,
                     .findings = findings,
                     .sm = object->sm,
                     .executable = object->type == ET_EXEC};
    c.legacy = object->ident[EI_OSABI] == ELFOSABI_CUDA_LEGACY;
    /* code without a Mercury side is like that of earlier chips */
    c.mercury = cbi_sm_is_mercury(c.sm) && !(object->flags & EF_CUDA_KIND_SASS);
    c.made = made_by(&c);
    index_sections(&c);
    cbi_check_file(&c);
    cbi_check_sections(&c);
    cbi_check_symbols(&c);
    cbi_check_functions(&c);
    cbi_check_attributes(&c);
    cbi_check_graph(&c);
    cbi_check_relocs(&c);
    cbi_check_mercury(&c);
    for (size_t i = 0; i < object->doubts.len; i++)
        cbi_vec_push(ctx, findings, object->doubts.items[i]);
}
