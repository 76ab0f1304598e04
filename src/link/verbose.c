/* -v: sizes of the output and what every entry uses. */
#include "format/eiattr.h"
#include "link/graph.h"
#include "link/report.h"

static uint64_t section_size(const cbi_linker *lk, uint32_t type)
{
    uint64_t size = 0;
    for (size_t i = 1; i < lk->tables->out.len; i++)
        if (lk->tables->out.items[i]->type == type)
            size += cbi_out_of(lk, lk->tables->out.items[i])->size;
    return size;
}

static uint32_t barriers_of(const cbi_properties *own)
{
    for (size_t i = 0; i < own->records.len; i++)
        if (own->records.items[i]->code == EIATTR_NUM_BARRIERS)
            return own->records.items[i]->value & 0xff;
    return 0;
}

/* The deepest path; nvlink gives the entry's own frame when recursion leaves it unknown. */
static uint32_t stack_of(const cbi_linker *lk, const cbi_func *k)
{
    if (!lk->exec)
        return 0;
    return lk->graph->components.cycle_below[k->number] || !cbi_is_wanted_entry(lk, k)
               ? cbi_properties_of(lk, k)->frame_size
               : lk->attributes->usage[k->number].stack;
}

static unsigned count_images(const cbi_osec *relocs, uint8_t type)
{
    unsigned count = 0;
    for (size_t i = 0; relocs && i < relocs->relocs.len; i++) {
        const cbi_lsym *sym = relocs->relocs.items[i]->sym;
        count += sym && CBI_ST_TYPE(sym->info) == type;
    }
    return count;
}

/* The slots of the table that the entry has in bank 0: all of the link, used or not, or what
 * ptxas -ewp has put there. */
static void print_images(const cbi_linker *lk, const cbi_osec *bank, cbi_buf *line)
{
    static const struct {
        uint8_t type;
        const char *name;
    } kinds[] = {{STT_CUDA_TEXTURE, "textures"},
                 {STT_CUDA_SURFACE, "surfaces"},
                 {STT_CUDA_SAMPLER, "samplers"}};
    for (size_t i = 0; i < CBI_COUNT(kinds); i++) {
        unsigned count =
            count_images(bank->rel, kinds[i].type) + count_images(bank->rela, kinds[i].type);
        if (count)
            cbi_buf_printf(lk->ctx, line, ", %u %s", count, kinds[i].name);
    }
}

void cbi_link_verbose(const cbi_linker *lk)
{
    if (!lk->opt->verbose)
        return;
    cbi_ctx *ctx = lk->ctx;
    cbi_buf line = {0};
    cbi_buf_printf(ctx, &line, "%llu bytes gmem",
                   (unsigned long long)(section_size(lk, SHT_CUDA_GLOBAL) +
                                        section_size(lk, SHT_CUDA_GLOBAL_INIT)));
    for (uint32_t bank = 0; bank < SHT_CUDA_CONSTANT_BANKS && !lk->mercury; bank++)
        for (size_t i = 1; i < lk->tables->out.len; i++)
            if (lk->tables->out.items[i]->type == SHT_CUDA_CONSTANT_B0 + bank &&
                !lk->tables->out.items[i]->func)
                cbi_buf_printf(ctx, &line, ", %llu bytes cmem[%u]",
                               (unsigned long long)lk->tables->out.items[i]->size, bank);
    cbi_info(ctx, "resource-usage", NULL, NULL, "%.*s", (int)line.len, (const char *)line.items);
    for (size_t i = lk->records->secs.len; i-- > 0;) {
        const cbi_func *k = lk->records->secs.items[i]->func;
        if (!k || k->text != lk->records->secs.items[i] || !cbi_is_kernel(k) || !k->obj ||
            !cbi_fate_of(lk, k)->live)
            continue;
        const cbi_properties *own = cbi_properties_of(lk, k);
        const cbi_osec *shared = cbi_shared_memory_of(lk, k);
        bool propagated = lk->exec && cbi_is_wanted_entry(lk, k);
        cbi_info(ctx, "resource-usage", NULL, NULL,
                 "Function properties for '%s':", k->sym->name->s);
        line.len = 0;
        cbi_buf_printf(
            ctx, &line, "used %u registers, used %u barriers, %u stack, %llu bytes smem",
            propagated ? lk->attributes->usage[k->number].regs : own->regs, barriers_of(own),
            stack_of(lk, k),
            (unsigned long long)(shared && cbi_section_index(lk, shared) ? shared->size : 0));
        for (uint32_t bank = 0; bank < SHT_CUDA_CONSTANT_BANKS && !lk->mercury; bank++) {
            const cbi_osec *constants = cbi_bank_of(lk, k);
            const cbi_osec *sec = bank == 0 ? k->constant0 : bank == 2 ? constants : NULL;
            if (sec && cbi_section_index(lk, sec))
                cbi_buf_printf(ctx, &line, ", %llu bytes cmem[%u]", (unsigned long long)sec->size,
                               bank);
        }
        cbi_buf_printf(ctx, &line, ", 0 bytes lmem");
        if (k->constant0 && !lk->mercury)
            print_images(lk, k->constant0, &line);
        cbi_info(ctx, "resource-usage", NULL, NULL, "%.*s", (int)line.len,
                 (const char *)line.items);
    }
}
