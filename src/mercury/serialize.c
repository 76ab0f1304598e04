/* Bytes of the final file: ELF header, sections, section headers, program headers. */
#include "base/sink.h"
#include "mercury/emit.h"

typedef CBI_VEC(cbi_segment) segment_list;

static uint32_t segment_flags(const cbi_emit_sec *s)
{
    if (s->flags & SHF_EXECINSTR)
        return PF_R | PF_X;
    return s->flags & SHF_WRITE ? PF_R | PF_W : PF_R;
}

/* One segment per run of sections of one kind.  Memory without bytes comes behind the offset of the
 * last such section, all of it once more: the offsets already hold the alignment gaps. */
static cbi_segment run_segment(const cbi_emit *em, size_t first, size_t end)
{
    const cbi_emit_sec *secs = em->secs.items;
    cbi_segment seg = {
        .type = PT_LOAD, .flags = segment_flags(&secs[first]), .offset = secs[first].offset};
    const cbi_emit_sec *last_memory = NULL;
    for (size_t i = first; i < end; i++)
        if (secs[i].stored)
            seg.filesz = secs[i].offset + secs[i].size - seg.offset;
        else
            last_memory = &secs[i];
    if (last_memory)
        seg.filesz = last_memory->offset - seg.offset;
    uint64_t top = seg.offset + seg.filesz;
    for (size_t i = first; i < end; i++)
        if (!secs[i].stored)
            top = cbi_align_up(top, secs[i].align) + secs[i].size;
    seg.memsz = top - seg.offset;
    return seg;
}

static void load_segments(const cbi_emit *em, segment_list *out)
{
    const cbi_emit_sec *secs = em->secs.items;
    size_t first = 0; /* of the run; 0 between two */
    for (size_t i = 1; i < em->first_mirror; i++) {
        bool loaded = secs[i].flags & (SHF_ALLOC | SHF_WRITE);
        if (first && (!loaded || segment_flags(&secs[i]) != segment_flags(&secs[first]))) {
            cbi_vec_push(em->lk->ctx, out, run_segment(em, first, i));
            first = 0;
        }
        if (loaded && !first)
            first = i;
    }
    if (first)
        cbi_vec_push(em->lk->ctx, out, run_segment(em, first, em->first_mirror));
}

static void section_header(const void *user, size_t i, const cbi_headers *headers)
{
    const cbi_emit *em = user;
    if (!i)
        return;
    uint8_t *p = cbi_link_header_at(headers, i);
    const cbi_emit_sec *s = &em->secs.items[i];
    cbi_st32(p, s->name_offset);
    cbi_st32(p + 4, s->type);
    cbi_st64(p + 8, s->flags);
    cbi_st64(p + 24, s->offset);
    cbi_st64(p + 32, s->size);
    cbi_st32(p + 40, s->link);
    cbi_st32(p + 44, s->info);
    cbi_st64(p + 48, s->align);
    cbi_st64(p + 56, s->entsize);
}

void cbi_mercury_write(const cbi_emit *em, cbi_sink *sink)
{
    segment_list segments = {0};
    size_t count = em->secs.len;
    if (em->lk->exec) {
        cbi_vec_push(em->lk->ctx, &segments, ((cbi_segment){0}));
        cbi_vec_push(em->lk->ctx, &segments, ((cbi_segment){0}));
        load_segments(em, &segments);
        uint64_t phoff = em->shoff + count * sizeof(Elf64_Shdr);
        uint64_t size = segments.len * sizeof(Elf64_Phdr);
        segments.items[0] = (cbi_segment){PT_PHDR, PF_R, phoff, size, size};
        segments.items[1] = (cbi_segment){PT_LOAD, PF_R, phoff, size, size};
    }
    const cbi_file_tables tables = {
        .kind = EF_CUDA_KIND_CAPMERC,
        .section_count = count,
        .shoff = em->shoff,
        .section_header = section_header,
        .header_rounds = count,
        .user = em,
        .segments = segments.items,
        .segment_count = segments.len,
    };
    cbi_link_write_header(em->lk, &tables, sink);
    for (size_t i = 1; i < count; i++) {
        const cbi_emit_sec *s = &em->secs.items[i];
        if (!s->stored || s->alias)
            continue;
        cbi_sink_pad_to(sink, s->offset);
        cbi_sink_write(sink, s->bytes, s->size);
    }
    cbi_link_write_tables(em->lk, &tables, sink);
}
