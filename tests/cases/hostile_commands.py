#!/usr/bin/env python3
"""Every command of the program on changed copies of sound files, with all it can be asked, with hostile words on the
command line and in the environment: no crash, no hang, no file but those asked for, a message where it fails.

Usage: hostile_commands.py [COUNT [SEED]]: so many inputs of each kind (20).
"""
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

from _checks import SHORT
from _nvlink import CUBIND, ROOT

BUILD = os.environ.get("CUBIND_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.path.join(BUILD, "tests", "fuzz", "mutants")
SEEDS = [os.path.join(ROOT, "samples"), os.path.join(ROOT, "tests/golden/statics-100-default/in"),
         os.path.join(ROOT, "tests/cases/inputs")]
TARGETS = ["object", "slices"]      # of the mutants: objects, containers
SECONDS, MEMORY, OUTPUT = 10, 4 << 30, 96 << 20
ARCHES = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_103", "sm_120", "sm_90a", "compute_90"]
WORDS = ["", "-", "--", "-o", "\x1b[2J", "'; touch owned; '", "$(touch owned)", "%s%n", "a" * 70000, "../../x", "@in", "-" * 5000,
         "\udcff\udcfe", "a\nb", "a,b,,\"c", "\\", "'", "\"", "/dev/null", "-optf", "0x7fffffffffffffff", "-1", "1e99", "sm_90", "in"]
ENVIRONMENT = ["LIBRARY_PATH", "TMPDIR", "CUBIND_CACHE", "CUBIND_COMPARE_DIR", "PATH", "HOME", "CUBIND_EDBG", "CAN_FINALIZE_DEBUG",
               "LC_ALL", "NO_COLOR", "COLUMNS"]

failures = []
count = 0


def limits():
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
    if "asan" not in CUBIND and "tsan" not in CUBIND:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def commands(rng, arch):
    """Command lines that read the file `in`, and what each may write."""
    one = rng.choice
    link = ["link", "-arch=" + arch]
    return [
        (link + ["in", "-o", "out"], {"out"}),
        (link + ["in", "mathlib.cubin", "-o", "out", "-r", one(["-g", "-v", "--force-rela", "-preserve-relocs"])], {"out"}),
        (link + ["mathlib.cubin", "in", "-o", "out", "-g", "-v", "-dump-callgraph", "-extrawarn"], {"out"}),
        (link + ["in", "-o", "out", "--map=m", "--dot-file=d", "--why-live", one("kfg"), "--trace-symbol", one("kfg")],
         {"out", "m", "d"}),
        (link + ["in", "-o", "out", "--repro=t.tar", "--time=s", "--register-link-binaries=b"], {"out", "t.tar", "s", "b"}),
        (link + ["-L.", "-lin", "-o", "out", "--emulate", "nvlink-13.0.88"], {"out"}),
        (["dump", "--all", "--kernels", "--lines", "--capsule", "--demangle", *one([[], ["--json"]]), "in"], set()),
        (["dump", "--section", one([".text.k", ".nv.info", "", ".strtab"]), "--sort", "size", "in"], set()),
        (["check", "--pedantic", *one([[], ["--json"]]), "in"], set()),
        (["diff", *one([["in", "mathlib.cubin"], ["mathlib.cubin", "in"], ["in", "in"]])], set()),
        (["extract", "in", "-o", "folder"], {"folder"}),
        (["extract", "--json", "in"], set()),
        (["size", one(["--json", "--tsv", "--top=3"]), "--by", "all", "in"], set()),
        (["size", "--diff", "in", "mathlib.cubin"], set()),
        (["finalize", "in", "-arch", one(["sm_103", "sm_121", "sm_100a"]), "-o", "out", *one([[], ["--self-check"], ["--edbg"]])],
         {"out"}),
        (["prune", "-arch=" + arch, "in", "-o", "out"], {"out"}),
        (["bundle", "--create=out", "--image3=kind=elf,sm=90,file=in", *one([[], ["--compress-all"]])], {"out"}),
        (["dlink", "-arch=" + arch, "in", "-cubin", "-o", "out"], {"out"}),
    ]


def target_of(path, rng):
    """Mostly the object's own."""
    with open(path, "rb") as f:
        head = f.read(64)
    own = "sm_%d" % int.from_bytes(head[49:51], "little")
    return own if head[:4] == b"\x7fELF" and own in ARCHES and rng.random() < 0.8 else rng.choice(ARCHES)


def run(argv, allowed, what, environment=None, name=None):
    """One run in the folder of this process."""
    global count
    count += 1
    before = set(os.listdir("."))
    try:
        done = subprocess.run([CUBIND, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=SECONDS * (10 if "san" in BUILD or "coverage" in BUILD else 1), preexec_fn=limits,
                              env=environment)
        wrong = None
        if done.returncode < 0 or b"Sanitizer" in done.stderr:
            wrong = "ended with %d: %s" % (done.returncode, done.stderr[-300:])
        elif done.returncode and not done.stderr and not done.stdout:
            wrong = "exit status %d without a word" % done.returncode
        elif b"\x1b" in done.stderr and "--emulate" not in argv:
            wrong = "control characters reach the terminal"
    except subprocess.TimeoutExpired:
        wrong = "more than %d seconds" % SECONDS
    new = set(os.listdir(".")) - before
    if new - allowed:
        wrong = wrong or "left %s" % sorted(new - allowed)
    for path in new:
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    if wrong:
        failures.append(what)
        kept = os.path.join(BUILD, "finds")
        os.makedirs(kept, exist_ok=True)
        if name and os.path.exists(name):
            shutil.copy(name, os.path.join(kept, what))
        print("FAIL %s: cubind %s: %s" % (what, " ".join(a[:40] for a in argv), wrong))


def mutants(folder, seed, number):
    """So many of each kind, in files of their own."""
    for target in TARGETS:
        for i in range(number):
            subprocess.run([PROGRAM, "-s", str(seed), "-t", target, "-1", str(i), "-o", folder, *SEEDS], stdout=subprocess.DEVNULL,
                           check=True)
            yield "%s-%d-%d" % (target, seed, i)


def words(rng, number):
    """Words that say nothing sensible, in any place, and in the environment."""
    names = ["link", "dump", "check", "diff", "extract", "size", "finalize", "prune", "bundle", "dlink", "help", "version"]
    for _ in range(number):
        argv = [rng.choice(names)] + [rng.choice(WORDS) for _ in range(rng.randrange(1, 5))]
        if rng.random() < 0.5:
            argv[1:1] = ["-arch=sm_90", "mathlib.cubin"]
        environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
        for variable in rng.sample(ENVIRONMENT, 3):
            environment[variable] = rng.choice([w for w in WORDS if "\0" not in w])
        run(argv, set(WORDS) | {"a.out", "elf.o", "x"}, "words", environment)
        if os.path.exists("owned"):
            failures.append("words")
            print("FAIL words: a shell ran %r" % argv)
            os.unlink("owned")


def main():
    if not os.path.exists(PROGRAM):
        print("this build has no tests/fuzz/mutants")
        return 77
    number, seed = ([int(a, 0) for a in sys.argv[1:]] + [8 if SHORT else 20, 1][len(sys.argv) - 1:])[:2]
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as top, tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        shutil.copy(os.path.join(ROOT, "samples", "mathlib.cubin"), work)
        for what in mutants(top, seed, number):
            for name in ("in", "libin.a"):
                shutil.copy(os.path.join(top, what), os.path.join(work, name))
            for argv, allowed in commands(rng, target_of("in", rng)):
                run(argv, allowed, what, name="in")
        words(rng, number * 5)
        os.chdir(ROOT)
    print("%d passed, %d failed, 0 skipped" % (count - len(failures), len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
