/* Code in a table of unified functions: it comes without EIATTR_MERCURY_FINALIZER_OPTIONS, so its
 * schedule is that of the link.  Rule and experiment: docs/code-rewriting.md. */
#include "mercury/stubs.h"
#include "sass/instruction.h"
#include "sass/opcodes.h"

enum {
    BRANCH_STALL = 5,
    UNSCHEDULED_WAITS = 3, /* for numbers 0 and 1, the only ones that such code has */
};

/* A call, a branch, a return or a NOP: nothing in it is late, or waits for what is. */
static bool is_plain(cbi_sass w)
{
    uint32_t op = cbi_sass_op(w);
    return op == CBI_OP_NOP || cbi_op_has(op, CBI_OPF_BRANCH | CBI_OPF_CALL);
}

static void schedule(cbi_sass *w, bool scheduled)
{
    uint32_t stall = cbi_sass_op(*w) == CBI_OP_NOP ? 1 : BRANCH_STALL;
    cbi_sass_set_stall(w, scheduled ? stall : CBI_SASS_STALL_MAX);
    cbi_sass_set_yield(w, scheduled);
    cbi_sass_set_wait(w, scheduled ? 0 : UNSCHEDULED_WAITS);
}

void cbi_stub_schedule(uint8_t *bytes, uint64_t size, bool scheduled)
{
    uint64_t total = size / CBI_SASS_INSTRUCTION;
    while (total && cbi_sass_opcode(bytes + CBI_SASS_INSTRUCTION * (total - 1)) == CBI_OP_NOP)
        total--; /* the padding, behind the branch to itself: no part of the code */
    for (uint64_t i = 0; i + 1 < total; i++)
        if (!is_plain(cbi_sass_load(bytes + CBI_SASS_INSTRUCTION * i)))
            return;
    for (uint64_t i = 0; i + 1 < total; i++) {
        cbi_sass w = cbi_sass_load(bytes + CBI_SASS_INSTRUCTION * i);
        schedule(&w, scheduled);
        cbi_sass_store(bytes + CBI_SASS_INSTRUCTION * i, w);
    }
}
