/* The passes of a link, in order. */
#include "link/bytes.h"
#include "link/graph.h"
#include "link/inputs.h"
#include "link/layout.h"
#include "link/patches.h"
#include "link/propagate.h"
#include "link/report.h"
#include "link/symbols.h"
#include "link/tables.h"
#include "link/view.h"

static void setup(cbi_linker *lk, cbi_ctx *ctx, const cbi_link_options *opt,
                  const cbi_link_input *inputs, size_t count)
{
    lk->ctx = ctx;
    lk->opt = opt;
    lk->lists = CBI_NEW(ctx, cbi_pool);
    lk->records = CBI_NEW(ctx, cbi_records);
    lk->told = CBI_NEW(ctx, cbi_told);
    lk->failures = CBI_NEW(ctx, cbi_failure_list);
    lk->quirks = cbi_quirks_make(opt->exact);
    lk->terse = opt->exact;
    lk->exec = !opt->relocatable;
    lk->shows_debug = opt->debug && !opt->suppress_debug_info;
    lk->mercury = cbi_arch_is_mercury(opt->arch) && !cbi_link_has_plain(inputs, count);
    lk->merc = lk->mercury ? opt->view->begin(ctx) : NULL;
    lk->chip = cbi_chip_find(opt->arch->sm);
    lk->from_hopper = opt->arch->sm >= CBI_SM_HOPPER;
    lk->eliminate = lk->exec && !opt->debug && !opt->preserve_relocs;
    lk->prune = !lk->shows_debug && (opt->kernels_used_count || opt->variables_used_count);
    /* Code is not told where a shared constant went, so only to be like nvlink. */
    lk->merge_constants = lk->quirks.constants_shared && lk->exec && !lk->shows_debug &&
                          (lk->prune || opt->host.active);
}

/* Stage 2: the objects, in order.  Libcudadevrt takes part only if something needs it by then. */
static void merge_all(cbi_linker *lk, cbi_link_result *ret_result)
{
    lk->symbols = cbi_symbols_begin(lk, &lk->merging);
    cbi_link_skeleton(lk); /* sections that every output has */
    for (cbi_lobj *obj = cbi_link_next_object(lk); obj; obj = cbi_link_next_object(lk)) {
        if (!cbi_link_takes_part(lk, obj)) {
            cbi_link_leave_out(lk, obj);
            continue;
        }
        if (obj->device_runtime)
            ret_result->device_runtime_used = true;
        if (!obj->no_code)
            cbi_link_merge(lk, obj); /* symbols, sections, attributes, relocations */
    }
    cbi_link_complete_calls(lk);
    cbi_link_merge_end(lk);
}

/* Stage 3: who calls whom, what lives, what is in a circle. */
static void make_graph(cbi_linker *lk)
{
    lk->graph = cbi_graph_begin(lk, &lk->reaching);
    lk->dead = &lk->graph->dead;
    cbi_link_calls(lk);
    cbi_link_liveness(lk);
    cbi_link_components(lk);
}

/* Stage 4: addresses. */
static void lay_out(cbi_linker *lk)
{
    lk->layout = cbi_layout_begin(lk, &lk->placing);
    lk->dead = &lk->layout->dead;
    cbi_layout_commons(lk);       /* they join .nv.global ... */
    cbi_layout_callgraph(lk);     /* ... and these follow: the order of creation */
    cbi_link_warn_graph(lk);      /* recursion, functions that nobody calls */
    cbi_link_check_unified(lk);   /* these need an index file */
    cbi_link_check_replaced(lk);  /* an accident of nvlink */
    cbi_layout_images(lk);        /* texture tables in bank 0 */
    cbi_layout_shared(lk);        /* shared memory of every entry */
    cbi_layout_constant_size(lk); /* how many constants the user's own are */
    cbi_cull_constants(lk);       /* constants beyond the limit */
    cbi_layout_constants(lk);     /* optimizer constants into entry banks */
    cbi_check_limits(lk);
    cbi_layout_rel_action(lk);
}

