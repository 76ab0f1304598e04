/* Output tables: which sections and symbols there are, their order, the string tables, offsets. */
#include "base/fetch.h"
#include "format/eiattr.h"
#include "link/graph.h"
#include "link/loops.h"
#include "link/patches.h"
#include "link/propagate.h"
#include "link/tables_work.h"

#include <stdatomic.h>

void cbi_out_fill(const cbi_linker *lk, const cbi_osec *sec, const uint8_t *bytes, uint64_t size)
{
    lk->filling->places[sec->number].bytes = bytes;
    lk->filling->places[sec->number].size = size;
}

uint8_t *cbi_out_open(const cbi_linker *lk, const cbi_osec *sec, uint64_t size)
{
    uint8_t *bytes = cbi_alloc(lk->ctx, size);
    cbi_out_fill(lk, sec, bytes, size);
    return bytes;
}

/* ---- which sections are written ---- */

bool cbi_is_written(const cbi_rec *rec)
{
    return !rec->dead && (!cbi_is_externs(rec) || rec->symbol_count);
}

static uint32_t payload_size(const cbi_rec *rec)
{
    if (rec->format != CBI_ATTR_SIZED)
        return 0;
    return cbi_is_externs(rec) ? rec->symbol_count * 4 : rec->size;
}

static size_t record_size(const cbi_rec *rec)
{
    return 4 + (size_t)payload_size(rec);
}

/* The i-th record of the inputs that is visited. */
static inline const cbi_rec *visited(const cbi_rec_table *recs, size_t i)
{
    return &recs->items[recs->len - 1 - i];
}

/* The link's own. */
static void visit_own(const cbi_linker *lk, cbi_record_fn visit, void *user)
{
    const cbi_rec_list *own[] = {&lk->attributes->added, &lk->tables->late_recs};
    for (size_t k = 0; k < CBI_COUNT(own); k++)
        for (size_t i = 0; i < own[k]->len; i++)
            if (cbi_is_written(own[k]->items[i]))
                visit(lk, own[k]->items[i], user);
}

void cbi_for_each_record(const cbi_linker *lk, cbi_record_fn visit, void *user)
{
    const cbi_rec_table recs = lk->attributes->recs;
    for (size_t i = 0; i < recs.len; i++)
        if (!visited(&recs, i)->dead)
            visit(lk, visited(&recs, i), user);
    visit_own(lk, visit, user);
}

/* In threads a share has all records of its objects.  Those of a function that are not dead are of
 * one object; of .nv.info each share has a part of its own. */
static bool joins_visited(const cbi_linker *lk, size_t i)
{
    return cbi_link_joins_records(lk, lk->attributes->recs.len - i); /* it is visited before that */
}

/* arg: how many bytes the records of each function have, by its number from 1. */
static void size_share(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    const cbi_rec_table recs = lk->attributes->recs;
    uint64_t *sizes = arg, module = 0;
    for (size_t i = share->first; i < share->end; i++) {
        const cbi_rec *rec = visited(&recs, i);
        if (rec->dead)
            continue;
        if (rec->func)
            sizes[rec->func] += record_size(rec);
        else
            module += record_size(rec);
    }
    lk->filling->module_sizes[share->number] = module;
}

/* user: the same; 0: of .nv.info. */
static void add_size(const cbi_linker *lk, const cbi_rec *rec, void *user)
{
    (void)lk;
    uint64_t *sizes = user;
    sizes[rec->func] += record_size(rec);
}

static void size_records(const cbi_linker *lk)
{
    size_t count = lk->symbols->funcs.len + 1;
    uint64_t *sizes = CBI_NEW_ARRAY(lk->ctx, count, uint64_t);
    const cbi_shares shares = cbi_link_cut(lk, lk->attributes->recs.len, joins_visited);
    lk->filling->record_shares = shares;
    lk->filling->module_sizes = CBI_NEW_ARRAY(lk->ctx, shares.count, uint64_t);
    cbi_link_each_share(lk, &shares, size_share, sizes);
    for (size_t i = 0; i < shares.count; i++)
        sizes[0] += lk->filling->module_sizes[i];
    visit_own(lk, add_size, sizes);
    lk->filling->places[lk->records->info->number].size += sizes[0];
    for (size_t i = 1; i < count; i++) {
        cbi_fetch(CBI_LATER(lk->symbols->funcs.items, i - 1, count - 1));
        const cbi_osec *info = lk->symbols->funcs.items[i - 1]->info;
        if (info)
            lk->filling->places[info->number].size += sizes[i];
    }
    lk->filling->record_sizes = sizes;
}

