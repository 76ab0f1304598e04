/* dump: call graph, prototypes, unified tables. */
#include "inspect/inspect.h"

enum { GRAPH_RECORD = 8, UNIFIED_RECORD = 32 };

cbi_node *cbi_dump_callgraph(cbi_ctx *ctx, const cbi_object *o)
{
    /* list k starts at the marker {0, -k} */
    static const struct {
        const char *list, *first, *second;
        bool prototype; /* second word is a string offset */
    } lists[4] = {
        {"calls", "caller", "callee", false},
        {"address_taken", "function", "prototype", true},
        {"indirect_calls", "caller", "prototype", true},
        {"address_takers", "user", "function", false},
    };
    cbi_node *out = cbi_node_object(ctx);
    cbi_node *rows[4];
    for (size_t k = 0; k < 4; k++)
        rows[k] = cbi_node_add_array(ctx, out, lists[k].list);
    cbi_node *prototypes = cbi_node_add_array(ctx, out, "prototypes");
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (s->type != SHT_CUDA_CALLGRAPH && s->type != SHT_CUDA_PROTOTYPE)
            continue;
        size_t k = 0;
        for (size_t at = 0; at + GRAPH_RECORD <= s->data.size; at += GRAPH_RECORD) {
            uint32_t first = cbi_ld32(s->data.data + at);
            uint32_t second = cbi_ld32(s->data.data + at + 4);
            if (s->type == SHT_CUDA_PROTOTYPE) {
                cbi_node *n = cbi_node_add_object(ctx, prototypes, NULL);
                cbi_node_string(ctx, n, "function", cbi_show_symbol(ctx, o, false, first));
                cbi_node_string(ctx, n, "prototype", cbi_show_string(o, second));
                continue;
            }
            if (first == 0 && (int32_t)second < 0 && (int32_t)second >= -4) {
                k = (size_t)(-1 - (int32_t)second);
                continue;
            }
            cbi_node *n = cbi_node_add_object(ctx, rows[k], NULL);
            cbi_node_string(ctx, n, lists[k].first, cbi_show_symbol(ctx, o, false, first));
            cbi_node_string(ctx, n, lists[k].second,
                            lists[k].prototype ? cbi_show_string(o, second)
                                               : cbi_show_symbol(ctx, o, false, second));
        }
    }
    return out;
}

cbi_node *cbi_dump_unified(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_node *list = cbi_node_array(ctx);
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (s->type != SHT_CUDA_UFT_ENTRY && s->type != SHT_CUDA_UDT_ENTRY)
            continue;
        for (size_t at = 0; at + UNIFIED_RECORD <= s->data.size; at += UNIFIED_RECORD) {
            const uint8_t *p = s->data.data + at;
            cbi_node *n = cbi_node_add_object(ctx, list, NULL);
            cbi_node_string(ctx, n, "section", s->name);
            cbi_node_uint(ctx, n, "kind", cbi_ld32(p + 4));
            cbi_node_hex(ctx, n, "offset", cbi_ld64(p + 8));
            cbi_node_hex(ctx, n, "id_low", cbi_ld64(p + 16));
            cbi_node_hex(ctx, n, "id_high", cbi_ld64(p + 24));
            cbi_node_string(ctx, n, "symbol",
                            cbi_show_symbol(ctx, o, cbi_section_is_mercury(s), cbi_ld32(p)));
        }
    }
    return list;
}
