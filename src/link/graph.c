/* Call graph: address-taken functions, liveness, strongly connected components, entries. */
#include "base/fetch.h"
#include "link/graph.h"
#include "link/state.h"
#include "format/reloc.h"

#include <stdlib.h>

/* What the stage works on. */
typedef struct cbi_graph_work {
    cbi_graph graph;
    cbi_fate *fates;
    bool *dead;                             /* by section */
    const cbi_func_list *const *entries_of; /* by component; NULL until it is asked for */
} cbi_graph_work;

static cbi_fate *fate_of(const cbi_linker *lk, const cbi_func *f)
{
    return &lk->reaching->fates[f->number];
}

/* ---- who calls whom ---- */

typedef CBI_LIST(const cbi_func *) candidate_list;

/* A prototype: what an indirect call may call. */
typedef struct prototype {
    const cbi_name *name;
    candidate_list funcs; /* address-taken functions of that prototype, function order */
} prototype;

typedef struct prototype_table {
    cbi_map numbers; /* name -> number + 1 */
    CBI_VEC(prototype) list;
} prototype_table;

static uint32_t number_of(const cbi_linker *lk, prototype_table *table, const cbi_name *name)
{
    uintptr_t number = (uintptr_t)cbi_map_get(&table->numbers, CBI_KEY(name));
    if (!number) {
        cbi_vec_push(lk->ctx, &table->list, ((prototype){.name = name}));
        number = table->list.len;
        cbi_map_put(lk->ctx, &table->numbers, CBI_KEY(name), (void *)number);
    }
    return (uint32_t)number - 1;
}

/* What later passes need to know of a function. */
static void note_function(const cbi_func *f, cbi_fate *fate, cbi_func_numbers *numbers)
{
    fate->entry = f->entry;
    fate->address_taken = f->taken.len > 0;
    fate->defined = f->obj != NULL;
    fate->alias = f->alias_of != NULL;
    fate->kernel = cbi_is_kernel(f);
    *numbers = (cbi_func_numbers){.obj = cbi_obj_id(f->obj),
                                  .symbol = f->sym->number,
                                  .info = f->info ? f->info->number + 1 : 0,
                                  .prototype = f->prototype ? f->prototype->id + 1 : 0};
}

/* Returns how many edges functions have, which are looked at here. */
static size_t list_prototypes(const cbi_linker *lk, prototype_table *table)
{
    cbi_func_numbers *numbers =
        CBI_ARRAY_TO_FILL(lk->ctx, lk->symbols->funcs.len, cbi_func_numbers);
    lk->reaching->graph.numbers = numbers;
    size_t edges = 0;
    bool indirect = false;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        cbi_fetch(CBI_LATER(lk->symbols->funcs.items, i, lk->symbols->funcs.len));
        cbi_fetch(&CBI_LATER(lk->symbols->funcs.items, i, lk->symbols->funcs.len)->calls);
        const cbi_func *soon = CBI_SOON(lk->symbols->funcs.items, i, lk->symbols->funcs.len);
        cbi_fetch(soon->sym);
        cbi_fetch(soon->info);
        const cbi_func *f = lk->symbols->funcs.items[i];
        note_function(f, &lk->reaching->fates[i], &numbers[i]);
        edges += (size_t)f->calls.len + f->indirect.len;
        indirect = indirect || f->indirect.len;
        for (size_t j = 0; j < f->taken.len; j++) {
            bool seen = !f->taken.items[j];
            for (size_t k = 0; k < j; k++)
                seen |= f->taken.items[k] == f->taken.items[j];
            if (seen)
                continue;
            uint32_t number = number_of(lk, table, f->taken.items[j]);
            cbi_vec_push(lk->ctx, &table->list.items[number].funcs, f);
        }
    }
    for (size_t i = 0; i < lk->symbols->funcs.len && indirect; i++)
        for (size_t j = 0; j < lk->symbols->funcs.items[i]->indirect.len; j++)
            number_of(lk, table, lk->symbols->funcs.items[i]->indirect.items[j]);
    return edges;
}

