/* C++ names for messages and the call-graph dump. */
#ifndef CBI_DEMANGLE_H
#define CBI_DEMANGLE_H

#include "base/base.h"

/* The readable form of a mangled name, in the style of the CUDA tools: template parameters stay
 * T1, T2, ...; constructors are marked by kind.  A name that is not mangled, or mangled in a way
 * those tools do not know, is returned as it is.  The text belongs to ctx, or is `name` itself. */
const char *cbi_demangle(cbi_ctx *ctx, const char *name);

/* May the job show a text of cbi_demangle() once more?  Texts that are much longer than their names
 * cost the job's budget each time. */
bool cbi_demangle_again(cbi_ctx *ctx, const char *name, const char *text);

#endif
