#!/usr/bin/env python3
"""Nothing lost: results that collide, results of a run that go together, signals, inputs that change, pipes and
devices, streams that cannot be written, archives of links as shell scripts."""

import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import time

import _containers
from _checks import expect, finish, skip
from _nvlink import CUBIND, EMULATE, INPUTS, ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import cubin  # noqa: E402

SAMPLES = ["reduce.cubin", "mathlib.cubin"]
LINK = ["link", "-arch=sm_90", *SAMPLES]
TEXT = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")


class Bench:
    """A folder with the samples."""

    def __init__(self, top):
        self.folder = tempfile.mkdtemp(dir=top)
        for name in SAMPLES:
            shutil.copy(os.path.join(ROOT, "samples", name), self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def snapshot(self):
        names = sorted(os.listdir(self.folder))
        return {n: self.read(n) for n in names if os.path.isfile(self.path(n))}

    def run(self, *args, **more):
        more.setdefault("timeout", 60)
        return subprocess.run([CUBIND, *args], cwd=self.folder, **{**TEXT, **more})


def collisions(top):
    b = Bench(top)
    b.write("old", b"old")
    os.link(b.path("reduce.cubin"), b.path("hard"))
    os.symlink("reduce.cubin", b.path("soft"))
    os.mkdir(b.path("d"))
    b.write("options", b"--map m")
    b.write("libx.a", b"!<arch>\n")
    mine = [["-o", "reduce.cubin"], ["-o", "./d/../reduce.cubin"], ["-o", "hard"], ["-o", "soft"]]
    both = [["-o", "out", o + "=" + name] for o in ("--map", "--repro") for name in ("reduce.cubin", "hard", "soft")]
    both += [["-o", "out", "--dot-file=mathlib.cubin"], ["-o", "out", "--register-link-binaries=mathlib.cubin"],
             ["-o", "out", "--time=mathlib.cubin"], ["-o", "old", "--map=old"], ["-o", "new", "--map=./d/../new"],
             ["-o", "new", "--dot-file=new"], ["-o", "out", "--dot-file=new", "--map=new"],
             ["-o", "new", "--register-link-binaries=new"], ["-o", "new", "--time=new"], ["-o", "new", "--repro=new"],
             ["-o", "out", "--options-file=options", "--dot-file=options"]]
    for extra in mine + both:
        for emulate in [[]] + ([[EMULATE]] if extra in both else []):
            before = b.snapshot()
            done = b.run(*LINK, *extra, *emulate)
            what = " ".join(extra + emulate)
            expect("refused: " + what, done.returncode == 1 and "would " in done.stderr and
                   done.stderr.count("fatal") == 1, done)
            expect("nothing written: " + what, b.snapshot() == before)
    done = b.run(*LINK, "-o", "out", "--map=/dev/null", "--dot-file=/dev/null")
    expect("devices do not collide", done.returncode == 0, done)
    done = b.run(*LINK, "-o", "reduce.cubin", EMULATE)
    expect("as nvlink the output may be an input", done.returncode == 0 and
           b.read("reduce.cubin") not in (b"", before["reduce.cubin"]), done)


def other_collisions(top):
    """Commands beside link; under the names of NVIDIA's tools they do as these do."""
    b = Bench(top)
    shutil.copy(os.path.join(ROOT, "tests/golden/statics-100-default/expected.cubin"), b.path("in.cubin"))
    os.link(b.path("in.cubin"), b.path("hard.cubin"))
    b.write("options", b"--image3=kind=elf,sm=90,file=reduce.cubin")
    image = "--image3=kind=elf,sm=90,file=reduce.cubin"
    for command in (["bundle", "--create=reduce.cubin", image], ["bundle", "--create=x", "--embedded-fatbin=./x", image],
                    ["bundle", "--create=x", "--embedded-fatbin=reduce.cubin", image],
                    ["finalize", "in.cubin", "-arch=sm_103", "-o", "in.cubin"],
                    ["finalize", "in.cubin", "-arch=sm_103", "-o", "hard.cubin"],
                    ["bundle", "--options-file=options", "--create=options"]):
        before = b.snapshot()
        done = b.run(*command)
        what = " ".join(command)
        expect("refused: " + what, done.returncode == 1 and "would " in done.stderr and done.stderr.count("fatal") == 1, done)
        expect("nothing written: " + what, b.snapshot() == before)
    os.symlink(CUBIND, b.path("fatbinary"))
    done = subprocess.run(["./fatbinary", "--create=reduce.cubin", image], cwd=b.folder, **TEXT)
    expect("as fatbinary", done.returncode == 0 and b.read("reduce.cubin")[:4] == b"\x50\xed\x55\xba", done)


def hidden_collision(top):
    """A library that -l finds is read, too."""
    b = Bench(top)
    subprocess.run(["ar", "rcs", b.path("libx.a"), os.path.join(INPUTS, "host.o")], check=True)
    before = b.snapshot()
    done = b.run("link", "-arch=sm_90", *SAMPLES, "-L.", "-lx", "-o", "out", "--map=libx.a")
    expect("a library found by -l is an input", done.returncode == 1 and "would replace" in done.stderr, done)
    expect("it is whole", b.snapshot() == before)


def together(top):
    b = Bench(top)
    b.write("out", b"old output")
    os.chmod(b.path("out"), 0o640)
    b.write("hard", b"old hard link, longer than the new contents" * 1000)
    os.link(b.path("hard"), b.path("hard2"))
    for extra in (["--map=nodir/x"], ["--dot-file=nodir/x"], ["--register-link-binaries=nodir/x"], ["--repro=nodir/x"],
                  ["--map=/dev/full"], ["--time=nodir/x"], ["--map=m", "--dot-file=/dev/full"],
                  ["--map=hard", "--dot-file=/dev/full"]):
        before = b.snapshot()
        done = b.run(*LINK, "-o", "out", *extra)
        what = " ".join(extra)
        expect("fails: " + what, done.returncode == 1 and done.stderr.count("fatal") == 1, done)
        expect("all old: " + what, b.snapshot() == before, sorted(b.snapshot()))
    done = b.run(*LINK, "-o", "out", "--map=m", "--dot-file=hard", "--repro=r.tar", "--durable")
    expect("all new", done.returncode == 0 and sorted(b.snapshot()) ==
           sorted(SAMPLES + ["out", "m", "hard", "hard2", "r.tar"]), (done, sorted(b.snapshot())))
    expect("hard links stay", b.read("hard") == b.read("hard2") and b.read("hard").startswith(b"digraph"))
    expect("the mode stays", os.stat(b.path("out")).st_mode & 0o777 == 0o640)
    os.symlink("target", b.path("dangling"))
    done = b.run(*LINK, "-o", "dangling")
    expect("a dangling link leads to the output", done.returncode == 0 and b.read("target") == b.read("out") and
           os.path.islink(b.path("dangling")))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    for out in ("out", "hard"):
        before = b.snapshot()
        done = b.run(*LINK, "-o", out, preexec_fn=lambda: (limit(), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)))
        expect("too large: %s is as it was" % out, done.returncode == 1 and b.snapshot() == before, done)
        done = b.run(*LINK, "-o", out, preexec_fn=limit)
        expect("SIGXFSZ: %s is as it was" % out, b.snapshot() == before, done)
        expect("SIGXFSZ kills or is reported", done.returncode in (-signal.SIGXFSZ, 1), done)


