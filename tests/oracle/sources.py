"""Compares both linkers on programs that others wrote: every CUDA source below the given folders.

A folder with sources is a program.  Its files are compiled with -rdc=true to host objects for several
targets at once, as build systems do it, with flags that change from file to file; then the program is
linked in every mode for every target.  Where nvlink cannot link a folder's files together (several
programs live in it), each file is a program of its own.

Everything compiled and everything that nvlink said is kept in the cache, and results are written down as
they come, so a run that was interrupted goes on where it was."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import time

import cubin
import toolchain
from features import first_kernel

# One target of each row per program, so that all take their turn and no program costs too much.
TARGETS = [["75", "80", "86", "87", "88", "89"], ["90", "90a"],
           ["100", "100a", "100f", "103", "103a", "110"], ["120", "120a", "120f", "121", "121a"]]
# Flags of a file.  Optimized code is what users link, so it has the most rows.
FLAGS = [[], [], ["-lineinfo"], ["-G"], ["-Xptxas=-O1"], ["-maxrregcount=40"], [], ["-Xptxas=-O0"]]
FAMILY = {"100": ["103", "103a"], "100f": ["103", "103f", "110f"], "103": ["110"], "110": ["110f"],
          "120": ["121", "121a"], "120f": ["121", "121f"], "90": ["90a"], "80": ["86", "87"], "75": ["87"]}
NVCC_LINK = ["-m64", "--register-link-binaries=reg.c", "-L=LIBDIR", "-cpu-arch=X86_64", "-lcudadevrt",
             "--host-ccbin", "gcc"]
# Mode -> steps.  `as nvcc` and `ignore-host` take host objects, the others the cubins in them.
MODES = {
    "as-nvcc": [NVCC_LINK],
    "ignore-host": [["-ignore-host-info"]],
    "bare": [[]],
    "r": [["-r"], []],
    "r-g": [["-r", "-g"], ["-g"]],
    "r-g-plain": [["-r", "-g"], []],
    "g": [["-g"]],
    "kernels": [["-kernels-used=KERNEL"]],
    "preserve": [["-preserve-relocs"]],
    "v": [["-v", "-dump-callgraph"]],
    "suppress": [["-g", "-suppress-debug-info"]],
    "off-target": [[]],
}
WITH_HOST = {"as-nvcc", "ignore-host"}
SEARCHED_HEADERS = 24
# Added where the compiler's message names them.
LANGUAGE_FLAGS = ["--extended-lambda", "--expt-relaxed-constexpr"]
COMPILE_LIMIT = 400


def pick(rows, *key):
    """One of the rows, always the same for the same key."""
    number = int(hashlib.sha256("\0".join(key).encode()).hexdigest()[:8], 16)
    return rows[number % len(rows)]


class Tree:
    """A folder of sources: its programs, and where its headers are."""

    def __init__(self, top):
        self.top = os.path.abspath(top)
        self.programs, self.headers = {}, {}
        for folder, dirs, names in os.walk(self.top):
            dirs[:] = sorted(d for d in dirs if not d.startswith("."))
            sources = sorted(n for n in names if n.endswith(".cu"))
            if sources:
                self.programs[os.path.relpath(folder, self.top)] = sources
            for n in names:
                self.headers.setdefault(n, []).append(folder)

    def header_folder(self, header, beside):
        """The folder to search so that an #include of this header is found: the nearest one."""
        found = []
        for folder in self.headers.get(os.path.basename(header), []):
            path = os.path.join(folder, os.path.basename(header))
            if path.endswith("/" + header):
                found.append(path[:-len(header) - 1])
        return max(found, default=None, key=lambda f: (len(os.path.commonprefix([f, beside])), -len(f)))


def compile_file(tools, tree, folder, name, targets, flags):
    """A host object with code for the targets, or raises ToolError.  Headers are looked for as the
    compiler misses them."""
    here = os.path.join(tree.top, folder)
    key = toolchain.digest("sources", tools.version, os.path.join(here, name), read(here, name), " ".join(targets),
                           " ".join(flags))
    hit = tools.cache.get(key)
    if hit is None:
        hit = run_compiler(tools, tree, here, name, targets, flags)
        tools.cache.put(key, hit)
    if hit[0] is None:
        raise toolchain.ToolError(hit[1])
    return hit[0]


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as f:
        return f.read()


