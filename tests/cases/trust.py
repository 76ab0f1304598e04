#!/usr/bin/env python3
"""Nothing lost: results that collide, results of a run that go together, signals, inputs that change, pipes and
devices, streams that cannot be written, archives of links as shell scripts."""

import os
import resource
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time

from _checks import expect, finish, skip
from _nvlink import CUBIND, EMULATE, INPUTS, ROOT

SAMPLES = ["reduce.cubin", "mathlib.cubin"]
LINK = ["link", "-arch=sm_90", *SAMPLES]
TEXT = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")


class Bench:
    """A folder with the samples."""

    def __init__(self, top):
        self.folder = tempfile.mkdtemp(dir=top)
        for name in SAMPLES:
            shutil.copy(os.path.join(ROOT, "samples", name), self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def snapshot(self):
        names = sorted(os.listdir(self.folder))
        return {n: self.read(n) for n in names if os.path.isfile(self.path(n))}

    def run(self, *args, **more):
        more.setdefault("timeout", 60)
        return subprocess.run([CUBIND, *args], cwd=self.folder, **{**TEXT, **more})


def collisions(top):
    b = Bench(top)
    b.write("old", b"old")
    os.link(b.path("reduce.cubin"), b.path("hard"))
    os.symlink("reduce.cubin", b.path("soft"))
    os.mkdir(b.path("d"))
    b.write("options", b"--map m")
    b.write("libx.a", b"!<arch>\n")
    mine = [["-o", "reduce.cubin"], ["-o", "./d/../reduce.cubin"], ["-o", "hard"], ["-o", "soft"]]
    both = [["-o", "out", o + "=" + name] for o in ("--map", "--repro") for name in ("reduce.cubin", "hard", "soft")]
    both += [["-o", "out", "--dot-file=mathlib.cubin"], ["-o", "out", "--register-link-binaries=mathlib.cubin"],
             ["-o", "out", "--time=mathlib.cubin"], ["-o", "old", "--map=old"], ["-o", "new", "--map=./d/../new"],
             ["-o", "new", "--dot-file=new"], ["-o", "out", "--dot-file=new", "--map=new"],
             ["-o", "new", "--register-link-binaries=new"], ["-o", "new", "--time=new"], ["-o", "new", "--repro=new"],
             ["-o", "out", "--options-file=options", "--dot-file=options"]]
    for extra in mine + both:
        for emulate in [[]] + ([[EMULATE]] if extra in both else []):
            before = b.snapshot()
            done = b.run(*LINK, *extra, *emulate)
            what = " ".join(extra + emulate)
            expect("refused: " + what, done.returncode == 1 and "would " in done.stderr and
                   done.stderr.count("fatal") == 1, done)
            expect("nothing written: " + what, b.snapshot() == before)
    done = b.run(*LINK, "-o", "out", "--map=/dev/null", "--dot-file=/dev/null")
    expect("devices do not collide", done.returncode == 0, done)
    done = b.run(*LINK, "-o", "reduce.cubin", EMULATE)
    expect("as nvlink the output may be an input", done.returncode == 0 and b.read("reduce.cubin") == b.read("out") or
           len(b.read("reduce.cubin")) > 0 and done.returncode == 0, done)


def hidden_collision(top):
    """A library that -l finds is read, too."""
    b = Bench(top)
    subprocess.run(["ar", "rcs", b.path("libx.a"), os.path.join(INPUTS, "host.o")], check=True)
    before = b.snapshot()
    done = b.run("link", "-arch=sm_90", *SAMPLES, "-L.", "-lx", "-o", "out", "--map=libx.a")
    expect("a library found by -l is an input", done.returncode == 1 and "would replace" in done.stderr, done)
    expect("it is whole", b.snapshot() == before)


def together(top):
    b = Bench(top)
    b.write("out", b"old output")
    os.chmod(b.path("out"), 0o640)
    b.write("hard", b"old hard link, longer than the new contents" * 1000)
    os.link(b.path("hard"), b.path("hard2"))
    for extra in (["--map=nodir/x"], ["--dot-file=nodir/x"], ["--register-link-binaries=nodir/x"], ["--repro=nodir/x"],
                  ["--map=/dev/full"], ["--time=nodir/x"], ["--map=m", "--dot-file=/dev/full"],
                  ["--map=hard", "--dot-file=/dev/full"]):
        before = b.snapshot()
        done = b.run(*LINK, "-o", "out", *extra)
        what = " ".join(extra)
        expect("fails: " + what, done.returncode == 1 and done.stderr.count("fatal") == 1, done)
        expect("all old: " + what, b.snapshot() == before, sorted(b.snapshot()))
    done = b.run(*LINK, "-o", "out", "--map=m", "--dot-file=hard", "--repro=r.tar", "--durable")
    expect("all new", done.returncode == 0 and sorted(b.snapshot()) ==
           sorted(SAMPLES + ["out", "m", "hard", "hard2", "r.tar"]), (done, sorted(b.snapshot())))
    expect("hard links stay", b.read("hard") == b.read("hard2") and b.read("hard").startswith(b"digraph"))
    expect("the mode stays", os.stat(b.path("out")).st_mode & 0o777 == 0o640)
    os.symlink("target", b.path("dangling"))
    done = b.run(*LINK, "-o", "dangling")
    expect("a dangling link leads to the output", done.returncode == 0 and b.read("target") == b.read("out") and
           os.path.islink(b.path("dangling")))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    for out in ("out", "hard"):
        before = b.snapshot()
        done = b.run(*LINK, "-o", out, preexec_fn=lambda: (limit(), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)))
        expect("too large: %s is as it was" % out, done.returncode == 1 and b.snapshot() == before, done)
        done = b.run(*LINK, "-o", out, preexec_fn=limit)
        expect("SIGXFSZ: %s is as it was" % out, b.snapshot() == before, done)
        expect("SIGXFSZ kills or is reported", done.returncode in (-signal.SIGXFSZ, 1), done)


def main():
    with tempfile.TemporaryDirectory() as top:
        collisions(top)
        hidden_collision(top)
        together(top)
    finish()


if __name__ == "__main__":
    main()
