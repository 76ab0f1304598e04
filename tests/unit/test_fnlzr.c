/* The finalizer: every result code, the fast path, the self-check and the back-end interface. */
#include "unit.h"

#include "format/cuda_elf.h"
#include "capsule/capsule.h"
#include "capsule/twins.h"
#include "finalize/fnlzr.h"

typedef struct fixture {
    unit_heap heap;
    cbi_ctx ctx;
    uint8_t *bytes;
    size_t size;
} fixture;

static void open_fixture(fixture *f, const char *path)
{
    memset(f, 0, sizeof *f);
    unit_ctx_init(&f->ctx, &f->heap);
    cbi_span file = unit_read_file(unit_path(path));
    f->bytes = (uint8_t *)file.data;
    f->size = file.size;
}

static void close_fixture(fixture *f)
{
    cbi_ctx_fini(&f->ctx);
    free(f->bytes);
}

#define LINKED "tests/golden/statics-100-default/expected.cubin"

/* Lines of a trace, or texts of diagnostics, one after another. */
static char seen[4096];

static void remember(void *user, const char *line)
{
    (void)user;
    size_t len = strlen(seen);
    snprintf(seen + len, sizeof seen - len, "%s\n", line);
}

static void remember_help(void *user, const cb_diagnostic *diagnostic)
{
    remember(user, diagnostic->message);
    if (diagnostic->help)
        remember(user, diagnostic->help);
}

static cbi_fnlzr_code finalize(fixture *f, const char *arch, cbi_fnlzr_config config,
                               cbi_buf *ret_image)
{
    cbi_buf ignored = {0};
    config.target = cbi_arch_find(arch);
    return cbi_fnlzr_run(&f->ctx, &config, NULL, (cbi_span){f->bytes, f->size},
                         ret_image ? ret_image : &ignored);
}

static cbi_object read_object(fixture *f)
{
    cbi_object o;
    cbi_object_kind kind = cbi_object_read(&f->ctx, "x", (cbi_span){f->bytes, f->size}, &o, NULL);
    assert_int_equal(kind, CBI_OBJECT_OK);
    return o;
}

static uint64_t place_of(fixture *f, const char *section)
{
    cbi_object o = read_object(f);
    uint32_t index = cbi_object_find(&o, section);
    assert_true(index != 0);
    return o.sections[index].offset;
}

/* Value bytes of a .nv.compat record. */
static uint8_t *compat_value(fixture *f, uint8_t tag)
{
    cbi_object o = read_object(f);
    const cbi_section *s = &o.sections[cbi_object_find(&o, ".nv.compat")];
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(s->data, &pos, &attr))
        if (attr.code == tag)
            return f->bytes + (attr.raw.data - f->bytes) + (attr.payload.size ? 4 : 2);
    fail_msg("tag %u is missing", tag);
    return NULL;
}

static void test_retargets(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    cbi_buf image = {0};
    assert_int_equal(finalize(&f, "sm_103", (cbi_fnlzr_config){.self_check = true}, &image), 0);
    assert_int_equal(image.len, f.size);
    assert_int_equal(EF_CUDA_SM(cbi_ld32(image.items + 48)), 103);
    size_t differing = 0;
    for (size_t i = 0; i < f.size; i++)
        differing += image.items[i] != f.bytes[i];
    assert_int_equal(differing, 3); /* e_flags, the note's option, the mask */
    close_fixture(&f);
}

