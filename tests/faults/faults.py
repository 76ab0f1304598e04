#!/usr/bin/env python3
"""Every allocation and every system call fails in turn, for every command and for the library.

usage: faults.py [--long] [--every N] [--only JOB] [--at KIND:N] [-j N]

Of each run is asked: the exit status is the documented one, or that of a good run with its results;
one message, which says what has failed; no memory and no file descriptor is left; old results are
as they were, or complete new ones are there; nothing else lies about.  Allocations fail one at a
time, and with all that come behind them; the library has limits of memory of all sizes, too.
--long takes more jobs, --every 4 a quarter of the points.  --at memory:7, all:7, call:7 or limit:7
does one point and shows the run.
"""

import argparse
import concurrent.futures
import glob
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "cases"))
sys.dont_write_bytecode = True
import _containers as box  # noqa: E402

BUILD = os.path.abspath(os.environ.get("CUBIND_BUILD", os.path.join(ROOT, "build")))
CUBIND = os.path.join(BUILD, "cubind")
TOOLS = os.path.join(BUILD, "tests", "faults")
PRELOAD = os.path.join(TOOLS, "fault_allocations.so")
CALLS = os.path.join(TOOLS, "fault_calls")
LIBRARY = os.path.join(TOOLS, "fault_library")
OLD = b"old result\n"
LIMIT = 60
LEAST_LIMIT, LIMITS = 1000, 200  # bytes, up to 2.5 MB
PTXAS = """#!/bin/sh
for word; do [ "$before" = -o ] && out=$word; before=$word; done
cat mathlib.cubin > "$out"
"""


class Job:
    """A command line, its exit statuses when something fails, and its results."""

    def __init__(self, name, argv, codes, results=(), old=True, folder=None):
        self.name, self.argv, self.codes, self.results, self.old = name, argv, codes, list(results), old
        self.folder = folder  # that it fills, and that is not there before


def jobs(long):
    link = ["link", "-arch=sm_90", "--threads", "1"]
    found = [
        Job("link", link + ["reduce.cubin", "mathlib.cubin", "-o", "out"], {1}, ["out"]),
        Job("link-archive", link + ["reduce.cubin", "-L.", "-lzstd", "-o", "out"], {1, 255}, ["out"]),
        Job("link-records", link + ["reduce.cubin", "mathlib.cubin", "-o", "out", "--map=map", "--dot-file=dot",
                                    "--repro=repro.tar", "--register-link-binaries=register", "--durable"],
            {1}, ["out", "map", "dot", "register", "repro.tar"]),
        Job("link-ptx", link + ["--ptxas=./ptxas", "reduce.cubin", "code.ptx", "-o", "out"], {1, 255}, ["out"]),
        Job("link-mercury", ["link", "-arch=sm_100", "--threads", "1", "new.cubin", "-o", "out"], {1}, ["out"]),
        Job("link-threads", ["link", "-arch=sm_90", "--threads", "2", "reduce.cubin", "mathlib.cubin", "-o", "out"],
            {1}, ["out"]),
        Job("link-fails", link + ["reduce.cubin", "-o", "out"], {1, 255}, ["out"]),
        Job("finalize", ["finalize", "linked.cubin", "-arch=sm_103", "-o", "out"], {1, 11}, ["out"]),
        Job("dump", ["dump", "--threads", "1", "mathlib.cubin"], {2}),
        Job("dump-json", ["dump", "--threads", "1", "--json", "--kernels", "--lines", "zstd.fatbin"], {2}),
        Job("check", ["check", "--threads", "1", "libzstd.a", "reduce.cubin"], {2}),
        Job("diff", ["diff", "reduce.cubin", "mathlib.cubin"], {2}),
        Job("size", ["size", "--threads", "1", "libzstd.a"], {2}),
        Job("extract", ["extract", "--threads", "1", "libzstd.a", "-o", "images"], {2}, folder="images"),
        Job("bundle", ["bundle", "--create=out", "--image3=kind=elf,sm=90,file=mathlib.cubin",
                       "--image3=kind=elf,sm=90,file=reduce.cubin", "-compress-all"], {1}, ["out"]),
        Job("prune", ["prune", "-arch=sm_90", "-o", "out", "libzstd.a"], {1}, ["out"]),
        Job("dlink", ["dlink", "-arch=sm_90", "-cubin", "-o", "out", "host.o"], {1, 255}, ["out"]),
        Job("cuobjdump", ["./cuobjdump", "-lelf", "-symbols", "libzstd.a"], {1, 2, 255}),
        Job("library", [LIBRARY, "libzstd.a", "reduce.cubin", "linked.cubin"], {3}),
    ]
    if long:
        found += [
            Job("link-r-g", link + ["-r", "-g", "reduce.cubin", "mathlib.cubin", "-o", "out"], {1}, ["out"]),
            Job("link-verbose", link + ["-v", "--why-live=block_sum", "--trace-symbol=block_sum", "reduce.cubin",
                                        "mathlib.cubin", "-o", "out", "--time=time"], {1}, ["out"]),
            Job("link-targets", ["link", "-arch=sm_90,sm_90a", "--threads", "1", "reduce.cubin", "mathlib.cubin", "-o",
                                 "out.%"], {1}),
            Job("prune-all", ["prune", "-no-relocatable-elf", "-o", "out", "host.o"], {1}, ["out"]),
            Job("size-json", ["size", "--json", "--diff", "libzstd.a", "host.o"], {2}),
            Job("dump-demangle", ["dump", "--demangle", "--threads", "1", "tmpl.cubin"], {2}),
            Job("help", ["help"], {1}), Job("version", ["version"], {1}), Job("rules", ["check", "--list-rules"], {2}),
            Job("finalize-check", ["finalize", "--self-check", "linked.cubin", "-arch=sm_103", "-o", "out"], {1, 11},
                ["out"]),
        ]
    return found