FAKE = """#!/bin/sh
%s
for word; do [ "$before" = -o ] && out=$word; before=$word; done
cp "$MODULE" "$out"
"""


def fake_ptxas(b, what):
    """A ptxas that does something, then gives a module that is there already."""
    b.write("ptxas", (FAKE % what).encode())
    os.chmod(b.path("ptxas"), 0o755)
    shutil.copy(os.path.join(INPUTS, "a.ptx"), b.path("a.ptx"))
    b.env = dict(os.environ, MODULE=os.path.join(INPUTS, "b.cubin"), HERE=b.folder, TMPDIR=b.path("tmp"))
    os.makedirs(b.path("tmp"), exist_ok=True)
    return ["link", "-arch=sm_90", "--ptxas=./ptxas"]


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition, seconds=20):
    end = time.time() + seconds
    while not condition() and time.time() < end:
        time.sleep(0.05)
    return condition()


def signals(top):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
        b = Bench(top)
        command = fake_ptxas(b, 'echo $$ > "$HERE/pid.new"; mv "$HERE/pid.new" "$HERE/pid"; exec sleep 60')
        p = subprocess.Popen([CUBIND, *command, "a.ptx", "-o", "out", "--time=t"], cwd=b.folder, env=b.env, **TEXT)
        expect("ptxas starts", wait_until(lambda: os.path.exists(b.path("pid"))))
        p.send_signal(number)
        p.communicate()
        name = signal.Signals(number).name
        expect("%s: dies by it" % name, p.returncode == -number, p.returncode)
        expect("%s: ptxas dies, too" % name, wait_until(lambda: not alive(int(b.read("pid")))))
        if number != signal.SIGKILL:
            expect("%s: no temporary folder stays" % name, not os.listdir(b.path("tmp")), os.listdir(b.path("tmp")))
            expect("%s: no result" % name, not {"t", "out"} & set(os.listdir(b.folder)))
    b = Bench(top)
    os.mkfifo(b.path("pipe"))
    p = subprocess.Popen([CUBIND, *LINK, "-o", "out", "--map=pipe"], cwd=b.folder, **TEXT)
    temporary = lambda: [n for n in os.listdir(b.folder) if n.startswith(".cubind-")]
    expect("an output waits under a temporary name", wait_until(temporary))
    p.terminate()
    p.communicate()
    expect("it is removed", p.returncode == -signal.SIGTERM and not temporary() and "out" not in os.listdir(b.folder))
    p = subprocess.Popen(["sh", "-c", 'trap "" HUP; exec "$0" "$@"', CUBIND, *LINK, "-o", "out", "--map=pipe"],
                         cwd=b.folder, **TEXT)
    wait_until(temporary)
    p.send_signal(signal.SIGHUP)
    with open(b.path("pipe"), "rb") as f:
        size = len(f.read())
    p.communicate()
    expect("an ignored signal stays ignored", p.returncode == 0 and size > 100 and not temporary())


