/* .nv.callgraph and .nv.prototype of the output. */
#include "base/fetch.h"
#include "link/graph.h"
#include "link/tables_work.h"

enum { LISTS = CBI_CALL_LISTS - 1, PROTOTYPES = LISTS, RECORD = 8 };

/* Where the next record of each list is written; before there is memory they are only counted. */
typedef struct lists {
    uint8_t *at[CBI_CALL_LISTS];
    size_t count[CBI_CALL_LISTS];
} lists;

static void put(lists *to, size_t list, uint32_t first, uint32_t second)
{
    to->count[list]++;
    if (!to->at[list])
        return;
    cbi_st32(to->at[list], first);
    cbi_st32(to->at[list] + 4, second);
    to->at[list] += RECORD;
}

/* What function f adds to the four lists. */
static void put_edges(const cbi_linker *lk, lists *to, const cbi_func *f)
{
    uint32_t index = cbi_symbol_index(lk, f->sym);
    for (size_t j = f->calls.len; j-- > 0;)
        if (cbi_is_in_output(lk, f->calls.items[j]))
            put(to, 0, index, cbi_symbol_index(lk, f->calls.items[j]->sym));
    /* A descriptor reference alone says no prototype. */
    if (f->taken.len)
        put(to, 1, index, f->taken.items[0] ? cbi_strtab_offset(lk, f->taken.items[0]) : 0);
    else if (cbi_fate_of(lk, f)->desc_used)
        put(to, 1, index, 0);
    for (size_t j = f->indirect.len; j-- > 0;)
        put(to, 2, index, cbi_strtab_offset(lk, f->indirect.items[j]));
    for (size_t j = f->takes.len; j-- > 0;)
        if (cbi_is_in_output(lk, f->takes.items[j]))
            put(to, 3, index, cbi_symbol_index(lk, f->takes.items[j]->sym));
}

static void put_all(const cbi_linker *lk, lists *to)
{
    for (size_t k = 0; k < LISTS; k++)
        put(to, k, 0, (uint32_t)-1 - (uint32_t)k);
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        cbi_fetch(&CBI_LATER(lk->symbols->funcs.items, i, lk->symbols->funcs.len)->calls);
        const cbi_func *soon = CBI_SOON(lk->symbols->funcs.items, i, lk->symbols->funcs.len);
        cbi_fetch(soon->sym);
        cbi_fetch(soon->calls.items);
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (!cbi_is_in_output(lk, f))
            continue;
        put_edges(lk, to, f);
        if (f->prototype && !cbi_fate_of(lk, f)->address_taken && !cbi_is_kernel(f))
            put(to, PROTOTYPES, cbi_symbol_index(lk, f->sym), cbi_strtab_offset(lk, f->prototype));
    }
}

void cbi_link_size_callgraph(const cbi_linker *lk)
{
    lists all = {0};
    size_t count = 0;
    put_all(lk, &all);
    memcpy(lk->filling->call_counts, all.count, sizeof all.count);
    for (size_t k = 0; k < LISTS; k++)
        count += all.count[k];
    cbi_out_fill(lk, lk->records->callgraph, NULL, count * RECORD);
    cbi_out_fill(lk, lk->records->prototype, NULL, all.count[PROTOTYPES] * RECORD);
}

void cbi_link_fill_callgraph(const cbi_linker *lk)
{
    const size_t *counts = lk->filling->call_counts;
    lists to = {0};
    uint8_t *at =
        cbi_out_open(lk, lk->records->callgraph, cbi_out_of(lk, lk->records->callgraph)->size);
    for (size_t k = 0; k < LISTS; k++) {
        to.at[k] = at;
        at += counts[k] * RECORD;
    }
    to.at[PROTOTYPES] = cbi_out_open(lk, lk->records->prototype, counts[PROTOTYPES] * RECORD);
    put_all(lk, &to);
}
