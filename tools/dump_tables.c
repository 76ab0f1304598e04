/* Parts of a dump: header, segments, sections, symbols, relocations, call graph. */
#include "dump.h"

#include <string.h>

enum { PT_LOAD_TYPE = 1, PT_PHDR_TYPE = 6, LEGACY_OSABI = 0x33 };

const char *cbi_hex(cbi_store *store, const void *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = data;
    char *text = cbi_store_new(store, 2 * size + 1);
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return text;
}

const char *cbi_section_name(cbi_store *store, cb_image *image, uint32_t index)
{
    const cb_section *s = cb_image_section(image, index);
    if (s && *s->name)
        return s->name;
    return cbi_store_printf(store, "section %u", index);
}

static cbi_node *dump_header(cbi_store *t, cb_image *image)
{
    cbi_node *n = cbi_node_object(t);
    const cb_header *h = cb_image_header(image);
    if (!h)
        return n;
    cbi_node_string(t, n, "type", h->type_name ? h->type_name : cbi_store_printf(t, "%u", h->type));
    cbi_node_printf(t, n, "target", "sm_%u", h->sm);
    cbi_node_uint(t, n, "osabi", h->osabi);
    cbi_node_uint(t, n, "abi_version", h->abi_version);
    cbi_node_uint(t, n, "version", h->version);
    cbi_node_hex(t, n, "flags", h->flags);
    if (h->osabi != LEGACY_OSABI) {
        cbi_node_string(t, n, "kind", h->kind);
        cbi_node_uint(t, n, "cuinfo_section", h->cuinfo_section);
    }
    cbi_node_hex(t, n, "entry", h->entry);
    cbi_node_hex(t, n, "section_table", h->section_table);
    cbi_node_uint(t, n, "section_count", h->section_count);
    cbi_node_uint(t, n, "name_table", h->name_table);
    cbi_node_hex(t, n, "program_table", h->program_table);
    cbi_node_uint(t, n, "program_entry_size", h->program_entry_size);
    cbi_node_uint(t, n, "program_count", h->program_count);
    cbi_node_uint(t, n, "file_size", h->file_size);
    if (h->elf_class == 32)
        cbi_node_uint(t, n, "class", h->elf_class);
    return n;
}

static cbi_node *dump_segments(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_segment_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_segment *s = cb_image_segment(image, i);
        cbi_node *n = cbi_node_add_object(t, list, NULL);
        cbi_node_string(t, n, "type",
                        s->type == PT_LOAD_TYPE   ? "LOAD"
                        : s->type == PT_PHDR_TYPE ? "PHDR"
                                                  : cbi_store_printf(t, "0x%x", s->type));
        cbi_node_printf(t, n, "flags", "%c%c%c", s->flags & 4 ? 'r' : '-', s->flags & 2 ? 'w' : '-',
                        s->flags & 1 ? 'x' : '-');
        cbi_node_hex(t, n, "offset", s->offset);
        cbi_node_hex(t, n, "address", s->address);
        cbi_node_hex(t, n, "file_size", s->file_size);
        cbi_node_hex(t, n, "memory_size", s->memory_size);
        cbi_node_hex(t, n, "align", s->align);
    }
    return list;
}

static void section_row(cbi_store *t, const cb_section *s, uint64_t index, cbi_node *n)
{
    cbi_node_uint(t, n, "index", index);
    cbi_node_string(t, n, "type",
                    s->type_name ? s->type_name : cbi_store_printf(t, "0x%x", s->type));
    cbi_node_hex(t, n, "flags", s->flags);
    cbi_node_hex(t, n, "offset", s->offset);
    cbi_node_hex(t, n, "size", s->size);
    cbi_node_uint(t, n, "link", s->link);
    cbi_node_hex(t, n, "info", s->info);
    cbi_node_uint(t, n, "align", s->align);
    cbi_node_uint(t, n, "entsize", s->entsize);
    cbi_node_string(t, n, "name", s->name);
}

static cbi_node *dump_sections(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_section_count(image);
    for (size_t i = 1; i < count; i++)
        section_row(t, cb_image_section(image, i), i, cbi_node_add_object(t, list, NULL));
    return list;
}

