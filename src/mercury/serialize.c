/* Bytes of the final file: ELF header, sections, section headers, program headers. */
#include "base/sink.h"
#include "mercury/emit.h"

typedef struct segment {
    uint32_t type, flags;
    uint64_t offset, filesz, memsz;
} segment;

typedef struct segments {
    CBI_VEC(segment) list;
} segments;

static uint32_t segment_flags(const cbi_emit_sec *s)
{
    if (s->flags & SHF_EXECINSTR)
        return PF_R | PF_X;
    return s->flags & SHF_WRITE ? PF_R | PF_W : PF_R;
}

/* One segment per run of sections of one kind.  Memory without bytes comes behind the offset of the
 * last such section, all of it once more: the offsets already hold the alignment gaps. */
static segment run_segment(const cbi_emit *em, size_t first, size_t end, uint32_t flags)
{
    const cbi_emit_sec *secs = em->secs.items;
    segment seg = {PT_LOAD, flags, secs[first].offset, 0, 0};
    const cbi_emit_sec *last_memory = NULL;
    for (size_t i = first; i < end; i++) {
        if (segment_flags(&secs[i]) != flags || !(secs[i].flags & (SHF_ALLOC | SHF_WRITE)))
            continue;
        if (secs[i].stored)
            seg.filesz = secs[i].offset + secs[i].size - seg.offset;
        else
            last_memory = &secs[i];
    }
    if (last_memory)
        seg.filesz = last_memory->offset - seg.offset;
    uint64_t top = seg.offset + seg.filesz;
    for (size_t i = first; i < end; i++)
        if (!secs[i].stored)
            top = cbi_align_up(top, secs[i].align) + secs[i].size;
    seg.memsz = top - seg.offset;
    return seg;
}

static void load_segments(const cbi_emit *em, segments *out)
{
    size_t first = 0;
    uint32_t flags = 0;
    for (size_t i = 1; i <= em->first_mirror; i++) {
        const cbi_emit_sec *s = &em->secs.items[i];
        bool loaded = i < em->first_mirror && (s->flags & (SHF_ALLOC | SHF_WRITE));
        if (first && (!loaded || segment_flags(s) != flags)) {
            cbi_vec_push(em->lk->ctx, &out->list, run_segment(em, first, i, flags));
            first = 0;
        }
        if (loaded && !first) {
            first = i;
            flags = segment_flags(s);
        }
    }
}

static void elf_header(const cbi_emit *em, size_t segment_count, uint8_t *p)
{
    const cbi_linker *lk = em->lk;
    size_t count = em->secs.len;
    memset(p, 0, sizeof(Elf64_Ehdr));
    memcpy(p, ELFMAG, SELFMAG);
    p[EI_CLASS] = ELFCLASS64;
    p[EI_DATA] = ELFDATA2LSB;
    p[EI_VERSION] = EV_CURRENT;
    p[EI_OSABI] = ELFOSABI_CUDA;
    p[EI_ABIVERSION] = CUDA_ABI_VERSION;
    cbi_st16(p + 16, lk->exec ? ET_EXEC : ET_REL);
    cbi_st16(p + 18, EM_CUDA);
    cbi_st32(p + 20, 1);
    cbi_st64(p + 32, segment_count ? em->shoff + count * sizeof(Elf64_Shdr) : 0);
    cbi_st64(p + 40, em->shoff);
    uint32_t note = lk->cuinfo->index < 0xff ? lk->cuinfo->index : 0xff;
    cbi_st32(p + 48, note << 24 | lk->opt->arch->sm << 8 | EF_CUDA_KIND_CAPMERC);
    cbi_st16(p + 52, sizeof(Elf64_Ehdr));
    cbi_st16(p + 54, lk->exec ? sizeof(Elf64_Phdr) : 0);
    cbi_st16(p + 56, (uint16_t)segment_count);
    cbi_st16(p + 58, sizeof(Elf64_Shdr));
    cbi_st16(p + 60, (uint16_t)(count < SHN_LORESERVE ? count : 0));
    cbi_st16(p + 62, (uint16_t)lk->shstrtab->index);
}

static void section_header(const cbi_emit_sec *s, uint8_t *p)
{
    cbi_st32(p, s->name_offset);
    cbi_st32(p + 4, s->type);
    cbi_st64(p + 8, s->flags);
    cbi_st64(p + 16, 0);
    cbi_st64(p + 24, s->offset);
    cbi_st64(p + 32, s->size);
    cbi_st32(p + 40, s->link);
    cbi_st32(p + 44, s->info);
    cbi_st64(p + 48, s->align);
    cbi_st64(p + 56, s->entsize);
}

static void program_header(const segment *s, uint8_t *p)
{
    memset(p, 0, sizeof(Elf64_Phdr));
    cbi_st32(p, s->type);
    cbi_st32(p + 4, s->flags);
    cbi_st64(p + 8, s->offset);
    cbi_st64(p + 32, s->filesz);
    cbi_st64(p + 40, s->memsz);
    cbi_st64(p + 48, 8);
}

void cbi_mercury_write(const cbi_emit *em, cbi_sink *sink)
{
    segments segs = {0};
    size_t count = em->secs.len;
    if (em->lk->exec) {
        cbi_vec_push(em->lk->ctx, &segs.list, ((segment){0}));
        cbi_vec_push(em->lk->ctx, &segs.list, ((segment){0}));
        load_segments(em, &segs);
        uint64_t phoff = em->shoff + count * sizeof(Elf64_Shdr);
        uint64_t size = segs.list.len * sizeof(Elf64_Phdr);
        segs.list.items[0] = (segment){PT_PHDR, PF_R, phoff, size, size};
        segs.list.items[1] = (segment){PT_LOAD, PF_R, phoff, size, size};
    }
    uint8_t header[sizeof(Elf64_Ehdr)];
    elf_header(em, segs.list.len, header);
    cbi_sink_write(sink, header, sizeof header);
    for (size_t i = 1; i < count; i++) {
        const cbi_emit_sec *s = &em->secs.items[i];
        if (!s->stored || s->alias)
            continue;
        cbi_sink_pad_to(sink, s->offset);
        cbi_sink_write(sink, s->bytes, s->size);
    }
    cbi_sink_pad_to(sink, em->shoff);
    uint8_t entry[sizeof(Elf64_Shdr)] = {0};
    if (count >= SHN_LORESERVE)
        cbi_st64(entry + 32, count);
    cbi_sink_write(sink, entry, sizeof entry);
    for (size_t i = 1; i < count; i++) {
        section_header(&em->secs.items[i], entry);
        cbi_sink_write(sink, entry, sizeof entry);
    }
    for (size_t i = 0; i < segs.list.len; i++) {
        uint8_t p[sizeof(Elf64_Phdr)];
        program_header(&segs.list.items[i], p);
        cbi_sink_write(sink, p, sizeof p);
    }
}
