/* One run of the compiler: options in, output and messages out. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "format/cuda_elf.h"
#include "input/elf.h"
#include "lto/lto.h"
#include "lto/nvjitlink.h"
#include "lto/worker.h"
#include "object/object.h"

/* Refers to a function that nobody defines, without a call.  With it among the inputs nvJitLink
 * sees that the program is not complete, and keeps what others could refer to. */
static const char anchor_module[] =
    CBI_LTO_IR_HEAD "declare void @" CBI_LTO_ANCHOR "()\n"
                    "@llvm.compiler.used = appending global [1 x i8*] [i8* bitcast (void ()* "
                    "@" CBI_LTO_ANCHOR " to i8*)], section \"llvm.metadata\"\n" CBI_LTO_IR_TAIL;

static bool is_part(cbi_lto_form form)
{
    return form == CBI_LTO_PART || form == CBI_LTO_PART_PTX;
}

static void push_option(cbi_ctx *ctx, cbi_strings *out, const char *name, const char *value)
{
    cbi_vec_push(ctx, out, cbi_printf(ctx, "%s=%s", name, value));
}

static void push_number(cbi_ctx *ctx, cbi_strings *out, const char *name, int32_t value)
{
    cbi_vec_push(ctx, out, cbi_printf(ctx, "%s=%d", name, value));
}

/* What the assembler is told goes by the library's options where it has them. */
static void assembler_options(cbi_ctx *ctx, const cbi_ptx_options *ptx, cbi_strings *out)
{
    if (ptx->has_split_compile) {
        push_number(ctx, out, "-split-compile", ptx->split_compile);
        push_number(ctx, out, "-Xptxas=-split-compile", ptx->split_compile);
    }
    if (ptx->device_stack_protector)
        push_option(ctx, out, "-Xptxas=-device-stack-protector", ptx->device_stack_protector);
    for (size_t i = 0; i < ptx->extra_count; i++)
        push_option(ctx, out, "-Xptxas", ptx->extra[i]);
}

static void prune_options(cbi_ctx *ctx, const cbi_lto_options *o, cbi_strings *out)
{
    for (size_t i = 0; i < o->kernel_count; i++)
        push_option(ctx, out, "-kernels-used", o->kernels[i]);
    for (size_t i = 0; i < o->more_kernel_count; i++)
        push_option(ctx, out, "-kernels-used", o->more_kernels[i]);
    for (size_t i = 0; i < o->variable_count; i++)
        push_option(ctx, out, "-variables-used", o->variables[i]);
    /* Without a pattern for variables nvlink drops all that no code refers to. */
    if (o->prune)
        cbi_vec_push(ctx, out, "-optimize-unused-variables");
}

/* The target that the compiler is told: nvlink leaves the suffix of a family away, not that of a
 * chip.  Experiment: -emit-ptx and the assembler's record for sm_100f, sm_103f, sm_110f, sm_120f.
 */
static const char *compiler_target(cbi_ctx *ctx, const cbi_arch *arch)
{
    return arch->suffix == 'f' ? cbi_printf(ctx, "sm_%u", arch->sm) : arch->name;
}

static cbi_strings library_options(cbi_ctx *ctx, const cbi_lto_options *o, cbi_lto_form form)
{
    cbi_strings out = {0};
    push_option(ctx, &out, "-arch", compiler_target(ctx, o->arch));
    cbi_vec_push(ctx, &out, "-lto");
    if (o->ptx->debug)
        cbi_vec_push(ctx, &out, "-g");
    if (o->ptx->has_maxrregcount)
        push_number(ctx, &out, "-maxrregcount", o->ptx->maxrregcount);
    if (o->fast_compile)
        push_option(ctx, &out, "-Ofc", o->fast_compile);
    for (size_t i = 0; i < o->nvvm_option_count; i++)
        push_option(ctx, &out, "-Xnvvm", o->nvvm_options[i]);
    if (is_part(form))
        cbi_vec_push(ctx, &out, "-r");
    if (form == CBI_LTO_PART_PTX || form == CBI_LTO_PART_TEXT) {
        /* The assembler's work is thrown away but for the source that it keeps. */
        cbi_vec_push(ctx, &out, form == CBI_LTO_PART_TEXT ? "-ptx" : "-Xptxas=-lineinfo");
        if (o->ptx->has_split_compile)
            push_number(ctx, &out, "-split-compile", o->ptx->split_compile);
        if (o->has_split_extended)
            push_number(ctx, &out, "-split-compile", o->split_extended);
        return out;
    }
    assembler_options(ctx, o->ptx, &out);
    if (is_part(form))
        return out;
    if (o->has_split_extended && form == CBI_LTO_WHOLE)
        push_number(ctx, &out, "-split-compile-extended", o->split_extended);
    prune_options(ctx, o, &out);
    if (form == CBI_LTO_WHOLE_PTX)
        cbi_vec_push(ctx, &out, "-ptx");
    return out;
}

