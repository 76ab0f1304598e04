#!/usr/bin/env python3
"""Objects with forged compatibility records and kinds: accepted, refused and linked as by nvlink.

Random values for the tags of .nv.compat that decide where code may go (portability, class, Mercury
version, architecture-specific) and for the kind in e_flags, in one or both of two objects, for
targets of every family.  Left out: chips that no compiler of this toolkit knows.  Needs ptxas and
nvlink; without them it prints one line and is skipped.  Usage: forged_tags.py [SEED [N]]
"""
import random
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

import _mercury
from _mercury import HEAD, toolchain

import cubin  # noqa: E402

SOURCES = ["100", "100a", "100f", "103", "103f", "110", "110a", "120", "120f", "121"]
CODE = [HEAD + ".visible .global .align 4 .u32 g;\n" + _mercury.kernel("    add.u32 %%v, %%v, 1;\n"),
        HEAD + _mercury.kernel("    add.u32 %%v, %%v, 2;\n").replace("kernel", "other")]
TAGS = [(2, 0.4, [0, 1, 1, 2, 3, 4]), (6, 0.4, [0, 1, 2, 3, 4, 5]),
        (7, 0.2, [0x100, 0x101, 0x102, 0, 0x200]), (9, 0.3, [0, 1]), (5, 0.15, [0, 5, 6, 9, 0xa, 2])]
KINDS = [0, 1, 2, 3, 4, 5, 6, 7]


def forge(blob, rng):
    """The object with some fields changed, and which."""
    out, what = bytearray(blob), []
    section = cubin.Cubin(blob).find(".nv.compat")
    for tag, chance, values in TAGS:
        if rng.random() >= chance:
            continue
        at, value = section.sh_offset, rng.choice(values)
        while out[at + 1] != tag:
            at += 4 + (struct.unpack_from("<H", out, at + 2)[0] if out[at] == 4 else 0)
        struct.pack_into("<H", out, at + 2, value)
        what.append("tag %d = 0x%x" % (tag, value))
    if rng.random() < 0.2:
        kind = rng.choice(KINDS)
        out[48] = out[48] & 0xf8 | kind
        what.append("kind %d" % kind)
    return bytes(out), what


def main(tools):
    seed, count = (sys.argv[1:] + ["1", "150"][len(sys.argv) - 1:])[:2]

    def job(number):
        rng = random.Random("%s/%d" % (seed, number))
        source, target = rng.choice(SOURCES), rng.choice(toolchain.MERCURY)
        if rng.random() < 0.6:
            target = rng.choice([t for t in toolchain.MERCURY if t[:2] == source[:2]])
        inputs, changes = [], []
        for i, text in enumerate(CODE):
            blob = tools.assemble(text % source, source)
            if i == 0 or rng.random() < 0.4:
                blob, what = forge(blob, rng)
                changes.append("m%d: %s" % (i, ", ".join(what)))
            inputs.append(("m%d.cubin" % i, blob))
        if rng.random() < 0.5:
            inputs.reverse()
        args = ["-arch=sm_" + target] + (["-r"] if rng.random() < 0.3 else [])
        verdict = toolchain.run_steps(tools, [args], inputs)
        return "sm_%s %s: %s" % (source, " ".join(args), "; ".join(changes)), verdict

    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for name, verdict in pool.map(job, range(int(count))):
            # where nvlink crashes, cubind ends with a message
            if verdict.grade not in ("same", "crash"):
                failed += 1
                print("FAIL %s\n%s %s %s" % (name, verdict.grade, verdict.cls, verdict.text))
    return int(count) - failed, failed


if __name__ == "__main__":
    _mercury.run(main)
