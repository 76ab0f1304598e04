/* What the files of stage 7 work on; no other stage includes this. */
#ifndef CBI_LINK_TABLES_WORK_H
#define CBI_LINK_TABLES_WORK_H

#include "link/tables.h"

typedef struct cbi_tables_work {
    cbi_tables tables;
    cbi_out_section *places;
    bool *written;          /* by section */
    uint64_t *record_sizes; /* of attributes, by the function's number from 1; 0: .nv.info */
} cbi_tables_work;

/* Gives one of the link's own tables (strings, symbols, notes, attributes, relocations, calls),
 * which no relocation names, its size, and its contents or NULL while they are not known. */
void cbi_out_fill(const cbi_linker *lk, const cbi_osec *sec, const uint8_t *bytes, uint64_t size);
/* The same for contents to be written: zeros. */
uint8_t *cbi_out_open(const cbi_linker *lk, const cbi_osec *sec, uint64_t size);

#endif
