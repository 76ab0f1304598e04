/* Shared memory: where variables lie.  Each slot of a function's code (16 bytes) has the address of
 * a variable in its place; a row lists them, and the sizes of the kernels' sections. */
#include "modules.h"

static void say_shared(const linked *l, char *text, size_t room)
{
    for (uint32_t i = 1; i < l->object.symbol_count; i++) {
        const cbi_symbol *s = &l->object.symbols[i];
        if (CBI_ST_TYPE(s->info) != STT_FUNC || s->shndx == SHN_UNDEF)
            continue;
        cbi_span code = l->object.sections[s->shndx].data;
        say_more(text, room, "%s%s:", *text ? " " : "", s->name);
        for (uint64_t at = 0; at < s->size; at += 16)
            say_more(text, room, " %x", cbi_ld32(code.data + s->value + at + 4) >> 8);
        char name[64];
        snprintf(name, sizeof name, ".nv.shared.%s", s->name);
        uint32_t index = cbi_object_find(&l->object, name);
        if (index)
            say_more(text, room, " of %x", (unsigned)l->object.sections[index].size);
    }
}

#define BOTH(uses, size)                                                                           \
    "kernel k uses=" uses " size=" #size "; kernel j uses=" uses " size=" #size "; "

static void order(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"one", {BOTH("a", 16) "shared a size=4"}, "k: 0 of 4 j: 0 of 4"},
        {"two of one size",
         {BOTH("a,b", 32) "shared a size=4; shared b size=4"},
         "k: 4 0 of 8 j: 4 0 of 8"},
        {"three of one size",
         {BOTH("a,b,c", 48) "shared a size=4; shared b size=4; shared c size=4"},
         "k: 4 0 8 of c j: 4 0 8 of c"},
        {"four of one size",
         {BOTH("a,b,c,d", 64) "shared a size=4; shared b size=4; shared c size=4; shared d size=4"},
         "k: 8 0 c 4 of 10 j: 8 0 c 4 of 10"},
        {"five of one size",
         {BOTH("a,b,c,d,e", 80) "shared a size=4; shared b size=4; shared c size=4; shared d "
                                "size=4; shared e size=4"},
         "k: 10 0 8 4 c of 14 j: 10 0 8 4 c of 14"},
        {"seven of one size",
         {BOTH("a,b,c,d,e,f,g", 112) "shared a size=4; shared b size=4; shared c size=4; shared d "
                                     "size=4; shared e size=4; shared f size=4; shared g size=4"},
         "k: 10 8 18 0 c 4 14 of 1c j: 10 8 18 0 c 4 14 of 1c"},
        {"growing",
         {BOTH("a,b,c", 48) "shared a size=4; shared b size=8; shared c size=12"},
         "k: 14 c 0 of 18 j: 14 c 0 of 18"},
        {"shrinking",
         {BOTH("a,b,c", 48) "shared a size=12; shared b size=8; shared c size=4"},
         "k: 0 c 14 of 18 j: 0 c 14 of 18"},
        {"two pairs",
         {BOTH("a,b,c,d", 64) "shared a size=4; shared b size=8; shared c size=4; shared d size=8"},
         "k: 10 0 14 8 of 18 j: 10 0 14 8 of 18"},
        {"the size counts, not the alignment",
         {BOTH("a,b,c", 48) "shared a size=4 align=64; shared b size=8; shared c size=12 align=8"},
         "k: 40 c 0 of 44 j: 40 c 0 of 44"},
        {"in two objects",
         {BOTH("a,b,c,d", 64) "extern shared a; extern shared b; shared c size=4; shared d size=4",
          "shared a size=4; shared b size=4"},
         "k: ffffff ffffff 4 0 of 8 j: ffffff ffffff 4 0 of 8"},
    };
    link_table(rows, sizeof rows / sizeof *rows, say_shared);
}

