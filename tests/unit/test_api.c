/* The public interface: one link through every way in and out, wrong use, limits, every allocation
 * failing in turn, links in parallel threads. */
#include "unit.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sanitize.h"
#include "base/sink.h"
#include "containers.h"

static cbi_span reduce, mathlib, image;

typedef struct heard {
    int errors;
    int warnings;
    int infos;
    char first_error[512];
    char first_help[512];
    char first_id[64];
} heard;

static void listen(void *user, const cb_diagnostic *d)
{
    heard *h = user;
    if (d->severity >= CB_SEV_ERROR) {
        if (h->errors++ == 0) {
            {
                snprintf(h->first_error, sizeof h->first_error, "%s", d->message);
                snprintf(h->first_help, sizeof h->first_help, "%s", d->help ? d->help : "");
            }
            snprintf(h->first_id, sizeof h->first_id, "%s", d->id);
        }
    } else if (d->severity == CB_SEV_WARNING) {
        h->warnings++;
    } else {
        h->infos++;
    }
}

static cb_link_options sample_options(void)
{
    cb_link_options options;
    cb_link_options_init(&options, sizeof options);
    options.arch = "sm_90";
    return options;
}

static void add_sample(cb_link *link)
{
    assert_int_equal(cb_link_add_memory(link, "reduce.cubin", reduce.data, reduce.size), CB_OK);
    assert_int_equal(cb_link_add_memory(link, "mathlib.cubin", mathlib.data, mathlib.size), CB_OK);
}

static cb_link *linked_sample(void)
{
    cb_link_options options = sample_options();
    cb_link *link;
    assert_int_equal(cb_link_create(&options, &link), CB_OK);
    add_sample(link);
    assert_int_equal(cb_link_run(link), CB_OK);
    return link;
}

static cbi_span image_of(const cb_link *link)
{
    const void *data;
    size_t size;
    assert_int_equal(cb_link_get_image(link, &data, &size), CB_OK);
    return (cbi_span){data, size};
}

static void expect_image(const cb_link *link)
{
    cbi_span got = image_of(link);
    assert_int_equal(got.size, image.size);
    assert_memory_equal(got.data, image.data, image.size);
}

static int load(void **state)
{
    (void)state;
    reduce = unit_read_file(unit_path("samples/reduce.cubin"));
    mathlib = unit_read_file(unit_path("samples/mathlib.cubin"));
    cb_link *link = linked_sample();
    cbi_span got = image_of(link);
    uint8_t *copy = malloc(got.size);
    memcpy(copy, got.data, got.size);
    image = (cbi_span){copy, got.size};
    cb_link_free(link);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    free((void *)reduce.data);
    free((void *)mathlib.data);
    free((void *)image.data);
    return 0;
}

static void files_and_memory_agree(void **state)
{
    (void)state;
    cb_link_options options = sample_options();
    cb_link *link;
    assert_int_equal(cb_link_create(&options, &link), CB_OK);
    assert_int_equal(cb_link_add_file(link, unit_path("samples/reduce.cubin")), CB_OK);
    assert_int_equal(cb_link_add_file(link, unit_path("samples/mathlib.cubin")), CB_OK);
    assert_int_equal(cb_link_run(link), CB_OK);
    expect_image(link);
    cb_link_free(link);
}

typedef struct pieces {
    cbi_ctx ctx;
    cbi_buf got;
} pieces;

static int collect(void *user, const void *data, size_t size)
{
    pieces *p = user;
    cbi_buf_append(&p->ctx, &p->got, data, size);
    return 0;
}

static int refuse(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return 1;
}

/* The same link through each of the five back ends of the writer, by way of the interface where it
 * offers one. */
