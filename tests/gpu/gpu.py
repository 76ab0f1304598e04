#!/usr/bin/env python3
"""Loads linked code through the CUDA driver and runs it; skips without a GPU.

usage: gpu.py [--build FOLDER] [--keep FOLDER] [--record FILE] [NAME...]

1. The samples, linked by cubind, compute what the processor computes (sm_90 GPUs).
2. Every golden fixture for the GPU's architecture: linked by cubind and as nvlink linked it, both
   are loaded, every kernel is launched, and what it leaves in memory must agree.
3. With the CUDA toolkit the same for the oracle's feature programs, compiled for the GPU at hand.

NAME restricts 2 and 3 to programs whose name contains it.  --record appends the outcome to a file.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
sys.dont_write_bytecode = True
import features  # noqa: E402
import toolchain  # noqa: E402

NO_GPU = 77
LIMIT = 60
# Results that depend on time, on the order of threads or on what the driver gives out.
VARIES = {"cdp", "printf-malloc"}


class Gpu:
    def __init__(self, args):
        self.program = os.path.join(args.build, "tests/gpu/gpu_run")
        self.tools = toolchain.Tools(os.path.join(args.build, "cubind"))
        self.folder = args.keep or tempfile.mkdtemp(dir=self.tools.tmp)
        os.makedirs(self.folder, exist_ok=True)
        self.only = args.names
        self.passed, self.failed, self.skipped = 0, 0, 0

    def run(self, *argv):
        try:
            p = subprocess.run([self.program, *argv], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
            return p.returncode, p.stdout
        except subprocess.TimeoutExpired:
            return -1, "time limit\n"

    def result(self, name, ok, text):
        self.passed += ok
        self.failed += not ok
        print("%s %s%s" % ("ok  " if ok else "FAIL", name, ": " + text if text else ""))
        sys.stdout.flush()

    def skip(self, name, why):
        self.skipped += 1
        print("skip %s: %s" % (name, why))

    def save(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def kernels(self, path):
        """NAME:SIZES of each kernel of a cubin."""
        p = subprocess.run([self.tools.cubind, "dump", "--json", "--summary", "--info", path],
                           stdout=subprocess.PIPE, text=True)
        image = json.loads(p.stdout)["images"][0]
        jobs = []
        for row in image["summary"]:
            if row["kind"] != "kernel":
                continue
            sizes = []
            for part in image["info"]:
                if part["section"] != ".nv.info." + row["name"]:
                    continue
                for a in part["attributes"]:
                    if a.get("name") in ("EIATTR_KPARAM_INFO", "EIATTR_KPARAM_INFO_V2"):
                        sizes.append((a["value"]["ordinal"], a["value"]["size"]))
            jobs.append("%s:%s" % (row["name"], ",".join(str(s) for _, s in sorted(sizes))))
        return jobs

    def compare(self, name, mine, theirs):
        """Runs both images; the same kernels must load and leave the same memory."""
        a, b = self.save(name + ".cubind", mine), self.save(name + ".nvlink", theirs)
        jobs = self.kernels(b)
        if not jobs:
            return self.skip(name, "no kernels")
        mine_code, mine_says = self.run(a, *jobs)
        code, says = self.run(b, *jobs)
        same = mine_code == code and mine_says == says
        if name.split("-sm_")[0] in VARIES:
            same = mine_code == code and len(mine_says.split("\n")) == len(says.split("\n"))
        errors = len(re.findall(r"CUDA_ERROR", says))
        text = "%d kernels%s%s" % (len(jobs), ", %d errors in both" % errors if errors else "",
                                   "" if mine != theirs else ", identical images")
        if not same:
            text += "\n    cubind: %s\n    nvlink: %s" % (
                mine_says.strip().replace("\n", "\n            "),
                says.strip().replace("\n", "\n            "))
        return self.result(name, same, text)

    def wanted(self, name):
        return not self.only or any(n in name for n in self.only)

    def samples(self, arch):
        if arch != "90":
            return self.skip("samples", "they are made for sm_90, this is sm_" + arch)
        files = [(n, open(os.path.join(ROOT, "samples", n), "rb").read())
                 for n in ("reduce.cubin", "mathlib.cubin")]
        r = self.tools.run_cubind(["-arch=sm_90"], files)
        if r.out is None:
            return self.result("samples", False, r.err)
        code, says = self.run("--sample", self.save("samples.cubin", r.out))
        return self.result("samples", code == 0, says.strip())

    def goldens(self, arch):
        root = os.path.join(ROOT, "tests", "golden")
        for name in sorted(os.listdir(root)):
            folder = os.path.join(root, name)
            expected = os.path.join(folder, "expected.cubin")
            parts = name.split("-")
            if not self.wanted(name) or not os.path.exists(expected):
                continue
            if parts[-2] not in (arch, arch + "a") or parts[-1] == "r":
                continue
            with open(os.path.join(folder, "cmd")) as f:
                words = f.read().split()
            inputs = [(w, open(os.path.join(folder, w), "rb").read()) for w in words
                      if w.startswith("in/")]
            r = self.tools.run_cubind([w for w in words if not w.startswith("in/")], inputs)
            with open(expected, "rb") as f:
                theirs = f.read()
            if r.out is None:
                self.result("golden " + name, False, r.err)
            else:
                self.compare("golden-%s" % name, r.out, theirs)

    def features(self, arch):
        if not (self.tools.nvcc and self.tools.nvlink):
            return self.skip("feature programs", "the CUDA toolkit is not on PATH")
        for name in sorted(os.listdir(features.HERE)):
            if not self.wanted(name) or not os.path.exists(
                    os.path.join(features.HERE, name, "job.json")):
                continue
            program = features.Program(name)
            for target in (arch, arch + "a"):
                if target not in toolchain.GROUPS["all"] or not program.runs_on(target):
                    continue
                if program.expected(target)[0]:
                    continue
                inputs = program.inputs(self.tools, target)
                steps = features.steps_for(program, "default", target, inputs)[0]
                theirs = self.tools.run_nvlink(steps, inputs)
                mine = self.tools.run_cubind(steps, inputs)
                label = "%s-sm_%s" % (name, target)
                if theirs.out is None:
                    continue
                if mine.out is None:
                    self.result(label, False, mine.err)
                else:
                    self.compare(label, mine.out, theirs.out)
        return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--keep")
    parser.add_argument("--record")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    gpu = Gpu(args)
    try:
        code, says = gpu.run("--device")
        if code == NO_GPU:
            print(says.strip())
            print("0 passed, 0 failed, 1 skipped")
            return 0
        if code:
            print(says)
            print("0 passed, 1 failed, 0 skipped")
            return 1
        target, driver, device = says.strip().split(" ", 2)
        print("%s, %s, driver for CUDA %s" % (device, target, driver))
        arch = target[len("sm_"):]
        if not args.names:
            gpu.samples(arch)
        gpu.goldens(arch)
        gpu.features(arch)
    finally:
        gpu.tools.close()
    line = "%d passed, %d failed, %d skipped" % (gpu.passed, gpu.failed, gpu.skipped)
    if args.record:
        with open(args.record, "a") as f:
            f.write("| %s | %s | %s | %s |\n" % (device, target, driver, line))
    print(line)
    return 1 if gpu.failed else 0


if __name__ == "__main__":
    sys.exit(main())
