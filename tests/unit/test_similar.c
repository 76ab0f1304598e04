/* What is said about a name that nobody defines: who uses it, and which names are like it. */
#include "modules.h"

#include "link/report.h"
#include "link/similar.h"
#include "link/symbols.h"

static void say_nothing(const linked *l, char *text, size_t room)
{
    (void)l;
    say_more(text, room, "linked");
}

/* The program that misses a name. */
#define WANTS(name)   "kernel k calls=" name "; extern func " name
#define MISSING(name) "Undefined reference to '" name "' in 'm0.cubin'\n"
#define BY_K          "used by k in m0.cubin\n"

static void names_like_it(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"similar: other parameters",
         {WANTS("_Z3fooi"), "func _Z3foof; func _Z3food; func _Z3barf"},
         MISSING("_Z3fooi") "that is foo(int)\n" BY_K "similar: foo(float) [_Z3foof] in m1.cubin\n"
                            "similar: foo(double) [_Z3food] in m1.cubin\n"},
        {"similar: not more than three",
         {WANTS("_Z3fooi"), "func _Z3foof; func _Z3food; func _Z3foos; func _Z3fooc"},
         MISSING("_Z3fooi") "that is foo(int)\n" BY_K "similar: foo(float) [_Z3foof] in m1.cubin\n"
                            "similar: foo(double) [_Z3food] in m1.cubin\n"
                            "similar: foo(short) [_Z3foos] in m1.cubin\n"},
        {"similar: a name of ten letters, and one that only begins alike",
         {WANTS("_Z10abcdefghiji"), "func _Z10abcdefghijf; func _Z11abcdefghijki"},
         MISSING("_Z10abcdefghiji") "that is abcdefghij(int)\n" BY_K
                                    "similar: abcdefghij(float) [_Z10abcdefghijf] in m1.cubin\n"
                                    "similar: abcdefghijk(int) [_Z11abcdefghijki] in m1.cubin\n"},
        {"similar: a name of nine letters",
         {WANTS("_Z9abcdefghii"), "func _Z9abcdefghif"},
         MISSING("_Z9abcdefghii") "that is abcdefghi(int)\n" BY_K
                                  "similar: abcdefghi(float) [_Z9abcdefghif] in m1.cubin\n"},
        {"similar: two letters more or less, not three",
         {WANTS("letters"), "func lettersab; func lettersabc; func lette; func lett"},
         MISSING("letters") BY_K "similar: lettersab in m1.cubin\nsimilar: lette in m1.cubin\n"},
        {"similar: in a namespace nothing but the letters counts",
         {WANTS("_ZN1a3fooEi"), "func _ZN1a3fooEf; func _ZN1b3barEf"},
         MISSING("_ZN1a3fooEi") "that is a::foo(int)\n" BY_K
                                "similar: a::foo(float) [_ZN1a3fooEf] in m1.cubin\n"},
        {"similar: extern C where it is defined",
         {WANTS("_Z3fooi"), "func foo; func oo; func afoo"},
         MISSING("_Z3fooi") "that is foo(int)\n" BY_K "similar: foo in m1.cubin\n"},
        {"similar: extern C where it is used",
         {WANTS("foo"), "func _Z3fooi; func _Z4afooi; func _Z2ooi"},
         MISSING("foo") BY_K "similar: foo(int) [_Z3fooi] in m1.cubin\n"},
        {"similar: two letters differ, not three; short names are like none",
         {WANTS("helper"), "func helpre; func hexpar; func haxpar; func elper; func helperss"},
         MISSING("helper") BY_K "similar: helpre in m1.cubin\n"
                                "similar: hexpar in m1.cubin\n"
                                "similar: elper in m1.cubin\n"},
        {"similar: five letters",
         {WANTS("abcde"), "func abcxy"},
         MISSING("abcde") BY_K "similar: abcxy in m1.cubin\n"},
        {"similar: not of four", {WANTS("abcd"), "func abcx"}, MISSING("abcd") BY_K},
        {"similar: it is static elsewhere",
         {WANTS("helper"), "static func helper; kernel h calls=helper"},
         MISSING("helper") BY_K "m1.cubin has one of that name, but it is static there\n"},
    };
    link_row with_help[CBI_COUNT(rows)];
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        with_help[i] = rows[i];
        with_help[i].flags |= LINKED_WITH_HELP;
    }
    link_table(with_help, CBI_COUNT(rows), say_nothing);
}

