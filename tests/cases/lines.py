#!/usr/bin/env python3
"""Line tables of code that moves, with steps that ptxas did not happen to write, as with nvlink.

From sm_100 on the finalizer writes a table anew where it changed the code: rows for the new places, in
their shortest form.  Inputs: stored links of code with debug data (features-debug).  In turn each row
of both sides gets another step in lines, at the bounds of what the one-byte form can say.  And the last
function gets tables drawn at random: some of its rows, with other lines and files, said in other ways.  So do
functions that another object's replace, of three objects."""

import os
import random
import struct
import sys

from _checks import part
from _nvlink import ROOT, Table
from old_objects import OFFSET_AT, Object

sys.path.insert(0, os.path.join(ROOT, "tests", "golden"))
import store  # noqa: E402

LINKS = {"exit-lines-debug-100-default": "sm_100", "debug-labels-debug-120-default": "sm_120"}
# of places of registers that the linked copy lacks nvlink says what it finds in memory: that copy first
REPLACED = {"weak-lines-debug-100-default": ("sm_100", "abc", "cab", "bac"),
            "weak-lines-debug-120-default": ("sm_120", "cba")}
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
DRAWN_REPLACED = 60
LINE_STEPS = [1, 3, 7, -1, 2, 5, -5, -6, 8, 9, 13, 63, 64, -64, -65, 1000]


TABLES = (".debug_line", ".nv.merc.debug_line")
SYMBOLS = ((".rela.debug_line", ".symtab"), (".nv.merc.rela.debug_line", ".nv.merc.symtab"))


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


def draw_rows(rng, sides):
    """(number of the place on both sides, step in lines, what stands in front of the row)"""
    file, others = 1, [i for i in range(1, min(map(len, sides))) if all(p[i] != p[i - 1] for p in sides)]
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


def contents(obj, name):
    offset, size = struct.unpack_from("<QQ", obj.blob, obj.header(name) + OFFSET_AT)
    return bytes(obj.blob[offset:offset + size])


def with_section(obj, name, change):
    """Gives a section other contents, at the end of the file."""
    data = change(contents(obj, name))
    obj.blob += bytes(-len(obj.blob) % 16)
    struct.pack_into("<QQ", obj.blob, obj.header(name) + OFFSET_AT, len(obj.blob), len(data))
    obj.blob += data


def named(obj, relocations, symbols):
    """Place -> name of the symbol whose address goes there."""
    table, strings, found = contents(obj, symbols), contents(obj, ".strtab"), {}
    for place, info, _ in struct.iter_unpack("<QQq", contents(obj, relocations)):
        at, = struct.unpack_from("<I", table, 24 * (info >> 32))
        found[place] = strings[at:strings.index(0, at)]
    return found


def described(obj, name, relocations, symbols):
    """Names of the functions that the sequences are about, in their order."""
    names = named(obj, relocations, symbols)
    return [names[start + 3] for start, *_ in sequences(contents(obj, name))]


def drawn(blob, number):
    """The object with another table for one of its functions."""
    rng, obj, longer = random.Random(number), Object(blob), []
    names = [described(obj, name, *words) for name, words in zip(TABLES, SYMBOLS)]
    numbers = [side.index(names[0][number % len(names[0])]) for side in names]
    rows = list(draw_rows(rng, [sequences(contents(obj, name))[n][2] for name, n in zip(TABLES, numbers)]))
    for n, name, (relocations, _) in zip(numbers, TABLES, SYMBOLS):
        def change(unit):
            start, end, places, last = sequences(unit)[n]
            body = said(rows, places, last, name != ".debug_line")
            longer.append((end, len(body) - (end - start - SET_ADDRESS)))
            unit = unit[:start + SET_ADDRESS] + body + unit[end:]
            return struct.pack("<I", len(unit) - 4) + unit[4:]
        with_section(obj, name, change)
        end, more = longer.pop()
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


def write(folder, name, blob):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(blob)


def prepare(folder):
    for link in store.read_archive(os.path.join(ROOT, "tests", "golden", "features-debug.tar.xz")):
        if link.name in LINKS:
            for name, blob in variants(link.inputs[0][1]):
                write(folder, "%s %s.cubin" % (LINKS[link.name], name), blob)
            for number in range(DRAWN):
                write(folder, "%s drawn %d.cubin" % (LINKS[link.name], number), drawn(link.inputs[0][1], number))
        for number in range(DRAWN_REPLACED if link.name in REPLACED else 0):
            for i, (name, blob) in enumerate(link.inputs):
                for turn in range(3):
                    blob = drawn(blob, (number * 3 + i) * 3 + turn)
                write(folder, "%d-%s-%s" % (number, REPLACED[link.name][0], os.path.basename(name)), blob)


def main():
    table = Table(sys.argv[0], prepare)
    for file in part(sorted(n for n in table.bench.before if n.startswith(tuple(LINKS.values()))), 3):
        table.check(file[:-len(".cubin")], ["-arch=" + file.split()[0], file, "-o", "out"])
    for arch, *orders in REPLACED.values():
        for number in range(DRAWN_REPLACED):
            files = ["%d-%s-%s.cubin" % (number, arch, name) for name in orders[number % len(orders)]]
            table.check("%s replaced %d" % (arch, number), ["-arch=" + arch, *["-g"] * (number % 4 == 3), *files,
                                                            "-o", "out"])
    table.ok("there are rows", table.passed + table.failed > 50)
    table.done()


if __name__ == "__main__":
    main()
