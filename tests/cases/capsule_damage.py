#!/usr/bin/env python3
"""Damage in everything that is understood of capsules and of the Mercury side is found by check.

Copies of stored outputs of nvlink, each with one bit or field changed: in records and in the code
that they belong to, where `dump --capsule` then shows another field; in the capsule's header, bitmap
and run lengths; in symbols, attributes, relocations and shared bytes of one view.
"""
import glob
import json
import os
import random
import re
import struct
import subprocess
import sys

ROOT = os.environ["CUBIND_ROOT"]
CUBIND = os.environ["CUBIND"]
TMP = os.environ.get("TMPDIR", "/tmp")
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import cubin  # noqa: E402

from _checks import part

BATCH = 150
FLIPS = 250         # per file, of each side
MERCURY_PROG_REL32 = 65544
# what a link may have filled in on one side only
FILLED_IN = {"immediate", "offset", "parameter"}


def run(*args):
    done = subprocess.run([CUBIND, *args], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout


def flipped(data, at, bit):
    out = bytearray(data)
    out[at + bit // 8] ^= 1 << bit % 8
    return bytes(out)


def poked(data, at, layout, value):
    out = bytearray(data)
    struct.pack_into(layout, out, at, value)
    return bytes(out)


def capsules(names):
    """Per file the list of its capsules."""
    _, text = run("dump", "--capsule", "--json", *names)
    images = {}
    for image in json.loads(text)["images"]:
        images[image["file"]] = image.get("capsules", [])
    return [images.get(n) for n in names]


def faults(names):
    """Per file what check finds."""
    found = {n: [] for n in names}
    for line in run("check", "--pedantic", *names)[1].splitlines():
        name = line.split(":", 1)[0]
        if name in found:
            found[name].append(line)
    return [found[n] for n in names]


def fields(entry):
    """name -> value as shown."""
    return dict(f.split("=", 1) for f in (entry["fields"] or "").split())


def shown(listing):
    """What there is to understand: how entries are parted, and the fields that must agree."""
    if listing is None:
        return None
    return [(c["section"], c["error"], [(e["entry"], e["sass"], e["count"], e["kind"], e["units"])
                                        for e in c["entries"]],
             [(e["entry"], k, v) for e in c["entries"] for k, v in fields(e).items()
              if k not in FILLED_IN]) for c in listing]


# a record's form, class and encoding; not every opcode has a list of those that it may have
KIND = re.compile(r"record bit ([4-6]|[89]|1[0-9]|2[0-3]),")


def kind_changed(what, found):
    """Is this a record of a kind that nobody knows for its opcode, as far as `check` can tell?"""
    return bool(KIND.search(what)) and not found


class Damage:
    def __init__(self):
        self.passed = self.failed = 0

    def expect(self, what, found):
        self.passed += bool(found)
        self.failed += not found
        if not found and self.failed < 20:
            print("FAIL not found: " + what)

    def all_found(self, jobs):
        """jobs: (description, bytes)."""
        for i in range(0, len(jobs), BATCH):
            names = self.write([d for _, d in jobs[i:i + BATCH]])
            for (what, _), found in zip(jobs[i:i + BATCH], faults(names)):
                self.expect(what, found)

    def found_where_shown(self, plain, jobs):
        """Of bits that are flipped, those that dump shows otherwise must be found."""
        seen = 0
        for i in range(0, len(jobs), BATCH):
            names = self.write([d for _, d in jobs[i:i + BATCH]])
            for (what, _), now, found in zip(jobs[i:i + BATCH], capsules(names), faults(names)):
                if shown(now) != plain and not kind_changed(what, found):
                    seen += 1
                    self.expect(what, found)
        return seen

    @staticmethod
    def write(blobs):
        names = []
        for i, blob in enumerate(blobs):
            names.append(os.path.join(TMP, "damage%d.cubin" % i))
            with open(names[-1], "wb") as f:
                f.write(blob)
        return names

    def records(self, name, data, rng):
        listing, = capsules([name])
        elf = cubin.Cubin(data)
        in_record, in_code = [], []
        unseen = list(elf.sections)
        for c in listing:
            # static functions may share a name; both lists are in the order of the file
            section = next(s for s in unseen if s.name == c["section"])
            unseen.remove(section)
            text = elf.sections[struct.unpack_from("<I", section.data)[0]]
            pos = 12 + (c["entry_count"] + 31) // 32 * 4
            for e in c["entries"]:
                if e["record"] is None:
                    continue
                record = bytes.fromhex(e["record"])
                pos = section.data.index(record, pos)
                if e["fields"]:
                    in_record += [("record bit %d, %s" % (b, e), section.sh_offset + pos, b)
                                  for b in range(8 * len(record))]
                    in_code += [("code bit %d, %s" % (b, e), text.sh_offset + e["sass"], b)
                                for b in range(105) if b >= 12]
                pos += len(record)
        plain, seen = shown(listing), 0
        for jobs in (in_record, in_code):
            jobs = rng.sample(jobs, min(FLIPS, len(jobs)))
            seen += self.found_where_shown(plain, [(name + ": " + what, flipped(data, at, bit))
                                                   for what, at, bit in jobs])
        self.expect(name + ": fields to damage", seen > 50 or not in_record)

    def header(self, name, data):
        elf, jobs = cubin.Cubin(data), []
        for s in elf.sections:
            if s.sh_type != 0x70000016:
                continue
            at, (index, _, count) = s.sh_offset, struct.unpack_from("<III", s.data)
            jobs += [("%s: %s %s" % (name, s.name, what), blob) for what, blob in (
                ("names another section", poked(data, at, "<I", index - 1)),
                ("no mark", flipped(data, at + 4, 31)), ("version", flipped(data, at + 4, 3)),
                ("an entry more", poked(data, at + 8, "<I", count + 1)),
                ("an entry less", poked(data, at + 8, "<I", count - 1)),
                ("tail one longer", poked(data, at + s.sh_size - 2, "<H", struct.unpack_from(
                    "<H", s.data, s.sh_size - 2)[0] + 0x80)))]
            jobs += [("%s: %s bitmap %d" % (name, s.name, b), flipped(data, at + 12, b))
                     for b in range(min(count, 40))]
        self.all_found(jobs)

    def mercury_side(self, name, data):
        elf, jobs = cubin.Cubin(data), []
        table = elf.find(".nv.merc.symtab")
        for i in range(table.sh_size // 24):
            at = table.sh_offset + 24 * i
            info, _, section, size = struct.unpack_from("<4xBBH8xQ", data, at)
            if info & 15 == 2 and section:
                # by more than the derived instructions of a long kernel leave open
                jobs.append(("Mercury length of symbol %d" % i,
                             poked(data, at + 16, "<Q", 2 * size + 0x800)))
        for s in elf.sections:
            if not s.sh_size:
                continue
            if s.sh_type == 0x70000083:
                pos = 0
                while pos < s.sh_size:
                    fmt, tag, size = struct.unpack_from("<BBH", s.data, pos)
                    if tag == 0x5f:
                        jobs.append(("%s version" % s.name, flipped(data, s.sh_offset + pos + 2, 3)))
                    if tag == 0x1c and size > 4:
                        # the list's last word becomes a record without meaning to it
                        blob = poked(data, s.sh_offset + pos + 2, "<H", size - 4)
                        jobs.append(("%s exits" % s.name, poked(
                            blob, s.sh_offset + pos + size, "<I", 0x00000101)))
                    pos += 4 + (size if fmt == 4 else 0)
            # code of ptxas -ewp has relocations in the Mercury view alone, and nothing to compare with
            twin = elf.find(s.name.replace(".nv.merc", ""))
            if s.name.startswith((".rela.text.", ".nv.merc.rela.text.")) and twin.sh_size:
                for k in range(s.sh_size // 24):
                    at = s.sh_offset + 24 * k
                    kind, symbol = struct.unpack_from("<II", data, at + 8)
                    # ... or return addresses there, which SASS has from the start
                    if kind == MERCURY_PROG_REL32 and s.sh_size != twin.sh_size:
                        continue
                    name_of = (elf.read_symbols(".symtab")[symbol][0]
                               if symbol else "")
                    if "reservedS" in name_of:
                        continue
                    jobs.append(("%s symbol %d" % (s.name, k), flipped(data, at + 12, 0)))
            if s.name in (".nv.merc.nv.constant.user", ".nv.merc.nv.global.init"):
                header = struct.unpack_from("<Q", data, 40)[0] + 64 * elf.sections.index(s)
                jobs.append(("%s elsewhere" % s.name,
                             poked(data, header + 24, "<Q", s.sh_offset + s.sh_addralign)))
        self.all_found([(name + ": " + what, blob) for what, blob in jobs])


def main():
    damage = Damage()
    files = [f for f in sorted(glob.glob(os.path.join(ROOT, "tests/golden/*/expected.cubin")))
             if struct.unpack_from("<I", open(f, "rb").read(52), 48)[0] >> 8 & 0xffff >= 100]
    for name in part(files, 8):
        with open(name, "rb") as f:
            data = f.read()
        if not cubin.Cubin(data).find(".nv.merc.symtab"):
            continue  # a link of plain objects
        found = faults([name])[0]
        # a rare form to speak of as it is (tests/golden/findings.txt), or the null symbol, which nvlink
        # removes of some programs of nvcc -G -ewp
        rare = [line for line in found if ": note: " in line or "[symbol-null]" in line]
        damage.expect(name + " (nothing to find)", rare == found)
        if rare:
            continue
        # a draw of its own for each, so that a new golden changes no other's
        damage.records(name, data, random.Random(os.path.basename(os.path.dirname(name))))
        damage.header(name, data)
        damage.mercury_side(name, data)
    print("%d passed, %d failed" % (damage.passed, damage.failed))
    return 1 if damage.failed else 0


if __name__ == "__main__":
    sys.exit(main())
