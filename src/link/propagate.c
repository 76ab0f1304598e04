/* Properties of functions: what their records say, registers, stacks.  Rules:
 * docs/link-semantics.md, "propagation". */
#include "base/fetch.h"
#include "link/graph.h"
#include "link/loops.h"
#include "link/propagate_work.h"
#include "link/report.h"
#include "link/symbols.h"

#define UNKNOWN_STACK 0xffffffffu

/* Whose copy of the function is linked; 0: there is none. */
static uint32_t object_of(const cbi_linker *lk, uint32_t number)
{
    return lk->propagating->attributes.properties[number].obj;
}

/* Lives what the record names, of the object that is linked? */
static bool names_living(const cbi_linker *lk, const cbi_rec *rec, cbi_attr_link link)
{
    if (!rec->symbol)
        return link == CBI_LINK_REMAP_OR_ZERO;
    const cbi_func *named = rec->symbol->func;
    if (!named)
        return !cbi_is_removed(lk, rec->symbol);
    const cbi_fate *fate = cbi_fate_of(lk, named);
    if (!fate->live)
        return false;
    const uint32_t linked = object_of(lk, named->number);
    return !rec->obj || !linked || linked == rec->obj ||
           !(rec->code == EIATTR_FRAME_SIZE || rec->code == EIATTR_MAX_STACK_SIZE ||
             rec->code == EIATTR_REGCOUNT);
}

/* A record counts when the copy of the function that it describes is the one that is linked. */
static bool is_alive(const cbi_linker *lk, const cbi_rec *rec, cbi_attr_link link)
{
    if (rec->func) {
        const uint32_t number = rec->func - 1;
        if (!lk->graph->fates[number].live || (rec->obj && object_of(lk, number) != rec->obj))
            return false;
    }
    return !rec->has_symbol || names_living(lk, rec, link);
}

cbi_properties *cbi_properties_in(const cbi_linker *lk, const cbi_func *f)
{
    return &lk->propagating->attributes.properties[f->number];
}

cbi_rec *cbi_find_record(const cbi_linker *lk, const cbi_func *f, uint8_t code)
{
    const cbi_properties *own = cbi_properties_of(lk, f);
    for (size_t i = 0; i < own->records.len; i++)
        if (own->records.items[i]->code == code && !own->records.items[i]->dead)
            return own->records.items[i];
    return NULL;
}

cbi_rec *cbi_add_record(const cbi_linker *lk, const cbi_func *f, uint8_t format, uint8_t code,
                        uint16_t value)
{
    cbi_rec *rec =
        cbi_rec_append(lk->ctx, &lk->propagating->attributes.added, f, format, code, value);
    rec->dead = !f->info; /* only damaged objects have functions without attributes */
    cbi_vec_push(lk->ctx, &cbi_properties_in(lk, f)->records, rec);
    if (code == EIATTR_SPARSE_MMA_MASK)
        cbi_properties_in(lk, f)->mask |= value;
    return rec;
}

cbi_rec *cbi_add_payload(const cbi_linker *lk, const cbi_func *f, uint8_t code)
{
    return cbi_add_record(lk, f, CBI_ATTR_SIZED, code, 0);
}

/* ---- what the records say ---- */

/* A word of a record's payload; 0 where it has none. */
static uint32_t word_of(const cbi_rec *rec, uint32_t at)
{
    if (rec->format != (CBI_ATTR_SIZED & 7) || !cbi_fits(at, 4, rec->size))
        return 0;
    return cbi_ld32(cbi_payload_of(rec) + at);
}

/* The same for changing, where it has one. */
static void set_word(const cbi_linker *lk, cbi_rec *rec, uint32_t at, uint32_t value)
{
    if (!cbi_fits(at, 4, rec->size))
        return;
    if (rec->here) {
        cbi_st32(rec->bytes + at, value);
        return;
    }
    uint8_t *copy = cbi_memdup(lk->ctx, rec->payload, rec->size); /* of an input's */
    cbi_st32(copy + at, value);
    rec->payload = copy;
}

/* Of the function that the record names. */
static void collect_named(const cbi_linker *lk, cbi_rec *rec, cbi_attr_link link,
                          const cbi_func *named)
{
    uint32_t value = word_of(rec, 4);
    cbi_properties *of = cbi_properties_in(lk, named);
    switch (link) {
    case CBI_LINK_FRAME:
        of->frame_size = value;
        break;
    case CBI_LINK_REGISTERS:
        of->regcount = rec;
        of->regs = value;
        break;
    case CBI_LINK_REGION_MAX:
        if (!cbi_fate_of(lk, named)->entry)
            of->sam = value;
        break;
    case CBI_LINK_MIN_STACK: /* of one function; callers do not count it as theirs */
        of->stack_unknown |= lk->exec && value == UNKNOWN_STACK;
        break;
    case CBI_LINK_STACK_LIMIT:
        of->stack_limit = value;
        break;
    default:
        break;
    }
}

