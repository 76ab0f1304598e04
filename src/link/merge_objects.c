/* Merging one object, pass B: symbols other than functions. */
#include "link/merge_work.h"

static void lose_bytes(const cbi_linker *lk, cbi_lobj *obj, uint32_t index)
{
    const cbi_symbol *s = &obj->object.symbols[index];
    if (!obj->lost)
        obj->lost = CBI_NEW_ARRAY(lk->ctx, obj->object.symbol_count, cbi_lost);
    obj->lost[obj->lost_count++] = (cbi_lost){s->shndx, s->value, s->value + s->size};
}

/* Position-independent code has a bank of addresses; each has a symbol, internal but resolved like
 * those of variables. */
static bool is_address(const cbi_lobj *obj, const cbi_symbol *s)
{
    if (s->shndx == SHN_UNDEF || s->shndx >= obj->object.section_count)
        return false;
    return cbi_is_address_bank(obj->object.sections[s->shndx].type);
}

/* Of each that a symbol which is no function gets. */
static void meet(const cbi_linker *lk, uint8_t other)
{
    lk->merging->symbols.met.shared |= (other & STO_CUDA_SPACE) == STO_CUDA_SHARED;
}

static cbi_lsym *new_object_symbol(const cbi_linker *lk, const cbi_lobj *obj, const cbi_symbol *s,
                                   const cbi_name *name)
{
    uint8_t bind = CBI_ST_BIND(s->info);
    bool defined = s->shndx != SHN_UNDEF && s->shndx != SHN_COMMON;
    /* The dynamic variables of an earlier -r link hide from other files. */
    bool internal = CUDA_IS_INTERNAL(s->other) && !is_address(obj, s);
    bool local_list = bind == STB_LOCAL || (bind == STB_WEAK && defined) || internal;
    uint8_t info = s->info;
    if (!defined && bind == STB_WEAK && !internal)
        info = CBI_ST_INFO(STB_GLOBAL, CBI_ST_TYPE(s->info));
    cbi_lsym *sym = cbi_sym_create(lk, name, info, s->other, local_list);
    meet(lk, s->other);
    sym->first_obj = cbi_obj_id(obj);
    sym->internal = is_address(obj, s);
    sym->size = s->size;
    sym->value = s->value;
    if (bind != STB_LOCAL)
        cbi_name_put(lk->ctx, &lk->merging->sym_by_name, sym->name, sym);
    return sym;
}

static void define_object(const cbi_linker *lk, const cbi_lobj *obj, const cbi_symbol *s,
                          cbi_lsym *sym, const cbi_secmap *map)
{
    meet(lk, s->other);
    const cbi_section *in = &obj->object.sections[s->shndx];
    bool uninitialised = !cbi_section_has_data(in->type);
    if (sym->common_pending && !uninitialised)
        sym->common_pending = false;
    if (sym->state == CBI_SYM_COMMON && !uninitialised)
        sym->named_obj = cbi_obj_id(obj);
    sym->state = CBI_SYM_DEFINED;
    if (!sym->common_pending)
        sym->def_obj = cbi_obj_id(obj);
    sym->info = s->info;
    sym->other = s->other;
    sym->size = s->size;
    sym->sec = map->out;
    sym->value = s->value + map->base;
    sym->initialised = !uninitialised;
}

static cbi_shared *list_shared(const cbi_linker *lk, cbi_lsym *sym, uint64_t align, cbi_osec *sec)
{
    cbi_shared *var = CBI_NEW(lk->ctx, cbi_shared);
    *var = (cbi_shared){.sym = sym, .align = align};
    cbi_variable *facts = cbi_variable_in(lk, sym);
    if (!facts->listed)
        facts->shared_align = align;
    facts->listed++;
    if (sec->func || sec->type == SHT_CUDA_SHARED_RESERVED)
        cbi_vec_push(lk->ctx, &cbi_shared_in(lk, sec)->variables, var);
    else
        cbi_vec_push(lk->ctx, &lk->merging->symbols.shared, var);
    return var;
}

