"""Runs the hand-written programs of features/ on every architecture and in every link mode."""
import json
import os
import re
import shutil
import time

import cubin
import toolchain
from shrink import write_steps

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "features")

# Mode name -> list of steps; KERNEL stands for the name of the first kernel of the program.
MODES = {
    "default": [[]],
    "r": [["-r"]],
    "g": [["-g"]],
    "r-g": [["-r", "-g"]],
    "g-suppress": [["-g", "-suppress-debug-info"]],
    "r-g-suppress": [["-r", "-g", "-suppress-debug-info"], ["-g", "-suppress-debug-info"]],
    "r-g-final": [["-r", "-g"], []],
    "r-g-r": [["-r", "-g"], ["-r"]],
    "kernels": [["-kernels-used=KERNEL"]],
    "g-suppress-kernels": [["-g", "-suppress-debug-info", "-kernels-used=KERNEL"]],
    "preserve": [["-preserve-relocs"]],
    "reversed": [[]],
    "relink": [["-r"], []],
    "verbose": [["-v", "-extrawarn", "-dump-callgraph"]],
    "force-rela": [["--force-rela"]],
    "partial": [[]],        # every input through -r by itself, then all results together
    "r-reversed": [["-r"]],
    "relink-g": [["-r"], ["-g"]],
    "r-again": [["-r"], ["-r"]],
    "undefined": [["--allow-undefined-globals"]],
    "relink-undefined": [["-r"], ["--allow-undefined-globals"]],
    "first": [[]],          # the first input through -r, then the result with the others
    "devrt": [["-L=LIBDIR", "-lcudadevrt"]],
    "devrt-keep": [["-L=LIBDIR", "-lcudadevrt", "-keep-system-libraries"]],
    "devrt-g": [["-g", "-L=LIBDIR", "-lcudadevrt"]],
    "devrt-relink": [["-r", "-L=LIBDIR", "-lcudadevrt"], []],
    "devrt-keep-r": [["-r", "-L=LIBDIR", "-lcudadevrt", "-keep-system-libraries"]],
}
QUICK_ARCHS = {"75", "90", "100", "120"}
QUICK_MODES = {"default", "r"}


def in_range(spec, arch):
    lo, _, hi = spec.partition("-")
    num = toolchain.sm_number(arch)
    if lo.endswith("+"):
        return num >= int(lo[:-1])
    return int(lo) <= num <= int(hi or lo)


class Program:
    """One program, or a variant of it: the same files with other settings."""

    def __init__(self, name, variant=None):
        self.name, self.dir = name, os.path.join(HERE, name)
        with open(os.path.join(self.dir, "job.json")) as f:
            self.job = json.load(f)
        if variant:
            self.name += "-" + variant
            self.job.update(self.job["variants"][variant])
        self.files = self.job.get("order") or sorted(
            f for f in os.listdir(self.dir) if f.endswith((".cu", ".ptx")))

    def runs_on(self, arch):
        if arch in self.job.get("not", []):
            return False
        spec = self.job.get("archs", "75+")
        return arch in spec if isinstance(spec, list) else in_range(spec, arch)

    def expected(self, arch):
        """(exit status, text in stderr) of nvlink; a table gives them by architecture."""
        want = self.job.get("expect", 0)
        if isinstance(want, dict):
            want = next(v for k, v in want.items() if arch == k or k[-1] not in "af" and
                        in_range(k, arch))
        return want, self.job.get("stderr", "") if want else ""

    def modes(self):
        usual = [m for m in MODES if not m.startswith("devrt") and m != "first"]
        return [m for m in self.job.get("modes", usual) if m not in self.job.get("skip", [])]

    def virt(self, arch, opt):
        """The virtual architecture a source is compiled for: the newest listed one that fits."""
        best = None
        for v in opt.get("virt", self.job.get("virt", ["75"])):
            if v == arch or (v[-1] not in "af" and
                             toolchain.sm_number(v) <= toolchain.sm_number(arch)):
                best = v
        if best is None:
            raise ValueError("%s: no virtual architecture for sm_%s" % (self.name, arch))
        return best

    def inputs(self, tools, arch):
        out = []
        for f in self.files:
            opt = self.job.get("files", {}).get(f, {})
            path = os.path.join(self.dir, f)
            virt = self.virt(arch, opt)
            if f.endswith(".cu"):
                ptx = tools.cu_to_ptx(path, virt, opt.get("nvcc", self.job.get("nvcc", [])))
            else:
                with open(path) as h:
                    ptx = h.read().replace("@TARGET@", "sm_%s" % virt)
            target = opt.get("sm", arch)
            flags = opt.get("ptxas", self.job.get("ptxas", []))
            for copy in range(opt.get("copies", 1)):
                text = ptx.replace("@N@", str(copy))
                name = os.path.splitext(f)[0] + (str(copy) if copy else "") + ".cubin"
                out.append((name, tools.assemble(text, target, flags)))
        return out


def first_kernel(inputs):
    for _, blob in inputs:
        for name, f in cubin.Cubin(blob).symbols:
            if f["st_info"] & 15 == 2 and f["st_other"] & 0x10 and f["st_shndx"]:
                return name
    return "none"