/* When a section is written. */
typedef enum presence {
    NEVER,
    WHERE_FILLED, /* if it has contents in the end */
    ALWAYS,
} presence;

static presence presence_of(const cbi_osec *sec)
{
    switch (sec->type) {
    case SHT_CUDA_SHARED:
        return sec->needed ? ALWAYS : NEVER;
    case SHT_REL:
    case SHT_RELA:
    case SHT_CUDA_RESOLVED_RELA:
    case SHT_CUDA_INFO:
    case SHT_CUDA_PROTOTYPE:
        return WHERE_FILLED;
    case SHT_SYMTAB_SHNDX:
        return NEVER; /* needed only for many sections */
    case SHT_STRTAB:
    case SHT_SYMTAB:
    case SHT_NOTE:
    case SHT_CUDA_COMPAT:
    case SHT_CUDA_CALLGRAPH:
    case SHT_CUDA_RELOCINFO:
        return ALWAYS;
    default:
        return sec->contributed || sec->size ? ALWAYS : NEVER;
    }
}

/* The parts of the file, in their order. */
typedef enum bucket {
    UNWRITTEN,
    NAMES_AND_SYMBOLS,
    DEBUG_DATA,
    NOTES_AND_ATTRIBUTES, /* and all else that is not loaded */
    RELOCATIONS,
    CONSTANTS,
    CODE,
    DATA,
    MEMORY, /* without bytes */
    BUCKETS,
} bucket;

static bucket bucket_of(const cbi_linker *lk, const cbi_osec *sec)
{
    if (sec == lk->records->shstrtab || sec == lk->records->strtab || sec == lk->records->symtab ||
        sec->type == SHT_SYMTAB_SHNDX)
        return NAMES_AND_SYMBOLS;
    if (cbi_is_reloc_list(sec))
        return RELOCATIONS;
    if (!(sec->flags & SHF_ALLOC))
        return sec->type == SHT_PROGBITS ? DEBUG_DATA : NOTES_AND_ATTRIBUTES;
    if (sec->flags & SHF_EXECINSTR)
        return CODE;
    if (!(sec->flags & SHF_WRITE))
        return CONSTANTS;
    return cbi_section_has_data(sec->type) ? DATA : MEMORY;
}

enum { IF_FILLED = 0x80 }; /* beside a bucket, until it is decided */

/* All that is asked of every section, since each look at one is a cache miss. */
static void look_at_sections(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    cbi_tables_work *work = arg;
    for (size_t i = share->first; i < share->end; i++) {
        cbi_fetch(CBI_LATER(lk->records->secs.items, i, lk->records->secs.len));
        const cbi_osec *sec = lk->records->secs.items[i];
        const presence written = presence_of(sec);
        work->places[i] = (cbi_out_section){.bytes = sec->bytes, .size = sec->size};
        if (cbi_is_reloc_list(sec))
            work->places[i] = (cbi_out_section){.size = sec->relocs.len * sec->entsize};
        if (written != NEVER)
            work->buckets[i] =
                (uint8_t)(bucket_of(lk, sec) | (written == WHERE_FILLED ? IF_FILLED : UNWRITTEN));
    }
}

const cbi_tables *cbi_tables_begin(const cbi_linker *lk, cbi_tables_work **ret_work)
{
    cbi_tables_work *work = *ret_work = CBI_NEW(lk->ctx, cbi_tables_work);
    work->places = CBI_NEW_ARRAY(lk->ctx, lk->records->secs.len, cbi_out_section);
    work->buckets = CBI_NEW_ARRAY(lk->ctx, lk->records->secs.len, uint8_t);
    cbi_link_in_shares(lk, lk->records->secs.len, look_at_sections, work);
    work->tables.places = work->places;
    return &work->tables;
}

static void decide_sections(const cbi_linker *lk)
{
    /* what follows the order of symbols is not there yet, and fills no section by itself */
    size_records(lk);
    for (size_t i = 0; i < lk->records->secs.len; i++) {
        uint8_t *b = &lk->filling->buckets[i];
        const bool dead = i < lk->dead->len && lk->dead->items[i];
        const bool empty = *b & IF_FILLED && !lk->filling->places[i].size;
        *b = dead || empty ? UNWRITTEN : *b & (uint8_t)~IF_FILLED;
    }
}

/* ---- order ---- */

