/* Traces and reasons: what the link says about single symbols on request. */
#include "demangle/demangle.h"
#include "link/graph.h"
#include "link/report.h"

static void say(const cbi_linker *lk, const char *format, ...) CBI_PRINTF(2, 3);

static void say(const cbi_linker *lk, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = cbi_vprintf(lk->ctx, format, args);
    va_end(args);
    if (lk->opt->print)
        lk->opt->print(lk->opt->print_user, cbi_printf(lk->ctx, "%s\n", text));
}

/* The part "ns::f<int>" of "void ns::f<int>(T1 *)": up to the parameters, from the last blank
 * outside of brackets. */
static cbi_span base_of(const char *text)
{
    const char *start = text, *s = text;
    size_t depth = 0;
    for (; *s; s++) {
        const char *rest = cbi_after(s, " ()(");
        if (rest && depth == 0)
            s = rest - 1;                           /* behind "operator ()" */
        if (*s == '(' && depth == 0 && s[1] != '*') /* "(*)" goes on */
            break;
        if (strchr("<([", *s))
            depth++;
        else if (strchr(">)]", *s) && depth)
            depth--;
        else if (*s == ' ' && depth == 0)
            start = s + 1;
    }
    return (cbi_span){(const uint8_t *)start, (size_t)(s - start)};
}

static bool equals(cbi_span span, const char *text)
{
    return strlen(text) == span.size && memcmp(text, span.data, span.size) == 0;
}

bool cbi_name_matches(const cbi_linker *lk, const char *given, const char *symbol)
{
    if (strcmp(given, symbol) == 0)
        return true;
    const char *text = cbi_demangle(lk->ctx, symbol);
    if (text == symbol)
        return false;
    if (strcmp(given, text) == 0)
        return true;
    cbi_span base = base_of(text);
    if (equals(base, given))
        return true;
    const uint8_t *arguments = memchr(base.data, '<', base.size);
    if (arguments)
        base.size = (size_t)(arguments - base.data);
    return equals(base, given);
}

const char *cbi_shown_name(const cbi_linker *lk, const char *symbol)
{
    const char *text = cbi_demangle(lk->ctx, symbol);
    return text == symbol ? symbol : cbi_printf(lk->ctx, "%s [%s]", text, symbol);
}

/* ---- trace ---- */

static bool is_traced(const cbi_linker *lk, const char *symbol)
{
    for (size_t i = 0; i < lk->opt->traced_count; i++)
        if (cbi_name_matches(lk, lk->opt->traced[i], symbol))
            return true;
    return false;
}

/* A name that nobody mentions. */
static void report_untraced(const cbi_linker *lk, const char *given)
{
    for (size_t i = 0; i < lk->inputs->objs.len; i++) {
        const cbi_object *in = &lk->inputs->objs.items[i]->object;
        for (uint32_t s = 1; s < in->symbol_count; s++)
            if (cbi_name_matches(lk, given, in->symbols[s].name))
                return;
    }
    const char *near = cbi_explain_name(lk, given, false);
    say(lk, "%s: no input has a symbol of this name%s%s%s", given, near ? "; did you mean " : "",
        near ? near : "", near ? "?" : "");
}

void cbi_link_trace(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->opt->traced_count; i++)
        report_untraced(lk, lk->opt->traced[i]);
    for (size_t i = 0; lk->opt->traced_count && i < lk->inputs->objs.len; i++) {
        const cbi_object *in = &lk->inputs->objs.items[i]->object;
        for (uint32_t s = 1; s < in->symbol_count; s++) {
            const cbi_symbol *symbol = &in->symbols[s];
            uint32_t type = CBI_ST_TYPE(symbol->info);
            if (type == STT_SECTION || type == STT_FILE || !is_traced(lk, symbol->name))
                continue;
            const char *what = symbol->shndx == SHN_UNDEF               ? "refers to"
                               : symbol->shndx == SHN_COMMON            ? "has a common"
                               : CBI_ST_BIND(symbol->info) == STB_WEAK  ? "has a weak definition of"
                               : CBI_ST_BIND(symbol->info) == STB_LOCAL ? "has its own"
                                                                        : "defines";
            say(lk, "%s: %s %s", lk->inputs->objs.items[i]->file, what,
                cbi_shown_name(lk, symbol->name));
        }
    }
}

