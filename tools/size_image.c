/* What one image holds, in bytes. */
#include "size.h"

#include <stdlib.h>
#include <string.h>

/* ---- kinds of sections ---- */

/* By the start of the name; the first row that fits counts. */
static const struct {
    const char *start, *kind;
} kinds[] = {
    {".text.", "code"},
    {".nv.uft.rel.", "code"}, /* slots of the unified function table, before the final link */
    {".nv.uft", "unified tables"},
    {".nv.capmerc", "capsules (what sm_100 and later keep beside code)"},
    {".nv.merc.debug_", "debug data"},
    {".nv.merc.nv_debug", "debug data"},
    {".nv.merc.rela", "relocations"},
    {".nv.merc.nv.resolvedrela", "relocations"},
    {".nv.merc.nv.info", "attributes"},
    {".nv.merc.symtab", "symbols and names"},
    {".nv.merc.", "constants and variables"},
    {".nv_debug_ptx_txt", "PTX kept for debugging"},
    {".nv_debug", "debug data"},
    {".debug_", "debug data"},
    {".nv.constant", "constants and variables"},
    {".nv.global", "constants and variables"},
    {".nv.udt", "unified tables"},
    {".nv.info", "attributes"},
    {".nv.compat", "attributes"},
    {".nv.callgraph", "call graph"},
    {".nv.prototype", "call graph"},
    {".nv.rel.action", "relocations"},
    {".nv.resolvedrela", "relocations"},
    {".rel", "relocations"},
    {".symtab", "symbols and names"},
    {".strtab", "symbols and names"},
    {".shstrtab", "symbols and names"},
    {".note", "notes"},
};

static const char *kind_of(const cb_section *s)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(s->name, kinds[i].start, strlen(kinds[i].start)) == 0)
            return kinds[i].kind;
    return "others";
}

/* ---- bytes of the file, each counted once ---- */

typedef struct piece {
    uint32_t section;
    uint64_t start, end;
} piece;

static int by_place(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->section < y->section ? -1 : x->section > y->section;
}

/* Bytes per section: those that sections share belong to the first.  The rest of the file is in
 * [0]. */
static uint64_t *count_bytes(cb_image *image)
{
    size_t sections = cb_image_section_count(image), count = 0;
    uint64_t *bytes = cbi_grow(NULL, sections + 1, sizeof *bytes);
    piece *pieces = cbi_grow(NULL, sections, sizeof *pieces);
    memset(bytes, 0, (sections + 1) * sizeof *bytes);
    for (size_t i = 1; i < sections; i++) {
        const cb_section *s = cb_image_section(image, i);
        if (s->data_size)
            pieces[count++] = (piece){(uint32_t)i, s->offset, s->offset + s->data_size};
    }
    if (count)
        qsort(pieces, count, sizeof *pieces, by_place);
    const void *data;
    size_t size;
    cb_image_bytes(image, &data, &size);
    uint64_t end = 0, counted = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t start = pieces[i].start > end ? pieces[i].start : end;
        if (pieces[i].end <= start)
            continue;
        bytes[pieces[i].section] += pieces[i].end - start;
        counted += pieces[i].end - start;
        end = pieces[i].end;
    }
    bytes[0] = size - counted;
    free(pieces);
    return bytes;
}

static bool is_code(const cb_section *s)
{
    enum { EXECINSTR = 4 };
    return (s->flags & EXECINSTR) && strcmp(kind_of(s), "code") == 0;
}

static uint64_t add_sections(cbi_sizes *sizes, cb_image *image, const uint64_t *bytes)
{
    size_t count = cb_image_section_count(image);
    uint64_t code = 0;
    for (size_t i = 1; i < count; i++) {
        const cb_section *s = cb_image_section(image, i);
        cbi_size_row row = {.name = kind_of(s), .count = 1};
        *(is_code(s) ? &row.code : &row.other) = bytes[i];
        code += row.code;
        if (s->data_size)
            cbi_sizes_add(sizes, CBI_SIZE_SECTION, &row);
    }
    cbi_size_row rest = {.name = "headers and padding", .count = 1, .other = bytes[0]};
    cbi_sizes_add(sizes, CBI_SIZE_SECTION, &rest);
    return code;
}

