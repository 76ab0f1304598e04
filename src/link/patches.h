/* Stage 5, patches: each relocation is applied, kept or dropped. */
#ifndef CBI_LINK_PATCHES_H
#define CBI_LINK_PATCHES_H

#include "link/state.h"

/* Begins the stage. */
struct cbi_patches_work;
const cbi_patches *cbi_patches_begin(const cbi_linker *lk, struct cbi_patches_work **ret_work);
/* Makes one piece of the contents of each section. */
void cbi_link_settle(const cbi_linker *lk);
/* sm_100+: nvlink looks for the places of functions of one name, which it mixes up, before it
 * reports what nobody defines. */
void cbi_link_check_places(const cbi_linker *lk);
/* undefined.c: reports what nobody defines. */
void cbi_link_undefined(const cbi_linker *lk);
/* The eight symbols of the unified tables; asked of every relocation. */
bool cbi_is_one_of_unified(const char *name);
static inline bool cbi_is_unified_name(const char *name)
{
    return strncmp(name, "__U", 3) == 0 && cbi_is_one_of_unified(name);
}
void cbi_link_relocate(const cbi_linker *lk);

/* Where -r leaves nothing that tells a later link of a variable's place, whose place it may change:
 * shared memory of functions, and constants. */
void cbi_link_warn_fixed(const cbi_linker *lk);

/* Brings the entries that stay into the form of the file, but for the numbers of their symbols,
 * which are the link's from 1 on: then the list of relocations is not needed any more.  False where
 * a report or the second view asks for them, or one is outside of its section. */
bool cbi_link_pack_relocs(const cbi_linker *lk);
/* Gives those of the section away: stage 7 puts the numbers of symbols in. */
uint8_t *cbi_link_hand_over_packed(const cbi_linker *lk, const cbi_osec *sec);
/* Does --preserve-relocs name it? */
bool cbi_is_recorded(const cbi_linker *lk, const cbi_lsym *sym);
void cbi_link_check_records(const cbi_linker *lk);
/* sm_100+: nvlink fails while kernels are removed if a copy that was replaced had relocations. */
void cbi_link_check_replaced(const cbi_linker *lk);
/* A relocation that is written must be inside of its section. */
void cbi_link_check_kept(const cbi_linker *lk, const cbi_lrel *r);

/* Puts symbol value, bank and addend where the relocation's type says, in the contents (size bytes)
 * of what it applies to. */
struct cbi_reloc_type;
void cbi_link_patch(const struct cbi_reloc_type *type, const cbi_lrel *r, uint8_t *contents,
                    uint64_t size, uint64_t value, uint32_t bank);
/* What stands for the value of a symbol where a relocation has none. */
uint64_t cbi_value_without_symbol(const cbi_linker *lk);

/* unified.c: refuses final links of unified symbols. */
void cbi_link_check_unified(const cbi_linker *lk);

#endif
