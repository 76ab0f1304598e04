/* Optimizer constants (bank 2 of a function): kernels take over those of what they call.  And the
 * bank of variables. */
#include "modules.h"

/* Each bank's bytes, equal ones counted. */
static void say_banks(const linked *l, char *text, size_t room)
{
    for (uint32_t i = 1; i < l->object.section_count; i++) {
        const cbi_section *s = &l->object.sections[i];
        if (strncmp(s->name, ".nv.constant2", 13) != 0)
            continue;
        say_more(text, room, "%s%s:", *text ? ", " : "", s->name + 14);
        for (size_t at = 0, end; at < s->data.size; at = end) {
            for (end = at; end < s->data.size && s->data.data[end] == s->data.data[at];)
                end++;
            say_more(text, room, " %zux%02x", end - at, s->data.data[at]);
        }
    }
}

static void constant_banks_merge(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"a kernel's own", {"kernel k tables=8 fill=1"}, "k: 8x01"},
        {"a callee's", {"kernel k calls=f; func f tables=8 fill=2"}, "k: 8x02"},
        {"behind the kernel's own",
         {"kernel k calls=f tables=4 fill=1; func f tables=8 fill=2"},
         "k: 4x01 8x02"},
        {"of two callees the newer one first",
         {"kernel k calls=f,g tables=4 fill=1; func f tables=8 fill=2; func g tables=4 fill=3"},
         "k: 4x01 4x03 8x02"},
        {"at one offset in all kernels",
         {"kernel k calls=f tables=4 fill=1; kernel j calls=f tables=20 fill=2; func f tables=8 "
          "fill=3"},
         "k: 4x01 16x00 8x03, j: 20x02 8x03"},
        {"only where it is called",
         {"kernel k calls=f tables=4 fill=1; kernel j tables=20 fill=2; func f tables=8 fill=3"},
         "k: 4x01 8x03, j: 20x02"},
        {"through two levels",
         {"kernel k calls=f; func f calls=g; func g tables=8 fill=3"},
         "k: 8x03"},
        {"of a dead function", {"kernel k tables=4 fill=1; func f tables=8 fill=3"}, "k: 4x01"},
        {"in two objects",
         {"kernel k calls=f tables=4 fill=1; extern func f", "func f tables=8 fill=3"},
         "k: 4x01 8x03"},
        {"a weak copy that loses at once stays as dead space",
         {"kernel k calls=f; weak func f tables=8 fill=1", "weak func f tables=4 fill=2"},
         "k: 8x01 4x02"},
        {"a copy that is replaced",
         {"kernel k calls=f; weak func f tables=8 fill=1", "func f tables=4 fill=2"},
         "k: 4x02"},
        {"a copy without any that is replaced",
         {"kernel k calls=f; weak func f", "func f tables=4 fill=2"},
         "k: 4x02"},
        {"-r leaves them",
         {"kernel k calls=f tables=4 fill=1; func f tables=8 fill=2"},
         "k: 4x01, f: 8x02",
         CB_LINK_RELOCATABLE},
        {"-g spreads them, too",
         {"kernel k calls=f tables=4 fill=1; func f tables=8 fill=2"},
         "k: 4x01 8x02",
         CB_LINK_DEBUG},
        {"on sm_90",
         {"kernel k calls=f tables=4 fill=1; func f tables=8 fill=2"},
         "k: 4x01 8x02",
         0,
         90},
    };
    link_table(rows, sizeof rows / sizeof *rows, say_banks);
}

/* A copy that loses brings the first constants, the next two replace each other: nvlink writes the
 * last ones over those of the second, which it forgets to empty. */
#define FORGOTTEN(size)                                                                            \
    "kernel k calls=f; weak func f regs=40", "weak func f regs=50 tables=8 fill=1",                \
        "weak func f regs=30 tables=" #size " fill=2"

#define TOO_MANY(name)                                                                             \
    "Entry function '" name "' uses too much data for compiler-generated constants; please "       \
    "recompile with -Xptxas --disable-optimizer-constants\n"

/* Each bank of them has room for 64 KiB, with what it takes over. */
static void bank_limit(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"64 KiB", {"kernel k tables=65536 fill=1"}, "k: 65536x01"},
        {"more", {"kernel k tables=65537 fill=1"}, TOO_MANY("k")},
        {"with a callee's",
         {"kernel k calls=f tables=40000 fill=1; func f tables=40000 fill=2"},
         TOO_MANY("k")},
        {"-r: of a function",
         {"kernel k calls=f tables=40000 fill=1; func f tables=65540 fill=2"},
         TOO_MANY("f"),
         CB_LINK_RELOCATABLE},
        {"in the order of the sections",
         {"kernel k params=65536; kernel j tables=65540 fill=1"},
         TOO_MANY("j") "Entry function 'k' uses too much constant data (0x10160 bytes, 0x10000 "
                       "max)\n"},
    };
    link_table(rows, CBI_COUNT(rows), say_banks);
}

