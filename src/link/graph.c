/* Call graph: address-taken functions, liveness, strongly connected components.
 *
 * Indirect calls go through one node per prototype string, so the graph stays linear in the input
 * whatever the number of callers and candidates.
 */
#include "format/reloc.h"
#include "link/state.h"

#include <stdlib.h>

/* ---- prototypes as graph nodes ---- */

static cbi_proto *proto_node(cbi_linker *lk, const cbi_name *name)
{
    cbi_proto *proto = cbi_map_get(&lk->protos_taken, CBI_KEY(name));
    if (!proto) {
        proto = CBI_NEW(lk->ctx, cbi_proto);
        proto->name = name;
        proto->node.proto = proto;
        cbi_map_put(lk->ctx, &lk->protos_taken, CBI_KEY(name), proto);
        cbi_vec_push(lk->ctx, &lk->proto_nodes, proto);
    }
    return proto;
}

/* An address taken by a merged function counts when the prototype is known; entries have none. */
static void complete_taken(cbi_linker *lk)
{
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        for (size_t j = 0; j < f->takes.len; j++) {
            cbi_func *taken = f->takes.items[j];
            if (taken->taken.len == 0 && (taken->prototype || (taken->sym->other & STO_CUDA_ENTRY)))
                cbi_vec_push(lk->ctx, &taken->taken, taken->prototype);
        }
    }
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        f->node.func = f;
        f->address_taken = f->taken.len > 0;
        for (size_t j = 0; j < f->taken.len; j++) {
            bool seen = !f->taken.items[j];
            for (size_t k = 0; k < j; k++)
                seen |= f->taken.items[k] == f->taken.items[j];
            if (!seen)
                cbi_vec_push(lk->ctx, &proto_node(lk, f->taken.items[j])->funcs, f);
        }
    }
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        for (size_t j = 0; j < f->indirect.len; j++)
            proto_node(lk, f->indirect.items[j]);
    }
}

size_t cbi_node_degree(const cbi_node *node)
{
    if (node->func)
        return node->func->calls.len + node->func->indirect.len;
    return node->proto->funcs.len;
}

cbi_node *cbi_node_successor(cbi_linker *lk, const cbi_node *node, size_t i)
{
    if (node->proto)
        return &node->proto->funcs.items[node->proto->funcs.len - 1 - i]->node;
    /* Edges are prepended, direct ones while reading, then the indirect ones from the newest call
     * on with the candidates in function order. */
    const cbi_func *f = node->func;
    if (i < f->indirect.len)
        return &proto_node(lk, f->indirect.items[i])->node;
    i -= f->indirect.len;
    return &f->calls.items[f->calls.len - 1 - i]->node;
}

/* ---- liveness ---- */

static void mark_reached(cbi_linker *lk, cbi_func *root)
{
    CBI_VEC(cbi_node *) work = {0};
    if (root->reached)
        return;
    root->reached = root->live = true;
    cbi_vec_push(lk->ctx, &work, &root->node);
    while (work.len) {
        cbi_node *node = work.items[--work.len];
        for (size_t i = 0; i < cbi_node_degree(node); i++) {
            cbi_node *next = cbi_node_successor(lk, node, i);
            if (next->func ? next->func->reached : next->proto->reached)
                continue;
            if (next->func)
                next->func->reached = next->func->live = true;
            else
                next->proto->reached = true;
            cbi_vec_push(lk->ctx, &work, next);
        }
        if (node->func && node->func->alias_of && !node->func->alias_of->reached) {
            node->func->alias_of->reached = node->func->alias_of->live = true;
            cbi_vec_push(lk->ctx, &work, &node->func->alias_of->node);
        }
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

static bool keeps_function(uint32_t type)
{
    return (type >= 31 && type <= 35) || (type >= 47 && type <= 49) || (type >= 61 && type <= 63) ||
           type == R_MERCURY_FUNC_DESC_64;
}

static void kill_function(cbi_func *f)
{
    f->sym->removed = true;
    if (f->alias_of)
        return;
    cbi_sec_kill(f->text);
    cbi_sec_kill(f->info);
    cbi_sec_kill(f->constant2);
    cbi_sec_kill(f->old_constants);
    cbi_sec_kill(f->constant0);
}

/* Kernels that -kernels-used does not name but that live because their address is
 * taken are entries too, but take no part in propagation when exactly one is named. */
bool cbi_is_wanted_entry(const cbi_linker *lk, const cbi_func *f)
{
    return f->entry && f->obj && f->live && !f->pruned && (!lk->only_entry || f == lk->only_entry);
}

/* The kernel that is the only one wanted, and all that stay. */
static void list_entries(cbi_linker *lk)
{
    size_t wanted = 0;
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        if (!f->entry || !f->obj || !f->live)
            continue;
        lk->only_entry = wanted++ ? NULL : f;
    }
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        if (!f->obj || !f->live || !(f->sym->other & STO_CUDA_ENTRY))
            continue;
        /* Only --preserve-relocs keeps it. */
        f->pruned = !f->entry && !f->address_taken;
        f->entry = true;
        cbi_vec_push(lk->ctx, &lk->entries, f);
    }
}

