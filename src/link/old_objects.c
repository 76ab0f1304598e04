/* What objects of earlier toolkits say in other ways: barriers in section flags, cache preferences,
 * the lack of .note.nv.cuinfo.  Rules: docs/link-semantics.md, "objects of earlier toolkits". */
#include "link/graph.h"
#include "link/propagate_work.h"

/* ---- barriers ---- */

/* The count in the flags of a live function's code. */
static uint32_t flagged_barriers(const cbi_linker *lk, const cbi_func *f)
{
    if (!cbi_fate_of(lk, f)->live || !f->text || f->alias_of || SHF_CUDA_MERCURY & f->text->flags)
        return 0;
    return SHF_CUDA_BARRIERS(f->text->flags);
}

static void raise_barriers(const cbi_linker *lk, const cbi_func *k, uint32_t count)
{
    const cbi_rec flagged = {.code = EIATTR_NUM_BARRIERS, .value = (uint16_t)count};
    if (count)
        cbi_propagate_record(lk, k, &flagged);
}

static void raise_to(uint32_t *count, uint32_t other)
{
    if (other > *count)
        *count = other;
}

/* The highest count of what a node calls outside of its component. */
static uint32_t count_callees(const cbi_linker *lk, const uint32_t *highest, cbi_graph_node node)
{
    const uint32_t *component = lk->graph->components.of;
    uint32_t count = 0;
    for (uint32_t i = 0; i < cbi_degree(&lk->graph->calls, node); i++) {
        uint32_t callee = component[cbi_successor(&lk->graph->calls, node, i)];
        if (callee != component[node])
            raise_to(&count, highest[callee]);
    }
    return count;
}

/* Every entry takes over the highest count (by function) that it reaches; its own is its record's,
 * unless it reaches itself. */
static void raise_all(const cbi_linker *lk, const uint32_t *counts)
{
    const cbi_components *live = &lk->graph->components;
    uint32_t *highest = CBI_NEW_ARRAY(lk->ctx, (size_t)live->count + 1, uint32_t);
    for (uint32_t i = 0; i < live->live_count; i++) {
        cbi_graph_node node = live->bottom_up[i];
        uint32_t *here = &highest[live->of[node]];
        raise_to(here, count_callees(lk, highest, node));
        raise_to(here, node < lk->graph->calls.func_count ? counts[node] : 0);
    }
    for (uint32_t i = 0; i < live->live_count; i++) {
        cbi_graph_node node = live->bottom_up[i];
        const cbi_func *k = cbi_node_func(&lk->graph->calls, node);
        if (!k || !cbi_is_wanted_entry(lk, k))
            continue;
        uint32_t count = count_callees(lk, highest, node);
        for (uint32_t j = 0; live->cyclic[node] && j < live->live_count; j++) {
            cbi_graph_node other = live->bottom_up[j]; /* in one circle with it, or itself */
            if (live->of[other] != live->of[node])
                continue;
            raise_to(&count, count_callees(lk, highest, other));
            raise_to(&count, other < lk->graph->calls.func_count ? counts[other] : 0);
        }
        raise_barriers(lk, k, count);
    }
}

void cbi_migrate_barriers(const cbi_linker *lk)
{
    if (!lk->symbols->met.barriers)
        return;
    uint32_t *counts = CBI_NEW_ARRAY(lk->ctx, lk->symbols->funcs.len, uint32_t);
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        counts[i] = flagged_barriers(lk, f);
        if (!counts[i] || cbi_find_record(lk, f, EIATTR_NUM_BARRIERS))
            continue;
        cbi_properties_in(lk, f)->barriers_told = true;
        if (f->info)
            cbi_add_record(lk, f, CBI_ATTR_BYTE, EIATTR_NUM_BARRIERS, (uint16_t)counts[i]);
    }
    if (!lk->graph->only_entry)
        raise_all(lk, counts);
    for (size_t i = 0; lk->graph->only_entry && i < lk->symbols->funcs.len; i++)
        if (lk->symbols->funcs.items[i] != lk->graph->only_entry)
            raise_barriers(lk, lk->graph->only_entry, counts[i]);
}