static void order_sections(const cbi_linker *lk)
{
    cbi_tables_work *work = lk->filling;
    uint32_t next[BUCKETS] = {0}; /* index of each bucket's next section */
    for (size_t i = 0; i < lk->records->secs.len; i++)
        next[work->buckets[i]]++;
    uint32_t count = 1; /* the null section's */
    for (size_t b = UNWRITTEN + 1; b < BUCKETS; b++) {
        uint32_t sections = next[b];
        next[b] = count;
        count += sections;
    }
    cbi_vec_reserve(lk->ctx, &work->tables.out, count);
    work->tables.out.len = count;
    *work->tables.out.items = NULL;
    for (size_t i = 0; i < lk->records->secs.len; i++) {
        if (!work->buckets[i])
            continue;
        work->places[i].index = next[work->buckets[i]]++;
        work->tables.out.items[work->places[i].index] = lk->records->secs.items[i];
    }
}

/* ---- symbols ---- */

static bool section_has_symbol(const cbi_linker *lk, const cbi_osec *sec)
{
    switch (sec->type) {
    case SHT_STRTAB:
    case SHT_SYMTAB:
    case SHT_SYMTAB_SHNDX:
    case SHT_REL:
    case SHT_RELA:
    case SHT_CUDA_RESOLVED_RELA:
    case SHT_CUDA_INFO:
    case SHT_CUDA_COMPAT:
        return false;
    case SHT_CUDA_SHARED:
        if (!lk->exec && cbi_shared_of(sec)->total == 0)
            return false;
        break;
    default:
        break;
    }
    return cbi_section_index(lk, sec) && cbi_out_of(lk, sec)->size > 0;
}

static bool symbol_survives(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (cbi_is_removed(lk, sym))
        return false;
    if (sym->is_section)
        return section_has_symbol(lk, sym->sec);
    if (!lk->exec)
        return true;
    const cbi_placement place = cbi_placement_of(lk, sym);
    if (lk->opt->preserve_relocs && place.sec && cbi_section_index(lk, place.sec) &&
        !place.in_banks &&
        (sym->internal || cbi_is_recorded(lk, sym) || (cbi_is_shared_var(sym) && !place.unplaced)))
        return true;
    if (sym->internal)
        return false;
    if (sym->func)
        return true;
    if (cbi_is_shared_var(sym))
        return lk->shows_debug && !(sym->other & STO_CUDA_VISIBILITY) &&
               (place.state == CBI_SYM_DEFINED || sym->dynamic);
    return place.state != CBI_SYM_UNDEF || !cbi_is_unified_name(sym->name->s);
}

/* Of a symbol that is not written.  A name stays even then; only removal takes it away. */
static bool name_stays(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (cbi_is_removed(lk, sym))
        return false;
    if (sym->is_section)
        return true;
    return !lk->exec || !(sym->internal || cbi_is_shared_var(sym));
}

/* What the output has of a symbol. */
enum { NO_SYMBOL, ONLY_NAME, WHOLE_SYMBOL };

/* Local symbols, or global ones. */
typedef struct symbol_list {
    const cbi_lsym *const *items;
    size_t len;
    uint8_t *stays;      /* by symbol */
    atomic_size_t whole; /* how many are written */
} symbol_list;

static void look_at_symbols(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    symbol_list *list = arg;
    size_t whole = 0;
    for (size_t i = share->first; i < share->end; i++) {
        cbi_fetch(CBI_LATER(list->items, i, list->len));
        const cbi_lsym *soon = CBI_SOON(list->items, i, list->len);
        cbi_fetch(soon->is_section ? (const void *)soon->sec : soon->func);
        const cbi_lsym *sym = list->items[i];
        const bool survives = symbol_survives(lk, sym);
        list->stays[sym->number] = survives              ? WHOLE_SYMBOL
                                   : name_stays(lk, sym) ? ONLY_NAME
                                                         : NO_SYMBOL;
        whole += survives;
    }
    atomic_fetch_add(&list->whole, whole);
}

/* ---- string tables ---- */

static uint32_t add_string(const cbi_linker *lk, cbi_buf *table, uint32_t *offsets,
                           const cbi_name *name)
{
    if (!name->len)
        return 0;
    if (!offsets[name->id]) {
        offsets[name->id] = (uint32_t)table->len;
        cbi_vec_reserve(lk->ctx, table, name->len + 1);
        memcpy(table->items + table->len, name->s, name->len + 1);
        table->len += name->len + 1;
    }
    return offsets[name->id];
}

uint32_t cbi_strtab_offset(const cbi_linker *lk, const cbi_name *name)
{
    return lk->tables->str_offsets ? lk->tables->str_offsets[name->id] : 0;
}

