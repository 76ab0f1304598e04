/* Interned names and the pointer map. */
#include "base/base.h"

#include <stdio.h>
#define XXH_INLINE_ALL /* most names are short */
#include <xxhash.h>

enum { NAMES_LEAST = 1024 };

/* The slots hold a part of the hash, so that a search reads no name but the right one: in a big
 * link each read is a cache miss. */
static void grow_names(cbi_ctx *ctx, size_t cap)
{
    size_t names = cap / 2 * sizeof *ctx->names;
    ctx->names = ctx->names ? cbi_large_grow(ctx, ctx->names, names) : cbi_large_alloc(ctx, names);
    struct cbi_name_slot *slots = cbi_large_alloc(ctx, cap * sizeof *slots);
    for (size_t i = 0; i < ctx->name_cap; i++) {
        struct cbi_name_slot slot = ctx->name_slots[i];
        if (!slot.number)
            continue;
        size_t at = slot.hash & (cap - 1);
        while (slots[at].number)
            at = (at + 1) & (cap - 1);
        slots[at] = slot;
    }
    if (ctx->name_slots)
        cbi_large_free(ctx, ctx->name_slots);
    ctx->name_slots = slots;
    ctx->name_cap = cap;
}

void cbi_names_reserve(cbi_ctx *ctx, size_t count)
{
    size_t cap = NAMES_LEAST;
    while (cap / 2 < count && cap < SIZE_MAX / 4)
        cap *= 2;
    if (cap > ctx->name_cap && count > NAMES_LEAST)
        grow_names(ctx, cap);
}

static uint32_t hash_of(const char *s, size_t len)
{
    return (uint32_t)XXH3_64bits(s, len);
}

uint32_t cbi_name_hash(const char *s, uint16_t *ret_len)
{
    const size_t len = strlen(s);
    *ret_len = len < UINT16_MAX ? (uint16_t)len : UINT16_MAX;
    return hash_of(s, len);
}

static inline const cbi_name *intern(cbi_ctx *ctx, const char *s, size_t len, uint32_t hash)
{
    if (ctx->name_count * 2 >= ctx->name_cap)
        grow_names(ctx, ctx->name_cap ? ctx->name_cap * 2 : NAMES_LEAST);
    size_t mask = ctx->name_cap - 1;
    size_t at = hash & mask;
    for (; ctx->name_slots[at].number; at = (at + 1) & mask) {
        if (ctx->name_slots[at].hash != hash)
            continue;
        const cbi_name *name = ctx->names[ctx->name_slots[at].number - 1];
        if (name->len == len && memcmp(name->s, s, len) == 0)
            return name;
    }
    cbi_name *name = cbi_pool_alloc(ctx, &ctx->name_pool, sizeof *name + len + 1);
    char *text = memcpy(name + 1, s, len);
    text[len] = 0;
    name->s = text;
    name->len = len;
    name->id = (uint32_t)ctx->name_count;
    ctx->name_bytes += len + 1;
    ctx->names[ctx->name_count++] = name;
    ctx->name_slots[at] = (struct cbi_name_slot){hash, (uint32_t)ctx->name_count};
    return name;
}

const cbi_name *cbi_intern_len(cbi_ctx *ctx, const char *s, size_t len)
{
    return intern(ctx, s, len, hash_of(s, len));
}

const cbi_name *cbi_intern_hashed(cbi_ctx *ctx, const char *s, uint16_t len, uint32_t hash)
{
    return intern(ctx, s, len < UINT16_MAX ? len : strlen(s), hash);
}

const cbi_name *cbi_intern(cbi_ctx *ctx, const char *s)
{
    return cbi_intern_len(ctx, s, strlen(s));
}

const cbi_name *cbi_intern_join(cbi_ctx *ctx, const char *prefix, const char *text)
{
    char small[512];
    size_t first = strlen(prefix), second = strlen(text);
    char *s = first + second <= sizeof small ? small : cbi_alloc(ctx, first + second);
    memcpy(s, prefix, first);
    memcpy(s + first, text, second);
    return cbi_intern_len(ctx, s, first + second);
}

const cbi_name *cbi_intern_printf(cbi_ctx *ctx, const char *format, ...)
{
    char small[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < sizeof small)
        return cbi_intern_len(ctx, small, (size_t)len);
    va_start(args, format);
    char *s = cbi_vprintf(ctx, format, args);
    va_end(args);
    return cbi_intern(ctx, s);
}

static void resize_table(cbi_ctx *ctx, cbi_name_table *table, size_t cap)
{
    size_t size = cap * sizeof *table->items;
    table->items =
        table->cap ? cbi_large_grow(ctx, table->items, size) : cbi_large_alloc(ctx, size);
    table->cap = cap;
}

void cbi_name_table_grow(cbi_ctx *ctx, cbi_name_table *table, uint32_t id)
{
    size_t cap = table->cap ? table->cap : NAMES_LEAST;
    while (cap <= id)
        cap *= 2;
    resize_table(ctx, table, cap);
}

void cbi_name_table_reserve(cbi_ctx *ctx, cbi_name_table *table, size_t count)
{
    if (count > table->cap && count > NAMES_LEAST)
        resize_table(ctx, table, count);
}

static size_t map_slot(const cbi_map *map, uint64_t key)
{
    size_t mask = map->cap - 1;
    size_t at = (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & mask;
    while (map->slots[at].value && map->slots[at].key != key)
        at = (at + 1) & mask;
    return at;
}

void *cbi_map_get(const cbi_map *map, uint64_t key)
{
    return map->cap ? map->slots[map_slot(map, key)].value : NULL;
}

void cbi_map_free(cbi_ctx *ctx, cbi_map *map)
{
    if (map->slots)
        cbi_take_back(ctx, map->slots, map->cap * sizeof *map->slots);
    *map = (cbi_map){0};
}

void cbi_map_put(cbi_ctx *ctx, cbi_map *map, uint64_t key, void *value)
{
    if (map->len * 2 >= map->cap) {
        cbi_map grown = {.cap = map->cap ? map->cap * 2 : 16, .len = map->len};
        grown.slots = CBI_NEW_ARRAY(ctx, grown.cap, struct cbi_map_slot);
        for (size_t i = 0; i < map->cap; i++)
            if (map->slots[i].value)
                grown.slots[map_slot(&grown, map->slots[i].key)] = map->slots[i];
        cbi_map_free(ctx, map);
        *map = grown;
    }
    size_t at = map_slot(map, key);
    if (!map->slots[at].value)
        map->len++;
    map->slots[at].key = key;
    map->slots[at].value = value;
}