/* The note grows by a letter, and by names; everything behind it moves. */
static void test_tool_note(void **state)
{
    (void)state;
    static const struct {
        const char *arch, *options, *note, *object_name;
    } cases[] = {
        {"sm_100f", NULL, "-arch sm_100f ", ""},
        {"sm_103a", NULL, "-arch sm_103a ", ""},
        {"sm_103", "--verbose-tkinfo", "in.cubin -o out.cubin -arch sm_103 ", "out.cubin"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        open_fixture(&f, LINKED);
        cbi_buf image = {0};
        cbi_fnlzr_config config = {.target = cbi_arch_find(cases[i].arch),
                                   .self_check = true,
                                   .options = cases[i].options,
                                   .output_name = "folder/out.cubin"};
        assert_int_equal(
            cbi_fnlzr_run(&f.ctx, &config, "x/in.cubin", (cbi_span){f.bytes, f.size}, &image), 0);
        cbi_object a = read_object(&f), b;
        assert_int_equal(cbi_object_read(&f.ctx, "y", (cbi_span){image.items, image.len}, &b, NULL),
                         CBI_OBJECT_OK);
        size_t pos = 0;
        cbi_note note;
        cbi_tkinfo info;
        assert_true(
            cbi_note_next(b.sections[cbi_object_find(&b, ".note.nv.tkinfo")].data, &pos, &note));
        assert_true(cbi_tkinfo_read(note.desc, &info));
        assert_string_equal(info.options, cases[i].note);
        assert_string_equal(info.object_name, cases[i].object_name);
        assert_int_equal(a.section_count, b.section_count);
        for (uint32_t k = 1; k < a.section_count; k++)
            if (strcmp(a.sections[k].name, ".note.nv.tkinfo") != 0 &&
                strcmp(a.sections[k].name, ".nv.compat") != 0) {
                assert_int_equal(a.sections[k].size, b.sections[k].size);
                assert_memory_equal(a.sections[k].data.data, b.sections[k].data.data,
                                    a.sections[k].data.size);
            }
        close_fixture(&f);
    }
}

static int by_offset(const void *a, const void *b)
{
    const cbi_section *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sections with bytes, in the order of the file; returns how many. */
static size_t sections_of(cbi_ctx *ctx, cbi_span image, cbi_section *ret_sections)
{
    cbi_object o;
    size_t count = 0;
    assert_int_equal(cbi_object_read(ctx, "x", image, &o, NULL), CBI_OBJECT_OK);
    for (uint32_t i = 1; i < o.section_count; i++)
        if (o.sections[i].data.size)
            ret_sections[count++] = o.sections[i];
    qsort(ret_sections, count, sizeof *ret_sections, by_offset);
    ret_sections[count++] = (cbi_section){.offset = o.shoff};
    return count;
}

/* What stands between two sections stays, as far as there is room for it. */
static void test_gaps(void **state)
{
    (void)state;
    enum { MOST = 100, MARK = 0xab };
    fixture f;
    open_fixture(&f, LINKED);
    cbi_section old[MOST], now[MOST];
    size_t count = sections_of(&f.ctx, (cbi_span){f.bytes, f.size}, old), seen_gaps = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        uint64_t end = old[i].offset + old[i].data.size;
        if (end < old[i + 1].offset)
            memset(f.bytes + end, MARK, old[i + 1].offset - end);
    }
    cbi_buf image = {0};
    assert_int_equal(finalize(&f, "sm_100f", (cbi_fnlzr_config){0}, &image), 0);
    assert_int_equal(sections_of(&f.ctx, (cbi_span){image.items, image.len}, now), count);
    for (size_t i = 0; i + 1 < count; i++) {
        uint64_t end = old[i].offset + old[i].data.size, to = now[i].offset + now[i].data.size;
        if (end > old[i + 1].offset)
            continue; /* shown twice */
        uint64_t gap = old[i + 1].offset - end, room = now[i + 1].offset - to;
        for (uint64_t k = 0; k < room; k++)
            assert_int_equal(image.items[to + k], k < gap ? MARK : 0);
        seen_gaps += gap && room;
    }
    assert_true(seen_gaps > 1);
    close_fixture(&f);
}

static void test_option_string(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        cbi_fnlzr_code code;
        const char *why;
    } cases[] = {
        {"", CBI_FNLZR_OK, NULL},
        {"  --cap-merc --opt-level 3  --opportunistic-finalization-lvl=1 ", CBI_FNLZR_OK, NULL},
        {"--binary-kind capmerc", CBI_FNLZR_OK, NULL},
        {"--fastpath-off", CBI_FNLZR_NOT_ELIGIBLE, "kernel '"},
        {"--out-sass --self-check", CBI_FNLZR_OK, NULL},
        {"--binary-kind=sass", CBI_FNLZR_OK, NULL},
        {"--binary-kind=mercury", CBI_FNLZR_NOT_ELIGIBLE, "--binary-kind mercury needs a compiler"},
        {"--generate-line-info", CBI_FNLZR_NOT_ELIGIBLE, "needs a compiler"},
        {"--binary-kind elf", CBI_FNLZR_INVALID, "takes capmerc, sass or mercury, not 'elf'"},
        {"--opt-level", CBI_FNLZR_INVALID, "takes a number from 0 to 5, not ''"},
        {"--opt-level 0 --opt-level 5", CBI_FNLZR_OK, NULL},
        {"--opt-level 6", CBI_FNLZR_INVALID, "takes a number"},
        {"--opt-level 33", CBI_FNLZR_INVALID, "takes a number"},
        {"--opt-level /", CBI_FNLZR_INVALID, "takes a number"},
        {"--opportunistic-finalization-lvl 0", CBI_FNLZR_OK, NULL},
        {"--opportunistic-finalization-lvl 2", CBI_FNLZR_OK, NULL},
        {"--opportunistic-finalization-lvl 3", CBI_FNLZR_INVALID, "takes a number from 0 to 2"},
        {"--nonsense", CBI_FNLZR_INVALID, "option --nonsense: unknown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        open_fixture(&f, LINKED);
        seen[0] = 0;
        f.ctx.on_diagnostic = remember_help;
        assert_int_equal(
            finalize(&f, "sm_103", (cbi_fnlzr_config){.options = cases[i].options}, NULL),
            cases[i].code);
        if (cases[i].why && !strstr(seen, cases[i].why))
            fail_msg("%s: %s", cases[i].options, seen);
        close_fixture(&f);
    }
}

static void test_trace(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    cbi_fnlzr_config config = {.trace = remember, .trace_run = true};
    seen[0] = 0;
    assert_int_equal(finalize(&f, "sm_103", config, NULL), 0);
    assert_non_null(strstr(seen, "FNLZR: Input ELF: in-memory-ELF-image\n"
                                 "FNLZR: Post-Link Mode\n"
                                 "FNLZR: Flags [ 1 | 0 ]\n"
                                 "FNLZR: Starting in-memory-ELF-image\n"));
    assert_non_null(strstr(seen, "linked before"));
    assert_non_null(strstr(seen, "FNLZR: fast path, sm_100 -> sm_103\n"));
    assert_non_null(strstr(seen, "FNLZR: Ending in-memory-ELF-image\n"));
    assert_null(strstr(seen, "can finalize"));
    config.jit = true;
    seen[0] = 0;
    assert_int_equal(finalize(&f, "sm_103", config, NULL), 0);
    assert_non_null(strstr(seen, "FNLZR: JIT Path\nFNLZR: postLink Mode\n"));
    assert_non_null(strstr(seen, "FNLZR: Ending JIT\n"));
    config = (cbi_fnlzr_config){.trace = remember, .trace_eligibility = true};
    seen[0] = 0;
    assert_int_equal(finalize(&f, "sm_120", config, NULL), 4);
    assert_string_equal(seen, "can finalize: sm_100 (as 100) -> sm_120: portability 1, class 1, "
                              "version 0x101, mask 0x9, needs 0x10: no\n");
    close_fixture(&f);
}

/* That code was kept for another chip is said from level 1 on. */
static void test_says_kept_code(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        int level;
        bool said;
    } rows[] = {
        {"sm_103", 0, false}, {"sm_103", 1, true},   {"sm_103", 2, true},
        {"sm_100", 1, false}, {"sm_100f", 2, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        open_fixture(&f, LINKED);
        seen[0] = 0;
        f.ctx.on_diagnostic = remember_help;
        cbi_fnlzr_config config = {.opportunistic_level = rows[i].level};
        assert_int_equal(finalize(&f, rows[i].arch, config, NULL), 0);
        assert_string_equal(seen, rows[i].said ? "[Finalizer] fastpath optimization applied for "
                                                 "off-target 100 -> 103 finalization\n"
                                               : "");
        close_fixture(&f);
    }
}

/* The mask of the whole image counts, and numbers that were given anew. */
static void test_masks(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    compat_value(&f, 0x0b)[0] = 0x01;
    assert_int_equal(finalize(&f, "sm_100f", (cbi_fnlzr_config){0}, NULL), 0);
    assert_int_equal(finalize(&f, "sm_103", (cbi_fnlzr_config){0}, NULL), 4);
    f.bytes[49] = 104; /* an old number of 120 */
    cbi_buf image = {0};
    assert_int_equal(finalize(&f, "sm_120", (cbi_fnlzr_config){0}, &image), 0);
    assert_int_equal(EF_CUDA_SM(cbi_ld32(image.items + 48)), 120);
    close_fixture(&f);
}

/* A link of code of 120 for 121 does not ask the mask, so nothing keeps the code from it. */
static void test_mask_of_121(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "tests/golden/diamond-120-default/expected.cubin");
    memset(compat_value(&f, 0x0b), 0, 1);
    assert_int_equal(finalize(&f, "sm_121", (cbi_fnlzr_config){0}, NULL), 0);
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 4);
    close_fixture(&f);
}