/* ---- cache preferences ---- */

typedef CBI_VEC(cbi_rec *) rec_list;

/* What an entry wants itself or, if it does not say, the first function that it reaches. */
typedef struct preference {
    const cbi_func *of;
    bool wanted, conflict;
} preference;

static bool wants_cache(const cbi_rec *rec)
{
    return rec->size >= 8 && cbi_ld32(cbi_payload_of(rec) + 4);
}

static void join_preference(const cbi_linker *lk, preference *p, const cbi_func *k,
                            const cbi_func *f, bool wanted)
{
    if (!p->of) {
        p->of = f;
        p->wanted = wanted;
    } else if (wanted != p->wanted) {
        p->conflict = true;
        cbi_warning(lk->ctx, "cache-preference", &(cbi_place){.symbol = k->sym->name->s}, NULL,
                    "Function '%s' and function '%s' have conflicting cache preference, falling "
                    "back to use cache preference of entry '%s'",
                    p->of->sym->name->s, f->sym->name->s, k->sym->name->s);
    }
}

/* The requests of linked functions; no output keeps one. */
static rec_list take_requests(const cbi_linker *lk)
{
    rec_list requests = {0};
    bool any = lk->propagating->met[EIATTR_LOAD_CACHE_REQUEST];
    for (size_t i = 0; i < lk->attributes->recs.len && any; i++) {
        cbi_rec *rec = &lk->attributes->recs.items[i];
        if (rec->code != EIATTR_LOAD_CACHE_REQUEST || rec->dead)
            continue;
        rec->dead = true;
        if (rec->symbol && rec->symbol->func)
            cbi_vec_push(lk->ctx, &requests, rec);
    }
    return requests;
}

void cbi_apply_cache_preferences(const cbi_linker *lk)
{
    rec_list requests = take_requests(lk);
    if (!requests.len || !lk->exec)
        return;
    preference *of_entry = CBI_NEW_ARRAY(lk->ctx, lk->symbols->funcs.len, preference);
    for (size_t i = 0; i < requests.len; i++) {
        const cbi_func *f = requests.items[i]->symbol->func;
        if (cbi_fate_of(lk, f)->entry)
            of_entry[f->number] = (preference){.of = f, .wanted = wants_cache(requests.items[i])};
    }
    for (size_t i = 0; i < requests.len; i++) {
        const cbi_func *f = requests.items[i]->symbol->func;
        const cbi_func_list *reaching = cbi_entries_reaching(lk, f);
        for (size_t j = 0; j < reaching->len; j++) {
            const cbi_func *k = reaching->items[j];
            if (k != f)
                join_preference(lk, &of_entry[k->number], k, f, wants_cache(requests.items[i]));
        }
    }
    for (size_t i = 0; i < lk->graph->entries.len; i++) {
        const cbi_func *k = lk->graph->entries.items[i];
        const preference *p = &of_entry[k->number];
        if (p->wanted && (!p->conflict || p->of == k))
            cbi_add_record(lk, k, CBI_ATTR_NONE, EIATTR_EXPLICIT_CACHING, 0);
    }
}

/* ---- their presence ---- */

void cbi_mark_old_objects(const cbi_linker *lk, cbi_rec_list *ret_recs)
{
    for (size_t i = 0; i < lk->symbols->objs.len; i++) {
        const cbi_cuinfo *c = &lk->symbols->objs.items[i]->cuinfo;
        if (c->present && c->version >= 2 && c->toolkit >= CUDA_TOOLKIT_10)
            continue;
        cbi_rec_append(lk->ctx, ret_recs, NULL, CBI_ATTR_NONE, EIATTR_HAS_PRE_V10_OBJECT, 0);
        return;
    }
}
