/* diff: driver, header, sections, symbols. */
#include "inspect/diff.h"

void cbi_diff_add(cbi_differ *d, const char *part, const char *section, const char *name,
                  const char *field, const char *a, const char *b)
{
    cbi_vec_push(d->ctx, d->list, ((cb_difference){part, section, name, field, a, b}));
}

void cbi_diff_number(cbi_differ *d, const char *part, const char *section, const char *name,
                     const char *field, uint64_t a, uint64_t b)
{
    if (a != b)
        cbi_diff_add(d, part, section, name, field,
                     cbi_printf(d->ctx, "0x%llx", (unsigned long long)a),
                     cbi_printf(d->ctx, "0x%llx", (unsigned long long)b));
}

void cbi_diff_text(cbi_differ *d, const char *part, const char *section, const char *name,
                   const char *field, const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        cbi_diff_add(d, part, section, name, field, a, b);
}

/* ---- lines ---- */

static void order_differs(cbi_differ *d, const char *part, const char *section, const cbi_lines *a,
                          const cbi_lines *b)
{
    for (size_t i = 0; i < a->len && i < b->len; i++) {
        if (a->items[i] != b->items[i]) {
            cbi_diff_add(d, part, section, NULL, "order", a->items[i]->s, b->items[i]->s);
            return;
        }
    }
}

/* Removes from `lines` what `other` has too; reports the rest as being on one side only. */
static cbi_lines common_lines(cbi_differ *d, const char *part, const char *section,
                              const cbi_lines *lines, const cbi_lines *other, bool is_a)
{
    cbi_map counts = {0}; /* line -> number of times in other, plus 1 */
    cbi_lines common = {0};
    for (size_t i = 0; i < other->len; i++) {
        uint64_t key = CBI_KEY(other->items[i]);
        uintptr_t n = (uintptr_t)cbi_map_get(&counts, key);
        cbi_map_put(d->ctx, &counts, key, (void *)(n ? n + 1 : 2));
    }
    for (size_t i = 0; i < lines->len; i++) {
        uint64_t key = CBI_KEY(lines->items[i]);
        uintptr_t n = (uintptr_t)cbi_map_get(&counts, key);
        if (n > 1) {
            cbi_map_put(d->ctx, &counts, key, (void *)(n - 1));
            cbi_vec_push(d->ctx, &common, lines->items[i]);
        } else {
            const char *s = lines->items[i]->s;
            cbi_diff_add(d, part, section, NULL, NULL, is_a ? s : NULL, is_a ? NULL : s);
        }
    }
    return common;
}

void cbi_diff_lines(cbi_differ *d, const char *part, const char *section, const cbi_lines *a,
                    const cbi_lines *b)
{
    cbi_lines in_a = common_lines(d, part, section, a, b, true);
    cbi_lines in_b = common_lines(d, part, section, b, a, false);
    if (!d->options.semantic)
        order_differs(d, part, section, &in_a, &in_b);
}

/* ---- matching by name ---- */

/* Names with their repetitions told apart: "x", "x#2", ... */
static const cbi_name *unique_name(cbi_ctx *ctx, cbi_map *counts, const char *name)
{
    const cbi_name *plain = cbi_intern(ctx, name);
    uintptr_t n = (uintptr_t)cbi_map_get(counts, CBI_KEY(plain)) + 1;
    cbi_map_put(ctx, counts, CBI_KEY(plain), (void *)n);
    return n == 1 ? plain : cbi_intern_printf(ctx, "%s#%zu", name, (size_t)n);
}

static cbi_lines section_names(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_lines names = {0};
    cbi_map counts = {0};
    for (uint32_t i = 1; i < o->section_count; i++)
        cbi_vec_push(ctx, &names, unique_name(ctx, &counts, o->sections[i].name));
    return names;
}