void cbi_list_shared(const cbi_linker *lk, cbi_lsym *sym, uint64_t align, cbi_osec *sec)
{
    list_shared(lk, sym, align, sec);
}

static cbi_osec *debug_shared(const cbi_linker *lk)
{
    if (!lk->records->debug_shared)
        lk->records->debug_shared = cbi_sec_create(lk, cbi_intern(lk->ctx, ".nv_debug.shared"),
                                                   SHT_CUDA_SHARED, SHF_ALLOC | SHF_WRITE, 1, 0);
    return lk->records->debug_shared;
}

static void merge_common(const cbi_linker *lk, cbi_lobj *obj, const cbi_symbol *s, cbi_lsym *sym)
{
    meet(lk, s->other);
    if (sym->state != CBI_SYM_COMMON) {
        if (sym->state == CBI_SYM_UNDEF)
            sym->info = s->info; /* one that was weak stays so, although it is replaced */
        sym->state = CBI_SYM_COMMON;
        sym->def_obj = cbi_obj_id(obj);
        sym->named_obj = cbi_obj_id(obj);
        sym->other = s->other;
        sym->size = s->size;
        sym->value = s->value;
        sym->common_pending = true;
        cbi_variable_in(lk, sym)->common_align = s->value;
        cbi_vec_push(lk->ctx, &lk->merging->symbols.commons, sym);
        return;
    }
    if (s->size > sym->size) {
        sym->size = s->size;
        sym->def_obj = cbi_obj_id(obj);
        sym->named_obj = cbi_obj_id(obj);
    }
    /* The first one's alignment stays. */
}

/* A number that the link fills in, see cbi_layout_constant_size: one symbol for all objects. */
static void merge_constant_size(const cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_symbol *s = &obj->object.symbols[i];
    if (lk->symbols->constant_size) {
        obj->symbols[i] = lk->merging->symbols.constant_size;
        return;
    }
    uint8_t info = CBI_ST_INFO(CBI_ST_BIND(s->info), STT_CUDA_OBJECT);
    cbi_lsym *sym = cbi_sym_create(lk, cbi_symbol_name(lk, s), info, s->other, true);
    meet(lk, s->other);
    sym->internal = true;
    sym->first_obj = cbi_obj_id(obj);
    sym->def_obj = cbi_obj_id(obj);
    sym->state = CBI_SYM_DEFINED;
    sym->size = s->size;
    obj->symbols[i] = sym;
    lk->merging->symbols.constant_size = sym;
}

static bool ends_before(const void *range, const void *start)
{
    const cbi_range *r = range;
    return r->start + r->size <= *(const uint64_t *)start;
}

/* Notes that a constant lies from start to end. It may lie on another one, or start where that does
 * and be longer, up to what follows or to the end of that; else nvlink refuses one that starts on
 * another. */
static void cover(const cbi_linker *lk, const cbi_osec *out, cbi_constants *constants,
                  uint64_t start, uint64_t end)
{
    if (!lk->quirks.constants_overlap || start >= end)
        return;
    cbi_range_list *all = &constants->covered;
    size_t at = cbi_search(all->items, all->len, sizeof *all->items, ends_before, &start);
    if (at == all->len || start < all->items[at].start) {
        cbi_vec_push(lk->ctx, all, ((cbi_range){0}));
        cbi_range *r = all->items + at;
        memmove(r + 1, r, (all->len - 1 - at) * sizeof *r);
        bool last = at + 1 == all->len;
        *r = (cbi_range){start, (last || end < r[1].start ? end : r[1].start) - start};
        return;
    }
    cbi_range *r = all->items + at;
    if (end <= r->start + r->size)
        return;
    const cbi_range *next = at + 1 < all->len ? r + 1 : NULL;
    bool meets = next && end > next->start;
    if (start != r->start || (meets && end != next->start + next->size))
        cbi_fatal(lk->ctx, "overlapping-data", &(cbi_place){.section = out->name->s}, NULL,
                  "Internal error: overlapping data spans too much");
    r->size = (meets ? next->start : end) - start;
}

