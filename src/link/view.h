/* The second view of an object, given to the link core from outside.
 *
 * From sm_100 on an object holds its code twice: as SASS and as Mercury.  The core links the
 * Mercury view of each: one symbol table, one attribute stream and one relocation list per section,
 * in Mercury terms.  What the SASS side needs is kept beside it, by whoever provides these
 * functions.
 */
#ifndef CBI_LINK_VIEW_H
#define CBI_LINK_VIEW_H

#include "link/state.h"

struct cbi_view_ops {
    /* What the second view keeps during a link. */
    struct cbi_mercury_state *(*begin)(cbi_ctx *ctx);

    /* Replaces obj->object by its Mercury view and sets obj->mercury.  Fatal when the object claims
     * Mercury and lacks what belongs to it. */
    void (*make)(const cbi_linker *lk, cbi_lobj *obj);

    /* Takes the Mercury side out of an object: all are linked as SASS because one of them has no
     * other.  lifted: nvlink had read it as Mercury before it met that one. */
    void (*drop)(const cbi_linker *lk, cbi_lobj *obj, bool lifted);

    /* What is on the SASS side of entry i of the view's relocation section. */
    const cbi_sass_reloc *(*pair)(const struct cbi_mercury_view *view, uint32_t section, size_t i);

    /* Is the relocated place inside its target? */
    bool (*in_range)(const cbi_lrel *rel);

    /* Applies a resolved relocation: `value` is the symbol's, without addend.  Text is patched
     * through the SASS partner, everything else in place. */
    void (*patch)(const cbi_linker *lk, const cbi_lrel *rel, uint64_t value, uint32_t bank);

    /* The place of a variable in reserved shared memory: written into SASS, open in Mercury code.
     */
    void (*patch_reserved)(const cbi_linker *lk, const cbi_lrel *rel);

    /* Where the largest parameter bank in the link ends. */
    uint64_t (*banks_end)(const cbi_linker *lk);

    /* Refuses functions of another chip that the target cannot run unchanged.  Called for every
     * link; does nothing below sm_100. */
    void (*check_portable)(const cbi_linker *lk);

    /* Says from what it follows that an input is accepted or not, if that was asked for. */
    void (*trace_admission)(const cbi_linker *lk, const cbi_lobj *obj, const cbi_arch_facts *facts,
                            bool accepted);

    /* Writes the final file, both sides. */
    void (*emit)(const cbi_linker *lk, cbi_sink *sink);
};

#endif
