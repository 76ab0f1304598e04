/* The collection: what of each input is linked, registered, or reported. */
#include "unit.h"

#include <unistd.h>

#include "containers.h"
#include "input/input.h"

typedef struct step {
    const char *name;
    cbi_span bytes;
} step;

typedef struct fixture {
    unit_heap heap;
    cbi_ctx ctx;
    cbi_input_options options;
    step steps[8];
    size_t step_count;
    const char *folder; /* files are written there; NULL: given as memory */
    cbi_inputs_result result;
    char messages[4096];
} fixture;

static void on_diagnostic(void *user, const cb_diagnostic *d)
{
    fixture *f = user;
    size_t len = strlen(f->messages);
    snprintf(f->messages + len, sizeof f->messages - len, "%c %s\n", "IWEF"[d->severity],
             d -> message);
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    unit_ctx_init(&f->ctx, &f->heap);
    f->ctx.on_diagnostic = on_diagnostic;
    f->ctx.on_diagnostic_user = f;
    f->options = (cbi_input_options){.arch = cbi_arch_find("sm_90"),
                                     .arch_text = "sm_90",
                                     .host_machine = EM_X86_64,
                                     .register_names = true};
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

static void add(fixture *f, const char *name, cbi_span bytes)
{
    f->steps[f->step_count++] = (step){name, bytes};
}

static cb_status job(cbi_ctx *ctx, void *arg)
{
    fixture *f = arg;
    cbi_inputs *in = cbi_inputs_create(ctx, &f->options);
    for (size_t i = 0; i < f->step_count; i++) {
        if (f->folder)
            cbi_inputs_add_file(in, f->steps[i].name);
        else
            cbi_inputs_add_memory(in, f->steps[i].name, f->steps[i].bytes);
    }
    cbi_inputs_finish(in, &f->result);
    return CB_OK;
}

/* The names of the linked inputs, then the messages. */
static const char *run(fixture *f)
{
    static char out[8192];
    out[0] = 0;
    f->messages[0] = 0;
    f->result = (cbi_inputs_result){0};
    cb_status status = cbi_run(&f->ctx, job, f);
    for (size_t i = 0; i < f->result.input_count; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s ", f->result.inputs[i].file,
                 f->result.inputs[i].device_runtime ? "*" : "");
    snprintf(out + strlen(out), sizeof out - strlen(out), "%s| %s", status ? "failed " : "",
             f->messages);
    f->step_count = 0;
    f->ctx.error_count = 0;
    return out;
}

static cbi_span host(fixture *f, uint32_t sm, const char *id)
{
    cbi_ctx *ctx = &f->ctx;
    static const uint8_t pattern[] = "_Z1kPi";
    return unit_host(ctx, unit_fatbin(ctx, FATBIN_KIND_ELF, sm, unit_cubin(ctx, ET_REL, sm)), id,
                     (cbi_span){pattern, sizeof pattern});
}

static void test_kinds(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    cbi_span cubin = unit_cubin(ctx, ET_REL, 90);
    add(f, "a", cubin);
    add(f, "b.fatbin", unit_fatbin(ctx, FATBIN_KIND_ELF, 90, cubin));
    add(f, "c.o", host(f, 90, "_c_id"));
    assert_string_equal(run(f), "a b.fatbin c.o | ");
    assert_int_equal(f->result.id_count, 3);
    assert_string_equal(f->result.ids[2].id, "_c_id");
    assert_false(f->result.host.active);
    add(f, "c.o", host(f, 90, "_c_id"));
    assert_string_equal(run(f), "c.o | ");
    assert_true(f->result.host.active);
    assert_int_equal(f->result.host.external_kernel_count, 1);
    assert_string_equal(f->result.host.external_kernels[0], "_Z1kPi");
}

static void test_wrong_arch(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    add(f, "a", unit_cubin(ctx, ET_REL, 80));
    assert_string_equal(run(f), "failed | F Input file 'a' arch does not match target 'sm_90'\n");
    add(f, "c.o", host(f, 80, "_c_id"));
    assert_string_equal(run(f), "| W SM Arch ('sm_90') not found in 'c.o'\n");
    assert_int_equal(f->result.id_count, 1);
    add(f, "e", unit_fatbin(ctx, FATBIN_KIND_ELF, 90, unit_cubin(ctx, ET_REL, 80)));
    assert_string_equal(run(f), "failed | F Input file 'e' arch does not match target 'sm_90'\n");
    add(f, "x", unit_cubin(ctx, ET_EXEC, 90));
    assert_string_equal(run(f), "| W 'x' is ignored: it is an executable device image, already "
                                "linked\n");
    add(f, "p", unit_text(".version 9.0\n.target sm_90\n"));
    assert_string_equal(run(f), "| E 'p' holds PTX and no machine code for sm_90, and there is no "
                                "ptxas to compile it\n");
    add(f, "l", unit_fatbin(ctx, FATBIN_KIND_LTOIR, 90, unit_text("lto")));
    assert_string_equal(run(f), "failed | F LTO objects found, use -dlto\n");
    add(f, "t", unit_text("some text"));
    assert_string_equal(run(f), "| W 't' is ignored: it is a file of no known kind\n");
}

static cbi_span archive(fixture *f, const cbi_span *members, const char *const *names, size_t count)
{
    cbi_buf out = {0};
    cbi_buf_append(&f->ctx, &out, "!<arch>\n", 8);
    for (size_t i = 0; i < count; i++)
        unit_member(&f->ctx, &out, names[i], NULL, members[i]);
    return (cbi_span){out.items, out.len};
}

static void test_archives(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    const char *const names[] = {"a.o/", "b.o/", "c/", "d.o/"};
    const cbi_span members[] = {host(f, 90, "_a"), host(f, 80, "_b"), unit_cubin(ctx, ET_REL, 90),
                                host(f, 90, "_d")};
    add(f, "x.a", archive(f, members, names, 4));
    assert_string_equal(run(f), "x.a:a.o x.a:d.o | W 'x.a:c' is ignored: the device link takes no "
                                "cubin from an archive\n");
    const cbi_span stop[] = {host(f, 90, "_a"), unit_text("text"), host(f, 90, "_c"),
                             host(f, 90, "_d")};
    add(f, "x.a", archive(f, stop, names, 4));
    assert_string_equal(run(f), "x.a:a.o | W 'x.a:b.o' is ignored, and with it the 2 members after "
                                "it: it is a file of no known kind\n");
    f->options.exact = true;
    add(f, "x.a", archive(f, stop, names, 4));
    assert_string_equal(run(f), "x.a:a.o | ");
}

static void test_device_runtime(void **state)
{
    fixture *f = *state;
    const char *const names[] = {"r.o/"};
    const cbi_span members[] = {host(f, 90, "_r")};
    cbi_span runtime = archive(f, members, names, 1);
    add(f, "libcudadevrt.a", runtime);
    add(f, "a.o", host(f, 90, "_a"));
    assert_string_equal(run(f), "a.o | ");
    add(f, "a.o", host(f, 90, "_a"));
    add(f, "libcudadevrt.a", runtime);
    assert_string_equal(run(f), "a.o libcudadevrt.a:r.o* | ");
    assert_true(f->result.ids[1].device_runtime);
    assert_true(f->result.host.active);
    assert_int_equal(f->result.host.external_kernel_count, 2);
}

/* What libcudadevrt says of its own kernels does not mean that the others are not wanted. */
static void test_device_runtime_alone_names_kernels(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    const char *const names[] = {"r.o/"};
    const cbi_span members[] = {host(f, 90, "_r")};
    cbi_span code = unit_fatbin(ctx, FATBIN_KIND_ELF, 90, unit_cubin(ctx, ET_REL, 90));
    add(f, "a.o", unit_host(ctx, code, "_a", (cbi_span){(const uint8_t *)"", 1}));
    add(f, "libcudadevrt.a", archive(f, members, names, 1));
    assert_string_equal(run(f), "a.o libcudadevrt.a:r.o* | ");
    assert_false(f->result.host.active);
    add(f, "a.o", unit_host(ctx, code, "_a", (cbi_span){(const uint8_t *)"", 1}));
    add(f, "libother.a", archive(f, members, names, 1));
    assert_string_equal(run(f), "a.o libother.a:r.o | ");
    assert_true(f->result.host.active);
}

/* An object of an earlier device link takes what it holds out of this one, wherever it stands. */
static void test_linked_before(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    const unit_section sections[] = {
        {"__nv_module_id", SHT_PROGBITS, {(const uint8_t *)"def _a", 7}},
        {".nvFatBinSegment", SHT_PROGBITS, unit_text("0123456789abcdef01234567")},
        {".nv_fatbin", SHT_PROGBITS, unit_text("linked")},
    };
    cbi_span linked = unit_elf(ctx, ET_REL, EM_X86_64, 0, sections, 3);
    add(f, "a.o", host(f, 90, "_a"));
    add(f, "l.o", linked);
    add(f, "b.o", host(f, 90, "_b"));
    assert_string_equal(run(f), "b.o | ");
    assert_int_equal(f->result.id_count, 1);
    f->options.register_names = false;
    add(f, "a.o", host(f, 90, "_a"));
    add(f, "l.o", linked);
    assert_string_equal(run(f), "a.o | ");
    assert_int_equal(f->result.id_count, 0);
}

/* Objects from which nothing is linked are named, unless nvlink is followed exactly. */
static void test_nothing_to_link(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    const unit_section sections[] = {
        {"__nv_module_id", SHT_PROGBITS, {(const uint8_t *)"__NV_MODULE_ID", 15}},
        {".nvFatBinSegment", SHT_PROGBITS, unit_text("0123456789abcdef01234567")},
        {".nv_fatbin", SHT_PROGBITS, unit_text("linked")},
    };
    cbi_span whole = unit_elf(ctx, ET_REL, EM_X86_64, 0, sections, 3);
    cbi_span plain = unit_elf(ctx, ET_REL, EM_X86_64, 0, NULL, 0);
    add(f, "w.o", whole);
    assert_string_equal(run(f), "| I 'w.o' adds nothing: its device code is linked already; "
                                "nvcc -rdc=true makes code that can be linked\n");
    add(f, "p.o", plain);
    assert_string_equal(run(f),
                        "| I 'p.o' adds nothing: it is a host object without device code\n");
    f->options.exact = true;
    add(f, "w.o", whole);
    add(f, "p.o", plain);
    assert_string_equal(run(f), "| ");
}

/* Files go by their ending when nvlink is followed exactly. */
static void test_endings(void **state)
{
    fixture *f = *state;
    cbi_ctx *ctx = &f->ctx;
    char folder[4096];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/cubind-unit-XXXXXX", base ? base : P_tmpdir);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    f->folder = folder;
    f->options.register_names = false;
    const cbi_span cubin = unit_cubin(ctx, ET_REL, 90);
    const cbi_span fatbin = unit_fatbin(ctx, FATBIN_KIND_ELF, 90, cubin);
    const struct {
        const char *name;
        cbi_span bytes;
        const char *exact;
        const char *by_content;
    } cases[] = {
        {"k.cubin", cubin, "k.cubin | ", "k.cubin | "},
        {"k.o", cubin, "k.o | ", "k.o | "},
        {"k.obj", cubin, "| ", "k.obj | I"},
        {"k", cubin, "| ", "k | I"},
        {"f.fatbin", fatbin, "f.fatbin | ", "f.fatbin | "},
        {"f.bin", fatbin, "| ", "f.bin | I"},
        {"f.cubin", fatbin, "failed | F cubin not an elf?\n", "f.cubin | I"},
        {"h.cubin", host(f, 90, "_h"), "failed | F cubin not a device elf?\n", "h.cubin | I"},
        {"k.fatbin", cubin, "failed | F fatbin wrong format?\n", "k.fatbin | I"},
        {"h.so", host(f, 90, "_h"), "| ", "h.so | I"},
        {"h.x", host(f, 90, "_h"), "h.x | ", "h.x | "},
        {"e.o", {NULL, 0}, "| ", "| W"},
        {"short.o", unit_text("x"), "failed | F Could not open input file 'short.o'\n",
         "failed | F Could not open input file 'short.o'\n"},
        {"l.ltoir", cubin, "failed | F should only see nvvm files when -lto\n", "l.ltoir | I"},
        {"l.bc", cubin, "failed | F should never see bc files\n", "l.bc | I"},
    };
    for (size_t i = 0; i < CBI_COUNT(cases); i++) {
        FILE *file = fopen(cases[i].name, "wb");
        assert_non_null(file);
        if (cases[i].bytes.size)
            assert_int_equal(fwrite(cases[i].bytes.data, 1, cases[i].bytes.size, file),
                             cases[i].bytes.size);
        fclose(file);
        f->options.exact = true;
        add(f, cases[i].name, cases[i].bytes);
        assert_string_equal(run(f), cases[i].exact);
        f->options.exact = false;
        add(f, cases[i].name, cases[i].bytes);
        if (strncmp(run(f), cases[i].by_content, strlen(cases[i].by_content)) != 0)
            fail_msg("%s: messages %s", cases[i].name, f->messages);
        unlink(cases[i].name);
    }
    assert_int_equal(chdir("/"), 0);
    rmdir(folder);
}

/* Host objects and cubins with any one byte changed, or cut anywhere, end in a message or a link,
 * never in an access outside. */
static void test_changed_bytes(void **state)
{
    fixture *f = *state;
    cbi_span whole = host(f, 90, "_a");
    for (size_t i = 0; i < whole.size; i++) {
        uint8_t *copy = malloc(whole.size);
        memcpy(copy, whole.data, whole.size);
        copy[i] ^= (uint8_t)(i % 2 ? 0xff : 0x80);
        add(f, "a.o", (cbi_span){copy, whole.size});
        run(f);
        free(copy);
    }
    for (size_t size = 0; size < whole.size; size += 3) {
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, whole.data, size);
        add(f, "a.o", (cbi_span){copy, size});
        run(f);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_arch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_archives, setup, teardown),
        cmocka_unit_test_setup_teardown(test_device_runtime, setup, teardown),
        cmocka_unit_test_setup_teardown(test_device_runtime_alone_names_kernels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_linked_before, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_to_link, setup, teardown),
        cmocka_unit_test_setup_teardown(test_endings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_changed_bytes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
