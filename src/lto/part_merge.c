/* The words come from the kept text, what stands between them from a full one. */
#include "lto/part_merge.h"

#include "lto/ptx_items.h"

static size_t skip_digits(cbi_ptx_word w, size_t at)
{
    while (at < w.len && cbi_ptx_is_digit(w.at[at]))
        at++;
    return at;
}

static bool is_same(cbi_ptx_word a, cbi_ptx_word b)
{
    return a.len == b.len && (!a.len || memcmp(a.at, b.at, a.len) == 0);
}

static bool is_renamed(cbi_ptx_word a, cbi_ptx_word b)
{
    size_t stem = cbi_ptx_stem(a);
    return stem && stem == cbi_ptx_stem(b) && memcmp(a.at, b.at, stem) == 0;
}

static void append_gap(cbi_ctx *ctx, cbi_buf *out, cbi_span full, size_t from, cbi_ptx_word word)
{
    cbi_buf_append(ctx, out, full.data + from, (size_t)(word.at - full.data) - from);
}

/* The words from those places to the ends. */
static bool merge_words(cbi_ctx *ctx, cbi_buf *out, cbi_span full, size_t at, cbi_span kept,
                        size_t kept_at)
{
    size_t copied = at;
    for (;;) {
        cbi_ptx_word a = cbi_ptx_next(full, &at);
        cbi_ptx_word b = cbi_ptx_next(kept, &kept_at);
        bool same = is_same(a, b);
        if (!same && !is_renamed(a, b))
            return false;
        if (!a.len)
            break;
        if (same)
            continue;
        append_gap(ctx, out, full, copied, a);
        cbi_buf_append(ctx, out, b.at, b.len);
        copied = at;
    }
    cbi_buf_append(ctx, out, full.data + copied, full.size - copied);
    return true;
}

bool cbi_lto_merge(cbi_ctx *ctx, cbi_span full, cbi_span kept, cbi_span *ret_text)
{
    cbi_buf out = {0};
    if (!merge_words(ctx, &out, full, 0, kept, 0))
        return false;
    *ret_text = (cbi_span){out.items, out.len};
    return true;
}

/* ---- a function and its copy ---- */

/* Labels and frames have the number of their function in the module. */
static size_t skip_number(cbi_ptx_word w)
{
    static const char *const prefixes[] = {"$L__BB", "__local_depot", "$L__func_begin",
                                           "$L__func_end"};
    for (size_t i = 0; i < CBI_COUNT(prefixes); i++) {
        size_t len = strlen(prefixes[i]);
        if (w.len > len && memcmp(w.at, prefixes[i], len) == 0)
            return skip_digits(w, len);
    }
    return 0;
}

static size_t skip_copy(cbi_ptx_word w, size_t at)
{
    while (at + 1 < w.len && w.at[at] == '$' && cbi_ptx_is_digit(w.at[at + 1]))
        at = skip_digits(w, at + 1);
    return at;
}

/* The same word but for numbers of functions and of copies: also "f_param_0" and "f$10_param_0". */
static bool is_alike(cbi_ptx_word a, cbi_ptx_word b)
{
    if (is_same(a, b))
        return true;
    size_t i = skip_number(a), k = skip_number(b);
    if (!i != !k)
        return false;
    for (;;) {
        i = skip_copy(a, i);
        k = skip_copy(b, k);
        if (i == a.len || k == b.len)
            return i == a.len && k == b.len;
        if (a.at[i++] != b.at[k++])
            return false;
    }
}

/* Walks an item of the kept text and the one of a full text whose spaces it gets. */
typedef struct walk {
    cbi_span full, kept;
    size_t at, kept_at; /* behind the words that were read */
    size_t gap;         /* in the full text: where the space before the word begins */
    cbi_ptx_word word, kept_word;
    bool is_local; /* the linkage of the full text's item was passed over */
} walk;

static void step(walk *w)
{
    w->gap = w->at;
    w->word = cbi_ptx_next(w->full, &w->at);
    w->kept_word = cbi_ptx_next(w->kept, &w->kept_at);
}

