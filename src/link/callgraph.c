/* .nv.callgraph and .nv.prototype of the output. */
#include "base/fetch.h"
#include "link/graph.h"
#include "link/tables_work.h"

enum { LISTS = 4 /* of .nv.callgraph */, PROTOTYPES = LISTS, RECORD = 8 };

/* The records of each list so far. */
typedef struct lists {
    cbi_ctx *ctx;
    cbi_buf of[LISTS + 1];
} lists;

static void put(lists *to, size_t list, uint32_t first, uint32_t second)
{
    cbi_buf *of = &to->of[list];
    cbi_vec_reserve(to->ctx, of, RECORD);
    cbi_st32(of->items + of->len, first);
    cbi_st32(of->items + of->len + 4, second);
    of->len += RECORD;
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

/* Does the function say its prototype?  A kernel does not. */
static bool has_prototype(const cbi_linker *lk, const cbi_func *f)
{
    return cbi_is_in_output(lk, f) && f->prototype && !cbi_fate_of(lk, f)->address_taken &&
           !cbi_is_kernel(f);
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
        if (has_prototype(lk, f))
            put(to, PROTOTYPES, cbi_symbol_index(lk, f->sym), cbi_strtab_offset(lk, f->prototype));
    }
}

/* Before there are numbers: whether they will have contents. */
void cbi_link_size_callgraph(const cbi_linker *lk)
{
    bool any = false;
    for (size_t i = 0; i < lk->symbols->funcs.len && !any; i++)
        any = has_prototype(lk, lk->symbols->funcs.items[i]);
    cbi_out_fill(lk, lk->records->callgraph, NULL, LISTS * RECORD);
    cbi_out_fill(lk, lk->records->prototype, NULL, any ? RECORD : 0);
}

void cbi_link_fill_callgraph(const cbi_linker *lk)
{
    const cbi_calls *calls = &lk->graph->calls;
    lists to = {.ctx = lk->ctx};
    cbi_buf *all = &to.of[0], *prototypes = &to.of[PROTOTYPES];
    cbi_vec_reserve(lk->ctx, all, (calls->first[calls->count] + (size_t)LISTS) * RECORD);
    put_all(lk, &to);
    for (size_t k = 1; k < LISTS; k++)
        cbi_buf_append(lk->ctx, all, to.of[k].items, to.of[k].len);
    cbi_vec_trim(lk->ctx, all);
    cbi_out_fill(lk, lk->records->callgraph, all->items, all->len);
    cbi_out_fill(lk, lk->records->prototype, prototypes->items, prototypes->len);
}
