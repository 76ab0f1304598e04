#!/usr/bin/env python3
"""Links that are large enough to be shared among threads: the same bytes and messages for every number of them."""

import os
import subprocess
import tarfile
import tempfile

from _checks import expect, finish
from _nvlink import CUBIND, INPUTS, ROOT

STORED = os.path.join(ROOT, "bench", "guard")
# name -> target, and options beside none
JOBS = {
    "wide": ("90", ("-r", "-g", "--preserve-relocs", "--force-rela", "--emulate=nvlink-13.0.88")),
    "chain": ("90", ("-r",)),
    "capsules": ("100", ("-r", "-g")),
    "kernels-debug": ("100", ("-r", "--emulate=nvlink-13.0.88")),
}
OTHERS = {"kernels-debug": INPUTS}  # jobs that are kept elsewhere


def unpack(job, folder):
    with tarfile.open(os.path.join(OTHERS.get(job, STORED), job + ".tar.xz")) as tar:
        names = sorted(tar.getnames())
        for name in names:
            with open(os.path.join(folder, name), "wb") as f:
                f.write(tar.extractfile(name).read())
    return names


def link(folder, names, options, threads):
    done = subprocess.run([CUBIND, "link", *options, "--threads", threads, "-o", "out", *names],
                          cwd=folder, capture_output=True, text=True)
    data = b""
    if done.returncode == 0:
        with open(os.path.join(folder, "out"), "rb") as f:
            data = f.read()
    return done.returncode, done.stdout, done.stderr, data


def compare(folder, names, target, option):
    options = ["-arch=sm_" + target] + ([option] if option else [])
    one = link(folder, names, options, "1")
    expect("%s links" % " ".join(options), one[0] == 0, one[2])
    for threads in ("2", "3", "8"):
        other = link(folder, names, options, threads)
        expect("%s in %s threads" % (" ".join(options), threads), other == one, other[2])


def undefined(folder, names):
    """Every kernel lacks a function: what is reported comes in the same order."""
    lacking = names[::2]
    said = {link(folder, lacking, ["-arch=sm_90"], threads)[:3] for threads in ("1", "2", "3", "8")}
    expect("undefined functions for every number", len(said) == 1, str(said)[:500])


def main():
    for job, (target, more) in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            names = unpack(job, folder)
            for option in ("",) + more:
                compare(folder, names, target, option)
            if job == "chain":
                undefined(folder, names)
    finish()


main()
