/* The option strings, as nvJitLink 13.0.88 takes them: which it takes, and what it says of others,
 * was seen by giving them to it. */
#include "nvjitlink/jit.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct reader {
    cbi_ctx *ctx;
    cbi_jit_options *options;
    const char *why;
} reader;

/* What comes after the name, for options with a value. */
typedef nvJitLinkResult (*option_fn)(reader *r, const char *option, const char *value);

static nvJitLinkResult refuse(reader *r, nvJitLinkResult result, const char *why)
{
    r->why = why;
    return result;
}

static nvJitLinkResult unrecognized(reader *r, const char *option)
{
    return refuse(r, NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
                  cbi_printf(r->ctx, "unrecognized option: %s", option));
}

static nvJitLinkResult missing_value(reader *r, const char *option)
{
    return refuse(r, NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
                  cbi_printf(r->ctx,
                             "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (%s)",
                             option));
}

/* Chips of earlier toolkits, which it knows and refuses. */
static bool is_former(long sm)
{
    static const uint8_t former[] = {20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70};
    for (size_t i = 0; i < CBI_COUNT(former); i++)
        if (former[i] == sm)
            return true;
    return false;
}

/* What stands behind the number and names no target counts for nothing. */
static const cbi_arch *find_arch(cbi_ctx *ctx, long sm, const char *suffix)
{
    const cbi_arch *arch = NULL;
    if (*suffix == 'a' || *suffix == 'f')
        arch = cbi_arch_find(cbi_printf(ctx, "sm_%ld%c", sm, *suffix));
    return arch ? arch : cbi_arch_find(cbi_printf(ctx, "sm_%ld", sm));
}

