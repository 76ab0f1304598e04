#!/usr/bin/env python3
"""Inputs as nvcc and fatbinary make them: containers x compression x architecture, PTX, device-side
launches.  Both linkers run; skipped where there is no toolkit."""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile

from _checks import part
from _nvlink import CUBIND, EMULATE, real_nvlink

SOURCES = {
    "m1.cu": "extern __device__ int bar(int);\n__constant__ int c[4] = {1, 2, 3, 4};\n"
             "__global__ void ka(int *p) { *p = bar(*p) + c[*p & 3]; }\n"
             "static __global__ void kl(int *p) { *p = bar(2); }\n"
             "void launch(int *p) { ka<<<1, 1>>>(p); kl<<<1, 1>>>(p); }\n",
    "m2.cu": "__device__ int v = 7;\n__device__ int bar(int x) { return x * 3 + v; }\n"
             "__global__ void kb(int *p) { __shared__ int s[64]; s[threadIdx.x] = *p;\n"
             "  __syncthreads(); *p = bar(s[3]); }\n",
    "cdp.cu": "__global__ void child(int *p) { *p = 1; }\n"
              "__global__ void parent(int *p) { child<<<1, 1>>>(p); }\n"
              "void go(int *p) { parent<<<1, 1>>>(p); }\n",
    "deep.cu": "__device__ __noinline__ int deep(int x) { return x < 2 ? x : deep(x - 1) + deep(x - 2); }\n"
               "__global__ void kd(int *p) { *p = deep(*p); }\nvoid dive(int *p) { kd<<<1, 1>>>(p); }\n",
}
ARCHS = ["75", "80", "86", "89", "90", "90a", "100", "103a", "120"]


