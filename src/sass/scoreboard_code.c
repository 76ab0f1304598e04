/* What the scoreboard model reads from code: blocks, producers, their consumers. */
#include "sass/pace_code.h"

enum {
    GROUP_LENGTH = 12, /* longest warp-collective sequence */
    ATTR_BRANCH_TARGETS = 0x34,
};
/* The model keeps one bit per instruction and producer: beyond this many it leaves the code. */
static const uint64_t LIMIT = UINT64_C(1) << 28;

static bool is_branch(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_BRANCH);
}

/* Operations on barriers in shared memory depend on each other without registers. */
static bool is_barrier_op(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_MBARRIER);
}

/* ---- control flow ---- */

typedef struct targets {
    uint32_t branch;
    cbi_u32_list list;
} targets;
typedef CBI_VEC(targets) targets_list;

static uint32_t moved(uint32_t offset, const uint32_t *place, size_t count)
{
    uint32_t i = offset / 16;
    return place ? i < count ? place[i] / 16 : CBI_SB_NOWHERE : i;
}

static void read_tables(cbi_ctx *ctx, cbi_span info, const uint32_t *place, size_t count,
                        targets_list *ret_tables)
{
    cbi_reader r = cbi_reader_at(info, 0);
    while (!r.bad && r.pos < info.size) {
        uint8_t format = cbi_read8(&r), attr = cbi_read8(&r);
        uint16_t size = cbi_read16(&r);
        if (format != 4)
            continue;
        cbi_reader v = cbi_reader_at(cbi_read_bytes(&r, size), 0);
        while (attr == ATTR_BRANCH_TARGETS && v.pos < v.span.size) {
            targets t = {.branch = moved(cbi_read32(&v), place, count)};
            cbi_read32(&v);
            uint32_t n = cbi_read32(&v);
            for (uint32_t i = 0; i < n && !v.bad; i++)
                cbi_vec_push(ctx, &t.list, moved(cbi_read32(&v), place, count));
            if (v.bad)
                break;
            cbi_vec_push(ctx, ret_tables, t);
        }
    }
}

/* The taken side first.  False when a target is outside the code. */
static bool successors(cbi_sb_code *c, const targets_list *tables, uint32_t i,
                       cbi_u32_list *ret_list)
{
    cbi_sass w = c->words[i];
    uint32_t op = cbi_sass_op(w);
    bool conditional = cbi_sass_signed_guard(w) != CBI_SASS_PT || cbi_sass_bits(w, 87, 4) != 7;
    bool falls = true;
    if (op == CBI_OP_BRA || op == CBI_OP_BRA_U) {
        int64_t target = (int64_t)i + 1 + cbi_sass_branch_distance(w) / 16;
        if (target < 0 || target >= c->n)
            return false;
        cbi_vec_push(c->ctx, ret_list, (uint32_t)target);
        falls = conditional || op == CBI_OP_BRA_U || cbi_sass_bits(w, 32, 2);
    } else if (op == CBI_OP_BRX || op == CBI_OP_BRXU) {
        falls = false;
        for (size_t t = 0; t < tables->len; t++) {
            if (tables->items[t].branch != i)
                continue;
            for (size_t k = 0; k < tables->items[t].list.len; k++) {
                uint32_t to = tables->items[t].list.items[k];
                if (to >= c->n)
                    return false;
                cbi_vec_push(c->ctx, ret_list, to);
            }
        }
    } else if (op == CBI_OP_EXIT || op == CBI_OP_RET || op == CBI_OP_LEPC) {
        falls = conditional;
    }
    if (falls && i + 1 < c->n)
        cbi_vec_push(c->ctx, ret_list, i + 1);
    return true;
}

