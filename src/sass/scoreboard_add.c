/* Instructions whose result comes late on the target only: they get scoreboards.
 *
 * They all run in one unit, in order, so a wait for one of them is a wait for all before it in the
 * stretch, and between two of them only a result that is read needs one.  A stretch is a block, or
 * what collective sequences leave of it. */
#include "sass/scoreboard_assign.h"
#include "sass/scoreboard_read.h"

/* What needs a late instruction behind its stretch. */
typedef struct crossing {
    cbi_u32_list users, starts; /* starts: of collective sequences on the way */
    cbi_u32_list loops;         /* starts of loops that it is in and comes around */
} crossing;

/* What one of them needs. */
typedef struct late {
    uint32_t at;
    bool write, read;    /* scoreboards */
    uint32_t used;       /* first instruction of the stretch that needs the result */
    uint32_t overwrites; /* ... that writes a source */
    crossing users, overwriters;
} late;

/* The memory barrier of a barrier in front of an exit: the next one waits for the guard of both. */
static bool is_barrier_head(const cbi_sb_code *c, uint32_t i)
{
    enum { KIND_OF_EXITS = 0x50 };
    return cbi_sb_op(c, i) == CBI_OP_MEMBAR && cbi_sass_bits(c->words[i], 72, 8) == KIND_OF_EXITS &&
           i + 1 < c->n && cbi_sb_op(c, i + 1) == CBI_OP_ERRBAR;
}

static bool is_call(const cbi_sb_code *c, uint32_t i)
{
    return cbi_op_has(cbi_sb_op(c, i), CBI_OPF_CALL);
}

/* Are both done by one unit, one after the other? */
static bool keep_order(const cbi_sb_late *which, uint32_t i, uint32_t j)
{
    return which->order[i] == which->order[j] && which->order[i] != CBI_ORDER_FREE;
}

static bool has_result(const cbi_sb_late *which, const cbi_operands *o, uint32_t i)
{
    return cbi_operands_write(o) || which->written[i];
}

/* Does j need the result of i?  ordered: who writes it again waits for its turn anyway. */
static bool needs_result(const cbi_sb_code *c, const cbi_sb_late *which, uint32_t i, uint32_t j,
                         bool ordered)
{
    const cbi_operands *a = &c->operands[i], *b = &c->operands[j];
    if (cbi_sb_excludes(c, i, j) || is_barrier_head(c, j) || !has_result(which, a, i))
        return false;
    if (is_call(c, j) || cbi_regset_meet(&a->written, &b->read) ||
        cbi_regset_meet(&a->uniform_written, &b->uniform_read) ||
        (which->written[i] & which->read[j]))
        return true;
    return !ordered &&
           (cbi_regset_meet(&a->written, &b->written) || (which->written[i] & which->written[j]));
}

bool cbi_sb_uses_late(const cbi_sb_code *c, const cbi_sb_late *which, uint32_t i, uint32_t j)
{
    return needs_result(c, which, i, j, keep_order(which, i, j));
}

static bool overwrites(const cbi_sb_code *c, uint32_t i, uint32_t j)
{
    return !cbi_sb_excludes(c, i, j) &&
           cbi_regset_meet(&c->operands[i].read, &c->operands[j].written);
}

bool cbi_sb_overwrites_late(const cbi_sb_code *c, const cbi_sb_late *which, uint32_t i, uint32_t j)
{
    return !keep_order(which, i, j) && overwrites(c, i, j);
}

/* For late results a block ends where a stretch of time does. */
static uint32_t last_of_stretch(const cbi_sb_code *c, uint32_t i)
{
    uint32_t last = cbi_sb_last_of(c, c->block_of[i]);
    while (i < last && !cbi_sb_ends_stretch(c, i))
        i++;
    return i;
}

/* First instructions behind the stretch, on every path, that need the result, be it to write it
 * again, or, with sources, overwrite one that is kept.  Collective sequences need everything: their
 * starts wait, too, and their ends wait again, if nothing inside did. */
