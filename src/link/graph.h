/* Stage 3, graph: who calls whom (cbi_calls), what lives (cbi_fate), what is in a circle
 * (cbi_components).
 *
 * Nodes are numbers: functions by cbi_func.number, behind them the prototypes through which
 * indirect calls go, one for each string, so that the graph stays linear in the input whatever the
 * number of callers and candidates.
 */
#ifndef CBI_LINK_GRAPH_H
#define CBI_LINK_GRAPH_H

#include "base/base.h"
#include "link/stages.h"

struct cbi_func;
struct cbi_linker;

typedef uint32_t cbi_graph_node;

/* Who calls whom, when all objects are merged. */
typedef struct cbi_calls {
    const struct cbi_func *const *funcs;
    uint32_t func_count;
    uint32_t count;                /* nodes */
    const cbi_name *const *protos; /* of node func_count on */
    const uint32_t *first;         /* count + 1: where the edges of a node begin */
    const cbi_graph_node *edges;   /* in nvlink's order */
} cbi_calls;

static inline uint32_t cbi_degree(const cbi_calls *calls, cbi_graph_node node)
{
    return calls->first[node + 1] - calls->first[node];
}

static inline cbi_graph_node cbi_successor(const cbi_calls *calls, cbi_graph_node node, uint32_t i)
{
    return calls->edges[calls->first[node] + i];
}

/* NULL: a prototype. */
static inline const struct cbi_func *cbi_node_func(const cbi_calls *calls, cbi_graph_node node)
{
    return node < calls->func_count ? calls->funcs[node] : NULL;
}

static inline const cbi_name *cbi_node_proto(const cbi_calls *calls, cbi_graph_node node)
{
    return calls->protos[node - calls->func_count];
}

/* The live part in strongly connected components. */
typedef struct cbi_components {
    const cbi_graph_node *bottom_up; /* live nodes, callees before callers, a component together */
    uint32_t live_count;
    uint32_t count;
    const uint32_t *of;      /* by node: its component, numbered along bottom_up from 1; 0: dead */
    const bool *cyclic;      /* by node: it is in a circle */
    const bool *cycle_below; /* by node: it is in one, or reaches one */
} cbi_components;

/* Removed sections, by number; those behind the end are not. */
typedef struct cbi_removed {
    const bool *items;
    size_t len;
} cbi_removed;

/* What became of a function. */
typedef struct cbi_fate {
    bool live : 1;
    bool entry : 1;   /* a kernel that is wanted, or that stays although it is not; or a function in
                         place of the driver's that counts as one */
    bool reached : 1; /* live through a call path from an entry */
    bool pruned : 1;  /* a kernel that nothing wants or takes the address of, but that stays */
    bool lost : 1;    /* nvlink removes its symbol by mistake, and then fails */
    bool address_taken : 1;
    bool desc_used : 1;
    bool defined : 1; /* an object has it */
    bool alias : 1;   /* it lies in another's code */
    bool kernel : 1;  /* of the inputs, whether it is wanted or not */
} cbi_fate;

/* Numbers of what belongs to a function.  Passes over all functions that need no more look at
 * these, which lie side by side, and not at the functions. */
typedef struct cbi_func_numbers {
    uint32_t obj;       /* cbi_obj_id of the copy that is linked; 0: undefined */
    uint32_t symbol;    /* its symbol's */
    uint32_t info;      /* its section of attributes', from 1; 0: none */
    uint32_t prototype; /* the name's, from 1; 0: none */
} cbi_func_numbers;

/* What a node needs with everything that it reaches. */
typedef struct cbi_usage {
    uint32_t regs;       /* the most that any of them needs */
    uint32_t stack, crs; /* the largest sum along a path */
    uint32_t sam;
} cbi_usage;

/* Entries in function order.  Several nodes may share one list. */
typedef CBI_VEC(const struct cbi_func *) cbi_func_list;

/* The result of the stage. */
typedef struct cbi_graph {
    cbi_calls calls;
    const cbi_fate *fates;           /* by function; use cbi_fate_of() */
    const cbi_func_numbers *numbers; /* by function */
    cbi_removed dead;                /* with their functions; use cbi_is_dead() */
    cbi_components components;
    CBI_VEC(const struct cbi_func *TILL_GRAPH) entries; /* live entries, function order */
    const struct cbi_func *only_entry; /* the one kernel that is wanted, or NULL when there are more
                                    or none */
} cbi_graph;

/* ---- graph.c ---- */
struct cbi_graph_work;
/* Begins the stage: nothing lives so far, and what the merge removed is removed. */
const cbi_graph *cbi_graph_begin(const struct cbi_linker *lk, struct cbi_graph_work **ret_work);
void cbi_link_calls(const struct cbi_linker *lk);
void cbi_link_liveness(const struct cbi_linker *lk);
/* Do attributes of callees propagate to the kernel? */
bool cbi_is_wanted_entry(const struct cbi_linker *lk, const struct cbi_func *f);
/* Strongly connected components of what lives. */
void cbi_link_components(const struct cbi_linker *lk);
/* The live entries that reach f (f itself when it is one), in function order. */
const cbi_func_list *cbi_entries_reaching(const struct cbi_linker *lk, const struct cbi_func *f);

#endif
