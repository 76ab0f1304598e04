/* check: call graph, prototypes, unified tables, relocations. */
#include "inspect/check.h"
#include "format/reloc.h"

enum { GRAPH_RECORD = 8, UNIFIED_RECORD = 32 };

static bool is_function(const cbi_checker *c, uint32_t symbol)
{
    return symbol && CBI_ST_TYPE(c->o->symbols[symbol].info) == STT_FUNC;
}

/* Old tools leave the string out. */
static bool is_prototype(const cbi_checker *c, uint32_t string)
{
    char first = *cbi_show_string(c->o, string);
    return first == '#' || first == 0;
}

static void check_callgraph(cbi_checker *c, uint32_t i)
{
    const cbi_section *s = &c->o->sections[i];
    int list = 0; /* lists 1 to 4, each started by a marker {0, -list} */
    for (size_t at = 0; at < s->data.size; at += GRAPH_RECORD) {
        uint32_t first = cbi_ld32(s->data.data + at);
        uint32_t second = cbi_ld32(s->data.data + at + 4);
        int32_t marker = (int32_t)second;
        if (first == 0 && marker < 0) {
            if (marker != -(list + 1))
                cbi_check_fail(c, CBI_CHECK_CALLGRAPH, i, s->offset + at, NULL,
                               "marker %d after list %d", marker, list);
            list = -marker;
            continue;
        }
        if (list == 0)
            cbi_check_fail(c, CBI_CHECK_CALLGRAPH, i, s->offset + at, NULL,
                           "a record before the first marker");
        bool strings = list == 2 || list == 3;
        uint32_t bad = !is_function(c, first) ? first : second;
        if (!is_function(c, first) || (!strings && !is_function(c, second)))
            cbi_check_fail(c, CBI_CHECK_CALLGRAPH_SYMBOL, i, s->offset + at,
                           cbi_show_symbol(c->ctx, c->o, false, bad),
                           "list %d: symbol %u is no function", list, bad);
        else if (strings && !is_prototype(c, second))
            cbi_check_fail(c, CBI_CHECK_PROTOTYPE, i, s->offset + at, c->o->symbols[first].name,
                           "list %d: \"%s\" is no prototype", list, cbi_show_string(c->o, second));
    }
    if (list != 4)
        cbi_check_fail(c, CBI_CHECK_CALLGRAPH, i, s->offset, NULL, "%d lists instead of 4", list);
}

static void check_prototypes(cbi_checker *c, uint32_t i)
{
    const cbi_section *s = &c->o->sections[i];
    for (size_t at = 0; at < s->data.size; at += GRAPH_RECORD) {
        uint32_t symbol = cbi_ld32(s->data.data + at), string = cbi_ld32(s->data.data + at + 4);
        if (!is_function(c, symbol))
            cbi_check_fail(c, CBI_CHECK_CALLGRAPH_SYMBOL, i, s->offset + at,
                           cbi_show_symbol(c->ctx, c->o, false, symbol), "symbol %u is no function",
                           symbol);
        else if (!is_prototype(c, string))
            cbi_check_fail(c, CBI_CHECK_PROTOTYPE, i, s->offset + at, c->o->symbols[symbol].name,
                           "\"%s\" is no prototype", cbi_show_string(c->o, string));
    }
}

static void check_unified(cbi_checker *c, uint32_t i)
{
    const cbi_section *s = &c->o->sections[i];
    for (size_t at = 0; at < s->data.size; at += UNIFIED_RECORD)
        if (cbi_ld32(s->data.data + at) == 0)
            cbi_check_fail(c, CBI_CHECK_UNIFIED, i, s->offset + at, NULL,
                           "record %zu names no symbol", at / UNIFIED_RECORD);
}

void cbi_check_graph(cbi_checker *c)
{
    for (uint32_t i = 1; i < c->o->section_count; i++) {
        switch (c->o->sections[i].type) {
        case SHT_CUDA_CALLGRAPH:
            check_callgraph(c, i);
            break;
        case SHT_CUDA_PROTOTYPE:
            check_prototypes(c, i);
            break;
        case SHT_CUDA_UFT_ENTRY:
        case SHT_CUDA_UDT_ENTRY:
            check_unified(c, i);
            break;
        default:
            break;
        }
    }
}

/* ---- relocations ---- */

