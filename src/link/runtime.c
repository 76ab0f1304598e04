/* libcudadevrt takes part only if something before it needs it. */
#include "link/state.h"

static bool defines_what_is_missing(cbi_linker *lk, const cbi_lobj *obj)
{
    const cbi_object *in = &obj->object;
    for (uint32_t i = 1; i < in->symbol_count; i++) {
        const cbi_symbol *symbol = &in->symbols[i];
        if (symbol->shndx == SHN_UNDEF || CBI_ST_BIND(symbol->info) == STB_LOCAL)
            continue;
        const cbi_lsym *known =
            cbi_map_get(&lk->sym_by_name, CBI_KEY(cbi_intern(lk->ctx, symbol->name)));
        if (known && known->state == CBI_SYM_UNDEF)
            return true;
    }
    return false;
}

bool cbi_link_takes_part(cbi_linker *lk, const cbi_lobj *obj)
{
    return !obj->device_runtime || lk->opt->keep_system_libraries ||
           defines_what_is_missing(lk, obj);
}