static crossing find_crossing(cbi_sb_code *c, const cbi_sb_late *which, uint32_t i, bool sources)
{
    crossing x = {0};
    cbi_u32_list todo = {0};
    cbi_regset kept = cbi_sass_kept_sources(&c->operands[i]);
    uint32_t visit = ++c->visit;
    cbi_sb_push_behind(c, i, last_of_stretch(c, i), &x.loops, &todo);
    while (todo.len) {
        uint32_t j = todo.items[--todo.len];
        if (c->visited[j] == visit)
            continue;
        c->visited[j] = visit;
        if (sources && which->anew && j != i && cbi_sb_uses_late(c, which, i, j))
            continue; /* by then they are read */
        bool ends = sources ? is_call(c, j) || (!cbi_sb_excludes(c, i, j) &&
                                                cbi_regset_meet(&kept, &c->operands[j].written))
                            : needs_result(c, which, i, j, false);
        if (c->group[j])
            cbi_vec_push(c->ctx, &x.starts, j);
        if (ends || cbi_sb_op(c, j) == CBI_OP_ENDCOLLECTIVE)
            cbi_vec_push(c->ctx, &x.users, j);
        else if (j != i)
            cbi_sb_push_behind(c, i, j, &x.loops, &todo);
    }
    return x;
}

static bool is_local(const cbi_sb_code *c, uint32_t i)
{
    return cbi_op_has(cbi_sb_op(c, i), CBI_OPF_LOCAL);
}

bool cbi_sb_read_in_order(const cbi_sb_code *c, const cbi_sb_late *which, uint32_t i, uint32_t j)
{
    return which->anew && cbi_op_kind(cbi_sb_op(c, i)) == CBI_KIND_MEMORY &&
           cbi_op_kind(cbi_sb_op(c, j)) == CBI_KIND_MEMORY && (is_local(c, i) || !is_local(c, j));
}

