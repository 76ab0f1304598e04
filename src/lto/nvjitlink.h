/* What is used of two libraries that are loaded at run time, as far as their public documentation
 * describes it: nvJitLink, which links device code with link-time optimization, and libnvvm, the
 * compiler for NVVM IR.  Nothing of either is needed to build this. */
#ifndef CBI_NVJITLINK_H
#define CBI_NVJITLINK_H

#include "cubind/nvJitLink.h"

/* Members by the names of the functions, in the order of cbi_nvjitlink_names. */
typedef struct cbi_nvjitlink {
    int (*create)(nvJitLinkHandle *handle, uint32_t count, const char **options);
    int (*destroy)(nvJitLinkHandle *handle);
    int (*add_data)(nvJitLinkHandle handle, int type, const void *data, size_t size,
                    const char *name);
    int (*complete)(nvJitLinkHandle handle);
    int (*get_cubin_size)(nvJitLinkHandle handle, size_t *ret_size);
    int (*get_cubin)(nvJitLinkHandle handle, void *cubin);
    int (*get_ptx_size)(nvJitLinkHandle handle, size_t *ret_size);
    int (*get_ptx)(nvJitLinkHandle handle, char *ptx);
    int (*get_error_log_size)(nvJitLinkHandle handle, size_t *ret_size);
    int (*get_error_log)(nvJitLinkHandle handle, char *log);
    int (*get_info_log_size)(nvJitLinkHandle handle, size_t *ret_size);
    int (*get_info_log)(nvJitLinkHandle handle, char *log);
} cbi_nvjitlink;

typedef void *nvvmProgram;

typedef struct cbi_nvvm {
    int (*create_program)(nvvmProgram *program);
    int (*add_module)(nvvmProgram program, const char *text, size_t size, const char *name);
    int (*compile)(nvvmProgram program, int count, const char **options);
    int (*get_result_size)(nvvmProgram program, size_t *ret_size);
    int (*get_result)(nvvmProgram program, char *result);
} cbi_nvvm;

#endif
