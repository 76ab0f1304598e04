"""mutate.py --all: every place that can be changed at run time, in one program (mutate_switch.py).

Each place is tried with links, reports, changed copies and random code of tests/golden that meet it, up to LIMITS of
each, with the unit tests that meet it, and with the fast cases (mutants.CASES), of which those are run whose commands
do something else; what none of them notices is in build-mutate/survivors.txt.  Places in tables, which only
`mutate.py` reaches, are left out.
"""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(HERE, "golden"), os.path.join(HERE, "oracle")]
import changed  # noqa: E402
import mutants  # noqa: E402
import mutate_switch  # noqa: E402
import reports  # noqa: E402
import run as golden  # noqa: E402
import toolchain  # noqa: E402

WORK = os.path.join(ROOT, "build-mutate", "all")
FILES = os.path.join("/dev/shm" if os.access("/dev/shm", os.W_OK) else WORK, "cubind-mutate-%d" % os.getuid())
LIMITS = {"chosen": 300, "golden": 60, "report": 40, "code": 40, "copy": 80, "case": 80}   # in this order
COPIES, CODES, CODES_AT_ONCE = 12, changed.CODES, 50
SURVIVORS = os.path.join(ROOT, "build-mutate", "survivors.txt")
NOTICED = os.path.join(WORK, "noticed.json")
TRIES = 14      # changes that a new job is tried with, before it notices one
RECORDING = 300     # seconds: each command starts a Python
SLOW_UNITS = ("test_demangle",)


# ---- the programs ----


def build_switched(places, build, jobs):
    """Returns (driver, folder of unit tests, numbers of the places that are switched); the program is beside the
    driver."""
    objects, switched = mutate_switch.compile_all(build, places, WORK, jobs)
    unit = os.path.join(WORK, "unit")
    os.makedirs(unit, exist_ok=True)
    libraries = subprocess.run(["pkg-config", "--libs", "libxxhash", "liblz4", "libzstd", "cmocka"], check=True,
                               stdout=subprocess.PIPE, text=True).stdout.split()
    behind = [*objects, os.path.join(build, "tools", "libinspectors.a"), os.path.join(build, "libcubind.a"), *libraries, "-ldl", "-lpthread", "-lm"]

    def parts(folder, without=()):
        return [os.path.join(build, folder, n) for n in sorted(os.listdir(os.path.join(build, folder)))
                if n.endswith(".o") and n not in without]
    tool_main, driver = os.path.join(WORK, "tool_main.o"), os.path.join(WORK, "driver")
    subprocess.run(["objcopy", "--redefine-sym", "main=cbi_tool_main",
                    os.path.join(build, "cubind.p", "tools_main.c.o"), tool_main], check=True)
    subprocess.run(["gcc", "-O1", "-w", "-std=gnu17", "-D_GNU_SOURCE", *("-I" + os.path.join(ROOT, d) for d in (
        ".", "include", "src", "tests/fuzz")), os.path.join(HERE, "mutate_driver.c"), "-o", driver, tool_main,
        *parts("cubind.p", ["tools_main.c.o"]), *parts("tests/fuzz/changed.p", ["changed.c.o"]), *behind], check=True)
    start = os.path.join(WORK, "start.o")
    subprocess.run(["gcc", "-O1", "-c", os.path.join(HERE, "mutate_start.c"), "-o", start], check=True)
    subprocess.run(["gcc", "-o", os.path.join(WORK, "cubind"), start, *parts("cubind.p"), *behind], check=True)
    names = [n[:-2] for n in os.listdir(os.path.join(build, "tests", "unit")) if n.endswith(".p")]

    def link_unit(name):
        subprocess.run(["gcc", "-o", os.path.join(unit, name), start, *parts("tests/unit/%s.p" % name), *behind],
                       check=True)
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(link_unit, names))
    return driver, unit, switched


