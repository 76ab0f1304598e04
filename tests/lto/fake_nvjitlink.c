/* Stands for the nvJitLink library in tests: does what FAKE_NVJITLINK says, be it a crash. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static char error_log[4096];
static char info_log[4096];
static char *output;
static size_t output_size;

static int wants(const char *what)
{
    const char *given = getenv("FAKE_NVJITLINK");
    return given && strcmp(given, what) == 0;
}

EXPORT int nvJitLinkCreate(void **handle, uint32_t count, const char **options)
{
    static int dummy;
    size_t len = 0;
    if (wants("options")) /* shown to the test as a message of the compiler */
        for (uint32_t i = 0; i < count && len < sizeof info_log - 1; i++)
            len += (size_t)snprintf(info_log + len, sizeof info_log - len, "%s\n", options[i]);
    *handle = &dummy;
    return 0;
}

EXPORT int nvJitLinkDestroy(void **handle)
{
    *handle = NULL;
    return 0;
}

EXPORT int nvJitLinkAddData(void *handle, int type, const void *data, size_t size, const char *name)
{
    (void)handle;
    (void)data;
    if (wants("refuse")) {
        snprintf(error_log, sizeof error_log, "refused %s of type %d, %zu bytes\n", name, type,
                 size);
        return 3;
    }
    return 0;
}

static void read_output(void)
{
    const char *path = getenv("FAKE_OUTPUT");
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (!f)
        return;
    output = malloc(1 << 20);
    output_size = output ? fread(output, 1, 1 << 20, f) : 0;
    fclose(f);
}

EXPORT int nvJitLinkComplete(void *handle)
{
    (void)handle;
    if (wants("crash"))
        raise(SIGSEGV);
    if (wants("words")) {
        fputs("LLVM ERROR: out of registers\n", stderr);
        abort();
    }
    if (wants("chatter")) {
        fputs("opt: : error: input module is broken!\n", stderr);
        fputs("and on the standard output\n", stdout);
    }
    if (wants("exit"))
        exit(0);
    if (wants("hang"))
        for (;;)
            pause();
    if (wants("memory"))
        for (;;) {
            char *block = malloc(64 << 20);
            if (!block)
                abort();
            memset(block, 1, 64 << 20);
        }
    if (wants("nvvm")) {
        strcpy(error_log, "ERROR in nvvmCompileProgram: NVVM_ERROR_COMPILATION\na.o: bad\n");
        return 5;
    }
    if (wants("ptxas")) {
        strcpy(error_log, "Info: CU_JIT_OPTION ignored\nptxas error   : too much\n"
                          "ptxas         .     for one line\nERROR 4: JIT the PTX\n ");
        return 4;
    }
    read_output();
    return 0;
}

static int give(const char *text, char *to)
{
    memcpy(to, text, strlen(text) + 1);
    return 0;
}

static int measure(const char *text, size_t *size)
{
    *size = *text ? strlen(text) + 1 : 0;
    return 0;
}

EXPORT int nvJitLinkGetLinkedCubinSize(void *handle, size_t *size)
{
    (void)handle;
    *size = output_size;
    return 0;
}

EXPORT int nvJitLinkGetLinkedCubin(void *handle, void *to)
{
    (void)handle;
    if (output)
        memcpy(to, output, output_size);
    return 0;
}

EXPORT int nvJitLinkGetLinkedPtxSize(void *handle, size_t *size)
{
    return nvJitLinkGetLinkedCubinSize(handle, size);
}

EXPORT int nvJitLinkGetLinkedPtx(void *handle, char *to)
{
    return nvJitLinkGetLinkedCubin(handle, to);
}

EXPORT int nvJitLinkGetErrorLogSize(void *handle, size_t *size)
{
    (void)handle;
    return measure(error_log, size);
}

EXPORT int nvJitLinkGetErrorLog(void *handle, char *to)
{
    (void)handle;
    return give(error_log, to);
}

EXPORT int nvJitLinkGetInfoLogSize(void *handle, size_t *size)
{
    (void)handle;
    return measure(info_log, size);
}

EXPORT int nvJitLinkGetInfoLog(void *handle, char *to)
{
    (void)handle;
    return give(info_log, to);
}