def prepare(top):
    """The folder of inputs."""
    folder = os.path.join(top, "inputs")
    os.mkdir(folder)
    for name in ("reduce.cubin", "mathlib.cubin"):
        shutil.copy(os.path.join(ROOT, "samples", name), folder)
    golden = os.path.join(ROOT, "tests/golden/weak-frames-100-r-g-final")
    statics = os.path.join(ROOT, "tests/golden/statics-100-default")
    shutil.copy(os.path.join(statics, "expected.cubin"), os.path.join(folder, "linked.cubin"))
    source = sorted(glob.glob(os.path.join(golden, "in", "*")) + glob.glob(os.path.join(statics, "in", "*")))
    shutil.copy(source[-1], os.path.join(folder, "new.cubin"))
    inputs = os.path.join(ROOT, "tests/cases/inputs")
    shutil.copy(os.path.join(inputs, "a.ptx"), os.path.join(folder, "code.ptx"))
    shutil.copy(os.path.join(inputs, "tmpl.cubin"), folder)
    with open(os.path.join(folder, "mathlib.cubin"), "rb") as f:
        code = f.read()
    fatbin = box.fatbin(box.entry(box.ELF, "90", code, "zstd"), box.entry(box.ELF, "80", code, "lz4"))
    host = box.host_object(fatbin)
    for name, data in (("zstd.fatbin", fatbin), ("host.o", host),
                       ("libzstd.a", box.archive(box.member(b"host.o/", host))), ("ptxas", PTXAS.encode())):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    os.chmod(os.path.join(folder, "ptxas"), 0o755)
    os.symlink(CUBIND, os.path.join(folder, "cuobjdump"))
    return folder


slots = {}  # threads by number


