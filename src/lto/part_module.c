#include "lto/part_module.h"

#include "lto/ptx_items.h"
#include "lto/worker.h"

static const struct {
    const char *word;
    int number; /* NVVM's address space */
} spaces[] = {{".func", 0}, {".global", 1}, {".const", 4}, {".shared", 3}};

static uint64_t number_of(cbi_ptx_word t)
{
    uint64_t number = 0;
    for (size_t i = 0; i < t.len && cbi_ptx_is_digit(t.at[i]) && number < UINT32_MAX; i++)
        number = number * 10 + (uint64_t)(t.at[i] - '0');
    return number;
}

/* Of the variable whose name ends at `at`: a number of elements may follow.  Textures and the like
 * are handles. */
static uint64_t size_of(cbi_span ptx, size_t at, cbi_ptx_word type)
{
    size_t digits = type.len;
    while (digits && cbi_ptx_is_digit(type.at[digits - 1]))
        digits--;
    uint64_t bits = 0;
    if (digits < type.len)
        bits = number_of((cbi_ptx_word){type.at + digits, type.len - digits});
    uint64_t count =
        cbi_ptx_is(cbi_ptx_next(ptx, &at), "[") ? number_of(cbi_ptx_next(ptx, &at)) : 1;
    return count * (bits ? bits / 8 : 8);
}

typedef struct keeping {
    cbi_ctx *ctx;
    cbi_span ptx;
    cbi_map seen;
    cbi_buf declarations, list, calls;
    size_t count;  /* of `list` */
    size_t values; /* in `calls`: their numbers */
} keeping;

static const char *text_of(const keeping *k, const cbi_buf *buf)
{
    return cbi_printf(k->ctx, "%.*s", (int)buf->len, (const char *)buf->items);
}

/* Sizes must be those of the definitions. */
static void keep(keeping *k, const char *name, int space, uint64_t size)
{
    const char *comma = k->count++ ? ", " : "";
    if (space == 0) {
        cbi_buf_printf(k->ctx, &k->declarations, "declare void @%s()\n", name);
        cbi_buf_printf(k->ctx, &k->list, "%si8* bitcast (void ()* @%s to i8*)", comma, name);
    } else {
        const char *type = cbi_printf(k->ctx, "[%llu x i8]", (unsigned long long)size);
        cbi_buf_printf(k->ctx, &k->declarations, "@%s = external addrspace(%d) global %s\n", name,
                       space, type);
        cbi_buf_printf(k->ctx, &k->list,
                       "%si8* bitcast (%s* addrspacecast (%s addrspace(%d)* @%s to %s*) to i8*)",
                       comma, type, type, space, name, type);
    }
}

/* ---- calls with arguments of which nothing is known ---- */

static const char caller[] = "__cubind_caller";

typedef struct parameter {
    uint64_t align, size; /* of a structure; else 0 */
    cbi_ptx_word type;    /* empty: there is none */
    const char *integer;  /* for what is no pointer */
    int space;            /* NVVM's address space to which a pointer leads; 0 if it is none */
} parameter;

/* Parameters of a function, and arguments for them. */
typedef struct call_text {
    cbi_buf types, values;
} call_text;

/* The parameter from *at on, which moves behind the comma or bracket that ends it. */
static parameter next_parameter(cbi_span ptx, size_t *at)
{
    parameter p = {0};
    for (cbi_ptx_word t; (t = cbi_ptx_next(ptx, at)).len;) {
        if (cbi_ptx_is(t, ",") || cbi_ptx_is(t, ")"))
            break;
        if (cbi_ptx_is(t, ".align"))
            p.align = number_of(cbi_ptx_next(ptx, at));
        else if (cbi_ptx_is(t, "["))
            p.size = number_of(cbi_ptx_next(ptx, at));
        else if (*t.at == '.')
            p.type = t;
    }
    p.integer = cbi_ptx_is(p.type, ".b64") ? "i64" : "i32";
    return p;
}

