/* The output file: ELF header, sections, section headers, program headers, in this order. */
#include "base/fetch.h"
#include "link/bytes.h"
#include "link/loops.h"
#include "link/tables.h"

/* With a limit of memory no output is larger than this. */
enum { OUTPUT_FLOOR = 64 << 20, OUTPUT_MULTIPLE = 64 };

/* Executables use plain types for memory-space sections. */
static uint32_t output_type(const cbi_linker *lk, const cbi_osec *sec)
{
    if (!lk->exec || lk->mercury)
        return sec->type;
    if (cbi_is_constant_type(sec->type) || sec->type == SHT_CUDA_GLOBAL_INIT)
        return SHT_PROGBITS;
    if (sec->type == SHT_CUDA_GLOBAL || sec->type == SHT_CUDA_SHARED ||
        sec->type == SHT_CUDA_SHARED_RESERVED)
        return SHT_NOBITS;
    return sec->type;
}

static uint32_t output_link(const cbi_linker *lk, const cbi_osec *sec)
{
    switch (sec->type) {
    case SHT_SYMTAB:
        return cbi_section_index(lk, lk->records->strtab);
    case SHT_SYMTAB_SHNDX:
    case SHT_REL:
    case SHT_RELA:
    case SHT_CUDA_RESOLVED_RELA:
    case SHT_CUDA_INFO:
    case SHT_CUDA_CALLGRAPH:
    case SHT_CUDA_PROTOTYPE:
    case SHT_CUDA_UFT:
    case SHT_CUDA_UFT_ENTRY:
    case SHT_CUDA_UDT_ENTRY:
        return cbi_section_index(lk, lk->records->symtab);
    case SHT_PROGBITS:
        return sec->flags & SHF_EXECINSTR ? cbi_section_index(lk, lk->records->symtab) : 0;
    default:
        return sec == lk->records->cuinfo ? cbi_section_index(lk, lk->records->tkinfo) : 0;
    }
}

static uint32_t output_info(const cbi_linker *lk, const cbi_osec *sec)
{
    if (sec == lk->records->symtab)
        return lk->tables->first_global;
    if (sec == lk->records->cuinfo)
        return lk->records->compat ? cbi_section_index(lk, lk->records->compat) : 0;
    if (cbi_is_code(sec))
        return cbi_symbol_index(lk, sec->func->sym) | (uint32_t)sec->info_registers << 24;
    return sec->target ? cbi_section_index(lk, sec->target) : 0;
}

void cbi_link_section_header(const cbi_linker *lk, const cbi_osec *sec, uint8_t *p)
{
    uint64_t flags = sec->flags;
    if (cbi_is_code(sec) && cbi_properties_of(lk, sec->func)->barriers_told)
        flags &= ~SHF_CUDA_BARRIERS_MASK;
    if (sec == lk->records->cuinfo && lk->records->compat)
        flags |= SHF_INFO_LINK;
    const cbi_out_section *place = cbi_out_of(lk, sec);
    cbi_st32(p, place->name);
    cbi_st32(p + 4, output_type(lk, sec));
    cbi_st64(p + 8, flags);
    cbi_st64(p + 24, place->offset);
    cbi_st64(p + 32, place->size);
    cbi_st32(p + 40, output_link(lk, sec));
    cbi_st32(p + 44, output_info(lk, sec));
    cbi_st64(p + 48, sec->align);
    cbi_st64(p + 56, sec->entsize);
}

/* ---- program headers ---- */

static uint64_t end_of(const cbi_linker *lk, const cbi_osec *sec)
{
    return cbi_out_of(lk, sec)->offset + cbi_out_of(lk, sec)->size;
}

static size_t make_segments(const cbi_linker *lk, cbi_segment *ret_segments)
{
    const cbi_loaded *loaded = &lk->tables->loaded;
    size_t n = 1;
    if (loaded->first_ro) {
        uint64_t start = cbi_out_of(lk, loaded->first_ro)->offset;
        uint64_t size = end_of(lk, loaded->last_ro) - start;
        ret_segments[n++] = (cbi_segment){PT_LOAD, PF_R | PF_X, start, size, size};
    }
    if (loaded->first_rw) {
        uint64_t start = cbi_out_of(lk, loaded->first_rw)->offset;
        uint64_t file = (loaded->last_nobits ? cbi_out_of(lk, loaded->last_nobits)->offset
                                             : end_of(lk, loaded->last_data)) -
                        start;
        uint64_t end = start + file;
        for (size_t i = 1; i < lk->tables->out.len; i++) {
            const cbi_osec *sec = lk->tables->out.items[i];
            if ((sec->flags & SHF_WRITE) && !cbi_section_has_data(sec->type))
                end = cbi_align_up(end, sec->align) + sec->size;
        }
        ret_segments[n++] = (cbi_segment){PT_LOAD, PF_R | PF_W, start, file, end - start};
    }
    uint64_t phoff = lk->tables->shoff + lk->tables->out.len * sizeof(Elf64_Shdr);
    uint64_t size = (n + 1) * sizeof(Elf64_Phdr);
    ret_segments[0] = (cbi_segment){PT_PHDR, PF_R | PF_X, phoff, size, size};
    ret_segments[n++] = (cbi_segment){PT_LOAD, PF_R | PF_X, phoff, size, size};
    return n;
}