static cbi_node *dump_symbols(cbi_store *t, cb_image *image, cb_view view)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_symbol_count(image, view);
    for (size_t i = 1; i < count; i++) {
        const cb_symbol *s = cb_image_symbol(image, view, i);
        cbi_node *n = cbi_node_add_object(t, list, NULL);
        cbi_node_uint(t, n, "index", i);
        cbi_node_hex(t, n, "value", s->value);
        cbi_node_hex(t, n, "size", s->size);
        cbi_node_string(t, n, "bind", s->bind);
        cbi_node_string(t, n, "type", s->type);
        cbi_node_hex(t, n, "other", s->other);
        cbi_node_string(t, n, "attributes", s->attributes);
        cbi_node_string(t, n, "section", s->section_name);
        cbi_node_string(t, n, "name", s->name);
    }
    return list;
}

/* "32-63=V>>32 ..." */
static const char *show_fields(cbi_store *t, const cb_relocation *r)
{
    const char *text = "";
    for (size_t i = 0; i < r->field_count; i++) {
        const cb_reloc_field *f = &r->fields[i];
        text = cbi_store_printf(t, "%s%s%u-%u=%s", text, i ? " " : "", f->first,
                                f->first + f->width - 1, f->source);
        if (f->shift)
            text = cbi_store_printf(t, "%s>>%u", text, f->shift);
    }
    return text;
}

static void reloc_row(cbi_store *t, const cb_relocation *r, cbi_node *list)
{
    cbi_node *n = cbi_node_add_object(t, list, NULL);
    cbi_node_hex(t, n, "offset", r->offset);
    cbi_node_uint(t, n, "type", r->type);
    cbi_node_string(t, n, "name", r->name);
    cbi_node_string(t, n, "symbol", r->symbol_name);
    if (r->has_addend)
        cbi_node_int(t, n, "addend", r->addend);
    else
        cbi_node_null(t, n, "addend");
    cbi_node_string(t, n, "fields", show_fields(t, r));
}

static bool is_reloc_section(const cb_section *s)
{
    static const char *const types[] = {"REL", "RELA", "CUDA_RESOLVED_RELA", "CUDA_MERC_RELA",
                                        "CUDA_MERC_RESOLVED_RELA"};
    for (size_t i = 0; s->type_name && i < sizeof types / sizeof *types; i++)
        if (strcmp(s->type_name, types[i]) == 0)
            return true;
    return false;
}

/* A table per section, also for those without records. */
static cbi_node *dump_relocs(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_relocation_count(image), at = 0;
    size_t sections = cb_image_section_count(image);
    for (size_t i = 1; i < sections; i++) {
        const cb_section *s = cb_image_section(image, i);
        if (!is_reloc_section(s))
            continue;
        cbi_node *n = cbi_node_add_object(t, list, NULL);
        cbi_node_string(t, n, "section", s->name);
        cbi_node_string(t, n, "target", cbi_section_name(t, image, s->info));
        cbi_node *rows = cbi_node_add_array(t, n, "relocations");
        for (; at < count && cb_image_relocation(image, at)->section == i; at++)
            reloc_row(t, cb_image_relocation(image, at), rows);
    }
    return list;
}

static cbi_node *dump_callgraph(cbi_store *t, cb_image *image)
{
    static const struct {
        const char *list, *first, *second;
    } lists[] = {
        [CB_CALL_DIRECT] = {"calls", "caller", "callee"},
        [CB_CALL_TAKEN] = {"address_taken", "function", "prototype"},
        [CB_CALL_INDIRECT] = {"indirect_calls", "caller", "prototype"},
        [CB_CALL_TAKER] = {"address_takers", "user", "function"},
        [CB_CALL_PROTOTYPE] = {"prototypes", "function", "prototype"},
    };
    cbi_node *out = cbi_node_object(t);
    cbi_node *rows[CB_CALL_PROTOTYPE + 1];
    for (size_t k = 0; k <= CB_CALL_PROTOTYPE; k++)
        rows[k] = cbi_node_add_array(t, out, lists[k].list);
    size_t count = cb_image_call_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_call *c = cb_image_call(image, i);
        cbi_node *n = cbi_node_add_object(t, rows[c->kind], NULL);
        cbi_node_string(t, n, lists[c->kind].first, c->from);
        cbi_node_string(t, n, lists[c->kind].second, c->to);
    }
    return out;
}

static cbi_node *dump_unified(cbi_store *t, cb_image *image)
{
    cbi_node *list = cbi_node_array(t);
    size_t count = cb_image_unified_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_unified *u = cb_image_unified(image, i);
        cbi_node *n = cbi_node_add_object(t, list, NULL);
        cbi_node_string(t, n, "section", cbi_section_name(t, image, u->section));
        cbi_node_uint(t, n, "kind", u->kind);
        cbi_node_hex(t, n, "offset", u->offset);
        cbi_node_hex(t, n, "id_low", u->id_low);
        cbi_node_hex(t, n, "id_high", u->id_high);
        cbi_node_string(t, n, "symbol", u->symbol);
    }
    return list;
}

