#!/usr/bin/env python3
"""Makes a link that cubind and nvlink do differently as small as it can be while it stays different in the same way.

usage: reduce.py [--out FOLDER] [--seconds N] [--nvlink PROGRAM] [--cubind PROGRAM] OPTION... FILE...

OPTIONS and FILES are those of a link, without -o.  Dropped are options, inputs, and then, in each cubin, sections
(made empty), relocations, attribute records, records of the call graph, and bytes of code and data (made zero).
Containers are opened first: their cubins take their place where the difference stays.

FOLDER (build/reduced) gets the inputs in/, the command, what both programs wrote, and what differs.  Exit status 0:
reduced; 1: there is no difference; 2: it cannot run.
"""
import argparse
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
sys.dont_write_bytecode = True
import cubin  # noqa: E402
import toolchain  # noqa: E402

SHT_RELA, SHT_REL, SHT_STRTAB, SHT_SYMTAB = 4, 9, 3, 2
SHT_INFO, SHT_CALLGRAPH = 0x70000000, 0x70000001
FORMAT_SIZED = 4    # of an attribute record: its payload follows


class Reduction:
    """The smallest link so far: OPTIONS, each a list of arguments, and INPUTS, (name, bytes)."""

    def __init__(self, tools, options, inputs, seconds):
        self.tools, self.options, self.inputs = tools, options, inputs
        self.end, self.tries = time.monotonic() + seconds, 0
        self.verdict = self.judge(options, inputs)

    def judge(self, options, inputs):
        args = [word for option in options for word in option]
        self.runs = self.tools.run_nvlink(args, inputs), self.tools.run_cubind(args, inputs)
        return toolchain.compare(self.tools, *self.runs, args, inputs)

    def differs(self):
        return self.verdict.grade not in ("same", "crash", "mixed")

    def attempt(self, options, inputs):
        """Takes the smaller link if it differs in the same way."""
        if time.monotonic() > self.end or not inputs:
            return False
        self.tries += 1
        verdict = self.judge(options, inputs)
        if (verdict.grade, verdict.cls) != (self.verdict.grade, self.verdict.cls):
            return False
        self.options, self.inputs, self.verdict = options, inputs, verdict
        return True

    def drop(self, items, smaller):
        """Drops runs of ITEMS, long ones first; SMALLER(rest) attempts the link with the rest.  Returns the rest."""
        size = len(items)
        while size:
            at = 0
            while at < len(items):
                rest = items[:at] + items[at + size:]
                if smaller(rest):
                    items = rest
                else:
                    at += size
            size //= 2
        return items

    def reduce(self):
        self.open_containers()
        before = None
        while before != (self.options, self.inputs):
            before = self.options, self.inputs
            self.drop(self.inputs, lambda rest: self.attempt(self.options, rest))
            self.drop(self.options, lambda rest: self.attempt(rest, self.inputs))
            for name, _ in self.inputs:
                self.reduce_cubin(name)

    def open_containers(self):
        """Cubins for the target in place of what holds them."""
        for name, data in self.inputs:
            images = images_of(self.tools.cubind, name, data)
            at = [n for n, _ in self.inputs].index(name)
            if images and images[0][1] != data:
                self.attempt(self.options, self.inputs[:at] + images + self.inputs[at + 1:])

    def reduce_cubin(self, name):
        def put(data):
            return self.attempt(self.options, [(n, data if n == name else d) for n, d in self.inputs])

        def data():
            return next(d for n, d in self.inputs if n == name)

        try:
            count = len(cubin.Cubin(data()).sections)
        except cubin.BadElf:
            return
        self.drop(list(range(1, count)), lambda rest: put(emptied(data(), set(range(1, count)) - set(rest))))
        for index in range(1, count):
            start, pieces = table_of(data(), index)
            self.drop(pieces, lambda rest: put(with_contents(data(), index, b"".join(rest), shrink=True)))
            if start:
                self.drop(words_of(data(), index),
                          lambda rest: put(with_contents(data(), index, zeroed(data(), index, rest))))


