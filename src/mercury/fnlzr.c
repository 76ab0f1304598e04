/* The finalizer: guards, eligibility, fast path, back end, self-check, in this order. */
#include "mercury/fnlzr.h"

#include "link/mercury.h"
#include "mercury/mercury.h"

enum { EWP_OR_LINKED_KINDS = EF_CUDA_KIND_MERCURY | EF_CUDA_KIND_CAPMERC };

typedef struct run {
    cbi_ctx *ctx;
    const cbi_fnlzr_config *config;
    const char *name;
    cbi_span image;
    cbi_object object;
    uint32_t compat; /* section index, 0 = none */
    cbi_arch_facts facts;
    uint64_t mask; /* capability mask of .nv.compat */
    cbi_buf out;
} run;

static void CBI_PRINTF(2, 3) trace(const run *r, const char *format, ...)
{
    if (!r->config->trace)
        return;
    va_list args;
    va_start(args, format);
    r->config->trace(r->config->trace_user, cbi_vprintf(r->ctx, format, args));
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

static cbi_fnlzr_code fail(run *r, cbi_fnlzr_code code, const char *why)
{
    trace(r, "FNLZR: result %d", code);
    cbi_error(r->ctx, "finalizer", &(cbi_place){.file = r->name}, why, "Internal FNLZR error '%s'",
              r->name);
    return code;
}

/* ---- validation ---- */

static cbi_fnlzr_code validate(run *r)
{
    const uint8_t *p = r->image.data;
    if (r->image.size < sizeof(Elf64_Ehdr) || memcmp(p, ELFMAG, SELFMAG) != 0)
        return fail(r, CBI_FNLZR_INVALID, "not an ELF file");
    if (p[EI_OSABI] != ELFOSABI_CUDA || p[EI_ABIVERSION] != CUDA_ABI_VERSION)
        return fail(r, CBI_FNLZR_UNKNOWN_ABI, "OSABI or ABI version is unknown");
    cbi_findings findings = {0};
    if (cbi_object_read(r->ctx, r->name, r->image, &r->object, &findings) != CBI_OBJECT_OK)
        return fail(r, CBI_FNLZR_INVALID,
                    findings.len ? findings.items[0].message : "not a device ELF");
    uint16_t type = r->object.type;
    if (type != ET_EXEC && type != ET_REL && type != ET_CUDA_EWP)
        return fail(r, CBI_FNLZR_INVALID, "the ELF type is none that is finalized");
    if (r->config->post_link && type != ET_EXEC)
        return fail(r, CBI_FNLZR_INVALID, "an executable is expected after the link");
    if (!(r->object.flags & EWP_OR_LINKED_KINDS) || !r->object.merc_symtab)
        return fail(r, CBI_FNLZR_NOT_CAPMERC, cbi_fnlzr_code_text(CBI_FNLZR_NOT_CAPMERC));
    return CBI_FNLZR_OK;
}

static cbi_fnlzr_code read_compat(run *r)
{
    r->compat = cbi_object_find(&r->object, ".nv.compat");
    const cbi_span *bytes = r->compat ? &r->object.sections[r->compat].data : NULL;
    r->facts = cbi_arch_read_facts(r->object.flags, bytes);
    size_t pos = 0;
    cbi_attr attr;
    while (bytes && cbi_attr_next(*bytes, &pos, &attr))
        if (attr.code == 0x0b && attr.payload.size >= 8)
            r->mask = cbi_ld64(attr.payload.data);
    if (r->facts.isa > CBI_MERCURY_ISA_MAX)
        return fail(r, CBI_FNLZR_ISA_VERSION,
                    cbi_printf(r->ctx, "Mercury version 0x%x is newer than 0x%x", r->facts.isa,
                               CBI_MERCURY_ISA_MAX));
    return CBI_FNLZR_OK;
}

static cbi_fnlzr_code check_target(run *r)
{
    const cbi_arch *target = r->config->target;
    if (!cbi_arch_accepts_cubin(&r->facts, true, target))
        return fail(r, CBI_FNLZR_NOT_ELIGIBLE,
                    cbi_printf(r->ctx, "code for sm_%u%s is not accepted for %s", r->facts.sm,
                               r->facts.specific ? "a" : "", target->name));
    return CBI_FNLZR_OK;
}

/* ---- fast path ---- */

/* The first function that the target cannot run as it is; NULL when all can. */
static const char *first_excluded(const run *r)
{
    uint32_t sm = r->facts.sm;
    uint64_t bit = cbi_mercury_target_bit(r->config->target->sm);
    if (sm == r->config->target->sm)
        return NULL;
    for (uint32_t i = 1; i < r->object.section_count; i++) {
        const cbi_section *s = &r->object.sections[i];
        if (s->type == SHT_PROGBITS && (s->flags & SHF_EXECINSTR) &&
            !(cbi_mercury_text_mask(sm, s->data.data, s->data.size) & bit))
            return strncmp(s->name, ".text.", 6) == 0 ? s->name + 6 : s->name;
    }
    return NULL;
}

/* Writes the target's name over the architecture in a linker's note, when it has the same length.
 */
static void patch_note(run *r)
{
    uint32_t index = cbi_object_find(&r->object, ".note.nv.tkinfo");
    if (!index)
        return;
    const cbi_section *s = &r->object.sections[index];
    size_t pos = 0;
    cbi_note note;
    cbi_tkinfo info;
    while (cbi_note_next(s->data, &pos, &note)) {
        if (note.type != NT_CUDA_TKINFO || !cbi_tkinfo_read(note.desc, &info) ||
            (strcmp(info.tool, "nvlink") != 0 && strcmp(info.tool, "nvJIT API") != 0))
            continue;
        const char *at = strstr(info.options, "-arch sm_");
        size_t len = at ? strcspn(at + 6, " ") : 0;
        if (at && len == strlen(r->config->target->name))
            memcpy(r->out.items + (at + 6 - (const char *)r->image.data), r->config->target->name,
                   len);
        return;
    }
}

static void fast_path(run *r)
{
    const cbi_arch *target = r->config->target;
    trace(r, "FNLZR: fast path, sm_%u -> %s", r->facts.sm, target->name);
    cbi_buf_append(r->ctx, &r->out, r->image.data, r->image.size);
    uint32_t flags = (r->object.flags & ~UINT32_C(0xffff00)) | target->sm << 8;
    cbi_st32(r->out.items + offsetof(Elf64_Ehdr, e_flags), flags);
    size_t pos = 0;
    cbi_attr attr;
    const cbi_span compat = r->object.sections[r->compat].data;
    while (r->compat && cbi_attr_next(compat, &pos, &attr)) {
        uint8_t *record = r->out.items + (attr.raw.data - r->image.data);
        if (attr.code == 0x09)
            record[2] = target->suffix == 'a';
        else if (attr.code == 0x0b && attr.payload.size >= 8 && target->sm != r->facts.sm)
            cbi_st64(record + 4, 0); /* as a link for that target writes it */
    }
    patch_note(r);
}

/* ---- code generation ---- */

static cbi_fnlzr_code recompile(run *r, const char *function)
{
    const cbi_fnlzr_backend *b = r->config->backend;
    const cbi_arch *target = r->config->target;
    if (!b || !b->finalize || !b->supports || !b->supports(b->user, r->facts.sm, target))
        return fail(r, CBI_FNLZR_NOT_ELIGIBLE,
                    cbi_printf(r->ctx,
                               "kernel '%s' is compiled for sm_%u and must be compiled for %s, "
                               "which needs a compiler back end",
                               function, r->facts.sm, target->name));
    cbi_buf_append(r->ctx, &r->out, r->image.data, r->image.size);
    cbi_st32(r->out.items + offsetof(Elf64_Ehdr, e_flags),
             (r->object.flags & ~UINT32_C(0xffff00)) | target->sm << 8);
    for (uint32_t i = 1; i < r->object.section_count; i++) {
        const cbi_section *s = &r->object.sections[i];
        cbi_capsule capsule;
        if (s->type != SHT_CUDA_CAPMERC || !cbi_capsule_open(s->data, &capsule) ||
            capsule.text_index >= r->object.section_count)
            continue;
        const cbi_section *text = &r->object.sections[capsule.text_index];
        size_t size = 0;
        const uint8_t *code =
            b->finalize(b->user, text->name + 6, text->data, s->data, target, &size);
        if (!code || size != text->size)
            return fail(
                r, CBI_FNLZR_NOT_ELIGIBLE,
                cbi_printf(r->ctx, "back end %s gave no code for '%s'", b->name, text->name + 6));
        memcpy(r->out.items + text->offset, code, size);
    }
    return CBI_FNLZR_OK;
}

/* ---- self-check ---- */

/* The second run has the check switched off, so this goes one level deep.
 * NOLINTNEXTLINE(misc-no-recursion) */
static cbi_fnlzr_code self_check(run *r)
{
    cbi_fnlzr_config again = *r->config;
    again.self_check = false;
    cbi_buf second = {0};
    cbi_object first_object, second_object;
    cbi_span first = {r->out.items, r->out.len};
    cbi_fnlzr_code code = cbi_fnlzr(r->ctx, &again, r->name, first, &second);
    if (code)
        return code;
    cbi_span bytes = {second.items, second.len};
    if (cbi_object_read(r->ctx, r->name, first, &first_object, NULL) != CBI_OBJECT_OK ||
        cbi_object_read(r->ctx, r->name, bytes, &second_object, NULL) != CBI_OBJECT_OK)
        return fail(r, CBI_FNLZR_INVALID, "the result is not a sound device ELF");
    code = cbi_fnlzr_compare(&first_object, &second_object);
    if (!code)
        code = cbi_fnlzr_verify(&first_object);
    trace(r, "FNLZR: self check: %s", cbi_fnlzr_code_text(code));
    return code ? fail(r, code, cbi_fnlzr_code_text(code)) : CBI_FNLZR_OK;
}

/* ---- front end ---- */

/* NOLINTNEXTLINE(misc-no-recursion) */
cbi_fnlzr_code cbi_fnlzr(cbi_ctx *ctx, const cbi_fnlzr_config *config, const char *name,
                         cbi_span image, cbi_buf *ret_image)
{
    run r = {
        .ctx = ctx, .config = config, .name = name ? name : "in-memory-ELF-image", .image = image};
    trace(&r, "FNLZR: Input ELF: %s", r.name);
    trace(&r, "FNLZR: %s Mode", config->post_link ? "Post-Link" : "Pre-Link");
    cbi_fnlzr_code code = validate(&r);
    if (!code)
        code = read_compat(&r);
    if (!code)
        code = check_target(&r);
    if (code)
        return code;
    trace(&r, "FNLZR: mask 0x%llx, opt level %d", (unsigned long long)r.mask, config->opt_level);
    const char *excluded = first_excluded(&r);
    if (excluded || config->fast_path_off)
        code = recompile(&r, excluded ? excluded : "(all)");
    else
        fast_path(&r);
    if (!code && config->self_check)
        code = self_check(&r);
    if (code)
        return code;
    trace(&r, "FNLZR: result 0");
    *ret_image = r.out;
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
