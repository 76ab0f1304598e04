#!/usr/bin/env python3
"""Loads linked code through the CUDA driver and runs it; skips without a GPU.

usage: gpu.py [--build FOLDER] [--arch ARCH --prepare FOLDER | --from FOLDER] [--programs FOLDER]
              [--jobs N] [--limit SECONDS] [--record FILE] [NAME...]

1. The samples, linked by cubind, compute what the processor computes (sm_90 GPUs).
2. Every golden fixture for the GPU's architecture: linked by cubind and as nvlink linked it, both
   are loaded, every kernel is launched, and what it leaves in memory must agree.
3. With the CUDA toolkit the same for the oracle's feature programs, compiled for the GPU at hand
   and linked in several modes.
4. Every image of 2, and of 3 in the first mode, in a fatbin that `cubind bundle` made, compressed in turn in every way, and of
   `cubind prune` out of a fatbin with code for another target.
5. cubind's Python package, and nvJitLink's callers with cubind in its place (jit.py), where Python has
   NVIDIA's bindings.
6. With --programs FOLDER: each folder in it with a Makefile that has a `run:` line is built with
   -rdc=true by nvcc as it is, and with cubind as its nvlink and fatbinary; both must print the same.

--prepare makes the images of 2 to 4 where the toolkit is, without a GPU; --from runs them where the
GPU is.  NAME restricts all to what contains it.  --record appends the outcome to a file.
"""

import argparse
import concurrent.futures
import glob
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", part) for part in ("oracle", "cases")]
sys.dont_write_bytecode = True
import _toolkit  # noqa: E402
import features  # noqa: E402
import toolchain  # noqa: E402

NO_GPU = 77
RUN_LIMIT = 60
PROGRAM_LIMIT = 30
BUILD_LIMIT = 240
# How often images or programs that differ are run again: what varies from run to run is no difference.
AGAIN = 3
MODES = ("default", "g", "r-g-final", "kernels", "preserve", "relink", "partial")
# Results that depend on time, on the order of threads or on what the driver gives out.
VARIES = {"cdp", "checks", "printf-malloc", "own-malloc"}
# Instructions of these need a whole group of four warps.
NEEDS_WARPGROUP = {"wgmma"}
WARP, WARPGROUP = 32, 128
COMPRESSION = ["none", "speed", "balance", "size"]


class Pair:
    """Two images that must do the same: what cubind made, and what it is measured by."""

    def __init__(self, label, mine, theirs, kernels):
        self.label, self.mine, self.theirs, self.kernels = label, mine, theirs, kernels