def arrange(tools, mode, arch, inputs):
    if mode in ("reversed", "r-reversed"):
        return inputs[::-1]
    if mode in ("partial", "first"):
        out = []
        for i, (n, d) in enumerate(inputs):
            if i and mode == "first":
                out.append((n, d))
                continue
            r = tools.run_nvlink(["-arch=sm_" + arch, "-r"], [(n, d)])
            out.append((n, r.out if r.out is not None else d))
        return out
    return inputs


def steps_for(tools, prog, mode, arch, inputs):
    extra = prog.job.get("args", [])
    lib = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(tools.nvlink))), "lib64")
    return [["-arch=sm_" + arch, *extra,
             *[x.replace("KERNEL", first_kernel(inputs)).replace("LIBDIR", lib) for x in step]]
            for step in MODES[mode]]


def write_failure(opts, prog, arch, mode, steps, inputs, verdict):
    base = opts.keep or os.path.join(toolchain.ROOT, "build", "oracle-fail")
    folder = os.path.join(base, "%s-%s-%s" % (prog.name, arch, mode))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for n, d in inputs:
        with open(os.path.join(folder, n), "wb") as f:
            f.write(d)
    cmd = ["#!/bin/sh", 'cd "$(dirname "$0")" || exit 1', "CUBIND=${CUBIND:-cubind}",
           "mkdir -p n c"]
    write_steps(cmd, steps, " ".join(n for n, _ in inputs))
    with open(os.path.join(folder, "cmd"), "w") as f:
        f.write("\n".join(cmd) + "\n")
    with open(os.path.join(folder, "explain"), "w") as f:
        f.write(verdict.cls + "\n" + verdict.text + "\n")


def programs(opts):
    names = sorted(n for n in os.listdir(HERE)
                   if os.path.exists(os.path.join(HERE, n, "job.json")))
    found = []
    for n in names:
        found.append(Program(n))
        found += [Program(n, v) for v in found[-1].job.get("variants", {})]
    return [p for p in found if not opts.only or opts.only in p.name]


def run(opts, tools, archs, Tally, report, pooled, aim):
    tally = Tally(any(toolchain.sm_number(a) >= 100 for a in archs))
    if opts.quick:
        archs = [a for a in archs if a in QUICK_ARCHS] or archs
    jobs = []
    for p in programs(opts):
        for a in archs:
            if not p.runs_on(a) or opts.quick and p.job.get("slow"):
                continue
            for m in p.modes():
                if opts.mode and opts.mode not in m or opts.quick and m not in QUICK_MODES:
                    continue
                # the short version guards what works; the full one counts these as failures
                if opts.quick and m in p.job.get("known", {}):
                    print("KNOWN %s sm_%s %s: %s" % (p.name, a, m, p.job["known"][m]))
                    continue
                jobs.append((p, a, m))
    start, per, modes = time.monotonic(), {}, {}

    def work(job):
        prog, arch, mode = job
        try:
            inputs = arrange(tools, mode, arch, prog.inputs(tools, arch))
        except toolchain.ToolError as e:
            return toolchain.Verdict("skip", "", str(e)), None, None
        goal, judge = aim(opts, arch, "%s/%s" % (prog.name, mode))
        steps = steps_for(tools, prog, mode, goal, inputs)
        if opts.validate:
            return check_expected(tools, prog, arch, mode, steps, inputs), steps, inputs
        return judge(tools, steps, inputs), steps, inputs

    for (prog, arch, mode), (v, steps, inputs) in pooled(opts, jobs, work):
        tally.add(v)
        name = "%s sm_%s %s" % (prog.name, arch, mode)
        row = per.setdefault(prog.name, {})
        row[v.grade] = row.get(v.grade, 0) + 1
        if v.grade == "skip":
            if row["skip"] > 1 and not opts.verbose:
                continue
            print("SKIP %s: %s" % (name, "; ".join(re.findall(".*error.*|.*fatal.*", v.text)[:2])
                                   or v.text[:200]))
        elif v.grade == "diff":
            if tally.classes[v.cls] <= opts.show or opts.verbose:
                report(name, v)
            if tally.classes[v.cls] <= opts.show and not opts.validate:
                write_failure(opts, prog, arch, mode, steps, inputs, v)
        elif v.grade == "sched" and opts.verbose:
            report(name, v)
        if v.grade in ("diff", "sched"):
            modes[mode] = modes.get(mode, 0) + 1
    for name, row in per.items():
        if row.get("diff") or row.get("sched"):
            print("%s: %d passed, %d sched-only, %d failed" % (
                name, row.get("same", 0), row.get("sched", 0), row.get("diff", 0)))
    if modes:
        print("by mode: " + ", ".join("%s %d" % x for x in sorted(modes.items())))
    print("%d programs, %d jobs in %.0f s" % (len(per), len(jobs), time.monotonic() - start))
    return tally.summary()


def check_expected(tools, prog, arch, mode, steps, inputs):
    """Without a program under test: nvlink does what the program was written for."""
    r = tools.run_nvlink(steps[0], inputs)
    want, text = prog.expected(arch)
    if mode not in ("default", "reversed"):
        return toolchain.Verdict("same") if r.rc >= 0 else toolchain.Verdict(
            "same", "", "crash")
    if r.rc != want or text not in r.err or (not text and want == 0 and r.err and
                                             not prog.job.get("warns")):
        return toolchain.Verdict("diff", "expect", "exit %d, wanted %d; %s" %
                                 (r.rc, want, r.err[:300]))
    return toolchain.Verdict("same")