/* ---- what goes wrong ---- */

typedef struct failure {
    const char *id;
    const char *text;
    const char *help;
} failure;

static cb_status report_failure(cbi_ctx *ctx, void *arg)
{
    const failure *f = arg;
    cbi_fatal(ctx, f->id, NULL, f->help, "%s", f->text);
}

/* Fatal, with a status of its own: this build lacks something. */
CBI_NORETURN static void no_library(cbi_ctx *ctx, const char *help)
{
    failure f = {"lto-library", "elfLink linker library load error", help};
    cbi_run(ctx, report_failure, &f);
    cbi_fail(ctx, CB_ERR_UNSUPPORTED);
}

CBI_NORETURN static void fail(cbi_ctx *ctx, const char *text, const char *help)
{
    cbi_fatal(ctx, "lto-failed", NULL, help, "%s", text);
}

static const char *copy(cbi_ctx *ctx, cbi_span text)
{
    return cbi_strndup(ctx, (const char *)text.data, strnlen((const char *)text.data, text.size));
}

static bool contains(const char *text, const char *what)
{
    return strstr(text, what) != NULL;
}

/* One line of the assembler's.  It counts the lines of the anchor's declaration, which stands
 * before all code. */
static const char *without_anchor(cbi_ctx *ctx, const char *line)
{
    enum { ANCHOR_LINES = 3 };
    static const char head[] = "ptxas application ptx input, line ";
    const char *number = cbi_after(line, head);
    char *end = NULL;
    unsigned long at = number ? strtoul(number, &end, 10) : 0;
    if (at <= ANCHOR_LINES)
        return line;
    return cbi_printf(ctx, "%s%lu%s", head, at - ANCHOR_LINES, end);
}

/* What the library's assembler puts before a line that continues another. */
#define CONTINUES "ptxas         . "

/* -report-arch puts the target behind every message, which may have several lines. */
static const char *behind(const cbi_ctx *ctx, const char *next)
{
    bool ends = *next != ' ' && !cbi_after(next, CONTINUES);
    return ends && ctx->diag.suffix ? ctx->diag.suffix : "";
}

/* Lines for the user: without those in which the library speaks of its own errors and options. */
static void print_lines(cbi_ctx *ctx, const cbi_ptx_options *ptx, cbi_lto_form form, const char *s)
{
    while (ptx->print && *s) {
        const char *rest = cbi_after(s, CONTINUES);
        s = rest ? rest : s;
        size_t len = strcspn(s, "\n");
        const char *next = s + len + (s[len] == '\n');
        bool blank = strspn(s, " ") == len;
        if (!blank && !cbi_after(s, "ERROR ") && !cbi_after(s, "Info: CU_JIT_")) {
            const char *line = cbi_printf(ctx, "%.*s%s\n", (int)len, s, behind(ctx, next));
            ptx->print(ptx->print_user, is_part(form) ? without_anchor(ctx, line) : line);
        }
        s = next;
    }
}

/* "ERROR in nvvmCompileProgram: NAME", then what the compiler says. */
CBI_NORETURN static void fail_in_nvvm(cbi_ctx *ctx, const char *log)
{
    size_t head = strcspn(log, "\n");
    const char *colon = memchr(log, ':', head);
    const char *name = colon && colon[1] == ' ' ? colon + 2 : log;
    const char *rest = log + head + (log[head] == '\n');
    cbi_info(ctx, "lto-compiler", NULL, NULL, "%s%.*s", rest, (int)(log + head - name), name);
    fail(ctx, "elfLink JIT compile failed", NULL);
}

CBI_NORETURN static void fail_in_library(cbi_ctx *ctx, const cbi_lto_options *o, cbi_lto_form form,
                                         const cbi_lto_reply *reply)
{
    const char *log = copy(ctx, reply->error);
    if (reply->status == NVJITLINK_ERROR_NVVM_COMPILE)
        fail_in_nvvm(ctx, log);
    if (reply->status == NVJITLINK_ERROR_PTX_COMPILE) {
        print_lines(ctx, o->ptx, form, log);
        fail(ctx,
             contains(log, "ptxas fatal") ? "elfLink fatbinary error"
                                          : "elfLink JIT compile failed",
             NULL);
    }
    fail(ctx, "elfLink nvvm error",
         cbi_printf(ctx, "nvJitLink failed with status %d: %s", reply->status, log));
}

