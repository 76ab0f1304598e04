/* Reading the files of dump, check and diff. */
#include "images.h"

#include <errno.h>
#include <stdlib.h>

typedef struct visit {
    const char *command;
    const char *file;
    cbi_span bytes;
    cbi_image_fn fn;
    void *user;
    bool unreadable;
} visit;

static void complain(const visit *v, const char *text)
{
    fprintf(stderr, "cubind %s: %s: %s\n", v->command, v->file, text);
}

static cb_status read_image(cbi_ctx *ctx, void *arg)
{
    visit *v = arg;
    cbi_image image = {.ctx = ctx, .file = v->file};
    image.kind = cbi_object_read(ctx, v->file, v->bytes, &image.object, &image.findings);
    if (image.kind == CBI_OBJECT_NOT_ELF || image.kind == CBI_OBJECT_NOT_DEVICE) {
        complain(v, image.kind == CBI_OBJECT_NOT_ELF ? "not an ELF file" : "not a device ELF file");
        v->unreadable = true;
        return CB_OK;
    }
    v->fn(&image, v->user);
    return CB_OK;
}

/* Each image has a context of its own. */
static void visit_image(visit *v)
{
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    if (cbi_run(&ctx, read_image, v) != CB_OK) {
        complain(v, "out of memory");
        v->unreadable = true;
    }
    cbi_ctx_fini(&ctx);
}

static cb_status read_file(cbi_ctx *ctx, void *arg)
{
    visit *v = arg;
    errno = 0;
    if (cbi_map_file(ctx, v->file, &v->bytes) != CB_OK) {
        complain(v, errno ? strerror(errno) : "cannot be read");
        v->unreadable = true;
        return CB_OK;
    }
    visit_image(v);
    return CB_OK;
}

int cbi_each_image(const char *command, const char *path, cbi_image_fn fn, void *user)
{
    visit v = {.command = command, .file = path, .fn = fn, .user = user};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    if (cbi_run(&ctx, read_file, &v) != CB_OK)
        v.unreadable = true;
    cbi_ctx_fini(&ctx);
    return v.unreadable ? CBI_EXIT_UNREADABLE : CBI_EXIT_CLEAN;
}

void cbi_flush_text(const char *command, cbi_buf *out)
{
    if (out->len && fwrite(out->items, 1, out->len, stdout) != out->len) {
        fprintf(stderr, "cubind %s: cannot write to stdout: %s\n", command, strerror(errno));
        exit(CBI_EXIT_UNREADABLE);
    }
    out->len = 0;
}
