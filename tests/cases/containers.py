#!/usr/bin/env python3
"""What of every kind of container is linked, as with nvlink: fatbins, host objects, cubins."""

import os
import struct

from _containers import (CAPSULE, ELF, LTOIR, PTX, WRAPPER, archive, elf, entry, fatbin, host_object,
                         member)
from _elf32 import narrow
from _nvlink import Table

A = "-arch=sm_90"
O = ["-o", "out.cubin"]
FILES = {}
CASES = []


def case(name, files, args=(), arch=A):
    """Links the files, {name: bytes}, after b.cubin (which defines what a.cubin calls)."""
    FILES.update(files)
    CASES.append((name, [arch] + list(args) + list(files) + O))


def patched(data, offset, form, *values):
    piece = struct.pack(form, *values)
    return data[:offset] + piece + data[offset + len(piece):]


def build(read):
    a, b, a75, b75, a80 = (read(n + ".cubin") for n in ("a", "b", "a75", "b75", "a80"))

    # every compression and every way to hold a cubin
    for pack in ("", "lz4", "zstd"):
        tag = pack or "stored"
        fa, fb = fatbin(entry(ELF, "90", a, pack)), fatbin(entry(ELF, "90", b, pack))
        case(tag + " fatbins", {"a-%s.fatbin" % tag: fa, "b-%s.fatbin" % tag: fb})
        case(tag + " host objects", {"a-%s.o" % tag: host_object(fa, "_a"),
                                     "b-%s.o" % tag: host_object(fb, "_b")},
             ["--register-link-binaries=reg.c"])
        case(tag + " for 75", {"a75-%s.fatbin" % tag: fatbin(entry(ELF, "75", a75, pack)),
                               "b75-%s.o" % tag: host_object(fatbin(entry(ELF, "75", b75, pack)))},
             arch="-arch=sm_75")
        case(tag + " mixed", {"mix-%s.fatbin" % tag: fatbin(entry(ELF, "75", a75, pack),
                                                            entry(ELF, "80", a80, pack),
                                                            entry(ELF, "90", b, pack))})
    # choice
    both = fatbin(entry(ELF, "75", a75), entry(ELF, "80", a80), entry(ELF, "90", b))
    for arch in ("75", "80", "86", "87", "88", "89", "90", "90a"):
        case("choice for " + arch, {"both.fatbin": both}, arch="-arch=sm_" + arch)
        case("choice for %s, host" % arch, {"both.o": host_object(both)}, arch="-arch=sm_" + arch)
        case("cubin for " + arch, {"k80.cubin": a80}, arch="-arch=sm_" + arch)
    for arch in ("75", "90", "100"):
        case("choice for virtual " + arch, {"both.fatbin": both}, arch="-arch=compute_" + arch)
        case("cubin for virtual " + arch, {"k80.cubin": a80}, arch="-arch=compute_" + arch)
    case("first of equals", {"twin.fatbin": fatbin(entry(ELF, "90", a75), entry(ELF, "90", b))})
    case("suffix first", {"suffix.fatbin": fatbin(entry(ELF, "90", a75), entry(ELF, "90a", b))})
    case("capsule kind", {"kind16.fatbin": fatbin(entry(CAPSULE, "90", b))})
    for kind in (0, 3, 4, 5, 32, 64, 128):
        case("kind %d" % kind, {"kind%d.fatbin" % kind: fatbin(entry(kind, "90", b))})
    case("32 bit entry", {"bits.fatbin": fatbin(entry(ELF, "90", b, flags=0))})
    case("other flags", {"flags.fatbin": fatbin(entry(ELF, "90", b, flags=0x73))})
    case("label is not content", {"label.fatbin": fatbin(entry(ELF, "90", a80))})
    case("lto only", {"lto.fatbin": fatbin(entry(LTOIR, "90", b"\xed\x43\x4e\x7f" * 30))})
    case("lto and machine code", {"ltoelf.fatbin": fatbin(entry(LTOIR, "90", b"lto" * 40),
                                                          entry(ELF, "90", b))})
    # the header
    case("no entry", {"none.fatbin": fatbin() + b"\0" * 64})
    case("second fatbin", {"second.fatbin": fatbin(entry(ELF, "90", b)) + fatbin(
        entry(ELF, "90", a))})
    case("longer header", {"header.fatbin": fatbin(entry(ELF, "90", b), header=24)})
    case("entry past the size", {"past.fatbin": fatbin(entry(ELF, "90", b), size=8)})
    case("version 2", {"version2.fatbin": fatbin(entry(ELF, "90", b), version=2)})
    case("architecture 0", {"sm0.fatbin": fatbin(entry(ELF, "0", b))})
    case("architecture 91", {"sm91.fatbin": fatbin(entry(ELF, "91", b))})
    # compressed data that is not
    for pack in ("lz4", "zstd"):
        good = entry(ELF, "90", b, pack)
        case(pack + " damaged", {"bad-%s.fatbin" % pack: fatbin(patched(good, 80, "<Q", 0))})
    case("zstd size too large", {"large.fatbin": fatbin(entry(ELF, "90", b, "zstd",
                                                              size=len(b) + 8))})
    case("unknown compression", {"pack.fatbin": fatbin(entry(ELF, "90", b, flags=0x1001))})
    # what is in the entry
    case("32 bit cubin inside", {"in32.fatbin": fatbin(entry(ELF, "90", patched(b, 4, "<B", 1)))})
    case("no cubin inside", {"injunk.fatbin": fatbin(entry(ELF, "90", b"junk" * 40))})
    case("executable inside", {"inexec.fatbin": fatbin(entry(ELF, "90", patched(b, 16, "<H", 2)))})
    case("sm_0 inside", {"in0.fatbin": fatbin(entry(ELF, "90", patched(b, 48, "<I", 0x6000004)))})

    # a virtual target of three digits, and code that it could run or not
    for arch in ("90", "100", "100f", "103", "103f", "110", "120f", "121"):
        FILES["virtual-%s.fatbin" % arch] = fatbin(entry(ELF, arch, b))
        for target in ("100", "103", "121"):
            CASES.append(("code for %s, virtual target %s" % (arch, target),
                          ["-arch=compute_" + target, "virtual-%s.fatbin" % arch]))
    text = entry(PTX, "121", b".version 9.0\n.target sm_121\n.address_size 64\n")
    FILES["virtual-text.fatbin"] = fatbin(text)
    CASES.append(("newer text, virtual target", ["-arch=compute_100", "virtual-text.fatbin"]))

    # bare cubins
    for value in (0, 2, 3, 4, 5):
        case("cubin of type %d" % value, {"type%d.cubin" % value: patched(b, 16, "<H", value)})
    case("cubin cut", {"cut.cubin": b[:len(b) // 2]})
    case("cubin cut to the header", {"cut64.cubin": b[:64]})
    case("no section table", {"shoff.cubin": patched(b, 40, "<Q", 0)})
    case("section table outside", {"shout.cubin": patched(b, 40, "<Q", 1 << 40)})
    case("section header size", {"shent.cubin": patched(b, 58, "<H", 32)})
    case("version of the header", {"version.cubin": patched(b, 20, "<I", 7)})
    case("bytes behind", {"behind.cubin": b + b"\0" * 100})
    case("number of 16 bits", {"wide.cubin": patched(b, 48, "<I", 0x6010004 | 90 << 8)})

    # host objects: which sections make one
    code = fatbin(entry(ELF, "90", b))
    relfat, segment = ("__nv_relfatbin", code), (".nvFatBinSegment", WRAPPER)
    text = (".text", b"\xc3")
    for name, sections in (
        ("plain", [text]),
        ("code alone", [text, relfat]),
        ("segment alone", [text, segment]),
        ("both", [text, relfat, segment]),
        ("linked code", [text, segment, (".nv_fatbin", code)]),
        ("linked and relocatable", [text, segment, (".nv_fatbin", code), relfat]),
        ("code is no fatbin", [text, segment, ("__nv_relfatbin", b"nothing " * 20)]),
        ("empty code", [text, segment, ("__nv_relfatbin", b"")]),
        ("two fatbins", [text, segment, ("__nv_relfatbin", code + code)]),
    ):
        file = "host-%s.o" % name.replace(" ", "-")
        case("host object: " + name, {file: elf(sections)})
        case("host object: %s, registered" % name, {file: elf(
            sections + [("__nv_module_id", b"_id\0")])}, ["--register-link-binaries=reg.c"])
    case("host object of another machine", {"arm.o": host_object(code, machine=183)})
    case("host executable", {"prog.out": host_object(code, e_type=2)})
    case("host library", {"lib.so": host_object(code, e_type=3)})
    case("host object cut", {"cut.o": host_object(code)[:-200]})
    case("host object of 32 bits", {"bits32.o": patched(host_object(code), 4, "<B", 1)})
    case("host object of no entry, quiet", {"other.o": host_object(
        fatbin(entry(ELF, "75", b75)))}, ["-suppress-arch-warning"])
    for name, ids in (
        ("several", b"_one\0_two\0"),
        ("aligned", b"_one\0\0\0_two\0\0\0\0"),  # by ld -r
        ("open", b"_one\0_two"),
        ("empty", b"\0"),
        ("empty first", b"\0\0\0_one\0"),
        ("linked", b"def _a\0\0\0def _b\0"),
        ("linked and not", b"def _a\0_b\0"),
    ):
        file = "ids-%s.o" % name.replace(" ", "-")
        case("identifiers: " + name, {file: elf([relfat, segment, ("__nv_module_id", ids)])},
             ["--register-link-binaries=reg.c"])

    # several modules in a file: which of their identifiers count, and their order in the list
    several = {"ids-1.o": elf([relfat, segment, ("__nv_module_id", b"_a1\0_a2\0_a3\0")]),
               "ids-2.o": elf([segment, ("__nv_relfatbin", fatbin(entry(ELF, "90", a))),
                               ("__nv_module_id", b"_b1\0_b2\0_b3\0")])}
    for linked in ("_c", "_a1", "_a2", "_b1"):
        case("identifiers of files, linked " + linked, {**several, "ids-linked.o": elf([
            text, segment, relfat, ("__nv_module_id", b"def %s\0" % linked.encode())])},
            ["--register-link-binaries=reg.c"])

    # class 32: host objects are read, device code is refused if it is sound and relocatable
    host = narrow(host_object(code, "_b"), legacy=False)
    small = narrow(b)
    for name, data in (
        ("code.o", host),
        ("plain.o", narrow(elf([text]), legacy=False)),
        ("in.a", archive(member(b"code.o/", host))),
        ("beyond.o", patched(host, struct.unpack_from("<I", host, 32)[0] + 40 + 16, "<I", 1 << 20)),
        ("cubin", small),
        ("cubin-osabi", narrow(b, legacy=False)),
        ("cubin-in.a", archive(member(b"x.cubin/", small))),
        ("cubin-in.fatbin", fatbin(entry(ELF, "90", small))),
        ("cubin-executable", patched(small, 16, "<H", 2)),
        ("cubin-ewp", patched(small, 16, "<H", 0xff00)),
        ("cubin-entsize", patched(small, 46, "<H", 64)),
        ("cubin-table", patched(small, 32, "<I", 51)),
        ("cubin-no-sections", patched(small, 48, "<H", 0)),
        ("cubin-class-0", patched(small, 4, "<B", 0)),
        ("cubin-big-endian", patched(small, 5, "<B", 2)),
        ("cubin-beyond", patched(small, struct.unpack_from("<I", small, 32)[0] + 40 + 16, "<I",
                                 1 << 20)),
        ("cubin-cut", small[:len(small) // 2]),
    ):
        case("class 32: " + name, {"bits32-" + name: data})

    # what a host says about its kernels
    named = b"_none\0"
    for name, object_ in (
        ("names another", host_object(code, "_b", kernels=named)),
        ("names it", host_object(code, "_b", kernels=b"kb\0")),
        ("by pattern", host_object(code, "_b", kernels=b"k*\0")),
        ("says nothing", host_object(code, "_b", kernels=b"\0")),
        ("two empty names", host_object(code, "_b", kernels=b"\0\0")),
        ("internal only", host_object(code, "_b", internal=b"x\0")),
    ):
        file = "hr-%s.o" % name.replace(" ", "-")
        case("host " + name, {file: object_})
        case("host %s, ignored" % name, {file: object_}, ["-ignore-host-info"])
        case("host %s, relocatable" % name, {file: object_}, ["-r"])
    # libcudadevrt's own references
    silent = host_object(code, "_b", kernels=b"\0")
    for name, host in (("silent", silent), ("named", host_object(code, "_b", kernels=b"kb\0"))):
        for runtime in ("libcudadevrt.a", "librt.a", "rt.o"):
            data = host_object(fatbin(entry(ELF, "90", a)), "_a", internal=b"none\0")
            if runtime.endswith(".a"):
                data = archive(member(b"rt.o/", data))
            case("host %s beside %s" % (name, runtime), {"rt-%s.o" % name: host, runtime: data})
    quiet = host_object(code, "_b", kernels=named)
    for name, other in (("plain.o", elf([text])), ("x.fatbin", fatbin(entry(ELF, "75", b75))),
                        ("x.cubin", patched(b, 16, "<H", 2)), ("y.cubin", b[:len(b) // 2]),
                        ("empty.o", b""), ("text.txt", b"some text " * 20),
                        ("other.o", host_object(fatbin(entry(ELF, "75", b75)))),
                        ("libx.so", elf([text], e_type=3))):
        case("host references beside " + name, {"hr.o": quiet, name: other},
             ["-suppress-arch-warning"])
    # the result of an earlier device link, whose names are taken or not
    linked = elf([text, segment, (".nv_fatbin", code), ("__nv_module_id", b"def _c\0")])
    for name, data in (("linked.o", linked), ("liblinked.a", archive(member(b"l.o/", linked)))):
        for args in ([], ["--register-link-binaries=reg.c"]):
            case("host references beside %s%s" % (name, ", registered" if args else ""),
                 {"hr.o": quiet, name: data}, args)


def prepare(folder):
    def read(name):
        with open(os.path.join(folder, name), "rb") as f:
            return f.read()
    if not FILES:
        build(read)
    for name, data in FILES.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


def main():
    table = Table(__file__, prepare)
    for name, args in CASES:
        table.check(name, args)
    table.done()


main()