/* ---- what both views share ---- */

/* Contents come from the inputs; an alignment of gigabytes is damage, or worth an option. */
static void check_size(const cbi_linker *lk, const cbi_file_tables *t)
{
    uint64_t most = OUTPUT_FLOOR + OUTPUT_MULTIPLE * (uint64_t)lk->opt->nv_host.size;
    for (size_t i = 0; i < lk->symbols->objs.len; i++)
        most += OUTPUT_MULTIPLE * (uint64_t)lk->symbols->objs.items[i]->object.bytes.size;
    if (lk->ctx->memory_limit && !lk->opt->any_size && t->shoff > most)
        cbi_fatal(lk->ctx, "output-too-large", NULL,
                  "inputs with alignments like that are damaged; --memory-limit allows any size",
                  "The output would have %llu bytes, more than %d times the inputs and 64 MiB",
                  (unsigned long long)t->shoff, OUTPUT_MULTIPLE);
}

void cbi_link_write_header(const cbi_linker *lk, const cbi_file_tables *t, cbi_sink *sink)
{
    check_size(lk, t);
    static const uint8_t ident[] = {
        0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, ELFOSABI_CUDA, CUDA_ABI_VERSION};
    uint8_t *p = cbi_alloc(lk->ctx, sizeof(Elf64_Ehdr));
    bool segments = lk->exec || t->kind == EF_CUDA_KIND_SASS;
    memcpy(p, ident, sizeof ident);
    cbi_st16(p + 16, lk->exec ? ET_EXEC : ET_REL);
    cbi_st16(p + 18, EM_CUDA);
    cbi_st32(p + 20, 1);
    cbi_st64(p + 32, t->segment_count ? t->shoff + t->section_count * sizeof(Elf64_Shdr) : 0);
    cbi_st64(p + 40, t->shoff);
    /* The PTX of each module with debug data lies before it. */
    uint32_t notes = cbi_section_index(lk, lk->records->cuinfo);
    cbi_st32(p + 48, EF_CUDA_CUINFO_OF(notes, t->kind) << 24 | lk->opt->arch->sm << 8 | t->kind);
    cbi_st16(p + 52, sizeof(Elf64_Ehdr));
    cbi_st16(p + 54, segments ? sizeof(Elf64_Phdr) : 0);
    cbi_st16(p + 56, (uint16_t)t->segment_count);
    cbi_st16(p + 58, sizeof(Elf64_Shdr));
    cbi_st16(p + 60, (uint16_t)(t->section_count > SHN_LORESERVE ? 0 : t->section_count));
    cbi_st16(p + 62, (uint16_t)cbi_section_index(lk, lk->records->shstrtab));
    cbi_sink_write(sink, p, sizeof(Elf64_Ehdr));
}

/* Section headers while they are made, in parts for which memory that came back has room. */
enum { HEADERS_IN_PART = 256 };
struct cbi_headers {
    const cbi_file_tables *tables;
    uint8_t **parts;
};

uint8_t *cbi_link_header_at(const cbi_headers *headers, size_t i)
{
    uint8_t *at = headers->parts[i / HEADERS_IN_PART] + i % HEADERS_IN_PART * sizeof(Elf64_Shdr);
    return memset(at, 0, sizeof(Elf64_Shdr));
}

static size_t headers_in(const cbi_file_tables *t, size_t part)
{
    size_t left = t->section_count - part * HEADERS_IN_PART;
    return left < HEADERS_IN_PART ? left : HEADERS_IN_PART;
}

static void make_headers(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    (void)lk;
    const cbi_headers *headers = arg;
    for (size_t i = share->first; i < share->end; i++)
        headers->tables->section_header(headers->tables->user, i, headers);
}

static void write_section_headers(const cbi_linker *lk, const cbi_file_tables *t, cbi_sink *sink)
{
    const size_t parts = (t->section_count + HEADERS_IN_PART - 1) / HEADERS_IN_PART;
    cbi_headers headers = {t, CBI_NEW_ARRAY(lk->ctx, parts, uint8_t *)};
    for (size_t i = 0; i < parts; i++)
        headers.parts[i] =
            CBI_ARRAY_TO_FILL(lk->ctx, headers_in(t, i) * sizeof(Elf64_Shdr), uint8_t);
    uint8_t *null = cbi_link_header_at(&headers, 0);
    if (t->section_count > SHN_LORESERVE) /* nvlink takes one more than the rule allows */
        cbi_st64(null + 32, t->section_count);
    cbi_link_in_shares(lk, t->header_rounds, make_headers, &headers);
    for (size_t i = 0; i < parts; i++)
        cbi_sink_write(sink, headers.parts[i], headers_in(t, i) * sizeof(Elf64_Shdr));
}

