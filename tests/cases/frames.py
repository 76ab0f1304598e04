#!/usr/bin/env python3
"""What a frame description may say besides what ptxas writes, where code behind it moves, as with nvlink.

From sm_100 on the finalizer shortens code, so that advances change; what stands between them is skipped
by the lengths of its operands.  Inputs: two stored links of code with debug data (features-debug), in
whose descriptions one definition of the frame's address, 6 bytes, is another instruction of that size.
And the last function gets descriptions drawn at random: other instructions at some of its places.  So does a
function that another object's replaces: then that is described."""

import os
import random
import struct
import sys

from _nvlink import ROOT, Table
from old_objects import OFFSET_AT, Object

sys.path.insert(0, os.path.join(ROOT, "tests", "golden"))
import store  # noqa: E402
from lines import contents, named, sequences, with_section, write  # noqa: E402

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


# ---- descriptions drawn at random ----

DRAWN = 40
ALIGN = 8
NAMES, UNITS = (".debug_frame", ".nv.merc.debug_frame"), (4, 1)    # what a step of an advance counts in bytes


def entries(blob):
    """(place of its CIE pointer, size of that, end) of each entry."""
    at, found = 0, []
    while at < len(blob):
        size, = struct.unpack_from("<I", blob, at)
        wide = size == 0xffffffff
        if wide:
            size, = struct.unpack_from("<Q", blob, at + 4)
        at += 12 if wide else 4
        found.append((at, 8 if wide else 4, at + size))
        at += size
    return found


def places_of(obj, end):
    """Where rows of the line table of the function with this end are, (SASS, Mercury)."""
    both = [sequences(contents(obj, name)) for name in (".debug_line", ".nv.merc.debug_line")]
    for (_, _, sass, last), (_, _, mercury, _) in zip(*both):
        if last == end:
            return sorted({(a, b) for a, b in zip(sass, mercury) if a})
    return []


