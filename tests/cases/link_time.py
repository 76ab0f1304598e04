#!/usr/bin/env python3
"""Link-time optimization: what becomes of a missing or misbehaving compiler library, and with the
toolkit whole builds by `nvcc -dlto` with cubind in nvlink's place.  How close the results are to
nvlink's is measured by tests/oracle (--lto)."""

import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from _checks import expect, finish, part, skip
from _containers import LTOIR, entry, fatbin
from _toolkit import tool_folder
from builds import CUBIND, device_code, find_nvcc

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("CUBIND_BUILD", os.path.dirname(CUBIND))
FAKE = os.path.join(BUILD, "tests", "lto", "fake_nvjitlink.so")

KERNEL = """
extern __device__ int g;
__device__ int helper(int);
__global__ void k(int *p) { *p = helper(*p) + g; }
int main() { k<<<1, 1>>>(0); return 0; }
"""
HELPER = """
__device__ int g = 5;
__device__ int helper(int x) { return x * 3 + 1; }
__global__ void unused(int *p) { *p = helper(*p); }
"""


class Folder:
    def __init__(self, path):
        self.path = path

    def write(self, name, data):
        with open(os.path.join(self.path, name), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())

    def read(self, name):
        try:
            with open(os.path.join(self.path, name), "rb") as f:
                return f.read()
        except OSError:
            return None

    def run(self, *argv, **environment):
        done = subprocess.run(argv, cwd=self.path, env=dict(os.environ, **environment),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def link(self, *args, **environment):
        out = os.path.join(self.path, "out")
        if os.path.exists(out):
            os.unlink(out)
        return self.run(CUBIND, "link", "-arch=sm_90", "-dlto", "-o", "out", *args, **environment)


def no_library(f):
    code, text = f.link("a.fatbin", "--nvjitlink=nosuch.so")
    expect("no library", code == 1 and "elfLink linker library load error" in text and
           "--nvjitlink" in text and "libnvJitLink.so.13" in text and "nosuch.so" in text and
           f.read("out") is None, text)
    f.write("text.so", "no library at all")
    code, text = f.link("a.fatbin", "--nvjitlink=./text.so")
    expect("library that is none", code == 1 and "--nvjitlink" in text, text)
    code, text = f.link("a.fatbin", "--nvjitlink=libc.so.6")
    expect("another library", code == 1 and "nvJitLinkCreate" in text, text)
    code, text = f.run(CUBIND, "link", "-arch=sm_90", "-o", "out", "a.fatbin")
    expect("without -dlto", code == 1 and "LTO objects found, use -dlto" in text and
           "libnvvm" not in text, text)


# what the library does: (words in the messages)
MISBEHAVIOUR = {
    "crash": ("elfLink JIT compile failed", "signal 11"),
    "words": ("elfLink JIT compile failed", "signal 6", "it said: LLVM ERROR: out of registers"),
    "exit": ("elfLink JIT compile failed", "no answer"),
    "refuse": ("elfLink nvvm error", "status 3", "refused a.fatbin of type 4"),
    "nvvm": ("info    : a.o: bad\nNVVM_ERROR_COMPILATION\n", "elfLink JIT compile failed"),
    "ptxas": ("ptxas error   : too much\n    for one line\ncubind fatal   : elfLink JIT compile failed",),
}


def misbehaving(f):
    for what, words in MISBEHAVIOUR.items():
        code, text = f.link("a.fatbin", "--nvjitlink=" + FAKE, FAKE_NVJITLINK=what)
        expect("library: " + what, code == 1 and all(w in text for w in words) and "CU_JIT" not in text and
               f.read("out") is None, text)
    code, text = f.link("a.fatbin", "--nvjitlink=" + FAKE, "-report-arch", FAKE_NVJITLINK="ptxas")
    expect("the target behind messages", "much\n    for one line (target: sm_90)\ncubind" in text, text)
    code, text = f.link("a.fatbin", "--nvjitlink=" + FAKE, "--lto-time-limit=1",
                        FAKE_NVJITLINK="hang")
    expect("library: hang", code == 1 and "within 1 seconds" in text, text)
    if "asan" in BUILD:
        skip("library: memory", "sanitizers need more address space than any limit leaves")
    else:
        code, text = f.link("a.fatbin", "--nvjitlink=" + FAKE, "--lto-memory-limit=512",
                            FAKE_NVJITLINK="memory")
        expect("library: memory", code == 1 and "512 MiB" in text, text)


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
        return [int(word) for word in f.read().split()]


def stopped(f):
    """The compiler's process does not outlive a link that a signal ends."""
    link = subprocess.Popen(
        [CUBIND, "link", "-arch=sm_90", "-dlto", "a.fatbin", "-o", "out", "--nvjitlink=" + FAKE],
        cwd=f.path, env=dict(os.environ, FAKE_NVJITLINK="hang"))
    deadline = time.monotonic() + 20
    found = []
    while not found and time.monotonic() < deadline:
        time.sleep(0.05)
        found = children(link.pid)
    link.terminate()
    code = link.wait(timeout=20)
    expect("stopped link", code == -signal.SIGTERM and len(found) == 1 and
           not os.path.exists("/proc/%d" % found[0]), (code, found))


def results(f, cubin):
    sections = struct.unpack_from("<Q", cubin, 40)[0]
    bad = {"empty": b"", "text": b"text", "cut": cubin[:len(cubin) // 2],
           "header": cubin[:64], "relocatable": cubin[:16] + b"\1" + cubin[17:],
           "host": cubin[:18] + b"\x3e\0" + cubin[20:],
           "section": cubin[:sections + 64 + 24] + b"\xff" * 8 + cubin[sections + 64 + 32:]}
    for name, data in bad.items():
        f.write("result", data)
        code, text = f.link("a.fatbin", "--nvjitlink=" + FAKE, FAKE_OUTPUT="result")
        expect("result: " + name, code == 1 and f.read("out") is None and "fatal" in text, text)
    f.write("result", cubin)
    code, text = f.link("a.fatbin", "--nvjitlink=" + FAKE, FAKE_OUTPUT="result", FAKE_NVJITLINK="chatter")
    expect("what the library prints by itself", code == 0 and text == "", text)
    code, text = f.link("a.fatbin", "--nvjitlink=" + FAKE, FAKE_OUTPUT="result",
                        FAKE_NVJITLINK="options")
    expect("result", code == 0 and f.read("out") == cubin, text)
    expect("options of the library", "-arch=sm_90\n-lto\n" in text, text)
    code, text = f.link(
        "a.fatbin", "--nvjitlink=" + FAKE, "-maxrregcount=40", "-Xptxas=-v  -O1 ", "-Xnvvm=-opt=0 -ftz=1",  # as nvcc hands them over
        "-Ofc=mid", "-split-compile=2", "-split-compile-extended=3", "-kernels-used=k",
        "-variables-used=v", "-g", FAKE_OUTPUT="result", FAKE_NVJITLINK="options")
    for option in ("-g", "-maxrregcount=40", "-Xptxas=-v", "-Xptxas=-O1", "-Xnvvm=-opt=0",
                   "-Xnvvm=-ftz=1", "-Ofc=mid", "-split-compile=2", "-split-compile-extended=3", "-kernels-used=k",
                   "-variables-used=v", "-optimize-unused-variables"):
        expect("option " + option, "\n" + option + "\n" in text, text)
    code, text = f.link("a.fatbin", "--nvjitlink=" + FAKE, "--map=m", FAKE_OUTPUT="result")
    expect("no map", code == 0 and "'--map' has no effect" in text, text)


def remembered(f, cubin):
    """With a cache the compiler works once for the same task: library, code and options."""
    f.write("result", cubin)
    how = ["a.fatbin", "--nvjitlink=" + FAKE]
    cache = {"CUBIND_CACHE": os.path.join(f.path, "cache")}
    os.makedirs(cache["CUBIND_CACHE"])
    f.link(*how, FAKE_OUTPUT="result", **cache)
    code, text = f.link(*how, FAKE_NVJITLINK="crash", **cache)
    expect("cache: not compiled again", code == 0 and f.read("out") == cubin, text)
    for more in (["-maxrregcount=40"], ["-Xptxas=-O1"]):
        code, text = f.link(*how, *more, FAKE_NVJITLINK="crash", **cache)
        expect("cache: other options", code == 1 and f.read("out") is None, text)
    f.write("b.fatbin", fatbin(entry(LTOIR, "90", b"\xed\x43\x4e\x7f" * 31)))
    code, text = f.link("b.fatbin", how[1], FAKE_NVJITLINK="crash", **cache)
    expect("cache: other code", code == 1 and f.read("out") is None, text)


def record(f, cubin):
    """The assembler's record in the result is the toolkit's, and nothing else changes."""
    note = b"\0ptxas\0Cuda compilation tools, release 13.0, V13.0.88\0"
    theirs = b"Build system must define TOOLS_VERSION_EXTENDED\0-O 1 -arch sm_90 -split-compile 2 \0"
    ours = b"Build cuda_13.0.r13.0/compiler.36424714_0\0-O 1 -arch sm_90 -m 64 -split-compile 2 \0"
    at = [1, 7, len(note), len(note) + theirs.index(b"\0") + 1]
    strings = note + theirs
    strings += b"\0" * (-len(strings) % 4)
    desc = struct.pack("<6I", 2, 0, *at) + strings
    data = cubin + struct.pack("<III", 12, len(desc), 2000) + b"NVIDIA Corp\0" + desc
    header = section_header(cubin, b".note.nv.tkinfo\0")
    data = data[:header + 24] + struct.pack("<QQ", len(cubin), len(data) - len(cubin)) + \
        data[header + 40:]
    f.write("result", data)
    code, text = f.link("a.fatbin", "--nvjitlink=" + FAKE, FAKE_OUTPUT="result")
    out = f.read("out") or b""
    expect("record", code == 0 and ours in out and theirs not in out, text)
    expect("record: the rest", len(out) == len(data) and out[:len(cubin)] == data[:len(cubin)])
    f.write("result", data.replace(b"Build system", b"Build System"))
    f.link("a.fatbin", "--nvjitlink=" + FAKE, FAKE_OUTPUT="result")
    expect("record of another build", f.read("out") == f.read("result"))


def section_header(cubin, name):
    table, = struct.unpack_from("<Q", cubin, 40)
    count, names = struct.unpack_from("<HH", cubin, 60)
    strings = struct.unpack_from("<Q", cubin, table + 64 * names + 24)[0]
    for i in range(count):
        at = strings + struct.unpack_from("<I", cubin, table + 64 * i)[0]
        if cubin[at:at + len(name)] == name:
            return table + 64 * i
    raise ValueError("no section " + name.decode())


def find_library(nvcc):
    top = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    for name in ("libnvJitLink.so.13", "libnvJitLink.so"):
        path = os.path.join(top, "lib64", name)
        if os.path.exists(path):
            return path
    return None


def find_nvvm(top):
    """A folder for nvlink's -nvvmpath; some toolkits have the library elsewhere than nvcc says."""
    for folder in (os.path.join(top, "nvvm"), top):
        if os.path.exists(os.path.join(folder, "lib64/libnvvm.so")):
            return folder
    return None


# name, options of nvcc for objects and for the link
FOR_90 = ["-dlto", "-arch=sm_90"]
BUILDS = [
    ("one target", FOR_90, FOR_90),
    ("several targets", ["-gencode", "arch=compute_80,code=lto_80", "-gencode",
                         "arch=compute_90,code=lto_90"], FOR_90),
    ("machine code beside LTO-IR", ["-gencode", "arch=compute_90,code=[sm_90,lto_90]"], FOR_90),
    ("line numbers", FOR_90 + ["-lineinfo"], FOR_90),
]

CMAKE = """
cmake_minimum_required(VERSION 3.25)
set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real)
project(optimized LANGUAGES CXX CUDA)
add_library(part STATIC b.cu)
add_executable(app a.cu)
set_target_properties(app part PROPERTIES CUDA_SEPARABLE_COMPILATION ON
  INTERPROCEDURAL_OPTIMIZATION ON)
target_link_libraries(app PRIVATE part)
"""


def linked_code(app):
    """What the device linker made: LTO-IR beside it has the compiler's random names."""
    return [row for row in device_code(app) if row[2] == ".nv_fatbin"]


class Builds:
    """The same builds with nvlink and with cubind; the embedded device code must be the same."""

    def __init__(self, f, nvcc):
        self.f, self.nvcc = f, nvcc
        top = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
        self.own = tool_folder(nvcc, CUBIND, os.path.join(f.path, "ours"))
        nvvm, self.theirs = find_nvvm(top), None
        if nvvm:
            script = os.path.join(f.path, "nvlink.sh")
            with open(script, "w") as h:
                h.write(WRAPPER % (nvvm, os.path.join(top, "bin", "nvlink")))
            os.chmod(script, 0o755)
            self.theirs = tool_folder(nvcc, script, os.path.join(f.path, "theirs"))
        f.write("a.cu", KERNEL)
        f.write("b.cu", HELPER)

    def link(self, name, flags, link_flags):
        for source in "ab":
            code, text = self.f.run(self.nvcc, *flags, "-dc", source + ".cu", "-o", source + ".o")
            expect("%s: compile %s" % (name, source), code == 0, text)
        found = []
        for nvcc in (self.own, self.theirs):
            app = os.path.join(self.f.path, "app")
            if nvcc:
                code, text = self.f.run(nvcc, *link_flags, "a.o", "b.o", "-o", "app")
                expect("%s: link" % name, code == 0, text)
                found.append(linked_code(app) if code == 0 else text)
        code, text = self.f.run(CUBIND, "check", "app")
        expect("%s: the image is sound" % name, code == 0, text)
        self.compare(name, found)

    def compare(self, name, found):
        if len(found) < 2:
            skip(name, "no libnvvm.so for nvlink")
        else:
            expect("%s: the same device code" % name, found[0] == found[1] and found[0], found)

    def cmake(self):
        self.f.write("CMakeLists.txt", CMAKE)
        found = []
        for number, nvcc in enumerate(n for n in (self.own, self.theirs) if n):
            folder = os.path.join(self.f.path, "cmake%d" % number)
            code, text = self.f.run("cmake", "-G", "Ninja", "-S", ".", "-B", folder,
                                    "-DCMAKE_CUDA_COMPILER=" + nvcc, "-DCMAKE_BUILD_TYPE=Release")
            if code == 0:
                code, text = self.f.run("ninja", "-v", "-C", folder)
            expect("CMake builds", code == 0 and "lto_90" in text, text[-3000:])
            if code == 0:
                found.append(linked_code(os.path.join(folder, "app")))
        self.compare("CMake", found)


# Sources that are compiled with these options, and linked with those.
PARTS = [
    ([], ["-split-compile=2"]),  # that it is compiled in pieces changes what the compiler makes of it
    ([], ["-split-compile-extended=2"]),
    (["-lineinfo"], []),
    (["-lineinfo"], ["-emit-ptx"]),
    ([], ["-g"]),  # the name of the section with the PTX depends on its comments
    (["-lineinfo"], ["-g"]),
    ([], ["-emit-ptx"]),
]


def parts(f, nvcc):
    """Parts of programs, with what only the PTX in full has."""
    nvvm = find_nvvm(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))))
    if not nvvm:
        skip("parts", "no libnvvm.so for nvlink")
        return
    program = os.path.join(ROOT, "tests", "oracle", "features", "virtual")
    compiled = None
    for flags, options in sorted(PARTS):
        if flags != compiled:
            for source in "ab":
                code, text = f.run(nvcc, *FOR_90, "-std=c++17", "-I", program, *flags, "-dc",
                                   os.path.join(program, source + ".cu"), "-o", source + ".o")
                expect("parts: compile", code == 0, text)
            compiled = flags
        args = ["-arch=sm_90", "-dlto", "-force-partial-lto", "-nvvmpath=" + nvvm, *options, "a.o", "b.o", "-o", "out"]
        f.run(os.path.join(os.path.dirname(os.path.realpath(nvcc)), "nvlink"), *args)
        theirs = f.read("out")
        code, text = f.run(CUBIND, "link", "--emulate", "nvlink-13.0.88", *args)
        expect("a part of %s with %s" % (flags, options), code == 0 and f.read("out") == theirs, text)
    runtime = os.path.join(os.path.dirname(find_library(nvcc)), "libcudadevrt.a")
    for options in ([], ["-force-partial-lto"], ["-r"], ["-emit-ptx"], ["-emit-ptx", "-force-partial-lto"]):
        lists = []
        for linker in ([os.path.join(os.path.dirname(os.path.realpath(nvcc)), "nvlink")], [CUBIND, "link"]):
            f.run(*linker, "-arch=sm_90", "-dlto", "-nvvmpath=" + nvvm, "--register-link-binaries=list", *options,
                  "a.o", "b.o", runtime, "-o", "out")
            lists.append(f.read("list"))
            if lists[-1] is not None:
                os.unlink(os.path.join(f.path, "list"))
        expect("list of modules with %s" % options, lists[0] == lists[1], lists)