class Suite:
    def __init__(self, nvlink):
        self.nvlink = nvlink
        self.folder = tempfile.mkdtemp(prefix="inputs-")
        self.tools = tempfile.mkdtemp(prefix="tools-")
        self.cubind = os.path.join(self.tools, "nvlink")
        os.symlink(CUBIND, self.cubind)
        self.passed = self.failed = 0

    def make(self, *command):
        subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def link(self, program, args):
        out, reg = (os.path.join(self.folder, n) for n in ("out", "reg.c"))
        for path in (out, reg):
            if os.path.exists(path):
                os.unlink(path)
        done = subprocess.run([*program, *args, "-o", "out", "--register-link-binaries=reg.c"],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        result = [done.returncode, done.stdout, done.stderr]
        for path in (out, reg):
            data = None
            if os.path.exists(path):
                with open(path, "rb") as f:
                    data = f.read()
            result.append(data)
        return result

    def check(self, name, args):
        expected = self.link([self.nvlink], args)
        got = self.link([self.cubind, EMULATE], args)
        if got == expected:
            self.passed += 1
            return
        self.failed += 1
        print("FAIL %s: %s" % (name, " ".join(args)))
        for what, a, b in zip(("exit", "stdout", "stderr", "output", "register"), expected, got):
            if a != b:
                short = [x if not isinstance(x, bytes) or len(x) < 300 else "%d bytes" % len(x)
                         for x in (a, b)]
                print("  %s: nvlink %s, cubind %s" % (what, short[0], short[1]))

    def close(self):
        shutil.rmtree(self.folder)
        shutil.rmtree(self.tools)


def build(s):
    for name, text in SOURCES.items():
        with open(os.path.join(s.folder, name), "w") as f:
            f.write(text)
    with open(os.path.join(s.folder, "plain.c"), "w") as f:
        f.write("int x;\n")
    s.make("gcc", "-c", "plain.c")
    for arch in ARCHS:
        for m in ("m1", "m2"):
            s.make("nvcc", "-rdc=true", "-arch=sm_" + arch, "-cubin", "-o",
                   "%s.%s.cubin" % (m, arch), m + ".cu")
            for mode in ("none", "speed", "size"):
                s.make("fatbinary", "-64", "--compress-mode=" + mode, "--compress-all",
                       "--create=%s.%s.%s.fatbin" % (m, arch, mode),
                       "--image3=kind=elf,sm=%s,file=%s.%s.cubin" % (arch, m, arch))
    for m in ("m1", "m2"):
        s.make("nvcc", "-rdc=true", "-arch=compute_75", "-ptx", m + ".cu")
        for mode in ("none", "speed", "balance", "size"):
            s.make("nvcc", "-rdc=true", "-gencode=arch=compute_75,code=[sm_75,compute_75]",
                   "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90",
                   "-Xfatbin=--compress-mode=" + mode, "-c", m + ".cu", "-o",
                   "%s.%s.o" % (m, mode))
    s.make("nvcc", "-rdc=true", "-arch=sm_90", "-c", "cdp.cu")
    for arch in ("75", "90"):
        s.make("nvcc", "-rdc=true", "-gencode=arch=compute_%s,code=[sm_%s,compute_%s]" % (arch, arch, arch), "-c",
               "deep.cu", "-o", "deep.%s.o" % arch)
    s.make("ar", "rcs", "libm.a", "m1.none.o", "m2.size.o")
    s.make("ar", "rcS", "libboth.a", "plain.o", "m2.speed.o", "m1.balance.o")


def run(s):
    for arch in ARCHS:
        t = "-arch=sm_" + arch
        s.check("cubins", [t, "m1.%s.cubin" % arch, "m2.%s.cubin" % arch])
        for mode in ("none", "speed", "size"):
            s.check("fatbins", [t, "m1.%s.%s.fatbin" % (arch, mode),
                                "m2.%s.%s.fatbin" % (arch, mode)])
        for mode in ("none", "speed", "balance", "size"):
            s.check("host objects", [t, "m1.%s.o" % mode, "m2.%s.o" % mode])
        s.check("archive", [t, "libm.a"])
        s.check("library", [t, "m1.none.o", "-L.", "-lboth"])
    for arch in ("100", "100f", "103a", "120"):
        s.check("PTX", ["-arch=sm_" + arch, "m1.ptx", "m2.size.o"])
    for inputs, args in part(list(itertools.product(
        (["m1.ptx", "m2.ptx"], ["m1.ptx", "m2.90.cubin"], ["m2.ptx", "m1.size.o"]),
        ([], ["-maxrregcount=32"], ["-Xptxas=-O1"], ["-g"], ["-split-compile=2"],
         ["-Xptxas=-lineinfo"]),
    )), 4):
        s.check("PTX", ["-arch=sm_90", *args, *inputs])
    for arch in ("80", "86", "87", "88", "89"):
        s.check("PTX in objects", ["-arch=sm_" + arch, "m1.size.o", "m2.speed.o"])
        s.check("PTX file for an old target", ["-arch=sm_" + arch, "m1.ptx", "m2.size.o"])
        s.check("PTX file for an old target, host references", ["-arch=sm_" + arch, "m1.size.o", "m2.size.o", "m1.ptx"])
    # the assembler's options for messages, after those of the linker
    for args, inputs in part(list(itertools.product(
        ([], ["-Werror"], ["-disable-infos"], ["-Xptxas=-w"], ["-Xptxas=-Werror"],
         ["-Werror", "-Xptxas=--disable-warnings"], ["-disable-infos", "-Xptxas=--warning-as-error"]),
        (["-arch=sm_90", "deep.75.o"], ["-arch=sm_90", "deep.90.o"], ["-arch=sm_75", "cdp.o", "deep.75.o", "cdp.o"],
         ["-arch=sm_80", "cdp.o", "deep.75.o"], ["-arch=sm_80", "deep.75.o", "cdp.o"],
         ["-arch=sm_80", "deep.75.o", "m1.ptx"],
         ["-arch=compute_90", "cdp.o", "deep.90.o", "cdp.o"]),
    )), 4):
        s.check("messages", [*args, *inputs])
    lib = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("nvcc")))),
                       "lib64")
    runtime = ["-L" + lib, "-lcudadevrt"]
    s.check("device-side launch", ["-arch=sm_90", "cdp.o", *runtime])
    s.check("device-side launch, CMake's way", ["-arch=sm_90", "cdp.o", "m1.size.o", "m2.size.o",
                                               *runtime, "-lcudart_static", "-cpu-arch=X86_64"])
    s.check("runtime not needed", ["-arch=sm_90", "m1.size.o", "m2.size.o", *runtime])
    s.check("runtime without code for the target", ["-arch=sm_87", "m1.size.o", "m2.size.o",
                                                   *runtime])
    s.check("runtime kept", ["-arch=sm_90", "m1.size.o", "m2.size.o", "-keep-system-libraries",
                             *runtime])
    for virtual in ("compute_75", "compute_90", "compute_90a", "compute_100"):
        s.check("virtual target", ["-arch=" + virtual, "m1.size.o", "m2.size.o"])


def main():
    nvlink = real_nvlink()
    tools = all(shutil.which(t) for t in ("nvcc", "fatbinary", "ptxas", "gcc", "ar"))
    if not nvlink or not tools:
        print("nvlink 13.0.88, nvcc, fatbinary, ptxas, gcc or ar is not on PATH")
        return 77
    s = Suite(nvlink)
    try:
        build(s)
        run(s)
    finally:
        s.close()
    print("%d passed, %d failed, 0 skipped" % (s.passed, s.failed))
    return 1 if s.failed else 0


sys.exit(main())
