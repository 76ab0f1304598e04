"""Links the feature programs with link-time optimization, as `nvcc -dlto` has them linked."""
import os
import shutil
import struct
import subprocess
import tempfile
import threading
import time

import features
import toolchain

ARCHS = ["75", "80", "90", "100", "120"]
# Mode -> link options, and which modules are compiled to machine code instead: from, to.
MODES = {
    "default": ([], None),
    "ignore": (["-ignore-host-info"], None),
    "kernels": (["-kernels-used=k"], None),
    "ofc": (["-Ofc=mid"], None),
    "part": (["-force-partial-lto"], None),
    "r": (["-r"], None),
    "first-sass": ([], (0, 1)),
    "last-sass": ([], (-1, None)),
    "library": (["-L.", "-lrest"], None),
}
# Options, each for a whole program and for a part: link options, options of nvcc for the modules.
OPTIONS = {
    "-maxrregcount": (["-maxrregcount=32"], []),
    "-Xptxas": (["-Xptxas=-O1"], []),
    "-Xnvvm": (["-Xnvvm=-opt=0"], []),
    "-Ofc": (["-Ofc=max"], []),
    "-device-stack-protector": (["-device-stack-protector=true"], []),
    "-split-compile": (["-split-compile=2"], []),
    "-split-compile-extended": (["-split-compile-extended=2"], []),
    "-kernels-used": (["-kernels-used=k"], []),
    "-variables-used": (["-variables-used=k"], []),
    "-ignore-host-info": (["-ignore-host-info"], []),
    "-g": (["-g"], []),
    "-v": (["-v"], []),
    "-emit-ptx": (["-emit-ptx"], []),
    "-lineinfo (nvcc)": ([], ["-lineinfo"]),
    "-maxrregcount (nvcc)": (["-maxrregcount=40"], ["-maxrregcount=40"]),
    "-ftz, -fmad (nvcc)": ([], ["-ftz=true", "-fmad=false"]),
}
OPTION_PROGRAMS = ["host-references", "launch-bounds", "recursion", "statics", "virtual"]
OPTION_FLAGS = {}  # mode -> options of nvcc
for _name, (_link, _flags) in OPTIONS.items():
    for _form, _more in (("", []), (" part", ["-force-partial-lto"])):
        MODES[_name + _form] = (_link + _more, None)
        OPTION_FLAGS[_name + _form] = _flags
NOTES = (".note.nv.tkinfo", ".note.nv.cuinfo")
SIGNS = {"same": "=", "notes": "notes", "diff": "differs", "skip": ".", "error": "error"}


def find_compiler(tools):
    """A folder for -nvvmpath, which has the library where nvlink looks; None if there is none."""
    top = os.path.dirname(os.path.dirname(os.path.realpath(tools.nvlink)))
    if not os.path.exists(os.path.join(top, "lib64", "libnvJitLink.so.13")):
        return None, None
    for folder in (os.path.join(top, "nvvm"), top):
        if os.path.exists(os.path.join(folder, "lib64", "libnvvm.so")):
            return folder, os.path.join(top, "lib64")
    return None, None