/* An object of the compiler gets the linker's note in front of the compiler's. */
static void test_note_of_object(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "tests/golden/statics-100-default/in/a.cubin");
    cbi_object o = read_object(&f), now;
    const cbi_span old = o.sections[cbi_object_find(&o, ".note.nv.tkinfo")].data;
    const cbi_tkinfo identity = {
        .version = 2, .object_name = "", .tool = "cubind", .tool_version = "1", .build = "b"};
    cbi_fnlzr_config config = {.options = "--verbose-tkinfo",
                               .target = cbi_arch_find("sm_103"),
                               .output_name = "out.cubin",
                               .identity = &identity};
    const cbi_span file = {f.bytes, f.size};
    cbi_buf image = {0};
    assert_int_equal(cbi_fnlzr_run(&f.ctx, &config, "in.cubin", file, &image), 0);
    assert_int_equal(cbi_object_read(&f.ctx, "y", (cbi_span){image.items, image.len}, &now, NULL),
                     CBI_OBJECT_OK);
    const cbi_span notes = now.sections[cbi_object_find(&now, ".note.nv.tkinfo")].data;
    assert_true(notes.size > old.size);
    assert_memory_equal(notes.data + notes.size - old.size, old.data, old.size);
    size_t pos = 0;
    cbi_note note;
    cbi_tkinfo info;
    assert_true(cbi_note_next(notes, &pos, &note));
    assert_int_equal(pos, notes.size - old.size);
    assert_true(cbi_tkinfo_read(note.desc, &info));
    assert_string_equal(info.tool, "cubind");
    assert_string_equal(info.options, "in.cubin -o out.cubin -arch sm_103 ");
    close_fixture(&f);
}

