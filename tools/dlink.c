/* cubind dlink: the device link of a program, from host objects to a host object: one link for each
 * target, a fatbin of the results, and the toolkit's stub compiled with that in it. */
#include "dlink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "api/identity.h"
#include "arguments.h"
#include "base/files.h"
#include "base/output_file.h"
#include "base/sink.h"
#include "container/bundle.h"
#include "limits.h"
#include "link_run.h"
#include "say.h"
#include "tools.h"

typedef struct dlink_run {
    cbi_ctx *ctx; /* reads the inputs for all targets, too */
    cbi_messages messages;
    int argc;
    char *const *argv;
    cbi_opt_value values[DLINK_COUNT];
    cbi_words inputs;
    cbi_words option_files;
    cbi_words forwarded; /* options that are unknown here */
    cbi_words targets;   /* real ones, in nvcc's order; or one virtual */
    cbi_words virtual;   /* "800", "900" */
    const char *toolkit;
    const char *stem; /* of names that get into debug links */
    cbi_bundle bundle;
    cbi_link_capture capture;
    int code; /* of the link that failed */
} dlink_run;

#define MISTAKE(run, ...) cbi_fatal((run)->ctx, "command-line", NULL, NULL, __VA_ARGS__)

static bool given(const dlink_run *run, int option)
{
    return run->values[option].given;
}

static bool is_lto(const dlink_run *run)
{
    return given(run, DLINK_DLTO) || given(run, DLINK_LTO);
}

/* ---- targets ---- */

static bool is_in(const cbi_words *words, const char *word)
{
    for (size_t i = 0; i < words->len; i++)
        if (strcmp(words->items[i], word) == 0)
            return true;
    return false;
}

static void add_once(dlink_run *run, cbi_words *words, const char *word)
{
    if (!is_in(words, word))
        cbi_vec_push(run->ctx, words, word);
}

static void check_target(dlink_run *run, const char *name)
{
    const char *number = strchr(name, '_');
    bool known = number &&
                 (strncmp(name, "sm_", 3) == 0 || strncmp(name, "compute_", 8) == 0 ||
                  strncmp(name, "lto_", 4) == 0) &&
                 cbi_arch_find(cbi_printf(run->ctx, "sm%s", number));
    if (known)
        return;
    cbi_suggestion near = {.word = name};
    cbi_suggestion_offer(&near, "all-major");
    const char *best = cbi_suggest_target(&near, false, NULL);
    cbi_fatal(run->ctx, "command-line", NULL,
              best ? cbi_printf(run->ctx, "did you mean %s?", best)
                   : "targets are sm_90 and compute_90, for example, all and all-major",
              "'%s' is no target that can be linked for", name);
}

/* "compute_90a" -> "900", as host code has it. */
static void add_virtual(dlink_run *run, const char *arch)
{
    const char *number = strchr(arch, '_') + 1;
    add_once(run, &run->virtual,
             cbi_printf(run->ctx, "%.*s0", (int)strspn(number, "0123456789"), number));
}

/* Code for a real target is linked.  PTX and LTO-IR of host objects cannot be. */
static void add_code(dlink_run *run, const char *code)
{
    check_target(run, code);
    if (strncmp(code, "sm_", 3) == 0)
        add_once(run, &run->targets, code);
}

static void add_specification(dlink_run *run, const char *text)
{
    cbi_gencode gencode = cbi_gencode_read(run->ctx, text);
    cbi_gencode_part part;
    const char *arch = NULL, *word;
    bool any = false;
    while ((part = cbi_gencode_next(run->ctx, &gencode, &word)) != GENCODE_END) {
        if (part == GENCODE_UNKNOWN)
            MISTAKE(run, "'%s': arch=compute_90,code=[sm_90,compute_90] was expected", text);
        if (part == GENCODE_ARCH) {
            arch = word;
            check_target(run, arch);
        } else {
            add_code(run, word);
            any = true;
        }
    }
    if (!arch)
        MISTAKE(run, "'%s' has no arch=", text);
    if (!any)
        add_code(run, arch);
    add_virtual(run, arch);
}

