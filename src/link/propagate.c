/* Properties of functions: registers, stacks, and the attributes that entries take over from what
 * they reach.  Rules: docs/link-semantics.md, "propagation". */
#include "link/report.h"
#include "link/state.h"

enum {
    CTAIDZ_USED = 0x04,
    SYNC_STACK = 0x0d,
    EXTERNS = 0x0f,
    FRAME_SIZE = 0x11,
    MIN_STACK_SIZE = 0x12,
    MAXREG_COUNT = 0x1b,
    CRS_STACK_SIZE = 0x1e,
    LOAD_CACHE_REQUEST = 0x26,
    REGCOUNT = 0x2f,
    NUM_MBARRIERS = 0x38,
    SAM_REGION_STACK_SIZE = 0x3b,
    RESERVED_SMEM_USED = 0x41,
    VRC_CTA_INIT_COUNT = 0x4a,
    NUM_BARRIERS = 0x4c,
    AT_ENTRY_FRAGMENTS = 0x4f,
    SPARSE_MMA_MASK = 0x50,
    TCGEN05_1CTA = 0x51,
    TCGEN05_2CTA = 0x52,
    REG_RECONFIG = 0x54,
    UNKNOWN_STACK = 0xffffffffu,
};

static bool propagated(uint8_t code)
{
    switch (code) {
    case CTAIDZ_USED:
    case EXTERNS:
    case NUM_MBARRIERS:
    case RESERVED_SMEM_USED:
    case VRC_CTA_INIT_COUNT:
    case NUM_BARRIERS:
    case AT_ENTRY_FRAGMENTS:
    case TCGEN05_1CTA:
    case TCGEN05_2CTA:
    case REG_RECONFIG:
        return true;
    default:
        return false;
    }
}

/* A record counts when the copy of the function that it describes is the one that is linked. */
static bool is_alive(const cbi_rec *rec)
{
    if (rec->dead)
        return false;
    if (rec->func && (!rec->func->live || (rec->obj && rec->func->obj != rec->obj)))
        return false;
    if (rec->has_symbol) {
        if (!rec->symbol)
            return rec->code == 0x17 || rec->code == 0x45;
        if (rec->symbol->removed)
            return false;
        if (rec->obj && rec->symbol->func && rec->symbol->func->obj &&
            rec->symbol->func->obj != rec->obj &&
            (rec->code == FRAME_SIZE || rec->code == 0x23 || rec->code == REGCOUNT))
            return false;
    }
    return true;
}

static cbi_rec *find_record(const cbi_func *f, uint8_t code)
{
    for (size_t i = 0; i < f->records.len; i++)
        if (f->records.items[i]->code == code && !f->records.items[i]->dead)
            return f->records.items[i];
    return NULL;
}

static cbi_rec *add_record(cbi_linker *lk, cbi_func *f, uint8_t format, uint8_t code,
                           uint16_t value)
{
    cbi_rec *rec = cbi_rec_append(lk, f->info, f, format, code, value);
    rec->dead = !f->info; /* only damaged objects have functions without attributes */
    cbi_vec_push(lk->ctx, &f->records, rec);
    return rec;
}

/* ---- what the records say ---- */

static void collect(cbi_linker *lk)
{
    for (size_t i = 0; i < lk->recs.len; i++) {
        cbi_rec *rec = lk->recs.items[i];
        if (!is_alive(rec)) {
            rec->dead = true;
            continue;
        }
        cbi_func *named = rec->symbol ? rec->symbol->func : NULL;
        uint32_t word1 = rec->format == 4 && rec->size >= 8 ? cbi_ld32(rec->payload + 4) : 0;
        switch (rec->code) {
        case FRAME_SIZE:
            if (named)
                named->frame_size = word1;
            break;
        case REGCOUNT:
            if (named) {
                named->regcount = rec;
                named->node.regs = word1;
            }
            break;
        case SAM_REGION_STACK_SIZE:
            if (named)
                named->own_sam = word1;
            break;
        default:
            break;
        }
        cbi_func *f = rec->func;
        if (!f)
            continue;
        switch (rec->code) {
        case CRS_STACK_SIZE:
            f->own_crs = rec->format == 4 && rec->size >= 4 ? cbi_ld32(rec->payload) : 0;
            cbi_vec_push(lk->ctx, &f->records, rec);
            break;
        case SYNC_STACK:
            if (find_record(f, CRS_STACK_SIZE))
                cbi_fatal(lk->ctx, "crs-stack-conflict", &(cbi_place){.symbol = f->sym->name->s},
                          NULL, "conflicting crs_stack attribute");
            if (!f->entry)
                f->own_crs =
                    rec->format == 4 && rec->size >= 2 ? cbi_ld16(rec->payload) : rec->value;
            break;
        case MAXREG_COUNT:
            f->max_regs = rec->value;
            break;
        default:
            if (propagated(rec->code) || rec->code == SPARSE_MMA_MASK)
                cbi_vec_push(lk->ctx, &f->records, rec);
            break;
        }
    }
}

