"""Counts what a test script checks, and ends the script with the counts."""
import os
import sys

SHORT = "CUBIND_SHORT" in os.environ  # `./dev test`

counts = {"passed": 0, "failed": 0, "skipped": 0}


def expect(name, condition, detail=""):
    counts["passed" if condition else "failed"] += 1
    if not condition:
        print("FAIL %s\n%s" % (name, detail))


def skip(name, why):
    counts["skipped"] += 1
    print("skip %s: %s" % (name, why))


def part(jobs, of):
    """Jobs of one kind: all of them; in short runs the first of every `of`."""
    return jobs[::of] if SHORT else jobs


def finish():
    print(", ".join("%d %s" % (n, what) for what, n in counts.items()))
    sys.exit(1 if counts["failed"] else 0)
