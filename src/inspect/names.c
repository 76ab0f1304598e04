/* Names for display.  Nothing here trusts an index. */
#include "inspect/inspect.h"

const char *cbi_show_section(cbi_ctx *ctx, const cbi_object *object, uint32_t index)
{
    switch (index) {
    case SHN_UNDEF:
        return "UNDEF";
    case SHN_ABS:
        return "ABS";
    case SHN_COMMON:
        return "COMMON";
    default:
        break;
    }
    if (index < object->section_count && *object->sections[index].name)
        return object->sections[index].name;
    return cbi_printf(ctx, "section %u", index);
}

const char *cbi_show_symbol(cbi_ctx *ctx, const cbi_object *object, bool mercury, uint32_t index)
{
    uint32_t count = mercury ? object->merc_symbol_count : object->symbol_count;
    const cbi_symbol *symbols = mercury ? object->merc_symbols : object->symbols;
    if (index == 0)
        return "0";
    if (index >= count)
        return cbi_printf(ctx, "symbol %u", index);
    if (*symbols[index].name)
        return symbols[index].name;
    if (CBI_ST_TYPE(symbols[index].info) == STT_SECTION)
        return cbi_show_section(ctx, object, symbols[index].shndx);
    return cbi_printf(ctx, "symbol %u", index);
}

const char *cbi_show_string(const cbi_object *object, uint32_t offset)
{
    if (!object->strtab)
        return NULL;
    return cbi_span_string(object->sections[object->strtab].data, offset);
}

const char *cbi_show_symbol_type(cbi_ctx *ctx, uint8_t info)
{
    switch (CBI_ST_TYPE(info)) {
    case STT_NOTYPE:
        return "none";
    case STT_OBJECT:
        return "object";
    case STT_FUNC:
        return "function";
    case STT_SECTION:
        return "section";
    case STT_CUDA_TEXTURE:
        return "texture";
    case STT_CUDA_SAMPLER:
        return "sampler";
    case STT_CUDA_SURFACE:
        return "surface";
    case STT_CUDA_OBJECT:
        return "cuda-object";
    default:
        return cbi_printf(ctx, "%u", CBI_ST_TYPE(info));
    }
}

const char *cbi_show_bind(cbi_ctx *ctx, uint8_t info)
{
    switch (CBI_ST_BIND(info)) {
    case STB_LOCAL:
        return "local";
    case STB_GLOBAL:
        return "global";
    case STB_WEAK:
        return "weak";
    default:
        return cbi_printf(ctx, "%u", CBI_ST_BIND(info));
    }
}

const char *cbi_show_other(cbi_ctx *ctx, const cbi_symbol *symbol)
{
    static const char *const spaces[8] = {"",      "global",          "shared",  "local",
                                          "const", "reserved-shared", "space-6", "space-7"};
    static const char *const visibilities[4] = {"", "internal", "hidden", "protected"};
    bool function = CBI_ST_TYPE(symbol->info) == STT_FUNC;
    const char *words[5];
    size_t n = 0;
    words[n++] = spaces[symbol->other >> 5];
    if (symbol->other & STO_CUDA_ENTRY)
        words[n++] = function ? "entry" : "unified";
    if (symbol->other & STO_CUDA_MANAGED)
        words[n++] = function ? "unified" : "managed";
    if (symbol->other & 8)
        words[n++] = "obscure";
    words[n++] = visibilities[symbol->other & STO_CUDA_VISIBILITY];
    cbi_buf buf = {0};
    for (size_t i = 0; i < n; i++)
        if (*words[i])
            cbi_buf_printf(ctx, &buf, "%s%s", buf.len ? " " : "", words[i]);
    return cbi_buf_text(ctx, &buf);
}
