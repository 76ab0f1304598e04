/* What the scoreboard model reads from code, step by step, and when results are there. */
#include "format/arch.h"
#include "sass/pace_code.h"
#include "sass/scoreboard_read.h"

/* The model takes a step of 64 producers for each instruction, several times: with more than so
 * many instructions times producers it leaves the code. */
static const uint64_t LIMIT = UINT64_C(1) << 34;

/* Does the chip have a way of its own for the power of two? */
static bool is_quick_power(cbi_sass w, uint32_t chip)
{
    const cbi_chip *facts = cbi_pace_is_power(w) ? cbi_chip_find(chip) : NULL;
    return facts && facts->quick_power;
}

int64_t cbi_sb_reading_time(cbi_sass w, uint32_t chip, const cbi_operands *operands)
{
    enum { FIRST = 6, EACH_REGISTER = 2 };
    uint8_t known = is_quick_power(w, chip) ? 0 : cbi_instruction_of(cbi_sass_op(w))->sources;
    return (known ? known : FIRST) + EACH_REGISTER * (int64_t)cbi_regset_count(&operands->read);
}

int64_t cbi_sb_result_time(cbi_sass w, uint32_t chip)
{
    enum { RESULT = 15, LONG_RESULT = 300, QUICK_POWER = 14 };
    const cbi_instruction *row = cbi_instruction_of(cbi_sass_op(w));
    if (is_quick_power(w, chip))
        return QUICK_POWER;
    const cbi_chip *facts = row->flags & CBI_OPF_QUICK ? cbi_chip_find(chip) : NULL;
    if (row->result)
        return row->result - (facts && facts->quick);
    return row->flags & CBI_OPF_LONG ? LONG_RESULT : RESULT;
}

bool cbi_sb_has_slow_doubles(const cbi_sb_code *c)
{
    const cbi_chip *chip = cbi_chip_find(c->chip);
    return chip && chip->slow_doubles;
}

bool cbi_sb_has_slow_integers(const cbi_sb_code *c)
{
    const cbi_chip *chip = cbi_chip_find(c->chip);
    return chip && chip->slow_integers;
}

int64_t cbi_sb_product_reads(cbi_sass w)
{
    bool sparse = cbi_sass_is_sparse(w);
    return cbi_sass_is_deep(w) ? (sparse ? 30 : 26) : (sparse ? 25 : 20);
}

static void reach(int64_t *time, int64_t at_least)
{
    if (*time < at_least)
        *time = at_least;
}

bool cbi_sb_is_for_test(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    cbi_sass w = c->words[p->at];
    if (p->write || !cbi_op_tests_with_sources(cbi_sass_op(w)))
        return false;
    cbi_predicates used = cbi_sass_predicates(c->words[i]);
    uint32_t result = cbi_sass_first_result(w);
    return result != CBI_SASS_PT && ((used.guard | used.read) >> result & 1);
}

static int64_t latency_for_user(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    return p->local != CBI_SB_NOWHERE && cbi_sb_is_for_test(c, p, p->local)
               ? cbi_sb_result_time(c->words[p->at], c->chip)
               : cbi_sb_latency_of(c, p);
}

bool cbi_sb_is_unwanted(const cbi_sb_code *c, uint32_t q)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    return q == c->stack_load && (p->local == CBI_SB_NOWHERE || !cbi_sb_needs(c, p, p->local));
}

/* A block that ends with NOPs that take no time of their own ends where the last instruction in
 * front of them is issued. */
static void end_ahead_of_idle(cbi_sb_code *c)
{
    for (uint32_t b = 0; b < c->blocks.len; b++) {
        uint32_t last = cbi_sb_last_of(c, b), end = last;
        while (end > c->blocks.items[b].start && cbi_sb_op(c, end) == CBI_OP_NOP && !c->cycles[end])
            end--;
        for (uint32_t i = end + 1; i <= last; i++)
            c->issue[i] = c->issue[end];
    }
}