/* Prototypes are in front of the names of symbols. */
static void name_prototypes(const cbi_linker *lk, size_t names)
{
    cbi_ctx *ctx = lk->ctx;
    cbi_buf *str = &lk->filling->str;
    uint32_t *symbols = CBI_NEW_ARRAY(ctx, names, uint32_t);
    cbi_buf_append(ctx, str, NULL, 1);
    for (size_t i = 0; i < lk->symbols->protos.len; i++) {
        /* Entries have an empty prototype; as a string of its own it is not the one at 0. */
        const cbi_name *proto = lk->symbols->protos.items[i];
        symbols[proto->id] = (uint32_t)str->len;
        cbi_buf_append(ctx, str, proto->s, proto->len + 1);
    }
    lk->filling->str_offsets = symbols;
    lk->filling->tables.str_offsets = symbols;
}

/* Gives those that stay their numbers and the places of their names, in this order. */
static void list_symbols(const cbi_linker *lk, symbol_list *list, uint32_t *indices)
{
    cbi_tables *tables = &lk->filling->tables;
    for (size_t i = 0; i < list->len; i++) {
        cbi_fetch(CBI_LATER(list->items, i, list->len));
        cbi_fetch(CBI_SOON(list->items, i, list->len)->name);
        const cbi_lsym *sym = list->items[i];
        const uint8_t stays = list->stays[sym->number];
        if (stays == NO_SYMBOL)
            continue;
        const uint32_t name =
            add_string(lk, &lk->filling->str, lk->filling->str_offsets, sym->name);
        if (stays == ONLY_NAME)
            continue;
        indices[sym->number] = (uint32_t)tables->symbols.len;
        cbi_vec_push(lk->ctx, &tables->symbols, sym);
        cbi_vec_push(lk->ctx, &lk->filling->symbol_names, name);
    }
}

/* What two string tables are made of: names of symbols, and of sections. */
typedef struct naming {
    symbol_list locals, globals;
    uint32_t *indices;
    size_t names; /* of the job */
} naming;

static void name_symbols(const cbi_linker *lk, void *arg)
{
    naming *all = arg;
    cbi_tables *tables = &lk->filling->tables;
    cbi_vec_push(lk->ctx, &tables->symbols, NULL);
    cbi_vec_push(lk->ctx, &lk->filling->symbol_names, 0);
    name_prototypes(lk, all->names);
    list_symbols(lk, &all->locals, all->indices);
    tables->first_global = (uint32_t)tables->symbols.len;
    list_symbols(lk, &all->globals, all->indices);
    cbi_vec_trim(lk->ctx, &lk->filling->str);
    tables->str = (cbi_span){lk->filling->str.items, lk->filling->str.len};
}

static void name_sections(const cbi_linker *lk, void *arg)
{
    const naming *all = arg;
    cbi_ctx *ctx = lk->ctx;
    cbi_buf *shstr = &lk->filling->shstr;
    uint32_t *sections = CBI_NEW_ARRAY(ctx, all->names, uint32_t);
    cbi_buf_append(ctx, shstr, NULL, 1);
    for (size_t i = 0; i < lk->records->secs.len; i++) {
        cbi_fetch(CBI_LATER(lk->records->secs.items, i, lk->records->secs.len));
        cbi_fetch(CBI_SOON(lk->records->secs.items, i, lk->records->secs.len)->name);
        if (i >= lk->dead->len || !lk->dead->items[i])
            lk->filling->places[i].name =
                add_string(lk, shstr, sections, lk->records->secs.items[i]->name);
    }
    cbi_vec_trim(ctx, shstr);
    lk->filling->tables.shstr = (cbi_span){shstr->items, shstr->len};
    cbi_take_back(ctx, sections, all->names * sizeof *sections);
}

static void number_symbols(const cbi_linker *lk)
{
    cbi_tables *tables = &lk->filling->tables;
    const size_t count = lk->records->locals.len + lk->records->globals.len;
    uint8_t *stays = CBI_NEW_ARRAY(lk->ctx, count, uint8_t);
    naming all = {
        .locals = {lk->records->locals.items, lk->records->locals.len, stays, 0},
        .globals = {lk->records->globals.items, lk->records->globals.len, stays, 0},
        .indices = CBI_NEW_ARRAY(lk->ctx, count, uint32_t),
        .names = lk->ctx->name_count,
    };
    cbi_link_in_shares(lk, all.locals.len, look_at_symbols, &all.locals);
    cbi_link_in_shares(lk, all.globals.len, look_at_symbols, &all.globals);
    const size_t whole = atomic_load(&all.locals.whole) + atomic_load(&all.globals.whole);
    cbi_vec_reserve(lk->ctx, &tables->symbols, 1 + whole);
    cbi_vec_reserve(lk->ctx, &lk->filling->symbol_names, 1 + whole);
    cbi_link_both(lk, lk->records->secs.len, name_symbols, name_sections, &all);
    tables->symbol_indices = all.indices;
    cbi_take_back(lk->ctx, stays, count);
}

