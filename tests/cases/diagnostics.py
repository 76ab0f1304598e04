#!/usr/bin/env python3
"""Provoked diagnostics: text, stream, exit code and what is left on disk, as with nvlink."""

import os
import struct

from _files import read, write
from _nvlink import Table, archive

A = "-arch=sm_90"
O = ["-o", "out.cubin"]
STUB = "nvvm"  # a folder that passes for a compiler; made from a shared library with no contents


def patched(data, offset, value):
    return data[:offset] + value + data[offset + len(value):]


def cuinfo_offset(data):
    """Where the toolkit word of the cuinfo note is."""
    at = data.index(struct.pack("<III", 12, 8, 1000) + b"NVIDIA Corp\0")
    return at + 12 + 12 + 4


def prepare(folder):
    a, b, host = (read(folder, n) for n in ("a.cubin", "b.cubin", "host.o"))
    fatbin = read(folder, "host.fatbin")
    flags = struct.unpack_from("<I", a, 48)[0]
    files = {
        "empty.cubin": b"",
        "tiny.cubin": b"\x7fELF",
        "tiny.txt": b"x" * 30,
        "text.cubin": b"no device code here " * 10,
        "text.fatbin": b"no device code here " * 10,
        "text.ptx": b"this is no ptx at all; " * 10,
        "text.txt": b"just text " * 10,
        "text": b"just text " * 10,
        "x.bc": b"BC\xc0\xde" + b"\0" * 100,
        "x.ltoir": b"\0" * 100,
        "x.nvvm": b"\0" * 100,
        "x.so": host,
        "host.cubin": host,
        "linked.cubin": patched(a, 16, struct.pack("<H", 2)),
        "machine.cubin": patched(a, 18, struct.pack("<H", 62)),
        "sm0.cubin": patched(a, 48, struct.pack("<I", flags & ~0xFF00)),
        "abi.cubin": patched(a, 8, b"\7"),
        "osabi.cubin": patched(a, 7, b"\0"),
        "class.cubin": patched(a, 4, b"\1"),
        "newer.cubin": patched(a, cuinfo_offset(a), struct.pack("<I", 131)),
        "older.cubin": patched(a, cuinfo_offset(a), struct.pack("<I", 118)),
        "ewp.cubin": patched(patched(a, 16, struct.pack("<H", 0xFF00)), cuinfo_offset(a),
                             struct.pack("<I", 129)),
        "whole.cubin": patched(a, 16, struct.pack("<H", 0xFF00)),
        "whole-b.cubin": patched(b, 16, struct.pack("<H", 0xFF00)),
        "version.fatbin": patched(fatbin, 4, struct.pack("<H", 2)),
        "kind.fatbin": patched(fatbin, 16, struct.pack("<H", 77)),
        "plain.o": b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0,
                                                               64, 0, 64, 0, 0, 64, 0, 0),
        "libnotar.a": b"this is no archive at all",
        "libempty.a": b"",
        "libnohost.a": b"!<arch>\n",
        "device.reg": b"_cuda_device_runtime_\n",
        "nvvm/lib64/libnvvm.so": b"not even a library",
        "q.opt": b'-arch="sm_90" a.cubin b.cubin -o out.cubin -kernels-used "ka"',
        "loop.opt": b"-optf loop.opt",
        "stray.opt": b'-l "x',
    }
    for name, data in files.items():
        write(os.path.join(folder, name), data)
    archive(os.path.join(folder, "libhost.a"),
            [("host.o", host), ("host2.o", read(folder, "host2.o"))])
    archive(os.path.join(folder, "libhost2.a"), [("host2.o", read(folder, "host2.o"))])
    archive(os.path.join(folder, "libcubins.a"), [("a.cubin", a), ("b.cubin", b)])
    os.makedirs(os.path.join(folder, "somedir.cubin"))
    os.makedirs(os.path.join(folder, "libfolder.a"))


