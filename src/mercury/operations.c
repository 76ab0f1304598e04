#include "mercury/operations.h"

const cbi_view_ops cbi_mercury_operations = {
    .begin = cbi_mercury_begin,
    .make = cbi_mercury_view_make,
    .drop = cbi_mercury_drop,
    .pair = cbi_mercury_pair,
    .in_range = cbi_mercury_in_range,
    .patch = cbi_mercury_patch,
    .patch_reserved = cbi_mercury_patch_reserved,
    .banks_end = cbi_mercury_banks_end,
    .check_portable = cbi_mercury_check_portable,
    .trace_admission = cbi_mercury_trace_admission,
    .emit = cbi_mercury_emit,
};
