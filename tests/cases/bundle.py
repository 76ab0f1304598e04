#!/usr/bin/env python3
"""`cubind bundle` under the name fatbinary: the same files byte for byte as long as nothing is
compressed, the same messages; compressed images read back equal.  The spellings of clang."""

import itertools
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from _nvlink import CUBIND, INPUTS, Table

NONE = "--compress-mode=none"
O = "--create=out.fatbin"
C = "--embedded-fatbin=out.fatbin.c"
A = "--image3=kind=elf,sm=90,file=a.cubin"
A75 = "--image3=kind=elf,sm=75,file=a75.cubin"
MERCURY = "--image3=kind=elf,sm=100,file=div100.cubin"
P = "--image3=kind=ptx,sm=90,file=a.ptx"
L = "--image3=kind=nvvm,sm=90,file=code.ltoir"

# text -> what is kept, next to the directive that must be there
SPACES = [
    b"", b"\n", b"a  b\tc \t d   \n   e\n\n\n f", b"/* a\nb  c */ x /*y*/z\n//q\n// r  \"s\n\"a  b\t// no\"  // yes\n",
    b"a\r\nb\r\n c\x0bd\x0ce", b'"un\nclosed  x // y\n z', b"'a  b'  c", b"/* open  x\n y",
    b'"a\\"  b // c" // d\n', b"a/b / c //\n//\n", b"a\0b  c", b"x  /*y*/  z\n  /*q*/  r //s  \n  //t\n /*\n*/  u/**/v",
    b'"a" "b\\\\"  c "d\\\n  e"  f', b"/*/ a /**/ b /***/ c", b"// to the return\r\n  x", b"\t\x01  \x80  \xff\xa0  x", b"\0\0",
]
VERSIONS = [b".version 8.5", b".version\t8.3 ", b".version\n9.5", b".version9.5", b"x.version   10.12", b".version 80000.7",
            b"/* .version 6.0 */ .version 7.1", b".version 8", b".version x.y", b".version 9. 5", b".version -9.5",
            b".versionx 9.5 .version 1.2", b"\0.version 9.0", b"x", b""]
ARCHS = ["", "a", "f", "0", "09", "+90", " 90", "90b", "90aa", "90A", "-90", "sm_90", "999", "4294967295", "4294967296",
         "100f", "120a"]


def ltoir():
    """Bytes like those of LTO-IR; nothing looks behind the first eight."""
    head = struct.pack("<IBBHHHHHIIHH", 0x7F4E43ED, 1, 65, 0x6202, 0x203, 7, 24, 1, 40, 44, 1, 900)
    return head + random.Random(1).randbytes(1000)


def patched(data, offset, form, *values):
    piece = struct.pack(form, *values)
    return data[:offset] + piece + data[offset + len(piece):]


def compat_of(data, size):
    """The same file with a .nv.compat of another size, whose bytes all differ."""
    offset, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    strings, = struct.unpack_from("<Q", data, offset + 64 * names + 24)
    for i in range(count):
        name, = struct.unpack_from("<I", data, offset + 64 * i)
        if data[strings + name:].startswith(b".nv.compat\0"):
            at, = struct.unpack_from("<Q", data, offset + 64 * i + 24)
            data = patched(data, offset + 64 * i + 32, "<Q", size)
            return data[:at] + bytes(range(1, size + 1)) + data[at + size:]
    sys.exit("no .nv.compat")


def files(folder):
    def read(name):
        with open(os.path.join(folder, name), "rb") as f:
            return f.read()
    with open(os.path.join(INPUTS, "a.ptx"), "rb") as f:
        ptx = f.read()
    made = {"a.ptx": ptx, "code.ltoir": ltoir(), "empty": b"", "options": b'--compress-mode=none  %s\n"--ident=a b" ' % A75.encode()}
    for i, text in enumerate(SPACES):
        made["space%d.ptx" % i] = b".version 9.0\n" + text
    for i, text in enumerate(VERSIONS):
        made["version%d.ptx" % i] = text
    for size in (31, 32, 33, 35, 36):
        made["compat%d.cubin" % size] = compat_of(read("div100.cubin"), size)
    a, m = read("a.cubin"), read("div100.cubin")
    flags, = struct.unpack_from("<I", m, 48)
    for name, data in (("abi7", patched(a, 8, "<B", 7)), ("version2", patched(a, 6, "<B", 2)), ("legacy", patched(a, 7, "<B", 0x33)),
                       ("legacy-flags", patched(patched(a, 7, "<B", 0x33), 48, "<I", 0x59055a)), ("class32", patched(a, 4, "<B", 1)),
                       ("machine", patched(a, 18, "<H", 62)), ("kind2", patched(m, 48, "<I", flags & ~2)),
                       ("kind1", patched(m, 48, "<I", flags | 1)), ("cut", a[:100]), ("cut40", a[:40]), ("cut4", a[:4]),
                       ("odd", a + b"xyz"), ("magic", patched(a, 0, "<B", 0))):
        made[name + ".cubin"] = data
    for size in (1, 5, 7, 8, 9):
        made["short%d.ltoir" % size] = b"abcdefghi"[:size]
    for name, data in made.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


