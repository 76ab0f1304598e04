/* Images: taken out of a container, read, and asked for tables. */
#include "inspect/image.h"

#include "base/files.h"
#include "base/output_file.h"
#include "demangle/demangle.h"

/* ---- opening ---- */

typedef struct opening {
    cb_image *image;
    const cb_container *container;
    const cbi_slice *slice; /* NULL: the bytes are there */
    const cb_image_info *info;
} opening;

/* What was copied or decompressed need not stay in memory.  Not after each image: giving back costs
 * more than reading a small one. */
static void give_back_pages(const cb_container *c, size_t taken)
{
    if (__atomic_add_fetch(c->taken, taken, __ATOMIC_RELAXED) < CBI_KEPT_BYTES)
        return;
    __atomic_store_n(c->taken, 0, __ATOMIC_RELAXED);
    cbi_give_back_pages(&c->ctx, c->bytes);
}

static void borrow_decompressor(const cb_container *c, cbi_ctx *ctx)
{
    ctx->free_decompressor = cbi_free_decompressor;
    for (size_t i = 0; i < CBI_KEPT_DECOMPRESSORS && !ctx->decompressor; i++)
        ctx->decompressor = __atomic_exchange_n(&c->decompressors[i], NULL, __ATOMIC_ACQ_REL);
}