/* A constant of a further copy at the place of those that nvlink forgot to empty: it may repeat
 * them, and be longer than the last. */
static void overlay_constant(const cbi_linker *lk, cbi_osec *out, cbi_span bytes, uint64_t start)
{
    uint64_t end = start + bytes.size;
    for (size_t i = 0; i < out->pieces.len; i++) {
        const cbi_piece *piece = &out->pieces.items[i];
        uint64_t from = piece->offset, to = from + piece->bytes.size;
        uint64_t low = from > start ? from : start, high = to < end ? to : end;
        if (low >= high)
            continue;
        /* Mercury tables have no bytes before they are relocated. */
        if (!lk->mercury &&
            memcmp(piece->bytes.data + (low - from), bytes.data + (low - start), high - low) != 0)
            cbi_fatal(lk->ctx, "overlapping-data", &(cbi_place){.section = out->name->s}, NULL,
                      "Internal error: overlapping non-identical data");
    }
    cbi_vec_push(lk->ctx, &out->pieces, ((cbi_piece){.bytes = bytes, .offset = start}));
    out->size = end > out->size ? end : out->size;
}

/* Optimizer constants go by symbol: what a section has behind the last one, dead space of an
 * earlier -r link, is left out. */
static cbi_secmap *merge_optimizer(const cbi_linker *lk, cbi_lobj *obj, const cbi_symbol *s)
{
    const cbi_section *in = &obj->object.sections[s->shndx];
    cbi_secmap *map = &obj->sections[s->shndx];
    if (!map->out) {
        map->out = cbi_open_section(lk, obj, s->shndx);
        map->base = cbi_sec_append(lk, map->out, (cbi_span){0}, 0, in->align);
        if (cbi_constants_of(map->out)->kept_contents)
            map->base = 0;
    }
    cbi_constants *constants = cbi_constants_in(lk, map->out);
    if (constants->kept_contents && cbi_fits(s->value, s->size, in->data.size)) {
        overlay_constant(lk, map->out, (cbi_span){in->data.data + s->value, s->size}, s->value);
        cover(lk, map->out, constants, s->value, s->value + s->size);
        constants->used_size = map->out->size;
        return map;
    }
    /* An earlier -r link also leaves symbols of a replaced copy, which may end behind the section:
     * nvlink takes what follows in the file for their bytes. */
    uint64_t have = map->out->size - map->base;
    uint64_t end = s->value + s->size;
    cover(lk, map->out, constants, map->base + s->value, map->base + end);
    if (end > have) {
        const cbi_span *file = &obj->object.bytes;
        uint64_t at = (uint64_t)(in->data.data - file->data) + have;
        cbi_span bytes = {0};
        if (in->data.size && at < file->size)
            bytes = (cbi_span){file->data + at,
                               end - have < file->size - at ? end - have : file->size - at};
        cbi_sec_append(lk, map->out, bytes, end - have, 1);
    }
    constants->own_contents = true;
    constants->used_size = map->out->size;
    return map;
}

/* An internal symbol of a copy that lost: -r and --preserve-relocs show that of the parameters of
 * every copy. */
static void lose_internal(const cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_symbol *s = &obj->object.symbols[i];
    const cbi_section *in = &obj->object.sections[s->shndx];
    obj->symbol_lost[i] = CBI_LOST;
    cbi_osec *text = cbi_section_target(obj, in);
    if ((lk->exec && !lk->opt->preserve_relocs) || !text || !text->func ||
        in->type != SHT_CUDA_CONSTANT_B0)
        return;
    cbi_secmap winner = {.out = text->func->constant0};
    if (!cbi_is_weak(text->func->sym))
        winner = *cbi_merge_section(lk, obj, s->shndx);
    cbi_lsym *sym = cbi_sym_create(lk, cbi_symbol_name(lk, s), s->info, s->other, true);
    sym->internal = true;
    define_object(lk, obj, s, sym, &winner);
}

