/* The PTX of a part with comments and places in the source, as nvlink has it.
 *
 * With -ptx the library takes its input for a whole program, and then functions and variables that
 * only others refer to are no longer visible, or gone.  A module in whose llvm.used they are keeps
 * them; their names are in the PTX that an assembler kept (CBI_LTO_PART_PTX).  That PTX also says
 * whether the new one is the same program, and which numbers renamed static functions have. */
#include "lto/lto.h"
#include "lto/part_merge.h"
#include "lto/part_module.h"
#include "lto/ptx_items.h"

bool cbi_lto_full_text(cbi_ctx *ctx, const cbi_lto_options *o, const cbi_lto_input *inputs,
                       size_t count, cbi_span kept, cbi_span *ret_text)
{
    /* From sm_100 on the module moves variables if it is the last, and functions if it is the
     * first; below that the last moves nothing. */
    const bool moves = cbi_arch_is_mercury(o->arch);
    const cbi_map none = {0};
    const char *module = cbi_lto_keeping_module(ctx, kept, &none);
    cbi_span last, first, copies = {0};
    if (!cbi_lto_compile_text(ctx, o, inputs, count, module, false, &last))
        return false;
    first = last;
    /* No word shows the order of comments about variables that only a function uses. */
    bool told = cbi_ptx_find_demoted(last, 0, last.size) < last.size;
    if (!(moves && told) && cbi_lto_merge(ctx, last, kept, ret_text))
        return true;
    if (moves && !cbi_lto_compile_text(ctx, o, inputs, count, module, true, &first))
        return false;
    if (moves && cbi_lto_merge(ctx, first, kept, ret_text))
        return true;
    cbi_ptx_items items;
    if (!cbi_ptx_read_items(ctx, kept, &items))
        return false;
    const cbi_map copied = cbi_lto_find_copied(ctx, &items);
    module = cbi_lto_keeping_module(ctx, kept, &copied);
    if (copied.len && !cbi_lto_compile_text(ctx, o, inputs, count, module, false, &copies))
        return false;
    const cbi_lto_sources from = {.functions = last, .variables = first, .copies = copies};
    return cbi_lto_merge_items(ctx, &from, kept, ret_text);
}
