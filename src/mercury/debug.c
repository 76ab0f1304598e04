/* The SASS side of debug sections: the inputs' sections put together as the Mercury ones were. */
#include "mercury/debug.h"

#include "format/reloc.h"

const cbi_mercury_debug *cbi_mercury_debug_of(const cbi_linker *lk, const cbi_osec *sec)
{
    return lk->merc ? cbi_map_get(&lk->merc->debug_of, CBI_KEY(sec)) : NULL;
}

static cbi_mercury_debug *open_debug(const cbi_linker *lk, const cbi_osec *sec)
{
    cbi_mercury_debug *d = cbi_map_get(&lk->merc->debug_of, CBI_KEY(sec));
    if (d)
        return d;
    d = CBI_NEW(lk->ctx, cbi_mercury_debug);
    d->sec = sec;
    cbi_map_put(lk->ctx, &lk->merc->debug_of, CBI_KEY(sec), d);
    cbi_vec_push(lk->ctx, &lk->merc->debug, d);
    return d;
}

static void collect_parts(const cbi_linker *lk)
{
    for (size_t o = 0; o < lk->symbols->objs.len; o++) {
        const cbi_lobj *obj = lk->symbols->objs.items[o];
        for (uint32_t i = 1; i < obj->object.section_count; i++) {
            const cbi_osec *sec = obj->sections[i].out;
            if (!sec || !cbi_section_index(lk, sec) || !cbi_is_debug(sec) ||
                obj->object.sections[i].type != SHT_PROGBITS)
                continue;
            cbi_mercury_part *part = cbi_vec_add(lk->ctx, &open_debug(lk, sec)->parts);
            part->obj = obj;
            part->section = i;
            part->merc_base = obj->sections[i].base;
        }
    }
}

cbi_span cbi_mercury_part_bytes(const cbi_mercury_part *part)
{
    const cbi_mercury_view *view = part->obj->mercury;
    uint32_t partner = view->sass[part->section];
    return partner ? view->file.sections[partner].data : (cbi_span){NULL, 0};
}

void cbi_mercury_copy(const cbi_linker *lk, cbi_mercury_debug *d, cbi_mercury_part *part,
                      uint64_t start, uint64_t end)
{
    cbi_span bytes;
    if (!cbi_subspan(cbi_mercury_part_bytes(part), start, end - start, &bytes))
        return;
    cbi_vec_push(lk->ctx, &part->moves, ((cbi_mercury_move){start, end, d->sass.len, false}));
    cbi_buf_append(lk->ctx, &d->sass, bytes.data, bytes.size);
}

static bool is_of_earlier(const void *part, const void *obj)
{
    return ((const cbi_mercury_part *)part)->obj->number < ((const cbi_lobj *)obj)->number;
}

/* Parts are in the order of their objects. */
static const cbi_mercury_part *part_of(const cbi_mercury_debug *d, const cbi_lobj *obj)
{
    if (!obj)
        return NULL; /* the link's own */
    size_t i = cbi_search(d->parts.items, d->parts.len, sizeof *d->parts.items, is_of_earlier, obj);
    return i < d->parts.len && d->parts.items[i].obj == obj ? &d->parts.items[i] : NULL;
}

/* What the bytes at a place of the part went with; NULL if they are gone. */
static const cbi_mercury_move *move_at(const cbi_mercury_part *part, uint64_t place)
{
    for (size_t i = 0; part && i < part->moves.len; i++) {
        const cbi_mercury_move *m = &part->moves.items[i];
        if (place >= m->start && place < m->end)
            return m;
    }
    return NULL;
}

static const cbi_mercury_move *move_of(const cbi_mercury_debug *d, const cbi_lrel *rel)
{
    return move_at(part_of(d, rel->obj), cbi_sass_of(rel)->offset);
}