static bool find_blocks(cbi_sb_code *c, const targets_list *tables)
{
    bool *leader = CBI_NEW_ARRAY(c->ctx, c->n + 1, bool);
    bool exclusive = false;
    leader[0] = true;
    for (uint32_t i = 0; i < c->n; i++) {
        cbi_u32_list s = {0};
        if (!successors(c, tables, i, &s))
            return false;
        uint32_t op = cbi_sb_op(c, i);
        if (op == CBI_OP_NANOSLEEP) {
            exclusive = true;
        } else if (exclusive && op == CBI_OP_WARPSYNC) {
            leader[i] = true;
            exclusive = false;
        }
        if (c->calls_apart && cbi_op_has(op, CBI_OPF_CALL) && op != CBI_OP_RET)
            leader[i] = leader[i + 1] = true;
        if (!is_branch(op) && s.len == 1 && s.items[0] == i + 1)
            continue;
        leader[i + 1] = true;
        for (size_t k = 0; k < s.len; k++)
            leader[s.items[k]] = true;
    }
    c->block_of = CBI_NEW_ARRAY(c->ctx, c->n, uint32_t);
    for (uint32_t i = 0; i < c->n; i++) {
        if (leader[i])
            cbi_vec_add(c->ctx, &c->blocks)->start = i;
        cbi_sb_block *b = &c->blocks.items[c->blocks.len - 1];
        b->end = i + 1;
        c->block_of[i] = (uint32_t)c->blocks.len - 1;
    }
    for (uint32_t b = 0; b < c->blocks.len; b++) {
        cbi_u32_list s = {0};
        successors(c, tables, c->blocks.items[b].end - 1, &s);
        for (size_t k = 0; k < s.len; k++) {
            uint32_t to = c->block_of[s.items[k]];
            cbi_vec_push(c->ctx, &c->blocks.items[b].succ, to);
            cbi_vec_push(c->ctx, &c->blocks.items[to].pred, b);
        }
    }
    return true;
}

/* ---- producers and consumers of the input ---- */

static void find_producers(cbi_sb_code *c)
{
    c->first = CBI_NEW_ARRAY(c->ctx, c->n + 1, uint32_t);
    c->stack_load = CBI_SB_NOWHERE;
    for (uint32_t i = 0; i < c->n; i++) {
        c->first[i] = (uint32_t)c->producers.len;
        for (unsigned write = 0; write < 2; write++) {
            uint8_t number =
                (uint8_t)(write ? cbi_sass_write(c->words[i]) : cbi_sass_read(c->words[i]));
            if (number >= CBI_SB_NUMBERS)
                continue;
            if (i == 0 && write)
                c->stack_load = (uint32_t)c->producers.len;
            cbi_sb_producer *p = cbi_vec_add(c->ctx, &c->producers);
            *p = (cbi_sb_producer){.at = i,
                                   .block = c->block_of[i],
                                   .write = write,
                                   .is_long = write && cbi_op_has(cbi_sb_op(c, i), CBI_OPF_LONG),
                                   .old = number,
                                   .local = CBI_SB_NOWHERE};
        }
    }
    c->first[c->n] = (uint32_t)c->producers.len;
    c->row = (c->producers.len + 63) / 64;
}

/* Numbers that instruction i waits for: by its mask, or the one that it names. */
static uint8_t waited(const cbi_sb_code *c, uint32_t i)
{
    return c->wait[i] |
           (uint8_t)(cbi_sb_is_named_wait(c, i) ? 1u << cbi_sass_bits(c->words[i], 44, 3) : 0);
}

/* Does a wait of instruction i end the producer? */
static bool ends(const cbi_sb_code *c, uint32_t i, const cbi_sb_producer *p)
{
    return waited(c, i) >> p->old & 1 &&
           !(c->later[i] >> p->old & 1 && !cbi_sb_comes_around(c, p, i));
}

/* Ends the producers that instruction i waits for, and starts its own. */
static void step_input(const cbi_sb_code *c, uint32_t i, uint64_t *set)
{
    uint8_t mask = waited(c, i);
    for (uint32_t q = 0; mask && q < c->producers.len; q++)
        if (cbi_sb_has(set, q) && ends(c, i, &c->producers.items[q]))
            cbi_sb_drop(set, q);
    for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
        cbi_sb_put(set, q);
}

