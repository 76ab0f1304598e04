/* The PTX of a part with comments and places in the source, as nvlink has it.
 *
 * With -ptx the library takes its input for a whole program, and then functions and variables that
 * only others refer to are no longer visible, or gone.  A module in whose llvm.used they are keeps
 * them; their names are in the PTX that an assembler kept (CBI_LTO_PART_PTX).  That PTX also says
 * whether the new one is the same program, and which numbers renamed static functions have. */
#include "lto/lto.h"
#include "lto/part_merge.h"
#include "lto/ptx_words.h"
#include "lto/worker.h"

static const struct {
    const char *word;
    int number; /* NVVM's address space */
} spaces[] = {{".func", 0}, {".global", 1}, {".const", 4}, {".shared", 3}};

static uint64_t number_of(cbi_ptx_word t)
{
    uint64_t number = 0;
    for (size_t i = 0; i < t.len && t.at[i] >= '0' && t.at[i] <= '9' && number < UINT32_MAX; i++)
        number = number * 10 + (uint64_t)(t.at[i] - '0');
    return number;
}

/* Of the variable whose name ends at `at`: a number of elements may follow.  Textures and the like
 * are handles. */
static uint64_t size_of(cbi_span ptx, size_t at, cbi_ptx_word type)
{
    size_t digits = type.len;
    while (digits && type.at[digits - 1] >= '0' && type.at[digits - 1] <= '9')
        digits--;
    uint64_t bits = number_of((cbi_ptx_word){type.at + digits, type.len - digits});
    uint64_t count =
        cbi_ptx_is(cbi_ptx_next(ptx, &at), "[") ? number_of(cbi_ptx_next(ptx, &at)) : 1;
    return count * (bits ? bits / 8 : 8);
}

typedef struct keeping {
    cbi_ctx *ctx;
    cbi_map seen;
    cbi_buf declarations, list;
    size_t count;
} keeping;

/* Sizes must be those of the definitions. */
static void keep(keeping *k, const char *name, int space, uint64_t size)
{
    const char *comma = k->count++ ? ", " : "";
    if (space == 0) {
        cbi_buf_printf(k->ctx, &k->declarations, "declare void @%s()\n", name);
        cbi_buf_printf(k->ctx, &k->list, "%si8* bitcast (void ()* @%s to i8*)", comma, name);
    } else {
        const char *type = cbi_printf(k->ctx, "[%llu x i8]", (unsigned long long)size);
        cbi_buf_printf(k->ctx, &k->declarations, "@%s = external addrspace(%d) global %s\n", name,
                       space, type);
        cbi_buf_printf(k->ctx, &k->list,
                       "%si8* bitcast (%s* addrspacecast (%s addrspace(%d)* @%s to %s*) to i8*)",
                       comma, type, type, space, name, type);
    }
}

/* Names of functions of which the PTX has a copy for calls from inside ("f$10" of "f"). */
static cbi_map find_copied(cbi_ctx *ctx, cbi_span ptx)
{
    cbi_map copied = {0};
    size_t at = 0;
    bool is_local = true;
    for (cbi_ptx_word t; (t = cbi_ptx_next(ptx, &at)).len; is_local = *t.at != '.') {
        if (!is_local || !cbi_ptx_is(t, ".func"))
            continue;
        t = cbi_ptx_name(ptx, &at, &(cbi_ptx_word){0});
        size_t stem = cbi_ptx_stem(t);
        const cbi_name *name = cbi_intern_len(ctx, (const char *)t.at, stem ? stem - 1 : 0);
        if (stem)
            cbi_map_put(ctx, &copied, CBI_KEY(name), (void *)name);
        if (!t.len)
            break;
    }
    return copied;
}

/* NVVM IR with everything in llvm.used that the PTX shows to others, but for `local`; kernels stay
 * anyway. */
static const char *keeping_module(cbi_ctx *ctx, cbi_span ptx, const cbi_map *local)
{
    keeping k = {.ctx = ctx};
    size_t at = 0;
    for (cbi_ptx_word t; (t = cbi_ptx_next(ptx, &at)).len;) {
        if (!cbi_ptx_is(t, ".visible") && !cbi_ptx_is(t, ".weak") && !cbi_ptx_is(t, ".common"))
            continue;
        t = cbi_ptx_next(ptx, &at);
        size_t space = 0;
        while (space < CBI_COUNT(spaces) && !cbi_ptx_is(t, spaces[space].word))
            space++;
        if (space == CBI_COUNT(spaces))
            continue;
        cbi_ptx_word type;
        t = cbi_ptx_name(ptx, &at, &type);
        const cbi_name *name = cbi_intern_len(ctx, (const char *)t.at, t.len);
        if (!t.len || cbi_map_get(&k.seen, CBI_KEY(name)) || cbi_map_get(local, CBI_KEY(name)))
            continue;
        cbi_map_put(ctx, &k.seen, CBI_KEY(name), (void *)name);
        keep(&k, name->s, spaces[space].number, size_of(ptx, at, type));
    }
    if (!k.count)
        return NULL;
    return cbi_printf(ctx,
                      CBI_LTO_IR_HEAD "%.*s@llvm.used = appending global [%zu x i8*] [%.*s], "
                                      "section \"llvm.metadata\"\n" CBI_LTO_IR_TAIL,
                      (int)k.declarations.len, (const char *)k.declarations.items, k.count,
                      (int)k.list.len, (const char *)k.list.items);
}

/* Are there comments about variables that only a function uses?  No word shows their order. */
static bool has_demoted(cbi_span text)
{
    static const char mark[] = " has been demoted\n";
    return memmem(text.data, text.size, mark, strlen(mark));
}

bool cbi_lto_full_text(cbi_ctx *ctx, const cbi_lto_options *o, const cbi_lto_input *inputs,
                       size_t count, cbi_span kept, cbi_span *ret_text)
{
    /* From sm_100 on the module moves variables if it is the last, and functions if it is the
     * first; below that the last moves nothing. */
    const bool moves = cbi_arch_is_mercury(o->arch);
    const cbi_map none = {0}, copied = find_copied(ctx, kept);
    const char *module = keeping_module(ctx, kept, &none);
    cbi_span last, first, copies = {0};
    if (!cbi_lto_compile_text(ctx, o, inputs, count, module, false, &last))
        return false;
    first = last;
    if (!(moves && has_demoted(last)) && cbi_lto_merge(ctx, last, kept, ret_text))
        return true;
    if (moves && !cbi_lto_compile_text(ctx, o, inputs, count, module, true, &first))
        return false;
    if (moves && cbi_lto_merge(ctx, first, kept, ret_text))
        return true;
    module = keeping_module(ctx, kept, &copied);
    if (copied.len && !cbi_lto_compile_text(ctx, o, inputs, count, module, false, &copies))
        return false;
    const cbi_lto_sources from = {.functions = last, .variables = first, .copies = copies};
    return cbi_lto_merge_items(ctx, &from, kept, ret_text);
}
