#!/usr/bin/env python3
"""Runs test suites and counts.

usage: run.py --build FOLDER [--jobs N] [--tally FILE] [--label PREFIX] [--filter TEXT]
              [--skip NAME]... [--timeout SECONDS] [--sample N] [--short] [--slowest N] SUITE...

suites: unit    the programs FOLDER/tests/unit/test_*
        cases   the scripts tests/cases/*.py and *.sh (one behaviour of the command line each)
        golden  tests/golden/run.py
        replay  stored fuzzing inputs through every fuzz target, tests/fuzz/fuzz.py --replay
        api     the scripts tests/api/*.py and *.sh (exports, headers, packages, example)

A test is a program.  Exit 0 passes, 77 skips, anything else fails.  If it prints TAP ("ok 1 - ...",
"not ok 2 - ...", "ok 3 # SKIP why"), or a last line "N passed, N failed[, N skipped]", its own counts
are used.  What is skipped says why: in a line "skip NAME: why", behind "# SKIP", or, of a program
that exits 77, in its last line.  Without a reason it fails, and so does a suite in which nothing
ran.  It finds what it needs in the environment: CUBIND (the program), CUBIND_BUILD (the build
folder), CUBIND_ROOT (this repository), and a TMPDIR of its own that is removed afterwards.

All programs of all suites share the jobs, so that no suite waits for the last of another; those that
take longest (SLOW) begin first.  The slowest are named at the end, with the processor time that they took.
"""

import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\.?$")
TIMEOUT = 2400  # against what hangs; machines of continuous integration can be slow
# Begun first, so that none of them is what all wait for in the end.
SLOW = ["builds.py", "capsule_damage.py", "run.py", "mutants.py", "hostile_commands.py", "faults.py", "modules.py",
        "growth.py", "threads.py", "link_time.py", "jit.py", "toolkit_inputs.py", "disagree.py", "dlink.py",
        "options.py", "test_drawn"]
RUNNING = set()
PROGRAMS = {"golden": "tests/golden/run.py", "replay": "tests/fuzz/fuzz.py"}


def find(suite, build):
    """The programs of a suite, sorted."""
    if suite == "unit":
        found = glob.glob(os.path.join(build, "tests/unit/test_*"))
        return sorted(f for f in found if os.path.isfile(f) and os.access(f, os.X_OK))
    if suite in ("golden", "replay"):
        found = [os.path.join(ROOT, PROGRAMS[suite])]
        return [f for f in found if os.path.exists(f)]
    found = []
    for pattern in ("*.py", "*.sh"):
        found += glob.glob(os.path.join(ROOT, "tests", suite, pattern))
    # files that start with an underscore are helpers
    tests = sorted(f for f in found if not os.path.basename(f).startswith("_"))
    for f in tests:
        if not os.access(f, os.X_OK):
            sys.exit("%s is not executable" % os.path.relpath(f, ROOT))
    return tests


def count(output, code):
    """(passed, failed, skipped) of one program from what it printed and its exit status."""
    lines = output.splitlines()
    for line in reversed(lines):
        if line.strip():
            match = SUMMARY.match(line.strip())
            if match:
                p, f, s = (int(g or 0) for g in match.groups())
                return (p, f or int(code not in (0, 77)), s)
            break
    # cmocka says "not ok 2 # SKIP name"
    results = [l for l in lines if re.match(r"(not )?ok \d+", l)]
    skipped = sum(1 for l in results if "# SKIP" in l)
    passed = sum(1 for l in results if l.startswith("ok") and "# SKIP" not in l)
    failed = len(results) - skipped - passed
    if code == 77 and passed + failed == 0:
        return (0, 0, skipped or 1)
    if passed + failed + skipped:
        return (passed, failed or int(code != 0), skipped)
    return (1, 0, 0) if code == 0 else (0, 1, 0)


def reasons(output, code):
    """Why something was skipped: one line each."""
    lines = [l.strip() for l in output.splitlines() if l.strip()]
    found = [l[len("skip "):] for l in lines if l.startswith("skip ")]
    for line in lines:
        match = re.match(r"ok \d+ -? ?(.*?)# SKIP (\S.*)", line)
        if match:
            found.append("%s: %s" % (match.group(1).strip(), match.group(2)))
    if not found and code == 77:
        found = [l for l in lines if not SUMMARY.match(l)][-1:]
    return found


def why_empty(suite, build):
    """What is the matter with a suite that has no programs."""
    if suite == "unit" and os.path.isdir(build):
        return "no test ran: %s was configured where cmocka was not installed" % build
    return "no test ran"