def compare_mode(top):
    """The folder of CUBIND_COMPARE goes with its process."""
    b = Bench(top)
    command = fake_ptxas(b, 'echo $$ > "$HERE/pid.new"; mv "$HERE/pid.new" "$HERE/pid"; exec sleep 60')
    os.symlink(CUBIND, b.path("nvlink"))
    p = subprocess.Popen(["./nvlink", *command[1:], "a.ptx", "-o", "out"], cwd=b.folder,
                         env=dict(b.env, CUBIND_COMPARE="/bin/true"), **TEXT)
    wait_until(lambda: os.path.exists(b.path("pid")))
    p.terminate()
    p.communicate()
    expect("compare: nothing stays", p.returncode == -signal.SIGTERM and not os.listdir(b.path("tmp")) and
           not alive(int(b.read("pid"))), os.listdir(b.path("tmp")))


def changing(top):
    """A file that shrinks while it is mapped."""
    b = Bench(top)
    b.write("out", b"old output")
    padded = b.read("mathlib.cubin") + bytes(1 << 20)
    b.write("big.cubin", padded)
    command = fake_ptxas(b, ': > "$HERE/big.cubin"')
    done = b.run(*command, "reduce.cubin", "big.cubin", "a.ptx", "-o", "out", env=b.env)
    expect("link: one clear error", done.returncode == 1 and "'big.cubin' was changed while it was read" in done.stderr
           and done.stderr.count("fatal") == 1, done)
    expect("link: the old output", b.read("out") == b"old output" and not os.listdir(b.path("tmp")))
    b.write("big.cubin", padded)
    command = fake_ptxas(b, 'printf X >> "$HERE/big.cubin"')
    done = b.run(*command, "reduce.cubin", "big.cubin", "a.ptx", "-o", "out", env=b.env)
    expect("link: it grew", done.returncode == 1 and "was changed" in done.stderr and b.read("out") == b"old output",
           done)
    for tool in ("dump", "diff"):
        b.write("list.a", b"!<arch>\n" + b"".join(
            b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (b"m%d.o/" % i, 0, 0, 0, 0o644, len(host)) + host
            for i, host in enumerate([host_object()] * 40)))
        # several threads would have read the list before
        other = ["empty.cubin"] if tool == "diff" else ["--threads", "1"]
        b.write("empty.cubin", b.read("reduce.cubin"))
        p = subprocess.Popen([CUBIND, tool, *other, "list.a"], cwd=b.folder, **TEXT)
        expect(tool + " prints", bool(p.stdout.read(1)))
        time.sleep(0.3)  # it fills the pipe and waits
        b.write("list.a", b"")
        out, err = p.communicate()
        if tool == "dump":
            expect("dump: one clear error", p.returncode == 2 and err.count("\n") == 1 and
                   "list.a: it was changed while it was read" in err, (p.returncode, err))
        else:
            expect("diff: no crash", p.returncode in (1, 2), (p.returncode, err))


