#include "format/driver.h"

#include <string.h>

/* Found by linking calls of 90,000 names taken from the toolkit's headers and of combinations of
 * their parts: nvlink reports all others as undefined.  cnp: what libcudadevrt stands on. */
static const char *const driver_functions[] = {
    "__assertfail",
    "__profile",
    "cnpCtxSynchronize",
    "cnpDeviceGetAttribute",
    "cnpDeviceGetName",
    "cnpDeviceGetTotalMem",
    "cnpEventCreate",
    "cnpEventDestroy",
    "cnpEventRecord",
    "cnpFuncGetAttribute",
    "cnpGetCacheConfig",
    "cnpGetDevice",
    "cnpGetDeviceCount",
    "cnpGetLastError",
    "cnpGetLimit",
    "cnpGetParameterBuffer",
    "cnpGetParameterBufferV2",
    "cnpGetSharedMemConfig",
    "cnpLaunchDevice",
    "cnpLaunchDeviceV2",
    "cnpSetLastError",
    "cnpStreamCreate",
    "cnpStreamDestroy",
    "cnpStreamWaitEvent",
    "cudaGraphKernelNodeSetEnabled",
    "cudaGraphKernelNodeSetGridDim",
    "cudaGraphKernelNodeSetParam",
    "cudaGraphKernelNodeUpdatesApply",
    "cudaGraphLaunch",
    "cudaGraphSetConditional",
    "free",
    "malloc",
    "vfprintf",
    "vprintf",
};

/* All names that begin like this. */
static const char system_call[] = "__cuda_syscall";

bool cbi_driver_supplies(const char *name)
{
    for (size_t i = 0; i < sizeof driver_functions / sizeof *driver_functions; i++)
        if (strcmp(name, driver_functions[i]) == 0)
            return true;
    return strncmp(name, system_call, sizeof system_call - 1) == 0;
}