def run_one(path, build, timeout, sample):
    scratch = tempfile.mkdtemp(prefix="cubind-test-")
    # looking for them takes as long as a small link; the other suites and the fuzzers do it
    leaks = not ("CUBIND_SHORT" in os.environ and os.path.dirname(path).endswith("cases"))
    env = dict(
        os.environ,
        CUBIND=os.path.join(build, "cubind"),
        CUBIND_BUILD=build,
        CUBIND_ROOT=ROOT,
        TMPDIR=scratch,
        CMOCKA_MESSAGE_OUTPUT="TAP",
        LC_ALL="C.UTF-8",
        ASAN_OPTIONS="detect_leaks=%d:allocator_may_return_null=1:exitcode=99:" % leaks + os.environ.get("ASAN_OPTIONS", ""),
        UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1:exitcode=99",
    )
    command = [sys.executable, path] if path.endswith(".py") else [path]
    if path.endswith(PROGRAMS["golden"]):
        command += ["--cubind", env["CUBIND"], "--every", str(sample)]
    elif path.endswith(PROGRAMS["replay"]):
        command += ["--replay", build]
    started = time.monotonic()
    child = subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL, errors="replace", start_new_session=True,
    )
    RUNNING.add(child)
    late = threading.Timer(timeout, lambda: os.killpg(child.pid, signal.SIGKILL))
    late.start()
    try:
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    finally:
        RUNNING.discard(child)
        late.cancel()
        child.stdout.close()
        shutil.rmtree(scratch, ignore_errors=True)
    took = time.monotonic() - started
    if child.returncode == -signal.SIGKILL and took >= timeout:
        return output + "\ntimed out after %d seconds\n" % timeout, 1, took, 0
    return output, child.returncode, took, usage.ru_utime + usage.ru_stime


def judge(suite, path, output, code):
    """(passed, failed, skipped) of one program, and a word about what did not pass."""
    counts, name = count(output, code), os.path.basename(path)
    why = reasons(output, code) if counts[2] else []
    if counts[1]:
        print("FAIL %s %s (exit %d)" % (suite, name, code))
        print("\n".join("    " + l for l in output.splitlines()[-60:]))
    elif counts[2] and not why:
        print("FAIL %s %s: skips without saying why" % (suite, name))
        counts = (counts[0], 1, counts[2])
    for line in why:
        print("skip %s %s: %s" % (suite, name, line))
    return counts


def when(path):
    """The place of a program in the order of starts."""
    name = os.path.basename(path)
    return SLOW.index(name) if name in SLOW else len(SLOW)


def collect(found, runs, args, times):
    """Judges every program, suite by suite; returns (passed, failed, skipped) of all."""
    total = [0, 0, 0]
    for suite, programs in found.items():
        sums = [0, 0, 0]
        for path in programs:
            output, code, took, processor = runs[path].result()
            times.append((took, processor, suite, os.path.basename(path)))
            sums = [a + b for a, b in zip(sums, judge(suite, path, output, code))]
            sys.stdout.flush()
        if not any(sums) and not args.filter:
            print("FAIL %s: %s" % (suite, why_empty(suite, args.build)))
            sums[1] = 1
        print("%s%s: %d passed, %d failed, %d skipped" % (args.label, suite, *sums))
        if args.tally:
            with open(args.tally, "a") as tally:
                tally.write("%s%s %d %d %d\n" % (args.label, suite, *sums))
        total = [a + b for a, b in zip(total, sums)]
    return total


def stop(pool):
    """Ends what runs: in groups of their own, programs do not hear of an interrupt."""
    pool.shutdown(wait=False, cancel_futures=True)
    for child in list(RUNNING):
        os.killpg(child.pid, signal.SIGKILL)
    sys.exit("stopped")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tally")
    parser.add_argument("--label", default="")
    parser.add_argument("--filter", default="", help="only programs whose name contains this")
    parser.add_argument("--skip", action="append", default=[], help="not the program of this name")
    parser.add_argument("--timeout", type=int, default=TIMEOUT, help="seconds per program")
    parser.add_argument("--sample", type=int, default=1, metavar="N",
                        help="of the golden archives only every Nth link")
    parser.add_argument("--short", action="store_true",
                        help="a part of the long lists of the scripts, which find CUBIND_SHORT in the environment")
    parser.add_argument("--slowest", type=int, default=10, metavar="N", help="how many are named with their times")
    parser.add_argument("suites", nargs="+")
    args = parser.parse_args()
    if args.short:
        os.environ["CUBIND_SHORT"] = "1"
    build = args.build = os.path.abspath(args.build)
    found = {suite: [p for p in find(suite, build) if args.filter in os.path.basename(p)
                     and os.path.basename(p) not in args.skip] for suite in args.suites}
    times = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, args.jobs)) as pool:
        runs = {path: pool.submit(run_one, path, build, args.timeout, args.sample)
                for path in sorted(sum(found.values(), []), key=when)}
        try:
            total = collect(found, runs, args, times)
        except KeyboardInterrupt:
            stop(pool)
    for took, processor, suite, name in sorted(times, reverse=True)[:args.slowest]:
        print("%6.1f s, %6.1f s of processor time: %s%s %s" % (took, processor, args.label, suite, name))
    if args.filter and not any(total):
        print("FAIL no test of these suites has %s in its name" % args.filter)
        total[1] = 1
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
