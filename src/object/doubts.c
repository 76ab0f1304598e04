/* What no tool writes, but nvlink links without a word: a file like that is damaged all the same.
 * Its model can be followed safely; whoever reads it decides whether to go on. */
#include "object/object.h"
#include "object/rules.h"
#include "format/eiattr.h"

#include <stdlib.h>

enum {
    MAX_DOUBTS = 100,
    MAX_TWINS = 4,    /* that are looked for one by one */
    CUINFO_LEAST = 6, /* assemblers leave out the last two bytes */
};

void cbi_object_doubt(cbi_object_reader *r, cbi_object_rule rule, uint64_t place,
                      const char *section, const char *symbol, const char *format, ...)
{
    cbi_findings *doubts = &r->object->doubts;
    if (doubts->len >= MAX_DOUBTS)
        return;
    cbi_finding *finding = cbi_vec_add(r->ctx, doubts);
    va_list args;
    va_start(args, format);
    *finding = cbi_object_finding_of(r->ctx, rule, place, section, symbol, format, args);
    va_end(args);
}

/* Section header 0 is empty but for counts and indices that do not fit the file's header. */
static void check_null_section(cbi_object_reader *r)
{
    const cbi_object *o = r->object;
    cbi_elf_wide room, given;
    const uint8_t *p = cbi_elf_read(o->class, CBI_ELF_EHDR, o->bytes.data, &given);
    const uint8_t *h = cbi_elf_read(o->class, CBI_ELF_SHDR, o->bytes.data + o->shoff, &room);
    uint8_t expected[sizeof(Elf64_Shdr)] = {0};
    if (o->shnum == 0)
        memcpy(expected + offsetof(Elf64_Shdr, sh_size), h + offsetof(Elf64_Shdr, sh_size), 8);
    if (cbi_ld16(p + offsetof(Elf64_Ehdr, e_shstrndx)) == SHN_XINDEX)
        memcpy(expected + offsetof(Elf64_Shdr, sh_link), h + offsetof(Elf64_Shdr, sh_link), 4);
    if (o->phnum == PN_XNUM)
        memcpy(expected + offsetof(Elf64_Shdr, sh_info), h + offsetof(Elf64_Shdr, sh_info), 4);
    if (memcmp(h, expected, sizeof expected) == 0)
        return;
    for (size_t i = 0; i < sizeof expected; i++) {
        if (h[i] == expected[i])
            continue;
        cbi_object_doubt(r, CBI_RULE_SECTION_NULL, o->shoff + i, NULL, NULL,
                         "section header 0 is not empty: byte %zu is 0x%02x", i, h[i]);
        return;
    }
}

/* ---- bytes that belong to two ---- */

/* Bytes of the file: of a section, or with section 0 of a header. */
typedef struct extent {
    uint64_t start, end;
    uint32_t section;
    const char *name;
} extent;

static int by_start(const void *a, const void *b)
{
    const extent *x = a, *y = b;
    if (x->start != y->start)
        return cbi_order(x->start, y->start);
    return cbi_order(x->section, y->section);
}

/* Bytes that the section has in the file. */
static uint64_t file_size(const cbi_section *s)
{
    return s->data.size ? s->size : 0;
}

/* Both views of initialised data name the same bytes. */
static bool are_twins(const cbi_object *o, const extent *a, const extent *b)
{
    return a->section && b->section && a->start == b->start && a->end == b->end &&
           ((o->sections[a->section].flags ^ o->sections[b->section].flags) & SHF_CUDA_MERCURY);
}

/* A Mercury section that has all bytes of one before it, which is none. */
static bool follows_twin(const cbi_object *o, uint32_t index)
{
    const cbi_section *s = &o->sections[index];
    for (uint32_t i = 1; i < index; i++) {
        const cbi_section *t = &o->sections[i];
        if (t->offset == s->offset && file_size(t) == file_size(s))
            return s->flags & ~t->flags & SHF_CUDA_MERCURY;
    }
    return false;
}

/* One behind the other, but for a few twins, with the section header table behind the last: as
 * tools write them. */
static bool is_tidy(const cbi_object *o)
{
    uint64_t end = o->class->size[CBI_ELF_EHDR];
    unsigned twins = 0;
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (!s->data.size)
            continue;
        if (s->offset >= end)
            end = s->offset + file_size(s);
        else if (twins++ >= MAX_TWINS || !follows_twin(o, i))
            return false;
    }
    return o->shoff >= end &&
           (!o->phnum || o->phoff >= cbi_object_header_place(o, o->section_count));
}

