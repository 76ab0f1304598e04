#!/usr/bin/env python3
"""What objects of earlier toolkits say, in objects of today's that are changed to say it: barriers in section
flags, cache preferences, stack limits, registers that are asked for at run time, no note of the toolkit."""

import os
import struct
import sys

from _nvlink import ROOT, Table
from many_sections import device_object

HEADER, FLAGS_AT, OFFSET_AT = 64, 8, 24


class Object:
    """An ELF file whose sections and records can be changed."""

    def __init__(self, blob):
        self.blob = bytearray(blob)

    def header(self, name):
        """Place of a section's header."""
        table, = struct.unpack_from("<Q", self.blob, 40)
        count, names = struct.unpack_from("<HH", self.blob, 60)
        strings, = struct.unpack_from("<Q", self.blob, table + HEADER * names + OFFSET_AT)
        for at in range(table, table + HEADER * count, HEADER):
            start = strings + struct.unpack_from("<I", self.blob, at)[0]
            if self.blob[start:self.blob.index(0, start)] == name.encode():
                return at
        raise KeyError(name)

    def symbol(self, name):
        """Its index."""
        offset, size, link = struct.unpack_from("<QQI", self.blob, self.header(".symtab") + OFFSET_AT)
        strings, = struct.unpack_from("<Q", self.blob, self.header(".strtab") + OFFSET_AT)
        for index in range(size // 24):
            start = strings + struct.unpack_from("<I", self.blob, offset + 24 * index)[0]
            if self.blob[start:self.blob.index(0, start)] == name.encode():
                return index
        raise KeyError(name)

    def barriers(self, function, count):
        at = self.header(".text." + function) + FLAGS_AT
        flags, = struct.unpack_from("<Q", self.blob, at)
        struct.pack_into("<Q", self.blob, at, flags | count << 20)

    def append(self, section, record):
        """A record behind the others; the section moves to the end of the file."""
        at = self.header(section) + OFFSET_AT
        offset, size = struct.unpack_from("<QQ", self.blob, at)
        data = self.blob[offset:offset + size] + record
        self.blob += bytes(-len(self.blob) % 16)
        struct.pack_into("<QQ", self.blob, at, len(self.blob), len(data))
        self.blob += data

    def value(self, code, function, value):
        """A record of the module about a function."""
        self.append(".nv.info", struct.pack("<BBHII", 4, code, 8, self.symbol(function), value))

    def own(self, code, fmt, function, value=0):
        self.append(".nv.info." + function, struct.pack("<BBH", fmt, code, value))


BARRIERS, CACHE, STACK, SAM, RECONFIGURED, REGISTERS = 0x4c, 0x26, 0x23, 0x3b, 0x54, 0x2f
# name, changes of the kernels' object, changes of the functions' object
ROWS = [
    ("barriers-callee", [], [("barriers", "_Z6smoothPKfi", 8)]),
    ("barriers-both", [("barriers", "smooth_line", 9)], [("barriers", "_Z6smoothPKfi", 8)]),
    ("barriers-fewer", [("barriers", "smooth_line", 3)], [("barriers", "_Z6smoothPKfi", 8)]),
    ("barriers-record", [("barriers", "block_sum", 9)], [("barriers", "_Z5weighfi", 8)]),
    ("barriers-callee-record", [("barriers", "smooth_line", 3)],
     [("barriers", "_Z6smoothPKfi", 8), ("own", BARRIERS, 2, "_Z6smoothPKfi", 1)]),
    ("cache-entry", [("value", CACHE, "block_sum", 1)], []),
    ("cache-none", [("value", CACHE, "block_sum", 0)], []),
    ("cache-callee", [], [("value", CACHE, "_Z5weighfi", 2)]),
    ("cache-conflict", [("value", CACHE, "block_sum", 1)], [("value", CACHE, "_Z5weighfi", 0)]),
    ("cache-refused", [("value", CACHE, "block_sum", 0)], [("value", CACHE, "_Z5weighfi", 1)]),
    ("cache-callees", [], [("value", CACHE, "_Z5weighfi", 1), ("value", CACHE, "_Z6smoothPKfi", 0)]),
    ("cache-barriers", [("value", CACHE, "smooth_line", 1)], [("barriers", "_Z6smoothPKfi", 8)]),
    ("stack-limit", [("value", STACK, "smooth_line", 16)], []),
    ("stack-enough", [("value", STACK, "smooth_line", 32)], []),
    ("stack-callee", [], [("value", STACK, "_Z6smoothPKfi", 1)]),
    ("registers-own", [("own", RECONFIGURED, 1, "smooth_line")], []),
    ("registers-callee", [], [("own", RECONFIGURED, 1, "_Z6smoothPKfi", 1)]),
    ("sam-own", [("value", SAM, "smooth_line", 32)], []),
    ("sam-both", [("value", SAM, "smooth_line", 32)], [("value", SAM, "_Z6smoothPKfi", 16)]),
]


def changed(name, changes):
    with open(os.path.join(ROOT, "samples", name), "rb") as f:
        out = Object(f.read())
    for what, *args in changes:
        getattr(out, what)(*args)
    return bytes(out.blob)


def earlier(toolkit):
    """An object of the ABI before: the header says what the note says today."""
    out = Object(device_object(0, 2))
    out.blob[7:9] = b"\x33\7"
    struct.pack_into("<I", out.blob, 20, toolkit)
    struct.pack_into("<I", out.blob, 48, 0x500550)
    return bytes(out.blob)


def first_note():
    """The note of today's toolkit, but its first version."""
    out = Object(device_object(0, 2))
    at = out.blob.index(b"NVIDIA Corp\0\2\0")
    out.blob[at + 12] = 1
    return bytes(out.blob)


def without_note():
    out = Object(device_object(0, 2))
    struct.pack_into("<I", out.blob, 48, 80 << 8 | 4)
    return bytes(out.blob)


def prepare(folder):
    for name, kernels, functions in ROWS:
        for file, source, changes in (("a-" + name, "reduce.cubin", kernels),
                                      ("b-" + name, "mathlib.cubin", functions)):
            with open(os.path.join(folder, file + ".cubin"), "wb") as f:
                f.write(changed(source, changes))
    for toolkit in (99, 100):
        with open(os.path.join(folder, "earlier-%d.cubin" % toolkit), "wb") as f:
            f.write(earlier(toolkit))
    with open(os.path.join(folder, "no-note.cubin"), "wb") as f:
        f.write(without_note())
    with open(os.path.join(folder, "first-note.cubin"), "wb") as f:
        f.write(first_note())
    with open(os.path.join(folder, "today.cubin"), "wb") as f:
        f.write(device_object(2, 1))


def main():
    table = Table(sys.argv[0], prepare)
    for name, _, _ in ROWS:
        files = ["a-%s.cubin" % name, "b-%s.cubin" % name]
        for mode, extra in (("final", []), ("r", ["-r"]), ("one", ["-kernels-used=smooth_line"])):
            table.check(name + " " + mode, ["-arch=sm_90", *extra, *files, "-o", "out"])
        table.check(name + " reversed", ["-arch=sm_90", *files[::-1], "-o", "out"])
    for name in ("earlier-99", "earlier-100", "no-note", "first-note"):
        for mode, extra in (("final", []), ("r", ["-r"])):
            table.check("%s %s" % (name, mode),
                        ["-arch=sm_80", *extra, name + ".cubin", "today.cubin", "-o", "out"])
    table.done()


if __name__ == "__main__":
    main()
