/* Fatbins made by hand: the walk, the choice, decompression, and damage of every kind. */
#include "unit.h"

#include <lz4.h>
#include <zstd.h>

#include "input/fatbin.h"

typedef struct image {
    uint16_t kind;
    uint32_t sm;
    char suffix;
    uint64_t flags; /* besides 64 bit and the suffix */
    bool portable;  /* has an option block that says so */
    const char *payload;
} image;

enum { OPTIONS_AT = 64, OPTION_TEXT_AT = 72, HEADER_SIZE = 80 };

static size_t put_entry(uint8_t *at, const image *e)
{
    size_t size = (strlen(e->payload) + 7) & ~(size_t)7;
    memset(at, 0, HEADER_SIZE + size);
    cbi_st16(at, e->kind);
    cbi_st16(at + 2, 0x101);
    cbi_st32(at + 4, HEADER_SIZE);
    cbi_st64(at + 8, size);
    cbi_st32(at + 28, e->sm);
    cbi_st64(at + 40, e->flags | FATBIN_FLAG_64BIT |
                          (e->suffix == 'a'   ? FATBIN_FLAG_SUFFIX_A
                           : e->suffix == 'f' ? FATBIN_FLAG_SUFFIX_F
                                              : 0));
    if (e->portable) {
        static const uint8_t record[] = {0, 2, 9, 0, 0};
        cbi_st32(at + 20, OPTIONS_AT);
        cbi_st32(at + OPTIONS_AT, OPTION_TEXT_AT);
        cbi_st32(at + OPTIONS_AT + 4, sizeof record);
        memcpy(at + OPTION_TEXT_AT, record, sizeof record);
    }
    memcpy(at + HEADER_SIZE, e->payload, strlen(e->payload));
    return HEADER_SIZE + size;
}

static cbi_span make(uint8_t *out, const image *entries, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += put_entry(out + FATBIN_HEADER_SIZE + size, &entries[i]);
    cbi_st32(out, FATBIN_MAGIC);
    cbi_st16(out + 4, FATBIN_VERSION);
    cbi_st16(out + 6, FATBIN_HEADER_SIZE);
    cbi_st64(out + 8, size);
    return (cbi_span){out, FATBIN_HEADER_SIZE + size};
}

/* The payload's text of the entry chosen, "" if none. */
static const char *choose(const image *entries, size_t count, const char *target)
{
    static uint8_t bytes[4096];
    static char text[64];
    cbi_fatbin fatbin;
    cbi_fatbin_entry entry;
    cbi_choice choice = {.target = cbi_arch_find(target)};
    assert_true(cbi_fatbin_open(make(bytes, entries, count), &fatbin));
    if (!cbi_fatbin_choose(&fatbin, &choice, &entry))
        return "";
    snprintf(text, sizeof text, "%.*s", (int)entry.payload.size, (const char *)entry.payload.data);
    return text;
}

static void test_choice(void **state)
{
    (void)state;
    const image mixed[] = {
        {FATBIN_KIND_ELF, 80, 0, 0, false, "elf80"},    {FATBIN_KIND_PTX, 86, 0, 0, false, "ptx86"},
        {FATBIN_KIND_PTX, 90, 'a', 0, false, "ptx90a"}, {FATBIN_KIND_ELF, 90, 0, 0, false, "elf90"},
        {FATBIN_KIND_ELF, 90, 'a', 0, false, "elf90a"},
    };
    assert_string_equal(choose(mixed, 5, "sm_89"), "ptx86");
    assert_string_equal(choose(mixed, 4, "sm_90a"), "elf90");
    assert_string_equal(choose(mixed, 5, "sm_90"), "elf90a");
    assert_string_equal(choose(mixed, 5, "sm_80"), "elf80");
    assert_string_equal(choose(mixed, 5, "sm_75"), "");
    const uint64_t capsule = FATBIN_FLAG_CAPSULE;
    const image family[] = {
        {FATBIN_KIND_ELF, 100, 0, capsule, true, "elf100"},
        {FATBIN_KIND_ELF, 100, 'f', capsule, true, "elf100f"},
        {FATBIN_KIND_PTX, 103, 0, 0, false, "ptx103"},
    };
    assert_string_equal(choose(family, 2, "sm_103"), "elf100f");
    assert_string_equal(choose(family, 1, "sm_103a"), "elf100");
    assert_string_equal(choose(family, 3, "sm_103"), "ptx103");
    assert_string_equal(choose(family, 1, "sm_110"), "");
    const image closed[] = {{FATBIN_KIND_ELF, 100, 0, capsule, false, "noblock"},
                            {FATBIN_KIND_ELF, 100, 0, 0, true, "noflag"}};
    assert_string_equal(choose(closed, 1, "sm_103"), "");
    assert_string_equal(choose(closed + 1, 1, "sm_103"), "");
    assert_string_equal(choose(closed, 1, "sm_100f"), "noblock");
}

