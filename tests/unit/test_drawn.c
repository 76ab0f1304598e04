/* Links of modules drawn at random: functions and variables of a few names that several modules
 * define, call and use, with sizes, attributes and relocations as they come.  drawn.tsv has a
 * digest of what becomes of each group of links, and tests/cases/modules.py compares them with
 * nvlink's. After a change that was meant: UNIT_WRITE=1 build/tests/unit/test_drawn. */
#include "modules.h"

#include <xxhash.h>

enum {
    ORDINARY = 60,
    PLAIN = 76,
    GROUPS = 100,
    GROUP = 100,
    COMPARED = 8,
    MODULES = 4,
    TEXT = 2048,
    LINE = 512
};

typedef struct draw {
    uint64_t state;
} draw;

static uint32_t below(draw *d, uint32_t n)
{
    uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) % n);
}

static bool one_in(draw *d, uint32_t n)
{
    return below(d, n) == 0;
}

#define PICK(d, list) ((list)[below(d, CBI_COUNT(list))])

/* The names of all modules, each of one kind: what a module does not define is another's. */
static const struct name {
    const char *name, *kind;
} functions[] = {{"k", "kernel"}, {"j", "kernel"}, {"e", "kernel"}, {"f", "func"},
                 {"g", "func"},   {"h", "func"},   {"i", "func"}},
  variables[] = {{"a", "global"}, {"b", "global"}, {"c", "init"},   {"d", "init"},  {"m", "const"},
                 {"n", "const"},  {"s", "shared"}, {"t", "shared"}, {"u", "shared"}};

enum { FUNCTIONS = CBI_COUNT(functions), VARIABLES = CBI_COUNT(variables), KERNELS = 3 };

/* What a module says of its names so far. */
typedef struct drawn_module {
    bool functions[FUNCTIONS], variables[VARIABLES]; /* defined */
    bool called[FUNCTIONS], used[VARIABLES];
    char text[TEXT];
} drawn_module;

/* How a name is defined in all modules of a link: once, weak or static wherever it is, common, or
 * anyhow; and how large. */
typedef enum manner { ONCE, WEAK, STATIC, COMMON, ANYHOW } manner;

typedef struct plan {
    manner how;
    unsigned size, align, fill;
    bool defined;
} plan;

static plan plans[FUNCTIONS + VARIABLES];

/* What is around the limit of its memory: nvlink's order of complaints about several is not kept.
 */
typedef enum limit { NO_LIMIT, OF_CONSTANTS, OF_SHARED } limit;

/* `odd`: of any size, as programs rarely have them. */
static void draw_plans(draw *d, limit which, bool odd)
{
    static const unsigned odd_sizes[] = {1, 1, 2, 3, 4, 5, 8, 12, 17, 24},
                          odd_aligns[] = {1, 1, 2, 4, 8};
    static const manner manners[] = {ONCE, ONCE, ONCE, WEAK, WEAK, STATIC, COMMON};
    static const unsigned code[] = {128, 128, 256, 384}, sizes[] = {4, 4, 8, 8, 16, 100, 256, 4096},
                          aligns[] = {1, 4, 4, 8, 16, 128};
    static const unsigned banks[] = {4, 32764, 32768, 65528, 65532, 65536},
                          areas[] = {4, 0x6000, 0xbbfc, 0xbc00, 0xbffc, 0xc000, 0xc004};
    for (uint32_t n = 0; n < FUNCTIONS + VARIABLES; n++) {
        const char *kind = n < FUNCTIONS ? "" : variables[n - FUNCTIONS].kind;
        plan p = {PICK(d, manners), n < FUNCTIONS ? PICK(d, code) : PICK(d, sizes), PICK(d, aligns),
                  below(d, 3), false};
        if (odd && n >= FUNCTIONS) {
            p.size = PICK(d, odd_sizes);
            p.align = PICK(d, odd_aligns);
        }
        if (n < KERNELS && p.how != WEAK)
            p.how = ONCE;
        if (n >= KERNELS && one_in(d, 60))
            p.how = ANYHOW;
        if (p.how == COMMON && kind[0] != 'g')
            p.how = ONCE;
        if (kind[0] == 's' && p.how != ANYHOW)
            p.how = ONCE;
        if (which == OF_CONSTANTS && kind[0] == 'c' && !one_in(d, 3))
            p.size = PICK(d, banks);
        if (which == OF_SHARED && kind[0] == 's' && one_in(d, 2))
            p.size = PICK(d, areas);
        if (kind[0] == 's' && one_in(d, 4))
            p.size = 0;
        plans[n] = p;
    }
}

