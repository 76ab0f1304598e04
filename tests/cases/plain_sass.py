#!/usr/bin/env python3
"""Objects without a Mercury side for sm_100 and later, beside others and alone, against nvlink.

No tool of the toolkit writes them; here the kind in the header of an empty object is changed, and
nvlink -r makes plain objects of ordinary ones when it meets that one first.  So must `cubind finalize
--out-sass`: nvlink, given its results after a plain object, links the same file.  Needs ptxas and
nvlink; without them it prints one line and is skipped.  Usage: plain_sass.py [-v]
"""
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

import _mercury
from _checks import part
from _mercury import HEAD, PICK, call, toolchain

FIRST = HEAD + PICK + """.visible .func (.param .u32 r) choose (.param .u32 i)
{
    .reg .u32 %%i; ld.param.u32 %%i, [i];
    targets: .branchtargets a, b, c, d;
    brx.idx %%i, targets;
a:  st.param.u32 [r], 1; ret;
b:  st.param.u32 [r], 5; ret;
c:  st.param.u32 [r], 7; ret;
d:  trap; ret;
}
"""
SECOND = HEAD + """.extern .func (.param .u32 r) pick (.param .u32 i);
.extern .func (.param .u32 r) choose (.param .u32 i);
.visible .global .align 4 .u32 seen;
.visible .entry kernel (.param .u64 p)
{
    .reg .u64 %%p; .reg .u32 %%v; .shared .align 4 .b8 mine[256];
    ld.param.u64 %%p, [p]; cvta.to.global.u64 %%p, %%p; ld.global.u32 %%v, [%%p];
""" + call("pick") + call("choose") + """    st.shared.u32 [mine], %%v; bar.sync 0; ld.shared.u32 %%v, [mine];
    st.global.u32 [seen], %%v; st.global.u32 [%%p], %%v; ret;
}
"""
SHARED = HEAD + """%s .shared .align 16 .b8 v[%s];
.visible .entry user%d(.param .u64 p)
{
    .reg .u32 %%r; .reg .u64 %%a;
    ld.param.u64 %%a, [p]; ld.shared.u32 %%r, [v]; st.global.u32 [%%a], %%r; ret;
}
"""
ARCHS = ["100", "100a", "103f", "110", "120", "121a"]
MODES = [[], ["-r"], ["-preserve-relocs"], ["-kernels-used=kernel"], ["-disable-infos"],
         ["-Werror"]]


def orders(tools, arch):
    """Lists of inputs: the plain object at every place, and nothing but plain ones."""
    empty = bytearray(tools.assemble(HEAD % arch, arch))
    empty[48] = 4
    plain = ("plain.cubin", bytes(empty))
    merc = [("a.cubin", tools.assemble(FIRST % arch, arch)),
            ("b.cubin", tools.assemble(SECOND % arch, arch))]
    made = []
    for name, data in merc:
        out = tools.run_nvlink(["-arch=sm_" + arch, "-r"], [plain, (name, data)]).out
        made.append(("plain_" + name, out))
    return [[plain] + merc, [merc[0], plain, merc[1]], merc + [plain], made, [made[0], merc[1]],
            [merc[0], made[1]], [plain], merc[:1] + [plain]]


def lowered(tools, job):
    """nvlink lowers objects that follow a plain one; the same bytes if cubind did it before."""
    source, target, mode = job
    plain, *merc = orders(tools, source)[0]
    plain = (plain[0], orders(tools, target)[0][0][1])
    made = []
    for name, data in merc:
        argv = [tools.cubind, "finalize", "--out-sass", "--self-check", "-arch", "sm_" + target, name]
        got = tools.exec_link(argv, [(name, data)], "f")
        if got.out is None:
            return toolchain.Verdict("diff", "exit %d" % got.rc, got.err)
        made.append((name, got.out))
    args = ["-arch=sm_" + target, *mode]
    # the chip of a plain object counts for what comes after it
    want = tools.run_nvlink(args, [plain, *merc])
    return toolchain.compare(tools, want, tools.run_nvlink(args, [plain, *made]))


def shared_pairs(tools, arch):
    """Pairs of objects, plain or not, that declare one shared variable: dynamic or of a size."""
    empty = bytearray(tools.assemble(HEAD % arch, arch))
    empty[48] = 4

    def made(what, number, plain):
        blob = tools.assemble(SHARED % (arch, *what, number), arch)
        if plain:
            blob = tools.run_nvlink(["-arch=sm_" + arch, "-r"],
                                    [("plain.cubin", bytes(empty)), ("m.cubin", blob)]).out
        return "m%d.cubin" % number, blob

    kinds = [(".extern", ""), (".visible", "32"), (".extern", "32"), (".weak", "32")]
    both = list(itertools.product(kinds, (False, True)))
    # two definitions of a size crash nvlink
    return [[made(a, 0, x), made(b, 1, y)]
            for a, x in both for b, y in both if not (a == b == kinds[1])]


def main(tools):
    jobs = [(arch, mode, inputs) for arch in ARCHS for inputs in orders(tools, arch)
            for mode in MODES]
    jobs += [("120", mode, inputs) for inputs in shared_pairs(tools, "120") for mode in MODES[:2]]
    # for another chip, where the first input decides what is accepted
    jobs += [("121", mode, inputs) for inputs in orders(tools, "120") for mode in MODES[:2]]
    jobs = part(jobs, 3)

    def check(job):
        arch, mode, inputs = job
        return toolchain.run_steps(tools, [["-arch=sm_" + arch, *mode]], inputs)

    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for (arch, mode, inputs), v in zip(jobs, pool.map(check, jobs)):
            failed += v.grade != "same"
            if v.grade != "same" or "-v" in sys.argv:
                print("%s sm_%s %s %s: %s %s" % (v.grade, arch, " ".join(mode),
                                                 " ".join(n for n, _ in inputs), v.cls, v.text))
    pairs = [(arch, arch, mode) for arch in ARCHS for mode in MODES[:3]]
    pairs += [("100", "103a", []), ("103", "103f", []), ("120f", "121", ["-r"])]
    for job in pairs:
        v = lowered(tools, job)
        failed += v.grade != "same"
        if v.grade != "same" or "-v" in sys.argv:
            print("%s --out-sass %s: %s %s" % (v.grade, job, v.cls, v.text))
    total = len(jobs) + len(pairs)
    return total - failed, failed


if __name__ == "__main__":
    _mercury.run(main)
