/* Fences of code that ptxas -ewp finished: what a final link takes away comes back with -r and -g.
 * Rule and experiment: docs/code-rewriting.md, "Code that comes finished". */
#include "mercury/fences.h"
#include "sass/instruction.h"
#include "sass/opcodes.h"

/* Kinds of MEMBAR, bits 72-79. */
enum { OF_CTA = 0x00, OF_GPU = 0x20, OF_SYSTEM = 0x30, FLUSH = 0x80, WITH_FLUSH = 0x80 };
enum { LOADS = 4 }; /* dummy ones, in front of a fence */

static uint32_t kind_of(cbi_sass w)
{
    return (uint32_t)cbi_sass_bits(w, 72, 8);
}

static cbi_sass at(const uint8_t *text, uint32_t i)
{
    return cbi_sass_load(text + (size_t)i * CBI_SASS_INSTRUCTION);
}

static bool is_fence(cbi_sass w)
{
    uint32_t kind = kind_of(w) & ~(uint32_t)WITH_FLUSH;
    return cbi_sass_op(w) == CBI_OP_MEMBAR &&
           (kind == OF_CTA || kind == OF_GPU || kind == OF_SYSTEM);
}

static bool is_flush(cbi_sass w)
{
    return cbi_sass_op(w) == CBI_OP_MEMBAR && kind_of(w) == FLUSH;
}

/* May it be about shared memory, for which a fence behind it waits? */
static bool may_touch_shared(cbi_sass w)
{
    static const uint16_t generic_or_shared[] = {CBI_OP_LD,       CBI_OP_ST,    CBI_OP_ATOM,
                                                 CBI_OP_ATOM_CAS, CBI_OP_ATOMS, CBI_OP_ATOMS_CAS_R,
                                                 CBI_OP_WARPSYNC};
    uint32_t op = cbi_sass_op(w);
    bool touches = cbi_op_has(op, CBI_OPF_SHARED) && !cbi_sass_is_never(w);
    for (size_t i = 0; i < CBI_COUNT(generic_or_shared); i++)
        touches |= cbi_op_is_form_of(op, generic_or_shared[i]);
    return touches;
}

/* What belongs in front of fence i, whose run ends at `end`. */
static uint8_t parts_before(const uint8_t *text, uint32_t first, uint32_t i, uint32_t end,
                            bool loaded)
{
    cbi_sass fence = at(text, i);
    if (i > first && is_flush(at(text, i - 1)))
        return 0;
    uint32_t next = i + 1 < end ? cbi_sass_op(at(text, i + 1)) : CBI_OP_NOP;
    bool flush = !is_flush(fence) && (next == CBI_OP_ERRBAR || next == CBI_OP_FENCE_VIEW);
    return (uint8_t)(flush + (loaded ? 0 : LOADS));
}

/* Is there one with its loads? */
static bool has_loads(const uint8_t *text, uint32_t total)
{
    for (uint32_t i = 1; i < total; i++)
        if (is_fence(at(text, i)) && cbi_sass_is_dummy_load(at(text, i - 1)))
            return true;
    return false;
}

bool cbi_fences_find(cbi_span capsule, const uint8_t *text, uint32_t total, const bool *target,
                     bool loads_stayed, uint8_t *ret_ahead)
{
    cbi_capsule walk;
    cbi_capsule_entry e;
    bool any = false;
    bool loaded = false; /* loads of the block stand before, and no access to shared memory since */
    if (!loads_stayed && has_loads(text, total))
        return false; /* code that is not finished */
    cbi_capsule_open(capsule, &walk);
    while (cbi_capsule_next(&walk, &e)) {
        for (uint32_t i = e.first, end = e.first + e.count; i < end; i++) {
            cbi_sass w = at(text, i);
            loaded = loaded && !target[i] && !may_touch_shared(w);
            if (e.record.size && is_fence(w)) {
                ret_ahead[i] = parts_before(text, e.first, i, end, loaded || loads_stayed);
                any |= ret_ahead[i] > 0;
                loaded = true;
            }
            if (cbi_op_has(cbi_sass_op(w), CBI_OPF_BRANCH | CBI_OPF_CALL))
                loaded = false;
        }
    }
    return any;
}

void cbi_fences_put(uint8_t *out, const uint8_t *fence, uint8_t parts)
{
    /* LDS RZ, [RZ] under the never predicate */
    static const cbi_sass load = {UINT64_C(0xfffff984), 0x800};
    const cbi_sass w = cbi_sass_load(fence);
    for (uint8_t i = 0; i < parts; i++, out += CBI_SASS_INSTRUCTION) {
        bool flush = i + 1 == parts && parts % LOADS;
        cbi_sass part = load;
        if (flush)
            part = (cbi_sass){CBI_OP_MEMBAR | (w.lo & 0xf000), (uint64_t)FLUSH << 8};
        cbi_sass_set_scoreboards(&part, CBI_SB_NONE << 3 | CBI_SB_NONE);
        cbi_sass_set_stall(&part, flush ? 0 : 1);
        cbi_sass_set_yield(&part, !flush);
        cbi_sass_store(out, part);
    }
}
