#!/usr/bin/env python3
"""Chooses random jobs of the oracle that reach code which the stored links do not reach.

Writes random.list for make.py. Needs clang and the CUDA toolkit.

usage: pick.py [--seed S] [--jobs N] [--kinds KIND,...] [-j N] [--add]

Runs N jobs of each kind (random_jobs.py) with a program that counts edges between basic blocks in
src/link and src/mercury, in build-edges. A link counts if it is equal to nvlink's. Those that are
chosen, the one with most new edges for its size first, run each edge that any job runs, and as often
(once, a few times, many times). --add keeps what random.list has.
"""
import argparse
import os
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
         "mercury+tensor+finalize"]
BUILD = os.path.join(toolchain.ROOT, "build-edges")
LIST = os.path.join(HERE, "random.list")


def build():
    """The program that counts edges."""
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        os.makedirs(BUILD, exist_ok=True)
        allow, counter = os.path.join(BUILD, "allow"), os.path.join(BUILD, "edges.o")
        with open(allow, "w") as f:
            f.write("src:*src/link/*\nsrc:*src/mercury/*\nfun:*\n")
        subprocess.run(["clang", "-O1", "-c", os.path.join(HERE, "edges.c"), "-o", counter],
                       check=True)
        subprocess.run(["meson", "setup", BUILD, "-Db_lundef=false", "-Dshared=false",
                        "-Dtests=false", "-Dc_link_args=" + counter, "-Dc_args="
                        "-fsanitize-coverage=inline-8bit-counters "
                        "-fsanitize-coverage-allowlist=" + allow],
                       check=True, cwd=toolchain.ROOT, env=dict(os.environ, CC="clang"))
    subprocess.run(["ninja", "-C", BUILD, "cubind"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(BUILD, "cubind")


def bits(counts):
    """A number with three bits per edge: it ran, more than once, more than five times."""
    spread = bytearray(len(counts))
    for i, n in enumerate(counts):
        spread[i] = (n > 0) | (n > 1) << 1 | (n > 5) << 2
    return int.from_bytes(spread, "little")


def edges(tools, link):
    """The bits of a link that is equal to nvlink's, or 0."""
    folder = tools.workdir()
    path = os.path.join(folder, "edges")
    if run.check(tools, link, ["env", "EDGES=" + path]).grade != "same":
        return 0
    try:
        with open(path, "rb") as f:
            return bits(f.read())
    except OSError:
        return 0


def candidates(tools, kind, seed, number):
    """(bits, size, job) of the links of a job."""
    out = []
    for step, link in enumerate(random_jobs.links(tools, kind, seed, number)):
        found = edges(tools, link)
        if found:
            size = sum(len(d) for _, d in link.inputs) + len(link.out or b"")
            out.append((found, size, "%s %s %d %d" % (kind, seed, number, step + 1)))
    return out


def greedy(pool, reached):
    """Jobs in the order in which they are worth most for their size."""
    chosen = []
    while pool:
        pool = [(found & ~reached, size, job) for found, size, job in pool]
        pool = [x for x in pool if x[0]]
        if not pool:
            break
        best = max(pool, key=lambda x: (x[0].bit_count() / (x[1] + 20000), x[2]))
        reached |= best[0]
        chosen.append(best[2])
    return chosen, reached


def stored_edges(tools, jobs):
    """What the archives of features reach."""
    reached = 0
    with ThreadPoolExecutor(jobs) as pool:
        for name in sorted(os.listdir(HERE)):
            if name.startswith("features") and name.endswith(".tar.xz"):
                links = store.read_archive(os.path.join(HERE, name))
                for found in pool.map(lambda x: edges(tools, x), links):
                    reached |= found
    return reached


def old_list():
    if not os.path.exists(LIST):
        return []
    with open(LIST) as f:
        return [line.split() for line in f]


def main(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--seed", default="golden")
    p.add_argument("--jobs", type=int, default=300)
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("-j", type=int, default=2)
    p.add_argument("--add", action="store_true")
    opts = p.parse_args(argv)
    tools = toolchain.Tools(build())
    try:
        reached = stored_edges(tools, opts.j)
        print("the feature programs: %d" % reached.bit_count())
        work = [(k, opts.seed, n) for k in opts.kinds.split(",") for n in range(opts.jobs)]
        if opts.add:
            work = [(k, s, int(n)) for k, s, n, _ in old_list()] + work
        pool = []
        with ThreadPoolExecutor(opts.j) as threads:
            for done, found in enumerate(threads.map(lambda w: candidates(tools, *w), work)):
                pool += [x for x in found if x[0] & ~reached]
                if done % 100 == 99:
                    print("%d of %d jobs, %d candidates" % (done + 1, len(work), len(pool)),
                          flush=True)
        chosen, reached = greedy(pool, reached)
        print("with %d random links: %d" % (len(chosen), reached.bit_count()))
    finally:
        tools.close()
    with open(LIST, "w") as f:
        f.writelines(job + "\n" for job in sorted(chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
