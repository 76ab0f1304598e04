/* The finalizer's front end: mode, guards, trace, and the engine as a job of its own. */
#include "finalize/fnlzr_engine.h"

void cbi_fnlzr_trace(const cbi_fnlzr_state *f, const char *format, ...)
{
    if (!f->config.trace || !f->config.trace_run)
        return;
    va_list args;
    va_start(args, format);
    f->config.trace(f->config.trace_user, cbi_vprintf(f->ctx, format, args));
    va_end(args);
}

const char *cbi_fnlzr_code_text(cbi_fnlzr_code code)
{
    switch (code) {
    case CBI_FNLZR_OK:
        return "finalized";
    case CBI_FNLZR_NOT_ELIGIBLE:
        return "the target cannot be reached from this image";
    case CBI_FNLZR_NOT_CAPMERC:
        return "the image has no Mercury code";
    case CBI_FNLZR_INVALID:
        return "not a device ELF that can be finalized";
    case CBI_FNLZR_UNKNOWN_ABI:
        return "unknown ABI";
    case CBI_FNLZR_NO_MEMORY:
        return "out of memory";
    case CBI_FNLZR_SELF_TEXT:
        return "self check for text or debug section failed";
    case CBI_FNLZR_SELF_RELOC:
        return "self check for relocation section failed";
    case CBI_FNLZR_SELF_SYMBOLS:
        return "self check for symbols failed";
    case CBI_FNLZR_ISA_VERSION:
        return "the Mercury version is too new";
    }
    return "unknown";
}

cbi_fnlzr_code cbi_fnlzr_fail(cbi_fnlzr_state *f, cbi_fnlzr_code code, const char *why)
{
    cbi_fnlzr_trace(f, "FNLZR: result %d", code);
    cbi_error(f->ctx, "finalizer", &(cbi_place){.file = f->name}, why, "Internal FNLZR error '%s'",
              f->name);
    return code;
}

/* What the ELF header says before anything else is looked at. */
static cbi_fnlzr_code guard(cbi_fnlzr_state *f)
{
    const uint8_t *p = f->image.data;
    if (f->image.size < sizeof(Elf64_Ehdr) || memcmp(p, ELFMAG, SELFMAG) != 0)
        return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID, "not an ELF file");
    uint32_t kind = cbi_file_kind(p[EI_OSABI], cbi_ld32(p + offsetof(Elf64_Ehdr, e_flags)));
    bool mercury = kind & (EF_CUDA_KIND_MERCURY | EF_CUDA_KIND_CAPMERC);
    f->post_link = f->config.post_link || cbi_ld16(p + offsetof(Elf64_Ehdr, e_type)) == ET_EXEC;
    if (mercury && kind & EF_CUDA_KIND_SASS)
        return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID,
                              "e_flags claims Mercury code and SASS only at the same time");
    return CBI_FNLZR_OK;
}

static void trace_start(const cbi_fnlzr_state *f)
{
    bool jit = f->config.jit;
    if (jit)
        cbi_fnlzr_trace(f, "FNLZR: JIT Path");
    else
        cbi_fnlzr_trace(f, "FNLZR: Input ELF: %s", f->name);
    cbi_fnlzr_trace(f, "FNLZR: %s",
                    f->post_link ? jit ? "postLink Mode" : "Post-Link Mode"
                    : jit        ? "preLink Mode"
                                 : "Pre-Link Mode");
    cbi_fnlzr_trace(f, "FNLZR: Flags [ %u | %u ]", f->config.kind == CBI_FNLZR_CAPMERC,
                    f->config.kind == CBI_FNLZR_SASS);
    cbi_fnlzr_trace(f, "FNLZR: Starting %s", jit ? "JIT" : f->name);
}

/* NOLINTNEXTLINE(misc-no-recursion): the self-check runs once more, with itself switched off */
cbi_fnlzr_code cbi_fnlzr(cbi_ctx *ctx, const cbi_fnlzr_config *config, const char *name,
                         cbi_span image, cbi_buf *ret_image)
{
    cbi_fnlzr_state f = {
        .ctx = ctx,
        .config = *config,
        .name = name ? name : "in-memory-ELF-image",
        .image = image,
    };
    cbi_fnlzr_code code = cbi_fnlzr_apply_options(&f);
    if (!code)
        code = guard(&f);
    if (code)
        return code;
    trace_start(&f);
    code = cbi_fnlzr_engine(&f);
    if (code)
        return code;
    cbi_fnlzr_trace(&f, "FNLZR: Ending %s", config->jit ? "JIT" : f.name);
    *ret_image = f.out;
    return CBI_FNLZR_OK;
}

typedef struct job {
    const cbi_fnlzr_config *config;
    const char *name;
    cbi_span image;
    cbi_buf *ret_image;
    cbi_fnlzr_code code;
} job;

static cb_status job_run(cbi_ctx *ctx, void *arg)
{
    job *j = arg;
    j->code = cbi_fnlzr(ctx, j->config, j->name, j->image, j->ret_image);
    return j->code ? CB_ERR_LINK : CB_OK;
}

cbi_fnlzr_code cbi_fnlzr_run(cbi_ctx *ctx, const cbi_fnlzr_config *config, const char *name,
                             cbi_span image, cbi_buf *ret_image)
{
    job j = {config, name, image, ret_image, CBI_FNLZR_INVALID};
    cb_status status = cbi_run(ctx, job_run, &j);
    return status == CB_ERR_NOMEM ? CBI_FNLZR_NO_MEMORY : j.code;
}
