#include "cubind/cubind.h"

const char *cb_version_string(void)
{
    return CUBIND_VERSION;
}

const char *cb_status_string(cb_status status)
{
    switch (status) {
    case CB_OK:
        return "success";
    case CB_ERR_USAGE:
        return "wrong argument or option";
    case CB_ERR_NOMEM:
        return "out of memory, or the memory limit was reached";
    case CB_ERR_IO:
        return "a file could not be opened, read or written";
    case CB_ERR_FORMAT:
        return "damaged or unknown input";
    case CB_ERR_LINK:
        return "the inputs do not link";
    case CB_ERR_UNSUPPORTED:
        return "not supported by this build";
    case CB_ERR_FATAL:
        return "stopped by a fatal error";
    }
    return "unknown status";
}