def sections(blob):
    """(name, header without the offset, bytes) of each section."""
    table, = struct.unpack_from("<Q", blob, 40)
    count, names = struct.unpack_from("<HH", blob, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", blob, table + 64 * i) for i in range(count)]
    for h in headers:
        at = headers[names][4] + h[0]
        name = blob[at:blob.index(b"\0", at)].decode()
        yield name, h[:4] + h[5:], b"" if h[1] == 8 else blob[h[4]:h[4] + h[5]]


def notes_only(a, b):
    """Do two files differ in the records of tools alone?"""
    if a[:4] != b"\x7fELF" or b[:4] != b"\x7fELF":
        return False
    first, second = list(sections(a)), list(sections(b))
    return len(first) == len(second) and all(
        x == y or x[0] == y[0] and x[0] in NOTES for x, y in zip(first, second))


class Objects:
    """Host objects of the programs' modules, from the cache."""

    def __init__(self, tools):
        self.tools = tools

    def compile(self, prog, name, arch, lto, more=()):
        opt = prog.job.get("files", {}).get(name, {})
        path = os.path.join(prog.dir, name)
        if name.endswith(".ptx"):
            with open(path) as f:
                text = f.read().replace("@TARGET@", "sm_" + prog.virt(arch, opt))
            flags = opt.get("ptxas", prog.job.get("ptxas", []))
            return self.tools.assemble(text.replace("@N@", "0"), arch, flags)
        flags = opt.get("nvcc", prog.job.get("nvcc", [])) + (["-dlto"] if lto else [])
        flags = flags + list(more)
        with open(path, "rb") as f:
            source = f.read()
        key = toolchain.digest("host object", self.tools.version, source, name, prog.name, arch,
                               "\0".join(flags))
        with self.tools.lock:
            mine = self.tools.busy.setdefault(key, threading.Lock())
        with mine:
            hit = self.tools.cache.get(key)
            if hit is None:
                hit = self.run(prog, name, arch, flags)
                self.tools.cache.put(key, hit)
        if hit[0] is None:
            raise toolchain.ToolError(hit[1])
        return hit[0]

    def run(self, prog, name, arch, flags):
        # the same path every time: it gets into the objects
        where = os.path.join(tempfile.gettempdir(), "cubind-oracle-lto", prog.name, arch,
                             "lto" if "-dlto" in flags else "sass", name)
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(prog.dir, where)
        done = subprocess.run(
            [self.tools.nvcc, "-rdc=true", "-std=c++17", "-arch=sm_" + arch,
             "-diag-suppress=177,550", *flags, "-c", name, "-o", "x.o"],
            cwd=where, capture_output=True, text=True)
        if done.returncode:
            return None, done.stderr
        with open(os.path.join(where, "x.o"), "rb") as f:
            blob = f.read()
        shutil.rmtree(where, ignore_errors=True)
        return blob, ""


def archive(members):
    """A library of (name, bytes); names of at most 15 characters."""
    out = b"!<arch>\n"
    for name, blob in members:
        out += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name.encode() + b"/", 0, 0, 0, b"644",
                                                   len(blob))
        out += blob + b"\n" * (len(blob) % 2)
    return out


def inputs_of(objects, prog, arch, mode):
    files = [f for f in prog.files]
    sass = MODES[mode][1]
    chosen = files[slice(*sass)] if sass else []
    out = []
    for f in files:
        blob = objects.compile(prog, f, arch, f not in chosen, OPTION_FLAGS.get(mode, []))
        out.append((os.path.splitext(f)[0] + (".cubin" if f.endswith(".ptx") else ".o"), blob))
    return out


def command_line(mode, arch, compiler, folder, inputs):
    """Options, files of the command line, files beside them."""
    args = ["-arch=sm_" + arch, "-dlto", "-nvvmpath=" + compiler, *MODES[mode][0]]
    beside = []
    if mode == "library":
        inputs, rest = inputs[:1], inputs[1:]
        beside = [("librest.a", archive(rest))]
    return args + ["-L" + folder, "-lcudadevrt"], inputs, beside


def link(tools, args, inputs, beside):
    names = [n for n, _ in inputs]
    key = toolchain.digest("lto", tools.version, "\0".join(args + names),
                           *[d for _, d in inputs + beside])
    hit = tools.cache.get(key)
    if hit is None:
        r = tools.exec_link([tools.nvlink, *args, *names], inputs + beside, "n")
        hit = (r.rc, r.err, r.out, r.stdout)
        tools.cache.put(key, hit)
    argv = [tools.cubind, *args, *names] if tools.cubind_is_nvlink else [
        tools.cubind, "link", "--emulate", toolchain.EMULATE, *args, *names]
    return toolchain.Run(*hit), tools.exec_link(argv, inputs + beside, "c")


