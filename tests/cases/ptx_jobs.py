#!/usr/bin/env python3
"""PTX inputs are assembled several at a time, as many as there are cores, with the messages of one
after the other; the cache keeps what came out.  The assembler is a script, so no toolkit is needed."""

import os
import signal
import stat
import subprocess
import tempfile
import time

from _checks import expect, finish

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(HERE)))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))

# does what the comments of its input say, and writes down when it began and ended
ASSEMBLER = """#!/usr/bin/env python3
import os, shutil, sys, time
note = os.environ["NOTES"] + "/" + str(os.getpid())
begin = time.time()
open(note, "w").write("%f 0" % begin)
for line in open("application ptx input"):
    word, _, rest = line.strip().partition(" ")
    if word == "//say":
        print(rest, flush=True)
    elif word == "//arguments":
        print(sys.argv[1:], flush=True)
    elif word == "//sleep":
        time.sleep(float(rest))
    elif word == "//give":
        shutil.copy(rest, "elf.o")
    elif word == "//fail":
        sys.exit(1)
open(note, "w").write("%f %f" % (begin, time.time()))
"""


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.assembler = self.write("ptxas", ASSEMBLER)
        os.chmod(self.assembler, 0o755)
        for name in ("notes", "tmp"):
            os.mkdir(self.path(name))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def ptx(self, name, *orders):
        text = "".join("//%s\n" % order for order in orders)
        return self.write(name, text + ".version 9.0\n.target sm_90\n.address_size 64\n" + "//\n" * 10)

    def notes(self):
        """(begin, end) of every run of the assembler since the last call; end 0: it did not come to it."""
        found = []
        for name in os.listdir(self.path("notes")):
            with open(os.path.join(self.path("notes"), name)) as f:
                found.append(tuple(float(word) for word in f.read().split()))
            os.unlink(os.path.join(self.path("notes"), name))
        return found

    def command(self, *args):
        return [CUBIND, "link", "-arch=sm_90", "--ptxas", self.assembler, "-o", "out", *args]

    def environment(self, **more):
        env = dict(os.environ, NOTES=self.path("notes"), TMPDIR=self.path("tmp"), **more)
        if "CUBIND_CACHE" not in more:
            env.pop("CUBIND_CACHE", None)
        return env

    def link(self, *args, cores=None, **environment):
        out = self.path("out")
        if os.path.exists(out):
            os.unlink(out)
        done = subprocess.run(self.command(*args), cwd=self.folder, env=self.environment(**environment),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None)
        image = None
        if os.path.exists(out):
            with open(out, "rb") as f:
                image = f.read()
        return done.returncode, done.stdout, image


def most_at_a_time(notes):
    return max(sum(b <= begin < e for b, e in notes) for begin, _ in notes)


