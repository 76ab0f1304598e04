/* The object reader: whatever it accepts must be safe to walk without another check. */
#include "fuzz.h"

#include "object/object.h"

static cb_status read_and_walk(cbi_ctx *ctx, void *arg)
{
    const cbi_span *bytes = arg;
    cbi_object o;
    cbi_findings findings = {0};
    if (cbi_object_read(ctx, "input", *bytes, &o, &findings) != CBI_OBJECT_OK)
        return CB_OK;
    volatile size_t sum = 0;
    for (uint32_t i = 0; i < o.section_count; i++) {
        const cbi_section *s = &o.sections[i];
        sum += strlen(s->name);
        for (size_t k = 0; k < s->data.size; k++)
            sum += s->data.data[k];
        if (cbi_is_reloc_type(s->type))
            for (size_t k = 0; k < cbi_rela_count(s); k++)
                sum += cbi_rela_at(s, k).symbol;
        size_t pos = 0;
        cbi_attr attr;
        while (s->type == SHT_CUDA_INFO && cbi_attr_next(s->data, &pos, &attr))
            sum += attr.raw.data[attr.raw.size - 1];
    }
    for (uint32_t i = 0; i < o.symbol_count; i++)
        sum += strlen(o.symbols[i].name);
    for (uint32_t i = 0; i < o.merc_symbol_count; i++)
        sum += strlen(o.merc_symbols[i].name);
    cbi_object_cuinfo(&o);
    (void)sum;
    return CB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(read_and_walk, data, size);
    return 0;
}
