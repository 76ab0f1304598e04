/* check: sections against the table of the ABI. */
#include "format/arch.h"
#include "inspect/check.h"
#include "format/section.h"

static void check_type(cbi_checker *c, uint32_t i, const cbi_section_rule *rule)
{
    const cbi_section *s = &c->o->sections[i];
    uint32_t want = c->executable ? rule->exec_type : rule->type;
    if (s->type == want && want)
        return;
    /* whole-program objects were linked by the assembler: some sections are final already */
    if (c->o->type == ET_CUDA_EWP && s->type == rule->exec_type && rule->exec_type)
        return;
    cbi_check_fail(c, CBI_CHECK_SECTION_TYPE, i, cbi_check_header(c, i), NULL,
                   want ? "sh_type is 0x%x instead of 0x%x"
                        : "sh_type 0x%x: files of this kind have no such section",
                   s->type, want);
}

static void check_flags(cbi_checker *c, uint32_t i, const cbi_section_rule *rule)
{
    const cbi_section *s = &c->o->sections[i];
    uint64_t flags = s->flags;
    if (rule->info == CBI_INFO_FUNCTION)
        flags &= ~(UINT64_C(0x7f) << 20); /* older tools keep a barrier count there */
    if (rule->info == CBI_INFO_COMPAT && s->info)
        flags &= ~(uint64_t)SHF_INFO_LINK;
    if (flags == rule->flags)
        return;
    if (c->legacy && flags == (rule->flags & ~(uint64_t)SHF_INFO_LINK))
        return;
    /* relocations of texture and surface parameters lack the flag in linked files */
    if (rule->info == CBI_INFO_TARGET && flags == 0 &&
        strncmp(s->name, ".rel.nv.constant0.", 18) == 0)
        return;
    cbi_check_fail(c, CBI_CHECK_SECTION_FLAGS, i, cbi_check_header(c, i), NULL,
                   "sh_flags is 0x%llx instead of 0x%x", (unsigned long long)s->flags, rule->flags);
}

static void check_link(cbi_checker *c, uint32_t i, const cbi_section_rule *rule)
{
    const cbi_section *s = &c->o->sections[i];
    uint32_t want = 0;
    switch (rule->link) {
    case CBI_LINKS_SYMTAB:
        want = c->o->symtab;
        break;
    case CBI_LINKS_MERC_SYMTAB:
        want = c->o->merc_symtab;
        break;
    case CBI_LINKS_STRTAB:
        want = c->o->strtab;
        break;
    case CBI_LINKS_TKINFO:
        want = cbi_check_find(c, ".note.nv.tkinfo");
        break;
    case CBI_LINKS_ANY:
        return;
    default:
        break;
    }
    if (s->link != want)
        cbi_check_fail(c, CBI_CHECK_SECTION_LINKS, i, cbi_check_header(c, i), NULL,
                       "sh_link is %u instead of %u", s->link, want);
}

/* Is this the code of the function, or the jump slot of a unified one? */
static bool is_code_of(const char *section, const char *text, const char *slot,
                       const char *function)
{
    static const char stub[] = "__cuda_uf_stub_";
    size_t len = strlen(text);
    if (strncmp(section, text, len) == 0 && strcmp(section + len, function) == 0)
        return true;
    len = strlen(slot);
    return strncmp(function, stub, sizeof stub - 1) == 0 && strncmp(section, slot, len) == 0 &&
           strcmp(section + len, function + sizeof stub - 1) == 0;
}

static void check_info(cbi_checker *c, uint32_t i, const cbi_section_rule *rule, const char *suffix)
{
    const cbi_section *s = &c->o->sections[i];
    const char *owner =
        s->info && s->info < c->o->section_count ? c->o->sections[s->info].name : "";
    bool right = true;
    switch (rule->info) {
    case CBI_INFO_TEXT:
        right = is_code_of(owner, ".text.", ".nv.uft.rel.", suffix);
        break;
    case CBI_INFO_MERC_TEXT:
        right = is_code_of(owner, ".nv.capmerc.text.", ".nv.capmerc.nv.uft.rel.", suffix);
        break;
    case CBI_INFO_COMPAT:
        right = s->info == cbi_check_find(c, ".nv.compat");
        break;
    case CBI_INFO_NOTHING:
        right = s->info == 0;
        break;
    default:
        break; /* symbols, relocations and the symbol table have rules of their own */
    }
    if (!right)
        cbi_check_fail(c, CBI_CHECK_SECTION_OWNER, i, cbi_check_header(c, i), NULL,
                       "sh_info is %u (%s)", s->info, owner);
}

static void check_align(cbi_checker *c, uint32_t i, const cbi_section_rule *rule)
{
    const cbi_section *s = &c->o->sections[i];
    uint64_t place = cbi_check_header(c, i);
    const cbi_elf_class *class = c->o->class;
    bool records = cbi_section_record(s->type) != CBI_ELF_RECORDS;
    uint32_t least = records && class->narrow ? class->align : rule->align;
    if (s->align & (s->align - 1))
        cbi_check_fail(c, CBI_CHECK_SECTION_ALIGN, i, place, NULL,
                       "alignment %llu is no power of two", (unsigned long long)s->align);
    else if (s->align < least)
        cbi_check_fail(c, CBI_CHECK_SECTION_ALIGN, i, place, NULL, "alignment %llu is less than %u",
                       (unsigned long long)s->align, least);
    else if (s->align > 1 && s->data.size && s->offset & (s->align - 1))
        cbi_check_fail(c, CBI_CHECK_SECTION_ALIGN, i, place, NULL,
                       "offset 0x%llx is not a multiple of %llu", (unsigned long long)s->offset,
                       (unsigned long long)s->align);
}

void cbi_check_sections(cbi_checker *c)
{
    for (uint32_t i = 1; i < c->o->section_count; i++) {
        const cbi_section *s = &c->o->sections[i];
        const char *suffix;
        const cbi_section_rule *rule = cbi_section_rule_find(s->name, &suffix);
        uint64_t place = cbi_check_header(c, i);
        if (!rule) {
            cbi_check_fail(c, CBI_CHECK_SECTION_KNOWN, i, place, NULL,
                           "section %u has an unknown name", i);
            continue;
        }
        check_type(c, i, rule);
        check_flags(c, i, rule);
        check_link(c, i, rule);
        check_info(c, i, rule, suffix);
        check_align(c, i, rule);
        cbi_elf_record record = cbi_section_record(s->type);
        uint32_t entsize = record == CBI_ELF_RECORDS ? rule->entsize : c->o->class->size[record];
        if (s->entsize != entsize)
            cbi_check_fail(c, CBI_CHECK_SECTION_ENTRIES, i, place, NULL,
                           "sh_entsize is %llu instead of %u", (unsigned long long)s->entsize,
                           entsize);
        if (c->sm < rule->first_sm ||
            (c->sm > rule->last_sm && (!cbi_sm_is_mercury(c->sm) || c->mercury)))
            cbi_check_fail(c, CBI_CHECK_SECTION_TARGET, i, place, NULL,
                           "sm_%u has no sections of this name", c->sm);
        if (s->flags & SHF_EXECINSTR && s->size % 16 != 0)
            cbi_check_fail(c, CBI_CHECK_CODE_SIZE, i, place, NULL,
                           "0x%llx bytes are no whole instructions", (unsigned long long)s->size);
    }
}
