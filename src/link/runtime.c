/* libcudadevrt takes part only if something before it is missing a function. */
#include "format/driver.h"
#include "link/inputs.h"

/* Any function counts, whether libcudadevrt has it or not. */
static bool is_function_missing(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->records->globals.len; i++) {
        const cbi_lsym *symbol = lk->records->globals.items[i];
        if (symbol->state == CBI_SYM_UNDEF && symbol->func && !cbi_driver_supplies(symbol->name->s))
            return true;
    }
    return false;
}

bool cbi_link_takes_part(const cbi_linker *lk, const cbi_lobj *obj)
{
    if (!obj->device_runtime) {
        if (lk->symbols->unused.len)
            cbi_fatal(lk->ctx, "object-after-runtime", &(cbi_place){.file = obj->file},
                      "libcudadevrt was not needed by the inputs before it; put it behind all "
                      "others",
                      "unexpected object after cudadevrt");
        return true;
    }
    return lk->opt->keep_system_libraries || is_function_missing(lk);
}
