#!/usr/bin/env python3
"""Chooses random jobs of the oracle that reach code which the stored links do not reach.

Writes random.list for make.py. Needs clang and the CUDA toolkit.

usage: pick.py [--seed S,...] [--jobs N] [--kinds KIND,...] [-j N] [--add | --against PROGRAM...]

Runs N jobs of each kind (random_jobs.py) with a program that counts edges between basic blocks in
FOLDERS, and notes what comparisons meet: less, more or equal, and which opcode (so
each row of a table counts), in build-edges. A link counts if it is equal to nvlink's. Those that are
chosen, the one with most that is new for its size first, do all that any job does. --add keeps what
random.list has. --against adds instead, for each of these programs (mutants that `mutate.py` leaves in
build-mutate/missed), the smallest job of these that tells it apart.
"""
import argparse
import array
import collections
import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "oracle")]
sys.dont_write_bytecode = True
import random_jobs  # noqa: E402
import run  # noqa: E402
import store  # noqa: E402
import toolchain  # noqa: E402

KINDS = ["sass", "mercury", "sass+shapes", "mercury+shapes", "sass+patch", "mercury+patch",
         "sass+host", "mercury+host", "mercury+tensor", "mercury+off-target",
         "mercury+shapes+off-target", "mercury+finalize", "mercury+shapes+finalize",
         "mercury+tensor+finalize", "sass+g", "mercury+g", "mercury+shapes+g", "mercury+tensor+g"]
FOLDERS = ["src/sass", "src/capsule", "src/link", "src/mercury", "src/finalize"]
BUILD = os.path.join(toolchain.ROOT, "build-edges")
EDGE = 1 << 62      # features from here on are edges
MANY = 300          # so many values make a comparison one of sizes
LIST = os.path.join(HERE, "random.list")


