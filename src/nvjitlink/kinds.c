/* Which content may be given as which kind of input. */
#include "input/recognise.h"
#include "nvjitlink/jit.h"

/* Kinds by number; a NULL name is no kind. */
static const struct kind {
    const char *name;
    unsigned contents; /* bits of cbi_content */
} kinds[] = {
    [NVJITLINK_INPUT_CUBIN] = {"NVJITLINK_INPUT_CUBIN", 1u << CBI_CONTENT_CUBIN},
    [NVJITLINK_INPUT_PTX] = {"NVJITLINK_INPUT_PTX", 1u << CBI_CONTENT_PTX},
    [NVJITLINK_INPUT_LTOIR] = {"NVJITLINK_INPUT_LTOIR", 1u << CBI_CONTENT_LTOIR},
    [NVJITLINK_INPUT_FATBIN] = {"NVJITLINK_INPUT_FATBIN", 1u << CBI_CONTENT_FATBIN},
    [NVJITLINK_INPUT_OBJECT] = {"NVJITLINK_INPUT_OBJECT", 1u << CBI_CONTENT_CUBIN |
                                                              1u << CBI_CONTENT_HOST_OBJECT |
                                                              1u << CBI_CONTENT_HOST_LINKED},
    [NVJITLINK_INPUT_LIBRARY] = {"NVJITLINK_INPUT_LIBRARY", 1u << CBI_CONTENT_ARCHIVE},
    [NVJITLINK_INPUT_INDEX] = {"NVJITLINK_INPUT_INDEX", 0},
    [NVJITLINK_INPUT_ANY] = {"NVJITLINK_INPUT_ANY",
                             1u << CBI_CONTENT_CUBIN | 1u << CBI_CONTENT_PTX |
                                 1u << CBI_CONTENT_LTOIR | 1u << CBI_CONTENT_FATBIN |
                                 1u << CBI_CONTENT_HOST_OBJECT | 1u << CBI_CONTENT_HOST_LINKED |
                                 1u << CBI_CONTENT_ARCHIVE},
};

nvJitLinkResult cbi_jit_check_kind(cbi_ctx *ctx, nvJitLinkInputType type, cbi_span bytes,
                                   const char *name, const char **ret_why)
{
    if ((unsigned)type >= CBI_COUNT(kinds) || !kinds[type].name) {
        *ret_why = cbi_printf(ctx, "unsupported input type: %s", name);
        return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
    }
    if (kinds[type].contents & 1u << cbi_recognise(bytes))
        return NVJITLINK_SUCCESS;
    if (type == NVJITLINK_INPUT_ANY) {
        *ret_why = cbi_printf(ctx, "unrecognized input type: %s", name);
        return NVJITLINK_ERROR_UNRECOGNIZED_INPUT;
    }
    *ret_why =
        cbi_printf(ctx, "ERROR 1: bad input: does not match type %s: %s", kinds[type].name, name);
    return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
}
