/* Where the instructions of a function lie in its Mercury form.
 *
 * The capsule stores the length of an instruction that has a record; the others take one or two
 * units, which follows from their opcode and operands.  docs/capsule.md has the rules.
 */
#include "mercury/mercury.h"

#include "format/reloc.h"

enum { UNIT = 16 };

/* Opcodes whose Mercury form takes one unit. */
static const uint16_t short_opcodes[] = {
    0x202, 0x207, 0x208, 0x209, 0x20b, 0x20c, 0x20f, 0x210, 0x212, 0x213, 0x216, 0x219,
    0x21a, 0x220, 0x221, 0x224, 0x226, 0x228, 0x229, 0x22a, 0x230, 0x232, 0x23e, 0x245,
    0x246, 0x248, 0x287, 0x28c, 0x290, 0x291, 0x296, 0x299, 0x2a4, 0x2bd, 0x2bf, 0x2ca,
    0x300, 0x301, 0x302, 0x305, 0x306, 0x307, 0x308, 0x309, 0x310, 0x311, 0x312, 0x313,
    0x3a1, 0x3c4, 0x802, 0x806, 0x882, 0x886, 0x908, 0x918, 0x941, 0x942, 0x945, 0x946,
    0x94d, 0x95c, 0x95d, 0x9af, 0xc02, 0xc07, 0xc0b, 0xc0c, 0xc10, 0xc12, 0xc13, 0xc19,
    0xc20, 0xc24, 0xc28, 0xc36, 0xc3e, 0xc45, 0xc46, 0xc48, 0xc82, 0xd00, 0xd05, 0xd06,
    0xd08, 0xd09, 0xd10, 0xd12, 0xe19, 0xe21, 0xe24, 0xe29, 0xe2a, 0xe46,
};

static bool bit(const uint8_t *insn, unsigned at)
{
    return insn[at / 8] >> (at % 8) & 1;
}

