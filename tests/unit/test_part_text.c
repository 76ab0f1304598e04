/* Texts of one part as the compiler writes them, made one (docs/lto.md). */
#include "base/base.h"
#include "lto/part_merge.h"
#include "lto/part_module.h"
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
    {"part text: calls are counted in the order in which they were translated",
     HEAD ".visible .func f()\n{\n{ // callseq 1, 0\n} // callseq 1\n{ // callseq 0, 0\n} // "
          "callseq 0\n}\n",
     NULL,
     HEAD ".func f()\n{\n{ // callseq 9, 0\n} // callseq 9\n{ // callseq 8, 0\n} // callseq 8\n}\n",
     HEAD ".visible .func f()\n{\n{\n}\n{\n}\n}\n.func f$2()\n{\n{\n}\n{\n}\n}\n",
     HEAD ".visible .func f()\n{\n{ // callseq 1, 0\n} // callseq 1\n{ // callseq 0, 0\n} // "
          "callseq 0\n}\n"
          ".func f$2()\n{\n{ // callseq 3, 0\n} // callseq 3\n{ // callseq 2, 0\n} // callseq "
          "2\n}\n"},
    {"part text: an empty line stands before the first definition, not before declarations",
     HEAD FIRST "\n.visible .func f" BODY("f", "0", "ld.u32") END, NULL,
     HEAD "\n.func f" BODY("f", "0", "ld.local.u32") END,
     HEAD ".func f$1\n(\n.param .b64 f$1_param_0\n)\n;\n.visible .func f" BODY("f", "0", "ld.u32")
         END ".func f$1" BODY("f$1", "1", "ld.local.u32") END,
     HEAD FIRST ".func f$1\n(\n\t.param .b64 f$1_param_0\n)\n;\n\n.visible .func f" BODY(
         "f", "0", "ld.u32") END ".func f$1" BODY("f$1", "1", "ld.local.u32") END},
    {"part text: numbers of places and debugging sections",
     HEAD ".visible .func f()\n{\n$L__func_begin0:\nret;\n$L__func_end0:\n}\n\t.section "
          ".debug_info\n{\n.b8 1\n}\n",
     NULL, HEAD ".func f()\n{\n$L__func_begin4:\nret;\n$L__func_end4:\n}\n",
     HEAD ".visible .func f()\n{\n$L__func_begin0:\nret;\n$L__func_end0:\n}\n"
          ".func f$2()\n{\n$L__func_begin1:\nret;\n$L__func_end1:\n}\n",
     HEAD ".visible .func f()\n{\n$L__func_begin0:\nret;\n$L__func_end0:\n}\n"
          ".func f$2()\n{\n$L__func_begin1:\nret;\n$L__func_end1:\n}\n\t.section "
          ".debug_info\n{\n.b8 1\n}\n"},
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

/* ---- the module that keeps what is shown ---- */

typedef struct module_row {
    const char *name;
    const char *ptx;
    const char *wanted; /* stands in the module */
} module_row;

#define COPIED(result, params, copy)                                                               \
    HEAD ".visible .func " result "f(" params ")\n{\nret;\n}\n.func " result "f$2()\n{\n" copy     \
         "ret;\n}\n"
#define TO(type, space)                                                                            \
    type ".to = inttoptr i64 %i64 to i8 addrspace(" space ")*\n" type                              \
         " = addrspacecast i8 addrspace(" space ")* " type ".to to i8*\n"

