/* Relocations that stay, in the form of the file, so that the list of all of them can go. */
#include "base/fetch.h"
#include "link/loops.h"
#include "link/patches_work.h"

static bool can_pack(const cbi_linker *lk)
{
    /* what is out of range is an error, but not yet */
    return !lk->mercury && !lk->opt->verbose && !cbi_deferred(lk, CBI_FAILS_AT_RECORDS) &&
           !lk->patches->kept_astray;
}

/* entries: where to. */
static void pack_section(const cbi_osec *sec, uint8_t *entries)
{
    size_t count = sec->relocs.len;
    for (size_t i = 0; i < count; i++) {
        cbi_fetch(CBI_SOON(sec->relocs.items, i, count)->sym);
        const cbi_lrel *r = sec->relocs.items[i];
        cbi_put_reloc(entries + i * sec->entsize, sec->entsize, r, r->sym ? r->sym->number + 1 : 0);
    }
}

/* arg: where the entries of each relocation section begin in all that are packed. */
static void pack_share(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    const uint64_t *starts = arg;
    for (size_t i = share->first; i < share->end; i++) {
        cbi_fetch(CBI_LATER(lk->records->rel_secs.items, i, lk->records->rel_secs.len));
        cbi_fetch(
            CBI_SOON(lk->records->rel_secs.items, i, lk->records->rel_secs.len)->relocs.items);
        pack_section(lk->records->rel_secs.items[i], lk->patching->packed + starts[i]);
    }
}

bool cbi_link_pack_relocs(const cbi_linker *lk)
{
    if (!can_pack(lk))
        return false;
    const size_t count = lk->records->rel_secs.len;
    uint64_t total = 0, *starts = CBI_NEW_ARRAY(lk->ctx, count, uint64_t);
    for (size_t i = 0; i < count; i++) {
        const cbi_osec *sec = lk->records->rel_secs.items[i];
        starts[i] = total;
        total += sec->relocs.len * sec->entsize;
    }
    /* what follows each other in the file does so in memory, which makes it one part */
    lk->patching->packed = CBI_ARRAY_TO_FILL(lk->ctx, total, uint8_t);
    cbi_link_in_shares(lk, count, pack_share, starts);
    for (size_t i = 0; i < count; i++) {
        cbi_osec *sec = lk->records->rel_secs.items[i];
        const uint32_t entries = sec->relocs.len;
        if (!entries)
            continue;
        cbi_vec_free(lk->ctx, &sec->relocs);
        sec->relocs.len = entries;
        sec->bytes = lk->patching->packed + starts[i];
    }
    cbi_take_back(lk->ctx, starts, count * sizeof *starts);
    return true;
}

uint8_t *cbi_link_hand_over_packed(const cbi_linker *lk, const cbi_osec *sec)
{
    uint8_t *all = lk->patching->packed;
    return all + (sec->bytes - all);
}