static void one_link_through_all_sinks(void **state)
{
    (void)state;
    cb_link *link = linked_sample();

    pieces p = {0};
    cbi_ctx_init(&p.ctx);
    assert_int_equal(cb_link_write_callback(link, collect, &p), CB_OK);
    assert_int_equal(p.got.len, image.size);
    assert_memory_equal(p.got.items, image.data, image.size);
    assert_int_equal(cb_link_write_callback(link, refuse, NULL), CB_ERR_IO);

    uint8_t *buffer = malloc(image.size + 1);
    buffer[image.size] = 0x5a;
    size_t size = 77;
    assert_int_equal(cb_link_write_buffer(link, buffer, image.size - 1, &size), CB_ERR_USAGE);
    assert_int_equal(size, 77);
    assert_int_equal(cb_link_write_buffer(link, buffer, image.size, &size), CB_OK);
    assert_int_equal(size, image.size);
    assert_memory_equal(buffer, image.data, image.size);
    assert_int_equal(buffer[image.size], 0x5a);

    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/api-image-%ld", folder ? folder : ".", (long)getpid());
    assert_int_equal(cb_link_write_file(link, path), CB_OK);
    cbi_span file = unit_read_file(path);
    remove(path);
    assert_int_equal(file.size, image.size);
    assert_memory_equal(file.data, image.data, image.size);
    assert_int_equal(cb_link_write_file(link, "/no/such/folder/out"), CB_ERR_IO);

    assert_int_equal(cb_link_write_buffer(link, NULL, 1, &size), CB_ERR_USAGE);
    size = 0;
    assert_int_equal(cb_link_write_buffer(link, NULL, 0, &size), CB_OK);
    assert_int_equal(size, image.size);
    uint64_t count = 1;
    assert_int_equal(cb_link_write_callback(link, cb_write_to_count, &count), CB_OK);
    assert_int_equal(count, image.size + 1);
    count = UINT64_MAX;
    assert_int_equal(cb_link_write_callback(link, cb_write_to_count, &count), CB_ERR_IO);
    FILE *open_file = tmpfile();
    assert_int_equal(cb_link_write_callback(link, cb_write_to_stream, open_file), CB_OK);
    assert_int_equal(ftell(open_file), image.size);
    fclose(open_file);
    open_file = fopen("/dev/null", "r");
    assert_int_equal(cb_link_write_callback(link, cb_write_to_stream, open_file), CB_ERR_IO);
    fclose(open_file);

    cbi_sink counter = cbi_sink_counter();
    assert_true(cbi_sink_write(&counter, file.data, file.size));
    assert_int_equal(counter.written, image.size);
    FILE *stream = tmpfile();
    cbi_sink to_stream = cbi_sink_file(stream);
    assert_true(cbi_sink_write(&to_stream, file.data, file.size));
    rewind(stream);
    assert_int_equal(fread(buffer, 1, image.size + 1, stream), image.size);
    assert_memory_equal(buffer, image.data, image.size);
    fclose(stream);

    free((void *)file.data);
    free(buffer);
    cbi_ctx_fini(&p.ctx);
    cb_link_free(link);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    cb_link *link = NULL;
    cb_link_options o = sample_options();
    assert_int_equal(cb_link_create(NULL, &link), CB_ERR_USAGE);
    assert_int_equal(cb_link_create(&o, NULL), CB_ERR_USAGE);
    o.arch = NULL;
    assert_int_equal(cb_link_create(&o, &link), CB_ERR_USAGE);
    o.arch = "sm_91";
    assert_int_equal(cb_link_create(&o, &link), CB_ERR_USAGE);
    o.arch = "sm_90";
    o.flags = UINT64_C(1) << 63;
    assert_int_equal(cb_link_create(&o, &link), CB_ERR_USAGE);
    o.flags = 0;
    o.struct_size = 4;
    assert_int_equal(cb_link_create(&o, &link), CB_ERR_USAGE);
    o = sample_options();
    o.kernels_used_count = 1;
    assert_int_equal(cb_link_create(&o, &link), CB_ERR_USAGE);
    o = sample_options();
    o.allocator.alloc = unit_heap_alloc;
    assert_int_equal(cb_link_create(&o, &link), CB_ERR_USAGE);
    assert_null(link);
    cb_link_free(NULL);
}

