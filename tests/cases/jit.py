#!/usr/bin/env python3
"""One program, run with NVIDIA's nvJitLink and with cubind's library in its place: over kinds of
inputs, options and wrong use it must get the same statuses, the same images but for notes, and logs
that say the same.  Without the toolkit only what the library does by itself is looked at."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from _checks import expect, finish, part, skip

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(HERE)))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
BUILD = os.environ.get("CUBIND_BUILD", os.path.dirname(CUBIND))
LIBRARY = os.path.join(BUILD, "package", "libcubind-nvjitlink.so")
FEATURES = os.path.join(ROOT, "tests", "oracle", "features")

CODE = {
    "a.cu": "extern __device__ int f(int);\n__device__ int counter;\n"
            "__global__ void k(int *p) { p[threadIdx.x] = f(p[threadIdx.x]) + counter; }\n",
    "b.cu": "__device__ int f(int x) { return x * 3 + 1; }\n"
            "__global__ void k2(int *p) { *p = f(*p); }\n",
    "lost.cu": "extern __device__ int missing(int);\n"
               "__global__ void ku(int *p) { *p = missing(*p); }\n",
    "host.cu": "__global__ void used(int *p) { *p = 1; }\n__global__ void unused(int *p) { *p = 7; }\n"
               "void launch(int *p) { used<<<1, 1>>>(p); }\n",
}
# feature programs that go through both libraries whole, as cubins or PTX
PROGRAMS = ["atomics", "big-params", "const-merge", "dead-code", "err-const", "err-images",
            "err-multiple", "err-proto", "err-regs", "err-shared", "err-size", "err-space",
            "err-undefined", "fnptr-tables", "inheritance", "managed", "recursion", "shared-shapes",
            "surfaces", "texobject", "virtual"]


def toolkit():
    nvcc = shutil.which("nvcc")
    if not nvcc:
        return None
    top = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    library = os.path.join(top, "lib64", "libnvJitLink.so.13")
    return top if os.path.exists(library) else None


TIME_LIMIT = 120  # seconds of a run


class Bench:
    """A folder with inputs, and the program in two surroundings.  Comparisons are noted, then made at the same time."""

    def __init__(self, folder, top, program):
        self.folder, self.top, self.program = folder, top, program
        self.noted = []
        self.ours = os.path.join(folder, "ours")
        os.mkdir(self.ours)
        os.symlink(LIBRARY, os.path.join(self.ours, "libnvJitLink.so.13"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, library, argv, out):
        """Lines that the program prints, and the bytes that it writes to "out", which lies in a file of this name."""
        argv = [out if word == "out" else word for word in argv]
        env = dict(os.environ, LD_LIBRARY_PATH=library, CUBIND_EMULATE="nvlink-13.0.88")
        try:
            done = subprocess.run([self.program] + argv, cwd=self.folder, env=env, timeout=TIME_LIMIT,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        except subprocess.TimeoutExpired:
            return ["ran longer than %d s" % TIME_LIMIT], None
        out = self.path(out)
        image = None
        if os.path.exists(out):
            with open(out, "rb") as f:
                image = f.read()
        return done.stdout.splitlines() + (["ended with %d" % done.returncode]
                                           if done.returncode else []), image

    def nvcc(self, *argv):
        subprocess.run(["nvcc", *argv], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def differences(self, a, b, names=("image-a", "image-b")):
        """What `cubind diff` finds between two images, notes aside."""
        for name, image in zip(names, (a, b)):
            with open(self.path(name), "wb") as f:
                f.write(image)
        done = subprocess.run([CUBIND, "diff", *names], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = [line for line in done.stdout.splitlines()
                 if not line.startswith("note .note.nv.tkinfo") and "differ:" not in line]
        return [] if done.returncode in (0, 1) and not lines else lines or [done.stdout]


def is_log(line):
    return line.startswith(("error: ", "info: "))


def meaning(lines):
    """Lines of the logs that say something of the inputs, without times."""
    kept = [re.sub(r"Compile time = .*", "", line) for line in lines if is_log(line)]
    return [line for line in kept if "ptxas" in line or ": error   :" in line or ": info    :" in line]


def without_cubin(lines):
    """NVIDIA's library hands out what a link that failed has left."""
    if "complete 6" not in lines:
        return lines
    return [line for line in lines if not line.startswith("cubin")]


