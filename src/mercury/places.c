/* Where the instructions of a function lie in its Mercury form.
 *
 * The capsule stores the length of an instruction that has a record; the others take one or two
 * units, which follows from their opcode and operands.  docs/capsule.md has the rules.
 */
#include "mercury/mercury.h"

#include "capsule/units.h"
#include "format/reloc.h"
#include "sass/opcodes.h"

static uint16_t opcode_at(cbi_span text, uint64_t at)
{
    return cbi_sass_opcode(text.data + at);
}

/* Does the instruction stand in the run for the sake of another one? */
static bool is_companion(cbi_span text, uint64_t at, uint8_t klass)
{
    switch (opcode_at(text, at)) {
    case CBI_OP_LDS: /* the dummies in front of a fence */
        return cbi_sass_is_never(cbi_sass_load(text.data + at));
    case CBI_OP_SHF_I: /* they reckon how many registers there are */
    case CBI_OP_LOP3_I:
        return klass == CBI_CLASS_CONTROL;
    case CBI_OP_BMOV_352:
        return false;
    case CBI_OP_TENSORMAP_FENCE:
    case CBI_OP_UTMACCTL:
        return klass == CBI_CLASS_FENCE;
    default:
        return cbi_op_has(opcode_at(text, at), CBI_OPF_COMPANION);
    }
}

/* The instruction that a run is about; of a mere fence its second MEMBAR. */
static uint64_t main_instruction(cbi_span text, uint64_t first, uint64_t end, uint8_t klass)
{
    uint64_t fence = first;
    for (uint64_t at = first; at < end; at += CBI_SASS_INSTRUCTION) {
        if (!is_companion(text, at, klass))
            return at;
        if (opcode_at(text, at) == CBI_OP_MEMBAR)
            fence = at;
    }
    return opcode_at(text, first) == CBI_OP_WARPSYNC ? first : fence;
}

cbi_mercury_run cbi_mercury_run_of(cbi_span text, const cbi_capsule_entry *e)
{
    uint64_t first = (uint64_t)e->first * CBI_SASS_INSTRUCTION;
    uint64_t end = first + (uint64_t)e->count * CBI_SASS_INSTRUCTION;
    if (e->kind != CBI_CAPSULE_RUN_RECORD)
        return (cbi_mercury_run){first, first, end};
    uint64_t last = end - CBI_SASS_INSTRUCTION;
    uint64_t about = main_instruction(text, first, end, e->klass);
    /* What the finalizer put behind the main instruction has no place in Mercury: to frame
     * descriptions it belongs to what follows. */
    cbi_mercury_run run = {about, about, about + CBI_SASS_INSTRUCTION};
    switch (opcode_at(text, first)) {
    case CBI_OP_WARPSYNC: /* fences in front are what comes before, but not those of the view */
        run.own = opcode_at(text, last) == CBI_OP_ENDCOLLECTIVE ? first : about;
        break;
    case CBI_OP_WARPSYNC_R:
    case CBI_OP_FENCE_VIEW:
    case CBI_OP_SHF_I:
        run.own = first;
        break;
    default:
        break;
    }
    return run;
}

/* Does the finalizer make it anew from its record, or from a table of branches? */
static bool is_made(const cbi_capsule_entry *e, uint32_t op)
{
    if (op == CBI_OP_BRX || op == CBI_OP_BRXU)
        return true;
    if (e->kind < CBI_CAPSULE_RECORD || e->form == CBI_CAPSULE_FORM_SHORT)
        return false;
    return cbi_op_has(op, CBI_OPF_MADE) || cbi_op_is_barrier(op) ||
           (e->kind == CBI_CAPSULE_RUN_RECORD && e->klass == CBI_CLASS_MOVE);
}