static void older_and_newer_callers_work(void **state)
{
    (void)state;
    struct {
        cb_link_options options;
        uint64_t later_member;
    } newer = {0};
    cb_link_options_init(&newer.options, sizeof newer);
    assert_int_equal(newer.options.struct_size, sizeof newer);
    newer.options.arch = "sm_90";
    cb_link *link;
    assert_int_equal(cb_link_create(&newer.options, &link), CB_OK);
    cb_link_free(link);
    newer.later_member = 1;
    assert_int_equal(cb_link_create(&newer.options, &link), CB_ERR_USAGE);

    cb_link_options older = sample_options();
    older.struct_size = offsetof(cb_link_options, allocator);
    older.memory_limit = 1; /* beyond the older structure: must be ignored */
    assert_int_equal(cb_link_create(&older, &link), CB_OK);
    add_sample(link);
    assert_int_equal(cb_link_run(link), CB_OK);
    expect_image(link);
    cb_link_free(link);
}

static void wrong_order_is_refused(void **state)
{
    (void)state;
    cb_link_options o = sample_options();
    cb_link *link;
    const void *data = NULL;
    size_t size = 5;
    uint8_t byte;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    assert_int_equal(cb_link_run(link), CB_ERR_USAGE);
    assert_int_equal(cb_link_add_file(link, NULL), CB_ERR_USAGE);
    assert_int_equal(cb_link_add_memory(link, "x", NULL, 1), CB_ERR_USAGE);
    assert_int_equal(cb_link_add_memory(link, NULL, "x", 1), CB_ERR_USAGE);
    assert_int_equal(cb_link_get_image(link, &data, &size), CB_ERR_USAGE);
    assert_int_equal(cb_link_write_buffer(link, &byte, 1, &size), CB_ERR_USAGE);
    assert_int_equal(cb_link_write_file(link, "x"), CB_ERR_USAGE);
    assert_int_equal(cb_link_write_callback(link, refuse, NULL), CB_ERR_USAGE);
    assert_null(data);
    assert_int_equal(size, 5);
    add_sample(link);
    assert_int_equal(cb_link_run(link), CB_OK);
    assert_int_equal(cb_link_run(link), CB_ERR_USAGE);
    assert_int_equal(cb_link_add_file(link, "late.cubin"), CB_ERR_USAGE);
    expect_image(link);
    cb_link_free(link);
}

static void keep_help(void *user, const cb_diagnostic *d)
{
    snprintf(user, 200, "%s: %s", d->id, d->help ? d->help : "");
}

/* What is missing is said in the words of this interface. */
static void what_is_missing_is_explained(void **state)
{
    (void)state;
    char help[200] = "";
    cb_link_options o = sample_options();
    o.on_diagnostic = keep_help;
    o.on_diagnostic_user = help;
    cb_link *link;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    assert_int_equal(cb_link_run(link), CB_ERR_USAGE);
    assert_non_null(strstr(help, "no-input: add files or bytes first"));
    add_sample(link);
    assert_int_equal(cb_link_add_library(link, "absent"), CB_OK);
    assert_int_equal(cb_link_run(link), CB_OK);
    assert_non_null(strstr(help, "cb_link_options.library_paths"));
    expect_image(link);
    cb_link_free(link);
}

static void failures_are_explained(void **state)
{
    (void)state;
    heard h = {0};
    cb_link_options o = sample_options();
    o.on_diagnostic = listen;
    o.on_diagnostic_user = &h;
    cb_link *link;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    assert_int_equal(cb_link_add_memory(link, "reduce.cubin", reduce.data, reduce.size), CB_OK);
    cb_status status = cb_link_run(link);
    assert_true(status == CB_ERR_LINK || status == CB_ERR_FATAL);
    assert_true(h.errors > 0);
    assert_non_null(strstr(h.first_error, "Undefined reference"));
    const void *data;
    size_t size;
    assert_int_equal(cb_link_get_image(link, &data, &size), CB_ERR_USAGE);
    cb_link_free(link);

    static const char ptx[] = ".version 9.0\n.target sm_90\n.address_size 64\n";
    h = (heard){0};
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    assert_int_equal(cb_link_add_memory(link, "a.ptx", ptx, sizeof ptx - 1), CB_OK);
    assert_int_equal(cb_link_run(link), CB_ERR_UNSUPPORTED);
    assert_int_equal(h.errors, 1);
    assert_non_null(strstr(h.first_help, "cb_link_options.ptxas_path"));
    cb_link_free(link);

    h = (heard){0};
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    assert_int_equal(cb_link_add_file(link, "/no/such/file.cubin"), CB_OK);
    assert_int_not_equal(cb_link_run(link), CB_OK);
    assert_true(h.errors > 0);
    cb_link_free(link);
}

