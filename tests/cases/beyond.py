#!/usr/bin/env python3
"""What cubind link has beyond nvlink: reasons, traces, maps, summaries, archives of a link."""

import os
import shutil
import struct
import subprocess
import tarfile
import tempfile

from _checks import expect, finish
from _files import read
from _nvlink import CUBIND, INPUTS, ROOT, archive


def link(folder, *args, program="link", env=None):
    done = subprocess.run(
        [CUBIND, program, "-arch=sm_90", *args], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=dict(os.environ, **(env or {})),
    )
    return done.returncode, done.stdout, done.stderr


def explanations(folder):
    code, _, err = link(folder, "a.cubin", "-o", "out")
    expect("undefined: who uses it", "help: used by ka in a.cubin" in err and code == 255, err)
    expect("undefined: no output", not os.path.exists(os.path.join(folder, "out")))
    code, _, err = link(folder, "host.o", "-o", "out")
    expect("undefined: readable name", "that is hbar(int)" in err, err)
    code, _, err = link(folder, "host.o", "-o", "out", "--emulate=nvlink-13.0.88")
    expect("undefined: nothing more when emulating", err.count("\n") == 1, err)
    code, _, err = link(folder, "b.cubin", "b.cubin", "-o", "out")
    expect("same file twice", "is one file given twice?" in err and code == 1, err)
    code, _, err = link(folder, "tmpl.cubin", "a.cubin", "b.cubin", "rec.cubin", "-o", "out",
                        "--why-live=ns::mul,bar", "--why-live", "foo,nosuch")
    expect("why live: a chain to a kernel",
          "ns::mul(int) [_ZN2ns3mulEi] is in the output:\n"
          "    called by void kern<int>(T1 *) [_Z4kernIiEvPT_]: tmpl.cubin: a kernel" in err, err)
    expect("why live: plain names", "bar is in the output:\n    called by ka: a.cubin" in err, err)
    expect("why live: a removed one",
          "foo is not in the output: no kernel in the output reaches it" in err, err)
    expect("why live: an unknown one", "nosuch: no input has a function of this name" in err, err)
    code, _, err = link(folder, "a.cubin", "b.cubin", "-o", "out", "-kernels-used=kb",
                        "--why-live=ka")
    expect("why live: pruned kernel",
          "ka is not in the output: it is a kernel that -kernels-used does not name" in err, err)
    code, _, err = link(folder, "at.cubin", "-o", "out", "--why-live=bar")
    expect("why live: address taken", "its address is taken" in err, err)
    code, _, err = link(folder, "a.cubin", "b.cubin", "-o", "out", "--trace-symbol=bar,ka")
    expect("trace", sorted(err.split("\n")) == ["", "a.cubin: defines ka", "a.cubin: refers to bar",
                                               "b.cubin: defines bar"], err)


def kernels(folder):
    code, _, err = link(folder, "tmpl.cubin", "-o", "out", "--require-kernel=kern<int>")
    expect("required kernel is there", code == 0 and not err, err)
    os.unlink(os.path.join(folder, "out"))
    code, _, err = link(folder, "tmpl.cubin", "-o", "out", "--require-kernel=ns::mul,nosuch")
    expect("required kernel is a function", "it is a device function, not a kernel" in err, err)
    expect("required kernel is missing", "Required kernel 'nosuch' is not in the output" in err and
          code == 255, err)
    expect("required kernel: no output", not os.path.exists(os.path.join(folder, "out")))
    code, _, err = link(folder, "a.cubin", "b.cubin", "-o", "out", "-kernels-used=kb",
                        "--require-kernel=ka")
    expect("required kernel is pruned", code == 255 and "-kernels-used does not name" in err, err)


def maps(folder):
    code, _, err = link(folder, "a.cubin", "b.cubin", "rec.cubin", "v8.cubin", "-o", "out",
                        "--map=map.txt")
    text = read(folder, "map.txt").decode()
    expect("map: sections", "\n.text.bar\n" in text and ".nv.constant0.ka" in text, text)
    expect("map: pieces", "b.cubin: .text.bar" in text and "v8.cubin: var" in text, text)
    expect("map: what is left out",
          "rec.cubin: foo: no kernel in the output reaches it" in text, text)
    first = text
    link(folder, "a.cubin", "b.cubin", "rec.cubin", "v8.cubin", "-o", "out", "--map=map.txt")
    expect("map: the same again", read(folder, "map.txt").decode() == first)


