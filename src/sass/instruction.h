/* One instruction: 16 bytes, and the fields of its control bits. */
#ifndef CBI_SASS_INSTRUCTION_H
#define CBI_SASS_INSTRUCTION_H

#include "base/base.h"

enum {
    CBI_SASS_INSTRUCTION = 16, /* bytes */
    CBI_SB_NONE = 7,           /* no scoreboard */
    CBI_SB_NUMBERS = 6,        /* 0 to 5 */
    CBI_SB_EVERYTHING = 0x3f,  /* a wait that names nothing */
    CBI_SASS_STALL_MAX = 15,   /* also what code has that was not scheduled, */
    CBI_SASS_WAIT_BOTH = 3,    /* ... which waits for 0 and 1, all its numbers, everywhere */
    CBI_SASS_PT = 7,           /* the predicate that is always true */
    CBI_SASS_STACK_POINTER = 1,
};

typedef struct cbi_sass {
    uint64_t lo, hi;
} cbi_sass;

static inline cbi_sass cbi_sass_load(const uint8_t *bytes)
{
    return (cbi_sass){cbi_ld64(bytes), cbi_ld64(bytes + 8)};
}

static inline void cbi_sass_store(uint8_t *bytes, cbi_sass w)
{
    cbi_st64(bytes, w.lo);
    cbi_st64(bytes + 8, w.hi);
}

/* Bits low .. low + count - 1, count below 64. */
static inline uint64_t cbi_sass_bits(cbi_sass w, unsigned low, unsigned count)
{
    uint64_t v = low >= 64 ? w.hi >> (low - 64)
                           : w.lo >> low | (low && low + count > 64 ? w.hi << (64 - low) : 0);
    return v & ((UINT64_C(1) << count) - 1);
}

/* The opcode of an instruction: its low 12 bits. */
static inline uint16_t cbi_sass_opcode(const uint8_t *instruction)
{
    return cbi_ld16(instruction) & 0xfff;
}

/* The guard: a predicate, CBI_SASS_PT for none.  With its negation it has four bits. */
static inline uint32_t cbi_sass_guard(cbi_sass w)
{
    return (uint32_t)(w.lo >> 12 & 7);
}

/* The predicates that an instruction writes, and the one that it reads beside its guard. */
static inline uint32_t cbi_sass_first_result(cbi_sass w)
{
    return (uint32_t)cbi_sass_bits(w, 81, 3);
}

static inline uint32_t cbi_sass_second_result(cbi_sass w)
{
    return (uint32_t)cbi_sass_bits(w, 84, 3);
}

static inline uint32_t cbi_sass_read_predicate(cbi_sass w)
{
    return (uint32_t)cbi_sass_bits(w, 87, 3);
}

/* With the bit that negates it. */
static inline uint32_t cbi_sass_signed_read_predicate(cbi_sass w)
{
    return (uint32_t)cbi_sass_bits(w, 87, 4);
}

/* The scoreboard that a DEPBAR waits for. */
static inline uint32_t cbi_sass_named_scoreboard(cbi_sass w)
{
    return (uint32_t)cbi_sass_bits(w, 44, 3);
}

static inline uint32_t cbi_sass_signed_guard(cbi_sass w)
{
    return (uint32_t)(w.lo >> 12 & 15);
}

/* Under the guard !PT, as the dummy loads in front of a copy or a fence are. */
static inline bool cbi_sass_is_never(cbi_sass w)
{
    return cbi_sass_signed_guard(w) == (CBI_SASS_PT | 8);
}

/* ---- control fields, bits 105-125 ---- */

/* Field, first bit in the upper half, mask. */
#define CBI_SASS_CONTROL_FIELDS(FIELD)                                                             \
    FIELD(stall, 41, 15)         /* cycles to the next instruction */                              \
    FIELD(yield, 45, 1)          /* 1: the warp is not to be changed */                            \
    FIELD(write, 46, 7)          /* scoreboard of the result */                                    \
    FIELD(read, 49, 7)           /* scoreboard of the sources */                                   \
    FIELD(scoreboards, 46, 63)   /* both */                                                        \
    FIELD(wait, 52, 63)          /* one bit for each scoreboard that is waited for */              \
    FIELD(reuse, 58, 15)         /* sources that the next reader finds in the cache */             \
    FIELD(control, 41, 0x1fffff) /* all of them */

#define CBI_SASS_FIELD_ACCESS(name, shift, mask)                                                   \
    static inline uint32_t cbi_sass_##name(cbi_sass w)                                             \
    {                                                                                              \
        return (uint32_t)(w.hi >> (shift) & (mask));                                               \
    }                                                                                              \
    static inline void cbi_sass_set_##name(cbi_sass *w, uint32_t value)                            \
    {                                                                                              \
        w->hi = (w->hi & ~((uint64_t)(mask) << (shift))) | (uint64_t)value << (shift);             \
    }
CBI_SASS_CONTROL_FIELDS(CBI_SASS_FIELD_ACCESS)
#undef CBI_SASS_FIELD_ACCESS

/* Waits for these numbers, too, one bit each. */
static inline void cbi_sass_add_wait(cbi_sass *w, uint32_t numbers)
{
    w->hi |= (uint64_t)numbers << 52;
}

/* The scoreboards that it holds, one bit each. */
static inline uint32_t cbi_sass_holds(cbi_sass w)
{
    return (1u << cbi_sass_write(w) | 1u << cbi_sass_read(w)) & CBI_SB_EVERYTHING;
}

/* Was code not scheduled?  By its first instruction. */
static inline bool cbi_sass_is_unscheduled(cbi_sass first)
{
    return cbi_sass_stall(first) == CBI_SASS_STALL_MAX &&
           cbi_sass_wait(first) == CBI_SASS_WAIT_BOTH;
}

#endif
