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
static void put_edges(const cbi_linker *lk, lists *to, cbi_graph_node f)
{
    const cbi_calls *calls = &lk->graph->calls;
    const cbi_fate *fate = &lk->graph->fates[f];
    const uint32_t index = cbi_func_symbol_index(lk, f);
    bool indirect = false;
    for (uint32_t j = 0; j < cbi_degree(calls, f); j++) {
        const cbi_graph_node called = cbi_successor(calls, f, j);
        if (called >= calls->func_count)
            indirect = true;
        else if (lk->graph->fates[called].live)
            put(to, 0, index, cbi_func_symbol_index(lk, called));
    }
    /* A descriptor reference alone says no prototype. */
    if (!fate->address_taken && fate->desc_used)
        put(to, 1, index, 0);
    if (!fate->address_taken && !indirect && !lk->symbols->met.takes)
        return;
    const cbi_func *func = lk->symbols->funcs.items[f];
    if (fate->address_taken)
        put(to, 1, index, func->taken.items[0] ? cbi_strtab_offset(lk, func->taken.items[0]) : 0);
    for (size_t j = func->indirect.len; j-- > 0;)
        put(to, 2, index, cbi_strtab_offset(lk, func->indirect.items[j]));
    for (size_t j = func->takes.len; j-- > 0;)
        if (cbi_is_in_output(lk, func->takes.items[j]))
            put(to, 3, index, cbi_symbol_index(lk, func->takes.items[j]->sym));
}

/* Does the function say its prototype?  A kernel does not. */
static bool has_prototype(const cbi_linker *lk, cbi_graph_node f)
{
    const cbi_fate *fate = &lk->graph->fates[f];
    return fate->live && lk->graph->numbers[f].prototype && !fate->address_taken && !fate->kernel;
}

static void put_all(const cbi_linker *lk, lists *to)
{
    for (size_t k = 0; k < LISTS; k++)
        put(to, k, 0, (uint32_t)-1 - (uint32_t)k);
    for (cbi_graph_node f = 0; f < lk->graph->calls.func_count; f++) {
        if (!lk->graph->fates[f].live)
            continue;
        put_edges(lk, to, f);
        if (has_prototype(lk, f))
            put(to, PROTOTYPES, cbi_func_symbol_index(lk, f),
                lk->tables->str_offsets[lk->graph->numbers[f].prototype - 1]);
    }
}

/* Before there are numbers: whether they will have contents. */
void cbi_link_size_callgraph(const cbi_linker *lk)
{
    bool any = false;
    for (cbi_graph_node f = 0; f < lk->graph->calls.func_count && !any; f++)
        any = has_prototype(lk, f);
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