/* ---- functions ---- */

/* The section that a section describes, by sh_info: of relocations, attributes, constants. */
static uint32_t owner_of(cb_image *image, uint32_t section)
{
    enum { INFO_LINK = 0x40, STEPS = 3 };
    for (int i = 0; i < STEPS; i++) {
        const cb_section *s = cb_image_section(image, section);
        bool refers = (s->flags & INFO_LINK) && s->info < cb_image_section_count(image);
        if (!refers || s->info == 0 || is_code(s))
            return section;
        section = s->info;
    }
    return section;
}

/* ".nv.capmerc.text.f" belongs to ".text.f". */
static uint32_t text_of(cb_image *image, uint32_t section)
{
    static const char capsule[] = ".nv.capmerc";
    const char *name = cb_image_section(image, section)->name;
    if (strncmp(name, capsule, sizeof capsule - 1) != 0)
        return section;
    uint32_t text = cb_image_find_section(image, name + sizeof capsule - 1);
    return text == CB_NONE ? section : text;
}

/* Bytes of sections that belong to code but are none, by the section of the code. */
static uint64_t *count_owned(cb_image *image, const uint64_t *bytes)
{
    size_t count = cb_image_section_count(image);
    uint64_t *owned = cbi_grow(NULL, count + 1, sizeof *owned);
    memset(owned, 0, (count + 1) * sizeof *owned);
    for (uint32_t i = 1; i < count; i++) {
        if (!bytes[i] || is_code(cb_image_section(image, i)))
            continue;
        uint32_t text = text_of(image, owner_of(image, i));
        if (is_code(cb_image_section(image, text)))
            owned[text] += bytes[i];
    }
    return owned;
}

/* Two lanes of multiply and mix: good enough to tell code apart, not to resist anybody. */
static void mix(uint64_t hash[2], uint64_t word)
{
    hash[0] = (hash[0] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash[0] ^= hash[0] >> 29;
    hash[1] = (hash[1] + word) * UINT64_C(0xc2b2ae3d27d4eb4f);
    hash[1] ^= hash[1] >> 31;
}

static void mix_bytes(uint64_t hash[2], const unsigned char *data, size_t size)
{
    uint64_t word;
    for (; size >= sizeof word; size -= sizeof word, data += sizeof word) {
        memcpy(&word, data, sizeof word);
        mix(hash, word);
    }
    word = 0;
    memcpy(&word, data, size);
    mix(hash, word ^ (uint64_t)size << 56);
}

/* Code and what is to be patched into it: equal code that refers to other symbols differs. */
typedef struct patches {
    uint64_t (*hash)[2]; /* by section */
} patches;

static patches hash_relocations(cb_image *image)
{
    size_t sections = cb_image_section_count(image), count = cb_image_relocation_count(image);
    patches p = {cbi_grow(NULL, sections + 1, sizeof *p.hash)};
    memset(p.hash, 0, (sections + 1) * sizeof *p.hash);
    for (size_t i = 0; i < count; i++) {
        const cb_relocation *r = cb_image_relocation(image, i);
        if (r->target == CB_NONE || r->view != CB_VIEW_SASS || r->resolved)
            continue;
        uint64_t *hash = p.hash[r->target];
        mix(hash, r->offset);
        mix(hash, (uint64_t)r->type << 32 ^ (uint64_t)r->addend);
        mix_bytes(hash, (const unsigned char *)r->symbol_name, strlen(r->symbol_name));
    }
    return p;
}

static void add_functions(cbi_sizes *sizes, cb_image *image, const uint64_t *owned)
{
    patches p = hash_relocations(image);
    size_t count = cb_image_function_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_function *f = cb_image_function(image, i);
        if (f->section == CB_NONE || f->code_size == 0 || !f->code)
            continue; /* another name of the same code, or code elsewhere */
        cbi_size_row row = {.name = cb_image_demangle(image, f->name),
                            .count = 1,
                            .code = f->code_size,
                            .other = owned[f->section]};
        cbi_sizes_add(sizes, CBI_SIZE_FUNCTION, &row);
        cbi_size_row same = {.name = row.name, .count = 1, .code = f->code_size};
        same.hash[0] = p.hash[f->section][0] ^ f->code_size;
        same.hash[1] = p.hash[f->section][1] ^ cb_image_get_info(image)->sm;
        mix_bytes(same.hash, f->code, f->code_size);
        cbi_sizes_add(sizes, CBI_SIZE_IDENTICAL, &same);
        row.name = cbi_template_name(&sizes->store, row.name);
        cbi_sizes_add(sizes, CBI_SIZE_TEMPLATE, &row);
    }
    free(p.hash);
}

