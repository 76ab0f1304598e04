/* Objects that no compiler wrote, though each of their parts may be sound: sections of another
 * build or another chip, twice, in another order, gone, a hundred thousand records long, names that
 * do not end.  The ELF is taken apart, changed, and written anew with offsets that fit. */
#include "mutant_parts.h"

enum { MAX_BODY = 1 << 20, MAX_SECTIONS = 4096, MAX_NAME = 70000, ALIGN = 64 };

typedef struct part {
    uint8_t header[sizeof(Elf64_Shdr)];
    bytes body;
    bool stored; /* has bytes of its own in the file */
} part;

typedef struct model {
    uint8_t header[sizeof(Elf64_Ehdr)];
    bytes segments;
    part *parts;
    size_t count;
} model;

static uint32_t word(const uint8_t *at)
{
    return cbi_ld32(at);
}

static void set_word(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, 4);
}

static uint32_t type_of(const part *p)
{
    return word(p->header + offsetof(Elf64_Shdr, sh_type));
}

/* ---- apart, and together again ---- */

static bool has_bytes(uint32_t type)
{
    return type != SHT_NULL && type != SHT_NOBITS && type != SHT_CUDA_GLOBAL &&
           type != SHT_CUDA_LOCAL && type != SHT_CUDA_SHARED && type != SHT_CUDA_SHARED_RESERVED;
}

static part part_of(const elf *e, size_t i)
{
    shdr s = section(e, i);
    part p = {.stored = has_bytes(s.type)};
    memcpy(p.header, e->data + s.place, sizeof p.header);
    if (p.stored && s.size)
        append(&p.body, e->data + s.offset, s.size);
    return p;
}

static bool take_apart(const bytes *from, model *ret)
{
    elf e;
    if (from->size < EI_NIDENT || from->data[EI_CLASS] != ELFCLASS64 ||
        !open_elf(from->data, from->size, &e) || e.count > MAX_SECTIONS)
        return false;
    *ret = (model){.parts = malloc((e.count + 1) * sizeof *ret->parts), .count = e.count};
    if (!ret->parts)
        abort();
    memcpy(ret->header, e.data, sizeof ret->header);
    uint64_t phoff = cbi_ld64(e.data + offsetof(Elf64_Ehdr, e_phoff));
    uint64_t size = (uint64_t)cbi_ld16(e.data + offsetof(Elf64_Ehdr, e_phnum)) * sizeof(Elf64_Phdr);
    if (cbi_fits(phoff, size, e.size))
        append(&ret->segments, e.data + phoff, size);
    for (size_t i = 0; i < e.count; i++)
        ret->parts[i] = part_of(&e, i);
    return true;
}

static void free_model(model *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->parts[i].body.data);
    free(m->parts);
    free(m->segments.data);
}

static void put_together(model *m, bytes *out)
{
    out->size = 0;
    append(out, m->header, sizeof m->header);
    uint64_t phoff = out->size, shoff;
    append(out, m->segments.data, m->segments.size);
    for (size_t i = 1; i < m->count; i++) {
        part *p = &m->parts[i];
        uint64_t align = cbi_ld64(p->header + offsetof(Elf64_Shdr, sh_addralign));
        if (!p->stored)
            continue;
        pad(out, align && align <= ALIGN ? align : 1, 0);
        uint64_t offset = out->size, size = p->body.size;
        memcpy(p->header + offsetof(Elf64_Shdr, sh_offset), &offset, 8);
        memcpy(p->header + offsetof(Elf64_Shdr, sh_size), &size, 8);
        append(out, p->body.data, p->body.size);
    }
    pad(out, 8, 0);
    shoff = out->size;
    for (size_t i = 0; i < m->count; i++)
        append(out, m->parts[i].header, sizeof m->parts[i].header);
    uint16_t count = (uint16_t)m->count;
    if (m->segments.size)
        memcpy(out->data + offsetof(Elf64_Ehdr, e_phoff), &phoff, 8);
    memcpy(out->data + offsetof(Elf64_Ehdr, e_shoff), &shoff, 8);
    memcpy(out->data + offsetof(Elf64_Ehdr, e_shnum), &count, 2);
}

