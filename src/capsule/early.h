/* Capsules of the compilers before 12.8 that knew sm_100 first.
 *
 * They have no version and no bits: every instruction has a record, which is the first four bytes
 * where the Mercury form follows from SASS.  docs/capsule.md says what nvlink makes of them.
 */
#ifndef CBI_CAPSULE_EARLY_H
#define CBI_CAPSULE_EARLY_H

#include "base/base.h"

/* Makes the capsule one of today, and of the text what the records said of it that is not in SASS:
 * which kind of barrier BSSY, BSYNC and BREAK have.  False, with nothing changed, if the capsule
 * is not of that kind or does not fit its text exactly. */
bool cbi_capsule_renew(cbi_ctx *ctx, cbi_span *capsule, cbi_span *text);

#endif