class Images:
    """Makes the pairs, for which no GPU is needed."""

    def __init__(self, tools, arch, wanted):
        self.tools, self.arch, self.wanted = tools, arch, wanted
        self.problems = []

    def kernels(self, image):
        """NAME:SIZES of each kernel of a cubin."""
        p = self.tools.run_beside([self.tools.cubind, "dump", "--json", "--summary", "--info", "i"],
                                  [("i", image)])
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

    def pair(self, label, mine, theirs, kernels_of=None):
        return Pair(label, mine, theirs, self.kernels(kernels_of or theirs))

    def goldens(self):
        root = os.path.join(ROOT, "tests", "golden")
        for name in sorted(os.listdir(root)):
            folder = os.path.join(root, name)
            expected = os.path.join(folder, "expected.cubin")
            cmd = os.path.join(folder, "cmd")
            if not self.wanted("golden-" + name) or not os.path.exists(expected) or not os.path.exists(cmd):
                continue
            with open(cmd) as f:
                words = f.read().split()
            if not {"-arch=sm_" + self.arch, "-arch=sm_%sa" % self.arch} & set(words) or "-r" in words:
                continue
            inputs = []
            for w in words:
                if w.startswith("in/"):
                    with open(os.path.join(folder, w), "rb") as f:
                        inputs.append((w, f.read()))
            r = self.tools.run_cubind([w for w in words if not w.startswith("in/")], inputs)
            with open(expected, "rb") as f:
                theirs = f.read()
            if r.out is None:
                self.problems.append(("golden " + name, r.err))
            else:
                yield self.pair("golden-" + name, r.out, theirs)

    def feature(self, name):
        """The pairs of one program; a mode that leaves what another left is not run again."""
        program, seen, out = features.Program(name), set(), []
        for target in (self.arch, self.arch + "a"):
            if target not in toolchain.GROUPS["all"] or not program.runs_on(target) or \
                    program.expected(target)[0]:
                continue
            try:
                inputs = program.inputs(self.tools, target)
            except toolchain.ToolError:
                continue
            for mode in [m for m in MODES if m in program.modes()]:
                files = features.arrange(self.tools, mode, target, inputs)
                steps = features.steps_for(self.tools, program, mode, target, files)
                theirs = self.link(self.tools.run_nvlink, steps, files)
                mine = self.link(self.tools.run_cubind, steps, files)
                label = "%s-sm_%s-%s" % (name, target, mode)
                if theirs.out is None or theirs.out in seen:
                    continue
                seen.add(theirs.out)
                if mine.out is None:
                    self.problems.append((label, mine.err))
                else:
                    out.append(self.pair(label, mine.out, theirs.out))
        return out

    @staticmethod
    def link(linker, steps, files):
        for step in steps:
            r = linker(step, files)
            if r.out is None:
                break
            files = [("step.cubin", r.out)]
        return r

    def features(self, pool):
        if not (self.tools.nvcc and self.tools.nvlink):
            return
        names = [n for n in sorted(os.listdir(features.HERE)) if self.wanted(n) and
                 os.path.exists(os.path.join(features.HERE, n, "job.json"))]
        for pairs in pool.map(self.feature, names):
            yield from pairs

    def container(self, number, pair):
        """The image of a pair inside what `cubind bundle` or, every third time, `prune` made."""
        how = COMPRESSION[number % len(COMPRESSION)]
        target = self.arch + "a" * bool(re.search("[-_]%sa-" % self.arch, pair.label))
        folder = self.tools.workdir()
        image, fatbin = os.path.join(folder, "i.cubin"), os.path.join(folder, "o.fatbin")
        with open(image, "wb") as f:
            f.write(pair.mine)
        extra = []
        if number % 3 == 0:
            other = os.path.join(ROOT, "tests", "golden", "alias-80-default", "expected.cubin")
            if os.path.exists(other):
                extra = ["--image3=kind=elf,sm=80,file=" + other]
        argv = [self.tools.cubind, "bundle", "--compress-mode=" + how, "--create=" + fatbin,
                "--image3=kind=elf,sm=%s,file=%s" % (target, image), *extra]
        p = subprocess.run(argv, capture_output=True, text=True)
        label = "bundle-%s-%s" % (how, pair.label)
        if p.returncode == 0 and extra:
            label = "prune-%s-%s" % (how, pair.label)
            p = subprocess.run([self.tools.cubind, "prune", "--arch=sm_" + target, "-o", fatbin + "2",
                                fatbin], capture_output=True, text=True)
            fatbin += "2"
        if p.returncode:
            self.problems.append((label, p.stderr))
            return None
        with open(fatbin, "rb") as f:
            inside = f.read()
        shutil.rmtree(folder, ignore_errors=True)
        return self.pair(label, inside, pair.theirs, pair.theirs)

    def all(self, jobs):
        number = 0
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for pair in itertools.chain(self.goldens(), self.features(pool)):
                yield pair
                if pair.label.startswith("golden-") or pair.label.endswith("-default"):
                    inside = self.container(number, pair)
                    number += 1
                    if inside:
                        yield inside


def write_pairs(folder, pairs):
    """Prepared pairs: one file for each different image, and a list."""
    os.makedirs(folder, exist_ok=True)
    rows, files = [], {}
    pairs = sorted(pairs, key=lambda p: (p.label.count("a-default") and not p.label.count("wgmma"),
                                         not p.label.endswith(("-default", "-relink", "90")), p.label))

    def save(data):
        if data not in files:
            files[data] = "%04d.image" % len(files)
            with open(os.path.join(folder, files[data]), "wb") as f:
                f.write(data)
        return files[data]

    for pair in pairs:
        rows.append([pair.label, save(pair.mine), save(pair.theirs), pair.kernels])
    with open(os.path.join(folder, "pairs.json"), "w") as f:
        json.dump(rows, f, indent=0)
    return len(rows)


def read_pairs(folder):
    with open(os.path.join(folder, "pairs.json")) as f:
        rows = json.load(f)
    for label, *names, kernels in rows:
        images = []
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                images.append(f.read())
        yield Pair(label, *images, kernels)


