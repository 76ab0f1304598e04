/* Too many constants: nvlink lays the variables out anew, with less alignment, and while kernels
 * are removed only those that something refers to (docs/link-semantics.md, "Too many constants").
 */
#include "link/layout_work.h"
#include "link/reloc_decision.h"
#include "link/symbols.h"

#include <stdlib.h>

typedef struct variable {
    const cbi_lsym *sym;
    uint64_t old; /* its place before */
    cbi_span bytes;
    bool kept;
} variable;

typedef CBI_VEC(variable) variable_list;

/* By alignment, which static and weak variables do not have yet, then by size. */
static uint64_t rank_of(const cbi_lsym *sym)
{
    return sym->in_local_list ? 0 : cbi_align_by_size(sym);
}

static bool stays_in_front(const void *a, const void *b)
{
    const cbi_lsym *x = ((const variable *)a)->sym, *y = ((const variable *)b)->sym;
    return rank_of(x) > rank_of(y) || (rank_of(x) == rank_of(y) && x->size <= y->size);
}

static int by_place(const void *a, const void *b)
{
    const variable *x = a, *y = b;
    return cbi_order(x->old, y->old);
}

/* The variables of the section with their bytes. */
static variable_list collect(const cbi_linker *lk, const cbi_osec *sec)
{
    variable_list all = {0};
    for (size_t o = 0; o < lk->symbols->objs.len; o++) {
        const cbi_lobj *obj = lk->symbols->objs.items[o];
        for (uint32_t i = 1; i < obj->object.symbol_count; i++) {
            const cbi_symbol *in = &obj->object.symbols[i];
            const cbi_lsym *sym = obj->symbols[i];
            if (!sym || sym->is_section || sym->sec != sec || sym->def_obj != cbi_obj_id(obj) ||
                obj->symbol_lost[i] || in->shndx == SHN_UNDEF ||
                in->shndx >= obj->object.section_count)
                continue;
            cbi_span data = obj->object.sections[in->shndx].data;
            cbi_span bytes = {0};
            if (in->value <= data.size && sym->size <= data.size - in->value)
                bytes = (cbi_span){data.data + in->value, sym->size};
            cbi_vec_push(lk->ctx, &all,
                         ((variable){.sym = sym, .old = sym->value, .bytes = bytes}));
        }
    }
    if (all.len)
        qsort(all.items, all.len, sizeof *all.items, by_place);
    return all;
}

static void mark_kept(const cbi_linker *lk, const cbi_osec *sec, const cbi_map *by_symbol)
{
    for (size_t i = 0; i < lk->symbols->rels.len; i++) {
        const cbi_lrel *r = &lk->symbols->rels.items[i];
        if (!r->sym || r->sym->sec != sec || !cbi_reloc_counts(lk, r))
            continue;
        variable *v = cbi_map_get(by_symbol, CBI_KEY(r->sym));
        if (v)
            v->kept = true;
    }
}

static bool was_until(const void *v, const void *offset)
{
    return ((const variable *)v)->old <= *(const uint64_t *)offset;
}

/* The entries in and behind a variable go where it goes, also those of a weak copy that lost; those
 * of a dropped one nowhere. */
static void move_relocs(const cbi_linker *lk, const cbi_osec *sec, const variable_list *all)
{
    cbi_rel_span *rels = &lk->placing->layout.rels;
    cbi_lrel *moved = cbi_memdup(lk->ctx, rels->items, rels->len * sizeof *moved);
    for (size_t i = 0; i < rels->len; i++) {
        cbi_lrel *r = &moved[i];
        if (r->target != sec)
            continue;
        size_t until = cbi_search(all->items, all->len, sizeof *all->items, was_until, &r->offset);
        const variable *v = until ? &all->items[until - 1] : NULL;
        r->offset =
            v && v->kept ? r->offset - v->old + cbi_placement_of(lk, v->sym).value : UINT64_MAX;
    }
    rels->items = moved;
}

static bool has_relocs(const cbi_linker *lk, const cbi_osec *sec)
{
    const cbi_rel_span *rels = &lk->placing->layout.rels;
    for (size_t i = 0; i < rels->len; i++)
        if (rels->items[i].target == sec && cbi_reloc_counts(lk, &rels->items[i]))
            return true;
    return false;
}

