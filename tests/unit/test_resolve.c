/* Symbol resolution: which of several definitions of a name wins, or what is reported.  The name is
 * x; k uses it. */
#include "modules.h"

/* Binding, size, registers of a function or first byte of a variable, whether it is defined. */
static void say_symbol(const linked *l, char *text, size_t room)
{
    const cbi_symbol *s = linked_symbol(l, "x");
    if (!s) {
        say_more(text, room, "gone");
        return;
    }
    say_more(text, room, "%s %d", CBI_ST_BIND(s->info) == STB_WEAK ? "weak" : "global",
             (int)s->size);
    const cbi_section *sec =
        s->shndx < l->object.section_count ? &l->object.sections[s->shndx] : NULL;
    if (s->shndx == SHN_UNDEF)
        say_more(text, room, " undefined");
    else if (CBI_ST_TYPE(s->info) == STT_FUNC)
        say_more(text, room, " regs %u", linked_info(l, EIATTR_REGCOUNT, "x"));
    else if (sec && sec->data.size > s->value)
        say_more(text, room, " bytes %02x", sec->data.data[s->value]);
}

/* Where variables are in the output: the type of x's section. */
static void say_section(const linked *l, char *text, size_t room)
{
    const cbi_symbol *s = linked_symbol(l, "x");
    if (s && s->shndx < l->object.section_count)
        say_more(text, room, "%s %x at %x", l->object.sections[s->shndx].name,
                 l->object.sections[s->shndx].type, (unsigned)s->value);
}

/* Sections of variables have types of their own in relocatables; those of an executable's are
 * known by their names. */
static void section_types(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"a relocatable's type",
         {"kernel k uses=x; extern global x", "global y size=4; global x size=4"},
         ".nv.global 8 at 4"},
        {"an executable's type",
         {"kernel k uses=x; extern global x", "global y size=4 type=8; global x size=4"},
         ".nv.global 8 at 4"},
        {"initialised, an executable's type",
         {"kernel k uses=x; extern init x", "init y size=4 type=1; init x size=4 fill=1"},
         ".nv.global.init 1 at 4"},
    };
    link_table(rows, CBI_COUNT(rows), say_section);
}

/* Name of each undefined symbol. */
static void say_undefined(const linked *l, char *text, size_t room)
{
    for (uint32_t i = 1; i < l->object.symbol_count; i++)
        if (l->object.symbols[i].shndx == SHN_UNDEF && *l->object.symbols[i].name)
            say_more(text, room, "%s%s", *text ? " " : "", l->object.symbols[i].name);
}

/* The machine code of the output: kind and flags of the file. */
static void say_kind(const linked *l, char *text, size_t room)
{
    say_more(text, room, "%x", cbi_ld32(l->image.data + offsetof(Elf64_Ehdr, e_flags)));
    if (cbi_object_find(&l->object, ".nv.merc.symtab"))
        say_more(text, room, " Mercury");
}

/* From sm_100 on an object without Mercury code makes a link of SASS. */
static void plain_objects(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"plain objects", {"kernel k calls=f; extern func f", "func f"}, "5006404", 0, 100},
        {"plain objects: -r",
         {"kernel k calls=f; extern func f", "func f"},
         "5006404",
         CB_LINK_RELOCATABLE,
         100},
    };
    link_table(rows, CBI_COUNT(rows), say_kind);
}

/* Which compilers' objects take part. */
static void toolkits(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"toolkit: 11.9, sm_90",
         {"@toolkit=119 kernel k; func x"},
         "Input file 'm0.cubin' must be recompiled with toolkit >= Cuda 12.0\n",
         0,
         90},
        {"toolkit: 12.0, sm_90", {"@toolkit=120 kernel k; func x"}, "gone", 0, 90},
        {"toolkit: 11.9, sm_89", {"@toolkit=119 kernel k; func x"}, "gone", 0, 89},
        {"toolkit: 11.9, sm_100", {"@toolkit=119 kernel k; func x"}, "gone", 0, 100},
        {"toolkit: note of version 1, sm_90",
         {"@note=1 kernel k; func x"},
         "Input file 'm0.cubin' must be recompiled with toolkit >= Cuda 12.0\n",
         0,
         90},
        {"toolkit: note of version 2, sm_90", {"@note=2 kernel k; func x"}, "gone", 0, 90},
        {"toolkit: no note, sm_90",
         {"@nonote kernel k; func x"},
         "Input file 'm0.cubin' must be recompiled with toolkit >= Cuda 12.0\n",
         0,
         90},
        {"toolkit: no note, sm_86", {"@nonote kernel k; func x"}, "gone", 0, 86},
        {"toolkit: 13.1",
         {"kernel k", "@toolkit=131 func x"},
         "Input file 'm1.cubin' newer than toolkit (131 vs 130)\n"},
        {"toolkit: 13.0", {"kernel k", "@toolkit=130 func x"}, "gone"},
        {"no chip at all", {"@sm=0 kernel k; func x"}, "Unknown arch name 'sm_0'\n"},
    };
    link_table(rows, CBI_COUNT(rows), say_symbol);
}

