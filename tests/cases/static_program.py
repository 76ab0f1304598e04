#!/usr/bin/env python3
"""The program linked statically: the same bytes, and link-time optimization by the program beside it."""

import os
import shutil
import sys
import tempfile

from _checks import expect, finish, skip

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(HERE)))
DYNAMIC = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
BUILD = os.environ.setdefault("CUBIND_BUILD", os.path.dirname(DYNAMIC))
STATIC = os.path.join(BUILD, "tests", "static", "cubind")
WORKER = "cubind-nvjitlink"
LINK = ["link", "-arch=sm_90", *(os.path.join(ROOT, "tests/cases/inputs", n) for n in ("a.cubin", "b.cubin"))]
os.environ["CUBIND"] = STATIC
import link_time  # noqa: E402  its checks are of the program that CUBIND names


def where_the_worker_is(folder):
    """Beside the program it was found so far."""
    link = ["link", "-arch=sm_90", "-dlto", "-o", "out", "a.fatbin", "--nvjitlink=" + link_time.FAKE]
    folder.write("result", folder.read("linked"))
    os.makedirs(os.path.join(folder.path, "bin"))
    alone = os.path.join(folder.path, "bin", "cubind")
    shutil.copy(STATIC, alone)
    code, text = folder.run(alone, *link, FAKE_OUTPUT="result")
    expect("a program without its worker", code == 1 and "elfLink linker library load error" in text and
           WORKER in text, text)
    place = os.path.join(folder.path, "libexec", "cubind")
    os.makedirs(place)
    shutil.copy(os.path.join(os.path.dirname(STATIC), WORKER), place)
    os.symlink(alone, os.path.join(folder.path, "elsewhere"))
    for name in (alone, os.path.join(folder.path, "elsewhere")):
        code, text = folder.run(name, *link, FAKE_OUTPUT="result")
        expect("%s as it is installed" % os.path.basename(name), code == 0, text)
    code, text = folder.run(os.path.join(place, WORKER))
    expect("the worker by hand", code == 1 and "by cubind alone" in text, text)


def main():
    if not os.path.exists(STATIC):
        skip("static program", "it is not built")
        finish()
    with tempfile.TemporaryDirectory() as path:
        folder = link_time.Folder(path)
        link_time.without_toolkit(folder)
        by_static = folder.read("linked")
        folder.run(DYNAMIC, *LINK, "-o", "linked")
        expect("the same bytes", folder.read("linked") == by_static)
        if os.path.exists(link_time.FAKE):
            where_the_worker_is(folder)
    finish()


if __name__ == "__main__":
    sys.exit(main())