/* "all": every number; "all-major": the first of each family of chips. */
static void add_all(dlink_run *run, bool major)
{
    static const uint32_t firsts[] = {75, 80, 90, 100, 110, 120};
    for (size_t i = 0; i < cbi_arch_count; i++) {
        bool first = false;
        for (size_t k = 0; k < CBI_COUNT(firsts); k++)
            first |= cbi_archs[i].sm == firsts[k];
        if (cbi_archs[i].suffix || (major && !first))
            continue;
        add_code(run, cbi_archs[i].name);
        add_virtual(run, cbi_archs[i].name);
    }
}

static int by_number(const void *a, const void *b)
{
    long x = strtol(*(const char *const *)a, NULL, 10);
    long y = strtol(*(const char *const *)b, NULL, 10);
    return (x > y) - (x < y);
}

static void read_targets(dlink_run *run)
{
    const cbi_words *specifications = &run->values[DLINK_GENERATE_CODE].list;
    const cbi_words *codes = &run->values[DLINK_CODE].list;
    const char *arch = given(run, DLINK_ARCH) ? run->values[DLINK_ARCH].text : NULL;
    if (arch && (strcmp(arch, "all") == 0 || strcmp(arch, "all-major") == 0)) {
        add_all(run, arch[3] == '-');
    } else if (arch) {
        check_target(run, arch);
        for (size_t i = 0; i < codes->len; i++)
            add_code(run, codes->items[i]);
        if (!codes->len)
            add_code(run, arch);
        add_virtual(run, arch);
    } else if (codes->len) {
        MISTAKE(run, "--gpu-code needs --gpu-architecture");
    }
    for (size_t i = 0; i < specifications->len; i++)
        add_specification(run, specifications->items[i]);
    if (!run->virtual.len)
        MISTAKE(run, "no target given: -arch or -gencode");
    qsort(run->virtual.items, run->virtual.len, sizeof *run->virtual.items, by_number);
    /* for PTX alone there is nothing to link, but the modules are listed */
    if (!run->targets.len)
        cbi_vec_push(run->ctx, &run->targets,
                     cbi_printf(run->ctx, "compute_%.*s", (int)strlen(run->virtual.items[0]) - 1,
                                run->virtual.items[0]));
}

/* ---- links ---- */

/* The name that nvcc gives to the cubin of a target; only debug links keep it. */
static const char *cubin_name(dlink_run *run, const char *target)
{
    return cbi_printf(run->ctx, "%s_dlink.%s.cubin", run->stem, target);
}

static void add_all_words(dlink_run *run, cbi_words *args, const char *prefix,
                          const cbi_words *words)
{
    for (size_t i = 0; i < words->len; i++)
        cbi_vec_push(run->ctx, args, cbi_printf(run->ctx, "%s%s", prefix, words->items[i]));
}

/* What nvcc hands to a link that compiles. */
static void add_compiler_options(dlink_run *run, cbi_words *args)
{
    static const struct {
        int option;
        const char *name;
    } numbers[] = {{DLINK_MAXRREGCOUNT, "-maxrregcount"},
                   {DLINK_SPLIT_COMPILE, "-split-compile"},
                   {DLINK_SPLIT_COMPILE_EXTENDED, "-split-compile-extended"}};
    cbi_ctx *ctx = run->ctx;
    const cbi_words *words = &run->values[DLINK_PTXAS_OPTIONS].list;
    cbi_vec_push(ctx, args, "-dlto");
    cbi_vec_push(ctx, args, cbi_printf(ctx, "-nvvmpath=%s/nvvm", run->toolkit));
    for (size_t i = 0; i < CBI_COUNT(numbers); i++)
        if (given(run, numbers[i].option))
            cbi_vec_push(
                ctx, args,
                cbi_printf(ctx, "%s=%s", numbers[i].name, run->values[numbers[i].option].text));
    cbi_buf ptxas = {0};
    for (size_t i = 0; i < words->len; i++)
        cbi_buf_printf(ctx, &ptxas, "%s ", words->items[i]);
    if (ptxas.len)
        cbi_vec_push(ctx, args,
                     cbi_printf(ctx, "-Xptxas=%.*s", (int)ptxas.len, (const char *)ptxas.items));
}