def host_object():
    with open(os.path.join(INPUTS, "host.o"), "rb") as f:
        data = f.read()
    return data + bytes(len(data) % 2)


def pipes(top):
    b = Bench(top)
    os.mkfifo(b.path("pipe"))
    feed = lambda: subprocess.Popen(["sh", "-c", "sleep 0.3; cat reduce.cubin > pipe"], cwd=b.folder)
    for tool in ("dump", "check", "extract"):
        want = b.run(tool, "reduce.cubin").stdout.replace("reduce.cubin", "pipe")
        feeder = feed()
        done = b.run(tool, "pipe")
        feeder.wait()
        expect("%s reads a pipe" % tool, done.returncode == 0 and done.stdout.split() == want.split(), done)
    with open(b.path("reduce.cubin"), "rb") as f:
        done = subprocess.run(["sh", "-c", 'cat | "$0" check /dev/stdin', CUBIND], stdin=f, cwd=b.folder, **TEXT)
    expect("/dev/stdin", done.returncode == 0, done)
    for name in ("/dev/zero", "/dev/null", "."):
        done = b.run("check", name)
        expect("refused with the reason: " + name, done.returncode == 2 and done.stderr.count("\n") == 1, done)
    for name, code in (("/dev/zero", 1), ("/dev/null", 0)):
        done = b.run(*LINK, name, "-o", "out")
        expect("link of " + name, done.returncode == code and (code == 0 or "Could not open input file" in done.stderr), done)
    b.write("options", b"-arch=sm_90 " + " ".join(SAMPLES).encode())
    feeder = subprocess.Popen(["sh", "-c", "sleep 0.3; cat options > pipe"], cwd=b.folder)
    done = b.run("link", "-optf", "pipe", "-o", "out2")
    feeder.wait()
    expect("options from a pipe", done.returncode == 0 and b.read("out2") == b.read("out"), done)
    done = subprocess.run(["sh", "-c", '"$0" "$@" -o /dev/stdout | cat > out3', CUBIND, *LINK], cwd=b.folder, **TEXT)
    expect("the output into a pipe", b.read("out3") == b.read("out"), done)
    for name in (".", "/dev/null"):
        done = b.run(*LINK, "-optf", name, "-o", "out")
        expect("no options in " + name, done.returncode == 0, done)
    done = b.run(*LINK, "-optf", "/dev/zero", "-o", "out")
    expect("options from a device", done.returncode == 1 and "Could not open options file" in done.stderr, done)
    done = b.run(*LINK, "-optf", "pipe", "-o", "out")
    expect("options that nobody writes", done.returncode == 1 and "timed out" in done.stderr, done)
    done = b.run("check", "pipe")
    expect("a pipe that nobody writes to", done.returncode == 2 and "timed out" in done.stderr, done)


def streams(top):
    b = Bench(top)
    commands = [["help"], ["version"], ["check", "--list-rules"], ["link", "--help"], ["dump", "--help"],
                ["dump", "reduce.cubin"], ["dump", "--json", "reduce.cubin"], ["check", "reduce.cubin"],
                ["extract", "reduce.cubin"], ["diff", "reduce.cubin", "mathlib.cubin"], ["completion", "bash"],
                [*LINK, "-o", "out", "--time=-"]]
    for command in commands:
        what = " ".join(command[:2])
        with open("/dev/full", "wb") as full:
            done = b.run(*command, stdout=full)
        expect("/dev/full: " + what, done.returncode in (1, 2) and "No space left" in done.stderr, done)
        done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', CUBIND, *command], cwd=b.folder, **TEXT)
        expect("closed stdout: " + what, done.returncode in (1, 2) and "Bad file" in done.stderr, done)
    done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&- 2>&- <&-', CUBIND, *LINK, "-o", "out2"], cwd=b.folder)
    expect("a link needs no streams", done.returncode == 0 and b.read("out2") == b.read("out"), done)