bool cbi_mercury_debug_place(const cbi_mercury_debug *d, const cbi_lrel *rel, uint64_t *ret_offset)
{
    const cbi_mercury_move *m = move_of(d, rel);
    if (m)
        *ret_offset = m->out + (cbi_sass_of(rel)->offset - m->start);
    return m;
}

bool cbi_mercury_is_in_cie(const cbi_mercury_debug *debug, const cbi_lrel *rel)
{
    const cbi_mercury_move *m = move_of(debug, rel);
    return m && m->cie;
}

uint64_t cbi_mercury_debug_target(const cbi_linker *lk, const cbi_lrel *rel, int64_t addend)
{
    const cbi_mercury_debug *d =
        rel->sym && rel->sym->is_section ? cbi_mercury_debug_of(lk, rel->sym->sec) : NULL;
    const cbi_mercury_part *part = d ? part_of(d, rel->obj) : NULL;
    uint64_t at = (uint64_t)addend;
    const cbi_mercury_move *m =
        part && cbi_is_line_section(d->sec->name->s) ? move_at(part, at) : NULL;
    if (m)
        return m->out + (at - m->start);
    return (part ? part->sass_base : cbi_section_base(rel)) + at;
}

/* Does the link resolve references of the frame section to itself?  They are rebuilt with it. */
static void apply_fixups(const cbi_linker *lk, cbi_mercury_debug *d)
{
    const cbi_mercury_fixup_list *list = cbi_mercury_fixups_of(lk, d->sec);
    bool frame = strcmp(d->sec->name->s, ".debug_frame") == 0;
    for (size_t i = 0; i < list->len; i++) {
        const cbi_mercury_fixup *fix = &list->items[i];
        const cbi_reloc_type *type = cbi_reloc_find(cbi_sass_of(&fix->rel)->type);
        cbi_lrel sass = fix->rel;
        if (!cbi_sass_of(&sass)->present || !type ||
            (frame && sass.sym && sass.sym->sec == d->sec) ||
            !cbi_mercury_debug_place(d, &fix->rel, &sass.offset))
            continue;
        sass.type = cbi_sass_of(&sass)->type;
        sass.addend = cbi_sass_of(&sass)->addend;
        uint64_t value = fix->value;
        if (sass.sym && sass.sym->is_section)
            value = cbi_mercury_debug_target(lk, &fix->rel, sass.addend) - (uint64_t)sass.addend;
        cbi_link_patch(type, &sass, d->sass.items, d->sass.len, value, fix->bank);
    }
}

/* References that stay relocations on the Mercury side only: a unit's line program. */
static void apply_program_references(const cbi_linker *lk, cbi_mercury_debug *d)
{
    for (size_t i = 0; lk->exec && d->sec->rela && i < d->sec->rela->relocs.len; i++) {
        const cbi_lrel *r = d->sec->rela->relocs.items[i];
        uint64_t place;
        if (!cbi_is_prog_rel(r->type) || !cbi_sass_of(r)->present ||
            !cbi_mercury_debug_place(d, r, &place) || !cbi_fits(place, 4, d->sass.len))
            continue;
        cbi_st32(d->sass.items + place,
                 (uint32_t)cbi_mercury_debug_target(lk, r, cbi_sass_of(r)->addend));
    }
}

static void put_start(const cbi_linker *lk, cbi_map *starts, uint64_t place, int64_t addend)
{
    if (!starts || !addend)
        return;
    uint64_t *start = CBI_NEW(lk->ctx, uint64_t);
    *start = (uint64_t)addend;
    cbi_map_put(lk->ctx, starts, place, start);
}

static void put_symbol(const cbi_linker *lk, cbi_symbol_map *map, uint64_t key, const cbi_lsym *sym)
{
    cbi_vec_push(lk->ctx, &map->list, sym);
    cbi_map_put(lk->ctx, &map->numbers, key, (void *)(uintptr_t)map->list.len);
}

