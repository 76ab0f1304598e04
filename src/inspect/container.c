/* Containers: a file, and the list of its images. */
#include "inspect/image.h"

#include <errno.h>

#include "base/files.h"
#include "container/bundle.h"

bool cbi_inspect_take_options(const cb_inspect_options *from, cb_inspect_options *ret_options)
{
    *ret_options = (cb_inspect_options){.struct_size = sizeof *ret_options};
    if (!from)
        return true;
    if (from->struct_size != sizeof *from || !from->allocator.alloc != !from->allocator.free)
        return false;
    *ret_options = *from;
    return true;
}

void cbi_inspect_init(cbi_ctx *ctx, const cb_inspect_options *options)
{
    cbi_ctx_init(ctx);
    if (options->allocator.alloc)
        ctx->allocator = (cbi_allocator){options->allocator.alloc, options->allocator.free,
                                         options->allocator.user};
    ctx->memory_limit = options->memory_limit;
    ctx->on_diagnostic = options->on_diagnostic;
    ctx->on_diagnostic_user = options->on_diagnostic_user;
}

void *cbi_inspect_new(const cb_inspect_options *options, size_t size)
{
    cbi_ctx ctx;
    cbi_inspect_init(&ctx, options);
    void *handle = ctx.allocator.alloc(ctx.allocator.user, size);
    if (!handle)
        return NULL;
    memset(handle, 0, size);
    memcpy(handle, &ctx, sizeof ctx);
    return handle;
}

void cbi_inspect_free(void *handle, size_t size)
{
    cbi_ctx *ctx = handle;
    const cbi_allocator allocator = ctx->allocator;
    cbi_ctx_fini(ctx);
    allocator.free(allocator.user, handle, size);
}

static bool list_image(const cbi_slice *slice, void *user)
{
    cb_container *c = user;
    const cbi_fatbin_entry *entry = &slice->entry;
    cb_image_info *info = cbi_vec_add(&c->ctx, &c->images);
    *info = (cb_image_info){
        .kind = (cb_image_kind)slice->kind,
        .compression = (cb_compression)entry->compression,
        .file = slice->file,
        .section = slice->section,
        .fatbin = slice->bare ? CB_NONE : (uint32_t)slice->fatbin,
        .sm = entry->sm,
        .suffix = entry->suffix,
        .arch = cbi_slice_arch(&c->ctx, slice),
        .offset = slice->offset,
        .stored = entry->payload.size,
        .size = entry->size,
        .flags = entry->flags,
        .version_major = entry->major,
        .version_minor = entry->minor,
        .obfuscated = (entry->flags & FATBIN_FLAG_OBFUSCATED) != 0,
    };
    if (slice->bare && slice->kind == CBI_SLICE_PTX)
        (void)cbi_ptx_version(entry->payload, &info->version_major, &info->version_minor);
    if (entry->ident.size)
        info->identifier = cbi_strndup(&c->ctx, (const char *)entry->ident.data, entry->ident.size);
    cbi_vec_push(&c->ctx, &c->slices, *slice);
    /* what the list was made of is not needed again soon */
    size_t far = (size_t)(entry->payload.data - c->bytes.data);
    if (c->from_file && far <= c->bytes.size && far >= c->listed + CBI_KEPT_BYTES) {
        cbi_give_back_pages(&c->ctx, (cbi_span){c->bytes.data + c->listed, far - c->listed});
        c->listed = far;
    }
    return true;
}

static cb_status list_images(cbi_ctx *ctx, void *arg)
{
    cb_container *c = arg;
    const char *path = c->path;
    c->path = cbi_strndup(ctx, path, strlen(path));
    c->taken = CBI_NEW(ctx, size_t);
    c->decompressors = CBI_NEW_ARRAY(ctx, CBI_KEPT_DECOMPRESSORS, void *);
    if (c->from_file) {
        errno = 0;
        if (cbi_map_file(ctx, c->path, &c->bytes) != CB_OK)
            return CB_ERR_IO;
    }
    c->content = cbi_recognise(c->bytes);
    if (c->content != CBI_CONTENT_EMPTY && c->content != CBI_CONTENT_UNKNOWN &&
        c->content != CBI_CONTENT_BITCODE)
        cbi_each_slice(ctx, c->path, c->bytes, list_image, c);
    if (c->from_file)
        cbi_give_back_pages(ctx, c->bytes);
    return CB_OK;
}

static cb_status open_container(const cb_inspect_options *given, const char *name, cbi_span bytes,
                                bool from_file, cb_container **ret_container)
{
    cb_inspect_options options;
    if (!cbi_inspect_take_options(given, &options) || !name || !ret_container)
        return CB_ERR_USAGE;
    cb_container *c = cbi_inspect_new(&options, sizeof *c);
    if (!c)
        return CB_ERR_NOMEM;
    c->options = options;
    c->path = name;
    c->bytes = bytes;
    c->from_file = from_file;
    cb_status status = cbi_run(&c->ctx, list_images, c);
    if (status != CB_OK) {
        int why = errno;
        cb_container_close(c);
        errno = why;
        return status;
    }
    *ret_container = c;
    return CB_OK;
}

cb_status cb_container_open(const cb_inspect_options *options, const char *path,
                            cb_container **ret_container)
{
    return open_container(options, path, (cbi_span){NULL, 0}, true, ret_container);
}

cb_status cb_container_open_memory(const cb_inspect_options *options, const char *name,
                                   const void *data, size_t size, cb_container **ret_container)
{
    if (!data && size)
        return CB_ERR_USAGE;
    return open_container(options, name, (cbi_span){data, size}, false, ret_container);
}

void cb_container_close(cb_container *container)
{
    if (!container)
        return;
    for (size_t i = 0; container->decompressors && i < CBI_KEPT_DECOMPRESSORS; i++)
        if (container->decompressors[i])
            cbi_free_decompressor(container->decompressors[i]);
    cbi_inspect_free(container, sizeof *container);
}

cb_content cb_container_content(const cb_container *container)
{
    return (cb_content)container->content;
}

size_t cb_container_error_count(const cb_container *container)
{
    return container->ctx.error_count;
}

void cb_container_bytes(const cb_container *container, const void **ret_data, size_t *ret_size)
{
    *ret_data = container->bytes.data;
    *ret_size = container->bytes.size;
}

size_t cb_container_count(const cb_container *container)
{
    return container->images.len;
}

const cb_image_info *cb_container_info(const cb_container *container, size_t index)
{
    return index < container->images.len ? &container->images.items[index] : NULL;
}

const char *cb_content_text(cb_content content)
{
    if ((unsigned)content > CB_CONTENT_BITCODE)
        content = CB_CONTENT_UNKNOWN;
    return cbi_content_text((cbi_content)content);
}

const char *cb_image_kind_name(cb_image_kind kind)
{
    if ((unsigned)kind > CB_IMAGE_OTHER)
        kind = CB_IMAGE_OTHER;
    return cbi_slice_kind_name((cbi_slice_kind)kind);
}

const char *cb_compression_text(cb_compression compression)
{
    if ((unsigned)compression > CB_COMPRESSION_UNKNOWN)
        compression = CB_COMPRESSION_UNKNOWN;
    return cbi_compression_name((cbi_compression)compression);
}
