/* Attributes that entries take over, when there are many entries: what a function says is handed
 * from callees to callers once, not from each function to each entry that reaches it.
 *
 * That serves where it does not matter how often a record arrives: a flag, a maximum, the last
 * value. The records of an entry are added in the order of the first record of their kind, so that
 * is handed on, too.
 */
#include "link/graph.h"
#include "link/propagate_work.h"

#include <stdlib.h>

enum { CODES = 256, NEVER = UINT32_MAX };

/* What the records of one code say, of everything below. */
typedef struct fold {
    uint8_t code;
    uint32_t first; /* record, in input order */
    uint32_t last;  /* ... of those that are not zero, from 1; 0: none */
    uint16_t most;
} fold;

typedef struct folding {
    uint8_t codes[CODES];
    uint32_t count;       /* of codes */
    uint8_t slots[CODES]; /* by code: its place in codes, from 1 */
    fold *folds;          /* by component, count of each */
} folding;

static fold *fold_of(const folding *all, uint32_t component, uint32_t slot)
{
    return &all->folds[(size_t)component * all->count + slot];
}

static void add(fold *to, const fold *from)
{
    if (from->first < to->first)
        to->first = from->first;
    to->last = cbi_larger(from->last, to->last);
    to->most = (uint16_t)cbi_larger(from->most, to->most);
}

/* Does it matter for more than one function what the record says? */
static bool is_handed_on(const cbi_linker *lk, const bool *called, const cbi_rec *rec)
{
    if (!rec->func || rec->dead)
        return false;
    const uint32_t number = rec->func - 1;
    return lk->graph->components.of[number] &&
           (called[number] || !cbi_is_wanted_entry(lk, cbi_rec_func(lk, rec)));
}

/* Whom live code calls. */
static const bool *find_called(const cbi_linker *lk)
{
    const cbi_components *live = &lk->graph->components;
    bool *called = CBI_NEW_ARRAY(lk->ctx, lk->graph->calls.count, bool);
    for (uint32_t i = 0; i < live->live_count; i++)
        for (uint32_t j = 0; j < cbi_degree(&lk->graph->calls, live->bottom_up[i]); j++)
            called[cbi_successor(&lk->graph->calls, live->bottom_up[i], j)] = true;
    return called;
}

/* Lists the codes.  False where the order or the number of the records matters. */
static bool list_codes(const cbi_linker *lk, const bool *called, folding *all)
{
    bool single = false, pair = false;
    for (size_t i = 0; i < lk->graph->entries.len; i++)
        if (lk->graph->components.cyclic[lk->graph->entries.items[i]->number])
            return false; /* an entry does not take over its own */
    const cbi_rec_list *handed_on = &lk->propagating->handed_on;
    for (size_t i = 0; i < handed_on->len; i++) {
        const cbi_rec *rec = handed_on->items[i];
        switch (rec->code) {
        case EIATTR_TCGEN05_1CTA_USED:
            single |= !rec->dead;
            break;
        case EIATTR_TCGEN05_2CTA_USED:
            pair |= !rec->dead;
            break;
        default:
            break;
        }
        if (!is_handed_on(lk, called, rec))
            continue;
        switch (cbi_eiattr_link(rec->code)) {
        case CBI_LINK_FLAG:
        case CBI_LINK_GRANULARITY:
        case CBI_LINK_LAST_VALUE:
        case CBI_LINK_MAX:
            break;
        default:
            return false;
        }
        if (all->slots[rec->code])
            continue;
        all->codes[all->count++] = rec->code;
        all->slots[rec->code] = (uint8_t)all->count;
    }
    return !(single && pair); /* which is an error in some entries */
}

static void fold_records(const cbi_linker *lk, const bool *called, const folding *all)
{
    const cbi_rec_list *handed_on = &lk->propagating->handed_on;
    for (size_t i = 0; i < handed_on->len; i++) {
        const cbi_rec *rec = handed_on->items[i];
        if (!is_handed_on(lk, called, rec))
            continue;
        uint16_t value = rec->value & 0xff;
        const fold one = {rec->code, (uint32_t)i, (uint32_t)i + 1, value};
        add(fold_of(all, lk->graph->components.of[rec->func - 1], all->slots[rec->code] - 1u),
            &one);
    }
}

/* Adds what the callees of a node hand on. */
static void add_callees(const cbi_linker *lk, const folding *all, cbi_graph_node node, fold *to)
{
    const uint32_t *component = lk->graph->components.of;
    for (uint32_t j = 0; j < cbi_degree(&lk->graph->calls, node); j++) {
        uint32_t callee = component[cbi_successor(&lk->graph->calls, node, j)];
        for (uint32_t slot = 0; callee && callee != component[node] && slot < all->count; slot++)
            add(&to[slot], fold_of(all, callee, slot));
    }
}

static void clear(const folding *all, fold *folds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        folds[i] = (fold){.code = all->codes[i % all->count], .first = NEVER};
}

static void take_over(const cbi_linker *lk, const cbi_func *k, const fold *below)
{
    const uint8_t code = below->code;
    cbi_rec *own = cbi_find_record(lk, k, code);
    uint16_t last =
        below->last ? lk->propagating->handed_on.items[below->last - 1]->value & 0xff : 0;
    switch (cbi_eiattr_link(code)) {
    case CBI_LINK_MAX:
        if (!own)
            cbi_add_record(lk, k, CBI_ATTR_BYTE, code, below->most);
        else
            cbi_replace_byte(own, (uint16_t)cbi_larger(below->most, own->value & 0xff));
        break;
    case CBI_LINK_LAST_VALUE:
        if (!own)
            cbi_add_record(lk, k, CBI_ATTR_NONE, code, last);
        else if (last)
            cbi_replace_byte(own, last);
        break;
    default:
        if (!own)
            cbi_add_record(lk, k, CBI_ATTR_NONE, code, 0);
        break;
    }
}

static int by_first(const void *a, const void *b)
{
    return cbi_order(((const fold *)a)->first, ((const fold *)b)->first);
}

static void take_over_all(const cbi_linker *lk, const folding *all, const cbi_func *k)
{
    fold below[CODES];
    clear(all, below, all->count);
    add_callees(lk, all, k->number, below);
    qsort(below, all->count, sizeof *below, by_first);
    for (uint32_t i = 0; i < all->count && below[i].first != NEVER; i++)
        take_over(lk, k, &below[i]);
}

bool cbi_fold_attributes(const cbi_linker *lk)
{
    folding all = {0};
    if (!lk->propagating->handed_on.len)
        return true;
    const bool *called = find_called(lk);
    if (!list_codes(lk, called, &all))
        return false;
    size_t count = ((size_t)lk->graph->components.count + 1) * all.count;
    if (!count)
        return true;
    all.folds = cbi_large_alloc(lk->ctx, count * sizeof *all.folds);
    clear(&all, all.folds, count);
    fold_records(lk, called, &all);
    for (uint32_t i = 0; i < lk->graph->components.live_count; i++) {
        cbi_graph_node node = lk->graph->components.bottom_up[i];
        add_callees(lk, &all, node, fold_of(&all, lk->graph->components.of[node], 0));
    }
    for (size_t i = 0; i < lk->graph->entries.len; i++)
        if (cbi_is_wanted_entry(lk, lk->graph->entries.items[i]))
            take_over_all(lk, &all, lk->graph->entries.items[i]);
    cbi_large_free(lk->ctx, all.folds);
    return true;
}
