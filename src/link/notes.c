/* .note.nv.tkinfo, .note.nv.cuinfo, .nv.compat, .nv.rel.action. */
#include "format/eiattr.h"
#include "format/eicompat.h"
#include "link/tables_work.h"

/* The record of this link, then the inputs' records as they are (not with -r). */
static void make_tkinfo(const cbi_linker *lk)
{
    cbi_buf out = {0};
    cbi_tkinfo_append(lk->ctx, &out,
                      &(cbi_tkinfo){.object_name = lk->opt->object_name,
                                    .tool = lk->opt->tool_name,
                                    .tool_version = lk->opt->tool_version,
                                    .build = lk->opt->tool_build,
                                    .options = lk->opt->command_line});
    for (size_t i = 0; lk->exec && i < lk->symbols->objs.len; i++)
        cbi_buf_append(lk->ctx, &out, lk->symbols->objs.items[i]->tkinfo.data,
                       lk->symbols->objs.items[i]->tkinfo.size);
    cbi_out_fill(lk, lk->records->tkinfo, out.items, out.len);
}

static void make_cuinfo(const cbi_linker *lk)
{
    uint16_t virtual_sm = (uint16_t)lk->opt->arch->sm;
    if (lk->symbols->objs.len)
        virtual_sm = lk->symbols->objs.items[0]->cuinfo.virtual_sm;
    for (size_t i = 1; i < lk->symbols->objs.len; i++) {
        const uint16_t its = lk->symbols->objs.items[i]->cuinfo.virtual_sm;
        virtual_sm = its < virtual_sm ? its : virtual_sm;
    }
    cbi_buf out = {0};
    cbi_note_append_header(lk->ctx, &out, 8, NT_CUDA_CUINFO);
    cbi_buf_u32(lk->ctx, &out, 2 | (uint32_t)virtual_sm << 16);
    cbi_buf_u32(lk->ctx, &out, CUDA_TOOLKIT);
    cbi_out_fill(lk, lk->records->cuinfo, out.items, out.len);
}

/* ---- .nv.compat ---- */

typedef struct compat {
    const cbi_eicompat *row;
    uint16_t value;
} compat;

static uint16_t merge_fields(uint16_t a, uint16_t b)
{
    uint16_t out = a & 0xf0;
    for (unsigned shift = 0; shift < 4; shift += 2) {
        uint16_t x = (a >> shift) & 3, y = (b >> shift) & 3;
        uint16_t max = x > y ? x : y;
        out |= (uint16_t)((x && y ? max : 0) << shift);
    }
    return out;
}

static uint16_t join_values(cbi_compat_merge merge, uint16_t a, uint16_t b)
{
    uint16_t max = a > b ? a : b;
    switch (merge) {
    case CBI_COMPAT_CLASS:
        return a && b ? max : 0;
    case CBI_COMPAT_OR:
        return a | b;
    case CBI_COMPAT_FIELDS:
        return merge_fields(a, b);
    case CBI_COMPAT_EQUAL_OR_ONE:
        return a == b ? a : 1;
    default:
        return max;
    }
}

/* Does the output's record follow from those of the inputs? */
static bool is_joined(const cbi_eicompat *row)
{
    return row && row->merge != CBI_COMPAT_IGNORE && row->merge != CBI_COMPAT_TARGET &&
           row->merge != CBI_COMPAT_CAPABILITIES;
}

typedef CBI_VEC(compat) compat_list;

static void merge_compat(const cbi_linker *lk, compat_list *list, const cbi_eicompat *row,
                         uint16_t value)
{
    for (size_t i = 0; i < list->len; i++) {
        if (list->items[i].row == row) {
            list->items[i].value = join_values(row->merge, list->items[i].value, value);
            return;
        }
    }
    cbi_vec_push(lk->ctx, list, ((compat){row, value}));
}

static void read_compat(const cbi_linker *lk, compat_list *list, const cbi_lobj *obj)
{
    bool seen[256] = {false};
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(obj->compat, &pos, &attr)) {
        const cbi_eicompat *row = cbi_eicompat_find(attr.code);
        if (!is_joined(row))
            continue;
        seen[row->id] = true;
        bool half = row->format == CBI_ATTR_HALF;
        merge_compat(lk, list, row, half ? attr.value : attr.value & 0xff);
    }
    for (size_t i = 0; i < cbi_eicompat_count; i++) {
        const cbi_eicompat *row = &cbi_eicompats[i];
        if (seen[row->id] || !row->has_default)
            continue;
        merge_compat(lk, list, row, row->default_value);
    }
}

static void make_compat(const cbi_linker *lk)
{
    if (!lk->records->compat)
        return;
    compat_list list = {0};
    const cbi_eicompat *target = cbi_eicompat_find(EICOMPAT_CUDA_ACCELERATOR_TARGET);
    cbi_vec_push(lk->ctx, &list, ((compat){target, lk->opt->arch->suffix == 'a'}));
    for (size_t i = 0; i < lk->symbols->objs.len; i++)
        if (lk->symbols->objs.items[i]->has_compat)
            read_compat(lk, &list, lk->symbols->objs.items[i]);
    cbi_buf out = {0};
    for (size_t i = 0; i < list.len; i++) {
        const compat *c = &list.items[i];
        cbi_buf_u32(lk->ctx, &out,
                    c->row->format | (uint32_t)c->row->id << 8 | (uint32_t)c->value << 16);
    }
    cbi_out_fill(lk, lk->records->compat, out.items, out.len);
}

void cbi_link_notes(const cbi_linker *lk)
{
    /* Describes relocation type 0x73 for drivers that do not know it; the same in every file. */
    static const uint8_t action[16] = {0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x25, 0, 5, 0x36};
    make_tkinfo(lk);
    make_cuinfo(lk);
    make_compat(lk);
    if (lk->records->rel_action)
        cbi_out_fill(lk, lk->records->rel_action, cbi_memdup(lk->ctx, action, sizeof action),
                     sizeof action);
}