/* Older objects keep the barrier count in the text section's flags. */
static void migrate_barriers(cbi_linker *lk)
{
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        if (!f->live || !f->text || f->alias_of)
            continue;
        uint32_t count = SHF_CUDA_BARRIERS(f->text->flags);
        if (!count || SHF_CUDA_MERCURY & f->text->flags)
            continue;
        f->text->flags &= ~(uint64_t)(0x7f << 20);
        if (f->info && !find_record(f, NUM_BARRIERS))
            add_record(lk, f, 2, NUM_BARRIERS, (uint16_t)count);
    }
}

/* What a node gets from its callees; within a component some are not final yet. */
static void gather(cbi_linker *lk, cbi_node *node)
{
    uint32_t stack = 0, crs = 0;
    for (size_t j = 0; j < cbi_node_degree(node); j++) {
        const cbi_node *next = cbi_node_successor(lk, node, j);
        if (next->func && !next->func->live)
            continue;
        node->regs = next->regs > node->regs ? next->regs : node->regs;
        node->sam = next->sam > node->sam ? next->sam : node->sam;
        node->cycle_below |= next->cycle_below | next->cyclic;
        stack = next->stack > stack ? next->stack : stack;
        crs = next->crs > crs ? next->crs : crs;
    }
    node->cycle_below |= node->cyclic;
    node->stack = stack + (node->func ? node->func->frame_size : 0);
    node->crs = crs + (node->func ? node->func->own_crs : 0);
    if (node->func && node->func->own_sam > node->sam)
        node->sam = node->func->own_sam;
}

/* One sweep from callees to callers: maxima and largest path sums.  Members of a component share
 * their maxima, as each of them reaches all others. */
static void sweep(cbi_linker *lk)
{
    for (size_t i = 0; i < lk->bottom_up.len;) {
        uint32_t scc = lk->bottom_up.items[i]->scc, regs = 0, sam = 0;
        size_t end = i;
        for (; end < lk->bottom_up.len && lk->bottom_up.items[end]->scc == scc; end++) {
            cbi_node *node = lk->bottom_up.items[end];
            gather(lk, node);
            regs = node->regs > regs ? node->regs : regs;
            sam = node->sam > sam ? node->sam : sam;
        }
        for (; i < end; i++) {
            lk->bottom_up.items[i]->regs = regs;
            lk->bottom_up.items[i]->sam = sam;
        }
    }
}

/* ---- stack ---- */

static void warn_stack(cbi_linker *lk, const cbi_func *k)
{
    if (lk->opt->suppress_stack_warnings)
        return;
    const char *recursion = lk->opt->exact ? NULL : cbi_recursion_text(lk, &k->node);
    const char *help = "set the stack with cudaDeviceSetLimit, or silence this with "
                       "--suppress-stack-size-warning";
    if (recursion)
        help = cbi_printf(lk->ctx, "recursion: %s\n%s", recursion, help);
    cbi_warning(lk->ctx, "stack-size-unknown",
                &(cbi_place){.file = k->obj ? k->obj->file : NULL, .symbol = k->sym->name->s}, help,
                "Stack size for entry function '%s' cannot be statically determined",
                k->sym->name->s);
}

/* Which nodes are in a cycle or above one; needs no attributes. */
static void find_cycles(cbi_linker *lk)
{
    for (size_t i = 0; i < lk->bottom_up.len; i++) {
        cbi_node *node = lk->bottom_up.items[i];
        for (size_t j = 0; j < cbi_node_degree(node); j++) {
            const cbi_node *next = cbi_node_successor(lk, node, j);
            if (!next->func || next->func->live)
                node->cycle_below |= next->cycle_below | next->cyclic;
        }
        node->cycle_below |= node->cyclic;
    }
}