/* ---- names ---- */

static part *names_of(const model *m)
{
    size_t i = cbi_ld16(m->header + offsetof(Elf64_Ehdr, e_shstrndx));
    return i < m->count ? &m->parts[i] : NULL;
}

/* "" where there is none. */
static const char *name_of(const model *m, const part *p)
{
    const part *names = names_of(m);
    uint32_t at = word(p->header);
    if (!names || at >= names->body.size ||
        !memchr(names->body.data + at, 0, names->body.size - at))
        return "";
    return (const char *)names->body.data + at;
}

/* Where the text begins in the string table that got it. */
static uint32_t add_text(part *strings, const void *text, size_t size)
{
    uint32_t at = (uint32_t)strings->body.size;
    append(&strings->body, text, size);
    append(&strings->body, "", 1);
    return at;
}

/* ---- another order ---- */

/* Section i has become to[i]; 0: it is gone. */
static void renumber(model *m, const size_t *to, size_t count)
{
    for (size_t i = 0; i < m->count; i++) {
        part *p = &m->parts[i];
        uint8_t *link = p->header + offsetof(Elf64_Shdr, sh_link);
        uint8_t *info = p->header + offsetof(Elf64_Shdr, sh_info);
        if (word(link) < count)
            set_word(link, (uint32_t)to[word(link)]);
        bool about = is_relocs(type_of(p)) || cbi_ld64(p->header + 8) & SHF_INFO_LINK;
        if (about && word(info) < count)
            set_word(info, (uint32_t)to[word(info)]);
        if (!is_symbols(type_of(p)))
            continue;
        for (size_t at = 0; at + sizeof(Elf64_Sym) <= p->body.size; at += sizeof(Elf64_Sym)) {
            uint8_t *place = p->body.data + at + offsetof(Elf64_Sym, st_shndx);
            uint16_t number = cbi_ld16(place);
            if (number < count) {
                number = (uint16_t)to[number];
                memcpy(place, &number, 2);
            }
        }
    }
    uint8_t *names = m->header + offsetof(Elf64_Ehdr, e_shstrndx);
    uint16_t number = cbi_ld16(names);
    if (number < count) {
        number = (uint16_t)to[number];
        memcpy(names, &number, 2);
    }
    uint8_t *cuinfo = m->header + offsetof(Elf64_Ehdr, e_flags) + 3;
    if (*cuinfo < count)
        *cuinfo = (uint8_t)to[*cuinfo];
}

static size_t draw(const model *m, uint64_t *state)
{
    return m->count > 1 ? 1 + below(state, m->count - 1) : 0;
}

/* Two sections trade numbers, or one is gone; what refers to them follows. */
static void move_sections(model *m, uint64_t *state)
{
    size_t a = draw(m, state), b = draw(m, state), count = m->count;
    size_t *to = malloc((count + 1) * sizeof *to);
    if (!to)
        abort();
    bool drops = a && below(state, 3) == 0;
    for (size_t i = 0; i < count; i++)
        to[i] = drops ? (i > a ? i - 1 : i == a ? 0 : i) : i == a ? b : i == b ? a : i;
    if (drops) {
        free(m->parts[a].body.data);
        memmove(m->parts + a, m->parts + a + 1, (count - a - 1) * sizeof *m->parts);
        m->count--;
    } else {
        part copy = m->parts[a];
        m->parts[a] = m->parts[b];
        m->parts[b] = copy;
    }
    renumber(m, to, count);
    free(to);
}

/* ---- sections of elsewhere ---- */

static part *add_part(model *m, part p)
{
    m->parts = realloc(m->parts, (m->count + 1) * sizeof *m->parts);
    if (!m->parts)
        abort();
    m->parts[m->count] = p;
    return &m->parts[m->count++];
}

static bytes copy_body(const part *p)
{
    return copy_of((cbi_span){p->body.data, p->body.size});
}

static bool is_like(const model *m, const part *mine, const model *other, const part *theirs,
                    bool by_name)
{
    return by_name ? strcmp(name_of(m, mine), name_of(other, theirs)) == 0
                   : type_of(mine) == type_of(theirs);
}

