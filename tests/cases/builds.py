#!/usr/bin/env python3
"""Whole builds by nvcc and CMake with cubind in the place of nvlink and fatbinary.

The way in is a folder with links to nvcc and to its `crt`, a profile that names the toolkit, and
cubind under the names nvlink and fatbinary.  Every program is compiled and linked twice, by the
toolkit's nvcc and by that folder's; the device code embedded in the two must be the same byte for
byte.  Skips without a toolkit.

With --features [TEXT] the programs of tests/oracle/features are built, those with TEXT in their
name; that takes its time.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import _toolkit
from _checks import SHORT, expect, finish, part, skip

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(HERE)))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
PROJECT = os.path.join(HERE, "project")
SAME_BYTES = ["-Xnvlink", "--emulate=nvlink-13.0.88"]
ONE = ["-gencode", "arch=compute_90,code=sm_90"]
MANY = sum((["-gencode", "arch=compute_%s,code=sm_%s" % (n, n)] for n in ("75", "80", "90")), [])
WITH_PTX = ["-gencode", "arch=compute_80,code=[sm_80,compute_80]"]
TARGETS = ONE if SHORT else MANY  # of which nvcc compiles every one
MERCURY = ["-gencode", "arch=compute_100,code=sm_100", "-gencode", "arch=compute_120,code=sm_120"]


BOTH = ["main.cu", "part.cu"]
# Name, sources, options of all steps; of the link alone; its output.
BUILDS = [
    ("program, sm_100 and sm_120", BOTH, MERCURY),
    ("program", BOTH, ONE),
    ("program, several targets", BOTH, MANY),
    # debug links record file names; only with -keep do they not change from run to run
    ("program, debug", BOTH, ONE + ["-G", "-g"], ["-keep"]),
    ("program, line numbers", BOTH, ONE + ["-lineinfo"]),
    ("program, target with PTX", BOTH, WITH_PTX),
    ("relocatable device link", BOTH, ONE, ["-dlink", "-r"], "dlink.o"),
    ("program, warnings as errors", BOTH, ONE, ["-Werror", "all-warnings"]),
    ("program, resource usage", BOTH, ONE, ["--resource-usage"]),
    ("dynamic parallelism", ["parallel.cu"], ONE),
    ("device link", BOTH, MANY, ["-dlink"], "dlink.o"),
    ("device link to a cubin", BOTH, ONE, ["-dlink", "-cubin"], "dlink.cubin"),
    ("shared library", ["part.cu"], ONE + ["-Xcompiler", "-fPIC"], ["-shared"], "lib.so"),
    ("device link to a fatbin", BOTH, MANY, ["-dlink", "-fatbin"], "dlink.fatbin"),
    ("dynamic parallelism, several targets", ["parallel.cu"], MANY),
]


def find_nvcc():
    """nvcc 13.0.88 with the rest of its toolkit, on PATH or named by NVCC; None without one."""
    path = os.environ.get("NVCC") or shutil.which("nvcc")
    if not path:
        return None
    try:
        text = subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True).stdout
    except OSError:
        return None
    # a script that starts nvcc elsewhere is no toolkit folder to imitate
    profile = os.path.join(os.path.dirname(os.path.realpath(path)), "nvcc.profile")
    return path if "V13.0.88" in text and os.path.exists(profile) else None


def device_code(path):
    """Digests of the images in a file, decompressed, with their kinds, targets and places, or of the
    whole file if it holds none."""
    with tempfile.TemporaryDirectory() as folder:
        listed = subprocess.run([CUBIND, "extract", "--json", path], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL).stdout
        subprocess.run([CUBIND, "extract", "-o", folder, path], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        digests = []
        for name in sorted(os.listdir(folder), key=lambda n: int(n.rsplit(".", 3)[1])):
            with open(os.path.join(folder, name), "rb") as f:
                digests.append(hashlib.sha256(f.read()).hexdigest())
    images = json.loads(listed)["images"]
    if not images:
        with open(path, "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()
    return [(i["kind"], i["arch"], i["section"], os.path.basename(i["file"]), d)
            for i, d in zip(images, digests)]


def run(args, folder, **environment):
    done = subprocess.run(args, cwd=folder, env=dict(os.environ, **environment),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, re.sub(r"tmpxft_\w+-\d+_", "tmpxft_", done.stdout)


class Uncompiled(Exception):
    """A source that nvcc does not compile."""


class Builder:
    def __init__(self, nvcc, scratch):
        self.scratch = scratch
        # nvlink's way in is the same, since the paths of libraries get into the output
        nvlink = os.path.join(os.path.dirname(os.path.realpath(nvcc)), "nvlink")
        self.nvcc = _toolkit.tool_folder(nvcc, nvlink, os.path.join(scratch, "theirs"))
        self.own = _toolkit.tool_folder(nvcc, CUBIND, os.path.join(scratch, "ours"), CUBIND)
        self.objects = {}

    def compile(self, source, flags, folder=PROJECT):
        """The object of a source file; both links use the same one."""
        key = (folder, source, tuple(flags))
        if key not in self.objects:
            name = "o%d_%s.o" % (len(self.objects), source[:-3])
            made = []
            # debug data names temporary files of nvcc, which no two runs have in common
            compared = "-G" not in flags and "-lineinfo" not in flags
            for nvcc in (self.nvcc, self.own)[not compared:]:
                # the place of an object gets into the names in it
                path = os.path.join(self.scratch, name)
                code, text = run([nvcc, "-dc", source, "-o", path] + flags, folder)
                if code:
                    raise Uncompiled("compiling %s failed:\n%s" % (source, text))
                made.append((text, device_code(path)))
            same = made[0] == made[-1] or not self.is_steady(source, path, flags, folder, made[0])
            expect("compile %s %s" % (source, " ".join(flags)), same,
                   "  fatbinary %s\n  cubind %s" % (made[0], made[-1]))
            self.objects[key] = path
        return self.objects[key]

    def is_steady(self, source, path, flags, folder, before):
        """False if nvcc makes another object each time: some names have temporary files in them."""
        again = path + ".again.o"
        os.rename(path, again)
        code, text = run([self.nvcc, "-dc", source, "-o", path] + flags, folder)
        steady = (text, device_code(path)) == before
        os.replace(again, path)
        return steady

    def link(self, name, sources, flags, extra=(), output="app", fails=False):
        """Links with both; compares what they print and the device code of the results."""
        inputs = [self.compile(s, flags) if s.endswith(".cu") else s for s in sources]
        results = []
        for nvcc, more in ((self.nvcc, []), (self.own, SAME_BYTES)):
            folder = tempfile.mkdtemp(dir=self.scratch)
            args = [nvcc] + flags + inputs + list(extra) + more + ["-o", output]
            code, text = run(args, folder)
            path = os.path.join(folder, output)
            results.append((code, text, device_code(path) if os.path.exists(path) else None))
        theirs, ours = results
        expect(name, ours == theirs and (fails or theirs[0] == 0), "  nvlink %s\n  cubind %s" % (theirs, ours))

    def compare(self, name, sources, flags, extra=(), output="app"):
        """The same with CUBIND_COMPARE: nvlink's result comes out, and nothing differs."""
        args = flags + [self.compile(s, flags) for s in sources] + list(extra) + ["-o", output]
        nvlink = os.path.join(self.scratch, "theirs", "nvlink")
        folders = [tempfile.mkdtemp(dir=self.scratch) for _ in range(2)]
        theirs = run([self.nvcc] + args, folders[0])
        ours = run([self.own] + args, folders[1], CUBIND_COMPARE=nvlink)
        codes = [device_code(os.path.join(f, output)) for f in folders]
        expect("compared " + name, ours == theirs == (0, "") and codes[0] == codes[1] and
               os.listdir(folders[1]) == [output], "%s %s %s" % (theirs, ours, os.listdir(folders[1])))

    def cmake(self, **environment):
        results = []
        for nvcc, flags in ((self.nvcc, ""), (self.own, "" if environment else " ".join(SAME_BYTES))):
            folder = tempfile.mkdtemp(dir=self.scratch)
            code, text = run(
                ["cmake", "-G", "Ninja", "-S", PROJECT, "-B", folder,
                 "-DCMAKE_CUDA_COMPILER=" + nvcc, "-DCMAKE_CUDA_FLAGS=" + flags,
                 "-DCMAKE_BUILD_TYPE=Release"], folder, **environment)
            if code == 0:
                code, text = run(["ninja", "-j2"], folder, **environment)
            found = {}
            for product in ("app", "libpart.a", "libshared_part.so", "libresolved.a"):
                path = os.path.join(folder, product)
                if os.path.exists(path):
                    found[product] = device_code(path)
            results.append((code, found, text if code or "CUBIND_COMPARE" in text else ""))
        expect("CMake project" + ", compared" * bool(environment), results[0] == results[1] and len(results[0][1]) == 4 and
               results[0][0] == 0, "  nvlink %s\n  cubind %s" % tuple(results))