static void test_not_eligible(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    assert_int_equal(finalize(&f, "sm_120", (cbi_fnlzr_config){0}, NULL), 4);
    assert_int_equal(finalize(&f, "sm_103", (cbi_fnlzr_config){.fast_path_off = true}, NULL), 4);
    close_fixture(&f);
}

static void test_not_capmerc(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    f.bytes[48] = 4;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 5);
    close_fixture(&f);
}

static void test_invalid(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    f.bytes[16] = 3;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 6);
    f.bytes[16] = 1;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){.post_link = true}, NULL), 6);
    f.bytes[16] = 2;
    f.bytes[48] |= 4; /* finalized and not finalized at once */
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 6);
    f.bytes[0] = 0;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 6);
    close_fixture(&f);
}

/* nvlink leaves symbols of constants behind that reach past what is left of their section. */
static void test_long_symbol(void **state)
{
    (void)state;
    static const struct {
        const char *section;
        int status;
    } rows[] = {{".nv.constant", 0}, {".text.", 6}};
    for (size_t row = 0; row < CBI_COUNT(rows); row++) {
        fixture f;
        open_fixture(&f, LINKED);
        cbi_object o = read_object(&f);
        uint64_t table = place_of(&f, ".symtab");
        for (uint32_t i = 1; i < o.symbol_count; i++)
            if (o.symbols[i].shndx < o.section_count &&
                cbi_after(o.sections[o.symbols[i].shndx].name, rows[row].section))
                f.bytes[table + 24 * i + 19] = 1; /* st_size */
        assert_int_equal(cbi_object_read(&f.ctx, "x", (cbi_span){f.bytes, f.size}, &o, NULL),
                         CBI_OBJECT_DAMAGED);
        cbi_fnlzr_config config = {.self_check = true};
        assert_int_equal(finalize(&f, "sm_103", config, NULL), rows[row].status);
        close_fixture(&f);
    }
}