/* The command line of nvlink, in the order in which nvcc has it. */
static cbi_words compose_link(dlink_run *run, const char *target)
{
    cbi_ctx *ctx = run->ctx;
    cbi_words args = {0};
    const char *lib = cbi_printf(ctx, "%s/targets/x86_64-linux/lib", run->toolkit);
    struct stat st = {0};
    if (stat(lib, &st) != 0 && errno != ENOENT && errno != ENOTDIR)
        cbi_fatal(ctx, "toolkit", &(cbi_place){.file = lib}, strerror(errno),
                  "The libraries of the toolkit in '%s' cannot be read", lib);
    else if (!S_ISDIR(st.st_mode))
        lib = cbi_printf(ctx, "%s/lib64", run->toolkit);
    cbi_vec_push(ctx, &args, "link");
    add_all_words(run, &args, "", &run->values[DLINK_NVLINK_OPTIONS].list);
    cbi_vec_push(ctx, &args, "-m64");
    if (given(run, DLINK_SHARED))
        cbi_vec_push(ctx, &args, "--shared");
    cbi_vec_push(ctx, &args, cbi_printf(ctx, "--arch=%s", target));
    if (given(run, DLINK_RELOCATABLE))
        cbi_vec_push(ctx, &args, "-r");
    else if (!given(run, DLINK_CUBIN) && !given(run, DLINK_FATBIN))
        cbi_vec_push(ctx, &args,
                     cbi_printf(ctx, "--register-link-binaries=%s_dlink.reg.c", run->stem));
    add_all_words(run, &args, "-L", &run->values[DLINK_LIBRARY_PATH].list);
    add_all_words(run, &args, "-l", &run->values[DLINK_LIBRARY].list);
    if (is_in(&run->values[DLINK_WERROR].list, "all-warnings"))
        cbi_vec_push(ctx, &args, "--warning-as-error");
    if (given(run, DLINK_WARNINGS))
        cbi_vec_push(ctx, &args, "-w");
    if (given(run, DLINK_DEVICE_DEBUG))
        cbi_vec_push(ctx, &args, "-g");
    cbi_vec_push(ctx, &args, cbi_printf(ctx, "-L%s/stubs", lib));
    cbi_vec_push(ctx, &args, cbi_printf(ctx, "-L%s", lib));
    cbi_vec_push(ctx, &args, "-cpu-arch=X86_64");
    if (given(run, DLINK_RESOURCE_USAGE))
        cbi_vec_push(ctx, &args, "-v");
    if (run->targets.len > 1)
        cbi_vec_push(ctx, &args, "-report-arch");
    if (is_lto(run))
        add_compiler_options(run, &args);
    add_all_words(run, &args, "", &run->inputs);
    if (!given(run, DLINK_CUDADEVRT) || strcmp(run->values[DLINK_CUDADEVRT].text, "none") != 0)
        cbi_vec_push(ctx, &args, "-lcudadevrt");
    if (strncmp(target, "sm_", 3) == 0) {
        cbi_vec_push(ctx, &args, "-o");
        cbi_vec_push(ctx, &args, cubin_name(run, target));
    }
    return args;
}