uint64_t **cbi_sb_sets(const cbi_sb_code *c)
{
    uint64_t **sets = CBI_NEW_ARRAY(c->ctx, c->blocks.len, uint64_t *);
    for (uint32_t b = 0; b < c->blocks.len; b++)
        sets[b] = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    return sets;
}

void cbi_sb_enter(const cbi_sb_code *c, const cbi_sb_block *block, uint64_t *const *leaving,
                  uint64_t *ret_set)
{
    memset(ret_set, 0, (c->row + 1) * sizeof *ret_set);
    for (size_t p = 0; p < block->pred.len; p++)
        for (size_t w = 0; w < c->row; w++)
            ret_set[w] |= leaving[block->pred.items[p]][w];
}

static void find_pending(cbi_sb_code *c)
{
    uint64_t *set = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    c->pending = CBI_NEW_ARRAY(c->ctx, c->n, uint64_t *);
    for (uint32_t i = 0; i < c->n; i++)
        c->pending[i] = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    uint64_t **leaving = cbi_sb_sets(c);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < c->blocks.len; b++) {
            const cbi_sb_block *k = &c->blocks.items[b];
            cbi_sb_enter(c, k, leaving, set);
            for (uint32_t i = k->start; i < k->end; i++) {
                memcpy(c->pending[i], set, (c->row + 1) * sizeof *set);
                step_input(c, i, set);
            }
            changed |= memcmp(set, leaving[b], c->row * sizeof *set) != 0;
            memcpy(leaving[b], set, c->row * sizeof *set);
        }
    }
}

static void find_consumers(cbi_sb_code *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t mask = waited(c, i);
        for (uint32_t q = 0; mask && q < c->producers.len; q++)
            if (cbi_sb_has(c->pending[i], q) && ends(c, i, &c->producers.items[q]))
                cbi_vec_push(c->ctx, &c->producers.items[q].consumers, i);
    }
}

static bool is_shared_access(uint32_t op)
{
    return cbi_op_has(op, CBI_OPF_SHARED);
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

/* Does instruction i depend on the producer by its registers? */
bool cbi_sb_touches(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    const cbi_operands *a = &c->operands[p->at], *b = &c->operands[i];
    if (c->calls_apart && cbi_op_has(cbi_sb_op(c, i), CBI_OPF_CALL))
        return true; /* nobody knows what comes there */
    if (cbi_sb_excludes(c, p->at, i))
        return false;
    if (!p->write) /* shared accesses of a block keep their order, uniform registers are read at
                      once */
        return cbi_regset_meet(&a->read, &b->written) &&
               !(is_shared_access(cbi_sb_op(c, p->at)) && is_shared_access(cbi_sb_op(c, i)) &&
                 c->block_of[p->at] == c->block_of[i]);
    if (cbi_sb_op(c, i) == CBI_OP_BSYNC && cbi_regset_any(&a->uniform_written))
        return true; /* all threads that meet there see uniform registers */
    return a->predicates_written & b->predicates_read ||
           cbi_regset_meet(&a->written, &b->written) || cbi_regset_meet(&a->written, &b->read) ||
           cbi_regset_meet(&a->uniform_written, &b->uniform_written) ||
           cbi_regset_meet(&a->uniform_written, &b->uniform_read);
}

/* The same, but for sources that it overwrites itself: who writes those next needs the result. */
static bool needs(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    if (!p->write && !cbi_op_has(cbi_sb_op(c, i), CBI_OPF_CALL)) {
        cbi_regset kept = cbi_sass_kept_sources(&c->operands[p->at]);
        if (!cbi_regset_meet(&kept, &c->operands[i].written))
            return false;
    }
    return cbi_sb_touches(c, p, i);
}

static bool names_registers(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    const cbi_operands *o = &c->operands[p->at];
    if (p->is_long)
        return true;
    return p->write ? cbi_regset_any(&o->written) || cbi_regset_any(&o->uniform_written) ||
                          o->predicates_written
                    : cbi_regset_any(&o->read);
}

static uint32_t register_consumer(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    bool shuffle = cbi_sb_op(c, p->at) == CBI_OP_SHFL_RR;
    bool barrier = p->write && is_barrier_op(cbi_sb_op(c, p->at));
    for (uint32_t i = p->at + 1; i < c->blocks.items[p->block].end; i++)
        if ((shuffle && cbi_sb_op(c, i) == CBI_OP_ENDCOLLECTIVE) ||
            (barrier && is_barrier_op(cbi_sb_op(c, i))) || needs(c, p, i))
            return i;
    return CBI_SB_NOWHERE;
}

/* Did another producer share the number while this one was pending? */
static bool is_merged(const cbi_sb_code *c, uint32_t q, uint32_t seen)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    for (uint32_t r = 0; r < c->producers.len; r++) {
        const cbi_sb_producer *o = &c->producers.items[r];
        if (o->old != p->old || r == q || r == c->stack_load)
            continue;
        if (o->at == p->at || (seen != CBI_SB_NOWHERE && o->at > p->at && o->at < seen) ||
            (cbi_sb_has(c->pending[p->at], r) && !(c->wait[p->at] >> p->old & 1)))
            return true;
    }
    return false;
}

