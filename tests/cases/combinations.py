#!/usr/bin/env python3
"""Random combinations of options: the output with its record of the command line, the side files and
the messages must be nvlink's byte for byte."""

import os
import random

from _nvlink import Table

COUNT = 100
FLAGS = """-g -v -w -Werror -disable-infos -keep-system-libraries -report-arch -extrawarn -r -uumn
-suppress-arch-warning -suppress-stack-size-warning -use-host-info -dump-callgraph -force-rela
-reserve-null-pointer""".split()
VALUES = [
    ["-m", "64"], ["-m0x40"], ["-l", "x,y"], ["-lz"], ["-L", "/a,/b"], ["-L."],
    ["-kernels-used", "k"], ["-kernels-used=ka,kb"], ["-variables-used", "q,k"],
    ["-cpu-arch", "X86_64"], ["-maxrregcount", "0x20"], ["-Xptxas", "-O3,-v"],
    ["-Xnvvm", '"a,b",c'], ["-nvvmpath", "/p/q"], ["-split-compile", "4"],
    ["-split-compile-extended", "010"], ["-device-stack-protector", "true"],
    ["-device-stack-protector=false"], ["--verbose-tkinfo=true"], ["--verbose-tkinfo", "false"],
    ["--register-link-binaries", "sub/../reg"], ["-time", "t.csv"], ["-tool-name", "nvlink"],
    ["-tool-name=other"], ["-optf", "more.opt"], ["-cuda-api-version", "13.0"],
    ["-disable-smem-reservation=true"],
]
INPUTS = [["a.cubin", "b.cubin"], ["./b.cubin", "sub/../a.cubin"], ["b.cubin", "tmpl.cubin"]]


def prepare(folder):
    os.makedirs(os.path.join(folder, "sub"))
    with open(os.path.join(folder, "more.opt"), "w") as f:
        f.write(" -suppress-arch-warning -lmore")


def main():
    table = Table(__file__, prepare)
    choice = random.Random(88)
    for number in range(COUNT):
        args = ["-arch=sm_90"] + choice.choice(INPUTS)
        args += [f for f in FLAGS if choice.random() < 0.2]
        for value in choice.sample(VALUES, choice.randint(0, 7)):
            args += value
        table.check(str(number), args + ["-o", "sub/out.cubin"])
    table.done()


if __name__ == "__main__":
    main()
