/* Stage 2, symbols: the objects are merged one after the other (merge*.c, resolve.c, metadata.c).
 * Afterwards every name has one symbol, every section that can be in the output a record, and the
 * lists of relocations, attributes and calls are complete. */
#ifndef CBI_LINK_SYMBOLS_H
#define CBI_LINK_SYMBOLS_H

#include "link/state.h"

/* Begins the stage, when the inputs are read. */
const cbi_symbols *cbi_symbols_begin(const cbi_linker *lk, struct cbi_merge_work **ret_work);
/* Ends the stage, when all objects are merged: nobody looks for a name from here on. */
void cbi_link_merge_end(const cbi_linker *lk);
/* The object takes no part. */
void cbi_link_leave_out(const cbi_linker *lk, const cbi_lobj *obj);
/* Gives the attributes away: stage 6 makes the output's of them. */
cbi_rec_table cbi_link_hand_over_records(const cbi_linker *lk);
/* Gives relocations back to the system, when all that stay have been written. */
void cbi_link_merge_forget(const cbi_linker *lk);
void cbi_link_skeleton(const cbi_linker *lk);
void cbi_link_merge(const cbi_linker *lk, cbi_lobj *obj);
void cbi_merge_functions(const cbi_linker *lk, cbi_lobj *obj);
void cbi_merge_objects(const cbi_linker *lk, cbi_lobj *obj);
/* A definition of a shared variable joins its entry's own list or the module-wide one. */
void cbi_list_shared(const cbi_linker *lk, cbi_lsym *sym, uint64_t align, cbi_osec *sec);
/* The text that the section's sh_info names, or NULL.  For a copy that lost, the winner's. */
cbi_osec *cbi_section_target(const cbi_lobj *obj, const cbi_section *sec);
typedef enum cbi_verdict { CBI_NEW, CBI_WINS, CBI_LOSES, CBI_SAME } cbi_verdict;
/* What an input symbol means for the link, with its name interned; reports conflicts.  ret_sym gets
 * the symbol, created and not yet listed when CBI_NEW. */
cbi_verdict cbi_resolve_function(const cbi_linker *lk, cbi_lobj *obj, uint32_t index,
                                 const cbi_name *name, cbi_lsym **ret_sym);
cbi_verdict cbi_resolve_object(const cbi_linker *lk, cbi_lobj *obj, uint32_t index,
                               const cbi_name *name, cbi_lsym **ret_sym);
/* Keeps what is asked of the object's functions when later weak ones come. */
void cbi_load_weak_facts(const cbi_linker *lk, cbi_lobj *obj);
/* Gives the object's bytes and model up, if nobody will ask for them; its records begin there. */
void cbi_link_spend(const cbi_linker *lk, cbi_lobj *obj, size_t first_record);
uint32_t cbi_input_regs(const cbi_linker *lk, cbi_lobj *obj, uint32_t sym_index);
void cbi_link_read_metadata(const cbi_linker *lk, cbi_lobj *obj);
/* Ends the stage, when all objects are merged. */
void cbi_link_complete_calls(const cbi_linker *lk);
/* Output section for an input data section; created when missing. */
cbi_osec *cbi_open_section(const cbi_linker *lk, cbi_lobj *obj, uint32_t i);
/* Merge a whole input section once; later calls return what happened then. */
cbi_secmap *cbi_merge_section(const cbi_linker *lk, cbi_lobj *obj, uint32_t i);
/* Does an item of -kernels-used or -variables-used name it? */
bool cbi_item_matches(const char *item, const char *name);
/* Does any of them? */
bool cbi_items_match(const char *const *items, size_t count, const char *name);
/* Constants come to old_constants again. */
void cbi_revive_constants(cbi_func *func);
/* The section for an entry's shared memory, created if there is none of the name. */
cbi_osec *cbi_open_shared(const cbi_linker *lk, const cbi_func *func);
/* Does section i belong to a function copy of this object that lost or was dropped? */
bool cbi_belongs_to_lost(const cbi_lobj *obj, uint32_t i);

#endif
