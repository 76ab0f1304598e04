/* Kernels and functions of an image: what each needs of the machine, and where its code is. */
#include "inspect/image.h"

#include <stdlib.h>

#include "format/eiattr.h"

/* Which function a section belongs to: by sh_info.  0: none. */
static uint32_t function_of(const cbi_object *o, const cbi_section *s)
{
    const cbi_section *text = s;
    if (!(s->flags & SHF_EXECINSTR)) {
        if (s->info == 0 || s->info >= o->section_count)
            return 0;
        text = &o->sections[s->info];
    }
    uint32_t symbol = CUDA_TEXT_SYMBOL(text->info);
    return (text->flags & SHF_EXECINSTR) && symbol < o->symbol_count ? symbol : 0;
}

static bool is_function(const cbi_symbol *s)
{
    return CBI_ST_TYPE(s->info) == STT_FUNC && s->shndx != SHN_UNDEF;
}

/* What is gathered on the way: by symbol, since the module's attributes name symbols. */
typedef struct need {
    cb_function f;
    bool has_stack;
    CBI_VEC(cb_param) params;
} need;

typedef struct gathering {
    cb_image *image;
    need **needs; /* by symbol; NULL: no function with code */
} gathering;

static need *need_of(const gathering *g, uint32_t symbol)
{
    return symbol < g->image->object.symbol_count ? g->needs[symbol] : NULL;
}

static void module_attr(const gathering *g, const cbi_attr *attr)
{
    if (attr->format != CBI_ATTR_SIZED || attr->payload.size < 8)
        return;
    need *n = need_of(g, cbi_ld32(attr->payload.data));
    uint32_t value = cbi_ld32(attr->payload.data + 4);
    if (!n)
        return;
    switch (attr->code) {
    case EIATTR_REGCOUNT:
        n->f.registers = value;
        break;
    case EIATTR_FRAME_SIZE:
        n->f.frame = value;
        break;
    case EIATTR_MIN_STACK_SIZE:
        n->f.stack = value == UINT32_MAX ? -1 : (int64_t)value;
        n->has_stack = true;
        break;
    default:
        break;
    }
}

static void read_dim3(const cbi_attr *attr, uint32_t ret_dim[3])
{
    for (size_t i = 0; i < 3 && i < attr->payload.size / 4; i++)
        ret_dim[i] = cbi_ld32(attr->payload.data + 4 * i);
}

static void function_attr(const gathering *g, const cbi_attr *attr, need *n)
{
    cbi_ctx *ctx = &g->image->ctx;
    cb_attribute a;
    switch (attr->code) {
    case EIATTR_NUM_BARRIERS:
        n->f.barriers = attr->value & 0xff;
        break;
    case EIATTR_CBANK_PARAM_SIZE:
        n->f.param_size = attr->value;
        break;
    case EIATTR_PARAM_CBANK:
        if (attr->format == CBI_ATTR_SIZED && attr->payload.size >= 8)
            n->f.param_base = cbi_ld16(attr->payload.data + 4);
        break;
    case EIATTR_MAXREG_COUNT:
        /* 0xff and 0xffff: compiled without a limit of its own */
        n->f.max_registers = attr->value < 0xff ? attr->value : 0;
        break;
    case EIATTR_MAX_THREADS:
        read_dim3(attr, n->f.max_threads);
        break;
    case EIATTR_REQNTID:
        read_dim3(attr, n->f.required_threads);
        break;
    case EIATTR_CTA_PER_CLUSTER:
        read_dim3(attr, n->f.cluster);
        break;
    case EIATTR_EXPLICIT_CLUSTER:
        n->f.explicit_cluster = 1;
        break;
    case EIATTR_MAX_CLUSTER_RANK:
        if (attr->payload.size >= 4)
            n->f.max_cluster_rank = cbi_ld32(attr->payload.data);
        break;
    case EIATTR_KPARAM_INFO:
    case EIATTR_KPARAM_INFO_V2:
        cbi_attribute_read(ctx, &g->image->object, false, attr, &a);
        if (a.layout == CB_ATTR_PARAM)
            cbi_vec_push(ctx, &n->params, a.param);
        break;
    default:
        break;
    }
}

static void gather_info(const gathering *g, const cbi_section *s, need *of)
{
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(s->data, &pos, &attr)) {
        module_attr(g, &attr);
        if (of)
            function_attr(g, &attr, of);
    }
}