def difference_of(mine, wants):
    """How a (status, output) differs from several of nvlink's, '' if it does not.  Lines that are not the
    same in all of these do not count."""
    lines, texts = mine[1].split("\n"), [says.split("\n") for _, says in wants]
    firm = [i for i, found in enumerate(zip(*texts)) if len(set(found)) == 1]
    bad = [i for i in firm if i >= len(lines) or lines[i] != texts[0][i]]
    if mine[0] == wants[0][0] and len(lines) in map(len, texts) and not bad:
        return ""
    return "".join("\n    nvlink: %s\n    cubind: %s" % (texts[0][i][:200], (lines + [""] * i)[i][:200])
                   for i in bad[:3]) + "\n    exit %d and %d, %d and %d lines" % (
                       wants[0][0], mine[0], len(texts[0]), len(lines))


class Gpu:
    """Runs images and programs and counts what came of it."""

    def __init__(self, args, tools):
        self.program = os.path.join(args.build, "tests/gpu/gpu_run")
        self.build, self.tools, self.only = args.build, tools, args.names
        self.end = time.monotonic() + args.limit
        self.lock = threading.Lock()
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.identical, self.ran, self.errors = 0, 0, 0
        self.outcomes = {}

    def run(self, *argv, program=None, cwd=None, env=None, limit=RUN_LIMIT):
        """Exit status and output; -1 and what it said until then when the time is up."""
        try:
            p = subprocess.run([program or self.program, *argv], stdout=subprocess.PIPE, cwd=cwd,
                               stderr=subprocess.STDOUT, timeout=limit, env=env,
                               stdin=subprocess.DEVNULL)
            return p.returncode, p.stdout.decode("utf-8", "replace")
        except subprocess.TimeoutExpired as e:
            return -1, (e.stdout or b"").decode("utf-8", "replace") + "time limit\n"

    def result(self, name, ok, text):
        with self.lock:
            self.passed += ok
            self.failed += not ok
            print("%s %s%s" % ("ok  " if ok else "FAIL", name, ": " + text if text else ""))
            sys.stdout.flush()

    def skip(self, name, why):
        with self.lock:
            self.skipped += 1
            print("skip %s: %s" % (name, why))

    def wanted(self, name):
        return not self.only or any(n in name for n in self.only)

    def is_late(self, name):
        if time.monotonic() < self.end:
            return False
        self.skip(name, "the time is up")
        return True

    def run_images(self, rows):
        """What each (key, image, threads, kernels) does.  A process runs one image after the other
        until one ends in an error, and the next process goes on behind it."""
        folder, left = self.tools.workdir(), list(enumerate(rows))
        for number, (_, image, _, _) in left:
            with open(os.path.join(folder, str(number)), "wb") as f:
                f.write(image)
        while left and time.monotonic() < self.end:
            with open(os.path.join(folder, "list"), "w") as f:
                for number, (_, _, threads, kernels) in left:
                    f.write("%d %d %s\n" % (number, threads, " ".join(kernels)))
            code, says = self.run("--list", "list", cwd=folder)
            if code not in (0, -1):
                says += "the process died, status %d\n" % code
            parts = re.split(r"(?m)^= (\d+)\n", says)
            found = dict(zip(map(int, parts[1::2]), parts[2::2]))
            if not found:
                found = {left[0][0]: says}
            with self.lock:
                self.outcomes.update((rows[n][0], text) for n, text in found.items())
            left = [x for x in left if x[0] not in found]
        shutil.rmtree(folder, ignore_errors=True)

    def compare_all(self, pairs, jobs):
        """Runs every image once, then says what its pairs came to."""
        pairs, rows, keys = [p for p in pairs if self.wanted(p.label)], {}, {}
        for pair in pairs:
            threads = WARPGROUP if any(n in pair.label for n in NEEDS_WARPGROUP) else WARP
            for image in (pair.mine, pair.theirs):
                key = toolchain.digest(image, str(threads), *pair.kernels)
                keys[pair.label, image] = key
                if pair.kernels:
                    rows[key] = (key, image, threads, pair.kernels)
        work = list(rows.values())
        size = max(1, min(24, len(work) // jobs))
        chunks = [work[i:i + size] for i in range(0, len(work), size)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(self.run_images, chunks))
        for pair in pairs:
            mine, theirs = keys[pair.label, pair.mine], keys[pair.label, pair.theirs]
            says, want = self.outcomes.get(mine), self.outcomes.get(theirs)
            all_mine, all_theirs = {says}, {want}
            for _ in range(AGAIN if says and want else 0):
                if all_mine & all_theirs:
                    break
                # Memory that nobody has set, and races, give other values from run to run.
                self.run_images([rows[mine], rows[theirs]])
                all_mine.add(self.outcomes[mine])
                all_theirs.add(self.outcomes[theirs])
            for says in sorted(all_mine & all_theirs)[:1]:
                want = says
            if not pair.kernels:
                self.skip(pair.label, "no kernels")
            elif says is None or want is None:
                self.skip(pair.label, "the time is up")
            else:
                self.compare(pair, says, want)

    def compare(self, pair, says, want):
        """The same kernels must load, and leave the same memory or end in the same error."""
        errors = len(re.findall(r"CUDA_ERROR|time limit|died", want))
        ran = len(re.findall(r": [0-9a-f]{16}$", says, re.M))
        same = says == want and (ran == len(pair.kernels) or errors)
        if any(re.search("(^|-)%s-" % v, pair.label) for v in VARIES):
            same = says.count("\n") == want.count("\n")
        with self.lock:
            self.errors += errors
            self.ran += ran
            self.identical += pair.mine == pair.theirs
        text = "%d of %d kernels ran%s%s" % (
            ran, len(pair.kernels), ", then an error in both" if errors else "",
            ", identical images" if pair.mine == pair.theirs else "")
        if errors:
            text += " (%s)" % want.strip().split("\n")[-1]
        if not same:
            text += "\n    cubind: %s\n    nvlink: %s" % (
                says.strip().replace("\n", "\n            "),
                want.strip().replace("\n", "\n            "))
        self.result(pair.label, same, text)

    def samples(self, arch):
        if arch != "90":
            self.skip("samples", "they are made for sm_90, this is sm_" + arch)
            return
        files = []
        for n in ("reduce.cubin", "mathlib.cubin"):
            with open(os.path.join(ROOT, "samples", n), "rb") as f:
                files.append((n, f.read()))
        r = self.tools.run_plain(["-arch=sm_90"], files)
        if r.out is None:
            self.result("samples", False, r.err)
            return
        path = os.path.join(self.tools.workdir(), "samples.cubin")
        with open(path, "wb") as f:
            f.write(r.out)
        code, says = self.run("--sample", path)
        self.result("samples", code == 0, says.strip())

    # ---- nvJitLink's callers ----

    def jit(self, arch):
        found = glob.glob(os.path.join(self.build, "package", "libcubind-nvjitlink.so"))
        if not found:
            self.skip("jit", "the library for nvJitLink's place is not built")
            return
        folder = self.tools.workdir()
        for name in ("libnvJitLink.so.13", "libnvJitLink.so"):
            os.symlink(found[0], os.path.join(folder, name))
        script = os.path.join(ROOT, "tests", "gpu", "jit.py")
        ours = dict(os.environ, LD_PRELOAD=os.path.join(folder, "libnvJitLink.so.13"),
                    CUBIND_EMULATE=toolchain.EMULATE)
        ours["PYTHONPATH"] = os.path.join(ROOT, "python", "src")
        ours["CUBIND_LIBRARY"] = os.path.join(self.build, "package", "libcubind.so")
        for part in ("api", "bindings", "bindings-lto", "core", "numba", "numba-lto"):
            name = "jit-" + part
            if not self.wanted(name) or self.is_late(name):
                continue
            code, says = self.run(script, part, arch, program=sys.executable, env=ours, limit=120)
            if code == NO_GPU:
                self.skip(name, says.strip().split("\n")[-1])
                continue
            want_code, want = 0, ""
            if part != "api":
                want_code, want = self.run(script, part, arch, program=sys.executable, limit=120)
            last = says.strip().split("\n")[-1]
            if want_code:
                self.skip(name, "with NVIDIA's library: " + want.strip().split("\n")[-1])
            else:
                self.result(name, code == 0 and "cubind" in last, says.strip() if code else last)

    # ---- whole programs ----

    def whole_program(self, job):
        source, arch, cubind_nvcc = job
        name = "program " + os.path.basename(source)
        if not self.wanted(name) or self.is_late(name):
            return
        folder = os.path.join(self.tools.workdir(), os.path.basename(source))
        shutil.copytree(source, folder)
        with open(os.path.join(folder, "Makefile")) as f:
            text = f.read()
        run = re.search(r"(?m)^run:.*\n\t(.*)$", text)
        program = re.search(r"(?m)^program\s*=\s*(\S+)", text)
        if not run or not program:
            self.skip(name, "no run: line")
            return
        program = program.group(1)
        words = run.group(1).replace("$(LAUNCHER)", "").replace("$(program)", program).split()
        if not words or words[0] not in ("./" + program, program):
            self.skip(name, "its run: line is not the program and its arguments")
            return
        built = os.path.join(folder, program)
        for nvcc, to in ((self.tools.nvcc, "by-nvlink"), (cubind_nvcc, "by-cubind")):
            code, says = self.run("CC=%s -rdc=true -Wno-deprecated-gpu-targets" % nvcc, "ARCH=sm_" + arch,
                                  program, program="make", cwd=folder, limit=BUILD_LIMIT)
            if code or not os.path.exists(built):
                if to == "by-nvlink":
                    self.skip(name, "does not build: " + says.strip().split("\n")[-1][:100])
                else:
                    self.result(name, False, "links with nvlink and not with cubind: " + says[-600:])
                return
            os.rename(built, os.path.join(folder, to))
        outcomes = {"by-nvlink": [], "by-cubind": []}
        difference = ""
        for which in ("by-cubind", "by-nvlink") + ("by-nvlink",) * AGAIN:
            shutil.copy(os.path.join(folder, which), built)  # some print their name
            argv = [built if w in ("./" + program, program) else w for w in words]
            if self.is_late(name):
                return
            outcomes[which].append(self.run(*argv[1:], program=argv[0], cwd=folder, limit=PROGRAM_LIMIT))
            if outcomes[which][-1][0] == -1:
                self.skip(name, "takes too long")
                return
            if outcomes["by-nvlink"]:
                difference = difference_of(outcomes["by-cubind"][0], outcomes["by-nvlink"])
                if not difference:
                    break
        code, says = outcomes["by-cubind"][0]
        text = "exit %d, %d lines%s" % (code, says.count("\n") + 1,
                                         ", PASS" if re.search(r"\bPASS", says) else "")
        self.result(name, not difference, text + difference)
        shutil.rmtree(folder, ignore_errors=True)

    def programs(self, top, arch, jobs):
        if not self.tools.nvcc:
            self.skip("programs", "the CUDA toolkit is not on PATH")
            return
        nvcc = _toolkit.tool_folder(self.tools.nvcc, self.tools.cubind,
                                    os.path.join(self.tools.workdir(), "bin"), self.tools.cubind)
        work = [(os.path.join(top, n), arch, nvcc) for n in sorted(os.listdir(top))
                if os.path.exists(os.path.join(top, n, "Makefile"))]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(self.whole_program, work))


def say_tally(gpu):
    line = "%d passed, %d failed, %d skipped" % (gpu.passed, gpu.failed, gpu.skipped)
    print(line)
    return line


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--arch")
    parser.add_argument("--prepare")
    parser.add_argument("--from", dest="prepared")
    parser.add_argument("--programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=int, default=3600)
    parser.add_argument("--record")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    tools = toolchain.Tools(os.path.join(args.build, "cubind"))
    gpu = Gpu(args, tools)
    try:
        if args.prepare:
            images = Images(tools, args.arch, gpu.wanted)
            gpu.passed = write_pairs(args.prepare, images.all(args.jobs))
            for name, why in images.problems:
                gpu.result(name, False, why)
            say_tally(gpu)
            return 1 if gpu.failed else 0
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
        if gpu.wanted("samples"):
            gpu.samples(arch)
        images = Images(tools, arch, gpu.wanted)
        pairs = read_pairs(args.prepared) if args.prepared else images.all(args.jobs)
        gpu.compare_all(pairs, args.jobs)
        for name, why in images.problems:
            gpu.result(name, False, why)
        gpu.jit(arch)
        if args.programs:
            gpu.programs(os.path.abspath(args.programs), arch, args.jobs)
        print("%d kernels ran, %d images ended in the same error; images identical: %d" %
              (gpu.ran, gpu.errors, gpu.identical))
    finally:
        tools.close()
    line = say_tally(gpu)
    if args.record:
        with open(args.record, "a") as f:
            f.write("| %s | %s | %s | %s |\n" % (device, target, driver, line))
    return 1 if gpu.failed else 0


if __name__ == "__main__":
    sys.exit(main())
