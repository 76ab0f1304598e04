"""The CUDA tools, a content-addressed cache of what they made, and one comparison of two linkers."""
import hashlib
import os
import pickle
import re
import shutil
import signal
import subprocess
import tempfile
import threading

import cubin
import memory
import namesakes

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SASS = ["75", "80", "86", "87", "88", "89", "90", "90a"]
MERCURY = ["100", "100a", "100f", "103", "103a", "103f", "110", "110a", "110f",
           "120", "120a", "120f", "121", "121a", "121f"]
GROUPS = {"sass": SASS, "mercury": MERCURY, "all": SASS + MERCURY}
EMULATE = "nvlink-13.0.88"
TIMEOUT = 60


class ToolError(Exception):
    """A compiler refused a source."""


def drive(argv, cwd, limit):
    """(exit status, what it said on stderr) of a compiler driver; (None, what it said so far) past
    the limit, where the programs that it started end with it."""
    with subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          errors="replace", start_new_session=True) as p:
        try:
            said = p.communicate(timeout=limit)[1]
            return p.returncode, said
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            return None, p.communicate()[1]


def sm_number(arch):
    return int(arch.rstrip("af"))


class Cache:
    def __init__(self, root):
        self.root = root

    def path(self, key):
        return os.path.join(self.root, key[:2], key[2:])

    def get(self, key):
        try:
            with open(self.path(key), "rb") as f:
                return pickle.load(f)
        except (OSError, EOFError, pickle.UnpicklingError):
            return None

    def put(self, key, value):
        path = self.path(key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        fd, tmp = tempfile.mkstemp(dir=os.path.dirname(path))
        with os.fdopen(fd, "wb") as f:
            pickle.dump(value, f)
        os.replace(tmp, path)


def digest(*parts):
    h = hashlib.sha256()
    for p in parts:
        if isinstance(p, str):
            p = p.encode()
        h.update(b"%d:" % len(p))
        h.update(p)
    return h.hexdigest()


class Run:
    """What one linker did: exit status (negative: signal), stderr, output or None."""

    def __init__(self, rc, err, out, stdout=""):
        self.rc, self.err, self.out, self.stdout = rc, err, out, stdout


class Tools:
    def __init__(self, cubind=None, cache=None):
        self.nvlink = shutil.which("nvlink")
        self.ptxas = shutil.which("ptxas")
        self.nvcc = shutil.which("nvcc")
        cubind = cubind or os.environ.get("CUBIND") or os.path.join(ROOT, "build", "cubind")
        if os.sep not in cubind:
            cubind = shutil.which(cubind) or cubind
        self.cubind = os.path.abspath(cubind)
        self.cubind_is_nvlink = os.path.basename(cubind).startswith("nvlink")
        self.cache = Cache(cache or os.environ.get("CUBIND_ORACLE_CACHE") or
                           os.path.join(ROOT, "build", "oracle-cache"))
        self.version = ""
        if self.nvlink:
            text = subprocess.run([self.nvlink, "-V"], capture_output=True, text=True).stdout
            self.version = text.strip().splitlines()[-1] if text.strip() else "?"
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.lock, self.busy = threading.Lock(), {}
        self.tmp = tempfile.mkdtemp(prefix="cubind-oracle-", dir=base)

    def close(self):
        shutil.rmtree(self.tmp, ignore_errors=True)

    def workdir(self):
        return tempfile.mkdtemp(dir=self.tmp)

    # -- compilers ---------------------------------------------------------------------------

    def assemble(self, ptx, arch, flags=()):
        """PTX text to a relocatable cubin."""
        key = digest("ptxas", self.version, ptx, arch, "\0".join(flags))
        hit = self.cache.get(key)
        if hit is None:
            d = self.workdir()
            with open(os.path.join(d, "x.ptx"), "w") as f:
                f.write(ptx)
            try:
                # nvcc -ewp makes no relocatable object of it
                kind = [] if "-ewp" in flags else ["-c"]
                p = subprocess.run([self.ptxas, *kind, "-arch=sm_" + arch, *flags, "x.ptx", "-o",
                                    "x.cubin"], cwd=d, capture_output=True, text=True,
                                   timeout=TIMEOUT)
                rc, err = p.returncode, p.stderr + p.stdout
            except subprocess.TimeoutExpired:
                rc, err = 1, "ptxas: time limit"
            if rc == 0:
                with open(os.path.join(d, "x.cubin"), "rb") as f:
                    hit = (f.read(), "")
            else:
                hit = (None, err)
            shutil.rmtree(d, ignore_errors=True)
            self.cache.put(key, hit)
        if hit[0] is None:
            raise ToolError(hit[1])
        return hit[0]

    def cu_to_ptx(self, path, virt, flags=()):
        with open(path, "rb") as f:
            src = f.read()
        deps = b""
        for inc in re.findall(rb'#include "([^"]+)"', src):
            p = os.path.join(os.path.dirname(path), inc.decode())
            if os.path.exists(p):
                with open(p, "rb") as f:
                    deps += f.read()
        key = digest("cu2ptx", self.version, src, deps, os.path.basename(path), virt,
                     "\0".join(flags))
        with self.lock:
            mine = self.busy.setdefault(key, threading.Lock())
        with mine:
            hit = self.cache.get(key)
            if hit is None:
                hit = self.run_nvcc(key, path, virt, flags)
                self.cache.put(key, hit)
        if hit[0] is None:
            raise ToolError(hit[1])
        return hit[0]

    def run_nvcc(self, key, path, virt, flags):
        # A copy in a folder that is always the same, so that paths and times in debug data are too.
        d = os.path.join(tempfile.gettempdir(), "cubind-oracle-src", key[:12])
        shutil.rmtree(d, ignore_errors=True)
        os.makedirs(d)
        for f in os.listdir(os.path.dirname(path)):
            os.utime(shutil.copy(os.path.join(os.path.dirname(path), f), d), (10**9, 10**9))
        p = subprocess.run([self.nvcc, "-rdc=true", "-std=c++17", "-ptx", "-arch=compute_" + virt,
                            "-diag-suppress=177,550", *flags, os.path.basename(path), "-o",
                            "x.ptx"], cwd=d, capture_output=True, text=True)
        if p.returncode:
            hit = (None, p.stderr)
        else:
            with open(os.path.join(d, "x.ptx")) as f:
                hit = (f.read(), "")
        shutil.rmtree(d, ignore_errors=True)
        return hit

    # -- linkers -----------------------------------------------------------------------------

    def exec_link(self, argv, inputs, sub, timeout=TIMEOUT):
        """Runs a linker on files written to a fresh folder; the output is SUB/out.cubin."""
        d = self.workdir()
        os.mkdir(os.path.join(d, sub))
        for name, data in inputs:
            p = os.path.join(d, name)
            os.makedirs(os.path.dirname(p), exist_ok=True)
            with open(p, "wb") as f:
                f.write(data)
        out = os.path.join(sub, "out.cubin")
        try:
            p = subprocess.run(argv + ["-o", out], cwd=d, capture_output=True, timeout=timeout)
            rc, err, std = p.returncode, p.stderr.decode("latin1"), p.stdout.decode("latin1")
        except subprocess.TimeoutExpired:
            rc, err, std = -9999, "time limit", ""
        try:
            with open(os.path.join(d, out), "rb") as f:
                data = f.read()
        except OSError:
            data = None
        shutil.rmtree(d, ignore_errors=True)
        return Run(rc, err, data, std)

    def run_beside(self, argv, files):
        """Runs a program in a folder that holds FILES."""
        d = self.workdir()
        for name, data in files:
            with open(os.path.join(d, name), "wb") as f:
                f.write(data)
        try:
            return subprocess.run(argv, cwd=d, capture_output=True, text=True, timeout=TIMEOUT,
                                  errors="replace")
        finally:
            shutil.rmtree(d, ignore_errors=True)

    def run_nvlink(self, args, inputs):
        key = digest("nvlink", self.version, "\0".join(args),
                     *[x for n, d in inputs for x in (n, d)])
        hit = self.cache.get(key)
        if hit is None:
            r = self.exec_link([self.nvlink, *args, *[n for n, _ in inputs]], inputs, "n")
            hit = (r.rc, r.err, r.out, r.stdout)
            self.cache.put(key, hit)
        return Run(*hit)

    def run_cubind(self, args, inputs, timeout=TIMEOUT):
        files = [n for n, _ in inputs]
        if self.cubind_is_nvlink:
            return self.exec_link([self.cubind, *args, *files], inputs, "c", timeout)
        return self.exec_link([self.cubind, "link", "--emulate", EMULATE, *args, *files], inputs,
                              "c", timeout)


    def run_plain(self, args, inputs):
        """cubind as itself, which does not follow nvlink's accidents."""
        if self.cubind_is_nvlink:
            return Run(1, "", None)
        return self.exec_link([self.cubind, "link", *args, *[n for n, _ in inputs]], inputs, "c")

    def check(self, blob):
        """What `cubind check` finds wrong with an output, '' if nothing."""
        if self.cubind_is_nvlink:
            return ""
        p = self.run_beside([self.cubind, "check", "out.cubin"], [("out.cubin", blob)])
        return "" if p.returncode == 0 else (p.stdout + p.stderr)[:400] or "exit %d" % p.returncode


class Verdict:
    """grade: same, sched, diff, crash (of nvlink) or mixed (functions of one name, namesakes.py).
    cls: key of the first difference."""

    def __init__(self, grade, cls="", text="", funcs=()):
        self.grade, self.cls, self.text, self.funcs = grade, cls, text, list(funcs)


def norm_err(text):
    """Diagnostics as compared: cubind may add indented lines and carry its own name."""
    out = []
    for line in text.splitlines():
        if line.startswith("cubind "):
            line = "nvlink" + line[6:]
        out.append(line)
    return out


def line_kind(line):
    """The first words of a message, or the sort of another line of output."""
    m = re.match(r"\w+ (fatal|error|warning|info) *: (?:\w+ ?){1,3}", line)
    if m:
        return " ".join(m.group(0).split(":", 1)[1].split()[:3])
    return "call graph node" if re.match(r"\d+: ", line) else re.sub(r"\W.*", "", line) or line[:8]


def judge_crash(tools, n, c, args, inputs):
    """nvlink died: a clean refusal will do, and so will sound output, as that of cubind link."""
    if c.rc and (c.out is not None or not c.err):
        return Verdict("diff", "nvlink crash", "nvlink died with signal %d; cubind: exit %d, output "
                       "%s" % (-n.rc, c.rc, "none" if c.out is None else "written"))
    outputs = [c.out, tools.run_plain(args, inputs).out]
    if namesakes.mixed(inputs)[0]:  # the exact output gives one function what belongs to another
        outputs = outputs[1:]
    why = "\n".join(tools.check(out) for out in outputs if out is not None)
    return Verdict("diff", "nvlink crash", why) if why.strip() else Verdict("crash")


def compare_outputs(n, c, inputs):
    names = namesakes.shared(inputs)
    out = n.out if n.out == c.out else memory.settle(n.out, c.out)
    if names and out != c.out:
        out = namesakes.settle(out, c.out, names)
    g, funcs = cubin.grade(out, c.out)
    if g == "same":
        return Verdict(g)
    names, rescheduled = namesakes.mixed(inputs)
    if names and namesakes.same_but(out, c.out, names, rescheduled):
        return Verdict("mixed", "", "", names)
    if g == "sched":
        return Verdict(g, "", "", funcs)
    if names and namesakes.same_but(out, c.out, names, rescheduled, True):
        return Verdict("sched", "", "", names)
    return Verdict(g, *cubin.explain(out, c.out))


def compare(tools, n, c, args=(), inputs=()):
    """Verdict on a cubind run C against nvlink's run N."""
    sanit = re.search(r"(AddressSanitizer|LeakSanitizer|runtime error:).*", c.err)
    if sanit:
        return Verdict("diff", "sanitizer", sanit.group(0))
    if c.rc == -9999:
        return Verdict("diff", "timeout", "cubind ran into the time limit")
    if c.rc < 0 or c.rc > 255:
        return Verdict("diff", "crash", "cubind died with signal %d\n%s" % (-c.rc, c.err[-400:]))
    if n.rc < 0:
        return judge_crash(tools, n, c, args, inputs)
    ne, ce = norm_err(n.err), [x for x in norm_err(c.err) if not x.startswith("  ")]
    # refused for want of a compiler, which nvlink has
    if n.out is not None and c.out is None and \
            ("cannot run as it is" in c.err or "needs a compiler" in c.err):
        return Verdict("compiler")
    if n.rc != c.rc:
        return Verdict("diff", "exit status %d / %d" % (n.rc, c.rc), "exit status: nvlink %d | cubind %d\nnvlink says: %s"
                       "\ncubind says: %s" % (n.rc, c.rc, "; ".join(ne[:3]), "; ".join(ce[:3])))
    if (n.out is None) != (c.out is None):
        return Verdict("diff", "output file", "output file: nvlink %s | cubind %s" %
                       ("none" if n.out is None else "written",
                        "none" if c.out is None else "written"))
    v = Verdict("same") if n.out is None else compare_outputs(n, c, inputs)
    if v.grade == "diff":
        return v
    if ne != ce:
        got = cubin.list_diff("stderr", ne, ce)
        k = next((i for i, (x, y) in enumerate(zip(ne, ce)) if x != y), min(len(ne), len(ce)))
        cls = "stderr: %s / %s" % tuple(line_kind(x[k] if k < len(x) else "(end)")
                                        for x in (ne, ce))
        return Verdict("diff", cls, "\n".join(got))
    if n.stdout != c.stdout:
        return Verdict("diff", "stdout", "stdout differs")
    return v


def run_steps(tools, steps, inputs):
    """Runs a chain of links. Each step is a list of options; the output of a step that has a
    successor (from nvlink, so that later steps do not repeat an earlier difference) replaces the
    inputs. Returns the first verdict that is not 'same', or the last one."""
    last = Verdict("same")
    for i, args in enumerate(steps):
        n = tools.run_nvlink(args, inputs)
        c = tools.run_cubind(args, inputs)
        v = compare(tools, n, c, args, inputs)
        if v.grade == "diff":
            if i:
                v.text = "step %d (%s): %s" % (i + 1, " ".join(args), v.text)
            return v
        if v.grade == "compiler":
            return v
        if v.grade != "same" and last.grade != "sched":
            last = v
        if n.out is None:
            break
        inputs = [("step%d.cubin" % (i + 1), n.out)]
    return last