/* How the name is defined in one more module; NULL: it is not. */
static const char *draw_link(draw *d, plan *p)
{
    static const char *const links[] = {"", "weak ", "static "};
    bool again = p->defined;
    p->defined = true;
    switch (p->how) {
    case ONCE:
        return again ? NULL : "";
    case WEAK:
        return one_in(d, 6) && !again ? "" : "weak ";
    case STATIC:
        return "static ";
    case COMMON:
        return "common ";
    case ANYHOW:
        return PICK(d, links);
    }
    return NULL;
}

/* Up to three records, each of another kind. */
static void draw_attributes(draw *d, char *line)
{
    static const char *const attributes[][2] = {
        {"1.04.0", "1.04.0"}, {"1.41.0", "1.41.0"}, {"2.4a.9", "2.4a.3"}, {"2.4c.1", "2.4c.16"},
        {"3.38.2", "3.38.5"}, {"3.50.6", "3.50.1"}, {"1.51.0", "1.51.0"}, {"3.54.2", "3.54.1"},
        {"1.21.0", "1.2b.0"}, {"1.4b.0", "1.4b.0"}, {"2.15.1", "2.15.2"}, {"4.36.5", "4.36.2"},
    };
    uint32_t kind = below(d, 4), step = 1 + below(d, 4);
    for (uint32_t i = 0, count = 1 + below(d, 3); i < count; i++, kind += step)
        say_more(line, LINE, "%s%s",
                 i ? "," : " attr=", attributes[kind % CBI_COUNT(attributes)][below(d, 2)]);
}

/* Names of a list, each once. */
static void draw_names(draw *d, char *line, const char *key, const struct name *names,
                       uint32_t count, bool *used)
{
    bool said[16] = {0};
    for (uint32_t left = 1 + below(d, 3), i = 0; left; left--) {
        uint32_t n = below(d, count);
        if (said[n])
            continue;
        say_more(line, LINE, "%s%s", i++ ? "," : key, names[n].name);
        said[n] = used[n] = true;
    }
}

/* A relocation of data or code against a name, with or without an addend. */
static void draw_relocation(draw *d, char *line, drawn_module *m, bool code)
{
    enum { IN_MEMORY = 4 };
    static const unsigned of_code[] = {56, 57}, of_data[] = {2};
    bool function = one_in(d, 2);
    uint32_t n = function ? KERNELS + below(d, FUNCTIONS - KERNELS) : below(d, IN_MEMORY);
    if (function)
        m->called[n] = true;
    else
        m->used[n] = true;
    say_more(line, LINE, " rel=%u:%s", code ? PICK(d, of_code) : PICK(d, of_data),
             function ? functions[n].name : variables[n].name);
    if (!code && one_in(d, 3))
        say_more(line, LINE, "+%u", 4 * below(d, 4));
}

