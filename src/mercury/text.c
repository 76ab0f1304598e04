/* Resolved relocations: the SASS text, and what of them the capsule stores. */
#include "mercury/emit.h"
#include "mercury/rewrite.h"

#include "format/reloc.h"
#include "sass/opcodes.h"

struct cbi_mercury_state *cbi_mercury_begin(cbi_ctx *ctx)
{
    return CBI_NEW(ctx, struct cbi_mercury_state);
}

void cbi_mercury_open(const cbi_linker *lk)
{
    struct cbi_mercury_state *state = lk->merc;
    const size_t funcs = lk->symbols->funcs.len;
    state->places = CBI_NEW_ARRAY(lk->ctx, funcs, const cbi_mercury_places *);
    state->lent = CBI_NEW_ARRAY(lk->ctx, funcs, uint8_t *);
    state->capsules = CBI_NEW_ARRAY(lk->ctx, funcs, cbi_buf);
    state->rewrites = CBI_NEW_ARRAY(lk->ctx, funcs, const struct cbi_rewrite *);
    state->codes = CBI_NEW_ARRAY(lk->ctx, lk->records->secs.len, uint8_t *);
}

bool cbi_mercury_in_range(const cbi_lrel *rel)
{
    if (!cbi_is_text(rel->target))
        return rel->target->bytes && rel->offset < rel->target->size;
    /* Mercury places are not bounded by anything stored. */
    return !cbi_sass_of(rel)->present ||
           (rel->target->bytes && cbi_sass_of(rel)->offset < rel->target->size);
}

static CBI_NORETURN void no_partner(const cbi_linker *lk, const cbi_lrel *rel)
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
static uint32_t bank_of(const cbi_linker *lk, const cbi_lrel *rel, uint32_t bank)
{
    if (!rel->sym)
        return bank;
    const cbi_placement place = cbi_placement_of(lk, rel->sym);
    if (place.state == CBI_SYM_UNDEF && (rel->sym->other & STO_CUDA_SPACE) == STO_CUDA_CONSTANT)
        return 3;
    if (!place.sec)
        return bank;
    switch (place.sec->type) {
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

static cbi_mercury_fixup *add_fixup(const cbi_linker *lk, const cbi_lrel *rel, uint64_t value,
                                    uint32_t bank)
{
    struct cbi_mercury_state *state = lk->merc;
    cbi_mercury_fixup_list *list = cbi_map_get(&state->fixups, CBI_KEY(rel->target));
    if (!list) {
        list = CBI_NEW(lk->ctx, cbi_mercury_fixup_list);
        cbi_map_put(lk->ctx, &state->fixups, CBI_KEY(rel->target), list);
    }
    cbi_mercury_fixup *fix = cbi_vec_add(lk->ctx, list);
    *fix = (cbi_mercury_fixup){*rel, value, bank};
    return fix;
}

const cbi_mercury_fixup_list *cbi_mercury_fixups_of(const cbi_linker *lk, const cbi_osec *sec)
{
    static const cbi_mercury_fixup_list none;
    const cbi_mercury_fixup_list *list = cbi_map_get(&lk->merc->fixups, CBI_KEY(sec));
    return list ? list : &none;
}

static void patch_sass(const cbi_linker *lk, const cbi_lrel *rel, uint64_t value, uint32_t bank)
{
    const cbi_reloc_type *type = cbi_reloc_find(cbi_sass_of(rel)->type);
    if (!cbi_sass_of(rel)->present || !type)
        no_partner(lk, rel);
    cbi_lrel sass = *rel;
    sass.offset = cbi_sass_of(rel)->offset;
    sass.type = cbi_sass_of(rel)->type;
    sass.addend = cbi_sass_of(rel)->addend;
    cbi_link_patch(type, &sass, cbi_sec_writable(lk, rel->target), rel->target->size, value, bank);
}

void cbi_mercury_patch(const cbi_linker *lk, const cbi_lrel *rel, uint64_t value, uint32_t bank)
{
    bank = bank_of(lk, rel, bank);
    if (!cbi_is_text(rel->target)) {
        cbi_link_patch(cbi_reloc_find(rel->type), rel, cbi_sec_writable(lk, rel->target),
                       rel->target->size, value, bank);
        if (cbi_is_debug(rel->target))
            add_fixup(lk, rel, value, bank);
        return;
    }
    patch_sass(lk, rel, value, bank);
    add_fixup(lk, rel, value, bank);
}

void cbi_mercury_patch_reserved(const cbi_linker *lk, const cbi_lrel *rel)
{
    if (cbi_is_text(rel->target) && cbi_sass_of(rel)->present)
        patch_sass(lk, rel, cbi_placement_of(lk, rel->sym).value + CUDA_RESERVED_SHARED_OWN, 0);
}

/* ---- capsules ---- */

static int compare_places(const void *a, const void *b)
{
    uint64_t x = cbi_sass_of(&(*(const cbi_mercury_fixup *const *)a)->rel)->offset;
    uint64_t y = cbi_sass_of(&(*(const cbi_mercury_fixup *const *)b)->rel)->offset;
    return cbi_order(x, y);
}

/* The field lies in the last 16 bytes of the Mercury instruction. */
static void patch_record(cbi_buf *out, const cbi_capsule_entry *e, const cbi_mercury_fixup *fix)
{
    const cbi_reloc_type *type = cbi_reloc_find(fix->rel.type);
    size_t width = type->fields[0].width / 8;
    size_t at = (size_t)(fix->rel.offset % 16) + 16 * (size_t)(e->units - 1);
    if (e->form != 0 || !e->units || at + width > e->record.size)
        return;
    uint64_t value = fix->value + (uint64_t)fix->rel.addend;
    for (size_t i = 0; i < width; i++)
        out->items[e->offset + at + i] = (uint8_t)(value >> (8 * i));
}

cbi_buf cbi_mercury_capsule(const cbi_linker *lk, const cbi_func *func)
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
    cbi_st32(out.items, cbi_section_index(lk, func->text));
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
        for (; i < list->len && cbi_sass_of(&fixes[i]->rel)->offset < end; i++)
            patch_record(&out, &e, fixes[i]);
    }
    cbi_take_back(lk->ctx, fixes, list->len * sizeof *fixes);
    return out;
}