/* The register into which a copy loads its parameter of that number, and the instruction. */
static cbi_ptx_word loaded(const keeping *k, const cbi_ptx_item *copy, size_t number,
                           cbi_ptx_word *ret_load)
{
    static const char load[] = "ld.param.";
    const char *name = cbi_printf(k->ctx, "%.*s_param_%zu", (int)copy->name.len,
                                  (const char *)copy->name.at, number);
    cbi_ptx_word reg = {0};
    *ret_load = reg;
    for (size_t at = copy->start; at < copy->end;) {
        cbi_ptx_word t = cbi_ptx_next(k->ptx, &at);
        if (t.len > strlen(load) && memcmp(t.at, load, strlen(load)) == 0) {
            *ret_load = t;
            reg = cbi_ptx_next(k->ptx, &at);
        } else if (reg.len && cbi_ptx_is(t, name)) {
            return reg;
        } else if (cbi_ptx_is(t, ";")) {
            reg.len = 0;
        }
    }
    return (cbi_ptx_word){0};
}

/* The space to which the copy casts that register.  A pointer that is handed on only may lead
 * anywhere; most lead to global memory. */
static int cast_space(const keeping *k, const cbi_ptx_item *copy, cbi_ptx_word reg)
{
    static const struct {
        const char *word;
        int number;
    } casts[] = {{"cvta.to.shared.u64", 3}, {"cvta.to.const.u64", 4}, {"cvta.to.local.u64", 5}};
    for (size_t at = copy->start; at < copy->end;) {
        cbi_ptx_word t = cbi_ptx_next(k->ptx, &at);
        for (size_t i = 0; i < CBI_COUNT(casts); i++) {
            if (!cbi_ptx_is(t, casts[i].word))
                continue;
            cbi_ptx_next(k->ptx, &at);
            cbi_ptx_next(k->ptx, &at);
            t = cbi_ptx_next(k->ptx, &at);
            if (t.len == reg.len && memcmp(t.at, reg.at, reg.len) == 0)
                return casts[i].number;
        }
    }
    return 1;
}

/* PTX doesn't tell pointers and floating point from integers.  In a call the compiler takes one for
 * the other of the same size, but not pointers for floating point.  Small integers are handed over
 * as words, and loaded as what they are. */
static void find_type(const keeping *k, const cbi_ptx_item *copy, size_t number, parameter *p)
{
    cbi_ptx_word load, reg = loaded(k, copy, number, &load);
    if (!reg.len || p->size)
        return;
    const char *end = (const char *)load.at + load.len;
    if (cbi_ptx_is(p->type, ".b64"))
        p->space = cbi_ptx_is(load, "ld.param.f64") ? 0 : cast_space(k, copy, reg);
    else if (end[-1] == '8')
        p->integer = "i8";
    else if (memcmp(end - 2, "16", 2) == 0)
        p->integer = "i16";
}

static void append_argument(keeping *k, const parameter *p, call_text *text)
{
    const char *comma = text->types.len ? ", " : "", *attributes = "", *type = p->integer;
    const char *value = cbi_printf(k->ctx, "%%%s", p->integer);
    if (p->size || p->space)
        value = cbi_printf(k->ctx, "%%v%zu", k->values++);
    if (p->size) {
        type = cbi_printf(k->ctx, "[%llu x i8]*", (unsigned long long)p->size);
        attributes = cbi_printf(k->ctx, " byval align %llu", (unsigned long long)p->align);
        cbi_buf_printf(k->ctx, &k->calls, "%s = inttoptr i64 %%i64 to %s\n", value, type);
    } else if (p->space) {
        type = "i8*";
        cbi_buf_printf(k->ctx, &k->calls,
                       "%s.to = inttoptr i64 %%i64 to i8 addrspace(%d)*\n"
                       "%s = addrspacecast i8 addrspace(%d)* %s.to to i8*\n",
                       value, p->space, value, p->space, value);
    }
    cbi_buf_printf(k->ctx, &text->types, "%s%s%s", comma, type, attributes);
    cbi_buf_printf(k->ctx, &text->values, "%s%s%s %s", comma, type, attributes, value);
}

static void append_call(keeping *k, const char *name, const parameter *result,
                        const call_text *text)
{
    const char *types = text_of(k, &text->types), *values = text_of(k, &text->values);
    const char *type = result->integer;
    if (!result->type.len || result->size) {
        cbi_buf_printf(k->ctx, &k->declarations, "declare void @%s(%s)\n", name, types);
        cbi_buf_printf(k->ctx, &k->calls, "call void @%s(%s) noinline\n", name, values);
        return;
    }
    cbi_buf_printf(k->ctx, &k->declarations, "declare %s @%s(%s)\n", type, name, types);
    /* Else the compiler may drop the call. */
    cbi_buf_printf(k->ctx, &k->calls,
                   "%%v%zu = call %s @%s(%s) noinline\n"
                   "%%v%zu.to = inttoptr i64 %%i64 to %s*\n"
                   "store volatile %s %%v%zu, %s* %%v%zu.to\n",
                   k->values, type, name, values, k->values, type, type, k->values, type,
                   k->values);
    k->values++;
}