static void collect_notes(void *user, const cb_diagnostic *d)
{
    char *said = user;
    if (strcmp(d->id, "assembler") == 0)
        strncat(said, d->message, 511 - strlen(said));
}

/* The assembler is a script that says what it was given, and fails. */
static void options_reach_the_assembler(void **state)
{
    (void)state;
    static const char ptx[] = ".version 9.0\n.target sm_90\n.address_size 64\n";
    static const char *const more[] = {"-O1", "--verbose"};
    char path[512], said[512] = " ";
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/ptxas-%ld", folder ? folder : "/tmp", (long)getpid());
    FILE *script = fopen(path, "w");
    assert_non_null(script);
    fputs("#!/bin/sh\nprintf '%s ' \"$@\"\necho\nexit 1\n", script);
    fclose(script);
    assert_int_equal(chmod(path, 0700), 0);
    cb_link_options o = sample_options();
    o.on_diagnostic = collect_notes;
    o.on_diagnostic_user = said;
    o.ptxas_path = path;
    o.cache_path = "";
    o.max_registers = 40;
    o.ptxas_options = more;
    o.ptxas_option_count = CBI_COUNT(more);
    cb_link *link;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    assert_int_equal(cb_link_add_memory(link, "a.ptx", ptx, sizeof ptx - 1), CB_OK);
    assert_int_equal(cb_link_run(link), CB_ERR_FATAL);
    cb_link_free(link);
    unlink(path);
    assert_non_null(strstr(said, "-arch=sm_90 "));
    assert_non_null(strstr(said, "-maxrregcount=40 "));
    assert_non_null(strstr(said, " -O1 --verbose "));
}

static void lto_ir_needs_a_compiler(void **state)
{
    (void)state;
    heard h = {0};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_span lto = unit_fatbin(&ctx, FATBIN_KIND_LTOIR, 90, unit_text("no real LTO-IR"));
    cb_link_options o = sample_options();
    o.on_diagnostic = listen;
    o.on_diagnostic_user = &h;
    o.nvjitlink_path = "/no/such/library.so";
    cb_link *link;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    assert_int_equal(cb_link_add_memory(link, "l", lto.data, lto.size), CB_OK);
    assert_int_equal(cb_link_run(link), CB_ERR_UNSUPPORTED);
    assert_non_null(strstr(h.first_help, "CB_LINK_LTO"));
    cb_link_free(link);
    h = (heard){0};
    o.flags = CB_LINK_LTO;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    assert_int_equal(cb_link_add_memory(link, "l", lto.data, lto.size), CB_OK);
    assert_int_equal(cb_link_run(link), CB_ERR_UNSUPPORTED);
    assert_int_equal(h.errors, 1);
    assert_non_null(strstr(h.first_help, "cb_link_options.nvjitlink_path"));
    cb_link_free(link);
    cbi_ctx_fini(&ctx);
}

static void nothing_to_link_is_an_error(void **state)
{
    (void)state;
    static const char text[] = "Just a text, and long enough to be an input.  It holds no code.\n";
    heard h = {0};
    cb_link_options o = sample_options();
    o.on_diagnostic = listen;
    o.on_diagnostic_user = &h;
    for (int allowed = 0; allowed < 2; allowed++) {
        cb_link *link;
        o.flags = allowed ? CB_LINK_ALLOW_EMPTY : 0;
        assert_int_equal(cb_link_create(&o, &link), CB_OK);
        assert_int_equal(cb_link_add_memory(link, "text", text, sizeof text), CB_OK);
        assert_int_equal(cb_link_run(link), allowed ? CB_OK : CB_ERR_FORMAT);
        assert_int_equal(h.errors, 1);
        assert_non_null(strstr(h.first_error, "no device code"));
        cb_link_free(link);
    }
    h = (heard){0};
    o.arch = "sm_91";
    cb_link *link;
    assert_int_equal(cb_link_create(&o, &link), CB_ERR_USAGE);
    assert_non_null(strstr(h.first_error, "sm_91"));
}