static void draw_function(draw *d, drawn_module *m, uint32_t n)
{
    static const unsigned regs[] = {8, 16, 24, 24, 32, 40}, stacks[] = {0, 0, 8, 16, 24, 64},
                          tables[] = {4, 8, 12, 16};
    char line[LINE] = "";
    const char *link = draw_link(d, &plans[n]);
    if (!link)
        return;
    m->functions[n] = true;
    unsigned size = plans[n].size + (plans[n].how == WEAK && one_in(d, 4) ? 128 : 0);
    /* one draw a statement: in which order arguments are made is the compiler's choice */
    const unsigned stack = PICK(d, stacks);
    say_more(line, LINE, "%s%s %s size=%u regs=%u stack=%u", link, functions[n].kind,
             functions[n].name, size, PICK(d, regs), stack);
    if (!one_in(d, 3))
        draw_names(d, line, " calls=", functions + KERNELS, FUNCTIONS - KERNELS,
                   m->called + KERNELS);
    if (!one_in(d, 3))
        draw_names(d, line, " uses=", variables, VARIABLES, m->used);
    if (one_in(d, 4))
        draw_attributes(d, line);
    if (one_in(d, 4))
        draw_relocation(d, line, m, true);
    if (plans[n].how != WEAK && one_in(d, 6)) {
        const unsigned fill = below(d, 3);
        say_more(line, LINE, " tables=%u fill=%u", PICK(d, tables), fill);
    }
    if (n < KERNELS && one_in(d, 6))
        say_more(line, LINE, " maxregs=%u", 40 + 8 * below(d, 3));
    say_more(m->text, TEXT, "%s;", line);
}

static void draw_variable(draw *d, drawn_module *m, uint32_t n)
{
    plan *p = &plans[FUNCTIONS + n];
    const char *link = draw_link(d, p);
    if (!link || !p->size) /* a dynamic variable is only declared */
        return;
    m->variables[n] = true;
    char line[LINE] = "";
    if (variables[n].kind[0] == 'i' && p->size >= 8 && p->align >= 8 && one_in(d, 2))
        draw_relocation(d, line, m, false);
    say_more(m->text, TEXT, "%s%s %s size=%u align=%u fill=%u%s;", link, variables[n].kind,
             variables[n].name, p->size + (one_in(d, 60) ? 4 : 0), p->align, p->fill, line);
}

/* Shared variables have size and alignment where they are declared, too. */
static const char *draw_size(const struct name *variable)
{
    static char text[40];
    const plan *p = &plans[FUNCTIONS + (variable - variables)];
    snprintf(text, sizeof text, " size=%u align=%u", p->size, p->align);
    return text;
}

static void declare(drawn_module *m, const struct name *names, uint32_t count, const bool *defined,
                    const bool *used)
{
    for (uint32_t i = 0; i < count; i++)
        if (used[i] && !defined[i])
            say_more(m->text, TEXT, "extern %s %s%s;", names[i].kind, names[i].name,
                     names[i].kind[0] == 's' ? draw_size(&names[i]) : "");
}

static void draw_module(draw *d, drawn_module *m, bool first)
{
    memset(m, 0, sizeof *m);
    for (uint32_t n = 0; n < FUNCTIONS; n++) {
        if (one_in(d, 3) || (first && n == 0))
            draw_function(d, m, n);
    }
    for (uint32_t n = 0; n < VARIABLES; n++)
        if (one_in(d, 4))
            draw_variable(d, m, n);
    declare(m, functions, FUNCTIONS, m->functions, m->called);
    declare(m, variables, VARIABLES, m->variables, m->used);
}

/* What nothing defines, in a last module. */
static void draw_rest(draw *d, drawn_module *modules, size_t count)
{
    drawn_module *last = &modules[count];
    memset(last, 0, sizeof *last);
    bool leave = one_in(d, 12);
    for (uint32_t n = 0; n < FUNCTIONS + VARIABLES && !leave; n++) {
        bool wanted = false, there = false;
        for (size_t i = 0; i < count; i++) {
            const drawn_module *m = &modules[i];
            bool v = n >= FUNCTIONS;
            bool defined = v ? m->variables[n - FUNCTIONS] : m->functions[n];
            there |= defined && plans[n].how != STATIC;
            wanted |= !defined && (v ? m->used[n - FUNCTIONS] : m->called[n]);
        }
        if (!wanted || there)
            continue;
        plans[n].how = plans[n].how == STATIC ? ONCE : plans[n].how;
        plans[n].defined = false;
        if (n < FUNCTIONS)
            say_more(last->text, TEXT, "func %s regs=16;", functions[n].name);
        else
            draw_variable(d, last, n - FUNCTIONS);
    }
    declare(last, functions, FUNCTIONS, last->functions, last->called);
    declare(last, variables, VARIABLES, last->variables, last->used);
}

