"""Places of the output where nvlink writes what its memory happens to hold.

When several functions share a name, the finalizer looks up Mercury places of one in a table of
another, also past its end. What it finds there may be another value in each run.
"""
import struct

import cubin

REGISTERS = ".nv_debug_info_reg_sass"
RESOLVED = ".nv.resolvedrela.text."


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


def outside(elf, sizes):
    """(offset in the file, size) of what nvlink may have read there."""
    sass, merc = elf.find(REGISTERS), elf.find(".nv.merc" + REGISTERS)
    # Mercury's entries are in the order of their places, the others in that of registers.
    for (name, have), (_, told) in zip(records(sass.data), records(merc.data)) if merc else ():
        for entry, other in zip(have, sorted(told, key=lambda e: e[0])):
            for k in range(2):
                if other[1 + k] >= sizes.get(name, 1 << 32):
                    yield sass.sh_offset + entry[3] + 4 * k, 4
    for sec in elf.sections:
        mirror = elf.find(".nv.merc" + sec.name)
        if not sec.name.startswith(RESOLVED) or not mirror or sec.sh_size != mirror.sh_size:
            continue
        for at in range(0, sec.sh_size, 24):
            place, = struct.unpack_from("<Q", mirror.data, at)
            if place >= sizes.get(sec.name[len(RESOLVED):], 1 << 32):
                yield sec.sh_offset + at, 12


def settle(ab, bb):
    """nvlink's output with those places as in cubind's."""
    if len(ab) != len(bb):
        return ab
    out = bytearray(ab)
    try:
        elf = cubin.Cubin(ab)
        sizes = {}
        for name, sym in elf.read_symbols(".nv.merc.symtab"):
            if sym["st_info"] & 15 == 2 and sym["st_shndx"]:
                sizes[name] = min(sym["st_size"], sizes.get(name, sym["st_size"]))
        for at, size in outside(elf, sizes):
            out[at:at + size] = bb[at:at + size]
    except (cubin.BadElf, struct.error, ValueError):
        return ab
    return bytes(out)