static uint32_t earlier(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The late instructions of a block, last first; in a stretch `awaited` is the first wait for the
 * result of one that was seen, `read_by` the first for its sources, too. */
static void find_block_needs(cbi_sb_code *c, const cbi_sb_late *which, const cbi_sb_block *b,
                             late **by_instruction)
{
    uint32_t first_wait[CBI_ORDERS], first_read[CBI_ORDERS], end = b->end;
    uint32_t read_local = CBI_SB_NOWHERE, read_any = CBI_SB_NOWHERE; /* of accesses to memory */
    for (uint32_t i = b->end; i-- > b->start;) {
        if (i + 1 == b->end || cbi_sb_ends_stretch(c, i)) {
            end = i + 1;
            for (unsigned k = 0; k < CBI_ORDERS; k++)
                first_wait[k] = first_read[k] = CBI_SB_NOWHERE;
            read_local = read_any = CBI_SB_NOWHERE;
        }
        if (!which->order[i])
            continue;
        const bool alone = which->order[i] == CBI_ORDER_FREE;
        uint32_t awaited = alone ? CBI_SB_NOWHERE : first_wait[which->order[i]];
        const bool memory = cbi_sb_read_in_order(c, which, i, i), local = is_local(c, i);
        uint32_t read_by = memory  ? earlier(read_any, local ? read_local : CBI_SB_NOWHERE)
                           : alone ? CBI_SB_NOWHERE
                                   : first_read[which->order[i]];
        late *l = CBI_NEW(c->ctx, late);
        *l = (late){.at = i, .used = CBI_SB_NOWHERE, .overwrites = CBI_SB_NOWHERE};
        for (uint32_t j = i + 1; j < end; j++) {
            if (l->used == CBI_SB_NOWHERE && cbi_sb_uses_late(c, which, i, j))
                l->used = j;
            if (l->overwrites == CBI_SB_NOWHERE &&
                (cbi_sb_overwrites_late(c, which, i, j) || (memory && is_call(c, j))))
                l->overwrites = j;
        }
        if (l->used == CBI_SB_NOWHERE && awaited == CBI_SB_NOWHERE)
            l->users = find_crossing(c, which, i, false);
        l->write = l->used != CBI_SB_NOWHERE ? l->used < awaited : l->users.users.len > 0;
        if (l->used < awaited)
            awaited = l->used;
        if (awaited < read_by)
            read_by = awaited;
        bool leaves = l->overwrites == CBI_SB_NOWHERE && read_by == CBI_SB_NOWHERE;
        if (leaves)
            l->overwriters = find_crossing(c, which, i, true);
        cbi_regset kept = cbi_sass_kept_sources(&c->operands[i]);
        bool stays = which->anew ? l->overwriters.users.len > 0 : cbi_regset_any(&kept);
        l->read = leaves ? stays : l->overwrites < read_by;
        if (l->overwrites < read_by)
            read_by = l->overwrites;
        first_wait[which->order[i]] = awaited;
        first_read[which->order[i]] = read_by;
        uint32_t *read_first = local ? &read_local : &read_any;
        if (memory && l->read)
            *read_first = earlier(*read_first, l->overwrites);
        if (memory && cbi_op_has(cbi_sb_op(c, i), CBI_OPF_SHARED))
            read_any = earlier(read_any, awaited);
        by_instruction[i] = l;
    }
}

static bool is_due(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t last)
{
    return c->issue[last] - c->issue[p->at] >= cbi_sb_latency_of(c, p);
}

/* The end of a collective sequence that starts with the instruction behind a producer, when nothing
 * else needs that. */
static bool is_sequence_only(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return p->starts.len == 1 && p->consumers.len == 1 && p->consumers.items[0] > p->at &&
           c->block_of[p->consumers.items[0]] == p->block;
}

/* Is its result waited for at the end of the stretch however little time has passed? */
static bool is_pressing(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return p->write && p->is_late && !cbi_sb_is_late_product(c, p);
}

/* Instruction `last`, which ends its stretch within the block, waits for it, and nothing else does.
 */
static void end_with_stretch(cbi_sb_code *c, cbi_sb_producer *p, uint32_t last)
{
    p->flush = cbi_sb_is_before_sequence(c, last);
    p->local = p->flush ? CBI_SB_NOWHERE : last;
    p->consumers = p->starts = (cbi_u32_list){0};
    cbi_vec_push(c->ctx, &p->consumers, last);
}

/* What is needed behind its stretch: the last instruction of that waits, for results of products of
 * matrices and for sources if they are there or read by then. */
static void leave_stretch(cbi_sb_code *c, cbi_sb_producer *p)
{
    uint32_t last = last_of_stretch(c, p->at);
    bool waits = last != p->at && !p->is_long && (is_pressing(c, p) || is_due(c, p, last));
    if (last == p->at && is_sequence_only(c, p)) {
        p->local = p->consumers.items[0];
    } else if (waits && last != cbi_sb_last_of(c, p->block)) {
        end_with_stretch(c, p, last);
    } else if (last != p->at) {
        p->timed = !is_pressing(c, p);
        p->flush = waits;
        if (waits)
            cbi_vec_push(c->ctx, &p->consumers, last);
    }
}

/* Is it late on the target only, and not just in another order? */
static bool comes_late(const cbi_sb_late *which, uint32_t i)
{
    return which->order[i] && which->order[i] <= CBI_SLOW_DOUBLE;
}

static void need(cbi_sb_producer *p, const crossing *x)
{
    p->consumers = x->users;
    p->starts = x->starts;
    p->loops = x->loops;
}

static void push_producer(cbi_sb_code *c, cbi_sb_producer_list *list, const late *l, bool write,
                          bool is_late)
{
    cbi_sb_producer *p = cbi_vec_add(c->ctx, list);
    *p = (cbi_sb_producer){.at = l->at,
                           .block = c->block_of[l->at],
                           .write = write,
                           .is_long = write && cbi_op_has(cbi_sb_op(c, l->at), CBI_OPF_LONG),
                           .old = CBI_SB_NONE,
                           .is_late = is_late,
                           .local = write ? l->used : l->overwrites};
    if (p->local != CBI_SB_NOWHERE) {
        cbi_vec_push(c->ctx, &p->consumers, p->local);
        return;
    }
    need(p, write ? &l->users : &l->overwriters);
    p->ends = write && !p->consumers.len; /* sources keep their number */
    leave_stretch(c, p);
}

/* A conversion with a side of 64 bits, which the slow unit does on the target: like those that come
 * late there only, its result and its sources are waited for at the end of the block. */
static bool ends_with_block(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return cbi_instruction_of(cbi_sb_op(c, p->at))->slow == CBI_SLOW_CONVERT &&
           cbi_sb_op(c, cbi_sb_last_of(c, p->block)) != CBI_OP_BSYNC;
}

static void drop(cbi_u32_list *list, uint32_t q)
{
    size_t left = 0;
    for (size_t k = 0; k < list->len; k++)
        if (list->items[k] != q)
            list->items[left++] = list->items[k];
    list->len = left;
}

/* Where the last instruction of a block waits for its guard by a stall count, and for nothing
 * else: the instruction that writes it. */
static uint32_t find_guard(const cbi_sb_code *c, uint32_t start, uint32_t last)
{
    enum { GUARD_LATENCY = 13 };
    uint32_t guard = cbi_sass_guard(c->words[last]), i = last;
    int64_t passed = 0;
    while (guard != CBI_SASS_PT && i > start && passed < GUARD_LATENCY) {
        passed += cbi_sb_cycles(c, --i);
        if (cbi_sass_writes_predicate(c->words[i], guard))
            return passed == GUARD_LATENCY ? i : CBI_SB_NOWHERE;
    }
    return CBI_SB_NOWHERE;
}

/* A stall count for the guard passes while others wait for late results and for memory: what is
 * behind these is nearer to the end of the block than the stall counts say.  `now`: time of issue
 * from `writer` on. */
static void hurry(const cbi_sb_code *c, uint32_t writer, uint32_t last, int64_t *now)
{
    enum { GUARD_LATENCY = 13, RESULT = 15 };
    int64_t ready = now[writer] + GUARD_LATENCY;
    for (uint32_t j = writer + 1; j <= last; j++) {
        int64_t next = now[j - 1] + (j == last ? 1 : cbi_sb_cycles(c, j - 1));
        now[j] = next > now[j] || j == last ? next : now[j];
        for (uint32_t q = c->first[c->blocks.items[c->block_of[j]].start]; q < c->first[j]; q++) {
            const cbi_sb_producer *p = &c->producers.items[q];
            int64_t there = p->is_late ? now[p->at] + RESULT : p->is_long ? ready - 1 : 0;
            if (p->write && p->local == j && there > now[j])
                now[j] = there;
        }
    }
    now[last] = now[last] > ready ? now[last] : ready;
}

/* Cycles from each instruction to the last one of its block; `hurries`: a stall count for the guard
 * of that may pass elsewhere. */
static int64_t *find_left(const cbi_sb_code *c, bool hurries)
{
    int64_t *left = CBI_NEW_ARRAY(c->ctx, c->n, int64_t);
    memcpy(left, c->issue, c->n * sizeof *left);
    for (uint32_t b = 0; b < c->blocks.len; b++) {
        uint32_t start = c->blocks.items[b].start, last = cbi_sb_last_of(c, b);
        uint32_t writer = find_guard(c, start, last);
        if (hurries && writer != CBI_SB_NOWHERE)
            hurry(c, writer, last, left);
        int64_t end = left[last];
        for (uint32_t i = start; i <= last; i++)
            left[i] = end - left[i];
    }
    return left;
}

/* Cycles from each instruction to the end of its block, on a chip. */
typedef struct times {
    const int64_t *left;
    uint32_t chip;
} times;

/* Was it there at the end of its block, by the time of the input? */
static bool was_due(const cbi_sb_code *c, const cbi_sb_producer *p, const times *input)
{
    return input->left[p->at] >= cbi_sb_latency(c, p, input->chip);
}

/* By block: the numbers that something held at its end in the input that was not there yet, so that
 * nobody waited for them. */
static uint8_t *find_held(const cbi_sb_code *c, const times *input)
{
    uint8_t *held = CBI_NEW_ARRAY(c->ctx, c->blocks.len, uint8_t);
    for (uint32_t q = 0; q < c->producers.len; q++) {
        const cbi_sb_producer *p = &c->producers.items[q];
        bool slow = ends_with_block(c, p) && !p->flush;
        if (p->old < CBI_SB_NUMBERS && p->local == CBI_SB_NOWHERE && q != c->stack_load &&
            (slow || !was_due(c, p, input)))
            held[p->block] |= (uint8_t)(1u << p->old);
    }
    return held;
}

/* Was there no end of a block? */
static bool ends_anew(const cbi_sb_code *before, uint32_t last)
{
    return before && cbi_sb_last_of(before, before->block_of[last]) != last;
}

/* Conversions with a side of 64 bits are waited for in front of a collective sequence, too. */
static void meet_sequences(cbi_sb_code *c)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        cbi_sb_producer *p = &c->producers.items[q];
        uint32_t last = last_of_stretch(c, p->at);
        if (cbi_instruction_of(cbi_sb_op(c, p->at))->slow != CBI_SLOW_CONVERT || p->is_late ||
            last == p->at || !cbi_sb_is_before_sequence(c, last) || p->local <= last)
            continue;
        p->timed = true;
        end_with_stretch(c, p, last);
    }
}

