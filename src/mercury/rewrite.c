/* Code that changes its length in a final link: dummy loads in front of a fence and fences that
 * another one follows go; a link with -g puts an error barrier in front of every exit.  Rules and
 * experiments: docs/code-rewriting.md. */
#include "mercury/rewrite.h"
#include "base/parallel.h"
#include "format/eiattr.h"
#include "format/reloc.h"
#include "mercury/entries.h"
#include "mercury/fences.h"
#include "mercury/labels.h"
#include "mercury/pace.h"
#include "mercury/rewrite_code.h"
#include "mercury/stubs.h"
#include "sass/opcodes.h"
#include "sass/operands.h"
#include "sass/pace_code.h"
#include "sass/scoreboard.h"

/* A call of a function that ptxas -ewp has put into the same code. */
static bool is_inner_call(const uint8_t *text, uint64_t size, uint64_t at)
{
    int64_t distance;
    if (cbi_sass_opcode(text + at) != CBI_OP_CALL_REL ||
        !cbi_rewrite_distance(text + at, &distance))
        return false;
    int64_t target = (int64_t)at + CBI_SASS_INSTRUCTION + distance;
    return distance && target >= 0 && target < (int64_t)size;
}

/* Is it an entry that calls nothing but what is in its own code? */
static bool is_alone(const cbi_linker *lk, const cbi_func *func)
{
    if (!cbi_is_kernel(func) || !func->text || !func->text->bytes)
        return false;
    const uint8_t *text = cbi_mercury_code(lk, func->text);
    for (uint64_t at = 0; at + CBI_SASS_INSTRUCTION <= func->text->size;
         at += CBI_SASS_INSTRUCTION) {
        uint16_t op = cbi_sass_opcode(text + at);
        if (cbi_op_has(op, CBI_OPF_CALL) && op != CBI_OP_RET &&
            !is_inner_call(text, func->text->size, at))
            return false;
    }
    return true;
}

bool cbi_mercury_may_rewrite(const cbi_linker *lk, const cbi_func *func)
{
    return lk->exec && !lk->shows_debug && is_alone(lk, func);
}

/* Code of ptxas -ewp comes as a final link without -g leaves it.  Is that taken back? */
static bool is_finished(const cbi_linker *lk, const cbi_func *func)
{
    return func->obj->ewp && func->obj->mercury && (!lk->exec || lk->shows_debug) &&
           is_alone(lk, func);
}

/* ---- its capsule ---- */

/* How the record of an exit with its barrier begins. */
static const uint8_t barrier_record[] = {0x01, 0x11, 0x00, 0x0a};

/* The record of an exit with its barrier: up to four instructions, the exit's predicate in byte 4.
 */
static void put_barrier_entry(cbi_entries *out, const uint8_t *exit_insn, uint32_t count)
{
    uint8_t bytes[18] = {0};
    uint8_t guard = exit_insn[1] >> 4;
    uint8_t predicate = (guard & 7) == CBI_SASS_PT ? CBI_CAPSULE_NO_PREDICATE : guard & 7;
    cbi_st16(bytes, cbi_capsule_run_mark(CBI_CAPSULE_RUN_LISTED, count));
    memcpy(bytes + 2, barrier_record, sizeof barrier_record);
    bytes[6] = (uint8_t)(predicate << 3 | guard >> 3);
    cbi_sass w = cbi_sass_load(exit_insn);
    unsigned second = cbi_sass_read_predicate(w);
    bytes[13] = (uint8_t)((second == CBI_SASS_PT ? CBI_CAPSULE_NO_PREDICATE : second) << 3 |
                          cbi_sass_bits(w, 90, 1));
    cbi_entries_put(out, false, (cbi_span){bytes, sizeof bytes});
}

/* May the function have one?  Spares -r the walk over code that it leaves as it is. */
static bool mentions_barrier(const cbi_func *func)
{
    const cbi_mercury_view *view = func->obj->mercury;
    cbi_span capsule = view->file.sections[view->capsule[func->in_sec]].data;
    return capsule.size &&
           memmem(capsule.data, capsule.size, barrier_record, sizeof barrier_record);
}

