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


def lines(build):
    """{file: {line: times}} of everything below src/."""
    found = collections.defaultdict(dict)
    counters = [os.path.join(folder, name) for folder, _, names in os.walk(build) for name in names
                if name.endswith(".gcda")]
    with tempfile.TemporaryDirectory() as scratch:
        for at in range(0, len(counters), 50):
            subprocess.run(["gcov", "--json-format", *map(os.path.abspath, counters[at:at + 50])], cwd=scratch, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for name in os.listdir(scratch):
                with gzip.open(os.path.join(scratch, name)) as f:
                    data = json.load(f)
                os.unlink(os.path.join(scratch, name))
                for file in data["files"]:
                    path = os.path.normpath(os.path.join(data["current_working_directory"], file["file"]))
                    path = os.path.relpath(path, ROOT)
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
