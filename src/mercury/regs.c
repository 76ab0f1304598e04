/* .nv_debug_info_reg_sass: per function, which machine register holds a PTX register where. */
#include "mercury/debug.h"
#include "mercury/rewrite.h"

/* NULL when this object's copy is not linked. */
static const cbi_lsym *function_named(const cbi_mercury_part *part, const char *name)
{
    for (uint32_t i = 1; i < part->obj->object.symbol_count; i++)
        if (CBI_ST_TYPE(part->obj->object.symbols[i].info) == STT_FUNC &&
            strcmp(part->obj->object.symbols[i].name, name) == 0)
            return part->obj->symbol_lost[i] ? NULL : part->obj->symbols[i];
    return NULL;
}

/* nvlink goes by names: of the records about functions of one name only the first counts, and it is
 * read as one about the first such function in the output. */
static bool is_passed_over(cbi_linker *lk, cbi_mercury_debug *debug, const cbi_lsym *sym,
                           const char *name)
{
    static cbi_func taken;
    for (size_t i = lk->funcs.len; !debug->has_names && i-- > 0;) {
        cbi_func *f = lk->funcs.items[i];
        if (f->text && f->text->emitted)
            cbi_map_put(lk->ctx, &debug->names, CBI_KEY(f->sym->name), f);
    }
    debug->has_names = true;
    uint64_t key = CBI_KEY(cbi_intern(lk->ctx, name));
    const cbi_func *first = cbi_map_get(&debug->names, key);
    if (first)
        cbi_map_put(lk->ctx, &debug->names, key, &taken);
    return !sym || !sym->func || first != sym->func;
}

static void skip_string(cbi_reader *r)
{
    while (!r->bad && cbi_read8(r))
        ;
}

void cbi_mercury_registers(cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part)
{
    cbi_span bytes = cbi_mercury_part_bytes(part);
    uint64_t base = debug->sass.len;
    cbi_mercury_copy(lk, debug, part, 0, bytes.size);
    cbi_reader r = cbi_reader_at(bytes, 0);
    while (!r.bad && r.pos < bytes.size) {
        const char *name = cbi_span_string(bytes, r.pos);
        skip_string(&r);
        uint32_t count = cbi_read32(&r);
        if (r.bad || !name)
            return;
        const cbi_lsym *sym = function_named(part, name);
        bool gone = !sym || sym->removed;
        if (lk->opt->exact && is_passed_over(lk, debug, sym, name))
            gone = true;
        const cbi_rewrite *rw = sym ? cbi_rewrite_of(lk, sym->func) : NULL;
        for (; count && !r.bad; count--) {
            cbi_read32(&r);
            skip_string(&r);
            cbi_read32(&r);
            uint64_t at = r.pos;
            uint32_t start = cbi_read32(&r), end = cbi_read32(&r);
            if (r.bad || (!gone && !rw))
                continue;
            uint8_t *out = debug->sass.items + base + at;
            cbi_st32(out, gone ? 0 : (uint32_t)cbi_rewrite_map(rw, start));
            cbi_st32(out + 4, gone ? 0 : (uint32_t)cbi_rewrite_map(rw, end));
        }
    }
}