/* What was not there at the end of its block may be there now, and the other way round. */
static void meet_ends(cbi_sb_code *c, const cbi_sb_late *which, const times *input,
                      cbi_sb_guide *guide)
{
    enum { MUCH = 8 };
    const int64_t *hurried = find_left(c, true), *plain = find_left(c, false);
    const uint8_t *held = find_held(c, input);
    for (uint32_t q = 0; q < c->producers.len; q++) {
        cbi_sb_producer *p = &c->producers.items[q];
        uint32_t last = cbi_sb_last_of(c, p->block);
        int64_t before = input->left[p->at], left = plain[p->at];
        if (!p->flush && hurried[p->at] < left)
            left = hurried[p->at];
        bool slow = ends_with_block(c, p);
        bool shared = p->old < CBI_SB_NUMBERS && held[p->block] >> p->old & 1;
        bool product = cbi_sb_is_late_product(c, p); /* by the time that others wait for it, too */
        bool knew = slow || ends_anew(which->before, last) || product ||
                    p->flush == was_due(c, p, input) ||
                    (!p->flush && (shared || left > before + MUCH));
        int64_t latency = product ? cbi_sb_latency_of(c, p) : cbi_sb_latency(c, p, c->chip);
        bool is_due_now = slow || left >= latency;
        if ((p->is_late && !product) || p->is_long || p->local != CBI_SB_NOWHERE || last == p->at ||
            !knew || !cbi_sb_names_registers(c, p))
            continue;
        if (is_due_now == p->flush)
            continue;
        p->timed = true;
        p->flush = !p->flush;
        if (slow && guide)
            drop(&guide->fewer[last], q);
        drop(&p->consumers, last);
        if (p->flush) {
            cbi_vec_push(c->ctx, &p->consumers, last);
        } else { /* nobody waited for it behind its block, since the end of that did */
            crossing x = find_crossing(c, which, p->at, !p->write);
            need(p, &x);
        }
    }
}

