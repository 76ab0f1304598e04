#!/usr/bin/env python3
"""Two objects that disagree about a name: its kind, space, binding, or whether it has a value.  Every pair
of kinds in both orders, in a final and a relocatable link, ends as with nvlink: the same messages, exit code and bytes.

What no compiler makes is forged: weak aliases.  The pairs need ptxas and nvlink; where nvlink crashes,
cubind must only end in good order.  Usage: disagree.py [TARGET...]
"""
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from _checks import expect, finish, part, skip
from _nvlink import CUBIND, EMULATE, ROOT, real_nvlink

sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import cubin  # noqa: E402

HEAD = ".version 8.6\n.target sm_%s\n.address_size 64\n"
TARGETS = ["90", "100"]
LOAD = "ld.%s.u32 i, [x]; st.global.u32 [a], i;"
TEXTURE = "tex.1d.v4.f32.s32 {f, f, f, f}, [x, {i}]; st.global.f32 [a], f;"
SURFACE = "suld.b.1d.b32.trap i, [x, {i}]; st.global.u32 [a], i;"
CALL = "{ .param .u64 q; st.param.u64 [q], a; call x, (q); }"
# name: what declares or defines x, what a kernel does with it
KINDS = {
    "texture": (".visible .global .texref x;", TEXTURE),
    "weak texture": (".weak .global .texref x;", TEXTURE),
    "extern texture": (".extern .global .texref x;", TEXTURE),
    "surface": (".visible .global .surfref x;", SURFACE),
    "extern surface": (".extern .global .surfref x;", SURFACE),
    "global": (".visible .global .align 4 .u32 x;", LOAD % "global"),
    "data": (".visible .global .align 4 .u32 x = 5;", LOAD % "global"),
    "extern global": (".extern .global .align 4 .u32 x;", LOAD % "global"),
    "weak global": (".weak .global .align 4 .u32 x;", LOAD % "global"),
    "weak data": (".weak .global .align 4 .u32 x = 5;", LOAD % "global"),
    "common": (".common .global .align 4 .u32 x;", LOAD % "global"),
    "const": (".visible .const .align 4 .u32 x = 5;", LOAD % "const"),
    "extern const": (".extern .const .align 4 .u32 x;", LOAD % "const"),
    "weak const": (".weak .const .align 4 .u32 x = 5;", LOAD % "const"),
    "shared": (".visible .shared .align 4 .u32 x;", LOAD % "shared"),
    "dynamic": (".extern .shared .align 4 .b8 x[];", LOAD % "shared"),
    "weak shared": (".weak .shared .align 4 .u32 x;", LOAD % "shared"),
    "managed": (".visible .global .attribute(.managed) .align 4 .u32 x;", LOAD % "global"),
    "extern managed": (".extern .global .attribute(.managed) .align 4 .u32 x;", LOAD % "global"),
    "function": (".visible .func x(.param .u64 p) { ret; }", CALL),
    "extern function": (".extern .func x(.param .u64 p);", CALL),
    "weak function": (".weak .func x(.param .u64 p) { ret; }", CALL),
    "kernel": (".visible .entry x(.param .u64 p) { ret; }", ""),
    "weak kernel": (".weak .entry x(.param .u64 p) { ret; }", ""),
}
KERNEL = """
.visible .entry k%d(.param .u64 p)
{ .reg .u64 a; .reg .u32 i; .reg .f32 f; mov.u32 i, 0; ld.param.u64 a, [p]; %s ret; }
"""


def link(program, folder, out, *args):
    """(exit code, messages, output or None); a hang has the exit code None."""
    try:
        done = subprocess.run([*program, *args, "-o", out], cwd=folder, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, timeout=20)
    except subprocess.TimeoutExpired:
        return None, "", None
    path = os.path.join(folder, out)
    result = None
    if os.path.exists(path):
        with open(path, "rb") as f:
            result = f.read()
        os.unlink(path)
    return done.returncode, done.stdout, result


