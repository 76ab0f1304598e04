#!/usr/bin/env python3
"""What a frame description may say besides what ptxas writes, where code behind it moves, as with nvlink.

From sm_100 on the finalizer shortens code, so that advances change; what stands between them is skipped
by the lengths of its operands.  Inputs: two stored links of code with debug data (features-debug), in
whose descriptions one definition of the frame's address, 6 bytes, is another instruction of that size."""

import os
import sys

from _nvlink import ROOT, Table
from old_objects import OFFSET_AT, Object

sys.path.insert(0, os.path.join(ROOT, "tests", "golden"))
import store  # noqa: E402

ADVANCE, DEFINE_ADDRESS = 4, bytes.fromhex("0c8180802800")
INSTRUCTIONS = {    # as DWARF names them; a size is 7 bits per byte, the top bit says that more follow
    "def_cfa": "0c8101828001",
    "def_cfa_register": "0d8180808001",
    "def_cfa_offset": "0e8180808001",
    "def_cfa_sf": "128101828001",
    "def_cfa_offset_sf": "138182808001",
    "remember and restore state": "0a0b0a0b0a0b",
    "offset": "858180808001",
    "offset, the first register": "808180808001",
    "offset, the last register": "bf8180808001",
    "offset_extended": "058101828001",
    "offset_extended_sf": "118101828001",
    "restore": "c5c6c7c5c6c7",
    "restore, first and last register": "c0ffc0ffc0ff",
    "restore_extended": "068182808001",
    "undefined": "078182808001",
    "same_value": "088182808001",
    "register": "098101828001",
    "val_offset": "148101828001",
    "expression": "100503112233",
    "val_expression": "160503112233",
}
LINKS = {"exit-lines-debug-100-default": "sm_100", "debug-labels-debug-120-default": "sm_120"}


def changed(blob, instruction):
    """The object with that instruction in place of the first definition behind an advance."""
    obj = Object(blob)
    for section in (".debug_frame", ".nv.merc.debug_frame"):
        at = obj.header(section) + OFFSET_AT
        start, size = (int.from_bytes(obj.blob[at + i:at + i + 8], "little") for i in (0, 8))
        place = obj.blob.find(DEFINE_ADDRESS, start, start + size)
        while place >= 0 and obj.blob[place - 5] != ADVANCE:
            place = obj.blob.find(DEFINE_ADDRESS, place + 1, start + size)
        assert place >= 0
        obj.blob[place:place + 6] = bytes.fromhex(instruction)
    return obj.blob


def prepare(folder):
    found = 0
    for link in store.read_archive(os.path.join(ROOT, "tests", "golden", "features-debug.tar.xz")):
        if link.name not in LINKS:
            continue
        (_, blob), = link.inputs
        found += 1
        for i, instruction in enumerate(INSTRUCTIONS.values()):
            with open(os.path.join(folder, "%s-%d.cubin" % (LINKS[link.name], i)), "wb") as f:
                f.write(changed(blob, instruction))
    assert found == len(LINKS)


def main():
    table = Table(sys.argv[0], prepare)
    for arch in LINKS.values():
        for i, name in enumerate(INSTRUCTIONS):
            table.check("%s %s" % (arch, name), ["-arch=" + arch, "%s-%d.cubin" % (arch, i), "-o", "out"])
    table.done()


if __name__ == "__main__":
    main()
