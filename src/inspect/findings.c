/* Check and diff for the users of inspect.h. */
#include "inspect/image.h"

#include "inspect/check.h"
#include "inspect/diff.h"
#include "object/rules.h"

const cb_rule *cb_check_rule(size_t index)
{
    static const cb_rule rules[] = {
#define STRUCTURE(name, id, text)    {id, text, 0},
#define ABI(name, id, certain, text) {id, text, CBI_MADE_##certain == CBI_MADE_NONE},
        CBI_OBJECT_RULES(STRUCTURE) CBI_CHECK_RULES(ABI)
#undef STRUCTURE
#undef ABI
    };
    return index < CBI_COUNT(rules) ? &rules[index] : NULL;
}

static void fill(cb_image *image, const cbi_findings *findings, cbi_table *table)
{
    cb_finding *rows = CBI_NEW_ARRAY(&image->ctx, findings->len, cb_finding);
    for (size_t i = 0; i < findings->len; i++) {
        const cbi_finding *f = &findings->items[i];
        rows[i] = (cb_finding){f->rule, f->message, f->section, f->symbol, f->offset, f->note};
    }
    table->rows = rows;
    table->count = findings->len;
}

static void make_damage(cb_image *image, cbi_table *table)
{
    fill(image, &image->damage, table);
}

size_t cb_image_damage_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_DAMAGE, make_damage)->count;
}

const cb_finding *cb_image_damage(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_DAMAGE, make_damage), cb_finding, index);
}

static void make_findings(cb_image *image, cbi_table *table)
{
    cbi_findings findings = {0};
    cbi_check(&image->ctx, &image->object, &findings);
    fill(image, &findings, table);
}

static const cbi_table *finding_table(cb_image *image)
{
    if (image->state != CB_STATE_SOUND)
        return cbi_image_table(image, CBI_TABLE_DAMAGE, make_damage);
    return cbi_image_table(image, CBI_TABLE_FINDINGS, make_findings);
}

size_t cb_image_finding_count(cb_image *image)
{
    return finding_table(image)->count;
}

const cb_finding *cb_image_finding(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(finding_table(image), cb_finding, index);
}

/* ---- diff ---- */

struct cb_diff {
    cbi_ctx ctx;
    cb_image *a, *b;
    cbi_diff_options options;
    cbi_differences list;
};

static const char *copy(cbi_ctx *ctx, const char *s)
{
    return s ? cbi_strndup(ctx, s, strlen(s)) : NULL;
}

static cb_status compare(cbi_ctx *ctx, void *arg)
{
    cb_diff *d = arg;
    cbi_diff(ctx, &d->a->object, &d->b->object, &d->options, &d->list);
    for (size_t i = 0; i < d->list.len; i++) {
        cb_difference *row = &d->list.items[i];
        *row = (cb_difference){
            row->part,         copy(ctx, row->section), copy(ctx, row->name), copy(ctx, row->field),
            copy(ctx, row->a), copy(ctx, row->b)};
    }
    return CB_OK;
}

cb_status cb_diff_create(cb_image *a, cb_image *b, uint64_t flags, cb_diff **ret_diff)
{
    if (!a || !b || flags & ~CB_DIFF_SEMANTIC || !ret_diff)
        return CB_ERR_USAGE;
    if (a->state != CB_STATE_SOUND || b->state != CB_STATE_SOUND)
        return CB_ERR_FORMAT;
    const cbi_ctx *like = &a->ctx;
    cb_inspect_options options = {
        .allocator = {like->allocator.alloc, like->allocator.free, like->allocator.user},
        .memory_limit = like->memory_limit,
    };
    cb_diff *d = cbi_inspect_new(&options, sizeof *d);
    if (!d)
        return CB_ERR_NOMEM;
    d->a = a;
    d->b = b;
    d->options.semantic = (flags & CB_DIFF_SEMANTIC) != 0;
    cb_status status = cbi_run(&d->ctx, compare, d);
    if (status != CB_OK) {
        cb_diff_free(d);
        return status;
    }
    *ret_diff = d;
    return CB_OK;
}

size_t cb_diff_count(const cb_diff *diff)
{
    return diff->list.len;
}

const cb_difference *cb_diff_get(const cb_diff *diff, size_t index)
{
    return index < diff->list.len ? &diff->list.items[index] : NULL;
}

void cb_diff_free(cb_diff *diff)
{
    if (diff)
        cbi_inspect_free(diff, sizeof *diff);
}
