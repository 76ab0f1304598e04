#!/usr/bin/env python3
"""Lines of src/ that were run, per folder and per file, from the counters that gcov reads.

usage: coverage.py BUILD [FILE...]

With files: their lines that were not run.  What cannot be run by tests is marked in the source by nothing:
the figure is what it is.
"""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(counters, scratch):
    """What gcov says of some files of counters of one folder.  None: one of them is damaged, as by a process that
    was killed while it wrote."""
    done = subprocess.run(["gcov", "--json-format", *map(os.path.abspath, counters)], cwd=scratch,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = []
    for name in os.listdir(scratch):
        with gzip.open(os.path.join(scratch, name)) as f:
            found.append(json.load(f))
        os.unlink(os.path.join(scratch, name))
    return None if done.returncode else found


def lines(build):
    """{file: {line: times}} of everything below src/.  A file is compiled for the program, for the libraries."""
    found = collections.defaultdict(dict)
    with tempfile.TemporaryDirectory() as scratch:
        for folder, _, names in os.walk(build):
            # what was never run has no counters, but notes
            counters = [os.path.join(folder, n) for n in names if "src_" in n and n.endswith(".gcno")]
            if not counters:
                continue
            data = read(counters, scratch)
            if data is None:
                single = [read([c], scratch) for c in counters]
                for c in (c for c, d in zip(counters, single) if d is None):
                    print("%s is damaged and left out" % c, file=sys.stderr)
                data = [d for part in single if part for d in part]
            for file in (f for d in data for f in d["files"]):
                path = os.path.relpath(os.path.normpath(os.path.join(os.path.abspath(build), file["file"])), ROOT)
                if not path.startswith("src/"):
                    continue
                for line in file["lines"]:
                    n = line["line_number"]
                    found[path][n] = found[path].get(n, 0) + line["count"]
    return found


def main():
    found = lines(sys.argv[1])
    if len(sys.argv) > 2:
        for path in sys.argv[2:]:
            with open(os.path.join(ROOT, path)) as f:
                text = f.read().split("\n")
            for n in sorted(n for n, times in found[path].items() if not times):
                print("%s:%d: %s" % (path, n, text[n - 1].strip()))
        return 0
    folders = collections.defaultdict(lambda: [0, 0])
    for path, counts in found.items():
        for key in (os.path.dirname(path), "src"):
            folders[key][0] += sum(1 for times in counts.values() if times)
            folders[key][1] += len(counts)
    print("%-20s %8s %8s %7s" % ("folder", "lines", "run", ""))
    for key in sorted(folders):
        ran, count = folders[key]
        print("%-20s %8d %8d %6.1f%%" % (key, count, ran, 100 * ran / count))
    worst = sorted(((sum(1 for t in c.values() if not t), p) for p, c in found.items()), reverse=True)[:15]
    print("most lines that were not run: " + ", ".join("%s %d" % (p, n) for n, p in worst))
    return 0


if __name__ == "__main__":
    sys.exit(main())