def compare(bench, name, *calls, images=True):
    """Notes the calls, each a list of words, for a comparison of both libraries."""
    bench.noted.append((name, [word for call in calls for word in [*call, "/"]], images))


def compare_noted(bench):
    """Makes what was noted: several at the same time, results in order."""
    def look(number):
        return results(bench, ("theirs-%d" % number, "ours-%d" % number), *bench.noted[number])

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(look, part(range(len(bench.noted)), 3)):
            for result in found:
                expect(*result)


def results(bench, outs, name, argv, images):
    """What is compared: a name, whether both agree, and what was seen."""
    theirs, their_image = bench.run(os.path.join(bench.top, "lib64"), argv, outs[0])
    ours, our_image = bench.run(bench.ours, argv, outs[1])
    shown = "\n".join(["  NVIDIA: " + line for line in theirs] + ["  cubind: " + line for line in ours])
    statuses = [without_cubin([line for line in lines if not is_log(line)])
                for lines in (theirs, ours)]
    missing = [line for line in meaning(theirs) if line not in meaning(ours)]
    found = [(name + ": statuses", statuses[0] == statuses[1] and len(theirs) > 1, shown),
             (name + ": logs", not missing and
              any(line.startswith("error: ") for line in theirs) <=
              any(line.startswith("error: ") for line in ours), shown)]
    if images and "complete 0" in theirs:
        different = (bench.differences(their_image, our_image, outs) if their_image and our_image
                     else [] if their_image == our_image else ["one image only"])
        if "ptx 0" in theirs:
            different = [] if their_image == our_image else ["other PTX"]
        found.append((name + ": image", not different, shown + "\n" + "\n".join(different[:20])))
    return found


def link(bench, name, options, *inputs, **how):
    compare(bench, name, ["create", *options],
            *[["file" if len(i) > 2 else "data", i[0], i[1]] for i in inputs],
            ["logs"], ["complete"], ["ptx", "out"], ["cubin", "out"], ["logs"], ["destroy"], **how)


