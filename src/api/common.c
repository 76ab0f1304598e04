#include "api/common.h"

#include <stdio.h>

const cbi_arch *cbi_api_arch(const char *name, cb_diagnostic_fn on_diagnostic, void *user)
{
    const cbi_arch *arch = cbi_arch_find(name);
    char message[128];
    if (arch || !on_diagnostic)
        return arch;
    snprintf(message, sizeof message, "Unknown arch name '%.64s'", name);
    const cb_diagnostic d = {.struct_size = sizeof d,
                             .severity = CB_SEV_ERROR,
                             .id = "no-arch",
                             .message = message,
                             .help = "name the GPU, for example sm_90",
                             .offset = UINT64_MAX};
    on_diagnostic(user, &d);
    return NULL;
}

int cb_write_to_stream(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? 0 : -1;
}

int cb_write_to_count(void *user, const void *data, size_t size)
{
    (void)data;
    uint64_t *count = user;
    return cbi_add(*count, size, count) ? 0 : -1;
}