/* Contents of sections of the same name, or type, come from another object: a capsule beside the
 * debug sections of another build, code of one chip in an object of another. */
static void mix(model *m, const model *other, uint64_t *state)
{
    bool by_name = below(state, 2);
    size_t only = below(state, 2) ? draw(m, state) : 0;
    for (size_t i = 1; i < m->count; i++) {
        part *p = &m->parts[i];
        if (only ? i != only : below(state, 3) != 0)
            continue;
        for (size_t k = 1, start = draw(other, state); k < other->count && p->stored; k++) {
            const part *theirs = &other->parts[1 + (start + k) % (other->count - 1)];
            if (!theirs->stored || !is_like(m, p, other, theirs, by_name))
                continue;
            free(p->body.data);
            p->body = copy_body(theirs);
            break;
        }
    }
}

static void add_section(model *m, const model *other, uint64_t *state)
{
    const part *from = &other->parts[draw(other, state)];
    part p = *from;
    p.body = copy_body(from);
    part *names = names_of(m);
    const char *name = name_of(other, from);
    if (names && names->stored)
        set_word(p.header, add_text(names, name, strlen(name)));
    add_part(m, p);
}

static void double_section(model *m, uint64_t *state)
{
    part p = m->parts[draw(m, state)];
    p.body = copy_body(&p);
    add_part(m, p);
}

/* The chip, the ABI, or both of another object. */
static void other_chip(model *m, const model *other, uint64_t *state)
{
    if (below(state, 3))
        memcpy(m->header + offsetof(Elf64_Ehdr, e_flags),
               other->header + offsetof(Elf64_Ehdr, e_flags), below(state, 2) ? 4 : 3);
    if (below(state, 3) == 0)
        memcpy(m->header + EI_OSABI, other->header + EI_OSABI, 2);
}

/* ---- sizes ---- */

static part *draw_stored(model *m, uint64_t *state)
{
    size_t start = draw(m, state);
    for (size_t i = 1; i < m->count; i++) {
        part *p = &m->parts[1 + (start + i) % (m->count - 1)];
        if (p->stored && p->body.size)
            return p;
    }
    return NULL;
}

/* All of it, or one record of it, again and again. */
static void repeat(model *m, uint64_t *state)
{
    part *p = draw_stored(m, state);
    if (!p)
        return;
    static const uint8_t widths[] = {0, 4, 8, 12, 16, 24, 24, 40};
    size_t width = widths[below(state, CBI_COUNT(widths))];
    if (!width || width > p->body.size)
        width = p->body.size;
    size_t at = below(state, p->body.size / width) * width;
    size_t times = below(state, 64) ? 1 + below(state, 40) : 1 + below(state, 100000);
    bytes one = copy_of((cbi_span){p->body.data + at, width});
    while (times-- && p->body.size < MAX_BODY)
        append(&p->body, one.data, one.size);
    free(one.data);
}

static void resize(model *m, uint64_t *state)
{
    part *p = draw_stored(m, state);
    if (!p)
        return;
    if (below(state, 2)) {
        p->body.size -= below(state, 4) ? below(state, p->body.size) : p->body.size;
        return;
    }
    for (size_t n = 1 + below(state, below(state, 8) ? 40 : 5000); n; n--) {
        uint8_t byte = below(state, 3) ? 0 : (uint8_t)next(state);
        append(&p->body, &byte, 1);
    }
}

static void other_kind(model *m, uint64_t *state)
{
    static const uint32_t kinds[] = {
        SHT_NULL,           SHT_NOBITS,       SHT_PROGBITS,       SHT_NOTE,        SHT_CUDA_INFO,
        SHT_CUDA_CALLGRAPH, SHT_CUDA_CAPMERC, SHT_CUDA_MERC_INFO, SHT_CUDA_SHARED, SHT_CUDA_GLOBAL};
    part *p = &m->parts[draw(m, state)];
    set_word(p->header + offsetof(Elf64_Shdr, sh_type), kinds[below(state, CBI_COUNT(kinds))]);
}

