#!/usr/bin/env python3
"""Links an object of every target for every target and compares acceptance, message and output
with nvlink.

Needs ptxas and nvlink; without them it prints one line and is skipped.  Usage: mercury_matrix.py
"""
from concurrent.futures import ThreadPoolExecutor

import _mercury
from _checks import part
from _mercury import HEAD, PICK, toolchain

ARCHS = toolchain.GROUPS["all"]
PTX = HEAD + PICK + _mercury.kernel(_mercury.call("pick"))


def main(tools):
    objects = {a: [("in_%s.cubin" % a, tools.assemble(PTX % a, a))] for a in ARCHS}
    pairs = part([(source, target) for source in ARCHS for target in ARCHS], 4)

    def check(pair):
        source, target = pair
        return toolchain.run_steps(tools, [["-arch=sm_" + target]], objects[source])

    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for (source, target), v in zip(pairs, pool.map(check, pairs)):
            failed += v.grade != "same"
            if v.grade != "same":
                print("FAIL sm_%s for sm_%s: %s %s" % (source, target, v.cls, v.text))
    return len(pairs) - failed, failed


if __name__ == "__main__":
    _mercury.run(main)