static walk begin(const cbi_ptx_items *full, const cbi_ptx_item *f, const cbi_ptx_items *kept,
                  const cbi_ptx_item *k)
{
    walk w = {.full = full->text, .kept = kept->text, .at = f->start, .kept_at = k->start};
    step(&w);
    if (cbi_ptx_is_shown(w.word) && !cbi_ptx_is_shown(w.kept_word)) {
        w.is_local = true;
        w.gap = w.at;
        w.word = cbi_ptx_next(w.full, &w.at);
    }
    return w;
}

/* A declaration may be made from a definition: its semicolon stands where the body begins. */
static bool fits(const cbi_ptx_items *full, const cbi_ptx_item *f, const cbi_ptx_items *kept,
                 const cbi_ptx_item *k, bool as_local)
{
    bool declares = k->kind == CBI_PTX_DECLARATION && f->kind == CBI_PTX_DEFINITION;
    if (f->kind != k->kind && !declares)
        return false;
    walk w = begin(full, f, kept, k);
    if (w.is_local != as_local)
        return false;
    for (; w.kept_at < k->end && w.at < f->end; step(&w))
        if (!is_alike(w.word, w.kept_word))
            return false;
    if (w.kept_at != k->end)
        return false;
    return declares ? cbi_ptx_is(w.word, "{") : w.at == f->end && is_alike(w.word, w.kept_word);
}

/* ---- the whole ---- */

typedef struct merger {
    cbi_ctx *ctx;
    cbi_ptx_items functions, variables, copies, kept;
    size_t last;    /* of the functions' definitions that was used: its number + 1 */
    uint64_t calls; /* sequences of calls in `out` */
    cbi_buf out;
} merger;

/* The item of a text whose words k has, but for its linkage if that is asked for; one of the kind
 * of k if there is. */
static const cbi_ptx_item *find(const merger *m, const cbi_ptx_items *text, const cbi_ptx_item *k,
                                bool as_local)
{
    const cbi_ptx_item *definition = NULL;
    const cbi_ptx_item *f = cbi_ptx_first_of(m->ctx, text, k->name);
    for (; f; f = cbi_ptx_next_of(text, f)) {
        size_t number = (size_t)(f - text->list.items) + 1;
        bool is_used = text == &m->functions && f->kind == CBI_PTX_DEFINITION && number <= m->last;
        if ((is_used && f->kind == k->kind && !as_local) || !fits(text, f, &m->kept, k, as_local))
            continue;
        if (f->kind == k->kind)
            return f;
        definition = f;
    }
    return definition;
}

/* The space before an item.  That before the first definition stands behind the variables. */
static void append_first_gap(merger *m, const cbi_ptx_items *text, const cbi_ptx_item *f,
                             const cbi_ptx_item *k, const walk *w)
{
    const cbi_ptx_items *from = &m->functions;
    bool is_first = k == &m->kept.list.items[m->kept.definition];
    if (is_first && from->definition < from->list.len) {
        walk there = begin(from, &from->list.items[from->definition], &m->kept, k);
        append_gap(m->ctx, &m->out, from->text, from->variables_end, there.word);
    } else if (w->is_local || f == &text->list.items[text->definition]) {
        cbi_buf_printf(m->ctx, &m->out, "\n");
    } else {
        append_gap(m->ctx, &m->out, w->full, w->gap, w->word);
    }
}

/* The next number of a sequence of calls from *at on, which moves to it; `end` if there is none. */
static uint64_t next_call(const cbi_buf *text, size_t *at, size_t *ret_end)
{
    static const char mark[] = "// callseq ";
    uint64_t number = 0;
    const uint8_t *hit =
        *at < text->len ? memmem(text->items + *at, text->len - *at, mark, strlen(mark)) : NULL;
    *at = hit ? (size_t)(hit - text->items) + strlen(mark) : text->len;
    size_t end = *at;
    for (; end < text->len && cbi_ptx_is_digit(text->items[end]) && number < UINT32_MAX; end++)
        number = number * 10 + (uint64_t)(text->items[end] - '0');
    *ret_end = end;
    return number;
}

/* Sequences of calls are numbered through the module in comments, within a function in the order of
 * its translation. */