/* Is the branch taken by a predicate that the producer writes? */
static bool decides(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    uint32_t op = cbi_sb_op(c, p->at), guard = cbi_sass_guard(c->words[i]);
    bool writes = p->write ? cbi_op_has(op, CBI_OPF_TESTED) : op == CBI_OP_ATOM_F;
    return writes && guard != CBI_SASS_PT && cbi_sass_bits(c->words[p->at], 81, 3) == guard;
}

static void find_local(cbi_sb_code *c, uint32_t q)
{
    cbi_sb_producer *p = &c->producers.items[q];
    uint32_t end = c->blocks.items[p->block].end, seen = CBI_SB_NOWHERE;
    for (size_t k = 0; k < p->consumers.len && seen == CBI_SB_NOWHERE; k++)
        if (p->consumers.items[k] > p->at && p->consumers.items[k] < end)
            seen = p->consumers.items[k];
    p->local = seen;
    if (seen == CBI_SB_NOWHERE)
        return;
    uint32_t found = register_consumer(c, p), op = cbi_sb_op(c, seen);
    bool end_only = is_branch(op) || op == CBI_OP_BSSY || op == CBI_OP_NOP;
    /* What waits for a fence needs it. */
    bool needed = cbi_sb_op(c, p->at) == CBI_OP_MEMBAR || decides(c, p, seen) ||
                  (c->calls_apart && op == CBI_OP_RET);
    if (seen == end - 1 && !needed && (end_only ? found != seen : found == CBI_SB_NOWHERE)) {
        p->local = CBI_SB_NOWHERE;
        p->flush = true;
    } else if (c->group[seen] && found == CBI_SB_NOWHERE && names_registers(c, p)) {
        p->local = CBI_SB_NOWHERE;
        p->flush = true;
    } else if (c->group[seen] && found > seen && found <= c->group[seen]) {
        p->local = found;
        cbi_vec_push(c->ctx, &p->heads, seen);
    } else if (names_registers(c, p) && (found == CBI_SB_NOWHERE || found > seen) &&
               is_merged(c, q, seen)) {
        p->local = found;
        p->hidden = found == CBI_SB_NOWHERE;
    }
}

/* Is the wait for another producer, or for what the block itself leaves? */
static bool others_touch(const cbi_sb_code *c, uint32_t q, uint32_t i)
{
    uint32_t here = c->block_of[i];
    bool ends_block = c->blocks.items[here].end == i + 1 && c->producers.items[q].block != here;
    for (uint32_t r = 0; r < c->producers.len; r++) {
        const cbi_sb_producer *o = &c->producers.items[r];
        if (r == q || o->old != c->producers.items[q].old || !cbi_sb_has(c->pending[i], r))
            continue;
        if (needs(c, o, i) || (ends_block && o->block == here && o->flush))
            return true;
    }
    return false;
}