/* ---- code that changes behind the patches ---- */

const uint8_t *cbi_mercury_code(const cbi_linker *lk, const cbi_osec *text)
{
    const uint8_t *own = lk->merc->codes[text->number];
    return own ? own : text->bytes;
}

uint8_t *cbi_mercury_code_in(const cbi_linker *lk, const cbi_osec *text)
{
    uint8_t **own = &lk->merc->codes[text->number];
    if (!*own)
        *own = cbi_sec_copy(lk, text);
    return *own;
}

/* ---- threads in step ---- */

/* If any code comes from PTX whose threads go on together, the finalizer makes a NOP of each YIELD
 * of a function that it has relocations of; of a relocatable output, entries that say so. */
static bool stops_yields(const cbi_linker *lk, const cbi_func *f)
{
    return lk->symbols->met.in_step && f->obj && f->obj->mercury && !f->alias_of && f->text &&
           cbi_section_index(lk, f->text) && cbi_is_text(f->text) && f->text->bytes &&
           f->text->rela && cbi_section_index(lk, f->text->rela);
}

/* The next YIELD from a place on, or the code's size. */
static uint64_t find_yield(const cbi_linker *lk, const cbi_func *f, uint64_t at)
{
    const uint8_t *code = cbi_mercury_code(lk, f->text);
    uint64_t end = f->text->size - f->text->size % CBI_SASS_INSTRUCTION;
    while (at < end && cbi_sass_opcode(code + at) != CBI_OP_YIELD)
        at += CBI_SASS_INSTRUCTION;
    return at < end ? at : f->text->size;
}

static const uint32_t yield_types[] = {R_CUDA_YIELD_OPCODE9_0, R_CUDA_YIELD_CLEAR_PRED4_87};

