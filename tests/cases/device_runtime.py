#!/usr/bin/env python3
"""Links an object with the whole device runtime library for every target from sm_100 on and compares with nvlink: its
kernels are real code, memset_3d_device among them, whose scoreboards the final link assigns anew.

Needs ptxas and nvlink; without them it prints one line and is skipped.  Usage: device_runtime.py
"""
import os

import _mercury
from _mercury import HEAD, PICK, toolchain

PTX = HEAD + PICK + _mercury.kernel(_mercury.call("pick"))


def main(tools):
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(tools.nvlink))), "lib64")
    options = ["-L=" + library, "-lcudadevrt", "-keep-system-libraries"]
    archs = [a for a in toolchain.GROUPS["all"] if int(a.rstrip("af")) >= 100]
    failed = 0
    for arch in archs:
        inputs = [("in.cubin", tools.assemble(PTX % arch, arch))]
        v = toolchain.run_steps(tools, [["-arch=sm_" + arch] + options], inputs)
        failed += v.grade != "same"
        if v.grade != "same":
            print("FAIL sm_%s: %s %s %s" % (arch, v.grade, v.cls, v.text))
    return len(archs) - failed, failed


if __name__ == "__main__":
    _mercury.run(main)
