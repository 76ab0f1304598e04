/* The interface of nvJitLink 13.0, NVIDIA's library for device links at run time, as far as
 * cubind's stand-in for it offers it (docs/jit.md).  For building without the CUDA toolkit; with it
 * programs include its nvJitLink.h.  The two do not meet: each guards itself with the same name.
 *
 * Calls return NVJITLINK_ERROR_NULL_INPUT for pointers that are NULL, and
 * NVJITLINK_ERROR_INTERNAL in the wrong order.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef nvJitLink_INCLUDED
#define nvJitLink_INCLUDED

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of every call. */
typedef enum nvJitLinkResult {
    NVJITLINK_SUCCESS = 0,
    NVJITLINK_ERROR_UNRECOGNIZED_OPTION = 1,
    NVJITLINK_ERROR_MISSING_ARCH = 2,
    NVJITLINK_ERROR_INVALID_INPUT = 3,
    NVJITLINK_ERROR_PTX_COMPILE = 4,
    NVJITLINK_ERROR_NVVM_COMPILE = 5,
    NVJITLINK_ERROR_INTERNAL = 6,
    NVJITLINK_ERROR_THREADPOOL = 7,
    NVJITLINK_ERROR_UNRECOGNIZED_INPUT = 8,
    NVJITLINK_ERROR_FINALIZE = 9,
    NVJITLINK_ERROR_NULL_INPUT = 10,
    NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS = 11,
    NVJITLINK_ERROR_INCORRECT_INPUT_TYPE = 12,
    NVJITLINK_ERROR_ARCH_MISMATCH = 13,
    NVJITLINK_ERROR_OUTDATED_LIBRARY = 14,
    NVJITLINK_ERROR_MISSING_FATBIN = 15,
    NVJITLINK_ERROR_UNRECOGNIZED_ARCH = 16,
    NVJITLINK_ERROR_UNSUPPORTED_ARCH = 17,
    NVJITLINK_ERROR_LTO_NOT_ENABLED = 18
} nvJitLinkResult;

/* Kinds of inputs.  ANY: told by the content. */
typedef enum nvJitLinkInputType {
    NVJITLINK_INPUT_NONE = 0,
    NVJITLINK_INPUT_CUBIN = 1,
    NVJITLINK_INPUT_PTX = 2,
    NVJITLINK_INPUT_LTOIR = 3,
    NVJITLINK_INPUT_FATBIN = 4,
    NVJITLINK_INPUT_OBJECT = 5,
    NVJITLINK_INPUT_LIBRARY = 6,
    NVJITLINK_INPUT_INDEX = 7,
    NVJITLINK_INPUT_ANY = 10
} nvJitLinkInputType;

/* One link. */
typedef struct nvJitLink *nvJitLinkHandle;

/* Starts a link.  Options are strings such as "-arch=sm_90"; the list is in docs/jit.md.  There is
 * a handle even after a failure, if memory sufficed: its error log says why. */
nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t count, const char **options);
/* Frees the handle and sets it to NULL. */
nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle);

/* Adds an input; the bytes and the name, which may be NULL, are copied.  After a failure the link
 * goes on without it. */
nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void *data,
                                 size_t size, const char *name);
nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type, const char *path);

/* Links, once. */
nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle);

/* The results.  Sizes are in bytes and, for text, count the NUL at the end; the size of an empty
 * log is 0, and reading it writes that NUL all the same. */
nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin);
nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx);
nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log);
nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log);

/* The version of the interface: 13, 0. */
nvJitLinkResult nvJitLinkVersion(unsigned int *major, unsigned int *minor);

#ifdef __cplusplus
}
#endif
#endif