def drawn(blob, seed):
    """The object with another description of its last function."""
    rng, obj = random.Random(seed), Object(blob)
    frames = [contents(obj, name) for name in NAMES]
    ends = [struct.unpack_from("<Q", data, sum(entries(data)[-1][:2]) + 8)[0] for data in frames]
    places = places_of(obj, ends[0])
    chosen = sorted(rng.sample(places, rng.randint(1, min(6, len(places)))))
    ops, now = [b"", b""], (0, 0)
    for place in chosen:
        steps = [(place[side] - now[side]) // UNITS[side] for side in (0, 1)]
        more = b"".join(bytes.fromhex(x) for x in rng.choices(list(INSTRUCTIONS.values()), k=rng.randint(1, 2)))
        for side in (0, 1):
            ops[side] += bytes([ADVANCE]) + struct.pack("<I", steps[side]) + (more if place != chosen[-1] else b"")
        now = place
    for side, name in enumerate(NAMES):
        def change(data):
            start, wide, _ = entries(data)[-1]
            body = data[start:start + wide + 16] + ops[side]
            body += bytes(-(start + len(body)) % ALIGN)
            if wide == 8:
                return data[:start - 12] + b"\xff\xff\xff\xff" + struct.pack("<Q", len(body)) + body
            return data[:start - 4] + struct.pack("<I", len(body)) + body
        with_section(obj, name, change)
    return obj.blob


# ---- copies of functions in several objects ----

COPIES, DRAWN_COPIES = "weak-lines-debug-100-default", 40
SYMBOLS = ((".rela.debug_frame", ".symtab"), (".nv.merc.rela.debug_frame", ".nv.merc.symtab"))
STEP = 16       # bytes between places that a description names, on either side


def advance(rng, step):
    """An advance in one of the forms that have room for it."""
    forms = [bytes([ADVANCE]) + struct.pack("<I", step)]
    if step < 1 << 16:
        forms.append(b"\3" + struct.pack("<H", step))
    if step < 1 << 8:
        forms.append(b"\2" + struct.pack("<B", step))
    if step < 1 << 6:
        forms.append(bytes([0x40 | step]))
    return rng.choice(forms)


def draw_statements(rng, sizes):
    """Instructions of a description for both sides, of code of these sizes."""
    count = rng.randint(0, 5)
    places = [sorted(STEP * rng.randrange(size // STEP) for _ in range(count)) for size in sizes]
    ops = [b"", b""]
    for i in range(count):
        more = b"".join(bytes.fromhex(x) for x in rng.choices(list(INSTRUCTIONS.values()), k=rng.randint(0, 2)))
        for side in (0, 1):
            step = places[side][i] - (places[side][i - 1] if i else 0)
            ops[side] += advance(rng, step // UNITS[side]) + more
    return ops


def with_description(data, number, ops):
    """(the section with other instructions in an entry, where that ended, how much longer it is)"""
    start, wide, end = entries(data)[number]
    body = data[start:start + wide + 16] + ops
    body += bytes(-(start + len(body)) % ALIGN)
    head = data[:start - 12] + b"\xff\xff\xff\xff" + struct.pack("<Q", len(body)) if wide == 8 else \
        data[:start - 4] + struct.pack("<I", len(body))
    return head + body + data[end:], end, start + len(body) - end


def drawn_copy(blob, seed, name):
    """The object with another description of a function."""
    rng, obj = random.Random(seed), Object(blob)
    names = named(obj, *SYMBOLS[0])
    number = [names.get(start + wide) for start, wide, _ in entries(contents(obj, NAMES[0]))].index(name)
    at = [entries(contents(obj, section))[number] for section in NAMES]
    sizes = [struct.unpack_from("<Q", contents(obj, section), start + wide + 8)[0]
             for section, (start, wide, _) in zip(NAMES, at)]
    ops, ends = draw_statements(rng, sizes), []
    for section, more in zip(NAMES, ops):
        def change(data):
            data, end, longer = with_description(data, number, more)
            ends.append((end, longer))
            return data
        with_section(obj, section, change)
    for side, (section, _) in enumerate(SYMBOLS):
        offset, size = struct.unpack_from("<QQ", obj.blob, obj.header(section) + OFFSET_AT)
        for place in range(offset, offset + size, 24):
            # addends name places in the section of Mercury
            for word, (end, more) in ((place, ends[side]), (place + 16, ends[1])):
                value, = struct.unpack_from("<Q", obj.blob, word)
                struct.pack_into("<Q", obj.blob, word, value + more if value >= end else value)
    return obj.blob


def prepare_copies(folder, link):
    for name, blob in link.inputs:
        write(folder, os.path.basename(name), blob)
    for number in range(DRAWN_COPIES):
        write(folder, "%d-a.cubin" % number, drawn_copy(link.inputs[0][1], number, b"wf"))


def prepare(folder):
    found = 0
    for link in store.read_archive(os.path.join(ROOT, "tests", "golden", "features-debug.tar.xz")):
        if link.name == COPIES:
            prepare_copies(folder, link)
        if link.name not in LINKS:
            continue
        (_, blob), = link.inputs
        found += 1
        for i, instruction in enumerate(INSTRUCTIONS.values()):
            write(folder, "%s-%d.cubin" % (LINKS[link.name], i), changed(blob, instruction))
        for i in range(DRAWN):
            write(folder, "%s-drawn-%d.cubin" % (LINKS[link.name], i), drawn(blob, i))
    assert found == len(LINKS)


def main():
    table = Table(sys.argv[0], prepare)
    for arch in LINKS.values():
        for i, name in enumerate(INSTRUCTIONS):
            table.check("%s %s" % (arch, name), ["-arch=" + arch, "%s-%d.cubin" % (arch, i), "-o", "out"])
        for i in range(DRAWN):
            table.check("%s drawn %d" % (arch, i), ["-arch=" + arch, "%s-drawn-%d.cubin" % (arch, i), "-o", "out"])
    for i in range(DRAWN_COPIES):
        files = ["%d-a.cubin" % i, "b.cubin", "c.cubin"]
        table.check("copies drawn %d" % i, ["-arch=sm_100", *["-g"] * (i % 4 == 3), *files, "-o", "out"])
    table.done()


if __name__ == "__main__":
    main()