def elf(name, sm="90"):
    return "--image3=kind=elf,sm=%s,file=%s" % (sm, name)


def cases():
    yield "nothing to write", ["-64", A]
    yield "no image", ["-64", O]
    yield "no image, C", ["-64", C]
    for i, images in enumerate(([A], [P], [L], [MERCURY], [A, A75, MERCURY, P, L], [P, A, L, P])):
        for switch in ([], ["-64"], ["-g"], ["-c"], ["-link"], ["-g", "-c", "-link"], ["--no-asm"], ["--no-asm", "-c"],
                       ["--ident=foo.cu"], ["--ident=abcdefgh"], ["--cmdline=-a  b", "--cicc-cmdline=-ftz=0 "],
                       ["--cmdline=1234567", "--cicc-cmdline=12345678"], ["--compress-all"]):
            yield "images %d %s" % (i, " ".join(switch)), [NONE, O, C] + switch + images
    for size in (31, 32, 33, 35, 36):
        yield "copy of %d bytes" % size, [NONE, O, elf("compat%d.cubin" % size, "100"), "--ident=" + "x" * (size % 8)]
    for i in range(len(SPACES)):
        yield "blanks %d" % i, [NONE, O, "--image3=kind=ptx,sm=90,file=space%d.ptx" % i]
    for i in range(len(VERSIONS)):
        yield "version %d" % i, [NONE, O, "--image3=kind=ptx,sm=90,file=version%d.ptx" % i]
    for arch in ARCHS:
        yield "PTX for %r" % arch, [NONE, O, "--image3=kind=ptx,sm=%s,file=a.ptx" % arch]
        yield "cubin for %r" % arch, [NONE, O, elf("a.cubin", arch)]
    for name in ("abi7", "version2", "legacy", "legacy-flags", "class32", "machine", "cut", "cut40", "cut4", "odd", "magic"):
        yield name, [NONE, O, elf(name + ".cubin")]
    for name in ("kind1", "kind2"):
        yield name, [NONE, O, elf(name + ".cubin", "100")]
    for size in (1, 5, 7, 8, 9):
        yield "LTO-IR of %d" % size, [NONE, O, "--image3=kind=nvvm,sm=90,file=short%d.ltoir" % size]
    yield "32 bits", ["-32", NONE, O, P, L]
    yield "32 bits, cubin", ["-32", NONE, O, A]
    yield "both sizes", ["-32", "-64", NONE, O, P]
    for kind in ("elf", "ptx", "nvvm"):
        yield "empty " + kind, [NONE, O, "--image3=kind=%s,sm=90,file=empty" % kind]
        yield "PTX as " + kind, [NONE, O, "--image3=kind=%s,sm=90,file=a.ptx" % kind]
        yield "cubin as " + kind, [NONE, O, "--image3=kind=%s,sm=90,file=a.cubin" % kind]
    for spec in ("kind=elf,file=a.cubin", "sm=90,file=a.cubin", "kind=elf,sm=90", "kind=foo,sm=90,file=a.cubin",
                 "kind=ELF,sm=90,file=a.cubin", "kind=elf,foo=1,sm=90,file=a.cubin", "kind=elf,kind=elf,sm=90,file=a.cubin", "kind", "",
                 "kind=elf,sm=90,file=", "kind=elf,sm=90,file=missing", "kind=elf,sm=90,file=a=b", "kind=elf, sm=90,file=a.cubin",
                 "file=a.cubin,sm=90,kind=elf", "kind=elf,sm=90,file=a.cubin,", "kind=elf,sm=80,file=a.cubin"):
        yield "--image3=" + spec, [NONE, O, "--image3=" + spec]
    yield "value apart", [NONE, "-create", "out.fatbin", "-image3", "kind=elf,sm=90,file=a.cubin"]
    yield "option file", [O, "-optf", "options"]
    yield "option file twice", [O, "--options-file=options,options"]
    yield "created twice", [NONE, O, A, "--create=b.fatbin"]
    yield "same file twice", [NONE, O, A, O]
    yield "names twice", [NONE, O, "--ident=a", "--ident=b", "--cmdline=1", "--cmdline=2", P]
    for old in (["--key=1"], ["--key=1", "--key=2"], ["--arch=sm_90"], ["--arch"], ["--cuda"], ["--cuda=true"], ["--opencl"],
                ["--cuda", "--opencl"], ["--host=linux"], ["-host", "mac"], ["--host=windows", "--cuda"], ["--host=foo"], ["--host"],
                ["--elf=a.cubin"], ["--ptx=missing"], ["-ptx", "a.ptx"]):
        yield "deprecated: " + " ".join(old), [NONE, O, A, P, *old]
    yield "PTX as elf for 32 bits", [NONE, O, "-32", "--image3=kind=elf,sm=90,file=a.ptx"]
    yield "no place", [NONE, "--create=no/out.fatbin", A]
    yield "no place for C", [NONE, "--embedded-fatbin=no/out.c", A]
    for option in ("-foo", "--foo", "--compress=maybe", "-g=true", "--cmdline", "--compress-mode=x", "--image2=kind=elf,file=a.cubin"):
        yield option, [O, A, option]
    yield "compression off", [O, "--compress=false", "-c", A, P]
    yield "compression off, apart", [O, "-compress", "false", A, P]


