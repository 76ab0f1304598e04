#include "lto/worker.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "lto/child.h"
#include "lto/nvjitlink.h"

/* The first that can be loaded; *ret_why is what was wrong with the last otherwise.  Our own
 * library may stand where nvJitLink is looked for: it compiles nothing. */
static void *load(const cbi_strings *names, const char **ret_why)
{
    *ret_why = "no name to look for";
    for (size_t i = 0; i < names->len; i++) {
        void *library = dlopen(names->items[i], RTLD_NOW | RTLD_LOCAL);
        if (library && !dlsym(library, CBI_STAND_IN))
            return library;
        *ret_why = library ? "there is only cubind's stand-in for it" : dlerror();
    }
    return NULL;
}

/* Fills a table of functions.  False if one is missing. */
static bool bind(void *library, const char *const *names, size_t count, void *table,
                 const char **ret_why)
{
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(library, names[i]);
        if (!function) {
            *ret_why = names[i];
            return false;
        }
        memcpy((char *)table + i * sizeof function, &function, sizeof function);
    }
    return true;
}

static bool load_nvjitlink(const cbi_strings *names, cbi_nvjitlink *ret_table, const char **ret_why)
{
    static const char *const functions[] = {
        "nvJitLinkCreate",
        "nvJitLinkDestroy",
        "nvJitLinkAddData",
        "nvJitLinkComplete",
        "nvJitLinkGetLinkedCubinSize",
        "nvJitLinkGetLinkedCubin",
        "nvJitLinkGetLinkedPtxSize",
        "nvJitLinkGetLinkedPtx",
        "nvJitLinkGetErrorLogSize",
        "nvJitLinkGetErrorLog",
        "nvJitLinkGetInfoLogSize",
        "nvJitLinkGetInfoLog",
    };
    void *library = load(names, ret_why);
    return library && bind(library, functions, CBI_COUNT(functions), ret_table, ret_why);
}

typedef struct bytes {
    char *data;
    size_t size;
} bytes;

/* A byte string that is asked for by size first; with a NUL behind it. */
static bytes fetch(nvJitLinkHandle handle, int (*get_size)(nvJitLinkHandle, size_t *),
                   int (*get)(nvJitLinkHandle, char *))
{
    bytes none = {NULL, 0};
    size_t size = 0;
    if (get_size(handle, &size) != NVJITLINK_SUCCESS || size == SIZE_MAX)
        return none;
    char *data = calloc(1, size + 1);
    if (!data)
        return none;
    if (size && get(handle, data) != NVJITLINK_SUCCESS) {
        free(data);
        return none;
    }
    return (bytes){data, size};
}

/* LTO-IR of the module. */
static bool make_module(const cbi_strings *names, const char *module, bytes *ret_ir,
                        const char **ret_why)
{
    static const char *const functions[] = {"nvvmCreateProgram", "nvvmAddModuleToProgram",
                                            "nvvmCompileProgram", "nvvmGetCompiledResultSize",
                                            "nvvmGetCompiledResult"};
    /* The oldest target: its LTO-IR can be compiled for every other. */
    const char *options[] = {"-arch=compute_75", "-gen-lto"};
    cbi_nvvm nvvm = {0};
    nvvmProgram program = NULL;
    void *library = load(names, ret_why);
    if (!library || !bind(library, functions, CBI_COUNT(functions), &nvvm, ret_why))
        return false;
    *ret_why = "it does not compile";
    if (nvvm.create_program(&program) != 0 ||
        nvvm.add_module(program, module, strlen(module), CBI_LTO_ANCHOR) != 0 ||
        nvvm.compile(program, CBI_COUNT(options), options) != 0 ||
        nvvm.get_result_size(program, &ret_ir->size) != 0)
        return false;
    ret_ir->data = malloc(ret_ir->size + 1);
    return ret_ir->data && nvvm.get_result(program, ret_ir->data) == 0;
}

static int add_module(const cbi_nvjitlink *lib, nvJitLinkHandle handle, const bytes *module)
{
    return lib->add_data(handle, NVJITLINK_INPUT_LTOIR, module->data, module->size, CBI_LTO_ANCHOR);
}

static int add_inputs(const cbi_nvjitlink *lib, nvJitLinkHandle handle, const cbi_lto_job *job,
                      const bytes *module)
{
    int status = NVJITLINK_SUCCESS;
    if (module->data && job->module_first)
        status = add_module(lib, handle, module);
    for (size_t i = 0; i < job->input_count && !status; i++) {
        const cbi_lto_piece *in = &job->inputs[i];
        status = lib->add_data(handle, in->type, in->bytes.data, in->bytes.size, in->name);
        if (job->goes_on)
            status = NVJITLINK_SUCCESS;
    }
    if (module->data && !job->module_first && !status)
        status = add_module(lib, handle, module);
    if (job->empty_ptx && !status)
        status = lib->add_data(handle, NVJITLINK_INPUT_PTX, job->empty_ptx, strlen(job->empty_ptx),
                               "empty");
    return status;
}

static void link_and_say(const cbi_nvjitlink *lib, const cbi_lto_job *job, const bytes *module,
                         int to)
{
    nvJitLinkHandle handle = NULL;
    int status = lib->create(&handle, (uint32_t)job->options.len, job->options.items);
    if (!status)
        status = add_inputs(lib, handle, job, module);
    if (!status)
        status = lib->complete(handle);
    bytes output = {NULL, 0};
    if (!status)
        output = job->wants_ptx ? fetch(handle, lib->get_ptx_size, lib->get_ptx)
                                : fetch(handle, lib->get_cubin_size,
                                        (int (*)(nvJitLinkHandle, char *))lib->get_cubin);
    bytes error = {NULL, 0}, info = {NULL, 0};
    if (handle) {
        error = fetch(handle, lib->get_error_log_size, lib->get_error_log);
        info = fetch(handle, lib->get_info_log_size, lib->get_info_log);
    }
    cbi_lto_say(to, output.data ? CBI_LTO_FINISHED : CBI_LTO_FAILED, status,
                error.data ? error.data : "", info.data ? info.data : "",
                (cbi_span){(const uint8_t *)output.data, output.size});
    free(output.data);
    free(error.data);
    free(info.data);
}

void cbi_lto_worker(void *user, int to)
{
    const cbi_lto_job *job = user;
    cbi_nvjitlink lib = {0};
    bytes module = {NULL, 0};
    const char *why = "";
    if (!load_nvjitlink(&job->libraries, &lib, &why))
        cbi_lto_say(to, CBI_LTO_NO_LIBRARY, 0, why, "", (cbi_span){NULL, 0});
    else if (job->module && !make_module(&job->compilers, job->module, &module, &why))
        cbi_lto_say(to, CBI_LTO_NO_COMPILER, 0, why, "", (cbi_span){NULL, 0});
    else
        link_and_say(&lib, job, &module, to);
}
