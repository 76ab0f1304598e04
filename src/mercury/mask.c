/* The capability mask in .nv.compat: which other chips of the family can run the code as it is. */
#include "format/eicompat.h"
#include "mercury/mercury.h"

/* Instructions that the next chip of the family encodes differently. */
static bool keeps_to_sm100(const uint8_t *instruction)
{
    enum { IMMA = 0x237, DMMA = 0x23f, FSETP_IMMEDIATE = 0x80b, SOURCE_PREDICATE = 23, PT = 7 };
    const uint16_t opcode = cbi_sass_opcode(instruction);
    switch (opcode & 0x1ff) {
    case 0x028: /* DMUL */
    case 0x029: /* DADD */
    case 0x02a: /* DSETP */
    case 0x02b: /* DFMA */
        return true;
    default:
        if (opcode == FSETP_IMMEDIATE) /* not combined with another predicate */
            return (cbi_ld64(instruction + 8) >> SOURCE_PREDICATE & 7) == PT;
        return opcode == IMMA || opcode == DMMA;
    }
}

uint64_t cbi_mercury_text_mask(uint32_t sm, const uint8_t *text, size_t size)
{
    const cbi_chip *chip = cbi_chip_find(sm);
    if (!chip)
        return 0;
    for (size_t at = 0; sm == 100 && at + CBI_SASS_INSTRUCTION <= size; at += CBI_SASS_INSTRUCTION)
        if (keeps_to_sm100(text + at))
            return chip->fast_bit;
    return chip->fast_mask;
}

uint64_t cbi_mercury_mask(cbi_linker *lk, cbi_span compat)
{
    uint64_t mask = UINT64_MAX;
    bool any = false;
    for (size_t i = 1; i < lk->out.len; i++) {
        const cbi_osec *sec = lk->out.items[i];
        if (!cbi_is_text(sec) || !sec->func)
            continue;
        mask &= cbi_mercury_text_mask(lk->opt->arch->sm, sec->bytes, sec->size);
        any = true;
    }
    if (!any)
        return 0;
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(compat, &pos, &attr)) {
        if ((attr.code == EICOMPAT_INST_TCGEN05_MMA &&
             ((attr.value & 3) == 2 || (attr.value >> 2 & 3) == 2)) ||
            (attr.code == EICOMPAT_ISA_CLASS && attr.value == 4))
            mask &= ~(cbi_mercury_target_bit(103) | cbi_mercury_target_bit(121));
    }
    return mask;
}