/* Waits for results of the block itself count; those of others have long been there. */
void cbi_sb_find_issue(cbi_sb_code *c)
{
    c->issue = CBI_NEW_ARRAY(c->ctx, c->n + 1, int64_t);
    int64_t *after = CBI_NEW_ARRAY(c->ctx, c->n + 1, int64_t);
    int64_t *slot = CBI_NEW_ARRAY(c->ctx, c->n + 1, int64_t);
    int64_t *stalls = CBI_NEW_ARRAY(c->ctx, c->n + 1, int64_t);
    cbi_pace_clock clock = {0};
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->blocks.items[c->block_of[i]].start == i) {
            slot[i] = stalls[i] = 0;
            clock = (cbi_pace_clock){
                .c = c, .start = i, .slot = slot + i, .stalls = stalls + i, .issue = c->issue + i};
        }
        cbi_pace_advance(&clock, i, c->n, after[i]);
        for (uint32_t q = c->first[i]; q < c->first[i + 1]; q++) {
            const cbi_sb_producer *p = &c->producers.items[q];
            int64_t ready = c->issue[i] + latency_for_user(c, p);
            if (cbi_sb_is_unwanted(c, q) || cbi_sb_is_acquired(c, p, i + 1))
                continue;
            if (p->local != CBI_SB_NOWHERE)
                reach(&after[p->local], ready);
            for (size_t k = 0; k < p->starts.len && p->local != CBI_SB_NOWHERE; k++)
                reach(&after[p->starts.items[k]], ready);
        }
    }
    if (c->cycles)
        end_ahead_of_idle(c);
}

bool cbi_sb_has_long_result(const cbi_sb_code *c)
{
    for (uint32_t q = 0; q < c->producers.len; q++)
        if (c->producers.items[q].is_long &&
            cbi_sass_bits(c->words[c->producers.items[q].at], 16, 8) != 255)
            return true;
    return false;
}

bool cbi_sb_is_used_inside(const cbi_sb_code *c, const cbi_sb_producer *p, uint32_t i)
{
    for (size_t k = 0; c->group[i] && k < p->consumers.len; k++)
        if (p->consumers.items[k] > i && p->consumers.items[k] < c->group[i])
            return true;
    return false;
}

bool cbi_sb_is_there(const cbi_sb_code *c, const cbi_sb_producer *p)
{
    uint32_t last = cbi_sb_last_of(c, p->block), op = cbi_sb_op(c, p->at);
    bool never = cbi_op_has(op, CBI_OPF_COPY_END) || (p->write && cbi_op_has(op, CBI_OPF_TEXTURE));
    /* A constant that comes just with the branch is not there. */
    bool late = op == CBI_OP_LDC && cbi_op_has(cbi_sb_op(c, last), CBI_OPF_BRANCH);
    return !p->is_long && !never && last != p->at &&
           c->issue[last] >= c->issue[p->at] + cbi_sb_latency_at_end(c, p) + late;
}

/* Does a wait for all six numbers name nothing? */
static bool names_nothing(uint32_t op)
{
    return op == CBI_OP_NOP || cbi_op_has(op, CBI_OPF_CALL | CBI_OPF_COMPANION);
}

/* What the words say of each instruction by itself. */
static void read_instructions(cbi_sb_code *c)
{
    c->operands = CBI_NEW_ARRAY(c->ctx, c->n, cbi_operands);
    c->visited = CBI_NEW_ARRAY(c->ctx, c->n, uint32_t);
    c->wait = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    c->all = CBI_NEW_ARRAY(c->ctx, c->n, bool);
    c->later = CBI_NEW_ARRAY(c->ctx, c->n, uint8_t);
    for (uint32_t i = 0; i < c->n; i++) {
        cbi_sass_operands(c->words[i], &c->operands[i]);
        c->wait[i] = (uint8_t)cbi_sass_wait(c->words[i]);
        c->all[i] = c->wait[i] == CBI_SB_EVERYTHING && names_nothing(cbi_sb_op(c, i));
        if (c->all[i])
            c->wait[i] = 0;
    }
}

