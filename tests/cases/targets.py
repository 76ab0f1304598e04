#!/usr/bin/env python3
"""One run for several targets: the results of single links, and inputs that are read once."""

import os
import subprocess
import tempfile
import threading

from _checks import expect, finish
from _containers import ELF, archive, entry, fatbin, host_object, member
from _files import read, write

CUBIND = os.environ["CUBIND"]
INPUTS = os.path.join(os.environ["CUBIND_ROOT"], "tests/cases/inputs")
TARGETS = ["sm_75", "sm_90", "sm_90a"]


def link(folder, *args):
    done = subprocess.run([CUBIND, "link", *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


def all_or_nothing(folder):
    """A target that fails, or a result that cannot be written, leaves everything as it was."""
    targets = "-arch=sm_90,sm_80"  # there is no b for sm_80
    code, err = link(folder, "-arch=sm_80", "a.o", "libb.a", "-o", "single.sm_80.cubin")
    expect("one target fails", code == 255 and not os.path.exists(os.path.join(folder, "single.sm_80.cubin")), err)
    old = write(os.path.join(folder, "z.sm_90.cubin"), b"old")
    before = set(os.listdir(folder))
    code, err = link(folder, targets, "a.o", "libb.a", "-o", "z.%.cubin", "--map", "zmap.%", "--register-link-binaries=z.c")
    expect("several, the last fails", code == 255 and "(target: sm_80)" in err, err)
    expect("nothing of the first is there", set(os.listdir(folder)) == before and read(old) == b"old", os.listdir(folder))
    code, err = link(folder, targets, "a.o", "libb.a", "-o", "z.%.cubin", "--repro", "z.%.tar", "--time", "z.csv")
    new = set(os.listdir(folder)) - before
    expect("records of what failed", code == 255 and new == {"z.sm_80.tar", "z.csv"} and read(old) == b"old", new)
    os.mkdir(os.path.join(folder, "w.sm_90.cubin"))
    before = set(os.listdir(folder))
    code, err = link(folder, "-arch=sm_75,sm_90", "a.o", "libb.a", "-o", "w.%.cubin")
    expect("the last cannot be written", code == 1 and "w.sm_90.cubin" in err and set(os.listdir(folder)) == before, err)
    for name in ("sm_75", "sm_90"):  # a pipe gets its bytes at the end
        os.mkfifo(os.path.join(folder, "m." + name))
    maps = {}
    readers = [threading.Thread(target=lambda n=n: maps.setdefault(n, read(folder, n)), daemon=True) for n in ("m.sm_75", "m.sm_90")]
    for reader in readers:
        reader.start()
    code, err = link(folder, "-arch=sm_75,sm_90", "a.o", "-L.", "-lb", "-o", "v.%.cubin", "--map", "m.%", "--register-link-binaries=v.c", "--time", "v.csv")
    for reader in readers:
        reader.join(10)
    expect("maps in pipes", maps["m.sm_90"] == read(folder, "map.sm_90") and maps["m.sm_75"] == read(folder, "map.sm_75"), maps)
    expect("a list for all", code == 0 and read(folder, "v.c").startswith(b"#define NUM_PRELINKED_OBJECTS 2\n"), err)
    expect("times of all", read(folder, "v.csv").count(b"source file name") == 1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        a75, b75, a80, b = (read(os.path.join(INPUTS, n + ".cubin")) for n in ("a75", "b75", "a80", "b"))
        a = read(os.path.join(INPUTS, "a.cubin"))
        write(os.path.join(folder, "a.o"), host_object(fatbin(*(entry(ELF, n, c, "zstd") for n, c in (("75", a75), ("80", a80), ("90", a)))), "_a"))
        other = host_object(fatbin(entry(ELF, "75", b75, "lz4"), entry(ELF, "90", b, "zstd")), "_b")
        write(os.path.join(folder, "libb.a"), archive(member(b"b.o/", other)))
        for name in TARGETS:
            code, err = link(folder, "-arch", name, "a.o", "-L.", "-lb", "-o", "single.%s.cubin" % name)
            expect("single " + name, code == 0 and not err, err)
        for form in (["-arch=" + ",".join(TARGETS)], ["-arch", ",".join(TARGETS)], ["--arch=" + ",".join(TARGETS)]):
            code, err = link(folder, *form, "a.o", "-L.", "-lb", "-o", "x.%.cubin", "--map", "map.%")
            expect("several, %s" % form[0], code == 0 and not err, err)
            for name in TARGETS:
                expect("several, " + name, read(os.path.join(folder, "x.%s.cubin" % name)) ==
                       read(os.path.join(folder, "single.%s.cubin" % name)))
                os.unlink(os.path.join(folder, "x.%s.cubin" % name))
                expect("several, map of " + name, len(read(os.path.join(folder, "map." + name))) > 0)
        code, err = link(folder, "-arch=sm_75,sm_90", "a.o", "-o", "x.cubin")
        expect("no place for the target", code == 1 and "'%'" in err and not os.path.exists(os.path.join(folder, "x.cubin")), err)
        code, err = link(folder, "-arch=sm_75,sm_99,sm_90", "a.o", "libb.a", "-o", "x.%.cubin")
        expect("unknown target", code == 1 and "sm_99" in err and not os.path.exists(os.path.join(folder, "x.sm_90.cubin")), err)
        code, err = link(folder, "-arch=sm_75,sm_90", "a.o", "-o", "y.%.cubin")
        expect("messages name the target", code == 255 and "(target: sm_75)" in err and "sm_90" not in err.split("\n")[0], err)
        expect("nothing of a failed link", not any(n.startswith("y.") for n in os.listdir(folder)))

        all_or_nothing(folder)

        # a pipe can be read once only
        os.mkfifo(os.path.join(folder, "pipe.o"))
        writer = threading.Thread(target=write, args=(os.path.join(folder, "pipe.o"), read(os.path.join(folder, "a.o"))), daemon=True)
        writer.start()
        code, err = link(folder, "-arch=" + ",".join(TARGETS), "pipe.o", "libb.a", "-o", "x.%.cubin")
        expect("a pipe is read once", code == 0 and os.path.exists(os.path.join(folder, "x.sm_90.cubin")), err)
        os.symlink(CUBIND, os.path.join(folder, "nvlink"))
        done = subprocess.run(["./nvlink", "-arch=sm_75,sm_90", "a.o", "-o", "x.cubin"], cwd=folder, stderr=subprocess.PIPE, text=True)
        expect("nvlink has one target", done.returncode == 1 and "is not defined for option 'arch'" in done.stderr, done.stderr)


main()
finish()