static void link_target(dlink_run *run, const char *target)
{
    cbi_ctx *ctx = run->ctx;
    cbi_words args = compose_link(run, target);
    char **argv = CBI_NEW_ARRAY(ctx, args.len + 1, char *);
    for (size_t i = 0; i < args.len; i++)
        argv[i] = cbi_strndup(ctx, args.items[i], strlen(args.items[i]));
    if (given(run, DLINK_VERBOSE) || given(run, DLINK_DRYRUN))
        cbi_dlink_show(run->ctx, "cubind ", &args);
    if (given(run, DLINK_DRYRUN))
        return;
    bool plain = cbi_wants_emulation((int)args.len, argv);
    cbi_link_run link = {
        .argc = (int)args.len,
        .argv = argv,
        .messages = {.tool_name = plain ? "nvlink" : "cubind", .plain = plain},
        .files = ctx,
        .capture = &run->capture,
    };
    run->capture.image = (cbi_span){NULL, 0};
    run->code = cbi_link_perform(&link);
    if (run->code)
        cbi_fail(ctx, CB_ERR_LINK); /* it has said why */
    cbi_bundle_image image = {.kind = FATBIN_KIND_ELF, .bytes = run->capture.image};
    if (!image.bytes.size)
        return;
    const char *wrong = "no target";
    if (cbi_arch_parse_number(target + strlen("sm_"), &image.sm, &image.suffix))
        wrong = cbi_bundle_add(ctx, &run->bundle, &image);
    if (wrong)
        MISTAKE(run, "the result for %s does not go into a fatbin: %s", target, wrong);
}

/* ---- the host object ---- */

static void read_pack(dlink_run *run, const char *mode)
{
    static const char *const names[] = {
        [CBI_PACK_NONE] = "none",
        [CBI_PACK_SPEED] = "speed",
        [CBI_PACK_BALANCE] = "balance",
        [CBI_PACK_SIZE] = "size",
    };
    cbi_bundle_options *o = &run->bundle.options;
    if (strcmp(mode, "default") == 0)
        return;
    for (size_t i = 0; i < CBI_COUNT(names); i++)
        if (strcmp(names[i], mode) == 0) {
            o->pack = (cbi_pack)i;
            o->pack_elf |= o->pack == CBI_PACK_SIZE;
            return;
        }
    MISTAKE(run, "'%s' is no way to compress: default, size, speed, balance and none are", mode);
}

static void set_bundle_options(dlink_run *run)
{
    static const char mode[] = "-compress-mode=";
    cbi_bundle_options *o = &run->bundle.options;
    o->pack = CBI_PACK_BALANCE;
    o->debug = given(run, DLINK_DEVICE_DEBUG);
    o->pack_elf = o->debug || given(run, DLINK_RELOCATABLE);
    if (o->debug || given(run, DLINK_LINEINFO)) {
        cbi_buf names = {0};
        for (size_t i = 0; i < run->inputs.len; i++)
            cbi_buf_printf(run->ctx, &names, "%s ", run->inputs.items[i]);
        o->ident = cbi_buf_text(run->ctx, &names);
    } else if (is_lto(run)) {
        o->ident = "lto";
    }
    if (given(run, DLINK_COMPRESS_MODE))
        read_pack(run, run->values[DLINK_COMPRESS_MODE].text);
    const cbi_words *words = &run->values[DLINK_FATBIN_OPTIONS].list;
    bool off = false;
    for (size_t i = 0; i < words->len; i++) {
        const char *word = words->items[i];
        word += strncmp(word, "--", 2) == 0;
        if (strcmp(word, "-compress-all") == 0)
            o->pack_elf = true;
        else if (strcmp(word, "-compress=false") == 0)
            off = true;
        else if (strncmp(word, mode, strlen(mode)) == 0)
            read_pack(run, word + strlen(mode));
        else
            MISTAKE(run, "'%s' is no option of fatbinary that matters here", word);
    }
    if (off || given(run, DLINK_NO_COMPRESS))
        o->pack = CBI_PACK_NONE;
}

/* The host compiler: -ccbin may name its folder. */
static const char *host_compiler(dlink_run *run)
{
    struct stat st;
    if (!given(run, DLINK_CCBIN))
        return "gcc";
    const char *path = run->values[DLINK_CCBIN].text;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? cbi_printf(run->ctx, "%s/gcc", path)
                                                       : path;
}

