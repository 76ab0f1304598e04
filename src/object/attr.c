/* Steps through attribute streams and note sections. */
#include "object/object.h"
#include "format/eiattr.h"

bool cbi_note_next(cbi_span section, size_t *pos, cbi_note *ret_note)
{
    cbi_reader r = cbi_reader_at(section, *pos);
    uint32_t owner_size = cbi_read32(&r);
    uint32_t desc_size = cbi_read32(&r);
    cbi_note note = {.type = cbi_read32(&r), .offset = *pos};
    note.owner = cbi_read_bytes(&r, owner_size);
    cbi_read_bytes(&r, (0 - owner_size) & 3);
    note.desc = cbi_read_bytes(&r, desc_size);
    if (r.bad)
        return false;
    size_t rest = section.size - r.pos;
    size_t pad = (0 - desc_size) & 3;
    cbi_read_bytes(&r, pad < rest ? pad : rest); /* the last note may lack its padding */
    *pos = r.pos;
    *ret_note = note;
    return true;
}

bool cbi_tkinfo_read(cbi_span desc, cbi_tkinfo *ret_tkinfo)
{
    enum { STRINGS = 24 }; /* the version and five offsets come first */
    if (desc.size < STRINGS)
        return false;
    cbi_span strings = {desc.data + STRINGS, desc.size - STRINGS};
    const char *text[5];
    for (size_t i = 0; i < CBI_COUNT(text); i++) {
        text[i] = cbi_span_string(strings, cbi_ld32(desc.data + 4 + 4 * i));
        if (!text[i])
            return false;
    }
    *ret_tkinfo = (cbi_tkinfo){.version = cbi_ld32(desc.data),
                               .object_name = text[0],
                               .tool = text[1],
                               .tool_version = text[2],
                               .build = text[3],
                               .options = text[4]};
    return true;
}

void cbi_note_append_header(cbi_ctx *ctx, cbi_buf *out, size_t desc_size, uint32_t type)
{
    static const char owner[] = "NVIDIA Corp";
    cbi_buf_u32(ctx, out, sizeof owner);
    cbi_buf_u32(ctx, out, (uint32_t)desc_size);
    cbi_buf_u32(ctx, out, type);
    cbi_buf_append(ctx, out, owner, sizeof owner);
}

void cbi_tkinfo_append(cbi_ctx *ctx, cbi_buf *out, const cbi_tkinfo *tkinfo)
{
    const char *const text[] = {tkinfo->object_name, tkinfo->tool, tkinfo->tool_version,
                                tkinfo->build, tkinfo->options};
    cbi_buf strings = {0}, desc = {0};
    cbi_buf_u32(ctx, &desc, 2);
    for (size_t i = 0; i < CBI_COUNT(text); i++) {
        const char *s = text[i] ? text[i] : "";
        cbi_buf_u32(ctx, &desc, (uint32_t)strings.len);
        cbi_buf_append(ctx, &strings, s, strlen(s) + 1);
    }
    cbi_buf_append(ctx, &strings, NULL, (size_t)(cbi_align_up(strings.len, 4) - strings.len));
    cbi_note_append_header(ctx, out, desc.len + strings.len, NT_CUDA_TKINFO);
    cbi_buf_append(ctx, out, desc.items, desc.len);
    cbi_buf_append(ctx, out, strings.items, strings.len);
}

cbi_cuinfo cbi_object_cuinfo(const cbi_object *object)
{
    if (object->ident[EI_OSABI] == ELFOSABI_CUDA_LEGACY)
        return (cbi_cuinfo){.present = true,
                            .version = 2,
                            .virtual_sm = object->flags >> 16 & 0xff,
                            .toolkit = (uint16_t)object->version};
    uint32_t index = EF_CUDA_CUINFO(object->flags);
    if (index == EF_CUDA_CUINFO_BY_NAME)
        index = cbi_object_find(object, ".note.nv.cuinfo");
    if (index == 0 || index >= object->section_count || object->sections[index].type != SHT_NOTE)
        return (cbi_cuinfo){.present = false};
    /* header fields of the note are not looked at, as the driver and nvlink do not */
    cbi_span data = object->sections[index].data;
    if (data.size < CUDA_NOTE_HEADER + 8)
        return (cbi_cuinfo){.present = false};
    const uint8_t *desc = data.data + CUDA_NOTE_HEADER;
    return (cbi_cuinfo){.present = true,
                        .version = cbi_ld16(desc),
                        .virtual_sm = cbi_ld16(desc + 2),
                        .toolkit = cbi_ld16(desc + 4),
                        .section = index};
}
