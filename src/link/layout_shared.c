/* Shared memory: who uses which variable decides where it goes (docs/link-semantics.md, "shared").
 */
#include "link/graph.h"
#include "link/layout_work.h"
#include "link/symbols.h"

enum { DYNAMIC_ALIGN = 16 };

/* Variables that no two of these share an entry with are laid over each other. */
typedef struct group {
    CBI_VEC(const cbi_shared *) members;
    cbi_map entries;
    uint64_t offset;
    uint64_t end;
} group;

typedef CBI_VEC(group *) group_list;

/* Does the code that is linked use a shared variable here? */
static bool uses_shared(const cbi_lrel *r)
{
    return r->sym && cbi_is_shared_var(r->sym) && r->target->func &&
           r->target == r->target->func->text && r->target->func->obj == r->obj;
}

static void collect_users(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->rels.len && lk->symbols->met.shared; i++) {
        const cbi_lrel *r = &lk->symbols->rels.items[i];
        if (!uses_shared(r))
            continue;
        const cbi_func *f = r->target->func;
        cbi_func_list *users = cbi_map_get(&lk->placing->users, CBI_KEY(r->sym));
        if (!users) {
            users = CBI_NEW(lk->ctx, cbi_func_list);
            cbi_map_put(lk->ctx, &lk->placing->users, CBI_KEY(r->sym), users);
        }
        if (!users->len || users->items[users->len - 1] != f)
            cbi_vec_push(lk->ctx, users, f);
    }
}

/* The functions whose text refers to the variable. */
static const cbi_func_list *users_of(const cbi_linker *lk, const cbi_lsym *sym)
{
    static const cbi_func_list none;
    const cbi_func_list *users = cbi_map_get(&lk->placing->users, CBI_KEY(sym));
    return users ? users : &none;
}

static bool larger(const void *a, const void *b)
{
    return ((const cbi_shared *)a)->sym->size > ((const cbi_shared *)b)->sym->size;
}

static bool stricter(const void *a, const void *b)
{
    const cbi_shared *x = a, *y = b;
    return x->align > y->align || (x->align == y->align && x->sym->size <= y->sym->size);
}

static bool is_dynamic(const cbi_lsym *sym)
{
    return sym->size == 0;
}

/* First met as dynamic, then defined with a size: nvlink lays it out in neither way. */
static bool gained_a_size(const cbi_lsym *sym)
{
    return sym->dynamic && sym->size != 0;
}

/* The entries in whose shared memory a user of variables counts. A kernel that stays although it is
 * not wanted has its own, but where one kernel is wanted it has nothing to do with its callees. */
typedef struct entry_span {
    const cbi_func *const *items;
    size_t len;
} entry_span;

static bool is_own_entry(const cbi_linker *lk, const cbi_func *user)
{
    return cbi_fate_of(lk, user)->entry && cbi_fate_of(lk, user)->live;
}

static entry_span entries_with(const cbi_linker *lk, const cbi_func *user)
{
    if (is_own_entry(lk, user))
        return (entry_span){&lk->graph->calls.funcs[user->number], 1};
    const cbi_func_list *reaching = cbi_entries_reaching(lk, user);
    return (entry_span){reaching->items, reaching->len};
}

/* The live entries that reach a user of the variable, each once, for each user from the last. */
static cbi_func_list entries_of(const cbi_linker *lk, const cbi_lsym *sym)
{
    cbi_func_list all = {0};
    cbi_map seen = {0};
    const cbi_func_list *users = users_of(lk, sym);
    for (size_t i = 0; i < users->len; i++) {
        const entry_span reaching = entries_with(lk, users->items[i]);
        for (size_t j = reaching.len; j-- > 0;) {
            const cbi_func *k = reaching.items[j];
            if (cbi_map_get(&seen, CBI_KEY(k)))
                continue;
            cbi_map_add(lk->ctx, &seen, CBI_KEY(k));
            cbi_vec_push(lk->ctx, &all, k);
        }
    }
    return all;
}