/* A capsule that does not fit its code is refused, though no back end reads it. */
static void test_bad_capsule(void **state)
{
    (void)state;
    static const uint8_t fields[] = {0, 2, 4, 8}; /* index of the code, version, entries */
    for (size_t at = 0; at < CBI_COUNT(fields); at++) {
        fixture f;
        open_fixture(&f, LINKED);
        cbi_object o = read_object(&f);
        uint32_t i = 1;
        while (i < o.section_count && o.sections[i].type != SHT_CUDA_CAPMERC)
            i++;
        assert_true(i < o.section_count);
        f.bytes[o.sections[i].offset + fields[at]] ^= 0x40;
        assert_int_equal(finalize(&f, "sm_103", (cbi_fnlzr_config){0}, NULL), 6);
        close_fixture(&f);
    }
}

static void test_unknown_abi(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    f.bytes[8] = 9;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 7);
    close_fixture(&f);
}

static void test_no_memory(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    f.heap.fail_at = 1;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 11);
    f.heap.fail_at = 0;
    close_fixture(&f);
}

static void test_isa_version(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    cbi_st16(compat_value(&f, 0x07), 0x102);
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){0}, NULL), 25);
    close_fixture(&f);
}

static uint64_t first_of_type(fixture *f, uint32_t type, uint64_t flags)
{
    cbi_object o = read_object(f);
    for (uint32_t i = 1; i < o.section_count; i++)
        if (o.sections[i].type == type && (o.sections[i].flags & flags) == flags)
            return o.sections[i].offset;
    fail_msg("no section of type 0x%x", type);
    return 0;
}

/* Damage in a capsule, and in code: a register and a guard that its record names too. */
static void test_self_check_text(void **state)
{
    (void)state;
    static const struct {
        bool code;
        size_t offset;
        uint8_t flip;
        const char *why;
    } damage[] = {
        {false, 4, 8, "the format version is unknown"},
        {true, 2, 2, "as d, its record"},
        {true, 1, 0x80, "as guard, its record"},
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        fixture f;
        open_fixture(&f, LINKED);
        uint64_t place = damage[i].code ? first_of_type(&f, SHT_PROGBITS, SHF_EXECINSTR)
                                        : first_of_type(&f, SHT_CUDA_CAPMERC, 0);
        f.bytes[place + damage[i].offset] ^= damage[i].flip;
        seen[0] = 0;
        f.ctx.on_diagnostic = remember_help;
        cbi_fnlzr_config config = {.self_check = true};
        assert_int_equal(finalize(&f, "sm_100", config, NULL), 17);
        if (!strstr(seen, damage[i].why))
            fail_msg("%zu: %s", i, seen);
        close_fixture(&f);
    }
}