static cbi_lines symbol_names(cbi_ctx *ctx, const cbi_object *o, bool mercury)
{
    cbi_lines names = {0};
    cbi_map counts = {0};
    uint32_t count = mercury ? o->merc_symbol_count : o->symbol_count;
    for (uint32_t i = 1; i < count; i++)
        cbi_vec_push(ctx, &names, unique_name(ctx, &counts, cbi_show_symbol(ctx, o, mercury, i)));
    return names;
}

/* Index + 1 of every name. */
static cbi_map positions(cbi_ctx *ctx, const cbi_lines *names)
{
    cbi_map map = {0};
    for (size_t i = 0; i < names->len; i++)
        cbi_map_put(ctx, &map, CBI_KEY(names->items[i]), (void *)(uintptr_t)(i + 1));
    return map;
}

/* What sh_info says, independent of numbering. */
static const char *show_info(cbi_ctx *ctx, const cbi_object *o, const cbi_section *s)
{
    if (s->flags & SHF_INFO_LINK || cbi_is_reloc_type(s->type))
        return cbi_show_section(ctx, o, s->info);
    if (s->flags & SHF_EXECINSTR)
        return cbi_printf(ctx, "%s, top byte 0x%x",
                          cbi_show_symbol(ctx, o, false, CUDA_TEXT_SYMBOL(s->info)),
                          CUDA_TEXT_REGISTERS(s->info));
    if (s->type == SHT_CUDA_CAPMERC)
        return cbi_show_symbol(ctx, o, true, s->info);
    return "";
}

static void diff_section(cbi_differ *d, const cbi_section *a, const cbi_section *b)
{
    const char *name = a->name;
    cbi_diff_number(d, "section", name, NULL, "type", a->type, b->type);
    cbi_diff_number(d, "section", name, NULL, "flags", a->flags, b->flags);
    cbi_diff_text(d, "section", name, NULL, "link", cbi_show_section(d->ctx, d->a, a->link),
                  cbi_show_section(d->ctx, d->b, b->link));
    cbi_diff_text(d, "section", name, NULL, "info", show_info(d->ctx, d->a, a),
                  show_info(d->ctx, d->b, b));
    cbi_diff_number(d, "section", name, NULL, "align", a->align, b->align);
    cbi_diff_number(d, "section", name, NULL, "entsize", a->entsize, b->entsize);
    if (!cbi_diff_records(d, a, b)) {
        cbi_diff_number(d, "section", name, NULL, "size", a->size, b->size);
        cbi_diff_bytes(d, a, b);
    }
}

static void diff_sections(cbi_differ *d)
{
    cbi_lines a = section_names(d->ctx, d->a), b = section_names(d->ctx, d->b);
    cbi_map in_b = positions(d->ctx, &b);
    cbi_diff_lines(d, "section", NULL, &a, &b);
    for (size_t i = 0; i < a.len; i++) {
        uintptr_t at = (uintptr_t)cbi_map_get(&in_b, CBI_KEY(a.items[i]));
        if (at)
            diff_section(d, &d->a->sections[i + 1], &d->b->sections[at]);
    }
}

static void diff_symbol(cbi_differ *d, const char *table, const char *name, const cbi_symbol *a,
                        const cbi_symbol *b)
{
    cbi_ctx *ctx = d->ctx;
    if (a->info != b->info)
        cbi_diff_add(d, "symbol", table, name, "type",
                     cbi_printf(ctx, "%s %s", cbi_show_bind(ctx, a->info),
                                cbi_show_symbol_type(ctx, a->info)),
                     cbi_printf(ctx, "%s %s", cbi_show_bind(ctx, b->info),
                                cbi_show_symbol_type(ctx, b->info)));
    if (a->other != b->other)
        cbi_diff_add(d, "symbol", table, name, "other",
                     cbi_printf(ctx, "0x%x %s", a->other, cbi_show_other(ctx, a)),
                     cbi_printf(ctx, "0x%x %s", b->other, cbi_show_other(ctx, b)));
    cbi_diff_text(d, "symbol", table, name, "section", cbi_show_section(ctx, d->a, a->shndx),
                  cbi_show_section(ctx, d->b, b->shndx));
    cbi_diff_number(d, "symbol", table, name, "value", a->value, b->value);
    cbi_diff_number(d, "symbol", table, name, "size", a->size, b->size);
}

