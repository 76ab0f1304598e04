/* What a link tells on request: why something is there, where it came from, what is missing. */
#ifndef CBI_LINK_REPORT_H
#define CBI_LINK_REPORT_H

#include "link/state.h"

/* What messages need to know of earlier ones. */
typedef struct cbi_told {
    size_t searches;     /* for names like an undefined one */
    cbi_map cycle_texts; /* component -> the recursion in it */
} cbi_told;

/* True if a name given by the user means this symbol: as mangled, as demangled, or as demangled
 * without parameters. */
bool cbi_name_matches(const cbi_linker *lk, const char *given, const char *symbol);

/* The name for people: demangled, with the mangled form behind it if they differ. */
const char *cbi_shown_name(const cbi_linker *lk, const char *symbol);

/* Why a function is not in the output; NULL if it is. */
const char *cbi_removal_reason(const cbi_linker *lk, const cbi_func *f);

/* The recursion below a node with a cycle below: "f -> g -> f"; NULL if it lies too deep to look
 * for.
 */
const char *cbi_recursion_text(const cbi_linker *lk, cbi_graph_node node);

/* Help for a name that `obj` defines once more: where both definitions are. */
const char *cbi_explain_multiple(const cbi_linker *lk, const cbi_lobj *obj, const cbi_lsym *sym);

/* The symbol that somebody may have meant who gave a name that none has, mangled or readable;
 * NULL if none is near.  kernels: among kernels only. */
const char *cbi_explain_name(const cbi_linker *lk, const char *given, bool kernels);

/* Help for an undefined reference: the readable name, who refers to it, similar names. */
const char *cbi_explain_undefined(const cbi_linker *lk, const cbi_lsym *sym);

/* --trace-symbol: prints each input that defines or refers to one of the names. */
void cbi_link_trace(const cbi_linker *lk);

/* --why-live and --require-kernel, when the fate of all functions is known. */
void cbi_link_explain_functions(const cbi_linker *lk);

/* --map: where every piece of input went. */
void cbi_link_map(const cbi_linker *lk, cbi_buf *out);

/* -v: sizes of the output and what every entry uses. */
void cbi_link_verbose(const cbi_linker *lk);

/* -dump-callgraph, and the same graph for graphviz. */
void cbi_link_dot(const cbi_linker *lk, cbi_buf *out);
void cbi_link_dump_callgraph(const cbi_linker *lk);
/* The dump's line for an entry that needs more registers because of f. */
void cbi_dump_register_rise(const cbi_linker *lk, const cbi_func *f, const cbi_func *entry);

#endif
