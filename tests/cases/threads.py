#!/usr/bin/env python3
"""cubind link --threads: outputs, messages and exit statuses are the same for every number."""

import os
import struct
import subprocess
import sys
import tempfile

from _checks import SHORT, expect, finish
from _containers import ELF, entry, fatbin, host_object
from _nvlink import CUBIND, EMULATE, INPUTS, ROOT, real_nvlink


def goldens(threads):
    """A part of the stored links, each time another one."""
    script = os.path.join(ROOT, "tests", "golden", "run.py")
    done = subprocess.run([sys.executable, script, "--cubind", CUBIND, "--threads", str(threads),
                           "--every", str((80 if SHORT else 20) + threads)], capture_output=True, text=True)
    expect("goldens in %d threads" % threads, done.returncode == 0, done.stdout[-2000:] + done.stderr[-500:])


def numbers(folder):
    for number, status in (("0", 0), ("1", 0), ("64", 0), ("65", 1), ("-1", 1), ("many", 1)):
        done = subprocess.run([CUBIND, "link", "-arch=sm_90", "--threads=" + number, "-o", "out",
                               os.path.join(INPUTS, "a.cubin"), os.path.join(INPUTS, "b.cubin")],
                              cwd=folder, capture_output=True, text=True)
        expect("--threads=" + number, done.returncode == status and bool(done.stderr) == bool(status),
               "%d %s" % (done.returncode, done.stderr))


def order_of_messages(folder):
    """Several inputs that are refused: the first one is said, however they were read."""
    for name in ("one.cubin", "two.cubin", "three.cubin"):
        with open(os.path.join(INPUTS, "a.cubin"), "rb") as f:
            data = bytearray(f.read())
        data[40:48] = b"\xff" * 8  # e_shoff
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    said = set()
    for threads in ("1", "2", "3", "8"):
        done = subprocess.run([CUBIND, "link", "-arch=sm_90", "--threads", threads, "-o", "out",
                               "one.cubin", "missing.cubin", "two.cubin", "three.cubin"],
                              cwd=folder, capture_output=True, text=True)
        said.add((done.returncode, done.stderr))
    expect("one message for every number", len(said) == 1 and list(said)[0][0], str(said))


def refused_before_merged(folder):
    """Inputs are merged while later ones are read; what is refused is said as if that came before."""
    with open(os.path.join(INPUTS, "a.cubin"), "rb") as f:
        data = bytearray(f.read())
    table, = struct.unpack_from("<Q", data, 40)
    count, = struct.unpack_from("<H", data, 60)
    for header in range(table, table + 64 * count, 64):
        if struct.unpack_from("<I", data, header + 4)[0] == 2:  # SHT_SYMTAB
            struct.pack_into("<Q", data, header + 56, 25)  # sh_entsize
    with open(os.path.join(folder, "damaged.cubin"), "wb") as f:
        f.write(data)
    twice = [os.path.join(INPUTS, "a.cubin")] * 40  # whose kernels are defined again and again
    said = set()
    for threads in ("1", "2", "3", "8"):
        done = subprocess.run([CUBIND, "link", "-arch=sm_90", "--threads", threads, "-o", "out", *twice,
                               "damaged.cubin"], cwd=folder, capture_output=True, text=True)
        said.add((done.returncode, done.stderr))
    expect("what is refused comes first", len(said) == 1 and "damaged" in list(said)[0][1]
           and "Multiple" not in list(said)[0][1], str(said))


def said_for_all(folder, *arguments, prepare=lambda: None):
    """What --threads of 1, 2, 3 and 8 say and make of it, if that is the same: (status, messages, bytes)."""
    made = set()
    for threads in ("1", "2", "3", "8"):
        prepare()
        out = os.path.join(folder, "out")
        if os.path.exists(out):
            os.unlink(out)
        done = subprocess.run([CUBIND, "link", "-arch=sm_90", "--threads", threads, "-o", "out", *arguments],
                              cwd=folder, capture_output=True, text=True)
        result = b""
        if os.path.exists(out):
            with open(out, "rb") as f:
                result = f.read()
        made.add((done.returncode, done.stderr, result))
    expect("the same for every number: %s" % " ".join(arguments[-2:]), len(made) == 1, str(made)[:2000])
    return made.pop()


