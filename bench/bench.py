#!/usr/bin/env python3
"""Times cubind against nvlink and against copying the inputs, in the same run on the same machine.

usage: bench.py [--build FOLDER] [--rounds N] [--plots FOLDER]
       bench.py [--build FOLDER] [--rounds N] [--json FILE] [--list] SCENARIO...
       bench.py --growth [SHAPE...]
       bench.py --account PROGRAM [--places] [SHAPE...]
       bench.py --physical

Commands of a scenario take turns, so that a busy machine slows all of them alike; the first round
measures memory and is not timed.  Seconds are medians, processor time is the least of all rounds,
since a busy machine only adds to it; a ratio is the other's time over cubind's,
above 1 where cubind is faster.  --growth links each shape at four sizes, the largest eight times the
smallest, and says with which power of the size processor time and memory grow.  Scenarios that need
ptxas to make their inputs, or nvlink to compare with, say so and go on without.
"""

import argparse
import glob
import json
import math
import os
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
sys.dont_write_bytecode = True
import scale  # noqa: E402
import account  # noqa: E402
import physical  # noqa: E402
import table  # noqa: E402

EMULATE = ["--emulate", "nvlink-13.0.88"]
LIMIT = 180  # seconds for one command
ENOUGH = 20  # seconds for all rounds of one scenario
SHORT = 5  # seconds of a command that runs once more for its peak memory


