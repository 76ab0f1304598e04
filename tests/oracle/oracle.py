#!/usr/bin/env python3
"""Compares cubind with nvlink on programs made for the purpose. See README.md beside it."""
import argparse
import collections
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import builds
import generate
import idioms
import isa
import judges
import loops
import older
import shapes
import statements
import shrink
import tensor
import toolchain


class Tally:
    """Counts of the results; sm_100+ keeps its three grades apart."""

    def __init__(self, mercury):
        self.mercury = mercury
        self.count = collections.Counter()
        self.classes = collections.Counter()

    def add(self, verdict):
        self.count[verdict.grade] += 1
        if verdict.grade == "diff":
            self.classes[verdict.cls] += 1

    def summary(self):
        c = self.count
        if self.classes:
            print("first differences: " + ", ".join("%s %d" % x
                                                    for x in self.classes.most_common(20)))
        if c["skip"]:
            print("%d jobs could not be compiled" % c["skip"])
        if c["compiler"]:
            print("%d jobs hold code that only a compiler can take to the target" % c["compiler"])
        if self.mercury:
            print("%d identical, %d sched-only, %d different, %d mixed up, %d nvlink crashed" % (
                c["same"], c["sched"], c["diff"], c["mixed"], c["crash"]))
        print("%d passed, %d failed" % (c["same"], c["diff"] + c["sched"]))
        return 1 if c["diff"] or c["sched"] else 0


def report(name, verdict):
    if verdict.grade == "sched":
        print("SCHED %s: bits >= 105 of %s" % (name, " ".join(verdict.funcs)))
    elif verdict.grade == "diff":
        print("FAIL %s\n    %s" % (name, verdict.text.replace("\n", "\n    ")))
    sys.stdout.flush()


def pick_archs(opts):
    if opts.arch:
        archs = [a[3:] if a.startswith("sm_") else a for a in opts.arch.split(",")]
        bad = [a for a in archs if a not in toolchain.GROUPS["all"]]
        if bad:
            sys.exit("oracle: unknown arch " + bad[0])
        return archs
    # Only files of sm_100 and later can be finalized.
    return toolchain.GROUPS["mercury" if opts.finalize else opts.group]


def pooled(opts, jobs, work):
    """Yields (job, WORK(job)) in job order, with a bounded number of jobs ahead."""
    with ThreadPoolExecutor(opts.j) as pool:
        pending, it = collections.deque(), iter(jobs)
        for job in it:
            pending.append((job, pool.submit(work, job)))
            if len(pending) >= 8 * opts.j:
                j, f = pending.popleft()
                yield j, f.result()
        for j, f in pending:
            yield j, f.result()


def aim(opts, arch, name):
    """The architecture to link for, and what judges the link."""
    if opts.check:
        return arch, judges.check
    if not opts.off_target and not opts.finalize:
        return arch, toolchain.run_steps
    target = judges.target_for(arch, name)
    return (arch, judges.finalize(target)) if opts.finalize else (target, toolchain.run_steps)