/* ---- contents that need final symbol numbers ---- */

static uint32_t symbol_index(const cbi_linker *lk, const cbi_lsym *sym)
{
    return sym ? cbi_symbol_index(lk, sym) : 0;
}

/* Most are a word or two. */
static inline void put_payload(uint8_t *at, const uint8_t *payload, uint32_t size)
{
    switch (size) {
    case 4:
        memcpy(at, payload, 4);
        break;
    case 8:
        memcpy(at, payload, 8);
        break;
    default:
        memcpy(at, payload, size);
        break;
    }
}

static void put_symbols_of(const cbi_linker *lk, uint8_t *at, const cbi_rec *rec)
{
    for (uint32_t i = 0; i < rec->symbol_count; i++)
        cbi_st32(at + 4 * i, symbol_index(lk, rec->symbols[i]));
}

/* Returns where the next one goes.  A call for each would be a tenth of its work. */
__attribute__((always_inline)) static inline uint8_t *put_record(const cbi_linker *lk, uint8_t *at,
                                                                 const cbi_rec *rec)
{
    const uint32_t size = payload_size(rec);
    const uint32_t value = rec->format == CBI_ATTR_SIZED ? size : rec->value;
    cbi_st32(at, rec->format | (uint32_t)rec->code << 8 | value << 16);
    at += 4;
    if (cbi_is_externs(rec)) {
        put_symbols_of(lk, at, rec);
    } else if (size) {
        put_payload(at, cbi_payload_of(rec), size);
        if (rec->has_symbol)
            cbi_st32(at, symbol_index(lk, rec->symbol));
    }
    return at + size;
}

void cbi_write_record(const cbi_linker *lk, cbi_buf *out, const cbi_rec *rec)
{
    put_record(lk, cbi_buf_append(lk->ctx, out, NULL, record_size(rec)), rec);
}

/* arg: where the next record of each function goes, by its number from 1; 0: .nv.info. */
static void write_share(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    const cbi_rec_table recs = lk->attributes->recs;
    uint8_t **at = arg, *module = at[0];
    for (size_t i = 0; i < share->number; i++)
        module += lk->filling->module_sizes[i];
    for (size_t i = share->first; i < share->end; i++) {
        const cbi_rec *rec = visited(&recs, i);
        if (rec->dead)
            continue;
        uint8_t **to = rec->func ? &at[rec->func] : &module;
        *to = put_record(lk, *to, rec);
    }
}

/* user: the same. */
static void write_info(const cbi_linker *lk, const cbi_rec *rec, void *user)
{
    uint8_t **at = user;
    at[rec->func] = put_record(lk, at[rec->func], rec);
}

/* By which number the table of sizes knows the section's records. */
static size_t stream_of(const cbi_linker *lk, const cbi_osec *sec)
{
    return sec != lk->records->info && sec->func && sec->func->info == sec ? sec->func->number + 1
                                                                           : 0;
}

/* Sections that follow each other in the file do so in memory, which makes them one part. */
static uint8_t **open_streams(const cbi_linker *lk, const uint64_t *sizes, size_t count)
{
    static const uint8_t nothing[1];
    uint8_t **at = CBI_NEW_ARRAY(lk->ctx, count, uint8_t *);
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += sizes[i];
    uint8_t *next = cbi_alloc(lk->ctx, total + 1);
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        cbi_fetch(CBI_LATER(lk->tables->out.items, i, lk->tables->out.len));
        const cbi_osec *sec = lk->tables->out.items[i];
        if (sec->type != SHT_CUDA_INFO)
            continue;
        size_t stream = stream_of(lk, sec);
        if (!stream && sec != lk->records->info) {
            cbi_out_fill(lk, sec, nothing, 0);
            continue;
        }
        at[stream] = next;
        cbi_out_fill(lk, sec, next, sizes[stream]);
        next += sizes[stream];
    }
    for (size_t i = 0; i < count; i++) {
        if (!at[i]) { /* is not written */
            at[i] = next;
            next += sizes[i];
        }
    }
    return at;
}

