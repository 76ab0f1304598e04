/* Where the libraries may be. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lto/lto.h"

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Adds folder/part/name for every part and name, where there is such a file. */
static void add_files(cbi_ctx *ctx, cbi_strings *names, const char *folder,
                      const char *const *parts, const char *const *files)
{
    for (size_t i = 0; parts[i]; i++)
        for (size_t k = 0; files[k]; k++) {
            const char *path = cbi_printf(ctx, "%s/%s/%s", folder, parts[i], files[k]);
            if (is_file(path))
                cbi_vec_push(ctx, names, path);
        }
}

/* The folder that holds the nvcc on PATH; NULL if there is none. */
static const char *nvcc_folder(cbi_ctx *ctx)
{
    cbi_strings dirs = {0};
    cbi_split_paths(ctx, getenv("PATH"), &dirs);
    for (size_t i = 0; i < dirs.len; i++)
        if (access(cbi_printf(ctx, "%s/nvcc", dirs.items[i]), X_OK) == 0)
            return dirs.items[i];
    return NULL;
}

static const char *const jit_files[] = {"libnvJitLink.so.13", "libnvJitLink.so", NULL};
static const char *const nvvm_files[] = {"libnvvm.so.4", "libnvvm.so", NULL};

void cbi_lto_list_libraries(cbi_ctx *ctx, const cbi_lto_options *options, cbi_strings *ret_names)
{
    /* -nvvmpath names the toolkit's folder nvvm, or the toolkit. */
    static const char *const below_nvvm[] = {"../lib64", "../lib", "lib64", "lib", NULL};
    static const char *const below_bin[] = {"../lib64", "../lib", NULL};
    static const char *const below_top[] = {"lib64", "lib", NULL};
    static const char *const here[] = {".", NULL};
    if (options->nvjitlink) {
        cbi_vec_push(ctx, ret_names, options->nvjitlink);
        return;
    }
    if (options->nvvmpath)
        add_files(ctx, ret_names, options->nvvmpath, below_nvvm, jit_files);
    const char *nvcc = nvcc_folder(ctx);
    if (nvcc)
        add_files(ctx, ret_names, nvcc, below_bin, jit_files);
    /* By their paths: by its name the loader gives the stand-in if that is loaded. */
    cbi_strings folders = {0};
    cbi_split_paths(ctx, getenv("LD_LIBRARY_PATH"), &folders);
    for (size_t i = 0; i < folders.len; i++)
        add_files(ctx, ret_names, folders.items[i], here, jit_files);
    add_files(ctx, ret_names, "/usr/local/cuda", below_top, jit_files);
    for (size_t i = 0; jit_files[i]; i++) /* where the loader looks */
        cbi_vec_push(ctx, ret_names, jit_files[i]);
}

void cbi_lto_list_compilers(cbi_ctx *ctx, const cbi_lto_options *options, cbi_strings *ret_names)
{
    static const char *const below_nvvm[] = {"lib64", "lib", "nvvm/lib64", "../lib64", NULL};
    static const char *const below_bin[] = {"../nvvm/lib64", "../lib64", "../lib", NULL};
    static const char *const beside[] = {".", "../nvvm/lib64", NULL};
    if (options->nvvmpath)
        add_files(ctx, ret_names, options->nvvmpath, below_nvvm, nvvm_files);
    if (options->nvjitlink) {
        const char *path = options->nvjitlink;
        size_t len = (size_t)(cbi_base_name(path) - path);
        add_files(ctx, ret_names, len ? cbi_strndup(ctx, path, len) : ".", beside, nvvm_files);
    }
    const char *nvcc = nvcc_folder(ctx);
    if (nvcc)
        add_files(ctx, ret_names, nvcc, below_bin, nvvm_files);
    for (size_t i = 0; nvvm_files[i]; i++)
        cbi_vec_push(ctx, ret_names, nvvm_files[i]);
}