def build():
    """The program that counts edges."""
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        os.makedirs(BUILD, exist_ok=True)
        allow, counter = os.path.join(BUILD, "allow"), os.path.join(BUILD, "edges.o")
        with open(allow, "w") as f:
            f.writelines("src:*%s/*\n" % folder for folder in FOLDERS)
            f.write("fun:*\n")
        subprocess.run(["clang", "-O1", "-c", os.path.join(HERE, "edges.c"), "-o", counter],
                       check=True)
        subprocess.run(["meson", "setup", BUILD, "-Db_lundef=false", "-Dshared=false",
                        "-Dtests=false", "-Dc_link_args=" + counter, "-Dc_args="
                        "-fsanitize-coverage=inline-8bit-counters,trace-cmp "
                        "-fsanitize-coverage-allowlist=" + allow],
                       check=True, cwd=toolchain.ROOT, env=dict(os.environ, CC="clang"))
    subprocess.run(["ninja", "-C", BUILD, "cubind"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(BUILD, "cubind")


def features_of(data):
    """What a link did: per edge whether it ran, more than once, more than five times; and the words
    for what comparisons met (edges.c)."""
    count, = struct.unpack_from("<Q", data)
    words = array.array("Q", data[8 + count:])
    found = set(words)
    for edge, n in enumerate(data[8:8 + count]):
        if n:
            found.add(EDGE + 4 * edge)
            if n > 1:
                found.add(EDGE + 4 * edge + 1)
            if n > 5:
                found.add(EDGE + 4 * edge + 2)
    return found


def met(tools, link):
    """The features of a link that is equal to nvlink's, or nothing."""
    path = os.path.join(tools.workdir(), "edges")
    if run.check(tools, link, ["env", "EDGES=" + path]).grade != "same":
        return set()
    try:
        with open(path, "rb") as f:
            return features_of(f.read())
    except OSError:
        return set()


def candidates(tools, kind, seed, number, reached):
    """(new features, size, job) of the links of a job."""
    out = []
    for step, link in enumerate(random_jobs.links(tools, kind, seed, number)):
        found = met(tools, link) - reached
        if found:
            size = sum(len(d) for _, d in link.inputs) + len(link.out or b"")
            out.append((found, size, "%s %s %d %d" % (kind, seed, number, step + 1)))
    return out


def without_sizes(reached, pool):
    """The candidates without the values of comparisons that meet very many, or hardly any that is no
    multiple of 4: sizes, not opcodes."""
    values, odd = collections.Counter(), collections.Counter()
    for x in reached.union(*(found for found, _, _ in pool)):
        if x < EDGE:
            values[x >> 20] += 1
            odd[x >> 20] += x & 3 != 0
    return [({x for x in found if x >= EDGE or x & 0x1000 or
              values[x >> 20] <= MANY and 4 * odd[x >> 20] > values[x >> 20]}, size, job)
            for found, size, job in pool]


def greedy(pool):
    """Jobs in the order in which they are worth most for their size, and how much they meet."""
    chosen, reached = [], set()
    while pool:
        pool = [(found - reached, size, job) for found, size, job in pool]
        pool = [x for x in pool if x[0]]
        if not pool:
            break
        best = max(pool, key=lambda x: (len(x[0]) / (x[1] + 20000), x[2]))
        reached |= best[0]
        chosen.append(best[2])
    return chosen, len(reached)


def stored_features(tools, jobs):
    """What the archives of feature programs meet."""
    reached = set()
    with ThreadPoolExecutor(jobs) as pool:
        for name in sorted(os.listdir(HERE)):
            if name.startswith("features") and name.endswith(".tar.xz"):
                links = store.read_archive(os.path.join(HERE, name))
                for found in pool.map(lambda x: met(tools, x), links):
                    reached |= found
    return reached


def old_list():
    if not os.path.exists(LIST):
        return []
    with open(LIST) as f:
        return [line.split() for line in f]


def told_apart(tools, programs, work):
    """(number of the program, size, job) for each program and link of a job in which they differ."""
    out = []
    for step, link in enumerate(random_jobs.links(tools, *work)):
        if run.check(tools, link).grade != "same":
            continue
        size = sum(len(d) for _, d in link.inputs)
        for i, program in enumerate(programs):
            if run.check(program, link, timeout=10).grade != "same":
                out.append((i, size, "%s %s %d %d" % (*work, step + 1)))
    return out


def against(tools, paths, work, jobs):
    """Adds to random.list what tells these programs apart."""
    programs = [toolchain.Tools(path) for path in paths]
    best = {}
    with ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(lambda w: told_apart(tools, programs, w), work):
            for i, size, job in found:
                best[i] = min(best.get(i, (size, job)), (size, job))
    for program in programs:
        program.close()
    for i, path in enumerate(paths):
        print("%s: %s" % (path, best[i][1] if i in best else "no job tells it apart"))
    write_list({" ".join(x) for x in old_list()} | {job for _, job in best.values()})


def write_list(jobs):
    with open(LIST, "w") as f:
        f.writelines(job + "\n" for job in sorted(jobs))


def main(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--seed", default="golden")
    p.add_argument("--jobs", type=int, default=300)
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("-j", type=int, default=2)
    p.add_argument("--add", action="store_true")
    p.add_argument("--against", nargs="+", metavar="PROGRAM")
    opts = p.parse_args(argv)
    work = [(k, s, n) for s in opts.seed.split(",") for k in opts.kinds.split(",")
            for n in range(opts.jobs)]
    tools = toolchain.Tools(None if opts.against else build())
    try:
        if opts.against:
            against(tools, opts.against, work, opts.j)
            return 0
        reached = stored_features(tools, opts.j)
        print("the feature programs: %d" % len(reached), flush=True)
        if opts.add:
            work = [(k, s, int(n)) for k, s, n, _ in old_list()] + work
        pool = []
        with ThreadPoolExecutor(opts.j) as threads:
            for done, found in enumerate(threads.map(lambda w: candidates(tools, *w, reached),
                                                     work)):
                pool += found
                if done % 100 == 99:
                    print("%d of %d jobs, %d candidates" % (done + 1, len(work), len(pool)),
                          flush=True)
        chosen, more = greedy(without_sizes(reached, pool))
        print("%d random links: %d more" % (len(chosen), more))
    finally:
        tools.close()
    write_list(chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
