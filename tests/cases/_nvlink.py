"""Helpers of the command line tests: runs cubind in nvlink's place and compares with nvlink.

Where the toolkit's own nvlink is found, both programs run and must agree.  Elsewhere cubind is held
against the answers that nvlink gave when they were recorded (tests/cases/answers/NAME.json).
`SCRIPT --record` records them anew and needs the toolkit.

Some variables of the environment change what is done: NVLINK names the real program.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(HERE)))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
INPUTS = os.path.join(HERE, "inputs")
EMULATE = "--emulate=nvlink-13.0.88"


TITLES = {"nvlink": "NVIDIA (R) Cuda linker", "fatbinary": "NVIDIA (R) Cuda fat binary constructor"}


def real_tool(name):
    """The toolkit's program, or None.  Only 13.0.88 counts: other versions answer otherwise."""
    path = os.environ.get(name.upper()) or shutil.which(name) or "/usr/local/cuda/bin/" + name
    try:
        text = subprocess.run([path, "-V"], stdout=subprocess.PIPE, text=True).stdout
    except OSError:
        return None
    return path if TITLES[name] in text and "V13.0.88" in text else None


def real_nvlink():
    return real_tool("nvlink")


class Answer:
    """What a run of either program did: exit code, text, and the files it left."""

    def __init__(self, code, out, err, files):
        self.code, self.out, self.err, self.files = code, out, err, files

    def __eq__(self, other):
        return self.as_list() == other.as_list()

    def as_list(self):
        return [self.code, self.out, self.err, self.files]

    def __str__(self):
        return "exit %s\n  stdout %r\n  stderr %r\n  files %s" % tuple(self.as_list())


def digest(path, folder):
    """Size and hash of a file; lists of modules name the folder, which is another each time."""
    with open(path, "rb") as f:
        data = f.read()
    if data.startswith(b"#define NUM_PRELINKED_OBJECTS"):
        data = data.replace(re.sub(r"\W", "_", folder).encode(), b"FOLDER")
    return "%d %s" % (len(data), hashlib.sha256(data).hexdigest()[:16])


class Bench:
    """A folder with the test inputs in which programs run one after another."""

    def __init__(self, prepare=None, tool="nvlink"):
        self.folder = tempfile.mkdtemp(prefix="case-")
        self.tools = tempfile.mkdtemp(prefix="tools-")
        self.tool = tool
        os.symlink(CUBIND, os.path.join(self.tools, tool))
        for name in os.listdir(INPUTS):
            if name.endswith((".cubin", ".o", ".fatbin")):
                shutil.copy(os.path.join(INPUTS, name), self.folder)
        if prepare:
            prepare(self.folder)
        self.before = self.listing()

    def listing(self):
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    found[os.path.relpath(path, self.folder)] = path
        return found

    def run(self, program, args):
        """Runs the tool's command line; new files are digested and removed."""
        cubind = program is None
        program = os.path.join(self.tools, self.tool) if cubind else program
        full = [program] + ([EMULATE] if cubind and self.tool == "nvlink" else []) + list(args)
        env = dict(os.environ, LC_ALL="C")
        for name in ("LIBRARY_PATH", "NVLINK"):
            env.pop(name, None)
        done = subprocess.run(
            full, cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        files = {}
        for name, path in sorted(self.listing().items()):
            if name not in self.before:
                files[name] = digest(path, os.path.realpath(self.folder))
                os.unlink(path)
        text = [t.decode("utf-8", "replace") for t in (done.stdout, done.stderr)]
        return Answer(done.returncode, text[0], text[1], files)

    def close(self):
        shutil.rmtree(self.folder)
        shutil.rmtree(self.tools)


class Table:
    """Compares single runs with nvlink's, or another tool's, and counts."""

    def __init__(self, script, prepare=None, tool="nvlink"):
        self.store = os.path.join(
            HERE, "answers", os.path.splitext(os.path.basename(script))[0] + ".json"
        )
        self.record = "--record" in sys.argv
        self.verbose = "-v" in sys.argv
        self.tool = tool
        self.real = real_tool(tool)
        self.answers = {}
        if self.record and not self.real:
            sys.exit("recording needs %s 13.0.88" % tool)
        if not self.record and os.path.exists(self.store):
            with open(self.store) as f:
                self.answers = json.load(f)
        self.prepare = prepare
        self.bench = Bench(prepare, tool)
        self.passed = self.failed = self.skipped = 0

    def expect(self, name, args, portable):
        """What the tool does, from the program itself or from the record."""
        if self.real:
            answer = self.bench.run(self.real, args)
            if not portable:
                return answer
            if self.record:
                self.answers[name] = answer.as_list()
                return answer
            # With damaged input the tool may read memory that it never wrote: of a library that is
            # no archive, one byte of it decides, and one run in some hundreds ends otherwise.
            for _ in range(4):
                if name not in self.answers or Answer(*self.answers[name]) == answer:
                    break
                answer = self.bench.run(self.real, args)
            if name not in self.answers or Answer(*self.answers[name]) != answer:
                print("note: the record of %r is out of date" % name)
            return answer
        return Answer(*self.answers[name]) if name in self.answers else None

    def check(self, name, args, portable=True):
        """Compares the two programs.  What depends on the machine is not recorded."""
        expected = self.expect(name, args, portable)
        if expected is None:
            self.skipped += 1
            print("skip %s: its answer depends on the machine, and %s 13.0.88 is not there"
                  % (name, self.tool))
            return
        got = self.bench.run(None, args)
        if got == expected:
            self.passed += 1
            return
        self.failed += 1
        print("FAIL %s: %s %s" % (name, self.tool, " ".join(args)))
        print(" %s: %s\n cubind: %s" % (self.tool, expected, got))

    def ok(self, name, condition, detail=""):
        """A check that needs no nvlink."""
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print("FAIL %s %s" % (name, detail))

    def done(self):
        self.bench.close()
        if self.record:
            os.makedirs(os.path.dirname(self.store), exist_ok=True)
            with open(self.store, "w") as f:
                json.dump(self.answers, f, indent=0, sort_keys=True)
                f.write("\n")
        print("%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped))
        sys.exit(1 if self.failed else 0)


def archive(path, members):
    """Writes a System V archive without a symbol table."""
    names = b"".join(n.encode() + b"/\n" for n, _ in members)
    out = b"!<arch>\n"
    out += b"%-16s%-12s%-6s%-6s%-8s%-10d`\n" % (b"//", b"", b"", b"", b"", len(names)) + names
    out += b"\n" * (len(out) % 2)
    offset = 0
    for name, data in members:
        head = b"/%d" % offset
        offset += len(name) + 2
        out += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (head, 0, 0, 0, b"644", len(data)) + data
        out += b"\n" * (len(data) % 2)
    with open(path, "wb") as f:
        f.write(out)
