"""What becomes of changed copies of the stored images (tests/fuzz/changed.c): most copies are no longer
sound, so nvlink has nothing to compare with, and changed.txt has digests of what was made of them
(`make.py --look`): a change that was not meant shows, in rules, too, that no compiler's code needs.
"""
import hashlib
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "changed.txt")
CHOSEN = os.path.join(os.path.dirname(PATH), "chosen.txt")
CODES, CODES_AT_ONCE = 3000, 500     # how much random code (tests/fuzz/changed_code.c)
CODE = "code"
PROGRAM = os.path.join("tests", "fuzz", "changed")     # in the build folder of the program


def program(tools):
    """Its path, or None: a build without tests."""
    path = os.path.join(os.path.dirname(tools.cubind), PROGRAM)
    return path if os.access(path, os.X_OK) else None


def chosen_copies():
    """Digest of an image -> numbers of the copies that notice what nothing else does (mutate.py --all --search);
    CODE -> those of random code."""
    if not os.path.exists(CHOSEN):
        return {}
    with open(CHOSEN) as f:
        return dict(line.split() for line in f)


def arguments(images):
    """Group -> arguments of a run: the images by the first digits of their digests, the chosen copies, and random
    code."""
    groups = {}
    for key in sorted(images):
        groups.setdefault(key[:2], []).append(key)
    chosen = chosen_copies()
    groups["code-chosen"] = ["-c", chosen.pop(CODE)]
    for key, numbers in sorted(chosen.items()):
        groups.setdefault("chosen-" + key[0], []).append("%s@%s" % (key, numbers))
    for first in range(0, CODES, CODES_AT_ONCE):
        numbers = range(first, first + CODES_AT_ONCE)
        groups["code-%d" % first] = ["-c", ",".join(map(str, numbers))]
    return groups


def of_all(tools, images, jobs):
    """Group -> digest of what became of it."""
    def group(words):
        keys = [word.partition("@")[0] for word in words if word.partition("@")[0] in images]
        try:
            done = tools.run_beside([program(tools), *words], [(key, images[key][1]) for key in keys])
        except subprocess.TimeoutExpired:
            return "time"
        return hashlib.sha256(b"%d %s" % (done.returncode, done.stdout.encode())).hexdigest()[:16]
    groups = arguments(images)
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
        print("FAIL changed copies: " + group)
    return len(got) - len(wrong), len(wrong)