/* Damage in the relocations of code in one view: the other tells. */
static void test_self_check_relocations(void **state)
{
    (void)state;
    static const struct {
        const char *prefix;
        size_t offset;
        const char *why;
    } damage[] = {
        {".rela.text.", 12, "as its counterpart"},         /* symbol */
        {".rela.text.", 8, "as its counterpart"},          /* type */
        {".nv.merc.rela.text.", 12, "as its counterpart"}, /* symbol */
        {".nv.merc.rela.text.", 8, "as its counterpart"},  /* type */
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        fixture f;
        open_fixture(&f, LINKED);
        cbi_object o = read_object(&f);
        uint64_t place = 0;
        for (uint32_t k = 1; k < o.section_count && !place; k++)
            if (o.sections[k].size &&
                strncmp(o.sections[k].name, damage[i].prefix, strlen(damage[i].prefix)) == 0)
                place = o.sections[k].offset;
        assert_true(place != 0);
        f.bytes[place + damage[i].offset] ^= 1;
        seen[0] = 0;
        f.ctx.on_diagnostic = remember_help;
        cbi_fnlzr_config config = {.self_check = true};
        assert_int_equal(finalize(&f, "sm_100", config, NULL), 18);
        if (!strstr(seen, damage[i].why))
            fail_msg("%zu: %s", i, seen);
        close_fixture(&f);
    }
}

/* A relocation of one view alone: said of the whole list, at its start. */
static void test_lost_relocations(void **state)
{
    (void)state;
    static const struct {
        bool mercury; /* the list that loses its last entry */
        const char *why;
    } damage[] = {
        {false, "1 relocations of code lack a counterpart in the plain view"},
        {true, "relocations of code in the plain view lack a counterpart here"},
    };
    for (size_t i = 0; i < CBI_COUNT(damage); i++) {
        fixture f;
        open_fixture(&f, LINKED);
        cbi_object o = read_object(&f);
        uint32_t mercury = 1;
        while (!cbi_is_code_twin(&o.sections[mercury]) || cbi_rela_count(&o.sections[mercury]) < 2)
            assert_true(++mercury < o.section_count);
        const uint32_t *plain = cbi_sections_about(&f.ctx, &o, SHT_RELA);
        cbi_twins twins = cbi_twins_of(&o, plain, mercury);
        assert_null(cbi_twins_next(&f.ctx, &twins));
        cbi_section *loser = &o.sections[damage[i].mercury ? mercury : twins.plain];
        loser->size = loser->data.size = loser->data.size - sizeof(Elf64_Rela);
        twins = cbi_twins_of(&o, plain, mercury);
        assert_string_equal(cbi_twins_next(&f.ctx, &twins), damage[i].why);
        assert_int_equal(twins.entry, 0);
        assert_null(cbi_twins_next(&f.ctx, &twins));
        close_fixture(&f);
    }
}

static void test_self_check_symbols(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    f.bytes[place_of(&f, ".nv.merc.symtab") + 24 + 4] ^= 0x10;
    assert_int_equal(finalize(&f, "sm_100", (cbi_fnlzr_config){.self_check = true}, NULL), 19);
    close_fixture(&f);
}

/* The comparison of two runs: code, relocations, symbols. */
static void test_compare(void **state)
{
    (void)state;
    static const struct {
        const char *section;
        size_t offset;
        cbi_fnlzr_code code;
    } damage[] = {
        {".debug_frame", 8, CBI_FNLZR_SELF_TEXT},
        {".rela.debug_frame", 16, CBI_FNLZR_SELF_RELOC},
        {".nv.merc.rela.debug_frame", 16, CBI_FNLZR_SELF_RELOC},
        {".symtab", 24 + 16, CBI_FNLZR_SELF_SYMBOLS},
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        fixture a, b;
        open_fixture(&a, LINKED);
        open_fixture(&b, LINKED);
        b.bytes[place_of(&b, damage[i].section) + damage[i].offset] ^= 1;
        cbi_object x = read_object(&a), y = read_object(&b);
        assert_int_equal(cbi_fnlzr_compare(&x, &x), CBI_FNLZR_OK);
        assert_int_equal(cbi_fnlzr_compare(&x, &y), damage[i].code);
        close_fixture(&a);
        close_fixture(&b);
    }
}

static size_t compiled;

