/* The sections of device ELFs: one row per name pattern. */
#ifndef CBI_SECTION_H
#define CBI_SECTION_H

#include "base/base.h"

/* What sh_link of a section must be. */
typedef enum cbi_link_kind {
    CBI_LINKS_NOTHING,
    CBI_LINKS_SYMTAB,
    CBI_LINKS_MERC_SYMTAB,
    CBI_LINKS_STRTAB,
    CBI_LINKS_TKINFO, /* .note.nv.tkinfo */
    CBI_LINKS_ANY,
} cbi_link_kind;

/* What sh_info of a section must be. */
typedef enum cbi_info_kind {
    CBI_INFO_NOTHING,
    CBI_INFO_TEXT,          /* index of the code section of the name's function */
    CBI_INFO_FUNCTION,      /* symbol index of the function, registers above bit 24 up to sm_89 */
    CBI_INFO_MERC_TEXT,     /* index of the capsule of the name's function */
    CBI_INFO_MERC_FUNCTION, /* symbol index of the function */
    CBI_INFO_TARGET,        /* index of the patched section */
    CBI_INFO_LOCALS,        /* one more than the index of the last symbol that is not global */
    CBI_INFO_COMPAT,        /* index of .nv.compat if there is one */
    CBI_INFO_ANY,
} cbi_info_kind;

typedef struct cbi_section_rule {
    const char *name;
    uint8_t name_len;
    bool suffix;   /* name is a prefix, followed by the name of a function, variable or section */
    uint32_t type; /* sh_type in relocatable files */
    uint32_t exec_type; /* sh_type in executables; 0 = never there */
    uint32_t flags;
    uint8_t link;  /* cbi_link_kind */
    uint8_t info;  /* cbi_info_kind */
    uint8_t align; /* least sh_addralign */
    uint8_t entsize;
    uint8_t first_sm, last_sm; /* targets that have it */
} cbi_section_rule;

extern const cbi_section_rule cbi_section_rules[];
extern const size_t cbi_section_rule_count;

/* The row for a section name, or NULL.  *ret_suffix (may be NULL) receives what follows the prefix
 * and its dot, or "". */
const cbi_section_rule *cbi_section_rule_find(const char *name, const char **ret_suffix);

/* Name of a section type such as "CUDA_INFO", or NULL. */
const char *cbi_section_type_name(uint32_t type);

#endif
