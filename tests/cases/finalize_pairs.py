#!/usr/bin/env python3
"""cubind finalize against nvlink, for every pair of a source and a target from sm_100 on.

The objects of a program are linked by nvlink for the source and for the target.  `cubind finalize`
of the first must give the second, byte for byte, and must refuse (exit status 4) exactly the targets
that nvlink refuses.  What differs is listed by record.  Needs ptxas and nvlink; without them it
prints one line and is skipped.  Usage: finalize_pairs.py [-v]
"""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import _mercury
from _checks import part
from _mercury import HEAD, PICK, toolchain

import cubin  # noqa: E402

MODULES = [HEAD + PICK + """.visible .global .align 8 .u64 where = generic(table);
.extern .shared .align 16 .b8 dynamic[];
""" + _mercury.kernel(_mercury.call("pick") + "    st.shared.u32 [dynamic], %%v;\n"),
           HEAD + """.extern .func (.param .u32 r) pick (.param .u32 i);
.visible .entry second (.param .u64 p, .param .u32 n)
{
    .reg .u64 %%p; .reg .u32 %%v, %%n; .reg .pred %%q;
    .shared .align 4 .b8 mine[256];
    ld.param.u64 %%p, [p]; ld.param.u32 %%n, [n]; mov.u32 %%v, %%tid.x;
    setp.ge.u32 %%q, %%v, %%n; @%%q bra done;
    st.shared.u32 [mine], %%v; bar.sync 0; ld.shared.u32 %%v, [mine];
    cvta.to.global.u64 %%p, %%p; st.global.u32 [%%p], %%v;
done:
    ret;
}
"""]
def doubles(body):
    return HEAD + """.visible .entry half (.param .u64 p)
{
    .reg .u64 %%p; .reg .f64 %%d, %%e; .reg .u32 %%r, %%s; .reg .pred %%q;
    ld.param.u64 %%p, [p]; cvta.to.global.u64 %%p, %%p; ld.global.f64 %%d, [%%p];
""" + body + """    st.global.f64 [%%p], %%d; ret;
}
"""


# What sm_103 computes at another pace, where only scheduling bits change ...
PACED = ["    mul.f64 %%d, %%d, %%d;\n", "    mul.f64 %%e, %%d, %%d; add.f64 %%d, %%e, %%d;\n",
         "    setp.gt.f64 %%q, %%d, 0d3ff0000000000000; @%%q st.global.f64 [%%p+8], %%d;\n",
         "    mov.u32 %%r, %%tid.x; popc.b32 %%s, %%r; bfind.u32 %%r, %%r; add.u32 %%r, %%r, %%s;\n"
         "    st.global.u32 [%%p+8], %%r;\n"]
# ... and where NOPs must come between two instructions.
SLOW = "    mul.f64 %%e, %%d, %%d; add.f64 %%d, %%d, %%d; st.global.f64 [%%p+8], %%e;\n"
# link options of both sides: the note grows with them to every rest modulo its padding
MODES = [[], ["-r"], ["-m64"], ["-g"], ["-kernels-used=second"], ["--verbose-tkinfo=true", "-v"],
         ["--tool-name=other"]]
SHORT = MODES[:4]


