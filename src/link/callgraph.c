/* .nv.callgraph and .nv.prototype of the output, and the call graph dump. */
#include "demangle/demangle.h"
#include "link/state.h"

void cbi_link_callgraph_sections(cbi_linker *lk)
{
    lk->callgraph =
        cbi_sec_create(lk, cbi_intern(lk->ctx, ".nv.callgraph"), SHT_CUDA_CALLGRAPH, 0, 4, 8);
    lk->prototype =
        cbi_sec_create(lk, cbi_intern(lk->ctx, ".nv.prototype"), SHT_CUDA_PROTOTYPE, 0, 4, 8);
}

void cbi_link_rel_action(cbi_linker *lk)
{
    if (lk->exec && !lk->mercury)
        lk->rel_action =
            cbi_sec_create(lk, cbi_intern(lk->ctx, ".nv.rel.action"), SHT_CUDA_RELOCINFO, 0, 8, 8);
}

static bool in_table(const cbi_func *f)
{
    return f->live && !f->sym->removed;
}

/* The four lists of .nv.callgraph and that of .nv.prototype. */
enum { LISTS = 4, PROTOTYPES = LISTS, RECORD = 8 };

/* Where each list is written; without memory it is only measured. */
typedef struct lists {
    uint8_t *at[LISTS + 1];
    size_t size[LISTS + 1];
} lists;

static void put(lists *to, size_t list, uint32_t first, uint32_t second)
{
    if (to->at[list]) {
        cbi_st32(to->at[list] + to->size[list], first);
        cbi_st32(to->at[list] + to->size[list] + 4, second);
    }
    to->size[list] += RECORD;
}

/* What function f adds to the four lists. */
static void put_edges(const cbi_linker *lk, lists *to, const cbi_func *f)
{
    uint32_t index = f->sym->index;
    for (size_t j = f->calls.len; j-- > 0;)
        if (in_table(f->calls.items[j]))
            put(to, 0, index, f->calls.items[j]->sym->index);
    /* A descriptor reference alone says no prototype. */
    if (f->taken.len)
        put(to, 1, index, f->taken.items[0] ? cbi_strtab_offset(lk, f->taken.items[0]) : 0);
    else if (f->desc_used)
        put(to, 1, index, 0);
    for (size_t j = f->indirect.len; j-- > 0;)
        put(to, 2, index, cbi_strtab_offset(lk, f->indirect.items[j]));
    for (size_t j = f->takes.len; j-- > 0;)
        if (in_table(f->takes.items[j]))
            put(to, 3, index, f->takes.items[j]->sym->index);
}

static void put_all(const cbi_linker *lk, lists *to)
{
    for (size_t k = 0; k < LISTS; k++)
        put(to, k, 0, (uint32_t)-1 - (uint32_t)k);
    for (size_t i = 0; i < lk->funcs.len; i++) {
        const cbi_func *f = lk->funcs.items[i];
        if (!in_table(f))
            continue;
        put_edges(lk, to, f);
        if (f->prototype && !f->address_taken && !f->entry)
            put(to, PROTOTYPES, f->sym->index, cbi_strtab_offset(lk, f->prototype));
    }
}

void cbi_link_size_callgraph(cbi_linker *lk)
{
    lists sizes = {0};
    put_all(lk, &sizes);
    lk->callgraph->size = 0;
    for (size_t k = 0; k < LISTS; k++)
        lk->callgraph->size += sizes.size[k];
    lk->prototype->size = sizes.size[PROTOTYPES];
}

void cbi_link_fill_callgraph(cbi_linker *lk)
{
    lists sizes = {0}, to = {0};
    put_all(lk, &sizes);
    uint8_t *at = cbi_alloc(lk->ctx, lk->callgraph->size);
    lk->callgraph->bytes = at;
    for (size_t k = 0; k < LISTS; k++) {
        to.at[k] = at;
        at += sizes.size[k];
    }
    lk->prototype->bytes = to.at[PROTOTYPES] = cbi_alloc(lk->ctx, lk->prototype->size);
    put_all(lk, &to);
}

