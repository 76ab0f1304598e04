/* Attributes that entries take over from what they reach.  Rules: docs/link-semantics.md,
 * "propagation". */
#include "link/graph.h"
#include "link/propagate_work.h"

static bool externs_has(const cbi_rec *rec, const cbi_lsym *sym)
{
    for (uint32_t i = 0; i < rec->symbol_count; i++)
        if (rec->symbols[i] == sym)
            return true;
    return false;
}

static void externs_add(const cbi_linker *lk, cbi_rec *rec, const cbi_lsym *const *symbols,
                        uint32_t count)
{
    const cbi_lsym **grown = CBI_NEW_ARRAY(lk->ctx, rec->symbol_count + count, const cbi_lsym *);
    if (rec->symbol_count)
        memcpy(grown, rec->symbols, rec->symbol_count * sizeof *grown);
    rec->symbols = grown;
    for (uint32_t i = 0; i < count; i++)
        if (!externs_has(rec, symbols[i]))
            rec->symbols[rec->symbol_count++] = symbols[i];
}

/* Keep only what is still undefined, and entries: only their descriptors are known to code. */
void cbi_reduce_externs(const cbi_linker *lk, cbi_rec *rec)
{
    uint32_t kept = 0;
    for (uint32_t j = 0; j < rec->symbol_count; j++)
        if (!cbi_is_removed(lk, rec->symbols[j]) &&
            (rec->symbols[j]->state == CBI_SYM_UNDEF ||
             (rec->symbols[j]->func && (rec->symbols[j]->other & STO_CUDA_ENTRY))))
            rec->symbols[kept++] = rec->symbols[j];
    rec->symbol_count = kept;
}

void cbi_drop_empty_externs(const cbi_linker *lk)
{
    const cbi_rec_list *externs = &lk->propagating->externs;
    for (size_t i = 0; i < externs->len; i++)
        externs->items[i]->dead |= externs->items[i]->symbol_count == 0;
}

/* Word arrays without duplicates, first seen first. */
static void fragments_add(const cbi_linker *lk, cbi_rec *rec, const uint8_t *words, uint32_t size)
{
    cbi_buf all = {0};
    cbi_buf_append(lk->ctx, &all, cbi_payload_of(rec), rec->size);
    for (uint32_t i = 0; i + 4 <= size; i += 4) {
        bool seen = false;
        for (size_t j = 0; j + 4 <= all.len; j += 4)
            seen |= cbi_ld32(all.items + j) == cbi_ld32(words + i);
        if (!seen)
            cbi_buf_append(lk->ctx, &all, words + i, 4);
    }
    cbi_set_payload(rec, all.items, (uint32_t)all.len);
}

static uint16_t saturating_sum(uint16_t a, uint16_t b)
{
    if (a == 0xffff || b == 0xffff)
        return 0xffff;
    return (uint16_t)(a + b);
}

static uint8_t other_granularity(uint8_t code)
{
    return code == EIATTR_TCGEN05_1CTA_USED ? EIATTR_TCGEN05_2CTA_USED : EIATTR_TCGEN05_1CTA_USED;
}

static void refuse_granularity(const cbi_linker *lk, const cbi_func *k)
{
    cbi_error(lk->ctx, "tcgen05-granularity", &(cbi_place){.symbol = k->sym->name->s}, NULL,
              "Function '%s' uses single CTA(.cta_group::1) and CTA pair "
              "granularity(.cta_group::2) and that is not allowed.",
              k->sym->name->s);
}

void cbi_replace_byte(cbi_rec *rec, uint16_t byte)
{
    rec->value = (uint16_t)((rec->value & 0xff00) | (byte & 0xff));
}