void cbi_link_write_tables(const cbi_linker *lk, const cbi_file_tables *t, cbi_sink *sink)
{
    cbi_sink_pad_to(sink, t->shoff);
    write_section_headers(lk, t, sink);
    uint8_t *p = cbi_alloc(lk->ctx, t->segment_count * sizeof(Elf64_Phdr));
    for (size_t i = 0; i < t->segment_count; i++) {
        const cbi_segment *s = &t->segments[i];
        uint8_t *at = p + i * sizeof(Elf64_Phdr);
        cbi_st32(at, s->type);
        cbi_st32(at + 4, s->flags);
        cbi_st64(at + 8, s->offset);
        cbi_st64(at + 32, s->filesz);
        cbi_st64(at + 40, s->memsz);
        cbi_st64(at + 48, 8);
    }
    cbi_sink_write(sink, p, t->segment_count * sizeof(Elf64_Phdr));
}

/* In the order of creation, in which sections lie in memory, and what they belong to beside them.
 */
static void out_section_header(const void *user, size_t i, const cbi_headers *headers)
{
    const cbi_linker *lk = user;
    cbi_fetch(CBI_LATER(lk->records->secs.items, i, lk->records->secs.len));
    const uint32_t index = lk->tables->places[i].index;
    if (index)
        cbi_link_section_header(lk, lk->records->secs.items[i], cbi_link_header_at(headers, index));
}

/* What follows each other in memory and in the file. */
typedef struct run {
    const uint8_t *bytes;
    uint64_t offset, size;
} run;

static void write_run(const run *r, cbi_sink *sink)
{
    if (!r->size)
        return;
    cbi_sink_pad_to(sink, r->offset);
    cbi_sink_write(sink, r->bytes, r->size);
}

/* Piece by piece with zeros between. */
static void write_pieces(const cbi_osec *sec, const cbi_out_section *place, cbi_sink *sink)
{
    for (size_t i = 0; i < sec->pieces.len; i++) {
        const cbi_piece *piece = &sec->pieces.items[i];
        cbi_sink_pad_to(sink, place->offset + piece->offset);
        cbi_sink_write(sink, piece->bytes.data, piece->bytes.size);
    }
    cbi_sink_pad_to(sink, place->offset + place->size);
}

/* In the order of the file.  Most sections lie in one place: of them only that is looked at. */
static void write_contents(const cbi_linker *lk, cbi_sink *sink)
{
    const size_t count = lk->tables->out.len;
    const cbi_out_section *places = lk->tables->places;
    uint32_t *numbers = CBI_NEW_ARRAY(lk->ctx, count, uint32_t); /* of sections, by index */
    for (size_t i = 0; i < lk->records->secs.len; i++)
        numbers[places[i].index] = (uint32_t)i;
    run all = {0};
    for (size_t i = 1; i < count; i++) {
        cbi_fetch(&places[CBI_LATER(numbers, i, count)]);
        const cbi_out_section *place = &places[numbers[i]];
        if (place->bytes && place->offset == all.offset + all.size &&
            (uintptr_t)place->bytes == (uintptr_t)all.bytes + all.size) {
            all.size += place->size;
            continue;
        }
        if (place->bytes) {
            write_run(&all, sink);
            all = (run){place->bytes, place->offset, place->size};
        } else if (cbi_section_has_data(lk->tables->out.items[i]->type)) {
            write_run(&all, sink);
            all = (run){0};
            write_pieces(lk->tables->out.items[i], place, sink);
        }
    }
    write_run(&all, sink);
    cbi_take_back(lk->ctx, numbers, count * sizeof *numbers);
}

void cbi_link_check_emptied(const cbi_linker *lk)
{
    if (!lk->quirks.aliases_emptied || !lk->exec || !lk->from_hopper)
        return;
    for (size_t i = 0; i < lk->records->secs.len; i++) {
        const cbi_out_section *place = &lk->tables->places[i];
        const cbi_osec *sec = lk->records->secs.items[i];
        if (!place->index || place->size || !(sec->flags & SHF_EXECINSTR) || !sec->func ||
            sec->size)
            continue;
        cbi_fatal(lk->ctx, "empty-code", &(cbi_place){.section = sec->name->s},
                  "the function is an alias where nvlink had a weak function before, and nvlink "
                  "throws its code away; without --emulate this links",
                  "Internal error: Negative size encountered");
    }
}

void cbi_link_write(const cbi_linker *lk, cbi_sink *sink)
{
    cbi_segment segments[4];
    const cbi_file_tables tables = {
        .kind = EF_CUDA_KIND_SASS,
        .section_count = lk->tables->out.len,
        .shoff = lk->tables->shoff,
        .section_header = out_section_header,
        .header_rounds = lk->records->secs.len,
        .user = lk,
        .segments = segments,
        .segment_count = lk->exec ? make_segments(lk, segments) : 0,
    };
    cbi_link_write_header(lk, &tables, sink);
    write_contents(lk, sink);
    cbi_link_write_tables(lk, &tables, sink);
}
