/* The records of capsules beside their instructions: every row of the tables, by what all classes,
 * encodings and values give.  fields.txt has a digest for each opcode that nothing else has: a
 * change that was not meant shows. After one that was: UNIT_WRITE=1 build/tests/unit/test_fields.
 */
#include "unit.h"

#include "capsule/fields.h"
#include "capsule/units.h"
#include "sass/opcodes.h"

#include <stdio.h>
#include <xxhash.h>

enum { CLASSES = 0x70, MOST_UNITS = 2, RECORD = 32, ENCODINGS = 256, VALUES = 4, SYSTEM = 12 };

static uint64_t drawn(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void take(uint64_t *digest, const void *data, size_t size)
{
    *digest = XXH3_64bits_withSeed(data, size, *digest);
}

static void take_text(uint64_t *digest, const char *text)
{
    take(digest, text ? text : "", text ? strlen(text) + 1 : 0);
}

static void take_fields(uint64_t *digest, const cbi_capsule_entry *e, const uint8_t *instruction)
{
    cbi_capsule_field fields[CBI_CAPSULE_FIELDS];
    size_t count = cbi_capsule_fields(e, instruction, fields);
    take(digest, &count, sizeof count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t facts[] = {fields[i].value, fields[i].sass, fields[i].relocatable};
        take_text(digest, fields[i].name);
        take(digest, facts, sizeof facts);
    }
}

/* What is said of a record that has a row: all fields, with several values in both. */
static void take_values(uint64_t *digest, cbi_ctx *ctx, cbi_capsule_entry e, uint32_t opcode,
                        uint64_t *state)
{
    for (unsigned n = 0; n < VALUES; n++) {
        uint8_t record[RECORD], instruction[CBI_SASS_INSTRUCTION];
        for (size_t i = 0; i < sizeof record; i++)
            record[i] = (uint8_t)drawn(state);
        record[2] = e.record.data[2];
        e.record = (cbi_span){record, (size_t)e.units * 16};
        cbi_sass w;
        w.lo = drawn(state);
        w.hi = drawn(state);
        if (n % 2) /* no register, bank 0 */
            w.lo = (w.lo & ~(UINT64_C(0xff) << 24 | UINT64_C(0x1f) << 54)) | UINT64_C(0xff) << 24;
        w.lo = (w.lo & ~UINT64_C(0xfff)) | opcode;
        cbi_sass_store(instruction, w);
        take_fields(digest, &e, instruction);
        take_text(digest, cbi_capsule_fields_problem(ctx, &e, instruction));
    }
}

/* Whether there is a row for it: a record has its guard in any case. */
static bool has_row(const cbi_capsule_entry *e, const uint8_t *instruction)
{
    cbi_capsule_field fields[CBI_CAPSULE_FIELDS];
    return cbi_capsule_fields(e, instruction, fields) > 1;
}

static uint64_t digest_of(cbi_ctx *ctx, uint32_t opcode)
{
    uint64_t digest = 0, state = opcode;
    uint8_t record[RECORD] = {0}, instruction[CBI_SASS_INSTRUCTION];
    cbi_sass_store(instruction, (cbi_sass){opcode, 0});
    for (unsigned at = 0; at < CLASSES * MOST_UNITS; at++) {
        cbi_capsule_entry e = {.kind = CBI_CAPSULE_RECORD,
                               .count = 1,
                               .klass = (uint8_t)(at / MOST_UNITS),
                               .units = (uint8_t)(1 + at % MOST_UNITS)};
        for (e.form = 0; e.form <= 4; e.form += 4) {
            for (unsigned encoding = 0; encoding < (e.form ? 2 : ENCODINGS); encoding += 2) {
                record[2] = (uint8_t)encoding;
                e.record = (cbi_span){record, (size_t)e.units * 16};
                bool strange = cbi_capsule_kind_problem(ctx, &e, instruction);
                bool row = has_row(&e, instruction);
                const uint32_t where[] = {at, e.form, encoding, strange};
                if (!strange || row)
                    take(&digest, where, sizeof where);
                if (row)
                    take_values(&digest, ctx, e, opcode, &state);
            }
        }
    }
    return digest;
}

/* Each number of a system value or special register, with each value that could stand for it. */
static uint64_t digest_of_numbers(cbi_ctx *ctx, uint32_t opcode, uint8_t encoding, unsigned low,
                                  unsigned values)
{
    uint64_t digest = 0;
    uint8_t record[16] = {0}, instruction[CBI_SASS_INSTRUCTION];
    record[2] = encoding;
    for (unsigned number = 0; number < 256; number++) {
        record[SYSTEM] = (uint8_t)number;
        for (unsigned value = 0; value < values; value++) {
            cbi_sass w = {opcode, 0};
            uint64_t *half = low < 64 ? &w.lo : &w.hi;
            *half |= (uint64_t)value << low % 64;
            cbi_sass_store(instruction, w);
            const cbi_capsule_entry e = {.kind = CBI_CAPSULE_RECORD,
                                         .count = 1,
                                         .klass = 0x0b,
                                         .units = 1,
                                         .record = {record, sizeof record}};
            take_fields(&digest, &e, instruction);
        }
    }
    (void)ctx;
    return digest;
}

static uint64_t digest_of_lengths(uint32_t opcode)
{
    uint64_t digest = 0;
    for (unsigned how = 0; how < 1 << 9; how++) {
        uint8_t instruction[CBI_SASS_INSTRUCTION];
        static const uint8_t places[] = {72, 73, 74, 80, 87, 88, 89, 90};
        cbi_sass w = {opcode, how & 1 ? 0xff : how & 2 ? 0x1ff : 0x7f};
        for (unsigned k = 0; k < CBI_COUNT(places); k++)
            w.hi |= (uint64_t)(how >> (k + 1) & 1) << (places[k] - 64);
        cbi_sass_store(instruction, w);
        uint64_t facts[3] = {cbi_capsule_units(instruction)};
        cbi_capsule_derived_units(instruction, &facts[1], &facts[2]);
        take(&digest, facts, sizeof facts);
    }
    return digest;
}

static size_t write_all(cbi_ctx *ctx, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < cbi_instruction_count; i++) {
        uint32_t opcode = cbi_instructions[i].opcode;
        n += (size_t)snprintf(out + n, size - n, "%03x %016llx %016llx\n", opcode,
                              (unsigned long long)digest_of(ctx, opcode),
                              (unsigned long long)digest_of_lengths(opcode));
    }
    const struct {
        uint32_t opcode;
        uint8_t encoding;
        unsigned low, values;
    } numbers[] = {{CBI_OP_LDCU, 0x06, 37, 0x400},
                   {CBI_OP_LDC, 0x04, 38, 0x400},
                   {CBI_OP_S2R, 0x04, 72, 256},
                   {CBI_OP_CS2R, 0x04, 72, 256}};
    for (size_t i = 0; i < CBI_COUNT(numbers); i++)
        n += (size_t)snprintf(
            out + n, size - n, "numbers of %03x %016llx\n", numbers[i].opcode,
            (unsigned long long)digest_of_numbers(ctx, numbers[i].opcode, numbers[i].encoding,
                                                  numbers[i].low, numbers[i].values));
    return n;
}

static void all_fields_are_as_stored(void **state)
{
    (void)state;
    enum { ROOM = 1 << 16 };
    static char now[ROOM], then[ROOM];
    unit_heap heap = {0};
    cbi_ctx ctx = {0};
    unit_ctx_init(&ctx, &heap);
    size_t size = write_all(&ctx, now, sizeof now);
    assert_true(size < sizeof now);
    FILE *f = fopen(SOURCE_ROOT "/tests/unit/fields.txt", getenv("UNIT_WRITE") ? "w" : "r");
    assert_non_null(f);
    if (getenv("UNIT_WRITE"))
        fwrite(now, 1, size, f);
    else
        assert_int_equal(fread(then, 1, sizeof then, f), size);
    fclose(f);
    if (!getenv("UNIT_WRITE"))
        assert_memory_equal(now, then, size);
    cbi_ctx_fini(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_fields_are_as_stored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
