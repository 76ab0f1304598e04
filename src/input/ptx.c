/* PTX inputs: compiled by ptxas as a program of its own, with the result that nvlink's built-in
 * assembler gives.  They wait in a queue, so that several can be compiled at a time; nothing is
 * reported and no result looked at before everything in front of it is done, so the order of
 * messages is that of the inputs. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache.h"
#include "input/assembler.h"
#include "input/collect.h"
#include "input/tkinfo.h"

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
    cbi_vec_push(ctx, &args, CBI_OBJECT_NAME);
    cbi_vec_push(ctx, &args, CBI_PTX_NAME);
    return args;
}

/* nvlink's assembler reports as the linker itself does, so the target stands behind its messages,
 * too. Lines that begin with a space belong to the message before. */
static void print_log(cbi_inputs *in, cbi_span log)
{
    const cbi_ptx_options *ptx = &in->options.ptx;
    const char *suffix = in->ctx->diag.suffix ? in->ctx->diag.suffix : "";
    if (!ptx->print || !log.size)
        return;
    const char *s = (const char *)log.data;
    const char *end = s + log.size;
    while (s < end) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        const char *next = newline ? newline + 1 : end;
        bool ends = next == end || *next != ' ';
        ptx->print(ptx->print_user,
                   cbi_printf(in->ctx, "%.*s%s\n", (int)((newline ? newline : end) - s), s,
                              ends ? suffix : ""));
        s = next;
    }
}

/* ---- one job ---- */

struct cbi_ptx_job {
    cbi_origin origin;
    bool from_entry;
    bool forgotten; /* only what the assembler says counts */
    size_t module;  /* the place that is kept for the result */
    cbi_assembly assembly;
};

static void report_no_assembler(cbi_inputs *in, const char *file)
{
    cbi_ctx *ctx = in->ctx;
    const char *name = in->options.names_fields
                           ? "name the assembler in cb_link_options.ptxas_path"
                           : "give the assembler with --ptxas PATH or put it on PATH";
    in->lacks_compiler = true;
    cbi_error(
        ctx, "ptx-no-assembler", &(cbi_place){.file = file},
        cbi_printf(ctx, "%s, or compile to machine code (nvcc -gencode arch=compute_%u,code=sm_%u)",
                   name, in->options.arch->sm, in->options.arch->sm),
        "'%s' holds PTX and no machine code for %s, and there is no ptxas to compile it", file,
        in->options.arch->name);
}

static bool may_ask_for(cbi_inputs *in, const char *file, const cbi_strings *asked)
{
    const char *refused = cbi_refused_ptx_option(asked);
    if (refused)
        cbi_error(in->ctx, "ptx-option", &(cbi_place){.file = file},
                  cbi_printf(in->ctx,
                             "an input may only ask for what changes its own code; what you trust "
                             "can be given %s",
                             in->options.names_fields ? "in cb_link_options.ptxas_options"
                                                      : "with -Xptxas"),
                  "the PTX in '%s' asks its assembler for '%s'", file, refused);
    return !refused;
}

/* What the result depends on.  The folder's name is in no result. */
static cbi_span cache_key(cbi_ctx *ctx, const cbi_assembly *a)
{
    static const char kind[] = "ptxas";
    cbi_buf key = {0};
    cbi_cache_add_bytes(ctx, &key, kind, sizeof kind);
    cbi_cache_add_file(ctx, &key, a->program);
    for (size_t i = 1; i < a->args.len; i++)
        cbi_cache_add_bytes(ctx, &key, a->args.items[i], strlen(a->args.items[i]));
    cbi_cache_add_bytes(ctx, &key, a->text.data, a->text.size);
    return (cbi_span){key.items, key.len};
}

/* The cubin and what the assembler printed, in one byte string. */
static void remember(cbi_ctx *ctx, cbi_cache *cache, const cbi_assembly *a)
{
    cbi_buf value = {0};
    if (!cache->folder || a->exit_status != 0)
        return;
    cbi_cache_add_bytes(ctx, &value, a->log.data, a->log.size);
    cbi_cache_add_bytes(ctx, &value, a->cubin.data, a->cubin.size);
    cbi_cache_put(ctx, cache, cache_key(ctx, a), (cbi_span){value.items, value.len});
}

