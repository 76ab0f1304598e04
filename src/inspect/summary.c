/* dump --summary: what every function needs of the machine. */
#include "inspect/inspect.h"
#include "format/eiattr.h"

enum { UNKNOWN = UINT32_MAX };

typedef struct need {
    uint32_t registers; /* per thread */
    uint64_t shared;    /* bytes of static shared memory per block */
    uint32_t frame, stack;
    uint32_t barriers;
    uint32_t params;   /* bytes */
    uint64_t constant; /* bytes of banks of its own */
    uint64_t code;
    bool has_registers, has_stack, has_frame;
} need;

/* Which function a section belongs to: by sh_info. */
static uint32_t function_of(const cbi_object *o, const cbi_section *s)
{
    const cbi_section *text = s;
    if (!(s->flags & SHF_EXECINSTR)) {
        if (s->info == 0 || s->info >= o->section_count)
            return 0;
        text = &o->sections[s->info];
    }
    uint32_t symbol = text->info & 0xffffff;
    return (text->flags & SHF_EXECINSTR) && symbol < o->symbol_count ? symbol : 0;
}

static void module_attr(const cbi_object *o, const cbi_attr *attr, need *needs)
{
    if (attr->payload.size < 8)
        return;
    uint32_t symbol = cbi_ld32(attr->payload.data), value = cbi_ld32(attr->payload.data + 4);
    if (symbol >= o->symbol_count)
        return;
    need *n = &needs[symbol];
    switch (attr->code) {
    case EIATTR_REGCOUNT:
        n->registers = value;
        n->has_registers = true;
        break;
    case EIATTR_FRAME_SIZE:
        n->frame = value;
        n->has_frame = true;
        break;
    case EIATTR_MIN_STACK_SIZE:
        n->stack = value;
        n->has_stack = true;
        break;
    default:
        break;
    }
}

static void function_attr(const cbi_attr *attr, need *n)
{
    switch (attr->code) {
    case EIATTR_NUM_BARRIERS:
        n->barriers = attr->value & 0xff;
        break;
    case EIATTR_CBANK_PARAM_SIZE:
        n->params = attr->value;
        break;
    default:
        break;
    }
}

static void collect(const cbi_object *o, need *needs)
{
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (cbi_section_is_mercury(s))
            continue;
        uint32_t function = function_of(o, s);
        need *n = &needs[function];
        if (s->type == SHT_CUDA_INFO) {
            size_t pos = 0;
            cbi_attr attr;
            while (cbi_attr_next(s->data, &pos, &attr)) {
                module_attr(o, &attr, needs);
                if (function)
                    function_attr(&attr, n);
            }
        } else if (function && strncmp(s->name, ".nv.shared.", 11) == 0) {
            n->shared += s->size;
        } else if (function && strncmp(s->name, ".nv.constant", 12) == 0) {
            n->constant += s->size;
        } else if (function && s->flags & SHF_EXECINSTR) {
            n->code += s->size;
            if (!n->barriers)
                n->barriers = SHF_CUDA_BARRIERS(s->flags);
        }
    }
}

cbi_node *cbi_dump_summary(cbi_ctx *ctx, const cbi_object *o)
{
    cbi_node *list = cbi_node_array(ctx);
    need *needs = CBI_NEW_ARRAY(ctx, o->symbol_count + (size_t)1, need);
    collect(o, needs);
    for (uint32_t i = 1; i < o->symbol_count; i++) {
        const cbi_symbol *s = &o->symbols[i];
        if (CBI_ST_TYPE(s->info) != STT_FUNC || s->shndx == SHN_UNDEF)
            continue;
        const need *n = &needs[i];
        bool entry = s->other & STO_CUDA_ENTRY;
        cbi_node *row = cbi_node_add_object(ctx, list, NULL);
        cbi_node_string(ctx, row, "kind", entry ? "kernel" : "function");
        if (n->has_registers)
            cbi_node_uint(ctx, row, "registers", n->registers);
        else
            cbi_node_null(ctx, row, "registers");
        cbi_node_uint(ctx, row, "shared", n->shared);
        /* a link computes the stack of kernels; before it only the function's own frame is known */
        uint32_t stack = n->has_stack ? n->stack : n->has_frame ? n->frame : UNKNOWN;
        if (stack == UNKNOWN)
            cbi_node_null(ctx, row, "stack");
        else
            cbi_node_uint(ctx, row, "stack", stack);
        cbi_node_uint(ctx, row, "barriers", n->barriers);
        cbi_node_uint(ctx, row, "params", n->params);
        cbi_node_uint(ctx, row, "constant", n->constant);
        cbi_node_uint(ctx, row, "code", n->code);
        cbi_node_string(ctx, row, "name", s->name);
    }
    return list;
}