/* Nothing lives so far, and what the merge removed is removed. */
const cbi_graph *cbi_graph_begin(const cbi_linker *lk, cbi_graph_work **ret_work)
{
    cbi_graph_work *work = *ret_work = CBI_NEW(lk->ctx, cbi_graph_work);
    work->fates = CBI_NEW_ARRAY(lk->ctx, lk->symbols->funcs.len, cbi_fate);
    const size_t secs = lk->records->secs.len;
    work->dead = CBI_NEW_ARRAY(lk->ctx, secs, bool);
    for (size_t i = 0; i < secs; i++)
        work->dead[i] = lk->symbols->met.dead && lk->records->secs.items[i]->dead;
    work->graph.dead = (cbi_removed){work->dead, secs};
    work->graph.fates = work->fates;
    return &work->graph;
}

void cbi_link_calls(const cbi_linker *lk)
{
    prototype_table table = {0};
    size_t edge_count = list_prototypes(lk, &table);
    size_t funcs = lk->symbols->funcs.len, count = funcs + table.list.len;
    for (size_t i = 0; i < table.list.len; i++)
        edge_count += table.list.items[i].funcs.len;
    if (edge_count > UINT32_MAX || count >= UINT32_MAX)
        cbi_fail(lk->ctx, CB_ERR_NOMEM);
    uint32_t *first = CBI_NEW_ARRAY(lk->ctx, count + 1, uint32_t), at = 0;
    cbi_graph_node *edges = CBI_NEW_ARRAY(lk->ctx, edge_count, cbi_graph_node);
    const cbi_name **names = CBI_NEW_ARRAY(lk->ctx, table.list.len, const cbi_name *);
    /* Edges are prepended, direct ones while reading, then the indirect ones from the newest call
     * on with the candidates in function order. */
    for (size_t i = 0; i < funcs; i++) {
        cbi_fetch(&CBI_LATER(lk->symbols->funcs.items, i, funcs)->calls);
        const cbi_func *soon = CBI_SOON(lk->symbols->funcs.items, i, funcs);
        if (soon->calls.len)
            cbi_fetch(soon->calls.items[soon->calls.len - 1]);
        const cbi_func *f = lk->symbols->funcs.items[i];
        first[i] = at;
        for (size_t j = 0; j < f->indirect.len; j++)
            edges[at++] = (uint32_t)funcs + number_of(lk, &table, f->indirect.items[j]);
        for (size_t j = f->calls.len; j-- > 0;)
            edges[at++] = f->calls.items[j]->number;
    }
    for (size_t i = 0; i < table.list.len; i++) {
        const candidate_list *candidates = &table.list.items[i].funcs;
        first[funcs + i] = at;
        names[i] = table.list.items[i].name;
        for (size_t j = candidates->len; j-- > 0;)
            edges[at++] = candidates->items[j]->number;
    }
    first[count] = at;
    lk->reaching->graph.calls = (cbi_calls){.funcs = lk->symbols->funcs.items,
                                            .func_count = (uint32_t)funcs,
                                            .count = (uint32_t)count,
                                            .protos = names,
                                            .first = first,
                                            .edges = edges};
}

/* ---- liveness ---- */

typedef struct reach {
    bool *seen; /* by node */
    CBI_VEC(cbi_graph_node) work;
} reach;

static void reach_node(const cbi_linker *lk, reach *r, cbi_graph_node node)
{
    if (r->seen[node])
        return;
    r->seen[node] = true;
    if (node < lk->graph->calls.func_count)
        lk->reaching->fates[node].reached = lk->reaching->fates[node].live = true;
    cbi_vec_push(lk->ctx, &r->work, node);
}

