/* Archives of every flavour, and damaged ones. */
#include "unit.h"

#include "containers.h"
#include "input/archive.h"
#include "input/slices.h"

typedef struct fixture {
    unit_heap heap;
    cbi_ctx ctx;
    cbi_buf archive;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    unit_ctx_init(&f->ctx, &f->heap);
    cbi_buf_append(&f->ctx, &f->archive, "!<arch>\n", 8);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cbi_ctx_fini(&f->ctx);
    size_t live = f->heap.live;
    free(f);
    return (int)live;
}

static cbi_span bytes_of(const fixture *f)
{
    return (cbi_span){f->archive.items, f->archive.len};
}

/* "name=text name=text!" with the outcome at the end: '.' end, '!' bad header, '?' no long name. */
static const char *listing(fixture *f, cbi_span bytes, bool lenient)
{
    cbi_ctx *ctx = &f->ctx;
    cbi_archive archive = cbi_archive_open(bytes);
    cbi_member m;
    cbi_buf out = {0};
    cbi_archive_step step;
    while ((step = cbi_archive_next(ctx, &archive, lenient, &m)) == CBI_ARCHIVE_MEMBER)
        cbi_buf_printf(ctx, &out, "%s=%.*s%s ", m.name, (int)m.bytes.size,
                       (const char *)m.bytes.data, m.cut_off ? "(cut)" : "");
    cbi_buf_append(ctx, &out,
                   step == CBI_ARCHIVE_END          ? "."
                   : step == CBI_ARCHIVE_BAD_HEADER ? "!"
                                                    : "?",
                   2);
    return (const char *)out.items;
}

static void test_system_v(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    unit_member(ctx, &f->archive, "/", NULL, unit_text("symbols"));
    unit_member(ctx, &f->archive, "//", NULL, unit_text("a_very_long_member_name.o/\nother/\n"));
    unit_member(ctx, &f->archive, "short.o/", NULL, unit_text("odd"));
    unit_member(ctx, &f->archive, "/0", NULL, unit_text("even"));
    unit_member(ctx, &f->archive, "/27", NULL, unit_text(""));
    unit_member(ctx, &f->archive, "/SYM64/", NULL, unit_text("more"));
    const char *all = "short.o=odd a_very_long_member_name.o=even other= .";
    assert_string_equal(listing(f, bytes_of(f), false), all);
    assert_string_equal(listing(f, bytes_of(f), true), all);
}

static void test_bsd(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    unit_member(ctx, &f->archive, "__.SYMDEF", NULL, unit_text("symbols!"));
    unit_member(ctx, &f->archive, "#1/8", NULL, (cbi_span){(const uint8_t *)"long.o\0\0data", 12});
    unit_member(ctx, &f->archive, "plain.o", NULL, unit_text("text"));
    unit_member(ctx, &f->archive, "#1/20", NULL, unit_text("__.SYMDEF SORTED....rest"));
    assert_string_equal(listing(f, bytes_of(f), false), "long.o=data plain.o=text .");
    assert_string_equal(listing(f, bytes_of(f), true), "!");
    f->archive.len = 8;
    unit_member(ctx, &f->archive, "#1/99", NULL, unit_text("short"));
    assert_string_equal(listing(f, bytes_of(f), false), "!");
}

static void test_thin(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    memcpy(f->archive.items, "!<thin>\n", 8);
    unit_member(ctx, &f->archive, "//", NULL, unit_text("sub/dir/a.o/\nb.o/\n"));
    unit_member(ctx, &f->archive, "/0", "1000", unit_text(""));
    unit_member(ctx, &f->archive, "/13", "2000", unit_text(""));
    assert_string_equal(listing(f, bytes_of(f), false), "sub/dir/a.o= b.o= .");
}

