/* What the link core asks of src/mercury. */
#ifndef CBI_MERCURY_OPERATIONS_H
#define CBI_MERCURY_OPERATIONS_H

#include "link/view.h"

extern const cbi_view_ops cbi_mercury_operations;

/* The same, one by one; src/link/view.h says what each does. */
struct cbi_mercury_state *cbi_mercury_begin(cbi_ctx *ctx);
void cbi_mercury_view_make(const cbi_linker *lk, cbi_lobj *obj);
void cbi_mercury_drop(const cbi_linker *lk, cbi_lobj *obj, bool lifted);
const cbi_sass_reloc *cbi_mercury_pair(const struct cbi_mercury_view *view, uint32_t section,
                                       size_t i);
bool cbi_mercury_in_range(const cbi_lrel *rel);
void cbi_mercury_patch(const cbi_linker *lk, const cbi_lrel *rel, uint64_t value, uint32_t bank);
void cbi_mercury_patch_reserved(const cbi_linker *lk, const cbi_lrel *rel);
uint64_t cbi_mercury_banks_end(const cbi_linker *lk);
void cbi_mercury_check_portable(const cbi_linker *lk);
void cbi_mercury_trace_admission(const cbi_linker *lk, const cbi_lobj *obj,
                                 const cbi_arch_facts *facts, bool accepted);
void cbi_mercury_emit(const cbi_linker *lk, cbi_sink *sink);

#endif
