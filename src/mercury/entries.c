#include "mercury/entries.h"

void cbi_entries_put(cbi_entries *entries, bool derived, cbi_span bytes)
{
    if (entries->count % 32 == 0)
        cbi_buf_append(entries->ctx, &entries->bitmap, NULL, 4);
    if (derived)
        entries->bitmap.items[entries->count / 8] |= (uint8_t)(1u << entries->count % 8);
    entries->count++;
    if (bytes.size)
        cbi_buf_append(entries->ctx, &entries->bytes, bytes.data, bytes.size);
}

void cbi_entries_put_run(cbi_entries *entries, uint32_t count)
{
    uint8_t mark[2];
    cbi_st16(mark, cbi_capsule_run_mark(CBI_CAPSULE_RUN_MARK, count));
    cbi_entries_put(entries, false, (cbi_span){mark, sizeof mark});
}

cbi_buf cbi_entries_capsule(const cbi_entries *entries, cbi_span old)
{
    cbi_buf out = {0};
    uint8_t *header = cbi_buf_append(entries->ctx, &out, old.data, CBI_CAPSULE_HEADER);
    cbi_st32(header + 8, entries->count);
    cbi_buf_append(entries->ctx, &out, entries->bitmap.items, entries->bitmap.len);
    cbi_buf_append(entries->ctx, &out, entries->bytes.items, entries->bytes.len);
    return out;
}
