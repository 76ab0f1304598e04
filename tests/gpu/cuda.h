/* The few functions of the CUDA driver that the GPU tests need, found at run time, so that they
 * build without a toolkit.  Declared from the driver's public documentation. */
#ifndef CBI_GPU_CUDA_H
#define CBI_GPU_CUDA_H

#include <stddef.h>

typedef int CUresult; /* 0 = success */
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;

enum {
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13
};

/* Rows of result-parameters-symbol; the names of later versions of a function carry _v2. */
#define CUDA_FUNCTIONS(X)                                                                          \
    X(cuInit, (unsigned flags), "cuInit")                                                          \
    X(cuDriverGetVersion, (int *version), "cuDriverGetVersion")                                    \
    X(cuDeviceGet, (CUdevice * device, int ordinal), "cuDeviceGet")                                \
    X(cuDeviceGetName, (char *name, int len, CUdevice dev), "cuDeviceGetName")                     \
    X(cuDeviceGetAttribute, (int *value, int attrib, CUdevice dev), "cuDeviceGetAttribute")        \
    X(cuDevicePrimaryCtxRetain, (CUcontext * ctx, CUdevice dev), "cuDevicePrimaryCtxRetain")       \
    X(cuCtxSetCurrent, (CUcontext ctx), "cuCtxSetCurrent")                                         \
    X(cuCtxSynchronize, (void), "cuCtxSynchronize")                                                \
    X(cuGetErrorName, (CUresult error, const char **name), "cuGetErrorName")                       \
    X(cuModuleLoadData, (CUmodule * module, const void *image), "cuModuleLoadData")                \
    X(cuModuleUnload, (CUmodule module), "cuModuleUnload")                                         \
    X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name),             \
      "cuModuleGetFunction")                                                                       \
    X(cuModuleGetGlobal, (CUdeviceptr * at, size_t * bytes, CUmodule module, const char *name),    \
      "cuModuleGetGlobal_v2")                                                                      \
    X(cuFuncGetAttribute, (int *value, int attrib, CUfunction function), "cuFuncGetAttribute")     \
    X(cuMemAlloc, (CUdeviceptr * at, size_t bytes), "cuMemAlloc_v2")                               \
    X(cuMemFree, (CUdeviceptr at), "cuMemFree_v2")                                                 \
    X(cuMemcpyHtoD, (CUdeviceptr to, const void *from, size_t bytes), "cuMemcpyHtoD_v2")           \
    X(cuMemcpyDtoH, (void *to, CUdeviceptr from, size_t bytes), "cuMemcpyDtoH_v2")                 \
    X(cuLaunchKernel,                                                                              \
      (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
       unsigned shared, CUstream stream, void **params, void **extra),                             \
      "cuLaunchKernel")                                                                            \
    X(cuLaunchCooperativeKernel,                                                                   \
      (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
       unsigned shared, CUstream stream, void **params),                                           \
      "cuLaunchCooperativeKernel")

#endif
