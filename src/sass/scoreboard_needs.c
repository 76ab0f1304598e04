/* What an instruction needs of another: registers, predicates, the order of shared memory. */
#include "sass/pace_code.h"
#include "sass/scoreboard_read.h"

/* Operations on barriers in shared memory depend on each other without registers. */
static bool is_barrier_op(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_MBARRIER);
}

static bool is_shared_access(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_SHARED);
}

/* Does it read its sources before a load from shared memory, or a shuffle, behind it writes?
 * Stores, reductions, shuffles and what has to do with shared memory. */
static bool reads_first(uint32_t op)
{
    switch (cbi_instruction_of(op)->shape) {
    case CBI_SHAPE_STORE:
    case CBI_SHAPE_STORE_R:
    case CBI_SHAPE_STORE_256:
    case CBI_SHAPE_STORE_NARROW:
    case CBI_SHAPE_REDUCE:
    case CBI_SHAPE_REDUCE_FLOAT:
    case CBI_SHAPE_SHUFFLE:
    case CBI_SHAPE_ATOM_SHARED:
    case CBI_SHAPE_ATOM_SHARED_CAS:
    case CBI_SHAPE_ATOM_SHARED_CAST:
    case CBI_SHAPE_COUNT_SHARED:
    case CBI_SHAPE_ADDRESS_SPACE:
        return true;
    default:
        return is_shared_access(op);
    }
}

/* Loads and atomic operations that come one after the other; atomic operations on what may be
 * shared memory do not. */
static bool is_ordered_load(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_LONG) && cbi_op_kind(op) == CBI_KIND_MEMORY &&
           !cbi_op_tests_with_sources(op);
}

static bool loads_shared(uint32_t op)
{
    return op == CBI_OP_LDS || op == CBI_OP_LDSM;
}

/* Accesses to memory of a block that come one after the other, so that the second does not wait for
 * the sources of the first. */
static bool keep_order(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    uint32_t first = cbi_sb_op(c, i), second = cbi_sb_op(c, j);
    if (i >= j || c->block_of[i] != c->block_of[j])
        return false;
    if (is_shared_access(second))
        return is_shared_access(first) || (loads_shared(second) && reads_first(first));
    if (cbi_instruction_of(second)->shape == CBI_SHAPE_SHUFFLE)
        return reads_first(first);
    return is_ordered_load(first) && is_ordered_load(second);
}

/* Loads from shared memory of a block write one after the other. */
static bool write_in_order(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    return i < j && c->block_of[i] == c->block_of[j] && loads_shared(cbi_sb_op(c, i)) &&
           loads_shared(cbi_sb_op(c, j));
}

bool cbi_sb_excludes(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    enum { NEGATION = 8 };
    uint32_t guard = cbi_sass_guard(c->words[i]);
    if (i >= j || guard == CBI_SASS_PT || c->block_of[i] != c->block_of[j] ||
        cbi_sass_signed_guard(c->words[j]) != (cbi_sass_signed_guard(c->words[i]) ^ NEGATION))
        return false;
    for (uint32_t k = i; k < j; k++) {
        uint8_t written, read;
        cbi_pace_predicates(c->words[k], &written, &read);
        if (written >> guard & 1)
            return false;
    }
    return true;
}

/* Do all threads meet there, or end?  Where only some end, results of the same block are waited for
 * because it ends (flush), and are not local. */
static bool is_meeting(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    uint32_t op = cbi_sb_op(c, i);
    return op == CBI_OP_BSYNC ||
           (op == CBI_OP_EXIT &&
            (cbi_sass_signed_guard(c->words[i]) == CBI_SASS_PT || c->block_of[i] != p->block));
}

bool cbi_sb_reads_uniform_late(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_TEXTURE) || op == CBI_OP_SYNCS_EXCH ||
           cbi_op_writes_surface(op) || cbi_op_is_bulk(op);
}

