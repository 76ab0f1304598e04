#include "format/section.h"
#include "format/cuda_elf.h"

/* clang-format off */
#define L_NONE   CBI_LINKS_NOTHING
#define L_SYMTAB CBI_LINKS_SYMTAB
#define L_MERC   CBI_LINKS_MERC_SYMTAB
#define L_STRTAB CBI_LINKS_STRTAB
#define L_TKINFO CBI_LINKS_TKINFO
#define L_ANY    CBI_LINKS_ANY
#define I_NONE   CBI_INFO_NOTHING
#define I_TEXT   CBI_INFO_TEXT
#define I_FUNCTION      CBI_INFO_FUNCTION
#define I_MERC_TEXT     CBI_INFO_MERC_TEXT
#define I_MERC_FUNCTION CBI_INFO_MERC_FUNCTION
#define I_TARGET CBI_INFO_TARGET
#define I_LOCALS CBI_INFO_LOCALS
#define I_COMPAT CBI_INFO_COMPAT
#define I_ANY    CBI_INFO_ANY

/* name, its length, suffix, type, type in executables, flags, link, info, least alignment, entry size,
 * first and last target */
const cbi_section_rule cbi_section_rules[] = {
    {".shstrtab", 9, false, SHT_STRTAB, SHT_STRTAB, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".strtab", 7, false, SHT_STRTAB, SHT_STRTAB, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".symtab", 7, false, SHT_SYMTAB, SHT_SYMTAB, 0x0, L_STRTAB, I_LOCALS, 8, 24, 0, 255},
    {".symtab_shndx", 13, false, SHT_SYMTAB_SHNDX, SHT_SYMTAB_SHNDX, 0x0, L_SYMTAB, I_NONE, 4, 4, 0, 255},
    {".debug_abbrev", 13, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".debug_aranges", 14, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".debug_frame", 12, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".debug_info", 11, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".debug_line", 11, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".debug_loc", 10, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".debug_macinfo", 14, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".debug_pubnames", 15, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".debug_pubtypes", 15, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".debug_ranges", 13, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".debug_str", 10, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv_debug_line_sass", 19, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv_debug_info_reg_sass", 23, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv_debug_info_reg_type", 23, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv_debug_ptx_txt", 17, false, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv_debug_ptx_txt", 17, true, SHT_PROGBITS, SHT_PROGBITS, 0x0, L_NONE, I_NONE, 1, 0, 0, 255},
    {".note.nv.tkinfo", 15, false, SHT_NOTE, SHT_NOTE, 0x2000000, L_NONE, I_NONE, 4, 0, 0, 255},
    {".note.nv.cuinfo", 15, false, SHT_NOTE, SHT_NOTE, 0x1000000, L_TKINFO, I_COMPAT, 4, 0, 0, 255},
    {".nv.info", 8, false, SHT_CUDA_INFO, SHT_CUDA_INFO, 0x0, L_SYMTAB, I_NONE, 4, 0, 0, 255},
    {".nv.info", 8, true, SHT_CUDA_INFO, SHT_CUDA_INFO, 0x40, L_SYMTAB, I_TEXT, 4, 0, 0, 255},
    {".nv.compat", 10, false, SHT_CUDA_COMPAT, SHT_CUDA_COMPAT, 0x0, L_NONE, I_NONE, 4, 0, 90, 255},
    {".nv.callgraph", 13, false, SHT_CUDA_CALLGRAPH, SHT_CUDA_CALLGRAPH, 0x0, L_SYMTAB, I_NONE, 4, 8, 0, 255},
    {".nv.prototype", 13, false, SHT_CUDA_PROTOTYPE, SHT_CUDA_PROTOTYPE, 0x0, L_SYMTAB, I_NONE, 4, 8, 0, 255},
    {".nv.rel.action", 14, false, 0, SHT_CUDA_RELOCINFO, 0x0, L_NONE, I_NONE, 8, 8, 0, 90},
    {".rel", 4, true, SHT_REL, SHT_REL, 0x40, L_SYMTAB, I_TARGET, 8, 16, 0, 255},
    {".rela", 5, true, SHT_RELA, SHT_RELA, 0x40, L_SYMTAB, I_TARGET, 8, 24, 0, 255},
    {".nv.resolvedrela", 16, true, SHT_CUDA_RESOLVED_RELA, SHT_CUDA_RESOLVED_RELA, 0x40, L_SYMTAB, I_TARGET, 8, 24, 0, 255},
    {".text", 5, true, SHT_PROGBITS, SHT_PROGBITS, 0x6, L_SYMTAB, I_FUNCTION, 128, 0, 0, 255},
    {".nv.constant0", 13, false, SHT_CUDA_CONSTANT_B0 + 0, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant0", 13, true, SHT_CUDA_CONSTANT_B0 + 0, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant1", 13, false, SHT_CUDA_CONSTANT_B0 + 1, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant1", 13, true, SHT_CUDA_CONSTANT_B0 + 1, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant2", 13, false, SHT_CUDA_CONSTANT_B0 + 2, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant2", 13, true, SHT_CUDA_CONSTANT_B0 + 2, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant3", 13, false, SHT_CUDA_CONSTANT_B0 + 3, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant3", 13, true, SHT_CUDA_CONSTANT_B0 + 3, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant4", 13, false, SHT_CUDA_CONSTANT_B0 + 4, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant4", 13, true, SHT_CUDA_CONSTANT_B0 + 4, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant5", 13, false, SHT_CUDA_CONSTANT_B0 + 5, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant5", 13, true, SHT_CUDA_CONSTANT_B0 + 5, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant6", 13, false, SHT_CUDA_CONSTANT_B0 + 6, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant6", 13, true, SHT_CUDA_CONSTANT_B0 + 6, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant7", 13, false, SHT_CUDA_CONSTANT_B0 + 7, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant7", 13, true, SHT_CUDA_CONSTANT_B0 + 7, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant8", 13, false, SHT_CUDA_CONSTANT_B0 + 8, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant8", 13, true, SHT_CUDA_CONSTANT_B0 + 8, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant9", 13, false, SHT_CUDA_CONSTANT_B0 + 9, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant9", 13, true, SHT_CUDA_CONSTANT_B0 + 9, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant10", 14, false, SHT_CUDA_CONSTANT_B0 + 10, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant10", 14, true, SHT_CUDA_CONSTANT_B0 + 10, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant11", 14, false, SHT_CUDA_CONSTANT_B0 + 11, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant11", 14, true, SHT_CUDA_CONSTANT_B0 + 11, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant12", 14, false, SHT_CUDA_CONSTANT_B0 + 12, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant12", 14, true, SHT_CUDA_CONSTANT_B0 + 12, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant13", 14, false, SHT_CUDA_CONSTANT_B0 + 13, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant13", 14, true, SHT_CUDA_CONSTANT_B0 + 13, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant14", 14, false, SHT_CUDA_CONSTANT_B0 + 14, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant14", 14, true, SHT_CUDA_CONSTANT_B0 + 14, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant15", 14, false, SHT_CUDA_CONSTANT_B0 + 15, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant15", 14, true, SHT_CUDA_CONSTANT_B0 + 15, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant16", 14, false, SHT_CUDA_CONSTANT_B0 + 16, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant16", 14, true, SHT_CUDA_CONSTANT_B0 + 16, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.constant17", 14, false, SHT_CUDA_CONSTANT_B0 + 17, SHT_PROGBITS, 0x2, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.constant17", 14, true, SHT_CUDA_CONSTANT_B0 + 17, SHT_PROGBITS, 0x42, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.global", 10, false, SHT_CUDA_GLOBAL, SHT_NOBITS, 0x3, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.global.init", 15, false, SHT_CUDA_GLOBAL_INIT, SHT_PROGBITS, 0x3, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.shared.reserved.0", 21, false, SHT_CUDA_SHARED_RESERVED, SHT_NOBITS, 0x3, L_NONE, I_NONE, 1, 0, 90, 255},
    {".nv.shared", 10, true, SHT_CUDA_SHARED, SHT_NOBITS, 0x43, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv_debug.shared", 16, false, SHT_CUDA_SHARED, SHT_NOBITS, 0x3, L_NONE, I_NONE, 1, 0, 0, 255},
    {".nv.local", 9, true, SHT_CUDA_LOCAL, SHT_NOBITS, 0x3, L_NONE, I_TEXT, 1, 0, 0, 255},
    {".nv.uft.rel", 11, true, SHT_CUDA_UFT, SHT_CUDA_UFT, 0x6, L_SYMTAB, I_FUNCTION, 128, 128, 90, 255},
    {".nv.uft", 7, false, SHT_CUDA_UFT, SHT_CUDA_UFT, 0x6, L_ANY, I_ANY, 128, 128, 90, 255},
    {".nv.uft.entry", 13, false, SHT_CUDA_UFT_ENTRY, SHT_CUDA_UFT_ENTRY, 0x0, L_SYMTAB, I_NONE, 8, 32, 90, 255},
    {".nv.udt", 7, false, SHT_CUDA_UDT, SHT_CUDA_UDT, 0x3, L_NONE, I_NONE, 1, 0, 90, 255},
    {".nv.udt.entry", 13, false, SHT_CUDA_UDT_ENTRY, SHT_CUDA_UDT_ENTRY, 0x0, L_SYMTAB, I_NONE, 8, 32, 90, 255},
    {".nv.capmerc.text", 16, true, SHT_CUDA_CAPMERC, SHT_CUDA_CAPMERC, 0x10000000, L_MERC, I_MERC_FUNCTION, 16, 0, 100, 255},
    {".nv.capmerc.nv.uft.rel", 22, true, SHT_CUDA_CAPMERC, SHT_CUDA_CAPMERC, 0x10000000, L_MERC, I_MERC_FUNCTION, 16, 128, 100, 255},
    {".nv.merc.debug_abbrev", 21, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.debug_aranges", 22, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.debug_frame", 20, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.debug_info", 19, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.debug_line", 19, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.debug_loc", 18, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.debug_macinfo", 22, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.debug_pubnames", 23, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.debug_pubtypes", 23, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.debug_ranges", 21, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.debug_str", 18, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.nv_debug_line_sass", 27, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.nv_debug_info_reg_sass", 31, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.nv_debug_info_reg_type", 31, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.nv_debug_ptx_txt", 25, false, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.nv_debug_ptx_txt", 25, true, SHT_PROGBITS, SHT_PROGBITS, 0x10000000, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.nv.info", 16, false, SHT_CUDA_MERC_INFO, SHT_CUDA_MERC_INFO, 0x10000000, L_MERC, I_NONE, 4, 0, 100, 255},
    {".nv.merc.nv.info", 16, true, SHT_CUDA_MERC_INFO, SHT_CUDA_MERC_INFO, 0x10000040, L_MERC, I_MERC_TEXT, 4, 0, 100, 255},
    {".nv.merc.rela", 13, true, SHT_CUDA_MERC_RELA, SHT_CUDA_MERC_RELA, 0x10000040, L_MERC, I_TARGET, 8, 24, 100, 255},
    {".nv.merc.nv.resolvedrela", 24, true, SHT_CUDA_MERC_RESOLVED_RELA, SHT_CUDA_MERC_RESOLVED_RELA, 0x10000040, L_MERC, I_TARGET, 8, 24, 100, 255},
    {".nv.merc.nv.constant.user", 25, false, SHT_CUDA_MERC_CONSTANT_USER, SHT_CUDA_MERC_CONSTANT_USER, 0x10000002, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.nv.constant.pic", 24, false, SHT_CUDA_MERC_CONSTANT_PIC, SHT_CUDA_MERC_CONSTANT_PIC, 0x10000002, L_NONE, I_NONE, 8, 0, 100, 255},
    {".nv.merc.nv.constant.optimizer", 30, true, SHT_CUDA_MERC_CONSTANT_OPT, SHT_CUDA_MERC_CONSTANT_OPT, 0x10000042, L_NONE, I_MERC_TEXT, 4, 0, 100, 255},
    {".nv.merc.nv.constant.entry_image_header_indices", 47, true, SHT_CUDA_MERC_IMAGE_INDICES, SHT_CUDA_MERC_IMAGE_INDICES, 0x10000042, L_NONE, I_MERC_TEXT, 4, 0, 100, 255},
    {".nv.merc.nv.global.init", 23, false, SHT_CUDA_GLOBAL_INIT, SHT_CUDA_GLOBAL_INIT, 0x10000003, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.nv.shared.reserved.0", 29, false, SHT_CUDA_SHARED_RESERVED, SHT_CUDA_SHARED_RESERVED, 0x10000003, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.nv.udt", 15, false, SHT_CUDA_UDT, SHT_CUDA_UDT, 0x10000003, L_NONE, I_NONE, 1, 0, 100, 255},
    {".nv.merc.nv.udt.entry", 21, false, SHT_CUDA_UDT_ENTRY, SHT_CUDA_UDT_ENTRY, 0x10000000, L_MERC, I_NONE, 8, 32, 100, 255},
    {".nv.merc.nv.uft.entry", 21, false, SHT_CUDA_UFT_ENTRY, SHT_CUDA_UFT_ENTRY, 0x10000000, L_MERC, I_NONE, 8, 32, 100, 255},
    {".nv.merc.symtab", 15, false, SHT_CUDA_MERC_SYMTAB, SHT_CUDA_MERC_SYMTAB, 0x10000000, L_STRTAB, I_LOCALS, 8, 24, 100, 255},
};
/* clang-format on */
const size_t cbi_section_rule_count = CBI_COUNT(cbi_section_rules);

const cbi_section_rule *cbi_section_rule_find(const char *name, const char **ret_suffix)
{
    const cbi_section_rule *best = NULL;
    size_t len = strlen(name);
    for (size_t i = 0; i < cbi_section_rule_count; i++) {
        const cbi_section_rule *rule = &cbi_section_rules[i];
        if (rule->name_len > len || name[rule->name_len] != (rule->suffix ? '.' : 0) ||
            memcmp(name, rule->name, rule->name_len) != 0)
            continue;
        if (!best || !rule->suffix || rule->name_len > best->name_len)
            best = rule;
        if (!rule->suffix)
            break; /* an exact name beats every prefix */
    }
    const char *suffix = best && best->suffix ? name + best->name_len + 1 : "";
    if (ret_suffix)
        *ret_suffix = suffix;
    return best;
}

const char *cbi_section_type_name(uint32_t type)
{
    static const struct {
        uint32_t type;
        const char *name;
    } names[] = {
        {SHT_NULL, "NULL"},
        {SHT_PROGBITS, "PROGBITS"},
        {SHT_SYMTAB, "SYMTAB"},
        {SHT_STRTAB, "STRTAB"},
        {SHT_RELA, "RELA"},
        {SHT_NOTE, "NOTE"},
        {SHT_NOBITS, "NOBITS"},
        {SHT_REL, "REL"},
        {SHT_SYMTAB_SHNDX, "SYMTAB_SHNDX"},
        {SHT_CUDA_INFO, "CUDA_INFO"},
        {SHT_CUDA_CALLGRAPH, "CUDA_CALLGRAPH"},
        {SHT_CUDA_PROTOTYPE, "CUDA_PROTOTYPE"},
        {SHT_CUDA_RESOLVED_RELA, "CUDA_RESOLVED_RELA"},
        {SHT_CUDA_METADATA, "CUDA_METADATA"},
        {SHT_CUDA_CONSTANT, "CUDA_CONSTANT"},
        {SHT_CUDA_GLOBAL, "CUDA_GLOBAL"},
        {SHT_CUDA_GLOBAL_INIT, "CUDA_GLOBAL_INIT"},
        {SHT_CUDA_LOCAL, "CUDA_LOCAL"},
        {SHT_CUDA_SHARED, "CUDA_SHARED"},
        {SHT_CUDA_RELOCINFO, "CUDA_RELOCINFO"},
        {SHT_CUDA_UFT, "CUDA_UFT"},
        {SHT_CUDA_UIDX, "CUDA_UIDX"},
        {SHT_CUDA_UFT_ENTRY, "CUDA_UFT_ENTRY"},
        {SHT_CUDA_UDT, "CUDA_UDT"},
        {SHT_CUDA_UDT_ENTRY, "CUDA_UDT_ENTRY"},
        {SHT_CUDA_SHARED_RESERVED, "CUDA_SHARED_RESERVED"},
        {SHT_CUDA_CAPMERC, "CUDA_CAPMERC"},
        {SHT_CUDA_MERC_IMAGE_INDICES, "CUDA_MERC_IMAGE_INDICES"},
        {SHT_CUDA_MERC_CONSTANT_USER, "CUDA_MERC_CONSTANT_USER"},
        {SHT_CUDA_MERC_CONSTANT_PIC, "CUDA_MERC_CONSTANT_PIC"},
        {SHT_CUDA_MERC_RELA, "CUDA_MERC_RELA"},
        {SHT_CUDA_MERC_INFO, "CUDA_MERC_INFO"},
        {SHT_CUDA_MERC_CONSTANT_OPT, "CUDA_MERC_CONSTANT_OPT"},
        {SHT_CUDA_MERC_SYMTAB, "CUDA_MERC_SYMTAB"},
        {SHT_CUDA_COMPAT, "CUDA_COMPAT"},
        {SHT_CUDA_HOST, "CUDA_HOST"},
        {SHT_CUDA_MERC_RESOLVED_RELA, "CUDA_MERC_RESOLVED_RELA"},
    };
    /* banks in one row each would say nothing new */
    static const char *const banks[SHT_CUDA_CONSTANT_BANKS] = {
        "CUDA_CONSTANT0",  "CUDA_CONSTANT1",  "CUDA_CONSTANT2",  "CUDA_CONSTANT3",
        "CUDA_CONSTANT4",  "CUDA_CONSTANT5",  "CUDA_CONSTANT6",  "CUDA_CONSTANT7",
        "CUDA_CONSTANT8",  "CUDA_CONSTANT9",  "CUDA_CONSTANT10", "CUDA_CONSTANT11",
        "CUDA_CONSTANT12", "CUDA_CONSTANT13", "CUDA_CONSTANT14", "CUDA_CONSTANT15",
        "CUDA_CONSTANT16", "CUDA_CONSTANT17"};
    for (size_t i = 0; i < CBI_COUNT(names); i++)
        if (names[i].type == type)
            return names[i].name;
    if (type >= SHT_CUDA_CONSTANT_B0 && type - SHT_CUDA_CONSTANT_B0 < SHT_CUDA_CONSTANT_BANKS)
        return banks[type - SHT_CUDA_CONSTANT_B0];
    return NULL;
}