const char *cbi_lto_end_text(cbi_ctx *ctx, const cbi_child_limits *limits,
                             const cbi_child_result *result)
{
    const cbi_span words = result->printed;
    const char *last =
        words.size ? cbi_printf(ctx, "\nit said: %.*s", (int)words.size, (const char *)words.data)
                   : "";
    switch (result->end) {
    case CBI_CHILD_DONE:
        return NULL;
    case CBI_CHILD_NOT_STARTED:
        return cbi_printf(ctx, "no process for the compiler: %s", strerror(errno));
    case CBI_CHILD_TIMEOUT:
        return cbi_printf(ctx, "the compiler did not end within %u seconds%s", limits->seconds,
                          last);
    case CBI_CHILD_DIED:
        break;
    }
    if (!result->signal)
        return cbi_printf(ctx, "the compiler ended its process%s", last);
    return cbi_printf(ctx, "the compiler died with signal %d (%s); it may use %u MiB%s",
                      result->signal, strsignal(result->signal), limits->mebibytes, last);
}

static void check_end(cbi_ctx *ctx, const cbi_lto_options *o, const cbi_child_result *result)
{
    const char *help = cbi_lto_end_text(ctx, &o->limits, result);
    if (help)
        fail(ctx, "elfLink JIT compile failed", help);
}

CBI_NORETURN static void no_nvjitlink(cbi_ctx *ctx, const cbi_lto_options *o, cbi_span why)
{
    no_library(ctx, cbi_printf(ctx,
                               "link-time optimization needs NVIDIA's nvJitLink library: "
                               "libnvJitLink.so.13 of the CUDA toolkit or of the package "
                               "nvidia-nvjitlink; name the file %s\n(%s)",
                               o->names_fields ? "in cb_link_options.nvjitlink_path"
                                               : "with --nvjitlink FILE",
                               copy(ctx, why)));
}

CBI_NORETURN static void no_nvvm(cbi_ctx *ctx, const cbi_lto_options *o, cbi_span why)
{
    no_library(ctx, cbi_printf(ctx,
                               "a link of LTO-IR with other code also needs libnvvm.so.4 of the "
                               "CUDA toolkit; name the toolkit's folder nvvm %s\n(%s)",
                               o->names_fields ? "in cb_link_options.nvvm_path" : "with -nvvmpath",
                               copy(ctx, why)));
}

static void check_reply(cbi_ctx *ctx, const cbi_lto_options *o, cbi_lto_form form,
                        const cbi_lto_reply *reply)
{
    switch (reply->stage) {
    case CBI_LTO_NO_LIBRARY:
        no_nvjitlink(ctx, o, reply->error);
    case CBI_LTO_NO_COMPILER:
        no_nvvm(ctx, o, reply->error);
    case CBI_LTO_FINISHED:
        return;
    case CBI_LTO_FAILED:
    case CBI_LTO_STAGES:
        fail_in_library(ctx, o, form, reply);
    }
}

/* ---- the run ---- */

/* A device ELF of that type, all of whose sections lie inside it. */
static bool is_sound(cbi_span image, uint16_t type)
{
    cbi_elf elf;
    return cbi_elf_open(image, &elf) && !elf.class->narrow && elf.machine == EM_CUDA &&
           elf.type == type && cbi_elf_is_whole(&elf);
}

/* Returns what the compiler printed. */
static cbi_span run_child(cbi_ctx *ctx, const cbi_lto_options *o, cbi_lto_job *job,
                          cbi_lto_reply *ret_reply)
{
    cbi_child_result result = cbi_lto_run(ctx, o, job);
    check_end(ctx, o, &result);
    if (!cbi_lto_read_reply(result.said, ret_reply))
        fail(ctx, "elfLink JIT compile failed", "the compiler's process gave no answer");
    return result.printed;
}

static bool lacks_functions(cbi_ctx *ctx, const cbi_lto_reply *reply)
{
    return reply->stage == CBI_LTO_FAILED && contains(copy(ctx, reply->error), "Unresolved extern");
}

/* The compiler may stumble over what is left before it comes to what is missing. */
static bool lacks_functions_unpruned(cbi_ctx *ctx, const cbi_lto_options *o, cbi_lto_job job)
{
    const cbi_lto_options all = cbi_lto_without_pruning(o);
    cbi_lto_reply reply;
    if (!o->prune)
        return false;
    job.options = library_options(ctx, &all, CBI_LTO_WHOLE);
    run_child(ctx, o, &job, &reply);
    return lacks_functions(ctx, &reply);
}

