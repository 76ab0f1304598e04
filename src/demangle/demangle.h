/* C++ names for messages and the call-graph dump. */
#ifndef CBI_DEMANGLE_H
#define CBI_DEMANGLE_H

#include "base/base.h"

/* The readable form of a mangled name, in the style of the CUDA tools: template parameters stay
 * T1, T2, ...; constructors are marked by kind.  A name that is not mangled, or mangled in a way
 * those tools do not know, is returned as it is.  The text belongs to ctx, or is `name` itself. */
const char *cbi_demangle(cbi_ctx *ctx, const char *name);

#endif