/* ---- dump ---- */

static void print(cbi_linker *lk, const char *text)
{
    if (lk->opt->print)
        lk->opt->print(lk->opt->print_user, text);
}

static void print_callee(cbi_linker *lk, cbi_buf *line, const cbi_func *callee)
{
    cbi_buf_printf(lk->ctx, line, " %u", callee->number + 1);
}

void cbi_link_dump_callgraph(cbi_linker *lk)
{
    if (!lk->opt->dump_callgraph || !lk->exec)
        return;
    if (!lk->obj_count) {
        print(lk, "No relocatable objects found. Did not generate callgraph.\n");
        return;
    }
    print(lk, cbi_printf(lk->ctx,
                         "callgraph for sm_%u:\n# A: s -> B // s (number A) potentially calls B\n"
                         "# s [N]     // s uses N registers\n# ^s        // s is entry point\n"
                         "# &s        // s has address taken\n",
                         lk->opt->arch->sm));
    for (size_t i = 0; i < lk->funcs.len; i++) {
        const cbi_func *f = lk->funcs.items[i];
        cbi_buf line = {0};
        cbi_buf_printf(lk->ctx, &line, "%u: ", f->number + 1);
        if (in_table(f)) {
            cbi_buf_printf(lk->ctx, &line, "%s%s%s", cbi_is_wanted_entry(lk, f) ? "^" : "",
                           f->address_taken || f->desc_used ? "&" : "",
                           cbi_demangle(lk->ctx, f->sym->name->s));
            if (f->own_regs)
                cbi_buf_printf(lk->ctx, &line, " [%u]", f->own_regs);
            cbi_buf_printf(lk->ctx, &line, " ->");
            for (uint32_t j = 0; j < cbi_degree(lk->calls, f->number); j++) {
                cbi_graph_node next = cbi_successor(lk->calls, f->number, j);
                const cbi_func *callee = cbi_node_func(lk->calls, next);
                if (callee)
                    print_callee(lk, &line, callee);
                for (uint32_t c = 0; !callee && c < cbi_degree(lk->calls, next); c++)
                    print_callee(lk, &line,
                                 cbi_node_func(lk->calls, cbi_successor(lk->calls, next, c)));
            }
        }
        cbi_buf_append(lk->ctx, &line, "\n", 2);
        print(lk, (const char *)line.items);
    }
}

void cbi_dump_register_rise(cbi_linker *lk, const cbi_func *f, const cbi_func *entry)
{
    if (lk->opt->dump_callgraph)
        print(lk, cbi_printf(lk->ctx, "regcount %u for %s propagated to entry %s\n", f->own_regs,
                             cbi_demangle(lk->ctx, f->sym->name->s),
                             cbi_demangle(lk->ctx, entry->sym->name->s)));
}

static void put_dot_edge(cbi_linker *lk, cbi_buf *out, const cbi_func *f, cbi_graph_node callee)
{
    cbi_buf_printf(lk->ctx, out, "%s -> %s;\n", f->sym->name->s,
                   cbi_node_func(lk->calls, callee)->sym->name->s);
}

/* The same graph for graphviz: mangled names, removed functions left out. */
void cbi_link_dot(cbi_linker *lk, cbi_buf *out)
{
    cbi_buf_printf(lk->ctx, out, "digraph callgraph {\n");
    for (size_t i = 0; i < lk->funcs.len; i++) {
        const cbi_func *f = lk->funcs.items[i];
        if (!in_table(f))
            continue;
        for (uint32_t j = 0; j < cbi_degree(lk->calls, f->number); j++) {
            cbi_graph_node next = cbi_successor(lk->calls, f->number, j);
            if (cbi_node_func(lk->calls, next))
                put_dot_edge(lk, out, f, next);
            else
                for (uint32_t c = 0; c < cbi_degree(lk->calls, next); c++)
                    put_dot_edge(lk, out, f, cbi_successor(lk->calls, next, c));
        }
    }
    cbi_buf_printf(lk->ctx, out, "}\n");
}