static uint64_t digest_of(uint32_t number)
{
    static const unsigned chips[] = {75, 75, 80, 86, 90, 90, 100, 120};
    static const uint64_t flags[] = {0,
                                     0,
                                     0,
                                     CB_LINK_RELOCATABLE,
                                     CB_LINK_PRESERVE_RELOCS,
                                     CB_LINK_ALLOW_UNDEFINED,
                                     CB_LINK_DEBUG,
                                     CB_LINK_FORCE_RELA | CB_LINK_PRESERVE_RELOCS};
    static const uint64_t other_flags[] = {LINKED_EXACT,
                                           LINKED_NULL_RESERVED,
                                           LINKED_NULL_RESERVED | CB_LINK_DEBUG,
                                           LINKED_NULL_RESERVED | CB_LINK_RELOCATABLE,
                                           LINKED_ONE_KERNEL,
                                           LINKED_ONE_KERNEL | CB_LINK_DEBUG,
                                           LINKED_ONE_KERNEL | LINKED_NULL_RESERVED,
                                           LINKED_TWICE,
                                           LINKED_TWICE | LINKED_NULL_RESERVED,
                                           LINKED_TWICE | CB_LINK_DEBUG,
                                           LINKED_TWICE | LINKED_ONE_KERNEL};
    static drawn_module modules[MODULES];
    const bool plain = number < PLAIN * GROUP;
    draw d = {number};
    size_t count = 1 + below(&d, MODULES - 1);
    unsigned sm = PICK(&d, chips);
    uint64_t how = plain ? PICK(&d, flags) : PICK(&d, other_flags);
    bool kept = how & (CB_LINK_PRESERVE_RELOCS | CB_LINK_DEBUG);
    bool limited = plain ? number >= ORDINARY * GROUP : number % 4 == 0;
    draw_plans(&d,
               !limited                       ? NO_LIMIT
               : number % 2 || kept || !plain ? OF_CONSTANTS
                                              : OF_SHARED,
               !plain);
    for (size_t i = 0; i < count; i++)
        draw_module(&d, &modules[i], i == 0);
    draw_rest(&d, modules, count);
    const char *texts[MODULES + 1] = {0};
    for (size_t i = 0; i <= count; i++)
        texts[i] = modules[i].text;
    linked l;
    linked_run(&l, sm, how, texts, MODULES);
    uint64_t digest = XXH3_64bits(l.image.data, l.image.size);
    digest = XXH3_64bits_withSeed(l.messages, strlen(l.messages), digest + (uint64_t)l.status);
    if (getenv("DRAWN_SHOW") && number == strtoul(getenv("DRAWN_SHOW"), NULL, 10))
        for (size_t i = 0; i <= count; i++)
            print_message("%s\n", texts[i]);
    if (getenv("DRAWN_SHOW"))
        print_message("%u %d %.60s\n", number, l.status, l.messages);
    linked_free(&l);
    return digest;
}

static void links(void **state)
{
    (void)state;
    const char *path = unit_path("tests/unit/drawn.tsv");
    FILE *f = fopen(path, getenv("UNIT_WRITE") ? "w" : "r");
    assert_non_null(f);
    size_t wrong = 0;
    /* nvlink takes longer for them */
    bool compared = getenv("CUBIND_MODULES") != NULL;
    uint32_t step = compared && !getenv("DRAWN_ALL") ? COMPARED : 1;
    for (uint32_t group = 0; group < GROUPS; group++) {
        uint64_t digest = 0;
        for (uint32_t i = 0; i < GROUP; i += step)
            digest = digest * 31 + digest_of(group * GROUP + i);
        unsigned long long want = 0;
        if (getenv("UNIT_WRITE"))
            fprintf(f, "%u\t%016llx\n", group, (unsigned long long)digest);
        else if (fscanf(f, "%*u\t%16llx\n", &want) != 1 || (want != digest && step == 1))
            wrong++, print_error("links %u to %u are others\n", group * GROUP,
                                 group * GROUP + GROUP - 1);
    }
    fclose(f);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(links)};
    return cmocka_run_group_tests_name("drawn", tests, NULL, NULL);
}