static void rename_producers(cbi_u32_list *list, const uint32_t *moved)
{
    for (size_t k = 0; k < list->len; k++)
        list->items[k] = moved[list->items[k]];
}

/* What is pending in the input by the new numbers of the producers, which are in the same order. */
static void move_pending(cbi_sb_code *c, const uint32_t *moved)
{
    const cbi_sb_code before = *c;
    uint64_t *set = CBI_NEW_ARRAY(c->ctx, c->row + 1, uint64_t);
    c->pending = CBI_NEW_ARRAY(c->ctx, c->n, cbi_sb_sparse *);
    for (uint32_t i = 0; i < c->n; i++) {
        if (i && before.pending[i] == before.pending[i - 1]) {
            c->pending[i] = c->pending[i - 1];
            continue;
        }
        CBI_SB_EACH_OF(q, before.pending[i], true)
        cbi_sb_put(set, moved[q]);
        c->pending[i] = cbi_sb_take_pending(c, set, NULL);
        CBI_SB_EACH_OF(q, before.pending[i], true)
        cbi_sb_drop(set, moved[q]);
    }
}

/* The guide by the new numbers of the producers. */
static void move_guide(const cbi_sb_code *c, const uint32_t *moved, size_t count,
                       cbi_sb_guide *guide)
{
    uint8_t *exception = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, uint8_t);
    cbi_sb_margin *margin = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, cbi_sb_margin);
    cbi_u32_list *with = CBI_NEW_ARRAY(c->ctx, c->producers.len + 1, cbi_u32_list);
    for (size_t q = 0; q < count; q++) {
        exception[moved[q]] = guide->exception[q];
        margin[moved[q]] = guide->margin[q];
        with[moved[q]] = guide->with[q];
        rename_producers(&with[moved[q]], moved);
    }
    guide->exception = exception;
    guide->margin = margin;
    guide->with = with;
    for (uint32_t i = 0; i < c->n; i++) {
        rename_producers(&guide->more[i], moved);
        rename_producers(&guide->fewer[i], moved);
    }
}

