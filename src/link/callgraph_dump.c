/* The call graph for people: -dump-callgraph and --dot-file. */
#include "base/text.h"
#include "demangle/demangle.h"
#include "link/graph.h"
#include "link/report.h"

static void print(const cbi_linker *lk, const char *text)
{
    if (lk->opt->print)
        lk->opt->print(lk->opt->print_user, text);
}

static void print_callee(const cbi_linker *lk, cbi_buf *line, const cbi_func *callee)
{
    cbi_buf_printf(lk->ctx, line, " %u", callee->number + 1);
}

/* Is exactly one kernel wanted, names included that nobody defines? */
static bool wants_one(const cbi_linker *lk)
{
    size_t wanted = 0;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++)
        wanted += lk->symbols->funcs.items[i]->entry;
    return wanted == 1;
}

/* Kernels, and names that would be some: those that nobody defines are marked, too. */
static bool is_marked(const cbi_linker *lk, const cbi_func *f, bool one)
{
    return f->obj ? cbi_is_wanted_entry(lk, f) : (!one || f->entry) && cbi_is_kernel(f);
}

void cbi_link_dump_callgraph(const cbi_linker *lk)
{
    if (!lk->opt->dump_callgraph || !lk->exec)
        return;
    if (!lk->symbols->objs.len) {
        print(lk, "No relocatable objects found. Did not generate callgraph.\n");
        return;
    }
    print(lk, cbi_printf(lk->ctx,
                         "callgraph for sm_%u:\n# A: s -> B // s (number A) potentially calls B\n"
                         "# s [N]     // s uses N registers\n# ^s        // s is entry point\n"
                         "# &s        // s has address taken\n",
                         lk->opt->arch->sm));
    bool one = wants_one(lk);
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        cbi_buf line = {0};
        cbi_buf_printf(lk->ctx, &line, "%u: ", f->number + 1);
        if (cbi_is_in_output(lk, f)) {
            cbi_buf_printf(lk->ctx, &line, "%s%s%s", is_marked(lk, f, one) ? "^" : "",
                           cbi_fate_of(lk, f)->address_taken || cbi_fate_of(lk, f)->desc_used ? "&"
                                                                                              : "",
                           cbi_demangle(lk->ctx, f->sym->name->s));
            uint32_t regs = cbi_properties_of(lk, f)->regs;
            if (regs)
                cbi_buf_printf(lk->ctx, &line, " [%u]", regs);
            cbi_buf_printf(lk->ctx, &line, " ->");
            for (uint32_t j = 0; j < cbi_degree(&lk->graph->calls, f->number); j++) {
                cbi_graph_node next = cbi_successor(&lk->graph->calls, f->number, j);
                const cbi_func *callee = cbi_node_func(&lk->graph->calls, next);
                if (callee)
                    print_callee(lk, &line, callee);
                for (uint32_t c = 0; !callee && c < cbi_degree(&lk->graph->calls, next); c++)
                    print_callee(lk, &line,
                                 cbi_node_func(&lk->graph->calls,
                                               cbi_successor(&lk->graph->calls, next, c)));
            }
        }
        cbi_buf_printf(lk->ctx, &line, "\n");
        print(lk, cbi_buf_text(lk->ctx, &line));
    }
}

void cbi_dump_register_rise(const cbi_linker *lk, const cbi_func *f, const cbi_func *entry)
{
    if (lk->opt->dump_callgraph)
        print(lk, cbi_printf(lk->ctx, "regcount %u for %s propagated to entry %s\n",
                             cbi_properties_of(lk, f)->regs, cbi_demangle(lk->ctx, f->sym->name->s),
                             cbi_demangle(lk->ctx, entry->sym->name->s)));
}

/* nvlink writes names as they are; what is no word of Graphviz goes into quotes. */
static const char *dot_name(const cbi_linker *lk, const cbi_func *f)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const char *name = f ? f->sym->name->s : "";
    if (lk->quirks.graph_unquoted || (*name && !name[strspn(name, word)]))
        return name;
    cbi_buf text = {0};
    for (const char *s = cbi_text_shown(lk->ctx, name); *s; s++)
        cbi_buf_printf(lk->ctx, &text, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    return cbi_printf(lk->ctx, "\"%s\"", cbi_buf_text(lk->ctx, &text));
}

static void put_dot_edge(const cbi_linker *lk, cbi_buf *out, const cbi_func *f,
                         cbi_graph_node callee)
{
    cbi_buf_printf(lk->ctx, out, "%s -> %s;\n", dot_name(lk, f),
                   dot_name(lk, cbi_node_func(&lk->graph->calls, callee)));
}

/* The same graph for graphviz: mangled names, removed functions left out. */
void cbi_link_dot(const cbi_linker *lk, cbi_buf *out)
{
    cbi_buf_printf(lk->ctx, out, "digraph callgraph {\n");
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (!cbi_is_in_output(lk, f))
            continue;
        for (uint32_t j = 0; j < cbi_degree(&lk->graph->calls, f->number); j++) {
            cbi_graph_node next = cbi_successor(&lk->graph->calls, f->number, j);
            if (cbi_node_func(&lk->graph->calls, next))
                put_dot_edge(lk, out, f, next);
            else
                for (uint32_t c = 0; c < cbi_degree(&lk->graph->calls, next); c++)
                    put_dot_edge(lk, out, f, cbi_successor(&lk->graph->calls, next, c));
        }
    }
    cbi_buf_printf(lk->ctx, out, "}\n");
}