def summaries(folder):
    code, _, err = link(folder, "host.o", "host2.o", "b75.cubin", "-o", "out", "-arch=sm_75",
                        "--summarize-warnings")
    expect("summary: one line for a kind", err.count("SM Arch ('sm_75') not found") == 1 and
          "and 1 more of this kind" in err, err)
    code, _, err = link(folder, "rec.cubin", "rec2.cubin", "-o", "out", "--summarize-warnings")
    expect("the recursion is named", "help: recursion: foo -> bar -> foo" in err or
          "help: recursion: bar -> foo -> bar" in err, err)
    expect("summary: a single warning", err.count("warning") >= 1 and "more of this kind" not in err,
          err)
    code, _, err = link(folder, "b.cubin", "notes.txt", "-o", "out")
    expect("an input without device code is reported", code == 0 and "notes.txt" in err, err)
    code, _, err = link(folder, "b.cubin", "notes.txt", "-o", "out", "--strict")
    expect("and is an error when strict", code != 0 and "notes.txt" in err, err)


def repro(folder):
    os.makedirs(os.path.join(folder, "libs"))
    archive(os.path.join(folder, "libs", "libh.a"), [("host2.o", read(folder, "host2.o"))])
    args = ["host.o", "b.cubin", "-lh", "-kernels-used", 'hk,"a,b"', "-o", "out"]
    folders = {"LIBRARY_PATH": "nosuch:libs"}
    code, _, err = link(folder, *args, "--repro=case.tar", env=folders)
    expect("repro: the link works", code == 0, err)
    again = os.path.join(folder, "again")
    with tarfile.open(os.path.join(folder, "case.tar")) as tar:
        names = tar.getnames()
        tar.extractall(again)
    expect("repro: has the library", any(n.endswith("libs/libh.a") for n in names), names)
    done = subprocess.run(["sh", os.path.join(again, "case", "link.sh")],
                          env=dict(os.environ, CUBIND=CUBIND))
    expect("repro: repeats", done.returncode == 0 and
          os.path.exists(os.path.join(again, "case", "out")))
    first = read(folder, "case.tar")
    link(folder, *args, "--repro=case.tar", env=folders)
    expect("repro: the same again", read(folder, "case.tar") == first)
    code, _, err = link(folder, "host.o", "-o", "out", "--repro=bad.tar")
    expect("repro: of a failing link", code == 255 and
          "bad/link.sh" in tarfile.open(os.path.join(folder, "bad.tar")).getnames(), err)
    code, _, err = link(folder, "host.o", "-o", "out", "--repro=nosuch/x.tar")
    expect("repro: cannot be written", code == 1 and "nosuch/x.tar" in err, err)


def command(folder):
    code, out, err = link(folder, "b.cubin", "-o", "out", "-split-compile-extended=2")
    expect("option without effect is named", "'--split-compile-extended' has no effect" in err, err)
    done = subprocess.run([CUBIND, "link", "--help"], stdout=subprocess.PIPE, text=True)
    expect("help", done.returncode == 0 and "--require-kernel" in done.stdout and
          "--dot-file" not in done.stdout, done.stdout[:200])
    names = [l.split()[0] for l in done.stdout.split("\n") if l.startswith("--")]
    expect("help is sorted", names == sorted(names))
    with open(os.path.join(ROOT, "man", "cubind-link.1.scd")) as f:
        page = f.read()
    missing = [n for n in names if "*%s*" % n not in page]
    expect("the manual has every option of the help", not missing, missing)
    done = subprocess.run([CUBIND, "link", "--version"], stdout=subprocess.PIPE, text=True)
    expect("version", "cubind" in done.stdout.split("\n")[0] and
          "release 13.0, V13.0.88" in done.stdout, done.stdout)
    done = subprocess.run([CUBIND], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expect("no command", done.returncode == 1 and "Commands:" in done.stderr)
    done = subprocess.run([CUBIND, "nosuch"], stderr=subprocess.PIPE, text=True)
    expect("unknown command", done.returncode == 1 and "'nosuch'" in done.stderr)
    for name in ("help", "version"):
        done = subprocess.run([CUBIND, name], stdout=subprocess.PIPE, text=True)
        expect(name, done.returncode == 0 and "cubind" in done.stdout)


PLAIN = (b"\x7fELF\2\1\1" + b"\0" * 9 +
         struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, 1, 0) + b"\0" * 64)