def hostile_names(top):
    b = Bench(top)
    evil = "x\x1b]0;gone\x07\u202e\xff.cubin".encode("utf-8", "replace")
    shutil.copy(b.path("reduce.cubin"), os.path.join(b.folder.encode(), evil))
    os.mkdir(b.path("o"))
    for command in (["link", "-arch=sm_90", b"missing" + evil, "-o", "out"], ["link", evil, "--bad\x1bword"],
                    ["dump", b"missing" + evil], ["check", b"missing" + evil], ["diff", b"missing" + evil, "x"],
                    ["extract", b"missing" + evil], ["finalize", b"missing" + evil, "-arch=sm_100", "-o", "x"],
                    ["dump", "--section", evil, evil], ["no\x1bcommand"], ["check", evil], ["extract", evil],
                    ["link", "-arch=sm_90", evil, "-o", "o/out", "--trace-symbol=\x1b[2J"]):
        done = subprocess.run([CUBIND, *command], cwd=b.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        expect("no control characters: %r" % command, not set(done.stdout + done.stderr) & {0x1b, 7} and
               b"\xe2\x80\xae" not in done.stdout + done.stderr, done)
    done = subprocess.run([CUBIND, "link", "-arch=sm_90", b"m" + evil, "-o", "out", EMULATE], cwd=b.folder, **TEXT)
    expect("as nvlink names stay", "\x1b" in done.stderr, done)


def one_long_name(top):
    """An image that names one long string in each of its symbols: the dump does not repeat it without end."""
    b = Bench(top)
    symbols, name = 20000, b"n" * 8000
    names = b"\0.shstrtab\0.strtab\0.symtab\0"
    parts = [names, b"\0" + name + b"\0", bytes(24) + struct.pack("<IBBHQQ", 1, 0, 0, 0xfff1, 0, 0) * symbols]
    image = bytearray(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1\x41\x08", 2, 190, 1, 0, 0, 0, 0x04005a02,
                                  64, 56, 0, 64, 4, 1))
    headers = [bytes(64)]
    for i, (data, kind) in enumerate(zip(parts, (3, 3, 2))):
        at = names.index((b".shstrtab", b".strtab", b".symtab")[i])
        headers.append(struct.pack("<IIQQQQIIQQ", at, kind, 0, 0, len(image), len(data), 2 * (kind == 2),
                                   1 + symbols if kind == 2 else 0, 8, 24 * (kind == 2)))
        image += data
    struct.pack_into("<Q", image, 40, len(image))
    b.write("long.cubin", bytes(image) + b"".join(headers))
    for more in [], ["--json"]:
        done = b.run("dump", "--symbols", *more, "long.cubin")
        expect("dumped" + "".join(more), done.returncode == 0 and done.stdout.count(name.decode()) > 100 and
               len(done.stdout) < 64 * len(image), (done.returncode, len(done.stdout), len(image), done.stderr[:300]))
        expect("cut names say so", "n...\n" in done.stdout or 'n..."' in done.stdout, done.stdout[-300:])


def hostile_results(top):
    """Names in the files of --map and --dot-file."""
    b = Bench(top)
    evil = b'r"\\du\x1b]\n;p'
    for name in SAMPLES:  # a function that both know gets a name of the same length
        b.write(name, b.read(name).replace(b"_Z5weighfi", evil))
    done = b.run(*LINK, "-o", "out", "--map=m", "--dot-file=d")
    expect("linked", done.returncode == 0, done)
    for result in "md":
        expect("no control characters in " + result, not set(b.read(result)) & {0x1b, 7}, b.read(result)[:300])
    expect("the name in the map", rb'r"\du\x1b]\x0a;p' in b.read("m"), b.read("m"))
    expect("the name in the graph", rb'block_sum -> "r\"\\du\\x1b]\\x0a;p";' in b.read("d"), b.read("d"))
    done = b.run(*LINK, "-o", "out", "--dot-file=d", EMULATE)
    expect("as nvlink it stays", done.returncode == 0 and evil in b.read("d"), b.read("d"))


