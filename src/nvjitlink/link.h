/* One link, behind the exported functions. */
#ifndef CBI_JIT_LINK_H
#define CBI_JIT_LINK_H

#include "lto/lto.h"
#include "nvjitlink/jit.h"

typedef enum cbi_jit_state {
    CBI_JIT_OPEN,
    CBI_JIT_BROKEN, /* the options were wrong */
    CBI_JIT_DONE    /* it has run, well or not */
} cbi_jit_state;

struct nvJitLink {
    cbi_ctx ctx;
    cbi_jit_options options;
    cb_link_options link_options; /* made of them */
    cbi_jit_state state;
    cbi_jit_log error, info;
    cbi_jit_log assembler; /* what the assembler of the input at hand has said */
    bool lacks_code;       /* the input at hand has no code for the target */
    bool lacks_lto, lacks_assembly;
    CBI_VEC(cb_input *) inputs;
    CBI_VEC(cbi_lto_piece) pieces; /* with -lto the library links */
    cb_link *link;
    double created; /* ms */
    bool has_cubin, has_ptx;
    cbi_span cubin, ptx;
};

/* Sets the link up.  On failure the state is CBI_JIT_BROKEN, and the log says why. */
nvJitLinkResult cbi_jit_start(struct nvJitLink *jit, uint32_t count, const char *const *options);

/* An input: the bytes are copied unless they stay as long as the link.  name is not NULL. */
nvJitLinkResult cbi_jit_add(struct nvJitLink *jit, nvJitLinkInputType type, cbi_span bytes,
                            bool stays, const char *name);
nvJitLinkResult cbi_jit_add_file(struct nvJitLink *jit, nvJitLinkInputType type, const char *path);

nvJitLinkResult cbi_jit_complete(struct nvJitLink *jit);

/* Frees what it holds. */
void cbi_jit_end(struct nvJitLink *jit);

#endif