/* The section of a kernel's shared memory, created if it has none. */
static cbi_osec *open_shared(const cbi_linker *lk, const cbi_func *k)
{
    if (!cbi_shared_memory_of(lk, k))
        cbi_func_layout_in(lk, k)->shared = cbi_open_shared(lk, k);
    return cbi_shared_memory_of(lk, k);
}

/* Unwanted kernels get their section with the first variable: first those of their own, then the
 * groups, then dynamic ones. */
static cbi_func_list open_for(const cbi_linker *lk, const cbi_lsym *sym)
{
    cbi_func_list entries = entries_of(lk, sym);
    for (size_t i = 0; i < entries.len; i++)
        open_shared(lk, entries.items[i]);
    return entries;
}

static bool disjoint(const group *g, const cbi_func_list *entries)
{
    for (size_t i = 0; i < entries->len; i++)
        if (cbi_map_get(&g->entries, CBI_KEY(entries->items[i])))
            return false;
    return true;
}

static void join_group(const cbi_linker *lk, group_list *groups, const cbi_shared *var,
                       const cbi_func_list *entries)
{
    group *g = NULL;
    for (size_t i = 0; i < groups->len && !g; i++)
        if (disjoint(groups->items[i], entries))
            g = groups->items[i];
    if (!g) {
        g = CBI_NEW(lk->ctx, group);
        cbi_vec_push(lk->ctx, groups, g);
    }
    cbi_vec_push(lk->ctx, &g->members, var);
    for (size_t i = 0; i < entries->len; i++)
        cbi_map_put(lk->ctx, &g->entries, CBI_KEY(entries->items[i]), g);
}

/* nvlink -r loses the alignment of a variable that was dynamic at first.  Later a group without any
 * starts where the one before ends; if it is the first, nvlink crashes. */
static void need_alignment(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (!lk->quirks.alignment_lost)
        return;
    cbi_fatal(lk->ctx, "no-alignment",
              &(cbi_place){.file = cbi_obj_file(lk, sym->first_obj), .symbol = sym->name->s},
              "an earlier link with -r had a declaration without a size before the definition",
              "Shared variable '%s' has no alignment", sym->name->s);
}

/* Place the groups one after the other; returns where the last one ends. */
static uint64_t place_groups(const cbi_linker *lk, const group_list *groups)
{
    uint64_t off = lk->opt->reserve_null_pointer ? 1 : 0;
    for (size_t i = 0; i < groups->len; i++) {
        group *g = groups->items[i];
        uint64_t align = 0, size = 0;
        for (size_t j = 0; j < g->members.len; j++) {
            const cbi_shared *var = g->members.items[j];
            align = var->align > align ? var->align : align;
            size = var->sym->size > size ? var->sym->size : size;
        }
        if (!align && i == 0)
            need_alignment(lk, g->members.items[0]->sym);
        off = cbi_align_up(off, align);
        g->offset = off;
        for (size_t j = 0; j < g->members.len; j++)
            cbi_layout_place(lk, g->members.items[j]->sym)->value = off;
        off += size;
        g->end = off;
    }
    return off;
}

static bool reached_by(const cbi_linker *lk, const cbi_lsym *sym, const cbi_func *k)
{
    const cbi_func_list *users = users_of(lk, sym);
    for (size_t i = 0; i < users->len; i++) {
        const entry_span reaching = entries_with(lk, users->items[i]);
        for (size_t j = 0; j < reaching.len; j++)
            if (reaching.items[j] == k)
                return true;
    }
    return false;
}

/* What ptxas -ewp -g has placed by name stays there, the rest comes behind.  Returns that place, 0
 * if there is none of it. */
static uint64_t keep_placed(const cbi_linker *lk, cbi_osec *sec)
{
    uint64_t end = 0;
    const cbi_shared_section *shared = cbi_shared_of(sec);
    for (size_t i = 0; i < shared->variables.len; i++) {
        const cbi_shared *var = shared->variables.items[i];
        if (!var->placed_end)
            continue;
        cbi_placement *place = cbi_layout_place(lk, var->sym);
        place->value = var->placed_end - var->sym->size;
        place->sec = sec;
        end = var->placed_end > end ? var->placed_end : end;
    }
    return end;
}