void cbi_propagate_record(const cbi_linker *lk, const cbi_func *k, const cbi_rec *from)
{
    cbi_rec *own = cbi_find_record(lk, k, from->code);
    switch (cbi_eiattr_link(from->code)) {
    case CBI_LINK_FLAG:
        if (!own)
            cbi_add_record(lk, k, CBI_ATTR_NONE, from->code, 0);
        break;
    case CBI_LINK_GRANULARITY:
        if (!own) {
            if (cbi_find_record(lk, k, other_granularity(from->code)))
                refuse_granularity(lk, k);
            cbi_add_record(lk, k, CBI_ATTR_NONE, from->code, 0);
        }
        break;
    case CBI_LINK_MAX:
        if (!own)
            cbi_add_record(lk, k, CBI_ATTR_BYTE, from->code, from->value & 0xff);
        else
            cbi_replace_byte(own, (uint16_t)cbi_larger(from->value & 0xff, own->value & 0xff));
        break;
    case CBI_LINK_SUM:
        if (!own)
            cbi_add_record(lk, k, CBI_ATTR_HALF, from->code, from->value);
        else
            own->value = saturating_sum(own->value, from->value);
        break;
    case CBI_LINK_LAST_VALUE:
        if (!own)
            cbi_add_record(lk, k, CBI_ATTR_NONE, from->code, from->value & 0xff);
        else if (from->value & 0xff)
            cbi_replace_byte(own, from->value);
        break;
    case CBI_LINK_EXTERNS:
        if (!own)
            own = cbi_add_payload(lk, k, EIATTR_EXTERNS);
        externs_add(lk, own, from->symbols, from->symbol_count);
        break;
    case CBI_LINK_MOVE:
        if (!own)
            own = cbi_add_payload(lk, k, EIATTR_AT_ENTRY_FRAGEMENTS);
        fragments_add(lk, own, cbi_payload_of(from), from->size);
        break;
    default:
        break;
    }
}

/* Several entries: every record of a reached function, in input order. */
static void propagate_many(const cbi_linker *lk)
{
    /* Messages about what is added follow the order of all records. */
    if (!lk->opt->disable_smem_reservation && cbi_fold_attributes(lk))
        return;
    const cbi_rec_list *handed_on = &lk->propagating->handed_on;
    for (size_t i = 0; i < handed_on->len; i++) {
        const cbi_rec *rec = handed_on->items[i];
        if (!rec->func || rec->dead)
            continue;
        const cbi_func *f = cbi_rec_func(lk, rec);
        const cbi_func_list *reaching = cbi_entries_reaching(lk, f);
        for (size_t j = reaching->len; j-- > 0;)
            if (reaching->items[j] != f)
                cbi_propagate_record(lk, reaching->items[j], rec);
    }
}

/* One entry: values are collected over all live functions, reachable or not, and missing records
 * are added in this order. */
static const uint8_t single_order[] = {
    EIATTR_CTAIDZ_USED,        EIATTR_RESERVED_SMEM_USED, EIATTR_VRC_CTA_INIT_COUNT,
    EIATTR_TCGEN05_1CTA_USED,  EIATTR_TCGEN05_2CTA_USED,  EIATTR_NUM_BARRIERS,
    EIATTR_REG_RECONFIG,       EIATTR_NUM_MBARRIERS,      EIATTR_EXTERNS,
    EIATTR_AT_ENTRY_FRAGEMENTS};

static void single_externs(const cbi_linker *lk, const cbi_func *k)
{
    cbi_rec all = {.code = EIATTR_EXTERNS};
    for (size_t i = 0; i < lk->attributes->recs.len; i++) {
        const cbi_rec *rec = &lk->attributes->recs.items[i];
        if (rec->func && rec->code == EIATTR_EXTERNS && !rec->dead)
            externs_add(lk, &all, rec->symbols, rec->symbol_count);
    }
    cbi_rec *own = cbi_find_record(lk, k, EIATTR_EXTERNS);
    if (own) {
        bool complete = true;
        for (uint32_t i = 0; i < all.symbol_count; i++)
            complete &= externs_has(own, all.symbols[i]);
        if (complete)
            return;
        own->dead = true;
    }
    if (!all.symbol_count)
        return;
    own = cbi_add_payload(lk, k, EIATTR_EXTERNS);
    own->symbols = CBI_NEW_ARRAY(lk->ctx, all.symbol_count, const cbi_lsym *);
    for (uint32_t i = 0; i < all.symbol_count; i++)
        own->symbols[i] = all.symbols[all.symbol_count - 1 - i];
    own->symbol_count = all.symbol_count;
}