static void list_record(const cbi_linker *lk, cbi_properties *of, cbi_rec *rec)
{
    cbi_list_first(lk->ctx, lk->lists, &of->records, 2);
    cbi_vec_push(lk->ctx, &of->records, rec);
    if (rec->code == EIATTR_SPARSE_MMA_MASK) {
        of->masked = true;
        of->mask |= rec->value;
    }
}

/* In a final link a function says once how much CRS stack it needs, by one record or the other. */
static void tell_crs(const cbi_linker *lk, const cbi_rec *rec, cbi_properties *of, uint32_t value)
{
    if (of->crs_told && lk->exec)
        cbi_fatal(lk->ctx, "crs-stack-conflict",
                  &(cbi_place){.symbol = cbi_rec_func(lk, rec)->sym->name->s}, NULL,
                  "Internal error: conflicting crs_stack attribute");
    of->crs_told = true;
    of->crs = value;
}

/* Of the function in whose section the record stands. */
static void collect_own(const cbi_linker *lk, cbi_rec *rec, cbi_attr_link link)
{
    cbi_properties *of = &lk->propagating->attributes.properties[rec->func - 1];
    uint32_t sync;
    switch (link) {
    case CBI_LINK_CRS_STACK:
        tell_crs(lk, rec, of, word_of(rec, 0));
        list_record(lk, of, rec);
        break;
    case CBI_LINK_SYNC_STACK:
        sync = rec->format == CBI_ATTR_SIZED && rec->size >= 2 ? cbi_ld16(cbi_payload_of(rec))
                                                               : rec->value;
        tell_crs(lk, rec, of, lk->graph->fates[rec->func - 1].entry ? 0 : sync);
        break;
    case CBI_LINK_MAX_REGISTERS:
        of->max_regs = rec->value;
        break;
    default:
        if (cbi_is_handed_on(link) || link == CBI_LINK_MASK)
            list_record(lk, of, rec);
        break;
    }
}

/* Final links say anew how deep stacks are, and drop the limits. */
static bool is_dropped(const cbi_linker *lk, const cbi_rec *rec, cbi_attr_link link)
{
    if (!lk->exec)
        return false;
    if (link == CBI_LINK_MIN_STACK)
        return rec->format == CBI_ATTR_SIZED && rec->size >= 8 &&
               cbi_ld32(cbi_payload_of(rec) + 4) == UNKNOWN_STACK;
    return link == CBI_LINK_STACK_LIMIT;
}

/* Of later records. */
static void fetch_named(const cbi_rec_table *recs, size_t i)
{
    const cbi_rec *later = &CBI_LATER(recs->items, i, recs->len);
    if (later->has_symbol)
        cbi_fetch(later->symbol);
    const cbi_rec *soon = &CBI_SOON(recs->items, i, recs->len);
    if (soon->has_symbol && soon->symbol)
        cbi_fetch(soon->symbol->func);
}

/* May records of other objects say the same of the function?  The last one counts, so they are told
 * one after the other. */
static bool is_said_by_others(const cbi_linker *lk, const cbi_rec *rec, cbi_attr_link link,
                              const cbi_func *named)
{
    return link == CBI_LINK_REGION_MAX || object_of(lk, named->number) != rec->obj;
}

/* What a share of the records gives. */
typedef struct collected {
    bool met[CBI_COUNT(((cbi_propagate_work *)NULL)->met)];
    cbi_rec_list handed_on, externs;
    cbi_rec_list shared; /* records of functions that others may describe, too */
} collected;

/* arg: what each share gives.  A share has all records of its objects; what stands in the section
 * of a function and is not dead is of the function's own object. */
static void collect_share(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    cbi_rec_table *recs = &lk->propagating->attributes.recs;
    collected all = {0};
    for (size_t i = share->first; i < share->end; i++) {
        fetch_named(recs, i);
        cbi_rec *rec = &recs->items[i];
        const cbi_attr_link link = cbi_eiattr_link(rec->code);
        if (cbi_is_externs(rec)) {
            cbi_reduce_externs(lk, rec);
            cbi_vec_push(lk->ctx, &all.externs, rec);
        }
        rec->dead = !is_alive(lk, rec, link);
        if (rec->dead)
            continue;
        all.met[rec->code] = true;
        if (cbi_is_handed_on(link))
            cbi_vec_push(lk->ctx, &all.handed_on, rec);
        const cbi_func *named = rec->has_symbol && rec->symbol ? rec->symbol->func : NULL;
        if (named && is_said_by_others(lk, rec, link, named))
            cbi_vec_push(lk->ctx, &all.shared, rec);
        else if (named)
            collect_named(lk, rec, link, named);
        rec->dead = is_dropped(lk, rec, link);
        if (rec->func)
            collect_own(lk, rec, link);
    }
    ((collected *)arg)[share->number] = all;
}