CASES = [
    # before any input is read
    ("nothing", []),
    ("no arch", ["a.cubin"] + O),
    ("no arch, tool name", ["a.cubin", "-tool-name", "tool"]),
    ("no output", [A, "a.cubin"]),
    ("no inputs", [A] + O),
    ("no inputs but libraries", [A, "-lx", "-L."] + O),
    ("no inputs, report arch", [A, "-report-arch"] + O),
    ("virtual target without inputs", ["-arch=compute_90"]),
    ("lto target", ["-arch=lto_90", "a.cubin"]),
    ("lto target before lto checks", ["-arch=lto_90", "a.cubin", "-emit-ptx", "-fdcmpt"]),
    ("two mistakes, first wins", ["-foo", "-bar"]),
    ("help after a mistake", ["-h", "-foo"]),
    ("stray quote", [A, '-l"x']),
    ("stray quote in a file", [A, "-optf", "stray.opt"]),
    ("option file", ["-optf", "q.opt"]),
    ("option file in itself", ["-optf", "loop.opt"]),
    ("option file missing", ["-optf", "nosuch.opt"]),
    ("redefinition", [A, "a.cubin", "b.cubin", "-o", "x", "-o", "y", "-Werror", "-disable-infos"]),
    ("redefinition, three", [A, "-maxrregcount=1", "-maxrregcount=2", "-maxrregcount=1"]),
    # options against each other
    ("suppress without debug", [A, "a.cubin", "-suppress-debug-info"] + O),
    ("both dumps", [A, "a.cubin", "-dump-callgraph", "-dump-callgraph-no-demangle"] + O),
    ("both host infos", [A, "a.cubin", "-use-host-info", "-ignore-host-info"] + O),
    ("host info ignored", [A, "a.cubin", "b.cubin", "-use-host-info", "-kernels-used=ka"] + O),
    ("host info ignored, variables", [A, "a.cubin", "b.cubin", "-use-host-info",
                                      "-variables-used=ka,kb", "-kernels-used=k"] + O),
    ("lto without path", [A, "a.cubin", "-lto"] + O),
    ("dlto without path", [A, "a.cubin", "-dlto"] + O),
    ("lto, late option mistake", [A, "a.cubin", "-lto", "-nvvmpath", STUB, "-Ofc=foo"] + O),
    ("lto, both kinds", [A, "a.cubin", "-lto", "-nvvmpath", STUB, "-force-partial-lto",
                         "-force-whole-lto"] + O),
    ("lto, whole and relocatable", [A, "a.cubin", "-lto", "-nvvmpath", STUB, "-r",
                                    "-force-whole-lto"] + O),
    ("lto, ptx and split", [A, "a.cubin", "-lto", "-nvvmpath", STUB, "-emit-ptx",
                            "-split-compile-extended=2", "-fdcmpt"] + O),
    ("emit ptx", [A, "a.cubin", "-emit-ptx"] + O),
    ("fast compile", [A, "a.cubin", "-Ofc=0"] + O),
    ("fast compile takes the file", [A, "-Ofc", "a.cubin"] + O),
    ("partial lto", [A, "a.cubin", "-force-partial-lto"] + O),
    ("whole lto", [A, "a.cubin", "-force-whole-lto"] + O),
    ("preserve relocs as error", [A, "a.cubin", "b.cubin", "-preserve-relocs", "-Werror"] + O),
    ("preserve relocs as error, missing file", [A, "nosuch.cubin", "-preserve-relocs",
                                                "-Werror"] + O),
    ("preserve relocs as error, host object", [A, "host.o", "-preserve-relocs", "-Werror"] + O),
    ("preserve relocs as error, fatbin", [A, "host.fatbin", "-preserve-relocs", "-Werror"] + O),
    ("preserve relocs as error, library", [A, "a.cubin", "-preserve-relocs", "-Werror", "-lhost",
                                           "-L."] + O),
    ("preserve relocs, virtual", ["-arch=compute_90", "a.cubin", "-preserve-relocs"]),
    ("fdcmpt", [A, "a.cubin", "-fdcmpt"] + O),
    ("api version", [A, "a.cubin", "-cuda-api-version", "x"] + O),
    ("api version, old", [A, "a.cubin", "-cuda-api-version", "12.9"] + O),
    # side files
    ("time file", [A, "a.cubin", "b.cubin", "-time", "nosuch/t"] + O),
    ("time file on failure", [A, "nosuch.cubin", "-time", "t.csv"] + O),
    ("uidx missing", [A, "a.cubin", "-uidx", "nosuch"] + O),
    ("uidx empty", [A, "a.cubin", "-uidx", "empty.cubin"] + O),
    ("uidx device", [A, "a.cubin", "-uidx", "/dev/null"] + O),
    ("uidx wrong", [A, "a.cubin", "-uidx", "b.cubin"] + O),
    ("host file missing", [A, "a.cubin", "-nv-host", "nosuch"] + O),
    ("host file empty", [A, "a.cubin", "-nv-host", "empty.cubin"] + O),
    ("output in no folder", [A, "a.cubin", "b.cubin", "-o", "nosuch/out"]),
    ("output is a folder", [A, "a.cubin", "b.cubin", "-o", "somedir.cubin"]),
    ("output on a full device", [A, "a.cubin", "b.cubin", "-o", "/dev/full"]),
    ("register file in no folder", [A, "a.cubin", "b.cubin",
                                    "--register-link-binaries=nosuch/r"] + O),
    ("dot file in no folder", [A, "a.cubin", "b.cubin", "-dot", "nosuch/r"] + O),
    ("register file of a failed link", [A, "a.cubin", "--register-link-binaries=r.c"] + O),
    ("register file after a fatal", [A, "nosuch.cubin", "--register-link-binaries=r.c"] + O),
    ("dot file of a failed link", [A, "a.cubin", "-dot", "g.dot"] + O),
    ("ghls with input", ["-ghls", "a.cubin"]),
    ("ghls to no folder", ["-ghls=lcs-aug", "-o", "nosuch/x"]),
    ("ghls fragment", ["-ghls=lcs-aug"]),
    ("ghls fragment file", ["-ghls=lcs-aug", "-o", "script"]),
    # inputs
    ("missing", [A, "nosuch.cubin"] + O),
    ("missing, report arch", [A, "-report-arch", "nosuch.cubin"] + O),
    ("folder", [A, "somedir.cubin"] + O),
    ("dash", [A, "-"] + O),
    ("too short", [A, "tiny.cubin"] + O),
    ("too short text", [A, "tiny.txt"] + O),
    ("empty", [A, "empty.cubin", "a.cubin", "b.cubin"] + O),
    ("text as cubin", [A, "text.cubin"] + O),
    ("text as fatbin", [A, "text.fatbin"] + O),
    ("text", [A, "text.txt", "text", "a.cubin", "b.cubin"] + O),
    ("host object as cubin", [A, "host.cubin"] + O),
    ("wrong machine", [A, "machine.cubin"] + O),
    ("bitcode", [A, "x.bc"] + O),
    ("ltoir", [A, "x.ltoir"] + O),
    ("nvvm", [A, "x.nvvm"] + O),
    ("shared object", [A, "x.so", "a.cubin", "b.cubin"] + O),
    ("no SM", [A, "sm0.cubin"] + O),
    ("wrong abi", [A, "abi.cubin"] + O),
    ("foreign osabi", [A, "osabi.cubin"] + O),
    ("newer toolkit", [A, "newer.cubin"] + O),
    ("older toolkit", [A, "older.cubin"] + O),
    ("whole program object", [A, "ewp.cubin"] + O),
    ("whole programs", [A, "whole.cubin", "whole-b.cubin"] + O),
    ("whole program and module", [A, "whole.cubin", "b.cubin", "b2.cubin"] + O),
    ("other arch", ["-arch=sm_80", "a.cubin"] + O),
    ("other arch, older", [A, "a80.cubin"] + O),
    ("other arch, report", ["-arch=sm_80", "-report-arch", "a.cubin"] + O),
    ("before Mercury", ["-arch=sm_100", "a.cubin"] + O),
    ("before Mercury, as error", ["-arch=sm_100", "a.cubin", "-Werror"] + O),
    ("before Mercury, no warnings", ["-arch=sm_100", "a.cubin", "-disable-infos"] + O),
    ("fatbin of another arch", ["-arch=sm_80", "host.fatbin"] + O),
    ("host object of another arch", ["-arch=sm_80", "host.o", "host2.o"] + O),
    ("host object of another arch, quiet", ["-arch=sm_80", "host.o", "-suppress-arch-warning"] + O),
    ("host object of another arch, no warnings", ["-arch=sm_80", "host.o", "-disable-infos"] + O),
    ("host object of another arch, as error", ["-arch=sm_80", "host.o", "-Werror"] + O),
    ("host objects of another arch, as error", ["-arch=sm_80", "host.o", "host2.o",
                                                "-Werror"] + O),
    ("virtual target of another arch", ["-arch=compute_80", "host.o"]),
    ("virtual target", ["-arch=compute_90", "host.o", "--register-link-binaries=r.c"]),
    ("fatbin version", [A, "version.fatbin"] + O),
    ("fatbin entry kind", [A, "kind.fatbin"] + O),
    ("plain host object", [A, "plain.o", "a.cubin", "b.cubin"] + O),
    ("archive", [A, "libhost.a"] + O),
    ("archive twice", [A, "libhost.a", "./libhost.a"] + O),
    ("archive of cubins", [A, "libcubins.a"] + O),
    ("library", [A, "host.o", "-lhost2", "-L", "nosuch,.,/"] + O),
    ("library, register", [A, "host.o", "-lhost2", "-L.", "--register-link-binaries=r.c",
                           "-ignore-host-info"] + O),
    ("library not found", [A, "host2.o", "-lnosuch", "-L."] + O),
    ("library that is none", [A, "host2.o", "-lnotar", "-L."] + O),
    ("library that is empty", [A, "host2.o", "-lempty", "-L."] + O),
    ("library without host code", [A, "host2.o", "-lnohost", "-L."] + O),
    ("library of cubins", [A, "host2.o", "-lcubins", "-L."] + O),
    ("library that is a folder", [A, "host2.o", "-lfolder", "-L."] + O),
    ("library of another machine", [A, "host2.o", "-lhost", "-L.", "-cpu-arch=AARCH64"] + O),
    ("library of another machine, as error", [A, "host2.o", "-lhost", "-L.", "-cpu-arch=AARCH64",
                                              "-Werror"] + O),
    # merging
    ("multiple definition", [A, "a.cubin", "b.cubin", "b2.cubin"] + O),
    ("the same file twice", [A, "b.cubin", "b.cubin"] + O),
    ("multiple definition in archives", [A, "host.o", "libhost.a"] + O),
    ("size", [A, "v4.cubin", "v8.cubin"] + O),
    ("size of a declaration", [A, "v4.cubin", "e8.cubin"] + O),
    ("size, declaration first", [A, "e8.cubin", "v4.cubin"] + O),
    ("memory space", [A, "v4.cubin", "vc.cubin"] + O),
    ("memory space of a reference", [A, "vc.cubin", "e8.cubin"] + O),
    ("function first, then variable", [A, "vf.cubin", "v4.cubin"] + O),
    ("prototype", [A, "b.cubin", "pr.cubin"] + O),
    ("prototype, reference first", [A, "pr.cubin", "b.cubin"] + O),
    ("weak parameters", [A, "w1.cubin", "w2.cubin"] + O),
    ("common after definition", [A, "cmi.cubin", "cm64.cubin"] + O),
    ("common before definition", [A, "cm64.cubin", "cmi.cubin"] + O),
    ("commons", [A, "cm4.cubin", "cm64.cubin"] + O),
    # the end of the link
    ("undefined function", [A, "a.cubin"] + O),
    ("undefined function, report arch", [A, "a.cubin", "-report-arch"] + O),
    ("undefined everything", [A, "und.cubin"] + O),
    ("undefined, globals allowed", [A, "und.cubin", "-allow-undefined-globals"] + O),
    ("undefined, relocatable", [A, "und.cubin", "-r"] + O),
    ("undefined twice", [A, "a.cubin", "rec.cubin"] + O),
    ("shared memory", [A, "sh1.cubin", "sh2.cubin"] + O),
    ("shared memory, extended", [A, "sh1.cubin", "sh2.cubin", "-enable-extended-smem=true"] + O),
    ("shared memory, no reservation", [A, "sh1.cubin", "sh2.cubin",
                                       "-disable-smem-reservation=true"] + O),
    ("constants", [A, "c1.cubin", "c2.cubin"] + O),
    ("registers", [A, "mr.cubin", "heavy.cubin"] + O),
    ("registers, dump", [A, "mr.cubin", "heavy.cubin", "-dump-callgraph"] + O),
    ("recursion", [A, "rec.cubin", "rec2.cubin"] + O),
    ("recursion, quiet", [A, "rec.cubin", "rec2.cubin", "-suppress-stack-size-warning"] + O),
    ("recursion, as error", [A, "rec.cubin", "rec2.cubin", "-Werror"] + O),
    ("recursion, no warnings", [A, "rec.cubin", "rec2.cubin", "-disable-infos", "-Werror"] + O),
    ("recursion, relocatable", [A, "rec.cubin", "rec2.cubin", "-r"] + O),
    ("recursion, everything", [A, "rec.cubin", "rec2.cubin", "-v", "-dump-callgraph", "-w",
                               "-report-arch"] + O),
    ("address taken", [A, "at.cubin", "-extrawarn"] + O),
    ("address taken, as error", [A, "at.cubin", "-extrawarn", "-Werror"] + O),
    # text that is no diagnostic
    ("verbose", [A, "a.cubin", "b.cubin", "-v"] + O),
    ("verbose, report arch", [A, "a.cubin", "b.cubin", "-v", "-report-arch"] + O),
    ("verbose, tool name", [A, "a.cubin", "b.cubin", "-v", "-tool-name", "tool"] + O),
    ("verbose, relocatable", [A, "a.cubin", "b.cubin", "-v", "-r"] + O),
    ("verbose, memory", [A, "v8.cubin", "vc.cubin", "-v"] + O),
    ("verbose, constants", [A, "vc.cubin", "c1.cubin", "-v"] + O),
    ("verbose with errors", [A, "a.cubin", "-v", "-dump-callgraph"] + O),
    ("call graph", [A, "a.cubin", "b.cubin", "rec.cubin", "-dump-callgraph"] + O),
    ("call graph, templates", [A, "tmpl.cubin", "-dump-callgraph"] + O),
    ("call graph, mangled", [A, "tmpl.cubin", "-dump-callgraph-no-demangle"] + O),
    ("call graph, dot", [A, "tmpl.cubin", "a.cubin", "b.cubin", "-dot", "g.dot"] + O),
    ("call graph, address", [A, "at.cubin", "-dump-callgraph"] + O),
    ("call graph, relocatable", [A, "a.cubin", "-dump-callgraph", "-r"] + O),
    ("call graph, nothing removed", [A, "a.cubin", "b.cubin", "rec.cubin", "-g",
                                     "-dump-callgraph", "-kernels-used=kb"] + O),
    ("call graph, nothing linked", [A, "linked.cubin", "-dump-callgraph"] + O),
    ("call graph, nothing linked, verbose", [A, "linked.cubin", "-dump-callgraph", "-v"] + O),
    ("call graph, kernels", [A, "a.cubin", "b.cubin", "-dump-callgraph", "-kernels-used=kb"] + O),
    # kernels that nobody defines: one that is wanted alone has no others beside it
    ("call graph, undefined kernels", [A, "uk.cubin", "-dump-callgraph"] + O),
    ("call graph, undefined kernels, two wanted", [A, "uk.cubin", "-dump-callgraph", "-kernels-used=kua,kub"] + O),
    ("call graph, undefined kernels, one wanted", [A, "uk.cubin", "-dump-callgraph", "-kernels-used=kua"] + O),
    ("call graph, undefined kernels, none wanted", [A, "uk.cubin", "-dump-callgraph", "-kernels-used=x"] + O),
    ("call graph, undefined kernels, with one of them", [
        A, "uk.cubin", "-dump-callgraph", "-kernels-used=kua,undefined_a"] + O),
    ("call graph, undefined kernels, one of them", [
        A, "uk.cubin", "-dump-callgraph", "-kernels-used=undefined_a"] + O),
]


def main():
    table = Table(__file__, prepare)
    for name, args in CASES:
        table.check(name, args)
    table.ok("there are at least 60 cases", len(CASES) >= 60)
    table.done()


if __name__ == "__main__":
    main()
