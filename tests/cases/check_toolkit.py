#!/usr/bin/env python3
"""`cubind check` finds no fault in any image of the toolkit's libraries.

Without arguments a quick selection; `./dev check-toolkit` takes all of them, or those of the folders
and files that it is given.  Skipped where there is no toolkit.
"""

import concurrent.futures
import os
import re
import subprocess
import sys

import _toolkit

ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
# compilers' images of all targets, hand-written ones, and those of early compilers
QUICK = ["libcudadevrt.a", "libcheckpoint.so", "libcudnn_cnn.so.9", "libcufft.so.12",
         "libcurand.so.10", "libcusparse.so.12"]


def check(path):
    """images, notes, and what is wrong"""
    done = subprocess.run(["nice", CUBIND, "check", "--pedantic", path], capture_output=True,
                          text=True, errors="replace")
    lines = done.stdout.splitlines()
    wrong = [line for line in lines[:-1] if ": note: " not in line]
    total = re.fullmatch(r"(\d+) images?, (\d+) findings?, (\d+) notes?", lines[-1] if lines else "")
    if total:
        images, findings, notes = map(int, total.groups())
        if findings != len(wrong) or (done.returncode != 0) != (findings > 0):
            wrong.append("exit %d, %s" % (done.returncode, lines[-1]))
        return images, notes, wrong
    if done.returncode == 0 and not lines and ": no machine code: " in done.stderr:
        return 0, 0, []
    return 0, 0, wrong + ["exit %d, %s" % (done.returncode, done.stderr[:300])]


def chosen(arguments):
    folder = _toolkit.library_folder()
    if arguments and arguments != ["--all"]:
        paths = []
        for a in arguments:
            paths += _toolkit.libraries(a) if os.path.isdir(a) else [a]
        return paths
    if not folder:
        return []
    found = _toolkit.libraries(folder)
    if arguments:
        return found
    names = {os.path.realpath(os.path.join(folder, n)) for n in QUICK}
    return [p for p in found if os.path.realpath(p) in names]


def main():
    paths = chosen(sys.argv[1:])
    if not paths:
        print("no toolkit with libraries (nvcc on PATH)")
        return 77
    images = notes = findings = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path, (count, noted, wrong) in zip(paths, pool.map(check, paths)):
            images, notes, findings = images + count, notes + noted, findings + len(wrong)
            failed += bool(wrong)
            print("%-44s %6d images, %d findings, %d notes" % (os.path.basename(path), count,
                                                               len(wrong), noted))
            for line in wrong[:10]:
                print("    " + line)
            sys.stdout.flush()
    print("%d images of %d libraries: %d findings, %d notes" % (images, len(paths), findings, notes))
    print("%d passed, %d failed" % (len(paths) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