static void append(const cbi_linker *lk, cbi_rec_list *to, cbi_rec_list *from)
{
    if (!to->len) {
        *to = *from;
        return;
    }
    cbi_vec_reserve(lk->ctx, to, from->len);
    if (from->len)
        memcpy(to->items + to->len, from->items, from->len * sizeof *from->items);
    to->len += from->len;
    cbi_vec_free(lk->ctx, from);
}

static void collect(const cbi_linker *lk)
{
    cbi_propagate_work *work = lk->propagating;
    const cbi_shares shares = cbi_link_cut(lk, lk->attributes->recs.len, cbi_link_joins_records);
    collected *all = CBI_NEW_ARRAY(lk->ctx, shares.count, collected);
    cbi_link_each_share(lk, &shares, collect_share, all);
    for (size_t i = 0; i < shares.count; i++) {
        for (size_t code = 0; code < CBI_COUNT(work->met); code++)
            work->met[code] |= all[i].met[code];
        append(lk, &work->handed_on, &all[i].handed_on);
        append(lk, &work->externs, &all[i].externs);
        for (size_t j = 0; j < all[i].shared.len; j++) {
            cbi_rec *rec = all[i].shared.items[j];
            collect_named(lk, rec, cbi_eiattr_link(rec->code), rec->symbol->func);
        }
        cbi_vec_free(lk->ctx, &all[i].shared);
    }
}

/* What a node gets from its callees; within a component some are not final yet. */
static void gather(const cbi_linker *lk, cbi_usage *usage, cbi_graph_node node)
{
    const cbi_properties *own =
        node < lk->graph->calls.func_count ? &lk->attributes->properties[node] : NULL;
    cbi_usage all = {0};
    for (uint32_t j = 0; j < cbi_degree(&lk->graph->calls, node); j++) {
        const cbi_usage *next = &usage[cbi_successor(&lk->graph->calls, node, j)];
        all.regs = next->regs > all.regs ? next->regs : all.regs;
        all.sam = next->sam > all.sam ? next->sam : all.sam;
        all.stack = next->stack > all.stack ? next->stack : all.stack;
        all.crs = next->crs > all.crs ? next->crs : all.crs;
    }
    if (own) {
        all.stack += own->frame_size;
        all.crs += own->crs;
        all.regs = own->regs > all.regs ? own->regs : all.regs;
        all.sam = own->sam > all.sam ? own->sam : all.sam;
    }
    usage[node] = all;
}

/* One sweep from callees to callers: registers are the maximum of all that a function reaches,
 * stack is its frame and the largest sum of a path below.  Members of a component share their
 * maxima, as each of them reaches all others.  How stack size goes through recursion: not at
 * all, an entry that reaches a circle has the size "unknown" (is_unbounded()), with a warning. */
static const cbi_usage *sweep(const cbi_linker *lk)
{
    const cbi_components *live = &lk->graph->components;
    cbi_usage *usage = CBI_NEW_ARRAY(lk->ctx, lk->graph->calls.count, cbi_usage);
    for (uint32_t i = 0; i < live->live_count; i++) {
        cbi_graph_node node = live->bottom_up[i];
        if (node < lk->graph->calls.func_count)
            usage[node].regs = lk->attributes->properties[node].regs;
    }
    for (uint32_t i = 0; i < live->live_count;) {
        uint32_t component = live->of[live->bottom_up[i]], end = i;
        cbi_usage most = {0};
        for (; end < live->live_count && live->of[live->bottom_up[end]] == component; end++) {
            cbi_graph_node node = live->bottom_up[end];
            gather(lk, usage, node);
            most.regs = usage[node].regs > most.regs ? usage[node].regs : most.regs;
            most.sam = usage[node].sam > most.sam ? usage[node].sam : most.sam;
        }
        for (; i < end; i++) {
            usage[live->bottom_up[i]].regs = most.regs;
            usage[live->bottom_up[i]].sam = most.sam;
        }
    }
    return usage;
}

/* ---- stack ---- */