/* Does it need the scoreboard that the input does not have?  What only comes in another order is so
 * by how it was covered before. */
static bool lacks(const cbi_sb_late *which, const late *l, bool write)
{
    if (which->before)
        return !write && l->read;
    if (!which->anew && !comes_late(which, l->at))
        return write ? which->is_new[l->at]
                     : which->reordered && which->reordered->reads_new[l->at];
    return write ? l->write : l->read;
}

static late **find_needs(cbi_sb_code *c, const cbi_sb_late *which)
{
    late **needs = CBI_NEW_ARRAY(c->ctx, c->n, late *);
    for (uint32_t b = 0; b < c->blocks.len; b++)
        find_block_needs(c, which, &c->blocks.items[b], needs);
    return needs;
}

static cbi_sb_reordered *begin_reordered(const cbi_sb_code *c)
{
    cbi_sb_reordered *out = CBI_NEW(c->ctx, cbi_sb_reordered);
    *out = (cbi_sb_reordered){.reads_new = CBI_NEW_ARRAY(c->ctx, c->n, bool),
                              .covered = CBI_NEW_ARRAY(c->ctx, c->n, bool),
                              .used_by = CBI_NEW_ARRAY(c->ctx, c->n, uint32_t),
                              .overwritten_by = CBI_NEW_ARRAY(c->ctx, c->n, uint32_t)};
    for (uint32_t i = 0; i < c->n; i++)
        out->used_by[i] = out->overwritten_by[i] = CBI_SB_NOWHERE;
    return out;
}

void cbi_sb_find_disordered(cbi_sb_code *c, cbi_sb_late *which, const uint8_t *before,
                            const uint8_t *now)
{
    bool any = false;
    for (uint32_t i = 0; i < c->n; i++)
        any |= now[i] && (cbi_sass_write(c->words[i]) == CBI_SB_NONE ||
                          cbi_sass_read(c->words[i]) == CBI_SB_NONE);
    if (!any)
        return;
    cbi_sb_late input = *which, target = *which;
    input.order = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    target.order = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    for (uint32_t i = 0; i < c->n; i++) {
        input.order[i] = before[i];
        target.order[i] = now[i] ? now[i] : which->order[i];
    }
    late **had = find_needs(c, &input), **has = find_needs(c, &target);
    cbi_sb_reordered *out = begin_reordered(c);
    any = false;
    for (uint32_t i = 0; i < c->n; i++) {
        if (!now[i])
            continue;
        const bool writes = cbi_sass_write(c->words[i]) != CBI_SB_NONE;
        const bool reads = cbi_sass_read(c->words[i]) != CBI_SB_NONE;
        which->is_new[i] = !writes && !had[i]->write && has[i]->write;
        out->reads_new[i] = !reads && !had[i]->read && has[i]->read;
        out->covered[i] = reads && had[i]->read && !has[i]->read;
        if (writes && has[i]->used < had[i]->used)
            out->used_by[i] = has[i]->used;
        if (reads && has[i]->overwrites < had[i]->overwrites)
            out->overwritten_by[i] = has[i]->overwrites;
        any |= which->is_new[i] || out->reads_new[i] || out->used_by[i] != CBI_SB_NOWHERE ||
               out->overwritten_by[i] != CBI_SB_NOWHERE;
    }
    if (!any)
        return;
    which->order = target.order;
    which->reordered = out;
}

