/* nvlink makes the operand of the relocated instruction, which another function of the name has
 * there, a label.  Where the instruction can hold one it is written as 0, and the addend is where
 * the label lies; what the finalizer makes anew gets the number of the label or nothing, and the
 * addend stays.  Rules and experiments: docs/code-rewriting.md, "Functions of one name". */
#include "mercury/labels.h"

#include "format/reloc.h"
#include "mercury/rewrite.h"
#include "sass/opcodes.h"

enum { NONE = UINT32_MAX };

typedef struct label_state {
    const uint8_t *text;
    uint32_t total;    /* instructions in front of the tail */
    uint32_t *numbers; /* by instruction: of the block or the label there, or NONE */
    uint32_t count;
} label_state;

static bool has_distance(uint32_t op)
{
    return op == CBI_OP_BRA || op == CBI_OP_BRA_U || op == CBI_OP_BSSY;
}

static uint32_t op_at(const label_state *s, uint32_t i)
{
    return cbi_sass_opcode(s->text + (size_t)i * CBI_SASS_INSTRUCTION);
}

/* The blocks that the code has before any label counts: nvlink parts it at what changes the flow,
 * not where that leads.  Calls, and what waits for other threads of the warp, stand alone. */
static void find_blocks(cbi_ctx *ctx, label_state *s)
{
    bool *starts = CBI_NEW_ARRAY(ctx, s->total + 1, bool);
    starts[0] = true;
    for (uint32_t i = 0; i < s->total; i++) {
        const uint32_t op = op_at(s, i);
        const bool alone = (cbi_op_has(op, CBI_OPF_CALL) && op != CBI_OP_RET) || op == CBI_OP_BSYNC;
        const bool reduces = i > 1 && i + 1 < s->total && op_at(s, i - 2) == CBI_OP_REDUX &&
                             op_at(s, i + 1) == CBI_OP_BRA;
        starts[i] |= alone || op == CBI_OP_WARPSYNC_R;
        starts[i + 1] = alone || op == CBI_OP_BPT || cbi_op_has(op, CBI_OPF_BRANCH) ||
                        (op == CBI_OP_ENDCOLLECTIVE && !reduces);
    }
    for (uint32_t i = 0; i < s->total; i++)
        s->numbers[i] = starts[i] ? s->count++ : NONE;
}

/* The number of the label at instruction i. */
static uint32_t number_of(label_state *s, uint32_t i)
{
    if (i >= s->total)
        return 0;
    if (s->numbers[i] == NONE)
        s->numbers[i] = s->count++;
    return s->numbers[i];
}

static void set_field(uint8_t *insn, unsigned from, unsigned width, uint64_t value)
{
    const uint64_t mask = ((UINT64_C(1) << width) - 1) << from;
    cbi_st64(insn, (cbi_ld64(insn) & ~mask) | (value << from & mask));
}

static bool is_store(uint32_t op)
{
    const uint8_t shape = cbi_instruction_of(op)->shape;
    return shape == CBI_SHAPE_STORE || shape == CBI_SHAPE_STORE_NARROW ||
           shape == CBI_SHAPE_REDUCE || op == CBI_OP_REDG || op == CBI_OP_ARRIVES;
}

/* Does the addend of its label become 0, too?  Not that of BRA.DIV, which names a register, and of
 * a BSSY that makes all threads wait. */
static bool leads_to_label(const uint8_t *insn)
{
    const cbi_sass w = cbi_sass_load(insn);
    switch (cbi_sass_op(w)) {
    case CBI_OP_CALL_ABS:
        return true;
    case CBI_OP_BRA:
        return cbi_sass_bits(w, 24, 8) == 0;
    case CBI_OP_BSSY:
        return cbi_sass_bits(w, 72, 2) != 0;
    default:
        return false;
    }
}

/* Writes the operand that is a label now, if it is one of those that nvlink can relocate. */
static void set_operand(uint8_t *insn, uint32_t value)
{
    const uint32_t op = cbi_sass_opcode(insn);
    switch (op) {
    case CBI_OP_MOV_I:
    case CBI_OP_UMOV:
    case CBI_OP_NANOSLEEP:
        set_field(insn, 32, 32, value);
        break;
    case CBI_OP_MOV_IC: /* of 64 bits, from bit 24 on */
    case CBI_OP_UMOV_IC:
        set_field(insn, 24, 40, value);
        set_field(insn + 8, 0, 24, 0);
        break;
    case CBI_OP_LDGSTS:
        set_field(insn, 44, 20, value);
        break;
    case CBI_OP_BAR: /* how many threads */
    case CBI_OP_BAR_RI:
        set_field(insn, 42, 12, value);
        break;
    default:
        if (is_store(op))
            set_field(insn, 40, 24, value);
        break;
    }
}

/* Of two labels at one instruction the later one is its operand. */
static const cbi_mercury_place *label_at(const cbi_section *list, size_t k,
                                         const cbi_mercury_places *places)
{
    if (k >= cbi_rela_count(list) || !cbi_is_return_address(cbi_rela_at(list, k).type))
        return NULL;
    return cbi_mercury_place_of(places, cbi_rela_at(list, k).offset);
}

