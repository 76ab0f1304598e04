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


def links(arch, names, mode, folder):
    """What is linked of files of class 32 is the link of class 64, in class 32."""
    results = []
    for bits in ("64", "32"):
        place = os.path.join(folder, bits)
        os.makedirs(place, exist_ok=True)
        for name in names:
            with open(os.path.join(INPUTS, name), "rb") as f, \
                    open(os.path.join(place, name), "wb") as g:
                data = f.read()
                g.write(data if bits == "64" else narrow(data))
        p = subprocess.run([CUBIND, "link", "-arch=" + arch, *mode, *names, "-o", "out.cubin"] +
                           (["--elf32"] if bits == "32" else []), cwd=place,
                           capture_output=True, text=True)
        with open(os.path.join(place, "out.cubin"), "rb") as f:
            results.append((p.returncode, p.stderr, f.read()))
    wide, small = results
    expect("link --elf32: %s %s" % (arch, mode),
           (wide[0], wide[1], narrow(wide[2])) == small, "%s%s" % (wide[:2], small[:2]))


def refusals(folder):
    path = os.path.join(folder, "small.cubin")
    with open(os.path.join(INPUTS, "a.cubin"), "rb") as f, open(path, "wb") as g:
        g.write(narrow(f.read()))
    for args, why in (
        (["-arch=sm_90", path], "size does not match target '-m64'"),
        (["-arch=sm_90", "--elf32", os.path.join(INPUTS, "a.cubin")],
         "size does not match target '-m32'"),
        (["-arch=sm_100", "--elf32", os.path.join(INPUTS, "m100.cubin")], "ELF32"),
    ):
        out = os.path.join(folder, "refused.cubin")
        code, _, err = run("link", *args, "-o", out)
        expect("refused: " + why, code != 0 and why in err and not os.path.exists(out), err)


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
        for mode in ([], ["-r"], ["-g"], ["-preserve-relocs"]):
            links("sm_90", ["a.cubin", "b.cubin"], mode, folder)
            links("sm_75", ["a75.cubin", "b75.cubin"], mode, folder)
        refusals(folder)
    finish()


if __name__ == "__main__":
    main()