static void test_ties(void **state)
{
    (void)state;
    const uint64_t capsule = FATBIN_FLAG_CAPSULE;
    const image elf[] = {{FATBIN_KIND_ELF, 90, 0, 0, false, "first"},
                         {FATBIN_KIND_ELF, 90, 0, 0, false, "second"}};
    assert_string_equal(choose(elf, 2, "sm_90"), "first");
    const image forms[] = {{FATBIN_KIND_ELF, 100, 0, capsule, true, "capsule"},
                           {FATBIN_KIND_CAPSULE, 100, 0, capsule, true, "kind16"},
                           {FATBIN_KIND_ELF, 100, 0, 0, true, "plain"}};
    assert_string_equal(choose(forms, 2, "sm_100"), "kind16");
    assert_string_equal(choose(forms, 3, "sm_100"), "plain");
    const image ptx[] = {{FATBIN_KIND_PTX, 90, 0, 0, false, "first"},
                         {FATBIN_KIND_PTX, 90, 0, 0, false, "second"}};
    assert_string_equal(choose(ptx, 2, "sm_90"), "second");
    assert_string_equal(choose(ptx, 2, "sm_100"), "first");
    const image lto[] = {{FATBIN_KIND_LTOIR, 90, 0, 0, false, "lto"},
                         {FATBIN_KIND_PTX, 75, 0, 0, false, "ptx"}};
    assert_string_equal(choose(lto, 2, "sm_90"), "ptx");
    assert_string_equal(choose(lto, 1, "sm_90"), "lto");
    const image skipped[] = {{3, 90, 0, 0, false, "kind3"}, {64, 90, 0, 0, false, "kind64"}};
    assert_string_equal(choose(skipped, 2, "sm_90"), "");
}

/* An entry is read only from inside the bytes, wherever they end. */
static void test_cut(void **state)
{
    (void)state;
    static uint8_t bytes[4096];
    const image entries[] = {{FATBIN_KIND_ELF, 90, 0, 0, true, "one"},
                             {FATBIN_KIND_PTX, 90, 0, 0, true, "two two two"}};
    cbi_span whole = make(bytes, entries, 2);
    for (size_t size = 0; size < whole.size; size++) {
        uint8_t *copy = malloc(size ? size : 1); /* exact, so that a sanitizer sees every overrun */
        memcpy(copy, bytes, size);
        cbi_fatbin fatbin;
        cbi_fatbin_entry entry;
        if (cbi_fatbin_open((cbi_span){copy, size}, &fatbin)) {
            size_t count = 0;
            while (cbi_fatbin_next(&fatbin, &entry))
                count++;
            assert_true(count < 2);
            assert_non_null(fatbin.damage);
        }
        free(copy);
    }
}

static void test_bad_fields(void **state)
{
    (void)state;
    static uint8_t bytes[4096];
    const image one = {FATBIN_KIND_ELF, 90, 0, 0, true, "payload"};
    static const struct {
        size_t offset;
        size_t width;
        uint64_t value;
    } changes[] = {
        {16 + 4, 4, 0},           {16 + 4, 4, 63},          {16 + 4, 4, UINT32_MAX},
        {16 + 8, 8, UINT64_MAX},  {16 + 8, 8, 1 << 20},     {16 + 20, 4, UINT32_MAX},
        {16 + 20, 4, 78},         {16 + 64, 4, UINT32_MAX}, {16 + 68, 4, UINT32_MAX},
        {16 + 32, 8, UINT64_MAX}, {16 + 40, 8, 0x8001},     {16 + 16, 4, UINT32_MAX},
    };
    for (size_t i = 0; i < CBI_COUNT(changes); i++) {
        cbi_span whole = make(bytes, &one, 1);
        if (changes[i].offset == 16 + 16) /* a compressed size needs a compressed entry */
            cbi_st64(bytes + 16 + 40, FATBIN_FLAG_64BIT | FATBIN_FLAG_ZSTD);
        if (changes[i].width == 4)
            cbi_st32(bytes + changes[i].offset, (uint32_t)changes[i].value);
        else
            cbi_st64(bytes + changes[i].offset, changes[i].value);
        cbi_fatbin fatbin;
        cbi_fatbin_entry entry;
        assert_true(cbi_fatbin_open(whole, &fatbin));
        bool read = cbi_fatbin_next(&fatbin, &entry);
        if (changes[i].offset == 16 + 40) {
            cbi_ctx ctx;
            cbi_span image_bytes;
            cbi_ctx_init(&ctx);
            assert_true(read);
            assert_int_not_equal(cbi_fatbin_load(&ctx, &entry, NULL, &image_bytes), CBI_LOAD_OK);
            cbi_ctx_fini(&ctx);
        } else if (read) {
            fail_msg("change %zu was not noticed", i);
        }
    }
    cbi_fatbin fatbin;
    make(bytes, &one, 1);
    cbi_st16(bytes + 4, 2);
    assert_false(cbi_fatbin_open((cbi_span){bytes, 256}, &fatbin));
    cbi_st16(bytes + 4, 1);
    cbi_st16(bytes + 6, 8);
    assert_false(cbi_fatbin_open((cbi_span){bytes, 256}, &fatbin));
    cbi_st16(bytes + 6, 16);
    cbi_st64(bytes + 8, UINT64_MAX);
    assert_false(cbi_fatbin_open((cbi_span){bytes, 256}, &fatbin));
}

