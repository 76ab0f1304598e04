/* Host objects and linked files with fewer images in their fatbins.
 *
 * In an object the section shrinks, and what is behind it in the file moves up; symbols and
 * relocations that point behind the first fatbin of a section follow.  In a linked file addresses
 * are final: each fatbin stays in its place, and what it no longer needs is zero. */
#include <elf.h>

#include "base/sink.h"
#include "container/prune.h"
#include "input/elf.h"

enum {
    EHDR_SHOFF = 40,
    EHDR_PHNUM = 56,
    SHDR_SIZE = 64,
    SHDR_OFFSET = 24,
    SHDR_BYTES = 32, /* sh_size */
    SHDR_LINK = 40,
    SHDR_ALIGN = 48,
    SYM_SIZE = 24,
    SYM_INFO = 4,
    SYM_SHNDX = 6,
    SYM_VALUE = 8,
    RELA_SYM = 12, /* upper half of r_info */
    RELA_ADDEND = 16,
    ALIGN_MAX = 4096
};

/* A section with fatbins. */
typedef struct edit {
    uint32_t index;
    uint64_t offset;
    uint64_t size;
    uint64_t removed; /* bytes by which the file gets shorter here */
    cbi_pruned_section section;
} edit;

typedef struct job {
    cbi_ctx *ctx;
    cbi_prune *prune;
    const char *path;
    cbi_elf elf;
    CBI_VEC(edit) edits; /* in the order of the file */
} job;

CBI_NORETURN static void damaged(const job *j, const char *what)
{
    cbi_fatal(j->ctx, "input-damaged", &(cbi_place){.file = j->path}, "nothing was written",
              "'%s' is damaged: %s", j->path, what);
}

static uint64_t section_field(const job *j, uint32_t i, unsigned field)
{
    uint64_t table = cbi_ld64(j->elf.bytes.data + EHDR_SHOFF);
    return cbi_ld64(j->elf.bytes.data + table + (uint64_t)i * SHDR_SIZE + field);
}

static bool holds_fatbins(const char *name)
{
    return strcmp(name, ".nv_fatbin") == 0 || strcmp(name, "__nv_relfatbin") == 0;
}

static void find_sections(job *j, bool in_place)
{
    for (uint32_t i = 1; i < j->elf.section_count; i++) {
        cbi_elf_section s = cbi_elf_section_at(&j->elf, i);
        if (!holds_fatbins(s.name) || (!s.damaged && !s.data.size))
            continue;
        if (s.damaged)
            damaged(j, "a section of fatbins is outside of the file");
        edit e = {
            .index = i, .offset = (uint64_t)(s.data.data - j->elf.bytes.data), .size = s.data.size};
        e.section = cbi_prune_section(j->ctx, j->prune, j->path, s.data, in_place, e.offset);
        size_t at = j->edits.len;
        cbi_vec_push(j->ctx, &j->edits, e);
        for (; at > 0 && j->edits.items[at - 1].offset > e.offset; at--)
            j->edits.items[at] = j->edits.items[at - 1];
        j->edits.items[at] = e;
        if ((at && j->edits.items[at - 1].offset + j->edits.items[at - 1].size > e.offset) ||
            (at + 1 < j->edits.len && e.offset + e.size > j->edits.items[at + 1].offset))
            damaged(j, "sections of fatbins overlap");
    }
}

/* The whole file, with each section's bytes replaced by those of its pruned form, and `rest` read
 * instead of the file for all others. */
static cbi_rope splice(job *j, const uint8_t *rest)
{
    cbi_rope out = {0};
    cbi_sink sink = cbi_sink_rope(j->ctx, &out);
    uint64_t pos = 0;
    for (size_t i = 0; i < j->edits.len; i++) {
        const edit *e = &j->edits.items[i];
        cbi_sink_write(&sink, rest + pos, (size_t)(e->offset - pos));
        for (size_t k = 0; k < e->section.data.parts.len; k++)
            cbi_sink_write(&sink, e->section.data.parts.items[k].data,
                           e->section.data.parts.items[k].size);
        uint64_t padding = e->size - e->removed - e->section.data.size;
        cbi_sink_write(&sink, cbi_alloc(j->ctx, (size_t)padding), (size_t)padding);
        pos = e->offset + e->size;
    }
    cbi_sink_write(&sink, rest + pos, (size_t)(j->elf.bytes.size - pos));
    return out;
}

/* What follows a section keeps its alignment, if the number of bytes that go is a multiple. */
static void count_removed(job *j)
{
    uint64_t align = 8;
    for (uint32_t i = 1; i < j->elf.section_count; i++) {
        uint64_t own = section_field(j, i, SHDR_ALIGN);
        if (own > ALIGN_MAX)
            own = ALIGN_MAX;
        if (own > align)
            align = own;
    }
    for (size_t i = 0; i < j->edits.len; i++) {
        edit *e = &j->edits.items[i];
        if (e->size > e->section.data.size)
            e->removed = (e->size - e->section.data.size) / align * align;
    }
}