static void place_entry(const cbi_linker *lk, const cbi_func *k, const group_list *groups)
{
    cbi_osec *sec = cbi_shared_memory_of(lk, k);
    if (!sec || sec->func != k || cbi_shared_of(sec)->as_it_came)
        return; /* static entries of one name share the section */
    uint64_t cur = lk->opt->reserve_null_pointer ? 1 : 0;
    cbi_shared_section *shared = cbi_shared_in(lk, sec);
    bool any = shared->variables.len > 0;
    for (size_t i = 0; i < groups->len; i++) {
        const group *g = groups->items[i];
        if (!cbi_map_get(&g->entries, CBI_KEY(k)))
            continue;
        for (size_t j = 0; j < g->members.len; j++) {
            const cbi_lsym *sym = g->members.items[j]->sym;
            uint64_t end = cbi_placement_of(lk, sym).value + sym->size;
            if (reached_by(lk, sym, k))
                cur = end > cur ? end : cur;
        }
        any = true;
    }
    cbi_list_sort(lk->ctx, (const void **)shared->variables.items, shared->variables.len, stricter);
    uint64_t align = 1, kept = keep_placed(lk, sec);
    cur = kept > cur ? kept : cur;
    if (groups->len && lk->records->debug_shared)
        align = lk->records->debug_shared->align > align ? lk->records->debug_shared->align : align;
    for (size_t i = 0; i < shared->variables.len; i++) {
        const cbi_shared *var = shared->variables.items[i];
        if (var->placed_end)
            continue;
        cur = cbi_align_up(cur, var->align ? var->align : cbi_align_by_size(var->sym));
        cbi_placement *place = cbi_layout_place(lk, var->sym);
        place->value = kept && var->sym == shared->whole ? 0 : cur;
        place->sec = sec;
        cur += var->sym->size;
        align = var->align > align ? var->align : align;
    }
    sec->size = any ? cur : 0;
    sec->align = align;
}

/* ---- dynamic shared memory ---- */

/* Union-find over entries: those that have a parent, the first of a set itself. */
static const cbi_func *set_of(const cbi_linker *lk, const cbi_func *k)
{
    for (;;) {
        cbi_func_layout *here = cbi_func_layout_in(lk, k);
        if (!here->set || here->set == k)
            return k;
        const cbi_func *above = cbi_func_layout_of(lk, here->set)->set;
        if (above)
            here->set = above;
        k = here->set;
    }
}

static void unite(const cbi_linker *lk, const cbi_func *a, const cbi_func *b)
{
    a = set_of(lk, a);
    b = set_of(lk, b);
    if (a == b)
        return;
    if (b->number < a->number) {
        const cbi_func *t = a;
        a = b;
        b = t;
    }
    cbi_func_layout_in(lk, b)->set = a;
}