/* ".rela" + ".text.f", ".nv.merc.rela" + ".text.f" for .nv.capmerc.text.f, ... */
static bool is_named_after(const char *name, const char *target)
{
    static const char *const prefixes[] = {".rela", ".rel", ".nv.resolvedrela"};
    for (size_t i = 0; i < CBI_COUNT(prefixes); i++) {
        size_t len = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], len) == 0 && strcmp(name + len, target) == 0)
            return true;
    }
    static const char *const merc_prefixes[] = {".nv.merc.rela", ".nv.merc.nv.resolvedrela"};
    static const char *const twins[] = {".nv.capmerc", ".nv.merc"};
    for (size_t i = 0; i < CBI_COUNT(merc_prefixes); i++)
        for (size_t k = 0; k < CBI_COUNT(twins); k++) {
            size_t len = strlen(merc_prefixes[i]), twin = strlen(twins[k]);
            if (strncmp(name, merc_prefixes[i], len) == 0 && strncmp(target, twins[k], twin) == 0 &&
                strcmp(name + len, target + twin) == 0)
                return true;
        }
    return false;
}

/* Bytes from r_offset to the end of the last field. */
static uint64_t patched_bytes(const cbi_reloc_type *type)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        uint64_t end = (uint64_t)type->fields[i].start + type->fields[i].width;
        if (end > bits)
            bits = end;
    }
    return (bits + 7) / 8;
}

static bool is_resolved(const cbi_section *s)
{
    return s->type == SHT_CUDA_RESOLVED_RELA || s->type == SHT_CUDA_MERC_RESOLVED_RELA;
}

/* By interned name: the largest section's size + 1. */
static cbi_map find_sizes(const cbi_checker *c)
{
    cbi_map sizes = {0};
    for (uint32_t i = 1; i < c->o->section_count; i++) {
        const cbi_section *s = &c->o->sections[i];
        uint64_t key = CBI_KEY(cbi_intern(c->ctx, s->name));
        if (s->size + 1 > (uintptr_t)cbi_map_get(&sizes, key))
            cbi_map_put(c->ctx, &sizes, key, (void *)(uintptr_t)(s->size + 1));
    }
    return sizes;
}

/* Static functions of one name share the list of what was resolved (docs/mercury.md). */
static uint64_t patched_size(const cbi_checker *c, const cbi_map *sizes, const cbi_section *s,
                             const cbi_section *target)
{
    uint64_t largest = 0;
    if (is_resolved(s))
        largest = (uintptr_t)cbi_map_get(sizes, CBI_KEY(cbi_intern(c->ctx, target->name)));
    return largest ? largest - 1 : target->size;
}

static void check_section_relocs(cbi_checker *c, const cbi_map *sizes, uint32_t i)
{
    const cbi_section *s = &c->o->sections[i];
    const cbi_section *target = &c->o->sections[s->info];
    bool mercury = cbi_section_is_mercury(s);
    if (!is_named_after(s->name, target->name))
        cbi_check_fail(c, CBI_CHECK_RELOC_NAME, i, cbi_check_header(c, i), NULL, "sh_info names %s",
                       target->name);
    size_t stride = s->type == SHT_REL ? 16 : 24;
    size_t count = cbi_rela_count(s);
    uint64_t size = patched_size(c, sizes, s, target);
    for (size_t k = 0; k < count; k++) {
        cbi_rela rela = cbi_rela_at(s, k);
        const cbi_reloc_type *type = cbi_reloc_find(rela.type);
        uint64_t place = s->offset + k * stride;
        if (!type || mercury != (rela.type >= R_MERCURY_FIRST))
            cbi_check_fail(c, CBI_CHECK_RELOC_TYPE, i, place, NULL,
                           "relocation %zu: type 0x%x is not one of this view", k, rela.type);
        else if (target->type != SHT_CUDA_CAPMERC &&
                 !cbi_fits(rela.offset, patched_bytes(type), size))
            cbi_check_fail(c, CBI_CHECK_RELOC_FIELD, i, place, NULL,
                           "relocation %zu: %s at 0x%llx reaches beyond the end of %s", k,
                           type->name, (unsigned long long)rela.offset, target->name);
    }
}

void cbi_check_relocs(cbi_checker *c)
{
    static const uint8_t action[16] = {0x73, 0, 0, 0,    0,    0, 0,    0,
                                       0,    0, 0, 0x11, 0x25, 0, 0x05, 0x36};
    cbi_map sizes = {0};
    for (uint32_t i = 1; i < c->o->section_count; i++) {
        const cbi_section *s = &c->o->sections[i];
        if (!sizes.len && is_resolved(s))
            sizes = find_sizes(c);
        if (cbi_is_reloc_type(s->type))
            check_section_relocs(c, &sizes, i);
        else if (s->type == SHT_CUDA_RELOCINFO && !c->legacy &&
                 (s->data.size != sizeof action ||
                  memcmp(s->data.data, action, sizeof action) != 0))
            cbi_check_fail(c, CBI_CHECK_REL_ACTION, i, s->offset, NULL,
                           "contents differ from the fixed 16 bytes");
    }
}
