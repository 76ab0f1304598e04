/* The tables of unified functions and variables, .nv.uft.entry and .nv.udt.entry. */
#include "link/patches.h"
#include "link/tables_work.h"

#define ENTRY_SIZE 32

/* What nvlink writes to the second word of an entry: it is linked. */
#define ENTRY_LINKED 7

void cbi_link_check_unified(const cbi_linker *lk)
{
    for (size_t i = 0; lk->exec && i < lk->symbols->objs.len; i++) {
        const cbi_object *object = &lk->symbols->objs.items[i]->object;
        for (uint32_t s = 0; s < object->section_count; s++) {
            if (!cbi_is_unified_table(object->sections[s].type) || !object->sections[s].size)
                continue;
            cbi_place place = {.file = lk->symbols->objs.items[i]->file,
                               .section = object->sections[s].name};
            /* the format of index files is not public */
            cbi_fatal(lk->ctx, "unified-without-index", &place, "link with -r",
                      "Unified symbols found but index file not specified.");
        }
    }
}

/* Where symbols were when the objects so far were merged: nvlink writes an entry then, and a later
 * definition does not change it. */
static uint64_t place_so_far(const cbi_linker *lk, cbi_map *places, const cbi_lobj *obj,
                             uint32_t index)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    const uint64_t key = CBI_KEY(obj->symbols[index]);
    if (obj->symbol_lost[index] != CBI_LOST && in->shndx < obj->object.section_count)
        cbi_map_put(lk->ctx, places, key,
                    (void *)(uintptr_t)(obj->sections[in->shndx].base + in->value));
    return (uintptr_t)cbi_map_get(places, key);
}

/* map: where the table of the object lies; copy: of the whole section. */
static void fill_table(const cbi_linker *lk, cbi_map *places, const cbi_lobj *obj,
                       const cbi_section *in, const cbi_secmap *map, uint8_t *copy)
{
    uint8_t *table = copy + map->base;
    for (uint64_t off = 0; off + ENTRY_SIZE <= in->data.size; off += ENTRY_SIZE) {
        uint32_t index = cbi_ld32(in->data.data + off);
        const cbi_lsym *sym = index < obj->object.symbol_count ? obj->symbols[index] : NULL;
        if (!sym || map->base + off + ENTRY_SIZE > map->out->size)
            continue;
        cbi_st32(table + off, cbi_symbol_index(lk, sym));
        cbi_st32(table + off + 4, ENTRY_LINKED);
        cbi_st64(table + off + 8, place_so_far(lk, places, obj, index));
    }
}

static bool has_tables(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->records->few_secs.len; i++)
        if (cbi_is_unified_table(lk->records->few_secs.items[i]->type))
            return true;
    return false;
}

void cbi_link_fill_unified(const cbi_linker *lk)
{
    if (!has_tables(lk))
        return;
    uint8_t **copies = CBI_NEW_ARRAY(lk->ctx, lk->records->secs.len, uint8_t *);
    for (size_t i = 0; i < lk->records->few_secs.len; i++) {
        const cbi_osec *sec = lk->records->few_secs.items[i];
        if (!cbi_is_unified_table(sec->type))
            continue;
        copies[sec->number] = cbi_sec_copy(lk, sec);
        cbi_out_fill(lk, sec, copies[sec->number], sec->size);
    }
    cbi_map places = {0};
    for (size_t i = 0; i < lk->symbols->objs.len; i++) {
        const cbi_lobj *obj = lk->symbols->objs.items[i];
        for (uint32_t s = 0; s < obj->object.section_count; s++) {
            const cbi_section *in = &obj->object.sections[s];
            const cbi_secmap *map = &obj->sections[s];
            if (cbi_is_unified_table(in->type) && map->out && !cbi_is_dead(lk, map->out))
                fill_table(lk, &places, obj, in, map, copies[map->out->number]);
        }
    }
}