static void groups(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"of one kernel: its own, by alignment, then size",
         {"kernel k uses=a,b,c,d size=64; shared a size=4; shared b size=4 align=16; shared c "
          "size=8; shared d size=2 align=2"},
         "k: 4 0 8 10 of 12"},
        {"kernels that share nothing lie over each other",
         {"kernel k uses=a size=16; kernel j uses=b size=16; shared a size=4; shared b size=8"},
         "k: 0 of 4 j: 0 of 8"},
        {"a common variable is in front of own ones",
         {"kernel k uses=a,c size=32; kernel j uses=b,c size=32; shared a size=4; shared b size=8; "
          "shared c size=12"},
         "k: c 0 of 10 j: c 0 of 14"},
        {"a callee's shared memory: of two kernels",
         {"kernel k calls=f uses=a size=32; kernel j calls=f size=16; func f uses=c size=16; "
          "shared a size=4; shared c size=12"},
         "k: 0 c of 10 j: 0 of c f: 0"},
        {"a callee's shared memory: of one kernel",
         {"kernel k calls=f uses=a size=32; kernel j size=16; func f uses=c size=16; shared a "
          "size=4; shared c size=12"},
         "k: 0 0 of 10 j: 0 f: 4"},
        {"three kernels in pairs",
         {"kernel k uses=a,b size=32; kernel j uses=b,c size=32; kernel i uses=a,c size=32; shared "
          "a size=4; shared b size=8; shared c size=12"},
         "k: 14 c of 18 j: c 0 of 14 i: 14 0 of 18"},
        {"two pairs share a group",
         {"kernel k uses=a size=16; kernel j uses=a size=16; kernel i uses=b size=16; kernel h "
          "uses=b size=16; shared a size=4; shared b size=16"},
         "k: 0 of 4 j: 0 of 4 i: 0 of 10 h: 0 of 10"},
        {"a group's largest member counts for those who reach it",
         {"kernel k uses=a,x size=32; kernel j uses=a size=16; kernel i uses=b,y size=32; kernel h "
          "uses=b size=16; shared a size=4; shared b size=64; shared x size=4; shared y size=4"},
         "k: 0 4 of 8 j: 0 of 4 i: 0 40 of 44 h: 0 of 40"},
        {"alignment of groups",
         {"kernel k uses=a,b size=32; kernel j uses=a,b size=32; shared a size=4; shared b size=32 "
          "align=32"},
         "k: 20 0 of 24 j: 20 0 of 24"},
        {"nobody uses it",
         {"kernel k uses=a size=16; shared a size=4; shared b size=100"},
         "k: 0 of 4"},
        {"only dead code uses it",
         {"kernel k uses=a size=16; func f uses=b size=16; shared a size=4; shared b size=100"},
         "k: 0 of 4"},
        {"static ones of two objects",
         {"kernel k uses=a size=16; static shared a size=4",
          "kernel j uses=a size=16; static shared a size=8"},
         "k: 0 of 4 j: 0 of 8"},
        {"48 KiB", {"kernel k uses=a size=16; shared a size=49152"}, "k: 0 of c000"},
        {"more",
         {"kernel k uses=a size=16; shared a size=49153"},
         "Entry function 'k' uses too much shared data (0xc001 bytes, 0xc000 max)\n"},
        {"the 1 KiB that sm_90 reserves",
         {"kernel k uses=a,b size=32; kernel j uses=a size=16; shared a size=4; shared b size=8"},
         "k: 0 4 of 40c j: 0 of 404",
         0,
         90},
        {"48 KiB and the reserved one",
         {"kernel k uses=a size=16; shared a size=49152"},
         "k: 0 of c400",
         0,
         90},
        {"more on sm_90",
         {"kernel k uses=a size=16; shared a size=49153"},
         "Entry function 'k' uses too much shared data (0xc001 bytes, 0xc000 max)\n",
         0,
         90},
        {"without space on sm_90", {"kernel k size=16"}, "k: 0", 0, 90},
        {"-r keeps alignments as places",
         {BOTH("a,b", 32) "shared a size=4; shared b size=8 align=8"},
         "k: 4 8 j: 4 8",
         CB_LINK_RELOCATABLE},
    };
    link_table(rows, sizeof rows / sizeof *rows, say_shared);
}

static void dynamic(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"alone", {"kernel k uses=d size=16; extern shared d"}, "k: 0 of 0"},
        {"behind own variables, at 16",
         {"kernel k uses=a,d size=32; extern shared d; shared a size=4"},
         "k: 0 10 of 10"},
        {"kernels without a common user",
         {"kernel k uses=a,d size=32; kernel j uses=b,d size=32; extern shared d; shared a size=4; "
          "shared b size=40"},
         "k: 0 10 of 10 j: 0 30 of 30"},
        {"a callee joins its kernels",
         {"kernel k calls=f uses=a size=32; kernel j calls=f uses=b size=32; func f uses=d "
          "size=16; extern shared d; shared a size=4; shared b size=40"},
         "k: 0 0 of 30 j: 0 0 of 30 f: 30"},
        {"a kernel that does not reach it",
         {"kernel k calls=f uses=a size=32; kernel j uses=b size=16; func f uses=d size=16; extern "
          "shared d; shared a size=4; shared b size=40"},
         "k: 0 0 of 10 j: 0 of 28 f: 10"},
        {"two callees and three kernels",
         {"kernel k calls=f uses=a size=32; kernel j calls=f,g size=32; kernel i calls=g uses=b "
          "size=32; func f uses=d size=16; func g uses=d size=16; extern shared d; shared a "
          "size=4; shared b size=40"},
         "k: 0 0 of 30 j: 0 0 of 30 i: 0 0 of 30 f: 30 g: 30"},
        {"one address with -g",
         {"kernel k uses=a,d size=32; kernel j uses=b,d size=32; extern shared d; shared a size=4; "
          "shared b size=40"},
         "k: 0 30 of 30 j: 0 30 of 30",
         CB_LINK_DEBUG},
        {"on sm_90",
         {"kernel k uses=a,d size=32; kernel j uses=d size=16; extern shared d; shared a size=4"},
         "k: 0 10 of 410 j: 0 of 400",
         0,
         90},
    };
    link_table(rows, sizeof rows / sizeof *rows, say_shared);
}