/* Four are named, the others counted; a function that uses it twice is one. */
static void users(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"users: two of one file",
         {"kernel a calls=lost; kernel b calls=lost,lost; extern func lost"},
         "Undefined reference to 'lost' in 'm0.cubin'\nused by a in m0.cubin\n"
         "used by b in m0.cubin\n",
         LINKED_WITH_HELP},
        {"users: four",
         {"kernel a calls=lost; kernel b calls=lost; kernel c calls=lost; "
          "kernel d calls=lost; extern func lost"},
         "Undefined reference to 'lost' in 'm0.cubin'\nused by a in m0.cubin\n"
         "used by b in m0.cubin\nused by c in m0.cubin\nused by d in m0.cubin\n",
         LINKED_WITH_HELP},
        {"users: more than four",
         {"kernel a calls=lost; kernel b calls=lost; kernel c calls=lost; extern func lost",
          "kernel d calls=lost; kernel e calls=lost; kernel f calls=lost; extern func lost"},
         "Undefined reference to 'lost' in 'm0.cubin'\nused by a in m0.cubin\n"
         "used by b in m0.cubin\nused by c in m0.cubin\nused by d in m1.cubin\nand by 2 more\n",
         LINKED_WITH_HELP},
    };
    link_table(rows, CBI_COUNT(rows), say_nothing);
}

static void say_messages(const linked *l, char *text, size_t room)
{
    say_more(text, room, "%s", l->messages);
}

#define UNKNOWN_STACK "Stack size for entry function 'k' cannot be statically determined\n"
#define SET_STACK                                                                                  \
    "set the stack with cudaDeviceSetLimit, or silence this with --suppress-stack-size-warning\n"

/* A circle is named by its functions in their order, up to six of them and the first again. */
static void circles(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"of one",
         {"kernel k calls=a; func a calls=a"},
         UNKNOWN_STACK "recursion: a -> a\n" SET_STACK,
         LINKED_WITH_HELP},
        {"behind what is in none",
         {"kernel k calls=x,y; func x; func y calls=a; func a calls=b; func b calls=a"},
         UNKNOWN_STACK "recursion: a -> b -> a\n" SET_STACK,
         LINKED_WITH_HELP},
        {"the shortest of two",
         {"kernel k calls=a; func a calls=b,d; func b calls=c; func c calls=a; func d calls=a"},
         UNKNOWN_STACK "recursion: a -> d -> a\n" SET_STACK,
         LINKED_WITH_HELP},
        {"of six",
         {"kernel k calls=a; func a calls=b; func b calls=c; func c calls=d; func d calls=e; "
          "func e calls=f; func f calls=a"},
         UNKNOWN_STACK "recursion: a -> b -> c -> d -> e -> f -> a\n" SET_STACK,
         LINKED_WITH_HELP},
        {"of seven",
         {"kernel k calls=a; func a calls=b; func b calls=c; func c calls=d; func d calls=e; "
          "func e calls=f; func f calls=g; func g calls=a"},
         UNKNOWN_STACK "recursion: ... -> b -> c -> d -> e -> f -> g -> a\n" SET_STACK,
         LINKED_WITH_HELP},
        {"of eight",
         {"kernel k calls=a; func a calls=b; func b calls=c; func c calls=d; func d calls=e; "
          "func e calls=f; func f calls=g; func g calls=h; func h calls=a"},
         UNKNOWN_STACK "recursion: ... -> c -> d -> e -> f -> g -> h -> a\n" SET_STACK,
         LINKED_WITH_HELP},
    };
    link_table(rows, CBI_COUNT(rows), say_messages);
}

/* The distance by its definition. */
static unsigned by_definition(const char *a, const char *b)
{
    unsigned table[8][8] = {{0}};
    size_t rows = strlen(a), columns = strlen(b);
    for (size_t i = 0; i <= rows; i++)
        for (size_t j = 0; j <= columns; j++) {
            unsigned best = i || j ? UINT32_MAX : 0, changed;
            if (i && table[i - 1][j] + 1 < best)
                best = table[i - 1][j] + 1;
            if (j && table[i][j - 1] + 1 < best)
                best = table[i][j - 1] + 1;
            if (i && j && (changed = table[i - 1][j - 1] + (a[i - 1] != b[j - 1])) < best)
                best = changed;
            table[i][j] = best;
        }
    return table[rows][columns] > CBI_NEAR ? CBI_NEAR + 1 : table[rows][columns];
}

/* A name of at most five letters a and b. */
static void write_name(unsigned number, char *name)
{
    for (; number; number /= 3)
        if (number % 3)
            *name++ = (char)('a' + number % 3 - 1);
    *name = 0;
}

static void distances(void **state)
{
    (void)state;
    enum { NAMES = 3 * 3 * 3 * 3 * 3 };
    for (unsigned i = 0; i < NAMES * NAMES; i++) {
        char a[8], b[8];
        write_name(i / NAMES, a);
        write_name(i % NAMES, b);
        unsigned got = cbi_edit_distance((cbi_span){(const uint8_t *)a, strlen(a)},
                                         (cbi_span){(const uint8_t *)b, strlen(b)});
        if (got != by_definition(a, b))
            fail_msg("from '%s' to '%s': %u", a, b, got);
    }
}