static void number_calls(merger *m, size_t start)
{
    cbi_buf item = {0};
    uint64_t least = UINT64_MAX, most = 0, number;
    cbi_buf_append(m->ctx, &item, m->out.items + start, m->out.len - start);
    for (size_t at = 0, end; number = next_call(&item, &at, &end), at < item.len; at = end) {
        least = number < least ? number : least;
        most = number > most ? number : most;
    }
    if (least > most)
        return;
    m->out.len = start;
    size_t copied = 0;
    for (size_t at = 0, end; number = next_call(&item, &at, &end), at < item.len;
         copied = at = end) {
        cbi_buf_append(m->ctx, &m->out, item.items + copied, at - copied);
        cbi_buf_printf(m->ctx, &m->out, "%llu", (unsigned long long)(number - least + m->calls));
    }
    cbi_buf_append(m->ctx, &m->out, item.items + copied, item.len - copied);
    m->calls += most - least + 1;
}

/* Of a definition that makes a declaration, the parameters and the semicolon come to lines of their
 * own. */
static void append_item(merger *m, const cbi_ptx_items *text, const cbi_ptx_item *f,
                        const cbi_ptx_item *k)
{
    walk w = begin(text, f, &m->kept, k);
    size_t start = m->out.len;
    append_first_gap(m, text, f, k, &w);
    for (;;) {
        bool is_named = w.kept_word.at == k->name.at;
        cbi_buf_append(m->ctx, &m->out, w.kept_word.at, w.kept_word.len);
        if (w.kept_at == k->end)
            break;
        step(&w);
        if (k->kind != f->kind &&
            (w.kept_at == k->end || (is_named && cbi_ptx_is(w.kept_word, "("))))
            cbi_buf_printf(m->ctx, &m->out, "\n");
        else
            append_gap(m->ctx, &m->out, w.full, w.gap, w.word);
    }
    number_calls(m, start);
}

/* A copy whose body is that of the function itself may be gone from the text of copies: there all
 * that its only caller hands over is known. */
static bool append_function(merger *m, const cbi_ptx_item *k)
{
    const cbi_ptx_items *text = &m->functions;
    const cbi_ptx_item *f = find(m, text, k, false);
    if (f && f->kind == CBI_PTX_DEFINITION && k->kind == CBI_PTX_DEFINITION)
        m->last = (size_t)(f - text->list.items) + 1;
    if (!f && m->copies.list.len) {
        text = &m->copies;
        f = find(m, text, k, false);
    }
    if (!f && m->copies.list.len) {
        text = &m->functions;
        f = find(m, text, k, true);
    }
    if (f)
        append_item(m, text, f, k);
    return f;
}

static bool append_variables(merger *m)
{
    const cbi_ptx_items *from = &m->variables, *kept = &m->kept;
    return merge_words(m->ctx, &m->out, (cbi_span){from->text.data, from->variables_end},
                       from->variables, (cbi_span){kept->text.data, kept->variables_end},
                       kept->variables);
}

static bool merge_all(merger *m)
{
    size_t count = m->kept.list.len;
    const cbi_ptx_item *k = m->kept.list.items;
    size_t end = m->functions.list.items[0].end;
    if (!merge_words(m->ctx, &m->out, (cbi_span){m->functions.text.data, end}, 0,
                     (cbi_span){m->kept.text.data, k[0].end}, 0))
        return false;
    size_t i = 1;
    for (; i < count && k[i].kind == CBI_PTX_DECLARATION; i++)
        if (!append_function(m, &k[i]))
            return false;
    if (!append_variables(m))
        return false;
    while (i < count && k[i].kind == CBI_PTX_VARIABLE)
        i++;
    for (; i < count; i++)
        if (k[i].kind != CBI_PTX_DEFINITION || !append_function(m, &k[i]))
            return false;
    return true;
}

bool cbi_lto_merge_items(cbi_ctx *ctx, const cbi_lto_sources *from, cbi_span kept,
                         cbi_span *ret_text)
{
    merger m = {.ctx = ctx};
    if (!cbi_ptx_read_items(ctx, from->functions, &m.functions) ||
        !cbi_ptx_read_items(ctx, from->variables, &m.variables) ||
        (from->copies.size && !cbi_ptx_read_items(ctx, from->copies, &m.copies)) ||
        !cbi_ptx_read_items(ctx, kept, &m.kept) || !merge_all(&m))
        return false;
    size_t rest = m.functions.list.items[m.functions.list.len - 1].end;
    cbi_buf_append(ctx, &m.out, from->functions.data + rest, from->functions.size - rest);
    *ret_text = (cbi_span){m.out.items, m.out.len};
    return true;
}
