#!/usr/bin/env python3
"""What nvlink and cubind make of damaged objects, per class of damage: the table of docs/robustness.md.

usage: damage_table.py [--write] [N]

Each class changes one field of a sound object, N (24) times: a relocatable object of sm_90 and one of sm_100
in turn, always the same ones.  cubind must refuse or link, never crash, hang, or leave half an output.
Without nvlink its column is empty.  --write puts the table into the document.
"""
import glob
import os
import random
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
for part in ("oracle", "cases"):
    sys.path.insert(0, os.path.join(ROOT, "tests", part))
sys.dont_write_bytecode = True
import cubin  # noqa: E402
from _nvlink import EMULATE, real_nvlink  # noqa: E402

DOCUMENT = os.path.join(ROOT, "docs", "robustness.md")
START, END = "<!-- damage table -->\n", "<!-- end of damage table -->\n"
LIMIT = 10      # seconds
LARGE = [1 << 20, 1 << 31, (1 << 32) - 1, 1 << 34, 1 << 40, 1 << 63, (1 << 64) - 1]
OUTCOMES = ["links", "refuses", "crashes", "hangs"]


class Object:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.blob = f.read()
        self.cubin = cubin.Cubin(self.blob)
        self.table = self.cubin.ehdr["e_shoff"]
        self.sections = self.cubin.sections[1:]
        self.arch = "sm_%d" % (self.cubin.ehdr["e_flags"] >> 8 & 0xffff)

    def of_type(self, *types):
        return [s for s in self.sections if s.sh_type in types and s.sh_size]


