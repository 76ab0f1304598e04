#!/usr/bin/env python3
"""Changed copies of sound files through every fuzz target (tests/fuzz/mutants.c): no crash, no hang, no output
larger than 64 times its input and 64 MiB.

Usage: mutants.py [COUNT [SEED [JOBS]]].  Without arguments a fixed short run; with COUNT the seeds are the
links of the golden archives, too, and finds are kept in build/finds.
"""
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

from _nvlink import ROOT

BUILD = os.environ.get("CUBIND_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.path.join(BUILD, "tests", "fuzz", "mutants")
SHORT = 45000       # inputs
SMALL = 24 * 1024   # bytes of a seed
STORED = ["samples", "tests/cases/inputs"]


def unpack(folder):
    """The small inputs of the archives of goldens, each once."""
    for name in sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "*.tar.xz"))):
        with tarfile.open(name) as archive:
            for member in archive:
                if not member.isfile() or member.size > SMALL or "/in/" not in member.name:
                    continue
                data = archive.extractfile(member).read()
                with open(os.path.join(folder, hashlib.sha1(data).hexdigest()), "wb") as f:
                    f.write(data)


def main():
    if not os.path.exists(PROGRAM):
        print("this build has no %s" % os.path.relpath(PROGRAM, ROOT))
        return 77
    count, seed, jobs = ([int(a, 0) for a in sys.argv[1:]] + [0, 1, 1][len(sys.argv) - 1:])[:3]
    folders = [os.path.join(ROOT, f) for f in STORED] + sorted(glob.glob(os.path.join(ROOT, "tests/golden/*/in")))
    top = tempfile.mkdtemp()
    finds = os.path.join(BUILD, "finds") if count else top
    os.makedirs(finds, exist_ok=True)
    if count:
        unpack(top)
        folders.append(top)
    command = ["nice", PROGRAM, "-n", str((count or SHORT) // jobs), "-o", finds]
    running = [subprocess.Popen([*command, "-s", str(seed + i), *folders]) for i in range(jobs)]
    failed = sum(p.wait() != 0 for p in running)
    shutil.rmtree(top)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