/* An exit with the barrier that a link with -g puts in front of it: its record, no other one's. */
static bool is_barrier_entry(const cbi_capsule_entry *e, const uint8_t *text)
{
    return e->kind == CBI_CAPSULE_RUN_RECORD && e->count > 1 &&
           e->count <= CBI_BARRIER_LENGTH + 1 && e->record.size >= sizeof barrier_record &&
           !memcmp(e->record.data, barrier_record, sizeof barrier_record) &&
           cbi_sass_opcode(text + (size_t)(e->first + e->count - 1) * CBI_SASS_INSTRUCTION) ==
               CBI_OP_EXIT;
}

/* The entry of what stays of `e`, or with more in front of it. */
static void put_changed_entry(cbi_entries *out, const cbi_capsule_entry *e, cbi_span bytes,
                              uint32_t gone, uint32_t more)
{
    cbi_buf own = {0};
    bool listed = e->kind == CBI_CAPSULE_RUN_RECORD,
         single = listed && gone && e->count - gone == 1;
    if (more && e->kind == CBI_CAPSULE_RECORD)
        cbi_buf_append(out->ctx, &own, (uint8_t[2]){0}, 2); /* a run now */
    if (single) /* the record of one instruction needs no run prefix */
        bytes = (cbi_span){bytes.data + 2, bytes.size - 2};
    cbi_buf_append(out->ctx, &own, bytes.data, bytes.size);
    if (more)
        cbi_st16(own.items, cbi_capsule_run_mark(CBI_CAPSULE_RUN_LISTED, e->count + more));
    else if (listed && gone && !single)
        cbi_st16(own.items, cbi_capsule_run_mark(CBI_CAPSULE_RUN_LISTED, e->count - gone));
    cbi_entries_put(out, false, (cbi_span){own.items, own.len});
}

static void rebuild_capsule(const cbi_linker *lk, cbi_rewrite *rw, cbi_buf old,
                            const cbi_changes *changes)
{
    const uint8_t *text = cbi_mercury_code(lk, rw->func->text);
    uint32_t total = (uint32_t)(rw->old_size / CBI_SASS_INSTRUCTION);
    cbi_entries out = {.ctx = lk->ctx};
    cbi_capsule walk;
    cbi_capsule_entry e;
    cbi_capsule_open((cbi_span){old.items, old.len}, &walk);
    for (size_t from = walk.pos; cbi_capsule_next(&walk, &e); from = walk.pos) {
        uint32_t gone = 0, more = 0, last = e.first + e.count - (e.count > 0);
        for (uint32_t i = 0; i < e.count; i++) {
            gone += changes->drop[e.first + i];
            more += changes->barrier[e.first + i];
        }
        if (e.count && changes->idle[e.first] && gone)
            continue;
        for (uint32_t k = 0; e.count && k < changes->more[last]; k++)
            cbi_entries_put_run(&out, 1);
        if (more && e.kind == CBI_CAPSULE_DERIVED)
            put_barrier_entry(&out, text + (size_t)e.first * CBI_SASS_INSTRUCTION, more + 1);
        else if (e.kind == CBI_CAPSULE_DERIVED || (e.count && changes->bare[last]))
            cbi_entries_put(&out, true, (cbi_span){NULL, 0});
        else if (e.kind == CBI_CAPSULE_RUN && e.first + e.count == total)
            cbi_entries_put_run(&out,
                                (uint32_t)((rw->size - rw->place[e.first]) / CBI_SASS_INSTRUCTION));
        else
            put_changed_entry(&out, &e, (cbi_span){old.items + from, walk.pos - from},
                              e.kind == CBI_CAPSULE_RUN ? 0 : gone, more);
    }
    rw->capsule = cbi_entries_capsule(&out, (cbi_span){old.items, old.len});
}

static cbi_needs find_needs(cbi_span capsule, const uint8_t *text)
{
    cbi_needs keep = {0};
    cbi_capsule walk;
    cbi_capsule_entry e;
    cbi_capsule_open(capsule, &walk);
    while (cbi_capsule_next(&walk, &e)) {
        keep.membar |= e.record.size && e.klass == CBI_CLASS_BARRIER_OBJECT;
        for (uint32_t i = 0; i < e.count; i++) {
            uint32_t op = cbi_sass_opcode(text + (size_t)(e.first + i) * CBI_SASS_INSTRUCTION);
            keep.loads |= op == CBI_OP_LDGSTS;
            keep.exit |= cbi_op_writes_surface(op);
        }
    }
    return keep;
}