typedef CBI_VEC(const variable *) variable_order;

static void add_kept(const cbi_linker *lk, const cbi_lsym *sym, const cbi_osec *sec,
                     const cbi_map *by_symbol, variable_order *order)
{
    variable *v = sym->sec == sec ? cbi_map_get(by_symbol, CBI_KEY(sym)) : NULL;
    if (v && v->kept)
        cbi_vec_push(lk->ctx, order, v);
}

/* Places the kept variables in nvlink's order. */
static void place(const cbi_linker *lk, cbi_osec *sec, const cbi_map *by_symbol)
{
    variable_order order = {0};
    for (size_t i = 0; i < lk->records->locals.len; i++)
        add_kept(lk, lk->records->locals.items[i], sec, by_symbol, &order);
    for (size_t i = 0; i < lk->records->globals.len; i++)
        add_kept(lk, lk->records->globals.items[i], sec, by_symbol, &order);
    cbi_list_sort(lk->ctx, (const void **)order.items, order.len, stays_in_front);
    sec->pieces.len = 0;
    /* where variables are dropped, address 0 does not stay free */
    sec->size = lk->opt->reserve_null_pointer && !lk->prune ? 1 : 0;
    sec->align = 1;
    for (size_t i = 0; i < order.len; i++) {
        const cbi_lsym *sym = order.items[i]->sym;
        uint64_t value = cbi_align_up(sec->size, cbi_align_by_size(sym));
        cbi_layout_place(lk, sym)->value = value;
        cbi_vec_push(lk->ctx, &sec->pieces,
                     ((cbi_piece){.bytes = order.items[i]->bytes, .offset = value}));
        sec->size = value + sym->size;
        sec->align = rank_of(sym) > sec->align ? rank_of(sym) : sec->align;
    }
}

static void cull(const cbi_linker *lk, cbi_osec *sec)
{
    variable_list all = collect(lk, sec);
    cbi_map by_symbol = {0};
    for (size_t i = 0; i < all.len; i++) {
        all.items[i].kept =
            !lk->prune || cbi_items_match(lk->opt->variables_used, lk->opt->variables_used_count,
                                          all.items[i].sym->name->s);
        cbi_map_put(lk->ctx, &by_symbol, CBI_KEY(all.items[i].sym), &all.items[i]);
    }
    mark_kept(lk, sec, &by_symbol);
    for (size_t i = 0; i < all.len; i++) {
        variable *v = &all.items[i];
        if (lk->prune && v->kept && v->sym->in_local_list) /* nvlink crashes */
            cbi_fatal(
                lk->ctx, "culled-local-constant",
                &(cbi_place){.file = cbi_obj_file(lk, v->sym->def_obj), .symbol = v->sym->name->s},
                "the inputs have more than 64 KiB of __constant__ memory together",
                "'%s' is static or weak and cannot stay while constants are dropped",
                v->sym->name->s);
        if (lk->opt->preserve_relocs && !v->kept)
            cbi_layout_place(lk, v->sym)->hidden = true;
        else if (!v->kept)
            cbi_layout_place(lk, v->sym)->removed = true;
    }
    place(lk, sec, &by_symbol);
    lk->placing->culled = true;
    move_relocs(lk, sec, &all);
    if (sec->size > 0 || has_relocs(lk, sec))
        return;
    cbi_layout_remove(lk, sec);
    for (size_t i = 0; i < all.len; i++)
        cbi_layout_place(lk, all.items[i].sym)->removed = true;
}

void cbi_cull_constants(const cbi_linker *lk)
{
    if (!lk->exec || !lk->quirks.constants_culled)
        return;
    for (size_t i = 0; i < lk->records->few_secs.len; i++) {
        cbi_osec *sec = lk->records->few_secs.items[i];
        uint64_t size = lk->merge_constants ? cbi_constants_of(sec)->unshared_size : sec->size;
        if (!cbi_is_dead(lk, sec) && cbi_is_user_constants(sec) && size > CUDA_CONSTANT_BANK_SIZE)
            cull(lk, sec);
    }
}
