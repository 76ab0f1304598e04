#!/usr/bin/env python3
"""How the time of large inputs grows.

usage: scale.py [--divide N] [--power P] [SHAPE...]

Each shape is done at an eighth, a quarter, half and all of its size; processor time may grow with no
more than the 1.15th power of the size, or the power given.  --divide 10 makes all sizes a tenth.
Measure on a machine that does nothing else: caches and the system's page tables are shared.
"""

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "cases"), HERE]
sys.dont_write_bytecode = True
import _containers as box  # noqa: E402
import objects  # noqa: E402

CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
WANTED, SIZES, RUNS, LONG = 1.15, (8, 4, 2, 1), 5, 10
ROOM = 3 << 30      # bytes of the largest shape
SHORTEST = 0.2      # seconds: below that a measurement says nothing
LINK = ["link", "-arch=sm_80", "--threads", "1", "-o", "out"]


def write(name, data):
    with open(name, "wb") as f:
        f.write(data)
    return name


def one_object(data):
    return [*LINK, write("in.cubin", data)]


def archive(count):
    members = []
    for i in range(count):
        name = b"%06d" % i
        image = objects.kernels(1, 100000 + i)
        members.append(box.member(b"m%d.o/" % i, box.host_object(box.fatbin(box.entry(box.ELF, "80", image)),
                                                                "_" + name.decode())))
    write("in.a", box.archive(*members))
    return [*LINK, "in.a"]


def inputs(count):
    names = []
    for i in range(count):
        os.makedirs("d%d" % (i // 1000), exist_ok=True)
        names.append(write("d%d/m%d.cubin" % (i // 1000, i), objects.kernels(1, i)))
    write("options", "\n".join(names).encode())
    return [*LINK, "-optf", "options"]


def same_folder(count):
    """-l of as many libraries in as many folders."""
    os.makedirs("empty", exist_ok=True)
    write("in.cubin", objects.kernels(1))
    write("options", "\n".join(["-L%s" % os.path.join("empty", *["."] * (i % 50)) for i in range(count)] +
                               ["-lx%d" % i for i in range(count)]).encode())
    return [*LINK, "-optf", "options", "in.cubin"]


# size, command for a size
SHAPES = {
    "sections": (10**5, lambda n: one_object(objects.kernels(n // 3))),
    "symbols": (10**6, lambda n: one_object(objects.variables(n))),
    "relocations": (10**6, lambda n: one_object(objects.variables(1000, n))),
    "members": (10**5, archive),
    "inputs": (10**5, inputs),
    "chain": (10**6, lambda n: one_object(objects.functions(n, False))),
    "ring": (10**6, lambda n: one_object(objects.functions(n, True))),
    "names": (10**5, lambda n: one_object(objects.variables(n, 0, 1024))),
    "folders": (10**4, same_folder),
    "check": (10**6, lambda n: ["check", one_object(objects.variables(n, n))[-1]]),
    "dump": (10**5, lambda n: ["dump", one_object(objects.variables(n, n))[-1]]),
    "diff": (10**5, lambda n: ["diff", one_object(objects.kernels(n // 3))[-1], write("b.cubin", objects.kernels(
        n // 3, 1))]),
    "size": (10**5, lambda n: ["size", one_object(objects.kernels(n // 3))[-1]]),
    "map": (10**5, lambda n: one_object(objects.variables(n)) + ["--map=map"]),
    "prune": (10**5, lambda n: ["prune", "-arch=sm_80", "-o", "out", archive(n)[-1]]),
    "relocatable": (10**6, lambda n: one_object(objects.variables(n, n)) + ["-r"]),
}


def measure(command):
    """Seconds of processor time: the least of some runs, in the program and in the system."""
    program, system = [], []
    for _ in range(RUNS):
        with open("stdout", "wb") as out, open("stderr", "wb") as err:
            p = subprocess.Popen([CUBIND, *command], stdout=out, stderr=err, stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode not in (0, 1) or (p.returncode == 1 and command[0] in ("link", "prune")):
            with open("stderr") as f:
                return None, "exit status %d: %s" % (p.returncode, f.read(300))
        program.append(usage.ru_utime)
        system.append(usage.ru_stime)
        if program[-1] + system[-1] > LONG:
            break
    return min(program) + min(system), None


def shape(name, divide, wanted):
    full, make = SHAPES[name]
    points = []
    # what 10^5 files cost a disk is not what is asked
    memory = "/dev/shm"
    fast = os.path.isdir(memory) and shutil.disk_usage(memory).free > ROOM
    with tempfile.TemporaryDirectory(dir=memory if fast else None) as folder:
        os.chdir(folder)
        try:
            for part in SIZES:
                n = full // divide // part
                seconds, why = measure(make(n))
                if seconds is None:
                    print("FAIL %s of %d: %s" % (name, n, why))
                    return False
                points.append((n, seconds))
        finally:
            os.chdir(ROOT)
    usable = [p for p in points if p[1] >= SHORTEST]
    power = None
    if len(usable) >= 2:
        (n0, t0), (n1, t1) = usable[0], usable[-1]
        power = math.log(t1 / t0) / math.log(n1 / n0)
    steps = ["%.2f" % math.log2(max(b[1], 1e-3) / max(a[1], 1e-3)) for a, b in zip(points, points[1:])]
    good = power is None or power <= wanted
    print("%s %-12s %8d: %s s; per doubling %s; exponent %s" % (
        "ok  " if good else "FAIL", name, points[-1][0], " ".join("%.2f" % t for _, t in points), " ".join(steps),
        "%.2f" % power if power is not None else "not measured: too fast"))
    sys.stdout.flush()
    return good


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--divide", type=int, default=1)
    parser.add_argument("--power", type=float, default=WANTED)
    parser.add_argument("shapes", nargs="*")
    args = parser.parse_args()
    good = [shape(name, args.divide, args.power) for name in args.shapes or SHAPES]
    print("%d passed, %d failed" % (sum(good), len(good) - sum(good)))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