/* NOPs between the barrier of an exit and the exit; in the capsule the barrier's first parts are
 * the runs of one that the NOPs were. */
static uint32_t pauses_in(const cbi_capsule_entry *e, const uint8_t *text)
{
    uint32_t count = 0;
    while (count + 1 < e->count &&
           cbi_sass_opcode(text + (size_t)(e->first + e->count - 2 - count) *
                                      CBI_SASS_INSTRUCTION) == CBI_OP_NOP)
        count++;
    return count;
}

/* The barrier of an exit goes. */
static void lose_barrier(const cbi_capsule_entry *e, const uint8_t *text, const bool *target,
                         cbi_changes *changes)
{
    uint32_t exit = e->first + e->count - 1, pauses = pauses_in(e, text);
    if (pauses > e->first)
        return;
    for (uint32_t i = e->first - pauses; i < exit; i++) {
        changes->drop[i] = i < exit - pauses;
        changes->idle[i] = i >= exit - pauses;
    }
    changes->bare[exit] = true;
    cbi_rewrite_plan_exit(text, target, exit, changes);
}

static void rewrite_function(const cbi_linker *lk, const cbi_func *func)
{
    bool restores = is_finished(lk, func);
    if (!lk->exec && !lk->merc->exit_barriers && !restores && !mentions_barrier(func))
        return;
    cbi_buf capsule = cbi_mercury_capsule(lk, func);
    cbi_capsule walk;
    cbi_capsule_entry e;
    const uint8_t *text = cbi_mercury_code(lk, func->text);
    uint32_t total = (uint32_t)(func->text->size / CBI_SASS_INSTRUCTION);
    cbi_changes changes = cbi_changes_none(lk->ctx, total);
    changes.chip = cbi_arch_renumbered(func->obj->object.sm);
    bool may_drop = cbi_mercury_may_rewrite(lk, func);
    bool barriers = lk->merc->exit_barriers;
    const bool *target = cbi_rewrite_targets(lk->ctx, text, total);
    bool any = false;
    cbi_needs keep = {0};
    if (may_drop || restores)
        keep = find_needs((cbi_span){capsule.items, capsule.len}, text);
    if (restores)
        any = cbi_fences_find((cbi_span){capsule.items, capsule.len}, text, total, target,
                              keep.loads, changes.barrier);
    cbi_capsule_open((cbi_span){capsule.items, capsule.len}, &walk);
    while (cbi_capsule_next(&walk, &e)) {
        uint16_t op = e.count ? cbi_sass_opcode(text + (size_t)e.first * CBI_SASS_INSTRUCTION) : 0;
        if (!barriers && is_barrier_entry(&e, text)) {
            lose_barrier(&e, text, target, &changes);
            any = true;
            continue;
        }
        if (e.kind == CBI_CAPSULE_RUN && e.count == 1 && op == CBI_OP_NOP && barriers)
            changes.idle[e.first] = true;
        if (e.kind == CBI_CAPSULE_RUN_RECORD && e.count > 1 && may_drop)
            any |= cbi_rewrite_mark_run(text, e.first, e.count, keep, changes.drop);
        if (barriers && e.kind == CBI_CAPSULE_DERIVED && op == CBI_OP_EXIT) {
            changes.barrier[e.first] =
                cbi_rewrite_barrier_length(text, target, e.first, may_drop && !keep.exit);
            cbi_rewrite_plan_exit(text, target, e.first, &changes);
            any = true;
        }
    }
    if (!any) {
        lk->merc->capsules[func->number] = capsule;
        cbi_changes_forget(lk->ctx, &changes, total);
        return;
    }
    cbi_rewrite *rw = CBI_NEW(lk->ctx, cbi_rewrite);
    rw->func = func;
    rw->old_size = func->text->size;
    rw->place = CBI_NEW_ARRAY(lk->ctx, total + 1, uint32_t);
    rw->self = CBI_NEW_ARRAY(lk->ctx, total + 1, uint32_t);
    rw->bare = changes.bare;
    cbi_rewrite_move(lk->ctx, rw, text, target, &changes);
    rebuild_capsule(lk, rw, capsule, &changes);
    lk->merc->rewrites[func->number] = rw;
}

