#!/usr/bin/env python3
"""Code with tcgen05 from toolkits before 13.0 beside newer code, against nvlink.

The toolkits are told apart by the numbers of what runs at a kernel's entry: 4 and 5, or 6 and 7.
No older ptxas is at hand, so records of ordinary functions are replaced.  Needs ptxas and nvlink;
without them it prints one line and is skipped.
"""
import struct

import _mercury
from _mercury import HEAD, toolchain

import cubin

FUNCTION = ".visible .func %s()\n{ nanosleep.u32 20; ret; }\n"


def module(tools, first, fragments):
    """An object with a function for each number, first_0 and so on."""
    names = ["%s_%d" % (first, i) for i in range(len(fragments))]
    blob = bytearray(tools.assemble(HEAD % "90" + "".join(FUNCTION % n for n in names), "90"))
    elf = cubin.Cubin(bytes(blob))
    for name, fragment in zip(names, fragments):
        sec = elf.find(".nv.info." + name)
        at = sec.data.index(b"\x04\x36\x04\x00")     # SW_WAR becomes AT_ENTRY_FRAGMENTS
        struct.pack_into("<BBHI", blob, sec.sh_offset + at, 4, 0x4F, 4, fragment)
    return bytes(blob)


def main(tools):
    failed = count = 0
    for objects in ([[4, 5]], [[6, 7]], [[4, 6]], [[7, 5, 7]], [[5, 7, 5, 7]], [[4], [6, 7]],
                    [[7], [5]], [[6], [3], [7]]):
        inputs = [("m%d.cubin" % i, module(tools, "f%d" % i, fragments))
                  for i, fragments in enumerate(objects)]
        for args in ([], ["-r"]):
            v = toolchain.run_steps(tools, [["-arch=sm_90", *args]], inputs)
            count += 1
            if v.grade != "same":
                failed += 1
                print("%s %s: %s %s" % (objects, args, v.cls, v.text))
    return count - failed, failed


if __name__ == "__main__":
    _mercury.run(main)