static void diff_symbols(cbi_differ *d, bool mercury)
{
    const char *table = mercury ? ".nv.merc.symtab" : ".symtab";
    const cbi_symbol *sa = mercury ? d->a->merc_symbols : d->a->symbols;
    const cbi_symbol *sb = mercury ? d->b->merc_symbols : d->b->symbols;
    cbi_lines a = symbol_names(d->ctx, d->a, mercury), b = symbol_names(d->ctx, d->b, mercury);
    cbi_map in_b = positions(d->ctx, &b);
    cbi_diff_lines(d, "symbol", table, &a, &b);
    for (size_t i = 0; i < a.len; i++) {
        uintptr_t at = (uintptr_t)cbi_map_get(&in_b, CBI_KEY(a.items[i]));
        if (at)
            diff_symbol(d, table, a.items[i]->s, &sa[i + 1], &sb[at]);
    }
}

static void diff_header(cbi_differ *d)
{
    const cbi_object *a = d->a, *b = d->b;
    const struct {
        const char *name;
        uint64_t a, b;
    } fields[] = {
        {"type", a->type, b->type},
        {"osabi", a->ident[EI_OSABI], b->ident[EI_OSABI]},
        {"abi_version", a->ident[EI_ABIVERSION], b->ident[EI_ABIVERSION]},
        {"version", a->version, b->version},
        {"entry", a->entry, b->entry},
        /* the top byte is a section index */
        {"flags", a->flags & 0xffffff, b->flags & 0xffffff},
        {"program_count", a->phnum, b->phnum},
        {"program_entry_size", a->phentsize, b->phentsize},
    };
    for (size_t i = 0; i < CBI_COUNT(fields); i++)
        cbi_diff_number(d, "header", NULL, NULL, fields[i].name, fields[i].a, fields[i].b);
    if (!d->options.semantic)
        cbi_diff_number(d, "header", NULL, NULL, "cuinfo_section", EF_CUDA_CUINFO(a->flags),
                        EF_CUDA_CUINFO(b->flags));
}

/* Equal in every other respect: where the files start to differ. */
static void diff_layout(cbi_differ *d)
{
    const cbi_span *a = &d->a->bytes, *b = &d->b->bytes;
    size_t common = a->size < b->size ? a->size : b->size;
    size_t at = 0;
    while (at < common && a->data[at] == b->data[at])
        at++;
    if (at == a->size && at == b->size)
        return;
    const char *section = NULL;
    for (uint32_t i = 1; i < d->a->section_count && !section; i++) {
        const cbi_section *s = &d->a->sections[i];
        if (s->data.size && at >= s->offset && at - s->offset < s->size)
            section = s->name;
    }
    cbi_diff_add(d, "layout", section, NULL, "bytes",
                 cbi_printf(d->ctx, "0x%zx bytes, differing from 0x%zx on", a->size, at),
                 cbi_printf(d->ctx, "0x%zx bytes", b->size));
}

void cbi_diff(cbi_ctx *ctx, const cbi_object *a, const cbi_object *b,
              const cbi_diff_options *options, cbi_differences *list)
{
    cbi_differ d = {.ctx = ctx, .a = a, .b = b, .options = *options, .list = list};
    if (a->bytes.size == b->bytes.size && memcmp(a->bytes.data, b->bytes.data, a->bytes.size) == 0)
        return;
    size_t before = list->len;
    diff_header(&d);
    diff_sections(&d);
    diff_symbols(&d, false);
    if (a->merc_symtab || b->merc_symtab)
        diff_symbols(&d, true);
    if (list->len == before && !options->semantic)
        diff_layout(&d);
}