def seconds_of(argv, folder):
    """(seconds, processor seconds, exit status) of a command; None, None past the limit.

    posix_spawn and a blocking wait: starting a program from here costs well below a millisecond."""
    program = shutil.which(argv[0])
    os.chdir(folder)
    quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
             (os.POSIX_SPAWN_OPEN, 2, "err.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)]
    start = time.monotonic()
    pid = os.posix_spawn(program, argv, os.environ, file_actions=quiet)
    timer = threading.Timer(LIMIT, os.kill, (pid, signal.SIGKILL))
    timer.start()
    _, status, usage = os.wait4(pid, 0)
    seconds = time.monotonic() - start
    timer.cancel()
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        return None, None, code
    return seconds, usage.ru_utime + usage.ru_stime, code


class Missing(Exception):
    """The scenario needs something that this machine does not have."""


class Bench:
    def __init__(self, args):
        self.cubind = os.path.abspath(os.path.join(args.build, "cubind"))
        self.nvlink = shutil.which("nvlink")
        self.ptxas = shutil.which("ptxas")
        self.rounds = args.rounds
        self.root = ROOT
        self.build = os.path.abspath(args.build)
        self.cache = os.path.join(ROOT, "build-bench-inputs")  # a build folder may be wiped
        self.folder = tempfile.mkdtemp(prefix="cubind-bench-")

    def close(self):
        shutil.rmtree(self.folder)

    def assemble(self, path, ptx, arch, *options):
        if os.path.exists(path):
            return
        if not self.ptxas:
            raise Missing("ptxas is not on PATH")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        source = path + ".ptx"
        with open(source, "w") as f:
            f.write(ptx)
        subprocess.run([self.ptxas, "-c", "-arch=sm_" + arch, *options, source, "-o", path + ".new"],
                       check=True)
        os.rename(path + ".new", path)
        os.unlink(source)

    def modules(self, shape, count, funcs, arch="90"):
        """Paths of generated cubins that call each other in that shape."""
        d = os.path.join(self.cache, "%s-%s-%d" % (shape, arch, funcs))
        paths = [os.path.join(d, "m%d.cubin" % m) for m in range(count)]
        for m, path in enumerate(paths):
            self.assemble(path, scale.module(shape, m, funcs), arch)
        end = os.path.join(d, "end%d.cubin" % count)
        self.assemble(end, scale.last_module(shape, count, funcs), arch)
        return paths + [end]

    def time_all(self, commands, limits=None):
        """{name: (median seconds, peak KiB, least processor seconds)} of commands that take turns;
        seconds is None past the limit or for a failure, and the second member then says which.
        LIMITS: seconds for some of them, else LIMIT."""
        limits = limits or {}
        times = {name: [] for name in commands}
        work = {name: [] for name in commands}
        peaks = dict.fromkeys(commands, 0)
        dead = set()
        started = time.monotonic()
        for round_number in range(self.rounds + 1):
            for name, argv in commands.items():
                if name in dead:
                    continue
                # replacing a file can make the file system write the old one out first
                for leftover in glob.glob(os.path.join(self.folder, "*.out")):
                    os.unlink(leftover)
                if round_number == 0:
                    seconds, peak, code = scale.timed(argv, self.folder, limits.get(name, LIMIT))
                    short = seconds is not None and not code and seconds < SHORT and os.path.exists("/usr/bin/time")
                    peaks[name] = physical.peak_of(argv, self.folder) if short else peak
                else:
                    seconds, busy, code = seconds_of(argv, self.folder)
                if seconds is None or code:
                    dead.add(name)
                    times[name] = []
                    peaks[name] = "limit" if seconds is None else "exit %d" % code
                    continue
                if round_number:
                    times[name].append(seconds)
                    work[name].append(busy)
            if round_number and time.monotonic() - started > ENOUGH:
                break
        return {n: (statistics.median(t) if t else None, peaks[n],
                    min(work[n]) if t else None) for n, t in times.items()}

    def link(self, inputs, arch):
        """A link by cubind and by nvlink, and a copy of the inputs."""
        copies = os.path.join(self.folder, "copies")
        shutil.rmtree(copies, ignore_errors=True)
        os.makedirs(copies)
        target = "-arch=sm_" + arch
        commands = {"cubind": [self.cubind, "link", *EMULATE, target, *inputs, "-o", "cubind.out"]}
        if self.nvlink:
            commands["nvlink"] = [self.nvlink, target, *inputs, "-o", "nvlink.out"]
        commands["cp"] = ["cp", *inputs, copies]
        result = self.time_all(commands)
        size = sum(os.path.getsize(i) for i in inputs)
        same = None
        if result.get("nvlink", (None,))[0] and result["cubind"][0]:
            for name in ("cubind", "nvlink"):
                seconds_of(commands[name], self.folder)
            with open(os.path.join(self.folder, "cubind.out"), "rb") as a:
                with open(os.path.join(self.folder, "nvlink.out"), "rb") as b:
                    same = a.read() == b.read()
        return {"times": result, "bytes": size, "inputs": len(inputs), "identical": same}

    def big_library(self, megabytes):
        """A host shared library with that much device code in one fatbin."""
        path = os.path.join(self.cache, "libbig-%d.so" % megabytes)
        if os.path.exists(path):
            return path
        os.makedirs(self.cache, exist_ok=True)
        entries = b""
        for name in sorted(glob.glob(os.path.join(ROOT, "tests/golden/*/expected.cubin"))):
            with open(name, "rb") as f:
                image = f.read()
            sm = struct.unpack_from("<I", image, 48)[0] >> 8 & 0xFFFF
            image += b"\0" * (-len(image) % 8)
            entries += struct.pack("<HHIQIIHHIIIQQQ", 2, 0x101, 64, len(image), 0, 0, 8, 1, sm, 0,
                                   0, 0x11, 0, 0) + image
        repeats = megabytes * 1000000 // len(entries)
        fatbin_size = repeats * (16 + len(entries))
        names = b"\0.nv_fatbin\0.shstrtab\0"
        offset = 64 + fatbin_size
        shoff = offset + len(names) + (-len(names) % 8)
        with open(path + ".new", "wb") as f:
            f.write(b"\x7fELF\2\1\1" + b"\0" * 9 +
                    struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, shoff, 0, 64, 0, 0, 64, 3, 2))
            for _ in range(repeats):
                f.write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries)
            f.write(names + b"\0" * (-len(names) % 8))
            f.write(b"\0" * 64)
            f.write(struct.pack("<IIQQQQIIQQ", 1, 1, 2, 0, 64, fatbin_size, 0, 0, 8, 0))
            f.write(struct.pack("<IIQQQQIIQQ", 12, 3, 0, 0, offset, len(names), 0, 0, 1, 0))
        os.rename(path + ".new", path)
        return path

    def inspect(self, arguments, path):
        # findings (exit 1) are no failure here
        commands = {"cubind": ["sh", "-c", '"$@"; [ $? -le 1 ]', "sh", self.cubind, *arguments,
                               path],
                    "cp": ["cp", path, os.path.join(self.folder, "copy")]}
        result = self.time_all(commands)
        # the peak above is the shell's: once more, without it
        peak = scale.timed([self.cubind, *arguments, path], self.folder, LIMIT)[1]
        result["cubind"] = (result["cubind"][0], peak, result["cubind"][2])
        return {"times": result, "bytes": os.path.getsize(path), "inputs": 1, "identical": None}


