/* inspect.h: containers, images, functions, lines, and what happens when memory runs out. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>

#include "containers.h"
#include "cubind/inspect.h"

enum { MEMBERS = 40, THREADS = 4 };

static cbi_ctx ctx; /* of what the tests put together */

static int begin(void **state)
{
    (void)state;
    cbi_ctx_init(&ctx);
    return 0;
}

static int end(void **state)
{
    (void)state;
    cbi_ctx_fini(&ctx);
    return 0;
}

static cbi_span sample(const char *path)
{
    cbi_span bytes = unit_read_file(unit_path(path));
    cbi_span copy = {cbi_memdup(&ctx, bytes.data, bytes.size), bytes.size};
    free((void *)bytes.data);
    return copy;
}

/* Host objects with a fatbin each, in an archive. */
static cbi_span archive(void)
{
    cbi_span fatbin = unit_fatbin(&ctx, FATBIN_KIND_ELF, 90, sample("samples/reduce.cubin"));
    cbi_span host = unit_host(&ctx, fatbin, "id", (cbi_span){NULL, 0});
    cbi_buf out = {0};
    cbi_buf_append(&ctx, &out, "!<arch>\n", 8);
    for (int i = 0; i < MEMBERS; i++)
        unit_member(&ctx, &out, cbi_printf(&ctx, "m%d.o/", i), cbi_printf(&ctx, "%zu", host.size),
                    host);
    return (cbi_span){out.items, out.len};
}

static cb_container *open_bytes(cbi_span bytes, const cb_inspect_options *options)
{
    cb_container *container = NULL;
    assert_int_equal(cb_container_open_memory(options, "x", bytes.data, bytes.size, &container),
                     CB_OK);
    return container;
}

static void containers_list_their_images(void **state)
{
    (void)state;
    cb_container *c = open_bytes(archive(), NULL);
    assert_int_equal(cb_container_content(c), CB_CONTENT_ARCHIVE);
    assert_int_equal(cb_container_count(c), MEMBERS);
    assert_int_equal(cb_container_error_count(c), 0);
    const cb_image_info *info = cb_container_info(c, 3);
    assert_string_equal(info->file, "x:m3.o");
    assert_int_equal(info->fatbin, 3);
    assert_int_equal(info->kind, CB_IMAGE_CUBIN);
    assert_string_equal(info->arch, "sm_90");
    assert_null(cb_container_info(c, MEMBERS));
    cb_image *image;
    assert_int_equal(cb_image_open(c, MEMBERS, &image), CB_ERR_USAGE);
    assert_int_equal(cb_image_open(c, 3, &image), CB_OK);
    assert_string_equal(cb_image_name(image), "x:m3.o:3.sm_90");
    cb_container_close(c);
    assert_string_equal(cb_image_get_info(image)->file, "x:m3.o"); /* it outlives the container */
    assert_int_equal(cb_image_header(image)->sm, 90);
    cb_image_close(image);
    cb_image_close(NULL);
    cb_container_close(NULL);
}

static void other_files_have_no_images(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        cb_content content;
        size_t count;
    } rows[] = {
        {"", CB_CONTENT_EMPTY, 0},
        {"hello", CB_CONTENT_UNKNOWN, 0},
        {".version 9.0\n.target sm_90\n", CB_CONTENT_PTX, 1},
        {"!<arch>\n", CB_CONTENT_ARCHIVE, 0},
        {"BC\300\336", CB_CONTENT_BITCODE, 0},
    };
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        cb_container *c = open_bytes(unit_text(rows[i].bytes), NULL);
        assert_int_equal(cb_container_content(c), rows[i].content);
        assert_int_equal(cb_container_count(c), rows[i].count);
        assert_non_null(cb_content_text(rows[i].content));
        cb_container_close(c);
    }
    cb_container *c = NULL;
    assert_int_equal(cb_container_open(NULL, unit_path("no such file"), &c), CB_ERR_IO);
    assert_int_equal(errno, ENOENT);
    cb_inspect_options wrong = {.struct_size = 1};
    assert_int_equal(cb_container_open_memory(&wrong, "x", "", 0, &c), CB_ERR_USAGE);
    assert_null(c);
}

static void count_damage(void *user, const cb_diagnostic *d)
{
    assert_non_null(d->message);
    ++*(size_t *)user;
}