def assemble(folder, target):
    """The kinds that this target has."""
    made = []
    for name, (declaration, use) in KINDS.items():
        for part in (1, 2):
            path = os.path.join(folder, "%s-%d" % (name.replace(" ", "-"), part))
            with open(path + ".ptx", "w") as f:
                f.write(HEAD % target + declaration + KERNEL % (part, use))
            done = subprocess.run(["ptxas", "-c", "-arch=sm_" + target, path + ".ptx", "-o", path + ".cubin"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                break
        else:
            made.append(name)
    return made


def pairs(nvlink, top, target):
    folder = tempfile.mkdtemp(dir=top)
    made = assemble(folder, target)
    expect("sm_%s has these kinds" % target, len(made) >= 20, made)

    def one(job):
        a, b, mode = job
        args = ["-arch=sm_" + target, *mode, a.replace(" ", "-") + "-1.cubin", b.replace(" ", "-") + "-2.cubin"]
        out = "-".join([a, b, *mode]).replace(" ", "_")
        return (link([nvlink], folder, out + ".n", *args),
                link([CUBIND, "link", EMULATE], folder, out + ".c", *args),
                link([CUBIND, "link"], folder, out + ".d", *args))

    jobs = [(a, b, mode) for a in made for b in made for mode in ([], ["-r"])]
    jobs = part(jobs, 3)
    with ThreadPoolExecutor(2) as pool:
        for (a, b, mode), (theirs, ours, plain) in zip(jobs, pool.map(one, jobs)):
            name = "sm_%s: %s, then %s %s" % (target, a, b, mode)
            crash = theirs[0] is None or theirs[0] < 0
            same = ours[0] == 1 and not ours[2] if crash else ours == theirs
            expect(name, same, "nvlink: %s\ncubind: %s" % (theirs[:2], ours[:2]))
            expect(name + ", not as nvlink", plain[0] in (0, 1, 255) and (plain[0] == 0) == (plain[2] is not None),
                   plain[:2])


def forge(source, path, names):
    """A copy in which these symbols are weak."""
    with open(source, "rb") as f:
        blob = bytearray(f.read())
    c = cubin.Cubin(bytes(blob))
    table = c.find(".symtab").sh_offset
    for index, (name, fields) in enumerate(c.symbols):
        if name in names:
            blob[table + 24 * index + 4] = 0x20 | fields["st_info"] & 15
    with open(path, "wb") as f:
        f.write(blob)


def weak_aliases(top):
    """The object has a function, and an alias that is used elsewhere; it comes twice, with the function weak."""
    folder = tempfile.mkdtemp(dir=top)
    inputs = os.path.join(ROOT, "tests", "golden", "alias-90-default", "in")
    found = 0
    for name in sorted(os.listdir(inputs)):
        source = os.path.join(inputs, name)
        with open(source, "rb") as f:
            c = cubin.Cubin(f.read())
        functions = [(n, s["st_shndx"]) for n, s in c.symbols if s["st_info"] == 0x12 and s["st_shndx"]]
        shared = {s for _, s in functions if sum(s == t for _, t in functions) > 1}
        for alias in [n for n, s in functions if s in shared]:
            found += 1
            others = [n for n, _ in functions if n != alias]
            forge(source, os.path.join(folder, "weak.cubin"), [alias, *others])
            forge(source, os.path.join(folder, "global.cubin"), others)
            for files in (["weak.cubin", "global.cubin"], ["global.cubin", "weak.cubin"], ["weak.cubin"] * 2):
                for mode in ([], ["-r"], [EMULATE]):
                    done = link([CUBIND, "link", "-arch=sm_90"], folder, "out", *mode, *files)
                    expect("weak %s: %s %s" % (alias, files, mode), done[0] in (0, 1, 255) and
                           (done[0] == 0) == (done[2] is not None), done[:2])
            done = link([CUBIND, "link", "-arch=sm_90"], folder, "out", "weak.cubin", "weak.cubin")
            expect("weak copies of an alias have no registers", "reg count" in done[1] or "Weak alias" in done[1], done[:2])
    expect("there is an alias", found >= 2, found)


def main():
    top = tempfile.mkdtemp()
    weak_aliases(top)
    nvlink = real_nvlink()
    if nvlink and shutil.which("ptxas"):
        for target in sys.argv[1:] or TARGETS:
            pairs(nvlink, top, target)
    else:
        skip("pairs", "ptxas and nvlink 13.0.88 are not there")
    shutil.rmtree(top)
    finish()


if __name__ == "__main__":
    main()