static size_t list_extents(const cbi_object *o, extent *list)
{
    size_t n = 0;
    list[n++] = (extent){0, o->class->size[CBI_ELF_EHDR], 0, "the ELF header"};
    list[n++] = (extent){o->shoff, cbi_object_header_place(o, o->section_count), 0,
                         "the section header table"};
    if (o->phnum && o->phnum != PN_XNUM)
        list[n++] = (extent){o->phoff, o->phoff + (uint64_t)o->phnum * o->phentsize, 0,
                             "the program header table"};
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (s->data.size)
            list[n++] = (extent){s->offset, s->offset + file_size(s), i, s->name};
    }
    qsort(list, n, sizeof *list, by_start);
    return n;
}

static void check_overlap(cbi_object_reader *r)
{
    const cbi_object *o = r->object;
    if (is_tidy(o))
        return;
    extent *list = cbi_large_alloc(r->ctx, (o->section_count + (size_t)2) * sizeof *list);
    size_t n = list_extents(o, list);
    const extent *last = &list[0]; /* the one that reaches furthest so far */
    for (size_t i = 1; i < n; i++) {
        const extent *e = &list[i];
        if (e->start < last->end && !are_twins(o, e, last)) {
            const extent *own = e->section ? e : last, *other = e->section ? last : e;
            cbi_object_doubt(r, CBI_RULE_SECTION_OVERLAP, cbi_object_header_place(o, own->section),
                             own->name, NULL, "bytes 0x%llx to 0x%llx overlap with %s",
                             (unsigned long long)own->start, (unsigned long long)own->end,
                             other->name);
        }
        if (e->end > last->end)
            last = e;
    }
    cbi_large_free(r->ctx, list);
}

/* ---- fields of section headers ---- */

/* What sh_entsize of a type says; 0: nothing is known. */
static uint64_t record_size(uint32_t type)
{
    switch (type) {
    case SHT_CUDA_CALLGRAPH:
    case SHT_CUDA_PROTOTYPE:
    case SHT_CUDA_RELOCINFO:
        return 8;
    case SHT_CUDA_UFT_ENTRY:
    case SHT_CUDA_UDT_ENTRY:
        return 32;
    case SHT_SYMTAB_SHNDX:
        return 4;
    default:
        return 0;
    }
}

static bool has_bytes_only(uint32_t type)
{
    return type == SHT_PROGBITS || type == SHT_NOBITS || type == SHT_NOTE ||
           type == SHT_CUDA_INFO || type == SHT_CUDA_MERC_INFO || type == SHT_CUDA_COMPAT;
}

static void check_header(cbi_object_reader *r, uint32_t i)
{
    const cbi_object *o = r->object;
    const cbi_section *s = &o->sections[i];
    if (s->align & (s->align - 1))
        cbi_object_doubt(r, CBI_RULE_SECTION_ALIGNMENT, cbi_object_header_place(o, i), s->name,
                         NULL, "section %u: alignment 0x%llx is no power of two", i,
                         (unsigned long long)s->align);
    if (s->link == i)
        cbi_object_doubt(r, CBI_RULE_SECTION_SELF, cbi_object_header_place(o, i), s->name, NULL,
                         "sh_link of section %u names the section itself", i);
    uint64_t want = record_size(s->type);
    bool text = s->type == SHT_STRTAB && s->entsize > 1; /* some assemblers write 1 */
    if (text || (want ? s->entsize != want : has_bytes_only(s->type) && s->entsize))
        cbi_object_doubt(r, CBI_RULE_SECTION_RECORDS, cbi_object_header_place(o, i), s->name, NULL,
                         "sh_entsize is %llu instead of %llu", (unsigned long long)s->entsize,
                         (unsigned long long)want);
}

static void check_notes(cbi_object_reader *r, const cbi_section *s)
{
    static const char owner[] = "NVIDIA Corp";
    size_t pos = 0;
    cbi_note note;
    cbi_tkinfo tkinfo;
    while (cbi_note_next(s->data, &pos, &note)) {
        bool known =
            note.owner.size == sizeof owner && memcmp(note.owner.data, owner, sizeof owner) == 0;
        if (!known || (note.type == NT_CUDA_CUINFO && note.desc.size < CUINFO_LEAST) ||
            (note.type == NT_CUDA_TKINFO && !cbi_tkinfo_read(note.desc, &tkinfo)))
            cbi_object_doubt(r, CBI_RULE_NOTE_RECORD, s->offset + note.offset, s->name, NULL,
                             "the note at 0x%zx, type %u with %zu bytes, is no note of this kind",
                             note.offset, note.type, note.desc.size);
    }
    if (pos != s->data.size)
        cbi_object_doubt(r, CBI_RULE_NOTE_RECORD, s->offset + pos, s->name, NULL,
                         "the note at 0x%zx does not end inside the section's 0x%zx bytes", pos,
                         s->data.size);
}

void cbi_object_doubt_sections(cbi_object_reader *r)
{
    const cbi_object *o = r->object;
    check_null_section(r);
    for (uint32_t i = 1; i < o->section_count; i++) {
        check_header(r, i);
        if (o->sections[i].type == SHT_NOTE)
            check_notes(r, &o->sections[i]);
    }
    check_overlap(r);
}
