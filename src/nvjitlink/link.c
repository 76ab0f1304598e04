/* From options to a link: what nvJitLink's calls do with those of cubind.h. */
#include "nvjitlink/link.h"

#include <stdlib.h>

#include "api/identity.h"
#include "api/private.h"
#include "base/clock.h"
#include "input/recognise.h"

/* What the library's own linker leaves in its note. */
#define TOOL_NAME     "nvJIT API"
#define TOOL_BUILD    "Build system must define TOOLS_VERSION_EXTENDED"
#define TOOL_COMMANDS "JIT API Command Line Options"
#define TOOL_OBJECT   "in-memory-ELF-image"
#define EMULATE_VALUE "nvlink-13.0.88"
#define CONTINUED     "ptxas         . " /* before lines of the assembler that are indented */
#define LTOIR_ARCH    26                 /* ten times its number, at this offset of LTO-IR */

static nvJitLinkResult result_of(cb_status status)
{
    return status == CB_OK ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

static bool is_one_of(const char *id, const char *const *ids)
{
    while (*ids && strcmp(id, *ids) != 0)
        ids++;
    return *ids != NULL;
}

/* The assembler's lines come before what the failure is called. */
static void flush_assembler(struct nvJitLink *jit, cbi_jit_log *to)
{
    if (jit->assembler.len)
        cbi_jit_say(to, "%s", jit->assembler.text);
    free(jit->assembler.text);
    jit->assembler = (cbi_jit_log){0};
}

static void say_help(cbi_jit_log *log, const char *help)
{
    while (help && *help) {
        size_t len = strcspn(help, "\n");
        cbi_jit_say(log, "          %.*s\n", (int)len, help);
        help += len + (help[len] == '\n');
    }
}

/* Errors to the error log, warnings to the other; what is only told of to neither, but for the
 * figures that -verbose asks for. */
static void on_diagnostic(void *user, const cb_diagnostic *d)
{
    static const char *const no_code[] = {"arch-not-found", NULL};
    static const char *const no_lto[] = {"lto-needed", "lto-file", NULL};
    static const char *const no_assembly[] = {"ptx-failed", "ptx-no-assembler", "ptx-assembler",
                                              "ptx-option", NULL};
    static const char no_ptxas[] =
        "name the assembler in the environment variable CUBIND_PTXAS, or "
        "put it on PATH";
    struct nvJitLink *jit = user;
    jit->lacks_code |= is_one_of(d->id, no_code);
    jit->lacks_lto |= is_one_of(d->id, no_lto);
    jit->lacks_assembly |= is_one_of(d->id, no_assembly);
    if (strcmp(d->id, "assembler") == 0) {
        cbi_jit_say(&jit->assembler, "%s%s\n", *d->message == ' ' ? CONTINUED : "", d->message);
    } else if (d->severity >= CB_SEV_ERROR) {
        flush_assembler(jit, &jit->error);
        cbi_jit_say(&jit->error, "error   : %s\n", d->message);
        say_help(&jit->error, strcmp(d->id, "ptx-no-assembler") == 0 ? no_ptxas : d->help);
    } else if (d->severity == CB_SEV_WARNING) {
        cbi_jit_say(&jit->info, "warning : %s\n", d->message);
        say_help(&jit->info, d->help);
    } else if (jit->options.verbose && strncmp(d->id, "input-", strlen("input-")) != 0) {
        cbi_jit_say(&jit->info, "info    : %s\n", d->message);
    }
}

/* ---- create ---- */

static cb_link_options make_options(struct nvJitLink *jit)
{
    const cbi_jit_options *from = &jit->options;
    const char *emulate = getenv("CUBIND_EMULATE");
    cb_link_options o;
    cb_link_options_init(&o, sizeof o);
    o.arch = from->arch->name;
    o.flags = CB_LINK_ALLOW_EMPTY | CB_LINK_IGNORE_HOST_INFO |
              (from->relocatable ? CB_LINK_RELOCATABLE : 0) | (from->debug ? CB_LINK_DEBUG : 0) |
              (from->verbose ? CB_LINK_VERBOSE : 0) | (from->lto ? CB_LINK_LTO : 0);
    o.on_diagnostic = on_diagnostic;
    o.on_diagnostic_user = jit;
    o.kernels_used = from->kernels.items;
    o.kernels_used_count = from->kernels.len;
    o.variables_used = from->variables.items;
    o.variables_used_count = from->variables.len;
    o.ptxas_options = from->ptxas.items;
    o.ptxas_option_count = from->ptxas.len;
    const char *ptxas = getenv("CUBIND_PTXAS");
    o.ptxas_path = ptxas && *ptxas ? ptxas : cbi_find_ptxas(&jit->ctx);
    o.nvjitlink_path = getenv("CUBIND_NVJITLINK");
    o.cache_path = from->no_cache ? "" : NULL;
    o.tool_name = TOOL_NAME;
    o.command_line = TOOL_COMMANDS;
    if (emulate && strcmp(emulate, EMULATE_VALUE) == 0) {
        o.tool_version = CBI_NVLINK_VERSION;
        o.tool_build = TOOL_BUILD;
    }
    return o;
}

typedef struct starting {
    struct nvJitLink *jit;
    uint32_t count;
    const char *const *options;
    nvJitLinkResult result;
} starting;

static cb_status start(cbi_ctx *ctx, void *arg)
{
    starting *s = arg;
    const char *why = NULL;
    s->result = cbi_jit_read_options(ctx, s->count, s->options, &s->jit->options, &why);
    if (why)
        cbi_jit_say(&s->jit->error, "%s\n", why);
    if (s->result == NVJITLINK_SUCCESS)
        s->jit->link_options = make_options(s->jit);
    return CB_OK;
}

nvJitLinkResult cbi_jit_start(struct nvJitLink *jit, uint32_t count, const char *const *options)
{
    starting s = {jit, count, options, NVJITLINK_ERROR_INTERNAL};
    cbi_ctx_init(&jit->ctx);
    jit->created = cbi_now_ms();
    if (cbi_run(&jit->ctx, start, &s) != CB_OK)
        s.result = NVJITLINK_ERROR_INTERNAL;
    if (s.result != NVJITLINK_SUCCESS)
        jit->state = CBI_JIT_BROKEN;
    return s.result;
}

/* ---- add ---- */

typedef struct addition {
    struct nvJitLink *jit;
    nvJitLinkInputType type;
    cbi_span bytes;
    bool stays;
    const char *name;
    nvJitLinkResult result;
} addition;

/* LTO-IR of a newer chip than the target's. */
static bool is_newer(const struct nvJitLink *jit, cbi_span bytes, unsigned *ret_sm)
{
    if (bytes.size < LTOIR_ARCH + 2)
        return false;
    *ret_sm = cbi_ld16(bytes.data + LTOIR_ARCH) / 10;
    return *ret_sm > jit->options.arch->sm;
}

/* What a reading that failed, or found nothing, comes down to. */
static nvJitLinkResult judge(const struct nvJitLink *jit, cb_status status)
{
    if (jit->lacks_lto)
        return NVJITLINK_ERROR_LTO_NOT_ENABLED;
    if (jit->lacks_assembly)
        return NVJITLINK_ERROR_PTX_COMPILE;
    if (status == CB_ERR_NOMEM)
        return NVJITLINK_ERROR_INTERNAL;
    return status != CB_OK || jit->lacks_code ? NVJITLINK_ERROR_INVALID_INPUT : NVJITLINK_SUCCESS;
}

/* Reads the input; with -lto only to see what is wrong with it. */
static nvJitLinkResult read_input(addition *a)
{
    struct nvJitLink *jit = a->jit;
    cb_input *input = NULL;
    jit->lacks_code = jit->lacks_lto = jit->lacks_assembly = false;
    cb_status status =
        cb_input_create(&jit->link_options, a->name, a->bytes.data, a->bytes.size, &input);
    if (status == CB_OK && cbi_inputs_found_none(cbi_api_collected(input)))
        jit->lacks_code = true;
    nvJitLinkResult result = judge(jit, status);
    if (result == NVJITLINK_SUCCESS && !jit->options.lto)
        cbi_vec_push(&jit->ctx, &jit->inputs, input);
    else
        cb_input_free(input);
    flush_assembler(jit, &jit->info);
    if (result == NVJITLINK_ERROR_PTX_COMPILE)
        cbi_jit_say(&jit->error, "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (%s)\n", a->name);
    else if (result != NVJITLINK_SUCCESS)
        cbi_jit_say(&jit->error, "ERROR 4: bad input: %s\n", a->name);
    return result;
}

/* Is there LTO-IR of a newer chip than the target's?  In a fatbin it counts as no code. */
static bool is_newer_ir(struct nvJitLink *jit, cbi_span bytes)
{
    unsigned sm;
    if (cbi_recognise(bytes) != CBI_CONTENT_LTOIR || !is_newer(jit, bytes, &sm))
        return false;
    cbi_jit_say(&jit->error, "ERROR %u in LTOIR arch newer than target arch\n", sm);
    return true;
}

static nvJitLinkResult check(addition *a)
{
    struct nvJitLink *jit = a->jit;
    cbi_content content = cbi_recognise(a->bytes);
    /* Device code is none that a host's object holds. */
    if (a->type == NVJITLINK_INPUT_OBJECT && content == CBI_CONTENT_CUBIN)
        return NVJITLINK_SUCCESS;
    if (jit->options.lto && is_newer_ir(jit, a->bytes))
        return NVJITLINK_ERROR_ARCH_MISMATCH;
    /* The library compiles PTX without a program. */
    if (jit->options.lto && content == CBI_CONTENT_PTX && !jit->link_options.ptxas_path)
        return NVJITLINK_SUCCESS;
    return read_input(a);
}

static cb_status add(cbi_ctx *ctx, void *arg)
{
    addition *a = arg;
    struct nvJitLink *jit = a->jit;
    const char *why = NULL;
    a->name = cbi_strndup(ctx, a->name, strlen(a->name));
    if (!a->stays || jit->options.lto) /* the library wants a NUL behind PTX */
        a->bytes.data =
            (const uint8_t *)cbi_strndup(ctx, (const char *)a->bytes.data, a->bytes.size);
    if (jit->options.lto)
        cbi_vec_push(ctx, &jit->pieces,
                     ((cbi_lto_piece){.type = (int)a->type, .bytes = a->bytes, .name = a->name}));
    a->result = cbi_jit_check_kind(ctx, a->type, a->bytes, a->name, &why);
    if (why)
        cbi_jit_say(&jit->error, "%s\n", why);
    if (a->result == NVJITLINK_SUCCESS)
        a->result = check(a);
    return CB_OK;
}

static nvJitLinkResult refuse_in_state(struct nvJitLink *jit, const char *what)
{
    if (jit->state == CBI_JIT_BROKEN)
        cbi_jit_say(&jit->error, "ERROR 1: %s: the options were wrong\n", what);
    return NVJITLINK_ERROR_INTERNAL;
}

nvJitLinkResult cbi_jit_add(struct nvJitLink *jit, nvJitLinkInputType type, cbi_span bytes,
                            bool stays, const char *name)
{
    if (jit->state != CBI_JIT_OPEN)
        return refuse_in_state(jit, name);
    if (!bytes.size)
        return NVJITLINK_ERROR_INVALID_INPUT;
    addition a = {jit, type, bytes, stays, name, NVJITLINK_ERROR_INTERNAL};
    cb_status status = cbi_run(&jit->ctx, add, &a);
    return status == CB_OK ? a.result : NVJITLINK_ERROR_INTERNAL;
}

typedef struct opening {
    const char *path;
    cb_status status;
    cbi_span bytes;
} opening;

static cb_status open_file(cbi_ctx *ctx, void *arg)
{
    opening *o = arg;
    o->status = cbi_map_file(ctx, o->path, &o->bytes);
    return CB_OK;
}

nvJitLinkResult cbi_jit_add_file(struct nvJitLink *jit, nvJitLinkInputType type, const char *path)
{
    if (jit->state != CBI_JIT_OPEN)
        return refuse_in_state(jit, path);
    opening o = {.path = path, .status = CB_ERR_IO};
    cb_status status = cbi_run(&jit->ctx, open_file, &o);
    if (status != CB_OK)
        return result_of(status);
    if (o.status != CB_OK) {
        cbi_jit_say(&jit->error, "no such file: %s\n", path);
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    if (!o.bytes.size)
        cbi_jit_say(&jit->error, "bad input: %s\n", path);
    return cbi_jit_add(jit, type, o.bytes, true, path);
}

/* ---- complete ---- */

static nvJitLinkResult link_inputs(struct nvJitLink *jit)
{
    cb_status status = cb_link_create(&jit->link_options, &jit->link);
    if (status != CB_OK)
        return NVJITLINK_ERROR_INTERNAL;
    for (size_t i = 0; i < jit->inputs.len && status == CB_OK; i++)
        status = cb_link_add_input(jit->link, jit->inputs.items[i]);
    const cbi_api_extras extras = {
        .object_name = TOOL_OBJECT, .forgives_merge_errors = true, .plain_runtime = true};
    cbi_api_set_extras(jit->link, &extras);
    if (status == CB_OK)
        status = cb_link_run(jit->link);
    if (status != CB_OK) {
        cbi_jit_say(&jit->error, "ERROR 9: finish\n");
        return NVJITLINK_ERROR_INTERNAL;
    }
    const void *data = NULL;
    cb_link_get_image(jit->link, &data, &jit->cubin.size);
    jit->cubin.data = data;
    jit->has_cubin = true;
    return NVJITLINK_SUCCESS;
}

/* The library has seen all inputs, those that were refused here too: its logs tell everything. */
static void take_logs(struct nvJitLink *jit, const cbi_lto_verdict *verdict)
{
    if (verdict->ran) {
        free(jit->error.text);
        free(jit->info.text);
        jit->error = jit->info = (cbi_jit_log){0};
    }
    cbi_jit_say(&jit->error, "%.*s", (int)verdict->error.size, (const char *)verdict->error.data);
    cbi_jit_say(&jit->info, "%.*s", (int)verdict->info.size, (const char *)verdict->info.data);
}

static nvJitLinkResult link_in_library(struct nvJitLink *jit)
{
    const cbi_ptx_options ptx = {.cache = jit->link_options.cache_path};
    const cbi_lto_options where = {.nvjitlink = jit->link_options.nvjitlink_path,
                                   .limits = {CBI_LTO_SECONDS, CBI_LTO_MEBIBYTES},
                                   .ptx = &ptx};
    cbi_lto_verdict verdict;
    cbi_lto_forward(&jit->ctx, &where, &jit->options.all, jit->pieces.items, jit->pieces.len,
                    jit->options.ptx, &verdict);
    take_logs(jit, &verdict);
    if (!verdict.ran || verdict.status != NVJITLINK_SUCCESS)
        return (nvJitLinkResult)verdict.status;
    jit->has_ptx = jit->options.ptx;
    jit->has_cubin = !jit->options.ptx;
    *(jit->options.ptx ? &jit->ptx : &jit->cubin) = verdict.output;
    return NVJITLINK_SUCCESS;
}

typedef struct completion {
    struct nvJitLink *jit;
    nvJitLinkResult result;
} completion;

static cb_status complete(cbi_ctx *ctx, void *arg)
{
    (void)ctx;
    completion *c = arg;
    double start = cbi_now_ms();
    if (c->jit->options.lto) {
        c->result = link_in_library(c->jit);
        return CB_OK;
    }
    if (c->jit->options.time)
        cbi_jit_say(&c->jit->info, "nvJitLink time until Complete: %f\n", start - c->jit->created);
    c->result = link_inputs(c->jit);
    if (c->jit->options.time)
        cbi_jit_say(&c->jit->info, "nvJitLinkComplete time to finish: %f\n", cbi_now_ms() - start);
    return CB_OK;
}

nvJitLinkResult cbi_jit_complete(struct nvJitLink *jit)
{
    if (jit->state != CBI_JIT_OPEN)
        return refuse_in_state(jit, "complete");
    jit->state = CBI_JIT_DONE;
    completion c = {jit, NVJITLINK_ERROR_INTERNAL};
    cb_status status = cbi_run(&jit->ctx, complete, &c);
    return status == CB_OK ? c.result : NVJITLINK_ERROR_INTERNAL;
}

void cbi_jit_end(struct nvJitLink *jit)
{
    cb_link_free(jit->link);
    for (size_t i = 0; i < jit->inputs.len; i++)
        cb_input_free(jit->inputs.items[i]);
    cbi_ctx_fini(&jit->ctx);
    free(jit->error.text);
    free(jit->info.text);
    free(jit->assembler.text);
}