def run_compiler(tools, tree, here, name, targets, flags):
    out = os.path.join(tools.workdir(), "x.o")
    includes, asked = [here], []
    for _ in range(SEARCHED_HEADERS):
        argv = [tools.nvcc, "-rdc=true", "-std=c++17", "-w", "-c", name, "-o", out, *flags, *asked]
        for t in targets:
            argv += ["-gencode", "arch=compute_%s,code=sm_%s" % (t, t)]
        for folder in includes:
            argv += ["-I", folder]
        status, said = toolchain.drive(argv, here, COMPILE_LIMIT)
        if status is None:
            return None, "nvcc: time limit"
        if status == 0:
            with open(out, "rb") as f:
                data = f.read()
            os.unlink(out)
            return data, ""
        wanted = [w for w in LANGUAGE_FLAGS if w in said and w not in asked]
        if wanted:
            asked += wanted
            continue
        missing = re.search(r"fatal error: ([^:]+): No such file", said)
        folder = tree.header_folder(missing.group(1), here) if missing else None
        if not folder or folder in includes:
            return None, said[:400]
        includes.append(folder)
    return None, "too many folders of headers"


def cubins(tools, name, data, target):
    """The target's cubins of a host object."""
    d = tools.workdir()
    with open(os.path.join(d, "x.o"), "wb") as f:
        f.write(data)
    subprocess.run([tools.cubind, "extract", "--arch=sm_" + target, "--kind=cubin", "-o", ".", "x.o"], cwd=d,
                   capture_output=True, check=True)
    found = sorted(n for n in os.listdir(d) if n.endswith(".cubin"))
    out = [("%s.%s%s.cubin" % (name[:-2], target, i or ""), read(d, n)) for i, n in enumerate(found)]
    shutil.rmtree(d)
    return out


class Program:
    def __init__(self, tree, folder, names, targets):
        self.tree, self.folder, self.names = tree, folder, names
        self.label = os.path.join(os.path.basename(tree.top), folder)
        if len(names) == 1 and len(tree.programs[folder]) > 1:
            self.label += "/" + names[0]
        self.targets = targets or [pick(row, self.label, row[0]) for row in TARGETS]
        self.refused = ""  # what the compiler said first

    def objects(self, tools):
        """[(name, host object)] of the files that compile."""
        out = []
        for n in self.names:
            try:
                out.append((os.path.splitext(n)[0] + ".o", compile_file(
                    tools, self.tree, self.folder, n, self.targets, pick(FLAGS, self.folder, n))))
            except toolchain.ToolError as e:
                said = str(e).splitlines() or ["nvcc says nothing"]
                self.refused = self.refused or next((x for x in said if "error" in x), said[0])
        return out


def links_of(tools, program, objects, modes):
    """Yields (target, mode, steps, inputs)."""
    lib = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(tools.nvlink))), "lib64")
    for target in program.targets:
        code = [c for n, d in objects for c in cubins(tools, n, d, target)]
        for mode in modes:
            inputs, goal = (objects if mode in WITH_HOST else code), target
            if mode == "off-target":
                if target not in FAMILY:
                    continue
                goal = pick(FAMILY[target], program.label)
            if not inputs:
                continue
            steps = [["-arch=sm_" + goal, *[x.replace("KERNEL", first_kernel(code)).replace("LIBDIR", lib)
                                            for x in step]] for step in MODES[mode]]
            yield target, mode, steps, inputs


class Log:
    """Results of earlier runs with the same program under test."""

    def __init__(self, path, fresh):
        self.path, self.known = path, {}
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if fresh and os.path.exists(path):
            os.unlink(path)
        if os.path.exists(path):
            with open(path) as f:
                for line in f:
                    if line.endswith("\n"):
                        row = json.loads(line)
                        self.known[tuple(row[:3])] = row[3:]
        self.file = open(path, "a")

    def add(self, key, row):
        self.known[key] = row
        self.file.write(json.dumps([*key, *row]) + "\n")
        self.file.flush()


def programs(opts, targets):
    for top in opts.sources:
        tree = Tree(top)
        for folder, names in sorted(tree.programs.items()):
            if not opts.only or opts.only in folder:
                yield Program(tree, folder, names, targets)


