/* The capability mask in .nv.compat: which other chips of the family can run the code as it is. */
#include "format/eicompat.h"
#include "mercury/mercury.h"
#include "sass/opcodes.h"

/* Instructions that the next chip of the family computes at another pace. */
static bool keeps_to_chip(const uint8_t *instruction)
{
    cbi_sass w = cbi_sass_load(instruction);
    uint8_t slow = cbi_instruction_of(cbi_sass_op(w))->slow;
    /* With another predicate, or with !PT. */
    bool combined = cbi_sass_signed_read_predicate(w) != CBI_SASS_PT;
    if (cbi_sass_op(w) == CBI_OP_FSETP_I)
        return cbi_sass_read_predicate(w) == CBI_SASS_PT;
    if (cbi_sass_op(w) == CBI_OP_DSETP_IC)
        return combined || cbi_sass_second_result(w) != CBI_SASS_PT;
    return slow == CBI_SLOW_DOUBLE || slow == CBI_SLOW_IMMA || slow == CBI_SLOW_DMMA;
}

uint64_t cbi_mercury_text_mask(uint32_t sm, const uint8_t *text, size_t size)
{
    const cbi_chip *chip = cbi_chip_find(sm);
    if (!chip)
        return 0;
    const cbi_chip *next = cbi_chip_made_from(sm);
    const size_t end = text && next && next->other_pace ? size : 0; /* code may take no bytes */
    for (size_t at = 0; at + CBI_SASS_INSTRUCTION <= end; at += CBI_SASS_INSTRUCTION)
        if (keeps_to_chip(text + at))
            return chip->fast_bit;
    return chip->fast_mask;
}

/* Of the record of tensor core instructions the two lowest fields, of two bits, say whether the
 * other chips of the families know them. */
static bool has_few_chips(uint64_t fields)
{
    return (fields & 3) == 2 || (fields >> 2 & 3) == 2;
}

uint64_t cbi_mercury_compat_chips(cbi_span compat)
{
    enum { CLASS_OF_FEW = 4 };
    uint64_t others = 0;
    for (size_t i = 0; i < cbi_chip_count; i++)
        others |= cbi_chips[i].finalized_from ? cbi_chips[i].fast_bit : 0;
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(compat, &pos, &attr))
        if ((attr.code == EICOMPAT_INST_TCGEN05_MMA && has_few_chips(attr.value)) ||
            (attr.code == EICOMPAT_ISA_CLASS && attr.value == CLASS_OF_FEW))
            return ~others;
    return UINT64_MAX;
}

uint64_t cbi_mercury_mask(const cbi_linker *lk, cbi_span compat)
{
    uint64_t mask = cbi_mercury_compat_chips(compat);
    bool any = false;
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        if (!cbi_is_text(sec) || !sec->func)
            continue;
        mask &= cbi_mercury_text_mask(lk->opt->arch->sm, sec->bytes, sec->size);
        any = true;
    }
    return any ? mask : 0;
}
