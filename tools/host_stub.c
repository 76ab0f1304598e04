/* The host's side of a device link: the toolkit's stub, compiled with the fatbin in it. */
#include "dlink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/process.h"
#include "base/output_file.h"
#include "container/bundle.h"
#include "input/input.h"
#include "say.h"

enum { FILE_CODE, FILE_MODULES, FILE_FATBIN, FILE_OBJECT, FILES };

/* The folder in which the compiler finds what it needs. */
typedef struct stub_folder {
    char *path;
    char *files[FILES];
    int records[FILES + 1]; /* for signals */
} stub_folder;

/* The folder as nvcc in it would name it: the paths of libraries get into the result. */
static const char *above(cbi_ctx *ctx, const char *bin, size_t len)
{
    return cbi_printf(ctx, "%.*s/..", (int)len, bin);
}

/* The folder of a program on PATH, where links lead to. */
static const char *above_link(cbi_ctx *ctx, const char *program)
{
    char place[PATH_MAX];
    char *end = realpath(program, place) ? strstr(place, "/nvcc") : NULL;
    return end && !end[strlen("/nvcc")] ? above(ctx, place, (size_t)(end - place)) : NULL;
}

const char *cbi_find_toolkit(cbi_ctx *ctx, const char *given)
{
    const char *top = given;
    if (!top || !*top)
        top = getenv("CUDA_PATH");
    if (!top || !*top)
        top = getenv("CUDA_HOME");
    if (top && *top)
        return cbi_printf(ctx, "%s/bin/..", top);
    const char *path = getenv("PATH");
    for (const char *s = path ? path : ""; *s; s += *s == ':') {
        size_t len = strcspn(s, ":");
        const char *nvcc = cbi_printf(ctx, "%.*s/nvcc", (int)len, s);
        const char *stub = cbi_printf(ctx, "%.*s/../bin/crt/link.stub", (int)len, s);
        const char *bin = s;
        s += len;
        if (access(nvcc, X_OK) != 0)
            continue;
        top = access(stub, R_OK) == 0 ? above(ctx, bin, len) : above_link(ctx, nvcc);
        if (top)
            return top;
    }
    return NULL;
}

/* ---- temporary files ---- */