static void place_dynamic(const cbi_linker *lk)
{
    cbi_func_list users = {0};
    for (size_t i = 0; i < lk->symbols->shared.len; i++) {
        const cbi_lsym *sym = lk->symbols->shared.items[i]->sym;
        const cbi_func *first = NULL;
        if (!is_dynamic(sym))
            continue;
        const cbi_func_list *of_variable = users_of(lk, sym);
        for (size_t j = 0; j < of_variable->len; j++) {
            const cbi_func *f = of_variable->items[j];
            cbi_vec_push(lk->ctx, &users, f);
            const entry_span reaching = entries_with(lk, f);
            for (size_t e = 0; e < reaching.len; e++) {
                const cbi_func *k = reaching.items[e];
                if (cbi_fate_of(lk, f)->entry && k != f)
                    continue;
                if (!cbi_func_layout_of(lk, k)->set)
                    cbi_func_layout_in(lk, k)->set = k;
                unite(lk, k,
                      cbi_func_layout_of(lk, reaching.items[0])->set ? reaching.items[0] : k);
                /* Debug links give all users of a variable one common offset. */
                if (lk->shows_debug && first)
                    unite(lk, first, k);
                first = first ? first : k;
            }
        }
    }
    for (size_t i = 0; i < lk->graph->entries.len; i++) {
        const cbi_func *k = lk->graph->entries.items[i];
        if (!cbi_func_layout_of(lk, k)->set)
            continue;
        cbi_func_layout *set = cbi_func_layout_in(lk, set_of(lk, k));
        uint64_t size = cbi_align_up(cbi_shared_memory_of(lk, k)->size, DYNAMIC_ALIGN);
        if (lk->opt->reserve_null_pointer && size == 0)
            size = DYNAMIC_ALIGN;
        set->offset = size > set->offset ? size : set->offset;
    }
    for (size_t i = 0; i < lk->graph->entries.len; i++) {
        const cbi_func *k = lk->graph->entries.items[i];
        if (!cbi_func_layout_of(lk, k)->set)
            continue;
        cbi_osec *sec = cbi_shared_memory_of(lk, k);
        sec->size = cbi_func_layout_of(lk, set_of(lk, k))->offset;
        if (sec->align < DYNAMIC_ALIGN)
            sec->align = DYNAMIC_ALIGN;
    }
    for (size_t i = 0; i < users.len; i++) {
        const cbi_func *f = users.items[i];
        const entry_span reaching = entries_with(lk, f);
        if (reaching.len && !(cbi_fate_of(lk, f)->entry && cbi_func_layout_of(lk, f)->set == f))
            cbi_func_layout_in(lk, f)->offset =
                cbi_func_layout_of(lk,
                                   set_of(lk, cbi_fate_of(lk, f)->entry ? f : reaching.items[0]))
                    ->offset;
    }
}

uint64_t cbi_dynamic_offset(const cbi_linker *lk, const cbi_func *f)
{
    if (!lk->shows_debug && !entries_with(lk, f).len)
        return UINT64_MAX;
    return cbi_func_layout_of(lk, f)->offset;
}

/* ---- final link ---- */

/* --preserve-relocs with -g: what an earlier -r made of dynamic variables, one per kernel, is not
 * shown unless the reserved area was added to the mark of deleted symbols. */
static void hide_instances(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->shared.len; i++) {
        const cbi_lsym *sym = lk->symbols->shared.items[i]->sym;
        if (is_dynamic(sym) && CUDA_IS_INTERNAL(sym->other))
            cbi_layout_place(lk, sym)->unplaced = true;
    }
}

/* --preserve-relocs.  Beside static variables of the module the dynamic ones that no entry reaches
 * are taken for static ones.  They have the value -1, which marks deleted symbols, unless the
 * reserved area was added to it. */
static void preserve_dynamic(const cbi_linker *lk, bool beside_static, bool reserve)
{
    lk->placing->layout.dynamic_recorded = beside_static;
    for (size_t i = 0; i < lk->symbols->shared.len; i++) {
        const cbi_lsym *sym = lk->symbols->shared.items[i]->sym;
        if (!is_dynamic(sym) && !gained_a_size(sym))
            continue;
        cbi_placement *place = cbi_layout_place(lk, sym);
        place->recorded = beside_static && reserve;
        place->state = CBI_SYM_DEFINED;
        place->sec = lk->records->debug_shared;
        place->value = UINT64_MAX;
        place->unplaced = true;
    }
}

/* Gives every variable to the entry or the group of entries that it belongs to.  Returns whether
 * there are dynamic ones. */
