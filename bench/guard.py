#!/usr/bin/env python3
"""Holds the cost of five fixed links against stored budgets: instructions (callgrind) and peak memory.

usage: guard.py [--build FOLDER] [--record | --make [JOB...]]

More than 3 % above a budget fails and names the functions that grew.  Instruction counts belong to a
compiler and a C library, so budgets are kept for the pair that made them; another pair is skipped.
--record writes new budgets after a change that is meant to cost or to save; --make builds the inputs
anew (needs ptxas).  The inputs are programs of bench.py's shapes, so small that all of it takes half a
minute, and one function of many blocks, whose memory once grew with the square of its size.
"""
import argparse
import collections
import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
STORE = os.path.join(HERE, "guard")
BUDGETS = os.path.join(STORE, "budgets.json")
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
sys.dont_write_bytecode = True
import scale  # noqa: E402

# name -> (shape, target, modules, functions of each (blocks: blocks of its one function), options)
JOBS = {
    "tiny": ("wide", "90", 1, 2, []),
    "wide": ("wide", "90", 200, 20, []),
    "chain": ("chain", "90", 200, 20, []),
    "capsules": ("wide", "100", 60, 10, []),
    "blocks": ("blocks", "100", 1, 1000, ["-g"]),
}
MARGIN = 1.03
MEMORY_SLACK = 512 << 10  # what pages, file systems and the place of the loader make of the same program
SHOWN = 8


def archive(job):
    return os.path.join(STORE, job + ".tar.xz")


def one_function(head, blocks):
    """PTX of a kernel that skips blocks of loads, doubles, barriers and stores."""
    text = head + """.visible .entry k(.param .u64 a, .param .u64 b)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    .reg .f64 %f<3>;
    .reg .pred %p;
    .shared .b32 s[64];
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    mov.f64 %f1, 0d0000000000000000;
"""
    for i in range(blocks):
        text += """    ld.global.u32 %%r1, [%%rd1+%d];
    setp.eq.u32 %%p, %%r1, %d;
    @%%p bra L%d;
    ld.global.f64 %%f2, [%%rd2+%d];
    fma.rn.f64 %%f1, %%f1, %%f2, %%f2;
    st.shared.u32 [s+%d], %%r1;
    bar.sync 0;
    ld.shared.u32 %%r2, [s+%d];
    st.global.u32 [%%rd2+%d], %%r2;
L%d:
""" % (4 * i, i, i, 8 * i, i % 64 * 4, (i + 7) % 64 * 4, 4 * i, i)
    return text + "    st.global.f64 [%rd2], %f1;\n    ret;\n}\n"


def make(job):
    """Assembles a job's inputs and stores them."""
    shape, arch, modules, functions, _ = JOBS[job]
    head = scale.HEAD
    if arch != "90":
        scale.HEAD = ".version 9.0\n.target sm_%s\n.address_size 64\n" % arch
    if shape == "blocks":
        texts = [one_function(scale.HEAD, functions)]
    else:
        texts = [scale.module(shape, m, functions) for m in range(modules)]
        texts.append(scale.last_module(shape, modules, functions))
    scale.HEAD = head
    with tempfile.TemporaryDirectory() as d, tarfile.open(archive(job), "w:xz") as tar:
        for i, text in enumerate(texts):
            source, name = os.path.join(d, "x.ptx"), "m%03d.cubin" % i
            with open(source, "w") as f:
                f.write(text)
            subprocess.run(["ptxas", "-c", "-arch=sm_" + arch, source, "-o", os.path.join(d, name)], check=True)
            info = tar.gettarinfo(os.path.join(d, name), name)
            info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
            with open(os.path.join(d, name), "rb") as f:
                tar.addfile(info, f)


def unpack(job, folder):
    """The names of the job's inputs, in order."""
    with tarfile.open(archive(job)) as tar:
        names = sorted(tar.getnames())
        for name in names:
            with open(os.path.join(folder, os.path.basename(name)), "wb") as f:
                f.write(tar.extractfile(name).read())
    return names


# the C library counts what it reads of its surroundings, too
SURROUNDINGS = {"PATH": "/usr/bin:/bin"}