static void constants_over_others(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"over others: as long",
         {FORGOTTEN(8), "func f regs=20 tables=8 fill=2"},
         "k: 8x02",
         LINKED_EXACT},
        {"over others: shorter",
         {FORGOTTEN(8), "func f regs=20 tables=4 fill=2"},
         "k: 8x02",
         LINKED_EXACT},
        {"over others: longer",
         {FORGOTTEN(8), "func f regs=20 tables=16 fill=2"},
         "k: 16x02",
         LINKED_EXACT},
        {"over others: one byte more",
         {FORGOTTEN(8), "func f regs=20 tables=9 fill=2"},
         "k: 9x02 3x00",
         LINKED_EXACT},
        {"over others: other bytes",
         {FORGOTTEN(8), "func f regs=20 tables=8 fill=3"},
         "Internal error: overlapping non-identical data\n",
         LINKED_EXACT},
        {"over others: their end and more",
         {FORGOTTEN(8), "func f regs=20 tables=8 fill=2 tableat=4"},
         "Internal error: overlapping data spans too much\n",
         LINKED_EXACT},
        {"over others: behind them",
         {FORGOTTEN(8), "func f regs=20 tables=8 fill=2 tableat=8"},
         "k: 16x02",
         LINKED_EXACT},
        {"over others: far behind them",
         {FORGOTTEN(8), "func f regs=20 tables=8 fill=3 tableat=12"},
         "k: 8x02 4x00 8x03",
         LINKED_EXACT},
        {"over others: of an odd size",
         {FORGOTTEN(5), "func f regs=20 tables=5 fill=2"},
         "k: 5x02 3x00",
         LINKED_EXACT},
    };
    link_table(rows, CBI_COUNT(rows), say_banks);
}

static void odd_constants(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"of odd sizes",
         {"kernel k calls=f tables=5 fill=1; func f tables=3 fill=2"},
         "k: 5x01 3x00 3x02 1x00"},
        {"of odd sizes, with -r",
         {"kernel k tables=5 fill=1 tableat=3"},
         "k: 3x00 5x01",
         CB_LINK_RELOCATABLE},
        {"a hole in front",
         {"kernel k tables=5 fill=1 tableat=3; kernel j tables=4 fill=2 tableat=4"},
         "k: 3x00 5x01, j: 4x00 4x02"},
    };
    link_table(rows, CBI_COUNT(rows), say_banks);
}

/* Bytes of the variables' bank. */
static void say_user(const linked *l, char *text, size_t room)
{
    uint32_t index = cbi_object_find(&l->object, ".nv.constant3");
    const cbi_section *s = &l->object.sections[index];
    for (size_t at = 0, end; at < s->data.size; at = end) {
        for (end = at; end < s->data.size && s->data.data[end] == s->data.data[at];)
            end++;
        say_more(text, room, "%s%zux%02x", at ? " " : "", end - at, s->data.data[at]);
    }
}

static void user_constants(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"one after the other",
         {"kernel k uses=a,b; const a size=4 fill=1; extern const b",
          "const b size=8 align=8 fill=2"},
         "4x01 4x00 8x02"},
        {"losing copies stay",
         {"kernel k uses=a; weak const a size=4 fill=1", "weak const a size=4 fill=2"},
         "4x01 4x02"},
        {"replaced copies stay",
         {"kernel k uses=a; weak const a size=4 fill=1", "const a size=4 fill=2"},
         "4x01 4x02"},
        {"unused ones stay",
         {"kernel k uses=a; const a size=4 fill=1; const b size=4 fill=2"},
         "4x01 4x02"},
        {"64 KiB", {"kernel k uses=a; const a size=65536 fill=1"}, "65536x01"},
        {"more than 64 KiB",
         {"kernel k uses=a; const a size=65537 fill=1"},
         "File uses too much global constant data (0x10001 bytes, 0x10000 max)\n"},
        {"more than 64 KiB of parameters",
         {"kernel k params=65536"},
         "Entry function 'k' uses too much constant data (0x10160 bytes, 0x10000 max)\n"},
        {"64 KiB without padding",
         {"kernel k uses=a; const b size=4 fill=2; const a size=65528 align=256 fill=1",
          "const c size=4 fill=3"},
         "File uses too much global constant data (0x100fc bytes, 0x10000 max)\n"},
    };
    link_table(rows, sizeof rows / sizeof *rows, say_user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_banks_merge), cmocka_unit_test(bank_limit),
        cmocka_unit_test(constants_over_others), cmocka_unit_test(odd_constants),
        cmocka_unit_test(user_constants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
