/* Deferred failures. */
#include "link/failures.h"
#include "link/state.h"

void cbi_defer(const cbi_linker *lk, cbi_failure_phase phase, const cbi_lrel *rel, const char *help)
{
    cbi_vec_push(lk->ctx, lk->failures, ((cbi_failure){phase, rel, help}));
}

const cbi_failure *cbi_deferred(const cbi_linker *lk, cbi_failure_phase phase)
{
    for (size_t i = lk->failures->len; i-- > 0;)
        if (lk->failures->items[i].phase == phase)
            return &lk->failures->items[i];
    return NULL;
}