static void test_damage(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    unit_member(ctx, &f->archive, "a.o/", NULL, unit_text("data"));
    size_t one = f->archive.len;
    unit_member(ctx, &f->archive, "b.o/", "4294967296", unit_text("rest"));
    assert_string_equal(listing(f, bytes_of(f), false), "a.o=data b.o=rest(cut) .");
    f->archive.len = one;
    unit_member(ctx, &f->archive, "b.o/", "x", unit_text("rest"));
    assert_string_equal(listing(f, bytes_of(f), false), "a.o=data !");
    f->archive.len = one;
    unit_member(ctx, &f->archive, "/77", NULL, unit_text("rest"));
    assert_string_equal(listing(f, bytes_of(f), false), "a.o=data ?");
    assert_string_equal(listing(f, bytes_of(f), true), "a.o=data ?");
    f->archive.len = one;
    unit_member(ctx, &f->archive, "b.o/", NULL, unit_text("rest"));
    f->archive.items[one + 58] = 'x';
    assert_string_equal(listing(f, bytes_of(f), false), "a.o=data !");
    assert_string_equal(listing(f, bytes_of(f), true), "a.o=data b.o=rest .");
    /* Cut anywhere: never more than the bytes that are there. */
    for (size_t size = 8; size < f->archive.len; size++) {
        uint8_t *copy = malloc(size);
        memcpy(copy, f->archive.items, size);
        listing(f, (cbi_span){copy, size}, false);
        listing(f, (cbi_span){copy, size}, true);
        free(copy);
    }
}

static bool count_slice(const cbi_slice *slice, void *user)
{
    cbi_buf *names = user;
    names->len += (size_t)snprintf((char *)names->items + names->len, names->cap - names->len,
                                   "%s %d;", slice->file, slice->entry.sm);
    return true;
}

/* An archive in an archive in an archive... is walked to a limit, without recursion. */
static void test_nested(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    cbi_span inner =
        unit_host(ctx, unit_fatbin(ctx, FATBIN_KIND_ELF, 90, unit_cubin(ctx, ET_REL, 90)), "_id",
                  unit_text(""));
    char names[4096];
    for (int depth = 0; depth < 40; depth++) {
        cbi_buf archive = {0};
        cbi_buf_append(ctx, &archive, "!<arch>\n", 8);
        unit_member(ctx, &archive, depth ? "in.a/" : "m.o/", NULL, inner);
        unit_member(ctx, &archive, "x.cubin/", NULL, unit_cubin(ctx, ET_REL, 80));
        inner = (cbi_span){archive.items, archive.len};
        cbi_buf found = {(uint8_t *)names, 0, sizeof names};
        size_t count = cbi_each_slice(ctx, "t.a", inner, count_slice, &found);
        assert_int_equal(count, depth < 16 ? depth + 2 : 16);
        if (depth == 1)
            assert_string_equal(names, "t.a:in.a:m.o 90;t.a:in.a:x.cubin 80;t.a:x.cubin 80;");
    }
}

/* A fatbin in plain data of a library is found wherever it starts, at multiples of four. */
static void test_embedded(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    enum { MOST = 300 };
    cbi_span fatbin = unit_fatbin(ctx, FATBIN_KIND_ELF, 90, unit_cubin(ctx, ET_REL, 90));
    for (size_t at = 0; at <= MOST; at += 2) {
        cbi_buf data = {0};
        cbi_buf_append(ctx, &data, NULL, at);
        cbi_buf_append(ctx, &data, fatbin.data, fatbin.size);
        cbi_buf_append(ctx, &data, NULL, MOST - at);
        const unit_section sections[] = {{".rodata", SHT_PROGBITS, {data.items, data.len}}};
        cbi_span library = unit_elf(ctx, ET_DYN, EM_X86_64, 0, sections, 1);
        char names[256];
        cbi_buf found = {(uint8_t *)names, 0, sizeof names};
        assert_int_equal(cbi_each_slice(ctx, "l.so", library, count_slice, &found), at % 4 == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_system_v, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bsd, setup, teardown),
        cmocka_unit_test_setup_teardown(test_thin, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nested, setup, teardown),
        cmocka_unit_test_setup_teardown(test_embedded, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