class Driver:
    """A process of mutate_driver.c."""

    def __init__(self, program, jobs, number):
        folder = os.path.join(FILES, "work%d" % number)
        os.makedirs(os.path.join(folder, "c"), exist_ok=True)
        self.process = subprocess.Popen([program, jobs], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("the driver died at " + line[:200])
        return answer.split()

    def base(self, job):
        """(digest, places met)"""
        digest, *met = self.ask("b %d" % job)
        return digest, set(map(int, met))

    def notices(self, place, jobs):
        """The first of these (job, digest) that notices the change, or None."""
        by = int(self.ask("k %d %s" % (place, " ".join("%d %s" % x for x in jobs)))[0]) if jobs else -1
        return None if by < 0 else by


def spread(program, jobs_file, items, handle, workers):
    """Calls handle(driver, item) for all items, in threads with a driver each."""
    items, lock = iter(items), threading.Lock()

    def work(number):
        driver = Driver(program, jobs_file, number)
        while True:
            with lock:
                item = next(items, None)
            if item is None:
                break
            handle(driver, item)
        driver.process.stdin.close()
        driver.process.wait()
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, i) for i in range(workers)]:
            done.result()


# ---- jobs ----


def run_case(name, program, seconds=60, **more):
    """Exit status of a case with this program, as where there is no toolkit; -1: it took too long."""
    room = os.path.join(FILES, "room%d" % threading.get_ident())
    shutil.rmtree(room, ignore_errors=True)
    os.makedirs(room)
    path = os.pathsep.join(d for d in os.environ["PATH"].split(os.pathsep)
                           if not os.path.exists(os.path.join(d, "nvlink")))
    try:
        return subprocess.run([sys.executable, os.path.join(HERE, "cases", name)], cwd=ROOT, timeout=seconds,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=dict(os.environ, PATH=path, NVLINK="none", TMPDIR=room, CUBIND_ROOT=ROOT,
                                       CUBIND_BUILD=os.path.join(ROOT, "build"), CUBIND=program, **more)).returncode
    except subprocess.TimeoutExpired:
        return -1


class Jobs:
    """Lines for the driver, with their kinds and names; the files that they want are written once."""

    def __init__(self):
        self.lines, self.names, self.written = [], [], {}
        self.links = list(golden.stored(1))
        self.images = golden.device_images(self.links)

    def add(self, kind, name, words):
        self.lines.append("\t".join(words))
        self.names.append((kind, name))

    def folder_of(self, number, files):
        folder = os.path.join(FILES, "links", str(number))
        os.makedirs(os.path.join(folder, "in"), exist_ok=True)
        for name, data in files:
            path = os.path.join(folder, name)
            if data in self.written and not os.path.exists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.link(self.written[data], path)
            elif not os.path.exists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as f:
                    f.write(data)
                self.written[data] = path
        return folder

    def image(self, key):
        path = os.path.join(FILES, "images", key)
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(self.images[key][1])
        return path

    def report(self, number, kind):
        words, files, results = reports.command(self.links[number], kind)
        return ["L", self.folder_of(number, files), ",".join(results) or "-", "1", *words]

    def copy(self, key, number):
        return ["C", self.image(key), str(number)]

    def add_cases(self):
        """The commands that the fast cases run (mutate_record.py)."""
        folder = os.path.join(FILES, "cases")
        shutil.rmtree(folder, ignore_errors=True)
        for name in mutants.CASES:
            os.makedirs(os.path.join(folder, name))
            run_case(name, os.path.join(HERE, "mutate_record.py"), RECORDING, CBI_RECORD=os.path.join(folder, name),
                     CBI_REAL=os.path.join(ROOT, "build", "cubind"))
            for command in sorted(os.listdir(os.path.join(folder, name))):
                path = os.path.join(folder, name, command)
                if os.path.exists(os.path.join(path, "words")):
                    with open(os.path.join(path, "words")) as f:
                        self.add("case", name, ["L", path, *f.read().split("\t")])

    def add_all(self):
        """What the suites run."""
        asked, chosen = reports.asked_for(), changed.chosen_copies()
        for i, link in enumerate(self.links):
            names = [n for n, _ in link.inputs]
            how = [] if link.args[0] == "finalize" else ["link", *reports.EMULATE]
            self.add("golden", link.name, ["L", self.folder_of(i, link.inputs), "c/out.cubin", "0", *how, *link.args,
                                           *names, "-o", "c/out.cubin"])
            for kind in reports.kinds(link, asked):
                self.add("report", link.name + " " + kind, self.report(i, kind))
        for key in sorted(self.images):
            more = [int(n) for n in chosen[key].split(",")] if key in chosen else []
            for number in range(COPIES):
                self.add("copy", "%s %d" % (key, number), self.copy(key, number))
            for number in more:
                self.add("chosen", "%s %d" % (key, number), self.copy(key, number))
        for number in chosen[changed.CODE].split(","):
            self.add("chosen", "code " + number, ["S", number, "1"])
        for first in range(0, CODES, CODES_AT_ONCE):
            self.add("code", str(first), ["S", str(first), str(CODES_AT_ONCE)])
        self.add_cases()
        path = os.path.join(FILES, "jobs")
        with open(path, "w") as f:
            f.writelines(line + "\n" for line in self.lines)
        return path


