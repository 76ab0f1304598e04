/* Relocation lists, .nv.compat and the two symbol tables of the final file. */
#include "format/eicompat.h"
#include "mercury/emit.h"

#include "capsule/units.h"
#include "format/reloc.h"
#include "mercury/rewrite.h"

/* ---- relocations ---- */

static uint32_t sass_type(const cbi_linker *lk, const cbi_lrel *r)
{
    const cbi_reloc_type *type = cbi_reloc_find(cbi_sass_of(r)->type);
    if (lk->exec && type && type->action == CBI_RELOC_UNIFIED)
        return type->plain;
    return cbi_sass_of(r)->type;
}

static bool is_resolved_on_sass_side(const cbi_linker *lk, const cbi_lrel *r)
{
    if (!lk->exec)
        return false;
    return cbi_is_prog_rel(r->type) ||
           (r->sym && cbi_is_reserved_var(r->sym) && r->sym->state != CBI_SYM_UNDEF);
}

static int compare_places(const void *a, const void *b)
{
    uint64_t x = cbi_ld64(a), y = cbi_ld64(b);
    return cbi_order(x, y);
}

/* Where code lies that debug data refers to. Of a copy that is not linked nvlink looks the Mercury
 * place up in the one that is, by units: the first instruction that does not lie before it, or the
 * end; 0 inside of the last one. */
static int64_t code_addend(const cbi_linker *lk, const cbi_lrel *r, bool debug)
{
    int64_t addend = cbi_sass_of(r)->addend;
    const cbi_func *func = r->sym->func;
    if (debug && r->obj != func->obj) {
        const cbi_mercury_places *places = cbi_mercury_places_of(lk, func);
        if (!places)
            return addend;
        const uint64_t unit = (uint64_t)r->addend - (uint64_t)r->addend % CBI_MERCURY_UNIT;
        const cbi_mercury_place *place = cbi_mercury_place_from(places, unit);
        bool inside = unit < places->items[places->len - 1].mercury;
        addend = place ? (int64_t)place->sass : inside ? 0 : (int64_t)func->text->size;
    }
    return (int64_t)cbi_rewrite_map(cbi_rewrite_of(lk, func), (uint64_t)addend);
}

cbi_buf cbi_mercury_sass_relocs(const cbi_linker *lk, const cbi_osec *sec)
{
    cbi_buf out = {0};
    const cbi_mercury_debug *debug = cbi_mercury_debug_of(lk, sec->target);
    for (size_t i = 0; i < sec->relocs.len; i++) {
        const cbi_lrel *r = sec->relocs.items[i];
        if (sec->target->type == SHT_CUDA_MERC_IMAGE_INDICES) {
            uint8_t *p = cbi_buf_append(lk->ctx, &out, NULL, 24);
            cbi_st64(p, lk->layout->images_start + r->offset);
            cbi_st64(p + 8, (uint64_t)cbi_symbol_index(lk, r->sym) << 32 |
                                cbi_reloc_find(r->type)->sass_data);
            continue;
        }
        if (!cbi_sass_of(r)->present || is_resolved_on_sass_side(lk, r))
            continue;
        uint64_t offset = r->offset;
        if (debug && !cbi_mercury_debug_place(debug, r, &offset))
            continue;
        if (debug && lk->quirks.return_rules_forgotten && (!lk->exec || lk->shows_debug) &&
            cbi_mercury_is_in_cie(debug, r))
            offset = 0;
        if (cbi_is_text(sec->target))
            offset =
                cbi_rewrite_self(cbi_rewrite_of(lk, sec->target->func), cbi_sass_of(r)->offset);
        uint32_t type = sass_type(lk, r);
        /* Resolved entries of static functions that share a name stand in one list; nvlink reads
         * them all as ones of its first function. */
        if (lk->quirks.namesakes_confused && sec->type == SHT_CUDA_RESOLVED_RELA &&
            r->target != sec->target && r->type == R_MERCURY_ABS32 && sec->target->func)
            cbi_mercury_patched_at(lk, sec->target->func, r->offset, &offset, &type);
        int64_t addend =
            r->sym && r->sym->func ? code_addend(lk, r, debug) : cbi_sass_of(r)->addend;
        if (r->sym && r->sym->is_section)
            addend = (int64_t)cbi_mercury_debug_target(lk, r, addend);
        uint8_t *p = cbi_buf_append(lk->ctx, &out, NULL, 24);
        uint64_t symbol = r->sym ? cbi_symbol_index(lk, r->sym) : 0;
        cbi_st64(p, offset);
        cbi_st64(p + 8, symbol << 32 | type);
        cbi_st64(p + 16, (uint64_t)addend);
    }
    if (sec->type == SHT_RELA && cbi_is_text(sec->target) && sec->target->func)
        cbi_mercury_keep_yields(lk, sec->target->func, &out);
    /* Line programs are written anew, with their addresses in order. */
    if (debug && out.len && cbi_is_line_section(sec->target->name->s))
        qsort(out.items, out.len / 24, 24, compare_places);
    return out;
}

