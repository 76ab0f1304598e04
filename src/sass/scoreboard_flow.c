/* Control flow of the code whose scoreboards are assigned: its blocks, and the order in which they
 * are taken. */
#include "format/eiattr.h"
#include "sass/pace_distance.h"
#include "sass/scoreboard_read.h"

enum { GROUP_LENGTH = 12 }; /* longest warp-collective sequence */

typedef struct targets {
    uint32_t branch;
    cbi_u32_list list;
} targets;
typedef CBI_VEC(targets) targets_list;

static uint32_t moved(uint32_t offset, const uint32_t *place, size_t count)
{
    uint32_t i = offset / CBI_SASS_INSTRUCTION;
    return place ? i < count ? place[i] / CBI_SASS_INSTRUCTION : CBI_SB_NOWHERE : i;
}

static void read_tables(cbi_ctx *ctx, cbi_span info, const uint32_t *place, size_t count,
                        targets_list *ret_tables)
{
    cbi_reader r = cbi_reader_at(info, 0);
    while (!r.bad && r.pos < info.size) {
        uint8_t format = cbi_read8(&r), attr = cbi_read8(&r);
        uint16_t size = cbi_read16(&r);
        if (format != CBI_ATTR_SIZED)
            continue;
        cbi_reader v = cbi_reader_at(cbi_read_bytes(&r, size), 0);
        while (attr == EIATTR_INDIRECT_BRANCH_TARGETS && v.pos < v.span.size) {
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

static bool is_indexed(uint32_t op)
{
    return op == CBI_OP_BRX || op == CBI_OP_BRXU;
}

static const targets *table_of(const targets_list *tables, uint32_t i)
{
    for (size_t t = 0; t < tables->len; t++)
        if (tables->items[t].branch == i)
            return &tables->items[t];
    return NULL;
}

/* Does the code go on behind instruction i?  So it does, for nvlink, behind a branch whose table is
 * not known. */
static bool falls_through(const cbi_sb_code *c, const targets_list *tables, uint32_t i)
{
    cbi_sass w = c->words[i];
    uint32_t op = cbi_sass_op(w);
    bool conditional =
        cbi_sass_signed_guard(w) != CBI_SASS_PT || cbi_sass_signed_read_predicate(w) != CBI_SASS_PT;
    if (op == CBI_OP_BRA)
        return conditional || cbi_sass_bits(w, 32, 2);
    if (op == CBI_OP_EXIT || op == CBI_OP_RET || op == CBI_OP_LEPC)
        return conditional;
    return !is_indexed(op) || !table_of(tables, i);
}

/* What comes next in the code first.  False when a target is outside the code. */
static bool successors(cbi_sb_code *c, const targets_list *tables, uint32_t i,
                       cbi_u32_list *ret_list)
{
    uint32_t op = cbi_sb_op(c, i);
    if (i + 1 < c->n && falls_through(c, tables, i))
        cbi_vec_push(c->ctx, ret_list, i + 1);
    if (op == CBI_OP_BRA || op == CBI_OP_BRA_U) {
        int64_t target =
            (int64_t)i + 1 + cbi_sass_branch_distance(c->words[i]) / CBI_SASS_INSTRUCTION;
        if (c->leads && c->leads[i])
            target = (int64_t)c->leads[i] - 1;
        if (target < 0 || target >= c->n)
            return false;
        cbi_vec_push(c->ctx, ret_list, (uint32_t)target);
    }
    const targets *table = is_indexed(op) ? table_of(tables, i) : NULL;
    for (size_t k = 0; table && k < table->list.len; k++) {
        if (table->list.items[k] >= c->n)
            return false;
        cbi_vec_push(c->ctx, ret_list, table->list.items[k]);
    }
    return true;
}

/* Does its stall count say no more than what it needs itself, whatever follows? */
static bool has_own_stall(cbi_sass w)
{
    uint32_t op = cbi_sass_op(w), stall = cbi_sass_stall(w);
    return (cbi_op_is_barrier(op) && stall == CBI_PACE_BARRIER) ||
           (cbi_op_has(op, CBI_OPF_WARP) && stall == CBI_PACE_CONTROL) ||
           (op == CBI_OP_DEPBAR && stall == CBI_PACE_DEPBAR);
}

/* Does what is of an unsure kind start a block? */
static bool may_start(cbi_sb_code *c, cbi_sb_unsure kind)
{
    c->unsure |= (uint8_t)kind;
    return !(c->joins & kind);
}

/* Is a result due just when instruction i is issued, though nothing before it needs it?  So it is
 * at the end of a block; where only the guard of i is due, the input does not say. */
static bool ends_by_result(cbi_sb_code *c, uint32_t i)
{
    enum { LONGEST = 15 };
    const uint8_t guard = cbi_sass_predicates(c->words[i]).guard;
    uint32_t passed = 0;
    bool due = false;
    if (has_own_stall(c->words[i - 1]))
        return false;
    for (uint32_t j = i; j-- > 0 && i - j <= LONGEST && passed < LONGEST;) {
        if (cbi_op_has(cbi_sb_op(c, j), CBI_OPF_BRANCH))
            break;
        passed += cbi_sass_stall(c->words[j]);
        if (cbi_sass_holds(c->words[j]) ||
            passed != cbi_pace_end_latency(c->words[j], &c->operands[j]))
            continue;
        if (!(cbi_sass_predicates(c->words[j]).written & guard))
            return true;
        due = true;
    }
    return due && may_start(c, CBI_SB_AT_GUARD);
}

/* Does an instruction that needs nothing wait, but for the fence before it, or what acquires?  So
 * it does at the end of a block. */
static bool waits_for_end(const cbi_sb_code *c, uint32_t i)
{
    uint32_t op = cbi_sb_op(c, i), wait = cbi_sass_wait(c->words[i]);
    bool idle = op == CBI_OP_NANOSLEEP || op == CBI_OP_LDGDEPBAR || op == CBI_OP_BSSY ||
                op == CBI_OP_CCTL || cbi_op_is_barrier(op);
    if (i && (cbi_sb_op(c, i - 1) == CBI_OP_MEMBAR || op == CBI_OP_CCTL))
        wait &= ~cbi_sass_holds(c->words[i - 1]);
    return wait && idle && cbi_sass_signed_guard(c->words[i]) == CBI_SASS_PT &&
           !cbi_regset_any(&c->operands[i].read);
}

/* A NOP that is part of the stall count before it. */
static bool is_filling(const cbi_sb_code *c, uint32_t i)
{
    return cbi_sb_op(c, i) == CBI_OP_NOP && cbi_sass_stall(c->words[i - 1]) == CBI_SASS_STALL_MAX &&
           !cbi_sass_wait(c->words[i]);
}

/* A NOP that is no part of the stall count before it. */
static bool is_lone_nop(const cbi_sb_code *c, uint32_t i)
{
    return i && cbi_sb_op(c, i) == CBI_OP_NOP &&
           cbi_sass_stall(c->words[i - 1]) != CBI_SASS_STALL_MAX;
}

/* Does a wait for the warp start a block?  It may behind a wait for asynchronous copies, and where
 * nothing but its own guard is due.  Elsewhere the input shows it by the cycles that a predicate,
 * or a scoreboard, has at the end of one, where nothing needs them. */
static bool starts_apart(cbi_sb_code *c, uint32_t i)
{
    enum { SCOREBOARD_AT_END = 2 };
    uint32_t op = cbi_sb_op(c, i);
    bool waits = op == CBI_OP_WARPSYNC_R ||
                 (op == CBI_OP_WARPSYNC && !cbi_sass_branch_distance(c->words[i]));
    if (i == 0 || !waits)
        return false;
    uint32_t held = cbi_sass_holds(c->words[i - 1]), stall = cbi_sass_stall(c->words[i - 1]);
    if (held && stall == SCOREBOARD_AT_END)
        return !(cbi_sass_wait(c->words[i]) & held);
    return (cbi_sb_op(c, i - 1) == CBI_OP_DEPBAR && may_start(c, CBI_SB_AFTER_COPIES)) ||
           waits_for_end(c, i - 1) || is_lone_nop(c, i - 1) ||
           (stall > SCOREBOARD_AT_END && ends_by_result(c, i));
}

/* A test of a barrier in shared memory that gives up after some time sleeps in a block of its own.
 */
static bool sleeps_between(const cbi_sb_code *c, uint32_t i)
{
    uint32_t op = cbi_sb_op(c, i);
    enum { GIVES_UP = 72 }; /* after a time, bit of the first test */
    bool behind = i && cbi_sb_op(c, i - 1) == CBI_OP_SYNCS_PHASECHK &&
                  cbi_sass_bits(c->words[i - 1], GIVES_UP, 1);
    bool before = i + 1 < c->n && cbi_sb_op(c, i + 1) == CBI_OP_SYNCS_PHASECHK;
    return behind && (op == CBI_OP_NANOSLEEP || (op == CBI_OP_NANOSLEEP_R && before));
}

static bool find_blocks(cbi_sb_code *c, const targets_list *tables)
{
    bool *leader = CBI_NEW_ARRAY(c->ctx, c->n + 1, bool);
    leader[0] = true;
    for (uint32_t i = 0; i < c->n; i++) {
        cbi_u32_list s = {0};
        if (!successors(c, tables, i, &s))
            return false;
        uint32_t op = cbi_sb_op(c, i);
        if (op == CBI_OP_LEPC || op == CBI_OP_BSYNC || starts_apart(c, i) || sleeps_between(c, i) ||
            (c->labels && c->labels[i]))
            leader[i] = true;
        if (op == CBI_OP_BPT)
            leader[i + 1] = true;
        if (op == CBI_OP_LEPC) { /* so does the place that it names */
            int64_t place =
                (int64_t)i + 1 + cbi_sass_named_distance(c->words[i]) / CBI_SASS_INSTRUCTION;
            if (place >= 0 && place < c->n)
                leader[place] = true;
        }
        if (c->calls_apart && cbi_op_has(op, CBI_OPF_CALL) && op != CBI_OP_RET)
            leader[i] = leader[i + 1] = true;
        if (!cbi_op_has(op, CBI_OPF_BRANCH) && s.len == 1 && s.items[0] == i + 1)
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
        cbi_sb_block *own = &c->blocks.items[b];
        for (own->last = own->end - 1; own->last > own->start && is_filling(c, own->last);)
            own->last--;
        successors(c, tables, own->end - 1, &s);
        for (size_t k = 0; k < s.len; k++) {
            uint32_t to = c->block_of[s.items[k]];
            cbi_vec_push(c->ctx, &c->blocks.items[b].succ, to);
            cbi_vec_push(c->ctx, &c->blocks.items[to].pred, b);
        }
    }
    return true;
}

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
        for (size_t i = 0; i < succ->len; i++)
            if (bucket(succ->items[i]) == k && !cbi_sb_contains(&out, succ->items[i]))
                cbi_vec_push(c->ctx, &out, succ->items[i]);
    return out;
}

typedef struct frame {
    uint32_t block;
    cbi_u32_list kids;
    size_t next;
} frame;

/* Appends what is reached from a block and was not seen before, each behind what follows it. */
static void visit(const cbi_sb_code *c, uint32_t block, bool *seen, cbi_u32_list *post)
{
    CBI_VEC(frame) stack = {0};
    seen[block] = true;
    cbi_vec_push(c->ctx, &stack, ((frame){.block = block, .kids = visit_order(c, block)}));
    while (stack.len) {
        frame *top = &stack.items[stack.len - 1];
        if (top->next == top->kids.len) {
            cbi_vec_push(c->ctx, post, top->block);
            stack.len--;
            continue;
        }
        uint32_t kid = top->kids.items[top->next++];
        if (!seen[kid]) {
            seen[kid] = true;
            cbi_vec_push(c->ctx, &stack, ((frame){.block = kid, .kids = visit_order(c, kid)}));
        }
    }
}

cbi_u32_list cbi_sb_order(const cbi_sb_code *c)
{
    uint32_t count = (uint32_t)c->blocks.len;
    bool *seen = CBI_NEW_ARRAY(c->ctx, count, bool);
    cbi_u32_list post = {0}, order = {0};
    for (uint32_t b = 0; b < count; b++)
        if (!seen[b])
            visit(c, b, seen, &post);
    for (size_t i = post.len; i--;)
        cbi_vec_push(c->ctx, &order, post.items[i]);
    return order;
}

static void find_positions(cbi_sb_code *c)
{
    cbi_u32_list order = cbi_sb_order(c);
    c->position = CBI_NEW_ARRAY(c->ctx, c->blocks.len, uint32_t);
    for (uint32_t i = 0; i < order.len; i++)
        c->position[order.items[i]] = i;
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
            if (cbi_sb_op(c, j) == CBI_OP_ENDCOLLECTIVE ||
                cbi_op_has(cbi_sb_op(c, j), CBI_OPF_BRANCH))
                break;
        }
    }
}

