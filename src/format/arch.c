#include "format/arch.h"

#include "format/cuda_elf.h"

/* clang-format off */
enum { RESERVED = CUDA_RESERVED_SHARED };
const cbi_chip cbi_chips[] = {
    /* sm, shared_max, reserved, same_code, finalized_from, fast_bit, fast_mask, special_cycles,
     * fence_reads, quick, quick_power, other_pace, runs_all, late_alu, slow_doubles,
     * slow_integers */
    {75, 0x10000, 0, {0}, 0, 0, 0, 0, false, false, false, false, false, false, false, false},
    {80, 0x28c00, 0, {0}, 0, 0, 0, 0, false, false, false, false, false, false, false, false},
    {86, 0x18c00, 0, {80}, 0, 0, 0, 0, false, false, false, false, false, false, false, false},
    {87, 0x28c00, 0, {0}, 0, 0, 0, 0, false, false, false, false, false, false, false, false},
    {88, 0x18c00, 0, {0}, 0, 0, 0, 0, false, false, false, false, false, false, false, false},
    {89, 0x18c00, 0, {80, 86}, 0, 0, 0, 0, false, false, false, false, false, false, false, false},
    {90, 0x38c00, RESERVED, {0}, 0, 0, 0, 0, false, false, false, false, false, false, false, false},
    {100, 0x38c00, RESERVED, {0}, 0, 0x01, 0x01 | 0x08, 8, true, true, false, false, false, false, false, false},
    {103, 0x38c00, RESERVED, {0}, 100, 0x08, 0, 8, true, false, true, true, false, false, true, false},
    {110, 0x38c00, RESERVED, {0}, 0, 0x02, 0, 1, true, false, true, false, false, false, true, false},
    {120, 0x18c00, RESERVED, {0}, 0, 0x10, 0x10 | 0x40, 1, false, false, false, false, false, true, true, true},
    {121, 0x18c00, RESERVED, {0}, 120, 0x40, 0, 1, false, false, false, false, true, true, true, true},
};
/* clang-format on */
const size_t cbi_chip_count = CBI_COUNT(cbi_chips);

const cbi_chip *cbi_chip_find(uint32_t sm)
{
    for (size_t i = 0; i < cbi_chip_count; i++)
        if (cbi_chips[i].sm == sm)
            return &cbi_chips[i];
    return NULL;
}

const cbi_chip *cbi_chip_made_from(uint32_t sm)
{
    for (size_t i = 0; i < cbi_chip_count; i++)
        if (sm && cbi_chips[i].finalized_from == sm)
            return &cbi_chips[i];
    return NULL;
}

const cbi_arch cbi_archs[] = {
    {"sm_75", 75, 0},      {"sm_80", 80, 0},      {"sm_86", 86, 0},      {"sm_87", 87, 0},
    {"sm_88", 88, 0},      {"sm_89", 89, 0},      {"sm_90", 90, 0},      {"sm_90a", 90, 'a'},
    {"sm_100", 100, 0},    {"sm_100a", 100, 'a'}, {"sm_100f", 100, 'f'}, {"sm_103", 103, 0},
    {"sm_103a", 103, 'a'}, {"sm_103f", 103, 'f'}, {"sm_110", 110, 0},    {"sm_110a", 110, 'a'},
    {"sm_110f", 110, 'f'}, {"sm_120", 120, 0},    {"sm_120a", 120, 'a'}, {"sm_120f", 120, 'f'},
    {"sm_121", 121, 0},    {"sm_121a", 121, 'a'}, {"sm_121f", 121, 'f'},
};
const size_t cbi_arch_count = CBI_COUNT(cbi_archs);

const cbi_arch *cbi_arch_find(const char *name)
{
    for (size_t i = 0; i < cbi_arch_count; i++)
        if (strcmp(cbi_archs[i].name, name) == 0)
            return &cbi_archs[i];
    return NULL;
}