class Trial:
    """Which places are noticed by what."""

    def __init__(self, places, build, workers):
        self.places, self.workers = places, workers
        os.makedirs(FILES, exist_ok=True)
        self.driver, self.unit, self.switched = build_switched(places, build, workers)
        self.jobs = Jobs()
        self.file = self.jobs.add_all()
        self.noticed, self.met = {}, collections.Counter()
        decks = collections.Counter(self.deck(m) for m in places.values())
        self.weight = {n: 1 / decks[self.deck(m)] for n, m in places.items()}

    @staticmethod
    def deck(mutant):
        return mutant.path, mutant.old in mutate_switch.COMPARISONS

    def alive(self):
        return [n for n in sorted(self.switched) if n not in self.noticed and not self.places[n].equivalent()]

    def rate(self):
        """The part that is noticed, where files count as often as they are drawn from."""
        judged = [n for n in self.switched if not self.places[n].equivalent()]
        return 1 - sum(self.weight[n] for n in self.alive()) / sum(self.weight[n] for n in judged)

    def tell(self, what):
        print("%s: %d of %d places are not noticed; %.1f %% would be, drawn as for `mutate`" % (
            what, len(self.alive()), len(self.switched), 100 * self.rate()), flush=True)

    def take_others(self):
        """Takes for noticed what the last run noticed, wherever it stands now: not what it did not know."""
        def without_number(text):
            return re.sub(r"^(\S+):\d+", r"\1", text)
        with open(SURVIVORS) as f:
            left = {without_number(line.rpartition(" (met by ")[0]) for line in f}
        with open(NOTICED) as f:
            noticed = {without_number(name) for name in json.load(f)}
        for n in self.switched:
            text = without_number(str(self.places[n]))
            if text in noticed and text not in left:
                self.noticed[n] = "before"

    def by_jobs(self, kinds=tuple(LIMITS)):
        """Tries every place with jobs of these kinds that meet it."""
        order = [i for i in range(len(self.jobs.lines)) if self.jobs.names[i][0] in kinds]
        random.Random(1).shuffle(order)
        order.sort(key=lambda i: list(LIMITS).index(self.jobs.names[i][0]))
        found, full = {n: [] for n in self.switched}, collections.Counter()
        self.in_cases = {n: [] for n in self.switched}

        def first(driver, i):
            digest, met = driver.base(i)
            kind = self.jobs.names[i][0]
            for n in met & self.switched:
                self.met[n] += 1
                if full[n, kind] < LIMITS[kind]:
                    full[n, kind] += 1
                    (self.in_cases if kind == "case" else found)[n].append((i, digest))

        def second(driver, n):
            by = driver.notices(n, sorted(found[n], key=lambda x: x[0] * 7919 % 10007))
            if by is not None:
                self.noticed[n] = " ".join(self.jobs.names[by])
        spread(self.driver, self.file, order, first, self.workers)
        spread(self.driver, self.file, self.alive(), second, self.workers)

    def by_units(self):
        """Tries what is left with the unit tests that meet it."""
        met = {}
        for name in sorted(os.listdir(self.unit)):
            path = os.path.join(WORK, "met")
            if name in SLOW_UNITS:
                continue
            if os.path.exists(path):
                os.unlink(path)
            start = time.time()
            self.unit_fails(name, {"CBI_MET": path})
            data = b""
            if os.path.exists(path):
                with open(path, "rb") as f:
                    data = f.read()
            met[name] = time.time() - start, {8 * i + k for i, x in enumerate(data) for k in range(8) if x >> k & 1}

        def one(n):
            for name in sorted(met, key=lambda name: met[name][0]):
                if n in met[name][1] and self.unit_fails(name, {"CBI_MUTANT": str(n)}):
                    self.noticed[n] = "unit " + name
                    break
        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(one, self.alive()))

    def by_cases(self):
        """Tries what is left with the cases that run a command in which it makes a difference."""
        program = os.path.join(WORK, "cubind")

        def one(driver, n):
            jobs, tried = self.in_cases[n], set()
            while jobs and n not in self.noticed:
                by = driver.notices(n, jobs)
                if by is None:
                    break
                name = self.jobs.names[by][1]
                if run_case(name, program, CBI_MUTANT=str(n)) not in (0, 77):
                    self.noticed[n] = "case " + name
                tried.add(name)
                jobs = [job for job in jobs if self.jobs.names[job[0]][1] not in tried]
        spread(self.driver, self.file, self.alive(), one, self.workers)

    def unit_fails(self, name, more):
        try:
            return subprocess.run([os.path.join(self.unit, name)], env=dict(os.environ, **more), cwd=ROOT, timeout=30,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode not in (0, 77)
        except subprocess.TimeoutExpired:
            return True

    # ---- looking for more ----

    def drawn_jobs(self, seconds, seed):
        """(kind, name, words) of random jobs that the suites do not run."""
        rng, end = random.Random(seed), time.time() + seconds
        pairs = [(i, kind) for i, link in enumerate(self.jobs.links) for kind in reports.possible(link)]
        rng.shuffle(pairs)
        keys = sorted(self.jobs.images)
        while time.time() < end and self.alive():
            if pairs:
                i, kind = pairs.pop()
                yield "report", "%s %s" % (self.jobs.links[i].name, kind), self.jobs.report(i, kind)
            key, number = rng.choice(keys), rng.randrange(COPIES, 1000000)
            yield "copy", "%s %d" % (key, number), self.jobs.copy(key, number)

    def search(self, seconds, seed):
        """Adds to asked.txt and chosen.txt what notices more."""
        tries, asked, chosen = collections.Counter(), [], {}

        def one(driver, job):
            kind, name, words = job
            number = int(driver.ask("j " + "\t".join(words))[0])
            digest, met = driver.base(number)
            left, by = TRIES, 0
            for n in sorted(met.intersection(self.alive()), key=lambda n: tries[n] / self.weight[n]):
                tries[n] += 1
                left -= 1
                if left < 0:
                    break
                if driver.notices(n, [(number, digest)]) is not None:
                    self.noticed[n] = name
                    left, by = len(self.places), by + 1
            if by and kind == "report":
                asked.append(name)
            elif by:
                chosen.setdefault(name.split()[0], []).append(name.split()[1])
        spread(self.driver, os.devnull, self.drawn_jobs(seconds, seed), one, self.workers)
        add_to_lists(asked, chosen)


def add_to_lists(asked, chosen):
    old = ["%s %s" % (name, kind) for name, kinds in reports.asked_for().items() for kind in kinds]
    with open(reports.ASKED, "w") as f:
        f.writelines(line + "\n" for line in sorted({*old, *asked}))
    copies = {key: numbers.split(",") for key, numbers in changed.chosen_copies().items()}
    for key, numbers in chosen.items():
        copies[key] = copies.get(key, []) + numbers
    with open(changed.CHOSEN, "w") as f:
        f.writelines("%s %s\n" % (key, ",".join(sorted(set(copies[key]), key=int))) for key in sorted(copies))


def main(places, build, workers, left, seconds, seed):
    """places: number -> Mutant.  Returns the exit status."""
    trial = Trial(places, build, workers)
    if left:
        trial.take_others()
    trial.by_jobs()
    trial.tell("goldens, reports, copies, code")
    trial.by_units()
    trial.tell("and unit tests")
    trial.by_cases()
    trial.tell("and cases")
    if seconds:
        trial.search(seconds, seed)
        trial.tell("and with what was found")
    with open(SURVIVORS, "w") as f:
        for n in trial.alive():
            f.write("%s (met by %d)\n" % (places[n], trial.met[n]))
    with open(NOTICED, "w") as f:
        json.dump({str(places[n]): by for n, by in trial.noticed.items()}, f, indent=0)
    print("the others are in " + os.path.relpath(SURVIVORS, ROOT))
    return 0