/* A golden fixture through the library: nvlink's bytes. */
static void emulation_gives_the_bytes_of_nvlink(void **state)
{
    (void)state;
    cb_link_options o = sample_options();
    o.flags = CB_LINK_EMULATE_NVLINK;
    cb_link *link;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    const char *inputs[] = {"tests/golden/alias-90-default/in/a.cubin",
                            "tests/golden/alias-90-default/in/b.cubin"};
    for (size_t i = 0; i < CBI_COUNT(inputs); i++)
        assert_int_equal(cb_link_add_file(link, unit_path(inputs[i])), CB_OK);
    assert_int_equal(cb_link_run(link), CB_OK);
    cbi_span want = unit_read_file(unit_path("tests/golden/alias-90-default/expected.cubin"));
    cbi_span got = image_of(link);
    assert_int_equal(got.size, want.size);
    assert_memory_equal(got.data, want.data, want.size);
    free((void *)want.data);
    cb_link_free(link);
}

static void strings_of_options_are_copied(void **state)
{
    (void)state;
    char arch[] = "sm_90", kernel[] = "block_sum";
    const char *kernels[] = {kernel};
    cb_link_options o = sample_options();
    o.arch = arch;
    o.kernels_used = kernels;
    o.kernels_used_count = 1;
    cb_link *link;
    assert_int_equal(cb_link_create(&o, &link), CB_OK);
    memset(arch, 'x', sizeof arch - 1);
    memset(kernel, 'x', sizeof kernel - 1);
    kernels[0] = NULL;
    char name[] = "reduce.cubin";
    assert_int_equal(cb_link_add_memory(link, name, reduce.data, reduce.size), CB_OK);
    memset(name, 'x', sizeof name - 1);
    assert_int_equal(cb_link_add_memory(link, "mathlib", mathlib.data, mathlib.size), CB_OK);
    assert_int_equal(cb_link_run(link), CB_OK);
    assert_true(image_of(link).size < image.size); /* smooth_line is gone */
    cb_link_free(link);
}

/* Creates, adds and runs on that heap; the first status that is not CB_OK. */
static cb_status link_on(unit_heap *heap, size_t memory_limit)
{
    cb_link_options o = sample_options();
    o.allocator = (cb_allocator){unit_heap_alloc, unit_heap_free, heap};
    o.memory_limit = memory_limit;
    cb_link *link;
    cb_status status = cb_link_create(&o, &link);
    if (status != CB_OK)
        return status;
    status = cb_link_add_memory(link, "reduce.cubin", reduce.data, reduce.size);
    if (status == CB_OK)
        status = cb_link_add_memory(link, "mathlib.cubin", mathlib.data, mathlib.size);
    if (status == CB_OK)
        status = cb_link_run(link);
    if (status == CB_OK)
        expect_image(link);
    cb_link_free(link);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        unit_heap heap = {.fail_at = n};
        cb_status status = link_on(&heap, 0);
        assert_int_equal(heap.live, 0);
        assert_int_equal(heap.live_bytes, 0);
        if (status == CB_OK)
            break;
        assert_int_equal(status, CB_ERR_NOMEM);
        failures++;
        assert_true(n < 100000);
    }
    assert_true(failures >= 2);
}

static void the_memory_limit_is_kept(void **state)
{
    (void)state;
    unit_heap heap = {0};
    assert_int_equal(link_on(&heap, 0), CB_OK);
    heap = (unit_heap){0};
    assert_int_equal(link_on(&heap, 64 * 1024), CB_ERR_NOMEM);
    assert_int_equal(heap.live, 0);
    heap = (unit_heap){0};
    assert_int_equal(link_on(&heap, (size_t)1 << 30), CB_OK);
}