/* Does it hold uniform registers that are written, or read late? */
static bool is_uniform(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return p->write ? cbi_regset_any(&c->operands[p->at].uniform_written)
                    : cbi_sb_reads_uniform_late(cbi_sb_op(c, p->at));
}

/* All threads that meet see uniform registers. */
static bool is_met(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    return is_uniform(c, p) && is_meeting(c, p, i);
}

/* Does it overwrite a uniform register that is read late? */
static bool overwrites_uniform(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    return !p->write && cbi_sb_reads_uniform_late(cbi_sb_op(c, p->at)) &&
           cbi_regset_meet(&c->operands[p->at].uniform_read, &c->operands[i].uniform_written);
}

bool cbi_sb_is_met_by_some(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    return cbi_sb_op(c, i) == CBI_OP_EXIT && is_uniform(c, p);
}

bool cbi_sb_is_in_unit(const cbi_sb_code *c, uint32_t i)
{
    return cbi_instruction_of(cbi_sb_op(c, i))->slow == CBI_SLOW_DOUBLE &&
           cbi_sb_has_slow_doubles(c);
}

bool cbi_sb_keep_unit(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    return i < j && c->block_of[i] == c->block_of[j] && cbi_sb_is_in_unit(c, i) &&
           cbi_sb_is_in_unit(c, j);
}

uint8_t cbi_sb_late_predicates(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    uint32_t result = cbi_sass_first_result(c->words[p->at]);
    bool tests = p->write && cbi_op_has(cbi_sb_op(c, p->at), CBI_OPF_TESTED);
    return c->operands[p->at].predicates_written |
           (uint8_t)(tests && result != CBI_SASS_PT ? 1u << result : 0);
}

/* Does instruction i read one of the predicates, or write it again? */
static bool uses_predicates(const cbi_sb_code *c, uint8_t predicates, uint32_t i)
{
    if (!predicates || predicates & c->operands[i].predicates_read)
        return predicates;
    return !cbi_op_is_uniform(cbi_sb_op(c, i)) &&
           cbi_sass_predicates(c->words[i]).written & predicates;
}

bool cbi_sb_touches(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    const cbi_operands *a = &c->operands[p->at], *b = &c->operands[i];
    if (c->calls_apart && cbi_op_has(cbi_sb_op(c, i), CBI_OPF_CALL))
        return cbi_sb_names_registers(c, p); /* nobody knows which are used there */
    if (cbi_sb_excludes(c, p->at, i))
        return false;
    if (is_met(c, p, i))
        return true;
    if (!p->write) /* shared accesses of a block keep their order while it runs */
        return (cbi_regset_meet(&a->read, &b->written) && !keep_order(c, p->at, i) &&
                !cbi_sb_keep_unit(c, p->at, i)) ||
               overwrites_uniform(c, p, i);
    return uses_predicates(c, cbi_sb_late_predicates(c, p), i) ||
           (cbi_regset_meet(&a->written, &b->written) && !cbi_sb_keep_unit(c, p->at, i) &&
            !write_in_order(c, p->at, i)) ||
           cbi_regset_meet(&a->written, &b->read) ||
           cbi_regset_meet(&a->uniform_written, &b->uniform_written) ||
           cbi_regset_meet(&a->uniform_written, &b->uniform_read);
}

/* Accesses that keep their order: atomic operations, barriers of threads and in shared memory,
 * asynchronous copies, and loads and stores that are strong.  Weak ones do not. */
