#!/usr/bin/env python3
"""`cubind dlink` makes the object that `nvcc -dlink` makes, byte for byte; in one process, with the host
compiler as its child.  Skips without a toolkit."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from _checks import expect, finish, part
from builds import PROJECT, find_nvcc

CUBIND = os.environ["CUBIND"]
SAME = ["-Xnvlink=--emulate=nvlink-13.0.88"]
ONE = ["-arch=sm_90"]
MANY = sum((["-gencode", "arch=compute_%s,code=sm_%s" % (n, n)] for n in ("75", "90", "100", "120")), [])
PTX = ["-gencode", "arch=compute_90,code=[sm_90,compute_90]"]


def run(folder, *argv, **env):
    done = subprocess.run(argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, **env))
    return done.returncode, re.sub(r"tmpxft_\w+-\d+_", "tmpxft_", done.stdout + done.stderr)


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return None


def compare(nvcc, folder, name, args, output="x_dlink.o", env={}):
    """Both in the same folder, to the same place."""
    results = []
    for command, more in (([nvcc, "-dlink"], []), ([CUBIND, "dlink"], SAME)):
        path = os.path.join(folder, output)
        if os.path.exists(path):
            os.unlink(path)
        done = run(folder, *command, *args, *more, "-o", output, **env)
        results.append((done, read(path)))
    (theirs, a), (ours, b) = results
    expect(name, theirs == ours and theirs[0] == 0 and a == b, "nvcc %s\ncubind %s\n%s" % (theirs, ours, a and b and len(a) - len(b)))
    leftover = [n for n in os.listdir(folder) if n.startswith("tmpxft") or n.startswith("cubind-")]
    expect(name + ", nothing is left", not leftover, leftover)


def check_links(nvcc, folder):
    objects = ["main.o", "part.o"]
    for name in ("main", "part", "parallel"):
        code, text = run(PROJECT, nvcc, "-dc", name + ".cu", *MANY, *PTX, "-o", os.path.join(folder, name + ".o"))
        expect("compile " + name, code == 0, text)
    run(folder, "ar", "rcs", "libpart.a", "part.o")
    with open(os.path.join(folder, "options"), "w") as f:
        f.write("-arch=sm_90 main.o part.o\n")
    for name, args in part((
            ("one target", ONE + objects), ("several targets", MANY + objects), ("with PTX", PTX + objects),
            ("virtual and real", ["-arch=compute_90", "-code=sm_90,compute_90"] + objects),
            ("a library", MANY + ["main.o", "libpart.a"]), ("a library by name", MANY + ["main.o", "-L.", "-lpart"]),
            ("dynamic parallelism", ["-gencode", "arch=compute_75,code=sm_75"] + ONE + ["parallel.o"]), ("without the device runtime", ONE + objects + ["-cudadevrt", "none"]),
            ("shared", ONE + objects + ["-shared"]), ("again relocatable", ONE + objects + ["-r"]),
            ("several, again relocatable", MANY + objects + ["-r"]),
            ("line tables", ONE + objects + ["-lineinfo"]),
            ("host options", ONE + objects + ["-Xcompiler", "-fPIC,-O1", "-std=c++17", "-w", "-O2", "-ccbin", "g++"]),
            ("optimized host code", ONE + objects + ["-O3"]), ("a list in quotes", ["-gencode", 'arch=compute_90,code="sm_90,compute_90"'] + objects),
            ("options of compilations", ONE + objects + ["-maxrregcount=32", "-use_fast_math", "-ftz=true", "--fmad", "false", "-Xcudafe", "--display_error_number",
                                                         "--diag-suppress=20012", "--expt-relaxed-constexpr", "-isystem", "x", "-Xptxas", "-v"]),
            ("warnings as errors", ONE + objects + ["-Werror", "all-warnings"]),
            ("resource usage", ONE + objects + ["--resource-usage"]),
            ("compressed", MANY + objects + ["-Xfatbin", "-compress-all"]), ("not compressed", MANY + objects + ["-Xfatbin", "-compress=false"]),
            ("what CMake passes", ONE + ["-forward-unknown-to-host-compiler", "-Xcompiler=-fPIC", "-Wno-deprecated-gpu-targets", "-lcudadevrt",
                                         "-lcudart_static", "-lrt", "-lpthread", "-ldl"] + objects),
            ("unknown options for the host compiler", ["-fopenmp"] + ONE + ["-forward-unknown-to-host-compiler", "-march=x86-64-v3", "-pthread"] + objects),
            ("unknown options for host compiler and linker", ONE + ["-forward-unknown-opts", "-fno-math-errno", "-Wl,-z,now"] + objects),
            ("unknown options for the host linker", ONE + ["-forward-unknown-to-host-linker", "-Wl,-z,now"] + objects),
            ("host code to be measured", ONE + ["-pg", "-noeh", "-ftemplate-depth", "100", "-frandom-seed=1", "-UX", "-U", "Y"] + objects),
            ("no compression", MANY + ["-no-compress"] + objects), ("dependencies", ONE + ["-MD", "-MP", "-MT", "x", "-e", "main", "-jtd", "30"] + objects),
            ("option file", ["-optf", "options"]), ("all major targets", ["-arch=all-major"] + objects)), 3):
        compare(nvcc, folder, name, args)
    compare(nvcc, folder, "cubin", ONE + objects + ["-cubin"], "x.cubin")
    compare(nvcc, folder, "fatbin", MANY + objects + ["-fatbin"], "x.fatbin")
    # its own temporary folder is the one that is named
    with tempfile.TemporaryDirectory() as own:
        run(folder, CUBIND, "dlink", *ONE, *objects, "-o", "x.o", TMPDIR=own)
        expect("temporary files are gone", os.listdir(own) == [], os.listdir(own))


def check_mistakes(folder):
    for name, args, words in (
            ("an option that is unknown", ONE + ["-fopenmp", "main.o"], "Unknown option 'fopenmp'"),
            ("no target", ["main.o"], "-arch or -gencode"), ("no input", ONE, "no input"), ("unknown target", ["-arch=sm_33", "main.o"], "sm_33"),
            ("undefined", ONE + ["main.o"], "Undefined reference"), ("no such compiler", ONE + ["main.o", "part.o", "-ccbin", "/nowhere/cc"], "nowhere"),
            ("compiler's mistake", ONE + ["main.o", "part.o", "-Xcompiler", "-include,missing.h"], "missing.h(.|\n)*-v prints"),
            ("no toolkit", ONE + ["main.o", "part.o", "--cuda-path=/nowhere"], "link.stub|cudadevrt"), ("two kinds", ONE + ["-cubin", "-fatbin", "main.o"], "exclude"),
            ("cubin for two", MANY + ["-cubin", "main.o"], "one target"), ("fatbin option", ONE + ["main.o", "-Xfatbin", "-x"], "-x")):
        for file in os.listdir(folder):
            if file.startswith("bad"):
                os.unlink(os.path.join(folder, file))
        code, text = run(folder, CUBIND, "dlink", *args, "-o", "bad.o")
        expect("refused: " + name, code != 0 and re.search(words, text) and not os.path.exists(os.path.join(folder, "bad.o")), text)
    code, text = run(folder, CUBIND, "dlink", *MANY, "main.o", "part.o", "-dryrun", "-o", "bad.o")
    words = ["-dlto", "-Xptxas=-v,-O1", "-Xptxas", "-w", "-maxrregcount=32", "-split-compile=2", "-split-compile-extended=3"]
    _, text2 = run(folder, CUBIND, "dlink", *ONE, *words, "main.o", "-dryrun", "-o", "bad.o")
    expect("options of a link that compiles", " -maxrregcount=32 -split-compile=2 -split-compile-extended=3 -Xptxas=-v -O1 -w  main.o" in text2, text2)
    expect("dry run", code == 0 and text.count("--arch=sm_") == 4 and "link.stub" in text and not os.path.exists(os.path.join(folder, "bad.o")), text)


def main():
    nvcc = find_nvcc()
    if not nvcc or not shutil.which("g++"):
        print("nvcc or g++ is not on PATH")
        sys.exit(77)
    # so that both name libraries alike
    os.environ["PATH"] = os.path.dirname(nvcc) + os.pathsep + os.environ["PATH"]
    for name in ("CUDA_PATH", "CUDA_HOME"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        check_links(nvcc, folder)
        check_mistakes(folder)
    finish()


main()