void cbi_link_warn_graph(cbi_linker *lk)
{
    if (!lk->exec)
        return;
    find_cycles(lk);
    /* Once for every edge of the entry below which there is a cycle. */
    for (size_t i = 0; i < lk->entries.len; i++) {
        const cbi_func *k = lk->entries.items[i];
        for (size_t j = 0; cbi_is_wanted_entry(lk, k) && j < cbi_node_degree(&k->node); j++) {
            const cbi_node *next = cbi_node_successor(lk, &k->node, j);
            if (next->func) {
                if (next->cycle_below)
                    warn_stack(lk, k);
                continue;
            }
            for (size_t c = 0; c < next->proto->funcs.len; c++)
                if (next->proto->funcs.items[c]->node.cycle_below)
                    warn_stack(lk, k);
        }
    }
    if (!lk->opt->extra_warnings || !lk->eliminate)
        return;
    for (size_t i = 0; i < lk->funcs.len; i++) {
        const cbi_func *f = lk->funcs.items[i];
        if (f->address_taken && !f->reached)
            cbi_warning(
                lk->ctx, "address-taken-uncalled",
                &(cbi_place){.file = f->obj ? f->obj->file : NULL, .symbol = f->sym->name->s},
                "no entry reaches it; what it calls itself may have been removed",
                "Function '%s' has address taken but no calls to it found", f->sym->name->s);
    }
}

static void stack_sizes(cbi_linker *lk)
{
    for (size_t i = 0; i < lk->entries.len; i++) {
        cbi_func *k = lk->entries.items[i];
        uint32_t crs = k->node.cycle_below ? UNKNOWN_STACK : k->node.crs;
        if (!crs || !cbi_is_wanted_entry(lk, k))
            continue;
        cbi_rec *own = find_record(k, CRS_STACK_SIZE);
        if (!own) {
            own = add_record(lk, k, 4, CRS_STACK_SIZE, 0);
            own->size = 4;
        }
        uint8_t *payload = cbi_alloc(lk->ctx, 4);
        cbi_st32(payload, crs);
        own->payload = payload;
    }
}

/* MIN_STACK_SIZE per entry; called when the output symbol order is known. */
void cbi_link_min_stack(cbi_linker *lk, cbi_func *k)
{
    uint8_t *payload = cbi_alloc(lk->ctx, 8);
    cbi_st32(payload + 4, k->node.cycle_below ? UNKNOWN_STACK : k->node.stack);
    cbi_rec *rec = cbi_rec_append(lk, lk->info, NULL, 4, MIN_STACK_SIZE, 0);
    rec->payload = payload;
    rec->size = 8;
    rec->symbol = k->sym;
    rec->has_symbol = true;
    if (k->node.sam) {
        payload = cbi_alloc(lk->ctx, 8);
        cbi_st32(payload + 4, k->node.sam);
        rec = cbi_rec_append(lk, lk->info, NULL, 4, SAM_REGION_STACK_SIZE, 0);
        rec->payload = payload;
        rec->size = 8;
        rec->symbol = k->sym;
        rec->has_symbol = true;
    }
}

/* ---- registers ---- */

/* Tell how the counts rise: every function, as their texts lie, against the entries that reach it,
 * newest first. */
static void explain_registers(cbi_linker *lk)
{
    uint32_t *counts = CBI_NEW_ARRAY(lk->ctx, lk->funcs.len, uint32_t);
    for (size_t i = 0; i < lk->entries.len; i++)
        counts[lk->entries.items[i]->number] = lk->entries.items[i]->own_regs;
    for (size_t i = 0; i < lk->secs.len; i++) {
        cbi_func *f = lk->secs.items[i]->func;
        if (!f || f->text != lk->secs.items[i] || f->entry || !f->live)
            continue;
        const cbi_func_list *reaching = cbi_entries_reaching(lk, f);
        for (size_t j = reaching->len; j-- > 0;) {
            const cbi_func *k = reaching->items[j];
            if (!cbi_is_wanted_entry(lk, k) || f->own_regs <= counts[k->number])
                continue;
            counts[k->number] = f->own_regs;
            if (k->max_regs && f->own_regs > k->max_regs)
                cbi_error(lk->ctx, "max-registers",
                          &(cbi_place){.file = k->obj->file, .symbol = k->sym->name->s},
                          "compile the callee with a lower -maxrregcount, or the kernel with a "
                          "higher one",
                          "entry function '%s' with max regcount of %u calls function '%s' with "
                          "regcount of %u",
                          k->sym->name->s, k->max_regs, f->sym->name->s, f->own_regs);
            cbi_dump_register_rise(lk, f, k);
        }
    }
}

