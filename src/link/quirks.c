/* Which accidents of nvlink a link reproduces. */
#include "link/quirks.h"

cbi_quirks cbi_quirks_make(bool exact)
{
    return (cbi_quirks){
#define CBI_QUIRK_VALUE(name, what, where, experiment) .name = exact,
        CBI_QUIRKS(CBI_QUIRK_VALUE)
#undef CBI_QUIRK_VALUE
    };
}
