/* A link that nvJitLink does by itself, in the child process: nothing is known here of what goes in
 * and comes out. */
#include "lto/lto.h"
#include "lto/nvjitlink.h"
#include "lto/worker.h"

static cbi_span text_of(const char *s)
{
    return (cbi_span){(const uint8_t *)s, strlen(s)};
}

static cbi_span no_library(cbi_ctx *ctx, cbi_span why)
{
    return text_of(cbi_printf(ctx,
                              "link-time optimization needs NVIDIA's nvJitLink library: "
                              "libnvJitLink.so.13 of the CUDA toolkit or of the package "
                              "nvidia-nvjitlink; name the file in the environment variable "
                              "CUBIND_NVJITLINK\n(%.*s)\n",
                              (int)why.size, (const char *)why.data));
}

void cbi_lto_forward(cbi_ctx *ctx, const cbi_lto_options *where, const cbi_strings *options,
                     const cbi_lto_piece *pieces, size_t count, bool wants_ptx,
                     cbi_lto_verdict *ret_verdict)
{
    cbi_lto_job job = {.options = *options,
                       .inputs = pieces,
                       .input_count = count,
                       .wants_ptx = wants_ptx,
                       .goes_on = true};
    cbi_lto_list_libraries(ctx, where, &job.libraries);
    cbi_child_result result = cbi_lto_run(ctx, where, &job);
    const char *why = cbi_lto_end_text(ctx, &where->limits, &result);
    cbi_lto_reply reply;
    *ret_verdict = (cbi_lto_verdict){.status = NVJITLINK_ERROR_INTERNAL};
    if (!why && !cbi_lto_read_reply(result.said, &reply))
        why = "the compiler's process gave no answer";
    if (why)
        ret_verdict->error = text_of(cbi_printf(ctx, "%s\n", why));
    else if (reply.stage == CBI_LTO_NO_LIBRARY)
        *ret_verdict = (cbi_lto_verdict){.status = NVJITLINK_ERROR_NVVM_COMPILE,
                                         .error = no_library(ctx, reply.error)};
    else
        *ret_verdict = (cbi_lto_verdict){.ran = true,
                                         .status = reply.status,
                                         .error = reply.error,
                                         .info = reply.info,
                                         .output = reply.output};
}