def archive_script(top):
    """The script of --repro is a shell script whatever names are in it."""
    b = Bench(top)
    odd = "a'; touch pwned; echo '$(touch pwned)`touch pwned`"
    os.mkdir(b.path(odd))
    shutil.copy(b.path("reduce.cubin"), b.path(odd))
    env = dict(os.environ, LIBRARY_PATH=b.path(odd) + ":../../../up'", CUBIND=CUBIND)
    archives = ["r.tar", "...tar", "..tar", ".tar", "r", "..r"]
    os.mkdir(b.path("tt"))
    for name in archives:
        done = b.run("link", "-arch=sm_90", os.path.join(odd, "reduce.cubin"), "mathlib.cubin", "-o", "out",
                     "--map=tt/out", "--dot-file=tt/link.sh", "--repro=tt/" + name, "-L", "../../nowhere", env=env)
        expect("written: " + name, done.returncode == 0, done)
        with tarfile.open(b.path("tt/" + name)) as tar:
            names = tar.getnames()
            expect("members stay inside: " + name, not [n for n in names if n.startswith("/") or ".." in n.split("/")],
                   names)
            place = b.path("x" + name)
            tar.extractall(place)
        script = os.path.join(place, names[0])
        if shutil.which("shellcheck"):
            lint = subprocess.run(["shellcheck", script], **TEXT)
            expect("shellcheck: " + name, lint.returncode == 0, lint.stdout)
        elif name == archives[0]:
            skip("shellcheck", "it is not installed")
        done = subprocess.run(["sh", script], env=env, cwd=b.folder, **TEXT)
        expect("repeated: " + name, done.returncode == 0 and sorted(os.listdir(os.path.dirname(script))) ==
               ["dot-file.link.sh", "inputs", "link.sh", "map.out", "out"], (done, os.listdir(os.path.dirname(script))))
    expect("nothing was run", not [n for _, _, names in os.walk(b.folder) for n in names if n == "pwned"])


def extracting(top):
    b = Bench(top)
    host = host_object()
    names = b"m" * 250 + b"/\nplain.o/\n"
    member = lambda name, data: b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name, 0, 0, 0, 0o644, len(data)) + data + \
        b"\n" * (len(data) % 2)
    b.write("odd.a", b"!<arch>\n" + member(b"//", names) + member(b"/0", host) + member(b"/252", host))
    done = b.run("extract", "-o", "deep/er/folder", "odd.a")
    written = os.listdir(b.path("deep/er/folder"))
    expect("one name is refused, others are written", done.returncode == 2 and "File name too long" in done.stderr and
           written and all("plain" in n for n in written), (done, written))
    done = b.run("extract", "-o", "odd.a/x", "odd.a")
    expect("the reason", done.returncode == 2 and "Not a directory" in done.stderr and
           done.stderr.count("\n") == 1, done)


def assembler_options(top):
    """What a fatbin may ask ptxas for."""
    b = Bench(top)
    command = fake_ptxas(b, 'echo "$@" > "$HERE/asked"')
    with open(os.path.join(INPUTS, "b.ptx"), "rb") as f:
        ptx = f.read() + b"\0"
    fine = [b"", b"--compile-only  -g --dont-merge-basicblocks --return-at-end ", b"-O1 --generate-line-info", b"-m64",
            b"-dlcm=ca -maxrregcount 32 -v", b"-e kernel --split-compile=2", b"-Ofc max"]
    bad = [b"-optf FILE", b"--options-file=x", b"-o /etc/x", b"--output-file=x", b"other.ptx", b"-g other.ptx",
           b"-dlcm=ca x", b"-ias text", b"--input-as-string=x", b"-h", b"-O", b"-e --output-file", b"-gpu", b"-O3x", b"-V",
           b"-maxrregcount -optf", b"-unheard-of"]
    for options in fine + bad:
        b.write("x.fatbin", _containers.fatbin(_containers.entry(_containers.PTX, "90", ptx, options=options)))
        for emulate in ([], [EMULATE]):
            if os.path.exists(b.path("asked")):
                os.remove(b.path("asked"))
            done = b.run(*command, "x.fatbin", "-o", "out", *emulate, env=b.env)
            asked = b.read("asked") if os.path.exists(b.path("asked")) else None
            if options in fine:
                expect("passed: %r" % options, done.returncode == 0 and asked and b" ".join(options.split()) in asked,
                       (done, asked))
            else:
                expect("refused: %r" % options, done.returncode not in (0, -11) and asked is None and
                       "asks its assembler for" in done.stderr, (done, asked))


