#!/usr/bin/env python3
"""dump, check and diff from the command line: exit codes, selection of parts, JSON, containers."""

import json
import os
import subprocess

from _checks import expect, finish

ROOT = os.environ["CUBIND_ROOT"]
CUBIND = os.environ["CUBIND"]
TMP = os.environ.get("TMPDIR", "/tmp")
REDUCE = os.path.join(ROOT, "samples/reduce.cubin")
MATHLIB = os.path.join(ROOT, "samples/mathlib.cubin")
LINKED = os.path.join(ROOT, "tests/golden/fnptr-global-90-default/expected.cubin")


def run(*args):
    """(exit code, stdout, stderr)"""
    done = subprocess.run([CUBIND, *args], capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def write(name, data):
    path = os.path.join(TMP, name)
    with open(path, "wb") as out:
        out.write(data)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def test_dump():
    code, out, _ = run("dump", REDUCE)
    expect("dump everything", code == 0 and "block_sum" in out and "relocations:" in out)
    code, out, _ = run("dump", "--summary", LINKED)
    expect("dump --summary", code == 0 and "registers" in out and "sections:" not in out)
    code, out, _ = run("dump", "--section", ".nv.callgraph", REDUCE)
    expect("dump --section", code == 0 and "CUDA_CALLGRAPH" in out)
    code, _, err = run("dump", "--section", ".no.such", REDUCE)
    expect("dump: section missing", code == 2 and ".no.such" in err)
    code, out, _ = run("dump", "--json", REDUCE, LINKED)
    document = json.loads(out)
    expect("dump --json", code == 0 and document["schema"] == "cubind-dump/1")
    expect("dump --json: one image a file", len(document["images"]) == 2)
    image = document["images"][0]
    kernels = [f for f in image["summary"] if f["kind"] == "kernel"]
    expect("dump --json: kernels", "block_sum" in [k["name"] for k in kernels], str(kernels))
    expect("dump --json: target", image["header"]["target"] == "sm_90")
    codes = {a["name"] for s in image["info"] for a in s["attributes"]}
    expect("dump --json: attributes", "EIATTR_REGCOUNT" in codes and "EIATTR_KPARAM_INFO" in codes)
    code, out, _ = run("dump", "--json", "--symbols", "--notes", REDUCE)
    image = json.loads(out)["images"][0]
    expect("dump: parts combine", set(image) == {"file", "symbols", "notes"}, str(set(image)))


def test_check():
    code, out, _ = run("check", REDUCE, MATHLIB, LINKED)
    expect("check clean", code == 0 and out == "3 images, 0 findings\n", out)
    damaged = bytearray(read(REDUCE))
    damaged[0x3A] = 63  # e_shentsize
    code, out, _ = run("check", write("entsize.cubin", damaged))
    expect("check: no section table", code == 2 and "[section-entsize]" in out, out)
    damaged = bytearray(read(REDUCE))
    damaged[8] = 7  # ABI version
    path = write("abi.cubin", damaged)
    code, out, _ = run("check", path)
    expect("check: finding", code == 1 and "[abi-osabi]" in out, out)
    code, out, _ = run("check", "--json", path)
    findings = json.loads(out)["images"][0]["findings"]
    expect("check --json", code == 1 and [f["rule"] for f in findings] == ["abi-osabi"])
    code, out, _ = run("check", write("cut.cubin", read(REDUCE)[:3000]))
    expect("check: cut", code == 2 and "[section-table]" in out, out)
    code, _, err = run("check", write("text", b"hello"))
    expect("check: not an ELF file", code == 2 and "not an ELF" in err, err)
    code, _, err = run("check", os.path.join(TMP, "absent"))
    expect("check: absent", code == 2 and "absent" in err, err)
    code, out, _ = run("check", write("elf32.cubin", read(REDUCE)[:4] + b"\1" + read(REDUCE)[5:]))
    expect("check: 32-bit", code == 2 and "32-bit device ELF" in out, out)
    code, out, _ = run("check", "--list-rules")
    ids = [line.split()[0] for line in out.splitlines()]
    expect("check --list-rules", code == 0 and len(ids) > 60 and len(ids) == len(set(ids)))


def test_diff():
    expect("diff: same", run("diff", REDUCE, REDUCE)[0] == 0)
    code, out, _ = run("diff", REDUCE, MATHLIB)
    expect("diff: different", code == 1 and "symbol .symtab: only in A: block_sum" in out, out)
    code, out, _ = run("diff", "--brief", REDUCE, MATHLIB)
    expect("diff --brief", code == 1 and out.count("\n") == 1)
    code, out, _ = run("diff", "--json", REDUCE, MATHLIB)
    document = json.loads(out)
    expect("diff --json", code == 1 and not document["pairs"][0]["same"])
    longer = write("longer.cubin", read(REDUCE) + b"\0" * 8)
    code, out, _ = run("diff", REDUCE, longer)
    expect("diff: layout", code == 1 and "layout" in out, out)
    expect("diff --semantic", run("diff", "--semantic", REDUCE, longer)[0] == 0)
    expect("diff: unreadable", run("diff", REDUCE, os.path.join(TMP, "absent"))[0] == 2)
    expect("diff: one file", run("diff", REDUCE)[0] == 2)


def test_options():
    for command in ("dump", "check", "diff"):
        code, out, _ = run(command, "--help")
        expect(f"{command} --help", code == 0 and out.startswith(f"Usage: cubind {command}"))
        expect(f"{command}: unknown option", run(command, "--nonsense", REDUCE)[0] == 2)
        expect(f"{command}: no file", run(command)[0] == 2)


def main():
    test_dump()
    test_check()
    test_diff()
    test_options()
    finish()


if __name__ == "__main__":
    main()
