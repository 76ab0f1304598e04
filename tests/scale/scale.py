#!/usr/bin/env python3
"""How time and memory of large inputs grow.

usage: scale.py [--divide N] [--power P] [--no-count] [SHAPE...]

Each shape is done at an eighth, a quarter, half and all of its size.  Three figures may grow with no more
than the 1.15th power of the size, or the power given: the processor time that the program itself takes, the
memory, and, where valgrind is, the instructions (callgrind, at a fortieth and a tenth of the size), which are
the same whatever else the machine does.  --no-count leaves them out.  --divide 10 makes all sizes a tenth.

The time is the least of some runs, and of some more where it grows too fast: who shares the caches takes part
in it.  The time in the system is printed and not judged: pages are mapped and cleared there, as many as there is
memory, at a price that depends on how much of it the machine has at hand.
"""

import argparse
import math
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "cases"), HERE]
sys.dont_write_bytecode = True
import _containers as box  # noqa: E402
import objects  # noqa: E402

CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
WANTED, SIZES, RUNS, LONG, ROUNDS = 1.15, (8, 4, 2, 1), 5, 10, 8
COUNTED = (40, 10)  # parts of a shape of which the instructions are counted
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
    "entries": (10**5, lambda n: one_object(objects.reached_by_many(n))),
    "callees": (10**5, lambda n: one_object(objects.reaches_many(n))),
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


def made(make, n):
    """The command for a size.  The objects are made by a child: a program that is started counts what its parent
    holds as memory of its own."""
    fork = multiprocessing.get_context("fork")
    mine, its = fork.Pipe(False)
    child = fork.Process(target=lambda: its.send(make(n)))
    child.start()
    its.close()
    command = mine.recv()
    child.join()
    return command


def refused(command, code):
    """Inspectors may have something to say."""
    return code not in (0, 1) or (code == 1 and command[0] in ("link", "prune"))


def measure(command):
    """Of the run that took the program itself the least time: that in seconds, in the system, memory in KiB."""
    best, began = None, time.monotonic()
    for _ in range(RUNS):
        with open("stdout", "wb") as out, open("stderr", "wb") as err:
            p = subprocess.Popen([CUBIND, *command], stdout=out, stderr=err, stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        if refused(command, p.returncode):
            with open("stderr") as f:
                raise RuntimeError("exit status %d: %s" % (p.returncode, f.read(300)))
        best = min(best or (math.inf,), (usage.ru_utime, usage.ru_stime, usage.ru_maxrss))
        if time.monotonic() - began > LONG:
            break
    return best


def count(command):
    """Instructions."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", CUBIND, *command],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found or refused(command, done.returncode):
        raise RuntimeError("valgrind: exit status %d: %s" % (done.returncode, done.stderr[-300:]))
    return int(found.group(1))


def exponent(points):
    """Of the last beside the first, of (size, figure)."""
    (n0, t0), (n1, t1) = points[0], points[-1]
    return math.log(t1 / t0) / math.log(n1 / n0)


def exponent_of_time(make, sizes, wanted):
    """(exponent or None, what was measured): sizes whose time is too short say nothing."""
    best = {}
    for _ in range(ROUNDS):
        for n in sizes:
            best[n] = min(best.get(n, (math.inf,)), measure(made(make, n)))
        usable = [(n, best[n][0]) for n in sizes if best[n][0] >= SHORTEST]
        power = exponent(usable) if len(usable) >= 2 else None
        if power is None or power <= wanted:
            break
    return power, [best[n] for n in sizes]


def figures(name, divide, wanted, counts):
    """(exponents, what to say)."""
    full, make = SHAPES[name]
    sizes = [full // divide // part for part in SIZES]
    power, measured = exponent_of_time(make, sizes, wanted)
    memory = exponent([(n, m[2]) for n, m in zip(sizes, measured)])
    powers = {"time": power, "memory": memory}
    if counts:
        parts = [full // divide // part for part in COUNTED]
        powers["instructions"] = exponent([(n, count(made(make, n))) for n in parts])
    return powers, "%8d: %s s, system %s s, %d MiB; exponents: %s" % (
        sizes[-1], " ".join("%.2f" % m[0] for m in measured), " ".join("%.2f" % m[1] for m in measured),
        measured[-1][2] >> 10,
        ", ".join("%s %s" % (k, "%.2f" % v if v is not None else "(too fast)") for k, v in powers.items()))


def shape(name, divide, wanted, counts):
    # what 10^5 files cost a disk is not what is asked
    memory = "/dev/shm"
    fast = os.path.isdir(memory) and shutil.disk_usage(memory).free > ROOM
    with tempfile.TemporaryDirectory(dir=memory if fast else None) as folder:
        os.chdir(folder)
        try:
            powers, text = figures(name, divide, wanted, counts)
            good = all(p is None or p <= wanted for p in powers.values())
        except RuntimeError as why:
            good, text = False, str(why)
        finally:
            os.chdir(ROOT)
    print("%s %-12s %s" % ("ok  " if good else "FAIL", name, text))
    sys.stdout.flush()
    return good


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--divide", type=int, default=1)
    parser.add_argument("--power", type=float, default=WANTED)
    parser.add_argument("--no-count", action="store_true")
    parser.add_argument("shapes", nargs="*")
    args = parser.parse_args()
    counts = not args.no_count and shutil.which("valgrind") is not None
    good = [shape(name, args.divide, args.power, counts) for name in args.shapes or SHAPES]
    print("%d passed, %d failed" % (sum(good), len(good) - sum(good)))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