typedef struct host_flag {
    int option;
    const char *flag; /* the value follows, if there is one */
} host_flag;

static void add_host_flags(dlink_run *run, cbi_words *flags, const host_flag *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = run->values[rows[i].option].text;
        if (given(run, rows[i].option))
            cbi_vec_push(run->ctx, flags,
                         cbi_printf(run->ctx, "%s%s", rows[i].flag, value ? value : ""));
    }
}

/* Options that the host compiler has under the same or another name, in the order in which nvcc has
 * them: the last of several counts. */
static cbi_words host_flags(dlink_run *run)
{
    static const host_flag first[] = {{DLINK_STD, "-std="},
                                      {DLINK_FRANDOM_SEED, "-frandom-seed="},
                                      {DLINK_NO_EXCEPTIONS, "-fno-exceptions"}};
    static const host_flag last[] = {
        {DLINK_OPTIMIZE, "-O"},
        {DLINK_WARNINGS, "-w"},
        {DLINK_FTEMPLATE_DEPTH, "-ftemplate-depth="},
        {DLINK_FTEMPLATE_BACKTRACE_LIMIT, "-ftemplate-backtrace-limit="},
        {DLINK_PROFILE, "-pg"}};
    cbi_words flags = {0};
    add_host_flags(run, &flags, first, CBI_COUNT(first));
    add_all_words(run, &flags, "", &run->values[DLINK_COMPILER_OPTIONS].list);
    if (given(run, DLINK_FORWARD) || given(run, DLINK_FORWARD_ALL))
        add_all_words(run, &flags, "", &run->forwarded);
    add_host_flags(run, &flags, last, CBI_COUNT(last));
    if (is_in(&run->values[DLINK_WERROR].list, "all-warnings"))
        cbi_vec_push(run->ctx, &flags, "-Werror");
    return flags;
}

static void compile_stub(dlink_run *run, const char *output, cbi_span fatbin)
{
    cbi_ctx *ctx = run->ctx;
    cbi_buf archs = {0};
    for (size_t i = 0; i < run->virtual.len; i++)
        cbi_buf_printf(ctx, &archs, "%s%s", i ? "," : "", run->virtual.items[i]);
    cbi_host_stub stub = {.compiler = host_compiler(run),
                          .toolkit = run->toolkit,
                          .archs = cbi_buf_text(ctx, &archs),
                          .relocatable = given(run, DLINK_RELOCATABLE),
                          .pic = given(run, DLINK_SHARED),
                          .debug = given(run, DLINK_DEBUG),
                          .dry = given(run, DLINK_DRYRUN),
                          .show = given(run, DLINK_DRYRUN) || given(run, DLINK_VERBOSE),
                          .fatbin = fatbin,
                          .modules = run->capture.registration,
                          .flags = host_flags(run),
                          .output = output};
    cbi_compile_host_stub(ctx, &stub);
}

static void write_result(dlink_run *run, const char *output)
{
    cbi_refuse_replacing(run->ctx, &output, 1);
    cbi_rope fatbin = cbi_bundle_finish(run->ctx, &run->bundle);
    cbi_refuse_changed(run->ctx);
    if (!given(run, DLINK_CUBIN) && !given(run, DLINK_FATBIN)) {
        compile_stub(run, output, cbi_rope_flatten(run->ctx, &fatbin));
        return;
    }
    cbi_rope image = {.size = run->capture.image.size};
    cbi_vec_push(run->ctx, &image.parts, run->capture.image);
    errno = 0;
    if (!given(run, DLINK_DRYRUN) &&
        cbi_write_output_rope(output, given(run, DLINK_CUBIN) ? &image : &fatbin) != CBI_OUTPUT_OK)
        cbi_fatal(run->ctx, "output-file", &(cbi_place){.file = output},
                  errno ? strerror(errno) : NULL, "Could not write output file '%s'", output);
}

