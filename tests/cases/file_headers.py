#!/usr/bin/env python3
"""ELF headers that no current compiler writes are read as by nvlink: the older layout of e_flags
(OSABI 0x33), file types, numbers of chips that were renamed or never were."""
import itertools
import os
import struct

import _nvlink

# chip -> object
OBJECTS = {80: "a80.cubin", 90: "a.cubin", 100: "m100.cubin"}
OSABI, ABI, E_TYPE, E_VERSION, E_FLAGS = 7, 8, 16, 20, 48
OLD, OLD_ABI, OLD_CAPSULES, OLD_SPECIFIC = 0x33, 7, 0x4000, 0x800


def changed(blob, osabi=None, abi=None, flags=None, version=None, kind=None):
    out = bytearray(blob)
    for value, form, at in ((osabi, "<B", OSABI), (abi, "<B", ABI), (flags, "<I", E_FLAGS),
                            (version, "<I", E_VERSION), (kind, "<H", E_TYPE)):
        if value is not None:
            struct.pack_into(form, out, at, value)
    return bytes(out)


def old(blob, sm, extra=0, version=130, abi=OLD_ABI, kind=None):
    return changed(blob, OLD, abi, sm | 0x500 | sm << 16 | extra, version, kind)


def renumbered(blob, sm):
    flags, = struct.unpack_from("<I", blob, E_FLAGS)
    return changed(blob, flags=flags & 0xff0000ff | sm << 8)


def sections(blob, count, names):
    """Another number of sections, and of the section with their names."""
    out = bytearray(blob)
    struct.pack_into("<H", out, 60, count)
    if names is not None:
        struct.pack_into("<H", out, 62, names)
    return bytes(out)


def names_outside(blob):
    out = bytearray(blob)
    table, = struct.unpack_from("<Q", blob, 40)
    index, = struct.unpack_from("<H", blob, 62)
    struct.pack_into("<Q", out, table + 64 * index + 24, len(blob))
    return bytes(out)


def variants():
    """Name, chip, options, the object's bytes."""
    for chip, name in sorted(OBJECTS.items()):
        with open(os.path.join(_nvlink.INPUTS, name), "rb") as f:
            blob = f.read()
        arch = "-arch=sm_%d" % chip
        for bit in (0, 0x100, 0x200, OLD_SPECIFIC, 0x1000, 0x8000, 0x40000000, 0x80000000):
            yield "old flags %x" % bit, [arch], old(blob, chip, bit)
        for version, args in itertools.product((0, 119, 131, 0x10082), ([arch],)):
            yield "old version %d" % version, args, old(blob, chip, version=version)
        for kind, args in itertools.product((0, 3, 4, 0xfe00, 0xff00), ([arch], [arch, "-r"])):
            yield "type %x" % kind, args, changed(blob, kind=kind)
        yield "old, abi 8", [arch], old(blob, chip, abi=8)
    # with a Mercury view
    for args in ([], ["-r"], ["-g"], ["-r", "-g"]):
        yield "old capsules", ["-arch=sm_100"] + args, old(blob, 100, OLD_CAPSULES)
        yield "old plain", ["-arch=sm_100"] + args, old(blob, 100)
    for kind in (0, 3, 0xff00):
        yield "old capsules, type %x" % kind, ["-arch=sm_100"], old(blob, 100, OLD_CAPSULES, kind=kind)
    for target, extra in itertools.product(("100a", "100f", "103", "110", "120"),
                                           (0, OLD_CAPSULES, OLD_CAPSULES | OLD_SPECIFIC)):
        yield "old %x for another" % extra, ["-arch=sm_" + target], old(blob, 100, extra)
    for sm, target in itertools.product((0, 84, 101, 102, 104, 130), ("100", "103", "110", "120", "121")):
        yield "chip %d" % sm, ["-arch=sm_" + target], renumbered(blob, sm)


    for chip in (80, 90):
        with open(os.path.join(_nvlink.INPUTS, OBJECTS[chip]), "rb") as f:
            blob = f.read()
        for what, many, names in (("no sections", 0, None), ("no sections, no names", 0, 0),
                                  ("one section", 1, None), ("one section, no names", 1, 0)):
            yield what, ["-arch=sm_%d" % chip], sections(blob, many, names)
        yield "names outside", ["-arch=sm_%d" % chip], names_outside(blob)
        yield "no table", ["-arch=sm_%d" % chip], blob[:40] + bytes(8) + blob[48:]


def main():
    cases = [("%s %s" % (name, " ".join(args)), args, blob) for name, args, blob in variants()]

    def prepare(folder):
        for i, (_, _, blob) in enumerate(cases):
            with open(os.path.join(folder, "v%d.cubin" % i), "wb") as f:
                f.write(blob)

    table = _nvlink.Table(__file__, prepare)
    for i, (name, args, _) in enumerate(cases):
        table.check("%d %s" % (i, name), args + ["v%d.cubin" % i, "-o", "out"])
    # nvlink dies of these
    for chip in (80, 90):
        with open(os.path.join(_nvlink.INPUTS, OBJECTS[chip]), "rb") as f:
            blob = old(f.read(), chip, OLD_CAPSULES)
        path = os.path.join(table.bench.folder, "capsules.cubin")
        with open(path, "wb") as f:
            f.write(blob)
        answer = table.bench.run(None, ["-arch=sm_%d" % chip, "capsules.cubin", "-o", "out"])
        table.ok("capsules below sm_100", answer.code == 1 and "out" not in answer.files, str(answer))
    table.done()


if __name__ == "__main__":
    main()
