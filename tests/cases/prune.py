#!/usr/bin/env python3
"""`cubind prune`: chosen targets stay, everything else of a file is untouched, and it still links and
loads."""

import json
import os
import re
import shutil
import struct
import subprocess
import tempfile

from _checks import expect, finish, skip
from _containers import ELF, LTOIR, PTX, archive, elf, entry, fatbin, host_object, member
from _files import read, write

CUBIND = os.environ["CUBIND"]
ROOT = os.environ["CUBIND_ROOT"]
INPUTS = os.path.join(ROOT, "tests/cases/inputs")

# A program that says how many bytes the fatbin holds to which its wrapper points.
WRAPPER = r"""
#define __SKIP_INTERNAL_FATBINARY_HEADERS
typedef struct { int magic, version; const unsigned long long *data; void *more; } __fatBinC_Wrapper_t;
#define __NV_MODULE_ID _%(name)s
#include "%(name)s.fatbin.c"
"""
MAIN = r"""
#include <stdio.h>
typedef struct { int magic, version; const unsigned long long *data; void *more; } wrapper;
extern const wrapper __fatbinwrap_one, __fatbinwrap_two;
int main(void)
{
    const unsigned long long *one = __fatbinwrap_one.data, *two = __fatbinwrap_two.data;
    printf("%llx %llu %llx %llu\n", one[0], one[1], two[0], two[1]);
    return 0;
}
"""


def run(*argv, **options):
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    return done.returncode, done.stdout, done.stderr


def prune(data, *args, name="in"):
    """(exit code, messages, result or None)"""
    with tempfile.TemporaryDirectory() as folder:
        write(os.path.join(folder, name), data)
        code, _, err = run(CUBIND, "prune", *args, name, "-o", "out", cwd=folder)
        out = os.path.join(folder, "out")
        return code, err, read(out) if os.path.exists(out) else None


def images(path):
    _, text, _ = run(CUBIND, "extract", "--json", path)
    return [(i["kind"], i["arch"]) for i in json.loads(text)["images"]]


def sections(data):
    """Name -> (flags, bytes) of an ELF's sections, and their order."""
    offset, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * i) for i in range(count)]
    found = []
    for row in rows:
        start = rows[names][4] + row[0]
        name = data[start:data.index(b"\0", start)].decode()
        # place and size of a section may change, its bytes may not
        found.append((name, row[1:4] + row[6:], b"" if row[1] in (0, 8) else data[row[4]:row[4] + row[5]]))
    return found


def check_fatbins():
    a, a75 = read(os.path.join(INPUTS, "a.cubin")), read(os.path.join(INPUTS, "a75.cubin"))
    ptx = read(os.path.join(INPUTS, "a.ptx"))
    linked = a[:16] + b"\2\0" + a[18:]
    rows = {"75": entry(ELF, "75", a75), "90": entry(ELF, "90", a, "zstd"), "90a": entry(ELF, "90a", a),
            "ptx90": entry(PTX, "90", ptx, "lz4"), "ptx75": entry(PTX, "75", ptx), "lto90": entry(LTOIR, "90", b"x" * 64),
            "other": entry(64, "90", b"?" * 8), "linked": entry(ELF, "90", linked, "zstd")}
    whole = fatbin(*rows.values())
    for args, kept in (
            (["-arch", "sm_90"], ["90", "linked"]), (["-arch=sm_90a"], ["90a"]), (["--arch=sm_75,sm_90a"], ["75", "90a"]),
            (["-arch", "compute_90"], ["ptx90"]), (["-arch=lto_90"], ["lto90"]), (["-arch=sm_90,compute_75"], ["90", "ptx75", "linked"]),
            (["-gencode", "arch=compute_90,code=sm_90"], ["90", "linked"]),
            (["-gencode=arch=compute_90,code=[sm_90,compute_90]"], ["90", "ptx90", "linked"]),
            (["--generate-code", "arch=compute_75,code=[compute_75,sm_75]", "-gencode", "arch=compute_90,code=lto_90"], ["75", "ptx75", "lto90"]),
            (["-gencode", "arch=compute_75"], ["ptx75"]), (["-arch=sm_90", "-no-relocatable-elf"], ["linked"]),
            (["-arch=sm_80"], [])):
        code, err, got = prune(whole, *args)
        expect("fatbin " + " ".join(args), code == 0 and got == fatbin(*(rows[k] for k in rows if k in kept)), err)
        expect("fatbin %s, messages" % " ".join(args), bool(err) == (not kept), err)