/* What is put over the opcode, or nothing. */
static int64_t yield_addend(uint32_t type)
{
    enum { NOP = 0x118 };
    return type == R_CUDA_YIELD_OPCODE9_0 ? NOP : 0;
}

void cbi_mercury_stop_yields(const cbi_linker *lk)
{
    for (size_t i = 0; lk->exec && lk->symbols->met.in_step && i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (!stops_yields(lk, f))
            continue;
        for (uint64_t at = 0; (at = find_yield(lk, f, at)) < f->text->size;)
            for (size_t k = 0; k < CBI_COUNT(yield_types); k++) {
                const cbi_lrel entry = {
                    .offset = at, .addend = yield_addend(yield_types[k]), .is_rela = true};
                cbi_link_patch(cbi_reloc_find(yield_types[k]), &entry,
                               cbi_mercury_code_in(lk, f->text), f->text->size,
                               cbi_value_without_symbol(lk), 0);
            }
    }
}

void cbi_mercury_keep_yields(const cbi_linker *lk, const cbi_func *f, cbi_buf *list)
{
    if (lk->exec || !stops_yields(lk, f))
        return;
    for (uint64_t at = 0; (at = find_yield(lk, f, at)) < f->text->size; at += CBI_SASS_INSTRUCTION)
        for (size_t k = 0; k < CBI_COUNT(yield_types); k++) {
            uint8_t *p = cbi_buf_append(lk->ctx, list, NULL, sizeof(Elf64_Rela));
            cbi_st64(p, cbi_rewrite_self(cbi_rewrite_of(lk, f), at));
            cbi_st64(p + 8, yield_types[k]);
            cbi_st64(p + 16, (uint64_t)yield_addend(yield_types[k]));
        }
}

/* ---- loads from texture tables ---- */

enum {
    LOAD_BANK = 12,     /* byte of the record with the bank */
    BANK_IMAGES = 0x49, /* the table, which has a bank of its own in Mercury code */
    LOAD_OFFSET = 28,   /* ... and the 32 bits at which the offset in it starts */
};

static void place_load(const cbi_linker *lk, const cbi_osec *text, const cbi_capsule_entry *e)
{
    static const cbi_reloc_type ldc = {.field_count = 1, .fields = {{38, 16, CBI_SRC_VALUE, 0}}};
    static const cbi_reloc_type ldcu = {.field_count = 1, .fields = {{37, 17, CBI_SRC_VALUE, 0}}};
    const uint8_t *record = e->record.data;
    if (e->kind != CBI_CAPSULE_RECORD || e->klass != CBI_CLASS_LOAD_CONSTANT ||
        e->record.size < LOAD_OFFSET + 4 || record[LOAD_BANK] != BANK_IMAGES)
        return;
    cbi_lrel load = {.offset = (uint64_t)e->first * CBI_SASS_INSTRUCTION};
    if (!cbi_fits(load.offset, CBI_SASS_INSTRUCTION, text->size))
        return;
    uint16_t op = cbi_sass_opcode(cbi_mercury_code(lk, text) + load.offset);
    load.is_rela = true;
    if (op == CBI_OP_LDC || op == CBI_OP_LDCU)
        cbi_link_patch(op == CBI_OP_LDC ? &ldc : &ldcu, &load, cbi_mercury_code_in(lk, text),
                       text->size, lk->layout->images_start + cbi_ld32(record + LOAD_OFFSET), 0);
}

void cbi_mercury_place_images(const cbi_linker *lk)
{
    for (size_t i = 0; lk->symbols->images.len && i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (!f->obj || f->alias_of || !f->text || !cbi_section_index(lk, f->text) ||
            !cbi_is_text(f->text) || !f->text->bytes)
            continue;
        cbi_buf capsule = cbi_mercury_capsule(lk, f);
        cbi_capsule walk;
        cbi_capsule_entry e;
        cbi_capsule_open((cbi_span){capsule.items, capsule.len}, &walk);
        while (cbi_capsule_next(&walk, &e))
            place_load(lk, f->text, &e);
    }
}
