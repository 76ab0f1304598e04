/* What the finalizer does in a link, for those who ask (CUBIND_EDBG, CAN_FINALIZE_DEBUG). */
#include <stdarg.h>

#include "format/eicompat.h"
#include "mercury/mercury.h"
#include "mercury/rewrite.h"

uint64_t cbi_mercury_compat_mask(cbi_span compat, uint64_t otherwise)
{
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(compat, &pos, &attr))
        if (attr.code == EICOMPAT_CAN_FASTPATH_FINALIZE && attr.payload.size >= 8)
            otherwise = cbi_ld64(attr.payload.data);
    return otherwise;
}

const char *cbi_mercury_eligibility(cbi_ctx *ctx, const cbi_arch_facts *facts, uint32_t source,
                                    uint64_t mask, const cbi_arch *target, bool accepted)
{
    return cbi_printf(ctx,
                      "can finalize: sm_%u%s (as %u) -> %s: portability %u, class %u, version "
                      "0x%x, mask 0x%llx, needs 0x%llx: %s",
                      facts->sm, facts->specific ? "a" : "", source, target->name,
                      facts->portability, facts->level, facts->isa, (unsigned long long)mask,
                      (unsigned long long)cbi_mercury_target_bit(target->sm),
                      accepted ? "yes" : "no");
}

void cbi_mercury_trace_admission(const cbi_linker *lk, const cbi_lobj *obj,
                                 const cbi_arch_facts *facts, bool accepted)
{
    const cbi_link_options *opt = lk->opt;
    if (!opt->trace || !opt->trace_eligibility || !facts->mercury)
        return;
    uint64_t mask = cbi_mercury_compat_mask(obj->compat, 0);
    const char *line =
        cbi_mercury_eligibility(lk->ctx, facts, facts->sm, mask, opt->arch, accepted);
    opt->trace(opt->trace_user, cbi_printf(lk->ctx, "%s: %s", obj->file, line));
}

void cbi_mercury_trace(const cbi_linker *lk, const char *format, ...)
{
    if (!lk->opt->trace || !lk->opt->trace_run)
        return;
    va_list args;
    va_start(args, format);
    lk->opt->trace(lk->opt->trace_user, cbi_vprintf(lk->ctx, format, args));
    va_end(args);
}

void cbi_mercury_trace_code(const cbi_linker *lk)
{
    if (!lk->opt->trace || !lk->opt->trace_run)
        return;
    size_t functions = 0, rewritten = 0;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (!f->text || !cbi_section_index(lk, f->text) || f->alias_of)
            continue;
        functions++;
        const cbi_rewrite *rw = cbi_rewrite_of(lk, f);
        rewritten += rw != NULL;
        if (rw)
            cbi_mercury_trace(lk, "FNLZR: %s: 0x%llx bytes become 0x%llx", f->sym->name->s,
                              (unsigned long long)rw->old_size, (unsigned long long)rw->size);
    }
    cbi_mercury_trace(lk, "FNLZR: %zu functions, %zu of another length", functions, rewritten);
}