def check_object():
    """All sections but the one with the fatbin are the same, and a link finds the same code."""
    def cubin(name):
        return read(os.path.join(INPUTS, name))
    code = fatbin(entry(ELF, "75", cubin("a75.cubin")), entry(ELF, "90", cubin("a.cubin"), "zstd"))
    data = host_object(code, "_a", kernels=b"k\0")
    status, err, got = prune(data, "-arch=sm_90")
    before, after = sections(data), sections(got)
    same = [b for b in before if b[0] != "__nv_relfatbin"] == [b for b in after if b[0] != "__nv_relfatbin"]
    expect("object, other sections", status == 0 and same, err)
    expect("object, fatbin", dict((s[0], s[2]) for s in after)["__nv_relfatbin"] ==
           fatbin(entry(ELF, "90", cubin("a.cubin"), "zstd")))
    expect("object is smaller", len(data) - len(got) >= len(cubin("a75.cubin")))
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for name, bytes_ in (("before", data), ("after", got)):
            write(os.path.join(folder, "in.o"), bytes_)
            results.append(run(CUBIND, "link", "-arch=sm_90", "in.o", os.path.join(INPUTS, "b.cubin"), "-o", name, cwd=folder) +
                           (read(os.path.join(folder, name)),))
        expect("object, the same link", results[0] == results[1] and results[0][0] == 0, results[0][:3])
    packed = archive(member(b"/", b"\0\0\0\0"), member(b"//", b"a-long-name-of-a-member.o/\n"), member(b"/0", data),
                     member(b"text/", b"some text"), member(b"x.cubin/", cubin("a75.cubin")), member(b"b.o/", data))
    want = archive(member(b"/", b"\0\0\0\0"), member(b"//", b"a-long-name-of-a-member.o/\n"), member(b"/0", got),
                   member(b"text/", b"some text"), member(b"x.cubin/", cubin("a75.cubin")), member(b"b.o/", got))
    status, err, out = prune(packed, "-arch=sm_90")
    expect("archive", status == 0 and out == want, err)
    bsd = archive(member(b"#1/8", b"name.o\0\0" + data))
    status, err, out = prune(bsd, "-arch=sm_90")
    expect("archive with names of the BSD kind", status == 0 and out == archive(member(b"#1/8", b"name.o\0\0" + got)), err)
    plain = elf([(".text", b"\xc3"), (".data", b"abc")])
    expect("object without device code", prune(plain, "-arch=sm_90")[2] == plain)
    several = elf([(".nv_fatbin", code + b"\0" * 16 + code), (".data", b"abc"), ("__nv_relfatbin", code)])
    status, err, out = prune(several, "-arch=sm_90")
    one = fatbin(entry(ELF, "90", cubin("a.cubin"), "zstd"))
    found = dict((s[0], s[2]) for s in sections(out))
    expect("several fatbins", found[".nv_fatbin"] == one + one and found["__nv_relfatbin"] == one and found[".data"] == b"abc", err)


