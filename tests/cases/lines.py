#!/usr/bin/env python3
"""Line tables of code that moves, with steps that ptxas did not happen to write, as with nvlink.

From sm_100 on the finalizer writes a table anew where it changed the code: rows for the new places, in
their shortest form.  Inputs: stored links of code with debug data (features-debug).  In turn each row
of both sides gets another step in lines, at the bounds of what the one-byte form can say.  And the last
function gets tables drawn at random: some of its rows, with other lines and files, said in other ways."""

import os
import random
import struct
import sys

from _nvlink import ROOT, Table
from old_objects import OFFSET_AT, Object

sys.path.insert(0, os.path.join(ROOT, "tests", "golden"))
import store  # noqa: E402

LINKS = {"exit-lines-debug-100-default": "sm_100", "debug-labels-debug-120-default": "sm_120"}
LINE_BASE, LINE_RANGE, OPCODE_BASE = -5, 14, 10
STEPS = [LINE_BASE, LINE_BASE + 1, -1, 1, LINE_BASE + LINE_RANGE - 2, LINE_BASE + LINE_RANGE - 1]    # 0 is left out by ptxas
FAR = [LINE_BASE - 1, LINE_BASE + LINE_RANGE, -64, 63]    # need an operation of their own
SET_FILE, ADVANCE_LINE, ADVANCE_PC, COPY = 4, 3, 2, 1


def size_at(blob, at):
    """Bytes of a number of 7 bits per byte."""
    return next(n for n in range(1, 11) if blob[at + n - 1] < 0x80)


def rows(blob, start, end):
    """(place, operation) of what steps in lines."""
    at = start + 10 + int.from_bytes(blob[start + 6:start + 10], "little")
    while at < end:
        op = blob[at]
        if op >= OPCODE_BASE or op == ADVANCE_LINE:
            yield at, op
        if op == 0:
            at += 1 + size_at(blob, at + 1) + blob[at + 1]
        elif op in (SET_FILE, ADVANCE_LINE, ADVANCE_PC):
            at += 1 + size_at(blob, at + 1)
        else:
            at += 1


def table_of(obj, section):
    at = obj.header(section) + OFFSET_AT
    start, size = (int.from_bytes(obj.blob[at + i:at + i + 8], "little") for i in (0, 8))
    return list(rows(obj.blob, start, start + size))


def step_to(blob, place, op, step):
    """Makes the operation step by so many lines; False where it cannot."""
    if op == ADVANCE_LINE:
        if blob[place + 1] >= 0x80:
            return False
        blob[place + 1] = step & 0x7f
        return True
    if not LINE_BASE <= step < LINE_BASE + LINE_RANGE:
        return False
    blob[place] = op - (op - OPCODE_BASE) % LINE_RANGE + step - LINE_BASE
    return True


# ---- tables drawn at random ----

EXTENDED, END, OPENS = 0, 1, 0x92
SET_ADDRESS = 11    # bytes
DRAWN = 100         # per link
LINE_STEPS = [1, 3, 7, -1, 2, 5, -5, -6, 8, 9, 13, 63, 64, -64, -65, 1000]


def leb(value, signed):
    out = bytearray()
    while True:
        byte, value = value & 0x7f, value >> 7
        last = value in ((0 if not byte & 0x40 else -1,) if signed else (0,))
        out.append(byte if last else byte | 0x80)
        if last:
            return bytes(out)


def read_leb(blob, at, signed=False):
    size = size_at(blob, at)
    value = sum((b & 0x7f) << 7 * i for i, b in enumerate(blob[at:at + size]))
    if signed and blob[at + size - 1] & 0x40:
        value -= 1 << 7 * size
    return value, at + size


def sequences(blob):
    """(start, end, places of its rows, place of its end) of each sequence of a unit."""
    at = start = 10 + struct.unpack_from("<I", blob, 6)[0]
    address, places, found = 0, [], []
    while at < len(blob):
        op, at = blob[at], at + 1
        if op >= OPCODE_BASE:
            address += (op - OPCODE_BASE) // LINE_RANGE
            places.append(address)
        elif op == COPY:
            places.append(address)
        elif op == ADVANCE_PC:
            step, at = read_leb(blob, at, True)
            address += step
        elif op == EXTENDED:
            size, at = read_leb(blob, at)
            sub, at = blob[at], at + size
            if sub == END:
                found.append((start, at, places, address))
                address, places, start = 0, [], at
        elif op in (ADVANCE_LINE, SET_FILE):
            _, at = read_leb(blob, at)
    return found


