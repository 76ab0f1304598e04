/* Capsules: what an entry covers, and what no capsule may hold. */
#include "unit.h"

#include "capsule/capsule.h"

enum { RUN = 0x50, NOTE = 0x31, MOST = 40 };

/* A capsule with so many entries, all of them stored, with these bytes. */
static cbi_span make(uint8_t *bytes, uint32_t entries, const uint8_t *stored, size_t size)
{
    memset(bytes, 0, MOST + 16);
    cbi_st32(bytes + 4, 3u << 30 | 1);
    cbi_st32(bytes + 8, entries);
    memcpy(bytes + 16, stored, size);
    return (cbi_span){bytes, 16 + size};
}

static void what_entries_cover(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint32_t entries;
        uint8_t stored[MOST];
        size_t size;
        uint64_t instructions;
        const char *error; /* NULL: it is sound */
    } rows[] = {
        {"the tail alone", 1, {RUN | 0x80, 1}, 2, 3, NULL},
        {"a note covers no instruction", 2, {NOTE, 0, [16] = RUN | 0x80, 0}, 18, 1, NULL},
        {"a record covers one", 2, {1, 0, [16] = RUN | 0x80, 0}, 18, 2, NULL},
        {"a run with a record", 2, {RUN | 0x81, 0, 1, 0, [18] = RUN | 0x80, 0}, 20, 2, NULL},
        {"a run with a note", 2, {RUN | 0x81, 0, NOTE, 0, [18] = RUN | 0x80, 0}, 20, 2, NULL},
        {"a run of an unknown kind",
         1,
         {RUN | 0x82, 0},
         2,
         1,
         "a run prefix is of an unknown kind"},
        {"a run of nothing", 1, {RUN, 0}, 2, 0, "a run covers no instruction"},
        {"an unknown form", 1, {0x21, 0}, 16, 1, "a record has an unknown storage form"},
        {"half a record", 1, {1, 0}, 15, 1, "a record does not fit"},
        {"half an entry", 1, {1}, 1, 1, "an entry does not fit"},
        {"more code", 1, {RUN | 0x80, 1}, 2, 4, "it does not cover the text exactly"},
        {"bytes behind", 1, {RUN | 0x80, 1, 0}, 3, 3, "bytes are left over"},
        {"no tail", 1, {1, 0}, 16, 1, "the last entry is not the tail"},
    };
    size_t wrong = 0;
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        uint8_t bytes[MOST + 16];
        const char *got = cbi_capsule_verify(
            make(bytes, rows[i].entries, rows[i].stored, rows[i].size), rows[i].instructions * 16);
        if ((got && rows[i].error) ? strcmp(got, rows[i].error) != 0 : got != rows[i].error)
            wrong++, print_error("%s: %s\n", rows[i].what, got ? got : "sound");
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_entries_cover)};
    return cmocka_run_group_tests_name("capsule", tests, NULL, NULL);
}
