/* Attribute records: how large each section of them is, and what is in it. */
#include "base/fetch.h"
#include "format/eiattr.h"
#include "link/tables_work.h"

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

static inline void fetch_named(const cbi_rec_table *recs, size_t i)
{
    const cbi_rec *soon = &CBI_SOON_BACK(recs->items, recs->len - 1 - i);
    if (soon->has_symbol)
        cbi_fetch(soon->symbol);
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

void cbi_size_records(const cbi_linker *lk)
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
        const uint32_t info = lk->graph->numbers[i - 1].info;
        if (info)
            lk->filling->places[info - 1].size += sizes[i];
    }
    lk->filling->record_sizes = sizes;
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
        cbi_st32(at + 4 * i, cbi_symbol_number(lk, rec->symbols[i]));
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
            cbi_st32(at, cbi_symbol_number(lk, rec->symbol));
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
        fetch_named(&recs, i);
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

/* By which number the table of sizes knows the records of each section. */
static uint32_t *find_streams(const cbi_linker *lk)
{
    uint32_t *streams = CBI_NEW_ARRAY(lk->ctx, lk->records->secs.len, uint32_t);
    for (uint32_t i = 0; i < lk->graph->calls.func_count; i++)
        if (lk->graph->numbers[i].info)
            streams[lk->graph->numbers[i].info - 1] = i + 1;
    return streams;
}

/* Sections that follow each other in the file do so in memory, which makes them one part. */
static uint8_t **open_streams(const cbi_linker *lk, const uint64_t *sizes, size_t count)
{
    static const uint8_t nothing[1];
    uint8_t **at = CBI_NEW_ARRAY(lk->ctx, count, uint8_t *);
    uint32_t *streams = find_streams(lk);
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += sizes[i];
    uint8_t *next = CBI_ARRAY_TO_FILL(lk->ctx, total + 1, uint8_t);
    for (size_t i = 0; i < lk->records->info_secs.len; i++) {
        cbi_fetch(CBI_LATER(lk->records->info_secs.items, i, lk->records->info_secs.len));
        const cbi_osec *sec = lk->records->info_secs.items[i];
        if (!cbi_section_index(lk, sec))
            continue;
        size_t stream = streams[sec->number];
        if (!stream && sec != lk->records->info) {
            cbi_out_fill(lk, sec, nothing, 0);
            continue;
        }
        at[stream] = next;
        cbi_out_fill(lk, sec, next, sizes[stream]);
        next += sizes[stream];
    }
    cbi_take_back(lk->ctx, streams, lk->records->secs.len * sizeof *streams);
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
