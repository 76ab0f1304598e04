"""Writes the fixtures of tests/golden: inputs, options and what nvlink made of them."""
import os
import shutil

import features
import toolchain

FIXTURES = """
templates 75 default; alias 120 r; virtual 80 r; fnptr-global 90 default; fnptr-global 100 r
init-pointers 75 default; ptr-slices 90 default; statics 86 reversed; statics 100 default
texref-unified 75 default; texref-independent 90 default; printf-malloc 80 default; managed 89 default
recursion 75 verbose; deep-chain 87 default; diamond 90 kernels; diamond 120 default
shared-shapes 90 default; shared-ptx 75 default; shared-ptx 90 g; shared-ptx 100 r
dead-code 80 default; lineinfo 90 default; weak-ptx 86 default; common 75 r; alias 90 default
const-merge 80 kernels; double-const 75 default; jump-table 89 preserve; mbarrier 88 default
cluster 90 default; wgmma 90a default; tcgen05 100a r; barriers 75 verbose; many-modules 90 r
err-undefined 75 default; err-many 90 default; err-shared 80 default; err-proto 75 default
err-kernel 89 default; deep-chain 75 partial; shared-shapes 90 partial; err-regs 90 default; launch-bounds 87 default; empty-module 80 default; doubles-pace 103 default
weak-frames 100 r-g-final; debug-pace 120 default; dropped-rows 100 g; ewp-recursion 90 default; ewp-recursion 100 default
ewp-recursion 100 g; ewp-recursion 103 r-g-final; ewp-recursion 80 verbose; ewp-inner 100 default; ewp-inner 120 g; ewp-inner 100 r
ewp-debug 100 default; ewp-debug 120 g
"""

NOTE = """# {name}

{about}: feature program `{prog}` for sm_{arch}, link mode `{mode}`.

`in/` was compiled from `tests/oracle/features/{prog}/` by nvcc and ptxas 13.0.88; `expected.cubin` (absent when
the link fails), `stderr` and `status` are what nvlink 13.0.88 gave for the options in `cmd`.
Regenerate with `python3 tests/oracle/oracle.py --make-golden`. `../run.py` links it again and compares.
"""


def make(opts, tools):
    root = os.path.join(toolchain.ROOT, "tests", "golden")
    total = count = 0
    for spec in FIXTURES.replace("\n", ";").split(";"):
        if not spec.strip():
            continue
        prog_name, arch, mode = spec.split()
        prog = features.Program(prog_name)
        inputs = features.arrange(tools, mode, arch, prog.inputs(tools, arch))
        inputs = [("in/" + n, d) for n, d in inputs]
        *before, args = features.steps_for(tools, prog, mode, arch, inputs)
        for number, step in enumerate(before):
            inputs = [("in/step%d.cubin" % (number + 1), tools.run_nvlink(step, inputs).out)]
        r = tools.run_nvlink(args, inputs)
        name = "%s-%s-%s" % (prog_name, arch, mode)
        d = os.path.join(root, name)
        shutil.rmtree(d, ignore_errors=True)
        os.makedirs(os.path.join(d, "in"))
        files = {n: blob for n, blob in inputs}
        files["cmd"] = (" ".join(args + [n for n, _ in inputs]) + "\n").encode()
        files["stderr"] = r.err.encode("latin1")
        files["status"] = b"%d\n" % r.rc
        files["NOTE.md"] = NOTE.format(name=name, about=prog.job["about"].capitalize(),
                                       prog=prog_name, arch=arch, mode=mode).encode()
        if r.out is not None:
            files["expected.cubin"] = r.out
        for n, blob in files.items():
            with open(os.path.join(d, n), "wb") as f:
                f.write(blob)
            total += len(blob)
        count += 1
    print("%d fixtures, %d bytes" % (count, total))
    return 0
