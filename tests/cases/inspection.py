#!/usr/bin/env python3
"""dump, check and diff from the command line: exit codes, selection of parts, JSON, containers."""

import json
import os
import struct
import subprocess

from _checks import expect, finish
from _files import read, write

ROOT = os.environ["CUBIND_ROOT"]
CUBIND = os.environ["CUBIND"]
TMP = os.environ.get("TMPDIR", "/tmp")
REDUCE = os.path.join(ROOT, "samples/reduce.cubin")
MATHLIB = os.path.join(ROOT, "samples/mathlib.cubin")
DIVISION = os.path.join(ROOT, "tests/cases/inputs/div100.cubin")
HOST = os.path.join(ROOT, "tests/cases/inputs/host.o")
LINKED = os.path.join(ROOT, "tests/golden/fnptr-global-90-default/expected.cubin")


def run(*args):
    """(exit code, stdout, stderr)"""
    done = subprocess.run([CUBIND, *args], capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


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
    expect("check: class 32 in name only", code == 2 and "[section-entsize]" in out, out)
    code, out, _ = run("check", "--list-rules")
    ids = [line.split()[0] for line in out.splitlines()]
    expect("check --list-rules", code == 0 and len(ids) > 60 and len(ids) == len(set(ids)))


def patched(data, offset, layout, *values):
    data = bytearray(data)
    struct.pack_into(layout, data, offset, *values)
    return bytes(data)


def rules(path, *options):
    """exit code, ids of the findings, ids of the notes"""
    code, out, _ = run("check", "--json", *options, path)
    found = json.loads(out)["images"][0]["findings"]
    return (code, {f["rule"] for f in found if not f["note"]},
            {f["rule"] for f in found if f["note"]})


def headers(data):
    offset, count = struct.unpack_from("<40xQ12xH", data)
    return offset, [list(struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * i))
                    for i in range(count)]


def named(data, name):
    """Index of a section."""
    _, table = headers(data)
    names = table[struct.unpack_from("<62xH", data)[0]][4]
    return next(i for i, s in enumerate(table)
                if data[names + s[0]:].startswith(name.encode() + b"\0"))


def with_tables_in_front(data):
    """The file as the assembler of hand-written kernels lays it out: the section table in front,
    the symbol table the first section."""
    _, table = headers(data)
    room = 64 * len(table)
    place = {1: 2, 2: 3, 3: 1}  # .shstrtab, .strtab, .symtab
    moved = list(table)
    for i, s in enumerate(table):
        moved[place.get(i, i)] = [*s[:4], s[4] + room * (i > 0), s[5], place.get(s[6], s[6]), *s[7:]]
    out = patched(data[:64], 40, "<Q", 64)
    out = patched(out, 62, "<H", place[1])
    return out + b"".join(struct.pack("<IIQQQQIIQQ", *s) for s in moved) + data[64:]


def test_certainty():
    """What is certain for compilers' files is a note elsewhere."""
    data = read(MATHLIB)
    type_of_bank = headers(data)[0] + 64 * named(data, ".nv.info") + 4
    sound = with_tables_in_front(data)
    code, findings, notes = rules(write("front.cubin", sound), "--pedantic")
    expect("check: hand-written layout", code == 0 and not findings and "fixed-sections" in notes,
           f"{code} {findings} {notes}")
    odd = with_tables_in_front(patched(data, type_of_bank, "<I", 1))
    expect("check: hand-written type", rules(write("odd.cubin", odd), "--pedantic")[0] == 0)
    expect("check: compiled type", "section-type" in
           rules(write("type.cubin", patched(data, type_of_bank, "<I", 1)))[1])
    expect("check: notes are not shown", rules(write("front.cubin", sound)) == (0, set(), set()))

    early = data.replace(b".note.nv.cuinfo\0", b".note.nv.cuver\0\0")
    code, findings, notes = rules(write("early.cubin", early), "--pedantic")
    expect("check: early compiler", code == 0 and {"needed-section", "section-known"} <= notes,
           f"{code} {findings} {notes}")
    linked, note = read(LINKED), b"NVIDIA Corp\0\2\0\0\0"
    first = linked.index(note) + len(note) - 4
    later = linked.index(note, first) + len(note) - 4
    expect("check: an input by an early compiler",
           rules(write("input.cubin", patched(linked, later, "<I", 128))) == (0, set(), set()))
    expect("check: a link by an early linker", "tkinfo-note" in
           rules(write("linker.cubin", patched(linked, first, "<I", 128)))[1])
    code, out, _ = run("check", "--pedantic", REDUCE)
    expect("check --pedantic", code == 0 and out == "1 image, 0 findings, 0 notes\n", out)