typedef struct load_case {
    cbi_fatbin_entry entry;
    cbi_scratch scratch;
    cbi_span image;
    cbi_load load;
} load_case;

static cb_status load_job(cbi_ctx *ctx, void *arg)
{
    load_case *c = arg;
    c->load = cbi_fatbin_load(ctx, &c->entry, &c->scratch, &c->image);
    return CB_OK;
}

static void test_load(void **state)
{
    (void)state;
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    static uint8_t text[10000], packed[20000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * i >> 7);
    for (int kind = CBI_LZ4; kind <= CBI_ZSTD; kind++) {
        size_t size = kind == CBI_LZ4 ? (size_t)LZ4_compress_default((char *)text, (char *)packed,
                                                                     sizeof text, sizeof packed)
                                      : ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
        load_case c = {.entry = {.payload = {packed, size},
                                 .compression = (cbi_compression)kind,
                                 .size = sizeof text}};
        assert_int_equal(cbi_run(&ctx, load_job, &c), CB_OK);
        assert_int_equal(c.load, CBI_LOAD_OK);
        assert_memory_equal(c.image.data, text, sizeof text);
        /* any other size, a shorter payload, a changed byte */
        static const uint64_t sizes[] = {
            0, 1, sizeof text - 1, sizeof text + 1, UINT64_MAX, (uint64_t)1 << 40};
        for (size_t i = 0; i < CBI_COUNT(sizes); i++) {
            c.entry.size = sizes[i];
            assert_int_equal(cbi_run(&ctx, load_job, &c), CB_OK);
            assert_int_not_equal(c.load, CBI_LOAD_OK);
        }
        c.entry.size = sizeof text;
        for (size_t cut = 0; cut < size; cut += 97) {
            c.entry.payload.size = cut;
            assert_int_equal(cbi_run(&ctx, load_job, &c), CB_OK);
            assert_int_not_equal(c.load, CBI_LOAD_OK);
        }
    }
    load_case hidden = {.entry = {.flags = FATBIN_FLAG_OBFUSCATED, .compression = CBI_ZSTD}};
    assert_int_equal(cbi_run(&ctx, load_job, &hidden), CB_OK);
    assert_int_equal(hidden.load, CBI_LOAD_OBFUSCATED);
    cbi_ctx_fini(&ctx);
}

/* A small payload that claims to be huge must not take the memory for it. */
static void test_bomb(void **state)
{
    (void)state;
    unit_heap heap = {0};
    cbi_ctx ctx;
    unit_ctx_init(&ctx, &heap);
    ctx.memory_limit = 64 << 20;
    static uint8_t packed[1 << 20];
    size_t size = 512 << 20;
    uint8_t *zeros = calloc(1, size);
    assert_non_null(zeros);
    size_t packed_size = ZSTD_compress(packed, sizeof packed, zeros, size, 1);
    free(zeros);
    load_case c = {
        .entry = {.payload = {packed, packed_size}, .compression = CBI_ZSTD, .size = size}};
    assert_int_equal(cbi_run(&ctx, load_job, &c), CB_ERR_NOMEM);
    c.entry.compression = CBI_LZ4;
    c.entry.payload.size = 1000;
    c.entry.size = 1 << 30;
    assert_int_equal(cbi_run(&ctx, load_job, &c), CB_OK);
    assert_int_equal(c.load, CBI_LOAD_SIZE);
    assert_true(heap.live_bytes <= (size_t)64 << 20);
    cbi_ctx_fini(&ctx);
    assert_int_equal(heap.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),     cmocka_unit_test(test_ties), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_bad_fields), cmocka_unit_test(test_load), cmocka_unit_test(test_bomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
