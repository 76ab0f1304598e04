/* GPU targets: names, variants, which input may be linked for which target. */
#ifndef CBI_ARCH_H
#define CBI_ARCH_H

#include "base/base.h"

typedef struct cbi_arch {
    const char *name; /* "sm_100a" */
    uint32_t sm;      /* 100 */
    char suffix;      /* 'a', 'f' or 0 */
} cbi_arch;

/* The real targets of the toolkit, by number then suffix (none, a, f). */
extern const cbi_arch cbi_archs[];
extern const size_t cbi_arch_count;

/* The target named "sm_NN[af]", or NULL. */
const cbi_arch *cbi_arch_find(const char *name);

/* Targets from sm_100 on are linked through their Mercury view. */
static inline bool cbi_arch_is_mercury(const cbi_arch *arch)
{
    return arch->sm >= 100;
}

#endif
