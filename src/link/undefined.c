/* Which undefined names stay, and the report of the others. */
#include "format/driver.h"
#include "link/patches.h"
#include "link/report.h"

static const char *const unified_names[] = {"__UDT_OFFSET",    "__UFT_OFFSET", "__UFT_CANONICAL",
                                            "__UDT_CANONICAL", "__UFT",        "__UDT",
                                            "__UFT_END",       "__UDT_END"};

bool cbi_is_one_of_unified(const char *name)
{
    for (size_t i = 0; i < CBI_COUNT(unified_names); i++)
        if (strcmp(name, unified_names[i]) == 0)
            return true;
    return false;
}

/* Which undefined names stay, in final links: functions and variables that the driver supplies;
 * textures, samplers and surfaces, which the host binds; dynamic shared memory; internal and
 * unified names; global variables with --allow-undefined-globals.  -r keeps all. */
static bool may_stay_undefined(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (sym->func)
        return cbi_driver_supplies(sym->name->s);
    bool shared = (sym->other & STO_CUDA_SPACE) == STO_CUDA_SHARED;
    if (cbi_is_image(sym) || (shared && sym->size == 0))
        return true;
    if (sym->internal || cbi_driver_supplies_variable(sym->name->s) ||
        cbi_is_unified_name(sym->name->s))
        return true;
    return lk->opt->allow_undefined_globals && (sym->other & STO_CUDA_SPACE) == STO_CUDA_GLOBAL;
}

void cbi_link_undefined(const cbi_linker *lk)
{
    if (!lk->exec)
        return;
    for (size_t i = 0; i < lk->records->globals.len; i++) {
        const cbi_lsym *sym = lk->records->globals.items[i];
        if (cbi_placement_of(lk, sym).state != CBI_SYM_UNDEF || cbi_is_removed(lk, sym) ||
            may_stay_undefined(lk, sym))
            continue;
        cbi_error(lk->ctx, "undefined-reference",
                  &(cbi_place){.file = cbi_obj_file(lk, sym->first_obj), .symbol = sym->name->s},
                  cbi_explain_undefined(lk, sym), "Undefined reference to '%s' in '%s'",
                  sym->name->s, cbi_obj_file(lk, sym->first_obj));
    }
}