static void mark_reached(const cbi_linker *lk, reach *r, cbi_graph_node root)
{
    reach_node(lk, r, root);
    while (r->work.len) {
        cbi_graph_node node = r->work.items[--r->work.len];
        for (uint32_t i = 0; i < cbi_degree(&lk->graph->calls, node); i++)
            reach_node(lk, r, cbi_successor(&lk->graph->calls, node, i));
        if (node < lk->graph->calls.func_count && lk->reaching->fates[node].alias)
            reach_node(lk, r, lk->symbols->funcs.items[node]->alias_of->number);
    }
}

/* '*' matches any run; the pattern covers the whole name. */
static bool glob_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == 0;
}

static bool named_by_host(const cbi_linker *lk, const cbi_func *f)
{
    const cbi_host_patterns *host = &lk->opt->host;
    bool local = CBI_ST_BIND(f->sym->info) == STB_LOCAL;
    const char *const *patterns = local ? host->internal_kernels : host->external_kernels;
    size_t count = local ? host->internal_kernel_count : host->external_kernel_count;
    for (size_t i = 0; i < count; i++)
        if (glob_matches(patterns[i], f->sym->name->s))
            return true;
    return false;
}

/* What --preserve-relocs records keeps its name. */
static void remove_section(const cbi_linker *lk, const cbi_osec *sec)
{
    const cbi_osec *all[] = {sec, sec ? sec->rel : NULL, sec ? sec->rela : NULL};
    for (size_t i = 0; i < CBI_COUNT(all); i++)
        if (all[i])
            lk->reaching->dead[all[i]->number] = true;
}

static void remove_function(const cbi_linker *lk, const cbi_func *f)
{
    if (f->alias_of)
        return;
    remove_section(lk, f->text);
    remove_section(lk, f->info);
    remove_section(lk, f->constant2);
    remove_section(lk, f->old_constants);
    remove_section(lk, f->constant0);
}

/* Kernels that -kernels-used does not name but that live because their address is
 * taken are entries too, but take no part in propagation when exactly one is named. */
bool cbi_is_wanted_entry(const cbi_linker *lk, const cbi_func *f)
{
    const cbi_fate *fate = cbi_fate_of(lk, f);
    return fate->entry && f->obj && fate->live && !fate->pruned &&
           (!lk->graph->only_entry || f == lk->graph->only_entry);
}

/* The kernel that is the only one wanted, and all that stay. */
static void list_entries(const cbi_linker *lk)
{
    cbi_graph *graph = &lk->reaching->graph;
    size_t wanted = 0;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        cbi_fate *fate = &lk->reaching->fates[i];
        if (!fate->live || !fate->defined || (!fate->entry && !fate->kernel))
            continue;
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (fate->entry && fate->kernel)
            graph->only_entry = wanted++ ? NULL : f;
        /* Only --preserve-relocs keeps it.  What a copy's object says of an address counts even
         * where another copy is linked. */
        fate->pruned = !fate->entry && !fate->address_taken && !fate->desc_used;
        fate->entry = true;
        cbi_vec_push(lk->ctx, &graph->entries, f);
    }
}

/* One that no input defines counts, too. */
static bool is_root(const cbi_fate *fate)
{
    return fate->entry && (fate->defined || fate->kernel);
}

static size_t wanted_count(const cbi_linker *lk)
{
    size_t count = 0;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++)
        count += is_root(&lk->reaching->fates[i]);
    return count;
}

/* A kernel that no host code names is wanted no more than one that -kernels-used does not name. */
static void apply_host_references(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (fate_of(lk, f)->entry && f->obj && !named_by_host(lk, f))
            fate_of(lk, f)->entry = false;
    }
}

/* Sections of relocations without addends take two numbers from sm_100 on, but not that of
 * .debug_frame. */
static bool takes_two(const cbi_linker *lk, const cbi_osec *sec)
{
    return lk->mercury && sec->type == SHT_REL && strcmp(sec->target->name->s, ".debug_frame") != 0;
}