def many_libraries(top):
    b = Bench(top)
    count = 1500
    for i in range(count):
        os.makedirs(b.path("d%d" % i))
    b.write("o", "\n".join(["-Ld%d" % i for i in range(count)] + ["-lx%d" % i for i in range(count)]).encode())
    start = time.time()
    done = b.run(*LINK, "-optf", "o", "-o", "out")
    expect("1,500 libraries in 1,500 folders", done.returncode == 0 and time.time() - start < 10, done.stderr[-300:])
    os.symlink("nowhere", b.path("d0/libgone.so"))  # a link to nothing hides no library
    os.symlink(b.path(SAMPLES[0]), b.path("d1/libgone.a"))
    done = b.run(*LINK, "-optf", "o", "-lgone", "-o", "out")
    expect("dangling link", done.returncode == 0 and "Skipping incompatible 'd1/libgone.a'" in done.stderr,
           done.stderr[-300:])


def small_memory(top):
    """Whatever the limit, the exit code and the message fit."""
    b = Bench(top)
    codes = {"finalize": 11, "check": 2, "dump": 2, "diff": 2, "link": 1}
    shutil.copy(os.path.join(ROOT, "tests/golden/statics-100-default/expected.cubin"), b.path("in.cubin"))
    commands = {"finalize": ["in.cubin", "-arch=sm_103", "-o", "x"], "check": ["reduce.cubin"],
                "dump": ["reduce.cubin"], "diff": ["reduce.cubin", "mathlib.cubin"], "link": [*LINK[1:], "-o", "out"]}
    for tool, args in commands.items():
        good = b.run(tool, *args).returncode
        short = 0
        for kib in range(2400, 4200, 200):
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (kib << 10, kib << 10))
            done = b.run(tool, *args, preexec_fn=limit)
            if "error while loading" in done.stderr or done.returncode in (127, -signal.SIGSEGV, -signal.SIGKILL):
                continue  # the system could not start it
            said = "emory" in done.stderr
            short += said
            expect("%s with %d KiB" % (tool, kib), done.returncode == (codes[tool] if said else good) and
                   (said or not done.stderr or done.returncode == good), done)


def forged(b, name, section, field, value, width=8, source=SAMPLES[0]):
    """The sample with another field in a section's header."""
    blob = bytearray(b.read(source))
    table = struct.unpack_from("<Q", blob, 40)[0]
    index = next(s.index for s in cubin.Cubin(bytes(blob)).sections if s.name == section)
    blob[table + 64 * index + field:table + 64 * index + field + width] = value.to_bytes(width, "little")
    b.write(name, bytes(blob))


def memory_bombs(top):
    """Outputs are in proportion to inputs, and so is memory."""
    b = Bench(top)
    align = 48
    forged(b, "large.cubin", ".text.block_sum", align, 1 << 31)
    b.write("out", b"old")
    for extra in ([], [EMULATE]):
        before = b.snapshot()
        done = b.run("link", "-r", "-arch=sm_90", "large.cubin", "-o", "out", *extra)
        expect("two gigabytes of padding %s" % extra, done.returncode == 1 and "The output would have 2147" in done.stderr,
               done)
        expect("nothing is written %s" % extra, b.snapshot() == before)
    forged(b, "some.cubin", ".text.block_sum", align, 1 << 27)
    done = b.run("link", "-r", "-arch=sm_90", "some.cubin", "-o", "out", "--memory-limit=600")
    expect("who asks for it gets it", done.returncode == 0 and os.path.getsize(b.path("out")) > 1 << 27, done)
    os.unlink(b.path("out"))
    names = ["m%d.cubin" % i for i in range(40)]  # three megabytes
    for name in names:
        b.write(name, b.read(SAMPLES[1]) + b"\0" * 65536)
    for limit, code in (("1", 1), ("0", 0), ("100", 0)):
        args = ["link", "-arch=sm_90", SAMPLES[0], *names, SAMPLES[1]] if code else LINK
        done = b.run(*args, "-o", "out", "--memory-limit=" + limit)
        expect("limit of %s MiB" % limit, done.returncode == code and
               (code == 0 or done.stderr == "cubind fatal   : More than 1 MiB of memory are needed; "
                "--memory-limit gives another limit\n"), done)
        expect("output under a limit of %s MiB" % limit, os.path.exists(b.path("out")) == (code == 0))