static void merge_internal(const cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_symbol *s = &obj->object.symbols[i];
    if (CBI_ST_TYPE(s->info) == STT_NOTYPE && !s->name[0])
        return;
    if (s->shndx == SHN_UNDEF && strcmp(s->name, ".nv.ptx.const0.size") == 0) {
        merge_constant_size(lk, obj, i);
        return;
    }
    if (s->shndx == SHN_UNDEF || s->shndx >= obj->object.section_count)
        return;
    if (cbi_belongs_to_lost(obj, s->shndx)) {
        lose_internal(lk, obj, i);
        return;
    }
    cbi_secmap *map = cbi_is_optimizer_type(obj->object.sections[s->shndx].type)
                          ? merge_optimizer(lk, obj, s)
                          : cbi_merge_section(lk, obj, s->shndx);
    cbi_lsym *sym = cbi_sym_create(lk, cbi_symbol_name(lk, s), s->info, s->other, true);
    sym->internal = true;
    sym->first_obj = cbi_obj_id(obj);
    define_object(lk, obj, s, sym, map);
    obj->symbols[i] = sym;
}

static void merge_defined(const cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_symbol *s = &obj->object.symbols[i];
    const cbi_section *in = &obj->object.sections[s->shndx];
    /* The shared variables of a copy that lost join the winner's; of an unwanted kernel only the
     * section's name remains. */
    if (in->type == SHT_CUDA_SHARED && cbi_belongs_to_lost(obj, s->shndx) &&
        !cbi_section_target(obj, in)) {
        const cbi_name *name = cbi_section_name(lk, obj, s->shndx);
        if (!cbi_sec_find(lk, name))
            cbi_sec_create(lk, name, in->type, in->flags, 0, 0);
        obj->symbol_lost[i] = CBI_LOST;
        return;
    }
    if (in->flags & SHF_EXECINSTR && obj->sections[s->shndx].lost) {
        obj->symbol_lost[i] = CBI_LOST; /* a texture that is a parameter */
        return;
    }
    cbi_lsym *sym;
    const cbi_name *name = cbi_symbol_name(lk, s);
    cbi_verdict verdict = cbi_resolve_object(lk, obj, i, name, &sym);
    obj->symbols[i] = sym;
    if (verdict == CBI_LOSES) {
        obj->symbol_lost[i] = CBI_LOST;
        if (sym && CBI_ST_BIND(sym->info) == STB_WEAK && CBI_ST_BIND(s->info) == STB_WEAK &&
            in->type == SHT_CUDA_GLOBAL_INIT)
            lose_bytes(lk, obj, i);
        return;
    }
    /* The section comes before its first object, so its symbol precedes the object's. */
    cbi_secmap *map = cbi_merge_section(lk, obj, s->shndx);
    if (!sym) {
        sym = new_object_symbol(lk, obj, s, name);
        if (cbi_is_image(sym)) /* a kernel's parameter */
            cbi_vec_push(lk->ctx, &lk->merging->symbols.images, sym);
    }
    obj->symbols[i] = sym;
    if (cbi_is_weak(sym) && (s->other & STO_CUDA_SPACE) == STO_CUDA_GLOBAL) {
        cbi_variable_in(lk, sym)->replaced_at = obj->number;
        lk->merging->symbols.met.copies = true;
    }
    define_object(lk, obj, s, sym, map);
    if (in->type == SHT_CUDA_SHARED) {
        /* The value is the alignment, but where ptxas -ewp has given places already. */
        uint64_t align = obj->ewp ? 1 : s->value;
        /* Not the header's alignment: -r raises that for dynamic variables. */
        if (!map->out->func && align > map->out->align)
            map->out->align = align;
        sym->dynamic |= !map->out->func && s->size == 0;
        /* A replaced weak variable is laid out twice; its later place counts.  One first met as
         * dynamic is not laid out at all, but stands twice in the order of the others. */
        cbi_shared *var = list_shared(lk, sym, align, map->out);
        var->placed_end = obj->ewp ? s->value + s->size : 0;
    } else if (in->type == SHT_CUDA_SHARED_RESERVED && cbi_is_reserved_var(sym) &&
               s->value <= UINT16_MAX && s->size <= UINT16_MAX) {
        cbi_list_shared(lk, sym, s->value, map->out);
    }
}