static void make_folder(cbi_ctx *ctx, stub_folder *f)
{
    static const char *const names[FILES] = {"fatbin.c", "modules.c", "device.fatbin", "object.o"};
    const char *tmp = getenv("TMPDIR");
    f->path = cbi_printf(ctx, "%s/cubind-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    size_t len = strlen(f->path);
    for (size_t i = 0; i < FILES; i++)
        f->files[i] = cbi_printf(ctx, "%s/%s", f->path, names[i]);
    sigset_t before;
    cbi_cleanup_hold(&before);
    bool made = mkdtemp(f->path) != NULL;
    int why = errno;
    for (size_t i = 0; made && i < FILES; i++) {
        memcpy(f->files[i], f->path, len);
        f->records[i] = cbi_cleanup_add(f->files[i], false);
    }
    if (made)
        f->records[FILES] = cbi_cleanup_add(f->path, true);
    cbi_cleanup_release(&before);
    if (made && strpbrk(f->path, "\"\\\n"))
        cbi_fatal(ctx, "temporary-folder", NULL, "set TMPDIR to another folder",
                  "'%s' has characters that cannot stand in C code", f->path);
    if (!made)
        cbi_fatal(ctx, "temporary-folder", NULL, strerror(why),
                  "Could not create a temporary folder for the host compiler");
}

static void remove_folder(const stub_folder *f)
{
    for (size_t i = 0; i < FILES; i++)
        unlink(f->files[i]);
    rmdir(f->path);
    for (size_t i = 0; i <= FILES; i++)
        cbi_cleanup_forget(f->records[i]);
}

static bool write_file(const char *path, cbi_span bytes)
{
    FILE *f = fopen(path, "we");
    if (!f)
        return false;
    bool ok = !bytes.size || fwrite(bytes.data, 1, bytes.size, f) == bytes.size;
    return fclose(f) == 0 && ok;
}

/* ---- the command ---- */

static const char *include_folder(cbi_ctx *ctx, const char *toolkit)
{
    const char *target = cbi_printf(ctx, "%s/targets/x86_64-linux/include", toolkit);
    return access(target, F_OK) == 0 ? target : cbi_printf(ctx, "%s/include", toolkit);
}

static const char *stub_source(cbi_ctx *ctx, const cbi_host_stub *stub)
{
    const char *name = stub->relocatable ? "prelink.stub" : "link.stub";
    const char *path = cbi_printf(ctx, "%.*s/crt/%s", (int)(strlen(stub->toolkit) - strlen("/..")),
                                  stub->toolkit, name);
    if (access(path, R_OK) != 0)
        cbi_fatal(ctx, "no-stub", &(cbi_place){.file = path}, strerror(errno),
                  "the CUDA toolkit has no '%s'", path);
    return path;
}

static cbi_words compose(cbi_ctx *ctx, const cbi_host_stub *stub, const stub_folder *f)
{
    static const char *const fixed[] = {"-c",
                                        "-x",
                                        "c++",
                                        "-I.",
                                        "-D__NV_EXTRA_INITIALIZATION=",
                                        "-D__NV_EXTRA_FINALIZATION=",
                                        "-D__CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__",
                                        "-Wno-psabi"};
    cbi_words args = {0};
    const char *include = include_folder(ctx, stub->toolkit);
    cbi_vec_push(ctx, &args, stub->compiler);
    cbi_vec_push(ctx, &args, cbi_printf(ctx, "-D__CUDA_ARCH_LIST__=%s", stub->archs));
    for (size_t i = 0; i < CBI_COUNT(fixed); i++)
        cbi_vec_push(ctx, &args, fixed[i]);
    if (stub->pic)
        cbi_vec_push(ctx, &args, "-fPIC");
    cbi_vec_push(ctx, &args, cbi_printf(ctx, "-DFATBINFILE=\"%s\"", f->files[FILE_CODE]));
    if (stub->relocatable)
        cbi_vec_push(ctx, &args,
                     cbi_printf(ctx, "-D__NV_MODULE_ID=%s", cbi_module_of_path(ctx, stub->output)));
    else
        cbi_vec_push(ctx, &args,
                     cbi_printf(ctx, "-DREGISTERLINKBINARYFILE=\"%s\"", f->files[FILE_MODULES]));
    for (size_t i = 0; i < stub->flags.len; i++)
        cbi_vec_push(ctx, &args, stub->flags.items[i]);
    cbi_vec_push(ctx, &args, cbi_printf(ctx, "-I%s", include));
    cbi_vec_push(ctx, &args, "-isystem");
    cbi_vec_push(ctx, &args, cbi_printf(ctx, "%s/cccl", include));
    cbi_vec_push(ctx, &args, "-m64");
    if (stub->debug)
        cbi_vec_push(ctx, &args, "-g");
    cbi_vec_push(ctx, &args, stub_source(ctx, stub));
    cbi_vec_push(ctx, &args, "-o");
    cbi_vec_push(ctx, &args, f->files[FILE_OBJECT]);
    return args;
}

void cbi_dlink_show(cbi_ctx *ctx, const char *program, const cbi_words *args)
{
    cbi_buf line = {0};
    for (size_t i = 0; i < args->len; i++)
        cbi_buf_printf(ctx, &line, "%s%s", i ? " " : "", args->items[i]);
    cbi_say("%s%.*s", program, (int)line.len, (const char *)line.items);
}

static void be_compiler(void *user, int life)
{
    char *const *argv = user;
    (void)life;
    execvp(argv[0], argv);
}

static int run(char **argv)
{
    cbi_process compiler;
    if (!cbi_process_start(&compiler, be_compiler, argv))
        return CBI_PROCESS_NOT_RUN;
    int status = cbi_process_wait(&compiler);
    return status == -1 ? CBI_PROCESS_NOT_RUN : WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

typedef struct job {
    const cbi_host_stub *stub;
    stub_folder folder;
} job;

/* The fatbin is included as it is: an assembler reads megabytes of numbers slowly. */
static void write_inputs(cbi_ctx *ctx, const job *j)
{
    const cbi_embedding how = {.linked = !j->stub->relocatable,
                               .relocatable = j->stub->relocatable,
                               .file = j->folder.files[FILE_FATBIN]};
    cbi_rope fatbin = {.size = j->stub->fatbin.size};
    cbi_vec_push(ctx, &fatbin.parts, j->stub->fatbin);
    if (!write_file(j->folder.files[FILE_FATBIN], j->stub->fatbin) ||
        !write_file(j->folder.files[FILE_CODE], cbi_embed_fatbin(ctx, &fatbin, &how)) ||
        !write_file(j->folder.files[FILE_MODULES], j->stub->modules))
        cbi_fatal(ctx, "temporary-file", &(cbi_place){.file = j->folder.path}, strerror(errno),
                  "Could not write a temporary file for the host compiler");
}

static cb_status compile(cbi_ctx *ctx, void *arg)
{
    job *j = arg;
    write_inputs(ctx, j);
    cbi_words args = compose(ctx, j->stub, &j->folder);
    char **argv = CBI_NEW_ARRAY(ctx, args.len + 1, char *);
    for (size_t i = 0; i < args.len; i++)
        argv[i] = cbi_strndup(ctx, args.items[i], strlen(args.items[i]));
    if (j->stub->show)
        cbi_dlink_show(ctx, "", &args);
    int code = j->stub->dry ? 0 : run(argv);
    if (code == CBI_PROCESS_NOT_RUN)
        cbi_fatal(ctx, "host-compiler", NULL, "-ccbin names another one",
                  "the host compiler '%s' could not be run", argv[0]);
    if (code)
        cbi_fatal(ctx, "host-compiler", NULL, "-v prints its command",
                  "the host compiler could not compile the stub of the device link");
    cbi_span object;
    if (j->stub->dry)
        return CB_OK;
    errno = 0;
    if (cbi_map_file(ctx, j->folder.files[FILE_OBJECT], &object) != CB_OK ||
        cbi_write_output(j->stub->output, object.data, object.size) != CBI_OUTPUT_OK)
        cbi_fatal(ctx, "output-file", &(cbi_place){.file = j->stub->output},
                  errno ? strerror(errno) : NULL, "Could not write output file '%s'",
                  j->stub->output);
    return CB_OK;
}

void cbi_compile_host_stub(cbi_ctx *ctx, const cbi_host_stub *stub)
{
    job j = {.stub = stub};
    make_folder(ctx, &j.folder);
    cb_status status = cbi_run(ctx, compile, &j);
    remove_folder(&j.folder);
    if (status != CB_OK)
        cbi_fail(ctx, status);
}
