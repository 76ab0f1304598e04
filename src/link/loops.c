/* Loops over what a link has many of, in threads. */
#include "link/loops.h"

#include "base/parallel.h"

enum {
    SHARES = 64,       /* so many that threads end at about the same time */
    SHARE_LEAST = 256, /* items that are worth a round */
};

/* What the inputs have says for all loops of the link whether threads pay. */
static bool is_cut(const cbi_linker *lk, size_t count)
{
    return count > SHARE_LEAST && cbi_parallel_pays(lk->ctx, count, lk->inputs->bytes);
}

bool cbi_link_joins_records(const cbi_linker *lk, size_t i)
{
    const cbi_rec *recs = lk->attributes->recs.items;
    return recs[i].obj == recs[i - 1].obj;
}

cbi_shares cbi_link_cut(const cbi_linker *lk, size_t count, cbi_joined_fn joined)
{
    const bool cut = is_cut(lk, count);
    size_t length = cut ? count / SHARES + 1 : count;
    if (cut && length < SHARE_LEAST)
        length = SHARE_LEAST;
    cbi_shares shares = {.items = CBI_NEW_ARRAY(lk->ctx, cut ? SHARES : 1, cbi_share)};
    for (size_t first = 0; first < count;) {
        size_t end = count - first > length ? first + length : count;
        while (joined && end < count && joined(lk, end))
            end++;
        shares.items[shares.count] = (cbi_share){shares.count, first, end};
        shares.count++;
        first = end;
    }
    return shares;
}

/* What the rounds of a loop have. */
typedef struct loop {
    const cbi_linker *lk;
    const cbi_shares *shares;
    cbi_share_fn fn;
    void *arg;
} loop;

static void take_share(cbi_ctx *ctx, void *arg, size_t i)
{
    const loop *l = arg;
    cbi_linker lk = *l->lk;
    cbi_pool lists = {0};
    lk.ctx = ctx;
    lk.lists = &lists;
    l->fn(&lk, l->arg, &l->shares->items[i]);
}

void cbi_link_each_share(const cbi_linker *lk, const cbi_shares *shares, cbi_share_fn fn, void *arg)
{
    if (shares->count == 1) {
        fn(lk, arg, &shares->items[0]);
        return;
    }
    loop l = {lk, shares, fn, arg};
    cbi_parallel(lk->ctx, shares->count, lk->inputs->bytes, take_share, &l);
}

void cbi_link_in_shares(const cbi_linker *lk, size_t count, cbi_share_fn fn, void *arg)
{
    const cbi_shares shares = cbi_link_cut(lk, count, NULL);
    cbi_link_each_share(lk, &shares, fn, arg);
}

typedef struct both {
    cbi_part_fn parts[2];
    void *arg;
} both;

static void do_part(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    const both *b = arg;
    b->parts[share->number](lk, b->arg);
}

void cbi_link_both(const cbi_linker *lk, size_t count, cbi_part_fn first, cbi_part_fn second,
                   void *arg)
{
    cbi_share items[] = {{.number = 0}, {.number = 1}};
    const cbi_shares shares = {items, CBI_COUNT(items)};
    both b = {{first, second}, arg};
    if (is_cut(lk, count)) {
        cbi_link_each_share(lk, &shares, do_part, &b);
        return;
    }
    first(lk, arg);
    second(lk, arg);
}