def put(blob, at, width, value):
    blob[at:at + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def header(offset, width, values):
    """A field of some section's header."""
    def change(o, blob, rng):
        s = rng.choice(o.sections)
        put(blob, o.table + 64 * s.index + offset, width, rng.choice(values(o, s)))
    return change


def record(types, size, offset, width, values):
    """A field of a record in a section of these types."""
    def change(o, blob, rng):
        s = rng.choice(o.of_type(*types) or o.sections)
        at = s.sh_offset + size * rng.randrange(1, max(2, s.sh_size // size)) + offset
        if at + width <= len(blob):
            put(blob, at, width, rng.choice(values(o, s)))
    return change


def attribute_size(o, blob, rng):
    s = rng.choice(o.of_type(0x70000000, 0x70000083))
    at, records = s.sh_offset, []
    while at + 4 <= s.sh_offset + s.sh_size:
        size = struct.unpack_from("<H", blob, at + 2)[0] if blob[at] == 4 else 0
        records.append((at, size))
        at += 4 + size
    at, size = rng.choice([r for r in records if r[1]] or records)
    put(blob, at + 2, 2, rng.choice([0, size + 4, max(size - 4, 0), 0xffff]))


def null_section(o, blob, rng):
    put(blob, o.table + rng.choice([0, 4, 8, 16, 24, 32, 40, 44, 48, 56]), 4, rng.choice([1, 7, 0x1000]))


def cut(o, blob, rng):
    del blob[rng.randrange(64, len(blob)):]


def first_bytes(o, blob, rng):
    put(blob, rng.choice([4, 5, 6, 7, 8, 16, 18, 20, 48, 52, 58]), 1, rng.choice([0, 0x7f, 0xff]))


def swapped(o, blob, rng):
    a, b = (o.table + 64 * s.index for s in rng.sample(o.sections, 2))
    blob[a:a + 64], blob[b:b + 64] = blob[b:b + 64], blob[a:a + 64]


def any_byte(o, blob, rng):
    blob[rng.randrange(64, len(blob))] ^= 1 << rng.randrange(8)


SYMBOLS, RELOCS = (2, 0x70000085), (4, 9, 0x70000082)
CLASSES = [
    ("file cut short", cut),
    ("header: class, byte order, version, ABI, type, sizes", first_bytes),
    ("section table: place", lambda o, b, r: put(b, 40, 8, r.choice(LARGE + [0, 1, o.table + 8]))),
    ("section table: count", lambda o, b, r: put(b, 60, 2, r.choice([0, 1, 2, 0xfeff, 0xffff]))),
    ("section header 0 says something", null_section),
    ("section headers trade places", swapped),
    ("`sh_name`", header(0, 4, lambda o, s: LARGE)),
    ("`sh_type`", header(4, 4, lambda o, s: [0, 1, 3, 8, 0x70000000, 0x70000001, 0x7000000a, 0x7fffffff])),
    ("`sh_offset`: over another section", header(24, 8, lambda o, s: [t.sh_offset for t in o.sections if t.sh_size])),
    ("`sh_offset`: over a header", header(24, 8, lambda o, s: [0, 8, o.table])),
    ("`sh_offset`, `sh_size`: outside", header(32, 8, lambda o, s: LARGE)),
    ("`sh_link`: the section itself", header(40, 4, lambda o, s: [s.index])),
    ("`sh_link`, `sh_info`: no section", header(40, 4, lambda o, s: [0xffff, 0x7fffffff])),
    ("`sh_addralign`: no power of two", header(48, 8, lambda o, s: [3, 7, 127, 0x7fffffff])),
    ("`sh_addralign`: gigabytes", header(48, 8, lambda o, s: [1 << 31, 1 << 32, 1 << 40])),
    ("`sh_entsize`", header(56, 8, lambda o, s: [s.sh_entsize + 1, 1 << 20])),
    ("`st_name`", record(SYMBOLS, 24, 0, 4, lambda o, s: LARGE)),
    ("`st_info`: kind", record(SYMBOLS, 24, 4, 1, lambda o, s: [0x10, 0x11, 0x12, 0x1a, 0x1c, 0x1d, 0x22])),
    ("`st_shndx`", record(SYMBOLS, 24, 6, 2, lambda o, s: [0, 1, 0xff00, 0xfff1, 0xfff2, 0xffff])),
    ("`st_value`, `st_size`: outside", record(SYMBOLS, 24, 16, 8, lambda o, s: LARGE)),
    ("relocation: place", record(RELOCS, 16, 0, 8, lambda o, s: LARGE)),
    ("relocation: type", record(RELOCS, 24, 8, 4, lambda o, s: [0, 99, 0xff, 0x7fffffff])),
    ("relocation: symbol", record(RELOCS, 24, 12, 4, lambda o, s: [0x7fff, 0x7fffffff, 0xffffffff])),
    ("attribute: payload size", attribute_size),
    ("call graph, prototypes", record((0x70000001, 0x70000002), 8, 0, 4, lambda o, s: [0x7fff, 0x7fffffff])),
    ("note: sizes", lambda o, b, r: put(b, r.choice(o.of_type(7)).sh_offset + r.choice([0, 4]), 4,
                                        r.choice([0, 1, 11, 0xffff, 0xffffffff]))),
    ("capsule", record((0x70000016,), 1, 0, 1, lambda o, s: [0, 0x7f, 0xff])),
    ("any bit", any_byte),
]


def outcome(command, folder, out):
    try:
        done = subprocess.run([*command, "-o", out], cwd=folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "hangs"
    path = os.path.join(folder, out)
    written = os.path.exists(path)
    if written:
        os.unlink(path)
    if done.returncode < 0 or done.returncode in (134, 139):
        return "crashes"
    return "links" if done.returncode == 0 and written else "refuses"


def run_class(name, change, objects, count, folder, nvlink):
    """Per program the number of each outcome."""
    programs = {"nvlink": [nvlink], "cubind": [CUBIND, "link"], "emulating": [CUBIND, "link", EMULATE]}
    if not nvlink:
        del programs["nvlink"]
    counts = {p: dict.fromkeys(OUTCOMES, 0) for p in programs}
    for number in range(count):
        rng = random.Random("%s/%d" % (name, number))
        o = objects[number % len(objects)]
        blob = bytearray(o.blob)
        change(o, blob, rng)
        path = "%d-%d.cubin" % (abs(hash(name)), number)
        with open(os.path.join(folder, path), "wb") as f:
            f.write(blob)
        for program, command in programs.items():
            result = outcome([*command, "-r", "-arch=" + o.arch, path], folder, path + "." + program)
            counts[program][result] += 1
        os.unlink(os.path.join(folder, path))
    return counts


def cell(counts):
    return ", ".join("%s %d" % (o, counts[o]) for o in OUTCOMES if counts[o]) if counts else ""


def main():
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()]
    count = numbers[0] if numbers else 24
    objects = [Object(os.path.join(ROOT, "samples", "mathlib.cubin")),
               Object(sorted(glob.glob(os.path.join(ROOT, "tests/golden/statics-100-default/in/*")))[0])]
    nvlink = real_nvlink()
    rows, bad = [], 0
    total = {p: dict.fromkeys(OUTCOMES, 0) for p in ("nvlink", "cubind", "emulating")}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(run_class, n, c, objects, count, folder, nvlink) for n, c in CLASSES]
        for (name, _), job in zip(CLASSES, jobs):
            counts = job.result()
            rows.append("| %s | %s | %s | %s |" % (name, *(cell(counts.get(p)) for p in total)))
            for program in counts:
                for o in OUTCOMES:
                    total[program][o] += counts[program][o]
    rows.append("| all of it | %s | %s | %s |" % tuple(cell(total[p]) for p in total))
    table = "\n".join(["| damage, %d each | nvlink 13.0.88 | `cubind link` | with `--emulate` |" % count,
                       "|---|---|---|---|", *rows]) + "\n"
    print(table)
    bad = sum(total[p][o] for p in ("cubind", "emulating") for o in ("crashes", "hangs"))
    if "--write" in sys.argv:
        with open(DOCUMENT) as f:
            before, rest = f.read().split(START)
        with open(DOCUMENT, "w") as f:
            f.write(before + START + "\n" + table + "\n" + END + rest.split(END)[1])
    print("%d passed, %d failed, 0 skipped" % (sum(map(sum, (total[p].values() for p in ("cubind", "emulating")))) - bad,
                                               bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