/* The producers of instruction i, sources in front of results, with what is new of each. */
static void insert_at(cbi_sb_code *c, uint32_t i, const cbi_sb_code *before,
                      const cbi_sb_producer_list *added, size_t *next, uint32_t *ret_moved)
{
    for (unsigned write = 0; write < 2; write++) {
        for (uint32_t q = before->first[i]; q < before->first[i + 1]; q++) {
            if (before->producers.items[q].write != (bool)write)
                continue;
            if (q == before->stack_load)
                c->stack_load = (uint32_t)c->producers.len;
            ret_moved[q] = (uint32_t)c->producers.len;
            cbi_vec_push(c->ctx, &c->producers, before->producers.items[q]);
        }
        for (; *next < added->len && added->items[*next].at == i &&
               added->items[*next].write == (bool)write;
             ++*next)
            cbi_vec_push(c->ctx, &c->producers, added->items[*next]);
    }
}

void cbi_sb_insert(cbi_sb_code *c, const cbi_sb_producer_list *added, cbi_sb_guide *guide)
{
    const cbi_sb_code before = *c;
    uint32_t count = (uint32_t)before.producers.len;
    uint32_t *moved = CBI_NEW_ARRAY(c->ctx, count + 1, uint32_t);
    size_t next = 0;
    c->producers = (cbi_sb_producer_list){0};
    c->first = CBI_NEW_ARRAY(c->ctx, c->n + 1, uint32_t);
    for (uint32_t i = 0; i < c->n; i++) {
        c->first[i] = (uint32_t)c->producers.len;
        insert_at(c, i, &before, added, &next, moved);
    }
    c->first[c->n] = (uint32_t)c->producers.len;
    c->row = cbi_sb_words_of(c->producers.len);
    move_pending(c, moved);
    if (guide)
        move_guide(c, moved, count, guide);
}

/* What needs a scoreboard and has none, in order. */
static cbi_sb_producer_list find_lacking(cbi_sb_code *c, const cbi_sb_late *which)
{
    late **needs = find_needs(c, which);
    cbi_sb_producer_list lacking = {0};
    for (uint32_t i = 0; i < c->n; i++) {
        bool has[2] = {false, false};
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++)
            has[c->producers.items[q].write] = true;
        for (unsigned write = 0; write < 2; write++)
            if (needs[i] && !has[write] && lacks(which, needs[i], write))
                push_producer(c, &lacking, needs[i], write, comes_late(which, i));
    }
    return lacking;
}

/* What has a scoreboard is needed by others in the order of the target. */
static void reorder(cbi_sb_code *c, const cbi_sb_reordered *o)
{
    for (uint32_t q = 0; q < c->producers.len; q++) {
        cbi_sb_producer *p = &c->producers.items[q];
        uint32_t by = p->write ? o->used_by[p->at] : o->overwritten_by[p->at];
        if (p->is_late)
            continue;
        p->gone |= !p->write && o->covered[p->at];
        if (by == CBI_SB_NOWHERE || by >= p->local)
            continue;
        p->local = by;
        p->flush = false;
        cbi_vec_push(c->ctx, &p->consumers, by);
    }
}

void cbi_sb_add_late(cbi_sb_code *c, const cbi_sb_late *which, const uint32_t *cycles,
                     uint32_t target, cbi_sb_guide *guide)
{
    const times input = {.left = find_left(which->before ? which->before : c, true),
                         .chip = c->chip};
    c->cycles = cycles;
    cbi_sb_find_issue(c);
    cbi_sb_producer_list lacking = find_lacking(c, which);
    cbi_sb_insert(c, &lacking, guide);
    if (which->reordered)
        reorder(c, which->reordered);
    c->chip = target;
    cbi_sb_find_issue(c);
    if (!which->anew)
        meet_ends(c, which, &input, guide);
    if (!which->anew && !which->before)
        meet_sequences(c);
    cbi_sb_find_issue(c);
}