class Run:
    """One run in the folder of the thread that does it."""

    def __init__(self, top, inputs, job, kind, number):
        self.folder = os.path.join(top, "s%d" % slots.setdefault(threading.get_ident(), len(slots)))
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        self.work, scratch = os.path.join(self.folder, "w"), os.path.join(self.folder, "t")
        shutil.copytree(inputs, self.work, symlinks=True)
        os.mkdir(scratch)
        for name in job.results if job.old else []:
            with open(os.path.join(self.work, name), "wb") as f:
                f.write(OLD)
        self.before = self.listing()
        report, failed = os.path.join(self.folder, "report"), os.path.join(self.folder, "failed")
        env = {k: v for k, v in os.environ.items() if not k.startswith(("CUBIND", "FAULT", "LIBRARY_PATH"))}
        env.update(TMPDIR=scratch, FAULT_REPORT=report, LC_ALL="C.UTF-8")
        program = [] if "/" in job.argv[0] else [CUBIND]
        if kind == "limit":
            command = [*job.argv, str(number)]
            env.update(LD_PRELOAD=PRELOAD)
        elif kind == "call":
            command = [CALLS, str(number), failed, *program, *job.argv]
            env["FAULT_PRELOAD"] = PRELOAD
        else:
            command = [*program, *job.argv]
            env.update(LD_PRELOAD=PRELOAD, FAULT_AT=str(number), **({"FAULT_ALL": "1"} if kind == "all" else {}))
        with open(os.devnull, "rb") as null:
            # an own session: no signal of a terminal, and /dev/null for what is read
            done = subprocess.run(command, cwd=self.work, env=env, stdin=null, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=LIMIT)
        self.code, self.out = done.returncode, done.stdout
        self.err = done.stderr.decode("utf-8", "replace").replace(self.folder, "FOLDER")
        self.what = self.text(failed).strip()
        counts = re.match(r"allocations (\d+) live (-?\d+) descriptors (\d+)", self.text(report))
        self.counts = [int(c) for c in counts.groups()] if counts else None
        self.after, self.scratch = self.listing(), os.listdir(scratch)

    def text(self, path):
        try:
            with open(path) as f:
                return f.read()
        except OSError:
            return ""

    def listing(self):
        found = {}
        for folder, _, names in os.walk(self.work):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, self.work)] = f.read()
        return found


def stable(name, data):
    """A result without what differs from run to run."""
    if name == "repro.tar" and data != OLD:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            members = [m.name.encode() + b"\n" + archive.extractfile(m).read() for m in archive if m.isfile()]
        data, name = b"".join(members), "register"
    if name in ("time", "register"):
        data = re.sub(rb"\d{9,}|\d+\.\d+", b"N", re.sub(rb"([/_])s\d+([/_])", rb"\1s\2", data))
    return data


def messages(text):
    """The messages of a run, without what is only told."""
    return [line for line in text.splitlines() if re.match(r"(cubind|cuobjdump)(?! info)", line)]


def problems(job, good, run, kind):
    """What is wrong with a run in which something failed."""
    found = []
    as_good = run.code == good.code
    call = run.what.split()[0] if kind == "call" else ""
    to_stderr = kind == "call" and re.match(r"(write|writev|fcntl) 2$", run.what)
    extra = len(messages(run.err)) - len(messages(good.err))
    if run.counts is None:
        found.append("it did not end in order")
    elif run.counts[1] > good.counts[1] and (as_good or os.path.isabs(job.argv[0])):
        # a program that ends early for want of memory leaves that to the system
        found.append("%d blocks of memory are left" % (run.counts[1] - good.counts[1]))
    elif run.counts[2] > good.counts[2]:
        found.append("%d descriptors are left" % (run.counts[2] - good.counts[2]))
    if not as_good and run.code not in job.codes:
        found.append("exit status %d" % run.code)
    if not as_good and os.path.isabs(job.argv[0]):
        pass  # the library prints nothing
    elif not as_good and not to_stderr:
        if good.code == 0 and not 1 <= extra <= (1 if kind != "call" else 5) + (job.name == "link-records"):
            # without a library more is missing; records fail for themselves
            found.append("%d messages" % extra)
        if kind != "call" and "emory" not in run.err:
            found.append("the message says nothing of memory")
    if as_good and run.out != good.out:
        found.append("another text, and status %d" % run.code)
    removing = call in ("unlink", "unlinkat", "rmdir")
    inside = lambda name: job.folder and name.startswith(job.folder + "/")
    for name in sorted(set(run.before) | set(run.after) | set(good.after)):
        now = run.after.get(name)
        wanted = good.after.get(name) if as_good else run.before.get(name)
        record = name in ("repro.tar", "time")  # written also of a link that fails
        if inside(name) and not as_good and now in (None, good.after.get(name)):
            continue
        if now is None and wanted is None or (now is not None and wanted is not None and
                                              stable(name, now) == stable(name, wanted)):
            continue
        if (record and not as_good) or (removing and name not in run.before):
            continue
        if call in ("getcwd", "readlink") and name in ("register", "repro.tar"):
            continue  # they name files by where these lie, if that can be said
        found.append("%s is %s" % (name, "not there" if now is None else "another" if wanted is not None else "left"))
    if run.scratch and not removing:
        found.append("left in TMPDIR: %s" % run.scratch)
    return found