static void warn_stack(const cbi_linker *lk, const cbi_func *k)
{
    if (lk->opt->suppress_stack_warnings)
        return;
    const char *recursion = lk->terse ? NULL : cbi_recursion_text(lk, k->number);
    const char *help = "set the stack with cudaDeviceSetLimit, or silence this with "
                       "--suppress-stack-size-warning";
    if (recursion)
        help = cbi_printf(lk->ctx, "recursion: %s\n%s", recursion, help);
    cbi_warning(lk->ctx, "stack-size-unknown",
                &(cbi_place){.file = k->obj ? k->obj->file : NULL, .symbol = k->sym->name->s}, help,
                "Stack size for entry function '%s' cannot be statically determined",
                k->sym->name->s);
}

void cbi_link_warn_graph(const cbi_linker *lk)
{
    if (!lk->exec)
        return;
    const bool *cycle_below = lk->graph->components.cycle_below;
    /* Once for every edge of the entry below which there is a cycle. */
    for (size_t i = 0; i < lk->graph->entries.len; i++) {
        const cbi_func *k = lk->graph->entries.items[i];
        for (uint32_t j = 0;
             cbi_is_wanted_entry(lk, k) && j < cbi_degree(&lk->graph->calls, k->number); j++) {
            cbi_graph_node next = cbi_successor(&lk->graph->calls, k->number, j);
            if (cbi_node_func(&lk->graph->calls, next)) {
                if (cycle_below[next])
                    warn_stack(lk, k);
                continue;
            }
            for (uint32_t c = 0; c < cbi_degree(&lk->graph->calls, next); c++)
                if (cycle_below[cbi_successor(&lk->graph->calls, next, c)])
                    warn_stack(lk, k);
        }
    }
    if (!lk->opt->extra_warnings || !lk->eliminate)
        return;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (cbi_fate_of(lk, f)->address_taken && !cbi_fate_of(lk, f)->reached)
            cbi_warning(
                lk->ctx, "address-taken-uncalled",
                &(cbi_place){.file = f->obj ? f->obj->file : NULL, .symbol = f->sym->name->s},
                "no entry reaches it; what it calls itself may have been removed",
                "Function '%s' has address taken but no calls to it found", f->sym->name->s);
    }
}

/* Is no bound known of the stack that the entry needs? */
static bool is_unbounded(const cbi_linker *lk, const cbi_func *k)
{
    return cbi_properties_of(lk, k)->stack_unknown || lk->graph->components.cycle_below[k->number];
}

static void stack_sizes(const cbi_linker *lk)
{
    static const uint8_t zeros[4];
    for (size_t i = 0; i < lk->graph->entries.len; i++) {
        const cbi_func *k = lk->graph->entries.items[i];
        uint32_t crs = is_unbounded(lk, k) ? UNKNOWN_STACK : lk->attributes->usage[k->number].crs;
        if (!crs || !cbi_is_wanted_entry(lk, k))
            continue;
        cbi_rec *own = cbi_find_record(lk, k, EIATTR_CRS_STACK_SIZE);
        if (!own) {
            own = cbi_add_payload(lk, k, EIATTR_CRS_STACK_SIZE);
            cbi_set_payload(own, zeros, sizeof zeros);
        }
        set_word(lk, own, 0, crs);
    }
}

/* A record of .nv.info about one function. */
static void add_number(const cbi_linker *lk, cbi_rec_list *ret_recs, uint8_t code,
                       const cbi_func *k, uint32_t number)
{
    enum { SIZE = 8, NUMBER_AT = 4 };
    uint8_t payload[SIZE] = {0};
    cbi_st32(payload + NUMBER_AT, number);
    cbi_rec *rec = cbi_rec_append(lk->ctx, ret_recs, NULL, CBI_ATTR_SIZED & 7, code, 0);
    cbi_set_payload(rec, payload, SIZE);
    rec->symbol = k->sym;
    rec->has_symbol = true;
}

/* EIATTR_MIN_STACK_SIZE per entry; called when the output symbol order is known. */
void cbi_link_min_stack(const cbi_linker *lk, const cbi_func *k, cbi_rec_list *ret_recs)
{
    uint32_t limit = cbi_properties_of(lk, k)->stack_limit;
    uint32_t stack = is_unbounded(lk, k) ? UNKNOWN_STACK : lk->attributes->usage[k->number].stack;
    if (limit && stack > limit)
        cbi_error(lk->ctx, "stack-limit",
                  &(cbi_place){.file = k->obj->file, .symbol = k->sym->name->s},
                  "the limit is in the object's EIATTR_MAX_STACK_SIZE; recursion passes every one",
                  "Function '%s' uses %d bytes stack but limited to %u", k->sym->name->s,
                  (int)stack, limit);
    add_number(lk, ret_recs, EIATTR_MIN_STACK_SIZE, k, stack);
    uint32_t sam = lk->attributes->usage[k->number].sam;
    if (sam)
        add_number(lk, ret_recs, EIATTR_SAM_REGION_STACK_SIZE, k, sam);
}

