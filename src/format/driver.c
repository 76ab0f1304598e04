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

/* Found by linking code that names variables `.nv.*`, alone and in global and constant memory. */
static const char *const driver_variables[] = {
    ".nv.independent.samplerrefDescSize",
    ".nv.independent.texrefDescSize",
    ".nv.reservedSmem.begin",
    ".nv.reservedSmem.cap",
    ".nv.reservedSmem.end",
    ".nv.reservedSmem.offset0",
    ".nv.reservedSmem.offset1",
    ".nv.surfrefDescSize",
    ".nv.unified.texrefDescSize",
};

/* All names that begin like this. */
static const char system_call[] = "__cuda_syscall";

/* The first two letters of all these names: every function of a link is asked about. */
static const char beginnings[][3] = {"__", "cn", "cu", "fr", "ma", "vf", "vp"};

static bool begins_like_one(const char *name)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (name[0] == beginnings[i][0] && name[1] == beginnings[i][1])
            return true;
    return false;
}

bool cbi_driver_supplies(const char *name)
{
    if (!begins_like_one(name))
        return false;
    for (size_t i = 0; i < sizeof driver_functions / sizeof *driver_functions; i++)
        if (strcmp(name, driver_functions[i]) == 0)
            return true;
    return strncmp(name, system_call, sizeof system_call - 1) == 0;
}

bool cbi_driver_supplies_variable(const char *name)
{
    for (size_t i = 0; i < sizeof driver_variables / sizeof *driver_variables; i++)
        if (strcmp(name, driver_variables[i]) == 0)
            return true;
    return false;
}
