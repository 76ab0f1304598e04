/* Which input may be linked for which target: the rules that nvlink 13.0.88 applies. */
#include "format/arch.h"
#include "format/cuda_elf.h"
#include "format/eiattr.h"
#include "format/eicompat.h"

/* Old numbers of architectures, and whether nvlink's finalizer still takes code under them. */
static const struct {
    uint32_t from;
    uint32_t to;
    bool finalized;
} renumbered[] = {{104, 120, false}, {130, 107, true}, {101, 110, true}};

/* Does machine code for one number run unchanged on another? */
static bool is_same_code(uint32_t from, uint32_t to)
{
    const cbi_chip *chip = cbi_chip_find(to);
    return chip && from && (chip->same_code[0] == from || chip->same_code[1] == from);
}

uint32_t cbi_file_sm(uint8_t osabi, uint32_t e_flags)
{
    return osabi == ELFOSABI_CUDA ? EF_CUDA_SM(e_flags) : e_flags & 0xff;
}

uint32_t cbi_file_kind(uint8_t osabi, uint32_t e_flags)
{
    if (osabi == ELFOSABI_CUDA)
        return e_flags & (EF_CUDA_KIND_MERCURY | EF_CUDA_KIND_CAPMERC | EF_CUDA_KIND_SASS);
    return e_flags & EF_CUDA_LEGACY_CAPMERC ? EF_CUDA_KIND_CAPMERC : EF_CUDA_KIND_SASS;
}

cbi_arch_facts cbi_arch_read_facts(uint8_t osabi, uint32_t e_flags, const cbi_span *compat)
{
    cbi_arch_facts facts = {
        .sm = cbi_file_sm(osabi, e_flags),
        .mercury = (cbi_file_kind(osabi, e_flags) & ~(uint32_t)EF_CUDA_KIND_SASS) != 0,
        .level = 1,
        .isa = 0x100,
    };
    if (osabi != ELFOSABI_CUDA) {
        facts.specific = (e_flags & EF_CUDA_LEGACY_ACCELERATED) != 0;
        return facts;
    }
    /* Objects of this age always carry the section; without it nothing says they are portable. */
    bool assume_specific = cbi_sm_has_compat(facts.sm);
    if (!compat) {
        facts.specific = assume_specific;
        return facts;
    }
    cbi_arch_facts read = facts;
    read.has_compat = true;
    cbi_reader r = cbi_reader_at(*compat, 0);
    while (!r.bad && r.pos < r.span.size) {
        uint8_t format = cbi_read8(&r);
        uint8_t tag = cbi_read8(&r);
        uint16_t value = cbi_read16(&r);
        if (format == CBI_ATTR_SIZED)
            cbi_read_bytes(&r, value);
        switch (tag) {
        case EICOMPAT_ISA_CLASS:
            read.portability = (uint8_t)value;
            break;
        case EICOMPAT_ENABLE_OPPORTUNISTIC_FINALIZATION:
            read.level = (uint8_t)value;
            break;
        case EICOMPAT_MERCURY_ISA_VERSION:
            read.isa = value;
            break;
        case EICOMPAT_CUDA_ACCELERATOR_TARGET:
            read.specific = (value & 0xff) != 0;
            break;
        default:
            break;
        }
    }
    if (r.bad) {
        facts.specific = assume_specific;
        return facts;
    }
    return read;
}

/* The input's code, as it is, belongs to the target. */
static bool matches(const cbi_arch_facts *in, const cbi_arch *target)
{
    if (in->sm == target->sm)
        return !in->specific || target->suffix != 'f';
    if (is_same_code(in->sm, target->sm))
        return true;
    const cbi_chip *chip = cbi_chip_find(target->sm);
    return chip && chip->runs_all && chip->finalized_from == in->sm && !in->specific &&
           target->suffix != 'f';
}

uint32_t cbi_arch_renumbered(uint32_t sm)
{
    for (size_t i = 0; i < CBI_COUNT(renumbered); i++)
        if (renumbered[i].from == sm)
            return renumbered[i].to;
    return sm;
}

bool cbi_arch_has_finalizer(uint32_t sm)
{
    for (size_t i = 0; i < CBI_COUNT(renumbered); i++)
        if (renumbered[i].from == sm && !renumbered[i].finalized)
            return false;
    return cbi_chip_find(cbi_arch_renumbered(sm)) != NULL;
}

/* A finalizer can turn the input into code for the target. */
static bool can_finalize(const cbi_arch_facts *in, const cbi_arch *target)
{
    if (!in->has_compat || in->isa > CBI_MERCURY_ISA_MAX)
        return false;
    uint32_t from = cbi_arch_renumbered(in->sm);
    uint32_t to = target->sm;
    if (from == to)
        return true;
    if (in->level > 4 || from > to)
        return false;
    bool family = in->portability == 1 || in->portability == 2;
    if (from / 10 == to / 10)
        return in->specific ? (in->level == 2 || in->level == 3) && (family || in->portability == 3)
                            : family;
    if (in->portability != 1)
        return false;
    if (in->level == 3)
        return from != 110 && to != 110 && to != 121;
    if (in->level == 4)
        return to == 110 || to == 121 || from == 110;
    return false;
}

bool cbi_arch_accepts_cubin(const cbi_arch_facts *in, bool seen_mercury, const cbi_arch *target)
{
    return matches(in, target) || ((in->mercury || seen_mercury) && can_finalize(in, target));
}

bool cbi_arch_accepts_elf_entry(uint32_t sm, char suffix, bool portable, const cbi_arch *target)
{
    if (sm == target->sm)
        return true;
    if (suffix == 'a')
        return false;
    if (is_same_code(sm, target->sm))
        return true;
    const cbi_chip *chip = cbi_chip_find(target->sm);
    return portable && chip && chip->finalized_from == sm;
}

bool cbi_arch_accepts_ptx_entry(uint32_t sm, char suffix, const cbi_arch *target)
{
    if (suffix == 'a')
        return sm == target->sm && target->suffix == 'a';
    if (suffix == 'f')
        return sm / 10 == target->sm / 10 && sm <= target->sm;
    return sm <= target->sm;
}