def random_jobs(opts, tools):
    archs = pick_archs(opts)
    if opts.tensor and not tensor.archs(archs):
        sys.exit("oracle: --tensor needs a target such as 100a")
    if opts.isa and not isa.archs(archs):
        sys.exit("oracle: --isa needs a target from 90 on")
    if opts.loops and not loops.archs(archs):
        sys.exit("oracle: --loops needs a target from 80 on")
    tally = Tally(any(toolchain.sm_number(a) >= 100 for a in archs))
    first = opts.job if opts.job is not None else 0
    jobs = range(first, first + (1 if opts.job is not None else opts.random))
    start, seen = time.monotonic(), collections.Counter()

    def work(job):
        if opts.build == "kernels":
            prog = statements.make(opts.seed, job, archs)
        elif opts.build == "idioms":
            prog = idioms.make(opts.seed, job, archs)
        elif opts.build:
            prog = builds.make(opts.seed, job, archs, opts.build)
        elif opts.isa:
            prog = isa.make(opts.seed, job, archs)
        elif opts.loops:
            prog = loops.make(opts.seed, job, archs)
        else:
            prog = (shapes if opts.shapes else generate).make(opts.seed, job, archs, opts.tensor)
        if opts.containing and not any(opts.containing in a for step in prog.steps for a in step):
            return prog, None
        if opts.patch:
            prog.patch = "%s/%d" % (opts.seed, job)
        if opts.host:
            prog.host = "%s/%d" % (opts.seed, job)
        if opts.older:
            older.lower(tools, prog, "%s/%d" % (opts.seed, job))
        prog.arch, prog.judge = aim(opts, prog.arch, "%s/%d" % (opts.seed, job))
        try:
            inputs = prog.inputs(tools)
        except toolchain.ToolError as e:
            return prog, toolchain.Verdict("skip", "", str(e))
        return prog, prog.judge(tools, prog.args(), inputs)

    done = 0
    for job, (prog, v) in pooled(opts, jobs, work):
        if not v:
            continue
        done += 1
        tally.add(v)
        if opts.verbose and v.grade == "skip":
            print("skip %d: %s" % (job, (v.text or "ptxas died").splitlines()[0]))
        if v.grade not in ("diff", "sched"):
            continue
        seen[v.cls] += 1
        name = "seed %s job %d sm_%s %s" % (opts.seed, job, prog.arch,
                                            " | ".join(" ".join(s) for s in prog.steps))
        if v.grade == "sched":
            if opts.verbose:
                report(name, v)
            continue
        if seen[v.cls] <= opts.show:
            report(name, v)
        if seen[v.cls] <= opts.shrink and sum(min(n, opts.shrink)
                                              for n in seen.values()) <= opts.cases:
            small = shrink.Shrinker(tools, prog, v.cls).run()
            sv = small.judge(tools, small.args(), small.inputs(tools))
            folder = os.path.join(opts.keep or os.path.join(toolchain.ROOT, "build",
                                                            "oracle-fail"),
                                  "%s-%d" % (opts.seed, job))
            shrink.write_case(tools, small, folder, sv, name + "\n")
            print("    minimised in " + os.path.relpath(folder))
    print("%d random jobs in %.0f s" % (done, time.monotonic() - start))
    return tally.summary()