/* The section in which debuggers find all variables. */
static void say_debug(const linked *l, char *text, size_t room)
{
    uint32_t index = cbi_object_find(&l->object, ".nv_debug.shared");
    if (index)
        say_more(text, room, "%x", (unsigned)l->object.sections[index].size);
}

static void debug(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"final links have none", {"kernel k uses=a; shared a size=1"}, "", CB_LINK_DEBUG},
        {"one byte",
         {"kernel k uses=a; shared a size=1 align=1"},
         "2",
         CB_LINK_DEBUG | CB_LINK_RELOCATABLE},
        {"an alignment and what it holds",
         {"kernel k uses=a; shared a size=1"},
         "5",
         CB_LINK_DEBUG | CB_LINK_RELOCATABLE},
        {"no variables", {"kernel k"}, "", CB_LINK_DEBUG | CB_LINK_RELOCATABLE},
    };
    link_table(rows, CBI_COUNT(rows), say_debug);
}

/* Address 0 stays free. */
static void null_reserved(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"null: one kernel's",
         {"kernel k uses=a size=16; shared a size=1 align=1"},
         "k: 1 of 2",
         LINKED_NULL_RESERVED},
        {"null: two kernels'",
         {BOTH("a", 16) "shared a size=1 align=1"},
         "k: 1 of 2 j: 1 of 2",
         LINKED_NULL_RESERVED},
        {"null: two kernels' and own",
         {BOTH("a",
               16) "kernel i uses=b size=16; shared a size=1 align=1; shared b size=1 align=1"},
         "k: 1 of 2 j: 1 of 2 i: 1 of 2",
         LINKED_NULL_RESERVED},
        {"null: behind a group",
         {"kernel k uses=a,b size=32; kernel j uses=a size=16; shared a size=1 align=1; shared b "
          "size=1 align=1"},
         "k: 1 2 of 3 j: 1 of 2",
         LINKED_NULL_RESERVED},
        {"null: dynamic",
         {"kernel k uses=d size=16; extern shared d"},
         "k: 10 of 10",
         LINKED_NULL_RESERVED},
        {"null: dynamic, -g",
         {"kernel k uses=d size=16; extern shared d"},
         "k: 10 of 10",
         LINKED_NULL_RESERVED | CB_LINK_DEBUG},
        {"null: dynamic, nobody reaches it, -g",
         {"kernel k uses=a size=16; func f uses=d size=16; shared a size=1; extern shared d"},
         "k: 4 of 5 f: 10",
         LINKED_NULL_RESERVED | CB_LINK_DEBUG},
        {"null: dynamic at first, then of a size, -g",
         {"kernel k uses=d size=16; extern shared d", "kernel j uses=d size=16; shared d size=4"},
         "k: 10 j: 10",
         LINKED_NULL_RESERVED | CB_LINK_DEBUG},
        {"null: -r",
         {BOTH("a", 16) "shared a size=1 align=1"},
         "k: 1 j: 1",
         LINKED_NULL_RESERVED | CB_LINK_RELOCATABLE},
        {"null: dynamic, -r",
         {"kernel k uses=d size=16; extern shared d"},
         "k: 0 of 20",
         LINKED_NULL_RESERVED | CB_LINK_RELOCATABLE},
        {"null: -preserve-relocs",
         {BOTH("a,d", 32) "shared a size=1 align=1; extern shared d"},
         "k: 1 10 of 10 j: 1 10 of 10",
         LINKED_NULL_RESERVED | CB_LINK_PRESERVE_RELOCS},
        {"null: sm_90",
         {BOTH("a", 16) "shared a size=1 align=1"},
         "k: 1 of 402 j: 1 of 402",
         LINKED_NULL_RESERVED,
         90},
    };
    link_table(rows, CBI_COUNT(rows), say_shared);
}

