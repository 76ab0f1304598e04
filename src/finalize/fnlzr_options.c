/* The engine's options: of the command line, and of the string that a caller may pass. */
#include "finalize/fnlzr_engine.h"

#include <stdlib.h>

/* Rows of cbi_fnlzr_options, in its order. */
enum {
    BINARY_KIND,
    CAP_MERC,
    OUT_SASS,
    SELF_CHECK,
    OPPORTUNISTIC,
    FASTPATH_OFF,
    OPT_LEVEL,
    LINE_INFO,
    VERBOSE_TKINFO,
    NO_SMEM_RESERVATION,
    AT_ENTRY_PATCH,
    TRAP,
};

const cbi_fnlzr_option cbi_fnlzr_options[] = {
    {"--binary-kind", "KIND", "what to write: capmerc or sass; mercury needs a compiler"},
    {"--cap-merc", NULL, "the same as --binary-kind capmerc"},
    {"--out-sass", NULL, "the same as --binary-kind sass: code without capsules"},
    {"--self-check", NULL, "run a second time and compare the results"},
    {"--opportunistic-finalization-lvl", "N",
     "0 to 2; from 1 on, say when code was kept for another chip"},
    {"--fastpath-off", NULL, "compile everything; needs a compiler"},
    {"--opt-level", "N", "0 to 5, for code that is compiled; 4 unless given"},
    {"--generate-line-info", NULL, "for code that is compiled; needs a compiler"},
    {"--verbose-tkinfo", NULL, "name input and output in the linker's note"},
    {"--disable-smem-reservation", NULL, "needs a compiler"},
    {"--compile-as-at-entry-patch", NULL, "needs a compiler"},
    {"--trap-into-debugger", NULL, "needs a compiler"},
    {0},
};

const cbi_fnlzr_option *cbi_fnlzr_option_find(const char *name)
{
    for (const cbi_fnlzr_option *o = cbi_fnlzr_options; o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

static bool read_level(const char *text, int max, int *ret_level)
{
    if (text[0] < '0' || text[0] > '0' + max || text[1])
        return false;
    *ret_level = text[0] - '0';
    return true;
}

static const char *set_kind(cbi_fnlzr_config *config, const char *value)
{
    static const char *const kinds[] = {"capmerc", "sass", "mercury"};
    for (size_t i = 0; i < CBI_COUNT(kinds); i++)
        if (strcmp(value, kinds[i]) == 0) {
            config->kind = (cbi_fnlzr_kind)i;
            if (config->kind == CBI_FNLZR_MERCURY)
                config->needs_compiler = "--binary-kind mercury";
            return NULL;
        }
    return "capmerc, sass or mercury";
}

const char *cbi_fnlzr_option_set(cbi_fnlzr_config *config, const cbi_fnlzr_option *option,
                                 const char *value)
{
    if (!value)
        value = ""; /* of options that take one this is refused below */
    switch (option - cbi_fnlzr_options) {
    case BINARY_KIND:
        return set_kind(config, value);
    case CAP_MERC:
        return set_kind(config, "capmerc");
    case OUT_SASS:
        return set_kind(config, "sass");
    case SELF_CHECK:
        config->self_check = true;
        break;
    case OPPORTUNISTIC:
        return read_level(value, 2, &config->opportunistic_level) ? NULL : "a number from 0 to 2";
    case FASTPATH_OFF:
        config->fast_path_off = true;
        break;
    case OPT_LEVEL:
        return read_level(value, 5, &config->opt_level) ? NULL : "a number from 0 to 5";
    case LINE_INFO:
        config->line_info = true;
        config->needs_compiler = option->name;
        break;
    case VERBOSE_TKINFO:
        config->verbose_tkinfo = true;
        break;
    default:
        config->needs_compiler = option->name;
        break;
    }
    return NULL;
}

static cbi_fnlzr_code refuse(cbi_fnlzr_state *f, const char *option, const char *why)
{
    return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID, cbi_printf(f->ctx, "option %s: %s", option, why));
}

cbi_fnlzr_code cbi_fnlzr_apply_options(cbi_fnlzr_state *f)
{
    const char *at = f->config.options ? f->config.options : "";
    for (;;) {
        at += strspn(at, " \t");
        size_t len = strcspn(at, " \t");
        if (!len)
            return CBI_FNLZR_OK;
        char *name = cbi_strndup(f->ctx, at, len), *value = strchr(name, '=');
        at += len;
        if (value)
            *value++ = 0;
        const cbi_fnlzr_option *option = cbi_fnlzr_option_find(name);
        if (!option)
            return refuse(f, name, "unknown");
        if (option->value && !value) {
            at += strspn(at, " \t");
            len = strcspn(at, " \t");
            value = cbi_strndup(f->ctx, at, len);
            at += len;
        }
        const char *wrong = cbi_fnlzr_option_set(&f->config, option, value);
        if (wrong)
            return refuse(f, name, cbi_printf(f->ctx, "takes %s, not '%s'", wrong, value));
    }
}
