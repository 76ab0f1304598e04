/* Numbers to draw from, and fields of a device ELF that get other values: what the mutators of
 * libFuzzer and of mutants.c have in common. */
#ifndef CBI_FUZZ_FIELDS_H
#define CBI_FUZZ_FIELDS_H

#include "fuzz.h"

/* ---- numbers ---- */

static inline uint64_t next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline size_t below(uint64_t *state, size_t n)
{
    return n ? next(state) % n : 0;
}

/* ---- a field ---- */

/* Gives the field at the offset, if it is inside, another value: special, near, or any. */
static inline void poke(uint8_t *data, size_t size, uint64_t offset, unsigned width,
                        uint64_t *state)
{
    static const uint64_t special[] = {
        0,          1,          2,          3,          7,          0xff,       0x100,
        0xfff1,     0xfff2,     0xffff,     0x10000,    0x7fffffff, 0x80000000, 0xfffffff0,
        0xffffffff, UINT64_MAX, 1ull << 63, 1ull << 40, 1ull << 31, 1ull << 34, 1ull << 48};
    static const int64_t near[] = {-64, -16, -8, -4, -1, 1, 2, 4, 8, 16, 24, 64};
    if (!cbi_fits(offset, width, size))
        return;
    uint64_t value = 0;
    memcpy(&value, data + offset, width);
    switch (below(state, 6)) {
    case 0:
    case 1:
        value = special[below(state, CBI_COUNT(special))];
        break;
    case 2:
        value = below(state, 256);
        break;
    case 3:
        value ^= UINT64_C(1) << below(state, 8 * width);
        break;
    case 4:
        value += (uint64_t)near[below(state, CBI_COUNT(near))];
        break;
    default:
        value = next(state);
    }
    memcpy(data + offset, &value, width);
}

typedef struct field {
    uint8_t offset, width;
} field;

static const field shdr_fields[] = {{0, 4},  {4, 4},  {8, 8},  {16, 8}, {24, 8},
                                    {32, 8}, {40, 4}, {44, 4}, {48, 8}, {56, 8}};
static const field sym_fields[] = {{0, 4}, {4, 1}, {5, 1}, {6, 2}, {8, 8}, {16, 8}};
static const field rela_fields[] = {{0, 8}, {8, 4}, {12, 4}, {16, 8}};
static const field ehdr_fields[] = {{4, 1},  {5, 1},  {6, 1},  {7, 1},  {8, 1},
                                    {16, 2}, {20, 4}, {32, 8}, {40, 8}, {48, 4},
                                    {54, 2}, {56, 2}, {58, 2}, {60, 2}, {62, 2}};

static inline void poke_one_of(uint8_t *data, size_t size, uint64_t start, const field *fields,
                               size_t count, uint64_t *state)
{
    const field *f = &fields[below(state, count)];
    poke(data, size, start + f->offset, f->width, state);
}

#endif