WRAPPER = """#!/bin/sh
for a do
    shift
    case $a in
    -nvvmpath=*) a='-nvvmpath=%s' ;;
    esac
    set -- "$@" "$a"
done
exec '%s' "$@"
"""


def without_toolkit(f):
    inputs = [os.path.join(ROOT, "tests/cases/inputs", n) for n in ("a.cubin", "b.cubin")]
    f.run(CUBIND, "link", "-arch=sm_90", *inputs, "-o", "linked")
    cubin = f.read("linked")
    f.write("a.fatbin", fatbin(entry(LTOIR, "90", b"\xed\x43\x4e\x7f" * 30)))
    no_library(f)
    if not os.path.exists(FAKE):
        skip("misbehaving library", "%s is not built" % os.path.basename(FAKE))
        return
    misbehaving(f)
    if os.path.exists("/proc/self/task/%d/children" % os.getpid()):
        stopped(f)
    else:
        skip("stopped link", "the system does not list children of a process")
    results(f, cubin)
    record(f, cubin)
    remembered(f, cubin)


def main():
    with tempfile.TemporaryDirectory() as path:
        f = Folder(path)
        without_toolkit(f)
        nvcc = find_nvcc()
        if nvcc and find_library(nvcc) and shutil.which("g++"):
            builds = Builds(f, nvcc)
            for build in part(BUILDS, 2):
                builds.link(*build)
            parts(f, nvcc)
            if shutil.which("cmake") and shutil.which("ninja"):
                builds.cmake()
            else:
                skip("CMake build", "cmake or ninja is not on PATH")
        else:
            skip("whole builds", "no nvcc 13.0.88 with libnvJitLink.so")
    finish()


if __name__ == "__main__":
    main()
