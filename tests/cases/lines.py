#!/usr/bin/env python3
"""Line tables of code that moves, with steps that ptxas did not happen to write, as with nvlink.

From sm_100 on the finalizer writes a table anew where it changed the code: rows for the new places, in
their shortest form.  Inputs: stored links of code with debug data (features-debug).  In turn each row
of both sides gets another step in lines, at the bounds of what the one-byte form can say."""

import os
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


def main():
    table = Table(sys.argv[0], prepare)
    for file in sorted(n for n in table.bench.before if n.startswith(tuple(LINKS.values()))):
        table.check(file[:-len(".cubin")], ["-arch=" + file.split()[0], file, "-o", "out"])
    table.ok("there are rows", table.passed + table.failed > 50)
    table.done()


if __name__ == "__main__":
    main()