/* Which undefined names stay. */
static void undefined_names(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"undefined names: a function of the driver's",
         {"kernel k calls=vprintf; extern func vprintf"},
         "vprintf"},
        {"undefined names: any other function",
         {"kernel k calls=vprint; extern func vprint"},
         "Undefined reference to 'vprint' in 'm0.cubin'\n"},
        {"undefined names: a function that only dead code calls",
         {"kernel k; func f calls=g; extern func g"},
         ""},
        {"undefined names: a variable",
         {"kernel k uses=x; extern global x", "kernel j uses=x; extern global x"},
         "Undefined reference to 'x' in 'm0.cubin'\n"},
        {"undefined names: a variable, --allow-undefined-globals",
         {"kernel k uses=x; extern global x"},
         "x",
         CB_LINK_ALLOW_UNDEFINED},
        {"undefined names: a constant, --allow-undefined-globals",
         {"kernel k uses=x; extern const x size=4"},
         "Undefined reference to 'x' in 'm0.cubin'\n",
         CB_LINK_ALLOW_UNDEFINED},
        {"undefined names: a variable of the driver's",
         {"kernel k uses=.nv.reservedSmem.cap; extern global .nv.reservedSmem.cap"},
         ".nv.reservedSmem.cap"},
        {"undefined names: one that only begins alike",
         {"kernel k uses=.nv.x; extern global .nv.x"},
         "Undefined reference to '.nv.x' in 'm0.cubin'\n"},
        {"undefined names: -r",
         {"kernel k calls=f uses=x; extern func f; extern global x"},
         "f x",
         CB_LINK_RELOCATABLE},
    };
    link_table(rows, CBI_COUNT(rows), say_undefined);
}

#define F_KERNEL "kernel k calls=x; extern func x"
#define V_KERNEL "kernel k uses=x; extern global x"

static void functions(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"functions: undefined then weak", {F_KERNEL, "weak func x size=256"}, "weak 256 regs 16"},
        {"functions: undefined then global", {F_KERNEL, "func x size=256"}, "global 256 regs 16"},
        {"functions: undefined alone", {F_KERNEL}, "Undefined reference to 'x' in 'm0.cubin'\n"},
        {"functions: weak then undefined", {"weak func x size=256", F_KERNEL}, "weak 256 regs 16"},
        {"functions: weak then weak: as many registers, the first",
         {F_KERNEL, "weak func x size=128", "weak func x size=256"},
         "weak 128 regs 16"},
        {"functions: weak then weak: fewer registers",
         {F_KERNEL, "weak func x size=128 regs=20", "weak func x size=256 regs=19"},
         "weak 256 regs 19"},
        {"functions: weak against weak, an odd number of registers and one fewer",
         {F_KERNEL, "weak func x size=128 regs=21", "weak func x size=256 regs=20"},
         "weak 256 regs 20"},
        {"functions: weak then weak: more registers",
         {F_KERNEL, "weak func x size=128 regs=20", "weak func x size=256 regs=21"},
         "weak 128 regs 20"},
        {"functions: weak, weak with fewer, weak with fewest registers",
         {F_KERNEL "; weak func x size=128 regs=24", "weak func x size=256 regs=22",
          "weak func x size=384 regs=20"},
         "weak 384 regs 20"},
        {"functions: weak then global",
         {F_KERNEL, "weak func x size=128", "func x size=256 regs=40"},
         "global 256 regs 40"},
        {"functions: global then weak",
         {F_KERNEL, "func x size=128 regs=40", "weak func x size=256"},
         "global 128 regs 40"},
        {"functions: global then global",
         {F_KERNEL, "func x size=128", "func x size=128"},
         "Multiple definition of 'x' in 'm2.cubin', first defined in 'm1.cubin'\nmerge_elf "
         "failed\n"},
        {"functions: global, weak, global",
         {F_KERNEL, "func x", "weak func x", "func x"},
         "Multiple definition of 'x' in 'm3.cubin', first defined in 'm1.cubin'\nmerge_elf "
         "failed\n"},
        {"functions: weak, global, weak with fewer registers",
         {F_KERNEL "; weak func x", "func x size=256 regs=30", "weak func x size=384 regs=16"},
         "global 256 regs 30"},
        {"functions: function then kernel",
         {F_KERNEL, "func x", "kernel x"},
         "Function 'x' not declared __global__ in all source files\nMultiple definition of 'x' in "
         "'m2.cubin', first defined in 'm1.cubin'\nmerge_elf failed\n"},
        {"functions: function then variable",
         {F_KERNEL, "func x", "global x size=4"},
         "Memory space doesn't match for 'x' in 'm2.cubin', first specified in 'm1.cubin'\nSize "
         "doesn't match for 'x' in 'm2.cubin', first specified in 'm1.cubin'\nMultiple definition "
         "of 'x' in 'm2.cubin', first defined in 'm1.cubin'\nmerge_elf failed\n"},
        {"functions: weak kernels with banks of one size",
         {"weak kernel x", "weak kernel x size=256 regs=12"},
         "weak 256 regs 12"},
        {"functions: static ones do not meet",
         {"kernel k calls=x; static func x size=256", "func x size=384"},
         "global 256 regs 16"},
    };
    link_table(rows, sizeof rows / sizeof *rows, say_symbol);
}