static bool assign_variables(const cbi_linker *lk, const cbi_shared **order, size_t count,
                             group_list *groups)
{
    bool dynamic = false;
    for (size_t i = 0; i < count; i++) {
        const cbi_lsym *sym = order[i]->sym;
        dynamic |= is_dynamic(sym) || gained_a_size(sym);
        if (sym->state == CBI_SYM_UNDEF && !is_dynamic(sym))
            continue;
        if (gained_a_size(sym)) {
            cbi_layout_place(lk, sym)->value =
                lk->opt->reserve_null_pointer ? DYNAMIC_ALIGN : 0; /* for -g */
            cbi_layout_place(lk, sym)->unplaced = true;
            continue;
        }
        if (is_dynamic(sym))
            continue;
        cbi_func_list entries = entries_of(lk, sym);
        if (users_of(lk, sym)->len == 0) {
            cbi_layout_place(lk, sym)->removed = true;
            /* what is all of a section, without a name, passes for the null symbol */
            lk->placing->layout.null_symbol_removed |=
                !sym->name->len && lk->quirks.null_symbol_removed;
            continue;
        }
        if (entries.len == 1) {
            cbi_osec *sec = open_shared(lk, entries.items[0]);
            cbi_vec_push(lk->ctx, &cbi_shared_in(lk, sec)->variables, order[i]);
            continue;
        }
        join_group(lk, groups, order[i], &entries);
    }
    return dynamic;
}

/* -g: debuggers see a dynamic variable at its common offset, which all code uses then; at the
 * lowest one when nobody reaches it. */
static void show_dynamic(const cbi_linker *lk, const cbi_lsym *sym)
{
    cbi_placement *place = cbi_layout_place(lk, sym);
    place->state = CBI_SYM_DEFINED;
    place->sec = lk->records->debug_shared;
    place->value = lk->opt->reserve_null_pointer ? DYNAMIC_ALIGN : 0;
    const cbi_func_list *users = users_of(lk, sym);
    place->unplaced = true;
    for (size_t u = 0; u < users->len; u++) {
        const cbi_func *user = users->items[u];
        if (!cbi_entries_reaching(lk, user)->len)
            continue;
        place->value = cbi_func_layout_of(lk, user)->offset;
        place->unplaced = false;
    }
}

static void finish_entries(const cbi_linker *lk, bool dynamic, uint64_t reserved)
{
    for (size_t i = 0; i < lk->graph->entries.len; i++) {
        cbi_osec *sec = cbi_shared_memory_of(lk, lk->graph->entries.items[i]);
        if (!sec || sec->func != lk->graph->entries.items[i])
            continue;
        if (cbi_shared_of(sec)->as_it_came) {
            sec->needed = true;
            continue;
        }
        bool aligned = reserved ? sec->align >= DYNAMIC_ALIGN : sec->align == DYNAMIC_ALIGN;
        sec->needed = sec->size > 0 || (dynamic && aligned);
        if (sec->needed)
            sec->size += reserved;
    }
}

/* .nv_debug.shared, which holds what groups of entries share, up to group_end. */
static void finish_debug_shared(const cbi_linker *lk, bool grouped, uint64_t group_end,
                                bool dynamic, uint64_t reserved)
{
    cbi_osec *sec = lk->records->debug_shared;
    uint64_t used = grouped ? group_end : 0;
    uint64_t full = used + reserved;
    cbi_shared_in(lk, sec)->total = used;
    if (dynamic)
        sec->align = grouped && sec->align > DYNAMIC_ALIGN ? sec->align : DYNAMIC_ALIGN;
    sec->needed = dynamic && sec->align == DYNAMIC_ALIGN;
    sec->size = 0;
    if (lk->opt->preserve_relocs) {
        sec->needed |= grouped;
        sec->size = full;
        if (!lk->shows_debug)
            preserve_dynamic(lk, grouped, reserved);
        else if (!reserved)
            hide_instances(lk);
    }
    if (lk->shows_debug) {
        sec->needed = grouped || dynamic;
        sec->size = full;
    }
}

/* Debug data names variables of kernels that were removed, which have no place. */
static void unplace_dead(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->records->few_secs.len; i++) {
        const cbi_osec *sec = lk->records->few_secs.items[i];
        bool dead = sec->func && !cbi_fate_of(lk, sec->func)->live;
        const cbi_shared_section *shared = cbi_shared_of(sec);
        for (size_t j = 0; dead && j < shared->variables.len; j++)
            cbi_layout_place(lk, shared->variables.items[j]->sym)->unplaced = true;
    }
}