/* ---- registers ---- */

/* Tell how the counts rise: every function, as their texts lie, against the entries that reach it,
 * newest first. */
static void explain_registers(const cbi_linker *lk)
{
    uint32_t *counts = CBI_NEW_ARRAY(lk->ctx, lk->symbols->funcs.len, uint32_t);
    for (size_t i = 0; i < lk->graph->entries.len; i++)
        counts[lk->graph->entries.items[i]->number] =
            cbi_properties_of(lk, lk->graph->entries.items[i])->regs;
    for (size_t i = 0; i < lk->records->secs.len; i++) {
        const cbi_osec *sec = lk->records->secs.items[i];
        const cbi_func *f = sec->func;
        if (!f || f->text != sec || cbi_is_dead(lk, sec) || cbi_is_kernel(f) ||
            !cbi_fate_of(lk, f)->live || cbi_fate_of(lk, f)->lost)
            continue;
        const cbi_func_list *reaching = cbi_entries_reaching(lk, f);
        uint32_t regs = cbi_properties_of(lk, f)->regs;
        for (size_t j = reaching->len; j-- > 0;) {
            const cbi_func *k = reaching->items[j];
            uint32_t max = cbi_properties_of(lk, k)->max_regs;
            if (!cbi_is_wanted_entry(lk, k) || regs <= counts[k->number])
                continue;
            counts[k->number] = regs;
            if (max && regs > max)
                cbi_error(lk->ctx, "max-registers",
                          &(cbi_place){.file = k->obj->file, .symbol = k->sym->name->s},
                          "compile the callee with a lower -maxrregcount, or the kernel with a "
                          "higher one",
                          "entry function '%s' with max regcount of %u calls function '%s' with "
                          "regcount of %u",
                          k->sym->name->s, max, f->sym->name->s, regs);
            cbi_dump_register_rise(lk, f, k);
        }
    }
}

static void registers(const cbi_linker *lk)
{
    bool explain = lk->opt->dump_callgraph;
    for (size_t i = 0; i < lk->graph->entries.len; i++) {
        const cbi_func *k = lk->graph->entries.items[i];
        uint32_t max = cbi_properties_of(lk, k)->max_regs;
        explain |= max && lk->attributes->usage[k->number].regs > max;
    }
    if (explain)
        explain_registers(lk);
    for (size_t i = 0; i < lk->graph->entries.len; i++) {
        const cbi_func *k = lk->graph->entries.items[i];
        const cbi_properties *own = cbi_properties_of(lk, k);
        uint32_t regs = lk->attributes->usage[k->number].regs;
        if (!cbi_is_wanted_entry(lk, k) || !own->regcount || regs == own->regs ||
            cbi_find_record(lk, k, EIATTR_REG_RECONFIG)) /* it asks for registers as it runs */
            continue;
        set_word(lk, own->regcount, 4, regs);
    }
}

const cbi_attributes *cbi_attributes_begin(const cbi_linker *lk, cbi_propagate_work **ret_work)
{
    cbi_propagate_work *work = *ret_work = CBI_NEW(lk->ctx, cbi_propagate_work);
    cbi_attributes *attributes = &work->attributes;
    attributes->recs = cbi_link_hand_over_records(lk);
    attributes->properties = CBI_NEW_ARRAY(lk->ctx, lk->symbols->funcs.len, cbi_properties);
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        attributes->properties[i].obj = lk->graph->numbers[i].obj;
        attributes->properties[i].inner =
            lk->graph->fates[i].alias && cbi_is_inner(lk, lk->symbols->funcs.items[i]);
    }
    return attributes;
}

void cbi_link_forget_records(const cbi_linker *lk)
{
    cbi_vec_free(lk->ctx, &lk->propagating->attributes.recs);
}

void cbi_link_propagate(const cbi_linker *lk)
{
    collect(lk);
    lk->propagating->attributes.usage = sweep(lk);
    if (lk->exec) {
        stack_sizes(lk);
        cbi_link_dump_callgraph(lk);
        cbi_sparse_masks(lk);
        cbi_propagate_attributes(lk);
    }
    cbi_apply_cache_preferences(lk);
    if (lk->exec) {
        cbi_migrate_barriers(lk);
        registers(lk);
    }
    cbi_check_reserved(lk);
    cbi_drop_empty_externs(lk);
}
