/* Shared by the files of the public interface. */
#ifndef CBI_API_COMMON_H
#define CBI_API_COMMON_H

#include "base/base.h"
#include "format/arch.h"

/* The target of that name; NULL after a diagnostic if there is none. */
const cbi_arch *cbi_api_arch(const char *name, cb_diagnostic_fn on_diagnostic, void *user);

#endif