int64_t cbi_label_addend(const cbi_section *list, size_t k, const cbi_mercury_places *places,
                         const uint8_t *text)
{
    const int64_t mercury = cbi_rela_at(list, k).addend;
    const cbi_mercury_place *at = label_at(list, k, places);
    const cbi_mercury_place *to = cbi_mercury_place_at(places, (uint64_t)mercury);
    if (!at || !to || at->made || at == label_at(list, k + 1, places))
        return mercury;
    return leads_to_label(text + at->main) ? 0 : (int64_t)to->sass;
}

/* A label and the instruction whose operand it is. */
typedef struct label_use {
    const cbi_mercury_place *at, *to;
    uint64_t offset;
    size_t index; /* in its list */
    bool hidden;  /* by a later one at the same instruction */
} label_use;
typedef CBI_VEC(label_use) label_uses;

static int compare_uses(const void *a, const void *b)
{
    const label_use *x = a, *y = b;
    return x->offset != y->offset ? cbi_order(x->offset, y->offset) : cbi_order(x->index, y->index);
}

/* In the order of the code. */
static label_uses find_uses(const cbi_linker *lk, const cbi_osec *list,
                            const cbi_mercury_places *places)
{
    label_uses uses = {0};
    for (size_t k = 0; k < list->relocs.len; k++) {
        const cbi_lrel *r = list->relocs.items[k];
        if (!cbi_is_return_address(r->type))
            continue;
        label_use use = {cbi_mercury_place_of(places, r->offset),
                         cbi_mercury_place_at(places, (uint64_t)r->addend), r->offset, k, false};
        if (use.at && use.to)
            cbi_vec_push(lk->ctx, &uses, use);
    }
    if (uses.len)
        qsort(uses.items, uses.len, sizeof *uses.items, compare_uses);
    for (size_t k = 0; k + 1 < uses.len; k++)
        uses.items[k].hidden = uses.items[k].at == uses.items[k + 1].at;
    return uses;
}

static cbi_labels *labels_of(const cbi_linker *lk, uint64_t size)
{
    cbi_labels *labels = CBI_NEW(lk->ctx, cbi_labels);
    labels->starts = CBI_NEW_ARRAY(lk->ctx, size / CBI_SASS_INSTRUCTION + 1, bool);
    labels->leads = CBI_NEW_ARRAY(lk->ctx, size / CBI_SASS_INSTRUCTION + 1, uint32_t);
    return labels;
}

cbi_labels *cbi_labels_apply(const cbi_linker *lk, const cbi_func *func)
{
    const cbi_mercury_places *places = cbi_mercury_places_of(lk, func);
    const cbi_osec *list = func->text->rela;
    if (!places || !list)
        return NULL;
    const label_uses uses = find_uses(lk, list, places);
    if (!uses.len)
        return NULL;
    uint8_t *text = cbi_mercury_code_in(lk, func->text);
    cbi_labels *labels = labels_of(lk, func->text->size);
    label_state s = {text, (uint32_t)(places->items[places->len - 1].sass / CBI_SASS_INSTRUCTION),
                     NULL, 0};
    s.numbers = CBI_NEW_ARRAY(lk->ctx, s.total + 1, uint32_t);
    find_blocks(lk->ctx, &s);
    for (size_t k = 0; k < uses.len; k++) {
        const label_use *use = &uses.items[k];
        const uint32_t to = (uint32_t)(use->to->sass / CBI_SASS_INSTRUCTION);
        uint8_t *insn = text + use->at->main;
        labels->starts[to] = true;
        if (use->hidden)
            continue;
        const uint32_t number = number_of(&s, to);
        if (has_distance(cbi_sass_opcode(insn)))
            labels->leads[use->at->main / CBI_SASS_INSTRUCTION] = to + 1;
        else
            set_operand(insn, use->at->made ? number : 0);
    }
    return labels;
}

cbi_labels *cbi_labels_move(const cbi_linker *lk, const cbi_func *func, const cbi_labels *labels)
{
    const cbi_rewrite *rw = cbi_rewrite_of(lk, func);
    const uint64_t end = rw ? rw->old_size : func->text->size;
    cbi_labels *moved = labels_of(lk, rw ? rw->size : end);
    for (uint64_t at = 0; at < end; at += CBI_SASS_INSTRUCTION) {
        const uint64_t i = at / CBI_SASS_INSTRUCTION;
        if (labels->starts[i])
            moved->starts[cbi_rewrite_map(rw, at) / CBI_SASS_INSTRUCTION] = true;
        if (labels->leads[i])
            moved->leads[cbi_rewrite_self(rw, at) / CBI_SASS_INSTRUCTION] =
                (uint32_t)(cbi_rewrite_map(rw, (labels->leads[i] - 1) * CBI_SASS_INSTRUCTION) /
                               CBI_SASS_INSTRUCTION +
                           1);
    }
    return moved;
}

void cbi_labels_clear_branches(const cbi_linker *lk, const cbi_func *func, const cbi_labels *labels)
{
    const cbi_rewrite *rw = cbi_rewrite_of(lk, func);
    uint8_t *text = rw ? rw->text : cbi_mercury_code_in(lk, func->text);
    for (uint64_t at = 0; at < (rw ? rw->old_size : func->text->size); at += CBI_SASS_INSTRUCTION)
        if (labels->leads[at / CBI_SASS_INSTRUCTION])
            cbi_rewrite_set_distance(text + cbi_rewrite_self(rw, at), 0);
}