void cbi_link_fill_records(const cbi_linker *lk)
{
    size_t count = lk->symbols->funcs.len + 1;
    uint64_t *sizes = lk->filling->record_sizes;
    for (size_t i = 0; i < lk->tables->late_recs.len; i++)
        if (cbi_is_written(lk->tables->late_recs.items[i]))
            add_size(lk, lk->tables->late_recs.items[i], sizes);
    uint8_t **at = open_streams(lk, sizes, count);
    const cbi_shares *shares = &lk->filling->record_shares;
    cbi_link_each_share(lk, shares, write_share, at);
    for (size_t i = 0; i < shares->count; i++)
        at[0] += lk->filling->module_sizes[i];
    visit_own(lk, write_info, at);
    cbi_take_back(lk->ctx, at, count * sizeof *at);
    cbi_take_back(lk->ctx, sizes, count * sizeof *sizes);
}

/* Entries that have numbers of the link's symbols so far (cbi_link_pack_relocs). */
static void number_packed(const cbi_linker *lk, const cbi_osec *sec)
{
    uint8_t *entries = cbi_link_hand_over_packed(lk, sec);
    for (size_t i = 0; i < sec->relocs.len; i++) {
        uint8_t *symbol = entries + i * sec->entsize + 12;
        uint32_t number = cbi_ld32(symbol);
        cbi_st32(symbol, number ? lk->tables->symbol_indices[number - 1] : 0);
    }
    cbi_out_fill(lk, sec, entries, sec->relocs.len * sec->entsize);
}

static void fill_relocs(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    (void)arg;
    for (size_t i = share->first; i < share->end; i++) {
        cbi_fetch(CBI_LATER(lk->records->rel_secs.items, i, lk->records->rel_secs.len));
        const cbi_osec *sec = lk->records->rel_secs.items[i];
        if (!cbi_section_index(lk, sec))
            continue;
        if (!sec->relocs.items && sec->relocs.len) {
            number_packed(lk, sec);
            continue;
        }
        uint8_t *entries = cbi_out_open(lk, sec, sec->relocs.len * sec->entsize);
        for (size_t j = 0; j < sec->relocs.len; j++) {
            const cbi_lrel *r = sec->relocs.items[j];
            cbi_link_check_kept(lk, r);
            cbi_put_reloc(entries + j * sec->entsize, sec->entsize, r, symbol_index(lk, r->sym));
        }
    }
}

void cbi_link_fill_relocs(const cbi_linker *lk)
{
    cbi_link_in_shares(lk, lk->records->rel_secs.len, fill_relocs, NULL);
}

/* Executables use plain ELF object symbols without memory spaces. */
static void output_info(const cbi_linker *lk, const cbi_lsym *sym, const cbi_placement *place,
                        uint8_t *ret_info, uint8_t *ret_other)
{
    uint8_t info = sym->info, other = sym->other;
    if (place->hidden)
        other |= STV_INTERNAL;
    if (place->state == CBI_SYM_UNDEF && CBI_ST_BIND(info) == STB_WEAK && !sym->in_local_list)
        info = CBI_ST_INFO(STB_GLOBAL, CBI_ST_TYPE(info));
    if (lk->exec && !lk->mercury) {
        if (CBI_ST_TYPE(info) == STT_CUDA_OBJECT)
            info = CBI_ST_INFO(CBI_ST_BIND(info), STT_OBJECT);
        if (!sym->func)
            other &= (uint8_t)~STO_CUDA_SPACE;
    }
    /* Only --preserve-relocs lets shared variables through; they stay hidden from others. */
    if (lk->exec && cbi_is_shared_var(sym) && !lk->shows_debug)
        other |= STV_INTERNAL;
    *ret_info = info;
    *ret_other = other;
}

/* -r marks undefined variables that are errors later, an executable does not and leaves the
 * driver's own as they are. */
static uint64_t undefined_value(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (sym->func)
        return 0;
    if (lk->exec && (sym->other & STO_CUDA_SPACE) == STO_CUDA_GLOBAL)
        return 0;
    if (lk->exec || sym->dynamic || !(sym->other & STO_CUDA_SPACE))
        return sym->value;
    return lk->opt->allow_undefined_globals ? 0 : UINT64_MAX;
}

static uint64_t output_value(const cbi_linker *lk, const cbi_lsym *sym, const cbi_placement *place)
{
    if (place->state == CBI_SYM_UNDEF)
        return undefined_value(lk, sym);
    if (cbi_is_shared_var(sym)) {
        if (!lk->exec && lk->shows_debug && sym->size == 0)
            return place->value;
        if (!lk->exec)
            /* of dynamic ones, that of an earlier -r link: its place, which passes for an alignment
             */
            return cbi_shared_align(lk, sym);
        /* Dynamic variables live in .nv_debug.shared, which counts when it holds something. */
        const uint64_t area = cbi_reserved_shared(lk);
        bool counts = area && ((lk->opt->preserve_relocs && !lk->shows_debug) || !sym->dynamic ||
                               cbi_shared_of(lk->records->debug_shared)->total);
        /* nvlink adds the area as often as it has the variable in its list. */
        return place->value + (counts ? cbi_variable_of(sym)->listed * area : 0);
    }
    return place->value;
}