static nvJitLinkResult take_arch(reader *r, const char *option, const char *value)
{
    static const char *const prefixes[] = {"sm_", "compute_", "lto_"};
    size_t kind = 0;
    while (kind < CBI_COUNT(prefixes) &&
           strncmp(value, prefixes[kind], strlen(prefixes[kind])) != 0)
        kind++;
    if (kind == CBI_COUNT(prefixes))
        return missing_value(r, option);
    char *end;
    long sm = strtol(value + strlen(prefixes[kind]), &end, 10);
    if (sm == 0)
        return missing_value(r, option);
    if (sm < 0 || is_former(sm))
        return refuse(r, NVJITLINK_ERROR_UNSUPPORTED_ARCH,
                      cbi_printf(r->ctx,
                                 "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture "
                                 "(compute_%ld)",
                                 sm));
    const cbi_arch *arch = find_arch(r->ctx, sm, end);
    if (!arch)
        return refuse(r, NVJITLINK_ERROR_UNRECOGNIZED_ARCH,
                      cbi_printf(r->ctx,
                                 "ERROR NVJITLINK_ERROR_UNRECOGNIZED_ARCH: unrecognized "
                                 "architecture (compute_%ld)",
                                 sm));
    r->options->arch = arch;
    r->options->virtual_arch = kind != 0;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_lto(reader *r, const char *option, const char *value)
{
    (void)option, (void)value;
    r->options->lto = true;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_ptx(reader *r, const char *option, const char *value)
{
    (void)option, (void)value;
    r->options->ptx = true;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_relocatable(reader *r, const char *option, const char *value)
{
    (void)option, (void)value;
    r->options->relocatable = true;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_debug(reader *r, const char *option, const char *value)
{
    (void)value;
    r->options->debug = true;
    cbi_vec_push(r->ctx, &r->options->ptxas, option);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_verbose(reader *r, const char *option, const char *value)
{
    (void)option, (void)value;
    r->options->verbose = true;
    cbi_vec_push(r->ctx, &r->options->ptxas, "-v");
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_time(reader *r, const char *option, const char *value)
{
    (void)option, (void)value;
    r->options->time = true;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_no_cache(reader *r, const char *option, const char *value)
{
    (void)option, (void)value;
    r->options->no_cache = true;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_lineinfo(reader *r, const char *option, const char *value)
{
    (void)option, (void)value;
    cbi_vec_push(r->ctx, &r->options->ptxas, "-lineinfo");
    return NVJITLINK_SUCCESS;
}

/* As it is to the assembler. */
static nvJitLinkResult take_for_ptxas(reader *r, const char *option, const char *value)
{
    (void)value;
    cbi_vec_push(r->ctx, &r->options->ptxas, option);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_xptxas(reader *r, const char *option, const char *value)
{
    (void)option;
    cbi_vec_push(r->ctx, &r->options->ptxas, value);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_kernel(reader *r, const char *option, const char *value)
{
    (void)option;
    cbi_vec_push(r->ctx, &r->options->kernels, value);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_variable(reader *r, const char *option, const char *value)
{
    (void)option;
    cbi_vec_push(r->ctx, &r->options->variables, value);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_threads(reader *r, const char *option, const char *value)
{
    if (strtol(value, NULL, 10) < 0)
        return refuse(r, NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
                      cbi_printf(r->ctx, "argument for %.*s must be non-negative.",
                                 (int)strcspn(option, "="), option));
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_level(reader *r, const char *option, const char *value)
{
    if (strlen(value) != 1 || *value < '0' || *value > '9')
        return unrecognized(r, option);
    if (*value != '0' && *value != '3')
        return refuse(
            r, NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
            cbi_printf(r->ctx, "unsupported value of -O: %s. Only 0 and 3 are supported.", value));
    cbi_vec_push(r->ctx, &r->options->ptxas, option);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult take_fast(reader *r, const char *option, const char *value)
{
    static const char *const levels[] = {"0", "min", "mid", "max"};
    for (size_t i = 0; i < CBI_COUNT(levels); i++)
        if (strcmp(value, levels[i]) == 0)
            return take_for_ptxas(r, option, value);
    return refuse(r, NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
                  cbi_printf(r->ctx,
                             "unsupported value of --Ofast-compile (-Ofc): %s. Only 0, min, mid, "
                             "and max are supported.",
                             value));
}

/* For the compiler of LTO-IR, which is NVIDIA's, or of no effect. */
static nvJitLinkResult pass_on(reader *r, const char *option, const char *value)
{
    (void)r, (void)option, (void)value;
    return NVJITLINK_SUCCESS;
}

typedef enum form {
    EXACT,  /* the whole string */
    PREFIX, /* more may follow, and counts for nothing */
    GLUED,  /* a value follows at once */
    VALUE,  /* a value that may be empty follows the name, which ends with '=' */
    NEEDED  /* ... that may not */
} form;

static const struct option {
    const char *name;
    form form;
    option_fn take;
} options_table[] = {
    {"-arch=", NEEDED, take_arch},
    {"-maxrregcount=", NEEDED, take_for_ptxas},
    {"-time", PREFIX, take_time},
    {"-verbose", PREFIX, take_verbose},
    {"-lto", PREFIX, take_lto},
    {"-dlto", PREFIX, take_lto},
    {"-ptx", PREFIX, take_ptx},
    {"-Ofc=", NEEDED, take_fast},
    {"-O", GLUED, take_level},
    {"-g", EXACT, take_debug},
    {"-lineinfo", PREFIX, take_lineinfo},
    {"-ftz=", VALUE, pass_on},
    {"-prec-div=", VALUE, pass_on},
    {"-prec-sqrt=", VALUE, pass_on},
    {"-fma=", VALUE, pass_on},
    {"-kernels-used=", NEEDED, take_kernel},
    {"-variables-used=", NEEDED, take_variable},
    {"-optimize-unused-variables", PREFIX, pass_on},
    {"-Xptxas=", NEEDED, take_xptxas},
    {"-Xnvvm=", NEEDED, pass_on},
    {"-split-compile=", VALUE, take_threads},
    {"-split-compile-extended=", VALUE, take_threads},
    {"-jump-table-density=", VALUE, pass_on},
    {"-no-cache", PREFIX, take_no_cache},
    {"-r", PREFIX, take_relocatable},
};

static nvJitLinkResult read_option(reader *r, const char *option)
{
    for (size_t i = 0; i < CBI_COUNT(options_table); i++) {
        const struct option *row = &options_table[i];
        size_t len = strlen(row->name);
        if (strncmp(option, row->name, len) != 0 || (row->form == EXACT && option[len]))
            continue;
        if (row->form == NEEDED && !option[len])
            return missing_value(r, option);
        return row->take(r, option, option + len);
    }
    return unrecognized(r, option);
}

nvJitLinkResult cbi_jit_read_options(cbi_ctx *ctx, uint32_t count, const char *const *options,
                                     cbi_jit_options *ret_options, const char **ret_why)
{
    reader r = {.ctx = ctx, .options = ret_options};
    nvJitLinkResult result = NVJITLINK_SUCCESS;
    for (uint32_t i = 0; i < count && result == NVJITLINK_SUCCESS; i++) {
        if (!options[i])
            return NVJITLINK_ERROR_NULL_INPUT;
        const char *copy = cbi_strndup(ctx, options[i], strlen(options[i]));
        cbi_vec_push(ctx, &ret_options->all, copy);
        result = read_option(&r, copy);
    }
    if (result == NVJITLINK_SUCCESS && !ret_options->arch)
        result = NVJITLINK_ERROR_MISSING_ARCH;
    if (result == NVJITLINK_SUCCESS && ret_options->ptx && !ret_options->lto)
        result = refuse(&r, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "ERROR: -ptx requires -lto");
    if (result == NVJITLINK_SUCCESS && ret_options->virtual_arch && !ret_options->ptx)
        result =
            refuse(&r, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "ERROR: virtual arch requires -ptx");
    *ret_why = r.why;
    return result;
}
