#!/usr/bin/env python3
"""./dev reduce: the smallest link that two programs do differently.  A script stands for nvlink, which changes a byte
of the output as long as one thing is among the inputs."""

import os
import subprocess
import sys
import tempfile

from _checks import expect, finish
from _nvlink import CUBIND, EMULATE, ROOT

REDUCE = os.path.join(ROOT, "tests", "reduce.py")
SAMPLES = [os.path.join(ROOT, "samples", n) for n in ("reduce.cubin", "mathlib.cubin")]
# cubind's own bytes, the last of which is another where an input contains TEXT
OTHER = """#!/bin/sh
"%s" link %s "$@" || exit $?
if grep -q "%s" *.cubin; then printf X | dd of=n/out.cubin bs=1 seek=64 conv=notrunc 2>/dev/null; fi
"""


def reduce(folder, script, *words):
    nvlink = os.path.join(folder, "nvlink")
    with open(nvlink, "w") as f:
        f.write(script)
    os.chmod(nvlink, 0o755)
    out = os.path.join(folder, "out")
    env = dict(os.environ, CUBIND_ORACLE_CACHE=os.path.join(folder, "cache"))
    p = subprocess.run([sys.executable, REDUCE, "--out", out, "--nvlink", nvlink, "--cubind", CUBIND, *words],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    return p.returncode, p.stdout, out


def main():
    with tempfile.TemporaryDirectory() as d:
        rc, text, _ = reduce(d, OTHER % (CUBIND, EMULATE, "no such text"), "-arch=sm_90", *SAMPLES)
        expect("nothing differs", rc == 1 and "both do the same" in text, text)
    with open(SAMPLES[1], "rb") as f:
        whole = len(f.read())
    with tempfile.TemporaryDirectory() as d:
        rc, text, out = reduce(d, OTHER % (CUBIND, EMULATE, "text._Z12never_calledf"), "-arch=sm_90", "-r", "-g", *SAMPLES)
        expect("one input stays", rc == 0 and len(os.listdir(os.path.join(out, "in"))) == 1, text)
        with open(os.path.join(out, "cmd")) as f:
            command = f.read().split()
        expect("options that do not matter go", "-g" not in command, command)
        with open(os.path.join(out, "in", os.listdir(os.path.join(out, "in"))[0]), "rb") as f:
            data = f.read()
        expect("what matters stays", b"_Z12never_calledf" in data and data.count(b"\0") > 0 and len(data) == whole, len(data))
        expect("sections are empty", sum(data[int.from_bytes(data[40:48], "little") + 64 * i + 32] == 0
                                         for i in range(1, int.from_bytes(data[60:62], "little"))) > 3, "none")
        for name in ("nvlink.cubin", "cubind.cubin", "difference.txt"):
            expect("there is " + name, os.path.getsize(os.path.join(out, name)) > 0, name)
    finish()


if __name__ == "__main__":
    main()