def check_host():
    """Objects of a compiler: relocations and symbols follow, programs keep their addresses."""
    if not shutil.which("cc") or not shutil.which("ar"):
        skip("host objects", "there is no C compiler")
        return
    with tempfile.TemporaryDirectory() as folder:
        def sh(*argv):
            code, out, err = run(*argv, cwd=folder)
            expect(" ".join(str(a) for a in argv[:3]), code == 0, err)
            return out
        sizes = {}
        for name, cubins in (("one", ("a75", "a", "at")), ("two", ("b75", "b"))):
            paths = ["--image3=kind=elf,sm=%s,file=%s" % ("75" if c.endswith("75") else "90", os.path.join(INPUTS, c + ".cubin"))
                     for c in cubins]
            sh(CUBIND, "bundle", "-c", *paths, "--embedded-fatbin", name + ".fatbin.c", "--create", name + ".fatbin")
            sh(CUBIND, "prune", "-arch=sm_90", name + ".fatbin", "-o", name + ".small")
            sizes[name] = os.path.getsize(os.path.join(folder, name + ".small")) - 16
            write(os.path.join(folder, name + ".c"), (WRAPPER % {"name": name}).encode())
            sh("cc", "-c", name + ".c")
        write(os.path.join(folder, "main.c"), MAIN.encode())
        sh("cc", "-c", "main.c")
        sh("ld", "-r", "one.o", "two.o", "-o", "both.o")
        sh("ar", "rcs", "libboth.a", "one.o", "two.o")
        want = "100001ba55ed50 %d 100001ba55ed50 %d\n" % (sizes["one"], sizes["two"])
        for name in ("both.o", "libboth.a"):
            sh(CUBIND, "prune", "-arch=sm_90", name, "-o", "pruned-" + name)
            sh("cc", "main.o", "pruned-" + name, "-o", "prog-" + name)
            expect("a program with pruned " + name, sh("./prog-" + name) == want)
            expect(name + " is smaller", os.path.getsize(os.path.join(folder, "pruned-" + name)) <
                   os.path.getsize(os.path.join(folder, name)))
        expect("images of an archive", images(os.path.join(folder, "pruned-libboth.a")) == [("cubin", "sm_90")] * 3)
        sh("cc", "main.o", "both.o", "-o", "prog")
        sh(CUBIND, "prune", "-arch=sm_90", "prog", "-o", "prog-pruned")
        expect("a pruned program", sh("./prog-pruned") == want)
        before, after = (read(os.path.join(folder, n)) for n in ("prog", "prog-pruned"))
        expect("a pruned program, size", len(before) == len(after))
        same = [(x[:2], x[0] == "__nv_relfatbin" or x == y) for x, y in zip(sections(before), sections(after))]
        expect("a pruned program, other sections", all(ok for _, ok in same), [s for s, ok in same if not ok])
        sh(CUBIND, "prune", "-arch=sm_90", "prog", "-o", "prog")
        expect("a program pruned onto itself", sh("./prog") == want)


def check_mistakes():
    code = fatbin(entry(ELF, "90", read(os.path.join(INPUTS, "a.cubin"))))
    a = read(os.path.join(INPUTS, "a.cubin"))
    for name, data, args, words in (
            ("no target", code, [], "-arch or -gencode"), ("unknown target", code, ["-arch=90"], "'90' is no target"),
            ("specification", code, ["-gencode", "sm_90"], "generate-code"), ("code", code, ["-gencode", "code=90"], "'90' is no target"),
            ("cubin", a, ["-arch=sm_90"], "holds no fatbin: it is a cubin"), ("empty", b"", ["-arch=sm_90"], "an empty file"),
            ("thin archive", archive(member(b"a.o/", b""), thin=True), ["-arch=sm_90"], "thin archive"),
            ("cut fatbin", code[:-100], ["-arch=sm_90"], "damaged"), ("cut object", host_object(code)[:-70], ["-arch=sm_90"], "damaged"),
            ("bytes", elf([("__nv_relfatbin", code + b"garbage!")]), ["-arch=sm_90"], "other bytes"),
            ("cut archive", archive(member(b"a.o/", host_object(code)))[:-50], ["-arch=sm_90"], "damaged"),
            ("wrong table", archive(member(b"/", b"\0\0\0\1\0\0\0\7a\0\0\0"), member(b"a.o/", host_object(code))), ["-arch=sm_90"], "symbol table"),
            ("long table", archive(member(b"/", b"\0\xff\0\1\0\0\0\7")), ["-arch=sm_90"], "symbol table")):
        status, err, got = prune(data, *args)
        expect("refused: " + name, status == 1 and got is None and re.search(words, err), err)
    status, err, _ = prune(code, "-arch=sm_80")
    expect("what is not there is said", status == 0 and "no code for sm_80" in err, err)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(CUBIND, os.path.join(folder, "nvprune"))
        write(os.path.join(folder, "x.fatbin"), code)
        status, _, err = run("./nvprune", "-arch", "sm_90", "x.fatbin", "-o", "y.fatbin", cwd=folder)
        expect("under nvprune's name", status == 0 and not err and read(os.path.join(folder, "y.fatbin")) == code, err)


check_fatbins()
check_object()
check_host()
check_mistakes()
finish()
