/* Numbers: which sections and symbols are written, in which order, and where their names are in the
 * string tables. */
#include "base/fetch.h"
#include "link/graph.h"
#include "link/layout.h"
#include "link/loops.h"
#include "link/patches.h"
#include "link/propagate.h"
#include "link/tables_work.h"

#include <stdatomic.h>

/* ---- which sections are written ---- */

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
        work->places[i] = (cbi_out_section){
            .bytes = cbi_section_has_data(sec->type) ? sec->bytes : NULL, .size = sec->size};
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
    work->places = CBI_ARRAY_TO_FILL(lk->ctx, lk->records->secs.len, cbi_out_section);
    work->buckets = CBI_NEW_ARRAY(lk->ctx, lk->records->secs.len, uint8_t);
    cbi_link_in_shares(lk, lk->records->secs.len, look_at_sections, work);
    work->tables.places = work->places;
    return &work->tables;
}

static void decide_sections(const cbi_linker *lk)
{
    /* what follows the order of symbols is not there yet, and fills no section by itself */
    cbi_size_records(lk);
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
enum { NO_SYMBOL, ONLY_NAME, WHOLE_SYMBOL, WHOLE_ENTRY /* ... of a wanted one */ };

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
        const bool entry = survives && sym->func && cbi_is_wanted_entry(lk, sym->func);
        list->stays[sym->number] = entry                 ? WHOLE_ENTRY
                                   : survives            ? WHOLE_SYMBOL
                                   : name_stays(lk, sym) ? ONLY_NAME
                                                         : NO_SYMBOL;
        whole += survives;
    }
    atomic_fetch_add(&list->whole, whole);
}

/* ---- string tables ---- */

/* The table has room for all names. */
static uint32_t add_string(cbi_buf *table, uint32_t *offsets, const cbi_name *name)
{
    if (!name->len)
        return 0;
    if (!offsets[name->id]) {
        offsets[name->id] = (uint32_t)table->len;
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
static void name_prototypes(const cbi_linker *lk, size_t names, size_t bytes)
{
    cbi_ctx *ctx = lk->ctx;
    cbi_buf *str = &lk->filling->str;
    uint32_t *symbols = CBI_NEW_ARRAY(ctx, names, uint32_t);
    size_t room = 1 + bytes;
    for (size_t i = 0; i < lk->symbols->protos.len; i++)
        room += lk->symbols->protos.items[i]->len + 1;
    cbi_vec_reserve(ctx, str, room);
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
        const uint32_t name = add_string(&lk->filling->str, lk->filling->str_offsets, sym->name);
        if (stays == ONLY_NAME)
            continue;
        indices[sym->number] = (uint32_t)tables->symbols.len;
        cbi_vec_push(lk->ctx, &tables->symbols, sym);
        cbi_vec_push(lk->ctx, &lk->filling->symbol_names, name);
        if (stays == WHOLE_ENTRY)
            cbi_vec_push(lk->ctx, &lk->filling->entries, sym->func);
    }
}

/* What two string tables are made of: names of symbols, and of sections. */
typedef struct naming {
    symbol_list locals, globals;
    uint32_t *indices;
    size_t names, bytes; /* of the job */
} naming;

static void name_symbols(const cbi_linker *lk, void *arg)
{
    naming *all = arg;
    cbi_tables *tables = &lk->filling->tables;
    if (!lk->layout->null_symbol_removed) {
        cbi_vec_push(lk->ctx, &tables->symbols, NULL);
        cbi_vec_push(lk->ctx, &lk->filling->symbol_names, 0);
    }
    name_prototypes(lk, all->names, all->bytes);
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
    cbi_vec_reserve(ctx, shstr, 1 + all->bytes);
    cbi_buf_append(ctx, shstr, NULL, 1);
    for (size_t i = 0; i < lk->records->secs.len; i++) {
        cbi_fetch(CBI_LATER(lk->records->secs.items, i, lk->records->secs.len));
        cbi_fetch(CBI_SOON(lk->records->secs.items, i, lk->records->secs.len)->name);
        if (i >= lk->dead->len || !lk->dead->items[i])
            lk->filling->places[i].name =
                add_string(shstr, sections, lk->records->secs.items[i]->name);
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
        .bytes = lk->ctx->name_bytes,
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

/* What stands behind all other records of the module. */
static void add_late_records(const cbi_linker *lk)
{
    cbi_mark_old_objects(lk, &lk->filling->tables.late_recs);
    for (size_t i = 0; i < lk->filling->entries.len; i++)
        cbi_link_min_stack(lk, lk->filling->entries.items[i], &lk->filling->tables.late_recs);
}

void cbi_link_number(const cbi_linker *lk)
{
    cbi_link_size_callgraph(lk);
    decide_sections(lk);
    if (cbi_needs_shndx(lk))
        lk->filling->buckets[cbi_shndx_of(lk)->number] = (uint8_t)bucket_of(lk, cbi_shndx_of(lk));
    order_sections(lk);
    number_symbols(lk);
    if (lk->exec)
        add_late_records(lk);
}