static void *link_many_times(void *arg)
{
    bool *ret_same = arg;
    for (int i = 0; i < 25; i++) {
        cb_link *link = linked_sample();
        cbi_span got = image_of(link);
        if (got.size != image.size || memcmp(got.data, image.data, got.size) != 0)
            *ret_same = false;
        cb_link_free(link);
    }
    return NULL;
}

static void threads_do_not_meet(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    bool same[THREADS];
    for (int i = 0; i < THREADS; i++) {
        same[i] = true;
        assert_int_equal(pthread_create(&threads[i], NULL, link_many_times, &same[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(same[i]);
    }
}

/* Reads a file, links and writes on what little stack a thread has. */
static void *link_files(void *arg)
{
    const char *const *paths = arg; /* two inputs, the output */
    cb_link_options options = sample_options();
    cb_link *link;
    if (cb_link_create(&options, &link) != CB_OK)
        return NULL;
    bool done = cb_link_add_file(link, paths[0]) == CB_OK &&
                cb_link_add_file(link, paths[1]) == CB_OK && cb_link_run(link) == CB_OK &&
                cb_link_write_file(link, paths[2]) == CB_OK;
    cb_link_free(link);
    return done ? arg : NULL;
}

static void a_small_stack_is_enough(void **state)
{
    (void)state;
    if (CBI_SANITIZES_ADDRESSES) {
        print_message("skip small stack: the address sanitizer spreads objects over the stack\n");
        skip();
    }
    char output[512];
    const char *folder = getenv("TMPDIR");
    snprintf(output, sizeof output, "%s/small-stack.cubin", folder ? folder : ".");
    const char *paths[] = {SOURCE_ROOT "/samples/reduce.cubin",
                           SOURCE_ROOT "/samples/mathlib.cubin", output};
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, (size_t)64 * 1024), 0);
    assert_int_equal(pthread_create(&thread, &attributes, link_files, paths), 0);
    pthread_join(thread, &result);
    pthread_attr_destroy(&attributes);
    unlink(output);
    assert_ptr_equal(result, paths);
}

static void finalizing_moves_to_the_family_or_says_why_not(void **state)
{
    (void)state;
    cb_finalize_options o = {.struct_size = sizeof o, .arch = "sm_100"};
    cbi_span input = unit_read_file(unit_path("tests/golden/statics-100-default/expected.cubin"));
    pieces p = {0};
    cbi_ctx_init(&p.ctx);
    cb_finalize_result code = CB_FINALIZE_TOO_NEW;
    assert_int_equal(cb_finalize(&o, "in", input.data, input.size, collect, &p, &code), CB_OK);
    assert_int_equal(code, 0);
    assert_true(p.got.len > 64);
    assert_int_equal(cb_finalize(&o, "in", input.data, input.size, refuse, NULL, &code), CB_ERR_IO);
    uint64_t count = 0;
    assert_int_equal(
        cb_finalize(&o, NULL, input.data, input.size, cb_write_to_count, &count, &code), CB_OK);
    assert_int_equal(count, p.got.len);
    o.arch = "sm_120";
    assert_int_equal(cb_finalize(&o, "in", input.data, input.size, refuse, NULL, &code),
                     CB_ERR_UNSUPPORTED);
    assert_int_equal(code, CB_FINALIZE_UNREACHABLE);
    assert_int_equal(cb_finalize(&o, "in", "no ELF", 6, refuse, NULL, &code), CB_ERR_FORMAT);
    assert_int_equal(code, 6);
    o.arch = "sm_1";
    assert_int_equal(cb_finalize(&o, "in", input.data, input.size, refuse, NULL, NULL),
                     CB_ERR_USAGE);
    cbi_ctx_fini(&p.ctx);
    free((void *)input.data);
}

typedef struct back_end_run {
    size_t compiled, lines;
} back_end_run;

static int reaches_103(void *user, unsigned from_sm, const char *target)
{
    (void)user;
    return from_sm == 100 && strcmp(target, "sm_103") == 0;
}

static int keeps_code(void *user, const cb_finalize_function *function, cb_finalize_code *ret_code)
{
    back_end_run *run = user;
    assert_int_equal(function->struct_size, sizeof *function);
    assert_true(function->name && function->sass_size && function->capsule_size);
    assert_int_equal(function->opt_level, 3);
    run->compiled++;
    *ret_code = (cb_finalize_code){function->sass, function->sass_size, function->capsule,
                                   function->capsule_size};
    return 0;
}

static void count_trace(void *user, const cb_diagnostic *diagnostic)
{
    back_end_run *run = user;
    run->lines += strcmp(diagnostic->id, "finalizer-trace") == 0;
}

static void finalizing_asks_the_back_end(void **state)
{
    (void)state;
    back_end_run run = {0};
    cb_finalize_backend backend = {sizeof backend, "test", reaches_103, keeps_code, &run};
    cb_finalize_options o = {.struct_size = sizeof o,
                             .arch = "sm_103",
                             .flags = CB_FINALIZE_TRACE,
                             .on_diagnostic = count_trace,
                             .on_diagnostic_user = &run,
                             .options = "--fastpath-off --opt-level=3",
                             .backend = &backend};
    cbi_span input = unit_read_file(unit_path("tests/golden/statics-100-default/expected.cubin"));
    pieces p = {0};
    cbi_ctx_init(&p.ctx);
    cb_finalize_result code = CB_FINALIZE_TOO_NEW;
    assert_int_equal(cb_finalize(&o, "in", input.data, input.size, collect, &p, &code), CB_OK);
    assert_true(run.compiled > 0 && run.lines > 5);
    o.arch = "sm_100f";
    assert_int_equal(cb_finalize(&o, "in", input.data, input.size, refuse, NULL, &code),
                     CB_ERR_UNSUPPORTED);
    backend.compile = NULL;
    assert_int_equal(cb_finalize(&o, "in", input.data, input.size, refuse, NULL, &code),
                     CB_ERR_USAGE);
    o.struct_size = offsetof(cb_finalize_options, options); /* a caller of the first version */
    assert_int_equal(cb_finalize(&o, "in", input.data, input.size, collect, &p, &code), CB_OK);
    o.struct_size--;
    assert_int_equal(cb_finalize(&o, "in", input.data, input.size, refuse, NULL, &code),
                     CB_ERR_USAGE);
    cbi_ctx_fini(&p.ctx);
    free((void *)input.data);
}

static void words(void **state)
{
    (void)state;
    char version[64];
    snprintf(version, sizeof version, "%d.%d.%d", CB_VERSION_MAJOR, CB_VERSION_MINOR,
             CB_VERSION_PATCH);
    assert_string_equal(cb_version_string(), version);
    for (int i = CB_OK; i <= CB_ERR_FATAL; i++)
        assert_string_not_equal(cb_status_string((cb_status)i), "unknown status");
    assert_string_equal(cb_status_string((cb_status)12345), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_memory_agree),
        cmocka_unit_test(one_link_through_all_sinks),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(older_and_newer_callers_work),
        cmocka_unit_test(wrong_order_is_refused),
        cmocka_unit_test(failures_are_explained),
        cmocka_unit_test(what_is_missing_is_explained),
        cmocka_unit_test(options_reach_the_assembler),
        cmocka_unit_test(lto_ir_needs_a_compiler),
        cmocka_unit_test(nothing_to_link_is_an_error),
        cmocka_unit_test(emulation_gives_the_bytes_of_nvlink),
        cmocka_unit_test(strings_of_options_are_copied),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_memory_limit_is_kept),
        cmocka_unit_test(threads_do_not_meet),
        cmocka_unit_test(a_small_stack_is_enough),
        cmocka_unit_test(finalizing_moves_to_the_family_or_says_why_not),
        cmocka_unit_test(finalizing_asks_the_back_end),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests_name("api", tests, load, unload);
}
