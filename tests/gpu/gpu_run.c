/* Loads a linked cubin through the CUDA driver and runs its kernels.
 *
 *     gpu_run --device                  prints "sm_NN DRIVER NAME"
 *     gpu_run --sample IMAGE            runs the kernels of samples/ and checks what they compute
 *     gpu_run --list FILE               launches kernels and prints a digest of what each leaves
 *
 * Each line of FILE is IMAGE THREADS KERNEL:SIZES...  SIZES are the sizes of the parameters,
 * separated by commas; each parameter of 8 bytes or more starts with a pointer to scratch memory,
 * smaller ones are 1.  What comes of an image follows a line "= IMAGE".  After an error the context
 * is of no more use and the program ends; the caller goes on behind that image.  Exit 77: no driver
 * or no GPU.
 */
#include "cuda.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name, parameters, symbol) static CUresult(*name) parameters;
CUDA_FUNCTIONS(DECLARE)
#undef DECLARE

enum { SCRATCH_BYTES = 1 << 20, DYNAMIC_SHARED = 4096, NO_GPU = 77 };

static void no_gpu(const char *why)
{
    printf("no GPU to run on: %s\n", why);
    exit(NO_GPU);
}

static void must(CUresult result, const char *what)
{
    if (result == 0)
        return;
    const char *name = "unknown error";
    cuGetErrorName(result, &name);
    printf("%s: %s\n", what, name);
    exit(1);
}

static CUdevice open_device(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        no_gpu("libcuda.so.1 is not installed");
#define FIND(name, parameters, symbol)                                                             \
    *(void **)&name = dlsym(library, symbol);                                                      \
    if (!name)                                                                                     \
        no_gpu("the driver lacks " symbol);
    CUDA_FUNCTIONS(FIND)
#undef FIND
    if (cuInit(0) != 0)
        no_gpu("cuInit failed");
    CUdevice device;
    if (cuDeviceGet(&device, 0) != 0)
        no_gpu("no device");
    return device;
}