static void one_kernel(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"one kernel: own variables of two",
         {"kernel k uses=a size=16; kernel j uses=a,b size=32; shared a size=1 align=1; shared b "
          "size=4"},
         "k: 0 of 1",
         LINKED_ONE_KERNEL},
        {"one kernel: an unwanted one that is reached",
         {"kernel k rel=56:j size=16; kernel j uses=b size=16; shared b size=4"},
         "k: 0",
         LINKED_ONE_KERNEL},
        {"one kernel: an unwanted one with dynamic memory",
         {"kernel k rel=56:j size=16; kernel j uses=b,d size=32; shared b size=4; extern shared d"},
         "k: 0",
         LINKED_ONE_KERNEL},
        {"one kernel: a callee's dynamic memory",
         {"kernel k calls=f size=16; kernel j calls=f uses=b size=32; func f uses=d size=16; "
          "shared b size=4; extern shared d"},
         "k: 0 of 0 f: 0",
         LINKED_ONE_KERNEL},
        {"one kernel: -g, dead variables",
         {"kernel k size=16; kernel j uses=b size=16; shared b size=4"},
         "k: 0 j: 0 of 4",
         LINKED_ONE_KERNEL | CB_LINK_DEBUG},
    };
    link_table(rows, CBI_COUNT(rows), say_shared);
}

static void no_alignment(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"no alignment: of the first group",
         {BOTH("a", 16) "shared a size=4 align=0"},
         "Shared variable 'a' has no alignment\n",
         LINKED_EXACT},
        {"no alignment: of the second group",
         {BOTH("a,b", 32) "shared a size=5 align=1; shared b size=4 align=0"},
         "k: 0 5 of 9 j: 0 5 of 9",
         LINKED_EXACT},
        {"no alignment: an own one",
         {"kernel k uses=a size=16; shared a size=3 align=0"},
         "k: 0 of 3",
         LINKED_EXACT},
        {"no alignment: -r",
         {"kernel k uses=a size=16; shared a size=3 align=0"},
         "k: 0",
         LINKED_EXACT | CB_LINK_RELOCATABLE},
        {"one byte", {"kernel k uses=a size=16; shared a size=1 align=1"}, "k: 0 of 1"},
        {"one byte of two", {BOTH("a", 16) "shared a size=1 align=1"}, "k: 0 of 1 j: 0 of 1"},
        {"one byte, -r",
         {BOTH("a", 16) "shared a size=1 align=1"},
         "k: 1 j: 1",
         CB_LINK_RELOCATABLE},
        {"one byte, -g",
         {BOTH("a", 16) "shared a size=1 align=1"},
         "k: 0 of 1 j: 0 of 1",
         CB_LINK_DEBUG},
        {"one byte, preserved",
         {BOTH("a", 16) "shared a size=1 align=1"},
         "k: 0 of 1 j: 0 of 1",
         CB_LINK_PRESERVE_RELOCS},
        {"dynamic, preserved",
         {BOTH("d", 16) "extern shared d"},
         "k: 0 of 0 j: 0 of 0",
         CB_LINK_PRESERVE_RELOCS},
    };
    link_table(rows, CBI_COUNT(rows), say_shared);
}

/* nvlink looks at one section after the other, as they came to be; .nv_debug.shared is among them
 * where it is kept. */
static void limits(void **state)
{
    (void)state;
    static const char shared[] =
        "Entry function 'k' uses too much shared data (0xc001 bytes, 0xc000 max)\n"
        "File uses too much global constant data (0x10001 bytes, 0x10000 max)\n";
    static const char constants[] =
        "File uses too much global constant data (0x10001 bytes, 0x10000 max)\n"
        "Entry function 'k' uses too much shared data (0xc001 bytes, 0xc000 max)\n";
    static const link_row rows[] = {
        {"shared memory of an earlier object comes first",
         {"kernel k uses=a; shared a size=49153", "kernel i uses=c; const c size=65537"},
         shared},
        {"constants of an earlier object come first",
         {"kernel i uses=c; const c size=65537", "kernel k uses=a; shared a size=49153"},
         constants},
        {"-g: what kernels share counts once more",
         {BOTH("a", 16) "shared a size=49153"},
         "Entry function 'k' uses too much shared data (0xc001 bytes, 0xc000 max)\n"
         "Entry function 'j' uses too much shared data (0xc001 bytes, 0xc000 max)\n"
         "Entry function '.nv_debug.shared' uses too much shared data (0xc001 bytes, 0xc000 "
         "max)\n",
         CB_LINK_DEBUG},
        {"no limit with -r",
         {BOTH("a", 16) "shared a size=49153"},
         "k: 4 j: 4",
         CB_LINK_RELOCATABLE},
    };
    link_table(rows, CBI_COUNT(rows), say_shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),      cmocka_unit_test(groups),
        cmocka_unit_test(dynamic),    cmocka_unit_test(debug),
        cmocka_unit_test(limits),     cmocka_unit_test(null_reserved),
        cmocka_unit_test(one_kernel), cmocka_unit_test(no_alignment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