def points(top, inputs, job, good):
    """(kind, number) of all that can fail."""
    total = good.counts[0]
    calls = int(Run(top, inputs, job, "call", 0).what.split()[1])
    limits = [int(LEAST_LIMIT * 1.04 ** n) for n in range(LIMITS)] if os.path.isabs(job.argv[0]) else []
    return ([(k, n + 1) for k in ("memory", "all") for n in range(total)] + [("call", n + 1) for n in range(calls)] +
            [("limit", n) for n in limits])


def examine(top, inputs, job, good, point):
    try:
        run = Run(top, inputs, job, *point)
    except subprocess.TimeoutExpired:
        return None, ["no end in %d s" % LIMIT]
    return run, problems(job, good, run, point[0])


def show(job, point, run, found):
    print("%s %s, %s %d%s: %s" % ("FAIL" if found else "ok  ", job.name, *point,
                                  " (%s)" % run.what if run and run.what else "", "; ".join(found)))
    if run:
        print("    exit status %d; %s" % (run.code, run.err.strip().replace("\n", "\n    ")[-400:]))


def do_job(top, inputs, job, pool, args):
    """(passed, failed)"""
    good = Run(top, inputs, job, "memory", 0)
    if good.counts is None or good.code not in (0, 1, 255):
        print("FAIL %s: a good run: status %d\n%s" % (job.name, good.code, good.err))
        return 0, 1
    if args.at:
        kind, number = args.at.split(":")
        run, found = examine(top, inputs, job, good, (kind, int(number)))
        show(job, (kind, int(number)), run, found)
        return not found, bool(found)
    all_points = points(top, inputs, job, good)[::args.every]
    failed = 0
    for point, (run, found) in zip(all_points, pool.map(lambda p: examine(top, inputs, job, good, p), all_points)):
        if found:
            failed += 1
            show(job, point, run, found)
    kinds = [sum(p[0] == kind for p in all_points) for kind in ("memory", "all", "call", "limit")]
    print("%s %s: %d allocations alone, %d with those behind them, %d system calls%s" % (
        "FAIL" if failed else "ok  ", job.name, *kinds[:3], ", %d limits" % kinds[3] if kinds[3] else ""))
    sys.stdout.flush()
    return len(all_points) - failed, failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--at")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("-j", type=int, default=2)
    args = parser.parse_args()
    if not os.path.exists(PRELOAD) or subprocess.run([CALLS, "0", os.devnull, "true"]).returncode:
        print("system calls cannot be made to fail here: it needs Linux on x86-64, glibc, and ptrace")
        return 77
    if subprocess.run([CUBIND, "version"], env=dict(os.environ, LD_PRELOAD=PRELOAD), stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode:
        print("allocations cannot be made to fail in this build: it has a sanitizer")
        return 77
    top = tempfile.mkdtemp()
    passed = failed = 0
    try:
        inputs = prepare(top)
        with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
            for job in jobs(args.long or args.only):
                if not args.only or job.name == args.only:
                    p, f = do_job(top, inputs, job, pool, args)
                    passed, failed = passed + p, failed + f
    finally:
        shutil.rmtree(top)
    print("%d points at which something failed" % (passed + failed))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