/* ---- why a function stays or goes ---- */

const char *cbi_removal_reason(const cbi_linker *lk, const cbi_func *f)
{
    if (!f->obj)
        return "no input defines it";
    if (cbi_fate_of(lk, f)->live && !cbi_is_removed(lk, f->sym))
        return NULL;
    if (cbi_is_kernel(f))
        return lk->prune
                   ? "it is a kernel that -kernels-used does not name"
                   : "it is a kernel that no host code refers to (-ignore-host-info keeps it)";
    return "no kernel in the output reaches it";
}

/* Breadth-first tree over the live graph; parents by order of discovery. */
typedef struct step {
    cbi_graph_node node;
    size_t parent; /* index of a step; its own for a root */
} step;
typedef CBI_VEC(step) step_list;

static void add_step(const cbi_linker *lk, step_list *steps, bool *seen, cbi_graph_node node,
                     size_t parent)
{
    const cbi_func *f = cbi_node_func(&lk->graph->calls, node);
    if (seen[node] || (f && !cbi_fate_of(lk, f)->live))
        return;
    seen[node] = true;
    cbi_vec_push(lk->ctx, steps, ((step){node, parent}));
}

/* Kernels come first, so a function that a kernel reaches is explained by that kernel. */
static void walk(const cbi_linker *lk, step_list *steps)
{
    bool *seen = CBI_NEW_ARRAY(lk->ctx, lk->graph->calls.count, bool);
    size_t next = 0;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < lk->symbols->funcs.len; i++)
            if (lk->symbols->funcs.items[i]->obj &&
                (round == 1 || cbi_is_kernel(lk->symbols->funcs.items[i])))
                add_step(lk, steps, seen, (uint32_t)i, steps->len);
        for (; next < steps->len; next++) {
            cbi_graph_node node = steps->items[next].node;
            for (uint32_t i = 0; i < cbi_degree(&lk->graph->calls, node); i++)
                add_step(lk, steps, seen, cbi_successor(&lk->graph->calls, node, i), next);
        }
    }
}

/* ---- recursion ---- */

enum { MAX_DESCENT = 1000, MAX_CYCLE_NAMES = 6 };

static const char *node_text(const cbi_linker *lk, cbi_graph_node node)
{
    const cbi_func *f = cbi_node_func(&lk->graph->calls, node);
    return f ? cbi_demangle(lk->ctx, f->sym->name->s)
             : cbi_printf(lk->ctx, "a call through a pointer (%s)",
                          cbi_node_proto(&lk->graph->calls, node)->s);
}

/* Breadth-first from a node of a cycle, inside its component, until it is met again. */
static char *cycle_text(const cbi_linker *lk, cbi_graph_node start)
{
    const uint32_t *component = lk->graph->components.of;
    step_list steps = {0};
    bool *seen = CBI_NEW_ARRAY(lk->ctx, lk->graph->calls.count, bool);
    cbi_vec_push(lk->ctx, &steps, ((step){.node = start}));
    size_t last = 0;
    for (size_t at = 0; at < steps.len && !last; at++) {
        cbi_graph_node node = steps.items[at].node;
        for (uint32_t i = 0; i < cbi_degree(&lk->graph->calls, node) && !last; i++) {
            cbi_graph_node next = cbi_successor(&lk->graph->calls, node, i);
            if (next == start)
                last = at + 1;
            else if (component[next] == component[start])
                add_step(lk, &steps, seen, next, at);
        }
    }
    if (!last)
        return NULL;
    const char *text = node_text(lk, start);
    size_t names = 0;
    for (size_t at = last - 1; at && names < MAX_CYCLE_NAMES; at = steps.items[at].parent, names++)
        text = cbi_printf(lk->ctx, "%s -> %s", node_text(lk, steps.items[at].node), text);
    return cbi_printf(lk->ctx, "%s -> %s", names < MAX_CYCLE_NAMES ? node_text(lk, start) : "...",
                      text);
}