static void gather(const gathering *g)
{
    const cbi_object *o = &g->image->object;
    for (uint32_t i = 1; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (cbi_section_is_mercury(s))
            continue;
        uint32_t symbol = function_of(o, s);
        need *n = symbol ? need_of(g, symbol) : NULL;
        if (s->type == SHT_CUDA_INFO) {
            gather_info(g, s, n);
        } else if (!n) {
            continue;
        } else if (strncmp(s->name, ".nv.shared.", 11) == 0) {
            n->f.shared += s->size;
        } else if (strncmp(s->name, ".nv.local.", 10) == 0) {
            n->f.local += s->size;
        } else if (strncmp(s->name, ".nv.constant", 12) == 0) {
            n->f.constant += s->size;
        } else if (s->flags & SHF_EXECINSTR) {
            n->f.code_size += s->size;
            if (!n->f.barriers)
                n->f.barriers = SHF_CUDA_BARRIERS(s->flags);
        }
    }
}

static int by_ordinal(const void *a, const void *b)
{
    const cb_param *x = a, *y = b;
    return cbi_order(x->ordinal, y->ordinal);
}

static void finish(const cbi_object *o, need *n)
{
    cb_function *f = &n->f;
    if (!n->has_stack) /* a link computes the stack of kernels */
        f->stack = f->frame;
    if (n->params.len)
        qsort(n->params.items, n->params.len, sizeof *n->params.items, by_ordinal);
    f->params = n->params.items;
    f->param_count = n->params.len;
    if (f->section == CB_NONE)
        return;
    const cbi_section *s = &o->sections[f->section];
    if (cbi_fits(f->offset, f->code_size, s->data.size) && s->data.size)
        f->code = s->data.data + f->offset;
}

static void make_functions(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    cbi_ctx *ctx = &image->ctx;
    gathering g = {image, CBI_NEW_ARRAY(ctx, o->symbol_count + (size_t)1, need *)};
    size_t count = 0;
    for (uint32_t i = 1; i < o->symbol_count; i++) {
        const cbi_symbol *s = &o->symbols[i];
        if (!is_function(s))
            continue;
        count++;
        need *n = g.needs[i] = CBI_NEW(ctx, need);
        n->f = (cb_function){
            .name = s->name,
            .kernel = (s->other & STO_CUDA_ENTRY) != 0,
            .symbol = i,
            .section = s->shndx < o->section_count ? s->shndx : CB_NONE,
            .offset = s->value,
            .registers = -1,
            .stack = -1,
            .frame = -1,
        };
    }
    gather(&g);
    cb_function *rows = CBI_NEW_ARRAY(ctx, count, cb_function);
    for (uint32_t i = 1; i < o->symbol_count; i++)
        if (g.needs[i]) {
            finish(o, g.needs[i]);
            rows[table->count++] = g.needs[i]->f;
        }
    table->rows = rows;
}

size_t cb_image_function_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_FUNCTIONS, make_functions)->count;
}

const cb_function *cb_image_function(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_FUNCTIONS, make_functions), cb_function,
                         index);
}

const cb_function *cb_image_find_function(cb_image *image, const char *name)
{
    size_t count = cb_image_function_count(image);
    for (size_t i = 0; i < count; i++) {
        const cb_function *f = cb_image_function(image, i);
        if (f && strcmp(f->name, name) == 0)
            return f;
    }
    return NULL;
}

/* ---- by place ---- */

typedef struct place {
    uint32_t section;
    uint32_t function;
    uint64_t start;
    uint64_t end;
} place;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->section != y->section)
        return cbi_order(x->section, y->section);
    if (x->start != y->start)
        return cbi_order(x->start, y->start);
    return cbi_order(x->function, y->function);
}

static void make_places(cb_image *image, cbi_table *table)
{
    size_t count = cb_image_function_count(image);
    const cbi_object *o = &image->object;
    place *places = CBI_NEW_ARRAY(&image->ctx, count, place);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const cb_function *f = cb_image_function(image, i);
        if (!f || f->section == CB_NONE)
            continue;
        uint64_t size = o->symbols[f->symbol].size;
        if (!size)
            size = f->code_size;
        places[used++] = (place){f->section, (uint32_t)i, f->offset,
                                 size > UINT64_MAX - f->offset ? UINT64_MAX : f->offset + size};
    }
    if (used)
        qsort(places, used, sizeof *places, by_place);
    table->rows = places;
    table->count = used;
}

uint32_t cbi_image_function_number(cb_image *image, uint32_t section, uint64_t offset)
{
    const cbi_table *table = cbi_image_table(image, CBI_TABLE_PLACES, make_places);
    const place *places = table->rows;
    size_t low = 0, high = table->count; /* the first place behind */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const place *p = &places[mid];
        if (p->section < section || (p->section == section && p->start <= offset))
            low = mid + 1;
        else
            high = mid;
    }
    if (!low || places[low - 1].section != section || offset >= places[low - 1].end)
        return CB_NONE;
    return places[low - 1].function;
}

const cb_function *cb_image_function_at(cb_image *image, uint32_t section, uint64_t offset)
{
    uint32_t number = cbi_image_function_number(image, section, offset);
    return number == CB_NONE ? NULL : cb_image_function(image, number);
}
