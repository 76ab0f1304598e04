/* Too many constants: nvlink lays them out anew, by size (layout_cull.c). */
#include "modules.h"

/* "NAME at PLACE" of each constant, in the order of the symbols, or what is said. */
static void say_constants(const linked *l, char *text, size_t room)
{
    text[0] = 0;
    if (l->status) {
        say_more(text, room, "%s", l->messages);
        return;
    }
    for (uint32_t i = 1; i < l->object.symbol_count; i++) {
        const cbi_symbol *s = &l->object.symbols[i];
        if (CBI_ST_TYPE(s->info) == STT_OBJECT && s->shndx != SHN_UNDEF && s->size)
            say_more(text, room, "%s%s at %llu", text[0] ? ", " : "", s->name,
                     (unsigned long long)s->value);
    }
}

static void beyond_the_limit(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"as they come",
         {"kernel k uses=a,b; const a size=1 align=1; const b size=65528 align=8"},
         "a at 0, b at 8",
         LINKED_EXACT},
        {"by size, not by alignment",
         {"kernel k uses=a,b; const a size=1 align=1; const b size=65528 align=16"},
         "a at 65528, b at 0",
         LINKED_EXACT},
        {"one of a byte and a static one",
         {"kernel k uses=a,b,s; const a size=1 align=1; static const s size=2 align=1; "
          "const b size=65520 align=32"},
         "s at 65522, a at 65520, b at 0",
         LINKED_EXACT},
        {"one of a byte and a static one of a byte, which has no alignment yet",
         {"kernel k uses=a,b,s; static const s size=1 align=1; const a size=1 align=1; "
          "const b size=65520 align=32"},
         "s at 65521, a at 65520, b at 0",
         LINKED_EXACT},
        {"a weak one of a byte and one of two",
         {"kernel k uses=a,b,s; weak const a size=1 align=1; const s size=3 align=1; "
          "const b size=65520 align=32"},
         "a at 65523, s at 65520, b at 0",
         LINKED_EXACT},
        {"address 0 stays free",
         {"kernel k uses=a,b,c; weak const c size=1 align=1; weak const b size=65520 align=32; "
          "const a size=1 align=1"},
         "c at 2, b at 8, a at 1",
         LINKED_NULL_RESERVED},
    };
    link_table(rows, CBI_COUNT(rows), say_constants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(beyond_the_limit)};
    return cmocka_run_group_tests_name("constants", tests, NULL, NULL);
}