static void variables(void **state)
{
    (void)state;
    static const link_row rows[] = {
        {"variables: undefined then global", {V_KERNEL, "global x size=8"}, "global 8"},
        {"variables: undefined then weak", {V_KERNEL, "weak global x size=8"}, "weak 8"},
        {"variables: undefined then common", {V_KERNEL, "common global x size=8"}, "global 8"},
        {"variables: undefined alone", {V_KERNEL}, "Undefined reference to 'x' in 'm0.cubin'\n"},
        {"variables: undefined of another size",
         {"kernel k uses=x; extern global x size=4", "global x size=8"},
         "Size doesn't match for 'x' in 'm1.cubin', first specified in 'm0.cubin'\nmerge_elf "
         "failed\n"},
        {"variables: undefined without size, then with another",
         {V_KERNEL, "extern global x size=4", "global x size=8"},
         "global 8"},
        {"variables: undefined, with --allow-undefined-globals",
         {V_KERNEL},
         "global 0 undefined",
         CB_LINK_ALLOW_UNDEFINED},
        {"variables: weak then weak: the first",
         {V_KERNEL, "weak init x size=4 fill=1", "weak init x size=4 fill=2"},
         "weak 4 bytes 01"},
        {"variables: weak then global",
         {V_KERNEL, "weak init x size=4 fill=1", "init x size=4 fill=2"},
         "global 4 bytes 02"},
        {"variables: global then weak",
         {V_KERNEL, "init x size=4 fill=1", "weak init x size=4 fill=2"},
         "global 4 bytes 01"},
        {"variables: global then global",
         {V_KERNEL, "global x size=4", "global x size=4"},
         "Multiple definition of 'x' in 'm2.cubin', first defined in 'm0.cubin'\nmerge_elf "
         "failed\n"},
        {"variables: weak then global of another size",
         {V_KERNEL, "weak global x size=4", "global x size=8"},
         "Size doesn't match for 'x' in 'm2.cubin', first specified in 'm0.cubin'\nmerge_elf "
         "failed\n"},
        {"variables: common then larger common",
         {V_KERNEL, "common global x size=4", "common global x size=12"},
         "global 12"},
        {"variables: common then smaller common",
         {V_KERNEL, "common global x size=12", "common global x size=4"},
         "global 12"},
        {"variables: common then global",
         {V_KERNEL, "common global x size=4", "global x size=4"},
         "global 4"},
        {"variables: common then initialised",
         {V_KERNEL, "common global x size=4", "init x size=4 fill=3"},
         "global 4 bytes 03"},
        {"variables: common then initialised and smaller",
         {V_KERNEL, "common global x size=8", "init x size=4 fill=3"},
         "Common symbol 'x' in file 'm1.cubin' has larger size than initialization\nmerge_elf "
         "failed\n"},
        {"variables: initialised then common of its size",
         {V_KERNEL, "init x size=4 fill=3", "common global x size=4"},
         "global 4 bytes 03"},
        {"variables: initialised then smaller common",
         {V_KERNEL, "init x size=8 fill=3", "common global x size=4"},
         "global 8 bytes 03"},
        {"variables: initialised then larger common",
         {V_KERNEL, "init x size=4 fill=3", "common global x size=8"},
         "Common symbol 'x' in file 'm2.cubin' has larger size than initialization\nmerge_elf "
         "failed\n"},
        {"variables: global without bytes then common",
         {V_KERNEL, "global x size=4", "common global x size=4"},
         "Multiple definition of 'x' in 'm2.cubin', first defined in 'm0.cubin'\nmerge_elf "
         "failed\n"},
        {"variables: weak without bytes then common",
         {V_KERNEL, "weak global x size=4", "common global x size=4"},
         "weak 4"},
        {"variables: weak with bytes then common",
         {V_KERNEL, "weak init x size=4 fill=5", "common global x size=4"},
         "weak 4 bytes 05"},
        {"variables: common then weak without bytes",
         {V_KERNEL, "common global x size=4", "weak global x size=4"},
         "global 4"},
        {"variables: another memory space",
         {V_KERNEL, "const x size=4"},
         "Memory space doesn't match for 'x' in 'm1.cubin', first specified in "
         "'m0.cubin'\nmerge_elf failed\n"},
    };
    link_table(rows, sizeof rows / sizeof *rows, say_symbol);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),     cmocka_unit_test(section_types),
        cmocka_unit_test(toolkits),      cmocka_unit_test(undefined_names),
        cmocka_unit_test(plain_objects), cmocka_unit_test(variables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