/* The function's code as it is now. */
static cbi_scoreboard_text text_of(const cbi_linker *lk, const cbi_func *func)
{
    const cbi_mercury_view *view = func->obj->mercury;
    const cbi_rewrite *rw = cbi_rewrite_of(lk, func);
    cbi_scoreboard_text text;
    if (rw)
        text = (cbi_scoreboard_text){.bytes = rw->text,
                                     .size = rw->size,
                                     .place = rw->place,
                                     .self = rw->self,
                                     .places = rw->old_size / CBI_SASS_INSTRUCTION + 1};
    else
        text = (cbi_scoreboard_text){.bytes = cbi_mercury_code_in(lk, func->text),
                                     .size = func->text->size};
    text.chip = cbi_arch_renumbered(func->obj->object.sm);
    text.target = lk->opt->arch->sm;
    text.holds_loops = cbi_pace_holds_loops(func->sym->name->s);
    uint32_t section = view->info[func->in_sec];
    if (section)
        text.info = view->file.sections[section].data;
    section = view->own_info[func->in_sec];
    if (section)
        text.own_info = view->file.sections[section].data;
    return text;
}

static void restore_stack_load(const cbi_linker *lk, const cbi_func *func)
{
    if (!is_finished(lk, func))
        return;
    cbi_scoreboard_text text = text_of(lk, func);
    cbi_scoreboard_restore(lk->ctx, &text);
}

/* Scoreboards, in place: code whose stack pointer load is not needed, and exits with a barrier. */
static void assign_scoreboards(const cbi_linker *lk, const cbi_func *func, bool paced)
{
    bool may_drop = cbi_mercury_may_rewrite(lk, func);
    if (!func->obj->mercury || (!may_drop && !cbi_rewrite_of(lk, func)))
        return;
    cbi_scoreboard_text text = text_of(lk, func);
    if (may_drop && (paced || cbi_scoreboard_assign(lk->ctx, &text)))
        return; /* what is paced comes with the change of pace */
    if (text.places)
        cbi_scoreboard_meet_exits(lk->ctx, &text, cbi_chip_find(lk->opt->arch->sm)->fence_reads);
}

static bool has_other_pace(const cbi_linker *lk, const cbi_func *func)
{
    const cbi_section *in = &func->obj->object.sections[func->in_sec];
    return func->obj->mercury && cbi_pace_differs(cbi_arch_renumbered(func->obj->object.sm),
                                                  lk->opt->arch->sm, in->data.data, in->data.size);
}

static cbi_schedule schedule_of(const cbi_func *func)
{
    return func->obj->mercury ? (cbi_schedule)func->obj->mercury->schedule[func->in_sec]
                              : CBI_SCHEDULE_KEPT;
}

/* Code that cannot be followed stays as it is where it runs as it is. */
static void change_pace(const cbi_linker *lk, const cbi_func *func, const cbi_labels *labels,
                        bool must)
{
    cbi_scoreboard_text text = text_of(lk, func);
    cbi_schedule schedule = schedule_of(func);
    if (schedule == CBI_SCHEDULE_FOLLOWS && must)
        schedule = CBI_SCHEDULE_KEPT;
    else if (labels && (schedule == CBI_SCHEDULE_FOLLOWS || schedule == CBI_SCHEDULE_MADE)) {
        const cbi_labels *moved = cbi_labels_move(lk, func, labels);
        text.labels = moved->starts;
        text.leads = moved->leads;
    }
    if (!cbi_pace_rewrite(lk, func, &text, schedule, cbi_mercury_may_rewrite(lk, func)) && must)
        cbi_mercury_refuse(lk, func);
}

static bool is_rewritten(const cbi_linker *lk, const cbi_func *f)
{
    return f->obj && !f->alias_of && f->text && cbi_section_index(lk, f->text) &&
           cbi_is_text(f->text) && f->text->bytes;
}

/* Return addresses within the code of ptxas -ewp; on the Mercury side they are relocations. */
enum { MOVED_IMMEDIATE = 4 }; /* byte of a MOV where its immediate starts */

static void move_return_address(const cbi_rewrite *rw, const uint8_t *old, uint64_t at)
{
    uint32_t to = cbi_ld32(old + at + MOVED_IMMEDIATE);
    cbi_st32(rw->text + cbi_rewrite_self(rw, at) + MOVED_IMMEDIATE,
             (uint32_t)cbi_rewrite_map(rw, to));
}