def test_new_kinds_of_records():
    """A record of a class that was not seen with its opcode is no fault: programs have others."""
    data = read(DIVISION)
    _, out, _ = run("dump", "--capsule", "--json", DIVISION)
    entries = [e for c in json.loads(out)["images"][0]["capsules"] for e in c["entries"]]
    record = bytes.fromhex(next(e["record"] for e in entries if e["opcodes"] == [0xb82]))
    at = data.index(record)
    for what, offset in (("class", 1), ("encoding", 2)):
        path = write(what + ".cubin", patched(data, at + offset, "<B", 0x7f))
        expect(f"check: new {what}", rules(path) == (0, set(), set()) and
               rules(path, "--pedantic") == (0, set(), {"capsule-kinds"}), rules(path, "--pedantic"))


def test_functions_in_a_function():
    """Executables of ptxas have subroutines inside of a kernel's section, with lengths of their own."""
    data = read(DIVISION)
    expect("check: division", run("check", "--pedantic", DIVISION)[0] == 0)
    table = headers(data)[1][named(data, ".nv.merc.symtab")]
    for i in range(table[5] // 24):
        at = table[4] + 24 * i
        info, section, value, size = struct.unpack_from("<4xBxHQQ", data, at)
        if info & 15 != 2 or not size:
            continue
        for what, change in (("length", (8, size + 0x800)), ("start", (0, value + 0x800))):
            broken = patched(data, at + 8 + change[0], "<Q", change[1])
            expect(f"check: Mercury {what} of symbol {i}",
                   "capsule-length" in rules(write("length.cubin", broken))[1])


def test_nothing_to_see():
    """Files without machine code: what they are instead."""
    plain = write("plain.o", b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack(
        "<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, 1, 0) + b"\0" * 64)
    ptx = os.path.join(ROOT, "tests/cases/inputs/a.ptx")
    for command in ("dump", "check"):
        code, out, err = run(command, plain)
        expect(f"{command}: host object", (code, out) == (0, "") and
               err == f"cubind {command}: {plain}: no machine code: it is a host object\n", err)
        code, out, err = run(command, ptx)
        expect(f"{command}: PTX", (code, out) == (0, "") and
               err == f"cubind {command}: {ptx}: no machine code: it is PTX\n", err)
    code, out, err = run("extract", plain)
    expect("extract: host object", (code, out) == (0, "") and
           err == f"cubind extract: {plain}: no device code: it is a host object\n", err)
    code, out, err = run("extract", "--arch", "75", HOST)
    expect("extract: nothing meant", (code, out) == (0, "") and "1 image, none" in err, err)


def test_extract_folder():
    """-o creates the folder, and says why it cannot."""
    folder = os.path.join(TMP, "new/folder/")
    code, out, err = run("extract", "-o", folder, HOST)
    expect("extract -o creates", (code, out, err) == (0, "1 image written\n", "") and
           len(os.listdir(folder)) == 1, out + err)
    expect("extract -o again", run("extract", "-o", folder, HOST)[0] == 0)
    taken = write("taken", b"")
    for path in (taken, os.path.join(taken, "x")):
        code, _, err = run("extract", "-o", path, HOST)
        expect("extract -o: no folder", code == 2 and "Not a directory" in err, err)
    unused = os.path.join(TMP, "unused")
    run("extract", "-o", unused, MATHLIB, "--arch", "75")
    expect("extract -o without images", not os.path.exists(unused))


def test_bare_images():
    """Outside of a fatbin an image says itself for what it is, and of which version."""
    ltoir = bytearray(64)
    struct.pack_into("<IBB", ltoir, 0, 0x7F4E43ED, 1, 65)
    struct.pack_into("<IxxxxxxH", ltoir, 16, 40, 900)
    ptx = b".version 8.7\n.target sm_90a\n.address_size 64\n" + b"//\n" * 20
    for path, kind, arch, version in ((write("bare.ltoir", ltoir), "ltoir", "lto_90", "1.65"),
                                      (write("bare.ptx", ptx), "ptx", "compute_90a", "8.7"), (REDUCE, "cubin", "sm_90", "1.8")):
        code, out, _ = run("extract", "--json", path)
        rows = [(i["kind"], i["arch"], i["version"]) for i in json.loads(out)["images"]]
        expect("extract: %s by itself" % kind, code == 0 and rows == [(kind, arch, version)], out)


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
    test_certainty()
    test_new_kinds_of_records()
    test_functions_in_a_function()
    test_nothing_to_see()
    test_extract_folder()
    test_bare_images()
    test_diff()
    test_options()
    finish()


if __name__ == "__main__":
    main()
