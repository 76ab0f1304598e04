#!/usr/bin/env python3
"""Writes the archives of this folder from what nvlink makes. Needs the CUDA toolkit.

usage: make.py [--cubind PROGRAM] [--cache FOLDER] [-j N] [--look | [--missing] ARCHIVE...]

ARCHIVE: features-75, features-90, features-100, features-120, features-other (the programs of
tests/oracle/features), features-debug (compiled with debug data), random (the jobs that random.list
names, chosen by pick.py); all without one.
What cubind does not link alike today is left out: left-out.txt names it. findings.txt is what
`cubind check` says of the images, dumps.txt digests of what `dump` shows, reports.txt (reports.py) of what a
link tells on request, changed.txt (changed.py) of what becomes of changed copies; --look makes only these.
--missing adds programs that an archive has nothing of, and leaves all others as they are.
"""
import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "oracle")]
sys.dont_write_bytecode = True
import changed  # noqa: E402
import features  # noqa: E402
import random_jobs  # noqa: E402
import reports  # noqa: E402
import run  # noqa: E402
import store  # noqa: E402
import toolchain  # noqa: E402

ARCHS = ["75", "90", "100", "120"]
MODES = ["default", "r", "g"]       # on every architecture; each other mode on one of them
LEFT_OUT = os.path.join(HERE, "left-out.txt")


def modes_on(prog, number, arch):
    """The modes in which a program is stored for an architecture."""
    mine = [a for a in ARCHS if prog.runs_on(a)] or [arch]
    for i, mode in enumerate(prog.modes()):
        if mode in MODES or not mode.startswith("devrt") and mine[(number + i) % len(mine)] == arch:
            yield mode


def feature_jobs(name):
    """(program, architecture, mode) of an archive."""
    wanted = argparse.Namespace(only=None)
    for number, prog in enumerate(features.programs(wanted)):
        archs = [name] if name != "other" else []
        if name == "other" and not any(prog.runs_on(a) for a in ARCHS):
            archs = [a for a in toolchain.GROUPS["all"] if prog.runs_on(a)]
        for arch in archs:
            if prog.runs_on(arch):
                for mode in modes_on(prog, number, arch):
                    yield prog, arch, mode


def judged(tools, link):
    """(link, None) if cubind links it alike, else (None, what differs)."""
    v = run.check(tools, link)
    if v.grade == "same":
        return link, None
    return None, "%s: %s" % (link.name, " ".join((v.cls or v.grade).split()))


def chain(tools, name, steps, inputs):
    """The links of one job, judged."""
    inputs = [("in/" + n, d) for n, d in inputs]
    for i, args in enumerate(steps):
        n = tools.run_nvlink(args, inputs)
        step = name + ("-%d" % (i + 1) if len(steps) > 1 else "")
        yield judged(tools, store.Link(step, args, inputs, n.rc, n.err, n.stdout, n.out))
        if n.out is None:
            return
        inputs = [("in/step%d.cubin" % (i + 1), n.out)]


def listed_jobs():
    with open(os.path.join(HERE, "random.list")) as f:
        return [line.split() for line in f]


def listed_links(tools, job):
    kind, seed, number, step = job
    found = list(random_jobs.links(tools, kind, seed, int(number)))[int(step) - 1:int(step)]
    return [judged(tools, link) for link in found] or [(None, " ".join(job) + ": no such link")]


def debug_jobs():
    """The programs compiled with line tables for sm_100 and with full debug data for sm_120."""
    wanted = argparse.Namespace(only=None)
    for arch, nvcc, ptxas in (("100", "-lineinfo", "-lineinfo"), ("120", "-G", "-g")):
        for prog in features.programs(wanted):
            if not prog.runs_on(arch) or prog.job.get("slow") or \
                    any(x in str(prog.job) for x in (nvcc + '"', ptxas + '"')):
                continue
            for options in (prog.job, *prog.job.get("files", {}).values()):
                for key, flag in (("nvcc", nvcc), ("ptxas", ptxas)):
                    if options is prog.job or key in options:
                        options[key] = options.get(key, []) + [flag]
            for mode in ("default", "g"):
                if mode in prog.modes():
                    yield prog, arch, mode, "-debug"


