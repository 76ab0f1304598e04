/* A fatbin as C code for the host compiler. */
#include <inttypes.h>

#include "base/sink.h"
#include "container/bundle.h"

enum { WORDS_PER_LINE = 4 };

static void put_words(cbi_ctx *ctx, cbi_buf *out, cbi_span bytes, const cbi_embedding *how)
{
    size_t count = bytes.size / 8;
    const char *end = how->no_asm ? "ull" : "";
    for (size_t i = 0; i < count; i++) {
        bool whole_line = i / WORDS_PER_LINE < count / WORDS_PER_LINE;
        bool first = i % WORDS_PER_LINE == 0;
        if (first && !how->no_asm)
            cbi_buf_printf(ctx, out, "\".quad ");
        cbi_buf_printf(ctx, out, "0x%016" PRIx64 "%s", cbi_ld64(bytes.data + i * 8), end);
        bool last = i % WORDS_PER_LINE == WORDS_PER_LINE - 1 || i + 1 == count;
        if (how->no_asm)
            cbi_buf_printf(ctx, out, !whole_line && i + 1 == count ? "\n" : last ? ",\n" : ",");
        else if (last)
            cbi_buf_printf(ctx, out, "\\n\"\n");
        else /* a line that is not full has blanks in it */
            cbi_buf_printf(ctx, out, whole_line ? "," : ", ");
    }
}

/* The layout is fatbinary's, so that results can be compared as text. */
static void put_data(cbi_ctx *ctx, cbi_buf *out, cbi_span bytes, const cbi_embedding *how)
{
    static const char open[] = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
    static const char close[] = "#ifdef __cplusplus\n}\n#endif\n";
    const char *section = how->relocatable ? "__nv_relfatbin" : ".nv_fatbin";
    if (how->no_asm) {
        cbi_buf_printf(ctx, out,
                       "%s\nstatic const unsigned long long fatbinData[] __attribute__ "
                       "((section (__CUDAFATBINDATASECTION)))= {",
                       open);
        put_words(ctx, out, bytes, how);
        cbi_buf_printf(ctx, out, "%s};\n\n%s\n", bytes.size / 8 % WORDS_PER_LINE ? "" : "\n",
                       close);
        return;
    }
    cbi_buf_printf(ctx, out,
                   "asm(\n\".section %s, \\\"a\\\"\\n\"\n\".align 8\\n\"\n\"fatbinData:\\n\"\n",
                   section);
    if (how->file)
        cbi_buf_printf(ctx, out, "\".incbin \\\"%s\\\"\\n\"\n", how->file);
    else
        put_words(ctx, out, bytes, how);
    cbi_buf_printf(ctx, out,
                   "\".text\\n\");\n%sextern const unsigned long long fatbinData[%zu];\n%s", open,
                   bytes.size / 8, close);
}

cbi_span cbi_embed_fatbin(cbi_ctx *ctx, const cbi_rope *fatbin, const cbi_embedding *how)
{
    cbi_buf out = {0};
    cbi_buf_printf(ctx, &out,
                   "#ifndef __SKIP_INTERNAL_FATBINARY_HEADERS\n"
                   "#include \"fatbinary_section.h\"\n#endif\n"
                   "#define __CUDAFATBINSECTION  \".nvFatBinSegment\"\n"
                   "#define __CUDAFATBINDATASECTION  \"%s\"\n",
                   how->relocatable ? "__nv_relfatbin" : ".nv_fatbin");
    put_data(ctx, &out, cbi_rope_flatten(ctx, fatbin), how);
    cbi_buf_printf(ctx, &out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    if (how->relocatable)
        cbi_buf_printf(ctx, &out,
                       "#undef __FATIDNAME_CORE\n#undef __FATIDNAME\n"
                       "#define __FATIDNAME_CORE(x) __fatbinwrap##x\n"
                       "#define __FATIDNAME(x) __FATIDNAME_CORE(x)\n"
                       "extern const __fatBinC_Wrapper_t __FATIDNAME(__NV_MODULE_ID)");
    else
        cbi_buf_printf(ctx, &out, "static const __fatBinC_Wrapper_t __fatDeviceText");
    cbi_buf_printf(ctx, &out,
                   " __attribute__ ((aligned (8))) __attribute__ ((section "
                   "(__CUDAFATBINSECTION)))= \n\t{ 0x%x, %s };\n#ifdef __cplusplus\n}\n#endif\n",
                   FATBIN_WRAPPER_MAGIC,
                   how->linked ? "2, fatbinData, (void**)__cudaPrelinkedFatbins"
                               : "1, fatbinData, 0");
    return (cbi_span){out.items, out.len};
}