bool cbi_dump_section(cbi_store *t, cb_image *image, const char *name, cbi_node *document)
{
    enum { LINE = 16 };
    uint32_t index = cb_image_find_section(image, name);
    if (index == CB_NONE)
        return false;
    const cb_section *s = cb_image_section(image, index);
    const unsigned char *data = s->data;
    cbi_node *n = cbi_node_add_object(t, document, "section");
    section_row(t, s, index, n);
    cbi_node *lines = cbi_node_add_array(t, n, "bytes");
    for (size_t at = 0; at < s->data_size; at += LINE) {
        size_t len = s->data_size - at < LINE ? s->data_size - at : LINE;
        char *hex = cbi_store_new(t, 3 * LINE), *text = cbi_store_new(t, LINE + 1);
        size_t used = 0;
        for (size_t i = 0; i < len; i++) {
            unsigned char b = data[at + i];
            used += (size_t)snprintf(hex + used, 3 * LINE - used, "%s%02x",
                                     i && i % 4 == 0 ? " " : "", b);
            text[i] = (char)(b >= 0x20 && b < 0x7f ? b : '.');
        }
        cbi_node *line = cbi_node_add_object(t, lines, NULL);
        cbi_node_hex(t, line, "at", at);
        cbi_node_string(t, line, "hex", hex);
        cbi_node_string(t, line, "text", text);
    }
    return true;
}

/* How many bytes of strings are left to be shown whole. */
typedef struct string_budget {
    cbi_store *store;
    size_t left;
} string_budget;

static const char *within_budget(void *user, const char *text)
{
    enum { ALWAYS = 256 };
    string_budget *budget = user;
    size_t len = strlen(text);
    if (len <= ALWAYS)
        return text;
    if (len > budget->left)
        return cbi_store_printf(budget->store, "%.*s...", ALWAYS, text);
    budget->left -= len;
    return text;
}

/* An image may name one long string in each of its rows: then what is behind the first megabytes is
 * cut, so that a dump is not a thousand times larger than its image. */
static void cut_strings(cbi_store *t, cb_image *image, cbi_node *document)
{
    enum { MULTIPLE = 16, LEAST = 1 << 20 };
    const void *data;
    size_t size;
    cb_image_bytes(image, &data, &size);
    string_budget budget = {t, size * MULTIPLE + LEAST};
    cbi_node_each_string(document, within_budget, &budget);
}

void cbi_dump(cbi_store *t, cb_image *image, uint32_t parts, cbi_node *document)
{
    static const struct {
        uint32_t part;
        const char *key;
        cbi_node *(*make)(cbi_store *store, cb_image *image);
    } makers[] = {
        {CBI_DUMP_SUMMARY, "summary", cbi_dump_summary},
        {CBI_DUMP_HEADER, "header", dump_header},
        {CBI_DUMP_SEGMENTS, "segments", dump_segments},
        {CBI_DUMP_SECTIONS, "sections", dump_sections},
        {CBI_DUMP_NOTES, "notes", cbi_dump_notes},
        {CBI_DUMP_COMPAT, "compat", cbi_dump_compat},
        {CBI_DUMP_INFO, "info", cbi_dump_info},
        {CBI_DUMP_CALLGRAPH, "callgraph", dump_callgraph},
        {CBI_DUMP_UNIFIED, "unified", dump_unified},
        {CBI_DUMP_RELOCS, "relocations", dump_relocs},
        {CBI_DUMP_CAPSULE, "capsules", cbi_dump_capsules},
        {CBI_DUMP_KERNELS, "kernels", cbi_dump_kernels},
        {CBI_DUMP_LINES, "lines", cbi_dump_lines},
    };
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (parts & makers[i].part)
            cbi_node_put(document, makers[i].key, makers[i].make(t, image));
    if (parts & CBI_DUMP_SYMBOLS) {
        cbi_node_put(document, "symbols", dump_symbols(t, image, CB_VIEW_SASS));
        if (cb_image_symbol_count(image, CB_VIEW_MERCURY))
            cbi_node_put(document, "mercury_symbols", dump_symbols(t, image, CB_VIEW_MERCURY));
    }
    cut_strings(t, image, document);
}
