/* Texts of one part as the compiler writes them, made one (docs/lto.md). */
#include "base/base.h"
#include "lto/part_merge.h"
#include "unit.h"

#define HEAD  ".version 9.0\n.target sm_90\n.address_size 64\n"
#define FIRST "\n\t// .globl\tf\n"
#define BODY(name, depot, add)                                                                     \
    "(\n\t.param .b64 " name "_param_0\n)\n{\n\t.local .b8 __local_depot" depot "[8];\n"           \
    "\t.loc 1 2 3\n\t" add ";\n"
#define END "\n}\n"

typedef struct merge_row {
    const char *name;
    const char *functions, *variables, *copies, *kept;
    const char *wanted; /* NULL: they are not the same */
} merge_row;

static const merge_row rows[] = {
    {"part text: numbers of static functions", HEAD ".func f$5()\n{ // one\n\tcall f$5;\n}\n", NULL,
     NULL, HEAD ".func f$7()\n{\ncall f$7;\n}\n", HEAD ".func f$7()\n{ // one\n\tcall f$7;\n}\n"},
    {"part text: another word", HEAD ".func f()\n{ ret; }\n", NULL, NULL,
     HEAD ".func f()\n{ exit; }\n", NULL},
    {"part text: another target", HEAD ".func f()\n{ ret; }\n", NULL, NULL,
     ".version 9.0\n.target sm_80\n.address_size 64\n.func f()\n{ ret; }\n", NULL},
    {"part text: a word less", HEAD ".func f()\n{ ret; }\n", NULL, NULL,
     HEAD ".func f()\n{ ret; }\n.func g()\n{ ret; }\n", NULL},
    {"part text: variables in another order",
     HEAD FIRST
     "// a has been demoted\n.global .b32 y;\n.global .b32 x;\n\n.func f()\n{ // one\nret; }\n",
     HEAD FIRST ".global .b32 x;\n// a has been demoted\n.global .b32 y;\n\n.func g()\n{ ret; }\n",
     NULL, HEAD ".global .b32 x;\n.global .b32 y;\n.func f()\n{ ret; }\n",
     HEAD FIRST
     ".global .b32 x;\n// a has been demoted\n.global .b32 y;\n\n.func f()\n{ // one\nret; }\n"},
    {"part text: functions in another order", HEAD ".func g()\n{ ret; }\n.func f()\n{ ret; }\n",
     NULL, NULL, HEAD ".func f()\n{ ret; }\n.func g()\n{ ret; }\n", NULL},
    {"part text: a copy, declared and with another body",
     HEAD "\n\t// .globl\tf\n// a has been demoted\n\n.visible .func f" BODY("f", "0", "ld.u32") END
     "\t// .globl\tk\n.visible .entry k()\n{\n\t{ // callseq 0, 0\n\tcall f;\n\t} // callseq "
     "0\n}\n\t.file 1\n",
     NULL,
     HEAD "\n// a has been demoted\n\n.func f" BODY("f", "0", "ld.global.u32") END
     "\t// .globl\tk\n.visible .entry k()\n{\n\t{ // callseq 0, 0\n\tcall f;\n\t} // callseq "
     "0\n}\n\t.file 1\n",
     HEAD ".func f$1\n(\n.param .b64 f$1_param_0\n)\n;\n.visible .func f" BODY("f", "0", "ld.u32")
         END
     ".visible .entry k()\n{\n{\ncall f$1;\n}\n}\n.func f$1" BODY("f$1", "2", "ld.global.u32") END,
     HEAD
     "\n\t// .globl\tf\n.func f$1\n(\n\t.param .b64 f$1_param_0\n)\n;\n// a has been demoted\n\n"
     ".visible .func f" BODY("f", "0", "ld.u32") END
     "\t// .globl\tk\n.visible .entry k()\n{\n\t{ // callseq 0, 0\n\tcall f$1;\n\t} // callseq "
     "0\n}\n"
     ".func f$1" BODY("f$1", "2", "ld.global.u32") END "\t.file 1\n"},
    {"part text: a copy with the body of the function, and none in the text of copies",
     HEAD "\n\t// .globl\tf\n.visible .func f" BODY("f", "0", "ld.u32") END, NULL,
     HEAD ".func g()\n{ ret; }\n",
     HEAD ".func f$1\n(\n.param .b64 f$1_param_0\n)\n;\n.visible .func f" BODY("f", "0", "ld.u32")
         END ".func f$1" BODY("f$1", "1", "ld.u32") END,
     HEAD "\n\t// .globl\tf\n.func f$1\n(\n\t.param .b64 f$1_param_0\n)\n;\n.visible .func f" BODY(
         "f", "0", "ld.u32") END ".func f$1" BODY("f$1", "1", "ld.u32") END},
    {"part text: a copy with a body that nobody has",
     HEAD ".visible .func f" BODY("f", "0", "ld.u32") END, NULL,
     HEAD ".func f" BODY("f", "0", "ld.global.u32") END,
     HEAD ".visible .func f" BODY("f", "0", "ld.u32") END ".func f$1" BODY("f$1", "1", "ld.s32")
         END,
     NULL},
    {"part text: calls are counted in the order of the whole",
     HEAD ".visible .func f()\n{\n{ // callseq 0, 0\n} // callseq 0\n}\n", NULL,
     HEAD ".func f()\n{\n{ // callseq 0, 0\n} // callseq 0\n{ // callseq 1, 0\n} // callseq 1\n}\n",
     HEAD ".visible .func f()\n{\n{\n}\n}\n.func f$2()\n{\n{\n}\n{\n}\n}\n",
     HEAD
     ".visible .func f()\n{\n{ // callseq 0, 0\n} // callseq 0\n}\n"
     ".func f$2()\n{\n{ // callseq 1, 0\n} // callseq 1\n{ // callseq 2, 0\n} // callseq 2\n}\n"},
    {"part text: debugging information does not know copies",
     HEAD ".visible .func f()\n{ ret; }\n\t.section .debug_info\n{\n}\n", NULL,
     HEAD ".func f()\n{ ret; }\n", HEAD ".visible .func f()\n{ ret; }\n.func f$2()\n{ ret; }\n",
     NULL},
    {"part text: brackets that close nothing", HEAD ".func f()\n{ ret; }\n)", NULL, NULL,
     HEAD ".func f()\n{ ret; }\n.func g()\n{ ret; }\n", NULL},
    {"part text: no head", ".func f()\n{ ret; }\n", NULL, NULL, ".func g()\n{ ret; }\n", NULL},
    {"part text: nothing", "", NULL, NULL, HEAD, NULL},
};

