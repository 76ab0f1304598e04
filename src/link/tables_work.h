/* What the files of stage 7 work on; no other stage includes this. */
#ifndef CBI_LINK_TABLES_WORK_H
#define CBI_LINK_TABLES_WORK_H

#include "link/loops.h"
#include "link/tables.h"

typedef struct cbi_tables_work {
    cbi_tables tables;
    cbi_out_section *places;
    cbi_buf shstr, str;    /* while names are added */
    uint8_t *buckets;      /* by section: its part of the file, from 1; 0: it is not written */
    uint32_t *str_offsets; /* by name id */
    CBI_VEC(uint32_t) symbol_names; /* places in .strtab, by index, until the symbols are written */
    CBI_VEC(const cbi_func *) entries; /* that are wanted, in the order of their symbols */
    uint64_t *record_sizes;   /* of attributes, by the function's number from 1; 0: .nv.info */
    cbi_shares record_shares; /* how the records of the inputs are dealt with in threads */
    uint64_t *module_sizes;   /* by share: of its records in .nv.info */
} cbi_tables_work;

/* Gives one of the link's own tables (strings, symbols, notes, attributes, relocations, calls),
 * which no relocation names, its size, and its contents or NULL while they are not known. */
void cbi_out_fill(const cbi_linker *lk, const cbi_osec *sec, const uint8_t *bytes, uint64_t size);
/* The same for contents to be written: zeros. */
uint8_t *cbi_out_open(const cbi_linker *lk, const cbi_osec *sec, uint64_t size);

/* The symbol's number in the output; 0 for none. */
static inline uint32_t cbi_symbol_number(const cbi_linker *lk, const cbi_lsym *sym)
{
    return sym ? cbi_symbol_index(lk, sym) : 0;
}

/* ---- fill_records.c ---- */
/* How large the sections of attributes are, but for what depends on the order of symbols. */
void cbi_size_records(const cbi_linker *lk);

/* ---- fill_symbols.c ---- */
void cbi_fill_symtab(const cbi_linker *lk);
/* Are there so many sections that symbols need .symtab_shndx? */
bool cbi_needs_shndx(const cbi_linker *lk);
const cbi_osec *cbi_shndx_of(const cbi_linker *lk);

#endif