/* ---- source files ---- */

static void add_files(cbi_sizes *sizes, cb_image *image, uint64_t code)
{
    size_t count = cb_image_line_count(image, CB_LINES_SOURCE);
    uint64_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const cb_line *line = cb_image_line(image, CB_LINES_SOURCE, i);
        const cb_section *s =
            line->section == CB_NONE ? NULL : cb_image_section(image, line->section);
        if (!s || !is_code(s) || line->end > s->size || line->end - line->offset > code - known)
            continue;
        known += line->end - line->offset;
        if (line->end > line->offset)
            cbi_sizes_add(
                sizes, CBI_SIZE_FILE,
                &(cbi_size_row){.name = line->file, .count = 1, .code = line->end - line->offset});
    }
    if (code > known)
        cbi_sizes_add(sizes, CBI_SIZE_FILE,
                      &(cbi_size_row){.name = "(no lines recorded)", .code = code - known});
}

void cbi_sizes_of_image(cbi_sizes *sizes, cb_image *image)
{
    const cb_image_info *info = cb_image_get_info(image);
    const void *data;
    size_t size;
    cb_image_bytes(image, &data, &size);
    uint64_t code = 0;
    if (cb_image_section_count(image)) {
        uint64_t *bytes = count_bytes(image);
        uint64_t *owned = count_owned(image, bytes);
        code = add_sections(sizes, image, bytes);
        add_functions(sizes, image, owned);
        add_files(sizes, image, code);
        free(bytes);
        free(owned);
    } else {
        cbi_size_row row = {.name = cb_image_kind_name(info->kind), .count = 1, .other = size};
        cbi_sizes_add(sizes, CBI_SIZE_SECTION, &row);
    }
    cbi_size_row row = {.name = *info->arch ? info->arch : "(no target)",
                        .count = 1,
                        .code = code,
                        .other = size - code,
                        .stored = info->stored};
    cbi_sizes_add(sizes, CBI_SIZE_TARGET, &row);
    row.name = cb_image_name(image);
    cbi_sizes_add(sizes, CBI_SIZE_IMAGE, &row);
    sizes->images++;
    sizes->stored += info->stored;
    sizes->size += size;
    sizes->code += code;
}

/* ---- names of templates ---- */

/* What follows "operator", which may look like a bracket. */
static size_t operator_len(const char *s)
{
    static const char *const signs[] = {
        "operator<<=", "operator>>=", "operator<=>", "operator->*", "operator<<", "operator>>",
        "operator<=",  "operator>=",  "operator->",  "operator()",  "operator<",  "operator>"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(s, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

const char *cbi_template_name(cbi_store *store, const char *demangled)
{
    static const char anonymous[] = "(anonymous namespace)";
    char *name = cbi_store_new(store, strlen(demangled) + 1);
    size_t len = 0;
    unsigned depth = 0; /* of angle brackets */
    for (const char *s = demangled; *s;) {
        size_t keep = operator_len(s);
        if (!keep && strncmp(s, anonymous, sizeof anonymous - 1) == 0)
            keep = sizeof anonymous - 1;
        if (keep) {
            if (depth == 0)
                memcpy(name + len, s, keep);
            len += depth == 0 ? keep : 0;
            s += keep;
            continue;
        }
        if (*s == '(' && depth == 0)
            break;
        if (*s == ' ' && depth == 0)
            len = 0; /* that was a type, or part of one */
        else if (*s == '<')
            depth++;
        else if (*s == '>' && depth)
            depth--;
        else if (depth == 0)
            name[len++] = *s;
        s++;
    }
    name[len] = 0;
    return len ? name : demangled;
}