const cbi_lsym *cbi_symbol_map_get(const cbi_symbol_map *map, uint64_t key)
{
    uintptr_t number = (uintptr_t)cbi_map_get(&map->numbers, key);
    return number ? map->list.items[number - 1] : NULL;
}

void cbi_mercury_described(const cbi_linker *lk, const cbi_mercury_part *part,
                           cbi_symbol_map *ret_symbols, cbi_map *ret_starts)
{
    static const cbi_lsym gone;
    const cbi_mercury_view *view = part->obj->mercury;
    for (uint32_t i = 1; i < view->file.section_count; i++) {
        const cbi_section *sec = &part->obj->object.sections[i];
        if (sec->type != SHT_RELA || sec->info != part->section)
            continue;
        for (uint32_t k = 0; k < view->pair_count[i]; k++) {
            uint32_t symbol = cbi_rela_at(sec, k).symbol;
            const cbi_lsym *sym = part->obj->symbols[symbol];
            if (!view->pairs[i][k].present || !symbol || (sym && sym->is_section))
                continue;
            bool lost = !sym || part->obj->symbol_lost[symbol] || cbi_is_removed(lk, sym);
            put_symbol(lk, ret_symbols, view->pairs[i][k].offset, lost ? &gone : sym);
            put_start(lk, ret_starts, view->pairs[i][k].offset, view->pairs[i][k].addend);
        }
    }
}

void cbi_mercury_symbols(const cbi_linker *lk, const cbi_mercury_part *part,
                         cbi_symbol_map *ret_symbols, cbi_map *ret_starts)
{
    const cbi_lobj *obj = part->obj;
    for (uint32_t i = 1; i < obj->object.section_count; i++) {
        const cbi_section *sec = &obj->object.sections[i];
        if (sec->type != SHT_RELA || sec->info != part->section)
            continue;
        for (size_t k = 0; k < cbi_rela_count(sec); k++) {
            cbi_rela rela = cbi_rela_at(sec, k);
            const cbi_lsym *sym = obj->symbols[rela.symbol];
            if (!sym || sym->is_section || cbi_is_removed(lk, sym) || obj->symbol_lost[rela.symbol])
                continue;
            put_symbol(lk, ret_symbols, rela.offset, sym);
            put_start(lk, ret_starts, rela.offset, rela.addend);
        }
    }
}

static void build_section(const cbi_linker *lk, cbi_mercury_debug *d)
{
    const char *name = d->sec->name->s;
    size_t size = 0; /* about that of all parts */
    for (size_t p = 0; p < d->parts.len; p++)
        size += cbi_mercury_part_bytes(&d->parts.items[p]).size;
    cbi_vec_reserve(lk->ctx, &d->sass, size);
    for (size_t p = 0; p < d->parts.len; p++) {
        cbi_mercury_part *part = &d->parts.items[p];
        part->sass_base = d->sass.len;
        if (strcmp(name, ".debug_frame") == 0)
            cbi_mercury_frame(lk, d, part);
        else if (cbi_is_line_section(name))
            cbi_mercury_line(lk, d, part);
        else if (strcmp(name, ".nv_debug_info_reg_sass") == 0)
            cbi_mercury_registers(lk, d, part);
        else
            cbi_mercury_copy(lk, d, part, 0, cbi_mercury_part_bytes(part).size);
    }
}

void cbi_mercury_debug_build(const cbi_linker *lk)
{
    collect_parts(lk);
    /* .debug_line asks what .nv_debug_line_sass knows */
    for (unsigned others = 0; others < 2; others++) {
        for (size_t i = 0; i < lk->merc->debug.len; i++) {
            cbi_mercury_debug *d = lk->merc->debug.items[i];
            if (cbi_is_fine_line_section(d->sec->name->s) != others)
                build_section(lk, d);
        }
    }
    for (size_t i = 0; i < lk->merc->debug.len; i++) {
        apply_fixups(lk, lk->merc->debug.items[i]);
        apply_program_references(lk, lk->merc->debug.items[i]);
    }
}