/* Is the number taken again at i, which nobody knew when i was done? */
static bool is_taken_again(const cbi_sb_code *c, uint32_t q, uint32_t i)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    if (!cbi_sb_comes_around(c, p, i) || needs(c, p, i))
        return false;
    for (uint32_t r = c->first[i]; r < c->first[i + 1]; r++)
        if (r != q && c->producers.items[r].old == p->old)
            return true;
    return false;
}

void cbi_sb_push_next(const cbi_sb_code *c, uint32_t i, cbi_u32_list *todo)
{
    const cbi_sb_block *b = &c->blocks.items[c->block_of[i]];
    if (i + 1 < b->end) {
        cbi_vec_push(c->ctx, todo, i + 1);
        return;
    }
    for (size_t k = 0; k < b->succ.len; k++)
        cbi_vec_push(c->ctx, todo, c->blocks.items[b->succ.items[k]].start);
}

/* Does an instruction after i, before the loop goes around, need the producer and wait for its
 * number (again)? */
static bool is_awaited_again(cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    cbi_u32_list todo = {0};
    bool *seen = CBI_NEW_ARRAY(c->ctx, c->n, bool), again = false;
    cbi_sb_push_next(c, i, &todo);
    while (todo.len && !again) {
        uint32_t j = todo.items[--todo.len];
        if (seen[j] || cbi_sb_comes_around(c, p, j))
            continue;
        seen[j] = true;
        again = needs(c, p, j) && c->wait[j] >> p->old & 1;
        if (!needs(c, p, j))
            cbi_sb_push_next(c, j, &todo);
    }
    return again;
}

/* Waits at the end of a block for what comes around a loop: they were added when all else was
 * placed.  True if there are any. */
static bool find_later_waits(cbi_sb_code *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t around = 0, ahead = 0;
        for (uint32_t q = 0; c->wait[i] && q < c->producers.len; q++)
            if (cbi_sb_has(c->pending[i], q) && cbi_sb_comes_around(c, &c->producers.items[q], i))
                around |= (uint8_t)(1u << c->producers.items[q].old);
        around &= c->wait[i];
        for (uint32_t q = 0; around && q < c->producers.len; q++) {
            const cbi_sb_producer *p = &c->producers.items[q];
            if (cbi_sb_has(c->pending[i], q) && around >> p->old & 1 &&
                !cbi_sb_comes_around(c, p, i) && !needs(c, p, i) && is_awaited_again(c, p, i))
                ahead |= (uint8_t)(1u << p->old);
        }
        c->later[i] = ahead;
        any |= ahead != 0;
    }
    return any;
}

/* Sources have been read when the result is there. */
static bool is_result_awaited(const cbi_sb_code *c, uint32_t q, uint32_t i)
{
    const cbi_sb_producer *p = &c->producers.items[q], *o = p + 1;
    return !p->write && q + 1 < c->first[p->at + 1] && c->wait[i] >> o->old & 1 &&
           cbi_sb_has(c->pending[i], q + 1);
}

/* A wait for another producer of the same number may have hidden the real consumer. */
static void uncover(cbi_sb_code *c, uint32_t q)
{
    cbi_sb_producer *p = &c->producers.items[q];
    cbi_u32_list found = {0}, unknown = {0}, todo = {0};
    uint32_t visit = ++c->visit;
    cbi_sb_push_next(c, p->at, &todo);
    while (todo.len) {
        uint32_t i = todo.items[--todo.len];
        if (c->visited[i] == visit)
            continue;
        c->visited[i] = visit;
        if (c->reading == CBI_SB_READ_BY_RESULT && is_result_awaited(c, q, i))
            continue;
        if (needs(c, p, i)) {
            cbi_vec_push(c->ctx, &found, i);
        } else if (c->wait[i] >> p->old & 1 && cbi_sb_has(c->pending[i], q) &&
                   ((p->flush && c->block_of[i] == p->block && i > p->at) ||
                    (!others_touch(c, q, i) && !is_taken_again(c, q, i)))) {
            cbi_vec_push(c->ctx, &unknown, i);
        } else {
            cbi_sb_push_next(c, i, &todo);
        }
    }
    bool hidden = false;
    for (size_t k = 0; k < unknown.len; k++)
        cbi_vec_push(c->ctx, &found, unknown.items[k]);
    for (size_t k = 0; k < p->consumers.len; k++) {
        uint32_t x = p->consumers.items[k];
        if (cbi_sb_contains(&found, x))
            continue;
        if (others_touch(c, q, x) || is_taken_again(c, q, x))
            hidden = true;
        else
            cbi_vec_push(c->ctx, &found, x);
    }
    if (hidden)
        p->consumers = found;
}