def images_of(program, name, data):
    """The cubins in a container, [(name, bytes)]; none for a cubin."""
    if data[:4] == b"\x7fELF" and struct.unpack_from("<H", data, 18)[0] == 190:
        return []
    with tempfile.TemporaryDirectory() as d:
        path, out = os.path.join(d, os.path.basename(name)), os.path.join(d, "out")
        with open(path, "wb") as f:
            f.write(data)
        subprocess.run([program, "extract", "--kind", "cubin", "-o", out, path], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        found = []
        for base, _, names in sorted(os.walk(out)):
            for n in sorted(names):
                with open(os.path.join(base, n), "rb") as f:
                    found.append(("%s.%d.cubin" % (name, len(found)), f.read()))
        return found


def emptied(data, indices):
    """With sections of size zero: not the tables that all others need."""
    for index in indices:
        if cubin.Cubin(data).sections[index].sh_type not in (SHT_STRTAB, SHT_SYMTAB):
            data = with_size(data, index, 0)
    return data


def with_size(data, index, size):
    at = struct.unpack_from("<Q", data, 40)[0] + 64 * index + 32
    return data[:at] + struct.pack("<Q", size) + data[at + 8:]


def with_contents(data, index, contents, shrink=False):
    offset = cubin.Cubin(data).sections[index].sh_offset
    data = data[:offset] + contents + data[offset + len(contents):]
    return with_size(data, index, len(contents)) if shrink else data


def table_of(data, index):
    """(is it code or data, the entries of a table)"""
    sec = cubin.Cubin(data).sections[index]
    if sec.sh_type in (SHT_REL, SHT_RELA, SHT_CALLGRAPH):
        size = {SHT_REL: 16, SHT_RELA: 24, SHT_CALLGRAPH: 8}[sec.sh_type]
        return False, [sec.data[i:i + size] for i in range(0, len(sec.data), size)]
    if sec.sh_type != SHT_INFO:
        return sec.sh_type not in (SHT_STRTAB, SHT_SYMTAB), []
    pieces, at = [], 0
    while at + 4 <= len(sec.data):
        size = 4 + (struct.unpack_from("<H", sec.data, at + 2)[0] if sec.data[at] == FORMAT_SIZED else 0)
        pieces.append(sec.data[at:at + size])
        at += size
    return False, pieces


def words_of(data, index):
    """Where 16 bytes, an instruction, are not zero."""
    contents = cubin.Cubin(data).sections[index].data
    return [i for i in range(0, len(contents), 16) if any(contents[i:i + 16])]


def zeroed(data, index, kept):
    contents = cubin.Cubin(data).sections[index].data
    return b"".join(contents[i:i + 16] if i in kept else bytes(len(contents[i:i + 16]))
                    for i in range(0, len(contents), 16))


def split(words):
    """(options, files): an option with the value behind it is one; the value of none is a file that exists."""
    options, files = [], []
    for i, word in enumerate(words):
        if os.path.isfile(word):
            files.append(word)
        elif word.startswith("-") or not options:
            options.append([word])
        else:
            options[-1].append(word)
    return options, files


def write(folder, reduction):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "in"))
    for name, data in reduction.inputs:
        with open(os.path.join(folder, "in", name), "wb") as f:
            f.write(data)
    args = [word for option in reduction.options for word in option]
    verdict = reduction.judge(reduction.options, reduction.inputs)
    for program, run in zip(("nvlink", "cubind"), reduction.runs):
        with open(os.path.join(folder, program + ".txt"), "w") as f:
            f.write("exit status %d\n%s%s" % (run.rc, run.stdout, run.err))
        if run.out is not None:
            with open(os.path.join(folder, program + ".cubin"), "wb") as f:
                f.write(run.out)
    with open(os.path.join(folder, "cmd"), "w") as f:
        f.write(" ".join(args + ["in/" + name for name, _ in reduction.inputs]) + "\n")
    with open(os.path.join(folder, "difference.txt"), "w") as f:
        f.write("%s: %s\n%s\n" % (verdict.grade, verdict.cls, verdict.text))


def size_of(inputs):
    return "%d files, %d bytes" % (len(inputs), sum(len(d) for _, d in inputs))


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--out", default=os.path.join(ROOT, "build", "reduced"))
    p.add_argument("--seconds", type=float, default=300)
    p.add_argument("--nvlink")
    p.add_argument("--cubind")
    args, words = p.parse_known_args()
    tools = toolchain.Tools(args.cubind)
    tools.nvlink = args.nvlink and os.path.abspath(args.nvlink) or tools.nvlink
    options, files = split([w for w in words if w != "--"])
    if not tools.nvlink or not files:
        print("reduce: there is no nvlink" if files else "reduce: no input files")
        return 2
    inputs = []
    for path in files:
        with open(path, "rb") as f:
            inputs.append(("%d-%s" % (len(inputs), os.path.basename(path)), f.read()))
    try:
        reduction = Reduction(tools, options, inputs, args.seconds)
        if not reduction.differs():
            print("reduce: both do the same (%s)" % reduction.verdict.grade)
            return 1
        reduction.reduce()
        write(args.out, reduction)
    finally:
        tools.close()
    print("%s: %s -> %s, %d -> %d options, %d links tried\n%s" % (
        args.out, size_of(inputs), size_of(reduction.inputs), len(options), len(reduction.options), reduction.tries,
        reduction.verdict.text.split("\n")[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
