#include "lto/ptx_items.h"

/* Behind version, target and size of addresses; the last is a number.  0 if they are missing. */
static size_t head_end(cbi_span text)
{
    size_t at = 0;
    cbi_ptx_word w;
    while ((w = cbi_ptx_next(text, &at)).len)
        if (cbi_ptx_is(w, ".address_size")) {
            cbi_ptx_next(text, &at);
            return at;
        }
    return 0;
}

/* Behind the item: a semicolon or the body of a function ends it.  0 if there is none. */
static size_t item_end(cbi_span text, size_t at, cbi_ptx_kind *ret_kind)
{
    uint32_t depth = 0;
    cbi_ptx_word w = cbi_ptx_next(text, &at);
    if (cbi_ptx_is_shown(w) || cbi_ptx_is(w, ".extern"))
        w = cbi_ptx_next(text, &at);
    bool is_function = cbi_ptx_is(w, ".func") || cbi_ptx_is(w, ".entry");
    *ret_kind = is_function ? CBI_PTX_DECLARATION : CBI_PTX_VARIABLE;
    for (; w.len; w = cbi_ptx_next(text, &at)) {
        bool closes = cbi_ptx_is(w, "}") || cbi_ptx_is(w, ")") || cbi_ptx_is(w, "]");
        if (closes && !depth)
            return 0;
        if (closes)
            depth--;
        else if (cbi_ptx_is(w, "{") || cbi_ptx_is(w, "(") || cbi_ptx_is(w, "["))
            depth++;
        if (!depth && cbi_ptx_is(w, ";"))
            return at;
        if (!depth && is_function && cbi_ptx_is(w, "}")) {
            *ret_kind = CBI_PTX_DEFINITION;
            return at;
        }
    }
    return 0;
}

size_t cbi_ptx_find_demoted(cbi_span text, size_t start, size_t end)
{
    static const char demoted[] = " has been demoted\n";
    const uint8_t *hit = memmem(text.data + start, end - start, demoted, strlen(demoted));
    size_t at = hit ? (size_t)(hit - text.data) : end;
    while (hit && at > start && text.data[at - 1] != '\n')
        at--;
    return at;
}

/* The first function is named between the head and what follows, whatever that is.  An empty line
 * behind that belongs to what follows. */
static size_t widen_head(cbi_span text, size_t end)
{
    size_t at = end;
    cbi_ptx_word first = cbi_ptx_next(text, &at);
    size_t limit = cbi_ptx_find_demoted(text, end, (size_t)(first.at - text.data));
    while (limit > end + 2 && text.data[limit - 1] == '\n' && text.data[limit - 2] == '\n')
        limit--;
    return limit > end ? limit - 1 : end;
}

static bool split(cbi_ctx *ctx, cbi_ptx_items *items)
{
    cbi_ptx_item it = {.kind = CBI_PTX_HEAD, .end = head_end(items->text)};
    if (it.end)
        it.end = widen_head(items->text, it.end);
    while (it.end) {
        cbi_vec_push(ctx, &items->list, it);
        size_t at = it.end;
        if (!cbi_ptx_next(items->text, &at).len)
            return true;
        it.start = at = it.end;
        it.end = item_end(items->text, it.start, &it.kind);
        it.name = cbi_ptx_name(items->text, &at, &(cbi_ptx_word){0});
    }
    return false;
}

static uint64_t stem_key(cbi_ctx *ctx, cbi_ptx_word name)
{
    size_t stem = cbi_ptx_stem(name);
    return CBI_KEY(cbi_intern_len(ctx, (const char *)name.at, stem ? stem - 1 : name.len));
}

static void find_variables(cbi_ptx_items *items)
{
    const cbi_ptx_item *list = items->list.items;
    size_t i = 0, count = items->list.len;
    while (i < count && list[i].kind <= CBI_PTX_DECLARATION)
        i++;
    items->variables = items->variables_end = list[i - 1].end;
    for (; i < count && list[i].kind == CBI_PTX_VARIABLE; i++)
        items->variables_end = list[i].end;
    items->definition = i;
    if (i == count)
        return;
    size_t at = list[i].start;
    size_t limit = (size_t)(cbi_ptx_next(items->text, &at).at - items->text.data);
    while ((at = cbi_ptx_find_demoted(items->text, items->variables_end, limit)) < limit)
        while (items->text.data[at] != '\n')
            items->variables_end = ++at;
}

bool cbi_ptx_read_items(cbi_ctx *ctx, cbi_span text, cbi_ptx_items *ret_items)
{
    *ret_items = (cbi_ptx_items){.text = text};
    if (!split(ctx, ret_items))
        return false;
    find_variables(ret_items);
    for (size_t i = ret_items->list.len; i-- > 1;) {
        cbi_ptx_item *it = &ret_items->list.items[i];
        uint64_t key = stem_key(ctx, it->name);
        it->next = (uint32_t)(uintptr_t)cbi_map_get(&ret_items->heads, key);
        cbi_map_put(ctx, &ret_items->heads, key, (void *)(uintptr_t)(i + 1));
    }
    return true;
}

static cbi_ptx_item *numbered(const cbi_ptx_items *items, size_t number)
{
    return number ? &items->list.items[number - 1] : NULL;
}

cbi_ptx_item *cbi_ptx_first_of(cbi_ctx *ctx, const cbi_ptx_items *items, cbi_ptx_word name)
{
    return numbered(items, (uintptr_t)cbi_map_get(&items->heads, stem_key(ctx, name)));
}

cbi_ptx_item *cbi_ptx_next_of(const cbi_ptx_items *items, const cbi_ptx_item *item)
{
    return numbered(items, item->next);
}
