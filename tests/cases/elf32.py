#!/usr/bin/env python3
"""Device files of class 32, made of the test inputs: what reads them says the same of them."""

import json
import os
import subprocess
import tempfile

from _checks import expect, finish
from _elf32 import narrow
from _nvlink import CUBIND, INPUTS

SIZES = ("entsize", "offset", "size", "align")


def run(*args):
    p = subprocess.run([CUBIND, *args], capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def image(path):
    code, out, err = run("dump", "--json", path)
    assert code == 0, err
    return json.loads(out)["images"][0]


def without_sizes(node):
    """What does not depend on the class."""
    if isinstance(node, list):
        return [without_sizes(x) for x in node]
    if not isinstance(node, dict):
        return node
    return {k: without_sizes(v) for k, v in node.items()
            if k not in ("header", "segments", "file", "member") and
            not (k in SIZES and "entsize" in node)}


def same_tables(wide, legacy, folder):
    path = os.path.join(folder, "narrow.cubin")
    with open(wide, "rb") as f, open(path, "wb") as g:
        g.write(narrow(f.read(), legacy))
    old, new = image(wide), image(path)
    label = "%s, OSABI 0x%s" % (os.path.basename(wide), "33" if legacy else "41")
    expect("dump: class, " + label, new["header"].get("class") == 32)
    expect("dump: segments, " + label, [(s["type"], s["memory_size"] > 0) for s in old["segments"]]
           == [(s["type"], s["memory_size"] > 0) for s in new["segments"]])
    expect("dump: " + label, without_sizes(old) == without_sizes(new))
    code, out, _ = run("check", "--pedantic", path)
    expect("check: " + label, code == 0 and "0 findings" in out, out)


def damaged(folder):
    """Tables of other record sizes, and what does not lie inside the file."""
    with open(os.path.join(INPUTS, "a.cubin"), "rb") as f:
        sound = narrow(f.read())
    for at, size, value, rule in ((40, 2, 64, "header-size"), (46, 2, 64, "section-entsize"),
                                  (32, 4, 1 << 20, "section-table"), (32, 4, 51, "section-table"),
                                  (48, 2, 0xfff, "section-table"), (44, 2, 3, "program-entsize")):
        data = bytearray(sound)
        data[at:at + size] = value.to_bytes(size, "little")
        path = os.path.join(folder, "damaged.cubin")
        with open(path, "wb") as f:
            f.write(data)
        code, out, _ = run("check", path)
        expect("check: %s at %d" % (rule, at), code in (1, 2) and "[%s]" % rule in out, out)


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(INPUTS, n) for n in ("a.cubin", "b.cubin", "a75.cubin", "b75.cubin")]
        for arch, inputs in (("sm_90", files[:2]), ("sm_75", files[2:])):
            for mode in ([], ["-r"]):
                files.append(os.path.join(folder, "linked-%s%s.cubin" % (arch, "".join(mode))))
                code, _, err = run("link", "-arch=" + arch, *mode, *inputs, "-o", files[-1])
                expect("link for %s %s" % (arch, mode), code == 0, err)
        for path in files:
            for legacy in (True, False):
                same_tables(path, legacy, folder)
        damaged(folder)
    finish()


if __name__ == "__main__":
    main()
