/* Stage 7, tables: the order and the numbers of sections and symbols, the string tables, and all
 * contents that name them.  Afterwards every section has its place in the file. */
#ifndef CBI_LINK_TABLES_H
#define CBI_LINK_TABLES_H

#include "link/state.h"

/* Begins the stage: sections have the sizes and contents that the patches left. */
struct cbi_tables_work;
const cbi_tables *cbi_tables_begin(const cbi_linker *lk, struct cbi_tables_work **ret_work);

/* ---- callgraph.c ---- */
/* .nv.callgraph and .nv.prototype: whether they will have contents, then, with final symbol indices
 * and string offsets, what these are. */
void cbi_link_size_callgraph(const cbi_linker *lk);
void cbi_link_fill_callgraph(const cbi_linker *lk);

/* ---- notes.c ---- */
void cbi_link_notes(const cbi_linker *lk);

/* ---- unified.c: gives the tables final symbol indices ---- */
void cbi_link_fill_unified(const cbi_linker *lk);

/* ---- number.c ---- */
/* Gives sections and symbols their numbers. */
void cbi_link_number(const cbi_linker *lk);
/* Offsets of names in the finished string tables; 0 before. */
uint32_t cbi_strtab_offset(const cbi_linker *lk, const cbi_name *name);

/* ---- tables.c ---- */
/* Relocations in the form of the file. */
void cbi_link_fill_relocs(const cbi_linker *lk);
/* The string tables, and all that needs their offsets. */
void cbi_link_finish_tables(const cbi_linker *lk);

/* ---- fill_records.c ---- */
/* Attributes in the form of the file. */
void cbi_link_fill_records(const cbi_linker *lk);
/* Is it in the output?  EXTERNS of nothing is not. */
bool cbi_is_written(const cbi_rec *rec);
typedef void (*cbi_record_fn)(const cbi_linker *lk, const cbi_rec *rec, void *user);
/* Calls visit for each record that is written: those of inputs backwards, the link's own in order
 * behind them. */
void cbi_for_each_record(const cbi_linker *lk, cbi_record_fn visit, void *user);
/* One attribute record with final symbol numbers. */
void cbi_write_record(const cbi_linker *lk, cbi_buf *out, const cbi_rec *rec);

#endif