def samples(b):
    return b.link([os.path.join(ROOT, "samples", n) for n in ("reduce.cubin", "mathlib.cubin")],
                  "90")


SCENARIOS = {
    "two": ("the two sample cubins", samples),
    "ten": ("10 cubins of 20 functions", lambda b: b.link(b.modules("wide", 9, 20), "90")),
    "wide-150": ("150 cubins, 3,000 functions, wide",
                 lambda b: b.link(b.modules("wide", 150, 20), "90")),
    "wide-1500": ("1,500 cubins, 30,000 functions, wide",
                  lambda b: b.link(b.modules("wide", 1500, 20), "90")),
    "wide-800": ("800 cubins, 16,000 functions, wide",
                 lambda b: b.link(b.modules("wide", 800, 20), "90")),
    "chain-800": ("800 cubins, one call chain of 16,000 functions, 8 kernels",
                  lambda b: b.link(b.modules("chain", 800, 20), "90")),
    "deep-400": ("400 cubins, one call chain of 8,000 functions, a kernel in each",
                 lambda b: b.link(b.modules("deep", 400, 20), "90")),
    "ring-200": ("200 cubins, 4,000 functions in one recursion",
                 lambda b: b.link(b.modules("ring", 200, 20), "90")),
    "many-25": ("25,000 kernels that call one function",
                lambda b: b.link(b.modules("many", 25, 1000), "90")),
    "chain-150": ("150 cubins, one call chain of 3,000 functions",
                  lambda b: b.link(b.modules("chain", 150, 20), "90")),
    "chain-1500": ("1,500 cubins, one call chain of 30,000 functions",
                   lambda b: b.link(b.modules("chain", 1500, 20), "90")),
    "ring-1500": ("1,500 cubins, 30,000 functions in one recursion",
                  lambda b: b.link(b.modules("ring", 1500, 20), "90")),
    "wide-sm100": ("150 cubins of sm_100, 3,000 functions, wide",
                   lambda b: b.link(b.modules("wide", 150, 20, "100"), "100")),
    "chain-sm100": ("150 cubins of sm_100, one call chain of 3,000 functions",
                    lambda b: b.link(b.modules("chain", 150, 20, "100"), "100")),
    "dump-500mb": ("dump --summary of a 500 MB host library",
                   lambda b: b.inspect(["dump", "--summary"], b.big_library(500))),
    "check-500mb": ("check of a 500 MB host library",
                    lambda b: b.inspect(["check"], b.big_library(500))),
}
# Links whose memory is accounted for: shape, target, modules and functions in each
ACCOUNTED = {"wide": ("wide", "90", 800, 20), "chain": ("chain", "90", 800, 20),
             "deep": ("deep", "90", 800, 20), "wide-sm100": ("wide", "100", 150, 20)}


# Shapes at their largest size: modules, and functions in each
GROWING = {"wide": (800, 20), "chain": (800, 20), "deep": (800, 20), "ring": (800, 20),
           "many": (100, 1000), "one": (100, 100)}
PARTS = (8, 4, 2, 1)


def growth_of(bench, shape):
    """[(modules, processor seconds, peak KiB)] of links of four sizes."""
    points = []
    modules, funcs = GROWING[shape]
    for part in PARTS:
        count = modules // part
        inputs = bench.modules(shape, count, funcs)
        argv = [bench.cubind, "link", *EMULATE, "-arch=sm_90", *inputs, "-o", "cubind.out"]
        seconds, peak, work = bench.time_all({"cubind": argv})["cubind"]
        if seconds is None:
            raise Missing("the link of %d modules failed: %s" % (count, peak))
        points.append((count, work, peak))
    return points