static bool recall(cbi_ctx *ctx, const cbi_cache *cache, cbi_assembly *a)
{
    cbi_span value;
    if (!cache->folder || !cbi_cache_get(ctx, cache, cache_key(ctx, a), &value))
        return false;
    cbi_reader r = cbi_reader_at(value, 0);
    cbi_span log = cbi_read_bytes(&r, cbi_read64(&r));
    cbi_span cubin = cbi_read_bytes(&r, cbi_read64(&r));
    if (r.bad)
        return false;
    a->exit_status = 0;
    a->log = log;
    a->cubin = cubin;
    return true;
}

/* Runs the assembler for those whose results are not known. */
static void assemble(cbi_inputs *in, cbi_assembly *const *jobs, size_t count)
{
    cbi_ctx *ctx = in->ctx;
    cbi_cache cache = cbi_cache_open(ctx, in->options.ptx.cache);
    cbi_assembly **new_jobs = CBI_NEW_ARRAY(ctx, count, cbi_assembly *);
    size_t new_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!recall(ctx, &cache, jobs[i]))
            new_jobs[new_count++] = jobs[i];
    cbi_assemble(ctx, new_jobs, new_count, in->options.ptx.at_a_time);
    for (size_t i = 0; i < new_count; i++)
        remember(ctx, &cache, new_jobs[i]);
}

/* NULL: there is no such program. */
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

/* A name without a folder is that of a program on PATH, as for a shell; else as seen from here: the
 * assembler runs in a folder of its own. */
static const char *absolute_program(cbi_ctx *ctx, const char *name)
{
    char cwd[4096];
    const char *found = strchr(name, '/') ? NULL : program_in_path(ctx, name);
    const char *path = found ? found : name;
    return path[0] != '/' && getcwd(cwd, sizeof cwd) ? cbi_printf(ctx, "%s/%s", cwd, path) : path;
}

static bool has_assembler(cbi_inputs *in)
{
    cbi_ptx_options *ptx = &in->options.ptx;
    if (!ptx->ptxas && ptx->find_ptxas)
        ptx->ptxas = cbi_find_ptxas(in->ctx);
    return ptx->ptxas != NULL;
}

/* False after an error was reported. */
static bool prepare(cbi_inputs *in, cbi_span text, cbi_span entry_options, struct cbi_ptx_job *job)
{
    cbi_ctx *ctx = in->ctx;
    cbi_ptx_options *ptx = &in->options.ptx;
    if (!has_assembler(in)) {
        report_no_assembler(in, job->origin.file);
        return false;
    }
    cbi_strings asked = {0};
    split_words(ctx, entry_options, &asked);
    if (!may_ask_for(in, job->origin.file, &asked))
        return false;
    job->assembly = (cbi_assembly){
        .program = absolute_program(ctx, ptx->ptxas), .args = arguments(in, &asked), .text = text};
    return true;
}

/* Reports how it went.  False: there is no cubin. */
static bool settle(cbi_inputs *in, struct cbi_ptx_job *job)
{
    cbi_ctx *ctx = in->ctx;
    const char *file = job->origin.file;
    const cbi_place place = {.file = file};
    cbi_assembly *a = &job->assembly;
    if (a->exit_status == -2)
        cbi_fatal(ctx, "ptx-folder", &place, strerror(a->why),
                  "Could not create a temporary folder for ptxas");
    print_log(in, a->log);
    if (a->exit_status < 0) {
        in->lacks_compiler = true;
        int why = a->why || access(a->program, X_OK) == 0 ? a->why : errno;
        cbi_error(ctx, "ptx-assembler", &place, why ? strerror(why) : "it ended without a result",
                  "'%s' could not be run", a->program);
        return false;
    }
    if (a->exit_status != 0)
        cbi_fatal(ctx, "ptx-failed", &place,
                  cbi_printf(ctx, "ptxas could not compile the PTX in '%s'", file),
                  "elfLink fatbinary error");
    cbi_vec_push(ctx, &in->ptx_runs,
                 ((cbi_ptx_run){.source = job->from_entry ? "ptx" : file,
                                .phase = "ptxas",
                                .input = file,
                                .output = job->from_entry ? "cubin" : "",
                                .milliseconds = a->milliseconds}));
    cbi_tkinfo_forget_names((uint8_t *)a->cubin.data, a->cubin.size, CBI_PTX_NAME " ",
                            "-o " CBI_OBJECT_NAME " ");
    return true;
}

