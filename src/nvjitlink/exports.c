/* The exported functions, under the plain names, for programs that look them up, and under those
 * of nvJitLink 13.0's header, for programs that are compiled with it. */
#include <stdlib.h>

#include "lto/worker.h"
#include "nvjitlink/link.h"

#define EXPORT __attribute__((visibility("default")))

/* Says of a library in nvJitLink's place that it is this one. */
EXPORT extern const char __cubind_nvJitLink[];
const char __cubind_nvJitLink[] = CUBIND_VERSION;

enum { INTERFACE_MAJOR = 13, INTERFACE_MINOR = 0 };

EXPORT nvJitLinkResult nvJitLinkVersion(unsigned int *major, unsigned int *minor)
{
    if (!major || !minor)
        return NVJITLINK_ERROR_NULL_INPUT;
    *major = INTERFACE_MAJOR;
    *minor = INTERFACE_MINOR;
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t count,
                                       const char **options)
{
    if (!handle || (!options && count))
        return NVJITLINK_ERROR_NULL_INPUT;
    struct nvJitLink *jit = calloc(1, sizeof *jit);
    if (!jit)
        return NVJITLINK_ERROR_INTERNAL;
    *handle = jit;
    return cbi_jit_start(jit, count, options);
}

EXPORT nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle)
{
    if (!handle || !*handle)
        return NVJITLINK_ERROR_NULL_INPUT;
    cbi_jit_end(*handle);
    free(*handle);
    *handle = NULL;
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type,
                                        const void *data, size_t size, const char *name)
{
    if (!handle || (!data && size))
        return NVJITLINK_ERROR_NULL_INPUT;
    return cbi_jit_add(handle, type, (cbi_span){data, size}, false, name ? name : "(null)");
}

EXPORT nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type,
                                        const char *path)
{
    if (!handle || !path)
        return NVJITLINK_ERROR_NULL_INPUT;
    return cbi_jit_add_file(handle, type, path);
}

EXPORT nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle)
{
    return handle ? cbi_jit_complete(handle) : NVJITLINK_ERROR_NULL_INPUT;
}

/* ---- results ---- */

EXPORT nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size)
{
    if (!handle || !size)
        return NVJITLINK_ERROR_NULL_INPUT;
    if (!handle->has_cubin)
        return NVJITLINK_ERROR_INTERNAL;
    *size = handle->cubin.size;
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin)
{
    if (!handle || !cubin)
        return NVJITLINK_ERROR_NULL_INPUT;
    if (!handle->has_cubin)
        return NVJITLINK_ERROR_INTERNAL;
    memcpy(cubin, handle->cubin.data, handle->cubin.size);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult no_ptx(const struct nvJitLink *jit)
{
    return jit->options.ptx ? NVJITLINK_ERROR_INTERNAL : NVJITLINK_ERROR_INVALID_INPUT;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t *size)
{
    if (!handle || !size)
        return NVJITLINK_ERROR_NULL_INPUT;
    if (!handle->has_ptx)
        return no_ptx(handle);
    *size = handle->ptx.size;
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx)
{
    if (!handle || !ptx)
        return NVJITLINK_ERROR_NULL_INPUT;
    if (!handle->has_ptx)
        return no_ptx(handle);
    memcpy(ptx, handle->ptx.data, handle->ptx.size);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult log_size(const cbi_jit_log *log, size_t *ret_size)
{
    *ret_size = log->len ? log->len + 1 : 0;
    return NVJITLINK_SUCCESS;
}

/* An empty log is a NUL, though its size is 0. */
static nvJitLinkResult copy_log(const cbi_jit_log *log, char *to)
{
    if (log->len)
        memcpy(to, log->text, log->len);
    to[log->len] = '\0';
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size)
{
    return handle && size ? log_size(&handle->error, size) : NVJITLINK_ERROR_NULL_INPUT;
}

EXPORT nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log)
{
    return handle && log ? copy_log(&handle->error, log) : NVJITLINK_ERROR_NULL_INPUT;
}

EXPORT nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t *size)
{
    return handle && size ? log_size(&handle->info, size) : NVJITLINK_ERROR_NULL_INPUT;
}

EXPORT nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log)
{
    return handle && log ? copy_log(&handle->info, log) : NVJITLINK_ERROR_NULL_INPUT;
}

/* ---- the same under the names of the header ---- */

#define VERSIONED(name) EXPORT extern __typeof__(name) __##name##_13_0 __attribute__((alias(#name)))

VERSIONED(nvJitLinkCreate);
VERSIONED(nvJitLinkDestroy);
VERSIONED(nvJitLinkAddData);
VERSIONED(nvJitLinkAddFile);
VERSIONED(nvJitLinkComplete);
VERSIONED(nvJitLinkGetLinkedCubinSize);
VERSIONED(nvJitLinkGetLinkedCubin);
VERSIONED(nvJitLinkGetLinkedPtxSize);
VERSIONED(nvJitLinkGetLinkedPtx);
VERSIONED(nvJitLinkGetErrorLogSize);
VERSIONED(nvJitLinkGetErrorLog);
VERSIONED(nvJitLinkGetInfoLogSize);
VERSIONED(nvJitLinkGetInfoLog);