/* Does the kernel itself have the other granularity?  What it calls may be mixed here. */
static bool mixes(const cbi_linker *lk, const cbi_func *k, uint8_t code)
{
    if (cbi_eiattr_link(code) != CBI_LINK_GRANULARITY)
        return false;
    const cbi_rec *other = cbi_find_record(lk, k, other_granularity(code));
    return other && other->obj;
}

/* A record of the kernel that lacks something makes room for one with everything at the end. */
static void single_fragments(const cbi_linker *lk, const cbi_func *k)
{
    cbi_rec all = {.code = EIATTR_AT_ENTRY_FRAGEMENTS};
    for (size_t i = 0; i < lk->attributes->recs.len; i++) {
        const cbi_rec *rec = &lk->attributes->recs.items[i];
        if (rec->func && rec->code == EIATTR_AT_ENTRY_FRAGEMENTS && !rec->dead)
            fragments_add(lk, &all, cbi_payload_of(rec), rec->size);
    }
    cbi_rec *own = cbi_find_record(lk, k, EIATTR_AT_ENTRY_FRAGEMENTS);
    if (own && own->size >= all.size)
        return;
    if (own)
        own->dead = true;
    if (!all.size)
        return;
    own = cbi_add_payload(lk, k, EIATTR_AT_ENTRY_FRAGEMENTS);
    cbi_set_payload(own, cbi_payload_of(&all), all.size);
}

static void single_attribute(const cbi_linker *lk, const cbi_func *k, uint8_t code)
{
    if (code == EIATTR_EXTERNS) {
        single_externs(lk, k);
        return;
    }
    if (code == EIATTR_AT_ENTRY_FRAGEMENTS) {
        single_fragments(lk, k);
        return;
    }
    cbi_rec *own = cbi_find_record(lk, k, code);
    for (size_t i = 0; i < lk->attributes->recs.len; i++) {
        const cbi_rec *rec = &lk->attributes->recs.items[i];
        if (!rec->func || cbi_rec_func(lk, rec) == k || rec->code != code || rec->dead)
            continue;
        switch (code) {
        case EIATTR_VRC_CTA_INIT_COUNT:
            if (!own) /* a count of its own stays */
                cbi_propagate_record(lk, k, rec);
            break;
        case EIATTR_NUM_BARRIERS:
        case EIATTR_NUM_MBARRIERS:
            if (rec->value) /* what there is none of needs no record */
                cbi_propagate_record(lk, k, rec);
            break;
        default:
            if (own)
                break;
            if (mixes(lk, k, code))
                refuse_granularity(lk, k);
            own = cbi_add_record(lk, k, CBI_ATTR_NONE, code, 0);
            break;
        }
    }
}

static void add_mask(const cbi_linker *lk, const cbi_func *k, uint16_t mask)
{
    cbi_rec *own = cbi_find_record(lk, k, EIATTR_SPARSE_MMA_MASK);
    if (!own)
        return;
    own->value |= mask;
    cbi_properties_in(lk, k)->mask |= mask;
}

/* Functions without a record say that they know nothing. */
static void complete_masks(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_fate *fate = &lk->graph->fates[i];
        if (!fate->live || !fate->defined || (!fate->alias && lk->attributes->properties[i].masked))
            continue;
        const cbi_func *f = lk->symbols->funcs.items[i];
        const cbi_func *holder = f->alias_of ? f->alias_of : f;
        if (!holder->info || cbi_is_inner(lk, f))
            continue;
        cbi_add_record(lk, holder, CBI_ATTR_HALF, EIATTR_SPARSE_MMA_MASK, 0x8000);
    }
}