/* Stage 5: what relocations do. */
static void apply_relocations(cbi_linker *lk)
{
    lk->patches = cbi_patches_begin(lk, &lk->patching);
    cbi_link_settle(lk);
    cbi_link_check_places(lk);
    cbi_link_undefined(lk);
    cbi_link_warn_fixed(lk);
    cbi_link_relocate(lk);
    if (cbi_link_pack_relocs(lk))
        cbi_link_merge_forget(lk);
}

/* Stage 7: numbers, places in the file, and the tables that the link itself writes. */
static void make_tables(cbi_linker *lk)
{
    const cbi_link_options *opt = lk->opt;
    lk->tables = cbi_tables_begin(lk, &lk->filling);
    cbi_link_notes(lk);
    cbi_link_number(lk);
    /* what is written need not lie beside the rest */
    bool passing = !lk->mercury && !opt->verbose && !opt->dot && !opt->map;
    cbi_link_fill_relocs(lk);
    if (passing)
        cbi_link_merge_forget(lk);
    cbi_link_fill_records(lk);
    if (passing)
        cbi_link_forget_records(lk);
    cbi_link_fill_unified(lk);
    cbi_link_finish_tables(lk);
}

static void narrow_image(cbi_ctx *ctx, cbi_rope *image)
{
    const cbi_span narrow = cbi_link_write_elf32(ctx, cbi_rope_flatten(ctx, image));
    *image = (cbi_rope){0};
    cbi_sink sink = cbi_sink_rope(ctx, image);
    cbi_sink_write(&sink, narrow.data, narrow.size);
}

/* Each stage with what holds behind it; stages.h has it member by member, and `./dev lint` sees
 * that it does. */
cb_status cbi_link(cbi_ctx *ctx, const cbi_link_options *opt, const cbi_link_input *inputs,
                   size_t count, cbi_link_result *ret_result)
{
    cbi_linker *lk = CBI_NEW(ctx, cbi_linker);
    setup(lk, ctx, opt, inputs, count);
    if (opt->elf32 && cbi_arch_is_mercury(opt->arch))
        cbi_fatal(ctx, "elf32-target", NULL, "ELF32 went with toolkit 9, sm_100 came with 12.8",
                  "there are no ELF32 files for '%s'", opt->arch->name);
    size_t errors = ctx->error_count;

    /* 1 inputs: the models of the objects are checked and stay as they are.  Stage 2 takes them one
     * by one, while others are read. */
    lk->inputs = cbi_link_admit(lk, inputs, count, &lk->admitting);
    cbi_link_trace(lk); /* --trace-symbol */

    /* 2 symbols: symbols stay as they are, and where inputs went; no function, no attribute of an
     * input, no call and no name is added from here on. */
    merge_all(lk, ret_result);
    if (opt->forgives_merge_errors)
        errors = ctx->error_count;

    /* 3 graph: calls, components and which functions live are fixed. */
    make_graph(lk);

    /* 4 layout: every symbol but the driver's has its value, and every section that can be patched
     * its size; no section, symbol or piece of contents is added from here on. */
    lay_out(lk);

    /* 5 patches: the contents of sections from inputs are final; what the driver has to do is
     * listed in relocation sections. */
    apply_relocations(lk);

    /* 6 propagation: attribute records, registers and stacks of entries are final. */
    lk->attributes = cbi_attributes_begin(lk, &lk->propagating);
    cbi_link_propagate(lk);
    cbi_link_check_records(lk);

    /* 7 tables: every section and symbol has its number, every section its place in the file, and
     * the link's own tables their contents. */
    make_tables(lk);

    /* Nothing but the second view of sm_100 and later changes anything now. */
    cbi_link_verbose(lk);
    cbi_link_explain_functions(lk);
    if (opt->dot)
        cbi_link_dot(lk, &ret_result->dot);
    if (ctx->error_count > errors)
        return CB_ERR_LINK;
    if (opt->map)
        cbi_link_map(lk, &ret_result->map);
    opt->view->check_portable(lk);
    cbi_link_check_emptied(lk);

    /* 8 bytes. */
    cbi_sink sink = cbi_sink_gather(ctx, &ret_result->image);
    if (lk->mercury)
        opt->view->emit(lk, &sink); /* both sides: SASS and Mercury */
    else
        cbi_link_write(lk, &sink);
    if (opt->elf32)
        narrow_image(ctx, &ret_result->image);
    return CB_OK;
}
