#!/usr/bin/env python3
"""All tools that look for mistakes that no test names, one after the other, and a table of what they found.

usage: sanitize.py [--quick] [TOOL...]

asan       unit tests, cases, goldens and stored fuzzing inputs with AddressSanitizer and UBSan
tsan       8 threads with 100 links each, every one another; loops in threads; goldens with threads
valgrind   unit tests and commands under memcheck: also what is not initialised
clang-tidy all files, with the checks of .clang-tidy
analyzer   gcc -fanalyzer over the library and the program

--quick takes a part of the tests.  What a machine lacks is skipped.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
ANALYZER = os.path.join(ROOT, "build-analyzer")
SAMPLES = [os.path.join(ROOT, "samples", n) for n in ("reduce.cubin", "mathlib.cubin")]
# What gcc gets wrong: file, warning, why.
MISTAKEN = {
    ("src/base/output_file.c", "-Wanalyzer-malloc-leak"): "entries of an array own their bytes; gcc 12 loses the array",
}
# these measure time or memory, or need minutes
NOT_IN_VALGRIND = {"test_threads", "test_parallel", "test_demangle", "test_scoreboard"}
LIMIT = 3600


def run(command, **more):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=LIMIT, **more)


def counts(text):
    """(passed, failed) of the last line that has them."""
    found = re.findall(r"^(\d+) passed, (\d+) failed", text, re.M)
    return tuple(map(int, found[-1])) if found else (0, 1)


def tests(command):
    done = run(command)
    passed, failed = counts(done.stdout)
    if done.returncode and not failed:
        failed = 1
    return "%d tests" % (passed + failed), failed, done.stdout if failed else ""


def asan(quick):
    return tests(["./dev", "asan", *(["unit"] if quick else ["unit", "cases", "golden", "replay"])])


def tsan(quick):
    done = run(["./dev", "tsan"])
    ok = len(re.findall(r"^\[       OK \]|^ok ", done.stdout, re.M))
    links = sum(int(n) for n, _ in re.findall(r"^(\d+) passed, (\d+) failed", done.stdout, re.M))
    found = done.stdout.count("WARNING: ThreadSanitizer")
    if done.returncode and not found:
        found = 1
    return "%d tests (800 links in 8 threads), %d goldens" % (ok, links), found, done.stdout if found else ""


def valgrind_commands(folder):
    """Commands that between them use most of the program."""
    out = os.path.join(folder, "out")
    new = os.path.join(ROOT, "tests/golden/statics-100-default/expected.cubin")
    cubind = os.path.join(BUILD, "cubind")
    link = [cubind, "link", "-arch=sm_90", *SAMPLES, "-o", out]
    found = [link, link + ["-r"], link + ["-g"], link + ["--map=" + out + ".map", "--dot-file=" + out + ".dot"],
             [cubind, "dump", "--kernels", "--lines", "--demangle", SAMPLES[1]], [cubind, "dump", "--json", new],
             [cubind, "check", "--pedantic", *SAMPLES, new], [cubind, "diff", *SAMPLES], [cubind, "size", *SAMPLES],
             [cubind, "finalize", new, "-arch=sm_103", "-o", out], [cubind, "extract", SAMPLES[0], "-o", out + ".d"]]
    for case in sorted(glob.glob(os.path.join(ROOT, "tests/golden/*/cmd"))):
        with open(case) as f:
            words = f.read().split()
        home = os.path.join(os.path.dirname(case), "in")
        words = [os.path.join(home, w) if os.path.exists(os.path.join(home, w)) else w for w in words]
        if words and not any(w.startswith("-o") for w in words):
            found.append([cubind, "link", *[w for w in words if w != "nvlink"], "-o", out])
    return found


def valgrind(quick):
    if not shutil.which("valgrind"):
        return None, 0, "valgrind is not installed"
    check = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite"]
    found, text, done = 0, "", 0
    with tempfile.TemporaryDirectory() as folder:
        programs = [[p] for p in sorted(glob.glob(os.path.join(BUILD, "tests/unit/test_*")))
                    if os.access(p, os.X_OK) and os.path.isfile(p) and os.path.basename(p) not in NOT_IN_VALGRIND]
        commands = programs + valgrind_commands(folder)
        for command in commands[::4] if quick else commands:
            result = run(check + command)
            done += 1
            if result.returncode == 99 or result.returncode < 0:
                found += 1
                text += " ".join(command) + "\n" + result.stdout
    return "%d programs and commands" % done, found, text


def tidy(quick):
    return tests(["./dev", "lint", *(["--quick"] if quick else [])])


def analyzer(quick):
    version = run(["cc", "--version"]).stdout
    if "Free Software Foundation" not in version:
        return None, 0, "cc is not gcc"
    if not os.path.exists(os.path.join(ANALYZER, "build.ninja")):
        run(["meson", "setup", ANALYZER, "-Dtests=false", "-Dshared=false", "-Dc_args=-fanalyzer"], check=True)
    for folder in glob.glob(os.path.join(ANALYZER, "*.p")):
        shutil.rmtree(folder)  # a warning comes only with its compilation
    done = run(["ninja", "-C", ANALYZER, "cubind"])
    warnings = set(re.findall(r"^\.\./([^:]+):(\d+):\d+: warning: (.*) \[(-Wanalyzer[^]]*)\]", done.stdout, re.M))
    real = sorted(w for w in warnings if (w[0], w[3]) not in MISTAKEN)
    files = len(re.findall(r"Compiling C object", done.stdout))
    text = "\n".join("%s:%s: %s [%s]" % w for w in real)
    return "%d files, %d known to be mistaken" % (files, len(warnings) - len(real)), len(real) + (done.returncode != 0), text


TOOLS = {"asan": asan, "tsan": tsan, "valgrind": valgrind, "clang-tidy": tidy, "analyzer": analyzer}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("tools", nargs="*", choices=[*TOOLS, []])
    args = parser.parse_args()
    rows, found = [], 0
    for name in args.tools or TOOLS:
        start = time.time()
        what, findings, text = TOOLS[name](args.quick)
        rows.append((name, what, findings, time.time() - start))
        found += findings
        if what is None:
            print("skip %s: %s" % (name, text))
        elif findings:
            print("== %s\n%s" % (name, text[-6000:]))
        sys.stdout.flush()
    print("%-12s %-55s %9s %8s" % ("tool", "", "findings", "seconds"))
    for name, what, findings, seconds in rows:
        print("%-12s %-55s %9s %8d" % (name, what or "skipped", findings if what else "", seconds))
    print("%d findings" % found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