static void registers(cbi_linker *lk)
{
    bool explain = lk->opt->dump_callgraph;
    for (size_t i = 0; i < lk->entries.len; i++) {
        const cbi_func *k = lk->entries.items[i];
        explain |= k->max_regs && k->node.regs > k->max_regs;
    }
    if (explain)
        explain_registers(lk);
    for (size_t i = 0; i < lk->entries.len; i++) {
        cbi_func *k = lk->entries.items[i];
        if (!cbi_is_wanted_entry(lk, k) || !k->regcount || k->node.regs == k->own_regs)
            continue;
        uint8_t *payload = cbi_memdup(lk->ctx, k->regcount->payload, k->regcount->size);
        cbi_st32(payload + 4, k->node.regs);
        k->regcount->payload = payload;
    }
}

/* ---- attributes ---- */

static bool externs_has(const cbi_rec *rec, const cbi_lsym *sym)
{
    for (uint32_t i = 0; i < rec->symbol_count; i++)
        if (rec->symbols[i] == sym)
            return true;
    return false;
}

static void externs_add(cbi_linker *lk, cbi_rec *rec, cbi_lsym *const *symbols, uint32_t count)
{
    cbi_lsym **grown = CBI_NEW_ARRAY(lk->ctx, rec->symbol_count + count, cbi_lsym *);
    if (rec->symbol_count)
        memcpy(grown, rec->symbols, rec->symbol_count * sizeof *grown);
    rec->symbols = grown;
    for (uint32_t i = 0; i < count; i++)
        if (!externs_has(rec, symbols[i]))
            rec->symbols[rec->symbol_count++] = symbols[i];
}

/* Keep only what is still undefined, and entries: only their descriptors are known to code. */
static void reduce_externs(cbi_linker *lk)
{
    for (size_t i = 0; i < lk->recs.len; i++) {
        cbi_rec *rec = lk->recs.items[i];
        if (rec->code != EXTERNS || rec->format != 4)
            continue;
        uint32_t kept = 0;
        for (uint32_t j = 0; j < rec->symbol_count; j++)
            if (!rec->symbols[j]->removed &&
                (rec->symbols[j]->state == CBI_SYM_UNDEF ||
                 (rec->symbols[j]->func && (rec->symbols[j]->other & STO_CUDA_ENTRY))))
                rec->symbols[kept++] = rec->symbols[j];
        rec->symbol_count = kept;
    }
}

/* Word arrays without duplicates, first seen first. */
static void fragments_add(cbi_linker *lk, cbi_rec *rec, const uint8_t *words, uint32_t size)
{
    cbi_buf all = {0};
    cbi_buf_append(lk->ctx, &all, rec->payload, rec->size);
    for (uint32_t i = 0; i + 4 <= size; i += 4) {
        bool seen = false;
        for (size_t j = 0; j + 4 <= all.len; j += 4)
            seen |= cbi_ld32(all.items + j) == cbi_ld32(words + i);
        if (!seen)
            cbi_buf_append(lk->ctx, &all, words + i, 4);
    }
    rec->payload = all.items;
    rec->size = (uint32_t)all.len;
}

static uint16_t saturating_sum(uint16_t a, uint16_t b)
{
    if (a == 0xffff || b == 0xffff)
        return 0xffff;
    return (uint16_t)(a + b);
}