def feature_links(tools, job):
    prog, arch, mode, *note = job
    name = "%s-%s-%s" % (prog.name + "".join(note), arch, mode)
    try:
        inputs = features.arrange(tools, mode, arch, prog.inputs(tools, arch))
    except (toolchain.ToolError, ValueError):
        return [(None, name + ": does not compile")]
    steps = features.steps_for(tools, prog, mode, arch, inputs)
    return list(chain(tools, name, steps, inputs))


def lacking(name, jobs):
    """(those of the jobs whose program the archive has nothing of, what it has)."""
    path = os.path.join(HERE, name + ".tar.xz")
    known = store.read_archive(path) if os.path.exists(path) else []
    names = [link.name for link in known]

    def is_known(prog, arch, _, *note):
        return any(n.startswith("%s-%s-" % (prog.name + "".join(note), arch)) for n in names)
    return [job for job in jobs if not is_known(*job)], known


def write(name, found, known=()):
    """Writes an archive, what it had first, without links that occur twice; returns what was left out."""
    links, seen, left = list(known), {(tuple(link.args), tuple(link.inputs)) for link in known}, []
    for link, why in found:
        if link is None:
            left.append(why)
            continue
        key = tuple(link.args), tuple(link.inputs)
        if key not in seen:
            links.append(link)
        seen.add(key)
    total, unique, packed = store.write_archive(os.path.join(HERE, name + ".tar.xz"), links)
    print("%s: %d links, %d KiB, %d KiB of them different, %d KiB packed; %d left out" % (
        name, len(links), total >> 10, unique >> 10, packed >> 10, len(left)))
    return left


def note_left_out(per_archive, more):
    """Replaces the lines of these archives in left-out.txt, or adds to them."""
    old = {}
    if os.path.exists(LEFT_OUT):
        with open(LEFT_OUT) as f:
            for line in f:
                archive, _, why = line.rstrip("\n").partition(" ")
                old.setdefault(archive, []).append(why)
    for archive, lines in per_archive.items():
        old[archive] = sorted({*old.get(archive, []), *lines}) if more else lines
    with open(LEFT_OUT, "w") as f:
        for archive in sorted(old):
            f.writelines("%s %s\n" % (archive, why) for why in old[archive])


def look(tools, jobs):
    """What `cubind check` and `dump` say of all images."""
    links = list(run.stored(1))
    reports.write(tools, links, jobs)
    images = run.device_images(links)
    said = run.findings(tools, images, jobs)
    with open(run.FINDINGS, "w") as f:
        f.writelines(key + line + "\n" for key in sorted(said) for line in said[key])
    with open(run.DUMPS, "w") as f:
        f.writelines("%s %s\n" % x for x in sorted(run.dumps(tools, images, jobs).items()))
    changed.write(tools, images, jobs)
    print("check: %d images, something to say of %d" % (len(images), len(said)))


def main(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--cubind")
    p.add_argument("--cache")
    p.add_argument("-j", type=int, default=2)
    p.add_argument("--look", action="store_true", help="only findings.txt, dumps.txt, reports.txt, changed.txt")
    p.add_argument("--missing", action="store_true", help="add programs that have no links yet")
    p.add_argument("archives", nargs="*")
    opts = p.parse_args(argv)
    tools = toolchain.Tools(opts.cubind, opts.cache)
    if not tools.nvlink and not opts.look:
        sys.exit("make.py: nvlink is not on PATH")
    left = {}
    try:
        everything = ["features-" + a for a in ARCHS + ["other", "debug"]] + ["random"]
        for name in [] if opts.look else opts.archives or everything:
            jobs, links = feature_jobs(name.partition("-")[2]), feature_links
            if name == "random":
                jobs, links = listed_jobs(), listed_links
            elif name == "features-debug":
                jobs = debug_jobs()
            known = ()
            if opts.missing:
                jobs, known = lacking(name, jobs)
            with ThreadPoolExecutor(opts.j) as pool:
                parts = list(pool.map(lambda job: links(tools, job), jobs))
            left[name] = write(name, [x for part in parts for x in part], known)
        look(tools, opts.j)
    finally:
        tools.close()
    note_left_out(left, opts.missing)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
