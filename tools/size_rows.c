/* Tables of sizes: rows by name, which add up. */
#include "size.h"

#include <stdlib.h>
#include <string.h>

const char *const cbi_size_words[CBI_SIZE_TABLES] = {
    "target", "section", "function", "template", "file", "image", "identical",
};
const char *const cbi_size_titles[CBI_SIZE_TABLES] = {
    "targets", "kinds of sections", "kernels and functions", "templates", "source files",
    "images",  "identical code",
};

enum { NAMES_SHOWN = 4, FIRST_SLOTS = 64 };

void cbi_sizes_free(cbi_sizes *sizes)
{
    for (size_t i = 0; i < CBI_SIZE_TABLES; i++) {
        free(sizes->tables[i].rows);
        free(sizes->tables[i].slots);
    }
    cbi_store_free(&sizes->store);
    memset(sizes, 0, sizeof *sizes);
}

/* FNV-1a; names that collide are told apart by comparing them. */
static uint64_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

static void grow_slots(cbi_size_table *t)
{
    free(t->slots);
    t->slot_count = t->slot_count ? 4 * t->slot_count : FIRST_SLOTS;
    t->slots = cbi_grow(NULL, t->slot_count, sizeof *t->slots);
    memset(t->slots, 0, t->slot_count * sizeof *t->slots);
    for (size_t i = 0; i < t->len; i++) {
        cbi_size_row **slot = &t->slots[t->rows[i]->hash[0] % t->slot_count];
        t->rows[i]->next = *slot;
        *slot = t->rows[i];
    }
}

static cbi_size_row *find(const cbi_size_table *t, bool by_hash, const uint64_t hash[2],
                          const char *name)
{
    cbi_size_row *row = t->slot_count ? t->slots[hash[0] % t->slot_count] : NULL;
    while (row && (row->hash[0] != hash[0] || row->hash[1] != hash[1] ||
                   (!by_hash && strcmp(row->name, name) != 0)))
        row = row->next;
    return row;
}

static cbi_size_row *new_row(cbi_sizes *sizes, cbi_size_table *t, const cbi_size_row *like,
                             const uint64_t hash[2])
{
    if (t->len >= t->slot_count)
        grow_slots(t);
    if (t->len == t->cap) {
        t->cap = t->cap ? 2 * t->cap : FIRST_SLOTS;
        t->rows = cbi_grow(t->rows, t->cap, sizeof(cbi_size_row *));
    }
    cbi_size_row *row = cbi_store_new(&sizes->store, sizeof *row);
    cbi_size_row **slot = &t->slots[hash[0] % t->slot_count];
    row->name = cbi_store_copy(&sizes->store, like->name);
    row->hash[0] = hash[0];
    row->hash[1] = hash[1];
    row->next = *slot;
    *slot = row;
    t->rows[t->len++] = row;
    return row;
}

/* Is the name one of the list? */
static bool is_among(const char *names, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = names, *end; at; at = end ? end + 2 : NULL) {
        end = strstr(at, "; ");
        if (strncmp(at, name, len) == 0 && (!at[len] || memcmp(at + len, "; ", 2) == 0))
            return true;
    }
    return false;
}

/* The names of a row of identical code; beyond a few they are only counted. */
static void add_names(cbi_sizes *sizes, cbi_size_row *row, const cbi_size_row *from)
{
    const char *name = from->name;
    if (!row->names) {
        row->names = cbi_store_copy(&sizes->store, name);
        row->name_count = 1;
    } else if (!is_among(row->names, name)) {
        if (row->name_count++ < NAMES_SHOWN)
            row->names = cbi_store_printf(&sizes->store, "%s; %s", row->names, name);
    }
}

void cbi_sizes_add(cbi_sizes *sizes, cbi_size_by by, const cbi_size_row *from)
{
    cbi_size_table *t = &sizes->tables[by];
    bool by_hash = by == CBI_SIZE_IDENTICAL;
    const uint64_t hash[2] = {by_hash ? from->hash[0] : hash_name(from->name),
                              by_hash ? from->hash[1] : 0};
    cbi_size_row *row = find(t, by_hash, hash, from->name);
    if (!row)
        row = new_row(sizes, t, from, hash);
    row->count += from->count;
    row->code += from->code;
    row->other += from->other;
    row->stored += from->stored;
    if (by_hash)
        add_names(sizes, row, from);
}

void cbi_sizes_merge(cbi_sizes *sizes, const cbi_sizes *from)
{
    for (int by = 0; by < CBI_SIZE_TABLES; by++)
        for (size_t i = 0; i < from->tables[by].len; i++) {
            const cbi_size_row *row = from->tables[by].rows[i];
            cbi_sizes_add(sizes, (cbi_size_by)by, row);
            if (row->name_count < 2)
                continue;
            /* names of the same image */
            cbi_store store = {0};
            char *names = cbi_store_copy(&store, row->names);
            for (char *name = names, *end; name; name = end) {
                end = strstr(name, "; ");
                if (end) {
                    *end = 0;
                    end += 2;
                }
                cbi_sizes_add(sizes, (cbi_size_by)by,
                              &(cbi_size_row){.name = name, .hash = {row->hash[0], row->hash[1]}});
            }
            cbi_store_free(&store);
        }
    sizes->images += from->images;
    sizes->stored += from->stored;
    sizes->size += from->size;
    sizes->code += from->code;
}

static int by_size(const void *a, const void *b)
{
    const cbi_size_row *x = *(cbi_size_row *const *)a, *y = *(cbi_size_row *const *)b;
    uint64_t p = x->code + x->other, q = y->code + y->other;
    return p > q ? -1 : p < q ? 1 : strcmp(x->name, y->name);
}

/* What would be saved if there were one copy. */
static int by_waste(const void *a, const void *b)
{
    const cbi_size_row *x = *(cbi_size_row *const *)a, *y = *(cbi_size_row *const *)b;
    uint64_t p = x->code - x->code / x->count, q = y->code - y->code / y->count;
    return p > q ? -1 : p < q ? 1 : strcmp(x->name, y->name);
}

void cbi_sizes_sort(cbi_sizes *sizes, cbi_size_by by)
{
    cbi_size_table *t = &sizes->tables[by];
    bool identical = by == CBI_SIZE_IDENTICAL;
    size_t kept = 0;
    for (size_t i = 0; identical && i < t->len; i++)
        if (t->rows[i]->count > 1)
            t->rows[kept++] = t->rows[i];
    if (identical)
        t->len = kept;
    if (t->len)
        qsort(t->rows, t->len, sizeof(cbi_size_row *), identical ? by_waste : by_size);
}

const cbi_size_row *cbi_sizes_find(const cbi_sizes *sizes, cbi_size_by by, const char *name)
{
    const uint64_t hash[2] = {hash_name(name), 0};
    return find(&sizes->tables[by], false, hash, name);
}