const char *cbi_recursion_text(const cbi_linker *lk, cbi_graph_node node)
{
    const cbi_components *live = &lk->graph->components;
    for (size_t depth = 0; depth < MAX_DESCENT && !live->cyclic[node]; depth++) {
        uint32_t degree = cbi_degree(&lk->graph->calls, node), i = 0;
        while (i < degree && !live->cycle_below[cbi_successor(&lk->graph->calls, node, i)])
            i++;
        if (i == degree)
            return NULL;
        node = cbi_successor(&lk->graph->calls, node, i);
    }
    if (!live->cyclic[node])
        return NULL;
    uint64_t key = live->of[node];
    char *text = cbi_map_get(&lk->told->cycle_texts, key);
    if (!text && (text = cycle_text(lk, node)))
        cbi_map_put(lk->ctx, &lk->told->cycle_texts, key, text);
    return text;
}

static const char *root_reason(const cbi_linker *lk, const cbi_func *f)
{
    if (cbi_is_kernel(f))
        return "a kernel";
    if (cbi_fate_of(lk, f)->address_taken)
        return "its address is taken";
    return lk->eliminate ? "a relocation or an alias needs it"
                         : "nothing is removed in this kind of link";
}

static void explain_step(const cbi_linker *lk, const step_list *steps, size_t at)
{
    const cbi_func *f = cbi_node_func(&lk->graph->calls, steps->items[at].node);
    if (f)
        say(lk, "%s is in the output:", cbi_shown_name(lk, f->sym->name->s));
    for (bool first = true;; first = false) {
        cbi_graph_node node = steps->items[at].node;
        size_t parent = steps->items[at].parent;
        f = cbi_node_func(&lk->graph->calls, node);
        if (!f) {
            say(lk, "    as a function of prototype %s, which is called through a pointer",
                cbi_node_proto(&lk->graph->calls, node)->s);
        } else if (parent == at) {
            say(lk, "    %s%s: %s: %s", first ? "" : "called by ",
                cbi_shown_name(lk, f->sym->name->s), f->obj->file, root_reason(lk, f));
            return;
        } else if (!first) {
            say(lk, "    called by %s: %s", cbi_shown_name(lk, f->sym->name->s),
                f->obj ? f->obj->file : "the driver");
        }
        at = parent;
    }
}

static void explain_function(const cbi_linker *lk, const step_list *steps, const char *given)
{
    bool found = false;
    for (size_t i = 0; i < steps->len; i++) {
        const cbi_func *f = cbi_node_func(&lk->graph->calls, steps->items[i].node);
        if (f && f->obj && cbi_name_matches(lk, given, f->sym->name->s)) {
            explain_step(lk, steps, i);
            found = true;
        }
    }
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        const char *reason = cbi_removal_reason(lk, f);
        if (reason && cbi_name_matches(lk, given, f->sym->name->s)) {
            say(lk, "%s is not in the output: %s", cbi_shown_name(lk, f->sym->name->s), reason);
            found = true;
        }
    }
    if (found)
        return;
    const char *near = cbi_explain_name(lk, given, false);
    say(lk, "%s: no input has a function of this name%s%s%s", given, near ? "; did you mean " : "",
        near ? near : "", near ? "?" : "");
}

static void require_kernel(const cbi_linker *lk, const char *given)
{
    const char *help = NULL;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (!cbi_name_matches(lk, given, f->sym->name->s))
            continue;
        const char *reason = cbi_removal_reason(lk, f);
        if (cbi_is_kernel(f) && !reason)
            return;
        if (!help)
            help = cbi_printf(lk->ctx, "%s: %s", cbi_shown_name(lk, f->sym->name->s),
                              reason ? reason : "it is a device function, not a kernel");
    }
    const char *near = help ? NULL : cbi_explain_name(lk, given, true);
    if (near)
        help = cbi_printf(lk->ctx, "no input has a kernel of this name; did you mean %s?", near);
    cbi_error(lk->ctx, "kernel-missing", &(cbi_place){.symbol = given},
              help ? help : "no input has a kernel of this name",
              "Required kernel '%s' is not in the output", given);
}

void cbi_link_explain_functions(const cbi_linker *lk)
{
    step_list steps = {0};
    if (lk->opt->why_live_count)
        walk(lk, &steps);
    for (size_t i = 0; i < lk->opt->why_live_count; i++)
        explain_function(lk, &steps, lk->opt->why_live[i]);
    for (size_t i = 0; i < lk->opt->required_kernel_count; i++)
        require_kernel(lk, lk->opt->required_kernels[i]);
}