cbi_mercury_places *cbi_mercury_places_in(const cbi_linker *lk, const cbi_mercury_view *view,
                                          uint32_t section)
{
    const cbi_object *file = &view->file;
    cbi_span capsule = file->sections[view->capsule[section]].data;
    cbi_span text = file->sections[section].data;
    uint32_t symbol = CUDA_TEXT_SYMBOL(file->sections[section].info);
    cbi_mercury_places *places = CBI_NEW(lk->ctx, cbi_mercury_places);
    cbi_capsule walk;
    cbi_capsule_entry e = {0};
    if (cbi_capsule_verify(capsule, text.size) || symbol >= file->merc_symbol_count)
        return places;
    uint64_t mercury = 0, frame = 0;
    for (cbi_capsule_open(capsule, &walk); cbi_capsule_next(&walk, &e);) {
        uint64_t sass = (uint64_t)e.first * CBI_SASS_INSTRUCTION;
        const cbi_mercury_run run = cbi_mercury_run_of(text, &e);
        cbi_vec_push(
            lk->ctx, places,
            ((cbi_mercury_place){mercury, sass, frame, run.about, run.own,
                                 is_made(&e, opcode_at(text, run.about)),
                                 e.kind == CBI_CAPSULE_DERIVED ? CBI_CLASS_NONE : e.klass}));
        mercury +=
            CBI_MERCURY_UNIT * (e.kind == CBI_CAPSULE_DERIVED ? cbi_capsule_units(text.data + sass)
                                : e.kind == CBI_CAPSULE_RUN   ? 0
                                                              : e.units);
        frame = run.end;
    }
    if (mercury != file->merc_symbols[symbol].size)
        places->len = 0;
    return places;
}

const cbi_mercury_places *cbi_mercury_places_of(const cbi_linker *lk, const cbi_func *func)
{
    if (!func->obj || !func->obj->mercury || !func->text || func->alias_of)
        return NULL;
    const cbi_mercury_places **places = &lk->merc->places[func->number];
    if (!*places)
        *places = cbi_mercury_places_in(lk, func->obj->mercury, func->in_sec);
    return (*places)->len ? *places : NULL;
}

static bool lies_before(const void *place, const void *mercury)
{
    return ((const cbi_mercury_place *)place)->mercury < *(const uint64_t *)mercury;
}

/* The first place that does not lie before the offset. */
static size_t first_from(const cbi_mercury_places *places, uint64_t mercury)
{
    return cbi_search(places->items, places->len, sizeof *places->items, lies_before, &mercury);
}

const cbi_mercury_place *cbi_mercury_place_at(const cbi_mercury_places *places, uint64_t mercury)
{
    size_t i = first_from(places, mercury);
    return i < places->len && places->items[i].mercury == mercury ? &places->items[i] : NULL;
}

const cbi_mercury_place *cbi_mercury_place_from(const cbi_mercury_places *places, uint64_t mercury)
{
    size_t i = first_from(places, mercury);
    return i + 1 < places->len ? cbi_mercury_behind_pace(places, &places->items[i]) : NULL;
}

const cbi_mercury_place *cbi_mercury_behind_pace(const cbi_mercury_places *places,
                                                 const cbi_mercury_place *place)
{
    const cbi_mercury_place *tail = &places->items[places->len - 1];
    while (place != tail && place[1].mercury == place->mercury)
        place++;
    return place;
}

const cbi_mercury_place *cbi_mercury_place_of(const cbi_mercury_places *places, uint64_t mercury)
{
    size_t i = first_from(places, mercury + 1);
    return i && i < places->len ? &places->items[i - 1] : NULL;
}

bool cbi_mercury_patched_at(const cbi_linker *lk, const cbi_func *func, uint64_t mercury,
                            uint64_t *ret_offset, uint32_t *ret_type)
{
    const cbi_mercury_places *places = cbi_mercury_places_of(lk, func);
    if (!places)
        return false;
    const cbi_mercury_place *place = cbi_mercury_place_of(places, mercury);
    *ret_offset = 0;
    *ret_type = R_CUDA_8_32;
    if (!place)
        return true; /* in the tail or behind it, where nvlink reads what is in memory */
    cbi_span text = func->obj->mercury->file.sections[func->in_sec].data;
    *ret_offset = place->main;
    uint16_t flags = cbi_instruction_of(opcode_at(text, place->main))->flags;
    bool moves = (flags & CBI_OPF_FIELD_32) &&
                 (place->klass == CBI_CLASS_NONE || place->klass == CBI_CLASS_SPECIAL);
    bool copies = place->klass == CBI_CLASS_COPY ||
                  (place->klass == CBI_CLASS_NONE && (flags & CBI_OPF_COPY_END));
    *ret_type = moves ? R_CUDA_ABS32_32 : copies ? R_CUDA_ABS20_44 : R_CUDA_ABS24_40;
    return true;
}
