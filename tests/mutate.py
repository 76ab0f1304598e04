#!/usr/bin/env python3
"""Breaks rules of the linker on purpose and sees whether the tests notice.

usage: mutate.py [N] [--seed S] [--rules] [--in TEXT] [--file FILE:LINE] [--cases] [-j N]
       mutate.py --all [--left] [--search SECONDS] [--seed S] [--in TEXT] [-j N]

Draws N (30) comparisons and constants in the sources of a link, changes one at a time in a copy of
the tree (build-mutate), builds, and runs goldens, unit tests and the cases that take seconds as on a
machine without the CUDA toolkit, all cases with --cases. --rules takes the list RULES of mutants.py instead, --in
draws from files with TEXT in their path, --file takes every place in one line. What compiles to the
same program is drawn again; other mutants that cannot be told apart from it are named in mutants.py
and do not count.  --all tries every place that can be switched at run time (mutate_all.py; wants build/ and clang);
--left tries only what the last run did not notice or did not know; --search
then looks for copies and reports that notice more, and adds them to tests/golden/chosen.txt and asked.txt.
"""
import argparse
import functools
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import mutants  # noqa: E402

WORK = os.path.join(ROOT, "build-mutate")
MISSED = os.path.join(WORK, "missed")     # programs that no test told apart
# Where the rules of a link are, as far as these folders exist.
FOLDERS = ["src/sass", "src/capsule", "src/link", "src/mercury", "src/finalize"]
TABLES = ["src/format"]     # drawn from with --in only
PROGRAMS = ["cubind", "tests/fuzz/changed"]     # of the goldens
MEMORY = 4 << 30
SKIPPED = 77
# Not rules: bounds of loops, empty initialisers, and guards against indices and sizes that no valid
# input has, with what stands for the value then (fuzzing tests those).  Of a comparison for sorting only the sign counts, and the greater
# of two equal numbers is either.
GUARD = re.compile(r"^\s*([\w.>()\-]*(_count|len|size|bad)\b|sizeof\()")
GUARDED = re.compile(r"(?:< [\w.>()\-]*(?:_count|len|size)|\bcbi_fits\([^?]*\)) \? [^?]* : $")
OPERAND = r"(\*?(?:[\w.>\-]|\[[^\[\]]*\]|\([^()]*\))+)"
LEFT, RIGHT = re.compile(OPERAND + " $"), re.compile(" " + OPERAND)
CHOICE = re.compile(r"\? (.+?) : ([^;]+?)[;,)]|\)? ?\{? ?([^;?]+?) = ([^;]+?);")
TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<number>(?<![\w.])(?:0[xX][0-9a-fA-F]+|[0-9]+)(?P<suffix>[uUlL]*)(?![\w.]))
  | (?P<compare>(?<![<>=!\-])(?:<=|>=|==|!=|<|>)(?![<>=]))
