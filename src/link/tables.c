/* The link's own tables: relocations with their final numbers, what cannot be written after all,
 * and where each section is in the file. */
#include "base/fetch.h"
#include "link/graph.h"
#include "link/patches.h"
#include "link/tables_work.h"

void cbi_out_fill(const cbi_linker *lk, const cbi_osec *sec, const uint8_t *bytes, uint64_t size)
{
    lk->filling->places[sec->number].bytes = bytes;
    lk->filling->places[sec->number].size = size;
}

uint8_t *cbi_out_open(const cbi_linker *lk, const cbi_osec *sec, uint64_t size)
{
    uint8_t *bytes = cbi_alloc(lk->ctx, size);
    cbi_out_fill(lk, sec, bytes, size);
    return bytes;
}

/* ---- relocations ---- */

/* Entries that have numbers of the link's symbols so far (cbi_link_pack_relocs). */
static void number_packed(const cbi_linker *lk, const cbi_osec *sec)
{
    uint8_t *entries = cbi_link_hand_over_packed(lk, sec);
    for (size_t i = 0; i < sec->relocs.len; i++) {
        uint8_t *symbol = entries + i * sec->entsize + 12;
        uint32_t number = cbi_ld32(symbol);
        cbi_st32(symbol, number ? lk->tables->symbol_indices[number - 1] : 0);
    }
    cbi_out_fill(lk, sec, entries, sec->relocs.len * sec->entsize);
}

static void fill_relocs(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    (void)arg;
    for (size_t i = share->first; i < share->end; i++) {
        cbi_fetch(CBI_LATER(lk->records->rel_secs.items, i, lk->records->rel_secs.len));
        const cbi_osec *sec = lk->records->rel_secs.items[i];
        if (!cbi_section_index(lk, sec))
            continue;
        if (!sec->relocs.items && sec->relocs.len) {
            number_packed(lk, sec);
            continue;
        }
        uint8_t *entries = cbi_out_open(lk, sec, sec->relocs.len * sec->entsize);
        for (size_t j = 0; j < sec->relocs.len; j++) {
            const cbi_lrel *r = sec->relocs.items[j];
            cbi_link_check_kept(lk, r);
            cbi_put_reloc(entries + j * sec->entsize, sec->entsize, r,
                          cbi_symbol_number(lk, r->sym));
        }
    }
}

void cbi_link_fill_relocs(const cbi_linker *lk)
{
    cbi_link_in_shares(lk, lk->records->rel_secs.len, fill_relocs, NULL);
}

/* ---- offsets ---- */

enum { MERCURY_CODE_ALIGN = 16 };

static void note_loaded(cbi_loaded *loaded, const cbi_osec *sec)
{
    if (sec->flags & SHF_WRITE) {
        loaded->first_rw = loaded->first_rw ? loaded->first_rw : sec;
        if (cbi_section_has_data(sec->type))
            loaded->last_data = sec;
        else
            loaded->last_nobits = sec;
    } else if (sec->flags & SHF_ALLOC) {
        loaded->first_ro = loaded->first_ro ? loaded->first_ro : sec;
        loaded->last_ro = sec;
    }
}

/* With Mercury these are the places in the file that the finalizer reads: its code is Mercury. */
static void place_sections(const cbi_linker *lk)
{
    uint64_t cur = sizeof(Elf64_Ehdr);
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        cbi_fetch(CBI_LATER(lk->tables->out.items, i, lk->tables->out.len));
        cbi_fetch(cbi_out_of(lk, CBI_SOON(lk->tables->out.items, i, lk->tables->out.len)));
        const cbi_osec *sec = lk->tables->out.items[i];
        cbi_out_section *place = &lk->filling->places[sec->number];
        note_loaded(&lk->filling->tables.loaded, sec);
        bool mercury_code = lk->mercury && (sec->flags & SHF_EXECINSTR) && cbi_is_code(sec);
        cur = cbi_align_up(cur, mercury_code ? MERCURY_CODE_ALIGN : sec->align);
        place->offset = cur;
        if (cbi_section_has_data(sec->type))
            cur += mercury_code ? sec->func->sym->size : place->size;
    }
    lk->filling->tables.shoff = cbi_align_up(cur, 8);
}

/* A replaced function's constants keep their symbols, which -r writes and an executable does not.
 */
static void find_lost_constants(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->records->few_secs.len && !lk->exec; i++) {
        const cbi_osec *sec = lk->records->few_secs.items[i];
        const cbi_lobj *by = cbi_constants_of(sec)->emptied_by;
        if (by && sec->size == 0)
            cbi_defer(lk, CBI_FAILS_AT_TABLES, NULL,
                      cbi_printf(
                          lk->ctx,
                          "weak function '%s' is replaced by the copy in '%s'; put that file first",
                          sec->func->sym->name->s, by->file));
    }
}

/* A texture that is a kernel's parameter stays when the kernel goes. */
static void find_lost_images(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->images.len; i++) {
        const cbi_lsym *sym = lk->symbols->images.items[i];
        if (sym->sec && cbi_is_dead(lk, sym->sec))
            cbi_defer(lk, CBI_FAILS_AT_TABLES, NULL,
                      cbi_printf(lk->ctx, "parameter '%s' belongs to a kernel that is removed",
                                 sym->name->s));
    }
}

/* Common symbols without a place (resolve.c). Below sm_100 nvlink crashes. */
static void find_lost_commons(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->commons.len && lk->exec; i++) {
        const cbi_lsym *sym = lk->symbols->commons.items[i];
        if (cbi_placement_of(lk, sym).state == CBI_SYM_COMMON)
            cbi_defer(lk, CBI_FAILS_AT_TABLES, NULL,
                      cbi_printf(lk->ctx,
                                 "an initialised weak definition of '%s' follows a common symbol",
                                 sym->name->s));
    }
}

void cbi_link_finish_tables(const cbi_linker *lk)
{
    find_lost_constants(lk);
    find_lost_images(lk);
    find_lost_commons(lk);
    const cbi_failure *failure = cbi_deferred(lk, CBI_FAILS_AT_TABLES);
    if (failure)
        cbi_fatal(lk->ctx, "deleted-section", NULL, failure->help,
                  "Internal error: reference to deleted section");
    cbi_out_fill(lk, lk->records->shstrtab, lk->tables->shstr.data, lk->tables->shstr.size);
    cbi_fill_symtab(lk);
    cbi_link_fill_callgraph(lk);
    place_sections(lk);
}
