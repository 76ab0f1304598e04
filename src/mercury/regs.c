/* .nv_debug_info_reg_sass: per function, which machine register holds a PTX register where. */
#include "mercury/debug.h"
#include "mercury/rewrite.h"
#include "mercury/rewrite_code.h"
#include "sass/opcodes.h"

/* Functions in a map: their numbers, from 1.  Debug data may be written by a thread, which has its
 * own names: those of the link are other ones. */
static void put_function(cbi_ctx *ctx, cbi_map *map, const char *name, const cbi_func *func)
{
    cbi_map_put(ctx, map, CBI_KEY(cbi_intern(ctx, name)), (void *)((uintptr_t)func->number + 1));
}

static const cbi_func *get_function(const cbi_linker *lk, const cbi_map *map, const cbi_name *name)
{
    const uintptr_t number = (uintptr_t)cbi_map_get(map, CBI_KEY(name));
    return number && number <= lk->symbols->funcs.len ? lk->symbols->funcs.items[number - 1] : NULL;
}

/* The functions of the part's object whose copies are linked, by name. */
static void linked_functions(const cbi_linker *lk, const cbi_mercury_part *part,
                             cbi_map *ret_functions)
{
    for (uint32_t i = 1; i < part->obj->object.symbol_count; i++) {
        const cbi_symbol *s = &part->obj->object.symbols[i];
        const cbi_lsym *sym = part->obj->symbols[i];
        if (CBI_ST_TYPE(s->info) == STT_FUNC && sym && sym->func && !cbi_is_removed(lk, sym) &&
            sym->func->obj == part->obj)
            put_function(lk->ctx, ret_functions, s->name, sym->func);
    }
}

/* nvlink goes by names: of the records about functions of one name only the first counts, and it is
 * read as one about the first such function in the output.  NULL when there is none left. */
static const cbi_func *first_named(const cbi_linker *lk, cbi_mercury_debug *debug,
                                   const cbi_name *name)
{
    const uintptr_t taken = UINTPTR_MAX; /* more than any number */
    for (size_t i = lk->symbols->funcs.len; !debug->has_names && i-- > 0;) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (f->text && cbi_section_index(lk, f->text))
            put_function(lk->ctx, &debug->names, cbi_mercury_name_of(lk, f)->name->s, f);
    }
    debug->has_names = true;
    const cbi_func *first = get_function(lk, &debug->names, name);
    if (first)
        cbi_map_put(lk->ctx, &debug->names, CBI_KEY(name), (void *)taken);
    return first;
}

/* What one function's record says of a register. */
typedef struct range {
    uint32_t reg;
    size_t order;
    size_t at; /* of the two places */
    uint32_t start, end;
} range;

static uint16_t opcode_at(const cbi_func *func, uint64_t place)
{
    const cbi_span text = func->obj->mercury->file.sections[func->in_sec].data;
    return cbi_fits(place, 2, text.size) ? cbi_sass_opcode(text.data + place) : 0;
}

/* Does control leave there, or meet?  Nothing that is put in front of what follows belongs to it
 * then. */
static bool leaves(const cbi_func *func, uint64_t place)
{
    uint16_t opcode = opcode_at(func, place);
    return cbi_op_has(opcode, CBI_OPF_BRANCH | CBI_OPF_CALL) && opcode != CBI_OP_PMTRIG;
}

/* A cluster barrier for the warp: the second fence in it, or what stands behind its start. */
static uint64_t last_fence(const cbi_func *func, uint64_t sass, uint64_t end)
{
    uint64_t fence = sass + CBI_SASS_INSTRUCTION;
    for (uint64_t at = sass; at < end; at += CBI_SASS_INSTRUCTION)
        if (opcode_at(func, at) == CBI_OP_MEMBAR)
            fence = at;
    return fence;
}

/* The instruction that starts at a Mercury offset, or NULL. */
static const cbi_mercury_place *instruction_at(const cbi_mercury_places *places, uint64_t mercury)
{
    const cbi_mercury_place *place = places ? cbi_mercury_place_at(places, mercury) : NULL;
    return place ? cbi_mercury_behind_pace(places, place) : NULL;
}

/* By instruction: do branches go there? */
static const bool *targets_of(const cbi_linker *lk, const cbi_func *func)
{
    const cbi_span text = func->obj->mercury->file.sections[func->in_sec].data;
    return cbi_rewrite_targets(lk->ctx, text.data, (uint32_t)(text.size / CBI_SASS_INSTRUCTION));
}

/* Where the code of func has what the record of another one places at Mercury offsets: a range
 * starts with the last instruction before the one that follows the place, and ends with the one at
 * the place.  For places that func lacks nvlink writes what it finds in memory. */