static bool supports_all(void *user, uint32_t from, const cbi_arch *target)
{
    (void)user;
    (void)from;
    return target->sm == 103;
}

static bool keep_code(void *user, const cbi_fnlzr_function *function,
                      cbi_fnlzr_compiled *ret_compiled)
{
    (void)user;
    assert_null(cbi_capsule_verify(function->capsule, function->sass.size));
    compiled++;
    ret_compiled->sass = function->sass;
    ret_compiled->capsule = function->capsule;
    return true;
}

static void test_back_end(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    cbi_fnlzr_backend backend = {"test", supports_all, keep_code, NULL};
    cbi_fnlzr_config config = {.fast_path_off = true, .backend = &backend};
    cbi_buf image = {0};
    assert_int_equal(finalize(&f, "sm_103", config, &image), 0);
    assert_true(compiled > 0);
    assert_int_equal(EF_CUDA_SM(cbi_ld32(image.items + 48)), 103);
    assert_int_equal(finalize(&f, "sm_100f", config, NULL), 4);
    close_fixture(&f);
}

static size_t lengthened;

/* A longer capsule moves everything behind it. */
static bool lengthen_capsule(void *user, const cbi_fnlzr_function *function,
                             cbi_fnlzr_compiled *ret_compiled)
{
    static uint8_t capsule[4096];
    (void)user;
    /* one derived entry becomes a run of one */
    size_t data = 12 + (cbi_ld32(function->capsule.data + 8) + 31) / 32 * 4;
    if (!(function->capsule.data[12] & 1) || function->capsule.size > sizeof capsule - 2)
        return keep_code(user, function, ret_compiled);
    memcpy(capsule, function->capsule.data, data);
    capsule[12] &= 0xfe;
    cbi_st16(capsule + data, 0x50 | 1 << 7);
    memcpy(capsule + data + 2, function->capsule.data + data, function->capsule.size - data);
    lengthened++;
    ret_compiled->sass = function->sass;
    ret_compiled->capsule = (cbi_span){capsule, function->capsule.size + 2};
    return true;
}

static void test_back_end_capsule(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    cbi_fnlzr_backend backend = {"test", supports_all, lengthen_capsule, NULL};
    cbi_fnlzr_config config = {.fast_path_off = true, .backend = &backend};
    cbi_buf image = {0};
    cbi_object o;
    const char *why = NULL;
    assert_int_equal(finalize(&f, "sm_103", config, &image), 0);
    assert_int_equal(cbi_object_read(&f.ctx, "y", (cbi_span){image.items, image.len}, &o, NULL),
                     CBI_OBJECT_OK);
    assert_int_equal(cbi_fnlzr_verify(&f.ctx, &o, &why), 0);
    assert_true(lengthened > 0);
    close_fixture(&f);
}

static bool cut_code(void *user, const cbi_fnlzr_function *function,
                     cbi_fnlzr_compiled *ret_compiled)
{
    keep_code(user, function, ret_compiled);
    ret_compiled->sass.size -= 16;
    return true;
}

static void test_back_end_misfit(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, LINKED);
    cbi_fnlzr_backend backend = {"test", supports_all, cut_code, NULL};
    cbi_fnlzr_config config = {.fast_path_off = true, .backend = &backend};
    assert_int_equal(finalize(&f, "sm_103", config, NULL), 4);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retargets),
        cmocka_unit_test(test_tool_note),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_option_string),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_says_kept_code),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_mask_of_121),
        cmocka_unit_test(test_note_of_object),
        cmocka_unit_test(test_not_eligible),
        cmocka_unit_test(test_not_capmerc),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_long_symbol),
        cmocka_unit_test(test_bad_capsule),
        cmocka_unit_test(test_unknown_abi),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_isa_version),
        cmocka_unit_test(test_self_check_text),
        cmocka_unit_test(test_self_check_relocations),
        cmocka_unit_test(test_lost_relocations),
        cmocka_unit_test(test_self_check_symbols),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_back_end),
        cmocka_unit_test(test_back_end_capsule),
        cmocka_unit_test(test_back_end_misfit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
