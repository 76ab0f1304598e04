/* Dump: every part, as text and as JSON, of sound and of damaged objects. */
#include "fuzz.h"

#include "inspect/inspect.h"

static cb_status dump(cbi_ctx *ctx, void *arg)
{
    const cbi_span *bytes = arg;
    cbi_object o;
    cbi_findings findings = {0};
    cbi_object_kind kind = cbi_object_read(ctx, "input", *bytes, &o, &findings);
    if (kind != CBI_OBJECT_OK && !(kind == CBI_OBJECT_DAMAGED && o.sections))
        return CB_OK;
    cbi_node *document = cbi_node_object(ctx);
    cbi_dump(ctx, &o, CBI_DUMP_ALL | CBI_DUMP_CAPSULE, document);
    for (uint32_t i = 1; i < o.section_count && i < 8; i++)
        cbi_dump_section(ctx, &o, o.sections[i].name, document);
    cbi_buf text = {0}, json = {0};
    cbi_node_text(ctx, &text, document, 0);
    cbi_node_json(ctx, &json, document, 0);
    return CB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run(dump, data, size);
    return 0;
}
