#!/usr/bin/env python3
"""CUBIND_COMPARE: another nvlink does the work, cubind repeats it and says what differs.  The other nvlink is a
script here, which gives cubind's bytes, other bytes, or fails."""

import os
import subprocess
import tarfile
import tempfile

from _checks import expect, finish
from _nvlink import CUBIND, EMULATE, ROOT

SAMPLES = [os.path.join(ROOT, "samples", n) for n in ("reduce.cubin", "mathlib.cubin")]
SAME = '#!/bin/sh\nexec "%s" link %s "$@"\n' % (CUBIND, EMULATE)
# the same, then one byte of the output is another
OTHER = SAME.replace("exec ", "") + 'printf X | dd of=out bs=1 seek=%d conv=notrunc 2>/dev/null\n'
FAILS = '#!/bin/sh\necho "nvlink fatal   : no" >&2\nexit 3\n'


class Bench:
    def __init__(self, folder):
        self.folder = folder
        os.symlink(CUBIND, os.path.join(folder, "nvlink"))

    def link(self, script, args=("-arch=sm_90", *SAMPLES, "-o", "out"), **more):
        path = os.path.join(self.folder, "theirs")
        with open(path, "w") as f:
            f.write(script)
        os.chmod(path, 0o755)
        return subprocess.run(["./nvlink", *args], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, CUBIND_COMPARE=path, TMPDIR=self.folder, **more))

    def bytes(self, name):
        with open(os.path.join(self.folder, name), "rb") as f:
            return f.read()

    def left(self):
        return sorted(set(os.listdir(self.folder)) - {"nvlink", "theirs"})


def repeat(folder, archive):
    """Unpacks the archive and runs its script; the result's bytes."""
    with tarfile.open(os.path.join(folder, archive)) as tar:
        tar.extractall(folder)
    top = os.path.join(folder, archive[:-4])
    done = subprocess.run(["sh", os.path.join(top, "link.sh")], env=dict(os.environ, CUBIND=CUBIND))
    with open(os.path.join(top, "out"), "rb") as f:
        return done.returncode, f.read()


def main():
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(folder)
        done = b.link(SAME)
        expect("equal: silent", (done.returncode, done.stdout, done.stderr) == (0, "", ""), done)
        expect("equal: nothing is left", b.left() == ["out"], b.left())
        right = b.bytes("out")

        done = b.link(OTHER % 0x50)
        expect("different: nvlink's code", done.returncode == 0, done)
        expect("different: nvlink's bytes", b.bytes("out")[0x50:0x51] == b"X")
        expect("different: one line", done.stderr.count("\n") == 1 and
               "'out' differs from cubind's at byte 0x50 in .shstrtab" in done.stderr, done.stderr)
        expect("different: archive", b.left() == ["out", "out.cubind-compare.tar"], b.left())
        expect("different: repeated", repeat(folder, "out.cubind-compare.tar") == (0, right))

        os.makedirs(os.path.join(folder, "reports"))
        b.link(OTHER % 0x50, CUBIND_COMPARE_DIR="reports")
        expect("archive in the chosen folder",
               os.listdir(os.path.join(folder, "reports")) == ["out.cubind-compare.tar"])

        done = b.link(FAILS)
        expect("nvlink fails: its code", done.returncode == 3, done)
        expect("nvlink fails: its message and a line", done.stderr.startswith("nvlink fatal   : no\n") and
               "nvlink ended with 3, cubind with 0" in done.stderr, done.stderr)
        done = b.link('#!/bin/sh\nexit 0\n', ["-arch=sm_90", "missing.o", "-o", "out"])
        expect("cubind fails: nvlink's code and cubind's words", done.returncode == 0 and
               "cubind with 1 and said: nvlink fatal   : Could not open input file 'missing.o'" in done.stderr,
               done.stderr)
        done = b.link(FAILS, ["-arch=sm_90", "missing.o", "-o", "out"])
        expect("both fail: only nvlink's words", done.stderr == "nvlink fatal   : no\n", done.stderr)
        os.unlink(os.path.join(folder, "theirs"))
        done = subprocess.run(["./nvlink", "-V"], cwd=folder, stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, CUBIND_COMPARE="./theirs"))
        expect("no such nvlink", done.returncode == 1 and "./theirs" in done.stderr, done)
    finish()


main()
