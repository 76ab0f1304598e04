/* Resolved relocations: the SASS text, and what of them the capsule stores. */
#include "mercury/mercury.h"

#include "format/reloc.h"

struct cbi_mercury_state *cbi_mercury_state_of(cbi_linker *lk)
{
    if (!lk->merc)
        lk->merc = CBI_NEW(lk->ctx, struct cbi_mercury_state);
    return lk->merc;
}

bool cbi_mercury_in_range(const cbi_lrel *rel)
{
    if (!cbi_is_text(rel->target))
        return rel->offset < rel->target->size;
    /* Mercury places are not bounded by anything stored. */
    return !rel->has_sass || rel->sass_offset < rel->target->size;
}

static CBI_NORETURN void no_partner(cbi_linker *lk, const cbi_lrel *rel)
{
    const char *file = rel->obj ? rel->obj->file : "";
    cbi_fatal(lk->ctx, "finalizer",
              &(cbi_place){.file = file,
                           .section = rel->target->name->s,
                           .offset = rel->offset,
                           .has_offset = true},
              "a Mercury relocation has no counterpart on the SASS side",
              "Internal FNLZR error '%s'", file);
}

/* Number of the bank that instructions use for a Mercury constant section. */
static uint32_t bank_of(const cbi_lrel *rel, uint32_t bank)
{
    if (rel->sym && rel->sym->state == CBI_SYM_UNDEF &&
        (rel->sym->other & STO_CUDA_SPACE) == STO_CUDA_CONSTANT)
        return 3;
    if (!rel->sym || !rel->sym->sec)
        return bank;
    switch (rel->sym->sec->type) {
    case SHT_CUDA_MERC_CONSTANT_USER:
        return 3;
    case SHT_CUDA_MERC_CONSTANT_OPT:
        return 2;
    case SHT_CUDA_MERC_CONSTANT_PIC:
        return 4;
    default:
        return bank;
    }
}

static cbi_mercury_fixup *add_fixup(cbi_linker *lk, const cbi_lrel *rel, uint64_t value,
                                    uint32_t bank)
{
    struct cbi_mercury_state *state = cbi_mercury_state_of(lk);
    cbi_mercury_fixup_list *list = cbi_map_get(&state->fixups, CBI_KEY(rel->target));
    if (!list) {
        list = CBI_NEW(lk->ctx, cbi_mercury_fixup_list);
        cbi_map_put(lk->ctx, &state->fixups, CBI_KEY(rel->target), list);
    }
    cbi_mercury_fixup *fix = cbi_vec_add(lk->ctx, list);
    *fix = (cbi_mercury_fixup){*rel, value, bank};
    return fix;
}

const cbi_mercury_fixup_list *cbi_mercury_fixups_of(cbi_linker *lk, const cbi_osec *sec)
{
    static const cbi_mercury_fixup_list none;
    const cbi_mercury_fixup_list *list =
        cbi_map_get(&cbi_mercury_state_of(lk)->fixups, CBI_KEY(sec));
    return list ? list : &none;
}

void cbi_mercury_patch(cbi_linker *lk, const cbi_lrel *rel, uint64_t value, uint32_t bank)
{
    bank = bank_of(rel, bank);
    if (!cbi_is_text(rel->target)) {
        cbi_link_patch(cbi_reloc_find(rel->type), rel, value, bank);
        if (cbi_is_debug(rel->target))
            add_fixup(lk, rel, value, bank);
        return;
    }
    const cbi_reloc_type *type = cbi_reloc_find(rel->sass_type);
    if (!rel->has_sass || !type)
        no_partner(lk, rel);
    cbi_lrel sass = *rel;
    sass.offset = rel->sass_offset;
    sass.type = rel->sass_type;
    sass.addend = rel->sass_addend;
    cbi_link_patch(type, &sass, value, bank);
    add_fixup(lk, rel, value, bank);
}

/* ---- capsules ---- */

static int compare_places(const void *a, const void *b)
{
    uint64_t x = (*(const cbi_mercury_fixup *const *)a)->rel.sass_offset;
    uint64_t y = (*(const cbi_mercury_fixup *const *)b)->rel.sass_offset;
    return x < y ? -1 : x > y;
}

/* The field lies in the last 16 bytes of the Mercury instruction. */
static void patch_record(const cbi_linker *lk, cbi_buf *out, const cbi_capsule_entry *e,
                         const cbi_mercury_fixup *fix)
{
    const cbi_reloc_type *type = cbi_reloc_find(fix->rel.type);
    size_t width = type && type->field_count ? type->fields[0].width / 8 : 0;
    size_t at = (size_t)(fix->rel.offset % 16) + 16 * (size_t)(e->units - 1);
    if (e->form != 0 || !e->units || at + width > e->record.size)
        return;
    uint64_t value = fix->value + (uint64_t)fix->rel.addend;
    if (fix->rel.sym && fix->rel.sym->has_slot)
        value -= lk->images_start; /* the table is a section of its own there */
    for (size_t i = 0; i < width; i++)
        out->items[e->offset + at + i] = (uint8_t)(value >> (8 * i));
}

cbi_buf cbi_mercury_capsule(cbi_linker *lk, const cbi_func *func)
{
    cbi_buf out = {0};
    const cbi_lobj *obj = func->obj;
    const cbi_mercury_view *view = obj->mercury;
    cbi_span in = view->file.sections[view->capsule[func->in_sec]].data;
    const char *error = cbi_capsule_verify(in, func->text->size);
    if (error)
        cbi_fatal(lk->ctx, "finalizer",
                  &(cbi_place){.file = obj->file, .symbol = func->sym->name->s},
                  cbi_printf(lk->ctx, "capsule of '%s': %s", func->sym->name->s, error),
                  "Internal FNLZR error '%s'", obj->file);
    cbi_buf_append(lk->ctx, &out, in.data, in.size);
    cbi_st32(out.items, func->text->index);
    const cbi_mercury_fixup_list *list = cbi_mercury_fixups_of(lk, func->text);
    if (!list->len)
        return out;
    const cbi_mercury_fixup **fixes = CBI_NEW_ARRAY(lk->ctx, list->len, const cbi_mercury_fixup *);
    for (size_t i = 0; i < list->len; i++)
        fixes[i] = &list->items[i];
    qsort(fixes, list->len, sizeof *fixes, compare_places);
    cbi_capsule walk;
    cbi_capsule_entry e;
    size_t i = 0;
    cbi_capsule_open(in, &walk);
    while (i < list->len && cbi_capsule_next(&walk, &e)) {
        uint64_t end = ((uint64_t)e.first + e.count) * CBI_SASS_INSTRUCTION;
        for (; i < list->len && fixes[i]->rel.sass_offset < end; i++)
            if (e.kind == CBI_CAPSULE_RECORD || e.kind == CBI_CAPSULE_RUN_RECORD)
                patch_record(lk, &out, &e, fixes[i]);
    }
    return out;
}