def make_inputs(bench):
    for name, text in CODE.items():
        with open(bench.path(name), "w") as f:
            f.write(text)
    for stem in ("a", "b", "lost"):
        source = stem + ".cu"
        for sm in (75, 90, 100):
            bench.nvcc("-rdc=true", "-arch=sm_%d" % sm, "-cubin", "-o", "%s.%d.cubin" % (stem, sm), source)
        bench.nvcc("-rdc=true", "-arch=compute_75", "-lineinfo", "-ptx", "-o", stem + ".ptx", source)
        bench.nvcc("-rdc=true", "-arch=sm_90", "-fatbin", "-o", stem + ".fatbin", source)
        bench.nvcc("-arch=sm_90", "-dc", "-o", stem + ".o", source)
        bench.nvcc("-dlto", "-arch=lto_90", "-dc", "-o", stem + ".lto.o", source)
        bench.nvcc("-dlto", "-arch=lto_90", "-fatbin", "-o", stem + ".lto.fatbin", source)
        bench.nvcc("-dlto", "-arch=lto_90", "-ltoir", "-o", stem + ".ltoir", source)
    bench.nvcc("-arch=sm_90", "-dc", "-o", "host.o", "host.cu")
    bench.nvcc("-arch=sm_90", "-dc", "-gencode", "arch=compute_80,code=compute_80", "-o", "ptx.o", "b.cu")
    with open(bench.path("plain.c"), "w") as f:
        f.write("int x(void) { return 1; }\n")
    subprocess.run(["cc", "-c", "plain.c"], cwd=bench.folder, check=True)
    subprocess.run(["cc", "-shared", "-o", "plain.so", "plain.o"], cwd=bench.folder, check=True)
    for archive, members in (("both.a", ["a.o", "b.o"]), ("plain.a", ["plain.o"]),
                             ("mixed.a", ["plain.o", "b.o"]), ("cubins.a", ["b.90.cubin"])):
        subprocess.run(["ar", "rcs", archive, *members], cwd=bench.folder, check=True)
    with open(bench.path("b.ptx")) as f, open(bench.path("bad.ptx"), "w") as g:
        g.write(f.read().replace("st.global", "st.glubal"))
    with open(bench.path("b.90.cubin"), "rb") as f:
        data = f.read()
    for name, size in (("empty", 0), ("short", 3), ("cut", len(data) // 2)):
        with open(bench.path(name), "wb") as f:
            f.write(data[:size])


SM90 = ["-arch=sm_90"]


def kinds(bench):
    names = ["b.90.cubin", "b.ptx", "b.ltoir", "b.fatbin", "b.o", "both.a", "b.cu", "b.lto.o",
             "b.lto.fatbin", "plain.o", "plain.so", "plain.a", "mixed.a", "cubins.a", "short"]
    for kind in ["none", "cubin", "ptx", "ltoir", "fatbin", "object", "library", "index", "8", "any",
                 "11", "-1"]:
        adding = [["file", kind, name] for name in names]
        compare(bench, "kind " + kind, ["create", *SM90], *adding, ["logs"])
        if kind in ("cubin", "fatbin", "object", "any"):
            compare(bench, "kind %s with -lto" % kind, ["create", *SM90, "-lto"], *adding, ["logs"])
    link(bench, "cubins", SM90, ("cubin", "a.90.cubin"), ("cubin", "b.90.cubin"))
    link(bench, "files", SM90, ("cubin", "a.90.cubin", 1), ("object", "b.o", 1))
    link(bench, "fatbins", SM90, ("fatbin", "a.fatbin"), ("fatbin", "b.fatbin"))
    link(bench, "objects", SM90, ("object", "a.o"), ("object", "b.o"))
    link(bench, "host references", SM90, ("object", "host.o"))
    link(bench, "library", SM90, ("library", "both.a"))
    link(bench, "PTX", SM90, ("ptx", "a.ptx"), ("any", "b.ptx"))
    link(bench, "PTX of an older target", ["-arch=sm_75"], ("cubin", "a.75.cubin"), ("ptx", "b.ptx"))
    link(bench, "PTX in a fatbin", ["-arch=sm_86"], ("any", "ptx.o"))
    link(bench, "one of each", SM90, ("any", "a.90.cubin"), ("any", "b.o"), ("library", "plain.a"))
    link(bench, "sm_100", ["-arch=sm_100"], ("any", "a.100.cubin"), ("any", "b.100.cubin"))
    runtime = os.path.join(bench.top, "lib64", "libcudadevrt.a")
    link(bench, "libcudadevrt", SM90, ("any", "a.90.cubin"), ("any", "b.90.cubin"), ("library", runtime, 1))
    link(bench, "only a runtime", SM90, ("library", runtime, 1))


def options(bench):
    both = ("any", "a.90.cubin"), ("any", "b.90.cubin")
    ptx = ("ptx", "a.ptx"), ("ptx", "b.ptx")
    for option in ["-O0", "-O3", "-g", "-lineinfo", "-r", "-verbose", "-maxrregcount=32",
                   "-maxrregcount=abc", "-kernels-used=_Z2k2Pi", "-kernels-used=none",
                   "-variables-used=counter", "-optimize-unused-variables", "-ftz=1", "-prec-div=0",
                   "-prec-sqrt=0", "-fma=0", "-Xptxas=-v", "-Xptxas=-bogus", "-no-cache",
                   "-split-compile=1", "-split-compile-extended=1", "-jump-table-density=50", "-Ofc=min"]:
        link(bench, option + " of cubins", [*SM90, option], *both)
        link(bench, option + " of PTX", [*SM90, option], *ptx)
    link(bench, "two kernels", [*SM90, "-kernels-used=_Z2k2Pi", "-kernels-used=_Z1kPi"], *both)
    for wrong in [[], ["-arch=sm_91"], ["-arch=sm_70"], ["-arch=foo"], ["-arch=compute_90"], ["-arch="],
                  ["-arch", "sm_90"], ["--arch=sm_90"], ["-arch=sm_90 "], ["-arch=sm_75a"], ["-arch=lto_90"],
                  [*SM90, "-ptx"], [*SM90, "-bogus"], [*SM90, ""], [*SM90, "-O1"], [*SM90, "-O"],
                  [*SM90, "-O33"], [*SM90, "-gx"], [*SM90, "-maxrregcount"], [*SM90, "-maxrregcount="],
                  [*SM90, "-Xptxas="], [*SM90, "-kernels-used="], [*SM90, "-ftz"], [*SM90, "-v"],
                  [*SM90, "-split-compile=-1"], [*SM90, "-Ofc=1"], [*SM90, "-device-stack-protector"],
                  ["-bogus", "-arch=sm_70"], ["-arch=sm_70", "-bogus"], ["-arch=sm_90", "-arch=sm_91"],
                  ["-arch=compute_90", "-ptx"], ["-ptx"], ["-lto"], [*SM90, "-ltox"], [*SM90, "-rx"]]:
        compare(bench, "options %r" % wrong, ["create", *wrong], ["logs"], ["data", "any", "b.90.cubin"])


def wrong_use(bench):
    one = ["data", "cubin", "b.90.cubin"]
    compare(bench, "no pointers", ["version"], ["nulls"], ["create", *SM90], ["nulls"], ["destroy"])
    compare(bench, "order", ["create", *SM90], ["cubin", "out"], ["ptx", "out"], ["logs"], one, ["complete"],
            ["complete"], one, ["cubin", "out"], ["ptx", "out"], ["destroy"], ["destroy"])
    compare(bench, "nothing added", ["create", *SM90], ["complete"], ["cubin", "out"])
    compare(bench, "refused inputs", ["create", *SM90], ["data", "any", "empty"], ["data", "any", "short"],
            ["file", "any", "empty"], ["file", "any", "/nonexistent"], ["file", "any", "/"],
            ["data", "cubin", "b.75.cubin"], ["data", "cubin", "b.100.cubin"], ["data", "ptx", "bad.ptx"],
            ["logs"], one, ["complete"], ["cubin", "out"], ["logs"])
    link(bench, "another target's", ["-arch=sm_80"], ("fatbin", "b.fatbin"), ("object", "b.o"),
         ("library", "both.a"), ("cubin", "b.90.cubin"))
    link(bench, "SASS for Mercury", ["-arch=sm_100"], ("cubin", "b.90.cubin"), ("cubin", "b.100.cubin"))
    link(bench, "undefined", SM90, ("cubin", "lost.90.cubin"))
    # NVIDIA's mixes both into one function; here the first stays what it is
    link(bench, "twice the same", SM90, ("cubin", "b.90.cubin"), ("cubin", "b.90.cubin"), images=False)


def several(bench):
    """More than one handle: with calls in turn, and in threads."""
    a, b = ["data", "cubin", "a.90.cubin"], ["data", "cubin", "b.90.cubin"]
    compare(bench, "two handles", ["create", *SM90], ["use", "1"], ["create", "-arch=sm_90", "-g"], a, ["use", "0"], a, b,
            ["use", "1"], ["data", "ptx", "bad.ptx"], ["logs"], ["use", "0"], ["logs"], ["complete"], ["use", "1"], b, ["complete"],
            ["destroy"], ["use", "0"], ["cubin", "out"], ["destroy"])
    compare(bench, "another target each", ["create", *SM90], a, b, ["use", "1"], ["create", "-arch=sm_100"], ["data", "cubin", "a.100.cubin"],
            a, ["data", "cubin", "b.100.cubin"], ["complete"], ["cubin", "out"], ["use", "0"], ["complete"], ["logs"])
    compare(bench, "a handle that was destroyed", ["create", *SM90], a, ["destroy"], ["create", *SM90], ["complete"], ["logs"],
            a, b, ["complete"], ["cubin", "out"])
    compare(bench, "results of other kinds", ["create", *SM90], a, b, ["complete"], ["ptx", "out"], ["logs"], ["logs"],
            ["cubin", "out"], ["cubin", "out"], ["nulls"])
    for name, files in (("cubins", ["cubin", "a.90.cubin", "cubin", "b.90.cubin"]), ("PTX", ["ptx", "a.ptx", "any", "b.ptx"]),
                        ("a library", ["library", "both.a"]), ("what is undefined", ["cubin", "lost.90.cubin"])):
        compare(bench, "threads with " + name, ["threads", "sm_90", "out", *files])


def refused_in_threads(bench):
    """NVIDIA's library waits forever when two threads have an input refused at the same time."""
    said, _ = bench.run(bench.ours, ["threads", "sm_90", "out", "cubin", "b.75.cubin"], "refused")
    expect("threads with what is refused", said == ["thread 3 same"] * 6 + ["complete 3"], "\n".join(said))


def together(bench):
    """Options that meet."""
    both = ("any", "a.90.cubin"), ("any", "b.90.cubin")
    ptx = ("ptx", "a.ptx"), ("cubin", "b.90.cubin")
    for more in [["-g", "-O0"], ["-lineinfo", "-g"], ["-r", "-g"], ["-r", "-kernels-used=_Z1kPi"], ["-O0", "-O3"], ["-time", "-verbose"],
                 ["-maxrregcount=32", "-maxrregcount=64"], ["-Xptxas=-O1", "-Xptxas=-v"], ["-variables-used=counter", "-kernels-used=_Z1kPi"],
                 ["-g", "-g"], ["-split-compile=2", "-Ofc=max"]]:
        link(bench, "%s of cubins" % " ".join(more), [*SM90, *more], *both)
        link(bench, "%s of PTX" % " ".join(more), [*SM90, *more], *ptx)
    for target in ("sm_75", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_103", "sm_120", "sm_121"):
        link(bench, "PTX for " + target, ["-arch=" + target], ("ptx", "a.ptx"), ("ptx", "b.ptx"))


def lto(bench):
    pair = ("ltoir", "a.ltoir"), ("ltoir", "b.ltoir")
    for more in [[], ["-ptx"], ["-r"], ["-g"], ["-lineinfo"], ["-verbose"], ["-O0"], ["-Xptxas=-bogus"],
                 ["-Xnvvm=-bogus"], ["-maxrregcount=32"], ["-kernels-used=_Z2k2Pi"], ["-ftz=1", "-fma=0"],
                 ["-optimize-unused-variables"]]:
        link(bench, "LTO %s" % " ".join(more), [*SM90, "-lto", *more], *pair)
    link(bench, "LTO of containers", [*SM90, "-lto"], ("any", "a.lto.o"), ("fatbin", "b.lto.fatbin"))
    link(bench, "LTO and SASS", [*SM90, "-lto"], ("any", "a.lto.o"), ("any", "b.90.cubin"))
    link(bench, "SASS that needs LTO", [*SM90, "-lto"], ("any", "a.90.cubin"), ("any", "b.lto.o"))
    link(bench, "PTX that needs LTO", [*SM90, "-lto"], ("any", "a.ptx"), ("any", "b.lto.o"))
    link(bench, "PTX of LTO and SASS", [*SM90, "-lto", "-ptx"], ("any", "b.90.cubin"), ("any", "a.lto.o"))
    link(bench, "LTO, undefined", [*SM90, "-lto"], ("ltoir", "a.ltoir"))
    link(bench, "LTO, twice the same", [*SM90, "-lto"], ("ltoir", "b.ltoir"), ("ltoir", "b.ltoir"))
    link(bench, "LTO for an older target", ["-arch=sm_80", "-lto"], ("ltoir", "b.ltoir"),
         ("fatbin", "b.lto.fatbin"))
    link(bench, "LTO for a newer target", ["-arch=sm_100", "-lto"], *pair)
    link(bench, "LTO, virtual target", ["-arch=compute_90", "-lto", "-ptx"], *pair)
    link(bench, "LTO and bad inputs", [*SM90, "-lto"], ("ltoir", "b.ltoir"), ("cubin", "b.75.cubin"),
         ("ptx", "bad.ptx"), ("cubin", "b.cu"))
    link(bench, "LTO without LTO-IR", [*SM90, "-lto"], ("any", "a.90.cubin"), ("any", "b.90.cubin"))


def programs(bench):
    for name in part(PROGRAMS, 4):
        folder = os.path.join(FEATURES, name)
        inputs = []
        for source in sorted(os.listdir(folder)):
            stem, ending = os.path.splitext(source)
            path = os.path.join(folder, source)
            if ending == ".cu":
                made = "%s-%s.cubin" % (name, stem)
                bench.nvcc("-rdc=true", "-arch=sm_90", "-cubin", "-w", "-o", made, path)
                inputs.append(("cubin", made))
            elif ending == ".ptx":
                inputs.append(("ptx", path))
        link(bench, name, SM90, *inputs, images=name != "err-multiple")


def by_itself(bench):
    """Without NVIDIA's library and without ptxas."""
    sample = [os.path.join(ROOT, "samples", name) for name in ("reduce.cubin", "mathlib.cubin")]
    env = dict(os.environ, PATH="/usr/bin:/bin", CUBIND_NVJITLINK="/nonexistent/library",
               LD_LIBRARY_PATH=bench.ours)
    env.pop("CUBIND_PTXAS", None)

    def run(*words):
        return subprocess.run([bench.program, *words], env=env, cwd=bench.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    said = run("create", *SM90, "/", "data", "any", sample[0], "/", "file", "cubin", sample[1], "/",
               "complete", "/", "cubin", "linked", "/", "logs", "/", "destroy")
    expect("links by itself", said.split("\n")[:3] == ["create 0", "data 0", "file 0"] and
           "complete 0" in said, said)
    subprocess.run([CUBIND, "link", "-arch=sm_90", "-o", "usual", *sample], cwd=bench.folder, check=True)
    with open(bench.path("usual"), "rb") as f, open(bench.path("linked"), "rb") as g:
        expect("the image is that of a link", not bench.differences(f.read(), g.read()))
    with open(bench.path("x.ptx"), "w") as f:
        f.write(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n")
    said = run("create", *SM90, "/", "data", "ptx", "x.ptx", "/", "logs")
    expect("PTX without ptxas", "data 4" in said and "CUBIND_PTXAS" in said, said)
    with open(bench.path("x.ltoir"), "wb") as f:
        f.write(bytes.fromhex("ed434e7f014102620302070018000100280000002c000000010084030200020000"))
    said = run("create", *SM90, "-lto", "/", "data", "ltoir", "x.ltoir", "/", "complete", "/", "logs")
    expect("LTO-IR without the library", "data 0" in said and "complete 5" in said and
           "CUBIND_NVJITLINK" in said, said)
    env["CUBIND_NVJITLINK"] = LIBRARY
    said = run("create", *SM90, "-lto", "/", "data", "ltoir", "x.ltoir", "/", "complete", "/", "logs")
    expect("it does not load itself", "complete 5" in said and "stand-in" in said, said)


def preloaded(bench):
    """The other ways to put one library in the place of the other."""
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(bench.top, "lib64"), LD_PRELOAD=LIBRARY)
    done = subprocess.run([bench.program, "create", *SM90, "/", "data", "any", "lost.90.cubin", "/",
                           "complete", "/", "logs"], env=env, cwd=bench.folder,
                          stdout=subprocess.PIPE, text=True)
    expect("preloaded", "used by ku(int *) in lost.90.cubin" in done.stdout, done.stdout)
    done = subprocess.run([bench.program, "create", *SM90, "-lto", "/", "data", "any", "b.ltoir", "/",
                           "complete"], env=env, cwd=bench.folder, stdout=subprocess.PIPE, text=True)
    expect("preloaded, with LTO-IR", "complete 0" in done.stdout, done.stdout)
    program = ("import ctypes; lib = ctypes.CDLL('libnvJitLink.so.13'); "
               "print(bool(getattr(lib, '__cubind_nvJitLink', None)))")
    done = subprocess.run([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, text=True)
    expect("preloaded, loaded by name", done.stdout.strip() == "True", done.stdout)


def build_program(folder, top):
    """The test program as a user of the toolkit has it: with its header, linked with its library."""
    program = os.path.join(folder, "user")
    subprocess.run(["cc", "-std=gnu11", "-pthread", "-o", program, os.path.join(ROOT, "tests", "jit", "run_jit.c"),
                    "-I", os.path.join(top, "include"), "-L", os.path.join(top, "lib64"), "-lnvJitLink"],
                   check=True)
    return program


def main():
    own = os.path.join(BUILD, "tests", "jit", "run_jit")
    if not os.path.exists(own):
        skip("nvJitLink", "no shared libraries in this build")
        finish()
    with tempfile.TemporaryDirectory() as folder:
        by_itself(Bench(folder, None, own))
    top = toolkit()
    if not top:
        skip("comparison with nvJitLink", "no CUDA toolkit with it on PATH")
        finish()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, top, build_program(folder, top))
        make_inputs(bench)
        for note in (kinds, options, wrong_use, several, together, lto, programs):
            note(bench)
        compare_noted(bench)
        refused_in_threads(bench)
        preloaded(bench)
    finish()


if __name__ == "__main__":
    main()