def special(places, lines):
    """The one byte that says both steps, or None."""
    code = lines - LINE_BASE + LINE_RANGE * places + OPCODE_BASE
    fits = places >= 0 and LINE_BASE <= lines < LINE_BASE + LINE_RANGE and code <= 255
    return bytes([code]) if fits else None


def draw_rows(rng, places):
    """(number of the place, step in lines, what stands in front of the row)"""
    file, others = 1, [i for i in range(1, len(places)) if places[i] != places[i - 1]]
    for number in [0, *sorted(rng.sample(others, rng.randint(0, min(9, len(others)))))]:
        front = bytes([SET_FILE, file]) if number == 0 else b""
        if number and rng.random() < .2:
            file = 3 - file
            front = bytes([SET_FILE, file])
        yield number, rng.choice(LINE_STEPS), front


def said(rows, places, end, marked):
    """The rows as a program for one side, in its shortest form.  Mercury marks the first."""
    out, address = bytearray(), 0
    for i, (number, lines, front) in enumerate(rows):
        out += front
        if marked and i < 2:
            out += bytes([EXTENDED, 2, OPENS, i == 0])
        step = places[number] - address
        short = special(step, lines) if step else None
        out += short or bytes([ADVANCE_LINE]) + leb(lines, True) + (
            bytes([ADVANCE_PC]) + leb(step, True) if step else b"") + bytes([COPY])
        address = places[number]
    return bytes(out) + bytes([ADVANCE_PC]) + leb(end - address, True) + bytes([EXTENDED, 1, END])


def with_section(obj, name, change):
    """Gives a section other contents, at the end of the file."""
    at = obj.header(name) + OFFSET_AT
    offset, size = struct.unpack_from("<QQ", obj.blob, at)
    data = change(bytes(obj.blob[offset:offset + size]))
    obj.blob += bytes(-len(obj.blob) % 16)
    struct.pack_into("<QQ", obj.blob, at, len(obj.blob), len(data))
    obj.blob += data


def drawn(blob, number):
    """The object with another table for one of its functions."""
    rng, obj, rows = random.Random(number), Object(blob), []
    for name, relocations in ((".debug_line", ".rela.debug_line"),
                              (".nv.merc.debug_line", ".nv.merc.rela.debug_line")):
        longer = []

        def change(unit):
            start, end, places, last = (lambda found: found[number % len(found)])(sequences(unit))
            if not rows:
                rows.extend(draw_rows(rng, places))
            body = said(rows, places, last, name != ".debug_line")
            longer.append((end, len(body) - (end - start - SET_ADDRESS)))
            unit = unit[:start + SET_ADDRESS] + body + unit[end:]
            return struct.pack("<I", len(unit) - 4) + unit[4:]
        with_section(obj, name, change)
        (end, more), = longer
        offset, size = struct.unpack_from("<QQ", obj.blob, obj.header(relocations) + OFFSET_AT)
        for at in range(offset, offset + size, 24):
            place, = struct.unpack_from("<Q", obj.blob, at)
            struct.pack_into("<Q", obj.blob, at, place + more if place >= end else place)
    return obj.blob


def variants(blob):
    """Copies in which one row steps elsewhere, on both sides."""
    obj = Object(blob)
    sass, mercury = table_of(obj, ".debug_line"), table_of(obj, ".nv.merc.debug_line")
    assert len(sass) == len(mercury)
    for number, pair in enumerate(zip(sass, mercury)):
        for step in (STEPS[number % len(STEPS)], (STEPS + FAR)[number % 10]):
            copy = bytearray(obj.blob)
            if all(step_to(copy, place, op, step) for place, op in pair):
                yield "row %d steps by %d" % (number, step), copy


def prepare(folder):
    for link in store.read_archive(os.path.join(ROOT, "tests", "golden", "features-debug.tar.xz")):
        if link.name in LINKS:
            for name, blob in variants(link.inputs[0][1]):
                with open(os.path.join(folder, "%s %s.cubin" % (LINKS[link.name], name)), "wb") as f:
                    f.write(blob)
            for number in range(DRAWN):
                name = "%s drawn %d.cubin" % (LINKS[link.name], number)
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(drawn(link.inputs[0][1], number))


def main():
    table = Table(sys.argv[0], prepare)
    for file in sorted(n for n in table.bench.before if n.startswith(tuple(LINKS.values()))):
        table.check(file[:-len(".cubin")], ["-arch=" + file.split()[0], file, "-o", "out"])
    table.ok("there are rows", table.passed + table.failed > 50)
    table.done()


if __name__ == "__main__":
    main()