/* The null symbol stands for the shared memory of every kernel that ptxas -ewp laid out. */
static uint64_t null_value(const cbi_linker *lk)
{
    uint64_t value = lk->layout->null_symbol_value, reserved = 0;
    for (size_t i = lk->records->few_secs.len; i-- > 0;) {
        const cbi_osec *sec = lk->records->few_secs.items[i];
        const cbi_lsym *sym = cbi_shared_of(sec)->whole;
        bool unwanted =
            lk->exec ? cbi_is_dead(lk, sec) || !sec->func || !cbi_fate_of(lk, sec->func)->entry
                     : sec->func && !sec->func->entry;
        if (!sym || unwanted)
            continue;
        const cbi_placement place = cbi_placement_of(lk, sym);
        value = lk->exec ? place.value : cbi_shared_align(lk, sym);
        reserved += output_value(lk, sym, &place) - value;
    }
    return value + reserved;
}

/* In order of creation.  In final links nvlink has one more section at first, never written. */
static uint32_t section_number(const cbi_linker *lk, size_t i)
{
    return (uint32_t)i + 1 + (lk->exec && i >= lk->records->fixed_secs);
}

/* Sections that are not written count, too. */
static bool needs_shndx(const cbi_linker *lk)
{
    return section_number(lk, lk->records->secs.len) > SHN_LORESERVE;
}

static const cbi_osec *shndx_of(const cbi_linker *lk)
{
    return cbi_sec_find(lk, cbi_intern(lk->ctx, ".symtab_shndx"));
}

/* Where the entries of the symbol table are written. */
typedef struct symbol_entries {
    uint8_t *all;
    uint8_t *numbers; /* of .symtab_shndx, or NULL */
} symbol_entries;

static void put_symbol(const cbi_linker *lk, const symbol_entries *to, const cbi_lsym *sym,
                       uint32_t i)
{
    uint8_t *p = to->all + i * sizeof(Elf64_Sym);
    const cbi_placement place = cbi_placement_of(lk, sym);
    uint32_t index =
        place.state == CBI_SYM_UNDEF || !place.sec ? 0 : cbi_section_index(lk, place.sec);
    uint16_t field = place.state == CBI_SYM_COMMON ? SHN_COMMON : (uint16_t)index;
    /* Where st_shndx suffices, nvlink leaves the section's number in order of creation. It
     * takes a section that happens to be number SHN_COMMON for common symbols, too. */
    bool beyond = index >= SHN_LORESERVE && index != SHN_COMMON;
    if (to->numbers && index)
        cbi_st32(to->numbers + i * 4, beyond ? index : section_number(lk, place.sec->number));
    if (beyond)
        field = SHN_XINDEX;
    cbi_st32(p, lk->filling->symbol_names.items[i]);
    output_info(lk, sym, &place, &p[4], &p[5]);
    cbi_st16(p + 6, field);
    cbi_st64(p + 8, output_value(lk, sym, &place));
    cbi_st64(p + 16, sym->size);
}

static void put_symbols(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    const cbi_lsym *const *symbols = lk->tables->symbols.items;
    const size_t count = lk->tables->symbols.len;
    for (size_t i = share->first ? share->first : 1; i < share->end; i++) {
        cbi_fetch(CBI_LATER(symbols, i, count));
        cbi_fetch(CBI_SOON(symbols, i, count)->sec);
        const cbi_lsym *next = CBI_NEXT(symbols, i, count);
        if (next->sec)
            cbi_fetch(cbi_out_of(lk, next->sec));
        put_symbol(lk, arg, symbols[i], (uint32_t)i);
    }
}

static void fill_symtab(const cbi_linker *lk)
{
    size_t count = lk->tables->symbols.len;
    const cbi_span str = lk->tables->str;
    symbol_entries to = {
        .all = cbi_out_open(lk, lk->records->symtab, count * sizeof(Elf64_Sym)),
        .numbers = needs_shndx(lk) ? cbi_out_open(lk, shndx_of(lk), count * 4) : NULL,
    };
    cbi_st64(to.all + 8, null_value(lk));
    cbi_link_in_shares(lk, count, put_symbols, &to);
    cbi_vec_free(lk->ctx, &lk->filling->symbol_names);
    cbi_out_fill(lk, lk->records->strtab, str.data, str.size);
}