static void spread_masks(const cbi_linker *lk, bool complete)
{
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const uint16_t mask = lk->graph->fates[i].live ? lk->attributes->properties[i].mask : 0;
        if (!mask)
            continue;
        if (lk->graph->only_entry) {
            if (!complete)
                add_mask(lk, lk->graph->only_entry, mask);
            continue;
        }
        const cbi_func *f = lk->symbols->funcs.items[i];
        const cbi_func_list *reaching = cbi_entries_reaching(lk, f);
        for (size_t j = 0; j < reaching->len; j++)
            if (reaching->items[j] != f && cbi_is_wanted_entry(lk, reaching->items[j]))
                add_mask(lk, reaching->items[j], mask);
    }
}

/* EIATTR_SPARSE_MMA_MASK: a record anywhere makes every function say what it knows.  A single entry
 * takes it from all that are live, reached or not, but only if some function, live or not, has
 * none. */
void cbi_sparse_masks(const cbi_linker *lk)
{
    bool any = false, complete = true;
    if (!lk->propagating->met[EIATTR_SPARSE_MMA_MASK])
        return;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_properties *own = &lk->attributes->properties[i];
        if (own->inner)
            continue;
        bool has = lk->graph->fates[i].live && own->obj && own->masked;
        any |= has;
        complete &= has;
    }
    if (!any)
        return;
    if (!complete)
        complete_masks(lk);
    spread_masks(lk, complete);
}

static void refuse_reserved(const cbi_linker *lk, const cbi_rec *rec)
{
    const cbi_func *f = cbi_rec_func(lk, rec);
    if (rec->code != EIATTR_RESERVED_SMEM_USED || !f ||
        (rec->obj && f->obj && cbi_obj_id(f->obj) != rec->obj))
        return;
    /* nvlink reports functions that it removed as well, and has forgotten their names. */
    bool removed = !cbi_fate_of(lk, f)->live;
    if (removed && !lk->quirks.removed_reported)
        return;
    cbi_error(lk->ctx, "reserved-shared-disabled",
              &(cbi_place){.file = cbi_obj_file(lk, rec->obj), .symbol = f->sym->name->s},
              "it needs the area that --disable-smem-reservation takes away",
              "Function '%s' uses reserved shared memory when not allowed.",
              removed ? "(null)" : f->sym->name->s);
}

/* Newest additions first, then the inputs' in order. */
void cbi_check_reserved(const cbi_linker *lk)
{
    if (!lk->opt->disable_smem_reservation)
        return;
    for (size_t i = lk->attributes->added.len; i-- > 0;)
        refuse_reserved(lk, lk->attributes->added.items[i]);
    for (size_t i = 0; i < lk->attributes->recs.len; i++)
        refuse_reserved(lk, &lk->attributes->recs.items[i]);
}

/* What runs at the entry: functions that handed theirs on lose them. */
static void drop_fragments(const cbi_linker *lk)
{
    bool any = lk->propagating->met[EIATTR_AT_ENTRY_FRAGEMENTS];
    for (size_t i = 0; i < lk->attributes->recs.len && any; i++) {
        cbi_rec *rec = &lk->attributes->recs.items[i];
        if (rec->code == EIATTR_AT_ENTRY_FRAGEMENTS && rec->func &&
            !cbi_is_wanted_entry(lk, cbi_rec_func(lk, rec)))
            rec->dead = true;
    }
}

void cbi_propagate_attributes(const cbi_linker *lk)
{
    if (lk->graph->only_entry) {
        for (size_t i = 0; i < CBI_COUNT(single_order); i++)
            if (lk->propagating->met[single_order[i]])
                single_attribute(lk, lk->graph->only_entry, single_order[i]);
    } else if (lk->graph->entries.len) {
        propagate_many(lk);
    }
    drop_fragments(lk);
}
