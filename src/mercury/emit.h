/* The section table of the final file while it is put together. */
#ifndef CBI_MERCURY_EMIT_H
#define CBI_MERCURY_EMIT_H

#include "mercury/mercury.h"

typedef struct cbi_emit_sec {
    const char *prefix, *name; /* both are its name; NULL: the link's sections have theirs */
    uint32_t name_offset;
    uint32_t type;
    uint64_t flags, align, entsize;
    uint64_t offset, size;
    uint32_t link, info;
    const uint8_t *bytes;
    bool stored;         /* has file bytes */
    uint32_t alias;      /* shows the bytes of that section, 0 = none */
    const cbi_osec *src; /* the link's section that it comes from, or NULL */
} cbi_emit_sec;

typedef struct cbi_emit {
    const cbi_linker *lk;
    CBI_VEC(cbi_emit_sec) secs; /* by index; the link's sections keep theirs */
    size_t first_mirror;        /* parameter banks lie before it */
    uint32_t merc_symtab;
    uint32_t *partner;      /* link's section index -> Mercury section, 0 = none */
    uint32_t *symbol_name;  /* link's section index -> .strtab offset of its new name, 0 = none */
    uint32_t *bank_symbols; /* function number -> symbol of its parameter bank */
    uint32_t *bank_names;   /* bank -> .strtab offset */
    size_t bank_count;
    cbi_buf shstr, str;
    uint64_t strtab_extra; /* bytes that renaming leaves unused in front of .symtab */
    uint64_t shoff;
} cbi_emit;

/* ---- tables.c ---- */
/* The SASS list of a relocation section. */
cbi_buf cbi_mercury_sass_relocs(const cbi_linker *lk, const cbi_osec *sec);
/* Data with the places in SASS of what lies within code; the section's own bytes if there is none.
 */
const uint8_t *cbi_mercury_data(const cbi_linker *lk, const cbi_osec *sec);
/* Optimizer constants with the jump tables' places in SASS. */
uint8_t *cbi_mercury_tables(const cbi_linker *lk, const cbi_osec *sec);
/* .nv.compat with the capability mask. */
cbi_buf cbi_mercury_compat(const cbi_linker *lk, const cbi_osec *sec);
/* Contents of .symtab and .nv.merc.symtab. */
void cbi_mercury_symtabs(cbi_emit *em);

/* ---- serialize.c ---- */
void cbi_mercury_write(const cbi_emit *em, cbi_sink *sink);

#endif