/* ---- names of symbols and sections ---- */

static bytes make_name(const char *like, uint64_t *state)
{
    static const char *const starts[] = {"_Z",         "_ZN",    ".text.",    ".nv.constant2.",
                                         ".nv.shared", "$_$",    "\x1b[2J",   "../../",
                                         "__cudart",   "%s%n",   ".nv.merc.", ".debug_",
                                         "_ZSt",       "_ZIJS_", ".rela"};
    static const char *const more[] = {"S_", "IN", "3aaa", "E", "_", ".", "\xff", "1a", "$", "J"};
    bytes out = {0};
    if (below(state, 2))
        append(&out, like, strlen(like));
    const char *start = starts[below(state, CBI_COUNT(starts))];
    append(&out, start, strlen(start));
    const char *piece = more[below(state, CBI_COUNT(more))];
    for (size_t n = below(state, 16) ? below(state, 40) : below(state, MAX_NAME / 4); n; n--) {
        append(&out, piece, strlen(piece));
        if (below(state, 8) == 0)
            piece = more[below(state, CBI_COUNT(more))];
    }
    return out;
}

static void rename_one(model *m, uint64_t *state)
{
    part *symbols = NULL;
    for (size_t i = 1; i < m->count && !symbols; i++)
        if (is_symbols(type_of(&m->parts[i])) && m->parts[i].body.size >= sizeof(Elf64_Sym))
            symbols = &m->parts[i];
    bool of_symbol = symbols && below(state, 3);
    size_t link = symbols ? word(symbols->header + offsetof(Elf64_Shdr, sh_link)) : 0;
    part *strings = !of_symbol ? names_of(m) : link < m->count ? &m->parts[link] : NULL;
    if (!strings || !strings->stored)
        return;
    part *of = &m->parts[draw(m, state)];
    bytes name = make_name(of_symbol ? "k" : name_of(m, of), state);
    uint32_t at = add_text(strings, name.data, name.size);
    free(name.data);
    if (of_symbol)
        set_word(symbols->body.data +
                     below(state, symbols->body.size / sizeof(Elf64_Sym)) * sizeof(Elf64_Sym),
                 at);
    else
        set_word(of->header, at);
}

/* Symbols come again, at the end of their table. */
static void double_symbols(model *m, uint64_t *state)
{
    for (size_t i = 1; i < m->count; i++) {
        part *p = &m->parts[i];
        size_t count = p->body.size / sizeof(Elf64_Sym);
        if (!is_symbols(type_of(p)) || !count)
            continue;
        for (size_t n = 1 + below(state, 5); n; n--) {
            uint8_t copy[sizeof(Elf64_Sym)];
            memcpy(copy, p->body.data + below(state, count) * sizeof copy, sizeof copy);
            append(&p->body, copy, sizeof copy);
        }
    }
}

/* ---- all of it ---- */

static void change_model(model *m, const model *other, uint64_t *state)
{
    switch (below(state, 14)) {
    case 0:
    case 1:
    case 2:
        mix(m, other, state);
        break;
    case 3:
        add_section(m, other, state);
        break;
    case 4:
        double_section(m, state);
        break;
    case 5:
    case 6:
        move_sections(m, state);
        break;
    case 7:
        other_chip(m, other, state);
        break;
    case 8:
        repeat(m, state);
        break;
    case 9:
        resize(m, state);
        break;
    case 10:
        other_kind(m, state);
        break;
    case 11:
    case 12:
        rename_one(m, state);
        break;
    default:
        double_symbols(m, state);
    }
}

void mutant_splice(bytes *file, const mutant_seeds *seeds, uint64_t *state)
{
    model m, other;
    bytes donor = copy_of(seeds->files[seeds->objects[below(state, seeds->object_count)]]);
    bool both = take_apart(&donor, &other);
    free(donor.data);
    if (both && take_apart(file, &m)) {
        for (size_t n = 1 + below(state, 3); n; n--)
            change_model(&m, &other, state);
        put_together(&m, file);
        free_model(&m);
    }
    if (both)
        free_model(&other);
}
