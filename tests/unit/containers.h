/* Containers built in memory: ELF files, fatbins with one entry, archives. */
#ifndef CBI_UNIT_CONTAINERS_H
#define CBI_UNIT_CONTAINERS_H

#include <elf.h>

#include "base/base.h"
#include "format/fatbin.h"

typedef struct unit_section {
    const char *name;
    uint32_t type;
    cbi_span data;
} unit_section;

static inline cbi_span unit_text(const char *s)
{
    return (cbi_span){(const uint8_t *)s, strlen(s)};
}

/* An ELF64 with these sections and a name table behind them. */
static inline cbi_span unit_elf(cbi_ctx *ctx, uint16_t type, uint16_t machine, uint32_t flags,
                                const unit_section *sections, size_t count)
{
    cbi_buf out = {0}, names = {0}, table = {0};
    static const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    Elf64_Ehdr header = {.e_type = type,
                         .e_machine = machine,
                         .e_version = 1,
                         .e_flags = flags,
                         .e_ehsize = 64,
                         .e_shentsize = 64};
    memcpy(header.e_ident, ident, sizeof ident);
    if (machine == 190) {
        header.e_ident[EI_OSABI] = 0x41;
        header.e_ident[EI_ABIVERSION] = 8;
    }
    cbi_buf_append(ctx, &out, NULL, 64);
    cbi_buf_append(ctx, &table, NULL, 64);
    cbi_buf_append(ctx, &names, "", 1);
    for (size_t i = 0; i <= count; i++) {
        const char *name = i < count ? sections[i].name : ".shstrtab";
        Elf64_Shdr s = {.sh_name = (uint32_t)names.len,
                        .sh_type = i < count ? sections[i].type : SHT_STRTAB};
        cbi_buf_append(ctx, &names, name, strlen(name) + 1);
        cbi_span data = i < count ? sections[i].data : (cbi_span){names.items, names.len};
        s.sh_offset = out.len;
        s.sh_size = data.size;
        cbi_buf_append(ctx, &out, data.data, data.size);
        cbi_buf_append(ctx, &table, &s, 64);
    }
    cbi_buf_append(ctx, &out, NULL, (8 - out.len % 8) % 8);
    header.e_shoff = out.len;
    header.e_shnum = (uint16_t)(count + 2);
    header.e_shstrndx = (uint16_t)(count + 1);
    cbi_buf_append(ctx, &out, table.items, table.len);
    memcpy(out.items, &header, sizeof header);
    return (cbi_span){out.items, out.len};
}

/* A relocatable cubin with nothing in it but what the link looks at first. */
static inline cbi_span unit_cubin(cbi_ctx *ctx, uint16_t type, uint32_t sm)
{
    uint8_t *note = cbi_alloc(ctx, 32);
    cbi_st32(note, 12);
    cbi_st32(note + 4, 8);
    cbi_st32(note + 8, 1000);
    memcpy(note + 12, "NVIDIA Corp", 12);
    cbi_st16(note + 24, 2);
    cbi_st16(note + 26, (uint16_t)sm);
    cbi_st16(note + 28, 130);
    const unit_section sections[] = {{".note.nv.cuinfo", SHT_NOTE, {note, 32}}};
    return unit_elf(ctx, type, 190, 0x1000004 | sm << 8, sections, 1);
}

static inline cbi_span unit_fatbin(cbi_ctx *ctx, uint16_t kind, uint32_t sm, cbi_span payload)
{
    size_t size = (payload.size + 7) & ~(size_t)7;
    uint8_t *out = cbi_alloc(ctx, 16 + 80 + size);
    cbi_st32(out, FATBIN_MAGIC);
    cbi_st16(out + 4, FATBIN_VERSION);
    cbi_st16(out + 6, 16);
    cbi_st64(out + 8, 80 + size);
    cbi_st16(out + 16, kind);
    cbi_st32(out + 20, 80);
    cbi_st64(out + 24, size);
    cbi_st32(out + 36, 64);
    cbi_st32(out + 44, sm);
    cbi_st64(out + 56, FATBIN_FLAG_64BIT);
    cbi_st32(out + 80, 72);
    memcpy(out + 96, payload.data, payload.size);
    return (cbi_span){out, 96 + size};
}

/* A host object with relocatable device code, a module identifier and patterns. */
static inline cbi_span unit_host(cbi_ctx *ctx, cbi_span fatbin, const char *id, cbi_span external)
{
    const unit_section sections[] = {
        {".text", SHT_PROGBITS, unit_text("code")},
        {"__nv_relfatbin", SHT_PROGBITS, fatbin},
        {".nvFatBinSegment", SHT_PROGBITS, unit_text("0123456789abcdef01234567")},
        {"__nv_module_id", SHT_PROGBITS, {(const uint8_t *)id, strlen(id) + 1}},
        {".nvHRKE", SHT_PROGBITS, external},
    };
    return unit_elf(ctx, ET_REL, EM_X86_64, 0, sections, 5);
}

static inline void unit_member(cbi_ctx *ctx, cbi_buf *archive, const char *name, const char *size,
                               cbi_span data)
{
    cbi_buf_printf(ctx, archive, "%-16s%-12d%-6d%-6d%-8s%-10s`\n", name, 0, 0, 0, "644",
                   size ? size : cbi_printf(ctx, "%zu", data.size));
    cbi_buf_append(ctx, archive, data.data, data.size);
    if (archive->len & 1)
        cbi_buf_append(ctx, archive, "\n", 1);
}

#endif