def names(folder):
    """The first word of a message is the program's name; what adds nothing is said under its own."""
    with open(os.path.join(folder, "plain.o"), "wb") as f:
        f.write(PLAIN)
    archive(os.path.join(folder, "plain.a"), [("plain.o", PLAIN)])
    os.makedirs(os.path.join(folder, "libs"))
    archive(os.path.join(folder, "libs", "libp.a"), [("plain.o", PLAIN)])
    args = ["b.cubin", "plain.o", "plain.a", "-Llibs", "-lp", "-lnosuch", "-o", "out"]
    code, _, err = link(folder, *args)
    expect("adds nothing", code == 0 and err == (
        "cubind info    : -lnosuch adds nothing: there is no libnosuch.a\n"
        "cubind info    : 'plain.o' adds nothing: it is a host object without device code\n"
        "cubind info    : 'plain.a' adds nothing: it is an archive without device code\n"), err)
    code, _, err = link(folder, *args, "--emulate=nvlink-13.0.88")
    expect("adds nothing: silent when emulating", code == 0 and err == "", err)
    _, _, err = link(folder, "-lnosuch", "b.cubin", "-o", "out", env={"LIBRARY_PATH": ""})
    expect("no library folders", "help: there is no folder to look in" in err, err)

    code, _, err = link(folder, "a.cubin", "-o", "out")
    expect("own name", err.startswith("cubind error   : Undefined reference"), err)
    code, _, err = link(folder, "a.cubin", "-o", "out", "--emulate=nvlink-13.0.88")
    expect("own name, emulating", err.startswith("nvlink error   : Undefined reference"), err)
    code, _, err = link(folder, "a.cubin", "-o", "out", "-tool-name=mylink")
    expect("a name of one's own", err.startswith("mylink error   : Undefined reference"), err)
    os.symlink(CUBIND, os.path.join(folder, "nvlink"))
    done = subprocess.run(["./nvlink", "-arch=sm_90", "a.cubin", "-o", "out"], cwd=folder,
                          stderr=subprocess.PIPE, text=True)
    expect("nvlink's name", done.stderr.startswith("nvlink error   : Undefined reference"),
           done.stderr)
    link(folder, "b.cubin", "-o", "out")
    expect("the record of tools names nvlink", b"\0nvlink\0" in read(folder, "out"))

    for value in (["--emulate=nvlink"], ["--emulate", "nvlink"]):
        code, _, err = link(folder, *value, "b.cubin", "-o", "out")
        expect("unknown tool to emulate", code == 1 and err == (
            "cubind fatal   : Value 'nvlink' is not defined for option 'emulate'\n"
            "  help: it takes nvlink-13.0.88\n"), err)


def outputs(folder):
    """Results replace files as a whole, and follow links."""
    os.symlink("target.cubin", os.path.join(folder, "link.cubin"))
    code, _, err = link(folder, "b.cubin", "-o", "link.cubin")
    expect("a dangling link is followed", os.path.islink(os.path.join(folder, "link.cubin")) and
          os.path.exists(os.path.join(folder, "target.cubin")), err)
    os.chmod(os.path.join(folder, "target.cubin"), 0o640)
    link(folder, "b.cubin", "-o", "link.cubin")
    mode = os.stat(os.path.join(folder, "target.cubin")).st_mode & 0o777
    expect("the mode stays", mode == 0o640, oct(mode))
    before = read(folder, "target.cubin")
    code, _, err = link(folder, "a.cubin", "-o", "link.cubin")
    expect("a failed link leaves the old file", code == 255 and
          read(folder, "target.cubin") == before)
    before = read(folder, "b.cubin")
    code, out, err = link(folder, "b.cubin", "-o", "b.cubin")
    expect("the output may be no input", code == 1 and read(folder, "b.cubin") == before, err)
    code, out, err = link(folder, "b.cubin", "-o", "b.cubin", "--emulate=nvlink-13.0.88")
    expect("as nvlink it may", code == 0 and len(read(folder, "b.cubin")) > 1000, err)
    expect("no temporary files stay", not [n for n in os.listdir(folder) if ".cubind-" in n])


def main():
    for part in (explanations, kernels, maps, summaries, repro, command, names, outputs):
        folder = tempfile.mkdtemp(prefix="beyond-")
        for name in os.listdir(INPUTS):
            if name.endswith((".cubin", ".o", ".fatbin")):
                shutil.copy(os.path.join(INPUTS, name), folder)
        with open(os.path.join(folder, "notes.txt"), "w") as f:
            f.write("nothing for a GPU in here " * 10)
        part(folder)
        shutil.rmtree(folder)
    finish()


if __name__ == "__main__":
    main()
