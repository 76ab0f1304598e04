"""What becomes of changed copies of the stored images (tests/fuzz/changed.c): most copies are no longer
sound, so nvlink has nothing to compare with, and changed.txt has digests of what was made of them
(`make.py --look`): a change that was not meant shows, in rules, too, that no compiler's code needs.
"""
import hashlib
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "changed.txt")
PROGRAM = os.path.join("tests", "fuzz", "changed")     # in the build folder of the program


def program(tools):
    """Its path, or None: a build without tests."""
    path = os.path.join(os.path.dirname(tools.cubind), PROGRAM)
    return path if os.access(path, os.X_OK) else None


def of_all(tools, images, jobs):
    """Group of images (the first digits of their digests) -> digest of what became of their copies."""
    groups = {}
    for key in sorted(images):
        groups.setdefault(key[:2], []).append(key)

    def group(part):
        try:
            done = tools.run_beside([program(tools), *part], [(key, images[key][1]) for key in part])
        except subprocess.TimeoutExpired:
            return "time"
        return hashlib.sha256(b"%d %s" % (done.returncode, done.stdout.encode())).hexdigest()[:16]
    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(groups, pool.map(group, groups.values())))


def write(tools, images, jobs):
    with open(PATH, "w") as f:
        f.writelines("%s %s\n" % group for group in sorted(of_all(tools, images, jobs).items()))


def check(tools, images, jobs):
    """Whether it is as it was when changed.txt was made.  Returns (passed, failed)."""
    if not program(tools):
        print("skip changed copies: this build has no %s" % PROGRAM)
        return 0, 0
    with open(PATH) as f:
        want = dict(line.split() for line in f)
    got = of_all(tools, images, jobs)
    wrong = [group for group in sorted(set(want) | set(got)) if want.get(group) != got.get(group)]
    for group in wrong:
        print("FAIL changed copies of the images whose digest starts with " + group)
    return len(got) - len(wrong), len(wrong)
