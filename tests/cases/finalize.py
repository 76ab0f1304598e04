#!/usr/bin/env python3
"""The command line of cubind finalize: options, exit statuses, messages, traces."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from _checks import expect, finish
from _files import read, write

CUBIND = os.environ["CUBIND"]
ROOT = os.environ["CUBIND_ROOT"]
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import cubin  # noqa: E402

LINKED = os.path.join(ROOT, "tests/golden/statics-100-default/expected.cubin")
OBJECT = os.path.join(ROOT, "tests/golden/shared-ptx-100-r/expected.cubin")
TMP = tempfile.mkdtemp(prefix="finalize-")


def run(*args, arch="sm_100", output="out.cubin", env=None):
    """Exit status, stderr and the output or None."""
    path = os.path.join(TMP, output)
    if os.path.exists(path):
        os.remove(path)
    argv = [CUBIND, "finalize"] + (["-arch", arch] if arch else []) + ["-o", path, *args]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, **(env or {})))
    return done.returncode, done.stderr, read(path) if os.path.exists(path) else None


def patched(change, source=LINKED):
    data = bytearray(read(source))
    change(data, cubin.Cubin(bytes(data)))
    return write("in.cubin", data)


def poke(offset, value):
    def change(data, _):
        data[offset] = value
    return change


def poke_section(prefix, offset, flip):
    def change(data, image):
        section = next(s for s in image.sections if s.name.startswith(prefix) and s.sh_size)
        data[section.sh_offset + offset] ^= flip
    return change


def poke_compat(tag, value):
    def change(data, image):
        at = image.find(".nv.compat").sh_offset
        while data[at + 1] != tag:
            at += 4 + (struct.unpack_from("<H", data, at + 2)[0] if data[at] == 4 else 0)
        struct.pack_into("<H", data, at + 2, value)
    return change


def note(image):
    """The first tool note: (object name, options)."""
    data = cubin.Cubin(image).find(".note.nv.tkinfo").data
    words = struct.unpack_from("<6I", data, 24)
    return tuple(cubin.cstr(data, 48 + words[i]) for i in (1, 5))


def statuses():
    code, err, out = run("--self-check", LINKED)
    expect("0: same target, same bytes", code == 0 and not err and out == read(LINKED), err)
    code, err, out = run("--self-check", OBJECT, arch="sm_103f")
    expect("0: relocatable input", code == 0 and struct.unpack_from("<H", out, 16) == (1,), err)
    code, err, out = run(LINKED, arch="sm_120")
    expect("4: other family", code == 4 and out is None and
           "code for sm_100 is not accepted for sm_120" in err, err)
    code, err, _ = run("--fastpath-off", LINKED, arch="sm_103")
    expect("4: kernel, source and target are named", code == 4 and
           "is compiled for sm_100 and must be compiled for sm_103, which needs a compiler" in err
           and "kernel '_Z" in err, err)
    code, err, _ = run(patched(poke(48, 4)))
    expect("5: plain SASS", code == 5 and "no Mercury code" in err, err)
    for name, change in (("ELF type", poke(16, 3)), ("no ELF", poke(0, 0)),
                         ("both kinds", poke(48, 6))):
        code, err, _ = run(patched(change))
        expect("6: " + name, code == 6, err)
    code, err, _ = run("--post-link", OBJECT)
    expect("6: executable expected", code == 6 and "executable is expected" in err, err)
    code, err, _ = run(patched(poke(8, 9)))
    expect("7: ABI", code == 7, err)
    for code, prefix, offset, flip in (
            (17, ".nv.capmerc.text.", 4, 8), (17, ".text.", 2, 2), (17, ".text.", 1, 0x80), (18, ".rela.text.", 12, 1),
            (18, ".nv.merc.rela.text.", 8, 1), (19, ".nv.merc.symtab", 28, 16)):
        got, err, out = run("--self-check", patched(poke_section(prefix, offset, flip)))
        expect("%d: %s" % (code, prefix), got == code and out is None and "self check" in err, err)
    code, err, _ = run(patched(poke_compat(7, 0x102)))
    expect("25: Mercury version", code == 25 and "0x102 is newer than 0x101" in err, err)
    expect("1: no file", run()[0] == 1)
    expect("1: no target", run(LINKED, arch=None)[0] == 1)
    expect("1: unreadable", run(os.path.join(TMP, "absent"))[0] == 1)
    expect("1: older target", run(LINKED, arch="sm_90")[0] == 1)
    expect("1: two files", run(LINKED, OBJECT)[0] == 1)


def options():
    for option in ("--binary-kind=mercury", "--generate-line-info", "--disable-smem-reservation",
                   "--compile-as-at-entry-patch", "--trap-into-debugger"):
        code, err, out = run(option, LINKED)
        expect(option, code == 4 and out is None and
               option.replace("=", " ") + " needs a compiler back end" in err, err)
    for args in (["--binary-kind", "capmerc"], ["--cap-merc"], ["--opt-level", "3"],
                 ["--opportunistic-finalization-lvl=0"], ["--post-link"]):
        code, err, out = run(*args, LINKED)
        expect(args[0], code == 0 and not err and out == read(LINKED), err)
    for args in (["--binary-kind", "elf"], ["--opt-level", "9"], ["--opt-level"],
                 ["--opportunistic-finalization-lvl", "3"], ["--cap-merc=1"], ["--nonsense"]):
        code, err, out = run(LINKED, *args)
        expect("wrong: " + " ".join(args), code == 1 and out is None and err.count("cubind finalize: ") == 1, err)
    code, err, _ = run("--opportunistic-finalization-lvl=1", LINKED, arch="sm_103")
    expect("opportunistic: said", code == 0 and
           "fastpath optimization applied for off-target 100 -> 103 finalization" in err, err)
    source = write("in.cubin", read(LINKED))
    code, err, out = run("--verbose-tkinfo", source, arch="sm_100f")
    expect("verbose note", note(out) == ("out.cubin", "in.cubin -o out.cubin -arch sm_100f "),
           note(out))
    code, err, again = run("--verbose-tkinfo", write("second.cubin", out), arch="sm_100f")
    expect("verbose note, again", again == out, note(again))
    code, err, plain = run(write("back.cubin", out), arch="sm_100")
    expect("names stay", note(plain) == ("out.cubin", "in.cubin -o out.cubin -arch sm_100 "),
           note(plain))


def plain():
    """Executables without a Mercury side: code and data as they were, segments that fit."""
    for args in (["--out-sass"], ["--binary-kind", "sass", "--self-check"]):
        code, err, out = run(*args, LINKED, arch="sm_103a")
        old, new = cubin.Cubin(read(LINKED)), cubin.Cubin(out)
        kept = [s for s in old.sections if not s.sh_flags & 0x10000000]
        expect("sections", [s.name for s in new.sections] == [s.name for s in kept])
        expect("contents", all(a.data == b.data for a, b in zip(kept, new.sections)
                               if a.name not in (".nv.compat", ".note.nv.tkinfo")))
        expect("header", struct.unpack_from("<I", out, 48)[0] & 0xffffff == 103 << 8 | 4)
        places = [tuple(s.sh_offset + k * s.sh_size for k in (0, 1)) for s in new.sections]
        starts = {a for a, _ in places} | {struct.unpack_from("<Q", out, 32)[0]}
        count, = struct.unpack_from("<H", out, 56)
        heads = [struct.unpack_from("<IIQ", out, struct.unpack_from("<Q", out, 32)[0] + 56 * i)
                 for i in range(count)]
        expect("segments", count == 6 and all(p[2] in starts for p in heads), heads)
        done = subprocess.run([CUBIND, "check", write("plain.cubin", out)], capture_output=True,
                              text=True)
        expect("check", done.returncode == 0, done.stdout)
        code, err, _ = run(write("plain.cubin", out), arch="sm_103a")
        expect("once only", code == 5 and "no Mercury code" in err, err)


def traces():
    _, err, _ = run("--edbg", LINKED, arch="sm_103")
    name = LINKED
    expect("--edbg", err.startswith("FNLZR: Input ELF: %s\nFNLZR: Post-Link Mode\n"
                                    "FNLZR: Flags [ 1 | 0 ]\nFNLZR: Starting %s\n" % (name, name))
           and err.endswith("FNLZR: Ending %s\n" % name), err)
    _, same, _ = run(LINKED, arch="sm_103", env={"CUBIND_EDBG": "1"})
    expect("CUBIND_EDBG", same == err, same)
    _, err, _ = run(LINKED, arch="sm_103", env={"CUBIND_EDBG": "0"})
    expect("CUBIND_EDBG=0", err == "", err)
    _, err, _ = run("--edbg", OBJECT)
    expect("pre-link", "FNLZR: Pre-Link Mode\n" in err, err)
    _, err, _ = run(LINKED, arch="sm_103", env={"CAN_FINALIZE_DEBUG": "1"})
    expect("CAN_FINALIZE_DEBUG", err.startswith("can finalize: sm_100 (as 100) -> sm_103: ") and
           err.endswith("yes\n") and err.count("\n") == 1, err)


def link_traces():
    """The same of a link; without the variables it is silent."""
    def link(arch, **env):
        done = subprocess.run([CUBIND, "link", "-arch=" + arch, OBJECT, "-o", os.path.join(TMP, "traced")],
                              capture_output=True, text=True, env=dict(os.environ, **env))
        return done.returncode, done.stderr
    name = os.path.join(TMP, "traced")
    code, err = link("sm_100", CUBIND_EDBG="1")
    expect("link: CUBIND_EDBG", code == 0 and err.startswith(
        "FNLZR: Input ELF: %s\nFNLZR: Post-Link Mode\n" % name) and
        err.endswith("FNLZR: result 0\nFNLZR: Ending %s\n" % name) and " functions, " in err, err)
    code, err = link("sm_103", CAN_FINALIZE_DEBUG="1")
    expect("link: CAN_FINALIZE_DEBUG", err.startswith(
        "%s: can finalize: sm_100 (as 100) -> sm_103: " % OBJECT) and err.split("\n")[0].endswith("yes"), err)
    expect("link: silent", link("sm_100")[1] == "")


statuses()
options()
plain()
traces()
link_traces()
shutil.rmtree(TMP)
finish()