static bool is_ordered(cbi_sass w)
{
    enum { STRENGTH = 77, WEAK = 0, CONSTANT = 4 };
    uint32_t op = cbi_sass_op(w), strength = (uint32_t)cbi_sass_bits(w, STRENGTH, 4);
    switch (cbi_instruction_of(op)->shape) {
    case CBI_SHAPE_ATOM:
    case CBI_SHAPE_ATOM_FLOAT:
    case CBI_SHAPE_ATOM_CAS:
    case CBI_SHAPE_ATOM_SHARED:
    case CBI_SHAPE_ATOM_SHARED_CAS:
    case CBI_SHAPE_ATOM_SHARED_CAST:
    case CBI_SHAPE_COUNT_SHARED:
    case CBI_SHAPE_REDUCE:
    case CBI_SHAPE_REDUCE_FLOAT:
    case CBI_SHAPE_COPY_SHARED:
        return true;
    case CBI_SHAPE_LOAD:
    case CBI_SHAPE_LOAD_256:
    case CBI_SHAPE_STORE:
    case CBI_SHAPE_STORE_R:
    case CBI_SHAPE_STORE_256:
        return strength != WEAK && strength != CONSTANT;
    default:
        return is_barrier_op(op) || cbi_op_is_barrier(op);
    }
}

/* A memory barrier that waits, none of those that are in front of another or of an exit. */
static bool is_fence(cbi_sass w)
{
    enum { KIND = 72, IDLE = 0x80, OF_EXITS = 0x50 };
    uint64_t kind = cbi_sass_bits(w, KIND, 8);
    return cbi_sass_op(w) == CBI_OP_MEMBAR && kind != IDLE && kind != OF_EXITS;
}

/* What the threads of a warp do together. */
static bool is_joint(cbi_sass w)
{
    enum { READS_P = 87 };
    uint32_t op = cbi_sass_op(w), shape = cbi_instruction_of(op)->shape;
    return shape == CBI_SHAPE_SHUFFLE || shape == CBI_SHAPE_TENSOR || op == CBI_OP_REDUX ||
           op == CBI_OP_MATCH || op == CBI_OP_ELECT ||
           (op == CBI_OP_VOTE && cbi_sass_bits(w, READS_P, 3) != CBI_SASS_PT);
}

/* Does it depend on the producer without registers, by the order of accesses to memory? */
static bool needs_order(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    cbi_sass w = c->words[i];
    switch (cbi_sb_op(c, p->at)) {
    case CBI_OP_FENCE_VIEW:
        return is_ordered(w) || is_joint(w);
    case CBI_OP_SYNCS_EXCH:
        return p->write && ((is_ordered(w) && !is_barrier_op(cbi_sass_op(w))) || is_fence(w));
    default:
        return cbi_sb_is_acquired(c, p, i);
    }
}

bool cbi_sb_needs(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    if (needs_order(c, p, i))
        return true;
    if (!p->write && !cbi_op_has(cbi_sb_op(c, i), CBI_OPF_CALL)) {
        cbi_regset kept = cbi_sass_kept_sources(&c->operands[p->at]);
        if (!is_met(c, p, i) && !cbi_regset_meet(&kept, &c->operands[i].written) &&
            !overwrites_uniform(c, p, i))
            return false;
    }
    return cbi_sb_touches(c, p, i);
}

bool cbi_sb_is_unseen(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return p->write && !cbi_operands_write(&c->operands[p->at]);
}

bool cbi_sb_names_registers(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    const cbi_operands *o = &c->operands[p->at];
    if (p->is_long || cbi_sb_op(c, p->at) == CBI_OP_FENCE_VIEW)
        return true;
    return p->write ? !cbi_sb_is_unseen(c, p) : cbi_regset_any(&o->read);
}

uint32_t cbi_sb_first_need(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    bool shuffle = cbi_sb_op(c, p->at) == CBI_OP_SHFL_RR;
    bool barrier = p->write && is_barrier_op(cbi_sb_op(c, p->at));
    for (uint32_t i = p->at + 1; i < c->blocks.items[p->block].end; i++)
        if ((shuffle && cbi_sb_op(c, i) == CBI_OP_ENDCOLLECTIVE) ||
            (barrier && is_barrier_op(cbi_sb_op(c, i))) || cbi_sb_needs(c, p, i))
            return i;
    return CBI_SB_NOWHERE;
}
