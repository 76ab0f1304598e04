/* Names that somebody may have meant. */
#ifndef CBI_LINK_SIMILAR_H
#define CBI_LINK_SIMILAR_H

#include "base/base.h"

enum { CBI_NEAR = 2 }; /* edits that a mistake has at most */

/* How many letters to insert, drop or change to get from one name to the other; CBI_NEAR + 1 for
 * all that is more than CBI_NEAR. */
unsigned cbi_edit_distance(cbi_span a, cbi_span b);

/* Is a name that is there like the one that is missing?  The same function with other parameters,
 * or extern "C" on one side only, or a few letters. */
bool cbi_is_similar(const char *wanted, const char *have);

#endif
