#!/usr/bin/env python3
"""Links again what is stored and compares with what nvlink made. Needs no CUDA toolkit.

usage: run.py [--cubind PROGRAM] [-j N] [--stop] [--every N] [--timeout SECONDS]
              [--extract FOLDER] [NAME...]

NAME: only the links whose name has NAME in it.  --stop: at the first difference.  --every N: of each
archive only every Nth link.  --extract: write the folders of these links, and run nothing.
"""
import argparse
import collections
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "oracle")]
sys.dont_write_bytecode = True
import store  # noqa: E402
import toolchain  # noqa: E402


def stored(names, every):
    """The links of the folders, then those of the archives."""
    folders = [os.path.join(HERE, n) for n in sorted(os.listdir(HERE))]
    for folder in folders:
        if os.path.exists(os.path.join(folder, "cmd")):
            yield store.read_folder(folder)
    for archive in folders:
        if archive.endswith(".tar.xz"):
            for i, link in enumerate(store.read_archive(archive)):
                if i % every == 0:
                    yield link


def check(tools, link, before=(), timeout=toolchain.TIMEOUT):
    """Links it again; BEFORE: words in front of the command."""
    want = toolchain.Run(link.status, link.stderr, link.out, link.stdout)
    if link.args[0] == "finalize":
        argv = [tools.cubind, *link.args]
    else:
        argv = [tools.cubind, "link", "--emulate", toolchain.EMULATE, *link.args]
    got = tools.exec_link([*before, *argv, *[n for n, _ in link.inputs]], link.inputs, "c",
                          timeout)
    return toolchain.compare(tools, want, got, link.args, link.inputs)


def extract(links, folder):
    for link in links:
        for inner, data in link.files().items():
            path = os.path.join(folder, link.name, inner)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data)
        print(os.path.join(folder, link.name))


def run(tools, links, jobs, stop, timeout):
    """Counts of the grades of the links."""
    grades = collections.Counter()
    with ThreadPoolExecutor(jobs) as pool:
        verdicts = [(link, pool.submit(check, tools, link, (), timeout)) for link in links]
        for link, verdict in verdicts:
            v = verdict.result()
            grades[v.grade] += 1
            if v.grade == "same":
                continue
            print("FAIL %s\n    %s" % (link.name, (v.text or v.grade).replace("\n", "\n    ")))
            sys.stdout.flush()
            if stop:
                pool.shutdown(cancel_futures=True)
                break
    return grades


def main(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--cubind")
    p.add_argument("-j", type=int, default=os.cpu_count() or 2)
    p.add_argument("--stop", action="store_true")
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--timeout", type=float, default=toolchain.TIMEOUT)
    p.add_argument("--extract")
    p.add_argument("names", nargs="*")
    opts = p.parse_args(argv)
    links = [x for x in stored(opts.names, opts.every)
             if not opts.names or any(n in x.name for n in opts.names)]
    if opts.extract:
        return extract(links, opts.extract)
    tools = toolchain.Tools(opts.cubind, tempfile.gettempdir())
    try:
        grades = run(tools, links, opts.j, opts.stop, opts.timeout)
    finally:
        tools.close()
    failed = sum(grades.values()) - grades["same"]
    print("%d passed, %d failed" % (grades["same"], failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
