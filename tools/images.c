/* Reading the files of the inspectors. */
#include "images.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "memory_limits.h"
#include "say.h"

enum { MAX_THREADS = 256, WINDOW_IMAGES = 256 };

/* What is kept for later may take this much before others are looked at. */
#define WINDOW_BYTES ((size_t)8 << 20)

/* ---- opening ---- */

typedef struct damage {
    const char *command;
    size_t said;
} damage;

static _Thread_local cbi_out *image_errors; /* of the image that this thread looks at */

static void on_diagnostic(void *user, const cb_diagnostic *d)
{
    damage *all = user;
    if (image_errors) {
        cbi_out_printf(image_errors, "cubind %s: ", all->command);
        cbi_out_string(image_errors, d->message);
        cbi_out_put(image_errors, "\n");
        return;
    }
    all->said++;
    cbi_say("cubind %s: %s", all->command, d->message);
}

const char *cbi_status_reason(cb_status status)
{
    if (status == CB_ERR_IO)
        return errno ? strerror(errno) : "it was changed while it was read";
    return status == CB_ERR_NOMEM ? "out of memory" : cb_status_string(status);
}

/* All of the standard input, which stays until the next call. */
static void *read_stdin(size_t *ret_size)
{
    static char *data;
    size_t size = 0, cap = 0, got;
    do {
        if (cap - size < ((size_t)1 << 16)) {
            cap = cap ? 2 * cap : (size_t)1 << 20;
            data = cbi_grow(data, cap, 1);
        }
        got = fread(data + size, 1, cap - size, stdin);
        size += got;
    } while (got);
    *ret_size = size;
    return data;
}

/* Of the list of images, and of each image. */
static size_t memory_limit(uint64_t size)
{
    size_t more;
    if (__builtin_mul_overflow(size, CBI_MEMORY_MULTIPLE, &more) || more > SIZE_MAX / 2)
        return 0;
    return ((size_t)CBI_MEMORY_MEBIBYTES << 20) + more;
}

