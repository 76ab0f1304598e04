#!/usr/bin/env python3
"""cubind link --threads: outputs, messages and exit statuses are the same for every number."""

import os
import struct
import subprocess
import sys
import tempfile

from _checks import SHORT, expect, finish
from _nvlink import CUBIND, INPUTS, ROOT


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


def main():
    for threads in (1, 2, 3, 8):
        goldens(threads)
    with tempfile.TemporaryDirectory() as folder:
        numbers(folder)
        order_of_messages(folder)
        refused_before_merged(folder)
    finish()


main()
