#!/usr/bin/env python3
"""size: its totals are those of a count that shares no code with it, its tables add up, and what it says of templates and of equal code is so.

usage: size.py [LIBRARY...]    compares these (as a test: small libraries of the toolkit)"""

import collections
import csv
import io
import json
import os
import subprocess
import sys

import _count
from _checks import expect, finish, skip
from _containers import ELF, elf, entry, fatbin
from _files import read, write
from _toolkit import library_folder

ROOT = os.environ["CUBIND_ROOT"]
CUBIND = os.environ["CUBIND"]
SMALL = ["libcudadevrt.a", "libcudnn_ops.so.9", "libcublas.so.13", "libcurand.so.10", "libcudnn_cnn.so.9"]


def run(*args):
    done = subprocess.run([CUBIND, *args], capture_output=True, check=False, text=True)
    return done.returncode, done.stdout, done.stderr


def size(*args):
    code, out, err = run("size", "--json", *args)
    assert code == 0, err
    return json.loads(out)


def golden(name):
    return os.path.join(ROOT, "tests/golden", name, "expected.cubin")


def tables_add_up(name, document):
    total = document["total"]
    for table in ("target", "section", "image"):
        rows = document["tables"][table]
        expect("%s: by %s" % (name, table), sum(r["code"] + r["other"] for r in rows) == total["size"])
    for table in ("target", "section", "file", "image", "function", "template"):
        rows = document["tables"][table]
        expect("%s: code by %s" % (name, table), sum(r["code"] for r in rows) == total["code"])
        order = [(-r["code"] - r["other"], r["name"].encode()) for r in rows]
        expect("%s: %s sorted" % (name, table), order == sorted(order))


def compare(path):
    """The whole program against _count.py."""
    name = os.path.basename(path)
    theirs, ours = _count.count(path), size(path)
    expect(name + ": totals", ours["total"] == theirs, (ours["total"], theirs))
    tables_add_up(name, ours)
    summary = run("dump", "--summary", "--json", path)[1]
    code = sum(row["code"] for image in json.loads(summary)["images"] for row in image["summary"])
    expect(name + ": dump --summary", code == theirs["code"], (code, theirs["code"]))
    return theirs


def test_goldens():
    folder = os.path.join(ROOT, "tests/golden")
    stored = [golden(n) for n in sorted(os.listdir(folder)) if os.path.exists(golden(n))]
    # Of -g -suppress-debug-info -kernels-used nvlink writes symbols that lie outside their section, which no
    # inspector takes.
    files = [f for f in stored if run("check", f)[0] == 0]
    expect("nearly all goldens are sound", len(files) > 0.9 * len(stored), (len(files), len(stored)))
    entries = [entry(ELF, "90", read(f), pack) for f in files for pack in ("", "zstd", "lz4")]
    if _count.ZSTD and _count.LZ4:
        compare(write("all.so", elf([(".nv_fatbin", fatbin(*entries))], e_type=3)))
    else:
        skip("goldens against the script", "libzstd or liblz4 is missing")
    tables_add_up("goldens", size(*files))


def test_templates():
    document = size(golden("templates-75-default"))
    names = {r["name"]: r for r in document["tables"]["template"]}
    functions = document["tables"]["function"]
    expect("templates are one row", len(names) < len(functions) and not any("<" in n or "(" in n for n in names), names)


def test_files():
    document = size(golden("lineinfo-90-default"))
    files = document["tables"]["file"]
    expect("source files", any(r["name"].endswith(".cu") for r in files), files)
    none = size(golden("diamond-90-kernels"))["tables"]["file"]
    expect("no lines", [r["name"] for r in none] == ["(no lines recorded)"], none)


def test_identical():
    path = golden("diamond-90-kernels")
    document = size(path, path, path)
    rows = document["tables"]["identical"]
    functions = document["tables"]["function"]
    expect("three copies", {r["count"] for r in rows} == {3} and len(rows) == len(functions), rows)
    expect("one copy", size(path)["tables"]["identical"] == [] or
           all(r["count"] > 1 for r in size(path)["tables"]["identical"]))


def test_formats():
    path = golden("lineinfo-90-default")
    code, out, _ = run("size", "--tsv", path)
    rows = list(csv.DictReader(io.StringIO(out), delimiter="\t", quoting=csv.QUOTE_NONE))
    document = size(path)
    count = collections.Counter(r["table"] for r in rows)
    expect("TSV has the rows of JSON", code == 0 and count.pop("total") == 1 and
           count == {k: len(v) for k, v in document["tables"].items() if v}, count)
    expect("TSV totals", int(rows[0]["total"]) == document["total"]["size"])
    code, out, _ = run("size", path)
    expect("text", code == 0 and out.startswith("1 image: %d bytes stored" % document["total"]["stored"]), out)
    expect("no bar in a pipe", "##" not in out)
    code, out, _ = run("size", "--by", "function", "--top", "1", path)
    expect("--top", out.count("\n") == (6 if len(document["tables"]["function"]) > 1 else 5), out)
    one = document["tables"]["function"][0]["name"]
    expect("--filter", [r["name"] for r in size("--by", "function", "--filter", one, path)["tables"]["function"]] == [one])
    expect("--by", list(size("--by", "target", path)["tables"]) == ["target"])
    expect("--arch", size("--arch", "75", path)["total"]["images"] == 0)
    code, _, err = run("size", "--by", "colour", path)
    expect("--by: a wrong word", code == 2 and "target, section" in err, err)


def test_diff():
    old, new = golden("fnptr-global-90-default"), golden("lineinfo-90-default")
    code, out, _ = run("size", "--diff", "--json", old, new)
    document = json.loads(out)
    total = document["total"]
    before, after = size(old), size(new)
    expect("--diff: totals", code == 1 and total["change"] == after["total"]["size"] - before["total"]["size"], total)
    was = {r["name"]: r["code"] + r["other"] for r in before["tables"]["function"]}
    now = {r["name"]: r["code"] + r["other"] for r in after["tables"]["function"]}
    changed = {n: now.get(n, 0) - was.get(n, 0) for n in set(was) | set(now) if now.get(n, 0) != was.get(n, 0)}
    rows = document["tables"]["function"]
    expect("--diff: rows", {r["name"]: r["change"] for r in rows} == changed, rows)
    expect("--diff: largest first", [abs(r["change"]) for r in rows] == sorted((abs(c) for c in changed.values()),
                                                                               reverse=True))
    code, out, _ = run("size", "--diff", "--by", "function", old, old)
    expect("--diff: nothing", code == 0 and out.startswith("+0 bytes"), out)
    code, out, _ = run("size", "--diff", "--tsv", "--by", "target", old, new)
    expect("--diff: TSV", out.splitlines()[1].split("\t")[1] == "%+d" % total["change"], out)
    expect("--diff: two files", run("size", "--diff", old)[0] == 2)


def test_toolkit():
    found = library_folder()
    if not found:
        skip("toolkit libraries", "there is no toolkit")
        return
    for name in SMALL:
        path = os.path.join(found, name)
        if os.path.exists(path):
            compare(path)


if len(sys.argv) > 1:
    for library in sys.argv[1:]:
        print(os.path.basename(library), compare(library), flush=True)
else:
    test_goldens()
    test_templates()
    test_files()
    test_identical()
    test_formats()
    test_diff()
    test_toolkit()
finish()
