#!/usr/bin/env python3
"""Archives and -l: members, order, search, damage, libcudadevrt by name, as with nvlink."""

import os

from _containers import ELF, archive, elf, entry, fatbin, host_object, member
from _nvlink import Table

A = "-arch=sm_90"
O = ["-o", "out.cubin"]
REG = ["--register-link-binaries=reg.c"]
FILES = {}
CASES = []


def case(name, args, files=()):
    FILES.update(files)
    CASES.append((name, [A] + args + O))


def single(name, data, args=()):
    """An archive alone: who is in it shows in the register file."""
    file = name.replace(" ", "-") + ".a"
    case(name, list(args) + [file] + REG, {file: data})


def build(read):
    a, b, c = (read(n + ".cubin") for n in ("a", "b", "c1"))
    code = {n: fatbin(entry(ELF, "90", d, "zstd")) for n, d in (("a", a), ("b", b), ("c", c))}
    oa, ob, oc = (host_object(code[n], "_" + n) for n in "abc")
    other = host_object(fatbin(entry(ELF, "75", read("a75.cubin"))), "_other")
    plain = elf([(".text", b"\xc3")])
    ma, mb, mc = member(b"a.o/", oa), member(b"b.o/", ob), member(b"c.o/", oc)
    FILES.update({"a.o": oa, "b.o": ob, "c.o": oc, "plain.o": plain, "other.o": other})

    single("members in order", archive(mb, ma))
    single("empty archive", archive())
    single("symbol tables", archive(member(b"/", b"\0" * 8), member(b"/SYM64/", b"\0" * 8), ma, mb))
    names = b"a_long_member_name.o/\nanother_long_name.o/\n"
    single("long names", archive(member(b"//", names), member(b"/0", oa), member(b"/22", ob)))
    single("long name in a message", archive(member(b"//", names), member(b"/22", oa)))
    single("no long names", archive(member(b"/0", oa), mb))
    single("other names", archive(member(b"x/", oa), member(b"a b/c", ob)))
    single("plain member", archive(member(b"p.o/", plain), mb))
    single("no entry for the target", archive(member(b"o.o/", other), mb))
    single("cubin member", archive(member(b"a.cubin/", a), mb))
    for what, data in (("text", b"just text "), ("fatbin", code["a"]), ("empty", b""),
                       ("archive", archive(ma)), ("ptx", b".version 9.0\n" * 9)):
        single("member " + what, archive(mb, member(b"x/", data), ma))
    single("member executable", archive(member(b"x/", host_object(code["b"], "_b", e_type=2))))
    single("member library", archive(member(b"x/", host_object(code["b"], "_b", e_type=3))))
    single("member of 32 bits", archive(member(b"x/", oa[:4] + b"\1" + oa[5:]), mb))
    single("member without code", archive(member(b"x/", elf([
        (".nvFatBinSegment", b"\0" * 24)])), mb))
    single("bsd long name", archive(mb, member(b"#1/8", b"long.o\0\0" + oa)))
    single("bsd short name", archive(mb, member(b"a.o", oa)))
    # damage
    for size in (1, 4, 5, 16, 30, 59, 60, 63, 100, 1000):
        single("cut after %d" % size, archive(mb) + mc[:size])
    single("end marks", archive(mb, member(b"c.o/", oc, end=b"xx")))
    for size in ("junk", "0", "-1", "99", "9999999999"):
        single("size " + size, archive(mb, member(b"c.o/", oc, size=size)))
    # one archive twice; another copy of it
    FILES.update({"once.a": archive(mb), "copy.a": archive(mb)})
    case("the same archive", ["once.a", "./once.a", "a.o"] + REG)
    case("a copy", ["once.a", "copy.a"])
    case("the same object", ["b.o", "b.o"])
    case("any ending", ["once.lib", "a.o"] + REG, {"once.lib": archive(mb)})
    case("wrong ending", ["once.so", "a.o"], {"once.so": archive(mb)})
    case("wrong ending, cubin", ["x.cubin"], {"x.cubin": archive(mb)})

    # -l
    FILES.update({"d1/libx.a": archive(mb), "d2/libx.so": b"not looked at", "d2/libx.a": archive(mc),
                  "d3/libarm.a": archive(member(b"b.o/", host_object(code["b"], machine=183))),
                  "d4/libarm.a": archive(mb), "d3/libcub.a": archive(member(b"b/", b)),
                  "d3/libmix.a": archive(member(b"a/", a), mb), "d3/libtext.a": b"text" * 30,
                  "d3/libempty.a": b"", "d3/libdir.a/file": b"", "d3/libplain.a": archive(
                      member(b"p.o/", plain)), "d3/libthin.a": archive(thin=True),
                  "d3/libscript.a": b"/* GNU ld script\n*/\nGROUP ( /lib/libx-2.a )\n",
                  "d3/libslash.a": b"12345678 15 before a / of this", "d3/libeight.a": b"12345678",
                  "d3/libx.a": archive(member(b"t/", b"text"), mb)})
    for name, args in (
        ("found", ["-Ld1", "-lx"]), ("found, separate", ["-L", "d1", "-l", "x"]),
        ("trailing slash", ["-Ld1///", "-lx"]), ("first folder", ["-Ld1,d4", "-lx"]),
        ("shared library first", ["-Ld1", "-Ld2", "-lx"]), ("not found", ["-Ld1", "-lnone"]),
        ("no folder", ["-lx"]), ("working folder", ["-L.", "-lx"]),
        ("absolute name", ["-Ld1", "-llibx.a"]), ("colon name", ["-Ld1", "-l:libx.a"]),
        ("other machine", ["-Ld3", "-larm"]), ("other machine, next folder", ["-Ld3", "-Ld4",
                                                                           "-larm"]),
        ("other machine, wanted", ["-Ld3", "-larm", "-cpu-arch=AARCH64"]),
        ("other machine, as error", ["-Ld3", "-larm", "-Werror"]),
        ("only cubins", ["-Ld3", "-lcub"]), ("cubin and host", ["-Ld3", "-lmix"]),
        ("no archive", ["-Ld3", "-ltext"]), ("empty", ["-Ld3", "-lempty"]),
        ("folder", ["-Ld3", "-ldir"]), ("plain", ["-Ld3", "-lplain"]),
        ("no members", ["-Ld3", "-lthin"]), ("twice", ["-Ld1", "-lx", "-lx"]),
        ("list", ["-Ld1", "-lx,none"]), ("X86_64", ["-Ld1", "-lx", "-cpu-arch=X86_64"]),
        ("missing folder", ["-Lnowhere", "-Ld1", "-lx"]),
        ("script of the host's linker", ["-Ld3", "-lscript"]),
        ("no slash in a name", ["-Ld3", "-lslash"]), ("eight bytes", ["-Ld3", "-leight"]),
        ("text in front, next folder", ["-Ld3", "-Ld1", "-lx"]),
    ):
        case("library " + name, args + ["a.o"] + REG)
        # the first few are looked for otherwise
        case("library %s, after others" % name, ["-lnone%d" % i for i in range(9)] + args + ["a.o"] + REG)
    case("library in a folder below", ["-Ld1", "-lnone"] + ["-lnone%d" % i for i in range(9)] +
         ["-lsub/x", "-lx", "a.o"] + REG, {"d1/libsub/x.a": archive(mc)})
    case("library before the object", ["-lx", "-Ld1", "a.o"])
    case("library after everything", ["-Ld1", "-lx", "a.o", "c.o"] + REG)

    # thin
    thin = archive(member(b"//", b"b.o/\nsub/b.o/\n/b.o/\n"), member(b"/0", b"", size="1"), thin=True)
    FILES.update({"thin.a": thin, "sub/b.o": ob})
    case("thin archive", ["thin.a", "a.o"] + REG)
    case("thin, sub folder", ["thin2.a", "a.o"], {"thin2.a": archive(
        member(b"//", b"nodir/b.o/\n"), member(b"/0", b"", size="1"), thin=True)})
    case("thin, missing", ["thin3.a", "a.o"], {"thin3.a": archive(
        member(b"//", b"nosuch.o/\n"), member(b"/0", b"", size="1"), thin=True)})

    # libcudadevrt, known by its name
    FILES.update({"libcudadevrt.a": archive(mb), "cudadevrt/b.o": ob, "cudadevrt/c.o": oc})
    for name, args in (
        ("needed", ["a.o", "libcudadevrt.a"]), ("not needed", ["b.o", "libcudadevrt.a"]),
        ("kept", ["c.o", "libcudadevrt.a", "-keep-system-libraries"]),
        ("first", ["libcudadevrt.a", "a.o"]), ("first, kept", ["libcudadevrt.a", "a.o",
                                                            "-keep-system-libraries"]),
        ("after plain", ["plain.o", "libcudadevrt.a", "a.o"]),
        ("after none", ["other.o", "libcudadevrt.a", "-suppress-arch-warning"]),
        ("then another", ["c.o", "libcudadevrt.a", "a.o"]),
        ("needed, then another", ["a.o", "libcudadevrt.a", "c.o"]),
        ("then plain", ["c.o", "libcudadevrt.a", "plain.o"]),
        ("object in its folder", ["a.o", "cudadevrt/b.o"]),
        ("object not needed", ["a.o", "b.o", "cudadevrt/c.o"]),
        ("relocatable", ["-r", "a.o", "libcudadevrt.a"]),
        ("relocatable, not needed", ["-r", "c.o", "libcudadevrt.a"]),
        ("debug", ["-g", "c.o", "libcudadevrt.a"]),
        ("library", ["-L.", "-lcudadevrt", "a.o"]), ("as library, not needed", ["-L.", "-lcudadevrt",
                                                                         "c.o"]),
    ):
        case("device runtime: " + name, args + REG)
    case("device runtime of another target", ["-L.", "-lcudadevrt", "c.o"])
    FILES.update({"cudadevrt/other.o": other})
    for name, args in (
        ("needed", ["a.o", "cudadevrt/other.o"]), ("relocatable", ["-r", "a.o", "cudadevrt/other.o"]),
        ("not needed", ["c.o", "cudadevrt/other.o"]),
        ("then another", ["c.o", "cudadevrt/other.o", "b.o"]),
        ("then none", ["c.o", "cudadevrt/other.o", "other.o", "-suppress-arch-warning"]),
        ("after none", ["other.o", "cudadevrt/other.o", "b.o", "-suppress-arch-warning"]),
    ):
        case("device runtime of another target: " + name, args + REG)
    # where nothing is linked
    for name in ("a.o", "c.o"):
        CASES.append(("device runtime, virtual target: " + name,
                      ["-arch=compute_90", name, "libcudadevrt.a"] + REG))

    # objects of an earlier device link
    linked = elf([("__nv_module_id", b"def _a\0def _b\0"), (".nvFatBinSegment", b"\0" * 24),
                  (".nv_fatbin", b"\0" * 24)])
    FILES.update({"linked.o": linked, "liblinked.a": archive(member(b"l.o/", linked))})
    for name, args in (
        ("after", ["a.o", "b.o", "c.o", "linked.o"]), ("before", ["linked.o", "a.o", "c.o"]),
        ("in an archive", ["a.o", "c.o", "liblinked.a"]), ("in a library", ["-L.", "-llinked",
                                                                         "a.o", "c.o"]),
        ("of an archive's member", ["once.a", "c.o", "linked.o"]),
        ("relocatable", ["-r", "a.o", "c.o", "linked.o"]),
    ):
        case("linked %s, registered" % name, args + REG)
        case("linked " + name, args)


def prepare(folder):
    def read(name):
        with open(os.path.join(folder, name), "rb") as f:
            return f.read()
    if not FILES:
        build(read)
    for name, data in FILES.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)


def main():
    table = Table(__file__, prepare)
    for name, args in CASES:
        table.check(name, args)
    table.done()


main()
