#!/usr/bin/env python3
"""The pages for tasks, tried as a reader would: each `$` command of docs/how-to-*.md is run, in order, and must print what stands below it.

usage: pages.py [--write]    --write puts what the commands print into the pages"""

import glob
import os
import re
import shutil
import subprocess
import sys

from _checks import expect, finish

ROOT = os.environ.get("CUBIND_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUBIND = os.environ.get("CUBIND") or os.path.join(ROOT, "build/cubind")
TMP = os.environ.get("TMPDIR") or os.path.join(ROOT, "build")


def run(folder, command):
    env = dict(os.environ, LC_ALL="C", PATH=os.path.join(TMP, "bin") + ":" + os.environ["PATH"])
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return done.stdout


def tried(path):
    """The page with what its commands print now."""
    folder = os.path.join(TMP, os.path.basename(path))
    os.mkdir(folder)
    for name in ("reduce.cubin", "mathlib.cubin"):
        shutil.copy(os.path.join(ROOT, "samples", name), folder)
    with open(path) as f:
        lines = f.read().split("\n")
    made, at = [], 0
    while at < len(lines):
        match = re.match(r"( {4,})\$ (.*)", lines[at])
        made.append(lines[at])
        at += 1
        if not match:
            continue
        indent = match.group(1)
        while at < len(lines) and lines[at].startswith(indent) and not lines[at].startswith(indent + "$ "):
            at += 1
        # blank lines inside of an output
        while at < len(lines) - 1 and lines[at] == "" and lines[at + 1].startswith(indent) and "$ " not in lines[at + 1][:len(indent) + 2] \
                and not re.match(r" {4,}(export|CUDA|PATH|meson|cb_)", lines[at + 1]) and made[-1].startswith(indent):
            at += 1
            while at < len(lines) and lines[at].startswith(indent) and not lines[at].startswith(indent + "$ "):
                at += 1
        out = run(folder, match.group(2)).rstrip("\n")
        made += [indent + line if line else "" for line in out.split("\n")] if out else []
        expect("%s: %s" % (os.path.basename(path), match.group(2)), "unknown option" not in out and "Segmentation" not in out, out)
    return "\n".join(made)


os.mkdir(os.path.join(TMP, "bin"))
os.symlink(CUBIND, os.path.join(TMP, "bin/cubind"))
pages = sorted(glob.glob(os.path.join(ROOT, "docs/how-to-*.md")))
expect("there are pages", len(pages) == 5, pages)
for page in pages:
    text = tried(page)
    if sys.argv[1:] == ["--write"]:
        with open(page, "w") as f:
            f.write(text)
    with open(page) as f:
        stored = f.read()
    expect(os.path.basename(page) + " is true", stored == text,
           "\n".join(l for l in text.split("\n") if l not in stored.split("\n")) + "\n(pages.py --write)")
    for link in re.findall(r"\]\(([^)#]+)", stored):
        expect("%s: %s is there" % (os.path.basename(page), link), os.path.exists(os.path.join(ROOT, "docs", link)))
finish()
