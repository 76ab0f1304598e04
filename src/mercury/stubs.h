/* Code in a table of unified functions. */
#ifndef CBI_MERCURY_STUBS_H
#define CBI_MERCURY_STUBS_H

#include "base/base.h"

/* Schedules the code of an entry (.nv.uft.rel.F), or gives it the control bits of code that was not
 * scheduled (-O0).  Code with other instructions than calls, branches, returns and NOPs stays. */
void cbi_stub_schedule(uint8_t *bytes, uint64_t size, bool scheduled);

#endif