static void check_unknown(dlink_run *run)
{
    if (run->forwarded.len && !given(run, DLINK_FORWARD) && !given(run, DLINK_FORWARD_ALL) &&
        !given(run, DLINK_FORWARD_LINKER))
        cbi_unknown_option(run->ctx, cbi_dlink_options_table, DLINK_COUNT, run->forwarded.items[0]);
}

static void check_options(dlink_run *run)
{
    if (!run->inputs.len)
        MISTAKE(run, "no input file given");
    if (given(run, DLINK_CUBIN) && given(run, DLINK_FATBIN))
        MISTAKE(run, "-cubin and -fatbin exclude each other");
    if (given(run, DLINK_CUBIN) && run->targets.len > 1)
        MISTAKE(run, "a cubin has one target; -fatbin takes several");
    if (given(run, DLINK_CUBIN) && strncmp(run->targets.items[0], "sm_", 3) != 0)
        MISTAKE(run, "a cubin needs a real target");
    run->toolkit = cbi_find_toolkit(
        run->ctx, given(run, DLINK_CUDA_PATH) ? run->values[DLINK_CUDA_PATH].text : NULL);
    if (!run->toolkit)
        cbi_fatal(run->ctx, "no-toolkit", NULL,
                  "it has the stub and the headers; --cuda-path or CUDA_PATH names its folder",
                  "the CUDA toolkit was not found");
}

/* The first part of the output's name, as in the names of nvcc's temporary files. */
static const char *stem_of(dlink_run *run, const char *output)
{
    const char *name = cbi_base_name(output);
    const char *dot = strrchr(name, '.');
    return cbi_strndup(run->ctx, name, dot && dot != name ? (size_t)(dot - name) : strlen(name));
}

static cb_status job(cbi_ctx *ctx, void *arg)
{
    dlink_run *run = arg;
    run->ctx = run->capture.ctx = ctx;
    const cbi_parsed parsed = {.values = run->values,
                               .inputs = &run->inputs,
                               .option_files = &run->option_files,
                               .unknown = &run->forwarded};
    cbi_parse_options(ctx, cbi_dlink_options_table, DLINK_COUNT, run->argc, run->argv, &parsed);
    if (given(run, DLINK_VERSION)) {
        printf("cubind dlink: %s\n", CBI_OWN_VERSION);
        return CB_OK;
    }
    if (given(run, DLINK_HELP) || run->argc < 2) {
        printf("\nUsage: cubind dlink [options] FILE...\n\n"
               "Links the device code of host objects and libraries for all targets, and makes a "
               "host object\nof it, as nvcc -dlink does.\n\nOptions\n=======\n\n");
        cbi_print_option_table(cbi_dlink_options_table, DLINK_COUNT);
        printf("Options of nvcc that matter to compilations alone are accepted, too.\n");
        return CB_OK;
    }
    check_unknown(run);
    read_targets(run);
    check_options(run);
    set_bundle_options(run);
    const char *output = given(run, DLINK_OUTPUT)   ? run->values[DLINK_OUTPUT].text
                         : given(run, DLINK_CUBIN)  ? "a_dlink.cubin"
                         : given(run, DLINK_FATBIN) ? "a_dlink.fatbin"
                                                    : "a_dlink.o";
    run->stem = stem_of(run, output);
    for (size_t i = 0; i < run->targets.len; i++)
        link_target(run, run->targets.items[i]);
    write_result(run, output);
    return CB_OK;
}

int cbi_tool_dlink(int argc, char **argv)
{
    dlink_run run = {.argc = argc, .argv = argv, .messages = {.tool_name = "cubind dlink"}};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_limit_memory(&ctx, -1);
    cbi_messages_attach(&run.messages, &ctx);
    cb_status status = cbi_run(&ctx, job, &run);
    cbi_messages_end(&run.messages, &ctx, status);
    cbi_ctx_fini(&ctx);
    int code = status == CB_OK ? 0 : run.code ? run.code : 1;
    return cbi_check_stdout("cubind dlink", code, code ? code : 1);
}