""", re.X | re.S | re.M)
OTHER = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}


@functools.lru_cache(maxsize=None)
def source(path):
    with open(os.path.join(ROOT, path)) as f:
        return f.read()


class Mutant:
    """One change: file, the place in its text, what is there and what comes instead."""

    def __init__(self, path, at, old, new, rule=""):
        self.path, self.at, self.old, self.new, self.rule = path, at, old, new, rule
        self.text = None     # of the file when it was first asked for

    def where(self):
        if self.text is None:
            self.text = source(self.path)
        text = self.text
        return text.count("\n", 0, self.at) + 1, text[text.rfind("\n", 0, self.at) + 1:].split("\n")[0]

    def equivalent(self):
        """Why no test can notice it, or None."""
        line = " ".join(self.where()[1].split())
        for text, old, new, why in mutants.EQUIVALENT:
            if (old, new) == (self.old, self.new) and text in line:
                return why
        return None

    def __str__(self):
        number, line = self.where()
        rule = self.rule and " (%s)" % self.rule
        return "%s:%d%s  %s -> %s  in  %s" % (self.path, number, rule, self.old, self.new,
                                            line.strip()[:90])


def sources(part, endings=(".c",)):
    found = []
    for folder in FOLDERS + TABLES * bool(part):
        for base, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.relpath(os.path.join(base, n), ROOT) for n in names if n.endswith(endings)]
    return sorted(f for f in found if part in f)


def is_greater(before, rest):
    """Whether the comparison between these texts chooses the greater, or smaller, of what it compares:
    `a > b ? a : b`, `if (a > b) b = a`."""
    left, right = LEFT.search(before), RIGHT.match(rest)
    if not left or not right:
        return False
    behind = " ".join(rest[right.end():].split())
    both = {left.group(1).lstrip("("), right.group(1)}
    choice = CHOICE.match(behind)
    return bool(choice) and {g.strip() for g in choice.groups() if g} == both


def is_rule(text, at, end):
    """Whether what is at this place says something about links."""
    line_start = text.rfind("\n", 0, at) + 1
    before, after = text[line_start:at], text[end:text.find("\n", end)]
    if text[at] in "<>" and (is_greater(before, text[end:end + 300]) or
                             re.match(r"[^?;]*\? -1 : 1;", after) or " - (" in before + after):
        return False
    if before.endswith(("){", "(cbi_span){NULL, ")) and after.startswith("}"):
        return False    # empty
    if re.match(r"\s*static const \w+ \w+(\[[^\]]*\])*\[[^\]]*$", before) and re.match(r"\]+(\[[^\]]*\])* = \{", after):
        return False    # how large a table is
    if re.search(r"\bcbi_fits\([^;?&|]*, $", before):
        return False    # how much of the input is asked for
    if re.search(r"\bfor \([^;]*$|\bfor \([^;]*;[^;]*$|\bCBI_SB_EACH\(\w+, .* : $", before) or before.endswith("= {"):
        return False
    if re.search(GUARDED, before) and re.match(r"[;,)]", after):
        return False    # what stands for something behind the end
    if before.endswith(("? -1 : ", "? -")) or "UINT32_MAX" in after or \
            re.search(r"\b(CBI_NEW_ARRAY|cbi_alloc|cbi_large_alloc|cbi_vec_reserve)\([^;]*$", before) or (before.endswith("[") and after.startswith("] = {")):
        return False    # only the sign of a comparison counts; room for more
    return text[at] not in "<>" or not GUARD.match(after)


def places(path):
    """All mutants of a file, (comparisons, constants)."""
    with open(os.path.join(ROOT, path)) as f:
        text = f.read()
    compares, numbers = [], []
    for m in TOKEN.finditer(text):
        if m.group("skip") or not is_rule(text, m.start(), m.end()):
            continue
        if m.group("compare"):
            compares.append(Mutant(path, m.start(), m.group(), OTHER[m.group()]))
        else:
            old, suffix = m.group(), m.group("suffix")
            value = int(old[:len(old) - len(suffix)], 0)
            new = ("0x%x" if old[:2] in ("0x", "0X") else "%d") % (value + 1) + suffix
            numbers.append(Mutant(path, m.start(), old, new))
    return compares, numbers


def drawn(count, seed, part):
    """Mutants in random order: files in turn, of each a comparison or a constant.  More than COUNT,
    since some may not compile or change nothing."""
    rng = random.Random(seed)
    decks = []
    for path in sources(part):
        for deck in places(path):
            rng.shuffle(deck)
            decks.append(deck)
    found = []
    while any(decks) and len(found) < 4 * count:
        rng.shuffle(decks)
        found += [deck.pop() for deck in decks if deck]
    return found


def listed():
    """The rules of mutants.py but for those whose text is gone or is there twice."""
    texts = {}
    for path in sources("src", (".c", ".h", ".def")):
        with open(os.path.join(ROOT, path)) as f:
            texts[path] = f.read()
    found = []
    for rule, old, new in mutants.RULES:
        places_of = [path for path, text in texts.items() for _ in range(text.count(old))]
        if len(places_of) != 1:
            print("mutants.py: %s: %r is there %d times" % (rule, old, len(places_of)))
            continue
        found.append(Mutant(places_of[0], texts[places_of[0]].index(old), old, new, rule))
    return found


def in_line(spec):
    path, _, number = spec.partition(":")
    return [m for kind in places(path) for m in kind if m.where()[0] == int(number)]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def no_toolkit():
    """The environment without the folders of the CUDA tools."""
    path = [d for d in os.environ["PATH"].split(os.pathsep)
            if not os.path.exists(os.path.join(d, "nvlink"))]
    return dict(os.environ, PATH=os.pathsep.join(path), NVLINK="none")


def call(argv, folder, seconds):
    """(exit status, output); everything that it started ends with it."""
    p = subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         stdin=subprocess.DEVNULL, start_new_session=True, env=no_toolkit(),
                         preexec_fn=limited, errors="replace")
    try:
        out, _ = p.communicate(timeout=seconds)
        return p.returncode, out
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        return -1, "time limit"


def content(path):
    with open(path, "rb") as f:
        return f.read()


class Copy:
    """A copy of the tree with a build folder of its own."""

    def __init__(self, number, cases):
        self.tree = os.path.join(WORK, str(number), "tree")
        self.build = os.path.join(WORK, str(number), "build")
        self.room = os.path.join(WORK, str(number), "tmp")
        self.cases = cases
        self.skipped = ["builds.py"]    # cases that want more than there is here
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                                stdout=subprocess.PIPE, text=True).stdout.split("\n")
        for path in filter(None, listed):
            self.restore(path)

    def restore(self, path):
        source, target = os.path.join(ROOT, path), os.path.join(self.tree, path)
        if not os.path.isfile(source):
            return
        if os.path.exists(target) and content(target) == content(source):
            return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)

    def compile(self, *targets):
        """(exit status, output)"""
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            rc, out = call(["meson", "setup", "--buildtype=plain", "-Doptimization=2",
                            "-Dshared=false", self.build], self.tree, 300)
            if rc:
                return rc, out
        return call(["ninja", "-j", "1", "-C", self.build, *targets], self.tree, 600)

    def units(self):
        """The unit tests, which are linked once the goldens have passed."""
        _, out = call(["ninja", "-C", self.build, "-t", "targets", "all"], self.tree, 60)
        return re.findall(r"^(tests/unit/test_\w+):", out, re.M)

    def tests(self):
        """Which test fails, or None: goldens, unit tests, then cases, the fastest first."""
        env = ["env", "CUBIND_ROOT=" + self.tree, sys.executable]
        rc, out = call([*env, "tests/golden/run.py", "--cubind", os.path.join(self.build, "cubind"),
                        "-j", "1", "--stop", "--timeout", "10"], self.tree, 900)
        if rc:
            return "golden " + " ".join(re.findall(r"^FAIL (\S+)", out, re.M)[:1] or [out[-200:]])
        rc, out = self.compile(*self.units())
        rc, out = (rc, out) if rc else call([*env, "tests/run.py", "--build", self.build, "--jobs", "1",
                                             "--timeout", "60", "unit"], self.tree, 900)
        if rc:
            return "unit " + " ".join(re.findall(r"not ok \d+ - (\S+)", out)[:1] or
                                      re.findall(r"^FAIL unit (\S+)", out, re.M)[:1])
        env = ["env", "CUBIND_ROOT=" + self.tree, "CUBIND_BUILD=" + self.build,
               "CUBIND=" + os.path.join(self.build, "cubind"), "TMPDIR=" + self.room]
        for name in mutants.CASES:
            shutil.rmtree(self.room, ignore_errors=True)
            os.makedirs(self.room)
            rc, out = call([*env, os.path.join(self.tree, "tests", "cases", name)], self.tree, 60)
            if rc not in (0, SKIPPED):
                return "case " + name
        if not self.cases:
            return None
        env = ["env", "CUBIND_ROOT=" + self.tree, sys.executable]
        rc, out = call([*env, "tests/run.py", "--build", self.build, "--jobs", "1", "--timeout", "200",
                        *["--skip=" + name for name in self.skipped], "cases"], self.tree, 900)
        if rc:
            return "cases " + " ".join(re.findall(r"^FAIL cases (\S+)", out, re.M))
        return None

    def check_unchanged(self, tested):
        """Fails unless it compiles, and passes the tests if they are asked for; keeps the program."""
        rc, out = self.compile(*PROGRAMS)
        by = out[-2000:] if rc else self.tests() if tested else None
        if by and by.startswith("cases "):
            self.skipped += by.split()[1:]
            by = self.tests()
        if by:
            raise RuntimeError("the program fails before it is changed: " + by)
        self.original = content(os.path.join(self.build, "cubind"))

    def attempt(self, mutant):
        """'broken' if it does not compile, 'same' if it compiles to the same program, else which test
        notices it, or None."""
        path = os.path.join(self.tree, mutant.path)
        with open(os.path.join(ROOT, mutant.path)) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(text[:mutant.at] + mutant.new + text[mutant.at + len(mutant.old):])
        try:
            if self.compile(*PROGRAMS)[0]:
                return "broken"
            if content(os.path.join(self.build, "cubind")) == self.original:
                return "same"
            return self.tests()
        finally:
            self.restore(mutant.path)

    def keep(self, number):
        """Keeps the program, for pick.py to look for an input that tells it apart."""
        os.makedirs(MISSED, exist_ok=True)
        shutil.copy(os.path.join(self.build, "cubind"), os.path.join(MISSED, str(number)))


class Drive:
    """Hands mutants to the copies until enough were tried."""

    def __init__(self, todo, count, cases):
        self.todo, self.count, self.cases, self.tried = list(reversed(todo)), count, cases, 0
        self.noticed, self.missed, self.equal = [], [], []
        self.lock = threading.Lock()

    def next(self):
        with self.lock:
            if self.tried >= self.count or not self.todo:
                return None
            self.tried += 1
            return self.todo.pop()

    def done(self, mutant, by, copy):
        with self.lock:
            if by in ("broken", "same"):
                self.tried -= 1
                return
            why = mutant.equivalent()
            if by:
                self.noticed.append(mutant)
                print("noticed      %s  by %s" % (mutant, by), flush=True)
            elif why:
                self.equal.append(mutant)
                print("equivalent   %s: %s" % (mutant, why), flush=True)
            else:
                self.missed.append(mutant)
                copy.keep(len(self.missed))
                print("NOT NOTICED  %s" % mutant, flush=True)

    def work(self, number):
        copy = Copy(number, self.cases)
        try:
            copy.check_unchanged(number == 0)
        except RuntimeError:
            with self.lock:
                self.todo = []
            raise
        mutant = self.next()
        while mutant:
            self.done(mutant, copy.attempt(mutant), copy)
            mutant = self.next()


def main(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("count", nargs="?", type=int, default=30)
    p.add_argument("--seed", default="1")
    p.add_argument("--rules", action="store_true")
    p.add_argument("--in", dest="part", default="")
    p.add_argument("--file")
    p.add_argument("--cases", action="store_true")
    p.add_argument("-j", type=int, default=2)
    p.add_argument("--all", action="store_true")
    p.add_argument("--left", action="store_true")
    p.add_argument("--search", type=float, default=0)
    opts = p.parse_args(argv)
    if opts.all:
        import mutate_all
        found = [m for path in sources(opts.part) for kind in places(path) for m in kind]
        return mutate_all.main(dict(enumerate(found, 1)), os.path.join(ROOT, "build"), opts.j, opts.left, opts.search,
                               opts.seed)
    todo = listed() if opts.rules else in_line(opts.file) if opts.file else \
        drawn(opts.count, opts.seed, opts.part)
    count = len(todo) if opts.rules or opts.file else opts.count
    shutil.rmtree(MISSED, ignore_errors=True)
    drive = Drive(todo, count, opts.cases)
    with ThreadPoolExecutor(opts.j) as pool:
        for result in [pool.submit(drive.work, i) for i in range(opts.j)]:
            result.result()
    judged = len(drive.noticed) + len(drive.missed)
    print("%d of %d noticed, %d equivalent to the program" % (len(drive.noticed), judged,
                                                             len(drive.equal)))
    gone = len(mutants.RULES) - count if opts.rules else 0
    return 1 if gone or len(drive.noticed) * 15 < judged * 14 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