/* ---- jump tables ---- */

/* Places in a function's code that its own tables name: Mercury -> SASS. */
static void named_places(const cbi_linker *lk, const cbi_func *f, cbi_map *ret_places)
{
    const cbi_mercury_view *view = f->obj->mercury;
    const cbi_object *in = &f->obj->object;
    for (uint32_t i = 1; i < in->section_count; i++) {
        const cbi_section *sec = &in->sections[i];
        if (sec->type != SHT_RELA || !sec->info || sec->info >= in->section_count ||
            in->sections[sec->info].type != SHT_CUDA_MERC_CONSTANT_OPT ||
            in->sections[sec->info].info != f->in_sec)
            continue;
        cbi_span table = in->sections[sec->info].data;
        for (uint32_t k = 0; k < view->pair_count[i]; k++) {
            cbi_rela entry = cbi_rela_at(sec, k);
            if (cbi_fits(entry.offset, 4, table.size))
                cbi_map_put(lk->ctx, ret_places, (uint64_t)entry.addend + 1,
                            (void *)(uintptr_t)(cbi_ld32(table.data + entry.offset) + 1));
        }
    }
}

/* Targets of the function's indirect branches, as its attributes list them: Mercury -> SASS. */
static void branch_targets(const cbi_linker *lk, const cbi_func *f, cbi_map *ret_places)
{
    enum { LIST_HEADER = 12 };
    const cbi_object *in = &f->obj->object;
    const cbi_mercury_places *places = cbi_mercury_places_of(lk, f);
    for (uint32_t i = 1; places && i < in->section_count; i++) {
        const cbi_section *sec = &in->sections[i];
        size_t pos = 0;
        cbi_attr attr;
        if (sec->type != SHT_CUDA_INFO || sec->info != f->in_sec)
            continue;
        while (cbi_attr_next(sec->data, &pos, &attr)) {
            if (attr.format != CBI_ATTR_SIZED || attr.code != EIATTR_INDIRECT_BRANCH_TARGETS)
                continue;
            const uint8_t *p = attr.payload.data;
            for (size_t at = 0; at + LIST_HEADER <= attr.payload.size;) {
                uint32_t count = cbi_ld32(p + at + 8);
                for (at += LIST_HEADER; count && at + 4 <= attr.payload.size; count--, at += 4) {
                    const cbi_mercury_place *place = cbi_mercury_place_at(places, cbi_ld32(p + at));
                    if (place)
                        cbi_map_put(lk->ctx, ret_places, (uint64_t)place->mercury + 1,
                                    (void *)(uintptr_t)(place->sass + 1));
                }
            }
        }
    }
}

/* Where a function within a kernel's code is on the SASS side; others are at 0. */
static uint64_t inner_place(const cbi_linker *lk, const cbi_func *f)
{
    if (!f || !cbi_is_inner(lk, f))
        return 0;
    return cbi_rewrite_map(cbi_rewrite_of(lk, f->alias_of),
                           f->obj->mercury->file.symbols[f->in_sym].value);
}

