#!/usr/bin/env python3
"""The links of the table tests (tests/unit/modules.h) are equal to nvlink's: so are their figures.

Runs the unit tests with CUBIND_MODULES set, which leaves their links in folders, and links those
again with both programs.  Needs nvlink; without it, it prints one line and is skipped.
"""
import glob
import os
import subprocess
import sys
import tempfile

import _nvlink
from _checks import part

BUILD = os.environ.get("CUBIND_BUILD", os.path.dirname(_nvlink.CUBIND))
TESTS = ["attributes", "compat", "constants", "drawn", "optimizer_constants", "propagate", "relocate", "resolve", "runtime",
         "shared"]


def linked(program, folder, words):
    """What a linker makes of a folder: exit status, messages, output."""
    out = os.path.join(folder, "out")
    if os.path.exists(out):
        os.remove(out)
    done = subprocess.run([*program, *words, "-o", "out"], cwd=folder, capture_output=True, text=True,
                          errors="replace")
    data = None
    if os.path.exists(out):
        with open(out, "rb") as f:
            data = f.read()
    return done.returncode, done.stderr, data


def difference(nvlink, folder):
    """Links with the options of each line, the second time what the first made; None if all is equal."""
    files = sorted(os.path.basename(p) for p in glob.glob(os.path.join(folder, "m*.cubin")))
    with open(os.path.join(folder, "options")) as f:
        steps = f.read().splitlines()
    for step in steps:
        words = step.split() + files
        want = linked([nvlink], folder, words)
        got = linked([_nvlink.CUBIND, "link", _nvlink.EMULATE], folder, words)
        if want[0] < 0:    # it crashed
            break
        if want != got:
            return "%s: nvlink %d %s | cubind %d %s" % (" ".join(words), want[0], want[1], got[0], got[1])
        if want[2] is None:
            break
        files = ["step.cubin"]
        os.replace(os.path.join(folder, "out"), os.path.join(folder, files[0]))
    return None


def main():
    nvlink = _nvlink.real_nvlink()
    if not nvlink:
        print("no nvlink to compare with")
        return 77
    programs = [os.path.join(BUILD, "tests", "unit", "test_" + name) for name in TESTS]
    if not all(map(os.path.exists, programs)):
        print("the unit tests are not built: cmocka is missing")
        return 77
    passed = failed = 0
    with tempfile.TemporaryDirectory() as root:
        for program in programs:
            subprocess.run([program], check=True,
                           env=dict(os.environ, CUBIND_MODULES=root), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        for folder in part(sorted(glob.glob(os.path.join(root, "*"))), 3):
            differs = difference(nvlink, folder)
            if differs:
                failed += 1
                print("FAIL %s %s" % (os.path.basename(folder), differs))
            else:
                passed += 1
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