def power(points, column):
    return math.log(points[-1][column] / points[0][column]) / math.log(PARTS[0])


def grow_all(bench, shapes):
    for shape in shapes or GROWING:
        points = growth_of(bench, shape)
        for count, work, peak in points:
            print("%-6s %5d modules of %4d: %7.4f s %5d MiB" % (shape, count, GROWING[shape][1], work,
                                                              peak // 1024))
        print("%-6s time grows with the power %.2f of the size, memory with %.2f" % (
            shape, power(points, 1), power(points, 2)))


def account_all(bench, program, shapes, places):
    for name in shapes or ACCOUNTED:
        shape, arch, count, funcs = ACCOUNTED[name]
        inputs = bench.modules(shape, count, funcs, arch)
        print("%s, %d modules of %d functions:" % (name, count, funcs))
        account.report(os.path.abspath(program), bench.cubind, arch, inputs, bench.folder, places)


def show_table(bench, plots):
    rows = table.print_table(bench, Missing)
    if not plots:
        return
    os.makedirs(plots, exist_ok=True)
    table.plot_ratios(rows, os.path.join(plots, "ratios.svg"))
    table.plot_growth({s: growth_of(bench, s) for s in GROWING}, os.path.join(plots, "growth.svg"))


def describe(name, r):
    times = r["times"]
    mine, peak, work = times["cubind"]
    if mine is None:
        return "cubind failed: %s" % peak
    parts = ["cubind %8.4f s %5d MiB" % (mine, peak // 1024)]
    if "nvlink" in times:
        seconds, other, busy = times["nvlink"]
        if seconds is None:
            parts.append("nvlink failed: %s" % other)
        else:
            parts.append("nvlink %8.4f s %5d MiB, ratio %.1f (processor time %.1f), %s" % (
                seconds, other // 1024, seconds / mine, busy / max(work, 1e-6),
                "identical" if r["identical"] else "DIFFERENT"))
    seconds = times["cp"][0]
    parts.append("cp %.4f s, ratio %.2f" % (seconds, seconds / mine))
    return " | ".join(parts)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build-release"))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json")
    parser.add_argument("--plots", metavar="FOLDER", help="SVG of the table and of the growth")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--growth", action="store_true", help="of shapes at four sizes")
    parser.add_argument("--account", metavar="PROGRAM", help="built with counters")
    parser.add_argument("--physical", action="store_true", help="what start, files and pages cost")
    parser.add_argument("--places", action="store_true", help="of the source, under each kind")
    parser.add_argument("scenarios", nargs="*")
    args = parser.parse_args()
    if args.list:
        for name, (about, _) in SCENARIOS.items():
            print("%-12s %s" % (name, about))
        return 0
    if args.account or args.growth or args.physical:
        bench = Bench(args)
        try:
            if args.growth:
                grow_all(bench, args.scenarios)
            elif args.physical:
                physical.report(bench, Missing)
            else:
                account_all(bench, args.account, args.scenarios, args.places)
        finally:
            bench.close()
        return 0
    unknown = [s for s in args.scenarios if s not in SCENARIOS and s != "all"]
    if unknown:
        print("bench: no scenario %s; --list shows them" % unknown[0], file=sys.stderr)
        return 2
    bench = Bench(args)
    if not args.scenarios:
        try:
            show_table(bench, args.plots and os.path.abspath(args.plots))
        finally:
            bench.close()
        return 0
    chosen = list(SCENARIOS) if "all" in args.scenarios else args.scenarios
    results = {}
    try:
        for name in chosen:
            about, run = SCENARIOS[name]
            try:
                results[name] = run(bench)
                print("%-12s %s\n             %s" % (name, about, describe(name, results[name])))
            except Missing as why:
                print("%-12s %s\n             skipped: %s" % (name, about, why))
            sys.stdout.flush()
    finally:
        bench.close()
    if args.json:
        with open(args.json, "w") as f:
            json.dump(results, f, indent=1)
    return 1 if any(r["times"]["cubind"][0] is None for r in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