uint8_t *cbi_mercury_tables(const cbi_linker *lk, const cbi_osec *sec)
{
    /* Of two sections for one function nvlink fills in neither. */
    const cbi_osec *old = sec->func ? sec->func->old_constants : NULL;
    const cbi_osec *own = old ? sec->func->constant2 : NULL;
    if (own && cbi_section_index(lk, old) && cbi_section_index(lk, own))
        return cbi_alloc(lk->ctx, sec->size);
    uint8_t *bytes = cbi_memdup(lk->ctx, sec->bytes, sec->size);
    cbi_map places = {0};
    const cbi_func *known = NULL;
    for (size_t i = 0; sec->rela && i < sec->rela->relocs.len; i++) {
        const cbi_lrel *r = sec->rela->relocs.items[i];
        const cbi_func *f = r->sym ? r->sym->func : NULL;
        if (!f || !f->obj || !cbi_fits(r->offset, 4, sec->size))
            continue;
        if (cbi_is_inner(lk, f) && !r->addend) { /* a table of functions */
            cbi_st32(bytes + r->offset, (uint32_t)inner_place(lk, f));
            continue;
        }
        /* Tables that replaced copies left can lie below others: the later entry counts. */
        uint32_t value = cbi_ld32(sec->bytes + r->offset);
        if (known != f) {
            memset(&places, 0, sizeof places);
            if (cbi_mercury_places_of(lk, f))
                branch_targets(lk, f, &places);
            else
                named_places(lk, f, &places);
            known = f;
        }
        uintptr_t place = (uintptr_t)cbi_map_get(&places, (uint64_t)r->addend + 1);
        if (place)
            value = (uint32_t)(place - 1);
        else if (r->obj != f->obj || f->obj->mercury->borrowed[f->in_sec])
            value = 0; /* the table of a copy that lost, or places that a namesake's list lacks */
        cbi_st32(bytes + r->offset, (uint32_t)cbi_rewrite_map(cbi_rewrite_of(lk, f), value));
    }
    return bytes;
}

/* Addresses of functions within a kernel's code, which stay relocations on the Mercury side. */
const uint8_t *cbi_mercury_data(const cbi_linker *lk, const cbi_osec *sec)
{
    uint8_t *bytes = NULL;
    for (size_t i = 0; sec->rela && i < sec->rela->relocs.len; i++) {
        const cbi_lrel *r = sec->rela->relocs.items[i];
        if (!cbi_is_prog_rel(r->type) || !r->sym)
            continue;
        if (!bytes)
            bytes = cbi_memdup(lk->ctx, sec->bytes, sec->size);
        const uint64_t place = inner_place(lk, r->sym->func);
        cbi_link_patch(cbi_reloc_find(r->type), r, bytes, sec->size, place, 0);
    }
    return bytes ? bytes : sec->bytes;
}

/* ---- .nv.compat ---- */

cbi_buf cbi_mercury_compat(const cbi_linker *lk, const cbi_osec *sec)
{
    cbi_buf out = {0};
    const cbi_span merged = {cbi_out_of(lk, sec)->bytes, cbi_out_of(lk, sec)->size};
    cbi_buf_append(lk->ctx, &out, merged.data, merged.size);
    uint8_t *p = cbi_buf_append(lk->ctx, &out, NULL, 12);
    p[0] = 4;
    p[1] = EICOMPAT_CAN_FASTPATH_FINALIZE;
    cbi_st16(p + 2, 8);
    cbi_st64(p + 4, cbi_mercury_mask(lk, merged));
    return out;
}

/* ---- symbols ---- */

static uint64_t reserved_value(const cbi_lsym *sym, uint64_t fallback)
{
    if (strcmp(sym->name->s, ".nv.reservedSmem.offset0") == 0)
        return CUDA_RESERVED_SHARED_OWN;
    if (strcmp(sym->name->s, ".nv.reservedSmem.cap") == 0)
        return CUDA_RESERVED_SHARED;
    return fallback;
}

const cbi_lsym *cbi_mercury_name_of(const cbi_linker *lk, const cbi_func *func)
{
    cbi_map *names = &lk->merc->names;
    for (size_t i = names->len ? 0 : lk->tables->symbols.len; i-- > 1;) {
        const cbi_lsym *sym = lk->tables->symbols.items[i];
        if (sym->func && !cbi_is_inner(lk, sym->func) && sym->sec && sym->state == CBI_SYM_DEFINED)
            cbi_map_put(lk->ctx, names, CBI_KEY(sym->sec), (void *)(uintptr_t)i);
    }
    uintptr_t index = (uintptr_t)cbi_map_get(names, CBI_KEY(func->sym->sec));
    return index ? lk->tables->symbols.items[index] : func->sym;
}

static uint64_t code_size(const cbi_linker *lk, const cbi_func *f)
{
    if (f->alias_of && cbi_mercury_name_of(lk, f) == f->sym)
        f = f->alias_of;
    const cbi_rewrite *rw = cbi_rewrite_of(lk, f);
    if (rw)
        return rw->size;
    return f->obj ? f->obj->mercury->file.symbols[f->in_sym].size : 0;
}