/* From the largest variable on each goes to its entry or to a group; then groups get their places,
 * entries theirs behind them, and dynamic memory starts behind all that. */
static void layout_final(const cbi_linker *lk)
{
    group_list groups = {0};
    const cbi_shared **order = CBI_NEW_ARRAY(lk->ctx, lk->symbols->shared.len, const cbi_shared *);
    size_t count = lk->symbols->shared.len;
    if (count)
        memcpy(order, lk->symbols->shared.items, count * sizeof *order);
    cbi_list_sort(lk->ctx, (const void **)order, count, larger);
    bool dynamic = assign_variables(lk, order, count, &groups);
    for (size_t i = 0; i < groups.len; i++)
        for (size_t j = 0; j < groups.items[i]->members.len; j++)
            open_for(lk, groups.items[i]->members.items[j]->sym);
    uint64_t group_end = place_groups(lk, &groups);
    for (size_t i = 0; i < lk->graph->entries.len; i++)
        place_entry(lk, lk->graph->entries.items[i], &groups);
    for (size_t i = 0; i < count; i++)
        if (is_dynamic(order[i]->sym))
            open_for(lk, order[i]->sym);
    place_dynamic(lk);
    for (size_t i = 0; i < count && lk->shows_debug; i++)
        if (is_dynamic(order[i]->sym))
            show_dynamic(lk, order[i]->sym);
    unplace_dead(lk);
    const uint64_t reserved = cbi_reserved_shared(lk);
    finish_entries(lk, dynamic, reserved);
    if (lk->records->debug_shared)
        finish_debug_shared(lk, groups.len > 0, group_end, dynamic, reserved);
}

/* ---- -r ---- */

/* The size of a section of -r whose variables take TOTAL bytes. */
static uint64_t relocatable_size(uint64_t total, uint64_t align)
{
    return total > align ? total : total + align;
}

static void layout_relocatable_section(const cbi_linker *lk, cbi_osec *sec,
                                       const cbi_shared *const *vars, size_t count,
                                       uint64_t min_align, bool dynamic)
{
    cbi_shared_section *shared = cbi_shared_in(lk, sec);
    uint64_t total = 0, align = min_align;
    for (size_t i = 0; i < count; i++)
        total = vars[i]->placed_end > total ? vars[i]->placed_end : total;
    bool placed = total > 0;
    for (size_t i = 0; i < count; i++) {
        if (cbi_placement_of(lk, vars[i]->sym).state != CBI_SYM_DEFINED)
            continue;
        if (placed && !vars[i]->placed_end)
            total = cbi_align_up(total, vars[i]->align);
        total += vars[i]->placed_end ? 0 : vars[i]->sym->size;
        align = vars[i]->align > align ? vars[i]->align : align;
    }
    bool sized = total || shared->whole_align || (dynamic && align == DYNAMIC_ALIGN);
    sec->size = sized ? relocatable_size(total, align) : 0;
    sec->align = align;
    shared->total = total;
}

/* The module's variables, each where it is defined. */
static const cbi_shared **defined_shared(const cbi_linker *lk, size_t *ret_count)
{
    const cbi_shared **list = CBI_NEW_ARRAY(lk->ctx, lk->symbols->shared.len, const cbi_shared *);
    cbi_map seen = {0};
    size_t count = 0;
    for (size_t i = 0; i < lk->symbols->shared.len; i++) {
        const cbi_lsym *sym = lk->symbols->shared.items[i]->sym;
        if (gained_a_size(sym) && !cbi_map_get(&seen, CBI_KEY(sym)))
            cbi_map_add(lk->ctx, &seen, CBI_KEY(sym));
        else
            list[count++] = lk->symbols->shared.items[i];
    }
    *ret_count = count;
    return list;
}

/* Kernels that use dynamic memory get a symbol for it, in the order of their relocations.  With -g
 * there is none, but each variable has the largest of their addresses. */
