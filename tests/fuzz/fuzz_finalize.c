/* The finalizer, with its self-check; the size chooses the target. */
#include "fuzz.h"

static int drop(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const targets[] = {"sm_100", "sm_103", "sm_121", "sm_100a"};
    cb_finalize_options options = {
        .struct_size = sizeof options,
        .arch = targets[size / 4 % CBI_COUNT(targets)],
        .flags = size % 4 == 0 ? CB_FINALIZE_SELF_CHECK : 0,
        .memory_limit = FUZZ_MEMORY_LIMIT,
        .options = size % 3 == 0 ? "--verbose-tkinfo --opportunistic-finalization-lvl=1" : NULL,
        .output_name = "out.cubin",
    };
    cb_finalize(&options, "input", data, size, drop, NULL, NULL);
    return 0;
}