def build_features(b, text):
    folder = os.path.join(ROOT, "tests", "oracle", "features")
    for program in sorted(os.listdir(folder)):
        with open(os.path.join(folder, program, "job.json")) as f:
            job = json.load(f)
        sources = sorted(n for n in os.listdir(os.path.join(folder, program)) if n.endswith(".cu"))
        if not sources or text not in program or job.get("expect", 0) or job.get("archs", "75+") not in ("75+", "80+", "90+"):
            continue
        flags = ["-gencode", "arch=compute_90,code=[sm_90,compute_90]", "-std=c++17"] + job.get("nvcc", [])
        try:
            objects = [b.compile(s, flags, os.path.join(folder, program)) for s in sources]
        except Uncompiled as e:
            skip(program, str(e).splitlines()[0])
            continue
        keep = ["-keep"] if "-G" in flags else []
        b.link(program, objects, flags, ["-dlink"] + keep, "dlink.o", fails=True)


def main():
    nvcc = find_nvcc()
    if not nvcc or not shutil.which("g++"):
        print("nvcc or g++ is not on PATH")
        sys.exit(77)
    scratch = tempfile.mkdtemp(prefix="builds-")
    try:
        b = Builder(nvcc, scratch)
        if sys.argv[1:2] == ["--features"]:
            build_features(b, (sys.argv[2:] + [""])[0])
            finish()
        code, text = run([b.own, "-dlink", "-o", "x.o", b.compile("main.cu", ONE),
                          b.compile("part.cu", ONE), "-Xnvlink", "-V"], scratch)
        expect("the folder's nvcc runs cubind", "cubind" in text, text)
        for row in part(BUILDS, 3):
            b.link(*row)
        b.compare("program", BOTH, TARGETS)
        b.compare("relocatable device link", BOTH, ONE, ["-dlink", "-r"], "dlink.o")
        library = os.path.join(scratch, "libpart.a")
        run([nvcc, "-lib", "-o", library, b.compile("part.cu", TARGETS)], scratch)
        b.link("static library", ["main.cu", library], TARGETS)
        b.link("static library by name", ["main.cu"], TARGETS, ["-L" + scratch, "-lpart"])
        linked = os.path.join(scratch, "linked.o")
        run([nvcc, "-dlink", "-o", linked] + ONE + [b.compile("part.cu", ONE)], scratch)
        b.link("part that is linked already", ["part.cu", "parallel.cu", linked], ONE,
               ["-dlink"], "again.o")
        if shutil.which("cmake") and shutil.which("ninja"):
            if not SHORT:
                b.cmake()
            b.cmake(CUBIND_COMPARE=os.path.join(scratch, "theirs", "nvlink"))
        else:
            skip("CMake build", "cmake or ninja is not on PATH")
    finally:
        shutil.rmtree(scratch)
    finish()


if __name__ == "__main__":
    main()
