/* Relocations: each is patched, kept for the driver, or dropped.
 *
 * The list is walked backwards: the entry that came first in the inputs is applied last and stands
 * last in its output section.  reloc_decision.c decides which.  In threads an object's entries are
 * applied beside those of others as far as they cannot fail and touch only what is the object's;
 * then the rest, one after the other.
 */
#include "base/fetch.h"
#include "link/graph.h"
#include "link/layout.h"
#include "link/loops.h"
#include "link/patches_work.h"
#include "link/reloc_decision.h"
#include "link/report.h"
#include "link/view.h"
#include "format/reloc.h"

/* ---- patching ---- */

/* Every field lies within the eight bytes from its first one on; of one that is wider than a value
 * (a replaced instruction) the low bits count. */
enum { VALUE_BITS = 64, WORD = 8 };

static uint64_t low_bits(unsigned count)
{
    return count < VALUE_BITS ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

/* How many of these bytes the section has. */
static size_t bytes_from(size_t room, unsigned start)
{
    size_t first = start / 8, left = room > first ? room - first : 0;
    return left < WORD ? left : WORD;
}

/* Most sections have all eight. */
static uint64_t get_word(const uint8_t *p, size_t count)
{
    if (count == WORD)
        return cbi_ld64(p);
    uint8_t word[WORD] = {0};
    memcpy(word, p, count);
    return cbi_ld64(word);
}

static void put_word(uint8_t *p, size_t count, uint64_t value)
{
    if (count == WORD) {
        cbi_st64(p, value);
        return;
    }
    uint8_t word[WORD];
    cbi_st64(word, value);
    memcpy(p, word, count);
}

static uint64_t get_bits(const uint8_t *p, size_t room, unsigned start, unsigned width)
{
    return get_word(p + start / 8, bytes_from(room, start)) >> start % 8 & low_bits(width);
}

static void put_bits(uint8_t *p, size_t room, unsigned start, unsigned width, uint64_t value)
{
    const size_t count = bytes_from(room, start);
    const uint64_t mask = low_bits(width) << start % 8;
    uint8_t *at = p + start / 8;
    put_word(at, count, (get_word(at, count) & ~mask) | (value << start % 8 & mask));
}

typedef struct resolved {
    uint64_t value; /* symbol value */
    uint32_t bank;
} resolved;

/* The number of a constant bank, from the type of its section.  nvlink counts other types, too. */
static uint32_t bank_number(uint32_t type)
{
    return (type - SHT_CUDA_CONSTANT_B0) & 0x1f;
}

uint64_t cbi_value_without_symbol(const cbi_linker *lk)
{
    return lk->exec && lk->quirks.null_symbol_counts ? lk->layout->null_symbol_value : 0;
}

static resolved resolve_value(const cbi_linker *lk, const cbi_lrel *r)
{
    const cbi_lsym *sym = r->sym;
    resolved v = {0};
    if (!sym) {
        v.value = cbi_value_without_symbol(lk);
        return v;
    }
    const cbi_placement place = cbi_placement_of(lk, sym);
    if (cbi_is_image(sym)) {
        v.value = place.has_slot ? place.slot : 0;
        /* Without a slot, what computing the bank of its section gives: none, or a kernel's text.
         */
        v.bank = place.has_slot ? 0 : bank_number(place.sec ? SHT_PROGBITS : SHT_NULL);
        return v;
    }
    if (sym->is_section) {
        v.value = cbi_section_base(r);
    } else if (lk->exec && cbi_is_shared_var(sym) && sym->size == 0) {
        /* Debug data has no kernel in which the variable would have a place. */
        v.value = lk->shows_debug   ? place.value
                  : r->target->func ? cbi_dynamic_offset(lk, r->target->func)
                                    : UINT64_MAX;
    } else if (lk->exec && cbi_is_shared_var(sym) && place.unplaced && !lk->shows_debug) {
        v.value = UINT64_MAX;
    } else if (place.state == CBI_SYM_UNDEF) {
        v.value = UINT64_MAX;
        v.bank = bank_number(SHT_NULL);
        return v;
    } else if (!lk->exec && cbi_is_shared_var(sym)) {
        v.value = sym->size == 0 ? place.value : cbi_shared_align(lk, sym);
    } else {
        v.value = place.value;
    }
    if (place.sec && cbi_is_constant_type(place.sec->type))
        v.bank = bank_number(place.sec->type);
    return v;
}

/* p: the entry's place, which has so much room. */
static void patch_at(const cbi_reloc_type *type, const cbi_lrel *r, uint8_t *p, size_t room,
                     uint64_t symbol_value, uint32_t bank)
{
    const uint64_t sources[CBI_SRC_INSTRUCTION + 1] = {
        [CBI_SRC_VALUE] = symbol_value + (r->is_rela ? (uint64_t)r->addend : 0),
        [CBI_SRC_BANK] = bank,
        [CBI_SRC_ADDEND] = (uint64_t)r->addend,
    };
    uint64_t olds[3] = {0}; /* what an entry without an addend adds to */
    for (unsigned i = 0; i < type->field_count && !r->is_rela; i++)
        olds[i] = get_bits(p, room, type->fields[i].start, type->fields[i].width);
    for (unsigned i = 0; i < type->field_count; i++) {
        const cbi_reloc_field *f = &type->fields[i];
        uint64_t value = sources[f->source];
        bool byte_slice = f->width == 8 && type->field_count == 1 && f->start == 0;
        if (f->source == CBI_SRC_ZERO)
            value = 0; /* whatever was there */
        else if (!r->is_rela && byte_slice)
            value = (value + olds[i]) >> f->shift;
        else
            value = (value >> f->shift) + olds[i];
        put_bits(p, room, f->start, f->width, value);
    }
}

void cbi_link_patch(const cbi_reloc_type *type, const cbi_lrel *r, uint8_t *contents, uint64_t size,
                    uint64_t symbol_value, uint32_t bank)
{
    patch_at(type, r, contents + r->offset, size - r->offset, symbol_value, bank);
}

/* An entry while it is applied: as it was read, or changed. */
typedef struct patch {
    const cbi_lrel *now;
    cbi_lrel changed;
    /* The latest of many pieces that was looked for, since most entries follow each other. */
    const cbi_osec *last_in;
    const cbi_piece *last;
} patch;

static bool begins_until(const void *piece, const void *offset)
{
    return ((const cbi_piece *)piece)->offset <= *(const uint64_t *)offset;
}

/* How many pieces begin at or before the offset. */
static size_t pieces_up_to(const cbi_osec *sec, uint64_t offset)
{
    return cbi_search(sec->pieces.items, sec->pieces.len, sizeof *sec->pieces.items, begins_until,
                      &offset);
}

/* The piece of a section of many in which the entry is, or NULL. */
static inline const cbi_piece *piece_of(patch *p)
{
    const cbi_osec *sec = p->now->target;
    const uint64_t offset = p->now->offset;
    if (sec->bytes)
        return NULL;
    if (sec != p->last_in || offset - p->last->offset >= p->last->bytes.size) {
        const size_t before = pieces_up_to(sec, offset);
        if (!before)
            return NULL;
        p->last_in = sec;
        p->last = &sec->pieces.items[before - 1];
    }
    return offset - p->last->offset < p->last->bytes.size ? p->last : NULL;
}

/* ... if the entry changes nothing but it and it may be written to; else NULL. */
static inline const cbi_piece *piece_for(patch *p, const cbi_reloc_type *type)
{
    const cbi_piece *piece = piece_of(p);
    if (!piece || !piece->own)
        return NULL;
    const uint64_t room = piece->bytes.size - (p->now->offset - piece->offset);
    for (unsigned i = 0; i < type->field_count; i++)
        if ((uint64_t)type->fields[i].start / 8 + WORD > room)
            return NULL;
    return piece;
}

/* Where the entry is written, and how much room is there.  Tables of debug data are many pieces,
 * which stay where they are. */
static uint8_t *open_place(const cbi_linker *lk, const cbi_reloc_type *type, patch *p,
                           size_t *ret_room)
{
    const cbi_lrel *r = p->now;
    const cbi_piece *piece = piece_for(p, type);
    const uint64_t inside = r->offset - (piece ? piece->offset : 0);
    *ret_room = (piece ? piece->bytes.size : r->target->size) - inside;
    return (piece ? piece->writable.data : cbi_sec_writable(lk, r->target)) + inside;
}

static void patch_section(const cbi_linker *lk, patch *p, uint64_t symbol_value, uint32_t bank)
{
    const cbi_reloc_type *type = cbi_reloc_find(p->now->type);
    size_t room;
    uint8_t *at = open_place(lk, type, p, &room);
    patch_at(type, p->now, at, room, symbol_value, bank);
}

static void clear_field(const cbi_linker *lk, patch *p)
{
    const cbi_reloc_type *type = cbi_reloc_find(p->now->type);
    size_t room;
    uint8_t *at = open_place(lk, type, p, &room);
    put_bits(at, room, type->fields[0].start, type->fields[0].width, 0);
}

/* ---- outcomes ---- */

static bool in_range(const cbi_linker *lk, const cbi_lrel *r)
{
    return lk->mercury ? lk->opt->view->in_range(r)
                       : cbi_section_has_data(r->target->type) && r->offset < r->target->size;
}

static CBI_NORETURN void out_of_range(const cbi_linker *lk, const cbi_lrel *r, const char *what)
{
    cbi_fatal(lk->ctx, "reloc-offset",
              &(cbi_place){.file = r->obj ? r->obj->file : NULL,
                           .section = r->target->name->s,
                           .offset = r->offset,
                           .has_offset = true},
              NULL, "Internal error: %s", what);
}

void cbi_link_check_kept(const cbi_linker *lk, const cbi_lrel *r)
{
    if (!in_range(lk, r))
        out_of_range(lk, r, "relocation is past end of offset");
}

/* The addend of an entry that has none of its own. */
static int64_t old_field(const cbi_linker *lk, const cbi_lrel *r)
{
    const cbi_reloc_type *type = cbi_reloc_find(r->type);
    if (!type || !type->field_count || !cbi_section_has_data(r->target->type) ||
        r->offset >= r->target->size)
        return 0;
    return (int64_t)get_bits(cbi_sec_bytes(lk, r->target) + r->offset, r->target->size - r->offset,
                             type->fields[0].start, type->fields[0].width);
}

/* Between the shared constants of two objects, which entries of an unshared layout can meet? */
static bool in_gap(const cbi_lrel *r)
{
    if (!cbi_is_user_constants(r->target) || r->offset >= r->target->size)
        return false;
    size_t before = pieces_up_to(r->target, r->offset);
    const cbi_piece *piece = before ? &r->target->pieces.items[before - 1] : NULL;
    return !piece || r->offset - piece->offset >= piece->bytes.size;
}

/* The entry for changing. */
static cbi_lrel *change(patch *p)
{
    if (p->now != &p->changed) {
        p->changed = *p->now;
        p->now = &p->changed;
    }
    return &p->changed;
}

/* The entry for those who look at it later. */
static const cbi_lrel *settled(const cbi_linker *lk, const patch *p)
{
    return p->now == &p->changed ? cbi_memdup(lk->ctx, p->now, sizeof *p->now) : p->now;
}

/* Makes it what is kept; returns the section for it. */
static inline cbi_osec *make_kept(const cbi_linker *lk, patch *p)
{
    uint64_t base = cbi_section_base(p->now);
    if (base)
        change(p)->addend += (int64_t)base;
    const cbi_lrel *r = p->now;
    if (!r->is_rela && lk->opt->force_rela && !lk->mercury) {
        if (lk->merge_constants && in_gap(r))
            out_of_range(lk, r, "reloc address not found");
        change(p)->addend = old_field(lk, r);
        r = p->now;
    }
    cbi_osec *sec = r->is_rela || lk->opt->force_rela ? r->target->rela : r->target->rel;
    if (!sec)
        out_of_range(lk, r, "relocation is past end of offset");
    if (!lk->mercury && !in_range(lk, r))
        lk->patching->patches.kept_astray = true;
    return sec;
}

static void keep(const cbi_linker *lk, patch *p)
{
    cbi_osec *sec = make_kept(lk, p);
    cbi_vec_push(lk->ctx, &sec->relocs, settled(lk, p));
}

static CBI_NORETURN void deleted_symbol(const cbi_linker *lk, const cbi_lrel *r)
{
    const cbi_failure *later = cbi_deferred(lk, CBI_FAILS_AT_TABLES);
    cbi_fatal(lk->ctx, "deleted-symbol",
              &(cbi_place){.file = r->obj ? r->obj->file : NULL,
                           .section = r->target->name->s,
                           .symbol = r->sym ? r->sym->name->s : NULL},
              later ? later->help : NULL, "Internal error: reference to deleted symbol");
}

bool cbi_is_recorded(const cbi_linker *lk, const cbi_lsym *sym)
{
    return cbi_placement_of(lk, sym).recorded || cbi_map_get(&lk->patches->recorded, CBI_KEY(sym));
}

/* Not recorded: numbers of the link's, and in final links dynamic shared memory (but with -g),
 * texture slots, and optimizer constants that left their section, whose symbols are gone. */
static bool is_recorded(const cbi_linker *lk, const patch *p)
{
    const cbi_lrel *r = p->now;
    const cbi_lsym *sym = r->sym;
    if (!sym)
        return true;
    bool number = sym->internal && !sym->sec; /* .nv.ptx.const0.size */
    if (number)
        return false;
    if (!lk->exec)
        return true;
    if (cbi_is_image(sym) || cbi_placement_of(lk, sym).in_banks)
        return false;
    if (!cbi_is_shared_var(sym) || (sym->size && !cbi_placement_of(lk, sym).unplaced))
        return true;
    if (lk->shows_debug)
        return !CUDA_IS_INTERNAL(sym->other); /* not what -r made of them */
    const cbi_func *user = r->target->func;
    if (!lk->layout->dynamic_recorded || !user ||
        (sym->size == 0 && (cbi_fate_of(lk, user)->entry || cbi_entries_reaching(lk, user)->len)))
        return false;
    if (!cbi_is_recorded(lk, sym))
        cbi_defer(lk, CBI_FAILS_AT_RECORDS, settled(lk, p), NULL);
    return cbi_is_recorded(lk, sym);
}

/* What is recorded gets its symbol numbers late, and nvlink notices late. */
void cbi_link_check_records(const cbi_linker *lk)
{
    const cbi_failure *failure = cbi_deferred(lk, CBI_FAILS_AT_RECORDS);
    if (failure)
        deleted_symbol(lk, failure->rel);
}

static bool clears(const cbi_lrel *r)
{
    return cbi_reloc_find(r->type)->fields[0].source == CBI_SRC_ZERO;
}

static void record_resolved(const cbi_linker *lk, const patch *p)
{
    const cbi_lrel *r = p->now;
    /* Of the Mercury view little more than shared variables survives. */
    if (!lk->opt->preserve_relocs ||
        (lk->mercury && !(r->sym && cbi_is_shared_var(r->sym) && r->target->func)) ||
        !is_recorded(lk, p))
        return;
    cbi_lrel *copy = cbi_memdup(lk->ctx, r, sizeof *r);
    if (!r->is_rela)
        copy->addend = clears(r) ? 0 : old_field(lk, r);
    if (r->sym) {
        cbi_map_add(lk->ctx, &lk->patching->patches.recorded, CBI_KEY(r->sym));
        copy->addend += (int64_t)cbi_section_base(r);
    }
    cbi_vec_push(lk->ctx, &cbi_resolved_of(lk, r->target)->relocs, copy);
}

void cbi_link_check_replaced(const cbi_linker *lk)
{
    if (!lk->quirks.replaced_relocations_fail || !lk->mercury || !lk->exec ||
        (!lk->opt->kernels_used_count && !lk->opt->variables_used_count && !lk->opt->host.active))
        return;
    for (size_t i = 0; i < lk->symbols->rels.len; i++) {
        const cbi_lrel *r = &lk->symbols->rels.items[i];
        if (cbi_reloc_is_forgotten(lk, r))
            cbi_fatal(lk->ctx, "replaced-with-relocations",
                      &(cbi_place){.file = r->obj->file, .symbol = r->sym->name->s},
                      cbi_printf(lk->ctx,
                                 "weak variable '%s' is replaced by the one in '%s'; put that file "
                                 "first",
                                 r->sym->name->s, cbi_obj_file(lk, r->sym->def_obj)),
                      "Internal error: unexpected reloc");
        if (!cbi_reloc_in_replaced_code(r))
            continue;
        const cbi_func *f = r->target->func;
        cbi_fatal(lk->ctx, "replaced-with-relocations",
                  &(cbi_place){.file = r->obj->file, .symbol = f->sym->name->s},
                  cbi_printf(lk->ctx,
                             "weak function '%s' is replaced by the copy in '%s'; put that file "
                             "first",
                             f->sym->name->s, f->obj->file),
                  "Internal error: unexpected reloc");
    }
}

/* Kept for a symbol that is not resolved here; otherwise nvlink gives up. */
static void relocate_unknown(const cbi_linker *lk, patch *p)
{
    const cbi_lrel *r = p->now;
    if (r->sym && cbi_keeps_symbol(lk, r->sym)) {
        keep(lk, p);
        return;
    }
    cbi_fatal(lk->ctx, "unknown-relocation",
              &(cbi_place){.file = r->obj ? r->obj->file : NULL, .section = r->target->name->s},
              cbi_printf(lk->ctx, "relocation type %u is not known", r->type),
              "Internal error: unexpected NVRS");
}

/* To a unified table that no input defines. */
static void relocate_unified(const cbi_linker *lk, patch *p)
{
    if (strcmp(p->now->sym->name->s, "__UFT_OFFSET") == 0)
        return;
    if (!lk->exec)
        keep(lk, p);
    else if (cbi_reloc_find(p->now->type)->action == CBI_RELOC_UNIFIED)
        deleted_symbol(lk, p->now);
}

/* sm_100+: a place in reserved shared memory is told to the driver, too. */
static bool is_reserved(const cbi_linker *lk, const cbi_lrel *r)
{
    return lk->mercury && lk->exec && r->sym && cbi_is_reserved_var(r->sym);
}

/* Puts the value in its place. */
static void resolve_one(const cbi_linker *lk, patch *p)
{
    const cbi_lrel *r = p->now;
    const bool found = in_range(lk, r);
    if (is_reserved(lk, r)) {
        if (found) /* or else it is said of what is kept */
            lk->opt->view->patch_reserved(lk, r);
        keep(lk, p);
        return;
    }
    if (!found)
        out_of_range(lk, r, "reloc address not found");
    record_resolved(lk, p);
    resolved v = resolve_value(lk, r);
    if (lk->mercury)
        lk->opt->view->patch(lk, r, v.value, v.bank);
    else
        patch_section(lk, p, v.value, v.bank);
}

__attribute__((always_inline)) static inline void carry_out(const cbi_linker *lk, patch *p,
                                                            cbi_reloc_outcome outcome)
{
    switch (outcome) {
    case CBI_OUTCOME_DROP:
        return;
    case CBI_OUTCOME_CLEAR:
        clear_field(lk, p);
        return;
    case CBI_OUTCOME_PATCH:
        resolve_one(lk, p);
        return;
    case CBI_OUTCOME_BLANK:
        change(p)->type = 0;
        change(p)->sym = NULL;
        keep(lk, p);
        return;
    case CBI_OUTCOME_INSTANCE:
        change(p)->sym = cbi_func_layout_of(lk, p->now->target->func)->instance;
        keep(lk, p);
        return;
    case CBI_OUTCOME_KEEP:
        keep(lk, p);
        return;
    case CBI_OUTCOME_UNIFIED:
        relocate_unified(lk, p);
        return;
    case CBI_OUTCOME_UNKNOWN:
        relocate_unknown(lk, p);
        return;
    case CBI_OUTCOME_DELETED:
        deleted_symbol(lk, p->now);
    case CBI_OUTCOME_ELSEWHERE:
        cbi_fatal(lk->ctx, "pc-relative", &(cbi_place){.section = p->now->target->name->s}, NULL,
                  "Internal error: PC relative branch address should be in the same section");
    }
}

/* What becomes of it, and what it is by then.  Calls of this would be a tenth of the walk. */
__attribute__((always_inline)) static inline cbi_reloc_outcome decide(const cbi_linker *lk,
                                                                      patch *p)
{
    const cbi_reloc_type *type = cbi_reloc_find(p->now->type);
    if (!type || p->now->type == R_CUDA_NONE_LAST)
        return CBI_OUTCOME_UNKNOWN;
    const cbi_lsym *sym = p->now->sym;
    if (type->action == CBI_RELOC_DROP && (p->now->type == 0 || !sym))
        return CBI_OUTCOME_DROP;
    if (sym && cbi_is_undefined(lk, sym) && cbi_is_unified_name(sym->name->s))
        return CBI_OUTCOME_UNIFIED;
    if (lk->exec && type->action == CBI_RELOC_UNIFIED) {
        change(p)->type = type->plain;
        type = cbi_reloc_find(p->now->type);
    }
    if (sym && sym->func && sym->func->alias_of && !cbi_is_inner(lk, sym->func))
        change(p)->sym = sym->func->alias_of->sym;
    return cbi_reloc_decide(lk, type, p->now);
}

/* The list is walked backwards. */
static void fetch_earlier(const cbi_rel_span *rels, size_t i)
{
    cbi_fetch(CBI_LATER_BACK(rels->items, i).sym);
    const cbi_lsym *soon = CBI_SOON_BACK(rels->items, i).sym;
    if (soon && soon->func)
        cbi_fetch(soon->func);
    else if (soon)
        cbi_fetch(soon->sec);
}

static void relocate_all(const cbi_linker *lk, const cbi_rel_span *rels)
{
    patch p;
    p.last_in = NULL;
    for (size_t i = rels->len; i-- > 0;) {
        fetch_earlier(rels, i);
        p.now = &rels->items[i];
        if (cbi_reloc_counts(lk, p.now))
            carry_out(lk, &p, decide(lk, &p));
    }
}

/* ---- in threads ---- */

static bool is_about_code(const cbi_lrel *r)
{
    return cbi_is_code(r->target);
}

static bool is_in_own_bytes(patch *p)
{
    const cbi_lrel *r = p->now;
    return is_about_code(r) ||
           (!(r->target->flags & SHF_ALLOC) && piece_for(p, cbi_reloc_find(r->type)));
}

/* Does it neither fail nor touch what is not its object's?  That are its code with the lists for
 * it, and its pieces of debug data. */
static bool is_sure(const cbi_linker *lk, patch *p, cbi_reloc_outcome outcome)
{
    const cbi_lrel *r = p->now;
    const cbi_osec *target = r->target;
    if (!r->obj || !in_range(lk, r))
        return false;
    switch (outcome) {
    case CBI_OUTCOME_DROP:
        return true;
    case CBI_OUTCOME_PATCH: /* where shared memory lies depends on who reaches the code */
        return !(r->sym && cbi_is_shared_var(r->sym)) && is_in_own_bytes(p);
    case CBI_OUTCOME_CLEAR:
        return is_in_own_bytes(p);
    case CBI_OUTCOME_KEEP:
        if (lk->opt->force_rela)
            return target->rela && is_about_code(r);
        return r->is_rela ? target->rela : target->rel;
    default:
        return false;
    }
}

/* An entry that is decided. */
typedef struct waiting_entry {
    const cbi_lrel *rel;
    cbi_osec *list; /* of entries that are kept, to which it goes; NULL: it is to be carried out */
    cbi_reloc_outcome outcome;
} waiting_entry;
typedef CBI_VEC(waiting_entry) waiting_list;

/* The i-th of the walk. */
static const cbi_lrel *walked(const cbi_rel_span *rels, size_t i)
{
    return &rels->items[rels->len - 1 - i];
}

static bool joins_walked(const cbi_linker *lk, size_t i)
{
    const cbi_rel_span *rels = &lk->layout->rels;
    return walked(rels, i)->obj == walked(rels, i - 1)->obj;
}

/* arg: those that wait, by share.  When one waits, what comes later of its object does, too. */
static void relocate_sure(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    const cbi_rel_span *rels = &lk->layout->rels;
    waiting_list waiting = {0};
    const cbi_lobj *held = NULL;
    patch p;
    p.last_in = NULL;
    for (size_t i = share->first; i < share->end; i++) {
        fetch_earlier(rels, rels->len - 1 - i);
        p.now = walked(rels, i);
        if (!cbi_reloc_counts(lk, p.now))
            continue;
        waiting_entry entry = {.outcome = decide(lk, &p)};
        if (p.now->obj == held || !is_sure(lk, &p, entry.outcome)) {
            held = p.now->obj;
        } else if (entry.outcome == CBI_OUTCOME_KEEP && !is_about_code(p.now)) {
            entry.list = make_kept(lk, &p);
        } else {
            carry_out(lk, &p, entry.outcome);
            continue;
        }
        entry.rel = settled(lk, &p);
        cbi_vec_push(lk->ctx, &waiting, entry);
    }
    ((waiting_list *)arg)[share->number] = waiting;
}

static void relocate_waiting(const cbi_linker *lk, const waiting_list *waiting)
{
    patch p;
    p.last_in = NULL;
    for (size_t i = 0; i < waiting->len; i++) {
        const waiting_entry *entry = &waiting->items[i];
        if (entry->list) {
            cbi_vec_push(lk->ctx, &entry->list->relocs, entry->rel);
            continue;
        }
        p.now = entry->rel;
        carry_out(lk, &p, entry->outcome);
    }
}

static void relocate_in_shares(const cbi_linker *lk, const cbi_shares *shares)
{
    waiting_list *waiting = CBI_NEW_ARRAY(lk->ctx, shares->count, waiting_list);
    cbi_link_each_share(lk, shares, relocate_sure, waiting);
    for (size_t i = 0; i < shares->count; i++) {
        relocate_waiting(lk, &waiting[i]);
        cbi_vec_free(lk->ctx, &waiting[i]);
    }
}

const cbi_patches *cbi_patches_begin(const cbi_linker *lk, cbi_patches_work **ret_work)
{
    *ret_work = CBI_NEW(lk->ctx, cbi_patches_work);
    return &(*ret_work)->patches;
}

static void settle(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    (void)arg;
    for (size_t i = share->first; i < share->end; i++) {
        cbi_fetch(CBI_LATER(lk->records->secs.items, i, lk->records->secs.len));
        cbi_fetch(CBI_SOON(lk->records->secs.items, i, lk->records->secs.len)->pieces.items);
        if (!cbi_is_dead(lk, lk->records->secs.items[i]))
            cbi_sec_settle(lk, lk->records->secs.items[i]);
    }
}

/* ---- what a relocatable output cannot say any more ---- */

typedef enum fixed_place { NOT_FIXED, FIXED_SHARED, FIXED_CONSTANT, FIXED_KINDS } fixed_place;

/* Will the code read from here, wherever a later link puts the variable? */
static fixed_place is_fixed(const cbi_linker *lk, const cbi_lrel *r)
{
    const cbi_func *func = r->target->func;
    patch p = {.now = r};
    if (!r->sym || !func || !cbi_reloc_counts(lk, r) || decide(lk, &p) != CBI_OUTCOME_PATCH)
        return NOT_FIXED;
    if (cbi_is_shared_var(r->sym)) /* a kernel takes its own along */
        return cbi_is_kernel(func) || r->sym->size == 0 ? NOT_FIXED : FIXED_SHARED;
    const cbi_osec *sec = cbi_placement_of(lk, r->sym).sec;
    return sec && cbi_is_constant_type(sec->type) && sec->type != SHT_CUDA_CONSTANT_B0 &&
                   !(cbi_is_kernel(func) && sec->func)
               ? FIXED_CONSTANT
               : NOT_FIXED;
}

void cbi_link_warn_fixed(const cbi_linker *lk)
{
    static const char *const kinds[FIXED_KINDS] = {"", "shared memory", "constants"};
    if (lk->exec || lk->terse || lk->ctx->error_count)
        return;
    const cbi_lrel *first[FIXED_KINDS] = {NULL};
    size_t counts[FIXED_KINDS] = {0};
    for (size_t i = 0; i < lk->layout->rels.len; i++) {
        const cbi_lrel *r = &lk->layout->rels.items[i];
        const fixed_place kind = is_fixed(lk, r);
        if (!first[kind])
            first[kind] = r;
        counts[kind]++;
    }
    for (fixed_place kind = FIXED_SHARED; kind < FIXED_KINDS; kind++) {
        const cbi_lrel *r = first[kind];
        if (!r)
            continue;
        const cbi_lsym *func = r->target->func->sym;
        cbi_warning(lk->ctx, "place-fixed",
                    &(cbi_place){.file = r->obj ? r->obj->file : NULL, .symbol = func->name->s},
                    "link all inputs in one step: a later link may put it elsewhere, and the code, "
                    "nvlink's as well, would not know",
                    "Option '-r' fixes where code finds %s, %zu time%s; first: '%s' in '%s'",
                    kinds[kind], counts[kind], counts[kind] == 1 ? "" : "s", r->sym->name->s,
                    func->name->s);
    }
}

void cbi_link_settle(const cbi_linker *lk)
{
    cbi_link_in_shares(lk, lk->records->secs.len, settle, NULL);
}

void cbi_link_check_places(const cbi_linker *lk)
{
    const cbi_rel_span *rels = &lk->layout->rels;
    if (!lk->quirks.namesakes_confused || !lk->mercury || !lk->exec)
        return;
    for (size_t i = rels->len; i-- > 0;) {
        patch p = {.now = &rels->items[i]};
        if (cbi_is_code(p.now->target) && cbi_reloc_counts(lk, p.now) && !in_range(lk, p.now) &&
            decide(lk, &p) == CBI_OUTCOME_PATCH && !is_reserved(lk, p.now))
            out_of_range(lk, p.now, "reloc address not found");
    }
}

void cbi_link_relocate(const cbi_linker *lk)
{
    const cbi_shares shares = cbi_link_cut(lk, lk->layout->rels.len, joins_walked);
    /* the second view and what --preserve-relocs records are of the link as a whole */
    if (shares.count > 1 && !lk->mercury && !lk->opt->preserve_relocs)
        relocate_in_shares(lk, &shares);
    else
        relocate_all(lk, &lk->layout->rels);
    relocate_all(lk, &lk->layout->moved);
}