static cbi_span span_of(const char *text)
{
    return (cbi_span){(const uint8_t *)text, text ? strlen(text) : 0};
}

static bool merge(cbi_ctx *ctx, const merge_row *row, cbi_span *ret_text)
{
    cbi_lto_sources from = {.functions = span_of(row->functions),
                            .variables = span_of(row->variables ? row->variables : row->functions),
                            .copies = span_of(row->copies)};
    return cbi_lto_merge(ctx, from.functions, span_of(row->kept), ret_text) ||
           cbi_lto_merge_items(ctx, &from, span_of(row->kept), ret_text);
}

static cb_status run_row(cbi_ctx *ctx, void *arg)
{
    const merge_row *row = arg;
    cbi_span text = {0};
    bool merged = merge(ctx, row, &text);
    if (merged != (row->wanted != NULL))
        fail_msg("%s: %s", row->name, merged ? "merged" : "not merged");
    if (merged &&
        (text.size != strlen(row->wanted) || memcmp(text.data, row->wanted, text.size) != 0))
        fail_msg("%s:\n%.*s", row->name, (int)text.size, (const char *)text.data);
    return CB_OK;
}

static void merges(void **state)
{
    (void)state;
    for (size_t i = 0; i < CBI_COUNT(rows); i++) {
        unit_heap heap = {0};
        cbi_ctx ctx;
        unit_ctx_init(&ctx, &heap);
        assert_int_equal(cbi_run(&ctx, run_row, (void *)&rows[i]), CB_OK);
        cbi_ctx_fini(&ctx);
        assert_int_equal(heap.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges),
    };
    return cmocka_run_group_tests_name("part_text", tests, NULL, NULL);
}