static size_t wanted_count(const cbi_linker *lk)
{
    size_t count = 0;
    for (size_t i = 0; i < lk->funcs.len; i++)
        count += lk->funcs.items[i]->entry && lk->funcs.items[i]->obj;
    return count;
}

/* A kernel that no host code names is wanted no more than one that -kernels-used does not name. */
static void apply_host_references(cbi_linker *lk)
{
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        if (f->entry && f->obj && !named_by_host(lk, f))
            f->entry = false;
    }
}

/* nvlink looks for optimizer constants by name.  When it removes a static function without any and
 * finds those of a later one of the name, it takes the number of the code's section for that of a
 * symbol and removes that symbol, which may be a function that lives (not seen below sm_90). */
static void lose_symbols(cbi_linker *lk)
{
    const char *prefix = lk->mercury ? ".nv.constant.optimizer." : ".nv.constant2.";
    for (size_t i = 0; i < lk->secs.len && i < lk->locals.len; i++) {
        const cbi_func *f = lk->secs.items[i]->func;
        const cbi_func *hit = lk->locals.items[i]->func;
        if (!f || f->text != lk->secs.items[i] || f->live || f->entry || f->constant2 ||
            f->old_constants || !hit || !hit->live || !hit->obj)
            continue;
        const char *name = f->sym->name->s;
        const cbi_osec *found = cbi_sec_find(lk, cbi_intern_printf(lk->ctx, "%s%s", prefix, name));
        if (found && found->func && found->func != f)
            lk->deleted_section_help =
                cbi_printf(lk->ctx,
                           "there are several functions '%s', and with the first nvlink removes "
                           "'%s'; without --emulate this links",
                           name, hit->sym->name->s);
    }
}

void cbi_link_liveness(cbi_linker *lk)
{
    CBI_VEC(const cbi_func *) orphans = {0};
    complete_taken(lk);
    bool host = lk->opt->host.active && lk->exec && !lk->opt->debug && !lk->prune;
    if (host)
        apply_host_references(lk);
    bool all_kernels = (lk->prune || host) && wanted_count(lk) != 1;
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        bool root = f->entry && f->obj;
        if (root || (all_kernels && f->obj && f->address_taken && (f->sym->other & STO_CUDA_ENTRY)))
            mark_reached(lk, f);
        if (f->address_taken || !lk->eliminate)
            f->live = true;
    }
    /* What a live function calls outside stays, also when the function itself is not reached. */
    for (size_t i = 0; i < lk->funcs.len; i++) {
        const cbi_func *f = lk->funcs.items[i];
        for (size_t j = 0; f->live && j < f->calls.len; j++)
            if (!f->calls.items[j]->obj)
                f->calls.items[j]->live = true;
    }
    for (size_t i = 0; i < lk->rels.len; i++) {
        const cbi_lrel *r = &lk->rels.items[i];
        if (keeps_function(r->type) && r->sym && r->sym->func)
            r->sym->func->live = r->sym->func->desc_used = true;
    }
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        if (cbi_is_inner(f))
            f->live |= f->alias_of->live;
        if (f->alias_of && !f->live && f->alias_of->live)
            cbi_vec_push(lk->ctx, &orphans, f);
        if (f->alias_of && f->live)
            f->alias_of->live = true;
    }
    /* An alias that nobody refers to takes the text along that its owner still needs; the link then
     * fails where the text is needed first. */
    for (size_t i = 0; i < orphans.len; i++) {
        const cbi_func *orphan_alias = orphans.items[i];
        lk->deleted_section_help = cbi_printf(
            lk->ctx, "'%s' is an alias of '%s' that nothing refers to; refer to it, or remove it",
            orphan_alias->sym->name->s, orphan_alias->alias_of->sym->name->s);
        cbi_sec_kill(orphan_alias->alias_of->text);
    }
    if (lk->opt->exact && lk->sm90plus)
        lose_symbols(lk);
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        if (f->live)
            continue;
        /* nvlink looks for constants of kernels by name, and forgets the linked copy's here. */
        if (f->old_constants && f->constant2 && (f->sym->other & STO_CUDA_ENTRY))
            lk->deleted_section_help = cbi_printf(
                lk->ctx, "kernel '%s' has several weak copies; want it, or keep one copy",
                f->sym->name->s);
        kill_function(f);
    }
    list_entries(lk);
}

/* ---- components ---- */

static void add_caller(cbi_linker *lk, cbi_node *callee, cbi_node *caller)
{
    cbi_vec_push(lk->ctx, &callee->callers, caller);
}

typedef struct frame {
    cbi_node *node;
    size_t next;
} frame;