bool cbi_sb_ends_stretch(const cbi_sb_code *c, uint32_t i)
{
    return c->group[i] || cbi_sb_op(c, i) == CBI_OP_ENDCOLLECTIVE ||
           (i + 1 < c->n && c->group[i + 1]);
}

bool cbi_sb_find_blocks(cbi_sb_code *c, cbi_span info, const uint32_t *place, size_t place_count)
{
    targets_list tables = {0};
    read_tables(c->ctx, info, place, place_count, &tables);
    if (!find_blocks(c, &tables))
        return false;
    find_positions(c);
    find_groups(c);
    return true;
}

bool cbi_sb_follow_blocks(cbi_sb_code *c, cbi_span info, const uint32_t *place, size_t place_count)
{
    cbi_sb_code now = *c;
    memset(&now.blocks, 0, sizeof now.blocks);
    if (!cbi_sb_find_blocks(&now, info, place, place_count) || now.blocks.len != c->blocks.len)
        return false;
    *c = now;
    return true;
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

void cbi_sb_push_behind(const cbi_sb_code *c, uint32_t i, uint32_t j, cbi_u32_list *loops,
                        cbi_u32_list *todo)
{
    uint32_t block = c->block_of[j];
    const cbi_sb_block *b = &c->blocks.items[block];
    cbi_sb_push_next(c, j, todo);
    for (size_t k = 0; j + 1 == b->end && k < b->succ.len; k++) {
        uint32_t to = b->succ.items[k], start = c->blocks.items[to].start;
        bool back = c->position[to] <= c->position[block];
        if (back && c->position[to] <= c->position[c->block_of[i]] &&
            !cbi_sb_contains(loops, start))
            cbi_vec_push(c->ctx, loops, start);
    }
}