/* One that finds no place ends with its image. */
static void return_decompressor(const cb_container *c, cbi_ctx *ctx)
{
    for (size_t i = 0; i < CBI_KEPT_DECOMPRESSORS && ctx->decompressor; i++) {
        void *none = NULL;
        if (__atomic_compare_exchange_n(&c->decompressors[i], &none, ctx->decompressor, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            ctx->decompressor = NULL;
    }
}

static bool load(opening *job)
{
    cb_image *image = job->image;
    const cbi_slice *slice = job->slice;
    borrow_decompressor(job->container, &image->ctx);
    cbi_load result = cbi_slice_load(&image->ctx, slice, NULL, &image->bytes);
    return_decompressor(job->container, &image->ctx);
    if (result == CBI_LOAD_OBFUSCATED) {
        image->bytes = slice->entry.payload;
        result = CBI_LOAD_OK;
    }
    if (result != CBI_LOAD_OK) {
        cbi_error(&image->ctx, "image-damaged", &(cbi_place){.file = image->name}, NULL, "%s: %s",
                  image->name, cbi_load_text(result));
        return false;
    }
    if (job->container->from_file && image->bytes.data == slice->entry.payload.data)
        image->bytes.data = cbi_memdup(&image->ctx, image->bytes.data, image->bytes.size);
    if (job->container->from_file)
        give_back_pages(job->container, slice->entry.payload.size);
    return true;
}

static void name_image(cb_image *image, const cb_image_info *info, size_t number)
{
    cbi_ctx *ctx = &image->ctx;
    const char suffix[2] = {info->suffix, 0};
    image->info = *info;
    image->info.file = cbi_strndup(ctx, info->file, strlen(info->file));
    image->info.arch = cbi_strndup(ctx, info->arch, strlen(info->arch));
    if (info->section)
        image->info.section = cbi_strndup(ctx, info->section, strlen(info->section));
    if (info->identifier)
        image->info.identifier = cbi_strndup(ctx, info->identifier, strlen(info->identifier));
    image->name = info->fatbin == CB_NONE
                      ? image->info.file
                      : cbi_printf(ctx, "%s:%zu.sm_%u%s", info->file, number, info->sm, suffix);
}

static cb_status read_image(cbi_ctx *ctx, void *arg)
{
    opening *job = arg;
    cb_image *image = job->image;
    name_image(image, job->info, job->slice ? job->slice->index : 0);
    if (job->slice && !load(job))
        return CB_ERR_FORMAT;
    image->state = CB_STATE_NOT_ELF;
    if (image->info.kind != CB_IMAGE_CUBIN)
        return CB_OK;
    cbi_object_kind kind =
        cbi_object_read(ctx, image->name, image->bytes, &image->object, &image->damage);
    switch (kind) {
    case CBI_OBJECT_OK:
        image->state = CB_STATE_SOUND;
        break;
    case CBI_OBJECT_DAMAGED:
        image->state = image->object.sections ? CB_STATE_DAMAGED : CB_STATE_UNREADABLE;
        break;
    case CBI_OBJECT_NOT_DEVICE:
        image->state = CB_STATE_NOT_DEVICE;
        break;
    case CBI_OBJECT_NOT_ELF:
        break;
    }
    return CB_OK;
}

static cb_status open_image(const cb_inspect_options *options, opening *job, cbi_span bytes,
                            cb_image **ret_image)
{
    cb_image *image = cbi_inspect_new(options, sizeof *image);
    if (!image)
        return CB_ERR_NOMEM;
    image->bytes = bytes;
    job->image = image;
    cb_status status = cbi_run(&image->ctx, read_image, job);
    if (status != CB_OK) {
        cb_image_close(image);
        return status;
    }
    *ret_image = image;
    return CB_OK;
}

cb_status cb_image_open(const cb_container *container, size_t index, cb_image **ret_image)
{
    if (!container || index >= container->images.len || !ret_image)
        return CB_ERR_USAGE;
    opening job = {.container = container,
                   .slice = &container->slices.items[index],
                   .info = &container->images.items[index]};
    return open_image(&container->options, &job, (cbi_span){NULL, 0}, ret_image);
}

cb_status cb_image_open_memory(const cb_inspect_options *given, const char *name, const void *data,
                               size_t size, cb_image **ret_image)
{
    cb_inspect_options options;
    if (!cbi_inspect_take_options(given, &options) || !name || (!data && size) || !ret_image)
        return CB_ERR_USAGE;
    const cb_image_info info = {.kind = CB_IMAGE_CUBIN,
                                .file = name,
                                .arch = "",
                                .fatbin = CB_NONE,
                                .stored = size,
                                .size = size};
    opening job = {.info = &info};
    return open_image(&options, &job, (cbi_span){data, size}, ret_image);
}

void cb_image_close(cb_image *image)
{
    if (image)
        cbi_inspect_free(image, sizeof *image);
}

/* ---- facts ---- */

cb_image_state cb_image_get_state(const cb_image *image)
{
    return image->state;
}

const char *cb_image_name(const cb_image *image)
{
    return image->name;
}

const cb_image_info *cb_image_get_info(const cb_image *image)
{
    return &image->info;
}

void cb_image_bytes(const cb_image *image, const void **ret_data, size_t *ret_size)
{
    *ret_data = image->bytes.data;
    *ret_size = image->bytes.size;
}

cb_status cb_image_write_file(const cb_image *image, const char *path)
{
    return cbi_write_output(path, image->bytes.data, image->bytes.size) == CBI_OUTPUT_OK
               ? CB_OK
               : CB_ERR_IO;
}

cb_status cb_image_status(const cb_image *image)
{
    return image->status;
}

typedef struct naming {
    cb_image *image;
    const char *name;
    const char *shown;
} naming;

/* A name stands in many tables, and long ones are dear. */
static cb_status demangle(cbi_ctx *ctx, void *arg)
{
    naming *n = arg;
    const cbi_name *name = cbi_intern(ctx, n->name);
    char *shown = cbi_name_get(&n->image->shown_names, name);
    if (!shown) {
        shown = (char *)cbi_demangle(ctx, name->s);
        cbi_name_put(ctx, &n->image->shown_names, name, shown);
    }
    n->shown = cbi_demangle_again(ctx, name->s, shown) ? shown : name->s;
    return CB_OK;
}

const char *cb_image_demangle(cb_image *image, const char *name)
{
    naming n = {.image = image, .name = name};
    cb_status status = cbi_run(&image->ctx, demangle, &n);
    if (status == CB_OK)
        return n.shown;
    image->status = status;
    return name;
}

/* ---- tables ---- */

typedef struct making {
    cb_image *image;
    cbi_table *table;
    cbi_table_maker maker;
} making;

static cb_status make_table(cbi_ctx *ctx, void *arg)
{
    (void)ctx;
    making *m = arg;
    m->maker(m->image, m->table);
    return CB_OK;
}

const cbi_table *cbi_image_table(cb_image *image, cbi_table_kind kind, cbi_table_maker maker)
{
    cbi_table *table = &image->tables[kind];
    bool readable = image->object.sections || kind == CBI_TABLE_DAMAGE;
    if (table->made || !readable)
        return table;
    table->made = true;
    making m = {image, table, maker};
    cb_status status = cbi_run(&image->ctx, make_table, &m);
    if (status != CB_OK) {
        table->rows = NULL;
        table->count = 0;
        image->status = status;
    }
    return table;
}
