"""Places of the output where nvlink writes what its memory happens to hold.

When several functions share a name, the finalizer looks up Mercury places of one in a table of
another, also past its end. What it finds there may be another value in each run.
"""
import struct

import cubin

REGISTERS = ".nv_debug_info_reg_sass"


def records(data):
    """Per function: name, then (register, start, end, offset of the start) of each entry."""
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        name, at = data[at:end].decode("latin1"), end + 1
        count, = struct.unpack_from("<I", data, at)
        at += 4
        entries = []
        for _ in range(count):
            at = data.index(b"\0", at + 4) + 1
            entries.append(struct.unpack_from("<III", data, at) + (at + 4,))
            at += 12
        yield name, entries


def settle(ab, bb):
    """nvlink's output with those places as in cubind's."""
    if len(ab) != len(bb):
        return ab
    out = bytearray(ab)
    try:
        elf = cubin.Cubin(ab)
        sass, merc = elf.find(REGISTERS), elf.find(".nv.merc" + REGISTERS)
        if not sass or not merc:
            return ab
        sizes = {}
        for name, sym in elf.read_symbols(".nv.merc.symtab"):
            if sym["st_info"] & 15 == 2 and sym["st_shndx"]:
                sizes[name] = min(sym["st_size"], sizes.get(name, sym["st_size"]))
        # Mercury's entries are in the order of their places, the others in that of registers.
        for (name, have), (_, told) in zip(records(sass.data), records(merc.data)):
            for entry, other in zip(have, sorted(told, key=lambda e: e[0])):
                for k in range(2):
                    if other[1 + k] >= sizes.get(name, 1 << 32):
                        at = sass.sh_offset + entry[3] + 4 * k
                        out[at:at + 4] = bb[at:at + 4]
    except (cubin.BadElf, struct.error, ValueError):
        return ab
    return bytes(out)