def read_while_linked(folder):
    """Files called cubins are read while earlier ones are merged; all is as if that came before."""
    a, b = os.path.join(INPUTS, "a.cubin"), os.path.join(INPUTS, "b.cubin")
    twice = [a] * 40
    status, said, _ = said_for_all(folder, *twice, "missing.cubin")
    expect("a missing file comes first", status == 1 and "Could not open" in said and "Multiple" not in said, said)
    with open(a, "rb") as f:
        sound = f.read()
    for name, data in (("empty.cubin", b""), ("text.cubin", b"no cubin at all, but long enough to be looked at\n" * 2),
                       ("cut.cubin", sound[:600]), ("large.cubin", sound + bytes(200000)), ("plain.bin", sound)):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    whole = said_for_all(folder, a, b)
    expect("what is ignored adds nothing", said_for_all(folder, a, "empty.cubin", "text.cubin", b)[2] == whole[2])
    status, said, _ = said_for_all(folder, *twice, "cut.cubin")
    expect("damage comes first", status and "damaged" in said and "Multiple" not in said, said)
    expect("a large file", said_for_all(folder, b, "large.cubin")[2] == said_for_all(folder, b, a)[2])
    expect("another name", said_for_all(folder, b, "plain.bin")[2] == said_for_all(folder, b, a)[2])
    subprocess.run([CUBIND, "bundle", "--create", "fatbin.cubin", "--image3=kind=elf,sm=90,file=" + b], cwd=folder,
                   check=True)
    subprocess.run(["ar", "rcs", "archive.cubin", b], cwd=folder, check=True)
    subprocess.run(["ar", "rcsT", "thin.cubin", "plain.bin"], cwd=folder, check=True)
    for name in ("fatbin.cubin", "archive.cubin", "thin.cubin"):
        made = said_for_all(folder, *([a] if name != "thin.cubin" else [b]), name)
        renamed = name.replace(".cubin", ".dat")
        os.rename(os.path.join(folder, name), os.path.join(folder, renamed))
        other = said_for_all(folder, *([a] if name != "thin.cubin" else [b]), renamed)
        expect("%s is what it holds" % name, made[0] == other[0] and made[2] == other[2], made[1] + other[1])
    status, said, _ = said_for_all(folder, *twice, "archive.dat")
    expect("read before", status and "Multiple" in said, said)


def output(folder, program, *arguments):
    """The bytes that a link makes."""
    subprocess.run([*program, "-arch=sm_90", "-o", "other", *arguments], cwd=folder, check=True)
    with open(os.path.join(folder, "other"), "rb") as f:
        return f.read()


def host_objects_called_cubins(folder):
    """Host objects name the kernels that they use, whatever they are called; a cubin among them uses all."""
    def put(name, data):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)

    code = {}
    for name in ("a.cubin", "b.cubin", "heavy.cubin"):
        with open(os.path.join(INPUTS, name), "rb") as f:
            code[name[:-6]] = f.read()
        put("plain-" + name, code[name[:-6]])
    for name in ("a", "b"):
        data = host_object(fatbin(entry(ELF, "90", code[name])), "_" + name, kernels=b"kb\0")
        put("%s.o" % name, data)
        put("%s.cubin" % name, data)
    put("linked.cubin", output(folder, (CUBIND, "link"), "plain-heavy.cubin"))  # is ignored
    sizes = []
    for order in ("a b", "b a", "linked a b", "a linked b", "plain-heavy a b", "a plain-heavy b", "a b plain-heavy",
                  "plain-a b", "b plain-a"):
        names = order.split()
        files = [n + ".cubin" for n in names]
        objects = [n + (".o" if n in ("a", "b") else ".cubin") for n in names]
        made = output(folder, (CUBIND, "link"), *objects)
        expect("%s: the same as with other names" % order, said_for_all(folder, *files)[2] == made)
        if "linked" not in names and real_nvlink():
            expect("%s: as nvlink's" % order, output(folder, (CUBIND, "link", EMULATE), *objects) ==
                   output(folder, (real_nvlink(),), *objects))
        sizes.append(len(made))
    expect("host objects alone use one kernel", sizes[0] == sizes[2] and sizes[0] < sizes[7], str(sizes))


def read_once(folder):
    """What is no plain file is read in its turn, and once; a file that is given twice, twice."""
    a, b = os.path.join(INPUTS, "a.cubin"), os.path.join(INPUTS, "b.cubin")
    whole = said_for_all(folder, a, b)
    for order in (["pipe.cubin", b], [a, "pipe.cubin"]):
        pipe = os.path.join(folder, "pipe.cubin")
        writers = []

        def write(content=a if order[1] == b else b, pipe=pipe, writers=writers):
            if os.path.exists(pipe):
                os.unlink(pipe)
            os.mkfifo(pipe)
            writers.append(subprocess.Popen(["cp", content, pipe]))
        expect("a pipe: " + order[0], said_for_all(folder, *order, prepare=write) == whole)
        for writer in writers:
            writer.wait()
    status, said, _ = said_for_all(folder, b, b)
    expect("a file twice", status and said.count("Multiple definition") == 2, said)


def main():
    for threads in (1, 2, 3, 8):
        goldens(threads)
    with tempfile.TemporaryDirectory() as folder:
        numbers(folder)
        order_of_messages(folder)
        refused_before_merged(folder)
        read_while_linked(folder)
        host_objects_called_cubins(folder)
        read_once(folder)
    finish()


main()
