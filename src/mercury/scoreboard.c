#include "mercury/scoreboard.h"

#include "mercury/sass_operands.h"

enum {
    NONE = 7,          /* no scoreboard */
    NUMBERS = 6,       /* 0 to 5 */
    EVERYTHING = 0x3f, /* a wait that names nothing */
    GROUP_LENGTH = 12, /* longest warp-collective sequence */
    ATTR_BRANCH_TARGETS = 0x34,
};
static const uint32_t NOWHERE = UINT32_MAX;
/* The model keeps one bit per instruction and producer: beyond this many it leaves the code. */
static const uint64_t LIMIT = UINT64_C(1) << 28;

typedef CBI_VEC(uint32_t) u32_list;

/* A scoreboard that an instruction holds: for its result, or while it reads its sources. */
typedef struct producer {
    uint32_t at;
    uint32_t block;
    bool write;     /* result */
    bool is_long;   /* global, generic and local loads, atomics, textures */
    bool flush;     /* waited for only because the block ends */
    uint8_t old;    /* number in the input */
    uint32_t local; /* consumer in the same block, or NOWHERE */
    u32_list consumers;
} producer;

typedef struct block {
    uint32_t start, end;
    u32_list succ, pred;
    bool done;
    uint64_t *leaving; /* producers pending at the end */
} block;

typedef struct code {
    cbi_ctx *ctx;
    uint32_t n;
    cbi_sass *words;
    cbi_operands *operands;
    uint8_t *wait;
    bool *all;       /* waits for everything */
    uint32_t *group; /* last instruction of the collective sequence that starts here, or 0 */
    uint32_t *block_of;
    CBI_VEC(block) blocks;
    CBI_VEC(producer) producers;
    uint32_t *first;     /* first producer of an instruction, n + 1 entries */
    size_t row;          /* words of a producer set */
    uint64_t **pending;  /* before each instruction, in the input */
    uint32_t stack_load; /* its producer */
    /* the assignment */
    uint8_t *number;
    bool *present;
    u32_list live; /* pending at the current place */
    uint8_t apart; /* numbers that only textures (5) and async copies (0) take */
    uint8_t top;   /* the number that may be reserved */
    bool reserved; /* it is */
} code;