def separate(tools, program, objects):
    """The programs that a folder holds: one, unless its files cannot be linked together."""
    target = program.targets[0]
    code = [c for n, d in objects for c in cubins(tools, n, d, target)]
    if len(objects) < 2 or tools.run_nvlink(["-arch=sm_" + target], code).rc == 0:
        return [program]
    return [Program(program.tree, program.folder, [n], program.targets) for n in program.names]


def judge_program(tools, program, log, modes):
    """[(target, mode, grade, class, functions, text)], or None if nothing of it compiles."""
    objects = program.objects(tools)
    if not objects:
        return None
    parts = separate(tools, program, objects)
    rows = []
    for part in parts:
        mine = objects if part is program else part.objects(tools)
        for target, mode, steps, inputs in links_of(tools, part, mine, modes):
            key = (part.label, target, mode)
            if key not in log.known:
                v = toolchain.run_steps(tools, steps, inputs)
                log.add(key, [v.grade, v.cls, v.funcs, v.text[:600]])
            rows.append((part.label, target, mode, *log.known[key]))
    return rows


GRADES = ["same", "sched", "diff", "other"]


def table(rows, column):
    """Counts in the four grades by one column of the rows."""
    names = sorted({r[column] for r in rows}, key=lambda n: (len(n.rstrip("af")), n))
    lines = ["%-12s %9s %10s %9s %6s" % ("", "identical", "sched-only", "different", "other")]
    for name in names + ["all"]:
        mine = [r[3] for r in rows if name in ("all", r[column])]
        count = [sum(g == want or want == "other" and g not in GRADES for g in mine) for want in GRADES]
        lines.append("%-12s %9d %10d %9d %6d" % (name, *count))
    return "\n".join(lines)


def causes(rows):
    """The first differences, grouped, with the smallest number of words for each."""
    groups = {}
    for label, target, mode, grade, cls, funcs, text in rows:
        if grade == "sched":
            for f in funcs:
                groups.setdefault("scheduling bits of " + f, []).append((label, target, mode, ""))
        elif grade == "diff":
            groups.setdefault(cls, []).append((label, target, mode, text))
    lines = []
    for cls, hits in sorted(groups.items(), key=lambda x: -len(x[1])):
        label, target, mode, text = hits[0]
        lines.append("%4d  %s: e.g. %s sm_%s %s" % (len(hits), cls, label, target, mode))
        lines += ["        " + x for x in text.splitlines()[:3]]
    return "\n".join(lines)


def run(opts, tools, pooled):
    with open(tools.cubind, "rb") as f:
        version = hashlib.sha256(f.read()).hexdigest()[:12]
    log = Log(os.path.join(tools.cache.root, "sources-%s.jsonl" % version), opts.fresh)
    modes = [m for m in MODES if not opts.mode or opts.mode == m]
    targets = opts.arch.split(",") if opts.arch else None
    start, rows, broken, count = time.monotonic(), [], 0, 0

    def work(program):
        try:
            return judge_program(tools, program, log, modes)
        except (OSError, subprocess.SubprocessError) as e:
            return [(program.label, "", "", "skip", str(e), [], "")]

    for program, got in pooled(opts, programs(opts, targets), work):
        count += 1
        if got is None:
            broken += 1
            if opts.verbose:
                print("does not compile: %s: %s" % (program.label, program.refused))
            continue
        rows += got
        bad = [r for r in got if r[3] in ("diff", "sched")]
        if bad or opts.verbose:
            print("%s: %d of %d links identical%s" % (
                program.label, sum(r[3] == "same" for r in got), len(got),
                "; first: sm_%s %s %s" % (bad[0][1], bad[0][2], bad[0][4] or " ".join(bad[0][5])) if bad else ""),
                flush=True)
    print("\n%d programs, %d do not compile, %d links in %.0f s" % (count, broken, len(rows),
                                                                  time.monotonic() - start))
    print("\nby target\n" + table(rows, 1) + "\n\nby mode\n" + table(rows, 2))
    print("\ncauses\n" + (causes(rows) or "none"))
    same, bad = (sum(r[3] in g for r in rows) for g in (("same",), ("diff", "sched")))
    print("%d passed, %d failed, %d skipped" % (same, bad, len(rows) - same - bad))
    return 1 if bad else 0