static void use_device(CUdevice device)
{
    CUcontext context;
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

static void print_device(CUdevice device)
{
    int major = 0, minor = 0, version = 0;
    char name[256] = "";
    cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    cuDriverGetVersion(&version);
    cuDeviceGetName(name, sizeof name, device);
    printf("sm_%d%d %d.%d %s\n", major, minor, version / 1000, version % 1000 / 10, name);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        printf("cannot open %s\n", path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *image = malloc(size + 1);
    if (!image || fread(image, 1, size, f) != size) {
        printf("cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    return image;
}

static CUmodule load(const char *path)
{
    char *image = read_file(path);
    CUmodule module;
    must(cuModuleLoadData(&module, image), "cuModuleLoadData");
    free(image);
    return module;
}

static CUdeviceptr upload(const void *data, size_t size)
{
    CUdeviceptr at;
    must(cuMemAlloc(&at, size), "cuMemAlloc");
    must(cuMemcpyHtoD(at, data, size), "cuMemcpyHtoD");
    return at;
}

/* ---- the samples, against the same sums on the processor ---- */

enum { COUNT = 1000, BLOCK = 256, BLOCKS = (COUNT + BLOCK - 1) / BLOCK };

static float input[COUNT], output[COUNT];
static const float weights[8] = {0.05f, 0.1f, 0.15f, 0.2f, 0.2f, 0.15f, 0.1f, 0.05f};

static int close_to(float got, float want, const char *kernel, int i)
{
    if (fabsf(got - want) <= 1e-4f * (1 + fabsf(want)))
        return 1;
    printf("not ok - %s[%d] is %g, should be %g\n", kernel, i, (double)got, (double)want);
    return 0;
}

static void launch_sample(CUmodule module, const char *kernel, size_t result_bytes)
{
    CUfunction function;
    must(cuModuleGetFunction(&function, module, kernel), kernel);
    CUdeviceptr in = upload(input, sizeof input), out = upload(output, sizeof output);
    int n = COUNT;
    void *params[] = {&in, &out, &n};
    must(cuLaunchKernel(function, BLOCKS, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL), kernel);
    must(cuCtxSynchronize(), kernel);
    must(cuMemcpyDtoH(output, out, result_bytes), "cuMemcpyDtoH");
    cuMemFree(in);
    cuMemFree(out);
}

static int run_sample(const char *path)
{
    CUmodule module = load(path);
    for (int i = 0; i < COUNT; i++)
        input[i] = (float)(i % 13) - 4.5f;
    int ok = 1;

    launch_sample(module, "block_sum", BLOCKS * sizeof(float));
    for (int b = 0; b < BLOCKS; b++) {
        double sum = 0;
        for (int i = b * BLOCK; i < COUNT && i < (b + 1) * BLOCK; i++)
            sum += (double)input[i] * (i % 7 + 1);
        ok &= close_to(output[b], (float)sum, "block_sum", b);
    }

    launch_sample(module, "smooth_line", sizeof output);
    for (int i = 0; i < COUNT; i++) {
        float sum = 0;
        for (int k = 0; k < 8 && i + k < COUNT; k++)
            sum += input[i + k] * weights[k];
        ok &= close_to(output[i], sum, "smooth_line", i);
    }

    CUdeviceptr calls;
    size_t size;
    unsigned count = 0;
    must(cuModuleGetGlobal(&calls, &size, module, "calls"), "cuModuleGetGlobal calls");
    must(cuMemcpyDtoH(&count, calls, sizeof count), "cuMemcpyDtoH");
    if (count != COUNT) {
        printf("not ok - calls is %u, should be %d\n", count, COUNT);
        ok = 0;
    }
    if (ok)
        printf("ok - block_sum, smooth_line and the counter have the right values\n");
    return !ok;
}

/* ---- any kernel: what it leaves in its memory ---- */

typedef struct memory {
    uint64_t words[SCRATCH_BYTES / 8];
} memory;

/* What differs between two runs is an address or a time and does not count; nor does the other half
 * of an address, which may be the same in both. */
static uint64_t digest(const memory *a, const memory *b)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, eight bytes at a time */
    for (size_t i = 0; i < sizeof a->words / sizeof *a->words; i++)
        h = (h ^ (a->words[i] == b->words[i] ? a->words[i] : 0)) * 0x100000001b3u;
    return h;
}

/* A grid of one cluster: of one block, where the kernel asks for none. */
static unsigned cluster_size(CUfunction function, int attribute)
{
    int value = 0;
    if (cuFuncGetAttribute(&value, attribute, function) != 0 || value < 1)
        return 1;
    return (unsigned)value;
}

static CUresult launch(CUfunction function, unsigned threads, void **params)
{
    unsigned x = cluster_size(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
    unsigned y = cluster_size(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
    unsigned z = cluster_size(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
    int most = 0;
    if (cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function) == 0 &&
        most > 0 && (unsigned)most < threads)
        threads = (unsigned)most;
    /* Cooperative where it can be, so that a grid may wait for itself; with memory for what is
     * declared without a size. */
    CUresult result =
        cuLaunchCooperativeKernel(function, x, y, z, threads, 1, 1, DYNAMIC_SHARED, NULL, params);
    if (result)
        result =
            cuLaunchKernel(function, x, y, z, threads, 1, 1, DYNAMIC_SHARED, NULL, params, NULL);
    if (result)
        result = cuLaunchKernel(function, x, y, z, threads, 1, 1, 0, NULL, params, NULL);
    return result;
}

/* Launches the kernel of a module and fetches its memory. */
static CUresult run_once(CUmodule module, unsigned threads, const char *name, const char *sizes,
                         memory *left)
{
    CUfunction function;
    CUresult result = cuModuleGetFunction(&function, module, name);
    if (result)
        return result;
    for (size_t i = 0; i < sizeof left->words / sizeof *left->words; i++)
        left->words[i] = (2 * i) % 5 + 1 + (((2 * i + 1) % 5 + 1) << 32);
    CUdeviceptr at = upload(left, sizeof *left);
    /* the middle, so that negative indices stay inside */
    uint64_t pointer = at + SCRATCH_BYTES / 2;

    static uint64_t values[4096 / 8 * 2];
    void *params[256];
    size_t count = 0, used = 0;
    for (const char *s = sizes; *s && count < 256;) {
        char *end;
        size_t size = strtoul(s, &end, 10), words = (size + 7) / 8;
        s = *end == ',' ? end + 1 : end;
        if (used + words > sizeof values / sizeof *values || (*end && *end != ','))
            return 1;
        params[count++] = &values[used];
        values[used] = size >= 8 ? pointer : 1;
        for (size_t i = 1; i < words; i++)
            values[used + i] = 1;
        used += words;
    }
    result = launch(function, threads, params);
    if (!result)
        result = cuCtxSynchronize();
    if (!result)
        result = cuMemcpyDtoH(left, at, sizeof *left);
    return result; /* the memory stays, so that the next has another address */
}

static CUresult say(const char *what, CUresult result)
{
    const char *name = "unknown error";
    cuGetErrorName(result, &name);
    printf("%s: %s\n", what, name);
    return result;
}

/* "IMAGE THREADS KERNEL:SIZES...".  Every kernel runs in two loads of the image. */
static CUresult run_image(char *line)
{
    const char *path = strtok(line, " \n"), *threads = strtok(NULL, " \n");
    if (!path || !threads)
        return 0;
    printf("= %s\n", path);
    fflush(stdout);
    static memory first, second;
    CUmodule modules[2];
    char *image = read_file(path);
    for (int i = 0; i < 2; i++) {
        CUresult result = cuModuleLoadData(&modules[i], image);
        if (result)
            return say("cuModuleLoadData", result);
    }
    free(image);
    for (char *job = strtok(NULL, " \n"); job; job = strtok(NULL, " \n")) {
        char *sizes = strrchr(job, ':');
        if (!sizes)
            return 1;
        *sizes++ = 0;
        unsigned count = (unsigned)strtoul(threads, NULL, 10);
        CUresult result = run_once(modules[0], count, job, sizes, &first);
        if (!result)
            result = run_once(modules[1], count, job, sizes, &second);
        if (result)
            return say(job, result);
        printf("%s: %016llx\n", job, (unsigned long long)digest(&first, &second));
        fflush(stdout);
    }
    cuModuleUnload(modules[0]);
    cuModuleUnload(modules[1]);
    return 0;
}

static void run_list(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        printf("cannot open %s\n", path);
        exit(1);
    }
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, f) > 0)
        if (run_image(line))
            break;
    free(line);
    fclose(f);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: gpu_run --device | --sample IMAGE | --list FILE\n");
        return 2;
    }
    CUdevice device = open_device();
    if (strcmp(argv[1], "--device") == 0) {
        print_device(device);
        return 0;
    }
    use_device(device);
    if (strcmp(argv[1], "--sample") == 0 && argc == 3)
        return run_sample(argv[2]);
    if (strcmp(argv[1], "--list") == 0 && argc == 3)
        run_list(argv[2]);
    return 0; /* an error of the driver is an answer, to be compared like any other */
}