static void merge_undefined(const cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_symbol *s = &obj->object.symbols[i];
    cbi_lsym *sym;
    /* A label of debug data whose code the compiler removed: relocations to it go. */
    if (CBI_ST_BIND(s->info) == STB_LOCAL && CBI_ST_TYPE(s->info) == STT_NOTYPE) {
        obj->symbol_lost[i] = CBI_LOST;
        return;
    }
    const cbi_name *name = cbi_symbol_name(lk, s);
    cbi_verdict verdict = cbi_resolve_object(lk, obj, i, name, &sym);
    if (verdict == CBI_NEW) {
        bool shared = (s->other & STO_CUDA_SPACE) == STO_CUDA_SHARED;
        cbi_osec *section = shared && s->size == 0 ? debug_shared(lk) : NULL;
        sym = new_object_symbol(lk, obj, s, name);
        if (shared) {
            sym->dynamic = section != NULL;
            cbi_variable_in(lk, sym)->shared_align = s->value;
            if (section)
                cbi_list_shared(lk, sym, s->value, section);
            /* That of an earlier -r link has a place, which passes for an alignment. */
            if (section && s->value > section->align)
                section->align = s->value;
        } else if (cbi_is_image(sym)) {
            cbi_vec_push(lk->ctx, &lk->merging->symbols.images, sym);
        }
    }
    obj->symbols[i] = sym;
}

/* ptxas -ewp marks the reserved area with symbols without type, which say nothing. */
static bool is_reserved_mark(const cbi_lobj *obj, const cbi_symbol *s)
{
    return CBI_ST_TYPE(s->info) == STT_NOTYPE && s->shndx < obj->object.section_count &&
           obj->object.sections[s->shndx].type == SHT_CUDA_SHARED_RESERVED;
}

void cbi_merge_objects(const cbi_linker *lk, cbi_lobj *obj)
{
    const cbi_object *in = &obj->object;
    for (uint32_t i = 1; i < in->symbol_count; i++) {
        const cbi_symbol *s = &in->symbols[i];
        uint8_t type = CBI_ST_TYPE(s->info);
        if (type == STT_SECTION)
            continue;
        if (CUDA_IS_INTERNAL(s->other) && !((s->other & STO_CUDA_SPACE) == STO_CUDA_SHARED) &&
            !is_address(obj, s)) {
            merge_internal(lk, obj, i);
            continue;
        }
        if (type == STT_FUNC || is_reserved_mark(obj, s))
            continue;
        if (s->shndx == SHN_UNDEF) {
            merge_undefined(lk, obj, i);
        } else if (s->shndx == SHN_COMMON) {
            cbi_lsym *sym;
            const cbi_name *name = cbi_symbol_name(lk, s);
            cbi_verdict verdict = cbi_resolve_object(lk, obj, i, name, &sym);
            if (verdict == CBI_NEW)
                sym = new_object_symbol(lk, obj, s, name);
            obj->symbols[i] = sym;
            if (verdict == CBI_NEW || verdict == CBI_WINS)
                merge_common(lk, obj, s, sym);
        } else if (s->shndx < in->section_count) {
            merge_defined(lk, obj, i);
        }
    }
}