static bool has(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static void put(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static void drop(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static uint32_t op_at(const code *c, uint32_t i)
{
    return cbi_sass_op(c->words[i]);
}

static bool is_branch(uint32_t op)
{
    return op == 0x947 || op == 0x547 || op == 0x94d || op == 0x941 || op == 0x949 || op == 0x958 ||
           op == 0x950;
}

static bool is_long(uint32_t op)
{
    static const uint16_t ops[] = {0x981, 0x980, 0x983, 0x98a, 0x9a8, 0x9a3,
                                   0x3a9, 0x38b, 0x3a3, 0x3a8, 0x38a, 0x98b};
    for (size_t i = 0; i < CBI_COUNT(ops); i++)
        if (ops[i] == op)
            return true;
    return false;
}

static bool is_texture(uint32_t op)
{
    return (op >= 0xf60 && op <= 0xf7f) || op == 0xf99;
}

static bool is_async_copy_end(uint32_t op)
{
    return op == 0x9af;
}

/* Operations on barriers in shared memory depend on each other without registers. */
static bool is_barrier_op(uint32_t op)
{
    return op == 0x5b2 || op == 0x9a7 || op == 0x5a7 || op == 0x9b2 || op == 0x9b1;
}

/* ---- control flow ---- */

typedef struct targets {
    uint32_t branch;
    u32_list list;
} targets;
typedef CBI_VEC(targets) targets_list;

static uint32_t moved(uint32_t offset, const uint32_t *place, size_t count)
{
    uint32_t i = offset / 16;
    return place ? i < count ? place[i] / 16 : NOWHERE : i;
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
static bool successors(code *c, const targets_list *tables, uint32_t i, u32_list *ret_list)
{
    cbi_sass w = c->words[i];
    uint32_t op = cbi_sass_op(w);
    bool conditional = cbi_sass_bits(w, 12, 4) != 7 || cbi_sass_bits(w, 87, 4) != 7;
    bool falls = true;
    if (op == 0x947 || op == 0x547) {
        int64_t target = (int64_t)i + 1 + cbi_sass_branch_distance(w) / 16;
        if (target < 0 || target >= c->n)
            return false;
        cbi_vec_push(c->ctx, ret_list, (uint32_t)target);
        falls = conditional || op == 0x547 || cbi_sass_bits(w, 32, 2);
    } else if (op == 0x949 || op == 0x958) {
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
    } else if (op == 0x94d || op == 0x950 || op == 0x94e) {
        falls = conditional;
    }
    if (falls && i + 1 < c->n)
        cbi_vec_push(c->ctx, ret_list, i + 1);
    return true;
}

static bool find_blocks(code *c, const targets_list *tables)
{
    bool *leader = CBI_NEW_ARRAY(c->ctx, c->n + 1, bool);
    leader[0] = true;
    for (uint32_t i = 0; i < c->n; i++) {
        u32_list s = {0};
        if (!successors(c, tables, i, &s))
            return false;
        uint64_t exclusive_end = i + 1 + (c->words[i].lo >> 34);
        if (op_at(c, i) == 0x95d && exclusive_end < c->n)
            leader[exclusive_end] = true;
        if (!is_branch(op_at(c, i)) && s.len == 1 && s.items[0] == i + 1)
            continue;
        leader[i + 1] = true;
        for (size_t k = 0; k < s.len; k++)
            leader[s.items[k]] = true;
    }
    c->block_of = CBI_NEW_ARRAY(c->ctx, c->n, uint32_t);
    for (uint32_t i = 0; i < c->n; i++) {
        if (leader[i])
            cbi_vec_add(c->ctx, &c->blocks)->start = i;
        block *b = &c->blocks.items[c->blocks.len - 1];
        b->end = i + 1;
        c->block_of[i] = (uint32_t)c->blocks.len - 1;
    }
    for (uint32_t b = 0; b < c->blocks.len; b++) {
        u32_list s = {0};
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

static void find_producers(code *c)
{
    c->first = CBI_NEW_ARRAY(c->ctx, c->n + 1, uint32_t);
    c->stack_load = NOWHERE;
    for (uint32_t i = 0; i < c->n; i++) {
        c->first[i] = (uint32_t)c->producers.len;
        for (unsigned write = 0; write < 2; write++) {
            uint8_t number = (uint8_t)cbi_sass_bits(c->words[i], write ? 110 : 113, 3);
            if (number >= NUMBERS)
                continue;
            if (i == 0 && write)
                c->stack_load = (uint32_t)c->producers.len;
            producer *p = cbi_vec_add(c->ctx, &c->producers);
            *p = (producer){.at = i,
                            .block = c->block_of[i],
                            .write = write,
                            .is_long = write && is_long(op_at(c, i)),
                            .old = number,
                            .local = NOWHERE};
        }
    }
    c->first[c->n] = (uint32_t)c->producers.len;
    c->row = (c->producers.len + 63) / 64;
}

/* Ends the producers that instruction i waits for, and starts its own. */
static void step_input(const code *c, uint32_t i, uint64_t *set)
{
    for (uint32_t q = 0; c->wait[i] && q < c->producers.len; q++)
        if (has(set, q) && c->wait[i] >> c->producers.items[q].old & 1)
            drop(set, q);
    for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
        put(set, q);
}

static void find_pending(code *c)
{
    uint64_t *set = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    c->pending = CBI_NEW_ARRAY(c->ctx, c->n, uint64_t *);
    for (uint32_t i = 0; i < c->n; i++)
        c->pending[i] = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    for (uint32_t b = 0; b < c->blocks.len; b++)
        c->blocks.items[b].leaving = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < c->blocks.len; b++) {
            block *k = &c->blocks.items[b];
            memset(set, 0, (c->row + 1) * sizeof *set);
            for (size_t p = 0; p < k->pred.len; p++)
                for (size_t w = 0; w < c->row; w++)
                    set[w] |= c->blocks.items[k->pred.items[p]].leaving[w];
            for (uint32_t i = k->start; i < k->end; i++) {
                memcpy(c->pending[i], set, (c->row + 1) * sizeof *set);
                step_input(c, i, set);
            }
            if (memcmp(set, k->leaving, (c->row + 1) * sizeof *set) != 0) {
                memcpy(k->leaving, set, (c->row + 1) * sizeof *set);
                changed = true;
            }
        }
    }
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t q = 0; c->wait[i] && q < c->producers.len; q++)
            if (has(c->pending[i], q) && c->wait[i] >> c->producers.items[q].old & 1)
                cbi_vec_push(c->ctx, &c->producers.items[q].consumers, i);
}

/* Does instruction i depend on the producer by its registers? */
static bool touches(const code *c, const producer *p, uint32_t i)
{
    const cbi_operands *a = &c->operands[p->at], *b = &c->operands[i];
    if (!p->write)
        return cbi_regset_meet(&a->read, &b->written) ||
               cbi_regset_meet(&a->uniform_read, &b->uniform_written);
    return cbi_regset_meet(&a->written, &b->written) || cbi_regset_meet(&a->written, &b->read) ||
           cbi_regset_meet(&a->uniform_written, &b->uniform_written) ||
           cbi_regset_meet(&a->uniform_written, &b->uniform_read);
}

static bool names_registers(const code *c, const producer *p)
{
    const cbi_operands *o = &c->operands[p->at];
    if (p->is_long)
        return true;
    return p->write ? cbi_regset_any(&o->written) || cbi_regset_any(&o->uniform_written)
                    : cbi_regset_any(&o->read) || cbi_regset_any(&o->uniform_read);
}

static uint32_t register_consumer(const code *c, const producer *p)
{
    bool shuffle = op_at(c, p->at) == 0x389;
    bool barrier = p->write && is_barrier_op(op_at(c, p->at));
    for (uint32_t i = p->at + 1; i < c->blocks.items[p->block].end; i++)
        if ((shuffle && op_at(c, i) == 0x91b) || (barrier && is_barrier_op(op_at(c, i))) ||
            touches(c, p, i))
            return i;
    return NOWHERE;
}

/* Did another producer share the number while this one was pending? */
static bool is_merged(const code *c, uint32_t q, uint32_t seen)
{
    const producer *p = &c->producers.items[q];
    for (uint32_t r = 0; r < c->producers.len; r++) {
        const producer *o = &c->producers.items[r];
        if (o->old != p->old || r == q || r == c->stack_load)
            continue;
        if (o->at == p->at || (seen != NOWHERE && o->at > p->at && o->at < seen) ||
            (has(c->pending[p->at], r) && !(c->wait[p->at] >> p->old & 1)))
            return true;
    }
    return false;
}

static void find_local(code *c, uint32_t q)
{
    producer *p = &c->producers.items[q];
    uint32_t end = c->blocks.items[p->block].end, seen = NOWHERE;
    for (size_t k = 0; k < p->consumers.len && seen == NOWHERE; k++)
        if (p->consumers.items[k] > p->at && p->consumers.items[k] < end)
            seen = p->consumers.items[k];
    p->local = seen;
    if (seen == NOWHERE)
        return;
    uint32_t found = register_consumer(c, p), op = op_at(c, seen);
    bool end_only = is_branch(op) || op == 0x945 || op == 0x918;
    if (seen == end - 1 && (end_only ? found != seen : found == NOWHERE)) {
        p->local = NOWHERE;
        p->flush = true;
    } else if (names_registers(c, p) && (found == NOWHERE || found > seen) &&
               is_merged(c, q, seen)) {
        p->local = found;
    }
}

static bool others_touch(const code *c, uint32_t q, uint32_t i)
{
    for (uint32_t r = 0; r < c->producers.len; r++)
        if (r != q && c->producers.items[r].old == c->producers.items[q].old &&
            has(c->pending[i], r) && touches(c, &c->producers.items[r], i))
            return true;
    return false;
}

static bool contains(const u32_list *list, uint32_t value)
{
    for (size_t i = 0; i < list->len; i++)
        if (list->items[i] == value)
            return true;
    return false;
}

static void push_next(code *c, uint32_t i, u32_list *todo)
{
    const block *b = &c->blocks.items[c->block_of[i]];
    if (i + 1 < b->end) {
        cbi_vec_push(c->ctx, todo, i + 1);
        return;
    }
    for (size_t k = 0; k < b->succ.len; k++)
        cbi_vec_push(c->ctx, todo, c->blocks.items[b->succ.items[k]].start);
}

/* A wait for another producer of the same number may have hidden the real consumer. */
static void uncover(code *c, uint32_t q)
{
    producer *p = &c->producers.items[q];
    u32_list found = {0}, todo = {0};
    bool *seen = CBI_NEW_ARRAY(c->ctx, c->n, bool);
    push_next(c, p->at, &todo);
    while (todo.len) {
        uint32_t i = todo.items[--todo.len];
        if (seen[i])
            continue;
        seen[i] = true;
        if (touches(c, p, i)) {
            cbi_vec_push(c->ctx, &found, i);
        } else if (c->wait[i] >> p->old & 1 && has(c->pending[i], q) &&
                   ((p->flush && c->block_of[i] == p->block && i > p->at) ||
                    !others_touch(c, q, i))) {
            return;
        } else {
            push_next(c, i, &todo);
        }
    }
    bool hidden = false;
    for (size_t k = 0; k < p->consumers.len; k++) {
        bool known = contains(&found, p->consumers.items[k]);
        if (!known && !others_touch(c, q, p->consumers.items[k]))
            return;
        hidden |= !known;
    }
    if (found.len && hidden)
        p->consumers = found;
}

static void find_groups(code *c)
{
    c->group = CBI_NEW_ARRAY(c->ctx, c->n, uint32_t);
    for (uint32_t i = 0; i < c->n; i++) {
        if (op_at(c, i) != 0x348 && op_at(c, i) != 0x948)
            continue;
        for (uint32_t j = i + 1; j < c->n && j < i + GROUP_LENGTH; j++) {
            if (op_at(c, j) == 0x91b)
                c->group[i] = j;
            if (op_at(c, j) == 0x91b || is_branch(op_at(c, j)))
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

static u32_list visit_order(code *c, uint32_t b)
{
    const u32_list *succ = &c->blocks.items[b].succ;
    u32_list out = {0};
    for (uint32_t k = 0; k < 8; k++)
        for (size_t i = 0; i < succ->len; i++)
            if (bucket(succ->items[i]) == k && !contains(&out, succ->items[i]))
                cbi_vec_push(c->ctx, &out, succ->items[i]);
    return out;
}

static u32_list block_order(code *c)
{
    typedef struct frame {
        uint32_t block;
        u32_list kids;
        size_t next;
    } frame;
    uint32_t count = (uint32_t)c->blocks.len;
    bool *seen = CBI_NEW_ARRAY(c->ctx, count, bool);
    CBI_VEC(frame) stack = {0};
    u32_list post = {0}, order = {0};
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

/* ---- the assignment ---- */

/* The block in work. */
typedef struct work {
    uint32_t block;
    uint64_t *entering; /* producers pending at its start */
    uint8_t held;       /* numbers that a collective sequence keeps busy, one bit each */
    bool top_taken;
} work;

static bool is_here(const code *c, const work *w, uint32_t q)
{
    return c->producers.items[q].block == w->block;
}

/* Next consumer of a pending producer in the block in work, after instruction i; or NOWHERE. */
static uint32_t next_consumer(const code *c, const work *w, uint32_t q, uint32_t i)
{
    const producer *p = &c->producers.items[q];
    const block *b = &c->blocks.items[w->block];
    if (is_here(c, w, q) && !has(w->entering, q))
        return p->local;
    uint32_t next = NOWHERE;
    for (size_t k = 0; k < p->consumers.len; k++) {
        uint32_t x = p->consumers.items[k];
        if (x > i && x >= b->start && x < b->end && x < next)
            next = x;
    }
    return next;
}

static bool consumed_at(const code *c, const work *w, uint32_t q, uint32_t i)
{
    const producer *p = &c->producers.items[q];
    if (is_here(c, w, q) || p->local != NOWHERE)
        return p->local == i;
    return contains(&p->consumers, i);
}

/* A local producer joins one with the same consumer; NONE if there is none. */
static uint8_t join_local(const code *c, const work *w, const producer *p)
{
    uint8_t best = NONE;
    for (uint8_t k = 0; k < NUMBERS && best == NONE; k++) {
        bool one = false, every = true;
        for (size_t n = 0; n < c->live.len && !(c->reserved && k == c->top) && !(c->apart >> k & 1);
             n++) {
            uint32_t r = c->live.items[n];
            if (c->producers.items[r].at == p->at || c->number[r] != k)
                continue;
            bool same = next_consumer(c, w, r, p->at) == p->local;
            one |= same;
            every &= same;
        }
        if (one && (p->write || every))
            best = k;
    }
    return best;
}

/* A crossing read joins the latest crossing read of the block whose number only such hold. */
static uint8_t join_crossing(const code *c, const work *w)
{
    uint8_t impure = 0, best = NONE;
    for (size_t n = 0; n < c->live.len; n++) {
        uint32_t r = c->live.items[n];
        if (is_here(c, w, r) && c->producers.items[r].local != NOWHERE)
            impure |= (uint8_t)(1u << c->number[r]);
    }
    for (size_t n = 0; n < c->live.len; n++) {
        uint32_t r = c->live.items[n];
        const producer *o = &c->producers.items[r];
        if (is_here(c, w, r) && !o->write && o->local == NOWHERE && !(impure >> c->number[r] & 1))
            best = c->number[r];
    }
    return best;
}

static uint8_t numbers_in(const code *c, const uint64_t *set)
{
    uint8_t out = 0;
    for (uint32_t q = 0; q < c->producers.len; q++)
        if (has(set, q))
            out |= (uint8_t)(1u << c->number[q]);
    return out;
}

static uint8_t busy_numbers(const code *c, const work *w, bool crossing)
{
    uint8_t busy = w->held;
    for (size_t n = 0; n < c->live.len; n++)
        busy |= (uint8_t)(1u << c->number[c->live.items[n]]);
    const block *b = &c->blocks.items[w->block];
    for (size_t s = 0; crossing && s < b->succ.len; s++) {
        const block *to = &c->blocks.items[b->succ.items[s]];
        for (size_t p = 0; p < to->pred.len; p++) {
            uint32_t from = to->pred.items[p];
            if (from != w->block && c->blocks.items[from].done)
                busy |= numbers_in(c, c->blocks.items[from].leaving);
        }
        if (b->succ.items[s] == w->block)
            busy |= numbers_in(c, w->entering);
    }
    return busy;
}

/* When the latest holder of a pending producer's number began, 0 for those from before. */
static uint32_t began(const code *c, const work *w, uint32_t q)
{
    return is_here(c, w, q) && !has(w->entering, q) ? c->producers.items[q].at + 1 : 0;
}

/* No number is free: which one to share. */
static uint8_t merge(const code *c, const work *w, const producer *p, uint8_t usable)
{
    uint32_t earliest[NUMBERS], start[NUMBERS] = {0};
    uint8_t held = 0, held_long = 0;
    for (size_t n = 0; n < c->live.len; n++) {
        uint32_t r = c->live.items[n];
        uint8_t k = c->number[r];
        if (c->producers.items[r].at == p->at || !(usable >> k & 1))
            continue;
        uint32_t next = next_consumer(c, w, r, p->at);
        if (!(held >> k & 1) || next < earliest[k])
            earliest[k] = next;
        held |= (uint8_t)(1u << k);
        if (began(c, w, r) > start[k])
            start[k] = began(c, w, r);
        if (c->producers.items[r].is_long)
            held_long |= (uint8_t)(1u << k);
    }
    uint8_t all_held = held;
    if (!p->is_long && held & ~held_long)
        held &= (uint8_t)~held_long;
    uint8_t oldest = NONE, latest = NONE, low = NONE, high = NONE, idle = NONE;
    for (unsigned i = 0; i < NUMBERS; i++) {
        uint8_t k = (uint8_t)i;
        if (usable >> k & 1) {
            low = low == NONE ? k : low;
            high = k;
            if (idle == NONE && (!(all_held >> k & 1) || earliest[k] == NOWHERE))
                idle = k;
        }
        if (!(held >> k & 1))
            continue;
        if (earliest[k] >= p->local && (oldest == NONE || start[k] < start[oldest]))
            oldest = k;
        if (latest == NONE || earliest[k] > earliest[latest] ||
            (earliest[k] == earliest[latest] && start[k] < start[latest]))
            latest = k;
    }
    if (p->local == NOWHERE)
        return idle != NONE ? idle : low;
    return oldest != NONE ? oldest : latest != NONE ? latest : high;
}

static uint8_t choose(const code *c, const work *w, uint32_t q)
{
    const producer *p = &c->producers.items[q];
    bool crossing = p->local == NOWHERE;
    uint8_t joined = NONE;
    if (p->write && is_texture(op_at(c, p->at)))
        return 5;
    if (p->write && is_async_copy_end(op_at(c, p->at)))
        return 0;
    if (!crossing)
        joined = join_local(c, w, p);
    else if (!p->write)
        joined = join_crossing(c, w);
    else if (p->is_long && c->reserved)
        joined = c->top;
    if (joined != NONE)
        return joined;
    uint8_t usable = (p->is_long ? 0x3c : 0x3f) & (uint8_t)~c->apart;
    if (w->top_taken || (crossing && !p->is_long))
        usable &= (uint8_t) ~(1u << c->top);
    uint8_t open = usable & (uint8_t)~busy_numbers(c, w, crossing);
    for (unsigned k = 0; k < NUMBERS; k++)
        if (open >> k & 1)
            return (uint8_t)k;
    return merge(c, w, p, usable);
}

static bool takes_top(const code *c, uint32_t q)
{
    const producer *p = &c->producers.items[q];
    return c->present[q] && p->is_long && p->local == NOWHERE;
}

static void end_cleared(code *c, uint8_t cleared)
{
    size_t kept = 0;
    for (size_t n = 0; n < c->live.len; n++)
        if (!(cleared >> c->number[c->live.items[n]] & 1))
            c->live.items[kept++] = c->live.items[n];
    c->live.len = kept;
}

static void assign_block(code *c, uint32_t number)
{
    block *b = &c->blocks.items[number];
    work w = {.block = number, .entering = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t)};
    for (size_t p = 0; p < b->pred.len; p++)
        for (size_t k = 0; c->blocks.items[b->pred.items[p]].done && k < c->row; k++)
            w.entering[k] |= c->blocks.items[b->pred.items[p]].leaving[k];
    c->live.len = 0;
    for (uint32_t q = 0; q < c->producers.len; q++) {
        if (!has(w.entering, q))
            continue;
        cbi_vec_push(c->ctx, &c->live, q);
        const u32_list *x = &c->producers.items[q].consumers;
        for (size_t k = 0; c->reserved && c->number[q] == c->top && k < x->len; k++)
            w.top_taken |= x->items[k] >= b->start && x->items[k] < b->end;
    }
    for (uint32_t q = c->first[b->start]; c->reserved && q < c->first[b->end]; q++)
        w.top_taken |= takes_top(c, q);
    uint32_t group_end = 0;
    for (uint32_t i = b->start; i < b->end; i++) {
        uint8_t cleared = 0;
        for (size_t n = 0; n < c->live.len; n++)
            if (consumed_at(c, &w, c->live.items[n], i))
                cleared |= (uint8_t)(1u << c->number[c->live.items[n]]);
        if (c->group[i]) {
            w.held = cleared;
            group_end = c->group[i];
        } else if (i > group_end) {
            w.held = 0;
        }
        end_cleared(c, cleared);
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++) {
            if (!c->present[q])
                continue;
            c->number[q] = choose(c, &w, q);
            cbi_vec_push(c->ctx, &c->live, q);
        }
    }
    uint8_t flushed = 0;
    for (size_t n = 0; n < c->live.len; n++) {
        uint32_t q = c->live.items[n];
        const producer *p = &c->producers.items[q];
        if (is_here(c, &w, q) && p->local == NOWHERE && p->flush &&
            contains(&p->consumers, b->end - 1))
            flushed |= (uint8_t)(1u << c->number[q]);
    }
    end_cleared(c, flushed);
    memset(b->leaving, 0, (c->row + 1) * sizeof *b->leaving);
    for (size_t n = 0; n < c->live.len; n++)
        put(b->leaving, c->live.items[n]);
    b->done = true;
}

/* ---- waits ---- */

static u32_list *find_needs(code *c)
{
    u32_list *needs = CBI_NEW_ARRAY(c->ctx, c->n, u32_list);
    for (uint32_t q = 0; q < c->producers.len; q++) {
        const producer *p = &c->producers.items[q];
        if (!c->present[q])
            continue;
        if (p->local != NOWHERE)
            cbi_vec_push(c->ctx, &needs[p->local], q);
        for (size_t k = 0; k < p->consumers.len; k++) {
            uint32_t x = p->consumers.items[k];
            if (p->local == NOWHERE || c->block_of[x] != p->block || x <= p->at)
                cbi_vec_push(c->ctx, &needs[x], q);
        }
    }
    return needs;
}

static uint8_t step_output(const code *c, const u32_list *needs, uint32_t i, uint64_t *set)
{
    uint8_t mask = 0;
    for (size_t k = 0; k < needs[i].len; k++)
        if (has(set, needs[i].items[k]))
            mask |= (uint8_t)(1u << c->number[needs[i].items[k]]);
    for (uint32_t q = 0; mask && q < c->producers.len; q++)
        if (has(set, q) && mask >> c->number[q] & 1)
            drop(set, q);
    for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
        if (c->present[q])
            put(set, q);
    return mask;
}

static void place_waits(code *c, uint8_t *wait)
{
    enum { ROUNDS = 60 };
    const u32_list *needs = find_needs(c);
    uint64_t *set = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    for (uint32_t b = 0; b < c->blocks.len; b++)
        memset(c->blocks.items[b].leaving, 0, (c->row + 1) * sizeof *set);
    bool changed = true;
    for (unsigned round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (uint32_t b = 0; b < c->blocks.len; b++) {
            block *k = &c->blocks.items[b];
            memset(set, 0, (c->row + 1) * sizeof *set);
            for (size_t p = 0; p < k->pred.len; p++)
                for (size_t w = 0; w < c->row; w++)
                    set[w] |= c->blocks.items[k->pred.items[p]].leaving[w];
            for (uint32_t i = k->start; i < k->end; i++) {
                uint8_t mask = step_output(c, needs, i, set);
                changed |= mask != wait[i];
                wait[i] = mask;
            }
            if (memcmp(set, k->leaving, (c->row + 1) * sizeof *set) != 0) {
                memcpy(k->leaving, set, (c->row + 1) * sizeof *set);
                changed = true;
            }
        }
    }
    bool same_top = c->reserved;
    for (uint32_t q = 0; q < c->producers.len; q++)
        if (c->present[q] && (c->producers.items[q].old == c->top) != (c->number[q] == c->top))
            same_top = false;
    for (uint32_t i = 0; i < c->n; i++) {
        if (same_top)
            wait[i] = (uint8_t)((wait[i] & ~(1u << c->top)) | (c->wait[i] & 1u << c->top));
        if (c->all[i])
            wait[i] = EVERYTHING;
    }
    for (uint32_t i = 0; i < c->n; i++)
        if (c->group[i])
            wait[c->group[i]] |= wait[i];
}

/* ---- the whole ---- */

static bool has_long_result(const code *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (is_long(op_at(c, i)) && cbi_sass_bits(c->words[i], 16, 8) != 255 &&
            cbi_sass_bits(c->words[i], 110, 3) != NONE)
            return true;
    return false;
}

/* New words; the R1 load keeps its scoreboard for the test of the model against the input. */
static void assign(code *c, bool keep_stack_load, cbi_sass *ret_words)
{
    bool crossing_long = false;
    c->number = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, uint8_t);
    c->present = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, bool);
    for (uint32_t q = 0; q < c->producers.len; q++) {
        c->number[q] = NONE;
        c->present[q] = q != c->stack_load || keep_stack_load;
        crossing_long |= c->producers.items[q].is_long && c->producers.items[q].local == NOWHERE;
    }
    c->reserved = crossing_long && has_long_result(c);
    c->apart = 0;
    for (uint32_t i = 0; i < c->n; i++)
        c->apart |= is_texture(op_at(c, i)) ? 0x20 : is_async_copy_end(op_at(c, i)) ? 1 : 0;
    c->top = c->apart & 0x20 ? 4 : 5;
    for (uint32_t b = 0; b < c->blocks.len; b++)
        c->blocks.items[b].done = false;
    u32_list order = block_order(c);
    for (size_t i = 0; i < order.len; i++)
        assign_block(c, order.items[i]);
    uint8_t *wait = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    place_waits(c, wait);
    for (uint32_t i = 0; i < c->n; i++) {
        uint64_t number[2] = {NONE, NONE}; /* read, write */
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
            if (c->present[q])
                number[c->producers.items[q].write] = c->number[q];
        ret_words[i] = c->words[i];
        ret_words[i].hi &= ~(UINT64_C(0xfff) << 46);
        ret_words[i].hi |= number[1] << 46 | number[0] << 49 | (uint64_t)wait[i] << 52;
    }
}

static bool qualifies(const code *c)
{
    cbi_sass first = c->words[0];
    if (cbi_sass_op(first) != 0xb82 || cbi_sass_bits(first, 16, 8) != 1 ||
        cbi_sass_bits(first, 110, 3) == NONE || cbi_sass_bits(first, 113, 3) != NONE)
        return false;
    for (uint32_t i = 1; i < c->n; i++)
        if (cbi_sass_reads_stack_pointer(c->words[i]))
            return false;
    return true;
}

bool cbi_scoreboard_assign(cbi_ctx *ctx, uint8_t *text, size_t size, cbi_span info,
                           const uint32_t *place, size_t place_count)
{
    code c = {.ctx = ctx};
    size_t total = size / 16;
    while (total && (cbi_ld16(text + 16 * (total - 1)) & 0xfff) == 0x918)
        total--;
    if (!total || total > UINT32_MAX / 16)
        return false;
    c.n = (uint32_t)total;
    c.words = CBI_NEW_ARRAY(ctx, c.n, cbi_sass);
    for (uint32_t i = 0; i < c.n; i++)
        c.words[i] =
            (cbi_sass){cbi_ld64(text + (size_t)16 * i), cbi_ld64(text + (size_t)16 * i + 8)};
    if (!qualifies(&c))
        return false;
    targets_list tables = {0};
    read_tables(ctx, info, place, place_count, &tables);
    if (!find_blocks(&c, &tables))
        return false;
    c.operands = CBI_NEW_ARRAY(ctx, c.n, cbi_operands);
    c.wait = CBI_NEW_ARRAY(ctx, c.n, uint8_t);
    c.all = CBI_NEW_ARRAY(ctx, c.n, bool);
    for (uint32_t i = 0; i < c.n; i++) {
        cbi_sass_operands(c.words[i], &c.operands[i]);
        c.wait[i] = (uint8_t)cbi_sass_bits(c.words[i], 116, 6);
        c.all[i] = c.wait[i] == EVERYTHING;
        if (c.all[i])
            c.wait[i] = 0;
    }
    find_producers(&c);
    if ((uint64_t)c.n * c.producers.len > LIMIT)
        return false;
    find_pending(&c);
    for (uint32_t q = 0; q < c.producers.len; q++)
        find_local(&c, q);
    for (uint32_t q = 0; q < c.producers.len; q++) {
        const producer *p = &c.producers.items[q];
        if (p->local == NOWHERE && q != c.stack_load && p->write && !p->is_long)
            uncover(&c, q);
    }
    find_groups(&c);
    cbi_sass *out = CBI_NEW_ARRAY(ctx, c.n, cbi_sass);
    assign(&c, true, out);
    for (uint32_t i = 0; i < c.n; i++)
        if (out[i].hi != c.words[i].hi)
            return false;
    assign(&c, false, out);
    for (uint32_t i = 0; i < c.n; i++)
        cbi_st64(text + (size_t)16 * i + 8, out[i].hi);
    return true;
}