static const module_row modules[] = {
    {"part module: no copy", HEAD ".visible .func f()\n{\nret;\n}\n",
     "declare void @f()\n@llvm.used = appending global [1 x i8*] [i8* bitcast (void ()* @f to "
     "i8*)]"},
    {"part module: no parameter", COPIED("", "", ""),
     "declare void @f()\ndefine void @__cubind_caller(i8 %i8, i16 %i16, i32 %i32, i64 %i64) {\n"
     "call void @f() noinline\nret void\n}\n@llvm.used = appending global [1 x i8*] "},
    {"part module: a result is stored", COPIED("(.param .b32 r) ", "", ""),
     "%v0 = call i32 @f() noinline\n%v0.to = inttoptr i64 %i64 to i32*\n"
     "store volatile i32 %v0, i32* %v0.to\nret void\n"},
    {"part module: a structure as the result", COPIED("(.param .align 8 .b8 r[16]) ", "", ""),
     "declare void @f()\n"},
    {"part module: global memory",
     COPIED("", ".param .b64 p",
            "ld.param.u64 %rd1, [f$2_param_0];\ncvta.to.global.u64 %rd2, %rd1;\n"),
     TO("%v0", "1") "call void @f(i8* %v0) noinline\n"},
    {"part module: shared memory, and a pointer that is handed on",
     COPIED("", ".param .b64 p, .param .b64 q",
            "ld.param.u64 %rd1, [f$2_param_0];\nld.param.u64 %rd5, [f$2_param_1];\n"
            "cvta.to.shared.u64 %rd2, %rd1;\n"),
     TO("%v0", "3") TO("%v1", "1") "call void @f(i8* %v0, i8* %v1) noinline\n"},
    {"part module: constant and local memory",
     COPIED("", ".param .b64 p, .param .b64 q",
            "ld.param.u64 %rd1, [f$2_param_1];\nld.param.u64 %rd5, [f$2_param_0];\n"
            "cvta.to.const.u64 %rd2, %rd1;\ncvta.to.local.u64 %rd3, %rd5;\n"),
     TO("%v0", "5") TO("%v1", "4") "call void @f(i8* %v0, i8* %v1) noinline\n"},
    {"part module: no pointers",
     COPIED("", ".param .b64 a, .param .b32 b, .param .b32 c, .param .b32 d, .param .b64 e",
            "ld.param.f64 %fd1, [f$2_param_0];\nld.param.u8 %rs1, [f$2_param_1];\n"
            "ld.param.s16 %r1, [f$2_param_2];\nld.param.f32 %f1, [f$2_param_3];\n"),
     "call void @f(i64 %i64, i8 %i8, i16 %i16, i32 %i32, i64 %i64) noinline\n"},
    {"part module: a structure", COPIED("", ".param .align 8 .b8 s[24]", ""),
     "%v0 = inttoptr i64 %i64 to [24 x i8]*\ncall void @f([24 x i8]* byval align 8 %v0) "
     "noinline\n"},
    {"part module: variables",
     HEAD ".visible .global .align 4 .u32 x[3];\n.visible .const .b64 y;\n",
     "@x = external addrspace(1) global [12 x i8]\n@y = external addrspace(4) global [8 x i8]\n"},
};

static cb_status run_module(cbi_ctx *ctx, void *arg)
{
    const module_row *row = arg;
    cbi_ptx_items items;
    assert_true(cbi_ptx_read_items(ctx, span_of(row->ptx), &items));
    const cbi_map copied = cbi_lto_find_copied(ctx, &items);
    const char *module = cbi_lto_keeping_module(ctx, span_of(row->ptx), &copied);
    if (!module || !strstr(module, row->wanted))
        fail_msg("%s:\n%s", row->name, module ? module : "none");
    return CB_OK;
}

static void keeps(void **state)
{
    (void)state;
    for (size_t i = 0; i < CBI_COUNT(modules); i++) {
        unit_heap heap = {0};
        cbi_ctx ctx;
        unit_ctx_init(&ctx, &heap);
        assert_int_equal(cbi_run(&ctx, run_module, (void *)&modules[i]), CB_OK);
        cbi_ctx_fini(&ctx);
        assert_int_equal(heap.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges),
        cmocka_unit_test(keeps),
    };
    return cmocka_run_group_tests_name("part_text", tests, NULL, NULL);
}