/* Where the lengths of its instructions are not known: moves of the place behind a call. */
static void find_return_addresses(const cbi_rewrite *rw, const uint8_t *old)
{
    for (uint64_t at = 0; at + CBI_SASS_INSTRUCTION <= rw->old_size; at += CBI_SASS_INSTRUCTION) {
        uint64_t to = cbi_ld32(old + at + MOVED_IMMEDIATE);
        if (cbi_sass_opcode(old + at) == CBI_OP_MOV_I && to >= CBI_SASS_INSTRUCTION &&
            to <= rw->old_size && to % CBI_SASS_INSTRUCTION == 0 &&
            cbi_op_has(cbi_sass_opcode(old + to - CBI_SASS_INSTRUCTION), CBI_OPF_CALL))
            move_return_address(rw, old, at);
    }
}

static void move_return_addresses(const cbi_linker *lk, const cbi_rewrite *rw)
{
    const uint8_t *old = cbi_mercury_code(lk, rw->func->text);
    const cbi_osec *list = rw->func->text->rela;
    const cbi_mercury_places *places = list ? cbi_mercury_places_of(lk, rw->func) : NULL;
    bool unknown = false;
    for (size_t i = 0; list && i < list->relocs.len; i++) {
        const cbi_lrel *r = list->relocs.items[i];
        if (!cbi_is_prog_rel(r->type) || cbi_sass_of(r)->present)
            continue;
        unknown |= !places;
        const cbi_mercury_place *place = places ? cbi_mercury_place_of(places, r->offset) : NULL;
        if (place)
            move_return_address(rw, old, place->main);
    }
    if (unknown)
        find_return_addresses(rw, old);
}

/* A round of a loop: the link as it is, but for where its thread allocates and reports. */
static void rewrite_one(cbi_ctx *ctx, void *arg, size_t i)
{
    cbi_linker lk = **(const cbi_linker *const *)arg;
    const cbi_func *f = lk.symbols->funcs.items[i];
    if (!is_rewritten(&lk, f))
        return;
    lk.ctx = ctx;
    const bool paced = has_other_pace(&lk, f);
    const cbi_labels *labels = NULL;
    if (f->obj->mercury && f->obj->mercury->misplaced[f->in_sec])
        labels = cbi_labels_apply(&lk, f);
    restore_stack_load(&lk, f);
    rewrite_function(&lk, f);
    assign_scoreboards(&lk, f, paced);
    const cbi_rewrite *rw = cbi_rewrite_of(&lk, f);
    if (paced || schedule_of(f) != CBI_SCHEDULE_KEPT)
        change_pace(&lk, f, labels, paced);
    else if (rw)
        cbi_rewrite_settle_exits(rw);
    if (labels)
        cbi_labels_clear_branches(&lk, f, labels);
    if ((rw = cbi_rewrite_of(&lk, f)))
        move_return_addresses(&lk, rw);
    if (f->text->type == SHT_CUDA_UFT && f->obj->mercury)
        cbi_stub_schedule(cbi_mercury_code_in(&lk, f->text), f->text->size, !lk.shows_debug);
}

void cbi_mercury_rewrite(const cbi_linker *lk)
{
    enum { WORTH = 32 }; /* of work for a byte of a kernel, in bytes that are read */
    size_t errors = lk->ctx->error_count;
    lk->merc->exit_barriers = lk->shows_debug;
    for (size_t i = 0; i < lk->attributes->recs.len; i++)
        lk->merc->exit_barriers |= lk->attributes->recs.items[i].code == EIATTR_GEN_ERRBAR_AT_EXIT;
    uint64_t bytes = 0;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (is_rewritten(lk, f) && cbi_is_kernel(f))
            bytes += f->text->size;
    }
    cbi_parallel(lk->ctx, lk->symbols->funcs.len, bytes * WORTH, rewrite_one, &lk);
    if (lk->ctx->error_count > errors)
        cbi_fail(lk->ctx, CB_ERR_LINK);
}

const cbi_rewrite *cbi_rewrite_of(const cbi_linker *lk, const cbi_func *func)
{
    return lk->merc && func ? lk->merc->rewrites[func->number] : NULL;
}

cbi_buf cbi_rewrite_capsule(const cbi_linker *lk, const cbi_func *func)
{
    const cbi_rewrite *rw = cbi_rewrite_of(lk, func);
    const cbi_buf *read = &lk->merc->capsules[func->number];
    return rw ? rw->capsule : read->len ? *read : cbi_mercury_capsule(lk, func);
}
