"""What the tests of sm_100 and later share: the oracle's tools and a function of PTX."""
import os
import sys

ROOT = os.environ.get("CUBIND_ROOT",
                      os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import toolchain  # noqa: E402

# Texts have a %s for the target, so that every other percent sign is doubled.
HEAD = ".version 9.0\n.target sm_%s\n.address_size 64\n"
PICK = """.visible .const .align 4 .b8 table[16];
.visible .func (.param .u32 r) pick (.param .u32 i)
{
    .reg .u32 %%i, %%v; .reg .u64 %%a;
    ld.param.u32 %%i, [i]; mul.wide.u32 %%a, %%i, 4;
    ld.const.u32 %%v, [table]; add.u32 %%v, %%v, %%i; st.param.u32 [r], %%v; ret;
}
"""


def call(name):
    """Gives %v to a function like pick and takes its answer there."""
    return """    { .param .u32 a; .param .u32 r; st.param.u32 [a], %%%%v; call (r), %s, (a);
      ld.param.u32 %%%%v, [r]; }
""" % name


def kernel(body):
    """A kernel that reads %v where its parameter %p points and stores it there after the body."""
    return """.visible .entry kernel (.param .u64 p)
{
    .reg .u64 %%p; .reg .u32 %%v;
    ld.param.u64 %%p, [p]; cvta.to.global.u64 %%p, %%p; ld.global.u32 %%v, [%%p];
""" + body + """    st.global.u32 [%%p], %%v; ret;
}
"""


def run(main):
    """Runs main(tools), which returns (passed, failed), and ends the test with what it says."""
    tools = toolchain.Tools()
    try:
        if not tools.nvlink or not tools.ptxas:
            print("ptxas or nvlink is not on PATH")
            sys.exit(77)
        passed, failed = main(tools)
        print("%d passed, %d failed" % (passed, failed))
        sys.exit(1 if failed else 0)
    finally:
        tools.close()