def images(folder):
    """Kind, target and bytes of every image of out.fatbin."""
    path = os.path.join(folder, "out.fatbin")
    listed = subprocess.run([CUBIND, "extract", "--json", path], stdout=subprocess.PIPE, check=True).stdout
    found = []
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([CUBIND, "extract", "-o", out, path], stdout=subprocess.DEVNULL, check=True)
        for name in sorted(os.listdir(out)):
            with open(os.path.join(out, name), "rb") as f:
                found.append(f.read().rstrip(b"\0"))  # what is stored is padded
    rows = json.loads(listed)["images"]
    return [(r["kind"], r["arch"]) for r in rows], found, [r["compression"] for r in rows]


def own(table, *args):
    """Runs `cubind bundle` in the folder of the table."""
    done = subprocess.run([CUBIND, "bundle", *args], cwd=table.bench.folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def check_compression(table):
    all_of = [A, MERCURY, P]
    folder = table.bench.folder
    code, _, err = own(table, NONE, O, *all_of)
    table.ok("not compressed", code == 0, err)
    want = images(folder)
    for mode, pack in (("default", "zstd"), ("balance", "zstd"), ("size", "zstd"), ("speed", "lz4")):
        for switch in ("", "-c", "-g", "--compress-all"):
            code, _, err = own(table, O, "--compress-mode=" + mode, *all_of, *filter(None, [switch]))
            got = images(folder)
            packed = pack if switch or mode == "size" else "none"
            table.ok("compressed: %s %s" % (mode, switch), code == 0 and got[:2] == want[:2] and
                     got[2] == [packed, packed, pack], "%s %s %s" % (err, got[0], got[2]))
    # LTO-IR does not get smaller here: it is stored
    own(table, O, L)
    got = images(folder)
    table.ok("LTO-IR", got[1] == [ltoir().rstrip(b"\0")] and got[2] == ["none"], str(got[2]))
    link = subprocess.run([CUBIND, "link", "-arch=sm_90", "out.fatbin", "-o", "x.cubin"], cwd=folder,
                          stderr=subprocess.PIPE, text=True)
    table.ok("LTO-IR is found by a link", "-dlto" in link.stderr, link.stderr)


def check_spellings(table):
    folder = table.bench.folder

    def result(*args):
        code, _, err = own(table, NONE, "-o", "out.fatbin", *args) if "-o" in args else own(table, NONE, O, *args)
        with open(os.path.join(folder, "out.fatbin"), "rb") as f:
            return code, err, f.read()
    want = result(A, P)
    for name in ("--image", "-image"):
        got = result(name + "=profile=sm_90,file=a.cubin", name + "=profile=compute_90,file=a.ptx")
        table.ok(name + " of clang", got == want, str(got[:2]))
    table.ok("files that say what they are", result("a.cubin", "a.ptx") == want, "")
    got = result(MERCURY, A75, L) == result("div100.cubin", "a75.cubin", "code.ltoir")
    table.ok("more of them", got)
    done = subprocess.run([os.path.join(table.bench.tools, "fatbinary"), "--create", "out.fatbin", NONE, "-64",
                           "--image=profile=sm_90,file=a.cubin"], cwd=folder, stderr=subprocess.PIPE, text=True)
    table.ok("clang's command line under fatbinary's name", done.returncode == 0 and images(folder)[0] == [("cubin", "sm_90")],
             done.stderr)


def check_messages(table):
    for args, words in (
            (["--create=out.fatbin", "make.sh"], r"'make.sh': .*kind and target"),
            (["--create=out.fatbin", elf("a.cubin", "80")], r"code for sm_90"),
            (["--create=out.fatbin", "--image3=kind=cubin,sm=90,file=a.cubin"], r"kinds are elf, ptx and nvvm"),
            (["--create=out.fatbin", "missing"], r"No such file"),
            (["--create=out.fatbin", "--image=profile=90,file=a.cubin"], r"profile in image"),
            (["--create=no/out.fatbin", "a.cubin"], r"no/out.fatbin(.|\n)*No such file"),
            (["--compress-mode=best", "a.cubin"], r"modes are default, size")):
        with open(os.path.join(table.bench.folder, "make.sh"), "w") as f:
            f.write("text\n")
        code, _, err = own(table, *args)
        table.ok("message of " + " ".join(args), code == 1 and re.search(words, err), err)
    with open(os.path.join(table.bench.folder, "kept.fatbin"), "w") as f:
        f.write("kept")
    own(table, "--create=kept.fatbin", A, elf("a.cubin", "80"))
    with open(os.path.join(table.bench.folder, "kept.fatbin")) as f:
        table.ok("a failure leaves an older result alone", f.read() == "kept")


def check_random(table):
    """Any mix of images and options; with fatbinary at hand only."""
    rnd = random.Random(7)
    choice = [A, A75, P, L, MERCURY, elf("compat33.cubin", "100")] + [
        "--image3=kind=ptx,sm=%s,file=space%d.ptx" % (a, i) for a, i in itertools.product(("90", "100a"), range(4))]
    for i in range(60 if table.real else 0):
        args = [NONE, O, C] + rnd.sample(choice, rnd.randrange(5))
        for option, often in (("-64", .8), ("-g", .3), ("-c", .3), ("-link", .3), ("--no-asm", .3), ("--compress-all", .2),
                              ("--ident=" + "x" * rnd.randrange(12), .3), ("--cmdline=" + "o" * rnd.randrange(12), .4)):
            if rnd.random() < often:
                args.append(option)
        rnd.shuffle(args)
        table.check("random %d" % i, args, portable=False)


CLANG_SOURCE = """
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
struct dim3 { unsigned x, y, z; };
typedef struct stream *cudaStream_t;
typedef int cudaError_t;
extern "C" cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, __SIZE_TYPE__, cudaStream_t);
__global__ void k(int *p) { *p = 3; }
"""


def check_clang(table):
    """A build by clang, with cubind in fatbinary's place in a folder like the toolkit's."""
    real = table.real and os.path.realpath(table.real)
    # a script that starts fatbinary elsewhere is no toolkit folder to imitate
    profile = real and os.path.join(os.path.dirname(real), "nvcc.profile")
    if not real or not os.path.exists(profile) or not shutil.which("clang"):
        table.skipped += 1
        print("skip clang: there is no folder of the CUDA toolkit, or no clang")
        return
    top = os.path.dirname(os.path.dirname(real))
    with tempfile.TemporaryDirectory() as folder:
        toolkit = os.path.join(folder, "toolkit")
        os.makedirs(os.path.join(toolkit, "bin"))
        for name in os.listdir(top):
            if name != "bin":
                os.symlink(os.path.join(top, name), os.path.join(toolkit, name))
        for name in os.listdir(os.path.join(top, "bin")):
            target = CUBIND if name == "fatbinary" else os.path.join(top, "bin", name)
            os.symlink(target, os.path.join(toolkit, "bin", name))
        with open(os.path.join(folder, "k.cu"), "w") as f:
            f.write(CLANG_SOURCE)
        for extra in ([], ["-fgpu-rdc"]):
            done = subprocess.run(["clang", "-x", "cuda", "--cuda-path=" + toolkit, "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_80",
                                   "--cuda-gpu-arch=sm_86", *extra, "-c", "k.cu", "-o", "k.o"], cwd=folder, stderr=subprocess.PIPE, text=True)
            listed = subprocess.run([CUBIND, "extract", "--json", "k.o"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            found = [i["arch"] for i in json.loads(listed)["images"]] if done.returncode == 0 else []
            # newer versions keep PTX of the last target only, or none
            table.ok("a build by clang %s" % extra, done.returncode == 0 and {"sm_80", "sm_86"} <= set(found), done.stderr)


def main():
    table = Table(__file__, files, "fatbinary")
    for name, args in cases():
        table.check(name, args)
    check_random(table)
    check_compression(table)
    check_spellings(table)
    check_messages(table)
    check_clang(table)
    table.done()


main()