/* The words of the function behind .func begin at `at`. */
static void call(keeping *k, const char *name, const cbi_ptx_item *copy, size_t at)
{
    call_text text = {0};
    parameter result = {0};
    size_t result_at = at;
    if (cbi_ptx_is(cbi_ptx_next(k->ptx, &result_at), "("))
        result = next_parameter(k->ptx, &result_at);
    cbi_ptx_name(k->ptx, &at, &(cbi_ptx_word){0});
    bool more = cbi_ptx_is(cbi_ptx_next(k->ptx, &at), "(");
    for (size_t number = 0; more; number++) {
        parameter p = next_parameter(k->ptx, &at);
        find_type(k, copy, number, &p);
        if (p.type.len)
            append_argument(k, &p, &text);
        more = p.type.len && k->ptx.data[at - 1] == ',';
    }
    append_call(k, name, &result, &text);
}

static void define_caller(keeping *k)
{
    cbi_buf_printf(k->ctx, &k->declarations,
                   "define void @%s(i8 %%i8, i16 %%i16, i32 %%i32, i64 %%i64) {\n%sret void\n}\n",
                   caller, text_of(k, &k->calls));
    cbi_buf_printf(k->ctx, &k->list, "%si8* bitcast (void (i8, i16, i32, i64)* @%s to i8*)",
                   k->count++ ? ", " : "", caller);
}

/* ---- the whole ---- */

cbi_map cbi_lto_find_copied(cbi_ctx *ctx, const cbi_ptx_items *ptx)
{
    cbi_map copied = {0};
    for (size_t i = 0; i < ptx->list.len; i++) {
        const cbi_ptx_item *item = &ptx->list.items[i];
        size_t stem = cbi_ptx_stem(item->name);
        if (item->kind != CBI_PTX_DEFINITION || !stem)
            continue;
        const cbi_name *name = cbi_intern_len(ctx, (const char *)item->name.at, stem - 1);
        cbi_map_put(ctx, &copied, CBI_KEY(name), (void *)item);
    }
    return copied;
}

const char *cbi_lto_keeping_module(cbi_ctx *ctx, cbi_span ptx, const cbi_map *called)
{
    keeping k = {.ctx = ctx, .ptx = ptx};
    size_t at = 0;
    for (cbi_ptx_word t; (t = cbi_ptx_next(ptx, &at)).len;) {
        if (!cbi_ptx_is_shown(t))
            continue;
        t = cbi_ptx_next(ptx, &at);
        size_t space = 0;
        while (space < CBI_COUNT(spaces) && !cbi_ptx_is(t, spaces[space].word))
            space++;
        if (space == CBI_COUNT(spaces))
            continue;
        cbi_ptx_word type;
        size_t start = at;
        t = cbi_ptx_name(ptx, &at, &type);
        const cbi_name *name = cbi_intern_len(ctx, (const char *)t.at, t.len);
        if (!t.len || cbi_map_get(&k.seen, CBI_KEY(name)))
            continue;
        cbi_map_put(ctx, &k.seen, CBI_KEY(name), (void *)name);
        const cbi_ptx_item *copy = cbi_map_get(called, CBI_KEY(name));
        if (copy)
            call(&k, name->s, copy, start);
        else
            keep(&k, name->s, spaces[space].number, size_of(ptx, at, type));
    }
    if (called->len)
        define_caller(&k);
    if (!k.count)
        return NULL;
    return cbi_printf(ctx,
                      CBI_LTO_IR_HEAD "%.*s@llvm.used = appending global [%zu x i8*] [%.*s], "
                                      "section \"llvm.metadata\"\n" CBI_LTO_IR_TAIL,
                      (int)k.declarations.len, (const char *)k.declarations.items, k.count,
                      (int)k.list.len, (const char *)k.list.items);
}