bool cbi_inputs_assemble_lto(cbi_inputs *in, cbi_span ptx, const char *fast, cbi_span *ret_cubin)
{
    const char *options = fast ? cbi_printf(in->ctx, "-Ofc %s", fast) : "";
    struct cbi_ptx_job job = {.origin = {.file = "lto.cubin"}, .from_entry = true};
    cbi_assembly *assembly = &job.assembly;
    if (!prepare(in, ptx, (cbi_span){(const uint8_t *)options, strlen(options)}, &job))
        return false;
    assemble(in, &assembly, 1);
    if (!settle(in, &job))
        return false;
    *ret_cubin = job.assembly.cubin;
    return true;
}

static bool has_word(const cbi_strings *words, const char *name, const char *short_name)
{
    for (size_t i = 0; i < words->len; i++)
        if (strcmp(words->items[i], name) == 0 || strcmp(words->items[i], short_name) == 0)
            return true;
    return false;
}

/* nvlink has the assembler inside: its options for messages replace the linker's own. */
static void take_over(cbi_inputs *in, const cbi_strings *args)
{
    if (!in->options.ptx.takes_over)
        return;
    in->ctx->diag.suppress_warnings = has_word(args, "--disable-warnings", "-w");
    in->ctx->diag.warnings_as_errors = has_word(args, "--warning-as-error", "-Werror");
}

/* ---- the queue ---- */

static void drain(void *user)
{
    cbi_inputs_compile(user);
}

static void queue(cbi_inputs *in, const cbi_origin *origin, cbi_span text, cbi_span entry_options,
                  struct cbi_ptx_job *job)
{
    cbi_ctx *ctx = in->ctx;
    job->origin = *origin;
    if (origin->host) /* only lent */
        job->origin.host = cbi_memdup(ctx, origin->host, sizeof *origin->host);
    if (!prepare(in, text, entry_options, job))
        return;
    take_over(in, &job->assembly.args);
    job->module = in->modules.len;
    cbi_vec_push(ctx, &in->modules, ((cbi_module){.file = origin->file, .absent = true}));
    in->any_module = true;
    cbi_vec_push(ctx, &in->queue, job);
    ctx->before_report = drain;
    ctx->before_report_user = in;
}

void cbi_inputs_queue_ptx(cbi_inputs *in, const cbi_origin *origin, cbi_span text,
                          cbi_span entry_options, bool from_entry)
{
    struct cbi_ptx_job *job = CBI_NEW(in->ctx, struct cbi_ptx_job);
    job->from_entry = from_entry;
    queue(in, origin, text, entry_options, job);
}

void cbi_inputs_try_ptx(cbi_inputs *in, const cbi_origin *origin, cbi_span text,
                        cbi_span entry_options)
{
    struct cbi_ptx_job *job = CBI_NEW(in->ctx, struct cbi_ptx_job);
    job->forgotten = true;
    if (has_assembler(in))
        queue(in, origin, text, entry_options, job);
}

void cbi_inputs_compile(cbi_inputs *in)
{
    cbi_ctx *ctx = in->ctx;
    size_t count = in->queue.len;
    if (!count)
        return;
    struct cbi_ptx_job **jobs = in->queue.items;
    cbi_assembly **assemblies = CBI_NEW_ARRAY(ctx, count, cbi_assembly *);
    for (size_t i = 0; i < count; i++)
        assemblies[i] = &jobs[i]->assembly;
    ctx->before_report = NULL;
    in->queue.items = NULL;
    in->queue.len = in->queue.cap = 0;
    assemble(in, assemblies, count);
    for (size_t i = 0; i < count; i++)
        if (settle(in, jobs[i]) && !jobs[i]->forgotten)
            cbi_inputs_add_compiled(in, &jobs[i]->origin, jobs[i]->assembly.cubin, jobs[i]->module);
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