/* Symbols by the number that nvlink gives them. */
static const cbi_lsym **number_locals(const cbi_linker *lk, size_t *ret_count)
{
    const cbi_lsym **by_number =
        CBI_NEW_ARRAY(lk->ctx, 2 * lk->records->locals.len, const cbi_lsym *);
    size_t count = 0;
    for (size_t i = 0; i < lk->records->locals.len; i++) {
        const cbi_lsym *sym = lk->records->locals.items[i];
        by_number[count++] = sym;
        count += sym->is_section && sym->sec && takes_two(lk, sym->sec);
    }
    *ret_count = count;
    return by_number;
}

/* nvlink looks for optimizer constants by name.  When it removes a static function without any and
 * finds those of another one of the name, it takes the number of the code's section for that of a
 * symbol and removes that symbol, which may be a function that lives (not seen below sm_90). */
static void lose_symbols(const cbi_linker *lk)
{
    const char *prefix = lk->mercury ? ".nv.constant.optimizer." : ".nv.constant2.";
    bool *code_of_dead = CBI_NEW_ARRAY(lk->ctx, lk->records->secs.len, bool); /* by section */
    for (size_t i = 0; i < lk->symbols->funcs.len; i++)
        if (!lk->reaching->fates[i].live && lk->symbols->funcs.items[i]->text)
            code_of_dead[lk->symbols->funcs.items[i]->text->number] = true;
    size_t number = 0, count;
    const cbi_lsym **by_number = number_locals(lk, &count);
    for (size_t i = 0; i < lk->records->secs.len; i++, number++) {
        const cbi_osec *sec = lk->records->secs.items[i];
        number += takes_two(lk, sec);
        if (!code_of_dead[i] || number >= count || !by_number[number])
            continue;
        const cbi_func *f = sec->func;
        const cbi_func *hit = by_number[number]->func;
        if (!f || f->text != sec || fate_of(lk, f)->live || fate_of(lk, f)->entry || f->constant2 ||
            f->old_constants || !hit || hit->alias_of || !fate_of(lk, hit)->live || !hit->obj)
            continue;
        const char *name = f->sym->name->s;
        const cbi_osec *found = cbi_sec_find(lk, cbi_intern_join(lk->ctx, prefix, name));
        if (!found || !found->func || found->func == f)
            continue;
        fate_of(lk, hit)->lost = true;
        cbi_defer(lk, CBI_FAILS_AT_TABLES, NULL,
                  cbi_printf(lk->ctx,
                             "there are several functions '%s', and with the first nvlink removes "
                             "'%s'; without --emulate this links",
                             name, hit->sym->name->s));
    }
}

/* Kernels, unless only one is wanted what stands in for the driver's functions, and all that they
 * reach through calls. */
static void reach_from_roots(const cbi_linker *lk)
{
    reach reached = {.seen = CBI_NEW_ARRAY(lk->ctx, lk->graph->calls.count, bool)};
    bool host = lk->opt->host.active && lk->exec && !lk->shows_debug && !lk->prune;
    if (host)
        apply_host_references(lk);
    bool one = (lk->prune || host || lk->symbols->met.for_driver) && wanted_count(lk) == 1;
    bool all_kernels = (lk->prune || host) && !one;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        cbi_fate *fate = &lk->reaching->fates[i];
        if (lk->symbols->met.for_driver)
            fate->entry |= lk->symbols->funcs.items[i]->for_driver && !one;
        if (is_root(fate) || (all_kernels && fate->address_taken && fate->kernel))
            mark_reached(lk, &reached, (cbi_graph_node)i);
        if (fate->address_taken || !lk->eliminate)
            fate->live = true;
    }
}

/* What lives although no call reaches it. */
static void keep_referred(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->rels.len && lk->symbols->met.descriptors; i++) {
        const cbi_lrel *r = &lk->symbols->rels.items[i];
        if (cbi_keeps_function(r->type) && r->sym && r->sym->func)
            fate_of(lk, r->sym->func)->live = fate_of(lk, r->sym->func)->desc_used = true;
    }
    /* What a live function calls outside stays, also when the function itself is not reached. */
    const cbi_calls *calls = &lk->graph->calls;
    for (cbi_graph_node node = 0; node < calls->func_count; node++) {
        for (uint32_t j = 0; lk->reaching->fates[node].live && j < cbi_degree(calls, node); j++) {
            const cbi_graph_node called = cbi_successor(calls, node, j);
            if (called < calls->func_count && !lk->reaching->fates[called].defined)
                lk->reaching->fates[called].live = true;
        }
    }
}

