/* Stage 4, layout: where everything is that relocations can name.  Afterwards every symbol but the
 * driver's has its value. */
#ifndef CBI_LINK_LAYOUT_H
#define CBI_LINK_LAYOUT_H

#include "link/state.h"

/* Begins the stage: nothing has moved yet. */
const cbi_layout *cbi_layout_begin(const cbi_linker *lk, struct cbi_layout_work **ret_work);
void cbi_layout_commons(const cbi_linker *lk);
void cbi_layout_shared(const cbi_linker *lk);
void cbi_layout_constants(const cbi_linker *lk);
/* layout_cull.c: tries to make too many constants fit. */
void cbi_cull_constants(const cbi_linker *lk);
/* Gives .nv.ptx.const0.size, by which libcudadevrt knows the user's constants, their size. */
void cbi_layout_constant_size(const cbi_linker *lk);
void cbi_layout_images(const cbi_linker *lk);
void cbi_check_limits(const cbi_linker *lk);
/* Create .nv.callgraph and .nv.prototype, and .nv.rel.action. */
void cbi_layout_callgraph(const cbi_linker *lk);
void cbi_layout_rel_action(const cbi_linker *lk);
/* Where the dynamic shared variables begin for code of this function (NULL: no code); all ones when
 * no entry reaches it. */
uint64_t cbi_dynamic_offset(const cbi_linker *lk, const cbi_func *f);
/* nvlink's list sort: keep(a, b) = "a may stay in front of b".  Not stable; see docs. */
void cbi_list_sort(cbi_ctx *ctx, const void **items, size_t count,
                   bool (*keep)(const void *, const void *));

#endif