def silent_damage(top):
    """What nvlink links without a word is refused, but as nvlink."""
    b = Bench(top)
    offset, size, info, align, entsize = 24, 32, 44, 48, 56
    table = struct.unpack_from("<Q", b.read(SAMPLES[0]), 40)[0]
    for what, section, field, value, rule in (
            ("alignment", ".text.block_sum", align, 0x7fffffff, "is no power of two"),
            ("entry size", ".text.block_sum", entsize, 24, "sh_entsize is 24 instead of 0"),
            ("over the section table", ".nv.info", offset, table, "overlap with the section header table"),
            ("over the header", ".nv.rel.action", offset, 0, "overlap with the ELF header"),
            ("section 0", "", size, 1, "section header 0 is not empty"),
            ("section 0's link", "", info, 1, "section header 0 is not empty")):
        if section and not any(s.name == section for s in cubin.Cubin(b.read(SAMPLES[0])).sections):
            continue
        forged(b, "bad.cubin", section, field, value)
        done = b.run("check", "bad.cubin")
        expect("check sees: " + what, done.returncode == 1 and (rule in done.stdout or "attr-stream" in done.stdout), done)
        done = b.run("link", "-arch=sm_90", "bad.cubin", SAMPLES[1], "-o", "out")
        expect("link refuses: " + what, done.returncode == 1 and "is damaged" in done.stderr and
               not os.path.exists(b.path("out")), done)
        done = b.run("link", "-arch=sm_90", "bad.cubin", SAMPLES[1], "-o", "out", EMULATE)
        expect("as nvlink: " + what, done.returncode in (0, 1), done)
        if os.path.exists(b.path("out")):
            os.unlink(b.path("out"))


def silent_damage_finalized(top):
    """The finalizer refuses it, too."""
    b = Bench(top)
    shutil.copy(os.path.join(ROOT, "tests/golden/statics-100-default/expected.cubin"), b.path("in.cubin"))
    text = next(s.name for s in cubin.Cubin(b.read("in.cubin")).sections if s.name.startswith(".text."))
    for what, section, field, value in (("alignment", text, 48, 0x7fffffff), ("entry size", text, 56, 24),
                                        ("section header 0", "", 32, 1)):
        forged(b, "bad.cubin", section, field, value, source="in.cubin")
        done = b.run("finalize", "bad.cubin", "-arch=sm_103", "-o", "out")
        expect("finalize refuses: " + what, done.returncode == 6 and done.stderr.count("cubind error") == 1 and
               not os.path.exists(b.path("out")), done)


def expanding_images(top):
    """A small file whose image would take more than a gigabyte."""
    b = Bench(top)
    block, count = 128 * 1024, 10000
    runs = b"".join(struct.pack("<I", block << 3 | 2 | (i == count - 1))[:3] + b"\0" for i in range(count))
    frame = struct.pack("<IBBQ", 0xFD2FB528, 0xC0, 0x38, block * count) + runs
    head = _containers.entry(_containers.ELF, "90", frame, flags=_containers.BITS64 | _containers.ZSTD,
                             packed=len(frame), size=block * count)
    b.write("large.fatbin", _containers.fatbin(head))
    for tool, code in (("check", 2), ("dump", 2), ("size", 2), ("extract", 2)):
        start = time.time()
        done = b.run(tool, "large.fatbin", *(["-o", "images"] if tool == "extract" else []))
        expect("%s: an image beyond the limit" % tool, done.returncode == code and "out of memory" in done.stderr and
               time.time() - start < 5, done)


def main():
    # whoever runs the tests may ignore these (nohup, a job in the background)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as top:
        for part in (collisions, other_collisions, hidden_collision, together, signals, compare_mode, changing, pipes, streams,
                     hostile_names, one_long_name, hostile_results, archive_script, extracting, assembler_options,
                     many_libraries, small_memory, memory_bombs, silent_damage, silent_damage_finalized,
                     expanding_images):
            part(top)
    finish()


if __name__ == "__main__":
    main()