/* ---- offsets ---- */

enum { MERCURY_CODE_ALIGN = 16 };

/* With Mercury these are the places in the file that the finalizer reads: its code is Mercury. */
static void place_sections(const cbi_linker *lk)
{
    uint64_t cur = sizeof(Elf64_Ehdr);
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        cbi_fetch(CBI_LATER(lk->tables->out.items, i, lk->tables->out.len));
        cbi_fetch(cbi_out_of(lk, CBI_SOON(lk->tables->out.items, i, lk->tables->out.len)));
        const cbi_osec *sec = lk->tables->out.items[i];
        cbi_out_section *place = &lk->filling->places[sec->number];
        bool mercury_code =
            lk->mercury && (sec->flags & SHF_EXECINSTR) && cbi_is_code_of(sec, sec->func);
        cur = cbi_align_up(cur, mercury_code ? MERCURY_CODE_ALIGN : sec->align);
        place->offset = cur;
        if (cbi_section_has_data(sec->type))
            cur += mercury_code ? sec->func->sym->size : place->size;
    }
    lk->filling->tables.shoff = cbi_align_up(cur, 8);
}

/* A replaced function's constants keep their symbols, which -r writes and an executable does not.
 */
static void find_lost_constants(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->records->few_secs.len && !lk->exec; i++) {
        const cbi_osec *sec = lk->records->few_secs.items[i];
        const cbi_lobj *by = cbi_constants_of(sec)->emptied_by;
        if (by && sec->size == 0)
            cbi_defer(lk, CBI_FAILS_AT_TABLES, NULL,
                      cbi_printf(
                          lk->ctx,
                          "weak function '%s' is replaced by the copy in '%s'; put that file first",
                          sec->func->sym->name->s, by->file));
    }
}

/* A texture that is a kernel's parameter stays when the kernel goes. */
static void find_lost_images(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->images.len; i++) {
        const cbi_lsym *sym = lk->symbols->images.items[i];
        if (sym->sec && cbi_is_dead(lk, sym->sec))
            cbi_defer(lk, CBI_FAILS_AT_TABLES, NULL,
                      cbi_printf(lk->ctx, "parameter '%s' belongs to a kernel that is removed",
                                 sym->name->s));
    }
}

/* Common symbols without a place (resolve.c). Below sm_100 nvlink crashes. */
static void find_lost_commons(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->commons.len && lk->exec; i++) {
        const cbi_lsym *sym = lk->symbols->commons.items[i];
        if (cbi_placement_of(lk, sym).state == CBI_SYM_COMMON)
            cbi_defer(lk, CBI_FAILS_AT_TABLES, NULL,
                      cbi_printf(lk->ctx,
                                 "an initialised weak definition of '%s' follows a common symbol",
                                 sym->name->s));
    }
}

/* What stands behind all other records of the module. */
static void add_late_records(const cbi_linker *lk)
{
    cbi_mark_old_objects(lk, &lk->filling->tables.late_recs);
    for (size_t i = 1; i < lk->tables->symbols.len; i++) {
        cbi_fetch(CBI_LATER(lk->tables->symbols.items, i, lk->tables->symbols.len));
        cbi_fetch(CBI_SOON(lk->tables->symbols.items, i, lk->tables->symbols.len)->func);
        const cbi_func *f = lk->tables->symbols.items[i]->func;
        if (f && cbi_is_wanted_entry(lk, f))
            cbi_link_min_stack(lk, f, &lk->filling->tables.late_recs);
    }
}

void cbi_link_number(const cbi_linker *lk)
{
    cbi_link_size_callgraph(lk);
    decide_sections(lk);
    if (needs_shndx(lk))
        lk->filling->buckets[shndx_of(lk)->number] = (uint8_t)bucket_of(lk, shndx_of(lk));
    order_sections(lk);
    number_symbols(lk);
    if (lk->exec)
        add_late_records(lk);
}

void cbi_link_finish_tables(const cbi_linker *lk)
{
    find_lost_constants(lk);
    find_lost_images(lk);
    find_lost_commons(lk);
    const cbi_failure *failure = cbi_deferred(lk, CBI_FAILS_AT_TABLES);
    if (failure)
        cbi_fatal(lk->ctx, "deleted-section", NULL, failure->help,
                  "Internal error: reference to deleted section");
    cbi_out_fill(lk, lk->records->shstrtab, lk->tables->shstr.data, lk->tables->shstr.size);
    fill_symtab(lk);
    cbi_link_fill_callgraph(lk);
    place_sections(lk);
}