static void damage_is_reported_and_passed(void **state)
{
    (void)state;
    cbi_span bytes = archive();
    size_t said = 0;
    const cb_inspect_options options = {
        .struct_size = sizeof options, .on_diagnostic = count_damage, .on_diagnostic_user = &said};
    cb_container *c = open_bytes((cbi_span){bytes.data, bytes.size / 2}, &options);
    assert_true(cb_container_error_count(c) > 0);
    assert_int_equal(said, cb_container_error_count(c));
    assert_true(cb_container_count(c) > MEMBERS / 4);
    cb_container_close(c);
    /* an entry whose compressed data is no such data */
    cbi_span whole = unit_fatbin(&ctx, FATBIN_KIND_ELF, 90, unit_text("0123456789abcdef"));
    uint8_t *fatbin = cbi_memdup(&ctx, whole.data, whole.size);
    uint8_t *entry = fatbin + FATBIN_HEADER_SIZE;
    cbi_st32(entry + FATBIN_ENTRY_COMPRESSED_SIZE, 16);
    cbi_st64(entry + FATBIN_ENTRY_UNCOMPRESSED_SIZE, 64);
    cbi_st64(entry + FATBIN_ENTRY_FLAGS, cbi_ld64(entry + FATBIN_ENTRY_FLAGS) | FATBIN_FLAG_ZSTD);
    c = open_bytes((cbi_span){fatbin, whole.size}, &options);
    assert_int_equal(cb_container_count(c), 1);
    said = 0;
    cb_image *image = NULL;
    assert_int_equal(cb_image_open(c, 0, &image), CB_ERR_FORMAT);
    assert_null(image);
    assert_int_equal(said, 1);
    cb_container_close(c);
}

/* ---- threads ---- */

typedef struct share {
    const cb_container *container;
    size_t first;
    size_t functions;
} share;

static void *look_at_share(void *arg)
{
    share *s = arg;
    for (size_t i = s->first; i < cb_container_count(s->container); i += THREADS) {
        cb_image *image;
        if (cb_image_open(s->container, i, &image) != CB_OK)
            return NULL;
        s->functions += cb_image_function_count(image) + cb_image_finding_count(image);
        cb_image_close(image);
    }
    return NULL;
}

static void images_open_in_many_threads(void **state)
{
    (void)state;
    cb_container *c = open_bytes(archive(), NULL);
    share shares[THREADS], alone = {.container = c};
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        shares[i] = (share){c, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, look_at_share, &shares[i]), 0);
    }
    size_t functions = 0;
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        functions += shares[i].functions;
    }
    for (alone.first = 0; alone.first < THREADS; alone.first++)
        look_at_share(&alone);
    assert_true(functions >= MEMBERS);
    assert_int_equal(functions, alone.functions);
    cb_container_close(c);
}

/* ---- memory ---- */

/* All tables of all images; false if something could not be had. */
static bool walk(const cb_inspect_options *options, cbi_span bytes)
{
    cb_container *c = NULL;
    if (cb_container_open_memory(options, "x", bytes.data, bytes.size, &c) != CB_OK)
        return false;
    bool done = true;
    cb_image *image = NULL;
    cb_status status = cb_image_open(c, 0, &image);
    done &= status == CB_OK;
    if (image) {
        cb_image_symbol_count(image, CB_VIEW_SASS);
        cb_image_relocation_count(image);
        cb_image_attribute_count(image);
        cb_image_line_count(image, CB_LINES_PTX);
        cb_image_frame(image, 1, 0, 0);
        cb_image_finding_count(image);
        cb_image_demangle(image, "_Z4kernPii");
        cb_diff *diff = NULL;
        status = cb_diff_create(image, image, 0, &diff);
        done &= status == CB_OK && cb_image_status(image) == CB_OK;
        assert_true(status == CB_OK || status == CB_ERR_NOMEM);
        cb_diff_free(diff);
    }
    cb_image_close(image);
    cb_container_close(c);
    return done;
}

/* Every request for memory fails once; nothing is lost, and nothing goes on as if all were well. */
static void memory_runs_out(void **state)
{
    (void)state;
    cbi_span bytes = sample("tests/golden/lineinfo-90-default/expected.cubin");
    bool done = false;
    for (size_t at = 1; !done && at < 1000; at++) {
        unit_heap heap = {.fail_at = at};
        const cb_inspect_options options = {
            .struct_size = sizeof options,
            .allocator = {unit_heap_alloc, unit_heap_free, &heap},
        };
        done = walk(&options, bytes);
        assert_int_equal(heap.live, 0);
        assert_int_equal(heap.live_bytes, 0);
        assert_true(done == (heap.requests < at));
    }
    assert_true(done);
    const cb_inspect_options limited = {.struct_size = sizeof limited, .memory_limit = 40000};
    assert_false(walk(&limited, bytes));
}

/* ---- functions and lines ---- */

static void functions_have_places_and_lines(void **state)
{
    (void)state;
    cbi_span bytes = sample("tests/golden/lineinfo-90-default/expected.cubin");
    cb_image *image;
    assert_int_equal(cb_image_open_memory(NULL, "x", bytes.data, bytes.size, &image), CB_OK);
    size_t lines = 0;
    for (size_t i = 0; i < cb_image_function_count(image); i++) {
        const cb_function *f = cb_image_function(image, i);
        assert_ptr_equal(cb_image_find_function(image, f->name), f);
        assert_ptr_equal(cb_image_function_at(image, f->section, f->offset), f);
        assert_ptr_equal(cb_image_function_at(image, f->section, f->offset + f->code_size - 1), f);
        assert_true(f->code_size % 16 == 0 && f->code);
        uint64_t offset = 0;
        const cb_section *s = cb_image_section(image, f->section);
        assert_int_equal(cb_image_section_at(image, s->offset + f->offset, &offset), f->section);
        assert_int_equal(offset, f->offset);
        lines += cb_image_frame(image, f->section, f->offset, 0) != NULL;
    }
    assert_true(lines > 0);
    assert_null(cb_image_function_at(image, 1, 0));
    assert_null(cb_image_frame(image, 1, 0, 0));
    assert_null(cb_image_find_function(image, "no such function"));
    for (size_t i = 0; i < cb_image_line_count(image, CB_LINES_SOURCE); i++) {
        const cb_line *line = cb_image_line(image, CB_LINES_SOURCE, i);
        assert_true(line->caller == CB_NONE || line->caller < i);
        assert_true(line->end >= line->offset);
    }
    cb_image_close(image);
}