def instructions(argv, folder):
    """{function: instructions of its own} of a run."""
    out = os.path.join(folder, "callgrind.out")
    subprocess.run(["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=" + out, *argv], cwd=folder,
                   env=SURROUNDINGS, check=True, stdout=subprocess.DEVNULL)
    names, counts, where, called = {}, collections.Counter(), None, False
    with open(out) as f:
        for line in f:
            head = re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line)
            if head:
                if head[3]:
                    names[head[2]] = head[3].strip()
                if not head[1]:
                    where = head[2]
            elif line.startswith("calls="):
                called = True  # the next line is what the callee took
            elif line[0] in "0123456789+-*":
                if not called:
                    counts[where] += int(line.split()[1])
                called = False
    total = collections.Counter()
    for number, count in counts.items():
        # what the compiler split off belongs to its function
        total[re.sub(r"\.(part|isra|constprop|cold|lto_priv)[.\d]*|'\d+$", "", names[number])] += count
    return total


def no_large_pages():
    """Which blocks get pages of two megabytes is up to the kernel, and differs from run to run."""
    PR_SET_THP_DISABLE = 41
    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)


def peak_memory(argv, folder):
    """Peak resident bytes: the least of nine runs.  What the kernel tells the parent includes the
    parent's own, so a small program starts the job."""
    least = []
    for _ in range(9):
        run = subprocess.run(["/usr/bin/time", "-f", "%M", *argv], cwd=folder, capture_output=True, text=True,
                             env=SURROUNDINGS, preexec_fn=no_large_pages)
        if run.returncode:
            sys.exit("guard: a job fails: %s\n%s" % (" ".join(argv), run.stderr))
        least.append(int(run.stderr.split()[-1]))
    return min(least) << 10


def measure(cubind, job):
    _, arch, _, _, options = JOBS[job]
    with tempfile.TemporaryDirectory() as folder:
        names = unpack(job, folder)
        os.symlink(os.path.abspath(cubind), os.path.join(folder, "cubind"))
        argv = ["./cubind", "link", "--threads=1", "-arch=sm_" + arch, *options, *names, "-o", "out"]
        memory = peak_memory(argv, folder)
        functions = instructions(argv, folder)
    return {"instructions": sum(functions.values()), "memory": memory,
            "functions": dict(functions.most_common(60))}


def builder(build):
    """Compiler and C library, by which the budgets are kept."""
    with open(os.path.join(build, "compile_commands.json")) as f:
        compiler = json.load(f)[0]["command"].split()[0]
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    with open(os.path.join(build, "meson-info", "intro-buildoptions.json")) as f:
        options = {o["name"]: o["value"] for o in json.load(f)}
    return "%s, %s, %s, %s" % (version, options["buildtype"], " ".join(platform.libc_ver()), platform.machine())


def judge(job, was, now):
    """Prints the job's line; True when it is within its budget."""
    ratio = now["instructions"] / was["instructions"]
    grown = now["memory"] > was["memory"] * MARGIN + MEMORY_SLACK
    print("%-8s instructions %11d, %.3f of the budget; memory %6d KiB of %6d" % (
        job, now["instructions"], ratio, now["memory"] >> 10, was["memory"] >> 10))
    if ratio > MARGIN:
        print("FAIL %s: more than %d %% above the budget. What grew:" % (job, round(MARGIN * 100 - 100)))
        names = set(was["functions"]) | set(now["functions"])
        more = {n: now["functions"].get(n, 0) - was["functions"].get(n, 0) for n in names}
        for name in sorted(more, key=more.get, reverse=True)[:SHOWN]:
            if more[name] > 0:
                print("  %+12d  %s" % (more[name], name))
    if grown:
        print("FAIL %s: memory is above the budget" % job)
    return ratio <= MARGIN and not grown


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--make", nargs="*", choices=JOBS, metavar="JOB")
    args = parser.parse_args()
    if args.make is not None:
        for job in args.make or JOBS:
            make(job)
        return 0
    if not shutil.which("valgrind") or not os.path.exists("/usr/bin/time"):
        print("guard: skipped: valgrind or GNU time is not installed\n0 passed, 0 failed, %d skipped" % len(JOBS))
        return 0
    key, stored = builder(args.build), {}
    if os.path.exists(BUDGETS):
        with open(BUDGETS) as f:
            stored = json.load(f)
    cubind = os.path.abspath(os.path.join(args.build, "cubind"))
    if not args.record and key not in stored:
        print("guard: skipped: no budgets for %s\n0 passed, 0 failed, %d skipped" % (key, len(JOBS)))
        return 0
    now = {job: measure(cubind, job) for job in JOBS}
    if args.record:
        stored[key] = now
        with open(BUDGETS, "w") as f:
            json.dump(stored, f, indent=1, sort_keys=True)
            f.write("\n")
        return 0
    good = sum(judge(job, stored[key][job], now[job]) for job in JOBS)
    print("%d passed, %d failed, 0 skipped" % (good, len(JOBS) - good))
    return good < len(JOBS)


if __name__ == "__main__":
    sys.exit(main())