def judge(tools, objects, prog, arch, mode, place):
    try:
        inputs = inputs_of(objects, prog, arch, mode)
    except toolchain.ToolError as e:
        return toolchain.Verdict("skip", "", str(e)), "skip"
    args, files, beside = command_line(mode, arch, *place, inputs)
    n, c = link(tools, args, files, beside)
    verdict = toolchain.compare(tools, n, c, args, files)
    if verdict.grade == "diff" and n.out and c.out and n.rc == c.rc and notes_only(n.out, c.out):
        return verdict, "notes"
    if verdict.grade == "same" and n.out is None:
        return verdict, "error"
    return verdict, verdict.grade if verdict.grade in ("same", "skip") else "diff"


def programs(opts, mode):
    for p in features.programs(opts):
        sources = [f for f in p.files if f.endswith(".cu")]
        if sources and not p.job.get("slow") and (
                mode in ("default", "part", "r") or len(p.files) > 1):
            yield p


def print_table(rows, archs):
    print("| program | " + " | ".join("sm_" + a for a in archs) + " |")
    print("|---" * (len(archs) + 1) + "|")
    for name, row in rows.items():
        if set(row.values()) != {"skip"}:
            print("| %s | " % name + " | ".join(SIGNS[row.get(a, "skip")] for a in archs) + " |")


def print_options(sums, archs):
    """Option by target: how many programs are the same, of those that compile."""
    print("| option | " + " | ".join("sm_" + a for a in archs) + " |")
    print("|---" * (len(archs) + 1) + "|")
    for mode in OPTION_FLAGS:
        cells = []
        for a in archs:
            row = sums.get((mode, a), {})
            count = sum(n for kind, n in row.items() if kind != "skip")
            good = row.get("same", 0) + row.get("error", 0)
            cells.append("." if not count else "=" if good == count else "%d of %d" % (good, count))
        print("| %s | " % mode + " | ".join(cells) + " |")


def run(opts, tools, Tally, report, pooled):
    place = find_compiler(tools)
    if not place[0]:
        print("oracle: no libnvJitLink.so.13 or libnvvm.so in the toolkit, skipped")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    archs = opts.arch.split(",") if opts.arch else ["90", "100"] if opts.quick else ARCHS
    wanted = [m for m in MODES if opts.mode in (None, m) and (opts.mode or m not in OPTION_FLAGS)]
    if opts.quick and not opts.mode:
        wanted = ["default", "first-sass"]
    if opts.options:
        wanted = [m for m in OPTION_FLAGS if not opts.mode or opts.mode in m]
    elif opts.table:
        wanted = ["default"]
    jobs = [(p, a, m) for m in wanted for p in programs(opts, m) for a in archs if p.runs_on(a)
            and (not opts.options or p.name in OPTION_PROGRAMS)]
    tally, objects = Tally(False), Objects(tools)
    rows, sums, start = {}, {}, time.monotonic()

    def work(job):
        return judge(tools, objects, *job, place)

    for (prog, arch, mode), (verdict, kind) in pooled(opts, jobs, work):
        tally.add(verdict)
        rows.setdefault(prog.name, {})[arch] = kind
        row = sums.setdefault((mode, arch), {})
        row[kind] = row.get(kind, 0) + 1
        if kind in ("diff", "notes") and not opts.table:
            report("%s sm_%s %s" % (prog.name, arch, mode), verdict)
        if kind == "skip" and opts.verbose:
            print("skip %s sm_%s: %s" % (prog.name, arch, verdict.text[:200]))
    if opts.table and opts.options:
        print_options(sums, archs)
    elif opts.table:
        print_table(rows, archs)
    for (mode, arch), row in sums.items():
        print("%-10s sm_%-5s %s" % (mode, arch, ", ".join(
            "%d %s" % (row[k], word) for k, word in (
                ("same", "identical"), ("error", "refused alike"), ("notes", "notes only"),
                ("diff", "different"), ("skip", "not compiled")) if k in row)))
    print("%d jobs in %.0f s" % (len(jobs), time.monotonic() - start))
    return tally.summary()
