#!/usr/bin/env python3
"""Inspectors of files with many images: memory is bounded by the largest image, the number of threads changes nothing, and `-` is the standard input."""

import os
import subprocess

from _checks import expect, finish
from _containers import ELF, elf, entry, fatbin
from _files import read, write

ROOT = os.environ["CUBIND_ROOT"]
CUBIND = os.environ["CUBIND"]
TMP = os.environ.get("TMPDIR", "/tmp")
ASAN = "asan" in os.environ.get("CUBIND_BUILD", "")
IMAGES, MIB = 96, 1 << 20
LIMIT_MIB = 40  # of 96 and more in the file; the program itself needs 4


def run(*args, data=None):
    done = subprocess.run([CUBIND, *args], capture_output=True, check=False, input=data)
    return done.returncode, done.stdout, done.stderr


def peak(*args):
    """(exit code, most MiB in memory at a time)"""
    child = subprocess.Popen([CUBIND, *args], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_maxrss / 1024


def test_memory():
    """Images of 1 MiB in a host library, behind plain data that is looked through for fatbins."""
    path = os.path.join(TMP, "big.so")
    child = os.fork()
    if child == 0:  # the system counts the memory of this process as its children's
        cubin = read("samples/reduce.cubin")
        cubin += bytes(MIB - len(cubin))
        code = b"".join(fatbin(entry(ELF, "90", cubin)) for _ in range(IMAGES))
        write("big.so", elf([(".rodata", bytes(64 * MIB)), (".nv_fatbin", code)], e_type=3))
        os._exit(0)
    os.waitpid(child, 0)
    out = os.path.join(TMP, "images")
    for args in (["extract", path], ["dump", "--summary", path], ["check", path], ["size", path],
                 ["extract", "-o", out, path]):
        status, mib = peak(*args, "--threads", "2")
        expect("%s: memory" % " ".join(args[:2]), status == 0 and (ASAN or mib < LIMIT_MIB), (status, mib))
    expect("all were written", len(os.listdir(out)) == IMAGES and
           all(os.path.getsize(os.path.join(out, name)) == MIB for name in os.listdir(out)))
    for name in os.listdir(out):
        os.unlink(os.path.join(out, name))
    os.unlink(path)


def test_threads():
    names = sorted(os.listdir(os.path.join(ROOT, "tests/golden")))
    cubins = [read("tests/golden/%s/expected.cubin" % n) for n in names
              if os.path.exists(os.path.join(ROOT, "tests/golden", n, "expected.cubin"))]
    damaged = bytearray(cubins[0])
    damaged[0x28] ^= 0xff
    entries = [entry(ELF, "90", c, pack) for c in cubins for pack in ("", "zstd", "lz4")]
    path = write("many.fatbin", fatbin(*entries, entry(ELF, "90", bytes(damaged)), entry(ELF, "90", b"no ELF file"),
                                       entry(ELF, "90", cubins[1], "zstd", size=1), entry(ELF, "90", cubins[2])))
    for args in (["dump", "--all"], ["dump", "--json", "--kernels"], ["check", "--pedantic"], ["check", "--json"],
                 ["size", "--json"], ["extract", "-o", os.path.join(TMP, "out")]):
        first = run(*args, path, "--threads", "1")
        expect("%s: damage is said" % " ".join(args), first[0] in (1, 2) and first[2], first[0])
        for threads in ("2", "3", "8"):
            again = run(*args, path, "--threads", threads)
            expect("%s: %s threads" % (" ".join(args), threads), again == first)


def test_stdin():
    cubin = read("samples/reduce.cubin")
    expect("dump -", run("dump", "-", data=cubin)[1].startswith(b"-:\n"))
    expect("check -", run("check", "-", data=cubin)[:2] == (0, b"1 image, 0 findings\n"))
    expect("extract -", b"sm_90" in run("extract", "-", data=fatbin(entry(ELF, "90", cubin)))[1])
    path = os.path.join(ROOT, "samples/reduce.cubin")
    expect("diff -", run("diff", path, "-", data=cubin)[0] == 0)
    expect("empty", run("dump", "-", data=b"")[0] == 2)


test_memory()
test_threads()
test_stdin()
finish()
