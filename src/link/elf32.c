/* The output file in class 32: the same sections with smaller records, so that everything behind
 * the first of them moves.  Made of the file of class 64. */
#include "link/bytes.h"

typedef struct elf32 {
    cbi_ctx *ctx;
    const cbi_object *from;
    const cbi_elf_class *class;
    uint64_t *offset; /* of each section */
    uint64_t *size;
    cbi_buf out;
} elf32;

static uint64_t align_to(elf32 *e, uint64_t align)
{
    cbi_buf_append(e->ctx, &e->out, NULL, cbi_align_up(e->out.len, align) - e->out.len);
    return e->out.len;
}

static void append_record(elf32 *e, cbi_elf_record record, const uint8_t *wide)
{
    uint8_t *narrow = cbi_buf_append(e->ctx, &e->out, NULL, e->class->size[record]);
    if (!cbi_elf_narrow(record, wide, narrow))
        cbi_fatal(e->ctx, "elf32-range", NULL,
                  "only small addresses and relocation types below 256 can be written",
                  "a number in the output does not fit into ELF32");
}

static void append_section(elf32 *e, uint32_t i)
{
    const cbi_section *s = &e->from->sections[i];
    const cbi_elf_record record = cbi_section_record(s->type);
    const bool table = record != CBI_ELF_RECORDS;
    e->offset[i] = align_to(e, table ? e->class->align : s->align);
    e->size[i] = s->size;
    if (!table) {
        cbi_buf_append(e->ctx, &e->out, s->data.data, s->data.size);
        return;
    }
    const size_t stride = e->from->class->size[record];
    for (size_t at = 0; at < s->data.size; at += stride)
        append_record(e, record, s->data.data + at);
    e->size[i] = s->size / stride * e->class->size[record];
}

static void append_headers(elf32 *e)
{
    const cbi_object *o = e->from;
    for (uint32_t i = 0; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        const cbi_elf_record record = cbi_section_record(s->type);
        const bool table = record != CBI_ELF_RECORDS;
        uint8_t h[sizeof(Elf64_Shdr)];
        memcpy(h, o->bytes.data + cbi_object_header_place(o, i), sizeof h);
        if (i) {
            cbi_st64(h + offsetof(Elf64_Shdr, sh_offset), e->offset[i]);
            cbi_st64(h + offsetof(Elf64_Shdr, sh_size), e->size[i]);
        }
        if (table) {
            cbi_st64(h + offsetof(Elf64_Shdr, sh_addralign), e->class->align);
            cbi_st64(h + offsetof(Elf64_Shdr, sh_entsize), e->class->size[record]);
        }
        append_record(e, CBI_ELF_SHDR, h);
    }
}

static bool is_loaded(const cbi_section *s, bool writable)
{
    return (s->flags & SHF_ALLOC) && !(s->flags & SHF_WRITE) == !writable;
}

/* The segment of all sections that are loaded this way. */
static void move_segment(const elf32 *e, cbi_program_header *h)
{
    const cbi_object *o = e->from;
    const bool writable = h->flags & PF_W;
    uint64_t start = UINT64_MAX, file = UINT64_MAX, memory;
    for (uint32_t i = 1; i < o->section_count; i++) {
        if (!is_loaded(&o->sections[i], writable))
            continue;
        if (start == UINT64_MAX)
            start = e->offset[i];
        file = e->offset[i];
        if (cbi_section_has_data(o->sections[i].type))
            file += e->size[i];
    }
    memory = file;
    for (uint32_t i = 1; i < o->section_count; i++)
        if (is_loaded(&o->sections[i], writable) && !cbi_section_has_data(o->sections[i].type))
            memory = cbi_align_up(memory, o->sections[i].align) + e->size[i];
    h->offset = start;
    h->file_size = file - start;
    h->memory_size = memory - start;
}

static void append_segments(elf32 *e, uint64_t phoff)
{
    const cbi_object *o = e->from;
    for (uint64_t i = 0; i < o->phnum; i++) {
        cbi_program_header h = cbi_object_segment(o, i);
        if (h.offset == o->phoff) {
            h.offset = phoff;
            h.file_size = h.memory_size = (uint64_t)o->phnum * e->class->size[CBI_ELF_PHDR];
        } else {
            move_segment(e, &h);
        }
        uint8_t p[sizeof(Elf64_Phdr)] = {0};
        cbi_st32(p + offsetof(Elf64_Phdr, p_type), h.type);
        cbi_st32(p + offsetof(Elf64_Phdr, p_flags), h.flags);
        cbi_st64(p + offsetof(Elf64_Phdr, p_offset), h.offset);
        cbi_st64(p + offsetof(Elf64_Phdr, p_filesz), h.file_size);
        cbi_st64(p + offsetof(Elf64_Phdr, p_memsz), h.memory_size);
        cbi_st64(p + offsetof(Elf64_Phdr, p_align), e->class->align);
        append_record(e, CBI_ELF_PHDR, p);
    }
}

/* The ABI of that class has another layout of e_flags. */
static void fill_header(elf32 *e, uint64_t shoff, uint64_t phoff)
{
    const cbi_object *o = e->from;
    const cbi_cuinfo info = cbi_object_cuinfo(o);
    const uint8_t *size = e->class->size;
    uint8_t h[sizeof(Elf64_Ehdr)];
    memcpy(h, o->bytes.data, sizeof h);
    h[EI_CLASS] = ELFCLASS32;
    h[EI_OSABI] = ELFOSABI_CUDA_LEGACY;
    h[EI_ABIVERSION] = CUDA_ABI_VERSION_LEGACY;
    cbi_st32(h + offsetof(Elf64_Ehdr, e_version), info.toolkit);
    cbi_st32(h + offsetof(Elf64_Ehdr, e_flags), o->sm | (uint32_t)info.virtual_sm << 16);
    cbi_st64(h + offsetof(Elf64_Ehdr, e_shoff), shoff);
    cbi_st64(h + offsetof(Elf64_Ehdr, e_phoff), o->phnum ? phoff : 0);
    cbi_st16(h + offsetof(Elf64_Ehdr, e_ehsize), size[CBI_ELF_EHDR]);
    cbi_st16(h + offsetof(Elf64_Ehdr, e_phentsize), o->phnum ? size[CBI_ELF_PHDR] : 0);
    cbi_st16(h + offsetof(Elf64_Ehdr, e_shentsize), size[CBI_ELF_SHDR]);
    cbi_elf_narrow(CBI_ELF_EHDR, h, e->out.items);
}

cbi_span cbi_link_write_elf32(cbi_ctx *ctx, cbi_span image)
{
    cbi_object object;
    if (cbi_object_read(ctx, "output", image, &object, NULL) != CBI_OBJECT_OK)
        cbi_fatal(ctx, "elf32-range", NULL, "cubind check names what is wrong with it",
                  "the output is too strange for ELF32");
    elf32 e = {.ctx = ctx, .from = &object, .class = cbi_elf_class_of(ELFCLASS32)};
    e.offset = CBI_NEW_ARRAY(ctx, object.section_count, uint64_t);
    e.size = CBI_NEW_ARRAY(ctx, object.section_count, uint64_t);
    cbi_buf_append(ctx, &e.out, NULL, e.class->size[CBI_ELF_EHDR]);
    for (uint32_t i = 1; i < object.section_count; i++)
        append_section(&e, i);
    uint64_t shoff = align_to(&e, e.class->align);
    append_headers(&e);
    uint64_t phoff = e.out.len;
    append_segments(&e, phoff);
    fill_header(&e, shoff, phoff);
    return (cbi_span){e.out.items, e.out.len};
}