/* Entry k reaches the function that `from` describes. */
static void propagate_one(cbi_linker *lk, cbi_func *k, const cbi_rec *from)
{
    cbi_rec *own = find_record(k, from->code);
    switch (from->code) {
    case CTAIDZ_USED:
    case RESERVED_SMEM_USED:
        if (!own)
            add_record(lk, k, 1, from->code, 0);
        break;
    case TCGEN05_1CTA:
    case TCGEN05_2CTA:
        if (find_record(k, from->code == TCGEN05_1CTA ? TCGEN05_2CTA : TCGEN05_1CTA))
            cbi_error(lk->ctx, "tcgen05-granularity", &(cbi_place){.symbol = k->sym->name->s}, NULL,
                      "Function '%s' uses single CTA(.cta_group::1) and CTA pair "
                      "granularity(.cta_group::2) and that is not allowed.",
                      k->sym->name->s);
        if (!own)
            add_record(lk, k, 1, from->code, 0);
        break;
    case VRC_CTA_INIT_COUNT:
    case NUM_BARRIERS:
        if (!own)
            add_record(lk, k, 2, from->code, from->value & 0xff);
        else if ((from->value & 0xff) > (own->value & 0xff))
            own->value = from->value & 0xff;
        break;
    case NUM_MBARRIERS:
        if (!own)
            add_record(lk, k, 3, from->code, from->value);
        else
            own->value = saturating_sum(own->value, from->value);
        break;
    case REG_RECONFIG:
        if (!own)
            add_record(lk, k, 1, from->code, from->value);
        else
            own->value = from->value;
        break;
    case EXTERNS:
        if (!own)
            own = add_record(lk, k, 4, EXTERNS, 0);
        externs_add(lk, own, from->symbols, from->symbol_count);
        break;
    case AT_ENTRY_FRAGMENTS:
        if (!own)
            own = add_record(lk, k, 4, AT_ENTRY_FRAGMENTS, 0);
        fragments_add(lk, own, from->payload, from->size);
        break;
    default:
        break;
    }
}

/* Several entries: every record of a reached function, in input order. */
static void propagate_many(cbi_linker *lk)
{
    for (size_t i = 0; i < lk->recs.len; i++) {
        const cbi_rec *rec = lk->recs.items[i];
        if (!rec->func || !propagated(rec->code) || rec->dead)
            continue;
        const cbi_func_list *reaching = cbi_entries_reaching(lk, rec->func);
        for (size_t j = 0; j < reaching->len; j++)
            if (reaching->items[j] != rec->func)
                propagate_one(lk, reaching->items[j], rec);
    }
}

/* One entry: values are collected over all live functions, reachable or not, and missing records
 * are added in this order. */
static const uint8_t single_order[] = {
    CTAIDZ_USED,  RESERVED_SMEM_USED, VRC_CTA_INIT_COUNT, TCGEN05_1CTA, TCGEN05_2CTA,
    NUM_BARRIERS, REG_RECONFIG,       NUM_MBARRIERS,      EXTERNS,      AT_ENTRY_FRAGMENTS};

static void single_externs(cbi_linker *lk, cbi_func *k)
{
    cbi_rec all = {.code = EXTERNS};
    for (size_t i = 0; i < lk->recs.len; i++) {
        const cbi_rec *rec = lk->recs.items[i];
        if (rec->func && rec->code == EXTERNS && !rec->dead)
            externs_add(lk, &all, rec->symbols, rec->symbol_count);
    }
    cbi_rec *own = find_record(k, EXTERNS);
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
    own = add_record(lk, k, 4, EXTERNS, 0);
    own->symbols = CBI_NEW_ARRAY(lk->ctx, all.symbol_count, cbi_lsym *);
    for (uint32_t i = 0; i < all.symbol_count; i++)
        own->symbols[i] = all.symbols[all.symbol_count - 1 - i];
    own->symbol_count = all.symbol_count;
}

static void single_attribute(cbi_linker *lk, cbi_func *k, uint8_t code)
{
    if (code == EXTERNS) {
        single_externs(lk, k);
        return;
    }
    cbi_rec *own = find_record(k, code);
    for (size_t i = 0; i < lk->recs.len; i++) {
        const cbi_rec *rec = lk->recs.items[i];
        if (!rec->func || rec->func == k || rec->code != code || rec->dead)
            continue;
        switch (code) {
        case VRC_CTA_INIT_COUNT:
        case NUM_BARRIERS:
        case NUM_MBARRIERS:
        case AT_ENTRY_FRAGMENTS:
            propagate_one(lk, k, rec);
            break;
        default:
            if (!own)
                own = add_record(lk, k, 1, code, 0);
            break;
        }
    }
}