/* An alias that nobody refers to takes the text along that its owner still needs; the link then
 * fails where the text is needed first. */
static void orphan_alias(const cbi_linker *lk, const cbi_func *alias)
{
    cbi_defer(
        lk, CBI_FAILS_AT_TABLES, NULL,
        cbi_printf(lk->ctx,
                   "'%s' is an alias of '%s' that nothing refers to; refer to it, or remove it",
                   alias->sym->name->s, alias->alias_of->sym->name->s));
    remove_section(lk, alias->alias_of->text);
}

/* Names of code that belongs to another symbol. */
static void settle_aliases(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->funcs.len && lk->symbols->met.aliases; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (!f->alias_of)
            continue;
        cbi_fate *fate = fate_of(lk, f), *owner = fate_of(lk, f->alias_of);
        if (cbi_is_inner(lk, f))
            fate->live |= owner->live;
        if (!fate->live && owner->live)
            orphan_alias(lk, f);
        if (fate->live)
            owner->live = true;
    }
}

static void remove_dead(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (lk->reaching->fates[i].live)
            continue;
        /* nvlink looks for constants of kernels by name, and forgets the linked copy's here. */
        if (f->old_constants && f->constant2 && cbi_is_kernel(f))
            cbi_defer(lk, CBI_FAILS_AT_TABLES, NULL,
                      cbi_printf(lk->ctx,
                                 "kernel '%s' has several weak copies; want it, or keep one copy",
                                 f->sym->name->s));
        remove_function(lk, f);
    }
}

/* What is dead.  What wanted kernels reach through calls lives, and so do functions whose address
 * is taken, those that some relocations name, and undefined ones that a live function calls;
 * without dead code elimination (-r, -g, --preserve-relocs) all do, but for kernels that are not
 * wanted. An alias lives with its owner.  All else is removed with its sections. */
void cbi_link_liveness(const cbi_linker *lk)
{
    reach_from_roots(lk);
    keep_referred(lk);
    settle_aliases(lk);
    bool all_live = true;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++)
        all_live &= lk->reaching->fates[i].live;
    if (!all_live && lk->records->optimizer && lk->quirks.symbols_lost && lk->from_hopper)
        lose_symbols(lk);
    if (!all_live)
        remove_dead(lk);
    list_entries(lk);
}

/* ---- components ---- */

typedef struct frame {
    cbi_graph_node node;
    uint32_t next;
} frame;

/* Tarjan's search. */
typedef struct search {
    const cbi_calls *calls;
    uint32_t *order, *low; /* by node */
    uint32_t *component;   /* by node; 0 while it is on the stack */
    bool *cyclic;
    cbi_graph_node *bottom_up;
    uint32_t met, done, count;
    CBI_VEC(cbi_graph_node) stack;
    CBI_VEC(frame) frames;
} search;

static void enter(const cbi_linker *lk, search *s, cbi_graph_node node)
{
    s->low[node] = s->order[node] = ++s->met;
    cbi_vec_push(lk->ctx, &s->stack, node);
    cbi_vec_push(lk->ctx, &s->frames, ((frame){node, 0}));
}

/* Takes a component from the stack, whose first member is the node. */
static void leave(search *s, cbi_graph_node node)
{
    bool several = s->stack.items[s->stack.len - 1] != node;
    s->count++;
    for (cbi_graph_node member = UINT32_MAX; member != node;) {
        member = s->stack.items[--s->stack.len];
        s->component[member] = s->count;
        s->cyclic[member] |= several;
        s->bottom_up[s->done++] = member;
    }
}

