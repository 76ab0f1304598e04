/* Reading the files of dump, check and diff. */
#include "images.h"

#include <errno.h>
#include <stdlib.h>

#include "base/files.h"
#include "input/recognise.h"
#include "input/slices.h"
#include "say.h"

typedef struct visit {
    const char *command;
    const char *file;
    cbi_span bytes;
    cbi_image_fn fn;
    void *user;
    cbi_ctx *container;               /* holds the scratch */
    cbi_scratch *scratch;             /* decompressed images share their room */
    size_t seen[CBI_SLICE_OTHER + 1]; /* images of each kind */
    bool unreadable;
} visit;

static void complain(const visit *v, const char *text)
{
    cbi_say("cubind %s: %s: %s", v->command, v->file, text);
}

const char *cbi_failure_text(cb_status status)
{
    return status == CB_ERR_NOMEM ? "out of memory"
           : cbi_changed_file()   ? "it was changed while it was read"
                                  : "cannot be read";
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
    cb_status status = cbi_run(&ctx, read_image, v);
    if (status != CB_OK) {
        if (status != CB_ERR_IO) /* that is for the file as a whole */
            complain(v, cbi_failure_text(status));
        v->unreadable = true;
    }
    cbi_ctx_fini(&ctx);
}

/* Machine code of a container, one image at a time. */
static bool visit_slice(const cbi_slice *slice, void *user)
{
    visit *all = user;
    char file[4096];
    all->seen[slice->kind]++;
    if (slice->kind != CBI_SLICE_CUBIN)
        return true;
    visit v = *all;
    if (slice->bare)
        snprintf(file, sizeof file, "%s", slice->file);
    else
        snprintf(file, sizeof file, "%s:%zu.sm_%u%.1s", slice->file, slice->index, slice->entry.sm,
                 (const char[2]){slice->entry.suffix, 0});
    v.file = file;
    cbi_load load = cbi_slice_load(v.container, slice, v.scratch, &v.bytes);
    if (load == CBI_LOAD_OK) {
        visit_image(&v);
    } else {
        complain(&v, cbi_load_text(load));
        v.unreadable = true;
    }
    all->unreadable |= v.unreadable;
    return !cbi_changed_file();
}

static void on_damage(void *user, const cb_diagnostic *d)
{
    visit *v = user;
    cbi_say("cubind %s: %s", v->command, d->message);
    v->unreadable = true;
}

/* Says what there is instead of machine code. */
static void report_no_code(const visit *v, cbi_content content)
{
    char kinds[128] = "";
    size_t used = 0;
    const char *lead = " with images of other kinds: ";
    for (cbi_slice_kind k = CBI_SLICE_PTX; k <= CBI_SLICE_OTHER; k++) {
        if (!v->seen[k] || content == CBI_CONTENT_PTX || content == CBI_CONTENT_LTOIR)
            continue;
        int len = snprintf(kinds + used, sizeof kinds - used, "%s%zu %s", lead, v->seen[k],
                           cbi_slice_kind_name(k));
        if (len < 0 || (size_t)len >= sizeof kinds - used)
            break;
        used += (size_t)len;
        lead = ", ";
    }
    cbi_say("cubind %s: %s: no machine code: it is %s%s", v->command, v->file,
            cbi_content_text(content), kinds);
}

static cb_status read_file(cbi_ctx *ctx, void *arg)
{
    visit *v = arg;
    cbi_scratch scratch = {NULL, 0};
    errno = 0;
    if (cbi_map_file(ctx, v->file, &v->bytes) != CB_OK) {
        complain(v, errno ? strerror(errno) : "cannot be read");
        v->unreadable = true;
        return CB_OK;
    }
    cbi_content content = cbi_recognise(v->bytes);
    if (content == CBI_CONTENT_CUBIN || content == CBI_CONTENT_UNKNOWN ||
        content == CBI_CONTENT_EMPTY) {
        visit_image(v);
        return CB_OK;
    }
    v->container = ctx;
    v->scratch = &scratch;
    ctx->on_diagnostic = on_damage;
    ctx->on_diagnostic_user = v;
    cbi_each_slice(ctx, v->file, v->bytes, visit_slice, v);
    if (!v->seen[CBI_SLICE_CUBIN] && !v->unreadable)
        report_no_code(v, content);
    return CB_OK;
}

int cbi_each_image(const char *command, const char *path, cbi_image_fn fn, void *user)
{
    visit v = {.command = command, .file = path, .fn = fn, .user = user};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cb_status status = cbi_run(&ctx, read_file, &v);
    if (status == CB_OK && cbi_changed_file())
        status = CB_ERR_IO;
    if (status != CB_OK) {
        complain(&v, cbi_failure_text(status));
        v.unreadable = true;
    }
    cbi_ctx_fini(&ctx);
    return v.unreadable ? CBI_EXIT_UNREADABLE : CBI_EXIT_CLEAN;
}

void cbi_put_findings(cbi_ctx *ctx, cbi_node *document, const cbi_findings *findings)
{
    cbi_node *list = cbi_node_add_array(ctx, document, "findings");
    for (size_t i = 0; i < findings->len; i++) {
        const cbi_finding *f = &findings->items[i];
        cbi_node *n = cbi_node_add_object(ctx, list, NULL);
        cbi_node_string(ctx, n, "rule", f->rule);
        cbi_node_hex(ctx, n, "offset", f->offset);
        cbi_node_string(ctx, n, "section", f->section);
        cbi_node_string(ctx, n, "symbol", f->symbol);
        cbi_node_string(ctx, n, "message", f->message);
        cbi_node_bool(ctx, n, "note", f->note);
    }
}

void cbi_flush_text(const char *command, cbi_buf *out)
{
    if (out->len && fwrite(out->items, 1, out->len, stdout) != out->len) {
        cbi_say("cubind %s: cannot write to stdout: %s", command, strerror(errno));
        exit(CBI_EXIT_UNREADABLE);
    }
    out->len = 0;
}