int64_t cbi_sb_latency(uint32_t op, bool write, uint32_t chip)
{
    enum { QUICK_CHIP = 100, RESULT = 15, LONG_RESULT = 296, SOURCES = 12 };
    const cbi_instruction *row = cbi_instruction_of(op);
    if (!write)
        return row->sources ? row->sources : SOURCES;
    if (row->result)
        return row->result - (chip == QUICK_CHIP && row->flags & CBI_OPF_QUICK);
    return row->flags & CBI_OPF_LONG ? LONG_RESULT : RESULT;
}

/* Waits for results of the block itself count; those of others have long been there. */
void cbi_sb_find_issue(cbi_sb_code *c)
{
    c->issue = CBI_NEW_ARRAY(c->ctx, c->n + 1, int64_t);
    int64_t *after = CBI_NEW_ARRAY(c->ctx, c->n + 1, int64_t);
    for (uint32_t i = 0; i < c->n; i++) {
        bool starts = c->blocks.items[c->block_of[i]].start == i;
        int64_t next = 0;
        if (!starts)
            next = c->issue[i - 1] + cbi_sb_cycles(c, i - 1);
        c->issue[i] = next > after[i] ? next : after[i];
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++) {
            const cbi_sb_producer *p = &c->producers.items[q];
            int64_t ready = c->issue[i] + cbi_sb_latency_of(c, p);
            if (q == c->stack_load)
                continue;
            if (p->local != CBI_SB_NOWHERE && ready > after[p->local])
                after[p->local] = ready;
            for (size_t k = 0; k < p->heads.len && p->local != CBI_SB_NOWHERE; k++)
                if (ready > after[p->heads.items[k]])
                    after[p->heads.items[k]] = ready;
        }
    }
}

/* Rule 8: what another wait ended in the input is waited for at the end of the block if it is there
 * by then. */
static void flush_hidden(cbi_sb_code *c)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        cbi_sb_producer *p = &c->producers.items[q];
        uint32_t last = c->blocks.items[p->block].end - 1;
        if (!p->hidden || p->is_long || q == c->stack_load ||
            c->issue[last] < c->issue[p->at] + cbi_sb_latency_of(c, p))
            continue;
        p->flush = true;
        if (!cbi_sb_contains(&p->consumers, last))
            cbi_vec_push(c->ctx, &p->consumers, last);
    }
}

bool cbi_sb_is_there(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    uint32_t last = c->blocks.items[p->block].end - 1;
    return !p->is_long && last != p->at &&
           c->issue[last] >= c->issue[p->at] + cbi_sb_latency_of(c, p);
}

/* Does another producer, which is not there yet, hold its number at the end of the block? */
static bool is_held_up(const cbi_sb_code *c, uint32_t q)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    const uint64_t *pending = c->pending[c->blocks.items[p->block].end - 1];
    for (uint32_t r = 0; r < c->producers.len; r++) {
        const cbi_sb_producer *o = &c->producers.items[r];
        if (r != q && o->old == p->old && cbi_sb_has(pending, r) &&
            (r == c->stack_load || (o->block == p->block && !cbi_sb_is_there(c, o))))
            return true;
    }
    return false;
}

/* Rule 8: the end of a block does not wait for what is there while another holder of its number is
 * not; that may hold another number in the output. */
static void flush_shared(cbi_sb_code *c)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        cbi_sb_producer *p = &c->producers.items[q];
        uint32_t last = c->blocks.items[p->block].end - 1;
        if (p->flush || !p->write || p->local != CBI_SB_NOWHERE || q == c->stack_load ||
            last == p->at || !cbi_sb_has(c->pending[last], q) || waited(c, last) >> p->old & 1 ||
            !cbi_sb_is_there(c, p) || !is_held_up(c, q))
            continue;
        p->flush = p->timed = true;
        cbi_vec_push(c->ctx, &p->consumers, last);
    }
}

