/* PTX inputs: compiled by ptxas as a program of its own, with the result that nvlink's built-in
 * assembler gives. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "input/collect.h"
#include "input/tkinfo.h"

/* The names under which the built-in assembler reports: the source in its messages, the object in
 * its notes. */
#define PTX_NAME    "application ptx input"
#define OBJECT_NAME "elf.o"
#define LOG_NAME    "log"

enum { NOT_RUN = 127, FILES = 3 };

typedef struct ptx_job {
    char *dir;
    const char *program;
    cbi_strings args;
    cbi_span text;
    char *paths[FILES]; /* of the three files, for writing, reading and removal */
    int exit_status;    /* -1: could not be run */
    cbi_span cubin;
    cbi_span log;
    int records[FILES + 1]; /* for signals */
} ptx_job;

static bool write_file(const char *path, cbi_span bytes)
{
    FILE *f = fopen(path, "we");
    if (!f)
        return false;
    /* The built-in assembler reads up to a NUL. */
    size_t size = bytes.size ? strnlen((const char *)bytes.data, bytes.size) : 0;
    bool ok = fwrite(bytes.size ? (const char *)bytes.data : "", 1, size, f) == size;
    return fclose(f) == 0 && ok;
}

/* Not mapped: the file is removed, and the notes in it are changed. */
static bool read_file(cbi_ctx *ctx, const char *path, cbi_span *ret_bytes)
{
    FILE *f = fopen(path, "re");
    struct stat st;
    if (!f)
        return false;
    bool ok = fstat(fileno(f), &st) == 0;
    if (ok) {
        uint8_t *data = cbi_alloc(ctx, (size_t)st.st_size + 1);
        ok = fread(data, 1, (size_t)st.st_size, f) == (size_t)st.st_size;
        *ret_bytes = (cbi_span){data, (size_t)st.st_size};
    }
    fclose(f);
    return ok;
}