/* With a stack of its own: chains are as long as an input makes them. */
static void visit(const cbi_linker *lk, search *s, cbi_graph_node root)
{
    enter(lk, s, root);
    while (s->frames.len) {
        frame *last = &s->frames.items[s->frames.len - 1];
        cbi_graph_node node = last->node;
        if (last->next < cbi_degree(s->calls, node)) {
            cbi_graph_node next = cbi_successor(s->calls, node, last->next++);
            if (next < s->calls->func_count && !lk->graph->fates[next].live)
                continue;
            if (next == node)
                s->cyclic[node] = true;
            if (!s->order[next])
                enter(lk, s, next);
            else if (!s->component[next] && s->order[next] < s->low[node])
                s->low[node] = s->order[next];
            continue;
        }
        s->frames.len--;
        if (s->frames.len) {
            cbi_graph_node parent = s->frames.items[s->frames.len - 1].node;
            if (s->low[node] < s->low[parent])
                s->low[parent] = s->low[node];
        }
        if (s->low[node] == s->order[node])
            leave(s, node);
    }
}

static const bool *find_cycles_below(const cbi_linker *lk, const search *s)
{
    bool *below = CBI_NEW_ARRAY(lk->ctx, s->calls->count, bool);
    for (uint32_t i = 0; i < s->done; i++) {
        cbi_graph_node node = s->bottom_up[i];
        below[node] = s->cyclic[node];
        for (uint32_t j = 0; j < cbi_degree(s->calls, node); j++)
            below[node] |= below[cbi_successor(s->calls, node, j)];
    }
    return below;
}

void cbi_link_components(const cbi_linker *lk)
{
    uint32_t count = lk->graph->calls.count;
    search s = {.calls = &lk->graph->calls,
                .order = CBI_NEW_ARRAY(lk->ctx, count, uint32_t),
                .low = CBI_NEW_ARRAY(lk->ctx, count, uint32_t),
                .component = CBI_NEW_ARRAY(lk->ctx, count, uint32_t),
                .cyclic = CBI_NEW_ARRAY(lk->ctx, count, bool),
                .bottom_up = CBI_NEW_ARRAY(lk->ctx, count, cbi_graph_node)};
    for (uint32_t i = 0; i < lk->graph->calls.func_count; i++)
        if (lk->reaching->fates[i].live && !s.order[i])
            visit(lk, &s, i);
    lk->reaching->graph.components = (cbi_components){.bottom_up = s.bottom_up,
                                                      .live_count = s.done,
                                                      .count = s.count,
                                                      .of = s.component,
                                                      .cyclic = s.cyclic,
                                                      .cycle_below = find_cycles_below(lk, &s)};
}

/* ---- which entries reach a function ---- */

static int by_number(const void *a, const void *b)
{
    const cbi_func *x = *(cbi_func *const *)a, *y = *(cbi_func *const *)b;
    return cbi_order(x->number, y->number);
}

/* Live callers: edges turned around. */
typedef struct callers {
    uint32_t *first;
    cbi_graph_node *edges;
} callers;

static callers find_callers(const cbi_linker *lk)
{
    const cbi_calls *calls = &lk->graph->calls;
    const cbi_components *live = &lk->graph->components;
    callers c = {.first = CBI_NEW_ARRAY(lk->ctx, (size_t)calls->count + 2, uint32_t),
                 .edges = CBI_NEW_ARRAY(lk->ctx, calls->first[calls->count], cbi_graph_node)};
    uint32_t *next = c.first + 1; /* filled in, they have moved to where the next one begins */
    for (uint32_t i = 0; i < live->live_count; i++)
        for (uint32_t j = 0; j < cbi_degree(calls, live->bottom_up[i]); j++)
            next[cbi_successor(calls, live->bottom_up[i], j) + 1]++;
    for (uint32_t i = 0; i < calls->count; i++)
        next[i + 1] += next[i];
    for (uint32_t i = 0; i < live->live_count; i++)
        for (uint32_t j = 0; j < cbi_degree(calls, live->bottom_up[i]); j++)
            c.edges[next[cbi_successor(calls, live->bottom_up[i], j)]++] = live->bottom_up[i];
    return c;
}