/* What needs a producer of the input behind its block, where its end need not wait for it now. */
static void find_users(cbi_sb_code *c, cbi_sb_producer *p)
{
    cbi_u32_list todo = {0};
    uint32_t visit = ++c->visit;
    cbi_sb_push_next(c, c->blocks.items[p->block].end - 1, &todo);
    while (todo.len) {
        uint32_t i = todo.items[--todo.len];
        if (c->visited[i] == visit)
            continue;
        c->visited[i] = visit;
        if (!needs(c, p, i))
            cbi_sb_push_next(c, i, &todo);
        else if (!cbi_sb_contains(&p->consumers, i))
            cbi_vec_push(c->ctx, &p->consumers, i);
    }
}

/* The same for all for which it waits. */
static void find_flushed_users(cbi_sb_code *c)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        cbi_sb_producer *p = &c->producers.items[q];
        if (p->flush && p->local == CBI_SB_NOWHERE && q != c->stack_load)
            find_users(c, p);
    }
}

static void find_positions(cbi_sb_code *c)
{
    cbi_u32_list order = cbi_sb_order(c);
    c->position = CBI_NEW_ARRAY(c->ctx, c->blocks.len, uint32_t);
    for (uint32_t i = 0; i < order.len; i++)
        c->position[order.items[i]] = i;
}

/* Rule 9: a producer of another block that a collective sequence uses inside is waited for there,
 * too, and only that ends it. */
static void find_heads(cbi_sb_code *c, cbi_sb_producer *p)
{
    for (size_t k = 0; k < p->consumers.len; k++) {
        uint32_t head = p->consumers.items[k], user = head;
        if (!c->group[head] || p->local != CBI_SB_NOWHERE)
            continue;
        do
            user++;
        while (user < c->group[head] && !needs(c, p, user));
        if (user == c->group[head] || !(c->wait[user] >> p->old & 1))
            continue;
        cbi_vec_push(c->ctx, &p->heads, head);
        p->consumers.items[k] = user;
    }
}

static void find_groups(cbi_sb_code *c)
{
    c->group = CBI_NEW_ARRAY(c->ctx, c->n, uint32_t);
    for (uint32_t i = 0; i < c->n; i++) {
        if (cbi_sb_op(c, i) != CBI_OP_WARPSYNC_R && cbi_sb_op(c, i) != CBI_OP_WARPSYNC)
            continue;
        for (uint32_t j = i + 1; j < c->n && j < i + GROUP_LENGTH; j++) {
            if (cbi_sb_op(c, j) == CBI_OP_ENDCOLLECTIVE)
                c->group[i] = j;
            if (cbi_sb_op(c, j) == CBI_OP_ENDCOLLECTIVE || is_branch(cbi_sb_op(c, j)))
                break;
        }
    }
}

/* ---- the order of blocks ---- */

/* FNV-1a of the position as four bytes, in a table of eight. */
static uint32_t bucket(uint32_t position)
{
    uint32_t h = 0x811c9dc5;
    for (unsigned i = 0; i < 4; i++)
        h = (h ^ (position >> 8 * i & 0xff)) * 0x01000193;
    return h & 7;
}

static cbi_u32_list visit_order(const cbi_sb_code *c, uint32_t b)
{
    const cbi_u32_list *succ = &c->blocks.items[b].succ;
    cbi_u32_list out = {0};
    for (uint32_t k = 0; k < 8; k++)
        for (size_t i = succ->len; i--;)
            if (bucket(succ->items[i]) == k && !cbi_sb_contains(&out, succ->items[i]))
                cbi_vec_push(c->ctx, &out, succ->items[i]);
    return out;
}