/* Between fork and exec: only what POSIX allows there. */
CBI_NORETURN static void be_assembler(const ptx_job *job, char *const *argv, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out = open(job->paths[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    /* last the folder: the path above may be relative to the caller's */
    if (getppid() == parent && in >= 0 && out >= 0 && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 &&
        dup2(out, 2) >= 0 && chdir(job->dir) == 0)
        execv(job->program, argv);
    _exit(NOT_RUN);
}

static int run(const ptx_job *job, char *const *argv)
{
    int status;
    pid_t self = getpid();
    sigset_t before;
    cbi_cleanup_hold(&before);
    pid_t pid = fork();
    if (pid == 0) {
        cbi_cleanup_to_child(&before);
        be_assembler(job, argv, self);
    }
    cbi_cleanup_child(pid > 0 ? pid : 0);
    cbi_cleanup_release(&before);
    if (pid < 0)
        return -1;
    pid_t done;
    while ((done = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        continue;
    cbi_cleanup_child(0);
    if (done < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == NOT_RUN))
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static cb_status run_job(cbi_ctx *ctx, void *arg)
{
    ptx_job *job = arg;
    char **argv = CBI_NEW_ARRAY(ctx, job->args.len + 1, char *);
    for (size_t i = 0; i < job->args.len; i++)
        argv[i] = cbi_strndup(ctx, job->args.items[i], strlen(job->args.items[i]));
    job->exit_status = -1;
    if (write_file(job->paths[0], job->text))
        job->exit_status = run(job, argv);
    if (job->exit_status >= 0)
        read_file(ctx, job->paths[2], &job->log);
    if (job->exit_status == 0 && !read_file(ctx, job->paths[1], &job->cubin))
        job->exit_status = -1;
    return CB_OK;
}

/* The folder, and what signals must know about it. */
static bool make_folder(cbi_ctx *ctx, ptx_job *job)
{
    static const char *const names[FILES] = {PTX_NAME, OBJECT_NAME, LOG_NAME};
    size_t len = strlen(job->dir);
    for (size_t i = 0; i < FILES; i++)
        job->paths[i] = cbi_printf(ctx, "%s/%s", job->dir, names[i]);
    sigset_t before;
    cbi_cleanup_hold(&before);
    bool made = mkdtemp(job->dir) != NULL;
    int why = errno;
    for (size_t i = 0; made && i < FILES; i++) {
        memcpy(job->paths[i], job->dir, len);
        job->records[i] = cbi_cleanup_add(job->paths[i], false);
    }
    if (made)
        job->records[FILES] = cbi_cleanup_add(job->dir, true);
    cbi_cleanup_release(&before);
    errno = why;
    return made;
}

static void remove_folder(const ptx_job *job)
{
    for (size_t i = 0; i < FILES; i++)
        unlink(job->paths[i]);
    rmdir(job->dir);
    for (size_t i = 0; i <= FILES; i++)
        cbi_cleanup_forget(job->records[i]);
}

static void split_words(cbi_ctx *ctx, cbi_span text, cbi_strings *words)
{
    size_t i = 0;
    while (i < text.size) {
        while (i < text.size && (text.data[i] <= ' '))
            i++;
        size_t start = i;
        while (i < text.size && text.data[i] > ' ')
            i++;
        if (i > start)
            cbi_vec_push(ctx, words, cbi_strndup(ctx, (const char *)text.data + start, i - start));
    }
}

static cbi_strings arguments(cbi_inputs *in, const cbi_strings *asked)
{
    cbi_ctx *ctx = in->ctx;
    const cbi_ptx_options *ptx = &in->options.ptx;
    cbi_strings args = {0};
    cbi_vec_push(ctx, &args, ptx->ptxas);
    /* nvlink assembles for the plain target even if a family was asked for. */
    const cbi_arch *arch = in->options.arch;
    cbi_vec_push(ctx, &args,
                 cbi_printf(ctx, "-arch=sm_%u%s", arch->sm, arch->suffix == 'a' ? "a" : ""));
    cbi_vec_push(ctx, &args, "-m64");
    cbi_vec_push(ctx, &args, "--compile-only");
    for (size_t i = 0; i < asked->len; i++)
        cbi_vec_push(ctx, &args, asked->items[i]);
    if (ptx->debug)
        cbi_vec_push(ctx, &args, "-g");
    if (ptx->has_maxrregcount)
        cbi_vec_push(ctx, &args, cbi_printf(ctx, "-maxrregcount=%d", ptx->maxrregcount));
    if (ptx->device_stack_protector)
        cbi_vec_push(ctx, &args,
                     cbi_printf(ctx, "-device-stack-protector=%s", ptx->device_stack_protector));
    if (ptx->has_split_compile)
        cbi_vec_push(ctx, &args, cbi_printf(ctx, "-split-compile=%d", ptx->split_compile));
    for (size_t i = 0; i < ptx->extra_count; i++)
        cbi_vec_push(ctx, &args, ptx->extra[i]);
    cbi_vec_push(ctx, &args, "-o");
    cbi_vec_push(ctx, &args, OBJECT_NAME);
    cbi_vec_push(ctx, &args, PTX_NAME);
    return args;
}

static void print_log(cbi_inputs *in, cbi_span log)
{
    const cbi_ptx_options *ptx = &in->options.ptx;
    const char *s = (const char *)log.data;
    const char *end = s + log.size;
    while (ptx->print && s < end) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        const char *next = newline ? newline + 1 : end;
        ptx->print(ptx->print_user,
                   cbi_printf(in->ctx, "%.*s\n", (int)((newline ? newline : end) - s), s));
        s = next;
    }
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

bool cbi_compile_ptx(cbi_inputs *in, const cbi_origin *origin, cbi_span text,
                     cbi_span entry_options, bool from_entry, cbi_span *ret_cubin)
{
    cbi_ctx *ctx = in->ctx;
    const cbi_place place = {.file = origin->file};
    if (!in->options.ptx.ptxas) {
        in->lacks_compiler = true;
        cbi_error(
            ctx, "ptx-no-assembler", &place,
            cbi_printf(
                ctx, "%s, or compile to machine code (nvcc -gencode arch=compute_%u,code=sm_%u)",
                in->options.names_fields ? "name the assembler in cb_link_options.ptxas_path"
                                         : "give the assembler with --ptxas PATH or put it on PATH",
                in->options.arch->sm, in->options.arch->sm),
            "'%s' holds PTX and no machine code for %s, and there is no ptxas to compile it",
            origin->file, in->options.arch->name);
        return false;
    }
    cbi_strings asked = {0};
    split_words(ctx, entry_options, &asked);
    const char *refused = cbi_refused_ptx_option(&asked);
    if (refused) {
        cbi_error(ctx, "ptx-option", &place,
                  "an input may only ask for what changes its own code; what you trust can be "
                  "given with -Xptxas",
                  "the PTX in '%s' asks its assembler for '%s'", origin->file, refused);
        return false;
    }
    char cwd[4096];
    const char *program = in->options.ptx.ptxas;
    if (program[0] != '/' && getcwd(cwd, sizeof cwd))
        program = cbi_printf(ctx, "%s/%s", cwd, program);
    const char *tmp = getenv("TMPDIR");
    char *dir = cbi_printf(ctx, "%s/cubind-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    ptx_job job = {.dir = dir, .program = program, .text = text};
    job.args = arguments(in, &asked);
    if (!make_folder(ctx, &job))
        cbi_fatal(ctx, "ptx-folder", &place, strerror(errno),
                  "Could not create a temporary folder for ptxas");

    double start = now_ms();
    cb_status status = cbi_run(ctx, run_job, &job);
    remove_folder(&job);
    if (status != CB_OK)
        cbi_fail(ctx, status);

    print_log(in, job.log);
    if (job.exit_status < 0) {
        cbi_error(ctx, "ptx-assembler", &place, NULL, "'%s' could not be run", job.program);
        return false;
    }
    if (job.exit_status != 0)
        cbi_fatal(ctx, "ptx-failed", &place,
                  cbi_printf(ctx, "ptxas could not compile the PTX in '%s'", origin->file),
                  "elfLink fatbinary error");
    cbi_vec_push(ctx, &in->ptx_runs,
                 ((cbi_ptx_run){.source = from_entry ? "ptx" : origin->file,
                                .phase = "ptxas",
                                .input = origin->file,
                                .output = from_entry ? "cubin" : "",
                                .milliseconds = now_ms() - start}));
    cbi_tkinfo_forget_names((uint8_t *)job.cubin.data, job.cubin.size, PTX_NAME " ",
                            "-o " OBJECT_NAME " ");
    *ret_cubin = job.cubin;
    return true;
}

bool cbi_inputs_assemble_lto(cbi_inputs *in, cbi_span ptx, const char *fast, cbi_span *ret_cubin)
{
    const cbi_origin origin = {.file = "lto.cubin"};
    const char *options = fast ? cbi_printf(in->ctx, "-Ofc %s", fast) : "";
    return cbi_compile_ptx(in, &origin, ptx, (cbi_span){(const uint8_t *)options, strlen(options)},
                           true, ret_cubin);
}

static const char *program_in_path(cbi_ctx *ctx, const char *program)
{
    cbi_strings dirs = {0};
    cbi_split_paths(ctx, getenv("PATH"), &dirs);
    for (size_t i = 0; i < dirs.len; i++) {
        const char *path = cbi_printf(ctx, "%s/%s", dirs.items[i], program);
        struct stat st;
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

const char *cbi_find_ptxas(cbi_ctx *ctx)
{
    const char *nvcc = program_in_path(ctx, "nvcc");
    if (nvcc) {
        const char *beside =
            cbi_printf(ctx, "%.*sptxas", (int)(strrchr(nvcc, '/') + 1 - nvcc), nvcc);
        if (access(beside, X_OK) == 0)
            return beside;
    }
    return program_in_path(ctx, "ptxas");
}