/* Ends of collective sequences that wait for all six numbers do so for those that the start waits
 * for and those that are taken inside, if these are six. */
static void name_ends(cbi_sb_code *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t seen = c->wait[i], end = c->group[i];
        if (!end || c->all[i] || !c->all[end])
            continue;
        for (uint32_t k = i + 1; k < end; k++)
            seen |= cbi_sass_holds(c->words[k]);
        if (seen != CBI_SB_EVERYTHING)
            continue;
        c->all[end] = false;
        c->wait[end] = CBI_SB_EVERYTHING;
    }
}

/* Starts of collective sequences that wait for all six numbers do so for what holds them, if all
 * are held.  Returns whether there are some. */
static bool name_six(cbi_sb_code *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t held = 0, end = c->group[i];
        if (!end || !c->all[i])
            continue;
        CBI_SB_EACH_OF(q, c->pending[i], true)
        held |= 1u << c->producers.items[q].old;
        if ((held & CBI_SB_EVERYTHING) != CBI_SB_EVERYTHING)
            continue;
        c->wait[i] = CBI_SB_EVERYTHING;
        c->wait[end] |= c->all[end] ? CBI_SB_EVERYTHING : 0;
        c->all[i] = c->all[end] = false;
        any = true;
    }
    return any;
}

bool cbi_sb_read(cbi_sb_code *c, cbi_span info, const uint32_t *place, size_t place_count)
{
    read_instructions(c);
    if (!cbi_sb_find_blocks(c, info, place, place_count))
        return false;
    name_ends(c);
    cbi_sb_find_producers(c);
    if ((uint64_t)c->n * c->producers.len > LIMIT)
        return false;
    cbi_sb_find_pending(c);
    if (name_six(c)) {
        c->pending = NULL;
        cbi_sb_find_pending(c);
    }
    cbi_sb_find_consumers(c);
    cbi_sb_find_issue(c);
    cbi_sb_find_flushed(c);
    if (c->holds_loops)
        cbi_sb_find_held(c);
    return true;
}

/* A block on ways that lead to another one, and the fewest cycles from its start to that. */
typedef struct way_to {
    uint32_t block;
    int64_t cycles;
} way_to;

/* Fewest cycles from the end of block `home` to the start of another one, if they are fewer than
 * `most`; -1 if not, or if that is behind more ways than are followed. */
static int64_t way_from(const cbi_sb_code *c, uint32_t home, uint32_t block, int64_t most)
{
    enum { MOST_WAYS = 32 };
    way_to ways[MOST_WAYS] = {{block, 0}};
    int64_t least = -1;
    for (size_t k = 0, count = 1; k < count; k++) {
        const cbi_u32_list *pred = &c->blocks.items[ways[k].block].pred;
        for (size_t p = 0; p < pred->len; p++) {
            uint32_t b = pred->items[p], last = cbi_sb_last_of(c, b);
            int64_t cycles = ways[k].cycles + c->issue[last] + cbi_sb_cycles(c, last);
            if (b == home)
                least = least < 0 || ways[k].cycles < least ? ways[k].cycles : least;
            else if (count < MOST_WAYS && cycles < most)
                ways[count++] = (way_to){b, cycles};
        }
    }
    return least;
}

int64_t cbi_sb_left_over(const cbi_sb_code *c, uint32_t q, uint32_t block)
{
    const cbi_sb_producer *p = &c->producers.items[q];
    uint32_t last = cbi_sb_last_of(c, p->block);
    int64_t left =
        c->issue[p->at] + cbi_sb_latency_at_end(c, p) - c->issue[last] - cbi_sb_cycles(c, last) + 1;
    int64_t way = way_from(c, p->block, block, left);
    return way < 0 ? -1 : left - way;
}

bool cbi_sb_is_left_at_end(const cbi_sb_code *c, uint32_t q, uint32_t block)
{
    return c->issue[cbi_sb_last_of(c, block)] + 1 < cbi_sb_left_over(c, q, block);
}
