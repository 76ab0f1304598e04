/* Which edges of the program ran and what its comparisons met, written to the file that the
 * variable EDGES names when the program ends: the number of edges, a byte with a count up to 255
 * for each, then 64-bit words for the comparisons.  For pick.py, which compiles with clang. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A word: where in the program, and which side is less, or that both are equal: to which opcode, or
 * to another value. */
enum { SLOTS = 1 << 18, FIRST_OPCODE = 0x200, LESS = 0x1000, MORE = 0x1001, EQUAL = 0x1002 };

extern const char __executable_start;

static uint8_t *first, *end;
static uint64_t seen[SLOTS];
static uint32_t used;

static void write_edges(void)
{
    const char *path = getenv("EDGES");
    FILE *f = path ? fopen(path, "wb") : NULL;
    if (!f)
        return;
    uint64_t count = (uint64_t)(end - first);
    fwrite(&count, 8, 1, f);
    fwrite(first, 1, count, f);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (seen[i])
            fwrite(&seen[i], 8, 1, f);
    fclose(f);
}

void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);

void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop)
{
    if (first)
        return;
    first = start;
    end = stop;
    atexit(write_edges);
}

static void note(const void *caller, uint64_t what)
{
    uint64_t place = (uint64_t)((const char *)caller - &__executable_start);
    uint64_t word = place << 20 | what;
    uint32_t at = (uint32_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 46);
    while (seen[at] && seen[at] != word)
        at = (at + 1) % SLOTS;
    if (seen[at] || used > SLOTS / 2)
        return;
    seen[at] = word;
    used++;
}

static uint64_t kind(uint64_t a, uint64_t b)
{
    if (a != b)
        return a < b ? LESS : MORE;
    return a >= FIRST_OPCODE && a < LESS ? a : EQUAL;
}

#define COMPARE(name, type)                                                                        \
    void __sanitizer_cov_trace_##name(type a, type b);                                             \
    void __sanitizer_cov_trace_##name(type a, type b)                                              \
    {                                                                                              \
        note(__builtin_return_address(0), kind(a, b));                                             \
    }

COMPARE(cmp1, uint8_t)
COMPARE(cmp2, uint16_t)
COMPARE(cmp4, uint32_t)
COMPARE(cmp8, uint64_t)
COMPARE(const_cmp1, uint8_t)
COMPARE(const_cmp2, uint16_t)
COMPARE(const_cmp4, uint32_t)
COMPARE(const_cmp8, uint64_t)

void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases);

void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases)
{
    for (uint64_t i = 0; i < cases[0]; i++)
        if (cases[2 + i] == value)
            note(__builtin_return_address(0), kind(value, value));
}
