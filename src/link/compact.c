/* Constants of the user that do not fit their bank are laid out once more, without gaps: sorted,
 * aligned by their size alone, and without the copies that lost. */
#include "link/state.h"

#include <stdlib.h>

static uint64_t natural_align(const cbi_lsym *sym)
{
    return sym->size >= 8 ? 8 : sym->size ? sym->size : 1;
}

/* nvlink prepares the variables of its global list only; others sort as if they had no alignment.
 */
static uint64_t sort_align(const cbi_lsym *sym)
{
    return sym->in_local_list ? 0 : natural_align(sym);
}

static bool stays_in_front(const void *a, const void *b)
{
    const cbi_lsym *x = a, *y = b;
    uint64_t p = sort_align(x), q = sort_align(y);
    return p > q || (p == q && x->size <= y->size);
}

/* Where a variable was and where it is now. */
typedef struct move {
    uint64_t from, size, to;
} move;

static int by_place(const void *a, const void *b)
{
    const move *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static const move *find_move(const move *moves, size_t count, uint64_t offset)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (moves[mid].from + moves[mid].size <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low < count && moves[low].from <= offset ? &moves[low] : NULL;
}

static size_t collect(cbi_linker *lk, const cbi_osec *sec, cbi_lsym **list)
{
    size_t count = 0;
    for (size_t i = 0; i < lk->locals.len + lk->globals.len; i++) {
        cbi_lsym *sym =
            i < lk->locals.len ? lk->locals.items[i] : lk->globals.items[i - lk->locals.len];
        if (sym->sec != sec || sym->is_section || sym->removed || sym->state != CBI_SYM_DEFINED ||
            sym->value > sec->size || sym->size > sec->size - sym->value)
            continue;
        if (list)
            list[count] = sym;
        count++;
    }
    return count;
}

static void compact(cbi_linker *lk, cbi_osec *sec)
{
    size_t count = collect(lk, sec, NULL);
    cbi_lsym **list = CBI_NEW_ARRAY(lk->ctx, count, cbi_lsym *);
    collect(lk, sec, list);
    cbi_list_sort(lk->ctx, (void **)list, count, stays_in_front);
    cbi_sec_materialize(lk, sec);
    const uint8_t *bytes = sec->bytes;
    move *moves = CBI_NEW_ARRAY(lk->ctx, count, move);
    sec->pieces.len = 0;
    sec->bytes = NULL;
    sec->size = 0;
    sec->align = 1;
    for (size_t i = 0; i < count; i++) {
        cbi_lsym *sym = list[i];
        uint64_t at = cbi_align_up(sec->size, natural_align(sym));
        moves[i] = (move){sym->value, sym->size, at};
        cbi_span span = {bytes + sym->value, sym->size};
        cbi_vec_push(lk->ctx, &sec->pieces, ((cbi_piece){span, at}));
        sym->value = at;
        sec->size = at + sym->size;
        if (sort_align(sym) > sec->align)
            sec->align = sort_align(sym);
    }
    if (count)
        qsort(moves, count, sizeof *moves, by_place);
    size_t kept = 0;
    for (size_t i = 0; i < lk->rels.len; i++) {
        cbi_lrel r = lk->rels.items[i];
        if (r.target == sec) {
            const move *m = find_move(moves, count, r.offset);
            if (!m)
                continue;
            r.offset = m->to + (r.offset - m->from);
        }
        lk->rels.items[kept++] = r;
    }
    lk->rels.len = kept;
}

void cbi_compact_constants(cbi_linker *lk)
{
    for (size_t i = 0; lk->exec && !lk->merge_constants && i < lk->secs.len; i++) {
        cbi_osec *sec = lk->secs.items[i];
        if (!sec->dead && cbi_is_user_constants(sec) && sec->size > CBI_CONSTANT_BANK_MAX)
            compact(lk, sec);
    }
}