static void alike(void **state)
{
    (void)state;
    static const struct {
        const char *wanted, *have;
        bool similar;
    } rows[] = {
        {"_Z3fooi", "_Z3fooPKcdff", true},
        {"_Z3fooi", "_Z3fopPKcdff", false},
        {"_Z1fi", "_Z1fPKcdff", true},
        {"_Z9ninechari", "_Z9ninecharPKcdff", false}, /* the type is its ninth letter */
        {"_Z9nine charPv", "_Z9nine charPKcdff", true},
        {"_Z10tencharactPv", "_Z10tencharactKcdff", true},
        {"_Z10tencharactPv", "_Z10tencharacuKcdff", false},
        {"_Z12twelve_charsPv", "_Z12twelve_charsKcdff", true},
        {"_Z0i", "_Z0PKcdff", false},      /* no name */
        {"_Z5four", "_Z5fourteen", false}, /* ends within its name */
        {"_Z4four", "_Z4fourteen", true},
        {"_Z:fooi", "_Z:fooPKcd", false},
        {"_Y3fooi", "_Y3fooPKcd", false},
        {"aZ3fooi", "aZ3fooPKcd", false},
        {"foo", "_Z3fooi", true},
        {"foo", "_Z13foo", false},
        {"oo", "_Z3fooi", false},
        {"o", "_Z1oi", true},
        {"xfoo", "_Z3fooi", false},
        {"helper_long", "_Z11helper_longi", true},
        {"tencharact", "_Z10tencharacti", true},
        {"0tencharac", "_Z10tencharacti", false},
        {"_Z3fooi", "foo", true},
        {"_Z3fooi", "oo", false},
        {"_Z3fooi", "3foo", false},
        {"_Z3fooi", "fop", false},
        {"_Z11helper_longi", "helper_long", true},
        {"abcde", "abc", true},
        {"abcde", "ab", false},
        {"abcd", "abcx", false},
        {"abcdef", "abcdefgh", true},
        {"abcdef", "abcdefghi", false},
        {"abcdef", "abxdxf", true},
        {"abcdef", "xbxdxf", false},
    };
    for (size_t i = 0; i < CBI_COUNT(rows); i++)
        if (cbi_is_similar(rows[i].wanted, rows[i].have) != rows[i].similar)
            fail_msg("%s and %s", rows[i].wanted, rows[i].have);
}

static void known_by(void **state)
{
    (void)state;
    static const struct {
        const char *symbol, *given;
        bool known;
    } rows[] = {
        {"_Z3fooIiEvT_", "_Z3fooIiEvT_", true},
        {"_Z3fooIiEvT_", "void foo<int>(T1)", true},
        {"_Z3fooIiEvT_", "foo<int>", true},
        {"_Z3fooIiEvT_", "foo", true},
        {"_Z3fooIiEvT_", "foo<", false},
        {"_Z3fooIiEvT_", "void foo", false},
        {"_Z3fooi", "foo", true},
        {"_ZN12_GLOBAL__N_13fooEi", "<unnamed>::foo", true},
        {"_ZN1AclEi", "A::operator ()", true},
        {"_ZN1AclEPFvvE", "A::operator ()", true},
        {"_ZN1AclEPFvvE", "A::operator ", false},
        {"_ZN1AclEi", "()", false},
        {"_ZN1AclEi", "A::operator", false},
        {"_ZN1AclEi", "", false},
        {"_ZN1AcvPFvvEEv", "A::operator void (*)()", false},
        {"_Z3fooPFviE", "foo", true},
        {"_Z3fooIPFviEEvT_", "foo", true},
        {"_Z3fooIPFviEEvT_", "foo<void (*)(int)>", true},
        {"_Z3fooIiEPFvvET_", "foo<int>", false},
        {"plain", "plain", true},
        {"plain", "plai", false},
    };
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    const cbi_linker lk = {.ctx = &ctx};
    for (size_t i = 0; i < CBI_COUNT(rows); i++)
        if (cbi_name_matches(&lk, rows[i].given, rows[i].symbol) != rows[i].known)
            fail_msg("%s by %s", rows[i].symbol, rows[i].given);
    cbi_ctx_fini(&ctx);
}

/* An item stands anywhere in the name, and '*' in it for any run of letters. */
static void patterns(void **state)
{
    (void)state;
    static const struct {
        const char *item, *name;
        bool matches;
    } rows[] = {
        {"k", "k", true},        {"k", "a kernel", true}, {"k", "none", false},
        {"*", "anything", true}, {"a*c", "xabbcx", true}, {"a*c", "cba", false},
        {"ab*ab", "ab", false},  {"ab*ab", "abab", true}, {"a**b", "ab", true},
    };
    for (size_t i = 0; i < CBI_COUNT(rows); i++)
        if (cbi_item_matches(rows[i].item, rows[i].name) != rows[i].matches)
            fail_msg("%s, %s", rows[i].item, rows[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_like_it), cmocka_unit_test(users), cmocka_unit_test(circles),
        cmocka_unit_test(distances),     cmocka_unit_test(alike), cmocka_unit_test(known_by),
        cmocka_unit_test(patterns),
    };
    return cmocka_run_group_tests_name("similar", tests, NULL, NULL);
}