static void create_instances(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->rels.len && lk->symbols->met.shared; i++) {
        const cbi_lrel *r = &lk->symbols->rels.items[i];
        const cbi_func *k = r->target->func;
        if (!uses_shared(r) || !is_dynamic(r->sym) || !cbi_func_layout_of(lk, k)->uses_dynamic ||
            cbi_func_layout_of(lk, k)->instance)
            continue;
        cbi_osec *sec = cbi_shared_memory_of(lk, k);
        if (!sec && !(k->obj && cbi_is_kernel(k)))
            continue;
        uint64_t start = sec ? cbi_align_up(cbi_shared_of(sec)->total, DYNAMIC_ALIGN) : 0;
        if (lk->shows_debug) {
            cbi_placement *place = cbi_layout_place(lk, r->sym);
            place->value = start > place->value ? start : place->value;
        } else {
            cbi_func_layout_in(lk, k)->instance =
                cbi_sym_create_dynamic(lk, "externsharedinstance", start);
        }
        if (!sec) {
            /* An unwanted kernel gets its section only now. */
            sec = open_shared(lk, k);
            sec->size = sec->align = DYNAMIC_ALIGN;
            sec->needed = true;
        }
    }
    for (size_t i = 0; i < lk->symbols->rels.len && lk->shows_debug; i++) {
        const cbi_lrel *r = &lk->symbols->rels.items[i];
        if (!uses_shared(r) || !is_dynamic(r->sym))
            continue;
        cbi_osec *sec = cbi_shared_memory_of(lk, r->target->func);
        uint64_t value = cbi_placement_of(lk, r->sym).value;
        if (sec && cbi_shared_of(sec)->total < value) {
            cbi_shared_in(lk, sec)->total = value;
            sec->size = relocatable_size(value, sec->align);
            sec->needed = true;
        }
    }
}

/* Defines the dynamic variables in .nv_debug.shared, at the lowest place, and marks what uses them.
 * Returns whether there are any. */
static bool define_dynamic(const cbi_linker *lk)
{
    bool dynamic = false;
    uint64_t lowest = lk->shows_debug && lk->opt->reserve_null_pointer ? DYNAMIC_ALIGN : 0;
    for (size_t i = 0; i < lk->symbols->shared.len; i++) {
        const cbi_lsym *sym = lk->symbols->shared.items[i]->sym;
        dynamic |= is_dynamic(sym) || gained_a_size(sym);
        if (gained_a_size(sym) && lowest) {
            cbi_layout_place(lk, sym)->value = lowest;
            cbi_layout_place(lk, sym)->realigned = true;
        }
        if (!is_dynamic(sym))
            continue;
        cbi_placement *place = cbi_layout_place(lk, sym);
        place->state = CBI_SYM_DEFINED;
        place->sec = lk->records->debug_shared;
        place->value = lowest;
        const cbi_func_list *users = users_of(lk, sym);
        for (size_t j = 0; j < users->len; j++)
            cbi_func_layout_in(lk, users->items[j])->uses_dynamic = true;
    }
    return dynamic;
}

/* The largest alignment of a variable of the module. */
static uint64_t shared_align(const cbi_linker *lk)
{
    uint64_t align = 0;
    for (size_t i = 0; i < lk->symbols->shared.len; i++) {
        const cbi_shared *var = lk->symbols->shared.items[i];
        if (cbi_placement_of(lk, var->sym).state == CBI_SYM_DEFINED && var->align > align)
            align = var->align;
    }
    return align;
}