static cb_status open_file(cb_inspect_options *options, const char *path,
                           cb_container **ret_container)
{
    errno = 0;
    if (strcmp(path, "-") != 0) {
        struct stat st;
        uint64_t size = stat(path, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
        options->memory_limit = memory_limit(size);
        errno = 0;
        return cb_container_open(options, path, ret_container);
    }
    size_t size;
    void *data = read_stdin(&size);
    if (ferror(stdin))
        return CB_ERR_IO;
    options->memory_limit = memory_limit(size);
    return cb_container_open_memory(options, "-", data, size, ret_container);
}

/* The diagnostics of the images that are opened later come here, too. */
static damage said;

cb_container *cbi_open_container(const char *command, const char *path, bool *ret_damaged)
{
    said = (damage){.command = command};
    cb_inspect_options options = {
        .struct_size = sizeof options, .on_diagnostic = on_diagnostic, .on_diagnostic_user = &said};
    cb_container *container = NULL;
    cb_status status = open_file(&options, path, &container);
    *ret_damaged = said.said > 0 || status != CB_OK;
    if (status != CB_OK) {
        cbi_say("cubind %s: %s: %s", command, path, cbi_status_reason(status));
        if (status == CB_ERR_NOMEM)
            exit(CBI_EXIT_UNREADABLE); /* other files would say the same */
        return NULL;
    }
    return container;
}

/* Says what there is instead of machine code. */
static void report_no_code(const char *command, const char *path, const cb_container *container)
{
    cb_content content = cb_container_content(container);
    size_t seen[CB_IMAGE_OTHER + 1] = {0};
    size_t count = cb_container_count(container);
    for (size_t i = 0; i < count; i++)
        seen[cb_container_info(container, i)->kind]++;
    cbi_out kinds = {0};
    bool counted = content != CB_CONTENT_PTX && content != CB_CONTENT_LTOIR;
    for (int k = CB_IMAGE_PTX; counted && k <= CB_IMAGE_OTHER; k++)
        if (seen[k])
            cbi_out_printf(&kinds, "%s%zu %s",
                           kinds.len ? ", " : " with images of other kinds: ", seen[k],
                           cb_image_kind_name((cb_image_kind)k));
    cbi_say("cubind %s: %s: no machine code: it is %s%s", command, path, cb_content_text(content),
            cbi_out_text(&kinds));
    cbi_out_free(&kinds);
}

/* What is not known at all may be meant to be a cubin. */
static bool is_unknown(const char *command, const char *path, const cb_container *container)
{
    const void *data;
    size_t size;
    cb_content content = cb_container_content(container);
    if (content != CB_CONTENT_EMPTY && content != CB_CONTENT_UNKNOWN)
        return false;
    cb_container_bytes(container, &data, &size);
    bool elf = size >= 4 && memcmp(data, "\177ELF", 4) == 0;
    cbi_say("cubind %s: %s: %s", command, path, elf ? "not a device ELF file" : "not an ELF file");
    return true;
}

bool cbi_say_contents(const char *command, const char *path, const cb_container *container)
{
    if (is_unknown(command, path, container))
        return false;
    size_t count = cb_container_count(container);
    for (size_t i = 0; i < count; i++)
        if (cb_container_info(container, i)->kind == CB_IMAGE_CUBIN)
            return true;
    if (!cb_container_error_count(container))
        report_no_code(command, path, container);
    return true;
}

/* ---- looking ---- */

typedef struct work {
    const cbi_viewer *viewer;
    const cb_container *container;
    const char *path;
    size_t count;
    cbi_seen *seen;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* an image was looked at, or told */
    size_t next;          /* image to look at */
    size_t told;
    size_t waiting; /* bytes of images that were looked at and not told */
    bool *done;
    bool stopped;      /* the file changed */
    cb_status failure; /* ... or memory ran out */
} work;

static bool is_wanted(const work *w, size_t i)
{
    const cb_image_info *info = cb_container_info(w->container, i);
    const cbi_viewer *v = w->viewer;
    return (v->every_kind || info->kind == CB_IMAGE_CUBIN) &&
           (!v->wants || v->wants(info, i, v->user));
}

static void complain(cbi_seen *seen, const char *command, const char *name, const char *text)
{
    cbi_out_printf(&seen->errors, "cubind %s: ", command);
    cbi_out_string(&seen->errors, name);
    cbi_out_printf(&seen->errors, ": %s\n", text);
    cbi_raise_exit(&seen->exit_code, CBI_EXIT_UNREADABLE);
}

/* Is it what it says it is? */
static bool is_machine_code(cb_image *image, cbi_seen *seen, const char *command)
{
    cb_image_state state = cb_image_get_state(image);
    if (cb_image_get_info(image)->kind != CB_IMAGE_CUBIN || state < CB_STATE_NOT_ELF)
        return true;
    complain(seen, command, cb_image_name(image),
             state == CB_STATE_NOT_ELF ? "not an ELF file" : "not a device ELF file");
    return false;
}

static void look(work *w, size_t i)
{
    const cbi_viewer *v = w->viewer;
    cbi_seen *seen = &w->seen[i];
    seen->info = cb_container_info(w->container, i);
    seen->number = i;
    if (!is_wanted(w, i))
        return;
    image_errors = &seen->errors;
    errno = 0;
    cb_image *image = NULL;
    cb_status status = cb_image_open(w->container, i, &image);
    if (status == CB_OK) {
        if (is_machine_code(image, seen, v->command))
            v->look(image, seen, v->user);
        status = cb_image_status(image);
        if (status != CB_OK)
            complain(seen, v->command, cb_image_name(image), cbi_status_reason(status));
        cb_image_close(image);
    } else {
        seen->exit_code = v->damage_exit ? v->damage_exit : CBI_EXIT_UNREADABLE;
        if (status == CB_ERR_NOMEM)
            complain(seen, v->command, seen->info->file, "out of memory");
    }
    image_errors = NULL;
    if (status == CB_ERR_IO) {
        pthread_mutex_lock(&w->lock);
        w->stopped = true;
        pthread_mutex_unlock(&w->lock);
    }
}

static bool may_look(const work *w)
{
    return w->next - w->told < 2 ||
           (w->next - w->told < WINDOW_IMAGES && w->waiting < WINDOW_BYTES);
}

/* Looks at one more image, or waits until something moves.  Holds the lock, and gives it away
 * meanwhile.  False: there is no more to look at. */
static bool look_at_next(work *w)
{
    bool more = !w->stopped && w->next < w->count;
    if (!more && w->next == w->told)
        return false;
    if (!more || !may_look(w)) {
        pthread_cond_wait(&w->moved, &w->lock);
        return more;
    }
    size_t i = w->next++;
    pthread_mutex_unlock(&w->lock);
    look(w, i);
    pthread_mutex_lock(&w->lock);
    w->done[i] = true;
    w->waiting += w->seen[i].out.cap + w->seen[i].errors.cap;
    pthread_cond_broadcast(&w->moved);
    return true;
}

static void *look_at_images(void *arg)
{
    work *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->stopped && w->next < w->count)
        look_at_next(w);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- telling ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A line that is written over, on a terminal, once it takes long. */
static void show_progress(const work *w, double *ret_since, bool *ret_shown)
{
    double t = now();
    if (!isatty(STDERR_FILENO) || t - *ret_since < (*ret_shown ? 0.2 : 2))
        return;
    *ret_since = t;
    *ret_shown = true;
    fprintf(stderr, "\r%zu of %zu images\033[K", w->told, w->count);
    fflush(stderr);
}

static void tell(const work *w, cbi_seen *seen, bool *progress)
{
    const cbi_viewer *v = w->viewer;
    if ((seen->errors.len || seen->out.len) && *progress) {
        fputs("\r\033[K", stderr);
        *progress = false;
    }
    if (v->tell && seen->info && is_wanted(w, seen->number))
        v->tell(seen, v->user);
    cbi_flush_text(v->command, &seen->out);
    if (seen->errors.len)
        fflush(stdout); /* in the order in which they arose */
    cbi_out_flush(&seen->errors, stderr);
}

/* Tells images as they are done; an image that nobody has begun is looked at here. */
static int tell_images(work *w)
{
    int exit_code = CBI_EXIT_CLEAN;
    double since = now();
    bool progress = false;
    pthread_mutex_lock(&w->lock);
    while (w->told < w->count) {
        size_t i = w->told;
        if (!w->done[i]) {
            if (!look_at_next(w) && w->next == i)
                break; /* the file changed */
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        cbi_seen *seen = &w->seen[i];
        size_t bytes = seen->out.cap + seen->errors.cap;
        tell(w, seen, &progress);
        cbi_raise_exit(&exit_code, seen->exit_code);
        cbi_out_free(&seen->out);
        cbi_out_free(&seen->errors);
        show_progress(w, &since, &progress);
        pthread_mutex_lock(&w->lock);
        w->waiting -= bytes;
        w->told++;
        pthread_cond_broadcast(&w->moved);
    }
    pthread_mutex_unlock(&w->lock);
    if (progress)
        fputs("\r\033[K", stderr);
    return exit_code;
}

static unsigned thread_count(const cbi_viewer *v, size_t images)
{
    long cores = v->threads ? (long)v->threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > MAX_THREADS)
        cores = MAX_THREADS;
    return cores < 1 ? 1 : (size_t)cores > images ? (unsigned)images : (unsigned)cores;
}

int cbi_view_container(const cbi_viewer *viewer, const char *path, cb_container *container)
{
    pthread_t threads[MAX_THREADS];
    work w = {.viewer = viewer,
              .container = container,
              .path = path,
              .count = cb_container_count(container),
              .lock = PTHREAD_MUTEX_INITIALIZER,
              .moved = PTHREAD_COND_INITIALIZER};
    unsigned count = 0, wanted = thread_count(viewer, w.count);
    w.seen = cbi_grow(NULL, w.count, sizeof *w.seen);
    w.done = cbi_grow(NULL, w.count, sizeof *w.done);
    memset(w.seen, 0, w.count * sizeof *w.seen);
    memset(w.done, 0, w.count * sizeof *w.done);
    /* this thread looks at what no other has begun: alone at all of them */
    while (count + 1 < wanted && pthread_create(&threads[count], NULL, look_at_images, &w) == 0)
        count++;
    int exit_code = tell_images(&w);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    if (w.stopped) {
        errno = 0;
        cbi_say("cubind %s: %s: %s", viewer->command, path, cbi_status_reason(CB_ERR_IO));
        exit_code = CBI_EXIT_UNREADABLE;
    }
    free(w.seen);
    free(w.done);
    pthread_mutex_destroy(&w.lock);
    pthread_cond_destroy(&w.moved);
    return exit_code;
}

int cbi_view_file(const cbi_viewer *viewer, const char *path)
{
    bool damaged;
    cb_container *container = cbi_open_container(viewer->command, path, &damaged);
    if (!container)
        return CBI_EXIT_UNREADABLE;
    int exit_code = damaged ? CBI_EXIT_UNREADABLE : CBI_EXIT_CLEAN;
    size_t images = cb_container_count(container);
    if (viewer->every_kind ? !images && is_unknown(viewer->command, path, container)
                           : !cbi_say_contents(viewer->command, path, container))
        exit_code = CBI_EXIT_UNREADABLE;
    else if (viewer->every_kind && !images && !damaged)
        cbi_say("cubind %s: %s: no device code: it is %s", viewer->command, path,
                cb_content_text(cb_container_content(container)));
    cbi_raise_exit(&exit_code, cbi_view_container(viewer, path, container));
    cb_container_close(container);
    return exit_code;
}

bool cbi_read_threads(const char *text, unsigned *ret_threads)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || number > MAX_THREADS)
        return false;
    *ret_threads = (unsigned)number;
    return true;
}

/* ---- printing ---- */

void cbi_put_finding(cbi_store *store, cbi_node *list, const cb_finding *f)
{
    cbi_node *n = cbi_node_add_object(store, list, NULL);
    cbi_node_string(store, n, "rule", f->rule);
    cbi_node_hex(store, n, "offset", f->offset);
    cbi_node_string(store, n, "section", f->section);
    cbi_node_string(store, n, "symbol", f->symbol);
    cbi_node_string(store, n, "message", f->message);
    cbi_node_bool(store, n, "note", f->note);
}

void cbi_put_damage(cbi_store *store, cbi_node *document, cb_image *image)
{
    cbi_node *list = cbi_node_add_array(store, document, "findings");
    size_t count = cb_image_damage_count(image);
    for (size_t i = 0; i < count; i++)
        cbi_put_finding(store, list, cb_image_damage(image, i));
}

void cbi_flush_text(const char *command, cbi_out *out)
{
    if (!cbi_out_flush(out, stdout)) {
        cbi_say("cubind %s: cannot write to stdout: %s", command, strerror(errno));
        exit(CBI_EXIT_UNREADABLE);
    }
}
