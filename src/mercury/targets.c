/* Which code may run on which chip as it is. */
#include "mercury/mercury.h"
#include "mercury/pace.h"

uint64_t cbi_mercury_target_bit(uint32_t sm)
{
    const cbi_chip *chip = cbi_chip_find(sm);
    return chip ? chip->fast_bit : 0;
}

void cbi_mercury_refuse(const cbi_linker *lk, const cbi_func *func)
{
    const cbi_lobj *obj = func->obj;
    cbi_error(lk->ctx, "needs-compiler",
              &(cbi_place){.file = obj->file, .symbol = func->sym->name->s},
              cbi_printf(lk->ctx, "compile '%s' for %s", obj->file, lk->opt->arch->name),
              "Function '%s' in '%s' holds code for sm_%u that %s cannot run as it is",
              func->sym->name->s, obj->file, obj->object.sm, lk->opt->arch->name);
}

void cbi_mercury_check_portable(const cbi_linker *lk)
{
    uint32_t target = lk->opt->arch->sm;
    size_t errors = lk->ctx->error_count;
    if (!cbi_arch_is_mercury(lk->opt->arch))
        return;
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        if (!cbi_is_text(sec) || !sec->func || !sec->func->obj)
            continue;
        uint32_t kind = sec->func->obj->object.kind,
                 sm = cbi_arch_renumbered(sec->func->obj->object.sm);
        /* code without a Mercury side is linked as it is */
        if (sm == target || !(kind & (EF_CUDA_KIND_MERCURY | EF_CUDA_KIND_CAPMERC)) ||
            (cbi_mercury_text_mask(sm, sec->bytes, sec->size) & cbi_mercury_target_bit(target)) ||
            (lk->mercury && cbi_pace_applies(sm, target)))
            continue;
        cbi_mercury_refuse(lk, sec->func);
    }
    if (lk->ctx->error_count > errors)
        cbi_fail(lk->ctx, CB_ERR_LINK);
}