/* Tarjan's algorithm with an explicit stack. */
static void visit(cbi_linker *lk, cbi_node *root, uint32_t *counter, cbi_node_list *stack)
{
    CBI_VEC(frame) frames = {0};
    cbi_vec_push(lk->ctx, &frames, ((frame){root, 0}));
    root->low = root->order = ++*counter;
    root->on_stack = true;
    cbi_vec_push(lk->ctx, stack, root);
    while (frames.len) {
        frame *top = &frames.items[frames.len - 1];
        cbi_node *node = top->node;
        if (top->next < cbi_node_degree(node)) {
            cbi_node *next = cbi_node_successor(lk, node, top->next++);
            if (next->func && !next->func->live)
                continue;
            if (next == node)
                node->cyclic = true;
            if (!next->order) {
                next->low = next->order = ++*counter;
                next->on_stack = true;
                cbi_vec_push(lk->ctx, stack, next);
                cbi_vec_push(lk->ctx, &frames, ((frame){next, 0}));
            } else if (next->on_stack && next->order < node->low) {
                node->low = next->order;
            }
            continue;
        }
        frames.len--;
        if (frames.len) {
            cbi_node *parent = frames.items[frames.len - 1].node;
            if (node->low < parent->low)
                parent->low = node->low;
        }
        if (node->low != node->order)
            continue;
        bool several = stack->items[stack->len - 1] != node;
        cbi_node *member;
        do {
            member = stack->items[--stack->len];
            member->on_stack = false;
            member->scc = node->order;
            member->cyclic |= several;
            cbi_vec_push(lk->ctx, &lk->bottom_up, member);
        } while (member != node);
    }
}

void cbi_link_components(cbi_linker *lk)
{
    uint32_t counter = 0;
    cbi_node_list stack = {0};
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        if (f->live && !f->node.order)
            visit(lk, &f->node, &counter, &stack);
    }
    for (size_t i = 0; i < lk->bottom_up.len; i++) {
        cbi_node *node = lk->bottom_up.items[i];
        for (size_t j = 0; j < cbi_node_degree(node); j++)
            add_caller(lk, cbi_node_successor(lk, node, j), node);
    }
}

/* ---- which entries reach a function ---- */

static int by_number(const void *a, const void *b)
{
    const cbi_func *x = *(cbi_func *const *)a, *y = *(cbi_func *const *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Visits the callers of a component (COUNT nodes from FIRST) outside of it. Where all that comes in
 * is one list, returns that list; else fills OWN with the union. */
static const cbi_func_list *gather(cbi_linker *lk, cbi_node **first, size_t count,
                                   cbi_func_list *own)
{
    const cbi_func_list *longest = NULL;
    uint32_t mark = ++lk->mark;
    bool mixed = false;
    for (size_t i = 0; i < count; i++) {
        cbi_func *f = first[i]->func;
        if (f && cbi_is_wanted_entry(lk, f)) {
            mixed = true;
            f->node.mark = mark;
            cbi_vec_push(lk->ctx, own, f);
        }
        for (size_t j = 0; j < first[i]->callers.len; j++) {
            const cbi_func_list *in = first[i]->callers.items[j]->entries;
            if (!in || in == longest)
                continue;
            mixed |= longest != NULL;
            if (!longest || in->len > longest->len)
                longest = in;
        }
    }
    if (!mixed)
        return longest;
    for (size_t i = 0; i < count; i++) {
        const cbi_func_list *last = NULL;
        for (size_t j = 0; j < first[i]->callers.len; j++) {
            const cbi_func_list *in = first[i]->callers.items[j]->entries;
            if (!in || in == last)
                continue;
            last = in;
            for (size_t k = 0; k < in->len; k++) {
                if (in->items[k]->node.mark == mark)
                    continue;
                in->items[k]->node.mark = mark;
                cbi_vec_push(lk->ctx, own, in->items[k]);
            }
        }
    }
    return longest && longest->len == own->len ? longest : own;
}

/* Hands the entries down from callers to callees, a component at a time. Components that are
 * reached by the same entries through one way share the list, so a long chain costs no more than
 * its length. */
static void spread_entries(cbi_linker *lk)
{
    lk->entries_spread = true;
    for (size_t end = lk->bottom_up.len; end;) {
        size_t begin = end - 1;
        while (begin && lk->bottom_up.items[begin - 1]->scc == lk->bottom_up.items[end - 1]->scc)
            begin--;
        cbi_func_list *own = &lk->bottom_up.items[begin]->own_entries;
        const cbi_func_list *list = gather(lk, &lk->bottom_up.items[begin], end - begin, own);
        if (list == own && own->len > 1)
            qsort(own->items, own->len, sizeof *own->items, by_number);
        for (size_t i = begin; i < end; i++)
            lk->bottom_up.items[i]->entries = list;
        end = begin;
    }
}

const cbi_func_list *cbi_entries_reaching(cbi_linker *lk, cbi_func *f)
{
    static const cbi_func_list none;
    if (!lk->entries_spread)
        spread_entries(lk);
    return f->node.entries ? f->node.entries : &none;
}