class Pairs:
    def __init__(self, tools):
        self.tools = tools
        self.passed = self.failed = 0
        self.same = self.refused = 0

    def objects(self, arch):
        return [("m%d.cubin" % i, self.tools.assemble(text % arch, arch))
                for i, text in enumerate(MODULES)]

    def finalize(self, image, target):
        argv = [self.tools.cubind, "finalize", "-arch", "sm_" + target, "--self-check", "in.cubin"]
        return self.tools.exec_link(argv, [("in.cubin", image)], "f")

    def check(self, job):
        """None, or what is wrong."""
        source, target, mode, inputs = job
        tools = self.tools
        linked = tools.run_nvlink(["-arch=sm_" + source, *mode], inputs)
        want = tools.run_nvlink(["-arch=sm_" + target, *mode], inputs)
        got = self.finalize(linked.out, target)
        if want.out is None:
            self.refused += 1
            return None if got.rc == 4 and got.out is None else "nvlink refuses, exit %d" % got.rc
        if got.out is None:
            return "exit %d: %s" % (got.rc, got.err)
        if got.out == want.out:
            self.same += 1
            return None
        return "%s\n%s" % cubin.explain(want.out, got.out)

    def run(self):
        jobs = []
        for source in toolchain.MERCURY:
            near = [t for t in toolchain.MERCURY if t[:2] == source[:2]]
            for target in toolchain.MERCURY:
                for mode in (MODES if target == "103a" else SHORT) if target in near else MODES[:1]:
                    jobs.append((source, target, mode, self.objects(source)))
        jobs = part(jobs, 3)
        with ThreadPoolExecutor(2) as pool:
            for job, wrong in zip(jobs, pool.map(self.check, jobs)):
                self.passed += wrong is None
                self.failed += wrong is not None
                if wrong or "-v" in sys.argv:
                    print("%s sm_%s for sm_%s %s: %s" % ("FAIL" if wrong else "ok", job[0], job[1],
                                                         " ".join(job[2]), wrong or "same"))

    def run_paced(self):
        """Code that sm_103 computes at another pace."""
        for body in PACED:
            inputs = [("half.cubin", self.tools.assemble(doubles(body) % "100", "100"))]
            wrong = self.check(("100", "103", [], inputs))
            self.passed += wrong is None
            self.failed += wrong is not None
            if wrong:
                print("FAIL %s: %s" % (body.strip(), wrong))

    def run_double(self):
        """Code that only a compiler can take to sm_103: nvlink has one."""
        inputs = [("half.cubin", self.tools.assemble(doubles(SLOW) % "100", "100"))]
        linked = self.tools.run_nvlink(["-arch=sm_100"], inputs)
        got = self.finalize(linked.out, "103")
        good = got.rc == 4 and got.out is None and \
            "'half' is compiled for sm_100 and must be compiled for sm_103" in got.err
        self.passed += good
        self.failed += not good
        if not good:
            print("FAIL double precision for sm_103: exit %d, %s" % (got.rc, got.err))
        self.run_back_end(linked.out, self.tools.run_nvlink(["-arch=sm_103"], inputs).out)

    def run_back_end(self, linked, want):
        """The example's back end, given what nvlink compiled, puts that code and capsule there."""
        example = os.path.join(os.environ.get("CUBIND_BUILD", os.path.join(_mercury.ROOT, "build")),
                               "examples", "finalize_memory")
        if not os.path.exists(example):
            return
        files = [("in.cubin", linked), ("donor.cubin", want), ("damaged.cubin", want[:500])]
        for donor, rc in (("donor.cubin", 0), ("damaged.cubin", 1), ("", 1)):
            argv = ["sh", "-c", '"$0" sm_103 f/out.cubin in.cubin $1', example, donor]
            done = self.tools.exec_link(argv, files, "f")
            good = done.rc == rc and (code_of(done.out) == code_of(want) if rc == 0
                                      else "'half'" in done.err)
            self.passed += good
            self.failed += not good
            if not good:
                print("FAIL back end with %s: exit %d, %s%s" % (donor, done.rc, done.stdout, done.err))


def code_of(image):
    """Code and capsules, by section."""
    return {s.name: image[s.sh_offset:s.sh_offset + s.sh_size] for s in cubin.Cubin(image).sections
            if s.name.startswith((".text.", ".nv.capmerc"))}


def main(tools):
    pairs = Pairs(tools)
    pairs.run()
    pairs.run_paced()
    pairs.run_double()
    print("%d outputs the same, %d refused by both" % (pairs.same, pairs.refused))
    return pairs.passed, pairs.failed


if __name__ == "__main__":
    _mercury.run(main)