static void add_mask(const cbi_func *k, uint16_t mask)
{
    cbi_rec *own = find_record(k, SPARSE_MMA_MASK);
    if (own)
        own->value |= mask;
}

/* SPARSE_MMA_MASK: a record anywhere makes every function say what it knows.  A single entry takes
 * it from all that are live, reached or not, but only if some function, live or not, has none. */
static void sparse_masks(cbi_linker *lk)
{
    bool any = false, complete = true;
    for (size_t i = 0; i < lk->funcs.len; i++) {
        const cbi_func *f = lk->funcs.items[i];
        bool has = f->live && f->obj && find_record(f, SPARSE_MMA_MASK);
        any |= has;
        complete &= has;
    }
    if (!any)
        return;
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        cbi_func *holder = f->alias_of ? f->alias_of : f;
        if (!f->live || !f->obj || !holder->info)
            continue;
        if (!f->alias_of && find_record(f, SPARSE_MMA_MASK))
            continue;
        cbi_rec *rec = cbi_rec_append(lk, holder->info, holder, 3, SPARSE_MMA_MASK, 0x8000);
        cbi_vec_push(lk->ctx, &holder->records, rec);
    }
    for (size_t i = 0; i < lk->funcs.len; i++) {
        cbi_func *f = lk->funcs.items[i];
        uint16_t mask = 0;
        for (size_t j = 0; f->live && j < f->records.len; j++)
            if (f->records.items[j]->code == SPARSE_MMA_MASK)
                mask |= f->records.items[j]->value;
        if (!mask)
            continue;
        if (lk->only_entry) {
            if (!complete)
                add_mask(lk->only_entry, mask);
            continue;
        }
        const cbi_func_list *reaching = cbi_entries_reaching(lk, f);
        for (size_t j = 0; j < reaching->len; j++)
            if (reaching->items[j] != f && cbi_is_wanted_entry(lk, reaching->items[j]))
                add_mask(reaching->items[j], mask);
    }
}

static void refuse_reserved(cbi_linker *lk, const cbi_rec *rec)
{
    if (rec->code != RESERVED_SMEM_USED || !rec->func ||
        (rec->obj && rec->func->obj && rec->func->obj != rec->obj))
        return;
    /* nvlink reports functions that it removed as well, and has forgotten their names. */
    bool removed = !rec->func->live;
    if (removed && !lk->opt->exact)
        return;
    cbi_error(
        lk->ctx, "reserved-shared-disabled",
        &(cbi_place){.file = rec->obj ? rec->obj->file : NULL, .symbol = rec->func->sym->name->s},
        "it needs the area that --disable-smem-reservation takes away",
        "Function '%s' uses reserved shared memory when not allowed.",
        removed ? "(null)" : rec->func->sym->name->s);
}

/* Newest additions first, then the inputs' in order. */
static void check_reserved(cbi_linker *lk)
{
    if (!lk->opt->disable_smem_reservation)
        return;
    for (size_t i = lk->added_recs.len; i-- > 0;)
        refuse_reserved(lk, lk->added_recs.items[i]);
    for (size_t i = 0; i < lk->recs.len; i++)
        refuse_reserved(lk, lk->recs.items[i]);
}

static void propagate_attributes(cbi_linker *lk)
{
    if (lk->only_entry) {
        for (size_t i = 0; i < CBI_COUNT(single_order); i++)
            single_attribute(lk, lk->only_entry, single_order[i]);
    } else if (lk->entries.len) {
        propagate_many(lk);
    }
}

void cbi_link_propagate(cbi_linker *lk)
{
    collect(lk);
    reduce_externs(lk);
    for (size_t i = 0; i < lk->bottom_up.len; i++)
        if (lk->bottom_up.items[i]->func)
            lk->bottom_up.items[i]->func->own_regs = lk->bottom_up.items[i]->regs;
    sweep(lk);
    if (lk->exec) {
        stack_sizes(lk);
        cbi_link_dump_callgraph(lk);
        registers(lk);
        sparse_masks(lk);
        migrate_barriers(lk);
        propagate_attributes(lk);
    }
    check_reserved(lk);
}