def several_at_a_time(bench):
    samples = [os.path.join(ROOT, "samples", name) for name in ("reduce.cubin", "mathlib.cubin")]
    names = ["p%d.ptx" % i for i in range(6)]
    for i, name in enumerate(names):
        # the first takes longest: what is ready before it waits
        bench.ptx(name, "sleep %.1f" % (0.5 - 0.05 * i), "say this is %s" % name,
                  "give " + (samples[i] if i < 2 else bench.path("nothing.cubin")))
    bench.write("text.txt", "no input at all, but long enough to be looked at by the linker " * 2)
    subprocess.run([CUBIND, "link", "-arch=sm_90", "-r", "-o", bench.path("nothing.cubin"), bench.write(
        "empty.txt", "nothing " * 10)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    inputs = names[:3] + ["text.txt"] + names[3:]
    cores = os.sched_getaffinity(0)
    code, text, image = bench.link(*inputs)
    notes = bench.notes()
    said = [word for line in text.splitlines() if "this is" in line or "is ignored" in line
            for word in names + ["text.txt"] if word in line]
    expect("links", code == 0 and image, text)
    expect("messages in the order of the inputs", said == inputs, text)
    expect("no more at a time than cores", len(notes) == 6 and most_at_a_time(notes) <= len(cores), notes)
    # the text in the middle makes the linker report, so the first three come before the last three
    expect("several at a time", most_at_a_time(notes) >= min(len(cores), 2), notes)
    one = {min(cores)}
    code, text_of_one, image_of_one = bench.link(*inputs, cores=one)
    expect("one core: one at a time", most_at_a_time(bench.notes()) == 1)
    expect("one core: the same", (text_of_one, image_of_one) == (text, image), text_of_one)
    plain = subprocess.run([CUBIND, "link", "-arch=sm_90", "-o", bench.path("plain"), *samples],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    expect("the samples link", plain.returncode == 0, plain.stdout)


def failures(bench):
    bench.ptx("good.ptx", "say good", "give " + os.path.join(ROOT, "samples", "mathlib.cubin"))
    bench.ptx("bad.ptx", "say what is wrong", "fail")
    bench.ptx("later.ptx", "say later", "give " + os.path.join(ROOT, "samples", "reduce.cubin"))
    code, text, image = bench.link("good.ptx", "bad.ptx", "later.ptx")
    expect("one fails", code != 0 and image is None and "what is wrong" in text and "'bad.ptx'" in text and
           text.index("good") < text.index("what is wrong") and "later" not in text, text)
    expect("nothing is left behind", os.listdir(bench.path("tmp")) == [], os.listdir(bench.path("tmp")))
    bench.ptx("void.ptx", "say no output")
    code, text, image = bench.link("void.ptx")
    expect("no output of the assembler", code != 0 and "could not be run" in text and
           "ended without a result" in text, text)
    bench.notes()


def words(bench):
    """nvcc hands all options over in one item."""
    bench.ptx("words.ptx", "arguments", "give " + os.path.join(ROOT, "samples", "mathlib.cubin"))
    code, text, _ = bench.link("-Xptxas", "-v  -O1 ", "-Xptxas=-w", "words.ptx")
    expect("options parted by blanks", code == 0 and "'-v', '-O1', '-w'" in text, text)
    bench.notes()


def names(bench):
    """A name without a folder is looked for on PATH; what is not there is said."""
    bench.ptx("good.ptx", "give " + os.path.join(ROOT, "samples", "mathlib.cubin"))
    os.mkdir(bench.path("bin"))
    os.rename(bench.assembler, bench.path("bin/my-ptxas"))
    path = bench.path("bin") + ":" + os.environ["PATH"]
    for name, found in (("my-ptxas", True), ("bin/my-ptxas", True), ("./my-ptxas", False), ("no-ptxas", False)):
        argv = [CUBIND, "link", "-arch=sm_90", "--ptxas", name, "-o", "out", "good.ptx"]
        done = subprocess.run(argv, cwd=bench.folder, env=bench.environment(PATH=path),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        expect("the program " + name, done.returncode == 0 if found else
               done.returncode != 0 and "No such file or directory" in done.stdout, done.stdout)


def older(bench):
    """Below sm_90 nvlink assembles a .ptx file, and forgets the result; so does cubind in its place."""
    emulate = ("--emulate=nvlink-13.0.88", "-arch=sm_80")
    bench.ptx("good.ptx", "say good", "give " + os.path.join(ROOT, "samples", "mathlib.cubin"))
    bench.ptx("bad.ptx", "say what is wrong", "fail")
    code, text, image = bench.link(*emulate, "good.ptx")
    expect("older target: the message stays", code == 0 and image and "good" in text, text)
    code, text, image = bench.link(*emulate, "good.ptx", "bad.ptx")
    expect("older target: errors count", code != 0 and image is None and "what is wrong" in text, text)
    without = bench.link(*emulate, "--ptxas", "no-ptxas", "good.ptx")
    expect("older target: no assembler", without[0] != 0, without[1])
    bench.notes()


def virtual(bench):
    """For compute_NN nvlink assembles all PTX, too, and writes nothing."""
    bench.ptx("good.ptx", "say good", "arguments", "give " + os.path.join(ROOT, "samples", "mathlib.cubin"))
    bench.ptx("bad.ptx", "say what is wrong", "fail")
    for target in ("75", "90"):
        argv = ("--emulate=nvlink-13.0.88", "-arch=compute_" + target)
        code, text, image = bench.link(*argv, "good.ptx")
        expect("virtual target: the message stays", code == 0 and not image and "good" in text and
               "'-arch=sm_%s'" % target in text, text)
        code, text, image = bench.link(*argv, "good.ptx", "bad.ptx")
        expect("virtual target: errors count", code != 0 and not image and "what is wrong" in text, text)
    bench.notes()


def target_behind(bench):
    """-report-arch is for the assembler's messages, too; one may have several lines."""
    bench.ptx("good.ptx", "say info    : Function properties for f", "say     0 bytes stack frame",
              "say info    : 5 bytes", "give " + os.path.join(ROOT, "samples", "mathlib.cubin"))
    code, text, _ = bench.link("-report-arch", "good.ptx")
    expect("the target behind messages", code == 0 and "for f\n    0 bytes stack frame (target: sm_90)\n" in text and
           ": 5 bytes (target: sm_90)\n" in text, text)
    bench.notes()


def signals(bench):
    for i in range(4):
        bench.ptx("slow%d.ptx" % i, "sleep 30", "give none")
    process = subprocess.Popen(bench.command(*["slow%d.ptx" % i for i in range(4)]), cwd=bench.folder,
                               env=bench.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wanted = min(4, len(os.sched_getaffinity(0)))
    deadline = time.time() + 20
    while len(os.listdir(bench.path("notes"))) < wanted and time.time() < deadline:
        time.sleep(0.05)
    running = [int(name) for name in os.listdir(bench.path("notes"))]
    process.send_signal(signal.SIGTERM)
    process.wait()
    expect("signal: dies of it", process.returncode == -signal.SIGTERM, process.returncode)
    expect("signal: children are gone", len(running) == wanted and not any(is_alive(pid) for pid in running),
           running)
    expect("signal: nothing is left behind", os.listdir(bench.path("tmp")) == [],
           os.listdir(bench.path("tmp")))
    bench.notes()


def is_alive(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False


def entries(cache):
    return [name for name in os.listdir(cache) if len(name) == 32]


def cache(bench):
    folder = bench.path("cache")
    samples = [os.path.join(ROOT, "samples", name) for name in ("reduce.cubin", "mathlib.cubin")]
    for i, sample in enumerate(samples):
        bench.ptx("c%d.ptx" % i, "say from c%d" % i, "give " + sample)
    both = ["c0.ptx", "c1.ptx"]

    def link(*args, **more):
        result = bench.link(*both, *args, CUBIND_CACHE=folder, **more)
        return result, len(bench.notes())

    fresh, runs = link()
    expect("cache: first", fresh[0] == 0 and runs == 2 and len(entries(folder)) == 2, fresh[1])
    expect("cache: is private", stat.S_IMODE(os.stat(folder).st_mode) == 0o700)
    again, runs = link()
    expect("cache: second", again == fresh and runs == 0, again[1])
    expect("cache: without", bench.link(*both) == fresh and len(bench.notes()) == 2)
    result, runs = link("-maxrregcount=40")
    expect("cache: another option", runs == 2 and len(entries(folder)) == 4, result[1])
    bench.ptx("c0.ptx", "say from c0, changed", "give " + samples[0])
    result, runs = link()
    expect("cache: another source", runs == 1 and "from c0, changed" in result[1], result[1])
    fresh = result

    for change in ("cut", "flipped", "emptied"):
        for name in entries(folder):
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                data = bytearray(f.read())
            data = {"cut": data[:len(data) // 2], "flipped": data[:-1] + bytes([data[-1] ^ 1]),
                    "emptied": b""}[change]
            with open(path, "wb") as f:
                f.write(data)
        result, runs = link()
        expect("cache: %s entries are made anew" % change, result == fresh and runs == 2, result[1])
        result, runs = link()
        expect("cache: and are used", result == fresh and runs == 0, result[1])

    os.utime(bench.assembler, (1, 1))
    result, runs = link()
    expect("cache: another assembler", runs == 2 and result == fresh)

    os.chmod(folder, 0o777)
    result, runs = link()
    expect("cache: others can write", "is not used" in result[1] and "chmod 700" in result[1] and runs == 2 and
           result[0] == 0, result[1])
    os.chmod(folder, 0o700)
    (code, text, _), _ = link(CUBIND_CACHE_SIZE="0")
    expect("cache: of no size", code == 0, text)
    code, text, _ = bench.link(*both, CUBIND_CACHE=bench.assembler)
    expect("cache: a file", code == 0 and "is not used: Not a directory" in text, text)
    (code, text, _), _ = link(CUBIND_CACHE_SIZE="1G")
    expect("cache: a size that is no number", code == 0 and "CUBIND_CACHE_SIZE is '1G'" in text, text)
    code, text, _ = bench.link(*both, CUBIND_CACHE="/proc")
    expect("cache: nothing can be written", code == 0 and text.count("The cache '/proc' is not used: ") == 1, text)
    bench.ptx("bad.ptx", "fail")
    before = len(entries(folder))
    for _ in range(2):
        bench.link("bad.ptx", CUBIND_CACHE=folder)
    expect("cache: failures are not kept", len(bench.notes()) == 4 and len(entries(folder)) == before)


def limit(bench):
    """A MiB holds about four of these."""
    folder = bench.path("small-cache")
    sample = os.path.join(ROOT, "samples", "mathlib.cubin")
    env = {"CUBIND_CACHE": folder, "CUBIND_CACHE_SIZE": "1"}
    os.mkdir(folder, 0o700)
    old = os.path.join(folder, "new-left")
    with open(old, "w") as f:
        f.write("of a process that died")
    os.utime(old, (1, 1))
    for i in range(8):
        bench.ptx("l%d.ptx" % i, "number %d" % i, "give " + sample, "fill " + "x" * 200000)
    for i in range(8):
        bench.link("l%d.ptx" % i, **env)
        total = sum(os.path.getsize(os.path.join(folder, name)) for name in entries(folder))
        expect("limit after %d" % i, total <= 1 << 20, total)
    bench.notes()
    bench.link("l7.ptx", **env)
    expect("limit: the newest is kept", len(bench.notes()) == 0 and len(entries(folder)) >= 2)
    bench.link("l0.ptx", **env)
    expect("limit: the oldest went", len(bench.notes()) == 1)
    expect("limit: what a dead process has left", not os.path.exists(old))


def together(bench):
    """Processes that fill and use one folder at the same time."""
    folder = bench.path("shared-cache")
    env = bench.environment(CUBIND_CACHE=folder, CUBIND_CACHE_SIZE="1")
    sample = os.path.join(ROOT, "samples", "mathlib.cubin")
    for i in range(4):
        bench.ptx("t%d.ptx" % i, "number %d" % i, "give " + sample, "fill " + "y" * 150000)
    failed = []
    for _ in range(3):
        running = []
        for i in range(4):
            argv = [CUBIND, "link", "-arch=sm_90", "--ptxas", bench.assembler, "-o", "together%d" % i,
                    "t%d.ptx" % i]
            running.append(subprocess.Popen(argv, cwd=bench.folder, env=env, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, text=True))
        failed += [p.communicate()[0] for p in running if p.wait() != 0]
    images = set()
    for i in range(4):
        with open(bench.path("together%d" % i), "rb") as f:
            images.add(f.read())
    expect("together", not failed and len(images) == 1, failed)


def main():
    for part in (several_at_a_time, failures, words, names, older, virtual, target_behind, signals, cache, limit,
                 together):
        with tempfile.TemporaryDirectory() as folder:
            part(Bench(folder))
    finish()


if __name__ == "__main__":
    main()