static void foreign_range(const cbi_linker *lk, const cbi_func *func, const bool *target, range *e)
{
    const cbi_mercury_places *places = cbi_mercury_places_of(lk, func);
    const cbi_rewrite *rw = cbi_rewrite_of(lk, func);
    const cbi_mercury_place *tail = places ? &places->items[places->len - 1] : NULL;
    const cbi_mercury_place *start = instruction_at(places, e->start);
    const cbi_mercury_place *end = instruction_at(places, e->end);
    e->start = e->end = 0;
    if (start && start != tail) {
        const cbi_mercury_place *next = start + 1;
        bool ends = leaves(func, start->main) || target[next->sass / CBI_SASS_INSTRUCTION];
        uint64_t follows = ends ? cbi_rewrite_map(rw, next->sass)
                                : cbi_rewrite_self(rw, cbi_mercury_behind_pace(places, next)->own);
        if (start->main == start->sass && opcode_at(func, start->sass) == CBI_OP_WARPSYNC &&
            opcode_at(func, next->sass - CBI_SASS_INSTRUCTION) == CBI_OP_ENDCOLLECTIVE)
            follows = cbi_rewrite_self(rw, last_fence(func, start->sass, next->sass));
        e->start = (uint32_t)follows - CBI_SASS_INSTRUCTION;
        if (start->klass == CBI_CLASS_ELECT)
            e->start = (uint32_t)cbi_rewrite_self(rw, start->main);
    }
    if (end)
        e->end = (uint32_t)cbi_rewrite_self(rw, end->main);
}

/* A range starts with the last instruction before another one, which must stay in front of that. */
static uint32_t own_start(const cbi_rewrite *rw, uint32_t start)
{
    uint64_t next = (uint64_t)start + CBI_SASS_INSTRUCTION;
    if (!rw || next > rw->old_size)
        return start;
    return (uint32_t)cbi_rewrite_map(rw, next) - CBI_SASS_INSTRUCTION;
}

static void skip_string(cbi_reader *r)
{
    while (!r->bad && cbi_read8(r))
        ;
}

typedef CBI_VEC(range) range_list;

/* Reads a record behind its name. */
static bool read_ranges(const cbi_linker *lk, cbi_reader *r, range_list *ret_list)
{
    ret_list->len = 0;
    for (uint32_t count = cbi_read32(r); count && !r->bad; count--) {
        range e = {.order = ret_list->len};
        cbi_read32(r);
        skip_string(r);
        e.reg = cbi_read32(r);
        e.at = r->pos;
        e.start = cbi_read32(r);
        e.end = cbi_read32(r);
        cbi_vec_push(lk->ctx, ret_list, e);
    }
    return !r->bad;
}

static int compare(const void *a, const void *b)
{
    const range *x = a, *y = b;
    if (x->reg != y->reg)
        return cbi_order(x->reg, y->reg);
    return cbi_order(x->order, y->order);
}

void cbi_mercury_registers(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part)
{
    cbi_span bytes = cbi_mercury_part_bytes(part);
    cbi_span mercury = part->obj->object.sections[part->section].data;
    uint64_t base = debug->sass.len;
    cbi_mercury_copy(lk, debug, part, 0, bytes.size);
    cbi_reader r = cbi_reader_at(bytes, 0), m = cbi_reader_at(mercury, 0);
    range_list own_ranges = {0}, ranges = {0};
    cbi_map linked = {0};
    linked_functions(lk, part, &linked);
    while (!r.bad && r.pos < bytes.size) {
        const char *name = cbi_span_string(bytes, r.pos);
        skip_string(&r);
        skip_string(&m);
        bool known = read_ranges(lk, &m, &ranges);
        if (!name || !read_ranges(lk, &r, &own_ranges))
            return;
        const cbi_name *key = cbi_intern(lk->ctx, name);
        const cbi_func *own = get_function(lk, &linked, key);
        const cbi_func *func = lk->quirks.namesakes_confused ? first_named(lk, debug, key) : own;
        const cbi_rewrite *rw = cbi_rewrite_of(lk, func);
        /* Mercury's are in the order of the places, those of SASS in that of the registers. */
        known = known && ranges.len == own_ranges.len;
        const bool *target = NULL;
        if (known && func && func != own && ranges.len) {
            qsort(ranges.items, ranges.len, sizeof *ranges.items, compare);
            target = targets_of(lk, func);
        }
        for (size_t i = 0; i < own_ranges.len; i++) {
            range e = {0};
            if (func && func == own) {
                e.start = own_start(rw, own_ranges.items[i].start);
                e.end = (uint32_t)cbi_rewrite_map(rw, own_ranges.items[i].end);
            } else if (func && known) {
                e = ranges.items[i];
                foreign_range(lk, func, target, &e);
            }
            uint8_t *out = debug->sass.items + base + own_ranges.items[i].at;
            cbi_st32(out, e.start);
            cbi_st32(out + 4, e.end);
        }
    }
}