static bool run(cbi_ctx *ctx, const cbi_lto_options *o, cbi_lto_form form, cbi_lto_job *job,
                cbi_lto_reply *ret_reply)
{
    const cbi_span printed = run_child(ctx, o, job, ret_reply);
    if (form == CBI_LTO_WHOLE && !o->whole_only && ret_reply->stage == CBI_LTO_FAILED &&
        (lacks_functions(ctx, ret_reply) || lacks_functions_unpruned(ctx, o, *job)))
        return false;
    if (ret_reply->stage == CBI_LTO_FAILED)
        print_lines(ctx, o->ptx, form, copy(ctx, printed));
    check_reply(ctx, o, form, ret_reply);
    return true;
}

static const cbi_lto_piece *pieces_of(cbi_ctx *ctx, const cbi_lto_input *inputs, size_t count)
{
    cbi_lto_piece *pieces = CBI_NEW_ARRAY(ctx, count, cbi_lto_piece);
    for (size_t i = 0; i < count; i++)
        pieces[i] = (cbi_lto_piece){.type = inputs[i].fatbin ? NVJITLINK_INPUT_FATBIN
                                                             : NVJITLINK_INPUT_LTOIR,
                                    .bytes = inputs[i].bytes,
                                    .name = inputs[i].file};
    return pieces;
}

bool cbi_lto_compile(cbi_ctx *ctx, const cbi_lto_options *o, cbi_lto_form form,
                     const cbi_lto_input *inputs, size_t count, cbi_span *ret_output)
{
    cbi_lto_job job = {.inputs = pieces_of(ctx, inputs, count),
                       .input_count = count,
                       .options = library_options(ctx, o, form),
                       .wants_ptx = form == CBI_LTO_WHOLE_PTX};
    cbi_lto_list_libraries(ctx, o, &job.libraries);
    if (is_part(form)) {
        cbi_lto_list_compilers(ctx, o, &job.compilers);
        job.module = anchor_module;
        job.empty_ptx = cbi_printf(ctx, ".version 9.0\n.target %s\n.address_size 64\n",
                                   compiler_target(ctx, o->arch));
    }
    cbi_lto_reply reply;
    if (!run(ctx, o, form, &job, &reply))
        return false;
    cbi_span output = reply.output;
    if (form == CBI_LTO_WHOLE_PTX) /* a C string */
        output.size = strnlen((const char *)output.data, output.size);
    else if (!is_sound(output, is_part(form) ? ET_REL : ET_EXEC))
        fail(ctx, "elfLink JIT compile failed", "the compiler's result is no sound device ELF");
    if (form == CBI_LTO_PART_PTX) {
        if (!cbi_lto_find_ptx(ctx, output, &output))
            fail(ctx, "elfLink JIT compile failed", "the compiler's result holds no PTX");
    } else {
        print_lines(ctx, o->ptx, form, copy(ctx, reply.info));
    }
    *ret_output = output;
    return true;
}

bool cbi_lto_compile_text(cbi_ctx *ctx, const cbi_lto_options *o, const cbi_lto_input *inputs,
                          size_t count, const char *module, bool module_first, cbi_span *ret_text)
{
    cbi_lto_job job = {.inputs = pieces_of(ctx, inputs, count),
                       .input_count = count,
                       .options = library_options(ctx, o, CBI_LTO_PART_TEXT),
                       .module = module,
                       .module_first = module_first,
                       .wants_ptx = true};
    cbi_lto_list_libraries(ctx, o, &job.libraries);
    cbi_lto_list_compilers(ctx, o, &job.compilers);
    cbi_lto_reply reply;
    run_child(ctx, o, &job, &reply);
    if (reply.stage != CBI_LTO_FINISHED)
        return false;
    size_t size = reply.output.size;
    *ret_text =
        (cbi_span){reply.output.data, size ? strnlen((const char *)reply.output.data, size) : 0};
    return true;
}

bool cbi_lto_has_kernel(cbi_span cubin)
{
    enum { SYMBOL = 24, INFO = 4, OTHER = 5 };
    cbi_elf elf;
    if (!cbi_elf_open(cubin, &elf))
        return false;
    for (uint32_t i = 1; i < elf.section_count; i++) {
        cbi_elf_section s = cbi_elf_section_at(&elf, i);
        if (s.type != SHT_SYMTAB)
            continue;
        for (size_t at = 0; s.data.size - at >= SYMBOL; at += SYMBOL)
            if (ELF64_ST_TYPE(s.data.data[at + INFO]) == STT_FUNC &&
                (s.data.data[at + OTHER] & STO_CUDA_ENTRY))
                return true;
    }
    return false;
}
