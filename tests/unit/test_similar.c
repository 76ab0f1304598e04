/* What is said about a name that nobody defines: who uses it, and which names are like it. */
#include "modules.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_like_it),
        cmocka_unit_test(users),
    };
    return cmocka_run_group_tests_name("similar", tests, NULL, NULL);
}
