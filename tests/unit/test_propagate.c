/* What kernels get from the functions that they call. */
#include "modules.h"

/* Registers and stack of every function that stays. */
static void say_needs(const linked *l, char *text, size_t room)
{
    for (uint32_t i = 1; i < l->object.symbol_count; i++) {
        const cbi_symbol *s = &l->object.symbols[i];
        if (CBI_ST_TYPE(s->info) != STT_FUNC || s->shndx == SHN_UNDEF)
            continue;
        say_more(text, room, "%s%s: %u regs", *text ? ", " : "", s->name,
                 linked_info(l, EIATTR_REGCOUNT, s->name));
        uint32_t most = linked_info(l, EIATTR_MAX_STACK_SIZE, s->name);
        uint32_t least = linked_info(l, EIATTR_MIN_STACK_SIZE, s->name);
        if (most != UINT32_MAX)
            say_more(text, room, " max %d", (int)most);
        if (least != UINT32_MAX)
            say_more(text, room, " min %d", (int)least);
    }
    if (*l->messages)
        say_more(text, room, " | %s", l->messages);
}

static void needs(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"nothing called", {"kernel k regs=20 stack=8"}, "k: 20 regs min 8"},
        {"a callee needs more registers",
         {"kernel k calls=f regs=20; func f regs=30"},
         "k: 30 regs min 0, f: 30 regs"},
        {"a callee needs fewer",
         {"kernel k calls=f regs=20; func f regs=10"},
         "k: 20 regs min 0, f: 10 regs"},
        {"the largest of two",
         {"kernel k calls=f,g regs=20; func f regs=30; func g regs=31"},
         "k: 31 regs min 0, f: 30 regs, g: 31 regs"},
        {"through two levels",
         {"kernel k calls=f regs=20; func f calls=g regs=22; func g regs=44"},
         "k: 44 regs min 0, f: 22 regs, g: 44 regs"},
        {"through an object that only declares",
         {"kernel k calls=f regs=20; extern func f", "func f calls=g; extern func g",
          "func g regs=50"},
         "k: 50 regs min 0, f: 16 regs, g: 50 regs"},
        {"only those who reach it",
         {"kernel k calls=f regs=20; kernel j regs=21; func f regs=30"},
         "k: 30 regs min 0, j: 21 regs min 0, f: 30 regs"},
        {"stack: the sum of a path",
         {"kernel k calls=f stack=8; func f calls=g stack=16; func g stack=32"},
         "k: 16 regs min 56, f: 16 regs, g: 16 regs"},
        {"stack: the larger of two paths",
         {"kernel k calls=f,g stack=8; func f stack=16; func g stack=32"},
         "k: 16 regs min 40, f: 16 regs, g: 16 regs"},
        {"stack: a diamond",
         {"kernel k calls=f,g stack=8; func f calls=h stack=16; func g calls=h stack=24; func h "
          "stack=40"},
         "k: 16 regs min 72, f: 16 regs, g: 16 regs, h: 16 regs"},
        {"recursion",
         {"kernel k calls=f stack=8; func f calls=f stack=16 regs=30"},
         "k: 30 regs, f: 30 regs | Stack size for entry function 'k' cannot be statically "
         "determined\n"},
        {"stack size through recursion: mutual",
         {"kernel k calls=f stack=8; func f calls=g stack=16 regs=30; func g calls=f stack=24 "
          "regs=33"},
         "k: 33 regs, f: 30 regs, g: 33 regs | Stack size for entry function 'k' cannot be "
         "statically determined\n"},
        {"stack size through recursion: below",
         {"kernel k calls=f stack=8; func f calls=g stack=16; func g calls=g stack=24 regs=33"},
         "k: 33 regs, f: 16 regs, g: 33 regs | Stack size for entry function 'k' cannot be "
         "statically determined\n"},
        {"stack size through recursion: beside",
         {"kernel k calls=f,g stack=8; func f stack=100; func g calls=g stack=24 regs=33"},
         "k: 33 regs, f: 16 regs, g: 33 regs | Stack size for entry function 'k' cannot be "
         "statically determined\n"},
        {"the copy that won counts",
         {"kernel k calls=f regs=16; weak func f regs=40 stack=8", "func f regs=24 stack=80"},
         "f: 24 regs, k: 24 regs min 80"},
        {"dead code does not count",
         {"kernel k regs=16; func f regs=99 stack=8"},
         "k: 16 regs min 0"},
        {"two kernels",
         {"kernel k calls=f regs=16; kernel j calls=f,g regs=18; func f regs=40 stack=8; func g "
          "regs=48 stack=80"},
         "k: 40 regs min 8, j: 48 regs min 80, f: 40 regs, g: 48 regs"},
        {"a limit that is kept",
         {"kernel k calls=f regs=16 maxregs=32; func f regs=32"},
         "k: 32 regs min 0, f: 32 regs"},
        {"a limit that is not",
         {"kernel k calls=f regs=16 maxregs=32; func f regs=33"},
         "entry function 'k' with max regcount of 32 calls function 'f' with regcount of 33\n"},
        {"a limit that one callee keeps and one does not",
         {"kernel k calls=f,g regs=16 maxregs=32; func f regs=32; func g regs=33"},
         "entry function 'k' with max regcount of 32 calls function 'g' with regcount of 33\n"},
        {"a limit that is kept below one that is not",
         {"kernel j calls=g regs=16 maxregs=32; kernel k calls=f regs=16 maxregs=32; func f "
          "regs=32; func g regs=33"},
         "entry function 'j' with max regcount of 32 calls function 'g' with regcount of 33\n"},
        {"a limit of the stack that is kept",
         {"kernel k calls=f stack=8 maxstack=24; func f stack=16"},
         "k: 16 regs min 24, f: 16 regs"},
        {"a limit of the stack that is not",
         {"kernel k calls=f stack=8 maxstack=23; func f stack=16"},
         "Function 'k' uses 24 bytes stack but limited to 23\n"},
        {"a limit of the stack above a recursion",
         {"kernel k calls=f stack=8 maxstack=4000; func f calls=f stack=16"},
         "Stack size for entry function 'k' cannot be statically determined\n"
         "Function 'k' uses -1 bytes stack but limited to 4000\n"},
        {"a limit of a callee's stack",
         {"kernel k calls=f stack=8; func f calls=g stack=16 maxstack=16; func g stack=32"},
         "k: 16 regs min 56, f: 16 regs, g: 16 regs"},
        {"nothing with -r",
         {"kernel k calls=f regs=16 stack=8; func f regs=33 stack=16"},
         "k: 16 regs max 0, f: 33 regs max 0",
         CB_LINK_RELOCATABLE},
        {"a static function of each object",
         {"kernel k calls=f; static func f regs=40 stack=8",
          "kernel j calls=f; static func f regs=50 stack=16"},
         "f: 40 regs, f: 40 regs, k: 40 regs min 8, j: 50 regs min 16"},
        {"on sm_90",
         {"kernel k calls=f regs=20 stack=8; func f regs=30 stack=16"},
         "k: 30 regs min 24, f: 30 regs",
         0,
         90},
    };
    link_table(rows, sizeof rows / sizeof *rows, say_needs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(needs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