static int compare_opcodes(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* Units of an instruction without a record. */
static unsigned derived_units(const uint8_t *insn)
{
    enum { NO_REGISTER = 0xff, NO_PREDICATE = 7 };
    uint16_t opcode = cbi_sass_opcode(insn);
    if (!bsearch(&opcode, short_opcodes, CBI_COUNT(short_opcodes), sizeof opcode, compare_opcodes))
        return 2;
    bool third = insn[8] != NO_REGISTER, extended = bit(insn, 74);
    bool longer = false;
    switch (opcode) {
    case 0x210:
    case 0x290:
    case 0xc10: /* addition */
        longer = third || extended;
        break;
    case 0x212:
    case 0xc12: /* logic */
        longer = third;
        break;
    case 0x224:
    case 0xe24: /* multiplication */
        longer = extended;
        break;
    case 0x20c:
    case 0xc0c: /* comparison */
        longer = (insn[10] >> 7 | (insn[11] & 3) << 1) != NO_PREDICATE || bit(insn, 72);
        break;
    case 0x291: /* shift and add: of the high part */
        longer = bit(insn, 80);
        break;
    case 0x945: /* convergence barrier */
        longer = !bit(insn, 73);
        break;
    default:
        break;
    }
    return longer ? 2 : 1;
}

/* What the finalizer put behind the main instruction of a run has no place in Mercury: to frame
 * descriptions it belongs to what follows. */
static uint64_t end_of_main(cbi_span text, const cbi_capsule_entry *e)
{
    uint64_t first = (uint64_t)e->first * CBI_SASS_INSTRUCTION;
    uint64_t end = first + (uint64_t)e->count * CBI_SASS_INSTRUCTION;
    if (e->kind != CBI_CAPSULE_RUN_RECORD || e->count < 2)
        return end;
    for (uint64_t at = first; at < end; at += CBI_SASS_INSTRUCTION)
        if (cbi_sass_opcode(text.data + at) == 0x9ab)
            return at;
    bool collective = cbi_sass_opcode(text.data + end - CBI_SASS_INSTRUCTION) == 0x91b;
    return collective ? end - CBI_SASS_INSTRUCTION : end;
}

/* What accompanies the instruction that a run is about: synchronization of the warp, fences, and
 * arithmetic on addresses. */
static bool accompanies(uint16_t opcode)
{
    static const uint16_t opcodes[] = {0x348, 0x352, 0x3c6, 0x5ab, 0x812, 0x819, 0x91a, 0x91b,
                                       0x948, 0x984, 0x98f, 0x992, 0x9ab, 0x9c7, 0xc02, 0xdc7};
    return bsearch(&opcode, opcodes, CBI_COUNT(opcodes), sizeof opcode, compare_opcodes);
}

enum {
    MEMBAR = 0x992,
    FENCE_VIEW = 0x3c6,
    WARPSYNC = 0x348,
    WARPSYNC_IMMEDIATE = 0x948,
    COLLECTIVE_END = 0x91b,
};

static uint16_t opcode_at(cbi_span text, uint64_t at)
{
    return cbi_sass_opcode(text.data + at);
}

/* The instruction that a run is about; of a mere fence its second MEMBAR. */
static uint64_t main_instruction(cbi_span text, const cbi_capsule_entry *e)
{
    uint64_t first = (uint64_t)e->first * CBI_SASS_INSTRUCTION, fence = first;
    uint64_t end = first + (uint64_t)e->count * CBI_SASS_INSTRUCTION;
    if (e->kind != CBI_CAPSULE_RUN_RECORD || e->count < 2)
        return first;
    for (uint64_t at = first; at < end; at += CBI_SASS_INSTRUCTION) {
        uint16_t op = opcode_at(text, at);
        if (!accompanies(op))
            return at;
        if (op == MEMBAR)
            fence = at;
    }
    return opcode_at(text, first) == WARPSYNC_IMMEDIATE ? first : fence;
}

cbi_mercury_places *cbi_mercury_places_in(cbi_linker *lk, const cbi_mercury_view *view,
                                          uint32_t section)
{
    const cbi_object *file = &view->file;
    cbi_span capsule = file->sections[view->capsule[section]].data;
    cbi_span text = file->sections[section].data;
    uint32_t symbol = file->sections[section].info & 0xffffff;
    cbi_mercury_places *places = CBI_NEW(lk->ctx, cbi_mercury_places);
    cbi_capsule walk;
    cbi_capsule_entry e = {0};
    if (cbi_capsule_verify(capsule, text.size) || symbol >= file->merc_symbol_count)
        return places;
    uint64_t mercury = 0, frame = 0;
    for (cbi_capsule_open(capsule, &walk); cbi_capsule_next(&walk, &e);) {
        uint64_t sass = (uint64_t)e.first * CBI_SASS_INSTRUCTION;
        uint64_t about = main_instruction(text, &e);
        uint16_t head = opcode_at(text, sass);
        /* Fences in front are what comes before, but not those of the view. */
        bool collective =
            head == WARPSYNC ||
            (head == WARPSYNC_IMMEDIATE && e.count > 1 &&
             opcode_at(text, sass + (e.count - 1) * CBI_SASS_INSTRUCTION) == COLLECTIVE_END);
        bool whole = e.kind == CBI_CAPSULE_RUN_RECORD && (collective || head == FENCE_VIEW);
        cbi_vec_push(lk->ctx, places,
                     ((cbi_mercury_place){mercury, sass, frame, about, whole ? sass : about}));
        mercury += UNIT * (e.kind == CBI_CAPSULE_DERIVED ? derived_units(text.data + sass)
                           : e.kind == CBI_CAPSULE_RUN   ? 0
                                                         : e.units);
        frame = end_of_main(text, &e);
    }
    if (mercury != file->merc_symbols[symbol].size)
        places->len = 0;
    return places;
}

const cbi_mercury_places *cbi_mercury_places_of(cbi_linker *lk, const cbi_func *func)
{
    if (!func->obj || !func->obj->mercury || !func->text || func->alias_of)
        return NULL;
    struct cbi_mercury_state *state = cbi_mercury_state_of(lk);
    cbi_mercury_places *places = cbi_map_get(&state->places, CBI_KEY(func));
    if (!places) {
        places = cbi_mercury_places_in(lk, func->obj->mercury, func->in_sec);
        cbi_map_put(lk->ctx, &state->places, CBI_KEY(func), places);
    }
    return places->len ? places : NULL;
}

/* The first place that does not lie before the offset. */
static size_t first_from(const cbi_mercury_places *places, uint64_t mercury)
{
    size_t low = 0, high = places->len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (places->items[mid].mercury < mercury)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const cbi_mercury_place *cbi_mercury_place_at(const cbi_mercury_places *places, uint64_t mercury)
{
    size_t i = first_from(places, mercury);
    return i < places->len && places->items[i].mercury == mercury ? &places->items[i] : NULL;
}

const cbi_mercury_place *cbi_mercury_place_from(const cbi_mercury_places *places, uint64_t mercury)
{
    size_t i = first_from(places, mercury);
    return i + 1 < places->len ? &places->items[i] : NULL;
}

const cbi_mercury_place *cbi_mercury_place_of(const cbi_mercury_places *places, uint64_t mercury)
{
    size_t i = first_from(places, mercury + 1);
    return i && i < places->len ? &places->items[i - 1] : NULL;
}

bool cbi_mercury_patched_at(cbi_linker *lk, const cbi_func *func, uint64_t mercury,
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
    switch (opcode_at(text, place->main)) {
    case 0x202: /* moves */
    case 0x2ca:
    case 0x402:
    case 0x7ac:
    case 0x802:
    case 0x805:
    case 0x882:
    case 0x919:
    case 0x9c3:
    case 0xb82:
    case 0xc02:
    case 0xc82:
        *ret_type = R_CUDA_ABS32_32;
        break;
    case 0x91a: /* barriers */
    case 0x9af:
    case 0x9b0:
    case 0xfae:
        *ret_type = R_CUDA_ABS20_44;
        break;
    default:
        *ret_type = R_CUDA_ABS24_40;
        break;
    }
    return true;
}