def main(argv):
    p = argparse.ArgumentParser(prog="oracle", description=__doc__)
    act = p.add_mutually_exclusive_group(required=True)
    act.add_argument("--features", action="store_true", help="run the hand-written programs")
    act.add_argument("--random", type=int, metavar="N", help="run N random programs")
    act.add_argument("--lto", action="store_true",
                     help="link the hand-written programs with link-time optimization")
    act.add_argument("--damage", nargs="*", metavar="FILE",
                     help="link damaged copies of FILEs (default: the golden inputs)")
    act.add_argument("--scale", choices=["wide", "chain", "ring"], help="time large links")
    act.add_argument("--sources", nargs="+", metavar="DIR",
                     help="link the programs of all CUDA sources in the folders, in every mode")
    act.add_argument("--make-golden", action="store_true", help="rewrite tests/golden")
    p.add_argument("--cubind", help="program under test (default build/cubind)")
    p.add_argument("--cache", help="folder for compiled inputs (default build/oracle-cache)")
    p.add_argument("--arch", help="comma separated, e.g. 75,90a")
    p.add_argument("--group", choices=list(toolchain.GROUPS), default="sass")
    p.add_argument("-j", type=int, default=2, help="parallel jobs")
    p.add_argument("--keep", metavar="DIR", help="where failing cases are written")
    p.add_argument("--verbose", action="store_true")
    p.add_argument("--show", type=int, default=3, help="failures printed per class")
    p.add_argument("--only", help="features: names containing this")
    p.add_argument("--mode", help="features: modes containing this")
    p.add_argument("--quick", action="store_true", help="features: a short selection")
    p.add_argument("--fresh", action="store_true",
                   help="sources: forget the results of earlier runs, but not what was compiled")
    p.add_argument("--validate", action="store_true", help="features: check nvlink alone")
    p.add_argument("--table", action="store_true",
                   help="lto: print program by target as a table, for docs/lto.md")
    p.add_argument("--options", action="store_true",
                   help="lto: each option with some programs on all targets")
    p.add_argument("--seed", default="1")
    p.add_argument("--job", type=int, help="random: only this job of the seed")
    p.add_argument("--with", dest="containing", metavar="TEXT",
                   help="random: only the jobs that have a link option containing TEXT")
    p.add_argument("--shapes", action="store_true",
                   help="random: more of what compilers make of C++ and of newer instructions")
    p.add_argument("--isa", action="store_true",
                   help="random: kernels drawn over the whole PTX instruction set, for sm_90 and later")
    p.add_argument("--loops", action="store_true",
                   help="random: doubles, products of matrices and shuffles in divergent loops, for"
                        " sm_80 and later")
    p.add_argument("--host", action="store_true",
                   help="random: pack the modules into host objects that refer to some kernels")
    p.add_argument("--build", choices=["cxx", "chain", "ewp", "kernels", "idioms"],
                   help="random: C++ programs in several files with flags of their own; cxx: cubins, "
                        "chain: host objects, archives and fatbins as well, ewp: whole programs; "
                        "kernels: kernels of drawn statements instead, idioms: as programs have them")
    p.add_argument("--tensor", action="store_true",
                   help="random: tensor memory, clusters and bulk copies, on the targets with an "
                        "a or f that have them")
    p.add_argument("--patch", action="store_true",
                   help="random: change attribute records of the compiled modules")
    p.add_argument("--older", action="store_true",
                   help="random: PTX of some modules is for targets down to sm_30")
    p.add_argument("--off-target", action="store_true",
                   help="link for another target of the objects' family (sm_100 and later)")
    p.add_argument("--finalize", action="store_true",
                   help="let nvlink link, compare `cubind finalize` of that for another target of the"
                        " family with nvlink's own link for it")
    p.add_argument("--check", action="store_true",
                   help="let nvlink link; `cubind check` must find no fault in inputs and outputs")
    p.add_argument("--shrink", type=int, default=1, metavar="K",
                   help="random: minimise the first K failures of each class")
    p.add_argument("--cases", type=int, default=8, help="random: failures minimised in all")
    p.add_argument("-n", type=int, default=1000, help="damage: number of damaged copies")
    p.add_argument("--modules", type=int, default=1500)
    p.add_argument("--funcs", type=int, default=20)
    opts = p.parse_args(argv)
    tools = toolchain.Tools(opts.cubind, opts.cache)
    try:
        if not tools.nvlink and opts.damage is None:
            print("oracle: nvlink not found, skipped")
            print("0 passed, 0 failed, 1 skipped")
            return 0
        if not os.access(tools.cubind, os.X_OK) and not opts.validate and not opts.make_golden:
            sys.exit("oracle: no program under test at %s" % tools.cubind)
        if opts.random is not None:
            return random_jobs(opts, tools)
        if opts.features:
            import features
            return features.run(opts, tools, pick_archs(opts), Tally, report, pooled, aim)
        if opts.lto:
            import lto
            return lto.run(opts, tools, Tally, report, pooled)
        if opts.damage is not None:
            import damage
            return damage.run(opts, tools, pooled)
        if opts.sources:
            import sources
            return sources.run(opts, tools, pooled)
        if opts.scale:
            import scale
            return scale.run(opts, tools, pick_archs(opts))
        import golden
        return golden.make(opts, tools)
    finally:
        tools.close()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        sys.exit(1)