typedef struct spreading {
    callers callers;
    const cbi_func_list **lists; /* by component */
    uint32_t *mark;              /* by function: the component whose list it has joined */
} spreading;

static void join(const cbi_linker *lk, spreading *s, uint32_t component, const cbi_func *f,
                 cbi_func_list *own)
{
    if (s->mark[f->number] == component)
        return;
    s->mark[f->number] = component;
    cbi_vec_push(lk->ctx, own, f);
}

/* Looks at the callers of a component (its nodes from begin to end in bottom_up) outside of it.
 * Where all that comes in is one list, that is the component's, too; else it gets the union. */
static const cbi_func_list *gather(const cbi_linker *lk, spreading *s, uint32_t begin, uint32_t end)
{
    const cbi_components *live = &lk->graph->components;
    const cbi_func_list *longest = NULL;
    cbi_func_list own = {0};
    uint32_t component = live->of[live->bottom_up[begin]];
    bool mixed = false;
    for (uint32_t i = begin; i < end; i++) {
        cbi_graph_node node = live->bottom_up[i];
        if (node < lk->graph->calls.func_count && lk->graph->fates[node].entry &&
            cbi_is_wanted_entry(lk, lk->symbols->funcs.items[node])) {
            mixed = true;
            join(lk, s, component, lk->symbols->funcs.items[node], &own);
        }
        for (uint32_t j = s->callers.first[node]; j < s->callers.first[node + 1]; j++) {
            const cbi_func_list *in = s->lists[live->of[s->callers.edges[j]]];
            if (!in || in == longest)
                continue;
            mixed |= longest != NULL;
            if (!longest || in->len > longest->len)
                longest = in;
        }
    }
    if (!mixed)
        return longest;
    for (uint32_t i = begin; i < end; i++) {
        cbi_graph_node node = live->bottom_up[i];
        const cbi_func_list *last = NULL;
        for (uint32_t j = s->callers.first[node]; j < s->callers.first[node + 1]; j++) {
            const cbi_func_list *in = s->lists[live->of[s->callers.edges[j]]];
            if (!in || in == last)
                continue;
            last = in;
            for (size_t k = 0; k < in->len; k++)
                join(lk, s, component, in->items[k], &own);
        }
    }
    if (longest && longest->len == own.len)
        return longest;
    if (own.len)
        qsort(own.items, own.len, sizeof *own.items, by_number);
    return cbi_memdup(lk->ctx, &own, sizeof own);
}

/* Hands the entries down from callers to callees, a component at a time.  Components that are
 * reached by the same entries through one way share the list, so a long chain costs no more than
 * its length. */
static const cbi_func_list *const *spread_entries(const cbi_linker *lk)
{
    const cbi_components *live = &lk->graph->components;
    spreading s = {.callers = find_callers(lk),
                   .lists = CBI_NEW_ARRAY(lk->ctx, (size_t)live->count + 1, const cbi_func_list *),
                   .mark = CBI_NEW_ARRAY(lk->ctx, lk->symbols->funcs.len, uint32_t)};
    for (uint32_t end = live->live_count; end;) {
        uint32_t begin = end - 1, component = live->of[live->bottom_up[begin]];
        while (begin && live->of[live->bottom_up[begin - 1]] == component)
            begin--;
        s.lists[component] = gather(lk, &s, begin, end);
        end = begin;
    }
    return s.lists;
}

const cbi_func_list *cbi_entries_reaching(const cbi_linker *lk, const cbi_func *f)
{
    static const cbi_func_list none;
    if (!lk->reaching->entries_of)
        lk->reaching->entries_of = spread_entries(lk);
    const cbi_func_list *list = lk->reaching->entries_of[lk->graph->components.of[f->number]];
    return list ? list : &none;
}
