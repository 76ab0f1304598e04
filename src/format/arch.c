#include "format/arch.h"

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