cbi_u32_list cbi_sb_order(const cbi_sb_code *c)
{
    typedef struct frame {
        uint32_t block;
        cbi_u32_list kids;
        size_t next;
    } frame;
    uint32_t count = (uint32_t)c->blocks.len;
    bool *seen = CBI_NEW_ARRAY(c->ctx, count, bool);
    CBI_VEC(frame) stack = {0};
    cbi_u32_list post = {0}, order = {0};
    seen[0] = true;
    cbi_vec_push(c->ctx, &stack, ((frame){.block = 0, .kids = visit_order(c, 0)}));
    while (stack.len) {
        frame *top = &stack.items[stack.len - 1];
        if (top->next == top->kids.len) {
            cbi_vec_push(c->ctx, &post, top->block);
            stack.len--;
            continue;
        }
        uint32_t kid = top->kids.items[top->next++];
        if (!seen[kid]) {
            seen[kid] = true;
            cbi_vec_push(c->ctx, &stack, ((frame){.block = kid, .kids = visit_order(c, kid)}));
        }
    }
    for (size_t i = post.len; i--;)
        cbi_vec_push(c->ctx, &order, post.items[i]);
    for (uint32_t b = 0; b < count; b++)
        if (!seen[b])
            cbi_vec_push(c->ctx, &order, b);
    return order;
}

/* ---- all of it ---- */

/* Nobody needs the R1 load: ends of blocks and collective sequences wait for it. */
static void keep_ends(const cbi_sb_code *c, cbi_u32_list *consumers)
{
    size_t kept = 0;
    for (size_t k = 0; k < consumers->len; k++) {
        uint32_t i = consumers->items[k];
        if (c->group[i] || c->blocks.items[c->block_of[i]].end == i + 1)
            consumers->items[kept++] = i;
    }
    consumers->len = kept;
}

/* What the words say of each instruction by itself. */
static void read_instructions(cbi_sb_code *c)
{
    c->operands = CBI_NEW_ARRAY(c->ctx, c->n, cbi_operands);
    c->visited = CBI_NEW_ARRAY(c->ctx, c->n, uint32_t);
    c->visit = 0;
    c->wait = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    c->all = CBI_NEW_ARRAY(c->ctx, c->n, bool);
    c->later = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    for (uint32_t i = 0; i < c->n; i++) {
        cbi_sass_operands(c->words[i], &c->operands[i]);
        c->wait[i] = (uint8_t)cbi_sass_wait(c->words[i]);
        c->all[i] = c->wait[i] == CBI_SB_EVERYTHING;
        if (c->all[i])
            c->wait[i] = 0;
    }
}

/* Real consumers of what crosses blocks. */
static void find_hidden(cbi_sb_code *c)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        bool again = false;
        for (size_t k = 0; k < p->consumers.len; k++)
            again |= is_taken_again(c, q, p->consumers.items[k]);
        if (p->local == CBI_SB_NOWHERE && q != c->stack_load && (again || !p->is_long) &&
            names_registers(c, p) && (p->write || again || c->reading != CBI_SB_READ_BY_WAIT))
            uncover(c, q);
    }
}

bool cbi_sb_read(cbi_sb_code *c, cbi_span info, const uint32_t *place, size_t place_count)
{
    targets_list tables = {0};
    read_tables(c->ctx, info, place, place_count, &tables);
    if (!find_blocks(c, &tables))
        return false;
    read_instructions(c);
    find_producers(c);
    if ((uint64_t)c->n * c->producers.len > LIMIT)
        return false;
    find_positions(c);
    find_pending(c);
    if (find_later_waits(c))
        find_pending(c);
    find_consumers(c);
    find_groups(c);
    for (uint32_t q = 0; q < c->producers.len; q++)
        find_local(c, q);
    if (c->stack_load != CBI_SB_NOWHERE)
        keep_ends(c, &c->producers.items[c->stack_load].consumers);
    find_hidden(c);
    for (uint32_t q = 0; q < c->producers.len; q++)
        if (q != c->stack_load)
            find_heads(c, &c->producers.items[q]);
    cbi_sb_find_issue(c);
    flush_hidden(c);
    flush_shared(c);
    find_flushed_users(c);
    return true;
}