/* A function's section: what lies in it, and room in front of dynamic memory. */
static void size_function(const cbi_linker *lk, const cbi_func *k, uint64_t align, bool dynamic)
{
    const bool uses_dynamic = cbi_func_layout_of(lk, k)->uses_dynamic;
    cbi_osec *sec = k->shared;
    if (uses_dynamic && align < DYNAMIC_ALIGN)
        align = DYNAMIC_ALIGN;
    cbi_shared_section *shared = cbi_shared_in(lk, sec);
    layout_relocatable_section(lk, sec, shared->variables.items, shared->variables.len, align,
                               dynamic);
    if (uses_dynamic && lk->opt->reserve_null_pointer && shared->total == 0) {
        shared->total = DYNAMIC_ALIGN;
        sec->size = DYNAMIC_ALIGN + sec->align;
    }
    if (uses_dynamic)
        sec->size = cbi_align_up(sec->size, DYNAMIC_ALIGN);
    sec->needed = sec->size || (dynamic && sec->align == DYNAMIC_ALIGN);
}

/* .nv_debug.shared: all variables of the module. */
static void size_debug_shared(const cbi_linker *lk, bool dynamic)
{
    cbi_osec *sec = lk->records->debug_shared;
    uint64_t align = dynamic ? DYNAMIC_ALIGN : cbi_shared_of(sec)->whole_align;
    size_t count;
    const cbi_shared **list = defined_shared(lk, &count);
    layout_relocatable_section(lk, sec, list, count, align, dynamic);
    if (dynamic && cbi_shared_of(sec)->total == 0)
        sec->size = sec->align;
    sec->needed = sec->size || dynamic;
}

/* Variables keep their places, and sections get sizes: those of functions, each aligned as the
 * strictest variable of the module, then that of all variables, behind the symbols for dynamic
 * memory, which can make functions' sections larger. */
static void layout_relocatable(const cbi_linker *lk)
{
    bool dynamic = define_dynamic(lk);
    uint64_t align = shared_align(lk);
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *k = lk->symbols->funcs.items[i];
        if (k->shared && k->obj)
            size_function(lk, k, align, dynamic);
    }
    create_instances(lk);
    if (lk->records->debug_shared)
        size_debug_shared(lk, dynamic);
}

/* The compiler's own variables in reserved shared memory stand behind the system's, which the
 * Mercury side does not count.  Objects give their alignment as value. */
static void place_reserved(const cbi_linker *lk, cbi_osec *sec)
{
    const cbi_shared_section *shared = cbi_shared_of(sec);
    const cbi_shared **vars = shared->variables.items;
    size_t count = shared->variables.len;
    if (!count)
        return;
    if (!lk->exec) {
        layout_relocatable_section(lk, sec, vars, count, 0, false);
        return;
    }
    cbi_list_sort(lk->ctx, (const void **)vars, count, stricter);
    uint64_t end = lk->mercury ? 0 : CUDA_RESERVED_SHARED_OWN;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = cbi_align_up(end, vars[i]->align);
        cbi_layout_place(lk, vars[i]->sym)->value = value;
        end = value + vars[i]->sym->size;
    }
    sec->size = end;
    sec->align = vars[0]->align;
}

/* Sections of ptxas -ewp with dynamic memory only stay as they are. */
static void emit_empty(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->records->few_secs.len; i++) {
        cbi_osec *sec = lk->records->few_secs.items[i];
        uint64_t align = cbi_shared_of(sec)->whole_align;
        if (sec->needed || !align)
            continue;
        sec->needed = true;
        if (sec->align < align)
            sec->align = align;
    }
}

/* Where shared memory goes.  Final links: a variable belongs to the entries that reach code which
 * uses it.  None: it goes.  One: it lies with that entry's own, by alignment, then size.  Several:
 * from the largest on it joins the first group whose members share no entry with it; members lie
 * over each other, and groups one behind the other, in front of the entries' own.  Dynamic memory
 * of all entries that share it starts behind all that.  -r: sections keep what they have, and only
 * sizes and alignments are added up. */
void cbi_layout_shared(const cbi_linker *lk)
{
    collect_users(lk);
    if (lk->exec)
        layout_final(lk);
    else
        layout_relocatable(lk);
    emit_empty(lk);
    for (size_t i = 0; i < lk->records->few_secs.len; i++)
        if (lk->records->few_secs.items[i]->type == SHT_CUDA_SHARED_RESERVED)
            place_reserved(lk, lk->records->few_secs.items[i]);
}
