/* A CUDA driver that does nothing, so that the harness is tested where no GPU is: it has a device
 * of the architecture that FAKE_CUDA_ARCH names, takes every image with the bytes of an ELF or
 * fatbin, finds every kernel and leaves all memory as it is.  Where FAKE_CUDA_MARK is set memory
 * comes back with a sum of the image's first bytes; a kernel named in FAKE_CUDA_BAD cannot be
 * launched. */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { INVALID_VALUE = 1, INVALID_IMAGE = 200, LAUNCH_FAILED = 719, MARKED_BYTES = 16 };

static unsigned char mark;
static int is_bad;

EXPORT CUresult fake_success(void);

CUresult fake_success(void)
{
    return 0;
}

/* what needs no answer */
#define IS_NOTHING(name) EXPORT CUresult name(void) __attribute__((alias("fake_success")));
IS_NOTHING(cuInit)
IS_NOTHING(cuDevicePrimaryCtxRetain)
IS_NOTHING(cuCtxSetCurrent)
IS_NOTHING(cuCtxSynchronize)
IS_NOTHING(cuModuleUnload)
IS_NOTHING(cuFuncGetAttribute)

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
EXPORT CUresult cuLaunchKernel(void);
EXPORT CUresult cuLaunchCooperativeKernel(void);
EXPORT CUresult cuDriverGetVersion(int *version);
EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal);
EXPORT CUresult cuDeviceGetName(char *name, int len, CUdevice dev);
EXPORT CUresult cuDeviceGetAttribute(int *value, int attrib, CUdevice dev);
EXPORT CUresult cuGetErrorName(CUresult error, const char **name);
EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image);
EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *at, size_t *bytes, CUmodule module,
                                     const char *name);
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes);
EXPORT CUresult cuMemFree_v2(CUdeviceptr at);
EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);

CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
    (void)dev;
    strncpy(name, "no device at all", (size_t)len);
    return 0;
}

CUresult cuDeviceGetAttribute(int *value, int attrib, CUdevice dev)
{
    (void)dev;
    const char *arch = getenv("FAKE_CUDA_ARCH");
    int number = arch ? atoi(arch) : 75;
    *value = attrib == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? number / 10 : number % 10;
    return 0;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = error == INVALID_IMAGE   ? "CUDA_ERROR_INVALID_IMAGE"
            : error == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
                                     : "CUDA_ERROR_INVALID_VALUE";
    return 0;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    static const unsigned char fatbin[4] = {0x50, 0xed, 0x55, 0xba};
    *module = NULL;
    mark = 0;
    for (int i = 0; getenv("FAKE_CUDA_MARK") && i < MARKED_BYTES; i++)
        mark += ((const unsigned char *)image)[i];
    return memcmp(image, "\177ELF", 4) == 0 || memcmp(image, fatbin, 4) == 0 ? 0 : INVALID_IMAGE;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    (void)module;
    const char *bad = getenv("FAKE_CUDA_BAD");
    *function = NULL;
    is_bad = bad && strcmp(bad, name) == 0;
    return 0;
}

CUresult cuLaunchKernel(void)
{
    return is_bad ? LAUNCH_FAILED : 0;
}

CUresult cuLaunchCooperativeKernel(void)
{
    return cuLaunchKernel();
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *at, size_t *bytes, CUmodule module, const char *name)
{
    (void)at, (void)bytes, (void)module, (void)name;
    return INVALID_VALUE;
}

CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes)
{
    *at = (CUdeviceptr)calloc(1, bytes);
    return *at ? 0 : INVALID_VALUE;
}

CUresult cuMemFree_v2(CUdeviceptr at)
{
    free((void *)at);
    return 0;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    memcpy((void *)to, from, bytes);
    return 0;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    memcpy(to, (void *)from, bytes);
    if (bytes)
        *(unsigned char *)to ^= mark;
    return 0;
}