/* Every relocation, symbol and attribute points to something that is there. */
static void indices_are_in_range(void **state)
{
    (void)state;
    static const char *const files[] = {"tests/golden/fnptr-global-100-r/expected.cubin",
                                        "tests/golden/texref-unified-75-default/expected.cubin",
                                        "tests/golden/cluster-90-default/expected.cubin"};
    for (size_t k = 0; k < CBI_COUNT(files); k++) {
        cbi_span bytes = sample(files[k]);
        cb_image *image;
        assert_int_equal(cb_image_open_memory(NULL, "x", bytes.data, bytes.size, &image), CB_OK);
        size_t sections = cb_image_section_count(image);
        for (size_t i = 0; i < cb_image_relocation_count(image); i++) {
            const cb_relocation *r = cb_image_relocation(image, i);
            assert_non_null(cb_image_symbol(image, r->view, r->symbol));
            assert_true(r->section < sections && r->target < sections && r->name && r->fields);
        }
        for (size_t i = 0; i < cb_image_attribute_count(image); i++) {
            const cb_attribute *a = cb_image_attribute(image, i);
            assert_non_null(a->name);
            assert_true(a->section < sections);
            if (a->function != CB_NONE)
                assert_non_null(cb_image_symbol(image, a->view, a->function));
        }
        for (size_t i = 0; i < cb_image_call_count(image); i++)
            assert_true(cb_image_call(image, i)->from != NULL);
        assert_int_equal(cb_image_header(image)->toolkit, 130);
        cb_image_close(image);
    }
}

/* Programs that were built with an older header read these places: members are added at the end and
 * none ever moves.  A row is the member that was last in version 1. */
static void records_keep_their_form(void **state)
{
    (void)state;
#define RECORD(type, member) #type "." #member, offsetof(type, member)
    static const struct {
        const char *member;
        size_t is, was;
    } rows[] = {
        {RECORD(cb_inspect_options, memory_limit), 48},
        {RECORD(cb_image_info, obfuscated), 96},
        {RECORD(cb_header, virtual_sm), 98},
        {RECORD(cb_segment, align), 40},
        {RECORD(cb_section, view), 88},
        {RECORD(cb_symbol, section_name), 72},
        {RECORD(cb_reloc_field, source), 8},
        {RECORD(cb_relocation, fields), 88},
        {RECORD(cb_param, symbol), 24},
        {RECORD(cb_attribute, param), 112},
        {RECORD(cb_compat, value), 24},
        {RECORD(cb_note, options), 80},
        {RECORD(cb_call, to), 24},
        {RECORD(cb_unified, symbol), 32},
        {RECORD(cb_function, params), 168},
        {RECORD(cb_frame, line), 16},
        {RECORD(cb_line, caller), 48},
        {RECORD(cb_capsule_field, sass), 16},
        {RECORD(cb_capsule_entry, field_count), 64},
        {RECORD(cb_capsule, count), 104},
        {RECORD(cb_rule, note), 16},
        {RECORD(cb_finding, note), 40},
        {RECORD(cb_difference, b), 40},
    };
#undef RECORD
    for (size_t i = 0; i < CBI_COUNT(rows); i++)
        if (rows[i].is != rows[i].was)
            fail_msg("%s is at %zu, was at %zu", rows[i].member, rows[i].is, rows[i].was);
    assert_int_equal(CB_INSPECT_VERSION, 1);
    assert_int_equal(CB_CONTENT_BITCODE, 9);
    assert_int_equal(CB_ATTR_ANNOTATION, 14);
    assert_int_equal(CB_STATE_NOT_DEVICE, 4);
}

static void rules_are_listed(void **state)
{
    (void)state;
    size_t count = 0;
    while (cb_check_rule(count))
        count++;
    assert_true(count > 80);
    assert_string_equal(cb_check_rule(0)->id, "header-range");
    assert_string_equal(cb_check_rule(count - 1)->id, "unified-table");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_list_their_images),
        cmocka_unit_test(other_files_have_no_images),
        cmocka_unit_test(damage_is_reported_and_passed),
        cmocka_unit_test(images_open_in_many_threads),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(functions_have_places_and_lines),
        cmocka_unit_test(indices_are_in_range),
        cmocka_unit_test(records_keep_their_form),
        cmocka_unit_test(rules_are_listed),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