/* A function within a kernel's code, where the SASS side has it. */
static void inner_symbol(const cbi_linker *lk, const cbi_func *f, uint8_t *p)
{
    const cbi_symbol *in = &f->obj->mercury->file.symbols[f->in_sym];
    const cbi_rewrite *rw = cbi_rewrite_of(lk, f->alias_of);
    uint64_t start = in->value, end = in->value + in->size;
    if (rw) {
        start = cbi_rewrite_map(rw, start);
        end = cbi_rewrite_map(rw, end);
    }
    cbi_st64(p + 8, start);
    cbi_st64(p + 16, end - start);
}

/* What the SASS table says differently. */
static void sass_symbol(const cbi_linker *lk, const cbi_lsym *sym, uint8_t *p)
{
    bool undefined = cbi_placement_of(lk, sym).state == CBI_SYM_UNDEF;
    if (sym->func && !undefined && cbi_is_inner(lk, sym->func))
        inner_symbol(lk, sym->func, p);
    else if (sym->func && !undefined)
        cbi_st64(p + 16, code_size(lk, sym->func));
    if (undefined && !sym->func)
        cbi_st64(p + 8, reserved_value(sym, cbi_ld64(p + 8)));
    if (!lk->exec)
        return;
    if (cbi_is_reserved_var(sym) && !undefined)
        cbi_st64(p + 8, cbi_ld64(p + 8) + CUDA_RESERVED_SHARED_OWN);
    bool shared =
        !sym->func && !sym->is_section && (sym->other & STO_CUDA_SPACE) == STO_CUDA_SHARED;
    bool global = (sym->other & STO_CUDA_SPACE) == STO_CUDA_GLOBAL;
    if (CBI_ST_TYPE(sym->info) == STT_CUDA_OBJECT && (!undefined || global))
        p[4] = CBI_ST_INFO(CBI_ST_BIND(p[4]), STT_OBJECT);
    if (!sym->func)
        p[5] &= (uint8_t)~STO_CUDA_SPACE;
    if (shared && !undefined) /* also with --disable-smem-reservation */
        cbi_st64(p + 8, cbi_ld64(p + 8) + CUDA_RESERVED_SHARED);
}

void cbi_mercury_symtabs(cbi_emit *em)
{
    const cbi_linker *lk = em->lk;
    size_t count = lk->tables->symbols.len;
    size_t total = count + em->bank_count;
    uint8_t *sass = cbi_alloc(lk->ctx, total * 24), *merc = cbi_alloc(lk->ctx, count * 24);
    memcpy(merc, cbi_out_of(lk, lk->records->symtab)->bytes, count * 24);
    memcpy(sass, merc, count * 24);
    const uint16_t first = cbi_ld16(merc + 6); /* of the null symbol, or what took its place */
    if (first < lk->tables->out.len && em->partner[first])
        cbi_st16(merc + 6, (uint16_t)em->partner[first]);
    for (size_t i = 1; i < count; i++) {
        const cbi_lsym *sym = lk->tables->symbols.items[i];
        uint8_t *s = sass + i * 24, *m = merc + i * 24;
        sass_symbol(lk, sym, s);
        const cbi_placement place = cbi_placement_of(lk, sym);
        if (!place.sec || place.state == CBI_SYM_UNDEF)
            continue;
        uint32_t index = cbi_section_index(lk, place.sec);
        if (em->partner[index])
            cbi_st16(m + 6, (uint16_t)em->partner[index]);
        if (sym->is_section && em->symbol_name[index])
            cbi_st32(s, em->symbol_name[index]);
    }
    for (size_t i = 0; i < em->bank_count; i++) {
        uint8_t *s = sass + (count + i) * 24;
        cbi_st32(s, em->bank_names[i]);
        s[4] = STT_SECTION;
        cbi_st16(s + 6, (uint16_t)(lk->tables->out.len + i));
    }
    cbi_emit_sec *table = &em->secs.items[cbi_section_index(lk, lk->records->symtab)];
    table->bytes = sass;
    table->size = total * 24;
    table->info = em->bank_count ? (uint32_t)total : lk->tables->first_global;
    cbi_emit_sec *mirror = &em->secs.items[em->merc_symtab];
    mirror->bytes = merc;
    mirror->size = count * 24;
    mirror->info = lk->tables->first_global;
}