/* Where a byte of the old file lies in the new one. */
static uint64_t moved(const job *j, uint64_t offset)
{
    uint64_t removed = 0;
    for (size_t i = 0; i < j->edits.len; i++) {
        const edit *e = &j->edits.items[i];
        if (offset >= e->offset + e->size)
            removed += e->removed;
        else if (offset > e->offset)
            damaged(j, "something begins inside of a section of fatbins");
    }
    return offset - removed;
}

static void move_sections(job *j, uint8_t *copy)
{
    uint64_t table = cbi_ld64(copy + EHDR_SHOFF);
    for (uint32_t i = 1; i < j->elf.section_count; i++) {
        uint8_t *s = copy + table + (uint64_t)i * SHDR_SIZE;
        if (cbi_ld32(s + 4) != SHT_NULL)
            cbi_st64(s + SHDR_OFFSET, moved(j, cbi_ld64(s + SHDR_OFFSET)));
    }
    for (size_t i = 0; i < j->edits.len; i++)
        cbi_st64(copy + table + (uint64_t)j->edits.items[i].index * SHDR_SIZE + SHDR_BYTES,
                 j->edits.items[i].section.data.size);
    cbi_st64(copy + EHDR_SHOFF, moved(j, table));
}

/* The edited section with that index; NULL if it has only one fatbin or is another. */
static const edit *find_edit(const job *j, uint32_t index)
{
    for (size_t i = 0; i < j->edits.len; i++)
        if (j->edits.items[i].index == index && j->edits.items[i].section.fatbins.len > 1)
            return &j->edits.items[i];
    return NULL;
}

/* Pointers into a section point to the start of a fatbin, or a little behind it. */
static uint64_t new_place(const edit *e, uint64_t old)
{
    const cbi_pruned_fatbin *best = &e->section.fatbins.items[0];
    for (size_t i = 0; i < e->section.fatbins.len; i++)
        if (e->section.fatbins.items[i].old_offset <= old)
            best = &e->section.fatbins.items[i];
    return old < best->old_offset ? old : old - best->old_offset + best->new_offset;
}

static void move_symbols(job *j, uint8_t *copy, const cbi_elf_section *symtab)
{
    uint8_t *base = copy + (symtab->data.data - j->elf.bytes.data);
    for (size_t i = 0; i < symtab->data.size / SYM_SIZE; i++) {
        uint8_t *sym = base + i * SYM_SIZE;
        const edit *e = find_edit(j, cbi_ld16(sym + SYM_SHNDX));
        if (e && ELF64_ST_TYPE(sym[SYM_INFO]) != STT_SECTION)
            cbi_st64(sym + SYM_VALUE, new_place(e, cbi_ld64(sym + SYM_VALUE)));
    }
}

/* Relocations against the symbol of a section have the place in their addend. */
static void move_addends(job *j, uint8_t *copy, uint32_t index, const cbi_elf_section *rela)
{
    uint32_t link = (uint32_t)section_field(j, index, SHDR_LINK);
    if (link >= j->elf.section_count)
        return;
    cbi_elf_section symtab = cbi_elf_section_at(&j->elf, link);
    uint8_t *base = copy + (rela->data.data - j->elf.bytes.data);
    for (size_t i = 0; i < rela->data.size / sizeof(Elf64_Rela); i++) {
        uint8_t *r = base + i * sizeof(Elf64_Rela);
        uint64_t symbol = cbi_ld32(r + RELA_SYM);
        if (symbol >= symtab.data.size / SYM_SIZE)
            continue;
        const uint8_t *sym = symtab.data.data + symbol * SYM_SIZE;
        const edit *e = find_edit(j, cbi_ld16(sym + SYM_SHNDX));
        if (e && ELF64_ST_TYPE(sym[SYM_INFO]) == STT_SECTION)
            cbi_st64(r + RELA_ADDEND, new_place(e, cbi_ld64(r + RELA_ADDEND)));
    }
}

static void move_pointers(job *j, uint8_t *copy)
{
    for (uint32_t i = 1; i < j->elf.section_count; i++) {
        cbi_elf_section s = cbi_elf_section_at(&j->elf, i);
        if (s.damaged)
            damaged(j, "a section is outside of the file");
        if (s.type == SHT_SYMTAB)
            move_symbols(j, copy, &s);
        else if (s.type == SHT_RELA)
            move_addends(j, copy, i, &s);
    }
}

cbi_rope cbi_prune_elf(cbi_ctx *ctx, cbi_prune *prune, const char *path, cbi_span bytes)
{
    job j = {.ctx = ctx, .prune = prune, .path = path};
    if (!cbi_elf_open(bytes, &j.elf))
        damaged(&j, j.elf.damage);
    if (j.elf.class->narrow)
        damaged(&j, "it is not a 64-bit ELF");
    bool in_place = j.elf.type != ET_REL || cbi_ld16(bytes.data + EHDR_PHNUM) != 0;
    find_sections(&j, in_place);
    if (in_place || !j.edits.len)
        return splice(&j, bytes.data);
    count_removed(&j);
    uint8_t *copy = cbi_memdup(ctx, bytes.data, bytes.size);
    move_pointers(&j, copy);
    move_sections(&j, copy);
    return splice(&j, copy);
}
